"""Every way to label, hire, learn and collect, on every recorded crowd at hand: one table.

What a trial is, `leaderboard_trials` says. All methods of a crowd and repetition are scored on the
same tasks with gold. A method's error on a crowd is the mean over the numbers of labels per task
that the crowd has.

- *less*: error less that of the kind's `BASELINE` at the same level, in pairs; the mean gives each
  crowd one vote. `se` is over repetitions (draws of tasks, controls and labels), on these crowds;
  the interval is over crowds, for a crowd like them.
- *even*: error less that of a majority for as many labels per task, interpolated between levels: it
  holds methods of different kinds side by side. An exam's labels are counted in it, spread over the
  crowd's tasks: what it costs is `exam`.
- A method has a place where it ran on as many crowds as any of its kind; equals share it.

Where a method refuses a crowd, or is over its limit of time or memory, the table says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from workbench.crowd.datasets import class_datasets
from workbench.ranking.methods import KINDS, LEVELS, crowds, methods, plain, trial
from workbench.ranking.recorded_crowds import STAND_IN
from workbench.studies.analysis import ended, ended_well
from workbench.studies.study import Analysis, Chart, Parameter, Size, Study
from workbench.studies.summary import estimate

BASELINE = {
    "aggregator": "majority",
    "rule": "top-skill",
    "learner": "ls-ol",
    "policy": "fixed",
}
"""What each kind is held against."""
METHOD = ["kind", "method"]
CELL = [*METHOD, "crowd"]
MEANS = ["labels", "exam", "error", "balanced", "less", "even"]
NAMES = r"'[^']*'|\d+"
"""Names and numbers in a sentence."""
SAME = 1e-12
"""Means closer than this are equal."""
PLACES = {name: at for at, name in enumerate((STAND_IN, *class_datasets()))}
"""Order of the panels."""


def analyse(trials: pd.DataFrame) -> Analysis:
    """Standings, errors by crowd, refusals, and curves."""
    rows = ended_well(trials)
    points = curves(rows)
    ranks = standings(points)
    tables = {
        "Standings": ranks,
        "Error on each crowd, mean over levels": errors(points),
        "Not run, and why": refusals(trials),
    }
    return Analysis(
        (ended(trials), *findings(ranks, with_names(rows))),
        {caption: table for caption, table in tables.items() if len(table)},
        (curve_chart(points, ranks),),
    )


def curves(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a trial and level.

    Returns
    -------
    DataFrame
        `kind, method, crowd, repetition, level, labels, exam, error, balanced, less, even`:
        `balanced` is the mean of the classes' errors, `exam` the labels per task of the exam.
    """
    rows = with_names(rows)
    rows = rows.assign(exam=rows["exam_each"])
    parts = []
    for level in LEVELS:
        columns = {f"{field}_{level}": field for field in ("labels", "error", "balanced")}
        if set(columns) <= set(rows):
            part = rows[[*CELL, "repetition", "exam", *columns]].rename(columns=columns)
            parts.append(part.dropna().assign(level=level))
    points = pd.concat(parts, ignore_index=True)
    pair = ["kind", "crowd", "repetition", "level"]
    base = points[points["method"] == points["kind"].map(BASELINE)]
    base = base[[*pair, "error"]].rename(columns={"error": "base"})
    points = points.merge(base, on=pair, how="left")
    points["less"] = points["error"] - points.pop("base")
    points["even"] = np.nan
    for _, own in points.groupby(["crowd", "repetition"]):
        majority = own[(own["kind"] == "aggregator") & (own["method"] == BASELINE["aggregator"])]
        if len(majority):
            paid = own["labels"] + own["exam"]
            at_par = np.interp(paid, majority["labels"], majority["error"])
            points.loc[own.index, "even"] = own["error"] - at_par
    return points


def with_names(rows: pd.DataFrame) -> pd.DataFrame:
    """Trials with `kind, method, crowd` as they are shown, of as many tasks as any were run on."""
    whole = rows["tasks"].isna()
    rows = rows[whole if whole.any() else rows["tasks"] == rows["tasks"].max()]
    split = rows["method"].map(plain).str.partition("/")
    return rows.assign(kind=split[0], method=split[2], crowd=rows["crowd"].map(plain))


