"""Rules that choose at most K workers: Algorithm 1, and those it is compared with.

A rule ranks workers by a value and takes the first k of them. Algorithm 1 ranks by G and takes
the smallest k that maximises F̂ (Theorem 4: no set of at most K workers has a higher F̂); top-K
rules take K.

Where the caller says how much evidence each worker has, more evidence goes first among workers of
equal value (the paper has no such step). Where workers equal in both straddle the cut, the caller's
seed draws among them fairly, and the result says so. Where F̂ > 0 it is only the budget that can cut
through a run of equal workers: along a run F̂ rises, or falls and then rises, so that its maxima are
at the ends of runs.

Source: Li, Liu (2015), Section 3, Algorithm 1; Section 4 for the plug-in and top-K rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.selection.accuracy import least_error, prefix_errors
from workbench.selection.scoring import Scores, prefix_scores

Ties: TypeAlias = Literal["fair", "first"]

EQUAL = 1e-12
"""Scores F̂ that differ by a smaller share count as equal: rounding must not hire a worker."""
LARGEST = 1e300
"""No value may be larger, so that sums of values stay finite."""
NOBODY: IntArray = np.zeros(0, dtype=np.int64)
NOBODY.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Selection:
    """Workers that a rule chose.

    Attributes
    ----------
    chosen
        Indices of the chosen workers, best first.
    curve
        F̂ (or F̂_plug, or predicted accuracy) of the first 1, 2, … workers of the ranking, as far
        as the rule looked; empty for rules that take K.
    tied
        The workers that the cut runs through: all who equal the last one chosen in value (and in
        evidence, where it counts), chosen or not. Empty when none of them is left out.
    note
        What a user has to know of the choice; empty when there is nothing to say.
    value
        What all m workers are ranked by, so that those not chosen can be put in order too. None
        unless a rule of `RULES` chose.
    """

    chosen: IntArray
    curve: FloatArray
    tied: IntArray
    note: str = ""
    value: FloatArray | None = None

    @property
    def score(self) -> float | None:
        """The curve at its maximum, the score of the chosen set."""
        return float(self.curve[len(self.chosen) - 1]) if len(self.curve) else None


@dataclass(frozen=True)
class RuleOptions:
    """What every rule takes besides scores and budget.

    Attributes
    ----------
    seed
        For the draw where workers of equal value straddle the cut, for the rule "random", and for
        the votes that "accuracy" simulates.
    ties
        "fair" draws among equals, "first" takes the lowest indices.
    by_evidence
        Whether more control answers go first among workers of equal value.
    threshold
        For the rule "threshold": workers with ŵ above it; None stands for 1/L, guessing.
    """

    seed: Seed
    ties: Ties = "fair"
    by_evidence: bool = False
    threshold: float | None = None


Rule: TypeAlias = Callable[[Scores, int, RuleOptions], Selection]
"""Chooses, by the scores of the m workers, at most K of those who are eligible."""


def algorithm_1(
    gain: ArrayLike,
    budget: int,
    *,
    seed: Seed,
    ties: Ties = "fair",
    evidence: ArrayLike | None = None,
) -> Selection:
    """Choose the set of at most K workers with the highest Σ gain / √|S| (Algorithm 1).

    Of several such sets it is the smallest; scores within a share of 1e-12 count as equal. Takes
    O(m + K log K) time.

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
        Control answers of each worker, shape (m,). Among workers of equal gain more answers go
        first, and only workers equal in both are tied. None: gain alone counts, as in the paper.

    Raises
    ------
    InputError
        A gain that is NaN or beyond ±1e300 (−∞ is allowed), a budget below 1, unknown ties, no
        seed, or evidence that is not one whole number per worker.
    """
    x, lot = ranking_values("gain", gain), tie_lot(seed, ties)
    best = _best(x, checks.count("budget", budget, 1))
    if not len(best):
        return Selection(NOBODY, best, NOBODY, "no worker can be scored")
    curve = prefix_scores(best)
    k = best_size(curve)
    chosen, tied = _cut(x, best[:k], lot, evidence)
    note = ""
    if curve[k - 1] <= 0:
        note = (
            "no worker is shown to be better than guessing: the best score is not above 0, and "
            "one worker is named because the rule names at least one"
        )
    return Selection(chosen, curve, tied, note)


def top(
    value: ArrayLike,
    budget: int,
    *,
    seed: Seed,
    ties: Ties = "fair",
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
        return Selection(NOBODY, best, NOBODY, "no worker qualifies")
    chosen, tied = _cut(x, best, lot, evidence)
    return Selection(chosen, np.zeros(0), tied)


def best_size(curve: FloatArray) -> int:
    """Smallest number of first workers whose F̂ counts as the highest."""
    return 1 + int(np.argmax(curve >= least_best(curve.max())))


def selected(pool: Scores, budget: int, options: RuleOptions) -> Selection:
    """Algorithm 1: choose by G."""
    return _choose(algorithm_1, pool, pool.gain, budget, options)


def plug_in(pool: Scores, budget: int, options: RuleOptions) -> Selection:
    """Choose as Algorithm 1 does, without the correction for variance (9)."""
    return _choose(algorithm_1, pool, pool.plug_in, budget, options)


def top_skill(pool: Scores, budget: int, options: RuleOptions) -> Selection:
    """Choose the K workers of highest ŵ."""
    return _choose(top, pool, pool.skill, budget, options)


def top_informative(pool: Scores, budget: int, options: RuleOptions) -> Selection:
    """Choose the K workers with ŵ farthest from guessing."""
    return _choose(top, pool, pool.plug_in, budget, options)


def check_threshold(threshold: float | None, rule: str) -> None:
    """Refuse a threshold that the rule would not look at."""
    if threshold is not None and rule != "threshold":
        raise InputError(f"threshold goes with the rule 'threshold', not {rule!r}: leave it out")


def threshold(pool: Scores, budget: int, options: RuleOptions) -> Selection:
    """Choose the K workers of highest ŵ, of those whose ŵ is above the threshold."""
    least = 1.0 / pool.classes if options.threshold is None else options.threshold
    above = pool.skill > checks.number("threshold", least, 0, 1)
    qualified = replace(pool, eligible=pool.eligible & above)
    return replace(top_skill(qualified, budget, options), value=pool.skill)


def random(pool: Scores, budget: int, options: RuleOptions) -> Selection:
    """Choose K workers at random."""
    lots = stream(options.seed, "random workers").random(len(pool))
    return replace(_choose(top, pool, lots, budget, options), value=pool.gain)


def _choose(
    take: Callable[..., Selection],
    pool: Scores,
    value: FloatArray,
    budget: int,
    options: RuleOptions,
) -> Selection:
    """Rank the eligible workers by a value, and take the first."""
    x = np.where(pool.eligible, value, -np.inf)
    evidence = pool.answered if options.by_evidence else None
    chosen = take(x, budget, seed=options.seed, ties=options.ties, evidence=evidence)
    return replace(chosen, value=value)


def accuracy(pool: Scores, budget: int, options: RuleOptions) -> Selection:
    """Choose the first k ≤ K workers by posterior informativeness whose vote errs least.

    Workers are ranked by |Lw̄ − 1|, where w̄ is the posterior mean. The order among equals is drawn
    at random, since they may still differ in weight. The rule chooses the smallest of the K
    prefixes that is not proven to err more than another; where votes are simulated, the smallest
    that errs least on them. Only prefixes are compared: `exhaustive_by_accuracy` compares all sets
    of a small crowd. The curve is the predicted accuracy, 1 less the predicted error.
    """
    K, lot = checks.count("budget", budget, 1), tie_lot(options.seed, options.ties)
    value, order = pool.posterior_value, np.flatnonzero(pool.eligible)
    if lot is not None:
        order = lot.permutation(order)
    evidence = pool.answered * options.by_evidence
    ranked: IntArray = order[np.lexsort((-evidence[order], -value[order]))][:K]
    if not len(ranked):
        return Selection(NOBODY, np.zeros(0), NOBODY, "no worker can be scored", value)
    errors = prefix_errors(pool, ranked, seed=options.seed)
    chosen = ranked[: 1 + least_error(errors)]
    last = chosen[-1]
    tied = np.flatnonzero(pool.eligible & (value == value[last]) & (evidence == evidence[last]))
    if np.isin(tied, chosen).all():
        tied = NOBODY
    selection = Selection(chosen, np.array([1.0 - error.probability for error in errors]), tied)
    note = ""
    if selection.curve[len(chosen) - 1] <= 1.0 / pool.classes + 1e-9:
        note = (
            "no worker is predicted to be better than guessing; one worker is named because the "
            "rule names at least one"
        )
    return replace(selection, note=note, value=value)


def ranking_values(name: str, value: ArrayLike) -> FloatArray:
    """Check what workers are ranked by: one finite number each, or −∞ to leave a worker out.

    Raises
    ------
    InputError
        A value that is NaN or beyond ±1e300 (−∞ is allowed), or not a vector.
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
    """Return the generator that draws among equals; None when the lowest indices go first.

    Raises
    ------
    InputError
        Unknown ties, or no seed.
    """
    if ties not in ("fair", "first"):
        raise InputError(f"ties is {ties!r}: give 'fair' or 'first'")
    return stream(seed, "ties") if ties == "fair" else None


