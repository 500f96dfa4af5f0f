"""The sequential optimum as a policy: workers of known skill, each label looked at.

A plan (`workbench.assignment.label_by_label`) prices workers' time and errors; each task draws one
of its rules by lot and follows it: it is closed where stopping is charged less than asking anybody,
and else asks the worker, of those who have room, with whom asking is charged least. A worker who is
here is asked about the tasks for which she is the best of those who can be asked, or costs hardly
more than the best.

Source: beyond the papers; Wald (1945); Arrow, Blackwell, Girshick (1949).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from crowd_models.sequential_policies import Promise
from workbench.assignment.label_by_label import LabelPlan, closing_rules, plan_labels
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, sequence, stream
from workbench.collection.policy import Belief, Goal, Policy
from workbench.collection.pool import NOTHING, Ledger, Questions
from workbench.solving.posteriors import SAME, error_at, log_odds

HARDLY = 0.02
"""Of what a task is charged in all: so much more a worker who is here may cost than the best."""


class LabelByLabel(Policy):
    """Carries out the sequential optimum.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; the goal's ε in the mean where it says so.
    plan
        Of `wb.plan(..., sequential=…)`, its `options["plan"]`; made when it is first needed, where
        there is none.
    posterior
        Whether no task is closed before its posterior error is at most ε; with no plan given.

    Raises
    ------
    InputError
        Nobody's skill known, more than two classes, unequal shares, no ε, or what a plan does not
        take into account.
    """

    def __init__(
        self,
        ledger: Ledger,
        goal: Goal,
        seed: Seed,
        *,
        plan: dict[str, Any] | None = None,
        posterior: bool = False,
    ) -> None:
        pool = ledger.pool
        if pool.confusion is None:
            raise InputError("sequential-plan: knows all skills beforehand; give `skills`")
        if len(pool.classes) != 2 or not np.allclose(pool.share, 0.5):
            raise InputError("sequential-plan: is for two classes, equally likely")
        if goal.epsilon is None or not 0 < goal.epsilon < 0.5:
            raise InputError("sequential-plan: give epsilon, above 0 and below 0.5")
        if pool.easiness is not None or pool.own_price:
            raise InputError("sequential-plan: knows types of tasks, not single tasks")
        self.ledger, self.seed = ledger, sequence(seed)
        skill: FloatArray = pool.confusion[:, :, 0, 0]
        self.weight = np.where(
            np.isnan(skill), 0.0, np.sign(skill - 0.5) * log_odds(np.maximum(skill, 1 - skill))
        )
        self.skill = np.where(np.isnan(skill), 0.5, skill)
        self.promise: Promise = "posterior" if posterior else "mean" if goal.mean else "error"
        self.epsilon = goal.epsilon
        self._plan = None if plan is None else LabelPlan.loaded(plan, self.skill.shape)
        self._rule: IntArray | None = None
        self.lead = np.zeros(len(pool.tasks))
        self._hear(ledger.labels)

    @classmethod
    def following(cls, ledger: Ledger, goal: Goal, seed: Seed, plan: LabelPlan) -> Self:
        """Carry out a plan that is at hand."""
        policy = cls(ledger, goal, seed)
        policy._plan = plan
        return policy

    @property
    def plan(self) -> LabelPlan:
        """Rules by task type, with their shares, and the class of each worker."""
        if self._plan is None:
            pool = self.ledger.pool
            tasks = np.bincount(pool.kind, minlength=len(pool.price))
            optimum, classes = plan_labels(
                self.skill, tasks, pool.capacity, pool.price, self.epsilon, self.promise
            )
            if optimum.cost is None:
                said = "no policy of these workers was found that keeps"
                if optimum.shortfall is not None:
                    said = "these workers cannot keep"
                raise InputError(
                    f"epsilon is {self.epsilon:g}: {said} the promise within their capacities; "
                    "give a larger one"
                )
            self._plan = closing_rules(optimum, classes)
        return self._plan

    @property
    def rule(self) -> IntArray:
        """Rule of each task, drawn by the shares of its type, shape (n,)."""
        if self._rule is None:
            lot = stream(self.seed, "rules").random(len(self.lead))
            self._rule = self.plan.drawn(self.ledger.pool.kind, lot)
        return self._rule

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """One label of each task that is not closed; of a worker who is here as many as fit."""
        ledger = self.ledger
        left = ledger.left.copy()
        ready = (ledger.waiting == 0) & (ledger.open & (left > 0)).any(axis=1)
        pairs: list[tuple[int, int]] = []
        room = len(ready) if most is None else most
        for charges in self._charges(np.flatnonzero(ready)):
            for task, charge, closing in zip(*charges, strict=True):
                if len(pairs) >= room:
                    break
                able = ledger.open[task] & (left > 0)
                who = self._asked(charge, closing, able, left, worker)
                if who is not None:
                    left[who] -= 1
                    pairs.append((int(task), who))
        if not pairs:
            return NOTHING
        task, asked = np.array(pairs, dtype=np.int64).T
        return ledger.affordable(Questions(task, asked))

    def _charges(self, tasks: IntArray) -> list[tuple[IntArray, FloatArray, FloatArray]]:
        """By rule: its tasks, what asking is charged, shape (tasks, classes), and stopping."""
        charges = []
        everybody = np.arange(self.plan.classes)
        for r, rule in enumerate(self.plan.rules):
            own = tasks[self.rule[tasks] == r]
            lead = np.abs(self.lead[own])
            charge = rule.asking(lead, everybody)
            charge[rule.weight <= 0] = np.inf
            closing = np.where(self.ledger.enough[own], rule.closing(lead), np.inf)
            charges.append((own, charge.T, closing))
        return charges

    def _asked(
        self,
        charge: FloatArray,
        closing: float,
        able: BoolArray,
        left: IntArray,
        worker: int | None,
    ) -> int | None:
        """The worker to ask about a task; None where it is closed, or she who is here is not."""
        own = np.where(able, np.append(charge, np.inf)[self.plan.worker_class], np.inf)
        least = float(own.min(initial=np.inf))
        if not least < closing or closing <= 0:
            return None
        if worker is not None:
            return worker if own[worker] <= least * (1.0 + HARDLY) else None
        # A class deals its labels to whoever has most room left.
        return int(np.where(own <= least, left, -1).argmax())

    def told(self, ask: Questions, label: IntArray) -> None:
        """Move the leads."""
        if not ask.gold:
            self._hear(np.column_stack([ask.task, ask.worker, label]))

    def _hear(self, labels: IntArray) -> None:
        task, worker, named = labels.T
        weight = self.weight[self.ledger.pool.kind[task], worker]
        np.add.at(self.lead, task, np.where(named == 1, weight, -weight))

    def belief(self) -> Belief:
        """Posterior by skills, and the tasks whose rule would ask nobody."""
        wrong = error_at(np.abs(self.lead))
        second = np.where(self.lead > 0, 1.0 - wrong, wrong)
        closed = np.zeros(len(self.lead), dtype=np.bool_)
        for tasks, charge, closing in self._charges(np.arange(len(self.lead))):
            closed[tasks] = (closing <= 0) | (charge.min(axis=1, initial=np.inf) >= closing)
        coin = stream(self.seed, "coins").random(len(self.lead)) < 0.5
        label = np.where(np.abs(self.lead) < SAME, coin, self.lead > 0).astype(np.int64)
        label[~closed & (self.ledger.counts == 0)] = -1
        return Belief(np.column_stack([1.0 - second, second]), closed, label)

    def state(self) -> dict[str, Any]:
        """Give the plan, once there is one."""
        return {} if self._plan is None else {"plan": self._plan.saved()}

    def resume(self, saved: dict[str, Any]) -> None:
        """Take up the plan, and the labels of the ledger."""
        if "plan" in saved:
            self._plan = LabelPlan.loaded(saved["plan"], self.skill.shape)
        self.lead[:] = 0.0
        self._hear(self.ledger.labels)
