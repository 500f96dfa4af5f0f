"""Algorithm 1, Theorem 1 and the toy example of Section 5.2."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import AssignmentProblem
from crowd_papers.adaptive_assignment.theorems import cut_in_a_tie, theorem_1
from workbench.assignment.primal import (
    best_of_groups,
    best_tasks,
    perturb,
    primal_approximation,
)
from workbench.assignment.weights import offline_weights
from workbench.solving import Termination, solve


def heuristic(problem, seed):
    """Algorithm 1 with the optimal dual of the perturbed relaxation, and what it knew."""
    rng = np.random.default_rng(seed)
    weights, quality, _ = offline_weights(problem, seed=rng)
    chosen = primal_approximation(
        quality,
        weights,
        problem.capacity,
        cost=problem.cost,
        available=problem.available,
        seed=rng,
    )
    return chosen, theorem_1(problem, weights, quality)


def random_problem(rng, *, tight):
    n, m = rng.integers(2, 11), rng.integers(3, 13)
    quality = rng.uniform(0.05, 1, (n, m))
    capacity = rng.integers(1, n + 1, m) if tight else np.full(m, n)
    need = rng.uniform(0.1, 0.55) * quality.sum(axis=1).min()
    mask = rng.random((n, m)) < 0.9 if rng.random() < 0.3 else None
    return AssignmentProblem(quality, capacity, np.full(n, need), available=mask)


def covered(problem, chosen):
    return (problem.quality * chosen).sum(axis=1) >= problem.requirement * (1 - 1e-9)


class TestTheorem1:
    @pytest.mark.release
    def test_holds_wherever_its_assumption_does(self):
        """40 instances with the assumption: all feasible, all within min(m, n) of the optimum."""
        rng = np.random.default_rng(20130616)
        held = without = broken = 0
        while held < 40:
            problem = random_problem(rng, tight=rng.random() < 0.7)
            optimum = solve(problem, "ip")
            if optimum.termination is not Termination.OPTIMAL:
                continue
            chosen, promise = heuristic(problem, rng)
            assert (chosen.sum(axis=0) <= problem.capacity).all()
            if not promise.holds:
                without += 1
                broken += not covered(problem, chosen).all()
                continue
            held += 1
            assert covered(problem, chosen).all()
            assert chosen.sum() - optimum.objective <= promise.labels
            assert promise.labels == min(problem.shape)
        # The assumption is not a formality: without it the claim mostly fails.
        assert without > 10
        assert broken > without / 3

    def test_assumption_cannot_be_had_by_perturbing(self):
        """A full worker split between two tasks ties them, whatever the qualities."""
        rng = np.random.default_rng(3)
        for _ in range(20):
            quality = perturb(np.tile([1.0, 0.3, 0.5], (2, 1)), seed=rng, scale=0.1)
            problem = AssignmentProblem(quality, [1, 2, 2], np.full(2, 0.72))
            assert solve(problem, "ip").objective == 3
            chosen, promise = heuristic(problem, rng)
            relaxed = solve(problem, "relaxation")
            split = (relaxed.assignment > 1e-6) & (relaxed.assignment < 1 - 1e-6)
            if split[:, 0].sum() == 2:
                assert not promise.holds
                assert not covered(problem, chosen).all()

    def test_pairs_worth_nothing_are_taken_whole(self):
        """Equal tasks, perturbed by class: the marginal worker takes all, not the share she had."""
        n, rng = 40, np.random.default_rng(5)
        beyond = 0
        for _ in range(30):
            types = rng.uniform(0.1, 1, (1, 6))
            problem = AssignmentProblem(np.tile(types, (n, 1)), n, np.full(n, 0.55 * types.sum()))
            relaxed = solve(problem, "typed")
            chosen = primal_approximation(
                problem.quality, relaxed.task_weights, problem.capacity, seed=rng
            )
            promise = theorem_1(problem, relaxed.task_weights)
            assert covered(problem, chosen).all()
            if chosen.sum() - relaxed.bound > min(problem.shape) + 1e-6:
                beyond += 1
                assert not promise.holds
                assert "worth exactly nothing" in promise.failed[0]
        assert beyond > 5

    def test_cut_in_a_tie(self):
        assert cut_in_a_tie(np.array([2.0, 1.0, 1.0]), 2)
        assert not cut_in_a_tie(np.array([2.0, 1.0, 1.0]), 1)
        assert not cut_in_a_tie(np.array([2.0, 1.0, 1.0]), 3)
        assert not cut_in_a_tie(np.array([2.0, -1.0, -1.0]), 2)  # nobody wants what is cut
        assert not cut_in_a_tie(np.array([2.0, 2.0]), 0)


class TestChoice:
    def test_ties_are_fair(self):
        rng = np.random.default_rng(5)
        counts = np.bincount(
            np.concatenate([best_tasks(np.ones(5), 2, seed=rng) for _ in range(1000)]), minlength=5
        )
        assert np.abs(counts - 400).max() < 4 * np.sqrt(1000 * 0.4 * 0.6)

    @given(data=st.data())
    @settings(max_examples=16, deadline=None)
    def test_groups_choose_like_tasks(self, data):
        """Same values taken, same number, whether tasks are listed or grouped."""
        kinds = data.draw(st.integers(1, 4))
        kind = np.array(data.draw(st.lists(st.integers(0, kinds - 1), min_size=1, max_size=12)))
        values = np.array(data.draw(st.lists(st.integers(-2, 3), min_size=kinds, max_size=kinds)))
        values = values.astype(float)
        capacity = data.draw(st.integers(0, 14))
        groups = [np.flatnonzero(kind == k) for k in range(kinds)]
        grouped = best_of_groups(values, groups, capacity, seed=1)
        listed = best_tasks(values[kind], capacity, seed=2)
        assert len(set(grouped.tolist())) == len(grouped) == len(listed)
        assert sorted(values[kind[grouped]]) == sorted(values[kind[listed]])
