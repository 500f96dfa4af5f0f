"""Workers with prices: the heuristic, the exact set and the bound, held against enumeration."""

import itertools

import numpy as np
import pytest

from crowd_models import SelectionProblem
from workbench.selection import money as money_module
from workbench.selection.money import within_money
from workbench.selection.scoring import set_score
from workbench.solving import Termination
from workbench.solving.claims import WORD
from workbench.solving.hiring import SelectionSolution
from workbench.solving.hiring_bound import size_bounds

INF = float("inf")


def by_enumeration(gain, costs, budget, money):
    """The best score, prices in whole numbers; None when nobody is affordable."""
    m = len(gain)
    sets = (np.arange(1, 2**m)[:, None] >> np.arange(m)) & 1
    size = sets.sum(axis=1)
    sets = sets[(size <= budget) & (sets @ costs <= money)]
    if not len(sets):
        return None
    return float((sets @ gain / np.sqrt(sets.sum(axis=1))).max())


def instance(seed):
    """Gains with ties and below 0, prices with ties and of 0, for up to 12 workers."""
    rng = np.random.Generator(np.random.PCG64(seed))
    m = int(rng.integers(1, 13))
    gain = [
        rng.normal(0.3, 0.5, m),
        rng.integers(-2, 5, m) / 4,
        rng.uniform(-1, 0.1, m),
        np.sort(rng.exponential(1, m)),
    ][seed % 4]
    costs = [
        rng.integers(0, 4, m),
        np.full(m, int(rng.integers(0, 4))),
        rng.integers(1, 30, m),
        np.sort(rng.integers(1, 30, m)),  # the better, the dearer
    ][seed // 4 % 4]
    return gain, costs, int(rng.integers(1, m + 2)), int(rng.integers(0, costs.sum() + 2))


@pytest.mark.parametrize(
    "block", [range(32), pytest.param(range(32, 72), marks=pytest.mark.release)]
)
def test_against_every_subset(block):
    affordable = heuristic_best = 0
    for seed in block:
        gain, costs, budget, money = instance(seed)
        best = by_enumeration(gain, costs, budget, money)
        bought = within_money(gain, costs, budget, money, seed=seed)
        if best is None:
            assert not len(bought.chosen)
            continue
        affordable += 1
        heuristic_best += bought.heuristic_score >= best - 1e-12
        assert bought.score == pytest.approx(best, abs=1e-12)
        assert bought.gap == 0
        assert bought.termination is Termination.OPTIMAL
        assert bought.bound <= bought.certificate.upper_bound
        assert bought.heuristic_score <= bought.score <= bought.bound + 1e-12
        assert bought.spent == costs[bought.chosen].sum() <= money
        for chosen, score in (
            (bought.chosen, bought.score),
            (bought.heuristic, bought.heuristic_score),
        ):
            assert score == pytest.approx(set_score(gain[chosen]), abs=1e-12)
            assert costs[chosen].sum() <= money
            assert 1 <= len(chosen) == len(set(chosen.tolist())) <= budget
            assert (np.diff(gain[chosen]) <= 0).all()
        if bought.heuristic_score:
            slack = (bought.bound - bought.heuristic_score) / abs(bought.heuristic_score)
            assert bought.heuristic_gap == pytest.approx(slack, abs=1e-9)
        else:
            assert bought.heuristic_gap == (0 if bought.score == 0 else None)
    assert affordable >= 0.8 * len(block)
    assert heuristic_best >= 0.95 * affordable


def crowd(seed, m):
    rng = np.random.Generator(np.random.PCG64(seed))
    gain = rng.normal(0.3, 0.4, m)
    return gain, rng.uniform(0.5, 2, m) * (0.5 + np.maximum(gain, 0))


@pytest.mark.release
def test_who_is_drawn_among_equals():
    # Of four equal workers two fit beside the free one; a fifth has another price.
    gain, costs = [1.0, 1.0, 1.0, 1.0, 1.0, 2.0], [2.0, 2.0, 2.0, 2.0, 2.5, 0.0]
    drawn = {}
    for seed in range(60):
        bought = within_money(gain, costs, 6, 4.0, seed=seed)
        assert bought.tied.tolist() == [0, 1, 2, 3]
        assert bought.chosen[0] == 5
        assert set(bought.heuristic.tolist()) == set(bought.chosen.tolist())
        pair = tuple(sorted(bought.chosen[1:].tolist()))
        drawn[pair] = drawn.get(pair, 0) + 1
    assert drawn.keys() == set(itertools.combinations(range(4), 2))
    # Chi-square, 5 degrees of freedom: above 25.7 one time in 10,000.
    assert sum((count - 10) ** 2 / 10 for count in drawn.values()) < 25.7
    assert within_money(gain, costs, 6, 8.0, seed=0).tied.tolist() == []


def test_no_swap_raises_the_heuristic_score():
    for seed in range(6):
        rng = np.random.Generator(np.random.PCG64(seed))
        costs = rng.integers(10, 100, 20).astype(float)
        gain = costs / 50 if seed % 2 else np.sqrt(costs) / 5 + rng.normal(0, 0.02, 20)
        money = round(0.3 * costs.sum())
        problem = SelectionProblem(gain, 8, costs, money)
        chosen = money_module.greedy(problem, size_bounds(problem))
        others = np.setdiff1d(np.arange(20), chosen)
        for leaves, comes in itertools.product(chosen, others):
            if costs[chosen].sum() - costs[leaves] + costs[comes] <= money:
                assert gain[comes] <= gain[leaves]


def test_nothing_left_to_the_solver_that_shows_in_the_heuristic(monkeypatch):
    # A solver that fails or contradicts itself leaves the heuristic's set and the proven bound.
    gain, costs = crowd(2, 20)
    whole = within_money(gain, costs, 10, 0.2 * costs.sum(), seed=0)
    broken = SelectionSolution("slices", Termination.NUMERICS, note="the solver's answer is wrong")
    monkeypatch.setattr(money_module, "solve_selection", lambda *_, **__: broken)
    bought = within_money(gain, costs, 10, 0.2 * costs.sum(), seed=0)
    assert bought.chosen.tolist() == whole.heuristic.tolist()
    assert bought.bound >= whole.bound - 1e-12
    assert bought.termination is Termination.NUMERICS
    assert bought.note == "the solver's answer is wrong"


def test_it_says_whose_word_the_bound_is(monkeypatch):
    """A price of money alone leaves a gap here: branches close it, or HiGHS's word does."""
    gain, costs = [0.81, 0.64, 0.49, 0.36, 0.25, -0.02], [4, 3, 2, 1, 1, 1]
    assert within_money(gain, costs, 5, 6, seed=0).claim.proven
    monkeypatch.setattr("workbench.solving.hiring_branches.NODES", 0)
    bought = within_money(gain, costs, 5, 6, seed=0)
    assert bought.gap == 0
    assert bought.claim.status == WORD
