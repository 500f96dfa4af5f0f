"""Ratings through the verbs that classes go through."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import workbench as wb
from workbench.accuracy.krippendorff import alpha
from workbench.accuracy.root_mean_square import root_mean_square
from workbench.cli.app import main
from workbench.crowd.votes import Votes

SCALE = (0, 100)
HIDES = wb.KnownTasks(hidden_tasks=25)


@pytest.fixture(scope="module")
def crowd() -> tuple[pd.DataFrame, pd.Series]:
    """Sixty tasks rated by six of twelve workers: the last always says 40, the first is precise."""
    rng = np.random.default_rng(0)
    truth = rng.uniform(20, 80, 60)
    noise = np.array([3.0, *np.linspace(8, 25, 10), 0.0])
    off = rng.normal(0, 2, 60)
    rows = [
        (
            f"t{i}",
            f"w{j}",
            40
            if j == 11
            else round(np.clip(0.9 * z + 4 + off[i] + noise[j] * rng.normal(), 0, 100)),
        )
        for i, z in enumerate(truth)
        for j in rng.choice(12, 6, replace=False)
    ]
    labels = wb.read_labels(pd.DataFrame(rows, columns=["task", "worker", "label"]), scale=SCALE)
    gold = pd.Series(truth, index=[f"t{i}" for i in range(60)], name="gold")
    return labels, gold


def test_estimates_are_measured_left_out_and_nearer_than_means(crowd):
    labels, gold = crowd
    found = wb.aggregate(labels, gold)
    error = found.error
    assert found.method == "precisions"
    assert error.estimate.tasks == 60
    assert error.estimate.value < error.mean.value
    means = labels.groupby("task")["label"].mean()
    assert error.mean.value == pytest.approx(np.sqrt(((means - gold) ** 2).mean()))
    assert error.estimate.low < error.estimate.value < error.estimate.high
    assert error.foretold == pytest.approx(error.estimate.value, rel=0.05)
    assert found.answers.between(*SCALE).all()
    assert found.to_frame().attrs["scale"] == (0, 100)
    text = found.summary(details=True)
    assert "points in root mean square, measured on 60 gold tasks" in text
    assert found == wb.aggregate(labels, gold)
    assert json.dumps(found.to_dict())


def test_without_gold_means_and_no_promise(crowd):
    labels, gold = crowd
    found = wb.aggregate(labels)
    assert found.method == "mean"
    assert found.error is None
    assert found.table["standard_error"].isna().all()
    assert "nothing is promised" in found.summary()
    median = wb.aggregate(labels, method="median").answers
    assert median["t0"] == labels[labels["task"] == "t0"]["label"].median()
    few = wb.aggregate(labels, gold.head(10))
    assert (few.method, few.error.estimate.tasks) == ("mean", 10)
    told = wb.aggregate(labels, gold.head(30), truth=gold.tail(30))
    assert told.error.estimate.tasks == 30


def test_the_most_precise_are_hired_and_who_says_one_thing_is_not(crowd):
    labels, gold = crowd
    hires = wb.hire(labels, gold, budget=3)
    assert "w0" in hires.chosen
    assert "w11" not in wb.hire(labels, gold, budget=11).chosen
    assert hires.workers["precision"].is_monotonic_decreasing
    assert hires.promised < wb.hire(labels, gold, budget=1).promised
    assert hires.measured.tasks == 60
    theirs = wb.aggregate(labels, gold, workers=hires)
    assert set(theirs.workers["worker"]) == set(hires.chosen)
    assert "promised" in hires.summary()


def test_a_plan_keeps_what_it_promises_and_is_executed(crowd, tmp_path):
    labels, gold = crowd
    plan = wb.plan(labels, gold, tasks=[f"n{i}" for i in range(8)], epsilon=7, capacity=4)
    assert plan.solved
    assert plan.errors.max() <= 7
    assert "w11" not in set(plan.table["worker"])
    own = plan.vote.drop_duplicates("worker").set_index("worker")
    slope, floor, variance = own[["slope", "floor", "variance"]].iloc[0]
    for task, rows in plan.table.groupby("task"):
        p = [own.loc[w, "gain"] ** 2 / own.loc[w, "noise"] for w in rows["worker"]]
        off = (1 / variance + slope**2 / (floor + 1 / sum(p))) ** -0.5
        assert plan.errors[task] == pytest.approx(off)
    new = plan.table.assign(label=50.0)
    new = wb.read_labels(new, scale=SCALE)
    answers = wb.aggregate(new, plan=plan)
    assert answers.table["standard_error"].tolist() == pytest.approx(plan.errors.tolist())
    plan.vote.to_csv(tmp_path / "plan.csv", index=False)
    from_file = wb.aggregate(new, plan=tmp_path / "plan.csv")
    assert from_file.answers.tolist() == pytest.approx(answers.answers.tolist())


def test_ratings_on_record_count_toward_a_plan(crowd):
    labels, gold = crowd
    fresh = wb.plan(labels, gold, tasks=["new"], epsilon=7, capacity=4)
    rated = wb.plan(labels, gold, tasks=["t0"], epsilon=7, capacity=4)
    assert rated.on_record == 6
    assert len(rated.table) < len(fresh.table)
    assert len(rated.vote) == len(rated.table) + 6


def test_prices_decide_among_raters(crowd):
    labels, gold = crowd
    dear = {f"w{j}": 10.0 if j == 0 else 1.0 for j in range(12)}
    plan = wb.plan(labels, gold, tasks=["new"], epsilon=8, capacity=1, costs=dear)
    assert "w0" not in set(plan.table["worker"])


def test_what_cannot_be_kept_is_said(crowd):
    labels, gold = crowd
    with pytest.raises(wb.InputError, match="no number of ratings keeps it"):
        wb.plan(labels, gold, tasks=["new"], epsilon=0.01, capacity=1)
    least = wb.plan(labels, gold, tasks=["new"], epsilon=50, capacity=1).model.terms.least
    reach = wb.plan(labels, gold, tasks=["new"], epsilon=least * 1.001, capacity=1)
    assert "No plan keeps" in reach.summary()
    none = wb.plan(labels, gold, tasks=list("abcdefghij"), epsilon=7, capacity=1)
    assert "capacities do not hold so many" in none.summary()
    with pytest.raises(wb.InputError, match="fewer than 20"):
        wb.plan(labels, gold.head(19), tasks=["new"], epsilon=7, capacity=1)


def test_check_looks_at_agreement_and_at_each_worker(crowd):
    labels, gold = crowd
    found = wb.check(labels, gold)
    votes = Votes.of(labels)
    for level in ("ordinal", "interval"):
        direct = alpha(votes, votes.classes.astype(float), level)
        assert getattr(found.agreement, level).value == pytest.approx(direct.value, abs=1e-12)
    row = found.table.set_index("worker").loc["w0"]
    own = labels[labels["worker"] == "w0"]
    true = gold[own["task"]].to_numpy()
    slope, start = np.polyfit(true, own["label"], 1)
    left = own["label"] - start - slope * true
    assert row["slope"] == pytest.approx(slope)
    assert row["bias"] == pytest.approx((own["label"] - true).mean())
    assert row["noise"] == pytest.approx(np.sqrt((left**2).sum() / (len(own) - 2)))
    assert found.table.loc[0, "worker"] == "w11"
    assert "w11 always name the same rating" in found.summary()
    turned = labels.assign(
        label=np.where(labels["worker"] == "w1", 100 - labels["label"], labels["label"])
    )
    turned.attrs.update(labels.attrs)
    for gold_or_none in (gold, None):
        assert "w1 rate low what is high" in wb.check(turned, gold_or_none).summary()


def test_answers_are_audited_in_points(crowd):
    labels, gold = crowd
    answers = wb.aggregate(labels, gold)
    audit = wb.audit(answers.to_frame(), error=0.1, seed=1)
    while asked := audit.next():
        for task in asked:
            audit.tell(task, round(gold[task], 1))
    assert "points (10 % of the scale)" in audit.summary()


@pytest.mark.parametrize(
    "verb",
    [
        lambda x, g: wb.learn(x),
        lambda x, g: wb.compare(x, gold=g),
        lambda x, g: wb.collect(x, g, epsilon=9),
        lambda x, g: wb.collect(x, g, epsilon=9, policy="fixed", known=HIDES),
        lambda x, g: wb.collect(x, g, epsilon=9, audit=3.0, known=HIDES),
        lambda x, g: wb.collect(x, g, epsilon=9, loss={"1": 2}, known=HIDES),
        lambda x, g: wb.collect(x, g, total=9, known=HIDES, people=wb.People(prior="0.8:1")),
        lambda x, g: wb.collect(x, g, total=9, known=HIDES, people=wb.People(have=x)),
        lambda x, g: wb.check(x, g, judge="w0"),
        lambda x, g: wb.aggregate(x, g, method="majority"),
        lambda x, g: wb.aggregate(x, g, loss={"1": 2}),
        lambda x, g: wb.hire(x, g, budget=2, money=3.0),
        lambda x, g: wb.plan(x, g, tasks=["n"], total=5, capacity=2),
    ],
)
def test_what_ratings_have_not_is_refused_in_one_line(crowd, verb):
    with pytest.raises(wb.InputError) as refused:
        verb(*crowd)
    assert "rating" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.fixture(scope="module")
def rehearsed(crowd):
    """Nine points a task, twenty-five tasks hidden."""
    labels, gold = crowd
    return wb.collect(labels, gold, epsilon=9, known=HIDES)


def test_a_rehearsal_is_measured_on_gold_that_was_not_hidden(crowd, rehearsed):
    labels, gold = crowd
    answers, now = rehearsed.answers.set_index("task"), rehearsed.standing
    assert now.measured.tasks == len(gold) - 25
    bought = rehearsed.labels
    assert bought == rehearsed.cost == now.labels <= len(labels)
    closed = answers["closed"]
    assert closed.sum() == rehearsed.closed > 25
    assert (answers.loc[closed, "error"] <= 9 + 1e-6).all()
    assert now.measured_closed.value < 9
    assert 0.8 < now.measured.value / now.believed_error < 1.25
    assert now.measured.value < now.measured_mean.value
    assert rehearsed.to_frame().attrs["scale"] == (0, 100)
    text = rehearsed.summary(details=True)
    assert f"{len(gold) - 25} gold tasks that the policy did not see" in text
    assert "the mean of the same ratings by" in text
    assert json.dumps(rehearsed.to_dict())
    assert rehearsed == wb.collect(labels, gold, epsilon=9, known=HIDES)


def test_a_rehearsal_on_a_budget_spends_it_and_asks_what_is_on_record(crowd):
    labels, gold = crowd
    found = wb.collect(labels, gold, total=150, known=HIDES)
    assert (found.cost, found.labels, found.closed) == (150, 150, 0)
    assert found.curve["error"].iloc[-1] == pytest.approx(found.measured.value)
    assert found.curve["cost"].is_monotonic_increasing
    apart = wb.collect(labels, gold, total=150, known=wb.KnownTasks(control=0.5))
    assert apart.standing.gold_labels > 0
    assert len(apart.answers) == 30
    terms = wb.People(capacity=9, costs={f"w{j}": 1.0 + j % 2 for j in range(12)}, arrivals=True)
    one_by_one = wb.collect(labels, gold, total=120, known=HIDES, people=terms)
    assert one_by_one.cost <= 120
    assert one_by_one.labels <= 9 * 12


def test_pictures_are_drawn(crowd, rehearsed):
    labels, gold = crowd
    plan = wb.plan(labels, gold, tasks=["a", "b"], epsilon=8, capacity=2)
    for result in (
        wb.aggregate(labels, gold),
        wb.aggregate(labels),
        wb.hire(labels, gold, budget=2),
        wb.check(labels, gold),
        wb.check(labels),
        plan,
        rehearsed,
    ):
        assert all(axes.has_data() for axes in result.plot().axes)
    assert plan._repr_html_()


def test_commands_take_a_scale(crowd, tmp_path, monkeypatch):
    labels, gold = crowd
    monkeypatch.chdir(tmp_path)
    labels.to_csv("labels.csv", index=False)
    gold.rename_axis("task").to_csv("gold.csv")
    pd.DataFrame({"task": ["a", "b"]}).to_csv("tasks.csv", index=False)
    files = ["--labels", "labels.csv", "--scale", "0,100", "--gold", "gold.csv"]
    for command in (
        ["aggregate", *files, "--out", "answers.csv"],
        ["hire", *files, "--budget", "2"],
        ["check", *files],
        [
            "plan",
            *files,
            "--tasks",
            "tasks.csv",
            "--epsilon",
            "8",
            "--capacity",
            "2",
            "--vote",
            "v.csv",
        ],
        [
            "audit",
            "start",
            "a.sqlite",
            "--answers",
            "answers.csv",
            "--scale",
            "0,100",
            "--seed",
            "1",
        ],
    ):
        ran = CliRunner().invoke(main, command)
        assert ran.exit_code == 0, ran.output
        assert "points" in ran.output


@pytest.mark.slow
def test_what_is_believed_of_a_rehearsal_is_made():
    """Over draws of a crowd of which the model is true, root mean squares in points."""
    made, believed, closed = [], [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth, noise = rng.normal(50, 18, 150), np.sqrt(rng.gamma(3, 50, 20))
        off, level = rng.normal(0, 4, 150), rng.normal(15, 6, 20)
        rows = [
            (i, j, 0.6 * truth[i] + level[j] + off[i] + noise[j] * rng.normal())
            for i in range(150)
            for j in rng.choice(20, 10, replace=False)
        ]
        table = pd.DataFrame(rows, columns=["task", "worker", "label"])
        labels = wb.read_labels(table, scale=(-200, 300))
        known = wb.KnownTasks(hidden_tasks=40)
        found = wb.collect(labels, pd.Series(truth), epsilon=12, known=known, seed=seed)
        made.append(found.measured.value)
        believed.append(found.standing.believed_error)
        closed.append(found.closed)
    ratio = np.sqrt(np.mean(np.square(made)) / np.mean(np.square(believed)))
    assert 0.85 < ratio < 1.15
    assert np.mean(closed) > 140


def test_a_collection_goes_by_commands(crowd, tmp_path, monkeypatch):
    labels, gold = crowd
    monkeypatch.chdir(tmp_path)
    labels.to_csv("labels.csv", index=False)
    gold.rename_axis("task").to_csv("gold.csv")
    gold.head(25).rename_axis("task").to_csv("hidden.csv")
    pd.DataFrame({"task": gold.index}).to_csv("tasks.csv", index=False)

    def run(command, *words, code=0):
        ran = CliRunner().invoke(main, ["collect", command, *words])
        assert ran.exit_code == code, ran.output
        return ran.output

    rehearsal = ["--gold", "gold.csv", "--scale", "0,100", "--hidden-tasks", "25", "--total", "90"]
    text = run("--labels", "labels.csv", *rehearsal, "--out", "answers.csv")
    assert "points in root mean square" in text
    assert list(pd.read_csv("answers.csv")) == ["task", "label", "error", "closed"]
    begin = ["--tasks", "tasks.csv", "--workers", "3", "--scale", "0,100", "--epsilon", "9"]
    assert "each closed task is off by at most 9 points" in run(
        "start", "c.sqlite", *begin, "--hidden", "hidden.csv"
    )
    run("next", "c.sqlite", "--worker", "w1", "--most", "3", "--out", "asked.csv")
    pd.read_csv("asked.csv").assign(label=[37.5, 100, 250]).to_csv("came.csv", index=False)
    assert "outside of the scale" in run("tell", "c.sqlite", "--labels", "came.csv", code=2)
    pd.read_csv("asked.csv").assign(label=[37.5, 100, 0.125]).to_csv("came.csv", index=False)
    run("tell", "c.sqlite", "--labels", "came.csv", "--out", "so_far.csv")
    run("labels", "c.sqlite", "--out", "told.csv")
    assert pd.read_csv("told.csv")["label"].tolist() == [37.5, 100, 0.125]
    assert "w1: " in run("history", "c.sqlite")
    assert "ratings" in run("audit", "c.sqlite", "--price", "2", code=2)
    assert "ratings" in run("serve", "c.sqlite", code=2)
    ran = CliRunner().invoke(main, ["aggregate", "--labels", "c.sqlite"])
    assert "3 tasks are answered from 3 ratings" in ran.output


def test_root_mean_square_interval_holds():
    """Of normal errors, in nine of ten draws or so."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        off = rng.normal(size=60)
        found = root_mean_square(off[:20], 40)
        held += found.low <= np.sqrt((off[20:] ** 2).mean()) <= found.high
    assert 0.82 < held / 400 < 0.97
    assert np.isnan(root_mean_square(np.zeros(0)).value)
