"""The exact-error program: brute force, the bound over profiles, the plans of three crowds."""

from __future__ import annotations

import collections
import itertools
import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench.solving.exact_error as route
from crowd_models.exact_error import ExactVote, error_problem, likeliest_error, log_odds
from crowd_models.gains import GAINS
from workbench.accuracy.error_rate import vote_error
from workbench.base.errors import InputError
from workbench.solving import solve
from workbench.solving.exact_error import solve_exact_error
from workbench.solving.patterns.set_pricing import Profiles, SetPricing, _nodes

COUNT = int(os.environ.get("WORKBENCH_FUZZ", "24"))
"""Programs of few tasks that are decided; before a release 600."""
SKILLS = (0.1, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0)


def by_enumeration(skill, capacity, epsilon, cost):
    """The least cost over all plans, errors by listing all answers; None where there is none."""
    n, m = skill.shape
    sets = list(itertools.product([0, 1], repeat=m))

    def error(i, chosen):
        p = skill[i, np.flatnonzero(chosen)]
        answers = np.array(list(itertools.product([0, 1], repeat=len(p))), dtype=bool)
        right, wrong = (np.where(a, p, 1 - p).prod(axis=1) for a in (answers, ~answers))
        return 0.5 * np.minimum(right, wrong).sum()

    best = None
    allowed = [[s for s in sets if error(i, s) <= epsilon[i] * (1 + 1e-9)] for i in range(n)]
    for plan in itertools.product(*allowed):
        chosen = np.array(plan)
        if (chosen.sum(axis=0) <= capacity).all():
            paid = float((cost * chosen).sum())
            best = paid if best is None else min(best, paid)
    return best


@st.composite
def small(draw):
    n, m = draw(st.sampled_from([(1, 5), (2, 4), (3, 3)]))
    skill = np.array(draw(st.lists(st.sampled_from(SKILLS), min_size=n * m, max_size=n * m)))
    capacity = np.array(draw(st.lists(st.integers(0, n), min_size=m, max_size=m)))
    epsilon = np.array(
        draw(st.lists(st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.5]), min_size=n, max_size=n))
    )
    cost = np.array(
        draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.5]), min_size=n * m, max_size=n * m))
    )
    if draw(st.booleans()):
        cost = np.ones(n * m)
    return skill.reshape(n, m), capacity, epsilon, cost.reshape(n, m)


@pytest.mark.release
@settings(max_examples=60, deadline=None)
@given(small(), st.booleans())
def test_optimum_is_that_of_enumeration(instance, listed):
    """By listing all sets, and by column generation, which may leave a gap but tells no lie."""
    skill, capacity, epsilon, cost = instance
    best = by_enumeration(*instance)
    problem = error_problem(skill, capacity, epsilon, cost)
    with pytest.MonkeyPatch.context() as patch:
        if not listed:
            patch.setattr(route, "LISTED", 0)
        plan = solve_exact_error(problem, time_limit=1.0)
    if best is None:
        assert plan.cost is None
        assert listed is False or plan.status == "infeasible"
        return
    assert plan.lower_bound is not None
    assert plan.lower_bound <= best + 1e-9
    if plan.cost is not None:
        assert plan.cost >= best - 1e-9
    if listed:
        assert plan.status == "proven"
    if plan.status == "proven":
        assert plan.cost == pytest.approx(best, abs=1e-9)


