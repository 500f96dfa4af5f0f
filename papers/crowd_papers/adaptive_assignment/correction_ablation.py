"""The ε′ correction: without it, with the paper's t, and with a t of one's own.

Section 5.2 lowers the requirement from 2 ln(1/ε) to 2 ln(1/ε′), ε′ = ε^(1 − 4t/q̄*_min), so that
underrated workers cannot drive the number of labels up; Theorem 5 takes t = √(ln(4T(1+γ)m/δ)/(2s)).
Its experiments do not mention the correction. With their 20 gold tasks t is about 0.5, and no ε′
below 1 exists.

What we do: the same crowd with each choice. q̄*_min is told in hindsight, from the relaxation's
optimum with true skills, the best a requester could guess. Where t is not below q̄*_min/4 there is
no correction and so no assignment: the trial ends ok, `void` says why, and labels and error are
left empty, for running uncorrected under that name would be another method's result. `covered` is
measured against the ε asked for, `covered_corrected` against ε′, with true qualities. `bound` is
what is proven of the offline optimum with true skills at the ε asked for: a ratio to it counts the
labels on real tasks, and says little without the cover beside it.

Source: Ho, Jabbari, Vaughan (2013), Section 5.2, Theorems 3 to 5.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from crowd_models import requirement
from crowd_papers.adaptive_assignment.assignment_trials import ARRIVING, drawn, relaxation
from workbench.assignment import COVERED, corrected_epsilon
from workbench.studies import (
    BEYOND,
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Ruling,
    Scalar,
    Size,
    Streams,
    Study,
    Value,
    bars,
    capital,
    claim,
    ended,
    ended_well,
    enough,
    in_order,
    instance_columns,
    mean_chart,
    mean_columns,
    means,
    nonempty,
    percent,
    plus_minus,
    records,
    signed,
    with_interval,
)

CORRECTIONS = ("none", "paper", "user")
NAMES = {"none": "no correction", "paper": "the paper's t", "user": "a t of one's own"}
CROWDS: dict[str, str] = {
    "two-types": "half 0.5, half 0.7; one task type",
    "spread": "skills spread over [0.5, 1]; three task types",
}

DRAWN: dict[str, dict[str, Scalar]] = {
    "two-types": {"crowd": "spammer-hammer", "types": 1},
    "spread": {"crowd": "spread", "types": 3},
}


def trial(params: Params, streams: Streams) -> Record:
    """Run the Main Algorithm with one choice of t."""
    instance = drawn({**params, **DRAWN[params["crowd"]], "arrival": "random"}, streams)
    need = float(requirement(params["epsilon"]))
    relaxed = relaxation(instance.offline(need))
    least = relaxed.mean_quality_least
    pairs = 4 * len(instance.crowd.task_types) * len(instance.crowd)
    papers = math.sqrt(math.log(pairs / params["delta"]) / (2 * params["gold"]))
    radius = {"none": None, "paper": papers, "user": params["radius"]}[params["correction"]]
    record: dict[str, Scalar] = {
        "radius_used": radius,
        "mean_quality_least": least,
        "bound": relaxed.bound,
        "epsilon_corrected": None,
        "share": 0.0 if radius is None else 4 * radius / least,
        "void": "",
    }
    used = params["epsilon"]
    if radius is not None:
        correction = corrected_epsilon(used, radius=radius, mean_quality_least=least)
        if correction.failed is not None:
            return {**record, "void": correction.failed, **dict.fromkeys(_MEASURED)}
        used = correction.epsilon_corrected
        record["epsilon_corrected"] = used
    # One algorithm with another t: its draws are shared as well.
    own = streams.instance
    result = instance.run_adaptive(params, own, None if radius is None else (radius, least))
    gathered = instance.gathered(result.task, result.worker)
    return {
        **record,
        "labels_task": result.labels_task,
        "labels_gold": result.labels_gold,
        "labels_per_task": result.labels_task / instance.tasks,
        "error": instance.vote_error(result.task, result.worker, result.skill, own),
        "covered": float(np.mean(gathered >= need * COVERED)),
        "covered_corrected": float(np.mean(gathered >= float(requirement(used)) * COVERED)),
    }


_MEASURED = (
    "labels_task",
    "labels_gold",
    "labels_per_task",
    "error",
    "covered",
    "covered_corrected",
)


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Labels, error and cover by the choice of t, and where the paper's t is void."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    rows = rows.assign(
        t=rows["radius"].where(rows["correction"] == "user"),
        is_void=rows["void"].fillna("").ne(""),
    )
    rows = in_order(rows, {"crowd": None, "correction": CORRECTIONS, "gold": None, "t": None})
    table = by_correction(rows)
    charts = nonempty(*(error_chart(table, crowd) for crowd in sorted(CROWDS)))
    caption = "Labels on real tasks, error and cover; void: no ε′ below 1 exists"
    return Analysis((ended(trials), *findings(table)), {caption: table}, charts)


def by_correction(rows: pd.DataFrame) -> pd.DataFrame:
    """Means by crowd, choice of t, gold tasks, and t of one's own."""
    by = ["crowd", "correction", "gold", "t"]
    table = rows.groupby(by, sort=False, dropna=False).agg(
        trials=("share", "size"),
        void=("is_void", "sum"),
        radius_used=("radius_used", "mean"),
        share=("share", "mean"),
    )
    fields = ["labels_per_task", "error", "covered", "covered_corrected"]
    measures = mean_columns(rows, by, fields, ends=True, sort=False)
    return table.reset_index().merge(measures, on=by).drop(columns="t")


