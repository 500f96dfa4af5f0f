"""Plans of two classes of which one is rare: constant workers, rows, and what is said."""

import numpy as np
import pytest

import workbench as wb
from tests.core.selection.test_hire_by_rows import rare
from workbench.assignment.rows_or_skill import rows_or_skill

PLENTY = wb.TaskLimits(have="none")


def plan(labels, gold, epsilon, tasks=60, **more):
    new = [f"new {i}" for i in range(tasks)]
    return wb.plan(labels, gold, new, epsilon=epsilon, capacity=tasks, limits=PLENTY, **more)


@pytest.fixture(scope="module")
def plans():
    labels, gold, _ = rare(2, tasks=120, gold=80)
    return {epsilon: plan(labels, gold, epsilon) for epsilon in (0.05, 0.12)}


@pytest.mark.release
def test_who_always_says_no_gets_no_task(plans):
    for made in plans.values():
        assert made.message is None
        assert all(name.startswith("looks") for name in made.table["worker"])
        assert sorted(made.constant) == [f"no {j}" for j in range(4)]
        assert "(4 get none: always naming one class tells nothing)" in made.summary()


@pytest.mark.release
def test_an_error_that_asks_for_nothing_is_named(plans):
    assert "no for every task is wrong on" in plans[0.12].summary()
    assert "--promise class" in plans[0.12].summary()
    assert "for every task is wrong" not in plans[0.05].summary()


@pytest.mark.release
def test_the_shares_that_a_promise_takes_are_said_where_it_takes_any():
    taken = 0
    for seed in range(4):
        labels, gold, _ = rare(seed, tasks=300)
        made = plan(labels, gold, 0.05)
        by_rows = made.scores is not None
        taken += by_rows
        assert ("classes being as frequent as there" in made.summary()) == by_rows
    assert taken


def test_a_rule_that_chooses_takes_the_one_it_says(monkeypatch):
    from workbench.assignment import rows_or_skill as room

    for better in (True, False):
        monkeypatch.setattr(room, "rows_err_less", lambda *_, better=better, **__: better)
        rule = rows_or_skill(None, ("x", "y"), (lambda _: "rows", lambda _: "skill"), seed=0)
        assert rule(np.zeros(1, dtype=int)) == ("rows" if better else "skill")


@pytest.mark.release
def test_what_is_measured_is_made():
    """Plans' measured errors beside those of their executed votes, over ten crowds."""
    measured, made = [], []
    for seed in range(10):
        labels, gold, rest = rare(200 + seed, tasks=500)
        found = wb.plan(
            labels, gold, list(rest.index), epsilon=0.06, capacity=len(rest), limits=PLENTY
        )
        answers = wb.aggregate(labels, plan=found).labels
        measured.append(found.error.measured.error_measured)
        made.append((answers.reindex(rest.index) != rest).mean())
    off = 3 * np.sqrt(np.mean(made) / (10 * 100))
    assert np.mean(measured) == pytest.approx(np.mean(made), abs=off)
