"""Comparisons on recorded crowds of several classes, on instances small enough to recompute."""

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.accuracy.test_measured import crowd
from workbench.base.errors import InputError
from workbench.comparison.instances import RecordedOptions
from workbench.comparison.running import compare, methods, recorded
from workbench.comparison.several_class_methods import adaptive, open_market, primal
from workbench.solving.joint.route import solve_joint

SEED = np.random.SeedSequence(3)
METHODS = methods(3)


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(1)
    labels, _, truth = crowd(rng, 60, 24, rng.uniform(0.6, 0.9, 24), missing=0.2, classes=3)
    return labels, pd.Series([f"c{k}" for k in truth], index=[f"t{i}" for i in range(60)])


def instance(tables, **changes):
    settings = {"gamma": 0.3, "gold_tasks": 10, "epsilon": 0.3, **changes}
    return recorded(*tables, RecordedOptions(**settings), seed=np.random.SeedSequence(3))


def rows(given):
    return {row.method: row for row in compare(given, seed=np.random.SeedSequence(4))}


@pytest.mark.release
def test_costs_stand_over_the_bound_and_errors_are_counted(tables):
    given = instance(tables)
    found = rows(given)
    assert tuple(found) == METHODS
    exact = found["offline IP"]
    assert found["relaxation"].objective <= exact.objective + 1e-6
    assert exact.lower_bound <= exact.objective <= found["primal approximation"].objective
    assert exact.tasks_covered == len(given.tasks) == 60
    assert exact.error_exact <= exact.error_bound <= 0.3
    assert exact.error_measured is None
    for row in list(found.values())[2:]:
        assert row.tasks_measured == 60
        assert row.error_low <= row.error_measured <= row.error_high
        assert 1 <= row.effective_workers <= row.labels_task / 60 + 1e-9
    adaptive = found["adaptive"]
    assert adaptive.labels_gold == np.minimum(given.answered, 10).sum() > 0
    for method in ("random + plurality", "random + Dawid–Skene"):
        assert found[method].labels_task == adaptive.cost


def test_sampled_workers_are_left_out(tables):
    given = instance(tables, gold_tasks=4)
    assert given.answered.max() == 4
    assert (given.label >= 0).sum() == len(given.votes)
    sampled = given.order[: given.preliminary]
    seeds = dict(zip(METHODS, SEED.spawn(6), strict=True))
    market = open_market(given, seed=SEED, seeds=seeds, time_limit=20.0, on_infeasible="relax")
    for method in (primal, adaptive):
        purchase = method(market, seeds["adaptive"])
        assert len(purchase.task) > 0
        assert not np.isin(purchase.worker, sampled).any()
        assert (given.label[purchase.task, purchase.worker] >= 0).all()


@pytest.mark.release
def test_prices_double_and_choices_stay(tables):
    workers = tables[0]["worker"].unique()
    prices = pd.DataFrame({"all": 2.0}, index=pd.Index(workers, name="worker"))
    plain, dear = rows(instance(tables)), rows(instance(tables, costs=prices))
    for method in METHODS:
        assert dear[method].objective == pytest.approx(2 * plain[method].objective, rel=1e-6)
        assert dear[method].labels_task == plain[method].labels_task


@pytest.mark.release
def test_capacities_hold_and_what_is_out_of_reach_is_named(tables):
    scarce = instance(tables, capacity=9)
    assert scarce.left_out
    assert len(scarce.left_out) + len(scarce.tasks) == 60
    problem = scarce.problem(scarce.main, scarce.actual)
    assert solve_joint(problem, "relaxation").objective is not None
    with pytest.raises(InputError, match="no task can be covered at epsilon 1e-09"):
        instance(tables, epsilon=1e-9)


def test_what_is_for_two_classes_is_refused(tables):
    for wrong in ({"gain": "hoeffding"}, {"skills": "plug-in"}):
        with pytest.raises(InputError, match="is for labels of two classes, here are more"):
            instance(tables, **wrong)


@pytest.mark.release
def test_at_the_front_door(tables):
    found = wb.compare(*tables, epsilon=0.3, sampling=wb.SampleOptions(gold_tasks=10))
    row = found.to_dict()["rows"][3]
    assert row["error_interval"][0] <= row["error_measured"] <= row["error_interval"][1]
    assert row["error_independent"] == row["error_exact"]
    assert {"tasks_measured", "effective_workers", "error_se"} <= row.keys()
    assert "cover of all pairs of classes" in found.details()
    assert found.to_frame()["method"].tolist() == [*METHODS, "all labels + majority"]
