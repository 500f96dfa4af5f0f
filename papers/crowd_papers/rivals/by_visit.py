"""Kin of Algorithm 2 beside policies that look at labels: one visit of each worker.

A worker who arrives answers the gold tasks, her skill is a posterior mean under a prior fitted to
those who came before (empirical Bayes: plug-in shares overrate, and the policies then stop early),
and `workbench.assignment.policies` names all her tasks at once. They never look at a label. At the
end each task's posterior follows by Bayes' rule from the same skills, as if these were known.

Sources: those of `workbench.assignment.policies`; `algorithm_two` is the paper's own.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from workbench.aggregation import log, log_odds_weights, normalised
from workbench.assignment import (
    COVERED,
    POLICIES,
    ArrivingWorker,
    AssignmentPolicy,
    Setting,
)
from workbench.base import FloatArray, InputError, IntArray, Seed, sequence
from workbench.collection import (
    NOTHING,
    Belief,
    Goal,
    Ledger,
    Policy,
    Questions,
    check_visits,
    known_skills,
)
from workbench.crowd import FLAT, BetaPrior, fitted_priors, posterior_means

SAMPLE = 0.1
"""γ: share of the workers who come first and get gold tasks alone, where the policy needs any."""
SURE = 1e-3
"""Skills that vote are kept so far from 0 and 1."""


class ByVisit(Policy):
    """A policy of `workbench.assignment`, as one that collects.

    Raises
    ------
    InputError
        There is no ε, more classes than two, or workers are neither of known skill nor to be judged
        by gold tasks.
    """

    begins_again = False

    policy: ClassVar[str]

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed) -> None:
        check_visits(ledger, goal)
        assert goal.epsilon is not None
        pool = ledger.pool
        self.ledger, self.epsilon, self.own = ledger, goal.epsilon, sequence(seed)
        shape = len(pool.price), len(pool.workers)
        self.known = known_skills(ledger)
        if not len(pool.gold) and np.isnan(self.known).any():
            raise InputError("a policy of visits judges workers by gold tasks: give some")
        kind = POLICIES[self.policy].call
        self.sampled = max(1, round(SAMPLE * shape[1])) if kind.uses_sample else 0
        self.visits: dict[int, IntArray] = {}
        self.priors: list[BetaPrior] = [FLAT] * shape[0]
        self.deciding: AssignmentPolicy | None = None

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """Gold tasks first, then the tasks that she is assigned; nothing when she comes again.

        Raises
        ------
        InputError
            No worker is named: these policies take them as they arrive.
        """
        if worker is None:
            raise InputError("a policy of visits takes workers as they arrive: name one")
        ledger = self.ledger
        if np.isnan(self.known[:, worker]).any() and worker not in self.visits:
            gold = np.flatnonzero(ledger.gold_open[:, worker])[: ledger.left[worker]]
            if len(gold):
                return ledger.affordable(_of(worker, gold[:most], gold=True))
        if worker not in self.visits:
            self.visits[worker] = self._visit(worker, int(ledger.left[worker]))
        mine = self.visits[worker]
        return ledger.affordable(_of(worker, mine[ledger.open[mine, worker]][:most]))

    def _visit(self, worker: int, capacity: int) -> IntArray:
        """Tasks of a worker who arrives."""
        before = len(self.visits)
        if before < self.sampled:
            return NOTHING.task
        if before & (before - 1) == 0 or self.deciding is None:
            self.priors = fitted_priors(*self._gold(list(self.visits)))
        if self.deciding is None:
            pool = self.ledger.pool
            self.deciding = POLICIES[self.policy].call(
                Setting(
                    pool.kind,
                    self.epsilon,
                    max(1, len(pool.workers) - before),
                    tuple(
                        self._arriving(visitor, int(pool.capacity[visitor]))
                        for visitor in self.visits
                    ),
                ),
                seed=self.own,
            )
        return np.asarray(self.deciding.assign(self._arriving(worker, capacity)), dtype=np.int64)

    def _arriving(self, worker: int, capacity: int) -> ArrivingWorker:
        pool = self.ledger.pool
        there = None if pool.available is None else pool.available[:, worker]
        skill = self.skill([worker])[:, 0]
        return ArrivingWorker(skill, capacity, pool.price[:, worker], there)

    def _gold(self, workers: list[int]) -> tuple[IntArray, IntArray]:
        """Right gold answers, and answers, by type and worker, shape (T, k)."""
        pool = self.ledger.pool
        task, worker, label = self.ledger.gold_labels.T
        right, answered = (np.zeros(self.known.shape, dtype=np.int64) for _ in range(2))
        np.add.at(answered, (pool.gold_kind[task], worker), 1)
        np.add.at(right, (pool.gold_kind[task], worker), label == pool.gold[task])
        return right[:, workers], answered[:, workers]

    def skill(self, workers: list[int]) -> FloatArray:
        """Known skills, else posterior means from gold answers; shape (T, k)."""
        true_skill = self.known[:, workers]
        return np.where(
            np.isnan(true_skill), posterior_means(*self._gold(workers), self.priors), true_skill
        )

    def told(self, ask: Questions, label: IntArray) -> None:
        """Labels are not looked at; gold labels stand in the ledger."""

    def belief(self) -> Belief:
        """Posterior if the skills were known; a task is closed when it gathered what ε asks."""
        pool = self.ledger.pool
        task, worker, label = self.ledger.labels.T
        p = self.skill(list(range(len(pool.workers))))[pool.kind[task], worker]
        joint = np.tile(log(pool.share), (len(pool.tasks), 1))
        np.add.at(joint, (task, label), log_odds_weights(p, 2, truncate=SURE))
        setting = Setting(pool.kind, self.epsilon, 1)
        gathered = np.bincount(task, setting.counted(p), len(pool.tasks))
        return Belief(normalised(joint)[0], gathered >= setting.need * COVERED)

    def state(self) -> dict[str, Any]:
        """Who came, with what capacity was left."""
        answered = self._gold(list(self.visits))[1].sum(axis=0).tolist()
        return {"visits": [list(pair) for pair in zip(self.visits, answered, strict=True)]}

    def resume(self, saved: dict[str, Any]) -> None:
        """Let them come again: what a policy does follows from its seed and who came."""
        for worker, gold in saved["visits"]:
            capacity = int(self.ledger.pool.capacity[worker]) - gold
            self.visits[worker] = self._visit(worker, capacity)


def _of(worker: int, task: IntArray, *, gold: bool = False) -> Questions:
    return Questions(task, np.full(len(task), worker, dtype=np.int64), gold)


class ReSolved(ByVisit):
    """Prices from a linear program that is solved anew as workers arrive."""

    policy = "re-solve"


class Descended(ByVisit):
    """Prices by one subgradient step per worker."""

    policy = "dual descent"
