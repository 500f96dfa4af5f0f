from dataclasses import replace

import numpy as np
import pytest

from tests.core.release import some
from workbench.crowd.simulate import dense_votes
from workbench.crowd.votes import Votes
from workbench.selection.per_task import select_per_task
from workbench.selection.rules import algorithm_1, top
from workbench.selection.scoring import scores


def sparse(seed, n=40, m=12, share=0.5):
    """Votes in any order, some tasks without; values with ties, half of them of scores."""
    rng = np.random.default_rng(seed)
    share = share * rng.choice([0.2, 1.0, 2.0], (n, 1))
    labels = np.where(rng.random((n, m)) < share, rng.integers(0, 2, (n, m)), -1)
    votes, turn = dense_votes(labels, 2), rng.permutation((labels >= 0).sum())
    votes = replace(
        votes, task=votes.task[turn], worker=votes.worker[turn], label=votes.label[turn]
    )
    if seed % 2:
        return votes, rng.choice([-np.inf, -0.3, 0.0, 0.2, 0.2, 0.5, 1.0], m)
    answered = rng.integers(0, 9, m)
    return votes, scores(rng.binomial(answered, rng.random(m)), answered, 3).gain


@pytest.mark.parametrize("seed", some(range(3), 3))
@pytest.mark.parametrize("stop", [True, False])
@pytest.mark.parametrize("budget", [1, 3, 100])
def test_each_task_on_its_own(seed, stop, budget):
    votes, value = sparse(seed)
    marked = select_per_task(votes, value, budget, stop=stop, seed=0, ties="first")
    for task in range(len(votes.tasks)):
        pool = np.sort(votes.worker[votes.task == task])
        rule = algorithm_1 if stop else top
        chosen = rule(value[pool], budget, seed=0, ties="first").chosen
        assert set(votes.worker[(votes.task == task) & marked]) == set(pool[chosen])
    drawn = select_per_task(votes, value, budget, stop=stop, seed=0)
    pools = [np.sort(value[votes.worker[(votes.task == t) & marked]]) for t in range(40)]
    fair = [np.sort(value[votes.worker[(votes.task == t) & drawn]]) for t in range(40)]
    assert all((one == two).all() for one, two in zip(pools, fair, strict=True))


def test_rounding_hires_nobody():
    """As for `algorithm_1`: one worker of 3z, or she and three of z, is the same."""
    z = np.repeat(np.arange(1, 200) / 90, 4)
    value = np.where(np.arange(len(z)) % 4 == 2, 3 * z, z)
    at = np.arange(len(z))
    votes = Votes(at // 4, at, 0 * at, np.arange(len(z) // 4), at, np.arange(2))
    marked = select_per_task(votes, value, 4, stop=True, seed=0)
    assert np.flatnonzero(marked).tolist() == at[2::4].tolist()


def test_ties_are_drawn_fairly():
    votes = dense_votes(np.zeros((3000, 4), dtype=int), 2)
    marked = select_per_task(votes, np.ones(4), 1, stop=False, seed=3)
    count = np.bincount(votes.worker[marked], minlength=4)
    assert count.sum() == 3000
    assert ((count - 750) ** 2 / 750).sum() < 21.1  # χ² of 3 degrees, one in 10,000
    assert (marked == select_per_task(votes, np.ones(4), 1, stop=False, seed=3)).all()


def test_nobody_qualifies():
    votes, _ = sparse(0)
    none = replace(votes, task=votes.task[:0], worker=votes.worker[:0], label=votes.label[:0])
    for stop in (True, False):
        assert not select_per_task(votes, np.full(12, -np.inf), 3, stop=stop, seed=0).any()
        assert not len(select_per_task(none, np.zeros(12), 3, stop=stop, seed=0))
