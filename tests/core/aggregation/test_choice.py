"""Gold chooses the method: the choice by hand, its error by choosing anew, recorded crowds."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.accuracy.measured import measure_error
from workbench.aggregation import AGGREGATORS
from workbench.aggregation.bwa import bwa
from workbench.aggregation.choice import (
    FITS,
    PLAINEST_FIRST,
    TAUGHT,
    choice,
    choosing_rule,
    chosen_by,
    taught,
    wrong_by,
)
from workbench.aggregation.pool import pooled
from workbench.aggregation.posteriors import Earlier
from workbench.crowd.votes import Votes


def test_the_plainest_within_a_standard_error_of_the_best_is_chosen():
    rng = np.random.default_rng(0)
    for _ in range(200):
        wrong = (rng.random((25, 4)) < rng.uniform(0.1, 0.4, 4)).astype(float)
        best = min(range(4), key=lambda at: (wrong[:, at].sum(), at))
        within = []
        for at in range(4):
            worse = wrong[:, at] - wrong[:, best]
            if worse.mean() <= worse.std(ddof=1) / 5:
                within.append(at)
        assert chosen_by(wrong) == within[0]
    same = np.zeros((20, 3))
    assert chosen_by(same) == 0


def crowd(seed, tasks=120):
    """Few good workers among many who guess: majority is poor, models are good."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, tasks)
    skill = np.r_[np.full(3, 0.95), np.full(8, 0.52)]
    label = np.where(rng.random((tasks, 11)) < skill, truth[:, None], 1 - truth[:, None])
    rows = [(f"t{i}", f"w{j}", label[i, j]) for i in range(tasks) for j in range(11)]
    gold = pd.Series(truth, index=[f"t{i}" for i in range(tasks)])
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), gold


def test_the_error_is_that_of_choosing_anew_without_each_part():
    table, gold = crowd(1, 60)
    votes = Votes.of(table)
    candidates = {name: AGGREGATORS[name].call(votes, seed=0) for name in PLAINEST_FIRST[:3]}
    codes = np.full(60, -1)
    codes[:30] = [votes.classes.tolist().index(gold[task]) for task in votes.tasks[:30]]
    measured = measure_error(choosing_rule(candidates, votes), codes, most_folds=30)
    every = wrong_by(candidates, codes)
    anew = [every[at, chosen_by(np.delete(every, at, axis=0))] for at in range(30)]
    assert measured.error_measured == pytest.approx(np.mean(anew))
    assert measured.error_measured >= every.mean(axis=0).min() - 1e-12


def test_gold_finds_the_model_where_the_majority_is_poor():
    table, gold = crowd(2)
    found = wb.aggregate(table, gold=gold[:40])
    assert found.chosen_from is not None
    assert set(found.chosen_from) == {*PLAINEST_FIRST, TAUGHT}
    assert found.found.method != "majority"
    known = found.to_dict()
    assert known["error_measured"] < known["error_majority"]
    assert "of five" not in found.summary() or "5 methods" in found.summary()
    assert "majority" in found.summary()
    rest = gold[40:]
    assert (found.labels[rest.index] != rest).mean() < 0.12


def coded(table, gold, tasks):
    """Votes, and the class of the gold tasks among them."""
    votes = Votes.of(table)
    codes = np.full(len(votes.tasks), -1)
    codes[:tasks] = [votes.classes.tolist().index(gold[task]) for task in votes.tasks[:tasks]]
    return votes, codes


def test_no_gold_task_is_labelled_by_its_own_gold():
    """Its posterior stays as it is whatever its gold says; that of others does not."""
    votes, codes = coded(*crowd(5, 60), 30)
    before = taught(votes, codes, seed=3).info["posterior"]
    for task in (0, 7, 29):
        other = codes.copy()
        other[task] = 1 - other[task]
        after = taught(votes, other, seed=3).info["posterior"]
        assert after[task] == pytest.approx(before[task], abs=1e-12)
        assert not np.allclose(after, before)


