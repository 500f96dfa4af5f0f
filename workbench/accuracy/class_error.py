"""The worst class of a vote by scores: how often it is wrong where that class is true.

A vote names the class with the largest sum of a log prior and of ln π_j(a_j | k) over the answers,
by lot where classes tie. Whatever classes a task may have, its error is at most that of the class
on which the vote errs most. The log prior is chosen so that this is low: raised for classes on
which the vote errs, by exponentiated gradients. Bayes errors are concave in the prior with the
errors by class as their gradient, and each of them is a bound below the greatest class error of
any vote, by lot or not.

Source: Wald (1950), *Statistical Decision Functions*, for the least favourable prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workbench.accuracy.likeliest import DRAWS, LISTED, TINY
from workbench.base.arrays import FloatArray
from workbench.base.seeds import generator
from workbench.crowd.votes import leading

STEPS = 60
"""Priors tried."""
CHOOSING = 4_000
"""Answers drawn at most to choose one."""
STRIDE = 2.0
"""How far the first of them goes, in nats for the class of the greatest error."""


@dataclass(frozen=True, eq=False)
class ClassError:
    """A vote of a set of workers, and how often it is wrong by true class.

    Attributes
    ----------
    log_prior
        What speaks for each class before any label, shape (K,).
    errors
        Chance to be wrong by true class, lots included, shape (K,).
    radius
        How far each may be off: four standard errors where answers were drawn, else 0.
    least
        No vote of these workers has a lower greatest class error; four standard errors are taken
        off where answers were drawn.
    """

    log_prior: FloatArray
    errors: FloatArray
    radius: float
    least: float

    @property
    def greatest(self) -> float:
        """The error of the class on which the vote errs most."""
        return float(self.errors.max())


@dataclass(frozen=True, eq=False)
class _Answers:
    """Answers of a set of workers.

    `score` and `size` are Σ ln π_j(a_j | k) and Σ |ln π_j(a_j | k)|, `chance` is P(a | k), each
    divided by how often the answer was drawn: shape (N, K).
    """

    score: FloatArray
    size: FloatArray
    chance: FloatArray
    drawn: bool

    def wrong(self, log_prior: FloatArray) -> FloatArray:
        """Chance that the vote does not name the class, by answer and class, shape (N, K)."""
        return 1.0 - self.named(log_prior)

    def named(self, log_prior: FloatArray) -> FloatArray:
        """Chance of each class to be named by the vote, by answer, shape (N, K)."""
        scale = (self.size + np.abs(log_prior)).max(axis=1)
        winning = leading(self.score + log_prior, scale)
        named: FloatArray = winning / winning.sum(axis=1, keepdims=True)
        return named

    def errors(self, log_prior: FloatArray) -> FloatArray:
        """Error by true class, shape (K,)."""
        total: FloatArray = np.einsum("nk,nk->k", self.chance, self.wrong(log_prior))
        return total

    def spread(self, values: FloatArray) -> float:
        """Four standard errors of a sum over the answers, values by answer, shape (N, …)."""
        if not self.drawn:
            return 0.0
        return 4.0 * float(values.std(axis=0, ddof=1).max()) * math.sqrt(len(values))


def class_error(
    confusion: FloatArray,
    log_prior: FloatArray | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> ClassError:
    """Errors by true class of a vote by scores, listed or drawn.

    Parameters
    ----------
    confusion
        π of each voter, shape (v, K, A).
    log_prior
        Of the vote, shape (K,); None for one that keeps the greatest class error low.
    draws
        Answers drawn where more than 32,768 would have to be listed.
    seed
        Of the draws. A prior is chosen by others than those that tell its errors.
    """
    voters, classes, named = confusion.shape
    listed = voters * math.log(named) <= math.log(LISTED)
    tried = _listed(confusion) if listed else _drawn(confusion, min(draws, CHOOSING), seed + 1)
    chosen, worst = (log_prior, log_prior) if log_prior is not None else _even(tried, classes)
    assert chosen is not None
    assert worst is not None
    final = tried if listed else _drawn(confusion, draws, seed)
    each = final.chance * final.wrong(chosen)
    share = np.exp(worst - np.logaddexp.reduce(worst))
    bayes = (final.chance * final.wrong(worst)) @ share
    least = float(bayes.sum()) - final.spread(bayes)
    return ClassError(chosen, final.errors(chosen), final.spread(each), max(least, 0.0))


def vote_confusion(
    confusion: FloatArray, log_prior: FloatArray, *, draws: int = DRAWS, seed: int = 0
) -> FloatArray:
    """Chance that a vote by scores names each class, by true class, shape (K, K).

    Parameters
    ----------
    confusion, log_prior, draws, seed
        As of `class_error`.
    """
    voters, _, named = confusion.shape
    if voters * math.log(named) <= math.log(LISTED):
        answers = _listed(confusion)
    else:
        answers = _drawn(confusion, draws, seed)
    return answers.chance.T @ answers.named(log_prior)


def _even(answers: _Answers, classes: int) -> tuple[FloatArray, FloatArray]:
    """The log prior of the lowest greatest class error tried, and that of the highest Bayes error.

    Shape (K,) each.
    """
    log = np.full(classes, -math.log(classes))
    best, lowest, hardest, highest = log, np.inf, log, -1.0
    for step in range(STEPS):
        errors = answers.errors(log)
        share = np.exp(log)
        bayes = float(share @ errors)
        if errors.max() < lowest:
            best, lowest = log, float(errors.max())
        if bayes > highest:
            hardest, highest = log, bayes
        if lowest - highest <= 1e-12:
            break
        rise = (errors - bayes) / max(float(errors.max()), TINY)
        log = log + STRIDE / (1.0 + step / 4.0) * rise
        log = log - np.logaddexp.reduce(log)
    return best, hardest


def _listed(confusion: FloatArray) -> _Answers:
    """All answers of the voters."""
    classes = confusion.shape[1]
    score, size, chance = np.zeros((1, classes)), np.zeros((1, classes)), np.ones((1, classes))
    for matrix in confusion:
        log = np.log(np.maximum(matrix, TINY)).T
        score = (score[:, None] + log).reshape(-1, classes)
        size = (size[:, None] + np.abs(log)).reshape(-1, classes)
        chance = (chance[:, None] * matrix.T).reshape(-1, classes)
    return _Answers(score, size, chance, drawn=False)


def _drawn(confusion: FloatArray, draws: int, seed: int) -> _Answers:
    """Answers drawn, as many of each true class, with how much each counts."""
    _, classes, named = confusion.shape
    rng = generator(seed)
    true = np.arange(draws) % classes
    score, size = np.zeros((draws, classes)), np.zeros((draws, classes))
    for matrix in confusion:
        edges = np.cumsum(matrix, axis=1)[true]
        answer = np.minimum((rng.random(draws)[:, None] > edges).sum(axis=1), named - 1)
        log = np.log(np.maximum(matrix, TINY)).T[answer]
        score += log
        size += np.abs(log)
    likely = np.exp(score - score.max(axis=1, keepdims=True))
    return _Answers(score, size, likely / likely.mean(axis=1, keepdims=True) / draws, drawn=True)
