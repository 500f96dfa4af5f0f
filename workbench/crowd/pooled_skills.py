"""Skills that borrow from the crowd: an empirical-Bayes estimate from few gold answers.

A worker with two right answers of two is hardly infallible, and one without answers is most likely
a worker like the others. Skills are taken for draws from one Beta distribution, which is fitted to
all workers' answers by marginal likelihood; a worker's skill is her posterior mean.

Source: Robbins (1956), "An empirical Bayes approach to statistics"; the beta-binomial of Skellam
(1948).
"""

from __future__ import annotations

import numpy as np

from workbench.base.arrays import FloatArray, IntArray

MEANS: FloatArray = np.linspace(0.025, 0.975, 39)
"""Means of the Beta distributions that are tried."""
STRENGTHS: FloatArray = np.geomspace(1.0, 256.0, 13)
"""Their a + b: how many answers each counts for."""


def pooled_prior(correct: IntArray, answered: IntArray, classes: int) -> tuple[float, float]:
    """(a, b) of the Beta distribution under which the workers' answers are likeliest.

    Parameters
    ----------
    correct, answered
        Right gold answers and all of them, shape (m,).
    classes
        L; without any answer the mean is halfway between guessing, 1/L, and always right, and
        counts for two answers.
    """
    from scipy.special import betaln

    known = answered > 0
    if not known.any():
        mean = (1.0 + 1.0 / classes) / 2.0
        return 2.0 * mean, 2.0 * (1.0 - mean)
    met, count = np.unique(np.stack([correct[known], answered[known]]), axis=1, return_counts=True)
    c, n = met[:, :, None, None]
    a = MEANS[:, None] * STRENGTHS
    b = STRENGTHS - a
    # A gentle pull to less certainty, one observation's worth, keeps few answers from claiming
    # that all workers are alike.
    likelihood = np.tensordot(count, betaln(c + a, n - c + b) - betaln(a, b), 1)
    likelihood -= 0.5 * np.log(STRENGTHS)
    at = np.unravel_index(int(np.argmax(likelihood)), a.shape)
    return float(a[at]), float(b[at])


def pooled_skills(correct: IntArray, answered: IntArray, classes: int) -> FloatArray:
    """Posterior mean skill of each worker under the `pooled_prior`, shape (m,), in (0, 1)."""
    a, b = pooled_prior(correct, answered, classes)
    skill: FloatArray = (correct + a) / (answered + (a + b))
    return skill
