"""The search for instances on which an online policy does badly."""

from __future__ import annotations

import pytest

from crowd_models import requirement
from workbench.assignment import Hunt, adversary, replay_bad_instance, search_bad_instance
from workbench.base.errors import InputError
from workbench.solving import solve


def hunt(evaluations, **other):
    return Hunt(
        **{"policy": "greedy", "types": 1, "workers": 6, "sample": 2, **other},
        evaluations=evaluations,
    )


def test_the_optimum_is_the_proven_one():
    small, outcome, _ = search_bad_instance(hunt(20), 2)
    assert outcome.optimum == solve(small.problem(), "ip").objective
    assert small.problem().requirement[0] == requirement(small.epsilon)
    assert outcome.covered == 1
    assert outcome.ratio >= 1


def test_what_is_found_can_be_replayed():
    small, outcome, _ = search_bad_instance(hunt(15, order="random", aim="cover"), 4)
    assert replay_bad_instance(type(small).read(small.json()), "greedy", "random", 4) == outcome


def test_searching_longer_is_never_worse_and_screening_loses_nothing(monkeypatch):
    scores = [search_bad_instance(hunt(k), 3)[1].score("labels") for k in (10, 20, 30)]
    assert scores == sorted(scores)
    real = adversary.replay_bad_instance
    monkeypatch.setattr(
        adversary,
        "replay_bad_instance",
        lambda *args, aim, at_least: real(*args, aim=aim),
    )
    whole = search_bad_instance(hunt(20), 3)
    assert whole[1].score("labels") == scores[1]


def test_a_crowd_that_is_too_small_is_refused():
    with pytest.raises(InputError, match="more workers"):
        search_bad_instance(hunt(5, types=10, workers=1, sample=12), 0)
