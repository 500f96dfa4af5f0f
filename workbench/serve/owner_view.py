"""What the owner is told, worked out in a thread of its own, so that no worker waits for it."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.api.standing import Standing, standing
from workbench.base.errors import InputError
from workbench.base.journal_events import Position
from workbench.collection.collector import Collector
from workbench.serve.owner import workers_table

if TYPE_CHECKING:
    from workbench.serve.service import CollectionService

LOG = logging.getLogger("uvicorn.error")
QUICK, REST = 0.05, 20.0
"""What takes more seconds than this to work out is told for so many times as many, so that it takes
little of the machine."""
EVERY = 10.0
"""Seconds between points of the owner's pictures."""


@dataclass(frozen=True, eq=False)
class OwnerView:
    """Where a collection stands, and who does what, at one moment.

    Attributes
    ----------
    told
        Where it stands, as `Standing.to_dict` has it.
    point
        What pictures over time draw of it.
    workers
        Rows of `workers_table`.
    position
        In the journal, of its last event then; None where there is an audit beside the journal.
    begun, took
        When it was begun, by a clock that nobody sets, and how long it took to work out; seconds.
    """

    told: dict[str, Any]
    point: dict[str, Any]
    workers: list[dict[str, Any]]
    position: Position | None
    begun: float
    took: float

    def holds(self, position: Position | None, ordered: float) -> bool:
        """Whether it may still be told.

        Parameters
        ----------
        position
            In the journal, of its last event now; None where there is an audit beside the journal.
        ordered
            When the owner last ordered something, by the same clock: nothing older is told.
        """
        if self.begun <= ordered:
            return False
        rest = REST * self.took if self.took > QUICK else 0.0
        unchanged = position is not None and position == self.position
        return unchanged or time.monotonic() - self.begun < rest

    def is_old(self) -> bool:
        """Whether the pictures are to have another point."""
        return time.monotonic() - self.begun >= max(EVERY, REST * self.took)


class StillCollection(NamedTuple):
    """A collection as it was at one moment, and the journal of an audit of its answers."""

    collector: Collector
    audit: Path | None
    position: Position | None
    begun: float

    def owner_view(self) -> OwnerView:
        """Work out what the owner is told; in any thread."""
        before = time.thread_time()
        found = standing(self.collector)
        found = found if self.audit is None else with_audit(found, self.audit)
        told, workers = found.to_dict(), workers_table(self.collector)
        took = time.thread_time() - before
        return OwnerView(told, found.point(), workers, self.position, self.begun, took)


class OwnerViews:
    """Works out what the owner is told, one view at a time, while the desk goes on.

    Parameters
    ----------
    service
        Whose `still` collection is looked at, and which has `seen` what comes of it.
    desk
        The one thread that uses it.
    """

    def __init__(self, service: CollectionService, desk: Executor) -> None:
        self._service, self._desk = service, desk
        self._thread = ThreadPoolExecutor(1, "owner")
        self._begun: Future[None] | None = None

    def begin(self) -> Future[None]:
        """Have a view made that is not older than this call, where the one that is there is."""
        return self._thread.submit(self._make)

    def look(self) -> None:
        """Have one made for the pictures now and then; to be called at the desk."""
        if self._service.is_due() and (self._begun is None or self._begun.done()):
            self._begun = self.begin()
            self._begun.add_done_callback(_complain)

    def _make(self) -> None:
        still = self._desk.submit(self._service.still).result()
        if still is not None:
            self._desk.submit(self._service.seen, still.owner_view()).result()


def _complain(made: Future[None]) -> None:
    """Say what went wrong where nobody waits; the next who asks for it is told herself."""
    if (error := made.exception()) is not None:
        LOG.warning("where the collection stands could not be worked out: %s", error)


def with_audit(found: Standing, path: Path) -> Standing:
    """Add what an audit of the answers has proven, which has a journal of its own.

    While it cannot be read nothing is added.
    """
    from workbench.api.auditing import Auditor

    try:
        auditor = Auditor.open(path, origin="server")
    except InputError:
        return found
    bound, sentence = float(auditor.bound()), auditor.summary().splitlines()[0]
    auditor.close()
    return replace(found, proven=sentence, proven_error=bound)
