"""Figures 3 and 5, Table 2: average reward beside the full crowd's, by simple and weighted vote.

The reward of a task is the probability that its label is right. Averages are over all tasks so
far, those that explore included; the full crowd's is the accuracy of its simple majority.

Table 2's skills are "uniformly generated": read as uniform on [0, 1], the same given p̄ > ½, on
[0.5, 1] and on [0.6, 1]. Runs go on to 20,000 tasks, ten times the paper's, and fewer
explorations (G1 = G2 = 1) and longer runs are tried beside the default, to find out when learning
pays.

Source: Liu, Liu (2015), Section 6.1, Figures 3 and 5, Table 2.
"""

from __future__ import annotations

import pandas as pd

from workbench.studies.catalog._learning import (
    repeats_label,
    rewards,
    run_once,
    run_parameters,
)
from workbench.studies.measures import ended, listed, plus_minus
from workbench.studies.study import Analysis, Block, Chart, Params, Record, Size, Study
from workbench.studies.summary import means
from workbench.studies.trials import Streams

PAPER_T = 2000
"""Tasks of a run of the paper."""
PRINTED = {5: (0.5154, 0.8320, 0.8726), 10: (0.5686, 0.9186, 0.9393), 15: (0.7000, 0.9434, 0.9641),
           20: (0.7997, 0.9820, 0.9890)}  # fmt: skip
"""Table 2 by M: full crowd, LS_OL, LS_OL with weights."""
READINGS = ("any", "any-trusted", "from-0.5", "from-0.6")
"""Crowds that "uniformly generated" may mean."""
READ_AT = 5.0
"""G2 of the runs for Table 2."""
BEYOND = 2.0
"""Standard errors that count."""
KEYS = ["crowd", "workers", "tests", "repeats", "vote"]


def trial(params: Params, streams: Streams) -> Record:
    """Run LS_OL once."""
    return run_once(params, streams)


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
    ordered = gains.sort_values("tasks", kind="stable")
    for names, own in ordered.groupby(KEYS, sort=False, dropna=False):
        ahead = (own["mean"] > BEYOND * own["se"]).to_numpy()
        lasting = ahead[::-1].cumprod()[::-1].astype(bool)
        at = own[own["tasks"] <= PAPER_T].iloc[-1]
        end = own.iloc[-1]
        rows.append((
            *names, own["tasks"].to_numpy()[lasting][0] if lasting.any() else None, at["mean"],
            at["se"], end["tasks"], end["mean"], end["se"],
        ))  # fmt: skip
    columns = ["overtakes", "gain", "gain_se", "end", "gain_end", "gain_end_se"]
    return pd.DataFrame(rows, columns=[*KEYS, *columns])


def analyse(table: pd.DataFrame) -> Analysis:
    """Rewards over time, when they overtake the full crowd's, and Table 2 under each reading."""
    runs = rewards(table, KEYS)
    if runs.empty:
        return Analysis(findings=(ended(table),))
    gains = means(runs, [*KEYS, "tasks"], "gain").drop(columns="failed")
    reward = means(runs, [*KEYS, "tasks"], "reward").drop(columns="failed")
    crossed = crossings(gains)
    second = table_2(table)
    shown = _named(gains[gains["crowd"].isin(["from-0.6", "spread", "table-1"])])
    longest = shown.groupby(["crowd", "series", "vote"])["tasks"].transform("max")
    shown = shown[(longest > PAPER_T) | (longest == longest.max())]
    five = _named(reward[reward["tests"] == reward["tests"].iloc[0]])
    five = five[five["crowd"].isin(["from-0.6", "from-0.5"]) & (five["workers"] == 5)]
    said = "Bars are 95 % intervals of the mean."
    charts = [
        Chart("gain", f"Average reward less the accuracy of the full crowd's vote; above 0 LS_OL "
              f"has paid. {said}", shown[shown["vote"] == "majority"], "tasks", "mean", "tasks",
              "average reward less the full crowd's", series="series", panel="crowd", low="low",
              high="high", log_x=True, references=((0.0, "full crowd"),)),
    ]  # fmt: skip
    if len(five):
        charts.append(
            Chart("weighted", f"Average reward of LS_OL by simple and by weighted vote, five "
                  f"labelers. {said}", five, "tasks", "mean", "tasks", "average reward",
                  series="vote", panel="crowd", low="low", high="high", log_x=True),
        )  # fmt: skip
    return Analysis(
        findings=(ended(table), *_sentences(crossed, second)),
        tables={
            f"Table 2 under its readings, T = {PAPER_T}": second,
            "When the average overtakes the full crowd": crossed,
            "Average reward over time": reward,
        },
        charts=tuple(charts),
    )


