"""The sequential optimum: how many tasks follow each policy, at the least expected cost.

Two equally likely classes (`SequentialProblem`) or any (`SequentialClassProblem`), labels
independent given the true one, skills known. A policy of one
task asks, looks at the answer, asks again or stops; it may draw lots. It costs N_πk labels of
worker class k in the mean and errs with probability e_π. Labels on other tasks say nothing of a
task, so whatever a policy of all tasks does, what it does to one of them is such a policy, and the
least expected cost of all is a linear program over policies of single tasks:

    min Σ_π c_π x_π   s.t.  Σ_{π of t} x_π = n_t,  Σ_π N_πk x_π ≤ C_k,  Σ_{π of t} e_π x_π ≤ ε n_t.

Capacities hold in the mean, and a worker may be asked twice about a task: both only help, so that
the optimum is a lower bound on every policy. `workbench.solving.sequential` finds the columns.

Source: beyond the papers; Wald (1945) for one class of workers; Dantzig, Wolfe (1960).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from crowd_models.problem import checked
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError

if TYPE_CHECKING:
    import pyomo.environ as pyo

Promise = Literal["error", "mean", "posterior"]
"""`error`: each task is wrong at most ε of the time, where a policy may stop by lot. `mean`: ε of
all tasks are wrong in the mean. `posterior`: no task is closed before its posterior error is at
most ε."""
PROMISES: tuple[Promise, ...] = ("error", "mean", "posterior")


class SequentialTerms:
    """What problems of two classes and of several have in common: see `SequentialProblem`."""

    tasks: FloatArray
    supply: FloatArray
    epsilon: float
    cost: FloatArray | None
    promise: Promise

    def _check(self, shape: tuple[int, int]) -> None:
        """Fill in prices, and refuse what does not fit to so many types and worker classes."""
        sizes = {"tasks": (shape[:1], self.tasks), "supply": (shape[1:], self.supply)}
        for name, (size, values) in sizes.items():
            counts = np.asarray(values, dtype=np.float64)
            if counts.shape != size or not (np.isfinite(counts) & (counts >= 0)).all():
                raise InputError(f"{name}: give {size[0]} numbers, 0 or more, to {shape} skills")
            object.__setattr__(self, name, counts)
        prices = np.ones(shape) if self.cost is None else np.asarray(self.cost, dtype=np.float64)
        if prices.shape != shape or not (np.isfinite(prices) & (prices >= 0)).all():
            raise InputError(f"cost: give a price, 0 or more, for each of {shape} skills")
        if self.promise not in PROMISES:
            raise InputError(f"promise is {self.promise!r}: use one of {', '.join(PROMISES)}")
        object.__setattr__(self, "cost", prices)

    @property
    def prices(self) -> FloatArray:
        """Price of a label, shape (T, K)."""
        assert self.cost is not None
        return self.cost

    @property
    def error_rows(self) -> list[tuple[list[int], float]]:
        """Task types that share a budget of errors, and how many they may make together."""
        types = range(len(self.tasks))
        if self.promise == "posterior":
            return []
        if self.promise == "mean":
            return [(list(types), self.epsilon * float(self.tasks.sum()))]
        return [([t], self.epsilon * float(self.tasks[t])) for t in types]


@dataclass(frozen=True, eq=False)
class SequentialProblem(SequentialTerms):
    """Tasks by type, workers by class, and one promise.

    Attributes
    ----------
    skill
        p, shape (T, K), by task type and worker class; one below ½ is worth as much as 1 − p.
    tasks
        n, tasks of each type, shape (T,).
    supply
        C, labels that the workers of a class can give together, shape (K,).
    epsilon
        ε, in (0, ½).
    cost
        Price of a label, shape (T, K); 1 where none is given.
    promise
        One of `PROMISES`.

    Raises
    ------
    InputError
        Shapes that do not fit, numbers out of range.
    """

    skill: FloatArray
    tasks: FloatArray
    supply: FloatArray
    epsilon: float
    cost: FloatArray | None = None
    promise: Promise = "error"

    def __post_init__(self) -> None:
        skill = np.atleast_2d(checked("skill", self.skill))
        if not 0 < self.epsilon < 0.5:
            raise InputError(f"epsilon is {self.epsilon:g}: give a number above 0, below 0.5")
        self._check((skill.shape[0], skill.shape[1]))
        object.__setattr__(self, "skill", np.maximum(skill, 1.0 - skill))


@dataclass(frozen=True, eq=False)
class SequentialClassProblem(SequentialTerms):
    """The same of K classes, or of two that are not equally likely, or where errors differ.

    Attributes
    ----------
    confusion
        π(a|k), chance of each answer given the true class, by task type and worker class, shape
        (T, W, K, A).
    share
        Prior of the classes, shape (K,).
    tasks, supply, epsilon, cost
        As of `SequentialProblem`; ε below the error of naming the likeliest class unasked.
    promise
        `error` or `mean`.

    Raises
    ------
    InputError
        Shapes that do not fit, numbers out of range.
    """

    confusion: FloatArray
    share: FloatArray
    tasks: FloatArray
    supply: FloatArray
    epsilon: float
    cost: FloatArray | None = None
    promise: Promise = "error"

    def __post_init__(self) -> None:
        confusion = np.asarray(self.confusion, dtype=np.float64)
        share = np.asarray(self.share, dtype=np.float64)
        if confusion.ndim != 4 or not (confusion >= 0).all():
            raise InputError("confusion: give chances by type, worker class, true class, answer")
        if not np.allclose(confusion.sum(axis=3), 1.0, atol=1e-9):
            raise InputError("confusion: the answers' chances given a class must sum to 1")
        if share.shape != confusion.shape[2:3] or not (share >= 0).all():
            raise InputError(f"share: give a number, 0 or more, to {confusion.shape[2]} classes")
        if len(share) < 2 or abs(share.sum() - 1.0) > 1e-9:
            raise InputError("share: of two or more classes, summing to 1")
        if not 0 < self.epsilon < 1:
            raise InputError(f"epsilon is {self.epsilon:g}: give a number above 0, below 1")
        if self.promise == "posterior":
            raise InputError("promise: of several classes use error or mean")
        self._check((confusion.shape[0], confusion.shape[1]))
        object.__setattr__(self, "confusion", confusion)
        object.__setattr__(self, "share", share)


@dataclass(frozen=True, eq=False)
class TaskPolicy:
    """What one policy of a task does in the mean.

    Attributes
    ----------
    task_type
        t.
    labels
        N_πk, expected labels by worker class, shape (K,).
    error
        e_π, how often it ends at the wrong class.
    cost
        c_π, its expected cost.
    """

    task_type: int
    labels: FloatArray
    error: float
    cost: float

    @classmethod
    def of(
        cls, problem: SequentialTerms, task_type: int, labels: ArrayLike, error: float
    ) -> TaskPolicy:
        """Price a policy."""
        counts = np.asarray(labels, dtype=np.float64)
        return cls(task_type, counts, float(error), float(counts @ problem.prices[task_type]))


def policy_master(problem: SequentialTerms, policies: Sequence[TaskPolicy]) -> pyo.ConcreteModel:
    """How many tasks follow each policy, at the least cost.

    Minimise Σ_π c_π x_π subject to Σ_{π of t} x_π = n_t for every task type t, Σ_π N_πk x_π ≤ C_k
    for every worker class k, and Σ e_π x_π ≤ ε n over the types that share a budget of errors (one
    each, or all of them; none where the posterior is promised); x_π ≥ 0. Components: `count[π]`,
    `tasks[t]`, `capacity[k]`, `errors[r]`, `cost`.
    """
    import pyomo.environ as pyo

    from crowd_models.assignment import linear

    model = pyo.ConcreteModel(name="master over policies of a task")
    model.count = pyo.Var(range(len(policies)), domain=pyo.NonNegativeReals)

    def total(values: list[float]) -> Any:
        terms = [(a, model.count[i]) for i, a in enumerate(values) if a]
        return linear([a for a, _ in terms], [x for _, x in terms])

    def everybody(_: pyo.ConcreteModel, t: int) -> Any:
        own = [float(policy.task_type == t) for policy in policies]
        return total(own) == float(problem.tasks[t]) if any(own) else pyo.Constraint.Infeasible

    def capacity(_: pyo.ConcreteModel, k: int) -> Any:
        labels = [float(policy.labels[k]) for policy in policies]
        return total(labels) <= float(problem.supply[k]) if any(labels) else pyo.Constraint.Skip

    def errors(_: pyo.ConcreteModel, r: int) -> Any:
        types, budget = problem.error_rows[r]
        wrong = [policy.error if policy.task_type in types else 0.0 for policy in policies]
        return total(wrong) <= budget if any(wrong) else pyo.Constraint.Skip

    model.tasks = pyo.Constraint(range(len(problem.tasks)), rule=everybody)
    model.capacity = pyo.Constraint(range(len(problem.supply)), rule=capacity)
    model.errors = pyo.Constraint(range(len(problem.error_rows)), rule=errors)
    model.cost = pyo.Objective(expr=total([policy.cost for policy in policies]))
    return model
