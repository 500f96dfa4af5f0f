"""The bench (under the command line): figures beside what they are to be compared with.

Both sides run in turn, A B A B, and what counts is the ratio of each pair, because the machine
is shared and its seconds are worth little. `rows` declares what is measured, `measure` how; the
other modules hold a row or a few each, and `growth` what cost does as a problem grows.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.measure import SMOKE, BenchResult, BenchRow, BenchSize, measured
from benchmarks.rows import ROWS
from workbench.base.errors import InputError
from workbench.base.text import table

__all__ = [
    "SMOKE",
    "BenchResult",
    "BenchRow",
    "BenchSize",
    "bench",
    "chosen",
    "read_results",
    "report",
    "report_about",
    "text",
]


def bench(names: tuple[str, ...], size: BenchSize, *, judge: bool = True) -> Iterator[BenchResult]:
    """Measure rows, one after the other.

    Parameters
    ----------
    names
        Rows by name; none for all.
    judge
        False leaves the targets out, as for a size they were not set for.

    Raises
    ------
    InputError
        For an unknown row.
    """
    return (measured(row, size, judge) for row in chosen(names))


def chosen(names: tuple[str, ...]) -> list[BenchRow]:
    """Rows by name, in the order of the table; none for all."""
    rows = {row.name: row for row in ROWS}
    for name in names:
        if name not in rows:
            raise InputError(f"no row {name!r} to measure: there are {', '.join(rows)}")
    return [row for row in ROWS if not names or row.name in names]


def read_results(path: Path, size: BenchSize) -> list[BenchResult]:
    """Rows of an earlier run that was stopped; none where there is no file.

    Raises
    ------
    InputError
        It is no such file, or its rows are of another size, machine or version.
    """
    if not path.exists():
        return []
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        results = [BenchResult(**row) for row in stored["rows"]]
        before = {name: stored[name] for name in ("machine", "versions", "size")}
    except (ValueError, KeyError, TypeError, OSError):
        raise InputError(f"--out {path}: holds no rows; remove it or name another") from None
    now = json.loads(json.dumps(report([], size)))
    for name, value in before.items():
        if value != now[name]:
            raise InputError(f"--out {path}: rows of another {name}; remove it or name another")
    return results


def report(results: list[BenchResult], size: BenchSize) -> dict[str, Any]:
    """Everything measured, with the machine and the versions, in plain types."""
    return {
        **report_about(),
        "size": asdict(size),
        "rows": [asdict(result) for result in results],
    }


def text(results: list[BenchResult], payload: dict[str, Any]) -> str:
    """Lay out what was measured, and by what and where, of a `report`."""
    header = ("row", "ours", "beside", "ratio", "target", "reached", "note")
    about = ", ".join(f"{k} {v}" for k, v in {**payload["machine"], **payload["versions"]}.items())
    return f"{table(header, [result.cells() for result in results])}\n\n{about}"


def report_about() -> dict[str, Any]:
    """The machine, and the versions of whatever had a hand in the figures."""
    from benchmarks.peers import peer_versions
    from workbench.api.result import SCHEMA
    from workbench.solving import versions

    return {
        "schema": SCHEMA,
        "machine": {
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "cores": os.cpu_count(),
        },
        "versions": versions() | peer_versions(),
    }
