"""What every result of the front door can do: frame, dictionary, text, picture, equality."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.errors import InputError
from workbench.base.text import cell, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SCHEMA = 1
"""Version of what `to_dict` gives; keys may be added without a new one."""
UNCOMPARED = frozenset({"seconds", "history", "versions"})
"""Keys that differ between two runs that found the same."""
SHOWN = 20
"""Rows of a table that are shown."""


class Result:
    """Base of the frozen dataclasses that front-door functions give back."""

    __hash__ = None  # type: ignore[assignment]
    pictured = False
    """Whether the picture says more than the table: a notebook then shows it too."""

    def to_frame(self) -> pd.DataFrame:
        """Give the table that answers the question, with the user's own ids."""
        raise NotImplementedError

    def summary(self) -> str:
        """Give the text that the command prints."""
        raise NotImplementedError

    def plot(self) -> Figure:
        """Draw the result."""
        raise InputError(f"plot: there is no figure of a {type(self).__name__}")

    def _payload(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Give everything that is known in plain types, as the command's `--json` prints it."""
        known: dict[str, Any] = plain(self._payload())
        return {"schema": SCHEMA, **known}

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
        text = html.escape(repr(self))
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


def shown(value: Any, form: str = ".3f") -> str:
    """Write a number; a dash where there is none."""
    return "–" if value is None or math.isnan(value) else f"{value:{form}}"


def facts(rows: Iterable[tuple[str, str]], width: int = 0, indent: str = "") -> list[str]:
    """Write names and what is known, a line each, in two columns."""
    listed = list(rows)
    width = width or max(len(name) for name, _ in listed)
    return [f"{indent}{name.ljust(width)} {value}" for name, value in listed]


def names(values: Sequence[Any], most: int, more: str = ", …") -> str:
    """List names, the first few of them."""
    return ", ".join(cell(str(value)) for value in values[:most]) + (
        more if len(values) > most else ""
    )


def page(head: str, *parts: str | Sequence[str], notes: Sequence[str]) -> str:
    """Set a head, parts and notes one below the other, empty lines between."""
    blocks = [part if isinstance(part, str) else "\n".join(part) for part in parts]
    return "\n\n".join([head, *filter(None, blocks), "\n".join(f"- {note}" for note in notes)])
