"""Labels on disk: Parquet files too large for memory, numbered into arrays that stay on disk.

DuckDB gives every task and worker a number, by first appearance as in `Votes.of`, and sorts the
labels by task; grouping, joining and sorting go to temporary files where they outgrow `MEMORY`.
What stays in memory: eight bytes a task, the workers' names, and a part of the labels at a time.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.base.arrays import IntArray, Names
from workbench.base.errors import InputError
from workbench.crowd.coded import FIELDS, ReadOptions
from workbench.crowd.reading import (
    MISSING,
    TextTable,
    find_column,
    is_text,
    listing,
    named,
    path_name,
    show,
)
from workbench.crowd.votes import Votes

MEMORY = "1500MB"
"""What DuckDB may hold in memory."""
PART = 2**21
"""Labels that are looked at together."""
CHUNK = 256
"""Vectors (of 2048 rows) that are fetched together."""
BLANKS = "".join(letter for letter in map(chr, range(2**14)) if letter.isspace())
"""What Python strips."""
PATTERN = re.compile(r"[*?[]")
"""What is more than itself in a pattern of DuckDB's."""


class StoredLabels:
    """Labels in Parquet files, numbered.

    Attributes
    ----------
    name
        What messages call them.
    workers, classes
        Names, shapes (m,) in order of first appearance and (L,), sorted.
    start
        Shape (n + 1,): task i has the labels from `start[i]` to `start[i + 1]`.
    notes
        What a user should know of how they were read.
    """

    name: str
    workers: Names
    classes: Names
    start: IntArray
    notes: tuple[str, ...] = ()

    def __init__(
        self,
        source: str | Path,
        folder: Path,
        connection: Any,
        options: ReadOptions,
        tell: Callable[[str], object],
    ) -> None:
        self.name, self._folder, self._connection = path_name(Path(source)), folder, connection
        self._files = _files(Path(source))
        self._view(options)
        for field in FIELDS:
            tell(f"numbering {field}s")
            self._number(field)
        self.workers, self.classes = self._names("worker"), self._names("label")
        tell("sorting the labels by task")
        self._sort(options.duplicates, tell)

    def __len__(self) -> int:
        return int(self.start[-1])

    def parts(self) -> Iterator[Votes]:
        """Go through the labels, some tasks at a time; tasks are named by their numbers."""
        n = len(self.start) - 1
        ends = np.searchsorted(self.start, np.arange(PART, len(self), PART))
        for first, last in pairwise(np.unique([0, *ends, n]).tolist()):
            begin, end = int(self.start[first]), int(self.start[last])
            worker, label = (
                np.fromfile(self._folder / name, np.int32, end - begin, offset=4 * begin)
                for name in FIELDS[1:]
            )
            size = np.diff(self.start[first : last + 1])
            yield Votes(
                np.repeat(np.arange(last - first), size),
                worker.astype(np.int64),
                label.astype(np.int64),
                np.arange(first, last),
                self.workers,
                self.classes,
            )

    def save(self, path: Path, answers: Iterable[pd.DataFrame]) -> None:
        """Write answers to a Parquet file, whole or not at all; tasks and labels get their names.

        Parameters
        ----------
        answers
            Frames with columns task (its number), label (the index of its class), and others.
        """
        more: list[str] = []
        for part in answers:
            self._connection.register("part", part)
            if not more:
                more = [str(name) for name in part if name not in ("task", "label")]
                self._run("CREATE TABLE answer AS SELECT * FROM part LIMIT 0")
            self._run("INSERT INTO answer SELECT * FROM part")
            self._connection.unregister("part")
        path = path.resolve()  # a link stays one
        draft = path.with_name(f".{path.name}.draft")
        columns = ", ".join(f"answer.{name}" for name in more)
        try:
            self._run(
                f"COPY (SELECT tasks.text AS task, labels.text AS label, {columns} FROM answer"
                " JOIN tasks ON tasks.code = answer.task JOIN labels ON labels.code = answer.label"
                f" ORDER BY answer.task) TO {_quoted(_place(draft))} (FORMAT parquet)"
            )
            draft.replace(path)
        except OSError as error:
            raise InputError(f"{path_name(path)}: cannot be written ({error.strerror})") from None
        finally:
            draft.unlink(missing_ok=True)

    def _run(self, statement: str) -> Any:
        return self._connection.execute(statement)

    def _view(self, options: ReadOptions) -> None:
        """Name the columns, and the place of each row: its file, then its number."""
        places = [_place(file) for file in self._files]
        self._run(f"CREATE TYPE file AS ENUM ({', '.join(map(_quoted, places))})")
        patterns = ", ".join(_quoted(_pattern(place)) for place in places)
        rows = f"read_parquet([{patterns}], hive_types_autocast = false"
        described = self._run(f"DESCRIBE SELECT * FROM {rows})").fetchall()
        header = [column for column, *_ in described]
        heads = named(self.name, header, options.columns)
        table = TextTable(self.name, heads, [], "row", [])
        texts = [_text(self.name, *described[table.place(field)][:2]) for field in FIELDS]
        model = next((name for name in header if name.casefold() == "model"), None)
        by_models = f"lower(CAST({_named(model)} AS VARCHAR)) = 'true'" if model else "false"
        kept = "true" if options.predictions else f"({by_models}) IS NOT TRUE"
        self._run(
            "CREATE VIEW row AS SELECT "
            + ", ".join(f"{text} AS {field}" for text, field in zip(texts, FIELDS, strict=True))
            + ", (CAST(enum_code(CAST(filename AS file)) AS BIGINT) << 32) + file_row_number AS"
            f" place FROM {rows}, filename = true, file_row_number = true) WHERE {kept}"
        )
        gold = find_column(self.name, heads, "gold")
        if gold is not None and heads[gold] not in FIELDS:
            self.notes = (f"column {show(header[gold])} is not looked at: no gold is read",)

    def _number(self, field: str) -> None:
        """Number the texts of a column; blanks around them do not count."""
        blanks, names = _quoted(BLANKS), f"{field}s"
        self._run(
            f"CREATE TABLE raw_{names} AS SELECT {field} AS raw, min(place) AS place FROM row"
            " GROUP BY raw"
        )
        by = "text" if field == "label" else "place"
        self._run(
            f"CREATE TABLE {names} AS SELECT text, place, row_number() OVER (ORDER BY {by}) - 1 AS"
            f" code FROM (SELECT trim(raw, {blanks}) AS text, min(place) AS place FROM"
            f" raw_{names} GROUP BY text) ORDER BY code"
        )
        missing = ", ".join(map(_quoted, sorted(MISSING)))
        empty = self._run(
            f"SELECT place, text FROM {names} WHERE text IS NULL OR lower(text) IN ({missing})"
            " ORDER BY place LIMIT 1"
        ).fetchone()
        if empty:
            what = f"is {show(empty[1])}, which reads as missing" if empty[1] else "is empty"
            raise InputError(f"{self._at(empty[0])}: {field} {what}; fill it in or remove the row")
        # As they stand in the files: 10⁷ texts are stripped, not 10⁸.
        self._run(
            f"CREATE TABLE {field}_codes AS SELECT raw, CAST(code AS INTEGER) AS code FROM"
            f" raw_{names} JOIN {names} ON text = trim(raw, {blanks})"
        )
        self._run(f"DROP TABLE raw_{names}")

    def _names(self, field: str) -> Names:
        texts = self._run(f"SELECT text FROM {field}s ORDER BY code").fetchall()
        return np.array([text for (text,) in texts], dtype=object)

    def _sort(self, duplicates: str, tell: Callable[[str], object]) -> None:
        """Write who labelled each task with what, task by task, repeated pairs seen to."""
        (n,) = self._run("SELECT count(*) FROM tasks").fetchone()
        if not n:
            raise InputError(f"{self.name}: a header but no rows; add the rows")
        size = np.zeros(n, dtype=np.int64)
        codes = ", ".join(f"{field}_codes.code AS {field}" for field in FIELDS)
        joins = " ".join(
            f"JOIN {field}_codes ON row.{field} = {field}_codes.raw" for field in FIELDS
        )
        rows = self._run(f"SELECT {codes}, place FROM row {joins} ORDER BY task, place")
        done = 0
        with (
            (self._folder / "worker").open("wb") as worker,
            (self._folder / "label").open("wb") as label,
        ):
            for part in _by_task(lambda: rows.fetch_df_chunk(CHUNK)):
                kept = self._once(part, duplicates)
                first = int(kept["task"].iloc[0])
                count = np.bincount(kept["task"].to_numpy() - first)
                size[first : first + len(count)] += count
                kept["worker"].to_numpy(np.int32).tofile(worker)
                kept["label"].to_numpy(np.int32).tofile(label)
                done += len(part)
                tell(f"{done:,} labels sorted by task")
        self.start = np.concatenate([[0], np.cumsum(size)])

    def _once(self, part: pd.DataFrame, duplicates: str) -> pd.DataFrame:
        """See to workers who label a task twice, of whole tasks."""
        if duplicates == "all":
            return part
        key = part["task"].to_numpy(np.int64) * len(self.workers) + part["worker"]
        twice = key.duplicated()
        if duplicates == "error" and twice.any():
            row = int(twice.to_numpy().argmax())
            first = int((key == key.iloc[row]).to_numpy().argmax())
            earlier, later = part.iloc[first], part.iloc[row]
            (task,) = self._run(f"SELECT text FROM tasks WHERE code = {earlier['task']}").fetchone()
            raise InputError(
                f"{self._at(int(later['place']))}: task {show(task)} and worker "
                f"{show(self.workers[earlier['worker']])} appear already in "
                f"{self._at(int(earlier['place']))}; remove one of them, or give `duplicates` "
                "first or all"
            )
        once: pd.DataFrame = part[~twice]
        return once

    def _at(self, place: int) -> str:
        return f"{path_name(self._files[place >> 32])}, row {(place & (2**32 - 1)) + 1}"


