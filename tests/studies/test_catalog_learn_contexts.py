"""Studies of contexts and of other policies: that each measures what it says."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from workbench.accuracy.best_set import best_set
from workbench.accuracy.majority import majority_accuracy
from workbench.studies.attempt import attempt
from workbench.studies.catalog import learn_contexts, learn_policies
from workbench.studies.source import Source
from workbench.studies.trials import Trial, plan


@cache
def smoke(name):
    source = Source.of(name)
    study = source.load()
    size = study.sizes["smoke"]
    rows = []
    for trial in plan(study, size.sweep, size.repetitions):
        done = attempt(source, trial)
        rows.append(
            {**trial.params, "repetition": trial.repetition, "seed": trial.seed,
             "status": str(done.status), "message": done.message, **done.record}
        )  # fmt: skip
    return pd.DataFrame(rows)


def streams(study, repetition=0, **params):
    instance = tuple(key for key, given in study.parameters.items() if not given.paired)
    return Trial(study.name, study.version, study.complete(params), repetition, 0, instance).streams


def contexts(**params):
    study = learn_contexts.STUDY
    return learn_contexts.trial(study.complete(params), streams(study, **params))


def policy(name, **params):
    study = learn_policies.STUDY
    params |= {"policy": name}
    return learn_policies.trial(study.complete(params), streams(study, **params))


@pytest.mark.parametrize("name", ["learn-contexts", "learn-policies"])
class TestSmoke:
    def test_all_end_well_and_are_analysed(self, name):
        table = smoke(name)
        assert (table["status"] == "ok").all(), table["message"].unique()
        study = Source.of(name).load()
        found = study.analyse(table)
        assert len(found.findings) > 1
        for chart in found.charts:
            assert len(chart.data)
            assert {chart.x, chart.y, chart.low, chart.high} <= set(chart.data.columns)

    def test_nothing_ended_well(self, name):
        table = smoke(name).assign(status="error")
        assert len(Source.of(name).load().analyse(table).findings) == 1


class TestContexts:
    def test_skills_of_the_first_contexts_are_the_same_however_many(self):
        study = learn_contexts.STUDY
        tables = [
            learn_contexts._few(study.complete({"contexts": n}), streams(study, contexts=n))[0]
            for n in (1, 4)
        ]
        np.testing.assert_array_equal(tables[0].skill[0], tables[1].skill[0])
        assert len(tables[1].skill) == 4
        assert ((tables[1].skill >= 0.5) & (tables[1].skill <= 1)).all()

    def test_one_context_told_apart_is_the_same_problem_as_ignored(self):
        # Coins differ, the crowd does not: U(S*) is the same to the last bit.
        told, ignored = (
            contexts(learner=one, horizon=100)["best_accuracy"] for one in ("contexts", "ignoring")
        )
        assert told == ignored

    @pytest.mark.parametrize("kind", ["few", "continuum"])
    def test_learners_meet_the_same_tasks(self, kind):
        best = {
            contexts(kind=kind, contexts=2, learner=one, tests=tests, horizon=60)["best_accuracy"]
            for one in ("contexts", "ignoring")
            for tests in (0.3, 1.0)
        }
        assert len(best) == 1

    def test_reward_and_regret_make_the_best(self):
        one = contexts(kind="continuum", horizon=200, tests=0.3, repeats=0.15)
        assert one["reward"] + one["regret_200"] / 200 == pytest.approx(one["best_accuracy"])
        assert one["regret_20"] <= one["regret_60"] <= one["regret_200"]

    def test_a_longer_horizon_begins_as_a_shorter_one(self):
        study, given = learn_contexts.STUDY, {"kind": "continuum", "tests": 0.3}
        short, long = (
            learn_contexts.trial(study.complete({**given, "horizon": T}), streams(study, **given))
            for T in (100, 300)
        )
        assert short["regret_100"] == long["regret_100"]

    def test_exploring_for_ever_costs_the_same_each_step(self):
        one = contexts(tests=1e9, repeats=1e9, horizon=500)
        assert one["explored"] == 499  # all but t = 1, as ln 1 = 0
        assert one["regret_500"] == pytest.approx(500 * (one["best_accuracy"] - 0.5), rel=0.01)


class TestRatio:
    def test_known_factor(self):
        rng = np.random.default_rng(1)
        below = rng.uniform(1, 2, 50)
        found = learn_contexts.ratio(3 * below, below)
        assert found.value == pytest.approx(3)
        assert found.se == pytest.approx(0, abs=1e-12)

    def test_standard_error_is_that_of_repeated_draws(self):
        rng = np.random.default_rng(2)
        below = rng.uniform(1, 3, (3000, 40))
        above = 2 * below + rng.normal(0, 1, (3000, 40))
        found = [
            learn_contexts.ratio(a, b) for a, b in zip(above, below, strict=True)
        ]  # fmt: skip
        spread = np.std([one.value for one in found])
        assert np.mean([one.se for one in found]) == pytest.approx(spread, rel=0.05)


class TestSlope:
    @pytest.mark.parametrize("power", [0.5, 1.0, 1.2])
    def test_powers(self, power):
        n = np.array([100, 300, 1000])
        runs = np.outer([1.0, 2.0, 5.0], n**power)
        found = learn_contexts.slope(pd.DataFrame(runs, columns=n))
        assert found.value == pytest.approx(power)
        assert found.se == pytest.approx(0, abs=1e-9)

    def test_standard_error_is_that_of_repeated_draws(self):
        rng = np.random.default_rng(3)
        n = np.array([100, 300, 1000])
        found = []
        for _ in range(800):
            runs = n**0.8 * rng.gamma(9.0, 1 / 9, (20, 3)).cumsum(axis=1) / [1, 2, 3]
            found.append(learn_contexts.slope(pd.DataFrame(runs, columns=n)))
        spread = np.std([one.value for one in found])
        assert np.mean([one.se for one in found]) == pytest.approx(spread, rel=0.1)


class TestPolicies:
    def test_the_oracle_has_no_regret_and_asks_the_best_set(self):
        one = policy("oracle", horizon=100)
        assert one["regret_100"] == pytest.approx(0, abs=1e-9)
        assert one["reward"] == pytest.approx(one["best_accuracy"])
        assert one["size"] == one["labels_per_task"]

    def test_the_full_crowd_has_its_majority_s_accuracy(self):
        study = learn_policies.STUDY
        params = {"policy": "full crowd", "crowd": "spread-trusted", "horizon": 50}
        skill = learn_policies._crowd("spread-trusted", 5, streams(study, **params).instance)
        one = policy(**{**params, "name": params.pop("policy")})
        assert one["reward"] == pytest.approx(majority_accuracy(skill))
        assert one["best_accuracy"] == pytest.approx(best_set(skill).accuracy)
        assert one["size"] == 5
        assert one["explored"] == 0

    def test_true_weights_are_as_good_as_the_best_majority(self):
        one = policy("full crowd, true weights", crowd="spread-trusted", horizon=50)
        assert one["reward"] >= one["best_accuracy"] - 1e-9

    def test_no_size_before_anything_is_exploited(self):
        assert policy("explore then commit", horizon=20)["size"] is None

    def test_all_meet_the_same_crowd(self):
        table = smoke("learn-policies")
        assert (table.groupby("repetition")["best_accuracy"].nunique() == 1).all()
        assert table["best_accuracy"].nunique() == table["repetition"].nunique()

    def test_spread_crowds_are_trusted_on_average(self):
        crowds = [
            learn_policies._crowd("spread-trusted", 5, np.random.SeedSequence(k))
            for k in range(300)
        ]
        assert min(one.mean() for one in crowds) > 0.5
        assert min(one.min() for one in crowds) < 0.35

    def test_differences_are_paired(self):
        ends = pd.DataFrame(
            {"crowd": "a", "workers": 5, "seed": 0, "repetition": [0, 1, 2] * 2,
             "policy": [learn_policies.REFERENCE] * 3 + ["UCB"] * 3,
             "value": [1.0, 5.0, 9.0, 2.0, 6.0, 10.0]}
        )  # fmt: skip
        (found,) = learn_policies._behind(ends).to_dict("records")
        assert (found["policy"], found["more"]) == ("UCB", 1)
        assert found["more_se"] == 0
        assert math.isfinite(found["more"])
