"""Trials in this process, one after the other: for debugging, and to compare others with.

There are no limits: what runs in this process cannot be ended without it. A trial that kills its
process kills the run.

May import its neighbours and what runs a trial.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from threading import Event

from workbench.studies.executors import Limits
from workbench.studies.plan import Trial
from workbench.studies.trial import Outcome, Source, attempt


class Serial:
    """Runs trials here; looks at `stop` between them."""

    def run(
        self,
        source: Source,
        trials: Iterable[Trial],
        limits: Limits,  # noqa: ARG002 (none here)
        stop: Event,
    ) -> Generator[Outcome, None, None]:
        """Yield an outcome for each trial taken."""
        waiting = iter(trials)
        while not stop.is_set() and (trial := next(waiting, None)) is not None:
            yield attempt(source, trial)
