"""Figure 1: whether adaptive assignment pays, with one type of worker and with two.

The paper gives 1,000 tasks of one type to 300 workers who take up to 200 tasks each. Either all
workers are right with probability 0.6414, or half of them guess and half are right with 0.7; the
mean quality E[(2p − 1)²] is the same. The adaptive algorithm samples 90 more workers (γ = 0.3) and
asks each of the 390 for 20 gold labels; ε is varied, and the labels it leads to, gold included, are
set against the share of wrong labels. The rival is random assignment with message passing, where
the number of labels is chosen.

Where the paper is silent: the random methods use the 300 workers alone, on random regular graphs
(what message passing was made for), with 10 iterations; plain majority on the same graphs is added.
Exactly half of the workers are hammers, in random places. No ε′ correction is applied, as t is far
above what Theorem 3 allows here. Where the sampled LP has no solution (small ε), the cover of tasks
falls short at a high price (`relaxed`). Tasks are true or false with probability ½.

Source: Ho, Jabbari, Vaughan (2013), Section 6.1, Figure 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from crowd_papers.adaptive_assignment.adaptive_curves import (
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
    reached,
    values_at,
)
from workbench.crowd import Crowd, spammer_hammer, uniform
from workbench.studies import (
    BEYOND,
    Analysis,
    Parameter,
    Params,
    Record,
    Ruling,
    Scalar,
    Streams,
    Study,
    capital,
    claim,
    ended,
    listed,
    plus_minus,
    signed,
)

CROWDS: dict[str, Callable[..., Crowd]] = {"one-type": uniform, "two-types": spammer_hammer}
TITLES: dict[Scalar, str] = {
    "one-type": "one worker type (skill 0.6414)",
    "two-types": "two worker types (half 0.5, half 0.7)",
}
SHORT = {"one-type": "one worker type", "two-types": "two worker types"}


def trial(params: Params, streams: Streams) -> Record:
    """Measure one method on one crowd."""
    return figure_record(CROWDS[params["crowd"]], params, streams)


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Errors at equal labels, where adaptive assignment is ahead, and all curves."""
    rows = figure_rows(trials)
    if rows.empty:
        return Analysis((ended(trials),))
    equal = differences(at_equal_labels(rows, "crowd"), "crowd")
    points = curves(rows, "crowd")
    near = [
        f"{capital(row['crowd'])}, {row['labels']:g} labels per task: {errors_in_words(row)}; "
        f"adaptive − message passing {plus_minus(row['difference'], row['difference_se'])} "
        f"({row['trials']} pairs)."
        for row in equal[nearest(equal)].to_dict("records")
    ]
    findings = (ended(trials), *near, *sure_differences(equal), *passing_apart(points))
    return Analysis(findings, figure_tables(equal, points), (error_chart(points, "crowd", TITLES),))


def sure_differences(equal: pd.DataFrame) -> list[str]:
    """Where adaptive is ahead of message passing, and where behind."""
    far = equal[reached(equal) & (equal["difference"].abs() > 2 * equal["difference_se"])]
    return [
        f"{crowd}, labels per task at which adaptive differs from message passing by more than two "
        f"standard errors: ahead at {listed(rows['labels'][rows['difference'] < 0])}, behind at "
        f"{listed(rows['labels'][rows['difference'] > 0])}."
        for crowd, rows in far.groupby("crowd")
    ]


def passing_apart(points: pd.DataFrame) -> list[str]:
    """How far message passing's two curves are apart; the crowds are not paired."""
    own = points[points["series"] == "message passing"]
    wide = own.pivot_table(index="setting", columns="crowd", values="error")
    if wide.shape[1] < 2:
        return []
    apart = (wide["two-types"] - wide["one-type"]).abs()
    return [
        f"Message passing: its errors on the two crowds differ by at most {apart.max():.3f}, at "
        f"{apart.idxmax():g} labels per task."
    ]


