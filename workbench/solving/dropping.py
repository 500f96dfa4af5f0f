"""The fewest tasks to drop so that the rest can be covered (Section 5.1, note on feasibility).

With d_τ tasks of class τ dropped, the relaxation of the rest has a solution where

    Σ_k q_τk Y_τk + C_τ d_τ ≥ n_τ C_τ,   Σ_τ Y_τk ≤ m_k M_k,   0 ≤ Y_τk ≤ (n_τ − d_τ) m_k

has one. The least Σ d over whole d is a small integer program, one whole number a task class. For
every v, u ≥ 0, right or wrong,

    L(v, u) = Σ_τ n_τ min(1, C_τ v_τ − Σ_k m_k max(0, q_τk v_τ − u_k)) − Σ_k m_k M_k u_k

bounds it from below (weak duality), and is evaluated in rational arithmetic. Where that leaves a
gap, branches on how many tasks of a class are dropped prove the rest (`drop_tree`). It is the
relaxation that can then be covered; of whole plans nothing is said.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.certificates import farkas
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import LinearModel, primal_arrays
from workbench.solving.solution import Certificate, Leaf, Solution, Termination

ROUNDS = 20
"""Linear programs of the heuristic; in the last, whole classes go."""
SECONDS, NODES = 20.0, 2000
"""What may be spent on fewer tasks than the heuristic's, and nodes of branch and bound for them."""
PENALTY = 1e3
"""What it costs to break a split, beside the tasks that are dropped."""
FRACTION, BEYOND, DEEPEST = 1e-6, 1e-4, 100
"""What is no whole number of tasks; by how much a leaf proves more; splits below one another."""
LACKING = 1e-9
"""Part of a task that counts as rounding."""


@dataclass(frozen=True, eq=False)
class Dropped:
    """Tasks to discard so that the relaxation of the rest has a solution.

    Attributes
    ----------
    counts
        How many of each class, shape (T,).
    infeasible
        Whether a checked Farkas combination shows that something has to be dropped.
    least
        No fewer tasks will do: proven in rational arithmetic, or by branches.
    fewest
        Whether no fewer than `counts` will do, by `least` or by the solver's branch and bound.
    """

    counts: IntArray
    infeasible: bool
    least: int
    fewest: bool


@dataclass(frozen=True, eq=False)
class DropSplit:
    """Of some task classes, shape (T,), `most` tasks are dropped or fewer, or more."""

    classes: BoolArray
    most: int
    below: DropTree
    above: DropTree


DropTree = DropSplit | Leaf
Parts = tuple[tuple[BoolArray, int, int], ...]
"""Sides of splits: classes, sign and limit, sign × (tasks of them that are dropped) ≤ limit."""


def tasks_to_drop(
    typed: TypedProblem, options: RunOptions | None = None, *, seconds: float = SECONDS
) -> Dropped:
    """How many tasks of each class to discard, the fewest in all where that is found in time.

    Parameters
    ----------
    seconds
        What may be spent on fewer than the heuristic's, where those are not proven the fewest.
    """
    options, until = options or RunOptions(), time.perf_counter() + seconds
    counts, infeasible = _heuristic(typed, options)
    if not counts.any():
        return Dropped(counts, infeasible, 0, fewest=True)
    n = typed.shape[0]
    model, least = _program(typed), 0
    relaxed = _relaxed(typed, options)
    if relaxed is not None:
        least = _least(typed, relaxed)
        counts = _thinned(typed, counts, relaxed.dropped, least, options, until)
    proven, left = least, until - time.perf_counter()
    if least < counts.sum() and left > 0:
        limits = replace(options, time_limit=left, nodes=NODES, gap=0.0)
        result = run(model, limits, counts.astype(np.float64))
        if result.bound is not None:
            proven = max(least, math.ceil(result.bound - 1e-6))
        if result.values is not None:
            proposal = np.round(result.values[:n]).astype(np.int64)
            if proposal.sum() < counts.sum() and _covered(_rest(typed, proposal), options):
                counts = proposal
    many = int(counts.sum())
    if least < many and drop_tree(typed, many, options, until) is not None:
        least = proven = many
    return Dropped(counts, infeasible, least, fewest=bool(many <= proven))


