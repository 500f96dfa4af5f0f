"""Where a collection's events stand: in a journal, or in memory, with the same few calls."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import msgspec

from workbench.base.errors import InputError
from workbench.base.journal_events import Event, JournalEntry, Position
from workbench.base.journal_view import JournalView, Snapshot
from workbench.base.state import Id
from workbench.collection.events import Forgotten, Opened, Undone
from workbench.collection.running import Running

MAKER = "collector 4"
"""Who can read a snapshot: raised whenever a collection's state comes to mean something else."""


class MemoryLog:
    """Events in memory; one program alone has them.

    It stands for a `Journal` and for its views and transactions, as far as a collection uses them.
    """

    path: Path | None = None
    """Of the journal that it was copied from; None where there is none."""

    def __init__(self) -> None:
        self.entries: list[JournalEntry[Event]] = []
        self.forgotten: set[str] = set()

    @property
    def end(self) -> Position:
        """Position of the last event."""
        return Position(len(self.entries), "")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[MemoryLog]:
        """Append all that is appended in the block, or, on an error, nothing."""
        many = len(self.entries)
        try:
            yield self
        except BaseException:
            del self.entries[many:]
            raise

    @contextlib.contextmanager
    def view(self) -> Iterator[MemoryLog]:
        """Read the events."""
        yield self

    def close(self) -> None:
        """Nothing is open."""

    def since(self, position: Position | None = None) -> Iterator[JournalEntry[Event]]:
        """Read the events after a position, in order; all where None."""
        yield from self.entries[0 if position is None else position.number :]

    def append(self, events: Sequence[Event], *, who: str, origin: str) -> Position:
        """Append events."""
        time = datetime.now(UTC)
        for event in events:
            position = Position(len(self.entries) + 1, "")
            self.entries.append(JournalEntry(position, time, who, origin, event))
        return self.end

    def snapshot(self, maker: str, most: int | None = None) -> Snapshot | None:  # noqa: ARG002
        """There is none: replaying a collection in memory is quick enough."""
        return None

    def keep(self, maker: str, content: bytes) -> None:
        """Keep no snapshot."""

    def withhold(self, value: Id) -> str:
        """Give a key that stands for a name."""
        key = json.dumps(value)
        while key in self.forgotten:
            key += " "
        return key

    def forget(self, withheld: str) -> None:
        """Let nothing give back what a key stands for."""
        self.forgotten.add(withheld)

    def position(self, number: int) -> Position:
        """Give the position after so many events."""
        return Position(number, "")

    def reveal(self, withheld: str) -> Id | None:
        """Give the name that a key stands for; None where it has been forgotten."""
        name: Id | None = None if withheld in self.forgotten else json.loads(withheld)
        return name


EventLog: TypeAlias = JournalView[Event] | MemoryLog
"""A log that can be read: a view of a journal, a transaction, or events in memory."""


def replayed(view: EventLog, at: datetime | None = None) -> Running:
    """Give the collection that follows from a log, by its latest snapshot that can be used.

    Parameters
    ----------
    view
        The log.
    at
        What happened later is left out; nothing is where None.

    Raises
    ------
    InputError
        The log is damaged, or the collection had not begun by then.
    """
    last = view.end.number if at is None else _events_until(view, at)
    skipped: set[int] = set()
    while True:
        running, undone = _replayed_without(view, last, skipped)
        if undone <= skipped:
            break
        skipped |= undone
    if running is None:
        raise InputError("the collection had not begun")
    return running


def _replayed_without(
    view: EventLog, last: int, skipped: set[int]
) -> tuple[Running | None, set[int]]:
    """Apply the events up to the last but for those skipped; stop where others turn out undone."""
    running: Running | None = None
    snapshot = view.snapshot(MAKER, min(last, min(skipped, default=last + 1) - 1))
    if snapshot is not None:
        running = Running(msgspec.msgpack.decode(snapshot.content, type=Opened))
    for entry in view.since(None if snapshot is None else snapshot.position):
        number, event = entry.position.number, entry.event
        if number > last:
            break
        if isinstance(event, Undone):
            undone = set(range(event.first, event.last + 1))
            if not undone <= skipped:
                return None, undone
        elif isinstance(event, Opened):
            running = Running(event)
        elif number not in skipped or isinstance(event, Forgotten):  # which nothing brings back
            if running is None:
                raise InputError(f"event {number} comes before the collection was begun")
            running.apply(event)
    return running, set()


def _events_until(view: EventLog, at: datetime) -> int:
    """How many events there were at a time."""
    many = 0
    for entry in view.since(None):
        if entry.time > at:
            break
        many = entry.position.number
    return many
