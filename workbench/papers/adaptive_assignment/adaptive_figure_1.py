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

import pandas as pd

from workbench.crowd.population import Crowd, spammer_hammer, uniform
from workbench.papers.adaptive_assignment.adaptive_curves import (
    PARAMETERS,
    figure_analysis,
    figure_record,
    figure_size,
    nearest,
    reached,
)
from workbench.studies.analysis import listed
from workbench.studies.measures import Each
from workbench.studies.study import Parameter, Params, Record, Scalar, Study
from workbench.studies.trials import Streams

CROWDS: dict[str, Callable[..., Crowd]] = {"one-type": uniform, "two-types": spammer_hammer}
TITLES: dict[Scalar, str] = {
    "one-type": "one worker type (skill 0.6414)",
    "two-types": "two worker types (half 0.5, half 0.7)",
}


def trial(params: Params, streams: Streams) -> Record:
    """Measure one method on one crowd."""
    return figure_record(CROWDS[params["crowd"]], params, streams)


def _sure(_: pd.DataFrame, equal: pd.DataFrame) -> list[str]:
    """Where adaptive is ahead of message passing, and where behind."""
    far = equal[reached(equal) & (equal["difference"].abs() > 2 * equal["difference_se"])]
    return [
        f"{crowd}, labels a task at which adaptive differs from message passing by more than two "
        f"standard errors: ahead at {listed(rows['labels'][rows['difference'] < 0])}, behind at "
        f"{listed(rows['labels'][rows['difference'] > 0])}."
        for crowd, rows in far.groupby("crowd")
    ]


def _two_crowds(_: pd.DataFrame, points: pd.DataFrame) -> list[str]:
    """How far message passing's two curves are apart; the crowds are not paired."""
    own = points[points["series"] == "message passing"]
    wide = own.pivot_table(index="setting", columns="crowd", values="error")
    if wide.shape[1] < 2:
        return []
    gap = (wide["two-types"] - wide["one-type"]).abs()
    return [
        f"Message passing: its errors on the two crowds differ by at most {gap.max():.3f}, at "
        f"{gap.idxmax():g} labels a task."
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
            3,
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
    analyse=figure_analysis(
        "crowd",
        TITLES,
        (
            Each(
                "{crowd:cap}, {labels:g} labels a task: adaptive {adaptive:±3} wrong, message "
                "passing {message passing:±3}, majority {majority:±3}; adaptive − message passing "
                "{difference:±3} ({trials} pairs).",
                where=nearest,
            ),
            _sure,
        ),
        (_two_crowds,),
    ),
    deadline=120.0,
)
