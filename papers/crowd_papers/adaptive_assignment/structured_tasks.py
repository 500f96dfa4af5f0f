"""Section 7's second extension: another structure of the tasks changes the exploration only.

Every task has an easiness of its own, d_i, known beforehand, and every worker an ability a_j:
2p_ij − 1 = d_i a_j. There are as many types as tasks. Exploration by type needs gold tasks of
every type; exploration that knows the structure needs some gold tasks in all, since each tells of
a_j. The rest of the algorithm is the same.

Source: Ho, Jabbari, Vaughan (2013), Section 7.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from crowd_papers.adaptive_assignment.assignment_trials import relaxation, sampled_assignment
from workbench.accuracy import vote_errors
from workbench.assignment import perturb
from workbench.base import FloatArray
from workbench.crowd import quality
from workbench.studies import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    ended,
    ended_well,
)

EXPLORATIONS = ("known", "ability", "type")
"""Skills known; from the ability, fitted to gold answers; from gold answers type by type."""


def trial(params: Params, streams: Streams) -> Record:
    """Explore, then sample, price and assign as ever; labels, cover and error by true skills."""
    crowd = np.random.default_rng(streams.instance)
    n, m = params["tasks"], params["workers"]
    sample = round(params["gamma"] * m)
    easiness: FloatArray = crowd.uniform(0.6, 1, int(n))
    ability: FloatArray = crowd.uniform(0.3, 1, int(sample + m))
    skill = 0.5 + 0.5 * easiness[:, None] * ability
    need = float(requirement(params["epsilon"]))
    problem = AssignmentProblem(quality(skill[:, sample:]), params["capacity"], need)
    best = relaxation(problem, "the main workers cannot cover the tasks")
    rng = np.random.default_rng(streams.method("algorithm"))
    estimate, gold = _explore(params, easiness, skill, rng)
    estimates = perturb(quality(estimate), seed=rng)
    _, chosen = sampled_assignment(
        estimates, np.arange(n), problem, seed=rng, on_infeasible="relax"
    )
    error, _ = vote_errors(skill[:, sample:], 2 * estimate[:, sample:] - 1, chosen)
    return {
        "gold": gold,
        "labels": int(chosen.sum()),
        "bound": best.bound,
        "error": float(error.mean()),
        "off": float(np.abs(estimate - skill).mean()),
    }


def _explore(
    params: Params, easiness: FloatArray, skill: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, int]:
    """Estimated skills, and gold tasks per worker; every type has gold tasks of its own."""
    s, n = params["budget"], len(easiness)
    if params["exploration"] == "known":
        return skill, 0
    if params["exploration"] == "type":
        return rng.binomial(s, skill) / s, s * n
    tasks = rng.integers(n, size=s)
    signs = 2.0 * (rng.random((s, skill.shape[1])) < skill[tasks]) - 1
    # Least squares for E[sign] = d a; an ability lies in [0, 1].
    ability = np.clip(easiness[tasks] @ signs / np.sum(easiness[tasks] ** 2), 0.0, 1.0)
    return 0.5 + 0.5 * easiness[:, None] * ability, s


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Labels, errors and gold tasks by exploration."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    rows = rows.assign(ratio=rows["labels"] / rows["bound"])
    groups = rows.groupby(["exploration", "budget", "epsilon"])
    table = groups.agg(
        trials=("ratio", "size"),
        gold=("gold", "mean"),
        ratio=("ratio", "mean"),
        error=("error", "mean"),
        off=("off", "mean"),
    ).reset_index()
    finding = (
        f"Skills are off by {table['off'].max():.3f} at most on average; {len(rows):,} trials."
    )
    chart = Chart(
        "error",
        f"Mean error by exploration; {len(rows):,} trials.",
        table,
        x="gold",
        y="error",
        x_label="gold tasks per worker",
        y_label="mean error of a task",
        series="exploration",
        kind="points",
    )
    tables = {"Labels, errors and gold tasks by exploration": table}
    return Analysis((ended(trials), finding), tables, (chart,))


STUDY = Study(
    name="structured-tasks",
    title="Tasks of their own easiness, workers of one ability",
    source="Ho, Jabbari, Vaughan (2013), Section 7",
    parameters={
        "tasks": Parameter(int, 40, "n, each of its own type", least=2, most=500),
        "workers": Parameter(int, 60, "m", least=2, most=1000),
        "capacity": Parameter(int, 30, "M, tasks per worker", least=1),
        "gamma": Parameter(float, 0.5, "γ, sampled workers for each of the m", least=0.05, most=2),
        "budget": Parameter(
            int, 40, "gold tasks: in all by ability, of each type by type", least=1, paired=True
        ),
        "epsilon": Parameter(float, 0.05, "ε, error of each task", least=1e-6, most=0.9),
        "exploration": Parameter(
            str, "ability", "how skills are estimated", choices=EXPLORATIONS, paired=True
        ),
    },
    sizes={
        "smoke": Size(({"exploration": list(EXPLORATIONS)},), 2),
        "small": Size(({"exploration": list(EXPLORATIONS), "epsilon": [0.1, 0.05]},), 20),
        "paper": Size(({"exploration": list(EXPLORATIONS), "epsilon": [0.1, 0.05]},), 100),
    },
    trial=trial,
    analyse=analyse,
)
