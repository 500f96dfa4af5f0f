"""The studies of online labeler selection: that each measures what it says."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest

from workbench.base.errors import InputError
from workbench.learning.vetting import Removal, disagreement_rate
from workbench.studies.attempt import attempt
from workbench.studies.catalog import (
    _learning,
    learn_average,
    learn_growth,
    learn_regret,
    learn_theory,
)
from workbench.studies.source import Source
from workbench.studies.trials import Trial, plan

OURS = (
    "learn-regret",
    "learn-average",
    "learn-growth",
    "learn-exploration",
    "learn-theory",
)


@cache
def smoke(name):
    """Run a study's smoke size here; one row a trial."""
    source = Source.of(name)
    study = source.load()
    size = study.sizes["smoke"]
    rows = []
    for trial in plan(study, size.sweep, size.repetitions):
        outcome = attempt(source, trial)
        rows.append(
            {**trial.params, "repetition": trial.repetition, "status": str(outcome.status),
             "message": outcome.message, **outcome.record}
        )  # fmt: skip
    return pd.DataFrame(rows)


def streams(name, repetition=0, **params):
    study = Source.of(name).load()
    instance = tuple(key for key, given in study.parameters.items() if not given.paired)
    return Trial(
        name, study.version, study.complete(params), repetition, 0, instance
    ).streams  # fmt: skip


def one(name, repetition=0, **params):
    """Run one trial and give its record."""
    study = Source.of(name).load()
    return study.trial(study.complete(params), streams(name, repetition, **params))


class TestEveryStudy:
    @pytest.mark.parametrize("name", OURS)
    def test_smoke_size_runs_and_is_analysed(self, name):
        table = smoke(name)
        assert set(table["status"]) == {"ok"}, table["message"].unique()
        analysis = Source.of(name).load().analyse(table)
        assert analysis.findings[0] == f"All {len(table):,} trials ended ok."
        assert len(analysis.findings) > 1
        assert analysis.charts
        assert all(len(found) for found in analysis.tables.values())
        assert len({chart.name for chart in analysis.charts}) == len(analysis.charts)
        for chart in analysis.charts:
            used = [chart.x, chart.y, chart.series, chart.panel, chart.low, chart.high]
            assert {one for one in used if one} <= set(chart.data.columns)
            assert len(chart.data.dropna(subset=[chart.x, chart.y]))

    @pytest.mark.parametrize("name", OURS)
    def test_failures_are_counted_and_not_in_the_means(self, name):
        table = smoke(name)
        study = Source.of(name).load()
        spoilt = table.astype(object)
        record = [c for c in spoilt if c not in study.parameters]
        record = [c for c in record if c not in ("repetition", "status", "message")]
        spoilt.loc[spoilt.index[[0, 3]], record] = None
        spoilt.loc[spoilt.index[[0, 3]], "status"] = ["deadline", "crashed"]
        found = study.analyse(spoilt)
        assert found.findings[0].startswith(f"2 of {len(table):,} trials did not end ok")
        nothing = study.analyse(spoilt.assign(status="crashed"))
        assert len(nothing.findings) == 1

    @pytest.mark.parametrize("name", OURS)
    def test_same_trial_same_record(self, name):
        study = Source.of(name).load()
        trial = next(iter(plan(study, study.sizes["smoke"].sweep, 1)))
        assert attempt(Source.of(name), trial).record == attempt(Source.of(name), trial).record


