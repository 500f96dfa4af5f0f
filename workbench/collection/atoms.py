"""What labels say of tasks and of workers: classes of unequal share, two coins, unequal tasks.

Each task has a class c, drawn with shares π that are fitted, and an easiness s; each worker (at
each task type) is one of some atoms g, chances A_g[c, x] to answer x where c is true, drawn with
shares ρ that are fitted. A label is

    P(x | c, s, g) = s A_g[c, x] + (1 − s) mean over c' of A_g[c', x]:

on a task of easiness 0 nobody tells one class from another. Belief propagation sends two messages
for each label by turns, and neither contains what the other one said: to the worker, by what the
*others* say of the task; to the task, by what the worker says of *other* tasks. π, ρ and the shares
of easiness are fitted between them, and Bethe's free energy, which is the log-evidence where the
graph has no short cycles, chooses among several starts of π and decides whether tasks are taken to
differ in easiness: where the evidence does not gain, they are taken to be alike.

Two classes: atoms are pairs of coins, sensitivity and specificity, the less likely beforehand the
more the two differ, worse than chance rarely. More classes: one coin and pooled errors, of which
none is more than nine tenths as likely as the right answer; and workers who always name one class.

Source: Liu, Peng, Ihler (2012), "Variational inference for crowdsourcing", Section 3; Dawid, Skene
(1979); Whitehill and others (2009) for easiness; Yedidia, Freeman, Weiss (2005) for the free
energy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workbench.aggregation.posteriors import log, normalised
from workbench.base.arrays import FloatArray, IntArray

COINS = (0.03, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.88, 0.94, 0.98)
"""Chances to name the true class, of either coin."""
APART = 0.15
"""How far two coins of a worker differ, beforehand: their prior falls as exp(−|a − b|/APART)."""
WORSE = 0.05
"""Weight of a pair of coins worse than chance beside its mirror image."""
RARE = 1e-4
"""Pairs of coins less likely beforehand are left out."""
GUESSES = 0.25
"""Prior share of workers whose coins are both ½."""
ABILITIES = (0.05, 0.2, 0.35, 0.5, 0.65, 0.75, 0.83, 0.9, 0.95, 0.98)
"""Of more classes: how far a worker is on the way from guessing to always right."""
CONSTANT = 0.02
"""Of more classes: prior share of workers who always name one class, all classes together."""
LEAST = 0.005
"""Chance of any answer, at least."""
MOST_WRONG = 0.9
"""Chance of a wrong answer beside that of the right one, at most."""
EASINESS = (1.0, 0.6, 0.3, 0.0)
EASE_PRIOR = (12.0, 0.4, 0.3, 0.3)
"""Dirichlet weights of easiness, as many tasks."""
SHARE_PRIOR = 10.0
"""Dirichlet weight of each class's share, as many tasks."""
HYPER = 4.0
"""Weight of the prior of atoms, in workers."""
SWEEPS, SETTLED = 30, 1e-3
"""Turns at most, and the change of posteriors below which they end."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """What a worker may be like.

    Attributes
    ----------
    chance
        A, shape (G, K true, K named), by falling gain.
    prior
        Beforehand, shape (G,).
    gain
        Information of a label in nats: mean over pairs of classes of the divergence between their
        answers; shape (G,).
    unlike
        Divergence of a guess from it, shape (G,): how fast one who guesses is told apart.
    """

    chance: FloatArray
    prior: FloatArray
    gain: FloatArray
    unlike: FloatArray

    @classmethod
    def of(cls, chance: FloatArray, prior: FloatArray) -> Atoms:
        """Order atoms by what a label tells."""
        K = chance.shape[1]
        logs = np.log(chance)
        total = np.einsum("gcx,gcx->g", chance, logs) * K - np.einsum("gcx,gdx->g", chance, logs)
        gain = total / (K * (K - 1))
        unlike = (np.log(1.0 / K) - logs).mean(axis=(1, 2))
        order = np.argsort(-gain, kind="stable")
        return cls(chance[order], prior[order] / prior.sum(), gain[order], unlike[order])


def two_coins() -> Atoms:
    """Pairs of coins: chance to name the first class where it is true, and the second."""
    first, second = (axis.ravel() for axis in np.meshgrid(COINS, COINS))
    prior = np.exp(-np.abs(first - second) / APART)
    below = first + second < 1.0 - 1e-9
    prior[below] *= WORSE
    prior /= prior.sum()
    coin = (first == 0.5) & (second == 0.5)
    prior = np.where(coin, GUESSES, (1.0 - GUESSES) * prior)
    rows = np.stack([np.stack([first, 1 - first], 1), np.stack([1 - second, second], 1)], axis=1)
    kept = prior > RARE
    return Atoms.of(rows[kept], prior[kept])


def one_coin_atoms(errors: FloatArray) -> Atoms:
    """One coin and pooled errors, and constant answers.

    Parameters
    ----------
    errors
        Which class is named where another is true, rows of sum 1 with 0 in the diagonal, (K, K).
    """
    K = len(errors)
    right = 1.0 / K + (1.0 - 1.0 / K) * np.array(ABILITIES)
    wrong = (1.0 - right)[:, None, None] * errors
    wrong = np.minimum(wrong, MOST_WRONG * right[:, None, None])
    able = wrong + right[:, None, None] * np.eye(K)
    constant = np.tile(np.eye(K)[:, None, :], (1, K, 1))
    chance = np.maximum(np.concatenate([able, np.full((1, K, K), 1 / K), constant]), LEAST)
    prior = np.full(len(right), (1.0 - GUESSES - CONSTANT) / len(right))
    prior = np.concatenate([prior, [GUESSES], np.full(K, CONSTANT / K)])
    return Atoms.of(chance / chance.sum(axis=2, keepdims=True), prior)


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


@dataclass(frozen=True, eq=False)
class AtomFit:
    """What was fitted.

    Attributes
    ----------
    joint
        Log-chance of class and easiness of each task, unnormalised, shape (n, K, S).
    worker
        Log-chance of the atoms of each unit, unnormalised, shape (units, G).
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


