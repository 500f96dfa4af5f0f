"""Answers of least expected cost."""

import json

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.assignment.test_loss_plans import crowd, rare_crowd
from workbench.crowd import datasets

LOSS = {"yes": 5}


@pytest.fixture(scope="module")
def rare():
    return crowd(rare_crowd(5), np.array([0.9, 0.1]), 200, 4)


def test_each_task_gets_the_class_of_least_expected_cost(rare):
    labels, _ = rare
    plain = wb.aggregate(labels, method="dawid-skene")
    costly = wb.aggregate(labels, method="dawid-skene", loss=LOSS)
    chance = plain.posterior  # the model is fitted as without
    pd.testing.assert_frame_equal(costly.posterior, chance)
    assert (costly.labels == np.where(5 * chance["yes"] > chance["no"], "yes", "no")).all()
    expected = np.minimum(5 * chance["yes"], chance["no"])
    assert costly.to_frame()["expected_cost"].to_numpy() == pytest.approx(expected.to_numpy())
    assert costly.believed_costs.cost == pytest.approx(expected.mean())
    assert "By the model alone an answer costs" in costly.summary()
    assert "expected_cost" not in plain.to_frame()
    assert "cost" not in json.dumps(plain.to_dict())


def test_losses_of_one_change_no_answer(rare):
    labels, gold = rare
    for given in ({}, {"gold": gold[:40]}):
        for method in ("dawid-skene", "one-coin"):
            plain = wb.aggregate(labels, method=method, **given)
            even = wb.aggregate(labels, method=method, loss={"yes": 1}, **given)
            pd.testing.assert_series_equal(plain.labels, even.labels)
            pd.testing.assert_series_equal(plain.confidence, even.confidence)


def test_stated_shares_are_a_prior_of_the_decision(rare):
    labels, gold = rare
    how = {
        "gold": gold[:40],
        "method": "weighted-log-odds",
        "options": wb.ModelOptions(truncate=0.1),
    }
    even, stated = (
        wb.aggregate(labels, **how, **more) for more in ({}, {"class_share": {"yes": 0.1}})
    )
    odds = even.confidence / (1 - even.confidence)
    yes = odds.where(even.labels == "yes", 1 / odds) / 9
    assert (stated.labels == np.where(yes > 1, "yes", "no")).all()
    chance = stated.posterior["yes"]
    assert chance.to_numpy() == pytest.approx((yes / (1 + yes)).to_numpy())


def test_votes_without_chances_are_refused(rare):
    for method in ("majority", "bwa", "weighted-linear"):
        gold = {"gold": rare[1][:40]} if method.startswith("weighted") else {}
        with pytest.raises(wb.InputError, match="dawid-skene-smoothed"):
            wb.aggregate(rare[0], method=method, loss=LOSS, **gold)


@pytest.mark.slow
def test_gold_chooses_by_cost_and_measures_it(rare):
    labels, gold = rare
    made = wb.aggregate(labels, gold[:60], loss=LOSS)
    assert "costs least of 6 methods" in made.summary()
    assert "Measured, an answer costs" in made.summary()
    found = made.to_dict()["cost_measured"]
    assert set(found["recall"]) == {"no", "yes"}
    assert found["interval"][0] <= found["cost"] <= found["interval"][1]
    assert made.chosen_from[made.found.method] == min(made.chosen_from.values())


@pytest.mark.release
@pytest.mark.parametrize("name", ["product", "zencrowd_us"])
def test_on_recorded_crowds_of_a_rare_class_answers_by_cost_are_cheaper(name):
    recorded = datasets.load(name)
    labels, gold = recorded.labels, recorded.gold
    rare = gold.value_counts().index[-1]
    drawn = [np.random.default_rng(seed).permutation(gold.index)[:100] for seed in range(3)]
    for many in ([{}], [{"gold": gold.loc[some]} for some in drawn]):
        costs = [
            wb.aggregate(
                labels, truth=gold, loss={rare: 4}, duplicates="first", **given
            ).error.costs
            for given in many
        ]
        assert np.mean([c.outcome.cost for c in costs]) < np.mean([c.beside for c in costs])
