"""The front door in an environment whose `crowd_papers` was taken away: how many verbs answered."""

import pandas as pd

import workbench as wb
from workbench.studies.catalog import studies

rows = [(f"t{i}", f"w{j}", "yn"[(i + (i * j) % 7 // 6) % 2]) for i in range(40) for j in range(6)]
labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
gold = pd.Series({f"t{i}": "yn"[i % 2] for i in range(40)})
skills = pd.DataFrame({"worker": ["a", "b", "c"], "skill": [0.9, 0.8, 0.8]})
answers = pd.DataFrame({"task": ["a", "b"], "label": ["x", "y"]})

assert set(studies()) == {"leaderboard", "whole-crowds"}
ends = [
    wb.aggregate(labels, gold=gold),
    wb.check(labels, gold),
    wb.hire(labels, gold, budget=3),
    wb.learn(labels),
    wb.plan(labels, gold, ["new 1", "new 2"], epsilon=0.2, capacity=2),
    wb.compare(labels, gold, epsilon=0.3),
    wb.collect(labels, gold, epsilon=0.1),
    wb.ladder(skills=skills, tasks=3, epsilon=0.2, trials=5),
    wb.solve(wb.AssignmentProblem([[0.5, 0.5]], 1, [0.4])),
    wb.audit(answers, error=0.5),
    wb.leaderboard("smoke", kinds=["rule"], repetitions=1, processes=1),
]
print(len(ends))
