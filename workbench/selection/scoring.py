"""What a worker is worth: G, and the scores F, F̂ and F̂_plug of a set of workers.

A worker answers n control questions, c of them right. Her skill is estimated by ŵ = c/n, and what
she adds to the expected lead of the true class by (Lŵ − 1)², less what chance alone adds to it:

    G(ŵ) = (Lŵ − 1)² − L² var̂(ŵ),    var̂(ŵ) = c(n − c)/(n²(n − 1)),    F̂(S) = Σ_S G / √|S|.

Multiplied out, G = ((Lc − n)² − L(L − 2)c − n) / (n(n − 1)): one division of whole numbers, exact
before it as long as Ln < 9·10⁷. Workers of equal worth then are equal to the last bit, even with
different n, and ties are ties.

Source: Li, Liu (2015), Section 3: (5), Lemma 2, (7)–(10). Workers may differ in n: Lemma 2 takes
each by herself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.crowd.skills import answer_counts, proper_prior

UNIFORM = (1.0, 1.0)
"""The prior that takes every skill for equally likely."""


@dataclass(frozen=True, eq=False)
class Scores:
    """What control questions say of m workers, each array of shape (m,).

    Attributes
    ----------
    answered, correct
        n and c.
    skill
        ŵ; NaN for who is not eligible.
    gain
        G(ŵ), what Algorithm 1 sums; −∞ for who is not eligible.
    plug_in
        (Lŵ − 1)², biased upwards by L² var(ŵ); −∞ for who is not eligible.
    eligible
        False for workers with fewer than two answers and no prior to fall back on: one answer
        has no variance.
    classes
        L.
    prior
        (a, b) of the Beta distribution of skills by which votes are predicted.
    guessers
        Share of workers who guess, right with chance 1/L, beside that distribution.
    difficulty
        σ, how far tasks differ, in log-odds (`learned`): 0 where errors are independent.
    by_posterior
        Whether votes weigh by the log-odds of the posterior mean, not by Lŵ − 1.
    """

    answered: IntArray
    correct: IntArray
    skill: FloatArray
    gain: FloatArray
    plug_in: FloatArray
    eligible: BoolArray
    classes: int
    prior: tuple[float, float] = UNIFORM
    guessers: float = 0.0
    difficulty: float = 0.0
    by_posterior: bool = False

    def __len__(self) -> int:
        """m, the number of workers."""
        return len(self.skill)

    @property
    def guessing(self) -> FloatArray:
        """Posterior chance that each worker guesses, shape (m,)."""
        from scipy.special import betaln

        if not self.guessers:
            return np.zeros(len(self))
        (a, b), L = self.prior, self.classes
        right, wrong = self.correct, self.answered - self.correct
        luck = math.log(self.guessers) + right * math.log(1 / L) + wrong * math.log1p(-1 / L)
        skill = math.log1p(-self.guessers) + betaln(a + right, b + wrong) - betaln(a, b)
        chance: FloatArray = np.exp(luck - np.logaddexp(luck, skill))
        return chance

    @property
    def posterior_skill(self) -> FloatArray:
        """Posterior mean of each worker's skill, shape (m,): (c + a)/(n + a + b) of who knows."""
        a, b = self.prior
        mean: FloatArray = (self.correct + a) / (self.answered + (a + b))
        guess = self.guessing
        return np.where(guess > 0, guess / self.classes + (1.0 - guess) * mean, mean)

    @property
    def posterior_value(self) -> FloatArray:
        """|Lw̄ − 1| of each worker, w̄ the posterior mean of the skill, shape (m,)."""
        a, b = self.prior
        weight = self.answered + (a + b)
        # One division of numbers that are whole for a whole prior: equals are equal to the last
        # bit.
        value: FloatArray = np.abs(self.classes * (self.correct + a) - weight) / weight
        return value * (1.0 - self.guessing)

    @property
    def vote_weight(self) -> FloatArray:
        """Weight of each worker's vote, shape (m,).

        Lŵ − 1 (2); or `by_posterior`, the log-odds ln(w̄(L − 1)/(1 − w̄)) of the true class against
        any other, w̄ the posterior mean: with it no other weights err less, given the prior.
        """
        if self.by_posterior:
            mean = self.posterior_skill
            return np.log(mean) + math.log(self.classes - 1) - np.log1p(-mean)
        return self.classes * self.skill - 1.0

    def workers(self, chosen: ArrayLike, least: int = 0) -> IntArray:
        """Check indices of workers who can vote, each once, with at least so many answers."""
        indices = np.asarray(chosen)
        at = checks.indices(
            "chosen", indices if indices.size else indices.astype(np.int64), len(self)
        )
        if len(np.unique(at)) < len(at):
            twice = int(np.argmax(np.bincount(at) > 1))
            raise InputError(f"chosen names worker {twice} twice: give each once")
        fit = self.eligible[at] & (self.answered[at] >= least)
        if not fit.all():
            j = int(at[np.argmin(fit)])
            raise InputError(
                f"chosen names worker {j}, who has too few control answers, {self.answered[j]}: "
                "leave the worker out"
            )
        return at


