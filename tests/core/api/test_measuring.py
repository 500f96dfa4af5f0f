"""Errors measured on gold at the front door: keys, order in the text, warnings, intervals."""

import os

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.accuracy.test_measured import crowd
from tests.core.api.test_checking import made

KEYS = ("error_measured", "error_interval", "error_independent", "tasks_measured")
MEASURED, INDEPENDENT = "error, measured on your gold", "if errors were independent"


def results(labels, gold):
    """The same crowd through the three doors, the first 60 tasks being control tasks."""
    return {
        "hire": wb.hire(labels, gold[:60], budget=5),
        "aggregate": wb.aggregate(labels, method="majority", truth=gold[:60]),
        "plan": wb.plan(labels, gold[:60], list("wxyz"), epsilon=0.08, capacity=3),
    }


@pytest.fixture(scope="module")
def copied():
    """Seven of nine workers copy the first: errors are anything but independent."""
    return results(*made(tasks=150, copies=(0, 1, 2, 3, 4, 5, 6)))


@pytest.fixture(scope="module")
def apart():
    return results(*made(seed=2, tasks=150))


@pytest.mark.release
@pytest.mark.parametrize("door", ["hire", "aggregate", "plan"])
def test_measured_stands_first_and_independent_second(copied, apart, door):
    for found in (copied[door], apart[door]):
        told = found.to_dict()
        low, high = told["error_interval"]
        assert 0 <= low <= told["error_measured"] <= high <= 1
        assert 0 <= told["error_independent"] <= 1
        assert 0 < told["tasks_measured"] <= 60
        text = found.details()
        assert 0 < text.index(MEASURED) < text.index(INDEPENDENT)


def by_hand(labels, gold):
    """Share of gold tasks on which a majority errs, ties by their share."""
    said = labels[labels["task"].isin(gold.index)]
    counts = said.groupby(["task", "label"]).size().unstack(fill_value=0)
    wins = counts.eq(counts.max(axis=1), axis=0)
    right = [wins.loc[task, gold[task]] / wins.loc[task].sum() for task in counts.index]
    return 1.0 - float(np.mean(right))


DOORS = {
    "hire": lambda labels, gold: wb.hire(labels, gold, budget=5),
    "aggregate": lambda labels, gold: wb.aggregate(labels, gold=gold),
    "aggregate, truth": lambda labels, gold: wb.aggregate(labels, truth=gold),
    "plan": lambda labels, gold: wb.plan(labels, gold, list("wx"), epsilon=0.08, capacity=3),
    "collect": lambda labels, gold: wb.collect(labels, gold, total=300),
    "learn": wb.learn,
}
LANES = dict.fromkeys(("hire", "collect"), pytest.mark.release)


@pytest.mark.parametrize("door", [pytest.param(name, marks=LANES.get(name, ())) for name in DOORS])
def test_all_five_doors_say_the_raw_error_its_interval_and_the_majoritys(door):
    """The error is a share of the gold tasks; what it is beside, a majority of all labels there."""
    labels, gold = made(seed=2, tasks=150)
    gold = gold[:60]
    result = DOORS[door](labels, gold)
    said = result.to_dict()
    low, high = said["error_interval"]
    assert 0 <= low <= said["error_measured"] <= high <= 1
    assert low < high
    assert "majority" in result.summary()
    if door == "collect":  # a majority for the same money, which is less than all labels cost
        assert 0 <= said["error_majority"] <= 1
    else:
        assert said["error_majority"] == pytest.approx(by_hand(labels, gold))


@pytest.mark.release
@pytest.mark.parametrize("door", ["hire", "aggregate", "plan"])
def test_the_warning_comes_where_errors_go_together_and_only_there(copied, apart, door):
    assert "independent ones" in copied[door].details()
    assert copied[door].to_dict()["effective_workers"] < copied[door].error.workers
    assert "independent ones" not in apart[door].details()
    together = copied[door].to_dict()
    assert together["error_measured"] > together["error_independent"]


