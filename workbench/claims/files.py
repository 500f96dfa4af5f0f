"""The papers' files of claims, read and checked."""

from __future__ import annotations

import importlib
from collections import Counter
from functools import cache
from pathlib import Path
from string import Template

import msgspec

from workbench.base.errors import InputError
from workbench.claims.claim import Claim


class PaperClaims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of claims.

    Attributes
    ----------
    paper
        Authors and year.
    claims
        What it asserts.
    texts
        What several sentences say, by name: `$name` stands for it.
    """

    paper: str
    claims: tuple[Claim, ...]
    texts: dict[str, str] = {}


def read_claims(file: Path) -> tuple[Claim, ...]:
    """Read a paper's claims.

    Raises
    ------
    InputError
        The file is no list of claims, or names a measure that its module does not have.
    """
    try:
        paper = msgspec.toml.decode(file.read_bytes(), type=PaperClaims)
        named = {claim.measure for claim in paper.claims if claim.measure}
        module = importlib.import_module(f"workbench.claims.{file.stem}") if named else None
        if missing := sorted(name for name in named if not hasattr(module, name)):
            raise ValueError(f"no measure {missing[0]} in {file.stem}.py")
        return tuple(_whole(claim, paper, file.stem) for claim in paper.claims)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(f"{file.name}: not a list of claims ({error})") from None


def _whole(claim: Claim, paper: PaperClaims, name: str) -> Claim:
    return msgspec.structs.replace(
        claim,
        source=f"{paper.paper}, {claim.source}",
        sentence=Template(claim.sentence).substitute(paper.texts),
        also={word: Template(text).substitute(paper.texts) for word, text in claim.also.items()},
        paper=name,
    )


@cache
def register(folder: Path = Path(__file__).parent) -> tuple[Claim, ...]:
    """List all claims, paper by paper: every file `PAPER.toml` of a folder.

    Raises
    ------
    InputError
        Two claims have one id.
    """
    claims = [claim for file in sorted(folder.glob("*.toml")) for claim in read_claims(file)]
    for name, times in Counter(claim.id for claim in claims).items():
        if times > 1:
            raise InputError(f"claim {name} is registered twice: give each an id of its own")
    return tuple(claims)


def studies_needed() -> tuple[str, ...]:
    """Name the studies that decide the claims, each once, in the register's order."""
    return tuple(dict.fromkeys(study for claim in register() for study in claim.studies))
