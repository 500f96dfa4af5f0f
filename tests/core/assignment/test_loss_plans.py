"""Plans by what errors cost: as brute force has it, and executed as promised."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.assignment.make_plan import AssignmentTerms, Confusions, make_plan
from workbench.crowd.loss import Stakes

NAMES = ("no", "yes")


def least_cost(skills, loss, share):
    """Expected cost of the answers of least cost by workers of these skills."""
    total = 0.0
    for said in product((0, 1), repeat=len(skills)):
        chance = [
            loss[z]
            * share[z]
            * np.prod([p if a == z else 1 - p for p, a in zip(skills, said, strict=True)])
            for z in (0, 1)
        ]
        total += min(chance)
    return total


def fewest_labels(skills, tasks, capacity, epsilon, loss, share):
    """Labels of the cheapest plan over all ways to deal workers to tasks; None without any."""
    m = len(skills)
    sets = [
        who
        for size in range(m + 1)
        for who in combinations(range(m), size)
        if least_cost([skills[j] for j in who], loss, share) <= epsilon * (1 + 1e-9)
    ]
    loads = {(0,) * m: 0}
    for _ in range(tasks):
        dealt = {}
        for load, labels in loads.items():
            for who in sets:
                new = tuple(n + (j in who) for j, n in enumerate(load))
                if max(new) <= capacity and dealt.get(new, 99) > labels + len(who):
                    dealt[new] = labels + len(who)
        loads = dealt
    return min(loads.values(), default=None)


def programs(many, seed):
    rng, found = np.random.default_rng(seed), 0
    for _ in range(many):
        m, tasks = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        capacity = int(rng.integers(1, tasks + 1))
        skills = rng.uniform(0.55, 0.97, m)
        loss, share = np.array([1.0, rng.uniform(0.5, 9.0)]), rng.dirichlet((3, 3))
        epsilon = float(rng.uniform(0.1, 0.95)) * min(loss * share)
        least = fewest_labels(skills, tasks, capacity, epsilon, loss, share)
        made = wb.plan(
            tasks=[f"t{i}" for i in range(tasks)],
            skills={f"w{j}": p for j, p in enumerate(skills)},
            capacity=capacity,
            epsilon=epsilon,
            loss=dict(zip(NAMES, loss, strict=True)),
            class_share=dict(zip(NAMES, share, strict=True)),
            limits=wb.TaskLimits(have="none"),
        )
        if least is None:
            assert made.message is not None
            continue
        found += 1
        assert made.message is None
        assert len(made.table) == least
        assert made.claim.proven
        costs = [
            least_cost([skills[int(w[1:])] for w in hers], loss, share)
            for hers in made.table.groupby("task")["worker"].agg(list)
        ]
        assert made.errors["exact"].max() <= epsilon * (1 + 1e-6)
        assert sorted(costs)[-1:] == pytest.approx([made.errors["exact"][: len(costs)].max()][:1])
        assert made.promised.cost == pytest.approx(made.errors["exact"].mean())
    assert found >= many / 4


def test_programs_with_losses_are_as_brute_force_has_them():
    programs(6, 1)


@pytest.mark.release
def test_three_hundred_programs_with_losses_are_as_brute_force_has_them():
    programs(300, 49)


def crowd(confusion, shares, tasks, seed, names=NAMES):
    """Labels of all workers for so many tasks, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(shares), tasks, p=shares)
    rows = [
        (f"{seed} {i}", f"w{j}", names[rng.choice(len(names), p=matrix[truth[i]])])
        for i in range(tasks)
        for j, matrix in enumerate(confusion)
    ]
    ids = [f"{seed} {i}" for i in range(tasks)]
    gold = pd.Series([names[z] for z in truth], index=ids)
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), gold


def rare_crowd(workers=10):
    rng = np.random.default_rng(11)
    se, sp = rng.uniform(0.7, 0.85, workers), rng.uniform(0.85, 0.95, workers)
    return np.array([[[s, 1 - s], [1 - f, f]] for f, s in zip(se, sp, strict=True)])


