"""A judge beside people: how often it is right, and what share of tasks is truly of each class.

A judge gives N tasks a verdict each; of n of them people's labels are known, and taken for true.
N_s tasks have verdict s, of n_s of these people's labels are known, n_sc of them c. The verdicts
are strata: w_s = N_s/N and p_sc = n_sc/n_s. Nothing but p(c | s) is learnt from people, so that
their labels may be a random sample of all N tasks, or random within each verdict, in any numbers.

The true share of class c is θ_c = Σ_s w_s p_sc = a + b, with a = w_c p_cc of the tasks that the
judge calls c, and b of the others. b/(1 − w_c) has the interval of a share of as many labels as the
others' are worth, (Σ w_s)²/Σ w_s²/n_s: of two classes just theirs. With [l, u] the 95 % interval of
a and of b by Jeffreys's prior, θ_c is below by at most √((a − l_a)² + (b − l_b)² + z² V), and above
likewise (MOVER), for tasks like those that were judged: V = (Σ_s w_s p_sc² − θ_c²)/N is the
variance that the shares w_s bring in. (Wilson's intervals in place of Jeffreys's are wider by 6 %,
and cover less where nearly all tasks are of one class: .928 against .945 of 4,000 draws in the
worst of sixteen cells.) A verdict of which people labelled no task counts as anything.

The judge is right on class c with share a/(a + b). The ends are where (1 − t)a − tb no more
differs from 0. There N_s counts as a Poisson number, as in the ratio of two of them: where people
labelled every task this is the usual interval of a share of n tasks of class c.

The interval of Cohen's κ holds the middle 95 % of draws of w and p, each of the Dirichlet
distribution by its counts and Jeffreys's prior of agreement: κ is far from normal where one class
is rare.

Sources: Zou, Donner (2008), "Construction of confidence limits about effect measures"; Brown, Cai,
DasGupta (2001), "Interval estimation for a binomial proportion"; Cochran (1977), "Sampling
techniques", Section 12 (double sampling for strata); Kish (1965), "Survey sampling", Section 11.7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.kappas import ONE
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import Seed, stream

CONFIDENCE = 0.95
"""Of all intervals."""
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
"""Standard errors that an interval of a normal mean reaches."""
DRAWS, LEAST_DRAWS = 2000, 200
"""Draws of what shares may be, and how many there are at least of many classes."""
MOST_DRAWN, PART = 2**25, 2**22
"""Numbers that are drawn at most, but for the least draws; and at a time."""
HALVINGS = 50
"""Of the range in which an end of an interval is looked for."""


class Ranged(NamedTuple):
    """Numbers, and the ends of their 95 % intervals."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class VerdictCounts:
    """What a judge and people said of tasks of L classes.

    Attributes
    ----------
    verdicts
        Tasks with each verdict, shape (L,).
    labels
        Of the tasks with each verdict, those that people gave each class, shape (L, L).
    """

    verdicts: IntArray
    labels: IntArray

    @property
    def tasks(self) -> int:
        """With a verdict."""
        return int(self.verdicts.sum())

    @property
    def labelled(self) -> int:
        """With a verdict and people's label."""
        return int(self.labels.sum())

    @property
    def weight(self) -> FloatArray:
        """Share of each verdict, shape (L,)."""
        share: FloatArray = self.verdicts / self.verdicts.sum()
        return share

    def shares(self) -> Ranged:
        """True share of each class, θ, shape (L,)."""
        return self._shares(self.labels.sum(axis=1))

    def shares_of_people(self) -> Ranged:
        """The same by people's labels alone, which have to be a random sample of the tasks."""
        many = self.labels.sum(axis=0)
        return Ranged(many / self.labelled, *jeffreys(many, self.labelled))

    def precisions(self) -> Ranged:
        """Share of true classes c among verdicts c, shape (L,); NaN without a label there."""
        right, many = self.labels.diagonal(), self.labels.sum(axis=1)
        return Ranged(
            np.where(many > 0, right / np.maximum(many, 1), np.nan), *jeffreys(right, many)
        )

    def rates(self) -> Ranged:
        """Share of verdicts c where c is true, shape (L,); NaN, from 0 to 1, where none is."""
        w, p, N = self.weight, self._by_verdict(), self.tasks
        own, rest = _parts(w, p, self.labels.sum(axis=1))
        noise = Z**2 * w[:, None] * p**2 / N  # of a Poisson number N_s, times p²
        of_own = noise.diagonal()
        of_rest = noise.sum(axis=0) - of_own
        # A verdict that was never given may be: the tasks are a sample.
        never = self.verdicts == 0
        unseen = float(jeffreys(0, N)[1]) ** 2
        more_own, more_rest = unseen * never, unseen * (never.sum() - never > 0)
        a, b = own.value, rest.value
        a_low, b_low = (
            np.minimum(np.sqrt((x.value - x.low) ** 2 + more), x.value)
            for x, more in ((own, of_own), (rest, of_rest))
        )
        a_high, b_high = (
            np.sqrt((x.high - x.value) ** 2 + more)
            for x, more in ((own, of_own + more_own), (rest, of_rest + more_rest))
        )
        known = self.labels.sum(axis=0) > 0
        value = np.where(known, a / np.where(a + b > 0, a + b, 1.0), np.nan)
        lower = np.where(a > 0, _crossing(a, b, a_low, b_high, -1.0), 0.0)
        upper = np.where(b > 0, _crossing(a, b, a_high, b_low, 1.0), 1.0)
        return Ranged(value, np.where(known, lower, 0.0), np.where(known, upper, 1.0))

    def kappa(self, seed: Seed = 0) -> tuple[float, float, float] | None:
        """Cohen's κ of the judge and people over all tasks, and its interval.

        Returns
        -------
        None where one class alone is named.

        Parameters
        ----------
        seed
            Of the draws of what the shares may be.
        """
        value = float(_kappa(self.weight[:, None] * self._by_verdict()))
        if np.isnan(value):
            return None
        rng, L = stream(seed, "kappa of a judge"), len(self.labels)
        draws = int(np.clip(MOST_DRAWN // L**2, LEAST_DRAWS, DRAWS))
        prior = np.where(np.eye(L, dtype=np.bool_), 0.5, 0.5 / max(L - 1, 1))
        found = []
        for part in np.array_split(np.arange(draws), -(-draws * L**2 // PART)):
            p, w = (
                rng.standard_gamma(counts, (len(part), *counts.shape))
                for counts in (self.labels + prior, self.verdicts + 1.0 / L)
            )
            cell = p / p.sum(axis=2, keepdims=True) * (w / w.sum(axis=1, keepdims=True))[..., None]
            found.append(_kappa(cell))
        tail = (1.0 - CONFIDENCE) / 2.0
        low, high = np.nanquantile(np.concatenate(found), [tail, 1.0 - tail])
        return value, min(float(low), value), max(float(high), value)

    def allotted(self, labels: float) -> FloatArray:
        """Labels to draw of each verdict, so that they tell most: as w_s √(1 − Σ_c p_sc²).

        Source: Neyman (1934), with the sum of the variances of all classes.
        """
        L, many = len(self.labels), self.labels.sum(axis=1, keepdims=True)
        p = (self.labels + 1.0 / L) / (many + 1.0)
        part = self.weight * np.sqrt(1.0 - (p**2).sum(axis=1))
        drawn: FloatArray = labels * part / max(float(part.sum()), 1e-300)
        return np.minimum(drawn, self.verdicts)

    def reach(self, drawn: FloatArray) -> float:
        """Half the interval of the share that is known worst, with so many labels of each verdict.

        Parameters
        ----------
        drawn
            Need not be whole, shape (L,).
        """
        found = self._shares(drawn)
        return float((found.high - found.low).max()) / 2.0

    def needed(self, reach: float, *, by_verdict: bool = False) -> int | None:
        """Labels of people that bring all true shares to ± `reach`; None where all are too few.

        Parameters
        ----------
        by_verdict
            Drawn as `allotted`, not at random among all tasks.
        """

        def enough(labels: int) -> bool:
            drawn = self.allotted(labels) if by_verdict else self.weight * labels
            return self.reach(drawn) <= reach

        return _least(enough, self.tasks)

    def reach_alone(self, labels: int) -> float:
        """Half the interval of the share that is known worst, of a random sample and no judge."""
        low, high = jeffreys(self.shares().value * labels, labels)
        return float((high - low).max()) / 2.0

    def needed_alone(self, reach: float, most: int = 10**7) -> int | None:
        """Labels of a random sample that bring all true shares to ± `reach` without the judge."""
        return _least(lambda labels: self.reach_alone(labels) <= reach, most)

    def _by_verdict(self) -> FloatArray:
        """p(c | s), shape (L, L); of a verdict without labels 1/L."""
        many = self.labels.sum(axis=1, keepdims=True)
        share: FloatArray = np.where(
            many > 0, self.labels / np.maximum(many, 1), 1.0 / len(self.labels)
        )
        return share

    def _shares(self, drawn: ArrayLike) -> Ranged:
        """θ if the shares by verdict, as they are, came from so many labels of each verdict."""
        w, p = self.weight, self._by_verdict()
        own, rest = _parts(w, p, np.asarray(drawn, dtype=np.float64))
        share = own.value + rest.value
        noise = Z**2 * np.maximum(w @ p**2 - share**2, 0.0) / self.tasks
        below, above = (
            np.sqrt((own.value - a) ** 2 + (rest.value - b) ** 2 + noise)
            for a, b in ((own.low, rest.low), (own.high, rest.high))
        )
        return Ranged(share, np.maximum(share - below, 0.0), np.minimum(share + above, 1.0))


def _parts(w: FloatArray, p: FloatArray, drawn: FloatArray) -> tuple[Ranged, Ranged]:
    """Share of tasks that are c, of those with verdict c and of all others, by c.

    Parameters
    ----------
    w, p, drawn
        Share of each verdict, p(c | s), and labels that this comes from, shapes (L,), (L, L), (L,).
    """
    there, mine = drawn > 0, p.diagonal()
    own = Ranged(w * mine, *(w * end for end in jeffreys(mine * drawn, drawn)))
    counted = np.where(there, w, 0.0)
    W, share = counted.sum() - counted, counted @ p - counted * mine
    W = np.where(W > ONE, W, 0.0)
    spread = np.where(there, counted**2 / np.where(there, drawn, 1.0), 0.0)
    worth = W**2 / np.maximum(spread.sum() - spread, 1e-300) * (W > 0)
    q = np.clip(share / np.where(W > 0, W, 1.0), 0.0, 1.0)
    low, high = (W * end for end in jeffreys(q * worth, worth))
    unknown = np.where(there, 0.0, w)
    more, squares = unknown.sum() - unknown, (unknown**2).sum() - unknown**2
    value, L = share + more / len(w), len(w)
    return own, Ranged(
        value,
        value - np.sqrt((share - low) ** 2 + squares / L**2),
        value + np.sqrt((high - share) ** 2 + squares * (1 - 1 / L) ** 2),
    )


def jeffreys(successes: ArrayLike, trials: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Interval of a share from counts, which need not be whole; from 0 to 1 without a trial.

    Equal tails of the Beta distribution by Jeffreys's prior, up to the end where all or none are
    successes.
    """
    from scipy.special import betaincinv

    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    tail = (1.0 - CONFIDENCE) / 2.0
    low = np.where(k > 0, betaincinv(k + 0.5, n - k + 0.5, tail), 0.0)
    high = np.where(k < n, betaincinv(k + 0.5, n - k + 0.5, 1.0 - tail), 1.0)
    return low, high


def _crossing(
    a: FloatArray, b: FloatArray, of_a: FloatArray, of_b: FloatArray, side: float
) -> FloatArray:
    """Where (1 − t)a − tb + side · √((1 − t)² of_a² + t² of_b²) falls to 0, t in [0, 1]."""
    low, high = np.zeros_like(a), np.ones_like(a)
    for _ in range(HALVINGS):
        t = (low + high) / 2.0
        left = (1 - t) * a - t * b + side * np.hypot((1 - t) * of_a, t * of_b)
        low, high = np.where(left > 0, t, low), np.where(left > 0, high, t)
    ends: FloatArray = (low + high) / 2.0
    return ends


def _kappa(cell: FloatArray) -> FloatArray:
    """Cohen's κ of shares of verdict and class, shape (…, L, L); NaN where chance is all."""
    agree = np.trace(cell, axis1=-2, axis2=-1)
    left = 1.0 - (cell.sum(axis=-1) * cell.sum(axis=-2)).sum(axis=-1)
    kappa: FloatArray = np.where(
        left > ONE, 1.0 - (1.0 - agree) / np.where(left > ONE, left, 1.0), np.nan
    )
    return kappa


def _least(enough: Callable[[int], bool], most: int) -> int | None:
    """The least number from 1 to `most` that is enough, more being enough too; None without."""
    if not enough(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
