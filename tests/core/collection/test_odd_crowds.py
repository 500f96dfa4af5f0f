"""Free workers, absurd prices, labels of one class: a result or one line, and no warning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.collection.shipped import SHIPPED
from tests.core.flat import in_objects
from tests.core.release import some
from workbench.base.errors import InputError

WORKERS = [f"w{j}" for j in range(6)]
ELSEWHERE = {"algorithm-2", "sequential-plan"}
"""Of workers who arrive, or whose skill is known."""
EVERYWHERE = [name for name in SHIPPED if name not in ELSEWHERE]


def recorded(tasks=10, seed=0, skill=0.8):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 2, tasks)
    said = true[:, None] ^ (rng.random((tasks, len(WORKERS))) > skill)
    task, worker = np.divmod(np.arange(said.size), len(WORKERS))
    labels = pd.DataFrame(
        {
            "task": [f"t{i}" for i in task],
            "worker": [WORKERS[j] for j in worker],
            "label": np.array(["no", "yes"])[said.ravel().astype(int)],
        }
    )
    gold = pd.Series(np.array(["no", "yes"])[true], [f"t{i}" for i in range(tasks)])
    return labels, gold


@pytest.mark.parametrize("policy", some(EVERYWHERE, 2))
@pytest.mark.parametrize(
    "price",
    [
        pytest.param(dict.fromkeys(WORKERS, 0.0), id="free", marks=pytest.mark.release),
        pytest.param(
            {worker: float(j % 2) for j, worker in enumerate(WORKERS)},
            id="some free",
            marks=pytest.mark.release,
        ),
        pytest.param(
            {worker: [1e9, 5e-324, 0.0][j % 3] for j, worker in enumerate(WORKERS)}, id="unlike"
        ),
    ],
)
def test_prices_from_nothing_up_bring_no_warning(policy, price):
    labels, gold = recorded()
    plans = (
        {"epsilon": 0.1},
        {"total": 15.0, "arrivals": True},
        {"epsilon": 0.1, "total": 1e308},
    )
    for plan in plans:
        result = wb.collect(
            labels, gold, **in_objects({"policy": policy, "costs": price, **plan})
        )  # warnings are errors
        assert 0.0 <= result.cost <= plan.get("total", 1e11)


def test_a_free_worker_is_asked_and_the_better_one_first():
    """Free workers are told apart by their skill."""
    tasks = [f"t{i}" for i in range(30)]
    skills = dict(zip("abc", (0.6, 0.95, 0.7), strict=True))
    made = wb.Collector(
        tasks,
        list(skills),
        classes=["n", "y"],
        epsilon=0.1,
        people=wb.People(skills=skills, costs=dict.fromkeys("abc", 0.0)),
    )
    assert {one.worker for one in made.next()} == {"b"}


@pytest.mark.parametrize("policy", some(SHIPPED, 3))
@pytest.mark.parametrize("price", [1e308, 1.1e9, float("inf")])
def test_prices_that_overflow_are_refused(policy, price):
    labels, gold = recorded()
    with pytest.raises(InputError, match="w1") as refused:
        wb.collect(
            labels,
            gold,
            policy=policy,
            epsilon=0.1,
            people=wb.People(costs={**dict.fromkeys(WORKERS, 1.0), "w1": price}),
        )
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("policy", some(SHIPPED, 2))
@pytest.mark.parametrize("rows", [1, 60])
def test_labels_of_one_class_are_refused_in_one_line(policy, rows):
    labels, _ = recorded()
    labels = labels.head(rows).assign(label="yes")
    for wanted in ({"epsilon": 0.1}, {"total": 5}):
        with pytest.raises(InputError, match="labels: all are of one class, 'yes'"):
            wb.collect(labels, policy=policy, **wanted)


@pytest.mark.parametrize("policy", EVERYWHERE)
def test_labels_of_one_class_beside_gold_of_another_are_collected(policy):
    labels, _ = recorded()
    labels, gold = labels.assign(label="yes"), pd.Series({"t0": "yes", "t1": "no"})
    for wanted in ({"epsilon": 0.1}, {"total": 5}):  # warnings are errors
        assert wb.collect(labels, gold, policy=policy, **wanted).labels > 0
