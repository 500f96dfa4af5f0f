"""Figures 3 and 5, Table 2: average reward beside the full crowd's, by simple and weighted vote.

The reward of a task is the probability that its label is right. Averages are over all tasks so
far, those that explore included; the full crowd's is the accuracy of its simple majority.

Runs go on to 20,000 tasks, ten times the paper's, and fewer explorations (G1 = G2 = 1; one round a
tester, G2 = 0) and longer runs are tried beside the default, to find out when learning pays.
`table_2` says how Table 2's crowd is read.

Source: Liu, Liu (2015), Section 6.1, Figures 3 and 5, Table 2.
"""

from __future__ import annotations

import pandas as pd

from crowd_papers.online_learning.learning_runs import (
    DEFAULT,
    EQUAL,
    PAPER_T,
    RUNS,
    SETTING,
    repeats_label,
    rewards,
    ruling_of_all,
    run_once,
    run_parameters,
    schedule_label,
    schedule_labels,
    share_of,
)
from crowd_papers.online_learning.table_2 import (
    READ_AT,
    READINGS,
    leads,
    paying,
    readings,
    table_2,
    weighted_leads,
)
from workbench.studies import (
    BEYOND,
    Analysis,
    Block,
    Chart,
    Ruling,
    Size,
    Study,
    Value,
    claim,
    ended,
    ended_well,
    enough,
    mean_chart,
    means,
    nonempty,
    only,
    percent,
    plus_minus,
    records,
    signed,
    with_interval,
)

# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Table 2 under its readings, when the full crowd is overtaken, and rewards over time."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    runs = rewards(rows, SETTING)
    table, gains, reward = table_2(rows), gains_of(runs), gains_of(runs, "reward")
    crossed = crossings(gains)
    findings = (
        ended(trials),
        *readings(table),
        *crossing_texts(crossed),
    )
    tables = {
        f"Table 2 under its readings, T = {PAPER_T}": table,
        "When the average overtakes the full crowd": crossed,
        "Average reward over time": reward,
    }
    charts = nonempty(gain_chart(gains), vote_chart(reward))
    return Analysis(findings, tables, charts)


def gains_of(runs: pd.DataFrame, value: str = "gain") -> pd.DataFrame:
    """Mean gain (or reward) of `rewards` by setting and number of tasks."""
    return means(runs, [*SETTING, "tasks"], value).drop(columns="failed")


def crossings(gains: pd.DataFrame) -> pd.DataFrame:
    """From when on the mean average reward stays above the full crowd's, by 2 standard errors.

    Parameters
    ----------
    gains
        `means` of `rewards`' gain by `SETTING` and tasks.

    Returns
    -------
    DataFrame
        `SETTING`, `overtakes` (tasks; missing where it does not by the end), and the gain at the
        paper's T and at the end, each with `_se`.
    """
    rows = []
    for names, own in gains.sort_values("tasks").groupby(SETTING, sort=False, dropna=False):
        ahead = (own["mean"] > BEYOND * own["se"]).to_numpy()
        lasting = own["tasks"][ahead[::-1].cumprod()[::-1].astype(bool)]
        at, end = own[own["tasks"] <= PAPER_T].iloc[-1], own.iloc[-1]
        rows.append(
            {
                **dict(zip(SETTING, names, strict=True)),
                "overtakes": lasting.min(),
                "gain": at["mean"],
                "gain_se": at["se"],
                "end": end["tasks"],
                "gain_end": end["mean"],
                "gain_end_se": end["se"],
            }
        )
    return pd.DataFrame(rows)


def crossing_texts(crossed: pd.DataFrame) -> list[str]:
    """Say of each setting when it overtakes the full crowd."""
    texts = []
    for row in records(with_series(crossed)):
        never = pd.isna(row.overtakes)
        when = f"not by {row.end:,} tasks" if never else f"from {row.overtakes:.0f} tasks on"
        texts.append(
            f"{row.crowd}, {row.series}, {row.vote}: above the full crowd {when}; by "
            f"{plus_minus(row.gain, row.gain_se, 4)} after {PAPER_T:,}."
        )
    return texts


def with_series(table: pd.DataFrame) -> pd.DataFrame:
    """A table with the column `series`: M and the schedule."""
    pairs = zip(table["workers"], schedule_labels(table), strict=True)
    return table.assign(series=[f"M = {workers}, {label}" for workers, label in pairs])


def gain_chart(gains: pd.DataFrame) -> Chart:
    """Draw gains by simple vote of some crowds, those of short runs where all are short."""
    table = with_series(gains)
    crowds = table["crowd"].isin(["from-0.6", "spread", "table-1"])
    table = table[crowds & (table["vote"] == "majority")]
    longest = table.groupby(["crowd", "series"])["tasks"].transform("max")
    return mean_chart(
        "gain",
        "Average reward minus the accuracy of the full crowd's vote; above 0 LS_OL has paid.",
        table[(longest > PAPER_T) | (longest == longest.max())],
        "tasks",
        ("tasks", "average reward minus the full crowd's"),
        unit="runs",
        series="series",
        panel="crowd",
        log_x=True,
        references=((0.0, "full crowd"),),
    )


def vote_chart(reward: pd.DataFrame) -> Chart:
    """Draw rewards of five workers by each vote, at the first schedule."""
    first = reward[reward["tests"] == reward["tests"].iloc[0]]
    crowds = first["crowd"].isin(["from-0.6", "from-0.5"])
    return mean_chart(
        "weighted",
        "Average reward of LS_OL by simple and by weighted vote, five workers.",
        first[crowds & (first["workers"] == 5)],
        "tasks",
        ("tasks", "average reward"),
        unit="runs",
        series="vote",
        panel="crowd",
        log_x=True,
    )


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
    parameters=run_parameters(),
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
            1,
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
    trial=run_once,
    analyse=analyse,
)

