"""The pool of two models, which is how labels are aggregated where nothing is said."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tests.core.release import some
from workbench.aggregation import DEFAULT
from workbench.aggregation.bwa import bwa
from workbench.aggregation.dawid_skene import smoothed
from workbench.aggregation.labelling import KnownBeforehand, label_tasks
from workbench.aggregation.pool import pooled
from workbench.aggregation.posteriors import Earlier
from workbench.base.errors import InputError
from workbench.crowd import datasets
from workbench.crowd.simulate import dense_votes, one_coin_labels


def crowd(seed=0, tasks=200, classes=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, tasks)
    return dense_votes(one_coin_labels(np.full(6, 0.7), truth, classes, seed=seed), classes), truth


def test_it_is_the_mean_of_the_two_posteriors():
    votes, _ = crowd()
    parts = [model(votes, seed=0).info["posterior"] for model in (smoothed, bwa)]
    together = pooled(votes, seed=0)
    np.testing.assert_allclose(together.info["posterior"], (parts[0] + parts[1]) / 2)
    np.testing.assert_array_equal(together.label, together.info["posterior"].argmax(axis=1))


def test_classes_of_control_tasks_stay():
    votes, truth = crowd()
    known = np.where(np.arange(200) < 30, truth, -1)
    together = pooled(votes, earlier=Earlier(known), seed=0)
    np.testing.assert_array_equal(together.label[:30], truth[:30])
    np.testing.assert_allclose(together.info["confidence"][:30], 1.0)


def test_it_goes_on_from_its_own_fit_alone():
    votes, _ = crowd()
    first = pooled(votes, seed=0)
    again = pooled(votes, earlier=Earlier(fit=first.info["fit"]), seed=0)
    assert again.info["iterations"] <= first.info["iterations"]
    np.testing.assert_allclose(again.info["posterior"], first.info["posterior"], atol=1e-2)
    with pytest.raises(InputError, match="not pooled"):
        pooled(votes, earlier=Earlier(fit=bwa(votes, seed=0).info["fit"]), seed=0)


@pytest.mark.skipif(not os.environ.get("WORKBENCH_DATA"), reason="WORKBENCH_DATA names no labels")
@pytest.mark.parametrize(
    "name", some(["bluebird", "product", "rte", "weather_amt", "zencrowd_us"], 3)
)
def test_on_recorded_crowds_it_is_hardly_worse_than_a_majority(name):
    crowd, _ = datasets.as_studied(datasets.load(name))
    known = KnownBeforehand(truth=crowd.gold)
    errors = {
        method: 1.0 - label_tasks(crowd.labels, method, known, seed=0).accuracy
        for method in ("majority", DEFAULT)
    }
    assert errors[DEFAULT] <= errors["majority"] + 0.03
