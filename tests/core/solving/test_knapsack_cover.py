from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench.solving.patterns.knapsack_cover as knapsack_cover
from workbench.solving.patterns.knapsack_cover import cheapest_patterns, improved_patterns

TENTHS = st.integers(0, 10).map(lambda k: k / 10)


@st.composite
def knapsacks(draw, numbers=TENTHS):
    k = draw(st.integers(1, 6))
    quality = np.array(draw(st.lists(numbers, min_size=k, max_size=k)))
    price = np.array(
        draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.25, 3.0]), min_size=k, max_size=k))
    )
    most = np.array(draw(st.lists(st.integers(0, 3), min_size=k, max_size=k)))
    share = draw(st.integers(0, 11)) / 10
    return quality, np.round(share * float(quality @ most), 3), price, most


def by_enumeration(quality, need, price, most):
    sets = np.array(list(product(*(range(m + 1) for m in most.tolist()))))
    good = sets @ quality >= need * (1 - 1e-9) - 1e-12
    return (sets[good] @ price).min() if good.any() else None


def found(quality, need, price, most, steps=40_000, extra=5, seed=0):
    rng = np.random.default_rng(seed)
    return cheapest_patterns(quality, need, price, most, steps=steps, extra=extra, rng=rng)


@given(knapsacks())
@settings(deadline=None, max_examples=48)
def test_ties_do_not_hide_the_cheapest(case):
    """Tenths meet requirements exactly: a step of rounding would lose every such pattern."""
    quality, need, price, most = case
    patterns, least = found(*case), by_enumeration(*case)
    if least is None:
        assert patterns == []
        return
    assert price @ patterns[0] == pytest.approx(least)
    for pattern in patterns:
        assert (pattern >= 0).all()
        assert (pattern <= most).all()
        assert quality @ pattern >= need * (1 - 1e-9)
    assert len({p.tobytes() for p in patterns}) == len(patterns)
    costs = [float(price @ p) for p in patterns]
    assert costs == sorted(costs)


def test_a_requirement_missed_within_the_slack_takes_a_few_workers_not_all():
    patterns = found(np.full(30, 0.25), 1 + 5e-10, np.ones(30), np.ones(30, int))
    assert int(patterns[0].sum()) in (4, 5)


@given(knapsacks(st.floats(0.01, 1)), st.sampled_from([1, 100_000]))
@settings(deadline=None, max_examples=48)
def test_without_steps_the_cheapest_is_found(case, many):
    """From all workers as the pattern that is known, with the last lots listed at once or not."""
    quality, need, price, most = case
    least = by_enumeration(*case)
    if need <= 0 or least is None or least >= price @ most:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knapsack_cover, "MANY", many)
        patterns = improved_patterns(*case, most, 5)
    assert float(price @ patterns[0]) == pytest.approx(least)
    for pattern in patterns:
        assert (pattern <= most).all()
        assert quality @ pattern >= need * (1 - 1e-9)
