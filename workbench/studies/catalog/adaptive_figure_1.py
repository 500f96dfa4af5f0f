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

import numpy as np
import pandas as pd

from workbench.crowd.population import Crowd, spammer_hammer, uniform
from workbench.studies.catalog._adaptive import METHODS, Instance, figure_record
from workbench.studies.catalog._curves import (
    at_equal_labels,
    curves,
    differences,
    error_chart,
    nearest,
    reached,
)
from workbench.studies.measures import ended, listed, measured, plus_minus
from workbench.studies.study import Analysis, Parameter, Params, Record, Scalar, Size, Study
from workbench.studies.summary import means
from workbench.studies.trials import Streams

TITLES: dict[Scalar, str] = {
    "one-type": "one worker type (skill 0.6414)",
    "two-types": "two worker types (half 0.5, half 0.7)",
}


def trial(params: Params, streams: Streams) -> Record:
    """Measure one method on one crowd."""
    sampled = round(params["gamma"] * params["workers"])
    size = params["workers"] + sampled
    crowd: Crowd
    if params["crowd"] == "one-type":
        crowd = uniform(size, capacity=params["capacity"])
    else:
        crowd = spammer_hammer(size, seed=streams.instance, capacity=params["capacity"])
    return figure_record(
        Instance(crowd, sampled, params["tasks"], streams.instance), params, streams
    )


def analyse(table: pd.DataFrame) -> Analysis:
    """Error against labels for both crowds, and who is ahead at equal labels."""
    found = curves(table, "crowd")
    equal = differences(at_equal_labels(table, "crowd"), "crowd")
    return Analysis(
        findings=(ended(table), *_who_leads(equal), *_two_crowds(table)),
        tables={
            "Error of each method at equal labels a task (gold included); "
            "difference is adaptive − message passing, paired": equal,
            "All points": found,
        },
        charts=(error_chart(found, "crowd", TITLES, "error"),),
    )


def _who_leads(equal: pd.DataFrame) -> list[str]:
    sentences = []
    for crowd, rows in equal.groupby("crowd", sort=True):
        title = TITLES[str(crowd)].capitalize()
        sentences += [
            f"{title}, {row['labels']:g} labels a task: adaptive "
            f"{plus_minus(row['adaptive'], row['adaptive_se'])} wrong, message passing "
            f"{plus_minus(row['message passing'], row['message passing_se'])}, majority "
            f"{plus_minus(row['majority'], row['majority_se'])}; adaptive − message passing "
            f"{plus_minus(row['difference'], row['difference_se'])} ({row['trials']} pairs)."
            for row in nearest(rows, 20).to_dict("records")
        ]
        sure = reached(rows)
        ahead = sure.loc[sure["difference"] < -2 * sure["difference_se"], "labels"].tolist()
        behind = sure.loc[sure["difference"] > 2 * sure["difference_se"], "labels"].tolist()
        sentences.append(
            f"{title}, labels a task at which adaptive differs from message passing by more than "
            f"two standard errors: ahead at {listed(ahead)}, behind at {listed(behind)}."
        )
    return sentences


def _two_crowds(table: pd.DataFrame) -> list[str]:
    """How far message passing's two curves are apart; the crowds are not paired."""
    ok = measured(table, "error")
    found = means(ok[ok["method"] == "message passing"], ["per_task", "crowd"], "error")
    one, two = (found[found["crowd"] == crowd] for crowd in TITLES)
    both = one.merge(two, on="per_task", suffixes=("_one", "_two")).dropna(
        subset=["mean_one", "mean_two"]
    )
    if both.empty:
        return []
    both["gap"] = both["mean_two"] - both["mean_one"]
    both["doubt"] = np.hypot(both["se_one"], both["se_two"])
    worst = both.assign(size=both["gap"].abs()).nlargest(1, "size").to_dict("records")[0]
    return [
        "Message passing: its errors on the two crowds differ by at most "
        f"{plus_minus(abs(worst['gap']), worst['doubt'])}, at {worst['per_task']:g} labels a task."
    ]


STUDY = Study(
    name="adaptive-figure-1",
    title="Uniform tasks with one or two worker types",
    source="Ho, Jabbari, Vaughan (2013), Section 6.1, Figure 1",
    parameters={
        "crowd": Parameter(
            str, "two-types", "every worker 0.6414, or half spammers (0.5) and half hammers (0.7)",
            choices=tuple(TITLES),
        ),
        "tasks": Parameter(int, 1000, "n", least=1, most=100_000),
        "workers": Parameter(int, 300, "m, without preliminary workers", least=2, most=100_000),
        "capacity": Parameter(int, 200, "M, the most tasks a worker takes", least=1),
        "gamma": Parameter(float, 0.3, "γ, preliminary workers for each worker", least=0, most=10),
        "method": Parameter(str, "adaptive", "who assigns and votes", choices=METHODS, paired=True),
        "epsilon": Parameter(
            float, None, "ε of the adaptive method", least=1e-300, most=0.999, optional=True,
            paired=True,
        ),
        "gold": Parameter(
            int, 20, "s, gold tasks a worker and type (adaptive)", least=1, paired=True
        ),
        "per_task": Parameter(
            int, None, "labels a task (message passing, majority)", least=1, optional=True,
            paired=True,
        ),
        "iterations": Parameter(int, 10, "of message passing", least=1, most=1000, paired=True),
    },
    sizes={
        "smoke": Size(
            ({"crowd": list(TITLES), "tasks": [60], "workers": [60], "capacity": [40],
              "method": ["adaptive"], "epsilon": [0.5, 0.2, 0.1, 0.03]},
             {"crowd": list(TITLES), "tasks": [60], "workers": [60], "capacity": [40],
              "method": ["message passing", "majority"], "per_task": [10, 30, 40]}),
            3,
        ),
        "small": Size(
            ({"crowd": list(TITLES), "method": ["adaptive"],
              "epsilon": [0.5, 0.3, 0.15, 0.07, 0.03]},
             {"crowd": list(TITLES), "method": ["message passing", "majority"],
              "per_task": [10, 15, 20, 30, 40]}),
            5,
        ),
        "paper": Size(
            ({"crowd": list(TITLES), "method": ["adaptive"],
              "epsilon": [0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.035, 0.025, 0.015]},
             {"crowd": list(TITLES), "method": ["message passing", "majority"],
              "per_task": [3, 5, 8, 10, 12, 15, 17, 20, 25, 30, 35, 40, 45, 50]}),
            20,
        ),
    },
    trial=trial,
    analyse=analyse,
    deadline=120.0,
)  # fmt: skip
