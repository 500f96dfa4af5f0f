"""Proofs about any linear model, from its rows alone: no solver is believed.

For multipliers y of the rows L ≤ A x ≤ U, right or wrong,

    Σ_i (y_i L_i where y_i > 0, y_i U_i where y_i < 0) + Σ_j min over the box of (c − Aᵀy)_j x_j

bounds c x from below (weak duality; Neumaier, Shcherbina 2004, "Safe bounds in linear and
mixed-integer linear programming"). Without c, a value above 0 shows that nothing keeps the rows
(Farkas). Floats are fractions, so both are evaluated in whole numbers. Whole variables are branched
on, each leaf with multipliers of its own; the least of the leaves' bounds holds for the model.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from crowd_models.problem import price_step
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.solving.certificates import OPTIMALITY, WHOLE_FEASIBILITY
from workbench.solving.highs import accepted, claim_threads, new_highs, pass_arrays, set_options
from workbench.solving.linear_model import LinearModel
from workbench.solving.model_arrays import WHOLE, CompiledModel, compiled

ENTRIES = 100_000
"""Numbers in the rows of a linear program up to which its bound is recomputed."""
COLUMNS = 600
"""Variables up to which branches are tried, where some are whole."""
FINE = 40
"""Multipliers are whole multiples of 2 to the minus so many."""
DEEPEST = 200
NEAR_NOUGHT = 1e-3
"""An objective below it is told apart to within a millionth of this."""
PASSES = 3
"""Over the rows, for bounds of variables that have none."""


def proven_by_rows(model: Any, objective: float, seconds: float) -> bool:
    """Whether it is proven from a model's rows that no answer is better than one of that objective.

    Better by more than `OPTIMALITY`, or by a step where all values of the objective are multiples
    of one. Rows count as kept where they are missed by `WHOLE_FEASIBILITY` of their sides.

    Parameters
    ----------
    model
        Any Pyomo model. Of one that is not linear, or too large, nothing is proven.
    seconds
        For the search.
    """
    form = _form(model)
    if form is None:
        return False
    cost, step = objective * form.sign - form.offset, _step(form.linear)
    apart = 0.999 * step or OPTIMALITY * max(abs(cost), NEAR_NOUGHT)
    return is_above(within(form.linear, cost), cost - apart, seconds)


def denied_by_rows(model: Any, seconds: float) -> bool:
    """Whether it is proven from a model's rows that nothing keeps them all."""
    form = _form(model)
    if form is None:
        return False
    linear = replace(form.linear, cost=np.zeros(len(form.linear.cost)))
    return is_above(within(linear, 0.0), math.inf, seconds)


def _form(model: Any) -> CompiledModel | None:
    """The arrays of a model that is linear and not too large; None of others."""
    from pyomo.common.errors import InfeasibleConstraintException

    try:
        form = compiled(model)
    except (InputError, InfeasibleConstraintException):
        return None
    if not form.columns or len(form.linear.value) > ENTRIES:
        return None
    return None if form.linear.integer and len(form.columns) > COLUMNS else form


def _step(linear: LinearModel) -> float:
    """The number that every value of the objective is a multiple of; 0 for none."""
    priced = linear.cost != 0
    if linear.whole is None or not linear.whole[priced].all():
        return 0.0
    return price_step(np.abs(linear.cost))


def within(linear: LinearModel, most: float) -> LinearModel:
    """Bound variables that have no bound by the rows, where nothing is to cost more than `most`.

    What keeps the rows to within `WHOLE_FEASIBILITY` and costs less lies within.
    """
    lower, upper = linear.lower.copy(), linear.upper.copy()
    free = np.isinf(lower) | np.isinf(upper)
    if not free.any():
        return linear
    column = np.repeat(np.arange(len(linear.cost)), np.diff(linear.start))
    rows: list[tuple[Any, FloatArray, float]] = []
    for i in range(len(linear.row_lower)):
        at = linear.index == i
        for sign, side in ((1.0, linear.row_upper[i]), (-1.0, -linear.row_lower[i])):
            if math.isfinite(side) and free[column[at]].any():
                more = WHOLE_FEASIBILITY * max(1.0, abs(side))
                rows.append((column[at], sign * linear.value[at], side + more))
    priced = np.flatnonzero(linear.cost)
    if free[priced].any():
        rows.append((priced, linear.cost[priced], most + 1e-6 * max(1.0, abs(most))))
    for _ in range(PASSES):
        for columns, values, side in rows:
            _propagate(columns.tolist(), values.tolist(), side, lower, upper)
    return replace(linear, lower=lower, upper=upper)


def _propagate(
    columns: list[int], values: list[float], side: float, lower: FloatArray, upper: FloatArray
) -> None:
    """Bound what has no bound by Σ values × x ≤ side, in place; a little wider than it says."""
    least = [v * (lower[j] if v > 0 else upper[j]) for j, v in zip(columns, values, strict=True)]
    for at, (j, v) in enumerate(zip(columns, values, strict=True)):
        if v == 0 or not math.isinf(upper[j] if v > 0 else lower[j]):
            continue
        rest = side - math.fsum(least[:at] + least[at + 1 :])
        if math.isfinite(rest):
            end = rest / v
            wide = 1e-6 * max(1.0, abs(end))
            if v > 0:
                upper[j] = end + wide
            else:
                lower[j] = end - wide


def is_above(linear: LinearModel, goal: float, seconds: float) -> bool:
    """Whether branches prove that everything which keeps the rows costs more than `goal`.

    With a goal of infinity each leaf shows that nothing keeps its rows. False where there was no
    time.
    """
    tree = _Tree(linear, goal, time.perf_counter() + seconds)
    return tree.grown(linear.lower.copy(), linear.upper.copy(), 0)


