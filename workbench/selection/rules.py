"""Rules that choose at most K workers: Algorithm 1, and those it is compared with.

A rule ranks workers by a value and takes the first k of them. Algorithm 1 ranks by G and takes
the smallest k that maximises F̂ (Theorem 4: no set of at most K workers has a higher F̂); top-K
rules take K. Of workers of equal value those with more evidence come first, where the caller says
how much each has (the paper does not ask). Whoever is equal in that too, around the cut, is drawn
fairly, with the caller's seed, and the result says so. Where F̂ > 0 only the budget can cut among
equals: along a run of them F̂ rises, or falls and then rises, so that its maxima are at the ends of
runs.

Source: Li, Liu (2015), Section 3, Algorithm 1; Section 4 for the plug-in and top-K rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.selection.scores import Scores

Ties: TypeAlias = Literal["fair", "first"]

EQUAL = 1e-12
"""Scores F̂ closer than this share are equal, so that rounding hires nobody."""
LARGEST = 1e300
"""No value may be larger, so that sums of values stay finite."""

RULES: dict[str, str] = {
    "selected": "Algorithm 1: rank by G, the smallest number of workers that maximises F̂",
    "plug-in": "the same without the variance correction",
    "top-skill": "the K workers of highest ŵ",
    "top-informative": "the K workers with ŵ farthest from guessing, |ŵ − 1/L|",
    "threshold": "at most K workers with ŵ above a threshold, highest first",
    "random": "K workers at random",
}
"""Rules by name, and what they do."""


@dataclass(frozen=True, eq=False)
class Selection:
    """Workers that a rule chose.

    Attributes
    ----------
    rule
        Name, one of `RULES`.
    chosen
        Indices of the chosen workers, best first.
    curve
        F̂ (or F̂_plug) of the first 1, 2, … workers of the ranking, as far as the rule looked;
        empty for rules that do not sum.
    tied
        Workers whose value (and evidence, where it counts) equals that of the last one chosen and
        of some worker left out: they were drawn among. Empty when the cut was clear.
    note
        What has to be said about the choice; empty when nothing.
    """

    rule: str
    chosen: IntArray
    curve: FloatArray
    tied: IntArray
    note: str = ""

    @property
    def score(self) -> float | None:
        """The curve at its maximum, the score of the chosen set."""
        return float(self.curve[len(self.chosen) - 1]) if len(self.curve) else None


def algorithm_1(
    gain: ArrayLike,
    budget: int,
    *,
    seed: Seed,
    ties: Ties = "fair",
    rule: str = "selected",
    evidence: ArrayLike | None = None,
) -> Selection:
    """Choose the set of at most K workers with the highest Σ gain / √|S| (Algorithm 1).

    Of several maximisers the smallest, scores within a share of 1e-12 being equal. O(m + K log K)
    time.

    Parameters
    ----------
    gain
        G of each worker, shape (m,); −∞ leaves a worker out.
    budget
        K ≥ 1.
    seed
        Of the draw where workers of equal gain straddle the cut.
    ties
        "fair" draws among them, "first" takes the lowest indices.
    evidence
        Control answers of each worker, shape (m,): of equal gain who has more comes first, and
        only equals in both are tied. None takes no account of it, as the paper.

    Raises
    ------
    InputError
        A gain that is NaN or beyond ±1e300 (but −∞), a budget below 1, unknown ties, no seed, or
        evidence that is not a whole number a worker.
    """
    x, lot = ranking_values("gain", gain), tie_lot(seed, ties)
    best = _best(x, checks.count("budget", budget, 1))
    if not len(best):
        return Selection(rule, _nobody(), best, _nobody(), "no worker can be scored")
    curve = np.cumsum(best)
    curve /= np.sqrt(np.arange(1.0, len(best) + 1))
    k = 1 + int(np.argmax(curve >= least_best(curve.max())))
    chosen, tied = _cut(x, best[:k], lot, evidence)
    note = ""
    if curve[k - 1] <= 0:
        note = (
            "no worker is shown to be better than guessing: the best score is not above 0, and "
            "one worker is named because the rule names at least one"
        )
    return Selection(rule, chosen, curve, tied, note)


def top(
    value: ArrayLike,
    budget: int,
    *,
    seed: Seed,
    ties: Ties = "fair",
    rule: str = "top-skill",
    evidence: ArrayLike | None = None,
) -> Selection:
    """Choose the K workers of highest value; arguments as for `algorithm_1`.

    Raises
    ------
    InputError
        As `algorithm_1`.
    """
    x, lot = ranking_values("value", value), tie_lot(seed, ties)
    best = _best(x, checks.count("budget", budget, 1))
    if not len(best):
        return Selection(rule, _nobody(), best, _nobody(), "no worker qualifies")
    chosen, tied = _cut(x, best, lot, evidence)
    return Selection(rule, chosen, np.zeros(0), tied)


def select(
    known: Scores,
    budget: int,
    rule: str = "selected",
    *,
    seed: Seed,
    ties: Ties = "fair",
    by_evidence: bool = False,
    threshold: float | None = None,
) -> Selection:
    """Choose at most K of the eligible workers by a rule of `RULES`.

    Parameters
    ----------
    known
        Scores of the m workers.
    budget
        K ≥ 1.
    rule
        Name of the rule.
    seed
        Of the draw among equals, and of the rule "random".
    ties
        As for `algorithm_1`.
    by_evidence
        Whether of equal workers those with more control answers come first.
    threshold
        For the rule "threshold": workers with ŵ above it; None stands for 1/L, guessing.

    Raises
    ------
    InputError
        An unknown rule, a threshold outside [0, 1] or for another rule, or as `algorithm_1`.
    """
    if rule not in RULES:
        raise InputError(f"rule {rule!r} is unknown: use {', '.join(RULES)}")
    if threshold is not None and rule != "threshold":
        raise InputError(f"threshold goes with the rule 'threshold', not {rule!r}: leave it out")
    evidence = known.answered if by_evidence else None
    if rule in ("selected", "plug-in"):
        gain = known.gain if rule == "selected" else known.plug_in
        return algorithm_1(gain, budget, seed=seed, ties=ties, rule=rule, evidence=evidence)
    value: FloatArray
    if rule == "random":
        value = stream(seed, "random workers").random(len(known))
    elif rule == "top-informative":
        value = known.plug_in.copy()
    else:
        value = known.skill.copy()
    keep = known.eligible
    if rule == "threshold":
        least = 1.0 / known.classes if threshold is None else threshold
        keep = keep & (known.skill > checks.number("threshold", least, 0, 1))
    value[~keep] = -np.inf
    return top(value, budget, seed=seed, ties=ties, rule=rule, evidence=evidence)


def ranking_values(name: str, value: ArrayLike) -> FloatArray:
    """Check what workers are ranked by, one finite number each, or −∞ to leave one out.

    Raises
    ------
    InputError
        A value that is NaN or beyond ±1e300 (but −∞), or no vector.
    """
    x = checks.floats(name, value)
    if x.ndim != 1:
        raise InputError(f"{name} has shape {x.shape}: give a vector, one number a worker")
    fit = (x >= -LARGEST) & (x <= LARGEST) | (x == -np.inf)
    if not fit.all():
        at = int(np.argmin(fit))
        raise InputError(
            f"{name}[{at}] is {x[at]:g}: give a number within ±{LARGEST:g}, or −inf to leave a "
            "worker out"
        )
    return x


def tie_lot(seed: Seed, ties: Ties) -> np.random.Generator | None:
    """Return what to draw among equals with; None when the lowest indices go first.

    Raises
    ------
    InputError
        Unknown ties, or no seed.
    """
    if ties not in ("fair", "first"):
        raise InputError(f"ties is {ties!r}: give 'fair' or 'first'")
    return stream(seed, "ties") if ties == "fair" else None


def least_best(best: FloatArray) -> FloatArray:
    """Least F̂ that counts as the highest, any shape.

    Of gains in falling order F̂ is only summed without cancellation up to its maximum, and only
    where that is above 0; elsewhere one worker alone is best, and exactly.
    """
    least: FloatArray = best - EQUAL * np.maximum(best, 0.0)
    return least


def _best(x: FloatArray, budget: int) -> FloatArray:
    """The K highest values above −∞, highest first. Values sort faster than workers."""
    if budget < len(x):
        x = np.partition(x, len(x) - budget)[len(x) - budget :]
    ordered = np.sort(x)[::-1]
    return ordered[: len(ordered) - int(np.count_nonzero(ordered == -np.inf))]


def _cut(
    x: FloatArray,
    best: FloatArray,
    lot: np.random.Generator | None,
    evidence: ArrayLike | None,
) -> tuple[IntArray, IntArray]:
    """Take the workers whose values are `best`, equal ones in the order of their indices.

    Where equals straddle the cut, as many of them as there is room for.
    """
    if evidence is not None:
        x = _places(x, checks.wholes("evidence", evidence))
        best = _best(x, len(best))
    k, last = len(best), best[-1]
    above = np.flatnonzero(x > last)
    # Without equals every sort gives the same order, and the default one is the fastest.
    distinct = np.diff(best[: len(above)]).all()
    surely = above[np.argsort(-x[above], kind=None if distinct else "stable")]
    equal = np.flatnonzero(x == last)
    room = k - len(surely)
    if room == len(equal):
        return np.concatenate([surely, equal]), _nobody()
    drawn = equal[:room] if lot is None else np.sort(lot.choice(equal, size=room, replace=False))
    return np.concatenate([surely, drawn]), equal


def _places(x: FloatArray, evidence: IntArray) -> FloatArray:
    """Number the workers by value, those of equal value by evidence, equals alike."""
    if evidence.shape != x.shape:
        raise InputError(f"evidence has shape {evidence.shape}: give one number a worker")
    order = np.lexsort((evidence, x))
    rises = (np.diff(evidence[order]) != 0) | (x[order][1:] != x[order][:-1])
    places = np.zeros(len(x))
    places[order[1:]] = np.cumsum(rises)
    return places


def _nobody() -> IntArray:
    return np.zeros(0, dtype=np.int64)
