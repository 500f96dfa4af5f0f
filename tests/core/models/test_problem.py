"""Every number of a problem is checked, each error says what and where in one line."""

import dataclasses
import pickle
import re

import numpy as np
import pytest

from crowd_models import AssignmentProblem, requirement
from crowd_models.problem import price_step
from workbench.base.errors import InputError

GOOD = {"quality": [[0.9, 0.5, 0.4], [0.3, 0.8, 0.9]], "capacity": 2, "requirement": 1.0}
TYPED = {**GOOD, "tasks": [3, 4], "workers": [1, 2, 3]}
NAN, INF = float("nan"), float("inf")

WRONG = [
    ("quality", [[0.9, NAN, 0.4], [0.3, 0.8, 0.9]], "quality[0, 1] is NaN: give a finite number"),
    ("quality", [[0.9, 1.5, 0.4], [0.3, 0.8, 0.9]], "quality[0, 1] is 1.5: a quality (2p−1)²"),
    ("quality", [[0.9, 0.5], [0.3]], "quality is not an array of numbers: give numbers only, rows"),
    ("capacity", -1, "capacity is -1: give a whole number, 0 or more"),
    ("capacity", [2, 2.5, 2], "capacity[1] is 2.5: give a whole number, 0 or more"),
    ("requirement", [1, 2, 3], "requirement has shape (3,): give one number, or one for each task"),
    ("cost", [[1, 1, 1], [1, INF, 1]], "cost[1, 1] is infinite: give a finite number"),
    (
        "cost",
        [[1, 1, 1], [1, 1e16, 1]],
        "cost[1, 1] is 1e+16: a price is 0 or more, and at most 1e+15",
    ),
    ("available", [True, False], "available has shape (2,): give true or false for each pair"),
]


def refused(message, build):
    with pytest.raises(InputError, match=re.escape(message)) as error:
        build()
    assert "\n" not in str(error.value)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(("field", "value", "message"), WRONG)
def test_one_line_names_field_index_and_mend(field, value, message):
    refused(message, lambda: AssignmentProblem(**GOOD | {field: value}))


@pytest.mark.parametrize("epsilon", [0.0, 1.5])
def test_epsilon_outside(epsilon):
    told = f"{epsilon:g}: the error must lie strictly between 0 and 1"
    refused(f"epsilon is {told}", lambda: requirement(epsilon))
    refused(f"epsilon[1] is {told}", lambda: requirement([0.1, epsilon]))


def test_what_is_given_may_change_and_what_is_kept_may_not():
    quality, capacity = np.full((2, 3), 0.5), np.array([1, 2, 3])
    available, types = np.ones((2, 3), dtype=bool), np.array(["a", "b"])
    cost, need = np.ones((2, 3)), np.ones(2)
    problem = AssignmentProblem(quality, capacity, need, cost, available, types)
    given = (quality, capacity, need, cost, available, types)
    for array, field in zip(given, dataclasses.fields(problem), strict=False):
        kept = getattr(problem, field.name)
        before = kept.tolist()
        array[:] = "z" if array is types else 0
        assert kept.tolist() == before
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = kept[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.cost = None


def test_a_message_holds_what_was_given_and_nothing_worked_out_from_it():
    problem = AssignmentProblem(np.full((40, 30), 0.5), 20, 1.0, available=np.eye(40, 30) > 0)
    before = len(pickle.dumps(problem))
    assert problem.pairs[0].tolist() == list(range(30))
    assert problem.typed.sizes.shape == problem.typed.prices.shape == problem.typed.shape
    assert problem.mask.sum() == problem.prices[problem.pairs].sum() == 30
    assert len(pickle.dumps(problem)) == before
    again = pickle.loads(pickle.dumps(problem))
    assert (again.quality == problem.quality).all()
    assert (again.typed.quality == problem.typed.quality).all()


def test_equal_rows_are_of_one_kind_in_order_of_first_appearance():
    rows = np.array([[0.0, 0.5], [0.3, 0.3], [-0.0, 0.5], [0.3, 0.4], [0.3, 0.3]])
    typed = AssignmentProblem(rows, 5, 0.2, available=rows != 0.4).typed
    assert typed.task_class.tolist() == [0, 1, 0, 2, 1]
    assert typed.quality.tolist() == [[0.0, 0.5], [0.3, 0.3], [0.3, 0.4]]
    assert typed.tasks.tolist() == [2, 2, 1]


def test_uncoverable():
    problem = AssignmentProblem([[0.5, 0.5], [0.5, 0.4]], 1, 1.0)
    assert problem.uncoverable().tolist() == [1]
    summed = AssignmentProblem([[0.1] * 10], 1, 1.0)  # ten tenths, but for rounding
    assert summed.uncoverable().tolist() == []
    masked = AssignmentProblem([[0.5, 0.5]] * 2, 1, 1.0, available=[[1, 1], [1, 0]])
    assert masked.uncoverable().tolist() == [1]
    assert masked.typed.uncoverable().tolist() == [1]


@pytest.mark.parametrize(
    ("prices", "step"),
    [
        ([0.3, 0.2, 0.7], 0.1),
        ([0.3, 0.3, 0.0], 0.3),
        ([2, 4, 6], 2),
        ([19.99, 0.05, 100.0], 0.01),
        ([1 / 3, 1, 2 / 3], 1 / 3),
        ([1, np.pi], 0),
        ([1, 1e-9], 0),
        ([0.1, 0.1 + 1e-13], 0),
        ([0, 0], 0),
    ],
)
def test_step_of_prices(prices, step):
    for unit in (1.0, 1 / 3, 1e6):
        assert price_step(np.array(prices) * unit) == pytest.approx(step * unit, rel=1e-14)
