"""Label until sure: the worker who tells most for her price, until each task is sure.

A task is closed when its posterior error is at most ε; a posterior that is right may be looked at
after every label (Wald 1945). What remains is whom to ask:

- **An index.** A label of a worker of ability g tells I(g) nats (Kullback–Leibler). A worker of
  unknown ability is kept if she turns out to tell τ or more, and sent away after some t labels if
  not; her index is the best rate of nats to price over τ that such a trial and what follows it
  have, the number of labels that she can still give (or that are still needed) being known. It is
  Gittins' index with the trial's length put in by hand: a newcomer's is above her mean, so that
  she is tried where her betters are few, and not where they suffice.
- **A cold start.** Before any worker's ability is known a task's posterior is a guess. The same
  tasks are put to several workers, more tasks and more workers until they agree beyond chance by
  `CLEAR` standard errors, so a weak crowd gets a larger block than a good one. Gold tasks, where
  there are any, come in place of it.
- **Near ones first.** Tasks close to sure are asked about first: there a newcomer is judged by a
  truth that is nearly known (footnote 1 of Ho et al.: gold made of many labels), and her word,
  little as it counts, may close them.
- **What is to come.** Where workers arrive one at a time, she who is here is asked if her index
  is not below the dual price of the nats still needed, the abilities of those to come being drawn
  from what was learnt of the crowd: the sampled program of Algorithm 2 in nats.

Source: Ho, Jabbari, Vaughan (2013), Section 3 and Algorithm 2; Gittins (1979).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.collection.beliefs import Beliefs
from workbench.collection.policy import Belief, Goal
from workbench.collection.pool import NOTHING, Ask, Ledger

CLEAR = 5.0
"""Standard errors by which workers agree beyond chance before the cold start ends."""
DOUBT = 10.0
"""Odds against a worker at which her trial ends: its length is ln(DOUBT)/KL."""
ROWS = 256
"""Tasks looked at for one answer of `next`."""
LEAST_GAIN = 0.002
"""Nats a label below which nobody is asked."""


class UntilSure:
    """Ask until the posterior error of every task (or of all in the mean) is at most ε.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; without ε, until the money is spent, uncertain tasks first.
    forget
        Weight that a worker's label loses with each later one: for workers who change.
    """

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed, forget: float = 0.0) -> None:
        self.ledger, self.goal = ledger, goal
        self.beliefs = Beliefs(ledger, forget)
        rng = stream(seed, "until sure")
        pool = ledger.pool
        self.order = rng.permutation(len(pool.workers))
        self.block = rng.permutation(len(pool.tasks))
        self.rank: IntArray = np.argsort(self.order)
        self.came: BoolArray = np.zeros(len(pool.workers), dtype=bool)
        self.clear = False
        self.stage = 0
        self.fitted = 0
        self._index()

    # Interface

    def next(self, worker: int | None = None, most: int | None = None) -> Ask:
        """Pairs to ask now; see `Policy`."""
        if worker is not None:
            self.came[worker] = True
        if self._new() >= 20 + self.fitted // 20:
            self._refit()
        ask = NOTHING if self.clear else self._cold(worker)
        if not len(ask):
            ask = self._best(worker, most)
            if not len(ask) and self._new():
                self._refit()
                ask = self._best(worker, most)
        return self.ledger.affordable(Ask(ask.task[:most], ask.worker[:most], ask.gold))

    def told(self, ask: Ask, label: IntArray) -> None:
        """Hear labels."""
        self.beliefs.told(ask, label)
        self._index(np.unique(ask.worker))

    def belief(self) -> Belief:
        """Posterior and closed tasks."""
        if self._new():
            self._refit()
        posterior = self.beliefs.posterior()
        return Belief(posterior, self._closed(posterior))

    # Tasks

    def _closed(self, posterior: FloatArray) -> BoolArray:
        error = 1.0 - posterior.max(axis=1)
        epsilon = self.goal.epsilon
        if epsilon is None:
            return np.zeros(len(error), dtype=bool)
        if self.goal.mean:
            return np.full(len(error), bool(error.mean() <= epsilon))
        closed: BoolArray = error <= epsilon
        return closed

    def _new(self) -> int:
        return len(self.ledger.labels) + len(self.ledger.gold_labels) - self.fitted

    def _refit(self) -> None:
        self.beliefs.refit()
        self.fitted += self._new()
        self._index()

    # Workers

    def _index(self, workers: IntArray | slice = slice(None)) -> None:
        """Nats a unit of price of each worker at each type; shape (T, m)."""
        beliefs, pool = self.beliefs, self.ledger.pool
        T, m, G = len(pool.price), len(pool.workers), len(beliefs.grid.gain)
        if isinstance(workers, slice):
            top = beliefs.posterior().max(axis=1)
            self._demand(top)
            self.index: FloatArray = np.zeros((T, m))
            self.keep: FloatArray = np.zeros((T, m))
        weight = beliefs.weight.reshape(T, m, G)[:, workers]
        self.gain = np.minimum(beliefs.grid.gain, self.required)
        labels = np.minimum(self.ledger.left[workers][:, None], self.needed / np.maximum(self.gain, 1e-9))
        labels = np.maximum(labels, 1.0)
        trial = np.minimum(self.trial, labels)
        told = np.cumsum(weight * self.gain, axis=2)
        stays = np.cumsum(weight, axis=2)
        nats = labels * told + trial * (told[:, :, -1:] - told)
        rate = nats / (labels * stays + trial * (1.0 - stays))
        best = rate.argmax(axis=2)
        at = best[:, :, None]
        self.index[:, workers] = (
            np.take_along_axis(rate, at, 2)[:, :, 0] / pool.price[:, workers]
        )
        self.keep[:, workers] = np.take_along_axis(stays, at, 2)[:, :, 0]
        self.limit = self.trial[best] if isinstance(workers, slice) else self.limit

    def _demand(self, top: FloatArray) -> None:
        """Nats still needed, and the length of a trial by the ability sought."""
        grid = self.beliefs.grid
        epsilon = self.goal.epsilon or 0.01
        odds = np.log((1.0 - epsilon) / epsilon)
        self.required = (1.0 - 2.0 * epsilon) * odds
        there = np.log(np.maximum(top, 1e-9) / np.maximum(1.0 - top, 1e-9))
        missing = self.required - (2.0 * top - 1.0) * there
        self.needed = max(float(missing[top < 1.0 - epsilon].sum()), self.required)
        K = self.beliefs.K
        good = np.clip(grid.ability, 1e-3, 1.0 - 1e-3)
        chance = 1.0 / K
        against = chance * np.log(chance / good) + (1 - chance) * np.log((1 - chance) / (1 - good))
        self.trial = np.minimum(np.log(DOUBT) / np.maximum(against, 1e-3), 60.0)

    # Whom and what

    def _best(self, worker: int | None, most: int | None) -> Ask:
        ledger, pool = self.ledger, self.ledger.pool
        posterior = self.beliefs.posterior()
        top = posterior.max(axis=1)
        rows = np.flatnonzero(~self._closed(posterior) & (ledger.waiting == 0))
        if worker is not None:
            rows = rows[ledger.open[rows, worker]]
            if not len(rows) or not ledger.left[worker]:
                return NOTHING
        near = self.goal.epsilon is not None and not self.goal.mean
        rows = rows[np.argsort(-top[rows] if near else top[rows], kind="stable")]
        here = slice(None) if worker is None else np.array([worker])
        able = ledger.left[here] > 0
        many = ROWS if most is None else min(ROWS, most)
        for start in range(0, len(rows), many):
            tasks = rows[start : start + many]
            rate = np.where(
                ledger.open[tasks][:, here] & able, self.index[pool.kind[tasks]][:, here], -1.0
            )
            chosen = rate.argmax(axis=1)
            rated = rate[np.arange(len(tasks)), chosen]
            who = chosen if worker is None else np.full(len(tasks), worker)
            good = rated * pool.price[pool.kind[tasks], who] > LEAST_GAIN
            if worker is not None:
                good &= rated >= self._price_to_come(worker)
            if good.any():
                return self._visit(tasks[good], who[good], top)
        return NOTHING

    def _visit(self, task: IntArray, worker: IntArray, top: FloatArray) -> Ask:
        """Cut each worker's share to what is asked of her before she is judged anew."""
        ledger, pool = self.ledger, self.ledger.pool
        kind = pool.kind[task]
        sure = self.keep[kind, worker] > 0.9
        limit = np.where(sure, 200, np.ceil(self.limit[kind, worker] / 2.0))
        first = worker[0]
        if len(pool.gold) and not sure[0]:
            told = float(((2.0 * top[task[worker == first]] - 1.0) ** 2).mean())
            gold = np.flatnonzero(ledger.gold_open[:, first])
            if told < 0.5 and len(gold) and ledger.left[first] > 0:
                gold = gold[: int(limit[0])]
                return Ask(gold, np.full(len(gold), first), gold=True)
        order = np.argsort(worker, kind="stable")
        new = np.concatenate([[True], np.diff(worker[order]) != 0])
        place = np.arange(len(order))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = place - np.maximum.accumulate(np.where(new, place, 0))
        kept = rank < limit
        return Ask(task[kept], worker[kept])

    def _price_to_come(self, worker: int) -> float:
        """Dual price of a nat: what those still to come can be expected to tell for a price."""
        ledger, pool = self.ledger, self.ledger.pool
        coming = np.flatnonzero(~self.came & (ledger.left > 0))
        if not len(coming):
            return 0.0
        T, G = len(pool.price), len(self.gain)
        weight = self.beliefs.weight.reshape(T, len(pool.workers), G)[:, coming]
        rate = self.gain / pool.price[:, coming, None]
        nats = weight * self.gain * (ledger.left[coming] / T)[None, :, None]
        order = np.argsort(-rate, axis=None)
        enough = np.searchsorted(np.cumsum(nats.ravel()[order]), self.needed)
        if enough >= len(order):
            return 0.0
        return min(float(rate.ravel()[order[enough]]), float(self.index[:, coming].max()))

    # Cold start

    def _cold(self, worker: int | None) -> Ask:
        """The next visit of the cold start; none when it is over."""
        ledger, pool = self.ledger, self.ledger.pool
        n, m = len(pool.tasks), len(pool.workers)
        if len(pool.gold) or pool.confusion is not None:
            self.clear = True
            return NOTHING
        while True:
            workers, tasks = 8 + 2 * self.stage, 25 + 8 * self.stage
            if worker is not None:
                asked = [worker]
                tasks = 25 + 4 * max(int(self.came.sum()) - 8, 0)
                if self.came.sum() > 8 and agreement(ledger) >= CLEAR:
                    self.clear = True
                    return NOTHING
            else:
                asked = self.order[:workers].tolist()
            for who in asked:
                todo = self.block[:tasks]
                todo = todo[ledger.open[todo, who]][: ledger.left[who]]
                if len(todo):
                    return Ask(todo, np.full(len(todo), who))
            if worker is not None:
                return NOTHING
            self._refit()
            if (
                agreement(ledger) >= CLEAR
                or (workers >= m and tasks >= n)
                or len(ledger.labels) > 3 * n
            ):
                self.clear = True
                return NOTHING
            self.stage += 1

    # Saving

    def state(self) -> dict[str, Any]:
        raise InputError("not yet")

    def resume(self, saved: dict[str, Any]) -> None:
        raise InputError("not yet")


def agreement(ledger: Ledger) -> float:
    """Standard errors by which labels of one task agree beyond chance.

    Each worker's labels are taken less her own shares of the classes; the sum over tasks of the
    products of pairs has mean 0 for workers who guess, whatever their favourite class.
    """
    task, worker, label = ledger.labels.T
    n, m, K = len(ledger.counts), len(ledger.left), len(ledger.pool.classes)
    if not len(task):
        return 0.0
    votes = np.eye(K)[label]
    shares = np.stack([np.bincount(worker, column, minlength=m) for column in votes.T], axis=1)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1.0)
    rest = votes - shares[worker]
    outer = (rest[:, :, None] * rest[:, None, :]).reshape(len(task), -1)
    sums = np.stack([np.bincount(task, column, minlength=n) for column in rest.T], axis=1)
    squares = np.stack([np.bincount(task, column, minlength=n) for column in outer.T], axis=1)
    own = (rest**2).sum(axis=1)
    agree = float((sums**2).sum() - own.sum())
    spread = float((squares**2).sum() - (own**2).sum())
    return agree / np.sqrt(2.0 * spread) if spread > 0 else 0.0
