"""A vote by scores: each label speaks for every class, as much as the plan behind it says.

A plan of several classes promises the error of the class with the largest sum of a log prior,
counted once a task, and of scores log P(label | class) of the labels that came in.
"""

from __future__ import annotations

import numpy as np

from workbench.aggregation.voting import Aggregate, fair_choice
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import Votes, leading


def score_vote(
    votes: Votes, scores: FloatArray, log_prior: FloatArray, waiting: BoolArray, *, seed: Seed
) -> Aggregate:
    """Give each task the class with the largest sum of its log prior and its labels' scores.

    Parameters
    ----------
    votes
        k labels of n tasks, of K classes.
    scores
        log P(label | class) of each label, by class, shape (k, K).
    log_prior
        Shape (n, K); −inf for a class that is out of the question.
    waiting
        Tasks that are to have labels, shape (n,): without any they get no answer. Others are
        answered by the prior.
    seed
        Of the draw where classes tie; one number is drawn for each task, tied or not.

    Returns
    -------
    Aggregate
        With `posterior`, shape (n, K), and `confidence`, by the scores.
    """
    total, size = log_prior.copy(), np.abs(np.where(np.isfinite(log_prior), log_prior, 0.0))
    np.add.at(total, votes.task, scores)
    np.add.at(size, votes.task, np.abs(scores))
    without = np.bincount(votes.task, minlength=len(votes.tasks)) == 0
    unlabelled: BoolArray = without & waiting
    winning = leading(total, size.max(axis=1)) | unlabelled[:, None]
    label = fair_choice(winning, stream(seed, "ties"))
    likely = np.exp(total - total.max(axis=1, keepdims=True))
    posterior = likely / likely.sum(axis=1, keepdims=True)
    ranked = np.sort(total, axis=1)
    return Aggregate(
        label,
        ranked[:, -1] - ranked[:, -2],
        (winning.sum(axis=1) > 1) & ~unlabelled,
        unlabelled,
        "scores of the plan",
        {"posterior": posterior, "confidence": posterior[np.arange(len(label)), label]},
        winning,
    )
