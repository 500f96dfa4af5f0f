"""From a store to verdicts.

A trial that ended `infeasible` has answered: there was nothing to assign. Any other trial without
a record is a failure; where they are more than one in twenty, what is left may be a selection,
and there is no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import pandas as pd

from workbench.claims.claim import Claim, Evidence, NotMeasured, Ruling, Verdict
from workbench.claims.files import register
from workbench.claims.measuring import decide

MOST_FAILED = 0.05
"""Share of failed trials above which no verdict is given."""

VERSION = "environment.crowd-workbench"
"""Column of a table with the workbench's version."""

ANSWERED = ("ok", "infeasible")
"""Statuses of trials that ended as they should."""


class Tabled(Protocol):
    """The one thing asked of a store."""

    def table(self, study: str, version: int | None = None) -> pd.DataFrame:
        """Give a study's trials, one row each."""
        ...


def judge(
    store: Tabled,
    claims: Sequence[Claim] | None = None,
    *,
    keep: Mapping[str, Verdict] | None = None,
) -> list[Verdict]:
    """Hold claims against the trials in a store.

    Only trials of a study's present version count. A claim whose trials are missing, too few, or
    failed too often is `UNMEASURED`, and its figures say what is missing.

    Parameters
    ----------
    store
        Gives each study's trials.
    claims
        Which; None for all of `register`.
    keep
        Earlier verdicts by claim id (`read_page`): they stand where a study has no trial at all.
    """
    chosen = register() if claims is None else claims
    studies = dict.fromkeys(study for claim in chosen for study in claim.studies)
    tables = {study: _current(store, study) for study in studies}
    return [
        keep[claim.id]
        if keep and claim.id in keep and not all(len(tables[study][0]) for study in claim.studies)
        else _verdict(claim, {study: tables[study] for study in claim.studies})
        for claim in chosen
    ]


def _current(store: Tabled, study: str) -> tuple[pd.DataFrame, int]:
    """Trials of the study's present version, and that version."""
    from workbench.studies.source import Source

    version = Source.of(study).load().version
    return store.table(study, version), version


def _verdict(claim: Claim, tables: dict[str, tuple[pd.DataFrame, int]]) -> Verdict:
    evidence = []
    for study, (table, version) in tables.items():
        if not len(table):
            run = f"workbench study run {study}"
            return Verdict(claim, Ruling.UNMEASURED, f"no trials of {study}: {run}")
        evidence.append(_evidence(study, version, table))
    for one in evidence:
        total = one.trials + one.failed
        if one.failed > MOST_FAILED * total:
            why = f"{one.failed:,} of {total:,} trials of {one.study} failed"
            return Verdict(claim, Ruling.UNMEASURED, why, tuple(evidence))
        if one.trials - one.infeasible < claim.least:
            why = f"{one.trials - one.infeasible} trials of {one.study}, {claim.least} needed"
            return Verdict(claim, Ruling.UNMEASURED, why, tuple(evidence))
    try:
        ruling, figures = decide(claim, {study: table for study, (table, _) in tables.items()})
    except NotMeasured as missing:
        return Verdict(claim, Ruling.UNMEASURED, str(missing), tuple(evidence))
    failed = sum(one.failed for one in evidence)
    figures += f" {failed:,} trials failed and are not counted." * (failed > 0)
    return Verdict(claim, ruling, figures, tuple(evidence))


def _evidence(study: str, version: int, table: pd.DataFrame) -> Evidence:
    answered = int(table["status"].isin(ANSWERED).sum())
    return Evidence(
        study,
        version,
        answered,
        int((table["status"] == "infeasible").sum()),
        len(table) - answered,
        tuple(sorted({int(seed) for seed in table["seed"]})) if "seed" in table else (),
        tuple(sorted({str(one) for one in table[VERSION].dropna()})) if VERSION in table else (),
    )
