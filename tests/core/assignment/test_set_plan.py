"""Plans for sets: promises held to exact errors, scores to posteriors."""

import numpy as np
import pytest

from tests.core.set_crowds import crowd
from workbench.accuracy.likeliest import likeliest_error
from workbench.assignment.set_plan import (
    make_set_plan,
    measure_set_plan,
    set_gains,
    set_needs,
    set_scores,
)
from workbench.crowd.set_votes import set_skills


def made(seed=1, epsilon=0.1, tasks=5):
    votes, gold = crowd(seed, tasks=80)
    return votes, make_set_plan(votes, gold, tasks, epsilon, np.full(8, tasks))


@pytest.mark.parametrize("seed", range(4))
def test_no_label_errs_more_than_promised(seed):
    _, plan = made(seed)
    assert plan.solution.certificate.status == "proven"
    assert (plan.expected <= plan.bounds + 1e-12).all()
    assert (plan.bounds <= 0.1 * (1 + 1e-9)).all()
    for row, errors in zip(plan.chosen, plan.expected, strict=True):
        for label, prior in enumerate(plan.skills.prior):
            own = plan.skills.confusion[label, row == 1]
            assert errors[label] == pytest.approx(likeliest_error(own, prior).probability)


def test_a_lower_error_takes_more_labels():
    assert made(epsilon=0.05)[1].chosen.sum() > made(epsilon=0.2)[1].chosen.sum()


def test_a_rare_label_asks_for_nothing():
    votes, gold = crowd(1, tasks=100)
    gold[:, 0] = 0
    skills = set_skills(votes, gold)
    assert set_needs(skills, 0.05)[0] == 0.0
    assert (set_needs(skills, 0.005) > 0).all()


def test_workers_without_gold_get_no_task():
    votes, gold = crowd(2)
    gold[votes.task[votes.worker == 0]] = -1
    skills = set_skills(votes, gold)
    assert not set_gains(skills)[0].any()
    assert set_gains(skills)[1:].all()


def test_scores_say_what_posteriors_do():
    votes, plan = made()
    scores = set_scores(plan, votes.names, list("abcde"), votes.workers.tolist())
    rng = np.random.default_rng(0)
    said = {worker: rng.integers(0, 2, 3) for worker in votes.workers}
    for label, name in enumerate(votes.names):
        own = scores[(scores["of"] == name) & (scores["task"] == "c")]
        answer = own["worker"].map(lambda w, k=label: ("no", "yes")[said[w][k]] if w else None)
        counted = own[own["worker"].isna() | (own["label"] == answer)]
        sums = counted.groupby("class")["score"].sum()
        chance = plan.skills.prior[label].copy()
        for j in np.flatnonzero(plan.chosen[2]):
            chance *= plan.skills.confusion[label, j, :, said[votes.workers[j]][label]]
        assert sums["yes"] - sums["no"] == pytest.approx(np.log(chance[1] / chance[0]))


def test_too_few_workers_say_how_far_they_reach():
    votes, gold = crowd(1)
    plan = make_set_plan(votes, gold, 40, 0.05, np.full(8, 2))
    assert plan.chosen is None
    assert plan.set_error is None
    assert plan.solution.reach < 1


def test_measured_on_control_tasks():
    votes, truth = crowd(4, tasks=200, each=6)
    gold = np.where(np.arange(200)[:, None] < 80, truth, -1)
    found = measure_set_plan(votes, gold, 0.1)
    assert found.errors.whole.tasks_measured == 80
    assert 0 <= found.met <= 1
    assert found.errors.label_error <= 0.15
