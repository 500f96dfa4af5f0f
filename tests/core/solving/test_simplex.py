"""Tasks of several classes, label by label: exact recursion, fresh simulation, relaxations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models.sequential_policies import (
    SequentialClassProblem,
    SequentialProblem,
    policy_master,
)
from tests.core.release import some
from workbench.base.errors import InputError
from workbench.solving import sequential, simplex
from workbench.solving.highs import RunOptions
from workbench.solving.pyomo_route import run_model
from workbench.solving.sequential import sequential_optimum
from workbench.solving.simplex import SimplexGrid, after, follow_simplex, simplex_rule


def coin(right, classes):
    wrong = (1 - right) / (classes - 1)
    return np.full((classes, classes), wrong) + np.eye(classes) * (right - wrong)


FIRST = [[0.9, 0.05, 0.05], [0.05, 0.475, 0.475], [0.05, 0.475, 0.475]]
LAST = [[0.475, 0.475, 0.05], [0.475, 0.475, 0.05], [0.05, 0.05, 0.9]]
SPECIALISTS = np.array([FIRST, LAST])


def problem_of(confusion, epsilon, cost=None, share=None, supply=1e9, tasks=1000):
    confusion = np.asarray(confusion)
    workers, classes = confusion.shape[:2]
    return SequentialClassProblem(
        confusion[None],
        np.full(classes, 1 / classes) if share is None else share,
        [tasks],
        np.full(workers, supply),
        epsilon,
        None if cost is None else [cost],
    )


@settings(max_examples=40, deadline=None)
@given(classes=st.integers(2, 4), seed=st.integers(0, 10**6))
def test_interpolation_is_exact_for_lines_and_below_what_is_concave(classes, seed):
    rng = np.random.default_rng(seed)
    grid = SimplexGrid.of(coin(0.7, classes)[None], np.full(classes, 1 / classes), 12)
    belief = rng.dirichlet(np.full(classes, 0.5), 50)
    belief[0] = np.eye(classes)[0]
    corner, weight = grid.between(belief)
    assert (weight >= -1e-12).all()
    np.testing.assert_allclose(weight.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        (grid.point[corner] * weight[:, :, None]).sum(axis=1), belief, atol=1e-9
    )
    lines = rng.normal(size=(classes, 5))
    value = (grid.point @ lines).min(axis=1)
    assert ((value[corner] * weight).sum(axis=1) <= (belief @ lines).min(axis=1) + 1e-9).all()


def finite_value(belief, confusion, charge, per_error, labels):
    """V by policies of at most so many labels, every sequence of answers listed."""
    stop = per_error * (1 - belief.max())
    if labels == 0:
        return stop
    best = stop
    for fee, chances in zip(charge, confusion, strict=True):
        total = fee
        for a in range(chances.shape[1]):
            joint = belief * chances[:, a]
            if joint.sum() > 0:
                total += joint.sum() * finite_value(
                    joint / joint.sum(), confusion, charge, per_error, labels - 1
                )
        best = min(best, total)
    return best


@pytest.mark.parametrize("seed", some(range(6), 3))
def test_no_policy_of_few_labels_is_charged_less(seed):
    """Near the exact recursion where few labels are worth it, and never above."""
    rng = np.random.default_rng(seed)
    classes = 2 + seed % 3
    confusion = rng.dirichlet(np.ones(classes), (2, classes)) * 0.2 + 0.8 * np.eye(classes)
    prior, charge = rng.dirichlet(np.full(classes, 4.0)), rng.uniform(0.8, 1.5, 2)
    grid = SimplexGrid.of(confusion, prior)
    rule = simplex_rule(grid, charge, 12.0)
    exact = finite_value(prior, confusion, charge, 12.0, 5 if classes < 4 else 4)
    assert rule.bound <= exact * (1 + 1e-9)
    assert rule.bound >= exact * 0.99
    done = follow_simplex(rule)
    assert done.labels @ charge + 12.0 * done.error == pytest.approx(rule.bound, rel=0.01)


def simulated(rule, prior, tasks, rng):
    """Labels by worker class and errors of a rule, answers drawn anew."""
    confusion = rule.grid.confusion
    truth = rng.choice(len(prior), tasks, p=prior)
    belief, labels = np.tile(prior, (tasks, 1)), np.zeros((tasks, len(confusion)))
    going = np.arange(tasks)
    while len(going):
        asking = rule.asking(belief[going])
        who = asking.argmin(axis=0)
        ahead = asking.min(axis=0) < rule.closing(belief[going])
        going, who = going[ahead], who[ahead]
        labels[going, who] += 1
        chance = confusion[who, truth[going]]
        answer = (rng.random((len(going), 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=1)
        joint = belief[going] * confusion[who, :, answer]
        belief[going] = joint / joint.sum(axis=1, keepdims=True)
    tied = belief >= belief.max(axis=1, keepdims=True) - 1e-12
    return labels, 1 - tied[np.arange(tasks), truth] / tied.sum(axis=1)


@pytest.mark.release
@pytest.mark.parametrize(
    ("confusion", "cost", "least"),
    [
        pytest.param(coin(0.7, 3)[None], None, 4.4002, marks=pytest.mark.release),
        (SPECIALISTS, None, 2.65),
        pytest.param(
            np.array([coin(0.7, 3), coin(0.85, 3)]), [1.0, 2.0], 3.944, marks=pytest.mark.release
        ),
    ],
    ids=["a coin", "specialists", "prices"],
)
def test_three_classes(confusion, cost, least):
    """Bound and fresh simulation of the policies within .2 %, chance aside; ε = .05."""
    problem = problem_of(confusion, 0.05, cost)
    result = sequential_optimum(problem)
    assert least <= result.lower_bound / 1000 <= result.cost / 1000
    assert result.cost <= 1.002 * result.lower_bound
    assert result.errors == pytest.approx([0.05], abs=1e-6)
    rng = np.random.default_rng(5)
    costs, errors, variances = 0.0, 0.0, 0.0
    for column, count in zip(result.columns, result.counts, strict=True):
        labels, wrong = simulated(column.rule, problem.share, 20_000, rng)
        paid = labels @ problem.prices[0]
        costs += count * paid.mean()
        errors += count * wrong.mean()
        variances += count**2 * paid.var() / 20_000
    spread = 3 * np.sqrt(variances)
    assert costs == pytest.approx(result.cost, abs=spread)
    assert result.lower_bound <= costs + spread
    assert errors / 1000 == pytest.approx(0.05, abs=0.005)


@pytest.mark.release
def test_two_classes_are_those_of_before():
    """One coin, equally likely: lead by two or three. Unequal classes cost less."""
    result = sequential_optimum(problem_of(coin(0.8, 2)[None], 0.05))
    assert result.cost == pytest.approx(3328.125, rel=1e-6)
    assert 3328.125 * (1 - 2e-3) <= result.lower_bound <= 3328.125
    unequal = sequential_optimum(problem_of(coin(0.8, 2)[None], 0.05, share=[0.2, 0.8]))
    assert unequal.cost < result.lower_bound


@pytest.mark.release
def test_scarce_workers_and_both_routes():
    """The strong workers' time is short: it has a price, and the readable master says the same."""
    problem = problem_of([coin(0.7, 3), coin(0.9, 3)], 0.05, supply=1500.0)
    result = sequential_optimum(
        SequentialClassProblem(
            problem.confusion, problem.share, [1000], [1e5, 1200.0], 0.05, [[1.0, 1.0]]
        )
    )
    assert result.lower_bound <= result.cost <= 1.003 * result.lower_bound
    assert result.labels[0, 1] <= 1200 * (1 + 1e-9)
    assert result.worker_prices[1] > 0
    model = policy_master(result.problem, [column.policy for column in result.columns])
    ran = run_model(model, RunOptions(), integer=False)
    cost = sum(
        ran.values[model.count[i]] * column.policy.cost for i, column in enumerate(result.columns)
    )
    assert cost == pytest.approx(result.cost, rel=1e-6)


