"""Simulated pools of models and people: a latent margin, part of which is the task's own.

Model j is right on task i where a_j + √ρ d_i + √(1 − ρ) e_ij > 0, d_i and e_ij being standard
normal; d_i is the same for all models, so that they err together. Its own confidence is that of a
margin seen with noise, and too sure. People err independently of each other and of models, or share
a part of d_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base import FloatArray, IntArray, checks
from workbench.collection import Answers, Pool

SETTINGS = ("equal classes", "15 % positives", "shared difficulty", "independent models")
SKILLS = (0.70, 0.73, 0.76, 0.79, 0.82)
"""Chance of each model to be right, both classes alike."""
TOGETHER = 0.65
"""ρ, the part of a model's margin that is the task's own: errors have a correlation of about .4."""
RARE, MISSED = 0.15, 0.5
"""Share of the positives, and by how much models' margins are lower on them."""
SHARED = 0.3
"""Part of a person's margin that is the task's own, where people share it."""
PEOPLE = (0.7, 0.95)
"""Range of the people's skills."""
NOISE, TOO_SURE = 0.5, 2.5
"""Of the margin by which a model is sure, and how much surer it says to be than √ of its odds."""


@dataclass(frozen=True, eq=False)
class MixedCrowd:
    """A pool and its answers; models come first.

    Attributes
    ----------
    pool, answers
        Without confidences.
    confidence
        Chance that each model gives its own answer, shape (n, J).
    """

    pool: Pool
    answers: Answers
    confidence: FloatArray


def mixed_crowd(
    setting: str,
    tasks: int,
    people: int,
    rng: np.random.Generator,
    prices: tuple[float, float] = (0.002, 0.1),
) -> MixedCrowd:
    """Draw a pool of `SETTINGS`: five models at the first price, people at the second."""
    from scipy.stats import norm

    J, n = len(SKILLS), tasks
    truth: IntArray = (rng.random(n) < (RARE if setting == "15 % positives" else 0.5)).astype(
        np.int64
    )
    own = rng.standard_normal(n)
    level = np.broadcast_to(norm.ppf(SKILLS), (n, J)).copy()
    if setting == "15 % positives":
        level += np.where(truth[:, None] == 1, -MISSED, 0.1)
    part = 0.0 if setting == "independent models" else TOGETHER
    margin = level + np.sqrt(part) * own[:, None]
    margin += np.sqrt(1.0 - part) * rng.standard_normal((n, J))
    seen = np.abs(margin + NOISE * rng.standard_normal((n, J)))
    confidence = 1.0 / (1.0 + np.exp(-TOO_SURE * seen))
    ability = norm.ppf(rng.uniform(*PEOPLE, people))
    share = SHARED if setting == "shared difficulty" else 0.0
    theirs = ability + np.sqrt(share) * own[:, None]
    theirs = theirs + np.sqrt(1.0 - share) * rng.standard_normal((n, people))
    right = np.concatenate([margin, theirs], axis=1) > 0.0
    label = np.where(right, truth[:, None], 1 - truth[:, None])
    m = J + people
    pool = Pool(
        tasks=checks.numbered("t", n),
        workers=np.concatenate([checks.numbered("m", J), checks.numbered("p", people)]),
        classes=np.arange(2),
        capacity=np.full(m, n),
        price=np.where(np.arange(m) < J, *prices)[None],
        kind=np.zeros(n, dtype=np.int64),
        share=np.full(2, 0.5),
        gold=np.zeros(0, dtype=np.int64),
        gold_kind=np.zeros(0, dtype=np.int64),
        group=np.where(np.arange(m) < J, 0, -1),
    )
    return MixedCrowd(pool, Answers(label, np.zeros((0, m), dtype=np.int64), truth), confidence)