def few_tasks(seed):
    """Two to four tasks and 8 to 11 voters, most of them needed: skill, capacity, ε, cost."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    m = int(rng.integers(8, 12 if n < 4 else 10))
    skill = np.round(rng.uniform(0.5, 0.97, (n, m)), 3)
    if rng.random() < 0.5:
        skill = rng.choice(np.arange(11, 20) / 20, (n, m))
    if rng.random() < 0.5:
        skill = skill[np.arange(n) % int(rng.integers(1, 3))]
    epsilon = np.full(n, rng.choice([0.01, 0.02, 0.05, 0.1, 0.2]))
    if rng.random() < 0.5:
        epsilon = np.round(np.exp(rng.uniform(np.log(0.005), np.log(0.3), n)), 3)
    costs = (np.ones((n, m)), rng.integers(1, 4, (n, m)) + 0.0, np.round(1 / skill, 2))
    return skill, rng.integers(1, n + 1, m), epsilon, costs[int(rng.integers(3))]


NO_PLAN = (10, 39, 43)
"""Seeds of `few_tasks` for which column generation comes to no plan, since there is none."""


def by_capacity(skill, capacity, epsilon, cost):
    """As `by_enumeration`, task by task: the least cost of every rest of the capacities."""
    n, m = skill.shape
    bits = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
    states = {tuple(np.minimum(capacity, n).tolist()): 0.0}
    for i in range(n):
        # Chances of all answers of a set, if one class is true and if the other is.
        chances, allowed = [(np.ones(1), np.ones(1))], np.zeros(2**m, dtype=bool)
        for chosen in range(2**m):
            if chosen:
                one, other = chances[chosen & (chosen - 1)]
                p = skill[i, (chosen & -chosen).bit_length() - 1]
                one, other = (
                    np.outer(one, [p, 1 - p]).ravel(),
                    np.outer(other, [1 - p, p]).ravel(),
                )
                chances.append((one, other))
            error = 0.5 * np.minimum(*chances[chosen]).sum()
            allowed[chosen] = error <= epsilon[i] * (1 + 1e-9)
        spare = [
            any(row[j] and allowed[s ^ 1 << j] for j in range(m)) for s, row in enumerate(bits)
        ]
        after = {}
        for (room, spent), chosen in itertools.product(
            states.items(), bits[allowed & ~np.array(spare)]
        ):
            left = tuple((np.array(room) - chosen).tolist())
            if min(left) >= 0:
                after[left] = min(after.get(left, math.inf), spent + float(cost[i] @ chosen))
        states = after
    return min(states.values(), default=None)


def decided(seeds):
    """What is said of programs of few tasks, held against all plans: how many there are of each."""
    outcomes = collections.Counter()
    for seed in seeds:
        instance = few_tasks(seed)
        best, plan = (
            by_capacity(*instance),
            solve_exact_error(error_problem(*instance), time_limit=600.0),
        )
        outcomes["infeasible" if best is None else plan.status] += 1
        assert (best is None) == (plan.status == "infeasible"), seed
        if best is not None:
            assert plan.lower_bound <= best + 1e-9, seed
            assert plan.cost >= best - 1e-9, seed
            assert plan.status == "feasible" or plan.cost == pytest.approx(best), seed
    return outcomes


@pytest.mark.release
def test_few_tasks_that_have_no_plan_are_said_to_have_none():
    """Column generation comes to no plan; the list of allowed sets says that there is none."""
    assert decided(NO_PLAN)["infeasible"] == len(NO_PLAN)


@pytest.mark.release
def test_few_tasks_are_decided():
    assert decided(range(COUNT))["infeasible"] >= COUNT // 4


@pytest.mark.release
@settings(max_examples=60, deadline=None)
@given(
    skill=st.lists(st.floats(0.5, 0.99), min_size=3, max_size=7),
    fee=st.lists(st.floats(0, 2), min_size=7, max_size=7),
    epsilon=st.sampled_from([0.02, 0.1, 0.3]),
)
def test_bound_is_below_the_cheapest_set(skill, fee, epsilon):
    """At any prices of capacity, and not far below; whole labels to within less than one."""
    problem = error_problem([skill], 1, epsilon).typed
    u = np.array(fee)[: problem.shape[1]]
    pricing = SetPricing(problem)
    sets, least = pricing.cheapest(0, 1.0 + u, problem.workers, 300, np.random.default_rng(0))
    every = map(np.array, itertools.product(*(range(k + 1) for k in problem.workers.tolist())))
    errors = [(pricing.vote.error(0, copies) / epsilon, copies) for copies in every]

    def cheapest(most, price):
        return min((float(price @ c) for e, c in errors if e <= most), default=math.inf)

    assert math.isfinite(cheapest(1 + 1e-9, 1.0 + u)) == bool(sets)
    if sets:
        best, near = cheapest(1 + 1e-9, 1.0 + u), cheapest(1.02, 1.0 + u)
        assert 0.96 * near <= least <= best * 1.05
        assert sets[0].cost + u @ sets[0].copies >= best * (1 - 1e-9)
        none = np.zeros(len(u))
        fresh = SetPricing(problem)  # It knows nothing better than everybody.
        fresh._keep(0, problem.workers)
        for bounds in (pricing, fresh):
            assert bounds.bound(none) <= cheapest(1 + 1e-9, 1.0 + none) + 1e-9
            assert bounds.bound(none) >= cheapest(1.02, 1.0 + none) - 1e-6
            assert bounds.bound(u) <= cheapest(1 + 1e-9, 1.0 + none) + 1e-9


@pytest.mark.release
@settings(max_examples=40, deadline=None)
@given(
    labels=st.lists(st.tuples(st.floats(0.05, 4), st.integers(0, 9)), min_size=3, max_size=7),
    epsilon=st.sampled_from([0.02, 0.1, 0.3]),
)
def test_sets_are_listed_by_price(labels, epsilon):
    """All that are allowed, and none that is far from it."""
    weight, price = np.array(sorted(labels)).T
    price = price.astype(np.int64)
    top = int(price.sum())
    profiles = Profiles.down_to(epsilon)
    alone = profiles.ahead(np.zeros(0))
    nodes = list(_nodes(profiles, weight, price, top, 2 * epsilon * (1 + 1e-9), alone))
    listed = {chosen: least for least, chosen in nodes if chosen is not None}
    assert [least for least, _ in nodes] == sorted(least for least, _ in nodes)
    for bits in itertools.product([0, 1], repeat=len(weight)):
        chosen = tuple(np.flatnonzero(bits)[::-1].tolist())
        error = likeliest_error(weight, np.array(bits))
        if error <= epsilon:
            assert listed[chosen] == price[list(chosen)].sum()
        assert chosen not in listed or error <= 1.02 * epsilon


@given(st.lists(st.sampled_from(SKILLS), min_size=0, max_size=8))
def test_error_is_that_of_the_vote(skill):
    """Held against `accuracy`, which shares no code; a weight stands for p and for 1 − p."""
    p = np.array(skill)
    weight = log_odds(GAINS["bhattacharyya"].quality(p))
    sure = np.clip(p, 1e-12, 1 - 1e-12)
    held = vote_error(sure, np.log(sure / (1 - sure)))
    found = likeliest_error(weight, np.ones(len(p), dtype=np.int64))
    assert found == pytest.approx(held.probability, abs=1e-10)


def test_many_voters_are_bounded_from_above(monkeypatch):
    weight = log_odds(GAINS["bhattacharyya"].quality(np.linspace(0.55, 0.8, 12)))
    copies = np.full(12, 2)
    exact = likeliest_error(weight, copies)
    monkeypatch.setattr("crowd_models.exact_error.MOST_STATES", 100)
    rounded = likeliest_error(weight, copies)
    assert exact <= rounded <= exact * 1.02


def crowds():
    rng = np.random.default_rng(0)
    half = np.where(rng.permutation(300) < 150, 0.5, 0.8)
    wide, narrow = rng.uniform(0.5, 0.99, (3, 300)), rng.uniform(0.6, 0.95, (3, 300))
    kinds = np.arange(999) % 3
    return {
        "half": (np.tile(half, (1000, 1)), 200, 0.05, 7000),
        "wide": (wide[kinds], 200, 0.05, 999),
        "narrow": (narrow[kinds], 200, 0.001, 6993),
    }


@pytest.mark.parametrize(
    "name", ["half", "wide", pytest.param("narrow", marks=pytest.mark.release)]
)
def test_three_crowds_to_a_proof(name):
    """The plan's sets are of different workers, and each errs as seldom as it should."""
    skill, capacity, epsilon, expected = crowds()[name]
    plan = solve_exact_error(error_problem(skill, capacity, epsilon))
    assert (plan.status, plan.cost, plan.lower_bound) == ("proven", expected, expected)
    chosen = plan.assignment
    assert np.isin(chosen, (0, 1)).all()
    assert chosen.sum() == expected
    assert chosen.sum(axis=0).max() <= capacity
    assert plan.errors.max() <= epsilon
    for i in range(0, len(chosen), 97):
        p = skill[i, chosen[i] > 0]
        held = vote_error(p, np.log(p / (1 - p)))
        assert held.probability == pytest.approx(plan.errors[i], rel=1e-9)


