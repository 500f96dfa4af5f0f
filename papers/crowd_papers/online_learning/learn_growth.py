"""How R(T) grows from a thousand to a million tasks: log²T as promised, or otherwise.

One crowd at a time, many runs. G2 is 5, G1 from 3 to 100: the printed G1, of the order 10⁸, would
explore for longer than any run, and exploring alone costs U(S*) − ½ a task.

Exploring grows like log²T by construction. What exploiting adds depends on how fast a wrong
choice becomes rare: two prefixes whose accuracies are ε apart are told apart by G1 log t testers
with an error like t^(−κ), κ about G1 ε²·const; its sum is bounded only when κ exceeds 1.

Source: Liu, Liu (2015), Theorem 3 and Section 6.1 ("a logarithmic increase").
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from crowd_papers.online_learning.learning_runs import (
    LOGARITHMIC,
    RUNS,
    SHAPES,
    best_shape,
    grid,
    growth,
    long,
    over_time,
    ruling_of_all,
    run_once,
    run_parameters,
    wide,
)
from workbench.learning import practical
from workbench.studies import (
    BEYOND,
    Analysis,
    Chart,
    NotMeasured,
    Parameter,
    Ruling,
    Size,
    Study,
    claim,
    ended,
    ended_well,
    mean_chart,
    plus_minus,
    records,
)

FROM = 1000
"""Tasks from which on the growth is looked at."""

# What the trials say.

KEYS = ["crowd", "tests", "repeats"]


def analyse(trials: pd.DataFrame) -> Analysis:
    """Shapes of growth by crowd and G1, of the regret and its exploiting part; and the curves."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    table = verdicts(rows)
    findings = [
        f"{row.crowd}, G1 = {row.tests:g}, {row.part}: R = "
        f"{plus_minus(row.at_end, row.at_end_se, 0)} at the end, likeliest {row.likeliest} (ahead "
        f"by {row.ahead:.1f}); T^{plus_minus(row.power, row.power_se, 2)} over the last decade."
        for row in records(table)
        if row.part != "exploring"
    ]
    caption = "Shapes of growth (log-likelihood minus that of log²T)"
    tables = {caption: table} if len(table) else {}
    return Analysis((ended(trials), *findings), tables, charts(rows))


def parts(table: pd.DataFrame) -> pd.DataFrame:
    """Regret, its exploring and its exploiting part: a row a run, checkpoint and part.

    Columns `crowd, tests, repeats, repetition, tasks, value, part`.
    """
    whole, exploring = long(table, KEYS), long(table, KEYS, "exploring")
    exploiting = whole.assign(value=whole["value"] - exploring["value"])
    named = {"all": whole, "exploring": exploring, "exploiting": exploiting}
    return pd.concat([rows.assign(part=part) for part, rows in named.items()], ignore_index=True)


def verdicts(table: pd.DataFrame, least: int = FROM) -> pd.DataFrame:
    """Which shape fits each curve once half of its steps exploit, and how steep it is at the end.

    Returns
    -------
    DataFrame
        `crowd, tests, repeats, part, runs, since` (tasks), `at_end, at_end_se` (regret at the last
        checkpoint), the log-likelihood of each of `SHAPES` minus that of log²T, `likeliest`,
        `ahead`, and `power`: the exponent γ of T^γ over the last decade, with `power_se`.
    """
    rows = []
    for names, own in parts(table).groupby([*KEYS, "part"], sort=False):
        tests, repeats = (float(own[name].iloc[0]) for name in ("tests", "repeats"))
        since = max(least, settled(tests, repeats, int(own["tasks"].max())))
        curves = wide(own, since)
        if len(curves) >= 2 and curves.shape[1] >= 4:
            setting = dict(zip([*KEYS, "part"], names, strict=True))
            rows.append({**setting, **verdict(curves)})
    return pd.DataFrame(rows)


def verdict(curves: pd.DataFrame) -> dict[str, Any]:
    """What `verdicts` says of some curves, a row a run and a column a checkpoint."""
    likelihood, (power, power_se) = growth(curves), steepness(curves)
    grows = np.isfinite(likelihood["log2"])
    likeliest, ahead = best_shape(likelihood) if grows else ("", np.nan)
    last = curves.iloc[:, -1]
    return {
        "runs": len(curves),
        "since": int(curves.columns[0]),
        "at_end": last.mean(),
        "at_end_se": last.sem(),
        **{name: likelihood[name] - likelihood["log2"] for name in SHAPES},
        "likeliest": likeliest,
        "ahead": ahead,
        "power": power,
        "power_se": power_se,
    }


def settled(tests: float, repeats: float, horizon: int) -> int:
    """First checkpoint up to which at most half of the steps have explored.

    Before, regret is near U(S*) − ½ a task, whatever it is later.
    """
    steps = practical(tests, repeats).exploration_steps
    return next((n for n in grid(horizon) if 2 * steps(n) <= n), horizon)


