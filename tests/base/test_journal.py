"""A journal: what is appended stays, what is not as it was written is refused with its place."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, ClassVar

import pytest
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


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toys.sqlite"


def begin(path, count=0):
    """A closed journal of `count` labels after its first event."""
    with Journal.create(path, KIND, [Opened(0.1)], **BY) as journal:
        for task in range(count):
            append(journal, Told(task, "ä\n"))
    return path


def append(journal, *events):
    with journal.transaction() as transaction:
        return transaction.append(events, **BY)


def entries(path, kind=KIND):
    with Journal.open(path, kind) as journal, journal.view() as view:
        return list(view.since())


# ---- what is written is read ----


def test_events_are_read_as_they_were_written(path):
    time = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
    with Journal.create(path, KIND, [Opened(0.25)], time=time, **BY) as journal:
        end = append(journal, Told(1, 'q"\u2028\x00'), Told(2, None))
        with journal.view() as view:
            first, second, third = view.since()
            assert view.end == third.position == end
            assert list(view.since(second.position)) == [third]
            assert list(view.since(end)) == []
    assert first.event == Opened(0.25)
    assert (first.time, first.who, first.origin) == (time, "owner", "test")
    assert [second.event, third.event] == [Told(1, 'q"\u2028\x00'), Told(2, None)]
    assert entries(path) == [first, second, third]
    with Journal.open(path, KIND) as journal:
        assert journal.verify() == end


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (Told("1", None), r"^told\.task: Expected int, got str$"),
        (Told(-1, None), r"^told\.task: Expected int >= 0$"),
        (Told(1, "\ud800"), r"^told: cannot be written as JSON"),
        (Opened(float("nan")), r"^opened\.goal: Expected float, got null$"),
        ("told", r"^str is no event of a toys journal$"),
    ],
)
def test_an_event_that_is_not_as_declared_is_not_appended(path, event, message):
    begin(path)
    with Journal.open(path, KIND) as journal:
        with pytest.raises(InputError, match=message):
            append(journal, Told(5, "a"), event)
        assert journal.verify().number == 1


def test_an_error_in_a_transaction_takes_back_what_it_appended(path):
    begin(path, 2)
    before = entries(path)
    with Journal.open(path, KIND) as journal:
        with pytest.raises(KeyError), journal.transaction() as transaction:
            transaction.append([Told(9, None)], **BY)
            raise KeyError
        append(journal, Told(3, "b"))
    assert entries(path)[:3] == before
    assert [entry.event for entry in entries(path)[3:]] == [Told(3, "b")]
