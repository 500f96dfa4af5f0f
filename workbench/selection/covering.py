"""Whom to hire where not everybody labels every task.

The expected error of a vote in which all the hired take part says nothing of the tasks that few of
them, or none, have labelled. Here the error is the mean over the tasks as they are answered. Under
the model (skills at their posterior means, errors independent) an answer with posterior q is wrong
with chance 1 − q, so that with A_i those who label task i and labels drawn for them

    error(S) = mean over tasks of 1 − E[max_t P(t | labels of S ∩ A_i)],

and a task that nobody of S labels counts 1 − 1/L, or whatever the user says that such a task costs.
Where workers are known by rows of confusion matrices, labels are drawn and weighed by these, and
classes are as frequent as they are said to be; and where everybody labels all tasks, all ways to
answer are listed while they are few. The expectation is taken over one draw of everybody's labels
for each of some thousand tasks, the same for all sets compared. Workers are added one by one, each
the one that lowers the error most, as long as one does; then each is exchanged for another as long
as that helps. How far that is from the best set is not proven.

On eight recorded crowds, 93 cells of controls and budgets, three draws each, the vote of the chosen
erred on .173 of the tasks, a task without a label counting 1 − 1/L; .231 where the choice takes no
account of who labels what, .200 for the K workers of highest smoothed accuracy
(docs/findings/selection-defaults.md).
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import Votes
from workbench.selection.scoring import Scores

DRAWS, FEW_DRAWS = 4000, 1000
"""Tasks for which labels are drawn; and where two ways to choose are only compared."""
CANDIDATES = 200
"""Workers who are looked at, at most: those who lower the error most alone."""
ROUNDS = 5
"""Times that every one of the chosen may be exchanged."""
ROUNDING = 1e-9
GAIN = 1e-6
"""What another worker must lower the error by."""
AT_ONCE = 2**14
"""Labels whose tasks are judged together."""
LISTED = 2**12
"""Ways to answer a task that are listed, at most."""
TINY = 1e-300


def who_answers(votes: Votes, truth: IntArray) -> BoolArray | None:
    """Which worker labels which task, of the tasks with labels, shape (n, m).

    None where that is not to be seen: the labels are of control tasks alone, those of an exam; or
    where everybody labels every task.

    Parameters
    ----------
    votes
        All labels.
    truth
        Class of each task, −1 where it is not known.
    """
    task, labelled = pd.factorize(votes.task)
    if (truth[labelled] >= 0).all():
        return None
    answers: BoolArray = np.zeros((len(labelled), len(votes.workers)), dtype=np.bool_)
    answers[task, votes.worker] = True
    return None if answers.all() else answers


def covering(
    pool: Scores,
    answers: BoolArray,
    budget: int,
    *,
    undecided: float | None = None,
    draws: int | None = None,
    seed: Seed,
) -> IntArray:
    """Choose at most K workers whose vote errs least over the tasks as they are answered.

    Parameters
    ----------
    pool
        Scores of the m workers.
    answers
        Who labels which task, shape (n, m).
    budget
        K.
    undecided
        Error that a task without a label counts; None for 1 − 1/L, a fair draw.
    draws
        Tasks for which labels are drawn; None for 4,000.
    seed
        Of the tasks and labels drawn.

    Returns
    -------
    Indices of the chosen, who errs least alone first.
    """
    return _chosen(DrawnLabels.of(pool, answers, undecided, seed, draws or DRAWS), budget)


def covering_by_rows(
    confusion: FloatArray,
    shares: FloatArray,
    eligible: BoolArray,
    answers: BoolArray | None,
    budget: int,
    *,
    undecided: float | None = None,
    draws: int | None = None,
    seed: Seed,
) -> IntArray:
    """Choose at most K workers, known by rows, whose likeliest class errs least.

    Parameters
    ----------
    confusion, shares
        π, shape (m, L, L), true class × class named, and the shares of the classes, shape (L,).
    eligible
        Who may be chosen, shape (m,).
    answers
        Who labels which task, shape (n, m); None where everybody labels all.
    budget, undecided, draws, seed
        As for `covering`.
    """
    L, v = len(shares), int(eligible.sum())
    if answers is None and min(budget, v) * math.log(L) <= math.log(LISTED):
        blank = 1.0 - 1.0 / L if undecided is None else undecided
        listed = ListedAnswers(np.flatnonzero(eligible), confusion, shares, blank)
        return _chosen(listed, budget, filled=True)
    known = confusion, shares, eligible
    everybody: BoolArray = np.ones((1, len(eligible)), dtype=np.bool_)
    who = everybody if answers is None else answers
    drawn = DrawnLabels.by_rows(*known, who, undecided, seed, draws or DRAWS)
    return _chosen(drawn, budget, filled=True)


def _chosen(votes: DrawnLabels | ListedAnswers, budget: int, *, filled: bool = False) -> IntArray:
    """Add workers one by one, then exchange them; who errs least alone comes first.

    Where classes are unequal two more may help where one more does not: `filled` adds up to the
    budget, and leaves out in the end who is not needed.
    """
    score = votes.start()
    alone = votes.errors_with(score, np.arange(votes.workers))
    candidates = np.argsort(alone, kind="stable")[:CANDIDATES]
    chosen: list[int] = []
    reached = votes.error(score)
    while len(chosen) < budget and len(candidates):
        worker, error = _best(votes, score, candidates)
        if error > reached - GAIN and not filled:
            break
        votes.add(score, worker)
        chosen, reached = [*chosen, worker], error
        candidates = candidates[candidates != worker]
    for _ in range(ROUNDS):
        before = reached
        for worker in chosen.copy():
            votes.add(score, worker, -1.0)
            other, error = _best(votes, score, np.append(candidates, worker))
            if error > reached - GAIN:
                other, error = worker, reached
            votes.add(score, other)
            candidates = np.append(candidates[candidates != other], worker)
            candidates = candidates[candidates != other]
            chosen, reached = [*(each for each in chosen if each != worker), other], error
        if reached == before:
            break
    for worker in sorted(chosen, key=lambda each: -alone[each]) if filled else ():
        votes.add(score, worker, -1.0)
        if votes.error(score) <= reached + GAIN:
            chosen.remove(worker)
        else:
            votes.add(score, worker)
    return votes.places[np.array(sorted(chosen, key=lambda each: alone[each]), dtype=np.int64)]


def _best(
    votes: DrawnLabels | ListedAnswers, score: FloatArray, candidates: IntArray
) -> tuple[int, float]:
    """Who lowers the error most, and to what."""
    errors = votes.errors_with(score, candidates)
    best = int(errors.argmin())
    return int(candidates[best]), float(errors[best])


class ListedAnswers:
    """All ways in which workers known by rows can answer a task that each of them labels.

    A score is who is in, marked in one row, shape (1, v): the ways are few, and listed anew.

    Parameters
    ----------
    places
        Indices of those who can be hired, shape (v,).
    confusion, shares, blank
        As for `DrawnLabels`.
    """

    def __init__(
        self, places: IntArray, confusion: FloatArray, shares: FloatArray, blank: float
    ) -> None:
        self.places, self.workers, self.blank = places, len(places), blank
        self._confusion, self._shares = confusion[places], shares

    def start(self) -> FloatArray:
        """Nobody."""
        return np.zeros((1, self.workers))

    def add(self, score: FloatArray, worker: int, times: float = 1.0) -> None:
        """Let a worker in, or out again, in place."""
        score[0, worker] += times

    def error(self, score: FloatArray) -> float:
        """Error of the likeliest class."""
        right = float(self._ways(score).max(axis=0).sum())
        return 1.0 - right if score.any() else self.blank

    def errors_with(self, score: FloatArray, candidates: IntArray) -> FloatArray:
        """Error with each candidate added, shape (candidates,)."""
        ways = self._ways(score)
        joint = ways[None, :, :, None] * self._confusion[candidates][:, :, None, :]
        errors: FloatArray = np.round(1.0 - joint.max(axis=1).sum(axis=(1, 2)), 12)
        return errors

    def _ways(self, score: FloatArray) -> FloatArray:
        """ρ_k Π_j π_j(a_j | k) of all answers of those who are in, shape (L, ways)."""
        ways = self._shares[:, None]
        for worker in np.flatnonzero(score[0]).tolist():
            ways = (ways[:, :, None] * self._confusion[worker][:, None, :]).reshape(len(ways), -1)
        return ways


class DrawnLabels:
    """Labels drawn of those who can be hired, and what they say for each class.

    Parameters
    ----------
    places
        Indices of those who can be hired, shape (v,).
    speaks
        What a worker's label says for each class, shape (v, L, L), label × class; or one number a
        worker, shape (v,), that the class named gains alone.
    answers, labels
        Who of them labels which of the tasks drawn, and how, shape (t, v) each.
    blank
        Error that a task without a label counts.
    before
        What speaks for each class before any label, shape (L,).
    """

    def __init__(
        self,
        places: IntArray,
        speaks: FloatArray,
        answers: BoolArray,
        labels: IntArray,
        blank: float,
        before: FloatArray,
    ) -> None:
        self.places, self.blank, self.before = places, blank, before
        self.tasks, self.workers = answers.shape
        self._speaks = speaks
        self._rows = [np.flatnonzero(column) for column in answers.T]
        self._labels = [labels[rows, j] for j, rows in enumerate(self._rows)]

    @classmethod
    def of(
        cls, pool: Scores, answers: BoolArray, undecided: float | None, seed: Seed, draws: int
    ) -> DrawnLabels:
        """Draw tasks of class 0, for workers who err alike on all classes."""
        draw, L = stream(seed, "covering"), pool.classes
        rows = _some(len(answers), draws, draw)
        places = np.flatnonzero(pool.eligible)
        skill = np.broadcast_to(pool.posterior_skill[places], (len(rows), len(places)))
        wrong = draw.integers(1, L, skill.shape)
        labels = np.where(draw.random(skill.shape) < skill, 0, wrong)
        blank = 1.0 - 1.0 / L if undecided is None else undecided
        weights = pool.vote_weight[places]
        return cls(places, weights, answers[rows][:, places], labels, blank, np.zeros(L))

    @classmethod
    def by_rows(
        cls,
        confusion: FloatArray,
        shares: FloatArray,
        eligible: BoolArray,
        answers: BoolArray,
        undecided: float | None,
        seed: Seed,
        draws: int,
    ) -> DrawnLabels:
        """Draw tasks of each class as often as its share says."""
        draw, L = stream(seed, "covering by rows"), len(shares)
        rows = _some(len(answers), draws, draw)
        places = np.flatnonzero(eligible)
        at = (np.arange(len(rows)) + 0.5) / len(rows)
        true = draw.permutation(np.minimum(np.searchsorted(np.cumsum(shares), at), L - 1))
        edges = np.cumsum(confusion[places], axis=2)[:, :, :-1]
        labels = np.zeros((len(rows), len(places)), dtype=np.int64)
        for k in range(L):
            here = true == k
            point = draw.random((int(here.sum()), len(places)))
            labels[here] = (point[:, :, None] > edges[None, :, k]).sum(axis=2)
        blank = 1.0 - 1.0 / L if undecided is None else undecided
        speaks = np.log(np.maximum(confusion[places], TINY)).transpose(0, 2, 1)
        before = np.log(np.maximum(shares, TINY))
        return cls(places, speaks, answers[rows][:, places], labels, blank, before)

    def start(self) -> FloatArray:
        """Scores of the classes before any label, shape (L, tasks)."""
        return np.tile(self.before[:, None], self.tasks)

    def add(self, score: FloatArray, worker: int, times: float = 1.0) -> None:
        """Add a worker's votes to the scores of the classes, shape (L, tasks), in place."""
        rows = self._rows[worker]
        if self._speaks.ndim == 1:
            score[self._labels[worker], rows] += times * self._speaks[worker]
        else:
            score[:, rows] += times * self._speaks[worker][self._labels[worker]].T

    def error(self, score: FloatArray) -> float:
        """Mean error of the answers that scores of log-odds lead to."""
        return float(self._wrong(score).mean())

    def errors_with(self, score: FloatArray, candidates: IntArray) -> FloatArray:
        """Mean error with each candidate added, shape (candidates,)."""
        now = self._wrong(score)
        reached, errors = now.mean(), np.full(len(candidates), now.mean())
        sizes = np.array(
            [len(self._rows[worker]) for worker in candidates.tolist()], dtype=np.int64
        )
        part = np.cumsum(sizes) // AT_ONCE
        part[sizes == 0] = -1
        for each in np.unique(part[part >= 0]):
            block = np.flatnonzero(part == each)
            workers = candidates[block].tolist()
            rows = np.concatenate([self._rows[worker] for worker in workers])
            labels = np.concatenate([self._labels[worker] for worker in workers])
            more = score.take(rows, axis=1)  # laid out by class, unlike score[:, rows]
            owner = np.repeat(candidates[block], sizes[block])
            if self._speaks.ndim == 1:
                more[labels, np.arange(len(rows))] += self._speaks[owner]
            else:
                more += self._speaks[owner, labels].T
            first = np.cumsum(sizes[block]) - sizes[block]
            less = np.add.reduceat(self._wrong(more) - now[rows], first)
            errors[block] = reached + less / self.tasks
        # The last digits hang on the processor, and are not to choose among equals.
        return np.round(errors, 12)

    def _wrong(self, score: FloatArray) -> FloatArray:
        """1 − the posterior of the likeliest class; of a task without a vote what that counts."""
        if len(score) == 2:  # the same in fewer steps
            less = np.exp(-np.abs(score[0] - score[1]))
            wrong = less / (1.0 + less)
        else:
            wrong = 1.0 - 1.0 / np.exp(score - score.max(axis=0)).sum(axis=0)
        # What is added and taken away again may leave a rounding error.
        voted = np.abs(score - self.before[:, None]).max(axis=0) > ROUNDING
        return np.where(voted, wrong, self.blank)


def _some(tasks: int, draws: int, draw: np.random.Generator) -> IntArray:
    """Draw tasks; each as often as the others where they are few."""
    many: IntArray = np.arange(draws) % max(tasks, 1)
    return draw.permutation(tasks)[:draws] if tasks >= draws else many
