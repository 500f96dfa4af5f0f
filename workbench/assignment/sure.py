"""Plans that keep their mean error in most draws from what gold leaves open of the skills.

The error at posterior mean skills is the posterior mean of the error, so a plan keeps its promise
on the average over what gold leaves open: about half of the time it errs more. To be surer, it is
made for a lower ε, as high as will do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from workbench.accuracy.error_rate import vote_errors
from workbench.assignment.cover_plan import ROUNDING, CoverPlan, PlanPromise
from workbench.assignment.two_classes import TwoClasses
from workbench.base.arrays import FloatArray
from workbench.base.seeds import stream
from workbench.solving.highs import RunOptions

DRAWS = 200
TASKS = 100
"""Tasks whose errors are worked out in each draw, at most: as many of each plan, drawn by lot."""
STEPS, LEAST = 6, 0.05
"""Halvings of the range of ε, and where it ends, as a share of the one asked for."""
QUICK = 0.005
"""Gap at which a plan tells whether it is sure enough."""
SHARE = 0.08
"""Of the time, for each such plan."""


@dataclass(frozen=True, eq=False)
class Surely:
    """A plan, and in what share of the draws its mean error is at most ε."""

    made: CoverPlan
    share: float


def sure_plan(
    program: TwoClasses,
    epsilon: float,
    promise: PlanPromise,
    sure: float,
    strength: FloatArray,
    options: RunOptions,
) -> Surely:
    """The cheapest plan found whose mean error is at most ε in a share `sure` of the draws.

    Parameters
    ----------
    strength
        a + b of each skill's Beta posterior, by task type and worker, shape (T, m).

    Returns
    -------
    Surely
        Its plan has no `chosen` where none was found.
    """
    left = options.countdown()
    part = None if options.time_limit is None else SHARE * options.time_limit
    quick = replace(options, time_limit=part, gap=max(options.gap, QUICK))

    def tried(at: float, how: RunOptions) -> Surely:
        made = program.keep(at, promise, how)
        return Surely(made, _share(program, made, epsilon, strength, options.seed))

    low, high = math.log(LEAST * epsilon), math.log(epsilon)
    best = tried(epsilon, quick)
    level = epsilon
    if best.made.chosen is not None and best.share < sure:
        level = 0.0
        for _ in range(STEPS):
            middle = (low + high) / 2
            found = tried(math.exp(middle), quick)
            if found.made.chosen is None:
                low = middle
            elif found.share >= sure:
                low, level, best = middle, math.exp(middle), found
            else:
                high = middle
    if not level:
        none = replace(best.made.solution, note="none keeps it in so large a share of draws")
        return Surely(CoverPlan(none, best.made.levels), best.share)
    last = tried(level, left())
    return last if last.made.chosen is not None and last.share >= sure else best


def _share(
    program: TwoClasses, made: CoverPlan, epsilon: float, strength: FloatArray, seed: int
) -> float:
    """In what share of the draws the mean error of a plan is at most ε."""
    if made.chosen is None:
        return 0.0
    rng = stream(seed, "what gold leaves open")
    some = rng.permutation(len(made.chosen))[:TASKS]
    kinds = program.kinds[some]
    voting, weight = (made.chosen | program.given.recorded)[some], program.weight[some]
    there, first = np.unique(program.kinds, return_index=True)
    mean, size = np.clip(program.skill[first], 1e-9, 1 - 1e-9), strength[there]
    kept = 0
    for _ in range(DRAWS):
        skill = rng.beta(mean * size, (1 - mean) * size)[np.searchsorted(there, kinds)]
        errors = vote_errors(skill, weight, voting)[0]
        kept += bool(errors.mean() <= epsilon * (1 + ROUNDING))
    return kept / DRAWS
