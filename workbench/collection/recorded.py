"""Labels on record as a pool: a pair that was not recorded cannot be asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workbench.base.arrays import IntArray
from workbench.collection.answers import Answers
from workbench.collection.pool import Pool
from workbench.crowd import frames


def recorded(
    labels: pd.DataFrame, gold: pd.Series[Any] | None, control: pd.Index[Any]
) -> tuple[Pool, Answers]:
    """Make a pool of recorded labels.

    Parameters
    ----------
    labels
        Long table `task, worker, label`.
    gold
        True label of some tasks.
    control
        Tasks with gold by which workers can be judged; they are not collected.
    """
    frames.check_pairs(labels)
    table = frames.label_table(labels)
    every, workers = pd.Index(table["task"].unique()), pd.Index(table["worker"].unique())
    truth = pd.Series(dtype=object) if gold is None else gold
    classes = pd.Index(sorted({*table["label"], *truth}, key=str))
    matrix = frames.dense(every, workers, table, frames.codes(classes, table["label"]), -1)
    true: IntArray = np.where(
        every.isin(truth.index), classes.get_indexer(truth.reindex(every)), -1
    ).astype(np.int64)
    judged = every.isin(control)
    label, gold_label = matrix[~judged], matrix[judged]
    pool = Pool(
        tasks=every[~judged].to_numpy(),
        workers=workers.to_numpy(),
        classes=classes.to_numpy(),
        capacity=np.full(len(workers), len(every), dtype=np.int64),
        price=np.ones((1, len(workers))),
        kind=np.zeros(len(label), dtype=np.int64),
        share=np.full(len(classes), 1.0 / len(classes)),
        gold=true[judged],
        gold_kind=np.zeros(len(gold_label), dtype=np.int64),
        available=label >= 0,
        gold_available=gold_label >= 0,
    )
    return pool, Answers(label, gold_label, true[~judged])
