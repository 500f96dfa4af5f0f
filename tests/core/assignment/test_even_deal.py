"""Labels dealt evenly: beside the program over teams, every deal of small ones, flow, bounds."""

import time
from itertools import combinations, combinations_with_replacement

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory
from scipy import sparse
from scipy.sparse.csgraph import connected_components, maximum_flow

from crowd_models.teams import even_teams
from tests.core.release import some
from workbench.assignment.even_deal import Deal, DealTerms, Stuck, even_deal


def terms(n, m, k, capacity=None, share=None, allowed=None, had=None):
    return DealTerms(
        np.full(n, k) if np.isscalar(k) else np.asarray(k),
        np.full(m, n) if capacity is None else np.asarray(capacity),
        np.ones(m) if share is None else np.asarray(share, dtype=float),
        np.ones((n, m), dtype=bool) if allowed is None else allowed,
        np.zeros((n, m), dtype=bool) if had is None else had,
    )


def held(deal, k):
    """What every deal keeps."""
    asked = deal.terms
    assert (deal.given.sum(axis=1) == k).all()
    assert (deal.loads <= asked.capacity).all()
    assert not (deal.given & ~asked.allowed).any()
    team = (deal.given | asked.had).astype(int)
    shared = team.T @ team
    np.fill_diagonal(shared, 0)
    assert (deal.shared == shared).all()
    return deal


STAGES = (("even", "most"), ("level", "fewest"), ("spread", "least"))


def stages(model):
    """The value of each objective, those before it kept."""
    found = []
    for name, value in STAGES:
        for objective in model.component_objects(pyo.Objective):
            objective.deactivate()
        model.component(name).activate()
        SolverFactory("highs").solve(model)
        variable = model.component(value)
        found.append(round(variable.value))
        variable.fix(found[-1])
    model.spread.deactivate()
    model.connect.activate()
    SolverFactory("highs").solve(model)
    return (*found, round(pyo.value(model.connect)))


def every_deal(n, m, k, capacity):
    """The best deal of equal tasks, by looking at all."""
    best = None
    for teams in combinations_with_replacement(list(combinations(range(m), k)), n):
        team = np.zeros((n, m), dtype=int)
        for task, those in enumerate(teams):
            team[task, those] = 1
        load = team.sum(axis=0)
        if (load > capacity).any():
            continue
        pairs = team.T @ team
        least = pairs[np.triu_indices(m, 1)].min()
        reached = m - connected_components(pairs > 0, directed=False)[0]
        found = (load.max(), -load.min(), -least, -reached)
        best = found if best is None else min(best, found)
    return best


SMALL = [(n, m, k) for m in (3, 4, 5) for k in (2, 3) for n in (2, 3, 5) if n * k >= m > k]


