"""What a journal holds: events of declared types, each with a checksum over itself and the past.

    checksum(n) = SHA-256 of checksum(n − 1) followed by the line
                  [n,"time","who","origin","kind",payload]

Checksums are 64 hexadecimal digits; the line is JSON in UTF-8 without spaces, the payload as it is
stored. Before the first event stands the SHA-256 of ["journal",format,"kind",version,"id"].
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import msgspec

from workbench.base.errors import InputError


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that happened. Subclasses name their `kind` and declare types and ranges.

    What may have to be forgotten, as a person's name, is never a field: `Transaction.withhold`
    gives a digest to stand in its place.
    """

    kind: ClassVar[str]


E = TypeVar("E", bound=Event)


class Position(NamedTuple):
    """A place in a journal: how many events stand before it, and the checksum of the last."""

    number: int
    checksum: str


class JournalEntry(NamedTuple, Generic[E]):
    """An event as it stands in a journal.

    `who` is a role or the number of a person, never a name; `origin` is where it came from
    (command, page, …). `time` is what the clock said, which may have been set back: the order of
    events is their number.
    """

    position: Position
    time: datetime
    who: str
    origin: str
    event: E


class Row(NamedTuple):
    """An entry as it is stored, without its checksum."""

    number: int
    time: str
    who: str
    origin: str
    kind: str
    payload: str


@dataclass(frozen=True)
class JournalKind(Generic[E]):
    """A kind of journal.

    Attributes
    ----------
    name
        Of the kind, as "collection".
    version
        Of its events; raised when a type of event is added or comes to hold more. Journals of
        earlier versions are read as well: their events must be.
    events
        Types of its events.
    """

    name: str
    version: int
    events: tuple[type[E], ...]

    @cached_property
    def _decoders(self) -> Mapping[str, msgspec.json.Decoder[E]]:
        return {kind.kind: msgspec.json.Decoder(kind) for kind in self.events}

    def encode(self, event: E) -> tuple[str, str]:
        """Give kind and payload, in canonical JSON: fields in their order, no spaces.

        Raises
        ------
        InputError
            It is not of a declared type, or a field is not as declared. The line names it.
        """
        if type(event) not in self.events:
            raise InputError(f"{type(event).__name__} is no event of a {self.name} journal")
        kind = event.kind
        try:
            payload = _ENCODER.encode(event)
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise InputError(f"{kind}: cannot be written as JSON, {_one_line(error)}") from None
        as_read = self._decode(kind, payload)
        if as_read != event:  # as NaN, which becomes null
            raise InputError(f"{kind}: is not read back as it was written: mend its numbers")
        return kind, _ENCODER.encode(as_read).decode()  # 1.0 where a float was given as 1

    def decode(self, kind: str, payload: str) -> E:
        """Read a payload.

        Raises
        ------
        InputError
            An unknown kind, or a field is not as declared. The line names it.
        """
        if kind not in self._decoders:
            raise InputError(f"kind {kind!r:.60} is not known to this workbench: use a newer one")
        return self._decode(kind, payload.encode())

    def _decode(self, kind: str, payload: bytes) -> E:
        try:
            return self._decoders[kind].decode(payload)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            problem, _, place = _one_line(error).partition(" - at $")
            raise InputError(f"{kind}{place}: {problem}") from None


_ENCODER = msgspec.json.Encoder(order="deterministic")
_TYPES = (int, *[str] * 5)


def canonical(value: Any) -> bytes:
    """Write a value as JSON in UTF-8: keys in order, no spaces."""
    return _ENCODER.encode(value)


def digest(*parts: bytes | str) -> str:
    """SHA-256 of parts that follow each other, as 64 hexadecimal digits."""
    return hashlib.sha256(
        b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    ).hexdigest()


def chained(before: str, row: Row) -> str:
    """Checksum of an entry that follows another.

    Raises
    ------
    ValueError
        A stored value is not of its type.
    """
    if tuple(map(type, row)) != _TYPES:
        raise ValueError("a value is not of its type")
    line = _ENCODER.encode((*row[:-1], msgspec.Raw(row.payload.encode())))
    return hashlib.sha256(before.encode() + line).hexdigest()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).replace("`", "").split())[:300]