class ExactRows:
    """A linear model in whole numbers, all of them multiplied by one power of two.

    Its sides are less strict by `WHOLE_FEASIBILITY`.
    """

    def __init__(self, linear: LinearModel) -> None:
        slack = (
            WHOLE_FEASIBILITY * np.maximum(1.0, np.abs(side))
            for side in (linear.row_lower, linear.row_upper)
        )
        low, high = linear.row_lower - next(slack), linear.row_upper + next(slack)
        numbers = np.concatenate([linear.value, linear.cost, low, high, linear.lower, linear.upper])
        finite = numbers[np.isfinite(numbers)].tolist()
        self.shift = max(value.as_integer_ratio()[1].bit_length() - 1 for value in [1.0, *finite])
        self.low, self.high = ([self._whole(x) for x in side.tolist()] for side in (low, high))
        self.cost = [self._whole(x) or 0 for x in linear.cost.tolist()]
        column = np.repeat(np.arange(len(linear.cost)), np.diff(linear.start)).tolist()
        values = (self._whole(x) or 0 for x in linear.value.tolist())
        self.entries = list(zip(column, linear.index.tolist(), values, strict=True))

    def _whole(self, value: float) -> int | None:
        """A number times the power of two; None for one without an end."""
        if not math.isfinite(value):
            return None
        top, bottom = float(value).as_integer_ratio()
        whole: int = (top << self.shift) // bottom
        return whole

    def bound(
        self, lower: FloatArray, upper: FloatArray, multipliers: FloatArray, *, priced: bool
    ) -> Fraction | None:
        """Evaluate the bound of multipliers; None where something without an end decides it.

        Parameters
        ----------
        lower, upper
            Of the variables: those of the model, or whole numbers.
        """
        fine = [round(value * 2.0**FINE) for value in multipliers.tolist()]
        rest = [c << FINE if priced else 0 for c in self.cost]
        for j, i, value in self.entries:
            rest[j] -= value * fine[i]
        ends = ([self._whole(x) for x in side.tolist()] for side in (lower, upper))
        total = 0
        rows, box = zip(fine, self.low, self.high, strict=True), zip(rest, *ends, strict=True)
        for shift, parts in ((self.shift, rows), (0, box)):
            for factor, low, high in parts:
                end = low if factor > 0 else high
                if factor and end is None:
                    return None
                total += (factor * (end or 0)) << shift
        return Fraction(total, 1 << (2 * self.shift + FINE))


class _Tree:
    """Branches on whole variables: a linear program a node, its dual values the proof of a leaf."""

    def __init__(self, linear: LinearModel, goal: float, until: float) -> None:
        self.exact, self.goal, self.until = ExactRows(linear), goal, until
        count = len(linear.cost)
        whole = np.zeros(count, dtype=bool) if linear.whole is None else linear.whole
        self.whole = np.flatnonzero(whole)
        claim_threads(1)
        self.highs = new_highs()
        options = {"output_flag": False, "threads": 1, "presolve": "off", "solver": "simplex"}
        set_options(self.highs, options)
        accepted(pass_arrays(self.highs, replace(linear, integer=False)), "model")

    def grown(self, lower: FloatArray, upper: FloatArray, depth: int) -> bool:
        """Whether a node's leaves prove the goal; bounds are as they were in the end."""
        import highspy

        if depth > DEEPEST or time.perf_counter() > self.until:
            return False
        set_options(self.highs, {"time_limit": self.highs.getRunTime() + self._left()})
        self.highs.run()
        status = self.highs.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            _, has_ray, ray = self.highs.getDualRay()
            rays = (np.array(ray), -np.array(ray)) if has_ray else ()
            return any(self._is_leaf(lower, upper, each, priced=False) for each in rays)
        if status != highspy.HighsModelStatus.kOptimal:
            return False
        solution = self.highs.getSolution()
        values, duals = np.array(solution.col_value), np.array(solution.row_dual)
        if math.isfinite(self.goal) and self._is_leaf(lower, upper, duals, priced=True):
            return True
        apart = np.abs(values[self.whole] - np.rint(values[self.whole]))
        if apart.max(initial=0.0) <= WHOLE:
            return False  # an answer that is better, or as good as any
        at = int(self.whole[np.argmax(apart)])
        ends, split = (lower[at], upper[at]), math.floor(values[at])
        proven = True
        for low, high in ((split + 1.0, ends[1]), (ends[0], float(split))):
            proven = proven and self._moved(lower, upper, at, (low, high), depth + 1)
        self._set(lower, upper, at, ends)
        return proven

    def _moved(
        self, lower: FloatArray, upper: FloatArray, at: int, ends: tuple[float, float], depth: int
    ) -> bool:
        self._set(lower, upper, at, ends)
        return self.grown(lower, upper, depth)

    def _set(
        self, lower: FloatArray, upper: FloatArray, at: int, ends: tuple[float, float]
    ) -> None:
        lower[at], upper[at] = ends
        self.highs.changeColBounds(at, *ends)

    def _left(self) -> float:
        return max(self.until - time.perf_counter(), 0.01)

    def _is_leaf(
        self, lower: FloatArray, upper: FloatArray, multipliers: FloatArray, *, priced: bool
    ) -> bool:
        """Whether multipliers prove the goal; without prices, that nothing keeps the rows."""
        bound = self.exact.bound(lower, upper, multipliers, priced=priced)
        return bound is not None and bound > (self.goal if priced else 0)