def begin(labels: UnitLabels, atoms: Atoms, share: FloatArray, *, unequal: bool) -> AtomFit:
    """Where a fit starts: every worker as likely beforehand, shares of the classes as named."""
    levels = np.array(EASINESS if unequal else (1.0,))
    ease = np.array(EASE_PRIOR if unequal else (1.0,))
    ease /= ease.sum()
    population = np.tile(atoms.prior, (int(labels.kinds.max(initial=0)) + 1, 1))
    mean = np.einsum("g,gcx->cx", atoms.prior, atoms.chance)
    messages = log(mixed_rows(mean[:, labels.label].T, levels))
    joint = _summed(labels, messages) + _prior(share, ease)
    worker = log(population)[labels.kinds]
    return AtomFit(joint, worker, share, ease, levels, population, messages, -np.inf)


def mixed_rows(rows: FloatArray, levels: FloatArray) -> FloatArray:
    """P(x | c, s), shape (k, K, S), from the chances of the answers by true class, shape (k, K)."""
    even = rows.mean(axis=1)[:, None, None]
    return np.asarray(levels * rows[:, :, None] + (1.0 - levels) * even)


def fit(labels: UnitLabels, atoms: Atoms, start: AtomFit, *, sweeps: int = SWEEPS) -> AtomFit:
    """Send messages, and fit what is shared, until posteriors settle.

    Parameters
    ----------
    start
        From `begin`, or an earlier fit, its messages those of the same labels.
    sweeps
        Turns at most.
    """
    task, unit, kinds = labels.task, labels.unit, labels.kinds
    order = np.argsort(unit, kind="stable")
    gold = _gold_evidence(labels, atoms, start)
    now, before = start, start.posterior
    by_answer = atoms.chance.transpose(2, 0, 1)  # (x, G, K)
    for _ in range(max(sweeps, 1)):
        cavity = now.joint[task] - now.messages
        cavity = np.exp(cavity - cavity.max(axis=(1, 2), keepdims=True))
        cavity /= cavity.sum(axis=(1, 2), keepdims=True)
        easy = (cavity * now.levels).sum(axis=2)
        rest = (cavity * (1.0 - now.levels)).sum(axis=(1, 2)) / labels.classes
        say = _answered(by_answer, easy + rest[:, None], labels.label)
        worker = log(now.population)[kinds] + gold + _by_unit(say, unit, order, labels.units)
        weight = worker[unit] - say
        weight = np.exp(weight - weight.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        rows = np.empty((len(task), labels.classes))
        for x in range(labels.classes):
            here = labels.label == x
            rows[here] = weight[here] @ by_answer[x]
        chance = mixed_rows(rows, now.levels)
        messages = log(chance)
        joint = _summed(labels, messages) + _prior(now.share, now.ease)
        # Z of each label: the chance of its answer, task and worker without it.
        pairs = float(log((cavity * chance).sum(axis=(1, 2))).sum())
        now = replace(now, joint=joint, worker=worker, messages=messages)
        now = replace(_shared(now, labels, atoms), evidence=_evidence(now, atoms, pairs))
        after = now.posterior
        moved, before = float(np.abs(after - before).max(initial=0.0)), after
        if moved < SETTLED:
            break
    return now


def _answered(by_answer: FloatArray, weight: FloatArray, label: IntArray) -> FloatArray:
    """Log-chance of each label by atom, shape (k, G), `weight` (k, K) over true classes."""
    chance = np.empty((len(label), by_answer.shape[1]))
    for x in range(len(by_answer)):
        here = label == x
        chance[here] = weight[here] @ by_answer[x].T
    return log(chance)


def _gold_evidence(labels: UnitLabels, atoms: Atoms, at: AtomFit) -> FloatArray:
    """Log-chance of each unit's answers to gold tasks, of the mean easiness, by atom."""
    total: FloatArray = np.zeros((labels.units, len(atoms.prior)))
    if len(labels.gold_class):
        s = float(at.ease @ at.levels)
        chance = atoms.chance[:, labels.gold_class, labels.gold_label].T
        even = atoms.chance.mean(axis=1)[:, labels.gold_label].T
        np.add.at(total, labels.gold_unit, log(s * chance + (1.0 - s) * even))
    return total


def _by_unit(rows: FloatArray, unit: IntArray, order: IntArray, units: int) -> FloatArray:
    """Sums of rows by unit, shape (units, G)."""
    total: FloatArray = np.zeros((units, rows.shape[1]))
    if len(unit):
        sorted_units = unit[order]
        starts = np.flatnonzero(np.concatenate([[True], np.diff(sorted_units) != 0]))
        total[sorted_units[starts]] = np.add.reduceat(rows[order], starts, axis=0)
    return total


def _summed(labels: UnitLabels, messages: FloatArray) -> FloatArray:
    """Messages summed by task, shape (n, K, S)."""
    flat = messages.reshape(len(messages), messages.shape[1] * messages.shape[2])
    columns = [np.bincount(labels.task, column, minlength=labels.tasks) for column in flat.T]
    total: FloatArray = np.stack(columns, axis=1).astype(np.float64)
    return total.reshape(labels.tasks, *messages.shape[1:])


def _prior(share: FloatArray, ease: FloatArray) -> FloatArray:
    return log(share)[:, None] + log(ease)[None, :]


def _shared(now: AtomFit, labels: UnitLabels, atoms: Atoms) -> AtomFit:
    """AtomFit π, the shares of easiness and ρ to the posteriors."""
    labelled = np.bincount(labels.task, minlength=labels.tasks) > 0
    chance = np.exp(now.joint - now.joint.max(axis=(1, 2), keepdims=True))
    chance /= chance.sum(axis=(1, 2), keepdims=True)
    mass = chance[labelled].sum(axis=0)
    share = mass.sum(axis=1) + SHARE_PRIOR
    ease = now.ease
    if len(ease) > 1:
        ease = mass.sum(axis=0) + np.array(EASE_PRIOR)
        ease = ease / ease.sum()
    weight = normalised(now.worker.copy())[0]
    seen = np.bincount(labels.unit, minlength=labels.units) > 0
    seen |= np.bincount(labels.gold_unit, minlength=labels.units) > 0
    population = np.empty_like(now.population)
    for kind in range(len(population)):
        here = seen & (labels.kinds == kind)
        total = HYPER * atoms.prior + weight[here].sum(axis=0)
        population[kind] = total / total.sum()
    return replace(now, share=share / share.sum(), ease=ease, population=population)


def _evidence(now: AtomFit, atoms: Atoms, pairs: float) -> float:
    """Bethe's log-evidence, and the log-density of what is fitted."""
    peak = now.joint.max(axis=(1, 2))
    tasks = peak + np.log(np.exp(now.joint - peak[:, None, None]).sum(axis=(1, 2)))
    top = now.worker.max(axis=1)
    workers = top + np.log(np.exp(now.worker - top[:, None]).sum(axis=1))
    priors = SHARE_PRIOR * float(log(now.share).sum())
    priors += float((HYPER * atoms.prior * log(now.population)).sum())
    if len(now.ease) > 1:
        priors += float((np.array(EASE_PRIOR) * log(now.ease)).sum())
    return float(tasks.sum() + workers.sum()) - pairs + priors
