"""Theorem 2: task weights from a sample of workers whose skills are known.

Skills come by task type, or (structure `difficulty`) from each worker's ability and each task's
own easiness, so that no two tasks are of one type.

Source: Ho, Jabbari, Vaughan (2013), Section 5.1; with prices and without types, Section 7.
"""

from __future__ import annotations

import numpy as np

from crowd_models import AssignmentProblem, requirement
from workbench.accuracy.error_rate import lemma_1_bounds
from workbench.assignment.primal import perturb
from workbench.base.arrays import FloatArray, IntArray
from workbench.crowd.simulate import task_types
from workbench.crowd.skills import quality
from workbench.papers.adaptive_assignment.assignment_trials import (
    PAPER_CROWDS,
    relaxation,
    sampled_assignment,
)
from workbench.papers.adaptive_assignment.theorems import Sampling, theorem_2
from workbench.studies.measures import DeclaredAnalysis, Drawn, Grouped, Part
from workbench.studies.study import Block, Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

CROWDS = ("uniform", "spammer-hammer", "able", "difficulty")


def trial(params: Params, streams: Streams) -> Record:
    """Sample γm workers for the task weights, assign m others, compare with the relaxation.

    `error_bound` is Lemma 1's bound on the true skills, largest over tasks; `blind` is the cost
    when the algorithm takes no notice of the prices; `unit_cost` and `unit_blind` are costs of a
    unit of quality, since the two do not gather equally much.
    """
    n, m = params["tasks"], params["workers"]
    sample = round(params["gamma"] * m)
    skill, kinds = _crowd(params, streams.instance, sample + m)
    prices = None
    if params["dearest"] > 1:
        own = np.random.default_rng([*streams.instance.generate_state(4), 1])
        prices = own.uniform(1, params["dearest"], skill.shape)
    truth, main = quality(skill), slice(sample, None)
    problem = AssignmentProblem(
        truth[kinds][:, main],
        params["capacity"],
        float(requirement(params["epsilon"])),
        None if prices is None else prices[kinds][:, main],
    )
    best = relaxation(problem, "the main workers cannot cover the tasks")
    rng = np.random.default_rng(streams.method("primal approximation"))
    noisy = perturb(truth, seed=rng)
    sampled, chosen = sampled_assignment(noisy, kinds, problem, prices, seed=rng)
    promise = theorem_2(
        Sampling(params["epsilon"], params["delta"], sample / m, n, m, sampled.least_quality_used)
    )
    about_error = [why for why in promise.failed if why.startswith("error exponent")]
    blind = unit_blind = None
    if prices is not None:
        _, bought = sampled_assignment(noisy, kinds, problem, seed=rng)
        blind = float(problem.prices[bought].sum())
        unit_blind = blind / float(problem.quality[bought].sum()) if bought.any() else None
    cost = float(problem.prices[chosen].sum())
    return {
        "bound": best.bound,
        "cost": cost,
        "blind": blind,
        "unit_cost": float(cost / problem.quality[chosen].sum()),
        "unit_blind": unit_blind,
        "ratio_promise": promise.ratio if np.isfinite(promise.ratio or np.inf) else None,
        "error_bound": float(lemma_1_bounds(skill[kinds][:, main], None, chosen).max()),
        "error_promise": float(np.max(promise.error)) if promise.error is not None else None,
        "exponent": promise.terms["exponent"],
        "q_min": promise.terms["q_min"],
        "ratio_stands": len(promise.failed) == len(about_error),
        "error_stands": promise.holds,
        "failed": "; ".join(promise.failed),
    }


def _crowd(
    params: Params, seed: np.random.SeedSequence, workers: int
) -> tuple[FloatArray, IntArray]:
    """Skills by type and worker, and the type of each task."""
    n, types, name = params["tasks"], params["types"], params["crowd"]
    if name != "difficulty":
        if name == "spammer-hammer" and types > 1:
            name = "specialists"
        skill = PAPER_CROWDS[name](workers, seed=seed, task_types=types).skill
        return skill, task_types(n, types)
    rng = np.random.default_rng(seed)
    ability: FloatArray = rng.uniform(0.7, 1, workers)
    easiness: FloatArray = rng.uniform(0.7, 1, int(n))
    return 0.5 + 0.5 * easiness[:, None] * ability, np.arange(n)


