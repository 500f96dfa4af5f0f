"""A learner of one's own: everybody is asked about ever fewer tasks, else the best so far."""

from __future__ import annotations

from workbench.base import Entry, FloatArray, IntArray, Seed
from workbench.learning import LEARNERS, Comparator, Kind


class Halving(Comparator):
    """Asks everybody about tasks 1, 2, 4, 8, …, and the best set by agreement about the others."""

    def _choose(self) -> tuple[IntArray, Kind]:
        step = self.step + 1
        everybody = step & (step - 1) == 0
        return self._all_or_best(everybody)


def halving(skill: FloatArray, seed: Seed) -> Halving:
    """Make one for as many workers as there are skills, which it does not look at."""
    return Halving(len(skill), seed=seed)


LEARNERS.register(Entry("halving", halving, "all on tasks 1, 2, 4, …, else the best", "an example"))
