"""The sampled LP, what is done when it has no solution, and typed against full perturbation."""

import numpy as np
import pytest
from scipy import stats

from crowd_models import AssignmentProblem, TypedProblem, requirement
from workbench.assignment.primal import perturb, primal_approximation
from workbench.assignment.weights import offline_weights, sampled_weights


def _sampled(quality, capacity, need, tasks, *, cost=None, available=None, **options):
    workers = np.ones(quality.shape[1], dtype=np.int64)
    crowd = TypedProblem(quality, capacity, need, tasks, workers, cost, available)
    return sampled_weights(crowd, **options)


class TestSampled:
    def test_whole_crowd_as_sample_gives_the_offline_weights(self):
        """γ = 1 and the same workers: the sampled LP is the relaxation itself."""
        rng = np.random.default_rng(1)
        quality = rng.uniform(0.1, 1, (5, 12))
        problem = AssignmentProblem(quality, 3, np.full(5, 1.4))
        weights, _, solution = offline_weights(problem)
        sample = _sampled(quality, np.full(12, 3), np.full(5, 1.4), np.ones(5, int), gamma=1.0)
        assert sample.weights == pytest.approx(weights)
        assert sample.solution.objective == pytest.approx(solution.objective)
        used = sample.solution.assignment > 1e-9
        assert sample.least_quality_used == quality[used].min()

    def test_relax_caps_the_weights(self):
        """Tasks out of reach weigh as much as a label of the least quality is worth."""
        quality = np.array([[0.9, 0.9, 0.9], [0.1, 0.1, 0.1]])
        sample = _sampled(
            quality,
            np.full(3, 9),
            np.full(2, 1.5),
            np.array([2, 3]),
            gamma=1.0,
            on_infeasible="relax",
            least_quality=0.05,
        )
        assert sample.reached == pytest.approx([1.0, 0.2])
        assert sample.weights[1] == pytest.approx(1 / 0.05)
        assert sample.weights[0] == pytest.approx(1 / 0.9)
        assert sample.solution.certificate.status == "proven"


def draw(seed: int, kind: str, shape: tuple[int, int, int], capacity: int) -> tuple[float, ...]:
    """One draw: skills estimated from 20 answers (so they tie), weights from a sample, then all.

    `kind` says where the noise goes: once a (type, worker), or once a (task, worker).
    """
    n, m, extra = shape
    crowd = np.random.default_rng([seed, 7])
    quality = (crowd.binomial(20, crowd.uniform(0.6, 0.95, (2, m + extra))) / 10 - 1) ** 2
    types = np.arange(n) % 2
    need = float(requirement(0.1))
    rng = np.random.default_rng([seed, 1 if kind == "typed" else 2])
    rows = np.arange(2) if kind == "typed" else types
    counts = np.bincount(types) if kind == "typed" else np.ones(n, dtype=np.int64)
    sample = _sampled(
        perturb(quality[:, :extra][rows], seed=rng),
        np.full(extra, capacity),
        np.full(len(rows), need),
        counts,
        gamma=extra / m,
        on_infeasible="relax",
    )
    weights = sample.weights[types] if kind == "typed" else sample.weights
    later = quality[:, extra:]
    noisy = perturb(later, seed=rng)[types] if kind == "typed" else perturb(later[types], seed=rng)
    chosen = primal_approximation(noisy, weights, np.full(m, capacity), seed=rng)
    gathered = (later[types] * chosen).sum(axis=1)
    return float(chosen.sum()), float(gathered.mean()), float((gathered >= need).mean())


@pytest.mark.release
@pytest.mark.parametrize("capacity", [80, 25], ids=["room to spare", "capacity binds"])
def test_typed_and_full_perturbation_agree(capacity):
    """Algorithm 1 through the typed LP and through the fully perturbed LP, 80 shared draws.

    Test: two-sample Kolmogorov–Smirnov on the labels bought and on the mean cover of a task
    (p > 0.01), and the paired mean difference within 4 standard errors for both and for the
    share of tasks covered. The share itself is not compared in distribution: among equal tasks
    the typed version covers all or none by the same workers, the full one task by task.
    """
    draws = {
        kind: np.array([draw(seed, kind, (80, 60, 30), capacity) for seed in range(80)])
        for kind in ("typed", "full")
    }
    for column in (0, 1):
        test = stats.ks_2samp(draws["typed"][:, column], draws["full"][:, column])
        assert test.pvalue > 0.01
    difference = draws["typed"] - draws["full"]
    error = difference.std(axis=0, ddof=1) / np.sqrt(80)
    assert (np.abs(difference.mean(axis=0)) <= 4 * error).all()


def test_the_marginal_class_is_split_not_taken_whole():
    """Without perturbation equal workers are all in or all out, and cover is wildly off."""
    rng = np.random.default_rng(4)
    quality = np.full((1, 90), 0.16)
    need, gamma = 5.0, 0.3
    labels = {}
    for scale in (0.0, 1e-5):
        noisy = perturb(quality, seed=rng, scale=scale)
        sample = _sampled(
            noisy[:, :27], np.full(27, 50), np.full(1, need), np.array([20]), gamma=gamma
        )
        later = perturb(np.full((1, 90), 0.16), seed=rng, scale=scale)
        chosen = primal_approximation(
            np.tile(later, (20, 1)), np.full(20, sample.weights[0]), np.full(90, 50), seed=rng
        )
        labels[scale] = chosen.sum() / 20
    assert labels[0.0] == 90  # everyone ties with the margin
    assert labels[1e-5] == pytest.approx(need / 0.16, rel=0.35)
