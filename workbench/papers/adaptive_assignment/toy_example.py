"""The toy example of Section 5.2: three perfect workers, the others nearly useless.

The three are judged a little worse than they are; the algorithm is run with that judgement, with
ε as it is and with ε′.

Source: Ho, Jabbari, Vaughan (2013), Section 5.2.
"""

from __future__ import annotations

import numpy as np

from crowd_models import AssignmentProblem, requirement
from workbench.assignment.correction import corrected_epsilon
from workbench.assignment.primal import primal_approximation
from workbench.assignment.weights import offline_weights
from workbench.solving import Termination, solve
from workbench.studies.measures import DeclaredAnalysis, Drawn, Grouped, Part
from workbench.studies.study import Parameter, Params, Record, Size, Study, TrialEnded
from workbench.studies.trials import Streams

EPSILON = 0.224
TASKS = 4
PERFECT = 3


def trial(params: Params, streams: Streams) -> Record:
    """Labels bought for one task by the algorithm that believes q̂, and by the optimum."""
    rng = np.random.default_rng(streams.method())
    others = params["workers"] - PERFECT
    true = np.tile(np.r_[np.ones(PERFECT), np.full(others, params["poor"])], (TASKS, 1))
    judged = true.copy()
    judged[:, :PERFECT] = params["judged"]
    radius = (1 - np.sqrt(params["judged"])) / 2  # |p̂ − p|, since p̂ = (1 + √q̂)/2
    used = EPSILON
    if params["corrected"]:
        used = corrected_epsilon(EPSILON, radius=radius, mean_quality_least=1.0).epsilon_corrected
    believed = AssignmentProblem(judged, TASKS, requirement(used))
    if solve(believed, "typed").termination is Termination.INFEASIBLE:
        raise TrialEnded("infeasible", "all workers together are not believed good enough")
    weights, perturbed, _ = offline_weights(believed, seed=rng)
    chosen = primal_approximation(perturbed, weights, believed.capacity, seed=rng)
    best = solve(AssignmentProblem(true, TASKS, requirement(EPSILON)), "typed")
    # ȳ* takes the three only, but for the share of a label that rounding C = 2.992 leaves.
    assert best.assignment is not None
    return {
        "requirement": float(requirement(EPSILON)),
        "optimum": float(np.ceil(best.assignment.sum(axis=1) - 1e-9).max()),
        "optimum_others": float(best.assignment[:, PERFECT:].sum()),
        "labels": float(chosen.sum() / TASKS),
        "labels_others": float(chosen[:, PERFECT:].sum() / TASKS),
    }


STUDY = Study(
    name="toy-example",
    title="Three perfect workers judged too low",
    source="Ho, Jabbari, Vaughan (2013), Section 5.2",
    parameters={
        "workers": Parameter(int, 6000, "m, the three and the others", least=10, most=20_000),
        "poor": Parameter(float, 1e-4, "quality of the others", least=1e-6, most=0.1),
        "judged": Parameter(float, 1.0, "q̂ of the three", least=0.5, most=1),
        "corrected": Parameter(bool, False, "ε′ in place of ε", paired=True),
    },
    sizes={
        "smoke": Size(
            (
                {
                    "workers": [1000],
                    "poor": [1e-4, 1e-3],
                    "judged": [1.0, 0.99],
                    "corrected": [False, True],
                },
            ),
            3,
        ),
        "small": Size(
            ({"poor": [1e-4, 1e-3], "judged": [1.0, 0.99, 0.95], "corrected": [False, True]},), 5
        ),
        "paper": Size(
            (
                {
                    "poor": [1e-4, 1e-3, 1e-2],
                    "judged": [1.0, 0.995, 0.99, 0.95, 0.9],
                    "corrected": [False, True],
                },
            ),
            10,
        ),
    },
    trial=trial,
    analyse=DeclaredAnalysis(
        Part(
            "Labels a task",
            Grouped(
                ("corrected", "poor", "judged"),
                {"trials": ("labels", "size"), "labels": "mean", "optimum": "max"},
            ),
            (
                "The optimum takes {optimum.max:.0f} labels a task; with the three judged too low "
                "the algorithm takes up to {found.labels.max:,.0f}.",
            ),
            (
                Drawn(
                    "labels",
                    "Labels a task, the three perfect workers judged too low",
                    "judged",
                    "labels",
                    ("judged quality of the three", "labels a task"),
                    {"series": "poor", "log_y": True, "references": ((3.0, "optimum"),)},
                    where=lambda found: ~found["corrected"].astype(bool),
                ),
            ),
        ),
    ),
)
