"""`wb.compare`: verdict, table, picture and JSON say the same; what is said of whom."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.accuracy.test_measured import crowd
from workbench.api.result import MOST, percent
from workbench.base.errors import InputError
from workbench.comparison.rows import ComparisonRow, summarise
from workbench.plots.compare import KINDS


def tables(tasks=60, missing=0.5, seed=3):
    rng = np.random.default_rng(seed)
    labels, _, truth = crowd(rng, tasks, 20, rng.uniform(0.55, 0.9, 20), missing=missing)
    return labels, pd.Series([f"c{k}" for k in truth], index=[f"t{i}" for i in range(tasks)])


@pytest.fixture(scope="module")
def compared():
    return wb.compare(*tables(), epsilon=0.2, sampling=wb.SampleOptions(gold_tasks=10))


@pytest.mark.slow
def test_verdict_json_and_picture_read_the_table(compared):
    table = compared.to_frame().set_index("method")
    rows = {row["method"]: row for row in compared.to_dict()["rows"]}
    errors = compared.plot().axes[1].collections
    bars = [bar for group in errors for bar in group.get_segments() if len(bar)]
    cheapest = table.dropna(subset=["cost"]).sort_values("cost", kind="stable")
    groups = (cheapest[cheapest["promise"] == kind] for kind in KINDS if kind != "bound")
    drawn = pd.concat([*groups])
    assert {*table.loc[table["cost"].notna(), "promise"]} <= {*KINDS}
    for (name, row), bar in zip(drawn.iterrows(), bars, strict=True):
        assert rows[name]["kept"] == row["kept"]
        assert rows[name]["promise"] == row["promise"]
        if pd.isna(row["error_measured"]):
            assert rows[name]["error_measured"] is None
            continue
        assert rows[name]["error_measured"] == row["error_measured"]
        ends = [row["error_low"], row["error_high"]]
        assert rows[name]["error_interval"] == ends
        assert bar[:, 0] == pytest.approx(ends)
    told = 0
    for sentence in compared.verdict():
        for name, row in table.iterrows():
            if f"is {name}, with {row['cost']:.6g} labels: " in sentence:
                low, high = percent(row["error_low"]), percent(row["error_high"])
                assert (
                    f"on {percent(row['error_measured'])} of {row['tasks_measured']:.0f} gold"
                    in (sentence)
                )
                assert f"(90 % interval {low} to {high})" in sentence
                told += 1
    assert told == 2
    assert len(compared.verdict()) <= MOST
    assert f"{table.loc['adaptive', 'error_measured']:.4f}" in compared.brief()


@pytest.mark.release
def test_the_first_sentence_names_the_tasks_that_are_kept(compared):
    payload = compared.to_dict()
    assert payload["tasks"] + len(payload["left_out"]) == payload["tasks_all"] == 60
    assert f"{payload['tasks']} of 60 tasks" in compared.verdict()[0]
    few = wb.compare(*tables(missing=0.7), epsilon=0.28)
    first = few.verdict()[0]
    assert 2 * few.tasks < few.tasks_all
    assert f"only {few.tasks} of 60 tasks" in first
    assert f"what follows is about these {few.tasks} alone" in first
    whole = wb.compare(*tables(missing=0.0), epsilon=0.3)
    assert ": 60 tasks, " in whole.verdict()[0]
    assert "bring" not in whole.verdict()[0]


def test_kept_only_where_all_of_the_interval_is_at_most_what_was_asked():
    ends = [(0.05, 0.1), (0.05, 0.11), (0.1, 0.2), (0.11, 0.2), (0.0, 0.05), (None, None)]
    rows = [
        ComparisonRow(str(k), "bound" if k == 4 else "each task", cost=1.0, error_low=low)
        for k, (low, _) in enumerate(ends)
    ]
    trials = pd.DataFrame([{"trial": 0, **vars(row)} for row in rows])
    trials["error_high"] = [high for _, high in ends]
    trials["error_measured"] = trials["error_low"]
    kept = summarise(trials.astype({"error_low": float}), 0.1)["kept"].tolist()
    assert kept == ["kept", "open", "open", "missed", None, None]


def test_no_bound_is_recommended(compared):
    verdict = " ".join(compared.verdict())
    for name in ("offline IP", "primal approximation", "relaxation"):
        assert name not in verdict
    last = [line.split("  ")[0] for line in compared.brief().splitlines()[-5:]]
    assert last[0] == "offline IP"


@pytest.mark.parametrize(
    "options",
    [
        {"sampling": wb.SampleOptions(skills=pd.DataFrame({"skill": [0.5]}))},
        {"sampling": wb.SampleOptions(infeasible=pd.DataFrame({"a": [1]}))},
        {"sampling": wb.SampleOptions(gamma=pd.DataFrame({"a": [1]}))},
        {"sampling": wb.SampleOptions(gain=pd.DataFrame({"a": [1]}))},
        {"epsilon": pd.DataFrame({"a": [1]})},
        {"trials": pd.DataFrame({"a": [1]})},
        {"sampling": wb.SampleOptions(time_limit=pd.DataFrame({"a": [1]}))},
        {"seed": pd.DataFrame({"a": [1]})},
    ],
    ids="-".join,
)
def test_a_table_where_none_is_taken_is_refused_in_one_line(options):
    with pytest.raises(InputError) as refused:
        wb.compare(*tables(tasks=12, missing=0.0), **{"epsilon": 0.4, **options})
    assert "\n" not in str(refused.value)


@pytest.mark.release
def test_results_made_of_frames_are_equal():
    labels, gold = tables(tasks=12, missing=0.0)
    workers = sorted(labels["worker"].unique())
    costs = pd.DataFrame({"worker": workers, "cost": 1.5})
    capacity = pd.DataFrame({"worker": workers, "capacity": 11})
    calls = [
        wb.compare(labels, gold, epsilon=0.4, costs=costs.copy(), capacity=capacity.copy())
        for _ in range(2)
    ]
    assert calls[0] == calls[1]
    assert calls[0].to_dict()["settings"]["costs"] == "costs as given"


@pytest.mark.release
def test_methods_that_are_named_have_the_rows_they_have_among_all():
    names = ["dual descent", "offline IP"]
    simulated = wb.simulate("uniform", tasks=12, workers=16, capacity=12, skill=0.9)
    few = wb.compare(simulated, methods=names, epsilon=0.3, trials=2)
    every = wb.compare(simulated, epsilon=0.3, trials=2).trials
    kept = every[every["method"].isin(names)].reset_index(drop=True)
    pd.testing.assert_frame_equal(
        few.trials.drop(columns="seconds"), kept.drop(columns="seconds"), check_dtype=False
    )
    assert few.not_run == {}
    assert few.settings["methods"] == ["offline IP", "dual descent"]
    with pytest.raises(InputError, match="did you mean 'dual descent'"):
        wb.compare(simulated, methods=["dual decent"])


@pytest.mark.release
def test_several_processes_give_what_one_gives():
    labels, gold = tables(tasks=12, missing=0.0)
    given = {"methods": ["adaptive", "offline IP"], "epsilon": 0.4, "trials": 3}
    one, two = (wb.compare(labels, gold, processes=count, **given) for count in (1, 2))
    pd.testing.assert_frame_equal(
        one.trials.drop(columns="seconds"), two.trials.drop(columns="seconds")
    )


def test_a_method_that_cannot_is_listed_with_the_reason():
    labels, gold = tables(tasks=24, missing=0.0)
    third = gold.index[::3]
    labels = labels.assign(
        label=labels["label"].where(~labels["task"].isin(third) | (labels["label"] == "c0"), "c2")
    )
    gold.loc[third] = gold.loc[third].replace("c1", "c2")
    names = ["offline IP", "re-solve", "dual descent"]
    found = wb.compare(labels, gold, methods=names, epsilon=0.4)
    assert found.to_frame()["method"].tolist() == ["offline IP", "all labels + majority"]
    reason = "made for labels of two classes, these have 3"
    assert found.not_run == dict.fromkeys(names[1:], reason)
    said = f"Not run, {reason}: re-solve, dual descent."
    assert said in found.summary()
    assert found.verdict()[0].startswith("1 method and 1 bound on ")
    assert said in found.summary(details=True)
    assert found.to_dict()["not_run"] == found.not_run
    with pytest.raises(InputError, match=r"no method is left.*two classes, these have 3"):
        wb.compare(labels, gold, methods=["dual descent"])


def test_a_method_asked_for_that_keeps_the_error_is_told_of():
    simulated = wb.simulate("uniform", tasks=12, workers=16, capacity=12, skill=0.9)
    names = ["random + majority", "re-solve", "coverage-aware"]
    found = wb.compare(simulated, methods=names, epsilon=0.3, trials=2)
    assert (found.to_frame()["kept"] == "kept").any()
    said = " ".join(found.verdict())
    for name in names:
        assert f"{name} (" in said or f"is {name}," in said
