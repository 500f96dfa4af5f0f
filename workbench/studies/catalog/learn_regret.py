"""Figures 2 and 4: how the regret of LS_OL grows, and what the ability of the crowd changes.

Five labelers with skills uniform on [a, 1] for a = 0.6, 0.7, 0.8 (the paper's simplification), 2000
tasks, a price of 0.02 a label, 100 runs; and the crowd of Table 1.

The paper prints D2 = log t/(a_min − ½)² and presets a_min. G2 is read in three ways: by each
crowd's own a_min = π(all); by the preset a itself, below which no labeler is; and 5 throughout.

Source: Liu, Liu (2015), Section 6.1, Table 1, Figures 2 and 4.
"""

from __future__ import annotations

import pandas as pd

from workbench.studies.catalog._learning import (
    SHAPES,
    best_shape,
    growth,
    long,
    over_time,
    run_once,
    run_parameters,
    wide,
)
from workbench.studies.measures import ended, plus_minus
from workbench.studies.study import Analysis, Block, Chart, Params, Record, Size, Study
from workbench.studies.summary import means
from workbench.studies.trials import Streams

PRESET = {"from-0.6": 0.6, "from-0.7": 0.7, "from-0.8": 0.8}
"""The preset a_min of Figure 4."""
EXPLORED_FROM = 100
"""Tasks from which on the growth of a curve is looked at."""


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


def trial(params: Params, streams: Streams) -> Record:
    """Run LS_OL once."""
    return run_once(params, streams, ("regret", "exploring", "cost_regret"))


def analyse(table: pd.DataFrame) -> Analysis:
    """Regret and its parts at the end, the shape of its growth, and the curves."""
    keys = ["crowd", "reading"]
    table = table.assign(
        reading=[reading(*one) for one in zip(table["crowd"], table["repeats"], strict=True)]
    )
    rows = long(table, keys)
    if rows.empty:
        return Analysis(findings=(ended(table),))
    last = rows["tasks"].max()
    total = over_time(table, keys)
    average = over_time(table, keys, per_task=True)
    ends = total[total["tasks"] == last].drop(columns="tasks")
    parts = over_time(table, keys, "exploring")
    parts = parts[parts["tasks"] == last][[*keys, "mean"]].rename(columns={"mean": "exploring"})
    ends = ends.rename(columns={"mean": "regret"}).merge(parts, on=keys)
    for name in ("explored", "best_accuracy", "full_accuracy", "found_best"):
        one = means(table, keys, name).rename(columns={"mean": name})
        ends = ends.merge(one[[*keys, name]], on=keys)
    ends = ends.assign(shape="")
    sentences = []
    for at, row in enumerate(ends.to_dict("records")):
        own = rows[(rows["crowd"] == row["crowd"]) & (rows["reading"] == row["reading"])]
        ends.loc[at, "shape"] = _shape(own)
        sentences.append(
            f"{row['crowd']}, {row['reading']}: R({last}) = "
            f"{plus_minus(row['regret'], row['se'], 1)}, of which exploring {row['exploring']:.1f} "
            f"in {row['explored']:.0f} steps; R/T = {row['regret'] / last:.4f}; grows most like "
            f"{ends.loc[at, 'shape']}."
        )
    count = int(total["n"].max())
    said = f"Means over {count} runs; bars are 95 % intervals of the mean."
    return Analysis(
        findings=(ended(table), *sentences),
        tables={"Regret at the end": ends, "Regret over time": total},
        charts=(
            Chart("regret", f"Accumulated regret R(t). {said}", total, "tasks", "mean",
                  "tasks", "regret R(t) (tasks labelled wrong)", series="crowd",
                  panel="reading", low="low", high="high"),
            Chart("average-regret", f"Average regret R(t)/t. {said}", average, "tasks", "mean",
                  "tasks", "average regret R(t)/t", series="crowd", panel="reading",
                  low="low", high="high"),
        ),
    )  # fmt: skip


def _shape(rows: pd.DataFrame) -> str:
    curves = wide(rows, EXPLORED_FROM)
    if len(curves) < 2 or curves.shape[1] < 4:
        return ""
    name, ahead = best_shape(growth(curves))
    return f"{SHAPES[name]} (ahead by {ahead:.1f} in log-likelihood)"


def _blocks(crowds: list[str], horizon: int) -> tuple[Block, ...]:
    preset: list[Block] = [
        {"crowd": [one], "repeats": [preset_repeats(one)], "horizon": [horizon]} for one in crowds
    ]
    both: Block = {"crowd": [*crowds, "table-1"], "repeats": [None, 5.0], "horizon": [horizon]}
    return (both, *preset)


STUDY = Study(
    name="learn-regret",
    title="Regret of online labeler selection over time",
    source="Liu, Liu (2015), Section 6.1, Table 1, Figures 2 and 4",
    parameters=run_parameters(),
    sizes={
        "smoke": Size(_blocks(["from-0.6", "from-0.8"], 600), 3),
        "small": Size(_blocks(list(PRESET), 2000), 30),
        "paper": Size(_blocks(list(PRESET), 2000), 100),
    },
    trial=trial,
    analyse=analyse,
)
