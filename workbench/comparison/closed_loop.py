"""Those who look at labels as they come, beside what they must pay: two classes."""

from __future__ import annotations

import math
import time

import numpy as np

from workbench.base.arrays import FloatArray
from workbench.base.seeds import generator
from workbench.collection.answers import Answers, rehearse
from workbench.collection.policy import Goal
from workbench.collection.pool import Pool
from workbench.collection.trusted import UntilTrusted
from workbench.comparison.protocol import Purchase
from workbench.comparison.rows import ComparisonRow, ratio
from workbench.comparison.two_classes import ComparedCrowd
from workbench.crowd.gold_rule import RuleLabels
from workbench.crowd.simulate import SimulatedLabels
from workbench.crowd.votes import TIE
from workbench.solving.information import information_limit


def label_until_sure(instance: ComparedCrowd, seed: np.random.SeedSequence) -> Purchase:
    """Close the loop: labels are looked at as they come, and no gold is asked.

    It covers nothing beforehand; its bound is the information limit at its measured error, where
    the true skills are known.
    """
    workers = instance.main
    n, m = len(instance.tasks), len(workers)
    mask = instance.available(workers)
    task, place = np.nonzero(np.ones((n, m), dtype=bool) if mask is None else mask)
    label = np.full((n, m), -1, dtype=np.int64)
    label[task, place] = instance.source.labels(instance.tasks[task], workers[place])
    nobody = np.empty(0, dtype=np.int64)
    pool = Pool(
        tasks=np.arange(n),
        workers=np.arange(m),
        classes=instance.source.classes,
        capacity=instance.capacity[workers],
        price=np.ones((len(instance.skill), m))
        if instance.price is None
        else instance.price[:, workers],
        kind=instance.kinds,
        share=np.full(2, 0.5),
        gold=nobody,
        gold_kind=nobody,
        available=mask,
    )
    run = rehearse(
        UntilTrusted,
        pool,
        Answers(label, np.empty((0, m), dtype=np.int64), np.full(n, -1)),
        Goal(instance.epsilon),
        arrivals=np.arange(m),
        seed=int(generator(seed).integers(2**32)),
    )
    asked, by = run.ledger.labels[:, 0], workers[run.ledger.labels[:, 1]]

    def answer(_: np.random.Generator) -> RuleLabels:
        likely = run.belief.posterior
        chosen = likely >= likely.max(axis=1, keepdims=True) - TIE
        chance: FloatArray = chosen / chosen.sum(axis=1, keepdims=True)
        chance[np.bincount(asked, minlength=n) == 0] = np.nan
        return RuleLabels(chance)

    def bound(error: float | None) -> float | None:
        least = 0.5 / (len(instance.judged) + 1)
        return None if error is None else _limit(instance, max(error, least))

    return Purchase(asked, by, answer, bound=bound)


def information_limit_row(instance: ComparedCrowd, _: np.random.SeedSequence) -> ComparisonRow:
    """Give what every policy of mean error ε pays at least, in expectation."""
    started = time.perf_counter()
    limit = _limit(instance, instance.epsilon)
    return ComparisonRow(
        "information limit",
        "bound",
        objective=limit,
        lower_bound=limit,
        ratio=ratio(limit, limit),
        seconds=time.perf_counter() - started,
    )


def _limit(instance: ComparedCrowd, error: float) -> float | None:
    """The limit at a mean error; None where skills are not known, or where there is none."""
    if not isinstance(instance.source, SimulatedLabels):
        return None
    price = None if instance.price is None else instance.price[:, instance.main]
    value = information_limit(
        instance.skill[:, instance.main],
        capacity=instance.capacity[instance.main],
        tasks=np.bincount(instance.kinds, minlength=len(instance.skill)),
        epsilon=min(error, 0.5),
        cost=price,
        average=True,
    ).value
    return float(value) if math.isfinite(value) else None
