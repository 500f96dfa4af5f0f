"""The pages of verdicts, in Markdown: a table of all, and one page per paper; all of it as JSON.

A paper's page has one row per claim: what the paper says, what we measured, the ruling and the
study. The JSON beside the table keeps what a row has no place for: every value, the trials of each
study, their seeds and releases. Verdicts are read back from there.

The same verdicts give the same text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from workbench.base.errors import InputError
from workbench.studies.claiming import Claim, Evidence, Ruling, Value, Verdict, Word

HEAD = """\
# What the papers claim, and what we measured

Every ruling and every figure is computed from the trials of a store:

    workbench study run STUDY --size paper --store studies.sqlite
    workbench claims --store studies.sqlite --out docs/claims.md

With `--keep` a store that has only some studies renews only their claims. A paper's page says what
each claim is and what we measured; `claims.json`, beside this page in the repository, has all
values and trials.
"""
MEANING = {
    Word.HOLDS: "It is true in every trial, or beyond chance where the claim is of a probability.",
    Word.CORRECTED: "It is true in part of the range compared, or under a condition that the "
    "statement does not mention, or that it takes for granted and that often fails.",
    Word.VOID: "The conditions of the promise fail in the paper's own experiments.",
    Word.REFUTED: "Our measurements contradict it.",
    Word.INCONCLUSIVE: "Chance, or the distance between two bounds, leaves it open.",
    Word.DOES_NOT_TRANSFER: "It is true where the paper measured it, and false on other crowds.",
    Word.NO_DATA: "It rests on data that nobody can get, or on a text that cannot be read.",
    Word.UNMEASURED: "The trials are missing, too few, or failed too often.",
}
READING = """\
[Claims](../claims.md) says what a ruling means. Numbers in brackets are 95 % intervals; ± is one
standard error. A cell shows the first results; `claims.json` in the repository has all.
"""
MADE = """\
`workbench study run STUDY --size paper` takes these minutes on one core.
"""
FOLDER = "papers"
"""Beside the table, with one page per paper."""
SHOWN = re.compile(r"(Figure|Table) (\d+)")
"""A figure or table, at the head of a claim's source: what is asked of other data of one follows a
section's number."""
NUMBER = re.compile(r"[-+−]?\d")
OTHERS = "Claims of no paper"
SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z])")
REMARK = re.compile(r"\s+\((?=[A-Z][a-z]+:? )")
"""Where a sentence in brackets begins: how a claim was read."""
ITEM = re.compile(r"(?:[.;]|± [\d.]+,|\d[^()]*\),)(?=\s(?!then\b))")
"""The end of a sentence or of an item of a list, which may be a number and what makes it sure."""
LONG = 90
"""Letters of what we measured in a cell, at most."""
MOST_VALUES = 2
"""Values of a claim in a cell, at most."""


def first_sentence(text: str) -> str:
    """First sentence of a text, without the remark in brackets that may follow it."""
    first = REMARK.split(SENTENCE.split(text, maxsplit=1)[0], maxsplit=1)[0]
    return f"{first[:-1]}." if first.endswith(";") else first


def cut(text: str, most: int = LONG) -> str:
    """Beginning of a text of at most `most` letters, whole sentences or items of a list.

    Where even the first with a number is longer, it is given all the same.
    """
    if len(text) <= most:
        return text
    ends = [found.end() - 1 for found in ITEM.finditer(text)]
    ends = [end for end in ends if _has_number(text[:end])]
    if not ends:
        return text
    end = max((end for end in ends if end <= most), default=ends[0])
    return text[:end] + "."


def _has_number(text: str) -> bool:
    """Whether a beginning has a number, and every bracket that it opens is closed."""
    closed = all(text.count(left) == text.count(right) for left, right in ("()", "[]"))
    return closed and NUMBER.search(text) is not None


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
    """Write the table of all claims, by ruling: one row per paper leads to its page."""
    counts = _counted(verdicts)
    lines = [HEAD, f"{len(verdicts)} claims: {', '.join(f'{n} {word}' for word, n in counts)}."]
    for word, count in counts:
        those = [verdict for verdict in verdicts if verdict.word is word]
        lines += ["", f"## {word}: {count}".replace(f" {word}", f" {word.capitalize()}")]
        rows = [
            (f"[{own[0].claim.paper or OTHERS}]({page})", _listed(own))
            for page, own in by_paper(those).items()
        ]
        lines += ["", MEANING[word], "", *_table(("paper", "claims"), rows)]
    return "\n".join(lines) + "\n"


def _listed(verdicts: Sequence[Verdict]) -> str:
    """Place of each claim in its paper."""
    return "; ".join(dict.fromkeys(_place(one.claim) for one in verdicts))


