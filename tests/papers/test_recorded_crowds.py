"""Selection on recorded crowds: the two protocols, and no leak of gold."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

from crowd_papers import recorded_crowds
from crowd_papers.recorded_crowds import (
    choose,
    examine,
    in_hindsight,
    own_controls,
    shared_controls,
    vote,
)
from workbench.crowd.simulate import dense_votes, one_coin_labels
from workbench.ranking.recorded_crowds import Recording
from workbench.selection.scoring import informativeness, set_score

RULES = ("selected", "top-skill", "top-gain", "random", "as many")
GAPS = ("selected", "plug-in", "top-skill", "top-gain")
"""Rules that draw nothing where no two workers are equal."""


def crowd(seed=0, m=12, n=40, classes=2, share=1.0, gold=1.0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    labels = one_coin_labels(rng.beta(3, 2, m), truth, classes, seed=seed)
    labels[rng.random((n, m)) >= share] = -1
    truth[rng.random(n) >= gold] = -1
    return Recording(dense_votes(labels, classes), truth)


def unequal(n=30, classes=2):
    """Six workers of whom ten control answers say 10, 9, …, 5 right: no two are equal."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, classes, n)
    wrong = np.zeros((n, 6), dtype=bool)
    for worker in range(6):
        wrong[:worker, worker] = True
    wrong[10:] = rng.random((n - 10, 6)) < 0.35
    labels = np.where(wrong, (truth[:, None] + 1) % classes, truth[:, None])
    return Recording(dense_votes(labels, classes), truth)


def first_ten(recording):
    return recording.votes.task < 10


class TestControls:
    def test_one_exam_for_all(self):
        met = crowd(gold=0.8)
        aside = shared_controls(met, 7, seed=3)
        items = np.unique(met.votes.task[aside])
        assert len(items) == 7
        assert (met.truth[items] >= 0).all()
        assert aside.sum() == 7 * 12

    def test_an_exam_of_ones_own(self):
        met = crowd(m=25, n=60, share=0.3, gold=0.7)
        aside = own_controls(met, 8, seed=3)
        gold = met.truth[met.votes.task] >= 0
        assert not (aside & ~gold).any()
        for worker in range(25):
            mine = met.votes.worker == worker
            expected = min(8, mine.sum() // 2, (mine & gold).sum())
            assert (aside & mine).sum() == expected


class TestExam:
    @pytest.mark.parametrize("shared", [True, False])
    def test_control_answers_do_not_vote(self, shared):
        met = crowd(share=1.0 if shared else 0.5)
        draw = shared_controls if shared else own_controls
        aside = draw(met, 6, seed=2)
        exam = examine(met, aside, shared=shared)
        pairs = set(zip(met.votes.task[aside], met.votes.worker[aside], strict=True))
        assert pairs
        assert not pairs & set(zip(exam.votes.task, exam.votes.worker, strict=True))
        assert len(exam.votes) + aside.sum() == len(met.votes)
        if shared:
            assert (exam.truth[np.unique(met.votes.task[aside])] == -1).all()

    @pytest.mark.parametrize("shared", [True, False])
    @pytest.mark.parametrize("rule", RULES)
    def test_gold_of_scored_items_does_not_choose_or_weigh(self, shared, rule):
        """Other gold where nobody was examined: the same workers, with the same skills."""
        met = crowd(3, n=80, share=1.0 if shared else 0.15)
        draw = shared_controls if shared else own_controls
        aside = draw(met, 6 if shared else 3, seed=2)
        examined = np.isin(np.arange(80), met.votes.task[aside])
        assert (~examined).sum() > 20
        other = Recording(met.votes, np.where(examined, met.truth, 1 - met.truth))
        assert (draw(other, 6 if shared else 3, seed=2) == aside).all()
        one, two = (examine(each, aside, shared=shared) for each in (met, other))
        assert (one.scores.correct == two.scores.correct).all()
        marked = choose(one, rule, 4, seed=9)
        assert (marked == choose(two, rule, 4, seed=9)).all()
        if shared:
            # Of two classes, what is right by one gold is wrong by the other: nothing else moved.
            for kind in ("linear", "log-odds", "majority", "EM"):
                assert vote(one, marked, kind)[0] + vote(two, marked, kind)[0] == pytest.approx(1)


class TestChoice:
    def test_hindsight_maximises_f_itself(self):
        met = crowd(8, m=7, n=40)
        exam = examine(met, first_ten(met), shared=True)
        known = in_hindsight(exam)
        right = exam.votes.label == met.truth[exam.votes.task]
        skill = np.array([right[exam.votes.worker == j].mean() for j in range(7)])
        assert known.scores.skill == pytest.approx(skill)
        worth = informativeness(skill)
        sets = chain.from_iterable(combinations(range(7), k) for k in range(1, 6))
        best = max(sets, key=lambda one: set_score(worth[list(one)]))
        chosen = np.unique(exam.votes.worker[choose(known, "selected", 5, seed=0)])
        assert set(chosen) == set(best)


class TestVote:
    @pytest.mark.parametrize("kind", ["linear", "log-odds", "majority"])
    @pytest.mark.parametrize("classes", [2, 3])
    def test_by_hand(self, kind, classes):
        met = crowd(6, m=7, classes=classes, share=0.6)
        exam = examine(met, own_controls(met, 5, seed=1), shared=False)
        marked = choose(exam, "top-skill", 7, seed=0)
        total = 0.0
        items = np.flatnonzero(exam.truth >= 0)
        for item in items:
            sums = np.zeros(classes)
            for i in np.flatnonzero(marked & (exam.votes.task == item)):
                w = exam.scores.skill[exam.votes.worker[i]]
                p = min(max(w, 0.05), 0.95)
                sums[exam.votes.label[i]] += {
                    "linear": w - 1 / classes,
                    "log-odds": np.log(p / (1 - p)) - np.log(1 / (classes - 1)),
                    "majority": 1.0,
                }[kind]
            top = np.flatnonzero(sums > sums.max() - 1e-9)
            total += (exam.truth[item] in top) / len(top)
        found = vote(exam, marked, kind, truncate=0.05)[0]
        assert found == pytest.approx(total / len(items))


class TestMisfit:
    def test_one_coin_fits_its_own_labels(self, monkeypatch):
        """Distance from the mean of refits, in standard deviations: 0 and 1 over data sets."""
        found = []
        for seed in range(12):
            met = crowd(seed, m=15, n=80)
            monkeypatch.setattr(recorded_crowds, "recorded", lambda _, met=met: met)
            found.append(recorded_crowds.misfit.__wrapped__("any")[1])
        assert abs(np.mean(found)) < 4 / np.sqrt(12)
        assert 0.4 < np.std(found) < 1.9
