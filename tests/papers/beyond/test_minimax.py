"""Bounds for every online algorithm: exact, recomputed, and reached."""

from __future__ import annotations

import copy
import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from crowd_models.online import RandomOrder, SequenceMix
from crowd_papers.beyond.dynamic_program import online_optimum
from crowd_papers.beyond.instances import FAMILIES, every_sequence, ladder
from crowd_papers.beyond.minimax_program import PrefixTree, minimax
from tests.core.release import before_a_release
from workbench.base.checker import policy_checker
from workbench.base.errors import InputError

CHECKER = policy_checker()

LIMITED = ladder(4, (1, 2), tasks=2, capacity=1, repair_price=2.0)
"""Workers take one of two tasks."""


def bound_of(certificate):
    return CHECKER["online_bound"](certificate["problem"], certificate["sequences"])


@pytest.fixture(scope="module")
def limited():
    return minimax(LIMITED)


@pytest.mark.parametrize(
    ("family", "bound"),
    [("fine-2", None), ("ladder-12", Fraction(495, 196)), ("limited", None)],
)
def test_proof_and_policy_meet(family, bound):
    problem = LIMITED if family == "limited" else FAMILIES[family]()
    found = minimax(problem)
    assert found.ratio - float(found.bound) < 1e-7
    assert float(found.bound) >= found.value - 1e-9
    assert found.ratios.max() == pytest.approx(found.ratio)
    if bound is not None:
        assert found.bound == bound


@before_a_release
@pytest.mark.release
def test_the_bounds_of_the_other_ladders():
    assert minimax(FAMILIES["ladder-6"]()).bound == Fraction(110, 47)
    assert minimax(FAMILIES["ladder-limited"]()).bound == Fraction(180, 97)


@pytest.mark.release
def test_a_thousand_sequences():
    found = minimax(FAMILIES["all-1024"](), tolerance=1e-6)
    assert len(found.optima) == 1024
    assert found.ratio - float(found.bound) < 1e-6


def test_the_bound_is_that_of_the_dynamic_programme(limited):
    """E[ALG] of the best policy against the weighted mix, over E[OPT]."""
    mix = SequenceMix(LIMITED.arrivals.sequences, limited.weights)
    share = np.array(limited.weights) / sum(limited.weights)
    best = online_optimum(replace(LIMITED, arrivals=mix)).cost
    assert best / (share @ limited.optima) == pytest.approx(float(limited.bound))


def test_a_response_costs_what_it_says():
    """Costs by sequence add up to the least weighted cost, and none is below its optimum."""
    problem = every_sequence(4, (1, 2, 4), 3, tasks=2, capacity=1, repair_price=1.5)
    tree, rng = PrefixTree(problem), np.random.default_rng(3)
    optima = minimax(problem, rounds=1).optima
    for _ in range(5):
        weights = rng.random(len(tree.sequences))
        least, costs = tree.respond(weights)
        assert weights @ costs == pytest.approx(least)
        assert (costs >= optima - 1e-9).all()
        mix = SequenceMix(tree.sequences, tuple(weights.tolist()))
        assert online_optimum(replace(problem, arrivals=mix)).cost == pytest.approx(
            least / weights.sum()
        )


def test_no_threshold_policy_is_below_the_bound(limited):
    """Every deterministic rule that buys by type and by what was bought, tried on a ladder."""
    problem = ladder(4, (1, 2, 4))
    found, longest = minimax(problem), problem.arrivals.sequences[-1]
    for most in itertools.product(range(5), repeat=3):
        state, paid, bought = problem.start, 0.0, [0, 0, 0]
        costs = [problem.repairs(state)]
        for kind in longest:
            if bought[kind] < most[kind] and state[0][1] > 0:
                bought[kind] += 1
                paid += 1
                state = problem.served(state, state, kind)
            costs.append(paid + problem.repairs(state))
        assert (np.array(costs) / found.optima).max() >= float(found.bound) - 1e-12


class TestCertificate:
    def test_it_is_checked_for_what_it_says(self, limited):
        certificate = limited.certificate
        assert bound_of(certificate) == limited.bound
        for change, said in [
            (lambda c: c["sequences"][-1]["plan"].__setitem__(0, [0, 1]), "given"),
            (lambda c: c["sequences"][-1].__setitem__("weight", 0.5), "whole"),
        ]:
            spoilt = copy.deepcopy(certificate)
            change(spoilt)
            with pytest.raises(ValueError, match=said):
                bound_of(spoilt)

    def test_the_file_holds_and_claims_no_more(self, limited):
        content = limited.proof()
        holds, line = CHECKER["line_of"](content)
        assert holds
        claim, about = line.split("; ")
        assert claim == f"holds: no online algorithm has a ratio below {limited.bound}"
        assert about.startswith("problem ")
        more = f'"ratio":"{limited.bound + Fraction(1, 1000)}"'.encode()
        spoilt = content.replace(f'"ratio":"{limited.bound}"'.encode(), more)
        assert CHECKER["line_of"](spoilt)[1].startswith("WRONG: the weights prove")

    def test_a_worse_plan_proves_less_and_other_weights_too(self, limited):
        idle = copy.deepcopy(limited.certificate)
        for one in idle["sequences"]:
            one["plan"] = [[] for _ in one["types"]]
        assert bound_of(idle) < limited.bound
        uneven = copy.deepcopy(limited.certificate)
        uneven["sequences"][0]["weight"] *= 3
        assert bound_of(uneven) < limited.bound


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (replace(LIMITED, arrivals=RandomOrder((1, 1))), "not a mix of sequences"),
        (replace(LIMITED, requirement=(0,)), "optimum of 0"),
    ],
)
def test_what_has_no_bound(problem, said):
    with pytest.raises(InputError, match=said):
        minimax(problem)
