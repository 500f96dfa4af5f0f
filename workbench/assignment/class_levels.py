"""Covers of several classes that promise as much more than ε as leaves the errors at ε."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from workbench.assignment.class_program import ClassProgram
from workbench.assignment.cover_plan import REPORTED, ROUNDING, TRIED, CoverPlan, PlanPromise
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.seeds import generator
from workbench.solving import Certificate, Solution, Termination
from workbench.solving.claims import CostClaim
from workbench.solving.highs import Remaining, RunOptions

STEPS = 7
"""Halvings: the level is found to within a hundredth or so of its logarithm's range."""
NEARER = 4
"""Levels tried below the one found, where its errors are above ε by what they may be off."""
QUICK = 0.005
"""Gap at which a plan tells whether a level will do."""
SHARE = 0.08
"""Of the time, for each such plan."""
LAST = 0.3
"""Of the time, for the last plan at least."""


def by_levels(
    program: ClassProgram, epsilon: float, promise: PlanPromise, options: RunOptions
) -> CoverPlan:
    """The cheapest cover found that keeps a promise; see `SeveralClasses.keep`.

    Returns
    -------
    CoverPlan
        Without `chosen` where none was found, which does not say that there is none.
    """
    left = options.countdown()
    types = int(program.kinds.max()) + 1
    idle = _idle(program, promise, types)
    if idle is not None and _keeps(program, idle, epsilon, promise):
        return idle
    strict = epsilon / len(program.prior) if promise == "class" else epsilon
    low, tried = _halved(program, epsilon, promise, strict, left, options)
    if promise == "mean":
        looser = _halved(program, 2 * epsilon, "each", strict, left, options)[1]
        mixed = _mixed(program, epsilon, [*tried, *looser], left)
        if mixed is not None:
            return mixed
    for step in range(NEARER if (low > math.log(strict)).any() else 0):
        nearer = low + step / NEARER * (math.log(strict) - low)
        made = program.cover(np.exp(nearer), left(), draws=REPORTED, promise=promise)
        if _keeps(program, made, epsilon, promise):
            return made
        tried.append(made)
    there = [plan for plan in tried if plan.chosen is not None]
    for plan in sorted(there, key=lambda plan: plan.solution.objective or 0.0):
        assert plan.chosen is not None
        final = program.reported(plan.solution, plan.levels, plan.chosen, promise)
        if _keeps(program, final, epsilon, promise):
            return final
    made = program.cover(np.full(types, strict), left(), draws=REPORTED, promise=promise)
    if _keeps(program, made, epsilon, promise):
        return made
    return _none_found(made, min(there, key=_worst, default=None), epsilon)


def _mixed(
    program: ClassProgram, epsilon: float, tried: list[CoverPlan], left: Remaining
) -> CoverPlan | None:
    """Tasks at one of two levels by lot, so that the mean is ε; None where that does not pay.

    The two are those of the plans tried between which ε is cheapest in the mean.
    """
    points = [
        (float(plan.errors.mean()), plan.solution.objective or 0.0, plan)
        for plan in tried
        if plan.errors is not None and plan.errors.max() + plan.radius <= 2 * epsilon
    ]
    best: tuple[float, float, CoverPlan, CoverPlan] | None = None
    kept = [point for point in points if point[0] <= epsilon]
    for few, costly, strict in kept:
        for many, cheap, loose in points:
            share = (epsilon - few) / (many - few) if many > epsilon else 0.0
            cost = costly + share * (cheap - costly)
            if best is None or cost < best[0]:
                best = cost, share, strict, loose
    if best is None:
        return None
    _, share, strict, loose = best
    n = len(program.kinds)
    lot = generator(left().seed).permutation(n)
    at_loose, at_strict = loose.levels[program.kinds], strict.levels[program.kinds]
    for part in (share, 0.97 * share, 0.9 * share, 0.0):
        asked = np.where(lot < math.floor(part * n), at_loose, at_strict)
        made = program.cover(strict.levels, left(), draws=REPORTED, promise="mean", asked=asked)
        if _keeps(program, made, epsilon, "mean"):
            return made
    return None


