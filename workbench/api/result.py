"""What every result of the front door can do: frame, dictionary, text, picture, equality.

A result declares its fields, its table's columns (how each is headed and written), what it knows
beside them and its notes; laying them out, comparing and showing them is done here.
"""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.base.errors import InputError
from workbench.base.text import Columns, at_most, cell, plain, tabled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

Figure: TypeAlias = "figure.Figure"
SCHEMA = 2
"""Version of what `to_dict` gives; keys may be added without a new one. 2: `error_measured` is the
plain share of wrong answers, drawn toward no model."""
UNCOMPARED = frozenset({"seconds", "history", "versions"})
"""Keys that differ between two runs that found the same."""
SHOWN = 20
"""Rows of a table that a notebook shows."""
ALIKE = 5e-4
"""A difference of errors that is written as none."""
ROUNDING = 1e-9
"""A promise above what was asked by this share is what was asked."""
MOST = 5
"""Sentences of a verdict."""


class Result:
    """Base of the frozen dataclasses that front-door functions give back."""

    __hash__ = None  # type: ignore[assignment]
    pictured = False
    """Whether the picture says more than the table: a notebook then shows it too."""

    def to_frame(self) -> pd.DataFrame:
        """Give the table that answers the question, with the user's own ids."""
        raise NotImplementedError

    def verdict(self) -> list[str]:
        """Say in a few sentences what the answer is; none where the details are short."""
        return []

    def details(self) -> str:
        """Give all that is said of the result: models, bounds, curves, assumptions."""
        raise NotImplementedError

    def brief(self) -> str:
        """Give the small table that stands below the verdict."""
        return ""

    def summary(self, *, details: bool = False) -> str:
        """Give the text that the command prints: the verdict, and a small table or the details."""
        sentences = "\n".join(self.verdict())
        if not sentences:
            return self.details()
        below = self.details() if details else self.brief()
        return f"{sentences}\n\n{below}".rstrip("\n")

    def plot(self) -> Figure:
        """Draw the result."""
        raise InputError(f"plot: there is no figure of a {type(self).__name__}")

    def _payload(self) -> Mapping[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Give everything that is known in plain types, as the command's `--json` prints it."""
        payload: dict[str, Any] = plain(self._payload())
        return {"schema": SCHEMA, **payload}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(_comparable(self.to_dict()) == _comparable(other.to_dict()))

    def __repr__(self) -> str:
        first = next((line for line in self.summary().splitlines() if line.strip()), "")
        return f"{type(self).__name__}: {first}"

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        more = f"<p>… {len(frame) - SHOWN} more rows</p>" if len(frame) > SHOWN else ""
        text = "<br>".join(map(html.escape, self.verdict() or [repr(self)]))
        picture = ""
        if self.pictured:
            from workbench.plots import as_svg

            picture = as_svg(self.plot())
        return f"<p>{text}</p>{frame.head(SHOWN).to_html(index=False)}{more}{picture}"


def _comparable(value: Any) -> Any:
    """The same without what differs between runs, at any depth."""
    if isinstance(value, dict):
        return {k: _comparable(v) for k, v in value.items() if k not in UNCOMPARED}
    if isinstance(value, list):
        return [_comparable(entry) for entry in value]
    return value


def picked(source: object, *names: str) -> dict[str, Any]:
    """Take attributes of an object, by name."""
    return {name: getattr(source, name) for name in names}


def listed(frame: pd.DataFrame, columns: Columns, most: int, more: str = "") -> str:
    """Lay out the first rows of a frame, and say how many more there are."""
    first = frame if len(frame) <= most + 2 else frame.head(most)
    text = tabled(first.to_dict("records"), columns)
    hidden = len(frame) - len(first)
    return f"{text}\n… and {hidden} more{more}" if hidden else text


def facts(rows: Iterable[tuple[str, str]], width: int = 0, indent: str = "") -> str:
    """Write names and what is known, a line each, in two columns."""
    rows = list(rows)
    width = width or 1 + max(len(name) for name, _ in rows)
    return "\n".join(f"{indent}{name.ljust(width)} {value}" for name, value in rows)


def percent(share: float | None, digits: int = 2) -> str:
    """Write a share in percent."""
    if share is None:
        return "unknown"
    text = f"{100 * share:.{digits}g}"
    return f"{100 * share:.0f} %" if "e+" in text else f"{text} %"


def asked_for(share: float) -> str:
    """Write a share that was asked for in percent, in all its digits."""
    return f"{100 * share:.10g} %"


def as_promised(value: float, asked: float | None = None, digits: int = 2) -> str:
    """Write a number that is promised: rounded up, but not above what was asked for.

    Parameters
    ----------
    value, asked
        In the unit shown; None where nothing was asked.
    digits
        As many are shown, or more where fewer would read as more than was asked.
    """
    most = math.inf if asked is None or value > asked else asked * (1 + ROUNDING)
    texts = (at_most(value, shown) for shown in itertools.count(digits))
    return next(text for text in texts if float(text.replace(",", "")) <= most)


def points(more: float, digits: int = 2) -> str:
    """Write a difference of shares: "5 points more", "1 point less"."""
    text = f"{100 * abs(more):.{digits}g}"
    return f"{text} {'point' if text == '1' else 'points'} {'more' if more > 0 else 'less'}"


def errs(more: float) -> str:
    """Say by how much something errs more or less than another."""
    return "errs as often" if abs(more) < ALIKE else f"errs on {points(more, 3)}"


def names(values: Sequence[Any], most: int, more: str = ", …") -> str:
    """List names, the first few of them."""
    return ", ".join(cell(str(value)) for value in values[:most]) + (
        more if len(values) > most else ""
    )


def page(*parts: str, notes: Sequence[str]) -> str:
    """Set parts and notes one below the other, empty lines between."""
    return "\n\n".join([*filter(None, parts), "\n".join(f"- {note}" for note in notes)])
