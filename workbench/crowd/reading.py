"""Opening tables that users bring: one reader, one way of saying what is wrong.

Everything becomes text, stripped, with the line each row stood on, so that ids keep their leading
zeros and a message can name the line. Plain files are parsed by pandas; files with quotes, ragged
lines or blanks where a field should be are read row by row, which finds out what is wrong.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench.base import checks
from workbench.base.errors import InputError
from workbench.crowd.cells import Cells

Source: TypeAlias = "str | Path | pd.DataFrame | pd.Series[Any]"
Duplicates = Literal["error", "first", "last", "keep"]

ALIASES: Mapping[str, tuple[str, ...]] = {
    "task": ("item", "question", "object"),
    "worker": ("annotator", "user", "performer"),
    "label": ("answer", "response"),
    "time": (),
    "gold": ("truth", "ground_truth", "label"),
    "task_type": ("type",),
    "skill": (),
    "posterior": (),
    "capacity": (),
    "cost": (),
    "weight": (),
    "group": ("family",),
}

LIMITS: Mapping[str, tuple[tuple[Callable[[float], bool], str], ...]] = {
    "skill": ((lambda p: not 0 <= p <= 1, "is outside [0, 1]; write a probability, as in 0.75"),),
    "cost": ((lambda c: c < 0, "is negative; write a price ≥ 0"),),
    "capacity": (
        (lambda M: M < 0, "is negative; write a number of tasks ≥ 0"),
        (lambda M: not M.is_integer(), "is not whole; write a whole number of tasks"),
        (lambda M: M > checks.MOST, "is too large; the number of tasks is enough"),
    ),
    "weight": (),
}
"""What a number of each field may not be, and what is said of one that is."""

# What pandas, NumPy, R and databases write for "no value".
MISSING = frozenset({"", "nan", "na", "<na>", "null"})

SEPARATORS = {".csv": ",", ".tsv": "\t"}


def is_missing(cell: str) -> bool:
    """Whether a cell holds no value."""
    return cell.casefold() in MISSING


def show(value: object) -> str:
    """Quote a user's text for a message: one line, never long."""
    return checks.show(str(value))


def listing(values: Sequence[object]) -> str:
    """Quote the first few of a user's texts."""
    return checks.listing([str(value) for value in values])


def as_text(value: object) -> str:
    """Write a cell as text; missing is '', and 3.0 (an id that met a NaN) is '3'."""
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if math.isnan(number):
            return ""
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return "" if value is None or value is pd.NA or value is pd.NaT else str(value).strip()


def as_number(cell: str) -> float | None:
    """Read a number, `None` when the text is none (Python's `1_000` is none)."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def plain(name: str) -> str:
    """Bring a column name to the form the aliases have."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


