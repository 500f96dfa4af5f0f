import itertools
import math

import numpy as np
import pytest

from workbench.accuracy.best_sets import crowd_constants
from workbench.base.errors import InputError
from workbench.learning.regret_bounds import slope_constant, theorem_3, theorem_5

TABLE_1 = [0.763, 0.781, 0.625, 0.783, 0.727]
"""The paper's own example."""


def test_bound_6_written_out():
    p, T, alpha = TABLE_1, 2000, 0.5 / 80
    found = theorem_3(p, T)
    counts = {1: 1, 3: 3 * 4, 5: 5 * 16}  # m · n(S^m): 1, 4 and 16 majorities
    strict = sum(
        math.prod(q if right else 1 - q for q, right in zip(p, votes, strict=True))
        for votes in itertools.product([0, 1], repeat=5)
        if sum(votes) >= 3
    )
    known = crowd_constants(p)
    assert known.a_min == pytest.approx(strict)
    eps = 0.99 * min(known.gap_min, known.skill_gap_min) / 2
    factor = 1 / ((1 / 80 - alpha) ** 2 * eps**2 * (strict - 0.5) ** 2)
    beta_2 = math.pi**2 / 6
    beta = 2.612375348685488  # ζ(3/2)
    slips = (2 * sum(counts.values()) + 5) * (2 * beta_2 + beta / (alpha * eps))
    assert found.exploration == pytest.approx(known.best_accuracy * factor * math.log(T) ** 2)
    assert found.exploitation == pytest.approx(known.gap_max * slips)
    assert found.regret == pytest.approx(found.exploration + found.exploitation)
    assert found.testers * found.repeats == pytest.approx(factor * math.log(T) ** 2)


def test_bound_7_written_out():
    p, T, alpha = [0.9, 0.8, 0.55], 500, 0.5 / 12
    costs = [1.0, 2.0, 5.0]
    found = theorem_3(p, T, costs=costs, z=0.25)
    known = crowd_constants(p)
    assert known.best_size == 1
    eps = 0.99 * min(known.gap_min, known.skill_gap_min) / 2
    from scipy.special import zeta

    tests = 1 / ((1 / 12 - alpha) ** 2 * eps**2)
    a_min = known.a_min
    slips = (2 * (1 + 12) + 3) * (2 * zeta(2) + zeta(1.75) / (alpha * eps))
    log = math.log(T)
    expected = 7.0 * tests * log + 8.0 * tests * log**2 / (a_min - 0.5) ** 2 + 2 * slips
    assert found.cost_regret == pytest.approx(expected)


def test_conditions_are_each_seen():
    def broken(p):
        return {
            one.statement.split("(")[0].strip()
            for one in theorem_3(p, 100).conditions
            if not one.holds
        }

    able = np.linspace(0.8, 0.9, 7)
    assert not broken(able)
    assert "no two workers have the same skill" in broken([*able, 0.8])
    assert "mean skill p̄ > ½" in broken(1 - able)
    assert "a_min > ½" in broken(1 - able)


def test_theorem_5_needs_skills_of_a_half_or_more():
    assert not theorem_5([0.9, 0.4, 0.8], 100).stands
    assert theorem_5([0.9, 0.8, 0.85, 0.87, 0.92], 100).conditions[-1].holds
    with pytest.raises(InputError, match="infinite"):
        theorem_5([1.0, 0.8], 100)
    with pytest.raises(InputError, match="at most 20"):
        theorem_5(np.linspace(0.6, 0.9, 21), 100)


def test_the_slope_constant_bounds_the_log_odds():
    """Lemma 8 with the constant: |log-odds of p̂ − of p| ≤ 2C|p̂ − p| for p̂ within ε/4."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        p, eps = rng.uniform(0.02, 0.98), rng.uniform(0.001, 0.05)
        c = slope_constant([p], eps)
        for near in p + np.linspace(-1, 1, 9) * eps / 4:
            change = abs(math.log(near / (1 - near)) - math.log(p / (1 - p)))
            assert change <= 2 * c * abs(near - p) + 1e-12


@pytest.mark.release
@pytest.mark.parametrize("workers", [600, 1200])
def test_crowds_beyond_double_precision(workers):
    found = theorem_3(np.linspace(0.55, 0.95, workers), 2000)
    assert found.regret == found.cost_regret == math.inf
    assert not found.says_something
