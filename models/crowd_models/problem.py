"""The data of a problem: checked once, here, so that no model sees a NaN.

`AssignmentProblem` is who does which task, over pairs (task, worker). `TypedProblem` is the same
problem over pairs of classes: equal tasks are counted, equal workers are counted. Source: Ho,
Jabbari, Vaughan (2013), Sections 3 and 4.2; costs: Section 7. `SelectionProblem` is whom to hire.
Source: Li, Liu (2015), Section 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
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
LARGEST_COUNT = 2**31 - 1
"""Capacities and class sizes above it are cut: they bind no more."""
MONEY_ROUNDING = 1e-12
"""How far prices may add up to more than the money, relative: ten tenths are to cost one."""

MOST_PRICE_STEPS = 100_000
"""Cents up to a thousand: the highest price in steps that all prices are multiples of."""
PRICE_ROUNDING = 1e-15
"""How far a price's share of the highest may be off: decimal prices are rounded, and so is it."""

UNITS = {
    "hoeffding": "quality",
    "bhattacharyya": "quality in nats",
    "information": "quality in nats",
    "exact error": "quality in nats",
}
"""What qualities are by gain: see `crowd_models.gains`, and `.information` and `.exact_error`."""

_COUNT = (0.0, math.inf, "give a whole number, 0 or more")
_PRICE = (0.0, LARGEST_PRICE, f"a price is 0 or more, and at most {LARGEST_PRICE:g}")
_RANGES: dict[str, tuple[float, float, str]] = {
    "quality": (0.0, 1.0, "a quality (2p−1)² lies between 0 and 1"),
    "quality in nats": (0.0, 1e9, "a quality −ln(2√(p(1−p))) is 0 or more"),
    "skill": (0.0, 1.0, "a skill is the probability of a right label, from 0 to 1"),
    "epsilon": (0.0, 1.0, "the error must lie strictly between 0 and 1"),
    "capacity": _COUNT,
    "tasks": _COUNT,
    "workers": _COUNT,
    "requirement": (
        0.0,
        LARGEST_REQUIREMENT,
        f"give 0 or more, at most {LARGEST_REQUIREMENT:g} (2 ln(1/ε) stays below 1500)",
    ),
    "cost": _PRICE,
    "costs": _PRICE,
    "money": (0.0, LARGEST_PRICE, f"give a number from 0 to {LARGEST_PRICE:g}"),
    "available": (0.0, 1.0, "give true or false, 1 or 0"),
    "least": _COUNT,
    "most": _COUNT,
    "recorded": _COUNT,
    "gain": (-LARGEST_PRICE, LARGEST_PRICE, f"give at most {LARGEST_PRICE:g} either way"),
    "budget": (1.0, math.inf, "give a whole number, 1 or more"),
}
_WHOLE = ("capacity", "tasks", "workers", "available", "budget", "least", "most", "recorded")


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
    return -2.0 * np.log(checked("epsilon", epsilon))


