"""The first questions of a budget alone: a block of tasks, each labelled by several workers.

Who is able shows where several have answered the same tasks; tasks drawn by chance show how
frequent classes are. A set part of the money buys that: a block of fixed size would take all of a
small budget, and leave most tasks without a label.
"""

from __future__ import annotations

from workbench.base.arrays import BoolArray, IntArray
from workbench.collection.pool import NOTHING, Ledger, Questions

# Chosen on orders 330 to 335 of recorded crowds: docs/findings/collect-recorded.md.
SHARE, COVER = 0.1, 0.7
"""Part of the money that the block takes, beyond what pays for `COVER` labels of each task."""
LABELS = 6
"""Labels of each of its tasks."""
MOST = 16
"""Tasks of the block at most."""


def size(ledger: Ledger) -> int:
    """How many tasks the block has; the most without a limit to money."""
    if ledger.total is None:
        return MOST
    price = float(ledger.pool.price.mean())
    beyond = ledger.total - COVER * len(ledger.counts) * price
    many = SHARE * max(beyond, 0.0) / max(LABELS * price, 1e-9)
    return round(min(many, MOST))


def next_labels(ledger: Ledger, tasks: IntArray, workers: IntArray, able: BoolArray) -> Questions:
    """Ask one more worker about each task of the block that lacks labels.

    Parameters
    ----------
    tasks
        The block.
    workers
        All, those who come first in front.
    able
        Who may be asked about each of these tasks, shape (tasks, workers).
    """
    lack = ledger.counts[tasks] + ledger.waiting[tasks] < LABELS
    tasks, can = tasks[lack], able[lack] & (ledger.left[workers] > 0)
    some = can.any(axis=1)
    if not some.any():
        return NOTHING
    return Questions(tasks[some], workers[can[some].argmax(axis=1)])
