"""Theorems 2 to 5: the formulas, their conditions, and what they promise."""

import math
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import AssignmentProblem, TypedProblem, requirement
from crowd_papers.adaptive_assignment.theorems import (
    Sampling,
    mean_qualities,
    theorem_2,
    theorem_3,
    theorem_4,
    theorem_5,
)
from workbench.accuracy.error_rate import vote_error
from workbench.assignment.correction import corrected_epsilon
from workbench.assignment.primal import primal_approximation
from workbench.assignment.weights import sampled_weights
from workbench.solving import solve


def _sampled(quality, capacity, need, tasks, *, cost=None, available=None, **options):
    workers = np.ones(quality.shape[1], dtype=np.int64)
    crowd = TypedProblem(quality, capacity, need, tasks, workers, cost, available)
    return sampled_weights(crowd, **options)


SAMPLING = ("epsilon", "delta", "gamma", "n", "m", "least_quality")


def _two(**given):
    return theorem_2(Sampling(**given))


def _five(**given):
    return theorem_5(Sampling(**{name: given.pop(name) for name in SAMPLING}), **given)


class TestTheorem2:
    SETTING: ClassVar[dict[str, Any]] = {
        "epsilon": 1e-80,
        "delta": 0.4,
        "gamma": 0.5,
        "n": 10,
        "m": 300,
    }

    def test_formula(self):
        promise = _two(**self.SETTING, least_quality=0.5)
        c = 160 * math.log(10)
        assert promise.holds
        assert promise.ratio == pytest.approx(
            1 + 10 / (0.5 * 10 * c) + 35 * math.log(5) / (0.5 * math.sqrt(0.5 * c))
        )
        assert promise.error == pytest.approx(
            math.exp(-80 * math.log(10) * (1 - 6 * math.log(5) / math.sqrt(0.5 * c)))
        )

    @pytest.mark.parametrize(
        ("change", "word"),
        [
            ({"epsilon": 0.6}, "1/2"),
            ({"gamma": 0.001}, "1/C"),
            ({"gamma": 1.5}, "above 1"),
            ({"gamma": 0.5001}, "whole number"),
            ({"epsilon": 0.1}, "exponent"),
        ],
    )
    def test_names_the_condition_that_fails(self, change, word):
        promise = _two(**{**self.SETTING, **change}, least_quality=0.5)
        assert any(word in reason for reason in promise.failed)
        assert not promise.holds

    def test_holds_in_trials(self):
        """Known skills, sampled weights: both promises in (far) more than 1 − δ of 20 trials."""
        epsilon, gamma, n, m = 1e-80, 0.5, 3, 900
        ratios, excess = [], []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            quality = (2 * rng.uniform(0.75, 1, (n, m + int(gamma * m))) - 1) ** 2
            need = np.full(n, float(requirement(epsilon)))
            sample = _sampled(
                quality[:, m:], np.full(int(gamma * m), n), need, np.ones(n, int), gamma=gamma
            )
            promise = _two(
                epsilon=epsilon,
                delta=0.4,
                gamma=gamma,
                n=n,
                m=m,
                least_quality=sample.least_quality_used,
            )
            assert promise.holds
            chosen = primal_approximation(quality[:, :m], sample.weights, np.full(m, n), seed=rng)
            problem = AssignmentProblem(quality[:, :m], n, need)
            optimum = solve(problem, "relaxation").objective
            ratios.append(chosen.sum() / optimum <= promise.ratio)
            gathered = (quality[:, :m] * chosen).sum(axis=1)
            excess.append(np.exp(-gathered / 2).max() <= promise.error)
        assert np.mean(ratios) >= 0.6
        assert np.mean(excess) >= 0.6


def adversarial_estimates(rng, skill, radius):
    """Estimates within the radius, most of them as wrong as they may be."""
    shift = radius * rng.choice([-1, 1, rng.uniform(-1, 1)], skill.shape)
    return np.clip(skill + shift, 0, 1)


class TestTheorems3And4:
    @given(seed=st.integers(0, 10**6))
    @settings(max_examples=13, deadline=None)
    def test_hold_for_any_estimates(self, seed):
        """The approximated LP costs no more (3), and its whole solutions err no more (4)."""
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(1, 4)), int(rng.integers(4, 10))
        skill = np.where(rng.random((n, m)) < 0.3, rng.uniform(0, 1, (n, m)), 0.9)
        quality = (2 * skill - 1) ** 2
        epsilon = float(np.exp(-0.5 * rng.uniform(0.2, 0.8) * quality.sum(axis=1).min()))
        problem = AssignmentProblem(quality, n, requirement(epsilon))
        relaxed = solve(problem, "relaxation")
        least = float(mean_qualities(quality, relaxed.assignment).min())
        radius = rng.uniform(0, 0.25) * least
        guess = adversarial_estimates(rng, skill, radius)
        correction = corrected_epsilon(epsilon, radius=radius, mean_quality_least=least)
        assert theorem_3(radius=radius, mean_quality_least=least).holds
        estimated = AssignmentProblem(
            (2 * guess - 1) ** 2, n, requirement(correction.epsilon_corrected)
        )
        approximated = solve(estimated, "relaxation")
        assert approximated.objective <= relaxed.objective * (1 + 1e-9) + 1e-9
        whole = solve(estimated, "ip").assignment
        promise = theorem_4(
            epsilon=epsilon,
            radius=radius,
            mean_quality_least=least,
            mean_quality=mean_qualities(quality, whole),
        )
        for i in range(n):
            asked = whole[i] > 0.5
            error = vote_error(skill[i, asked], 2 * guess[i, asked] - 1).probability
            assert error <= promise.error[i] + 1e-9


class TestTheorem5:
    PAPER: ClassVar[dict[str, Any]] = {
        "epsilon": 0.1,
        "delta": 0.05,
        "gamma": 0.3,
        "gold": 20,
        "n": 1000,
        "m": 300,
        "types": 1,
        "mean_quality_least": 0.08,
        "least_quality": 0.01,
        "mean_quality": np.full(3, 0.16),
    }

    def test_void_at_the_papers_settings(self):
        promise = _five(**self.PAPER)
        assert not promise.holds
        assert promise.terms["t"] == pytest.approx(0.5087, abs=1e-3)
        assert promise.terms["s_needed"] == pytest.approx(12_937, abs=5)
        assert promise.ratio is None

    def test_formula_where_it_holds(self):
        promise = _five(
            epsilon=1e-100,
            delta=0.4,
            gamma=1.0,
            gold=40_000,
            n=50,
            m=400,
            types=2,
            mean_quality_least=0.6,
            least_quality=0.5,
            mean_quality=np.array([0.7, 0.9]),
        )
        t = math.sqrt(math.log(4 * 2 * 2 * 400 / 0.4) / 80_000)
        l1 = 4 * t / 0.6
        c = (1 - l1) * 200 * math.log(10)
        l2 = 6 * math.log(10) / math.sqrt(c)
        assert promise.holds
        assert promise.ratio == pytest.approx(
            1 + 50 / (0.5 * 50 * c) + 35 * math.log(10) / (0.5 * math.sqrt(c))
        )
        expected = [(1e-100) ** ((1 - l1) * (1 - l2) * (1 - 4 * t / q)) for q in (0.7, 0.9)]
        assert promise.error == pytest.approx(expected)


def test_mean_qualities():
    quality = np.array([[0.2, 0.4], [0.5, 0.9]])
    assert mean_qualities(quality, np.array([[1, 1], [0, 0]])).tolist() == [
        pytest.approx(0.3),
        0.0,
    ]
