"""The pages of verdicts, in Markdown: a table of all, and a page a paper.

A paper's page has its figures and tables first, the paper's words and numbers beside ours and the
command that makes each, and then what is behind every claim.

The same verdicts give the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.base.errors import InputError
from workbench.studies.claiming import Claim, Evidence, Ruling, Value, Verdict, Word

HEAD = """\
# What the papers claim, and what we measured
"""
LEGEND = """\
## How to read it

Every ruling and every figure is computed from the trials of a store:

    workbench study run STUDY --size paper --store studies.sqlite
    workbench claims --store studies.sqlite --out docs/claims.md

With `--keep` a store of some studies renews their claims alone; the others keep their verdict. What
the papers say, and on how many trials a ruling rests, stands on a page a paper in `papers/`, which
begins with the paper's figures and tables beside ours.

- *holds*: so it is in every trial, or beyond chance where the claim is one of probability.
- *holds as corrected*: it holds in part of the range compared, or under a condition that the
  statement does not mention, or that it takes for granted and that is not to be had in general.
- *void at the paper's own settings*: the conditions of the promise fail in the paper's own
  experiments. The figures say whether it holds where they do not.
- *refuted*: measured otherwise.
- *inconclusive*: measured, but chance or the room between bounds leaves it open.
- *does not transfer*: so it is where the paper measured it, and otherwise on other crowds.
- *no data*: it rests on data that cannot be had, or on a text that cannot be read.
- *not yet measured*: no verdict; the trials are missing, too few, or failed too often.
"""
FIGURES = """\
## Figures and tables

What the paper shows, and what our runs show; the place leads to the claim with all that is behind
it. Numbers in brackets are 95 % intervals; ± is one standard error, so that twice it is about such
an interval. No number is read off a picture: where the paper's text has none, what it says of the
picture stands in its place. Figures that print an algorithm are left out.

*Reproduces in part*: only in part of the range compared, or under a condition that the paper does
not mention. *Cannot be told*: the data cannot be had, or the trials leave it open.
"""
MADE = """\
Minutes are what the command takes on one core: the mean time of the trials we ran (of one
repetition, where a study takes long) times their number, on a machine that others used as well.
"""
FOLDER = "papers"
"""Beside the table, with a page a paper."""
SHOWN = re.compile(r"(?:Figure|Table) \d+")
"""A figure or table, at the head of a claim's source: what is asked of other data of one follows a
section's number."""
NUMBER = re.compile(r"[-+−]?\d")
REPRODUCED = {
    Word.HOLDS: "reproduces",
    Word.CORRECTED: "reproduces in part",
    Word.REFUTED: "does not reproduce",
}
"""Of the claims about a figure or table; whatever else is found cannot be told."""
OTHERS = "Claims of no paper"
OPEN = "<details><summary>Trials</summary>"
CLOSE = "</details>"
SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z])")
SHORT = 160
"""Letters of a cell in the table, at most."""
LONG = 2 * SHORT
"""Letters of what we measured, in the table at the head of a paper's page."""
MOST_VALUES = 3
"""Of a claim, in the table at the head of a page; all stand with the claim."""


def shortened(text: str) -> str:
    """First sentence of a text, cut between words where it is long."""
    return cut(SENTENCE.split(text, maxsplit=1)[0], SHORT)


def cut(text: str, most: int) -> str:
    """A text, cut between words where it has more letters than `most`."""
    if len(text) <= most:
        return text
    return text[:most].rsplit(" ", 1)[0].rstrip(",;:") + " …"


