"""A method and a crowd of one's own, for the leaderboard."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.aggregation import AGGREGATORS
from workbench.aggregation.voting import Aggregate, majority
from workbench.base.registry import Entry
from workbench.base.seeds import Seed
from workbench.crowd.datasets import DATASETS, Dataset, counts
from workbench.crowd.votes import Votes


def first_label(votes: Votes, *, seed: Seed) -> Aggregate:
    """Take each task's first label."""
    first = np.unique(votes.task, return_index=True)[1]
    alone = Votes(
        votes.task[first],
        votes.worker[first],
        votes.label[first],
        votes.tasks,
        votes.workers,
        votes.classes,
    )
    return majority(alone, seed=seed)


def crowd() -> tuple[pd.DataFrame, pd.Series]:
    """Labels and gold: of one's own, pd.read_csv("labels.csv") and so on."""
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=60)
    said = np.where(
        rng.random((60, 7)) < np.linspace(0.55, 0.95, 7), true[:, None], 1 - true[:, None]
    )
    task, worker = np.divmod(np.arange(60 * 7), 7)
    labels = pd.DataFrame({"task": task, "worker": worker, "label": said.ravel()}).astype(str)
    return labels, pd.Series(true.astype(str), index=np.arange(60).astype(str))


AGGREGATORS.register(Entry("first label", first_label, "the first label of a task", "an example"))
SEVEN = Dataset(
    "seven",
    "Seven workers on 60 tasks",
    (),
    "one's own",
    "an example",
    counts(crowd()[0]),
    "made up",
    crowd,
)
DATASETS.register(Entry("seven", SEVEN, SEVEN.title, SEVEN.citation))
