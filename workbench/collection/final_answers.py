"""What is answered in the end: by several models of the labels, weighed by hidden tasks.

A policy needs one model to choose whom to ask next; the answers need not hang on that model alone.
A task that is closed is answered by the posterior that closed it. On the others models differ:

- With tasks of known class hidden among the others, the answers are a weighted mean of three
  models: `belief_propagation` (itself a mean), `pooled` (the default of `aggregate`) and a plain
  majority. Each is calibrated by the hidden tasks, and weighs as much as it makes their classes
  likely.
- Without them, `belief_propagation` answers where a budget alone was given, and the policy's own
  posterior where an error was asked for: it believes more error of unequal tasks. Of more than two
  classes, the mean of that and `pooled`.
- Where errors have costs, Dawid and Skene's model with few votes added answers, as in `aggregate`
  (`by_cost`): the chances of the others are too even, and make false alarms of whatever is open
  (with forty hidden tasks a cost of .15, .01, .01 on three invented crowds, here .02, .01, .00).

On the labels that the loop bought of the twelve recorded crowds at ε = .05 with forty hidden tasks,
three orders each, this made an error of .130, and was behind a majority on no crowd; the posterior
that the loop goes by made .138 (.023 behind on one), a majority .165. Which models take part was
chosen on these.

Source: Hoeting and others (1999), "Bayesian model averaging: a tutorial", Statistical Science; the
hidden tasks take the place of the labels, which would favour whatever fits them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.aggregation.belief_choice import choose
from workbench.aggregation.belief_propagation import UnitLabels
from workbench.aggregation.beliefs import averaged
from workbench.aggregation.calibration import mean_calibration
from workbench.aggregation.dawid_skene import smoothed
from workbench.aggregation.pool import pooled
from workbench.aggregation.posteriors import Earlier, log
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.collection.grid_beliefs import LEAST_HIDDEN, GridBeliefs
from workbench.crowd.votes import Votes

MOSTLY = 0.5
"""Weight of the majority above which the answers are said to be mostly its own. By judgement."""


def final_posterior(
    beliefs: GridBeliefs, seed: Seed, *, budget_alone: bool
) -> tuple[FloatArray | None, bool]:
    """Posterior by which tasks are answered once nothing more is asked.

    Parameters
    ----------
    beliefs
        What the policy goes by.
    seed
        Of the draws of other models.
    budget_alone
        Whether there was a budget and no error to be kept.

    Returns
    -------
    The posterior, shape (n, K), None where the policy's own stands: skills are known or models are
    believed jointly, which no other model takes, or nothing tells that others are better. And
    whether mostly a plain majority answers.
    """
    pool, labels, hidden = beliefs.ledger.pool, beliefs.unit_labels(), beliefs.hidden_heard()
    told = pool.hidden is not None and len(hidden) >= LEAST_HIDDEN
    if pool.confusion is not None or beliefs.models is not None or not len(labels.task):
        return None, False
    if not (told or budget_alone or beliefs.K > 2 or pool.loss is not None):
        return None, False
    votes, known = _votes_of_the_able(beliefs, labels)
    if pool.loss is not None:
        fit = smoothed(votes, earlier=Earlier(known), seed=seed)
        return fit.info["posterior"][: labels.tasks], False
    posteriors = [beliefs.posterior()]
    if told or budget_alone:
        chosen = choose(labels, pool.share, beliefs.warm_start())
        posteriors = [averaged(labels, chosen, votes, known, seed)[0]]
    if told or beliefs.K > 2:
        fit = pooled(votes, earlier=Earlier(known), seed=seed)
        posteriors.append(fit.info["posterior"][: labels.tasks])
    if not told or pool.hidden is None:
        return np.asarray(np.mean(posteriors, axis=0)), False
    posteriors.append(majority_shares(votes, labels.tasks))
    posterior, weight = weighted_mean(posteriors, hidden, pool.hidden[hidden])
    return posterior, bool(weight[-1] > MOSTLY)


def _votes_of_the_able(beliefs: GridBeliefs, labels: UnitLabels) -> tuple[Votes, IntArray]:
    """Labels for other models, gold tasks after the others, liars' turned round; known classes.

    Other models begin with a majority, which workers who are worse than chance would lead: of two
    classes their word counts for the other class, of more it is left out.
    """
    ledger = beliefs.ledger
    task = np.concatenate([labels.task, labels.tasks + ledger.gold_labels[:, 0]])
    unit = np.concatenate([labels.unit, labels.gold_unit])
    label = np.concatenate([labels.label, labels.gold_label])
    right = beliefs.weight @ np.einsum("gcc->g", beliefs.grid.chance)
    kept: BoolArray = (right >= 1.0 - 1e-9)[unit]
    if beliefs.K == 2:
        label, kept = np.where(kept, label, 1 - label), np.ones(len(label), dtype=bool)
    gold = ledger.pool.gold
    votes = replace(
        ledger.votes(),
        task=task[kept],
        worker=unit[kept] % beliefs.m,
        label=label[kept],
        tasks=np.concatenate([ledger.pool.tasks, np.arange(len(gold))]),
    )
    return votes, np.concatenate([np.full(labels.tasks, -1), gold])


def weighted_mean(
    posteriors: Sequence[FloatArray], hidden: IntArray, truth: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Mean of several models' posteriors.

    Parameters
    ----------
    posteriors
        Of r models, shape (n, K) each.
    hidden, truth
        Tasks, and their classes, which no model has seen; shapes (k,).

    Returns
    -------
    The mean, shape (n, K), and the weight of each model, shape (r,).
    """
    honest = [mean_calibration(each[hidden], truth)[0].apply(each) for each in posteriors]
    said = np.array([log(each[hidden, truth]).sum() for each in honest])
    weight = np.exp(said - said.max())
    weight /= weight.sum()
    return np.tensordot(weight, np.stack(honest), axes=1), weight


def majority_shares(votes: Votes, tasks: int) -> FloatArray:
    """Share of each class among the labels of the first tasks, even without any; shape (n, K)."""
    K = len(votes.classes)
    cell = votes.task * K + votes.label
    count = np.bincount(cell, minlength=len(votes.tasks) * K).reshape(-1, K)[:tasks]
    total = count.sum(axis=1, keepdims=True)
    return np.where(total > 0, count / np.maximum(total, 1), 1.0 / K)
