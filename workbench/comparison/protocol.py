"""One crowd, every method, one table: the protocol, for any number of classes.

An *instance* is a crowd and its tasks as every method meets them. A *market* is where labels of an
instance are bought: it holds what the methods share, the exact optimum and its bound above all. A
*method* is a function of a market and a random stream that buys labels; how they become answers
stands with the purchase. Whoever adds a method writes that function, and a line in the table of
its number of classes (`two_class_methods.METHODS`, `several_class_methods.METHODS`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import generator
from workbench.comparison.rows import ComparisonRow, measured_on_gold, ratio
from workbench.comparison.several_classes import ComparedClasses
from workbench.comparison.two_classes import ComparedCrowd
from workbench.solving import Solution
from workbench.solving.joint.route import JointSolution

EVERYBODY = "all labels + majority"
"""Beside the methods, of recorded crowds: what is there without choosing anything."""


Instance = ComparedCrowd | ComparedClasses
"""One crowd and its tasks, as every method meets them: of two classes, or of several."""


@dataclass(frozen=True, eq=False)
class AnswerQuality:
    """How right the answers are.

    Attributes
    ----------
    wrong
        Chance over ties of a wrong answer, of each task with known truth.
    covered
        Tasks whose labels gather what is asked; None where nothing is asked.
    error_bound, error_exact
        As in `ComparisonRow`.
    """

    wrong: FloatArray
    covered: int | None = None
    error_bound: float | None = None
    error_exact: float | None = None


@dataclass(frozen=True, eq=False)
class Purchase:
    """Labels that a method bought, and how they become answers.

    Attributes
    ----------
    task, worker
        Who labels what: index into the instance's tasks, and worker.
    answer
        Turns the labels into answers; the random stream is for ties.
    gold
        Labels on gold tasks, by type and worker, shape (T, W); None for none.
    """

    task: IntArray
    worker: IntArray
    answer: Callable[[np.random.Generator], AnswerQuality]
    gold: IntArray | None = None


Method = Callable[[Any, np.random.SeedSequence], Purchase | ComparisonRow | None]
"""Buys labels on a market, None where it can buy none; or is a bound, and gives a whole row."""
EXACT = "offline IP"
"""The method whose time is that of the market's optimum."""


def bound_row(solution: Solution | JointSolution) -> ComparisonRow:
    """Give a solution beside its own certified bound."""
    bound = solution.certificate.lower_bound
    return ComparisonRow(
        "",
        objective=solution.objective,
        lower_bound=bound,
        ratio=ratio(solution.objective, bound),
        seconds=solution.seconds,
    )


def bought(
    method: str, instance: Instance, purchase: Purchase, outcome: AnswerQuality
) -> ComparisonRow:
    """Say what was bought and how right it is: cost, cover, predicted and measured error."""
    labels = len(purchase.task)
    objective, cost_gold, labels_gold = float(labels), 0.0, 0.0
    if instance.price is not None:
        prices = instance.price[instance.kinds[purchase.task], purchase.worker]
        objective = float(prices.sum())
    if purchase.gold is not None:
        price = 1.0 if instance.price is None else instance.price
        labels_gold, cost_gold = float(purchase.gold.sum()), float((price * purchase.gold).sum())
    return ComparisonRow(
        method,
        labels_gold=labels_gold,
        labels_task=float(labels),
        cost=objective + cost_gold,
        cost_gold=cost_gold,
        objective=objective,
        tasks_covered=None if outcome.covered is None else float(outcome.covered),
        error_bound=outcome.error_bound,
        error_exact=outcome.error_exact,
        **measured_on_gold(outcome.wrong, instance.correlation, labels / len(instance.tasks)),
    )


def everybody(instance: Instance, *, seed: np.random.SeedSequence) -> ComparisonRow:
    """All labels on record of the tasks, by majority: the plainest way, and the dearest.

    Raises
    ------
    InputError
        The crowd is simulated: nothing is on record.
    """
    task, worker = instance.on_record()

    def answer(rng: np.random.Generator) -> AnswerQuality:
        return AnswerQuality(instance.majority_wrong(task, worker, rng))

    purchase = Purchase(task, worker, answer)
    return bought(EVERYBODY, instance, purchase, answer(generator(seed)))
