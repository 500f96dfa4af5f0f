"""Shards: parts of a run that know nothing of each other, and merging what they wrote.

For job arrays without a coordinator: `--shard 2/8` runs the trials whose key falls to shard 2,
and appends to a file of its own, which is safe on network file systems. A line is
`[kind, values, checksum]`. What a kill leaves of the last line is dropped; a damaged line further
up is refused until it has been put in quarantine, as in a store.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.base.errors import InputError
from workbench.studies.attempt import Outcome, Status
from workbench.studies.environment import Environment
from workbench.studies.records import REPEATABLE, TrialRow, checksum, row_of
from workbench.studies.store import (
    Damage,
    DamagedStoreError,
    NewerStoreError,
    Quarantined,
    Store,
    StoreError,
    locked,
    mend,
)
from workbench.studies.study_plan import StudyPlan

if TYPE_CHECKING:
    from filelock import FileLock

FORMAT = 1
SUFFIX = ".jsonl"
LONG = 8192
"""Bytes of a line beyond which not every bit is tried."""
KINDS = ("shard", "plan", "environment", "attempt", "quarantine")


def in_shard(key: str, index: int, count: int) -> bool:
    """Whether a trial falls to shard `index` of `count`, counted from 1.

    The key's digits decide, so that shards are of about one size, whatever the order.
    """
    return int(key, 16) % count == index - 1


def part_of(text: str) -> tuple[int, int]:
    """Read which shard of how many: I/N.

    Raises
    ------
    InputError
        For anything else, or I outside 1 … N.
    """
    index, slash, count = text.partition("/")
    if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise InputError(f"--shard {text}: write I/N with I from 1 to N, for example 2/8")
    return int(index), int(count)


@contextlib.contextmanager
def sink(store: Path | str, part: tuple[int, int] | None) -> Iterator[Store | Shard]:
    """Open what takes a run's outcomes: a store, or the file of one shard of it."""
    opened = Store.open(store, write=True) if part is None else Shard.open(store, *part)
    with opened:
        yield opened


