"""A Beta prior of the workers' skills, fitted to their gold answers.

A worker with three right answers of three is hardly infallible, and how far she is to be drawn
toward the others is learnt from the others: skills come from Beta(a, b), right answers are
binomial, and a and b are the mode of what the answers of all workers say of them, with the weak
prior (a + b)^(−5/2) that keeps a crowd of equal answers from fixing the spread at 0. Estimates are
then posterior means. Plug-in shares, and one right and one wrong added to them, overrate the best
and the worst, the more so the more of them are chosen from.

Source: Gelman et al. (2013), "Bayesian Data Analysis", Section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.crowd.skills import SkillEstimates

BetaPrior: TypeAlias = tuple[float, float]
"""(a, b) of a Beta prior of p."""
FLAT: BetaPrior = (1.0, 1.0)
"""Where there is nobody to fit to: one right and one wrong answer."""
ENDS = ((-6.0, 6.0), (np.log(0.2), np.log(1e4)))
"""Ranges of log(a/b) and log(a + b)."""


def pooled_skills(correct: ArrayLike, answered: ArrayLike) -> FloatArray:
    """Posterior mean skill of each worker under the `fitted_prior`, shape (m,), in (0, 1)."""
    counts = np.atleast_2d(correct), np.atleast_2d(answered)
    skill: FloatArray = posterior_means(*counts, [fitted_prior(correct, answered)])[0]
    return skill


def fitted_prior(correct: ArrayLike, answered: ArrayLike) -> BetaPrior:
    """Fit (a, b) of a Beta prior to right answers of answers given, shape (m,) each.

    Returns
    -------
    tuple
        (1, 1) where fewer than two workers answered.

    Raises
    ------
    InputError
        Counts that are not whole numbers, or more right answers than answers.
    """
    right = checks.wholes("correct", correct)
    answers = checks.wholes("answered", answered)
    if right.shape != answers.shape or (right > answers).any():
        raise InputError("give as many right answers as answers, and no more of them right")
    right, answers = right[answers > 0], answers[answers > 0]
    if len(answers) < 2:
        return FLAT
    right, answers, times = counted(right, answers)

    def likelihood(a: float, b: float) -> FloatArray:
        return beta_binomial(right, answers, a, b) @ times

    share = (right.sum() + 1) / (answers.sum() + 2)
    return likeliest_beta(likelihood, float(np.log(share / (1 - share))))


def counted(right: IntArray, answers: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Pairs of counts that occur, shape (k,) each, and how many workers have them."""
    pairs, times = np.unique(np.stack([right, answers]), axis=1, return_counts=True)
    return pairs[0], pairs[1], times


def beta_binomial(right: IntArray, answers: IntArray, a: float, b: float) -> FloatArray:
    """Log-likelihood of (a, b) by worker, and its slopes in a and in b, shape (3, m)."""
    from scipy.special import betaln, digamma

    wrong, whole = answers - right, digamma(a + b) - digamma(a + b + answers)
    return np.stack(
        [
            betaln(a + right, b + wrong) - betaln(a, b),
            digamma(a + right) - digamma(a) + whole,
            digamma(b + wrong) - digamma(b) + whole,
        ]
    )


def likeliest_beta(likelihood: Callable[[float, float], FloatArray], start: float) -> BetaPrior:
    """Mode of (a, b) under the weak prior (a + b)^(−5/2).

    Parameters
    ----------
    likelihood
        Log-likelihood of (a, b), and its slopes in a and in b, shape (3,).
    start
        log(a/b) to start from.
    """
    from scipy.optimize import minimize

    def unlikely(at: FloatArray) -> tuple[float, FloatArray]:
        return against(at, likelihood(*beta_of(at)))

    starts = [np.array([start, np.log(size)]) for size in (2.0, 20.0)]
    fits = [minimize(unlikely, at, bounds=ENDS, method="L-BFGS-B", jac=True) for at in starts]
    return beta_of(min(fits, key=lambda fit: float(fit.fun)).x)


def against(at: FloatArray, likelihood: FloatArray) -> tuple[float, FloatArray]:
    """What is minimised, by log(a/b) and log(a + b), and its slopes, shape (2,).

    Parameters
    ----------
    at
        log(a/b) and log(a + b), the first two numbers.
    likelihood
        Log-likelihood, and its slopes in a and in b.
    """
    a, b = beta_of(at)
    up, down = likelihood[1] + 1 / a, likelihood[2] + 1 / b
    slopes = np.array([(up - down) * a * b / (a + b), up * a + down * b - 2.5])
    return -float(likelihood[0] + np.log(a) + np.log(b) - 2.5 * at[1]), -slopes


def beta_of(at: FloatArray) -> BetaPrior:
    """(a, b) from log(a/b) and log(a + b), the first two numbers."""
    from scipy.special import expit

    mean, size = float(expit(at[0])), float(np.exp(at[1]))
    return mean * size, (1.0 - mean) * size


def fitted_priors(correct: IntArray, answered: IntArray) -> list[BetaPrior]:
    """A prior for each task type, from gold answers by type and worker, shape (T, m)."""
    return [fitted_prior(*row) for row in zip(correct, answered, strict=True)]


def fitted_skills(estimates: SkillEstimates) -> SkillEstimates:
    """The same answers with posterior means as skills, a prior fitted for each task type."""
    priors = fitted_priors(estimates.correct, estimates.answered)
    skill = posterior_means(estimates.correct, estimates.answered, priors)
    return SkillEstimates(skill, estimates.answered, estimates.correct)


def posterior_means(
    correct: IntArray | FloatArray, answered: IntArray | FloatArray, priors: Sequence[BetaPrior]
) -> FloatArray:
    """Posterior mean skills, shape (T, m), from gold answers of the same shape and T priors."""
    a, b = np.array(priors).T[:, :, None]
    skill: FloatArray = (correct + a) / (answered + (a + b))
    return skill


def posterior_medians(
    correct: IntArray | FloatArray, answered: IntArray | FloatArray, priors: Sequence[BetaPrior]
) -> FloatArray:
    """Posterior median skills, as likely too low as too high; arguments as `posterior_means`."""
    from scipy.special import betaincinv

    a, b = np.array(priors).T[:, :, None]
    skill: FloatArray = betaincinv(correct + a, answered - correct + b, 0.5)
    return skill
