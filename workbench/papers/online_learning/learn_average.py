"""Figures 3 and 5, Table 2: average reward beside the full crowd's, by simple and weighted vote.

The reward of a task is the probability that its label is right. Averages are over all tasks so
far, those that explore included; the full crowd's is the accuracy of its simple majority.

Table 2's skills are "uniformly generated": read as uniform on [0, 1], the same given p̄ > ½, on
[0.5, 1] and on [0.6, 1]. Runs go on to 20,000 tasks, ten times the paper's, and fewer
explorations (G1 = G2 = 1; one round a tester, G2 = 0) and longer runs are tried beside the
default, to find out when learning pays.

Source: Liu, Liu (2015), Section 6.1, Figures 3 and 5, Table 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from workbench.papers.online_learning import learning_runs
from workbench.studies.measures import DeclaredAnalysis, Drawn, Each, Part, sentences, summarise
from workbench.studies.study import Block, Size, Study

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
KEYS = ["crowd", "workers", "tests", "repeats", "vote"]
STYLE: dict[str, Any] = {"panel": "crowd", "log_x": True}


def crossings(gains: pd.DataFrame) -> pd.DataFrame:
    """From when on the mean average reward stays above the full crowd's, by 2 standard errors.

    Parameters
    ----------
    gains
        `means` of `rewards`' gain by `KEYS` and tasks.

    Returns
    -------
    DataFrame
        `KEYS`, `overtakes` (tasks; missing where it does not by the end), and the gain at the
        paper's T and at the end, each with `_se`.
    """
    rows = []
    for names, own in gains.sort_values("tasks").groupby(KEYS, sort=False, dropna=False):
        ahead = (own["mean"] > learning_runs.BEYOND * own["se"]).to_numpy()
        lasting = own["tasks"][ahead[::-1].cumprod()[::-1].astype(bool)]
        at, end = own[own["tasks"] <= learning_runs.PAPER_T].iloc[-1], own.iloc[-1]
        rows.append((*names, lasting.min(), *at[["mean", "se"]], *end[["tasks", "mean", "se"]]))
    columns = ["overtakes", "gain", "gain_se", "end", "gain_end", "gain_end_se"]
    return pd.DataFrame(rows, columns=[*KEYS, *columns])


def gains_of(runs: pd.DataFrame, value: str = "gain") -> pd.DataFrame:
    """Mean gain (or reward) of `rewards` by setting and number of tasks."""
    return summarise(runs, [*KEYS, "tasks"], learning_runs.mean_of(value))


def reward_of(rows: pd.DataFrame, value: str = "reward") -> pd.DataFrame:
    """`gains_of` some trials."""
    return gains_of(learning_runs.rewards(rows, KEYS), value)


def overtaking(rows: pd.DataFrame) -> pd.DataFrame:
    """`crossings` of some trials."""
    return crossings(reward_of(rows, "gain"))


def crossed(row: Mapping[Any, Any]) -> str:
    """What is said of a row of `crossings`."""
    when = "not by {end:,} tasks" if pd.isna(row["overtakes"]) else "from {overtakes:.0f} tasks on"
    return (
        "{crowd}, {series}, {vote}: above the full crowd " + when + "; by {gain:±4} after "
        f"{learning_runs.PAPER_T:,}."
    )


def table_2(rows: pd.DataFrame) -> pd.DataFrame:
    """Means by crowd, M and schedule after the paper's T (or the horizon, if shorter).

    Columns `crowd, workers, tests, repeats`, for each vote `VOTE_n, VOTE` (reward), `VOTE_se,
    VOTE_last` (the accuracy of the last set in force) and the optimum `VOTE_best` with known
    skills; and `full, full_se` of the full crowd.
    """
    runs = learning_runs.rewards(rows, [*KEYS, "last_accuracy"])
    at = runs[runs["tasks"] == runs.loc[runs["tasks"] <= learning_runs.PAPER_T, "tasks"].max()]
    keys = KEYS[:-1]
    found: pd.DataFrame = at[keys].drop_duplicates()
    for vote, own in at.groupby("vote"):
        columns = {
            f"{vote}_n": ("reward", "n"),
            str(vote): ("reward", "mean"),
            f"{vote}_se": ("reward", "se"),
            f"{vote}_last": ("last_accuracy", "mean"),
            f"{vote}_best": ("best_accuracy", "mean"),
        }
        if vote == "majority":
            columns |= {"full": ("full_accuracy", "mean"), "full_se": ("full_accuracy", "se")}
        found = found.merge(summarise(own, keys, columns), on=keys, how="left")
    return found.sort_values(keys, ignore_index=True)


def with_series(found: pd.DataFrame) -> pd.DataFrame:
    """A table with the column `series`: M and the schedule."""
    given = zip(found["workers"], learning_runs.schedule_labels(found), strict=True)
    return found.assign(series=[f"M = {workers}, {label}" for workers, label in given])


def shown_gains(rows: pd.DataFrame) -> pd.DataFrame:
    """Gains by simple vote of some crowds, those of short runs where all are short."""
    found = with_series(reward_of(rows, "gain"))
    found = found[
        found["crowd"].isin(["from-0.6", "spread", "table-1"]) & (found["vote"] == "majority")
    ]
    longest = found.groupby(["crowd", "series"])["tasks"].transform("max")
    shown: pd.DataFrame = found[(longest > learning_runs.PAPER_T) | (longest == longest.max())]
    return shown


def shown_votes(rows: pd.DataFrame) -> pd.DataFrame:
    """Rewards of five workers by each vote, at the first schedule."""
    found = with_series(reward_of(rows))
    found = found[found["tests"] == found["tests"].iloc[0]]
    known = found["crowd"].isin(["from-0.6", "from-0.5"])
    shown: pd.DataFrame = found[known & (found["workers"] == 5)]
    return shown


def readings(_: pd.DataFrame, found: pd.DataFrame) -> list[str]:
    """Table 2's columns under each reading of its crowd."""
    if not {"full", "majority", "weighted"} <= set(found):
        return []
    rows = found[found["weighted"].notna() & (found["repeats"] == READ_AT)]
    said = (
        "M = {workers}: full crowd {full:.4f}, LS_OL {majority:.4f}, last set {majority_last:.4f}, "
        "weighted {weighted:.4f}, last set {weighted_last:.4f}"
    )
    return [
        f"Table 2, {crowd}: {'; '.join(sentences(said, own))}."
        for crowd in READINGS
        if len(own := rows[rows["crowd"] == crowd])
    ]