class TestRuns:
    def test_schedules_votes_and_horizons_meet_one_crowd(self):
        base = one("learn-exploration", horizon=600, repeats=5.0)
        for change in (
            {"tests": 1.0}, {"repeats": 1.0}, {"vote": "weighted"}, {"vetting": "printed"},
            {"delay": 7}, {"eta": 0.3}, {"horizon": 300},
        ):  # fmt: skip
            other = one("learn-exploration", **{"horizon": 600, "repeats": 5.0, **change})
            assert other["full_accuracy"] == base["full_accuracy"]
        assert one("learn-exploration", 1, horizon=600)["full_accuracy"] != base["full_accuracy"]

    def test_a_longer_run_is_the_same_run_at_first(self):
        short, longer = (one("learn-regret", horizon=n, repeats=1.0) for n in (600, 900))
        for n in (25, 200, 600):
            assert short[f"regret_{n}"] == longer[f"regret_{n}"]
            assert short[f"exploring_{n}"] == longer[f"exploring_{n}"]

    def test_exploring_costs_what_the_steps_cost(self):
        got = one("learn-regret", crowd="table-1", repeats=2.0, horizon=500)
        gap = got["best_accuracy"] - 0.5
        first = got["best_accuracy"] - got["full_accuracy"]
        retests = got["explored"] - got["new_testers"]
        assert got["exploring_500"] == pytest.approx(retests * gap + got["new_testers"] * first)
        assert got["full_accuracy"] == pytest.approx(got["a_min"])

    def test_printed_g2(self):
        got = one("learn-regret", crowd="table-1", horizon=100)
        assert got["repeats_used"] == pytest.approx(1 / (got["a_min"] - 0.5) ** 2)
        for crowd, a in learn_regret.PRESET.items():
            assert learn_regret.preset_repeats(crowd) == pytest.approx(1 / (a - 0.5) ** 2)
            assert "preset" in learn_regret.reading(crowd, learn_regret.preset_repeats(crowd))
        assert "own" not in learn_regret.reading("from-0.6", None)

    def test_rewards_are_regret_turned_round(self):
        table = pd.DataFrame([
            {"crowd": "x", "status": "ok", "repetition": 0, "best_accuracy": 0.9,
             "full_accuracy": 0.8, "regret_100": 5.0, "regret_200": 6.0},
            {"crowd": "x", "status": "crashed", "repetition": 1},
        ])  # fmt: skip
        got = _learning.rewards(table, ["crowd"])
        assert got["tasks"].tolist() == [100, 200]
        assert got["reward"].tolist() == pytest.approx([0.85, 0.87])
        assert got["gain"].tolist() == pytest.approx([0.05, 0.07])

    def test_crowds(self):
        seed = np.random.SeedSequence(1)
        for k in range(30):
            crowd = _learning.draw_crowd("any-trusted", 3, np.random.SeedSequence(k))
            assert crowd.mean() > 0.5
        low = _learning.draw_crowd("from-0.8", 20, seed)
        assert low.min() >= 0.8
        with pytest.raises(InputError, match="workers is 7"):
            _learning.draw_crowd("table-1", 7, seed)

    def test_a_crowd_of_coins_explores_all_the_time(self):
        params = Source.of("learn-regret").load().complete({})
        schedule = _learning.schedule_of(params, np.full(5, 0.5))
        assert schedule.exploration_steps(2000) >= 1999  # D1(1) = D2(1) = 0

    def test_who_was_dropped_wrongly(self):
        skill = np.array([0.9, 0.6, 0.7])
        got = _learning._dropped((Removal(2, 0.05, 40), Removal(1, 0.01, 90)), skill)
        assert got == {
            "dropped": 2, "wrongly": 1, "first_step": 40, "first_error": 0.05, "first_wrong": True
        }  # fmt: skip
        assert _learning._dropped((), skill)["first_wrong"] is None

    def test_distrust_is_learnt_the_wrong_way_round(self):
        table = smoke("learn-exploration")
        rows = table[table["crowd"] == "distrusted"]
        assert (rows["off_reversed"] < rows["off"]).all()


