"""One law for "proven": what `plan` says at the front door, held to all plans there are."""

from __future__ import annotations

import itertools
import os
import re

import numpy as np
import pytest

import workbench as wb
from tests.core.laws.plans import Small

COUNT = int(os.environ.get("WORKBENCH_LAWS", "4"))
"""Problems of each promise; before a release 300."""
NEAR = 1e-6


@pytest.mark.parametrize("promise", ["each", "mean", "class", "bound"])
@pytest.mark.parametrize("part", range(4))
def test_a_plan_is_what_it_says(promise, part):
    for seed in range(part, COUNT, 4):
        small = Small.drawn([seed, 42], promise)
        held(small, small.asked())


def held(small, plan):
    """Hold a plan, and every word of it, to brute force."""
    best = small.best()
    if plan.message is not None:
        if plan.message.startswith("There is no plan"):
            assert best is None, (small, plan.message)
        mended(small, plan)
        return
    assert best is not None, (small, plan.verdict())
    chosen = np.zeros(small.available.shape, dtype=bool)
    for task, worker in plan.table[["task", "worker"]].itertuples(index=False):
        chosen[small.tasks.index(task), small.workers.index(worker)] = True
    allowed(small, chosen)
    cost = float(small.prices[chosen].sum())
    assert plan.solution.objective == pytest.approx(cost, abs=NEAR)
    assert cost >= best - NEAR
    claim = plan.claim
    for bound in (claim.checked, claim.believed, plan.solution.bound):
        assert bound is None or bound <= best + NEAR * max(best, 1), (small, claim, best)
    if claim.gap == 0:
        assert cost == pytest.approx(best, abs=NEAR), (small, claim, best)
    words = plan.verdict()[0]
    if "proven the cheapest" in words:
        assert cost == pytest.approx(best, abs=NEAR)
    if within := re.search(r"at most ([\d.]+) % above the cheapest", words):
        assert cost <= best * (1 + float(within[1]) / 100) + NEAR


def allowed(small, chosen):
    """Hold a plan to capacities, availability, limits and the promise."""
    assert (chosen.sum(axis=0) <= small.capacity).all()
    errors = []
    for i, row in enumerate(chosen):
        every = {tuple(c.tolist()): error for c, error in small.options(i, small.epsilon)}
        assert tuple(row.tolist()) in every, (small, i, row)
        errors.append(every[tuple(row.tolist())])
    if small.promise == "mean":
        assert np.mean(errors) <= small.epsilon * (1 + NEAR)


def mended(small, plan):
    """Hold what is said to do where there is no plan."""
    if enough := re.search(r"use --epsilon ([\d.]+)", plan.message):
        assert small.best(epsilon=float(enough[1])) is not None, (small, plan.message)
    if plan.kept is None:
        return
    n = len(small.kinds)
    names = set(plan.kept.errors.index)
    kept = [i for i in range(n) if small.tasks[i] in names]
    best = small.best(tasks=kept)
    assert best is not None, (small, plan.message)
    assert plan.kept.solution.objective >= best - NEAR
    if plan.kept.claim.proven:
        assert plan.kept.solution.objective == pytest.approx(best, abs=NEAR)
    if "and no more" in plan.message:
        for more in itertools.combinations(range(n), len(kept) + 1):
            assert small.best(tasks=more) is None, (small, plan.message)


class TestCasesThatWereWrong:
    def test_the_cheapest_of_covers_is_not_the_cheapest(self):
        plan = wb.plan(
            tasks=["t"],
            skills={"a": 0.95, "b": 0.9, "c": 0.9, "d": 0.9},
            costs={"a": 2.0, "b": 0.5, "c": 1.0, "d": 1.0},
            epsilon=0.05,
            capacity=1,
        )
        assert plan.solution.objective == 2.0
        assert "proven the cheapest" in plan.verdict()[0]

    def test_two_tasks_that_five_workers_keep_are_not_infeasible(self):
        skills = dict(zip("abcdef", [0.84, 0.79, 0.73, 0.6, 0.58, 0.58], strict=True))
        plan = wb.plan(tasks=["t1", "t2"], skills=skills, epsilon=0.2, capacity=1)
        assert plan.solution.objective == 5.0

    def test_who_covers_either_task_but_not_both(self):
        plan = wb.plan(tasks=["t1", "t2"], skills={"a": 0.9}, epsilon=0.2, capacity=1)
        assert plan.message.startswith(
            "There is no plan, which is proven: the workers' capacities suffice for 1 of 2"
        )
        assert plan.kept.tasks == 1
        assert len(plan.kept.table) == 1

    def test_no_error_above_one_is_named(self):
        plan = wb.plan(tasks=["t1", "t2"], skills={"a": 0.9}, epsilon=0.05, capacity=2)
        assert "label tasks t1, t2, the vote is wrong with a chance of 10 %" in plan.message
        assert plan.message.endswith("Next: use --epsilon 0.1 or larger.")
