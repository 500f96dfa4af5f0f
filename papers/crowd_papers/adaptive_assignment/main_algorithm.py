"""Theorem 5: the Main Algorithm, where its conditions hold and where the paper ran it.

Source: Ho, Jabbari, Vaughan (2013), Section 5.3 and Section 6.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from crowd_papers.adaptive_assignment.assignment_trials import (
    PAPER_CROWDS,
    at_paper_size,
    relaxation,
    theorem_5_radius,
)
from crowd_papers.adaptive_assignment.theorems import (
    Guarantee,
    Sampling,
    mean_qualities,
    theorem_5,
)
from workbench.accuracy import lemma_1_bounds, vote_errors
from workbench.assignment import AdaptiveSettings, adaptive_assignment
from workbench.base import BoolArray, FloatArray
from workbench.crowd import hoeffding_radius, quality, task_types
from workbench.studies import (
    Analysis,
    Block,
    Chart,
    Parameter,
    Params,
    Record,
    Ruling,
    Size,
    Streams,
    Study,
    TrialEnded,
    broken_somewhere,
    claim,
    ended,
    ended_well,
    enough,
    flags,
)


def trial(params: Params, streams: Streams) -> Record:
    """Run the algorithm; hold labels and errors against the promise.

    ε′ is used where Theorem 5 defines it, else ε. `lemma_2_radius` is t for all workers and types
    at once, as Theorems 3 and 4 take it; `error` is the largest error of a task, exact, and
    `error_bound` Lemma 1's bound for the same vote, which can be told from 0 where the exact
    error cannot.
    """
    n, m, types = params["tasks"], params["workers"], params["types"]
    sample = round(params["gamma"] * m)
    crowd = PAPER_CROWDS[params["crowd"]](sample + m, seed=streams.instance, task_types=types)
    skill, capacity = crowd.skill, np.full(sample + m, params["capacity"])
    kinds = task_types(n, types)
    need = float(requirement(params["epsilon"]))
    problem = AssignmentProblem(quality(skill)[kinds][:, sample:], params["capacity"], need)
    best = relaxation(problem, "the main workers cannot cover the tasks")
    least = best.mean_quality_least
    radius = theorem_5_radius(params, sample / m)
    usable = radius < least / 4
    settings = AdaptiveSettings(
        params["epsilon"],
        m,
        sample,
        radius=radius if usable else None,
        mean_quality_least=least if usable else None,
    )
    rng = np.random.default_rng(streams.method("adaptive"))
    correct = rng.binomial(params["gold"], skill)
    answered = np.full(skill.shape, params["gold"])
    result = adaptive_assignment(correct, answered, capacity, kinds, settings, seed=rng)
    if (result.sampled.reached < 1 - 1e-9).any():
        raise TrialEnded("infeasible", "the sampled workers cannot cover the tasks")
    chosen = np.zeros((n, sample + m), dtype=bool)
    chosen[result.task, result.worker] = True
    promise = theorem_5(
        Sampling(
            params["epsilon"],
            params["delta"],
            sample / m,
            n,
            m,
            result.sampled.least_quality_used,
        ),
        gold=params["gold"],
        types=types,
        mean_quality_least=least,
        mean_quality=mean_qualities(quality(skill)[kinds], chosen.astype(np.float64)),
    )
    return {
        "labels": result.labels_task,
        "labels_gold": result.labels_gold,
        "bound": best.bound,
        "ratio_promise": promise.ratio if np.isfinite(promise.ratio or np.inf) else None,
        **_errors(skill[kinds], 2 * result.skill[kinds] - 1, chosen, promise),
        "stands": promise.holds,
        "gold_needed": int(promise.terms["s_needed"]),
        "radius": radius,
        "lemma_2_radius": float(hoeffding_radius(params["gold"], params["delta"] / skill.size)),
        "mean_quality_least": least,
        "failed": "; ".join(promise.failed),
    }


def _errors(
    skill: FloatArray, weight: FloatArray, chosen: BoolArray, promise: Guarantee
) -> dict[str, float | int | None]:
    """Exact errors of the tasks beside the promise, where there is one.

    Kept: Lemma 1's bound is below the promise. Broken: the exact error is above it.
    """
    error, unsure = vote_errors(skill, weight, chosen)
    bounds = lemma_1_bounds(skill, weight, chosen)
    promised = None if promise.error is None else np.asarray(promise.error)
    return {
        "error": float(error.max()),
        "error_mean": float(error.mean()),
        "error_promise": None if promised is None else float(promised.max()),
        "kept": None if promised is None else int((bounds <= promised).sum()),
        "broken": None if promised is None else int((error - unsure > promised).sum()),
    }


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Labels over the bound, errors, and the gold tasks that Theorem 5 asks for."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    rows = rows.assign(ratio=rows["labels"] / rows["bound"])
    groups = rows.groupby(["crowd", "types", "gold", "epsilon"])
    table = groups.agg(
        trials=("ratio", "size"),
        ratio=("ratio", "mean"),
        largest=("ratio", "max"),
        promise=("ratio_promise", "min"),
        error=("error_mean", "mean"),
        stands=("stands", "sum"),
        gold_needed=("gold_needed", "max"),
    ).reset_index()
    needed = rows["gold_needed"]
    finding = (
        f"Theorem 5's conditions hold in {rows['stands'].sum():,} of {len(rows):,} trials; gold "
        f"tasks needed range from {needed.min():,} to {needed.max():,} a type."
    )
    chart = Chart(
        "gold",
        f"Gold tasks that Theorem 5 asks for, beside those used; {len(rows):,} trials.",
        table,
        x="gold",
        y="gold_needed",
        x_label="gold tasks per type",
        y_label="needed",
        series="crowd",
        kind="points",
        log_x=True,
        log_y=True,
        diagonal="enough",
    )
    tables = {"Labels over the bound, and errors": table}
    return Analysis((ended(trials), finding), tables, (chart,))


FIGURE_1: Block = {
    "tasks": [1000],
    "workers": [300],
    "capacity": [200],
    "gamma": [0.3],
    "gold": [20],
    "crowd": ["uniform", "spammer-hammer"],
    "epsilon": [0.3, 0.2],
    "delta": [0.05],
}
FIGURE_2: Block = {
    **FIGURE_1,
    "crowd": ["specialists"],
    "types": [1, 2, 3],
    "gold": [10],
    "epsilon": [0.3],
}
STRICT: Block = {
    "tasks": [24],
    "workers": [1000],
    "capacity": [24],
    "gamma": [1.0],
    "types": [3],
    "crowd": ["able"],
    "gold": [8000],
    "epsilon": [1e-100, 1e-120],
    "delta": [0.45],
}
"""Where the conditions hold: thousands of gold tasks and an ε beyond any use."""

STUDY = Study(
    name="main-algorithm",
    title="The Main Algorithm beside Theorem 5",
    source="Ho, Jabbari, Vaughan (2013), Theorem 5",
    parameters={
        "tasks": Parameter(int, 24, "n", least=1, most=2000),
        "workers": Parameter(int, 300, "m", least=1, most=5000),
        "capacity": Parameter(int, 200, "M, tasks per worker", least=1),
        "gamma": Parameter(float, 0.3, "γ, sampled workers for each of the m", least=0.01, most=2),
        "types": Parameter(int, 1, "T, task types", least=1, most=20),
        "gold": Parameter(int, 20, "s, gold tasks per worker and type", least=1),
        "crowd": Parameter(str, "uniform", "how skills are drawn", choices=tuple(PAPER_CROWDS)),
        "epsilon": Parameter(float, 0.2, "ε, error of each task", least=1e-300, most=0.9),
        "delta": Parameter(float, 0.05, "δ, failure probability", least=1e-6, most=0.49),
    },
    sizes={
        "smoke": Size((STRICT, FIGURE_1, FIGURE_2), 1),
        "small": Size((STRICT, FIGURE_1, FIGURE_2), 12),
        "paper": Size((STRICT, FIGURE_1, FIGURE_2), 50),
    },
    trial=trial,
    analyse=analyse,
)

# What the paper claims.


@claim(
    id="adaptive-theorem-5",
    source="Theorem 5",
    statement="With s ≥ 8 ln(4T(1+γ)m/δ)/q̄*²_min gold tasks per type, two bounds hold with "
    "probability 1 − δ: the number of labels on real tasks is within a factor of 1 + "
    "min(m,n)/(q̂_min n C′) + 35 ln(4/δ)/(q̂_min √(γC′)) of the integer optimum, and the answer "
    "to task i is wrong with probability at most ε^((1−l1)(1−l2)(1−l3_i)).",
)
def labels_and_errors_within_promise(trials: pd.DataFrame) -> Ruling:
    """Where the conditions hold, promises broken; and how often they hold in the paper."""
    own = at_paper_size(trials)
    failing = int((~flags(own["stands"])).sum())
    standing = enough(trials[flags(trials["stands"])], 8, "trials in which all conditions hold")
    ratio, promise = standing["labels"] / standing["bound"], standing["ratio_promise"].astype(float)
    dearer = ratio > promise * (1 + 1e-6)
    unshown = standing["kept"] < standing["tasks"]
    broken = dearer | unshown | (standing["broken"] > 0)
    figures = (
        f"At the paper's settings {failing} of {len(own)} trials fail the conditions: s = "
        f"{own['gold'].min()} to {own['gold'].max()} gold tasks per type, but "
        f"{own['gold_needed'].min():,} to {own['gold_needed'].max():,} are needed. Where they hold "
        f"(s = {standing['gold'].min():,}, ε ≤ {standing['epsilon'].max():.0e}) {dearer.sum()} of "
        f"{len(standing)} trials exceed the ratio, against the relaxation (largest measured "
        f"{ratio.max():.2f}, least promised {promise.min():.2f}), and in {unshown.sum()} a task's "
        "error is not shown to be within the promise."
    )
    if broken_somewhere(standing, broken, ["crowd", "epsilon", "gamma", "gold"]):
        return Ruling.refuted(figures)
    return Ruling.void(figures) if failing == len(own) else Ruling.holds(figures)
