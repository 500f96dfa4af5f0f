"""The policy until-sure: the worker who tells most for her price, until each task is believed.

A task is closed when its posterior error is at most ε; a posterior that is right may be looked at
after every label (Wald 1945). What remains is whom to ask:

- **An index.** A label of a worker of ability g tells I(g) nats (Kullback–Leibler). A worker of
  unknown ability is kept if she turns out to tell τ or more, and sent away after some t labels if
  not; her index is the best rate of nats to price over τ that such a trial and what follows it
  have, the number of labels that she can still give (or that are still needed) being known. It is
  Gittins' index with the trial's length put in by hand: a newcomer's is above her mean, so that
  she is tried where her betters are few, and not where they suffice.
- **A cold start.** A few workers are put to the same few tasks, or to gold tasks where there are
  any. Nothing else is fixed beforehand: as long as workers hardly agree nobody's labels close a
  task, indices stay near each other, and more workers are asked about the same tasks.
- **Near ones first.** Tasks that are nearly closed are asked about first: there a newcomer is
  judged by a truth that is nearly known (footnote 1 of Ho et al.: gold made of many labels), and
  her word, little as it counts, may close them. Of a mean, all tasks pass one bar before it falls;
  where a budget is given, those in most doubt come first.
- **What is to come.** Where workers arrive one at a time and do not come back, she who is here is
  asked if her index is not below the dual price of the nats still needed, the abilities of those
  to come being drawn from what was learnt of the crowd: the sampled program of Algorithm 2 in nats.
  Once somebody has come back after another, workers come and go: nobody else is counted on, and
  whoever is here is asked.

Source: Ho, Jabbari, Vaughan (2013), Section 3 and Algorithm 2; Gittins (1979).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed, stream
from workbench.collection.grid_beliefs import GridBeliefs
from workbench.collection.policy import Belief, Goal, Policy
from workbench.collection.pool import ALIKE, NOTHING, Ledger, Questions, within

START = (6, 16)
"""Workers and tasks of the cold start where anybody can be asked at any time."""
BLOCK = 40
"""Tasks of the cold start where workers come and go: each is asked about them until half of them
are believed."""
DOUBT = 10.0
"""Odds against a worker at which her trial ends: its length is ln(DOUBT)/KL."""
LONGEST = 60.0
"""Labels of a trial at most."""
PROVEN = 0.9
"""Chance to be kept from which a worker is no longer on trial."""
VISIT = 200
"""Labels asked of a proven worker before anything is judged anew."""
ROWS = 256
"""Tasks looked at for one answer of `next`; where those in most doubt come first, a 20th of all."""
PATIENCE = 0.7
"""Share of the dual price at which a worker who is here is still asked."""
IN_HAND = 5.0
"""How many times over those to come must be able to close the task that lacks most."""
FIRST_ERROR, NEXT_ERROR = 3.0, 0.75
"""Where the mean error is to be ε, tasks are first brought below so many ε, then by this factor."""
LEAST_BAR = 1e-12
"""Below it no task is brought."""
DENSE, BETTER = 200_000, 64
"""Beyond so many pairs only so many workers of highest index are looked at."""
FEW = 4000
"""Tasks up to which all are sorted."""
LEAST_GAIN = 0.002
"""Nats a label below which nobody is asked."""
BUDGET_ERROR = 0.01
"""Stands in for ε in an index where there is a budget in its place."""


class UntilSure(Policy):
    """Ask until the posterior error of every task (or of all in the mean) is at most ε.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; without ε, until the money is spent, uncertain tasks first.
    """

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed) -> None:
        self.ledger, self.goal = ledger, goal
        pool, rng = ledger.pool, stream(seed, "until sure")
        self.everybody = rng.permutation(len(pool.workers))
        self.order = rng.permutation(len(pool.tasks))
        self.beliefs = self._believed()
        self.starters = self._voters()[: START[0]]
        self.came: BoolArray = np.zeros(len(pool.workers), dtype=bool)
        self.latest, self.return_seen = -1, False
        self.fitted, self.started = 0, ledger.recorded[0] >= START[0] * START[1]
        self.epsilon = BUDGET_ERROR if goal.epsilon is None else goal.epsilon
        odds = np.log((1.0 - self.epsilon) / self.epsilon)
        self.required = float((1.0 - 2.0 * self.epsilon) * odds)
        grid, shape = self.beliefs.grid, (len(pool.price), len(pool.workers))
        self.gain = self._gains()
        self.known: BoolArray = ~np.isnan(self.beliefs.own_gain.reshape(shape))
        self.trial = np.minimum(np.log(DOUBT) / np.maximum(grid.unlike, 1e-9), LONGEST)
        self.index, self.keep, self.limit = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.needed = 0.0
        self._judge_all()

    def _voters(self) -> IntArray:
        """Everybody in random order, of each group one."""
        voters = self.beliefs.voters
        if voters is None:
            return self.everybody
        first = np.unique(voters.leader[self.everybody], return_index=True)[1]
        return self.everybody[np.sort(first)]

    def _believed(self) -> GridBeliefs:
        """What labels are taken to say."""
        return GridBeliefs(self.ledger)

    def _gains(self) -> FloatArray:
        """What a label tells in nats, at most what a task needs; by type, worker and point.

        Shape (1, 1, G) for all workers alike. Of a known skill it is her own: the grid has no point
        for who never errs.
        """
        gain = np.minimum(self.beliefs.grid.gain, self.required)[None, None]
        own = self.beliefs.own_gain.reshape(len(self.ledger.pool.price), -1, 1)
        if np.isnan(own).all():
            return gain
        return np.where(np.isnan(own), gain, np.minimum(own, self.required))

    def _gain_of(self, workers: IntArray) -> FloatArray:
        return self.gain if self.gain.shape[1] == 1 else self.gain[:, workers]

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """Pairs to ask now; see `Policy`. Tasks with labels still to come are left alone."""
        if worker is not None:
            self.return_seen |= bool(self.came[worker]) and worker != self.latest
            self.came[worker], self.latest = True, worker
        if self.is_due() and not self.apart:
            self.refit()
        ask = self._start(worker)
        ask = self._best(worker, most) if ask is None else ask
        while not len(ask) and worker is None and (self._new() or self.is_due()):
            self.refit()
            ask = self._best(worker, most)
        return self.ledger.affordable(Questions(ask.task[:most], ask.worker[:most], ask.gold))

    def told(self, ask: Questions, label: IntArray) -> None:
        """Move the beliefs of tasks and workers."""
        self.beliefs.told(ask, label)
        workers, voters = np.unique(ask.worker), self.beliefs.voters
        if voters is not None:
            workers = np.flatnonzero(np.isin(voters.leader, voters.leader[workers]))
        self._judge(workers)

    def unasked(self, ask: Questions, label: IntArray) -> None:
        """Move the beliefs; fit them anew where many labels are new, or all seems closed."""
        self.told(ask, label)
        if self.is_due() or not self._wanted(self.beliefs.confidence(), None).any():
            self.refit()

    def is_due(self) -> bool:
        """Whether many labels are new, for those that the last fit had."""
        return self._new() >= 20 + self.fitted // 20

    def refit(self) -> None:
        """Fit the beliefs to all labels."""
        self._refit(anew=False)

    def _refit(self, *, anew: bool) -> None:
        """Fit the beliefs, of several fits chosen anew or not; judge all workers by them."""
        self.beliefs.refit(anew=anew)
        self.fitted += self._new()
        self._judge_all()

    def adopt(self, fitted: Self) -> None:
        """Take beliefs fitted to earlier labels, unless there are later ones; hear the rest."""
        if fitted.fitted <= self.fitted:
            return
        self.beliefs, self.fitted = fitted.beliefs, fitted.fitted
        self.beliefs.ledger = self.ledger
        ledger, then = self.ledger, fitted.ledger
        gold, labels = (
            ledger.gold_labels[len(then.gold_labels) :],
            ledger.labels[len(then.labels) :],
        )
        for is_gold, (task, worker, label) in ((True, gold.T), (False, labels.T)):
            if len(task):
                self.beliefs.told(Questions(task, worker, is_gold), label)
        self._judge_all()

    def belief(self) -> Belief:
        """Posterior and closed tasks."""
        return self._believes()

    def _believes(self) -> Belief:
        """What is believed of tasks now, and closed by it."""
        posterior = self.beliefs.posterior()
        return Belief(posterior, self._closed(posterior.max(axis=1)))

    def state(self) -> dict[str, Any]:
        """Give beliefs and indices."""
        return {
            "beliefs": self.beliefs.state(),
            "fitted": self.fitted,
            "started": self.started,
            "needed": self.needed,
            "latest": self.latest,
            "return_seen": self.return_seen,
            **{name: getattr(self, name).tolist() for name in ("came", "index", "keep", "limit")},
        }

    def resume(self, saved: dict[str, Any]) -> None:
        """Take them up."""
        self.beliefs.resume(saved["beliefs"])
        self.fitted, self.needed = int(saved["fitted"]), float(saved["needed"])
        self.started = bool(saved["started"])
        self.latest, self.return_seen = int(saved["latest"]), bool(saved["return_seen"])
        for name in ("came", "index", "keep", "limit"):
            getattr(self, name)[:] = saved[name]

    # What is closed

    def _closed(self, top: FloatArray) -> BoolArray:
        error = 1.0 - top
        if self.goal.epsilon is None:
            return np.zeros(len(error), dtype=bool)
        if self.goal.mean:
            return np.full(len(error), bool(error.mean() <= self.goal.epsilon)) & self.ledger.enough
        closed: BoolArray = (error <= self.goal.epsilon) & self.ledger.enough
        return closed

    def _wanted(self, top: FloatArray, worker: int | None) -> BoolArray:
        """Tasks about which more is to be asked now.

        Of a mean: those whose error, times the best index of their type, is above a bar that all
        pass before it falls, so that in the end a price buys the same of each. A worker who is here
        only once has some tasks above it at any time.
        """
        error, can = 1.0 - top, ~self.ledger.full
        done = self.goal.epsilon is not None and error.mean() <= self.goal.epsilon
        if not self.goal.mean or done or not can.any():
            return ~self._closed(top) & can
        can &= self._askable()
        rate = np.where(self.ledger.left > 0, self.index, 0.0).max(axis=1)
        rate = np.maximum(rate / max(rate.max(), 1e-9), 1e-9)
        worth = error * rate[self.ledger.pool.kind]
        few = 1 if worker is None else 1 + len(top) // 20
        few = min(few, int((worth[can] > LEAST_BAR).sum()))
        bar = FIRST_ERROR * self.epsilon
        while (worth[can] > bar).sum() < few:
            bar *= NEXT_ERROR
        wanted: BoolArray = ((worth > bar) | ~self.ledger.enough) & can
        return wanted

    def _askable(self) -> BoolArray:
        """Tasks about which somebody can still be asked, or a label is to come; shape (n,)."""
        if not len(self.ledger.open):  # a fit made apart
            return np.ones(len(self.ledger.counts), dtype=bool)
        workers = np.flatnonzero((self.ledger.left > 0) & ~self.beliefs.copying)
        everything = np.arange(len(self.ledger.counts))[:, None]
        return self._open(everything, workers).any(axis=1) | (self.ledger.waiting > 0)

    def _new(self) -> int:
        return len(self.ledger.labels) + len(self.ledger.gold_labels) - self.fitted

    # What workers are worth

    def _judge_all(self) -> None:
        """Count the nats still needed, and give all workers their index."""
        top = self.beliefs.confidence()
        odds = np.log(np.maximum(top, 1e-9) / np.maximum(1.0 - top, 1e-9))
        missing = self.required - (2.0 * top - 1.0) * odds
        self.needed = max(
            float(missing[(top < 1.0 - self.epsilon) & ~self.ledger.full].sum()), self.required
        )
        self._judge(np.arange(len(self.ledger.left)))

    def _judge(self, workers: IntArray) -> None:
        """Index, chance to be kept, and labels of a trial, by type and worker."""
        pool, left = self.ledger.pool, self.ledger.left[workers]
        weight = self.beliefs.weight.reshape(*self.index.shape, -1)[:, workers]
        gain = self._gain_of(workers)
        after = np.minimum(left[:, None], self.needed / np.maximum(gain, 1e-9))
        after = np.maximum(after, 1.0)
        trial = np.minimum(self.trial, after)
        kept = np.cumsum(weight, axis=2)
        nats = np.cumsum(weight * gain, axis=2)
        rate = after * nats + trial * (nats[:, :, -1:] - nats)
        rate /= after * kept + trial * (1.0 - kept)
        best = rate.argmax(axis=2)[:, :, None]
        self.index[:, workers] = np.take_along_axis(rate, best, 2)[:, :, 0]
        self.index[:, workers] /= pool.divisor[:, workers]
        keep = np.take_along_axis(kept, best, 2)[:, :, 0]
        self.keep[:, workers] = np.where(self.known[:, workers], 1.0, keep)
        self.limit[:, workers] = np.ceil(self.trial[best[:, :, 0]] / 2.0)

    def _price_to_come(self, rows: IntArray) -> FloatArray:
        """Dual price of a nat by type: what those still to come can be expected to tell for one.

        They have to tell what the tasks of a type lack together, and each has one label only for
        the task that lacks most.
        """
        ledger, pool = self.ledger, self.ledger.pool
        coming = np.flatnonzero(~self.came & (ledger.left > 0))
        voters = self.beliefs.voters
        if voters is not None:  # of each group one
            coming = coming[np.unique(voters.leader[coming], return_index=True)[1]]
        price: FloatArray = np.zeros(len(pool.price))
        if not len(coming):
            return price
        weight = self.beliefs.weight.reshape(*self.index.shape, -1)[:, coming]
        gains, alike = np.broadcast_to(self._gain_of(coming), weight.shape), not self.known.any()
        for kind in np.unique(pool.kind[rows]):  # its share of capacity is that of needs
            gain = gains[kind]
            rate = gain / pool.divisor[kind, coming, None]
            once = weight[kind] * gain
            whole = once * ledger.left[coming][:, None]
            if alike and (pool.divisor[kind, coming] == pool.divisor[kind, coming[0]]).all():
                # Of one price the order is that of abilities, for all workers together.
                rate, once, whole = rate[:1], once.sum(axis=0), whole.sum(axis=0)
            order = np.argsort(-rate, axis=None)
            enough = max(
                int(np.searchsorted(np.cumsum(nats.ravel()[order]), needed))
                for nats, needed in ((whole, self.needed), (once, IN_HAND * self.required))
            )
            if enough < len(order):
                price[kind] = min(rate.ravel()[order[enough]], self.index[kind, coming].max())
        return price

    # Whom, and about what

    def _start(self, worker: int | None) -> Questions | None:
        return self._cold_start(worker)

    def _cold_start(self, worker: int | None) -> Questions | None:
        """The next visit of the cold start; None when it is over, or she cannot take part."""
        ledger, pool = self.ledger, self.ledger.pool
        if self.started or pool.confusion is not None:
            return None
        gold = len(pool.gold) > 0
        can = ledger.gold_open if gold else ledger.open
        asked, size = (self.starters, START[1]) if worker is None else (np.array([worker]), BLOCK)
        tasks = (np.arange(len(pool.gold)) if gold else self.order)[:size]
        if worker is not None:
            sure = (1.0 - self.beliefs.confidence()[tasks] <= self.epsilon).mean()
            enough = self.came.sum() > START[0] if gold else sure > 0.5
            there = pool.gold_available if gold else pool.available
            once = 1.0 if there is None else there[tasks, worker].mean()
            self.started = bool(enough or 2 * self.came.sum() > len(self.came) or once < 0.5)
            if self.started:
                return None
        for who in asked:
            able = can[tasks, who] if gold else self._open(tasks, who)
            todo = tasks[able][: ledger.left[who]]
            if len(todo):
                return Questions(todo, np.full(len(todo), who), gold)
        self.started = worker is None or self.return_seen
        return None if self.started else NOTHING

    def _best(self, worker: int | None, most: int | None) -> Questions:
        """The best worker for each of the wanted tasks that come first."""
        wanted = self._wanted(self.beliefs.confidence(), worker)
        return self._best_among(wanted, worker, most)

    def _best_among(self, tasks: BoolArray, worker: int | None, most: int | None) -> Questions:
        """The best worker for each of the marked tasks that come first, shape (n,)."""
        ledger, pool = self.ledger, self.ledger.pool
        top = self.beliefs.confidence()
        rows = self.order[(tasks & (ledger.waiting == 0)).take(self.order)]
        here = np.arange(len(ledger.left)) if worker is None else np.array([worker])
        if worker is not None:
            if ledger.left[worker] <= 0 or self.beliefs.copying[worker]:
                return NOTHING
            rows = rows[self._open(rows, worker)]
        near = self.goal.epsilon is not None
        key = top.take(rows)
        key = -key if near else key
        many = min(max(ROWS, len(top) // 100) if near else max(8, len(top) // 20), most or ROWS)
        if worker is None and many * len(here) > DENSE:
            worth = np.where(ledger.left > 0, self.index.max(axis=0), -1.0)
            some = np.argpartition(-worth, BETTER)[:BETTER]
            here = some if self._open(rows[:many, None], some).any() else here
        least = np.zeros(len(pool.price))
        if worker is not None and len(rows):
            if not self.return_seen:
                least = PATIENCE * self._price_to_come(rows)
            kinds = np.unique(pool.kind[rows])
            rate = self.index[kinds, worker]
            good = (rate * pool.divisor[kinds, worker] > LEAST_GAIN) & (rate >= least[kinds])
            if not good.any():  # she is not asked about any: do not go through them
                return NOTHING
        for task in _ascending(rows, key, many):
            kind = pool.kind[task]
            able = self._open(task[:, None], here) & (ledger.left[here] > 0)
            able &= ~self.beliefs.copying[here]
            rate = np.where(able, np.round(self.index[np.ix_(kind, here)], ALIKE), -1.0)
            who = here[rate.argmax(axis=1)]
            rate = rate.max(axis=1)
            good = (rate * pool.divisor[kind, who] > LEAST_GAIN) & (rate >= least[kind])
            if good.any():
                return self._visit(task[good], who[good])
        return NOTHING

    def _open(self, task: IntArray, worker: IntArray | int) -> BoolArray:
        """Whether each worker can be asked about each task, none of her group having labelled it.

        Shapes broadcast.
        """
        able, voters = self.ledger.open[task, worker], self.beliefs.voters
        if voters is not None:
            able = able & ~voters.spoken(self.ledger.labels, task, np.asarray(worker))
        return np.asarray(able)

    def _visit(self, task: IntArray, worker: IntArray) -> Questions:
        """Cut each worker's share to what is asked of her before she is judged anew."""
        kind = self.ledger.pool.kind[task]
        answered = self.ledger.pool.capacity[worker] - self.ledger.left[worker]
        share = len(self.ledger.counts) // 500
        proven = (self.keep[kind, worker] > PROVEN) | (answered >= VISIT)
        limit = np.where(
            proven, np.maximum(VISIT, answered // 2), np.maximum(self.limit[kind, worker], share)
        )
        kept = within(worker) < limit
        return Questions(task[kept], worker[kept])


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
