"""Skill estimates, and the radii of Lemmas 2 and 3."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from workbench.base.errors import InputError
from workbench.crowd.confusion import GUESS, estimate_confusion, likeliest_weight
from workbench.crowd.skills import (
    estimate_skills,
    gold_tasks_needed,
    hoeffding_radius,
    quality,
    quality_radius,
    skills_from_gold,
)

probability = st.floats(0, 1)


def coverage(p, s, radius):
    """P(|p̂ − p| ≤ radius), exactly."""
    right = np.arange(s + 1)
    near = np.abs(right / s - p) <= radius + 1e-12
    return float(binom.pmf(right, s, p)[near].sum())


def test_radius_of_lemma_2_covers_every_skill_exactly():
    for s in (1, 2, 3, 5, 8, 13, 24):
        for delta in (0.05, 0.5, 0.95):
            radius = hoeffding_radius(s, delta)
            worst = min(coverage(p, s, radius) for p in np.linspace(0, 1, 101))
            assert worst >= 1 - delta - 1e-12


@given(t=st.floats(0.005, 0.99), delta=st.floats(0.001, 0.99))
def test_gold_tasks_needed_is_the_least_that_does(t, delta):
    s = gold_tasks_needed(t, delta)
    assert hoeffding_radius(s, delta) <= t * (1 + 1e-12)
    if s > 1:
        assert hoeffding_radius(s - 1, delta) > t * (1 - 1e-12)


@given(p=probability, estimate=probability)
def test_quality_is_within_lemma_3(p, estimate):
    t = abs(p - estimate)
    assert abs(quality(p) - quality(estimate)) <= quality_radius(t) + 1e-12


def test_estimates_are_shares_and_silence_says_nothing():
    known = estimate_skills(np.array([[3, 0], [0, 2]]), np.array([[4, 0], [5, 2]]))
    assert known.skill.tolist() == [[0.75, 0.5], [0.0, 1.0]]
    assert known.quality.tolist() == [[0.25, 0.0], [1.0, 1.0]]
    assert known.answered.dtype == known.correct.dtype == np.int64


LABELS = pd.DataFrame(
    [
        ("a", "ann", "x"),
        ("b", "ann", "y"),
        ("c", "ann", "x"),
        ("a", "bob", "y"),
        ("d", "cyd", "x"),
        ("b", "bob", "z"),
    ],
    columns=["task", "worker", "label"],
)
GOLD = pd.Series({"a": "x", "b": "z", "c": "x"})


def test_skills_from_gold_by_type():
    kinds = pd.Series({"c": "cats", "a": "dogs", "b": "dogs", "d": "dogs"})
    known = skills_from_gold(LABELS, GOLD, kinds)
    table = known.table(delta=0.5).set_index(["worker", "task_type"])
    assert list(table.columns) == ["answered", "correct", "skill", "low", "high"]
    assert table.loc[("ann", "dogs"), ["answered", "correct", "skill"]].tolist() == [2, 1, 0.5]
    assert table.loc[("ann", "cats"), ["answered", "correct", "skill"]].tolist() == [1, 1, 1]
    assert table.loc[("bob", "cats")].tolist() == [0, 0, 0.5, 0, 1]
    radius = hoeffding_radius(1, 0.5)
    assert table.loc[("ann", "cats"), "low"] == pytest.approx(1 - radius)
    assert table.loc[("ann", "cats"), "high"] == 1
    with pytest.raises(InputError, match=r"name 3 classes \('x', 'y', 'z'\): this takes two"):
        known.wide()  # qualities (2p − 1)² are those of two classes


def test_few_answers_do_not_make_unlike_workers_equal():
    """Three classes, 14 workers of 25 answers: drawn apart by the weak prior, nearer the truth."""
    share, names = np.array([0.55, 0.35, 0.1]), np.arange(14)
    apart, free = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        skill = rng.uniform(0.55, 0.95, 14)
        chance = np.where(
            np.eye(3, dtype=bool), skill[:, None, None], (1 - skill)[:, None, None] / 2
        )
        counts = np.array(
            [
                rng.multinomial(n, p)
                for one in chance
                for n, p in zip(rng.multinomial(25, share), one, strict=True)
            ]
        ).reshape(14, 3, 3)
        found = estimate_confusion(counts, share, names, np.arange(3))
        free_weight = likeliest_weight(counts, found.pooled)
        other = replace(found, weight=np.full(3, free_weight))
        apart.append(np.mean((found.skill - skill) ** 2))
        free.append(np.mean((replace(other, confusion=other.drawn(counts)).skill - skill) ** 2))
        assert (found.weight < 1000).all()
    assert np.mean(apart) < np.mean(free)
    # One answer by each worker tells nothing of their spread: the prior decides.
    alone = np.zeros((14, 3, 3), dtype=int)
    alone[:, 0, 0] = 1
    assert estimate_confusion(alone, share, names, np.arange(3)).weight == pytest.approx(
        np.full(3, GUESS), 1e-3
    )
