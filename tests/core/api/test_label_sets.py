"""Sets of labels at the front door: taken apart, answered by label, and put together again."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.core.set_crowds import NAMES, frames
from workbench import InputError
from workbench.api import inputs
from workbench.api.sets import apart
from workbench.assignment.set_plan import set_gains, set_needs
from workbench.cli.output import as_csv
from workbench.crowd.kinds import LabelSets, written
from workbench.crowd.set_votes import set_skills


@pytest.fixture(scope="module")
def crowd():
    return frames(1, tasks=120, workers=8, labels=3, each=5)


@pytest.fixture(scope="module")
def answered(crowd):
    labels, gold = crowd
    return wb.aggregate(labels, gold.iloc[:40])


@pytest.fixture(scope="module")
def planned(crowd):
    labels, gold = crowd
    return wb.plan(labels, gold, [f"n{i}" for i in range(8)], epsilon=0.1, capacity=8)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), labels=st.integers(2, 4))
def test_a_majority_by_label_counted_by_hand(seed, labels):
    table, gold = frames(seed, tasks=8, workers=5, labels=labels, each=3)
    if not any(len(each) != 1 for each in table["label"]):
        return
    found = wb.aggregate(table, truth=gold, method="majority")
    wrong = []
    for task, sets in table.groupby("task")["label"]:
        used = frozenset().union(*table["label"])
        most = frozenset(name for name in used if sum(name in each for each in sets) >= 2)
        assert found.labels[task] == most
        wrong.append(most != gold[task])
    assert found.error.errors.whole.error_measured == pytest.approx(np.mean(wrong))


def test_errors_are_those_of_the_answers_on_a_truth(crowd):
    labels, gold = crowd
    found = wb.aggregate(labels, truth=gold, method="dawid-skene")
    said = found.labels
    names = NAMES[:3]
    misses = [[(n in said[task]) != (n in gold[task]) for n in names] for task in gold.index]
    errors = found.error.errors
    assert errors.label_error == pytest.approx(np.mean(misses))
    assert errors.whole.error_measured == pytest.approx(np.any(misses, axis=1).mean())


def test_answers_by_label_measure_each_and_the_sets(crowd, answered):
    _, gold = crowd
    assert set(answered.parts) == set(NAMES[:3])
    errors = answered.error.errors
    parts = [part.error.measured.error_measured for part in answered.parts.values()]
    assert errors.label_error == pytest.approx(np.mean(parts))
    assert max(parts) <= errors.whole.error_measured <= sum(parts) + 1e-9
    other = gold.iloc[40:]
    wrong = np.mean([answered.labels[task] != true for task, true in other.items()])
    low, high = errors.whole.error_interval
    assert low - 0.05 <= wrong <= high + 0.05


def test_verdict_and_dictionary_say_the_same_numbers(answered):
    found, text = answered.to_dict(), answered.summary()
    assert f"{100 * found['error_measured']:.2g} % of the sets" in text
    assert f"macro F1 is {found['macro_f1']:.2f}" in text
    json.dumps(found)
    assert isinstance(found["answers"][0]["label"], list)


def test_a_label_that_only_gold_names_is_missed(crowd):
    labels, gold = crowd
    true = gold.map(lambda names: names | {"yak"})
    found = wb.aggregate(labels, truth=true, method="majority")
    assert "yak" in found.parts
    assert found.error.errors.whole.error_measured == 1.0
    assert found.error.errors.recall[-1] == 0.0


def test_a_label_that_all_sets_have_is_answered(crowd):
    labels, gold = crowd
    every = labels.assign(label=labels["label"].map(lambda names: names | {"yak"}))
    true = gold.map(lambda names: names | {"yak"}).iloc[:40]
    for found in (wb.aggregate(every), wb.aggregate(every, true)):
        assert found.labels.map(lambda names: "yak" in names).all()
    wb.plan(every, true, ["n"], epsilon=0.1, capacity=1)
    wb.hire(every, true, budget=2)
    wb.check(every, true)


def test_a_plan_is_executed_as_it_is_promised(planned):
    rng = np.random.default_rng(0)
    bought = planned.to_frame()
    pool = [frozenset(np.array(NAMES[:3])[rng.random(3) < 0.5].tolist()) for _ in bought.index]
    labels = bought.assign(label=pool)
    labels.loc[len(labels)] = ["n0", "stranger", frozenset(NAMES[:3])]
    found = wb.aggregate(labels, plan=planned)
    vote = planned.vote
    for task in ("n0", "n5"):
        said = labels[labels["task"] == task].set_index("worker")["label"]
        named = set()
        for name in NAMES[:3]:
            own = vote[(vote["of"] == name) & (vote["task"] == task)]
            total = {"no": 0.0, "yes": 0.0}
            for row in own.itertuples():
                answer = "yes" if row.worker in said and name in said[row.worker] else "no"
                if row.worker is None or row.label == answer:
                    total[row[5]] += row.score
            named |= {name} if total["yes"] > total["no"] else set()
        assert found.labels[task] == named


def test_a_plan_from_its_file_answers_alike(planned, tmp_path):
    bought = planned.to_frame()
    labels = bought.assign(
        label=[frozenset(NAMES[: 1 + k % 3]) if k % 4 else frozenset() for k in range(len(bought))]
    )
    path = tmp_path / "vote.csv"
    path.write_text(as_csv(planned.vote, path), "utf-8")
    by_file, by_plan = (wb.aggregate(labels, plan=plan) for plan in (str(path), planned))
    assert by_file.labels.equals(by_plan.labels)


def test_a_plan_promises_each_label(planned):
    assert planned.message is None
    assert (planned.by_label["exact"] <= 0.1 * (1 + 1e-9)).all()
    assert (planned.by_label["expected"] <= planned.by_label["exact"]).all()
    assert planned.to_frame()["worker"].value_counts().max() <= 8
    assert planned.to_dict()["labels"] == len(planned.to_frame())
    assert planned.claim.checked <= len(planned.to_frame())


def test_the_bound_takes_more_and_is_proven(crowd, planned):
    labels, gold = crowd
    tasks = [f"n{i}" for i in range(8)]
    options = wb.PlanOptions(promise="bound", gap=0.0)
    bound = wb.plan(labels, gold, tasks, epsilon=0.1, capacity=8, options=options)
    assert bound.solved
    assert (bound.by_label["bound"] <= 0.1 * (1 + 1e-9)).all()
    assert len(bound.to_frame()) > len(planned.to_frame()) >= planned.claim.checked
    assert "proven the cheapest" in bound.summary()
    assert "the bound says" in bound.summary()


def test_prices_and_capacities_by_worker_are_kept(crowd):
    labels, gold = crowd
    workers = labels["worker"].unique()
    price = {worker: 1.0 + k % 3 for k, worker in enumerate(workers)}
    capacity = {worker: 3 + k % 4 for k, worker in enumerate(workers)}
    made = wb.plan(labels, gold, ["n1", "n2", "n3"], epsilon=0.1, capacity=capacity, costs=price)
    bought = made.to_frame()["worker"]
    assert made.solution.objective == pytest.approx(bought.map(price).sum())
    assert (bought.value_counts() <= pd.Series(capacity)[bought.value_counts().index]).all()


def test_a_plan_that_cannot_be_says_what_to_do(crowd):
    labels, gold = crowd
    made = wb.plan(labels, gold, [f"n{i}" for i in range(40)], epsilon=0.02, capacity=2)
    assert not made.solved
    assert made.to_frame().empty
    assert "There is no plan" in made.summary()
    assert "Next: no error below" in made.summary()
    assert made.to_dict()["message"] == made.summary()


def test_hired_are_measured_beside_everybodys_majority(crowd):
    labels, gold = crowd
    found = wb.hire(labels, gold.iloc[:60], budget=3)
    assert len(found.chosen) == 3
    assert found.to_frame()["worker"].tolist() == found.chosen
    assert found.error.majority.whole.tasks_measured == 60
    blank = labels[labels["worker"].isin(found.chosen)]["task"].nunique()
    assert found.unlabelled == (120 - blank, 120)
    some = wb.aggregate(labels, gold.iloc[:60], workers=found)
    assert some.to_frame()["label"].notna().sum() == blank


def test_check_by_label(crowd):
    labels, gold = crowd
    found = wb.check(labels, gold.iloc[:60])
    given = {name: labels["label"].map(lambda each, n=name: n in each).mean() for name in NAMES[:3]}
    assert found.to_frame().set_index("label")["given"].to_dict() == pytest.approx(given)
    assert found.mean_size == pytest.approx(sum(given.values()))
    for name, row in found.to_frame().set_index("label").iterrows():
        alone = labels.assign(label=labels["label"].map(lambda each, n=name: str(n in each)))
        assert row["alpha"] == pytest.approx(wb.check(alone).agreement.alpha)
    assert "gold" not in wb.check(labels).to_frame()


def test_constant_workers_are_named(crowd):
    labels, gold = crowd
    still = labels.assign(
        label=[
            frozenset({"cat"}) if worker == "w1" else each
            for worker, each in zip(labels["worker"], labels["label"], strict=True)
        ]
    )
    assert "w1 give one and the same set throughout" in wb.check(still, gold).summary()
    assert "w1" not in wb.hire(still, gold, budget=8).chosen


def test_sets_are_audited_whole(crowd, answered):
    _, gold = crowd
    audit = wb.audit(answered.to_frame(), error=0.4, seed=1)
    wrong = 0
    for _ in range(30):
        for task in audit.next():
            audit.tell(task, gold[task] if len(gold[task]) % 2 else sorted(gold[task]))
            wrong += answered.labels[task] != gold[task]
    assert audit.errors == wrong
    assert "a set of labels is wrong where any of them is" in audit.summary()
    other = wb.audit(answered.to_frame(), error=0.4, seed=2)
    with pytest.raises(InputError, match="answers are sets of labels"):
        other.tell(other.next()[0], "cat|dog")


def test_an_audit_of_the_written_answers_is_the_same(answered, tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(as_csv(answered.to_frame(), path), "utf-8")
    by_file, by_frame = (wb.audit(a, error=0.4, seed=3) for a in (path, answered.to_frame()))
    assert by_file.commitment == by_frame.commitment
    assert wb.plan_audit(path, gold=None, runs=5).to_frame()["q50"].notna().all()


REFUSED = {
    "learn": lambda labels, gold: wb.learn(labels),
    "compare": wb.compare,
    "judge": lambda labels, gold: wb.check(labels, gold, judge="w1"),
    "loss": lambda labels, gold: wb.aggregate(labels, gold, loss={"cat": 2}),
    "money": lambda labels, gold: wb.hire(labels, gold, budget=2, costs=1, money=2),
    "total": lambda labels, gold: wb.plan(labels, gold, ["n"], total=5, capacity=1),
    "sequential": lambda labels, gold: wb.plan(
        labels, gold, ["n"], epsilon=0.1, capacity=1, options=wb.PlanOptions(sequential=True)
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_for_sets_says_what_to_do(crowd, what):
    with pytest.raises(InputError, match="a table with yes or no in place of each set"):
        REFUSED[what](*crowd)


def test_tasks_that_are_labelled_are_not_planned(crowd):
    labels, gold = crowd
    with pytest.raises(InputError, match="is labelled already"):
        wb.plan(labels, gold, ["t1"], epsilon=0.1, capacity=1)


def test_pictures(crowd, answered, planned, tmp_path):
    labels, gold = crowd
    for found in (answered, planned, wb.check(labels, gold), wb.hire(labels, gold, budget=2)):
        found.plot().savefig(tmp_path / "picture.png")
        assert found.summary(details=True)
    with pytest.raises(InputError, match="take gold"):
        wb.aggregate(labels).plot()


@pytest.mark.parametrize("seed", range(8))
def test_what_is_called_proven_is_the_cheapest_of_all_plans(seed):
    """Two tasks, five workers, prices and capacities: every plan by the bound is looked at."""
    labels, gold = frames(seed, tasks=60, workers=5, labels=2, each=3)
    rng = np.random.default_rng(seed)
    price = {f"w{j}": float(rng.integers(1, 4)) for j in range(5)}
    room = {f"w{j}": int(rng.integers(1, 3)) for j in range(5)}
    made = wb.plan(
        labels,
        gold,
        ["n0", "n1"],
        epsilon=0.2,
        capacity=room,
        costs=price,
        options=wb.PlanOptions(promise="bound", gap=0.0),
    )
    votes, codes = apart(inputs.given(labels, kinds=(LabelSets,)), gold.map(written))
    skills = set_skills(votes, codes)
    gains, need = set_gains(skills), set_needs(skills, 0.2) * (1 - 1e-9)
    rows = [np.array(row) for row in itertools.product([0, 1], repeat=5)]
    enough = [row for row in rows if (row @ gains >= need).all()]
    prices = np.array([price[worker] for worker in votes.workers])
    capacity = np.array([room[worker] for worker in votes.workers])
    costs = [
        float((one + other) @ prices)
        for one in enough
        for other in enough
        if (one + other <= capacity).all()
    ]
    assert made.solved == bool(costs)
    if costs:
        assert made.solution.objective == pytest.approx(min(costs))
        assert "proven the cheapest" in made.summary()
