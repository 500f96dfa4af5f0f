"""Sets by price and expected error: every set, the beam, and the proven bound."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from workbench.base.errors import InputError
from workbench.selection import frontier as room
from workbench.selection.accuracy import predicted_error
from workbench.selection.frontier import frontier
from workbench.selection.scoring import scores


def crowd(seed, workers, difficulty=0.0, classes=2, answered=12):
    rng = np.random.default_rng(seed)
    correct = rng.binomial(answered, rng.beta(4, 2, workers))
    known = scores(correct, np.full(workers, answered), classes)
    known = replace(known, prior=(4.0, 2.0), difficulty=difficulty, by_posterior=True)
    return known, rng.integers(1, 6, workers) / 4.0


def every_set(known, prices, budget, money=np.inf):
    """(cost, error) of all sets that can be paid, and of those that nothing betters."""
    found = [
        (float(prices[list(some)].sum()), predicted_error(known, some).probability)
        for k in range(1, budget + 1)
        for some in map(np.array, combinations(np.flatnonzero(known.eligible), k))
    ]
    found = sorted(pair for pair in found if pair[0] <= money + 1e-9)
    best, kept = np.inf, []
    for cost, error in found:
        if error < best * (1 - 1e-9):
            kept.append((cost, error))
            best = error
    return found, kept


@pytest.mark.parametrize("seed", range(2))
def test_all_sets_are_looked_at(seed):
    known, prices = crowd(seed, 6, difficulty=seed % 3 * 0.7)
    money = [np.inf, 3.0][seed % 2]
    found = frontier(known, prices, 4, money)
    sets, best = every_set(known, prices, 4, money)
    assert found.complete
    assert np.allclose([(each.cost, each.error.probability) for each in found.sets], best)
    for each in found.sets:
        assert each.cost == pytest.approx(prices[each.chosen].sum())
        assert each.error == predicted_error(known, each.chosen)
        least = min(error for cost, error in sets if cost <= each.cost + 1e-9)
        assert each.bound <= least + 1e-12


@pytest.mark.parametrize("classes", [2, 3])
def test_the_beam_is_near_and_its_bound_holds(classes, monkeypatch):
    worst = []
    for seed in range(4):
        known, prices = crowd(seed, 8, difficulty=0.5 * seed, classes=classes)
        every = frontier(known, prices, 5)
        monkeypatch.setattr(room, "ALL_SETS", 0)
        beam = frontier(known, prices, 5)
        monkeypatch.undo()
        assert every.complete
        assert not beam.complete
        assert beam.looked_at <= every.looked_at
        assert np.diff([each.error.probability for each in beam.sets]).max(initial=-1) < 0
        for each in every.sets:
            paid = [some for some in beam.sets if some.cost <= each.cost + 1e-9]
            worst.append(paid[-1].error.probability / each.error.probability)
        for some in beam.sets:
            better = [each for each in every.sets if each.cost <= some.cost + 1e-9][-1]
            assert some.bound <= better.error.probability + better.error.radius
    assert np.mean(worst) < 1.03


def test_cheap_models_beside_dear_humans():
    """Much is saved by hardly more errors, and the curve says so."""
    correct = np.array([196, 196, 196, 180, 180, 180, 180, 180])
    known = replace(scores(correct, np.full(8, 200)), by_posterior=True)
    prices = np.array([0.1, 0.1, 0.1, 0.002, 0.002, 0.002, 0.002, 0.002])
    found = frontier(known, prices, 8, 0.31)
    assert found.best.cost == pytest.approx(0.31)
    assert found.nearly is None or found.nearly.cost <= 0.8 * found.best.cost
    costs = [each.cost for each in found.sets]
    assert costs == sorted(costs)
    assert found.sets[0].cost == 0.002


def test_equals_are_drawn_and_evidence_comes_first():
    known = replace(
        scores([6, 6, 6, 12], [8, 8, 8, 17]), prior=(3.0, 1.0), by_posterior=True
    )  # all 3/4 but the last, 15/21
    found = [frontier(known, np.ones(4), 1, seed=seed) for seed in range(12)]
    assert {int(each.best.chosen[0]) for each in found} == {0, 1, 2}
    assert found[0].best.tied.tolist() == [0, 1, 2]
    same = replace(known, correct=np.array([3, 6, 9, 6]), answered=np.array([4, 8, 12, 8]))
    assert frontier(same, np.ones(4), 1).best.chosen.tolist() == [2]


def test_limits():
    known, prices = crowd(0, 5)
    assert frontier(known, prices, 3, 0.1).sets == ()
    free = frontier(known, np.zeros(5), 3, 0.0)
    assert len(free.sets) == 1
    for bad in (-prices, np.full(5, np.nan)):
        with pytest.raises(InputError, match="prices"):
            frontier(known, bad, 3)
    nobody = replace(known, eligible=np.zeros(5, dtype=bool))
    assert frontier(nobody, np.full(5, np.nan), 3).best is None


def test_many_workers_take_seconds():
    known, _ = crowd(1, 60, difficulty=1.0)
    prices = np.random.default_rng(2).exponential(1.0, 60)
    found = frontier(known, prices, 6, 2.0)
    assert not found.complete
    assert 0 < found.best.bound < found.best.error.probability
