"""Equal classes of a problem stated by class, counted as one: nothing gained, nothing lost."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import TypedProblem


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


@settings(max_examples=30, deadline=None)
@given(repeated())
def test_what_is_equal_is_merged_and_nothing_else(problem):
    back = merged = TypedProblem.of(problem)
    assert merged.tasks.sum() == problem.tasks.sum()
    assert merged.workers.sum() == problem.workers.sum()
    at = np.ix_(back.task_class, back.worker_class)
    assert merged.quality[at].tolist() == problem.quality.tolist()
    assert merged.prices[at].tolist() == problem.prices.tolist()
    assert back.lift_tasks(merged.requirement).tolist() == problem.requirement.tolist()
    if problem.available is not None:
        assert merged.available[at].tolist() == problem.available.tolist()
    assert TypedProblem.of(merged).shape == merged.shape
    # Capacities that differ only beyond all tasks are one.
    most = problem.tasks.sum()
    lifted = np.minimum(back.lift_workers(merged.capacity), most)
    assert lifted.tolist() == np.minimum(problem.capacity, most).tolist()