@dataclass(frozen=True)
class TextTable:
    """A table as text.

    Attributes
    ----------
    name
        What messages call it: the path, or the kind of table when it came as a frame.
    header, columns
        Column names, and the cells of each column.
    unit, marks
        How messages name row i: `unit` ("line", "row", "index", "column") and `marks[i]`.
    """

    name: str
    header: list[str]
    columns: Sequence[Cells]
    unit: str
    marks: Sequence[object]

    def __len__(self) -> int:
        return len(self.marks)

    def mark(self, row: int) -> str:
        """Name a row."""
        return f"{self.unit} {self.marks[row]}"

    def at(self, row: int) -> str:
        """Name the table and a row of it."""
        return f"{self.name}, {self.mark(row)}"

    def find(self, field: str) -> int | None:
        """Return the column of `field`: its own name first, then an alias."""
        names = [plain(name) for name in self.header]
        found = [j for j, name in enumerate(names) if name == field]
        found = found or [j for j, name in enumerate(names) if name in ALIASES[field]]
        if len(found) > 1:
            columns = listing([self.header[j] for j in found])
            raise InputError(f"{self.name}: columns {columns} all name the {field}; keep one")
        return found[0] if found else None

    def place(self, field: str) -> int:
        """Return the column of `field`, which must be there."""
        place = self.find(field)
        if place is not None:
            return place
        other = [mark for mark in ("\t", ";", ",") if mark in self.header[0]]
        if len(self.header) == 1 and other:
            raise InputError(
                f"{self.name}: one column {show(self.header[0])}, split by {other[0]!r}; "
                "save it with commas as .csv or with tabs as .tsv"
            )
        also = f" (or {' or '.join(ALIASES[field])})" if ALIASES[field] else ""
        raise InputError(
            f"{self.name}: no column {field!r}{also}; the columns found are {listing(self.header)}"
        )

    def words(self, *fields: str) -> list[Cells]:
        """Cells of required columns, none of them missing."""
        places = [self.place(field) for field in fields]
        return [self.filled(place, field) for place, field in zip(places, fields, strict=True)]

    def filled(self, column: int, field: str) -> Cells:
        """Cells of a column by its position, none of them missing."""
        cells = self.columns[column]
        bad = np.array([is_missing(text) for text in cells.texts], dtype=bool)[cells.code]
        if bad.any():
            row = int(bad.argmax())
            if cells[row]:
                raise InputError(
                    f"{self.at(row)}: {field} is {show(cells[row])}, which reads as missing; "
                    "remove the row, or rename it if it is a value"
                )
            raise InputError(
                f"{self.at(row)}: {field} is empty; fill it in or remove the "
                f"{'column' if self.unit == 'column' else 'row'}"
            )
        return cells

    def once(self, mend: str, **fields: Sequence[str]) -> None:
        """Raise an `InputError` when a value (or several together) appears twice."""
        cells = {field: Cells.of(values) for field, values in fields.items()}
        key = _keys(list(cells.values()))
        again = pd.Series(key).duplicated().to_numpy()
        if again.any():
            row = int(again.argmax())
            first = int((key == key[row]).argmax())
            named = (f"{field.replace('_', ' ')} {show(cells[field][row])}" for field in fields)
            raise InputError(
                f"{self.at(row)}: {' and '.join(named)} appear{'s' * (len(fields) == 1)} "
                f"already on {self.mark(first)}; {mend}"
            )

    def numbers(self, column: int, field: str) -> list[float]:
        """Read a column of finite numbers within the limits of the field."""
        cells = self.columns[column]
        wrong = [_wrong_number(field, text) for text in cells.texts]
        if any(wrong):
            row = int(np.array([one is not None for one in wrong])[cells.code].argmax())
            place = f"{self.at(row)}, column {show(self.header[column])}"
            raise InputError(f"{place}: {field} {wrong[cells.code[row]]}")
        values: list[float] = np.array([float(text) for text in cells.texts])[cells.code].tolist()
        return values

    def heads(self, field: str, *, but: int | None) -> dict[str, int]:
        """Place of each column but one by its name, which is a value of a field."""
        places = [place for place in range(len(self.header)) if place != but]
        names = [self.header[place] for place in places]
        table = TextTable(
            self.name, [field], [Cells.of(names)], "column", [place + 1 for place in places]
        )
        table.once("keep one", **{field: table.filled(0, field)})
        return dict(zip(names, places, strict=True))

    def keep(self, rows: Sequence[int]) -> TextTable:
        """Table of some of the rows."""
        columns = [cells.rows(rows) for cells in self.columns]
        return replace(self, columns=columns, marks=[self.marks[row] for row in rows])

    def votes(self, duplicates: Duplicates) -> pd.DataFrame:
        """Make the long table `task, worker, label` (and `time`), minding repeated pairs."""
        if duplicates not in get_args(Duplicates):
            raise InputError(
                f"duplicates is {show(duplicates)}; choose 'error', 'first', 'last' or 'keep'"
            )
        fields = ("task", "worker", "label")
        cells = dict(zip(fields, self.words(*fields), strict=True))
        time = self.find("time")
        frame = pd.DataFrame({field: column.categorical() for field, column in cells.items()})
        if time is not None:
            frame["time"] = _times(self.columns[time])
        if duplicates == "keep":
            return frame
        if duplicates == "error":
            del cells["label"]
            self.once("remove one of them, or pass duplicates='first' or 'last'", **cells)
            return frame
        return frame.drop_duplicates(["task", "worker"], keep=duplicates, ignore_index=True)


def _keys(columns: Sequence[Cells]) -> NDArray[np.int64]:
    """Number what several columns say together, row by row."""
    key = columns[0].code.astype(np.int64)
    for cells in columns[1:]:
        if key.max(initial=0) > 2**62 // max(len(cells.texts), 1):
            key = pd.factorize(key)[0]
        key = key * len(cells.texts) + cells.code
    return key


