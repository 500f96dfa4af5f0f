"""How wrong sets of labels are, counted on gold: label by label, as sets, and by F1.

A set is wrong where any of its labels is. F1 of a label is 2 TP / (2 TP + FP + FN), its mean over
the labels that the gold has the macro F1; answers by lot count by their chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.accuracy.measured import MeasuredError, count_errors
from workbench.base.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SetErrors:
    """Errors of sets of labels on control tasks.

    Attributes
    ----------
    by_label
        Error of each label, L of them.
    whole
        Error of the sets.
    f1
        F1 by label, shape (L,); NaN of a label that no control task has.
    recall
        Share of the control tasks with the label that are found, shape (L,); NaN as well.
    share
        Share of the control tasks that have each label, shape (L,).
    """

    by_label: list[MeasuredError]
    whole: MeasuredError
    f1: FloatArray
    recall: FloatArray
    share: FloatArray

    @property
    def label_error(self) -> float | None:
        """Share of wrong answers over all labels; None without control tasks."""
        if not self.whole.tasks_measured:
            return None
        return float(np.mean([each.error_measured for each in self.by_label]))

    @property
    def macro_f1(self) -> float | None:
        """Mean of F1 over the labels that the control tasks have; None without any."""
        there = self.f1[~np.isnan(self.f1)]
        return float(there.mean()) if len(there) else None


def set_errors(
    loss: FloatArray,
    gold: IntArray,
    control: IntArray,
    left: int | None = None,
    *,
    unstable: FloatArray | float = 0.0,
    folds: int = 0,
) -> SetErrors:
    """Count the errors of sets that saw nothing of the gold that judges them.

    Parameters
    ----------
    loss
        Chance that the answer on each label is wrong, shape (c, L); NaN without an answer.
    gold
        Whether each control task has each label, 0 or 1, shape (c, L).
    control
        Indices of the control tasks, shape (c,).
    left
        How many further tasks the intervals are for; None for any number.
    unstable, folds
        As `accuracy.measured.MeasuredError`; the first by label, shape (L,).
    """
    changed = np.broadcast_to(unstable, loss.shape[1])
    by_label = [
        count_errors(loss[:, label], control, left, unstable=float(changed[label]), folds=folds)
        for label in range(loss.shape[1])
    ]
    wrong = np.where(np.isnan(loss), 1.0, loss)
    whole = 1.0 - np.prod(1.0 - wrong, axis=1)
    whole[np.isnan(loss).any(axis=1)] = np.nan
    together = float(min(changed.sum(), 1.0))
    has = gold == 1
    found, there = ((1.0 - wrong) * has).sum(axis=0), has.sum(axis=0)
    false = (wrong * ~has).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = np.where(there > 0, 2 * found / (found + there + false), np.nan)
        recall = np.where(there > 0, found / there, np.nan)
    return SetErrors(
        by_label,
        count_errors(whole, control, left, unstable=together, folds=folds),
        f1,
        recall,
        has.mean(axis=0) if len(has) else np.full(loss.shape[1], np.nan),
    )
