"""What a verdict says where gold cannot tell, and steps that do not lead back to where one was."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.set_crowds import frames
from workbench.api import inputs
from workbench.api.sets import apart
from workbench.assignment.set_plan import measure_set_plan
from workbench.crowd.kinds import LabelSets

MANY = [f"n{i}" for i in range(200)]


def sparse(each: int, hard: float = 0.0, right: float = 0.75) -> tuple[pd.DataFrame, pd.Series]:
    """Sixty gold tasks and twenty others of three classes, so many labels each by twelve workers.

    On a share `hard` of the tasks everybody errs alike, on the others one is `right` so often.
    """
    rng = np.random.default_rng(7)
    true = rng.integers(0, 3, 80)
    rows = []
    for i, t in enumerate(true.tolist()):
        alike = rng.integers(1, 3) if rng.random() < hard else None
        for j in rng.choice(12, each, replace=False).tolist():
            off = rng.integers(1, 3) if rng.random() > right else 0
            rows.append((f"t{i}", f"w{j}", "abc"[(t + (off if alike is None else alike)) % 3]))
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    gold = pd.Series(["abc"[t] for t in true[:60]], index=[f"t{i}" for i in range(60)])
    return labels, gold


def test_gold_of_few_labels_a_task_does_not_speak_against_a_plan():
    labels, gold = sparse(2)
    made = wb.plan(labels, gold, MANY, epsilon=0.05, capacity=200)
    measured = made.error.measured
    assert measured.met == 0.0
    assert measured.error_interval[0] > 0.05  # of two labels, where the plan buys more
    said = " ".join(made.verdict())
    assert len(made.table) > 4 * 200
    assert said.startswith("Buy ")
    assert "speaks against" not in said
    assert "Your gold has too few labels a task to tell whether such plans keep it" in said
    assert "on 0 % of its tasks. Next: have more workers label these" in said


def test_gold_that_has_the_labels_speaks_against_a_plan():
    labels, gold = sparse(12, hard=0.3, right=0.95)
    made = wb.plan(labels, gold, MANY, epsilon=0.15, capacity=200)
    assert made.error.measured.met > 0.5
    said = " ".join(made.verdict())
    assert said.startswith("Do not buy this yet")
    assert "your gold speaks against that" in said
    assert "workbench hire" not in said
    assert "give more gold, to know these workers better, or find others" in said


def test_sets_of_few_answers_a_task_do_not_speak_against_a_plan():
    labels, gold = frames(1, tasks=120, workers=8, labels=3, each=1)
    made = wb.plan(labels, gold, ["n"], epsilon=0.1, capacity=1)
    assert made.met < 0.5
    assert made.error.missed(0.1)
    said = " ".join(made.verdict())
    assert said.startswith("Buy ")
    assert "Your gold has too few labels a task to tell whether such plans keep 10 %" in said


def test_whom_to_hire_for_everything_is_not_judged_by_blanks():
    labels, gold = sparse(2)
    plain = wb.hire(labels, gold, budget=4)
    said = " ".join(plain.verdict())
    assert said.startswith("Do not hire these 4 of 12 workers")
    assert "choose with --everybody-answers" in plain.verdict()[-1]
    everything = wb.HiringOptions(as_answered=False)
    hires = wb.hire(labels, gold, budget=4, options=everything)
    measured = hires.error.measured
    assert measured.blank == 0
    assert 0 < measured.tasks_measured < 60
    assert hires.error.majority.tasks == measured.tasks_measured
    said = " ".join(hires.verdict())
    assert said.startswith("Hire 4 of 12 workers")
    assert "get no answer" not in said
    assert "without an answer" not in said
    assert "All 4 together have labelled 0 % of these gold tasks" in said
    assert "workbench plan --workers chosen.csv" in hires.verdict()[-1]


def test_where_all_have_labelled_all_gold_it_tells_whom_to_hire():
    labels, gold = sparse(12)
    everything = wb.HiringOptions(as_answered=False)
    hires = wb.hire(labels, gold, budget=1, options=everything)
    assert hires.error.measured.tasks_measured == 60
    assert hires.error.worse
    assert hires.verdict()[0].startswith("Do not hire these 1")


def test_skills_are_said_to_be_of_two_classes():
    skills = {"ann": 0.9, "bob": 0.8, "eve": 0.8}
    ahead = wb.plan(tasks=["n"], skills=skills, epsilon=0.2, capacity=1)
    assert "skills are as given and there are two classes:" in ahead.verdict()[1]
    one_by_one = wb.PlanOptions(sequential=True)
    each = wb.plan(tasks=["n"], skills=skills, epsilon=0.2, capacity=1, options=one_by_one)
    assert "there are two classes, equally likely" in each.verdict()[1]


@pytest.mark.parametrize("asked", [[True] * 8, [True, False] * 4])
def test_sets_are_measured_by_the_answers_of_those_asked(asked):
    labels, gold = frames(2, tasks=40, workers=8, labels=2, each=2)
    source = inputs.given(labels, kinds=(LabelSets,))
    true, source = inputs.truth(gold, source)
    votes, codes = apart(source, true)
    found = measure_set_plan(votes, codes, 0.05, asked=np.array(asked))
    there = np.unique(votes.task[np.array(asked)[votes.worker]])
    assert found.errors.whole.blank == 40 - len(there)
