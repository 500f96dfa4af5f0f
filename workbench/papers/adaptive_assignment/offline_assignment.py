"""Theorem 1: the Primal Approximation with the optimal dual, beside the integer optimum.

Qualities are drawn for each pair on its own: no task structure is used. With prices, the cost in
place of the number of labels (Section 7).

Source: Ho, Jabbari, Vaughan (2013), Section 4.3 and Section 7.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem
from workbench.assignment.primal import primal_approximation
from workbench.assignment.weights import offline_weights
from workbench.papers.adaptive_assignment.theorems import theorem_1
from workbench.solving import Termination, solve
from workbench.studies.measures import DeclaredAnalysis, Drawn, Grouped, Part
from workbench.studies.study import Parameter, Params, Record, Size, Study, TrialEnded
from workbench.studies.trials import Streams


def trial(params: Params, streams: Streams) -> Record:
    """Draw an instance, solve it exactly, run the algorithm with the relaxation's dual."""
    rng = np.random.default_rng(streams.instance)
    shape = n, _ = params["tasks"], params["workers"]
    quality = rng.uniform(0.05, 1, shape)
    cost = rng.uniform(1, params["dearest"], shape) if params["dearest"] > 1 else None
    need = np.full(n, params["need"] * quality.sum(axis=1).min())
    problem = AssignmentProblem(quality, round(params["capacity"] * n), need, cost)
    exact = solve(problem, "ip")
    if exact.termination is Termination.INFEASIBLE:
        raise TrialEnded("infeasible", "no whole assignment covers every task")
    if exact.termination is not Termination.OPTIMAL or exact.objective is None:
        raise TrialEnded("numerics", f"the integer program ended {exact.termination}")
    own = np.random.default_rng(streams.method("primal approximation"))
    weights, perturbed, _ = offline_weights(problem, seed=own)
    chosen = primal_approximation(perturbed, weights, problem.capacity, cost=cost, seed=own)
    short = (quality * chosen).sum(axis=1) < need
    promise = theorem_1(problem, weights, perturbed)
    return {
        "optimum": exact.objective,
        "cost": float(problem.prices[chosen].sum()),
        "promise": promise.labels,
        "dearest_label": float(problem.prices.max()),
        "tied": promise.terms["tied"],
        "short": int(short.sum()),
        "full": int(((chosen.sum(axis=0) == problem.capacity) & (problem.capacity < n)).sum()),
    }


def _prices(rows: pd.DataFrame) -> list[str]:
    return ["unit prices" if most == 1 else f"prices 1 to {most:g}" for most in rows["dearest"]]


STUDY = Study(
    name="offline-assignment",
    title="The Primal Approximation with the optimal dual",
    source="Ho, Jabbari, Vaughan (2013), Theorem 1 and Section 7",
    parameters={
        "tasks": Parameter(int, 20, "n", least=2, most=200),
        "workers": Parameter(int, 15, "m", least=2, most=200),
        "capacity": Parameter(float, 1.0, "M as a share of the tasks", least=0.1, most=1),
        "need": Parameter(
            float, 0.3, "C as a share of all quality on the poorest task", least=0.01, most=1
        ),
        "dearest": Parameter(
            float, 1.0, "prices are drawn from 1 to this; 1 for unit prices", least=1, most=100
        ),
    },
    sizes={
        "smoke": Size(
            ({"tasks": [8], "workers": [8], "capacity": [1.0, 0.3], "dearest": [1.0, 3.0]},), 20
        ),
        "small": Size(
            ({"tasks": [12], "workers": [12], "capacity": [1.0, 0.4, 0.3], "dearest": [1.0, 3.0]},),
            40,
        ),
        "paper": Size(
            (
                {
                    "tasks": [20],
                    "workers": [15],
                    "capacity": [1.0, 0.4, 0.3, 0.25],
                    "dearest": [1.0, 3.0],
                },
                {"tasks": [12], "workers": [30], "capacity": [1.0, 0.3], "dearest": [1.0]},
            ),
            50,
        ),
    },
    trial=trial,
    analyse=DeclaredAnalysis(
        Part(
            "Feasibility and cost above the integer optimum",
            Grouped(
                ("tasks", "workers", "capacity", "dearest", "untied"),
                {
                    "trials": ("short", "size"),
                    "feasible": "sum",
                    "short": "mean",
                    "excess": "mean",
                    "most_excess": ("excess", "max"),
                    "promise": "max",
                },
            ),
            (
                "The perturbation assumption holds in {untied.sum:,} of {trials:,} instances; there "
                "{there.sum:,} results are feasible, in all {feasible.sum:,}.",
            ),
            (
                Drawn(
                    "ties",
                    "Share of instances in which no capacity cuts through tasks of equal value",
                    "capacity",
                    "untied",
                    ("capacity, share of the tasks", "share of instances"),
                    {"series": "prices"},
                    of=Grouped(("capacity", "dearest"), {"untied": "mean"}, {"prices": _prices}),
                ),
            ),
        ),
        derived={
            "untied": lambda ok: ok["tied"] == 0,
            "feasible": lambda ok: ok["short"] == 0,
            "there": lambda ok: ok["feasible"] & ok["untied"],
            "excess": lambda ok: ok["cost"] - ok["optimum"],
        },
    ),
    deadline=180.0,
)