@pytest.mark.parametrize(("n", "m", "k"), some(SMALL, 3))
def test_small_deals_are_the_best_of_all(n, m, k):
    rng = np.random.default_rng(n * m * k)
    for capacity in (np.full(m, n), np.maximum(rng.integers(1, n + 1, m), -(-n * k // m))):
        most, fewest, least, _ = stages(even_teams([n], k, capacity.tolist()))
        best = every_deal(n, m, k, capacity)
        assert (most, -fewest, -least) == best[:3]
        deal = held(even_deal(terms(n, m, k, capacity)), k)
        assert (deal.loads.max(), deal.loads.min(), deal.least_shared) == (most, fewest, least)
        assert -(m - deal.parts) == best[3]
        assert deal.least_shared <= deal.bound


def test_the_program_knows_who_may_label_what_and_who_is_connected():
    available = np.array([[1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    assert stages(even_teams([2, 3], 2, [5] * 4, available)) == (3, 2, 0, 1)
    assert stages(even_teams([2, 2], 2, [5] * 4)) == (2, 2, 0, 3)
    assert stages(even_teams([4], 2, [5, 5, 5, 1])) == (3, 1, 0, 3)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize(("n", "m"), some([(10_000, 30), (1_000, 8)], 3))
def test_large_deals_are_even_to_the_bound_and_quick(n, m, k):
    start = time.process_time()
    deal = even_deal(terms(n, m, k))
    assert time.process_time() - start < 10.0
    held(deal, k)
    assert deal.loads.max() - deal.loads.min() <= 1
    counted = n * k * (k - 1) // (m * (m - 1))
    by_worker = (n * k // m) * (k - 1) // (m - 1)
    assert deal.least_shared == deal.bound == min(counted, by_worker)
    assert deal.parts == 1


def least_largest(n, k, allowed, capacity):
    """The least largest load, by maximum flow."""
    m = len(capacity)

    def feasible(most):
        task, worker = np.nonzero(allowed)
        row = np.concatenate([np.full(n, n + m), task, n + np.arange(m)])
        column = np.concatenate([np.arange(n), n + worker, np.full(m, n + m + 1)])
        room = np.concatenate([np.full(n, k), np.ones(len(task)), np.minimum(capacity, most)])
        shape = (n + m + 2, n + m + 2)
        graph = sparse.csr_matrix((room.astype(np.int32), (row, column)), shape=shape)
        return maximum_flow(graph, n + m, n + m + 1).flow_value == n * k

    return next((most for most in range(n + 1) if feasible(most)), None)


@pytest.mark.parametrize("seed", some(range(12), 3))
def test_who_may_label_what_is_kept_at_the_least_largest_load(seed):
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(6, 40)), int(rng.integers(3, 9)), int(rng.integers(1, 4))
    allowed = rng.random((n, m)) < rng.choice([0.35, 0.6, 0.9])
    allowed[: n // 2, m // 2 :] &= rng.random((n // 2, m - m // 2)) < 0.4
    capacity = rng.integers(max(1, n * k // m), n + 1, m)
    most = least_largest(n, k, allowed, capacity)
    deal = even_deal(terms(n, m, k, capacity, allowed=allowed), seed=seed)
    if most is None:
        assert isinstance(deal, Stuck)
        # Who is reached is full, or has the task; what they hold nobody else can be given.
        inside = np.isin(np.arange(m), deal.workers)
        own = np.minimum(allowed[deal.tasks][:, inside].sum(axis=0), capacity[inside])
        outside = allowed[deal.tasks][:, ~inside].sum(axis=1)
        assert (np.maximum(k - outside, 0)).sum() > own.sum()
    else:
        assert held(deal, k).loads.max() == most


def test_labels_move_along_chains_to_the_less_loaded():
    may = ["c"] * 10 + ["d"] * 10 + ["ab"] * 10 + ["bcd"] * 10
    allowed = np.array([[w in those for w in "abcd"] for those in may])
    deal = held(even_deal(terms(40, 4, 1, allowed=allowed)), 1)
    assert deal.loads.tolist() == [10, 10, 10, 10]


def test_shares_are_kept_as_whole_labels_let_them():
    deal = held(even_deal(terms(120, 4, 2, share=[1, 1, 1, 0.5])), 2)
    assert sorted(deal.loads.tolist()) == [34, 68, 69, 69]
    assert deal.loads[3] == 34
    tight = held(even_deal(terms(30, 3, 2, share=[9, 1, 1])), 2)
    assert tight.loads.tolist() == [30, 15, 15]  # she can have each task but once


def test_labels_on_record_are_not_asked_for_again_and_count_as_shared():
    had = np.zeros((20, 5), dtype=bool)
    had[:10, 0] = True
    size = np.where(np.arange(20) < 10, 1, 2)
    deal = held(even_deal(terms(20, 5, size, allowed=~had, had=had)), size)
    assert deal.loads.sum() == 30
    assert deal.loads.max() == 6
    assert deal.shared.sum() == 2 * 20


def test_few_tasks_connect_whom_they_can():
    for n, m, k in ((7, 8, 2), (4, 9, 3), (60, 61, 2), (50, 101, 3)):
        assert held(even_deal(terms(n, m, k)), k).parts == 1
    assert even_deal(terms(4, 8, 2)).parts == 4  # each has one task: nobody can be connected


def test_nobody_left_is_told():
    found = even_deal(terms(3, 3, 2, [1, 1, 3]))
    assert isinstance(found, Stuck)
    assert isinstance(even_deal(terms(3, 3, 2, [3, 1, 2])), Deal)


def test_the_same_seed_deals_the_same():
    one, two, other = (even_deal(terms(50, 7, 3), seed=seed).given for seed in (1, 1, 2))
    assert (one == two).all()
    assert (one != other).any()