@contextlib.contextmanager
def stored_labels(
    source: str | Path,
    options: ReadOptions | None = None,
    tell: Callable[[str], object] = str,
) -> Iterator[StoredLabels]:
    """Number the labels in a Parquet file, or in a folder of them; temporary files go at the end.

    Parameters
    ----------
    source
        Columns task, worker, label, and what they are also called; text or whole numbers. A
        folder's files are read in the order of their paths; parts of a path such as `task=7`
        are columns too.
    options
        Of `columns`, `predictions` and `duplicates`, which is not "last".
    tell
        Is called with lines on how far it is.

    Raises
    ------
    InputError
        There is no DuckDB, no such file, a column or a cell is missing, a pair is repeated, or
        the disk is full.
    """
    options = options or ReadOptions()
    if options.scale is not None or options.separator is not None:
        raise InputError(
            "labels from disk (`save`) are classes: leave `save` out for ratings and sets"
        )
    if options.duplicates == "last":
        raise InputError(
            "duplicates is 'last', and labels from disk (`save`) are numbered as they first "
            "appear: give 'first', 'all' or 'error'"
        )
    try:
        import duckdb
    except ImportError:
        raise InputError(
            f"{path_name(Path(source))}: labels are taken from disk by DuckDB; "
            "pip install 'crowd-workbench[duckdb]'"
        ) from None
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        settings: dict[str, Any] = {"memory_limit": MEMORY, "temp_directory": f"{folder}/spilled"}
        connection = duckdb.connect(f"{folder}/names.duckdb", config=settings)
        # Begun without a script it would draw a bar on standard output; `tell` is called instead.
        connection.execute("SET enable_progress_bar = false")
        try:
            yield StoredLabels(source, Path(folder), connection, options, tell)
        except (duckdb.Error, OSError) as error:
            reason = str(error).splitlines()[0][:200]
            raise InputError(
                f"{path_name(Path(source))}: {reason}; check the files, and the room in "
                f"{tempfile.gettempdir()} (TMPDIR)"
            ) from None
        finally:
            connection.close()


