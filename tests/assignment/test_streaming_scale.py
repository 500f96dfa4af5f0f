"""The stream at a million tasks: the same draws as ever, fair, and never a list of all tasks."""

import tracemalloc

import numpy as np

from workbench.assignment.adaptive import AdaptiveAssigner, AdaptiveSettings

TYPES = 3


def assigner(tasks, *, preliminary=40, room=None, seed=1):
    """With its weights worked out; the sample's capacity grows with the tasks."""
    made = AdaptiveAssigner(
        np.arange(tasks) % TYPES,
        AdaptiveSettings(0.1, workers=2 * preliminary, preliminary=preliminary),
        seed=seed,
    )
    for skill in np.random.default_rng(3).uniform(0.5, 1, (preliminary, TYPES)):
        made.sample(skill, tasks // 3 if room is None else room)
    return made


def test_a_worker_costs_what_she_takes():
    """Memory touched by one call: the same at 3,000 tasks as at 300,000, and no list of them."""
    peaks = {}
    for tasks in (3_000, 300_000):
        made = assigner(tasks)
        skill = np.full(TYPES, 0.95)
        made.assign(skill, 50)
        tracemalloc.start()
        try:
            for _ in range(20):
                assert len(made.assign(skill, 50)) == 50
            peaks[tasks] = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peaks[300_000] < 1.5 * peaks[3_000] + 5_000
    assert peaks[300_000] < 50_000  # 300,000 tasks are 2.4 MB


def test_a_million_tasks_held_in_a_few_arrays():
    """O(n) memory: weights, types and groups, 8 bytes a task each."""
    tracemalloc.start()
    try:
        made = assigner(1_000_000)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000 * 8 * 4
    assert peak < 1_000_000 * 8 * 12
    assert len(made.assign(np.full(TYPES, 0.95), 1000)) == 1000
