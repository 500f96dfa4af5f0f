"""What control answers say of a crowd: how skilled it is, who guesses, how unlike tasks are.

Three right answers of three make nobody infallible, and twenty-three of twenty-three nearly do: how
far a share is to be drawn toward the others is learnt from the others. Skills come from Beta(a, b),
but for a share γ of workers who guess, right with chance 1/L; a, b and γ are the mode of what all
answers say of them (with the weak prior (a + b)^(−5/2), as in `fitted_prior`). Guessers are there
only where they are believed beyond the Beta by at least `NEEDED` in log-likelihood: one number
more has to pay.

Workers err on the same tasks more often than independent ones would. On task i worker j is right
with the log-odds α_j + σ u_i, u_i standard normal, α_j such that the mean over tasks is her skill;
σ, the difficulty, is the mode of the likelihood of the control answers, under a weak half-normal
prior. With σ > 0 more workers are not
always better: on hard tasks the many who are hardly better than guessing outvote the few who know.

Sources: Gelman et al. (2013), "Bayesian Data Analysis", Section 5.3; Rasch (1960), "Probabilistic
models for some intelligence and attainment tests"; Bock, Aitkin (1981), "Marginal maximum
likelihood estimation of item parameters".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.crowd.empirical_bayes import (
    ENDS,
    FLAT,
    against,
    beta_binomial,
    beta_of,
    counted,
    fitted_prior,
)
from workbench.selection.difficulty import skills_by_difficulty
from workbench.selection.scoring import Scores, scores

NEEDED = 1.0
"""Gain in log-likelihood from which on guessers are believed in (Akaike)."""
DIFFICULTIES: FloatArray = np.arange(0.0, 3.01, 0.125)
"""Values of σ that are tried, in log-odds."""
SPREAD = 1.0
"""Of the half-normal prior of σ."""


@dataclass(frozen=True, eq=False)
class ControlAnswers:
    """Answers to control tasks, k of them, by m workers.

    Attributes
    ----------
    task, worker
        Of each answer, as numbers, shape (k,).
    right
        Whether it is right, shape (k,).
    workers
        m.
    true, said
        True class of each answer's task, and the class that it names, by number, shape (k,); None
        where only right and wrong are known.
    """

    task: IntArray
    worker: IntArray
    right: BoolArray
    workers: int
    true: IntArray | None = None
    said: IntArray | None = None

    @classmethod
    def of(
        cls, task: IntArray, worker: IntArray, true: IntArray, said: IntArray, workers: int
    ) -> ControlAnswers:
        """Answers by the classes that are true and named."""
        return cls(task, worker, said == true, workers, true, said)

    def kept(self, rows: BoolArray) -> ControlAnswers:
        """Some of the answers, marked in shape (k,)."""
        true = None if self.true is None else self.true[rows]
        said = None if self.said is None else self.said[rows]
        return ControlAnswers(
            self.task[rows], self.worker[rows], self.right[rows], self.workers, true, said
        )

    @property
    def answered(self) -> IntArray:
        """Answers of each worker, shape (m,)."""
        return np.bincount(self.worker, minlength=self.workers)

    @property
    def correct(self) -> IntArray:
        """Right answers of each worker, shape (m,)."""
        return np.bincount(self.worker[self.right], minlength=self.workers)


def learned_scores(
    answers: ControlAnswers, classes: int, *, prior: tuple[float, float] | None = None
) -> Scores:
    """Score workers with skills, guessers and difficulty learned from all answers.

    Parameters
    ----------
    answers
        To control tasks.
    classes
        L ≥ 2.
    prior
        (a, b) in place of the learned one, without guessers; workers without any answer are then
        taken in. By the learned one they are left out: it is of those who answered.

    Returns
    -------
    `Scores` of which the vote is weighted by the log-odds of the posterior means.

    Raises
    ------
    InputError
        As `scores`.
    """
    correct, answered = answers.correct, answers.answered
    if prior is None:
        a, b, share = mixture_prior(correct, answered, classes)
        pool = scores(correct, answered, classes, prior=(a, b))
        pool = replace(pool, guessers=share, eligible=answered > 0)
    else:
        pool = scores(correct, answered, classes, prior=prior)
    sigma = fitted_difficulty(answers, pool.posterior_skill)
    return replace(pool, difficulty=sigma, by_posterior=True)


def mixture_prior(
    correct: IntArray, answered: IntArray, classes: int
) -> tuple[float, float, float]:
    """Fit (a, b, γ): Beta(a, b) skills of the share 1 − γ of workers, the others guess.

    Parameters
    ----------
    correct, answered
        c and n, shape (m,).
    classes
        L: guessers are right with chance 1/L.

    Returns
    -------
    a, b and γ; γ is 0 where guessers explain the answers no better, (1, 1, 0) where fewer than two
    workers answered.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    tested = answered > 0
    if tested.sum() < 2:
        return (*FLAT, 0.0)
    a, b = fitted_prior(correct, answered)
    c, n, times = counted(correct[tested], answered[tested])
    by_luck = c * np.log(1.0 / classes) + (n - c) * np.log1p(-1.0 / classes)

    def unlikely(at: FloatArray) -> tuple[float, FloatArray]:
        share = expit(at[2])
        by_skill, *slopes = beta_binomial(c, n, *beta_of(at))
        able = np.log1p(-share) + by_skill
        likely = np.logaddexp(able, np.log(share) + by_luck)
        skilled = np.exp(able - likely)
        value, down = against(
            at, np.stack([likely, skilled * slopes[0], skilled * slopes[1]]) @ times
        )
        return value, np.append(down, (share - 1.0 + skilled) @ times)

    start = np.log(a / b), np.log(a + b)
    nobody = unlikely(np.array([*start, -30.0]))[0]
    best = (c.sum() + 1.0) / (n.sum() + 2.0)
    able = np.log((best + 1.0) / (1.0 - best))  # Better than the mean, guessers apart.
    ends = (*ENDS, (-8.0, 5.0))
    fits = [
        minimize(unlikely, np.array(at), bounds=ends, method="L-BFGS-B", jac=True)
        for at in ((*start, -2.0), (able, np.log(10.0), 0.0), (able, np.log(10.0), 2.0))
    ]
    fit = min(fits, key=lambda each: float(each.fun))
    if nobody - float(fit.fun) < NEEDED:
        return a, b, 0.0
    return (*beta_of(fit.x), float(expit(fit.x[2])))


def fitted_difficulty(answers: ControlAnswers, skill: FloatArray) -> float:
    """Fit σ, the standard deviation of tasks' difficulty in log-odds; 0 for tasks all alike.

    Parameters
    ----------
    answers
        To control tasks.
    skill
        Mean chance of a right answer of each worker, strictly between 0 and 1, shape (m,).
    """
    if not len(answers.task):
        return 0.0
    starts = np.argsort(answers.task, kind="stable")
    first = np.flatnonzero(np.diff(answers.task[starts], prepend=-1))
    kinds, kind = np.unique(skill[answers.worker[starts]], return_inverse=True)
    cell = kind + len(kinds) * answers.right[starts]
    likelihood = []
    for sigma in DIFFICULTIES.tolist():
        chance, share = skills_by_difficulty(kinds, sigma)
        chance = np.clip(chance, 1e-12, 1.0 - 1e-12)
        log = np.log(np.concatenate([1.0 - chance, chance]))[cell]
        by_task = np.add.reduceat(log, first, axis=0) + np.log(share)
        likelihood.append(np.logaddexp.reduce(by_task, axis=1).sum() - 0.5 * (sigma / SPREAD) ** 2)
    return float(DIFFICULTIES[int(np.argmax(likelihood))])
