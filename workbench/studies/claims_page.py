"""The pages of verdicts, in Markdown: a table of all, and a page a paper with what is behind each.

The same verdicts give the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.base.errors import InputError
from workbench.studies.claiming import Claim, Evidence, Ruling, Verdict, Word

HEAD = """\
# What the papers claim, and what we measured
"""
LEGEND = """\
## How to read it

Every ruling and every figure is computed from the trials of a store:

    workbench study run STUDY --size paper --store studies.sqlite
    workbench claims --store studies.sqlite --out docs/claims.md

With `--keep` a store of some studies renews their claims alone; the others keep their verdict. What
the papers say, and on how many trials a ruling rests, stands on a page a paper in `papers/`.

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
FOLDER = "papers"
"""Beside the table, with a page a paper."""
OTHERS = "Claims of no paper"
OPEN = "<details><summary>Trials</summary>"
CLOSE = "</details>"
SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z])")
SHORT = 160
"""Letters of a cell in the table, at most."""


def shortened(text: str) -> str:
    """First sentence of a text, cut between words where it is long."""
    first = SENTENCE.split(text, maxsplit=1)[0]
    if len(first) <= SHORT:
        return first
    return first[:SHORT].rsplit(" ", 1)[0].rstrip(",;:") + " …"


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
    lines = [f"# {verdicts[0].claim.paper or OTHERS}"]
    for verdict in verdicts:
        lines += ["", f"## {verdict.claim.id}", "", f"{verdict.claim.source}", ""]
        lines += [f"**Claim.** {verdict.claim.statement}", ""]
        lines += [f"**Verdict: {verdict.word}.** {verdict.figures}"]
        if verdict.evidence:
            head = ("study", "trials", "infeasible", "failed", "seed", "study version", "workbench")
            rows = [_cells(each) for each in verdict.evidence]
            lines += ["", OPEN, "", *_table(head, rows), "", CLOSE]
    return "\n".join(lines) + "\n"


SECTION = re.compile(
    r"^## (?P<id>\S+)\n\n.*?^\*\*Verdict: (?P<word>[^*]+)\.\*\* (?P<figures>[^\n]*)\n"
    r"(?:\n(?:<details>[^\n]*\n\n)?\| study \|[^\n]*\n[^\n]*\n(?P<evidence>(?:\|[^\n]*\n)+))?",
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
                Ruling(Word(section["word"]), section["figures"]),
                tuple(_evidence(line) for line in (section["evidence"] or "").splitlines()),
            )
            for section in sections
            if (name := section["id"]) in claim_of
        }
    except (OSError, ValueError) as error:
        raise InputError(f"{page}: not a page of claims that can be read ({error})") from None


def _evidence(line: str) -> Evidence:
    cells = [cell.strip() for cell in line.strip("| ").split("|")]
    study, *counts, seeds, version, workbench = cells
    trials, infeasible, failed = (int(count.replace(",", "")) for count in counts)
    return Evidence(
        study,
        int(version),
        trials,
        infeasible,
        failed,
        tuple(int(seed) for seed in seeds.split(", ") if seed),
        () if workbench == "–" else tuple(workbench.split(", ")),
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
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(cell.replace('|', '∣') for cell in row)} |" for row in rows),
    ]
