"""Trials of selection: one crowd for all rules, and what is recorded of a choice."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crowd_papers.worker_selection import selection_trials
from crowd_papers.worker_selection.selection_trials import draw_pool
from tests.core.studies.study_runs import one_record
from workbench.selection.scoring import informativeness, set_score

MANY = ("selection-figure-2", "selection-sweep")


class TestPairing:
    @pytest.mark.parametrize("name", MANY)
    def test_rules_meet_one_crowd(self, name, monkeypatch):
        """The pool is the same for every rule, budget and tie rule; answers are nested in n."""
        seen = []
        real = draw_pool

        def spy(*args, **kwargs):
            seen.append(real(*args, **kwargs))
            return seen[-1]

        monkeypatch.setattr(selection_trials, "draw_pool", spy)
        one_record(name, items=50)
        one_record(name, items=50, method="top-skill", budget=7)
        one_record(name, items=50, ties="first")
        one_record(name, items=50, controls=4)
        first, *others, fewer = seen
        for pool in others:
            assert np.array_equal(pool.labels, first.labels)
            assert np.array_equal(pool.scores.correct, first.scores.correct)
        assert np.array_equal(fewer.labels, first.labels)
        assert (fewer.scores.correct <= first.scores.correct).all()
        assert (first.scores.correct - fewer.scores.correct <= 6).all()


class TestPool:
    def test_what_is_recorded(self):
        """Accuracy on the items is the exact one, but for the items' chance."""
        skill = np.random.default_rng(3).beta(2.3, 2, 15)
        pool = draw_pool(skill, np.full(15, 10), 20_000, classes=2, seed=np.random.SeedSequence(3))
        for method in ("selected", "all", "accuracy, true prior"):
            chosen = selection_trials.choose(pool, method, 4, seed=0, prior=(2.0, 2.0))
            record = selection_trials.choice_record(pool, method, chosen)
            worth = informativeness(skill[chosen.chosen])
            assert record["true_score"] == pytest.approx(set_score(worth))
            assert record["size"] == len(chosen.chosen) <= (15 if method == "all" else 4)
            assert (record["score"] is None) == (method != "selected")
            exact = record["accuracy_exact"]
            doubt = 4.5 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-9
            assert abs(record["accuracy"] - exact) < doubt
