from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import by_enumeration, small_problems

from crowd_models import AssignmentProblem, requirement
from workbench.solving import Termination, integer_program, solve
from workbench.solving.patterns.column_generation import CoverPricing, OutOfTime, Search


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


def crowd(seed, *, tasks=60, workers=24, values=None, capacity=30, epsilon=0.1):
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


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(n, marks=pytest.mark.release) for n in (1, 2, 3))]
)
def test_patterns_find_the_proven_optimum(block):
    """40 instances: the same optimum as branch and bound, and a bound that never exceeds it."""
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
@settings(deadline=None, max_examples=24)
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


@pytest.mark.parametrize(
    ("problem", "method", "reason"),
    [
        (AssignmentProblem(np.full((5, 5), 0.6), 5, 0.5), "highs", "few"),
        (crowd(1), "patterns", "60 tasks are of 3 kinds only"),
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


def test_small_programs_have_the_clock_that_their_processor_time_takes():
    """After a fifth of a processor: five seconds of the clock for one, while any are left."""
    typed = AssignmentProblem([[0.9]], 1, 0.5).typed
    now, used = time.perf_counter(), time.process_time()
    since = now - 50.0, used - 10.0
    rng = np.random.default_rng(0)
    search = Search(typed, CoverPricing(typed), rng, now + 1000.0, since)
    assert search.rest(2.0) == (pytest.approx(10.0, rel=0.1), 2.0)
    assert search.rest(300.0)[0] == pytest.approx(1000.0, abs=5.0)
    assert Search(typed, CoverPricing(typed), rng).rest(2.0) == (None, None)
    with pytest.raises(OutOfTime):
        Search(typed, CoverPricing(typed), rng, now - 1.0).rest(2.0)
