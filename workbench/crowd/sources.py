"""Where labels come from: one small interface, simulated or recorded.

A method that assigns tasks sees a `LabelSource` and nothing else, so that the same code runs
on a simulated crowd (`simulate.SimulatedLabels`) and on a data set (`replay.RecordedLabels`).
A source answers the same pair with the same label whoever asks, in whatever order: methods
compared on one source are compared on the same crowd, answer by answer.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, IntArray, Names
from workbench.base.seeds import Seed
from workbench.crowd.votes import Votes


class GoldAnswers(NamedTuple):
    """Answers to gold tasks, shape (T, k), by task type and worker asked.

    Unpacks into `skills.estimate_skills(*answers)`.
    """

    correct: IntArray
    answered: IntArray


class LabelSource(Protocol):
    """A crowd that can be asked for labels of two classes.

    Attributes
    ----------
    tasks, workers, task_types, classes
        Names, shapes (n,), (m,), (T,) and (2,).
    task_type
        Shape (n,): index of each task's type.
    truth
        Shape (n,): index of each task's true class, −1 where unknown. For scoring only.
    available
        Shape (n, m): which pairs have a label; None when all have.
    """

    tasks: Names
    workers: Names
    task_types: Names
    classes: Names
    task_type: IntArray
    truth: IntArray
    available: BoolArray | None

    def labels(self, task_idx: ArrayLike, worker_idx: ArrayLike) -> IntArray:
        """Class index of the label of each pair, shape (k,)."""
        ...

    def gold_answers(self, worker_idx: ArrayLike, s: int, *, seed: Seed) -> GoldAnswers:
        """Answers of k workers to (at most) s gold tasks of each type.

        With the same seed a worker's answers are the same whoever else is asked.
        """
        ...


def collect(source: LabelSource, task_idx: ArrayLike, worker_idx: ArrayLike) -> Votes:
    """Ask for the labels of pairs (k of them) and return them as votes, named.

    Raises
    ------
    InputError
        An index is out of range, or a pair has no label.
    """
    task, worker = checks.pairs(task_idx, worker_idx, len(source.tasks), len(source.workers))
    return Votes(
        task, worker, source.labels(task, worker), source.tasks, source.workers, source.classes
    )
