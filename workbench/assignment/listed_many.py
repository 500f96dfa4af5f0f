"""Plans of many tasks of few kinds: generated from listed sets of workers, with a checked bound.

The least sets that keep ε depend on the workers alone, however many tasks there are of a kind. At
any prices of the workers' time the cheapest set of each kind is read off its list, so that a bound
below the cost of every plan is L(u) = Σ_t n_t min_S Σ_{j in S} (c_tj + u_j) − Σ_j M_j u_j. The
master over the sets generated says how many tasks follow each.
"""

from __future__ import annotations

import math
import time

import numpy as np

from crowd_models.patterns import Pattern
from workbench.assignment.cover_plan import CoverPlan
from workbench.assignment.listed_classes import Lists, TooMany, made_of
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import generator
from workbench.solving import Termination
from workbench.solving.claims import CostClaim
from workbench.solving.highs import RunOptions
from workbench.solving.patterns.listed_sets import SetProgram
from workbench.solving.patterns.master import Master

LISTING, WHOLE = 0.4, 0.3
"""Shares of the time in which sets are listed, and in which whole numbers are sought."""
LONGEST = 8.0
"""Seconds for the lists at most."""
VARIED, SPREAD = 25, 0.3
"""Sets of each kind made in the end at prices with noise, and its size: for whole numbers."""
NEAR = 1e-9


def by_master(lists: Lists, options: RunOptions) -> CoverPlan | None:
    """The cheapest plan found of all sets that keep each task's error at ε, and a bound.

    Parameters
    ----------
    lists
        What is asked; its promise is "each".
    options
        Seconds, gap and seed.

    Returns
    -------
    CoverPlan or None
        None where the sets are too many to list, no plan was found, or time is out.
    """
    left = options.countdown()
    try:
        program = lists.sets(lambda kind: kind.enough)
    except TooMany:
        return None
    firsts, own = lists.alike
    asked = np.bincount(own)
    asked[program.idle[firsts]] = 0
    master, bound, u = _generated(program, firsts, asked, time.perf_counter() + _half(left()))
    if master is None:
        return None
    rng = generator(options.seed)
    for k, task in enumerate(firsts):
        for _ in range(VARIED if asked[k] else 0):
            noise = np.exp(rng.normal(0.0, SPREAD, len(u)))
            master.add(_pattern(program, k, task, (program.prices[task] + u) * noise))
    limit = None if options.time_limit is None else WHOLE * options.time_limit
    plan = master.whole(RunOptions(limit, options.gap, seed=options.seed))
    if plan is None:
        return None
    chosen: BoolArray = np.zeros(program.usable.shape, dtype=np.bool_)
    for k in range(len(firsts)):
        rows = [p.copies > 0 for p, times in plan if p.task_class == k for _ in range(times)]
        tasks = np.flatnonzero(own == k)[: len(rows)]
        chosen[tasks] = np.array(rows[: len(tasks)]).reshape(len(tasks), chosen.shape[1])
    cost = float((program.prices * chosen).sum())
    step = lists.apart
    least = step * math.ceil(bound / step - 1e-6) if step else bound
    least = cost if cost - least <= 1e-6 * cost else max(least, 0.0)
    done = Termination.OPTIMAL if least == cost else Termination.SEARCH_ENDED
    return made_of(lists, chosen, CostClaim(cost, least), None, done)


def _half(options: RunOptions) -> float:
    return LONGEST if options.time_limit is None else options.time_limit / 2


def _generated(
    program: SetProgram, firsts: list[int], asked: IntArray, until: float
) -> tuple[Master | None, float, FloatArray]:
    """The master with sets that are worth having, L(u) at its highest, and the prices of time.

    No master where some kind of task has no set, or no time is left.
    """
    capacity = program.capacity.astype(np.float64)
    penalty = 2.0 * program.prices[firsts].sum(axis=1) * len(program.prices) + 1.0
    master = Master(asked, capacity, penalty)
    u, best, highest = np.zeros(len(capacity)), np.zeros(len(capacity)), -np.inf
    while time.perf_counter() < until:
        bound, new = -float(capacity @ u), []
        for k, task in enumerate(firsts):
            if not asked[k]:
                continue
            found = program.cheapest(task, program.prices[task] + u)
            if found is None:
                return None, highest, best
            bound += float(asked[k]) * found[1]
            new.append(
                Pattern(k, found[0].astype(np.int64), float(program.prices[task] @ found[0]))
            )
        if bound > highest:
            highest, best = bound, u
        added, mix = master.add(new), master.solve()
        if not added and mix.cost - highest <= NEAR * max(mix.cost, 1.0):
            return master, highest, best
        if not added and np.array_equal(u, mix.worker_prices):
            return master, highest, best
        u = mix.worker_prices
    return (master if master.patterns else None), highest, best


def _pattern(program: SetProgram, k: int, task: int, charge: FloatArray) -> list[Pattern]:
    found = program.cheapest(task, charge)
    if found is None:
        return []
    return [Pattern(k, found[0].astype(np.int64), float(program.prices[task] @ found[0]))]
