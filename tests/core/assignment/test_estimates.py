"""Skills from gold answers: what is known on arrival, and tasks of their own easiness."""

import numpy as np
import pytest
from scipy.stats import beta

from workbench.assignment.estimates import (
    GoldReplies,
    plug_in_skill,
    posterior_skill,
    priors_of,
    skills_on_arrival,
    structure_of,
)
from workbench.base.errors import InputError
from workbench.crowd.empirical_bayes import fitted_prior
from workbench.crowd.skills import estimate_skills


def answers(seed, m=40, types=2):
    rng = np.random.default_rng(seed)
    given = rng.integers(0, 15, (types, m))
    return rng.binomial(given, rng.beta(6, 3, (types, m))), given


def test_plug_in_is_the_share_of_right_answers():
    right, given = answers(0)
    assert (
        skills_on_arrival(right, given, 10, "plug-in") == estimate_skills(right, given).skill
    ).all()


def test_a_prior_of_the_sample_holds_for_all():
    right, given = answers(1)
    told = skills_on_arrival(right, given, 12, "fitted")
    for kind in range(2):
        a, b = fitted_prior(right[kind, :12], given[kind, :12])
        np.testing.assert_allclose(told[kind], (right[kind] + a) / (given[kind] + a + b))
    middle = skills_on_arrival(right, given, 12, "median")
    for kind in range(2):
        a, b = fitted_prior(right[kind, :12], given[kind, :12])
        below = beta(right[kind] + a, given[kind] - right[kind] + b).cdf(middle[kind])
        np.testing.assert_allclose(below, 0.5, atol=1e-9)


def test_without_a_sample_nobody_is_judged_by_those_who_come_later():
    right, given = answers(2)
    told = skills_on_arrival(right, given, 0, "fitted")
    for j in (1, 5, 17, 31):
        later = right.copy()
        later[:, j:] = 0
        other = skills_on_arrival(later, given, 0, "fitted")
        assert (other[:, :j] == told[:, :j]).all()
    assert (told[:, 0] == (right[:, 0] + 1) / (given[:, 0] + 2)).all()


def test_other_words_are_refused():
    with pytest.raises(InputError, match="skills is 'mean': give plug-in, fitted, median"):
        skills_on_arrival(*answers(0), 3, "mean")


def crowd(seed, m=30, s=12, easiness=None):
    rng = np.random.default_rng(seed)
    skill = rng.beta(8, 3, m)
    out = []
    for p in skill:
        d = np.ones(s) if easiness is None else rng.choice(easiness, s)
        out.append(GoldReplies(np.arange(s) % 2, rng.random(s) < 0.5 + d * (p - 0.5), d))
    return skill, out


def test_of_easiness_one_the_two_ways_to_fit_agree():
    """Counting right answers, and likelihoods on a grid."""
    _, everyone = crowd(3)
    harder = [one._replace(easiness=np.full(12, 1 - 1e-12)) for one in everyone]
    assert everyone[0].alike
    assert not harder[0].alike
    exact, grid = priors_of(everyone, 2), priors_of(harder, 2)
    np.testing.assert_allclose(grid, exact, rtol=1e-2)
    for one, other in zip(everyone, harder, strict=True):
        np.testing.assert_allclose(
            posterior_skill(other, exact), posterior_skill(one, exact), atol=1e-4
        )
        np.testing.assert_allclose(
            posterior_skill(other, exact, "median"),
            posterior_skill(one, exact, "median"),
            atol=3e-3,
        )
        right, given = one.counts(2)
        assert (plug_in_skill(one, 2) == right / given).all()


@pytest.mark.release
def test_easiness_is_read_rightly_and_fitting_helps():
    """The least squares estimate is unbiased; posterior means are nearer to the skills."""
    off, squares = [], np.zeros(2)
    for seed in range(25):
        skill, everyone = crowd(100 + seed, easiness=(0.3, 0.6, 1.0))
        one_type = [one._replace(kind=np.zeros(12, int)) for one in everyone]
        priors = priors_of(one_type, 1)
        plain, fitted = (
            np.array([of(one)[0] for one in one_type])
            for of in (lambda r: plug_in_skill(r, 1), lambda r, p=priors: posterior_skill(r, p))
        )
        raw = np.array([one.counts(1)[0][0] / one.counts(1)[1][0] for one in one_type])
        off += (raw - skill).tolist()
        squares += [((plain - skill) ** 2).sum(), ((fitted - skill) ** 2).sum()]
    assert abs(np.mean(off)) < 3 * np.std(off) / np.sqrt(len(off))
    assert squares[1] < 0.5 * squares[0]


def test_classes_of_tasks():
    kinds, easiness = np.array([1, 0, 1, 0, 1]), np.array([0.5, 1, 0.5, 0.5, 1])
    made = structure_of(kinds, easiness)
    assert (made.kind[made.task_class] == kinds).all()
    assert (made.easiness[made.task_class] == easiness).all()
    assert len(made.kind) == 4
    by_class = made.skill(np.array([0.9, 0.6]))
    np.testing.assert_allclose(by_class[made.task_class], [0.55, 0.9, 0.55, 0.7, 0.6])
    assert (structure_of(kinds, np.ones(5)).task_class == kinds).all()


@pytest.mark.parametrize("wrong", [0, -0.5, 1.5, np.nan, "hard"])
def test_an_easiness_out_of_range_is_named(wrong):
    with pytest.raises(InputError, match="above 0, at most 1"):
        structure_of(np.zeros(2, int), np.array([1.0, wrong], dtype=object))