def cells(points: pd.DataFrame) -> pd.DataFrame:
    """A row a method and crowd: means over levels and repetitions, and the `se` of `less`."""
    draws = points.groupby([*CELL, "repetition"], sort=False)[MEANS].mean()
    table = draws.groupby(CELL, sort=False).mean()
    table["se"] = draws["less"].groupby(CELL, sort=False).sem()
    return table.reset_index()


def standings(points: pd.DataFrame) -> pd.DataFrame:
    """A row a method, by kind and place.

    Returns
    -------
    DataFrame
        `kind, place, method, less, se, low, high, rank, even, even_low, even_high, error, balanced,
        labels, exam, crowds, apart`: intervals of 95 % over crowds; `rank` is the mean over crowds,
        equals sharing it; `apart` whether the interval of the difference to the kind's first is
        without 0.
    """
    cell = cells(points).dropna(subset=["less"])
    by_draw = points.groupby([*CELL, "repetition"])["less"].mean().dropna()
    by_seed = by_draw.groupby([*METHOD, "repetition"]).mean()
    rows = [
        row
        for kind, own in cell.groupby("kind", sort=False)
        for row in _standings_of_kind(str(kind), own, by_seed)
    ]
    order = {kind: at for at, kind in enumerate(KINDS)}
    rows.sort(key=lambda row: (order[row["kind"]], row["place"] == "–", row["less"]))
    return pd.DataFrame(rows)


def _standings_of_kind(
    kind: str, own: pd.DataFrame, by_seed: pd.Series[float]
) -> Iterator[dict[str, Any]]:
    """Rows of `standings` of one kind's cells; those that ran on fewer crowds have no place."""
    counts = own.groupby("method")["crowd"].size()
    full = own[own["method"].map(counts) == counts.max()]
    ranks = full["error"].round(12).groupby(full["crowd"]).rank().groupby(full["method"]).mean()
    wide = own.pivot_table(values="less", index="crowd", columns="method")
    mean = wide.mean()
    with_place = mean[ranks.index]
    first = with_place.idxmin()
    for method, rows in own.groupby("method", sort=False):
        less, even = estimate(rows["less"]), estimate(rows["even"].dropna())
        ahead = estimate((wide[method] - wide[first]).dropna())
        better = (with_place < mean[method] - SAME).sum()
        equal = (abs(with_place - mean[method]) <= SAME).sum() > 1
        yield {
            "kind": kind,
            "place": f"{better + 1}{'=' if equal else ''}" if method in ranks.index else "–",
            "method": method,
            "less": less.mean,
            "se": estimate(by_seed[kind, method]).se,
            "low": less.low,
            "high": less.high,
            "rank": ranks.get(method, np.nan),
            "even": even.mean,
            "even_low": even.low,
            "even_high": even.high,
            **rows[["error", "balanced", "labels", "exam"]].mean(),
            "crowds": less.n,
            "apart": bool(ahead.low > 0 or ahead.high < 0),
        }


def refusals(trials: pd.DataFrame) -> pd.DataFrame:
    """Why methods have no number on crowds: `kind, methods, crowds, reason`.

    Reasons that differ in names and numbers alone are one, that of the first crowd.
    """
    bad = with_names(trials)
    bad = bad[bad["status"].astype(str) != "ok"]
    reason = bad["message"].where(bad["message"].astype(bool), bad["status"].astype(str))
    alike = reason.str.replace(NAMES, "", regex=True)
    bad = bad.assign(reason=reason.groupby([bad["kind"], alike]).transform("first"))
    for name, by in (("crowds", [*METHOD, "reason"]), ("methods", ["kind", "crowds", "reason"])):
        groups = bad.groupby(by, sort=False)[name[:-1]]
        bad = groups.agg(lambda names: ", ".join(dict.fromkeys(names))).rename(name).reset_index()
    return bad[["kind", "methods", "crowds", "reason"]]


def errors(points: pd.DataFrame) -> pd.DataFrame:
    """Mean error over levels, a row a method and a column a crowd."""
    wide = cells(points).pivot_table(values="error", index=METHOD, columns="crowd", sort=False)
    return wide.rename_axis(columns=None).reset_index()