def findings(table: pd.DataFrame) -> list[str]:
    """Where the paper's t is void, and the other choices with the fewest gold tasks."""
    paper = table["correction"] == "paper"
    voids = [
        f"The paper's t, {row.crowd}, s = {row.gold:g}: void in {row.void:,} of {row.trials:,} "
        f"trials; t = {row.radius_used:.3f}, 4t/q̄*_min = {row.share:.2f}."
        for row in records(table[paper])
    ]
    few_gold = table["gold"] == table["gold"].min()
    others = [
        f"{capital(row.crowd)}, s = {row.gold:g}, {row.correction} (4t/q̄*_min = {row.share:.2f}): "
        f"{plus_minus(row.labels_per_task, row.labels_per_task_se, 2)} labels per task, "
        f"{plus_minus(row.error, row.error_se)} wrong, {percent(row.covered)} of the tasks covered "
        "at ε."
        for row in records(table[few_gold & ~paper & table["error"].notna()])
    ]
    return voids + others


def error_chart(table: pd.DataFrame, crowd: str) -> Chart:
    """Draw error against labels of one crowd, by the choice of t."""
    rows = table[(table["crowd"] == crowd) & table["error"].notna()]
    counts = f" {bars(rows['trials'])}" if len(rows) else ""
    return Chart(
        f"correction-{crowd}",
        f"Crowd: {CROWDS[crowd]}. Share of wrong labels against labels on real tasks (gold not "
        "counted), by the choice of t in ε′ = ε^(1 − 4t/q̄*_min). Marks of one kind differ in gold "
        f"tasks, or in t of one's own. Where no ε′ exists there is no mark.{counts}",
        rows.assign(series=rows["correction"].map(NAMES)),
        x="labels_per_task",
        y="error",
        x_label="labels on real tasks, per task",
        y_label="wrong labels (share of the tasks)",
        series="series",
        low="error_low",
        high="error_high",
        kind="points",
        x_low="labels_per_task_low",
        x_high="labels_per_task_high",
    )


_BOTH: list[Scalar] = list(CROWDS)
_GOLD: list[Scalar] = [20, 100, 400, 1000, 4000, 10_000, 40_000, 200_000]

