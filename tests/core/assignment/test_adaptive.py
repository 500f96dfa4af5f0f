"""The Main Algorithm over a crowd: what it may never do, and what it should achieve."""

import numpy as np
import pytest

from crowd_models import AssignmentProblem, requirement
from workbench.assignment.adaptive import AdaptiveSettings, adaptive_assignment
from workbench.crowd.population import spammer_hammer, specialists
from workbench.solving import solve

SETTINGS = AdaptiveSettings(0.1, workers=60, preliminary=30)


def gold(crowd, s, seed):
    answered = np.full(crowd.skill.shape, s)
    return np.random.default_rng(seed).binomial(answered, crowd.skill), answered


def run(crowd, types, settings=SETTINGS, s=40, seed=1, **options):
    correct, answered = gold(crowd, s, seed)
    capacity = options.pop("capacity", crowd.capacity)
    return adaptive_assignment(correct, answered, capacity, types, settings, seed=seed, **options)


class TestWhatItMayNeverDo:
    @pytest.mark.parametrize("seed", range(2))
    def test_capacity_and_phases(self, seed):
        rng = np.random.default_rng(seed)
        crowd = spammer_hammer(90, seed=seed, hammer=0.9)
        capacity = rng.integers(0, 60, 90)
        result = run(crowd, np.zeros(80, int), seed=seed, capacity=capacity)
        taken = np.bincount(result.worker, minlength=90)
        assert (taken <= capacity).all()
        assert taken[:30].sum() == 0
        pairs = set(zip(result.task.tolist(), result.worker.tolist(), strict=True))
        assert len(pairs) == result.labels_task


class TestWhatItAchieves:
    def test_near_the_optimum_with_good_estimates(self):
        """With very good estimates, over 8 crowds: near the hindsight optimum, and covered."""
        types = np.arange(100) % 2
        settings = AdaptiveSettings(0.01, workers=300, preliminary=90)
        ratios, shares = [], []
        for seed in range(8):
            crowd = specialists(390, seed=seed, task_types=2, skilled=0.65)
            result = run(crowd, types, settings, s=20_000, seed=seed)
            main = crowd.quality[:, 90:][types]
            optimum = solve(AssignmentProblem(main, 200, requirement(0.01)), "typed")
            ratios.append(result.labels_task / optimum.objective)
            chosen = np.zeros((100, 300))
            chosen[result.task, result.worker - 90] = 1
            shares.append((main * chosen).sum(axis=1).mean() / float(requirement(0.01)))
        assert np.mean(ratios) == pytest.approx(1.0, abs=0.1)
        assert np.mean(shares) == pytest.approx(1.0, abs=0.1)
        assert max(ratios) < 1.4


class TestInfeasibleSample:
    def crowd(self):
        return specialists(90, seed=1, task_types=2, skilled=0.9)

    def run(self, rule):
        capacity = np.full(90, 4)
        settings = AdaptiveSettings(0.01, workers=60, preliminary=30, on_infeasible=rule)
        return run(self.crowd(), np.arange(100) % 2, settings, capacity=capacity, s=200)

    def test_drop(self):
        result = self.run("drop")
        dropped = int(result.sampled.dropped.sum())
        assert 0 < dropped < 100
        assert (result.task_weights == 0).sum() == dropped
        assert (result.task_weights[result.task] > 0).all()

    def test_relax(self):
        result = self.run("relax")
        assert (result.sampled.reached < 1).any()
        assert (result.sampled.reached > 0).all()

    def test_drop_by_task_where_availability_differs(self):
        mask = np.ones((20, 90), bool)
        mask[7, :] = False
        settings = AdaptiveSettings(0.3, workers=60, preliminary=30, on_infeasible="drop")
        result = run(self.crowd(), np.arange(20) % 2, settings, available=mask, s=200)
        assert np.flatnonzero(result.sampled.dropped).tolist() == [7]
