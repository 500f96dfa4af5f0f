"""Branching on label counts: proofs that hold, and broken ones that are refused."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import by_enumeration, small_problems

from crowd_models import AssignmentProblem, requirement
from workbench.base.errors import InputError
from workbench.solving import certify, solve
from workbench.solving.patterns.bound import branch_bound
from workbench.solving.patterns.branching import above_cost
from workbench.solving.patterns.column_generation import CoverPricing, Search, generate
from workbench.solving.solution import BranchProof, Leaf, Split


def grown(rng, shape, depth=0):
    """A tree of splits and prices drawn at random: nothing about it fits the problem."""
    if depth == 3 or rng.random() < 0.3:
        return Leaf(rng.exponential(0.5, shape[1]), rng.exponential(0.7, depth))
    most = int(rng.integers(-1, 6))
    below, above = grown(rng, shape, depth + 1), grown(rng, shape, depth + 1)
    return Split(rng.random(shape) < 0.6, most, below, above)


@given(small_problems(feasible_bias=True), st.integers(0, 2**31))
@settings(deadline=None, max_examples=40)
def test_no_tree_proves_more_than_the_optimum(problem, seed):
    rng, typed = np.random.default_rng(seed), problem.typed
    found = branch_bound(typed, grown(rng, typed.shape))
    best = by_enumeration(problem)
    if best is not None:
        assert found <= Fraction(best) + Fraction(1, 10**6)


@pytest.fixture(scope="module")
def triples():
    """Two kinds of tasks, each with workers of its own: three strong, a label each, and three weak.

    Two tasks of a kind take two strong labels and three weak ones, 5 in all. The master lets each
    two of the three strong ones share half a task: 4.5 labels, 9 for both kinds.
    """
    own = np.repeat([0.5, 0.34], 3)
    quality = np.zeros((4, 12))
    quality[:2, :6], quality[2:, 6:] = own, own
    return AssignmentProblem(quality, np.tile(np.repeat([1, 2], 3), 2), 1.0)


def searched(problem, cost, nodes=50, leaves=6):
    typed = problem.typed
    search = Search(typed, CoverPricing(typed), np.random.default_rng(0), time.perf_counter() + 20)
    zero = np.zeros(typed.shape[1])
    at = generate(search, typed.tasks, typed.supply, zero, tolerance=1e-6, steps=(0,))
    return at, *above_cost(search, at, cost, nodes=nodes, leaves=leaves)


def test_the_label_that_the_master_lacks_is_proven(triples):
    at, tree, leaves = searched(triples, 9.0)
    assert not leaves
    assert at.mix.cost == pytest.approx(9)
    assert 9 < branch_bound(triples.typed, tree) <= 10
    tree, leaves = searched(triples, 10.0)[1:]
    assert tree is None  # a plan costs that
    assert leaves
    assert searched(triples, 9.0, nodes=1)[1] is None


def test_open_leaves_count_whole_labels_at_no_more_than_the_cost():
    """Two task types that trade labels: a leaf for each division of them."""
    rng = np.random.default_rng(1)
    kinds = np.arange(60) % 2
    quality = (2 * rng.uniform(0.6, 0.95, (2, 40)) - 1) ** 2
    problem = AssignmentProblem(quality[kinds], 30, requirement(0.01))
    at, tree, leaves = searched(problem, 983.0)
    assert at.mix.cost < 983
    assert tree is None
    assert len(leaves) > 1  # How many hangs on which of equal optima come out.
    divisions = []
    for leaf in leaves:
        labels = np.zeros(2)
        for pattern, count in zip(leaf.patterns, leaf.mix.counts.tolist(), strict=True):
            labels[pattern.task_class] += count * pattern.copies.sum()
        assert labels == pytest.approx(np.rint(labels), abs=2e-3)
        assert labels.sum() <= 983 + 1e-3
        divisions.append(tuple(np.rint(labels)))
    assert len(set(divisions)) == len(leaves)
    assert len(searched(problem, 983.0, leaves=1)[2]) == 1


@pytest.mark.parametrize("price", [1.0, 2.5])
def test_solve_proves_it_from_the_data(triples, price):
    """Also where rows are scaled and prices are not 1: told in the terms of the caller."""
    rows = np.array([1.0, 1.0, 0.5, 0.25])
    quality, cost = triples.quality * rows[:, None], np.full(triples.shape, price)
    scaled = AssignmentProblem(quality, triples.capacity, rows, cost)
    solution = solve(scaled, "ip", method="patterns", time_limit=20, isolated=False)
    assert solution.objective == 10 * price
    assert solution.certificate.status == "proven"
    assert solution.certificate.bound_from == "branches over patterns"


def test_broken_proofs_prove_nothing(triples):
    _, tree, _ = searched(triples, 9.0)

    def status(root):
        plan = solve(triples, "ip", method="mip", isolated=False).assignment
        return certify(triples, assignment=plan, proofs=[BranchProof(root)], whole=True)

    leaf = tree.above
    while isinstance(leaf, Split):
        leaf = leaf.above
    assert status(tree).lower_bound == 10
    moved, swapped = replace(tree, most=tree.most - 1), replace(tree, pairs=~tree.pairs)
    raised = replace(tree, below=Leaf(9 * leaf.worker_prices, 9 * tree.below.side_prices + 9))
    for broken in (moved, swapped, raised):
        assert status(broken).lower_bound < 10
    nameless = replace(tree, below=Leaf(leaf.worker_prices * np.nan, tree.below.side_prices))
    assert status(nameless).status == "failed"
    with pytest.raises(InputError, match="the side prices have shape"):
        status(leaf)
