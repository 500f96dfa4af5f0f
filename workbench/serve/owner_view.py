"""What the owner is shown, which any thread can work out from a copy of the collection."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from workbench.api.standing import Standing, standing
from workbench.base.errors import InputError
from workbench.base.journal_events import Position
from workbench.collection.collector import Collector
from workbench.serve.owner import asked_on_known, is_paid, workers_table

QUICK, REST = 0.05, 20.0
"""What takes more seconds than this to work out is shown for so many times as many, so that it
takes little of the machine."""
EVERY = 10.0
"""Seconds between points of the owner's pictures."""


@dataclass(frozen=True, eq=False)
class OwnerView:
    """Where a collection stands, and who does what, at one moment.

    Attributes
    ----------
    shown
        Where it stands, as `Standing.to_dict` has it.
    point
        What pictures over time draw of it.
    workers
        Rows of `workers_table`.
    known
        Who is asked about how many tasks of known class, in sentences.
    paid
        Whether labels have prices.
    position
        In the journal, of its last event then; None where there is an audit beside the journal.
    begun, took
        When it was begun, by a clock that nobody sets, and how long it took to work out; seconds.
    """

    shown: dict[str, Any]
    point: dict[str, Any]
    workers: list[dict[str, Any]]
    known: str
    paid: bool
    position: Position | None
    begun: float
    took: float

    def holds(self, position: Position | None, ordered: float) -> bool:
        """Whether it may still be shown.

        Parameters
        ----------
        position
            In the journal, of its last event now; None where there is an audit beside the journal.
        ordered
            When the owner last ordered something, by the same clock: nothing older is shown.
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
        """Work out what the owner is shown; in any thread."""
        before = time.thread_time()
        found = standing(self.collector)
        assert isinstance(found, Standing)  # ratings are not served
        found = found if self.audit is None else with_audit(found, self.audit)
        shown, workers = found.to_dict(), workers_table(self.collector)
        known, paid = asked_on_known(self.collector), is_paid(self.collector.ledger.pool)
        took = time.thread_time() - before
        now, began = found.point(), self.begun
        return OwnerView(shown, now, workers, known, paid, self.position, began, took)


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
