"""An assignment policy of one's own: the tasks with the fewest labels first."""

from __future__ import annotations

import numpy as np

from workbench.assignment import POLICIES, ArrivingWorker, AssignmentPolicy, Setting
from workbench.base import Entry, IntArray, Seed


class FewestLabels(AssignmentPolicy):
    """Each worker labels the tasks that have the fewest labels so far, equals drawn fairly."""

    def __init__(self, setting: Setting, *, seed: Seed) -> None:
        super().__init__(setting, seed=seed)
        self.labels = np.zeros(len(setting.task_class), dtype=np.int64)

    def assign(self, worker: ArrivingWorker) -> IntArray:
        """Give her as many tasks as she takes."""
        order = self.rng.permutation(len(self.labels))
        if worker.available is not None:
            order = order[worker.available[order]]
        chosen = order[np.argsort(self.labels[order], kind="stable")][: worker.capacity]
        self.labels[chosen] += 1
        return chosen


POLICIES.register(
    Entry("fewest labels", FewestLabels, "the tasks with the fewest labels first", "an example")
)
