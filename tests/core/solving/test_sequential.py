"""The sequential optimum: closed forms, enumeration, both routes, and what its bound may say."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest
from finite_policies import finite_optimum

from crowd_models.sequential_policies import SequentialProblem, TaskPolicy, policy_master
from workbench.base.errors import InputError
from workbench.solving.highs import RunOptions, optimum
from workbench.solving.posteriors import (
    Grid,
    error_at,
    error_rule,
    follow,
    log_odds,
    posterior_rule,
    undominated,
)
from workbench.solving.pyomo_route import run_model
from workbench.solving.sequential import master_arrays, sequential_optimum

COUNT = int(os.environ.get("WORKBENCH_FUZZ", "50"))
DRAW = np.random.default_rng(0)
DRAW.permutation(300)
WIDE, NARROW = DRAW.uniform(0.5, 0.99, (3, 300)), DRAW.uniform(0.6, 0.95, (3, 300))


def test_lead_by_two_or_by_three():
    """Half of skill .8: lead 2 costs 50/17 labels and errs 1/17, lead 3 315/65 and 1/65."""
    labels = {lead: lead / 0.6 * (1 - 2 / (1 + 4**lead)) for lead in (2, 3)}
    errors = {lead: 1 / (1 + 4**lead) for lead in (2, 3)}
    share = (0.05 - errors[3]) / (errors[2] - errors[3])
    exact = 1000 * (share * labels[2] + (1 - share) * labels[3])
    assert exact == pytest.approx(3328.125, abs=1e-9)
    result = sequential_optimum(SequentialProblem([[0.5, 0.8]], [1000], [30000, 30000], 0.05))
    assert result.lower_bound == pytest.approx(exact, abs=1e-6)
    assert result.cost == pytest.approx(exact, abs=1e-6)
    assert result.errors == pytest.approx([0.05])
    sure = sequential_optimum(
        SequentialProblem([[0.8]], [1000], [30000], 0.05, promise="posterior")
    )
    assert sure.cost == pytest.approx(1000 * labels[3], rel=1e-6)
    assert sure.cost * (1 - 3e-4) <= sure.lower_bound <= sure.cost


@pytest.mark.parametrize(
    ("skill", "epsilon", "capacity", "promise", "labels"),
    [
        (WIDE, 0.05, 200, "error", 928.7),
        (WIDE, 0.05, 200, "posterior", 998.8),
        pytest.param(NARROW, 0.001, 200, "error", 3012.8, marks=pytest.mark.release),
        pytest.param(NARROW, 0.001, 200, "posterior", 3353.1, marks=pytest.mark.release),
    ],
)
def test_three_crowds(skill, epsilon, capacity, promise, labels):
    """Those that are scarcer: tests/core/assignment/test_label_by_label.py."""
    problem = SequentialProblem(skill, [333] * 3, [capacity] * 300, epsilon, promise=promise)
    result = sequential_optimum(problem)
    assert result.lower_bound == pytest.approx(labels, rel=1.1e-3)
    assert result.lower_bound <= result.cost <= result.lower_bound * 1.001
    assert (result.labels.sum(axis=0) <= capacity * (1 + 1e-9)).all()
    assert (result.errors <= epsilon * (1 + 1e-6)).all()


@pytest.mark.release
def test_two_scarce_types():
    """Prices 2 and 1: columns of a grid's ties would be 9 to 19 % dearer."""
    skill, prices = [[0.9, 0.7], [0.8, 0.65]], [[2, 1], [2, 1]]
    for supply in ([700, 10000], [1000, 8000], [1300, 7000]):
        problem = SequentialProblem(skill, [500, 500], supply, 0.05, prices)
        result = sequential_optimum(problem)
        assert result.lower_bound <= result.cost <= 1.01 * result.lower_bound
        assert (result.labels.sum(axis=0) <= np.array(supply) * (1 + 1e-9)).all()
        assert (result.worker_prices > 0).any()


def random_problem(seed):
    """Few types and classes, sometimes alike, sometimes scarce, sometimes priced."""
    rng = np.random.default_rng(seed)
    types, classes = rng.integers(1, 3), rng.integers(1, 3)
    skill = rng.choice([0.7, 0.8, 0.9], (types, classes))
    skill = np.where(rng.random(skill.shape) < 0.6, rng.uniform(0.7, 0.97, skill.shape), skill)
    prices = rng.choice([1.0, 0.5, 2.0, rng.uniform(0.3, 3)], (types, classes))
    tasks = rng.integers(1, 100, types)
    supply = tasks.sum() * rng.choice([0.5, 1.5, 4.0, 20.0], classes)
    supply[-1] *= 1 + 4 * (rng.random() < 0.7)
    epsilon = float(rng.choice([0.03, 0.05, 0.1, 0.2, rng.uniform(0.03, 0.3)]))
    promise = ("error", "mean", "posterior")[rng.integers(3)]
    return SequentialProblem(skill, tasks, supply, epsilon, prices, promise)


