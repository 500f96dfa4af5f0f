from __future__ import annotations

import numpy as np
import pytest

from workbench.accuracy.best_sets import best_set
from workbench.accuracy.majority import majority_accuracy
from workbench.learning.context_skills import SkillTable, smooth_skills
from workbench.learning.contexts import ContextualLsOl, IgnoringContext
from workbench.learning.learners import ExploreThenCommit
from workbench.learning.ls_ol import LsOl
from workbench.learning.online import Ask, TaskLabel
from workbench.learning.playing import Played, play_contexts
from workbench.learning.schedule import practical

SKILL = np.array([0.9, 0.62, 0.8, 0.7, 0.55])
SCHEDULE = practical(2.0, 2.0)


@pytest.mark.parametrize("lipschitz", [0.3, 5.0, 0.0])
def test_smooth_skills_keep_their_bounds(lipschitz: float) -> None:
    skills = smooth_skills(8, lipschitz=lipschitz, seed=4)
    p = skills.at(np.linspace(0, 1, 5001))
    assert p.shape == (5001, 8)
    assert p.min() >= 0.5 - 1e-12
    assert p.max() <= 0.9 + 1e-12
    slope = np.abs(np.diff(p, axis=0)).max() * 5000
    widest = min(lipschitz, 2 * np.pi * 0.2)
    assert slope == pytest.approx(widest, rel=1e-2, abs=1e-9)


class Watched(IgnoringContext):
    """Keeps what was said in every round of a tester, and the regret of each step."""

    def __init__(self, skills: SkillTable) -> None:
        super().__init__(LsOl(5, SCHEDULE, seed=1))
        self.skills = skills
        self.told: dict[str | int, list[list[int]]] = {}
        self.regrets: list[float] = []

    def ask(self, task: str | int, context: object) -> Ask:
        self.asked = super().ask(task, context)
        p = self.skills.at([context])[0]
        retest = self.asked.kind == "retest"
        gain = 0.5 if retest else majority_accuracy(p[self.asked.workers])
        self.regrets.append(best_set(p).accuracy - gain)
        return self.asked

    def tell(self, labels: np.ndarray) -> TaskLabel:  # type: ignore[override]
        if self.asked.kind != "exploit":
            self.told.setdefault(self.asked.task, []).append(labels.tolist())
        return super().tell(labels)


def test_regret_by_hand_step_by_step() -> None:
    skills = SkillTable({"a": SKILL, "b": SKILL[::-1]})
    watched = Watched(skills)
    played = play_contexts(watched, skills, 300, seed=2, checkpoints=[1, 50, 300])
    assert played.regrets == pytest.approx(np.array(watched.regrets), abs=1e-12)
    assert played.regret == pytest.approx(np.cumsum(watched.regrets)[[0, 49, 299]])
    assert played.reward + played.regret == pytest.approx(played.best)
    assert played.best_accuracy == pytest.approx(played.best[-1] / 300)


def test_streams_are_paired_and_reproducible() -> None:
    table = SkillTable({"a": SKILL, "b": SKILL[::-1]})

    def run(tasks: int, seed: int = 2) -> Played:
        learner = ContextualLsOl(5, SCHEDULE, ["a", "b"], seed=4)
        return play_contexts(learner, table, tasks, seed=seed, checkpoints=[100, tasks])

    one, again, longer, other = run(200), run(200), run(400), run(200, 3)
    assert (one.regrets == again.regrets).all()
    assert one.contexts == longer.contexts[:200]
    assert (one.regrets == longer.regrets[:200]).all()
    assert one.contexts != other.contexts
    learner = IgnoringContext(ExploreThenCommit(5, 10, seed=0))
    assert play_contexts(learner, table, 200, seed=2).contexts == one.contexts
