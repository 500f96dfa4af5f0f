"""The sequential optimum as a policy: it costs what is proven, keeps its promise, and goes on."""

from __future__ import annotations

import json

import numpy as np
import pytest

import workbench as wb
from tests.core.flat import in_objects
from workbench.assignment.label_by_label import LabelPlan, closing_rules, execute, plan_labels
from workbench.base.errors import InputError
from workbench.collection.answers import Answers, rehearse
from workbench.collection.collector import Collector
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger, Pool
from workbench.collection.sequential_plan import LabelByLabel
from workbench.collection.setup import People, one_coin


def pool_of(skill, kind, capacity, price=None):
    skill = np.atleast_2d(skill)
    workers = skill.shape[1]
    return Pool(
        np.arange(len(kind)),
        np.arange(workers),
        np.arange(2),
        np.full(workers, capacity),
        np.ones(skill.shape) if price is None else price,
        np.asarray(kind),
        np.full(2, 0.5),
        np.empty(0, dtype=np.int64),
        np.empty(0, dtype=np.int64),
        confusion=np.stack([one_coin(row, 2) for row in skill]),
    )


def answers_of(pool, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, len(pool.tasks))
    skill = pool.confusion[pool.kind][:, :, 0, 0]
    label = np.where(rng.random(skill.shape) < skill, truth[:, None], 1 - truth[:, None])
    return Answers(label, np.empty((0, len(pool.workers)), dtype=np.int64), truth)


def carried_out(pool, epsilon, trials, **options):
    """Cost and share of wrong answers by trial, the policies, and the rehearsals."""
    policies = []

    def policy(ledger, goal, seed):
        options["plan"] = options.get("plan") or (policies[0].plan.saved() if policies else None)
        policies.append(LabelByLabel(ledger, goal, seed, **options))
        return policies[-1]

    ended, costs, errors = [], [], []
    for trial in range(trials):
        answers = answers_of(pool, 100 + trial)
        ended.append(rehearse(policy, pool, answers, Goal(epsilon), seed=trial))
        costs.append(ended[-1].ledger.spent)
        errors.append(ended[-1].belief.misses(answers.truth).mean())
    return np.array(costs), np.array(errors), ended


@pytest.mark.release
@pytest.mark.parametrize("posterior", [False, True])
def test_lead_by_two_or_by_three(posterior):
    """3.328125 labels a task and .05 wrong; or 315/65 labels and 1/65 wrong."""
    pool = pool_of(np.where(np.arange(40) % 2, 0.8, 0.2), np.zeros(400, dtype=np.int64), 200)
    costs, errors, ended = carried_out(pool, 0.05, 12, posterior=posterior)
    labels, wrong = (315 / 65, 1 / 65) if posterior else (3.328125, 0.05)
    spread = 3.5 / np.sqrt(len(costs))
    assert costs.mean() / 400 == pytest.approx(labels, abs=spread * costs.std(ddof=1) / 400)
    assert errors.mean() == pytest.approx(wrong, abs=spread * errors.std(ddof=1))
    assert all(done.belief.closed.all() for done in ended)


@pytest.mark.release
@pytest.mark.parametrize("posterior", [False, True])
def test_it_does_what_the_optimum_carried_out_does(posterior):
    """Three types, unlike workers and prices: the loop's cost and error, and `execute`'s."""
    rng = np.random.default_rng(3)
    skill, price = rng.uniform(0.55, 0.95, (3, 24)), rng.choice([1.0, 2.0], (3, 24))
    kind = np.arange(300) % 3
    pool = pool_of(skill, kind, 60, price)
    optimum, classes = plan_labels(
        skill, np.bincount(kind), pool.capacity, price, 0.02, "posterior" if posterior else "error"
    )
    plan = closing_rules(optimum, classes).saved()
    costs, errors, _ = carried_out(pool, 0.02, 12, plan=json.loads(json.dumps(plan)))
    other = execute(optimum, classes, pool.capacity, trials=12, seed=1)
    spread = 3.5 / np.sqrt(12)
    gap = np.hypot(costs.std(ddof=1), other.cost.std(ddof=1))
    assert costs.mean() == pytest.approx(other.cost.mean(), abs=spread * gap)
    assert costs.mean() + spread * costs.std(ddof=1) >= optimum.lower_bound
    assert errors.mean() <= 0.02 + spread * errors.std(ddof=1)


