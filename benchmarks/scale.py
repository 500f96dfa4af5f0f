"""A million tasks and a hundred thousand workers: weights solved and certified, and the stream.

The sampled weights and the stream are Algorithm 2 of Ho, Jabbari, Vaughan (2013). Figures on
their own: nothing else is known to do the same.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.crowds import by_class, kinds_of
from benchmarks.measure import BenchSize, Sample

if TYPE_CHECKING:
    from workbench.assignment.adaptive import AdaptiveSettings
    from workbench.base.arrays import IntArray
    from workbench.solving import Solution

TASKS, WORKERS, TYPES = 1_000_000, 100_000, 10
SHARE = 0.3
"""Workers sampled before the stream, for each worker of it: γ."""
GOLD = 20
"""Gold tasks by which each worker's skill in each type is estimated."""
LOAD = 2
"""Capacity of all workers together, as a multiple of the labels a perfect crowd would need."""


def scale_time(size: BenchSize) -> Sample:
    """Seconds to build a crowd of distinct workers, to solve for its task weights, to certify.

    Raises
    ------
    RuntimeError
        When the optimum is not proven: no figure is worth anything then.
    """
    seconds, last = [], None
    for repeat in range(size.few):
        started = time.perf_counter()
        last = _solved(size, size.seed + repeat)
        seconds.append(time.perf_counter() - started)
    assert last is not None
    assert last.bound is not None
    gap = 0.0 if last.gap is None else last.gap
    return Sample(
        seconds,
        [],
        note=f"certified: bound {last.bound:.10g}, gap {gap:.1e}, {len(last.history)} boxes",
    )


def run_scale(size: BenchSize) -> None:
    """The same once, for the memory of its process."""
    _solved(size, size.seed)


def stream_time(size: BenchSize) -> Sample:
    """Microseconds a worker at all the tasks, beside a hundredth of them; equal tasks taken."""
    many, _, _ = _dimensions(size)
    few = max(many // 100, 10)
    here, there, load = [], [], 0.0
    for repeat in range(size.repeats):
        pace, load = _stream_pace(size, many, size.seed + repeat)
        here.append(pace)
        pace, load = _stream_pace(size, few, size.seed + repeat)
        there.append(pace)
    return Sample(here, there, "µs", note=f"{load:.0f} tasks a worker")


def run_stream(size: BenchSize) -> None:
    """Algorithm 2 over the whole crowd once, for the memory of its process."""
    _streamed(size)


def stream_seconds(size: BenchSize) -> Sample:
    """Seconds for the whole of Algorithm 2: the sample, its weights, and every worker's tasks."""
    started = time.perf_counter()
    labels = _streamed(size)
    return Sample([time.perf_counter() - started], [], note=f"{labels:,} labels asked for")


def _solved(size: BenchSize, seed: int) -> Solution:
    """Ten types, every worker a class of her own: about half the capacities bind."""
    from workbench.solving import solve

    tasks, workers, epsilon = _dimensions(size)
    crowd = by_class(tasks, workers, TYPES, _capacity(size), epsilon, seed=seed)
    solution = solve(crowd, "typed", method="cutting-planes", seed=seed)
    if solution.certificate.status != "proven":
        raise RuntimeError(f"the weights are {solution.certificate.status}: {solution.note}")
    return solution


def _streamed(size: BenchSize) -> int:
    """Algorithm 2 over the whole crowd, sampled weights included; how many labels it asks for."""
    import numpy as np

    from workbench.assignment.adaptive import adaptive_assignment

    tasks, workers, _ = _dimensions(size)
    settings = _settings(size, workers)
    crowd = settings.workers + settings.preliminary
    correct, answered = _gold(size.seed, crowd)
    capacity = np.full(crowd, _capacity(size))
    result = adaptive_assignment(
        correct, answered, capacity, kinds_of(tasks, TYPES), settings, seed=size.seed
    )
    return result.labels_task


def _stream_pace(size: BenchSize, tasks: int, seed: int) -> tuple[float, float]:
    """Microseconds, and tasks taken, a worker, once the weights are known."""
    import numpy as np

    from workbench.assignment.adaptive import AdaptiveAssigner

    calls = 20 if not size.full else 5000
    settings = _settings(size, 1000)
    rng = np.random.Generator(np.random.PCG64(seed))
    assigner = AdaptiveAssigner(kinds_of(tasks, TYPES), settings, seed=seed)
    # The sample's capacity grows with the tasks, so that the weights are those of one crowd.
    for skill in rng.uniform(0.5, 1.0, (settings.preliminary, TYPES)):
        assigner.sample(skill, max(1, tasks // 50))
    skills = rng.uniform(0.5, 1.0, (calls, TYPES))
    room = max(1, tasks // 1000) if not size.full else 100
    started = time.perf_counter()
    load = sum(len(assigner.assign(skill, room)) for skill in skills)
    return 1e6 * (time.perf_counter() - started) / calls, load / calls


def _dimensions(size: BenchSize) -> tuple[int, int, float]:
    """Tasks, workers and ε; a smoke test's own tasks and workers, and what they can reach."""
    if not size.full:
        return size.tasks, size.workers, 0.3
    return TASKS, WORKERS, 0.01


def _settings(size: BenchSize, workers: int) -> AdaptiveSettings:
    from workbench.assignment.adaptive import AdaptiveSettings

    return AdaptiveSettings(_dimensions(size)[2], workers, max(1, round(SHARE * workers)))


def _capacity(size: BenchSize) -> int:
    """M of each worker: enough for `LOAD` times the labels that perfect workers would need."""
    import math

    from crowd_models import requirement

    tasks, crowd, epsilon = _dimensions(size)
    return math.ceil(LOAD * tasks * float(requirement(epsilon)) / crowd)


def _gold(seed: int, workers: int) -> tuple[IntArray, IntArray]:
    """Gold tasks right, and answered, by type and worker."""
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(seed))
    skill = rng.uniform(0.5, 1.0, (TYPES, workers))
    return rng.binomial(GOLD, skill), np.full(skill.shape, GOLD)
