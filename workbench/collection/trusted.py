"""The policy until-trusted: as until-sure, by a belief that ordinary crowds keep.

Whom to ask is until-sure's; what is believed of tasks and workers is `grid_beliefs`: classes of
unequal share, two coins a worker, tasks of unequal easiness where the evidence says so. Tasks that
more labels would hardly decide are left open, and named. Where hidden tasks show that answers stay
wrong however many labels are bought, nothing is bought that could not close a task. Where cheap
models label beside people, all models are asked first and believed jointly (`model_beliefs`). A
budget alone first buys a few tasks several labels (`first_block`), then every task one. What is
answered in the end is the word of two models of the labels (`final_answers`).

Source: `sure`, and beyond the papers `grid`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed, stream
from workbench.collection import first_block
from workbench.collection.grid_beliefs import GridBeliefs
from workbench.collection.model_beliefs import ModelBeliefs, check_confidences, models_of
from workbench.collection.models_first import first_questions
from workbench.collection.open_tasks import doubted
from workbench.collection.policy import Belief, Goal
from workbench.collection.pool import NOTHING, Ledger, Questions
from workbench.collection.sure import UntilSure

COMMON = 32
"""Tasks that all workers answer who seem very good, to be compared with one another."""
FEW_TASKS = 8
"""Of these tasks: those that strangers answer while right and wrong may be interchanged."""
LAST_GROWTH = 1.02
"""Before a collection ends the fit is chosen anew, where there are more than so many times as many
labels."""
MOST = 48
"""Workers, those of the cold start in front, who at most answer what is contested while it is
undecided whether some copy."""
LUCK = 0.5
"""Part of what a task lacks that the workers who can still label it must be expected to tell."""
SOME_LABELS = 2
"""Labels of a task from which on it is asked whether they can."""
CELLS = 2**22
"""Pairs of a task and a worker that are gone through at a time."""


class UntilTrusted(UntilSure):
    """Ask until the posterior error of every task that can be decided is at most ε."""

    hears_confidences = True

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed) -> None:
        super().__init__(ledger, goal, seed)
        self.seed, self.begun, self.ended = seed, 0, False
        self.final: tuple[int, FloatArray | None] = (-1, None)
        others = np.setdiff1d(np.arange(len(ledger.pool.workers)), self.starters)
        more = stream(seed, "witnesses").permutation(others)
        self.witnesses = np.concatenate([self.starters, more])

    @property
    def common(self) -> IntArray:
        """Tasks by which workers are compared with one another."""
        return self.order[:COMMON]

    def _believed(self) -> GridBeliefs:
        pool = self.ledger.pool
        models = models_of(pool)
        check_confidences(pool, models)
        if models is not None:
            return ModelBeliefs(self.ledger, models, self.common)
        return GridBeliefs(self.ledger, self.common)

    def state(self) -> dict[str, Any]:
        """Give beliefs, indices, which tasks are given up, and how far a budget's start is."""
        return {
            **super().state(),
            "beyond": self.beyond.tolist(),
            "begun": self.begun,
            "ended": self.ended,
        }

    def resume(self, saved: dict[str, Any]) -> None:
        """Take them up."""
        super().resume(saved)
        self.beyond[:] = saved["beyond"]
        self.begun, self.ended = int(saved["begun"]), bool(saved["ended"])

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """As until-sure; a collection ends where nobody at all would be asked."""
        ask = super().next(worker, most)
        if worker is None:
            self.ended = not len(ask)
        return ask

    def belief(self) -> Belief:
        """Posterior and closed tasks; once nothing more is asked, by several models of the labels.

        Of open tasks no more is believed than hidden ones among them show.
        """
        own, hidden = super().belief(), self.ledger.pool.hidden
        posterior = self._final() if self._over() else None
        posterior = own.posterior if posterior is None else posterior
        if hidden is not None and self.goal.epsilon is not None:
            heard = np.where(self.ledger.counts > 0, hidden, -1)
            posterior = doubted(posterior, ~own.closed, heard)
        return replace(own, posterior=posterior)

    def _over(self) -> bool:
        """Whether nothing more is asked: the money is spent, or no task is wanted."""
        if self.ended or self.ledger.money < self.ledger.pool.price.min() - 1e-9:
            return True
        return not self._wanted(self.beliefs.confidence(), None).any()

    def _final(self) -> FloatArray | None:
        many = len(self.ledger.labels)
        if self.final[0] != many:
            self.final = many, self.beliefs.final(self.seed)
        return self.final[1]

    def is_due(self) -> bool:
        """As until-sure; and before the collection ends, the fit is chosen anew.

        Where models label, many labels are those of people.
        """
        if self.beliefs.models is not None:
            many = min(self.fitted, len(self.beliefs.labels))
            return self._new() >= 20 + many // 20 or self._may_end()
        return super().is_due() or self._may_end()

    def refit(self) -> None:
        """Fit the beliefs to all labels, from several starts where the collection may end."""
        self._refit(anew=self._may_end())

    def to_close(self) -> FloatArray | None:
        """Expected price of closing each task: workers are asked who tell most for it first."""
        beliefs, epsilon = self.beliefs, self.goal.epsilon
        evidence_needed = (
            None if epsilon is None or self.goal.mean else beliefs.evidence_needed(epsilon)
        )
        if epsilon is None or evidence_needed is None:
            return None
        price = np.where(self.belief().closed, 0.0, np.inf)
        rows = np.flatnonzero(price > 0.0) if beliefs.closable_at(epsilon) else NOTHING.task
        pool, nats = self.ledger.pool, self._nats()
        kind = pool.kind
        order = np.argsort(-nats / pool.divisor, axis=1)
        # Nobody, at 0 nats, comes last.
        for part in _parts(rows, nats.shape[1]):
            by = order[kind[part]]
            can = np.take_along_axis(self._able(part), by, axis=1)
            total = np.cumsum(can * nats[kind[part][:, None], by], axis=1)
            cost = np.cumsum(can * pool.price[kind[part][:, None], by], axis=1)
            last = (total < evidence_needed[part, None]).sum(axis=1)
            some = last < total.shape[1]
            price[part[some]] = cost[some, last[some]]
        return price

    def _nats(self) -> FloatArray:
        """What a label of each worker is expected to tell of an easy task, (T, m); 0 of none."""
        weight = self.beliefs.weight.reshape(*self.index.shape, -1)
        alike = self.gain.shape[1] == 1
        nats = weight @ self.gain[0, 0] if alike else (weight * self.gain).sum(axis=2)
        able = (self.ledger.left > 0) & ~self.beliefs.copying
        return np.asarray(np.where(able, nats, 0.0))

    def _able(self, tasks: IntArray) -> BoolArray:
        """Who can still be asked about some tasks, of each group one; shape (k, m)."""
        voters, pool = self.beliefs.voters, self.ledger.pool
        if voters is None:
            return self.ledger.open[tasks]
        able = self._open(tasks[:, None], np.arange(len(self.ledger.left)))
        return voters.one_each(able & (self.ledger.left > 0), pool.price[pool.kind[tasks]])

    def _judge_all(self) -> None:
        super()._judge_all()
        self.beyond = self._out_of_reach()

    def _out_of_reach(self) -> BoolArray:
        """Tasks of which all who can still label them would hardly tell enough, shape (n,)."""
        ledger, epsilon = self.ledger, self.goal.epsilon
        out: BoolArray = np.zeros(len(ledger.counts), dtype=bool)
        evidence_needed = (
            None if epsilon is None or self.goal.mean else self.beliefs.evidence_needed(epsilon)
        )
        if evidence_needed is None or not len(ledger.open):  # a fit made apart: who takes it judges
            return out
        rows = np.flatnonzero((evidence_needed > 0.0) & (ledger.counts >= SOME_LABELS))
        nats = self._nats()
        for part in _parts(rows, nats.shape[1]):
            mine = nats[ledger.pool.kind[part]]
            left = np.einsum("ij,ij->i", self._able(part), mine)
            out[part] = left < LUCK * evidence_needed[part]
        return out

    def _may_end(self) -> bool:
        """Whether no task is wanted, and many labels came since the fit was chosen.

        The fit is chosen anew then, before the collection ends.
        """
        if not self.beliefs.outgrown(LAST_GROWTH):
            return False
        return not self._wanted(self.beliefs.confidence(), None).any()

    def _start(self, worker: int | None) -> Questions | None:
        models = self.beliefs.models
        if models is not None:
            return first_questions(self.ledger, models, self.order, worker)
        ledger = self.ledger
        if worker is None and self.goal.epsilon is None and not len(ledger.pool.gold):
            return self._first_block()
        return self._cold_start(worker)

    def _first_block(self) -> Questions | None:
        """Labels of the first tasks, whose number grows with the money; None when they are there.

        Of a known skill nothing has to be learnt.
        """
        ledger = self.ledger
        if self.started or ledger.pool.confusion is not None:
            return None
        tasks = self.order[: first_block.size(ledger)]
        if len(tasks) <= self.begun:
            return None
        ask = first_block.next_labels(ledger, tasks, self._voters())
        if len(ask):
            return ask
        self.begun = len(tasks)
        return None

    def _best(self, worker: int | None, most: int | None) -> Questions:
        """As until-sure, after those who are to be compared, and before strangers.

        A budget alone buys every task a label before it buys any task another.
        """
        ask = self._comparison(worker) if self.beliefs.voters is None else NOTHING
        bare = self.ledger.counts == 0
        if not len(ask) and self.goal.epsilon is None and bare.any():
            bare &= self._wanted(self.beliefs.confidence(), worker)
            ask = self._best_among(bare, worker, most)
        if not len(ask):
            ask = super()._best(worker, most)
        return ask if len(ask) else self._strangers(worker)

    def _comparison(self, worker: int | None) -> Questions:
        """The common tasks for somebody who seems very good, and for those she is compared with.

        These are the workers of the cold start; and while it is undecided who copies, more of them
        answer what is contested.
        """
        suspects = self.beliefs.suspects()
        beside = self.starters if len(suspects) > 1 else suspects[:0]
        ask = self._first_who_can([*suspects.tolist(), *beside.tolist()], self.common, worker)
        if len(ask) or not self.beliefs.undecided:
            return ask
        more = self.witnesses[:MOST].tolist()
        return self._first_who_can(more, self.beliefs.doubtful_tasks(), worker)

    def _strangers(self, worker: int | None) -> Questions:
        """A few tasks for somebody new, while right and wrong may be interchanged.

        Most workers are better than chance. Asked when nothing else is left to ask: until then
        nothing hangs on it, as who is always wrong tells as much as who is always right.
        """
        if not self.beliefs.needs_strangers():
            return NOTHING
        return self._first_who_can(self.witnesses.tolist(), self.common[:FEW_TASKS], worker)

    def _first_who_can(self, workers: list[int], tasks: IntArray, here: int | None) -> Questions:
        """Those of some tasks that the first of some workers who can has not answered."""
        ledger = self.ledger
        for who in workers:
            if here in (None, who):
                todo = tasks[self._open(tasks, who)][: ledger.left[who]]
                if len(todo):
                    return Questions(todo, np.full(len(todo), who))
        return NOTHING

    def _wanted(self, top: FloatArray, worker: int | None) -> BoolArray:
        done = self.beliefs.hopeless() | self.beyond
        if self.goal.epsilon is not None:
            done |= self.beliefs.closed_at_floor(self.goal.epsilon)
        return super()._wanted(top, worker) & ~(done & self.ledger.enough)


def _parts(rows: IntArray, width: int) -> list[IntArray]:
    """Rows of a wide table in parts of at most `CELLS` cells."""
    step = max(CELLS // width, 1)
    return np.split(rows, range(step, len(rows), step))
