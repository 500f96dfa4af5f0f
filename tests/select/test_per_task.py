import numpy as np
import pytest

from workbench.crowd.simulate import dense_votes
from workbench.errors import InputError
from workbench.select.per_task import select_per_task
from workbench.select.rules import algorithm_1, top


def sparse(seed, n=40, m=12, share=0.5):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random((n, m)) < share, rng.integers(0, 2, (n, m)), -1)
    value = rng.choice([-np.inf, -0.3, 0.0, 0.2, 0.2, 0.5, 1.0], m)
    return dense_votes(labels, 2), value


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("stop", [True, False])
@pytest.mark.parametrize("budget", [1, 3, 100])
def test_each_task_on_its_own(seed, stop, budget):
    votes, value = sparse(seed)
    marked = select_per_task(votes, value, budget, stop=stop, seed=0, ties="first")
    for task in range(len(votes.tasks)):
        pool = votes.worker[votes.task == task]
        rule = algorithm_1 if stop else top
        chosen = rule(value[pool], budget, seed=0, ties="first").chosen
        assert set(votes.worker[(votes.task == task) & marked]) == set(pool[chosen])


def test_a_full_table_is_one_choice():
    rng = np.random.default_rng(1)
    votes, value = dense_votes(rng.integers(0, 2, (30, 9)), 2), rng.normal(size=9)
    marked = select_per_task(votes, value, 6, stop=True, seed=0)
    chosen = algorithm_1(value, 6, seed=0).chosen
    assert (marked == np.isin(votes.worker, chosen)).all()


def test_ties_are_drawn_fairly():
    votes = dense_votes(np.zeros((3000, 4), dtype=int), 2)
    marked = select_per_task(votes, np.ones(4), 1, stop=False, seed=3)
    count = np.bincount(votes.worker[marked], minlength=4)
    assert count.sum() == 3000
    assert ((count - 750) ** 2 / 750).sum() < 21.1  # χ² of 3 degrees, one in 10,000
    assert (marked == select_per_task(votes, np.ones(4), 1, stop=False, seed=3)).all()


def test_nobody_qualifies():
    votes, _ = sparse(0)
    assert not select_per_task(votes, np.full(12, -np.inf), 3, stop=True, seed=0).any()


@pytest.mark.parametrize(
    ("value", "budget", "ties", "message"),
    [
        (np.zeros(3), 1, "fair", "12 numbers"),
        (np.full(12, np.nan), 1, "fair", "12 numbers"),
        (np.zeros(12), 0, "fair", "budget"),
        (np.zeros(12), 1, "last", "ties"),
    ],
)
def test_bad_input(value, budget, ties, message):
    with pytest.raises(InputError, match=message):
        select_per_task(sparse(0)[0], value, budget, stop=False, seed=0, ties=ties)
