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
from itertools import starmap

import numpy as np
import pandas as pd

from crowd_models import requirement
from workbench.assignment.correction import corrected_epsilon
from workbench.assignment.policies import COVERED
from workbench.papers.adaptive_assignment.assignment_trials import ARRIVING, drawn, relaxation
from workbench.studies.measures import DeclaredAnalysis, Drawn, Each, Grouped, Part, means_of
from workbench.studies.study import Parameter, Params, Record, Scalar, Size, Study
from workbench.studies.trials import Streams

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
    known: dict[str, Scalar] = {
        "radius_used": radius,
        "mean_quality_least": least,
        "epsilon_corrected": None,
        "share": 0.0 if radius is None else 4 * radius / least,
        "void": "",
    }
    used = params["epsilon"]
    if radius is not None:
        correction = corrected_epsilon(used, radius=radius, mean_quality_least=least)
        if correction.failed is not None:
            return {**known, "void": correction.failed, **dict.fromkeys(_MEASURED)}
        used = correction.epsilon_corrected
        known["epsilon_corrected"] = used
    # One algorithm with another t: its draws are shared as well.
    own = streams.instance
    result = instance.run_adaptive(params, own, None if radius is None else (radius, least))
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
    "labels_task",
    "labels_gold",
    "labels_per_task",
    "error",
    "covered",
    "covered_corrected",
)


def _table(rows: pd.DataFrame) -> pd.DataFrame:
    fields = ("labels_per_task", "error", "covered", "covered_corrected")
    counts = {"trials": ("share", "size"), "void": ("is_void", "sum")}
    means = {name: (name, "mean") for name in ("radius_used", "share")}
    by = ("crowd", "correction", "gold", "t")
    found = Grouped(by, {**counts, **means, **means_of(*fields, ends=True)}, orders={})(rows)
    return found.drop(columns="t")


def _drawn(crowd: str, title: str) -> Drawn:
    return Drawn(
        f"correction-{crowd}",
        f"Crowd: {title}. Share of wrong labels against labels on real tasks (gold not counted), "
        "by the choice of t in ε′ = ε^(1 − 4t/q̄*_min). Marks of one kind differ in gold tasks, or "
        "in t of one's own. Where no ε′ exists there is no mark",
        "labels_per_task",
        "error",
        ("labels on real tasks, per task", "wrong labels (share of the tasks)"),
        {
            "series": "series",
            "low": "error_low",
            "high": "error_high",
            "kind": "points",
            "x_low": "labels_per_task_low",
            "x_high": "labels_per_task_high",
        },
        where=lambda found: (found["crowd"] == crowd) & found["error"].notna(),
        of=lambda rows: _table(rows).assign(series=lambda found: found["correction"].map(NAMES)),
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
            2,
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
    analyse=DeclaredAnalysis(
        Part(
            "Labels on real tasks, error and cover; void: no ε′ below 1 exists",
            _table,
            (
                Each(
                    "The paper's t, {crowd}, s = {gold:g}: void in {void:,} of {trials:,} trials; "
                    "t = {radius_used:.3f}, 4t/q̄*_min = {share:.2f}.",
                    where=lambda found: found["correction"] == "paper",
                ),
                Each(
                    "{crowd:cap}, s = {gold:g}, {correction} (4t/q̄*_min = {share:.2f}): "
                    "{labels_per_task:±2} labels a task, {error:±3} wrong, {covered:1 %} of the "
                    "tasks covered at ε.",
                    where=lambda found: (
                        (found["gold"] == found["gold"].min())
                        & (found["correction"] != "paper")
                        & found["error"].notna()
                    ),
                ),
            ),
            tuple(starmap(_drawn, sorted(CROWDS.items()))),
        ),
        derived={
            "t": lambda ok: ok["radius"].where(ok["correction"] == "user"),
            "is_void": lambda ok: ok["void"].fillna("").ne(""),
        },
        orders={"crowd": None, "correction": CORRECTIONS, "gold": None, "t": None},
    ),
    deadline=120.0,
)
