"""How far the tasks that stay open may be believed, as hidden tasks among them show.

One temperature and one floor for all hidden tasks say what closed tasks are like, which are most of
them. Tasks that stay open are those on which workers disagree, and may be wrong together more often
than elsewhere: there the hidden tasks that are open themselves are counted.
"""

from __future__ import annotations

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.collection.honest import wrong_chances

WEIGHT = 4.0
"""Hidden tasks that the error believed beforehand counts for. By judgement, not tuned."""


def doubted(posterior: FloatArray, is_open: BoolArray, hidden: IntArray) -> FloatArray:
    """Posterior in which open tasks err as hidden ones among them do, where that is more often.

    Their mean error has a Beta distribution beforehand, whose mean is the believed one. The
    posterior is mixed with an even one until the mean error of open tasks is the mean of that
    distribution after the hidden tasks' answers. Less error is never believed than before.

    Parameters
    ----------
    posterior
        Shape (n, K).
    is_open
        Tasks that are open, shape (n,).
    hidden
        Class of the hidden tasks that have labels, −1 of all others, shape (n,).
    """
    rows = np.flatnonzero(is_open & (hidden >= 0))
    if not len(rows):
        return posterior
    K, mine = posterior.shape[1], posterior[rows]
    wrong = float(wrong_chances(mine, hidden[rows]).sum())
    believed = float((1.0 - mine.max(axis=1)).mean())
    error, most = (WEIGHT * believed + wrong) / (WEIGHT + len(rows)), 1.0 - 1.0 / K
    if error <= believed:
        return posterior
    even = min((error - believed) / max(most - believed, 1e-9), 1.0)
    mixed = posterior.copy()
    mixed[is_open] = (1.0 - even) * mixed[is_open] + even / K
    return mixed
