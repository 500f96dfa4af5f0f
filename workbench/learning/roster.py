"""Workers who come, go, are not always there, and answer late: for learners of a long stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.state import identifier
from workbench.learning.online import Ask, OnlineLearner, Task, given_labels
from workbench.learning.vetting import Removal


class Roster(OnlineLearner):
    """Who may be asked; what a learner does about it is its own."""

    removed: Sequence[Removal] = ()
    """Workers dropped by vetting."""
    _present: BoolArray

    def ask(self, task: Task, *, available: ArrayLike | None = None) -> Ask:
        """Decide whom to ask, of all or of those whose indices are given."""
        raise NotImplementedError

    def late(self, task: Task, labels: Mapping[int, int] | ArrayLike) -> None:
        """Take labels that came after `tell`."""
        raise NotImplementedError

    @property
    def estimates(self) -> FloatArray:
        """p̂, shape (M,)."""
        raise NotImplementedError

    @property
    def best(self) -> IntArray:
        """S_t, best worker first."""
        raise NotImplementedError

    @property
    def disagreement(self) -> pd.DataFrame:
        """How often each worker differed from the majority of a round: `differed, rounds`."""
        return pd.DataFrame(0, index=list(self.names), columns=["differed", "rounds"])

    def testers(self) -> pd.DataFrame:
        """Tasks by which workers are judged, one row each, the first column `task`."""
        return pd.DataFrame({"task": []})

    @property
    def present(self) -> BoolArray:
        """Who may be asked, shape (M,): neither gone nor dropped."""
        return self._present.copy()

    def leave(self, worker: int | str) -> None:
        """Ask a worker no more, from the next step on.

        Parameters
        ----------
        worker
            Index or name.

        Raises
        ------
        InputError
            She is unknown, or not here.
        """
        i = self._index(worker)
        if not self._present[i]:
            raise InputError(f"worker {self.names[i]!r} is not here: nobody can leave twice")
        self._present[i] = False
        self._changed()

    def join(self, worker: str) -> int:
        """Let a new worker in, or one who left; return her index.

        Parameters
        ----------
        worker
            Her name.

        Raises
        ------
        InputError
            She is here already, or vetting has dropped her.
        """
        if not isinstance(worker, str):
            raise InputError(f"worker is {checks.show(worker)}: give a name, a text")
        identifier("worker", worker)
        if worker not in self.names:
            self.names = (*self.names, worker)
            self._order = np.append(self._order, self._rng.random())
            self._present = np.append(self._present, False)
            self._enrol()
        i = self.names.index(worker)
        if self._present[i]:
            raise InputError(f"worker {worker!r} is here already: let her join once")
        self._admit(i)
        self._present[i] = True
        self._changed()
        return i

    def _enrol(self) -> None:
        """Make room for a new worker, the last of `names`."""

    def _admit(self, worker: int) -> None:
        """Take a worker in, or refuse her."""

    def _changed(self) -> None:
        """Forget what hangs on who is present."""

    def _able(self, available: ArrayLike | None) -> BoolArray:
        """Who is present and available, shape (M,), of indices or None for all."""
        if available is None:
            return self._present
        indices = np.asarray(available)
        indices = indices if indices.size else indices.astype(np.int64)
        able = np.zeros(len(self.names), dtype=bool)
        able[checks.indices("available", indices, len(self.names))] = True
        return able & self._present

    def _came_late(
        self, task: Task, labels: Mapping[int, int] | ArrayLike
    ) -> tuple[Task, IntArray]:
        """Check labels that came after `tell`; the task, and the labels, shape (M,)."""
        task = identifier("task", task)
        if task not in self._tasks:
            raise InputError(f"task {task!r} never arrived: give the name of one that did")
        if self._pending is not None and task == self._asked_task(self._pending):
            raise InputError(f"task {task!r} waits for its labels: tell them instead")
        M, K = len(self.names), self.vote.classes
        return task, given_labels(labels, None, M, self._index, K)

    def _count_late(self, answers: IntArray, used: BoolArray) -> None:
        self.counts["late_used"] += int(used.sum())
        self.counts["late_ignored"] += int((answers >= 0).sum() - used.sum())
