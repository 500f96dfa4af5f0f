"""The least that keeps the errors of all tasks at ε in the mean, and no task's above 2ε.

Sets of workers are dealt to tasks as in `exact_error`, with one row more: the errors of the sets
add up to nε at most. At prices u of the workers' time and μ of an error, no plan costs less than

    L(u, μ) = Σ_τ n_τ min_S (c(S) + u(S) + μ e(S)) − Σ_j M_j u_j − μ n ε,

whatever u, μ ≥ 0: `set_pricing` bounds the minimum from below. Few sets are listed, all of them;
more are generated at the prices of the linear program over those known, as in column generation.
A plan is the best of the sets known, by branch and bound.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.exact_error import TOLERANCE, ExactVote
from crowd_models.patterns import Pattern, deal, limits
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.exact_error import ExactErrorPlan, as_solution, plan_of
from workbench.solving.highs import HighsRun, Remaining, RunOptions, run
from workbench.solving.linear_model import LinearModel
from workbench.solving.patterns.set_pricing import SetPricing
from workbench.solving.solution import RawAnswer, Solution, Termination

LISTED = 4096
"""Sets of workers, of all task classes together, up to which all are listed."""
ROUNDS = 80
"""Of pricing, at most."""
DRAWN = 0.7
"""Weight of the best prices seen so far in those asked at."""
OPEN = 4.0
"""Price of a task without a set, times the costliest set known; and by which it rises."""
NEAR = 2e-4
"""Distance between the linear program and L(u, μ), relative, at which to stop."""
STEPS = 300
"""Of the price of a set."""
WHOLE = 0.5
"""Share of the time left for branch and bound."""


def solve_mean_error(
    problem: AssignmentProblem,
    epsilon: float,
    *,
    start: FloatArray | None = None,
    time_limit: float | None = None,
    gap: float = 0.0,
    seed: int = 0,
) -> ExactErrorPlan:
    """Solve it.

    Parameters
    ----------
    problem
        A `crowd_models.exact_error.error_problem`, whose ε of a task is the most that it may err.
    epsilon
        ε of the mean.
    start
        A plan that keeps the promise, shape (n, m), where one is known.
    time_limit, gap, seed
        As of `solve_exact_error`.

    Returns
    -------
    ExactErrorPlan
        `infeasible` where everybody together errs too often, or by HiGHS's word where all sets
        were listed.
    """
    started = time.perf_counter()
    typed, vote = problem.typed, ExactVote.of(problem)
    kinds = np.flatnonzero(typed.tasks).tolist()
    everybody = [limits(typed, t) for t in range(typed.shape[0])]
    least = [vote.error(t, everybody[t]) for t in kinds]
    beyond = [not vote.enough(t, e) for t, e in zip(kinds, least, strict=True)]
    most = epsilon * float(typed.tasks.sum()) * (1 + TOLERANCE)
    if not problem.limited and (any(beyond) or typed.tasks[kinds] @ np.array(least) > most):
        return ExactErrorPlan("infeasible", certified=math.inf)
    left = RunOptions(time_limit, gap, seed=seed).countdown()
    columns = _Columns(problem, vote, most)
    if start is not None:
        columns.take_plan(start)
    sizes = sum(math.prod((everybody[t] + 1).tolist()) for t in kinds)
    listed, certified, bound = sizes <= LISTED, 0.0, None
    if listed:
        columns.add(p for t in kinds for p in _all_sets(problem, vote, t, everybody[t]))
    elif not problem.limited:
        certified = bound = _generate(columns, left, seed)
    if not columns.patterns:
        return ExactErrorPlan("bound", lower_bound=bound)
    _, shares, prices, _ = columns.solved(_penalty(columns))
    rounded = columns.rounded(shares, prices)
    ran = columns.whole(left(), rounded)
    times = rounded if ran.values is None else ran.values
    chosen = None if times is None else columns.dealt(times)
    if listed:
        bound, certified = ran.bound, columns.least(prices)
    none = listed and ran.termination is Termination.INFEASIBLE
    ended = Termination.INFEASIBLE if none else Termination.TIME_LIMIT
    pairs = None if chosen is None else chosen[problem.pairs]
    plan = plan_of(problem, vote, RawAnswer(ended, pairs, bound=bound))
    if plan.errors is not None and plan.errors.sum() > most:
        raise RuntimeError("the plan errs more often in the mean than was asked")
    certified = min(certified, plan.lower_bound or certified)
    return replace(plan, certified=certified, seconds=time.perf_counter() - started)


def mean_error_solution(
    problem: AssignmentProblem,
    epsilon: float,
    *,
    start: FloatArray | None = None,
    time_limit: float | None = None,
    gap: float = 0.0,
    seed: int = 0,
) -> Solution:
    """Solve it, the answer as that of any other assignment problem.

    Parameters
    ----------
    problem, epsilon, start, time_limit, gap, seed
        As of `solve_mean_error`.
    """
    plan = solve_mean_error(
        problem, epsilon, start=start, time_limit=time_limit, gap=gap, seed=seed
    )
    return as_solution(problem, plan, gap)


def _all_sets(
    problem: AssignmentProblem, vote: ExactVote, t: int, most: IntArray
) -> Iterable[Pattern]:
    """All sets that one task may have, within its limits of labels."""
    typed = problem.typed
    few, many = typed.label_limits(t)
    for numbers in itertools.product(*(range(k + 1) for k in most.tolist())):
        if few <= sum(numbers) <= many:
            copies = np.array(numbers, dtype=np.int64)
            if vote.allows(t, copies):
                yield Pattern(t, copies, float(typed.prices[t] @ copies))


@dataclass(eq=False)
class _Columns:
    """Sets known so far, and the program over them."""

    problem: AssignmentProblem
    vote: ExactVote
    most: float
    """nε: what the errors may add up to."""
    patterns: list[Pattern] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    _known: set[tuple[int, bytes]] = field(default_factory=set)

    def add(self, patterns: Iterable[Pattern]) -> int:
        """Take in sets that are new; give their number."""
        before = len(self.patterns)
        for pattern in patterns:
            key = pattern.task_class, pattern.copies.tobytes()
            if key not in self._known:
                self._known.add(key)
                self.patterns.append(pattern)
                self.errors.append(self.vote.error(pattern.task_class, pattern.copies))
        return len(self.patterns) - before

    def take_plan(self, plan: FloatArray) -> None:
        """Take in the sets of a plan, shape (n, m)."""
        typed = self.problem.typed
        assert typed.task_class is not None
        assert typed.worker_class is not None
        for t, row in zip(typed.task_class.tolist(), plan, strict=True):
            copies = np.bincount(typed.worker_class[row > 0], minlength=typed.shape[1])
            self.add([Pattern(t, copies, float(typed.prices[t] @ copies))])

    def solved(self, penalty: float) -> tuple[float, FloatArray, FloatArray, bool]:
        """Cost of the linear program, tasks by set, u and μ in one, and whether each has a set.

        A task without one costs `penalty`.
        """
        typed = self.problem.typed
        program = self._program(penalty, whole=False)
        ran = run(program, RunOptions())
        assert ran.values is not None
        assert ran.row_duals is not None
        classes = len(typed.supply)
        prices = np.maximum(-ran.row_duals[: classes + 1], 0.0)
        idle, shares = np.split(ran.values, [len(typed.tasks)])
        return float(program.cost @ ran.values), shares, prices, float(idle.max()) < 1e-6

    def whole(self, options: RunOptions, start: FloatArray | None) -> HighsRun:
        """The best plan of the sets known, from one that is known."""
        return run(self._program(None, whole=True), options, start)

    def _worth(self, prices: FloatArray) -> tuple[IntArray, FloatArray]:
        """Task class of each set known, and c(S) + u(S) + μ e(S), prices u and μ in one."""
        copies = np.array([p.copies for p in self.patterns])
        costs = np.array([p.cost for p in self.patterns])
        worth: FloatArray = costs + np.column_stack([copies, self.errors]) @ prices
        return np.array([p.task_class for p in self.patterns]), worth

    def least(self, prices: FloatArray) -> float:
        """L(u, μ) over the sets known, at prices u and μ in one: a bound where they are all sets.

        Rounded up where all prices have a common step.
        """
        typed = self.problem.typed
        of, worth = self._worth(prices)
        value = -float(np.append(typed.supply, self.most) @ prices)
        for t in np.flatnonzero(typed.tasks).tolist():
            if not (of == t).any():
                return 0.0
            value += float(typed.tasks[t]) * float(worth[of == t].min())
        value -= 1e-9 * abs(value)
        step = self.problem.price_step
        return max(0.0, step * math.ceil(value / step - 1e-6) if step else value)

    def rounded(self, shares: FloatArray, prices: FloatArray) -> FloatArray | None:
        """How many tasks follow each set, near `shares`; None where what is rounded off is stuck.

        Each task left takes the cheapest set, at prices u and μ, for which there are workers and
        no more than its part of the errors that are left.
        """
        typed, counts = self.problem.typed, np.floor(shares + 1e-6)
        copies, errors = np.array([p.copies for p in self.patterns]), np.array(self.errors)
        of, worth = self._worth(prices)
        room, budget = typed.supply - counts @ copies, self.most - float(counts @ errors)
        for t in np.flatnonzero(typed.tasks).tolist():
            for left in range(int(typed.tasks[t] - counts[of == t].sum()), 0, -1):
                fits = (of == t) & (copies <= room).all(axis=1) & (errors <= budget / left)
                if not fits.any():
                    return None
                p = int(np.where(fits, worth, np.inf).argmin())
                counts[p] += 1
                room, budget = room - copies[p], budget - errors[p]
        return counts

    def dealt(self, values: FloatArray) -> FloatArray:
        """Who labels what, shape (n, m)."""
        times = np.rint(values).astype(np.int64)
        plan = [(self.patterns[p], int(times[p])) for p in np.flatnonzero(times)]
        return deal(self.problem.typed, plan)

    def _program(self, penalty: float | None, *, whole: bool) -> LinearModel:
        """Rows: supply, errors, tasks. Columns: tasks without a set, at a `penalty`; sets."""
        from scipy import sparse

        typed = self.problem.typed
        classes, kinds = len(typed.supply), len(typed.tasks)
        copies = np.array([p.copies for p in self.patterns]).reshape(-1, classes)
        of = np.array([p.task_class for p in self.patterns], dtype=np.int64)
        serve = np.zeros((len(of), kinds))
        serve[np.arange(len(of)), of] = 1.0
        rows = np.hstack([copies, np.array(self.errors)[:, None], serve])
        cost = np.array([p.cost for p in self.patterns])
        if penalty is not None:
            idle = np.hstack([np.zeros((kinds, classes + 1)), np.eye(kinds)])
            rows, cost = np.vstack([idle, rows]), np.append(np.full(kinds, penalty), cost)
        matrix = sparse.csc_matrix(rows.T)
        matrix.sort_indices()
        beneath = np.full(classes + 1, -np.inf)
        return LinearModel(
            cost,
            np.zeros(len(cost)),
            np.full(len(cost), np.inf),
            np.concatenate([beneath, typed.tasks]),
            np.concatenate([typed.supply, [self.most], typed.tasks]),
            matrix.indptr,
            matrix.indices.astype(np.int32),
            matrix.data,
            integer=whole,
        )


def _generate(columns: _Columns, left: Remaining, seed: int) -> float:
    """Generate sets until the linear program and L(u, μ) meet; L, bounded from below."""
    problem, typed = columns.problem, columns.problem.typed
    pricing, rng = SetPricing(typed), np.random.default_rng(seed)
    kinds = np.flatnonzero(typed.tasks).tolist()
    everybody = {t: limits(typed, t) for t in kinds}
    strict = SetPricing(replace(typed, requirement=_stricter(problem, columns.most)))
    for t in kinds:
        for each in (pricing, strict):
            filled = each.filled_up(t, np.maximum(typed.prices[t], 1e-9), everybody[t])
            columns.add(Pattern(t, c, float(typed.prices[t] @ c)) for c in filled)
    penalty = _penalty(columns)
    asked = best = np.zeros(len(typed.supply) + 1)
    cost, value, drawn = math.inf, -math.inf, DRAWN
    until = left().time_limit
    end = math.inf if until is None else time.perf_counter() + (1 - WHOLE) * until
    for _ in range(ROUNDS):
        worth = -float(np.append(typed.supply, columns.most) @ asked)
        new = 0
        for t in kinds:
            charge, error_price = typed.prices[t] + asked[:-1], float(asked[-1])
            sets, price = pricing.cheapest(
                t, charge, everybody[t], STEPS, rng, error_price=error_price
            )
            worth += float(typed.tasks[t]) * price
            new += columns.add(sets)
        if worth > value:
            best, value = asked, worth
        cost, _, prices, served = columns.solved(penalty)
        if cost - value <= NEAR * max(cost, 1.0) or (not new and drawn == 0.0):
            if served:
                break
            penalty, value = OPEN * penalty, -math.inf  # Is there no plan, or was a task left open?
        if time.perf_counter() > end:
            break
        if not new:
            drawn = max(0.0, drawn - DRAWN / 2)
        asked = drawn * best + (1 - drawn) * prices
    bound = pricing.bound(best[:-1], error_price=float(best[-1])) - float(best[-1]) * columns.most
    return max(bound, 0.0)


def _penalty(columns: _Columns) -> float:
    """More than any set known costs."""
    return OPEN * max(max((pattern.cost for pattern in columns.patterns), default=0.0), 1.0)


def _stricter(problem: AssignmentProblem, most: float) -> FloatArray:
    """Requirements of the same tasks at an error of ε each, which keeps the mean at ε."""
    from crowd_models.gains import GAINS

    need = float(GAINS["bhattacharyya"].quality(most / float(problem.typed.tasks.sum())))
    return np.full(problem.typed.shape[0], need)
