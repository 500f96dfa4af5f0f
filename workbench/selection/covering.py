"""Whom to hire where not everybody labels every task.

The expected error of a vote in which all the hired take part says nothing of the tasks that few of
them, or none, have labelled. Here the error is the mean over the tasks as they are answered. Under
the model (skills at their posterior means, errors independent) an answer with posterior q is wrong
with chance 1 − q, so that with A_i those who label task i and labels drawn for them

    error(S) = mean over tasks of 1 − E[max_t P(t | labels of S ∩ A_i)],

and a task that nobody of S labels counts 1 − 1/L, or whatever the user says that such a task costs.
The expectation is taken over one draw of everybody's labels for each of some thousand tasks, the
same for all sets compared. Workers are added one by one, each the one that lowers the error most,
as long as one does; then each is exchanged for another as long as that helps. How far that is from
the best set is not proven.

On eight recorded crowds, 93 cells of controls and budgets, three draws each, the vote of the chosen
erred on .173 of the tasks, a task without a label counting 1 − 1/L; .231 where the choice takes no
account of who labels what, .200 for the K workers of highest smoothed accuracy
(docs/findings/selection-defaults.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.seeds import Seed, stream
from workbench.selection.scores import Scores

DRAWS = 4000
"""Tasks for which labels are drawn."""
CANDIDATES = 200
"""Workers who are looked at, at most: those who lower the error most alone."""
ROUNDS = 5
"""Times that every one of the chosen may be exchanged."""
ROUNDING = 1e-9
GAIN = 1e-6
"""What another worker must lower the error by."""


def who_answers(labels: pd.DataFrame, gold: pd.Series[Any], workers: Names) -> BoolArray | None:
    """Which worker labels which task, shape (n, m).

    None where that is not to be seen: the labels are of control tasks alone, those of an exam; or
    where everybody labels every task.
    """
    task, names = pd.factorize(labels["task"])
    if pd.Index(names).isin(gold.index).all():
        return None
    worker = pd.Index(workers).get_indexer(pd.Index(labels["worker"]))
    answers: BoolArray = np.zeros((len(names), len(workers)), dtype=np.bool_)
    answers[task[worker >= 0], worker[worker >= 0]] = True
    return None if answers.all() else answers


def covering(
    pool: Scores, answers: BoolArray, budget: int, *, undecided: float | None = None, seed: Seed
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
    seed
        Of the tasks and labels drawn.

    Returns
    -------
    Indices of the chosen, who errs least alone first.
    """
    votes = _Drawn.of(pool, answers, undecided, seed)
    score = np.zeros((pool.classes, votes.tasks))
    alone = votes.errors_with(score, np.arange(votes.workers))
    candidates = np.argsort(alone, kind="stable")[:CANDIDATES]
    chosen: list[int] = []
    reached = votes.error(score)
    while len(chosen) < budget and len(candidates):
        worker, error = _best(votes, score, candidates)
        if error > reached - GAIN:
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
    return votes.places[np.array(sorted(chosen, key=lambda each: alone[each]), dtype=np.int64)]


def _best(votes: _Drawn, score: FloatArray, candidates: IntArray) -> tuple[int, float]:
    """Who lowers the error most, and to what."""
    errors = votes.errors_with(score, candidates)
    best = int(errors.argmin())
    return int(candidates[best]), float(errors[best])


class _Drawn:
    """Labels drawn of those who can be hired, for tasks whose class is 0."""

    def __init__(
        self,
        places: IntArray,
        weights: FloatArray,
        answers: BoolArray,
        labels: IntArray,
        blank: float,
    ) -> None:
        self.places, self.weights, self.blank = places, weights, blank
        self.tasks, self.workers = answers.shape
        self._rows = [np.flatnonzero(column) for column in answers.T]
        self._labels = [labels[rows, j] for j, rows in enumerate(self._rows)]

    @classmethod
    def of(cls, pool: Scores, answers: BoolArray, undecided: float | None, seed: Seed) -> _Drawn:
        """Draw tasks, with replacement where there are few, and a label for each that is given."""
        draw, L = stream(seed, "covering"), pool.classes
        n = len(answers)
        rows = draw.permutation(n)[:DRAWS] if n >= DRAWS else np.arange(DRAWS) % n
        places = np.flatnonzero(pool.eligible)
        skill = np.broadcast_to(pool.posterior_skill[places], (len(rows), len(places)))
        wrong = draw.integers(1, L, skill.shape)
        labels = np.where(draw.random(skill.shape) < skill, 0, wrong)
        blank = 1.0 - 1.0 / L if undecided is None else undecided
        return cls(places, pool.vote_weight[places], answers[rows][:, places], labels, blank)

    def add(self, score: FloatArray, worker: int, times: float = 1.0) -> None:
        """Add a worker's votes to the scores of the classes, shape (L, tasks), in place."""
        score[self._labels[worker], self._rows[worker]] += times * self.weights[worker]

    def error(self, score: FloatArray) -> float:
        """Mean error of the answers that scores of log-odds lead to."""
        return float(self._wrong(score).mean())

    def errors_with(self, score: FloatArray, candidates: IntArray) -> FloatArray:
        """Mean error with each candidate added, shape (candidates,)."""
        now = self._wrong(score)
        reached, errors = now.mean(), np.empty(len(candidates))
        for at, worker in enumerate(candidates.tolist()):
            rows = self._rows[worker]
            more = score.take(rows, axis=1)  # laid out by class, unlike score[:, rows]
            more[self._labels[worker], np.arange(len(rows))] += self.weights[worker]
            errors[at] = reached + (self._wrong(more) - now[rows]).sum() / self.tasks
        # The last digits hang on the processor, and are not to choose among equals.
        return np.round(errors, 12)

    def _wrong(self, score: FloatArray) -> FloatArray:
        """1 − the posterior of the likeliest class; of a task without a vote what that counts."""
        ahead = score - score.max(axis=0)
        wrong = 1.0 - 1.0 / np.exp(ahead).sum(axis=0)
        # What is added and taken away again may leave a rounding error.
        return np.where(np.abs(score).max(axis=0) > ROUNDING, wrong, self.blank)
