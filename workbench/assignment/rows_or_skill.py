"""Plans of two classes by rows of confusion matrices, or by one skill a worker.

Rows are more numbers, so they are taken only where they explain the gold answers better, and where
on control tasks hidden in turn their vote errs less, by a standard error at least. Both buy covers
at the same ε there, so that neither is better for more labels than it was asked for.
"""

from __future__ import annotations

import numpy as np

from workbench.accuracy.measured import folds, less_by_a_standard_error
from workbench.base.arrays import IntArray
from workbench.base.seeds import Seed
from workbench.crowd.confusion import (
    better_explained,
    class_shares,
    estimate_confusion,
    gold_counts,
)
from workbench.crowd.gold_rule import FittedRule, GoldRule
from workbench.crowd.votes import Votes

PARTS = 5
"""Parts of the control tasks that are hidden in turn."""


def rows_err_less(
    votes: Votes, gold: IntArray, by_rows: GoldRule, by_skill: GoldRule, *, seed: Seed
) -> bool:
    """Whether rows are to be taken.

    Parameters
    ----------
    votes
        All labels.
    gold
        True class of the control tasks, −1 of all others, shape (n,).
    by_rows, by_skill
        Plans' rules at the same ε.
    seed
        Of the parts.
    """
    if not rows_in_question(votes, gold):
        return False
    control = np.flatnonzero(gold >= 0)
    less = np.zeros(len(control))
    for part in folds(len(control), PARTS, seed=seed):
        hidden, at = gold.copy(), control[part]
        hidden[at] = -1
        loss = [
            np.nan_to_num(rule(hidden).label(at).loss(gold[at]), nan=1.0)
            for rule in (by_skill, by_rows)
        ]
        less[part] = loss[0] - loss[1]
    return less_by_a_standard_error(less)


def rows_in_question(votes: Votes, gold: IntArray) -> bool:
    """Whether rows explain the control answers better than one skill a worker."""
    classes = len(votes.classes)
    counts = gold_counts(votes, gold, np.zeros_like(gold), 1)[0]
    rows = estimate_confusion(counts, class_shares(gold, classes), votes.workers, votes.classes)
    return better_explained(rows, np.bincount(gold[gold >= 0], minlength=classes))


def rows_or_skill(
    votes: Votes,
    tried: tuple[GoldRule, GoldRule],
    made: tuple[GoldRule, GoldRule],
    *,
    seed: Seed,
) -> GoldRule:
    """Make a rule that takes rows or skills anew, by the gold that it is fitted on.

    Parameters
    ----------
    votes, seed
        As for `rows_err_less`.
    tried
        The rules by rows and by skill that are compared.
    made
        The rules by rows and by skill of the plans that are made.
    """

    def fit(gold: IntArray) -> FittedRule:
        return made[0 if rows_err_less(votes, gold, *tried, seed=seed) else 1](gold)

    return fit
