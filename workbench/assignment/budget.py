"""The lowest error common to all tasks that a budget buys, by covers of lower and lower levels."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from workbench.assignment.cover_plan import REPORTED, ROUNDING, TRIED, CoverPlan
from workbench.assignment.several_classes import SeveralClasses
from workbench.assignment.two_classes import TwoClasses
from workbench.solving import Certificate, Termination
from workbench.solving.highs import RunOptions

STEPS, LEAST_LEVEL = 12, 1e-9
"""Halvings, and the lowest level tried."""
QUICK = 0.005
"""Gap at which a plan tells whether it can be paid."""

Program: TypeAlias = TwoClasses | SeveralClasses
"""Tasks and workers, and what is known of them."""


def spend(program: Program, total: float, *, options: RunOptions) -> CoverPlan:
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
    limit = options.time_limit and options.time_limit / (STEPS + 3)
    quick = RunOptions(limit, max(options.gap, QUICK), options.threads, seed=options.seed)

    def tried(level: float) -> CoverPlan:
        return program.cover(np.full(types, level), quick, draws=TRIED)

    def paid(plan: CoverPlan) -> bool:
        cost = plan.solution.objective
        return plan.errors is not None and cost is not None and cost <= total * (1 + ROUNDING)

    best = tried(0.999 * program.top)
    if best.errors is None:  # no cover at any price: the plan says why
        return program.cover(best.levels, quick, draws=REPORTED)
    if not paid(best):
        return _refused(best, f"{total:g} buys no cover of all tasks")
    low, high = math.log(LEAST_LEVEL), math.log(0.999 * program.top)
    for _ in range(STEPS):
        middle = (low + high) / 2
        plan = tried(math.exp(middle))
        low, high = (low, middle) if paid(plan) else (middle, high)
        best = plan if paid(plan) else best
    options = replace(options, time_limit=limit and 2 * limit)
    final = program.cover(best.levels, options, draws=REPORTED)
    return final if paid(final) else best


def _refused(plan: CoverPlan, note: str) -> CoverPlan:
    """No plan, and why not."""
    solution = replace(
        plan.solution,
        termination=Termination.INFEASIBLE,
        assignment=None,
        objective=None,
        bound=None,
        certificate=Certificate("unproven"),
        note=note,
    )
    return CoverPlan(solution, plan.levels)
