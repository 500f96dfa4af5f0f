"""What a label counts, in every online policy and in the Main Algorithm; prices by task."""

import numpy as np
import pytest

from crowd_models.gains import GAINS
from tests.core.release import some
from workbench.accuracy.error_rate import vote_errors
from workbench.aggregation.voting import linear_weights, log_odds_weights
from workbench.assignment import POLICIES
from workbench.assignment.adaptive import AdaptiveAssigner, AdaptiveSettings
from workbench.assignment.estimates import structure_of
from workbench.assignment.playing import play
from workbench.assignment.policies import ArrivingWorker, Setting
from workbench.base.errors import InputError

GAIN = GAINS["bhattacharyya"]


def crowd(seed, *, gain="bhattacharyya", epsilon=0.1, n=24, m=40, sample=15, low=0.4):
    """Skills are known; some below ½, some nearly infallible."""
    rng = np.random.default_rng(seed)
    everyone = tuple(
        ArrivingWorker(np.clip(rng.uniform(low, 1.02, 2), 0, 1), int(rng.integers(4, 15)))
        for _ in range(sample + m)
    )
    workers = everyone[sample:]
    kind = np.arange(n) % 2
    return Setting(kind, epsilon, m, everyone[:sample], workers, gain=gain), workers


def skills_of(setting, workers, run):
    shape = len(setting.task_class), len(workers)
    skill = np.stack([one.skill for one in workers], axis=1)[setting.task_class]
    chosen = np.zeros(shape, dtype=bool)
    chosen[run.task, run.worker] = True
    return skill, chosen


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("name", some(POLICIES, 2))
def test_a_covered_task_has_an_exact_error_within_epsilon(name, gain):
    """The promise of a cover, with known skills and the gain's own vote."""
    covered_any = 0
    for seed in range(3):
        setting, workers = crowd(seed, gain=gain, epsilon=(0.05, 0.1, 0.3)[seed % 3])
        run, _ = play(name, setting, workers, seed=seed)
        skill, chosen = skills_of(setting, workers, run)
        count = (setting.counted(skill) * chosen).sum(axis=1)
        covered = count >= setting.need
        weights = (
            linear_weights(skill)
            if gain == "hoeffding"
            else log_odds_weights(skill, truncate=1e-12)
        )
        errors, _ = vote_errors(skill, weights, chosen)
        assert (errors[covered] <= setting.epsilon * (1 + 1e-9)).all()
        assert (errors <= GAINS[gain].error(count) * (1 + 1e-9)).all()
        covered_any += covered.sum()
    assert covered_any > 15


@pytest.mark.parametrize("name", some([name for name in POLICIES if name != "paper"], 3))
def test_the_same_promise_takes_fewer_labels(name):
    """Over 2 crowds; every gain is at least half of the paper's, and its requirement is less."""
    labels = {}
    for gain in GAINS:
        runs = [crowd(seed, gain=gain, low=0.55, epsilon=0.1) for seed in range(2)]
        labels[gain] = sum(
            len(play(name, setting, workers, seed=1)[0].task) for setting, workers in runs
        )
    assert 0 < labels["bhattacharyya"] < 0.75 * labels["hoeffding"]


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "dual descent"])
def test_an_error_of_a_half_asks_for_nothing(name):
    setting, workers = crowd(1, epsilon=0.5)
    assert len(play(name, setting, workers, seed=0)[0].task) == 0


def test_dual_descent_asks_for_nothing_either():
    setting, workers = crowd(1, epsilon=0.6)
    assert len(play("dual descent", setting, workers, seed=0)[0].task) == 0


def test_the_correction_is_the_papers_alone():
    with pytest.raises(InputError, match="correction is for hoeffding"):
        AdaptiveSettings(0.1, 5, 5, radius=0.01, mean_quality_least=0.5, gain="bhattacharyya")


def assigner(task_class, seed, *, easiness=None, epsilon=0.2, preliminary=12):
    settings = AdaptiveSettings(epsilon, 30, preliminary, gain="bhattacharyya")
    return AdaptiveAssigner(task_class, settings, easiness=easiness, seed=seed)


def played(made, skills, *, terms=lambda j: {}):
    """Sample the first, assign to the rest; who got what."""
    chosen = []
    for j, skill in enumerate(skills):
        if made.sampling:
            made.sample(skill, 8, **terms(j))
        else:
            chosen.append(np.sort(made.assign(skill, 8, **terms(j))).tolist())
    return chosen


@pytest.mark.parametrize("seed", range(3))
def test_easiness_is_another_structure_of_the_same_program(seed):
    """Tasks of their own easiness: the algorithm with a class for each, told each class's skill."""
    rng = np.random.default_rng(seed)
    kinds, d = np.arange(20) % 2, rng.choice([0.5, 0.8, 1.0], 20)
    skills = rng.uniform(0.6, 0.98, (42, 2))
    made = structure_of(kinds, d)
    by_class = [made.skill(row) for row in skills]
    ours = played(assigner(kinds, seed, easiness=d), skills)
    assert ours == played(assigner(made.task_class, seed), by_class)
    assert sum(map(len, ours)) > 30
    assert played(assigner(kinds, seed, easiness=np.ones(20)), skills) == played(
        assigner(kinds, seed), skills
    )


@pytest.mark.parametrize("seed", range(3))
def test_prices_by_task(seed):
    """Prices of the types told task by task, in any currency; and a state taken up in between."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(20) % 2
    skills, cost = rng.uniform(0.6, 0.98, (42, 2)), rng.integers(1, 9, (42, 2)) / 4
    by_type = played(assigner(kinds, seed), skills, terms=lambda j: {"cost": cost[j]})
    told = [
        played(assigner(kinds, seed), skills, terms=lambda j, c=c: {"prices": c[j][kinds]})
        for c in (cost, 64 * cost)
    ]
    assert told[0] == told[1]
    # One program, its tasks listed or counted: equally dear, and nearly the same choice.
    bought = [sum(map(len, one)) for one in (by_type, told[0])]
    assert bought[0] == pytest.approx(bought[1], rel=0.15)
    half = assigner(kinds, seed)
    for j in range(7):
        half.sample(skills[j], 8, prices=cost[j][kinds])
    again = assigner(kinds, 99)
    again.restore(half.state())
    assert again.state() == half.state()
    rest = [{"prices": cost[j][kinds]} for j in range(7, 42)]
    assert played(again, skills[7:], terms=rest.__getitem__) == told[0]
    assert again.state().weights is not None


def test_nobody_is_given_a_task_beyond_its_worth():
    """The price of a task decides alone, where all tasks are equal otherwise."""
    made = assigner(np.zeros(20, int), 0)
    rng = np.random.default_rng(0)
    for _ in range(12):
        made.sample(np.array([rng.uniform(0.6, 0.9)]), 8)
    worth = float(made.task_weights[0] * GAIN.quality(np.array([0.95]))[0])
    prices = worth * np.linspace(0.5, 1.5, 20)
    chosen = made.assign(np.array([0.95]), 20, prices=prices)
    assert sorted(chosen.tolist()) == list(range(10))
