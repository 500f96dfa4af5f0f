"""`wb.check`: what it says of crowds of which the truth is known."""

import os

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.crowd import gold_rule


def made(seed=0, tasks=100, workers=9, missing=0.1, copies=(), liar=None):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=tasks)
    right = rng.random((tasks, workers)) < rng.uniform(0.65, 0.9, workers)
    if liar is not None:
        right[:, liar] = rng.random(tasks) < 0.1
    for other in copies[1:]:
        right[:, other] = right[:, copies[0]]
    label = np.where(right, truth[:, None], 1 - truth[:, None])
    task, worker = np.nonzero(rng.random(right.shape) >= missing)
    rows = {"task": task, "worker": [f"w{j}" for j in worker], "label": label[task, worker]}
    labels = pd.DataFrame(rows).replace({"label": {0: "no", 1: "yes"}})
    return labels, pd.Series(np.where(truth == 1, "yes", "no"))


def test_three_copycats_are_named_as_a_group():
    labels, gold = made(copies=(1, 4, 6))
    found = wb.check(labels, gold)
    assert found.groups == [["w1", "w4", "w6"]]
    assert any("w1, w4, w6" in warning for warning in found.warnings)
    told = found.to_dict()
    assert told["groups"] == [["w1", "w4", "w6"]]
    assert told["effective_workers"] < 9
    marked = found.to_frame().set_index("worker")["group"]
    assert marked[["w1", "w4", "w6"]].tolist() == [1, 1, 1]
    assert marked.drop(["w1", "w4", "w6"]).isna().all()


@pytest.mark.release
def test_an_independent_crowd_is_not_warned_of():
    warned = [bool(wb.check(*made(seed)).warnings) for seed in range(8)]
    assert sum(warned) <= 1


def test_who_is_below_chance_and_what_is_written_twice_is_told():
    labels, gold = made(3, liar=2)
    labels.loc[labels.index[:2], "label"] = ["NO", " Yes"]
    labels = pd.concat([labels, labels.iloc[5:8], labels.iloc[9:10].assign(label="no")])
    found = wb.check(labels, gold)
    told = "\n".join(found.warnings)
    assert "w2" in told
    assert found.to_frame().set_index("worker")["below_chance"]["w2"]
    assert "labelled more than once" in told
    assert "NO" in told
    assert found.to_dict()["classes_alike"] == [["no", "NO"], ["yes", " Yes"]]
    assert found.repeated.pairs == 4
    assert "group" not in found.to_frame()["worker"].tolist()
    assert "warning: " in found.details()


def test_gold_of_some_tasks_is_enough_and_none_for_a_worker_is_said():
    labels, gold = made(4)
    extra = pd.DataFrame({"task": [99], "worker": ["new"], "label": ["no"]})
    found = wb.check(pd.concat([labels[labels["task"] != 99], extra]), gold[:50])
    row = found.to_frame().set_index("worker").loc["new"]
    assert row["answered"] == 0
    assert np.isnan(row["skill"])
    assert (row["low"], row["high"]) == (0.0, 1.0)
    assert "nothing is known: 1" in found.details()
    assert found.to_dict()["gold_tasks"] == 50


def test_it_says_what_more_gold_would_tell():
    labels, gold = made(4)
    found = wb.check(labels, gold[:10])
    many = found.counts["tasks"]
    assert f"known to ± {found.gold_needed(10)[0]:.2g} for the other tasks" in found.details()
    assert f"40 would make it ± {found.gold_needed(40)[0]:.2g}" in found.details()
    assert found.gold_needed(40)[0] < found.gold_needed(10)[0]
    assert found.to_dict()["majority"]["gold_tasks"] == 10
    assert "which are all tasks" in wb.check(labels, gold[:many]).details()


def test_labels_of_one_worker_of_several_classes_some_missing():
    alone = pd.DataFrame({"task": list("abcdef"), "worker": "ann", "label": list("xyzxyz")})
    found = wb.check(alone, {"a": "x", "b": "z"})
    assert "no task with two labels" in found.details()
    assert found.to_dict()["agreement"]["alpha"] is None
    both = pd.concat([alone, alone[:4].assign(worker="bob", label=list("xyzy"))])
    found = wb.check(both, {"a": "x", "b": "z"})
    # By hand: coincidences xx 2, yy 2, zz 2, xy 1, yx 1 of eight: α = 1 − 7 · 2 / (64 − 22).
    assert found.agreement.pairwise == 0.75
    assert found.agreement.alpha == pytest.approx(1 - 7 * 2 / (64 - 22))
    assert found.plot() is not None


@pytest.mark.slow
def test_it_is_drawn():
    from workbench.plots import as_png

    for copies in ((), (0, 1, 2)):
        assert as_png(wb.check(*made(copies=copies)).plot())[:4] == b"\x89PNG"


def test_the_picture_has_the_numbers_of_the_verdict():
    labels, gold = made()
    found = wb.check(labels, gold)
    alpha = found.agreement
    told = f"{alpha.alpha:.3f} (95 % interval {alpha.low:.3f} to {alpha.high:.3f}"
    figure = found.plot()
    title = " ".join(figure.get_suptitle().split())
    assert told in title
    assert told in "\n".join(found.verdict())
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    guess = next(line for name, line in lines.items() if "commonest class" in str(name))
    share = gold.value_counts(normalize=True).max()
    assert guess.get_ydata()[0] == pytest.approx(share)
    assert found.to_dict()["guess"] == pytest.approx(share)


@pytest.mark.skipif(
    not os.environ.get("WORKBENCH_DATA"), reason="WORKBENCH_DATA names no folder of data sets"
)
def test_bluebird_is_worth_seven_workers():
    labels, gold = wb.load("bluebird")
    found = wb.check(labels, gold)
    assert 5 < found.effective_workers < 10
    assert found.found.overall.shown
    assert any("independent" in warning for warning in found.warnings)


@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_says_the_same(seed):
    labels, gold = made(5)
    assert wb.check(labels, gold, seed=seed) == wb.check(labels, gold, seed=seed)


def test_without_gold_it_says_how_far_each_agrees_with_the_others():
    labels, _ = made(5, tasks=30)
    found = wb.check(labels)
    told = found.to_frame().set_index("worker")["agrees"]
    for worker, own in labels.groupby("worker"):
        shares = []
        for task, label in zip(own["task"], own["label"], strict=True):
            others = labels[(labels["task"] == task) & (labels["worker"] != worker)]["label"]
            shares += [(others == label).mean()] if len(others) else []
        assert told[worker] == pytest.approx(np.mean(shares))
    assert "no gold" in found.details()
    assert "skill" not in found.details()
    assert found.to_dict()["effective_workers"] is None


@pytest.mark.release
def test_thousands_of_classes_are_looked_at_a_part_at_a_time(monkeypatch):
    rng = np.random.default_rng(3)
    task = np.repeat(np.arange(300), 3)
    label = np.where(rng.random(900) < 0.7, task, rng.integers(0, 300, 900))
    worker = np.tile(["a", "b", "c"], 300)
    labels = pd.DataFrame({"task": task, "worker": worker, "label": label})
    gold = pd.Series(range(300), name="gold")
    whole = wb.check(labels, gold).majority.wrong
    shapes = []
    made = gold_rule.chances
    monkeypatch.setattr(gold_rule, "PART", 5000)
    monkeypatch.setattr(gold_rule, "chances", lambda *a: shapes.append(a[-1]) or made(*a))
    parts = wb.check(labels, gold).majority.wrong
    assert max(n * L for n, L in shapes) <= 5000
    assert parts == pytest.approx(whole)
