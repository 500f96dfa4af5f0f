"""Pages that quote figures of studies: which trials they rest on, and whether these are of today.

A page says so itself, at its head, where readers of Markdown look for such things:

    ---
    trials:
    - {study: calibration, seeds: [2], trials: 3600, code: 5f2c…}
    ---

`stamp` writes it from a store; `stale` compares the code that made the trials with today's. A page
that names no trials is stale: nobody can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from workbench.base.errors import InputError
from workbench.base.writing import write_whole
from workbench.studies.code import UNKNOWN, code_digest
from workbench.studies.source import Source
from workbench.studies.store import Store

MARK = "---\n"
SHOWN = 16
"""Digits of a digest that a page has."""
EXEMPT = ("index.md",)
"""Pages of a folder that quote nothing themselves."""


@dataclass(frozen=True)
class Quoted:
    """Trials of one study that a page rests on.

    Attributes
    ----------
    study
        Its name in the catalog.
    seeds
        Seeds of the runs.
    trials
        How many there are.
    code
        First digits of the digest of the code that ran them (`workbench.studies.code`); empty
        where several did, or where it is not on record.
    """

    study: str
    seeds: tuple[int, ...]
    trials: int
    code: str


@dataclass(frozen=True)
class Stale:
    """A page whose figures are not known to be those of today's code, and why."""

    page: Path
    reason: str


def quoted(page: Path) -> tuple[Quoted, ...]:
    """Read which trials a page names; none where it names none.

    Raises
    ------
    InputError
        The page cannot be read, or its head is not of the form above.
    """
    import yaml

    head, _ = _parted(page)
    try:
        rows = (yaml.safe_load(head) or {}).get("trials", [])
        return tuple(
            Quoted(str(row["study"]), tuple(row["seeds"]), int(row["trials"]), str(row["code"]))
            for row in rows
        )
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{page}: its head is no list of trials with study, seeds, trials and code ({error}); "
            "write it by `workbench study stamp`"
        ) from None


def stamp(page: Path, store: Path, studies: Sequence[str] = ()) -> tuple[Quoted, ...]:
    """Write at a page's head which trials of a store it rests on.

    Studies that the page names already and that are not named here stay.

    Parameters
    ----------
    studies
        Names; empty for all in the store.

    Raises
    ------
    InputError
        Page or store cannot be read, or the store has no trials of a study.
    """
    import yaml

    before = {row.study: row for row in quoted(page)}
    with Store.open(store) as kept:
        for study in studies or sorted(kept.studies()):
            version = Source.of(study).load().version
            before[study] = _of(study, kept.table(study, version), store)
    rows = tuple(before.values())
    listed = [{**asdict(row), "seeds": list(row.seeds)} for row in rows]
    _, body = _parted(page)
    head = yaml.safe_dump({"trials": listed}, sort_keys=False, default_flow_style=None, width=1000)
    write_whole(page, f"{MARK}{head}{MARK}{body}".encode())
    return rows


def stale(pages: Iterable[Path]) -> list[Stale]:
    """Name the pages whose trials were not all run by today's code; of a folder all its pages.

    Raises
    ------
    InputError
        A page cannot be read.
    """
    return [Stale(page, reason) for page in _pages(pages) if (reason := _reason(page))]


def _reason(page: Path) -> str:
    rows = quoted(page)
    if not rows:
        return "names no trials"
    old = [row for row in rows if row.code != code_digest(Source.of(row.study))[:SHOWN]]
    return "; ".join(
        f"{row.trials:,} trials of {row.study} by "
        + (f"code {row.code}" if row.code else "code of several days or not on record")
        for row in old
    )


def _of(study: str, table: pd.DataFrame, store: Path) -> Quoted:
    if table.empty:
        raise InputError(f"{store}: no trials of {study} as it is now; run it first")
    codes = set(table.get("environment.code", pd.Series(UNKNOWN, index=table.index)))
    code = codes.pop() if len(codes) == 1 else UNKNOWN
    seeds = tuple(sorted({int(seed) for seed in table["seed"]}))
    return Quoted(study, seeds, len(table), code[:SHOWN])


def _pages(places: Iterable[Path]) -> list[Path]:
    pages: list[Path] = []
    for place in places:
        inside = sorted(place.glob("*.md")) if place.is_dir() else [place]
        pages += [page for page in inside if page.name not in EXEMPT or page == place]
    return pages


def _parted(page: Path) -> tuple[str, str]:
    """Head and body of a page."""
    try:
        text = page.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{page}: cannot be read ({error})") from None
    if text.startswith(MARK) and MARK in text[len(MARK) :]:
        head, _, body = text[len(MARK) :].partition(MARK)
        return head, body
    return "", text
