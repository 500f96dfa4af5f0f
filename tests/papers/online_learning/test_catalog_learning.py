"""The studies of online worker selection: that each measures what it says."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from crowd_papers.online_learning import (
    learn_average,
    learn_contexts,
    learn_growth,
    learn_regret,
    learning_runs,
    theory_sets,
    theory_votes,
)
from tests.core.studies.study_runs import one_record, run_serially, streams_of
from workbench.base.errors import InputError
from workbench.learning.vetting import disagreement_rate
from workbench.studies.source import Source


def record(name, repetition=0, **params):
    """Run one trial and give its record."""
    return one_record(f"learn-{name}", repetition, **params)


class TestRuns:
    def test_schedules_votes_and_horizons_meet_one_crowd(self):
        base = record("exploration", horizon=600, repeats=5.0)
        for change in (
            {"tests": 1.0},
            {"repeats": 1.0},
            {"vote": "weighted"},
            {"vetting": "printed"},
            {"delay": 7},
            {"eta": 0.3},
            {"horizon": 300},
        ):
            other = record("exploration", **{"horizon": 600, "repeats": 5.0, **change})
            assert other["full_accuracy"] == base["full_accuracy"]
        assert record("exploration", 1, horizon=600)["full_accuracy"] != base["full_accuracy"]

    def test_a_longer_run_is_the_same_run_at_first(self):
        short, longer = (record("regret", horizon=n, repeats=1.0) for n in (600, 900))
        for n, curve in itertools.product((25, 200, 600), ("regret", "exploring")):
            assert short[f"{curve}_{n}"] == longer[f"{curve}_{n}"]

    def test_exploring_costs_what_the_steps_cost(self):
        got = record("regret", crowd="table-1", repeats=2.0, horizon=500)
        gap = got["best_accuracy"] - 0.5
        first = got["best_accuracy"] - got["full_accuracy"]
        retests = got["explored"] - got["new_testers"]
        assert got["exploring_500"] == pytest.approx(retests * gap + got["new_testers"] * first)

    def test_printed_g2(self):
        got = record("regret", crowd="table-1", horizon=100)
        assert got["repeats_used"] == pytest.approx(1 / (got["a_min"] - 0.5) ** 2)
        for crowd, a in learn_regret.PRESET.items():
            assert learn_regret.preset_repeats(crowd) == pytest.approx(1 / (a - 0.5) ** 2)
            assert "preset" in learn_regret.reading(crowd, learn_regret.preset_repeats(crowd))
        params = Source.of("learn-regret").load().complete({})
        coins = learning_runs.schedule_of(params, np.full(5, 0.5))
        assert coins.exploration_steps(2000) >= 1999  # D1(1) = D2(1) = 0

    def test_crowds(self):
        draw, seed = learning_runs.draw_crowd, np.random.SeedSequence(1)
        for name, k in itertools.product(("any-trusted", "spread-trusted"), range(30)):
            assert draw(name, 3, np.random.SeedSequence(k)).mean() > 0.5
        assert draw("from-0.8", 20, seed).min() >= 0.8
        with pytest.raises(InputError, match="workers is 7"):
            draw("table-1", 7, seed)


class TestGrowth:
    TASKS = np.array([1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000])

    def curves(self, shape, noise=0.02, runs=60):
        rng = np.random.default_rng(7)
        gains = np.diff(learning_runs.shape(shape, self.TASKS), prepend=0.0)
        noisy = gains * (1 + noise * rng.normal(size=(runs, len(self.TASKS))))
        return pd.DataFrame(300 + 2.5 * noisy.cumsum(axis=1), columns=self.TASKS)

    @pytest.mark.parametrize("shape", list(learning_runs.SHAPES))
    def test_each_shape_is_told(self, shape):
        name, ahead = learning_runs.best_shape(learning_runs.growth(self.curves(shape)))
        assert name == shape
        assert ahead > 2

    def test_steepness(self):
        curves = pd.DataFrame(np.outer([1.0, 2.0, 3.0], self.TASKS**0.7), columns=self.TASKS)
        assert learn_growth.steepness(curves) == pytest.approx((0.7, 0.0), abs=1e-9)

    def test_looked_at_once_half_exploits(self):
        assert learn_growth.settled(3, 5, 100_000) <= 2000
        assert learn_growth.settled(100, 5, 1_000_000) > 100_000
        sweep = [{"crowd": ["clear"], "tests": [3.0, 30.0], "horizon": [10_000]}]
        found = learn_growth.verdicts(run_serially("learn-growth", sweep, 2), 25)
        assert set(found["tests"]) == {3.0}  # G1 = 30 explores for too long here
        assert found["since"].min() == learn_growth.settled(3, 5, 10_000)


class TestAverage:
    @pytest.mark.parametrize(
        ("gains", "overtakes"),
        [([-0.1, 0.05, -0.05, 0.01, 0.03, 0.04], 2500), ([0.3, 0.3, 0.0], math.nan)],
    )
    def test_ahead_for_good(self, gains, overtakes):
        keys = {"crowd": "x", "workers": 5, "tests": 3.0, "repeats": None, "vote": "majority"}
        rows = [
            {**keys, "tasks": 500 * (k + 1), "mean": v, "se": 0.01} for k, v in enumerate(gains)
        ]
        (got,) = learn_average.crossings(pd.DataFrame(rows)).to_dict("records")
        assert got["overtakes"] == pytest.approx(overtakes, nan_ok=True)
        assert got["gain"] == gains[:4][-1]  # at 2000 tasks, or the last before


def enumerated(p):
    """Every outcome of who is right, and its probability."""
    for right in itertools.product((0, 1), repeat=len(p)):
        yield np.array(right), math.prod(q if r else 1 - q for q, r in zip(p, right, strict=True))


class TestTheory:
    RNG = np.random.default_rng(0)

    def test_all_sets_by_counting(self):
        p = np.array([0.9, 0.75, 0.6, 0.55])
        member, simple, _ = theory_sets.all_sets(p)
        assert len(member) == 15
        for row, value in zip(member, simple, strict=True):
            own = p[row]
            exact = sum(
                chance * (1.0 if 2 * right.sum() > len(own) else 0.5)
                for right, chance in enumerated(own)
                if 2 * right.sum() >= len(own)
            )
            assert value == pytest.approx(exact, abs=1e-14)

    def test_the_counterexamples(self):
        a, b, c = Fraction(99, 100), Fraction(11, 12), Fraction(9, 10)
        assert a * b + a * c + b * c - 2 * a * b * c == a
        got = theory_sets.sets(np.array([0.99, 11 / 12, 0.9]), self.RNG)
        assert got["prefix_gap"] <= 1e-12
        assert (got["different"], got["even_optimal"]) == (True, False)
        got = theory_sets.sets(np.array([0.999, 0.95, 0.9]), self.RNG)
        assert (got["weighted_other_optimal"], got["other_optimal"]) == (True, False)
        assert theory_sets.sets(np.array([1.0, 1.0, 0.7]), self.RNG)["even_optimal"]

    def test_disagreement_by_counting(self):
        p = np.array([0.9, 0.7, 0.65, 0.6, 0.3])
        for i in range(5):
            exact = sum(c for right, c in enumerated(p) if right[i] != (right.sum() > 2))
            assert theory_votes.differs(p, i) == pytest.approx(exact)
        only_i = sum(c for r, c in enumerated(p) if r[1] != (r.sum() > 2) and r[4] == (r.sum() > 2))
        only_j = sum(c for r, c in enumerated(p) if r[4] != (r.sum() > 2) and r[1] == (r.sum() > 2))
        assert theory_votes.one_differs(p, 1, 4) == pytest.approx((only_i, only_j))
        full = sum(c for right, c in enumerated(p) if right.sum() > 2)
        printed = np.mean([disagreement_rate(skill, full) for skill in p])
        got = theory_votes.disagreement(p, self.RNG)
        assert got["rate_printed"] == pytest.approx(printed)
        assert got["rate_off"] > 0.05

    def test_bounds_are_void_for_the_papers_crowd(self):
        got = record("theory", question="bounds", crowd="table-1")
        assert got["share_2000"] > 1e6
        assert got["explored_2000"] >= 1999
        assert not got["enough"]
        assert got["needed"] == pytest.approx(6.23, abs=0.01)
        ratio = got["order_true"] / got["order_printed"]
        assert ratio == pytest.approx(math.sqrt(math.pi * 5 / 2))

    @pytest.mark.parametrize("crowd", ["any", "able"])
    def test_no_inequality_breaks(self, crowd):
        got = record("theory", question="steps-of-proofs", crowd=crowd)
        for name in ("lemma_7", "lemma_6_without", "lemma_8_needed"):
            assert got[name] <= 1 + 1e-12
        assert got["lemma_5_missed"] == got["lemma_6_missed"] == 0


class TestContexts:
    def test_skills_of_the_first_contexts_are_the_same_however_many(self):
        study = learn_contexts.STUDY
        tables = [
            learn_contexts.crowd(
                study.complete({"contexts": n}), streams_of("learn-contexts", contexts=n)
            )[0]
            for n in (1, 4)
        ]
        np.testing.assert_array_equal(tables[0].skill[0], tables[1].skill[0])
        assert len(tables[1].skill) == 4

    @pytest.mark.parametrize("kind", ["few", "continuum"])
    def test_learners_meet_the_same_tasks(self, kind):
        best = {
            record("contexts", kind=kind, contexts=2, learner=learner, tests=tests, horizon=60)[
                "best_accuracy"
            ]
            for learner in ("contexts", "ignoring")
            for tests in (0.3, 1.0)
        }
        assert len(best) == 1

    def test_reward_and_regret_make_the_best(self):
        got = record("contexts", kind="continuum", horizon=200, tests=0.3, repeats=0.15)
        assert got["reward"] + got["regret_200"] / 200 == pytest.approx(got["best_accuracy"])
        assert got["regret_20"] <= got["regret_60"] <= got["regret_200"]


class TestPolicies:
    def test_the_oracle_has_no_regret_and_asks_the_best_set(self):
        got = record("policies", policy="oracle", horizon=100)
        assert got["regret_100"] == pytest.approx(0, abs=1e-9)
        assert got["reward"] == pytest.approx(got["best_accuracy"])
        assert got["size"] == got["labels_per_task"]
