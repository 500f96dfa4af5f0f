"""What a plan promises of every task: an error by a bound, or the exact error under the model.

A cover promises an error by a bound, and the exact error of the vote is well below it: about half
of the labels are bought for the bound's sake. `keep_promise` lets covers promise as much more, task
type by task type, as leaves the exact error at ε: it halves the ratio between a level that will do
and one that will not. For labels of two classes the exact error is computed, for more it is listed
or drawn (`workbench.accuracy`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.gains import Gain
from crowd_models.patterns import SLACK
from workbench.accuracy.error_rate import vote_errors
from workbench.aggregation.voting import promised_weights
from workbench.assignment.cover_plan import TOLD, TRIED, CoverPlan, TopUp
from workbench.assignment.several_classes import SeveralClasses
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving import Certificate, Infeasibility, Termination, solve
from workbench.solving.highs import RunOptions

STEPS = 7
"""Halvings: the level is found to within a hundredth or so of its logarithm's range."""
STEPS_OF_BUDGET, LEAST_LEVEL = 12, 1e-9
"""The same where a budget is asked for, and the lowest level tried."""
QUICK = 0.005
"""Gap at which a plan tells whether a level will do."""
SHARE = 0.08
"""Of the time, for each such plan."""
LAST = 0.3
"""Of the time, for the last plan at least."""
ROUNDING = 1e-9
"""An error above ε by so much, relative, is ε: 1 − .95 is above .05."""


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """Labels of two classes: a skill for each task and worker.

    Attributes
    ----------
    skill
        p, shape (n, m).
    gain
        What a label counts, and so how votes are weighed.
    kinds
        Type of each task, shape (n,).
    given
        Labels on record, and limits of their number.
    capacity, cost, available
        As in `AssignmentProblem`.
    """

    skill: FloatArray
    gain: Gain
    kinds: IntArray
    given: TopUp
    capacity: IntArray
    cost: FloatArray | None = None
    available: BoolArray | None = None

    @property
    def top(self) -> float:
        """Error that asks for nothing."""
        return 0.5

    @property
    def weight(self) -> FloatArray:
        """Weight of each label in the vote, shape (n, m)."""
        return promised_weights(self.gain.vote, self.skill)

    def problem(self, levels: FloatArray) -> AssignmentProblem:
        """The program at some levels: labels on record leave so much less to be covered."""
        need = self.gain.requirement(levels)[self.kinds]
        quality = self.gain.quality(self.skill, need)
        left = need - (quality * self.given.recorded).sum(axis=1)
        return AssignmentProblem(
            quality,
            self.capacity,
            np.where(left > SLACK * need, left, 0.0),
            self.cost,
            self.given.open(self.available),
            self.kinds,
            self.gain.name,
            *self.given.limits(),
        )

    def cover(self, levels: FloatArray, options: RunOptions, *, draws: int) -> CoverPlan:
        """The cheapest cover at some levels; its errors are computed."""
        problem = self.problem(levels)
        solution = solve(
            problem,
            "ip",
            time_limit=options.time_limit,
            gap=options.gap,
            threads=options.threads,
            seed=options.seed,
            isolated=draws == TOLD,
        )
        if solution.assignment is None:
            return CoverPlan(solution, levels)
        chosen = solution.assignment > 0.5
        voting = chosen | self.given.recorded
        errors, radius = vote_errors(self.skill, self.weight, voting)
        bounds = self.gain.error((problem.quality * voting).sum(axis=1))
        return CoverPlan(solution, levels, chosen, errors, float(radius.max(initial=0.0)), bounds)


CoverProgram: TypeAlias = TwoClasses | SeveralClasses
"""Tasks and workers whose covers can promise any level of error."""


