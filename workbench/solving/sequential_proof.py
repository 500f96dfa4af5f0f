"""What a sequential optimum proves, as a file: prices, and what a task is charged, in fractions.

`models/problems/check_policies.py` says why it is a proof (kind `sequential`). Here the values are
computed in floating point, from below, lowered by a hair that pays for rounding, and handed to that
program, which decides.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from crowd_models.sequential_policies import SequentialProblem
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.checker import policy_checker
from workbench.base.errors import InputError
from workbench.solving.posteriors import (
    BEYOND,
    Grid,
    error_rule,
    follow,
    log_odds,
    undominated,
)
from workbench.solving.proof_file import FORMAT, rational, written
from workbench.solving.sequential import WIDTH, SequentialOptimum

ERRORS, ODDS, PRICES = 10**12, 10**12, 10**9
"""Errors, odds and prices are written as multiples of one part of so many."""
CELLS = 12_000
"""Cells of odds, where the posterior is promised."""
REFINED = 3
"""How often leads that the best rule comes to are put into the grid."""
UNIT, LOWERED = 1e-9, (1e-8, 1e-7, 1e-6, 1e-5)
"""Values are multiples of this share of the cheapest charge, and lowered by such shares."""
SWEEPS, STILL = 20_000, 1e-10
"""Sweeps of value iteration at most; the change, by the cheapest charge, at which it ends."""


def sequential_proof(optimum: SequentialOptimum) -> bytes | None:
    """Write what is proven of every policy, for `workbench verify`.

    Returns
    -------
    bytes or None
        None where a label that tells something costs nothing: then nothing is proven.

    Raises
    ------
    InputError
        It is of several classes, whose bound is computed in floating point alone.
    """
    problem = optimum.problem
    if not isinstance(problem, SequentialProblem):
        raise InputError("proof: is of two equally likely classes; leave it out")
    worker = np.round(optimum.worker_prices * PRICES) / PRICES
    error = np.round(optimum.error_prices * PRICES) / PRICES
    if problem.promise == "mean":
        error = np.full(len(error), float(error[problem.tasks > 0].max(initial=0.0)))
    elif problem.promise == "posterior":
        error = np.zeros(len(error))
    for t in np.flatnonzero(problem.tasks > 0).tolist():
        charge = problem.prices[t] + worker
        if (charge[undominated(log_odds(problem.skill[t]), charge)] <= 0).any():
            return None
    told = {
        "kind": "sequential",
        "format": FORMAT,
        "problem": _stated(problem),
        "worker_prices": [_rounded(price, PRICES) for price in worker.tolist()],
        "error_prices": [_rounded(price, PRICES) for price in error.tolist()],
    }
    bound_of = policy_checker()["sequential_bound"]
    tables = [
        _table(problem, t, worker, float(error[t])) if n > 0 else None
        for t, n in enumerate(problem.tasks.tolist())
    ]
    for lowered in LOWERED:
        told["values"] = [each and each.written(lowered) for each in tables]
        try:
            bound = max(bound_of(told)[1], Fraction(0))
        except ValueError:
            continue
        claim = {"bound": rational(Fraction(math.floor(bound * PRICES), PRICES))}
        return written({**told, "claim": claim})
    return None


def _stated(problem: SequentialProblem) -> dict[str, Any]:
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
        Shape (N,) or, in cells, (N − 1,).
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
        values = [max(int(step), 0) * unit for step in steps]
        if self.most:
            values = [min(value, most) for value, most in zip(values, self.most, strict=True)]
        return {
            self.name: [rational(value) for value in self.at],
            "values": [rational(value) for value in values],
        }


def _table(problem: SequentialProblem, task_type: int, worker: FloatArray, mu: float) -> _Table:
    skill, charge = problem.skill[task_type], problem.prices[task_type] + worker
    weight = log_odds(skill)
    who = undominated(weight, charge)
    if problem.promise == "posterior":
        enough = 1 / Fraction(repr(problem.epsilon)) - 1
        exact = [Fraction(repr(p)) for p in skill[who].tolist()]
        return _odds_table(exact, charge[who], enough)
    leads = np.arange(0.0, math.log(1 / problem.epsilon - 1) + BEYOND, WIDTH)
    rule = error_rule(Grid.of(weight, leads), charge, mu)
    for _ in range(REFINED):
        leads = np.union1d(leads, follow(rule).leads)
        rule = error_rule(Grid.of(weight, leads), charge, mu)
    units, first = np.unique(np.round(rule.wrong * ERRORS).astype(np.int64), return_index=True)
    at = [Fraction(int(unit), ERRORS) for unit in units]
    price = Fraction(round(mu * PRICES), PRICES)
    cheapest = float(charge[who].min(initial=1.0))
    return _Table("errors", at, rule.value[first], [price * error for error in at], cheapest)


def _odds_table(skill: list[Fraction], charge: FloatArray, enough: Fraction) -> _Table:
    """Value iteration from 0 over cells of odds, each as low as it can be in the cell."""
    inside = float(enough) ** (np.arange(CELLS) / CELLS) * ODDS
    at = [*(Fraction(edge, ODDS) for edge in np.unique(inside.round().astype(np.int64)).tolist())]
    at.append(enough)
    many = math.lcm(ODDS, enough.denominator)
    edges = [int(odds * many) for odds in at]
    workers = [
        (price * (1.0 + np.array(at[:-1], dtype=np.float64)), _answers(p, edges, many))
        for p, price in zip(skill, charge.tolist(), strict=True)
    ]
    widest = max((int(each.width.max()) for _, answers in workers for each in answers), default=0)
    values, cheapest = np.zeros(len(edges) - 1), float(charge.min(initial=1.0))
    for _ in range(SWEEPS):
        # The least value of one cell, of it and the next, and so on; 0 beyond the last.
        least = [np.append(values, 0.0)]
        for _ in range(widest):
            least.append(np.minimum(least[-1], np.append(least[-1][1:], 0.0)))
        table = np.array(least)
        best = np.full(len(values), np.inf)
        for fee, answers in workers:
            follows = fee.copy()
            if answers:
                ahead, kept, turned = (each.of(table) for each in answers)
                follows += ahead + np.minimum(kept, turned)
            np.minimum(best, follows, out=best)
        change = float(np.max(best - values, initial=0.0))
        values = np.maximum(values, best)
        if change <= STILL * cheapest or not workers:
            break
    return _Table("odds", at, values, [], cheapest)


class _Answer(NamedTuple):
    """What an answer leads to: the first of some cells, how many more, and by what it counts."""

    first: IntArray
    width: IntArray
    rate: FloatArray

    def of(self, least: FloatArray) -> FloatArray:
        worth: FloatArray = self.rate * least[self.width, self.first]
        return worth


def _answers(p: Fraction, edges: list[int], many: int) -> list[_Answer]:
    """Answers for the leader; and against, where the same class leads on, and where the other does.

    Where one of the latter cannot be, the other stands in its place. A label of skill 1 ends it.
    """
    cells_of = policy_checker()["cells"]
    right, wrong = p.numerator, p.denominator - p.numerator
    if not wrong:
        return []
    last = len(edges) - 1
    rows: list[list[tuple[int, int, float]]] = [[], [], []]
    for n in range(last):
        ahead, kept, turned = cells_of(edges, many, (right, wrong), n)
        mirrored = float(1 - p) * edges[n] / many
        behind = [(kept, float(p)), (turned, mirrored)]
        there = [(cells, rate) for cells, rate in behind if cells is not None]
        for row, (cells, rate) in zip(
            rows, [(ahead, float(1 - p)), there[0], there[-1]], strict=True
        ):
            first, end = min(cells[0], last), min(cells[1], last)
            row.append((first, end - first, rate))
    return [_Answer(*(np.array(column) for column in zip(*row, strict=True))) for row in rows]
