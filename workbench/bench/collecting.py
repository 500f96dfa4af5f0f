"""Label until sure: one ask and its answer, and a collection of a million labels in visits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from workbench.bench.measure import BenchSize, Sample

if TYPE_CHECKING:
    from workbench.collection.pool import Ledger
    from workbench.collection.sure import UntilSure

MILLION = 1_000_000


def step_time(size: BenchSize) -> Sample:
    """Milliseconds of one ask and one tell, 10⁴ tasks × 10³ workers, 20,000 labels given."""
    tasks, workers, labels, steps = (10_000, 1000, 20_000, 500) if size.full else (60, 20, 60, 10)
    ledger, policy = _collection(tasks, workers, 200, size.seed)
    _collect(ledger, policy, labels, size.seed)
    started = time.perf_counter()
    _collect(ledger, policy, labels + steps, size.seed + 1, most=1)
    each = 1e3 * (time.perf_counter() - started) / steps
    return Sample([each], [], "ms", f"mean of {steps} steps, refits included")


def million_time(size: BenchSize) -> Sample:
    """Seconds of 10⁶ labels, a visit at a time, 10⁵ tasks × 10³ workers."""
    tasks, workers, labels = (100_000, 1000, MILLION) if size.full else (60, 20, 100)
    ledger, policy = _collection(tasks, workers, 2000, size.seed)
    started = time.perf_counter()
    visits = _collect(ledger, policy, labels, size.seed)
    took = time.perf_counter() - started
    return Sample([took], [], "s", f"{len(ledger.labels):,} labels in {visits:,} visits")


def _collection(tasks: int, workers: int, capacity: int, seed: int) -> tuple[Ledger, UntilSure]:
    import numpy as np

    from workbench.base.checks import numbered
    from workbench.collection.policy import Goal
    from workbench.collection.pool import Ledger, Pool
    from workbench.collection.sure import UntilSure

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
    return ledger, UntilSure(ledger, Goal(0.005), seed)


def _collect(
    ledger: Ledger, policy: UntilSure, labels: int, seed: int, most: int | None = None
) -> int:
    """Ask until there are so many labels, of workers right with .6 to .8; how many visits."""
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(seed))
    skill = np.linspace(0.6, 0.8, len(ledger.left))
    visits = 0
    while len(ledger.labels) < labels and len(ask := policy.next(most=most)):
        right = rng.random(len(ask)) < skill[ask.worker]
        label = np.where(right, ask.task % 2, 1 - ask.task % 2)
        ledger.ask(ask)
        ledger.tell(ask, label)
        policy.told(ask, label)
        visits += 1
    return visits
