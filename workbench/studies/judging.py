"""From a store to verdicts.

A trial that ended `infeasible` has answered: there was nothing to assign. Any other trial without
a record is a failure; where they are more than one in twenty, what is left may be a selection,
and there is no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import pandas as pd

from workbench.studies.analysis import ended_well
from workbench.studies.catalog import claims as all_claims
from workbench.studies.claiming import Claim, Evidence, NotMeasured, Ruling, Verdict, Word
from workbench.studies.study import Study
from workbench.studies.trials import points_of

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
        Which; None for all of `catalog.claims`.
    keep
        Earlier verdicts by claim id (`read_page`): they stand where a study has no trial at all.
    """
    chosen = all_claims() if claims is None else claims
    studies = dict.fromkeys(study for claim in chosen for study in claim.studies or ())
    tables = {study: _current(store, study) for study in studies}
    verdicts: list[Verdict] = []
    for claim in chosen:
        own = {study: tables[study] for study in claim.studies or ()}
        earlier = keep.get(claim.id) if keep else None
        stands = earlier is not None and any(table.empty for table, _ in own.values())
        verdicts.append(earlier if earlier is not None and stands else _verdict(claim, own))
    return verdicts


def _current(store: Tabled, name: str) -> tuple[pd.DataFrame, Study]:
    """Trials of the study's present version, and the study."""
    from workbench.studies.source import Source

    study = Source.of(name).load()
    return store.table(name, study.version), study


def minutes_at_paper_size(study: Study, table: pd.DataFrame) -> float | None:
    """Minutes of one core that a study's sweep at the size of the paper takes, to two digits.

    Parameters
    ----------
    table
        Some of its trials, whose mean time is taken; None where no time is kept.
    """
    if "seconds" not in table or table["seconds"].isna().all():
        return None
    size = study.sizes["paper"]
    trials = len(points_of(study, size.sweep)) * size.repetitions
    return float(f"{table['seconds'].mean() * trials / 60:.2g}")


def _verdict(claim: Claim, tables: dict[str, tuple[pd.DataFrame, Study]]) -> Verdict:
    evidence: list[Evidence] = []

    def unmeasured(why: str) -> Verdict:
        return Verdict(claim, Ruling(Word.UNMEASURED, why), tuple(evidence))

    for study, (table, _) in tables.items():
        if not len(table):
            return unmeasured(f"no trials of {study}: workbench study run {study}")
    evidence += [_evidence(study, table) for table, study in tables.values()]
    for part in evidence:
        total, measured = part.trials + part.failed, part.trials - part.infeasible
        if part.failed > MOST_FAILED * total:
            return unmeasured(f"{part.failed:,} of {total:,} trials of {part.study} failed")
        if measured < claim.least:
            return unmeasured(f"{measured} trials of {part.study}, {claim.least} needed")
    try:
        ruling = claim(*(ended_well(table).infer_objects() for table, _ in tables.values()))
    except NotMeasured as missing:
        return unmeasured(str(missing))
    failed = sum(part.failed for part in evidence)
    if failed:
        figures = f"{ruling.figures} {failed:,} trials failed and are not counted."
        ruling = replace(ruling, figures=figures)
    return Verdict(claim, ruling, tuple(evidence))


def _evidence(study: Study, table: pd.DataFrame) -> Evidence:
    answered = int(table["status"].isin(ANSWERED).sum())
    return Evidence(
        study.name,
        study.version,
        answered,
        int((table["status"] == "infeasible").sum()),
        len(table) - answered,
        tuple(sorted({int(seed) for seed in table["seed"]})) if "seed" in table else (),
        tuple(sorted({str(release) for release in table[VERSION].dropna()}))
        if VERSION in table
        else (),
        minutes_at_paper_size(study, table),
    )
