"""The studies of worker selection: that each measures what it says."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from tests.papers.catalog_runs import one_record, streams_of
from workbench.accuracy.plurality import plurality_error
from workbench.base.seeds import stream
from workbench.papers.worker_selection import selection_bound, selection_exact, selection_trials
from workbench.papers.worker_selection.selection_trials import draw_pool
from workbench.selection.scores import informativeness, set_score

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
            assert np.array_equal(pool.known.correct, first.known.correct)
        assert np.array_equal(fewer.labels, first.labels)
        assert (fewer.known.correct <= first.known.correct).all()
        assert (first.known.correct - fewer.known.correct <= 6).all()


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


class TestBound:
    @pytest.mark.parametrize(("classes", "controls"), [(2, 1), (2, 3), (3, 2), (4, 1)])
    def test_few_with_estimates(self, classes, controls):
        """Over control answers and labels: the mean over answers of the exact error given them."""
        w = np.array([0.6, 0.85])
        total = 0.0
        for right in itertools.product(range(controls + 1), repeat=2):
            weight = classes * np.array(right) / controls - 1
            error = plurality_error(w, weight, classes).probability
            total += float(binom.pmf(right, controls, w).prod()) * error
        found = selection_bound.error_of_few(w, classes, controls)
        assert found.low == pytest.approx(total, abs=1e-9)

    @pytest.mark.parametrize(("classes", "controls"), [(2, 0), (2, 2), (3, 1), (4, 2)])
    def test_many_hold_few_between_them(self, classes, controls):
        for skill, workers in itertools.product((0.15, 0.5, 0.8), (1, 3, 4)):
            few = selection_bound.error_of_few(np.full(workers, skill), classes, controls)
            many = selection_bound.error_of_many(skill, workers, classes, controls)
            assert many.pair == pytest.approx(few.pair)
            assert many.low - 1e-12 <= few.low <= many.high + 1e-12
            if classes == 2:
                assert many.low == pytest.approx(few.low)

    def test_the_counterexample_in_whole_numbers(self):
        """Theorem 1 as printed fails: 8 classes, 60 workers of skill 17/20, one control question.

        Every probability is a fraction, and none is rounded. P(error) is at least
        7 P(s₁ > s₀) − 21 P(s₁ + s₂ ≥ 2 s₀), class 0 being the true one (Bonferroni).
        """
        L, workers = 8, 60
        w = Fraction(17, 20)
        told = (1 - w) / (L - 1)

        def chance(classes, least):
            """P(some wrong classes, together that often named, have `least` or more)."""
            step = np.array([Fraction(0)] * 29)
            for weight, likely in ((L - 1, w), (-1, 1 - w)):  # Lŵ − 1, ŵ from one answer
                step[14 + weight] += likely * told * classes
                step[14 - weight * classes] += likely * w
                step[14] += likely * told * (L - 1 - classes)
            assert step.sum() == 1
            whole, sums = (step * 7 * 400 * 20).astype(object), np.array([1], dtype=object)
            assert all(part.denominator == 1 for part in whole)
            for _ in range(workers):
                sums = np.convolve(sums, [int(part) for part in whole])
            return Fraction(int(sums[14 * workers + least :].sum()), int(sums.sum()))

        ahead, both = chance(1, 1), chance(2, 0)
        error = 7 * ahead - 21 * both
        score = float(L * w - 1) ** 2 * math.sqrt(workers)
        log_bound = -2 * score**2 / (L * (L - 1)) ** 2 + math.log(L - 1)
        log_error = math.log(error.numerator) - math.log(error.denominator)
        assert log_error - log_bound > math.log(2)
        found = selection_bound.error_of_many(0.85, workers, L, 1)
        assert math.log(found.low) == pytest.approx(log_error)
        assert log_error < -(score**2) / (2 * (L - 1) ** 4) + math.log(L - 1)

    def test_the_hunt_finds_it(self):
        record = one_record("selection-bound", search="many", classes=8, controls=1, workers=60)
        assert record["log_ratio"] > 0
        assert record["log_ratio_supported"] < 0
        record = one_record("selection-bound", search="exponents", classes=3, controls=1)
        assert 1.05 < record["exponent_ratio"] < 1.08
        record = one_record("selection-bound", search="many", classes=2, controls=1, workers=60)
        assert record["log_ratio"] < math.log(0.5)


class TestScores:
    def test_fixed_set_over_all_answers(self):
        """Lemma 2, and what the plug-in adds: means over many sheets, against the exact ones."""
        given = {"workers": 3, "budget": 2, "controls": 4, "classes": 3, "sheets": 20_000}
        record = one_record("selection-scores", **given)
        drawn = stream(streams_of("selection-scores", **given).instance, "crowd")
        skill = drawn.beta(2.3, 2.0, 3)
        assert record["score"] == pytest.approx(set_score(informativeness(skill[:2], 3)))
        assert record["plug_in_bias_promised"] == pytest.approx(
            9 * (skill[:2] * (1 - skill[:2])).sum() / 4 / math.sqrt(2)
        )
        assert record["plug_in_bias"] == pytest.approx(record["plug_in_bias_promised"], abs=0.1)
        assert record["bias"] == pytest.approx(0, abs=0.1)


class TestExact:
    def test_inequalities(self):
        """Equal gains: Σ/√k is √k, whose steps shrink: submodular, and not supermodular."""
        found = selection_exact._modular(np.ones(3))
        assert found == {"inequalities": 6, "not_submodular": 0, "not_supermodular": 6}
        level = selection_exact._modular(np.zeros(3))
        assert level == {"inequalities": 6, "not_submodular": 0, "not_supermodular": 0}
        # A gain of 1 beside nothing: −1 + 1/√2, then −1/√2 + 1/√3: the steps grow.
        found = selection_exact._modular(np.array([1.0, 0.0, 0.0]))
        assert found["not_submodular"] > 0

    def test_questions_are_answered(self):
        score, money, right = (
            one_record("selection-exact", question=question, workers=m, budget=4)
            for question, m in (("score", 8), ("money", 10), ("accuracy", 6))
        )
        assert score["score"] == pytest.approx(score["score_slices"])
        assert score["score"] == pytest.approx(score["score_listed"])
        assert money["spent"] <= 0.5 * 4 + 1e-9
        assert money["score_heuristic"] <= money["score"] + 1e-12
        for rule in ("prefix", "selected", "plug_in", "top_skill", "top_informative"):
            assert right["predicted_best"] >= right[f"predicted_{rule}"] - 1e-9