def still_open(result, labels):
    """Share of tasks for which the policies ask more than so many labels."""
    asking = [
        count * follow(column.rule).asking[labels:][:1].sum()
        for column, count in zip(result.columns, result.counts, strict=True)
    ]
    return sum(asking) / result.problem.tasks.sum()


def verdict(problem):
    """Hold bound and policies against all policies of so many labels that hardly any is open."""
    result = sequential_optimum(problem)
    if result.cost is None:
        finite = finite_optimum(problem, 16)
        assert finite is None, "no policy, though there is one"
        return "none"
    labels = next((h for h in (6, 9, 12, 16, 20, 26) if still_open(result, h) < 1e-4), 12)
    finite = finite_optimum(problem, labels)
    near = still_open(result, labels) < 1e-4
    if finite is None:
        return "none of so few labels"
    assert result.lower_bound <= finite * (1 + 1e-7), "a bound above the optimum"
    if near:
        assert finite <= 1.001 * result.lower_bound + 1e-9, "a bound too low"
        assert result.cost <= finite * (1 + 1e-3) + 1e-9, "policies too dear"
        return "near"
    return "open"


@pytest.mark.release
def test_against_enumeration():
    seen, wrong = Counter(), []
    for seed in range(COUNT):
        try:
            seen[verdict(random_problem(seed))] += 1
        except AssertionError as error:
            wrong.append((seed, str(error).partition("\n")[0]))
    print(dict(seen))
    assert not wrong
    assert seen["near"] > COUNT / 2


def test_both_routes_state_one_master():
    """The readable Pyomo model and the arrays: one optimum, dual prices of one sign."""
    for seed in range(6):
        problem = random_problem(seed)
        rng = np.random.default_rng(seed)
        policies = [
            TaskPolicy.of(problem, t, rng.uniform(0, 0.1, problem.skill.shape[1]), 0.02 * i)
            for t in range(len(problem.tasks))
            for i in range(4)
        ]
        values, duals = optimum(master_arrays(problem, policies))
        model = policy_master(problem, policies)
        ran = run_model(model, RunOptions(), integer=False)
        cost = sum(ran.values[model.count[i]] * p.cost for i, p in enumerate(policies))
        assert cost == pytest.approx(values @ [p.cost for p in policies])
        weights = [ran.duals[row] for row in model.tasks.values()]
        assert weights == pytest.approx(duals[: len(weights)], abs=1e-7)


@pytest.mark.parametrize("per_error", [3.0, 20.0, 400.0])
def test_interpolation_stays_below(per_error):
    """A coarse grid's bound is below a fine one's, and that below what any rule costs."""
    weight, charge = log_odds(np.array([0.62, 0.8, 0.93])), np.array([0.4, 1.0, 2.1])
    values = []
    for width in (0.5, 0.1, 0.01):
        rule = error_rule(Grid.of(weight, np.arange(0, 12, width)), charge, per_error)
        done = follow(rule)
        values += [rule.bound, done.labels @ charge + per_error * done.error]
    below, above = values[::2], values[1::2]
    assert (np.diff(below) >= -1e-9).all()
    assert max(below) <= min(above) * (1 + 1e-9)
    assert above[-1] <= below[-1] * 1.001


def test_a_worse_worker_may_close_a_task_sooner():
    """Where a posterior is promised, more skill at one price is not always better."""
    weight, charge = log_odds(np.array([0.9, 0.8])), np.ones(2)
    assert undominated(weight, charge).tolist() == [0]
    both = posterior_rule(weight, charge, 0.026, 4000)
    strong = posterior_rule(weight, charge, 0.026, 4000, np.array([0]))
    assert both.bound <= strong.bound
    done = follow(both)
    assert done.labels.sum() == pytest.approx(both.bound, rel=2e-3)
    assert done.error <= 0.026


def test_leads_closed_have_the_posterior():
    rule = posterior_rule(log_odds(np.array([0.8])), np.ones(1), 0.05, 100)
    assert np.isinf(rule.closing(np.array([2.9]))).all()
    assert error_at(np.array([rule.enough])) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epsilon": 0.5}, "epsilon"),
        ({"promise": "often"}, "promise"),
        ({"supply": [1.0]}, "supply"),
        ({"cost": [[1.0, -1.0]]}, "cost"),
        ({"skill": [[0.5, 1.2]]}, "skill"),
    ],
)
def test_bad_input(change, said):
    asked = {"skill": [[0.7, 0.8]], "tasks": [3], "supply": [9, 9], "epsilon": 0.1}
    with pytest.raises(InputError, match=said):
        SequentialProblem(**(asked | change))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("promise", ["error", "mean", "posterior"])
def test_useful_labels_that_are_free_cost_nothing(promise):
    """Leads grow beyond what floats can raise e to: certain, and no warning."""
    problem = SequentialProblem([[0.8, 0.9]], [10], [100, 1000], 0.05, [[0, 1]], promise=promise)
    result = sequential_optimum(problem)
    assert (result.status, result.lower_bound, result.cost) == ("solved", 0, 0)
    assert (result.errors <= 0.05).all()
