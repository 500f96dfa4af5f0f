"""The study of the integer program at the paper's size, on small crowds."""

import pytest

from crowd_papers.adaptive_assignment import exact_at_size
from tests.core.studies.study_runs import one_record, smoke
from workbench.studies.catalog import studies

STUDY = exact_at_size.STUDY
SMALL = {"tasks": 60, "workers": 30, "capacity": 40, "epsilon": 0.2, "time_limit": 600.0}


def one(**params):
    return one_record(STUDY.name, **(SMALL | params))


def test_bounds_are_in_order():
    table = smoke(STUDY.name)
    assert STUDY.analyse(table).charts[0].data["median"].gt(0).all()
    assert (table["bound"] <= table["cost"]).all()
    assert (table["certified_bound"] <= table["bound"]).all()
    assert (table["lp_bound"] <= table["certified_bound"] + 1e-9).all()


def test_methods_meet_the_same_crowd_and_agree():
    records = {method: one(method=method, crowd="hammers") for method in exact_at_size.METHODS}
    assert len({record["lp_bound"] for record in records.values()}) == 1
    assert len({record["cost"] for record in records.values()}) == 1
    assert records["patterns"]["proven"]
    assert records["patterns"]["certified_gap"] == 0
    assert records["patterns"]["gap_20"] == 0


@pytest.mark.release
def test_pairs_have_skills_and_prices_of_their_own():
    small = {"crowd": "pairs", "tasks": 20, "workers": 30}
    record = one(method="mip", **small)
    assert record["cost"] == one(method="highs", **small)["cost"]
    priced = one(method="patterns", **(small | {"crowd": "priced"}))
    assert priced["cost"] % 1
    assert 0.5 * record["lp_bound"] <= priced["lp_bound"] <= 2 * record["lp_bound"]


def test_every_setting_finds_the_same_optimum():
    table = smoke("exact-options")
    assert (table["status"] == "ok").all()
    assert table["proven"].all()
    assert table["cost"].nunique() == table["bound"].round(6).nunique() == 1
    drawn = table.assign(bound=table["cost"], cpu_seconds=1.0)
    (chart,) = studies()["exact-options"].call.analyse(drawn).charts
    assert set(chart.data["setting"]) == set(table["setting"])
    assert chart.data["share"].min() == 1.0
