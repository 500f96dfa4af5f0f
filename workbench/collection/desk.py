"""What programs in which people label need beside a `Collector`: a server, Label Studio."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import cast

import msgspec

from workbench.base import checks
from workbench.base.journal_events import Event, Position
from workbench.base.journal_view import JournalTransaction
from workbench.base.state import Id, Label, check, find
from workbench.collection.collector import Collector, Question
from workbench.collection.events import Asked, Lapsed, RefitTaken, Reworded, Told
from workbench.collection.hearing import hear, label_before
from workbench.collection.log import MemoryLog
from workbench.collection.refits import Refit
from workbench.collection.running import Running
from workbench.collection.setup import Listed, PerTask, Triple
from workbench.crowd.libraries import to_pandas

LATELY = 2000
"""Events that are looked at for a worker's last answers."""
SCANNED = 20_000
"""Events that are looked at for questions asked before."""


class Desk:
    """A collection, as a program sees it that people label in.

    Parameters
    ----------
    collector
        Opened with `refits_apart` where fits are made beside it.

    Raises
    ------
    InputError
        Its labels are ratings: pages and queues have buttons for classes alone.
    """

    def __init__(self, collector: Collector) -> None:
        check(
            collector.scale is None,
            "ratings are not collected on pages or in Label Studio yet: ask by 'workbench collect "
            "next', and tell what comes",
        )
        self.collector = collector

    def outlook(self, most: int) -> list[tuple[Id, bool]]:
        """Say about which tasks would be asked next, of anybody, if nobody answered meanwhile.

        Nothing is asked: it is for programs that show tasks to whoever is there. Whoever may still
        come is taken to be here.

        Parameters
        ----------
        most
            Questions at most.

        Returns
        -------
        Task, and whether it is a gold task, of each question, in the policy's order; empty where
        nothing more would be asked.

        Raises
        ------
        InputError
            The policy takes workers, or tasks, as they arrive.
        """
        now, asks = self.collector._now, list[Triple]()
        check(
            not now.policy.streams,
            f"policy {now.setup.policy} takes tasks as they arrive, each with its workers: where "
            "workers choose, take until-trusted",
        )
        if now.halted:
            return []
        opened = now.opened()
        coming = [f"coming {place}" for place in range(len(opened.names), len(now.setup.hands))]
        copy = Running(msgspec.structs.replace(opened, names=(*opened.names, *coming)))
        while len(asks) < most:
            event = copy.ask(None, most - len(asks), None)
            if event is None or not event.asks:
                break
            asks += event.asks
        names = list(self.collector.tasks), list(self.collector.gold)
        return [(names[gold][task], bool(gold)) for gold, task, _ in asks]

    def as_it_stands(self) -> Collector:
        """Give the collection as it is now, to be read alone, in any thread: it stays so."""
        return self.collector._as_it_stands()

    @property
    def position(self) -> Position | None:
        """Position of its journal's last event."""
        with self.collector._log.view() as view:
            return view.end

    def volunteered(self, labels: Mapping[Id, PerTask]) -> None:
        """Take labels of workers who choose tasks themselves: by worker, as for `tell_all`.

        They are paid, whether they were asked for or not, and count beyond a worker's capacity.

        Raises
        ------
        InputError
            As for `tell_all`, but that nobody need have been asked; or the policy wants labels of
            those alone whom it asked.
        """
        hear(self.collector, labels, unasked=True)

    def open_since(self, position: Position | None) -> tuple[dict[Triple, datetime], Position]:
        """Say when questions were asked by whoever has this collection open, by its `origin`.

        Parameters
        ----------
        position
            In its journal, as given back before; those asked earlier are left out. None at first:
            then those are looked for that `SCANNED` events name.

        Returns
        -------
        Gold (1) or not, task and worker of each, and the time; and where the journal ends.
        """
        asked: dict[Triple, datetime] = {}
        with self.collector._log.view() as view:
            if position is None:
                position = view.position(max(view.end.number - SCANNED, 0))
            for entry in view.since(position):
                if entry.origin == self.collector.origin and isinstance(entry.event, Asked):
                    asked |= dict.fromkeys(entry.event.asks, entry.time)
            end = view.end
        return asked, end

    def answered_lately(self, worker: Id, most: int) -> list[tuple[Question, Id]]:
        """Give a worker's last answers that still count, the latest last; of `LATELY` events.

        Parameters
        ----------
        most
            Answers at most.
        """
        place = self.collector.workers.get(worker)
        last: dict[tuple[int, int], int] = {}
        with self.collector._log.view() as view:
            for entry in view.since(view.position(max(view.end.number - LATELY, 0))):
                if isinstance(entry.event, Told) and entry.event.worker == place:
                    for gold, task, label in entry.event.labels:
                        last.pop((gold, task), None)
                        last[gold, task] = label
        if place is None:
            return []
        ledger = self.collector.ledger
        classes = cast("list[Label]", list(self.collector.classes))  # no desk collects ratings
        names = list(self.collector.tasks), list(self.collector.gold)
        still = [
            (Question(names[gold][task], worker, bool(gold)), classes[label])
            for (gold, task), label in last.items()
            if label_before(ledger, bool(gold), task, place) == label
        ]
        return still[-most:]

    def lapse(self, asked: Collection[Triple]) -> int:
        """Let questions be open no more: they may be asked again, and may still be answered.

        Returns
        -------
        How many of them were open still.
        """
        many = 0
        with self.collector._turn() as turn:
            for worker, waiting in list(turn.running.waiting.items()):
                pairs = [
                    (int(gold), task)
                    for gold, task in waiting
                    if (int(gold), task, worker) in asked
                ]
                if pairs:
                    turn.apply(Lapsed(worker, tuple(pairs)))
                    many += len(pairs)
        return many

    def together(self) -> AbstractContextManager[JournalTransaction[Event] | MemoryLog]:
        """Hold the log alone over several steps: what they do is written at the end, or not at all.

        Raises
        ------
        InputError
            The log is damaged, another program holds it, or it cannot be written.
        """
        return self.collector._together()

    def empty_log(self) -> bool:
        """Empty the log beside the journal, which has names that were deleted; whether it could."""
        log = self.collector._log
        return isinstance(log, MemoryLog) or log.empty_log()

    def reworded(self, tasks: Listed) -> None:
        """Note in the history that what people are shown of tasks was corrected.

        Raises
        ------
        InputError
            A task that is not here.
        """
        pairs: list[tuple[int, int]] = []
        for task in to_pandas(tasks):
            gold = find(self.collector.tasks, task) is None
            at = find(self.collector.gold if gold else self.collector.tasks, task)
            check(at is not None, f"task {checks.show(task)} is no task here")
            pairs.append((int(gold), int(at)))
        if pairs:
            with self.collector._turn() as turn:
                turn.apply(Reworded(tuple(pairs)))

    @property
    def keys(self) -> dict[str, Id]:
        """Name, or pseudonym, of each worker by the key that stands for her in the journal."""
        return dict(zip(self.collector._now.names, self.collector.workers, strict=True))

    @property
    def refit_begun(self) -> Refit | None:
        """A fit that the last step began, or one before: make it, and give it to `adopt`.

        Only where the collection was opened with `refits_apart`, and its policy fits.
        """
        return None if self.collector._running is None else self.collector._running.refit

    def adopt(self, refit: Refit) -> None:
        """Let the policy take a fit, unless it is not wanted any more."""
        refit.fitted()  # before the turn, in which everybody waits
        with self.collector._turn() as turn:
            if turn.running.refit is refit:
                turn.who = "owner"
                turn.apply(RefitTaken(refit.labels))
