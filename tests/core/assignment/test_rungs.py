"""The ladder: its rungs stand in order, and no loop is below the limit at its own error."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench.assignment.rungs import RUNGS, LadderCrowd, _until_decided, ladder
from workbench.base.errors import InputError


@pytest.mark.release
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    epsilon=st.sampled_from([0.02, 0.1, 0.25]),
    capacity=st.integers(2, 12),
    priced=st.booleans(),
)
def test_rungs_stand_in_order(seed, epsilon, capacity, priced):
    """Bounds as theorems; the measured rung within what chance leaves open."""
    rng = np.random.default_rng(seed)
    skill = rng.choice([0.5, 0.6, 0.75, 0.9, 0.97, 1.0], (2, 9))
    cost = rng.choice([0.5, 1.0, 2.0], (2, 9)) if priced else None
    crowd = LadderCrowd(skill, np.array([3, 4]), np.full(9, capacity), cost)
    rungs = {rung.name: rung for rung in ladder(crowd, epsilon, trials=60, time_limit=2.0)}
    assert tuple(rungs) == RUNGS
    planned = [rungs[name] for name in RUNGS[:3]]
    for rung in planned:
        if rung.cost is not None:
            assert rung.lower_bound <= rung.cost * (1 + 1e-9)
            assert rung.error <= epsilon * (1 + 1e-6)
    for above, below in itertools.pairwise(planned):
        if above.cost is not None:
            assert below.cost is not None
            assert below.lower_bound <= above.cost + 1e-9
        if above.status == below.status == "proven":
            assert below.cost <= above.cost + 1e-9
    exact, sure, loop, limit = (rungs[name] for name in RUNGS[2:])
    for rung in (*planned, sure, loop):
        if rung.cost is not None:
            assert limit.status == "proven"
            spread = 4 * (rung.se or 0.0)
            assert limit.lower_bound <= rung.cost * (1 + 1e-9) + spread
    if exact.cost is not None:
        assert loop.cost is not None
        assert loop.cost <= exact.cost + 1e-9
    if sure.cost is not None:
        assert loop.lower_bound <= sure.lower_bound * (1 + 1e-9)
    for rung in (sure, loop):
        if rung.cost is not None:
            assert rung.error <= epsilon + 4 * math.sqrt(epsilon / (60 * 7))
            assert rung.lower_bound <= rung.cost + 4 * rung.se + 1e-9
            assert limit.lower_bound <= rung.lower_bound * (1 + 1e-6)


def test_a_decided_plan_errs_as_the_whole_one():
    """Majority of seven at .8: errs .0333, and the fourth like answer comes after 4.87 labels."""
    crowd = LadderCrowd(np.full((1, 7), 0.8), np.array([400]), np.full(7, 400))
    chosen = np.ones((400, 7), dtype=bool)
    loop = _until_decided(crowd, chosen, 100, np.random.default_rng(0))
    labels = sum(
        k * math.comb(k - 1, 3) * (0.8**4 * 0.2 ** (k - 4) + 0.2**4 * 0.8 ** (k - 4))
        for k in range(4, 8)
    )
    assert loop.cost.mean() / 400 == pytest.approx(labels, abs=0.03)
    assert loop.error.mean() == pytest.approx(0.033344, abs=0.004)


@pytest.mark.release
def test_front_door():
    crowd = wb.simulate("spammer-hammer", tasks=60, workers=80, capacity=40, seed=1)
    found = wb.ladder(crowd, trials=4)
    frame = found.to_frame().set_index("name")
    assert frame.loc[list(RUNGS[:3]), "cost"].tolist() == [17 * 60, 11 * 60, 7 * 60]
    assert (frame.loc[list(RUNGS[:3]), "status"] == "proven").all()
    assert frame.loc["information limit", "lower_bound"] == pytest.approx(191.157, abs=1e-3)
    for name in RUNGS[3:5]:
        assert frame.loc[name, "cost"] < 7 * 60
    assert frame.loc["sequential, error", "lower_bound"] == pytest.approx(3.328125 * 60, rel=1e-6)
    told = found.to_dict()
    assert [row["name"] for row in told["rungs"]] == list(RUNGS)
    assert "no policy at all pays less" in found.details()
    by_skills = wb.ladder(skills=crowd.skills, tasks=60, capacity=40, trials=4)
    assert by_skills.to_frame()["cost"].equals(found.to_frame()["cost"])
    priced = wb.ladder(
        skills=crowd.skills,
        tasks=60,
        capacity=40,
        trials=4,
        costs=dict.fromkeys(crowd.skills.index, 0.25),
    )
    assert priced.to_frame()["cost"][2] == pytest.approx(7 * 60 / 4)
    assert found == wb.ladder(crowd, trials=4)
    assert found.plot().axes[0].get_xlabel() == "labels a task"
    assert priced.plot().axes[0].get_xlabel() == "price of labels a task"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "one of them"),
        ({"epsilon": 0.5}, "below 0.5"),
        ({"crowd": True, "capacity": 3}, "has its own"),
        ({"crowd": True, "trials": 1}, "trials"),
    ],
)
def test_bad_input(given, said):
    if given.get("crowd"):
        given = given | {"crowd": wb.simulate(tasks=5, workers=3)}
    with pytest.raises(InputError, match=said):
        wb.ladder(**given)


@pytest.mark.release
def test_what_not_knowing_the_workers_costs():
    """Half are of skill .8, half guess; 3.328125 labels of good workers a task, and guessers'."""
    crowd = wb.simulate("spammer-hammer", tasks=60, workers=80, capacity=10, seed=1)
    frame = wb.ladder(crowd, trials=2, prior={0.8: 0.5, 0.5: 0.5}).to_frame().set_index("name")
    rung = frame.loc["skills unknown"]
    # Guessers met on the way make it 1.4 times as many; that ten labels tell little, still more.
    assert rung["lower_bound"] >= 60 * 5.34
    assert rung["status"] == "proven"
    assert frame.loc["sequential, error", "lower_bound"] < rung["lower_bound"]


