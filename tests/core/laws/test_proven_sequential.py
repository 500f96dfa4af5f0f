"""What `plan(..., sequential=…)` calls proven holds for the problem that was asked.

Small problems at the front door, each held to all policies of few labels, listed history by history
(`finite_policies`): no worker is left out there because another is better, which is what prover and
checker once had in common. After the last label a task stays as it is (dear), or is closed for
nothing (cheap): no policy costs less than the cheap ones, and the best no more than the dear ones.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

import workbench as wb
from crowd_models.sequential_policies import SequentialClassProblem, SequentialProblem
from tests.core.solving.finite_policies import finite_optimum
from workbench.base.checker import policy_checker
from workbench.solving.sequential import sequential_optimum

COUNT = int(os.environ.get("WORKBENCH_LAWS", "15"))
"""Problems of each promise, in the slow run."""
QUICK = 3
PROMISES = ("error", "mean", "posterior")
LABELS = {1: 12, 2: 8, 3: 6}
"""Listed, by the number of different workers."""
CLOSE = 1e-6
SKILLS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 0.2)
LINE_OF = policy_checker()["line_of"]


def random_settings(seed, promise):
    """What `plan` is asked: types, workers some of whom are alike, free or of no use."""
    rng = np.random.default_rng([seed, PROMISES.index(promise)])
    types, kinds = int(rng.integers(1, 3)), int(rng.integers(1, 4))
    tasks = {f"t{i}": f"type{int(rng.integers(types))}" for i in range(int(rng.integers(1, 5)))}
    names = [f"type{t}" for t in range(types)]
    skill = rng.choice(SKILLS, (kinds, types))
    skill = np.where(rng.random(skill.shape) < 0.3, rng.uniform(0.5, 0.97, skill.shape), skill)
    if rng.random() < 0.1:
        skill[:, 0] = 0.5  # a type that nobody tells
    price = rng.choice([0.0, 0.5, 1.0, 1.0, 2.0, float(rng.uniform(0.2, 3))], kinds)
    if rng.random() < 0.4:
        price[:] = 1.0
    copies = rng.integers(1, 1 + int(rng.choice([1, 2, 6])), kinds)
    who = np.repeat(np.arange(kinds), copies)
    workers = [f"w{i}" for i in range(len(who))]
    table = pd.DataFrame(skill[who], workers, names).rename_axis("worker").reset_index()
    epsilon = float(rng.choice([0.03, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.499]))
    return {
        "tasks": tasks,
        "skills": table,
        "costs": dict(zip(workers, price[who].tolist(), strict=True)),
        "capacity": int(rng.choice([1, 2, len(tasks), 50])),
        "epsilon": epsilon,
        "options": wb.PlanOptions(sequential=promise),
    }


def stated(asked):
    """The same as a program: workers who are alike together; nobody labels a task twice."""
    tasks, table = list(asked["tasks"].values()), asked["skills"].set_index("worker")
    types = list(dict.fromkeys(tasks))
    columns, many = {}, min(asked["capacity"], len(tasks))
    for worker, row in table[types].iterrows():
        key = (*np.maximum(row, 1 - row).tolist(), asked["costs"][worker])
        columns[key] = columns.get(key, 0) + many
    kinds = np.array(list(columns))
    return SequentialProblem(
        kinds[:, :-1].T,
        [tasks.count(kind) for kind in types],
        list(columns.values()),
        asked["epsilon"],
        np.tile(kinds[:, -1], (len(types), 1)),
        asked["options"].sequential,
    )


def hold(asked, labels=None):
    """Hold a plan and its proof to enumeration; the words say what is wrong."""
    problem = stated(asked)
    labels = labels or LABELS[problem.skill.shape[1]]
    dear = finite_optimum(problem, labels)
    cheap = finite_optimum(problem, labels, ends_free=True)
    plan = wb.plan(**asked)
    slack = CLOSE * (1 + (dear or 0.0))
    content = plan.proof()
    assert content is not None, "no proof"
    holds, line = LINE_OF(content)
    assert holds, line
    claim = json.loads(content)["claim"]
    if dear is not None:
        assert plan.cost is not None, f"no policy, though one costs {dear}: {plan.message}"
        assert plan.lower_bound <= dear + slack, f"bound {plan.lower_bound}, a policy {dear}"
        assert "none" not in claim, "a proof that there is none, though there is"
        assert Fraction(claim["bound"]) <= dear + slack, f"claim {claim}, a policy {dear}"
    if cheap is None:
        assert plan.cost is None, "a policy, though there is none"
    if plan.cost is None:
        proven = plan.message.startswith("There is no policy")
        assert proven or "no policy was found" in plan.message.lower()
        assert proven == ("none" in claim), f"{plan.message}, but the file {claim}"
        return "none" if proven else "open"
    kept(plan.optimum)
    assert plan.cost >= cheap - slack, f"cost {plan.cost}, no policy below {cheap}"
    assert plan.lower_bound <= plan.cost
    assert Fraction(claim["bound"]) <= plan.cost
    near = dear is not None and dear - cheap <= 1e-3 * dear
    if near:
        assert plan.cost <= dear * 1.002 + slack, f"cost {plan.cost}, a policy {dear}"
        assert plan.lower_bound >= cheap * 0.998 - slack, f"bound {plan.lower_bound}, cost {cheap}"
        assert Fraction(claim["bound"]) >= cheap * 0.99 - slack, f"claim {claim}, cost {cheap}"
    return "near" if near else "found"


def kept(optimum):
    """Capacities and the promise, in the mean."""
    problem = optimum.problem
    assert (optimum.labels.sum(axis=0) <= problem.supply * (1 + CLOSE) + CLOSE).all()
    wrong = optimum.errors * problem.tasks
    for types, most in problem.error_rows:
        assert wrong[types].sum() <= most * (1 + CLOSE) + 1e-7
    if problem.promise == "posterior":
        assert (wrong <= problem.epsilon * problem.tasks * (1 + CLOSE)).all()


def many_hold(promise, seeds):
    seen, wrong = {}, []
    for seed in seeds:
        try:
            said = hold(random_settings(seed, promise))
            seen[said] = seen.get(said, 0) + 1
        except Exception as error:  # a traceback is wrong as well
            wrong.append((seed, type(error).__name__, str(error).partition("\n")[0]))
    print(promise, seen)
    assert not wrong
    return seen


@pytest.mark.parametrize("promise", PROMISES)
def test_some_problems(promise):
    seen = many_hold(promise, range(QUICK))
    assert seen["near"] >= QUICK / 6


@pytest.mark.release
@pytest.mark.parametrize("promise", PROMISES)
def test_many_problems(promise):
    seen = many_hold(promise, range(QUICK, QUICK + COUNT))
    assert seen["near"] > COUNT / 5
    assert seen["none"] > COUNT / 20
    assert seen.get("open", 0) <= COUNT / 20


# ---- what was wrong once, each with the right value ----


def asked_of(skills, epsilon, promise, **more):
    settings = {"tasks": ["t1"], "capacity": 1, "skills": skills, "epsilon": epsilon}
    return {**settings, "options": wb.PlanOptions(sequential=promise), **more}


def test_a_worker_who_is_beaten_is_not_left_out_of_a_posterior():
    plan = wb.plan(**asked_of({"a": 0.9, "b": 0.9, "c": 0.8, "d": 0.8}, 0.05, "posterior"))
    content = plan.proof()
    assert plan.cost == pytest.approx(31 / 13)
    assert Fraction(json.loads(content)["claim"]["bound"]) <= plan.cost  # 2.43869 it was
    assert len(content) < 20_000  # 626,010 bytes it was


@pytest.mark.parametrize("promise", PROMISES)
def test_free_labels_keep_a_promise(promise):
    plan = wb.plan(**asked_of({"a": 0.8, "b": 0.7}, 0.25, promise, costs={"a": 0.0, "b": 0.0}))
    assert (plan.cost, plan.lower_bound) == (0, 0)


@pytest.mark.parametrize(("promise", "cost"), [("error", 1 / 300), ("mean", 1 / 300)])
def test_nearly_as_often_wrong_as_a_guess(promise, cost):
    plan = wb.plan(**asked_of({"a": 0.8}, 0.499, promise))
    assert plan.cost == pytest.approx(cost)
    assert cost * 0.9999 <= plan.lower_bound <= plan.cost


@pytest.mark.parametrize("promise", PROMISES)
def test_a_type_that_nobody_tells(promise):
    table = pd.DataFrame({"worker": list("abcd"), "easy": [0.9] * 4, "coin": [0.5] * 4})
    tasks = {"t1": "coin", "t2": "easy", "t3": "easy", "t4": "easy"}
    plan = wb.plan(**asked_of(table, 0.25, promise, tasks=tasks, capacity=4))
    if promise == "mean":  # a half of one, and so little of the others
        assert plan.cost == pytest.approx(2.5)
    else:
        assert plan.cost is None
        assert plan.message.startswith("There is no policy")
        assert "of type coin" in plan.message
        assert plan.shortfall["task_types"] == ["coin"]


def test_skills_are_read_by_the_names_of_types():
    """The columns stand in another order than the tasks; one is of no task."""
    columns = {"never": [0.9], "hard": [0.6], "easy": [0.9]}
    table = pd.DataFrame({"worker": ["a"], **columns})
    tasks = {"t1": "easy", "t2": "easy"}
    assert wb.plan(**asked_of(table, 0.1, "error", tasks=tasks, capacity=2)).cost == 2
    with pytest.raises(wb.InputError, match="no column for"):
        wb.plan(**asked_of(table, 0.1, "error", tasks={"t1": "other"}))


# ---- several classes ----


def several(seed):
    """Two or three classes, one or two workers: free, of no use, short of time."""
    rng = np.random.default_rng([seed, 9])
    classes, workers = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    share = rng.dirichlet(np.full(classes, 5.0))
    sure = rng.choice([0.0, 0.3, 0.6, 0.8], workers)[:, None, None]
    confusion = rng.dirichlet(np.ones(classes), (workers, classes)) * (1 - sure)
    confusion = confusion + sure * np.eye(classes)
    if rng.random() < 0.3:
        confusion[0] = 1 / classes  # tells nothing
    many = float(rng.integers(1, 6))
    supply = many * rng.choice([0.3, 1.0, 2.0, 50.0], workers)
    prices = rng.choice([0.0, 0.5, 1.0, 2.0], (1, workers))
    epsilon = float(rng.choice([0.05, 0.1, 0.2, 0.3, 0.4])) * (1 - share.max()) * 2
    return SequentialClassProblem(confusion[None], share, [many], supply, epsilon, prices)


def listed_optimum(problem, labels, *, ends_free=False):
    """As `finite_optimum`, of several classes and one type: by numbers of answers."""
    _, workers, _, answers = problem.confusion.shape
    empty = ((0,) * answers,) * workers
    layers, joints = [[empty]], {empty: problem.share}
    for _ in range(labels):
        layer = {}
        for state in layers[-1]:
            for k, a in itertools.product(range(workers), range(answers)):
                own = list(state[k])
                own[a] += 1
                after = (*state[:k], tuple(own), *state[k + 1 :])
                layer[after] = joints[state] * problem.confusion[0, k, :, a]
        joints |= layer
        layers.append(list(layer))
    place = {state: i for i, state in enumerate(state for layer in layers for state in layer)}
    # A variable: how often a sequence of answers with these numbers is come to and then done so.
    cost, flow, limits = [], [], []
    for step, layer in enumerate(layers):
        for state in layer:
            chance = joints[state].sum()
            sure = joints[state].max()
            limits.append(
                (workers, len(cost), 0.0 if ends_free and step == labels else chance - sure)
            )
            flow.append((place[state], len(cost), 1.0))
            cost.append(0.0)
            for k in range(workers if step < labels else 0):
                flow.append((place[state], len(cost), 1.0))
                limits.append((k, len(cost), chance))
                for a in range(answers):
                    own = list(state[k])
                    own[a] += 1
                    after = (*state[:k], tuple(own), *state[k + 1 :])
                    flow.append((place[after], len(cost), -1.0))
                cost.append(chance * problem.prices[0, k])
    right = np.zeros(len(place))
    right[0] = problem.tasks[0]

    def matrix(entries, rows):
        row, column, value = zip(*entries, strict=True)
        return coo_array((value, (row, column)), (rows, len(cost))).tocsr()

    budget = [*problem.supply, problem.epsilon * problem.tasks[0]]
    solved = linprog(
        cost, matrix(limits, workers + 1), budget, matrix(flow, len(place)), right, method="highs"
    )
    assert solved.status in (0, 2), solved.message
    return float(solved.fun) if solved.status == 0 else None


def hold_several(problem, seconds):
    labels = 5 if problem.confusion.shape[1] == 1 else 4
    dear = listed_optimum(problem, labels)
    cheap = listed_optimum(problem, labels, ends_free=True)
    started = time.process_time()
    found = sequential_optimum(problem, time_limit=seconds)
    assert time.process_time() - started < seconds + 3.0, "late"
    if dear is not None:
        assert found.status != "none", f"none, though one costs {dear}"
        assert found.lower_bound <= dear + CLOSE * (1 + dear), f"{found.lower_bound} above {dear}"
    if cheap is None:
        assert found.cost is None, "a policy, though there is none"
    if found.cost is None:
        return found.status
    assert found.cost >= cheap - CLOSE * (1 + cheap), f"{found.cost} below {cheap}"
    assert found.lower_bound <= found.cost
    kept(found)
    if found.status == "solved":
        assert found.cost <= found.lower_bound * 1.0102
    return found.status


def many_of_several(seeds, seconds):
    seen, wrong = {}, []
    for seed in seeds:
        try:
            said = hold_several(several(seed), seconds)
            seen[said] = seen.get(said, 0) + 1
        except Exception as error:
            wrong.append((seed, type(error).__name__, str(error).partition("\n")[0]))
    print(seen)
    assert not wrong
    return seen


@pytest.mark.release
def test_some_problems_of_several_classes():
    many_of_several(range(3), 1.0)


@pytest.mark.release
def test_many_problems_of_several_classes():
    seen = many_of_several(range(3, 3 + COUNT), 3.0)
    assert seen["solved"] > COUNT / 3


@pytest.mark.parametrize(
    "price",
    [pytest.param(0.0, marks=pytest.mark.release), pytest.param(1.0, marks=pytest.mark.release)],
)
def test_several_classes_that_nobody_tells(price):
    """Seconds, where it did not end: whoever tells nothing was asked for ever."""
    guess, coin = np.full((3, 3), 1 / 3), np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    for confusion, status in (([guess], "none"), ([guess, coin], "solved")):
        many = len(confusion)
        problem = SequentialClassProblem(
            [confusion], np.full(3, 1 / 3), [10], [1e4] * many, 0.1, [[price] + [1.0] * (many - 1)]
        )
        started = time.process_time()
        assert sequential_optimum(problem, time_limit=20.0).status == status
        assert time.process_time() - started < 25.0
