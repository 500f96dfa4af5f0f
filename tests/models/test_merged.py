"""Equal classes of a problem stated by class, counted as one: nothing gained, nothing lost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import TypedProblem
from workbench.solving import Termination, certify, solve


@st.composite
def repeated(draw):
    """A few distinct rows and columns, most of them there more than once."""
    rows = draw(st.lists(st.integers(0, 2), min_size=1, max_size=4))
    columns = draw(st.lists(st.integers(0, 3), min_size=1, max_size=7))
    rng = np.random.Generator(np.random.PCG64(draw(st.integers(0, 10_000))))
    at = np.ix_(rows, columns)
    quality = rng.integers(1, 10, (3, 4))[at] / 10
    cost = rng.integers(0, 5, (3, 4))[at] / 2 if draw(st.booleans()) else None
    available = (rng.random((3, 4)) < 0.8)[at] if draw(st.booleans()) else None
    workers = rng.integers(0, 5, len(columns))
    reach = 0.15 * (quality * workers).sum(axis=1).min()
    return TypedProblem(
        quality,
        rng.integers(1, 12, 4)[columns],
        (rng.integers(0, 4, 3) * reach)[rows],
        rng.integers(0, 4, len(rows)),
        workers,
        cost,
        available,
    )


@settings(max_examples=150, deadline=None)
@given(repeated())
def test_what_is_equal_is_merged_and_nothing_else(problem):
    back = problem.merged()
    merged = back.problem
    assert merged.tasks.sum() == problem.tasks.sum()
    assert merged.workers.sum() == problem.workers.sum()
    at = np.ix_(back.task_class, back.worker_class)
    assert merged.quality[at].tolist() == problem.quality.tolist()
    assert merged.prices[at].tolist() == problem.prices.tolist()
    assert back.lift_tasks(merged.requirement).tolist() == problem.requirement.tolist()
    if problem.available is not None:
        assert merged.available[at].tolist() == problem.available.tolist()
    assert merged.merged().problem.shape == merged.shape
    # Capacities that differ only beyond all tasks are one.
    most = problem.tasks.sum()
    lifted = np.minimum(back.lift_workers(merged.capacity), most)
    assert lifted.tolist() == np.minimum(problem.capacity, most).tolist()


@settings(max_examples=100, deadline=None)
@given(repeated())
def test_same_optimum_and_the_answer_leads_back(problem):
    back = problem.merged()
    whole, counted = solve(problem, "typed"), solve(back.problem, "typed")
    assert counted.termination is whole.termination
    if whole.termination is not Termination.OPTIMAL:
        return
    assert counted.objective == pytest.approx(whole.objective, rel=1e-9, abs=1e-9)
    proof = certify(
        problem,
        assignment=back.lift(counted.assignment),
        task_weights=back.lift_tasks(counted.task_weights),
        worker_prices=back.lift_workers(counted.worker_prices),
    )
    assert proof.status == "proven"


def test_skills_estimated_from_gold_take_few_values():
    rng = np.random.Generator(np.random.PCG64(1))
    skill = rng.binomial(10, rng.uniform(0.5, 1, (1, 5000))) / 10
    problem = TypedProblem((2 * skill - 1) ** 2, 50, 5.0, [10_000], np.ones(5000, dtype=np.int64))
    merged = problem.merged().problem
    assert merged.shape == (1, len(np.unique(problem.quality)))
    assert merged.shape[1] <= 11
    assert solve(merged, "typed").objective == pytest.approx(
        solve(problem, "typed").objective, rel=1e-9
    )


def test_different_in_one_thing_is_different():
    same = TypedProblem([[0.5, 0.5]], 4, 1.0, [4], [1, 2])
    assert same.merged().problem.shape == (1, 1)
    assert same.merged().problem.workers.tolist() == [3]
    assert TypedProblem([[0.5, 0.5]], [3, 4], 1.0, [4], [1, 2]).merged().problem.shape == (1, 2)
    for change in ({"cost": [[1.0, 2.0]]}, {"available": [[True, False]]}):
        other = TypedProblem([[0.5, 0.5]], 4, 1.0, [4], [1, 2], **change)
        assert other.merged().problem.shape == (1, 2)
    asked = TypedProblem([[0.5], [0.5]], 4, [1.0, 0.5], [4, 4], [3])
    assert asked.merged().problem.shape == (2, 1)
