"""`wb.audit`: the user's ids in, a promise out, and one line for what is wrong."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.auditing import check_audit
from workbench.auditing.certificate import canonical


def answers(tasks=200, wrong=0.05, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(["cat", "dog"], tasks)
    label = np.where(rng.random(tasks) < wrong, "bird", truth)
    table = pd.DataFrame({"task": np.arange(tasks), "label": label, "confidence": 1 - wrong})
    return table, dict(enumerate(truth.tolist()))


def checked(audit, truth, most=1):
    while not audit.certified and (tasks := audit.next(most)):
        for task in tasks:
            audit.tell(task, truth[task])
    return audit


def test_the_room_does_not_hide_the_function():
    """A package `workbench.audit` would take its place when it is first imported."""
    table, _ = answers(20)
    wb.audit(table)
    assert callable(wb.audit)


def test_an_audit_from_the_first_draw_to_the_certificate():
    table, truth = answers()
    audit = wb.audit(table, error=0.1, risk=0.05, seed=3)
    assert (audit.certified, audit.checks, audit.errors, audit.bound()) == (False, 0, 0, 1.0)
    (task,) = audit.next()
    assert task in truth
    assert type(task) is int
    bounds = [audit.bound()]
    while not audit.certified:
        (task,) = audit.next()
        audit.tell(task, truth[task])
        bounds.append(audit.bound())
    assert audit.bound() <= 0.1
    assert audit.next() == []
    frame = audit.to_frame()
    assert frame["checked"].sum() == audit.checks
    assert frame["corrected"].sum() == audit.errors
    fixed = frame.loc[frame["checked"]]
    assert [truth[task] for task in fixed["task"]] == fixed["label"].tolist()
    head = audit.summary().splitlines()[0]
    assert head == (
        f"At most {100 * audit.bound():.3g} % of the 200 answers are wrong, with 95 % confidence, "
        f"after {audit.checks} checks, of which {audit.errors} were corrected."
    )
    assert "audited" in audit.summary()
    holds, line = check_audit.line_of(canonical(audit.certificate()).encode())
    assert holds, line


def test_the_same_seed_the_same_audit_and_none_another():
    table, truth = answers()
    first, again = (checked(wb.audit(table, seed=1), truth).to_dict() for _ in range(2))
    assert first == again
    assert wb.audit(table).next(20) != wb.audit(table).next(20)
    assert wb.audit(table).commitment != wb.audit(table).commitment


def test_it_goes_on_from_its_file(tmp_path):
    table, truth = answers()
    path = tmp_path / "a.sqlite"
    audit = wb.audit(table, seed=1, path=path)
    for task in audit.next(5):
        audit.tell(task, truth[task])
    waiting = audit.next(2)
    audit.close()
    again = wb.Auditor.open(path)
    assert again.checks == 5
    assert again.next(2) == waiting
    assert again.commitment == audit.commitment
    assert checked(again, truth).certified


@pytest.mark.parametrize("dtype", [int, float, bool, str])
def test_labels_of_any_type_are_those_of_the_answers(dtype):
    values = [dtype(value) for value in (0, 1)]
    table = pd.DataFrame({"task": ["a", "b", "c"], "label": [values[0], values[1], values[0]]})
    audit = wb.audit(table, error=0.4, risk=0.2, seed=0)
    truth = dict(zip(table["task"], table["label"], strict=True))
    checked(audit, truth)
    assert audit.errors == 0


def test_answers_that_are_missing_are_wrong():
    table, truth = answers(60, 0.0)
    table.loc[:19, "label"] = None
    audit = checked(wb.audit(table, error=0.1, seed=1), truth)
    assert audit.errors >= 14
    assert audit.to_frame()["label"].isna().sum() <= 6


def test_a_refusal_counts_as_wrong_and_is_not_corrected():
    table, truth = answers(40, 0.0)
    audit = wb.audit(table, error=0.3, seed=1)
    (task,) = audit.next()
    audit.tell(task, None)
    assert (audit.errors, audit.to_dict()["corrected"], audit.to_dict()["refused"]) == (1, 0, 1)
    checked(audit, truth)
    assert audit.bound() >= 1 / 40


def test_all_tasks_checked_is_certain():
    table, truth = answers(8, 0.3)
    audit = wb.audit(table, error=0.01, seed=1)
    checked(audit, truth)
    assert (audit.certified, audit.bound(), audit.checks) == (True, 0.0, 8)


def test_what_status_prints_is_what_is_asked_for():
    audit = wb.audit(answers()[0], seed=1)
    known = json.loads(json.dumps(audit.to_dict()))
    assert {"certified", "bound", "checks", "errors"} <= known.keys()
    assert next(iter(known)) == "schema"


def test_a_picture_of_the_bound_falling():
    table, truth = answers()
    audit = checked(wb.audit(table, seed=1), truth)
    (axes,) = audit.plot().axes
    heights = axes.lines[0].get_ydata()
    assert heights[0] == 1.0
    assert heights[-1] <= 0.1
    assert wb.audit(table, seed=1).plot().axes


class TestShare:
    def test_a_share_is_certified_and_the_rest_listed(self):
        rng = np.random.default_rng(1)
        truth = rng.choice(["cat", "dog"], 400)
        confidence = np.where(np.arange(400) < 250, 0.99, 0.55)
        label = np.where(rng.random(400) < confidence, truth, "bird")
        table = pd.DataFrame({"task": np.arange(400), "label": label, "confidence": confidence})
        audit = checked(wb.audit(table, share=0.6, seed=2), dict(enumerate(truth.tolist())), 2)
        assert (audit.certified, audit.share) == (True, 0.625)
        assert audit.rest() == list(range(250, 400))
        frame = audit.to_frame()
        assert frame["certified"].tolist() == [True] * 250 + [False] * 150
        assert audit.summary().startswith("Of 62.5 % of the 400 answers at most ")
        assert "150 answers are the rest" in audit.summary()
        known = audit.to_dict()
        assert (known["certified_tasks"], known["share"]) == (250, 0.625)
        assert known["certified_wrong"] <= 25
        assert 0.375 - audit.checks / 400 < known["bound"] <= 0.375 + 0.1
        holds, line = check_audit.line_of(canonical(audit.certificate()).encode())
        assert holds, line
        assert "of 250 of 400 answers" in line

    def test_a_whole_audit_certifies_all_or_none(self):
        table, truth = answers()
        audit = wb.audit(table, seed=1)
        assert (audit.share, len(audit.rest())) == (0.0, 200)
        checked(audit, truth)
        assert (audit.share, audit.rest()) == (1.0, [])

    def test_it_says_where_it_stands(self):
        table, truth = answers()
        audit = wb.audit(table, share=0.9, seed=1)
        assert audit.summary().startswith("No share of the 200 answers is certified yet")
        assert "90 % is asked" in audit.summary()
        wrong = dict.fromkeys(truth, "mouse")
        checked(audit, wrong)
        assert not audit.certified
        assert "no more can be certified" in audit.summary()
        assert audit.plot().axes


TABLE = answers(6)[0]
BAD = {
    "a task twice": (lambda: wb.audit(pd.concat([TABLE, TABLE])), "leave one of them out"),
    "no task": (lambda: wb.audit(TABLE.iloc[:0]), "no rows"),
    "no column": (lambda: wb.audit(TABLE.drop(columns="label")), "label"),
    "error 0": (lambda: wb.audit(TABLE, error=0), "error"),
    "error 1": (lambda: wb.audit(TABLE, error=1), "error"),
    "error a word": (lambda: wb.audit(TABLE, error="x"), "error"),
    "risk 0": (lambda: wb.audit(TABLE, risk=0.0), "risk"),
    "risk nan": (lambda: wb.audit(TABLE, risk=float("nan")), "risk"),
    "share 0": (lambda: wb.audit(TABLE, share=0), "share"),
    "share 2": (lambda: wb.audit(TABLE, share=2.0), "share"),
    "a seed below 0": (lambda: wb.audit(TABLE, seed=-1), "seed"),
    "confidence 2": (lambda: wb.audit(TABLE.assign(confidence=2.0)), "confidence"),
    "confidence a word": (lambda: wb.audit(TABLE.assign(confidence="x")), "confidence"),
    "no file": (lambda: wb.audit("none.csv"), "none.csv"),
    "no store": (lambda: wb.Auditor.open("none.sqlite"), "none.sqlite"),
    "most 0": (lambda: wb.audit(TABLE).next(0), "most"),
    "not drawn": (lambda: wb.audit(TABLE).tell(1, "cat"), "was not drawn"),
    "another's task": (lambda: wb.audit(TABLE).tell(99, "cat"), "none of the audit's"),
    "runs 1": (lambda: wb.plan_audit(TABLE, runs=1), "runs"),
    "plan without tasks": (lambda: wb.plan_audit(TABLE.iloc[:0]), "no rows"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, words = BAD[name]
    with pytest.raises(wb.InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("label", "line"), [("CAT", "write both alike"), ("", "no label"), (float("nan"), "no label")]
)
def test_a_label_that_is_none_is_refused(label, line):
    audit = wb.audit(pd.DataFrame({"task": range(4), "label": "cat"}), seed=1)
    (task,) = audit.next()
    with pytest.raises(wb.InputError, match=line):
        audit.tell(task, label)
    assert audit.checks == 0
    audit.tell(task, "cat")
    audit.tell(task, "cat")
    with pytest.raises(wb.InputError, match="first word"):
        audit.tell(task, "dog")
    assert audit.checks == 1


class TestPlan:
    @pytest.mark.release
    def test_more_errors_take_more_checks(self):
        table, _ = answers(400, 0.08)
        plan = wb.plan_audit(table, error=0.1, runs=60, seed=2)
        rows = plan.to_frame().set_index("errors")
        assert (rows["q10"] <= rows["q50"]).all()
        assert (rows["q50"] <= rows["q90"]).all()
        order = ["half as many", "as believed", "half as many again"]
        assert rows.loc[order, "q50"].is_monotonic_increasing
        assert rows.loc[order, "wrong"].tolist() == pytest.approx([0.04, 0.08, 0.12], abs=0.01)
        words = plan.summary()
        assert "if the confidences are right" in words
        assert "1.5 times as many errors" in words

    @pytest.mark.release
    def test_it_says_what_audits_then_take(self):
        table, _ = answers(400, 0.05)
        plan = wb.plan_audit(table, error=0.1, runs=200).to_frame().iloc[0]
        took = []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            wrong = rng.random(400) < 0.05
            truth = dict(enumerate(np.where(wrong, "mouse", table["label"]).tolist()))
            took.append(checked(wb.audit(table, seed=seed), truth).checks)
        assert plan["q10"] * 0.8 < np.median(took) < plan["q90"] * 1.2

    @pytest.mark.release
    def test_gold_says_what_it_would_have_cost(self):
        table, truth = answers(400, 0.08)
        plan = wb.plan_audit(table, error=0.1, runs=40, gold=truth)
        row = plan.to_frame().iloc[-1]
        wrong = (table["label"] != table["task"].map(truth)).mean()
        assert row["errors"] == "as gold has them"
        assert row["wrong"] == pytest.approx(wrong, abs=0.01)
        assert "as gold has it" in plan.summary()
        some = dict(list(truth.items())[:200])
        assert wb.plan_audit(table, error=0.1, runs=40, gold=some).to_frame().shape == (5, 5)
        with pytest.raises(wb.InputError, match="gold"):
            wb.plan_audit(table, gold={"elsewhere": "cat"})

    @pytest.mark.slow
    def test_a_collection_goes_in_as_it_is(self):
        crowd = wb.simulate(tasks=60, workers=12, skill=0.9, seed=1)
        collected = wb.collect(crowd, epsilon=0.2, seed=1)
        plan = wb.plan_audit(collected.to_frame(), error=0.2, runs=20)
        assert plan.believed
        truth = crowd.gold.to_dict()
        audit = wb.audit(collected.to_frame(), error=0.2, seed=1)
        assert checked(audit, truth).certified

    @pytest.mark.release
    def test_without_confidences_it_takes_half_of_the_error(self):
        table, _ = answers(200)
        plan = wb.plan_audit(table.drop(columns="confidence"), error=0.1, runs=20)
        assert plan.to_frame()["wrong"].tolist() == pytest.approx(
            [0.05, 0.075, 0.025, 0.1], abs=0.015
        )
        assert "if half of that is wrong now" in plan.summary()
