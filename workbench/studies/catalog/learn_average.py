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

from typing import Any

import pandas as pd

from workbench.studies.catalog import learning_runs
from workbench.studies.measures import listed, sentences
from workbench.studies.study import Analysis, Block, Chart, Size, Study
from workbench.studies.summary import means

PRINTED = {5: (0.5154, 0.8320, 0.8726), 10: (0.5686, 0.9186, 0.9393), 15: (0.7000, 0.9434, 0.9641),
           20: (0.7997, 0.9820, 0.9890)}  # fmt: skip
"""Table 2 by M: full crowd, LS_OL, LS_OL with weights."""
READINGS = ("any", "any-trusted", "from-0.5", "from-0.6")
"""Crowds that "uniformly generated" may mean."""
READ_AT = 5.0
"""G2 of the runs for Table 2."""
KEYS = ["crowd", "workers", "tests", "repeats", "vote"]
COMPARED = ["full", "majority", "majority_last", "weighted", "weighted_last"]
"""Columns of Table 2 that are named."""


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
        rows.append((
            *names, lasting.iloc[0] if len(lasting) else None, at["mean"], at["se"], end["tasks"],
            end["mean"], end["se"],
        ))  # fmt: skip
    columns = ["overtakes", "gain", "gain_se", "end", "gain_end", "gain_end_se"]
    return pd.DataFrame(rows, columns=[*KEYS, *columns])


def gains_of(runs: pd.DataFrame, value: str = "gain") -> pd.DataFrame:
    """Mean gain (or reward) of `rewards` by setting and number of tasks."""
    return means(runs, [*KEYS, "tasks"], value).drop(columns="failed")


@learning_runs.of_runs
def analyse(table: pd.DataFrame) -> Analysis:
    """Rewards over time, when they overtake the full crowd's, and Table 2 under each reading."""
    runs = learning_runs.rewards(table, KEYS)
    gains, reward = gains_of(runs), gains_of(runs, "reward")
    crossed, second = crossings(gains), table_2(table)
    shown = _named(gains[gains["crowd"].isin(["from-0.6", "spread", "table-1"])])
    longest = shown.groupby(["crowd", "series", "vote"])["tasks"].transform("max")
    shown = shown[(longest > learning_runs.PAPER_T) | (longest == longest.max())]
    five = _named(reward[reward["tests"] == reward["tests"].iloc[0]])
    five = five[five["crowd"].isin(["from-0.6", "from-0.5"]) & (five["workers"] == 5)]
    style: dict[str, Any] = {"panel": "crowd", "low": "low", "high": "high", "log_x": True}
    bars = "Bars are 95 % intervals of the mean."
    charts = [
        Chart("gain", f"Average reward less the accuracy of the full crowd's vote; above 0 LS_OL "
              f"has paid. {bars}", shown[shown["vote"] == "majority"], "tasks", "mean", "tasks",
              "average reward less the full crowd's", series="series",
              references=((0.0, "full crowd"),), **style),
        Chart("weighted", f"Average reward of LS_OL by simple and by weighted vote, five workers. "
              f"{bars}", five, "tasks", "mean", "tasks", "average reward", series="vote", **style),
    ]  # fmt: skip
    return Analysis(
        findings=(*_crossed(crossed), *_second(second)),
        tables={
            f"Table 2 under its readings, T = {learning_runs.PAPER_T}": second,
            "When the average overtakes the full crowd": crossed,
            "Average reward over time": reward,
        },
        charts=tuple(chart for chart in charts if len(chart.data)),
    )


def table_2(table: pd.DataFrame) -> pd.DataFrame:
    """Means by crowd, M and schedule after the paper's T (or the horizon, if shorter).

    Columns `crowd, workers, tests, repeats, n, full, full_se`, for each vote `reward, se, last`
    (the accuracy of the last set in force), and the optimum `best` with known skills.
    """
    runs = learning_runs.rewards(table, [*KEYS, "last_accuracy"])
    at = runs[runs["tasks"] == runs.loc[runs["tasks"] <= learning_runs.PAPER_T, "tasks"].max()]
    keys = [name for name in KEYS if name != "vote"]
    found = pd.DataFrame(columns=keys)
    for vote, rows in at.groupby("vote"):
        own = means(rows, keys, "reward")[[*keys, "n", "mean", "se"]].rename(
            columns={"mean": f"{vote}", "se": f"{vote}_se", "n": f"{vote}_n"}
        )
        fields = {f"{vote}_last": "last_accuracy", f"{vote}_best": "best_accuracy"}
        own = learning_runs.with_means(own, rows, keys, **fields)
        if vote == "majority":
            full = means(rows, keys, "full_accuracy")[[*keys, "mean", "se"]]
            own = own.merge(full.rename(columns={"mean": "full", "se": "full_se"}), on=keys)
        found = own if found.empty else found.merge(own, on=keys, how="outer")
    return found.sort_values(keys, ignore_index=True)


def _named(found: pd.DataFrame) -> pd.DataFrame:
    names = [
        f"M = {row['workers']}, {learning_runs.schedule_label(row)}"
        for row in found.to_dict("records")
    ]
    return found.assign(series=names)


def _crossed(crossed: pd.DataFrame) -> list[str]:
    when = [
        f"not by {row['end']} tasks" if pd.isna(row["overtakes"])
        else f"from {row['overtakes']:.0f} tasks on"
        for row in crossed.to_dict("records")
    ]  # fmt: skip
    return sentences(
        "{crowd}, {series}, {vote}: above the full crowd {when}; by {gain:±4} after {tasks}.",
        _named(crossed).assign(when=when), tasks=learning_runs.PAPER_T,
    )  # fmt: skip


def _second(second: pd.DataFrame) -> list[str]:
    said = []
    whole = {"full", "majority", "weighted"} <= set(second)
    for crowd in READINGS if whole else ():
        rows = second[(second["crowd"] == crowd) & second["weighted"].notna()]
        rows = rows[rows["repeats"] == READ_AT]
        if len(rows):
            shown = (", ".join(f"{value:.4f}" for value in rows[name]) for name in COMPARED)
            said.append(
                f"Table 2, {crowd}: M = {listed(rows['workers'])}: "
                "full crowd {}; LS_OL {}, last set {}; weighted {}, last set {}.".format(*shown)
            )
    return said


_READ: Block = {
    "crowd": list(READINGS), "workers": [5, 10, 15, 20], "vote": ["majority", "weighted"],
    "repeats": [READ_AT],
}  # fmt: skip
_PAYS: Block = {"crowd": ["from-0.6", "spread"], "workers": [5, 15]}

STUDY = Study(
    name="learn-average",
    title="Average reward of online worker selection",
    source="Liu, Liu (2015), Section 6.1, Figures 3 and 5, Table 2",
    parameters=learning_runs.run_parameters(),
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
             {"crowd": ["table-1"], "tests": [1.0], "repeats": [1.0], "horizon": [100_000]},
             {"crowd": ["from-0.6", "table-1"], "tests": [1.0, 3.0, 10.0, 30.0], "repeats": [0.0],
              "horizon": [100_000]}), 100,
        ),
    },
    trial=learning_runs.run_once,
    analyse=analyse,
)  # fmt: skip