def test_a_worker_who_is_here_is_asked_where_she_is_the_best():
    pool = pool_of([0.9, 0.9, 0.55], np.zeros(6, dtype=np.int64), 6)
    policy = LabelByLabel(Ledger(pool), Goal(0.1), 0)
    assert len(policy.next(0)) == len(policy.next(1)) == 6
    assert len(policy.next(2)) == 0
    assert len(policy.next(0, 2)) == 2


def test_open_questions_are_waited_for():
    pool = pool_of(np.full(5, 0.8), np.zeros(9, dtype=np.int64), 9)
    ledger = Ledger(pool)
    policy = LabelByLabel(ledger, Goal(0.05), 0)
    first = policy.next()
    assert sorted(first.task.tolist()) == list(range(9))
    ledger.ask(first)
    assert len(policy.next()) == 0


def test_rules_are_drawn_by_their_shares():
    plan = LabelPlan([], np.array([0, 1, 0]), np.array([0.25, 1.0, 0.75]), np.zeros(1))
    lot = np.array([0.0, 0.2, 0.3, 0.9, 0.5])
    assert plan.drawn(np.array([0, 0, 0, 0, 1]), lot).tolist() == [0, 0, 2, 2, 1]


def test_a_saved_collection_goes_on_with_its_plan(tmp_path):
    skills = {"ann": 0.9, "bob": 0.8, "cy": 0.7, "dee": 0.7}

    def begun(path=None):
        return Collector(
            [f"t{i}" for i in range(8)],
            list(skills),
            classes=["a", "b"],
            epsilon=0.2,
            policy="sequential-plan",
            path=path,
            people=People(skills=skills),
        )

    plain, kept = begun(), begun(tmp_path / "c.sqlite")
    for _ in range(6):
        for collector in (plain, kept):
            for question in collector.next(None, 3):
                collector.tell(question.worker, {question.task: "a"})
        kept = Collector.open(tmp_path / "c.sqlite")
        assert kept.answers().equals(plain.answers())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"skills": None}, "knows all skills"),
        ({"classes": ["a", "b", "c"]}, "two classes"),
        ({"class_share": {"a": 0.3, "b": 0.7}}, "equally likely"),
        ({"epsilon": None, "total": 9}, "epsilon"),
        ({"epsilon": 0.01}, "cannot keep the promise"),
        ({"options": {"plan": {"rules": []}}}, "plan: is not one for 1 task types and 2 workers"),
    ],
)
def test_what_it_refuses(changes, message):
    settings = {"classes": ["a", "b"], "skills": {"ann": 0.7, "bob": 0.7}, "epsilon": 0.2}
    with pytest.raises(InputError, match=message):
        Collector(
            ["t"], ["ann", "bob"], **in_objects({"policy": "sequential-plan"} | settings | changes)
        ).next()


@pytest.mark.release
def test_a_collection_states_what_ignorance_costs_at_its_error():
    crowd = wb.simulate("spammer-hammer", tasks=40, workers=60, capacity=10, seed=1)
    found = wb.collect(
        crowd, epsilon=0.1, policy="until-trusted", people=wb.People(prior="0.8:0.5,0.5:0.5")
    )
    assert found.limit < found.limit_unknown < found.cost
    assert f"the cost is {found.cost / found.limit_unknown:.3g} times that" in found.details()
    assert found.to_dict()["limit_unknown"] == found.limit_unknown
    assert wb.collect(crowd, epsilon=0.1, policy="until-trusted").limit_unknown is None
    unlike = {f"w{i}": 1.0 + i % 2 for i in range(60)}
    with pytest.raises(InputError, match="prior: its bound is of two classes, one price"):
        wb.collect(crowd, epsilon=0.1, people=wb.People(prior="0.8:0.5,0.5:0.5", costs=unlike))
    with pytest.raises(InputError, match="sum to"):
        wb.collect(crowd, epsilon=0.1, people=wb.People(prior={0.8: 0.4}))
