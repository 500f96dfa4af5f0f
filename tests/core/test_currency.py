"""Multiplying all prices by a unit of money changes no decision, of any method or command."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd_models import AssignmentProblem
from tests.core.release import RELEASE
from workbench.assignment.adaptive import AdaptiveSettings, adaptive_assignment
from workbench.crowd.align import relative, typical
from workbench.selection.money import within_money
from workbench.solving import solve

UNITS = st.one_of(
    st.integers(-20, 20).map(lambda power: 2.0**power),
    st.floats(1e-6, 1e6),
    st.sampled_from([1e-6, 0.01, 0.1, 1 / 3, 100.0, 1e6]),
)
FEW = (2.0**-20, 0.01, 1 / 3, 1e6)


def prices(rng, shape, kind):
    """Prices in tenths, all equal, with nothing in common, some free, or far apart."""
    return [
        rng.integers(1, 20, shape) / 10,
        np.full(shape, 0.3),
        rng.uniform(0.5, 2, shape),
        rng.integers(0, 3, shape).astype(float),
        10 ** rng.uniform(-3, 3, shape),
    ][kind % 5]


@given(seed=st.integers(0, 10**6), unit=UNITS)
@settings(max_examples=66, deadline=None)
def test_relative_prices(seed, unit):
    rng = np.random.default_rng(seed)
    price = prices(rng, 20, seed)
    told = relative(price, typical(price))
    assert np.array_equal(relative(price * unit, typical(price * unit)), told)
    assert told * typical(price) == pytest.approx(price, rel=1e-7)


class TestMainAlgorithm:
    @given(seed=st.integers(0, 10**6), unit=UNITS)
    @settings(max_examples=8 if RELEASE else 4, deadline=None)
    def test_decisions_and_weights(self, seed, unit):
        rng = np.random.default_rng(seed)
        answered = np.full((2, 30), 10)
        correct = rng.binomial(answered, rng.uniform(0.5, 1, (2, 30)))
        price = prices(rng, (2, 30), seed)
        mask = rng.random((24, 30)) < 0.7 if seed % 2 else None
        rule = ("relax", "drop")[seed // 2 % 2]
        first, other = (
            adaptive_assignment(
                correct,
                answered,
                np.full(30, 6),
                np.arange(24) % 2,
                AdaptiveSettings(0.3, 20, 10, on_infeasible=rule),
                cost=price * factor,
                available=mask,
                seed=3,
            )
            for factor in (1.0, unit)
        )
        assert np.array_equal(first.task, other.task)
        assert np.array_equal(first.worker, other.worker)
        assert other.task_weights == pytest.approx(first.task_weights * unit)


class TestSelection:
    @given(seed=st.integers(0, 10**6), unit=UNITS)
    @settings(max_examples=8 if RELEASE else 4, deadline=None)
    def test_within_money(self, seed, unit):
        rng = np.random.default_rng(seed)
        m, budget = int(rng.integers(2, 12)), int(rng.integers(1, 6))
        # As few answers as this leave many of one gain.
        gain = (10 * (2 * rng.integers(0, 11, m) / 10 - 1) ** 2 - 1) / 9
        cost = prices(rng, m, seed)
        money = float(rng.choice(cost, min(budget, m), replace=False).sum())  # met to the penny
        first, other = (
            within_money(gain, cost * factor, budget, money * factor, seed=1)
            for factor in (1.0, unit)
        )
        assert first.chosen.tolist() == other.chosen.tolist()
        assert first.heuristic.tolist() == other.heuristic.tolist()
        assert first.score == other.score
        assert other.spent == pytest.approx(first.spent * unit)


class TestSolve:
    """Every formulation and method buys the same labels, also where many plans are equally good."""

    @staticmethod
    def problem(seed, unit):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 9)), int(rng.integers(3, 10))
        quality = rng.integers(0, 11, (n, m)) / 10 if seed % 2 else rng.uniform(0, 1, (n, m))
        need = rng.uniform(0.1, 0.5, n) * quality.sum(axis=1)
        mask = rng.random((n, m)) < 0.9 if seed % 3 == 0 else None
        cost = prices(rng, (n, m), seed) * unit
        return AssignmentProblem(quality, rng.integers(1, n + 1, m), need, cost, mask)

    @pytest.mark.parametrize(
        ("formulation", "method"),
        [
            *(("ip", method) for method in ("auto", "highs", "mip")),
            *((formulation, "auto") for formulation in ("relaxation", "dual", "typed")),
            ("typed", "cutting-planes"),
        ],
    )
    @given(seed=st.integers(0, 10**6), unit=UNITS)
    @settings(max_examples=8 if RELEASE else 4, deadline=None)
    def test_plans(self, formulation, method, seed, unit):
        self.check(formulation, method, seed, unit)

    def check(self, formulation, method, seed, unit):
        first, other = (
            solve(self.problem(seed, factor), formulation, method=method) for factor in (1.0, unit)
        )
        assert first.termination == other.termination
        if first.assignment is None:
            assert other.infeasibility.drop == first.infeasibility.drop
            return
        assert np.array_equal(first.assignment, other.assignment)
        assert other.objective == pytest.approx(first.objective * unit)
        assert other.bound == pytest.approx(first.bound * unit)
        assert (first.task_weights is None) == (other.task_weights is None)
        if first.task_weights is not None:
            assert other.task_weights == pytest.approx(first.task_weights * unit)
        assert first.certificate.status == other.certificate.status
