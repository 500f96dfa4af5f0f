"""The integer program: column generation beside branch and bound, at equal time.

Both sides stop at a proven optimum or at the time limit; what counts is the gap they leave.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from crowd_models import AssignmentProblem, requirement
from workbench.bench.crowds import CAPACITY, full
from workbench.bench.measure import Sample, Size

if TYPE_CHECKING:
    from workbench.solving import Solution

EPSILON = 0.001
FEW = {"0.5, 0.9": (0.5, 0.9), "0.5, 0.7, 0.9": (0.5, 0.7, 0.9)}
"""Skills of crowds in which qualities are few: spammers and hammers, and some between."""


def seconds_allowed(size: Size) -> float:
    """What a side may take: a minute, or very little in a small run."""
    return 60.0 if full(size) else 0.5


def whole_crowd(size: Size, skills: tuple[float, ...] = ()) -> AssignmentProblem:
    """Three task types; skills drawn from the given ones, or uniform on [0.6, 0.95]."""
    rng = np.random.Generator(np.random.PCG64(size.seed))
    shape = 3, size.workers
    skill = rng.choice(skills, shape) if skills else rng.uniform(0.6, 0.95, shape)
    types = np.arange(size.tasks) * 3 // size.tasks
    return AssignmentProblem(
        (2 * skill[types] - 1) ** 2,
        np.full(size.workers, CAPACITY),
        requirement(EPSILON if full(size) else 0.3),
        task_types=types,
    )


@lru_cache(maxsize=8)
def solved(size: Size, method: str, skills: tuple[float, ...] = ()) -> Solution:
    """One side's answer; kept, since rows share it and it takes a minute."""
    from workbench.solving import solve

    problem = whole_crowd(size, skills)
    return solve(problem, "ip", method=method, time_limit=seconds_allowed(size), seed=size.seed)


def exact_ip(size: Size) -> Sample:
    """Gaps of both sides, in percent of their cost, many different qualities."""
    ours, alone = solved(size, "patterns"), solved(size, "highs")
    return Sample(
        [gap_left(ours)],
        [gap_left(alone)],
        "%",
        note=f"cost {cost(ours)} in {ours.seconds:.0f} s, HiGHS {cost(alone)}",
    )


def exact_few(size: Size) -> Sample:
    """The same where qualities are few and ties everywhere: one pair of gaps a crowd."""
    pairs = [(solved(size, "patterns", few), solved(size, "highs", few)) for few in FEW.values()]
    times = "; ".join(
        f"skills {name}: {ours.seconds:.1f} s, HiGHS {alone.seconds:.1f} s"
        for name, (ours, alone) in zip(FEW, pairs, strict=True)
    )
    # The worse crowd counts: both are to be proven.
    worse = max(gap_left(ours) for ours, _ in pairs)
    return Sample([worse], [max(gap_left(alone) for _, alone in pairs)], "%", note=times)


def gap_left(solution: Solution) -> float:
    """The proven gap in percent; 100 where there is no answer or no bound."""
    return 100.0 if solution.gap is None else 100.0 * solution.gap


def cost(solution: Solution) -> str:
    """The cost of an answer, as text."""
    return "unknown" if solution.objective is None else f"{solution.objective:g}"
