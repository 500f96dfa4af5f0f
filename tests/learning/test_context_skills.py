from __future__ import annotations

import numpy as np
import pytest

from workbench.accuracy.best_set import best_set
from workbench.accuracy.majority import majority_accuracy
from workbench.accuracy.weighted import log_odds_accuracy
from workbench.base.errors import InputError
from workbench.learning.context_skills import SkillTable, SmoothSkills, smooth_skills
from workbench.learning.contexts import ContextualLsOl, IgnoringContext
from workbench.learning.intervals import RefiningLsOl
from workbench.learning.learners import ExploreThenCommit, FullCrowd
from workbench.learning.ls_ol import Ask, LsOl, TaskLabel
from workbench.learning.playing import PlayedContexts, best_accuracies, play_contexts
from workbench.learning.schedule import practical
from workbench.learning.sets import Vote

SKILL = np.array([0.9, 0.62, 0.8, 0.7, 0.55])
SCHEDULE = practical(2.0, 2.0)


@pytest.mark.parametrize(("lipschitz", "waves"), [(0.3, 1.0), (5.0, 1.0), (1.0, 2.5), (0.0, 1.0)])
def test_smooth_skills_keep_their_bounds(lipschitz: float, waves: float) -> None:
    skills = smooth_skills(8, lipschitz=lipschitz, low=0.6, high=0.9, waves=waves, seed=4)
    w = np.linspace(0, 1, 5001)
    p = skills.at(w)
    assert p.shape == (5001, 8)
    assert p.min() >= 0.6 - 1e-12
    assert p.max() <= 0.9 + 1e-12
    slope = np.abs(np.diff(p, axis=0)).max() * 5000
    assert slope <= skills.lipschitz + 1e-9
    assert slope == pytest.approx(skills.lipschitz, rel=1e-2, abs=1e-9)
    assert skills.lipschitz <= lipschitz + 1e-12
    if lipschitz == 5.0:
        assert np.ptp(p, axis=0) == pytest.approx(np.full(8, 0.3), abs=1e-3)


def test_smooth_skills_by_hand() -> None:
    skills = SmoothSkills([0.7, 0.6], [0.2, 0.0], [0.0, 0.3])
    assert skills.at([0.0, 0.25, 0.5]) == pytest.approx(
        np.array([[0.9, 0.6], [0.7, 0.6], [0.5, 0.6]])
    )


def test_best_accuracies_are_those_of_best_set() -> None:
    rng = np.random.default_rng(3)
    skill = rng.random((30, 6))
    expected = [best_set(p).accuracy for p in skill]
    assert best_accuracies(skill, Vote()) == pytest.approx(np.array(expected))
    expected = [log_odds_accuracy(p)[0] for p in skill]
    assert best_accuracies(skill, Vote(True)) == pytest.approx(np.array(expected))


def test_regret_by_hand_step_by_step() -> None:
    class Watched:
        """Passes everything on, and adds up the regret by itself."""

        def __init__(self, inner: RefiningLsOl) -> None:
            self.inner, self.vote = inner, inner.vote
            self.regrets: list[float] = []

        def ask(self, task: int, context: float) -> Ask:
            ask = self.inner.ask(task, context)
            p = skills.at([context])[0]
            gain = 0.5 if ask.kind == "retest" else majority_accuracy(p[ask.workers])
            self.regrets.append(best_set(p).accuracy - gain)
            return ask

        def tell(self, labels: np.ndarray) -> TaskLabel:
            return self.inner.tell(labels)

    skills = smooth_skills(5, seed=3)
    watched = Watched(RefiningLsOl(5, SCHEDULE, 0.3, seed=1))
    played = play_contexts(watched, skills, 300, seed=2, checkpoints=[1, 50, 300])  # type: ignore[arg-type]
    assert played.regrets == pytest.approx(np.array(watched.regrets), abs=1e-12)
    assert played.regret == pytest.approx(np.cumsum(watched.regrets)[[0, 49, 299]])
    assert played.explored[-1] == sum(
        watched.inner.kinds[kind] for kind in ("new tester", "retest")
    )
    assert played.labels[-1] == watched.inner.counts["asked"]
    assert played.reward + played.regret == pytest.approx(played.best)


