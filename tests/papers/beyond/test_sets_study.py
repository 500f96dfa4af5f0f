"""The study of sets: its unions by enumeration, and what it makes held to exact errors."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from crowd_papers.beyond import sets
from workbench.accuracy.likeliest import likeliest_error
from workbench.base.seeds import stream

SMALL = {
    "of": "plans",
    "labels": 2,
    "workers": 20,
    "tasks": 20,
    "capacity": 20,
    "share": 0.25,
    "epsilon": 0.05,
    "gold": 80,
    "each": 5,
    "made": 5,
}


@pytest.mark.parametrize("seed", range(5))
def test_label_plans_are_dealt_out_to_share_most(seed):
    rng = np.random.default_rng(seed)
    union, plan = rng.integers(0, 2, (2, 5, 6)).astype(float)
    found = np.maximum(union, sets._aligned(union, plan)).sum()
    orders = itertools.permutations(range(5))
    assert found == min(np.maximum(union, plan[list(order)]).sum() for order in orders)


def test_errors_made_are_those_that_skills_say():
    rng = np.random.default_rng(1)
    skills = sets.skills_of(rng, 6, 3, 0.25)
    plan = np.ones((40, 6))
    made = sets._made(rng, skills, skills, plan, {**SMALL, "made": 100})
    for label, matrices in enumerate(skills.confusion):
        exact = likeliest_error(matrices, skills.prior[label]).probability
        assert made.by_label[label].error_measured == pytest.approx(exact, abs=0.015)


def test_a_trial_of_each_kind():
    streams = SimpleNamespace(instance=3, method=lambda name: 3)
    plans = sets.trial(SMALL, streams)
    assert plans["cover"] <= plans["union"] <= plans["sum"]
    assert plans["proven"]
    promised = sets.trial({**SMALL, "of": "promises"}, streams)
    assert promised["bought_error"] < promised["bought_bound"]
    assert promised["promised_error"] <= 0.05 * (1 + 1e-9)
    answers = sets.trial({**SMALL, "of": "answers", "tasks": 60}, streams)
    assert answers["classes"] <= 4
    assert 0 < answers["f1_label"] <= 1


def test_who_is_drawn_is_better_than_chance_in_the_mean():
    skills = sets.skills_of(stream(0, "workers"), 500, 2, 0.25)
    assert skills.confusion[:, :, 1, 1].mean() > 0.7
    assert skills.confusion.sum(axis=-1) == pytest.approx(np.ones((2, 500, 2)))
