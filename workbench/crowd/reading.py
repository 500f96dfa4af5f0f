"""Opening tables that users bring: one reader, one way of saying what is wrong.

Everything becomes text, stripped, with the line each row stood on, so that ids keep their leading
zeros and a message can name the line. Whole files are parsed by pandas; files with ragged lines,
blanks where a field should be or quotes in the midst of one are read row by row, which finds out
what is wrong.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
import math
import os
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype

from workbench.base import checks
from workbench.base.errors import InputError
from workbench.crowd.cells import Cells

Source: TypeAlias = "str | Path | pd.DataFrame | pd.Series[Any] | TextTable"
Duplicates = Literal["error", "first", "last", "all"]

ALIASES: Mapping[str, tuple[str, ...]] = {
    "task": (
        "item",
        "question",
        "object",
        "taskid",
        "itemid",
        "questionid",
        "objectid",
        "origid",
        "instanceid",
        "exampleid",
        "unitid",
        "documentid",
        "imageid",
        "sampleid",
        "subjectids",
        "stimulusid",
        "stimulus",
    ),
    "worker": (
        "annotator",
        "user",
        "performer",
        "workerid",
        "workerids",
        "amtworkerids",
        "annotatorid",
        "userid",
        "performerid",
        "rater",
        "raterid",
        "coder",
        "coderid",
        "labeler",
        "labelerid",
        "judge",
        "judgeid",
        "judgemodel",
        "evaluator",
        "evaluatorid",
        "participant",
        "participantid",
        "respondent",
        "respondentid",
        "reviewer",
        "email",
        "emailaddress",
    ),
    "label": ("answer", "response", "choice", "annotation", "rating"),
    "time": ("timestamp",),
    "gold": ("truth", "groundtruth", "goldlabel", "truelabel", "correctresponse"),
    "task_type": ("type",),
    "skill": (),
    "posterior": (),
    "capacity": (),
    "cost": (),
    "weight": (),
    "class": (),
    "score": (),
    "loss": (),
    "group": ("family",),
    "confidence": (),
}
"""What columns are called beside the field's own name, as `squeezed` writes it."""
LAST_RESORT: Mapping[str, tuple[str, ...]] = {
    "task": ("id", "q", "ii"),
    "worker": ("model", "subject", "subjectid", "username", "jj"),
    "label": ("verdict", "winner", "preference", "score", "passed", "value", "y"),
    "gold": ("label", "answer"),
}
"""What they are called where no other column will do."""

NAMED = ("task", "worker", "label", "time", "gold", "cost")
"""The fields whose column a user can name, by `columns`."""

LIMITS: Mapping[str, tuple[tuple[Callable[[float], bool], str], ...]] = {
    "skill": ((lambda p: not 0 <= p <= 1, "is outside [0, 1]; write a probability, as in 0.75"),),
    "cost": ((lambda c: c < 0, "is negative; write a price ≥ 0"),),
    "capacity": (
        (lambda M: M < 0, "is negative; write a number of tasks ≥ 0"),
        (lambda M: not M.is_integer(), "is not whole; write a whole number of tasks"),
        (lambda M: M > checks.MOST, "is too large; the number of tasks is enough"),
    ),
    "weight": (),
    "score": (),
    "chance": (
        (lambda p: not 0 < p <= 1, "is not above 0 and at most 1; write a probability, as in 0.75"),
    ),
    "confidence": (
        (lambda p: not 0 <= p <= 1, "is outside [0, 1]; write a probability, as in 0.75"),
    ),
}
"""What a number of each field may not be, and what is said of one that is."""

# What pandas, NumPy, R and databases write for "no value".
MISSING = frozenset({"", "nan", "na", "<na>", "null"})

SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
"""What most likely parts the fields of a file, by its ending."""
HEAD = 2**16
"""Bytes at the beginning of a file by which its form is recognised."""
WESTERN = "cp1252"
"""How text is read that is neither UTF-8 nor UTF-16: Windows' code page of Western Europe."""
PARQUET_IN_MEMORY = 13.0
"""Bytes of memory that a byte of Parquet takes: 15 GB where 10⁸ labels are 1.2 GB on disk."""
TEXT_IN_MEMORY = 3.0
"""Bytes of memory that a byte of text takes at least, while it is parsed."""
UNZIPPED = 200
"""Bytes at most of a byte of gzip: labels take 5 to 80, nothing but zeros 1,000."""
SMALL = 2**24
"""Bytes that a file may unzip to, however small it is."""
MOST_ROWS = 5 * 10**7
"""Rows of text that are read into memory, which take some 4 GB; more are aggregated from disk."""
MANY_COLUMNS = 32
"""Columns above which they are not taken out of a frame one by one, which takes their square."""
COUNTED = 2**20
"""Bytes that are read together when they are counted."""


def is_missing(cell: str) -> bool:
    """Whether a cell holds no value."""
    return cell.casefold() in MISSING


def is_text(text: str) -> bool:
    """Whether text can be a name in a file: half a pair of surrogates and a zero byte cannot.

    An array of NumPy's own text type drops zero bytes at the end, so that two names would be one.
    """
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
    if isinstance(value, (set, frozenset, np.ndarray)):
        return str(sorted(map(as_text, value)))
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


def squeezed(name: str) -> str:
    """Bring a column name to the form the aliases have: `Task ID`, `!amt_worker_ids`."""
    return plain(name).replace("_", "").lstrip("!#")


def find_column(owner: str, header: Sequence[str], field: str) -> int | None:
    """Return the column of `field`: its own name first, then an alias.

    Raises
    ------
    InputError
        Several columns have such a name.
    """
    names = [squeezed(name) for name in header]
    for wanted in ((squeezed(field),), ALIASES[field], LAST_RESORT.get(field, ())):
        places = [j for j, name in enumerate(names) if name in wanted]
        if len(places) > 1:
            columns = listing([header[j] for j in places])
            raise InputError(
                f"{owner}: columns {columns} all name the {field}; keep one, or say which with "
                f"{by_columns({field: header[places[0]]})}"
            )
        if places:
            return places[0]
    return None


