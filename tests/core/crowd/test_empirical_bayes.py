"""The prior fitted to gold answers: recovered, and estimates better than plain shares."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from workbench.base.errors import InputError
from workbench.crowd.empirical_bayes import against, beta_binomial, beta_of, fitted_prior
from workbench.crowd.skills import estimate_skills


def test_the_prior_is_recovered():
    rng = np.random.default_rng(0)
    for a, b in ((8.0, 2.0), (2.0, 2.0)):
        given = rng.integers(5, 40, 2000)
        right = rng.binomial(given, rng.beta(a, b, 2000))
        fit = fitted_prior(right, given)
        assert sum(fit) == pytest.approx(a + b, rel=0.15)
        assert fit[0] / sum(fit) == pytest.approx(a / (a + b), abs=0.02)


def test_estimates_lie_nearer_the_skills_than_plain_or_flat_ones():
    rng = np.random.default_rng(1)
    errors = np.zeros(3)
    for _ in range(40):
        skill = rng.beta(12, 4, 30)
        given = rng.integers(1, 12, 30)
        right = rng.binomial(given, skill)
        for k, prior in enumerate((fitted_prior(right, given), (1.0, 1.0), None)):
            estimate = estimate_skills(right, given, prior=prior).skill[0]
            errors[k] += ((estimate - skill) ** 2).mean()
    assert errors[0] < 0.7 * errors[1] < 0.7 * errors[2]


def test_one_worker_or_none_gets_the_flat_prior():
    assert fitted_prior([], []) == fitted_prior([3, 0], [3, 0]) == (1.0, 1.0)
    with pytest.raises(InputError, match="as many right answers"):
        fitted_prior([3], [2])


def test_equal_answers_leave_some_spread():
    a, b = fitted_prior([9] * 20, [10] * 20)
    assert np.isfinite([a, b]).all()
    assert a / (a + b) == pytest.approx(0.9, abs=0.03)


def test_slopes_are_those_of_differences():
    rng = np.random.default_rng(2)
    given = rng.integers(1, 12, 30)
    right = rng.binomial(given, 0.7)

    def unlikely(at):
        return against(at, beta_binomial(right, given, *beta_of(at)).sum(axis=1))

    for at in rng.uniform(-1.0, 4.0, (10, 2)):
        step = approx_fprime(at, lambda where: unlikely(where)[0], 1e-7)
        np.testing.assert_allclose(unlikely(at)[1], step, rtol=1e-4, atol=1e-4)
