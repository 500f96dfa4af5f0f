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
    assert len(figure.axes) == 3
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    guess = next(line for name, line in lines.items() if "commonest class" in str(name))
    share = gold.value_counts(normalize=True).max()
    assert guess.get_ydata()[0] == pytest.approx(share)
    assert found.to_dict()["guess"] == pytest.approx(share)


def test_without_gold_the_picture_is_of_agreement():
    labels, _ = made(liar=2)
    found = wb.check(labels)
    workers, tasks = found.plot().axes
    lines = {line.get_label(): line for line in workers.lines}
    named = (
        lines["worker"].get_ydata().tolist() + lines["less than by chance: 1"].get_ydata().tolist()
    )
    assert sorted(named) == sorted(found.to_frame()["agrees"])
    shares = labels["label"].value_counts(normalize=True)
    chance = next(line for name, line in lines.items() if str(name).startswith("by chance"))
    assert chance.get_ydata()[0] == pytest.approx((shares**2).sum(), abs=0.005)
    mean = next(line for name, line in lines.items() if str(name).startswith("all pairs"))
    assert mean.get_ydata()[0] == found.agreement.pairwise
    assert sum(bar.get_height() for bar in tasks.patches) == len(found.leading) == 100
    first = labels.groupby("task")["label"].value_counts(normalize=True).groupby("task").max()
    assert sorted(found.leading) == pytest.approx(sorted(first))
    assert wb.check(labels[:1]).plot() is not None


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


def judged():
    """Labels of four tasks of two classes by three workers, of whom one always says no."""
    said = {"ann": "nyyn", "bob": "nyny", "eve": "nnnn"}
    rows = [(t, w, "yes" if x == "y" else "no") for w in said for t, x in enumerate(said[w])]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    return labels, {0: "no", 1: "yes", 2: "yes", 3: "no"}


def test_workers_beside_gold_by_class():
    labels, gold = judged()
    found = wb.check(labels, gold)
    table = found.to_frame().set_index("worker")
    assert table["sensitivity"].to_dict() == {"ann": 1.0, "bob": 0.5, "eve": 0.0}
    assert table["specificity"].to_dict() == {"ann": 1.0, "bob": 0.5, "eve": 1.0}
    assert table["kappa"].to_dict() == {"ann": 1.0, "bob": 0.0, "eve": 0.0}
    assert set(table["prevalence"]) == {0.5}
    # Two of two right: the lower end is the root of .025.
    assert table.loc["ann", "sensitivity_low"] == pytest.approx(0.025**0.5)
    assert "(sensitivity: right where yes is true; specificity: right where no is)" in (
        found.summary()
    )
    rates = found.rates.set_index(["worker", "class"])
    assert rates.loc[("bob", "yes"), ["gold_answers", "right", "rate"]].tolist() == [2, 1, 0.5]
    told = found.to_dict()
    assert told["prevalence"] == {"no": 0.5, "yes": 0.5}
    assert len(told["rates"]) == 6
    assert "right on yes" in found.details()


def test_rates_of_several_classes_are_rows():
    labels = pd.DataFrame(
        {"task": [1, 2, 3, 1, 2], "worker": [*"aaabb"], "label": ["x", "y", "x", "x", "z"]}
    )
    found = wb.check(labels, {1: "x", 2: "y", 3: "z"})
    assert "sensitivity" not in found.to_frame()
    rates = found.rates.set_index(["worker", "class"])["rate"]
    assert rates.to_dict() == {
        ("a", "x"): 1.0,
        ("a", "y"): 1.0,
        ("a", "z"): 0.0,
        ("b", "x"): 1.0,
        ("b", "y"): 0.0,
    }


