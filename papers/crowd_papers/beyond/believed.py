"""What the default believes of recorded crowds, and what it makes: the table behind every range.

Labels of each task are put in an order drawn at random; a batch is all tasks, or so many of them
drawn, with the first b labels of each. `aggregate` labels it without gold, its confidences
calibrated by labels held out, and believes that one minus their mean is wrong; *made* is the error
on tasks with gold, ties by expectation. Batches of which nothing can be told
(`accuracy.believed.untold`), or with fewer than `SCORED` tasks of gold, are left out.

Each crowd has one vote. A crowd's draws are held to the range that the others make: `held` is the
share that lies in it.

    workbench study run believed --size paper --store studies.sqlite

gives the trials of `workbench/accuracy/believed.csv`; `write_table` makes the file of them:

    from crowd_papers.beyond.believed import write_table
    write_table("studies.sqlite", "workbench/accuracy/believed.csv")
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy import spread, untold
from workbench.aggregation import DEFAULT, KnownBeforehand, LabelOptions, label_tasks
from workbench.base import IntArray, stream, write_together
from workbench.crowd import Votes
from workbench.ranking import ALL, STAND_IN, of_votes, ordered, places, simulated
from workbench.studies import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Store,
    Streams,
    Study,
    ended,
    ended_well,
)

CROWDS = (
    "bluebird",
    "face",
    "music_genre",
    "product",
    "rte",
    "sat12",
    "sentence_polarity",
    "sentiment",
    "sp_amt",
    "weather_amt",
    "web",
    "zencrowd_us",
)
"""Recorded crowds of the table."""
LEVELS = ("2", "3", "5", "10", ALL)
"""Labels per task."""
BATCHES = (0, 100, 300)
"""Tasks of a batch; 0 for all."""
ORDERS = 2
SCORED = 20
COLUMNS = ("crowd", "order", "tasks", "labels", "scored", "believed", "made")


def batch(votes: Votes, truth: IntArray, tasks: int, rng: np.random.Generator) -> Votes | None:
    """Draw tasks with gold, and keep their labels; all where `tasks` is 0, None where too few."""
    if not tasks:
        return votes
    scored = np.flatnonzero(truth >= 0)
    if len(scored) <= tasks:
        return None
    kept = np.isin(votes.task, rng.choice(scored, tasks, replace=False))
    table = votes.table()[kept]
    return Votes.of(table, classes=votes.classes)


def laid_out(crowd: str, order: int, streams: Streams) -> tuple[Votes, IntArray, IntArray]:
    """Labels in the order of a draw, their places among their task's, and the true classes.

    Of the stand-in all workers label all tasks: few labels of workers near chance say nothing.
    """
    if crowd != STAND_IN:
        return ordered(crowd, order, streams.entropy)
    stand_in = simulated("simulated", seed=streams.entropy + order)
    votes = stand_in.votes
    return (
        votes,
        places(votes.task, stream(streams.entropy, "order").random(len(votes))),
        stand_in.truth,
    )


def trial(params: Params, streams: Streams) -> Record:
    """Let the default label one batch of one crowd, in one order, at every level."""
    crowd, order, tasks = str(params["crowd"]), int(params["order"]), int(params["tasks"])
    votes, place, truth = laid_out(crowd, order, streams)
    gold = pd.Series(votes.classes[truth[truth >= 0]], index=votes.tasks[truth >= 0])
    record: dict[str, Any] = {}
    for level in LEVELS:
        whole = level == ALL
        if (whole and not tasks and order) or (not whole and int(level) > place.max()):
            continue
        some = votes if whole else of_votes(votes, place < int(level))
        drawn = batch(some, truth, tasks, stream(streams.method("batch"), "tasks"))
        if drawn is None or untold(drawn) is not None:
            continue
        found = label_tasks(
            drawn.table(),
            DEFAULT,
            KnownBeforehand(truth=gold[gold.index.isin(drawn.tasks)]),
            LabelOptions(calibrate="auto"),
            seed=streams.method(level),
        )
        if not found.accuracy_tasks or found.accuracy_tasks < SCORED:
            continue
        assert found.accuracy is not None
        record |= {
            f"labels_{level}": found.votes / len(found.answers),
            f"scored_{level}": found.accuracy_tasks,
            f"believed_{level}": 1.0 - float(found.answers["confidence"].mean()),
            f"made_{level}": 1.0 - found.accuracy,
        }
    return record


# What the trials say.


def table(trials: pd.DataFrame) -> pd.DataFrame:
    """A row a batch, the columns `COLUMNS` and `level`, of trials."""
    rows = ended_well(trials)
    each = []
    for level in LEVELS:
        columns = {f"{name}_{level}": name for name in COLUMNS[3:]}
        if set(columns) <= set(rows):
            part = rows[[*COLUMNS[:3], *columns]].rename(columns=columns)
            each.append(part.dropna(subset=["made"]).assign(level=level))
    nothing = pd.DataFrame(columns=[*COLUMNS, "level"])
    found = pd.concat(each, ignore_index=True) if each else nothing
    return found.sort_values(["crowd", "tasks", "order", "labels"], ignore_index=True)


def left_out(rows: pd.DataFrame) -> pd.DataFrame:
    """Hold each crowd's draws to the range that the others make; columns `low, high, held` more.

    Parameters
    ----------
    rows
        `crowd, believed, made`, a row a draw, of four crowds or more.
    """
    each = []
    for name, own in rows.groupby("crowd", sort=True):
        others = rows[rows["crowd"] != name]
        fitted = spread(others["crowd"].tolist(), others["believed"], others["made"])
        ranges = [fitted.at(share) for share in own["believed"]]
        low, high = ([getattr(one, end) for one in ranges] for end in ("low", "high"))
        held = (own["made"] >= low) & (own["made"] <= high)
        each.append(own.assign(low=low, high=high, held=held))
    return pd.concat(each, ignore_index=True)


def findings(held: pd.DataFrame) -> list[str]:
    """In how many draws, and on how many crowds, the range of the others held."""
    by_crowd = held.groupby("crowd")["held"].mean()
    whole = held[(held["tasks"] == 0) & (held["level"] == ALL)]
    return [
        f"The range that the other crowds make holds the error in {by_crowd.mean():.0%} of a "
        f"crowd's draws, mean of {len(by_crowd)} crowds; least on {by_crowd.idxmin()}, "
        f"{by_crowd.min():.0%}. Of whole crowds with all their labels it holds in "
        f"{int(whole['held'].sum())} of {len(whole)}."
    ]


def analyse(trials: pd.DataFrame) -> Analysis:
    """Believed and made, and each crowd held to the others' range."""
    rows = table(trials)
    if rows["crowd"].nunique() < 4:
        few = "A range takes four crowds or more, one of them left out."
        return Analysis((ended(trials), few), {"Believed and made": rows})
    held = left_out(rows)
    chart = Chart(
        "believed",
        f"Error made against error believed, {len(rows)} batches of {rows['crowd'].nunique()} "
        "recorded crowds without gold.",
        rows,
        "believed",
        "made",
        "error believed",
        "error made",
        series="crowd",
        kind="points",
        diagonal="as believed",
    )
    return Analysis((ended(trials), *findings(held)), {"Believed and made": held}, (chart,))


