"""What it is worth to ask a worker: nats for her price, and more for who is not known yet.

- **An index.** A label of a worker of ability g tells I(g) nats (Kullback–Leibler). A worker of
  unknown ability is put on trial: she is kept if she turns out to tell τ nats or more a label, and
  sent away after some t labels if not. Her index is the nats for the price that the trial and what
  follows it bring together, at the best τ. It counts no more labels than she can still give, or
  than are still needed. It is Gittins' index with the trial's length set rather than optimised. A
  newcomer's index is above her mean, so that she is tried where better workers are few, and not
  where they suffice.
- **What is to come** (`price_to_come`). Where workers arrive one at a time and do not come back,
  whoever is here is asked if her index is not far below the dual price of the nats still needed.
  Those to come are taken to be like the crowd so far: the sampled program of Algorithm 2, in nats.

Source: Ho, Jabbari, Vaughan (2013), Section 3 and Algorithm 2; Gittins (1979).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.collection.grid_beliefs import GridBeliefs, evidence_behind
from workbench.collection.pool import Ledger, Questions, within

# Chosen by the labels they cost on simulated crowds: docs/findings/label-until-sure.md.
TRIAL_ODDS = 10.0
"""Odds against a worker at which her trial ends: its length is ln(TRIAL_ODDS)/KL."""
LONGEST = 60.0
"""Labels of a trial at most."""
VISIT = 200
"""Labels asked of a proven worker before anything is judged anew."""
# Chosen among .3, 1 and the 4 of the fits on crowds half .8 (1,000 tasks, 300 workers, seeds 4000
# to 4007) and rare class (300 tasks, 100 workers, seeds 5008 to 5019).
NEWCOMER_PRIOR = 0.3
"""Weight of the grid's prior in what a newcomer is like, in workers. The more it is the more are
tried in hope of somebody who is nearly always right."""
# By judgement, not tuned.
PROVEN = 0.9
"""Chance to be kept from which a worker is no longer on trial."""
IN_HAND = 5.0
"""How many times over those to come must be able to close the task that lacks most."""
ARRAYS = ("index", "keep", "limit", "newcomer")


class WorkerIndex:
    """Index of each worker at each task type: what it is worth to ask her.

    Parameters
    ----------
    ledger
        What was asked and answered.
    beliefs
        What is believed of workers. Methods take it again, as a fit may replace it.
    epsilon
        Error that a task may have.

    Attributes
    ----------
    required
        Nats that close an easy task of which nothing is known.
    gain
        What a label tells in nats, at most what a task needs, by type, worker and point; shape
        (1, 1, G) for all workers alike.
    known
        Whose skill is known, shape (T, m).
    heard
        Who has labelled, or another of her group, shape (m,).
    index, keep, limit
        Nats for the price, chance to be kept, and labels of a trial; shapes (T, m).
    newcomer
        What a worker is like who has not labelled yet, by type and point, shape (T, G).
    needed
        Nats that all tasks lack together.
    """

    def __init__(self, ledger: Ledger, beliefs: GridBeliefs, epsilon: float) -> None:
        self.ledger, self.epsilon = ledger, epsilon
        self.required = float(evidence_behind(epsilon))
        grid, shape = beliefs.grid, (len(ledger.pool.price), len(ledger.pool.workers))
        own = beliefs.known_gain.reshape(shape)
        self.known: BoolArray = ~np.isnan(own)
        self.gain: FloatArray = np.minimum(grid.gain, self.required)[None, None]
        if self.known.any():  # the grid has no point for who never errs
            mine = np.minimum(own, self.required)[:, :, None]
            self.gain = np.where(self.known[:, :, None], mine, self.gain)
        self.trial = np.minimum(np.log(TRIAL_ODDS) / np.maximum(grid.unlike, 1e-9), LONGEST)
        self.index, self.keep, self.limit = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.newcomer: FloatArray = np.tile(grid.prior, (shape[0], 1))
        self.heard: BoolArray = np.zeros(shape[1], dtype=bool)
        self.needed = 0.0

    def judge_all(self, beliefs: GridBeliefs) -> None:
        """Count the nats still needed, and give all workers their index."""
        cost = beliefs.cost()
        if self.ledger.pool.loss is None:
            missing = self.required - evidence_behind(cost)
        else:
            missing = beliefs.evidence_needed(self.epsilon)
        wanted = (cost > self.epsilon) & ~self.ledger.full
        self.needed = max(float(missing[wanted].sum()), self.required)
        self.heard = self._heard(beliefs)
        self._expect_of_newcomers(beliefs)
        self.judge(beliefs, np.arange(len(self.ledger.left)))

    def told(self, beliefs: GridBeliefs, workers: IntArray) -> None:
        """Judge workers whose labels have come."""
        self.heard[workers] = True
        self.judge(beliefs, workers)

    def _heard(self, beliefs: GridBeliefs) -> BoolArray:
        """Who has labelled, or another of her group, or is known otherwise, shape (m,)."""
        if not beliefs.newcomers_alike:
            return np.ones(len(self.ledger.left), dtype=bool)
        heard: BoolArray = np.zeros(len(self.ledger.left), dtype=bool)
        for rows in (self.ledger.labels, self.ledger.gold_labels):
            heard[rows[:, 1]] = True
        if beliefs.merged_groups is not None:
            leader = beliefs.merged_groups.leader
            heard = np.isin(leader, leader[heard])
        return heard

    def _expect_of_newcomers(self, beliefs: GridBeliefs) -> None:
        """Take newcomers to be like those who have labelled, and who are no models."""
        judged = self.heard if beliefs.models is None else self.heard & ~beliefs.models
        own = beliefs.weight.reshape(*self.index.shape, -1)
        for kind, known in enumerate(self.known):
            total = own[kind, judged & ~known].sum(axis=0) + NEWCOMER_PRIOR * beliefs.grid.prior
            self.newcomer[kind] = total / total.sum()

    def judge(self, beliefs: GridBeliefs, workers: IntArray) -> None:
        """Give some workers their index: the best rate over thresholds τ, each a point of the grid.

        Points are in order of falling gain: who is at τ or before it is kept, and gives all labels
        `after` her trial; who is behind it gives those of the trial alone.
        """
        pool, left = self.ledger.pool, self.ledger.left[workers]
        weight, gain = self._weight(beliefs, workers), self._gain_of(workers)
        after = np.minimum(left[:, None], self.needed / np.maximum(gain, 1e-9))
        after = np.maximum(after, 1.0)
        trial = np.minimum(self.trial, after)
        kept = np.cumsum(weight, axis=2)
        nats = np.cumsum(weight * gain, axis=2)
        rate = after * nats + trial * (nats[:, :, -1:] - nats)
        rate /= after * kept + trial * (1.0 - kept)
        best = rate.argmax(axis=2)
        kinds, places = np.arange(len(rate))[:, None], np.arange(len(workers))
        self.index[:, workers] = rate[kinds, places, best] / pool.divisor[:, workers]
        keep = kept[kinds, places, best]
        self.keep[:, workers] = np.where(self.known[:, workers], 1.0, keep)
        self.limit[:, workers] = np.ceil(self.trial[best] / 2.0)

    def nats(self, beliefs: GridBeliefs) -> FloatArray:
        """Nats that a label of each worker is expected to tell of an easy task, shape (T, m).

        0 of who is not asked any more.
        """
        weight = self._weight(beliefs, np.arange(len(self.ledger.left)))
        alike = self.gain.shape[1] == 1
        nats = weight @ self.gain[0, 0] if alike else (weight * self.gain).sum(axis=2)
        able = (self.ledger.left > 0) & ~beliefs.copying
        return np.asarray(np.where(able, nats, 0.0))

    def price_to_come(self, beliefs: GridBeliefs, rows: IntArray, came: BoolArray) -> FloatArray:
        """Dual price of a nat by type, shape (T,), in nats a label and price, as the index.

        They have to tell what the tasks of a type lack together, and each has one label only for
        the task that lacks most.

        Parameters
        ----------
        rows
            Tasks about which more is to be asked.
        came
            Workers who have been here, shape (m,).
        """
        ledger, pool = self.ledger, self.ledger.pool
        coming = np.flatnonzero(~came & (ledger.left > 0))
        if beliefs.merged_groups is not None:  # of each group one
            coming = coming[np.unique(beliefs.merged_groups.leader[coming], return_index=True)[1]]
        price: FloatArray = np.zeros(len(pool.price))
        if not len(coming):
            return price
        weight = self._weight(beliefs, coming)
        gains, alike = np.broadcast_to(self._gain_of(coming), weight.shape), not self.known.any()
        for kind in np.unique(pool.kind[rows]):  # its share of capacity is that of needs
            rate = gains[kind] / pool.divisor[kind, coming, None]
            once = weight[kind] * gains[kind]
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

    def one_visit(self, task: IntArray, worker: IntArray) -> Questions:
        """Leave of some pairs what is asked of each worker before she is judged anew."""
        kind = self.ledger.pool.kind[task]
        answered = self.ledger.pool.capacity[worker] - self.ledger.left[worker]
        share = len(self.ledger.counts) // 500
        proven = (self.keep[kind, worker] > PROVEN) | (answered >= VISIT)
        limit = np.where(
            proven, np.maximum(VISIT, answered // 2), np.maximum(self.limit[kind, worker], share)
        )
        kept = within(worker) < limit
        return Questions(task[kept], worker[kept])

    def state(self) -> dict[str, Any]:
        """Give what the ledger and the beliefs do not hold."""
        return {"needed": self.needed} | {name: getattr(self, name).tolist() for name in ARRAYS}

    def resume(self, beliefs: GridBeliefs, saved: dict[str, Any]) -> None:
        """Take it up."""
        self.heard = self._heard(beliefs)
        self.needed = float(saved["needed"])
        for name in ARRAYS:
            getattr(self, name)[:] = saved[name]

    def _weight(self, beliefs: GridBeliefs, workers: IntArray) -> FloatArray:
        """What some workers are like, by type and point, shape (T, k, G)."""
        weight = beliefs.weight.reshape(*self.index.shape, -1)[:, workers]
        own = self.heard[workers] | self.known[:, workers]
        return np.where(own[:, :, None], weight, self.newcomer[:, None])

    def _gain_of(self, workers: IntArray) -> FloatArray:
        return self.gain if self.gain.shape[1] == 1 else self.gain[:, workers]
