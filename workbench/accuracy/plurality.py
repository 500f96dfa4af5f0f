"""How often a weighted vote among more than two classes is wrong, for workers of one skill.

Voter j names the true class with probability p_j, else one of the L − 1 others with equal chance,
and counts w_j; the class with the largest sum wins, equal ones are drawn among fairly. All classes
being alike, the error does not depend on which one is true, and what matters of the wrong ones is
the multiset of their leads over the true class. The exact route lists those multisets voter by
voter, largest weights first: equal ones are merged, and a vote that the voters left cannot turn, or
a class that they cannot bring back, is settled at once. Where too many remain, votes are drawn.

Source of the model: Li, Liu (2015), (1) and (3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.error_rate import EPS, MERGE, ROUNDING, ErrorRate, vote_error
from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import TIE

MOST_CLASSES = 1000
CHUNK = 2**22
"""Votes, or sums of votes by class, drawn at once."""
LARGEST = 2**24
"""Numbers that one step of the exact route may make: 128 MB, and it makes copies."""
HASH = np.int64(0x5851F42D4C957F2D)
"""Odd, so that its powers in 64 bits lose nothing."""
OUT = -2.0
"""Lead of a class that cannot win: Σ|w| is 1."""


def plurality_error(
    skill: ArrayLike,
    weight: ArrayLike,
    classes: int,
    *,
    seed: Seed = 0,
    states: int = 2**16,
    draws: int = 200_000,
) -> ErrorRate:
    """Probability that one weighted vote of workers of one skill is wrong, ties drawn fairly.

    Parameters
    ----------
    skill, weight
        p and w, shape (k,). Voters of weight 0 do not count; a negative weight speaks against the
        class named. Without voters the error is 1 − 1/L.
    classes
        L. Two classes are `vote_error`'s.
    seed
        Of the votes drawn where the exact route is too long.
    states
        The exact route lists at most so many states.
    draws
        How many votes are drawn otherwise: 1000 at least, and fewer than asked for if there are
        very many voters.

    Returns
    -------
    ErrorRate
        Its method is "exact", "lattice" (two classes) or "sampled"; the radius of the latter is
        four standard errors and eight draws, and no proof.

    Raises
    ------
    InputError
        A skill outside [0, 1], a weight that is not finite, shapes that differ, fewer than two
        classes, or more than `MOST_CLASSES`.
    """
    L = checks.count("classes", classes, 2)
    if L > MOST_CLASSES:
        raise InputError(
            f"{L} classes: the error of a vote is computed for at most {MOST_CLASSES}, code the "
            "labels as fewer"
        )
    checks.count("states", states, 1)
    checks.count("draws", draws, 1)
    if L == 2:
        return vote_error(skill, weight, states=states)
    vote_error(skill, weight, states=1, cells=2)  # the same checks of p and w
    p, w = np.asarray(skill, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    p, w = p[w != 0], w[w != 0]
    if not len(w):
        return ErrorRate(1.0 - 1.0 / L, 0.0, "exact")
    w = w / np.abs(w).max()
    w /= np.abs(w).sum()
    return _exact(p, w, L, states) or _sampled(p, w, L, draws, seed)


def _exact(p: FloatArray, w: FloatArray, L: int, states: int) -> ErrorRate | None:
    """Error by listing the leads of the wrong classes; None where there are too many states."""
    order = np.lexsort((p, w, -np.abs(w)))  # The largest first: the rest then changes little.
    p, w = p[order], w[order]
    left = np.append(np.cumsum(np.abs(w)[::-1])[::-1][1:], 0.0)
    blur = 2 * (len(w) + 1) * (MERGE + 4 * EPS)  # Of the difference of two leads.
    margin = TIE + blur
    lead, mass, error = np.zeros((1, L - 1)), np.ones(1), 0.0
    for chance, step, rest in zip(p.tolist(), w.tolist(), left.tolist(), strict=True):
        if lead.size * L > LARGEST:
            return None
        lead, mass = voted(lead, mass, chance, step)
        best = lead.max(axis=1)
        error += float(mass[best > rest + margin].sum())
        open_ = (np.abs(best) <= rest + margin) & (mass > 0)
        lead, mass, best = lead[open_], mass[open_], np.maximum(best[open_], 0.0)
        # Classes that cannot catch up any more are all the same.
        lead[lead < (best - rest - margin)[:, None]] = OUT
        lead, mass = merged(lead, mass)
        if len(mass) > states:
            return None
    return lost(lead, mass, error, len(w))


def lost(lead: FloatArray, mass: FloatArray, error: float, voters: int) -> ErrorRate:
    """Error of states of so many voters, beside what is lost already."""
    blur = 2 * (voters + 1) * (MERGE + 4 * EPS)
    near, far = _loss(lead, TIE - blur), _loss(lead, TIE + blur)
    unsure = float(mass[near != far].sum())
    middle = min(max(error + float(mass @ (near + far)) / 2, 0.0), 1.0)
    return ErrorRate(middle, unsure + ROUNDING, "exact")


def voted(
    lead: FloatArray, mass: FloatArray, chance: float | FloatArray, step: float
) -> tuple[FloatArray, FloatArray]:
    """States after one more vote: for the true class, or for any other.

    Parameters
    ----------
    lead
        Of each wrong class over the true one, shape (s, L − 1).
    mass
        Chance of each state, shape (s,), or (s, q) for q skills.
    chance, step
        The voter's skill, shape (q,) for several, and weight.
    """
    after, others = [lead - step], lead.shape[1]
    for at in range(others):
        raised = lead.copy()
        raised[:, at] += step
        after.append(raised)
    wrong = mass * ((1.0 - chance) / others)
    return np.concatenate(after), np.concatenate([mass * chance, *[wrong] * others])


def merged(lead: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sort each row, and merge rows that are equal but for rounding."""
    if len(mass) < 2:
        return lead, mass
    lead = np.sort(lead, axis=1)
    key = np.rint(lead / MERGE).astype(np.int64)
    # Equal rows have equal hashes and come together; others that do are separated below.
    order = np.argsort(key @ HASH ** np.arange(1, key.shape[1] + 1))
    key, lead, mass = key[order], lead[order], mass[order]
    first = np.flatnonzero(np.append(True, (key[1:] != key[:-1]).any(axis=1)))
    return lead[first], np.add.reduceat(mass, first)


