"""Simulated pools of models and people, and what is done with them without a belief."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from crowd_papers.beyond.mixed_crowds import RARE, SETTINGS, SKILLS, mixed_crowd
from crowd_papers.beyond.mixed_rivals import best_panel, cascade


def crowd(setting=SETTINGS[0], tasks=120, people=3, seed=0):
    return mixed_crowd(setting, tasks, people, np.random.default_rng(seed))


@pytest.mark.parametrize("setting", SETTINGS)
def test_pools_are_as_said(setting):
    drawn = crowd(setting, 40_000, 6)
    truth, label = drawn.answers.truth, drawn.answers.label
    right = label == truth[:, None]
    rare = setting == "15 % positives"
    assert truth.mean() == pytest.approx(RARE if rare else 0.5, abs=0.01)
    if rare:
        assert (right[truth == 1, :5].mean(0) < right[truth == 0, :5].mean(0) - 0.1).all()
    else:
        np.testing.assert_allclose(right[:, :5].mean(axis=0), SKILLS, atol=0.01)
    within = np.corrcoef(right[truth == 0].T)
    models = within[:5, :5][np.triu_indices(5, 1)].mean()
    assert models == pytest.approx(0.0 if setting == "independent models" else 0.42, abs=0.03)
    between = within[:5, 5:].mean()
    if setting == "shared difficulty":
        assert between > 0.15
    else:
        assert abs(between) < 0.02
    # Surer answers are more often right, and less often than the models say.
    sure, hit = drawn.confidence[:, 0], right[:, 0]
    assert hit[sure > 0.95].mean() > hit[sure < 0.7].mean() + 0.1
    assert hit.mean() < sure.mean() - 0.05


def test_the_best_panel_is_the_best_of_all_that_the_budget_reaches():
    drawn = crowd()
    truth, label = drawn.answers.truth, drawn.answers.label
    for total in (0.9, 1.2, 30.0):
        end = best_panel(drawn, total)
        assert end.cost <= total
        for size in (1, 3):
            for panel in combinations(range(8), size):
                cost = drawn.pool.price[0][list(panel)].sum() * len(truth)
                votes = label[:, list(panel)].sum(axis=1) * 2 > size
                models = [j for j in panel if j < 5]
                if cost <= total and len(models) == size:
                    assert end.error <= (votes != truth).mean()
    assert best_panel(drawn, 0.9).error >= best_panel(drawn, 30.0).error


@pytest.mark.parametrize("confident", [False, True])
@pytest.mark.parametrize("each", [1, 3])
def test_a_cascade_spends_its_budget_on_the_tasks_that_come_first(confident, each):
    drawn = crowd(people=6)
    truth = drawn.answers.truth
    label = drawn.answers.label.copy()
    label[:, 5:] = truth[:, None]  # people are never wrong
    drawn = replace(drawn, answers=replace(drawn.answers, label=label))
    asked = 24
    total = 120 * 5 * 0.002 + asked * 0.1
    end = cascade(drawn, total, each, np.random.default_rng(0), confident=confident)
    assert end.cost == pytest.approx(total)
    votes = label[:, :5].mean(axis=1)
    disagree = np.abs(2 * votes - 1) < 1
    majority = (votes > 0.5) == truth
    if confident:
        odds = np.log(drawn.confidence / (1 - drawn.confidence))
        pooled = ((2 * label[:, :5] - 1) * odds).sum(axis=1)
        first = np.argsort(np.abs(pooled))[: asked // each]
        wrong = (pooled > 0) != truth
        assert end.error == pytest.approx(np.delete(wrong, first).sum() / 120)
    else:
        # People are right wherever they were asked, and only where models disagree.
        assert (~majority & ~disagree).mean() - 1e-12 <= end.error
        assert end.error <= (~majority).mean()
    everything = cascade(drawn, 1000.0, each, np.random.default_rng(0), confident=confident)
    assert everything.error == pytest.approx(0.0 if confident else (~majority & ~disagree).mean())


def test_a_fitted_cascade_believes_something():
    drawn = crowd(people=6)
    end = cascade(drawn, 10.0, 3, np.random.default_rng(0), fitted=True)
    assert 0.0 < end.believed < 0.5
    assert cascade(drawn, 10.0, 3, np.random.default_rng(0)).believed is None
