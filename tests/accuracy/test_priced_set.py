from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.accuracy.best_set import best_set
from workbench.accuracy.majority import majority_accuracy
from workbench.accuracy.priced_set import _Search, best_set_with_costs
from workbench.base.errors import InputError


def best_value(skill, costs, price):
    """max π(S) − λ C(S) over all subsets, the empty one included."""
    p, m = np.asarray(skill, dtype=float), len(skill)
    chosen = (np.arange(2**m)[:, None] >> np.arange(m)) % 2 == 1
    lead = np.zeros((2**m, 2 * m + 1))
    lead[:, m] = 1
    for i in range(m):
        moved = np.zeros_like(lead)
        moved[:, 1:] += lead[:, :-1] * p[i]
        moved[:, :-1] += lead[:, 1:] * (1 - p[i])
        lead = np.where(chosen[:, [i]], moved, lead)
    accuracy = lead[:, m + 1 :].sum(axis=1) + 0.5 * lead[:, m]
    return float((accuracy - price * (chosen * costs).sum(axis=1)).max())


def random_crowd(seed, most):
    """Skills with ties, below ½, 0 and 1; costs any, whole, equal, 0, or as skills are."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, most + 1))
    skill = [
        rng.uniform(0, 1, m),
        rng.uniform(0.5, 1, m),
        rng.uniform(0.55, 0.7, m),
        rng.choice([0.0, 0.5, 0.6, 0.7, 1.0], m),
    ][seed % 4]
    costs = [
        rng.uniform(0, 1, m),
        rng.integers(0, 3, m).astype(float),
        np.ones(m),
        np.zeros(m),
        np.abs(2 * skill - 1),
        (2 * skill - 1) ** 2,
        np.where(rng.random(m) < 0.5, 0.0, rng.uniform(0, 1, m)),
    ][seed % 7]
    return skill, costs, float(10 ** rng.uniform(-4, 1))


@pytest.mark.parametrize("part", range(3))
def test_no_subset_is_worth_more(part):
    for seed in range(100 * part, 100 * part + 100):
        skill, costs, price = random_crowd(seed, 12)
        best = best_set_with_costs(skill, costs, price)
        assert best.proven
        assert best.value == pytest.approx(best_value(skill, costs, price), abs=1e-12)
        assert best.accuracy == majority_accuracy(skill[best.workers])
        assert best.cost == pytest.approx(costs[best.workers].sum())
        assert best.value == pytest.approx(best.accuracy - price * best.cost, abs=1e-12)
        assert len(set(best.workers.tolist())) == len(best.workers)
        assert len(best.workers) % 2 == 1 or not len(best.workers)
        assert (np.diff(skill[best.workers]) <= 0).all()


@pytest.mark.parametrize("limit", [1, 2, 5, 20])
def test_stopped_early_the_bound_holds(limit, monkeypatch):
    monkeypatch.setattr("workbench.accuracy.priced_set.BATCH", 1)
    unproven = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        skill = rng.uniform(0.5, 0.95, 12)
        costs = [(2 * skill - 1) ** 2, np.log(skill / (1 - skill)), rng.uniform(0, 1, 12)][seed % 3]
        price = float(10 ** rng.uniform(-3, -1))
        stopped = best_set_with_costs(skill, costs, price, limit=limit)
        true = best_value(skill, costs, price)
        assert stopped.value <= true + 1e-12
        assert stopped.bound >= true - 1e-12
        assert stopped.nodes <= limit + 1
        unproven += not stopped.proven
        if stopped.proven:
            assert stopped.value == pytest.approx(true, abs=1e-12)
    assert unproven > 0 or limit > 1


@pytest.mark.parametrize("batch", [1, 64])
def test_the_search_needs_no_good_choice_to_begin_with(batch, monkeypatch):
    monkeypatch.setattr("workbench.accuracy.priced_set.BATCH", batch)
    monkeypatch.setattr(_Search, "ready_made", lambda search: np.zeros((1, len(search.p)), bool))
    for seed in range(150):
        skill, costs, price = random_crowd(seed, 10)
        best = best_set_with_costs(skill, costs, price / 10)
        assert best.proven
        assert best.value == pytest.approx(best_value(skill, costs, price / 10), abs=1e-12)


@pytest.mark.parametrize("seed", [446, 1010, 1586, 1674])
def test_who_is_left_out_with_whom(seed, monkeypatch):
    """Crowds in which a search that mistakes who dominates whom misses the best set."""
    monkeypatch.setattr("workbench.accuracy.priced_set.BATCH", 1)
    monkeypatch.setattr(_Search, "ready_made", lambda search: np.zeros((1, len(search.p)), bool))
    rng = np.random.default_rng(seed)
    skill, costs = rng.uniform(0.5, 0.95, 11), rng.uniform(0, 1, 11)
    rng.uniform(0, 1, 11)
    price = float(10 ** rng.uniform(-3, 0))
    best = best_set_with_costs(skill, costs, price)
    assert best.value == pytest.approx(best_value(skill, costs, price), abs=1e-12)


@pytest.mark.parametrize("size", [20, 25, 30])
def test_thirty_labelers_take_few_nodes(size):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        skill = rng.uniform(0.5, 0.95, size)
        for costs in (rng.uniform(0, 1, size), (2 * skill - 1) ** 2):
            for price in (1e-4, 1e-3, 1e-2, 1e-1):
                best = best_set_with_costs(skill, costs, price)
                assert best.proven
                assert best.nodes < 1000


def test_without_a_price_the_best_set():
    for seed in range(30):
        skill, costs, _ = random_crowd(seed, 12)
        free, best = best_set_with_costs(skill, costs, 0.0), best_set(skill)
        assert free.value == pytest.approx(max(best.accuracy, 0.5), abs=1e-12)
        assert len(free.workers) == (len(best.workers) if best.accuracy > 0.5 else 0)
    # Exactly as good as the first alone, in rational numbers.
    assert best_set_with_costs([0.8, 0.7, 12 / 19], [0, 0, 0], 1.0).workers.tolist() == [0]


def test_nobody_is_worth_her_price():
    none = best_set_with_costs([0.9, 0.8], [1.0, 2.0], 0.5)
    assert none.workers.tolist() == []
    assert (none.accuracy, none.cost, none.value, none.bound) == (0.5, 0.0, 0.5, 0.5)
    assert best_set_with_costs([], [], 1.0).value == 0.5
    assert best_set_with_costs([0.4, 0.5], [0.0, 0.0], 1.0).workers.tolist() == []
    assert best_set_with_costs([0.9, 0.8], [1e300, 0.0], 1e300).workers.tolist() == [1]


def test_by_hand():
    # Three good ones are worth 0.896 − 0.3, one 0.8 − 0.1, the cheap three 0.784 − 0.03.
    skill, costs = [0.8, 0.8, 0.8, 0.7, 0.7, 0.7], [0.1, 0.1, 0.1, 0.01, 0.01, 0.01]
    best = best_set_with_costs(skill, costs, 1.0)
    assert sorted(best.workers.tolist()) == [3, 4, 5]
    assert best.value == pytest.approx(0.784 - 0.03)
    assert best_set_with_costs(skill[:4], costs[:4], 1.0).workers.tolist() == [0]
    best = best_set_with_costs(skill, costs, 0.1)
    assert len(best.workers) == 5


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.floats(1, 10))
def test_a_higher_price_buys_no_more(seed, factor):
    skill, costs, price = random_crowd(seed % 2**31, 9)
    low, high = (best_set_with_costs(skill, costs, x) for x in (price, price * factor))
    assert high.cost <= low.cost + 1e-9 / price
    assert high.value <= low.value + 1e-12
    # Money's unit does not matter.
    other = best_set_with_costs(skill, costs * factor, price / factor)
    assert other.value == pytest.approx(low.value, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: best_set_with_costs([1.5], [1], 1), "skill[0] is 1.5: give a number from 0 to 1"),
        (lambda: best_set_with_costs([0.5], [1, 2], 1), "costs has shape (2,): give 1 numbers"),
        (lambda: best_set_with_costs([0.5], [-1], 1), "costs[0] is -1.0: give a finite number"),
        (lambda: best_set_with_costs([0.5], [np.nan], 1), "costs[0] is nan: give a finite number"),
        (lambda: best_set_with_costs([0.5], [np.inf], 1), "costs[0] is inf: give a finite number"),
        (lambda: best_set_with_costs([0.5], [1], -1), "price is -1: give a number from 0"),
        (lambda: best_set_with_costs([0.5], [1], np.nan), "price is nan: give a number from 0"),
        (lambda: best_set_with_costs([0.5], [1], 1, limit=0), "limit is 0: give a whole number"),
    ],
)
def test_bad_input_gets_one_line(call, line):
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)
