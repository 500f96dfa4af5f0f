"""The study of the integer program at the paper's size, on small crowds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.studies.catalog_runs import one_record, smoke
from workbench.solving import Incumbent, Solution, Termination
from workbench.studies.catalog import exact_at_size
from workbench.studies.trials import Trial

STUDY = exact_at_size.STUDY
SMALL = {"tasks": 60, "workers": 30, "capacity": 40, "epsilon": 0.2, "time_limit": 20.0}


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


@pytest.mark.parametrize("crowd", ["spread", *exact_at_size.FEW])
def test_skills_are_those_of_the_crowd(crowd):
    params = STUDY.complete({"crowd": crowd, "workers": 400})
    drawn = exact_at_size._crowd(params, np.random.SeedSequence(1)).skill
    assert drawn.shape == (3, 400)
    if crowd == "spread":
        assert 0.6 <= drawn.min() < 0.61 < 0.94 < drawn.max() <= 0.95
    else:
        skills, counts = np.unique(drawn, return_counts=True)
        assert tuple(skills) == exact_at_size.FEW[crowd]
        assert counts.min() > 1200 / len(skills) * 0.85


def test_pairs_have_skills_and_prices_of_their_own():
    streams = Trial("s", 1, {}, 0, 0, ()).streams
    params = STUDY.complete(SMALL | {"crowd": "pairs"})
    plain = exact_at_size._instance(params, streams)
    priced = exact_at_size._instance(params | {"crowd": "priced"}, streams)
    assert len(np.unique(plain.quality)) == plain.quality.size
    assert plain.quality.tolist() == priced.quality.tolist()
    assert plain.cost is None
    assert 0.5 <= priced.cost.min() < 0.6 < 1.9 < priced.cost.max() <= 2
    record = one(method="mip", crowd="pairs")
    assert record["cost"] == one(method="highs", crowd="pairs", time_limit=60.0)["cost"]


def test_gap_after_a_time():
    history = (
        Incumbent(1.0, 110.0, None),
        Incumbent(5.0, 110.0, 100.0),
        Incumbent(30.0, 100.0, 100.0),
    )
    solution = Solution("ip", "arrays", Termination.OPTIMAL, history=history)
    assert exact_at_size._gap_after(solution, 0.5) is None
    assert exact_at_size._gap_after(solution, 2.0) is None
    assert exact_at_size._gap_after(solution, 20.0) == pytest.approx(100 * 10 / 110)
    assert exact_at_size._gap_after(solution, 40.0) == 0
