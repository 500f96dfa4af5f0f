"""Cover for tasks of several questions: one purchase answers them all.

A worker who is asked about a task says of each of L labels whether it belongs there. With q_jl what
her answer to label l is worth, and C_l what that label requires, the least cost is that of

    min Σ c_ij y_ij,    Σ_j q_ijl y_ij ≥ C_il  for every task i and label l,    Σ_i y_ij ≤ M_j,

which is (1)–(3) of Ho, Jabbari, Vaughan (2013) with a vector in the place of each number: Section
4.2 for every label, and one purchase for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from crowd_models.patterns import SLACK
from crowd_models.problem import LARGEST_COUNT, checked, freeze, price_step
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError

if TYPE_CHECKING:
    import pyomo.environ as pyo


@dataclass(frozen=True, eq=False)
class VectorCoverProblem:
    """Which worker labels which task, at the least cost, so that every label of it is covered.

    Attributes
    ----------
    quality
        q, shape (T, m, L), ≥ 0: by task type, worker and label; 0 throughout for a pair that is not
        to be.
    requirement
        C, shape (T, L), ≥ 0; of shape (L,) for all types alike.
    capacity
        M, shape (m,): the most tasks a worker takes. A scalar stands for every worker.
    tasks
        How many tasks each type has, shape (T,). A scalar stands for all.
    cost
        c, shape (T, m), ≥ 0: the price of a purchase; None for 1.

    Raises
    ------
    InputError
        For wrong shapes, NaN, infinity, values out of range.

    Examples
    --------
    >>> from crowd_models import VectorCoverProblem
    >>> quality = [[[0.9, 0.1], [0.1, 0.9], [0.6, 0.6]]]
    >>> problem = VectorCoverProblem(quality, [0.6, 0.6], capacity=2, tasks=3)
    >>> problem.shape, problem.covers(0, [0, 0, 1]), problem.covers(0, [1, 0, 0])
    ((1, 3, 2), True, False)
    """

    quality: FloatArray
    requirement: FloatArray
    capacity: IntArray
    tasks: IntArray
    cost: FloatArray | None = None

    if TYPE_CHECKING:  # what may be given, where the fields say what is kept

        def __init__(
            self,
            quality: ArrayLike,
            requirement: ArrayLike,
            capacity: ArrayLike,
            tasks: ArrayLike = 1,
            cost: ArrayLike | None = None,
        ) -> None: ...

    else:
        tasks: IntArray = 1

    def __post_init__(self) -> None:
        quality = checked("quality in nats", self.quality)
        if quality.ndim != 3 or 0 in quality.shape:
            raise InputError(
                f"quality has shape {quality.shape}: give task types × workers × labels, one of "
                "each at least"
            )
        types, m, labels = quality.shape
        need = checked("requirement", self.requirement)
        if need.shape not in ((labels,), (types, labels)):
            raise InputError(
                f"requirement has shape {need.shape}: give one number for each label ({labels}), "
                f"or a matrix {types, labels}"
            )
        freeze(self, "quality", quality)
        freeze(self, "requirement", np.broadcast_to(need, (types, labels)).copy())
        for name, length, who in (("capacity", m, "worker"), ("tasks", types, "task type")):
            mend = f"give one number, or one for each {who} ({length})"
            whole = checked(name, getattr(self, name), (length,), mend)
            freeze(self, name, np.minimum(whole, LARGEST_COUNT).astype(np.int64))
        if self.cost is not None:
            mend = f"give one price for each pair of type and worker, {types, m}"
            freeze(self, "cost", checked("cost", self.cost, (types, m), mend))

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many task types, workers and labels: (T, m, L)."""
        types, m, labels = self.quality.shape
        return types, m, labels

    @cached_property
    def prices(self) -> FloatArray:
        """c as a matrix: ones where no cost was given, shape (T, m)."""
        return np.ones(self.shape[:2]) if self.cost is None else self.cost

    @cached_property
    def usable(self) -> BoolArray:
        """Who has time, and tells something of a label that is required, shape (T, m)."""
        useful = ((self.quality > 0) & (self.requirement > 0)[:, None, :]).any(axis=2)
        usable: BoolArray = useful & (self.capacity > 0)
        return usable

    @cached_property
    def task_type(self) -> IntArray:
        """Type of each single task, in the order of the types, shape (n,)."""
        return np.repeat(np.arange(self.shape[0]), self.tasks)

    @cached_property
    def price_step(self) -> float:
        """The number that all prices are multiples of; 0 where there is none."""
        return 1.0 if self.cost is None else price_step(self.prices[self.usable])

    def gathered(self, task_type: int, workers: ArrayLike) -> FloatArray:
        """Σ_j q_jl y_j of one task's workers, shape (L,); `workers` is y, shape (…, m)."""
        cover: FloatArray = np.asarray(workers, dtype=np.float64) @ self.quality[task_type]
        return cover

    def covers(self, task_type: int, workers: ArrayLike) -> bool:
        """Whether a task's workers meet what every label requires; `workers` is y, shape (m,)."""
        need = self.requirement[task_type] * (1 - SLACK)
        return bool((self.gathered(task_type, workers) >= need).all())


