"""What a worker may be like: pairs of skills, or of more classes one skill and pooled errors.

Of two classes a point of the grid is a pair of skills, chances to be right: sensitivity and
specificity, the two coins of Raykar et al. (2010). The more the two differ the less likely it is
beforehand, and pairs worse than chance are rare. Of more classes a point is one skill, with errors
that are alike for all workers, none more than nine tenths as likely as the right answer; and there
are workers who always name one class.

Source: Liu, Peng, Ihler (2012), "Variational inference for crowdsourcing", Section 3; Dawid, Skene
(1979).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.arrays import FloatArray

# Chosen on seeds 300 to 369 of the simulated crowds of docs/findings/until-trusted.md.
SKILLS = (0.03, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.88, 0.94, 0.98)
"""Chances to name the true class, where it is the first or the second."""
APART = 0.15
"""How far two skills of a worker differ, beforehand: their prior falls as exp(−|a − b|/APART)."""
WORSE = 0.05
"""Weight of a pair of skills worse than chance beside its mirror image."""
GUESSES = 0.25
"""Prior share of workers whose skills are both ½."""
ABILITIES = (0.05, 0.2, 0.35, 0.5, 0.65, 0.75, 0.83, 0.9, 0.95, 0.98)
"""Of more classes: how far a worker is on the way from guessing to always right."""
CONSTANT = 0.02
"""Of more classes: prior share of workers who always name one class, all classes together."""
MOST_WRONG = 0.9
"""Chance of a wrong answer beside that of the right one, at most: without a bound classes changed
places on the recorded crowd web (an earlier belief, four labels a task, .71 wrong)."""
# By judgement, not tuned.
RARE = 1e-4
"""Pairs of skills less likely beforehand are left out."""
LEAST = 0.005
"""Chance of any answer, at least."""


@dataclass(frozen=True, eq=False)
class SkillGrid:
    """What a worker may be like.

    Attributes
    ----------
    chance
        A, shape (G, K true, K named), by falling gain.
    prior
        Beforehand, shape (G,).
    gain
        Information of a label in nats: mean over pairs of classes of the divergence between their
        answers; shape (G,).
    unlike
        Divergence of a guess from it, shape (G,): how fast one who guesses is recognised.
    """

    chance: FloatArray
    prior: FloatArray
    gain: FloatArray
    unlike: FloatArray

    @classmethod
    def of(cls, chance: FloatArray, prior: FloatArray) -> SkillGrid:
        """Order points by what a label tells, and scale their prior to sum to 1."""
        K, gain, logs = chance.shape[1], gains(chance), np.log(chance)
        unlike = (np.log(1.0 / K) - logs).mean(axis=(1, 2))
        order = np.argsort(-gain, kind="stable")
        return cls(chance[order], prior[order] / prior.sum(), gain[order], unlike[order])


def gains(chance: FloatArray) -> FloatArray:
    """Information of a label in nats, as `SkillGrid.gain`, of answers of shape (G, K, K)."""
    K, logs = chance.shape[1], np.log(chance)
    total = np.einsum("gcx,gcx->g", chance, logs) * K - np.einsum("gcx,gdx->g", chance, logs)
    return np.asarray(total / (K * (K - 1)))


def two_coins() -> SkillGrid:
    """Pairs of skills: chance to name the first class where it is true, and the second."""
    first, second = (axis.ravel() for axis in np.meshgrid(SKILLS, SKILLS))
    prior = np.exp(-np.abs(first - second) / APART)
    below = first + second < 1.0 - 1e-9
    prior[below] *= WORSE
    prior /= prior.sum()
    guess = (first == 0.5) & (second == 0.5)
    prior = np.where(guess, GUESSES, (1.0 - GUESSES) * prior)
    rows = np.stack([np.stack([first, 1 - first], 1), np.stack([1 - second, second], 1)], axis=1)
    kept = prior > RARE
    return SkillGrid.of(rows[kept], prior[kept])


def alike_coins() -> SkillGrid:
    """Pairs of equal skills: right with the same chance in either class."""
    pairs = two_coins()
    alike = pairs.chance[:, 0, 0] == pairs.chance[:, 1, 1]
    return SkillGrid.of(pairs.chance[alike], pairs.prior[alike])


def one_coin_grid(errors: FloatArray) -> SkillGrid:
    """One skill and pooled errors, and constant answers.

    Parameters
    ----------
    errors
        Which class is named where another is true, rows of sum 1 with 0 in the diagonal, (K, K).
    """
    K = len(errors)
    right = 1.0 / K + (1.0 - 1.0 / K) * np.array(ABILITIES)
    wrong = (1.0 - right)[:, None, None] * errors
    wrong = np.minimum(wrong, MOST_WRONG * right[:, None, None])
    able = wrong + right[:, None, None] * np.eye(K)
    constant = np.tile(np.eye(K)[:, None, :], (1, K, 1))
    chance = np.maximum(np.concatenate([able, np.full((1, K, K), 1 / K), constant]), LEAST)
    prior = np.full(len(right), (1.0 - GUESSES - CONSTANT) / len(right))
    prior = np.concatenate([prior, [GUESSES], np.full(K, CONSTANT / K)])
    return SkillGrid.of(chance / chance.sum(axis=2, keepdims=True), prior)
