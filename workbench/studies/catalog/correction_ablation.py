"""The ε′ correction: without it, with the paper's t, and with a t of one's own.

Section 5.2 lowers the requirement from 2 ln(1/ε) to 2 ln(1/ε′), ε′ = ε^(1 − 4t/q̄*_min), so that
underrated workers cannot drive the number of labels up; Theorem 5 takes t = √(ln(4T(1+γ)m/δ)/(2s)).
Its experiments do not mention the correction. With their 20 gold tasks t is about 0.5, and no ε′
below 1 exists.

What we do: the same crowd with each choice. q̄*_min is told in hindsight, from the relaxation's
optimum with true skills, the best a requester could guess. Where t is not below q̄*_min/4 there is
no correction and so no assignment: the trial ends ok, `void` says why, and labels and error are
left empty, for running uncorrected under that name would be another method's result. `covered` is
measured against the ε asked for, `covered_corrected` against ε′, with true qualities.

Source: Ho, Jabbari, Vaughan (2013), Section 5.2, Theorems 3 to 5.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from crowd_models import requirement
from workbench.assignment.correction import corrected_epsilon
from workbench.assignment.theorems import mean_qualities
from workbench.crowd.arrivals import random_permutation
from workbench.crowd.population import spammer_hammer, uniform_range
from workbench.studies.catalog._adaptive import COVERED, Instance, relaxation
from workbench.studies.measures import ended, listed, measured, plus_minus
from workbench.studies.study import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Scalar,
    Size,
    Study,
)
from workbench.studies.summary import means
from workbench.studies.trials import Streams

CORRECTIONS = ("none", "paper", "user")
NAMES = {"none": "no correction", "paper": "the paper's t", "user": "a t of one's own"}
CROWDS: dict[str, str] = {
    "two-types": "half 0.5, half 0.7; one task type",
    "spread": "skills spread over [0.5, 1]; three task types",
}


def trial(params: Params, streams: Streams) -> Record:
    """Run the Main Algorithm with one choice of t."""
    instance = _instance(params, streams)
    need = float(requirement(params["epsilon"]))
    relaxed = relaxation(
        instance.offline(need), "the crowd cannot cover every task at this epsilon"
    )
    least = float(mean_qualities(instance.quality, relaxed.assignment).min())
    radius = _radius(params, instance)
    known: dict[str, Scalar] = {
        "radius_used": radius, "mean_quality_least": least, "epsilon_corrected": None,
        "share": 0.0 if radius is None else 4 * radius / least, "void": "",
    }  # fmt: skip
    used = params["epsilon"]
    if radius is not None:
        correction = corrected_epsilon(used, radius=radius, mean_quality_least=least)
        if correction.failed is not None:
            return {**known, "void": correction.failed, **dict.fromkeys(_MEASURED)}
        used = correction.epsilon_corrected
        known["epsilon_corrected"] = used
    # One algorithm with another t: its draws are shared as well.
    own = streams.instance
    result = instance.run_adaptive(
        epsilon=params["epsilon"], gold=params["gold"], seed=own, radius=radius,
        mean_quality_least=None if radius is None else least,
    )  # fmt: skip
    gathered = instance.gathered(result.task, result.worker)
    return {
        **known,
        "labels_task": result.labels_task,
        "labels_gold": result.labels_gold,
        "labels_per_task": result.labels_task / instance.tasks,
        "error": instance.adaptive_error(result, own),
        "covered": float(np.mean(gathered >= need * COVERED)),
        "covered_corrected": float(np.mean(gathered >= float(requirement(used)) * COVERED)),
    }


_MEASURED = (
    "labels_task", "labels_gold", "labels_per_task", "error", "covered", "covered_corrected",
)  # fmt: skip


def _instance(params: Params, streams: Streams) -> Instance:
    seed = streams.instance
    sampled = max(1, round(params["gamma"] * params["workers"]))
    size = params["workers"] + sampled
    if params["crowd"] == "two-types":
        crowd = spammer_hammer(size, seed=seed, capacity=params["capacity"])
    else:
        crowd = uniform_range(
            size, seed=seed, capacity=params["capacity"], task_types=3, low=0.5, high=1.0
        )
    return Instance(crowd.subset(random_permutation(size, seed)), sampled, params["tasks"], seed)


def _radius(params: Params, instance: Instance) -> float | None:
    """Find t: none, Theorem 5's, or the one given."""
    if params["correction"] == "none":
        return None
    if params["correction"] == "user":
        return float(params["radius"])
    pairs = 4 * len(instance.crowd.task_types) * len(instance.crowd)
    return math.sqrt(math.log(pairs / params["delta"]) / (2 * params["gold"]))


