"""What a claim is, and what becomes of it.

A claim is a function: it takes the trials of the studies that decide it, a frame each, and gives a
`Ruling`, a word and the sentence with the figures that it rests on. `@claim` says beside it where
the paper asserts what, in our words:

    @claim(id="selection-theorem-4", source="Theorem 4", statement="Algorithm 1 finds a set of …")
    def theorem_4(trials: pd.DataFrame) -> Ruling:
        ...
        return Ruling.refuted(text) if differ else Ruling.holds(text)

It stands in the file of the study that decides it. Every figure is computed from the trials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

import numpy.typing as npt
import pandas as pd

from workbench.studies.study import Chart
from workbench.studies.summary import estimate


class Word(StrEnum):
    """What is found of a claim. `UNMEASURED` is no verdict: the trials are missing."""

    HOLDS = "holds"
    CORRECTED = "holds as corrected"
    VOID = "void at the paper's own settings"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    DOES_NOT_TRANSFER = "does not transfer"
    NO_DATA = "no data"
    UNMEASURED = "not yet measured"


@dataclass(frozen=True)
class Value:
    """One number of a paper's figure or table, beside ours.

    Attributes
    ----------
    what
        Which one: "M = 5, full crowd".
    printed
        As the paper has it: a number, or its words where its text has none.
    ours
        Measured, with its 95 % interval: `with_interval`.
    """

    what: str
    printed: str
    ours: str


def with_interval(values: npt.ArrayLike, digits: int = 3) -> str:
    """Write the mean of independent values and its 95 % interval, "0.105 (0.101 to 0.109)"."""
    found = estimate(values)
    return mean_within(found.mean, found.low, found.high, digits)


def mean_within(mean: float, low: float, high: float, digits: int = 3) -> str:
    """Write a mean and the ends of its interval, which may be missing."""
    # A zero that was rounded has no sign.
    texts = [f"{round(x, digits) + 0.0:.{digits}f}" for x in (mean, low, high)]
    return texts[0] if pd.isna(low) else f"{texts[0]} ({texts[1]} to {texts[2]})"


@dataclass(frozen=True)
class Ruling:
    """What is found of a claim, and the figures that it rests on, in a sentence or some.

    Made by the function of its word: `Ruling.holds(f"In {n:,} crowds …")`.

    Attributes
    ----------
    word, figures
        What is found, and the sentence.
    numbers
        Printed numbers beside ours.
    caption
        Of the picture, and its alternative text; empty without one.
    chart
        What the picture draws; None without one, or where it stands drawn on an earlier page.
    """

    word: Word
    figures: str
    numbers: tuple[Value, ...] = ()
    caption: str = ""
    chart: Chart | None = field(default=None, compare=False)

    def beside(self, *numbers: Value, chart: Chart | None = None) -> Ruling:
        """Add printed numbers beside ours, and a chart."""
        caption = self.caption if chart is None else " ".join(chart.caption.split())
        return replace(self, numbers=numbers, caption=caption, chart=chart)

    @classmethod
    def holds(cls, figures: str) -> Ruling:
        """So it is in every trial, or beyond chance where the claim is one of probability."""
        return cls(Word.HOLDS, figures)

    @classmethod
    def holds_as_corrected(cls, figures: str) -> Ruling:
        """It holds in part of its range, or under a condition that it does not mention."""
        return cls(Word.CORRECTED, figures)

    @classmethod
    def void(cls, figures: str) -> Ruling:
        """Its conditions fail in the paper's own experiments."""
        return cls(Word.VOID, figures)

    @classmethod
    def refuted(cls, figures: str) -> Ruling:
        """Measured otherwise."""
        return cls(Word.REFUTED, figures)

    @classmethod
    def inconclusive(cls, figures: str) -> Ruling:
        """Measured, but chance or the room between bounds leaves it open."""
        return cls(Word.INCONCLUSIVE, figures)

    @classmethod
    def does_not_transfer(cls, figures: str) -> Ruling:
        """So it is where the paper measured it, and otherwise on other crowds."""
        return cls(Word.DOES_NOT_TRANSFER, figures)

    @classmethod
    def no_data(cls, figures: str) -> Ruling:
        """It rests on data, or on a text, that cannot be had or read."""
        return cls(Word.NO_DATA, figures)


