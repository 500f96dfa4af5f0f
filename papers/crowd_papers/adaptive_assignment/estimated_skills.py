"""Theorems 3 and 4: the approximated program, with skills that are off by at most t.

Source: Ho, Jabbari, Vaughan (2013), Section 5.2.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from crowd_papers.adaptive_assignment.assignment_trials import at_paper_size, relaxation
from crowd_papers.adaptive_assignment.theorems import mean_qualities, theorem_3, theorem_4
from workbench.accuracy import vote_errors
from workbench.assignment import corrected_epsilon
from workbench.base import FloatArray
from workbench.crowd import quality
from workbench.solving import Termination, solve
from workbench.studies import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Ruling,
    Size,
    Streams,
    Study,
    claim,
    ended,
    ended_well,
    enough,
    flags,
)

OFF = ("low", "high", "random")
"""Estimates all t nearer ½, all t further from it, or anywhere within t."""


def trial(params: Params, streams: Streams) -> Record:
    """Draw skills and estimates; solve the relaxation, the approximated one, and its IP."""
    rng = np.random.default_rng(streams.instance)
    n, m, epsilon = params["tasks"], params["workers"], params["epsilon"]
    skill = rng.uniform(0.7, 0.98, (n, m))
    need = float(requirement(epsilon))
    truth = AssignmentProblem(quality(skill), params["capacity"], need)
    relaxed = relaxation(truth, "the workers cannot cover the tasks", formulation="relaxation")
    least = relaxed.mean_quality_least
    radius = params["share"] * least / 4
    correction = corrected_epsilon(epsilon, radius=radius, mean_quality_least=least)
    estimate = _off(skill, radius, params["off"], rng)
    believed = AssignmentProblem(
        quality(estimate), params["capacity"], requirement(correction.epsilon_corrected)
    )
    approximated = solve(believed, "relaxation")
    promise = theorem_3(radius=radius, mean_quality_least=least)
    record: dict[str, object] = {
        "stands": promise.holds,
        "radius": radius,
        "relaxed": relaxed.solution.objective,
        # What the theorem says is an optimum no larger; no optimum at all is larger than any.
        "approximated": approximated.objective,
        "feasible": approximated.termination is Termination.OPTIMAL,
    }
    record |= dict.fromkeys(("beyond", "error", "error_promise", "error_share"))
    record["error_stands"] = False
    if approximated.termination is Termination.OPTIMAL:
        record |= _errors(params, skill, estimate, believed, radius, least)
    return record  # type: ignore[return-value]


def _off(skill: FloatArray, radius: float, off: str, rng: np.random.Generator) -> FloatArray:
    if off == "random":
        moved = skill + rng.uniform(-radius, radius, skill.shape)
    else:
        moved = skill + (-radius if off == "low" else radius)
    return np.clip(moved, 0.0, 1.0)


def _errors(
    params: Params,
    skill: FloatArray,
    estimate: FloatArray,
    believed: AssignmentProblem,
    radius: float,
    least: float,
) -> dict[str, object]:
    """Theorem 4: the exact error of a whole solution's votes, beside the promise."""
    whole = solve(believed, "ip")
    if whole.assignment is None:
        return {}
    chosen = whole.assignment > 0.5
    promise = theorem_4(
        epsilon=params["epsilon"],
        radius=radius,
        mean_quality_least=least,
        mean_quality=mean_qualities(quality(skill), chosen.astype(np.float64)),
    )
    error, unsure = vote_errors(skill, 2 * estimate - 1, chosen)
    assert promise.error is not None
    beyond = error - unsure > np.asarray(promise.error)
    return {
        "error_stands": promise.holds,
        "beyond": int(beyond.sum()),
        "error": float(error.max()),
        "error_promise": float(np.max(promise.error)),
        "error_share": float((error / np.asarray(promise.error)).max()),
    }


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """The approximated program's optimum over the true one."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    rows = rows.assign(ratio=rows["approximated"] / rows["relaxed"])
    groups = rows.groupby(["off", "share", "stands"])
    table = groups.agg(
        trials=("ratio", "size"), largest=("ratio", "max"), error_share=("error_share", "max")
    ).reset_index()
    standing = rows["ratio"][rows["stands"].astype(bool)]
    finding = (
        f"Where t < q̄*_min/4 the approximated optimum is at most {standing.max():.3f} of the true "
        "one."
    )
    chart = Chart(
        "ratio",
        f"Largest optimum of the approximated program over the true one; {len(rows):,} trials.",
        table,
        x="share",
        y="largest",
        x_label="4t / q̄*_min",
        y_label="approximated / true optimum",
        series="off",
        references=((1.0, "promise"),),
    )
    tables = {"Approximated optimum over the true one": table}
    return Analysis((ended(trials), finding), tables, (chart,))


STUDY = Study(
    name="estimated-skills",
    title="The approximated program, skills off by at most t",
    source="Ho, Jabbari, Vaughan (2013), Theorems 3 and 4",
    parameters={
        "tasks": Parameter(int, 8, "n", least=1, most=100),
        "workers": Parameter(int, 18, "m", least=1, most=100),
        "capacity": Parameter(int, 7, "M, tasks per worker", least=1),
        "epsilon": Parameter(float, 0.1, "ε, error of each task", least=1e-6, most=0.9),
        "share": Parameter(float, 0.5, "4t / q̄*_min, wanted below 1", least=0, most=2),
        "off": Parameter(str, "random", "how estimates are off", choices=OFF),
    },
    sizes={
        "smoke": Size(({"share": [0.1, 0.5], "off": list(OFF), "epsilon": [0.1]},), 2),
        "small": Size(({"share": [0.1, 0.5, 0.9], "off": list(OFF), "epsilon": [0.3, 0.1]},), 10),
        "paper": Size(
            ({"share": [0.05, 0.2, 0.5, 0.9, 1.2], "off": list(OFF), "epsilon": [0.3, 0.1, 0.05]},),
            20,
        ),
    },
    trial=trial,
    analyse=analyse,
)

# What the paper claims.

STUDIES = ("estimated-skills", "main-algorithm")


@claim(
    id="adaptive-theorem-3",
    source="Theorem 3",
    statement="If |p̂ − p| ≤ t < q̄*_min/4, the optimum of the program with q̂ and ε′ = ε^(1 − "
    "4t/q̄*_min) is at most that of the relaxation.",
    studies=STUDIES,
)
def optimum_no_larger(trials: pd.DataFrame, main_algorithm: pd.DataFrame) -> Ruling:
    """The approximated optimum over the true one, where t is small enough."""
    standing = enough(trials[flags(trials["stands"])], 20, "trials with t < q̄*_min/4")
    ratio = standing["approximated"].astype(float) / standing["relaxed"]
    larger = int((~flags(standing["feasible"]) | (ratio > 1 + 1e-6)).sum())
    figures = (
        f"With t < q̄*_min/4 the approximated optimum exceeds that of the relaxation in {larger} "
        f"of {len(ratio)} "
        f"trials; it is {ratio.mean():.2f} of the true one on average and {ratio.max():.3f} at "
        "most."
    )
    return by_paper_radius(larger, figures, main_algorithm)


@claim(
    id="adaptive-theorem-4",
    source="Theorem 4",
    statement="Under the condition of Theorem 3, if an assignment is feasible for q̂ and ε′, its "
    "vote with weights 2p̂−1 is wrong on task i with probability at most ε^((1 − 4t/q̄*_min)(1 − "
    "4t/q̂_i)).",
    studies=STUDIES,
)
def error_within_promise(trials: pd.DataFrame, main_algorithm: pd.DataFrame) -> Ruling:
    """Exact errors of integer optima of the approximated program, beside the promise."""
    standing = enough(trials[flags(trials["error_stands"])], 20, "trials with t < q̂_i/4")
    beyond = int((standing["beyond"].astype(float) > 0).sum())
    figures = (
        f"Integer optima of the approximated program: in {beyond} of {len(standing)} trials a "
        f"task's exact error is above its promise; at most it is "
        f"{standing['error_share'].max():.2f} of it."
    )
    return by_paper_radius(beyond, figures, main_algorithm)


def by_paper_radius(broken: int, figures: str, main_algorithm: pd.DataFrame) -> Ruling:
    """Rule by broken promises, or, where none is, by whether t is small enough in the paper."""
    trials = at_paper_size(main_algorithm)
    allowed, radius, gold = (
        trials["mean_quality_least"] / 4,
        trials["lemma_2_radius"],
        trials["gold"],
    )
    if broken:
        return Ruling.refuted(figures)
    fails = radius >= allowed
    figures += (
        f" At the paper's settings (s = {gold.min()} to {gold.max()} gold tasks, δ = "
        f"{trials['delta'].max():g}) Lemma 2 gives t = {radius.min():.2f} or more, not below "
        f"q̄*_min/4, at most {allowed.max():.3f}, in {fails.sum()} of {len(trials)} trials."
    )
    return Ruling.void(figures) if fails.all() else Ruling.holds(figures)
