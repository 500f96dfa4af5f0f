"""What is believed where a few cheap models and people label: of models jointly, of people singly.

People's labels judge the models, and the models' answers to a task count together, as a pattern
(`workbench.aggregation.joint_patterns`): they give the chance of each class that the task begins
with. People are judged beside it as in `grid_beliefs`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.aggregation.belief_propagation import EASE_PRIOR, UnitLabels, fit, over_easiness
from workbench.aggregation.joint_patterns import (
    ModelAnswers,
    PatternFit,
    fit_patterns,
    own_odds,
    predicted,
    unjudged,
)
from workbench.aggregation.posteriors import log
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.collection.grid_beliefs import SETTLED, SWEEPS, GridBeliefs
from workbench.collection.pool import Ledger, Pool, Questions

CHEAP = 0.2
"""Price of a model's label, at most, beside that of a person's. By judgement, not tuned."""
# Chosen on some forty other pools than those of docs/findings/mixed-pools.md.
EASE_WRONG = (4.0, 2.0, 1.0, 1.0)
"""Dirichlet weights of easiness for people where most models are wrong, as many tasks."""
COMPARED_PART = 0.05
"""Part of a person's labels, at most, that the tasks for comparing her with others may be."""
# By judgement, not tuned.
ROUNDS = 3
"""Turns between people and models in a refit."""
TOGETHER = 0.5
"""Chance from which on the models are said to err together."""


def models_of(pool: Pool) -> BoolArray | None:
    """Workers who are models: in a group, and cheap beside those in none; None without any.

    None as well where the skill of one of them is known: what they say is fitted.
    """
    if pool.group is None:
        return None
    models = pool.group >= 0
    if models.all() or not models.any():
        return None
    if pool.confusion is not None and not np.isnan(pool.confusion[:, models]).all():
        return None
    price = pool.price.mean(axis=0)
    cheap = price[models].max() <= CHEAP * np.median(price[~models])
    return models if cheap else None


def check_confidences(pool: Pool, models: BoolArray | None) -> None:
    """Refuse confidences of workers who are no models.

    Raises
    ------
    InputError
        There are such.
    """
    for worker in pool.confidence:
        if models is None or not models[worker]:
            name = checks.show(pool.workers[worker])
            raise InputError(
                f"confidences: {name} is no model: give models a group by `groups`, and by `costs` "
                f"a price of {CHEAP:g} of a person's at most; or leave the confidences out"
            )


def easiness_beforehand(models: int) -> FloatArray:
    """Dirichlet weights of easiness before any label, as many tasks; shape (J + 1, 2, S).

    By how many of the J models do not say what most say, and whether most are wrong or right.
    """
    return np.tile(np.array([EASE_WRONG, EASE_PRIOR]), (models + 1, 1, 1))


