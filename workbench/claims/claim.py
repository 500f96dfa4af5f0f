"""What a claim is, and what becomes of it.

A claim is data: a table `[[claims]]` of its paper's file `PAPER.toml`. It states in our words what
the paper asserts, names the studies whose trials decide it, says what is measured of them, which
numbers rule it, and the sentence that they are written into. Every figure is computed from the
trials (`workbench.claims.measuring`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec

Numbers: TypeAlias = Mapping[str, Any]
"""What is measured, by name."""


class Ruling(StrEnum):
    """What is found of a claim. `UNMEASURED` is no verdict: the trials are missing."""

    HOLDS = "holds"
    CAVEAT = "holds with a caveat"
    VOID = "void at the paper's own settings"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    DOES_NOT_TRANSFER = "does not transfer"
    ILLEGIBLE = "source illegible"
    NO_DATA = "data not available"
    UNMEASURED = "not yet measured"


Word: TypeAlias = Literal[
    "refuted", "inconclusive", "does_not_transfer", "illegible", "void", "caveat", "holds"
]
RULE: dict[Word, Ruling] = {
    "refuted": Ruling.NOT_REPRODUCED,
    "inconclusive": Ruling.INCONCLUSIVE,
    "does_not_transfer": Ruling.DOES_NOT_TRANSFER,
    "illegible": Ruling.ILLEGIBLE,
    "void": Ruling.VOID,
    "caveat": Ruling.CAVEAT,
    "holds": Ruling.HOLDS,
}
"""Ruling by the first of these that is found true; where none is: holds."""


class NotMeasured(Exception):  # noqa: N818 (an answer, not an error)
    """Raised where there are too few trials to go by; says which and how many."""


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, eq=False):
    """One thing a paper asserts.

    Attributes
    ----------
    id
        Lower case with hyphens, the paper's family first: `adaptive-theorem-1`.
    source
        Paper, and where in it (in the file only the latter).
    statement
        What is asserted, in our words.
    studies
        Studies of the catalog whose trials decide it; none where the data cannot be had.
    where
        Which trials of the first study: values of its columns.
    least
        Trials that each study needs, of the first those that `where` names; with fewer, no verdict.
    measure, options
        Name of a function of the module beside the file, and its keywords: from the trials that
        ended well, an argument a study, to numbers by name. Only for what no expression says.
    measured
        Numbers by name, each an expression (`measuring.numbers`), one after another.
    rule
        Expressions by the word of a ruling: the first of `RULE` that is true decides.
    sentence
        What the numbers are written into (`workbench.studies.measures.fill`).
    also
        What a ruling adds to it.
    paper
        Name of the file, and of the module.
    """

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
    rule: dict[Word, str] = {}
    also: dict[Word, str] = {}
    paper: str = ""


@dataclass(frozen=True)
class Evidence:
    """The trials of one study that a verdict rests on.

    Attributes
    ----------
    study, version
        Name, and the version of its trials.
    trials
        Ended with an answer, those found infeasible among them.
    infeasible
        Ended with nothing to measure, since the problem drawn has no solution: what the paper
        assumes away.
    failed
        Ended otherwise: error, crash, deadline, memory, limit, numerics, cancelled.
    seeds
        Seeds of the runs.
    workbench
        Versions of the workbench that ran them, where the store knows.
    """

    study: str
    version: int
    trials: int
    infeasible: int
    failed: int
    seeds: tuple[int, ...]
    workbench: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """A claim, what is found of it, and on what evidence."""

    claim: Claim
    ruling: Ruling
    figures: str
    evidence: tuple[Evidence, ...] = ()

    def payload(self) -> dict[str, Any]:
        """Plain types, for JSON."""
        return {
            "id": self.claim.id,
            "source": self.claim.source,
            "statement": self.claim.statement,
            "verdict": str(self.ruling),
            "figures": self.figures,
            "evidence": [
                {**vars(one), "seeds": list(one.seeds), "workbench": list(one.workbench)}
                for one in self.evidence
            ],
        }
