"""The head of a journal: how many events it has and the last checksum, in a file beside it.

One line of fixed length, written in place: count, checksum, and a digest of both. It needs no room
on a full disk, and lies within one sector, so that a power cut leaves the old line or the new one.
It is not synced: after a power cut it may be an older one, never a newer one, for the journal is on
the disk before the head is written.
"""

from __future__ import annotations

import time
from pathlib import Path

from workbench.base.database import PRIVATE
from workbench.base.errors import InputError
from workbench.base.journal_events import Position, digest
from workbench.base.writing import read_whole, refuse_special, write_whole

_TRIES = 20
"""Reads before a line is taken for damaged: another may be writing it."""


def head_path(journal: Path) -> Path:
    """Name the file of the head."""
    return journal.with_name(journal.name + ".head")


def begin_head(journal: Path, position: Position) -> None:
    """Write the first head.

    Raises
    ------
    InputError
        It cannot be written.
    """
    path = head_path(journal)
    try:
        write_whole(path, _line(position), PRIVATE)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None


def write_head(journal: Path, position: Position) -> None:
    """Write a later head in place of the one there.

    Raises
    ------
    OSError
        It cannot be written.
    """
    path = head_path(journal)
    refuse_special(path)
    with path.open("r+b", buffering=0) as file:
        file.write(_line(position))


def read_head(journal: Path) -> Position:
    """Read the head.

    Raises
    ------
    InputError
        It is missing, cannot be read, or is damaged.
    """
    path = head_path(journal)
    for _ in range(_TRIES):
        try:
            line = read_whole(path)
        except FileNotFoundError:
            raise InputError(
                f"{path}: is missing, and without it nobody sees whether {journal.name} was cut: "
                "put it back from the same copy"
            ) from None
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
        parts = line.decode("ascii", "replace").split()
        if len(parts) == 3 and parts[0].isdecimal():
            position = Position(int(parts[0]), parts[1])
            if line == _line(position):
                return position
        time.sleep(0.001)
    raise InputError(f"{path}: damaged, put it back from the same copy as {journal.name}")


def _line(position: Position) -> bytes:
    text = f"{position.number:020d} {position.checksum}"
    return f"{text} {digest(text)[:16]}\n".encode()
