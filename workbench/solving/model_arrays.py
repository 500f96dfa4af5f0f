"""A Pyomo model's own rows: as arrays for HiGHS, and evaluated, with no solver believed.

Pyomo's compiler of standard forms makes the arrays, so that a model of the user's goes through the
same door as ours: with a start, a limit that holds, and the best so far when it is interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.solving.linear_model import LinearModel
from workbench.solving.solution import Check

ROWS = 1e-6
"""Largest violation of a row or a variable's bounds, relative where the bound is above 1."""
WHOLE = 1e-5
"""Farthest from a whole number that a variable may be that is to have one; it is then rounded."""


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """A model as arrays, always to be minimised, and what their rows and columns are.

    Attributes
    ----------
    linear
        The arrays.
    columns
        Variable of each column.
    rows
        Constraint of each row; one with two bounds has two.
    offset
        What the objective adds to the columns' cost.
    sign
        −1 where the model maximises, else 1.
    """

    linear: LinearModel
    columns: list[Any]
    rows: list[Any]
    offset: float
    sign: float

    def in_model(self, bound: float | None) -> float | None:
        """A value of the arrays' objective as one of the model's."""
        return None if bound is None else self.sign * (bound + self.offset)


def objective_of(model: Any) -> Any:
    """Give the one active objective of a model.

    Raises
    ------
    InputError
        It is no concrete model, or has none or several.
    """
    import pyomo.environ as pyo

    if not getattr(model, "is_constructed", lambda: False)():
        raise InputError("model: an abstract one has no data yet; give create_instance() of it")
    found = list(model.component_data_objects(pyo.Objective, active=True, descend_into=True))
    if len(found) != 1:
        raise InputError(f"model: has {len(found) or 'no'} active objectives; give one")
    return found[0]


def direction(model: Any) -> float:
    """Give −1 where a model's objective is to be large, else 1."""
    import pyomo.environ as pyo

    return 1.0 if objective_of(model).sense == pyo.minimize else -1.0


def variables_of(model: Any) -> list[Any]:
    """Give the variables that are free to be chosen."""
    import pyomo.environ as pyo

    every = model.component_data_objects(pyo.Var, active=True, descend_into=True)
    return [variable for variable in every if not variable.fixed]


def values_of(model: Any) -> Any:
    """Give the values of the variables that are free; Pyomo keys a map by no variable's value."""
    from pyomo.common.collections import ComponentMap

    return ComponentMap((variable, variable.value) for variable in variables_of(model))


def constraints_of(model: Any) -> list[Any]:
    """Give the active constraints."""
    import pyomo.environ as pyo

    return list(model.component_data_objects(pyo.Constraint, active=True, descend_into=True))


def is_whole(variables: Iterable[Any]) -> bool:
    """Whether some variable is to be a whole number."""
    return any(variable.is_integer() for variable in variables)


def compiled(model: Any) -> CompiledModel:
    """Write a linear model as arrays.

    Raises
    ------
    InputError
        It is not linear.
    InfeasibleConstraintException
        By Pyomo: a row without a variable does not hold.
    """
    import pyomo.environ as pyo
    from pyomo.common.errors import InvalidConstraintError, InvalidExpressionError
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    try:
        form = LinearStandardFormCompiler().write(
            model, mixed_form=True, set_sense=pyo.minimize, show_section_timing=False
        )
    except (InvalidConstraintError, InvalidExpressionError) as error:
        raise InputError(f"solver 'highs' takes linear models: {_first_line(error)}") from None
    matrix, columns, sides = form.A.tocsc(), form.columns, [row.bound_type for row in form.rows]
    side = np.array(sides, dtype=int)
    rhs = np.asarray(form.rhs, dtype=float)
    bounds = [variable.bounds for variable in columns]
    whole = np.array([variable.is_integer() for variable in columns], dtype=bool)
    cost = form.c.toarray()[0] if form.c.shape[0] else np.zeros(len(columns))
    linear = LinearModel(
        cost=np.asarray(cost, dtype=float),
        lower=np.array([-np.inf if low is None else low for low, _ in bounds], dtype=float),
        upper=np.array([np.inf if high is None else high for _, high in bounds], dtype=float),
        row_lower=np.where(side <= 0, rhs, -np.inf),
        row_upper=np.where(side >= 0, rhs, np.inf),
        start=matrix.indptr.astype(np.int64),
        index=matrix.indices.astype(np.int32),
        value=matrix.data.astype(float),
        integer=bool(whole.any()),
        whole=whole,
    )
    sign = direction(model)
    offset = float(form.c_offset[0]) if len(form.c_offset) else 0.0
    return CompiledModel(linear, columns, [row.constraint for row in form.rows], offset, sign)