STUDY = Study(
    name="correction-ablation",
    title="The ε′ correction: none, the paper's t, one's own",
    source="Ho, Jabbari, Vaughan (2013), Section 5.2, Theorems 3 to 5",
    parameters={
        "crowd": Parameter(str, "two-types", ", or ".join(CROWDS.values()), choices=tuple(CROWDS)),
        **{name: ARRIVING[name] for name in ("tasks", "workers", "capacity", "gamma")},
        "correction": Parameter(str, "none", "whose t makes ε′", choices=CORRECTIONS, paired=True),
        "radius": Parameter(float, 0.01, "t of one's own", least=0, most=1, paired=True),
        "epsilon": replace(ARRIVING["epsilon"], default=0.15),
        **{name: ARRIVING[name] for name in ("gold", "delta")},
    },
    sizes={
        "smoke": Size(
            (
                {
                    "crowd": _BOTH,
                    "tasks": [60],
                    "workers": [60],
                    "capacity": [40],
                    "epsilon": [0.3],
                    "correction": ["none", "paper"],
                    "gold": [20, 20_000],
                },
                {
                    "crowd": _BOTH,
                    "tasks": [60],
                    "workers": [60],
                    "capacity": [40],
                    "epsilon": [0.3],
                    "correction": ["user"],
                    "radius": [0.01, 0.02],
                },
            ),
            1,
        ),
        "small": Size(
            (
                {
                    "crowd": ["two-types"],
                    "correction": ["none", "paper"],
                    "gold": [20, 1000, 40_000],
                },
                {
                    "crowd": ["spread"],
                    "correction": ["none", "paper"],
                    "gold": [20, 1000, 40_000],
                    "epsilon": [0.02],
                },
                {"crowd": ["two-types"], "correction": ["user"], "radius": [0.005, 0.01, 0.02]},
                {
                    "crowd": ["spread"],
                    "correction": ["user"],
                    "radius": [0.02, 0.05, 0.1],
                    "epsilon": [0.02],
                },
            ),
            5,
        ),
        "paper": Size(
            (
                {"crowd": ["two-types"], "correction": ["none", "paper"], "gold": _GOLD},
                {
                    "crowd": ["spread"],
                    "correction": ["none", "paper"],
                    "gold": _GOLD,
                    "epsilon": [0.02],
                },
                {
                    "crowd": ["two-types"],
                    "correction": ["user"],
                    "radius": [0.0, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03],
                },
                {
                    "crowd": ["spread"],
                    "correction": ["user"],
                    "epsilon": [0.02],
                    "radius": [0.0, 0.01, 0.02, 0.05, 0.08, 0.12, 0.16],
                },
            ),
            50,
        ),
    },
    trial=trial,
    analyse=analyse,
    deadline=120.0,
)

# What the paper claims.

TITLES = {"two-types": "two types", "spread": "spread"}
PANELS = {"ratio": "labels / bound", "error": "wrong labels", "covered": "tasks covered"}
SERIES = {"none": "with ε", "paper": "with ε′, the paper's t"}


def with_and_without(trials: pd.DataFrame) -> pd.DataFrame:
    """Trials without the correction and with the paper's, void ones left out, with their ratio."""
    rows = trials[trials["correction"].isin(SERIES) & trials["error"].notna()]
    return rows.assign(ratio=rows["labels_task"].astype(float) / rows["bound"])


