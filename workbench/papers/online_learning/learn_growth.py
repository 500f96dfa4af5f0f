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

from workbench.learning.schedule import practical
from workbench.papers.online_learning import learning_runs
from workbench.studies.measures import DeclaredAnalysis, Drawn, Each, Part
from workbench.studies.study import Parameter, Size, Study

FROM = 1000
"""Tasks from which on the growth is looked at."""
KEYS = ["crowd", "tests", "repeats"]
STYLE: dict[str, Any] = {"series": "G1", "panel": "crowd", "log_x": True, "log_y": True}


def parts(table: pd.DataFrame) -> pd.DataFrame:
    """Regret, its exploring and its exploiting part: a row a run, checkpoint and part.

    Columns `crowd, tests, repeats, repetition, tasks, value, part`.
    """
    whole, exploring = learning_runs.long(table, KEYS), learning_runs.long(table, KEYS, "exploring")
    exploiting = whole.assign(value=whole["value"] - exploring["value"])
    named = {"all": whole, "exploring": exploring, "exploiting": exploiting}
    return pd.concat([rows.assign(part=part) for part, rows in named.items()], ignore_index=True)


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
        curves = learning_runs.wide(
            own, max(least, settled(tests, repeats, int(own["tasks"].max())))
        )
        if len(curves) < 2 or curves.shape[1] < 4:
            continue
        found, (power, se) = learning_runs.growth(curves), steepness(curves)
        last = curves.iloc[:, -1]
        likeliest, ahead = (
            learning_runs.best_shape(found) if np.isfinite(found["log2"]) else ("", np.nan)
        )
        rows.append(
            {
                **dict(zip([*KEYS, "part"], names, strict=True)),
                "runs": len(curves),
                "since": int(curves.columns[0]),
                "at_end": last.mean(),
                "at_end_se": last.sem(),
                **{name: found[name] - found["log2"] for name in learning_runs.SHAPES},
                "likeliest": likeliest,
                "ahead": ahead,
                "power": power,
                "power_se": se,
            }
        )
    return pd.DataFrame(rows)


def settled(tests: float, repeats: float, horizon: int) -> int:
    """First checkpoint up to which at most half of the steps have explored.

    Before, regret is near U(S*) − ½ a task, whatever it is later.
    """
    steps = practical(tests, repeats).exploration_steps
    return next((n for n in learning_runs.grid(horizon) if 2 * steps(n) <= n), horizon)


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


def late(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean curves from `FROM` on, in the order of G1, and as shares of log²T."""
    found = learning_runs.over_time(rows, ["crowd", "tests", "G1"])
    found = found[found["tasks"] >= FROM]
    return found.assign(**{"R/log²T": found["mean"] / np.log(found["tasks"]) ** 2})


_FIVE = ["table-1", "clear", "wide"]

STUDY = Study(
    name="learn-growth",
    title="Growth of the regret up to a million tasks",
    source="Liu, Liu (2015), Theorem 3 and Section 6.1",
    parameters=learning_runs.run_parameters(
        crowd=Parameter(
            str, "table-1", "the skills", choices=("table-1", "clear", "wide", "one-bad")
        ),
        repeats=Parameter(float, 5.0, "G2 of D2 = G2 log t", least=0, most=1e9, paired=True),
        horizon=Parameter(int, 1_000_000, "T, tasks", least=2, most=10_000_000, paired=True),
    ),
    sizes={
        "smoke": Size(({"crowd": ["clear"], "tests": [3.0, 30.0], "horizon": [30_000]},), 3),
        "small": Size(({"crowd": _FIVE, "tests": [3.0, 30.0], "horizon": [200_000]},), 30),
        "paper": Size(({"crowd": _FIVE, "tests": [3.0, 10.0, 30.0, 100.0]},), 100),
    },
    trial=learning_runs.run_once,
    analyse=DeclaredAnalysis(
        Part(
            "Shapes of growth (log-likelihood less that of log²T)",
            verdicts,
            (
                Each(
                    "{crowd}, G1 = {tests:g}, {part}: R = {at_end:±0} at the end, likeliest "
                    "{likeliest} (ahead by {ahead:.1f}); T^{power:±2} over the last decade.",
                    where=lambda found: found["part"] != "exploring",
                ),
            ),
            (
                Drawn(
                    "regret",
                    "Regret R(T)",
                    "tasks",
                    "mean",
                    ("tasks T", "regret R(T) (tasks)"),
                    STYLE,
                    of=lambda rows: late(rows).drop(columns="R/log²T"),
                    unit="runs",
                ),
                Drawn(
                    "regret-over-log2",
                    "R(T)/log²T: level where the promise holds, means",
                    "tasks",
                    "R/log²T",
                    ("tasks T", "R(T)/log²T"),
                    STYLE,
                    of=late,
                ),
            ),
        ),
        derived={"G1": lambda rows: [f"G1 = {tests:g}" for tests in rows["tests"]]},
    ),
)
