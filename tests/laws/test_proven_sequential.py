"""What `plan(..., sequential=…)` calls proven holds for the problem that was asked.

Small problems at the front door, each held to all policies of few labels, listed history by history
(`finite_policies`): no worker is left out there because another is better, which is what prover and
checker once had in common. After the last label a task stays as it is (dear), or is closed for
nothing (cheap): no policy costs less than the cheap ones, and the best no more than the dear ones.
"""

from __future__ import annotations

import json
import os
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from crowd_models.sequential_policies import SequentialProblem
from tests.solving.finite_policies import finite_optimum
from workbench.base.checker import policy_checker

COUNT = int(os.environ.get("WORKBENCH_FUZZ", "100"))
"""Problems of each promise, in the slow run."""
QUICK = 12
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
        "sequential": promise,
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
        asked["sequential"],
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


@pytest.mark.slow
@pytest.mark.parametrize("promise", PROMISES)
def test_many_problems(promise):
    seen = many_hold(promise, range(QUICK, QUICK + COUNT))
    assert seen["near"] > COUNT / 5
    assert seen["none"] > COUNT / 20
    assert seen.get("open", 0) <= COUNT / 20