class Shard:
    """A shard's file, as a sink of outcomes. Open it with `Shard.open` or `Shard.read`."""

    def __init__(self, path: Path, lock: FileLock | None) -> None:
        self.path = path
        self._lock = lock
        self._plans: dict[str, StudyPlan] = {}
        self._environments: dict[str, Environment] = {}
        self._statuses: dict[tuple[str, int], dict[str, Status]] = {}
        self._entries: list[Quarantined] = []
        self._end = 0
        self._file: int | None = None

    @classmethod
    def open(cls, store: Path | str, index: int, count: int) -> Self:
        """Open the file of one shard of a store for writing; make it where there is none.

        Raises
        ------
        InputError
            When it cannot be written, is damaged, or another process writes to it.
        """
        store = Path(store)
        path = store.with_name(f"{store.stem}.shard-{index}-of-{count}{SUFFIX}")
        lock = locked(path)
        try:
            if not path.exists():
                _make(path, [_line("shard", [index, count, FORMAT])])
            shard = cls(path, lock)
            shard._load()
            shard._file = os.open(path, os.O_WRONLY)
            os.ftruncate(shard._file, shard._end)  # what a kill left of the last line
            os.lseek(shard._file, shard._end, os.SEEK_SET)
        except BaseException as error:
            lock.release()
            if isinstance(error, OSError):
                raise StoreError(f"{path}: cannot be written ({error.strerror})") from None
            raise
        return shard

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Open a shard's file for reading.

        Raises
        ------
        InputError
            When it cannot be read, is damaged, or is another kind of file.
        """
        shard = cls(Path(path), None)
        shard._load()
        return shard

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and release its lock."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self._lock is not None:
            self._lock.release()

    def remember(self, plan: StudyPlan) -> None:
        """Keep what was asked for; the same plan once."""
        if plan.json not in self._plans:
            self._append([_line("plan", [plan.json])])
            self._plans[plan.json] = plan

    def plans(self) -> list[StudyPlan]:
        """List the plans, in the order in which they were first remembered."""
        return list(self._plans.values())

    def finished(self, study: str, version: int) -> dict[str, Status]:
        """Tell the status of each trial that has a record, by key; quarantined ones left out."""
        aside = self._aside()
        ended = self._statuses.get((study, version), {})
        return {key: status for key, status in ended.items() if key not in aside}

    def quarantined(self, study: str) -> dict[str, str]:
        """Tell the trials whose records were damaged and not redone, with the reason, by key."""
        names = {name for name, _ in self._statuses} | {plan.study for plan in self.plans()}
        return {
            entry.key: entry.reason
            for entry in self._entries
            if entry.key and not entry.redone
            if entry.study == study or entry.study not in names
        }

    def quarantine(self) -> list[Quarantined]:
        """List the damaged lines that were put aside."""
        return list(self._entries)

    @property
    def environments(self) -> Mapping[str, Environment]:
        """What its trials ran on, by id."""
        return self._environments

    def rows(self) -> Iterator[TrialRow]:
        """Read attempts as rows, in the order in which they were kept."""
        for _, kind, values in self._lines():
            if kind == "attempt":
                yield TrialRow(*values)

    def damages(self) -> Iterator[Damage]:
        """Check every line; yield what is damaged. `id` is the line's number."""
        for number, kind, values in self._lines():
            if kind == "":
                yield Damage("line", number, (), str(values[0]))

    def write(self, outcomes: Sequence[Outcome], *, final: Sequence[bool] | None = None) -> None:
        """Keep outcomes; they are on the disk when this returns. As `Store.write`.

        Raises
        ------
        StoreError
            When they cannot be written; then none is.
        """
        here = Environment.here()
        flags = [True] * len(outcomes) if final is None else final
        rows = [row_of(one, flag, here.id) for one, flag in zip(outcomes, flags, strict=True)]
        lines = [] if here.id in self._environments else [_line("environment", [here.json])]
        lines += [_line("attempt", list(row)) for row in rows]
        self._append(lines)
        self._environments[here.id] = here
        for row in rows:
            self._take(row)

    def _take(self, row: TrialRow) -> None:
        if row.final:
            self._statuses.setdefault((row.study, row.version), {})[row.key] = Status(row.status)
            # What was aside has been redone: a later final line says so, nothing else need.
            self._entries = [
                entry._replace(redone=row.finished) if entry.key == row.key else entry
                for entry in self._entries
            ]

    def _aside(self) -> set[str]:
        return {entry.key for entry in self._entries if not entry.redone}

    def _append(self, lines: Sequence[bytes]) -> None:
        if self._file is None:
            raise StoreError(f"{self.path}: was opened for reading, open it with Shard.open")
        data = b"".join(lines)
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._end)
                os.lseek(self._file, self._end, os.SEEK_SET)
            raise StoreError(
                f"{self.path}: cannot be written, the disk is full or at fault "
                f"({error.strerror}); what was acknowledged is kept: free space and run the same "
                "command"
            ) from None
        self._end = os.lseek(self._file, 0, os.SEEK_CUR)

    def _load(self) -> None:
        damages = []
        for number, kind, values in self._lines():
            if number == 1 and kind != "shard":
                raise StoreError(
                    f"{self.path}: is not a shard of a study, name another file (or, if its first "
                    f"line is damaged: {mend(self.path)})"
                )
            if kind == "":
                damages.append(Damage("line", number, (), str(values[0])))
            elif kind == "plan":
                self._plans[values[0]] = StudyPlan.read(values[0])
            elif kind == "environment":
                one = Environment.read(values[0])
                self._environments[hashlib.sha256(values[0].encode()).hexdigest()] = one
            elif kind == "quarantine":
                self._entries.append(Quarantined(*values))
            elif kind == "attempt":
                self._take(TrialRow(*values))
            elif values[2] != FORMAT:
                raise NewerStoreError(self.path, values[2])
        if self._end == 0:
            raise StoreError(
                f"{self.path}: has no whole line and a shard always has; it was cut off, or is "
                "something else: delete it or name another file"
            )
        if damages:
            raise DamagedStoreError(self.path, damages)

    def _lines(self) -> Iterator[tuple[int, str, Sequence[Any]]]:
        """Read lines: number, kind, values. A damaged one has no kind, and reason and text."""
        try:
            with self.path.open("rb") as file:
                end = 0
                for number, line in enumerate(file, start=1):
                    kind, values = _read(line)
                    if kind == "torn":
                        break
                    end += len(line)
                    yield number, kind, values
                self._end = end
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read ({error.strerror})") from None


def _line(kind: str, values: list[Any]) -> bytes:
    line = [kind, values, checksum([kind, *values])]
    return json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _read(line: bytes) -> tuple[str, Sequence[Any]]:
    """Read one line: its kind and values; kind "" when damaged, "torn" when not written out."""
    text = line.decode("latin-1")  # it is ASCII, and if not, no byte is lost
    try:
        parsed, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        whole = line.endswith(b"\n")
        return ("", ("it is not a line of a shard", text)) if whole else ("torn", ())
    if text[end:] not in {"", "\n"}:
        return "", ("it is followed by what does not belong there", text)
    if isinstance(parsed, list) and len(parsed) == 3 and isinstance(parsed[1], list):
        kind, values, seal = parsed
        if kind in KINDS and seal == checksum([kind, *values]):
            return (kind, values) if text[end:] else ("torn", ())
    return "", ("its contents do not match their checksum", text)


