"""One crowd, every method, one table: the protocol, for any number of classes.

An *instance* is a crowd and its tasks as every method meets them. A *market* is where labels of an
instance are bought: it holds what the methods share, the exact optimum and its bound above all. A
*method* buys labels on a market, with a random stream of its own; how they become answers stands
with the purchase. Whoever adds a method writes a function, and a line in the table of its number of
classes (`two_class_methods.METHODS`, `several_class_methods.METHODS`), which says what the method
promises and what it takes from gold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from workbench.accuracy.measured import MeasuredError, count_errors
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import generator
from workbench.comparison.rows import ComparisonRow, Promise, measured_figures, ratio
from workbench.comparison.several_classes import ComparedClasses
from workbench.comparison.two_classes import ComparedCrowd
from workbench.crowd.gold_rule import RuleLabels
from workbench.solving import Solution
from workbench.solving.joint.route import JointSolution

EVERYBODY = "all labels + majority"
"""Beside the methods, of recorded crowds: what is there without choosing anything."""
EXACT = "offline IP"
"""The method whose time is that of the market's optimum."""

Instance = ComparedCrowd | ComparedClasses
"""One crowd and its tasks, as every method meets them: of two classes, or of several."""


@dataclass(frozen=True)
class Prediction:
    """What is said of labels before anyone looks at them.

    Attributes
    ----------
    covered
        Tasks whose labels gather what is asked; None where nothing is asked.
    error_bound, error_exact
        As in `ComparisonRow`.
    """

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
        Turns the labels into answers to the instance's tasks; the random stream is for ties.
    predict
        What is predicted of them.
    gold
        Labels on gold tasks, by type and worker, shape (T, W); None for none.
    bound
        What no such method can cost less than, by the error measured; None for the market's bound.
    """

    task: IntArray
    worker: IntArray
    answer: Callable[[np.random.Generator], RuleLabels]
    predict: Callable[[], Prediction] = Prediction
    gold: IntArray | None = None
    bound: Callable[[float | None], float | None] | None = None


Buying: TypeAlias = Callable[[Any, np.random.SeedSequence], Purchase | ComparisonRow | None]
"""Buys labels on a market, None where it can buy none; or is a bound, and gives a whole row."""


@dataclass(frozen=True)
class Method:
    """A method that is compared.

    Attributes
    ----------
    buy
        What it does on a market.
    promise
        What it promises of the answers.
    gold
        What it takes from recorded gold: `none`, so that all gold can judge it; what it would take
        from any, so that each of the `folds` judges it by what the others tell; or `all`, and
        nothing is left to judge it.
    """

    buy: Buying
    promise: Promise
    gold: Literal["none", "folds", "all"]


def bound_row(solution: Solution | JointSolution) -> ComparisonRow:
    """Give a solution beside its own certified bound."""
    bound = solution.certificate.lower_bound
    return ComparisonRow(
        "",
        "bound",
        objective=solution.objective,
        lower_bound=bound,
        ratio=ratio(solution.objective, bound),
        seconds=solution.seconds,
    )


def measured(
    instance: Instance,
    answers: RuleLabels,
    by_fold: list[tuple[Instance, RuleLabels]] | None = None,
) -> MeasuredError:
    """Count the errors of answers on gold that they did not learn from.

    Which tasks have no answer is seen of the labels that were bought: a method whose purchase hangs
    on what gold it knows leaves others blank in each fold. The folds tell how often its answers are
    wrong.

    Parameters
    ----------
    answers
        To all tasks of the instance, by whatever gold is known there.
    by_fold
        The instance of each fold, and the answers there; None where gold plays no part.
    """
    right = _known(instance, answers)
    left = len(instance.tasks) - len(instance.judged)
    if by_fold is None:
        return count_errors(right.loss(instance.judged_truth), instance.judged, left)
    place = {name: at for at, name in enumerate(_judged_names(instance))}
    loss, changed = np.full((2, len(instance.judged)), np.nan)
    for fold, given in by_fold:
        at = np.array([place[name] for name in _judged_names(fold)], dtype=np.int64)
        without = _known(fold, given)
        loss[at] = without.loss(fold.judged_truth)
        moved = 0.5 * np.abs(without.chance - right.chance[at]).sum(axis=1)
        changed[at] = np.where(np.isnan(moved), 1.0, moved)
    loss, unstable = _as_answered(loss, changed, right.labelled)
    return count_errors(loss, instance.judged, left, unstable=unstable, folds=len(by_fold))


def _as_answered(
    loss: FloatArray, changed: FloatArray, answered: BoolArray
) -> tuple[FloatArray, float]:
    """Losses of what is answered, NaN of what is not, and the share of answers that change.

    Parameters
    ----------
    loss
        Of the folds' answers, NaN without one: it then counts as the others do in the mean, or as
        wrong where there are no others.
    changed
        By how much each answer changes where its own gold is not known, 1 where it goes.
    answered
        Which tasks are answered where all gold is known.
    """
    measured = answered & ~np.isnan(loss)
    typical = float(loss[measured].mean()) if measured.any() else 1.0
    kept = np.where(answered, np.where(np.isnan(loss), typical, loss), np.nan)
    unstable = float(np.where(answered, changed, 0.0).mean()) if len(loss) else 0.0
    return kept, unstable


def _known(instance: Instance, answers: RuleLabels) -> RuleLabels:
    """Answers to the tasks that are judged."""
    return RuleLabels(answers.chance[instance.judged])


def _judged_names(instance: Instance) -> list[Any]:
    names: list[Any] = instance.names[instance.judged].tolist()
    return names


def bought(
    name: str,
    promise: Promise,
    instance: Instance,
    purchase: Purchase,
    error: MeasuredError | None,
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
    said = purchase.predict()
    return ComparisonRow(
        name,
        promise,
        labels_gold=labels_gold,
        labels_task=float(labels),
        cost=objective + cost_gold,
        cost_gold=cost_gold,
        objective=objective,
        tasks_covered=None if said.covered is None else float(said.covered),
        error_bound=said.error_bound,
        error_exact=said.error_exact,
        **measured_figures(error, instance.correlation, labels / len(instance.tasks)),
    )


def everybody(instance: Instance, *, seed: np.random.SeedSequence) -> ComparisonRow:
    """All labels on record of the tasks, by majority: the plainest way, and the costliest.

    Raises
    ------
    InputError
        The crowd is simulated: nothing is on record.
    """
    task, worker = instance.on_record()
    answers = instance.by_majority(task, worker, generator(seed))
    purchase = Purchase(task, worker, lambda _: answers)
    return bought(EVERYBODY, "nothing", instance, purchase, measured(instance, answers))
