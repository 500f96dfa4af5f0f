"""Text that people and programs read: lines for a terminal, tables, strict JSON."""

from __future__ import annotations

import difflib
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, TypeAlias

LONGEST_LINE = 2000
"""Characters of a line for a person: start and end are kept of a longer one."""
WIDEST_CELL = 100
Form: TypeAlias = str | Callable[[Any], str]
"""How a value is written: a format, as ".3f", or a function."""
Columns: TypeAlias = Mapping[str, tuple[str, Form]]
"""Of each column of a table, by its name, how it is headed and how its values are written."""


def printable(text: str) -> str:
    """Spell out control characters, and cut lines that are too long.

    No worker's name may steer a terminal, or flood it; JSON and files have it as it is.
    """
    spelled = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    return "\n".join(_cut(line, LONGEST_LINE) for line in spelled.split("\n"))


TOGETHER = re.compile(r"'workbench [^'\n]*'|(?<=: )workbench [^\n]*|(?<=\d) (?=%)|(?<=±) (?=\d)")
"""What stays on one line: a command, which is copied (in quotes, or after a colon to the end of the
line), and a number with its sign."""
HARD = "\N{NO-BREAK SPACE}"


def wrapped(text: str, width: int) -> str:
    """Break the lines of prose at a width, and leave tables as they are.

    A table is lines without an empty one between, of which some have two blanks between words.
    Notes, which begin with a dash, go on below their first word. `text` is printable.
    """
    blocks = text.split("\n\n")
    return "\n\n".join(
        block if re.search(r"\S  +\S", block) else _broken(block, width) for block in blocks
    )


def _broken(block: str, width: int) -> str:
    """The same of lines that are all prose."""
    lines = []
    for line in TOGETHER.sub(lambda found: found[0].replace(" ", HARD), block).split("\n"):
        start = line[: len(line) - len(line.lstrip("- "))]
        lines += textwrap.wrap(
            line,
            width,
            subsequent_indent=" " * len(start),
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return "\n".join(lines).replace(HARD, " ")


def cell(text: str) -> str:
    """Write a cell of a table: on one line, and of some width at most."""
    return _cut(printable(text).replace("\n", "\\n"), WIDEST_CELL)


def _cut(line: str, most: int) -> str:
    return line if len(line) <= most else f"{line[: most * 2 // 3]} … {line[-most // 3 + 3 :]}"


def counted(many: int, what: str) -> str:
    """Write how many of something: "1 label", "2 labels"."""
    return f"{many} {what}{'' if many == 1 else 's'}"


def rounded(many: float, what: str) -> str:
    """Write a mean of something in three digits: "1 label", "1.95 labels"."""
    text = f"{many:.3g}"
    return f"{text} {what}{'' if text == '1' else 's'}"


def answered(tasks: int, labels: int, workers: int) -> str:
    """Say how many tasks are answered, from what."""
    are = "is" if tasks == 1 else "are"
    return (
        f"{counted(tasks, 'task')} {are} answered from {counted(labels, 'label')} by "
        f"{counted(workers, 'worker')}"
    )


def guess(name: object, there: Iterable[str]) -> str:
    """Ask whether the nearest of those there are was meant; empty where none is near."""
    near = difflib.get_close_matches(str(name).casefold(), there, n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def at_least(value: float, digits: int = 3) -> str:
    """A lower bound in so many digits, rounded down, so that what is said holds."""
    return f"{_rounded(value, digits, up=False):,f}"


def at_most(value: float, digits: int = 3) -> str:
    """An upper bound in so many digits, rounded up, so that what is said holds."""
    return f"{_rounded(value, digits, up=True):,f}"


def _rounded(value: float, digits: int, *, up: bool) -> Decimal:
    # What sums of floats leave in the last digits is not worth a digit more.
    exact = Decimal(f"{value:.13g}")
    step = Decimal(1).scaleb(exact.adjusted() + 1 - digits)
    rounded = exact.quantize(step, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return rounded.normalize() + Decimal(0)


def table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Lay rows of text out in columns."""
    lines = [tuple(map(cell, line)) for line in (header, *rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def shown(value: Any, form: Form = "") -> str:
    """Write a value for a person; a dash where there is none."""
    if callable(form):
        return form(value)
    if not isinstance(value, str) and str(value) in ("None", "nan", "<NA>"):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:{form}}"


def tabled(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> str:
    """Lay rows out in the columns that they have."""
    there = {name: how for name, how in columns.items() if not rows or name in rows[0]}
    cells = [tuple(shown(row[name], form) for name, (_, form) in there.items()) for row in rows]
    return table(tuple(head for head, _ in there.values()), cells)


def plain(value: Any) -> Any:
    """Give a value in the types that JSON has; what is not finite becomes None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, frozenset):
        return sorted(map(str, value))
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return value if isinstance(value, (int, str)) or value is None else str(value)


def strict_json(payload: Any) -> str:
    """Write a payload as strict JSON: what is not finite becomes null.

    Every character that a terminal may take for a command is escaped.
    """
    text = json.dumps(plain(payload), allow_nan=False, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
