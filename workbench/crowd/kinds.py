"""Kinds of answers: what a label is, and how its cell is read.

A table of labels holds classes (one of a few names; perhaps in an order), ratings (a number on a
scale) or sets (several names at once). The kind belongs to the labels (`Votes.kind`), not to the
function that is called: each function of the front door says which kinds it takes.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from workbench.base.errors import InputError
from workbench.crowd.cells import Cells
from workbench.crowd.label_checks import spelling
from workbench.crowd.reading import TextTable, as_number, as_text, show

STRUCTURE = re.compile(r"[\[({].*[\])}]$", re.DOTALL)
"""A list or a mapping, as Python or JSON writes it."""


@dataclass(frozen=True)
class Classes:
    """One name of a few.

    Attributes
    ----------
    order
        The names from the least to the greatest, where their user has ordered them.
    """

    order: tuple[str, ...] | None = None
    plural: ClassVar[str] = "classes"
    as_classes: ClassVar[str] = "take them as they are"


@dataclass(frozen=True)
class Scale:
    """A number from `low` to `high`: a rating.

    Raises
    ------
    InputError
        The ends are not finite numbers, or `low` is not below `high`.
    """

    low: float
    high: float
    plural: ClassVar[str] = "ratings"
    as_classes: ClassVar[str] = "leave the scale out to count each rating as a class"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise InputError(
                f"scale is ({self.low:g}, {self.high:g}); give its lowest and its highest rating, "
                "as (0, 100)"
            )

    def read(self, name: str, cells: Cells, at: Callable[[int], str]) -> Cells:
        """Write ratings alike: 12.0 as 12.

        Parameters
        ----------
        name
            What the cells hold: "label" or "gold".
        at
            Names the place of a row, for messages.

        Raises
        ------
        InputError
            A cell is no number, or one outside of the scale.
        """
        texts = []
        for k, text in enumerate(cells.texts):
            number = as_number(text)
            if number is None or not self.low <= number <= self.high:
                what = "is no number" if number is None else "is outside of the scale"
                raise InputError(
                    f"{at(_first(cells, k))}: {name} {show(text)} {what}; give ratings from "
                    f"{self.low:g} to {self.high:g}"
                )
            texts.append(as_text(number + 0.0))  # −0 is 0
        values = [self.value(text) for text in texts]
        return Cells.numbered(cells.code, texts, values if cells.given is not None else None)

    def value(self, text: str) -> float:
        """Give the rating that a text stands for."""
        return float(text)


@dataclass(frozen=True)
class LabelSets:
    """Several names at once, perhaps none.

    Attributes
    ----------
    separator
        What stands between the names in a cell; None where cells are lists.
    fold
        Whether names that are spelled alike are one.
    """

    separator: str | None = None
    fold: bool = False
    plural: ClassVar[str] = "sets of labels"
    as_classes: ClassVar[str] = "ask about one label: a table with yes or no in place of each set"

    def read(self, name: str, cells: Cells, at: Callable[[int], str]) -> Cells:
        """Write sets alike, as JSON has a sorted list.

        Raises
        ------
        InputError
            A cell is a mapping, or a list of lists.
        """
        sets = []
        for k, text in enumerate(cells.texts):
            parts = listed(text)
            if parts is None:
                parts = [text] if self.separator is None else text.split(self.separator)
            if any(isinstance(part, (list, tuple, dict, set)) for part in parts):
                raise InputError(
                    f"{at(_first(cells, k))}: {name} {show(text)} is a list of lists; give names "
                    "alone"
                )
            sets.append({as_text(part) for part in parts} - {""})
        if self.fold:
            first: dict[str, str] = {}
            for each in sets:
                for part in sorted(each):
                    first.setdefault(spelling(part), part)
            sets = [{first[spelling(part)] for part in each} for each in sets]
        values = [*map(frozenset, sets)] if cells.given is not None else None
        return Cells.numbered(cells.code, [written(each) for each in sets], values)

    def value(self, text: str) -> frozenset[str]:
        """Give the set that a text stands for."""
        return frozenset(json.loads(text))


Kind: TypeAlias = Classes | Scale | LabelSets


def written(names: Collection[str]) -> str:
    """Write a set of names as text, alike however it is ordered."""
    return json.dumps(sorted(names), ensure_ascii=False)


def listed(text: str) -> list[object] | None:
    """Read the list that a cell holds; None where it holds a text.

    A mapping is given as a list of itself: it is no name.
    """
    if not STRUCTURE.match(text):
        return None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None  # a text that begins so
    return [*value] if isinstance(value, (list, tuple, set)) else [value]


def read_kind(
    table: TextTable,
    label: Cells,
    *,
    scale: tuple[float, float] | None = None,
    separator: str | None = None,
    fold: bool = False,
) -> tuple[Cells, Kind]:
    """Tell what kind of answers a column holds, and write its cells alike.

    Parameters
    ----------
    table
        Where it stands, for messages.
    scale
        Lowest and highest rating, where labels are ratings.
    separator
        What stands between the names of a set.

        Without one, labels are sets where a cell holds a list of two names or more, or of none.

    Raises
    ------
    InputError
        Both are given; a rating is none; or a cell holds a structure that is no set.
    """
    if scale is not None and separator is not None:
        raise InputError("give `scale` for ratings or `separator` for sets, not both")
    if separator is not None and not separator.strip():
        raise InputError(f"separator is {show(separator)}; give what stands between names, as '|'")
    kind: Kind = Classes()
    if scale is not None:
        kind = Scale(*scale)
    elif separator is not None or _has_sets(label):
        kind = LabelSets(separator, fold)
    if isinstance(kind, Classes):
        return _alone(table, label), kind
    return kind.read("label", label, table.at), kind


def refuse(kind: Kind, given: Mapping[str, object]) -> None:
    """Refuse options that labels of a kind have no use for: those that are given.

    Raises
    ------
    InputError
        One is.
    """
    for name, value in given.items():
        if value is not None and value is not False:
            raise InputError(
                f"`{name}` is for labels that are classes, and these are {kind.plural}: leave it "
                f"out, or {kind.as_classes}"
            )


def _has_sets(label: Cells) -> bool:
    """Whether a cell holds a list of two names or more, or of none."""
    lists = (listed(text) for text in label.texts)
    return any(parts is not None and len(parts) != 1 for parts in lists)


def _alone(table: TextTable, label: Cells) -> Cells:
    """Take classes out of lists of one.

    Raises
    ------
    InputError
        A label is a mapping, or a list of one.
    """
    parts = [listed(text) for text in label.texts]
    if all(part is None for part in parts):
        return label
    texts = label.texts.copy()
    for k, part in enumerate(parts):
        if part is None:
            continue
        if isinstance(part[0], (list, tuple, dict, set)):
            raise InputError(
                f"{table.at(_first(label, k))}: label {show(texts[k])} is no class; labels of "
                "parts are not read"
            )
        texts[k] = as_text(part[0])
    return Cells.numbered(label.code, texts, [*texts] if label.given else None)


def _first(cells: Cells, k: int) -> int:
    """Find the first row of a text."""
    return int((cells.code == k).argmax())
