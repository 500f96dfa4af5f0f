"""Table 2 under the readings of its crowd: what the runs of `learn-average` say, and its claims.

Table 2's skills are "uniformly generated": read as uniform on [0, 1], the same given p̄ > ½, on
[0.5, 1] and on [0.6, 1].

Source: Liu, Liu (2015), Section 6.1, Table 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from crowd_papers.online_learning.learning_runs import (
    DEFAULT,
    PAPER_T,
    RUNS,
    SETTING,
    rewards,
    with_means,
)
from workbench.studies import (
    BEYOND,
    NotMeasured,
    Ruling,
    Value,
    claim,
    enough,
    instance_columns,
    means,
    only,
    records,
    signed,
    with_interval,
)

PRINTED = {
    5: (0.5154, 0.8320, 0.8726),
    10: (0.5686, 0.9186, 0.9393),
    15: (0.7000, 0.9434, 0.9641),
    20: (0.7997, 0.9820, 0.9890),
}
"""Table 2 by M: full crowd, LS_OL, LS_OL with weights."""
READINGS = ("any", "any-trusted", "from-0.5", "from-0.6")
"""Crowds that "uniformly generated" may mean."""
READ_AT = 5.0
"""G2 of the runs for Table 2."""

# What the trials say.

CROWD = ["crowd", "workers", "tests", "repeats"]


def table_2(rows: pd.DataFrame) -> pd.DataFrame:
    """Means by crowd, M and schedule after the paper's T (or the horizon, if shorter).

    Columns `crowd, workers, tests, repeats`, for each vote `VOTE_n, VOTE` (reward), `VOTE_se,
    VOTE_last` (the accuracy of the last set in force) and the optimum `VOTE_best` with known
    skills; and `full, full_se` of the full crowd.
    """
    runs = rewards(rows, [*SETTING, "last_accuracy"])
    ends = runs[runs["tasks"] == runs.loc[runs["tasks"] <= PAPER_T, "tasks"].max()]
    table: pd.DataFrame = ends[CROWD].drop_duplicates()
    for vote, own in ends.groupby("vote"):
        table = table.merge(by_vote(own, str(vote)), on=CROWD, how="left")
    return table.sort_values(CROWD, ignore_index=True)


def by_vote(ends: pd.DataFrame, vote: str) -> pd.DataFrame:
    """The columns of `table_2` for one vote."""
    by = with_means(ends, CROWD, "reward", "last_accuracy", "best_accuracy")
    names = {
        "n": f"{vote}_n",
        "reward": vote,
        "se": f"{vote}_se",
        "last_accuracy": f"{vote}_last",
        "best_accuracy": f"{vote}_best",
    }
    table = by[CROWD].assign(**{name: by[column] for column, name in names.items()})
    if vote == "majority":
        full = means(ends, CROWD, "full_accuracy")
        table = table.assign(full=full["mean"], full_se=full["se"])
    return table


def readings(table: pd.DataFrame) -> list[str]:
    """Say Table 2's columns under each reading of its crowd, where both votes were run."""
    if not {"full", "majority", "weighted"} <= set(table):
        return []
    rows = table[table["weighted"].notna() & (table["repeats"] == READ_AT)]
    texts = []
    for crowd in READINGS:
        columns = [
            f"M = {row.workers}: full crowd {row.full:.4f}, LS_OL {row.majority:.4f}, last set "
            f"{row.majority_last:.4f}, weighted {row.weighted:.4f}, last set "
            f"{row.weighted_last:.4f}"
            for row in records(rows[rows["crowd"] == crowd])
        ]
        if columns:
            texts.append(f"Table 2, {crowd}: {'; '.join(columns)}.")
    return texts


# What the paper claims.

VALUES = 0.02
"""A mean no further from a printed one reproduces it."""


def paying(trials: pd.DataFrame) -> pd.DataFrame:
    """Rewards of runs of the paper's length or longer, a row a run and checkpoint."""
    return rewards(trials[trials["horizon"] >= PAPER_T], [*SETTING, "last_accuracy"])


def runs_of_table_2(trials: pd.DataFrame) -> pd.DataFrame:
    """Runs of Table 2 at the paper's T: all four M under each reading, one schedule.

    Raises
    ------
    NotMeasured
        No setting has `RUNS` of them.
    """
    rows = only(
        paying(trials),
        0,
        "runs",
        tasks=PAPER_T,
        crowd=READINGS,
        tests=DEFAULT["tests"],
        repeats=READ_AT,
        workers=[*PRINTED],
    )
    count = rows.groupby(["crowd", "workers", "vote"])["gain"].transform("size")
    return enough(rows[count >= RUNS], RUNS, "runs of Table 2")


