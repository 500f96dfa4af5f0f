"""What is done with models and people without a belief: a fixed panel, and cascades.

Each spends a budget on the same answers. A *fixed panel* lets the same workers label every task;
the best one is chosen in hindsight, by the true classes, among all sets of models with the best
people that the budget reaches, and so are the weights of its votes. A *cascade* lets all models
label every task, and people those that are next in some order, so many each, round after round
while there is money: where models disagree, the narrowest majority first; or where their own pooled
confidence is least. Its answer is the people's majority where people were asked, else the models';
or that of Dawid and Skene's model, smoothed, of all labels.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from crowd_papers.beyond.mixed_crowds import MixedCrowd
from workbench.aggregation import log, smoothed
from workbench.base import FloatArray, IntArray
from workbench.collection import Ledger, Questions


class RivalEnd(NamedTuple):
    """Error made, error believed (None where nothing is), and what was paid."""

    error: float
    believed: float | None
    cost: float


def best_panel(crowd: MixedCrowd, total: float) -> RivalEnd:
    """The best fixed panel in hindsight, by a majority or by votes of the best weights."""
    label, truth = crowd.answers.label, crowd.answers.truth
    n, J = crowd.confidence.shape
    price = crowd.pool.price[0] * n
    people = J + np.argsort(-(label[:, J:] == truth[:, None]).mean(axis=0), kind="stable")
    best = RivalEnd(1.0, None, 0.0)
    for size in range(J + 1):
        for models in combinations(range(J), size):
            for more in range(len(people) + 1):
                panel = np.array([*models, *people[:more]], dtype=np.int64)
                cost = float(price[panel].sum())
                if not len(panel) or cost > total:
                    continue
                ones = label[:, panel] == 1
                for score in (2.0 * ones.mean(axis=1) - 1.0, _weighed(ones, truth)):
                    error = _error(score, truth)
                    if error < best.error:
                        best = RivalEnd(error, None, cost)
    return best


def _weighed(ones: FloatArray, truth: IntArray) -> FloatArray:
    """Log-odds of the second class by votes counted as the panel's true coins have it."""
    score = np.full(len(truth), np.log(truth.mean() / (1.0 - truth.mean())))
    for vote in ones.T:
        first, second = (np.clip(vote[truth == of].mean(), 1e-3, 1.0 - 1e-3) for of in (0, 1))
        score += np.where(vote, np.log(second / first), np.log((1.0 - second) / (1.0 - first)))
    return score


def cascade(
    crowd: MixedCrowd,
    total: float,
    each: int,
    rng: np.random.Generator,
    *,
    confident: bool = False,
    fitted: bool = False,
) -> RivalEnd:
    """Models first, people where models disagree, or where their confidence is least.

    Parameters
    ----------
    each
        Labels of people that a task gets in a round.
    rng
        Draws people, and the order of equals.
    confident
        Whether the models' own confidences say what comes first.
    fitted
        Whether labels are weighed by Dawid and Skene's model.
    """
    label, truth = crowd.answers.label, crowd.answers.truth
    n, J = crowd.confidence.shape
    models = 2.0 * label[:, :J].mean(axis=1) - 1.0
    pooled = ((2 * label[:, :J] - 1) * log(crowd.confidence / (1 - crowd.confidence))).sum(axis=1)
    doubt = np.abs(pooled if confident else models)
    order = np.lexsort((rng.random(n), doubt))
    order = order if confident else order[doubt[order] < 1.0]
    ledger = Ledger(crowd.pool, total)
    _ask(ledger, crowd, np.repeat(np.arange(n), J), np.tile(np.arange(J), n))
    lot = J + np.argsort(rng.random((n, label.shape[1] - J)), axis=1)
    for begin in range(0, lot.shape[1], each):
        who = lot[order, begin : begin + each]
        _ask(ledger, crowd, np.repeat(order, who.shape[1]), who.ravel())
    if fitted:
        fit = smoothed(ledger.votes(), seed=int(rng.integers(2**31)))
        posterior = fit.info["posterior"]
        return RivalEnd(
            _error(posterior[:, 1] - 0.5, truth),
            float(1.0 - posterior.max(axis=1).mean()),
            ledger.spent,
        )
    task, worker, said = ledger.labels.T
    by_people = worker >= J
    lead = np.bincount(task[by_people], 2.0 * said[by_people] - 1.0, minlength=n)
    return RivalEnd(
        _error(np.where(lead != 0.0, lead, pooled if confident else models), truth),
        None,
        ledger.spent,
    )


def _ask(ledger: Ledger, crowd: MixedCrowd, task: IntArray, worker: IntArray) -> None:
    ask = ledger.affordable(Questions(task, worker))
    ledger.ask(ask)
    ledger.tell(ask, crowd.answers.of(ask))


def _error(score: FloatArray, truth: IntArray) -> float:
    """Share of wrong answers, a score above 0 naming the second class; ties are half wrong."""
    wrong = np.where(score > 0.0, truth == 0, truth == 1)
    return float(np.where(score == 0.0, 0.5, wrong).mean())