class TestGrowth:
    TASKS = np.array([1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000])

    def curves(self, shape, noise=0.02, runs=60):
        rng = np.random.default_rng(7)
        gains = np.diff(_learning.shape(shape, self.TASKS), prepend=0.0)
        noisy = gains * (1 + noise * rng.normal(size=(runs, len(self.TASKS))))
        return pd.DataFrame(300 + 2.5 * noisy.cumsum(axis=1), columns=self.TASKS)

    @pytest.mark.parametrize("shape", list(_learning.SHAPES))
    def test_each_shape_is_told(self, shape):
        found = _learning.growth(self.curves(shape))
        name, ahead = _learning.best_shape(found)
        assert name == shape
        assert ahead > 2

    def test_noise_leaves_it_open(self):
        found = _learning.growth(self.curves("log2", noise=5.0, runs=8))
        finite = [value for value in found.values() if np.isfinite(value)]
        assert not finite or max(finite) - sorted(finite)[-2] < 10

    def test_a_curve_that_falls_has_no_shape(self):
        curves = self.curves("log").copy()
        curves[5000] -= 1e6
        assert all(math.isnan(value) for value in _learning.growth(curves).values())

    def test_steepness(self):
        tasks = self.TASKS
        curves = pd.DataFrame(np.outer([1.0, 2.0, 3.0], tasks**0.7), columns=tasks)
        power, se = learn_growth.steepness(curves)
        assert power == pytest.approx(0.7)
        assert se == pytest.approx(0, abs=1e-9)

    def test_parts_add_up(self):
        table = smoke("learn-growth")
        found = learn_growth.parts(table).pivot_table(
            index=["tests", "repetition", "tasks"], columns="part", values="value"
        )
        assert found["all"].to_numpy() == pytest.approx(
            (found["exploring"] + found["exploiting"]).to_numpy()
        )

    def test_looked_at_once_half_exploits(self):
        assert learn_growth.settled(3, 5, 100_000) <= 2000
        assert learn_growth.settled(100, 5, 1_000_000) > 100_000
        table = smoke("learn-growth")
        found = learn_growth.verdicts(table, 25)
        assert set(found["tests"]) == {3.0}  # G1 = 30 explores for too long here
        assert found["since"].min() == learn_growth.settled(3, 5, 30_000)


def gains(values, se=0.01):
    keys = {"crowd": "x", "workers": 5, "tests": 3.0, "repeats": None, "vote": "majority"}
    return pd.DataFrame(
        [{**keys, "tasks": 500 * (k + 1), "mean": v, "se": se} for k, v in enumerate(values)]
    )


class TestAverage:
    def test_ahead_for_good(self):
        got = learn_average.crossings(gains([-0.1, 0.05, -0.05, 0.01, 0.03, 0.04]))
        assert got["overtakes"].tolist() == [2500]
        assert got["gain"].tolist() == [0.01]  # at 2000 tasks
        assert got["end"].tolist() == [3000]

    def test_never(self):
        got = learn_average.crossings(gains([0.3, 0.3, 0.0]))
        assert got["overtakes"].isna().all()

    def test_table_2_has_both_votes(self):
        found = learn_average.table_2(smoke("learn-average"))
        rows = found[(found["crowd"] == "from-0.5") & (found["workers"] == 5)]
        assert rows[["full", "majority", "weighted"]].notna().all(axis=None)
        assert (rows["weighted_best"] >= rows["majority_best"] - 1e-12).all()


def enumerated(p):
    """Every outcome of who is right, and its probability."""
    for right in itertools.product((0, 1), repeat=len(p)):
        yield np.array(right), math.prod(q if r else 1 - q for q, r in zip(p, right, strict=True))


