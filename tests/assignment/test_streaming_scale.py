"""The stream at a million tasks: the same draws as ever, fair, and never a list of all tasks."""

import tracemalloc

import numpy as np
import pytest

from workbench.assignment.adaptive import AdaptiveAssigner, AdaptiveSettings
from workbench.assignment.primal import best_of_groups, best_tasks

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


@pytest.mark.parametrize("room", [30, 900])
def test_the_cut_group_is_drawn_fairly(room):
    """Every task of the cut group as often as every other, and each pair: few drawn and many.

    The group of 12,000 is large enough for NumPy to change its way of drawing with `room`.
    """
    size, draws = 12_000, 400 if room == 900 else 6000
    rng = np.random.default_rng(room)
    counts = np.zeros(size)
    together = 0
    for _ in range(draws):
        taken = best_of_groups(np.array([1.0]), [np.arange(size)], room, seed=rng)
        assert len(np.unique(taken)) == room
        counts[taken] += 1
        together += np.count_nonzero(np.isin(taken, np.arange(60))) ** 2
    expected = draws * room / size
    chi = ((counts - expected) ** 2).sum() / (expected * (1 - room / size))
    # Sampling without replacement: size − 1 degrees of freedom; 5 standard deviations.
    assert abs(chi - (size - 1)) < 5 * np.sqrt(2 * size)
    # The number among the first sixty is hypergeometric: its second moment tells of pairs.
    share = room / size
    mean = 60 * share
    variance = mean * (1 - share) * (size - 60) / (size - 1)
    spread = np.sqrt((mean**2 * 4 * variance + 3 * variance**2 + variance) / draws)
    assert together / draws == pytest.approx(variance + mean**2, abs=6 * spread)


def test_same_value_taken_as_by_listing_all_tasks():
    """Without a mask and with a full one, weights alike: labels of the same worth."""
    made = assigner(3_000)
    for seed in range(10):
        skill = np.random.default_rng(seed).uniform(0.5, 1, TYPES)
        quality = (2 * skill - 1) ** 2
        values = quality[made.task_class] * made.task_weights - 1
        listed = best_tasks(values, 70, seed=seed)
        taken = made.assign(skill, 70)
        assert len(taken) == len(listed)
        assert values[taken].sum() == pytest.approx(values[listed].sum(), rel=1e-4, abs=1e-6)