def named(owner: str, header: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    """Give a header in which columns are called as the user said.

    Raises
    ------
    InputError
        No such field, or no such column.
    """
    names = list(header)
    for field, column in columns.items():
        if field not in NAMED:
            raise InputError(f"columns: {show(field)} is no field; there are {', '.join(NAMED)}")
        places = [j for j, name in enumerate(header) if plain(name) == plain(column)]
        places = [j for j in places if header[j] == column] or places
        if not places:
            raise InputError(
                f"{owner}: no column {show(column)} for {by_columns({field: column})}; the columns "
                f"found are {listing(header)}"
            )
        names = [f"{name} (left out)" if plain(name) == field else name for name in names]
        names[places[0]] = field
    return names


def by_columns(names: Mapping[str, str]) -> str:
    """Say in a line of refusal how columns are named; a command spells it as its option."""
    return f"`columns={dict(names)}`"


def no_column(owner: str, header: Sequence[str], field: str) -> str:
    """Say that there is no column of a field."""
    also = f" (or {' or '.join(ALIASES[field][:3])})" if ALIASES[field] else ""
    return f"{owner}: no column {field!r}{also}; the columns found are {listing(header)}"


@dataclass(frozen=True, slots=True)
class Mark:
    """The name of a row, found out when a message asks for it: a file may have to be read anew.

    Attributes
    ----------
    row, name
        Which row, and what names it.
    """

    row: int
    name: Callable[[int], str]

    def __str__(self) -> str:
        """Give the name, as `line 7`."""
        return self.name(self.row)


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
        How messages name row i: `unit` ("line", "row", "index", "column", or nothing) and
        `marks[i]`.
    heads
        Column names as a frame has them; none of a file.
    """

    name: str
    header: list[str]
    columns: Sequence[Cells]
    unit: str
    marks: Sequence[object]
    heads: Sequence[Any] = ()

    def __len__(self) -> int:
        return len(self.marks)

    def mark(self, row: int) -> Mark:
        """Name a row."""
        return Mark(row, self._name)

    def _name(self, row: int) -> str:
        return f"{self.unit} {self.marks[row]}".strip()

    def at(self, row: int) -> str:
        """Name the table and a row of it."""
        return f"{self.name}, {self.mark(row)}"

    def find(self, field: str) -> int | None:
        """Return the column of `field`: its own name first, then an alias."""
        return find_column(self.name, self.header, field)

    def place(self, field: str) -> int:
        """Return the column of `field`, which must be there."""
        place = self.find(field)
        if place is not None:
            return place
        raise InputError(no_column(self.name, self.header, field))

    def words(self, *fields: str) -> list[Cells]:
        """Cells of required columns, none of them missing."""
        places = [self.place(field) for field in fields]
        return [self.filled(place, field) for place, field in zip(places, fields, strict=True)]

    def filled(self, column: int, field: str) -> Cells:
        """Cells of a column by its position, each of them text and none missing."""
        cells = self.columns[column]
        odd = np.array([not is_text(text) for text in cells.texts], dtype=bool)[cells.code]
        if odd.any():
            row = int(odd.argmax())
            raise InputError(
                f"{self.at(row)}: {field} {cells[row]!a:.80} is no Unicode text; rename it"
            )
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
        key = keys(list(cells.values()))
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
            row = int(np.array([reason is not None for reason in wrong])[cells.code].argmax())
            place = f"{self.at(row)}, column {show(self.header[column])}"
            raise InputError(f"{place}: {field} {wrong[cells.code[row]]}")
        values: list[float] = np.array([float(text) for text in cells.texts])[cells.code].tolist()
        return values

    def by_name(self, field: str, *, but: int | None) -> dict[str, int]:
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
        return replace(
            self, columns=columns, marks=Marks(len(rows), lambda row: self.marks[rows[row]])
        )


def keys(columns: Sequence[Cells]) -> NDArray[np.int64]:
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
    return next(
        (f"{number:g} {reason}" for fails, reason in LIMITS.get(field, ()) if fails(number)), None
    )


def open_table(source: Source, what: str) -> TextTable:
    """Open a headed text file, a Parquet file, or a frame; a table that is open stays so.

    The text is UTF-8 or UTF-16, perhaps gzipped; its header tells what parts the fields.

    Raises
    ------
    InputError
        No such file, a directory, an unknown ending, undecodable, empty, ragged, no rows.
    """
    if isinstance(source, TextTable):
        return source
    if isinstance(source, (pd.DataFrame, pd.Series)):
        return of_frame(source, what, "index")
    path = file_path(source, what)
    beginning = head(path)
    if beginning.startswith(b"PAR1"):
        return of_frame(read_parquet(path), path_name(path), "row")
    suffix = ending(path)
    if suffix == ".parquet":
        raise InputError(f"{path_name(path)}: not a Parquet file; save it anew")
    if suffix not in SEPARATORS:
        raise InputError(
            f"{path_name(path)}: unknown file ending {suffix!r}; {what} are read from "
            ".csv, .tsv, .txt (each perhaps with .gz) or .parquet"
        )
    mark = separator(beginning, suffix)
    table = None if mark == " " else _read_whole(path, mark)
    return read_rows(path, mark, header=True) if table is None else table


def ending(path: Path) -> str:
    """Give the ending of a file's name, that of gzip left out."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def head(path: Path) -> bytes:
    """Read the first bytes of a file, unzipped where it is gzipped."""
    with _readable(path):
        with path.open("rb") as file:
            beginning = file.read(HEAD)
        if beginning.startswith(b"\x1f\x8b"):
            with gzip.open(path) as unzipped:
                beginning = unzipped.read(HEAD)
    return beginning


def first_lines(beginning: bytes) -> list[str]:
    """Decode the whole lines at the beginning of a file, those that are blank left out."""
    name = WESTERN if is_western(beginning) else _encoding(beginning)
    text = codecs.getincrementaldecoder(name)("replace").decode(beginning)
    lines = text.splitlines()
    if len(beginning) >= HEAD and len(lines) > 1:
        lines.pop()
    return [line for line in lines if line.strip()]


def is_western(beginning: bytes) -> bool:
    """Whether text is not UTF-8 or UTF-16: Excel saves CSV in the code page of the country."""
    try:
        codecs.getincrementaldecoder(_encoding(beginning))().decode(beginning)
    except UnicodeDecodeError:
        return True
    return False


def separator(beginning: bytes, suffix: str) -> str:
    """Tell what parts the fields of a table, by its first line and the ending of its name."""
    line = next(iter(lines := first_lines(beginning)), "")
    usual = SEPARATORS.get(suffix, ",")
    outside = "".join(line.split('"')[::2])  # fields in quotes may hold anything
    marks = ("\t", ";", ",", "|")
    if suffix != ".csv" and not any(mark in outside for mark in marks) and _has_row_names(lines):
        return " "
    return max((usual, *marks), key=lambda mark: (outside.count(mark), mark == usual))


def _has_row_names(lines: Sequence[str]) -> bool:
    """Whether rows begin with a name for which the header has none, as R writes them."""
    head, rows = lines[:1], [line.split() for line in lines[1:]]
    names = {row[0] for row in rows}
    wide = len(head[0].split()) if head else 0
    return wide > 1 and len(names) == len(rows) > 1 and {len(row) for row in rows} == {wide + 1}


def _encoding(data: bytes) -> str:
    """Tell UTF-16 (with a byte-order mark, or by its zeros) from UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    start = data[:200]
    if b"\0" in start:
        return "utf-16-be" if start[:1] == b"\0" else "utf-16-le"
    return "utf-8-sig"


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say in one line why a file cannot be read."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(
            f"{path_name(path)}: not a whole gzip file; copy it anew, or unzip it"
        ) from None
    except OSError as error:
        raise InputError(f"{path_name(path)}: cannot be read ({error.strerror})") from None


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
    if not path.is_file():  # it would be waited for, and can be read once only
        raise InputError(f"{path_name(path)}: a pipe or device; save what comes from it as a file")
    return path


def path_name(path: Path) -> str:
    """Write a path on one line, whatever is in it."""
    return str(path) if str(path).isprintable() else repr(str(path))


def read_data(path: Path) -> bytes:
    """Read a file, unzipped where it is gzipped.

    Raises
    ------
    InputError
        It cannot be read, or is more than memory or a table of labels can hold.
    """
    with _readable(path):
        size = path.stat().st_size
        check_memory(path, TEXT_IN_MEMORY * size)
        with path.open("rb") as file:
            if file.read(2) == b"\x1f\x8b":
                _check_unzipped(path)
                with gzip.open(path) as unzipped:
                    return unzipped.read()
            file.seek(0)
            if size > MOST_ROWS:  # fewer bytes are fewer rows
                _measured(path, file, size)
            return path.read_bytes()


def _check_unzipped(path: Path) -> None:
    """Refuse a gzip file of more than a table of labels, or memory, holds; little of it is kept.

    Its last four bytes tell a size that it has at least; then it is unzipped a part at a time, as
    far as it may go.
    """
    size = path.stat().st_size
    most, have = max(SMALL, UNZIPPED * size), memory()
    if have is not None:
        most = min(most, int(have / TEXT_IN_MEMORY))
    with path.open("rb") as file:
        file.seek(max(size - 4, 0))
        unzipped_size = int.from_bytes(file.read(4), "little")
    if unzipped_size <= most:
        with gzip.open(path) as unzipped:
            unzipped_size = _measured(path, unzipped, most)
    if unzipped_size <= most:
        return
    check_memory(path, TEXT_IN_MEMORY * unzipped_size)
    raise InputError(
        f"{path_name(path)}: unzips to more than {UNZIPPED} times its size, which no table of "
        "labels does; unzip it and look at what is in it"
    )


def _measured(path: Path, file: io.BufferedIOBase, most: int) -> int:
    """Count the bytes of a file, as far as some number of them, and refuse too many rows."""
    size, rows = 0, 0
    while size <= most and (part := file.read(COUNTED)):
        size, rows = size + len(part), rows + part.count(b"\n")
        if rows > MOST_ROWS + 1:
            raise InputError(
                f"{path_name(path)}: more than {MOST_ROWS:,} rows, which text is not read for; "
                "save them as Parquet and aggregate them from disk by --save answers.parquet, or "
                "take a part"
            )
    return size


def read_text(path: Path) -> str:
    """Read a text file (UTF-8, UTF-16 or `WESTERN`, perhaps gzipped) that is not empty."""
    data = read_data(path)
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        try:
            text = data.decode(WESTERN if encoding.startswith("utf-8") else encoding)
        except UnicodeDecodeError:
            raise InputError(
                f"{path_name(path)}: not {encoding[:6].upper().rstrip('-')} text (byte "
                f"{error.start}); save it as UTF-8 (Excel: CSV UTF-8)"
            ) from None
    if not text.strip():
        raise InputError(f"{path_name(path)}: empty; a table with rows is wanted")
    return text


class Marks(Sequence[object]):
    """What messages name rows by, found out when a message asks for it."""

    def __init__(self, rows: int, name: Callable[[int], object]) -> None:
        self.rows, self.name = rows, name

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, row: Any) -> Any:
        return self.name(range(self.rows)[row])


def _records(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Go through the rows of separated text that are not empty, each with the line it ends on."""
    lines = io.TextIOWrapper(io.BytesIO(read_text(path).encode()), "utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        at = f"{path_name(path)}, line {reader.line_num}"
        raise InputError(f"{at}: {error}; mend the quotes") from None


def _line(row: int, *, path: Path, separator: str) -> int:
    """Line of a row of a headed file."""
    return next(islice(_records(path, separator), row + 1, None))[0]


def _read_whole(path: Path, separator: str) -> TextTable | None:
    """Read a file of which every line has as many fields, quoted or not; None for any other."""
    data = read_data(path)
    if _encoding(data).startswith("utf-16"):
        data = read_text(path).encode()
    quoted = b'"' in data
    if b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return None
    if quoted and not _quotes_fit(data, separator):
        return None
    try:
        frame = pd.read_csv(
            io.BytesIO(data),
            sep=separator,
            header=None,
            dtype=object,
            na_filter=False,
            encoding="utf-8-sig",
            quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
            skipinitialspace=True,
            low_memory=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError):
        return None
    del data
    if len(frame) < 2 or not isinstance(frame.index, pd.RangeIndex):
        return None
    header = [str(cell).strip() for cell in frame.iloc[0]]
    if frame.shape[1] > MANY_COLUMNS:
        columns = [Cells.of(cells) for cells in frame.to_numpy(dtype=object)[1:].T]
    else:  # taken out one by one: the texts of a column are freed when it is numbered
        columns = [Cells.of(frame.pop(place).to_numpy()[1:]) for place in list(frame.columns)]
    ends = {*columns[0].texts, *columns[-1].texts}
    if "" in ends or header == [""]:  # perhaps a line with fewer fields, or none
        return None
    marks = Marks(len(columns[0]), partial(_line, path=path, separator=separator))
    return TextTable(path_name(path), header, columns, "line", marks)


def _quotes_fit(data: bytes, separator: str, part: int = 2**22) -> bool:
    """Whether quotes begin and end whole fields, or stand doubled in one: parsers then agree."""
    cells = np.frombuffer(data, dtype=np.uint8)
    ends = np.frombuffer(f"{separator}\r\n".encode(), dtype=np.uint8)
    before = 0  # quotes
    for start in range(0, len(cells), part):
        at = start + np.flatnonzero(cells[start : start + part] == ord('"'))
        begins = at[before % 2 :: 2] - 1
        closed = at[(before + 1) % 2 :: 2] + 1
        before += len(at)
        while (blank := (begins >= 0) & (cells[begins] == ord(" "))).any():
            begins = begins - blank
        # A quote beside one is doubled.
        begun = (begins < 0) | np.isin(cells[begins], ends) | (cells[begins] == ord('"'))
        closed = closed[closed < len(cells)]
        if not (begun.all() and np.isin(cells[closed], [*ends, ord('"')]).all()):
            return False
    return before % 2 == 0


def read_rows(path: Path, separator: str, *, header: bool) -> TextTable:
    """Read separated text; every row has as many fields as the first one."""
    name = path_name(path)
    rows = _records(path, separator)
    first, names = next(rows, (1, [""]))
    if header and separator == " ":
        names = ["", *names]
    lines = array("q")
    texts: list[dict[str, int]] = [{} for _ in names]
    codes = [array("i") for _ in names]
    for line, row in rows if header else chain([(first, names)], rows):
        if len(row) != len(names):
            raise InputError(
                f"{name}, line {line}: {len(row)} fields, but {len(names)} on line {first}; mend "
                "the line, and quote a field that holds a separator"
            )
        lines.append(line)
        for numbers, code, cell in zip(texts, codes, row, strict=True):
            code.append(numbers.setdefault(cell, len(numbers)))
    if not lines:
        raise InputError(f"{name}: a header but no rows; add the rows")
    columns = [
        Cells.numbered(np.frombuffer(code, dtype=np.int32), list(numbers))
        for numbers, code in zip(texts, codes, strict=True)
    ]
    heads = [head.strip() if header else "" for head in names]
    return TextTable(name, heads, columns, "line", lines)


def of_frame(source: pd.DataFrame | pd.Series[Any], name: str, unit: str) -> TextTable:
    """Make a text table of a frame, its named levels of the index as columns."""
    frame = source.to_frame() if isinstance(source, pd.Series) else source
    levels = [at for at, level in enumerate(frame.index.names) if level is not None]
    heads = (*(frame.index.names[at] for at in levels), *frame.columns)
    columns = [
        *(_texts(frame.index.get_level_values(at).to_series()) for at in levels),
        *(_texts(frame.iloc[:, j]) for j in range(frame.shape[1])),
    ]
    if not heads:
        raise InputError(f"{name}: empty; a table with rows is wanted")
    if not len(frame):
        raise InputError(f"{name}: a header but no rows; add the rows")

    def label(row: int) -> str:
        mark = frame.index[row]
        return show(mark) if isinstance(mark, str) else str(mark)

    by_number = range(1, len(frame) + 1)
    marks = by_number if unit == "row" else Marks(len(frame), label)
    return TextTable(name, [str(head).strip() for head in heads], columns, unit, marks, heads)


def _texts(cells: pd.Series[Any]) -> Cells:
    """Write cells as text, those that are equal once: a column has few ids and many rows."""
    if cells.dtype == object and infer_dtype(cells, skipna=False) != "string":
        return _mixed(cells.tolist())
    if isinstance(cells.dtype, pd.CategoricalDtype):
        at, first = pd.factorize(cells.cat.codes.to_numpy(np.int32))
        names = [*cells.cat.categories.astype(object), None]  # −1, missing, is the last
        given = [names[k] for k in first]
    else:
        at, values = pd.factorize(cells, use_na_sentinel=False)
        given = pd.Index(values).astype(object).tolist()
    return Cells.numbered(at, [as_text(cell) for cell in given], given)


def _mixed(cells: list[Any]) -> Cells:
    """Write cells of any type as text: 1 and True are equal, and two; lists have no hash."""
    number: dict[tuple[type, Any], int] = {}
    try:
        code = [number.setdefault((type(cell), cell), len(number)) for cell in cells]
    except TypeError:
        return Cells.numbered(np.arange(len(cells)), [as_text(cell) for cell in cells], cells)
    given = [cell for _, cell in number]
    return Cells.numbered(np.array(code), [as_text(cell) for cell in given], given)


def memory() -> float | None:
    """Give the bytes of memory that there are; None where the system does not tell."""
    if not hasattr(os, "sysconf"):
        return None
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def check_memory(name: Path, need: float, mend: str = "take a part of it") -> None:
    """Refuse what takes more bytes than memory has, where the size of memory is known."""
    have = memory()
    if have is not None and need > have:
        raise InputError(
            f"{path_name(name)}: would take some {need / 1e9:.0f} GB of memory, and there are "
            f"{have / 1e9:.0f}; {mend}"
        )


def check_parquet(name: Path, files: Iterable[Path]) -> None:
    """Refuse Parquet files of more labels than memory can hold."""
    need = PARQUET_IN_MEMORY * sum(file.stat().st_size for file in files)
    check_memory(name, need, "aggregate it from disk by --save answers.parquet, or take a part")


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file, which takes pyarrow."""
    check_parquet(path, [path])
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
