"""Workers with prices: the heuristic, the exact set and the bound, held against enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.errors import InputError
from workbench.selection import money as money_module
from workbench.selection.money import within_money
from workbench.selection.rules import algorithm_1
from workbench.selection.scores import set_score
from workbench.solving import Termination
from workbench.solving.hiring import SelectionSolution

INF = float("inf")


def by_enumeration(gain, costs, budget, money):
    """The best score, prices in whole numbers; None when nobody is affordable."""
    m = len(gain)
    sets = (np.arange(1, 2**m)[:, None] >> np.arange(m)) & 1
    size = sets.sum(axis=1)
    sets = sets[(size <= budget) & (sets @ costs <= money)]
    if not len(sets):
        return None
    return float((sets @ gain / np.sqrt(sets.sum(axis=1))).max())


def instance(seed):
    """Gains with ties and below 0, prices with ties and of 0, for up to 12 workers."""
    rng = np.random.Generator(np.random.PCG64(seed))
    m = int(rng.integers(1, 13))
    gain = [
        rng.normal(0.3, 0.5, m),
        rng.integers(-2, 5, m) / 4,
        rng.uniform(-1, 0.1, m),
        np.sort(rng.exponential(1, m)),
    ][seed % 4]
    costs = [
        rng.integers(0, 4, m),
        np.full(m, int(rng.integers(0, 4))),
        rng.integers(1, 30, m),
        np.sort(rng.integers(1, 30, m)),  # the better, the dearer
    ][seed // 4 % 4]
    return gain, costs, int(rng.integers(1, m + 2)), int(rng.integers(0, costs.sum() + 2))


@pytest.mark.slow
def test_against_every_subset():
    affordable = heuristic_best = 0
    for seed in range(240):
        gain, costs, budget, money = instance(seed)
        best = by_enumeration(gain, costs, budget, money)
        exact = within_money(gain, costs, budget, money, seed=seed)
        rough = within_money(gain, costs, budget, money, seed=seed, exact=False)
        if best is None:
            assert len(exact.chosen) == len(rough.chosen) == 0
            continue
        affordable += 1
        heuristic_best += rough.score >= best - 1e-12
        assert exact.score == pytest.approx(best, abs=1e-12)
        assert exact.gap == 0
        assert exact.termination is Termination.OPTIMAL
        assert rough.termination is None
        for told in (exact, rough):
            assert told.score == pytest.approx(set_score(gain[told.chosen]), abs=1e-12)
            assert told.spent == costs[told.chosen].sum() <= money
            assert 1 <= len(told.chosen) == len(set(told.chosen.tolist())) <= budget
            assert told.heuristic_score <= told.score <= told.bound + 1e-12
            assert told.bound <= told.certificate.upper_bound
            assert best <= told.bound + 1e-12
            assert (np.diff(gain[told.chosen]) <= 0).all()
        assert rough.chosen.tolist() == rough.heuristic.tolist() == exact.heuristic.tolist()
        assert rough.heuristic_score == rough.score == exact.heuristic_score
        assert rough.bound == rough.certificate.upper_bound
        assert rough.heuristic_gap == rough.gap
        if rough.score:
            slack = (exact.bound - rough.score) / abs(rough.score)
            assert exact.heuristic_gap == pytest.approx(slack, abs=1e-9)
        else:
            assert exact.heuristic_gap == (0 if exact.score == 0 else None)
    assert affordable >= 200
    assert heuristic_best >= 0.97 * affordable


def crowd(seed, m):
    rng = np.random.Generator(np.random.PCG64(seed))
    gain = rng.normal(0.3, 0.4, m)
    return gain, rng.uniform(0.5, 2, m) * (0.5 + np.maximum(gain, 0))


def test_more_money_and_more_workers_never_hurt():
    for seed in range(4):
        gain, costs = crowd(seed, 25)
        by_money = [
            within_money(gain, costs, 12, share * costs.sum(), seed=0)
            for share in (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
        ]
        by_budget = [
            within_money(gain, costs, k, 0.2 * costs.sum(), seed=0) for k in (1, 2, 3, 5, 8, 13, 25)
        ]
        for told in (by_money, by_budget):
            scores = np.array([each.score for each in told])
            assert (np.diff(scores) >= -1e-12).all()
            bounds = np.array([each.certificate.upper_bound for each in told])
            assert (np.diff(bounds) >= -1e-9).all()
            assert scores[-1] > scores[0]


@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e7])
def test_the_unit_of_money_does_not_matter(factor):
    for seed in range(8):
        gain, costs = crowd(seed, 30)
        money = 0.15 * costs.sum()
        one = within_money(gain, costs, 20, money, seed=1)
        two = within_money(gain, factor * costs, 20, factor * money, seed=1)
        assert one.chosen.tolist() == two.chosen.tolist()
        assert one.heuristic.tolist() == two.heuristic.tolist()
        assert two.spent == pytest.approx(factor * one.spent)
        assert two.certificate.upper_bound == pytest.approx(one.certificate.upper_bound, rel=1e-9)


def test_with_money_for_everybody_it_is_algorithm_1():
    for seed in range(40):
        gain, costs, budget, _ = instance(seed)
        fast = algorithm_1(gain, budget, seed=seed)
        for exact in (True, False):
            told = within_money(gain, costs, budget, costs.sum(), seed=seed, exact=exact)
            assert told.score == pytest.approx(fast.score, abs=1e-12)
            assert told.certificate.status == "proven"
            assert told.gap == 0
            assert told.certificate.upper_bound == pytest.approx(fast.score, abs=1e-9)


def test_with_one_price_the_money_is_a_number_of_workers():
    for seed in range(20):
        gain, _, budget, _ = instance(seed)
        for heads in (1, 2, 4):
            told = within_money(gain, 0.1, budget, heads * 0.1, seed=0)
            fast = algorithm_1(gain, min(budget, heads), seed=0)
            assert told.score == pytest.approx(fast.score, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), m=st.integers(1, 8))
def test_free_workers_and_ties(data, m):
    gain = np.array(data.draw(st.lists(st.integers(-3, 6), min_size=m, max_size=m))) / 4
    costs = np.array(data.draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=m, max_size=m)))
    budget, money = data.draw(st.integers(1, m)), data.draw(st.integers(0, 2 * m))
    told = within_money(gain, costs, budget, money, seed=0)
    best = by_enumeration(gain, costs, budget, money)
    if best is None:
        assert told.score is None
        return
    assert told.score == pytest.approx(best, abs=1e-12)
    assert (best <= 0) == ("is shown to be better than guessing" in told.note)


@pytest.mark.slow
def test_who_is_drawn_among_equals():
    # Of four equal workers two fit beside the free one; a fifth has another price.
    gain, costs = [1.0, 1.0, 1.0, 1.0, 1.0, 2.0], [2.0, 2.0, 2.0, 2.0, 2.5, 0.0]
    drawn = {}
    for seed in range(600):
        told = within_money(gain, costs, 6, 4.0, seed=seed, exact=seed % 2 == 0)
        assert told.tied.tolist() == [0, 1, 2, 3]
        assert told.chosen[0] == 5
        assert told.score == pytest.approx(4 / math.sqrt(3))
        pair = tuple(sorted(told.chosen[1:].tolist()))
        drawn[pair] = drawn.get(pair, 0) + 1
        assert set(told.heuristic.tolist()) == set(told.chosen.tolist())
    assert drawn.keys() == set(itertools.combinations(range(4), 2))
    # Chi-square, 5 degrees of freedom: above 25.7 one time in 10,000.
    assert sum((count - 100) ** 2 / 100 for count in drawn.values()) < 25.7
    assert within_money(gain, costs, 6, 8.0, seed=0).tied.tolist() == []


def test_no_swap_raises_the_heuristic_score():
    for seed in range(60):
        rng = np.random.Generator(np.random.PCG64(seed))
        costs = rng.integers(10, 100, 20).astype(float)
        gain = [costs / 50, costs / 50 + 0.2, np.sqrt(costs) / 5 + rng.normal(0, 0.02, 20)][
            seed % 3
        ]
        money = round(0.3 * costs.sum())
        told = within_money(gain, costs, 8, money, seed=seed, exact=False)
        others = np.setdiff1d(np.arange(20), told.chosen)
        for leaves, comes in itertools.product(told.chosen, others):
            if told.spent - costs[leaves] + costs[comes] <= money:
                assert gain[comes] <= gain[leaves]


def test_the_heuristic_weighs_gain_against_price():
    # A few very dear workers: by gain alone they would eat up the money.
    gaps = []
    for seed in range(12):
        rng = np.random.Generator(np.random.PCG64(seed))
        gain, costs = rng.normal(0.3, 0.4, 40), rng.pareto(1, 40) + 0.01
        told = within_money(gain, costs, 40, 0.02 * costs.sum(), seed=seed)
        gaps.append(told.heuristic_gap)
        assert told.heuristic_gap >= told.gap == 0
    assert np.mean(gaps) < 0.005


def test_among_equal_gains_the_cheap_are_hired():
    gain, costs = np.ones(9), np.array([5.0, 1.0, 4.0, 1.0, 3.0, 1.0, 2.0, 1.0, 9.0])
    for exact in (True, False):
        told = within_money(gain, costs, 9, 6.0, seed=0, exact=exact)
        assert sorted(told.chosen.tolist()) == [1, 3, 5, 6, 7]


def test_the_same_seed_gives_the_same():
    gain, costs = crowd(0, 30)
    gain = np.round(gain, 1)
    one, two = (within_money(gain, 1.0, 12, 7.0, seed=9) for _ in range(2))
    assert one.chosen.tolist() == two.chosen.tolist()
    assert one.tied.tolist() == two.tied.tolist()
    assert within_money(gain, costs, 3, 4.0, seed=np.random.SeedSequence(9)).score is not None


def test_nobody_is_affordable():
    for exact in (True, False):
        told = within_money([1.0, 2.0, 3.0], [3.0, 2.0, 4.0], 2, 1.5, seed=0, exact=exact)
        assert told.chosen.tolist() == told.heuristic.tolist() == told.tied.tolist() == []
        assert told.score is told.bound is told.gap is told.heuristic_gap is None
        assert told.spent == 0
        assert told.certificate.status == "infeasible"
        assert told.termination is (Termination.INFEASIBLE if exact else None)
        assert told.note == (
            "the money, 1.5, buys no label: the cheapest costs 2: give that much or more"
        )
    none = within_money([-INF, -INF], 1.0, 2, 5.0, seed=0)
    assert none.note.startswith("no worker may be hired: every gain is −∞")


def test_who_is_left_out_is_not_chosen():
    told = within_money([-INF, 1.0, 0.5], [0.0, 2.0, 2.0], 3, 100.0, seed=0)
    assert told.chosen.tolist() == [1, 2]


def test_nothing_left_to_the_solver_that_shows_in_the_heuristic(monkeypatch):
    # A solver that fails or contradicts itself leaves the heuristic's set and the proven bound.
    gain, costs = crowd(2, 20)
    rough = within_money(gain, costs, 10, 0.2 * costs.sum(), seed=0, exact=False)
    broken = SelectionSolution("slices", Termination.NUMERICS, note="the solver's answer is wrong")
    monkeypatch.setattr(money_module, "solve_selection", lambda *_, **__: broken)
    told = within_money(gain, costs, 10, 0.2 * costs.sum(), seed=0)
    assert told.chosen.tolist() == rough.chosen.tolist()
    assert told.bound == rough.bound
    assert told.termination is Termination.NUMERICS
    assert told.note == "the solver's answer is wrong"


def test_a_time_limit():
    gain, costs = crowd(1, 150)
    short = within_money(gain, costs, 150, 0.2 * costs.sum(), seed=0, time_limit=0.01)
    full = within_money(gain, costs, 150, 0.2 * costs.sum(), seed=0, time_limit=60)
    assert short.termination is Termination.TIME_LIMIT
    assert full.termination is Termination.OPTIMAL
    assert short.heuristic_score == full.heuristic_score <= short.score <= full.score
    assert full.score <= full.bound <= short.bound


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gain": [1.0, float("nan")]}, r"gain\[1\] is NaN: give a finite number"),
        ({"costs": [1.0]}, r"costs has shape \(1,\): give one price for each worker, \(2,\)"),
        ({"costs": [1.0, -1.0]}, r"costs\[1\] is -1: a price is 0 or more"),
        ({"budget": 0}, "budget is 0: give a whole number, 1 or more"),
        ({"money": -1.0}, "money is -1.0: give a number from 0"),
        ({"money": None}, "costs without money: give both"),
        ({"costs": None}, "money without costs: give both"),
        ({"time_limit": -1}, "time limit is -1: give a positive number"),
        ({"seed": -1}, "seed is -1: give an integer of 0 or more"),
    ],
)
def test_bad_input(change, message):
    good = {"gain": [1.0, 2.0], "costs": [1.0, 1.0], "budget": 2, "money": 1.0, "seed": 0}
    with pytest.raises(InputError, match=message) as error:
        within_money(**good | change)
    assert "\n" not in str(error.value)