@pytest.mark.release
def test_a_plan_of_several_classes_is_measured_too():
    """Independent workers: the interval holds what the plan expects of its own vote."""
    rng = np.random.default_rng(5)
    labels, _, truth = crowd(rng, 240, 9, rng.uniform(0.6, 0.9, 9), classes=3)
    gold = pd.Series([f"c{k}" for k in truth], index=[f"t{i}" for i in range(240)])
    found = wb.plan(labels, gold[:160], list(range(20)), epsilon=0.12, capacity=14)
    told = found.to_dict()
    low, high = told["error_interval"]
    assert low <= told["error_exact"] <= high
    assert told["tasks_measured"] == 160
    assert 1 < told["effective_workers"] <= 9
    assert found.error.measured.met > 0.9
    few = labels.groupby("task").head(2)  # whoever comes first
    scarce = wb.plan(few, gold, list(range(20)), epsilon=0.12, capacity=14)
    assert scarce.error.measured.met < 0.5
    assert "fewer labels, and may be too high" in scarce.details()
    assert MEASURED in found.details()


def test_without_gold_nothing_is_measured():
    plan = wb.plan(tasks=["a"], skills={"ann": 0.9, "bob": 0.9}, epsilon=0.2, capacity=1)
    labels, _ = made(tasks=40)
    bare = wb.aggregate(labels, method="majority")
    for found in (plan, bare):
        told = found.to_dict()
        assert [told[key] for key in KEYS] == [None, None, None, 0]
        assert told["effective_workers"] is None
        assert MEASURED not in found.details()


def test_of_labels_the_measure_is_the_share_of_wrong_ones():
    labels, gold = made(tasks=150)
    found = wb.aggregate(labels, method="majority", truth=gold[:100])
    measured = found.error.measured
    assert measured.wrong / 100 == pytest.approx(1 - found.accuracy)
    assert measured.tasks_left == 50
    assert measured.unstable == 0
    whole = wb.aggregate(labels, method="majority", truth=gold)
    assert whole.error.measured.tasks_left is None  # of any number of further tasks


def test_control_tasks_are_neither_judged_nor_left():
    labels, gold = made(tasks=150)
    found = wb.aggregate(
        labels, method="weighted-linear", gold=gold[:40], truth=gold[:100]
    ).error.measured
    assert (found.tasks_measured, found.tasks_left) == (60, 50)


@pytest.mark.release
@pytest.mark.skipif(
    not os.environ.get("WORKBENCH_DATA"), reason="WORKBENCH_DATA names no folder of data sets"
)
def test_on_bluebird_the_interval_holds_where_the_prediction_does_not():
    labels, gold = wb.load("bluebird")
    held, under = 0, 0
    for seed in range(10):
        control = gold.sample(40, random_state=seed)
        rest = gold.drop(control.index)
        hired = wb.hire(labels, control, budget=10, rule="selected")
        voted = wb.aggregate(
            labels, workers=hired, method="weighted-linear", gold=control, truth=rest
        )
        actual = 1 - voted.accuracy
        low, high = hired.to_dict()["error_interval"]
        held += low - 1e-9 <= actual <= high + 1e-9
        under += hired.to_dict()["error_predicted"] < actual
    assert held >= 7
    assert under >= 9


@pytest.mark.release
def test_the_same_seed_measures_the_same():
    labels, gold = made(tasks=80)
    one, two = (wb.hire(labels, gold[:40], budget=4, seed=3) for _ in range(2))
    assert one == two
    assert np.isfinite(one.to_dict()["error_measured"])
    assert isinstance(one.to_frame(), pd.DataFrame)


def crowd_of_a_rare_class(share, departing):
    """Ten labels a task, nine workers who say "no" to nearly all, one who names others."""
    rng = np.random.default_rng(0)
    truth = rng.random(200) < share
    rows = []
    for task, rare in enumerate(truth.tolist()):
        for worker in range(5):
            said = rare if worker < 2 or not departing else rare and rng.random() < 0.3
            rows.append((task, f"w{worker}", "yes" if said else "no"))
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def test_a_model_far_from_the_majority_on_unequal_classes_comes_with_a_warning():
    labels = crowd_of_a_rare_class(0.15, departing=True)
    answers = wb.aggregate(labels, method="dawid-skene-smoothed")
    majority = wb.aggregate(labels, method="majority")
    departing = (answers.labels != majority.labels).mean()
    assert departing >= 0.05, "the crowd does not show it"
    assert "of the tasks are of one class" in answers.summary()
    assert f"{departing:.1%}".split(".")[0] in answers.summary()
    assert "one class" not in majority.summary()


