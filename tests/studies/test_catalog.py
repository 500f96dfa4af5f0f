"""The shipped studies: that each measures what it says, at its smallest size."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from crowd_models import AssignmentProblem, requirement
from tests.studies.serial import Serial
from workbench.crowd.population import uniform
from workbench.solving import solve
from workbench.studies.attempt import attempt
from workbench.studies.catalog import _adaptive, _arriving, competitive_ratio, exact_heuristic
from workbench.studies.catalog._curves import at_equal_labels, differences
from workbench.studies.executors import Limits
from workbench.studies.measures import ended, listed
from workbench.studies.run import run
from workbench.studies.source import Source
from workbench.studies.store import Store
from workbench.studies.study import TrialEnded
from workbench.studies.trials import Streams, Trial, plan

OURS = (
    "adaptive-figure-1",
    "adaptive-figure-2",
    "competitive-ratio",
    "correction-ablation",
    "exact-heuristic",
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


def one(name, repetition=0, seed=0, **params):
    """Run one trial and give its record."""
    study = Source.of(name).load()
    instance = tuple(key for key, given in study.parameters.items() if not given.paired)
    trial = Trial(name, study.version, study.complete(params), repetition, seed, instance)
    return study.trial(dict(trial.params), trial.streams)


class TestEveryStudy:
    @pytest.mark.parametrize("name", OURS)
    def test_smoke_size_runs_and_is_analysed(self, name):
        table = smoke(name)
        assert set(table["status"]) == {"ok"}, table["message"].unique()
        analysis = Source.of(name).load().analyse(table)
        assert analysis.findings[0] == f"All {len(table):,} trials ended ok."
        assert len(analysis.findings) > 2
        assert analysis.charts
        assert all(len(found) for found in analysis.tables.values())
        assert len({chart.name for chart in analysis.charts}) == len(analysis.charts)
        for chart in analysis.charts:
            assert len(chart.data.dropna(subset=[chart.x, chart.y]))

    @pytest.mark.parametrize("name", OURS)
    def test_failures_are_counted_and_not_in_the_means(self, name):
        table = smoke(name)
        spoilt = table.copy()
        fields = [column for column in table if column in Source.of(name).load().parameters]
        fields += ["repetition", "status", "message"]
        lost = spoilt.index[[0, 3]]
        spoilt.loc[lost, [c for c in spoilt if c not in fields]] = None
        spoilt.loc[lost, "status"] = ["deadline", "crashed"]
        analysis = Source.of(name).load().analyse(spoilt)
        first = analysis.findings[0]
        assert first.startswith(f"2 of {len(table):,} trials did not end ok")
        assert "1 deadline" in first
        assert "1 crashed" in first
        assert analysis.charts
        halfway = table.copy()  # what an unfinished trial left behind is no measurement
        numbers = [c for c in table.select_dtypes("number") if c not in fields]
        halfway[numbers] = halfway[numbers].astype(float)
        halfway.loc[lost, numbers] = 1e6
        halfway.loc[lost, "status"] = ["deadline", "crashed"]
        assert Source.of(name).load().analyse(halfway).findings == analysis.findings

    @pytest.mark.parametrize("name", OURS)
    def test_nothing_but_failures(self, name):
        table = smoke(name).assign(status="error")
        known = set(Source.of(name).load().parameters) | {"repetition", "status", "message"}
        analysis = Source.of(name).load().analyse(table[[c for c in table if c in known]])
        assert "did not end ok" in analysis.findings[0]

    @pytest.mark.parametrize("name", OURS)
    def test_same_trial_same_record(self, name):
        study = Source.of(name).load()
        size = study.sizes["smoke"]
        trial = list(plan(study, size.sweep, 1))[-1]
        records = [study.trial(dict(trial.params), trial.streams) for _ in range(2)]
        for record in records:
            for field in study.volatile:
                assert field in record
                del record[field]
        assert records[0] == records[1]

    def test_a_stored_table_gives_the_same_analysis(self, tmp_path):
        source = Source.of("adaptive-figure-1")
        study = source.load()
        size = study.sizes["smoke"]
        with Store.open(tmp_path / "s.sqlite", write=True) as store:
            run(
                source, store=store, sweep=size.sweep, repetitions=size.repetitions,
                executor=Serial(), limits=Limits(),
            )  # fmt: skip
            analysis = study.analyse(store.table("adaptive-figure-1"))
        assert analysis.findings == study.analyse(smoke("adaptive-figure-1")).findings

    @pytest.mark.parametrize("name", OURS)
    def test_paper_sizes_are_declared_with_all_methods(self, name):
        study = Source.of(name).load()
        points = list(plan(study, study.sizes["paper"].sweep, 1))
        assert len(points) > 20
        if "method" in study.parameters:
            assert {p.params["method"] for p in points} == set(study.parameters["method"].choices)


class TestPairing:
    def test_methods_of_a_figure_meet_one_crowd_truth_and_graph(self):
        study = Source.of("adaptive-figure-1").load()
        seen = {}
        for trial in plan(study, study.sizes["smoke"].sweep, 2):
            if trial.params["crowd"] == "two-types":
                key = trial.repetition
                seen.setdefault(key, set()).add(trial.streams.instance.spawn_key)
        assert all(len(keys) == 1 for keys in seen.values())
        assert seen[0] != seen[1]

    def test_majority_counts_the_very_labels_that_message_passing_reads(self, monkeypatch):
        read = []
        for name in ("majority", "message_passing"):
            real = getattr(_adaptive, name)

            def spy(votes, real=real, **options):
                read.append((votes.task, votes.worker, votes.label))
                return real(votes, **options)

            monkeypatch.setattr(_adaptive, name, spy)
        for method in ("majority", "message passing"):
            one("adaptive-figure-1", tasks=50, workers=40, method=method, per_task=10)
        assert all(np.array_equal(a, b) for a, b in zip(*read, strict=True))

    def test_gold_labels_are_those_of_all_workers(self):
        record = one("adaptive-figure-2", tasks=60, workers=60, types=2, gold=7, epsilon=0.2)
        assert record["labels_gold"] == (60 + 18) * 7 * 2
        assert record["labels_per_task"] == (record["labels_gold"] + record["labels_task"]) / 60


class TestFigures:
    def test_the_adaptive_record_is_that_of_the_algorithm(self):
        """Figure 1's record, recomputed from the algorithm's own result."""
        params = {"crowd": "one-type", "tasks": 80, "workers": 50, "epsilon": 0.2}
        record = one("adaptive-figure-1", **params)
        study = Source.of("adaptive-figure-1").load()
        instance = tuple(k for k, given in study.parameters.items() if not given.paired)
        streams = Trial(study.name, 1, study.complete(params), 0, 0, instance).streams
        met = _adaptive.Instance(uniform(65, capacity=200), 15, 80, streams.instance)
        result = met.run_adaptive(epsilon=0.2, gold=20, seed=streams.method("adaptive"))
        assert record["labels_task"] == result.labels_task
        weight = 2 * result.skill[0, result.worker] - 1
        sign = 2 * met.source.labels(result.task, result.worker) - 1
        score = np.bincount(result.task, weight * sign, minlength=80)
        wrong = np.where(np.abs(score) < 1e-9, 0.5, (score > 0) != (met.source.truth == 1)).mean()
        assert record["error"] == pytest.approx(wrong)
        gathered = np.bincount(result.task, minlength=80) * (2 * 0.6414 - 1) ** 2
        assert record["covered"] == np.mean(gathered >= float(requirement(0.2)))

    def test_more_labels_fewer_errors(self):
        """Majority of equal workers: from 5 to 41 labels the error falls from 0.25 to 0.03."""
        errors = {
            each: np.mean([
                one("adaptive-figure-1", repetition=r, tasks=200, crowd="one-type",
                    method="majority", per_task=each)["error"]
                for r in range(3)
            ])
            for each in (5, 15, 41)
        }  # fmt: skip
        from scipy.stats import binom

        for each, error in errors.items():
            exact = binom.cdf(each // 2, each, 0.6414)
            assert abs(error - exact) < 5 * np.sqrt(exact * (1 - exact) / 600)

    @pytest.mark.parametrize("method", ["adaptive", "majority"])
    def test_what_a_method_needs_must_be_given(self, method):
        with pytest.raises(ValueError, match="is none"):
            one("adaptive-figure-1", tasks=20, workers=20, method=method)

    def test_at_equal_labels_interpolates_within_a_repetition(self):
        rows = [(0, "adaptive", 10.0, 0.4), (0, "adaptive", 20.0, 0.2),
                (0, "message passing", 15.0, 0.5), (0, "message passing", 30.0, 0.1),
                (1, "adaptive", 10.0, 0.3), (1, "adaptive", 20.0, 0.1),
                (1, "message passing", 15.0, 0.6), (1, "message passing", 30.0, 0.2)]  # fmt: skip
        table = pd.DataFrame(rows, columns=["repetition", "method", "labels_per_task", "error"])
        equal = at_equal_labels(table.assign(status="ok", crowd="a"), "crowd")
        assert equal.loc[equal["labels"] == 15, "adaptive"].tolist() == pytest.approx([0.3, 0.2])
        assert equal.loc[equal["labels"] == 30, "adaptive"].isna().all()
        found = differences(equal, "crowd").set_index("labels")
        assert found.loc[15, "difference"] == pytest.approx(-0.3)
        assert found.loc[15, "difference_se"] == pytest.approx(0.1)
        assert found.loc[30, "trials"] == 0

    def test_a_further_swept_setting_gets_curves_of_its_own(self):
        table = pd.concat(
            [smoke("adaptive-figure-1").assign(gold=gold) for gold in (10, 20)], ignore_index=True
        )
        chart = Source.of("adaptive-figure-1").load().analyse(table).charts[0]
        assert "adaptive, gold 10" in set(chart.data["series"])
        assert "adaptive, gold 20" in set(chart.data["series"])


class TestCompetitiveRatio:
    def test_ratios_are_of_a_proven_bound(self):
        table = smoke("competitive-ratio")
        assert (table["bound_reached"] <= table["bound"] + 1e-6).all()
        assert (table["ratio_reached"] >= 1 - 1e-9).all()
        covered = table[table["covered"] == 1]
        assert len(covered) > 5
        assert (covered["ratio"] >= 1).all()
        assert (table["ratio_all"] >= table["ratio"]).all()
        known = table[table["method"] != "adaptive"]
        assert (known["labels_gold"] == 0).all()

    def test_the_bound_is_the_relaxations(self):
        params = {"tasks": 30, "workers": 40, "capacity": 60, "gamma": 0.5, "epsilon": 0.1}
        record = one("competitive-ratio", **params)
        streams = _streams("competitive-ratio", params)
        met = _arriving.drawn(_complete("competitive-ratio", params), streams)
        problem = AssignmentProblem(met.quality, 60, requirement(0.1))
        relaxed = solve(problem, "relaxation")
        assert record["bound"] == pytest.approx(relaxed.objective, rel=1e-6)
        exact = solve(problem, "ip", time_limit=20)
        assert record["bound"] <= exact.objective

    def test_covering_with_true_weights_costs_little(self):
        table = smoke("competitive-ratio")
        offline = table[(table["method"] == "offline weights") & (table["tasks"] == 60)]
        assert (offline["ratio"] < 1.25).all()

    def test_promises_hold_where_their_conditions_do_and_are_void_elsewhere(self):
        table = smoke("competitive-ratio")
        within = table[table["epsilon"] == 1e-200]
        assert within["promise"].notna().all()
        assert (within["ratio"] <= within["promise"]).all()
        assert (within["error"] <= 0.5).all()
        assert (within["void"] == "").all()
        beyond = table[table["epsilon"] != 1e-200]
        assert beyond["promise"].isna().all()
        assert (beyond["void"] != "").all()

    def test_without_the_correction_theorem_5_says_nothing(self):
        within = {name: values[0] for name, values in competitive_ratio._WITHIN.items()}
        within |= {"method": "adaptive", "tasks": 2}
        assert one("competitive-ratio", **within)["promise"] > 1
        bare = one("competitive-ratio", **{**within, "corrected": False})
        assert bare["promise"] is None
        assert "without the ε′ correction" in bare["void"]

    def test_an_adversary_who_sends_the_worst_first_makes_it_dear(self):
        table = smoke("competitive-ratio")
        sampled = table[(table["method"] == "sampled weights") & (table["tasks"] == 60)]
        mean = sampled.groupby("arrival")["ratio_reached"].mean()
        assert mean["worst_first"] > 2 * mean["random"]
        cover = sampled.groupby("arrival")["covered"].mean()
        assert cover["best_first"] < 0.2

    def test_arrivals_are_orders_of_one_crowd(self):
        crowds = {}
        for arrival in _arriving.ARRIVALS:
            params = {"tasks": 9, "workers": 20, "gamma": 0.5, "arrival": arrival}
            met = _arriving.drawn(
                _complete("competitive-ratio", params), _streams("competitive-ratio", params)
            )
            crowds[arrival] = met.crowd.skill
        same = np.sort(crowds["random"], axis=1)
        for arrival in ("worst_first", "best_first", "alternating"):
            assert np.array_equal(np.sort(crowds[arrival], axis=1), same)
        assert set(crowds["iid"][0]) < set(crowds["random"][0])
        total = ((2 * crowds["worst_first"] - 1) ** 2).sum(axis=0)
        assert (np.diff(total) >= -1e-12).all()

    def test_a_crowd_too_small_is_infeasible(self):
        with pytest.raises(TrialEnded) as ended:
            one("competitive-ratio", tasks=30, workers=3, epsilon=1e-6)
        assert ended.value.status == "infeasible"


class TestCorrection:
    def test_void_is_said_and_nothing_is_measured(self):
        table = smoke("correction-ablation")
        void = table[table["void"] != ""]
        assert set(void["correction"]) == {"paper"}
        assert set(void["gold"]) == {20}
        assert void["error"].isna().all()
        assert void["labels_task"].isna().all()
        assert (void["share"] >= 1).all()
        assert table[table["void"] == ""]["error"].notna().all()

    def test_the_papers_t(self):
        record = one("correction-ablation", correction="paper")
        assert record["radius_used"] == pytest.approx(np.sqrt(np.log(4 * 390 / 0.05) / 40))
        assert record["mean_quality_least"] == pytest.approx(0.16)

    def test_a_larger_t_buys_fewer_labels(self):
        params = {"correction": "user", "tasks": 200, "gold": 200}
        labels = [
            one("correction-ablation", radius=t, **params)["labels_task"] for t in (0, 0.01, 0.03)
        ]
        assert labels[0] > labels[1] > labels[2]
        assert labels[0] == one("correction-ablation", tasks=200, gold=200)["labels_task"]

    def test_a_crowd_too_small_is_infeasible(self):
        with pytest.raises(TrialEnded) as ended:
            one("correction-ablation", tasks=300, workers=20)
        assert ended.value.status == "infeasible"


class TestExactHeuristic:
    def test_no_covering_result_is_better_than_the_proven_optimum(self):
        table = smoke("exact-heuristic")
        exact = table[table["method"] == "exact"]
        assert exact["proven"].eq(True).all()
        assert (exact["best"] == exact["proven_bound"]).all()
        assert (exact["best"] >= exact["lp_bound"]).all()
        keys = ["tasks", "types", "repetition"]
        both = table[table["covered"] == 1].merge(exact[[*keys, "best"]], on=keys)
        assert len(both) >= 4
        assert (both["labels"] >= both["best_y"]).all()

    def test_no_solution_in_time_is_a_limit_with_the_bound(self, monkeypatch):
        real = exact_heuristic.solve

        def out_of_time(problem, formulation, **options):
            if formulation != "ip":
                return real(problem, formulation, **options)
            from workbench.solving import Solution, Termination

            return Solution("ip", "arrays", Termination.TIME_LIMIT, bound=7.0)

        monkeypatch.setattr(exact_heuristic, "solve", out_of_time)
        with pytest.raises(TrialEnded) as ended:
            one("exact-heuristic", tasks=6, workers=8)
        assert ended.value.status == "limit"
        assert ended.value.record == {"proven_bound": 7.0}

    def test_too_much_asked_is_infeasible(self):
        with pytest.raises(TrialEnded) as ended:
            one("exact-heuristic", need=1.0, capacity=0.1)
        assert ended.value.status == "infeasible"

    def test_online_methods_need_types(self):
        with pytest.raises(ValueError, match="types is 0"):
            one("exact-heuristic", method="adaptive", tasks=6, workers=8)

    def test_unproven_ratios_are_intervals_and_uncovered_ones_fail_the_profile(self):
        base = {"types": 0, "tasks": 4, "workers": 5, "capacity": 1.0, "need": 0.3,
                "status": "ok", "lp_bound": 7.0, "method_seconds": 0.1}  # fmt: skip
        table = pd.DataFrame([
            {**base, "repetition": 0, "method": "exact", "best": 10.0, "proven_bound": 8.0,
             "proven": False},
            {**base, "repetition": 0, "method": "rounding", "labels": 12, "covered": 1.0},
            {**base, "repetition": 0, "method": "random", "labels": 9, "covered": 0.5},
        ])  # fmt: skip
        analysis = Source.of("exact-heuristic").load().analyse(table)
        ratios = list(analysis.tables.values())[1].set_index("method")
        assert ratios.loc["rounding", "ratio_least"] == pytest.approx(1.2)
        assert ratios.loc["rounding", "ratio_most"] == pytest.approx(1.5)
        steps = next(chart for chart in analysis.charts if chart.name == "profile").data
        assert steps.loc[steps["method"] == "random", "share"].max() == 0
        rounding = steps[steps["method"] == "rounding"].sort_values("ratio")
        assert rounding["share"].tolist()[0] == 0
        assert rounding["share"].tolist()[-1] == 1
        assert any("1.200 to 1.500 times the optimum" in said for said in analysis.findings)


def test_sentences():
    assert listed([]) == "none"
    assert listed([3]) == "3"
    assert listed([1, 2.5, 3]) == "1, 2.5 and 3"
    assert ended(pd.DataFrame({"status": ["ok"]})) == "All 1 trials ended ok."


def _complete(name, params):
    return Source.of(name).load().complete(params)


def _streams(name, params) -> Streams:
    study = Source.of(name).load()
    instance = tuple(key for key, given in study.parameters.items() if not given.paired)
    return Trial(name, study.version, study.complete(params), 0, 0, instance).streams


def test_a_relaxation_that_is_not_solved_is_not_called_infeasible(monkeypatch):
    from dataclasses import replace

    from crowd_models import AssignmentProblem
    from workbench.studies.catalog import _adaptive
    from workbench.studies.study import TrialEnded

    problem = AssignmentProblem(np.full((2, 3), 0.5), 2, np.full(2, 0.8))
    solved = _adaptive.relaxation(problem, "nobody can")
    assert solved.bound <= solved.solution.objective + 1e-9
    with pytest.raises(TrialEnded, match="nobody can") as ended:
        _adaptive.relaxation(AssignmentProblem(problem.quality, 2, np.full(2, 9.0)), "nobody can")
    assert ended.value.status == "infeasible"
    lost = replace(solved.solution, assignment=None, note="no answer")
    monkeypatch.setattr(_adaptive, "solve", lambda *_: lost)
    with pytest.raises(TrialEnded, match="no answer") as ended:
        _adaptive.relaxation(problem, "nobody can")
    assert ended.value.status == "numerics"
