"""How often a weighted vote among more than two classes is wrong, for one-coin workers.

Voter j names the true class with probability p_j, else one of the L − 1 others with equal chance,
and counts w_j; the class with the largest sum wins, equal ones are drawn among fairly. All classes
being alike, the error does not depend on which one is true, and what matters of the wrong ones is
the multiset of their leads over the true class. The exact route lists those multisets, equal ones
merged, voter by voter; where there are too many, votes are drawn.

Source of the model: Li, Liu (2015), (1) and (3).

May import `workbench.errors`, `workbench.crowd`, its neighbours `error_rate` and `votes`, and
NumPy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.aggregate.error_rate import MERGE, ROUNDING, ErrorRate, vote_error
from workbench.aggregate.votes import TIE
from workbench.crowd import _checks
from workbench.crowd._streams import stream
from workbench.crowd.random import Seed
from workbench.crowd.votes import FloatArray

CHUNK = 2**22
"""Votes drawn at once."""


def plurality_error(
    skill: ArrayLike,
    weight: ArrayLike,
    classes: int,
    *,
    seed: Seed = 0,
    atoms: int = 2**15,
    draws: int = 200_000,
) -> ErrorRate:
    """Probability that one weighted vote of one-coin workers is wrong, ties drawn fairly.

    Parameters
    ----------
    skill, weight
        p and w, shape (k,). Voters of weight 0 do not count; a negative weight speaks against the
        class named. Without voters the error is 1 − 1/L.
    classes
        L. Two classes are `vote_error`'s.
    seed
        Of the votes drawn where the exact route is too long.
    atoms
        The exact route lists at most so many states.
    draws
        How many votes are drawn otherwise (fewer if there are very many voters).

    Returns
    -------
    ErrorRate
        Its method is "exact", "lattice" (two classes) or "sampled"; the radius of the latter is
        four standard errors, and no proof.

    Raises
    ------
    InputError
        A skill outside [0, 1], a weight that is not finite, shapes that differ, or fewer than two
        classes.
    """
    L = _checks.count("classes", classes, 2)
    if L == 2:
        return vote_error(skill, weight)
    vote_error(skill, weight, atoms=1, cells=2)  # the same checks of p and w
    p, w = np.asarray(skill, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    p, w = p[w != 0], w[w != 0]
    if not len(w):
        return ErrorRate(1.0 - 1.0 / L, 0.0, "exact")
    w = w / np.abs(w).max()
    w /= np.abs(w).sum()
    exact = _exact(p, w, L, _checks.count("atoms", atoms, 1))
    if exact is not None:
        return ErrorRate(min(max(exact, 0.0), 1.0), ROUNDING, "exact")
    return _sampled(p, w, L, _checks.count("draws", draws, 1), seed)


def _exact(p: FloatArray, w: FloatArray, L: int, atoms: int) -> float | None:
    """Error by listing the leads of the wrong classes; None where there are too many states."""
    order = np.lexsort((p, w))
    lead, mass = np.zeros((1, L - 1)), np.ones(1)
    for chance, step in zip(p[order].tolist(), w[order].tolist(), strict=True):
        after = [lead - step, *(_raised(lead, at, step) for at in range(L - 1))]
        wrong = mass * ((1.0 - chance) / (L - 1))
        lead, mass = _merged(
            np.concatenate(after), np.concatenate([mass * chance, *[wrong] * (L - 1)])
        )
        if len(mass) > atoms:
            return None
    return float(mass @ _loss(lead))


def _raised(lead: FloatArray, at: int, step: float) -> FloatArray:
    raised = lead.copy()
    raised[:, at] += step
    return raised


def _merged(lead: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sort each row, and merge rows that are equal but for rounding."""
    lead = np.sort(lead[mass > 0], axis=1)
    mass = mass[mass > 0]
    key = np.rint(lead / (100 * MERGE)).astype(np.int64)
    order = np.lexsort(key.T)
    key, lead, mass = key[order], lead[order], mass[order]
    first = np.flatnonzero(np.r_[True, (key[1:] != key[:-1]).any(axis=1)])
    return lead[first], np.add.reduceat(mass, first)


def _loss(lead: FloatArray) -> FloatArray:
    """Probability of a wrong label in each state: sums within TIE of the best win."""
    best = np.maximum(lead.max(axis=1), 0.0)
    rivals = (lead >= (best - TIE)[:, None]).sum(axis=1)
    loss: FloatArray = np.where(best <= TIE, rivals / (rivals + 1.0), 1.0)
    return loss


def _sampled(p: FloatArray, w: FloatArray, L: int, draws: int, seed: Seed) -> ErrorRate:
    rng = stream(seed, "plurality")
    total = squares = 0.0
    done = 0
    draws = max(min(draws, 16 * CHUNK // len(p)), 1000)
    while done < draws:
        size = min(max(CHUNK // len(p), 1), draws - done)
        sums = np.zeros((size, L))
        row = np.arange(size)
        for chance, step in zip(p.tolist(), w.tolist(), strict=True):
            draw = rng.random(size)
            # A draw above the skill is uniform there: it names the wrong class.
            left = (draw - chance) / (1.0 - chance) if chance < 1.0 else np.zeros(size)
            wrong = 1 + np.clip(left * (L - 1), 0, L - 2).astype(np.int64)
            named = np.where(draw < chance, 0, wrong)
            sums[row, named] += step
        loss = _loss(sums[:, 1:] - sums[:, :1])
        total, squares = total + float(loss.sum()), squares + float(loss @ loss)
        done += size
    mean = total / done
    spread = max(squares / done - mean**2, 0.0) ** 0.5
    return ErrorRate(mean, 4.0 * spread / done**0.5 + 8.0 / done, "sampled")
