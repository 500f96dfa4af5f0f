"""What happened in a collection, in names and words."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import pandas as pd

from workbench.base.journal_events import Event
from workbench.base.state import Id, Label, check
from workbench.base.text import counted
from workbench.collection.events import (
    Arrived,
    Asked,
    Audited,
    AuditPlanned,
    Changed,
    Expected,
    Forgotten,
    GivenUp,
    Halted,
    Joined,
    Lapsed,
    Left,
    OnRecord,
    Opened,
    Rated,
    RefitBegun,
    RefitTaken,
    Reworded,
    TakenBack,
    Told,
    Undone,
)
from workbench.collection.log import EventLog
from workbench.crowd.reading import as_text

COLUMNS = ["number", "time", "who", "origin", "event", "details", "undone"]


class Names(NamedTuple):
    """Names by place."""

    tasks: list[Id]
    gold: list[Id]
    workers: list[Id]
    classes: list[Label]

    def task(self, is_gold: int, place: int) -> str:
        """Name of a task or a gold task."""
        names = self.gold if is_gold else self.tasks
        return str(names[place]) if place < len(names) else f"task {place}"

    def label(self, said: int | float) -> str:
        """Name of a class by its place; a rating is a number itself."""
        return as_text(said if isinstance(said, float) else self.classes[said])

    def worker(self, place: int) -> str:
        """Name of a worker."""
        return str(self.workers[place]) if place < len(self.workers) else f"worker {place}"

    def who(self, role: str) -> str:
        """Name of the worker whom an entry names by her place; other roles stay."""
        word, _, place = role.partition(" ")
        return self.worker(int(place)) if word == "worker" and place.isdecimal() else role


def history_table(log: EventLog, names: Names, most: int | None = None) -> pd.DataFrame:
    """One row an event, the latest `most`: `number, time, who, origin, event, details, undone`."""
    rows, undone = [], set[int]()
    before = None if most is None else log.position(max(log.end.number - most, 0))
    for entry in log.since(before):
        if isinstance(entry.event, Undone):
            undone |= set(range(entry.event.first, entry.event.last + 1))
        rows.append(
            {
                "number": entry.position.number,
                "time": entry.time,
                "who": names.who(entry.who),
                "origin": entry.origin,
                "event": entry.event.kind,
                "details": in_words(entry.event, names),
            }
        )
    for row in rows:
        row["undone"] = row["number"] in undone
    return pd.DataFrame(rows, columns=COLUMNS)


def in_words(event: Event, names: Names) -> str:
    """What an event holds."""
    words = ""
    match event:
        case Opened():
            setup = event.setup
            words = f"{len(setup.tasks)} tasks, {len(setup.hands)} workers, {setup.policy}"
        case Asked():
            asks = (f"{names.worker(who)}: {names.task(g, at)}" for g, at, who in event.asks)
            words = ", ".join(asks) or "nothing to ask"
        case Told() | Rated():
            labels = (
                f"{names.task(gold, at)} = {names.label(label)}" for gold, at, label in event.labels
            )
            words = f"{names.worker(event.worker)}: {', '.join(labels)}"
        case GivenUp() | Lapsed() | TakenBack():
            pairs = ", ".join(names.task(gold, at) for gold, at in event.pairs)
            words = f"{names.worker(event.worker)}: {pairs}"
        case Reworded():
            words = ", ".join(names.task(gold, at) for gold, at in event.tasks)
        case Halted():
            words = event.state or "asking again"
        case Joined() | Left() | Forgotten():
            words = names.worker(event.worker)
        case Arrived():
            words = ", ".join(str(task.name) for task in event.tasks)
        case OnRecord():
            words = f"{len(event.labels)} labels, {len(event.gold_labels)} gold labels"
        case Changed():
            terms = ("epsilon", "total", "least", "most")
            words = ", ".join(f"{term} {getattr(event, term)}" for term in terms)
        case RefitBegun() | RefitTaken():
            words = f"by {event.labels} labels"
        case _:
            words = _of_history(event)
    return words


def _of_history(event: Event) -> str:
    """What is said of other events: undone, expected, audited."""
    if isinstance(event, Undone):
        return f"events {event.first} to {event.last}"
    if isinstance(event, Expected):
        return f"{counted(len(event.hands), 'more worker')} may come"
    if isinstance(event, AuditPlanned):
        return f"at most {event.error:g} wrong, risk {event.risk:g}, {event.price:g} a check"
    if not isinstance(event, Audited):
        return ""
    return (
        f"audit {event.number + 1} {event.stage}: {event.checks} checks, {event.errors} wrong "
        f"answers, {event.bound} more at most"
    )


def told_at(log: EventLog) -> dict[tuple[int, int, int], list[tuple[int, datetime]]]:
    """When each label was told: number and time of its event, by gold or not, task and worker.

    Of a pair that is asked about again all are there, in order; labels taken back are not.
    """
    undone = set[int]()
    for entry in log.since(None):
        if isinstance(entry.event, Undone):
            undone |= set(range(entry.event.first, entry.event.last + 1))
    told: dict[tuple[int, int, int], list[tuple[int, datetime]]] = {}
    for entry in log.since(None):
        number, event = entry.position.number, entry.event
        if number in undone:
            continue
        if isinstance(event, Told | Rated):
            for gold, task, _ in event.labels:
                told.setdefault((gold, task, event.worker), []).append((number, entry.time))
        elif isinstance(event, TakenBack):
            for gold, task in event.pairs:
                told.get((gold, task, event.worker), [(0, entry.time)]).pop()
    return told


def taking_back(log: EventLog, many: int) -> Undone:
    """The event that takes the last so many events back.

    Raises
    ------
    InputError
        There are fewer, or an audit is among them.
    """
    numbers, audits, last = list[int](), set[int](), 0
    for entry in log.since(None):
        if isinstance(entry.event, Undone):
            first = entry.event.first
            numbers = [number for number in numbers if number < first]
        elif not isinstance(entry.event, Opened):
            last = entry.position.number
            if not isinstance(entry.event, RefitBegun | RefitTaken):
                numbers.append(last)
            if isinstance(entry.event, AuditPlanned | Audited):
                audits.add(last)
    check(many <= len(numbers), f"undo {many}: only {len(numbers)} events can be taken back")
    check(
        audits.isdisjoint(numbers[-many:]),
        f"undo {many}: an audit was among them, and its share of the risk is spent",
    )
    return Undone(numbers[-many], last)
