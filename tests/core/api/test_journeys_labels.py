"""What a notebook user does with labels, each in at most five lines; ids, copies, mistakes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import workbench as wb
from tests.core.api.crowds import crowd

MIXED = {"task": lambda i: i if i % 2 else f"q{i}", "worker": lambda j: j if j < 4 else f"w{j}"}
NAMED = {
    "text": {"task": "q{}".format, "worker": "w{}".format, "label": "ny".__getitem__},
    "whole numbers": {"task": lambda i: 7 + i, "worker": lambda j: 100 - j, "label": bool},
    "mixed": {**MIXED, "label": lambda c: ("no", 1)[c]},
}
"""Names for tasks, workers and classes."""


# ---- journeys ----


def test_from_a_frame_to_labels_with_confidences(labels):
    found = wb.aggregate(labels, method="dawid-skene")
    sure = found.labels[found.confidence > 0.9]
    table = found.to_frame()

    assert found.labels.index.tolist() == labels["task"].drop_duplicates().tolist()
    assert len(sure) > 20
    assert table["label"].tolist() == found.labels.tolist()
    assert list(table) == ["task", "label", "score", "confidence", "tied", "unlabelled"]
    assert set(found.workers["worker"]) == set(labels["worker"])
    assert found.workers["skill"].between(0, 1).all()
    assert isinstance(found.plot(), Figure)


def test_from_some_gold_and_an_earlier_result_to_honest_confidences(labels, gold):
    early = wb.aggregate(labels[labels["worker"] != "w7"], gold=gold[:10])
    found = wb.aggregate(labels, gold=gold[:20], truth=gold, start=early, calibrate="gold")
    table = found.reliability

    assert (found.labels[gold.index[:20]] == gold[:20]).all()
    assert found.posterior.loc[gold.index[0], gold.iloc[0]] == 1
    assert found.posterior.max(axis=1).tolist() == pytest.approx(found.confidence.tolist())
    assert table["tasks"].sum() == 10
    assert found.to_dict()["reliability"] == table.to_dict("records")
    assert found.to_dict()["temperature"] > 0
    assert "temperature" in found.details()


@pytest.mark.slow
def test_from_a_frame_to_hires_to_a_figure(labels, gold):
    hires = wb.hire(labels, gold, budget=4)
    figure = hires.plot()
    answers = wb.aggregate(labels, method="weighted-linear", workers=hires.to_frame())

    assert isinstance(figure, Figure)
    assert hires.chosen == hires.to_frame()["worker"].tolist()
    assert 1 <= len(hires.chosen) <= 4
    assert "w7" not in hires.chosen
    assert (answers.labels[gold.index] == gold).mean() > 0.8


def test_from_recorded_labels_to_a_learning_figure(labels, gold):
    learnt = wb.learn(labels, gold)
    figure = learnt.plot()

    assert isinstance(figure, Figure)
    assert set(learnt.best_set) <= set(labels["worker"])
    assert learnt.accuracy > 0.6
    assert list(learnt.steps["task"]) == labels["task"].drop_duplicates().tolist()
    assert set(learnt.to_frame()["worker"]) == set(labels["worker"])


# ---- ids come back as they went in ----


def ids(values):
    """Values with their types, since 1 == True == 1.0."""
    return {(type(value), value) for value in values}


@pytest.mark.release
@pytest.mark.parametrize("named", NAMED)
def test_ids_come_back(named):
    labels, gold = crowd(**NAMED[named])
    text, true = crowd("q{}".format, "w{}".format, "ny".__getitem__)
    tasks, workers, classes = (labels[name].drop_duplicates().tolist() for name in labels)
    back = {
        "task": dict(zip(text["task"].unique(), tasks, strict=True)),
        "worker": dict(zip(text["worker"].unique(), workers, strict=True)),
        "label": {"n": NAMED[named]["label"](0), "y": NAMED[named]["label"](1)},
    }

    found, same = wb.aggregate(labels, method="one-coin"), wb.aggregate(text, method="one-coin")
    assert ids(found.labels.index) == ids(tasks)
    assert ids(found.labels) <= ids(classes)
    assert ids(found.workers["worker"]) == ids(workers)
    # Named otherwise, the same labels but for draws among ties.
    clear = ~same.to_frame()["tied"].to_numpy()
    expected = [back["label"][label] for label in same.labels]
    assert [a for a, c in zip(found.labels, clear, strict=True) if c] == [
        b for b, c in zip(expected, clear, strict=True) if c
    ]

    hires = wb.hire(labels, gold, budget=3)
    assert ids(hires.chosen) == ids(back["worker"][w] for w in wb.hire(text, true, budget=3).chosen)
    assert ids(hires.workers["worker"]) == ids(workers)
    assert ids(hires.to_dict()["class_names"]) == ids(classes)
    restored = wb.aggregate(labels, gold=gold, workers=hires.to_frame(), method="weighted-log-odds")
    assert ids(restored.workers["worker"]) == ids(hires.chosen)

    learnt = wb.learn(labels, gold)
    assert ids(learnt.steps["task"]) == ids(tasks)
    assert ids(learnt.steps["label"]) <= ids(classes)
    assert ids(learnt.to_frame()["worker"]) == ids(workers)
    assert ids(learnt.best_set) <= ids(workers)


@pytest.mark.release
def test_what_is_accepted_for_gold(labels, gold, files):
    one = wb.hire(labels, gold, budget=3)
    assert one == wb.hire("labels.csv", "gold.csv", budget=3)
    assert one == wb.hire(labels, gold.to_dict(), budget=3)
    assert one == wb.hire(files / "labels.csv", gold, budget=3)
    assert one != wb.hire(labels, gold[:20], budget=3)


# ---- results ----


def test_workers_of_labels(labels, gold):
    """By hand: how many labels each gave, and how many of them agree."""
    found = wb.aggregate(labels, method="weighted-linear", gold=gold)
    said = labels.assign(label=labels["label"] == labels["task"].map(found.labels))
    by_hand = said.groupby("worker")["label"].agg(["size", "mean"])
    rows = found.workers.set_index("worker")
    assert rows["labels"].to_dict() == by_hand["size"].to_dict()
    np.testing.assert_allclose(rows["agreement"], by_hand["mean"].loc[rows.index])
    tested = labels[labels["task"].isin(gold.index)]
    right = (tested["label"] == tested["task"].map(gold)).groupby(tested["worker"]).mean()
    np.testing.assert_allclose(rows["skill"], right.loc[rows.index])
    np.testing.assert_allclose(rows["weight"], 2 * right.loc[rows.index] - 1)


@pytest.mark.release
def test_gold_is_the_same_as_a_frame_a_table_or_a_series(labels, gold, tmp_path):
    frame = gold.rename_axis("HITId").rename("truth").reset_index()
    frame.to_csv(tmp_path / "gold.csv", index=False)
    for ask in (wb.check, lambda x, y: wb.hire(x, y, budget=3)):
        known = ask(labels, gold)
        assert ask(labels, frame) == ask(labels, tmp_path / "gold.csv") == known


# ---- mistakes at the door: one line each, with the mend ----


MISTAKES = {
    "no columns": (lambda x, y: wb.aggregate(x[["task", "label"]]), "no column 'worker'"),
    "labels as a Series": (lambda x, y: wb.aggregate(x["label"]), "labels: a Series; give a data"),
    "gold as a frame of something else": (
        lambda x, y: wb.hire(x, y.rename("said").reset_index(), budget=2),
        "gold: no column 'gold' (or truth",
    ),
    "gold of other classes": (
        lambda x, y: wb.hire(
            x.assign(label=(x["label"] == "y").astype(int)), y.map({"n": "0", "y": "1"}), budget=2
        ),
        "is text, and elsewhere",
    ),
    "ids that read alike": (
        lambda x, y: wb.aggregate(
            pd.concat([x.assign(task=1), x.assign(task="1", worker="v")]).drop_duplicates(
                ["task", "worker"]
            )
        ),
        "'1' is text, and elsewhere 1 is a whole number",
    ),
    "method": (lambda x, y: wb.aggregate(x, method="best"), "no aggregator 'best': there are"),
    "no start": (lambda x, y: wb.aggregate(x, start=x), "start is"),
    "a start without a fit": (
        lambda x, y: wb.aggregate(x, start=wb.aggregate(x, method="majority")),
        "start: majority fits no model to start from",
    ),
    "another start": (
        lambda x, y: wb.aggregate(x, method="bwa", start=wb.aggregate(x)),
        "start is a fit of",
    ),
    "no posterior": (lambda x, y: wb.aggregate(x, method="majority").posterior, "no posterior"),
    "idle option": (
        lambda x, y: wb.aggregate(x, method="majority", options=wb.ModelOptions(iterations=5)),
        "`iterations` is for",
    ),
    "nothing to learn": (
        lambda x, y: wb.learn(),
        "give `labels`, on record, or a crowd of `simulate`",
    ),
    "workers": (lambda x, y: wb.aggregate(x, workers=5), "workers is 5: give a list of workers"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake, labels, gold):
    call, fragment = MISTAKES[mistake]
    with pytest.raises(wb.InputError) as caught:
        call(labels, gold)
    line = str(caught.value)
    assert fragment in line
    assert "\n" not in line


def test_gold_is_second_and_measures_however_little_it_is(labels, gold):
    few = wb.aggregate(labels, gold[:8])
    blind = wb.aggregate(labels, truth=gold[:8])
    assert few.error.measured.tasks_measured == 8
    assert few.error.measured.wrong == blind.error.measured.wrong
    assert "answers made without your gold" in few.summary()
    at_gold = few.labels[gold.index[:8]]
    assert (at_gold == gold[:8]).all()
    assert wb.aggregate(labels, gold).error is not None
    assert wb.aggregate(labels, gold, method="one-coin").error is None
    with pytest.raises(TypeError):
        wb.aggregate(labels, gold, "majority")
