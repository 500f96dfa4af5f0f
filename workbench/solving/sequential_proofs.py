"""What a sequential optimum proves, as a file: prices, and what a task is charged, in fractions.

`models/problems/check_policies.py` says why it is a proof (kind `sequential`). Here the values are
computed in floating point, from below, lowered by a hair that pays for rounding, and handed to that
program, which decides. Where errors have a price they are those of a rule's grid; where posteriors
are promised they are linear between few odds, the highest such by a linear program. V is linear
there but for jumps: at odds from which some answers lead to just what closes a task.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from crowd_models.sequential_policies import SequentialProblem
from workbench.base.arrays import FloatArray
from workbench.base.checker import policy_checker
from workbench.base.errors import InputError
from workbench.solving.claims import CostClaim
from workbench.solving.highs import optimum as lp_optimum
from workbench.solving.linear_model import LinearModel
from workbench.solving.posteriors import (
    BEYOND,
    Grid,
    error_rule,
    follow,
    log_odds,
    posterior_rule,
)
from workbench.solving.proof_file import FORMAT, rational, written
from workbench.solving.sequential import CELLS, CLOSE, LABELS, WIDTH, SequentialOptimum

ERRORS, ODDS, PRICES = 10**12, 10**9, 10**9
"""Errors, odds and prices are written as multiples of one part of so many."""
PIECES = (16, 64, 256)
"""Odds between which values are linear, where the posterior is promised: more where the claim is
not near the bound."""
NEAR = 2e-4
"""Share of the bound that a claim is near by."""
REFINED = 3
"""How often leads that the best rule comes to are put into the grid."""
UNIT, LOWERED = 1e-9, (1e-8, 1e-7, 1e-6, 1e-5)
"""Values are multiples of this share of the cheapest charge, and lowered by such shares."""


def sequential_proof(optimum: SequentialOptimum) -> bytes | None:
    """Write what is proven of every policy, for `workbench verify`.

    Returns
    -------
    bytes or None
        What no policy costs less than, or that there is none; None where the checker accepts no
        values, those to the last digit of what is proven.

    Raises
    ------
    InputError
        It is of several classes, whose bound is computed in floating point alone.
    Contradiction
        The checker accepts a claim above the cost: nothing is written.
    """
    problem = optimum.problem
    if not isinstance(problem, SequentialProblem):
        raise InputError("proof: belongs to two equally likely classes; leave it out")
    best: tuple[Fraction, bytes] | None = None
    for pieces in PIECES if problem.promise == "posterior" else PIECES[:1]:
        found = _proof(optimum, problem, pieces)
        if found is not None and (best is None or found[0] > best[0]):
            best = found
        if best is not None and (optimum.shortfall or best[0] >= (1 - NEAR) * optimum.lower_bound):
            break
    return None if best is None else best[1]


def _proof(
    optimum: SequentialOptimum, problem: SequentialProblem, pieces: int
) -> tuple[Fraction, bytes] | None:
    """What is proven by values between so many odds, and the file."""
    none = optimum.shortfall is not None
    worker, error = _prices(optimum, problem)
    money = 0.0 if none else 1.0
    file = {
        "kind": "sequential",
        "format": FORMAT,
        "problem": stated(problem),
        "worker_prices": [_rounded(price, PRICES) for price in worker.tolist()],
        "error_prices": [_rounded(price, PRICES) for price in error.tolist()],
        "claim": {"none": True} if none else {"bound": 0},
    }
    bound_of = policy_checker()["sequential_bound"]
    tables = [
        _table(problem, t, money * problem.prices[t] + worker, float(error[t]), pieces)
        if n > 0
        else None
        for t, n in enumerate(problem.tasks.tolist())
    ]
    for lowered in LOWERED:
        file["values"] = [each and each.written(lowered) for each in tables]
        try:
            bound = max(bound_of(file)[1], Fraction(0))
        except ValueError:
            continue
        if none:
            return (bound, written(file)) if bound > 0 else None
        claim = _claimed(bound, optimum.cost)
        return claim, written({**file, "claim": {"bound": rational(claim)}})
    return None


def _claimed(bound: Fraction, cost: float | None) -> Fraction:
    """What a file claims: no more than policies cost, to which linear programs are solved.

    Raises
    ------
    Contradiction
        The bound is further above.
    """
    if cost is not None and cost < bound <= cost * (1 + CLOSE):
        bound = Fraction(cost)
    CostClaim(cost, float(bound))
    return Fraction(math.floor(bound * PRICES), PRICES)


def _prices(
    optimum: SequentialOptimum, problem: SequentialProblem
) -> tuple[FloatArray, FloatArray]:
    """λ and μ, rounded; those that prove that there is no policy may be of any size."""
    worker, error = optimum.worker_prices, optimum.error_prices
    if problem.promise == "mean":
        error = np.full(len(error), float(error[problem.tasks > 0].max(initial=0.0)))
    elif problem.promise == "posterior":
        error = np.zeros(len(error))
    elif optimum.shortfall is None:
        # Where labels are free nothing is proven of a type, and its errors need no price.
        charge = np.where(problem.skill > 0.5, problem.prices + worker, np.inf).min(axis=1)
        error = np.where(charge > 0, error, 0.0)
    size = 1.0
    if optimum.shortfall is not None:
        size = max(float(worker.max(initial=0.0)), float(error.max(initial=0.0))) or 1.0
    return np.round(worker / size * PRICES) / PRICES, np.round(error / size * PRICES) / PRICES


def stated(problem: SequentialProblem) -> dict[str, Any]:
    """The problem as the file has it."""

    def rows(matrix: FloatArray) -> list[list[int | str]]:
        return [[_decimal(value) for value in row] for row in matrix.tolist()]

    return {
        "skill": rows(problem.skill),
        "cost": rows(problem.prices),
        "tasks": [_decimal(n) for n in problem.tasks.tolist()],
        "supply": [_decimal(n) for n in problem.supply.tolist()],
        "epsilon": _decimal(problem.epsilon),
        "promise": problem.promise,
    }


def _decimal(value: float) -> int | str:
    """The shortest decimal that is this float, as a fraction."""
    return rational(Fraction(repr(value)))


def _rounded(value: float, many: int) -> int | str:
    return rational(Fraction(round(value * many), many))


class _Table(NamedTuple):
    """Values at errors or in cells of odds, from below, and the cheapest charge.

    Attributes
    ----------
    name
        `errors` or `odds`.
    at
        Those, rising.
    values
        Shape (N,) or, at both ends of cells, (N − 1, 2).
    most
        What no value may be above, as fractions; none in cells.
    cheapest
        Of the charges of those who tell something.
    """

    name: str
    at: list[Fraction]
    values: FloatArray
    most: list[Fraction]
    cheapest: float

    def written(self, lowered: float) -> dict[str, Any]:
        """Write it, values lowered by a share and rounded down."""
        unit = Fraction(10) ** math.floor(math.log10(max(self.cheapest * UNIT, 1e-14)))
        steps = np.floor(self.values * (1 - lowered) / float(unit)).astype(object)
        at = [rational(value) for value in self.at]
        if not self.most:
            ends = [[rational(max(int(step), 0) * unit) for step in row] for row in steps]
            return {self.name: at, "values": ends}
        values = [max(int(step), 0) * unit for step in steps]
        values = [min(value, most) for value, most in zip(values, self.most, strict=True)]
        return {self.name: at, "values": [rational(value) for value in values]}


def _table(
    problem: SequentialProblem, task_type: int, charge: FloatArray, mu: float, pieces: int
) -> _Table | None:
    """Values of a type; None where a label that tells something costs nothing."""
    skill = problem.skill[task_type]
    weight, tells = log_odds(skill), skill > 0.5
    if (charge[tells] <= 0).any():
        return None
    cheapest = float(charge[tells].min(initial=1.0))
    if problem.promise == "posterior":
        return _odds_table(problem, task_type, charge, pieces)
    if not tells.any():
        price = Fraction(round(mu * PRICES), PRICES)
        half = Fraction(1, 2)
        return _Table("errors", [0 * half, half], np.array([0.0, mu]), [0 * half, price / 2], 1.0)
    leads = np.arange(0.0, math.log(1 / problem.epsilon - 1) + BEYOND, WIDTH)
    rule = error_rule(Grid.of(weight, leads), charge, mu)
    for _ in range(REFINED):
        leads = np.union1d(leads, follow(rule, most=LABELS).leads)
        rule = error_rule(Grid.of(weight, leads), charge, mu)
    units, first = np.unique(np.round(rule.wrong * ERRORS).astype(np.int64), return_index=True)
    at = [Fraction(int(unit), ERRORS) for unit in units]
    price = Fraction(round(mu * PRICES), PRICES)
    return _Table("errors", at, rule.value[first], [price * error for error in at], cheapest)


def _odds_table(
    problem: SequentialProblem, task_type: int, charge: FloatArray, pieces: int
) -> _Table:
    """The highest values between some odds, workers added who would be charged less."""
    enough = 1 / Fraction(repr(problem.epsilon)) - 1
    charges: dict[Fraction, float] = {}
    for p, c in zip(problem.skill[task_type].tolist(), charge.tolist(), strict=True):
        if p > 0.5:
            exact = Fraction(repr(p))
            charges[exact] = min(c, charges.get(exact, math.inf))
    if not charges:
        return _Table("odds", [Fraction(1), enough], np.full((1, 2), 1e6), [], 1.0)
    cheapest = min(charges.values())
    skills = list(charges)
    fees = np.array(list(charges.values()))
    weight = log_odds(np.array(skills, dtype=np.float64))
    asked = posterior_rule(weight, fees, problem.epsilon, CELLS).asked.tolist()
    odds = _edges([skills[k] for k in asked], enough, pieces)
    rows = {k: list(_limits(odds, skills[k], charges[skills[k]] / cheapest)) for k in asked}
    while True:
        values = _highest(2 * (len(odds) - 1), [row for own in rows.values() for row in own])
        for k, p in enumerate(skills):
            if k not in rows:
                own = list(_limits(odds, p, charges[p] / cheapest))
                if any(row.above(values) > 1e-9 for row in own):
                    rows[k] = own
                    break
        else:
            return _Table("odds", odds, values.reshape(-1, 2) * cheapest, [], cheapest)


def _edges(skills: list[Fraction], enough: Fraction, pieces: int) -> list[Fraction]:
    """Odds at which V jumps, the fewest labels from closing first, and some between.

    Where the task may be closed above the odds they are rounded down, else up: what is between is
    in the cell of lower values.
    """
    fixed = [float(enough) ** (i * 8 / pieces) for i in range(1, pieces // 8)]
    edges = {Fraction(round(odds * ODDS), ODDS) for odds in fixed}
    moves = [p / (1 - p) for p in skills if p < 1]
    front, seen = [(enough, True)], {(enough, True)}
    while front and len(edges) < pieces:
        following = []
        for odds, above in front:
            for q in moves:
                for to in (odds * q, odds / q):
                    jump = (to, above) if to >= 1 else (1 / to, not above)
                    down = math.floor(jump[0] * ODDS)
                    jump = Fraction(down + (not jump[1]), ODDS), jump[1]
                    if 1 < jump[0] < enough and jump not in seen and len(edges) < pieces:
                        seen.add(jump)
                        following.append(jump)
                        edges.add(jump[0])
        front = following
    return [Fraction(1), *sorted(edge for edge in edges if 1 < edge < enough), enough]


class _Row(NamedTuple):
    """Σ coefficient × value ≤ most: values are no more than a label and what follows."""

    column: list[int]
    coefficient: list[float]
    most: float

    def above(self, values: FloatArray) -> float:
        """By how much it is broken, as a share of what it is at most."""
        return (float(values[self.column] @ np.array(self.coefficient)) - self.most) / self.most


def _limits(odds: list[Fraction], p: Fraction, charge: float) -> Iterator[_Row]:
    """What the checker asks of values, for one worker."""
    q = p / (1 - p) if p < 1 else None
    turns = set() if q is None else {x for o in odds for x in (o / q, o * q, q / o)}
    points = sorted({*odds, *(x for x in turns if 1 < x < odds[-1])})
    for low, high in pairwise(points):
        for at, side in ((low, 0), (low, 1), (high, -1)):
            terms = list(_worth(odds, at, side, 1.0))
            if q is not None:
                terms += _worth(odds, at * q, side, -float(1 - p))
                terms += _worth(odds, at / q, side, -float(p))
            columns, coefficients = zip(*terms, strict=True)
            yield _Row(list(columns), list(coefficients), charge * float(1 + at))


def _worth(odds: list[Fraction], at: Fraction, side: int, by: float) -> Iterator[tuple[int, float]]:
    """Values, and by what they count in w at some odds or next to them, as the checker has it."""
    if at < 1 or (at == 1 and side < 0):
        yield from _worth(odds, 1 / at, -side, by * float(at))
        return
    n = (bisect_left if side < 0 else bisect_right)(odds, at) - 1
    if n < len(odds) - 1:
        share = float((at - odds[n]) / (odds[n + 1] - odds[n]))
        yield 2 * n, by * (1 - share)
        yield 2 * n + 1, by * share


def _highest(count: int, rows: list[_Row]) -> FloatArray:
    """The values of the highest bound within some limits."""
    place = np.repeat(np.arange(len(rows)), [len(row.column) for row in rows])
    column = np.concatenate([row.column for row in rows])
    value = np.concatenate([row.coefficient for row in rows])
    matrix = sparse.csc_array((value, (place, column)), shape=(len(rows), count))
    cost = np.full(count, 1e-6)
    cost[0] = 1.0
    values, _ = lp_optimum(
        LinearModel(
            cost=cost,
            lower=np.zeros(count),
            upper=np.full(count, np.inf),
            row_lower=np.full(len(rows), -np.inf),
            row_upper=np.array([row.most for row in rows]),
            start=matrix.indptr.astype(np.int64),
            index=matrix.indices.astype(np.int32),
            value=matrix.data,
            maximise=True,
        )
    )
    return values