class NotMeasured(Exception):  # noqa: N818 (an answer, not an error)
    """Raised by a claim where there are too few trials to go by; says which and how many."""


def enough(rows: pd.DataFrame, least: int, what: str) -> pd.DataFrame:
    """Return the rows.

    Raises
    ------
    NotMeasured
        There are fewer than `least`.
    """
    if len(rows) < least:
        raise NotMeasured(f"{what}: {len(rows)} trials, {least} needed")
    return rows


def only(rows: pd.DataFrame, least: int = 1, what: str = "", /, **values: Any) -> pd.DataFrame:
    """Rows with some columns' values, or one of several values each.

    Raises
    ------
    NotMeasured
        There are fewer than `least`; `what` names them.
    """
    for name, value in values.items():
        rows = rows[rows[name].isin(value if isinstance(value, (list, tuple)) else [value])]
    named = ", ".join(f"{name} {value}" for name, value in values.items())
    return enough(rows, least, what or named)


Decision: TypeAlias = Callable[..., Ruling]
"""From the trials that ended well, a frame each study, to the ruling."""
Decided = TypeVar("Decided", bound=Decision)


@dataclass(frozen=True)
class Claim:
    """One thing a paper asserts, and the function that decides it.

    Attributes
    ----------
    id
        Lower case with hyphens, the paper's family first: `adaptive-theorem-1`.
    source
        Where in the paper; as `catalog.claims` gives it, after the paper's authors and year.
    statement
        What is asserted, in our words.
    decide
        From trials, a frame each study, to the ruling.
    studies
        Studies whose trials it takes; () where it needs none, or data that cannot be had; None for
        the file's own.
    where
        Which trials of the first study it takes: a value, or a list of values, by column.
    least
        Trials that ended ok that each study needs, of the first those that `where` names; with
        fewer, no verdict.
    paper
        Authors and year, as `catalog.claims` gives them; empty for a claim of your own.
    """

    id: str
    source: str
    statement: str
    decide: Decision
    studies: tuple[str, ...] | None = None
    where: Mapping[str, Any] = field(default_factory=dict, hash=False)
    least: int = 20
    paper: str = ""

    def __call__(self, *trials: pd.DataFrame) -> Ruling:
        """Decide it by trials that ended well, a frame each study.

        Raises
        ------
        NotMeasured
            There are too few.
        """
        if not self.where:
            return self.decide(*trials)
        first = only(trials[0], self.least, **self.where).infer_objects()
        return self.decide(first, *trials[1:])


def claim(
    *,
    id: str,
    source: str,
    statement: str,
    studies: tuple[str, ...] | None = None,
    where: Mapping[str, Any] | None = None,
    least: int = 20,
) -> Callable[[Decided], Decided]:
    """Mark a function as the decision of a claim: see `Claim` for what is said of it.

    The function stays as it is, and has the claim as its attribute `claim`.
    """

    def mark(decide: Decided) -> Decided:
        vars(decide)["claim"] = Claim(id, source, statement, decide, studies, where or {}, least)
        return decide

    return mark


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
    minutes
        That the study takes on one core at the size of the paper, by the mean time of these trials;
        None where that is not known.
    """

    study: str
    version: int
    trials: int
    infeasible: int
    failed: int
    seeds: tuple[int, ...]
    workbench: tuple[str, ...]
    minutes: float | None = None


@dataclass(frozen=True)
class Verdict:
    """A claim, the ruling on it, and on what evidence."""

    claim: Claim
    ruling: Ruling
    evidence: tuple[Evidence, ...] = ()

    @property
    def word(self) -> Word:
        """The ruling's word."""
        return self.ruling.word

    @property
    def figures(self) -> str:
        """The ruling's sentence."""
        return self.ruling.figures

    def payload(self) -> dict[str, Any]:
        """Plain types, for JSON."""
        return {
            "id": self.claim.id,
            "source": self.claim.source,
            "statement": self.claim.statement,
            "verdict": str(self.word),
            "figures": self.figures,
            "values": [vars(value) for value in self.ruling.numbers],
            "evidence": [
                {**vars(part), "seeds": list(part.seeds), "workbench": list(part.workbench)}
                for part in self.evidence
            ],
        }
