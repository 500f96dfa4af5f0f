"""Figure 2: tasks of several types, each worker skilled at one.

The paper makes k = 1, 2, 3 types of task and as many of worker: right with probability 0.7 on tasks
of her own type, with 0.5 on others. All else is as in Figure 1 (1,000 tasks, 300 workers, capacity
200, γ = 0.3), with 10 gold tasks of each type.

Where the paper is silent: tasks and workers come in equal shares of the types, workers in random
places; the rest is as in `adaptive_figure_1`. Message passing is not told the types: that is the
paper's point.

Source: Ho, Jabbari, Vaughan (2013), Section 6.2, Figure 2.
"""

from __future__ import annotations

import pandas as pd

from workbench.crowd.population import specialists
from workbench.studies.catalog import adaptive_figure_1
from workbench.studies.catalog._adaptive import METHODS, Instance, figure_record
from workbench.studies.catalog._curves import (
    at_equal_labels,
    curves,
    differences,
    error_chart,
    nearest,
)
from workbench.studies.measures import ended, plus_minus
from workbench.studies.study import Analysis, Parameter, Params, Record, Scalar, Size, Study
from workbench.studies.trials import Streams

TITLES: dict[Scalar, str] = {1: "k = 1 type", 2: "k = 2 types", 3: "k = 3 types"}


def trial(params: Params, streams: Streams) -> Record:
    """Measure one method on one crowd of specialists."""
    sampled = round(params["gamma"] * params["workers"])
    crowd = specialists(
        params["workers"] + sampled,
        seed=streams.instance,
        capacity=params["capacity"],
        task_types=params["types"],
    )
    return figure_record(
        Instance(crowd, sampled, params["tasks"], streams.instance), params, streams
    )


def analyse(table: pd.DataFrame) -> Analysis:
    """Error against labels for each k, and what growing k costs each method."""
    found = curves(table, "types")
    equal = differences(at_equal_labels(table, "types"), "types")
    near = nearest(equal, 20)
    sentences = [
        f"k = {row['types']:g}, {row['labels']:g} labels a task: adaptive "
        f"{plus_minus(row['adaptive'], row['adaptive_se'])} wrong, message passing "
        f"{plus_minus(row['message passing'], row['message passing_se'])}, majority "
        f"{plus_minus(row['majority'], row['majority_se'])} ({row['trials']} pairs)."
        for row in near.to_dict("records")
    ]
    if len(near) > 1:
        first, last = near.iloc[0], near.iloc[-1]
        lost = {name: last[name] - first[name] for name in METHODS}
        sentences.append(
            f"From k = {first['types']:g} to {last['types']:g} at {first['labels']:g} labels a "
            f"task, error grows by {lost['adaptive']:.3f} (adaptive), "
            f"{lost['message passing']:.3f} (message passing) and {lost['majority']:.3f} "
            "(majority)."
        )
    return Analysis(
        findings=(ended(table), *sentences),
        tables={
            "Error of each method at equal labels a task (gold included); "
            "difference is adaptive − message passing, paired": equal,
            "All points": found,
        },
        charts=(error_chart(found, "types", TITLES, "error"),),
    )


_METHOD = {name: adaptive_figure_1.STUDY.parameters[name] for name in (
    "tasks", "workers", "capacity", "gamma", "method", "epsilon", "per_task", "iterations",
)}  # fmt: skip

STUDY = Study(
    name="adaptive-figure-2",
    title="Heterogeneous tasks: k task types, k worker types",
    source="Ho, Jabbari, Vaughan (2013), Section 6.2, Figure 2",
    parameters={
        "types": Parameter(int, 3, "k, types of task and of worker", least=1, most=50),
        **_METHOD,
        "gold": Parameter(
            int, 10, "s, gold tasks a worker and type (adaptive)", least=1, paired=True
        ),
    },
    sizes={
        "smoke": Size(
            ({"types": [1, 3], "tasks": [60], "workers": [60], "capacity": [40],
              "method": ["adaptive"], "epsilon": [0.5, 0.2, 0.05], "gold": [5]},
             {"types": [1, 3], "tasks": [60], "workers": [60], "capacity": [40],
              "method": ["message passing", "majority"], "per_task": [30, 40], "gold": [5]}),
            3,
        ),
        "small": Size(
            ({"types": [1, 2, 3], "method": ["adaptive"], "epsilon": [0.5, 0.1, 0.02, 0.003]},
             {"types": [1, 2, 3], "method": ["message passing", "majority"],
              "per_task": [5, 10, 15, 20, 25]}),
            5,
        ),
        "paper": Size(
            ({"types": [1, 2, 3], "method": ["adaptive"],
              "epsilon": [0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.0007, 0.0002]},
             {"types": [1, 2, 3], "method": ["message passing", "majority"],
              "per_task": [3, 5, 8, 10, 12, 15, 17, 20, 22, 25, 30, 35, 45, 55]}),
            20,
        ),
    },
    trial=trial,
    analyse=analyse,
    deadline=120.0,
)  # fmt: skip
