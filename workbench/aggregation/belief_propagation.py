"""What labels say of tasks and of workers: classes of unequal share, two skills, unequal tasks.

Each task has a class c, drawn with shares π that are fitted, and an easiness s; each worker (at
each task type) is one of some grid g, chances A_g[c, x] to answer x where c is true, drawn with
shares ρ that are fitted. A label is

    P(x | c, s, g) = s A_g[c, x] + (1 − s) mean over c' of A_g[c', x]:

on a task of easiness 0 nobody tells one class from another. Belief propagation sends two messages
for each label by turns, and neither contains what the other one said: to the worker, by what the
*others* say of the task; to the task, by what the worker says of *other* tasks. π, ρ and the shares
of easiness are fitted between them, and Bethe's free energy, which is the log-evidence where the
graph has no short cycles, chooses among several starts of π and decides whether tasks are taken to
differ in easiness or to be alike (`belief_choice`).

Source: Liu, Peng, Ihler (2012), "Variational inference for crowdsourcing", Section 3; Dawid, Skene
(1979); Whitehill and others (2009) for easiness; Yedidia, Freeman, Weiss (2005) for the free
energy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from workbench.aggregation.belief_sweeps import ByUnit, ease_mixing
from workbench.aggregation.posteriors import chances, log, normalised
from workbench.aggregation.skill_grid import SkillGrid
from workbench.base.arrays import FloatArray, IntArray

# Chosen on seeds 300 to 369 of the simulated crowds of docs/findings/until-trusted.md.
EASINESS = (1.0, 0.6, 0.3, 0.0)
"""Easiness that a task may have, where tasks are not alike."""
EASE_PRIOR = (12.0, 0.4, 0.3, 0.3)
"""Dirichlet weights of easiness, as many tasks."""
SHARE_PRIOR = 10.0
"""Dirichlet weight of each class's share, as many tasks, beside the shares of labels."""
HYPER = 4.0
"""Weight of the prior of the points, in workers."""
# By judgement, not tuned.
SWEEPS, SETTLED = 30, 1e-3
"""Turns at most, and the change of posteriors below which they end."""


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """Labels of workers whose skill is known, j of them: they tell of tasks, and are not judged.

    A known skill is what she is on every task: an expert who never errs does not err on hard ones.

    Attributes
    ----------
    task
        Shape (j,).
    chance
        Of each by true class, shape (j, K).
    """

    task: IntArray
    chance: FloatArray

    def messages(self, tasks: int) -> FloatArray:
        """Log-chance of all of them by task and class; shape (n, K, 1)."""
        return _summed(self.task, tasks, log(self.chance)[:, :, None])


@dataclass(frozen=True, eq=False)
class UnitLabels:
    """Labels as the model takes them, k of them, and of gold tasks l.

    Attributes
    ----------
    task, unit, label
        Task, unit (worker at a task type) and class named, shapes (k,).
    gold_class, gold_unit, gold_label
        The same of gold tasks, their class in place of the task, shapes (l,).
    tasks, units, classes
        How many.
    kinds
        Type of each unit, shape (units,).
    prior
        Log-chance of each class of each task beforehand, in place of shares that are fitted, where
        something else tells of the tasks; shape (n, K).
    easy
        Log-chance of each of `EASINESS` beforehand, by task and its class, in place of shares of
        easiness that are fitted; shape (n, K, S).
    first_shares
        Shares of the classes among first labels of tasks, shape (K,), toward which fitted shares
        lean; None for those of all labels, each task counting once.
    known
        Labels of workers of known skill, beside the k.
    """

    task: IntArray
    unit: IntArray
    label: IntArray
    gold_class: IntArray
    gold_unit: IntArray
    gold_label: IntArray
    tasks: int
    units: int
    classes: int
    kinds: IntArray
    prior: FloatArray | None = None
    easy: FloatArray | None = None
    first_shares: FloatArray | None = None
    known: KnownLabels | None = None

    def none(self) -> UnitLabels:
        """The same tasks and units before any label."""
        no: IntArray = np.zeros(0, dtype=np.int64)
        return replace(
            self,
            task=no,
            unit=no,
            label=no,
            gold_class=no,
            gold_unit=no,
            gold_label=no,
            known=self.known and KnownLabels(no, np.zeros((0, self.classes))),
        )

    @cached_property
    def by_unit(self) -> ByUnit:
        """Laid out for the turns of a fit."""
        habits = self.classes == 2 or self.prior is not None
        return ByUnit.of(
            self.task,
            self.unit,
            self.label,
            self.tasks,
            habits=habits,
            known_counts=self.known_counts,
        )

    @cached_property
    def known_counts(self) -> IntArray:
        """Labels of workers of known skill by task, shape (n,)."""
        task = np.zeros(0, dtype=np.int64) if self.known is None else self.known.task
        return np.bincount(task, minlength=self.tasks)

    @cached_property
    def known_messages(self) -> FloatArray:
        """What workers of known skill say of each task, shape (n, K, 1); 0 without any."""
        if self.known is None:
            return np.zeros((1, self.classes, 1))
        return self.known.messages(self.tasks)

    @cached_property
    def shares(self) -> FloatArray:
        """Dirichlet weights of π, shape (K,): the shares of labels weigh as n/a tasks.

        n tasks have a labels each in the mean. Of single labels nobody knows who is able, and what
        is a worker's habit looks like a frequent class that an able worker names.
        """
        many = np.bincount(self.task, minlength=self.tasks)
        tasks = int((many > 0).sum())
        weight = tasks**2 / max(len(self.task), 1)
        seen = self.first_shares
        if seen is None:
            seen = np.bincount(self.label, 1.0 / many[self.task], self.classes) / max(tasks, 1)
        return np.asarray(SHARE_PRIOR + weight * seen)


