"""Ratings on a scale to estimates: what gold tells of the workers, and the posterior mean.

The model is that of `crowd_models.ratings`: y_ij = a_j + g_j (B z_i + c_i) + e_ij. Gold, tasks
whose truth z_i is known, tells it by moments alone, in a few rounds:

- B by least squares of the tasks' mean ratings on the truth, all workers alike: weighted by
  precisions it would follow those who always name one number, whose residuals are small;
- g_j from how her own ratings rise, drawn to 1 as far as workers differ by no more than chance. Who
  always names one number has 0, and tells nothing: with one slope for all she passed for the most
  precise of one recorded crowd;
- a_j by Bühlmann's credibility: a worker's mean is drawn toward all workers', the more the fewer
  ratings she gave;
- A by products of residuals of two workers of a task;
- Var e_j likewise by credibility, of squared distances of her residuals from what the others' tell
  of c_i. How far such squares spread within a worker is measured, not taken to be Gaussian: squares
  of ratings spread more, and would pass for a difference between workers.

What is promised rests on left-out tasks: each is estimated by a fit without it (and without the
others of its part), and the floor A is raised until the mean square error that the model foretells
is the one that was made. In the fit itself the error is too small, for it has seen the truth.

Without gold nothing of this is known: the truth's own spread hides slope and floor.

Source: Bühlmann, Straub (1970), "Glaubwürdigkeit für Schadensätze"; DerSimonian, Laird (1986),
"Meta-analysis in clinical trials"; Searle, Casella, McCulloch (1992), "Variance components".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from crowd_models.ratings import RatingTerms
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import Votes

LEAST_GOLD = 20
"""Tasks of known truth, with ratings, from which anything is promised."""
PARTS = 50
"""Parts of the gold that are left out in turn, at most: up to so many tasks, each by itself."""
ROUNDS, CLOSE = 50, 1e-4
"""Rounds of the fit at most, and the change of the noise at which it ends."""
LEAST_NOISE = 0.05
"""Share of the mean noise that no worker's is taken to be below."""
HIGHEST = 1e6
"""Floors are sought up to so many times the variance that the truth gives ratings."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings as arrays.

    Attributes
    ----------
    task, worker
        Whose each is, shape (k,).
    value
        In points, shape (k,).
    tasks, workers
        How many there are, n and m.
    """

    task: IntArray
    worker: IntArray
    value: FloatArray
    tasks: int
    workers: int

    @classmethod
    def of(cls, votes: Votes) -> Ratings:
        """Take the ratings of votes of that kind."""
        shape = len(votes.tasks), len(votes.workers)
        return cls(votes.task, votes.worker, votes.ratings(), *shape)

    def some(self, rows: BoolArray) -> Ratings:
        """Keep some of them, shape (k,); tasks and workers stay."""
        return replace(self, task=self.task[rows], worker=self.worker[rows], value=self.value[rows])

    def sums(self, values: FloatArray) -> FloatArray:
        """Σ by task of a number of each rating, shape (n,)."""
        return np.bincount(self.task, values, self.tasks).astype(np.float64)

    def by_worker(self, values: FloatArray) -> FloatArray:
        """Σ by worker of a number of each rating, shape (m,)."""
        return np.bincount(self.worker, values, self.workers).astype(np.float64)

    @cached_property
    def counts(self) -> IntArray:
        """Ratings of each task, shape (n,)."""
        return np.bincount(self.task, minlength=self.tasks)

    @cached_property
    def given(self) -> IntArray:
        """Ratings by each worker, shape (m,)."""
        return np.bincount(self.worker, minlength=self.workers)

    def means(self) -> FloatArray:
        """Mean rating of each task, shape (n,); NaN without one."""
        return _share(self.sums(self.value), self.counts)

    def medians(self) -> FloatArray:
        """Median rating of each task, shape (n,); NaN without one."""
        order = np.lexsort((self.value, self.task))
        value, start = self.value[order], np.cumsum(self.counts) - self.counts
        found: FloatArray = np.full(self.tasks, np.nan)
        some = self.counts > 0
        low = start[some] + (self.counts[some] - 1) // 2
        high = start[some] + self.counts[some] // 2
        found[some] = (value[low] + value[high]) / 2.0
        return found