class ModelBeliefs(GridBeliefs):
    """Posterior of tasks and people, models' answers being what a task begins with.

    Parameters
    ----------
    ledger
        What was asked and answered.
    models
        Which workers are models, shape (m,).
    """

    def __init__(self, ledger: Ledger, models: BoolArray, common: IntArray | None = None) -> None:
        self.models: BoolArray = models
        self.place = np.cumsum(models) - 1
        pool = ledger.pool
        shape = len(pool.tasks), int(models.sum())
        self.answer: IntArray = np.full(shape, -1, dtype=np.int64)
        confidence = np.full(shape, np.nan)
        for worker, own in pool.confidence.items():
            confidence[:, self.place[worker]] = own
        self.odds = own_odds(confidence)
        self.gold_answer: IntArray = np.full((len(pool.gold), shape[1]), -1, dtype=np.int64)
        self.patterns: PatternFit = unjudged(self._panel(ledger.pool))
        self.easy = easiness_beforehand(shape[1])
        super().__init__(ledger, common)

    def _panel(self, pool: Pool) -> ModelAnswers:
        """Answers to tasks, then to gold tasks, whose confidences nobody gives."""
        answer = np.concatenate([self.answer, self.gold_answer])
        sure = np.concatenate([self.odds, np.zeros(self.gold_answer.shape)])
        return ModelAnswers(answer, np.where(answer >= 0, sure, 0.0), len(pool.classes))

    @property
    def labels(self) -> IntArray:
        """People's labels that judge them."""
        labels = super().labels
        return np.asarray(labels[~self.models[labels[:, 1]]])

    @property
    def counts(self) -> IntArray:
        """People's labels of each task, shape (n,)."""
        task, worker, _ = self.ledger.labels.T
        return np.bincount(task[~self.models[worker]], minlength=len(self.ledger.counts))

    @property
    def prior(self) -> FloatArray:
        """Log-chance of each class of each task by the models, shape (n, K)."""
        return self.patterns.prior[: len(self.answer)]

    def suspects(self) -> IntArray:
        """People who seem very good, once comparing them is a small part of what they label.

        Beside models few people label, each much: to compare all of them cost a fifth and more of
        their labels.
        """
        suspects = super().suspects()
        labels = np.bincount(self.labels[:, 1], minlength=self.m)[suspects]
        return np.asarray(suspects[len(self.common) <= COMPARED_PART * labels])

    def notes(self) -> list[str]:
        """As of people; and whether models err together."""
        lines = super().notes()
        if self.patterns.joint > TOGETHER and (self.answer >= 0).any():
            lines.append(
                "the models err together more than their single answers explain: what they say "
                "counts by how often people found the same pattern of answers right"
            )
        return lines

    def told(self, ask: Questions, label: IntArray) -> None:
        """Move tasks by what a model says, and tasks and people by what people say."""
        by_model = self.models[ask.worker]
        if by_model.any():
            self._models_said(
                ask.task[by_model], ask.worker[by_model], label[by_model], gold=ask.gold
            )
        if not by_model.all():
            rest = Questions(ask.task[~by_model], ask.worker[~by_model], ask.gold)
            super().told(rest, label[~by_model])

    def _models_said(
        self, task: IntArray, worker: IntArray, label: IntArray, *, gold: bool
    ) -> None:
        (self.gold_answer if gold else self.answer)[task, self.place[worker]] = label
        if gold:
            return
        moved = np.unique(task)
        panel = self._panel(self.ledger.pool).rows(moved)
        prior = self.patterns.prior.copy()
        prior[moved] = log(predicted(panel, self.patterns.weights, self.patterns.spread))
        self._begin_with(replace(self.patterns, prior=prior))

    def _begin_with(self, patterns: PatternFit) -> None:
        """Let tasks begin with what the models say now."""
        moved = patterns.prior[: len(self.answer)] - self.prior
        self.fit = replace(self.fit, joint=self.fit.joint + moved[:, :, None])
        self.patterns, self._view = patterns, None

    def refit(self, *, anew: bool = False) -> None:
        """Fit people and models to each other by turns."""
        super().refit(anew=anew)
        for _ in range(ROUNDS):
            self._judge_models()
            self._judge_easiness()
            self.fit = fit(self.unit_labels(), self.grid, self.fit, sweeps=SWEEPS, settled=SETTLED)
        self._view = None
        self._weigh_workers()
        self._calibrate()

    def _judge_models(self) -> None:
        """Fit what the models say to what people say, and to gold."""
        pool = self.ledger.pool
        by_people = log(over_easiness(self.fit.joint)) - self.prior
        known = np.where(np.eye(self.K)[pool.gold] > 0, 0.0, -np.inf)
        likely = np.exp(np.concatenate([by_people - by_people.max(axis=1)[:, None], known]))
        judged = np.concatenate([self.counts > 0, (self.gold_answer >= 0).any(axis=1)])
        panel = self._panel(pool)
        self._begin_with(fit_patterns(panel, likely, judged, self.patterns.weights))

    def _judge_easiness(self) -> None:
        """Fit how easy tasks are for people, where most models are right and where they err."""
        joint, judged = self.fit.joint, self.counts > 0
        if joint.shape[2] == 1:
            return
        chance = np.exp(joint - joint.max(axis=(1, 2), keepdims=True))
        chance /= chance.sum(axis=(1, 2), keepdims=True)
        total = np.zeros_like(self.easy)
        against, most = self._majority()
        np.add.at(total, (against[judged][:, None], most[judged]), chance[judged])
        # Where most models err: as the others of this kind, however many disagree.
        wrong = total[:, 0].sum(axis=0) + EASE_WRONG
        alike = np.stack([sum(EASE_WRONG) * wrong / wrong.sum(), np.array(EASE_PRIOR)])
        self.easy = total + alike

    def _easy(self) -> FloatArray:
        """Log-chance of each easiness, by task and what its class may be, shape (n, K, S)."""
        against, most = self._majority()
        share = log(self.easy / self.easy.sum(axis=2, keepdims=True))
        return np.asarray(share[against[:, None], most])

    def _majority(self) -> tuple[IntArray, IntArray]:
        """How many models do not say what most say, shape (n,); 1 for what most say, (n, K)."""
        votes = (self.answer[:, :, None] == np.arange(self.K)).sum(axis=1)
        most = votes.max(axis=1)
        return votes.sum(axis=1) - most, (votes == most[:, None]).astype(np.int64)

    def unit_labels(self, merged: IntArray | None = None) -> UnitLabels:
        """As of people alone; tasks begin with what the models say of class and easiness."""
        labels = super().unit_labels(merged)
        people = ~self.models[labels.gold_unit % self.m]
        return replace(
            labels,
            gold_class=labels.gold_class[people],
            gold_unit=labels.gold_unit[people],
            gold_label=labels.gold_label[people],
            prior=self.prior,
            easy=self._easy(),
        )

    def state(self) -> dict[str, Any]:
        """As of people, and what the models are taken to say."""
        now = self.patterns
        return super().state() | {
            "easy": self.easy.tolist(),
            "patterns": {
                name: getattr(now, name).tolist() for name in ("weights", "spread", "gate", "prior")
            },
        }

    def resume(self, saved: dict[str, Any]) -> None:
        """Take up a `state`."""
        for gold, rows in ((False, self.ledger.labels), (True, self.ledger.gold_labels)):
            task, worker, label = rows[self.models[rows[:, 1]]].T
            (self.gold_answer if gold else self.answer)[task, self.place[worker]] = label
        arrays = {
            name: np.array(rows, dtype=np.float64) for name, rows in saved["patterns"].items()
        }
        if arrays["prior"].shape != self.patterns.prior.shape:
            raise ValueError(f"patterns has {len(arrays['prior'])} rows")
        self.patterns = PatternFit(**arrays)
        self.easy = np.array(saved["easy"], dtype=np.float64)
        super().resume(saved)
