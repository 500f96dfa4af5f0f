"""Claims still written as TOML and expressions, read as `Claim`s; goes when all are functions."""

from __future__ import annotations

import importlib
import re
from functools import cache, partial
from pathlib import Path
from string import Template
from typing import Any, Literal, TypeAlias

import msgspec
import pandas as pd

from workbench.base.errors import InputError
from workbench.studies.chance import VOCABULARY
from workbench.studies.claim import Claim, Ruling, Word, only
from workbench.studies.measures import fill

RuleWord: TypeAlias = Literal[
    "refuted", "inconclusive", "does_not_transfer", "illegible", "void", "caveat", "holds"
]
RULE: dict[RuleWord, Word] = {
    "refuted": Word.REFUTED,
    "inconclusive": Word.INCONCLUSIVE,
    "does_not_transfer": Word.DOES_NOT_TRANSFER,
    "illegible": Word.NO_DATA,
    "void": Word.VOID,
    "caveat": Word.CORRECTED,
    "holds": Word.HOLDS,
}
"""Ruling by the first of these that is true; where none is: holds."""


class TomlClaim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table `[[claims]]`."""

    id: str
    source: str
    statement: str
    sentence: str
    studies: tuple[str, ...] = ()
    where: dict[str, Any] = {}
    least: int = 20
    measure: str = ""
    options: dict[str, Any] = {}
    measured: dict[str, str] = {}
    rule: dict[RuleWord, str] = {}
    also: dict[RuleWord, str] = {}


class PaperClaims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of claims."""

    paper: str
    claims: tuple[TomlClaim, ...]
    texts: dict[str, str] = {}


@cache
def register(folder: Path | None = None) -> tuple[Claim, ...]:
    """List all claims, paper by paper: every file `papers/PAPER/…_claims.toml`."""
    shelf = Path(__file__).parents[1] / "papers" if folder is None else folder
    return tuple(claim for file in sorted(shelf.glob("*/*_claims.toml")) for claim in read(file))


def read(file: Path) -> tuple[Claim, ...]:
    """Read a paper's claims; measures that take more are in the module beside the file.

    Raises
    ------
    InputError
        The file is no list of claims, or names a measure that its module does not have.
    """
    module = f"workbench.papers.{file.parent.name}.{file.stem}"
    try:
        paper = msgspec.toml.decode(file.read_bytes(), type=PaperClaims)
        return tuple(
            Claim(
                claim.id,
                f"{paper.paper}, {claim.source}",
                claim.statement,
                partial(decide, claim, paper.texts, module),
                claim.studies,
                {} if whole(claim) else claim.where,
                claim.least,
            )
            for claim in paper.claims
        )
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(f"{file.name}: not a list of claims ({error})") from None


def whole(claim: TomlClaim) -> bool:
    """Whether it looks at all trials of its first study, by name, beside those of `where`."""
    name = claim.studies[0].replace("-", "_") if claim.studies else " "
    return any(name in text for text in (*claim.measured.values(), *claim.rule.values()))


def decide(claim: TomlClaim, texts: dict[str, str], module: str, *studies: pd.DataFrame) -> Ruling:
    """Decide a claim by its studies' trials that ended well."""
    sentence = Template(claim.sentence).substitute(texts)
    measured = numbers(claim, module, *studies)
    if not claim.studies:
        return Ruling.no_data(fill(sentence, measured))
    word: RuleWord = next((word for word in RULE if measured.get(word)), "holds")
    also = Template(claim.also.get(word, "")).substitute(texts)
    return Ruling(RULE[word], fill(sentence + also, measured))


def numbers(claim: TomlClaim, module: str, *frames: pd.DataFrame) -> dict[str, Any]:
    """Measure what a claim names, in the order of the file; the words of the rule come last."""
    names = [study.replace("-", "_") for study in claim.studies]
    values: dict[str, Any] = dict(zip(names, frames, strict=True))
    if whole(claim):
        frames = (only(frames[0], claim.least, **claim.where).infer_objects(), *frames[1:])
    if frames:
        values |= {"rows": frames[0], "n": len(frames[0])}
    if claim.measure:
        measure = getattr(importlib.import_module(module), claim.measure)
        values |= measure(*frames, **claim.options)
    rows = values.get("rows", pd.DataFrame())
    for name, expression in (*claim.measured.items(), *claim.rule.items()):
        columns = {word: rows[word] for word in re.findall(r"\w+", expression) if word in rows}
        scope = [values, columns, VOCABULARY]
        value = pd.eval(expression, engine="python", resolvers=scope, local_dict={}, global_dict={})
        if isinstance(value, pd.Series) and value.index.equals(rows.index):
            values["rows"] = rows = rows.assign(**{name: value})
        values[name] = value
    return values