def table_2(table: pd.DataFrame) -> pd.DataFrame:
    """Means by crowd, M and schedule after the paper's T (or the horizon, if shorter).

    Columns `crowd, workers, tests, repeats, n, full, full_se`, for each vote `reward, se, last`
    (the accuracy of the last set in force), and the optimum `best` with known skills.
    """
    runs = rewards(table, [*KEYS, "last_accuracy"])
    at = runs[runs["tasks"] == runs.loc[runs["tasks"] <= PAPER_T, "tasks"].max()]
    keys = [one for one in KEYS if one != "vote"]
    found = pd.DataFrame(columns=keys)
    for vote, rows in at.groupby("vote"):
        own = means(rows, keys, "reward")[[*keys, "n", "mean", "se"]].rename(
            columns={"mean": f"{vote}", "se": f"{vote}_se", "n": f"{vote}_n"}
        )
        for name, field in (("last", "last_accuracy"), ("best", "best_accuracy")):
            more = means(rows, keys, field)[[*keys, "mean"]]
            own = own.merge(more.rename(columns={"mean": f"{vote}_{name}"}), on=keys)
        if vote == "majority":
            full = means(rows, keys, "full_accuracy")[[*keys, "mean", "se"]]
            own = own.merge(full.rename(columns={"mean": "full", "se": "full_se"}), on=keys)
        found = own if found.empty else found.merge(own, on=keys, how="outer")
    return found.sort_values(keys, ignore_index=True)


def _named(found: pd.DataFrame) -> pd.DataFrame:
    series = [
        f"M = {m}, G1 = {g:g}, {repeats_label(k)}"
        for m, g, k in zip(found["workers"], found["tests"], found["repeats"], strict=True)
    ]
    return found.assign(series=series)


def _sentences(crossed: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    sentences = []
    for row in crossed.to_dict("records"):
        who = (
            f"{row['crowd']}, M = {row['workers']}, G1 = {row['tests']:g}, "
            f"{repeats_label(row['repeats'])}, {row['vote']}"
        )
        when = (
            f"from {row['overtakes']:.0f} tasks on"
            if pd.notna(row["overtakes"])
            else f"not by {row['end']} tasks"
        )
        sentences.append(
            f"{who}: above the full crowd {when}; by {plus_minus(row['gain'], row['gain_se'], 4)} "
            f"after {PAPER_T}."
        )
    whole = {"full", "majority", "weighted"} <= set(second)
    for crowd in READINGS if whole else ():
        rows = second[(second["crowd"] == crowd) & second["weighted"].notna()]
        rows = rows[rows["repeats"] == READ_AT]
        if len(rows):
            sentences.append(
                f"Table 2, {crowd}: M = {listed(rows['workers'].tolist())}: full crowd "
                f"{_row(rows, 'full')}; LS_OL {_row(rows, 'majority')}, last set "
                f"{_row(rows, 'majority_last')}; weighted {_row(rows, 'weighted')}, last set "
                f"{_row(rows, 'weighted_last')}."
            )
    return sentences


def _row(rows: pd.DataFrame, name: str) -> str:
    return ", ".join(f"{value:.4f}" for value in rows[name])


_READ: Block = {
    "crowd": list(READINGS),
    "workers": [5, 10, 15, 20],
    "vote": ["majority", "weighted"],
    "repeats": [READ_AT],
}
_PAYS: Block = {"crowd": ["from-0.6", "spread"], "workers": [5, 15]}

STUDY = Study(
    name="learn-average",
    title="Average reward of online labeler selection",
    source="Liu, Liu (2015), Section 6.1, Figures 3 and 5, Table 2",
    parameters=run_parameters(),
    sizes={
        "smoke": Size(
            ({**_READ, "workers": [5, 10], "horizon": [3000]},
             {"crowd": ["from-0.6", "spread"], "tests": [1.0], "repeats": [1.0],
              "horizon": [3000]}), 3,
        ),
        "small": Size(
            ({**_READ, "horizon": [2000]}, {**_PAYS, "horizon": [20_000]}), 25
        ),
        "paper": Size(
            ({**_READ, "horizon": [2000]},
             {"crowd": ["from-0.6"], "vote": ["majority", "weighted"], "horizon": [100_000]},
             {"crowd": ["table-1"], "horizon": [100_000]},
             {"crowd": ["from-0.6", "table-1"], "tests": [10.0, 30.0], "repeats": [5.0],
              "horizon": [1_000_000]},
             {**_PAYS, "tests": [3.0], "repeats": [5.0], "horizon": [100_000]},
             {**_PAYS, "tests": [1.0], "repeats": [1.0], "horizon": [100_000]},
             {"crowd": ["table-1"], "tests": [1.0], "repeats": [1.0], "horizon": [100_000]}), 100,
        ),
    },
    trial=trial,
    analyse=analyse,
)  # fmt: skip
