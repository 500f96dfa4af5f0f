"""Proofs about any linear model by its rows: held to enumeration and to the dual program."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pyomo.environ as pyo
import pytest

import workbench as wb
from workbench.solving.row_proofs import denied_by_rows, proven_by_rows

FACTORS = (1.0, 0.1, 0.37)


def whole_model(seed, *, kept=True):
    """A few whole variables with small boxes, rows of every kind, and a number to add."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 5))
    factor = float(rng.choice(FACTORS))
    model = pyo.ConcreteModel(name="whole")
    model.x = pyo.Var(range(count), domain=pyo.Integers, bounds=(-1, 2))
    model.rows = pyo.ConstraintList()
    for _ in range(int(rng.integers(1, 4))):
        values = rng.integers(-3, 4, count) * factor
        if not values.any():
            continue
        body = sum(float(a) * model.x[k] for k, a in enumerate(values))
        side = float(rng.integers(-3, 4)) * factor
        far = 2 * factor if kept else 0
        model.rows.add(
            (body <= side + far, body >= side - far, (side - far, body, side))[rng.integers(3)]
        )
    sense = pyo.minimize if rng.random() < 0.5 else pyo.maximize
    prices = rng.integers(-4, 5, count) * (1.0 if rng.random() < 0.5 else 0.73)
    goal = sum(float(c) * model.x[k] for k, c in enumerate(prices)) + 3.5
    model.goal = pyo.Objective(expr=goal, sense=sense)
    return model, prices, sense


def values_of_all(model, prices):
    """The objective of everything that keeps the rows."""
    found = []
    for values in itertools.product(range(-1, 3), repeat=len(prices)):
        for k, value in enumerate(values):
            model.x[k].set_value(value)
        if all(
            (row.lower is None or pyo.value(row.body) >= pyo.value(row.lower) - 1e-9)
            and (row.upper is None or pyo.value(row.body) <= pyo.value(row.upper) + 1e-9)
            for row in model.rows.values()
        ):
            found.append(float(prices @ values) + 3.5)
    return np.array(found)


@pytest.mark.parametrize("seed", range(30))
def test_what_is_proven_is_what_enumeration_finds(seed):
    model, prices, sense = whole_model(seed, kept=seed % 4 > 0)
    values = values_of_all(model, prices)
    assert denied_by_rows(model, 5.0) == (not len(values))
    if not len(values):
        assert wb.solve(model).denied
        return
    best = values.min() if sense == pyo.minimize else values.max()
    assert proven_by_rows(model, best, 5.0)
    for worse in {*values.tolist()} - {best}:
        if abs(worse - best) > 1e-6:
            assert not proven_by_rows(model, worse, 0.2)
    solved = wb.solve(model)
    assert solved.objective == pytest.approx(best)
    assert solved.verdict()[1] == "It is proven that none is better."


def linear_model(seed, *, bounded):
    rng = np.random.default_rng(seed)
    model = pyo.ConcreteModel(name="linear")
    model.x = pyo.Var(range(6), domain=pyo.NonNegativeReals, bounds=(0, 4 if bounded else None))
    matrix, need = rng.uniform(0, 1, (4, 6)), rng.uniform(0.5, 2, 4)
    model.rows = pyo.Constraint(
        range(4), rule=lambda m, i: sum(float(matrix[i, k]) * m.x[k] for k in range(6)) >= need[i]
    )
    prices = rng.uniform(0.5, 2, 6)
    model.goal = pyo.Objective(expr=sum(float(c) * model.x[k] for k, c in enumerate(prices)))
    return model


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_a_linear_program_is_proven_though_nothing_bounds_its_variables(seed, bounded):
    model = linear_model(seed, bounded=bounded)
    solved = wb.solve(model)
    assert solved.proven == solved.objective
    for near, known in ((1e-4, False), (1e-9, True), (-1e-4, True)):
        assert proven_by_rows(model, solved.objective * (1 + near), 5.0) == known
    model.never = pyo.Constraint(expr=sum(model.x.values()) <= 0.1)
    assert wb.solve(model).verdict()[0].startswith("It is proven that no answer keeps every row")


def test_of_what_is_not_linear_or_out_of_time_nothing_is_proven():
    model, prices, sense = whole_model(1)
    values = values_of_all(model, prices)
    best = values.min() if sense == pyo.minimize else values.max()
    assert not proven_by_rows(model, best, -1.0)
    model.curved = pyo.Constraint(expr=model.x[0] ** 2 <= 1)
    assert not proven_by_rows(model, best, 5.0)
    assert not denied_by_rows(model, 5.0)
    assert math.isfinite(best)
