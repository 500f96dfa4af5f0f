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
from dataclasses import replace

import numpy as np
import pandas as pd

from crowd_models import requirement
from workbench.assignment.correction import corrected_epsilon
from workbench.assignment.policies import COVERED
from workbench.assignment.theorems import mean_qualities
from workbench.crowd.arrivals import random_permutation
from workbench.crowd.population import spammer_hammer, uniform_range
from workbench.studies.catalog.assignment_trials import ARRIVING, Instance, relaxation
from workbench.studies.measures import (
    ended,
    ended_well,
    fill,
    in_order,
    means_of,
    sentences,
    summarise,
)
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
        "error": instance.vote_error(result.task, result.worker, result.skill, own),
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
    ok = ended_well(table)
    ok = ok.assign(t=ok["radius"].where(ok["correction"] == "user"))
    orders = {"crowd": None, "correction": CORRECTIONS, "gold": None, "t": None}
    found = summarise(
        in_order(ok, orders),
        list(orders),
        {
            "trials": ("share", "size"),
            "void": ("void", lambda reasons: int(reasons.fillna("").ne("").sum())),
            "radius_used": ("radius_used", "mean"),
            "share": ("share", "mean"),
            **means_of("labels_per_task", "error", "covered", "covered_corrected", ends=True),
        },
    ).drop(columns="t")
    return Analysis(
        findings=(ended(table), *_void_sentences(ok), *_user_sentences(found)),
        tables={"Labels on real tasks, error and cover; void: no ε′ below 1 exists": found},
        charts=tuple(_charts(found)),
    )


def _charts(found: pd.DataFrame) -> list[Chart]:
    drawn = found.dropna(subset="error").assign(series=lambda rows: rows["correction"].map(NAMES))
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
    said = []
    for crowd, rows in ok[ok["correction"] == "paper"].groupby("crowd", sort=True):
        void = rows["void"].fillna("").ne("")
        few = rows[rows["gold"] == rows["gold"].min()]
        numbers = {
            "crowd": CROWDS[str(crowd)], "void": void.sum(), "trials": len(rows),
            "golds": sorted(rows["gold"][void].unique()), "few": few["gold"].iloc[0],
            "t": few["radius_used"].mean(), "most": few["mean_quality_least"].mean() / 4,
        }  # fmt: skip
        said.append(
            fill(
                "The paper's t, {crowd}: void in {void:,} of {trials:,} trials (s = {golds:list}). "
                "With s = {few:g}, t = {t:.3f}, where t must be below q̄*_min/4 = {most:.3f}.",
                numbers,
            )
        )
    return said


def _user_sentences(found: pd.DataFrame) -> list[str]:
    said = []
    for crowd, rows in found.groupby("crowd", sort=True):
        own = rows[(rows["correction"] == "user") & rows["error"].notna()]
        gold = own["gold"].min()
        bare = rows[(rows["correction"] == "none") & (rows["gold"] == gold)]
        last = own[own["gold"] == gold].nlargest(1, "radius_used")
        for name, some in (("no correction", bare), ("the largest t tried", last)):
            said += sentences(
                "{crowd:cap}, s = {gold:g}, {name} (4t/q̄*_min = {share:.2f}): {labels_per_task:±2} "
                "labels a task, {error:±3} wrong, {covered:1 %} of the tasks covered at ε.",
                some.assign(crowd=CROWDS[str(crowd)]),
                name=name,
            )
    return said


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
        **{name: ARRIVING[name] for name in ("tasks", "workers", "capacity", "gamma")},
        "correction": Parameter(
            str, "none", "whose t makes ε′", choices=CORRECTIONS, paired=True
        ),
        "radius": Parameter(float, 0.01, "t of one's own", least=0, most=1, paired=True),
        "epsilon": replace(ARRIVING["epsilon"], default=0.15),
        **{name: ARRIVING[name] for name in ("gold", "delta")},
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
