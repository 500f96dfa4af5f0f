from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import by_enumeration, small_problems

from crowd_models import AssignmentProblem, requirement
from crowd_models.patterns import Pattern, limits
from workbench.base.errors import InputError
from workbench.solving import Incumbent, Solution, Termination, integer_program, solve
from workbench.solving.highs import RunOptions
from workbench.solving.patterns.column_generation import (
    OutOfTime,
    Search,
    cost,
    dive,
    generate,
    replan,
    resolutions,
    used,
)
from workbench.solving.patterns.route import run_patterns


def typed_instance(seed, *, largest=26):
    """Some tasks of a few kinds; every second instance has few qualities, every third prices."""
    rng = np.random.default_rng(seed)
    types, n, m = (
        int(rng.integers(1, 4)),
        int(rng.integers(6, largest)),
        int(rng.integers(4, 16)),
    )
    quality = (
        rng.uniform(0, 1, (types, m)) if seed % 2 else rng.choice([0.04, 0.16, 0.64], (types, m))
    )
    kinds = rng.integers(0, types, n)
    available = rng.random((types, m)) < 0.85 if seed % 5 == 0 else np.ones((types, m), bool)
    need = rng.uniform(0.2, 0.6) * (quality * available).sum(axis=1)
    return AssignmentProblem(
        quality[kinds],
        rng.integers(max(1, n // 3), n + 1, m),
        need[kinds],
        rng.integers(1, 4, (types, m))[kinds].astype(float) if seed % 3 == 0 else None,
        available[kinds] if seed % 5 == 0 else None,
    )


def crowd(seed, *, tasks=120, workers=40, values=None, capacity=30, epsilon=0.1):
    rng = np.random.default_rng(seed)
    skill = (
        rng.uniform(0.6, 0.95, (3, workers)) if values is None else rng.choice(values, (3, workers))
    )
    kinds = np.arange(tasks) * 3 // tasks
    return AssignmentProblem((2 * skill[kinds] - 1) ** 2, capacity, requirement(epsilon))


def pairwise(seed, tasks, workers, capacity, epsilon, *, prices=True):
    """Every pair has a skill and, with `prices`, a price of its own: no two tasks are alike."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0.5, 1, (tasks, workers))
    cost = rng.uniform(0.5, 2, (tasks, workers)) if prices else None
    return AssignmentProblem((2 * skill - 1) ** 2, capacity, requirement(epsilon), cost)


@pytest.mark.parametrize("block", range(10))
def test_patterns_find_the_proven_optimum(block):
    """100 instances: the same optimum as branch and bound, and a bound that never exceeds it."""
    for seed in range(10 * block, 10 * block + 10):
        problem = typed_instance(seed, largest=20)
        exact = solve(problem, "ip", method="highs")
        found = solve(problem, "ip", method="patterns")
        assert found.termination is exact.termination, seed
        if exact.objective is None:
            continue
        assert exact.termination is Termination.OPTIMAL
        assert found.objective == pytest.approx(exact.objective, abs=1e-9), seed
        assert found.certificate.status in ("proven", "feasible")
        assert found.certificate.lower_bound <= exact.objective + 1e-9
        for moment in found.history:
            if moment.bound is not None:
                assert moment.bound <= exact.objective + 1e-6
            if moment.objective is not None:
                assert moment.objective >= exact.objective - 1e-9


@given(small_problems(), st.integers(0, 2**31))
@settings(deadline=None, max_examples=150)
def test_tasks_that_all_differ_against_enumeration(problem, seed):
    """Any prices, requirements, capacities, masks: the optimum, and it is proven by the data."""
    rng = np.random.default_rng(seed)
    problem = replace(problem, cost=rng.uniform(0.5, 2, problem.shape))
    best = by_enumeration(problem)
    found = solve(problem, "ip", method="patterns")
    if best is None:
        assert found.termination is Termination.INFEASIBLE
        return
    assert found.termination is Termination.OPTIMAL
    assert found.objective == pytest.approx(float(best), rel=1e-9)
    assert found.certificate.lower_bound <= float(best) * (1 + 1e-9)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("capacity", "epsilon"), [(18, 0.1), (30, 0.07)])
def test_tasks_that_all_differ_are_certified(seed, capacity, epsilon):
    """60 × 30 with prices: the relaxation and label counts leave some per cent open."""
    problem = pairwise(seed, 60, 30, capacity, epsilon)
    found = solve(problem, "ip", gap=6e-4)
    assert found.method.startswith("patterns")
    assert found.termination is Termination.OPTIMAL
    assert found.certificate.bound_from == "patterns"
    assert found.objective <= found.certificate.lower_bound / (1 - 6e-4)
    assert solve(problem, "typed").objective < 0.98 * found.objective


@pytest.mark.parametrize("seed", range(3))
def test_label_counts_go_first_where_prices_are_equal(seed):
    """Where capacity is to spare they prove the optimum; where it is tight patterns do."""
    ample, tight = (pairwise(seed, 60, 30, m, 0.1, prices=False) for m in (30, 13))
    counted, planned = solve(ample, "ip"), solve(tight, "ip", time_limit=20.0)
    assert counted.certificate.status == planned.certificate.status == "proven"
    assert counted.certificate.bound_from == "label counts"


def test_what_patterns_cannot_cover_is_left_to_branch_and_bound():
    """The relaxation covers all tasks, whole labels do not: each needs 3 and there are 2."""
    rng = np.random.default_rng(0)
    problem = AssignmentProblem(
        0.8 + 0.01 * rng.random((12, 9)), 3, 1.7, rng.uniform(0.5, 2, (12, 9))
    )
    assert solve(problem, "relaxation").termination is Termination.OPTIMAL
    assert solve(problem, "ip", method="patterns").termination is Termination.INFEASIBLE


@pytest.mark.parametrize(("values", "seed"), [((0.5, 0.9), 1), ((0.5, 0.7, 0.9), 2)])
def test_few_distinct_qualities_are_proven_by_the_data_alone(values, seed):
    problem = crowd(seed, tasks=300, workers=60, values=values, capacity=100)
    found = solve(problem, "ip")
    assert found.method.startswith("patterns")
    assert found.termination is Termination.OPTIMAL
    assert found.certificate.status == "proven"
    assert found.gap == 0
    relaxed = solve(problem, "typed")
    assert relaxed.objective < found.objective - 1  # the relaxation could not have proven it


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_crowd_of_many_qualities(seed):
    problem = crowd(seed)
    found = solve(problem, "ip", method="patterns", gap=0.004)
    assert found.termination is Termination.OPTIMAL
    assert found.gap <= 0.004
    assert found.certificate.lower_bound == found.bound
    assert all(check.passed for check in found.certificate.checks)


@given(st.integers(0, 2**31))
@settings(deadline=None, max_examples=15)
def test_permuting_tasks_and_workers_moves_nothing(seed):
    rng = np.random.default_rng(seed)
    problem = typed_instance(seed % 97, largest=14)
    tasks, workers = rng.permutation(problem.shape[0]), rng.permutation(problem.shape[1])
    at = np.ix_(tasks, workers)
    moved = AssignmentProblem(
        problem.quality[at], problem.capacity[workers], problem.requirement[tasks],
        None if problem.cost is None else problem.cost[at],
        None if problem.available is None else problem.available[at],
    )  # fmt: skip
    one, other = (solve(p, "ip", method="patterns") for p in (problem, moved))
    assert (one.termination, one.objective) == (other.termination, other.objective)


def test_scaling_prices_scales_cost_and_bound():
    problem = replace(
        crowd(3),
        cost=np.random.default_rng(3).uniform(1, 2, (120, 40))[:3][np.arange(120) * 3 // 120],
    )
    one = solve(problem, "ip", method="patterns", gap=0.01)
    other = solve(replace(problem, cost=problem.cost * 2.0**20), "ip", method="patterns", gap=0.01)
    assert other.certificate.lower_bound == pytest.approx(one.certificate.lower_bound * 2**20)
    assert other.objective == pytest.approx(one.objective * 2**20)
    assert other.history[-1].objective == pytest.approx(other.objective)


def test_more_capacity_never_costs_more():
    costs = [
        solve(crowd(4, capacity=capacity), "ip", method="patterns", gap=0.002).bound
        for capacity in (28, 32, 120)
    ]
    assert costs == sorted(costs, reverse=True)


def search(problem, **options):
    return Search(problem.typed, np.random.default_rng(0), **options)


def generated(problem, tolerance=0.3):
    typed = problem.typed
    return generate(
        search(problem), typed.tasks, typed.supply, np.zeros(typed.shape[1]),
        tolerance=tolerance, steps=resolutions(typed.shape[0])[:2],
    )  # fmt: skip


def test_a_dive_serves_every_task_within_capacity():
    problem = crowd(5)
    typed, start = problem.typed, generated(crowd(5))
    plan = dive(search(problem), typed.tasks, typed.supply, start)
    served = np.zeros(typed.shape[0])
    for pattern, times in plan:
        Pattern.of(typed, pattern.task_class, pattern.copies)  # raises for one that is none
        assert times > 0
        served[pattern.task_class] += times
    assert served.tolist() == typed.tasks.tolist()
    assert (used(plan, typed.shape[1]) <= typed.supply).all()
    assert start.value - 1e-6 <= start.mix.cost <= cost(plan) + 1e-6


def test_planning_anew_gives_a_cheaper_plan_or_none():
    problem = crowd(6)
    typed, start = problem.typed, generated(crowd(6), tolerance=5.0)
    at = search(problem)
    plan = dive(at, typed.tasks, typed.supply, start, share=1.0)
    for _ in range(6):
        better = replan(at, plan, start, size=40, seconds=5.0, tolerance=0.4)
        if better is None:
            continue
        assert cost(better) < cost(plan)
        assert sum(times for _, times in better) == problem.shape[0]
        assert (used(better, typed.shape[1]) <= typed.supply).all()
        plan = better


def test_capacity_left_rules_patterns_out():
    problem = crowd(7)
    typed = problem.typed
    left = typed.supply.copy()
    left[::2] = 0
    found = generate(
        search(problem), np.array([2, 0, 1]), left, np.zeros(40), generated(problem).patterns,
        tolerance=0.1, steps=(2000,),
    )  # fmt: skip
    for pattern in found.patterns:
        assert (pattern.copies <= np.minimum(left, limits(typed, pattern.task_class))).all()
        assert pattern.task_class != 1


def test_out_of_time():
    problem = crowd(8)
    with pytest.raises(OutOfTime):
        generate(
            search(problem, until=0.0), problem.typed.tasks, problem.typed.supply, np.zeros(40),
            tolerance=0.1, steps=(2000,),
        )  # fmt: skip


def test_without_time_there_is_the_start_and_what_it_proves():
    problem = crowd(9)
    reports = []
    answer = run_patterns(
        problem, np.zeros(40), RunOptions(time_limit=1e-9), reports.append,
        start=np.ones(120 * 40),
    )  # fmt: skip
    assert answer.termination is Termination.TIME_LIMIT
    assert answer.pairs.all()
    assert answer.bound is not None
    assert reports[-1].bound == answer.bound


def test_the_same_seed_gives_the_same_plan():
    one, again = (solve(crowd(10), "ip", method="patterns", gap=0.004, seed=7) for _ in range(2))
    assert one.assignment.tolist() == again.assignment.tolist()
    assert [(m.objective, m.bound) for m in one.history] == [
        (m.objective, m.bound) for m in again.history
    ]


def test_history_only_improves_and_reaches_the_answer():
    told = []
    found = solve(crowd(11), "ip", method="patterns", gap=0.004, progress=told.append)
    costs = [m.objective for m in found.history if m.objective is not None]
    bounds = [m.bound for m in found.history if m.bound is not None]
    assert costs == sorted(costs, reverse=True)
    assert bounds == sorted(bounds)
    assert (costs[-1], bounds[-1]) == (found.objective, found.bound)
    assert [m.seconds for m in told] == sorted(m.seconds for m in told)
    assert told[-1].objective == found.objective


@pytest.mark.parametrize("limit", [None, 30.0])
def test_no_whole_plan_though_the_relaxation_has_one(limit):
    """Two workers of 0.9 and capacity 1 for three tasks of 0.6: fractions would do."""
    problem = AssignmentProblem(np.full((3, 2), 0.9), 1, 0.6)
    relaxed = solve(problem, "typed")
    found = solve(problem, "ip", method="patterns", time_limit=limit)
    assert relaxed.termination is Termination.OPTIMAL
    assert found.termination is Termination.INFEASIBLE
    assert found.assignment is None


def test_tasks_that_need_nothing():
    need = np.where(np.arange(20) % 2, 0.5, 0.0)
    problem = AssignmentProblem(np.full((20, 5), 0.6), 20, need)
    found = solve(problem, "ip", method="patterns")
    assert (found.termination, found.objective) == (Termination.OPTIMAL, 10)


@pytest.mark.parametrize(
    ("problem", "method", "reason"),
    [
        (AssignmentProblem(np.full((5, 5), 0.6), 5, 0.5), "highs", "few"),
        (crowd(1), "patterns", "120 tasks are of 3 kinds only"),
        (
            pairwise(0, 60, 20, 60, 0.6, prices=False),
            "patterns",
            "of 60 tasks 60 differ; label counts first",
        ),
        (pairwise(0, 60, 20, 60, 0.6), "patterns", "of 60 tasks 60 differ, and prices do"),
    ],
)
def test_auto_says_which_and_why(problem, method, reason):
    found = solve(problem, "ip", gap=0.1)
    assert found.method.startswith(f"{method}: ")
    assert reason in found.method


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "magic"}, "use auto, patterns, mip, highs"),
        ({"method": "patterns", "route": "pyomo"}, "--route arrays"),
        ({"method": "patterns", "formulation": "relaxation"}, "use auto$"),
        ({"method": "cutting-planes", "formulation": "typed", "route": "pyomo"}, "--route arrays"),
    ],
)
def test_methods_that_cannot_be(options, words):
    with pytest.raises(InputError, match=words):
        solve(crowd(1), **{"formulation": "ip", **options})


def test_a_plan_that_is_wrong_fails_its_certificate(monkeypatch):
    honest = integer_program.run_patterns

    def liar(*arguments, **options):
        answer = honest(*arguments, **options)
        pairs = answer.pairs.copy()
        pairs[np.argmax(pairs)] = 0.0
        return replace(answer, pairs=pairs)

    monkeypatch.setattr(integer_program, "run_patterns", liar)
    found = solve(crowd(1), "ip", method="patterns", gap=0.01)
    assert found.solved
    assert found.note.startswith("patterns gives a solution that fails its certificate: cover (2)")


def test_a_bound_beyond_the_plan_is_seen(monkeypatch):
    honest = integer_program.run_patterns
    monkeypatch.setattr(
        integer_program, "run_patterns", lambda *a, **o: replace(honest(*a, **o), bound=10.0**6)
    )
    found = solve(crowd(1), "ip", method="patterns", gap=0.01)
    assert found.solved
    assert found.bound < 10.0**6
    assert found.note == (
        "patterns claims a bound that denies a solution that is known; solved by highs"
    )


def test_the_mean_gap_over_time():
    history = (Incumbent(2.0, None, 5.0), Incumbent(4.0, 10.0, 5.0), Incumbent(8.0, 10.0, 10.0))
    solution = Solution("ip", "arrays", Termination.OPTIMAL, history=history)
    assert solution.primal_dual_integral(10.0) == pytest.approx((4 + 4 * 0.5) / 10)
    assert solution.primal_dual_integral(6.0) == pytest.approx((4 + 2 * 0.5) / 6)
    assert solution.as_dict()["history"][1] == {"seconds": 4.0, "objective": 10.0, "bound": 5.0}
    assert Solution("ip", "arrays", Termination.OPTIMAL).primal_dual_integral(5.0) is None
