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

from dataclasses import replace
from functools import partial

import pandas as pd

from workbench.crowd.population import specialists
from workbench.papers.adaptive_assignment.adaptive_curves import (
    METHODS,
    PARAMETERS,
    figure_analysis,
    figure_record,
    figure_size,
    nearest,
)
from workbench.studies.measures import Each
from workbench.studies.study import Parameter, Params, Record, Scalar, Study
from workbench.studies.trials import Streams

TITLES: dict[Scalar, str] = {1: "k = 1 type", 2: "k = 2 types", 3: "k = 3 types"}


def trial(params: Params, streams: Streams) -> Record:
    """Measure one method on one crowd of specialists."""
    return figure_record(partial(specialists, task_types=params["types"]), params, streams)


def _growth(_: pd.DataFrame, equal: pd.DataFrame) -> list[str]:
    """What growing k costs each method."""
    near = equal[nearest(equal)]
    if len(near) < 2:
        return []
    first, last = near.iloc[0], near.iloc[-1]
    lost = ", ".join(f"{last[name] - first[name]:.3f} ({name})" for name in METHODS)
    return [
        f"From k = {first['types']:g} to {last['types']:g} at {first['labels']:g} labels a task, "
        f"error grows by {lost}."
    ]


STUDY = Study(
    name="adaptive-figure-2",
    title="Heterogeneous tasks: k task types, k worker types",
    source="Ho, Jabbari, Vaughan (2013), Section 6.2, Figure 2",
    parameters={
        "types": Parameter(int, 3, "k, types of task and of worker", least=1, most=50),
        **{name: known for name, known in PARAMETERS.items() if name != "gold"},
        "gold": replace(PARAMETERS["gold"], default=10),
    },
    sizes={
        "smoke": figure_size(
            3,
            [0.5, 0.2, 0.05],
            [30, 40],
            types=[1, 3],
            tasks=[60],
            workers=[60],
            capacity=[40],
            gold=[5],
        ),
        "small": figure_size(5, [0.5, 0.1, 0.02, 0.003], [5, 10, 15, 20, 25], types=[1, 2, 3]),
        "paper": figure_size(
            20,
            [0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.0007, 0.0002],
            [3, 5, 8, 10, 12, 15, 17, 20, 22, 25, 30, 35, 45, 55],
            types=[1, 2, 3],
        ),
    },
    trial=trial,
    analyse=figure_analysis(
        "types",
        TITLES,
        (
            Each(
                "k = {types:g}, {labels:g} labels a task: adaptive {adaptive:±3} wrong, message "
                "passing {message passing:±3}, majority {majority:±3} ({trials} pairs).",
                where=nearest,
            ),
            _growth,
        ),
    ),
    deadline=120.0,
)
