"""The cover of ratings: its formula against linear algebra, its program against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd_models.ratings import RatingTerms, ratings_cover, ratings_problem
from workbench.base.errors import InputError
from workbench.solving import solve

POSITIVE = st.floats(0.05, 20.0)
TERMS = st.builds(RatingTerms, POSITIVE, st.one_of(st.just(0.0), POSITIVE), POSITIVE)


def posterior_variance(noise: np.ndarray, terms: RatingTerms) -> float:
    """Var(z | y) of the joint normal of z and the ratings of one task, written out."""
    k = len(noise)
    own = terms.slope**2 * terms.variance + terms.floor
    ratings = np.full((k, k), own) + np.diag(noise)
    with_z = np.full(k, terms.slope * terms.variance)
    return float(terms.variance - with_z @ np.linalg.solve(ratings, with_z))


@given(st.lists(POSITIVE, min_size=1, max_size=5), TERMS)
def test_error_is_that_of_the_joint_normal(noise: list[float], terms: RatingTerms) -> None:
    direct = posterior_variance(np.array(noise), terms)
    found = float(terms.error(sum(1.0 / v for v in noise)))
    assert found**2 == pytest.approx(direct, rel=1e-6)


@given(TERMS, st.floats(0.01, 0.99))
def test_requirement_is_where_the_error_is_epsilon(terms: RatingTerms, between: float) -> None:
    tau = math.sqrt(terms.variance)
    epsilon = terms.least + between * (tau - terms.least)
    asked = terms.requirement(epsilon)
    assert float(terms.error(asked)) == pytest.approx(epsilon, rel=1e-6)
    assert float(terms.error(0.99 * asked)) > float(terms.error(1.01 * asked))


@given(TERMS, st.floats(0.0, 0.999))
def test_below_the_floor_nothing_is_enough(terms: RatingTerms, share: float) -> None:
    epsilon = share * terms.least
    with pytest.raises(InputError, match="epsilon is"):
        terms.requirement(epsilon)
    assert float(terms.error(1e15)) >= terms.least * (1 - 1e-9)


def test_from_the_spread_of_the_truth_on_nothing_is_asked() -> None:
    terms = RatingTerms(0.5, 30.0, 100.0)
    assert terms.requirement(10.0) == 0.0
    assert float(terms.error(0.0)) == 10.0


def cheapest(
    noise: np.ndarray,
    terms: RatingTerms,
    epsilon: float,
    capacity: int,
    prices: np.ndarray,
) -> float:
    """Least cost of all assignments, each task's error by linear algebra; ∞ where there is none."""
    n, m = prices.shape
    sets = [
        [j for j in range(m) if bits >> j & 1]
        for bits in range(2**m)
        if (terms.variance if not bits else posterior_variance(noise[_bits(bits, m)], terms))
        <= epsilon**2 * (1 + 1e-9)
    ]
    best = math.inf
    for chosen in itertools.product(sets, repeat=n):
        load = np.bincount([j for who in chosen for j in who], minlength=m)
        if (load <= capacity).all():
            best = min(best, sum(float(prices[i, who].sum()) for i, who in enumerate(chosen)))
    return best


def _bits(bits: int, m: int) -> list[int]:
    return [j for j in range(m) if bits >> j & 1]


@pytest.mark.parametrize("seed", range(12))
def test_program_is_the_cheapest_of_all_assignments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = 3, 4
    noise = rng.uniform(50, 900, m)
    terms = RatingTerms(rng.uniform(0.4, 1.2), float(rng.choice([0.0, 20.0])), 500.0)
    reach = float(terms.error((1 / noise).sum()))
    epsilon = reach * rng.uniform(1.02, 1.6)
    prices = rng.integers(1, 4, (n, m)).astype(float)
    best = cheapest(noise, terms, epsilon, 2, prices)
    problem = ratings_problem(1 / noise, terms, epsilon, 2, n, cost=prices)
    found = solve(problem, "ip")
    if math.isinf(best):
        assert found.termination == "infeasible"
        return
    assert found.objective == pytest.approx(best)
    by_pyomo = solve(problem, "ip", route="pyomo")
    assert by_pyomo.objective == pytest.approx(best)


def test_what_is_on_record_is_not_asked_again() -> None:
    terms = RatingTerms(1.0, 0.0, 400.0)
    asked = terms.requirement(10.0)
    problem = ratings_problem([0.02, 0.01], terms, 10.0, 2, 3, recorded=[0.0, asked / 2, 1.0])
    assert problem.requirement * 0.02 == pytest.approx([asked, asked / 2, 0.0])


def test_model_has_the_rows_of_the_formulas() -> None:
    terms = RatingTerms(0.8, 5.0, 400.0)
    model = ratings_cover([0.02, 0.01], terms, 10.0, capacity=1, tasks=2)
    assert isinstance(model, pyo.ConcreteModel)
    for i in range(2):
        model.y[i, 0], model.y[i, 1] = 1, 1
        assert pyo.value(model.cover[i].body) == pytest.approx(1.5)
        assert 0.02 * model.cover[i].lower == pytest.approx(terms.requirement(10.0))


@pytest.mark.parametrize("bad", [(0, 1, 1), (1, -1, 1), (1, 1, 0), (math.nan, 1, 1)])
def test_terms_out_of_range_are_refused(bad: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match=r"give a number"):
        RatingTerms(*bad)


def test_nobody_tells_anything() -> None:
    with pytest.raises(InputError, match="no rating tells anything"):
        ratings_problem([0.0, 0.0], RatingTerms(1, 0, 1), 0.5, 1, 1)