def least_best(best: FloatArray) -> FloatArray:
    """Least F̂ that still counts as equal to the highest, `best`; any shape.

    The tolerance is for rounding, and holds only where the highest F̂ is above 0: then the falling
    gains are summed without cancellation up to the maximum. Elsewhere a single worker is best, her
    F̂ is exact, and no tolerance is needed.
    """
    return best - EQUAL * np.maximum(best, 0.0)


def _best(x: FloatArray, budget: int) -> FloatArray:
    """The K highest values above −∞, highest first. Values sort faster than indices."""
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
    """Take the workers whose values are `best`; return them and those tied at the cut.

    Workers of equal value come in the order of their indices. Where equals straddle the cut, as
    many are drawn as there is room for.
    """
    if evidence is not None:
        x = _places(x, checks.wholes("evidence", evidence))
        best = _best(x, len(best))
    k, last = len(best), best[-1]
    above = np.flatnonzero(x > last)
    # Without equals every sort gives the same order, and the default one is the fastest.
    distinct = np.diff(best[: len(above)]).all()
    certain = above[np.argsort(-x[above], kind=None if distinct else "stable")]
    equal = np.flatnonzero(x == last)
    room = k - len(certain)
    if room == len(equal):
        return np.concatenate([certain, equal]), NOBODY
    drawn = equal[:room] if lot is None else np.sort(lot.choice(equal, size=room, replace=False))
    return np.concatenate([certain, drawn]), equal


def _places(x: FloatArray, evidence: IntArray) -> FloatArray:
    """Rank workers upwards by value, then by evidence; who is equal in both has the same rank."""
    if evidence.shape != x.shape:
        raise InputError(f"evidence has shape {evidence.shape}: give one number a worker")
    order = np.lexsort((evidence, x))
    rises = (np.diff(evidence[order]) != 0) | (x[order][1:] != x[order][:-1])
    places = np.zeros(len(x))
    places[order[1:]] = np.cumsum(rises)
    return places
