from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from workbench.base.errors import InputError
from workbench.crowd.graphs import random_pairs, regular_graph


def degrees(task, worker, n, m):
    return np.bincount(task, minlength=n), np.bincount(worker, minlength=m)


def simple(task, worker):
    return len(set(zip(task.tolist(), worker.tolist(), strict=True))) == len(task)


# Regular graphs


@pytest.mark.parametrize(
    ("n", "m", "each", "load"),
    [(500, 50, 5, 50), (12, 8, 6, 9), (7, 7, 7, 7), (6, 9, 0, 0), (100, 10, 9, 90)],
)
def test_both_sides_are_regular(n, m, each, load):
    task, worker = regular_graph(n, m, each, seed=1)
    by_task, by_worker = degrees(task, worker, n, m)
    assert (by_task == each).all()
    assert (by_worker == load).all()
    assert simple(task, worker)
    assert task.dtype == worker.dtype == np.int64
    assert np.array_equal(np.lexsort((worker, task)), np.arange(len(task)))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_graph_that_can_be_is_drawn(data):
    n, m = data.draw(st.integers(0, 9)), data.draw(st.integers(1, 9))
    each = data.draw(st.integers(0, m))
    capacity = np.array(data.draw(st.lists(st.integers(0, 12), min_size=m, max_size=m)))
    held = np.minimum(capacity, n)
    seed = data.draw(st.integers(0, 2**32))
    if n * each > held.sum():
        with pytest.raises(InputError, match=rf"per_task is {each}: .* holds {held.sum()}"):
            regular_graph(n, m, each, seed=seed, capacity=capacity)
        return
    task, worker = regular_graph(n, m, each, seed=seed, capacity=capacity)
    by_task, by_worker = degrees(task, worker, n, m)
    assert simple(task, worker)
    assert (by_task == each).all()
    assert (by_worker <= held).all()
    below = by_worker < held
    if below.any():  # Whoever could take more has no less than the others, but for one.
        assert by_worker[below].min() >= by_worker.max() - 1


@pytest.mark.release
def test_graphs_without_double_edges_are_equally_likely():
    """Matrices of order n with sums 2: 90 for n = 4 (OEIS A001499). With 3: 4!."""
    rng = np.random.default_rng(6)
    for n, each, graphs in ((4, 2, 90), (4, 3, 24)):
        draws = 8 * graphs
        drawn = [tuple(regular_graph(n, n, each, seed=rng)[1]) for _ in range(draws)]
        counts = np.unique(drawn, axis=0, return_counts=True)[1]
        assert len(counts) == graphs
        assert chisquare(counts).pvalue > 1e-3


# Random pairs


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_set_of_pairs_within_capacity_is_more_even(data):
    n, m = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    cells = data.draw(st.lists(st.booleans(), min_size=n * m, max_size=n * m))
    available = np.array(cells).reshape(n, m)
    capacity = np.array(data.draw(st.lists(st.integers(0, n), min_size=m, max_size=m)))
    room = int(np.minimum(capacity, available.sum(axis=0)).sum())
    labels = data.draw(st.integers(0, room + 1))
    seed = data.draw(st.integers(0, 2**32))
    if labels > room:
        with pytest.raises(InputError, match=rf"labels is {labels} and {room} pairs"):
            random_pairs(available, labels, seed=seed, capacity=capacity)
        return
    task, worker = random_pairs(available, labels, seed=seed, capacity=capacity)
    by_task, by_worker = degrees(task, worker, n, m)
    assert len(task) == labels
    assert simple(task, worker)
    assert available[task, worker].all()
    assert (by_worker <= capacity).all()
    # Least Σ d² over all feasible task degrees d, from the best of each number of labels.
    sets = {(0,) * n}
    for j in range(m):
        who = np.flatnonzero(available[:, j])
        most = min(capacity[j], len(who))
        adds = [c for k in range(most + 1) for c in combinations(who.tolist(), k)]
        sets = {tuple(d + (i in add) for i, d in enumerate(s)) for s in sets for add in adds}
    best = min(sum(d * d for d in s) for s in sets if sum(s) == labels)
    assert (by_task**2).sum() == best
