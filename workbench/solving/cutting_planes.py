"""Task weights of a crowd of many worker classes, where the linear program itself is too large.

The relaxation over class counts has one variable a pair and one row a worker class, but its dual,
with the capacity prices filled in, has no more than the T task weights x (Section 4.3 of Ho,
Jabbari, Vaughan (2013)):

    D(x) = Σ_τ n_τ C_τ x_τ − Σ_k m_k max{Σ_τ y_τ (q_τk x_τ − c_τk) : Σ_τ y_τ ≤ M_k, 0 ≤ y_τ ≤ n_τ}.

It is concave, and piecewise linear: a worker's best answer y takes her most valuable types first,
and each answer is a cutting plane, one linear piece of D. Inside a small box around some x nearly
every worker has one best answer throughout, so one plane says all about her; only the few whose
answer may change need all their planes, which is what the linear program over their pairs stands
for. That small program maximises D over the box exactly (the box-step method of Marsten, Hogan
and Blankenship, 1975): the sides of the box are columns that buy cover at the upper weight and
sell it at the lower one. Where none is bought or sold, the answers together are an optimum of the
whole program and x is its dual, vertex for vertex as the simplex method would give them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from crowd_models import TypedProblem
from crowd_models.problem import LARGEST_COUNT
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.array_route import lifted, run_arrays
from workbench.solving.highs import HighsRun, RunOptions, run
from workbench.solving.linear_model import LinearModel
from workbench.solving.solution import Incumbent, RawAnswer, Termination

FREE = 4000
"""Worker classes whose answer may change inside a box, about: the size of the linear programs."""
WIDEST, NARROWEST = 0.5, 2.0**-10
"""Half the width of a box, relative to the weights. At the narrowest, all may be free that are."""
STEPS = 100
"""Boxes before the whole linear program is solved instead."""
DOUBT = 5
"""Every so many boxes it is asked whether the problem has a solution at all."""
FARKAS = 1e-9
"""Share of the demand that must be out of reach, to say that it is, beyond rounding."""
FARTHEST = 1e9
"""Task weights, in units of the highest price, beyond which none is looked for."""
STREAM = 0x5CA1E
"""Names the random stream of the sample."""
CLOSED = 1e-9
"""Cover bought or sold that counts as none, relative to the demand: the solver's tolerance."""


@dataclass(frozen=True, eq=False)
class Responses:
    """What every worker class answers to task weights x, arrays by worker class first.

    `value` is q x − c, −∞ for pairs that are not available, shape (K, T); `taken` the best y of
    one worker, shape (K, T); `full` whether it exhausts her capacity; `price` what one more unit
    of it would be worth, shape (K,).
    """

    value: FloatArray
    taken: FloatArray
    full: BoolArray
    price: FloatArray