def vector_program(problem: VectorCoverProblem, *, relaxed: bool = False) -> pyo.ConcreteModel:
    """The vector cover as an integer program: the least cost that covers every label of every task.

    Components: `y[i, j]` (buy the answers of worker j to task i), `capacity[j]`, `cover[i, l]` and
    `cost`; tasks in the order of their types.

    Parameters
    ----------
    relaxed
        0 ≤ y ≤ 1 in place of y ∈ {0, 1}.

    Raises
    ------
    InputError
        All workers together do not cover a label of a task.

    Examples
    --------
    >>> from crowd_models import VectorCoverProblem, vector_program
    >>> model = vector_program(VectorCoverProblem([[[0.9, 0.1], [0.1, 0.9]]], [0.6, 0.6], 2))
    >>> len(model.y), len(model.cover), len(model.capacity)
    (2, 2, 2)
    """
    import pyomo.environ as pyo  # late: the data above serve those who build no model

    from crowd_models.assignment import grouped, linear

    kinds, (_, m, labels) = problem.task_type.tolist(), problem.shape
    task, worker = np.nonzero(problem.usable[problem.task_type])
    row, column = grouped(task, worker, len(kinds)), grouped(worker, task, m)
    short = uncovered(problem)
    if short is not None:
        raise InputError(
            f"all workers together do not cover label {short[1]} of a task of type {short[0]}: "
            "require less of it, or drop the type"
        )
    model = pyo.ConcreteModel(name="vector cover" + (", relaxed" if relaxed else ""))
    pairs = list(zip(task.tolist(), worker.tolist(), strict=True))
    model.y = pyo.Var(pairs, domain=pyo.UnitInterval if relaxed else pyo.Binary)

    def capacity(model: pyo.ConcreteModel, j: int) -> Any:
        if not column[j]:
            return pyo.Constraint.Skip
        taken = [model.y[i, j] for i in column[j]]
        return (None, linear([1.0] * len(taken), taken), float(problem.capacity[j]))

    def cover(model: pyo.ConcreteModel, i: int, label: int) -> Any:
        need = float(problem.requirement[kinds[i], label])
        if need == 0:
            return pyo.Constraint.Skip
        gains = problem.quality[kinds[i], row[i], label].tolist()
        return (need, linear(gains, [model.y[i, j] for j in row[i]]), None)

    model.capacity = pyo.Constraint(range(m), rule=capacity)
    model.cover = pyo.Constraint(range(len(kinds)), range(labels), rule=cover)
    prices = problem.prices[problem.task_type[task], worker].tolist()
    model.cost = pyo.Objective(expr=linear(prices, list(model.y.values())), sense=pyo.minimize)
    return model


def uncovered(problem: VectorCoverProblem) -> tuple[int, int] | None:
    """A type and a label that all workers together do not cover; None where there is none.

    Of several that which is furthest from it.
    """
    everybody = np.einsum("tm,tml->tl", problem.usable.astype(np.float64), problem.quality)
    need = problem.requirement * (1 - SLACK) * (problem.tasks > 0)[:, None]
    share = np.divide(everybody, need, out=np.full(need.shape, np.inf), where=need > 0)
    t, label = np.unravel_index(int(share.argmin()), share.shape)
    return (int(t), int(label)) if share[t, label] < 1 else None
