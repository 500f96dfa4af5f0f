"""Recorded crowds whose gold is parted 1 : 4, and what a command's interval is held to.

A command sees a fifth of the gold and says an interval of the error; the rest of the gold, which
nobody has seen, says what was made. With halves even a right interval of a rate would hold in some
70 %: both halves vary. A row of `ROWS` is a way in: it takes labels, the gold given, the rest and
a seed, and gives for each error on the screen the ends of its interval and the share of wrong
answers on the rest, where a task without an answer is wrong; nothing where nothing is stated.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

import workbench as wb
from tests.core.laws import measured_compare, measured_hire
from workbench.base.seeds import stream

CROWDS = (
    "bluebird",
    "face",
    "music_genre",
    "product",
    "rte",
    "sentence_polarity",
    "sentiment",
    "sp_amt",
    "weather_amt",
    "web",
    "zencrowd_us",
)
"""Data sets in use with 100 gold tasks or more."""
SEEDS = (0, 1, 2)
GIVEN, MOST_GIVEN = 0.2, 100
"""Share of the gold that is given, and tasks of it at most."""
EVERYTHING = "WORKBENCH_LAWS" in os.environ
"""Whether every crowd and seed is tried: before a release."""
FEW_CROWDS, FEW_SEEDS = ("bluebird", "face", "rte", "weather_amt"), (0,)
"""What is tried otherwise."""


class Parted(NamedTuple):
    """A recorded crowd: its labels, the gold that is given, and the rest of it."""

    labels: pd.DataFrame
    given: pd.Series
    rest: pd.Series


class Held(NamedTuple):
    """An interval said, and the error made on the rest."""

    crowd: str
    seed: int
    low: float
    high: float
    made: float

    @property
    def holds(self):
        """Whether the error made lies in the interval, but for rounding."""
        return self.low - 1e-9 <= self.made <= self.high + 1e-9


Row = Callable[[pd.DataFrame, pd.Series, pd.Series, int], list[tuple[float, float, float]]]


def part(name, seed, row=""):
    """Part a crowd's gold 1 : 4, at random, otherwise for each way in: no draw counts for all."""
    labels, gold = wb.load(name)
    order = stream(seed, f"laws {name} {row}").permutation(len(gold))
    many = min(round(GIVEN * len(gold)), MOST_GIVEN)
    return Parted(labels, gold.iloc[order[:many]], gold.iloc[order[many:]])


def wrong_on_rest(answers, rest):
    """Share of the rest on which an answer by task is wrong or missing."""
    said = answers.reindex(rest.index)
    return float(np.mean(said.isna().to_numpy() | (said.to_numpy() != rest.to_numpy())))


def held(name):
    """Hold a row, by its name, to every crowd and seed that is tried."""
    crowds = CROWDS if EVERYTHING else FEW_CROWDS
    seeds = SEEDS if EVERYTHING else FEW_SEEDS
    return [
        Held(crowd, seed, *judged)
        for crowd in crowds
        for seed in seeds
        for judged in ROWS[name](*part(crowd, seed, name), seed)
    ]


def aggregate(labels, given, rest, seed):
    """The method that the gold prefers."""
    found = wb.aggregate(labels, gold=given, seed=seed)
    low, high = found.to_dict()["error_interval"]
    return [(low, high, wrong_on_rest(found.labels, rest))]


def hire(labels, given, rest, seed):
    """Five workers, and the vote that the screen's next step casts."""
    found = measured_hire.hire(labels, given, rest, seed)
    return [] if found is None else [found]


def plan(labels, given, rest, seed):
    """A plan at the first of a few ε that some plan keeps, with whoever labelled the rest."""
    found = measured_hire.plan(labels, given, rest, seed)
    return [] if found is None else [found]


def compare(labels, given, rest, seed):
    """Every method that can be bought, on the tasks that are kept."""
    judged = measured_compare.draws(labels, given, rest, seed)
    return [(entry.low, entry.high, entry.made) for entry in judged]


def collect(labels, given, rest, seed):
    """Half of the labels on record at most, by the default policy: all tasks."""
    found = wb.collect(labels, given, total=len(labels) // 2, seed=seed)
    low, high = found.to_dict()["error_interval"]
    return [(low, high, wrong_on_rest(found.answers.set_index("task")["label"], rest))]


def collect_closed(labels, given, rest, seed):
    """Until each task errs on a tenth at most, with hidden tasks: the closed ones."""
    hidden = wb.KnownTasks(hidden=0.3)
    found = wb.collect(labels, given, epsilon=0.1, known=hidden, seed=seed)
    told, answers = found.to_dict()["measured_closed"], found.answers.set_index("task")
    closed = rest[answers["closed"].reindex(rest.index).to_numpy(dtype=bool)]
    if told is None or not len(closed):
        return []
    return [(*told["error_interval"], wrong_on_rest(answers["label"], closed))]


def learn(labels, given, rest, seed):
    """Every task in the order of the file, by the default policy."""
    found = wb.learn(labels, given, seed=seed)
    low, high = found.to_dict()["error_interval"]
    steps = found.steps.set_index("task")
    return [(low, high, wrong_on_rest(steps["label"].where(steps["received"] > 0), rest))]


ROWS: dict[str, Row] = {
    "aggregate": aggregate,
    "hire": hire,
    "plan": plan,
    "compare": compare,
    "collect": collect,
    "collect, closed": collect_closed,
    "learn": learn,
}
"""The ways in that say "measured"."""