class ClassTable:
    """A typed problem's arrays by worker class first, contiguous for sorting by worker."""

    def __init__(self, problem: TypedProblem) -> None:
        self.quality = np.ascontiguousarray(problem.quality.T)
        self.cost = None if problem.cost is None else np.ascontiguousarray(problem.cost.T)
        self.barred = (
            None if problem.available is None else np.ascontiguousarray(~problem.available.T)
        )
        self.tasks = problem.tasks.astype(np.float64)
        self.capacity = problem.capacity.astype(np.float64)
        self.workers = problem.workers.astype(np.float64)
        self.demand = problem.demand
        self.highest = problem.highest_price or 1.0

    def answers(self, weights: FloatArray, *, priced: bool = True) -> Responses:
        """Every worker's best answer: her most valuable types first, up to her capacity."""
        value = self.quality * weights
        if priced:
            value -= 1.0 if self.cost is None else self.cost
        if self.barred is not None:
            value[self.barred] = -np.inf
        order = np.argsort(-value, axis=1, kind="stable")
        ranked = np.take_along_axis(value, order, axis=1)
        count = self.tasks[order]
        filled = np.cumsum(count, axis=1)
        room = np.maximum(self.capacity[:, None] - (filled - count), 0.0)
        taken = np.empty_like(value)
        np.put_along_axis(taken, order, np.where(ranked > 0, np.minimum(count, room), 0.0), axis=1)
        # The type at which capacity ends is worth what one more unit of capacity is.
        ends = filled >= self.capacity[:, None]
        last = np.take_along_axis(ranked, np.argmax(ends, axis=1)[:, None], axis=1)[:, 0]
        price = np.where(ends[:, -1], np.maximum(last, 0.0), 0.0)
        return Responses(value, taken, taken.sum(axis=1) >= self.capacity, price)

    def dual_value(self, weights: FloatArray, answers: Responses) -> float:
        """D(x)."""
        worth = np.where(answers.taken > 0, answers.value, 0.0) * answers.taken
        return float(self.demand @ weights - self.workers @ worth.sum(axis=1))

    def beyond_reach(self, weights: FloatArray) -> bool:
        """Whether the weights prove that no assignment covers all tasks (Farkas; in floats)."""
        worth = self.answers(weights, priced=False)
        asked = float(self.demand @ weights)
        return self.dual_value(weights, worth) > FARKAS * asked

    def settled(self, answers: Responses, swing: FloatArray) -> BoolArray:
        """Workers whose answer stays best while each value moves by up to `swing`, shape (K,)."""
        taken = answers.taken > 0
        whole = answers.taken >= self.tasks
        lower, upper = answers.value - swing, answers.value + swing
        least = lower.min(axis=1, initial=np.inf, where=taken)
        least_whole = lower.min(axis=1, initial=np.inf, where=whole)
        most_left = upper.max(axis=1, initial=-np.inf, where=~taken)
        most_cut = upper.max(axis=1, initial=-np.inf, where=taken & ~whole)
        beaten = most_left <= np.where(answers.full, np.maximum(least, 0.0), 0.0)
        stays: BoolArray = (least >= 0) & beaten & (most_cut <= least_whole)
        return stays

    def contested(self, answers: Responses, swing: FloatArray, free: IntArray) -> BoolArray:
        """Pairs of the free workers that some weights in the box would have taken."""
        lower, upper = answers.value[free] - swing[free], answers.value[free] + swing[free]
        ahead = (lower[:, :, None] >= upper[:, None, :]) & (lower[:, :, None] >= 0)
        before = (ahead * self.tasks[None, :, None]).sum(axis=1)
        wanted: BoolArray = (upper > 0) & (before < self.capacity[free, None])
        return wanted


def too_large(problem: TypedProblem) -> bool:
    """Whether cutting planes are likely to be faster than handing over the whole program."""
    return problem.shape[1] > 2 * FREE


def run_cutting_planes(
    problem: TypedProblem, options: RunOptions, *, free: int = FREE
) -> RawAnswer:
    """Solve the relaxation over class counts by cutting planes on its dual.

    Parameters
    ----------
    options
        `time_limit` holds between the linear programs and within them; `seed` draws the sample
        of workers from which the first weights come.
    free
        Worker classes in one linear program, about. A problem of no more is solved whole.

    Returns
    -------
    RawAnswer
        As `run_arrays` gives it: optimal pairs, task weights, worker prices; INFEASIBLE; or, at
        the time limit, the best weights so far, with the bound they prove. `history` has the
        bound after each box.
    """
    started = time.perf_counter()
    by_label = _by_the_label(problem)
    counted = TypedProblem.of(by_label)
    asked = np.flatnonzero((counted.tasks > 0) & (counted.requirement > 0))
    if counted.shape[1] <= free or not len(asked):
        answer = run_arrays(counted, "typed", options)
    else:
        answer = _run(counted, asked, options, free, started)
    return replace(lifted(counted, answer, by_label), seconds=time.perf_counter() - started)


def _run(
    problem: TypedProblem, asked: IntArray, options: RunOptions, free: int, started: float
) -> RawAnswer:
    """Box after box, until no cover is bought or sold at its sides."""
    left = options.countdown()
    crowd = ClassTable(_rows(problem, asked))
    history: list[Incumbent] = []

    def record(cost: float | None, bound: float) -> None:
        # No price is negative: 0 is a bound as well.
        history.append(Incumbent(time.perf_counter() - started, cost, max(0.0, bound)))

    def answer(ending: Termination, counts: FloatArray | None = None) -> RawAnswer:
        return _answer(problem, asked, crowd, ending, counts, weights, history)

    weights, doubtful = _first_weights(crowd, left(), free)
    answers = crowd.answers(weights)
    value = crowd.dual_value(weights, answers)
    width = WIDEST
    for step in range(STEPS):
        record(None, value)
        if left().over:
            return answer(Termination.TIME_LIMIT)
        if (doubtful or step % DOUBT == DOUBT - 1) and crowd.beyond_reach(weights):
            return RawAnswer(Termination.INFEASIBLE, history=tuple(history))
        box = _box(crowd, weights, answers, min(2 * width, WIDEST), free)
        width = box.width
        counts, inside, result = _step(crowd, answers, box, left())
        if inside is None:
            return answer(result.termination)
        weights, answers, value = _further(crowd, weights, inside, stop=counts is not None)
        if counts is not None:
            record(value, value)
            return answer(Termination.OPTIMAL, counts)
    return replace(run_arrays(problem, "typed", left()), history=tuple(history))


