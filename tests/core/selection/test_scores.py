import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.release import some
from workbench.base.errors import InputError
from workbench.selection.scoring import below_chance, informativeness, scores, set_score


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.parametrize("n", some(range(2, 13), 2))
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


def exact_gain(c, n, L):
    w = Fraction(c, n)
    return (L * w - 1) ** 2 - L**2 * w * (1 - w) / (n - 1)


@pytest.mark.parametrize("classes", [2, 3, 4, 7])
def test_equal_worth_is_equal_to_the_last_bit(classes):
    """Also between workers of different n; and floats rank workers as fractions do."""
    pairs = [(c, n) for n in range(2, 61) for c in range(n + 1)]
    known = scores(*zip(*pairs, strict=True), classes)
    gains = [exact_gain(c, n, classes) for c, n in pairs]
    plug_ins = [(classes * Fraction(c, n) - 1) ** 2 for c, n in pairs]
    for found, exact in ((known.gain, gains), (known.plug_in, plug_ins)):
        assert len(set(exact)) < len(exact)
        assert found.tolist() == [float(x) for x in exact]


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


def test_scores_of_sets():
    assert set_score([]) == 0
    assert set_score([3.0]) == 3
    assert set_score([1.0, 2.0, 3.0, 4.0]) == 5
    np.testing.assert_allclose(informativeness([0, 0.25, 1], 4), [1, 0, 9])
    with pytest.raises(InputError, match="skill"):
        informativeness([1.1])


@pytest.mark.parametrize(
    ("correct", "answered", "classes", "prior", "message"),
    [
        ([3], [2], 2, None, "correct\\[0\\] is 3 of 2"),
        ([0.5], [2], 2, None, "whole number"),
        ([1, 2], [2], 2, None, "shape"),
        ([1], [2], 2, (0, 1), "prior"),
        ([1], [2], 2, (1,), "prior"),
        ([1], [2], 2, (1e300, 1e300), "prior"),
    ],
)
def test_bad_input(correct, answered, classes, prior, message):
    with pytest.raises(InputError, match=message):
        scores(correct, answered, classes, prior=prior)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_the_chance_of_being_below_guessing(classes):
    """P(Beta(c + 1, n − c + 1) < 1/L) in whole numbers, for all answers to at most 12 questions."""
    for n in range(13):
        known = scores(np.arange(n + 1), np.full(n + 1, n), classes, prior=(1, 1))
        guess = Fraction(1, classes)
        for right, chance in enumerate(below_chance(known)):
            exact = sum(
                math.comb(n + 1, k) * guess**k * (1 - guess) ** (n + 1 - k)
                for k in range(right + 1, n + 2)
            )
            assert chance == pytest.approx(float(exact), abs=1e-13)
            if classes == 2:
                assert (exact > Fraction(1, 2)) == (2 * right < n)
    assert below_chance(replace(scores([1], [2], 2), prior=(1.0, 9.0)))[0] > 0.9