def scores(
    correct: ArrayLike,
    answered: ArrayLike,
    classes: int = 2,
    *,
    prior: tuple[float, float] | None = None,
) -> Scores:
    """Score workers by their answers to control questions (Lemma 2 and Theorem 3).

    Parameters
    ----------
    correct, answered
        c and n, shape (m,).
    classes
        L, 2 or more.
    prior
        (a, b) of a Beta distribution of skills. Workers with fewer than two answers then get its
        posterior mean as ŵ and (Lŵ − 1)² as gain: the lead they are expected to add when votes
        are weighted by that ŵ. Without a prior they are left out, and votes are predicted with
        every skill equally likely.

    Raises
    ------
    InputError
        Shapes that differ, a count that is not a whole number ≥ 0, more right answers than
        answers, fewer than two classes, or a prior that is not two numbers above 0.
    """
    L = checks.count("classes", classes, 2)
    right, total = answer_counts(correct, answered)
    tested = total >= 2
    # As floats: L²n² passes 2⁶³ sooner than anyone's patience. Who is not tested gets a stand-in.
    c, n = np.where(tested, right, 0.0), np.where(tested, total, 2.0)
    lead = (L * c - n) ** 2
    gain = (lead - L * (L - 2) * c - n) / (n * (n - 1))
    plug_in = lead / n**2
    share = np.where(tested, c / n, np.nan)
    if prior is None:
        gain[~tested] = plug_in[~tested] = -math.inf
        return Scores(total, right, share, gain, plug_in, tested, L)
    a, b = proper_prior(prior)
    c, n = right[~tested] + a, total[~tested] + (a + b)
    share[~tested] = c / n
    gain[~tested] = plug_in[~tested] = (L * c - n) ** 2 / n**2
    return Scores(total, right, share, gain, plug_in, np.ones_like(tested), L, (a, b))


def below_chance(pool: Scores) -> FloatArray:
    """Posterior chance that each worker's skill is below guessing, P(w < 1/L), shape (m,).

    Under the prior Beta(a, b) a worker with c right of n answers keeps Beta(c + a, n − c + b). With
    Beta(1, 1) and two classes the chance exceeds ½ exactly when most answers are wrong. Who guesses
    is not below guessing.
    """
    from scipy.special import betainc

    a, b = pool.prior
    wrong = pool.answered - pool.correct
    chance: FloatArray = betainc(pool.correct + a, wrong + b, 1.0 / pool.classes)
    return chance * (1.0 - pool.guessing)


def informativeness(skill: ArrayLike, classes: int = 2) -> FloatArray:
    """(Lw − 1)², any shape: what a worker of known skill adds to the lead, times L − 1 (5).

    Raises
    ------
    InputError
        A skill outside [0, 1] or NaN, or fewer than two classes.
    """
    L = checks.count("classes", classes, 2)
    w = checks.floats("skill", skill)
    if not ((w >= 0) & (w <= 1)).all():
        raise InputError("skill is outside [0, 1] or NaN: give probabilities")
    return (L * w - 1.0) ** 2


def set_score(worth: ArrayLike) -> float:
    """Score a set of k workers by Σ worth / √k, and no worker by 0.

    With `informativeness` of true skills it is F (5), with `Scores.gain` F̂ (7), with
    `Scores.plug_in` F̂_plug (9).
    """
    values = checks.floats("worth", worth)
    return float(values.sum() / math.sqrt(values.size)) if values.size else 0.0


def prefix_scores(worth: FloatArray) -> FloatArray:
    """Score the first 1, 2, … workers, Σ worth / √k for every k."""
    curve: FloatArray = np.cumsum(worth) / np.sqrt(np.arange(1.0, len(worth) + 1))
    return curve