def _further(
    crowd: ClassTable, weights: FloatArray, inside: FloatArray, *, stop: bool
) -> tuple[FloatArray, Responses, float]:
    """The weights found in the box, or, unless to `stop`, beyond its side while D increases."""
    answers = crowd.answers(inside)
    best = inside, answers, crowd.dual_value(inside, answers)
    stride = inside - weights
    while not stop and stride.any():
        stride = 2 * stride
        there = np.maximum(weights + stride, 0.0)
        answers = crowd.answers(there)
        value = crowd.dual_value(there, answers)
        if not (value > best[2] and there.max() < FARTHEST * crowd.highest):
            break
        best = there, answers, value
    return best


@dataclass(frozen=True, eq=False)
class Box:
    """Weights from `low` to `high`; who is free inside, and which of their pairs matter."""

    low: FloatArray
    high: FloatArray
    width: float
    free: IntArray
    pairs: BoolArray


def _box(
    crowd: ClassTable, weights: FloatArray, answers: Responses, width: float, most: int
) -> Box:
    """The widest box around the weights, of halved widths, with few enough free workers."""
    # A weight that asks for any label is of the order of its price; 0 must be within reach.
    scale = np.maximum(weights, max(weights.mean(), 0.01 * crowd.highest))
    reach = crowd.quality * scale
    while True:
        free = np.flatnonzero(~crowd.settled(answers, width * reach))
        if len(free) <= most or width <= NARROWEST:
            break
        width /= 2
    return Box(
        np.maximum(weights - width * scale, 0.0),
        weights + width * scale,
        width,
        free,
        crowd.contested(answers, width * reach, free),
    )


def _step(
    crowd: ClassTable, answers: Responses, box: Box, options: RunOptions
) -> tuple[FloatArray | None, FloatArray | None, HighsRun]:
    """Maximise D over the box: class counts (K, T) where they are optimal, and the new weights."""
    kept = crowd.workers.copy()
    kept[box.free] = 0.0
    counts = answers.taken * kept[:, None]
    demand = crowd.demand - (crowd.quality * counts).sum(axis=0)
    result = run(_program(crowd, crowd.workers[box.free], demand, box), options)
    if result.values is None or result.row_duals is None:
        return None, None, result
    weights = np.clip(result.row_duals[len(box.free) :], box.low, box.high)
    types, pairs = len(demand), int(box.pairs.sum())
    bought, sold = result.values[pairs : pairs + types], result.values[pairs + types :]
    slack = CLOSED * crowd.demand
    if (bought > slack).any() or ((sold > slack) & (box.low > 0)).any():
        return None, weights, result
    rows, kinds = np.nonzero(box.pairs)
    counts[box.free[rows], kinds] = result.values[:pairs]
    return counts, weights, result


