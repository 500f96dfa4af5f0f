"""What not knowing the workers must cost, against every stopping rule there is."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.errors import InputError
from workbench.solving.ignorance import guessers_ratio, unknown_skills_bound


def ratios(skill, share, most):
    """E[labels while a guesser] / E[labels while good] of each rule: after which answers to ask."""
    states = [(n, right) for n in range(1, most) for right in range(n + 1)]
    for choice in itertools.product([False, True], repeat=len(states)):
        asks = dict(zip(states, choice, strict=True)) | {(0, 0): True}
        total = [0.0, 0.0]
        level = {0: (1.0, 1.0)}  # by number right: chance under a good worker, under a guesser
        for n in range(most):
            following = {}
            for right, (good, guesser) in level.items():
                if not asks[n, right]:
                    continue
                total[0] += share * good
                total[1] += (1 - share) * guesser
                for more, a, b in ((1, skill, 0.5), (0, 1 - skill, 0.5)):
                    old = following.get(right + more, (0.0, 0.0))
                    following[right + more] = (old[0] + a * good, old[1] + b * guesser)
            level = following
        yield total[1] / total[0]


@settings(max_examples=15, deadline=None)
@given(skill=st.floats(0.55, 0.99), share=st.floats(0.1, 0.9), most=st.integers(1, 4))
def test_the_ratio_is_the_least_of_all_rules(skill, share, most):
    least = min(ratios(skill, share, most))
    assert guessers_ratio(skill, share, most) == pytest.approx(least, rel=1e-9)
    assert guessers_ratio(skill, share, most) <= least * (1 + 1e-12)


def test_it_falls_with_what_a_worker_can_give():
    values = [guessers_ratio(0.8, 0.5, most) for most in (1, 2, 10, 50, 200)]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(1.0)
    assert values[2:] == pytest.approx([0.4, 0.1181, 0.0318], abs=1e-4)


@pytest.mark.parametrize(("epsilon", "most", "least"), [(0.05, 50, 3.72), (0.0189, 200, 4.84)])
def test_the_bound(epsilon, most, least):
    prior = {0.8: 0.5, 0.5: 0.5}
    assert unknown_skills_bound(prior, most, 100, epsilon) / 100 == pytest.approx(least, abs=0.006)
    known = unknown_skills_bound({0.8: 1.0}, most, 100, epsilon)
    assert known < unknown_skills_bound(prior, most, 100, epsilon)


@pytest.mark.parametrize(("skill", "share"), [(0.5, 0.5), (1.1, 0.5), (0.8, 0.0)])
def test_bad_input(skill, share):
    with pytest.raises(InputError):
        guessers_ratio(skill, share, 10)