def drop_tree(typed: TypedProblem, many: int, options: RunOptions, until: float) -> DropTree | None:
    """Prove that no fewer than so many tasks can be dropped; None where there was no time.

    Each leaf has prices of workers and of the sides above it, which prove more than `many` − 1.
    """
    base = replace(_program(typed), integer=False)
    n, rows, left = typed.shape[0], len(base.row_lower), iter(range(NODES))

    def node(parts: Parts) -> DropTree | None:
        if next(left, None) is None or time.perf_counter() > until or len(parts) > DEEPEST:
            return None
        result = run(_on_sides(base, parts, n, PENALTY * (many + 1)), options)
        if result.row_duals is None or result.values is None:
            return None
        prices = np.maximum(-result.row_duals, 0.0)
        leaf = Leaf(prices[: typed.shape[1]], prices[rows:])
        if _leaf_bound(typed, leaf, parts) > many - 1 + BEYOND:
            return leaf
        counts = result.values[:n]
        apart = np.abs(counts - np.rint(counts))
        if apart.max(initial=0.0) <= FRACTION:
            return None
        classes = np.arange(n) == int(apart.argmax())
        most = math.floor(float(counts[classes][0]))
        below = node((*parts, (classes, 1, most)))
        above = below and node((*parts, (classes, -1, -(most + 1))))
        return DropSplit(classes, most, below, above) if below and above else None

    return node(())


def _on_sides(base: LinearModel, parts: Parts, classes: int, penalty: float) -> LinearModel:
    """The program with a row each side; what no number of tasks keeps is broken at a price.

    That price shows in the dual values, where a program without a solution would have none.
    """
    from scipy.sparse import csc_array, hstack, vstack

    rows, columns, sides = len(base.row_lower), len(base.cost), len(parts)
    dropped = np.zeros((sides, columns))
    for k, (those, sign, _) in enumerate(parts):
        dropped[k, :classes] = sign * those
    matrix = csc_array((base.value, base.index, base.start), shape=(rows, columns))
    broken = vstack([csc_array((rows, sides)), csc_array(-np.eye(sides))])
    whole = csc_array(hstack([vstack([matrix, csc_array(dropped)]), broken]))
    limits = np.array([limit for _, _, limit in parts], dtype=np.float64)
    return replace(
        base,
        cost=np.concatenate([base.cost, np.full(sides, penalty)]),
        lower=np.concatenate([base.lower, np.zeros(sides)]),
        upper=np.concatenate([base.upper, np.full(sides, np.inf)]),
        row_lower=np.concatenate([base.row_lower, np.full(sides, -np.inf)]),
        row_upper=np.concatenate([base.row_upper, limits]),
        start=whole.indptr,
        index=whole.indices.astype(np.int32),
        value=whole.data,
    )


def _leaf_bound(typed: TypedProblem, leaf: Leaf, parts: Parts) -> float:
    """How many tasks are dropped at least, by the prices of a leaf."""
    total = -float(typed.supply @ leaf.worker_prices)
    total -= float(leaf.side_prices @ np.array([limit for _, _, limit in parts], dtype=np.float64))
    usable = typed.mask & (typed.capacity > 0) & (typed.quality > 0)
    for t in np.flatnonzero(typed.tasks).tolist():
        own = np.flatnonzero(usable[t])
        quality = typed.quality[t, own]
        order = np.argsort(leaf.worker_prices[own] / quality, kind="stable")
        most = (quality * typed.workers[own])[order]
        needed = np.clip(typed.requirement[t] - (np.cumsum(most) - most), 0.0, most)
        missing = typed.requirement[t] * (1 - 1e-12) > most.sum()
        price = float((needed / quality[order]) @ leaf.worker_prices[own][order])
        signs = np.array([sign * classes[t] for classes, sign, _ in parts], dtype=np.float64)
        dropping = 1.0 + float(leaf.side_prices @ signs)
        total += int(typed.tasks[t]) * (dropping if missing else min(dropping, price))
    return total


def shares_of(problem: AssignmentProblem, options: RunOptions | None = None) -> FloatArray | None:
    """Shares of labels that cover every task, shape (n, m); None where there are none."""
    typed = problem.typed
    n, m = typed.shape
    result = run(replace(_program(typed), integer=False), options or RunOptions())
    if result.values is None or (result.values[:n] > LACKING).any():
        return None
    shares: FloatArray = np.zeros((n, m))
    shares[typed.pairs] = result.values[n:]
    return typed.lift(np.maximum(shares, 0.0))


@dataclass(frozen=True, eq=False)
class DropSolution(Solution):
    """The fewest tasks to drop as the solution of a program: shares for the rest.

    Attributes
    ----------
    dropped
        Tasks to drop, ascending; `objective` says how many, `bound` how many at least.
    """

    dropped: tuple[int, ...] = ()


