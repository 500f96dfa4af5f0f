"""The ladder: what one promise costs, rung by rung, over crowds, errors and capacities.

Each trial draws a crowd of 300 workers and prices an error of at most ε on each of 1,000 tasks:
planned by Hoeffding's bound (the paper's program), by Bhattacharyya's, by the exact error; bought
label by label with skills known, for two promises; and the information limit. See
`workbench.assignment.rungs`.

Crowds: `spammer-hammer`, half of skill .5 and half of .8; `uniform`, uniform on [.5, .99], one type
of task; `uniform-types`, uniform on [.6, .95] for each of three types.

Source: Ho, Jabbari, Vaughan (2013), Section 4.2, for the first rung and the crowds of 300 workers.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.assignment import RUNGS, LadderCrowd, ladder
from workbench.crowd import Crowd, spammer_hammer, task_types, uniform_range
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

CROWDS = ("spammer-hammer", "uniform", "uniform-types")
NAMES = tuple(name.replace(",", "").replace(" ", "_") for name in RUNGS)
LOOKING = ("sequential_posterior", "sequential_error")
"""Rungs that are simulated."""
COSTS = {
    "exact": "exact_error",
    "posterior": "sequential_posterior",
    "error": "sequential_error",
    "limit": "information_limit",
}


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
        if name in LOOKING:
            record |= {f"{name}_se": rung.se, f"{name}_made": rung.error}
    return record


def _crowd(params: Params, seed: np.random.SeedSequence) -> Crowd:
    size, capacity = params["workers"], params["capacity"]
    if params["crowd"] == "spammer-hammer":
        return spammer_hammer(size, hammer=0.8, seed=seed, capacity=capacity)
    low, high, types = (0.5, 0.99, 1) if params["crowd"] == "uniform" else (0.6, 0.95, 3)
    return uniform_range(size, low=low, high=high, seed=seed, capacity=capacity, task_types=types)


# What the trials say.

LABELS = {
    "each_hoeffding": "planned by Hoeffding's bound",
    "each_exact": "planned by the exact error",
    "each_posterior": "each label looked at, closed when the posterior error is at most ε",
    "each_error": "each label looked at, wrong at most ε of the time",
}
"""What is drawn, and in words."""


def analyse(trials: pd.DataFrame) -> Analysis:
    """Labels per task by rung, their order, and how far above the information limit they are."""
    rows = ended_well(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    labels = {
        f"each_{name}": rows[COSTS.get(name, name)].astype(float) / rows["tasks"]
        for name in ("hoeffding", "bhattacharyya", *COSTS)
    }
    rows = rows.assign(**labels, ordered=in_steps(rows))
    table = rows.groupby(["crowd", "epsilon", "capacity"]).agg(
        trials=("each_limit", "size"),
        **{
            name: (name, "mean")
            for name in (*labels, *(f"{name}_made" for name in LOOKING), "ordered")
        },
    )
    charts = tuple(
        Chart(
            name,
            f"Labels per task, {words}; {len(rows):,} trials.",
            table.reset_index(),
            x="epsilon",
            y=name,
            x_label="ε",
            y_label="labels per task",
            series="crowd",
            panel="capacity",
        )
        for name, words in LABELS.items()
    )
    tables = {"Labels per task by rung, in the mean": table.reset_index()}
    return Analysis((ended(trials), *above_limit(rows)), tables, charts)


def in_steps(rows: pd.DataFrame) -> pd.Series[bool]:
    """Whether no rung that is there is above one before it, chance aside."""
    costs = rows[list(NAMES)].astype(float)
    for name in LOOKING:
        costs[name] -= 2 * rows[f"{name}_se"].astype(float).fillna(0.0)
    dearest = costs.bfill(axis=1)
    steps = dearest.diff(axis=1).iloc[:, 1:]
    return ~(steps > 1e-9 * dearest.iloc[:, 1:]).any(axis=1)


def above_limit(rows: pd.DataFrame) -> list[str]:
    """How far the rungs are above the information limit."""
    limit = rows["information_limit"]
    hoeffding, exact, posterior, error = (
        (rows[name].astype(float) / limit).mean() for name in ("hoeffding", "exact_error", *LOOKING)
    )
    below = [
        rows[name].astype(float) + 3 * rows[f"{name}_se"].astype(float) < rows[f"{name}_bound"]
        for name in LOOKING
    ]
    return [
        f"In {rows['ordered'].sum():,} of {len(rows):,} trials the rungs stand in order; the "
        f"offline optimum is {hoeffding:.1f} times the information limit in the mean, the "
        f"exact-error plan {exact:.1f} times; looking at each label {posterior:.2f} times where "
        f"the posterior is promised, {error:.2f} times where the error is.",
        "A sequential cost is below the bound on every policy of its promise (three standard "
        f"errors added) in {sum(int(each.sum()) for each in below):,} cases.",
    ]


STUDY = Study(
    name="ladder",
    version=2,
    title="One promise, six prices",
    source="Ho, Jabbari, Vaughan (2013), Section 4.2, and beyond",
    parameters={
        "tasks": Parameter(int, 1000, "n", least=1, most=5000),
        "workers": Parameter(int, 300, "m", least=2, most=2000),
        "capacity": Parameter(int, 200, "M, tasks per worker", least=1),
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
                    "time_limit": [600.0],
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
    analyse=analyse,
)
