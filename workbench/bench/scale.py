"""A million tasks and a hundred thousand workers: weights solved and certified, and the stream.

The sampled weights and the stream are Algorithm 2 of Ho, Jabbari, Vaughan (2013). Figures on
their own: nothing else is known to do the same.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from workbench.bench.measure import Sample, Size, peak_memory

if TYPE_CHECKING:
    from crowd_models import TypedProblem
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


def scale_time(size: Size) -> Sample:
    """Seconds to build a crowd of distinct workers, to solve for its task weights, to certify.

    Raises
    ------
    RuntimeError
        When the optimum is not proven: no figure is worth anything then.
    """
    seconds, last = [], None
    for repeat in range(min(size.repeats, 3)):
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


def run_scale(size: Size) -> None:
    """The same once, for the memory of its process."""
    _solved(size, size.seed)


def scale_peak(size: Size) -> Sample:
    """Peak memory of a process that builds, solves and certifies."""
    return Sample([peak_memory("scale", size)], [], "MB")


def stream_time(size: Size) -> Sample:
    """Microseconds a worker at all the tasks, beside a hundredth of them; equal tasks taken."""
    many, _, _ = _dimensions(size)
    few = max(many // 100, 10)
    here: list[float] = []
    there: list[float] = []
    taken = 0.0
    for repeat in range(size.repeats):
        for tasks, figures in ((many, here), (few, there)):
            each, taken = _stream_pace(size, tasks, size.seed + repeat)
            figures.append(each)
    return Sample(here, there, "µs", note=f"{taken:.0f} tasks a worker")


def run_stream(size: Size) -> None:
    """Algorithm 2 over the whole crowd once, for the memory of its process."""
    _streamed(size)


def stream_seconds(size: Size) -> Sample:
    """Seconds for the whole of Algorithm 2: the sample, its weights, and every worker's tasks."""
    started = time.perf_counter()
    labels = _streamed(size)
    return Sample([time.perf_counter() - started], [], note=f"{labels:,} labels asked for")


def stream_peak(size: Size) -> Sample:
    """Peak memory of a process that runs the whole of Algorithm 2."""
    return Sample([peak_memory("stream", size)], [], "MB")


def scale_crowd(size: Size, seed: int) -> TypedProblem:
    """Ten types, every worker a class of her own: skills uniform on [½, 1], ε = 0.01.

    About half the capacities bind: who is used at all is used up.
    """
    import numpy as np

    from crowd_models import TypedProblem, requirement

    tasks, workers, epsilon = _dimensions(size)
    rng = np.random.Generator(np.random.PCG64(seed))
    return TypedProblem(
        (2 * rng.uniform(0.5, 1.0, (TYPES, workers)) - 1) ** 2,
        _capacity(size, workers),
        requirement(epsilon),
        np.bincount(_classes(tasks), minlength=TYPES),
        np.ones(workers, dtype=np.int64),
    )


def _solved(size: Size, seed: int) -> Solution:
    from workbench.solving import solve

    solution = solve(scale_crowd(size, seed), "typed", method="cutting-planes", seed=seed)
    if solution.certificate.status != "proven":
        raise RuntimeError(f"the weights are {solution.certificate.status}: {solution.note}")
    return solution


def _streamed(size: Size) -> int:
    """Algorithm 2 over the whole crowd, sampled weights included; how many labels it asks for."""
    from workbench.assignment.adaptive import adaptive_assignment

    tasks, workers, _ = _dimensions(size)
    settings = _settings(size, workers)
    crowd = settings.workers + settings.preliminary
    correct, answered = _gold(size.seed, crowd)
    result = adaptive_assignment(
        correct, answered, _capacity(size, crowd), _classes(tasks), settings, seed=size.seed
    )
    return result.labels_task


def _stream_pace(size: Size, tasks: int, seed: int) -> tuple[float, float]:
    """Microseconds, and tasks taken, a worker, once the weights are known."""
    import numpy as np

    from workbench.assignment.adaptive import AdaptiveAssigner

    calls = 20 if size.workers < 100 else 5000
    settings = _settings(size, 1000)
    rng = np.random.Generator(np.random.PCG64(seed))
    assigner = AdaptiveAssigner(_classes(tasks), settings, seed=seed)
    # The sample's capacity grows with the tasks, so that the weights are those of one crowd.
    for skill in rng.uniform(0.5, 1.0, (settings.preliminary, TYPES)):
        assigner.sample(skill, max(1, tasks // 50))
    skills = rng.uniform(0.5, 1.0, (calls, TYPES))
    room = max(1, tasks // 1000) if size.workers < 100 else 100
    started = time.perf_counter()
    taken = sum(len(assigner.assign(skill, room)) for skill in skills)
    return 1e6 * (time.perf_counter() - started) / calls, taken / calls


def _dimensions(size: Size) -> tuple[int, int, float]:
    """Tasks, workers and ε; a smoke test's own tasks and workers, and what they can reach."""
    if size.workers < 100:
        return size.tasks, size.workers, 0.3
    return TASKS, WORKERS, 0.01


def _settings(size: Size, workers: int) -> AdaptiveSettings:
    from workbench.assignment.adaptive import AdaptiveSettings

    return AdaptiveSettings(_dimensions(size)[2], workers, max(1, round(SHARE * workers)))


def _capacity(size: Size, workers: int) -> IntArray:
    """M of each worker: enough for `LOAD` times the labels that perfect workers would need."""
    import numpy as np

    from crowd_models import requirement

    tasks, crowd, epsilon = _dimensions(size)
    each = LOAD * tasks * float(requirement(epsilon)) / crowd
    return np.full(workers, int(np.ceil(each)))


def _classes(tasks: int) -> IntArray:
    import numpy as np

    return np.arange(tasks) * TYPES // tasks


def _gold(seed: int, workers: int) -> tuple[IntArray, IntArray]:
    """Gold tasks right, and answered, by type and worker."""
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(seed))
    skill = rng.uniform(0.5, 1.0, (TYPES, workers))
    return rng.binomial(GOLD, skill), np.full(skill.shape, GOLD)
