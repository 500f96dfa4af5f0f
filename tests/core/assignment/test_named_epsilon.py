"""Where no plan keeps ε the message names one that does: it is typed, and gives a plan."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.rating_crowds import rated
from tests.core.set_crowds import frames

NEW = ["n1", "n2", "n3"]


def named(plan) -> float:
    """The ε that a message tells to use."""
    assert plan.message is not None
    found = re.search(r"use --epsilon (\S+) ", plan.message)
    assert found is not None, plan.message
    return float(found[1])


def crowd(rng, classes: str, workers: int, tasks: int = 30):
    """Labels of tasks with gold by workers who are right on .4 to .9."""
    true, skill = rng.integers(0, len(classes), tasks), rng.uniform(0.4, 0.9, workers)
    rows = []
    for i, t in enumerate(true.tolist()):
        for j in range(workers):
            off = 0 if rng.random() < skill[j] else rng.integers(1, len(classes))
            rows.append((f"t{i}", f"w{j}", classes[(t + off) % len(classes)]))
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    return labels, {f"t{i}": classes[t] for i, t in enumerate(true.tolist())}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("promise", ["each", "mean", "class", "bound"])
def test_of_three_classes(seed, promise):
    rng = np.random.default_rng(seed)
    labels, gold = crowd(rng, "abc", 3 + seed)
    terms = {"capacity": 2 + seed, "options": wb.PlanOptions(promise=promise, time_limit=5)}
    none = wb.plan(labels, gold, NEW, epsilon=0.005, **terms)
    at = named(none)
    made = wb.plan(labels, gold, NEW, epsilon=at, **terms)
    assert made.message is None
    errors = made.errors["bound" if promise == "bound" else "exact"]
    assert (errors.mean() if promise == "mean" else errors.max()) <= at * (1 + 1e-9)


def test_of_what_an_error_costs():
    labels, gold = crowd(np.random.default_rng(4), "ny", 4)
    terms = {"capacity": 2, "loss": {"y": 5}}
    at = named(wb.plan(labels, gold, NEW, epsilon=0.01, **terms))
    made = wb.plan(labels, gold, NEW, epsilon=at, **terms)
    assert made.message is None
    assert made.errors["exact"].max() <= at * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("promise", ["each", "mean", "bound"])
def test_of_two_classes(seed, promise):
    rng = np.random.default_rng(seed)
    skills = {f"w{j}": float(p) for j, p in enumerate(rng.uniform(0.5, 0.95, 3 + seed % 4))}
    capacity = {name: int(rng.integers(1, 4)) for name in skills}
    terms = {"skills": skills, "capacity": capacity}
    terms["options"] = wb.PlanOptions(promise=promise, time_limit=5)
    none = wb.plan(tasks=NEW, epsilon=0.001, **terms)
    assert wb.plan(tasks=NEW, epsilon=named(none), **terms).message is None


@pytest.mark.parametrize("promise", ["each", "bound"])
def test_of_sets(promise):
    labels, gold = frames(1, tasks=60, workers=6, labels=2, each=4)
    terms = {"capacity": 2, "options": wb.PlanOptions(promise=promise)}
    none = wb.plan(labels, gold, NEW, epsilon=0.01, **terms)
    assert wb.plan(labels, gold, NEW, epsilon=named(none), **terms).message is None


@pytest.mark.parametrize("capacity", [1, 3])
def test_of_ratings(capacity):
    labels, gold = rated(tasks=40, workers=4, noise=6)
    none = wb.plan(labels, gold, NEW, epsilon=2, capacity=capacity)
    assert wb.plan(labels, gold, NEW, epsilon=named(none), capacity=capacity).message is None