def analyse(table: pd.DataFrame) -> Analysis:
    """Labels, error and cover with each choice of t."""
    ok = table[table["status"].astype(str) == "ok"]
    if ok.empty:
        return Analysis(findings=(ended(table),))
    ok = ok.assign(t=ok["radius"].where(ok["correction"] == "user", np.nan))
    found = _points(ok)
    return Analysis(
        findings=(ended(table), *_void_sentences(ok), *_user_sentences(found)),
        tables={
            "Labels on real tasks, error and cover; void: no ε′ below 1 exists": found,
        },
        charts=tuple(_charts(found)),
    )


def _points(ok: pd.DataFrame) -> pd.DataFrame:
    by = ["crowd", "correction", "gold", "t"]
    rows = ok.assign(
        correction=pd.Categorical(ok["correction"], CORRECTIONS, ordered=True)
    ).sort_values(by, kind="stable")
    rows["correction"] = rows["correction"].astype(str)
    rows["t"] = rows["t"].fillna(-1.0)  # a group of its own
    found = rows.groupby(by, as_index=False, sort=False).agg(
        trials=("share", "size"), void=("void", lambda one: int(one.fillna("").ne("").sum())),
        radius_used=("radius_used", "mean"), share=("share", "mean"),
    )  # fmt: skip
    for field in ("labels_per_task", "error", "covered", "covered_corrected"):
        values = measured(rows, field)
        one = means(values, by, field).rename(
            columns={"mean": field, "se": f"{field}_se", "low": f"{field}_low",
                     "high": f"{field}_high"}
        )  # fmt: skip
        keep = [*by, field, f"{field}_se", f"{field}_low", f"{field}_high"]
        found = found.merge(one[keep], on=by, how="left")
    return found.drop(columns="t")


def _charts(found: pd.DataFrame) -> list[Chart]:
    drawn = found.dropna(subset="error").assign(series=lambda one: one["correction"].map(NAMES))
    return [
        Chart(
            f"correction-{crowd}",
            f"Crowd: {CROWDS[str(crowd)]}. Share of wrong labels against labels on real tasks "
            "(gold not counted), by the choice of t in ε′ = ε^(1 − 4t/q̄*_min). Marks of one kind "
            "differ in gold tasks (no correction, the paper's t) or in t (one's own, with few gold "
            "tasks). Where no ε′ exists there is no mark. Means over up to "
            f"{rows['trials'].max()} trials; bars are 95 % intervals of the mean.",
            rows, "labels_per_task", "error", "labels on real tasks, per task",
            "wrong labels (share of the tasks)", series="series", low="error_low",
            high="error_high", x_low="labels_per_task_low", x_high="labels_per_task_high",
            kind="points",
        )
        for crowd, rows in drawn.groupby("crowd", sort=False)
    ]  # fmt: skip


def _void_sentences(ok: pd.DataFrame) -> list[str]:
    paper = ok[ok["correction"] == "paper"]
    sentences = []
    for crowd, rows in paper.groupby("crowd", sort=True):
        void = rows["void"].fillna("").ne("")
        golds = sorted(rows.loc[void, "gold"].unique())
        text = f"The paper's t, {CROWDS[str(crowd)]}: void in {int(void.sum()):,} of {len(rows):,}"
        text += f" trials (s = {listed(golds)})." if golds else " trials."
        few = rows[rows["gold"] == rows["gold"].min()]
        sentences.append(
            f"{text} With s = {few['gold'].iloc[0]:g}, t = {few['radius_used'].mean():.3f}, where "
            f"t must be below q̄*_min/4 = {few['mean_quality_least'].mean() / 4:.3f}."
        )
    return sentences


