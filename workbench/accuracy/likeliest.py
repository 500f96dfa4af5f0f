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
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, generator

LISTED = 2**15
"""Answers listed at most."""
DRAWS = 20_000
TINY = 1e-300


def likeliest_error(
    confusion: FloatArray, prior: FloatArray, *, draws: int = DRAWS, seed: Seed = 0
) -> ErrorRate:
    """Error of the likeliest class, exact or drawn.

    Parameters
    ----------
    confusion
        π of each voter, shape (v, K, A): true class × class named; rows sum to 1.
    prior
        ρ, shape (K,).
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
    if voters * math.log(named) <= math.log(LISTED):
        likely = rho[:, None]
        for matrix in chance:
            likely = (likely[:, :, None] * matrix[:, None, :]).reshape(len(rho), -1)
        return ErrorRate(max(0.0, 1.0 - float(likely.max(axis=0).sum())), 0.0, "exact")
    rng = generator(seed)
    true = rng.choice(len(rho), draws, p=rho)
    log = np.tile(np.log(np.maximum(rho, TINY)), (draws, 1))
    for matrix in chance:
        edges = np.cumsum(matrix, axis=1)[true]
        answer = np.minimum((rng.random(draws)[:, None] > edges).sum(axis=1), named - 1)
        log += np.log(np.maximum(matrix, TINY))[:, answer].T
    log -= log.max(axis=1, keepdims=True)
    wrong = 1.0 - 1.0 / np.exp(log).sum(axis=1)
    return ErrorRate(
        float(wrong.mean()), 4.0 * float(wrong.std(ddof=1)) / math.sqrt(draws), "sampled"
    )
