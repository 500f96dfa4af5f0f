import numpy as np
import pytest

from workbench.aggregation.glad import glad
from workbench.aggregation.voting import majority
from workbench.crowd.simulate import dense_votes


def crowd(seed, n=25, m=6, L=3):
    """Labels of workers with abilities on tasks of several difficulties, a fifth missing."""
    rng = np.random.default_rng(seed)
    truth, ability = rng.integers(0, L, n), rng.normal(1.2, 1.0, m)
    ease = np.exp(rng.normal(0.5, 1.0, n))
    right = rng.random((n, m)) < 1 / (1 + np.exp(-np.outer(ease, ability)))
    wrong = (truth[:, None] + rng.integers(1, L, (n, m))) % L
    labels = np.where(right, truth[:, None], wrong)
    labels[rng.random((n, m)) < 0.2] = -1
    return dense_votes(labels, L), truth


def density(votes, ability, ease, prior):
    """Penalised log-likelihood, label by label, of the votes as a mixture over classes."""
    n, L = len(votes.tasks), len(votes.classes)
    joint = np.tile(np.log(prior), (n, 1))
    for i, j, label in zip(votes.task, votes.worker, votes.label, strict=True):
        p = 1 / (1 + np.exp(-ability[j] * np.exp(ease[i])))
        for t in range(L):
            joint[i, t] += np.log(p if t == label else (1 - p) / (L - 1))
    seen = np.unique(votes.task)
    value = np.logaddexp.reduce(joint[seen], axis=1).sum()
    posterior = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    return value - 0.5 * (((ability - 1) ** 2).sum() + ((ease - 1) ** 2).sum()), posterior


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("class_prior", ["uniform", "estimated"])
def test_it_ends_where_no_parameter_can_move(seed, class_prior):
    votes, _ = crowd(seed)
    found = glad(votes, class_prior=class_prior, iterations=800, tolerance=0.0, seed=0)
    fit, prior = found.info["fit"], found.info["class_prior"]
    at = [fit.by_worker["ability"].copy(), fit.by_task["log_easiness"].copy()]
    value, posterior = density(votes, *at, prior)
    assert value == pytest.approx(found.info["log_likelihood"][-1], abs=1e-8)
    np.testing.assert_allclose(found.info["posterior"], posterior, atol=1e-9)
    for which in range(2):
        for k in range(len(at[which])):
            step = 1e-4
            sides = []
            for sign in (1, -1):
                moved = [array.copy() for array in at]
                moved[which][k] += sign * step
                sides.append(density(votes, *moved, prior)[0])
            assert abs(sides[0] - sides[1]) / (2 * step) < 2e-2


@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_never_falls(seed):
    votes, _ = crowd(seed, L=2 + seed % 3)
    for prior in ("uniform", "estimated"):
        found = glad(votes, class_prior=prior, iterations=30, tolerance=0.0, seed=0)
        history = found.info["log_likelihood"]
        assert (np.diff(history) >= -1e-8).all()


def test_abilities_and_difficulties_are_found():
    rng = np.random.default_rng(3)
    n, ability = 600, np.array([3.0, 2.0, 2.0, 1.0, 1.0, 0.3, 0.0, -1.0])
    truth, ease = rng.integers(0, 2, n), rng.choice([0.2, 1.5], n)
    right = rng.random((n, 8)) < 1 / (1 + np.exp(-np.outer(ease, ability)))
    votes = dense_votes(np.where(right, truth[:, None], 1 - truth[:, None]), 2)
    found = glad(votes, seed=0)
    assert np.corrcoef(found.info["ability"], ability)[0, 1] > 0.97
    assert found.info["ability"][-1] < 0
    hard = found.info["difficulty"]
    assert hard[ease < 1].mean() > 1.5 * hard[ease > 1].mean()
    assert (found.label == truth).mean() > (majority(votes, seed=0).label == truth).mean() + 0.02
    np.testing.assert_allclose(found.info["skill"], right.mean(axis=0), atol=0.1)
