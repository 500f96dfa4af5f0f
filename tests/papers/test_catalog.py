"""The shipped studies: that each measures what it says, at its smallest size."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crowd_models import AssignmentProblem, requirement
from crowd_papers.adaptive_assignment import (
    assignment_trials,
    competitive_ratio,
    exact_heuristic,
)
from crowd_papers.adaptive_assignment.adaptive_curves import at_equal_labels, differences
from tests.core.studies.study_runs import (
    complete,
    first_again,
    one_record,
    smoke,
    smoke_outcomes,
    streams_of,
)
from workbench.crowd.population import uniform
from workbench.solving import Solution, Termination, solve
from workbench.studies import probe
from workbench.studies.catalog import studies
from workbench.studies.default_analysis import conclude
from workbench.studies.source import Source
from workbench.studies.study import TrialEnded

KEPT = Path(__file__).with_name("kept_names.json")
RECORDS = json.loads(KEPT.read_text("utf-8"))["records"]
"""Fields of the records of release 1.0, by study whose version is the same."""
QUICK = ("gold-estimates", "made-gold", "toy-example")
"""Studies that are tried in every run; CI tries the others after it."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in studies()],
)
def test_a_study_gives_the_records_of_its_probe_and_keeps_what_studies_promise(name):
    """One run of its smoke sweep serves all questions.

    Where the records are other and are meant to be: `workbench study probe NAME` keeps them, and
    `workbench study stale docs notebooks` tells which pages show figures of before.
    """
    table, study = smoke(name), studies()[name].call
    before = probe.read_probe(Source.of(name))
    assert before is not None
    assert probe.differences(before, probe.of_outcomes(study, smoke_outcomes(name))) == []
    assert (study.name, study.title) == (name, studies()[name].summary)
    assert set(table["status"]) <= {"ok", "infeasible"}, table["message"].unique()
    assert (table["status"] == "ok").mean() > 0.7
    assert set(RECORDS.get(name, ())) <= set(table)
    again = first_again(name)
    for field in again.keys() - set(study.volatile):
        assert again[field] == table.attrs["first"][field], field

    kept = {*study.parameters, "repetition", "status", "message", "version", "seed"}
    lost = table.index[table["status"] == "ok"][[0, 3]]
    spoilt = table.astype(dict.fromkeys(table.select_dtypes("bool"), object))
    spoilt.loc[lost, [column for column in table if column not in kept]] = None
    halfway = table.copy()
    numbers = [column for column in table.select_dtypes("number") if column not in kept]
    halfway[numbers] = halfway[numbers].astype(float)
    halfway.loc[lost, numbers] = 1e6
    for some in (spoilt, halfway):
        some.loc[lost, "status"] = ["deadline", "crashed"]
    analysis = study.analyse(spoilt)
    found = analysis.findings
    if len(table) <= 24:  # too little is left
        analysis = study.analyse(table)
    assert len(analysis.findings) > 1
    assert "did not end ok" in found[0]
    assert "1 deadline" in found[0]
    assert study.analyse(halfway).findings == found
    assert len(conclude(study, spoilt.assign(status="crashed")).findings) == 1
    assert all(len(one) for one in analysis.tables.values())
    assert len({chart.name for chart in analysis.charts}) == len(analysis.charts)
    for chart in analysis.charts:
        assert len(chart.data.dropna(subset=[chart.x, chart.y]))


INFEASIBLE = [
    ("competitive-ratio", {"tasks": 30, "workers": 3, "epsilon": 1e-6}),
    ("assignment-policies", {"tasks": 30, "workers": 3, "epsilon": 1e-6}),
    ("correction-ablation", {"tasks": 300, "workers": 20}),
    ("exact-heuristic", {"need": 1.0, "capacity": 0.1}),
    ("exact-at-size", {"tasks": 60, "workers": 3, "capacity": 40, "epsilon": 1e-6}),
    *(
        (name, {"workers": 10, "tasks": 30, "capacity": 2, "epsilon": 0.001})
        for name in ("sampled-weights", "main-algorithm", "structured-tasks", "estimated-skills")
    ),
    ("toy-example", {"workers": 10, "judged": 0.6}),
    ("offline-assignment", {"tasks": 8, "workers": 4, "capacity": 0.2, "need": 0.9}),
]