def by_paper(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Sort verdicts by the page that has all of them: its path from the table's folder."""
    pages: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        pages.setdefault(_page(verdict.claim), []).append(verdict)
    return pages


def _page(claim: Claim) -> str:
    name = "-".join(re.findall(r"\w+", (claim.paper or OTHERS).lower()))
    return f"{FOLDER}/{name}.md"


def table(verdicts: Sequence[Verdict]) -> str:
    """Write the table of all claims, a row each: what is claimed, ruling, figure, and a link."""
    counts = ", ".join(
        f"{sum(verdict.word is word for verdict in verdicts)} {word}"
        for word in Word
        if any(verdict.word is word for verdict in verdicts)
    )
    lines = [HEAD, f"{len(verdicts)} claims: {counts}.", ""]
    lines += _table(
        ("claim", "ruling", "figure", "all of it"),
        [
            (
                shortened(verdict.claim.statement),
                f"*{verdict.word}*",
                shortened(verdict.figures),
                f"[{verdict.claim.source}]({_page(verdict.claim)}#{verdict.claim.id})",
            )
            for verdict in verdicts
        ],
    )
    return "\n".join([*lines, "", LEGEND])


def paper_page(verdicts: Sequence[Verdict]) -> str:
    """Write the page of a paper: a section a claim, with all that is behind the ruling."""
    lines = [f"# {verdicts[0].claim.paper or OTHERS}", *_figures(verdicts), "", "## Claims"]
    for verdict in verdicts:
        ruling = verdict.ruling
        lines += ["", f"### {verdict.claim.id}", "", f"{verdict.claim.source}", ""]
        lines += [f"**Claim.** {verdict.claim.statement}", ""]
        lines += [f"**Verdict: {verdict.word}.** {verdict.figures}"]
        if ruling.numbers:
            values = [(value.what, value.printed, value.ours) for value in ruling.numbers]
            lines += ["", *_table(("value", "the paper", "ours"), values)]
        if ruling.caption:
            alt = ruling.caption.replace("[", "(").replace("]", ")")
            lines += ["", f"![{alt}]({picture(verdict.claim)})"]
        if verdict.evidence:
            head = ("study", "trials", "infeasible", "failed", "seed", "study version", "workbench")
            rows = [_cells(each) for each in verdict.evidence]
            lines += ["", OPEN, "", *_table((*head, "minutes"), rows), "", CLOSE]
    return "\n".join(lines) + "\n"


def picture(claim: Claim) -> str:
    """Name the file of a claim's picture, beside its paper's page."""
    return f"{claim.id}.png"


def _figures(verdicts: Sequence[Verdict]) -> list[str]:
    """Write the tables at the head of a page: what becomes of each figure, and what makes it."""
    shown: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        place = SHOWN.match(verdict.claim.source.removeprefix(f"{verdict.claim.paper}, "))
        if place:
            shown.setdefault(place[0], []).append(verdict)
    if not shown:
        return []
    rows, made = [], []
    for name in sorted(shown, key=lambda name: (name.split()[0], int(name.split()[1]))):
        for verdict in shown[name]:
            claim, ruling = verdict.claim, REPRODUCED.get(verdict.word, "cannot be told")
            link = f"[{name}](#{claim.id})"
            rows.append((link, shortened(claim.statement), _ours(verdict), f"*{ruling}*"))
        parts = {part.study: part for verdict in shown[name] for part in verdict.evidence}
        made += [
            (name, f"`workbench study run {part.study} --size paper`", _minutes(part))
            for part in parts.values()
        ]
    lines = ["", FIGURES, *_table(("place", "the paper", "ours", "ruling"), rows)]
    return [*lines, "", MADE, *_table(("place", "made by", "minutes"), made)] if made else lines


def _ours(verdict: Verdict) -> str:
    """What we measured, for a cell: some of the values, or the beginning of the figures."""
    values = verdict.ruling.numbers[:MOST_VALUES]
    if not values:
        return cut(verdict.figures, LONG)
    return "; ".join(
        f"{value.what}: {value.ours}"
        + (f" (printed: {value.printed})" if NUMBER.match(value.printed) else "")
        for value in values
    )


SECTION = re.compile(
    r"^### (?P<id>\S+)\n\n.*?^\*\*Verdict: (?P<word>[^*]+)\.\*\* (?P<figures>[^\n]*)\n"
    r"(?:\n\| value \|[^\n]*\n[^\n]*\n(?P<values>(?:\|[^\n]*\n)+))?"
    r"(?:\n!\[(?P<caption>[^\]]*)\]\([^\n]*\n)?"
    r"(?:\n<details>[^\n]*\n\n\| study \|[^\n]*\n[^\n]*\n(?P<evidence>(?:\|[^\n]*\n)+))?",
    re.MULTILINE | re.DOTALL,
)
"""A claim's section of its paper's page."""


def read_page(page: Path, claims: Iterable[Claim]) -> dict[str, Verdict]:
    """Read verdicts back, of those claims that are there: by claim id.

    Parameters
    ----------
    page
        The table of all; the pages of the papers lie in the folder beside it.

    Raises
    ------
    InputError
        There is no such page.
    """
    claim_of = {claim.id: claim for claim in claims}
    try:
        page.read_text("utf-8")
        papers = [path.read_text("utf-8") for path in sorted((page.parent / FOLDER).glob("*.md"))]
        sections = [section for text in papers for section in SECTION.finditer(text)]
        return {
            name: Verdict(
                claim_of[name],
                Ruling(
                    Word(section["word"]),
                    section["figures"],
                    tuple(Value(*_split(line)) for line in (section["values"] or "").splitlines()),
                    section["caption"] or "",
                ),
                tuple(_evidence(line) for line in (section["evidence"] or "").splitlines()),
            )
            for section in sections
            if (name := section["id"]) in claim_of
        }
    except (OSError, ValueError) as error:
        raise InputError(f"{page}: not a page of claims that can be read ({error})") from None


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split("|")]


def _evidence(line: str) -> Evidence:
    study, *counts, seeds, version, workbench, minutes = _split(line)
    trials, infeasible, failed = (int(count.replace(",", "")) for count in counts)
    return Evidence(
        study,
        int(version),
        trials,
        infeasible,
        failed,
        tuple(int(seed) for seed in seeds.split(", ") if seed),
        () if workbench == "–" else tuple(workbench.split(", ")),
        None if minutes == "–" else float(minutes),
    )


def _cells(evidence: Evidence) -> tuple[str, ...]:
    seeds = ", ".join(str(seed) for seed in evidence.seeds)
    versions = ", ".join(evidence.workbench) or "–"
    return (
        evidence.study,
        f"{evidence.trials:,}",
        f"{evidence.infeasible:,}",
        f"{evidence.failed:,}",
        seeds,
        str(evidence.version),
        versions,
        _minutes(evidence),
    )


def _minutes(evidence: Evidence) -> str:
    return "–" if evidence.minutes is None else f"{evidence.minutes:g}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(cell.replace('|', '∣') for cell in row)} |" for row in rows),
    ]