@pytest.mark.release
def test_too_few_workers_of_unknown_skill():
    crowd = wb.simulate("spammer-hammer", tasks=60, workers=30, capacity=10, seed=1)
    found = wb.ladder(crowd, trials=2, time_limit=2.0, prior="0.8:0.5,0.5:0.5")
    rung = found.to_frame().set_index("name").loc["skills unknown"]
    assert np.isnan(rung["lower_bound"])
    assert rung["status"] == "infeasible"
    assert "no way of asking keeps that promise: all labels" in found.summary()
    assert "nan" not in found.summary()


@pytest.mark.parametrize(
    "prior", [{0.8: 0.5}, {0.8: 0.5, 1.4: 0.5}, {0.5: 1.0}, {0.8: 0.7, 0.5: 0.5}]
)
def test_bad_priors(prior):
    with pytest.raises(InputError, match="prior"):
        wb.ladder(wb.simulate(tasks=5, workers=3), prior=prior)


def test_a_prior_is_of_labels_not_of_money():
    crowd = wb.simulate(tasks=5, workers=3)
    terms = {"skills": crowd.skills, "tasks": 5, "costs": dict.fromkeys(crowd.skills.index, 0.25)}
    with pytest.raises(InputError, match="labels, not money"):
        wb.ladder(**terms, prior={0.8: 0.5, 0.5: 0.5})


def test_a_mean_is_shown_with_no_more_digits_than_it_is_good_for():
    crowd = wb.simulate("spammer-hammer", tasks=6, workers=30, capacity=6, seed=1)
    found = wb.ladder(crowd, epsilon=0.05, trials=7)
    mean = found.to_frame().set_index("name").loc["sequential, error", "cost"]
    assert f"{mean:.10g}" != f"{mean:.6g}"
    assert f"{mean:.10g}" not in found.brief()
    assert f"{mean:.6g} " in found.brief()
