import itertools
import math

import numpy as np
import pytest

from workbench.aggregate.error_rate import vote_error
from workbench.aggregate.plurality import plurality_error
from workbench.errors import InputError
from workbench.select.guarantees import error_bound, interval
from workbench.select.scores import informativeness, scores, set_score


def binomial(n, w):
    return np.array([math.comb(n, c) * w**c * (1 - w) ** (n - c) for c in range(n + 1)])


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_theorem_3_over_all_answers(classes):
    """Coverage computed from every outcome of the control questions, different n among them."""
    rng = np.random.default_rng(classes)
    for n in ([2, 2, 2], [3, 5], [2, 6, 3], [10, 10]):
        skill = rng.uniform(0, 1, len(n))
        F = set_score(informativeness(skill, classes))
        chances = [binomial(k, w) for k, w in zip(n, skill, strict=True)]
        for confidence in (0.1, 0.5, 0.9):
            covered = 0.0
            for c in itertools.product(*(range(k + 1) for k in n)):
                low, high = interval(
                    scores(c, n, classes), np.arange(len(n)), confidence=confidence
                )
                chance = math.prod(p[k] for p, k in zip(chances, c, strict=True))
                covered += chance * (low <= F <= high)
            assert covered >= confidence


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 9])
@pytest.mark.parametrize("n", [2, 3, 4, 7, 20])
def test_the_range_of_a_gain(n, classes):
    """What Hoeffding's inequality rests on."""
    gain = scores(np.arange(n + 1), np.full(n + 1, n), classes).gain
    possible = n * (classes - 1) ** 2 / (n - 1)
    assert np.ptp(gain) <= possible * (1 + 1e-12)
    if classes == 2 and n % 2 == 0:
        assert np.ptp(gain) == pytest.approx(possible)


def test_the_printed_interval():
    known = scores([3, 4, 5], [5, 5, 5], 4)
    low, high = interval(known, [0, 2], confidence=1 - 2 * math.exp(-2 * 0.9**2))
    assert high - low == pytest.approx(2 * 5 * 9 / 4 * 0.9)
    assert (low + high) / 2 == pytest.approx(known.gain[[0, 2]].sum() / math.sqrt(2))


def test_theorem_1_written_out():
    for L, F in [(2, 1.0), (3, 2.5), (5, 9.0)]:
        printed = math.exp(-2 * F**2 / (L**2 * (L - 1) ** 2) + math.log(L - 1))
        supported = (L - 1) * math.exp(-(F**2) / (2 * (L - 1) ** 4))
        assert error_bound(F, L, variant="printed") == pytest.approx(min(printed, 1))
        assert error_bound(F, L) == pytest.approx(min(supported, 1))
    assert error_bound(1.3, 2) == pytest.approx(error_bound(1.3, 2, variant="printed"))
    assert error_bound(-3.0, 2) == error_bound(0.0, 4) == 1
    assert error_bound(8.0, 3) > error_bound(8.1, 3)


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
        bound = error_bound(set_score(informativeness(skill)), 2)
        assert expected_error(skill, n, 2) <= bound + 1e-12


def test_theorem_1_for_known_skills():
    rng = np.random.default_rng(12)
    for _ in range(300):
        skill = rng.uniform(0, 1, rng.integers(1, 12))
        bound = error_bound(set_score(informativeness(skill)), 2)
        assert vote_error(skill, 2 * skill - 1).probability <= bound + 1e-12


@pytest.mark.parametrize("L", [3, 4])
def test_the_supported_bound_for_more_classes(L):
    rng = np.random.default_rng(L)
    for _ in range(12):
        m, n = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        skill = rng.choice([0, 0.3, 0.9, 1.0], m)
        bound = error_bound(set_score(informativeness(skill, L)), L)
        assert expected_error(skill, n, L) <= bound + 1e-12


@pytest.mark.parametrize("L", [3, 4, 6])
def test_the_printed_bound_promises_more(L):
    """Its range L is less than 2(L − 1), the one its variables have."""
    for F in (3 * L**2, 9 * L**2):
        assert error_bound(F, L, variant="printed") < error_bound(F, L) < 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: error_bound(1.0, 1), "classes"),
        (lambda: error_bound(math.nan), "NaN"),
        (lambda: error_bound(1.0, 3, variant="best"), "variant"),
        (lambda: interval(scores([1], [2]), []), "empty|type"),
        (lambda: interval(scores([1], [1], prior=(1, 1)), [0]), "two or more"),
        (lambda: interval(scores([1], [2]), [0], confidence=1.0), "confidence"),
        (lambda: interval(scores([1], [2]), [1]), "chosen"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