@dataclass(frozen=True, eq=False)
class GridFit:
    """What was fitted.

    Attributes
    ----------
    joint
        Log-chance of class and easiness of each task, unnormalised, shape (n, K, S).
    worker
        Log-chance of the points for each unit, unnormalised, shape (units, G).
    share, ease
        π, shape (K,), and shares of easiness, shape (S,).
    levels
        Easiness, shape (S,): 1 alone, or `EASINESS`.
    population
        ρ by type, shape (T, G).
    messages
        To the task of each label, shape (k, K, S).
    evidence
        Bethe's log-evidence, with the priors of what is fitted.
    """

    joint: FloatArray
    worker: FloatArray
    share: FloatArray
    ease: FloatArray
    levels: FloatArray
    population: FloatArray
    messages: FloatArray
    evidence: float

    @property
    def posterior(self) -> FloatArray:
        """Of classes, shape (n, K)."""
        return over_easiness(self.joint)


def over_easiness(joint: FloatArray) -> FloatArray:
    """Posterior of classes, shape (n, K), from logs by class and easiness, shape (n, K, S)."""
    chance = np.exp(joint - joint.max(axis=(1, 2), keepdims=True)).sum(axis=2)
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


def begin(labels: UnitLabels, grid: SkillGrid, share: FloatArray, *, unequal: bool) -> GridFit:
    """Start a fit: workers as their answers to gold tasks show them, shares of the classes given.

    Without such answers every worker is as likely to be at each point as beforehand.
    """
    levels = np.array(EASINESS if unequal else (1.0,))
    ease = np.array(EASE_PRIOR if unequal else (1.0,))
    ease /= ease.sum()
    population = np.tile(grid.prior, (int(labels.kinds.max(initial=0)) + 1, 1))
    nothing = np.zeros((0, labels.classes, len(levels)))
    start = GridFit(
        np.zeros((labels.tasks, labels.classes, len(levels))),
        log(population)[labels.kinds],
        share,
        ease,
        levels,
        population,
        nothing,
        -np.inf,
    )
    return begin_from(
        labels, grid, replace(start, worker=start.worker + _gold_evidence(labels, grid, start))
    )


def begin_from(labels: UnitLabels, grid: SkillGrid, by: GridFit) -> GridFit:
    """Start a fit from one of some of the labels: every worker as she was found there."""
    point = normalised(by.worker.copy())[0]
    rows = (point @ grid.chance.reshape(len(grid.prior), -1)).reshape(
        -1, labels.classes, labels.classes
    )[labels.unit, :, labels.label]
    messages = log(mixed_rows(rows, by.levels))
    joint = _summed(labels.task, labels.tasks, messages) + beforehand(labels, by)
    return replace(by, joint=joint, messages=messages, evidence=-np.inf)


def mixed_rows(rows: FloatArray, levels: FloatArray) -> FloatArray:
    """P(x | c, s), shape (k, K, S), from the chances of the answers by true class, shape (k, K)."""
    return (rows @ ease_mixing(rows.shape[1], levels)).reshape(*rows.shape, len(levels))


