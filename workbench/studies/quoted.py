"""Pages and notebooks that show figures: of which release these are, and which studies made them.

A page says so at its head, where readers of Markdown look for such things:

    ---
    release: 2.0.0
    studies: [aggregation, whole-crowds]
    ---

A notebook says the same in its metadata, under `workbench`. Where no study makes the figures, as
where they are times, the list is empty.

`stale` looks at results and not at code: it runs each study's smoke sweep and compares the records
with its probe (`workbench.studies.probe`). Where they differ, the pages of this study are stale,
until either their figures are renewed or the probe is: then the stamp says truly of which release
the figures are, and `stale` lists the page as one of older results.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import workbench
from workbench.base.errors import InputError
from workbench.base.writing import write_whole
from workbench.studies import probe
from workbench.studies.catalog import studies as catalog
from workbench.studies.claiming import Verdict
from workbench.studies.source import Source
from workbench.studies.store import Store

MARK = "---\n"
NOTEBOOK = ".ipynb"
EXEMPT = ("index.md",)
"""Pages of a folder that show nothing themselves."""
FINDINGS = "findings"
"""A folder all of whose other pages show figures."""
MADE_BY = "environment.crowd-workbench"
"""Column of a store's tables with the release that made a trial."""


@dataclass(frozen=True)
class Stamp:
    """What figures of a page are.

    Attributes
    ----------
    release
        Of the workbench, that made them; the oldest of several.
    studies
        Names of those whose trials they rest on.
    """

    release: str
    studies: tuple[str, ...]

    def text(self) -> str:
        """Say it in a few words."""
        made = f", of {', '.join(self.studies)}" if self.studies else ""
        return f"figures of release {self.release}{made}"


@dataclass(frozen=True)
class Quoting:
    """A page whose figures may not be those of today, and why.

    Attributes
    ----------
    stale
        Whether something has to be done. Otherwise the page says truly of which release its
        figures are, and results have changed since.
    """

    page: Path
    reason: str
    stale: bool = True


def quoted(page: Path) -> Stamp | None:
    """Read the stamp of a page or notebook; None where it has none.

    Raises
    ------
    InputError
        The page cannot be read, or its stamp is not of the form above.
    """
    if page.suffix == NOTEBOOK:
        head = _notebook(page)["metadata"].get("workbench", {})
    else:
        head = _head(page)
    release, studies = head.get("release"), head.get("studies")
    if release is None and studies is None:
        return None
    if not isinstance(release, str) or not isinstance(studies, list):
        raise InputError(
            f"{page}: give release and list of studies at its head, by `workbench study stamp`"
        )
    return Stamp(release, tuple(map(str, studies)))


def stamp(page: Path, store: Path, studies: Sequence[str] = ()) -> Stamp:
    """Write at a page's head of which release its figures are, and which studies made them.

    Studies that the page names already stay.

    Parameters
    ----------
    store
        With the trials that the figures rest on; the oldest release that made some is the page's.
    studies
        Names; empty for all in the store.

    Raises
    ------
    InputError
        Page or store cannot be read, or the store has no trials of a study.
    """
    before = quoted(page)
    with Store.open(store) as opened:
        named = list(studies) or sorted(opened.studies())
        made: list[str] = []
        for study in named:
            table = opened.table(study, Source.of(study).load().version)
            if table.empty:
                raise InputError(f"{store}: no trials of {study} as it is now; run it first")
            made += map(str, table[MADE_BY].dropna())
    kept = [name for name in before.studies if name not in named] if before else []
    if before and kept:
        made.append(before.release)
    row = Stamp(_oldest(made), (*kept, *named))
    _, body = _parted(page)
    write_whole(page, _whole({**_head(page), **_entries(row)}, body).encode())
    return row


