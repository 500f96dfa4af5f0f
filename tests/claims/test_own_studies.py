"""The studies that measure claims: they run, say the same twice, and say what they are asked."""

import numpy as np
import pytest

from tests.claims.made_up import run_serially
from workbench.studies.attempt import attempt
from workbench.studies.source import Source
from workbench.studies.trials import plan

OWN = (
    "weighted-vote", "gold-estimates", "offline-assignment", "sampled-weights", "toy-example",
    "estimated-skills", "main-algorithm", "structured-tasks",
)  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_smoke(name):
    study = Source.of(name).load()
    table = run_serially(name, study.sizes["smoke"].sweep, 1)
    assert set(table["status"]) <= {"ok", "infeasible"}
    assert (table["status"] == "ok").mean() > 0.7
    analysis = study.analyse(table)
    assert analysis.findings
    assert analysis.tables
    for chart in analysis.charts:
        used = [chart.x, chart.y, chart.series]
        assert {one for one in used if one} <= set(chart.data.columns)


@pytest.mark.parametrize("name", OWN)
def test_same_trial_same_record(name):
    study = Source.of(name).load()
    trial = next(iter(plan(study, study.sizes["smoke"].sweep, 1)))
    assert attempt(Source.of(name), trial).record == attempt(Source.of(name), trial).record


def test_prices_are_of_the_crowd_not_of_the_method():
    """Cheap and dear trials of the priced sweep meet prices from 1 up, and heed them."""
    sweep = [{"tasks": [30], "workers": [40], "capacity": [20], "dearest": [5.0], "gamma": [0.5]}]
    table = run_serially("sampled-weights", sweep, 12)
    ok = table[table["status"] == "ok"]
    assert (ok["unit_cost"] < ok["unit_blind"]).mean() > 0.7
    assert (ok["unit_cost"] > 1).all()


def test_exploring_by_ability_takes_few_gold_tasks():
    sweep = [{"exploration": ["known", "ability", "type"]}]
    table = run_serially("structured-tasks", sweep, 4)
    by = table.groupby("exploration")[["gold", "off"]].mean()
    assert by["gold"].to_dict() == {"known": 0, "ability": 40, "type": 1600}
    assert by["off"]["known"] == 0
    assert by["off"]["ability"] < 0.1


def test_a_crowd_that_cannot_do_it_is_infeasible():
    sweep = [{"workers": [10], "tasks": [30], "capacity": [2], "epsilon": [0.001]}]
    for name in ("sampled-weights", "main-algorithm", "structured-tasks", "estimated-skills"):
        table = run_serially(name, sweep, 1)
        assert table["status"].tolist() == ["infeasible"], name
    sweep = [{"tasks": [8], "workers": [4], "capacity": [0.2], "need": [0.9]}]
    assert run_serially("offline-assignment", sweep, 1)["status"].tolist() == ["infeasible"]
    sweep = [{"workers": [10], "judged": [0.6]}]
    assert run_serially("toy-example", sweep, 1)["status"].tolist() == ["infeasible"]


def test_a_sample_that_cannot_do_it_is_infeasible():
    """The main workers could, one sampled worker of half the crowd's spammers cannot."""
    sweep = [
        {"workers": [40], "tasks": [10], "capacity": [10], "gamma": [0.025], "epsilon": [0.3],
         "crowd": ["spammer-hammer"]},
    ]  # fmt: skip
    for name in ("sampled-weights", "main-algorithm"):
        table = run_serially(name, sweep, 12)
        assert "infeasible" in set(table["status"]), name
        assert table["message"].str.contains("sampled").any()


def test_the_bound_of_lemma_1_is_as_printed():
    """The record keeps the printed bound, whichever way the vote leans."""
    table = run_serially("weighted-vote", [{"voters": [3], "skills": ["mixed"]}], 30)
    assert (table["lean"] < 0).any()
    assert (table["bound_any"] < 1).all()
    assert np.isclose(table["bound_best"], table["closed_form"]).all()
