"""Crowds whose skills depend on the context.

    skills = smooth_skills(5, lipschitz=1.0, seed=1)
    played = play_contexts(learner, skills, 10_000, seed=2)  # of `playing`

Source: Liu, Liu (2015), Section 5: contexts are uniform, skills Lipschitz.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream

SPAN = (0.5, 0.9)
"""Between which smooth skills stay."""


class SkillTable:
    """Skills in a few contexts, all equally frequent.

    Parameters
    ----------
    skill
        p by context, each a vector of shape (M,).

    Raises
    ------
    InputError
        No context, skills that are not probabilities, or of different numbers of workers.
    """

    def __init__(self, skill: Mapping[Any, ArrayLike]) -> None:
        if not skill:
            raise InputError("skill is empty: give the skills in one context or more")
        rows = [checks.probabilities(f"skill[{name!r}]", p, 1) for name, p in skill.items()]
        if len({len(row) for row in rows}) > 1 or not len(rows[0]):
            raise InputError("skill: give as many workers, one or more, in every context")
        self.contexts = tuple(skill)
        self.skill = np.stack(rows)

    def draw(self, uniform: FloatArray) -> list[Any]:
        """Contexts of tasks from uniform numbers, shape (n,)."""
        which = (uniform * len(self.contexts)).astype(np.int64)
        return [self.contexts[k] for k in which.tolist()]

    def at(self, contexts: Sequence[Any]) -> FloatArray:
        """p in each of n contexts, shape (n, M)."""
        row = {name: k for k, name in enumerate(self.contexts)}
        return self.skill[[row[name] for name in contexts]]


@dataclass(frozen=True, eq=False)
class SmoothSkills:
    """Skills that change smoothly with w ∈ [0, 1]: p_i(w) = c_i + a_i cos 2π(w + φ_i).

    Attributes
    ----------
    centre, swing, phase
        c, a ≥ 0 and φ, shape (M,).
    """

    centre: FloatArray
    swing: FloatArray
    phase: FloatArray

    def draw(self, uniform: FloatArray) -> list[Any]:
        """Contexts of tasks: the numbers themselves."""
        drawn: list[float] = uniform.tolist()
        return drawn

    def at(self, contexts: Sequence[Any]) -> FloatArray:
        """p in each of n contexts, shape (n, M)."""
        angle = 2.0 * np.pi * (np.asarray(contexts)[:, None] + self.phase)
        return np.clip(self.centre + self.swing * np.cos(angle), 0.0, 1.0)


def smooth_skills(workers: int, *, lipschitz: float = 1.0, seed: Seed) -> SmoothSkills:
    """Draw a crowd whose skills stay in [0.5, 0.9] with slopes of at most `lipschitz`.

    Parameters
    ----------
    workers
        M.
    lipschitz
        Bound of the slope; all swings are as wide as it and the interval allow.
    seed
        Of centres and phases, both uniform.

    Raises
    ------
    InputError
        A parameter out of range.
    """
    M = checks.count("workers", workers, 1)
    steep = checks.number("lipschitz", lipschitz, 0.0, 1e300)
    low, high = SPAN
    swing = min(0.5 * (high - low), steep / (2.0 * np.pi))
    rng = stream(seed, "smooth skills")
    centre = low + swing + (high - low - 2.0 * swing) * rng.random(M)
    return SmoothSkills(centre, np.full(M, swing), rng.random(M))


Skills: TypeAlias = SkillTable | SmoothSkills
"""Skills by context."""