def paper_page(verdicts: Sequence[Verdict]) -> str:
    """Write the page of a paper: one row per claim, figures and tables first, and the pictures.

    Claims about data that nobody can get are a line at the end.
    """
    measured = [verdict for verdict in verdicts if not _without_data(verdict)]
    shown = sorted(
        (verdict for verdict in measured if _figure(verdict.claim)[1]),
        key=lambda verdict: _figure(verdict.claim),
    )
    others = [verdict for verdict in measured if not _figure(verdict.claim)[1]]
    lines = [f"# {verdicts[0].claim.paper or OTHERS}", "", READING]
    for title, those in ("Figures and tables", shown), ("Theorems and other claims", others):
        if those:
            rows = [_row(verdict) for verdict in those]
            head = ("place", "claim of the paper", "our result", "ruling", "study")
            lines += [f"## {title}", "", *_table(head, rows), ""]
    lines += _lost(verdict for verdict in verdicts if _without_data(verdict))
    lines += [line for verdict in verdicts if verdict.ruling.caption for line in _drawn(verdict)]
    minutes = {
        part.study: f"{part.minutes:g}"
        for verdict in verdicts
        for part in verdict.evidence
        if part.minutes is not None
    }
    if minutes:
        lines += ["## Studies", "", MADE, *_table(("study", "minutes"), list(minutes.items()))]
    return "\n".join(lines).rstrip("\n") + "\n"


def picture(claim: Claim) -> str:
    """Name the file of a claim's picture, beside its paper's page."""
    return f"{claim.id}.png"


def _counted(verdicts: Sequence[Verdict]) -> list[tuple[Word, int]]:
    counts = [(word, sum(verdict.word is word for verdict in verdicts)) for word in Word]
    return [(word, count) for word, count in counts if count]


def _place(claim: Claim) -> str:
    """Where in its paper a claim stands."""
    return claim.source.removeprefix(f"{claim.paper}, ")


def _figure(claim: Claim) -> tuple[str, int]:
    """Kind and number of the figure or table that a claim is about; 0 for none."""
    found = SHOWN.match(_place(claim))
    return (found[1], int(found[2])) if found else ("", 0)


def _row(verdict: Verdict) -> tuple[str, ...]:
    claim = verdict.claim
    studies = ", ".join(part.study for part in verdict.evidence) or "–"
    said = first_sentence(claim.statement)
    return _place(claim), said, _ours(verdict), f"*{verdict.word}*", studies


def _ours(verdict: Verdict) -> str:
    """What we measured: some of the values, or the beginning of the figures."""
    values = verdict.ruling.numbers[:MOST_VALUES]
    if not values:
        return cut(verdict.figures)
    shared, names = _apart([value.what for value in values])
    return shared + "; ".join(
        f"{name}{value.ours}"
        + (f" (printed: {value.printed})" if NUMBER.match(value.printed) else "")
        for name, value in zip(names, values, strict=True)
    )


def _apart(names: Sequence[str]) -> tuple[str, list[str]]:
    """What the names of values have in common, which stands first; and the rest of each name."""
    parts = [name.split(", ") for name in names]
    common = [part for part in parts[0] if all(part in other for other in parts)]
    rests = [", ".join(part for part in own if part not in common) for own in parts]
    if not common or not all(rests):
        return "", [f"{name}: " for name in names]
    return f"{', '.join(common)}: ", [f"{rest}, " for rest in rests]


def _without_data(verdict: Verdict) -> bool:
    return verdict.word is Word.NO_DATA and not verdict.claim.studies


def _lost(verdicts: Iterable[Verdict]) -> list[str]:
    """Why there are no data, and for which claims."""
    places: dict[str, list[str]] = {}
    for verdict in verdicts:
        places.setdefault(first_sentence(verdict.figures), []).append(_place(verdict.claim))
    rows = [f"- {', '.join(those)}: {why}" for why, those in places.items()]
    return ["## No data", "", *rows, ""] if rows else []


def _drawn(verdict: Verdict) -> list[str]:
    alt = verdict.ruling.caption.replace("[", "(").replace("]", ")")
    return [f"**{_place(verdict.claim)}**", "", f"![{alt}]({picture(verdict.claim)})", ""]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(cell.replace('|', '∣') for cell in row)} |" for row in rows),
    ]


def kept_at(page: Path) -> Path:
    """Where the verdicts of a page lie, whole."""
    return page.with_suffix(".json")


def as_json(verdicts: Iterable[Verdict]) -> str:
    """Write verdicts whole, one entry per claim: `read_page` reads them back."""
    rows = [{**verdict.payload(), "caption": verdict.ruling.caption} for verdict in verdicts]
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


def read_page(page: Path, claims: Iterable[Claim]) -> dict[str, Verdict]:
    """Read verdicts back, of those claims that are there: by claim id.

    Parameters
    ----------
    page
        The table of all; the JSON of its name lies beside it.

    Raises
    ------
    InputError
        There is no such page.
    """
    claim_of = {claim.id: claim for claim in claims}
    try:
        rows = json.loads(kept_at(page).read_text("utf-8"))
        return {row["id"]: _read(claim_of[row["id"]], row) for row in rows if row["id"] in claim_of}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{kept_at(page)}: no verdicts that can be read ({error})") from None


def _read(claim: Claim, row: dict[str, Any]) -> Verdict:
    parts = [
        Evidence(**{**part, "seeds": tuple(part["seeds"]), "workbench": tuple(part["workbench"])})
        for part in row["evidence"]
    ]
    values = tuple(Value(**value) for value in row["values"])
    ruling = Ruling(Word(row["verdict"]), row["figures"], values, row["caption"])
    return Verdict(claim, ruling, tuple(parts))
