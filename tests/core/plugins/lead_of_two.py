"""A collecting policy of one's own: a task is asked about until two more labels agree than not."""

from __future__ import annotations

import numpy as np

from workbench.base import BoolArray, Entry, FloatArray, IntArray
from workbench.collection import POLICIES, ByTask


class LeadOfTwo(ByTask):
    """Open tasks in turn, those with the fewest labels first."""

    def lead(self) -> IntArray:
        """Labels of the class most named, less those of the next, shape (n,)."""
        ordered = np.sort(self.named(), axis=1)
        return ordered[:, -1] - ordered[:, -2]

    def index(self) -> FloatArray:
        """What a task is ranked by, the least first."""
        return self.ledger.counts.astype(float)

    def closed(self) -> BoolArray:
        """Tasks about which it asks no more."""
        return self.lead() >= 2


POLICIES.register(Entry("lead-of-two", LeadOfTwo, "until a class leads by two", "an example"))
