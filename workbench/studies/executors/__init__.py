"""Who runs the trials: this process, a pool of its own, or a Dask cluster.

An executor is a generator of outcomes. It takes trials from the iterator only as workers become
free, yields each outcome as it is known (in any order), and never raises for a trial's sake.
Where it can, it yields None when nothing ended for `PULSE` seconds, so that whoever listens can
write down what is known and look at the clock. When `stop` is set it takes no more trials and
yields what is under way. When it is closed it ends its workers at once, and yields nothing more.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from threading import Event
from typing import Protocol

from workbench.base.errors import InputError
from workbench.studies.attempt import Outcome
from workbench.studies.source import Source
from workbench.studies.trials import Trial

PULSE = 0.2
"""Seconds between signs of life from an executor."""


@dataclass(frozen=True)
class Limits:
    """What one trial may take: seconds, and megabytes beyond the idle worker; None for any."""

    deadline: float | None = None
    memory: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not 0 < value < float("inf"):
                raise InputError(f"{name} is {value:g}: give a number above 0")


class Executor(Protocol):
    """Runs trials of one study."""

    def run(
        self, source: Source, trials: Iterable[Trial], limits: Limits, stop: Event
    ) -> Generator[Outcome | None, None, None]:
        """Yield an outcome for each trial taken, and None now and then."""
        ...
