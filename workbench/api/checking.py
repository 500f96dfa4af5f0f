"""`doctor` and `judge`: whether this installation is to be trusted, and what the papers claim."""

from __future__ import annotations

import os
import platform
import textwrap
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from workbench import claims
from workbench.api.result import Result
from workbench.api.studying import STORE
from workbench.base.text import table
from workbench.claims import Verdict
from workbench.solving import self_check, versions
from workbench.studies.store import Store


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Result):
    """Small problems with known answers, and what this installation answers.

    Attributes
    ----------
    canaries
        The problems.
    versions, machine
        What is at work, and where.
    """

    canaries: tuple[self_check.KnownProblem, ...]
    versions: dict[str, str]
    machine: dict[str, str]

    @property
    def passed(self) -> bool:
        """Whether every answer is right."""
        return all(canary.passed for canary in self.canaries)

    def to_frame(self) -> pd.DataFrame:
        """Give the problems: expected and given answer, whether they agree, seconds."""
        return pd.DataFrame([asdict(canary) for canary in self.canaries])

    def summary(self) -> str:
        """List versions, machine and problems, and what has failed."""
        about = "\n".join(f"{k:10}{v}" for k, v in {**self.versions, **self.machine}.items())
        rows = [
            (
                canary.name,
                str(canary.expected),
                str(canary.got),
                "yes" if canary.passed else "NO",
                f"{canary.seconds:.2f}",
                canary.note,
            )
            for canary in self.canaries
        ]
        shown = table(("canary", "expected", "got", "passed", "seconds", "note"), rows)
        failed = [canary.name for canary in self.canaries if not canary.passed]
        end = f"failed: {', '.join(failed)}" if failed else "all passed"
        return f"{about}\n\n{shown}\n\n{end}"

    def __repr__(self) -> str:
        wrong = sum(not canary.passed for canary in self.canaries)
        return f"Diagnosis: {len(self.canaries)} problems, {wrong} answered wrongly"

    def _payload(self) -> dict[str, Any]:
        return {
            **vars(self),
            "canaries": [asdict(canary) for canary in self.canaries],
            "passed": self.passed,
        }


def doctor() -> Diagnosis:
    """Solve small problems with known answers, and name the versions at work.

    Examples
    --------
    >>> from workbench import api
    >>> api.doctor().passed
    True
    """
    machine = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
    }
    return Diagnosis(tuple(self_check.run_self_check()), versions(), machine)


@dataclass(frozen=True, eq=False, repr=False)
class Judgement(Result):
    """Every claim of the papers, and what is found of it."""

    verdicts: tuple[Verdict, ...]

    def to_frame(self) -> pd.DataFrame:
        """Give a row a claim: where it stands, what it says, verdict and figures."""
        return pd.DataFrame([verdict.payload() for verdict in self.verdicts]).drop(
            columns="evidence"
        )

    def summary(self) -> str:
        """Give each claim's verdict and figures, and how many have which."""
        lines = []
        for one in self.verdicts:
            told = textwrap.fill(one.figures, 98, initial_indent="    ", subsequent_indent="    ")
            lines += [f"{one.claim.id}: {one.ruling}", told]
        return "\n".join([*lines, "", self._counted()])

    def markdown(self) -> str:
        """Write the page of all claims."""
        return claims.markdown(self.verdicts)

    def _counted(self) -> str:
        counts = Counter(str(one.ruling) for one in self.verdicts)
        told = ", ".join(f"{n} {ruling}" for ruling, n in counts.items())
        return f"{len(self.verdicts)} claims: {told}"

    def __repr__(self) -> str:
        return f"Judgement: {self._counted()}"

    def _payload(self) -> dict[str, Any]:
        return {"claims": [verdict.payload() for verdict in self.verdicts]}


def judge(store: str | Path = STORE, *, keep: str | Path | None = None) -> Judgement:
    """Judge every claim of the papers by the trials in a store.

    A claim whose study is not in the store is not yet measured.

    Parameters
    ----------
    store
        A study store.
    keep
        An earlier page of claims: where the store has no trials, its verdicts stand.

    Raises
    ------
    InputError
        There is no such store or page.

    Examples
    --------
    >>> from workbench import api
    >>> _ = api.run_study("toy-example", size="smoke", repetitions=1, processes=1)
    >>> "verdict" in api.judge("studies.sqlite").to_frame()
    True
    """
    earlier = None
    if keep is not None:
        earlier = claims.read_page(Path(keep), claims.register())
    with Store.open(store) as opened:
        return Judgement(tuple(claims.judge(opened, keep=earlier)))
