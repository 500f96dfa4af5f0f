"""What a file of labels holds, opened once: JSON, lines of JSON, or a table."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.base.errors import InputError
from workbench.crowd import reading
from workbench.crowd.reading import Mark, TextTable, path_name, show

LOOKED_AT = 200
"""Lines of a file by which its form is recognised."""


class Content:
    """A file, or a frame or mapping in memory, as far as formats look into it.

    Parameters
    ----------
    source
        The path of a file, a frame, or what a JSON file would hold.
    columns
        What the columns are called that the user named, by field.

    Attributes
    ----------
    name
        What messages call it.
    path
        None of a frame or a mapping.
    """

    def __init__(self, source: object, columns: Mapping[str, str] | None = None) -> None:
        self.columns: Mapping[str, str] = columns or {}
        self.memory = None if isinstance(source, (str, Path)) else source
        self.path = None if self.memory is not None else reading.file_path(source, "labels")
        self.name = "labels" if self.path is None else path_name(self.path)

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the file, unzipped."""
        return b"" if self.path is None else reading.head(self.path)

    @cached_property
    def lines(self) -> list[str]:
        """The first lines of the file that are not blank."""
        if self.head.startswith(b"PAR1"):
            return []
        return list(islice(reading.first_lines(self.head), LOOKED_AT))

    @cached_property
    def is_json(self) -> bool:
        """Whether it is JSON, or lines of JSON."""
        if self.path is None:
            return not isinstance(self.memory, pd.DataFrame)
        return bool(self.lines) and self.lines[0].lstrip()[:1] in ("{", "[")

    @cached_property
    def separator(self) -> str:
        """What parts the fields of a table in text."""
        assert self.path is not None
        return reading.separator(self.head, reading.ending(self.path))

    @cached_property
    def document(self) -> Any:
        """What the JSON says; lines of JSON make a list.

        Raises
        ------
        InputError
            It is cut off or not JSON, a key is there twice in one object, or it is too deep.
        """
        if self.path is None:
            return self.memory
        text = reading.read_text(self.path)
        try:
            return json.loads(text, object_pairs_hook=self._distinct)
        except RecursionError:
            raise InputError(f"{self.name}: nested too deeply; no export is") from None
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Extra data"):
                raise self._not_json(error, error.lineno) from None
        records = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                if line.strip():
                    records.append(json.loads(line, object_pairs_hook=self._distinct))
            except json.JSONDecodeError as error:
                raise self._not_json(error, number) from None
        return records

    def _not_json(self, error: json.JSONDecodeError, line: int) -> InputError:
        return InputError(
            f"{self.name}, line {line}, column {error.colno}: not JSON ({error.msg}); export it "
            "anew if it was cut off"
        )

    def _distinct(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(
                f"{self.name}: key {show(twice)} appears twice in one mapping; merge them"
            )
        return mapping

    @cached_property
    def header(self) -> list[str]:
        """Names of the columns of a table, or of the keys of the first records of JSON."""
        if not self.is_json:
            return self.table.header if self.path is None else self._file_header()
        names: dict[str, None] = {}
        for record in self.records[:LOOKED_AT]:
            names |= dict.fromkeys(record)
        return list(names)

    def _file_header(self) -> list[str]:
        if not self.lines:
            return self.table.header  # Parquet, or an empty file, of which it is said
        (cells,) = csv.reader(self.lines[:1], delimiter=self.separator, skipinitialspace=True)
        names = [""] if self.separator == " " else []  # R has none for the names of rows
        return [*names, *(cell.strip() for cell in cells)]

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The rows of a table, or the objects of a JSON list, each a mapping; else none."""
        if not self.is_json:
            header = self.table.header
            rows = zip(*(column[:] for column in self.table.columns), strict=True)
            return [dict(zip(header, row, strict=True)) for row in rows]
        document = self.document
        columns = _columns(document) if isinstance(document, dict) else {}
        if columns:
            rows = zip(*columns.values(), strict=True)
            return [dict(zip(columns, row, strict=True)) for row in rows]
        listed = document if isinstance(document, list) else [document]
        return listed if all(isinstance(record, dict) for record in listed) else []

    @cached_property
    def table(self) -> TextTable:
        """The whole as a table of text: a record a row.

        Raises
        ------
        InputError
            As `reading.open_table`; or JSON that is no list of flat records.
        """
        if not self.is_json:
            source = self.path if self.path is not None else self.memory
            return reading.open_table(source, "labels")  # type: ignore[arg-type]
        document = self.document
        try:
            columns = _columns(document) if isinstance(document, dict) else {}
            document = columns or document
            flat = isinstance(document, dict) and not self._is_record(document)
            frame = pd.DataFrame(document if flat else self.records)
        except (ValueError, TypeError, AttributeError):
            raise InputError(f"{self.name}: JSON that is no table; a list of records is") from None
        return reading.of_frame(frame.reset_index(drop=True), self.name, "row")

    @staticmethod
    def _is_record(document: Mapping[str, Any]) -> bool:
        return not all(isinstance(value, (dict, list)) for value in document.values())

    def mark(self, row: int) -> Mark:
        """Name a record for a message."""
        return Mark(row, _record) if self.is_json else self.table.mark(row)

    def at(self, row: int) -> str:
        """Name the file and a record of it."""
        return f"{self.name}, {self.mark(row)}"


def _record(row: int) -> str:
    return f"record {row + 1}"


def _columns(document: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Give the columns that an object holds: lists, all as long, beside sizes as Stan's data."""
    lists = {name: column for name, column in document.items() if isinstance(column, list)}
    sizes = all(isinstance(each, int) for name, each in document.items() if name not in lists)
    alike = len(lists) > 1 and len({len(column) for column in lists.values()}) == 1
    return lists if sizes and alike else {}