@pytest.mark.parametrize(("name", "params"), INFEASIBLE)
def test_a_crowd_that_cannot_do_it_is_infeasible(name, params):
    with pytest.raises(TrialEnded) as ended:
        one_record(name, **params)
    assert ended.value.status == "infeasible"


class TestPairing:
    def test_gold_labels_are_those_of_all_workers(self):
        record = one_record("adaptive-figure-2", tasks=60, workers=60, types=2, gold=7, epsilon=0.2)
        assert record["labels_gold"] == (60 + 18) * 7 * 2
        assert record["labels_per_task"] == (record["labels_gold"] + record["labels_task"]) / 60


class TestFigures:
    def test_the_adaptive_record_is_that_of_the_algorithm(self):
        """Figure 1's record, recomputed from the algorithm's own result."""
        params = {"crowd": "one-type", "tasks": 80, "workers": 50, "epsilon": 0.2}
        record = one_record("adaptive-figure-1", **params)
        streams = streams_of("adaptive-figure-1", **params)
        met = assignment_trials.Instance(uniform(65, capacity=200), 15, 80, streams.instance)
        result = met.run_adaptive({"epsilon": 0.2, "gold": 20}, streams.method("adaptive"))
        assert record["labels_task"] == result.labels_task
        weight = 2 * result.skill[0, result.worker] - 1
        sign = 2 * met.source.labels(result.task, result.worker) - 1
        score = np.bincount(result.task, weight * sign, minlength=80)
        wrong = np.where(np.abs(score) < 1e-9, 0.5, (score > 0) != (met.source.truth == 1)).mean()
        assert record["error"] == pytest.approx(wrong)
        gathered = np.bincount(result.task, minlength=80) * (2 * 0.6414 - 1) ** 2
        assert record["covered"] == np.mean(gathered >= float(requirement(0.2)))

    def test_at_equal_labels_interpolates_within_a_repetition(self):
        rows = [
            (0, "adaptive", 10.0, 0.4),
            (0, "adaptive", 20.0, 0.2),
            (0, "message passing", 15.0, 0.5),
            (0, "message passing", 30.0, 0.1),
            (1, "adaptive", 10.0, 0.3),
            (1, "adaptive", 20.0, 0.1),
            (1, "message passing", 15.0, 0.6),
            (1, "message passing", 30.0, 0.2),
        ]
        table = pd.DataFrame(rows, columns=["repetition", "method", "labels_per_task", "error"])
        equal = at_equal_labels(table.assign(status="ok", crowd="a"), "crowd")
        assert equal.loc[equal["labels"] == 15, "adaptive"].tolist() == pytest.approx([0.3, 0.2])
        assert equal.loc[equal["labels"] == 30, "adaptive"].isna().all()
        found = differences(equal, "crowd").set_index("labels")
        assert found.loc[15, "difference"] == pytest.approx(-0.3)
        assert found.loc[15, "difference_se"] == pytest.approx(0.1)
        assert found.loc[30, "trials"] == 0


