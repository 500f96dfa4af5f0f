"""How R(T) grows from a thousand to a million tasks: log²T as promised, or otherwise.

One crowd at a time, many runs. G2 is 5, G1 from 3 to 100: the printed G1, of the order 10⁸, would
explore for longer than any run, and exploring alone costs U(S*) − ½ a task.

Exploring grows like log²T by construction. What exploiting adds depends on how fast a wrong
choice becomes rare: two prefixes whose accuracies are ε apart are told apart by G1 log t testers
with an error like t^(−κ), κ about G1 ε²·const; its sum is bounded only when κ exceeds 1.

Source: Liu, Liu (2015), Theorem 3 and Section 6.1 ("a logarithmic increase").
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.learning.schedule import practical
from workbench.studies.catalog._learning import (
    SHAPES,
    best_shape,
    grid,
    growth,
    long,
    over_time,
    run_once,
    run_parameters,
    wide,
)
from workbench.studies.measures import ended
from workbench.studies.study import Analysis, Chart, Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

FROM = 1000
"""Tasks from which on the growth is looked at."""
KEYS = ["crowd", "tests", "repeats"]


def trial(params: Params, streams: Streams) -> Record:
    """Run LS_OL once."""
    return run_once(params, streams)


def parts(table: pd.DataFrame) -> pd.DataFrame:
    """Regret, its exploring and its exploiting part: a row a run, checkpoint and part.

    Columns `crowd, tests, repeats, repetition, tasks, value, part`.
    """
    whole, exploring = long(table, KEYS), long(table, KEYS, "exploring")
    exploiting = whole.assign(value=whole["value"] - exploring["value"])
    return pd.concat(
        [
            whole.assign(part="all"),
            exploring.assign(part="exploring"),
            exploiting.assign(part="exploiting"),
        ],
        ignore_index=True,
    )


def verdicts(table: pd.DataFrame, least: int = FROM) -> pd.DataFrame:
    """Which shape fits each curve once half of its steps exploit, and how steep it is at the end.

    Returns
    -------
    DataFrame
        `crowd, tests, repeats, part, runs, since` (tasks), `at_end, at_end_se` (regret at the last
        checkpoint), the log-likelihood of each of `SHAPES` less that of log²T, `likeliest`,
        `ahead`, and `power`: the exponent γ of T^γ over the last decade, with `power_se`.
    """
    rows = []
    for names, own in parts(table).groupby([*KEYS, "part"], sort=False):
        tests, repeats = (float(own[name].iloc[0]) for name in ("tests", "repeats"))
        curves = wide(own, max(least, settled(tests, repeats, int(own["tasks"].max()))))
        if len(curves) < 2 or curves.shape[1] < 4:
            continue
        found = growth(curves)
        power, se = steepness(curves)
        last = curves.iloc[:, -1]
        likeliest, ahead = best_shape(found) if np.isfinite(found["log2"]) else ("", np.nan)
        rows.append({
            **dict(zip([*KEYS, "part"], names, strict=True)), "runs": len(curves),
            "since": int(curves.columns[0]),
            "at_end": last.mean(), "at_end_se": last.sem(),
            **{name: found[name] - found["log2"] for name in SHAPES},
            "likeliest": likeliest, "ahead": ahead, "power": power, "power_se": se,
        })  # fmt: skip
    return pd.DataFrame(rows)


def settled(tests: float, repeats: float, horizon: int) -> int:
    """First checkpoint up to which at most half of the steps have explored.

    Before, regret is near U(S*) − ½ a task, whatever it is later.
    """
    schedule = practical(tests, repeats)
    for n in grid(horizon):
        if 2 * schedule.exploration_steps(n) <= n:
            return n
    return horizon


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


def analyse(table: pd.DataFrame) -> Analysis:
    """The shape of each curve, and the curves."""
    found = verdicts(table)
    if found.empty:
        return Analysis(findings=(ended(table),))
    table = table.assign(G1=[f"G1 = {one:g}" for one in table["tests"]])
    curves = over_time(table, ["crowd", "tests", "G1"])  # in the order of G1
    curves = curves[curves["tasks"] >= FROM]
    squared = curves.assign(**{"R/log²T": curves["mean"] / np.log(curves["tasks"]) ** 2})
    sentences = [
        f"{row['crowd']}, G1 = {row['tests']:g}, {row['part']}: R = {row['at_end']:.0f} ± "
        f"{row['at_end_se']:.0f} at the end, likeliest {SHAPES.get(row['likeliest'], '–')} (ahead "
        f"by {row['ahead']:.1f}); T^{row['power']:.2f} ± {row['power_se']:.2f} over the last "
        "decade."
        for row in found.to_dict("records")
        if row["part"] != "exploring"
    ]
    count = int(curves["n"].max())
    said = f"Means over {count} runs."
    return Analysis(
        findings=(ended(table), *sentences),
        tables={"Shapes of growth (log-likelihood less that of log²T)": found},
        charts=(
            Chart("regret", f"Regret R(T). {said} Bars are 95 % intervals of the mean.", curves,
                  "tasks", "mean", "tasks T", "regret R(T) (tasks)", series="G1",
                  panel="crowd", low="low", high="high", log_x=True, log_y=True),
            Chart("regret-over-log2", f"R(T)/log²T: level where the promise holds. {said}", squared,
                  "tasks", "R/log²T", "tasks T", "R(T)/log²T", series="G1", panel="crowd",
                  log_x=True, log_y=True),
        ),
    )  # fmt: skip


_FIVE = ["table-1", "clear", "wide"]

STUDY = Study(
    name="learn-growth",
    title="Growth of the regret up to a million tasks",
    source="Liu, Liu (2015), Theorem 3 and Section 6.1",
    parameters=run_parameters(
        crowd=Parameter(str, "table-1", "the skills", choices=("table-1", "clear", "wide",
                                                               "one-bad")),
        repeats=Parameter(float, 5.0, "G2 of D2 = G2 log t", least=0, most=1e9, paired=True),
        horizon=Parameter(int, 1_000_000, "T, tasks", least=2, most=10_000_000, paired=True),
    ),
    sizes={
        "smoke": Size(({"crowd": ["clear"], "tests": [3.0, 30.0], "horizon": [30_000]},), 3),
        "small": Size(({"crowd": _FIVE, "tests": [3.0, 30.0], "horizon": [200_000]},), 30),
        "paper": Size(({"crowd": _FIVE, "tests": [3.0, 10.0, 30.0, 100.0]},), 100),
    },
    trial=trial,
    analyse=analyse,
)  # fmt: skip
