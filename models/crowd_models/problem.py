"""The data of a problem: checked once, here, so that no model sees a NaN.

`AssignmentProblem` is who does which task, over pairs (task, worker). `TypedProblem` is the same
problem over pairs of classes: equal tasks are counted, equal workers are counted. Source: Ho,
Jabbari, Vaughan (2013), Sections 3 and 4.2; costs: Section 7. `SelectionProblem` is whom to hire.
Source: Li, Liu (2015), Section 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError

LARGEST_REQUIREMENT = 1e9
"""No crowd is that large; far beyond it, solvers read a number as infinity."""
LARGEST_PRICE = 1e15
"""Beyond it, sums of whole prices are no longer exact."""
MONEY_ROUNDING = 1e-12
"""How far prices may add up to more than the money, relative: ten tenths are to cost one."""

MOST_PRICE_STEPS = 100_000
"""Cents up to a thousand: the highest price in steps that all prices are multiples of."""
PRICE_ROUNDING = 1e-15
"""How far a price's share of the highest may be off: decimal prices are rounded, and so is it."""


def requirement(epsilon: ArrayLike) -> FloatArray:
    """Coverage requirement C = 2 ln(1/ε) of an error ε in (0, 1) (Section 4.1, below Lemma 1).

    Parameters
    ----------
    epsilon
        ε, of any shape.

    Raises
    ------
    InputError
        An error that does not lie strictly between 0 and 1.

    Examples
    --------
    >>> from crowd_models import requirement
    >>> float(requirement(0.05))
    5.991464547107982
    """
    values = _numbers("epsilon", epsilon)
    outside = np.argwhere((values <= 0) | (values >= 1))
    if len(outside):
        at = tuple(outside[0])
        raise InputError(
            f"epsilon{_place(at)} is {values[at]:g}: the error must lie strictly between 0 and 1"
        )
    return -2.0 * np.log(values)