def steepness(curves: pd.DataFrame) -> tuple[float, float]:
    """Exponent γ of T^γ between the last checkpoint and the one nearest to a tenth of it.

    Its standard error is that of the ratio of two means of the same runs.
    """
    tasks = curves.columns.to_numpy(dtype=float)
    at = int(np.abs(np.log(tasks / tasks[-1] * 10)).argmin())
    first, last = curves.iloc[:, at], curves.iloc[:, -1]
    if not first.mean() > 0 or not last.mean() > 0:
        return np.nan, np.nan
    span = np.log(tasks[-1] / tasks[at])
    slope = np.log(last.mean() / first.mean()) / span
    influence = last / last.mean() - first / first.mean()
    return float(slope), float(influence.std(ddof=1) / np.sqrt(len(curves)) / span)


def charts(rows: pd.DataFrame) -> tuple[Chart, ...]:
    """Draw mean curves from `FROM` on, and the same as shares of log²T."""
    rows = rows.assign(G1=[f"G1 = {tests:g}" for tests in rows["tests"]])
    curves = over_time(rows, ["crowd", "tests", "G1"])
    curves = curves[curves["tasks"] >= FROM]
    if curves.empty:
        return ()
    regret = mean_chart(
        "regret",
        "Regret R(T).",
        curves,
        "tasks",
        ("tasks T", "regret R(T) (tasks)"),
        unit="runs",
        series="G1",
        panel="crowd",
        log_x=True,
        log_y=True,
    )
    share = Chart(
        "regret-over-log2",
        f"R(T)/log²T: level where the promise holds, means; {len(rows):,} trials.",
        curves.assign(**{"R/log²T": curves["mean"] / np.log(curves["tasks"]) ** 2}),
        x="tasks",
        y="R/log²T",
        x_label="tasks T",
        y_label="R(T)/log²T",
        series="G1",
        panel="crowd",
        log_x=True,
        log_y=True,
    )
    return regret, share


_FIVE = ["table-1", "clear", "wide"]

STUDY = Study(
    name="learn-growth",
    title="Growth of the regret up to a million tasks",
    source="Liu, Liu (2015), Theorem 3 and Section 6.1",
    parameters=run_parameters(
        crowd=Parameter(
            str, "table-1", "the skills", choices=("table-1", "clear", "wide", "one-bad")
        ),
        repeats=Parameter(float, 5.0, "G2 of D2 = G2 log t", least=0, most=1e9, paired=True),
        horizon=Parameter(int, 1_000_000, "T, tasks", least=2, most=10_000_000, paired=True),
    ),
    sizes={
        "smoke": Size(({"crowd": ["clear"], "tests": [3.0, 30.0], "horizon": [30_000]},), 2),
        "small": Size(({"crowd": _FIVE, "tests": [3.0, 30.0], "horizon": [200_000]},), 30),
        "paper": Size(({"crowd": _FIVE, "tests": [3.0, 10.0, 30.0, 100.0]},), 100),
    },
    trial=run_once,
    analyse=analyse,
)

# What the paper claims.

LONG = 100_000
"""Least number of tasks of a run that the growth is judged by."""
OFTEN_EXPLORED = 100.0
"""G1 from which on exploring leaves too few steps to see how exploiting grows."""


@claim(
    id="learn-log-squared",
    source="abstract and Theorem 3",
    statement="The regret of LS_OL is O(log²T) uniformly in time. (Read with practical constants "
    "G1 and G2 up to a million tasks, as the printed ones explore throughout.)",
)
def log_squared(trials: pd.DataFrame) -> Ruling:
    """The likeliest shape of growth from a thousand tasks on, crowd by crowd and G1 by G1."""
    rows = trials[trials["horizon"] >= LONG]
    counts = rows.groupby(["crowd", "tests"])["status"].transform("size")
    table = verdicts(rows[counts >= RUNS])
    if table.empty:
        raise NotMeasured(f"no crowd has {RUNS} runs of {LONG:,} tasks or more")
    table = table.assign(shape=table["likeliest"].map(SHAPES).fillna("none"))
    whole = table[table["part"] == "all"]
    shapes = [
        f"{row.crowd}, G1 = {row.tests:g}: {row.shape} (ahead by {row.ahead:.1f}, "
        f"T^{row.power:.2f})"
        for row in records(whole)
    ]
    late = table[(table["part"] == "exploiting") & (table["tests"] < OFTEN_EXPLORED)]
    late = late[late["at_end"] > BEYOND * late["at_end_se"]]
    powers = [
        f"{plus_minus(row.power, row.power_se, 2)} ({row.crowd}, G1 = {row.tests:g})"
        for row in records(late)
    ]
    figures = (
        "Growth of the regret, as the most likely of log T, log²T, √T and T up to "
        f"{int(rows['horizon'].max()):,} tasks, with the "
        f"last decade's exponent: {'; '.join(shapes)}. It is fitted from where half of the steps "
        f"exploit, at least {FROM:,} tasks. Exploring grows as log²T by construction; what "
        f"exploiting adds grows as T^γ in the last decade, γ {', '.join(powers)}: where G1 is "
        "small a wrong choice stays about as likely, and this part wins in the end."
    )
    return ruling_of_all(figures, whole["likeliest"].isin(LOGARITHMIC))
