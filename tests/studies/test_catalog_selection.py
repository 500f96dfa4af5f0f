"""The studies of worker selection: that each measures what it says."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from tests.studies.catalog_runs import one_record, smoke, streams_of
from workbench.accuracy.error_rate import vote_error
from workbench.accuracy.plurality import plurality_error
from workbench.base.seeds import stream
from workbench.selection.rules import algorithm_1
from workbench.selection.scores import informativeness, scores, set_score
from workbench.studies.catalog import (
    selection_bound,
    selection_exact,
    selection_scores,
    selection_sweep,
    selection_trials,
)
from workbench.studies.catalog.selection_trials import difference, draw_pool
from workbench.studies.source import Source
from workbench.studies.trials import points_of

MANY = ("selection-figure-1", "selection-figure-2", "selection-sweep")


def test_the_papers_settings():
    study = Source.of("selection-figure-1").load()
    size = study.sizes["paper"]
    points = points_of(study, size.sweep)
    assert size.repetitions == 100
    assert {p["budget"] for p in points} == set(range(3, 32))
    assert {(p["workers"], p["items"], p["controls"]) for p in points} == {(31, 1000, 10)}
    assert {(p["a"], p["b"], p["ties"]) for p in points} == {(2.3, 2.0, "fair")}


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
    @pytest.mark.parametrize("classes", [2, 4])
    def test_answers_and_labels_are_right_with_the_skill(self, classes):
        skill = np.array([0.1, 0.5, 0.9])
        pool = draw_pool(
            skill, np.full(3, 4000), 4000, classes=classes, seed=np.random.SeedSequence(2)
        )
        doubt = 4.5 * np.sqrt(skill * (1 - skill) / 4000)
        assert (np.abs(pool.known.skill - skill) < doubt).all()
        assert (np.abs((pool.labels == pool.truth[:, None]).mean(axis=0) - skill) < doubt).all()
        assert set(pool.truth) == set(range(classes))

    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(0, 1000))
    def test_best_prefix_is_the_first_of_the_best(self, correct, seed):
        skill = np.random.default_rng(seed).random(len(correct))
        known = scores(correct, np.full(len(correct), 6))
        labels, truth = np.zeros((1, len(correct)), int), np.zeros(1, int)
        pool = selection_trials.Pool(skill, known, labels, truth)
        found = selection_trials.best_prefix(pool, 6, seed=0, ties="first")
        ranked = np.argsort(-known.gain, kind="stable")[:6]
        right = [
            1 - vote_error(skill[ranked[:k]], 2 * known.skill[ranked[:k]] - 1).probability
            for k in range(1, len(ranked) + 1)
        ]
        best = next(k for k, value in enumerate(right, 1) if value >= max(right) - 1e-9)
        assert found.chosen.tolist() == ranked[:best].tolist()

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


class TestDifference:
    table = pd.DataFrame(
        [(budget, r, method, value + 0.01 * r)
         for budget in (3, 9) for r in range(5)
         for method, value in (("selected", 0.9), ("plug-in", 0.9 + 0.001 * (budget == 9)))],
        columns=["budget", "repetition", "method", "accuracy_exact"],
    ).assign(status="ok")  # fmt: skip

    def test_paired(self):
        found = difference(self.table, ["budget"], "selected", "plug-in").set_index("budget")
        assert found["mean"].tolist() == pytest.approx([0, -0.001])
        assert found["behind"].tolist() == [False, True]
        assert not found["ahead"].any()

    @pytest.mark.parametrize(("gain", "ahead"), [(0.004, False), (0.05, True)])
    def test_within_chance_is_none(self, gain, ahead):
        """Differences gain ± 0.01 in turn, their mean gain − 0.002 and its standard error 0.005."""
        own = self.table["method"] == "selected"
        wave = np.where(self.table["repetition"] % 2, gain + 0.01, gain - 0.01)
        table = self.table.assign(accuracy_exact=np.where(own, 0.9 + wave, 0.9))
        found = difference(table, ["budget"], "selected", "plug-in")
        assert found["ahead"].tolist() == [ahead, ahead]
        found = difference(table, ["budget"], "plug-in", "selected")
        assert found["behind"].tolist() == [ahead, ahead]


class TestWhy:
    """Two classes, one n: the rules rank alike, and the plug-in rule never stops sooner."""

    @settings(max_examples=60, deadline=None)
    @given(
        st.integers(2, 40).flatmap(
            lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=1, max_size=30))
        ),
        st.integers(1, 30),
    )
    def test_one_ranking_two_stops(self, given_, budget):
        n, correct = given_
        known = scores(correct, np.full(len(correct), n))
        assert known.gain == pytest.approx((n * known.plug_in - 1) / (n - 1))
        selected, plug_in = (
            algorithm_1(value, budget, seed=0, ties="first")
            for value in (known.gain, known.plug_in)
        )
        assert len(selected.chosen) <= len(plug_in.chosen)
        shorter = plug_in.chosen[: len(selected.chosen)]
        assert known.gain[selected.chosen].sum() == pytest.approx(known.gain[shorter].sum())

    def test_crowds(self):
        seed = np.random.SeedSequence(1)
        spammers = selection_sweep.draw_skills("spammers", 30, 4, seed)
        assert sorted(spammers) == [0.25] * 27 + [0.9] * 3
        assert sorted(selection_sweep.draw_skills("mirrored", 4, 2, seed)) == [0.2, 0.2, 0.8, 0.8]
        assert set(selection_sweep.draw_skills("alike", 5, 2, seed)) == {0.7}
        dull = selection_sweep.draw_skills("dull", 4000, 2, seed)
        assert abs(dull.mean() - 0.5) < 0.01
        places = {
            int(
                np.argmax(selection_sweep.draw_skills("spammers", 10, 2, np.random.SeedSequence(s)))
            )
            for s in range(40)
        }
        assert len(places) > 5

    def test_more_classes_are_measured_on_the_items(self):
        record = one_record("selection-sweep", classes=3, items=50)
        assert record["accuracy_exact"] is None
        table = smoke("selection-sweep")
        found = Source.of("selection-sweep").load().analyse(table).tables["All rules"]
        rows = found[found["classes"] == 3]
        assert len(rows) == 2
        assert np.allclose(rows["accuracy_exact"], rows["accuracy"])


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

    @pytest.mark.parametrize(("classes", "controls"), list(itertools.product([2, 3, 4], [0, 1, 2])))
    def test_many_hold_few_between_them(self, classes, controls):
        for skill, workers in itertools.product((0.15, 0.5, 0.8), (1, 3, 4)):
            few = selection_bound.error_of_few(np.full(workers, skill), classes, controls)
            many = selection_bound.error_of_many(skill, workers, classes, controls)
            assert many.pair == pytest.approx(few.pair)
            assert many.low - 1e-12 <= few.low <= many.high + 1e-12
            if classes == 2:
                assert many.low == pytest.approx(few.low)

    @pytest.mark.parametrize(("classes", "controls"), [(2, 2), (3, 1), (5, 0)])
    def test_exponents_are_of_the_probability(self, classes, controls):
        """P(B) of 400 and of 200 workers: its logarithm falls at the rate, √m aside."""
        bound, rate = selection_bound.exponents(np.array([0.8, 0.1]), 1.0, classes, controls)
        logs = [
            math.log(selection_bound.error_of_many(0.8, m, classes, controls).pair)
            + math.log(m) / 2
            for m in (200, 400)
        ]
        assert (logs[0] - logs[1]) / 200 == pytest.approx(rate, rel=0.01)
        score = set_score(informativeness(np.full(400, 0.8), classes))
        exponent = 2 * score**2 / (classes * (classes - 1)) ** 2
        assert exponent / 400 == pytest.approx(bound)

    def test_the_counterexample_in_whole_numbers(self):
        """Theorem 1 as printed fails: 8 classes, 60 workers of skill 17/20, one control question.

        Every probability is a fraction, and none is rounded. P(error) is at least
        7 P(s₁ > s₀) − 21 P(s₁ + s₂ ≥ 2 s₀), class 0 being the true one (Bonferroni).
        """
        L, workers = 8, 60
        w = Fraction(17, 20)
        told = (1 - w) / (L - 1)
        weights = {L - 1: w, -1: 1 - w}  # Lŵ − 1, ŵ from one answer

        def total(for_wrong, against):
            """Distribution of a sum, as counts over a common denominator."""
            # for_wrong classes, each named with the chance `told`, gain one weight each.
            step = {}
            for weight, likely in weights.items():
                for value, chance in (
                    (weight, told * for_wrong), (-weight * against, w),
                    (0, told * (L - 1 - for_wrong)),
                ):  # fmt: skip
                    step[value] = step.get(value, 0) + likely * chance
            assert sum(step.values()) == 1
            scale = math.lcm(*(chance.denominator for chance in step.values()))
            whole = {value: int(chance * scale) for value, chance in step.items()}
            sums = {0: 1}
            for _ in range(workers):
                following = {}
                for at, count in sums.items():
                    for value, chance in whole.items():
                        following[at + value] = following.get(at + value, 0) + count * chance
                sums = following
            return sums, scale**workers

        one_class, denominator = total(1, 1)
        ahead = Fraction(sum(n for at, n in one_class.items() if at > 0), denominator)
        two_classes, denominator = total(2, 2)
        both = Fraction(sum(n for at, n in two_classes.items() if at >= 0), denominator)
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
    def test_half_width_as_printed(self):
        for n, classes in itertools.product((3, 10), (2, 4)):
            alpha = math.sqrt(math.log(2 / 0.05) / 2)
            printed = n * (classes - 1) ** 2 / (n - 1) * alpha
            assert selection_scores._half_width(n, classes, 0.95) == pytest.approx(printed)

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

    @pytest.mark.parametrize("classes", [2, 3, 4])
    def test_simulated_votes(self, classes, monkeypatch):
        """The simulated error is the exact one over answers and labels."""
        monkeypatch.setattr(selection_scores, "VOTES", 60_000)
        skill = np.array([0.7, 0.4, 0.9])
        made = streams_of("selection-scores")
        record = selection_scores._votes(skill, 2, classes, made)
        exact = selection_bound.error_of_few(skill, classes, 2).low
        assert abs(record["error"] - exact) < 4.5 * math.sqrt(exact * (1 - exact) / 60_000)

    def test_a_chosen_set_looks_better_than_it_is(self):
        record = one_record("selection-scores", crowd="guessers", workers=100, sheets=200)
        assert abs(record["bias"]) < 0.1
        assert record["optimism"] > 1


class TestCrowds:
    def test_records_are_in_range(self):
        table = smoke("selection-crowds")
        assert set(table["data"]) == {"simulated", "simulated sparse"}  # no data needed
        assert table["misfit"].isna().all()
        assert table["accuracy"].between(0, 1).all()
        assert (table["size"] <= table["budget"]).all()
        dense = table[(table["data"] == "simulated") & (table["method"] == "WMV top K")]
        assert (dense["size"] == dense["budget"]).all()
        em = table["method"].str.startswith("EM")
        assert table.loc[em, "iterations"].between(1, 100).all()
        assert table.loc[~em, "iterations"].isna().all()


class TestExact:
    def test_listed(self):
        gain = np.array([0.5, -0.2, 0.9, 0.1])
        sets = [kept for size in range(1, 4) for kept in itertools.combinations(range(4), size)]
        score = {kept: gain[list(kept)].sum() / math.sqrt(len(kept)) for kept in sets}
        found = selection_exact._listed(gain, 3, score[(0, 2)], 2)
        assert found["score_listed"] == pytest.approx(max(score.values()))
        assert found["dominating"] == 0
        # Three workers of the same score would be dominated by those two.
        assert selection_exact._listed(gain, 3, score[(0, 2)], 3)["dominating"] == 1

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
        table = smoke("selection-exact")
        score = table[table["question"] == "score"]
        assert np.allclose(score["score"], score["score_slices"])
        assert np.allclose(score["score"], score["score_listed"])
        money = table[table["question"] == "money"]
        assert (money["spent"] <= money["money"] * money["budget"] + 1e-9).all()
        assert (money["score_heuristic"] <= money["score"] + 1e-12).all()
        right = table[table["question"] == "accuracy"]
        for rule in ("prefix", "selected", "plug_in", "top_skill", "top_informative"):
            assert (right["predicted_best"] >= right[f"predicted_{rule}"] - 1e-9).all()