def _user_sentences(found: pd.DataFrame) -> list[str]:
    sentences = []
    for crowd, rows in found.groupby("crowd", sort=True):
        own = rows[(rows["correction"] == "user") & rows["error"].notna()]
        if own.empty:
            continue
        gold = own["gold"].min()
        bare = rows[(rows["correction"] == "none") & (rows["gold"] == gold)]
        last = own[own["gold"] == gold].nlargest(1, "radius_used")
        for name, one in (("no correction", bare), ("the largest t tried", last)):
            sentences += [
                f"{str(CROWDS[str(crowd)]).capitalize()}, s = {gold:g}, {name} "
                f"(4t/q̄*_min = {row['share']:.2f}): "
                f"{plus_minus(row['labels_per_task'], row['labels_per_task_se'], 2)} labels a "
                f"task, {plus_minus(row['error'], row['error_se'])} wrong, "
                f"{100 * row['covered']:.1f} % of the tasks covered at ε."
                for row in one.to_dict("records")
            ]
    return sentences


_BOTH: list[Scalar] = list(CROWDS)
_GOLD: list[Scalar] = [20, 100, 400, 1000, 4000, 10_000, 40_000, 200_000]

STUDY = Study(
    name="correction-ablation",
    title="The ε′ correction: none, the paper's t, one's own",
    source="Ho, Jabbari, Vaughan (2013), Section 5.2, Theorems 3 to 5",
    parameters={
        "crowd": Parameter(
            str, "two-types", ", or ".join(CROWDS.values()), choices=tuple(CROWDS)
        ),
        "tasks": Parameter(int, 1000, "n", least=1, most=100_000),
        "workers": Parameter(int, 300, "m, without preliminary workers", least=2, most=100_000),
        "capacity": Parameter(int, 200, "M, the most tasks a worker takes", least=1),
        "gamma": Parameter(float, 0.3, "γ, sampled workers for each worker", least=1e-6, most=10),
        "correction": Parameter(
            str, "none", "whose t makes ε′", choices=CORRECTIONS, paired=True
        ),
        "radius": Parameter(float, 0.01, "t of one's own", least=0, most=1, paired=True),
        "epsilon": Parameter(
            float, 0.15, "ε, error asked for", least=1e-300, most=0.999, paired=True
        ),
        "gold": Parameter(int, 20, "s, gold tasks a worker and type", least=1, paired=True),
        "delta": Parameter(float, 0.05, "δ of Theorem 5", least=1e-12, most=0.499, paired=True),
    },
    sizes={
        "smoke": Size(
            ({"crowd": _BOTH, "tasks": [60], "workers": [60], "capacity": [40], "epsilon": [0.3],
              "correction": ["none", "paper"], "gold": [20, 20_000]},
             {"crowd": _BOTH, "tasks": [60], "workers": [60], "capacity": [40], "epsilon": [0.3],
              "correction": ["user"], "radius": [0.01, 0.02]}),
            2,
        ),
        "small": Size(
            ({"crowd": ["two-types"], "correction": ["none", "paper"], "gold": [20, 1000, 40_000]},
             {"crowd": ["spread"], "correction": ["none", "paper"], "gold": [20, 1000, 40_000],
              "epsilon": [0.02]},
             {"crowd": ["two-types"], "correction": ["user"], "radius": [0.005, 0.01, 0.02]},
             {"crowd": ["spread"], "correction": ["user"], "radius": [0.02, 0.05, 0.1],
              "epsilon": [0.02]}),
            5,
        ),
        "paper": Size(
            ({"crowd": ["two-types"], "correction": ["none", "paper"], "gold": _GOLD},
             {"crowd": ["spread"], "correction": ["none", "paper"], "gold": _GOLD,
              "epsilon": [0.02]},
             {"crowd": ["two-types"], "correction": ["user"],
              "radius": [0.0, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03]},
             {"crowd": ["spread"], "correction": ["user"], "epsilon": [0.02],
              "radius": [0.0, 0.01, 0.02, 0.05, 0.08, 0.12, 0.16]}),
            50,
        ),
    },
    trial=trial,
    analyse=analyse,
    deadline=120.0,
)  # fmt: skip
