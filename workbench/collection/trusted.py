"""The policy until-trusted: the worker who tells most for her price, until each task is believed.

**What is believed** of tasks and workers: `grid_beliefs`; where cheap models label beside people,
`model_beliefs`.

**Who is asked, and about what** (`UntilTrusted.next`). A worker's *index* says what it is worth to
ask her (`worker_index`).

- *First, a cold start* (`_start`). A few workers answer the same few tasks; where there is gold,
  the first workers answer gold tasks (`_gold_first`). Cheap models answer all tasks first
  (`models_first`). A budget alone first buys several labels for a few tasks (`first_block`), then
  one label for every task.
- *Then the best worker for each task* (`_best_among`): of those who can be asked, the one of
  highest index. As long as workers hardly agree nobody's labels close a task, indices stay near
  each other, and more workers are asked about the same tasks.
- *Which task first.* With ε, tasks that are nearly closed: there a newcomer is judged by a truth
  that is nearly known (footnote 1 of Ho et al.: gold made of many labels), and her label, little as
  it counts, may close them. If ε is a mean, all tasks are brought below one bar, which then falls.
  With a budget alone, the tasks in most doubt.
- *Workers who arrive one at a time.* Whoever is here is asked unless those still to come would tell
  more for the price. Once somebody has come back after another, nobody is waited for any more.
- *Before and after that.* Before it, workers who seem very good answer a few common tasks
  (`_comparison`, `copies`); after it, while right and wrong may be interchanged, workers who are
  new answer a few (`_strangers`).

**When it ends** (`UntilTrusted._wanted`). A task is closed when its posterior error is at most ε; a
posterior that is right may be looked at after every label (Wald 1945). Where errors have costs, the
answer is the class of least expected cost, and closes its task when that cost is at most ε
(`crowd.loss`). Tasks that more labels would hardly decide are left open, and named:

- `hopeless`: a label tells next to nothing of the task;
- `undecidable`: too few workers are left who could label it;
- `closed_at_floor`: hidden tasks show errors that no label cures, and that put ε out of reach; the
  task would be closed without them.

Where some tasks are hidden, each task that would be left open first gets one more label, and again
as long as fewer hidden tasks are wrong than before (`_want_one_more_label`): what seems hopeless
may be a poor fit to few labels.

The collection is over when every task is closed or left open, the money is spent, or nobody is left
to ask.

**What is answered** (`UntilTrusted.belief`). Closed tasks by the posterior that closed them, the
others by several models (`final_answers`), which are believed as far as the open hidden tasks show
(`open_tasks`).

Source: Ho, Jabbari, Vaughan (2013), Section 3; Wald (1945); and beyond the papers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed, stream
from workbench.collection import first_block
from workbench.collection.final_answers import final_posterior
from workbench.collection.grid_beliefs import GridBeliefs
from workbench.collection.model_beliefs import ModelBeliefs, check_confidences, models_of
from workbench.collection.models_first import first_questions
from workbench.collection.open_tasks import doubted
from workbench.collection.policy import Belief, Goal, Policy
from workbench.collection.pool import ALIKE, NOTHING, Ledger, Questions
from workbench.collection.worker_index import WorkerIndex
from workbench.crowd.loss import cheapest

# Chosen by the labels they cost on simulated crowds: docs/findings/label-until-sure.md.
START = (6, 16)
"""Workers and tasks of the cold start where anybody can be asked at any time, or there is gold."""
# Chosen on seeds 300 to 369 of the simulated crowds of docs/findings/until-trusted.md, and on those
# for copies and mirror images that its end names.
COMMON = 32
"""Tasks that all workers answer who seem very good, to be compared with one another."""
MOST = 48
"""Workers, those of the cold start in front, who at most answer what is contested while it is
undecided whether some copy."""
FEW_TASKS = 8
"""Of the common tasks: those that strangers answer while right and wrong may be interchanged."""
LAST_GROWTH = 1.02
"""Before a collection ends the fit is chosen anew, where there are more than so many times as many
labels: with each label it took a sixth of the time."""
LUCK = 0.5
"""Part of what a task lacks that the workers who can still label it must be expected to tell."""
SOME_LABELS = 2
"""Labels of a task from which on it is asked whether they can."""
# By judgement, not tuned.
BLOCK = 40
"""Tasks of the cold start where workers come and go: each is asked about them until half of them
are believed."""
PATIENCE = 0.7
"""Share of the dual price at which a worker who is here is still asked."""
FIRST_ERROR, NEXT_ERROR = 3.0, 0.75
"""Where the mean error is to be ε, tasks are first brought below so many ε, then by this factor."""
LEAST_BAR = 1e-12
"""Below it no task is brought."""
LEAST_GAIN = 0.002
"""Nats a label below which nobody is asked."""
BUDGET_ERROR = 0.01
"""Stands in for ε in an index where there is a budget in its place."""
NEW_LABELS, NEW_PART = 20, 20
"""A refit is due when so many labels are new, and one in so many beside."""
# For speed, by judgement.
ROWS = 256
"""Tasks looked at for one answer of `next`; where those in most doubt come first, a 20th of all."""
DENSE, BETTER = 200_000, 64
"""Beyond so many pairs only so many workers of highest index are looked at."""
FEW = 4000
"""Tasks up to which all are sorted."""
CELLS = 2**22
"""Pairs of a task and a worker that are gone through at a time."""


class UntilTrusted(Policy):
    """Ask until the posterior error of every task (or of all in the mean) is at most ε.

    Of every task that can be decided; without ε, until the money is spent, uncertain tasks first.
    """

    hears_confidences = True
    weighs_losses = True

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed) -> None:
        self.ledger, self.goal, self.seed = ledger, goal, seed
        pool, rng = ledger.pool, stream(seed, "until sure")
        self.everybody = rng.permutation(len(pool.workers))
        self.order = rng.permutation(len(pool.tasks))
        self.beliefs = self._make_beliefs()
        self.starters = self._one_of_each()[: START[0]]
        others = np.setdiff1d(np.arange(len(pool.workers)), self.starters)
        more = stream(seed, "witnesses").permutation(others)
        self.witnesses = np.concatenate([self.starters, more])
        self.came: BoolArray = np.zeros(len(pool.workers), dtype=bool)
        self.latest, self.return_seen = -1, False
        self.fitted, self.fits = 0, 0
        self.cold_start_over = self._begins_with_labels()
        self.block_done, self.ended = 0, False
        self._kept_final: tuple[FloatArray | None, bool] | None = None  # by the labels so far
        self.epsilon = BUDGET_ERROR if goal.epsilon is None else goal.epsilon
        self.worker_index = WorkerIndex(ledger, self.beliefs, self.epsilon)
        self.least_labels: IntArray = np.zeros(len(pool.tasks), dtype=np.int64)
        self.wrong_before = np.inf
        self._judge_workers()

    @property
    def common(self) -> IntArray:
        """Tasks by which workers are compared with one another."""
        return self.order[:COMMON]

    def _one_of_each(self) -> IntArray:
        """Everybody in random order, of each group whose members count as one the first."""
        groups = self.beliefs.merged_groups
        if groups is None:
            return self.everybody
        first = np.unique(groups.leader[self.everybody], return_index=True)[1]
        return self.everybody[np.sort(first)]

    def _make_beliefs(self) -> GridBeliefs:
        """What is believed before any label: of models jointly where there are some."""
        pool = self.ledger.pool
        models = models_of(pool)
        check_confidences(pool, models)
        if models is not None:
            return ModelBeliefs(self.ledger, models, self.common)
        return GridBeliefs(self.ledger, self.common)

    # Who is asked, and about what

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """Pairs to ask now; see `Policy`. Tasks with labels still to come are left alone.

        A collection ends where nobody at all would be asked.
        """
        if worker is not None:
            self.return_seen |= bool(self.came[worker]) and worker != self.latest
            self.came[worker] = True
            self.latest = self.latest if self.return_seen else worker
        if self.is_due() and not self.fitted_beside:
            self.refit()
        ask = self._start(worker)
        ask = self._best(worker, most) if ask is None else ask
        while not len(ask) and self._fits_before_the_end(worker):
            self.refit()
            ask = self._best(worker, most)
        if not len(ask) and worker is None and self._want_one_more_label():
            ask = self._best(worker, most)
        ask = self.ledger.affordable(Questions(ask.task[:most], ask.worker[:most], ask.gold))
        if worker is None:
            self.ended = not len(ask)
        return ask

    def _fits_before_the_end(self, worker: int | None) -> bool:
        """Whether a fit to all labels comes first where nothing would be asked: it may ask more."""
        if worker is None:
            return self.is_behind() or self.is_due()
        return not self.fitted_beside and self.is_behind() and self.is_over()

    def _start(self, worker: int | None) -> Questions | None:
        """What is asked before indices decide; None when that is over."""
        models = self.beliefs.models
        if models is not None:
            return first_questions(self.ledger, models, self.order, worker)
        ledger = self.ledger
        if worker is None and self.goal.epsilon is None and not len(ledger.pool.gold):
            return self._first_block()
        return self._cold_start(worker)

    def _cold_start(self, worker: int | None) -> Questions | None:
        """The next visit of the cold start; None when it is over, or she cannot take part."""
        ledger, pool = self.ledger, self.ledger.pool
        if pool.confusion is not None or self._begins_with_labels():
            return None
        if len(pool.gold):
            return self._gold_first(worker)
        if self.cold_start_over:
            return None
        asked, size = (self.starters, START[1]) if worker is None else (np.array([worker]), BLOCK)
        tasks = self.order[:size]
        if worker is not None:
            enough = (self.beliefs.cost()[tasks] <= self.epsilon).mean() > 0.5
            once = 1.0 if pool.available is None else pool.available[tasks, worker].mean()
            self.cold_start_over = bool(
                enough or 2 * self.came.sum() > len(self.came) or once < 0.5
            )
            if self.cold_start_over:
                return None
        for who in asked:
            todo = tasks[self._open(tasks, who)][: ledger.left[who]]
            if len(todo):
                return Questions(todo, np.full(len(todo), who))
        self.cold_start_over = worker is None or self.return_seen
        return None if self.cold_start_over else NOTHING

    def _begins_with_labels(self) -> bool:
        """Whether there are as many labels on record as a cold start buys."""
        return self.ledger.recorded[0] >= START[0] * START[1]

    def gold_first(self) -> tuple[int, int]:
        """The first workers who come, and gold tasks of each; none where skills are known."""
        pool = self.ledger.pool
        if pool.confusion is not None or self.beliefs.models is not None:
            return 0, 0
        none = self._begins_with_labels() or not len(pool.gold)
        return (0, 0) if none else (START[0], min(START[1], len(pool.gold)))

    def _gold_first(self, worker: int | None) -> Questions | None:
        """Gold tasks that one of the first workers has not had; None where there are none.

        The first are those who had some, and others until they are `START` many. So who is asked
        about how many hangs neither on the order of questions nor on how many come at a time.
        """
        ledger, there = self.ledger, self.ledger.pool.gold_available
        can = ledger.gold_open[: START[1]]
        had = ~ledger.gold_open if there is None else there & ~ledger.gold_open
        first = np.flatnonzero(had.any(axis=0))[: START[0]]
        others = self.starters if worker is None else np.array([worker])
        first = np.append(first, others[~np.isin(others, first)][: START[0] - len(first)])
        if worker is not None:
            first = first[(first == worker) & self._wanted(worker).any()]
        elif self.cold_start_over:
            return None
        for who in first:
            todo = np.flatnonzero(can[:, who])[: ledger.left[who]]
            if len(todo):
                return Questions(todo, np.full(len(todo), who), True)
        self.cold_start_over |= worker is None or self.return_seen
        return None

    def _first_block(self) -> Questions | None:
        """Questions about the first block, which grows with the money; None when it is labelled.

        Where skills are known there is none: it is there to learn them.
        """
        ledger = self.ledger
        if self.cold_start_over or ledger.pool.confusion is not None:
            return None
        tasks = self.order[: first_block.size(ledger)]
        if len(tasks) <= self.block_done:
            return None
        workers = self._one_of_each()
        ask = first_block.next_labels(ledger, tasks, workers, self._open(tasks[:, None], workers))
        if len(ask):
            return ask
        self.block_done = len(tasks)
        return None

    def _best(self, worker: int | None, most: int | None) -> Questions:
        """What is asked once the start is over.

        First workers are compared (`_comparison`); then a budget alone buys every task its first
        label; then the best worker is asked about each of the wanted tasks that come first; and
        where nothing of that is left, strangers are asked.
        """
        ask = self._comparison(worker) if self.beliefs.merged_groups is None else NOTHING
        bare = self.ledger.counts == 0
        if not len(ask) and self.goal.epsilon is None and bare.any():
            bare &= self._wanted(worker)
            ask = self._best_among(bare, worker, most)
        if not len(ask):
            wanted = self._wanted(worker)
            ask = self._best_among(wanted, worker, most)
        return ask if len(ask) else self._strangers(worker)

    def _best_among(self, tasks: BoolArray, worker: int | None, most: int | None) -> Questions:
        """The best worker for each of the marked tasks that come first, shape (n,)."""
        ledger, pool = self.ledger, self.ledger.pool
        cost, index = self.beliefs.cost(), self.worker_index.index
        here = np.arange(len(ledger.left)) if worker is None else np.array([worker])
        ready = tasks & (ledger.waiting == 0)
        if worker is not None:
            if ledger.left[worker] <= 0 or self.beliefs.copying[worker]:
                return NOTHING
            ready &= self._open(np.arange(len(ready)), worker)
        rows = self.order[ready.take(self.order)]
        near = self.goal.epsilon is not None
        key = cost.take(rows)
        key = key if near else -key
        many = min(max(ROWS, len(cost) // 100) if near else max(8, len(cost) // 20), most or ROWS)
        if worker is None and many * len(here) > DENSE:
            best = np.where(ledger.left > 0, index.max(axis=0), -1.0)
            some = np.argpartition(-best, BETTER)[:BETTER]
            here = some if self._open(rows[:many, None], some).any() else here
        least = np.zeros(len(pool.price))
        lacking = ledger.counts < self.least_labels
        if worker is not None and len(rows):
            if not self.return_seen:
                least = PATIENCE * self.worker_index.price_to_come(self.beliefs, rows, self.came)
            several = len(pool.price) > 1
            kinds = np.flatnonzero(np.bincount(pool.kind[rows])) if several else pool.kind[:1]
            rate = index[kinds, worker]
            good = (rate * pool.divisor[kinds, worker] > LEAST_GAIN) & (rate >= least[kinds])
            if not (good.any() or lacking[rows].any()):  # do not go through them
                return NOTHING
        for task in _ascending(rows, key, many):
            kind = pool.kind[task]
            able = self._open(task[:, None], here) & (ledger.left[here] > 0)
            able &= ~self.beliefs.copying[here]
            rate = np.where(able, np.round(index[np.ix_(kind, here)], ALIKE), -1.0)
            who = here[rate.argmax(axis=1)]
            rate = rate.max(axis=1)
            good = (rate * pool.divisor[kind, who] > LEAST_GAIN) & (rate >= least[kind])
            good |= (rate >= 0.0) & lacking[task]
            if good.any():
                return self.worker_index.one_visit(task[good], who[good])
        return NOTHING

    def _comparison(self, worker: int | None) -> Questions:
        """The common tasks, for somebody who seems very good or those she is compared with.

        These are the workers of the cold start; and while it is undecided who copies, more of them
        answer what is contested.
        """
        suspects = self.beliefs.suspects()
        beside = self.starters if len(suspects) > 1 else suspects[:0]
        ask = self._first_who_can(np.append(suspects, beside), self.common, worker)
        more = self.witnesses[:MOST]
        elsewhere = worker is not None and worker not in more
        if len(ask) or elsewhere or not self.beliefs.copies_in_doubt:
            return ask
        return self._first_who_can(more, self.beliefs.contested(), worker)

    def _strangers(self, worker: int | None) -> Questions:
        """A few tasks for somebody new, while right and wrong may be interchanged.

        Most workers are better than chance. Asked when nothing else is left to ask: until then
        nothing hangs on it, as who is always wrong tells as much as who is always right.
        """
        if not self.beliefs.may_be_reversed:
            return NOTHING
        return self._first_who_can(self.witnesses, self.common[:FEW_TASKS], worker)

    def _first_who_can(self, workers: IntArray, tasks: IntArray, here: int | None) -> Questions:
        """Those of some tasks that the first of some workers who can has not answered."""
        left = self.ledger.left
        workers = workers[(left[workers] > 0) & (here is None or workers == here)]
        able = self._open(tasks, workers[:, None])
        first = np.flatnonzero(able.any(axis=1))[:1]
        if not len(first):
            return NOTHING
        who = int(workers[first[0]])
        todo = tasks[able[first[0]]][: left[who]]
        return Questions(todo, np.full(len(todo), who))

    def _open(self, task: IntArray, worker: IntArray | int) -> BoolArray:
        """Whether each worker can be asked about each task, none of her group having it.

        Shapes broadcast.
        """
        able, groups = self.ledger.open[task, worker], self.beliefs.merged_groups
        if groups is not None:
            worker = np.asarray(worker)
            asked = (groups.group[worker] >= 0) & (self.ledger.waiting[task] > 0)
            able = able & ~asked & ~groups.have_labelled(self.ledger.labels, task, worker)
        return np.asarray(able)

    # Labels come, and are fitted

    def told(self, ask: Questions, label: IntArray) -> None:
        """Move the beliefs of tasks and workers, and the index of these workers' groups."""
        self.beliefs.told(ask, label)
        self._kept_final = None
        workers, groups = np.unique(ask.worker), self.beliefs.merged_groups
        if groups is not None:
            workers = np.flatnonzero(np.isin(groups.leader, groups.leader[workers]))
        self.worker_index.told(self.beliefs, workers)

    def unasked(self, ask: Questions, label: IntArray) -> None:
        """Move the beliefs; fit them anew where that is due, or no task is wanted."""
        self.told(ask, label)
        if self.is_due() or not self._wanted().any():
            self.refit()

    def is_due(self) -> bool:
        """Whether many labels are new, or the collection may end by a fit chosen on fewer labels.

        Where models label, many beside people's labels are many.
        """
        many = self.fitted
        if self.beliefs.models is not None:
            many = min(many, len(self.beliefs.labels))
        return self._labels_since_fit() >= NEW_LABELS + many // NEW_PART or self._may_end()

    def is_behind(self) -> bool:
        """Whether labels came since the last fit."""
        return self._labels_since_fit() > 0

    def _labels_since_fit(self) -> int:
        """Labels and answers to gold tasks that came since the last fit."""
        return len(self.ledger.labels) + len(self.ledger.gold_labels) - self.fitted

    def refit(self) -> None:
        """Fit the beliefs to all labels, from several starts where the collection may end."""
        self.beliefs.refit(anew=self._may_end())
        self._kept_final, self.fits = None, self.fits + 1
        self.fitted += self._labels_since_fit()
        self._judge_workers()

    def adopt(self, fitted: Self) -> None:
        """Take beliefs fitted to earlier labels, unless its own are of later; hear the rest.

        Of the same labels they are taken: they may have been chosen anew.
        """
        if fitted.fitted < self.fitted:
            return
        self.beliefs, self.fitted, self._kept_final = fitted.beliefs, fitted.fitted, None
        self.beliefs.ledger = self.ledger
        ledger, then = self.ledger, fitted.ledger
        gold, labels = (
            ledger.gold_labels[len(then.gold_labels) :],
            ledger.labels[len(then.labels) :],
        )
        for is_gold, (task, worker, label) in ((True, gold.T), (False, labels.T)):
            if len(task):
                self.beliefs.told(Questions(task, worker, is_gold), label)
        self._judge_workers()

    def _judge_workers(self) -> None:
        """Give all workers their index, and see which tasks those who are left cannot decide."""
        self.worker_index.judge_all(self.beliefs)
        self.undecidable = self._undecidable()
        if not self._wanted().any():
            self._want_one_more_label()

    # When it ends

    def _want_one_more_label(self) -> bool:
        """Want one more label of each task that would be left open, if that may still help.

        It does as long as fewer hidden tasks are wrong than when that was done before.
        """
        lacking = np.flatnonzero(self.ledger.counts < self.least_labels)
        if len(lacking) and len(self.ledger.open):  # who could have labelled them may be gone
            self.least_labels[lacking[~self._somebody_left(lacking)]] = 0
        hidden, at = self.ledger.pool.hidden, self.beliefs.hidden_heard()
        if self.goal.epsilon is None or hidden is None or not len(self.ledger.open):
            return False
        wrong = int((self.beliefs.posterior()[at].argmax(axis=1) != hidden[at]).sum())
        if not 0 < wrong < self.wrong_before:
            return False
        rows = np.flatnonzero(~self._own_belief().closed & ~self.ledger.full)
        rows = rows[self._somebody_left(rows)]
        self.wrong_before = wrong
        self.least_labels[rows] = self.ledger.counts[rows] + 1
        return len(rows) > 0

    def _wanted(self, worker: int | None = None) -> BoolArray:
        """Tasks about which more is to be asked now, shape (n,); where there are none, it ends.

        A task is not wanted if it is closed, or if it has its least number of labels and more
        would hardly close it.
        """
        done = self.beliefs.hopeless() | self.undecidable
        if self.goal.epsilon is not None:
            done |= self.beliefs.closed_at_floor(self.goal.epsilon)
        done &= self.ledger.enough & (self.ledger.counts >= self.least_labels)
        return self._still_open(worker) & ~done

    def _still_open(self, worker: int | None) -> BoolArray:
        """Tasks that are not closed, and may have more labels; shape (n,).

        If ε is a mean: those whose error, times the best index of their type, is above a bar. The
        bar falls when no task is above it, so that in the end a price buys the same of each. For a
        worker who is here only once it falls until some tasks are above it.
        """
        error, can = self.beliefs.cost(), ~self.ledger.full
        if not self.goal.mean or not can.any():
            return ~self._closed(error) & can
        if self.goal.epsilon is not None and error.mean() <= self.goal.epsilon:
            return ~self._closed(error) & can
        can &= self._somebody_left(np.arange(len(error)))
        rate = np.where(self.ledger.left > 0, self.worker_index.index, 0.0).max(axis=1)
        rate = np.maximum(rate / max(rate.max(), 1e-9), 1e-9)
        worth = error * rate[self.ledger.pool.kind]
        few = 1 if worker is None else 1 + len(error) // 20
        few = min(few, int((worth[can] > LEAST_BAR).sum()))
        bar = FIRST_ERROR * self.epsilon
        while (worth[can] > bar).sum() < few:
            bar *= NEXT_ERROR
        wanted: BoolArray = ((worth > bar) | ~self.ledger.enough) & can
        return wanted

    def _closed(self, error: FloatArray) -> BoolArray:
        """Tasks whose error, or expected cost, is at most ε; shapes (n,)."""
        if self.goal.epsilon is None:
            return np.zeros(len(error), dtype=bool)
        if self.goal.mean:
            return np.full(len(error), bool(error.mean() <= self.goal.epsilon)) & self.ledger.enough
        closed: BoolArray = (error <= self.goal.epsilon) & self.ledger.enough
        return closed

    def _undecidable(self) -> BoolArray:
        """Tasks that would hardly be closed if all who still can labelled them, shape (n,)."""
        ledger = self.ledger
        out: BoolArray = np.zeros(len(ledger.counts), dtype=bool)
        evidence_needed = self._evidence_needed()
        if evidence_needed is None or not len(
            ledger.open
        ):  # a fit made beside: who takes it judges
            return out
        rows = np.flatnonzero((evidence_needed > 0.0) & (ledger.counts >= SOME_LABELS))
        nats = self.worker_index.nats(self.beliefs)
        for part in _parts(rows, nats.shape[1]):
            mine = nats[ledger.pool.kind[part]]
            left = np.einsum("ij,ij->i", self._who_is_left(part), mine)
            out[part] = left < LUCK * evidence_needed[part]
        return out

    def _evidence_needed(self) -> FloatArray | None:
        """Nats that would close each task, shape (n,); None where ε is not asked of each task."""
        if self.goal.epsilon is None or self.goal.mean:
            return None
        return self.beliefs.evidence_needed(self.goal.epsilon)

    def _who_is_left(self, tasks: IntArray) -> BoolArray:
        """Who can still be asked about each of k tasks, of each group one; shape (k, m)."""
        groups, pool = self.beliefs.merged_groups, self.ledger.pool
        if groups is None:
            return self.ledger.open[tasks]
        able = self._open(tasks[:, None], np.arange(len(self.ledger.left)))
        return groups.one_each(able & (self.ledger.left > 0), pool.price[pool.kind[tasks]])

    def _somebody_left(self, tasks: IntArray) -> BoolArray:
        """Of which of k tasks somebody can still be asked, or a label is to come, shape (k,)."""
        if not len(self.ledger.open):  # a fit made beside
            return np.ones(len(tasks), dtype=bool)
        workers = np.flatnonzero((self.ledger.left > 0) & ~self.beliefs.copying)
        return self._open(tasks[:, None], workers).any(axis=1) | (self.ledger.waiting[tasks] > 0)

    def _may_end(self) -> bool:
        """Whether no task is wanted, but by a fit chosen on fewer labels: it is chosen anew."""
        if not self.beliefs.outgrown(LAST_GROWTH):
            return False
        return not self._wanted().any()

    def is_over(self) -> bool:
        """Whether nothing more is asked, or nobody would be who could label what is wanted."""
        wanted = np.flatnonzero(self._wanted())
        if self.ended or self._is_spent():
            return True
        parts = (wanted[:1], *(wanted[at : at + ROWS] for at in range(1, len(wanted), ROWS)))
        if not any(self._somebody_left(part).any() for part in parts):
            return True
        still = self.ledger.waiting.any() or not self.cold_start_over
        return not still and not len(self._best(None, 1))

    def _asks_no_more(self) -> bool:
        """Whether nothing more is asked: the money is spent, or no task is wanted."""
        return self.ended or self._is_spent() or not self._wanted().any()

    def _is_spent(self) -> bool:
        """Whether the money buys no label."""
        return bool(self.ledger.money < self.ledger.pool.price.min() - 1e-9)

    # What is answered

    def belief(self) -> Belief:
        """Posterior and closed tasks; once nothing more is asked, several models answer the others.

        Open tasks are believed to err at least as often as the hidden ones among them.
        """
        own, hidden = self._own_belief(), self.ledger.pool.hidden
        posterior, final = own.posterior, self._final()[0] if self._asks_no_more() else None
        if final is not None:
            posterior = np.where(own.closed[:, None], posterior, final)
        if hidden is not None and self.goal.epsilon is not None:
            heard = np.where(self.ledger.counts > 0, hidden, -1)
            doubtful = doubted(posterior, ~own.closed, heard)
            return self._answering(posterior, replace(own, posterior=doubtful))
        return self._answering(posterior, replace(own, posterior=posterior))

    def closed_tasks(self) -> BoolArray:
        """Tasks that are closed, whatever the final answers are: these take long to find."""
        return self._own_belief().closed

    def _answering(self, posterior: FloatArray, belief: Belief) -> Belief:
        """Where errors have costs, answer by the class of least expected cost; else leave it.

        By the posterior that is not doubted yet, shape (n, K): doubt is how far an answer may be
        believed, and changes none.
        """
        loss = self.ledger.pool.loss
        if loss is None:
            return belief
        answer, _ = cheapest(posterior, loss)
        sure = belief.posterior[np.arange(len(answer)), answer]
        return replace(belief, label=np.where(self.ledger.counts > 0, answer, -1), sure=sure)

    def _own_belief(self) -> Belief:
        """What the policy goes by: the posterior as it stands, and what is closed by it."""
        posterior = self.beliefs.posterior()
        return Belief(posterior, self._closed(self.beliefs.cost()))

    def _final(self) -> tuple[FloatArray | None, bool]:
        """Result of `final_posterior`, kept until the next label or fit."""
        if self._kept_final is None:
            self._kept_final = final_posterior(
                self.beliefs, self.seed, budget_alone=self.goal.epsilon is None
            )
        return self._kept_final

    def notes(self) -> list[str]:
        """Say what speaks against the belief, and whether mostly a majority answers."""
        lines = self.beliefs.notes()
        if self._asks_no_more() and self._final()[1]:
            lines.append(
                "the answers are mostly those of a plain majority: by the hidden tasks it is right "
                "more often than the models of workers"
            )
        return lines

    def out_of_reach(self) -> str:
        """Say that hidden tasks show it, and how many tasks more labels would not change."""
        epsilon, truth = self.goal.epsilon, self.ledger.pool.hidden
        hidden = self.beliefs.hidden_heard()
        if epsilon is None or truth is None or not len(hidden):
            return ""
        reach, costs = self.beliefs.error_to_reach(epsilon), self.ledger.pool.loss
        if (reach > 0.0).all():
            return ""
        heard = np.where(self.ledger.counts > 0, truth, -1)
        loss = self.belief().loss(heard, self.ledger.counts)
        missed = np.where(np.isnan(loss), 1.0, loss)
        what, where = f"An error of {100 * epsilon:.3g} %", "here"
        if costs is not None:
            mean = float((costs[heard[heard >= 0]] * missed).mean())
            what = f"An expected cost of {epsilon:.3g}"
            where = f"for {int((reach == 0.0).sum())} tasks; hidden ones cost {mean:.3g}"
        settled = int((self.beliefs.closed_at_floor(epsilon) | self.beliefs.hopeless()).sum())
        return (
            f"{what} is out of reach {where}: {float(missed.sum()):.3g} of {len(hidden)} hidden "
            f"tasks are wrong, and more labels would not change the answers to {settled} of "
            f"{len(truth)} tasks."
        )

    def people_help(self) -> bool:
        """Whether there is an open task that labels decide, and bring to the error asked for."""
        still_open = ~self.closed_tasks() & ~self.beliefs.hopeless()
        if self.goal.epsilon is None:
            return bool(still_open.any())
        return bool((still_open & (self.beliefs.error_to_reach(self.goal.epsilon) > 0.0)).any())

    def to_close(self) -> FloatArray | None:
        """Expected price of closing each task, shape (n,): who tells most for it is asked first."""
        beliefs, epsilon = self.beliefs, self.goal.epsilon
        evidence_needed = self._evidence_needed()
        if epsilon is None or evidence_needed is None:
            return None
        price = np.where(self.belief().closed, 0.0, np.inf)
        rows = np.flatnonzero((price > 0.0) & (beliefs.error_to_reach(epsilon) > 0.0))
        pool, nats = self.ledger.pool, self.worker_index.nats(beliefs)
        kind = pool.kind
        order = np.argsort(-nats / pool.divisor, axis=1)
        # Nobody, at 0 nats, comes last. Few tasks need more than the best.
        for many in (BETTER, nats.shape[1]):
            for part in _parts(rows[np.isinf(price[rows])], nats.shape[1]):
                by = order[kind[part], :many]
                can = np.take_along_axis(self._who_is_left(part), by, axis=1)
                total = np.cumsum(can * nats[kind[part][:, None], by], axis=1)
                cost = np.cumsum(can * pool.price[kind[part][:, None], by], axis=1)
                last = (total < evidence_needed[part, None]).sum(axis=1)
                some = last < total.shape[1]
                price[part[some]] = cost[some, last[some]]
        return price

    # What is saved

    def version(self) -> Hashable:
        """Fits, who has been here, and what has come to its end."""
        here = self.return_seen, int(self.came.sum())
        ends = self.cold_start_over, self.block_done, self.ended, self.wrong_before
        return self.fits, here, *ends

    def state(self) -> dict[str, Any]:
        """Give beliefs, indices, which tasks are given up, and how far a budget's start is."""
        return {
            "beliefs": self.beliefs.state(),
            **self.worker_index.state(),
            "fitted": self.fitted,
            "cold_start_over": self.cold_start_over,
            "latest": self.latest,
            "return_seen": self.return_seen,
            "came": self.came.tolist(),
            "undecidable": self.undecidable.tolist(),
            "block_done": self.block_done,
            "ended": self.ended,
            "least_labels": self.least_labels.tolist(),
            "wrong_before": None if np.isinf(self.wrong_before) else self.wrong_before,
        }

    def resume(self, saved: dict[str, Any]) -> None:
        """Take them up."""
        self.beliefs.resume(saved["beliefs"])
        self.worker_index.resume(self.beliefs, saved)
        self.fitted, self.cold_start_over = int(saved["fitted"]), bool(saved["cold_start_over"])
        self.latest, self.return_seen = int(saved["latest"]), bool(saved["return_seen"])
        self.came[:], self.undecidable[:] = saved["came"], saved["undecidable"]
        self.block_done, self.ended = int(saved["block_done"]), bool(saved["ended"])
        self.least_labels[:], wrong = saved["least_labels"], saved["wrong_before"]
        self.wrong_before = np.inf if wrong is None else wrong


def _ascending(rows: IntArray, key: FloatArray, many: int) -> Iterator[IntArray]:
    """Rows by key in parts, the first one without sorting all of them."""
    key = np.round(key, ALIKE)
    if len(rows) > FEW:
        part = np.argpartition(key, many)
        rows, key = rows[part], key[part]
        yield rows[:many][np.argsort(key[:many], kind="stable")]
        rows, key = rows[many:], key[many:]
    rows = rows[np.argsort(key, kind="stable")]
    for start in range(0, len(rows), many):
        yield rows[start : start + many]


def _parts(rows: IntArray, width: int) -> list[IntArray]:
    """Rows of a wide table in parts of at most `CELLS` cells."""
    step = max(CELLS // width, 1)
    return np.split(rows, range(step, len(rows), step))