@dataclass(frozen=True, eq=False)
class Estimates:
    """What ratings tell of each task.

    Attributes
    ----------
    value
        Posterior mean of the truth, shape (n,); the mean truth of a task without ratings.
    error
        Posterior standard deviation, shape (n,).
    precision
        Σ p of its ratings, shape (n,).
    """

    value: FloatArray
    error: FloatArray
    precision: FloatArray


@dataclass(frozen=True, eq=False)
class RatingModel:
    """What gold tells of the workers, and of the truth.

    Attributes
    ----------
    terms
        Slope B, floor A and variance τ² of the truth.
    mean
        μ: mean of the truth.
    level
        a_j, shape (m,): what a worker names where the truth is 0, were there no c and e.
    gain
        g_j, shape (m,): how her ratings rise, beside all workers'; 0 of one who always names the
        same.
    noise
        Var e_j, shape (m,).
    told
        Ratings of gold tasks by each worker, shape (m,): of one without, level and precision are
        those of all.
    """

    terms: RatingTerms
    mean: float
    level: FloatArray
    gain: FloatArray
    noise: FloatArray
    told: IntArray

    @cached_property
    def precision(self) -> FloatArray:
        """p_j = g_j² / Var e_j, shape (m,)."""
        found: FloatArray = self.gain**2 / self.noise
        return found

    def estimates(self, ratings: Ratings) -> Estimates:
        """Give the posterior of each task."""
        j, terms = ratings.worker, self.terms
        total = ratings.sums(self.precision[j])
        weight = self.gain[j] / self.noise[j]
        centre = _share(ratings.sums(weight * (ratings.value - self.level[j])), total, 0.0)
        error = terms.error(total)
        known = terms.slope * total / (1.0 + terms.floor * total)
        value = error**2 * (self.mean / terms.variance + known * centre)
        return Estimates(value, error, total)

    def with_floor(self, floor: float) -> RatingModel:
        """Give the same with another floor."""
        return replace(self, terms=replace(self.terms, floor=floor))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Gold tasks estimated by fits without them.

    Attributes
    ----------
    truth
        z of each gold task with ratings, shape (g,).
    tasks
        Which they are, shape (g,).
    value
        Their estimates, as the model has them: not kept to the scale, shape (g,).
    models
        The fit of each, shape (g,).
    """

    truth: FloatArray
    tasks: IntArray
    value: FloatArray
    models: tuple[RatingModel, ...]


def fit_ratings(ratings: Ratings, truth: FloatArray) -> RatingModel:
    """Fit the model to gold, by moments.

    Parameters
    ----------
    ratings
        Of n tasks by m workers.
    truth
        z, shape (n,); NaN where it is not known.

    Raises
    ------
    InputError
        Fewer than three gold tasks with ratings, gold all alike, or ratings that do not rise with
        it.
    """
    gold = ratings.some(np.isfinite(truth)[ratings.task])
    there = gold.counts > 0
    z = truth[there]
    if len(z) < 3 or np.ptp(z) == 0:
        raise InputError(
            "gold: fewer than three gold tasks have ratings, or all are alike, which shows "
            "nothing of the workers; give more gold"
        )
    mean, variance = float(z.mean()), float(z.var(ddof=1))
    x = np.where(there, np.nan_to_num(truth) - mean, 0.0)
    noise = np.full(gold.workers, max(float(gold.value.var()), 1e-12))
    level, gain = np.full(gold.workers, float(gold.value.mean())), np.ones(gold.workers)
    floor, slope = 0.0, 0.0
    for _ in range(ROUNDS):
        centre = _share(gold.sums(gold.value - level[gold.worker]), gold.counts, 0.0)
        slope = float(x @ centre) / float(x @ x)
        if not slope > 0:
            raise InputError(
                "gold: ratings do not rise with it; look whether the scale is turned over"
            )
        gain = _gains(gold, x, slope, level, noise, floor)
        flat = gold.value - slope * (gain[gold.worker] * x[gold.task])
        level = _drawn(gold, flat)[0]
        left = flat - level[gold.worker]
        floor = _floor(gold, left, gain, len(z))
        squares = _own_squares(gold, left, gain, noise, floor)
        own, common = _drawn(gold, squares)
        before, common = noise, max(common, 1e-9 * variance)
        noise = np.maximum(own, LEAST_NOISE * common)
        if np.allclose(noise, before, rtol=CLOSE, atol=0.0):
            break
    terms = RatingTerms(slope, floor, variance)
    return RatingModel(terms, mean, level - slope * gain * mean, gain, noise, gold.given)


def leave_out(ratings: Ratings, truth: FloatArray, *, seed: Seed = 0) -> LeftOut:
    """Estimate each gold task by a fit without it; beyond `PARTS` tasks, without its part.

    Raises
    ------
    InputError
        As `fit_ratings`.
    """
    tasks = np.flatnonzero(np.isfinite(truth) & (ratings.counts > 0))
    value: FloatArray = np.zeros(ratings.tasks)
    models: dict[int, RatingModel] = {}
    for part in _parts(tasks, seed):
        known = truth.copy()
        known[part] = np.nan
        model = fit_ratings(ratings, known)
        value[part] = model.estimates(ratings.some(np.isin(ratings.task, part))).value[part]
        models |= dict.fromkeys(part.tolist(), model)
    return LeftOut(truth[tasks], tasks, value[tasks], tuple(models[i] for i in tasks.tolist()))


def promising(model: RatingModel, ratings: Ratings, left: LeftOut) -> RatingModel:
    """Raise or lower the floor until the model foretells the error that was made on left-out tasks.

    Parameters
    ----------
    model
        The fit to all gold.
    ratings
        What the left-out tasks were estimated from.
    left
        The left-out tasks.
    """
    made = float(((left.value - left.truth) ** 2).mean())
    total = np.array(
        [
            float(each.precision[ratings.worker[rows]].sum())
            for each, rows in zip(left.models, _rows(ratings, left.tasks), strict=True)
        ]
    )
    slope = np.array([each.terms.slope for each in left.models])
    spread = np.array([each.terms.variance for each in left.models])

    def foretold(floor: float) -> float:
        known = slope**2 * total / (1.0 + floor * total)
        return float((1.0 / (1.0 / spread + known)).mean())

    low, high = 0.0, HIGHEST * model.terms.variance * model.terms.slope**2
    if foretold(low) >= made:
        return model.with_floor(low)
    if foretold(high) <= made:
        return model.with_floor(high)
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if foretold(middle) < made else (low, middle)
    return model.with_floor(high)


@dataclass(frozen=True, eq=False)
class TaughtRatings:
    """What gold tells, and what may be promised of it.

    Attributes
    ----------
    ratings
        All ratings.
    truth
        z by task, shape (n,); NaN where it is not known.
    model
        The fit to all gold, its floor such that it foretells the error made on left-out tasks.
    fitted_floor
        The floor of the fit itself.
    left
        Gold tasks, each estimated without itself.
    """

    ratings: Ratings
    truth: FloatArray
    model: RatingModel
    fitted_floor: float
    left: LeftOut


def taught_ratings(ratings: Ratings, truth: FloatArray, *, seed: Seed = 0) -> TaughtRatings:
    """Fit the model to gold, and hold it to left-out tasks.

    Raises
    ------
    InputError
        Fewer than `LEAST_GOLD` gold tasks with ratings; or as `fit_ratings`.
    """
    many = int((np.isfinite(truth) & (ratings.counts > 0)).sum())
    if many < LEAST_GOLD:
        raise InputError(
            f"gold: {many} tasks with ratings have it, fewer than {LEAST_GOLD}, and nothing is "
            "promised; give more gold"
        )
    fitted, left = fit_ratings(ratings, truth), leave_out(ratings, truth, seed=seed)
    model = promising(fitted, ratings, left)
    return TaughtRatings(ratings, truth, model, fitted.terms.floor, left)


def _rows(ratings: Ratings, tasks: IntArray) -> list[IntArray]:
    """Which ratings each task has."""
    order = np.argsort(ratings.task, kind="stable")
    ends = np.cumsum(ratings.counts)
    return [order[ends[i] - ratings.counts[i] : ends[i]] for i in tasks.tolist()]


def _parts(tasks: IntArray, seed: Seed) -> Iterator[IntArray]:
    """Tasks to leave out together."""
    if len(tasks) <= PARTS:
        yield from tasks[:, None]
        return
    mixed = stream(seed, "left out").permutation(tasks)
    yield from np.array_split(mixed, PARTS)


def _gains(
    ratings: Ratings,
    x: FloatArray,
    slope: float,
    level: FloatArray,
    noise: FloatArray,
    floor: float,
) -> FloatArray:
    """Gain g_j of each worker, shape (m,): how her ratings rise, beside all workers', drawn to 1.

    Slopes of workers differ by chance, the more the less the truth of her tasks differs; what they
    differ by beyond that is how far they are to be believed (DerSimonian, Laird 1986).
    """
    deviation = (
        x[ratings.task]
        - _share(ratings.by_worker(x[ratings.task]), ratings.given, 0.0)[ratings.worker]
    )
    spread = ratings.by_worker(deviation**2)
    some = spread > 1e-9 * float(x @ x)
    value = ratings.value - level[ratings.worker]
    own = _share(ratings.by_worker(deviation * value), np.where(some, spread, 0.0), slope)
    gain = own / slope
    chance = np.where(some, (noise + floor) / (np.where(some, spread, 1.0) * slope**2), np.inf)
    weight = np.where(some, 1.0 / chance, 0.0)
    spare = weight.sum() - float(weight @ weight) / weight.sum() if some.any() else 0.0
    apart = float(weight @ (gain - 1.0) ** 2) - (some.sum() - 1)
    between = max(apart / spare, 0.0) if spare > 0 else 0.0
    drawn: FloatArray = np.maximum(1.0 + between / (between + chance) * (gain - 1.0), 0.0)
    return drawn


def _floor(ratings: Ratings, left: FloatArray, gain: FloatArray, gold: int) -> float:
    """A: products of the residuals of two workers of a task, beside those of their gains.

    What B and the levels took of it is given back.
    """
    g = gain[ratings.worker]
    pairs = float((ratings.sums(g) ** 2 - ratings.sums(g**2)).sum())
    products = float((ratings.sums(left) ** 2 - ratings.sums(left**2)).sum())
    return max(products / pairs * gold / (gold - 2), 0.0) if pairs > 0 else 0.0


def _own_squares(
    ratings: Ratings, left: FloatArray, gain: FloatArray, noise: FloatArray, floor: float
) -> FloatArray:
    """Of each rating a number whose mean is its worker's noise, shape (k,).

    It is the square of how far her residual is from c as the others' of the task tell it, less the
    variance of c that they leave open.
    """
    g = gain[ratings.worker]
    w = g / noise[ratings.worker]
    others = ratings.sums(w * g)[ratings.task] - w * g
    rest = ratings.sums(w * left)[ratings.task] - w * left
    shrunk = floor / (1.0 + floor * others)
    return np.asarray((left - g * shrunk * rest) ** 2 - g**2 * shrunk)


def _drawn(ratings: Ratings, values: FloatArray) -> tuple[FloatArray, float]:
    """Mean by worker of a number of each rating, drawn toward all workers' by credibility.

    Returns
    -------
    The means, shape (m,), and that of all ratings.
    """
    count = ratings.given.astype(np.float64)
    seen, k = count > 0, float(len(values))
    own = _share(ratings.by_worker(values), ratings.given, 0.0)
    common = float(values.mean())
    within = float(((values - own[ratings.worker]) ** 2).sum()) / max(k - seen.sum(), 1.0)
    spare = k - float((count**2).sum()) / k
    between = float(count @ (own - common) ** 2) - (seen.sum() - 1) * within
    between = between / spare if spare > 0 else 0.0
    weight = np.zeros(ratings.workers)
    if between > 0:
        weight[seen] = between / (between + within / count[seen])
    return common + weight * (own - common), common


def _share(total: FloatArray, count: FloatArray | IntArray, empty: float = np.nan) -> FloatArray:
    """Divide, where there is something to divide by."""
    out: FloatArray = np.full(len(total), empty)
    np.divide(total, count, out=out, where=np.asarray(count) > 0)
    return out