@pytest.mark.release
def test_scarce_capacities():
    """All of them bind: a plan at once, and soon one within a hundredth of the bound."""
    rng = np.random.default_rng(1)
    skill = rng.uniform(0.6, 0.95, (3, 30))[np.arange(60) % 3]
    problem = error_problem(skill, 12, 0.02)
    first = solve_exact_error(problem, time_limit=1e-3)
    plan = solve_exact_error(problem, gap=0.01, time_limit=600.0)
    assert first.status == "feasible"
    assert first.cost >= plan.cost
    assert 0.99 * plan.cost <= plan.lower_bound <= plan.cost
    assert plan.errors.max() <= 0.02
    assert plan.assignment.sum(axis=0).max() == 12
    assert np.isin(plan.assignment, (0, 1)).all()


@settings(max_examples=15, deadline=None)
@given(small())
def test_a_bound_asks_for_more(instance):
    skill, capacity, epsilon, cost = instance
    gain = GAINS["bhattacharyya"]
    need = gain.requirement(epsilon)
    sufficient = type(error_problem(skill, capacity, epsilon))(
        gain.quality(skill, need), capacity, need, cost, gain=gain.name
    )
    above = solve(sufficient, "ip")
    plan = solve_exact_error(error_problem(skill, capacity, epsilon, cost))
    if above.objective is not None:
        assert plan.cost is not None
        assert plan.cost <= above.objective + 1e-9


def test_infeasible_and_empty():
    assert solve_exact_error(error_problem([[0.8, 0.6]], 1, 0.01)).status == "infeasible"
    scarce = error_problem([[0.99]] * 2, 1, 0.05)
    assert solve_exact_error(scarce).status == "infeasible"
    nothing = solve_exact_error(error_problem([[0.8, 0.6]], 1, 0.5))
    assert (nothing.status, nothing.cost) == ("proven", 0.0)
    with pytest.raises(InputError, match="epsilon"):
        error_problem([[0.8]], 1, 1.5)
    vote = ExactVote.of(error_problem([[0.9, 0.9]], 1, 0.1))
    assert vote.allows(0, np.array([1]))
    assert math.isclose(vote.error(0, np.array([1])), 0.1)
