"""Figures 2 and 4: how the regret of LS_OL grows, and what the ability of the crowd changes.

Five workers with skills uniform on [a, 1] for a = 0.6, 0.7, 0.8 (the paper's simplification), 2000
tasks, a price of 0.02 per label, 100 runs; and the crowd of Table 1.

The paper prints D2 = log t/(a_min − ½)² and presets a_min. G2 is read in three ways: by each
crowd's own a_min = π(all); by the preset a itself, below which no worker is; and 5 throughout.

Source: Liu, Liu (2015), Section 6.1, Table 1, Figures 2 and 4.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from crowd_papers.online_learning.learning_runs import (
    COST,
    FIXED,
    LOGARITHMIC,
    PAPER_T,
    RUNS,
    SHAPES,
    Curve,
    best_shape,
    checkpoint_near,
    checkpoints,
    growth,
    is_less,
    long,
    mean_of,
    over_time,
    ruling_of_all,
    run_once,
    run_parameters,
    simulated,
    wide,
    with_means,
)
from workbench.accuracy import majority_accuracy
from workbench.studies import (
    BEYOND,
    Analysis,
    Block,
    Chart,
    NotMeasured,
    Params,
    Record,
    Ruling,
    Size,
    Streams,
    Study,
    Value,
    claim,
    ended,
    ended_well,
    mean_chart,
    mean_se,
    measured,
    percent,
    plus_minus,
    records,
    with_interval,
)

PRESET = {"from-0.6": 0.6, "from-0.7": 0.7, "from-0.8": 0.8}
"""The preset a_min of Figure 4."""
EXPLORED_FROM = 100
"""Tasks from which on the growth of a curve is looked at."""


def trial(params: Params, streams: Streams) -> Record:
    """One run, its cost regret recorded as well."""
    return run_once(params, streams, curves=("regret", "exploring", "cost_regret"))


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


# What the trials say.

KEYS = ["crowd", "reading"]
REGRET = "regret R(t) (tasks labelled wrong)"


def analyse(trials: pd.DataFrame) -> Analysis:
    """Regret at the end and over time, by crowd and reading of G2."""
    rows = with_reading(ended_well(trials))
    if rows.empty:
        return Analysis((ended(trials),))
    table, curves = at_end(rows), over_time(rows, KEYS)
    findings = [
        f"{row.crowd}, {row.reading}: R(T) = {plus_minus(row.regret, row.se, 1)}, of which "
        f"exploring {row.exploring:.1f} in {row.explored:.0f} steps; grows most like {row.shape}."
        for row in records(table)
    ]
    averages = over_time(rows, KEYS, per_task=True)
    charts = (
        regret_chart("regret", "Accumulated regret R(t)", REGRET, curves),
        regret_chart("average-regret", "Average regret R(t)/t", "average regret R(t)/t", averages),
    )
    tables = {"Regret at the end": table, "Regret over time": curves}
    return Analysis((ended(trials), *findings), tables, charts)


def with_reading(table: pd.DataFrame) -> pd.DataFrame:
    """Add the column `reading`."""
    pairs = zip(table["crowd"], table["repeats"], strict=True)
    return table.assign(reading=[reading(crowd, repeats) for crowd, repeats in pairs])


def at_end(rows: pd.DataFrame) -> pd.DataFrame:
    """Regret at the last checkpoint, its parts, and the shape of its growth."""
    last = checkpoints(rows)[-1]
    ends = measured(rows, f"regret_{last}")
    ends = ends.rename(columns={f"regret_{last}": "regret", f"exploring_{last}": "exploring"})
    others = ("exploring", "explored", "best_accuracy", "full_accuracy", "found_best")
    table = with_means(ends, KEYS, "regret", *others).sort_values(KEYS, ignore_index=True)
    return table.assign(shape=[shape_text(own) for _, own in long(rows, KEYS).groupby(KEYS)])


def shape_text(rows: pd.DataFrame) -> str:
    """Likeliest shape of growth of some curves (`long`), nothing where there are too few."""
    curves = wide(rows, EXPLORED_FROM)
    if len(curves) < 2 or curves.shape[1] < 4:
        return ""
    name, ahead = best_shape(growth(curves))
    return f"{SHAPES[name]} (ahead by {ahead:.1f} in log-likelihood)"


def regret_chart(name: str, what: str, label: str, curves: pd.DataFrame) -> Chart:
    """Mean curves by crowd, a panel for each reading of G2."""
    style = {"unit": "runs", "series": "crowd", "panel": "reading"}
    return mean_chart(name, f"{what}.", curves, "tasks", ("tasks", label), **style)


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
    parameters=run_parameters(),
    sizes={
        "smoke": Size(_blocks(["from-0.6", "from-0.8"], 600), 1),
        "small": Size(_blocks(list(PRESET), PAPER_T), 30),
        "paper": Size(_blocks(list(PRESET), PAPER_T), 100),
    },
    trial=trial,
    analyse=analyse,
)

# What the paper claims.


def likeliest_shapes(rows: pd.DataFrame, curve: Curve = "regret") -> dict[str, tuple[str, float]]:
    """Likeliest shape of growth up to the paper's T, and its lead, by reading of G2.

    Raises
    ------
    NotMeasured
        No reading has enough runs.
    """
    shapes = {}
    for name, own in with_reading(rows).groupby("reading"):
        curves = wide(long(own, ["reading"], curve), EXPLORED_FROM)
        if len(curves) >= RUNS:
            shapes[str(name)] = best_shape(growth(curves))
    if not shapes:
        raise NotMeasured(f"no reading of G2 has {RUNS} runs")
    return shapes


def shapes_text(shapes: dict[str, tuple[str, float]]) -> str:
    """Shapes of growth for a sentence."""
    return "; ".join(
        f"{name}: {SHAPES[likeliest]} (ahead by {ahead:.1f})"
        if np.isfinite(ahead)
        else f"{name}: no growth"
        for name, (likeliest, ahead) in shapes.items()
    )


def is_logarithmic(shape: tuple[str, float]) -> bool:
    """Whether a curve grows, and most like log T or log²T."""
    likeliest, ahead = shape
    return likeliest in LOGARITHMIC and bool(np.isfinite(ahead))


@claim(
    id="learn-table-1",
    source="Table 1",
    statement="Skills 0.763, 0.781, 0.625, 0.783 and 0.727 are drawn at random from [0.6, 1].",
    studies=(),
)
def table_1() -> Ruling:
    """Whether such draws are likely, and what a choice of workers could gain there."""
    skill = np.sort(FIXED["table-1"])[::-1]
    sets = {m: majority_accuracy(skill[:m]) for m in (1, 3, 5)}
    none_above = ((skill.max() - PRESET["from-0.6"]) / (1 - PRESET["from-0.6"])) ** len(skill)
    figures = (
        "All five are in the range; the probability that none of five such numbers is above "
        f"{skill.max():g} is {percent(none_above)}. The majority of the best 1, 3 and 5 of them "
        "is right "
        f"with {sets[1]:.4f}, {sets[3]:.4f} and {sets[5]:.4f}: the full crowd is S* itself, and "
        "nothing is to be gained by choosing. The accuracy of all, a_min as Section 2.3 defines "
        f"it, is {sets[5]:.4f}, and the preset 0.6 is another number."
    )
    fine = bool((skill >= PRESET["from-0.6"]).all())
    return Ruling.holds_as_corrected(figures) if fine else Ruling.refuted(figures)


@claim(
    id="learn-figure-2",
    source="Figure 2",
    statement="With five workers whose skills lie in [0.6, 1], the regret grows logarithmically "
    "up to 2000 tasks.",
)
def figure_2(trials: pd.DataFrame) -> Ruling:
    """Shape of R(t) up to 2000 tasks by reading of G2; the fall of R(t)/t in the second half."""
    rows = simulated(trials)
    shapes, middle = likeliest_shapes(rows), checkpoint_near(rows, PAPER_T / 2)
    fall = rows[f"regret_{middle}"] / middle - rows[f"regret_{PAPER_T}"] / PAPER_T
    mean, se = mean_se(fall.astype(float))
    figures = (
        f"R(t) from {EXPLORED_FROM} to {PAPER_T} tasks grows most like: {shapes_text(shapes)}. "
        f"R(t)/t falls from t = {middle} to {PAPER_T} by {plus_minus(mean, se)}. By the preset "
        f"a_min = 0.6 G2 is 100, and all steps up to {PAPER_T} explore."
    )
    values = [
        Value(f"R({tasks:,}), {name}", "rises like log t", with_interval(own[f"regret_{tasks}"], 1))
        for name, own in with_reading(rows).groupby("reading")
        for tasks in (middle, PAPER_T)
    ]
    drawn = regret_chart(
        "regret",
        "Accumulated regret R(t)",
        REGRET,
        over_time(with_reading(ended_well(trials)), KEYS),
    )
    if mean <= BEYOND * se:
        return Ruling.refuted(figures).beside(*values, chart=drawn)
    ruling = ruling_of_all(figures, [is_logarithmic(shape) for shape in shapes.values()])
    return ruling.beside(*values, chart=drawn)


@claim(
    id="learn-figure-2-cost",
    source="Section 6.1",
    statement="The cost regret grows in a very similar way to the regret.",
)
def figure_2_cost(trials: pd.DataFrame) -> Ruling:
    """Shape of R_C(t) beside that of R(t): alike, another, or none that can be seen."""
    rows = simulated(trials)
    cost_shapes, shapes = likeliest_shapes(rows, "cost_regret"), likeliest_shapes(rows)
    growing = [name for name, (_, ahead) in cost_shapes.items() if np.isfinite(ahead)]
    alike = [is_logarithmic(cost_shapes[name]) == is_logarithmic(shapes[name]) for name in growing]
    last = rows[f"cost_regret_{PAPER_T}"].astype(float)
    figures = (
        f"R_C(t) = Σ C(S_t) − t C(S*) grows most like: {shapes_text(cost_shapes)}, where R(t) "
        f"grows most like: {shapes_text(shapes)}; R_C({PAPER_T}) = "
        f"{plus_minus(*mean_se(last), 2)} at {COST} per label, below 0 in "
        f"{percent((last < 0).mean())} of the runs, where smaller sets than S* are "
        "chosen. A curve that does not rise throughout has no shape of growth to compare."
    )
    if growing and not any(alike):
        return Ruling.refuted(figures)
    if len(growing) < len(cost_shapes):
        return Ruling.inconclusive(figures)
    return Ruling.holds(figures) if all(alike) else Ruling.holds_as_corrected(figures)


@claim(
    id="learn-figure-4",
    source="Figure 4",
    statement="A higher a_min leads to much better performance.",
)
def figure_4(trials: pd.DataFrame) -> Ruling:
    """Regret at 2000 tasks for a_min = 0.6, 0.7, 0.8, by reading of G2."""
    rows = with_reading(pd.concat([simulated(trials, crowd) for crowd in PRESET]))
    texts, steadily, in_the_end = [], [], []
    for name, own in rows.groupby("reading"):
        if own["crowd"].nunique() < len(PRESET):
            continue
        regrets = [mean_of(own[own["crowd"] == crowd], f"regret_{PAPER_T}") for crowd in PRESET]
        steadily.append(all(is_less(b, a) for a, b in itertools.pairwise(regrets)))
        in_the_end.append(is_less(regrets[-1], regrets[0]))
        texts.append(f"{name}: {', '.join(plus_minus(*regret, 1) for regret in regrets)}")
    if not texts:
        raise NotMeasured("no reading of G2 has all three values of a_min")
    figures = (
        f"R({PAPER_T}) for a_min = 0.6, 0.7, 0.8, {'; '.join(texts)}. With G2 alike a better "
        "crowd loses more by exploring, U(S*) − ½ a step; only a smaller G2 outweighs that."
    )
    values = [
        Value(
            f"R({PAPER_T:,}), {crowd}, {name}",
            "falls with a_min",
            with_interval(own[f"regret_{PAPER_T}"], 1),
        )
        for (name, crowd), own in rows.groupby(["reading", "crowd"])
    ]
    if all(steadily):
        ruling = Ruling.holds(figures)
    else:
        ruling = (Ruling.holds_as_corrected if any(in_the_end) else Ruling.refuted)(figures)
    return ruling.beside(*values)