def _make(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be made ({error.strerror})") from None


# Mending.


def split(path: Path) -> tuple[list[tuple[int, str, Sequence[Any]]], list[tuple[int, str]]]:
    """Read the sound lines of a shard (number, kind, values), and the damaged (number, text)."""
    sound, damaged = [], []
    for number, kind, values in Shard(path, None)._lines():
        if kind:
            sound.append((number, kind, values))
        else:
            damaged.append((number, str(values[1])))
    return sound, damaged


def with_one_bit_flipped(text: str) -> tuple[str, Sequence[Any]]:
    """Read a damaged line as it was, if one bit is all that is wrong with it; kind "" if not."""
    line = bytearray(text.encode("latin-1"))
    for place in range(len(line) if len(line) < LONG else 0):
        for bit in range(8):
            line[place] ^= 1 << bit
            kind, values = _read(bytes(line))
            if kind in KINDS:
                return kind, values
            line[place] ^= 1 << bit
    return "", ()


def rewrite(
    path: Path, sound: Sequence[tuple[str, Sequence[Any]]], entries: Sequence[Quarantined]
) -> None:
    """Write a shard's file anew: its sound lines, then entries of the quarantine."""
    lines = [(kind, list(values)) for kind, values in sound]
    if lines[0][0] != "shard":
        named = re.search(r"shard-(\d+)-of-(\d+)", path.name)
        index, count = (int(named[1]), int(named[2])) if named else (1, 1)
        lines.insert(0, ("shard", [index, count, FORMAT]))
    lines += [("quarantine", list(entry)) for entry in entries]
    _make(path, [_line(kind, values) for kind, values in lines])


# Merging.


def merge(paths: Iterable[Path | str], store: Store) -> dict[str, int]:
    """Bring the trials of shards and of other stores into one store.

    An attempt that is there already is not kept twice. Of a trial that was run more than once,
    an end that would come again stands before one that depends on the machine (a deadline, a
    crash), else the first that was met.

    Parameters
    ----------
    paths
        Files of shards (`.jsonl`) and stores.
    store
        Open for writing.

    Returns
    -------
    dict
        How many `records` and `attempts` are new, were `there already`, or are in `quarantine`.

    Raises
    ------
    InputError
        When a file cannot be read, or two hold different records of one trial. Then nothing is
        written.
    """
    with contextlib.ExitStack() as stack:
        parts: list[Shard | Store] = []
        for path in dict.fromkeys(Path(one) for one in paths):
            if path.resolve() == store.path.resolve():
                raise InputError(f"{path}: is the store to merge into, leave it out of the list")
            one: Shard | Store = Shard.read(path) if path.suffix == SUFFIX else Store.open(path)
            stack.callback(one.close)
            parts.append(one)
        return _merge(parts, store)


def _merge(parts: Sequence[Shard | Store], store: Store) -> dict[str, int]:
    plans = [plan for part in (store, *parts) for plan in part.plans()]
    volatile = _volatile(plans)
    records: dict[str, tuple[bool, bytes, Path]] = {}
    present: set[bytes] = set()
    counts = {"records": 0, "attempts": 0, "there already": 0, "in quarantine": 0}

    def settle(row: TrialRow, path: Path) -> bool:
        """Note a final row; whether it becomes the trial's record."""
        repeatable = row.status in REPEATABLE
        measured = hashlib.sha256(row.measured(volatile.get(row.study, ()))).digest()
        known = records.get(row.key)
        if known is not None and known[0] and repeatable and known[1] != measured:
            raise InputError(
                f"{path} and {known[2]} have different records of trial {row.key} ({row.study} "
                f"{row.params}, repetition {row.repetition}); find out which is right: "
                "workbench study verify --store FILE"
            )
        if known is None or (repeatable and not known[0]):
            records[row.key] = (repeatable, measured, path)
            return True
        return False

    # Within one file a later final row replaces an earlier: that is no contradiction.
    for row in _finals(store):
        settle(row, store.path)
    present.update(_identity(row) for row in store.rows())
    new: list[TrialRow] = []
    for part in parts:
        standing = {_identity(row) for row in _finals(part)}
        for row in part.rows():
            identity = _identity(row)
            final = identity in standing and settle(row, part.path)
            if identity in present:
                counts["there already"] += 1
                continue
            present.add(identity)
            new.append(row._replace(final=int(final)))
            counts["attempts"] += 1
    counts["records"] = len({row.key for row in new if row.final})
    aside = set(store.quarantine())
    entries = [
        entry._replace(redone="merged") if entry.key in records and not entry.redone else entry
        for part in parts
        for entry in part.quarantine()
        if entry not in aside
    ]
    counts["in quarantine"] = len(entries)
    environments = {id_: one for part in parts for id_, one in part.environments.items()}
    with store.transaction():
        store.append(new, environments)
        store.put_aside(entries)
        for plan in plans:
            store.remember(plan)
    return counts


def _finals(part: Shard | Store) -> list[TrialRow]:
    """Return the record of each trial, quarantined ones left out."""
    aside = {entry.key for entry in part.quarantine() if not entry.redone}
    found = {row.key: row for row in part.rows() if row.final and row.key not in aside}
    return list(found.values())


def _identity(row: TrialRow) -> bytes:
    return bytes.fromhex(checksum(row._replace(final=0)))


def _volatile(plans: Iterable[StudyPlan]) -> dict[str, tuple[str, ...]]:
    """Fields that may differ, by study; none where that is not known."""
    fields: dict[str, tuple[str, ...]] = {}
    for plan in plans:
        with contextlib.suppress(InputError):
            fields[plan.study] = plan.filled().volatile
    return fields
