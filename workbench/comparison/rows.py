"""A line of the comparison's table, one for any number of classes (floor 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import pandas as pd

from workbench.accuracy.independence import ErrorCorrelation
from workbench.accuracy.measured import error_interval
from workbench.base.arrays import FloatArray


@dataclass(frozen=True)
class ComparisonRow:
    """One method's line in the table; None where a figure has no meaning for it.

    Attributes
    ----------
    labels_gold, labels_task
        Labels bought on gold tasks and on real tasks.
    cost, cost_gold, objective
        Price of all of them, of those on gold tasks and of those on real tasks. A gold label is
        bought like any other: at its worker's price for a task of its type.
    lower_bound, ratio
        Proven lower bound on the cost of covering every task, and objective / bound.
    tasks_covered
        Tasks whose labels gather what is asked, by the crowd's (true) skills.
    error_bound, error_exact
        Mean over tasks of a bound, and of the exact error of the vote. Of two classes the bound is
        the gain's where the vote is by the (true) skills, otherwise Lemma 1's, for any weights; of
        several it is the sum over pairs of classes.
    error_measured, error_se
        Share of wrong labels on tasks with known truth, ties as a half; its standard error.
    error_low, error_high
        90 % interval of that share among any number of further tasks.
    tasks_measured
        Tasks with known truth.
    effective_workers
        Independent workers that those who label a task are worth, by how errors on gold go
        together; None on simulated crowds.
    """

    method: str
    labels_gold: float | None = None
    labels_task: float | None = None
    cost: float | None = None
    cost_gold: float | None = None
    objective: float | None = None
    lower_bound: float | None = None
    ratio: float | None = None
    tasks_covered: float | None = None
    error_bound: float | None = None
    error_exact: float | None = None
    error_measured: float | None = None
    error_se: float | None = None
    error_low: float | None = None
    error_high: float | None = None
    tasks_measured: float | None = None
    effective_workers: float | None = None
    seconds: float | None = None


COLUMNS = tuple(field.name for field in fields(ComparisonRow))


def ratio(objective: float | None, bound: float | None) -> float | None:
    """Give objective / bound, None where there is no bound above 0."""
    return None if objective is None or not bound else objective / bound


def measured_on_gold(
    wrong: FloatArray, correlation: ErrorCorrelation | None, voters: float
) -> dict[str, float | None]:
    """Give the measured figures of a row.

    Parameters
    ----------
    wrong
        Chance over ties of a wrong label, of each task with known truth.
    correlation, voters
        How errors go together, and workers a task.
    """
    tasks = len(wrong)
    low, high = error_interval(float(wrong.sum()), tasks, None) if tasks else (None, None)
    return {
        "error_measured": float(wrong.mean()) if tasks else None,
        "error_se": float(wrong.std(ddof=1) / math.sqrt(tasks)) if tasks > 1 else None,
        "error_low": low,
        "error_high": high,
        "tasks_measured": float(tasks),
        "effective_workers": None if correlation is None else correlation.effective(voters),
    }


def summarise(trials: pd.DataFrame) -> pd.DataFrame:
    """Mean of each figure over trials, by method; the error's standard error across trials.

    Parameters
    ----------
    trials
        One row a trial and method: column `trial` and those of `ComparisonRow`.

    Returns
    -------
    DataFrame
        Columns of `ComparisonRow` and `trials`, the methods in order.
    """
    groups = trials.groupby("method", sort=False)
    table = groups[list(COLUMNS[1:])].mean()
    if len(set(trials["trial"])) > 1:
        table["error_se"] = groups["error_measured"].sem()
    table["trials"] = groups.size()
    return table.reset_index()