@pytest.fixture(scope="module")
def known():
    """A plan by known matrices: one in ten is positive, and a miss costs five."""
    confusion, shares = rare_crowd(), np.array([0.9, 0.1])
    who = [f"w{j}" for j in range(len(confusion))]
    skill = pd.DataFrame({"all": 0.8}, index=pd.Index(who, name="worker"))
    tasks = pd.Series("all", index=[f"t{i}" for i in range(500)])
    stakes = Stakes(NAMES, np.array([1.0, 5.0]), shares)
    terms = AssignmentTerms(500, 0.05, stakes=stakes)
    made = make_plan(Confusions(confusion[None], shares, NAMES, skill), tasks, terms)
    return confusion, shares, made


def test_where_skills_are_known_a_plan_costs_what_it_promises_and_finds_the_rare(known):
    confusion, shares, made = known
    assert len(made.table) <= 5 * 500
    promised = made.stakes.outcome(made.named)
    assert promised.cost <= 0.05
    assert promised.recall[1] >= 0.93
    labels, gold = crowd(confusion, shares, 500, 3)
    labels["task"] = labels["task"].str.replace("3 ", "t")
    answers = wb.aggregate(
        labels, plan=made.scores, truth=gold.set_axis(gold.index.str.replace("3 ", "t"))
    )
    costs = answers.error.costs
    assert costs.interval[0] <= promised.cost <= costs.interval[1]


@pytest.mark.release
def test_skills_from_a_hundred_gold_tasks_are_measured_beside_what_is_promised():
    confusion, shares = rare_crowd(), np.array([0.9, 0.1])
    labels, gold = crowd(confusion, shares, 100, 1)
    new = [f"2 {i}" for i in range(2000)]
    made = wb.plan(labels, gold, new, epsilon=0.08, capacity=2000, loss={"yes": 5})
    said = made.summary()
    assert "an answer costs at most" in said
    assert "Measured, an answer costs" in said
    assert made.promised.cost <= 0.08
    later, truth = crowd(confusion, shares, 2000, 2)
    costs = wb.aggregate(later, plan=made, truth=truth).error.costs
    low, high = made.error.costs.interval
    assert low <= costs.outcome.cost <= high


@pytest.mark.release
def test_a_plan_of_three_classes_is_executed_as_promised():
    names, rng = ("a", "b", "c"), np.random.default_rng(5)
    confusion = np.array(
        [
            0.75 * np.eye(3) + 0.25 * rng.dirichlet((1, 1, 1), 3)
            if j % 2
            else rng.dirichlet((2, 2, 2), 3)
            for j in range(10)
        ]
    )
    shares = np.array([0.6, 0.3, 0.1])
    labels, gold = crowd(confusion, shares, 3000, 1, names)
    new = [f"2 {i}" for i in range(3000)]
    made = wb.plan(
        labels, gold, new, epsilon=0.06, capacity=3000, limits=wb.TaskLimits(have="none")
    )
    later, truth = crowd(confusion, shares, 3000, 2, names)
    assert wb.aggregate(later, plan=made, truth=truth).error.measured.error_measured <= 0.06


def test_costs_go_with_what_weighs_them():
    skills = {"ann": 0.9, "bob": 0.8}
    stated = {"loss": {"no": 1, "yes": 5}}
    for options in (wb.PlanOptions(promise="class"), wb.PlanOptions(sequential=True)):
        with pytest.raises(wb.InputError, match="leave"):
            wb.plan(tasks=["a"], skills=skills, epsilon=0.3, capacity=1, options=options, **stated)
    with pytest.raises(wb.InputError, match="name both"):
        wb.plan(tasks=["a"], skills=skills, epsilon=0.3, capacity=1, loss={"yes": 5})
    with pytest.raises(wb.InputError, match="above 0 and below 3"):
        wb.plan(tasks=["a"], skills=skills, epsilon=4.0, capacity=1, **stated)
    plain = wb.plan(tasks=["a"], skills=skills, epsilon=0.3, capacity=1)
    assert not {"cost_promised"} & set(plain.to_dict())
