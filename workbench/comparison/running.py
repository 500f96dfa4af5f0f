"""Run every method on one crowd, of two classes or of several."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from workbench.assignment.weights import OnInfeasible
from workbench.base.seeds import generator
from workbench.comparison import (
    several_class_methods,
    several_classes,
    two_class_methods,
    two_classes,
)
from workbench.comparison.instances import RecordedOptions
from workbench.comparison.protocol import EXACT, Instance, bought
from workbench.comparison.rows import ComparisonRow, ratio


def methods(classes: int = 2) -> tuple[str, ...]:
    """Name the methods compared on labels of so many classes, in the order of the table."""
    return tuple(_room(classes).methods())


def recorded(
    labels: pd.DataFrame,
    gold: pd.Series[Any],
    options: RecordedOptions,
    *,
    seed: np.random.SeedSequence,
) -> Instance:
    """Make an instance of recorded labels: what was never recorded cannot be assigned.

    Raises
    ------
    InputError
        Data that the methods are not made for (a single class, no gold), a gain or an estimate
        that is for two classes where there are more, or no task that can be covered at this ε.
    """
    if len({*labels["label"], *gold}) > 2:
        return several_classes.recorded(labels, gold, options, seed=seed)
    return two_classes.recorded(labels, gold, options, seed=seed)


def compare(
    instance: Instance,
    *,
    seed: np.random.SeedSequence,
    time_limit: float = 20.0,
    on_infeasible: OnInfeasible = "relax",
) -> Iterator[ComparisonRow]:
    """Run every method on one instance, a row at a time.

    Parameters
    ----------
    seed
        Of the methods; the instance has its own.
    time_limit
        Seconds for the integer program.
    on_infeasible
        What the adaptive algorithm does when its sample cannot cover the tasks.

    Yields
    ------
    ComparisonRow
        In the order of `methods()`. The lower bound is the integer program's, the same for every
        method that buys labels; bounds stand beside their own.
    """
    room: Any = _room(instance.classes)
    table = room.methods()
    seeds = dict(zip(table, seed.spawn(len(table)), strict=True))
    market = room.open_market(
        instance, seed=seed, seeds=seeds, time_limit=time_limit, on_infeasible=on_infeasible
    )
    for name, method in table.items():
        rng = generator(seeds[name].spawn(1)[0])
        started = time.perf_counter() - (market.exact.seconds if name == EXACT else 0.0)
        result = method(market, seeds[name])
        if isinstance(result, ComparisonRow):
            yield replace(result, method=name)
            continue
        row = ComparisonRow(name)
        if result is not None:
            row = bought(name, instance, result, result.answer(rng))
        yield replace(
            row,
            lower_bound=market.bound,
            ratio=ratio(row.objective, market.bound),
            seconds=time.perf_counter() - started,
        )


def _room(classes: int) -> ModuleType:
    return two_class_methods if classes == 2 else several_class_methods
