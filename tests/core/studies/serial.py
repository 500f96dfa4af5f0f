"""Trials in this process, one after the other: for debugging, and to compare others with.

Linear algebra has one thread, as in workers: with more, sums are added up in another order, and
records differ in their last digit. There are no limits: what runs in this process cannot be
ended without it. A trial that kills its process kills the run.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from threading import Event

from workbench.studies.attempt import Outcome, attempt
from workbench.studies.executors import Limits
from workbench.studies.source import Source
from workbench.studies.trials import Trial


class Serial:
    """Runs trials here; looks at `stop` between them."""

    def run(
        self,
        source: Source,
        trials: Iterable[Trial],
        limits: Limits,
        stop: Event,
    ) -> Generator[Outcome, None, None]:
        """Yield an outcome for each trial taken."""
        from threadpoolctl import threadpool_limits

        source.load()  # first, so that the libraries it brings along are limited too
        waiting = iter(trials)
        with threadpool_limits(1):
            while not stop.is_set() and (trial := next(waiting, None)) is not None:
                yield attempt(source, trial)
