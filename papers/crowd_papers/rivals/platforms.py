"""Rules by which platforms stop buying labels of a task: each looks at that task's labels alone.

Workers are drawn at random, and the class that most labels name is the answer. What a rule needs
and does not get within a budget is left open.

- *Fixed overlap*: so many labels per task.
- *k agree*: until k labels name the same class, as projects retire subjects.
- *Agreement threshold*: until the share of the class named most is high enough, from a least to a
  most number of labels.
- *Dynamic overlap*: until the answer is likely enough, each label counting by how often its worker
  has agreed with the majority so far.

Sources: common practice; Willett and others (2013), "Galaxy Zoo 2", and Zooniverse's help, for
retirement; Appen's "dynamic judgments" and Toloka's "dynamic overlap" as their help pages describe
them.
"""

from __future__ import annotations

import numpy as np

from workbench.base import BoolArray, FloatArray, InputError, Seed, checks
from workbench.collection import Belief, ByTask, Goal, Ledger

OVERLAP = 3
"""Labels per task where nothing is said."""
AGREE = 3
"""Labels that must agree."""
SHARE, FEWEST, MOST = 0.7, 3, 7
"""Share of the class named most, and labels per task at least and at most."""
SURE, FIRST, LAST = 0.9, 2, 7
"""Confidence of an answer, and labels per task at least and at most."""
AGREED, HEARD = 3.0, 4.0
"""Labels by which a worker is taken to have agreed before she is seen, and of how many."""


class _ByMajority(ByTask):
    """Tasks with the fewest labels first; the class named most is the answer."""

    def index(self) -> FloatArray:
        """Labels of each task."""
        return self.ledger.counts.astype(np.float64)

    def belief(self) -> Belief:
        """Share of each class among a task's labels; those of the prior without any."""
        return Belief(self.shares(), self.closed() & self.ledger.enough)

    def shares(self) -> FloatArray:
        """Share of each class among a task's labels, shape (n, K)."""
        named = self.named().astype(np.float64)
        many = named.sum(axis=1, keepdims=True)
        prior = np.broadcast_to(self.ledger.pool.share, named.shape)
        return np.where(many > 0, named / np.maximum(many, 1.0), prior)


class FixedOverlap(_ByMajority):
    """k labels per task.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; ε is not looked at.
    k
        Labels per task; None for as many as the budget buys, or `OVERLAP` without one.
    """

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed, k: int | None = None) -> None:
        super().__init__(ledger, goal, seed)
        self.k: float = OVERLAP if ledger.total is None else np.inf
        if k is not None:
            self.k = checks.count("k", k, 1)

    def closed(self) -> BoolArray:
        """Tasks that have k labels, those still to come included."""
        enough: BoolArray = self.ledger.counts + self.ledger.waiting >= self.k
        return enough


class KAgree(_ByMajority):
    """Until k labels of a task name the same class.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; ε is not looked at.
    k
        Labels that must agree.
    """

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed, k: int = AGREE) -> None:
        super().__init__(ledger, goal, seed)
        self.k = checks.count("k", k, 1)

    def closed(self) -> BoolArray:
        """Tasks of which k labels agree."""
        agreed: BoolArray = self.named().max(axis=1) >= self.k
        return agreed


class AgreementThreshold(_ByMajority):
    """From `fewest` to `largest` labels of a task, until a share of them agrees.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; ε is not looked at.
    share
        Of the class named most, above 0 and at most 1.
    fewest, largest
        Labels per task.

    Raises
    ------
    InputError
        A share out of range, or numbers that are none or out of order.
    """

    def __init__(
        self,
        ledger: Ledger,
        goal: Goal,
        seed: Seed,
        share: float = SHARE,
        fewest: int = FEWEST,
        largest: int = MOST,
    ) -> None:
        super().__init__(ledger, goal, seed)
        self.share = _share("share", share)
        self.fewest = checks.count("fewest", fewest, 1)
        self.largest = checks.count("largest", largest, self.fewest)

    def closed(self) -> BoolArray:
        """Tasks of which enough labels agree, or that have most labels."""
        counts = self.ledger.counts
        agreed = (counts >= self.fewest) & (self.shares().max(axis=1) >= self.share - 1e-12)
        closed: BoolArray = agreed | (counts + self.ledger.waiting >= self.largest)
        return closed


class DynamicOverlap(_ByMajority):
    """From `fewest` to `largest` labels of a task, until the answer is likely enough.

    A worker's skill q is the share of her labels that the majority of their tasks has named so far,
    `AGREED` of `HEARD` labels more; the chance of class k of a task is in proportion to the product
    of q over the labels that name it, and of (1 − q)/(K − 1) over the others.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; ε is not looked at.
    confidence
        Chance that the likeliest class must have, above 0 and at most 1.
    fewest, largest
        Labels per task.

    Raises
    ------
    InputError
        A confidence out of range, or numbers that are none or out of order.
    """

    def __init__(
        self,
        ledger: Ledger,
        goal: Goal,
        seed: Seed,
        confidence: float = SURE,
        fewest: int = FIRST,
        largest: int = LAST,
    ) -> None:
        super().__init__(ledger, goal, seed)
        self.confidence = _share("confidence", confidence)
        self.fewest = checks.count("fewest", fewest, 1)
        self.largest = checks.count("largest", largest, self.fewest)

    def belief(self) -> Belief:
        """Chance of each class."""
        return Belief(self.chances(), self.closed() & self.ledger.enough)

    def closed(self) -> BoolArray:
        """Tasks whose answer is likely enough, or that have most labels."""
        counts = self.ledger.counts
        sure = (counts >= self.fewest) & (self.chances().max(axis=1) >= self.confidence - 1e-12)
        closed: BoolArray = sure | (counts + self.ledger.waiting >= self.largest)
        return closed

    def chances(self) -> FloatArray:
        """Chance of each class by the labels of a task, shape (n, K)."""
        pool = self.ledger.pool
        n, K, m = len(pool.tasks), len(pool.classes), len(pool.workers)
        task, worker, label = self.ledger.labels.T
        shares = self.shares()
        agreed = shares[task, label] >= shares[task].max(axis=1) - 1e-12
        right = np.bincount(worker, agreed, minlength=m) + AGREED
        skill = right / (np.bincount(worker, minlength=m) + HEARD)
        least = 1.0 / K + 1e-9  # whom a majority contradicts counts for nothing, not against it
        q = np.clip(skill, least, 1.0 - 1e-9)[worker]
        for_it = np.log(q) - np.log((1.0 - q) / (K - 1))
        log_odds = np.bincount(task * K + label, for_it, minlength=n * K).reshape(n, K)
        chance = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        return np.where(self.ledger.counts[:, None] > 0, chance, pool.share)


def _share(name: str, value: float) -> float:
    """Check a number above 0 and at most 1."""
    share = checks.number(name, value, 0, 1)
    if share == 0:
        raise InputError(f"{name} is 0: give a number above 0 and at most 1")
    return share
