"""What all plans of who is asked about what have in common: the table, and its upload."""

from __future__ import annotations

import pandas as pd

from workbench.api.result import Result
from workbench.crowd import formats


class PlannedPairs(Result):
    """Base of the results that are a table of pairs `task, worker`."""

    table: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Give the plan, a row a label to ask for: `task, worker`, where votes weigh `weight`."""
        return self.table

    def assignments(self, to: str) -> str:
        """Give the text by which a platform takes the plan: "label-studio" or "toloka".

        Raises
        ------
        InputError
            Another form, or ids that the platform does not have.
        """
        return formats.assign(self.table, to)
