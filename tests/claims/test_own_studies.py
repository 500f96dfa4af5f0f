"""The studies that measure claims say what they are asked."""

import numpy as np

from tests.studies.catalog_runs import run_serially


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