def test_tasks_to_look_at_again_are_least_sure_first():
    votes = {"tie": "ny", "sure": "yyy", "one": "y", "ahead": "yyn", "no": "nnny", "gold": "yyyn"}
    rows = [
        (task, f"w{at}", {"n": "no", "y": "yes"}[x])
        for task, said in votes.items()
        for at, x in enumerate(said)
    ]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    again = wb.check(labels, {"gold": "no", "sure": "yes"}).relabel
    assert again["task"].tolist() == ["gold", "tie", "ahead", "one"]
    assert again["ahead"].tolist() == [-2, 0, 1, 1]
    assert again["why"].tolist() == [
        "labels against the gold",
        "tie",
        "one label ahead",
        "one label",
    ]
    assert again["answers"].tolist()[0] == "yes: 3, no: 1"
    assert again["gold"].dropna().tolist() == ["no"]
    told = wb.check(labels).to_dict()["relabel"]
    assert [row["task"] for row in told] == ["tie", "ahead", "one"]


def test_workers_to_look_at_stand_first():
    labels, gold = made(3, tasks=200, liar=2)
    lazy = labels[labels["worker"] == "w0"].assign(worker="lazy", label="no")
    labels = pd.concat([labels[(labels["worker"] != "w2") | (labels["task"] < 150)], lazy])
    table = wb.check(labels, gold).to_frame()
    assert table["worker"].tolist()[:2] == ["w2", "lazy"]
    rest = table["high"].tolist()[2:]
    assert rest == sorted(rest)
    told = wb.check(labels).to_frame()["worker"].tolist()
    assert set(told[:2]) == {"w2", "lazy"}


def test_numbers_have_an_order_and_codes_perhaps():
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, (150, 1))
    label = np.clip(np.rint(truth + rng.normal(0, 0.8, (150, 4))), 1, 5).astype(int)
    task, worker = np.nonzero(label)
    table = pd.DataFrame({"task": task, "worker": worker, "label": label[task, worker]})
    found = wb.check(table)
    alpha = found.agreement
    assert alpha.alpha < alpha.ordinal.value
    said = "\n".join(found.verdict())
    assert (
        f"Classes read as ratings, from 1 to 5: α by order (ordinal) is {alpha.ordinal.value:.3f}"
        in said
    )
    assert found.to_dict()["agreement"]["interval"]["value"] == alpha.interval.value
    shuffled = table.assign(label=table["label"].map({1: 3, 2: 5, 3: 1, 4: 4, 5: 2}))
    assert "If the classes have an order, from 1 to 5" in "\n".join(wb.check(shuffled).verdict())
    two = table.assign(label=(table["label"] > 2).astype(int))
    assert wb.check(two).agreement.ordinal is None


def test_details_have_every_coefficient():
    labels, gold = made(3)
    found = wb.check(labels, gold)
    details = found.details()
    kappas = found.kappas
    assert f"Fleiss' κ          {kappas.fleiss:.3f}; Gwet's AC1 {kappas.ac1:.3f}" in details
    assert f"{kappas.cohen.mean:.3f} in the mean of 36 pairs of workers" in details
    told = found.to_dict()
    assert told["agreement"]["fleiss"] == kappas.fleiss
    assert told["cohen"]["of_pairs"] == len(told["cohen"]["pairs"]) == 36
    alone = wb.check(labels[labels["worker"] == "w1"]).details()
    assert "no task with two labels: α is not defined" in alone
    assert "not defined: no two workers share 5 tasks" in alone


def test_few_gold_tasks_of_a_rare_class_are_said_in_a_line():
    gold = pd.Series(["no"] * 40 + ["yes"] * 4, index=[f"t{i}" for i in range(44)])
    labels = pd.DataFrame(
        [(task, worker, label) for task, label in gold.items() for worker in "abc"],
        columns=["task", "worker", "label"],
    )
    advice = "Only 4 gold tasks are yes: ten of each class tell as much"
    assert sum(advice in line for line in wb.check(labels, gold).verdict()) == 1
    enough = gold.where(gold.index.isin([f"t{i}" for i in range(30)]), "yes")
    assert not any("ten of each" in line for line in wb.check(labels, enough).verdict())
