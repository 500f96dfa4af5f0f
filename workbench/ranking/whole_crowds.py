"""Every aggregator on every recorded crowd as a whole: all labels, and 1, 2, 3, 5 a task.

Labels of each task are put in an order drawn at random, the same for all methods; at b labels a
task a method has the first b of each. Of a pair that is on record twice the first label counts. No
method knows any gold, and all tasks with gold are scored. All labels are given once: no order
changes what is said of them, but for draws among equals.

- *less*: error less that of a majority of the same labels, in pairs, mean over orders. `error` is
  the majority's mean over all orders and that difference, so that methods run in fewer orders stand
  on the same ground.
- Means over crowds give each crowd one vote, and the interval is over crowds: for a crowd like
  them. `worst` is the largest loss to the majority on any crowd at any level, `rank` the mean over
  crowds and levels among methods that ran everywhere, equals sharing it.
- Seconds are one processor's, for all labels of all crowds together.

A method that is not in the registry comes in by a file of results (`benchopt_files`), or where its
package is installed (`peer_aggregators`); slow ones of packages by a file alone.

Source: Li, Rubinstein, Cohn (2019), ICML, Section 5, compares so on all labels.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from workbench.aggregation import AGGREGATORS
from workbench.aggregation.voting import Aggregate
from workbench.base.arrays import IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import Votes
from workbench.ranking.methods import crowds, marked, of_votes, plain, weighs_by_skill
from workbench.ranking.peer_aggregators import SLOW, at_hand, peer
from workbench.ranking.recorded_crowds import STAND_IN, draw, places
from workbench.studies.analysis import ended, ended_well
from workbench.studies.study import Analysis, Chart, Parameter, Params, Record, Size, Study
from workbench.studies.summary import estimate
from workbench.studies.trials import Streams

LEVELS = ("1", "2", "3", "5", "all")
"""Labels a task, b."""
ALL = LEVELS[-1]
BASELINE = "majority"
ORDERS = 10
SHOWN = 5
"""Methods in the picture, the first ones."""
SAME = 1e-12
"""Means closer than this are equal."""


def methods() -> list[str]:
    """Aggregators that know no gold, and peers'; those of one's own with their file's digest."""
    own = [marked(name, AGGREGATORS) for name in AGGREGATORS if not weighs_by_skill(name)]
    return [*own, *at_hand()]


def quick() -> list[str]:
    """Those of `methods` that the leaderboard runs: without the slow ones of peers."""
    return [name for name in methods() if name not in SLOW]


@lru_cache(maxsize=4)
def ordered(crowd: str, order: int, seed: int) -> tuple[Votes, IntArray, IntArray]:
    """Labels of a crowd by task, each task's in an order drawn at random.

    Parameters
    ----------
    crowd
        A data set, or the stand-in.
    order
        Which of the orders of a seed.

    Returns
    -------
    votes, place, truth
        Place of each label among its task's, from 0; class of each task, −1 without gold.
    """
    named = np.random.SeedSequence(seed, spawn_key=(order, *crowd.encode()))
    votes, truth = draw(crowd, None, "first", seed=named)
    lot = stream(named, "order").random(len(votes))
    rows = np.lexsort((lot, votes.task))
    columns = {name: getattr(votes, name)[rows] for name in ("task", "worker", "label")}
    votes = Votes(**columns, tasks=votes.tasks, workers=votes.workers, classes=votes.classes)
    return votes, places(votes.task, lot[rows]), truth


def first_labels(crowd: str, level: str, order: int, seed: int = 0) -> tuple[Votes, IntArray]:
    """Give what a method meets at a level, and the true classes."""
    votes, place, truth = ordered(crowd, order, seed)
    return (votes if level == ALL else of_votes(votes, place < int(level))), truth


def labelled(method: str, votes: Votes, seed: Seed) -> Aggregate:
    """Let a method label."""
    name = plain(method)
    if name in AGGREGATORS:
        result: Aggregate = AGGREGATORS[name].call(votes, seed=seed)
        return result
    return peer(name, votes)


