from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.core.release import some
from workbench.learning.draws import Draws
from workbench.learning.engine import simulate
from workbench.learning.learners import LEARNERS
from workbench.learning.ls_ol import LsOl, LsOlOptions
from workbench.learning.playing import play
from workbench.learning.schedule import Schedule, decreasing, practical
from workbench.learning.vetting import Vetting

SKILL = np.array([0.9, 0.62, 0.8, 0.7, 0.55])
MARKS = [1, 7, 100, 399, 400]


@pytest.mark.parametrize(
    ("schedule", "options"),
    some(
        [
            (practical(2.0, 3.0), {}),
            (decreasing(0.5, 0.3, 0.25), {"delay": 12}),
            (practical(1.0, 2.0), {"weighted": True}),
            (practical(2.0, 1.0), {"weighted": True, "tolerance": 0.7}),
            (practical(5.0, 3.0), {"vetting": Vetting(0.3)}),
        ],
        2,
    ),
)
def test_ls_ol_measures_as_the_engine_does(schedule: Schedule, options: dict[str, Any]) -> None:
    draws = Draws(SKILL, 3, seed=21)
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
