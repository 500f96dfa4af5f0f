"""Putting what is damaged aside, and going on with the rest.

Damaged rows of a sound file are moved into its table `quarantine`. A file that SQLite cannot
read is renamed, and each row whose checksum holds is carved out of its pages into a new store.
Either way the trials concerned are remembered and not run again unasked.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from workbench.base.errors import InputError
from workbench.studies import shards
from workbench.studies.environment import Environment
from workbench.studies.records import TrialRow, checksum
from workbench.studies.store import (
    PAGE,
    Damage,
    NewerStoreError,
    Quarantined,
    Store,
    StoreError,
    locked,
)
from workbench.studies.study_plan import StudyPlan

LISTED = 10
"""Entries that are told one by one."""
Cell: TypeAlias = tuple[int, tuple[Any, ...]]
"""A row's number, and its values without it."""


def quarantine(path: Path | str) -> list[str]:
    """Put what is damaged in a store or shard aside; say in a few lines what was done.

    Raises
    ------
    InputError
        When another process writes to it, it cannot be written, or no trial is found in it.
    """
    path = Path(path)
    if not path.is_file():
        raise StoreError(f"{path}: no such store")
    if path.suffix == shards.SUFFIX:
        return _rewrite_shard(path)
    locked(path).release()  # refused now, or else when half of it is done
    try:
        with Store.open(path, check=False) as store:  # for reading: a file past help is kept as is
            damages = list(store.damages())
    except NewerStoreError:
        raise
    except StoreError:
        return _rebuild(path)
    if not damages:
        return [f"{path}: nothing is damaged"]
    if any(one.table == "file" for one in damages):
        return _rebuild(path)
    with Store.open(path, write=True, check=False) as store:
        return _move_rows(store, damages)


# Damaged rows of a sound file.


def _move_rows(store: Store, damages: Sequence[Damage]) -> list[str]:
    entries: list[Quarantined] = []
    last = _last_finals(store)
    with store.transaction() as db:
        # Of what was put aside before, nothing is lost: it is sealed again.
        for one in damages:
            (values,) = db.execute(f"SELECT * FROM {one.table} WHERE rowid = ?", (one.id,))
            if one.table == "attempts":
                entries += _entries(one.id, values[1:-1], last)
            elif one.table == "quarantine":
                entries += _again(values[1:-1])
            else:
                entries.append(_entry("", "", f"damaged row of {one.table}", values))
            db.execute(f"DELETE FROM {one.table} WHERE rowid = ?", (one.id,))
        store.put_aside(entries)
    return _told(store.path, entries)


def _told(path: Path, entries: Sequence[Quarantined]) -> list[str]:
    keys = {entry.key for entry in entries if entry.key and not entry.redone}
    return [
        f"{path}: trials put in quarantine, their records damaged or lost: {len(keys):,}; to run "
        "them again: workbench study run NAME --redo-quarantined",
        *(f"  {entry.study or '?'} {entry.key[:12]}: {entry.reason}" for entry in entries[:LISTED]),
        *([f"  and {len(entries) - LISTED:,} more"] if len(entries) > LISTED else []),
    ]


def _last_finals(store: Store) -> dict[str, int]:
    """Where the last sound final attempt of each key is."""
    columns = ", ".join(TrialRow._fields)
    with store.transaction() as db:
        found = db.execute(f"SELECT id, {columns}, checksum FROM attempts WHERE final ORDER BY id")
        return {values[0]: id_ for id_, *values, seal in found if seal == checksum(values)}


def _entries(id_: int, values: Sequence[Any], last: Mapping[str, int]) -> list[Quarantined]:
    """Make an entry for each trial that a damaged attempt may belong to.

    A trial with a later sound record needs none: that one stands, whatever the attempt was.
    """
    reason = "the row of its record does not match its checksum"
    study = str(values[1]) if len(values) > 1 else ""
    keys = sorted(key for key in _candidates(values) if last.get(key, id_) <= id_)
    return [_entry(key, study, reason, values) for key in keys or [""]]


def _again(values: Sequence[Any]) -> list[Quarantined]:
    """Seal a damaged entry anew, for each trial it may belong to."""
    key, study, reason, row, *_ = map(str, values)
    with contextlib.suppress(ValueError):
        keys = _candidates(json.loads(row)) | _candidates([key])
        return [_entry(one, study, f"{reason} (damaged again)", [row]) for one in sorted(keys)]
    return [_entry(key, study, f"{reason} (damaged again)", [row])]


