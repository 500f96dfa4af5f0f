"""A small crowd as a notebook user has it: a frame of labels, a Series of gold."""

from __future__ import annotations

import numpy as np
import pandas as pd

TASKS, WORKERS = 40, 8
SKILLS = (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.3)


def crowd(task=str, worker=str, label=str):
    """Labels and gold of forty tasks by eight workers, named by functions of their number."""
    rng = np.random.default_rng(5)
    true = rng.integers(0, 2, TASKS)
    said = np.where(rng.random((TASKS, WORKERS)) < SKILLS, true[:, None], 1 - true[:, None])
    cells = [(i, j) for i in range(TASKS) for j in range(WORKERS) if (i + j) % 5]
    labels = pd.DataFrame(
        {
            "task": [task(i) for i, _ in cells],
            "worker": [worker(j) for _, j in cells],
            "label": [label(int(said[cell])) for cell in cells],
        }
    )
    gold = pd.Series(
        [label(int(t)) for t in true[:30]],
        index=pd.Index([task(i) for i in range(30)], name="task"),
        name="gold",
    )
    return labels, gold
