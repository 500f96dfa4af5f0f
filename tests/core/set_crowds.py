"""Simulated crowds who give sets of labels, for tests."""

import numpy as np
import pandas as pd

from workbench.crowd.set_votes import SetVotes
from workbench.crowd.votes import Votes

NAMES = ("cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay")


def arrays(rng, tasks=60, workers=8, labels=3, each=4, share=0.3):
    """Task, worker and what is said of each label, vote by vote; and the truth, shape (n, L)."""
    truth = (rng.random((tasks, labels)) < share).astype(np.int64)
    right, rejects = rng.beta(8, 2, (workers, labels)), rng.beta(12, 2, (workers, labels))
    task = np.repeat(np.arange(tasks), each)
    worker = np.concatenate([rng.choice(workers, each, replace=False) for _ in range(tasks)])
    chance = np.where(truth[task] == 1, right[worker], 1 - rejects[worker])
    return task, worker, (rng.random(chance.shape) < chance).astype(np.int64), truth


def set_votes(task, worker, said, tasks, workers):
    """Votes as the kinds give them, label by label."""
    names = (np.array([f"t{i}" for i in range(tasks)], dtype=object),)
    names += (np.array([f"w{j}" for j in range(workers)], dtype=object),)
    classes = np.array(["no", "yes"], dtype=object)
    return SetVotes.of(
        {NAMES[k]: Votes(task, worker, said[:, k], *names, classes) for k in range(said.shape[1])}
    )


def crowd(seed, tasks=60, workers=8, labels=3, each=4, share=0.3):
    """Votes, and the truth, shape (n, L)."""
    task, worker, said, truth = arrays(
        np.random.default_rng(seed), tasks, workers, labels, each, share
    )
    return set_votes(task, worker, said, tasks, workers), truth


def frames(seed, tasks=60, workers=8, labels=3, each=4, share=0.3):
    """A frame of labels whose cells are frozensets, and the true sets by task."""
    task, worker, said, truth = arrays(
        np.random.default_rng(seed), tasks, workers, labels, each, share
    )

    def sets(rows):
        return [frozenset(np.array(NAMES)[:labels][row == 1].tolist()) for row in rows]

    table = pd.DataFrame(
        {
            "task": [f"t{i}" for i in task],
            "worker": [f"w{j}" for j in worker],
            "label": sets(said),
        }
    )
    gold = pd.Series(sets(truth), index=pd.Index([f"t{i}" for i in range(tasks)], name="task"))
    return table, gold.rename("gold")
