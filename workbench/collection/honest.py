"""How wrong the answers of a collection are, measured on tasks of known class among its own.

A policy that stops when it believes the error to be ε takes workers to err independently, and real
ones do not. Mending needs gold, and gold that the policy has not seen: tasks of known class that
are asked about like all others, so that they stop when others do. Afterwards each is labelled by
the model fitted without its class. Control tasks that everybody answers first would not do, for
they have more labels than the tasks they stand for.
"""

from __future__ import annotations

import numpy as np

from workbench.accuracy.measured import MeasuredError, measure_error
from workbench.aggregation.calibration import temperature_by_gold, tempered
from workbench.aggregation.dawid_skene import smoothed
from workbench.aggregation.posteriors import Earlier
from workbench.aggregation.vote_rules import vote_rule
from workbench.aggregation.voting import Aggregate
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.collection.pool import Ledger
from workbench.crowd.votes import TIE, Votes


def measured_error(ledger: Ledger, truth: IntArray, *, seed: Seed = 0) -> MeasuredError:
    """Measure the error of Dawid–Skene's labels on the other tasks, with a 90 % interval.

    Parameters
    ----------
    ledger
        What was collected.
    truth
        Class of the tasks that are known, −1 of all others, shape (n,). The policy has not seen it.
    seed
        Of the folds.
    """
    rule = vote_rule(ledger.votes(), "dawid-skene-smoothed", seed=0)
    return measure_error(rule, truth, seed=seed)


def calibrated(ledger: Ledger, truth: IntArray, *, seed: Seed = 0) -> FloatArray:
    """Posterior by all labels and the known classes, at the temperature that these call for.

    Parameters as in `measured_error`.

    Returns
    -------
    FloatArray
        Shape (n, K).

    Raises
    ------
    InputError
        Fewer than two known tasks have labels.
    """
    votes = ledger.votes()
    heat = temperature_by_gold(_fit, votes, truth, seed=seed)
    return tempered(_fit(votes, truth).info["posterior"], heat)


def _fit(votes: Votes, truth: IntArray) -> Aggregate:
    return smoothed(votes, earlier=Earlier(truth), seed=0)


def wrong_chances(posterior: FloatArray, truth: IntArray) -> FloatArray:
    """Chance that the likeliest class is wrong, a tie being drawn fairly; shape (k,).

    Parameters
    ----------
    posterior
        Shape (n, K).
    truth
        True class, −1 where it is not known: k are.
    """
    at = np.flatnonzero(truth >= 0)
    best = posterior[at] >= posterior[at].max(axis=1, keepdims=True) - TIE
    wrong: FloatArray = 1.0 - best[np.arange(len(at)), truth[at]] / best.sum(axis=1)
    return wrong
