"""What the first screen shows: a collection rehearsed on labels that other people recorded."""

import workbench as wb

labels, gold = wb.load("rte")  # 800 tasks, 164 workers, ten labels a task
rehearsal = wb.collect(labels, gold, epsilon=0.1, known=wb.KnownTasks(hidden_tasks=40))
print(rehearsal.summary())
