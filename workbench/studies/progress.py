"""A progress bar for notebooks; the command line has its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.studies.run import Progress


def bar(description: str) -> Callable[[Progress], None]:
    """Return an `on_progress` for `run` that draws a bar with rate and remaining time.

    Parameters
    ----------
    description
        What stands before the bar.
    """
    from tqdm import tqdm

    shown = tqdm(desc=description, unit="trial", file=sys.stdout)

    def show(progress: Progress) -> None:
        shown.total = progress.planned
        shown.update(progress.skipped + progress.done - shown.n)
        if not progress.left:
            shown.close()

    return show
