"""Figures 2 and 4: how the regret of LS_OL grows, and what the ability of the crowd changes.

Five workers with skills uniform on [a, 1] for a = 0.6, 0.7, 0.8 (the paper's simplification), 2000
tasks, a price of 0.02 a label, 100 runs; and the crowd of Table 1.

The paper prints D2 = log t/(a_min − ½)² and presets a_min. G2 is read in three ways: by each
crowd's own a_min = π(all); by the preset a itself, below which no worker is; and 5 throughout.

Source: Liu, Liu (2015), Section 6.1, Table 1, Figures 2 and 4.
"""

from __future__ import annotations

import functools

import pandas as pd

from workbench.papers.online_learning import learning_runs
from workbench.studies.analysis import measured
from workbench.studies.measures import DeclaredAnalysis, Drawn, Each, Part, summarise
from workbench.studies.study import Block, Size, Study

PRESET = {"from-0.6": 0.6, "from-0.7": 0.7, "from-0.8": 0.8}
"""The preset a_min of Figure 4."""
EXPLORED_FROM = 100
"""Tasks from which on the growth of a curve is looked at."""
KEYS = ["crowd", "reading"]
STYLE = {"series": "crowd", "panel": "reading"}

over_time = functools.partial(learning_runs.over_time, keys=KEYS)
trial = functools.partial(learning_runs.run_once, curves=("regret", "exploring", "cost_regret"))


def preset_repeats(crowd: str) -> float:
    """G2 by the preset a_min."""
    return round(1.0 / (PRESET[crowd] - 0.5) ** 2, 6)


def reading(crowd: str, repeats: float | None) -> str:
    """How G2 is read in a trial."""
    if repeats is None or pd.isna(repeats):
        return "G2 by the crowd's a_min"
    if crowd in PRESET and repeats == preset_repeats(crowd):
        return "G2 by the preset a_min"
    return f"G2 = {repeats:g}"


def with_reading(table: pd.DataFrame) -> pd.DataFrame:
    """Add the column `reading`."""
    given = zip(table["crowd"], table["repeats"], strict=True)
    return table.assign(reading=[reading(*pair) for pair in given])


def at_end(rows: pd.DataFrame) -> pd.DataFrame:
    """Regret at the last checkpoint, its parts, and the shape of its growth."""
    last = learning_runs.checkpoints(rows)[-1]
    columns = {
        **learning_runs.mean_of(f"regret_{last}", "regret"),
        "exploring": (f"exploring_{last}", "mean"),
        **dict.fromkeys(("explored", "best_accuracy", "full_accuracy", "found_best"), "mean"),
    }
    found = summarise(measured(rows, f"regret_{last}"), KEYS, columns, sort=True)
    return found.assign(
        shape=[_shape(own) for _, own in learning_runs.long(rows, KEYS).groupby(KEYS)]
    )


def _shape(rows: pd.DataFrame) -> str:
    curves = learning_runs.wide(rows, EXPLORED_FROM)
    if len(curves) < 2 or curves.shape[1] < 4:
        return ""
    name, ahead = learning_runs.best_shape(learning_runs.growth(curves))
    return f"{learning_runs.SHAPES[name]} (ahead by {ahead:.1f} in log-likelihood)"


def _blocks(crowds: list[str], horizon: int) -> tuple[Block, ...]:
    preset: list[Block] = [
        {"crowd": [crowd], "repeats": [preset_repeats(crowd)], "horizon": [horizon]}
        for crowd in crowds
    ]
    return ({"crowd": [*crowds, "table-1"], "repeats": [None, 5.0], "horizon": [horizon]}, *preset)


STUDY = Study(
    name="learn-regret",
    title="Regret of online worker selection over time",
    source="Liu, Liu (2015), Section 6.1, Table 1, Figures 2 and 4",
    parameters=learning_runs.run_parameters(),
    sizes={
        "smoke": Size(_blocks(["from-0.6", "from-0.8"], 600), 3),
        "small": Size(_blocks(list(PRESET), learning_runs.PAPER_T), 30),
        "paper": Size(_blocks(list(PRESET), learning_runs.PAPER_T), 100),
    },
    trial=trial,
    analyse=DeclaredAnalysis(
        Part(
            "Regret at the end",
            at_end,
            (
                Each(
                    "{crowd}, {reading}: R(T) = {regret:±1}, of which exploring {exploring:.1f} in "
                    "{explored:.0f} steps; grows most like {shape}."
                ),
            ),
        ),
        Part(
            "Regret over time",
            over_time,
            (),
            (
                Drawn(
                    "regret",
                    "Accumulated regret R(t)",
                    "tasks",
                    "mean",
                    ("tasks", "regret R(t) (tasks labelled wrong)"),
                    STYLE,
                    unit="runs",
                ),
                Drawn(
                    "average-regret",
                    "Average regret R(t)/t",
                    "tasks",
                    "mean",
                    ("tasks", "average regret R(t)/t"),
                    STYLE,
                    unit="runs",
                    of=functools.partial(over_time, per_task=True),
                ),
            ),
        ),
        derived={"reading": lambda rows: with_reading(rows)["reading"]},
    ),
)
