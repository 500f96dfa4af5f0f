"""The vote of a plan of several classes, as it is handed over: a table of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.likeliest import TINY
from workbench.assignment.class_program import ClassProgram
from workbench.assignment.cover_plan import CoverPlan
from workbench.crowd.loss import Stakes

COLUMNS = ("task", "worker", "label", "class", "score")


def class_scores(
    program: ClassProgram,
    made: CoverPlan,
    tasks: pd.Index[Any],
    workers: pd.Index[Any],
    classes: Sequence[Any],
    stakes: Stakes | None = None,
) -> pd.DataFrame:
    """Lay out what each label that may come in says for each class.

    Parameters
    ----------
    program, made
        A plan, and what it is a plan of.
    tasks, workers, classes
        Their names.
    stakes
        What errors cost, by which the prior of the plan is tilted; None where all cost 1.

    Returns
    -------
    DataFrame
        Columns `task, worker, label, class, score`. A row without worker and label (None) is the
        log prior of a class, counted once a task; the others are log P(label | class). The vote
        names the class of the largest sum. With stakes the rows of the prior have `loss` too, what
        it costs to miss the class: the prior is then that of the tasks, and log loss is added to
        its sum.
    """
    assert made.chosen is not None
    assert made.log_prior is not None
    names = np.array([*classes, None], dtype=object)[:-1]
    K = len(names)
    row, column = np.nonzero(made.chosen | program.given.recorded)
    chance = program.confusion[program.kinds[row], column]  # (v, class, label)
    said = np.log(np.maximum(chance, TINY)).transpose(0, 2, 1)
    n, v = len(tasks), len(row)
    task = np.concatenate([np.repeat(np.arange(n), K), np.repeat(row, K * K)])
    nobody: np.ndarray = np.full(n * K, None, dtype=object)
    by_worker = workers.to_numpy(dtype=object)[np.repeat(column, K * K)]
    by_label = np.tile(np.repeat(names, K), v)
    prior, losses = made.log_prior, {}
    if stakes is not None:
        prior = prior - np.log(stakes.loss / stakes.scale)
        none = np.full(v * K * K, np.nan)
        losses["loss"] = np.concatenate([np.tile(stakes.loss, n), none])
    return pd.DataFrame(
        {
            "task": tasks.to_numpy(dtype=object)[task],
            "worker": pd.Series(np.concatenate([nobody, by_worker]), dtype=object),
            "label": pd.Series(np.concatenate([nobody, by_label]), dtype=object),
            "class": np.tile(names, n + v * K),
            "score": np.concatenate([prior.ravel(), said.ravel()]),
            **losses,
        },
        columns=[*COLUMNS, *losses],
    )
