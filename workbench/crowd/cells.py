"""Columns of text, each different text kept once: a column of ids has few of them and many rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Cells(Sequence[str]):
    """A column of text.

    Attributes
    ----------
    code
        Shape (k,): which text stands in each row.
    texts
        The different texts, stripped, in order of first appearance; type object.
    given
        The different cells as a frame has them; None of a file.
    """

    code: NDArray[np.int32]
    texts: NDArray[Any]
    given: Sequence[Any] | None = None

    @classmethod
    def of(cls, values: Sequence[str] | NDArray[Any]) -> Cells:
        """Take texts cell by cell; blanks around them are dropped."""
        if isinstance(values, Cells):
            return values
        return cls.numbered(*pd.factorize(np.asarray(values, dtype=object)))

    @classmethod
    def numbered(
        cls,
        code: NDArray[Any],
        texts: NDArray[Any] | Sequence[str],
        given: Sequence[Any] | None = None,
    ) -> Cells:
        """Take texts by number; those that are alike once blanks are dropped count as one."""
        stripped = np.array([text.strip() for text in texts], dtype=object)
        merged, once = pd.factorize(stripped)
        if len(once) < len(stripped):
            code = merged[code]
        return cls(code.astype(np.int32), once, given)

    def __len__(self) -> int:
        return len(self.code)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        """Give the text of a row, or of several."""
        text: Any = self.texts[self.code[row]]
        return list(text) if isinstance(row, slice) else str(text)

    def rows(self, wanted: Sequence[int] | NDArray[Any]) -> Cells:
        """Keep some of the rows."""
        code, kept = pd.factorize(self.code[np.asarray(wanted, dtype=np.int64)])
        return Cells(code.astype(np.int32), self.texts[kept], self.given)
