"""Sets of labels as arrays: posteriors against direct products, and who is constant."""

import numpy as np
import pandas as pd
import pytest

from tests.core.set_crowds import crowd, set_votes
from workbench.crowd.confusion import confusion_from_gold
from workbench.crowd.set_votes import set_skills


def test_skills_are_those_of_each_label():
    votes, gold = crowd(1)
    skills = set_skills(votes, gold)
    for label, (name, each) in enumerate(votes.by_label.items()):
        truth = pd.Series(np.array(["no", "yes"])[gold[:, label]], index=votes.tasks)
        alone = confusion_from_gold(each.table(), truth, ["no", "yes"])
        rows = [list(alone.workers).index(worker) for worker in votes.workers]
        assert skills.confusion[label] == pytest.approx(alone.confusion[rows]), name
        assert skills.prior[label] == pytest.approx(alone.prior)


@pytest.mark.parametrize("seed", range(5))
def test_log_odds_by_direct_products(seed):
    votes, gold = crowd(seed, tasks=12)
    skills = set_skills(votes, gold)
    rows = np.flatnonzero(votes.task < 3)
    odds = skills.log_odds(votes, rows, votes.task[rows], 3)
    for task in range(3):
        for label in range(gold.shape[1]):
            chance = skills.prior[label].copy()
            for k in np.flatnonzero(votes.task == task):
                chance *= skills.confusion[label, votes.worker[k], :, votes.said[k, label]]
            assert odds[task, label] == pytest.approx(np.log(chance[1] / chance[0]))


def test_nobody_without_gold_is_known():
    votes, gold = crowd(2)
    gold[votes.task[votes.worker == 0]] = -1
    assert not set_skills(votes, gold).known[0]


def test_who_gives_one_set_throughout():
    task, worker = np.repeat(np.arange(4), 2), np.tile([0, 1], 4)
    said = np.array([[1, 0], [1, 0]] * 3 + [[1, 0], [0, 1]])
    assert set_votes(task, worker, said, 4, 2).constant.tolist() == [True, False]