_READ: Block = {
    "crowd": list(READINGS),
    "workers": [5, 10, 15, 20],
    "vote": ["majority", "weighted"],
    "repeats": [READ_AT],
}
_PAYS: Block = {"crowd": ["from-0.6", "spread"], "workers": [5, 15]}

STUDY = Study(
    name="learn-average",
    title="Average reward of online worker selection",
    source="Liu, Liu (2015), Section 6.1, Figures 3 and 5, Table 2",
    parameters=learning_runs.run_parameters(),
    sizes={
        "smoke": Size(
            (
                {**_READ, "workers": [5, 10], "horizon": [3000]},
                {
                    "crowd": ["from-0.6", "spread"],
                    "tests": [1.0],
                    "repeats": [1.0],
                    "horizon": [3000],
                },
            ),
            3,
        ),
        "small": Size(({**_READ, "horizon": [2000]}, {**_PAYS, "horizon": [20_000]}), 25),
        "paper": Size(
            (
                {**_READ, "horizon": [2000]},
                {"crowd": ["from-0.6"], "vote": ["majority", "weighted"], "horizon": [100_000]},
                {"crowd": ["table-1"], "horizon": [100_000]},
                {
                    "crowd": ["from-0.6", "table-1"],
                    "tests": [10.0, 30.0],
                    "repeats": [5.0],
                    "horizon": [1_000_000],
                },
                {**_PAYS, "tests": [3.0], "repeats": [5.0], "horizon": [100_000]},
                {**_PAYS, "tests": [1.0], "repeats": [1.0], "horizon": [100_000]},
                {"crowd": ["table-1"], "tests": [1.0], "repeats": [1.0], "horizon": [100_000]},
                {
                    "crowd": ["from-0.6", "table-1"],
                    "tests": [1.0, 3.0, 10.0, 30.0],
                    "repeats": [0.0],
                    "horizon": [100_000],
                },
            ),
            100,
        ),
    },
    trial=learning_runs.run_once,
    analyse=DeclaredAnalysis(
        Part(f"Table 2 under its readings, T = {learning_runs.PAPER_T}", table_2, (readings,)),
        Part(
            "When the average overtakes the full crowd",
            overtaking,
            (Each(crossed, of=lambda rows: with_series(overtaking(rows))),),
        ),
        Part(
            "Average reward over time",
            reward_of,
            (),
            (
                Drawn(
                    "gain",
                    "Average reward less the accuracy of the full crowd's vote; above 0 "
                    "LS_OL has paid",
                    "tasks",
                    "mean",
                    ("tasks", "average reward less the full crowd's"),
                    {**STYLE, "series": "series", "references": ((0.0, "full crowd"),)},
                    of=shown_gains,
                    unit="runs",
                ),
                Drawn(
                    "weighted",
                    "Average reward of LS_OL by simple and by weighted vote, five workers",
                    "tasks",
                    "mean",
                    ("tasks", "average reward"),
                    {**STYLE, "series": "vote"},
                    of=shown_votes,
                    unit="runs",
                ),
            ),
        ),
    ),
)
