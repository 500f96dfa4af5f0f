"""Patterns of a least and a most number of labels: prices and bounds against all sets."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from crowd_models import AssignmentProblem
from crowd_models.patterns import SLACK
from tests.core.release import some
from tests.core.solving.test_proof_file import limited
from workbench.base.checker import plan_checker
from workbench.solving import solve
from workbench.solving.patterns.bound import pattern_bound
from workbench.solving.patterns.label_limits import cheapest_within, least_price_within


def drawn(seed, signed=False):
    """Qualities, requirement, whole prices, copies and limits of one task, in quarters."""
    rng = np.random.default_rng(seed)
    kinds = int(rng.integers(2, 5))
    quality = rng.integers(0, 5, kinds) / 4
    price = rng.integers(-6 if signed else 0, 12, kinds)
    copies = rng.integers(0, 4, kinds)
    fewest = int(rng.integers(0, 4))
    limits = (fewest, fewest + int(rng.integers(0, 4)))
    return quality, float(rng.integers(0, 7)) / 4, price, copies, limits


def patterns(quality, need, copies, limits):
    """All counts that meet the requirement within the limits."""
    for counts in itertools.product(*(range(most + 1) for most in copies.tolist())):
        if limits[0] <= sum(counts) <= limits[1] and float(quality @ counts) >= need:
            yield np.array(counts)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("seed", some(range(60), 4))
def test_the_cheapest_pattern_is_that_of_an_enumeration(seed, signed):
    quality, need, price, copies, limits = drawn(seed, signed)
    least = min((int(price @ counts) for counts in patterns(*_task(seed, signed))), default=None)
    sets = cheapest_within(quality, need, price.astype(float), copies, limits, 5)
    assert (len(sets) > 0) == (least is not None)
    allowed = {counts.tobytes() for counts in patterns(*_task(seed, signed))}
    assert all(counts.tobytes() in allowed for counts in sets)
    if least is not None:
        assert price @ sets[0] == least
        assert [price @ counts for counts in sets] == sorted(price @ counts for counts in sets)
    bound = least_price_within(quality, need * (1 - SLACK), price, copies, limits)
    assert bound == (least or 0)


def _task(seed, signed):
    quality, need, _, copies, limits = drawn(seed, signed)
    return quality, need, copies, limits


def test_many_workers_take_the_search_to_its_end():
    """Forty workers all different, four to six labels: the bound is the price of a pattern."""
    rng = np.random.default_rng(4)
    quality, most = rng.uniform(0.04, 0.8, 40).round(3), np.ones(40, dtype=np.int64)
    price = rng.integers(500, 2000, 40)
    for limits in ((0, 40), (4, 6), (6, 6), (9, 12)):
        best = cheapest_within(quality, 2.4, price.astype(float), most, limits, 1)[0]
        assert limits[0] <= best.sum() <= limits[1]
        bound = least_price_within(quality, 2.4 * (1 - SLACK), price, most, limits)
        assert bound == price @ best, limits


def problem_of(seed):
    rng = np.random.default_rng(seed)
    least = rng.integers(0, 3, 3)
    return AssignmentProblem(
        rng.integers(1, 10, (2, 4))[[0, 1, 0]] / 10,
        rng.integers(1, 4, 4),
        rng.integers(2, 12, 2)[[0, 1, 0]] / 10,
        rng.integers(1, 6, (2, 4))[[0, 1, 0]],
        least=least,
        most=least + rng.integers(0, 3, 3),
    )


def cheapest_plan(problem):
    sets = np.array(list(itertools.product([0, 1], repeat=problem.shape[1])))
    states = {tuple(problem.capacity.tolist()): 0.0}
    for i in range(problem.shape[0]):
        after = {}
        count = sets.sum(axis=1)
        fine = (problem.least[i] <= count) & (count <= problem.most[i])
        fine &= sets @ problem.quality[i] >= problem.requirement[i] * (1 - SLACK)
        for those in sets[fine]:
            for room, paid in states.items():
                left = tuple((np.array(room) - those).tolist())
                if min(left) >= 0:
                    cost = paid + float(problem.prices[i] @ those)
                    after[left] = min(after.get(left, np.inf), cost)
        states = after
    return min(states.values(), default=np.inf)


@pytest.mark.parametrize("seed", range(4))
def test_no_prices_prove_more_than_the_cheapest_plan(seed):
    problem, rng = problem_of(seed), np.random.default_rng(seed)
    best = cheapest_plan(problem)
    for _ in range(10):
        u = rng.uniform(0, 4, problem.typed.shape[1]) * (rng.random(problem.typed.shape[1]) < 0.5)
        assert pattern_bound(problem.typed, u) <= best


@pytest.mark.parametrize("method", ["auto", "patterns"])
@pytest.mark.parametrize("seed", some(range(6), 3))
def test_plans_by_patterns_are_the_cheapest(seed, method):
    problem = problem_of(seed)
    best, found = cheapest_plan(problem), solve(problem, "ip", method=method, isolated=False)
    if best == np.inf:
        assert found.termination == "infeasible"
        return
    assert found.objective == pytest.approx(best)
    assert found.certificate.status == "proven"


def test_tasks_alike_but_for_their_limits_are_kinds_of_their_own():
    problem = AssignmentProblem([[0.5, 0.5, 0.5]] * 4, 4, 0.75, least=[2, 3, 2, 2], most=3)
    assert problem.typed.tasks.tolist() == [3, 1]
    assert problem.typed.label_limits(1) == (3, 3)
    assert solve(problem, "ip", isolated=False).objective == 9


@pytest.mark.release
def test_whatever_is_solved_with_limits_of_labels_is_proven(tmp_path):
    """Small programs: none is left to the solver's word."""
    checker, infeasible = plan_checker(), 0
    problem, proof = tmp_path / "problem.json", tmp_path / "proof.json"
    for seed in range(100, 120):
        problem.write_text(json.dumps(limited(seed)))
        proof.unlink(missing_ok=True)
        answer = wb.solve(problem, proof=proof)
        infeasible += answer.objective is None
        if answer.objective is not None:
            assert answer.solution.certificate.status == "proven", seed
            holds, line = checker["line_of"](problem.read_bytes(), proof.read_text())
            assert (holds, line.endswith("none is cheaper")) == (True, True), (seed, line)
            assert Fraction(json.loads(proof.read_text())["claim"]["cost"]) >= 0
    assert infeasible < 15
