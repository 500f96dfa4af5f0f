import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.select.scores import informativeness, scores, set_score


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.parametrize("n", range(2, 13))
def test_lemma_2_over_all_answers(n, classes):
    """G is unbiased for (Lw − 1)², and the plug-in is too high by L² w(1 − w)/n, exactly."""
    c = np.arange(n + 1)
    known = scores(c, np.full(n + 1, n), classes)
    for w in np.linspace(0, 1, 21):
        chance = np.array([math.comb(n, k) * w**k * (1 - w) ** (n - k) for k in range(n + 1)])
        worth = (classes * w - 1) ** 2
        assert chance @ known.gain == pytest.approx(worth, abs=1e-12)
        assert chance @ known.plug_in == pytest.approx(
            worth + classes**2 * w * (1 - w) / n, abs=1e-12
        )
        assert chance @ known.variance == pytest.approx(w * (1 - w) / n, abs=1e-12)
        assert chance @ known.skill == pytest.approx(w, abs=1e-12)


@given(st.integers(2, 60), st.integers(2, 8), st.data())
def test_the_second_form(n, classes, data):
    """(25) and (26) of the supplement are one function; in whole numbers, to the last bit."""
    c = data.draw(st.integers(0, n))
    gain = float(scores([c], [n], classes).gain[0])
    w, L = Fraction(c, n), Fraction(classes)
    first = (L * w - 1) ** 2 - L**2 * w * (1 - w) / (n - 1)
    lead, spread = L * w - 1 - (L - 2) / (2 * n), (L - 2) ** 2 / (4 * n**2) + (L - 1) / n
    assert first == Fraction(n, n - 1) * (lead**2 - spread)
    assert gain == float(first)


@given(st.integers(2, 40), st.data())
def test_liars_are_worth_as_much(n, data):
    c = data.draw(st.integers(0, n))
    known = scores([c, n - c], [n, n], 2)
    assert known.gain[0] == known.gain[1]
    assert known.plug_in[0] == known.plug_in[1]


def test_who_cannot_be_scored():
    known = scores([0, 1, 1, 2], [0, 1, 2, 2], 3)
    assert known.eligible.tolist() == [False, False, True, True]
    assert np.isneginf(known.gain[:2]).all()
    assert np.isnan(known.skill[:2]).all()
    held = scores([0, 1, 1, 2], [0, 1, 2, 2], 3, prior=(2, 1))
    assert held.eligible.all()
    np.testing.assert_allclose(held.skill, [2 / 3, 3 / 4, 1 / 2, 1.0])
    np.testing.assert_allclose(held.gain[:2], [1.0, 1.5625])
    np.testing.assert_array_equal(held.gain[2:], known.gain[2:])
    assert np.isnan(held.variance[:2]).all()


def test_scores_of_sets():
    assert set_score([]) == 0
    assert set_score([3.0]) == 3
    assert set_score([1.0, 2.0, 3.0, 4.0]) == 5
    np.testing.assert_allclose(informativeness([0, 0.25, 1], 4), [1, 0, 9])
    with pytest.raises(InputError, match="skill"):
        informativeness([1.1])


def test_a_million_answers():
    known = scores([999_999, 10**6], [10**6, 10**6], 2)
    exact = (Fraction(2 * 999_999 - 10**6) ** 2 * (10**6 - 1) - 4 * 999_999) / Fraction(
        10**12 * (10**6 - 1)
    )
    assert known.gain[0] == pytest.approx(float(exact), rel=1e-12)
    assert known.gain[1] == 1


@pytest.mark.parametrize(
    ("correct", "answered", "classes", "prior", "message"),
    [
        ([3], [2], 2, None, "correct\\[0\\] is 3 of 2"),
        ([-1], [2], 2, None, "whole number"),
        ([0.5], [2], 2, None, "whole number"),
        ([1, 2], [2], 2, None, "shape"),
        ([1], [2], 1, None, "classes"),
        ([1], [2], 2, (0, 1), "prior"),
        ([1], [2], 2, (1, math.inf), "prior"),
    ],
)
def test_bad_input(correct, answered, classes, prior, message):
    with pytest.raises(InputError, match=message):
        scores(correct, answered, classes, prior=prior)
