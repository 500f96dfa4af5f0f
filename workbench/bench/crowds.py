"""The crowd that most rows share; it imports no more than the models.

So a process that measures memory shows that of the solve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowd_models import AssignmentProblem
    from workbench.bench.measure import Size

CAPACITY = 200
"""M of every worker, as in Section 6 of Ho, Jabbari, Vaughan (2013)."""


def typed_crowd(size: Size) -> AssignmentProblem:
    """The full problem of the targets: three task types, skills uniform on [½, 1], ε = 0.01."""
    import numpy as np

    from crowd_models import AssignmentProblem, requirement

    skill = np.random.Generator(np.random.PCG64(size.seed)).uniform(0.5, 1.0, (3, size.workers))
    types = np.arange(size.tasks) * 3 // size.tasks
    return AssignmentProblem(
        (2 * skill[types] - 1) ** 2,
        np.full(size.workers, CAPACITY),
        requirement(epsilon(size)),
        task_types=types,
    )


def full(size: Size) -> bool:
    """Whether targets hold at this size; small ones show that a row runs."""
    return size.workers >= 100


def epsilon(size: Size) -> float:
    """0.01, or what a small crowd can reach."""
    return 0.01 if full(size) else 0.3


def same_optimum(one: float | None, other: float | None) -> None:
    """Stop where two sides differ by more than 1e-7, relative: they are no comparison."""
    if one is None or other is None or abs(one - other) > 1e-7 * max(1.0, abs(other)):
        raise RuntimeError(f"the two sides disagree on the optimum: {one} and {other}")
