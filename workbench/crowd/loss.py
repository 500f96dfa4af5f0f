"""What an error costs by true class: a tilted prior, exactly.

Costs l_z of missing a true class z, and classes of shares π_z. A vote that names a class of largest
l_z π_z Π_j π_j(a_j | z) costs least in expectation, and what it costs is s = Σ_z l_z π_z times the
error of the likeliest class under the prior l_z π_z / s. So whatever keeps an error of ε/s under
that prior keeps an expected cost of ε, and covers, exact programs, their proofs and votes are taken
as they are. Where all errors cost 1 the prior is the shares, and the cost is the error.

It is a matter of the decision: no model is fitted by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.crowd.reading import as_text

MOST = 1e6
"""What missing a class may cost, at most, beside one that costs 1."""
LEAST_SHARE = 1e-9
Z = 1.645
"""Standard errors on either side of a 90 % interval."""


@dataclass(frozen=True, eq=False)
class CostOutcome:
    """What answers come to, where classes have their shares.

    Attributes
    ----------
    cost, error
        Expected cost a task, and share of the tasks with a wrong answer or none.
    recall, precision
        By class, shape (K,): share of the tasks of the class that are named so, and of those named
        so the share that are; NaN where there is none.
    """

    cost: float
    error: float
    recall: FloatArray
    precision: FloatArray


@dataclass(frozen=True, eq=False)
class Stakes:
    """What it costs to miss each class, and how frequent the classes are.

    Attributes
    ----------
    classes
        Names, K of them.
    loss
        l: cost of an answer other than the true class, by true class, shape (K,); above 0.
    share
        π, shape (K,): above 0, sums to 1; None where it is not stated, and gold or labels tell.
    """

    classes: tuple[Any, ...]
    loss: FloatArray
    share: FloatArray | None = None

    def known(self, believed: FloatArray) -> Stakes:
        """The same with the shares that are believed, shape (K,), where none are stated."""
        return self if self.share is not None else replace(self, share=believed)

    def over(self, classes: Sequence[Any]) -> Stakes:
        """The same for other classes: one that is not known costs 1, and has no share."""
        place = {name: at for at, name in enumerate(self.classes)}
        at = [place.get(name, -1) for name in classes]
        loss = np.append(self.loss, 1.0)[at]
        share = None if self.share is None else np.append(self.share, 0.0)[at]
        return Stakes(tuple(classes), loss, share)

    @property
    def shares(self) -> FloatArray:
        """Shares of the classes, shape (K,).

        Raises
        ------
        ValueError
            They are not known.
        """
        if self.share is None:
            raise ValueError("shares of the classes are not known")
        return self.share

    @property
    def scale(self) -> float:
        """s = Σ l π: what it costs where every answer is wrong."""
        return float(self.loss @ self.shares)

    @cached_property
    def tilted(self) -> FloatArray:
        """The prior l π / s, under which the likeliest class costs least, shape (K,)."""
        weighed = self.loss * self.shares
        prior: FloatArray = weighed / weighed.sum()
        return prior

    def error_for(self, cost: float) -> float:
        """Error under the tilted prior that is an expected cost of so much.

        Raises
        ------
        InputError
            Nothing costs as much.
        """
        if not 0 < cost < self.scale:
            raise InputError(
                f"epsilon is {cost:g}: give an expected cost above 0 and below {self.scale:.4g}, "
                "what it costs where every answer is wrong"
            )
        return cost / self.scale

    def outcome(self, named: FloatArray) -> CostOutcome:
        """What answers come to.

        Parameters
        ----------
        named
            Chance of each class to be named, by true class, shape (K, K); rows sum to 1, less
            where a task may get no answer.
        """
        recall = np.diagonal(named)
        missed = self.shares * (1.0 - recall)
        said = self.shares @ named
        right = self.shares * recall
        return CostOutcome(
            float(self.loss @ missed),
            float(missed.sum()),
            np.where(self.shares > 0, recall, np.nan),
            np.divide(right, said, out=np.full(len(said), np.nan), where=said > 0),
        )

    def shifted(self, posterior: FloatArray, fitted: FloatArray) -> FloatArray:
        """Chances of the classes where these have their shares, shape (n, K).

        Parameters
        ----------
        posterior
            Chances under other shares, shape (n, K).
        fitted
            These shares, shape (K,).
        """
        return reweighed(posterior, fitted, self.shares)

    def weights(self, truth: IntArray) -> FloatArray:
        """What missing each of some tasks counts in a mean over them, shape (n,).

        Where shares are stated tasks of a class count as many as it has, however many were looked
        at.

        Parameters
        ----------
        truth
            Class of each task, shape (n,).
        """
        loss = self.loss[truth]
        if self.share is None:
            return loss
        there = np.bincount(truth, minlength=len(self.loss)) / max(len(truth), 1)
        return loss * (self.share / np.maximum(there, LEAST_SHARE))[truth]


def reweighed(posterior: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """Chances of classes under other shares of them, shape (n, K)."""
    weight = after / np.maximum(before, LEAST_SHARE)
    joint = posterior * weight
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), posterior)


def cheapest(posterior: FloatArray, loss: FloatArray) -> tuple[IntArray, FloatArray]:
    """Answer tasks by the class of least expected cost.

    Parameters
    ----------
    posterior
        Chance of each class, shape (n, K).
    loss
        l: cost of missing each class, shape (K,).

    Returns
    -------
    The class, the first of those that tie, and its expected cost; shapes (n,).
    """
    weighed = posterior * loss
    best, rows = weighed.argmax(axis=1), np.arange(len(weighed))
    weighed[rows, best] = 0.0
    cost: FloatArray = weighed.sum(axis=1)
    return best, cost


def allowed_errors(posterior: FloatArray, loss: FloatArray, epsilon: float) -> FloatArray:
    """Error that an answer of each class may have for its expected cost to be ε, at most ½.

    Parameters
    ----------
    posterior
        Chance of each class, shape (n, K): where the answer is wrong the other classes are as
        likely as here.
    loss
        l: cost of missing each class, shape (K,).
    epsilon
        ε.

    Returns
    -------
    Shape (n, K).
    """
    own = np.eye(len(loss), dtype=bool)
    low = np.where(own, np.inf, loss).min(axis=1)
    high = np.where(own, 0.0, loss).max(axis=1)
    weighed = posterior * loss
    missed = weighed.sum(axis=1, keepdims=True) - weighed
    # Of a class that is all but sure the difference is rounding: between the least and the most.
    cost = np.clip(missed / np.maximum(1.0 - posterior, 1e-300), low, high)
    return np.asarray(np.minimum(epsilon / cost, 0.5))


def stakes_of(
    loss: Mapping[Any, float] | None,
    class_share: Mapping[Any, float] | None,
    classes: Iterable[Any],
) -> Stakes | None:
    """Read what a user says that errors cost, and how frequent classes are.

    Parameters
    ----------
    loss
        Cost of missing a true class, by class; 1 for those that are not named.
    class_share
        Share of the tasks, by class. One class may be left out, and has the rest.
    classes
        All classes, as text.

    Returns
    -------
    None where nothing is said.

    Raises
    ------
    InputError
        Something else than numbers by class, a class that there is not, a cost that is not above 0,
        or shares that do not sum to 1.
    """
    if loss is None and class_share is None:
        return None
    names = tuple(classes)
    costs = _by_class("loss", loss, names, MOST)
    shares = _by_class("class_share", class_share, names, 1.0)
    share = None if class_share is None else _shares(shares, names)
    return Stakes(names, np.array([costs.get(name, 1.0) for name in names]), share)


def two_named(
    loss: Mapping[Any, float] | None, class_share: Mapping[Any, float] | None
) -> list[str]:
    """The classes that costs and shares name, where nothing else does.

    Raises
    ------
    InputError
        They are not two.
    """
    named = [as_text(name) for each in (loss, class_share) for name in _mapping("loss", each)]
    names = sorted(set(named))
    if len(names) != 2:
        raise InputError(
            f"`loss` and `class_share` name {checks.listing(names) or 'no class'}: with `skills` "
            "nothing else names the classes, name both of the two"
        )
    return names


def _mapping(what: str, given: Mapping[Any, float] | None) -> Mapping[Any, float]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(
            f"`{what}` is {checks.show(given)}: give a number by class, as {{'yes': 5}}"
        )
    return given


def _by_class(
    what: str, given: Mapping[Any, float] | None, names: tuple[Any, ...], most: float
) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in _mapping(what, given).items():
        word = as_text(name)
        if word not in names:
            raise InputError(
                f"`{what}` names the class {checks.show(word)}, and there are "
                f"{checks.listing(list(names))}: name one of these"
            )
        number = checks.number(f"`{what}` of {word}", value, 0.0, most)
        if number <= 0:
            raise InputError(f"`{what}` of {word} is {number:g}: give a number above 0")
        found[word] = number
    return found


def _shares(given: dict[str, float], names: tuple[Any, ...]) -> FloatArray:
    total, left = sum(given.values()), [name for name in names if name not in given]
    rest = 1.0 - total
    if len(left) > 1:
        raise InputError(
            f"`class_share` leaves out {checks.listing(left)}: name all classes but one, which "
            "has the rest"
        )
    if (left and rest <= 0) or (not left and abs(rest) > 1e-6):
        word = "below 1" if left else "1"
        raise InputError(f"`class_share` sums to {total:g}: make it {word}")
    share = np.array([given.get(name, rest) for name in names])
    made: FloatArray = share / share.sum()
    return made


@dataclass(frozen=True, eq=False)
class MeasuredCost:
    """What answers cost on tasks of known class.

    Attributes
    ----------
    stakes
        Costs, and the shares that hold: those stated, or those of the tasks.
    outcome
        Cost, error, recall and precision.
    interval
        90 % interval of the cost.
    tasks
        How many of each class were looked at, shape (K,).
    beside
        What everybody's majority costs on the same tasks; None where none stands beside it.
    """

    stakes: Stakes
    outcome: CostOutcome
    interval: tuple[float, float]
    tasks: IntArray
    beside: float | None = None


def measure_cost(
    stakes: Stakes,
    truth: IntArray,
    chance: FloatArray,
    *,
    spread: float = 1.0,
    beside: FloatArray | None = None,
) -> MeasuredCost | None:
    """Measure what answers cost on tasks of known class.

    The interval is by squares of distances (MOVER) to Wilson's for each class: of the share missed
    in the class where shares of classes are stated, else in all tasks.

    Parameters
    ----------
    truth
        Class of each task, shape (n,).
    chance
        Chance of each class to be named, shape (n, K); NaN where there is no answer.
    spread
        By how much less than n tasks they tell.
    beside
        Chance that a majority is wrong on each, shape (n,).

    Returns
    -------
    None without a task.
    """
    if not len(truth):
        return None
    K, n = len(stakes.loss), len(truth)
    tasks = np.bincount(truth, minlength=K)
    named = np.zeros((K, K))
    np.add.at(named, truth, np.nan_to_num(chance))
    missed = tasks - np.diagonal(named)
    named /= np.maximum(tasks, 1)[:, None]
    of = tasks if stakes.share is not None else np.full(K, n)
    weight = stakes.loss if stakes.share is None else stakes.loss * stakes.share
    low, high = wilson(missed / spread, of / spread)
    rate = np.divide(missed, of, out=np.zeros(K), where=of > 0)
    cost = float(weight @ rate)
    held = stakes.known(tasks / n)
    # Nothing is known of a class that no task is of: its part of the cost is in the interval alone.
    outcome = held.outcome(np.where(tasks[:, None] > 0, named, np.eye(K)))
    return MeasuredCost(
        held,
        replace(outcome, recall=np.where(tasks > 0, outcome.recall, np.nan)),
        (
            max(cost - float(np.sqrt(((weight * (rate - low)) ** 2).sum())), 0.0),
            cost + float(np.sqrt(((weight * (high - rate)) ** 2).sum())),
        ),
        tasks,
        None if beside is None else float((stakes.weights(truth) * beside).mean()),
    )


def wilson(wrong: FloatArray, tasks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Wilson's 90 % interval of a share, by element; all of [0, 1] of no tasks."""
    n = np.maximum(tasks, 1e-12)
    p = np.clip(wrong / n, 0.0, 1.0)
    middle = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * np.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    none = tasks <= 0
    low: FloatArray = np.where(none, 0.0, np.clip(middle - half, 0.0, p))
    high: FloatArray = np.where(none, 1.0, np.clip(middle + half, p, 1.0))
    return low, high