def solve_drop(problem: AssignmentProblem, *, time_limit: float | None = None) -> DropSolution:
    """Drop the fewest tasks, so that shares of labels cover the rest.

    Numbers of labels have no limits in it. Of equal tasks the last are dropped.

    Parameters
    ----------
    time_limit
        Seconds for fewer tasks than a heuristic's and for the proof; 20 where None.
    """
    started = time.perf_counter()
    typed = problem.typed
    assert typed.task_class is not None
    seconds = SECONDS if time_limit is None else time_limit
    dropped = tasks_to_drop(typed, seconds=seconds)
    many = int(dropped.counts.sum())
    tasks = [
        np.flatnonzero(typed.task_class == t)[len(np.flatnonzero(typed.task_class == t)) - count :]
        for t, count in enumerate(dropped.counts.tolist())
    ]
    those = np.sort(np.concatenate(tasks)).astype(np.int64)
    kept = np.setdiff1d(np.arange(problem.shape[0]), those)
    shares: FloatArray | None = np.zeros(problem.shape)
    if len(kept):
        part = shares_of(problem.keep_tasks(kept.tolist()))
        assert shares is not None
        if part is None:
            shares = None
        else:
            shares[kept] = part
    bound = many if dropped.fewest else dropped.least
    return DropSolution(
        "drop",
        "arrays",
        Termination.OPTIMAL if dropped.fewest else Termination.SEARCH_ENDED,
        objective=float(many),
        bound=float(bound),
        assignment=shares,
        certificate=Certificate(
            "proven" if dropped.least == many else "feasible",
            (),
            float(dropped.least),
            None,
            "tasks to drop",
            {"tasks to drop": float(dropped.least)},
        ),
        seconds=time.perf_counter() - started,
        method="prices and branches on tasks to drop",
        dropped=tuple(those.tolist()),
    )


def uncoverable_counts(typed: TypedProblem) -> IntArray:
    """How many tasks of each class nobody can cover, whatever the capacities, shape (T,)."""
    counts = np.zeros(typed.shape[0], dtype=np.int64)
    counts[typed.uncoverable()] = typed.tasks[typed.uncoverable()]
    return counts


def _least(typed: TypedProblem, relaxed: _Relaxed) -> int:
    """Tasks that nobody can cover alone have to go; of the others, as many as the bound says.

    Of decimals as floats 0.5 + 0.3 may fall short of 0.8: a hair above a number is that number.
    """
    alone = uncoverable_counts(typed)
    bound = drop_bound(_rest(typed, alone), relaxed.task_weights, relaxed.worker_prices)
    slack = Fraction(LACKING) * max(1, int(typed.tasks.sum()))
    return int(alone.sum()) + max(0, math.ceil(bound - slack))


def _thinned(
    typed: TypedProblem,
    counts: IntArray,
    relaxed: FloatArray,
    least: int,
    options: RunOptions,
    until: float,
) -> IntArray:
    """Fewer tasks to drop, if so: those of which the relaxed program drops the largest part."""
    single = np.repeat(np.arange(len(relaxed)), typed.tasks)
    rank = np.arange(len(single)) - np.repeat(np.cumsum(typed.tasks) - typed.tasks, typed.tasks)
    order = single[np.argsort(-np.clip(relaxed[single] - rank, 0.0, 1.0), kind="stable")]
    low, high = least, int(counts.sum())
    while low < high and time.perf_counter() < until:
        middle = (low + high) // 2
        fewer = np.bincount(order[:middle], minlength=len(relaxed)).astype(np.int64)
        if _covered(_rest(typed, fewer), options):
            counts, high = fewer, middle
        else:
            low = middle + 1
    return counts


def proven_infeasible(typed: TypedProblem, options: RunOptions | None = None) -> bool:
    """Whether the relaxation has no solution, by a Farkas combination checked exactly."""
    alone = uncoverable_counts(typed)
    if alone.any():
        return farkas(typed, (alone > 0).astype(np.float64), np.zeros(typed.shape[1]))
    relaxed = _relaxed(typed, options or RunOptions())
    return relaxed is not None and relaxed.proves(typed)


def drop_bound(
    typed: TypedProblem, task_weights: FloatArray, worker_prices: FloatArray
) -> Fraction:
    """L(v, u): no fewer tasks than so many can be dropped; in rational arithmetic.

    Parameters
    ----------
    task_weights, worker_prices
        v (T,) and u (K,); negative entries and what is not finite count as 0.
    """
    v, u = (
        [Fraction(max(x, 0.0)) if math.isfinite(x) else Fraction(0) for x in values.tolist()]
        for values in (task_weights, worker_prices)
    )
    workers = typed.workers.tolist()
    total = -sum(
        (Fraction(int(limit)) * u[k] for k, limit in enumerate(typed.supply.tolist())), Fraction(0)
    )
    for t, (count, need) in enumerate(
        zip(typed.tasks.tolist(), typed.requirement.tolist(), strict=True)
    ):
        if not count or not v[t]:
            continue
        worth = Fraction(need) * v[t]
        for k in np.flatnonzero(typed.mask[t] & (typed.quality[t] > 0)).tolist():
            gain = Fraction(float(typed.quality[t, k])) * v[t] - u[k]
            if gain > 0:
                worth -= workers[k] * gain
        total += count * min(Fraction(1), worth)
    return total


