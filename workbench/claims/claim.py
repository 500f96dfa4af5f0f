"""What a claim is, and what becomes of it.

A claim states in our words what a paper asserts, names the studies that decide it, and says what
is measured: a function from those studies' trials to named numbers. The judge writes them into the
claim's sentence, and reads off the numbers that its rule names what is found. Every figure is
computed from the trials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

import pandas as pd

Tables: TypeAlias = Mapping[str, pd.DataFrame]
"""A study's trials by its name: parameters, `repetition`, `status`, record fields."""
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


RULE: Mapping[str, Ruling] = {
    "refuted": Ruling.NOT_REPRODUCED,
    "inconclusive": Ruling.INCONCLUSIVE,
    "does_not_transfer": Ruling.DOES_NOT_TRANSFER,
    "illegible": Ruling.ILLEGIBLE,
    "void": Ruling.VOID,
    "caveat": Ruling.CAVEAT,
}
"""Ruling by the first of these numbers that is true; where none is, or none is named: holds."""


@dataclass(frozen=True)
class Finding:
    """What is found: a ruling, and the sentence with its figures."""

    ruling: Ruling
    figures: str


class NotMeasured(Exception):  # noqa: N818 (an answer, not an error)
    """Raised where there are too few trials to go by; says which and how many."""


@dataclass(frozen=True, eq=False)
class Claim:
    """One thing a paper asserts.

    Attributes
    ----------
    id
        Lower case with hyphens, the paper's family first: `adaptive-theorem-1`.
    source
        Paper, and where in it.
    statement
        What is asserted, in our words.
    studies
        Studies of the catalog whose trials decide it; none where the data cannot be had.
    measure
        Numbers by name, from the trials that ended well: an argument a study, in their order.
        May raise `NotMeasured`.
    figures
        Sentence that the numbers are written into (`workbench.studies.measures.fill`).
    also
        What a ruling adds to it.
    where
        Which trials of the first study: values of its columns.
    rule
        Ruling by the first of these numbers that is true.
    least
        Trials that each study needs, of the first those that `where` names; with fewer, no verdict.
    """

    id: str
    source: str
    statement: str
    studies: tuple[str, ...]
    measure: Callable[..., Any] | None = None
    figures: str = ""
    also: Mapping[Ruling, str] = field(default_factory=dict)
    where: Mapping[str, Any] = field(default_factory=dict)
    rule: Mapping[str, Ruling] = field(default_factory=lambda: RULE)
    least: int = 20


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
