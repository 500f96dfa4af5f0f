"""How far labels agree, in words: α on the first screen, every coefficient in the details."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.accuracy.agreement import nearer_than_chance
from workbench.accuracy.independence import SHARED
from workbench.accuracy.krippendorff import Alpha
from workbench.api.objections import NAMED, Looked
from workbench.api.result import names, percent
from workbench.base.arrays import FloatArray
from workbench.base.text import counted
from workbench.crowd.gold_rule import some_votes
from workbench.crowd.kinds import Classes, Kind
from workbench.crowd.label_checks import abstentions, ratings
from workbench.crowd.votes import Votes

NUMBERS = 10
"""Different numbers among the classes, above which they are ratings, however they lie."""
LISTED = 100
"""Pairs of workers whose κ is in the JSON: those that share the most tasks."""


def agreeing(check: Looked) -> str:
    """Say how far labels agree: the share of pairs, and α."""
    found = check.agreement
    if found.pairwise is None:
        return "no task with two labels: α is not defined"
    said = f"{percent(found.pairwise, 3)} of pairs of labels agree, Krippendorff's α "
    if found.alpha is None or found.low is None or found.high is None:
        return f"{said}is not defined, as all are of one class"
    nominal = Alpha(found.alpha, found.low, found.high)
    tasks = counted(found.tasks, "task")
    said += f"{nominal.value:.3f} (95 % interval {_ends(nominal)} over {tasks})"
    if check.numbers is None or found.ordinal is None or found.interval is None:
        return said
    order = order_of(check.given.kind)
    if order is not None:
        by_order = f"{found.ordinal.value:.3f} ({_ends(found.ordinal)})"
        return f"{said}. By the order from {order[0]} to {order[-1]}, α (ordinal) is {by_order}"
    low, high = check.numbers
    given = "Classes read as ratings" if check.rated else "If the classes have an order"
    by_order, by_distance = (
        f"{each.value:.3f} ({_ends(each)})" for each in (found.ordinal, found.interval)
    )
    return (
        f"{said}. {given}, from {low:g} to {high:g}: α by order (ordinal) is {by_order}, by "
        f"distance (interval) {by_distance}"
    )


def coefficients(check: Looked) -> list[tuple[str, str]]:
    """How far labels agree, by all coefficients, and the shares of the classes in the gold."""
    fleiss, ac1 = (
        "not defined" if value is None else f"{value:.3f}"
        for value in (check.kappas.fleiss, check.kappas.ac1)
    )
    rows = [
        ("agreement", agreeing(check)),
        ("Fleiss' κ", f"{fleiss}; Gwet's AC1 {ac1}"),
        ("Cohen's κ", _pairs(check)),
    ]
    if check.prevalence:
        shares = sorted(check.prevalence.items(), key=lambda item: -item[1])
        rows.append(("gold", names([f"{name} {percent(share)}" for name, share in shares], NAMED)))
    return rows


def cohen(check: Looked) -> dict[str, Any]:
    """Cohen's κ in the mean, and of the pairs that share the most tasks, in plain types."""
    pairs = check.kappas.cohen
    most = np.argsort(-pairs.tasks, kind="stable")[:LISTED].tolist()
    return {
        "mean": pairs.mean,
        "of_pairs": len(pairs.kappa),
        "pairs": [
            {
                "workers": check.named((int(pairs.first[at]), int(pairs.second[at]))),
                "tasks": int(pairs.tasks[at]),
                "agree": float(pairs.agree[at]),
                "kappa": float(pairs.kappa[at]),
            }
            for at in most
        ],
    }


def _pairs(check: Looked) -> str:
    """Cohen's κ in the mean, and the least."""
    pairs = check.kappas.cohen
    if pairs.mean is None:
        return f"not defined: no two workers share {SHARED} tasks and name two classes there"
    least = int(np.nanargmin(pairs.kappa))
    both = names(check.named((int(pairs.first[least]), int(pairs.second[least]))), 2)
    among = ""
    if pairs.looked_at < len(check.workers):
        among = f", among the {pairs.looked_at} workers with the most labels"
    return (
        f"{pairs.mean:.3f} in the mean of {counted(len(pairs.kappa), 'pair')} of workers with "
        f"{SHARED} shared tasks or more{among}; least {pairs.kappa[least]:.3f}, of {both} on "
        f"{counted(int(pairs.tasks[least]), 'task')}"
    )


def _ends(alpha: Alpha) -> str:
    """The interval."""
    return f"{alpha.low:.3f} to {alpha.high:.3f}"


def order_of(kind: Kind) -> tuple[str, ...] | None:
    """Classes from the least to the greatest, where their user has ordered them."""
    return kind.order if isinstance(kind, Classes) else None


def numbers(votes: Votes) -> FloatArray | None:
    """Number of each class, NaN of an abstention, shape (L,); None where they have no order.

    Of classes that their user has ordered, the place in the order.
    """
    order = order_of(votes.kind)
    if order is not None:
        place = {name: float(at) for at, name in enumerate(order)}
        return np.array([place.get(name, np.nan) for name in votes.classes])
    mute = set(abstentions(map(str, votes.classes)))
    rows = np.flatnonzero([str(name) not in mute for name in votes.classes])
    given = ratings([str(votes.classes[at]) for at in rows])
    if given is None:
        return None
    value = np.full(len(votes.classes), np.nan)
    value[rows] = given
    return value


def rated(votes: Votes, value: FloatArray) -> bool:
    """Whether classes that are numbers read as ratings."""
    known = np.isfinite(value)
    if len(np.unique(value[known])) > NUMBERS:
        return True
    return nearer_than_chance(some_votes(votes, np.flatnonzero(known[votes.label])), value)
