"""A line of the comparison's table, one for any number of classes (floor 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

import pandas as pd

from workbench.accuracy.independence import ErrorCorrelation
from workbench.accuracy.measured import MeasuredError

Promise: TypeAlias = Literal["each task", "nothing", "bound"]
"""What a method promises: ε on each task, or nothing of the error; or it is a bound.

A bound sees what no buyer can (true skills, or all gold), and is not a way to buy labels.
"""


@dataclass(frozen=True)
class ComparisonRow:
    """One method's line in the table; None where a figure has no meaning for it.

    Attributes
    ----------
    promise
        See `Promise`.
    labels_gold, labels_task
        Labels bought on gold tasks and on real tasks.
    cost, cost_gold, objective
        Price of all of them, of those on gold tasks and of those on real tasks. A gold label is
        bought like any other: at its worker's price for a task of its type.
    lower_bound, ratio
        Proven lower bound on the cost of covering every task, and objective / bound.
    tasks_covered
        Tasks whose labels gather what is asked, by the crowd's skills: true ones, or those that all
        gold tells.
    error_bound, error_exact
        Mean over tasks of a bound, and of the exact error of the vote. Of two classes the bound is
        the gain's where the vote is by the (true) skills, otherwise Lemma 1's, for any weights; of
        several it is the sum over pairs of classes.
    error_measured, error_se
        Share of wrong or missing answers on tasks with known truth, ties by their share; its
        standard error. On recorded labels answers are judged by folds: no gold judges what was
        learnt from it. Which tasks have no answer is seen of the labels bought.
    error_low, error_high
        90 % interval of that share among the tasks without gold, or any number of further ones.
    tasks_measured, blank
        Tasks with known truth, and how many of these have no answer.
    effective_workers
        Independent workers that those who label a task are worth, by how errors on gold go
        together; None on simulated crowds.
    """

    method: str
    promise: Promise = "each task"
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
    blank: float | None = None
    effective_workers: float | None = None
    seconds: float | None = None


COLUMNS = tuple(field.name for field in fields(ComparisonRow))


def ratio(objective: float | None, bound: float | None) -> float | None:
    """Give objective / bound, None where there is no bound above 0."""
    return None if objective is None or not bound else objective / bound


def measured_figures(
    error: MeasuredError | None, correlation: ErrorCorrelation | None, voters: float
) -> dict[str, float | None]:
    """Give the measured figures of a row.

    Parameters
    ----------
    error
        None where there is no gold to judge the answers.
    correlation, voters
        How errors go together, and workers a task.
    """
    figures = {"effective_workers": None if correlation is None else correlation.effective(voters)}
    if error is None or not error.tasks_measured:
        return figures
    low, high = error.error_interval
    many = error.tasks_measured
    return {
        **figures,
        "error_measured": error.error_measured,
        "error_se": float(error.loss.std(ddof=1) / math.sqrt(many)) if many > 1 else None,
        "error_low": low,
        "error_high": high,
        "tasks_measured": float(many),
        "blank": float(error.blank),
    }


def summarise(trials: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """Mean of each figure over trials, by method; the error's standard error across trials.

    Parameters
    ----------
    trials
        One row a trial and method: column `trial` and those of `ComparisonRow`.
    epsilon
        ε, the error asked for.

    Returns
    -------
    DataFrame
        Columns of `ComparisonRow`, and `trials` and `kept`, the methods in order. `kept` says of
        what is no bound whether all of the interval is at most ε (`kept`), above it (`missed`), or
        neither (`open`).
    """
    groups = trials.groupby("method", sort=False)
    table = groups[list(COLUMNS[2:])].mean()
    if len(set(trials["trial"])) > 1:
        table["error_se"] = groups["error_measured"].sem()
    table.insert(0, "promise", groups["promise"].first())
    table["kept"] = "open"
    table.loc[table["error_high"] <= epsilon, "kept"] = "kept"
    table.loc[table["error_low"] > epsilon, "kept"] = "missed"
    judged = table["error_measured"].notna() & (table["promise"] != "bound")
    table["kept"] = table["kept"].astype(object).where(judged, None)
    table["trials"] = groups.size()
    return table.reset_index()