def test_tasks_without_gold_are_labelled_by_all_of_it_and_others_by_nine_tenths():
    votes, codes = coded(*crowd(6, 60), 20)
    answers = taught(votes, codes, seed=0)
    whole = pooled(votes, earlier=Earlier(codes, None), seed=0)
    rest = codes < 0
    assert answers.info["posterior"][rest] == pytest.approx(whole.info["posterior"][rest])
    assert (answers.label[rest] == whole.label[rest]).all()
    without = []
    for task in range(3):  # each is hidden with one other
        pairs = [codes.copy() for _ in range(19)]
        for hidden, other in zip(pairs, np.delete(np.arange(20), task).tolist(), strict=True):
            hidden[[task, other]] = -1
        fits = [pooled(votes, earlier=Earlier(pair, None), seed=0) for pair in pairs]
        near = [abs(fit.info["posterior"][task] - answers.info["posterior"][task]) for fit in fits]
        without.append(min(each.max() for each in near))
    assert len(np.array_split(np.arange(20), FITS)[0]) == 2
    assert max(without) < 1e-9


def test_the_taught_is_taken_unless_it_errs_more_often():
    votes, codes = coded(*crowd(7, 60), 40)
    labels = {name: AGGREGATORS[name].call(votes, seed=0) for name in PLAINEST_FIRST}
    untaught = choice(labels, codes)
    as_good = labels[untaught]
    assert choice({**labels, TAUGHT: as_good}, codes) == TAUGHT
    right = int(np.flatnonzero(as_good.chance_right(codes)[:40] == 1)[0])
    winners = as_good.winners.copy() if isinstance(as_good.winners, np.ndarray) else None
    assert winners is not None, "another crowd is needed"
    winners[right] = ~winners[right]
    worse = replace(as_good, winners=winners)
    assert choice({**labels, TAUGHT: worse}, codes) == untaught


def test_few_gold_tasks_a_method_or_a_truth_alone_choose_nothing():
    table, gold = crowd(3, 40)
    assert wb.aggregate(table, gold=gold[:19]).chosen_from is None
    assert wb.aggregate(table, gold=gold, method="majority").chosen_from is None
    assert wb.aggregate(table, truth=gold).chosen_from is None


def test_a_truth_beside_gold_measures_and_does_not_choose():
    table, gold = crowd(4)
    found = wb.aggregate(table, gold=gold[:60], truth=gold[60:])
    alone = wb.aggregate(table, gold=gold[:60])
    assert found.found.method == alone.found.method
    assert found.to_dict()["tasks_measured"] == 60


@pytest.mark.release
@pytest.mark.skipif("WORKBENCH_DATA" not in os.environ, reason="WORKBENCH_DATA is not set")
@pytest.mark.parametrize("name", ["bluebird", "rte", "sp_amt", "zencrowd_us"])
def test_on_recorded_crowds_the_choice_is_hardly_worse_than_a_majority(name):
    """Fifty gold tasks choose; the others judge. The same tasks for both."""
    labels, gold = wb.load(name)
    worse = []
    for seed in range(3):
        drawn = gold.sample(50, random_state=seed)
        rest = gold.drop(drawn.index)
        chosen, plain = (
            wb.aggregate(labels, gold=drawn, truth=rest),
            wb.aggregate(labels, truth=rest, method="majority"),
        )
        worse.append(plain.accuracy - chosen.accuracy)
    assert np.mean(worse) <= 0.01


def test_no_fold_starts_from_a_fit_that_has_seen_its_gold(monkeypatch):
    """Neither the folds that teach nor those that calibrate, with an earlier fit or without."""
    table, gold = crowd(7, 80)
    met, seen_by = [], {}

    def watched(votes, *, earlier=None, **more):
        known = np.full(80, -1) if earlier.known is None else np.asarray(earlier.known)
        seen = frozenset(votes.tasks[known >= 0])
        before = None
        if earlier.fit is not None:
            before = next(
                whose
                for kept, whose in seen_by.values()
                if kept is earlier.fit.by_worker["precision"]
            )
        met.append((seen, before, len(votes)))
        found = bwa(votes, earlier=earlier, **more)
        kept = found.info["fit"].by_worker["precision"]
        seen_by[id(kept)] = kept, seen | (before or frozenset())
        return found

    monkeypatch.setattr("workbench.aggregation.pool.bwa", watched)
    wb.aggregate(table, gold=gold[:40])
    assert len(met) == 2 + FITS
    first = wb.aggregate(table, method="pooled", gold=gold[:40], calibrate="none")
    wb.aggregate(table, method="pooled", gold=gold[:40], start=first)
    wb.aggregate(table, method="pooled", start=first, calibrate="labels")
    for seen, before, labels in met:
        if len(seen) not in (0, 40):  # a fold
            assert not before
        if labels < len(table):  # labels are held out
            assert before is None
    assert any(before for *_, before, _ in met)
