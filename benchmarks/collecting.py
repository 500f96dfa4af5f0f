"""Collections: one ask and its answer, the longest step, a start, a million labels in visits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.measure import BenchSize, Sample

if TYPE_CHECKING:
    from workbench.collection.policy import Policy
    from workbench.collection.pool import Ledger

MILLION = 1_000_000
EASY, SHARE = (1.0, 0.6, 0.3, 0.0), (0.5, 0.2, 0.2, 0.1)
"""How easy tasks are under until trusted, and how many are: its fits are dearest there."""


def step_time(size: BenchSize) -> Sample:
    """Milliseconds of one ask and one tell, 10⁴ tasks × 10³ workers, 100,000 labels given."""
    tasks, workers, labels, steps = (10_000, 1000, 100_000, 500) if size.full else (60, 20, 60, 10)
    ledger, asker = _collection(tasks, workers, 200, size.seed)
    _collect(ledger, asker, labels, size.seed)
    started = time.perf_counter()
    _collect(ledger, asker, labels + steps, size.seed + 1, most=1)
    each = 1e3 * (time.perf_counter() - started) / steps
    return Sample([each], [], "ms", f"mean of {steps} steps, refits included")


def trusted_longest_time(size: BenchSize) -> Sample:
    """Seconds of the longest ask under until trusted, 10⁴ tasks × 10³ workers, 10⁵ labels."""
    tasks, workers, labels = (10_000, 1000, 100_000) if size.full else (60, 20, 100)
    ledger, policy = _collection(tasks, workers, 200, size.seed)
    longest: list[float] = []
    visits = _collect(ledger, policy, labels, size.seed, longest=longest)
    return Sample([max(longest)], [], "s", f"of {visits:,} asks, a refit or a choice in some")


def trusted_start_time(size: BenchSize) -> Sample:
    """Seconds until the first question under until trusted, 10⁵ tasks × 10⁴ workers."""
    started = time.perf_counter()
    trusted_start(size)
    return Sample([time.perf_counter() - started], [], "s", "the table of pairs included")


def trusted_start(size: BenchSize) -> None:
    """Make a collection under until trusted, and ask once."""
    tasks, workers = (100_000, 10_000) if size.full else (60, 20)
    _, policy = _collection(tasks, workers, 200, size.seed)
    policy.next()


def million_time(size: BenchSize) -> Sample:
    """Seconds of 10⁶ labels, a visit at a time, 10⁵ tasks × 10³ workers."""
    tasks, workers, labels = (100_000, 1000, MILLION) if size.full else (60, 20, 100)
    ledger, policy = _collection(tasks, workers, 2000, size.seed)
    started = time.perf_counter()
    visits = _collect(ledger, policy, labels, size.seed)
    took = time.perf_counter() - started
    return Sample([took], [], "s", f"{len(ledger.labels):,} labels in {visits:,} visits")


def _collection(tasks: int, workers: int, capacity: int, seed: int) -> tuple[Ledger, Policy]:
    import numpy as np

    from workbench.base.checks import numbered
    from workbench.collection import POLICIES
    from workbench.collection.policy import Goal
    from workbench.collection.pool import Ledger, Pool

    pool = Pool(
        tasks=numbered("t", tasks),
        workers=numbered("w", workers),
        classes=np.arange(2),
        capacity=np.full(workers, capacity),
        price=np.ones((1, workers)),
        kind=np.zeros(tasks, dtype=np.int64),
        share=np.full(2, 0.5),
        gold=np.empty(0, dtype=np.int64),
        gold_kind=np.empty(0, dtype=np.int64),
    )
    ledger = Ledger(pool)
    return ledger, POLICIES["until-trusted"].call(ledger, Goal(0.005), seed)


def _collect(
    ledger: Ledger,
    policy: Policy,
    labels: int,
    seed: int,
    most: int | None = None,
    longest: list[float] | None = None,
) -> int:
    """Ask until there are so many labels, of workers right with .6 to .8; how many visits.

    `longest` takes the seconds of every ask, of tasks of unequal easiness.
    """
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(seed))
    skill = np.linspace(0.6, 0.8, len(ledger.left))
    even = longest is None
    ease = np.ones(len(ledger.counts)) if even else rng.choice(EASY, len(ledger.counts), p=SHARE)
    visits = 0
    while len(ledger.labels) < labels:
        started = time.perf_counter()
        ask = policy.next(most=most)
        if longest is not None:
            longest.append(time.perf_counter() - started)
        if not len(ask):
            break
        chance = 0.5 + ease[ask.task] * (skill[ask.worker] - 0.5)
        right = rng.random(len(ask)) < chance
        label = np.where(right, ask.task % 2, 1 - ask.task % 2)
        ledger.ask(ask)
        ledger.tell(ask, label)
        policy.told(ask, label)
        visits += 1
    return visits
