from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workbench.accuracy.majority import majority_accuracy
from workbench.accuracy.weighted import log_odds_accuracy
from workbench.learning.draws import Draws
from workbench.learning.engine import simulate
from workbench.learning.learners import LEARNERS, FullCrowd, Oracle
from workbench.learning.ls_ol import LsOl, LsOlOptions
from workbench.learning.playing import play, set_accuracies
from workbench.learning.schedule import Schedule, decreasing, practical
from workbench.learning.sets import Vote
from workbench.learning.vetting import Vetting

SKILL = np.array([0.9, 0.62, 0.8, 0.7, 0.55])
MARKS = [1, 7, 100, 399, 400]


@pytest.mark.parametrize(
    ("schedule", "options", "relabel"),
    [
        (practical(2.0, 3.0), {}, "copies"),
        (practical(3.0, 0.5), {}, "identical"),
        (decreasing(0.5, 0.3, 0.25), {"delay": 12}, "copies"),
        (practical(1.0, 2.0), {"weighted": True}, "copies"),
        (practical(2.0, 1.0), {"weighted": True, "tolerance": 0.7}, "identical"),
        (practical(5.0, 3.0), {"vetting": Vetting(0.3)}, "copies"),
    ],
)
def test_ls_ol_measures_as_the_engine_does(
    schedule: Schedule, options: dict[str, Any], relabel: Any
) -> None:
    draws = Draws(SKILL, 3, seed=21, relabel=relabel)
    runs = simulate(draws, schedule, 400, LsOlOptions(**options), checkpoints=MARKS)
    for run in range(3):
        learner = LsOl(5, schedule, seed=draws.coins(run), **options)
        played = play(learner, draws, run, 400, checkpoints=MARKS)
        assert played.tasks.tolist() == runs.tasks.tolist()
        for name in (
            "best_accuracy",
            "exploration_regret",
            "exploitation_regret",
            "regret",
            "reward",
        ):
            expected = getattr(runs, name)[run]
            assert getattr(played, name) == pytest.approx(expected, rel=1e-9, abs=1e-9), name
        for name in ("labels", "explored"):
            assert getattr(played, name).tolist() == getattr(runs, name)[run].tolist(), name


@pytest.mark.parametrize("name", LEARNERS)
def test_nobody_beats_the_oracle_of_her_own_vote(name: str) -> None:
    draws = Draws(SKILL, 1, seed=3)
    played = play(LEARNERS[name].call(SKILL, draws.coins(0)), draws, 0, 300)
    assert (np.diff(played.regret, prepend=0.0) > -1e-9).all()
    if name == "oracle":
        assert (played.regret == 0).all()


def test_oracle_and_full_crowd_by_hand() -> None:
    draws = Draws(SKILL, 1, seed=3)
    best = majority_accuracy([0.9, 0.8, 0.7])
    oracle = play(Oracle(SKILL, seed=0), draws, 0, 50, checkpoints=[10, 50])
    assert oracle.best_accuracy == pytest.approx(best)
    assert oracle.reward == pytest.approx([10 * best, 50 * best])
    assert oracle.labels.tolist() == [30, 150]
    assert oracle.size.tolist() == [3.0, 3.0]
    assert oracle.explored.tolist() == [0, 0]
    full = play(FullCrowd(5, seed=0), draws, 0, 50, checkpoints=[50])
    assert full.regret == pytest.approx([50 * (best - majority_accuracy(SKILL))])


def test_regret_against_another_vote() -> None:
    draws = Draws(SKILL, 1, seed=3)
    weighted = FullCrowd(5, SKILL, seed=0)
    played = play(weighted, draws, 0, 20, checkpoints=[20], against="majority")
    gain = log_odds_accuracy(SKILL)[0] - majority_accuracy([0.9, 0.8, 0.7])
    assert gain > 0
    assert played.regret == pytest.approx([-20 * gain])
    own = play(FullCrowd(5, SKILL, seed=0), draws, 0, 20, checkpoints=[20])
    assert own.regret == pytest.approx([0.0], abs=1e-9)


def test_set_accuracies_one_by_one() -> None:
    rng = np.random.default_rng(5)
    skill, estimate = rng.random((2, 40, 6))
    asked = rng.random((40, 6)) < 0.5
    asked[:10] = asked[10:20]
    skill[:10], estimate[:10] = skill[10:20], estimate[10:20]
    plain = set_accuracies(skill, estimate, asked, Vote())
    weighted = set_accuracies(skill, estimate, asked, Vote(True, tolerance=0.4))
    for n, members in enumerate(asked):
        assert plain[n] == pytest.approx(majority_accuracy(skill[n, members]))
        by_hand, _ = log_odds_accuracy(
            skill[n, members], estimate[n, members], tolerance=0.4, truncate=1e-3
        )
        assert weighted[n] == pytest.approx(by_hand)
    assert set_accuracies(skill[:0], estimate[:0], asked[:0], Vote()).shape == (0,)


def test_a_large_weighted_crowd_is_measured() -> None:
    skill = np.linspace(0.5, 0.75, 31)[None]
    value = set_accuracies(skill, skill, np.ones((1, 31), dtype=bool), Vote(True))
    assert value[0] == pytest.approx(log_odds_accuracy(skill[0], truncate=1e-3)[0])