def _program(crowd: ClassTable, workers: FloatArray, demand: FloatArray, box: Box) -> LinearModel:
    """The relaxation over the free workers' pairs, so many `workers` each, with a box's sides.

    Columns: pairs by worker; cover bought at `high`, by type; cover sold at `low`, by type.
    Rows: capacity by worker, cover by type.
    """
    rows, kinds = np.nonzero(box.pairs)
    types = len(demand)
    pairs, columns = len(rows), len(rows) + 2 * types
    index = np.empty(2 * pairs + 2 * types, dtype=np.int32)
    index[0 : 2 * pairs : 2] = rows
    index[1 : 2 * pairs : 2] = len(box.free) + kinds
    index[2 * pairs :] = len(box.free) + np.tile(np.arange(types), 2)
    value = np.ones(len(index))
    value[1 : 2 * pairs : 2] = crowd.quality[box.free[rows], kinds]
    value[-types:] = -1.0
    prices = np.ones(pairs) if crowd.cost is None else crowd.cost[box.free[rows], kinds]
    return LinearModel(
        cost=np.concatenate([prices, box.high, -box.low]),
        lower=np.zeros(columns),
        upper=np.concatenate([workers[rows] * crowd.tasks[kinds], np.full(2 * types, np.inf)]),
        row_lower=np.concatenate([np.full(len(box.free), -np.inf), demand]),
        row_upper=np.concatenate([workers * crowd.capacity[box.free], np.full(types, np.inf)]),
        start=np.concatenate([np.arange(0, 2 * pairs, 2), 2 * pairs + np.arange(2 * types + 1)]),
        index=index,
        value=value,
    )


def _first_weights(crowd: ClassTable, options: RunOptions, size: int) -> tuple[FloatArray, bool]:
    """Weights from a sample of the worker classes; True where it cannot cover the tasks.

    Classes are drawn by their share of all capacity and stand for its inverse, so that a few of
    great capacity are always among them.
    """
    # A stream of its own: a crowd drawn from the same seed must not have drawn its own sample.
    stream = np.random.SeedSequence(options.seed, spawn_key=(STREAM,))
    rng = np.random.Generator(np.random.PCG64(stream))
    supply = crowd.workers * np.minimum(crowd.capacity, crowd.tasks.sum())
    chance = np.minimum(1.0, supply * (0.5 * size / (supply.sum() or 1.0)))
    chosen = np.flatnonzero(rng.random(len(chance)) < chance)
    pairs = crowd.quality[chosen] > 0
    if crowd.barred is not None:
        pairs &= ~crowd.barred[chosen]
    types = len(crowd.demand)
    # Weights this high would buy labels of quality 0.001: nobody else is left.
    sides = Box(np.zeros(types), np.full(types, 1e3 * crowd.highest), 1.0, chosen, pairs)
    workers = crowd.workers[chosen] / chance[chosen]
    result = run(_program(crowd, workers, crowd.demand, sides), options)
    if result.row_duals is None:
        return np.full(types, 10.0 * crowd.highest), True
    weights = np.clip(result.row_duals[len(chosen) :], 0.0, sides.high)
    return weights, bool((weights >= sides.high).any())


def _by_the_label(problem: TypedProblem) -> TypedProblem:
    """Count capacity instead of workers where each could spend all of hers on any one class.

    M workers of capacity 1 can then do what one of capacity M can: n_τ binds neither. So workers
    who differ in nothing but capacity are equal, and can be merged.
    """
    asked = problem.tasks > 0
    most = int(problem.tasks.min(initial=LARGEST_COUNT, where=asked))
    supply = problem.workers * problem.capacity
    if int(supply.sum()) >= LARGEST_COUNT:
        return problem
    # A worker without capacity stays as she is: it is the capacity that has a price, not she.
    small = (problem.capacity > 0) & (problem.capacity <= most)
    return replace(
        problem,
        capacity=np.where(small, 1, problem.capacity),
        workers=np.where(small, supply, problem.workers),
        task_class=None,
        worker_class=None,
    )


def _rows(problem: TypedProblem, asked: IntArray) -> TypedProblem:
    """The task classes that ask for anything."""
    return TypedProblem(
        problem.quality[asked],
        problem.capacity,
        problem.requirement[asked],
        problem.tasks[asked],
        problem.workers,
        None if problem.cost is None else problem.cost[asked],
        None if problem.available is None else problem.available[asked],
        gain=problem.gain,
    )


def _answer(
    problem: TypedProblem,
    asked: IntArray,
    crowd: ClassTable,
    ending: Termination,
    counts: FloatArray | None,
    weights: FloatArray,
    history: list[Incumbent],
) -> RawAnswer:
    """Counts and weights of the asked task classes, in the problem's own order."""
    every = np.zeros(problem.shape[0])
    every[asked] = weights
    pairs = None
    if counts is not None:
        matrix = np.zeros(problem.shape)
        matrix[asked] = counts.T
        pairs = matrix[problem.pairs]
    prices = crowd.answers(weights).price
    return RawAnswer(ending, pairs, every, prices, history[-1].bound, history=tuple(history))
