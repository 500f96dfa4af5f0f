from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from workbench.accuracy.best_sets import best_set
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.learning.draws import Draws
from workbench.learning.learners import (
    LEARNERS,
    ExploreThenCommit,
    FullCrowd,
    Learner,
    Optimistic,
    Oracle,
    Refitted,
    Thompson,
)
from workbench.learning.ls_ol import LsOl
from workbench.learning.schedule import practical

SKILL = np.array([0.9, 0.62, 0.8, 0.7, 0.55])
ALL: dict[str, Callable[[Seed], Learner]] = {
    **{name: partial(LEARNERS[name].call, SKILL) for name in LEARNERS},
    "LS_OL": lambda seed: LsOl(5, practical(2.0, 3.0), seed=seed),
    "explore then commit, weighted": lambda seed: ExploreThenCommit(
        5, 20, weighted=True, seed=seed
    ),
    "Thompson, weighted": lambda seed: Thompson(5, weighted=True, seed=seed),
    "UCB, weighted": lambda seed: Optimistic(5, weighted=True, seed=seed),
}
EVERY = pytest.mark.parametrize("make", ALL.values(), ids=ALL)


def trajectory(policy: Learner, draws: Draws, run: int, tasks: int) -> list[object]:
    stream = draws.stream(run)
    steps: list[object] = []
    for t in range(tasks):
        ask = policy.ask(t)
        answer = policy.tell(stream.answers(int(ask.task), ask.workers, t))
        steps.append((ask.task, ask.workers.tolist(), ask.kind, answer))
    return steps


@EVERY
def test_labels_of_strangers_and_impossible_ones_are_refused(
    make: Callable[[Seed], Learner],
) -> None:
    policy = make(3)
    with pytest.raises(InputError, match="ask first"):
        policy.tell({})
    policy.ask("a")
    with pytest.raises(InputError, match="give"):
        policy.tell({0: 2})
    with pytest.raises(InputError, match="workers"):
        policy.tell([1, 0])
    with pytest.raises(InputError, match="unknown"):
        policy.tell({7: 1})
    answer = policy.tell({})
    assert answer.label in {0, 1}
    assert answer.confidence == 0.5


def test_explore_then_commit_by_hand() -> None:
    policy = ExploreThenCommit(3, 4, seed=0)
    rounds = [(1, 1, 0), (0, 0, 0), (1, 1, 0), (0, 1, 0)]
    majorities = [1, 0, 1, 0]
    for t, (labels, majority) in enumerate(zip(rounds, majorities, strict=True)):
        ask = policy.ask(t)
        assert ask.kind == "new tester"
        assert ask.workers.tolist() == [0, 1, 2]
        assert policy.tell(labels).label == majority
    # Agreements: 4, 3 and 2 of 4. A worker without errors decides alone.
    assert policy.estimates.tolist() == [1.0, 0.75, 0.5]
    assert policy.best.tolist() == [0]
    for t in range(4, 9):
        ask = policy.ask(t)
        assert (ask.kind, ask.workers.tolist()) == ("exploit", [0])
        answer = policy.tell({0: t % 2})
        assert (answer.label, answer.confidence) == (t % 2, 1.0)
    assert policy.estimates.tolist() == [1.0, 0.75, 0.5]


def test_optimistic_bounds_by_hand() -> None:
    policy = Optimistic(5, seed=1)
    assert np.isinf(policy.bounds).all()
    ask = policy.ask(0)
    # All may be perfect: three of those nobody knows.
    assert len(ask.workers) == 3
    policy.tell({int(i): int(k < 2) for k, i in enumerate(ask.workers)})
    known = ask.workers
    strangers = set(range(5)) - set(known.tolist())
    ask = policy.ask(1)
    assert strangers < set(ask.workers.tolist())
    policy.tell({})
    policy.ask(2)
    policy.tell({})
    expected = np.array([1.0, 1.0, 0.0]) + np.sqrt(0.5 * np.log(3))
    assert policy.step == 3
    assert policy.bounds[known] == pytest.approx(expected)


@pytest.mark.release
def test_dawid_skene_estimates_skills_where_agreement_does_not() -> None:
    draws = Draws(SKILL, 1, seed=5)
    model = Refitted(5, 4000, seed=draws.coins(0))
    agreement = ExploreThenCommit(5, 4000, seed=draws.coins(0))
    trajectory(model, draws, 0, 4000)
    trajectory(agreement, draws, 0, 4000)
    assert np.abs(model.estimates - SKILL).max() < 0.04
    assert np.abs(agreement.estimates - SKILL).max() > 0.08


def test_oracle_asks_the_best_set() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        skill = rng.random(6)
        policy = Oracle(skill, seed=0)
        expected = best_set(skill).workers
        assert policy.ask(0).workers.tolist() == expected.tolist()
        policy.tell({})
        assert policy.best.tolist() == expected.tolist()


def test_full_crowd_weights() -> None:
    skill = np.array([0.95, 0.6, 0.6])
    # The best outvotes two of 0.6 against her, but not by heads.
    for weights, label in ((None, 0), (skill, 1), ("learned", 0)):
        policy = FullCrowd(3, weights, seed=0)
        if isinstance(weights, str):
            for t in range(40):
                policy.ask(t)
                policy.tell([1, 1, 0] if t < 20 else [0, 1, 1])
        policy.ask("x")
        assert policy.tell([1, 0, 0]).label == label
    assert FullCrowd(3, skill, seed=0).estimates.tolist() == skill.tolist()