def read_answers(path: Path) -> pd.DataFrame:
    """Read the file that `StoredLabels.save` wrote."""
    import duckdb

    frame: pd.DataFrame = duckdb.read_parquet(_pattern(_place(path))).df()
    return frame


def _place(path: Path) -> str:
    """Name a file for DuckDB, which takes `~` and `file:` at the beginning for something else.

    Raises
    ------
    InputError
        The name is no text, or no pattern of DuckDB's fits it alone.
    """
    place = str(path.absolute() if str(path).startswith(("~", "file:")) else path)
    if not is_text(place):
        raise InputError(f"{path_name(path)}: the name is no Unicode text; rename the file")
    if os.sep == "/" and "\\" in place and PATTERN.search(place):
        raise InputError(
            f"{path_name(path)}: DuckDB cannot take a path with \\ and one of * ? [ in it; "
            "rename it"
        )
    return place


def _pattern(place: str) -> str:
    """Write the pattern that fits this file alone: DuckDB takes every name for a pattern."""
    return PATTERN.sub(r"[\g<0>]", place)


def _files(source: Path) -> list[Path]:
    """List the Parquet files of a folder, which holds no others with labels."""
    if not source.is_dir():
        if not source.is_file() or source.suffix != ".parquet":
            raise InputError(
                f"{path_name(source)}: no .parquet file or folder of them; only these are taken "
                "from disk (`save`)"
            )
        return [source]
    there = [
        path
        for path in sorted(source.rglob("*"))
        if path.is_file()
        and not any(part.startswith((".", "_")) for part in path.relative_to(source).parts)
    ]
    others = [path.name for path in there if path.suffix != ".parquet"]
    if others or not there:
        held = f"also holds {listing(others)}" if others else "a directory without files"
        raise InputError(
            f"{path_name(source)}: {held}; labels are taken from disk (`save`) from a folder of "
            ".parquet files alone"
        )
    return there


def _text(owner: str, column: str, kind: str) -> str:
    """Write a column as text, as `reading.as_text` writes its cells."""
    name = _named(column)
    if kind == "BOOLEAN":
        return f"CASE WHEN {name} THEN 'True' WHEN NOT {name} THEN 'False' END"
    if kind == "VARCHAR":
        return name
    if not (kind.startswith("ENUM") or kind.endswith("INT") or kind == "INTEGER"):
        raise InputError(
            f"{owner}: column {show(column)} holds {kind}; make text or whole numbers of it"
        )
    return f"CAST({name} AS VARCHAR)"


def _by_task(fetch: Callable[[], pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Cut rows that come sorted by task between tasks; an empty frame is the end."""
    held = pd.DataFrame()
    while len(chunk := fetch()):
        rows = pd.concat([held, chunk], ignore_index=True) if len(held) else chunk
        task: NDArray[Any] = rows["task"].to_numpy()
        cut = int(np.searchsorted(task, task[-1]))
        held = rows.iloc[cut:]
        if cut:
            yield rows.iloc[:cut]
    if len(held):
        yield held


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _named(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
