"""The information limit: the least that any policy pays in expectation, whatever it looks at.

A policy asks worker j about task i or not, by all answers so far, and names a class in the end.
Let N_ij be 1 where it asks. If it errs on task i with probability ε_i at most, two classes being
equally likely and labels independent given the true one, then

    Σ_j E[N_ij] D_j ≥ d(ε_i),   D = (2p − 1) ln(p/(1 − p)),   d(ε) = (1 − 2ε) ln((1 − ε)/ε):

the answers must tell the classes apart as well as the named class does (data processing), and
what they tell adds up over the labels asked for (Wald 1945, "Sequential tests of statistical
hypotheses"). With the capacities this is a cover problem once more: its relaxation is a lower
bound on the expected cost of every policy, adaptive or not, even one that knows all skills.

Where only the mean of the errors is ε, the ε_i are variables; d is convex, so its tangents say
all of it, and tasks of one class may have one error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from crowd_models.gains import MOST
from crowd_models.problem import TypedProblem, checked
from workbench.base.arrays import FloatArray

if TYPE_CHECKING:
    # Pyomo takes two seconds to import, and the limit by task needs none of it.
    import pyomo.environ as pyo


def information(skill: ArrayLike) -> FloatArray:
    """D, in nats, by skill p, any shape: what a label tells the two classes apart by.

    It ends at 50: a label of skill 1 is taken for one that errs once in 10²¹, which changes no
    error by more.
    """
    p = checked("skill", skill)
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = (2.0 * p - 1.0) * (np.log(p) - np.log1p(-p))
    ended: FloatArray = np.minimum(nats, MOST)
    return ended


def needed_information(epsilon: ArrayLike) -> FloatArray:
    """d(ε), in nats, any shape; from ε = ½ on nothing is needed."""
    e = np.minimum(checked("epsilon", epsilon), 0.5)
    need: FloatArray = (1.0 - 2.0 * e) * (np.log1p(-e) - np.log(e))
    return need


def tangents(points: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Slope and value at ε = 0 of the tangents of d at points in (0, ½], shapes as given."""
    e = np.minimum(checked("epsilon", points), 0.5)
    slope = -2.0 * (np.log1p(-e) - np.log(e)) - (1.0 - 2.0 * e) / (e * (1.0 - e))
    return slope, needed_information(e) - slope * e


def information_problem(
    skill: ArrayLike,
    capacity: ArrayLike,
    tasks: ArrayLike,
    epsilon: ArrayLike,
    cost: ArrayLike | None = None,
    available: ArrayLike | None = None,
    workers: ArrayLike = 1,
) -> TypedProblem:
    """The cover problem of D and d(ε), its equal tasks and equal workers counted.

    Parameters
    ----------
    skill
        p, shape (T, K), by type of task and worker (or class of equal workers).
    capacity
        M, shape (K,): the most tasks a worker takes.
    tasks, workers
        Tasks of each type (T,) and workers of each class (K,); one number stands for all.
    epsilon
        Error of each task, shape (T,) or one number.
    cost, available
        Price of a label and who may give it, shape (T, K); None for 1, and all.

    Raises
    ------
    InputError
        Numbers out of range, or shapes that do not fit.
    """
    nats, need = information(skill), needed_information(epsilon)
    problem = TypedProblem(
        nats, capacity, need, tasks, workers, cost, available, gain="information"
    )
    return TypedProblem.of(problem)


def average_limit(problem: TypedProblem, epsilon: float, points: FloatArray) -> pyo.ConcreteModel:
    """The least expected cost of any policy whose *mean* error is at most ε.

    Minimise Σ c_τk Y_τk subject to Σ_τ Y_τk ≤ m_k M_k; to the tangent of d at each point e of each
    task class, Σ_k D_τk Y_τk − d′(e) E_τ ≥ n_τ (d(e) − e d′(e)), where the class makes E_τ errors;
    to Σ_τ E_τ ≤ n ε. Tangents at the ε_τ of the optimum make it exact.

    Parameters
    ----------
    problem
        Of `information_problem`; its requirement is not looked at.
    points
        Where the tangents touch, shape (R, T), in (0, ½].

    Returns
    -------
    ConcreteModel
        Components `y[τ, k]`, `errors[τ]` (E, at most n_τ/2), `capacity[k]`, `cover[r, τ]`, `mean`,
        `cost`.
    """
    import pyomo.environ as pyo

    from crowd_models.assignment import capacity_constraints, cost_objective, linear
    from crowd_models.typed import count_variables

    model = pyo.ConcreteModel(name="information limit")
    count_variables(model, problem)
    tasks, nats = problem.tasks.tolist(), problem.quality.tolist()
    classes = range(problem.shape[0])
    slope, start = (part.tolist() for part in tangents(points))
    model.errors = pyo.Var(classes, bounds=lambda _, t: (0.0, tasks[t] / 2))
    capacity_constraints(model, problem)

    def cover(model: pyo.ConcreteModel, r: int, t: int) -> Any:
        own = [k for i, k in model.pairs if i == t]
        left = linear(
            [*(nats[t][k] for k in own), -slope[r][t]],
            [*(model.y[t, k] for k in own), model.errors[t]],
        )
        return (tasks[t] * start[r][t], left, None)

    model.cover = pyo.Constraint(range(len(points)), classes, rule=cover)
    every = list(model.errors.values())
    most = float(sum(tasks)) * epsilon
    model.mean = pyo.Constraint(expr=linear([1.0] * len(every), every) <= most)
    cost_objective(model, problem)
    return model
