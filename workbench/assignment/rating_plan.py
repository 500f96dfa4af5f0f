"""Who rates which task, so that every task's error keeps to ε: the cover of ratings, solved.

The program is `crowd_models.ratings`; what has been rated already counts, and is not asked again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowd_models.ratings import ratings_problem
from workbench.aggregation.ratings import RatingModel
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving import Solution, solve
from workbench.solving.claims import CostClaim


@dataclass(frozen=True, eq=False)
class RatingAssignment:
    """A plan of ratings, by index.

    Attributes
    ----------
    task, worker
        Of each rating to buy.
    error
        Root mean square error of each task, those on record included, shape (n,).
    solution
        The solved program.
    claim
        What is known of its cost.
    """

    task: IntArray
    worker: IntArray
    error: FloatArray
    solution: Solution
    claim: CostClaim


def assign_ratings(
    model: RatingModel,
    epsilon: float,
    capacity: IntArray,
    recorded: BoolArray,
    *,
    price: FloatArray | None = None,
    gap: float = 1e-3,
    time_limit: float = 30.0,
    seed: int = 0,
) -> RatingAssignment:
    """Find the cheapest plan that keeps ε on every task.

    Parameters
    ----------
    model
        What is known of the m workers; who has no rating of gold gets no task.
    epsilon
        Root mean square error, in points.
    capacity
        Most tasks each takes, shape (m,).
    recorded
        Which pairs are rated already, shape (n, m): they count, and are not bought.
    price
        Of a rating, shape (n, m); 1 each where None.
    gap, time_limit, seed
        As of `solve`.

    Raises
    ------
    InputError
        No number of ratings keeps ε.
    """
    known = model.told > 0
    precision = np.where(known, model.precision, 0.0)
    have = recorded @ model.precision
    problem = ratings_problem(
        precision,
        model.terms,
        epsilon,
        capacity,
        len(recorded),
        cost=price,
        available=known[None, :] & ~recorded,
        recorded=have,
    )
    # Tasks that nobody has rated are alike: by teams that many of them follow it is solved sooner.
    method = "auto" if recorded.any() else "patterns"
    solution = solve(problem, "ip", method=method, gap=gap, time_limit=time_limit, seed=seed)
    bought = np.zeros(problem.shape, dtype=bool)
    if solution.assignment is not None:
        bought = np.asarray(solution.assignment) > 0.5
    task, worker = np.nonzero(bought)
    total = have + bought @ precision
    return RatingAssignment(
        task, worker, model.terms.error(total), solution, CostClaim.of(solution)
    )
