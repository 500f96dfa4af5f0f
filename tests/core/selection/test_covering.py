"""Hiring for the tasks as they are answered: by enumeration, and what a user sees of it."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.release import some
from workbench.base.errors import InputError
from workbench.crowd.gold_rule import gold_codes
from workbench.crowd.votes import Votes
from workbench.selection import covering as room
from workbench.selection.covering import covering, who_answers
from workbench.selection.hire import HireOptions, score_by
from workbench.selection.learned import ControlAnswers


def scores(correct, answered, classes=2, prior=(3.0, 1.0)):
    task = np.concatenate([np.arange(n) for n in answered])
    worker = np.repeat(np.arange(len(answered)), answered)
    right = np.concatenate([np.arange(n) < c for c, n in zip(correct, answered, strict=True)])
    answers = ControlAnswers(task, worker, right, len(answered))
    return score_by(answers, classes, HireOptions(prior=prior))


def exact_error(known, answers, chosen, blank):
    """Mean over tasks of the error of the likeliest class, all labels enumerated."""
    L, total = known.classes, 0.0
    skill, weight = known.posterior_skill, known.vote_weight
    for row in answers:
        voters = [j for j in chosen if row[j]]
        if not voters:
            total += blank
            continue
        for labels in product(range(L), repeat=len(voters)):
            score, chance = np.zeros(L), 1.0
            for j, label in zip(voters, labels, strict=True):
                score[label] += weight[j]
                chance *= skill[j] if label == 0 else (1 - skill[j]) / (L - 1)
            total += chance * (1 - 1 / np.exp(score - score.max()).sum())
    return total / len(answers)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", some(range(4), 2))
def test_hardly_worse_than_the_best_set_by_enumeration(classes, seed):
    rng = np.random.default_rng(seed)
    answered = rng.integers(5, 30, 6)
    known = scores(np.round(answered * rng.uniform(0.6, 1, 6)).astype(int), answered, classes)
    answers = rng.random((12, 6)) < rng.uniform(0.2, 0.9, 6)
    blank = 1 - 1 / classes
    every = {
        chosen: exact_error(known, answers, chosen, blank)
        for k in (1, 2, 3)
        for chosen in combinations(range(6), k)
    }
    chosen = tuple(sorted(covering(known, answers, 3, seed=0).tolist()))
    assert every[chosen] <= min(every.values()) + 0.02


def test_what_is_compared_is_the_error_by_enumeration():
    rng = np.random.default_rng(1)
    known = scores([9, 14, 16, 5], [10, 20, 20, 10], 3)
    answers = rng.random((7, 4)) < 0.6
    drawn = room.DrawnLabels.of(known, answers, 0.4, 0, 200_000)
    score = np.zeros((3, drawn.tasks))
    chosen = []
    for worker in range(4):
        with_her = drawn.errors_with(score, np.array([worker]))[0]
        drawn.add(score, worker)
        chosen.append(worker)
        assert drawn.error(score) == pytest.approx(with_her)
        assert with_her == pytest.approx(exact_error(known, answers, chosen, 0.4), abs=0.004)


def crowd(tasks=200):
    """Three brilliant workers on the same forty tasks; six good ones on all."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, tasks)
    rows = []
    for worker in range(9):
        skill, last = (0.99, 40) if worker < 3 else (0.85, tasks)
        right = rng.random(last) < skill
        rows += [(f"t{i}", f"w{worker}", abs(truth[i] - (not right[i]))) for i in range(last)]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    gold = pd.Series(truth, index=[f"t{i}" for i in range(tasks)])
    return labels, gold


@pytest.mark.release
def test_those_are_hired_who_label_the_tasks():
    labels, gold = crowd()
    hires = wb.hire(labels, gold[:30], budget=3)
    assert hires.to_dict()["unlabelled"] == 0
    assert any("as the workers have labelled them" in note for note in hires.to_dict()["notes"])
    everybody = wb.hire(labels, gold[:30], budget=3, options=wb.HiringOptions(as_answered=False))
    assert set(everybody.chosen) == {"w0", "w1", "w2"}
    assert everybody.to_dict()["unlabelled"] == pytest.approx(0.8)


@pytest.mark.release
def test_labels_of_an_exam_alone_say_nothing_of_other_tasks():
    labels, gold = crowd()
    exam = labels[labels["task"].isin(gold[:30].index)]
    votes = Votes.of(exam)
    assert who_answers(votes, gold_codes(votes, gold[:30])) is None
    assert set(wb.hire(exam, gold[:30], budget=3).chosen) == {"w0", "w1", "w2"}


@pytest.mark.release
def test_what_a_task_without_a_label_costs_decides():
    labels, gold = crowd()
    free = wb.hire(labels, gold[:30], budget=1, options=wb.HiringOptions(undecided=0.0))
    dear = wb.hire(labels, gold[:30], budget=1, options=wb.HiringOptions(undecided=1.0))
    assert free.chosen == []
    assert dear.to_dict()["unlabelled"] == 0
    with pytest.raises(InputError, match="undecided"):
        wb.hire(labels, gold[:30], budget=1, options=wb.HiringOptions(undecided=1.5))
