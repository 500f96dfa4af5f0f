import math

import numpy as np
import pytest

from workbench.learning.vetting import Removal, Vetting


def worst(vetting, differed, rounds, present=None):
    differed = np.array(differed)
    rounds = np.broadcast_to(np.array(rounds), differed.shape)
    present = np.ones(len(differed), bool) if present is None else np.array(present)
    return vetting.worst(differed, rounds, present)


def tail(n, plus, minus):
    """P(Σ D ≤ 0) for n steps of D = 1, −1, 0 with chances plus, minus and the rest."""
    mass = np.zeros(2 * n + 1)
    mass[n] = 1
    for _ in range(n):
        mass = plus * np.roll(mass, 1) + minus * np.roll(mass, -1) + (1 - plus - minus) * mass
    return mass[: n + 1].sum()


def test_formulas_by_hand():
    # ε̂ = 20/40 − 10/40.
    assert worst(Vetting(0.999, variant="printed"), [20, 10, 5, 3], 40) == Removal(
        0, math.exp(-2 * 0.25**2 * 40)
    )
    assert worst(Vetting(0.999), [3, 10, 20, 5], 40) == Removal(2, math.exp(-0.5 * 0.25**2 * 40))


def test_the_printed_exponent_is_not_hoeffdings():
    """Z_i − Z_j has range 2: the supported bound holds throughout, the printed one does not."""
    broken = 0
    for n in (1, 5, 20, 60):
        for plus, minus in ((0.6, 0.4), (0.5, 0.3), (0.3, 0.1), (0.9, 0.05), (0.2, 0.0)):
            wrong, gap = tail(n, plus, minus), plus - minus
            assert wrong <= math.exp(-0.5 * gap**2 * n)
            broken += wrong > math.exp(-2 * gap**2 * n)
    assert broken > 0


def test_who_is_kept():
    vetting = Vetting(0.5, least=3)
    assert worst(vetting, [90, 1, 1], 100) is None
    assert worst(vetting, [90, 1, 1, 1], 100, [True, True, True, False]) is None
    assert worst(vetting, [90, 50, 1, 1, 1], 100, [False, *[True] * 4]).worker == 1
    assert worst(vetting, [50, 50, 1, 1], 100) is None
    assert worst(Vetting(0.5, least=1), [0], 10) is None
    assert worst(Vetting(0.5), [0, 0, 0, 0], 0) is None


def test_rates_decide_where_rounds_differ():
    # 9 of 10 against 60 of 100; N is the smaller.
    told = worst(Vetting(0.999), [9, 60, 5, 5], [10, 100, 100, 100])
    assert told == Removal(0, pytest.approx(math.exp(-0.5 * 0.3**2 * 10)))
