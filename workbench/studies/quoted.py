"""Pages and notebooks that quote figures: what these rest on, and whether it is of today.

A page says so itself, at its head, where readers of Markdown look for such things:

    ---
    trials:
    - {study: calibration, seeds: [2], trials: 3600, code: 5f2c…}
    ---

`stamp` writes it from a store; `stale` compares the code that made the trials with today's. Figures
that no study makes have the package that measured them and the day:

    measured:
    - {package: benchmarks, date: 2026-05-17, code: 5f2c…}

A notebook has in its metadata, under `workbench`, a digest of its cells' code and all that this
uses. A page in a folder `findings` that names neither is stale, and so is such a notebook: nobody
can tell.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.base.errors import InputError
from workbench.base.writing import write_whole
from workbench.studies.catalog import studies as catalog
from workbench.studies.claiming import Verdict
from workbench.studies.code import UNKNOWN, code_digest, digest_of_text
from workbench.studies.environment import workbench_digest
from workbench.studies.source import Source
from workbench.studies.store import Store

MARK = "---\n"
NOTEBOOK = ".ipynb"
SHOWN = 16
"""Digits of a digest that a page has."""
EXEMPT = ("index.md",)
"""Pages of a folder that quote nothing themselves."""
FINDINGS = "findings"
"""A folder all of whose other pages quote figures."""


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
class Measured:
    """Figures of a page that no study makes.

    Attributes
    ----------
    package
        That which measures them.
    date
        The day on which they were.
    code
        First digits of the digest of the package and all that it uses; empty where it is not on
        record.
    """

    package: str
    date: str
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
    try:
        return tuple(
            Quoted(str(row["study"]), tuple(row["seeds"]), int(row["trials"]), str(row["code"]))
            for row in _head(page).get("trials", [])
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{page}: its head is no list of trials with study, seeds, trials and code ({error}); "
            "write it by `workbench study stamp`"
        ) from None


def measured(page: Path) -> tuple[Measured, ...]:
    """Read which packages measured figures of a page; none where it names none.

    Raises
    ------
    InputError
        The page cannot be read, or its head is not of the form above.
    """
    try:
        return tuple(
            Measured(str(row["package"]), str(row["date"]), str(row["code"]))
            for row in _head(page).get("measured", [])
        )
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{page}: its head is no list of what was measured, with package, date and code "
            f"({error}); write it by `workbench study stamp --measured`"
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
    before = {row.study: row for row in quoted(page)}
    with Store.open(store) as kept:
        for study in studies or sorted(kept.studies()):
            version = Source.of(study).load().version
            before[study] = _of(study, kept.table(study, version), store)
    rows = tuple(before.values())
    _write(page, trials=[_row(row) for row in rows])
    return rows


def headed(text: str, store: Path, verdicts: Iterable[Verdict], earlier: Path | None = None) -> str:
    """Put at the head of a page of verdicts the trials that these rest on.

    Parameters
    ----------
    text
        The page, which has no head.
    store
        By whose trials verdicts were given.
    earlier
        The page whose verdicts stand where the store has no trials: what its head says of these
        stays; where it says nothing, the code that ran them is not on record.

    Raises
    ------
    InputError
        The store or the earlier page cannot be read.
    """
    before = {row.study: row for row in quoted(earlier)} if earlier is not None else {}
    parts = {part.study: part for verdict in verdicts for part in verdict.evidence}
    rows = []
    with Store.open(store) as kept:
        for study, part in parts.items():
            trials = kept.table(study, part.version)
            if len(trials):
                rows.append(_of(study, trials, store))
            else:
                counted = part.trials + part.failed
                rows.append(before.get(study, Quoted(study, part.seeds, counted, UNKNOWN)))
    return _whole({"trials": [_row(row) for row in rows]}, text) if rows else text


def stamp_measured(page: Path, package: str) -> Measured:
    """Write at a page's head that a package of the workbench measured its figures today.

    Raises
    ------
    InputError
        The page cannot be read.
    """
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    row = Measured(package, today, digest_of_text("", [package])[:SHOWN])
    before = [other for other in measured(page) if other.package != package]
    _write(page, measured=[asdict(each) for each in (*before, row)])
    return row


def notebook_digest(notebook: Path) -> str:
    """Digest of a notebook's code, of all that it uses, and of the studies that it names.

    Raises
    ------
    InputError
        The notebook cannot be read.
    """
    import ast

    cells = [cell for cell in _notebook(notebook)["cells"] if cell["cell_type"] == "code"]
    text = "\n".join("".join(cell["source"]) for cell in cells)
    texts = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
    named = sorted(name for name in catalog() if name in texts)
    modules = [Source.of(name).load().trial.__module__ for name in named]
    return digest_of_text(text, modules)[:SHOWN]


def stale(places: Iterable[Path]) -> list[Stale]:
    """Name the pages and notebooks whose figures were not all made by today's code.

    Parameters
    ----------
    places
        Pages, notebooks and folders. Of a folder all notebooks, the pages that name what their
        figures rest on, and those in folders `findings`, which have to.

    Raises
    ------
    InputError
        A page or notebook cannot be read.
    """
    return [Stale(page, reason) for page in _pages(places) if (reason := _reason(page))]


def _reason(page: Path) -> str:
    if page.suffix == NOTEBOOK:
        code = _notebook(page)["metadata"].get("workbench", {}).get("code", UNKNOWN)
        if code == notebook_digest(page):
            return ""
        return f"run by code {code}" if code else "does not say what code it was run by"
    trials, others = quoted(page), measured(page)
    if not trials and not others:
        return "names no trials"
    old = [
        f"{row.trials:,} trials of {row.study} by "
        + (f"code {row.code}" if row.code else "code of several days or not on record")
        for row in trials
        if row.code != code_digest(Source.of(row.study))[:SHOWN]
    ]
    old += [
        f"measured on {row.date} by {row.package} of "
        + (f"code {row.code}" if row.code else "code not on record")
        for row in others
        if row.code != digest_of_text("", [row.package])[:SHOWN]
    ]
    return "; ".join(old)


def _of(study: str, table: pd.DataFrame, store: Path) -> Quoted:
    if table.empty:
        raise InputError(f"{store}: no trials of {study} as it is now; run it first")
    seeds = tuple(sorted({int(seed) for seed in table["seed"]}))
    return Quoted(study, seeds, len(table), _code(study, table)[:SHOWN])


def _code(study: str, table: pd.DataFrame) -> str:
    """Digest of the code that ran trials: today's, where today's workbench did and nothing else.

    Records of release 2.0 have it themselves.
    """
    made_by = {name: set(table[f"environment.{name}"]) for name in ("workbench", "own", "code")}
    if made_by["workbench"] == {workbench_digest()} and made_by["own"] == {""}:
        return code_digest(Source.of(study))
    codes = made_by["code"]
    return str(codes.pop()) if len(codes) == 1 else UNKNOWN


def _pages(places: Iterable[Path]) -> list[Path]:
    pages: list[Path] = []
    for place in places:
        if place.is_dir():
            pages += sorted(place.rglob(f"*{NOTEBOOK}"))
            pages += [page for page in sorted(place.rglob("*.md")) if _quotes(page)]
        else:
            pages.append(place)
    return pages


def _quotes(page: Path) -> bool:
    """Whether a page of a folder has to name what its figures rest on, or does."""
    if page.name in EXEMPT:
        return False
    return page.parent.name == FINDINGS or bool({"trials", "measured"} & set(_head(page)))


def _notebook(path: Path) -> dict[str, Any]:
    try:
        book: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as a notebook ({error})") from None
    return book


def _head(page: Path) -> dict[str, Any]:
    import yaml

    head, _ = _parted(page)
    try:
        rows = yaml.safe_load(head) or {}
    except yaml.YAMLError as error:
        raise InputError(f"{page}: its head is no YAML ({error})") from None
    if not isinstance(rows, dict):
        raise InputError(f"{page}: its head is no list of names and values")
    return rows


def _row(row: Quoted) -> dict[str, Any]:
    return {**asdict(row), "seeds": list(row.seeds)}


def _write(page: Path, **entries: list[dict[str, Any]]) -> None:
    """Put entries in place of those of their names in a page's head."""
    _, body = _parted(page)
    write_whole(page, _whole({**_head(page), **entries}, body).encode())


def _whole(head: dict[str, Any], body: str) -> str:
    """A page of its head and body."""
    import yaml

    text = yaml.safe_dump(head, sort_keys=False, default_flow_style=None, width=1000)
    return f"{MARK}{text}{MARK}{body}"


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
