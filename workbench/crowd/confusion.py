"""Confusion matrices from gold tasks: how often a worker names class a where class k is true.

A worker has answered few gold tasks of each class, so her rows are drawn toward those of all
workers together: row k is the posterior mean (c_jk + s_k μ_k)/(n_jk + s_k) under a Dirichlet prior
with the pooled row μ_k as mean. Its weight s_k, in answers, is the one under which the answers to
gold tasks of class k are likeliest (empirical Bayes), so that a crowd of equal workers is pooled
and one of unlike workers is not: where some always name the commonest class, all are rather alike
on tasks of this class, and unlike on those of a rare one. A prior of one answer a cell would call
every worker of ten classes a guesser.

Source: Dawid, Skene (1979), Section 2, for the model; Good (1965), Chapter 5, for the weight;
Gelman (2006), "Prior distributions for variance parameters", for a weak prior of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.crowd import frames
from workbench.crowd.votes import Votes

LEAST_WEIGHT, MOST_WEIGHT = 0.1, 1e4
"""Range of s: below, rows of three answers are taken at their word; above, workers are equal."""
GUESS = 10.0
"""Mode of the weak prior of s: few answers of unlike workers are at times likeliest where all are
equal, so that a plan would leave out the best, and single answers say nothing of s at all."""


DOUBT = 0.001
"""Chance that somebody who looks names one class throughout, below which she does not look."""


@dataclass(frozen=True, eq=False)
class ConfusionEstimates:
    """Estimated confusion matrices, and the gold answers they rest on.

    Attributes
    ----------
    confusion
        π̂, shape (m, K, K): worker, true class, class named; rows sum to 1.
    prior
        ρ̂, shape (K,): share of each class among the gold tasks, one more of each counted.
    counts
        Gold answers, shape (m, K, K).
    pooled
        μ, shape (K, K): the row of all workers together.
    weight
        s, shape (K,): the weight of each pooled row in answers.
    workers, classes
        Names, shapes (m,) and (K,).
    """

    confusion: FloatArray
    prior: FloatArray
    counts: IntArray
    pooled: FloatArray
    weight: FloatArray
    workers: Names
    classes: Names

    @property
    def skill(self) -> FloatArray:
        """Probability to be right, by worker, classes as frequent as in the gold: shape (m,)."""
        diagonal = np.arange(len(self.classes))
        return self.confusion[:, diagonal, diagonal] @ self.prior

    def drawn(self, counts: IntArray) -> FloatArray:
        """Draw other counted rows, shape (…, K, K), toward the pooled ones by the same weights."""
        rows = counts + self.weight[:, None] * self.pooled
        share: FloatArray = rows / rows.sum(axis=-1, keepdims=True)
        return share


def gold_counts(votes: Votes, gold: IntArray, kinds: IntArray, types: int) -> IntArray:
    """Count labels of gold tasks by task type, worker, true class and class named: (T, m, K, K).

    Parameters
    ----------
    votes
        Labels of n tasks.
    gold
        True class of each task, −1 where it is not known, shape (n,).
    kinds
        Type of each task, shape (n,), of so many types.
    """
    size = len(votes.classes)
    counts: IntArray = np.zeros((types, len(votes.workers), size, size), dtype=np.int64)
    on_gold = gold[votes.task] >= 0
    task = votes.task[on_gold]
    np.add.at(counts, (kinds[task], votes.worker[on_gold], gold[task], votes.label[on_gold]), 1)
    return counts


def one_class(worker: IntArray, label: IntArray, workers: int) -> tuple[IntArray, IntArray]:
    """The class that all labels of a worker name, −1 where there are more; and how many labels.

    Parameters
    ----------
    worker, label
        Of each label, as numbers.
    workers
        m; both results have shape (m,).
    """
    most = int(label.max(initial=0)) + 1
    low, high = np.full(workers, most), np.full(workers, -1)
    np.minimum.at(low, worker, label)
    np.maximum.at(high, worker, label)
    return np.where(low == high, low, -1), np.bincount(worker, minlength=workers)


def constant_workers(
    only: IntArray, given: IntArray, counts: IntArray, shares: FloatArray
) -> BoolArray:
    """Who names one class throughout beyond doubt, also where gold names another, shape (m,).

    Beyond doubt: with this class as frequent as in the gold, somebody who looks would name it alone
    with a chance of at most a thousandth. Such labels tell nothing of a task, by whatever model.

    Parameters
    ----------
    only, given
        As `one_class` gives them, for all labels.
    counts
        Gold answers by worker, true class and class named, shape (m, K, K).
    shares
        Of the classes in the gold, shape (K,).
    """
    missed = counts.sum(axis=(1, 2)) - np.einsum("mkk->m", counts)
    share = shares[np.maximum(only, 0)]
    found: BoolArray = (only >= 0) & (missed > 0) & (share**given <= DOUBT)
    return found


def constant_in(votes: Votes, gold: IntArray) -> BoolArray:
    """Who of the voters names one class throughout (`constant_workers`), shape (m,).

    Parameters
    ----------
    votes
        All labels.
    gold
        True class of each task, −1 where it is not known, shape (n,).
    """
    seen = one_class(votes.worker, votes.label, len(votes.workers))
    counts = gold_counts(votes, gold, np.zeros_like(gold), 1)[0]
    return constant_workers(*seen, counts, class_shares(gold, len(votes.classes)))


def without_constant(confusion: FloatArray, constant: BoolArray) -> FloatArray:
    """The same matrices, shape (m, K, K); of who names one class throughout all rows are alike."""
    alike = np.broadcast_to(confusion.mean(axis=1, keepdims=True), confusion.shape)
    return np.where(constant[:, None, None], alike, confusion)


def class_shares(gold: IntArray, classes: int) -> FloatArray:
    """Share ρ of each class among the gold tasks, one more of each counted, shape (K,)."""
    shares = np.bincount(gold[gold >= 0], minlength=classes) + 1.0
    share: FloatArray = shares / shares.sum()
    return share


def confusion_from_gold(
    labels: pd.DataFrame, gold: pd.Series[Any], classes: Sequence[Any] | None = None
) -> ConfusionEstimates:
    """Estimate each worker's confusion matrix from the labels she gave to gold tasks.

    Parameters
    ----------
    labels
        Long table `task, worker, label`, of any number of classes.
    gold
        True label by task.
    classes
        All classes; those that labels and gold name, sorted, when None.

    Returns
    -------
    ConfusionEstimates
        Workers in order of first appearance. A
        worker without gold answers has the pooled rows.

    Raises
    ------
    InputError
        A (task, worker) pair is repeated.
    """
    table = frames.label_table(labels)
    on_gold = table[table["task"].isin(gold.index)]
    names = pd.Index(sorted({*table["label"], *gold}) if classes is None else list(classes))
    workers = pd.Index(table["worker"].unique())
    size = len(names)
    cell = (
        frames.codes(workers, on_gold["worker"]) * size
        + frames.codes(names, gold.reindex(on_gold["task"]))
    ) * size + frames.codes(names, on_gold["label"])
    counts = np.bincount(cell, minlength=len(workers) * size * size)
    shares = np.bincount(frames.codes(names, gold), minlength=size) + 1.0
    return estimate_confusion(
        counts.reshape(len(workers), size, size).astype(np.int64),
        shares / shares.sum(),
        workers.to_numpy(),
        names.to_numpy(),
    )


def estimate_confusion(
    counts: IntArray, prior: FloatArray, workers: Names, classes: Names
) -> ConfusionEstimates:
    """Draw counted rows, shape (m, K, K), toward the pooled ones; see `ConfusionEstimates`."""
    pooled = counts.sum(axis=0) + 1.0 / len(classes)
    pooled = pooled / pooled.sum(axis=1, keepdims=True)
    weight = np.array(
        [likeliest_weight(counts[:, [k]], pooled[[k]], guess=GUESS) for k in range(len(classes))]
    )
    blank: FloatArray = np.zeros(counts.shape)
    estimates = ConfusionEstimates(blank, prior, counts, pooled, weight, workers, classes)
    return replace(estimates, confusion=estimates.drawn(counts))


def likeliest_weight(counts: IntArray, pooled: FloatArray, *, guess: float | None = None) -> float:
    """Weight s under which the rows of counts, shape (m, K, A), are likeliest.

    They are Dirichlet-multinomial with mean μ, `pooled`, shape (K, A), and weight s. With a guess
    g the density of log s beforehand is √s/(s + g): √(s/g) is half-Cauchy.
    """
    from scipy.optimize import minimize_scalar

    there = counts[counts.sum(axis=(1, 2)) > 0]
    if not len(there):
        return MOST_WEIGHT if guess is None else guess

    def unlikely(log: float) -> float:
        s = float(np.exp(log))
        weak = 0.0 if guess is None else np.log(s + guess) - log / 2
        return float(weak - row_likelihood(there, pooled, s))

    ends = (np.log(LEAST_WEIGHT), np.log(MOST_WEIGHT))
    return float(np.exp(minimize_scalar(unlikely, bounds=ends, method="bounded").x))


def row_likelihood(counts: IntArray, pooled: FloatArray, weight: float) -> float:
    """Log-likelihood of rows of counts, shape (m, K, A), as of answers in one order.

    They are Dirichlet-multinomial with mean `pooled`, shape (K, A), and one weight.
    """
    from scipy.special import gammaln

    total = counts.sum(axis=2)
    cells = (gammaln(counts + weight * pooled) - gammaln(weight * pooled)).sum(axis=2)
    return float((gammaln(weight) - gammaln(weight + total) + cells)[total > 0].sum())


def better_explained(rows: ConfusionEstimates, tasks: IntArray) -> bool:
    """Whether rows and shares of the classes explain gold answers better than one skill a worker.

    Better by ½ ln n in log-likelihood for each number more, n the gold tasks (Schwarz 1978). One
    skill takes all classes to be equally frequent, and errors to be even.

    Parameters
    ----------
    tasks
        Gold tasks by class, shape (K,).
    """
    counts, K = rows.counts, len(rows.classes)
    right = np.einsum("mkk->m", counts)
    skill = np.stack([right, counts.sum(axis=(1, 2)) - right], axis=1)[:, None]
    mean = skill.sum(axis=0) + 0.5
    mean = mean / mean.sum()
    by_skill = row_likelihood(skill, mean, likeliest_weight(skill, mean))
    by_skill -= float(skill[:, 0, 1].sum()) * np.log(max(K - 1, 1))
    by_rows = sum(
        row_likelihood(counts[:, [k]], rows.pooled[[k]], rows.weight[k]) for k in range(K)
    )
    unequal = float(tasks @ np.log(rows.prior) + tasks.sum() * np.log(K))
    more = K * K + K - 1 - 2
    return bool(by_rows + unequal - by_skill > more * max(np.log(tasks.sum()) / 2.0, 1.0))