def fit(
    labels: UnitLabels,
    grid: SkillGrid,
    start: GridFit,
    *,
    sweeps: int = SWEEPS,
    settled: float = SETTLED,
) -> GridFit:
    """Send messages, and fit what is shared, until posteriors settle.

    Parameters
    ----------
    start
        From `begin`, or an earlier fit, its messages those of the same labels.
    sweeps
        Turns at most.
    settled
        Change of posteriors below which they end.
    """
    graph = labels.by_unit
    gold, size = _gold_evidence(labels, grid, start), len(graph.units)
    seen = np.append(graph.units, np.setdiff1d(labels.gold_unit, graph.units))
    kinds = labels.kinds[seen]
    posterior, chance = _chances(start.joint), np.exp(start.messages)
    mixing = ease_mixing(labels.classes, start.levels)
    shared = after = start
    for _ in range(max(sweeps, 1)):
        shared, prior = after, beforehand(labels, after)
        worker = log(shared.population)[kinds] + gold[seen]
        turn = graph.turn(posterior, chance, mixing, prior, worker[:size], grid.chance)
        worker[:size] = turn.worker
        before, posterior, chance = posterior, _chances(turn.joint), turn.chance
        # Who has answered gold tasks alone is judged too.
        point = turn.point if size == len(seen) else normalised(worker.copy())[0]
        mass = np.tensordot(graph.labelled, posterior, axes=1)
        after = _fit_shared(labels, shared, mass, point, kinds, grid)
        moved = np.abs(posterior.sum(axis=2) - before.sum(axis=2)).max(initial=0.0)
        if moved < settled:
            break
    everybody = log(shared.population)[labels.kinds] + gold
    everybody[seen] = worker
    sent = replace(shared, joint=turn.joint, worker=everybody, messages=turn.log_chance)
    return replace(
        sent,
        share=after.share,
        ease=after.ease,
        population=after.population,
        evidence=_evidence(labels, sent, grid, turn.pairs),
    )


def _chances(joint: FloatArray) -> FloatArray:
    """Posterior of class and easiness by task from their logarithms, shape (n, K, S)."""
    _, K, S = joint.shape
    return chances(joint.reshape(-1, K * S).copy()).reshape(joint.shape)


def _gold_evidence(labels: UnitLabels, grid: SkillGrid, at: GridFit) -> FloatArray:
    """Log-chance of each unit's answers to gold tasks, of the mean easiness, by point."""
    total: FloatArray = np.zeros((labels.units, len(grid.prior)))
    if len(labels.gold_class):
        s = float(at.ease @ at.levels)
        chance = grid.chance[:, labels.gold_class, labels.gold_label].T
        even = grid.chance.mean(axis=1)[:, labels.gold_label].T
        np.add.at(total, labels.gold_unit, log(s * chance + (1.0 - s) * even))
    return total


def _summed(task: IntArray, tasks: int, messages: FloatArray) -> FloatArray:
    """Messages summed by task, shape (n, K, S)."""
    flat = messages.reshape(len(messages), messages.shape[1] * messages.shape[2])
    columns = [np.bincount(task, column, minlength=tasks) for column in flat.T]
    total: FloatArray = np.stack(columns, axis=1).astype(np.float64)
    return total.reshape(tasks, *messages.shape[1:])


def beforehand(labels: UnitLabels, at: GridFit) -> FloatArray:
    """Log-chance of class and easiness before any label, shape (n, K, S); (1, K, S) for all.

    What workers of known skill say of a task is known before anybody is judged by it.
    """
    classes = log(at.share)[None] if labels.prior is None else labels.prior
    easy = log(at.ease)[None, None, :]
    if labels.easy is not None and len(at.levels) > 1:
        easy = labels.easy
    return np.asarray(classes[:, :, None] + easy + labels.known_messages)


def _fit_shared(
    labels: UnitLabels,
    now: GridFit,
    mass: FloatArray,
    point: FloatArray,
    kinds: IntArray,
    grid: SkillGrid,
) -> GridFit:
    """Fit π, the shares of easiness and ρ.

    Parameters
    ----------
    mass
        Labelled tasks of each class and easiness, in the mean; shape (K, S).
    point, kinds
        Posterior of the points for units with labels, and their types; shapes (u, G) and (u,).
    """
    share, ease = mass.sum(axis=1) + labels.shares, now.ease
    if len(ease) > 1:
        ease = mass.sum(axis=0) + np.array(EASE_PRIOR)
        ease = ease / ease.sum()
    population = np.empty_like(now.population)
    for kind in range(len(population)):
        total = HYPER * grid.prior + point[kinds == kind].sum(axis=0)
        population[kind] = total / total.sum()
    return replace(now, share=share / share.sum(), ease=ease, population=population)


def _evidence(labels: UnitLabels, now: GridFit, grid: SkillGrid, pairs: float) -> float:
    """Bethe's log-evidence, and the log-density of what is fitted."""
    peak = now.joint.max(axis=(1, 2))
    tasks = peak + np.log(np.exp(now.joint - peak[:, None, None]).sum(axis=(1, 2)))
    top = now.worker.max(axis=1)
    workers = top + np.log(np.exp(now.worker - top[:, None]).sum(axis=1))
    priors = float((labels.shares * log(now.share)).sum())
    priors += float((HYPER * grid.prior * log(now.population)).sum())
    if len(now.ease) > 1:
        priors += float((np.array(EASE_PRIOR) * log(now.ease)).sum())
    return float(tasks.sum() + workers.sum()) - pairs + priors
