"""The vote of a plan of several classes: handed over in memory and by file, and cast."""

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.assignment.make_plan import AssignmentTerms, Confusions, make_plan
from workbench.crowd import tables


def history(classes, seed=0, tasks=120, workers=8):
    """Labels of gold tasks, and their truth; tasks, workers and classes are as given."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(classes), tasks)
    rows = [
        (1000 + i, f"w{j}", classes[truth[i] if rng.random() < 0.6 + 0.04 * j else k])
        for i in range(tasks)
        for j in range(workers)
        for k in [rng.integers(0, len(classes))]
    ]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    return labels, {1000 + i: classes[k] for i, k in enumerate(truth)}


def planned(classes=(0, 1, 2), **more):
    labels, gold = history(list(classes))
    ask = {"tasks": [7, 8, 9], "epsilon": 0.1, "capacity": 3, **more}
    return wb.plan(labels, gold, **ask)


def answered(made, label):
    return made.table[["task", "worker"]].assign(label=label)


def test_a_plan_has_scores_and_no_weights():
    made = planned()
    assert list(made.to_frame()) == ["task", "worker"]
    assert list(made.vote) == ["task", "worker", "label", "class", "score"]
    assert made.to_dict()["weights"] is None
    alone = made.vote[made.vote["worker"].isna()]
    assert len(alone) == 9
    assert np.exp(alone["score"]).sum() == pytest.approx(3)
    rest = made.vote[made.vote["worker"].notna()]
    assert len(rest) == 9 * len(made.table)
    assert set(rest["label"]) == {0, 1, 2}
    told = np.exp(rest["score"]).groupby([rest["task"], rest["worker"], rest["class"]]).sum()
    assert told.to_numpy() == pytest.approx(1)


def test_the_file_says_what_the_plan_says(tmp_path):
    made = planned(("été", "a, b", 'so "so"'))
    made.vote.to_csv(tmp_path / "vote.csv", index=False)
    labels = answered(
        made, np.array(["été", "a, b", 'so "so"'], dtype=object)[np.arange(len(made.table)) % 3]
    )
    by_plan, by_file = (
        wb.aggregate(labels, plan=plan, seed=3) for plan in (made, tmp_path / "vote.csv")
    )
    assert by_plan.labels.to_dict() == by_file.labels.to_dict()
    assert by_plan.confidence.to_numpy() == pytest.approx(by_file.confidence.to_numpy())


def test_answer_and_confidence_are_those_of_the_posterior():
    made = planned()
    labels = answered(made, [int(w[1:]) % 3 for w in made.table["worker"]])
    found = wb.aggregate(labels, plan=made)
    scores = made.vote.set_index(["task", "worker", "label", "class"])["score"]
    for task in (7, 8, 9):
        own = labels[labels["task"] == task]
        total = np.array(
            [
                made.vote.query("task == @task and worker.isna() and `class` == @k")["score"].sum()
                + sum(
                    scores[task, w, a, k] for w, a in zip(own["worker"], own["label"], strict=True)
                )
                for k in range(3)
            ]
        )
        share = np.exp(total) / np.exp(total).sum()
        assert found.posterior.loc[task].to_numpy() == pytest.approx(share)
        assert found.labels[task] == share.argmax()
        assert found.confidence[task] == pytest.approx(share.max())


def test_labels_that_the_plan_does_not_know():
    made = planned()
    labels = answered(made, 1)
    labels.loc[0, "label"] = 5
    beside = pd.DataFrame({"task": [7], "worker": ["stranger"], "label": [2]})
    found = wb.aggregate(pd.concat([labels.iloc[:-1], beside]), plan=made)
    notes = found.found.notes
    assert "labels of classes that the plan does not know, 1: they do not count" in notes
    assert "labels outside the plan, 1: they do not count" in notes
    assert "labels of the plan that have not been given, 1" in notes
    assert found.to_dict()["votes"] == len(labels) - 2


def test_a_task_without_any_label_has_no_answer():
    made = planned()
    labels = answered(made, 1)
    found = wb.aggregate(labels[labels["task"] != 9], plan=made).to_frame().set_index("task")
    assert found["unlabelled"].to_dict() == {7: False, 8: False, 9: True}
    assert pd.isna(found.loc[9, "label"])


def test_what_the_plan_alone_does_not_say():
    made = planned()
    labels = answered(made, 1)
    with pytest.raises(wb.InputError, match="of several classes give what `plan --vote` wrote"):
        wb.aggregate(labels, plan=made.to_frame())
    with pytest.raises(wb.InputError, match="none of its labels has been given"):
        wb.aggregate(labels.assign(worker=[f"s{k}" for k in range(len(labels))]), plan=made)
    with pytest.raises(wb.InputError, match="has no score for some class"):
        wb.aggregate(labels, plan=made.vote.drop(index=[0]))
    half = made.vote.copy()
    half.loc[0, "worker"] = "w1"
    with pytest.raises(wb.InputError, match="one of worker and label is empty"):
        tables.read_plan(half)


def alike(workers=4):
    """Workers who cannot tell y from z."""
    blunt = np.array([[0.8, 0.1, 0.1], [0.1, 0.45, 0.45], [0.1, 0.45, 0.45]])
    skill = pd.DataFrame({"all": [0.57] * workers})
    return Confusions(np.stack([[blunt] * workers]), np.full(3, 1 / 3), list("xyz"), skill)


@pytest.mark.parametrize("promise", ["each", "mean", "class"])
def test_no_error_above_one_is_stated(promise):
    import re

    coins = np.full((1, 3, 4, 4), 0.25)
    known = Confusions(coins, np.full(4, 0.25), list("abcd"), pd.DataFrame({"all": [0.25] * 3}))
    for crowd in (known, alike()):
        made = make_plan(
            crowd, pd.Series("all", index=["t"]), AssignmentTerms(1, 0.05, promise=promise)
        )
        assert made.message.startswith("There is no plan, which is proven: task t is wrong with")
        assert max(map(float, re.findall(r"\d+\.\d+", made.message))) <= 1


@pytest.mark.release
def test_covers_say_that_they_are_covers(monkeypatch):
    """Where no sets are listed, nothing is known of plans that are no covers."""
    from workbench.assignment import several_classes

    monkeypatch.setattr(several_classes, "by_master", lambda *_: None)
    labels, gold = history(list("xyz"), workers=10)
    made = wb.plan(labels, gold, list(range(100)), epsilon=0.1, capacity=60)
    assert made.claim is None
    assert not made.solved
    assert "the cheapest of covers found" in made.verdict()[0]
    (cost,) = (line for line in made.details().splitlines() if line.startswith("  cost "))
    assert "the cheapest of covers found" in cost
    assert "proven" not in cost


def test_none_found_is_not_none_there_is(monkeypatch):
    """Covers ask for more than there is, and the lists are too long: no word of infeasible."""
    from workbench.assignment import several_classes

    monkeypatch.setattr(several_classes, "by_lists", lambda *_: None)
    known = Confusions(
        np.stack([[0.85 * np.eye(3) + 0.05] * 3]),
        np.full(3, 1 / 3),
        list("xyz"),
        pd.DataFrame({"all": [0.9] * 3}),
    )
    made = make_plan(known, pd.Series("all", index=["t"]), AssignmentTerms(1, 0.0281))
    assert made.message is None or made.message.startswith("No plan was found")


def test_a_plan_that_needs_nobody_answers_by_the_shares():
    labels, _ = history(list("xyz"))
    gold = dict.fromkeys(labels["task"].unique(), "y")
    made = wb.plan(labels, gold, [1, 2], epsilon=0.1, capacity=2)
    assert len(made.table) == 0
    found = wb.aggregate(labels, plan=made)
    assert found.labels.to_dict() == {1: "y", 2: "y"}
    assert made.claim is not None
    assert made.claim.proven


def test_what_is_measured_is_the_vote_that_is_handed_over():
    """Of the worst class the replayed vote names rare classes as the plan's own scores do."""
    from workbench.assignment.joint_rules import joint_plan_rule
    from workbench.assignment.plan_rules import PlanTerms
    from workbench.crowd.votes import Votes

    rng = np.random.default_rng(0)
    truth = np.where(rng.random(400) < 0.94, 0, rng.integers(1, 3, 400))
    rows = [
        (i, f"w{j}", k if rng.random() < 0.75 else rng.integers(0, 3))
        for i, k in enumerate(truth.tolist())
        for j in range(3)
    ]
    votes = Votes.of(pd.DataFrame(rows, columns=["task", "worker", "label"]))
    terms = PlanTerms(np.array([0.3]), np.full(3, 400), np.array([400]))
    wrong = []
    for by_class in (False, True):
        fitted = joint_plan_rule(votes, terms, by_class=by_class)(truth)
        loss = fitted.label(np.arange(400)).loss(truth)
        wrong.append((loss.mean(), loss[truth > 0].mean()))
        told = np.nanmean(fitted.independent_error(np.arange(400)))
        assert told == pytest.approx(loss.mean(), abs=0.04)
    assert wrong[1][1] < wrong[0][1] - 0.1