class CoverProblem:
    """What both statements of the assignment problem share: pairs, prices, right-hand sides."""

    quality: FloatArray
    capacity: IntArray
    requirement: FloatArray
    tasks: IntArray
    workers: IntArray
    cost: FloatArray | None
    available: BoolArray | None
    gain: str
    least: IntArray | None = None
    most: IntArray | None = None
    recorded: IntArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Give the fields alone: what was worked out from them would make messages long."""
        given = fields(self)  # type: ignore[arg-type]  # of the dataclasses below
        return {each.name: getattr(self, each.name) for each in given}

    def _check(self, owner: str) -> None:
        """Check the fields, and keep copies that nobody can change."""
        if self.gain not in UNITS:
            raise InputError(f"gain is {self.gain!r}: give {' or '.join(UNITS)}")
        quality = checked(UNITS[self.gain], self.quality)
        if quality.ndim != 2 or 0 in quality.shape:
            raise InputError(
                f"quality has shape {quality.shape}: give a matrix of at least one task and one "
                "worker"
            )
        n, m = quality.shape
        each = {"capacity": (m, f"worker{owner}"), "requirement": (n, "task")}
        if owner:
            each |= {"tasks": (n, f"task{owner}"), "workers": (m, f"worker{owner}")}
        kept: dict[str, Any] = {"quality": quality}
        for name, (length, who) in each.items():
            mend = f"give one number, or one for each {who} ({length})"
            kept[name] = checked(name, getattr(self, name), (length,), mend)
            if name != "requirement":
                kept[name] = np.minimum(kept[name], LARGEST_COUNT).astype(np.int64)
        if self.cost is not None:
            mend = f"give one price for each pair, {n, m}"
            kept["cost"] = checked("cost", self.cost, (n, m), mend)
        if self.available is not None:
            mend = f"give true or false for each pair, {n, m}"
            kept["available"] = checked("available", self.available, (n, m), mend) == 1
        if self.recorded is not None:
            mend = f"give a number of labels for each pair, {n, m}"
            kept["recorded"] = checked("recorded", self.recorded, (n, m), mend).astype(np.int64)
        for name, value in kept.items():
            freeze(self, name, value)

    @property
    def shape(self) -> tuple[int, int]:
        """How many tasks, how many workers: (n, m); or classes of them, (T, K)."""
        n, m = self.quality.shape
        return n, m

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """Task and worker (or class) of every variable, task by task: the available pairs."""
        if self.available is None:
            n, m = self.shape
            return np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
        tasks, workers = np.nonzero(self.available)
        return tasks, workers

    @cached_property
    def prices(self) -> FloatArray:
        """c as a matrix: ones, in the room of one, where no cost was given."""
        return np.broadcast_to(np.ones(()), self.shape) if self.cost is None else self.cost

    @cached_property
    def mask(self) -> BoolArray:
        """Which pairs may be assigned, as a matrix."""
        every = np.broadcast_to(np.ones((), dtype=bool), self.shape)
        return every if self.available is None else self.available

    @property
    def highest_price(self) -> float:
        """Highest price of an available pair; 0 where there is none."""
        return float(self.prices[self.pairs].max(initial=0.0))

    @property
    def supply(self) -> FloatArray:
        """Right-hand side of the capacity constraints: M, or m_k M_k."""
        return (self.workers * self.capacity).astype(np.float64)

    @property
    def demand(self) -> FloatArray:
        """Right-hand side of the cover constraints: C, or n_τ C_τ."""
        return self.tasks * self.requirement

    @cached_property
    def sizes(self) -> FloatArray:
        """How many pairs (task, worker) each pair stands for: ones, or n_τ m_k by class."""
        if (self.tasks == 1).all() and (self.workers == 1).all():
            return np.broadcast_to(np.ones(()), self.shape)
        return np.outer(self.tasks, self.workers).astype(np.float64)

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

    def matrix(self, pairs: FloatArray) -> FloatArray:
        """Values by available pair as a matrix, 0 elsewhere."""
        values = np.zeros(self.shape)
        values[self.pairs] = pairs
        return values

    def uncoverable(self) -> IntArray:
        """Tasks (or classes of them) that even all available workers together cannot cover."""
        reachable = (self.quality * self.workers * self.mask).sum(axis=1)
        # A sum of m rounded terms may fall short of an exactly met requirement by rounding alone.
        short = self.requirement * (1 - 1e-12) > reachable * (1 + 1e-12)
        return np.flatnonzero(short & (self.tasks > 0))


@dataclass(frozen=True, eq=False)
class AssignmentProblem(CoverProblem):
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
    gain
        What quality and requirement are: "hoeffding", the paper's, or "bhattacharyya", in nats
        (`crowd_models.gains`).
    least, most
        Shape (n,), or one for all: fewest and most labels of a task; None for no limit. Of the
        integer program alone.
    recorded
        Shape (n, m): labels that a task has, which vote too and count toward no limit. For the gain
        "exact error" alone.
    tasks, workers
        Ones, shapes (n,) and (m,): each stands for itself.

    Raises
    ------
    InputError
        For wrong shapes, NaN, infinity, values out of range, a least number above the most.

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
    gain: str = "hoeffding"
    least: IntArray | None = None
    most: IntArray | None = None
    recorded: IntArray | None = None
    tasks: IntArray = field(init=False, repr=False)
    workers: IntArray = field(init=False, repr=False)

    if TYPE_CHECKING:  # what may be given, where the fields say what is kept

        def __init__(
            self,
            quality: ArrayLike,
            capacity: ArrayLike,
            requirement: ArrayLike,
            cost: ArrayLike | None = None,
            available: ArrayLike | None = None,
            task_types: ArrayLike | None = None,
            gain: str = "hoeffding",
            least: ArrayLike | None = None,
            most: ArrayLike | None = None,
            recorded: ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        self._check("")
        n, m = self.shape
        check_label_limits(self, n)
        freeze(self, "tasks", np.ones(n, dtype=np.int64))
        freeze(self, "workers", np.ones(m, dtype=np.int64))
        if self.task_types is not None:
            types = np.array(self.task_types)
            if types.shape != (n,):
                raise InputError(
                    f"task_types has shape {types.shape}: give one type for each of {n} tasks"
                )
            freeze(self, "task_types", types)

    @cached_property
    def typed(self) -> TypedProblem:
        """The same problem with its equal tasks and its equal workers counted."""
        return TypedProblem.of(self)

    @cached_property
    def alone(self) -> TypedProblem:
        """The same problem by class where each task and each worker is a class by itself."""
        n, m = self.shape
        return TypedProblem(
            self.quality,
            self.capacity,
            self.requirement,
            self.tasks,
            self.workers,
            self.cost,
            self.available,
            np.arange(n),
            np.arange(m),
            self.gain,
            self.least,
            self.most,
            self.recorded,
        )

    @property
    def limited(self) -> bool:
        """Whether the number of labels of a task has limits."""
        return self.least is not None or self.most is not None

    def uncoverable(self) -> IntArray:
        """Tasks that even their best workers cannot cover, or who are too few for them."""
        if not self.limited:
            return super().uncoverable()
        able = self.mask & (self.capacity > 0)
        best = np.cumsum(-np.sort(-self.quality * able, axis=1), axis=1)
        few, many = label_limits(self)
        reach = np.where(many > 0, best[np.arange(len(best)), np.maximum(many, 1) - 1], 0.0)
        short = self.requirement * (1 - 1e-12) > reach * (1 + 1e-12)
        return np.flatnonzero(short | (few > able.sum(axis=1)))

    def keep_tasks(self, keep: ArrayLike) -> AssignmentProblem:
        """Return the same problem for some of its tasks only (indices or a mask)."""
        rows = np.asarray(keep)
        names = ["quality", "requirement", "cost", "available", "task_types", "least", "most"]
        names.append("recorded")
        kept: dict[str, Any] = {"capacity": self.capacity, "gain": self.gain}
        for name in names:
            part = getattr(self, name)
            kept[name] = None if part is None else part[rows]
        return AssignmentProblem(**kept)


@dataclass(frozen=True, eq=False)
class TypedProblem(CoverProblem):
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
    gain
        As for `AssignmentProblem`.
    task_class, worker_class
        Shapes (n,) and (m,): class of each task and worker, or None.
    least, most
        Fewest and most labels of each single task of a class, shape (T,), or None. The relaxation
        does not know them, patterns do.
    recorded
        Labels that each single task of a class has already, shape (T, K), or None.

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
    gain: str = "hoeffding"
    least: IntArray | None = None
    most: IntArray | None = None
    recorded: IntArray | None = None

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
            gain: str = "hoeffding",
            least: ArrayLike | None = None,
            most: ArrayLike | None = None,
            recorded: ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        self._check(" class")
        check_label_limits(self, self.shape[0])

    @property
    def limited(self) -> bool:
        """Whether the number of labels of a task has limits."""
        return self.least is not None or self.most is not None

    def label_limits(self, task_class: int) -> tuple[int, int]:
        """Fewest and most labels of a task of a class; everybody where there is no limit."""
        everybody = int(self.workers.sum())
        return (
            0 if self.least is None else int(self.least[task_class]),
            everybody if self.most is None else min(int(self.most[task_class]), everybody),
        )

    @classmethod
    def of(cls, problem: CoverProblem) -> TypedProblem:
        """Count the equal tasks and the equal workers of a problem, or its equal classes."""
        rows: list[NDArray[Any]] = [problem.quality, problem.requirement[:, None]]
        columns: list[NDArray[Any]] = [
            problem.quality.T,
            np.minimum(problem.capacity, problem.tasks.sum())[:, None],
        ]
        for matrix in (problem.cost, problem.available):
            if matrix is not None:
                rows.append(matrix)
                columns.append(matrix.T)
        limits = {name: getattr(problem, name, None) for name in ("least", "most")}
        rows += [limit[:, None] for limit in limits.values() if limit is not None]
        if problem.recorded is not None:
            rows.append(problem.recorded)
        first_task, task_class = _equal_rows(rows)
        first_worker, worker_class = _equal_rows(columns)
        at = np.ix_(first_task, first_worker)
        recorded = None
        if problem.recorded is not None:
            recorded = np.zeros((len(first_worker), len(first_task)), dtype=np.int64)
            np.add.at(recorded, worker_class, problem.recorded[first_task].T)
        return cls(
            problem.quality[at],
            problem.capacity[first_worker],
            problem.requirement[first_task],
            _added(problem.tasks, task_class),
            _added(problem.workers, worker_class),
            None if problem.cost is None else problem.cost[at],
            None if problem.available is None else problem.available[at],
            task_class,
            worker_class,
            problem.gain,
            **{n: None if limit is None else limit[first_task] for n, limit in limits.items()},
            recorded=None if recorded is None else recorded.T,
        )

    @property
    def typed(self) -> TypedProblem:
        """The problem itself, which is stated by class."""
        return self

    def with_shortfall(self, price: float) -> TypedProblem:
        """The same problem where cover may fall short, at a price a unit of requirement.

        Shortfall is bought from one further worker class, the last column, of quality 1 and of
        capacity for every task. So the result always has a solution, and no task weight exceeds
        `price`.
        """
        one = (self.shape[0], 1)
        # One more than can be needed: a column at its bound would let the weight rise.
        most = int(np.ceil(self.requirement).max(initial=0.0)) + 1
        return TypedProblem(
            np.hstack([self.quality, np.ones(one)]),
            np.append(self.capacity, self.tasks.sum()),
            self.requirement,
            self.tasks,
            np.append(self.workers, most),
            np.hstack([self.prices, np.full(one, price)]),
            np.hstack([self.mask, np.ones(one, dtype=bool)]),
            gain=self.gain,
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


Problem = AssignmentProblem | TypedProblem


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
        c, shape (m,), ≥ 0: the price of a label by each worker. A scalar stands for every worker.
    money
        B ≥ 0, in the unit of the prices: what a task may cost that all the hired label. Given when,
        and only when, `costs` is.

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
        gain = checked("gain", self.gain)
        if gain.ndim != 1 or not len(gain):
            raise InputError(f"gain has shape {gain.shape}: give one number for each worker")
        freeze(self, "gain", gain)
        budget = checked("budget", self.budget, (), "give a whole number, 1 or more")
        object.__setattr__(self, "budget", int(min(float(budget), LARGEST_COUNT)))
        if (self.costs is None) != (self.money is None):
            present, absent = ("money", "costs") if self.costs is None else ("costs", "money")
            raise InputError(f"{present} without {absent}: give both, or neither")
        if self.costs is not None and self.money is not None:
            mend = f"give one price for each worker, {gain.shape}"
            freeze(self, "costs", checked("costs", self.costs, gain.shape, mend))
            money = checked("money", self.money, (), "give one number")
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


def label_limits(problem: Any) -> tuple[IntArray, IntArray]:
    """Fewest and most labels of each task (or of one of a class), shape (n,): 0 and m without."""
    n, m = problem.shape
    least, most = problem.least, problem.most
    return (
        np.zeros(n, dtype=np.int64) if least is None else least,
        np.full(n, m) if most is None else np.minimum(most, m),
    )


def check_label_limits(problem: Any, tasks: int) -> None:
    """Check the fields `least` and `most` of a problem, and keep copies nobody can change.

    Raises
    ------
    InputError
        Not whole numbers from 0 on, or more at least than at most.
    """
    for name in ("least", "most"):
        if (limit := getattr(problem, name)) is not None:
            mend = f"give one number, or one for each task ({tasks})"
            freeze(problem, name, checked(name, limit, (tasks,), mend).astype(np.int64))
    if problem.least is not None and problem.most is not None:
        wrong = np.flatnonzero(problem.least > problem.most)
        if len(wrong):
            i = int(wrong[0])
            raise InputError(
                f"least[{i}] is {problem.least[i]}, above most[{i}], {problem.most[i]}: let the "
                "least be no more than the most"
            )


def checked(
    name: str, value: ArrayLike, shape: tuple[int, ...] | None = None, mend: str = ""
) -> FloatArray:
    """Copy an array of numbers, all in the range that goes with their name.

    Parameters
    ----------
    shape
        What it must have; for a vector, a scalar stands for all. None for any.
    mend
        What to give, where the shape is another.

    Raises
    ------
    InputError
        No numbers, another shape; NaN, infinity (but −∞ as a gain) or a value out of range.
    """
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
    low, high, rule = _RANGES[name]
    fine = (array >= low) & (array <= high) & np.isfinite(array)
    if name in _WHOLE:
        fine &= array == np.floor(array)
    if name == "epsilon":
        fine &= (array > low) & (array < high)
    if name == "gain":
        fine |= array == -math.inf
    if not fine.all():
        at = tuple(int(k) for k in np.argwhere(~fine)[0])
        place = f"{name}[{', '.join(map(str, at))}]" if at else name
        if np.isfinite(array[at]):
            raise InputError(f"{place} is {array[at]:g}: {rule}")
        what = "NaN" if math.isnan(array[at]) else "infinite"
        raise InputError(f"{place} is {what}: give a finite number")
    if shape is not None and len(shape) == 1 and array.ndim == 0:
        return np.full(shape, array)
    if shape is not None and array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}: {mend}")
    return array


def _equal_rows(columns: list[NDArray[Any]]) -> tuple[IntArray, IntArray]:
    """First row of each kind, and the kind of each row, of a table given by its columns.

    Kinds are in order of first appearance, so that permuting equal rows changes nothing.
    """
    table = np.hstack([_row_bytes(column) for column in columns])
    kinds: dict[bytes, int] = {}
    kind = [kinds.setdefault(row.tobytes(), len(kinds)) for row in table]
    every = np.array(kind, dtype=np.int64)
    return np.unique(every, return_index=True)[1], every


def _row_bytes(column: NDArray[Any]) -> NDArray[np.uint8]:
    """Rows as bytes that are the same where the values are: −0.0 and 0.0 are the same value."""
    if column.dtype == np.bool_:
        return np.ascontiguousarray(column).view(np.uint8)
    return np.ascontiguousarray(column.astype(np.float64) + 0.0).view(np.uint8)


def _added(counts: IntArray, kind: IntArray) -> IntArray:
    """Counts added up by kind."""
    total = np.zeros(int(kind.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(total, kind, counts)
    return total


def freeze(owner: object, name: str, value: NDArray[Any]) -> None:
    """Keep an array as a field of a frozen dataclass, so that nobody can change it."""
    value.flags.writeable = False
    object.__setattr__(owner, name, value)