@pytest.mark.parametrize("relabel", ["copies", "identical"])
def test_realised_labels_are_right_as_often_as_expected(relabel: str) -> None:
    skills = smooth_skills(5, lipschitz=2.0, seed=3)
    for learner in (
        IgnoringContext(FullCrowd(5, seed=1)),
        IgnoringContext(FullCrowd(5, "learned", seed=1)),
        RefiningLsOl(5, SCHEDULE, 0.2, weighted=True, seed=1),
    ):
        played = play_contexts(learner, skills, 1500, seed=2, relabel=relabel)  # type: ignore[arg-type]
        assert abs(played.realised[-1] - played.reward[-1]) < 4 * np.sqrt(1500 * 0.25)


class Watched(IgnoringContext):
    """Keeps what was said in every round of a tester."""

    def __init__(self) -> None:
        super().__init__(LsOl(5, SCHEDULE, seed=1))
        self.told: dict[str | int, list[list[int]]] = {}

    def ask(self, task: str | int, context: object) -> Ask:
        self.asked = super().ask(task, context)
        return self.asked

    def tell(self, labels: np.ndarray) -> TaskLabel:  # type: ignore[override]
        if self.asked.kind != "exploit":
            self.told.setdefault(self.asked.task, []).append(labels.tolist())
        return super().tell(labels)


def test_retests_are_fresh_or_the_same() -> None:
    learner = Watched()
    play_contexts(learner, SkillTable({"x": SKILL}), 300, seed=2, relabel="identical")
    several = [rounds for rounds in learner.told.values() if len(rounds) > 3]
    assert len(several) > 3
    assert all(one == rounds[0] for rounds in several for one in rounds)
    learner = Watched()
    play_contexts(learner, SkillTable({"x": SKILL}), 300, seed=2)
    several = [rounds for rounds in learner.told.values() if len(rounds) > 3]
    # Not only does the second round differ from the first: so do later ones from each other.
    assert all(len({tuple(one) for one in rounds[1:]}) > 1 for rounds in several)


def test_a_tester_keeps_its_context() -> None:
    # Always right in one context and always wrong in the other, whenever asked.
    learner = Watched()
    play_contexts(learner, SkillTable({"a": np.ones(5), "b": np.zeros(5)}), 300, seed=2)
    assert all(one == rounds[0] for rounds in learner.told.values() for one in rounds)


def test_streams_are_paired_and_reproducible() -> None:
    table = SkillTable({"a": SKILL, "b": SKILL[::-1]})

    def run(tasks: int, which: int = 0) -> PlayedContexts:
        learner = ContextualLsOl(5, SCHEDULE, ["a", "b"], seed=4)
        return play_contexts(learner, table, tasks, seed=2, run=which, checkpoints=[100, tasks])

    one, again, longer, other = run(200), run(200), run(400), run(200, 1)
    assert (one.regrets == again.regrets).all()
    assert one.realised.tolist() == again.realised.tolist()
    assert one.contexts == longer.contexts[:200]
    assert (one.regrets == longer.regrets[:200]).all()
    assert one.contexts != other.contexts
    policy = IgnoringContext(ExploreThenCommit(5, 10, seed=0))
    assert play_contexts(policy, table, 200, seed=2).contexts == one.contexts


def test_growth_is_the_slope() -> None:
    n = np.unique(np.geomspace(1, 10_000, 60).astype(int))
    nothing = np.zeros(len(n))
    counts = np.zeros(len(n), dtype=np.int64)
    played = PlayedContexts(n, nothing, 3.0 * n**0.7, nothing, counts, counts, counts, [], nothing)
    assert played.growth() == pytest.approx(0.7)
    assert played.growth(100) == pytest.approx(0.7)
    assert np.isnan(played.growth(10**6))


def test_bad_parameters_are_named() -> None:
    learner = IgnoringContext(FullCrowd(5, seed=1))
    table = SkillTable({"a": SKILL})
    with pytest.raises(InputError, match="horizon"):
        play_contexts(learner, table, 0, seed=1)
    with pytest.raises(InputError, match="relabel"):
        play_contexts(learner, table, 5, seed=1, relabel="none")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="checkpoints"):
        play_contexts(learner, table, 5, seed=1, checkpoints=[6])
    with pytest.raises(InputError, match="leaves"):
        SmoothSkills([0.9], [0.2], [0.0])
    with pytest.raises(InputError, match="one number a worker"):
        SmoothSkills([0.9, 0.8], [0.1], [0.0])
    with pytest.raises(InputError, match="high"):
        smooth_skills(3, low=0.9, high=0.5, seed=0)
