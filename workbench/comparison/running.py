"""Run every method on one crowd, of two classes or of several."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.measured import MeasuredError
from workbench.assignment.weights import OnInfeasible
from workbench.base.errors import InputError
from workbench.base.seeds import generator
from workbench.base.text import guess
from workbench.comparison import (
    several_class_methods,
    several_classes,
    two_class_methods,
    two_classes,
)
from workbench.comparison.instances import RecordedOptions
from workbench.comparison.protocol import (
    Instance,
    Method,
    Purchase,
    bought,
    measured,
)
from workbench.comparison.rows import ComparisonRow, ratio
from workbench.crowd.gold_rule import RuleLabels


def methods(classes: int = 2) -> tuple[str, ...]:
    """Name the methods compared on labels of so many classes, in the order of the table."""
    return tuple(_room(classes).methods())


def known_methods(
    classes: int, asked: Sequence[str] | None = None
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Name the methods that can be compared on labels of so many classes, and say why others not.

    Parameters
    ----------
    asked
        Those that are wanted; None for all.

    Returns
    -------
    Names in the order of the table; the reason by name of each that cannot.

    Raises
    ------
    InputError
        A name of no method, or none that can.
    """
    there = methods(classes)
    every = dict.fromkeys([*there, *two_class_methods.methods(), *several_class_methods.methods()])
    wanted = set(every if asked is None else [asked] if isinstance(asked, str) else asked)
    for name in sorted(wanted - every.keys(), key=str):
        near = guess(name, every)
        raise InputError(f"no method {name!r:.60}: {near}there are {', '.join(every)}")
    reason = (
        f"made for labels of two classes, these have {classes}"
        if classes > 2
        else "made for labels of several classes"
    )
    absent = {name: reason for name in every if name in wanted and name not in there}
    chosen = tuple(name for name in there if name in wanted)
    if asked is None and classes == 2:
        absent = {}  # what several classes have of its own are the same methods by other names
    if not chosen:
        raise InputError(
            f"no method is left to compare: {', '.join(absent) or 'none'} "
            f"{'are' if len(absent) > 1 else 'is'} {reason}"
            if absent
            else "`methods` is empty: name one at least"
        )
    return chosen, absent


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
        Data that the methods are not made for (a single class, less than two gold tasks), a gain
        or an estimate that is for two classes where there are more, or no task that can be covered
        at this ε.
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
    chosen: Sequence[str] | None = None,
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
    chosen
        Names of the methods, in the order of `methods()`; None for all. Each has the random stream
        of its place, whichever are chosen.

    Yields
    ------
    ComparisonRow
        In that order. The lower bound is the integer program's, the same for every
        method that buys labels; bounds stand beside their own. Seconds are those on the whole
        instance, without the folds.
    """
    runs = _Runs(instance, seed, time_limit, on_infeasible)
    for name in runs.methods if chosen is None else chosen:
        yield runs.row(name)


def answered(
    instance: Instance,
    *,
    seed: np.random.SeedSequence,
    on_infeasible: OnInfeasible = "relax",
) -> Iterator[tuple[str, RuleLabels, MeasuredError | None]]:
    """Answer all tasks of an instance by every method that a buyer can choose, and measure.

    Parameters
    ----------
    seed, on_infeasible
        As `compare` has them: answers and errors are those of its rows.

    Yields
    ------
    Name of the method, its answers by all gold that is known, and what gold measures of them.
    """
    runs = _Runs(instance, seed, 20.0, on_infeasible)
    for name, method in runs.methods.items():
        if method.promise != "bound":
            result = runs.buy(name, runs.market)
            if isinstance(result, Purchase):
                given = runs.answer(name, result)
                yield name, given, runs.measured(name, given)


class _Runs:
    """Every method, on the whole instance and on its folds."""

    def __init__(
        self,
        instance: Instance,
        seed: np.random.SeedSequence,
        time_limit: float,
        on_infeasible: OnInfeasible,
    ) -> None:
        room: Any = _room(instance.classes)
        self.instance = instance
        self.methods: dict[str, Method] = room.methods()
        self.seeds = dict(zip(self.methods, seed.spawn(len(self.methods)), strict=True))
        self.ties = {name: seeds.spawn(1)[0] for name, seeds in self.seeds.items()}
        self.market, *self.folds = (
            room.open_market(
                part,
                seed=seed,
                seeds=self.seeds,
                time_limit=time_limit,
                on_infeasible=on_infeasible,
            )
            for part in (instance, *instance.folds)
        )

    def buy(self, name: str, market: Any) -> Purchase | ComparisonRow | None:
        """Let a method buy labels on a market."""
        return self.methods[name].buy(market, self.seeds[name])

    def answer(self, name: str, purchase: Purchase) -> RuleLabels:
        """Answer by what a method bought."""
        return purchase.answer(generator(self.ties[name]))

    def row(self, name: str) -> ComparisonRow:
        """A method's line."""
        method, market, started = self.methods[name], self.market, time.perf_counter()
        result = self.buy(name, market)
        if isinstance(result, ComparisonRow):
            return replace(result, method=name, promise=method.promise)
        if result is None:
            seconds = time.perf_counter() - started
            return ComparisonRow(name, method.promise, lower_bound=market.bound, seconds=seconds)
        given = self.answer(name, result)
        seconds = time.perf_counter() - started
        error = self.measured(name, given)
        row = bought(name, method.promise, self.instance, result, error)
        bound = market.bound if result.bound is None else result.bound(row.error_measured)
        return replace(row, lower_bound=bound, ratio=ratio(row.objective, bound), seconds=seconds)

    def measured(self, name: str, given: RuleLabels) -> MeasuredError | None:
        """Count errors on gold that a method did not see; None where it sees all.

        None, too, where it can buy no labels on a fold.
        """
        method, parts = self.methods[name], []
        if method.gold == "none" or not self.folds:
            return measured(self.instance, given)
        if method.gold == "all":
            return None
        for market in self.folds:
            result = self.buy(name, market)
            if not isinstance(result, Purchase):
                return None
            parts.append((market.instance, self.answer(name, result)))
        return measured(self.instance, given, parts)


def _room(classes: int) -> ModuleType:
    return two_class_methods if classes == 2 else several_class_methods