# What the paper claims.

ONE_ROUND = ("able", "half", "spread")
"""Crowds of which `learn-theory` computes what one round per tester tends to."""


@claim(
    id="learn-figure-3",
    source="Figure 3",
    statement="After enough tasks the average reward of LS_OL is clearly above that of the full "
    "crowd's majority vote. (Read: by the end of the 2000 tasks, for some G1 and G2.)",
    studies=("learn-average", "learn-theory"),
)
def figure_3(trials: pd.DataFrame, theory: pd.DataFrame) -> Ruling:
    """Average reward minus the full crowd's at the paper's size, by schedule; and later on."""
    runs = paying(trials)
    first = first_set_up(runs)
    by_schedule = leads(first.groupby(["tests", "repeats"], dropna=False)["gain"])
    texts = [
        f"{schedule_label(row.tests, row.repeats)} {signed(row.mean, row.sem)}"
        for row in records(by_schedule.sort_values("mean", ascending=False, kind="stable"))
    ]
    room = first["best_accuracy"] - first["full_accuracy"]
    single = only(theory, RUNS, question="one-round", crowd="able", workers=5)
    wrong = {name: percent(share_of(single, f"wrong_{name}"), 0) for name in ONE_ROUND}
    figures = (
        f"Lead of LS_OL over the full crowd after {PAPER_T} tasks, where {room.mean():.3f} is "
        "possible: "
        f"{', '.join(texts)}. It is "
        f"ahead for good with: {lasting_leads(runs)}. In {percent((room < EQUAL).mean())} of the "
        "first set-up's runs the full crowd is S* itself, and there is nothing to gain"
        f"{of_table_1(runs)}. With one round per tester (G2 = 0) p̂ tends to the rate of agreement "
        f"with the majority, and the set to a wrong one for ever in {wrong['able']} of crowds of "
        f"skills in [0.6, 1], {wrong['half']} in [0.5, 1] and {wrong['spread']} in [0.3, 1]; what "
        f"that loses is small, {single['loss_able'].astype(float).mean():.3f} in the first."
    )
    labelled = first.assign(schedule=schedule_labels(first))
    values = [
        Value(f"average reward − full crowd's, {name}", "clearly above 0", with_interval(own))
        for name, own in labelled.groupby("schedule", sort=False)["gain"]
    ]
    drawn = gain_chart(gains_of(runs))
    return ruling_of_all(figures, by_schedule["ahead"]).beside(*values, chart=drawn)


def first_set_up(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs (`paying`) of Figure 3's first set-up at the paper's T, of schedules with enough.

    Raises
    ------
    NotMeasured
        No schedule has `RUNS` runs.
    """
    rows = runs[(runs["crowd"] == "from-0.6") & (runs["workers"] == DEFAULT["workers"])]
    rows = rows[(rows["vote"] == "majority") & (rows["tasks"] == PAPER_T)]
    count = rows.groupby(["tests", "repeats"], dropna=False)["gain"].transform("size")
    return enough(rows[count >= RUNS], RUNS, "runs of the first set-up at one schedule")


def lasting_leads(runs: pd.DataFrame) -> str:
    """Say which crowds and schedules are ahead of the full crowd for good, and from when on."""
    gains = gains_of(runs[runs["vote"] == "majority"])
    crossed = crossings(gains[gains["n"] >= RUNS])
    crossed = crossed[crossed["crowd"].isin(["spread", "from-0.6"]) & crossed["overtakes"].notna()]
    texts = [
        f"{row.crowd}, M = {row.workers}, {schedule_label(row.tests, row.repeats)}: from "
        f"{row.overtakes:,.0f} tasks on"
        for row in records(crossed)
    ]
    return "; ".join(texts) or "none of the settings"


def of_table_1(runs: pd.DataFrame) -> str:
    """Say of Table 1's crowd that it has nothing to gain, where it was run and that is so."""
    rows = runs[runs["crowd"] == "table-1"]
    same = (rows["best_accuracy"] - rows["full_accuracy"] < EQUAL).all()
    return "; so it is with Table 1's crowd" if len(rows) and same else ""


@claim(
    id="learn-figure-5",
    source="Figure 5",
    statement="The weighted vote has a higher average reward than the simple vote.",
)
def figure_5(trials: pd.DataFrame) -> Ruling:
    """Average reward by weighted minus by simple vote, five workers."""
    runs = paying(trials)
    rows = runs[(runs["crowd"] == "from-0.6") & (runs["workers"] == DEFAULT["workers"])]
    rows = rows[rows["tests"] == DEFAULT["tests"]]
    rows = rows[rows["tasks"].isin([PAPER_T, rows["tasks"].max()])]
    rows = rows.assign(schedule=[repeats_label(repeats) for repeats in rows["repeats"]])
    table = weighted_leads(rows, ["schedule", "tasks"])
    texts = [
        f"{row.schedule}, {row.tasks:,} tasks: {signed(row.mean, row.sem, 4)}"
        for row in records(table)
    ]
    figures = (
        "Average reward with the weighted vote minus that with the simple vote, on the same "
        "crowds: "
        f"{'; '.join(texts)}."
    )
    return ruling_of_all(figures, table["ahead"])
