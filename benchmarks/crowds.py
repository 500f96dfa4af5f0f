"""The problems that are measured; importing this loads no more than the models.

So a process that measures memory shows that of the solve.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.measure import BenchSize
    from crowd_models import AssignmentProblem, TypedProblem
    from workbench.base.arrays import IntArray

CAPACITY = 200
"""M of every worker, as in Section 6 of Ho, Jabbari, Vaughan (2013)."""


def typed_crowd(size: BenchSize) -> AssignmentProblem:
    """The full problem of the targets: three task types, skills uniform on [½, 1], ε = 0.01."""
    return over_pairs(
        by_class(size.tasks, size.workers, 3, CAPACITY, epsilon(size), seed=size.seed)
    )


def epsilon(size: BenchSize) -> float:
    """0.01, or what a small crowd can reach."""
    return 0.01 if size.full else 0.3


def by_class(
    tasks: int,
    workers: int,
    types: int,
    capacity: int,
    epsilon: float,
    *,
    skills: Sequence[float] = (),
    between: tuple[float, float] = (0.5, 1.0),
    seed: int = 0,
) -> TypedProblem:
    """Equal tasks counted, every worker a class of her own.

    Skills are drawn from the given ones, or evenly between two bounds.
    """
    import numpy as np

    from crowd_models import TypedProblem, requirement

    rng = np.random.Generator(np.random.PCG64(seed))
    shape = types, workers
    skill = rng.choice(list(skills), shape) if skills else rng.uniform(*between, shape)
    return TypedProblem(
        (2 * skill - 1) ** 2,
        np.full(workers, capacity),
        np.full(types, float(requirement(epsilon))),
        np.bincount(kinds_of(tasks, types), minlength=types),
        np.ones(workers, dtype=np.int64),
    )


def over_pairs(counted: TypedProblem) -> AssignmentProblem:
    """The same with its matrix of qualities, shape (n, m)."""
    import numpy as np

    from crowd_models import AssignmentProblem

    kinds = np.repeat(np.arange(len(counted.tasks)), counted.tasks)
    return AssignmentProblem(
        counted.quality[kinds], counted.capacity, counted.requirement[kinds], task_types=kinds
    )


def all_different(
    tasks: int, workers: int, capacity: int, epsilon: float, *, seed: int = 0
) -> AssignmentProblem:
    """Every pair has a skill, uniform on [½, 1], and a price, on [½, 2], of its own."""
    import numpy as np

    from crowd_models import AssignmentProblem, requirement

    rng = np.random.Generator(np.random.PCG64(seed))
    skill = rng.uniform(0.5, 1.0, (tasks, workers))
    price = rng.uniform(0.5, 2.0, skill.shape)
    return AssignmentProblem((2 * skill - 1) ** 2, capacity, requirement(epsilon), price)


def kinds_of(tasks: int, types: int) -> IntArray:
    """Type of each task: equal shares, one type after the other."""
    import numpy as np

    return np.arange(tasks) * types // tasks


def same_optimum(optimum: float | None, other: float | None) -> None:
    """Stop where two sides differ by more than 1e-7, relative: they are no comparison."""
    if optimum is None or other is None or abs(optimum - other) > 1e-7 * max(1.0, abs(other)):
        raise RuntimeError(f"the two sides disagree on the optimum: {optimum} and {other}")
