"""What a label counts towards its task: two rigorous readings of one cover constraint.

Σ_j g(p_ij) y_ij ≥ G(ε_i) keeps the error of task i at ε_i whatever the labels turn out to be, for
labels of two classes that are independent given the true one. Only the data of the program
differ, so that one integer program, relaxation and dual serve both:

- `hoeffding`, the paper's: g = (2p − 1)², G = 2 ln(1/ε), for the vote with weights 2p − 1. Source:
  Ho, Jabbari, Vaughan (2013), Lemma 1.
- `bhattacharyya`: g = −ln(2√(p(1 − p))), G = ln(1/(2ε)), for the vote with log-odds weights and
  equally likely classes. That vote names the likelier class, so it errs with probability
  Σ min(P(x|0), P(x|1))/2 over the answers x, which is at most ½ Π_j 2√(p_j(1 − p_j)), since no
  minimum exceeds the geometric mean. Source: Kailath (1967), "The divergence and Bhattacharyya
  distance measures in signal selection".

The second gain is never below half of the first, and its requirement is below half of the first
by ln 2: it asks for fewer labels on every crowd.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crowd_models.problem import checked, requirement
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError

MOST = 50.0
"""Of one label, in nats: only a skill of exactly 0 or 1 would be worth more, without end."""


@dataclass(frozen=True)
class Gain:
    """One reading of the cover constraint.

    Attributes
    ----------
    name
        `hoeffding` or `bhattacharyya`.
    of_skill
        g by skill p, any shape, for the largest requirement that such a label is to meet alone.
    requirement
        G by error ε, any shape.
    error
        Error promised by a cover: the inverse of `requirement`.
    vote
        Weights of the vote that keeps the promise: `linear`, 2p − 1, or `log-odds`.
    source
        What the promise rests on.
    """

    name: str
    of_skill: Callable[[ArrayLike, float], FloatArray]
    requirement: Callable[[ArrayLike], FloatArray]
    error: Callable[[ArrayLike], FloatArray]
    vote: str
    source: str

    def quality(self, skill: ArrayLike, need: ArrayLike = 0.0) -> FloatArray:
        """Gain of labels by skill, any shape, where tasks require `need`.

        Raises
        ------
        InputError
            A skill outside [0, 1].
        """
        return self.of_skill(checked("skill", skill), float(np.max(need, initial=0.0)))


def _hoeffding(skill: ArrayLike, need: float) -> FloatArray:
    del need  # An infallible label counts 1.
    gain: FloatArray = (2.0 * np.asarray(skill, dtype=np.float64) - 1.0) ** 2
    return gain


def _bhattacharyya(skill: ArrayLike, need: float) -> FloatArray:
    p = np.asarray(skill, dtype=np.float64)
    with np.errstate(divide="ignore"):
        gain = -np.log(2.0 * np.sqrt(p * (1.0 - p)))
    # An infallible label is enough for any task: a finite number says so as well.
    capped: FloatArray = np.clip(gain, 0.0, max(MOST, need))
    return capped


def _half_requirement(epsilon: ArrayLike) -> FloatArray:
    need: FloatArray = np.maximum(-np.log(2.0 * checked("epsilon", epsilon)), 0.0)
    return need


GAINS = {
    gain.name: gain
    for gain in (
        Gain(
            "hoeffding",
            _hoeffding,
            requirement,
            lambda cover: np.exp(-np.asarray(cover) / 2.0),
            "linear",
            "Lemma 1",
        ),
        Gain(
            "bhattacharyya",
            _bhattacharyya,
            _half_requirement,
            lambda cover: 0.5 * np.exp(-np.asarray(cover)),
            "log-odds",
            "Bhattacharyya's bound",
        ),
    )
}


def gain_of(name: str) -> Gain:
    """Look a gain up by name.

    Raises
    ------
    InputError
        There is none of that name.
    """
    if name not in GAINS:
        raise InputError(f"gain is {name!r}: give {' or '.join(GAINS)}")
    return GAINS[name]