def trial(params: Params, streams: Streams) -> Record:
    """Let one method label one crowd, in one order, at every level."""
    crowd, order, seed = plain(params["crowd"]), int(params["order"]), streams.entropy
    votes, place, truth = ordered(crowd, order, seed)
    most, scored = int(place.max()) + 1, truth >= 0
    record: dict[str, Any] = {
        "tasks": len(truth),
        "scored": int(scored.sum()),
        "workers": len(votes.workers),
        "classes": len(votes.classes),
    }
    for level in LEVELS:
        if (level == ALL and order) or (level != ALL and int(level) >= most):
            continue
        labels, _ = first_labels(crowd, level, order, seed)
        started = time.process_time()
        try:
            result = labelled(str(params["method"]), labels, streams.method(level))
        except InputError as error:
            record["refused"] = str(error)
            continue
        wrong = 1.0 - result.chance_right(np.maximum(truth, 0))
        record |= {
            f"seconds_{level}": time.process_time() - started,
            f"labels_{level}": len(labels) / len(truth),
            f"error_{level}": float(wrong[scored].mean()),
        }
    return record


# What the trials say.


def points(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a method, crowd, level and order: `error, labels, seconds`, of trials."""
    each = []
    for level in LEVELS:
        columns = {f"{name}_{level}": name for name in ("error", "labels", "seconds")}
        if set(columns) <= set(rows):
            part = rows[["method", "crowd", "order", *columns]].rename(columns=columns)
            each.append(part.dropna(subset=["error"]).assign(level=level))
    table = pd.concat(each, ignore_index=True)
    return table.assign(method=table["method"].map(plain), crowd=table["crowd"].map(plain))


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """A row a method, crowd and level: `less`, mean over its orders, `error`, `labels`, `seconds`.

    Parameters
    ----------
    table
        As `points` has it, the majority's among them; rows that are not paired with one are left
        out.
    """
    pair = ["crowd", "level", "order"]
    base = table[table["method"] == BASELINE].set_index(pair)["error"].rename("base")
    table = table.join(base, on=pair, how="inner")
    table = table.assign(less=table["error"] - table["base"])
    keys = ["method", "crowd", "level"]
    means = table.groupby(keys, sort=False)[["less", "labels", "seconds"]].mean()
    everywhere = base.groupby(["crowd", "level"]).mean()
    means["error"] = means["less"] + means.join(everywhere, on=["crowd", "level"])["base"]
    return means.reset_index()


def standings(table: pd.DataFrame) -> pd.DataFrame:
    """A row a method, by place.

    Returns
    -------
    DataFrame
        `place, method, less, low, high, worst, where, rank, error, error_1 … error_all, seconds,
        crowds, apart`: `less` is the mean over levels, then over crowds, with its interval of 95 %
        over crowds; `where` names crowd and level of the worst loss; `apart` says whether the
        interval of the difference to the first is without 0. A method that did not run wherever
        others did has no place.
    """
    cell = cells(table)
    many = cell.groupby("method").size()
    full = cell[cell["method"].map(many) == many.max()]
    rank = full["error"].round(12).groupby([full["crowd"], full["level"]]).rank()
    rank = rank.groupby(full["method"]).mean()
    by_crowd = cell.pivot_table(values="less", index="crowd", columns="method")
    mean = by_crowd.mean()
    first = str(mean[rank.index].idxmin())
    rows = []
    for method, own in cell.groupby("method", sort=False):
        less = estimate(by_crowd[method].dropna())
        ahead = estimate((by_crowd[method] - by_crowd[first]).dropna())
        worst = own.sort_values("less", kind="stable").iloc[-1]
        at_level = own.groupby("level")["error"].mean()
        placed = method in rank.index
        better = int((mean[rank.index] < mean[method] - SAME).sum())
        equal = int((abs(mean[rank.index] - mean[method]) <= SAME).sum()) > 1
        rows.append(
            {
                "place": f"{better + 1}{'=' if equal else ''}" if placed else "–",
                "method": method,
                "less": less.mean,
                "low": less.low,
                "high": less.high,
                "worst": max(float(worst["less"]), 0.0),
                "where": f"{worst['crowd']}, {worst['level']}" if worst["less"] > SAME else "–",
                "rank": rank.get(method, np.nan),
                "error": own.groupby("crowd")["error"].mean().mean(),
                **{f"error_{level}": at_level.get(level, np.nan) for level in LEVELS},
                "seconds": float(own.loc[own["level"] == ALL, "seconds"].sum()),
                "crowds": less.n,
                "apart": bool(ahead.low > 0 or ahead.high < 0),
            }
        )
    rows.sort(key=lambda row: (row["place"] == "–", row["less"]))
    return pd.DataFrame(rows)


def by_level(table: pd.DataFrame) -> pd.DataFrame:
    """Differences to the majority at each level, over crowds: `method, level, less, low, high`."""
    rows = []
    for (method, level), own in cells(table).groupby(["method", "level"], sort=False):
        less = estimate(own["less"])
        rows.append(
            {
                "method": method,
                "level": level,
                "less": less.mean,
                "low": less.low,
                "high": less.high,
                "crowds": less.n,
            }
        )
    order = {level: at for at, level in enumerate(LEVELS)}
    return pd.DataFrame(rows).sort_values(
        "level", key=lambda names: names.map(order), kind="stable"
    )


def chart(table: pd.DataFrame) -> Chart:
    """Error less that of a majority at each level, with intervals over crowds."""
    ranks = standings(table)
    placed = ranks.loc[(ranks["place"] != "–") & (ranks["method"] != BASELINE), "method"]
    first = placed.tolist()[:SHOWN]
    data = by_level(table)
    data = data[data["method"].isin(first)]
    data = data.sort_values("method", key=lambda names: names.map(first.index), kind="stable")
    data = data.sort_values("level", key=lambda names: names.map(LEVELS.index), kind="stable")
    return Chart(
        "whole-crowds",
        f"Error less that of a majority of the same labels, mean over {table['crowd'].nunique()} "
        f"whole crowds, against labels per task: the first {len(first)} methods. Bars: "
        "intervals of "
        "95 % over crowds.",
        data,
        "level",
        "less",
        "labels per task",
        "error less a majority's",
        series="method",
        low="low",
        high="high",
        kind="points",
        references=((0.0, "majority"),),
    )


def findings(ranks: pd.DataFrame) -> Iterator[str]:
    """Who errs least, who does not differ from it beyond chance, and who never loses much."""
    placed = ranks[ranks["place"] != "–"]
    first, rest = placed.iloc[0], placed.iloc[1:]
    near = rest.loc[~rest["apart"], "method"].tolist()
    over = "of which no interval follows"
    if not pd.isna(first["low"]):
        over = f"over crowds {first['low']:+.4f} to {first['high']:+.4f}"
    yield (
        f"{first['method']} errs least on {first['crowds']} whole crowds without gold, "
        f"{first['less']:+.4f} beside a majority ({over}), at worst "
        f"{first['worst']:+.4f} ({first['where']}); not different beyond chance: "
        f"{', '.join(near) or 'none'}."
    )
    safest = placed[placed["method"] != BASELINE].sort_values("worst", kind="stable").iloc[0]
    yield f"Least at risk: {safest['method']}, at worst {safest['worst']:+.4f} ({safest['where']})."


def analyse(trials: pd.DataFrame) -> Analysis:
    """Standings, differences at each level, and why methods refused."""
    well = ended_well(trials)
    table = points(well) if len(well) else well
    if BASELINE not in set(table["method"].map(plain)):
        nothing = f"No trial of {BASELINE}, beside which all others stand, ended well."
        return Analysis((ended(trials), nothing))
    ranks = standings(table)
    tables = {"Standings": ranks, "Beside a majority, by labels per task": by_level(table)}
    if "refused" in trials:
        refused = trials.dropna(subset=["refused"])
        refused = refused[["method", "crowd", "refused"]].drop_duplicates()
        tables |= {"Refused": refused} if len(refused) else {}
    return Analysis((ended(trials), *findings(ranks)), tables, (chart(table),))


STUDY = Study(
    name="whole-crowds",
    title="Every aggregator on whole crowds",
    source="beyond the papers",
    parameters={
        "crowd": Parameter(str, STAND_IN, "whose labels: a data set; the stand-in is named so"),
        "order": Parameter(int, 0, "which order of each task's labels", least=0),
        "method": Parameter(str, BASELINE, "an aggregator, or a peer's", paired=True),
    },
    sizes={
        "smoke": Size(({"order": [0, 1], "method": [BASELINE, "one-coin", "pooled"]},), 1),
        "small": Size(({"crowd": crowds(), "order": list(range(ORDERS)), "method": quick()},), 1),
        "paper": Size(
            ({"crowd": crowds(), "order": list(range(3 * ORDERS)), "method": quick()},), 1
        ),
    },
    trial=trial,
    analyse=analyse,
    volatile=tuple(f"seconds_{level}" for level in LEVELS),
)
