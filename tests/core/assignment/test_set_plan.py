"""Plans for sets: promises held to exact errors, scores to posteriors."""

import itertools

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


def made(seed=1, epsilon=0.1, tasks=5, *, exact=True):
    votes, gold = crowd(seed, tasks=80)
    return votes, make_set_plan(votes, gold, tasks, epsilon, np.full(8, tasks), exact=exact)


@pytest.mark.parametrize("seed", range(4))
def test_no_label_errs_more_than_promised(seed):
    _, bound = made(seed, exact=False)
    assert bound.solution.certificate.status == "proven"
    assert (bound.bounds <= 0.1 * (1 + 1e-9)).all()
    _, plan = made(seed)
    assert (plan.expected <= plan.bounds + 1e-12).all()
    assert (plan.expected <= 0.1 * (1 + 1e-9)).all()
    assert plan.least <= plan.solution.objective <= bound.solution.objective
    for row, errors in zip(plan.chosen, plan.expected, strict=True):
        for label, prior in enumerate(plan.skills.prior):
            own = plan.skills.confusion[label, row == 1]
            assert errors[label] == pytest.approx(likeliest_error(own, prior).probability)


def cheapest_by_enumeration(plan, tasks, capacity, epsilon):
    """Cost of the cheapest plan whose exact errors are kept, over all plans of few tasks."""
    skills, m = plan.skills, plan.skills.confusion.shape[1]
    allowed = []
    for row in itertools.product([0, 1], repeat=m):
        workers = np.flatnonzero(row)
        pairs = zip(skills.confusion, skills.prior, strict=True)
        errors = [likeliest_error(each[workers], prior).probability for each, prior in pairs]
        if max(errors) <= epsilon * (1 + 1e-9):
            allowed.append(np.array(row))
    costs = [
        sum(each.sum() for each in some)
        for some in itertools.combinations_with_replacement(allowed, tasks)
        if (sum(some) <= capacity).all()
    ]
    return min(costs, default=None)


@pytest.mark.parametrize("seed", range(6))
def test_what_no_plan_costs_less_than(seed):
    votes, gold = crowd(seed, tasks=60, workers=6, labels=2)
    plan = make_set_plan(votes, gold, 2, 0.12, np.full(6, 1))
    best = cheapest_by_enumeration(plan, 2, 1, 0.12)
    if best is None:
        assert plan.chosen is None
        return
    assert plan.least <= best
    if plan.chosen is not None:
        assert best <= plan.solution.objective <= best + 2


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_no_lower_error_than_the_limit_can_be_had(seed, exact):
    votes, gold = crowd(seed, tasks=60, workers=6, labels=2)
    room = np.full(6, 1)
    plan = make_set_plan(votes, gold, 3, 0.01, room, exact=exact)
    assert plan.chosen is None
    assert plan.error_limit > 0.01
    below = make_set_plan(votes, gold, 3, 0.99 * plan.error_limit, room, exact=exact)
    assert below.chosen is None


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