def _halved(
    program: ClassProgram,
    epsilon: float,
    promise: PlanPromise,
    strict: float,
    left: Remaining,
    options: RunOptions,
) -> tuple[FloatArray, list[CoverPlan]]:
    """Logarithms of levels that will do, shape (T,), and the plans tried."""
    types = int(program.kinds.max()) + 1
    limit = None if options.time_limit is None else SHARE * options.time_limit
    quick = RunOptions(limit, max(options.gap, QUICK), options.threads, seed=options.seed)
    low, high = np.full(types, math.log(strict)), np.full(types, math.log(0.999 * program.top))
    plans: list[CoverPlan] = []
    for _ in range(STEPS):
        if limit is not None and (left().time_limit or 0.0) < LAST * limit / SHARE:
            break
        middle = (low + high) / 2
        tried = program.cover(np.exp(middle), quick, draws=TRIED, promise=promise)
        if tried.errors is None and tried.solution.termination is Termination.TIME_LIMIT:
            # Out of time, which says nothing of the level: again, with half of what is left.
            more = left()
            half = None if more.time_limit is None else more.time_limit / 2
            again = replace(quick, time_limit=half)
            tried = program.cover(np.exp(middle), again, draws=TRIED, promise=promise)
        if tried.errors is None:
            low = middle  # asks for more than is there, or found: covers that promise less are left
            continue
        fine = _fine(program, tried, epsilon, promise)
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
        plans.append(tried)
    return low, plans


def _fine(
    program: ClassProgram, tried: CoverPlan, epsilon: float, promise: PlanPromise
) -> BoolArray:
    """Which task types keep the promise, by errors as far off as those reported."""
    assert tried.errors is not None
    most = tried.errors + tried.radius * math.sqrt(TRIED / REPORTED)
    limit, types = epsilon * (1 + ROUNDING), int(program.kinds.max()) + 1
    fine: BoolArray = np.zeros(types, dtype=np.bool_)
    for t in range(types):
        own = most[program.kinds == t]
        if promise == "mean":
            fine[t] = not len(own) or (own.mean() <= limit and own.max() <= 2 * limit)
        else:
            fine[t] = own.max(initial=0.0) <= limit
    return fine


def _keeps(program: ClassProgram, made: CoverPlan, epsilon: float, promise: PlanPromise) -> bool:
    if made.chosen is None:
        return False
    judged = program.judged(made.chosen | program.given.recorded, promise)
    return program.keeps(made, judged, epsilon, promise)


def _idle(program: ClassProgram, promise: PlanPromise, types: int) -> CoverPlan | None:
    """The plan without a further label, where none has to be; nothing is cheaper than nothing."""
    few, _ = program.given.limits()
    if few is not None and few.any():
        return None
    nobody = np.zeros(program.usable.shape)
    certificate = Certificate("proven", (), 0.0, None, "prices", {"prices": 0.0})
    solution = Solution(
        "ip", "arrays", Termination.OPTIMAL, 0.0, 0.0, nobody, certificate=certificate
    )
    made = program.reported(solution, np.full(types, program.top), nobody > 0, promise)
    return replace(made, claim=CostClaim(0.0, 0.0))


def _worst(plan: CoverPlan) -> float:
    return np.inf if plan.errors is None else float(plan.errors.max())


def _none_found(strict: CoverPlan, fewest: CoverPlan | None, epsilon: float) -> CoverPlan:
    """No plan: none was found, which is not to say that there is none."""
    late = strict.solution.termination is Termination.TIME_LIMIT
    note = f"covers of all tasks that keep {epsilon:g} ask for more labels than there are"
    if fewest is not None:
        note = f"the nearest errs with a chance of {_worst(fewest):.4f} on a task"
    solution = replace(
        strict.solution,
        termination=Termination.TIME_LIMIT if late else Termination.SEARCH_ENDED,
        assignment=None,
        objective=None,
        bound=None,
        certificate=Certificate("unproven"),
        note="" if late else note,
        infeasibility=None,
    )
    return CoverPlan(solution, strict.levels)
