"""The ladder: what one promise costs five ways, over crowds, errors and capacities.

Each trial draws a crowd of 300 workers and prices an error of at most ε on each of 1,000 tasks:
planned by Hoeffding's bound (the paper's program), by Bhattacharyya's, by the exact error; bought
label by label with skills known; and the information limit. See `workbench.assignment.ladder`.

Crowds: `spammer-hammer`, half of skill .5 and half of .8; `uniform`, uniform on [.5, .99], one type
of task; `uniform-types`, uniform on [.6, .95] for each of three types.

Source: Ho, Jabbari, Vaughan (2013), Section 4.2, for the first rung and the crowds of 300 workers.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from workbench.assignment.ladder import RUNGS, LadderCrowd, ladder
from workbench.crowd.population import Crowd, spammer_hammer, uniform_range
from workbench.crowd.simulate import task_types
from workbench.studies.measures import DeclaredAnalysis, Drawn, Grouped, Part
from workbench.studies.study import Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

CROWDS = ("spammer-hammer", "uniform", "uniform-types")
NAMES = tuple(name.replace(" ", "_") for name in RUNGS)
COSTS = {"exact": "exact_error", "sequential": "sequential", "limit": "information_limit"}
GROUP = ("crowd", "epsilon", "capacity")


def trial(params: Params, streams: Streams) -> Record:
    """Price the promise for one crowd."""
    crowd = _crowd(params, streams.instance)
    kinds = np.bincount(task_types(params["tasks"], len(crowd.skill)), minlength=len(crowd.skill))
    seed = int(streams.method("ladder").generate_state(1)[0])
    rungs = ladder(
        LadderCrowd(crowd.skill, kinds, crowd.capacity),
        params["epsilon"],
        trials=params["runs"],
        time_limit=params["time_limit"],
        gap=params["gap"],
        seed=seed,
    )
    record: dict[str, float | str | None] = {}
    for name, rung in zip(NAMES, rungs, strict=True):
        paid = rung.lower_bound if rung.cost is None and "limit" in name else rung.cost
        record |= {name: paid, f"{name}_bound": rung.lower_bound, f"{name}_status": rung.status}
    record |= {
        "sequential_se": rungs[3].se,
        "sequential_error": rungs[3].error,
        "sequential_error_se": rungs[3].error_se,
    }
    return record


def _crowd(params: Params, seed: np.random.SeedSequence) -> Crowd:
    size, capacity = params["workers"], params["capacity"]
    if params["crowd"] == "spammer-hammer":
        return spammer_hammer(size, hammer=0.8, seed=seed, capacity=capacity)
    low, high, types = (0.5, 0.99, 1) if params["crowd"] == "uniform" else (0.6, 0.95, 3)
    return uniform_range(size, low=low, high=high, seed=seed, capacity=capacity, task_types=types)


def _each(column: str, ok: pd.DataFrame) -> pd.Series[float]:
    """Labels a task."""
    return ok[column] / ok["tasks"]


def _ordered(ok: pd.DataFrame) -> pd.Series[float]:
    """1 where no rung that is there is above one before it, chance aside."""
    costs = ok[list(NAMES)].astype(float).copy()
    costs["sequential"] -= 2 * ok["sequential_se"].astype(float).fillna(0.0)
    dearest = costs.bfill(axis=1)
    steps = dearest.diff(axis=1).iloc[:, 1:]
    return (~(steps > 1e-9 * dearest.iloc[:, 1:]).any(axis=1)).astype(float)


STUDY = Study(
    name="ladder",
    title="One promise, five prices",
    source="Ho, Jabbari, Vaughan (2013), Section 4.2, and beyond",
    parameters={
        "tasks": Parameter(int, 1000, "n", least=1, most=5000),
        "workers": Parameter(int, 300, "m", least=2, most=2000),
        "capacity": Parameter(int, 200, "M, tasks a worker", least=1),
        "crowd": Parameter(str, "spammer-hammer", "how skills are drawn", choices=CROWDS),
        "epsilon": Parameter(float, 0.05, "ε, error of each task", least=1e-9, most=0.49),
        "runs": Parameter(int, 10, "simulations of the sequential rung", least=2),
        "gap": Parameter(float, 0.005, "relative gap at which a plan may stop", least=0, most=0.5),
        "time_limit": Parameter(float, 60.0, "seconds for each plan", least=0.1),
    },
    sizes={
        "smoke": Size(
            (
                {
                    "crowd": list(CROWDS),
                    "tasks": [30],
                    "workers": [30],
                    "capacity": [20],
                    "epsilon": [0.1],
                    "runs": [3],
                    "time_limit": [5.0],
                },
            ),
            2,
        ),
        "small": Size(
            ({"crowd": list(CROWDS), "epsilon": [0.1, 0.05, 0.01], "capacity": [200, 100]},),
            2,
        ),
        "paper": Size(
            (
                {
                    "crowd": list(CROWDS),
                    "epsilon": [0.2, 0.1, 0.05, 0.02, 0.01, 0.001],
                    "capacity": [50, 100, 200],
                },
            ),
            10,
        ),
    },
    trial=trial,
    analyse=DeclaredAnalysis(
        Part(
            "Labels a task by rung, in the mean",
            Grouped(
                GROUP,
                {
                    "trials": ("each_limit", "size"),
                    **{f"each_{name}": "mean" for name in ("hoeffding", "bhattacharyya", *COSTS)},
                    "sequential_error": "mean",
                    "ordered": "mean",
                },
            ),
            (
                "In {ordered.sum:,.0f} of {trials:,} trials the rungs stand in order; the offline "
                "optimum is {over_limit.mean:.1f} times the information limit in the mean, the "
                "exact-error plan {exact_over.mean:.1f} times, looking at each label "
                "{sequential_over.mean:.2f} times.",
                "The sequential cost is below the limit at its measured error (two standard errors "
                "added) in {below.sum:,.0f} trials.",
            ),
            tuple(
                Drawn(
                    f"each_{name}",
                    f"Labels a task, {said}",
                    "epsilon",
                    f"each_{name}",
                    ("ε", "labels a task"),
                    {"series": "crowd", "panel": "capacity"},
                )
                for name, said in (
                    ("hoeffding", "planned by Hoeffding's bound"),
                    ("exact", "planned by the exact error"),
                    ("sequential", "each label looked at, skills known"),
                )
            ),
        ),
        derived={
            **{
                f"each_{name}": partial(_each, COSTS.get(name, name))
                for name in ("hoeffding", "bhattacharyya", *COSTS)
            },
            "over_limit": lambda ok: ok["hoeffding"] / ok["information_limit"],
            "exact_over": lambda ok: ok["exact_error"] / ok["information_limit"],
            "sequential_over": lambda ok: ok["sequential"] / ok["information_limit"],
            "below": lambda ok: (
                ok["sequential"] + 3 * ok["sequential_se"] < ok["sequential_bound"]
            ).astype(float),
            "ordered": _ordered,
        },
    ),
)