def _wrong_number(field: str, cell: str) -> str | None:
    """Say what is wrong with a number, if anything."""
    number = math.nan if is_missing(cell) else as_number(cell)
    if number is None:
        return f"{show(cell)} is not a number; write one, as in 0.75"
    if math.isnan(number):
        return "is missing (NaN); fill it in or remove the row"
    if math.isinf(number):
        return f"is infinite ({cell}); write a finite number"
    return next((f"{number:g} {said}" for fails, said in LIMITS[field] if fails(number)), None)


def _times(cells: Cells) -> NDArray[Any]:
    """Read numbers where every time is one (seconds), otherwise text (dates)."""
    numbers = [math.nan if is_missing(text) else as_number(text) for text in cells.texts]
    if any(number is None for number in numbers):
        texts = [None if is_missing(text) else text for text in cells.texts]
        return np.array(texts, dtype=object)[cells.code]
    return np.array(numbers, dtype=np.float64)[cells.code]


def open_table(source: Source, what: str) -> TextTable:
    """Open a headed CSV, TSV or Parquet file, or a frame.

    Raises
    ------
    InputError
        No such file, a directory, an unknown ending, undecodable, empty, ragged, no rows.
    """
    if isinstance(source, (pd.DataFrame, pd.Series)):
        return _of_frame(source, what, "index")
    path = file_path(source, what)
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _of_frame(_read_parquet(path), path_name(path), "row")
    if suffix not in SEPARATORS:
        raise InputError(
            f"{path_name(path)}: unknown file ending {suffix!r}; {what} are read from "
            ".csv, .tsv or .parquet"
        )
    separator = SEPARATORS[suffix]
    table = _read_plain(path, separator)
    return read_rows(path, separator, header=True) if table is None else table


def file_path(source: object, what: str) -> Path:
    """Check that `source` names a file."""
    if not isinstance(source, (str, Path)):
        raise InputError(f"{what}: a path or a data frame is wanted, not {type(source).__name__}")
    path = Path(source)
    try:
        missing, folder = not path.exists(), path.is_dir()
    except (OSError, ValueError):  # a name too long, or with a NUL in it
        missing, folder = True, False
    if missing:
        raise InputError(f"{path_name(path)}: no such file; check the path")
    if folder:
        raise InputError(f"{path_name(path)}: a directory; name a file in it")
    return path


def path_name(path: Path) -> str:
    """Write a path on one line, whatever is in it."""
    return str(path) if str(path).isprintable() else repr(str(path))


def read_text(path: Path) -> str:
    """Read a UTF-8 file (with or without a byte-order mark) that is not empty."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path_name(path)}: not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from None
    except OSError as error:
        raise InputError(f"{path_name(path)}: cannot be read ({error.strerror})") from None
    if not text.strip():
        raise InputError(f"{path_name(path)}: empty; a table with rows is wanted")
    return text


class _Lines(Sequence[int]):
    """Line of each row of a plain file, which is counted when a message asks for it."""

    def __init__(self, path: Path, rows: int) -> None:
        self.path, self.rows = path, rows

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, row: Any) -> Any:
        lines = [
            at
            for at, line in enumerate(io.StringIO(read_text(self.path), newline=None), 1)
            if line.strip()
        ]
        return lines[1:][row]


def _read_plain(path: Path, separator: str) -> TextTable | None:
    """Read a file without quotes, of which every line has as many fields; None for any other."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if b'"' in data or b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return None
    try:
        frame = pd.read_csv(
            io.BytesIO(data), sep=separator, header=None, dtype=object, na_filter=False,
            encoding="utf-8-sig", quoting=csv.QUOTE_NONE, low_memory=False,
        )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError):
        return None
    del data
    if len(frame) < 2 or not isinstance(frame.index, pd.RangeIndex):
        return None
    header = [str(cell).strip() for cell in frame.iloc[0]]
    # Taken out one by one: the texts of a column are freed when it is numbered.
    columns = [Cells.of(frame.pop(place).to_numpy()[1:]) for place in list(frame.columns)]
    if "" in columns[-1].texts:  # perhaps a line with fewer fields
        return None
    return TextTable(path_name(path), header, columns, "line", _Lines(path, len(columns[0])))


