"""A small kind of journal, and what other processes do to one."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, ClassVar

from msgspec import Meta

from workbench.base.errors import InputError
from workbench.base.journal import Journal
from workbench.base.journal_events import Event, JournalKind


class Opened(Event, frozen=True):
    kind: ClassVar[str] = "opened"
    goal: float


class Told(Event, frozen=True):
    kind: ClassVar[str] = "told"
    task: Annotated[int, Meta(ge=0)]
    label: str | None


KIND: JournalKind[Opened | Told] = JournalKind("toys", 1, (Opened, Told))
BY = {"who": "owner", "origin": "test"}


def begin(path, count=0):
    """A closed journal of `count` labels after its first event."""
    with Journal.create(path, KIND, [Opened(0.1)], **BY) as journal:
        append(journal, *(Told(task, f"ä{task}\n") for task in range(count)))
    return path


def append(journal, *events):
    with journal.transaction() as transaction:
        return transaction.append(events, **BY)


def entries(path, kind=KIND):
    with Journal.open(path, kind) as journal, journal.view() as view:
        return list(view.since())


def refusal(path, kind=KIND):
    """The line by which a journal is refused, as it is opened, read or verified."""
    import pytest  # slow to start, and not for children

    with pytest.raises(InputError) as refused:  # noqa: PT012
        entries(path, kind)
        with Journal.open(path, kind) as journal:
            journal.verify()
    line = str(refused.value)
    assert "\n" not in line
    assert len(line) < 500 + 2 * len(str(path))
    return line


def say(text):
    """Write at once: a kill cannot keep back what has been told."""
    os.write(1, f"{text}\n".encode())


def count_up(path, many):
    """Append the number of events that are there, each time in a transaction, and tell it."""
    with Journal.open(path, KIND) as journal:
        say("begun")
        for _ in range(many):
            with journal.transaction() as transaction:
                number = sum(1 for _ in transaction.since())
                transaction.append([Told(number, sys.argv[1])], **BY)
            say(number)


def keep_on(path):
    """Append one to three events a transaction and tell how many there are, until killed."""
    with Journal.open(path, KIND) as journal:
        while True:
            with journal.transaction() as transaction:
                number = transaction.end.number
                events = [Told(number + k, "x" * (number % 5000)) for k in range(1 + number % 3)]
                transaction.append(events, **BY)
                if number % 10 == 0:
                    transaction.keep("toy", b"y" * number)
            say(transaction.end.number)


def create(path):
    say("begun")
    sys.stdin.readline()
    try:
        Journal.create(path, KIND, [Opened(0.5)], **BY).close()
        say("created")
    except InputError as error:
        say(error)


def write_as_nobody(path):
    """Open and append where neither file nor folder may be written."""
    if os.getuid() == 0:
        os.setuid(65534)
    for make in (
        lambda: append(Journal.open(path, KIND), Told(1, None)),
        lambda: Journal.create(path.with_name("new.sqlite"), KIND, [Opened(0.5)], **BY),
    ):
        try:
            make()
            say("written")
        except InputError as error:
            say(error)


if __name__ == "__main__":
    path = Path(sys.argv[2])
    {
        "count": lambda: count_up(path, 40),
        "keep-on": lambda: keep_on(path),
        "create": lambda: create(path),
        "nobody": lambda: write_as_nobody(path),
    }[sys.argv[1].rstrip("12")]()
