"""Ratios of online policies to the proven optimum: played, gathered, summed up.

Every policy meets the same problems, orders and samples. Orders of one problem share its luck, so
intervals are over problems where there are several, each with the mean of its orders; over orders
where there is one problem.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.base.errors import InputError
from workbench.comparison.arrivals import Optimum, Order, ProblemArrivals, optimum
from workbench.comparison.pooled import Processes
from workbench.studies import means, paired_differences

CHUNK = 10
"""Orders of arrival that a process plays at a time."""
MEASURES = ("ratio", "covered")


class RatioRuns(NamedTuple):
    """What was played.

    Attributes
    ----------
    plays
        A row a problem, trial and method: `cost`, `labels`, `covered`, and `ratio`, cost over what
        is proven of the optimum.
    optima
        A row a problem: `tasks`, `workers`, `cost`, `bound`, `proven`.
    left_out
        By number of the problem, why nothing can be compared with it.
    """

    plays: pd.DataFrame
    optima: pd.DataFrame
    left_out: dict[int, str]


def play_all(
    problems: Sequence[ProblemArrivals],
    methods: Sequence[str],
    *,
    trials: int,
    gamma: float,
    time_limit: float,
    seed: int,
    processes: Processes,
    done: Callable[[int, int], None],
) -> RatioRuns:
    """Solve every problem, and let every policy play every order of arrival.

    Parameters
    ----------
    done
        Is called with how many of how many orders are done; problems that are solved count as one
        each.

    Raises
    ------
    InputError
        Nothing can be compared on any problem; a policy fails.
    """
    total = len(problems) * (1 + trials)
    ended, found = 0, {}
    done(0, total)
    for at, best in processes.each(optimum, ((each.problem, time_limit) for each in problems)):
        found[at] = best
        ended += 1
        done(ended, total)
    left_out = {at: found[at] for at in sorted(found) if isinstance(found[at], str)}
    if len(left_out) == len(problems):
        raise InputError(f"no problem can be compared on: of the first, {left_out[0]}")
    ended += len(left_out) * trials
    jobs = list(_jobs(problems, methods, trials, gamma, seed, left_out))
    parts: dict[int, pd.DataFrame] = {}
    for at, played in processes.each(_played, jobs):
        parts[at] = played
        ended += len(jobs[at][2])
        done(ended, total)
    plays = pd.concat([parts[at] for at in sorted(parts)], ignore_index=True)
    optima = _optima(problems, {at: best for at, best in found.items() if at not in left_out})
    plays["ratio"] = plays["cost"] / plays["problem"].map(optima.set_index("problem")["bound"])
    return RatioRuns(plays, optima, left_out)


def summed_up(plays: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """A row a method: mean ratio, share covered, and differences to the first method, in pairs.

    Parameters
    ----------
    plays
        As `RatioRuns` has them.
    methods
        In the order of the table; the first is the one that the others are compared with.

    Returns
    -------
    DataFrame
        Columns `method, runs`; `ratio, ratio_low, ratio_high, ratio_worst`, and the same of
        `covered`, with `covered_least`; `all_covered`, the share of runs that cover every task;
        `ratio_more, ratio_more_low, ratio_more_high` and the same of `covered`, above the first
        method's. Intervals are of 95 %.
    """
    units = by_unit(plays)
    groups = plays.groupby("method", sort=False)
    table = pd.DataFrame({"runs": groups.size()})
    for measure in MEASURES:
        mean = means(units, ["method"], measure).set_index("method")
        table[measure] = mean["mean"]
        most = 1.0 if measure == "covered" else np.inf  # Student's interval knows no share
        for end in ("low", "high"):
            table[f"{measure}_{end}"] = mean[end].clip(0.0, most)
    table["ratio_worst"] = groups["ratio"].max()
    table["covered_least"] = groups["covered"].min()
    table["all_covered"] = (plays["covered"] == 1).groupby(plays["method"], sort=False).mean()
    for measure in MEASURES:
        pairs = paired_differences(units, method="method", reference=methods[0], value=measure)
        pairs = pairs.set_index("method")
        for name, column in (("", "mean"), ("_low", "low"), ("_high", "high")):
            table[f"{measure}_more{name}"] = pairs[column].reindex(table.index)
    return table.reindex(list(methods)).reset_index(names="method")


def by_unit(plays: pd.DataFrame) -> pd.DataFrame:
    """Independent values, each under its `repetition`: problems, or the orders of a single one."""
    if (plays["problem"] == plays["problem"].iloc[0]).all():
        return plays.rename(columns={"trial": "repetition"})
    groups = plays.groupby(["problem", "method"], sort=False)
    return groups[list(MEASURES)].mean().reset_index().rename(columns={"problem": "repetition"})


def _jobs(
    problems: Sequence[ProblemArrivals],
    methods: Sequence[str],
    trials: int,
    gamma: float,
    seed: int,
    left_out: Container[int],
) -> Iterator[tuple[ProblemArrivals, tuple[str, ...], list[Order]]]:
    for number, arrivals in enumerate(problems):
        if number not in left_out:
            for first in range(0, trials, CHUNK):
                chunk = range(first, min(first + CHUNK, trials))
                yield arrivals, tuple(methods), [Order(seed, number, at, gamma) for at in chunk]


def _played(
    arrivals: ProblemArrivals, methods: Sequence[str], orders: Sequence[Order]
) -> pd.DataFrame:
    """Let every policy play some orders of one problem."""
    return pd.DataFrame(
        {
            "problem": order.problem,
            "trial": order.trial,
            "method": name,
            **arrivals.play(name, order)._asdict(),
        }
        for order in orders
        for name in methods
    )


def _optima(problems: Sequence[ProblemArrivals], found: dict[int, Optimum]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "problem": at,
            "tasks": problems[at].problem.shape[0],
            "workers": problems[at].problem.shape[1],
            **found[at]._asdict(),
        }
        for at in sorted(found)
    )
