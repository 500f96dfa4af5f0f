"""What errors cost by true class: a tilted prior, and costs measured on gold."""

from itertools import product

import numpy as np
import pytest

from workbench.accuracy.likeliest import likeliest_error
from workbench.base.errors import InputError
from workbench.crowd.loss import Stakes, measure_cost, stakes_of


def least_cost(confusion, loss, share):
    """Expected cost of the answers of least cost, over all answers of the voters."""
    K, total = len(loss), 0.0
    for said in product(range(K), repeat=len(confusion)):
        chance = [
            share[z] * np.prod([m[z, a] for m, a in zip(confusion, said, strict=True)])
            for z in range(K)
        ]
        total += min(sum(loss[z] * chance[z] for z in range(K) if z != k) for k in range(K))
    return total


def test_a_loss_is_a_tilted_prior():
    rng = np.random.default_rng(49)
    for _ in range(100):
        K, voters = rng.integers(2, 5), rng.integers(0, 4)
        confusion = rng.dirichlet(np.ones(K), (voters, K))
        stakes = Stakes(tuple(range(K)), rng.uniform(0.2, 9, K), rng.dirichlet(np.ones(K)))
        error = likeliest_error(confusion, stakes.tilted).probability
        least = least_cost(confusion, stakes.loss, stakes.share)
        assert abs(stakes.scale * error - least) < 1e-12
        assert abs(stakes.error_for(least) - error) < 1e-12


def test_what_is_said_of_costs_and_shares_is_read_or_refused_in_a_line():
    read = stakes_of({"yes": 5}, {"yes": 0.1}, ["no", "yes"])
    assert read.loss.tolist() == [1, 5]
    assert read.share == pytest.approx([0.9, 0.1])
    assert stakes_of(None, None, ["no", "yes"]) is None
    assert stakes_of({1: 3}, None, ["0", "1"]).loss.tolist() == [1, 3]
    for loss, share in [
        ({"si": 5}, None),
        ({"yes": 0}, None),
        ({"yes": float("nan")}, None),
        ([5], None),
        (None, {"yes": 1.0}),
        (None, {"yes": 0.5, "no": 0.6}),
    ]:
        with pytest.raises(InputError) as refused:
            stakes_of(loss, share, ["no", "yes"])
        assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match="leaves out"):
        stakes_of(None, {"a": 0.2}, ["a", "b", "c"])
    with pytest.raises(InputError, match=r"below 1\.4"):
        read.error_for(1.41)


def test_costs_are_measured_for_the_shares_that_are_stated_however_gold_was_drawn():
    truth = np.array([1] * 10 + [0] * 10)
    chance = np.zeros((20, 2))
    chance[np.arange(20), truth] = 1.0
    chance[[0, 1, 10]] = chance[[0, 1, 10]][:, ::-1]  # two of ten are missed, one is a false alarm
    stated = Stakes(("no", "yes"), np.array([1.0, 5.0]), np.array([0.9, 0.1]))
    found = measure_cost(stated, truth, chance, beside=1.0 - chance[np.arange(20), truth])
    assert found.outcome.cost == pytest.approx(5 * 0.1 * 0.2 + 0.9 * 0.1)
    assert found.beside == pytest.approx(found.outcome.cost)
    assert found.outcome.recall == pytest.approx([0.9, 0.8])
    assert found.outcome.precision[1] == pytest.approx(0.08 / (0.08 + 0.09))
    drawn = measure_cost(Stakes(("no", "yes"), stated.loss), truth, chance)
    assert drawn.outcome.cost == pytest.approx((5 * 2 + 1) / 20)
    for each in (found, drawn):
        assert each.interval[0] < each.outcome.cost < each.interval[1]


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [False, True])
def test_nine_of_ten_intervals_hold_the_cost(drawn):
    rng, share, miss = np.random.default_rng(7), np.array([0.9, 0.1]), np.array([0.05, 0.2])
    loss = np.array([1.0, 5.0])
    cost, inside = float(loss * share @ miss), 0
    for _ in range(1000):
        truth = np.repeat([0, 1], 50) if drawn else rng.choice(2, 100, p=share)
        wrong = rng.random(100) < miss[truth]
        chance = np.eye(2)[np.where(wrong, 1 - truth, truth)]
        stakes = Stakes((0, 1), loss, share if drawn else None)
        low, high = measure_cost(stakes, truth, chance).interval
        inside += low <= cost <= high
    assert inside >= 0.88 * 1000
