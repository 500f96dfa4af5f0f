"""A Beta prior of the workers' skills, fitted to their gold answers.

A worker with three right answers of three is hardly infallible, and how far she is to be drawn
toward the others is told by the others: skills come from Beta(a, b), right answers are binomial,
and a and b are the mode of what the answers of all workers say of them, with the weak prior
(a + b)^(−5/2) that keeps a crowd of equal answers from fixing the spread at 0. Estimates are then
posterior means. Plug-in shares, and one right and one wrong added to them, overrate the best and
the worst, the more so the more of them are chosen from.

Source: Gelman et al. (2013), "Bayesian Data Analysis", Section 5.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.crowd.skills import SkillEstimates, estimate_skills

FLAT = (1.0, 1.0)
"""Where there is nobody to fit to: one right and one wrong answer."""
ENDS = ((-6.0, 6.0), (np.log(0.2), np.log(1e4)))
"""Ranges of log(a/b) and log(a + b)."""


def pooled_skills(correct: ArrayLike, answered: ArrayLike) -> FloatArray:
    """Posterior mean skill of each worker under the `fitted_prior`, shape (m,), in (0, 1)."""
    a, b = fitted_prior(correct, answered)
    skill: FloatArray = (np.asarray(correct) + a) / (np.asarray(answered) + (a + b))
    return skill


def fitted_prior(correct: ArrayLike, answered: ArrayLike) -> tuple[float, float]:
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
    given = checks.wholes("answered", answered)
    if right.shape != given.shape or (right > given).any():
        raise InputError("give as many right answers as answers, and no more of them right")
    right, given = right[given > 0], given[given > 0]
    if len(given) < 2:
        return FLAT
    from scipy.optimize import minimize
    from scipy.special import betaln, expit

    def unlikely(at: np.ndarray) -> float:
        mean, size = expit(at[0]), np.exp(at[1])
        a, b = mean * size, (1 - mean) * size
        told = (betaln(a + right, b + given - right) - betaln(a, b)).sum()
        return -float(told + np.log(a) + np.log(b) - 2.5 * np.log(size))

    share = (right.sum() + 1) / (given.sum() + 2)
    starts = [np.array([np.log(share / (1 - share)), np.log(size)]) for size in (2.0, 20.0)]
    fits = [minimize(unlikely, start, bounds=ENDS, method="L-BFGS-B") for start in starts]
    best = min(fits, key=lambda fit: float(fit.fun)).x
    mean, size = float(expit(best[0])), float(np.exp(best[1]))
    return mean * size, (1 - mean) * size


def fitted_skills(known: SkillEstimates) -> SkillEstimates:
    """The same answers with posterior means as skills, a prior fitted for each task type."""
    priors = [fitted_prior(*row) for row in zip(known.correct, known.answered, strict=True)]
    rows = [
        estimate_skills(right, given, prior=prior).skill
        for right, given, prior in zip(known.correct, known.answered, priors, strict=True)
    ]
    return SkillEstimates(np.concatenate(rows), known.answered, known.correct)