@pytest.mark.parametrize(("share", "departing"), [(0.5, True), (0.15, False)])
def test_no_warning_of_equal_classes_or_of_answers_that_are_the_majoritys(share, departing):
    labels = crowd_of_a_rare_class(share, departing)
    assert "one class" not in wb.aggregate(labels, method="dawid-skene-smoothed").summary()


@pytest.mark.release
@pytest.mark.parametrize(("seed", "all_at_once_are_better"), [(2, True), (5, False)])
def test_learn_says_when_all_labels_at_once_are_better_by_how_much(seed, all_at_once_are_better):
    labels, gold = made(seed=seed, tasks=150)
    learnt = wb.learn(labels, gold[:60])
    said, at_once = learnt.to_dict(), wb.aggregate(labels, gold=gold[:60]).to_dict()
    assert said["error_aggregate"] == pytest.approx(at_once["error_measured"])
    assert said["aggregate_method"] == at_once["method"]
    better = said["error_measured"] - said["error_aggregate"]
    assert (better > 1e-9) == all_at_once_are_better
    assert (f"{100 * better:.2g} points less" in learnt.summary()) == all_at_once_are_better
    assert ("workbench aggregate" in learnt.summary()) == all_at_once_are_better


def test_learn_without_gold_points_to_aggregate():
    labels, _ = made(seed=2, tasks=60)
    assert "'workbench aggregate' makes use of each" in wb.learn(labels).summary()


@pytest.mark.release
def test_a_plan_that_misses_on_gold_what_it_is_asked_is_not_to_be_bought():
    """On a third of the tasks everybody errs: no number of labels helps, and the gold says so."""
    labels, _, truth = crowd(np.random.default_rng(4), 200, 12, 0.97, missing=0.0, hard=0.35)
    gold = pd.Series([f"c{k}" for k in truth], index=[f"t{i}" for i in range(200)])
    plan = wb.plan(labels, gold, list(range(200)), epsilon=0.22, capacity=200)
    told = plan.to_dict()
    assert told["error_exact_most"] <= 0.22 < told["error_interval"][0]
    assert plan.summary().startswith("Do not buy this yet")
    assert "Asked was 22 % at most. Next:" in plan.summary()
    easy, _, truth = crowd(np.random.default_rng(4), 200, 12, 0.97, missing=0.0)
    gold = pd.Series([f"c{k}" for k in truth], index=[f"t{i}" for i in range(200)])
    kept = wb.plan(easy, gold, list(range(200)), epsilon=0.22, capacity=200)
    assert kept.summary().startswith("Buy ")
    assert "Asked was" not in kept.summary()


@pytest.mark.release
@pytest.mark.parametrize("majority_errs", [True, False])
def test_hire_says_by_how_many_points_it_beats_or_misses_the_majority(majority_errs):
    rng = np.random.default_rng(8)
    skill = np.r_[np.full(2, 0.97), np.full(17, 0.5 if majority_errs else 0.95)]
    labels, _, truth = crowd(rng, 120, 19, skill, missing=0.0)
    gold = pd.Series([f"c{k}" for k in truth], index=[f"t{i}" for i in range(120)])
    hires = wb.hire(labels, gold[:60], budget=3)
    known = hires.to_dict()
    points = 100 * (known["error_measured"] - known["error_majority"])
    if majority_errs:
        assert f"errs on {-points:.2g} points less (90 % interval " in hires.summary()
        assert "), more than chance explains." in hires.summary()
    else:
        assert "errs as often" in hires.summary() or "may be chance" in hires.summary()
