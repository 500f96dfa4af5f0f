"""Small integer programs of awkward numbers, and their optimum in rational arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from crowd_models import AssignmentProblem

SLACK = Fraction(1, 10**9)
"""Share of its requirement that a cover may miss: 0.1 and 0.3 are to cover 0.4."""


def awkward_problem(seed: int) -> AssignmentProblem:
    """A small problem: masks, prices over 8 decades, requirements down to 1e-8, unequal capacities.

    Qualities may be a hundred thousand times a requirement, or the other way round.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    n, m = int(rng.integers(1, 6)), int(rng.integers(2, 6))
    quality = _quality(rng, n, m)
    available = rng.random((n, m)) < 0.8 if rng.random() < 0.4 else None
    capacity = rng.integers(0, n + 2, m) if rng.random() < 0.5 else np.full(m, rng.integers(2, 6))
    return AssignmentProblem(
        quality, capacity, _requirement(rng, quality, available), _cost(rng, n, m), available
    )


def _quality(rng, n, m):
    kind = rng.integers(7)
    if kind == 0:
        return rng.uniform(0, 1, (n, m))
    if kind == 6:  # far above a requirement of 1e-7, beside some below it
        many = rng.random((n, m)) < rng.uniform(0.2, 0.8)
        return np.where(many, rng.uniform(0, 1e-2, (n, m)), 7e-8 * rng.uniform(0, 1, (n, m)))
    if kind == 1:
        return np.round((2 * rng.choice([0.5, 0.6, 0.7, 0.9, 1.0], (n, m)) - 1) ** 2, 12)
    if kind == 2:
        return 10 ** rng.uniform(-4, 0, (n, m))
    if kind == 3:
        return 10 ** rng.uniform(-11, 0, (n, m))
    if kind == 4:
        return rng.integers(0, 11, (n, m)) / 10
    return np.tile(rng.uniform(0, 1, m), (n, 1))


def _requirement(rng, quality, available):
    n, m = quality.shape
    seen = quality if available is None else quality * available
    reach = seen.sum(axis=1)
    kind = rng.integers(6)
    if kind == 0:
        return reach * rng.uniform(0, 0.7, n)
    if kind == 1:
        return 10 ** rng.uniform(-8, -1, n)
    if kind == 2:
        return np.full(n, -2 * np.log(rng.uniform(0.4, 0.999)))
    if kind == 3:  # what some set gathers, to the last bit or a hair beyond
        some = (seen * (rng.random((n, m)) < 0.6)).sum(axis=1)
        return some * rng.choice([1, 1, 1 + 1e-12, 1 + 1e-7, 1 - 1e-7], n)
    if kind == 4:
        return np.minimum(reach, 10 ** rng.uniform(-8, 1, n))
    return np.where(rng.random(n) < 0.7, 7e-8 * rng.uniform(0.5, 1.5, n), reach / 2)


def _cost(rng, n, m):
    unit = 10 ** rng.uniform(-6, 6) if rng.random() < 0.3 else 1.0
    kind = rng.integers(7)
    if kind == 0:
        return None
    if kind == 1:
        return rng.integers(0, 5, (n, m)) * unit
    if kind == 2:
        return rng.integers(1, 20, (n, m)) / 10 * unit
    if kind == 3:
        return rng.uniform(0.5, 2, (n, m)) * unit
    if kind == 4:
        return 10 ** rng.uniform(-3, 5, (n, m))
    if kind == 5:
        return 10 ** rng.uniform(-8, 0, (n, m)) * unit
    return np.where(rng.random((n, m)) < 0.3, 1e-8, rng.uniform(0.5, 2, (n, m))) * unit


@dataclass(frozen=True)
class Optimum:
    """Cost of the best plan, None where there is none: each cover met, or missed by 1e-9 of it."""

    exact: Fraction | None
    loose: Fraction | None


def rational_optimum(problem: AssignmentProblem) -> Optimum:
    """The optimum over all whole plans, the data's floats taken at their exact values."""
    return Optimum(_best(problem, Fraction(0)), _best(problem, SLACK))


def _best(problem: AssignmentProblem, slack: Fraction) -> Fraction | None:
    """Task by task: the least cost of every state of the capacities that are left."""
    n = len(problem.requirement)
    states = {tuple(np.minimum(problem.capacity, n).tolist()): Fraction(0)}
    for i in range(n):
        covers = _covers(problem, i, slack)
        after: dict[tuple[int, ...], Fraction] = {}
        for (room, spent), (cover, price) in product(states.items(), covers):
            left = tuple(a - b for a, b in zip(room, cover, strict=True))
            if min(left, default=0) >= 0 and (left not in after or spent + price < after[left]):
                after[left] = spent + price
        states = after
    return min(states.values(), default=None)


def _covers(problem, i, slack):
    """Least sets of workers that cover a task, as counts by worker, with their prices."""
    usable = [j for j in range(problem.shape[1]) if problem.mask[i, j] and problem.capacity[j]]
    need = Fraction(float(problem.requirement[i])) * (1 - slack)
    found: list[tuple[tuple[int, ...], Fraction]] = []
    sets = sorted(product((0, 1), repeat=len(usable)), key=sum)
    for chosen in sets:
        cover = [0] * problem.shape[1]
        for j, taken in zip(usable, chosen, strict=True):
            cover[j] = taken
        if any(all(a <= b for a, b in zip(less, cover, strict=True)) for less, _ in found):
            continue
        if sum(Fraction(float(q)) for q in problem.quality[i][np.array(cover) > 0]) >= need:
            price = sum(
                (Fraction(float(c)) for c in problem.prices[i][np.array(cover) > 0]), Fraction(0)
            )
            found.append((tuple(cover), price))
    return found


def plan_cost(problem: AssignmentProblem, assignment: np.ndarray) -> Fraction:
    """What a plan costs, in rational arithmetic; AssertionError where it breaks a constraint."""
    assert np.isin(assignment, (0, 1)).all()
    assert (assignment.sum(axis=0) <= problem.capacity).all()
    assert not assignment[~problem.mask].any()
    cost = Fraction(0)
    for i, row in enumerate(assignment > 0):
        gathered = sum(Fraction(float(q)) for q in problem.quality[i][row])
        assert gathered >= Fraction(float(problem.requirement[i])) * (1 - SLACK)
        cost += sum((Fraction(float(c)) for c in problem.prices[i][row]), Fraction(0))
    return cost