def _entry(key: str, study: str, reason: str, values: Sequence[Any]) -> Quarantined:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Quarantined(key, study, reason, json.dumps(list(values), default=repr), now, "")


def _candidates(values: Sequence[Any]) -> set[str]:
    """Keys that a damaged row may have: the one it has, and the one its contents make."""
    keys = set()
    if values and re.fullmatch("[0-9a-f]{64}", str(values[0])):
        keys.add(str(values[0]))
    with contextlib.suppress(ValueError, TypeError, AttributeError, OverflowError):
        keys.add(TrialRow(*values).trial.key)
    return keys


# A file that cannot be read as a whole.


def _rebuild(path: Path) -> list[str]:
    lock = locked(path)
    try:
        rows, environments, plans, aside, damaged = _sort(_cells(path))
        if not rows and not plans:
            raise StoreError(
                f"{path}: no trial is found in it; it is not a store or nothing is left of it, "
                "delete or rename it"
            )
        at = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        kept = path.with_name(f"{path.name}.damaged-{at}")
        new = path.with_name(f"{path.name}.salvaged")
        new.unlink(missing_ok=True)
        last = {row.key: id_ for id_, row in rows if row.final}
        entries = [*aside, *(e for id_, values in damaged for e in _entries(id_, values, last))]
        with Store.open(new, write=True) as store:
            with store.transaction():
                for plan in plans:
                    store.remember(plan)
                store.append((row for _, row in rows), environments)
                store.put_aside(entries)
            lost, notes = _lost(store, plans)
            store.put_aside(lost)
        new.with_name(f"{new.name}.lock").unlink(missing_ok=True)
        for ending in ("-wal", "-shm", "-journal"):
            beside = path.with_name(path.name + ending)
            if beside.exists():
                beside.replace(kept.with_name(kept.name + ending))
        path.replace(kept)
        new.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        lock.release()
    return [
        f"{path}: {len(rows):,} sound rows were carved out of it into a new store, the damaged "
        f"file is kept as {kept.name}",
        *_told(path, [*entries, *lost]),
        *notes,
    ]


def _sort(
    cells: Iterator[Cell],
) -> tuple[
    list[tuple[int, TrialRow]],
    dict[str, Environment],
    list[StudyPlan],
    list[Quarantined],
    list[Cell],
]:
    """Tell from each carved row what it is, and whether its checksum holds."""
    rows: dict[tuple[int, str], TrialRow] = {}
    environments: dict[str, Environment] = {}
    plans: dict[str, tuple[int, StudyPlan]] = {}
    aside: dict[Quarantined, None] = {}
    damaged: dict[Cell, None] = {}
    for id_, values in cells:
        if len(values) == len(TrialRow._fields) + 2:
            _, *content, seal = values
            if seal == checksum(content):
                rows[id_, str(seal)] = TrialRow._make(content)
            else:
                damaged[id_, tuple(content)] = None
        elif len(values) == len(Quarantined._fields) + 2:
            _, *content, seal = values
            sound = seal == checksum(content)
            entries = [Quarantined._make(content)] if sound else _again(content)
            aside |= dict.fromkeys(entries)
        elif len(values) == 2 and values[0] == hashlib.sha256(str(values[1]).encode()).hexdigest():
            with contextlib.suppress(TypeError, KeyError):
                plans[values[0]] = id_, StudyPlan.read(values[1])
                continue
            environments[values[0]] = Environment.read(values[1])
    ordered = sorted(rows.items(), key=lambda item: item[0])
    return (
        [(id_, row) for (id_, _), row in ordered],
        environments,
        [plan for _, plan in sorted(plans.values(), key=lambda pair: pair[0])],
        list(aside),
        list(damaged),
    )


def _lost(store: Store, plans: Sequence[StudyPlan]) -> tuple[list[Quarantined], list[str]]:
    """Trials that were planned and are not there: whether they had been run nobody knows."""
    reason = "not found in the damaged file: lost with it, or never run"
    entries, notes = {}, []
    for plan in plans:
        try:
            planned = {trial.key for trial in plan.trials()}
        except InputError as error:
            notes.append(f"which trials of {plan.study} are lost cannot be told ({error})")
            continue
        known = set(store.finished(plan.study, plan.version)) | set(store.quarantined(plan.study))
        for key in sorted(planned - known):
            entries[key] = _entry(key, plan.study, reason, [])
    return list(entries.values()), notes


