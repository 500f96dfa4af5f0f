"""The worst instances of each online policy that an adversary finds, as a study.

Each trial is one search (`workbench.assignment.search_bad_instance`) against one policy. The worst
instance is recorded as JSON, and `replay_bad_instance` measures it anew.

Source: beyond Ho, Jabbari, Vaughan (2013), Theorem 2.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from workbench.assignment import AIMS, ORDERS, POLICIES, Hunt, PolicyScore, search_bad_instance
from workbench.studies import (
    Analysis,
    Block,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    capital,
    ended,
    in_order,
    measured,
    percent,
    records,
)


def trial(params: Params, streams: Streams) -> Record:
    """One search against one policy."""
    seed = int(streams.instance.generate_state(1)[0])
    worst = search_bad_instance(Hunt(**params), seed)
    if worst is None:
        return {**dict.fromkeys(MEASURED), "replay_seed": seed, "instance": ""}
    small, outcome, at = worst
    values = (outcome.score(params["aim"]), *outcome, at)
    return {
        **dict(zip(MEASURED, values, strict=True)),
        "replay_seed": seed,
        "instance": small.json(),
    }


MEASURED = ("score", *PolicyScore._fields, "found_at")


# What the trials say.

KEYS = {"aim": AIMS, "order": ORDERS, "policy": tuple(POLICIES)}


def analyse(trials: pd.DataFrame) -> Analysis:
    """The worst instance of each policy, by aim and order."""
    rows = measured(trials, "score")
    if rows.empty:
        return Analysis((ended(trials),))
    # The worst instance of each comes first.
    rows = in_order(rows.assign(less=-rows["score"]), {**KEYS, "less": None, "repetition": None})
    groups = rows.groupby(list(KEYS), sort=False)
    worst = groups.agg(
        searches=("score", "count"),
        score=("score", "max"),
        mean_score=("score", "mean"),
        mean_se=("score", "sem"),
        ratio=("ratio", "first"),
        covered=("covered", "first"),
        optimum=("optimum", "first"),
    ).reset_index()
    instances = groups.agg(replay_seed=("replay_seed", "first"), instance=("instance", "first"))
    findings = (
        ended(trials),
        "Found by search: a policy's worst case is at least as bad, and may be worse.",
        *(
            f"{capital(row.policy)}, {row.order} order: {worst_case(row)} ({row.searches} "
            "searches)."
            for row in records(worst)
        ),
    )
    tables = {
        "Worst instance found for each policy (score: ratio, or share left short)": worst,
        "The instances": instances.reset_index(),
    }
    return Analysis(findings, tables)


def worst_case(row: Any) -> str:
    """The worst of a policy, for a sentence."""
    if row.aim == "cover":
        return f"at worst {percent(row.covered, 0)} of the tasks covered"
    if row.covered == 1:
        return f"at worst {row.ratio:.2f} times the optimum with every task covered"
    return "no instance on which every task was covered"


def _each(**values: list[Any]) -> Block:
    return {"policy": list(POLICIES), "aim": list(AIMS), "order": list(ORDERS), **values}


STUDY = Study(
    name="bad-instances",
    title="A search for instances on which online assignment does badly",
    source="beyond Ho, Jabbari, Vaughan (2013), Theorem 2",
    parameters={
        "policy": Parameter(str, "paper", "who assigns", choices=POLICIES, paired=True),
        "aim": Parameter(
            str,
            "labels",
            "most labels with all covered, or fewest tasks covered",
            choices=AIMS,
            paired=True,
        ),
        "order": Parameter(
            str,
            "adversarial",
            "order of arrival: part of the instance, or random",
            choices=ORDERS,
            paired=True,
        ),
        "types": Parameter(int, 2, "T, task types", least=1, most=10),
        "workers": Parameter(int, 8, "m, without the sample", least=1, most=12),
        "sample": Parameter(int, 3, "ℓ, workers sampled", least=1, most=12),
        "evaluations": Parameter(int, 200, "instances tried in a search", least=1, most=100_000),
    },
    sizes={
        "smoke": Size((_each(evaluations=[2], workers=[7], sample=[2]),), 1),
        "small": Size((_each(evaluations=[40]),), 2),
        "paper": Size((_each(evaluations=[150]),), 3),
    },
    trial=trial,
    analyse=analyse,
    version=2,
    deadline=900.0,
)