def in_colour(ranks: pd.DataFrame) -> list[str]:
    """The baseline and the first of each kind, "rule top-skill"."""
    names = []
    for kind, own in ranks.groupby("kind", sort=False):
        baseline, first = BASELINE[str(kind)], own["method"].iloc[0]
        names += [f"{kind} {name}" for name in dict.fromkeys((baseline, first))]
    return names


def curve_chart(points: pd.DataFrame, ranks: pd.DataFrame) -> Chart:
    """Error against labels per task, a panel a crowd; in colour the baseline and first of kinds."""
    bold = in_colour(ranks)
    data = points.assign(series=points["kind"] + " " + points["method"])
    keys = ["crowd", "series", "level"]
    data = data.groupby(keys, sort=False)[["labels", "error"]].mean().reset_index()
    layer = [bold.index(name) if name in bold else -1 for name in data["series"]]
    data = data.assign(panel=data["crowd"].map(PLACES), layer=layer)
    data = data.sort_values(["panel", "layer"], kind="stable").drop(columns=["panel", "layer"])
    draws = points["repetition"].nunique()
    return Chart(
        "curves",
        f"Error on held-out gold against labels per task, means over {draws} draws of tasks, "
        "controls and labels. In colour the baseline and the first of each kind, grey all others. "
        "An exam's labels are not in the picture.",
        data,
        "labels",
        "error",
        "labels per task",
        "error",
        series="series",
        panel="crowd",
        log_x=True,
        log_y=True,
        bold=tuple(bold),
    )


def findings(ranks: pd.DataFrame, rows: pd.DataFrame) -> Iterator[str]:
    """Who is first of each kind, who differs from it by chance alone, and what was not run."""
    for kind, own in ranks.groupby("kind", sort=False):
        with_place = own[own["place"] != "–"]
        first, rest = with_place.iloc[0], with_place.iloc[1:]
        near = rest.loc[~rest["apart"], "method"].tolist()
        several = first["crowds"] > 1 and not pd.isna(first["low"])
        over = f" (over crowds {first['low']:+.4f} to {first['high']:+.4f})" if several else ""
        spread = "" if pd.isna(first["se"]) else f" ± {first['se']:.4f}"
        yield (
            f"{kind}, beside {BASELINE[str(kind)]}, crowds: {first['crowds']}: {first['method']} "
            f"is first, error {first['less']:+.4f}{spread}{over}; by crowds not different "
            f"beyond chance: {', '.join(near) or 'none'}."
        )
    missing = [name for name in class_datasets() if name not in set(rows["crowd"])]
    if missing:
        yield f"Crowds without a trial, not asked for or not at hand: {', '.join(missing)}."
    exam = rows.drop_duplicates(["crowd", "repetition"]).groupby("crowd", sort=False)["exam"].mean()
    yield (
        "Labels of the exam, for those who use it (rules, weighted votes), once: "
        + ", ".join(f"{name} {labels:.0f}" for name, labels in exam.items())
        + "."
    )
    yield "A method or a crowd of one's own is one file: workbench leaderboard --plugin FILE."


_SMOKE = [
    "aggregator/majority",
    "aggregator/weighted-linear",
    "aggregator/weighted-log-odds",
    "rule/top-skill",
    "rule/selected",
    "learner/ls-ol",
    "learner/oracle",
    "policy/fixed",
    "policy/uncertain",
]

STUDY = Study(
    name="leaderboard",
    title="Every method on every recorded crowd",
    source="beyond the papers",
    parameters={
        "crowd": Parameter(str, STAND_IN, "whose labels: a data set; the stand-in is named so"),
        "tasks": Parameter(
            int,
            60,
            "most tasks to label, drawn from gold held out; none for all but controls",
            least=2,
            optional=True,
        ),
        "method": Parameter(
            str,
            "aggregator/majority",
            "who labels, chooses, learns or collects: KIND/NAME",
            paired=True,
        ),
    },
    sizes={
        "smoke": Size(({"tasks": [30], "method": _SMOKE},), 1),
        "small": Size(({"crowd": crowds(), "method": methods()},), 3),
        "paper": Size(({"crowd": crowds(), "method": methods(), "tasks": [None]},), 5),
    },
    trial=trial,
    analyse=analyse,
    version=2,
    volatile=("method_seconds",),
)
