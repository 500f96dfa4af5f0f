"""Where not every task can be kept at ε: how many can, how many must be left, which ε would do.

The exact-error program with no price but one for a task that is left: the least number left, by
column generation over sets, as in phase 1 of the simplex method (`patterns.column_generation`).
Prices u of the workers' time prove that no plan leaves fewer tasks than
Σ_τ n_τ min(P_τ(u), 1) − Σ_j M_j u_j, where P_τ is the least price of a set that is enough.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.exact_error import ExactVote
from crowd_models.patterns import Pattern, deal, limits
from workbench.base.arrays import BoolArray, FloatArray
from workbench.solving.exact_error import possible
from workbench.solving.patterns.column_generation import (
    Generated,
    OutOfTime,
    Search,
    generate,
)
from workbench.solving.patterns.set_pricing import SetPricing

TOLERANCE = 0.004
"""Share of the tasks by which master and bound may differ."""
STEPS = 100
"""Of the price of a set."""
MANY = 10
"""Task classes whose labels are counted to start with."""
ROUNDS, TURNS = 5, 60
"""Of pricing, at a time, and how often."""
BISECTIONS = 8


@dataclass(frozen=True, eq=False)
class Kept:
    """As many tasks as were found to be kept at their ε together.

    Attributes
    ----------
    able
        Whether all workers together keep a task, by itself, shape (n,).
    kept
        Which tasks the plan keeps, shape (n,).
    assignment
        The plan, shape (n, m).
    fewest_left
        No plan leaves fewer tasks: proven by prices.
    """

    able: BoolArray
    kept: BoolArray
    assignment: FloatArray
    fewest_left: int

    @property
    def most(self) -> bool:
        """Whether it is proven that no plan keeps more tasks."""
        return int((~self.kept).sum()) == self.fewest_left


def keep_most(
    problem: AssignmentProblem, *, time_limit: float | None = None, seed: int = 0
) -> Kept:
    """Keep as many tasks of an exact-error program as can be.

    Parameters
    ----------
    problem
        Of `crowd_models.exact_error.error_problem`, without limits of labels.
    time_limit
        Seconds; what is known then is given.
    """
    until = math.inf if time_limit is None else time.perf_counter() + time_limit
    typed, vote = problem.typed, ExactVote.of(problem)
    assert typed.task_class is not None
    one_able = [possible(vote, t, limits(typed, t)) for t in range(typed.shape[0])]
    able = np.array(one_able)[typed.task_class]
    n, m = problem.shape
    kept, plan = np.zeros(n, dtype=bool), np.zeros((n, m))
    if not able.any():
        return Kept(able, kept, plan, n)
    some = problem.keep_tasks(able)
    free = replace(some, cost=np.zeros(some.shape))
    pricing = SetPricing(free.typed)
    search = Search(free.typed, pricing, np.random.default_rng(seed), until)
    fewest = int((~able).sum())
    even = np.full(free.typed.shape[1], _even_price(search))
    bound = pricing.bound(even, open_price=1.0)
    generated = _least_left(search, even)
    if generated is not None:
        bound = max(bound, pricing.bound(generated.worker_prices, open_price=1.0))
    fewest += max(0, math.ceil(bound - 1e-6))
    if generated is not None:
        rows = _rounded(free, generated)
        served = rows.any(axis=1) | _idle(free, pricing)
        kept[np.flatnonzero(able)[served]] = True
        plan[np.flatnonzero(able)] = rows
    return Kept(able, kept, plan, fewest)


def _least_left(search: Search, prices: FloatArray) -> Generated | None:
    """Sets, and prices that bound the number of tasks left; None where there was no time."""
    typed = search.problem
    tolerance = max(0.2, TOLERANCE * float(typed.tasks.sum()))
    generated = None
    with contextlib.suppress(OutOfTime):
        for _ in range(TURNS):
            generated = generate(
                search,
                typed.tasks,
                typed.supply,
                prices if generated is None else generated.worker_prices,
                () if generated is None else generated.patterns,
                tolerance=tolerance,
                steps=(STEPS,),
                rounds=ROUNDS,
            )
            if generated.mix.cost - generated.value <= tolerance:
                break
    return generated


def _even_price(search: Search) -> float:
    """A price of all labels to start from: what a task left costs, by the labels that one takes.

    At that price the bound counts labels: so many tasks need more of them than there are.
    """
    typed, pricing = search.problem, search.pricing
    labels = [
        pricing.cheapest(t, np.ones(typed.shape[1]), limits(typed, t), STEPS, search.rng)[1]
        for t in np.argsort(-typed.tasks, kind="stable")[:MANY].tolist()
        if typed.tasks[t]
    ]
    there = [many for many in labels if 0 < many < math.inf]
    return 1.0 / min(there) if there else 1.0


def _idle(problem: AssignmentProblem, pricing: SetPricing) -> BoolArray:
    """Which tasks need nobody, shape (n,)."""
    typed = problem.typed
    assert typed.task_class is not None
    idle: BoolArray = np.array([pricing.idle(t) for t in range(typed.shape[0])])[typed.task_class]
    return idle


def _rounded(problem: AssignmentProblem, generated: Generated) -> FloatArray:
    """Whole tasks by the master's sets, then by whichever set still has its workers: y (n, m)."""
    typed = problem.typed
    left, room = typed.tasks.copy(), typed.supply.copy()
    plan: list[tuple[Pattern, int]] = []
    whole = np.floor(generated.mix.counts + 1e-6).astype(int).tolist()
    rest = np.argsort(-(generated.mix.counts - whole), kind="stable").tolist()
    wanted = [*zip(generated.patterns, whole, strict=True)]
    wanted += [(generated.patterns[p], int(typed.tasks.sum())) for p in rest]
    for pattern, most in wanted:
        used = pattern.copies > 0
        fits = (room[used] // pattern.copies[used]).min(initial=math.inf)
        times = int(min(most, left[pattern.task_class], fits))
        if times > 0 and used.any():
            plan.append((pattern, times))
            left[pattern.task_class] -= times
            room -= times * pattern.copies
    return deal(typed, plan)


def least_epsilon(
    found: Callable[[float, float], float | None], low: float, high: float, *, time_limit: float
) -> float | None:
    """About the least ε that some plan keeps; None where none was found in time.

    Parameters
    ----------
    found
        Gives the error that a plan makes, for an ε and seconds to look for one; None for none.
    low, high
        An ε that nothing keeps, and one that asks for nothing.
    time_limit
        Seconds.
    """
    until, best = time.perf_counter() + time_limit, None
    for _ in range(BISECTIONS):
        left = until - time.perf_counter()
        if left <= 0:
            break
        middle = math.sqrt(low * high) if best is None else (low + high) / 2
        error = found(middle, max(left / 3, 0.1))
        if error is None:
            low = middle
        else:
            best = high = max(error, low)
    return best
