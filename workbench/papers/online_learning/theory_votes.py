"""How often a worker differs from the majority, and what vetting by these counts may promise.

Each question takes the skills, shape (M,), and a generator, and gives a record of `learn-theory`.

Source: Liu, Liu (2015), Sections 2.3, 3.5.3 and 6.2, (12) and (13).
"""

from __future__ import annotations

import math

import numpy as np

from workbench.accuracy.best_set import crowd_constants
from workbench.accuracy.majority import majority_accuracy
from workbench.base.arrays import FloatArray
from workbench.learning.agreement import structure
from workbench.learning.vetting import FACTOR, disagreement_rate
from workbench.studies.study import Record

EQUAL = 1e-12
"""Rates this close are equal."""
STATED = 0.1
"""Error at which a worker is dropped (Section 6.2)."""
DRAWS, MOST = 200, 2000
"""Of vetting after a fixed number of rounds: runs drawn, and rounds at most."""


def disagreement(skill: FloatArray, _: np.random.Generator) -> Record:
    """P(Z_i = 1) exactly and as printed; and the chance to rank two workers the wrong way."""
    m = len(skill) - 1 + len(skill) % 2
    p = np.sort(skill[:m])[::-1]
    full = majority_accuracy(p)
    printed = np.array([disagreement_rate(worker, full) for worker in p.tolist()])
    exact = np.array([differs(p, i) for i in range(m)])
    record: dict[str, float | int | bool | None] = {
        "rates": m,
        "rate_off": float((printed - exact).max()),
        "rate_below": float((printed - exact).min()),
        "rate_printed": float(printed.mean()),
        "rate_exact": float(exact.mean()),
        "full_right": full > 0.5,
        "order_broken": bool((np.diff(exact) < -EQUAL).any()),
    }
    only_i, only_j = one_differs(p, 0, m - 1)
    gap = only_j - only_i
    for rounds in (20, 100, 400):
        error = misranked(only_i, only_j, rounds)
        log = math.log(error) if error > 0 else -math.inf
        for name, factor in FACTOR.items():
            excess = log + factor * gap**2 * rounds
            record[f"excess_{name}_{rounds}"] = excess if gap > 0 and error > 1e-250 else None
    return record


def _right(p: FloatArray) -> FloatArray:
    """Distribution of the number of workers who are right, shape (m + 1,)."""
    chance = np.ones(1)
    for worker in p.tolist():
        chance = np.convolve(chance, [1 - worker, worker])
    return chance


def differs(p: FloatArray, i: int) -> float:
    """P(i differs from the majority of all), odd m."""
    m = len(p)
    others = _right(np.delete(p, i))
    wrong_alone = others[(m + 1) // 2 :].sum()  # the majority is right without i
    right_alone = others[: (m - 1) // 2].sum()  # it is wrong although i is right
    return float((1 - p[i]) * wrong_alone + p[i] * right_alone)


def one_differs(p: FloatArray, i: int, j: int) -> tuple[float, float]:
    """P(i differs from the majority and j does not), and the other way round; odd m."""
    m = len(p)
    others = np.append(_right(np.delete(p, [i, j])), np.zeros(2))
    majority_right = float(others[(m - 1) // 2 :].sum())  # with one of the two right
    only_i = (1 - p[i]) * p[j] * majority_right + p[i] * (1 - p[j]) * (1 - majority_right)
    only_j = (1 - p[j]) * p[i] * majority_right + p[j] * (1 - p[i]) * (1 - majority_right)
    return float(only_i), float(only_j)


def misranked(only_i: float, only_j: float, rounds: int) -> float:
    """P(Σ Z_i ≥ Σ Z_j) after so many rounds: the better i differs as often as j, or more."""
    total, power = np.ones(1), np.array([only_j, 1 - only_i - only_j, only_i])
    left = rounds
    while left:
        if left % 2:
            total = np.convolve(total, power)
        power, left = np.convolve(power, power), left // 2
    return float(total[rounds:].sum())


def vetting(skill: FloatArray, rng: np.random.Generator) -> Record:
    """Drop the least able: what becomes of a_min; and whom counts name after N rounds.

    `strict_gain` and `full_gain`: of a_min, the chance that more than half are right, and of the
    majority with ties drawn. N is the first number of rounds at which (13), at the true ε of the
    two least able, is below 0.1; `wrong_…` counts, of `DRAWS` runs of N rounds, those in which
    another differs most (ties in expectation). None where N exceeds `MOST`.
    """
    p = np.sort(skill)[::-1]
    whole, less = crowd_constants(p), crowd_constants(p[:-1])
    record: dict[str, float | int | None] = {
        "strict_gain": less.a_min - whole.a_min,
        "full_gain": less.full_accuracy - whole.full_accuracy,
        "mean_gain": less.mean_skill - whole.mean_skill,
        "draws": DRAWS,
    }
    p = p[-(len(p) - 1 + len(p) % 2) :]
    gap = differs(p, len(p) - 1) - differs(p, len(p) - 2)
    for name, factor in FACTOR.items():
        rounds = math.inf if gap <= 0 else -math.log(STATED) / (factor * gap**2)
        wrong = _wrongly_named(p, math.floor(rounds) + 1, rng) if rounds < MOST else None
        record |= {f"rounds_{name}": min(rounds, 1e9), f"wrong_{name}": wrong}
    return record


def _wrongly_named(p: FloatArray, rounds: int, rng: np.random.Generator) -> float:
    """Of `DRAWS` runs, in how many another than the last of p differs most from the majority."""
    right = rng.random((DRAWS, rounds, len(p))) < p
    majority = right.sum(axis=2, keepdims=True) * 2 > len(p)
    count = (right != majority).sum(axis=1)
    most = count == count.max(axis=1, keepdims=True)
    return float((1 - most[:, -1] / most.sum(axis=1)).sum())


def agreement(skill: FloatArray, rng: np.random.Generator) -> Record:
    """What `structure` says of a crowd and of its mirror image, by labels of 200 tasks."""
    if rng.random() < 0.5:
        skill = 1 - skill
    kind = rng.integers(3)
    if kind == 2:  # a crowd of coins, or nearly
        skill = 0.5 + 0.1 * (skill - 0.5)
    truth = rng.integers(2, size=200)
    labels = ((rng.random((200, len(skill))) < skill) == truth[:, None]).astype(np.int64)
    seed = int(rng.integers(2**62))
    blind = structure(labels, seed=seed)
    mirrored = structure(1 - labels, seed=seed)
    told = structure(labels, np.where(np.arange(200) < 30, truth, -1), seed=seed)
    distance = abs(float(skill.mean()) - 0.5)
    return {
        "trusted": bool(skill.mean() > 0.5),
        "distance": distance,
        "warned": bool(blind.low <= 0.02),
        "covered": bool(blind.low <= distance <= blind.high),
        "blind_answers": blind.trusted is not None,
        "mirror_same": bool(np.allclose(blind.lean, mirrored.lean, equal_nan=True)),
        "told_sign": told.sign,
    }
