"""What a posted price can promise: program, closed form, proof, and runs that never break it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from crowd_papers.beyond.dynamic_program import offline_plans
from crowd_papers.beyond.instances import FAMILIES, every_sequence, ladder
from crowd_papers.beyond.posted_prices import (
    Posted,
    WorstCase,
    falling_proof,
    posted_costs,
    proof_file,
    worst_case,
)
from tests.core.release import some
from workbench.assignment.robust import STEPS, posted_price
from workbench.base.checker import policy_checker
from workbench.base.errors import InputError

CHECK = policy_checker()["line_of"]


def geometric(theta: float, k: int) -> list[float]:
    return [theta ** (1 - j / k) for j in range(1, k + 1)]


def one_price(rungs, repair, price):
    """max(p/L, U/p), at the highest rung that is taken and the lowest that is not."""
    taken, left = [a for a in rungs if a <= price], [a for a in rungs if a > price]
    return max(max(taken, default=0) / min(rungs), repair / min(left, default=repair))


@pytest.mark.parametrize(("theta", "k"), some([(12, 7), (12, 8), (3, 15)], 3))
def test_one_price_comes_to_the_closed_form(theta, k):
    rungs = geometric(theta, k)
    prices = [*rungs, *(p * 1.02 for p in rungs)]
    by_price = [worst_case(Posted(rungs, theta, [p])).ratio for p in prices]
    assert by_price == pytest.approx([one_price(rungs, theta, p) for p in prices])
    assert by_price[0] == pytest.approx(theta ** ((k - 1) / k))  # greedy takes all
    assert min(by_price) == pytest.approx(theta ** (k // 2 / k))
    for p, at in ((theta, theta), (math.sqrt(theta), math.sqrt(theta)), (1.0, theta)):
        fine = worst_case(Posted(geometric(theta, 301), theta, [p])).ratio
        assert at * theta ** (-2 / 301) <= fine <= at + 1e-9


FALLING = Posted(geometric(5, 6), 5.0, [3.1, 2.2, 1.4, 1.0], [0.2, 0.3, 0.3, 0.2])


@pytest.mark.parametrize("posted", [FALLING, Posted(geometric(12, 7), 12.0, [3.5])])
def test_the_dual_proves_the_ratio_and_nothing_less(posted):
    ratio, proof = worst_case(posted)

    def holds(ratio, proof):
        return CHECK(proof_file(posted, WorstCase(ratio, tuple(proof))))[0]

    assert holds(ratio, proof)
    assert not holds(ratio * (1 - 1e-6), proof)
    assert not holds(ratio, [p * 1.01 for p in proof])
    assert not holds(ratio, [p * 0.7 for p in proof])


@pytest.mark.parametrize("theta", some([1, 12], 2))
def test_the_falling_price_proves_its_ratio_whatever_they_ask(theta):
    content, ratio = falling_proof(theta), posted_price(theta).ratio
    holds, line = CHECK(content)
    assert holds, line
    told = json.loads(content)
    told["claim"]["ratio"] = f"{math.floor(ratio * 0.995 * 1000) * 2 + 1}/2000"
    text = json.dumps(told, sort_keys=True, separators=(",", ":")) + "\n"
    assert CHECK(text.encode())[1].startswith("WRONG: a run that ends at step")


def test_no_fluid_run_is_worse_and_some_come_near():
    """Crowds drawn, any order, against the cheapest cover found by sorting."""
    rng, ratio, met = np.random.default_rng(0), worst_case(FALLING).ratio, []
    ends = np.cumsum(FALLING.share)
    for _ in range(3000):
        asked = rng.choice(FALLING.rungs, rng.integers(1, 6))
        offers = rng.choice([0.2, 0.3, 0.5, 1.0], len(asked))
        z = paid = best = covered = 0.0
        for a, offer in zip(asked, offers, strict=True):
            room = max((e for e, p in zip(ends, FALLING.price, strict=True) if a <= p), default=0)
            taken = min(offer, max(room - z, 0))
            z, paid = z + taken, paid + a * taken
        for a, offer in sorted(zip(asked, offers, strict=True)):
            taken = min(offer, 1 - covered)
            covered, best = covered + taken, best + a * taken
        met.append((paid + 5 * (1 - z)) / (best + 5 * (1 - covered)))
    assert 0.97 * ratio < max(met) <= ratio + 1e-9


def test_the_price_that_falls_keeps_what_theorem_1_says():
    """Φ in 20 steps, each at its left end: a little dearer than Φ."""
    ratio, phi = posted_price(5)
    steps = phi[: STEPS : STEPS // 20].tolist()
    found = worst_case(Posted(geometric(5, 24), 5, steps, [1 / 20] * 20)).ratio
    assert ratio * 0.97 < found < ratio * 1.03


@pytest.mark.parametrize(
    "problem",
    [
        every_sequence(6, (1, 2, 3, 6), 4, repair_price=2.0),
        FAMILIES["ladder-12"](),
        ladder(7, (2, 3, 5), tasks=2, capacity=2),
    ],
)
def test_whole_labels_cost_one_more_a_task_at_most(problem):
    crowds = problem.arrivals.sequences
    plans = offline_plans(problem, crowds, plans=False)
    optima = np.array([plans[tuple(sorted(one))][0] for one in crowds])
    rungs = [1 / q for q in problem.quality[0]]
    for p in [*rungs, problem.repair_price, 0.0]:
        ratio = worst_case(Posted(rungs, problem.repair_price, [p])).ratio
        costs = posted_costs(problem, p)
        more = problem.tasks[0] * max(1.0, problem.repair_price)
        assert (costs <= ratio * optima + more + 1e-9).all()


def test_greedy_on_a_ladder_loses_all_that_it_may():
    problem = FAMILIES["ladder-12"]()
    rungs, longest = [1 / q for q in problem.quality[0]], problem.arrivals.sequences[-1]
    optimum = offline_plans(problem, [longest], plans=False)[longest][0]
    assert worst_case(Posted(rungs, 1.0, [1.0])).ratio == pytest.approx(6.0)
    assert posted_costs(problem, 1.0)[-1] == pytest.approx(6 * optimum)


@pytest.mark.parametrize(
    ("posted", "said"),
    [
        (Posted([2.0], 1.0, [1.0]), "rungs"),
        (Posted([1.0], 2.0, [1.0, 2.0], [0.5, 0.5]), "rise"),
        (Posted([1.0], 2.0, [1.0], [0.5]), "share"),
    ],
)
def test_what_is_no_posted_price(posted, said):
    with pytest.raises(InputError, match=said):
        worst_case(posted)