def _program(typed: TypedProblem) -> LinearModel:
    """The integer program: columns d, then Y by pair; cover rows divided by what they ask for."""
    n, m = typed.shape
    base = primal_arrays(replace(typed, cost=None), integer=False)
    tasks, workers = typed.pairs
    pairs = len(tasks)
    # A single task is either dropped or not: only of several must the rest not share more.
    several = np.flatnonzero(typed.tasks[tasks] > 1)
    limit = m + n + np.arange(len(several))
    asked = np.where(typed.requirement > 0, typed.tasks, 0).astype(np.float64)
    alone = np.isin(np.arange(n), typed.uncoverable())
    shares = base.value.copy()
    shares[1::2] /= _asked(typed)[tasks]
    entries = [
        (np.arange(n), m + np.arange(n), np.ones(n)),
        (n + np.repeat(np.arange(pairs), 2), base.index, shares),
        (n + several, limit, np.ones(len(several))),
        (tasks[several], limit, typed.workers[workers[several]].astype(np.float64)),
    ]
    column, row, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    order = np.lexsort((row, column))
    return LinearModel(
        cost=np.concatenate([np.ones(n), np.zeros(pairs)]),
        lower=np.concatenate([np.where(alone, asked, 0.0), base.lower]),
        upper=np.concatenate([asked, base.upper]),
        row_lower=np.concatenate([base.row_lower[:m], asked, np.full(len(several), -np.inf)]),
        row_upper=np.concatenate(
            [base.row_upper[:m], np.full(n, np.inf), typed.sizes[tasks[several], workers[several]]]
        ),
        start=np.concatenate([[0], np.cumsum(np.bincount(column, minlength=n + pairs))]),
        index=row[order].astype(np.int32),
        value=value[order],
        integer=True,
        whole=np.arange(n + pairs) < n,
    )


def _asked(typed: TypedProblem) -> FloatArray:
    """C, and 1 for tasks that ask for nothing."""
    return np.where(typed.requirement > 0, typed.requirement, 1.0)


def _rest(typed: TypedProblem, counts: IntArray) -> TypedProblem:
    return replace(typed, tasks=typed.tasks - counts, task_class=None, worker_class=None)


@dataclass(frozen=True, eq=False)
class _Relaxed:
    """Optimum of the relaxed program: d, and v and u that prove it least."""

    dropped: FloatArray
    task_weights: FloatArray
    worker_prices: FloatArray

    def proves(self, typed: TypedProblem) -> bool:
        """Whether v and u show that some task has to go (Farkas)."""
        return bool(self.dropped.any()) and farkas(typed, self.task_weights, self.worker_prices)


def _relaxed(typed: TypedProblem, options: RunOptions) -> _Relaxed | None:
    """The relaxed program solved; None where HiGHS has no answer."""
    n, m = typed.shape
    result = run(replace(_program(typed), integer=False), options)
    if result.values is None or result.row_duals is None:
        return None
    dropped = result.values[:n]
    return _Relaxed(
        np.where(dropped > LACKING * np.maximum(1, typed.tasks), dropped, 0.0),
        # The program's rows are divided by what they ask for.
        np.maximum(result.row_duals[m : m + n], 0.0) / _asked(typed),
        np.maximum(-result.row_duals[:m], 0.0),
    )


def _covered(typed: TypedProblem, options: RunOptions) -> bool:
    relaxed = _relaxed(typed, options)
    return relaxed is not None and not relaxed.dropped.any()


def _heuristic(typed: TypedProblem, options: RunOptions) -> tuple[IntArray, bool]:
    """Tasks to drop, perhaps not the fewest; and whether infeasibility is proven.

    As many tasks as the relaxed program drops are discarded, parts of one rounded up, and the rest
    is tried again. Tasks that nobody can cover alone go first.
    """
    counts = uncoverable_counts(typed)
    infeasible = farkas(typed, (counts > 0).astype(np.float64), np.zeros(typed.shape[1]))
    for attempt in range(ROUNDS):
        rest = _rest(typed, counts)
        relaxed = _relaxed(rest, options)
        if relaxed is None or not relaxed.dropped.any():
            break
        infeasible = infeasible or relaxed.proves(rest)
        lacking = relaxed.dropped > 0
        more = np.maximum(1, np.ceil(relaxed.dropped[lacking] - 1e-6))
        more = rest.tasks[lacking] if attempt == ROUNDS - 1 else more
        counts[lacking] += np.minimum(more, rest.tasks[lacking]).astype(np.int64)
    return counts, infeasible