def _cells(path: Path) -> Iterator[Cell]:
    """Carve the rows of all tables out of a file's pages.

    Trusts nothing but the layout of a page (SQLite's file format, sections 1.6 and 2.1): neither
    the header, nor the tree that joins pages, nor the schema.
    """
    data = path.read_bytes()
    pages = {at // PAGE + 1: data[at : at + PAGE] for at in range(0, len(data), PAGE)}
    for page in pages.values():
        yield from _leaf(page, pages)


def _leaf(page: bytes, pages: dict[int, bytes]) -> Iterator[Cell]:
    """Read the cells of a table's leaf; nothing of a page of another kind."""
    page = page.ljust(PAGE, b"\0")  # where the file is cut off
    if page[0] != 13:
        return
    (count,) = struct.unpack_from(">H", page, 3)
    for place in range(8, min(8 + 2 * count, PAGE - 1), 2):
        (at,) = struct.unpack_from(">H", page, place)
        with contextlib.suppress(IndexError, struct.error, KeyError, ValueError):
            size, at = _varint(page, at)
            id_, at = _varint(page, at)
            yield id_, tuple(_values(_payload(page, at, size, pages)))


def _payload(page: bytes, at: int, size: int, pages: dict[int, bytes]) -> bytes:
    """Join what a cell holds with what spilled over to other pages."""
    most, least = PAGE - 35, (PAGE - 12) * 32 // 255 - 23
    if size <= most:
        return page[at : at + size]
    local = least + (size - least) % (PAGE - 4)
    local = local if local <= most else least
    payload = page[at : at + local]
    (following,) = struct.unpack_from(">I", page, at + local)
    seen = set()
    while len(payload) < size:
        if following in seen:
            raise ValueError("a chain of pages that bites its tail")
        seen.add(following)
        (after,) = struct.unpack_from(">I", pages[following])
        payload += pages[following][4 : 4 + size - len(payload)]
        following = after
    return payload


def _values(payload: bytes) -> Iterator[Any]:
    """Read the values of a record."""
    header, at = _varint(payload, 0)
    body = header
    while at < header:
        kind, at = _varint(payload, at)
        if kind == 0:
            yield None
        elif kind in (8, 9):
            yield kind - 8
        elif kind == 7:
            yield struct.unpack_from(">d", payload, body)[0]
            body += 8
        elif kind <= 6:
            width = (1, 2, 3, 4, 6, 8)[kind - 1]
            yield int.from_bytes(payload[body : body + width], "big", signed=True)
            body += width
        else:
            width = (kind - 12) // 2
            if kind < 12 or body + width > len(payload):
                raise ValueError("a value longer than its row")
            value = payload[body : body + width]
            yield value.decode("utf-8", "backslashreplace") if kind % 2 else value
            body += width


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(8):
        byte = data[at + step]
        value = value << 7 | byte & 127
        if byte < 128:
            return value, at + step + 1
    return value << 8 | data[at + 8], at + 9


# A shard's file.


def _rewrite_shard(path: Path) -> list[str]:
    """Write the lines that are sound, then the others as entries of the quarantine."""
    lock = locked(path)
    try:
        sound, damaged = shards.split(path)
        if not sound:
            raise StoreError(f"{path}: no line of a shard is found in it; delete or rename it")
        if not damaged:
            return [f"{path}: nothing is damaged"]
        last = {
            values[0]: number
            for number, kind, values in sound
            if kind == "attempt" and TrialRow(*values).final
        }
        entries = [
            _entry(key, "", "its line does not match its checksum", [text])
            for number, text in damaged
            for key in sorted(_keys_in(text)) or [""]
            if last.get(key, number) <= number
        ]
        shards.rewrite(path, [(kind, values) for _, kind, values in sound], entries)
    finally:
        lock.release()
    return _told(path, entries)


def _keys_in(text: str) -> set[str]:
    """Keys that a damaged line may hold."""
    kind, values = shards.with_one_bit_flipped(text)
    if kind:
        return {values[0]} if kind == "attempt" else set()
    with contextlib.suppress(ValueError, TypeError, IndexError, KeyError):
        return _candidates(json.loads(text)[1])
    return set(re.findall("[0-9a-f]{64}", text))
