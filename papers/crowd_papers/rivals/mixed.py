"""Mixed pools: cheap workers who err together, dear ones who do not, and perhaps an expert.

Each label is bought where it tells most for its price: the mutual information of label and true
class, given what is believed of the task and of the worker, over the price. A further label of a
group counts the less the more of its labels a task has (`groups`), so that tasks go from cheap to
dear as far as they need: models first, then people on tasks that models leave open, then an expert
(a worker whose skill is known) where she pays.

How often a group errs, and how often together, only others can tell. So first the
groups and `AUDITORS` others label a random block of tasks: `AUDITS` of them, or what a share of the
budget buys. Where there is gold, the groups label that in place of it.

Source: Lindley (1956), "On a measure of the information provided by an experiment".
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from crowd_papers.rivals.one_coin_beliefs import Beliefs
from workbench.base import BoolArray, FloatArray, IntArray, Seed, stream
from workbench.collection import (
    ALIKE,
    FREE,
    NOTHING,
    Belief,
    Goal,
    Ledger,
    Policy,
    Questions,
)

AUDITS, AUDITORS = 100, 3
"""Tasks of the random block, and labels of each by workers outside the groups."""
AUDIT_MONEY = 1.0 / 3.0
"""Share of a budget that the block may cost."""
ROUND = 50
"""Labels in a round: one in so many tasks."""
HOPE = 0.5
"""Standard deviations above the mean ability that a worker is hoped to have."""
LEAST = 1e-6
"""Nats below which a label is not worth asking for."""


class Mixed(Policy):
    """Buy the label that tells most for its price, counting groups for what they add.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; without ε, until the money is spent.
    """

    anytime: ClassVar[bool] = False
    """What it spends on its audit hangs on the budget."""

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed) -> None:
        self.ledger, self.goal = ledger, goal
        self.beliefs = Beliefs(ledger)
        self.fitted = 0
        pool, rng = ledger.pool, stream(seed, "mixed")
        m = len(pool.workers)
        grouped = np.zeros(m, dtype=bool) if pool.group is None else pool.group >= 0
        self.grouped: BoolArray = grouped
        self.turn: IntArray = rng.permutation(np.flatnonzero(~grouped))
        many = AUDITS
        if ledger.total is not None and len(self.turn):
            price = float(pool.price[:, self.turn].mean())
            many = int(min(many, AUDIT_MONEY * ledger.total / max(AUDITORS * price, FREE)))
        wanted = grouped.any() and not grouped.all() and not len(pool.gold)
        self.block: IntArray = rng.permutation(len(pool.tasks))[: many if wanted else 0]

        if self.beliefs.groups is not None and len(self.block):
            judged = np.zeros(len(pool.tasks), dtype=bool)
            judged[self.block] = True
            self.beliefs.groups.judged = judged

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """Pairs to ask now; see `Policy`."""
        if self._new() >= 20 + self.fitted // 10:
            self._refit()
        ask = self._judge(worker)
        if not len(ask):
            ask = self._best(worker)
            if not len(ask) and self._new():
                self._refit()
                ask = self._best(worker)
        return self.ledger.affordable(Questions(ask.task[:most], ask.worker[:most], ask.gold))

    def told(self, ask: Questions, label: IntArray) -> None:
        """Hear labels."""
        self.beliefs.told(ask, label)

    def belief(self) -> Belief:
        """Posterior and closed tasks, by all labels; looking changes nothing of what follows."""
        before = self.beliefs.state() if self._new() else None
        if before is not None:
            self.beliefs.refit()
        posterior = self.beliefs.posterior()
        belief = Belief(posterior, self._closed(posterior))
        if before is not None:
            self.beliefs.resume(before)
        return belief

    def notes(self) -> list[str]:
        """Say what speaks against the belief."""
        return self.beliefs.notes()

    def _new(self) -> int:
        return len(self.ledger.labels) + len(self.ledger.gold_labels) - self.fitted

    def _refit(self) -> None:
        self.beliefs.refit()
        self.fitted += self._new()

    def _closed(self, posterior: FloatArray) -> BoolArray:
        error = 1.0 - posterior.max(axis=1)
        if self.goal.epsilon is None:
            return np.zeros(len(error), dtype=bool)
        sure = error.mean() if self.goal.mean else error
        closed: BoolArray = np.broadcast_to(sure <= self.goal.epsilon, error.shape)
        return closed & self.ledger.enough

    def _judge(self, worker: int | None) -> Questions:
        """Gold for the groups; or the random block for those outside, by turns."""
        ledger = self.ledger
        if len(ledger.pool.gold):
            here = np.flatnonzero(self.grouped) if worker is None else np.array([worker])
            for who in here[self.grouped[here]]:
                gold = np.flatnonzero(ledger.gold_open[:, who])[: min(AUDITS, ledger.left[who])]
                if len(gold):
                    return Questions(gold, np.full(len(gold), who), gold=True)
            return NOTHING
        turns = (np.arange(AUDITORS * len(self.block)) % max(len(self.turn), 1)).astype(np.int64)
        groups = np.flatnonzero(self.grouped)
        task = np.concatenate([np.repeat(self.block, AUDITORS), np.repeat(self.block, len(groups))])
        who = np.concatenate([self.turn[turns], np.tile(groups, len(self.block))])
        if worker is not None:
            task, who = task[who == worker], who[who == worker]
        still = ledger.open[task, who] & (ledger.left[who] > 0)
        return Questions(task[still], who[still])

    def _best(self, worker: int | None) -> Questions:
        """A round of labels, one a task, those that tell most for their price."""
        ledger, pool = self.ledger, self.ledger.pool
        posterior = self.beliefs.posterior()
        rows = np.flatnonzero(~self._closed(posterior) & (ledger.waiting == 0))
        columns = np.arange(len(pool.workers)) if worker is None else np.array([worker])
        price = pool.price[np.ix_(pool.kind[rows], columns)]
        able = ledger.open[np.ix_(rows, columns)] & (ledger.left[columns] > 0)
        able &= price <= ledger.money + 1e-9
        nats = np.where(able, self._information(posterior, rows, columns), 0.0)
        rate = np.round(nats / np.maximum(price, FREE), ALIKE)
        chosen = rate.argmax(axis=1)
        best = rate[np.arange(len(rows)), chosen]
        order = np.argsort(-best, kind="stable")[: max(len(pool.tasks) // ROUND, 1)]
        order = order[nats[order, chosen[order]] > LEAST]
        return Questions(rows[order], columns[chosen[order]])

    def _information(self, posterior: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
        """Mutual information of each pair's label and the true class, in nats, shape (k, l)."""
        beliefs, pool = self.beliefs, self.ledger.pool
        K, T, m = beliefs.K, beliefs.T, beliefs.m
        p = self._ability().reshape(T, m)[np.ix_(pool.kind[rows], columns)]
        q = posterior[rows][:, None, :]
        wrong = ((1.0 - p) / (K - 1))[:, :, None]
        chance = p[:, :, None] * q + wrong * (1.0 - q)
        noise = p * np.log(p) + (1.0 - p) * np.log(wrong[:, :, 0])
        nats: FloatArray = noise - np.einsum("klc,klc->kl", chance, np.log(chance))
        if beliefs.groups is not None:
            task, who, _ = self.ledger.labels.T
            counts = beliefs.groups.given(task, who, len(posterior))[rows]
            nats = nats * beliefs.groups.fresh(counts)[:, columns]
        return nats

    def _ability(self) -> FloatArray:
        """Ability of each unit that is hoped for, so that all are tried; shape (T·m,)."""
        beliefs = self.beliefs
        p, weight = beliefs.grid.ability, beliefs.weight
        mean = weight @ p
        spread = np.sqrt(np.maximum(weight @ p**2 - mean**2, 0.0))
        hoped = np.clip(mean + HOPE * spread, 1e-3, p.max())
        if beliefs.known is not None:
            sure = np.diagonal(beliefs.known, axis1=1, axis2=2).mean(axis=1)
            hoped = np.where(np.isnan(sure), hoped, np.clip(sure, 1e-3, 1.0 - 1e-3))
        return hoped

    def state(self) -> dict[str, Any]:
        """Give what the ledger does not hold."""
        return {"fitted": self.fitted, "beliefs": self.beliefs.state()}

    def resume(self, saved: dict[str, Any]) -> None:
        """Take it up."""
        self.fitted = int(saved["fitted"])
        self.beliefs.resume(saved["beliefs"])