def write_table(store: str | Path, file: str | Path) -> None:
    """Write the trials of a store as the table that `accuracy.believed` reads.

    Parameters
    ----------
    store
        File of trials, those of size `paper`.
    file
        The table, a .csv.
    """
    with Store.open(str(store)) as trials:
        rows = table(trials.table(STUDY.name))[list(COLUMNS)]
    counts = ["order", "tasks", "scored"]
    text = rows.astype(dict.fromkeys(counts, int)).to_csv(index=False, float_format="%.4f")
    write_together({Path(file): text.encode()})


STUDY = Study(
    name="believed",
    title="What is believed without gold, and what is made",
    source="beyond the papers",
    parameters={
        "crowd": Parameter(str, STAND_IN, "whose labels: a data set; the stand-in is named so"),
        "order": Parameter(int, 0, "which order of each task's labels", least=0),
        "tasks": Parameter(int, 0, "tasks of the batch; 0 for all", least=0),
    },
    sizes={
        "smoke": Size(({"order": [0, 1], "tasks": [0, 100]},), 1),
        "small": Size(({"crowd": ["bluebird", "rte", "sp_amt", "weather_amt"]},), 1),
        "paper": Size(
            (
                {
                    "crowd": list(CROWDS),
                    "order": list(range(ORDERS)),
                    "tasks": list(BATCHES),
                },
            ),
            1,
        ),
    },
    trial=trial,
    analyse=analyse,
)
