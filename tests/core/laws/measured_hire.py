"""What `hire` and `plan` call measured, and what is made on gold that they were not given.

Each function takes labels, the gold that is given, the gold that is kept back, and a seed; it gives
the ends of the interval on the screen and the share of wrong answers on the tasks kept back, one
without an answer being wrong. None where there is nobody to hire, or no plan.
"""

import numpy as np
import pytest

import workbench as wb
from workbench.assignment.measure_plan import PlanFromGold
from workbench.crowd.gold_rule import gold_codes

BUDGET = 5
EPSILONS = (0.1, 0.2, 0.3, 0.4)
"""Errors asked of a plan: the first that some plan keeps."""


def hire(labels, given, rest, seed):
    """The vote of the hired, as the screen's next step has it."""
    hires = wb.hire(labels, given, budget=BUDGET, seed=seed)
    if hires.error is None:
        return None
    answers = wb.aggregate(labels, workers=hires, method="weighted-log-odds", seed=seed).labels
    made = (answers.reindex(rest.index).to_numpy() != rest.to_numpy()).mean()
    return *hires.error.measured.error_interval, float(made)


def plan(labels, given, rest, seed):
    """The plan's rule, with whoever labelled the tasks kept back."""
    for epsilon in EPSILONS:
        found, asked = _planned(labels, given, len(rest), epsilon, seed)
        if found.error is not None:
            break
    else:
        return None
    votes, rule = asked.rule(seed=seed)
    place = {task: i for i, task in enumerate(votes.tasks.tolist())}
    there = [str(task) in place for task in rest.index]
    tasks = np.array([place[str(task)] for task in rest.index[there]])
    truth = np.array([list(votes.classes).index(str(name)) for name in rest[there]])
    loss = rule(gold_codes(votes, asked.gold)).label(tasks).loss(truth)
    wrong = np.nan_to_num(loss, nan=1.0).sum() + (~np.array(there)).sum()
    return *found.error.measured.error_interval, float(wrong / len(rest))


def _planned(labels, given, tasks, epsilon, seed):
    """A plan of so many tasks, and what its error was measured by."""
    whole, asked = PlanFromGold.measured, []

    def spy(of, *, seed):
        asked.append(of)
        return whole(of, seed=seed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlanFromGold, "measured", spy)
        found = wb.plan(
            labels,
            given,
            [f"new {i}" for i in range(tasks)],
            epsilon=epsilon,
            capacity=tasks,
            seed=seed,
            options=wb.PlanOptions(time_limit=5.0),
        )
    return found, asked[-1] if asked else None
