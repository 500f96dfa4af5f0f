"""Ratings from 0 to 100 of tasks by workers, each less precise than the one before."""

import numpy as np
import pandas as pd

import workbench as wb


def rated(tasks, workers, noise):
    """Ratings as the front door takes them, and the true ones; the first worker has this noise."""
    rng = np.random.default_rng(0)
    truth = rng.uniform(20, 80, tasks)
    rows = [
        (f"t{i}", f"w{j}", float(np.clip(z + (noise + j) * rng.normal(), 0, 100)))
        for i, z in enumerate(truth)
        for j in range(workers)
    ]
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    true = pd.Series(truth, index=[f"t{i}" for i in range(tasks)], name="gold")
    return wb.read_labels(frame, scale=(0, 100)), true
