"""A collection as its log keeps it: read from events, and changed by turns.

All who hold a `KeptCollection` of one journal see the same: before each turn what others have done
is applied, and what happens in a turn is in the journal before anything is given back.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

import msgspec

from workbench.base.errors import InputError
from workbench.base.journal import Journal
from workbench.base.journal_events import Event, JournalEntry, Position
from workbench.base.journal_view import MEND, JournalTransaction
from workbench.base.state import Id, Label
from workbench.collection.events import JOURNAL, Asked, Opened, RefitBegun, Undone
from workbench.collection.log import MAKER, EventLog, MemoryLog, replayed
from workbench.collection.policy import Policy
from workbench.collection.pool import Ledger
from workbench.collection.running import Running
from workbench.crowd.kinds import Scale

EVERY = 1000
"""Events after which a snapshot is kept."""


class KeptCollection:
    """A log of events, and the collection as it stands in it.

    Attributes
    ----------
    tasks, gold, workers, classes
        Place of each name; no classes where labels are ratings.
    scale
        Of ratings; None of classes.
    origin
        Where what happens comes from, as the history has it: python, command, page.
    """

    tasks: dict[Id, int]
    gold: dict[Id, int]
    workers: dict[Id, int]
    classes: dict[Label | float, int]
    scale: Scale | None
    origin: str = "python"
    _log: Journal[Event] | MemoryLog
    _running: Running | None
    _position: Position | None
    _kept: int = 0
    _apart: bool = False

    def _begin(self, opened: Opened, workers: Iterable[Id], path: str | Path | None) -> None:
        """Write the first event, to a journal or in memory."""
        self._running, self._position = None, None

        def beginning(turn: JournalTransaction[Event] | MemoryLog) -> list[Event]:
            keys = tuple(turn.withhold(name) for name in workers)
            return [msgspec.structs.replace(opened, names=keys)]

        if path is None:
            self._log = MemoryLog()
            self._log.append(beginning(self._log), who="owner", origin=self.origin)
        else:
            self._log = Journal.create(path, JOURNAL, beginning, who="owner", origin=self.origin)
        self._catch_up_now()

    @classmethod
    def open(cls, path: str | Path, *, origin: str = "python", refits_apart: bool = False) -> Self:
        """Go on with a collection that is kept in a journal.

        Parameters
        ----------
        path
            As given to the constructor.
        origin
            Where what happens now comes from: command, page, …
        refits_apart
            Whether whoever calls takes care of fits of what the policy believes, so that nobody
            waits for them: see `refit_begun`.

        Raises
        ------
        InputError
            There is no such journal, or it is damaged.
        """
        collector = cls.__new__(cls)
        collector.origin, collector._running, collector._position = origin, None, None
        collector._log = Journal.open(path, JOURNAL)
        collector._apart = refits_apart
        collector._catch_up_now()
        return collector

    def close(self) -> None:
        """Close the journal; nothing more can be asked or told."""
        self._log.close()

    @contextlib.contextmanager
    def _together(self) -> Iterator[JournalTransaction[Event] | MemoryLog]:
        """Hold the log alone over several steps: what they do is written at the end, or not at all.

        Raises
        ------
        InputError
            The log is damaged, another program holds it, or it cannot be written.
        """
        begun = self._position
        try:
            with self._log.transaction() as transaction:
                self._catch_up(transaction)
                begun = self._position
                yield transaction
        except BaseException:
            if self._position != begun:  # of steps that are not written
                self._running = self._position = None
            raise

    @contextlib.contextmanager
    def _turn(self) -> Iterator[KeptTurn]:
        """Hold the log alone, be as far as it is, and append what happens in the block.

        On an error nothing is appended. Where something had been applied by then, the collection is
        read anew before the next turn.
        """
        with self._log.transaction() as transaction:
            self._catch_up(transaction)
            assert self._running is not None
            turn = KeptTurn(self._running, transaction)
            try:
                yield turn
                if self._apart and turn.applied and turn.running.refit_is_due():
                    ledger, turn.who = turn.running.ledger, "owner"
                    turn.apply(RefitBegun(len(ledger.labels) + len(ledger.gold_labels)))
                for who, event in turn.events:
                    transaction.append([event], who=who, origin=self.origin)
                if turn.applied:  # after an undo what runs is not what the events say
                    self._keep_snapshot(transaction)
            except BaseException:
                if turn.applied:
                    self._running = self._position = None
                raise
        if turn.events:
            self._position = transaction.end

    def _keep_snapshot(self, transaction: JournalTransaction[Event] | MemoryLog) -> None:
        """Keep a snapshot now and then, but not while a fit is begun, which it does not hold."""
        running, end = self._running, transaction.end.number
        assert running is not None
        if transaction.path is not None and end // EVERY > self._kept and running.refit is None:
            transaction.keep(MAKER, msgspec.msgpack.encode(running.opened()))
            self._kept = end // EVERY

    def _catch_up_now(self) -> None:
        with self._log.view() as view:
            self._catch_up(view)

    def _catch_up(self, view: EventLog) -> None:
        """Apply what others have done since the last turn."""
        if self._running is not None and self._position == view.end:
            return
        entries: Iterable[JournalEntry[Event]] = ()
        if self._running is not None:
            entries = list(view.since(self._position))
            if any(isinstance(entry.event, Undone) for entry in entries):
                self._running = None
        if self._running is None:
            self._running = replayed(view)
        else:
            running, self._running = self._running, None  # unless all can be applied
            for entry in entries:
                running.apply(entry.event)
            self._running = running
        if self._position is None:
            self._kept = view.end.number // EVERY
        self._position = view.end
        self._name_workers(view)

    def _name_workers(self, view: EventLog) -> None:
        assert self._running is not None
        names = [view.reveal(key) for key in self._running.names]
        self.workers = {}
        for place, name in enumerate(names):
            if name is None and place not in self._running.forgotten:
                raise InputError(
                    f"{self._log.path}: damaged, the name of worker {place} is missing; {MEND}"
                )
            self.workers[pseudonym(place, names) if name is None else name] = place
        setup = self._running.setup
        self.tasks = {task.name: place for place, task in enumerate(setup.tasks)}
        self.gold = {task.name: place for place, task in enumerate(setup.gold)}
        self.scale = None if setup.scale is None else Scale(*setup.scale)
        self.classes = (
            {} if self.scale else {label: code for code, (label, _) in enumerate(setup.classes)}
        )

    @property
    def _now(self) -> Running:
        """The collection as it stands in the log."""
        if self._running is None or not isinstance(self._log, MemoryLog):
            self._catch_up_now()
        assert self._running is not None
        return self._running

    def _as_it_stands(self) -> Self:
        """Give the collection as it is now, to be read alone, in any thread: it stays so."""
        still = copy.copy(self)
        still._running, still._log = self._now.as_it_stands(), MemoryLog()
        still._log.path = self._log.path
        for names in ("tasks", "gold", "workers", "classes"):
            setattr(still, names, dict(getattr(self, names)))
        return still

    @property
    def path(self) -> Path | None:
        """The journal that keeps it; None in memory."""
        return None if self._log.path is None else Path(self._log.path)

    @property
    def ledger(self) -> Ledger:
        """What was asked, answered and paid."""
        return self._now.ledger

    @property
    def policy(self) -> Policy:
        """Who decides; to look at, not to be asked."""
        return self._now.policy


class KeptTurn:
    """What happens while a collector holds the log alone, and by whom."""

    def __init__(self, running: Running, log: JournalTransaction[Event] | MemoryLog) -> None:
        self.running, self.log, self.who = running, log, "owner"
        self.events: list[tuple[str, Event]] = []
        self.asked: Asked | None = None
        self.applied = False

    def apply(self, event: Event) -> None:
        """Let something happen."""
        self.applied = True
        self.running.apply(event)
        self.events.append((self.who, event))

    def append_unapplied(self, event: Event) -> None:
        """Note what is only seen when the log is read anew."""
        self.events.append((self.who, event))

    def ask(self, worker: int | None, most: int | None, first: int | None, *, apart: bool) -> None:
        """Let the policy ask; see `Running.ask`."""
        self.applied = True
        self.asked = self.running.ask(worker, most, first, apart=apart)
        if self.asked is not None:
            self.events.append((self.who, self.asked))


def pseudonym(place: int, names: Sequence[Id | None]) -> str:
    """Name of a worker whose own is no more, which nobody else has."""
    name = f"forgotten worker {place + 1}"
    while name in names:
        name += "*"
    return name
