"""When an exam pays: who takes it, and what the trials are said to mean."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crowd_papers.beyond.exam import Examined, best_exam, bounded
from workbench.collection.answers import rehearse
from workbench.collection.policy import Goal
from workbench.collection.simulation import simulated
from workbench.solving.ignorance import unknown_skills_bound


def test_everybody_labels_the_gold_tasks_first():
    skill = np.where(np.arange(20) % 2, 0.8, 0.5)
    pool, answers = simulated(skill, 15, capacity=12, gold=4, seed=2)
    asked = []

    def watch(ledger, policy):
        gold, labels = ledger.gold_labels[:, 1], ledger.labels[:, 1]
        asked.append((set(labels.tolist()), np.bincount(gold, minlength=20)))

    ended = rehearse(Examined, pool, answers, Goal(0.1), seed=0, watch=watch)
    for workers, exams in asked:
        assert all(exams[who] == 4 for who in workers)
    assert len(ended.ledger.labels) > 0
    assert ended.ledger.spent == len(ended.ledger.labels) + len(ended.ledger.gold_labels)


def rows(exam, paid, error):
    cell = {"good": 0.8, "share": 0.5, "capacity": 10, "epsilon": 0.1, "policy": "until-sure"}
    return [
        cell
        | {"exam": exam, "tasks": 50, "workers": 100, "paid_gold": 0, "closed": 1.0}
        | {"paid": value, "error": error}
        for value in (paid - 5.0, paid + 5.0)
    ]


@pytest.mark.release
@pytest.mark.parametrize(
    ("with_exam", "said"),
    [((300.0, 0.05), "an exam of 5 pays: 6.00"), ((400.0, 0.05), "no exam pays (7.00")],
)
def test_the_cheapest_that_keeps_its_promise(with_exam, said):
    table = bounded(pd.DataFrame(rows(0, 350.0, 0.08) + rows(5, *with_exam)))
    assert said in best_exam(table)
    first = table.iloc[0]
    least = unknown_skills_bound({0.8: 0.5, 0.5: 0.5}, 10, 50, 0.08, workers=100).labels
    assert first["bound"] == pytest.approx(least / 50)
    assert first["ratio"] == pytest.approx(350 / least)


@pytest.mark.release
def test_what_misses_the_promise_does_not_count():
    table = bounded(pd.DataFrame(rows(0, 350.0, 0.08) + rows(5, 200.0, 0.2)))
    assert "no exam pays" in best_exam(table)
    assert best_exam(table[table["exam"] == 5]) == ""
    missed = bounded(pd.DataFrame(rows(0, 350.0, 0.3) + rows(5, 200.0, 0.2)))
    assert "kept neither with an exam" in best_exam(missed)
