"""How often the likeliest class is wrong, for workers with confusion matrices.

Worker j names class a with probability π_j(a | k) where k is true, independently; the vote names a
class of largest ρ_k Π_j π_j(a_j | k). Its error is 1 − Σ_a max_k ρ_k Π_j π_j(a_j | k) over all
answers a, which are listed where they are few and drawn otherwise. Drawn answers count by the
posterior of the class named, not by whether it was true, which has the same mean and varies less.

Source: Dawid, Skene (1979), equation 2.5, for the posterior.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.accuracy.error_rate import ErrorRate
from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, generator

LISTED = 2**15
"""Answers listed at most."""
DRAWS = 20_000
TINY = 1e-300


def posteriors(chance: FloatArray, task: IntArray, prior: FloatArray, tasks: int) -> FloatArray:
    """Probability of each class given the votes, shape (k, K): equation 2.5.

    Parameters
    ----------
    chance
        π_j(a | k) of each vote's worker and label by true class k, shape (v, K).
    task
        Of each vote, 0 … k − 1, shape (v,).
    prior
        ρ, shape (K,).
    tasks
        k.
    """
    log = np.tile(np.log(np.maximum(prior, TINY)), (tasks, 1))
    np.add.at(log, task, np.log(np.maximum(chance, TINY)))
    likely = np.exp(log - log.max(axis=1, keepdims=True))
    share: FloatArray = likely / likely.sum(axis=1, keepdims=True)
    return share


def likeliest_error(
    confusion: FloatArray,
    prior: FloatArray,
    *,
    believed: FloatArray | None = None,
    draws: int = DRAWS,
    seed: Seed = 0,
) -> ErrorRate:
    """Error of the likeliest class, exact or drawn.

    Parameters
    ----------
    confusion
        π of each voter, shape (v, K, A): true class × class named; rows sum to 1.
    prior
        ρ, shape (K,).
    believed
        The matrices that the vote goes by, where they are not those of the voters.
    draws
        Answers drawn where more than 32,768 would have to be listed.
    seed
        Of the draws.

    Returns
    -------
    ErrorRate
        Its method is "exact" or "sampled"; the radius of the latter is four standard errors.

    Raises
    ------
    InputError
        Shapes that do not fit.
    """
    checks.count("draws", draws, 2)
    rho = np.asarray(prior, dtype=np.float64)
    chance = np.asarray(confusion, dtype=np.float64)
    if chance.ndim != 3 or chance.shape[1] != len(rho):
        raise InputError(
            f"confusion has shape {chance.shape} and prior {rho.shape}: give a matrix true class "
            "× class named for each voter, and a probability for each class"
        )
    voters, _, named = chance.shape
    seen = chance if believed is None else np.asarray(believed, dtype=np.float64)
    if seen.shape != chance.shape:
        raise InputError(f"believed has shape {seen.shape}: give {chance.shape}, as of confusion")
    if voters * math.log(named) <= math.log(LISTED):
        likely, belief = (_listed(matrices, rho) for matrices in (chance, seen))
        right = likely[belief.argmax(axis=0), np.arange(likely.shape[1])]
        return ErrorRate(max(0.0, 1.0 - float(right.sum())), 0.0, "exact")
    rng = generator(seed)
    true = rng.choice(len(rho), draws, p=rho)
    log = np.tile(np.log(np.maximum(rho, TINY)), (2, draws, 1))
    for matrix, own in zip(chance, seen, strict=True):
        edges = np.cumsum(matrix, axis=1)[true]
        answer = np.minimum((rng.random(draws)[:, None] > edges).sum(axis=1), named - 1)
        log[0] += np.log(np.maximum(matrix, TINY)).T[answer]
        if believed is not None:
            log[1] += np.log(np.maximum(own, TINY)).T[answer]
    belief = log[0] if believed is None else log[1]
    likely = np.exp(log[0] - log[0].max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    wrong = 1.0 - likely[np.arange(draws), belief.argmax(axis=1)]
    return ErrorRate(
        float(wrong.mean()), 4.0 * float(wrong.std(ddof=1)) / math.sqrt(draws), "sampled"
    )


def _listed(confusion: FloatArray, prior: FloatArray) -> FloatArray:
    """ρ_k Π_j π_j(a_j | k) of all answers a, shape (K, A^v)."""
    likely = prior[:, None]
    for matrix in confusion:
        likely = (likely[:, :, None] * matrix[:, None, :]).reshape(len(prior), -1)
    return likely
