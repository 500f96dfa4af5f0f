import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.accuracy.plurality import plurality_error
from workbench.selection.bounds import error_bound, interval
from workbench.selection.scoring import informativeness, scores, set_score


def binomial(n, w):
    return np.array([math.comb(n, c) * w**c * (1 - w) ** (n - c) for c in range(n + 1)])


def score(skill, L):
    return set_score(informativeness(skill, L))


# Theorem 3


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_theorem_3_over_all_answers(classes):
    """Coverage computed from every outcome of the control questions, different n among them."""
    rng = np.random.default_rng(classes)
    for n in ([2], [2, 2, 2], [3, 5], [2, 6, 3], [10, 10]):
        chances = [binomial(k, w) for k, w in zip(n, rng.uniform(0, 1, len(n)), strict=True)]
        # E G is (Lw − 1)² by Lemma 2, which has tests of its own.
        gains = [scores(np.arange(k + 1), np.full(k + 1, k), classes).gain for k in n]
        F = sum(p @ g for p, g in zip(chances, gains, strict=True)) / math.sqrt(len(n))
        for confidence in (0.1, 0.5, 0.9, 0.99):
            covered = 0.0
            for c in itertools.product(*(range(k + 1) for k in n)):
                known = scores(c, n, classes)
                low, high = interval(known, np.arange(len(n)), confidence=confidence)
                chance = math.prod(p[k] for p, k in zip(chances, c, strict=True))
                covered += chance * (low <= F <= high)
            assert covered >= confidence - 1e-12


# Theorem 1


def test_theorem_1_written_out():
    for L, F in [(2, 1.0), (3, 2.5), (3, 6.0), (5, 9.0), (5, 30.0)]:
        printed = math.exp(-2 * F**2 / (L**2 * (L - 1) ** 2) + math.log(L - 1))
        supported = (L - 1) * math.exp(-(F**2) / (2 * (L - 1) ** 4))
        assert error_bound(F, L, variant="printed") == pytest.approx(min(printed, 1))
        assert error_bound(F, L) == pytest.approx(min(supported, 1))
    assert error_bound(-3.0, 2) == error_bound(0.0, 4) == error_bound(-math.inf) == 1
    assert error_bound(math.inf, 3) == error_bound(1e300, 3) == 0


@given(st.floats(-10, 200), st.floats(0, 50), st.integers(2, 9))
def test_bounds_fall_with_the_score(F, more, L):
    printed, supported = (error_bound(F, L, variant=v) for v in ("printed", "supported"))
    assert 0 <= printed <= supported <= 1
    assert error_bound(F + more, L) <= supported
    assert error_bound(F + more, L, variant="printed") <= printed
    if L == 2:
        assert printed == supported


def xi(w, n, L):
    """Distribution of n ξ, on −n(L − 1) … n(L − 1)."""
    chance = np.zeros(2 * n * (L - 1) + 1)
    for c, p in enumerate(binomial(n, w)):
        for bracket, q in ((1, (1 - w) / (L - 1)), (-1, w), (0, (1 - w) * (L - 2) / (L - 1))):
            chance[n * (L - 1) + bracket * (L * c - n)] += p * q
    return chance


def overtaking(skill, n, L):
    """P(Σ ξ > 0) and P(Σ ξ = 0) for one wrong class, exactly: estimates and labels random."""
    total = np.ones(1)
    for w in skill:
        total = np.convolve(total, xi(w, n, L))
    middle = len(total) // 2
    return total[middle + 1 :].sum(), total[middle]


@pytest.mark.parametrize("L", [2, 3, 4, 5])
def test_the_supported_bound_holds_class_by_class(L):
    """(L − 1) P(Σ ξ ≥ 0), which the error cannot exceed, for crowds of up to 60."""
    rng = np.random.default_rng(L)
    told = 0
    for _ in range(60):
        m, n = int(rng.integers(1, 61)), int(rng.integers(1, 4))
        skill = rng.choice([0, 0.5, 0.75, 0.9, 1.0, rng.random()], m)
        bound = error_bound(score(skill, L), L)
        assert (L - 1) * sum(overtaking(skill, n, L)) <= bound or bound == 1
        told += bound < 1
    assert told > 20


def expected_error(skill, n, L):
    """Mean error over every outcome of n control questions a worker and all votes."""
    total = 0.0
    for c in itertools.product(range(n + 1), repeat=len(skill)):
        chance = math.prod(binomial(n, w)[k] for w, k in zip(skill, c, strict=True))
        weight = L * np.array(c) / n - 1
        total += chance * plurality_error(skill, weight, L).probability
    return total


def test_theorem_1_for_two_classes():
    """Never broken, over the randomness of the estimates and of the labels, on small crowds."""
    rng = np.random.default_rng(11)
    for _ in range(40):
        m, n = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        skill = rng.choice([0, 0.05, 0.5, 0.7, 0.95, 1.0, rng.random()], m)
        error = expected_error(skill, n, 2)
        assert error <= error_bound(score(skill, 2), 2) + 1e-12
        above, level = overtaking(skill, n, 2)
        assert error == pytest.approx(above + level / 2, abs=1e-9)
