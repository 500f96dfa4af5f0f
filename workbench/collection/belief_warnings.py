"""What speaks against a belief: hidden tasks that contradict it, and workers who change.

Source: beyond the papers.
"""

from __future__ import annotations

import numpy as np

from workbench.base.arrays import FloatArray, IntArray

REVERSED = (
    "warning: nearly as many workers seem worse than chance as better, so that right and wrong may "
    "be interchanged: bring gold for some tasks"
)
# By judgement, not tuned.
UNLIKELY = 0.01
"""Chance, if the belief were right, below which errors on hidden tasks contradict it."""
LEAST_LABELS = 20
"""Labels of a worker from which on her first half is compared with her second."""
APART = 3.5
"""Standard errors by which the halves must differ, all workers together."""


def contradicted(posterior: FloatArray, truth: IntArray) -> str:
    """Say that a posterior errs on tasks whose class it did not see more than it says; else "".

    Parameters
    ----------
    posterior
        Of k hidden tasks with labels, shape (k, K).
    truth
        Their class, shape (k,).
    """
    if not len(truth):
        return ""
    from scipy.special import bdtrc

    wrong = int((posterior.argmax(axis=1) != truth).sum())
    expected = float((1.0 - posterior.max(axis=1)).sum())
    if not wrong or bdtrc(wrong - 1, len(truth), expected / len(truth)) >= UNLIKELY:
        return ""
    return (
        f"hidden tasks contradict the belief: {wrong} of {len(truth)} answers are wrong, where "
        f"{expected:.1f} were to be expected of workers who err independently; it goes by them now"
    )


def changed(worker: IntArray, agreement: FloatArray, expected: FloatArray) -> str:
    """Say that workers answer worse, or better, in the second half of their labels; else "".

    Parameters
    ----------
    worker
        Of each label, in the order in which they came, shape (k,).
    agreement
        Posterior of the class that it names, shape (k,).
    expected
        The same as the belief expects it of this worker and task, shape (k,).
    """
    order = np.argsort(worker, kind="stable")
    rest = (agreement - expected)[order]
    starts = np.flatnonzero(np.diff(worker[order], prepend=-1))
    size = np.diff(starts, append=len(order))
    starts, size = starts[size >= LEAST_LABELS], size[size >= LEAST_LABELS]
    gains, variances = [], []
    for start, many in zip(starts.tolist(), size.tolist(), strict=True):
        halves = rest[start : start + many // 2], rest[start + many // 2 : start + many]
        gains.append(halves[1].mean() - halves[0].mean())
        variances.append(sum(half.var(ddof=1) / len(half) for half in halves))
    spread = float(np.sqrt(sum(variances)))
    if not gains or abs(sum(gains)) <= APART * max(spread, 1e-9):
        return ""
    way = "worse" if sum(gains) < 0.0 else "better"
    return (
        f"warning: workers answer {way} as they go on, by {abs(sum(gains)) / len(gains):.2f} of "
        "their labels in the mean of those with many; the belief takes them not to change"
    )