def leads(groups: pd.api.typing.SeriesGroupBy[Any, Any]) -> pd.DataFrame:
    """Columns of the groups: `mean, sem, size`, and `ahead`: the mean is beyond chance above 0."""
    table = groups.agg(["mean", "sem", "size"]).reset_index()
    return table.assign(ahead=table["mean"] > BEYOND * table["sem"])


def weighted_leads(runs: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """`leads` of the reward by weighted over that by simple vote on the same crowds, by setting.

    Raises
    ------
    NotMeasured
        No setting has `RUNS` crowds and both votes.
    """
    index = [*by, *instance_columns(runs)]
    both = runs.pivot_table(index=index, columns="vote", values="reward", dropna=False)
    if not {"majority", "weighted"} <= set(both):
        raise NotMeasured("no setting has both votes")
    apart = (both["weighted"] - both["majority"]).dropna()
    table = leads(apart.groupby(level=list(by), dropna=False))
    table = table[table["size"] >= RUNS]
    return enough(table, 1, f"settings with {RUNS} crowds and both votes")


def leads_text(table: pd.DataFrame) -> str:
    """`leads` by reading and M, for a sentence."""
    texts = []
    for crowd, own in table.groupby("crowd", sort=False):
        values = [f"M = {row.workers} {signed(row.mean, row.sem)}" for row in records(own)]
        texts.append(f"{crowd}: {', '.join(values)}")
    return "; ".join(texts)


def ruling_by_reading(figures: str, table: pd.DataFrame) -> Ruling:
    """Holds when under some reading every M is ahead; as corrected when some are."""
    if not table["ahead"].any():
        return Ruling.refuted(figures)
    fine = table.groupby("crowd")["ahead"].all().any()
    return Ruling.holds(figures) if fine else Ruling.holds_as_corrected(figures)


@claim(
    id="learn-table-2-gap",
    source="Table 2",
    statement="With 5, 10, 15 and 20 workers LS_OL is clearly ahead of the full crowd.",
    studies=("learn-average",),
)
def table_2_gap(trials: pd.DataFrame) -> Ruling:
    """Average reward minus the full crowd's, by reading and M."""
    rows = runs_of_table_2(trials)
    rows = rows[rows["vote"] == "majority"]
    rows = rows.assign(late=rows["last_accuracy"] - rows["full_accuracy"])
    groups = rows.groupby(["crowd", "workers"])
    gained, late = leads(groups["gain"]), leads(groups["late"])
    figures = (
        f"Average reward of {PAPER_T} tasks minus the full crowd's, exploring included (G1 = "
        f"{DEFAULT['tests']:g}, G2 = {READ_AT:g}): {leads_text(gained)}. Printed: +0.317, +0.350, "
        "+0.243, +0.182. Without exploring, the last set chosen less the full crowd: "
        f"{leads_text(late)}."
    )
    values = [
        Value(
            f"M = {m}, LS_OL − full crowd, skills {crowd}",
            f"{PRINTED[m][1] - PRINTED[m][0]:+.3f}",
            with_interval(own.loc[own["workers"] == m, "gain"]),
        )
        for crowd, own in rows.groupby("crowd")
        for m in sorted(PRINTED)
        if (own["workers"] == m).any()
    ]
    return ruling_by_reading(figures, gained).beside(*values)


@claim(
    id="learn-table-2-weighted",
    source="Table 2",
    statement="LS_OL with the weighted vote is ahead of LS_OL with the simple vote in each case.",
    studies=("learn-average",),
)
def table_2_weighted(trials: pd.DataFrame) -> Ruling:
    """Average reward by weighted minus by simple vote, by reading and M."""
    table = weighted_leads(runs_of_table_2(trials), ["crowd", "workers"])
    figures = (
        "Average reward with the weighted vote minus that with the simple vote, on the same "
        "crowds: "
        f"{leads_text(table)}. "
        "Printed: +0.041, +0.021, +0.021, +0.007."
    )
    return ruling_by_reading(figures, table)


@claim(
    id="learn-table-2-values",
    source="Table 2",
    statement="The average rewards are 0.5154, 0.5686, 0.7000, 0.7997 (full crowd), 0.8320, "
    "0.9186, 0.9434, 0.9820 (LS_OL), 0.8726, 0.9393, 0.9641, 0.9890 (weighted). (Read: to within "
    "0.02, under some reading of uniform.)",
    studies=("learn-average",),
)
def table_2_values(trials: pd.DataFrame) -> Ruling:
    """Printed values beside ours, row by row and reading by reading; and what optima would be."""
    rows = runs_of_table_2(trials)
    simple, weighted = (rows[rows["vote"] == vote] for vote in ("majority", "weighted"))
    full_crowd = means_by_reading(simple, "full_accuracy")
    ours = means_by_reading(simple, "reward")
    with_weights = means_by_reading(weighted, "reward")
    texts = [
        nearest_text("full crowd", full_crowd, printed_row(0)),
        nearest_text("LS_OL", ours, printed_row(1)),
        nearest_text("weighted", with_weights, printed_row(2)),
        nearest_text("optimum of LS_OL", means_by_reading(simple, "best_accuracy"), printed_row(1)),
        nearest_text(
            "optimum with weights", means_by_reading(weighted, "best_accuracy"), printed_row(2)
        ),
    ]
    figures = f"The reading nearest to each printed row, M = 5 to 20: {'; '.join(texts)}."
    fits = [
        readings_that_fit(values, printed_row(place))
        for place, values in enumerate((full_crowd, ours, with_weights))
    ]
    columns = zip(
        values_beside("full crowd", simple, "full_accuracy", 0),
        values_beside("LS_OL", simple, "reward", 1),
        values_beside("LS_OL with weights", weighted, "reward", 2),
        strict=True,
    )
    values = [value for column in columns for value in column]
    if not any(fits):
        return Ruling.refuted(figures).beside(*values)
    fine = set.intersection(*fits)
    ruling = Ruling.holds(figures) if fine else Ruling.holds_as_corrected(figures)
    return ruling.beside(*values)


def values_beside(name: str, rows: pd.DataFrame, field: str, place: int) -> list[Value]:
    """A printed row of Table 2 beside ours, of the reading that is nearest to it."""
    off = furthest(means_by_reading(rows, field), printed_row(place))
    near = str(off.idxmin())
    own = rows[rows["crowd"] == near]
    return [
        Value(
            f"M = {m}, {name}",
            f"{PRINTED[m][place]:.4f}",
            f"{with_interval(own.loc[own['workers'] == m, field])}, skills {near}",
        )
        for m in sorted(PRINTED)
    ]


def printed_row(place: int) -> list[float]:
    """A printed row of Table 2, by M: 0 of the full crowd, 1 of LS_OL, 2 with weights."""
    return [PRINTED[m][place] for m in sorted(PRINTED)]


def means_by_reading(rows: pd.DataFrame, field: str) -> pd.DataFrame:
    """Means of a field: a row a reading that has all four M, a column an M.

    Raises
    ------
    NotMeasured
        No reading has all four.
    """
    values = rows.pivot_table(index="crowd", columns="workers", values=field).dropna()
    if values.shape[1] < len(PRINTED) or values.empty:
        raise NotMeasured("no reading has all four M")
    return values


def furthest(values: pd.DataFrame, printed: list[float]) -> pd.Series[float]:
    """How far each reading's means are off a printed row, at the M where they are furthest."""
    return (values - printed).abs().max(axis=1)


def readings_that_fit(values: pd.DataFrame, printed: list[float]) -> set[str]:
    """Readings whose means are all within `VALUES` of a printed row."""
    off = furthest(values, printed)
    return set(off.index[off <= VALUES])


def nearest_text(name: str, values: pd.DataFrame, printed: list[float]) -> str:
    """The means of the reading that is nearest to a printed row, for a sentence."""
    off = furthest(values, printed)
    near = str(off.idxmin())
    shown = ", ".join(f"{value:.3f}" for value in values.loc[near])
    return f"{name} {shown} ({near}, off by up to {off[near]:.3f})"


@claim(
    id="learn-table-2-caption",
    source="Table 2, caption",
    statement="The rewards of Table 2 are averages per worker.",
    studies=("learn-average",),
)
def table_2_caption(trials: pd.DataFrame) -> Ruling:
    """Average reward a worker, that is the reward of a task over M, beside the printed values."""
    rows = runs_of_table_2(trials)
    each = (rows["reward"] / rows["workers"]).groupby(rows["workers"]).mean()
    full = pd.Series(printed_row(0), index=sorted(PRINTED))
    simple = pd.Series(printed_row(1), index=sorted(PRINTED))
    beyond = int((full > 1.0 / full.index).sum())
    figures = (
        f"A task earns at most 1, so M workers have at most 1/M each: {beyond} of the "
        f"{len(PRINTED)} columns print more. LS_OL's average "
        f"over the workers is {', '.join(f'{value:.3f}' for value in each)} for M = 5 to 20. The "
        "printed values can be averages over tasks alone."
    )
    off = np.abs(each - simple.reindex(each.index))
    return Ruling.refuted(figures) if (off > VALUES).all() else Ruling.holds(figures)
