"""Which fit of belief propagation is believed: starts, right and wrong, and unequal tasks.

Belief propagation ends where it began to go. So it begins at several shares of the classes, and
goes on from the fit of most evidence; of two classes it asks whether right and wrong are to be
interchanged, which suits the labels alike; and tasks are taken to be of unequal easiness where the
evidence does not speak against it. Then belief is averaged over a temperature: labels fitted to one
another look surer than what they foretell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from workbench.aggregation.belief_propagation import (
    SETTLED,
    GridFit,
    UnitLabels,
    beforehand,
    begin,
    begin_from,
    fit,
)
from workbench.aggregation.posteriors import log
from workbench.aggregation.skill_grid import SkillGrid, one_coin_grid, two_coins
from workbench.base.arrays import BoolArray, FloatArray

# By judgement, not tuned.
FIRST_SHARES = (0.5, 0.85, 0.15)
"""Of two classes: shares of the first at which fits begin."""
FIRST, STAGE = 3, 8
"""Turns of each start, before those that went the same way are dropped, and before the likeliest of
the others goes on."""
ALIKE = 0.05
"""Mean distance of the posteriors of tasks with labels below which two starts went the same way."""
GAIN = 2.0
"""Nats of evidence that another start must gain."""
# Chosen on seeds 300 to 369 of the simulated crowds of docs/findings/until-trusted.md, and on those
# for mirror images that its end names.
CROWDED = 15
"""Labels of a task from which on a start may rest on it and its like alone."""
EASE_GAIN = -4.0
"""Nats by which unequal easiness must be likelier. Where tasks are alike it is less likely by 4.6,
within some tenths of a nat: so much its prior costs. At -4.2 crowds in which some copy cost a fifth
more labels, at -4 a tenth."""
WRONG = np.linspace(0.0, 0.35, 15)
"""Shares of workers worse than chance that are considered, equally likely beforehand."""
CLEAR = 0.12
"""How far the chances to name either class must add up to more than 1, or less, to say which way is
right: whoever nearly guesses means neither."""
HEATS = np.exp(np.linspace(0.0, 1.5, 31))
"""Temperatures that are considered."""
HEAT = 0.8
"""Standard deviation of the logarithm of a temperature beforehand; only its upper half counts."""
# By judgement, not tuned.
PART = 512
"""Labels that are foretold at a time: it changes speed alone."""
CERTAIN = 100.0
"""Log-odds of a fit against its mirror image above which that is not tried."""
FRESH = 0.1
"""Part of the shares of the points that a mirror image begins with as they are beforehand."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The fit that is believed.

    Attributes
    ----------
    grid, fit
        What workers may be like, and what was fitted.
    orientation
        Log-odds that right and wrong are not interchanged; infinite where that is no question.
    alike
        The likeliest fit with tasks alike, of the labels by which starts are compared; `fit` itself
        where tasks are not of unequal easiness.
    """

    grid: SkillGrid
    fit: GridFit
    orientation: float
    alike: GridFit


def choose(
    labels: UnitLabels,
    share: FloatArray,
    warm: GridFit | None = None,
    errors: FloatArray | None = None,
    *,
    most: int | None = None,
    settled: float = SETTLED,
) -> Chosen:
    """Fit from several starts, and keep what is likeliest.

    Parameters
    ----------
    labels
        What was said.
    share
        Shares of the classes beforehand, shape (K,).
    warm
        An earlier fit with messages of these labels, to start from as well.
    errors
        Of more than two classes: which is named where another is true, as `one_coin_grid` has it.
    most
        Labels by which the starts are compared: of more, those of evenly spread tasks, and the
        likeliest goes on with all. None for all.
    settled
        Change of posteriors below which fits end.
    """
    if most is not None and len(labels.task) > most:
        return _chosen_on_some(labels, share, warm, errors, most, settled)
    return _chosen(labels, share, warm, errors, partial(fit, settled=settled))


def _chosen(
    labels: UnitLabels,
    share: FloatArray,
    warm: GridFit | None,
    errors: FloatArray | None,
    fitted: Callable[..., GridFit],
) -> Chosen:
    """Choose as `choose` does, by all labels."""
    K = labels.classes
    even = (1.0 - np.eye(K)) / max(K - 1, 1)
    grid = two_coins() if K == 2 else one_coin_grid(even if errors is None else errors)
    shares = [share]
    if K == 2 and labels.prior is None:
        shares += [np.array([first, 1.0 - first]) for first in FIRST_SHARES if first != share[0]]
    starts = [begin(labels, grid, each, unequal=False) for each in shares]
    starts += _crowded(labels, grid, share)
    if warm is not None and len(warm.levels) == 1:
        starts = [warm, *starts]
    plain, orientation = _likeliest(labels, grid, starts, fitted), np.inf
    if K == 2:
        plain, orientation = _oriented(labels, grid, plain, fitted)
    else:
        grid = one_coin_grid(pooled_errors(labels, plain))
        plain = fitted(labels, grid, begin(labels, grid, plain.share, unequal=False))
    return _eased(labels, grid, Chosen(grid, plain, orientation, plain), warm, fitted)


def _eased(
    labels: UnitLabels,
    grid: SkillGrid,
    plain: Chosen,
    warm: GridFit | None,
    fitted: Callable[..., GridFit],
) -> Chosen:
    """Take tasks to be of unequal easiness, unless the evidence is against it."""
    # Begun by these workers: from a majority it might end with right and wrong interchanged.
    levels = begin(labels, grid, plain.fit.share, unequal=True)
    by_these = replace(plain.fit, ease=levels.ease, levels=levels.levels)
    starts = [begin_from(labels, grid, by_these), levels]
    if warm is not None and len(warm.levels) > 1:
        starts = [warm, *starts]
    unequal, orientation = _likeliest(labels, grid, starts, fitted), np.inf
    if labels.easy is None and unequal.evidence <= plain.fit.evidence + EASE_GAIN:
        return plain
    if labels.classes == 2:
        unequal, orientation = _oriented(labels, grid, unequal, fitted)
    return Chosen(grid, unequal, orientation, plain.fit)


def _chosen_on_some(
    labels: UnitLabels,
    share: FloatArray,
    warm: GridFit | None,
    errors: FloatArray | None,
    most: int,
    settled: float,
) -> Chosen:
    """Choose by the labels of evenly spread tasks, and go on with all of them.

    An earlier fit that is certain which way is right has no other rival than its own like with
    tasks alike, or of unequal easiness. Where it is chosen again, it goes on with the messages of
    all labels.
    """
    some = of_some(labels, labels.task % -(-len(labels.task) // most) == 0)
    fitted, grid, one = partial(fit, sweeps=STAGE, settled=settled), two_coins(), np.ones(1)
    there = None if warm is None else begin_from(some, grid, warm)
    odds = 0.0 if there is None else orientation_odds(some, grid, there)
    if there is not None and CERTAIN < odds < np.inf:
        plain = fitted(some, grid, begin_from(some, grid, replace(there, ease=one, levels=one)))
        chosen = _eased(some, grid, Chosen(grid, plain, odds, plain), there, fitted)
    else:
        chosen = _chosen(some, share, there, errors, fitted)
    again = warm is not None and len(warm.levels) == len(chosen.fit.levels)
    if warm is None or not (again and _same_way(some, chosen.fit, warm)):
        warm = begin_from(labels, chosen.grid, chosen.fit)
    return replace(chosen, fit=fitted(labels, chosen.grid, warm))


def of_some(labels: UnitLabels, some: BoolArray) -> UnitLabels:
    """Leave out the labels that are not marked, shape (k,)."""
    return replace(labels, task=labels.task[some], unit=labels.unit[some], label=labels.label[some])


def _same_way(labels: UnitLabels, one: GridFit, other: GridFit) -> bool:
    """Whether posteriors of tasks with labels are near each other."""
    labelled = labels.by_unit.labelled
    apart = float(labelled @ np.abs(one.posterior - other.posterior).sum(axis=1))
    return bool(apart < ALIKE * labels.classes * max(labelled.sum(), 1.0))


def _likeliest(
    labels: UnitLabels, grid: SkillGrid, starts: list[GridFit], fitted: Callable[..., GridFit]
) -> GridFit:
    """Go on from the start that after some turns is likeliest.

    Starts that went the same way are one, the first of them.
    """
    ways = list[GridFit]()
    for start in starts:
        each = fitted(labels, grid, start, sweeps=FIRST)
        if not any(_same_way(labels, each, way) for way in ways):
            ways.append(each)
    best = ways[0]
    if len(ways) > 1:
        ways = [fitted(labels, grid, way, sweeps=STAGE - FIRST) for way in ways]
        best = ways[0]
        for way in ways[1:]:
            best = way if way.evidence > best.evidence + GAIN else best
    return fitted(labels, grid, best)


def _crowded(labels: UnitLabels, grid: SkillGrid, share: FloatArray) -> list[GridFit]:
    """A start from the tasks that most workers answered: there a majority is worth most.

    Workers who answer the same tasks may be wrong together on nearly all of them; where strangers
    have answered a few of these tasks, their word on the others is judged by that.
    """
    many = np.bincount(labels.task, minlength=labels.tasks)
    crowd = (many >= CROWDED)[labels.task]
    if not crowd.any() or crowd.all():
        return []
    some = of_some(labels, crowd)
    there = fit(some, grid, begin(some, grid, share, unequal=False), sweeps=STAGE, settled=0.01)
    return [begin_from(labels, grid, there)]


def pooled_errors(labels: UnitLabels, by: GridFit) -> FloatArray:
    """Which class is named where another is true, all workers together; shape (K, K)."""
    K = labels.classes
    pooled: FloatArray = np.ones((K, K))
    np.add.at(pooled.T, labels.label, by.posterior[labels.task])
    pooled *= 1.0 - np.eye(K)
    return np.asarray(pooled / pooled.sum(axis=1, keepdims=True))


def _oriented(
    labels: UnitLabels, grid: SkillGrid, now: GridFit, fitted: Callable[..., GridFit]
) -> tuple[GridFit, float]:
    """A fit or its mirror image, and the log-odds that this is the right one of them.

    Where gold tasks or workers of known skill tell, they decide: the evidence counts them. A fit
    whose odds are beyond doubt has no rival in its mirror image.
    """
    orientation = orientation_odds(labels, grid, now)
    if CERTAIN < orientation < np.inf:
        return now, orientation
    mirrored = replace(
        now,
        joint=now.joint[:, ::-1],
        messages=now.messages[:, ::-1],
        share=now.share[::-1],
        population=_interchanged(now.population, grid),
    )
    other = fitted(labels, grid, mirrored)
    if orientation_known(labels):
        return (other if other.evidence > now.evidence + GAIN else now), np.inf
    inverse = orientation_odds(labels, grid, other)
    # Of a fit and its exact mirror image, whose evidence is the same, this is the former's odds.
    gain = now.evidence - other.evidence + (orientation - inverse) / 2.0
    if gain < 0.0:
        now, orientation = other, inverse
    return now, max(min(orientation, abs(gain)), 0.0)


def _interchanged(population: FloatArray, grid: SkillGrid) -> FloatArray:
    """Shares of the points where every worker means the other class, shape (T, G).

    Each share goes to the point nearest to its own with the classes interchanged, a part of all to
    what the points are beforehand. Begun by these alone the other way would take many turns to end,
    and look the less likely until then.
    """
    apart = np.abs(grid.chance[:, None] - grid.chance[:, ::-1]).sum(axis=(2, 3))
    other = np.zeros_like(population)
    np.add.at(other.T, apart.argmin(axis=0), population.T)
    return (1.0 - FRESH) * other + FRESH * grid.prior


def orientation_known(labels: UnitLabels) -> bool:
    """Whether gold tasks, or workers of known skill who do not nearly guess, tell what is right."""
    known = labels.known
    informed = known is not None and bool((np.ptp(known.chance, axis=1) > CLEAR).any())
    return bool(len(labels.gold_class)) or informed


def orientation_odds(labels: UnitLabels, grid: SkillGrid, now: GridFit) -> float:
    """Log-odds of a fit of two classes against its mirror image, right and wrong interchanged.

    Labels suit either alike; what tells them apart is that most workers mean well: one of the
    shares `WRONG` of them is worse than chance. Each counts by how likely her labels are of whoever
    is better than chance, as the fit has these workers, and of whoever is worse.
    Infinite where gold tasks or workers of known skill tell.
    """
    if orientation_known(labels):
        return np.inf
    seen = np.bincount(labels.unit, minlength=labels.units) > 0
    chance = np.exp(now.worker - now.worker.max(axis=1, keepdims=True, initial=-np.inf))[seen]
    crowd = now.population[labels.kinds][seen]
    right = np.einsum("gcc->g", grid.chance)
    better, worse = right > 1.0 + CLEAR, right < 1.0 - CLEAR
    good, bad = (chance[:, of].sum(axis=1) / crowd[:, of].sum(axis=1) for of in (better, worse))
    guess = chance[:, ~better & ~worse].sum(axis=1)
    able = crowd[:, better | worse].sum(axis=1)

    def evidence(one: FloatArray, other: FloatArray) -> float:
        meant = able * (one + np.outer(WRONG, other - one))
        by_share = log(meant + guess).sum(axis=1)
        peak = by_share.max()
        return float(peak + np.log(np.exp(by_share - peak).mean()))

    return evidence(good, bad) - evidence(bad, good)


def mean_temperature(labels: UnitLabels, at: GridFit) -> float:
    """Temperature at which the posterior foretells labels, averaged over what they leave open.

    Each label of a task that had one is foretold from those that came before it, by the posterior
    at a temperature of 1 or more: ln T is half-normal beforehand. Where something else tells of the
    tasks, the first label is foretold too. What workers of known skill say is believed as it is.

    Parameters
    ----------
    labels
        In the order in which they came.
    at
        Their fit.
    """
    order = np.argsort(labels.task, kind="stable")
    task = labels.task[order]
    messages = np.ascontiguousarray(at.messages[order].transpose(1, 2, 0))
    starts = np.flatnonzero(np.diff(task, prepend=-1))
    first = np.repeat(starts, np.diff(starts, append=len(task)))
    total = np.cumsum(messages, axis=2) - messages
    later = np.arange(len(task))
    if labels.prior is None:
        later = later[first != later]
    task, said = task[later], np.exp(messages.take(later, axis=2))
    before = total.take(later, axis=2) - total.take(first[later], axis=2)
    prior = beforehand(labels, at)
    before += (prior if len(prior) == 1 else prior[task]).transpose(1, 2, 0)
    peak = before.max(axis=1)
    ease = np.exp(before - peak[:, None])
    of_class = ease.sum(axis=1)
    said = (ease * said).sum(axis=1) / of_class
    logs = np.log(of_class) + peak
    logs -= logs.max(axis=0)
    known = None if labels.known is None else labels.known_messages[task, :, 0].T
    scores = _foretold(logs, said, known) - 0.5 * (np.log(HEATS) / HEAT) ** 2
    weight = np.exp(scores - scores.max())
    return float(weight @ HEATS / weight.sum())


def _foretold(logs: FloatArray, said: FloatArray, known: FloatArray | None) -> FloatArray:
    """Log-chance of all labels at each of `HEATS`.

    Parameters
    ----------
    logs
        Log-chance of the class of each label's task before it, unnormalised, shape (K, k).
    said
        Chance of the label by class, shape (K, k).
    known
        What of `logs` is believed as it is, shape (K, k); None for nothing.
    """
    total = np.zeros(len(HEATS))
    for start in range(0, logs.shape[1], PART):
        part = slice(start, start + PART)
        if known is None:
            chance = np.exp(logs[:, part] / HEATS[:, None, None])
        else:
            cool = (logs - known)[:, part] / HEATS[:, None, None] + known[:, part]
            chance = np.exp(cool - cool.max(axis=1, keepdims=True))
        foretold = (chance * said[:, part]).sum(axis=1) / chance.sum(axis=1)
        total += log(foretold).sum(axis=1)
    return total