def corrected_less(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """A measure with ε′ less without it, same crowds: `crowd, gold, mean, sem, size`."""
    index = ["crowd", "gold", *instance_columns(rows)]
    wide = rows.pivot_table(index=index, columns="correction", values=measure)
    apart = (wide["paper"] - wide["none"]).dropna()
    return apart.groupby(level=["crowd", "gold"]).agg(["mean", "sem", "size"]).reset_index()


def ratio_values(rows: pd.DataFrame) -> list[Value]:
    """Ratio, cover and error by crowd and gold tasks, with ε and with ε′."""
    values = []
    rows = in_order(rows, {"crowd": tuple(CROWDS), "gold": None, "correction": CORRECTIONS})
    for (crowd, gold, correction), own in rows.groupby(["crowd", "gold", "correction"], sort=False):
        ours = (
            f"ratio {with_interval(own['ratio'], 2)}, {percent(own['covered'].mean(), 0)} of the "
            f"tasks covered, error {with_interval(own['error'])}"
        )
        said = "ratio at most 1, less accurate" if correction == "paper" else "–"
        what = f"{TITLES[str(crowd)]}, s = {gold:,}, {SERIES[str(correction)]}"
        values.append(Value(what, said, ours))
    return values


def ratio_chart(rows: pd.DataFrame) -> Chart:
    """Draw ratio, error and cover against gold tasks, with ε and with ε′."""
    tables = [
        means(own, ["gold", "correction"], measure).assign(panel=f"{TITLES[str(crowd)]}: {title}")
        for crowd, own in rows.groupby("crowd", sort=False)
        for measure, title in PANELS.items()
    ]
    table = pd.concat(tables, ignore_index=True)
    return mean_chart(
        "correction",
        "Labels on real tasks over the proven bound, share of wrong labels and share of tasks "
        "covered against gold tasks for each worker and type, with ε and with ε′. Where no ε′ "
        "exists there is no mark.",
        table.assign(series=table["correction"].map(SERIES)),
        "gold",
        ("gold tasks per worker and type, s", "ratio, or share"),
        series="series",
        panel="panel",
        log_x=True,
    )


@claim(
    id="adaptive-correction",
    source="Section 5.2",
    statement="With ε′ in place of ε the algorithm needs no more labels than with known skills, "
    "but its answers are less accurate. (Read as: wherever an ε′ exists, the Main Algorithm buys "
    "at most what is proven of the offline optimum, fewer labels than with ε, and errs more.)",
)
def correction_costs_accuracy(trials: pd.DataFrame) -> Ruling:
    """Ratio to the proven bound and error with ε′ less those with ε, by crowd and gold tasks."""
    rows = with_and_without(trials)
    enough(rows[rows["correction"] == "paper"], 8, "trials in which an ε′ exists")
    labels, errors = corrected_less(rows, "ratio"), corrected_less(rows, "error")
    asked = trials[trials["correction"] == "paper"]
    least = rows[rows["correction"] == "paper"].groupby("crowd")["gold"].min()
    first = ", ".join(f"s = {gold:,} ({TITLES[str(crowd)]})" for crowd, gold in least.items())
    ratio = rows[rows["correction"] == "paper"].groupby(["crowd", "gold"])["ratio"].mean()
    fewer = labels["mean"] < -BEYOND * labels["sem"]
    worse = errors["mean"] > BEYOND * errors["sem"]
    within = int((ratio <= 1).sum())
    figures = (
        f"The paper's t leaves no ε′ in {asked['error'].isna().sum()} of {len(asked)} trials; one "
        f"exists from {first} on. There, at {len(labels)} pairs of crowd and s, the mean ratio to "
        f"the proven bound with ε′ is {ratio.min():.2f} to {ratio.max():.2f}, at most 1 at "
        f"{within}; labels are fewer than with ε by over 2 standard errors at {fewer.sum()}, and "
        f"errors more at {worse.sum()}. At the largest s the two differ by "
        f"{signed(*_last(labels), 2)} in ratio and {signed(*_last(errors))} in error at most."
    )
    fine = [within == len(ratio), bool(fewer.all()), bool(worse.all())]
    if not (fewer.any() and worse.any()):
        ruling = Ruling.refuted(figures)
    else:
        ruling = Ruling.holds(figures) if all(fine) else Ruling.holds_as_corrected(figures)
    return ruling.beside(*ratio_values(rows), chart=ratio_chart(rows))


def _last(apart: pd.DataFrame) -> tuple[float, float]:
    """The larger of the differences at the largest s, and its standard error."""
    own = apart[apart["gold"] == apart["gold"].max()]
    row = own.loc[own["mean"].abs().idxmax()]
    return float(row["mean"]), float(row["sem"])