PAPER: Block = {
    "tasks": [1000],
    "workers": [300],
    "capacity": [200],
    "gamma": [0.3],
    "crowd": ["uniform", "spammer-hammer"],
    "epsilon": [0.3, 0.2, 0.15],
    "delta": [0.05],
}
"""The paper's own settings (Section 6), at the ε that its crowds can reach."""
STRICT: Block = {
    "tasks": [24],
    "workers": [1000],
    "capacity": [24],
    "gamma": [1.0],
    "types": [3],
    "crowd": ["able"],
    "epsilon": [1e-60, 1e-120],
    "delta": [0.45],
}
"""ε so small that the error exponent is above 0."""
LOOSE: Block = {
    "tasks": [60],
    "workers": [40],
    "capacity": [30],
    "gamma": [0.5],
    "crowd": ["able"],
    "types": [3],
    "epsilon": [0.1, 0.01],
    "delta": [0.05],
}
PRICED: Block = {**LOOSE, "dearest": [3.0]}
UNTYPED: Block = {**LOOSE, "crowd": ["difficulty"], "types": [1]}

STUDY = Study(
    name="sampled-weights",
    title="Task weights from a sample, skills known",
    source="Ho, Jabbari, Vaughan (2013), Theorem 2 and Section 7",
    parameters={
        "tasks": Parameter(int, 60, "n", least=1, most=2000),
        "workers": Parameter(int, 40, "m", least=1, most=5000),
        "capacity": Parameter(int, 30, "M, tasks a worker", least=1),
        "gamma": Parameter(float, 0.5, "γ, sampled workers for each of the m", least=0.01, most=2),
        "types": Parameter(int, 1, "T, task types", least=1, most=20),
        "crowd": Parameter(str, "able", "how skills are drawn", choices=CROWDS),
        "epsilon": Parameter(float, 0.1, "ε, error of each task", least=1e-300, most=0.9),
        "delta": Parameter(float, 0.05, "δ, failure probability", least=1e-6, most=0.49),
        "dearest": Parameter(float, 1.0, "prices are drawn from 1 to this", least=1, most=100),
    },
    sizes={
        "smoke": Size((STRICT, LOOSE, PRICED, UNTYPED, PAPER), 4),
        "small": Size((STRICT, LOOSE, PRICED, UNTYPED, PAPER), 12),
        "paper": Size((STRICT, LOOSE, PRICED, UNTYPED, PAPER), 50),
    },
    trial=trial,
    analyse=DeclaredAnalysis(
        Part(
            "Cost over the relaxation's bound",
            Grouped(
                ("crowd", "dearest", "epsilon", "gamma"),
                {
                    "trials": ("ratio", "size"),
                    "ratio": "mean",
                    "largest": ("ratio", "max"),
                    "promise": ("ratio_promise", "min"),
                    "ratio_stands": "sum",
                    "error_stands": "sum",
                    "exponent": "min",
                },
            ),
            (
                "Cost over the bound is {ratio.mean:.3f} on average; the promise of the ratio stands "
                "in {ratio_stands.sum:,} and that of the error in {error_stands.sum:,} of {trials:,} "
                "trials.",
            ),
            (
                Drawn(
                    "ratio",
                    "Mean cost over the relaxation's bound",
                    "epsilon",
                    "ratio",
                    ("ε", "cost / bound"),
                    {"series": "crowd", "kind": "points", "log_x": True},
                    where=lambda found: found["dearest"] == 1,
                ),
            ),
        ),
        derived={"ratio": lambda ok: ok["cost"] / ok["bound"]},
    ),
)
