"""Hiring by what errors cost."""

import numpy as np
import pytest

import workbench as wb
from tests.core.assignment.test_loss_plans import NAMES, crowd

LOSS = {"yes": 5}


@pytest.fixture(scope="module")
def rare():
    """Four look, four always say no; the gold of half the tasks, one in eight positive."""
    rng = np.random.default_rng(3)
    looking = [[[s, 1 - s], [1 - f, f]] for f, s in rng.uniform((0.6, 0.85), (0.9, 0.95), (4, 2))]
    no = [[[0.99, 0.01], [0.97, 0.03]]] * 4
    labels, truth = crowd(np.array(looking + no), np.array([0.88, 0.12]), 300, 1)
    return labels, truth[:120], truth[120:]


def test_those_are_hired_whose_vote_costs_least(rare):
    labels, gold, truth = rare
    hires = wb.hire(labels, gold, budget=3, loss=LOSS)
    assert set(hires.chosen) <= {f"w{j}" for j in range(4)}
    promised = hires.found.promised
    assert promised.cost < promised.error * 5
    said = hires.summary()
    assert "an answer costs" in said
    assert "Measured, an answer costs" in said
    assert "--loss yes=5" in said
    assert hires.to_dict()["cost_promised"]["recall"].keys() == set(NAMES)
    costs = wb.aggregate(
        labels, workers=hires, method="weighted-log-odds", truth=truth, loss=LOSS
    ).error.costs
    assert hires.error.costs.interval[0] <= costs.interval[1]
    assert costs.outcome.cost < costs.beside
    # The vote of the hired is what `aggregate` does with their rows.
    named = hires.found.vote
    assert named.prior == pytest.approx(named.stakes.tilted)


@pytest.mark.slow
def test_gold_drawn_by_class_stands_for_the_shares_that_are_stated(rare):
    labels, gold, _ = rare
    by_class = gold.groupby(gold, group_keys=False).head(10)
    hires = wb.hire(labels, by_class, budget=3, loss=LOSS, class_share={"yes": 0.12})
    assert hires.found.vote.shares == pytest.approx([0.88, 0.12])
    assert hires.error.costs.stakes.share == pytest.approx([0.88, 0.12])
    few = wb.hire(labels, by_class.iloc[:14], budget=2, loss=LOSS)
    assert "ten of each class tell as much" in few.summary()
    assert "ten of each class" not in wb.hire(labels, by_class.iloc[:14], budget=2).summary()


def test_what_does_not_go_with_costs_is_refused(rare):
    labels, gold, _ = rare
    for more in (
        {"rule": "selected"},
        {"costs": 1.0, "money": 2.0},
        {"options": wb.HiringOptions(prior=(1, 1))},
        {"options": wb.HiringOptions(classes=3)},
    ):
        with pytest.raises(wb.InputError, match="leave"):
            wb.hire(labels, gold, budget=2, loss=LOSS, **more)
