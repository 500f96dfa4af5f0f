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

import numpy as np
import pandas as pd

from crowd_papers.adaptive_assignment.adaptive_curves import (
    METHODS,
    PARAMETERS,
    at_equal_labels,
    crowd_gap,
    curves,
    differences,
    error_chart,
    errors_in_words,
    figure_record,
    figure_rows,
    figure_size,
    figure_tables,
    label_range,
    nearest,
    published_errors,
    values_at,
)
from workbench.crowd import specialists
from workbench.studies import (
    Analysis,
    Parameter,
    Params,
    Record,
    Ruling,
    Scalar,
    Streams,
    Study,
    claim,
    ended,
)

TITLES: dict[Scalar, str] = {1: "k = 1 type", 2: "k = 2 types", 3: "k = 3 types"}


def trial(params: Params, streams: Streams) -> Record:
    """Measure one method on one crowd of specialists."""
    return figure_record(partial(specialists, task_types=params["types"]), params, streams)


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Errors at equal labels, what growing k costs each method, and all curves."""
    rows = figure_rows(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    equal = differences(at_equal_labels(rows, "types"), "types")
    points = curves(rows, "types")
    near = equal[nearest(equal)]
    each = [
        f"k = {row['types']:g}, {row['labels']:g} labels per task: {errors_in_words(row)} "
        f"({row['trials']} pairs)."
        for row in near.to_dict("records")
    ]
    findings = (ended(trials), *each, *growth(near))
    return Analysis(findings, figure_tables(equal, points), (error_chart(points, "types", TITLES),))


def growth(near: pd.DataFrame) -> list[str]:
    """What growing k costs each method, at about the same labels."""
    if len(near) < 2:
        return []
    first, last = near.iloc[0], near.iloc[-1]
    lost = ", ".join(f"{last[name] - first[name]:.3f} ({name})" for name in METHODS)
    return [
        f"From k = {first['types']:g} to {last['types']:g} at {first['labels']:g} labels per task, "
        f"error grows by {lost}."
    ]


STUDY = Study(
    name="adaptive-figure-2",
    title="Heterogeneous tasks: k task types, k worker types",
    source="Ho, Jabbari, Vaughan (2013), Section 6.2, Figure 2",
    parameters={
        "types": Parameter(int, 3, "k, types of task and of worker", least=1, most=50),
        **{name: value for name, value in PARAMETERS.items() if name != "gold"},
        "gold": replace(PARAMETERS["gold"], default=10),
    },
    sizes={
        "smoke": figure_size(
            1,
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
    analyse=analyse,
    deadline=120.0,
)

# What the paper claims.

GOLD = 10
"""s of the paper's experiment."""


@claim(
    id="adaptive-figure-2-message-passing",
    source="Figure 2",
    statement="With k types of tasks and of workers, the error of message passing grows quickly "
    "as k rises from 1 to 3.",
)
def message_passing_gets_worse(trials: pd.DataFrame) -> Ruling:
    """Message passing's error at equal labels as k grows."""
    errors = published_errors(trials, "types", GOLD)
    curve = {k: crowd_gap(errors, k, "message passing") for k in (1, 2, 3)}
    first, second = curve[2].minus(curve[1]), curve[3].minus(curve[2])
    mean_errors = ", ".join(f"{own.value.mean():.3f}" for own in curve.values())
    figures = (
        f"Mean error of message passing at {label_range(first)}, k = 1, 2, 3: {mean_errors}. It "
        f"rises by over 2 standard errors from 1 to 2 at {len(first.above)} and from 2 to 3 at "
        f"{len(second.above)} of {len(first.labels)} numbers of labels."
    )
    values = [
        value
        for k in curve
        for value in values_at(
            errors[k],
            f"k = {k}, message passing's error",
            "rises quickly with k",
            "message passing",
        )
    ]
    shares = len(first.above) / len(first.labels), len(second.above) / len(second.labels)
    if max(shares) <= 0.5:
        return Ruling.refuted(figures).beside(*values)
    ruling = Ruling.holds_as_corrected(figures) if min(shares) <= 0.5 else Ruling.holds(figures)
    return ruling.beside(*values)


@claim(
    id="adaptive-figure-2-adaptive",
    source="Figure 2",
    statement="The error of the adaptive algorithm grows much more slowly, although its "
    "exploration is counted. (Read as: its error rises by less than half as much.)",
)
def adaptive_gets_worse_slowly(trials: pd.DataFrame) -> Ruling:
    """The adaptive algorithm's rise in error from k = 1 to 3, beside message passing's."""
    errors = published_errors(trials, "types", GOLD)
    adaptive, passing = (
        crowd_gap(errors, 3, method).minus(crowd_gap(errors, 1, method))
        for method in ("adaptive", "message passing")
    )
    slower, half = adaptive.minus(passing), adaptive.minus(passing, 0.5)
    points = len(slower.labels)
    beside = passing.value[np.isin(passing.labels, slower.labels)]
    figures = (
        f"From k = 1 to 3, at {label_range(slower)}, the adaptive algorithm's error rises by "
        f"{adaptive.value.mean():.3f} on average (exploration paid for), message passing's by "
        f"{beside.mean():.3f}: less by over 2 standard errors at {len(slower.below)} of {points} "
        f"numbers of labels, less than half of it at {len(half.below)}."
    )
    values = [
        value
        for k in (1, 2, 3)
        for value in values_at(
            errors[k], f"k = {k}, adaptive's error", "rises much more slowly with k", "adaptive"
        )
    ]
    drawn = error_chart(curves(figure_rows(trials), "types"), "types", TITLES)
    if len(slower.below) <= 0.5 * points:
        ruling = Ruling.refuted(figures)
    elif len(half.below) <= 0.5 * len(half.labels):
        ruling = Ruling.holds_as_corrected(figures)
    else:
        ruling = Ruling.holds(figures)
    return ruling.beside(*values, chart=drawn)