def headed(text: str, verdicts: Iterable[Verdict]) -> str:
    """Put a stamp at the head of a page of verdicts: what their evidence is.

    Parameters
    ----------
    text
        The page, which has no head.
    verdicts
        Those it shows; of some that are kept of an earlier page, too.
    """
    parts = [part for verdict in verdicts for part in verdict.evidence]
    if not parts:
        return text
    named = tuple(dict.fromkeys(part.study for part in parts))
    row = Stamp(_oldest([release for part in parts for release in part.workbench]), named)
    return _whole(_entries(row), text)


def notebook_stamp(notebook: Path) -> Stamp:
    """Give the stamp of a notebook that is run today: the studies that its cells name.

    Raises
    ------
    InputError
        The notebook cannot be read.
    """
    cells = [cell for cell in _notebook(notebook)["cells"] if cell["cell_type"] == "code"]
    tree = ast.parse("\n".join("".join(cell["source"]) for cell in cells))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return Stamp(workbench.__version__, tuple(name for name in catalog() if name in texts))


def stale(places: Iterable[Path]) -> list[Quoting]:
    """Run the smoke sweeps of the studies that pages name, and list pages of other results.

    Parameters
    ----------
    places
        Pages, notebooks and folders. Of a folder all notebooks, the pages that have a stamp, and
        those in folders `findings`, which have to.

    Raises
    ------
    InputError
        A page, notebook or probe cannot be read.
    """
    stamps = {page: quoted(page) for page in _pages(places)}
    named = dict.fromkeys(name for row in stamps.values() if row for name in row.studies)
    standing = {name: _standing(name) for name in named}
    return [found for page, row in stamps.items() for found in _judged(page, row, standing)]


def _standing(study: str) -> tuple[str, str]:
    """What is wrong with a study's results, empty if nothing is; since when they are these."""
    if study not in catalog():
        return f"there is no study {study}", ""
    source = Source.of(study)
    before = probe.read_probe(source)
    if before is None:
        return f"{study} has no probe (workbench study probe {study} writes one)", ""
    found = probe.differences(before, probe.run_probe(source))
    if found:
        return f"{study} gives other records than its probe: {probe.in_short(found)}", before.since
    return "", before.since


def _judged(
    page: Path, row: Stamp | None, standing: dict[str, tuple[str, str]]
) -> Iterable[Quoting]:
    if row is None:
        yield Quoting(page, "names neither a release nor studies")
        return
    wrong = [standing[name][0] for name in row.studies if standing[name][0]]
    if wrong:
        yield Quoting(page, "; ".join(wrong))
        return
    since = {name: standing[name][1] for name in row.studies}
    later = [name for name in row.studies if _order(since[name]) > _order(row.release)]
    if later:
        others = ", ".join(f"{name} since {since[name]}" for name in later)
        reason = f"shows figures of release {row.release}; others come of {others}"
        yield Quoting(page, reason, stale=False)


def _order(release: str) -> tuple[int, ...]:
    number, _, before = release.partition(".dev")
    return (*(int(part) for part in re.findall(r"\d+", number)), -1 if before else 0)


def _oldest(releases: Iterable[str]) -> str:
    return min(releases, key=_order, default=workbench.__version__)


def _pages(places: Iterable[Path]) -> list[Path]:
    pages: list[Path] = []
    for place in places:
        if place.is_dir():
            pages += sorted(place.rglob(f"*{NOTEBOOK}"))
            pages += [page for page in sorted(place.rglob("*.md")) if _quotes(page)]
        else:
            pages.append(place)
    return list(dict.fromkeys(pages))


def _quotes(page: Path) -> bool:
    """Whether a page of a folder has to say what its figures are, or does."""
    if page.name in EXEMPT:
        return False
    return page.parent.name == FINDINGS or quoted(page) is not None


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


def _entries(row: Stamp) -> dict[str, Any]:
    return {**asdict(row), "studies": list(row.studies)}


def _whole(head: dict[str, Any], body: str) -> str:
    """A page of its head and body."""
    import yaml

    text = yaml.safe_dump(head, sort_keys=False, default_flow_style=None, width=100)
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
