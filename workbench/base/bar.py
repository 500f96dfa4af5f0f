"""A bar that shows how far something is, in a notebook or a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeAlias

from workbench.base.errors import InputError

Step: TypeAlias = Callable[[], object]
"""Is called whenever one more part of the work is done."""


def no_step() -> None:
    """Tell nobody."""


def bar(unit: str, description: str = "") -> Callable[[int, int], None]:
    """Draw a bar with rate and remaining time; call what is returned with the number done and all.

    Parameters
    ----------
    unit
        What is counted.
    description
        What stands before the bar.

    Raises
    ------
    InputError
        tqdm is not installed.
    """
    try:
        from tqdm import tqdm
    except ImportError:
        raise InputError(
            "`progress`: a bar needs tqdm; pip install tqdm, or give a function of a line"
        ) from None
    shown = tqdm(desc=description or None, unit=f" {unit}", file=sys.stdout)

    def show(done: int, total: int) -> None:
        shown.total = total
        shown.update(done - shown.n)
        if done >= total:
            shown.close()

    return show
