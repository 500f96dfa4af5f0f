"""What others make of recorded labels: Dawid–Skene on all of them, and as many labels at random.

LS_OL chooses whom to ask. Whether that pays is seen by labels that nobody chose: as many as it
bought, drawn at random from those on record and spread over the tasks as evenly as can be, with a
plain majority or Dawid–Skene's vote. Nothing of this is learnt in order of arrival.

Source: Dawid, Skene (1979); for labels at random, common practice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workbench.aggregation.dawid_skene import smoothed
from workbench.aggregation.voting import Aggregate, majority
from workbench.base.arrays import BoolArray, IntArray
from workbench.base.seeds import Seed, stream
from workbench.crowd.graphs import random_pairs
from workbench.crowd.votes import Votes
from workbench.learning.recorded_labels import Recorded, Replayed

VOTES: dict[str, Callable[..., Aggregate]] = {"majority": majority, "Dawid–Skene": smoothed}
"""How labels are voted on, ties by a fair draw; Dawid–Skene with few votes added."""


@dataclass(frozen=True)
class Baseline:
    """What a vote on some of the labels comes to.

    Attributes
    ----------
    method
        Which labels, and which vote.
    labels
        How many of them.
    accuracy
        Share of right labels on tasks with gold, a tie as a half, no label as a wrong one; None
        without gold.
    """

    method: str
    labels: int
    accuracy: float | None


def baselines(data: Recorded, run: Replayed, *, seed: Seed) -> tuple[Baseline, ...]:
    """Dawid–Skene on all labels of the run's tasks, and both votes on as many as were bought.

    Parameters
    ----------
    data, run
        The stream, and what LS_OL did with it.
    seed
        Draws labels.
    """
    n = len(run.steps)
    labels, truth = data.labels[:n], data.truth[:n]
    there = labels >= 0
    rng = stream(seed, "baselines")
    chosen = np.zeros(there.shape, dtype=bool)
    chosen[random_pairs(there, min(run.labels_bought, int(there.sum())), seed=rng)] = True
    rows = [_voted("Dawid–Skene", "all labels", data, there, truth, rng)]
    return (*rows, *(_voted(vote, "random", data, chosen, truth, rng) for vote in VOTES))


def _voted(
    vote: str,
    which: str,
    data: Recorded,
    chosen: BoolArray,
    truth: IntArray,
    rng: np.random.Generator,
) -> Baseline:
    task, worker = np.nonzero(chosen)
    names = data.tasks[: len(truth)], data.workers, data.classes
    outcome = VOTES[vote](Votes(task, worker, data.labels[task, worker], *names), seed=rng)
    right = np.where(outcome.tied, 0.5, outcome.label == truth)
    right = np.where(outcome.unlabelled, 0.0, right)[truth >= 0]
    return Baseline(f"{which} + {vote}", len(task), float(right.mean()) if len(right) else None)