def keep_promise(
    program: CoverProgram, epsilon: float, *, exact: bool, options: RunOptions
) -> CoverPlan:
    """The cheapest cover found that keeps every task's error at ε.

    Parameters
    ----------
    epsilon
        ε, in (0, 1).
    exact
        Hold the exact error to ε; else the error that the cover promises.

    Returns
    -------
    CoverPlan
        Without `chosen` where there is none; its solution says why.
    """
    types = int(program.kinds.max()) + 1
    if not exact or epsilon >= program.top:
        return program.cover(np.full(types, epsilon), options, draws=TOLD)
    left = options.countdown()
    limit = None if options.time_limit is None else SHARE * options.time_limit
    quick = RunOptions(limit, max(options.gap, QUICK), options.threads, seed=options.seed)
    low, high = np.full(types, np.log(epsilon)), np.full(types, np.log(0.999 * program.top))

    def keeps(plan: CoverPlan) -> bool:
        return _worst(plan) <= epsilon * (1 + ROUNDING)

    kept: list[CoverPlan] = []
    fewest: CoverPlan | None = None
    for _ in range(STEPS):
        if limit is not None and (left().time_limit or 0.0) < LAST * limit / SHARE:
            break
        middle = (low + high) / 2
        tried = program.cover(np.exp(middle), quick, draws=TRIED)
        if tried.errors is None and tried.solution.termination is not Termination.INFEASIBLE:
            # Out of time, which says nothing of the level: again, with half of what is left.
            more = left()
            half = None if more.time_limit is None else more.time_limit / 2
            tried = program.cover(np.exp(middle), replace(quick, time_limit=half), draws=TRIED)
            if tried.errors is None and tried.solution.termination is not Termination.INFEASIBLE:
                break
        if tried.errors is None:
            low = middle  # asks for more than there is: only covers that promise less are left
            continue
        worst = np.array([tried.errors[program.kinds == t].max(initial=0.0) for t in range(types)])
        fine = worst <= epsilon * (1 + ROUNDING)
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
        if fine.all():
            kept.append(tried)
        if fewest is None or tried.errors.max() < _worst(fewest):
            fewest = tried
    last = program.cover(np.exp(low), left(), draws=TOLD)
    if keeps(last):
        return last
    if kept:
        best = min(kept, key=lambda plan: plan.solution.objective or np.inf)
        again = program.cover(best.levels, left(), draws=TOLD)
        return again if keeps(again) else best
    strict = program.cover(np.full(types, epsilon), left(), draws=TOLD)
    if strict.errors is None and fewest is not None:
        enough = math.ceil(1e4 * _worst(fewest)) / 1e4
        near = f"is left at {_worst(fewest):.4f} by the nearest plan"
        near += f": use --epsilon {enough:g} or larger"
        why = near if program.given.most is None else f"{near}, or raise --most"
        assert fewest.errors is not None
        task = int(fewest.errors.argmax())
        return _refused(
            fewest, "", Infeasibility((), (), 0.0, 0.0, None, None, False, limits=why, worst=task)
        )
    return strict


def spend(program: CoverProgram, total: float, *, options: RunOptions) -> CoverPlan:
    """The cover of the lowest common level found that a budget pays for.

    Parameters
    ----------
    total
        What all labels together may cost, 0 or more.

    Returns
    -------
    CoverPlan
        Without `chosen` where the budget buys no cover of all tasks.
    """
    types = int(program.kinds.max()) + 1
    limit = options.time_limit and options.time_limit / (STEPS_OF_BUDGET + 3)
    quick = RunOptions(limit, max(options.gap, QUICK), options.threads, seed=options.seed)

    def tried(level: float) -> CoverPlan:
        return program.cover(np.full(types, level), quick, draws=TRIED)

    def paid(plan: CoverPlan) -> bool:
        cost = plan.solution.objective
        return plan.errors is not None and cost is not None and cost <= total * (1 + ROUNDING)

    best = tried(0.999 * program.top)
    if best.errors is None:  # no cover at any price: told why
        return program.cover(best.levels, quick, draws=TOLD)
    if not paid(best):
        return _refused(best, f"{total:g} buys no cover of all tasks")
    low, high = math.log(LEAST_LEVEL), math.log(0.999 * program.top)
    for _ in range(STEPS_OF_BUDGET):
        middle = (low + high) / 2
        plan = tried(math.exp(middle))
        low, high = (low, middle) if paid(plan) else (middle, high)
        best = plan if paid(plan) else best
    options = replace(options, time_limit=limit and 2 * limit)
    final = program.cover(best.levels, options, draws=TOLD)
    return final if paid(final) else best


def _worst(plan: CoverPlan) -> float:
    return np.inf if plan.errors is None else float(plan.errors.max())


def _refused(plan: CoverPlan, note: str, why: Infeasibility | None = None) -> CoverPlan:
    """No plan, and why not."""
    solution = replace(
        plan.solution,
        termination=Termination.INFEASIBLE,
        assignment=None,
        objective=None,
        bound=None,
        certificate=Certificate("unproven"),
        note=note,
        infeasibility=why,
    )
    return CoverPlan(solution, plan.levels)