def _loss(lead: FloatArray, slack: float) -> FloatArray:
    """Probability of a wrong label in each state: sums within the slack of the best win."""
    best = np.maximum(lead.max(axis=1), 0.0)
    rivals = (lead >= (best - slack)[:, None]).sum(axis=1)
    loss: FloatArray = np.where(best <= slack, rivals / (rivals + 1.0), 1.0)
    return loss


def _sampled(p: FloatArray, w: FloatArray, L: int, draws: int, seed: Seed) -> ErrorRate:
    rng = stream(seed, "plurality")
    total = squares = 0.0
    done = 0
    draws = max(min(draws, 16 * CHUNK // len(p)), 1000)
    while done < draws:
        size = min(max(CHUNK // max(len(p), L), 1), draws - done)
        sums = np.zeros((size, L))
        row = np.arange(size)
        for chance, step in zip(p.tolist(), w.tolist(), strict=True):
            draw = rng.random(size)
            # A draw above the skill is uniform there: it names the wrong class.
            left = (draw - chance) / (1.0 - chance) if chance < 1.0 else np.zeros(size)
            wrong = 1 + np.clip(left * (L - 1), 0, L - 2).astype(np.int64)
            named = np.where(draw < chance, 0, wrong)
            sums[row, named] += step
        loss = _loss(sums[:, 1:] - sums[:, :1], TIE)
        total, squares = total + float(loss.sum()), squares + float(loss @ loss)
        done += size
    mean = total / done
    spread = max(squares / done - mean**2, 0.0) ** 0.5
    return ErrorRate(mean, 4.0 * spread / done**0.5 + 8.0 / done, "sampled")
