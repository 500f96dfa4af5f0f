"""Ratings collected by name: whom is asked, when it ends, what is kept, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.core.release import RELEASE
from workbench.collection.desk import Desk

SCALE = (0.0, 100.0)
WORKERS = {"ann": 4.0, "bob": 8.0, "cid": 14.0, "dot": 20.0, "eve": 25.0, "fay": 30.0, "gil": 9.0}
"""Each worker, and the standard deviation of what she says."""
TRUTH = {f"t{i}": float(z) for i, z in enumerate(np.random.default_rng(1).uniform(15, 85, 32))}
HIDDEN = {task: round(2 * z) / 2 for task, z in list(TRUTH.items())[:20]}
PRICES = dict(zip(WORKERS, (3.0, 1.0, 2.0, 1.0, 0.5, 1.0, 1.5), strict=True))
SHARED = dict(zip(TRUTH, np.random.default_rng(2).normal(size=len(TRUTH)), strict=True))


def rating(task: str, worker: str, shared: float = 2.0) -> float:
    """What a worker says of a task, to half a point, whenever she is asked."""
    noise = np.random.default_rng([*task.encode(), *worker.encode()]).normal()
    value = 0.8 * TRUTH[task] + 8.0 + shared * SHARED[task] + WORKERS[worker] * noise
    return float(np.clip(round(2 * value) / 2, *SCALE))


def begun(**changes) -> wb.Collector:
    terms = {"scale": SCALE, "hidden": HIDDEN, "epsilon": 9.0, "seed": 3, **changes}
    return wb.Collector(list(TRUTH), list(WORKERS), **terms)


def collected(collector: wb.Collector, most: int | None = None, says=rating) -> list[wb.Question]:
    """Ask and answer until nothing is asked; all questions."""
    asked = []
    while questions := collector.next(None, most):
        asked += questions
        for question in questions:
            collector.tell(question.worker, {question.task: says(question.task, question.worker)})
    return asked


def on_record(table: pd.DataFrame) -> pd.DataFrame:
    return wb.read_labels(table[["task", "worker", "label"]], scale=SCALE)


@pytest.mark.slow
@pytest.mark.parametrize("goal", [{"epsilon": 7.0}, {"epsilon": None, "total": 170.0}])
def test_each_pair_asked_lowers_the_variance_most_for_its_price(goal):
    """By enumeration of all pairs, with precisions and floors as `hire` has them."""
    collector = begun(people=wb.People(costs=PRICES, capacity=28), **goal)
    start, bar = collector.policy.start, 0.0 if goal["epsilon"] is None else goal["epsilon"] ** 2
    chosen, known = 0, (-1, {}, None)
    while questions := collector.next(None, 1):
        ((task, worker, _),) = questions
        labels, ledger = collector.labels(), collector.ledger
        rated = labels.groupby("task").size().reindex(list(TRUTH)).fillna(0)
        if (rated[list(HIDDEN)] >= start).all():
            fitted = collector.policy.fitted[0]
            if known[0] != fitted:
                found = wb.hire(on_record(labels[:fitted]), pd.Series(HIDDEN), budget=1)
                precision = found.workers.set_index("worker")["precision"].to_dict()
                taught = found.taught
                own = taught.model.with_floor(taught.fitted_floor)
                terms = (taught.model if bar else own).terms
                known = fitted, precision, terms
            _, precision, terms = known
            have = dict.fromkeys(TRUTH, 0.0)
            for row in labels.itertuples():
                have[row.task] += precision[row.worker]
            pairs = set(zip(labels["task"], labels["worker"], strict=True))
            worth = {}
            for t, p in have.items():
                for w, tells in precision.items():
                    spent = ledger.left[collector.workers[w]] + (w == worker) == 0
                    dear = PRICES[w] > ledger.money + PRICES[worker]
                    if (t, w) in pairs or spent or dear:
                        continue
                    least = bar if rated[t] else 0.0
                    after = max(float(terms.error(p + tells)) ** 2, least)
                    worth[t, w] = (float(terms.error(p)) ** 2 - after) / PRICES[w]
            if worth[task, worker] > 0 and (bar == 0 or float(terms.error(have[task])) ** 2 > bar):
                assert worth[task, worker] == pytest.approx(max(worth.values()), rel=1e-6)
                chosen += 1
        collector.tell(worker, {task: rating(task, worker)})
    assert chosen >= 10


@pytest.fixture(scope="module")
def finished():
    """A collection of 9 points a task that has ended, and what it asked."""
    collector = begun()
    return collector, collected(collector)


def test_answers_are_those_of_aggregate_and_closed_where_their_error_is_within(finished):
    collector, _ = finished
    answers = collector.answers()
    assert list(answers.columns) == ["task", "label", "error", "closed"]
    found = wb.aggregate(on_record(collector.labels()), pd.Series(HIDDEN)).table
    found = found.set_index("task").loc[answers["task"]]
    assert answers["label"].tolist() == pytest.approx(found["label"].tolist())
    assert answers["error"].tolist() == pytest.approx(found["standard_error"].tolist())
    assert answers["closed"].tolist() == (answers["error"] <= 9.0 + 1e-6).tolist()
    assert answers["closed"].all()
    standing = wb.standing(collector)
    assert (standing.state, standing.closed) == ("reached", len(TRUTH))
    assert standing.measured.value < standing.measured_mean.value
    assert json.dumps(standing.to_dict())
    off = answers.set_index("task")["label"] - pd.Series(TRUTH)
    assert np.sqrt((off**2).mean()) < 9.0


def test_all_in_the_mean_take_less_than_each(finished):
    collector, asked = finished
    mean = begun(closing=wb.ClosingRules(mean=True))
    assert len(collected(mean)) <= len(asked)
    error = mean.answers()["error"]
    assert np.sqrt((error**2).mean()) <= 9.0 + 1e-6
    assert error.max() > collector.answers()["error"].max()
    assert mean.answers()["closed"].all()


def test_prices_that_double_change_the_cost_alone():
    once, twice = (
        begun(total=120.0 * by, people=wb.People(costs={w: by * p for w, p in PRICES.items()}))
        for by in (1, 2)
    )
    assert collected(once) == collected(twice)
    assert twice.cost == 2 * once.cost
    assert once.answers().equals(twice.answers())


def test_a_scale_that_is_stretched_and_moved_moves_answers_alike(finished):
    def moved(value):
        return 2.0 * value + 16.0

    plain, asked = finished
    other = begun(
        scale=(moved(0.0), moved(100.0)),
        hidden={task: moved(value) for task, value in HIDDEN.items()},
        epsilon=18.0,
    )
    assert asked == collected(other, says=lambda task, worker: moved(rating(task, worker)))
    first, second = plain.answers(), other.answers()
    assert second["label"].tolist() == pytest.approx(moved(first["label"]).tolist())
    assert second["error"].tolist() == pytest.approx((2 * first["error"]).tolist())


def test_what_nobody_can_tell_is_said_and_little_is_spent_on_it():
    """What all who rate a task share makes 20 points: 5 cannot be had, and known tasks say so."""

    def together(task, worker):
        return rating(task, worker, 20.0)

    collector = begun(epsilon=5.0)
    asked = collected(collector, says=together)
    standing = wb.standing(collector)
    assert "out of reach however many rate a task" in standing.reach
    assert standing.closed == 0
    assert not collector.asks_more()
    assert sum(question.task not in HIDDEN for question in asked) == len(TRUTH) - len(HIDDEN)


def test_a_budget_is_spent_even_where_ratings_tell_nothing():
    """By chance numbers the floor is raised without end, and no rating lowers any variance."""

    def anything(task, worker):
        return float(np.random.default_rng([*worker.encode(), *task.encode()]).uniform(0, 100))

    collector = begun(epsilon=None, total=150.0)
    assert len(collected(collector, says=anything)) == 150
    assert wb.standing(collector).state == "spent"


def test_tasks_that_those_who_are_left_cannot_close_are_left_open():
    rows = [
        (task, worker)
        for task in TRUTH
        for worker in WORKERS
        if task not in ("t30", "t31") or worker in ("eve", "fay")
    ]
    available = pd.DataFrame(rows, columns=["task", "worker"])
    collector = begun(epsilon=8.0, people=wb.People(available=available))
    asked = collected(collector)
    open_tasks = collector.answers().set_index("task")["closed"]
    assert not open_tasks["t30"]
    assert not open_tasks["t31"]
    assert open_tasks.drop(["t30", "t31"]).all()
    assert set(collector.left_open()["task"]) == {"t30", "t31"}
    assert np.isinf(collector.left_open()["cost"]).all()
    assert "off by" in wb.standing(collector).reach
    assert {q.worker for q in asked if q.task in ("t30", "t31")} <= {"eve", "fay"}


@pytest.mark.slow
@settings(max_examples=20 if RELEASE else 2, deadline=None)
@given(seed=st.integers(0, 999))
def test_in_a_journal_it_is_as_in_memory_to_the_last_bit(seed, tmp_path_factory):
    """Opened anew at any step, with ratings given up, late, taken back and undone."""
    path = tmp_path_factory.mktemp("ratings") / "labels.sqlite"
    rng = np.random.default_rng(seed)
    terms = {
        "people": wb.People(costs={"ann": 0.5}, capacity=24, newcomers=1),
        "closing": wb.ClosingRules(least=1, most=5),
        "total": 110.0,
        "epsilon": [None, 7.0][seed % 2],
    }
    both = [begun(**terms), begun(**terms, path=path)]
    late = []
    for _ in range(14):
        worker = rng.choice([*WORKERS, None])
        most = int(rng.integers(5, 25))
        asked, same = (collector.next(worker, most) for collector in both)
        assert asked == same
        gone = {question for question in asked if rng.random() < 0.1}
        for question in asked:
            said = None if question in gone else rating(question.task, question.worker) * 0.99
            for collector in both:
                collector.tell(question.worker, {question.task: said})
        late += sorted(gone)
        if late and rng.random() < 0.3 and both[0].ledger.money >= 1.0:
            question = late.pop()
            for collector in both:
                collector.tell(question.worker, {question.task: 100 / 3})
        if asked and asked[0] not in gone and rng.random() < 0.2:
            for collector in both:
                collector.take_back(asked[0].worker, [asked[0].task])
        if asked and rng.random() < 0.1:
            for collector in both:
                collector.undo(1)
            late = []
        if rng.random() < 0.3:
            both[1].close()
            both[1] = wb.Collector.open(path)
        if rng.random() < 0.2:
            both[0].status()  # looking changes nothing
        ledger = both[0].ledger
        assert ledger.counts.max() <= 5
        assert ledger.left.min() >= 0
    looks = [
        (
            collector.answers().to_dict("list"),
            collector.status(),
            collector.waiting(),
            collector.labels().drop(columns="time").to_dict("list"),
            wb.standing(collector).to_dict()["measured"],
        )
        for collector in (*both, wb.Collector.open(path))
    ]
    assert repr(looks[0]) == repr(looks[1]) == repr(looks[2])


def test_a_snapshot_holds_the_ratings_too(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.collection.kept.EVERY", 20)
    collector = begun(path=tmp_path / "c.sqlite", total=60.0)
    collected(collector, 3)
    again = wb.Collector.open(tmp_path / "c.sqlite")
    assert again._kept > 0
    assert again.labels().equals(collector.labels())
    assert again.answers().equals(collector.answers())


def test_no_rating_is_rounded(tmp_path):
    said = [3.5, 0.1 + 0.2, 1 / 3, 100, "37.25", np.float64(99.99999999999999), -0.0]
    collector = begun(path=tmp_path / "c.sqlite")
    for value in said:
        (asked,) = collector.next("ann", 1)
        collector.tell("ann", {asked.task: value})
        collector.tell("ann", {asked.task: value})  # again, alike: counts once
        with pytest.raises(wb.InputError, match="again, and otherwise"):
            collector.tell("ann", {asked.task: 50.125})
    collector.close()
    collector = wb.Collector.open(tmp_path / "c.sqlite")
    labels = collector.labels()
    assert labels["label"].tolist() == [float(value) for value in said]
    assert labels.attrs["scale"] == SCALE
    assert labels.loc[labels["hidden"], "gold"].tolist() == [
        HIDDEN[task] for task in labels.loc[labels["hidden"], "task"]
    ]
    assert "= 37.25" in " ".join(collector.history()["details"])
    collector.undo(2)
    collector.take_back("ann", [labels["task"][0]])
    assert collector.labels()["label"].tolist() == [float(value) for value in said[1:-1]]


def test_a_newcomer_meets_hidden_tasks_among_others():
    collector = begun(people=wb.People(newcomers=1))
    collected(collector)
    collector.add(["late 1", "late 2", "late 3", "late 4"])
    asked = [question.task for question in collector.next("gus", 30)]
    assert sum(task in HIDDEN for task in asked) == 5
    assert {task for task in asked if task not in HIDDEN} == {f"late {k}" for k in (1, 2, 3, 4)}
    assert [task in HIDDEN for task in asked[:8]] == 4 * [True, False]


def test_gold_tasks_apart_and_ratings_on_record_count():
    gold = {f"g{i}": 20.0 + 3 * i for i in range(20)}
    have = pd.DataFrame(
        [("t30", "ann", 61.5), ("t31", "ann", 40)], columns=["task", "worker", "label"]
    )
    collector = begun(gold=gold, hidden=None, people=wb.People(have=have))
    asked = collector.next(None, 10)
    assert all(question.gold for question in asked)
    TRUTH.update(gold)
    SHARED.update(dict.fromkeys(gold, 0.0))
    try:
        for question in asked:
            said = rating(question.task, question.worker)
            collector.tell(question.worker, {question.task: said})
        collected(collector)
    finally:
        for name in gold:
            del TRUTH[name], SHARED[name]
    status = collector.status()
    assert status["gold_labels"] >= 6 * len(gold)
    assert status["on_record"] == 2
    assert status["cost"] == status["labels"] + status["gold_labels"]
    assert collector.answers()["closed"].all()


@pytest.mark.parametrize(
    "changes",
    [
        {"classes": ["a", "b"]},
        {"class_share": {"a": 0.1}},
        {"loss": {"a": 2}},
        {"people": wb.People(groups={"ann": "m"})},
        {"people": wb.People(skills={"ann": 0.9})},
        {"policy": "until-trusted"},
        {"policy": "fixed"},
        {"policy": "ls-ol"},
        {"epsilon": 100.0},
        {"epsilon": 0.0},
        {"epsilon": None},
        {"hidden": dict(list(HIDDEN.items())[:19])},
        {"hidden": HIDDEN | {"t0": 101}},
        {"hidden": HIDDEN | {"t0": "high"}},
        {"scale": (5, 5)},
        {"scale": (1, 2, 3)},
    ],
)
def test_what_ratings_have_not_is_refused_in_one_line(changes):
    with pytest.raises(wb.InputError) as refused:
        begun(**changes)
    assert "\n" not in str(refused.value)


def test_ratings_off_the_scale_and_rooms_without_ratings_are_refused(tmp_path):
    collector = begun(path=tmp_path / "c.sqlite")
    (asked,) = collector.next("ann", 1)
    for value in (100.5, -1, "high", True, float("inf"), [3]):
        with pytest.raises(wb.InputError, match="give ratings from 0 to 100"):
            collector.tell("ann", {asked.task: value})
    assert len(collector.labels()) == 0
    for room in (
        lambda: Desk(collector),
        lambda: wb.audit_collection(collector, price=2.0),
        lambda: collector.record(pd.DataFrame({"task": [], "worker": [], "label": []})),
        lambda: collector.change(epsilon=200),
    ):
        with pytest.raises(wb.InputError):
            room()
    with pytest.raises(wb.InputError, match="is for ratings: give their `scale`"):
        wb.Collector(["a"], ["ann"], classes=[0, 1], epsilon=0.1, policy="ratings")
    with pytest.raises(wb.InputError, match="is for ratings: give their `scale`"):
        wb.collect(wb.simulate(tasks=5, workers=3), epsilon=0.1, policy="ratings")