@dataclass(frozen=True, eq=False)
class AssignmentProblem:
    """Which worker labels which task, at the least cost, so that each task is covered.

    Attributes
    ----------
    quality
        q, shape (n, m), in [0, 1]: q_ij = (2 p_ij − 1)² for worker j on task i.
    capacity
        M, shape (m,): the most tasks a worker takes. A scalar stands for every worker.
    requirement
        C, shape (n,): 2 ln(1/ε), the quality each task must gather. A scalar stands for all.
    cost
        c, shape (n, m), ≥ 0: the price of a label; None for unit prices (Section 7).
    available
        Shape (n, m): which pairs may be assigned; None for all.
    task_types
        Shape (n,): type of each task, a label only; None when unknown.

    Raises
    ------
    InputError
        For wrong shapes, NaN, infinity, values out of range.

    Examples
    --------
    >>> from crowd_models import AssignmentProblem
    >>> problem = AssignmentProblem([[0.9, 0.5], [0.2, 0.5]], capacity=1, requirement=0.5)
    >>> problem.shape, problem.capacity.tolist()
    ((2, 2), [1, 1])
    """

    quality: FloatArray
    capacity: IntArray
    requirement: FloatArray
    cost: FloatArray | None = None
    available: BoolArray | None = None
    task_types: NDArray[Any] | None = None

    if TYPE_CHECKING:  # what may be given, where the fields say what is kept

        def __init__(
            self,
            quality: ArrayLike,
            capacity: ArrayLike,
            requirement: ArrayLike,
            cost: ArrayLike | None = None,
            available: ArrayLike | None = None,
            task_types: ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        quality = _quality(self.quality)
        n, m = quality.shape
        _freeze(self, "quality", quality)
        _freeze(self, "capacity", _counts("capacity", self.capacity, m, "worker"))
        _freeze(self, "requirement", _requirements(self.requirement, n))
        _freeze(self, "cost", _costs(self.cost, (n, m)))
        _freeze(self, "available", _mask(self.available, (n, m)))
        if self.task_types is not None:
            types = np.array(self.task_types)
            if types.shape != (n,):
                raise InputError(
                    f"task_types has shape {types.shape}: give one type for each of {n} tasks"
                )
            _freeze(self, "task_types", types)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m): how many tasks, how many workers."""
        n, m = self.quality.shape
        return n, m

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """Task and worker index of every pair that may be assigned, task by task."""
        if self.available is None:
            n, m = self.shape
            return np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
        tasks, workers = np.nonzero(self.available)
        return tasks, workers

    @cached_property
    def prices(self) -> FloatArray:
        """c as a matrix, shape (n, m): ones where no cost was given."""
        return np.ones(self.shape) if self.cost is None else self.cost

    @cached_property
    def mask(self) -> BoolArray:
        """Which pairs may be assigned, as a matrix, shape (n, m)."""
        return np.ones(self.shape, dtype=bool) if self.available is None else self.available

    @cached_property
    def typed(self) -> TypedProblem:
        """The same problem with its equal tasks and its equal workers counted."""
        return TypedProblem.of(self)

    @property
    def supply(self) -> FloatArray:
        """Right-hand side of the capacity constraints: M."""
        return self.capacity.astype(np.float64)

    @property
    def demand(self) -> FloatArray:
        """Right-hand side of the cover constraints: C."""
        return self.requirement

    @property
    def integral_cost(self) -> bool:
        """Whether every price is a whole number, so that a bound may be rounded up."""
        return self.cost is None or bool(np.all(self.cost == np.floor(self.cost)))

    @cached_property
    def price_step(self) -> float:
        """The number that all prices are multiples of, so that a bound may be rounded up to one.

        0 where there is none. 0.1 for prices of 0.3 and 0.2, though as floats they have no such.
        """
        return 1.0 if self.cost is None else price_step(self.cost[self.pairs])

    def uncoverable(self) -> IntArray:
        """Tasks that even all their available workers together cannot cover."""
        return np.flatnonzero(_shortfall(self.quality, self.available, self.requirement) > 0)

    def keep_tasks(self, keep: ArrayLike) -> AssignmentProblem:
        """Return the same problem for some of its tasks only (indices or a mask)."""
        rows = np.asarray(keep)
        return AssignmentProblem(
            self.quality[rows],
            self.capacity,
            self.requirement[rows],
            None if self.cost is None else self.cost[rows],
            None if self.available is None else self.available[rows],
            None if self.task_types is None else self.task_types[rows],
        )


@dataclass(frozen=True, eq=False)
class TypedProblem:
    """The relaxed problem over (task class, worker class) counts.

    Tasks of one class share quality, price, availability and requirement; workers of one class
    share quality, price, availability and capacity. By symmetry and convexity an optimum of the
    relaxation exists in which all pairs of two classes get the same share, so counting them
    loses nothing. `task_class` and `worker_class` lead back to the pairs, and are None where
    the problem was stated by class from the start.

    Attributes
    ----------
    quality
        q, shape (T, K), by task class and worker class.
    capacity
        M, shape (K,), of each single worker of the class.
    requirement
        C, shape (T,), of each single task of the class.
    tasks, workers
        Shapes (T,) and (K,): how many tasks and workers each class has.
    cost, available
        Shape (T, K), or None for unit prices and all pairs.
    task_class, worker_class
        Shapes (n,) and (m,): class of each task and worker, or None.

    Examples
    --------
    >>> from crowd_models import AssignmentProblem
    >>> problem = AssignmentProblem([[0.9, 0.5, 0.5]] * 4, capacity=2, requirement=0.5)
    >>> counted = problem.typed
    >>> counted.shape, counted.tasks.tolist(), sorted(counted.workers.tolist())
    ((1, 2), [4], [1, 2])
    """

    quality: FloatArray
    capacity: IntArray
    requirement: FloatArray
    tasks: IntArray
    workers: IntArray
    cost: FloatArray | None = None
    available: BoolArray | None = None
    task_class: IntArray | None = None
    worker_class: IntArray | None = None

    if TYPE_CHECKING:  # what may be given, where the fields say what is kept

        def __init__(
            self,
            quality: ArrayLike,
            capacity: ArrayLike,
            requirement: ArrayLike,
            tasks: ArrayLike,
            workers: ArrayLike,
            cost: ArrayLike | None = None,
            available: ArrayLike | None = None,
            task_class: ArrayLike | None = None,
            worker_class: ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        quality = _quality(self.quality)
        types, classes = quality.shape
        _freeze(self, "quality", quality)
        _freeze(self, "capacity", _counts("capacity", self.capacity, classes, "worker class"))
        _freeze(self, "requirement", _requirements(self.requirement, types))
        _freeze(self, "tasks", _counts("tasks", self.tasks, types, "task class"))
        _freeze(self, "workers", _counts("workers", self.workers, classes, "worker class"))
        _freeze(self, "cost", _costs(self.cost, (types, classes)))
        _freeze(self, "available", _mask(self.available, (types, classes)))

    @classmethod
    def of(cls, problem: AssignmentProblem) -> TypedProblem:
        """Merge the equal tasks and the equal workers of a problem."""
        rows: list[NDArray[Any]] = [problem.quality, problem.requirement[:, None]]
        columns: list[NDArray[Any]] = [
            problem.quality.T,
            np.minimum(problem.capacity, problem.shape[0])[:, None],
        ]
        for matrix in (problem.cost, problem.available):
            if matrix is not None:
                rows.append(matrix)
                columns.append(matrix.T)
        first_task, task_class = _merge(rows)
        first_worker, worker_class = _merge(columns)
        at = np.ix_(first_task, first_worker)
        return cls(
            problem.quality[at],
            problem.capacity[first_worker],
            problem.requirement[first_task],
            np.bincount(task_class).astype(np.int64),
            np.bincount(worker_class).astype(np.int64),
            None if problem.cost is None else problem.cost[at],
            None if problem.available is None else problem.available[at],
            task_class,
            worker_class,
        )

    def merged(self) -> MergedProblem:
        """The same problem with its equal task classes and its equal worker classes counted as one.

        What `of` does for a problem stated by pairs, for one stated by class.
        """
        rows: list[NDArray[Any]] = [self.quality, self.requirement[:, None]]
        columns: list[NDArray[Any]] = [
            self.quality.T,
            np.minimum(self.capacity, self.tasks.sum())[:, None],
        ]
        for matrix in (self.cost, self.available):
            if matrix is not None:
                rows.append(matrix)
                columns.append(matrix.T)
        first_task, task_class = _merge(rows)
        first_worker, worker_class = _merge(columns)
        at = np.ix_(first_task, first_worker)
        merged = TypedProblem(
            self.quality[at],
            self.capacity[first_worker],
            self.requirement[first_task],
            _added(self.tasks, task_class),
            _added(self.workers, worker_class),
            None if self.cost is None else self.cost[at],
            None if self.available is None else self.available[at],
        )
        return MergedProblem(self, merged, task_class, worker_class)

    @property
    def shape(self) -> tuple[int, int]:
        """(T, K): how many task classes, how many worker classes."""
        types, classes = self.quality.shape
        return types, classes

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """Task class and worker class of every variable, task class by task class."""
        if self.available is None:
            types, classes = self.shape
            return np.repeat(np.arange(types), classes), np.tile(np.arange(classes), types)
        rows, columns = np.nonzero(self.available)
        return rows, columns

    @cached_property
    def prices(self) -> FloatArray:
        """c as a matrix, shape (T, K): ones where no cost was given."""
        return np.ones(self.shape) if self.cost is None else self.cost

    @property
    def supply(self) -> FloatArray:
        """Right-hand side of the capacity constraints: m_k M_k."""
        return (self.workers * self.capacity).astype(np.float64)

    @property
    def demand(self) -> FloatArray:
        """Right-hand side of the cover constraints: n_τ C_τ."""
        return self.tasks * self.requirement

    @cached_property
    def sizes(self) -> FloatArray:
        """How many pairs (task, worker) each pair of classes stands for, shape (T, K)."""
        return np.outer(self.tasks, self.workers).astype(np.float64)

    def uncoverable(self) -> IntArray:
        """Task classes whose tasks even all available workers together cannot cover."""
        return np.flatnonzero(
            (_shortfall(self.quality * self.workers, self.available, self.requirement) > 0)
            & (self.tasks > 0)
        )

    def with_shortfall(self, price: float) -> TypedProblem:
        """The same problem where cover may fall short, at a price a unit of requirement.

        Shortfall is bought from T further worker classes, one a task class, of quality 1: the
        last T columns. So the result always has a solution, and no task weight exceeds `price`.
        """
        types, classes = self.shape
        return TypedProblem(
            np.hstack([self.quality, np.eye(types)]),
            np.concatenate([self.capacity, self.tasks]),
            self.requirement,
            self.tasks,
            # One more than can be needed: a column at its bound would let the weight rise.
            np.concatenate([self.workers, np.ceil(self.requirement).astype(np.int64) + 1]),
            np.hstack([self.prices, np.full((types, types), price)]),
            np.hstack(
                [
                    np.ones((types, classes), bool) if self.available is None else self.available,
                    np.eye(types, dtype=bool),
                ]
            ),
        )

    def lift(self, counts: FloatArray) -> FloatArray:
        """Spread class counts Y (T, K) evenly over the pairs: y (n, m) = Y / (n_τ m_k)."""
        share = np.divide(counts, self.sizes, out=np.zeros_like(counts), where=self.sizes > 0)
        return share[np.ix_(*self._classes())]

    def lift_tasks(self, weights: FloatArray) -> FloatArray:
        """Give each task the dual value of its class, (T,) → (n,)."""
        return weights[self._classes()[0]]

    def lift_workers(self, prices: FloatArray) -> FloatArray:
        """Give each worker the dual value of its class, (K,) → (m,)."""
        return prices[self._classes()[1]]

    def _classes(self) -> tuple[IntArray, IntArray]:
        if self.task_class is None or self.worker_class is None:
            raise InputError("this typed problem was stated by class: it has no pairs to lift to")
        return self.task_class, self.worker_class


@dataclass(frozen=True, eq=False)
class MergedProblem:
    """A problem stated by class, its equal classes counted as one, and the way back.

    Attributes
    ----------
    original, problem
        The problem as it was stated, and merged.
    task_class, worker_class
        Shapes (T,) and (K,): the merged class of each class of the original.
    """

    original: TypedProblem
    problem: TypedProblem
    task_class: IntArray
    worker_class: IntArray

    def lift(self, counts: FloatArray) -> FloatArray:
        """Share the merged problem's counts among the original's classes, by their sizes."""
        sizes = self.problem.sizes
        share = np.divide(counts, sizes, out=np.zeros_like(counts), where=sizes > 0)
        return share[np.ix_(self.task_class, self.worker_class)] * self.original.sizes

    def lift_tasks(self, weights: FloatArray) -> FloatArray:
        """Give each task class of the original the dual value of its merged class."""
        return weights[self.task_class]

    def lift_workers(self, prices: FloatArray) -> FloatArray:
        """Give each worker class of the original the dual value of its merged class."""
        return prices[self.worker_class]


@dataclass(frozen=True, eq=False)
class SelectionProblem:
    """Which workers to hire: the set S of 1 to K workers of the highest Σ_{i∈S} G_i / √|S|.

    With prices, the set's prices must add up to the money B at most.

    Attributes
    ----------
    gain
        G, shape (m,): what each worker adds; −∞ for who must not be hired.
    budget
        K, 1 or more: the most workers to hire.
    costs
        c, shape (m,), ≥ 0: the price of a label by each worker; None where prices play no part.
        A scalar stands for every worker.
    money
        B ≥ 0, in the unit of the prices: what one label by each hired worker may cost in all,
        which is the cost of a task that all of them label. Given when, and only when, `costs` is.

    Raises
    ------
    InputError
        For wrong shapes, NaN, infinity other than −∞ as a gain, values out of range.

    Examples
    --------
    >>> from crowd_models import SelectionProblem
    >>> SelectionProblem([0.4, 0.1, 0.3], budget=2).gain.tolist()
    [0.4, 0.1, 0.3]
    """

    gain: FloatArray
    budget: int
    costs: FloatArray | None = None
    money: float | None = None

    if TYPE_CHECKING:  # what may be given, where the fields say what is kept

        def __init__(
            self,
            gain: ArrayLike,
            budget: int,
            costs: ArrayLike | None = None,
            money: float | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        gain = _gains(self.gain)
        _freeze(self, "gain", gain)
        budget = _numbers("budget", self.budget)
        if budget.ndim or budget < 1 or budget != np.floor(budget):
            raise InputError(f"budget is {self.budget}: give a whole number, 1 or more")
        object.__setattr__(self, "budget", int(min(float(budget), 2.0**31 - 1)))
        if (self.costs is None) != (self.money is None):
            given, missing = ("money", "costs") if self.costs is None else ("costs", "money")
            raise InputError(f"{given} without {missing}: give both, or neither")
        if self.costs is not None and self.money is not None:
            costs = _numbers("costs", self.costs)
            costs = np.full(len(gain), costs) if costs.ndim == 0 else costs
            _freeze(self, "costs", _costs(costs, (len(gain),), "costs", "worker"))
            money = _numbers("money", self.money)
            if money.ndim or not 0 <= money <= LARGEST_PRICE:
                raise InputError(
                    f"money is {self.money}: give a number from 0 to {LARGEST_PRICE:g}"
                )
            object.__setattr__(self, "money", float(money))

    @property
    def limit(self) -> float:
        """What prices may add up to: the money, and rounding; infinite without prices."""
        return math.inf if self.money is None else self.money * (1 + MONEY_ROUNDING)

    @cached_property
    def hireable(self) -> IntArray:
        """Workers who may be hired: a gain above −∞, and a price within the money."""
        may = self.gain > -np.inf
        return np.flatnonzero(may if self.costs is None else may & (self.costs <= self.limit))

    @cached_property
    def largest(self) -> int:
        """Size of the largest set that may be hired; every smaller size exists as well."""
        most = min(self.budget, len(self.hireable))
        if self.costs is None:
            return most
        cheapest = np.sort(self.costs[self.hireable])[:most].tolist()
        return max(
            (k for k in range(1, most + 1) if math.fsum(cheapest[:k]) <= self.limit), default=0
        )

    def nobody(self) -> str:
        """Why no worker can be hired, and the mend, in one line; empty when one can."""
        if len(self.hireable):
            return ""
        may = self.gain > -np.inf
        if self.costs is None or not may.any():
            return "no worker may be hired: every gain is −∞: let the workers answer more questions"
        least = float(self.costs[may].min())
        return (
            f"the money, {self.money:.12g}, buys no label: the cheapest costs {least:.12g}: "
            "give that much or more"
        )


def price_step(prices: FloatArray) -> float:
    """Largest number that all prices are multiples of but for rounding; 0 where there is none.

    It is found from their shares of the highest, and is the same in every unit of money.
    """
    positive = np.unique(prices[prices > 0])
    if not len(positive):
        return 0.0
    highest = float(positive[-1])
    steps = 1
    for share in (positive / highest).tolist():
        near = Fraction(share).limit_denominator(MOST_PRICE_STEPS)
        if abs(share - near) > PRICE_ROUNDING or near == 0:
            return 0.0
        steps = math.lcm(steps, near.denominator)
        if steps > MOST_PRICE_STEPS:
            return 0.0
    return highest / steps


def _shortfall(quality: FloatArray, available: BoolArray | None, need: FloatArray) -> FloatArray:
    reachable: FloatArray = (quality if available is None else quality * available).sum(axis=1)
    # A sum of m rounded terms may fall short of an exactly met requirement by rounding alone.
    return need * (1 - 1e-12) - reachable * (1 + 1e-12)


def _merge(columns: list[NDArray[Any]]) -> tuple[IntArray, IntArray]:
    table = np.ascontiguousarray(np.hstack([np.asarray(c, dtype=np.float64) for c in columns]))
    table += 0.0  # −0.0 and 0.0 are the same value and must be the same bytes
    row = np.dtype((np.void, table.dtype.itemsize * table.shape[1]))
    _, first, inverse = np.unique(table.view(row).ravel(), return_index=True, return_inverse=True)
    # Classes in order of first appearance, so that permuting equal rows changes nothing.
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse.ravel()]


def _added(counts: IntArray, kind: IntArray) -> IntArray:
    """Counts added up by kind."""
    total = np.zeros(int(kind.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(total, kind, counts)
    return total


def _freeze(owner: object, name: str, value: NDArray[Any] | None) -> None:
    if value is not None:
        value = value.view()
        value.flags.writeable = False
    object.__setattr__(owner, name, value)


def _place(at: tuple[Any, ...]) -> str:
    return f"[{', '.join(str(int(k)) for k in at)}]" if at else ""


def _numbers(name: str, value: ArrayLike, *, lowest: float | None = None) -> FloatArray:
    try:
        # A copy: the caller's array may change later, a checked problem may not.
        array = np.array(value)
        array = array.astype(
            np.float64, casting="unsafe" if array.dtype.kind == "O" else "same_kind"
        )
    except (TypeError, ValueError):
        raise InputError(
            f"{name} is not an array of numbers: give numbers only, rows of equal length"
        ) from None
    fine = np.isfinite(array) if lowest is None else np.isfinite(array) | (array == lowest)
    wrong = np.argwhere(~fine)
    if len(wrong):
        at = tuple(wrong[0])
        what = "NaN" if math.isnan(array[at]) else "infinite"
        raise InputError(f"{name}{_place(at)} is {what}: give a finite number")
    return array


def _quality(value: ArrayLike) -> FloatArray:
    array = _numbers("quality", value)
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(
            f"quality has shape {array.shape}: give a matrix of at least one task and one worker"
        )
    wrong = np.argwhere((array < 0) | (array > 1))
    if wrong.size:
        at = tuple(wrong[0])
        raise InputError(
            f"quality{_place(at)} is {array[at]:g}: a quality (2p−1)² lies between 0 and 1"
        )
    return array


def _counts(name: str, value: ArrayLike, length: int, owner: str) -> IntArray:
    array = _numbers(name, value)
    array = np.full(length, array) if array.ndim == 0 else array
    if array.shape != (length,):
        raise InputError(
            f"{name} has shape {array.shape}: give one number, or one for each {owner} ({length})"
        )
    wrong = np.flatnonzero((array < 0) | (array != np.floor(array)))
    if wrong.size:
        raise InputError(
            f"{name}[{wrong[0]}] is {array[wrong[0]]:g}: give a whole number, 0 or more"
        )
    return np.minimum(array, 2**31 - 1).astype(np.int64)


def _requirements(value: ArrayLike, length: int) -> FloatArray:
    array = _numbers("requirement", value)
    array = np.full(length, array) if array.ndim == 0 else array
    if array.shape != (length,):
        raise InputError(
            f"requirement has shape {array.shape}: give one number, or one for each task ({length})"
        )
    wrong = np.flatnonzero(array < 0)
    if wrong.size:
        raise InputError(f"requirement[{wrong[0]}] is {array[wrong[0]]:g}: give 0 or more")
    wrong = np.flatnonzero(array > LARGEST_REQUIREMENT)
    if wrong.size:
        raise InputError(
            f"requirement[{wrong[0]}] is {array[wrong[0]]:g}: give at most "
            f"{LARGEST_REQUIREMENT:g} (2 ln(1/ε) stays below 1500)"
        )
    return array


def _costs(
    value: ArrayLike | None, shape: tuple[int, ...], name: str = "cost", owner: str = "pair"
) -> FloatArray | None:
    if value is None:
        return None
    array = _numbers(name, value)
    if array.shape != shape:
        raise InputError(
            f"{name} has shape {array.shape}: give one price for each {owner}, {shape}"
        )
    wrong = np.argwhere(array < 0)
    if wrong.size:
        at = tuple(wrong[0])
        raise InputError(f"{name}{_place(at)} is {array[at]:g}: a price is 0 or more")
    wrong = np.argwhere(array > LARGEST_PRICE)
    if wrong.size:
        at = tuple(wrong[0])
        raise InputError(
            f"{name}{_place(at)} is {array[at]:g}: give at most {LARGEST_PRICE:g}, in a larger unit"
        )
    return array


def _gains(value: ArrayLike) -> FloatArray:
    array = _numbers("gain", value, lowest=-math.inf)
    if array.ndim != 1 or not len(array):
        raise InputError(f"gain has shape {array.shape}: give one number for each worker")
    wrong = np.flatnonzero((np.abs(array) > LARGEST_PRICE) & (array > -math.inf))
    if len(wrong):
        raise InputError(
            f"gain[{wrong[0]}] is {array[wrong[0]]:g}: give at most {LARGEST_PRICE:g} either way"
        )
    return array


def _mask(value: ArrayLike | None, shape: tuple[int, int]) -> BoolArray | None:
    if value is None:
        return None
    array = _numbers("available", value)
    if array.shape != shape:
        raise InputError(
            f"available has shape {array.shape}: give true or false for each pair, {shape}"
        )
    wrong = np.argwhere((array != 0) & (array != 1))
    if wrong.size:
        at = tuple(wrong[0])
        raise InputError(f"available{_place(at)} is {array[at]:g}: give true or false, 1 or 0")
    return np.equal(array, 1)