STUDY = Study(
    name="adaptive-figure-1",
    title="Uniform tasks with one or two worker types",
    source="Ho, Jabbari, Vaughan (2013), Section 6.1, Figure 1",
    parameters={
        "crowd": Parameter(
            str,
            "two-types",
            "every worker 0.6414, or half spammers (0.5) and half hammers (0.7)",
            choices=tuple(TITLES),
        ),
        **PARAMETERS,
    },
    sizes={
        "smoke": figure_size(
            1,
            [0.5, 0.2, 0.1, 0.03],
            [10, 30, 40],
            crowd=list(CROWDS),
            tasks=[60],
            workers=[60],
            capacity=[40],
        ),
        "small": figure_size(
            5, [0.5, 0.3, 0.15, 0.07, 0.03], [10, 15, 20, 30, 40], crowd=list(CROWDS)
        ),
        "paper": figure_size(
            20,
            [0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.035, 0.025, 0.015],
            [3, 5, 8, 10, 12, 15, 17, 20, 25, 30, 35, 40, 45, 50],
            crowd=list(CROWDS),
        ),
    },
    trial=trial,
    analyse=analyse,
    deadline=120.0,
)

# What the paper claims.

IDENTICAL = 0.02
"""Two errors closer than this count as almost identical."""
GOLD = 20
"""s of the paper's experiment."""


@claim(
    id="adaptive-figure-1-message-passing",
    source="Figure 1",
    statement="Message passing does almost equally well if all workers have skill 0.6414, and if "
    "half are spammers and half have skill 0.7.",
)
def message_passing_alike(trials: pd.DataFrame) -> Ruling:
    """Message passing's errors in both crowds, at equal labels."""
    errors = published_errors(trials, "crowd", GOLD)
    uniform, mixed = (crowd_gap(errors, crowd, "message passing") for crowd in CROWDS)
    apart = mixed.minus(uniform)
    distance = np.abs(apart.value)
    alike = distance <= np.maximum(IDENTICAL, BEYOND * apart.se)
    most = int(np.argmax(distance))
    figures = (
        f"Error with two worker types minus that with one, at {label_range(apart)}: "
        f"{apart.value.mean():+.3f} on average, at most "
        f"{signed(apart.value[most], apart.se[most])} (at {apart.labels[most]:g}); within "
        f"{IDENTICAL} or 2 standard errors at {alike.sum()} of {len(alike)} numbers of labels."
    )
    values = [
        value
        for crowd in CROWDS
        for value in values_at(
            errors[crowd], f"{SHORT[crowd]}, error", "almost identical", "message passing"
        )
    ]
    if alike.mean() <= 0.5:
        return Ruling.refuted(figures).beside(*values)
    ruling = Ruling.holds(figures) if alike.all() else Ruling.holds_as_corrected(figures)
    return ruling.beside(*values)


@claim(
    id="adaptive-figure-1-adaptive",
    source="Figure 1",
    statement="With uniform workers the adaptive algorithm has a larger error than message "
    "passing, because it pays for exploration; with half spammers it has a smaller error.",
)
def exploration_pays_with_two_types(trials: pd.DataFrame) -> Ruling:
    """Adaptive minus message passing at equal labels, in both crowds."""
    errors = published_errors(trials, "crowd", GOLD)
    uniform, mixed = (crowd_gap(errors, crowd, "adaptive", "message passing") for crowd in CROWDS)
    figures = (
        "Error of the adaptive algorithm minus message passing's on the same crowds, exploration "
        "paid for, 2 standard errors counting as a difference. One worker type, "
        f"{label_range(uniform)}: {uniform.value.mean():+.3f} on average, worse at "
        f"{listed(uniform.above)}, better at {listed(uniform.below)}. Two types, "
        f"{label_range(mixed)}: {mixed.value.mean():+.3f} on average, better at "
        f"{listed(mixed.below)}, worse at {listed(mixed.above)}."
    )
    values = [
        value
        for number in (20, 30, 40)
        for crowd, printed in (("one-type", "above 0: worse"), ("two-types", "below 0: better"))
        for value in values_at(
            errors[crowd],
            f"{SHORT[crowd]}, adaptive − message passing",
            printed,
            "adaptive",
            "message passing",
            labels=(number,),
        )
    ]
    drawn = error_chart(curves(figure_rows(trials), "crowd"), "crowd", TITLES)
    worse, better = len(uniform.above) / len(uniform.labels), len(mixed.below) / len(mixed.labels)
    if min(worse, better) == 0:
        ruling = Ruling.refuted(figures)
    elif min(worse, better) <= 0.5 or len(uniform.below) or len(mixed.above):
        ruling = Ruling.holds_as_corrected(figures)
    else:
        ruling = Ruling.holds(figures)
    return ruling.beside(*values, chart=drawn)
