"""Ratings on a scale: their precisions add, so that a promise on their error is a cover.

Worker j rates task i by y_ij = a_j + g_j (B z_i + c_i) + e_ij: z_i is the truth, of variance τ²
over the tasks, a_j her level, g_j her gain (1 for a worker like all), and c_i what all who rate the
task are off together, of variance A, the floor. A rating of hers has the precision
p_j = g_j² / Var e_ij. Ratings of precision P = Σ p_j together tell z_i up to

    E(ẑ_i − z_i)² = 1 / (1/τ² + B² / (A + 1/P)),

by the posterior mean ẑ. With 1/e² = 1/ε² − 1/τ² that is at most ε² exactly where

    Σ_j p_j y_ij ≥ C = 1 / (B² e² − A),

constraint (2) of Ho, Jabbari, Vaughan (2013) with precisions in place of qualities: their integer
program, its bounds and its proofs are taken as they are. Where B² e² ≤ A no number of ratings is
enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from crowd_models.assignment import offline_ip
from crowd_models.problem import AssignmentProblem
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError


@dataclass(frozen=True)
class RatingTerms:
    """What is known of the ratings of a task, but for who gives them.

    Attributes
    ----------
    slope
        B: by how much a rating rises with the truth, above 0.
    floor
        A: variance of what all who rate a task are off together, 0 or more.
    variance
        τ²: variance of the truth over the tasks, above 0.

    Raises
    ------
    InputError
        One of them is out of range.
    """

    slope: float
    floor: float
    variance: float

    def __post_init__(self) -> None:
        for name, value, least in (
            ("slope", self.slope, "above 0"),
            ("variance", self.variance, "above 0"),
            ("floor", self.floor, "0 or more"),
        ):
            low = value >= 0 if name == "floor" else value > 0
            if not (math.isfinite(value) and low):
                raise InputError(f"{name} is {value:g}: give a number {least}")

    def error(self, precision: ArrayLike) -> FloatArray:
        """Root mean square error of the posterior mean, of ratings of this precision together."""
        total = np.asarray(precision, dtype=np.float64)
        information = self.slope**2 * total / (1.0 + self.floor * total)
        return np.asarray(1.0 / np.sqrt(1.0 / self.variance + information))

    @property
    def least(self) -> float:
        """What error is left however many rate a task."""
        if self.floor == 0:
            return 0.0
        return 1.0 / math.sqrt(1.0 / self.variance + self.slope**2 / self.floor)

    def requirement(self, epsilon: float) -> float:
        """Give C: the precision that keeps a root mean square error of ε, 0 from τ on.

        Raises
        ------
        InputError
            ε is not above 0, or no number of ratings keeps it.
        """
        if not epsilon > 0:
            raise InputError(f"epsilon is {epsilon:g}: give a root mean square error above 0")
        if epsilon**2 >= self.variance:
            return 0.0
        squared = epsilon**2 * self.variance / (self.variance - epsilon**2)  # e²
        spare = self.slope**2 * squared - self.floor
        if spare <= 0:
            raise InputError(
                f"epsilon is {epsilon:.4g}: no number of ratings keeps it, for all who rate a task "
                f"are off together, and that alone makes {self.least:.4g}; ask for more"
            )
        return 1.0 / spare


def ratings_problem(
    precision: ArrayLike,
    terms: RatingTerms,
    epsilon: float,
    capacity: ArrayLike,
    tasks: int,
    *,
    cost: ArrayLike | None = None,
    available: ArrayLike | None = None,
    recorded: ArrayLike | None = None,
) -> AssignmentProblem:
    """State the cover of ratings as the papers' problem, qualities being p_j / max p.

    Parameters
    ----------
    precision
        p, shape (m,), 0 or more.
    terms
        Slope, floor and variance.
    epsilon
        Root mean square error each task may have, in points of the scale.
    capacity
        Most tasks a worker rates, shape (m,) or one for all.
    tasks
        How many there are, n.
    cost, available
        Shape (n, m), as in `AssignmentProblem`.
    recorded
        Precision of the ratings that a task has already, shape (n,).

    Raises
    ------
    InputError
        No number of ratings keeps ε, or no worker tells anything.

    Examples
    --------
    >>> from crowd_models.ratings import RatingTerms, ratings_problem
    >>> terms = RatingTerms(slope=1.0, floor=0.0, variance=400.0)
    >>> problem = ratings_problem([0.02, 0.01], terms, 10.0, capacity=2, tasks=2)
    >>> problem.quality.tolist(), problem.requirement.round(3).tolist()
    ([[1.0, 0.5], [1.0, 0.5]], [0.375, 0.375])
    """
    known = np.asarray(precision, dtype=np.float64)
    top = float(known.max(initial=0.0))
    if not top > 0 or not np.isfinite(known).all():
        raise InputError("precision: no rating tells anything; give numbers, one above 0")
    asked = terms.requirement(epsilon) - np.broadcast_to(
        np.asarray(0.0 if recorded is None else recorded), (tasks,)
    )
    return AssignmentProblem(
        np.tile(known / top, (tasks, 1)),
        capacity,
        np.maximum(asked, 0.0) / top,
        cost,
        available,
    )


def ratings_cover(
    precision: ArrayLike,
    terms: RatingTerms,
    epsilon: float,
    capacity: ArrayLike,
    tasks: int,
    *,
    cost: ArrayLike | None = None,
    available: ArrayLike | None = None,
    recorded: ArrayLike | None = None,
) -> pyo.ConcreteModel:
    """The cover of ratings as a Pyomo model: the least cost that keeps ε on every task.

    It is the offline integer program, (1)–(3), of `ratings_problem`: qualities and requirements are
    in units of the largest precision, for solvers keep constraints to an absolute tolerance.
    Components: those of `offline_ip`. Parameters as of `ratings_problem`.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from crowd_models.ratings import RatingTerms, ratings_cover
    >>> terms = RatingTerms(slope=1.0, floor=0.0, variance=400.0)
    >>> model = ratings_cover([0.02, 0.01], terms, 10.0, capacity=2, tasks=2)
    >>> round(float(pyo.value(model.cover[0].lower)), 4)
    0.375
    """
    model = offline_ip(
        ratings_problem(
            precision,
            terms,
            epsilon,
            capacity,
            tasks,
            cost=cost,
            available=available,
            recorded=recorded,
        )
    )
    model.name = "cover of ratings"
    return model