def read_rows(path: Path, separator: str, *, header: bool, quoting: bool = True) -> TextTable:
    """Read separated text; every row has as many fields as the first one."""
    name = path_name(path)
    lines: list[int] = []
    rows: list[list[str]] = []
    reader = csv.reader(
        io.StringIO(read_text(path), newline=""),
        delimiter=separator,
        quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
        strict=True,
    )
    try:
        for row in reader:
            if not "".join(row).strip() and len(row) <= 1:
                continue
            if rows and len(row) != len(rows[0]):
                raise InputError(
                    f"{name}, line {reader.line_num}: {len(row)} fields, but {len(rows[0])} on "
                    f"line {lines[0]}; mend the line, and quote a field that holds a separator"
                )
            rows.append([cell.strip() for cell in row])
            lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"{name}, line {reader.line_num}: {error}; mend the quotes") from None
    names = rows.pop(0) if header else [""] * len(rows[0])
    if not rows:
        raise InputError(f"{name}: a header but no rows; add the rows")
    columns = [Cells.of(column) for column in zip(*rows, strict=True)]
    return TextTable(name, names, columns, "line", lines[header:])


def by_position(source: Source, separator: str, fields: Sequence[str], least: int) -> TextTable:
    """Read a table without a header, of which `least` or more of the fields are columns, in order.

    Raises
    ------
    InputError
        As `open_table` and `read_rows`; too few or too many columns, or a header after all.
    """
    if isinstance(source, pd.DataFrame):
        table = open_table(source.reset_index(drop=True), "labels")
    else:
        path = file_path(source, "labels")
        table = read_rows(path, separator, header=False, quoting=separator == ",")
    if not least <= len(table.columns) <= len(fields):
        raise InputError(
            f"{table.name}: {len(table.columns)} columns; {', '.join(fields)} are wanted, with "
            f"{separator!r} between, without a header"
        )
    first = [plain(column[0]) for column in table.columns]
    named = [
        cell
        for cell, field in zip(first, fields, strict=False)
        if cell in (field, f"{field}_id", f"{field}id", *ALIASES[field])
    ]
    if len(named) > 1:
        raise InputError(
            f"{table.at(0)}: looks like a header ({listing(named)}); remove it, or read the "
            "file with read_labels"
        )
    return replace(table, header=list(fields[: len(table.columns)]))


def _of_frame(source: pd.DataFrame | pd.Series[Any], name: str, unit: str) -> TextTable:
    frame = source.to_frame() if isinstance(source, pd.Series) else source
    levels = [at for at, level in enumerate(frame.index.names) if level is not None]
    names = [frame.index.names[at] for at in levels]
    header = [str(column).strip() for column in (*names, *frame.columns)]
    columns = [
        *(Cells.of([as_text(x) for x in frame.index.get_level_values(at)]) for at in levels),
        *(_texts(frame.iloc[:, j]) for j in range(frame.shape[1])),
    ]
    if not header:
        raise InputError(f"{name}: empty; a table with rows is wanted")
    if not len(frame):
        raise InputError(f"{name}: a header but no rows; add the rows")
    rows = range(1, len(frame) + 1)
    return TextTable(name, header, columns, unit, rows if unit == "row" else _Marks(frame.index))


class _Marks(Sequence[str]):
    """Labels of a frame's index, written when a message asks for one."""

    def __init__(self, names: pd.Index[Any]) -> None:
        self.names = names

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, row: Any) -> Any:
        mark = self.names[row]
        return show(mark) if isinstance(mark, str) else str(mark)


def _texts(cells: pd.Series[Any]) -> Cells:
    """Write cells as text, those that are equal once: a column has few ids and many rows."""
    if cells.dtype == object:  # may hold 1 and True, which are equal
        return Cells.of([as_text(cell) for cell in cells])
    if isinstance(cells.dtype, pd.CategoricalDtype):
        at, first = pd.factorize(cells.cat.codes.to_numpy(np.int32))
        names = np.array([*map(as_text, cells.cat.categories), ""], dtype=object)
        return Cells.numbered(at, names[first])  # −1, missing, is the last
    at, found = pd.factorize(cells, use_na_sentinel=False)
    return Cells.numbered(at, [as_text(cell) for cell in found])


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except ImportError:
        raise InputError(
            f"{path_name(path)}: reading Parquet needs pyarrow; "
            "pip install 'crowd-workbench[parquet]', or save it as .csv"
        ) from None
    except Exception as error:  # each engine has exceptions of its own
        raise InputError(
            f"{path_name(path)}: not a Parquet file ({type(error).__name__}); save it anew"
        ) from None
