"""Tasks of unlike difficulty: who is right how often on the easy ones and on the hard ones.

A worker is right with the log-odds α + σu on a task of difficulty −u, u standard normal, α such
that the mean over tasks is her skill. u is summed over by `NODES` points of Gauss and Hermite.

Sources: Rasch (1960), "Probabilistic models for some intelligence and attainment tests"; Bock,
Aitkin (1981), "Marginal maximum likelihood estimation of item parameters".
"""

from __future__ import annotations

from functools import cache

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.checks import frozen
from workbench.crowd.gold_rule import class_sums

NODES = 9
"""Points of the normal distribution of difficulty."""


def skills_by_difficulty(
    skill: FloatArray, sigma: float, turned: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Chance of a right answer on tasks of several difficulties, and how frequent these are.

    Parameters
    ----------
    skill
        Mean over tasks, strictly between 0 and 1, shape (m,).
    sigma
        σ ≥ 0.
    turned
        Whose word is taken for its opposite, shape (m,): on hard tasks they are wrong less often
        than on easy ones, so that they help there no more than others do. None for nobody.

    Returns
    -------
    Chances (m, q) and shares (q,): their product gives the skills back, but for rounding. q is 1
    where σ is 0.
    """
    if sigma == 0:
        return skill[:, None], np.ones(1)
    if turned is not None and turned.any():
        able, share = skills_by_difficulty(np.where(turned, 1.0 - skill, skill), sigma)
        return np.where(turned[:, None], 1.0 - able, able), share
    from scipy.special import expit, logit

    u, share = _normal()
    # The logistic curve's mean over a normal shift is about one flatter curve: a start for Newton.
    at = logit(skill) * np.sqrt(1.0 + 0.346 * sigma**2)
    for _ in range(20):
        chance = expit(at[:, None] + sigma * u)
        slope = (chance * (1.0 - chance)) @ share
        step = np.clip((skill - chance @ share) / np.maximum(slope, 1e-12), -2.0, 2.0)
        at = at + step
        if np.abs(step).max(initial=0.0) < 1e-12:
            break
    return expit(at[:, None] + sigma * u), share


def wrong_by_difficulty(
    label: IntArray,
    able: FloatArray,
    place: IntArray,
    chance: FloatArray,
    share: FloatArray,
) -> FloatArray:
    """Chance that labels are wrong if errors are independent on tasks alike, shape (k,).

    Parameters
    ----------
    label, place
        Class and task (0 … k − 1) of each of v votes.
    able
        Chance that each vote is right, by difficulty, strictly between 0 and 1, shape (v, q).
    chance
        Of each class, as labelled, shape (k, L); NaN where there is no label.
    share
        Of the tasks, by difficulty, shape (q,).
    """
    shape = (chance.shape[0], chance.shape[1])
    log_odds = np.empty((*shape, len(share)))
    for q, part in enumerate(share.tolist()):
        miss = np.log1p(-able[:, q]) - np.log(max(shape[1] - 1, 1))
        none = np.bincount(place, miss, minlength=shape[0])[:, None]
        lead = class_sums(place, label, np.log(able[:, q]) - miss, shape)
        log_odds[:, :, q] = none + lead + np.log(part)
    likely = np.exp(log_odds - log_odds.max(axis=(1, 2), keepdims=True)).sum(axis=2)
    wrong: FloatArray = 1.0 - (chance * likely).sum(axis=1) / likely.sum(axis=1)
    return wrong


@cache
def _normal() -> tuple[FloatArray, FloatArray]:
    """Points of the normal distribution, and their shares, shape (q,) each."""
    u, share = np.polynomial.hermite_e.hermegauss(NODES)
    return frozen(u), frozen(share / share.sum())