@pytest.mark.release
def test_four_classes():
    result = sequential_optimum(problem_of(coin(0.8, 4)[None], 0.1))
    assert result.lower_bound <= result.cost <= 1.005 * result.lower_bound


@pytest.mark.release
def test_many_classes_are_bounded_by_three_that_an_expert_names(monkeypatch):
    five = sequential_optimum(problem_of(coin(0.8, 5)[None], 0.1))
    assert (five.status, five.cost, five.columns) == ("open", None, [])
    four = problem_of(coin(0.8, 4)[None], 0.1)
    whole = sequential_optimum(four)
    monkeypatch.setattr(sequential, "MOST_CLASSES", 3)
    named = sequential_optimum(four)
    assert 0.5 * whole.lower_bound < named.lower_bound < whole.lower_bound
    assert five.lower_bound > 0.5 * whole.lower_bound
    chance, grids = simplex.named_grids(coin(0.7, 5)[None], np.array([0.4, 0.3, 0.2, 0.1, 0.0]))
    assert chance.sum() == pytest.approx(1.0)
    mean = np.zeros(5)
    for share, grid, members in zip(chance, grids, simplex.named_sets(5), strict=True):
        mean[members] += share * grid.prior
    assert mean == pytest.approx([0.4, 0.3, 0.2, 0.1, 0.0])


@pytest.mark.release
def test_answers_that_cannot_come():
    chance, posterior = after(np.array([[1.0, 0.0, 0.0]]), np.eye(3))
    assert chance.tolist() == [[1.0, 0.0, 0.0]]
    assert np.isfinite(posterior).all()
    sure = sequential_optimum(problem_of(np.eye(3)[None], 0.1))
    # Ask about most, name any class of the others: .15 of them are two thirds wrong.
    assert sure.cost == pytest.approx(850.0, rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"promise": "posterior"}, "promise"),
        ({"share": [0.5, 0.6, 0.1]}, "share"),
        ({"confusion": np.full((1, 1, 3, 3), 0.3)}, "sum to 1"),
        ({"confusion": np.ones((3, 3))}, "confusion"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"supply": [1.0, 2.0]}, "supply"),
    ],
)
def test_bad_input(changes, message):
    terms = {
        "confusion": coin(0.8, 3)[None, None],
        "share": np.full(3, 1 / 3),
        "tasks": [5],
        "supply": [9.0],
        "epsilon": 0.1,
    }
    with pytest.raises(InputError, match=message):
        SequentialClassProblem(**(terms | changes))


def test_two_kinds_of_problems_share_their_terms():
    two = SequentialProblem([[0.8]], [3], [9], 0.1)
    several = problem_of(coin(0.8, 2)[None], 0.1, tasks=3, supply=9.0)
    assert two.error_rows == several.error_rows
    assert two.prices.tolist() == several.prices.tolist()
