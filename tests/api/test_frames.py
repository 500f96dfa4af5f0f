"""Frames of any library at the front door: what pandas gives, the others give."""

from __future__ import annotations

import logging
import subprocess
import sys

import pandas as pd
import pytest

import workbench as wb
from workbench.crowd.libraries import keyed, to_pandas
from workbench.crowd.reading import open_table

pl = pytest.importorskip("polars", reason="polars, whose frames are handed in, is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow, whose tables are handed in, is not installed")

LIBRARIES = {
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}


def columns(frame):
    """A pandas frame as a dict of lists, its index as columns."""
    if isinstance(frame, pd.Series) or frame.index.name is not None:
        frame = frame.reset_index()
    return {str(name): cells.tolist() for name, cells in frame.items()}


class Crowd:
    """What front-door functions take, each a frame of one library."""

    def __init__(self, labels, gold, make):
        workers = labels["worker"].unique().tolist()
        self.make, self.names = make, workers
        self.labels, self.gold = make(columns(labels)), make(columns(gold))
        self.costs = make({"worker": workers, "cost": [1.0, 2.0] * (len(workers) // 2)})
        self.capacity = make({"worker": workers, "capacity": [30] * len(workers)})
        self.groups = make({"worker": workers[:2], "group": ["a", "a"]})
        self.skills = make({"worker": workers, "skill": [0.6 + 0.04 * j for j in range(8)]})
        self.workers = make({"worker": workers[:4]})
        self.plan = make(
            {"task": ["q1", "q1"], "worker": workers[1:3], "weight": [1.0, 0.5]},
        )
        self.have = make({"task": ["x0"], "worker": ["w3"], "label": ["y"]})
        tasks = [f"x{i}" for i in range(6)]
        self.tasks = make({"task": tasks, "task_type": ["all"] * 6})
        pairs = [(task, worker) for task in tasks for worker in workers]
        task, worker = map(list, zip(*pairs, strict=True))
        self.availability = make({"task": task, "worker": worker})
        kinds = sorted(labels["task"].unique())
        self.kinds = make({"task": kinds, "task_type": ["ab"[i % 2] for i in range(len(kinds))]})


def rehearsed(crowd):
    """What a collector says after some steps, told by frames."""
    make = crowd.make
    collector = wb.Collector(
        crowd.tasks,
        crowd.workers,
        gold=make({"task": ["g1", "g2"], "label": ["n", "y"]}),
        hidden=make({"task": ["x4", "x5"], "label": ["n", "y"]}),
        capacity=make({"worker": crowd.names[:4], "capacity": [5] * 4}),
        costs=make({"worker": crowd.names[:4], "cost": [1.0] * 4}),
        skills=make({"worker": crowd.names[:1], "skill": [0.9]}),
        available=crowd.availability_of(4),
        have=crowd.have,
        epsilon=0.05,
    )
    for worker in crowd.names[:3]:
        asked = [question.task for question in collector.next(worker, 2)]
        collector.tell(worker, make({"task": asked, "label": ["y"] * len(asked)}))
    collector.add(make({"task": ["x8", "x9"]}))
    collector.record(make({"task": ["x8"], "worker": ["w0"], "label": ["n"]}))
    collector.change(costs=make({"worker": ["w0"], "cost": [2.0]}))
    return collector.answers(), collector.labels(), collector.status()


def session(crowd):
    """What Algorithm 2's service of release 1.0 asks and says."""
    make = crowd.make
    gold = {"task": ["g1", "g2"], "label": [0, 1], "task_type": ["all", "all"]}
    served = wb.AssignmentSession(
        crowd.tasks, make(gold), workers=3, preliminary=2, epsilon=0.3, gold_per_type=1
    )
    said = []
    for worker in ("ann", "bob", "cy"):
        cost = make({"task_type": ["all"], "cost": [1.0]})
        asked = served.arrive(worker, 3, cost=cost)
        while asked.kind != "nothing":
            said.append(asked)
            labels = {"task": list(asked.tasks), "label": [1] * len(asked.tasks)}
            asked = served.observe(worker, make(labels))
    return said, served.result()


def availability_of(crowd, workers):
    frame = to_pandas(crowd.availability)
    return crowd.make(columns(frame[frame["worker"].isin(crowd.names[:workers])]))


Crowd.availability_of = availability_of

CALLS = {
    "aggregate": lambda x: wb.aggregate(x.labels, truth=x.gold),
    "aggregate, weighted": lambda x: wb.aggregate(
        x.labels, method="weighted-linear", gold=x.gold, workers=x.workers
    ),
    "aggregate, a plan": lambda x: wb.aggregate(x.labels, plan=x.plan),
    "hire": lambda x: wb.hire(x.labels, x.gold, budget=3, costs=x.costs, money=4),
    "plan": lambda x: wb.plan(
        x.labels,
        x.gold,
        x.tasks,
        epsilon=0.3,
        capacity=x.capacity,
        costs=x.costs,
        availability=x.availability,
        have=x.have,
    ),
    "plan, skills": lambda x: wb.plan(
        tasks=x.make({"task": ["x0", "x1"]}), skills=x.skills, epsilon=0.3, capacity=x.capacity
    ),
    "learn": lambda x: wb.learn(x.labels, x.gold),
    "collect": lambda x: wb.collect(
        x.labels,
        x.gold,
        total=60,
        capacity=x.capacity,
        costs=x.costs,
        groups=x.groups,
        policy="until-sure",
        have=x.make({"task": ["q0"], "worker": ["w1"], "label": ["n"]}),
    ),
    "compare": lambda x: wb.compare(
        x.labels, x.gold, epsilon=0.4, task_types=x.kinds, costs=x.costs, capacity=x.capacity
    ),
    "check": lambda x: wb.check(x.labels, x.gold),
    "convert": lambda x: wb.convert(x.labels, "labels", gold=x.gold).content,
    "ladder": lambda x: wb.ladder(
        skills=x.skills, tasks=5, capacity=x.capacity, costs=x.costs, epsilon=0.3, trials=2
    ),
    "read_labels": lambda x: wb.read_labels(x.labels),
    "read_gold": lambda x: wb.read_gold(x.gold, x.labels),
    "Collector": rehearsed,
    "AssignmentSession": session,
}


def same(one, other):
    if isinstance(one, (pd.DataFrame, pd.Series)):
        return type(one) is type(other) and one.equals(other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.mark.parametrize("call", CALLS)
def test_every_library_gives_what_pandas_gives(call, labels, gold):
    known = CALLS[call](Crowd(labels, gold, pd.DataFrame))
    for library, make in LIBRARIES.items():
        assert same(CALLS[call](Crowd(labels, gold, make)), known), library
