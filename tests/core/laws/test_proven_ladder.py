"""`ladder` on small random crowds, each rung held to all plans, or all policies, of its kind.

`WORKBENCH_FUZZ` tries so many instead of the few that every run of the tests does.
"""

from __future__ import annotations

import itertools
import math
import os
from functools import cache

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.api.climbing import Ladder
from workbench.assignment import rungs as room
from workbench.assignment.rungs import RUNGS, Rung
from workbench.solving.claims import CostClaim
from workbench.solving.exact_error import ExactErrorPlan

PROBLEMS = int(os.environ.get("WORKBENCH_FUZZ", "8"))
NEAR = 1e-6
"""What is over or under by less, relative, may count as either."""


def crowd_of(seed):
    """Skills by type and worker, price of a label, tasks, capacity and ε."""
    rng = np.random.default_rng(seed)
    types, workers, tasks = (
        int(rng.integers(1, 3)),
        int(rng.integers(1, 5)),
        int(rng.integers(1, 4)),
    )
    types = min(types, tasks)
    shape = types, workers
    skill = [rng.choice([0.5, 0.7, 0.8, 0.9, 0.95], shape), rng.uniform(0.65, 1.0, shape)]
    skill[1] = np.where(rng.random(shape) < 0.15, 1.0 - skill[1], skill[1])
    price = [None, rng.choice([0.5, 1.0, 2.0], workers), rng.uniform(0.01, 3.0, workers)]
    capacity = rng.integers(1, tasks + 1, workers)
    return (
        skill[seed % 2],
        price[seed // 2 % 3],
        tasks,
        capacity,
        float(rng.choice([0.05, 0.1, 0.2, 0.3])),
    )


def asked(seed):
    skill, price, tasks, capacity, epsilon = crowd_of(seed)
    names = [f"w{j}" for j in range(skill.shape[1])]
    table = pd.DataFrame(skill.T, index=names, columns=[f"k{t}" for t in range(len(skill))])
    costs = None if price is None else dict(zip(names, price.tolist(), strict=True))
    return wb.ladder(
        skills=table.rename_axis("worker").reset_index(),
        tasks=tasks,
        capacity=pd.DataFrame({"worker": names, "capacity": capacity}),
        costs=costs,
        epsilon=epsilon,
        trials=2,
        time_limit=1.0,
        seed=seed,
    )


def vote_error(skill):
    """Error of the likelier of two classes, by all ways to answer."""
    told = [(p, 1 - p) for p in skill]
    ways = itertools.product((0, 1), repeat=len(skill))
    return sum(
        0.5
        * min(
            math.prod(t[x] for t, x in zip(told, way, strict=True)),
            math.prod(t[1 - x] for t, x in zip(told, way, strict=True)),
        )
        for way in ways
    )


def keeps(name, skill, epsilon, slack):
    """Whether the rung's program takes a set of workers for a task; `slack` in its favour."""
    p = np.array(skill)
    if name == "hoeffding":
        return ((2 * p - 1) ** 2).sum() >= 2 * math.log(1 / epsilon) * (1 - slack)
    if name == "bhattacharyya":
        with np.errstate(divide="ignore"):
            told = np.minimum(-np.log(2 * np.sqrt(p * (1 - p))), 1e3).sum()
        return told >= math.log(1 / (2 * epsilon)) * (1 - slack)
    return vote_error(skill) <= epsilon * (1 + slack)


def least_plan(name, seed, slack):
    """Cost of the cheapest of all plans; infinite where there is none."""
    skill, price, tasks, capacity, epsilon = crowd_of(seed)
    kinds = np.arange(tasks) % len(skill)
    pays = np.ones(len(capacity)) if price is None else price
    sets = list(itertools.product((0, 1), repeat=len(capacity)))
    good = [
        [s for s in sets if keeps(name, row[np.array(s, dtype=bool)].tolist(), epsilon, slack)]
        for row in skill
    ]
    room_left = {tuple(capacity.tolist()): 0.0}
    for kind in kinds.tolist():
        after: dict[tuple[int, ...], float] = {}
        for left, cost in room_left.items():
            for chosen in good[kind]:
                still = tuple(a - b for a, b in zip(left, chosen, strict=True))
                if min(still) >= 0:
                    spent = cost + float(np.dot(pays, chosen))
                    after[still] = min(after.get(still, math.inf), spent)
        room_left = after
    return min(room_left.values(), default=math.inf)


def least_policy(skill, price, epsilon, *, posterior):
    """Least expected cost for one task, by all policies; infinite where none keeps the promise.

    Of a mean error, by all prices of an error: a policy may stop by lot.
    """

    def value(wrong):
        @cache
        def best(asked, plus, minus):
            chance = plus + minus
            if chance == 0:
                return 0.0
            stop = wrong * min(plus, minus)
            if posterior:
                stop = 0.0 if min(plus, minus) <= epsilon * (1 + 1e-9) * chance else math.inf
            return min(
                [stop]
                + [
                    price[j] * chance
                    + best(asked | {j}, plus * p, minus * (1 - p))
                    + best(asked | {j}, plus * (1 - p), minus * p)
                    for j, p in enumerate(skill)
                    if j not in asked
                ]
            )

        return best(frozenset(), 0.5, 0.5)

    if posterior:
        return value(0.0)
    if vote_error(skill) > epsilon * (1 + 1e-9):
        return math.inf
    low, high = 0.0, 1e4  # What prices an error is concave.
    for _ in range(90):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        if value(one) - one * epsilon < value(two) - two * epsilon:
            low = one
        else:
            high = two
    return value(low) - low * epsilon


@pytest.mark.parametrize("seed", range(PROBLEMS))
def test_rungs_say_what_all_plans_and_policies_say(seed):
    skill, price, tasks, capacity, epsilon = crowd_of(seed)
    found = asked(seed)
    rungs = found.to_frame().set_index("name").to_dict("index")
    assert tuple(rungs) == RUNGS
    for name in RUNGS[:3]:
        held_to_all_plans(name, seed, rungs[name])
    limit, exact = rungs["information limit"], rungs["exact error"]
    for name in RUNGS[:3]:
        if not np.isnan(rungs[name]["cost"]):
            assert limit["lower_bound"] <= rungs[name]["cost"] * (1 + NEAR)
    if limit["status"] == "infeasible":
        assert math.isinf(least_plan("exact error", seed, -NEAR))
        assert "no way of asking keeps that promise" in found.summary()
    assert "nan" not in found.summary()
    assert ("the least of all plans" in found.summary()) == (not np.isnan(exact["cost"]))
    assert ("proven the least of all plans" in found.summary()) == (exact["status"] == "proven")
    if (capacity >= tasks).all():
        held_to_all_policies(rungs, skill, price, tasks, epsilon)


def held_to_all_plans(name, seed, rung):
    """Bound ≤ optimum ≤ cost; proven, feasible or infeasible only where so."""
    # What is near the promise counts as keeping it, or as not.
    lowest, highest = least_plan(name, seed, NEAR), least_plan(name, seed, -NEAR)
    for bound in (rung["lower_bound"], rung["proven_bound"]):
        if not np.isnan(bound):
            assert bound <= highest * (1 + NEAR)
    if np.isnan(rung["cost"]):
        assert not rung["status"].startswith("infeasible") or math.isinf(highest)
        return
    assert rung["cost"] >= lowest * (1 - NEAR)
    assert rung["error"] <= crowd_of(seed)[-1] * (1 + NEAR)
    claim = CostClaim(
        rung["cost"],
        *(None if np.isnan(b) else b for b in (rung["proven_bound"], rung["lower_bound"])),
    )
    assert rung["status"] == claim.status
    if rung["status"] in ("proven", "HiGHS's word"):
        assert rung["cost"] <= highest * (1 + NEAR)


def held_to_all_policies(rungs, skill, price, tasks, epsilon):
    """Where capacities bind nowhere, tasks are apart: the bounds are below the optimum of each."""
    pays = [1.0] * skill.shape[1] if price is None else price.tolist()
    kinds = np.bincount(np.arange(tasks) % len(skill), minlength=len(skill))
    best = {
        posterior: sum(
            times * least_policy(tuple(row.tolist()), pays, epsilon, posterior=posterior)
            for times, row in zip(kinds.tolist(), skill, strict=True)
        )
        for posterior in (False, True)
    }
    limit = rungs["information limit"]
    if not np.isnan(limit["lower_bound"]):
        assert limit["lower_bound"] <= best[False] * (1 + NEAR)
    for name, posterior in (("sequential, error", False), ("sequential, posterior", True)):
        rung = rungs[name]
        if not np.isnan(rung["cost"]):
            assert rung["proven_bound"] <= best[posterior] * (1 + NEAR), name


def test_a_plan_of_the_rung_above_is_one(monkeypatch):
    """In no time, "none found" by the exact error, where Bhattacharyya's plan keeps it."""
    nothing = ExactErrorPlan("bound", lower_bound=0.0)
    monkeypatch.setattr(room, "solve_exact_error", lambda *_, **__: nothing)
    skills = pd.DataFrame({"worker": ["a", "b"], "x": [0.95, 0.9]})
    found = wb.ladder(skills=skills, tasks=2, capacity=2, epsilon=0.3, trials=2)
    rung = found.rungs.set_index("name").loc["exact error"]
    assert (rung["cost"], rung["status"], rung["error"]) == (2.0, "feasible", pytest.approx(0.05))


def told(**rungs):
    """The verdict where some rungs are as given, and nothing is known of the others."""
    names = {name.replace(",", "").replace(" ", "_"): name for name in RUNGS}
    rows = [rungs.get(short, Rung(name, None, None, "infeasible")) for short, name in names.items()]
    table = pd.DataFrame([vars(row) for row in rows])
    table = table.astype({"cost": float, "lower_bound": float, "proven_bound": float})
    settings = {"costs": None, "trials": 2}
    return Ladder(table, "crowd", 3, 4, 0.1, settings, {})


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ((102.0, 102.0), "102 labels, proven the least of all plans"),
        ((102.0, 90.0), "102 labels, the least of all plans by HiGHS's word"),
        ((100.0, 100.0), "102 labels, proven to be at most 2 % above the least of all plans"),
        ((100.0, 90.0), "102 labels, at most 2 % above the least of all plans by HiGHS's word"),
    ],
)
def test_a_plan_is_worded_by_what_is_known_of_it(bounds, words):
    lower, proven = bounds
    status = CostClaim(102.0, proven, lower).status
    rung = Rung("exact error", lower, 102.0, status, 0.1, proven_bound=proven)
    found = told(exact_error=rung)
    assert words in found.summary()
    assert f" {proven:g} " in found.brief()  # proven of every plan, as the notes have it


def test_none_found_is_not_none_there_is():
    found = told(
        hoeffding=Rung("hoeffding", 9.0, None, "open"),
        bhattacharyya=Rung("bhattacharyya", None, None, "infeasible, HiGHS's word"),
        information_limit=Rung("information limit", 8.96, None, "proven", proven_bound=8.96),
    )
    said = found.summary()
    assert "None found by hoeffding; there may be one." in said
    assert "There is no plan by bhattacharyya, by HiGHS's word." in said
    assert "There is no plan by exact error" in said
    assert "takes fewer than 8.96 labels" in said


def test_where_nobody_tells_anything():
    """A traceback, "argmin of an empty sequence", and "no fewer than nan labels"."""
    skills = pd.DataFrame({"worker": ["a", "b"], "x": [0.5, 0.5], "y": [0.9, 0.5]})
    found = wb.ladder(skills=skills, tasks=2, capacity=2, epsilon=0.1, trials=2)
    assert set(found.rungs["status"]) == {"infeasible"}
    assert "no way of asking keeps that promise: all labels" in found.summary()