class TestTheory:
    def test_all_sets_by_counting(self):
        p = np.array([0.9, 0.75, 0.6, 0.55])
        member, simple, _ = learn_theory.all_sets(p)
        assert len(member) == 15
        for row, value in zip(member, simple, strict=True):
            own = p[row]
            exact = sum(
                chance * (1.0 if 2 * right.sum() > len(own) else 0.5)
                for right, chance in enumerated(own) if 2 * right.sum() >= len(own)
            )  # fmt: skip
            assert value == pytest.approx(exact, abs=1e-14)

    def test_the_paper_counterexamples(self):
        a, b, c = Fraction(99, 100), Fraction(11, 12), Fraction(9, 10)
        assert a * b + a * c + b * c - 2 * a * b * c == a
        got = learn_theory.sets(np.array([0.99, 11 / 12, 0.9]), np.random.default_rng(0))
        assert got["prefix_gap"] <= 1e-12
        assert got["different"]
        assert not got["even_optimal"]
        weighted = learn_theory.sets(np.array([0.999, 0.95, 0.9]), np.random.default_rng(0))
        assert weighted["weighted_other_optimal"]
        assert not weighted["other_optimal"]
        coins = learn_theory.sets(np.array([1.0, 0.5, 0.5]), np.random.default_rng(0))
        assert not coins["different"]
        assert learn_theory.sets(np.array([1.0, 1.0, 0.7]), np.random.default_rng(0))[
            "even_optimal"
        ]

    @pytest.mark.parametrize("m", [3, 5, 6])
    def test_solved_and_dominant_crowds(self, m):
        rng = np.random.default_rng(m)
        for _ in range(10):
            p = learn_theory._solved(m, rng)
            assert len(np.unique(p)) == m
            found = learn_theory.sets(p, rng)
            assert found["prefix_gap"] <= 1e-9
            q = learn_theory._dominant(m, rng)
            odds = np.log(q / (1 - q))
            assert odds[0] > odds[1:].sum()
            assert learn_theory.sets(q, rng)["weighted_other_optimal"]

    def test_disagreement_by_counting(self):
        p = np.array([0.9, 0.7, 0.65, 0.6, 0.3])
        for i in range(5):
            exact = sum(c for right, c in enumerated(p) if right[i] != (right.sum() > 2))
            assert learn_theory._differs(p, i) == pytest.approx(exact)
        only_i = sum(c for r, c in enumerated(p) if r[1] != (r.sum() > 2) and r[4] == (r.sum() > 2))
        only_j = sum(c for r, c in enumerated(p) if r[4] != (r.sum() > 2) and r[1] == (r.sum() > 2))
        assert learn_theory._one_differs(p, 1, 4) == pytest.approx((only_i, only_j))
        assert only_j - only_i == pytest.approx(
            learn_theory._differs(p, 4) - learn_theory._differs(p, 1)
        )

    def test_misranking_by_counting(self):
        a, b, n = 0.2, 0.3, 6
        exact = sum(
            math.prod({1: a, 0: 1 - a - b, -1: b}[d] for d in draw)
            for draw in itertools.product((-1, 0, 1), repeat=n) if sum(draw) >= 0
        )  # fmt: skip
        assert learn_theory._misranked(a, b, n) == pytest.approx(exact)

    def test_the_printed_rate_takes_the_vote_of_others(self):
        p = np.array([0.8, 0.7, 0.6])
        got = learn_theory.disagreement(p, np.random.default_rng(0))
        assert got["rate_off"] > 0.05
        full = 0.8 * 0.7 * 0.6 + 0.8 * 0.7 * 0.4 + 0.8 * 0.3 * 0.6 + 0.2 * 0.7 * 0.6
        mean = np.mean([disagreement_rate(one, full) for one in p])
        assert got["rate_printed"] == pytest.approx(mean)

    def test_lemma_1_counts_whole_rounds(self):
        table = smoke("learn-theory")
        rows = table[table["question"] == "steps"]
        whole = (np.floor(rows["d1"]) + 1) * (np.floor(rows["d2"]) + 1)
        assert (rows["explored"] <= whole).all()

    def test_where_a_bound_speaks(self):
        assert learn_theory._first(lambda t: 1e6 / t) == pytest.approx(1e6, rel=0.01)

    def test_bounds_are_void_for_the_papers_crowd(self):
        got = one("learn-theory", question="bounds", crowd="table-1")
        assert got["share_2000"] > 1e6
        assert got["explored_2000"] >= 1999
        assert not got["enough"]
        assert got["needed"] == pytest.approx(6.23, abs=0.01)
        assert got["wrong_order"] == 0
        ratio = got["order_true"] / got["order_printed"]
        assert ratio == pytest.approx(math.sqrt(math.pi * 5 / 2))

    @pytest.mark.parametrize("crowd", ["any", "able"])
    def test_no_inequality_breaks(self, crowd):
        for repetition in range(3):
            got = one("learn-theory", repetition, question="steps-of-proofs", crowd=crowd)
            assert got["lemma_7"] <= 1 + 1e-12
            assert got["lemma_6_without"] <= 1 + 1e-12
            assert got["lemma_8_needed"] <= 1 + 1e-12
            assert got["lemma_5_missed"] == got["lemma_6_missed"] == 0