def reduced_costs(compiled: CompiledModel, row_duals: FloatArray) -> FloatArray:
    """Give c − Aᵀy of each column, shape (columns,), in the model's own sense."""
    linear = compiled.linear
    column = np.repeat(np.arange(len(linear.cost)), np.diff(linear.start))
    priced = np.bincount(column, linear.value * row_duals[linear.index], len(linear.cost))
    return compiled.sign * (linear.cost - priced)


def by_constraint(compiled: CompiledModel, row_duals: FloatArray) -> dict[str, float]:
    """Give the dual value of each constraint, by its name; of two bounds, that which binds."""
    values: dict[str, float] = {}
    for row, dual in zip(compiled.rows, row_duals.tolist(), strict=True):
        values[row.name] = values.get(row.name, 0.0) + compiled.sign * dual + 0.0
    return values


def put(values: Mapping[Any, float]) -> None:
    """Give variables their values, whole numbers rounded where they are near."""
    for variable, value in values.items():
        near = variable.is_integer() and abs(value - round(value)) <= WHOLE
        variable.set_value(float(round(value)) if near else value, skip_validation=True)


def checked(model: Any) -> tuple[Check, ...]:
    """Hold the values of a model's variables against its own bounds and rows, evaluated."""
    variables = variables_of(model)
    apart = [abs(v.value - round(v.value)) for v in variables if v.is_integer()]
    box = [beyond(v.value, v.lb, v.ub) for v in variables]
    rows = [_violation(row) for row in constraints_of(model)]
    worst = max(rows, default=(0.0, ""))
    name = "rows of the model" if worst[0] <= ROWS else f"row {worst[1]}"
    return (
        _check("whole numbers", max(apart, default=0.0), 0.0),
        _check("bounds of variables", max(box, default=0.0), ROWS),
        _check(name, worst[0], ROWS),
    )


def slacks(model: Any) -> dict[str, float]:
    """Give how far each active row is from the nearer of its bounds."""
    import pyomo.environ as pyo

    found = {}
    for row in constraints_of(model):
        body, low, high = pyo.value(row.body), pyo.value(row.lower), pyo.value(row.upper)
        room = [high - body] if high is not None else []
        room += [body - low] if low is not None else []
        found[row.name] = float(min(room, default=math.inf))
    return found


def fits(model: Any, duals: Mapping[str, float], costs: Mapping[str, float] | None) -> bool:
    """Whether dual values and reduced costs are 0 wherever the values leave room on both sides."""
    room = slacks(model)
    products = [abs(value) * min(room.get(name, 0.0), 1.0) for name, value in duals.items()]
    for variable in variables_of(model) if costs else ():
        sides = [abs(variable.value - end) for end in variable.bounds if end is not None]
        products.append(abs((costs or {}).get(variable.name, 0.0)) * min([*sides, 1.0]))
    unit = max([1.0, *(abs(value) for value in duals.values())])
    return max(products, default=0.0) <= ROWS * unit


def beyond(value: float, low: float | None, high: float | None) -> float:
    """How far a value is outside of two bounds, relative where those are above 1; 0 inside."""
    over = 0.0 if high is None else (value - high) / max(1.0, abs(high))
    under = 0.0 if low is None else (low - value) / max(1.0, abs(low))
    worst = max(over, under, 0.0)
    return math.inf if math.isnan(worst) or math.isnan(value) else worst


def _violation(row: Any) -> tuple[float, str]:
    import pyomo.environ as pyo

    value = pyo.value(row.body, exception=False)
    if value is None:
        return math.inf, row.name
    return beyond(float(value), pyo.value(row.lower), pyo.value(row.upper)), row.name


def _check(name: str, worst: float, tolerance: float) -> Check:
    return Check(name, bool(worst <= tolerance), float(worst), tolerance)


def _first_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
