"""Recorded labels: a data set asked as if its workers were still there.

Only pairs that were recorded can be asked for; some of the tasks with gold serve as control
(gold standard) tasks, the others are assigned and scored. Two classes only: the quality
(2p − 1)² of Ho, Jabbari, Vaughan (2013) is that of a two-class label.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd import frames
from workbench.crowd.skills import counted
from workbench.crowd.sources import GoldAnswers


class RecordedLabels:
    """A label table as a source of labels.

    Takes n m bytes, whatever the number of labels.

    Parameters
    ----------
    labels
        Long table `task, worker, label`, two classes, each pair once.
    gold
        True label by task, for all or some of the tasks.
    control
        Tasks, all with gold, that serve as control tasks only (see `split_gold`): they cannot
        be assigned.
    task_types
        Type by task, control tasks included; None for a single type, "all".

    Attributes
    ----------
    tasks, workers, task_types, classes
        Names, shapes (n,), (m,), (T,) and (2,): tasks without the control tasks, in order of
        first appearance; all workers, in order of first appearance; types; classes sorted.
    task_type, truth
        Shape (n,): index of each task's type, and of its true class (−1 without gold).
    available
        Shape (n, m): which pairs were recorded.
    control_answered, control_correct
        Shape (T, m): control tasks labelled by each worker, and how many of them correctly.

    Raises
    ------
    InputError
        Too many pairs of tasks and workers, a pair is repeated, other than two classes, a control
        task without gold, only control tasks, or a task without a type.
    """

    def __init__(
        self,
        labels: pd.DataFrame,
        gold: pd.Series[Any],
        *,
        control: Iterable[Any] = (),
        task_types: pd.Series[Any] | None = None,
    ) -> None:
        frames.check_pairs(labels)
        table = frames.label_table(labels)
        every = pd.Index(table["task"].unique())
        reserved = pd.Index(list(control))
        without = ~reserved.isin(gold.index)
        if without.any():
            name = checks.show(reserved[int(without.argmax())])
            raise InputError(f"control: task {name} has no gold label; choose among those that do")
        tasks = every[~every.isin(reserved)]
        if tasks.empty:
            raise InputError("control: every task is a control task; leave some to assign")
        workers = pd.Index(table["worker"].unique())
        classes = frames.two_classes([*table["label"].unique(), *gold.unique()])
        self.task_types, kind = frames.type_index(task_types, every)
        self.tasks: Names = tasks.to_numpy()
        self.workers: Names = workers.to_numpy()
        self.classes: Names = classes.to_numpy()
        self.task_type: IntArray = kind.loc[tasks].to_numpy()
        self.truth: IntArray = frames.codes(classes, gold.reindex(tasks))

        task = frames.codes(tasks, table["task"])
        worker = frames.codes(workers, table["worker"])
        label = frames.codes(classes, table["label"])
        kept = task >= 0
        self._label = frames.dense(tasks, workers, table, label.astype(np.int8), -1)
        self.available: BoolArray | None = checks.frozen(self._label >= 0)

        control_task = table.loc[~kept, "task"]
        at = (kind.loc[control_task].to_numpy(), worker[~kept])
        right = label[~kept] == frames.codes(classes, gold.loc[control_task])
        shape = len(self.task_types), len(workers)
        self.control_correct, self.control_answered = counted(at, right, shape)

    def examined_on(self, task_idx: IntArray) -> RecordedLabels:
        """The same labels, where workers are judged by their labels of some tasks with gold.

        These stay among the tasks that can be assigned.
        """
        label = self._label[task_idx]
        task, worker = np.nonzero(label >= 0)
        at = (self.task_type[task_idx][task], worker)
        right = label[task, worker] == self.truth[task_idx][task]
        source = copy(self)
        source.control_correct, source.control_answered = counted(
            at, right, self.control_answered.shape
        )
        return source

    def labels(self, task_idx: ArrayLike, worker_idx: ArrayLike) -> IntArray:
        """Class index of the recorded label of each pair, shape (k,).

        Raises
        ------
        InputError
            An index is out of range, the two differ in length, or a pair was never recorded.
        """
        task, worker = checks.pairs(task_idx, worker_idx, *self._label.shape)
        label = self._label[task, worker].astype(np.int64)
        if (label < 0).any():
            at = int(label.argmin())
            raise InputError(
                f"worker {checks.show(self.workers[worker[at]])} never labelled task "
                f"{checks.show(self.tasks[task[at]])}: ask only for pairs marked in `available`"
            )
        return label

    def gold_answers(self, worker_idx: ArrayLike, s: int, *, seed: Seed) -> GoldAnswers:
        """Answers of k workers to control tasks they did label, shape (T, k).

        A worker who labelled more than s control tasks of a type is judged by s of them,
        drawn at random; one who labelled fewer, by those. Drawn for all workers at once, so
        that with the same seed (not the same `Generator`) a worker's answers are the same
        whoever else is asked.

        Raises
        ------
        InputError
            An index is out of range, or s is not a whole number ≥ 0.
        """
        worker = checks.indices("worker_idx", worker_idx, len(self.workers))
        asked = np.minimum(self.control_answered, checks.count("s", s))
        correct = stream(seed, "gold").hypergeometric(
            self.control_correct, self.control_answered - self.control_correct, asked
        )
        return GoldAnswers(correct[:, worker], asked[:, worker])


def split_gold(
    gold: pd.Series[Any], *, control: float, seed: Seed
) -> tuple[pd.Index[Any], pd.Index[Any]]:
    """Split the tasks with gold into control tasks and evaluation tasks.

    Each class has its share of the control tasks, within one task (largest remainders; equal
    remainders in random order).

    Parameters
    ----------
    gold
        True label by task, each task once.
    control
        How many control tasks (`int`), or which share (`float` in (0, 1), rounded, half up).
        At least one task must fall to each side.
    seed
        Of the random choice.

    Returns
    -------
    control, evaluation
        Tasks, each in the order of `gold`.

    Raises
    ------
    InputError
        A split with an empty side.
    """
    n = len(gold)
    if isinstance(control, (int, np.integer)):
        size = checks.count("control", int(control))
    else:
        size = int(checks.inside("control", control) * n + 0.5)
    if not 0 < size < n:
        raise InputError(
            f"control is {control}: {size} control tasks out of {n} with gold; leave at least "
            "one for control and one for evaluation"
        )
    rng = stream(seed, "split")
    chosen = np.zeros(n, dtype=bool)
    codes, classes = pd.factorize(gold)
    order = rng.permutation(len(classes))
    share = np.bincount(codes) * size / n
    take = np.floor(share).astype(np.int64)
    largest = order[np.argsort(-np.round(share - take, 9)[order], kind="stable")]
    take[largest[: size - take.sum()]] += 1
    for code, many in enumerate(take):
        chosen[rng.choice(np.flatnonzero(codes == code), many, replace=False)] = True
    return gold.index[chosen], gold.index[~chosen]
