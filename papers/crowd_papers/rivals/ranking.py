"""Policies that others have proposed: all rank tasks.

Each has its own view of a task that has seen some labels: how large the lead is, how much one label
could add, whether it belongs to the half in less doubt, how far Dawid–Skene's model believes it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from workbench.base import BoolArray, FloatArray, IntArray, Seed, checks
from workbench.collection import FREE, RANKED, ByTask, Goal, Ledger, Uncertain

DELTA = 3
"""Lead at which a task is closed where nothing is said."""
NODES = 64
"""Of the quadrature that compares shares of labels."""


class Random(ByTask):
    """A task at random, while there is anything to ask and to spend."""

    def index(self) -> FloatArray:
        """Draw ranks."""
        return self.rng.random(len(self.ledger.counts))


class Margin(ByTask):
    """The smallest lead first, until the lead is δ: that of the class named most over the next.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; ε is not looked at.
    delta
        δ; None for `DELTA`, or, on a budget, for as far as it goes.
    """

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed, delta: int | None = None) -> None:
        super().__init__(ledger, goal, seed)
        self.delta: float = DELTA if ledger.total is None else np.inf
        if delta is not None:
            self.delta = checks.count("delta", delta, 1)

    def index(self) -> FloatArray:
        """Lead of each task."""
        named = np.sort(self.named(), axis=1)
        return (named[:, -1] - named[:, -2]).astype(np.float64)

    def closed(self) -> BoolArray:
        """Tasks whose lead is δ."""
        return self.index() >= self.delta


class KnowledgeGradient(ByTask):
    """Optimistic knowledge gradient: the task first that one label could help most.

    The shares of workers who name each class of a task are taken as Dirichlet, all alike at first.
    What a task is worth is the chance that the class named most has the largest share; one more
    label can raise it, by which class it names. The best case is the index: in the mean over
    cases most tasks gain nothing by one label, and would never be asked about again.

    Source: Chen, Lin, Zhou (2013), "Optimistic knowledge gradient policy for optimal budget
    allocation in crowdsourcing", ICML, Section 4; workers are alike.
    """

    def index(self) -> FloatArray:
        """Less the best gain of each task."""
        kinds, kind = np.unique(np.sort(self.named(), axis=1), axis=0, return_inverse=True)
        gain = np.array([optimistic_gain(tuple(row)) for row in kinds.tolist()])
        return -gain[kind.ravel()]


@lru_cache(maxsize=100_000)
def optimistic_gain(named: tuple[int, ...]) -> float:
    """Most that one more label can add to the chance of the likeliest class, by labels so far."""
    more = ((*named[:k], count + 1, *named[k + 1 :]) for k, count in enumerate(named))
    return max(likeliest(tuple(sorted(counts))) for counts in more) - likeliest(
        tuple(sorted(named))
    )


@lru_cache(maxsize=100_000)
def likeliest(named: tuple[int, ...]) -> float:
    """Chance that the last class, named most, has the largest of shares ~ Dirichlet(named + 1).

    Shares are Gamma variables over their sum: ∫ f(x; a_K) Π_{l<K} F(x; a_l) dx, over the quantiles
    of the first by Gauss and Legendre.
    """
    from scipy.special import gammainc, gammaincinv

    node, weight = np.polynomial.legendre.leggauss(NODES)
    x = gammaincinv(named[-1] + 1.0, (node + 1.0) / 2.0)
    below = gammainc(np.array(named[:-1])[:, None] + 1.0, x).prod(axis=0)
    return float(below @ weight / 2.0)


class Halving(ByTask):
    """As much money in each of some rounds, the half in less doubt left out after each.

    A round spreads its labels evenly over the tasks that are left; then the half of them in less
    doubt, by Dawid–Skene's posterior, is done. With a budget of k labels per task there are log₂ k
    rounds, so that the first gives a task more labels than rounds, and doubtful tasks get most.
    What is left over where those have nobody to ask goes to the others. The paper judges by message
    passing, which is for two classes, and goes through a round's thresholds one after another.

    Source: Khetan, Oh (2016), "Achieving budget-optimality with adaptive schemes in
    crowdsourcing", NeurIPS, Algorithm 1.
    """

    anytime: ClassVar[bool] = False

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed) -> None:
        super().__init__(ledger, goal, seed)
        self.rest = np.ones(len(ledger.counts), dtype=np.bool_)
        self.round = 0
        able = np.minimum(ledger.open.sum(axis=0), ledger.left).sum()
        price = float(np.median(ledger.pool.price))
        labels = able if ledger.total is None else min(able, ledger.total / max(price, FREE))
        self.budget = labels * price
        self.rounds = max(1, int(np.log2(max(labels / max(len(self.rest), 1), 1.0)) + 0.5))

    def index(self) -> FloatArray:
        """Labels of each task left; those left out come last."""
        done = self.ledger.spent / max(self.budget, FREE)
        while self.round < self.rounds - 1 and done >= (self.round + 1) / self.rounds:
            sure = np.where(self.rest, self.posterior().max(axis=1), 2.0)
            keep = (int(self.rest.sum()) + 1) // 2
            order = np.lexsort((self.rng.random(len(sure)), sure))
            self.rest = np.isin(np.arange(len(sure)), order[:keep])
            self.round += 1
        counts = self.ledger.counts
        return np.where(self.rest, 0.0, float(counts.max(initial=0)) + 1.0) + counts

    def state(self) -> dict[str, Any]:
        """Give the generator, the round, which tasks are left in it, and what was to be spent."""
        left = np.flatnonzero(self.rest).tolist()
        plan = {"budget": float(self.budget), "rounds": self.rounds}
        return {**super().state(), "round": self.round, "left": left, **plan}

    def resume(self, saved: dict[str, Any]) -> None:
        """Take up the round."""
        super().resume(saved)
        self.round = int(saved["round"])
        # A budget is that of the beginning: what is open now is what is left of it.
        self.budget, self.rounds = float(saved["budget"]), int(saved["rounds"])
        self.rest = np.isin(np.arange(len(self.rest)), saved["left"])


class UncertainDrawn(Uncertain):
    """The same, each worker asked as often as she is likely to be the best who can be asked.

    A worker's skill has a Beta distribution: her labels that are believed right, the others, and
    one label at the mean of all. For each task skills are drawn, and the largest one is asked
    (Thompson sampling), so that whoever had few labels still has her chance: to ask the best by
    what is believed would stay with those who were lucky first. Dawid–Skene, which judges workers,
    labels as well.

    Source: Thompson (1933), "On the likelihood that one unknown probability exceeds another in
    view of the evidence of two samples".
    """

    def answered(self) -> FloatArray:
        """Posterior of Dawid–Skene."""
        return self.posterior()

    def choose(self, task: IntArray, able: BoolArray) -> IntArray:
        """Draw each worker's skill for each task."""
        del task
        right, wrong = self.believed()
        skill = self.rng.beta(right, wrong, size=able.shape)
        best: IntArray = np.where(able, skill, -1.0).argmax(axis=1)
        return best

    def believed(self) -> tuple[FloatArray, FloatArray]:
        """Labels of each worker believed right, and wrong, one at the mean added; (m,) each."""
        task, worker, label = self.ledger.labels.T
        right = self.posterior(RANKED)[task, label]
        wrong, m = 1.0 - right, len(self.ledger.left)
        mean = (float(right.sum()) + 1.0) / (len(right) + 2.0)
        counted = [np.bincount(worker, part, m).astype(np.float64) for part in (right, wrong)]
        return counted[0] + mean, counted[1] + (1.0 - mean)