class TestCompetitiveRatio:
    @pytest.mark.slow
    def test_ratios_are_of_a_proven_bound_and_promises_stand_within_their_conditions(self):
        table = smoke("competitive-ratio")
        assert (table["bound_reached"] <= table["bound"] + 1e-6).all()
        assert (table["ratio_reached"] >= 1 - 1e-9).all()
        covered = table[table["covered"] == 1]
        assert len(covered) > 5
        assert (covered["ratio"] >= 1).all()
        assert (table["ratio_all"] >= table["ratio"]).all()
        assert (table[table["method"] != "adaptive"]["labels_gold"] == 0).all()
        within = table[table["epsilon"] == 1e-200]
        assert (within["ratio"] <= within["promise"]).all()
        assert (within["error"] <= 0.5).all()
        assert (within["void"] == "").all()
        beyond = table[table["epsilon"] != 1e-200]
        assert beyond["promise"].isna().all()
        assert (beyond["void"] != "").all()

    @pytest.mark.release
    def test_the_bound_is_the_relaxations(self):
        params = {"tasks": 30, "workers": 40, "capacity": 60, "gamma": 0.5, "epsilon": 0.1}
        record = one_record("competitive-ratio", **params)
        streams = streams_of("competitive-ratio", **params)
        met = assignment_trials.drawn(complete("competitive-ratio", **params), streams)
        problem = AssignmentProblem(met.quality, 60, requirement(0.1))
        relaxed = solve(problem, "relaxation")
        assert record["bound"] == pytest.approx(relaxed.objective, rel=1e-6)
        exact = solve(problem, "ip", time_limit=20)
        assert record["bound"] <= exact.objective

    @pytest.mark.slow
    def test_without_the_correction_theorem_5_says_nothing(self):
        within = {name: values[0] for name, values in competitive_ratio._WITHIN.items()}
        within |= {"method": "adaptive", "tasks": 2}
        assert one_record("competitive-ratio", **within)["promise"] > 1
        bare = one_record("competitive-ratio", **{**within, "corrected": False})
        assert bare["promise"] is None
        assert "without the ε′ correction" in bare["void"]


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
        record = one_record("correction-ablation", correction="paper")
        assert record["radius_used"] == pytest.approx(np.sqrt(np.log(4 * 390 / 0.05) / 40))
        assert record["mean_quality_least"] == pytest.approx(0.16)

    def test_a_larger_t_buys_fewer_labels(self):
        params = {"correction": "user", "tasks": 200, "gold": 200}
        labels = [
            one_record("correction-ablation", radius=t, **params)["labels_task"]
            for t in (0, 0.01, 0.03)
        ]
        assert labels[0] > labels[1] > labels[2]
        assert labels[0] == one_record("correction-ablation", tasks=200, gold=200)["labels_task"]


class TestExactHeuristic:
    @pytest.mark.slow
    def test_no_covering_result_is_better_than_the_proven_optimum(self):
        table = smoke("exact-heuristic")
        exact = table[table["method"] == "exact"]
        assert exact["proven"].eq(True).all()
        assert (exact["best"] == exact["proven_bound"]).all()
        assert (exact["best"] >= exact["lp_bound"]).all()
        keys = ["tasks", "types", "repetition"]
        both = table[table["covered"] == 1].merge(exact[[*keys, "best"]], on=keys)
        assert len(both) >= 2
        assert (both["labels"] >= both["best_y"]).all()

    def test_no_solution_in_time_is_a_limit_with_the_bound(self, monkeypatch):
        real = exact_heuristic.solve

        def out_of_time(problem, formulation, **options):
            if formulation != "ip":
                return real(problem, formulation, **options)
            return Solution("ip", "arrays", Termination.TIME_LIMIT, bound=7.0)

        monkeypatch.setattr(exact_heuristic, "solve", out_of_time)
        with pytest.raises(TrialEnded) as ended:
            one_record("exact-heuristic", tasks=6, workers=8)
        assert ended.value.status == "limit"
        assert ended.value.record == {"proven_bound": 7.0}

    def test_unproven_ratios_are_intervals_and_uncovered_ones_fail_the_profile(self):
        base = {
            "types": 0,
            "tasks": 4,
            "workers": 5,
            "capacity": 1.0,
            "need": 0.3,
            "status": "ok",
            "lp_bound": 7.0,
            "method_seconds": 0.1,
        }
        table = pd.DataFrame(
            [
                {
                    **base,
                    "repetition": 0,
                    "method": "exact",
                    "best": 10.0,
                    "proven_bound": 8.0,
                    "proven": False,
                },
                {**base, "repetition": 0, "method": "rounding", "labels": 12, "covered": 1.0},
                {**base, "repetition": 0, "method": "random", "labels": 9, "covered": 0.5},
            ]
        )
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


def test_a_relaxation_that_is_not_solved_is_not_called_infeasible(monkeypatch):
    problem = AssignmentProblem(np.full((2, 3), 0.5), 2, np.full(2, 0.8))
    solved = assignment_trials.relaxation(problem, "nobody can")
    assert solved.bound <= solved.solution.objective + 1e-9
    with pytest.raises(TrialEnded, match="nobody can") as ended:
        assignment_trials.relaxation(
            AssignmentProblem(problem.quality, 2, np.full(2, 9.0)), "nobody can"
        )
    assert ended.value.status == "infeasible"
    lost = replace(solved.solution, assignment=None, note="no answer")
    monkeypatch.setattr(assignment_trials, "solve", lambda *_: lost)
    with pytest.raises(TrialEnded, match="no answer") as ended:
        assignment_trials.relaxation(problem, "nobody can")
    assert ended.value.status == "numerics"
