"""Skills as gold answers tell them: by type of task, or where tasks have an easiness of their own.

`plug-in` takes the share of right answers, as the paper does. `fitted` takes posterior means under
a prior that is fitted to the workers sampled before (`workbench.crowd.empirical_bayes`): squares
and log-odds of shares are too large in the mean, and a policy that believes them stops early.
`median` takes posterior medians in place of means. Of workers who are nearly always right the mean
is well below the median, and a policy that stops when a task is covered then buys more than it
needs.

Section 7 of the paper lets tasks have another structure than types. Here task i has an easiness
d_i, known beforehand, and 2p_ij − 1 = d_i (2p_j − 1): worker j has the skill p_j on tasks of
easiness 1. Then each gold answer tells of p_j, whatever its task's easiness.

Source: Ho, Jabbari, Vaughan (2013), Sections 5.2 and 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.crowd.empirical_bayes import (
    FLAT,
    BetaPrior,
    fitted_priors,
    likeliest_beta,
    posterior_means,
    posterior_medians,
)
from workbench.crowd.skills import estimate_skills

SkillEstimate: TypeAlias = Literal["plug-in", "fitted", "median"]
GRID: FloatArray = (np.arange(500) + 0.5) / 500
"""Skills at which a posterior is computed where tasks have an easiness."""


def known_estimate(skills: str) -> None:
    """Check how skills are to be estimated.

    Raises
    ------
    InputError
        None of `SkillEstimate`.
    """
    if skills not in get_args(SkillEstimate):
        raise InputError(f"skills is {skills!r}: give {', '.join(get_args(SkillEstimate))}")


def skills_on_arrival(
    correct: IntArray,
    answered: IntArray,
    sampled: int,
    skills: SkillEstimate,
    *,
    every: int | None = None,
) -> FloatArray:
    """Estimated skills of workers in order of arrival, as they are known when each arrives.

    Parameters
    ----------
    correct, answered
        Gold tasks right, and answered, by type and worker, shape (T, m).
    sampled
        The prior is fitted to so many workers, who come first. With 0 it is fitted to those who
        came before, anew whenever their number has doubled.
    skills
        `plug-in`, `fitted` or `median`.
    every
        With a sample, fit the prior anew after so many workers, to everyone who came before:
        where the order is not random, the sample does not tell of those to come. None: never.

    Returns
    -------
    FloatArray
        p̂, shape (T, m).
    """
    known_estimate(skills)
    if skills == "plug-in":
        return estimate_skills(correct, answered).skill
    m, posterior = correct.shape[1], posterior_medians if skills == "median" else posterior_means
    starts = [0] if sampled else [0, *(2**k for k in range(max(m, 1).bit_length()) if 2**k < m)]
    if sampled and every is not None:
        starts += range(sampled, m, every)
    parts = []
    for start, end in zip(starts, [*starts[1:], m], strict=True):
        before = max(sampled, start)
        priors = fitted_priors(correct[:, :before], answered[:, :before])
        parts.append(posterior(correct[:, start:end], answered[:, start:end], priors))
    return np.concatenate(parts, axis=1)


class GoldReplies(NamedTuple):
    """A worker's answers to gold tasks.

    Attributes
    ----------
    kind
        Type of each task, shape (s,), numbered 0 … T−1.
    right
        Whether each answer is right, shape (s,).
    easiness
        d of each task, shape (s,), above 0, at most 1.
    """

    kind: IntArray
    right: BoolArray
    easiness: FloatArray

    @property
    def alike(self) -> bool:
        """Whether all tasks have easiness 1, so that right answers can be counted."""
        return bool((self.easiness == 1).all())

    def counts(self, types: int) -> tuple[FloatArray, FloatArray]:
        """Right answers, and answers, by type, shape (T,); of less weight where tasks are hard.

        The least squares estimate of 2p − 1 from signs s = ±1 of mean d (2p − 1) is Σ d s / Σ d²,
        so that of p is a share: Σ (d² + d s)/2 of Σ d².
        """
        d, sign = self.easiness, np.where(self.right, 1.0, -1.0)
        right, answered = np.zeros(types), np.zeros(types)
        np.add.at(right, self.kind, (d * d + d * sign) / 2)
        np.add.at(answered, self.kind, d * d)
        return right, answered

    def likelihood(self, types: int) -> FloatArray:
        """Logarithm of the likelihood of p on `GRID`, by type, shape (T, G)."""
        chance = 0.5 + self.easiness[:, None] * (GRID - 0.5)
        logs = np.zeros((types, len(GRID)))
        np.add.at(logs, self.kind, np.log(np.where(self.right[:, None], chance, 1.0 - chance)))
        return logs


def plug_in_skill(replies: GoldReplies, types: int) -> FloatArray:
    """Least squares estimate of p by type, shape (T,); ½ without answers.

    Where tasks are alike it is the share of right answers.
    """
    right, answered = replies.counts(types)
    share = np.divide(right, answered, out=np.full(types, 0.5), where=answered > 0)
    skill: FloatArray = np.clip(share, 0.0, 1.0)
    return skill


def priors_of(crowd: Sequence[GoldReplies], types: int) -> list[BetaPrior]:
    """A prior for each task type, fitted to what workers answered."""
    if all(worker.alike for worker in crowd):
        counts = [worker.counts(types) for worker in crowd]
        right, answered = (
            np.stack(part, axis=1).round().astype(np.int64) for part in zip(*counts, strict=True)
        )
        return fitted_priors(right, answered)
    logs = np.stack([worker.likelihood(types) for worker in crowd], axis=1)
    return [_fitted_on_grid(rows[(rows != 0).any(axis=1)]) for rows in logs]


def posterior_skill(
    replies: GoldReplies, priors: Sequence[BetaPrior], skills: SkillEstimate = "fitted"
) -> FloatArray:
    """Posterior mean, or `median`, of p by type, shape (T,), under a prior for each."""
    types, median = len(priors), skills == "median"
    if replies.alike:
        posterior = posterior_medians if median else posterior_means
        right, answered = replies.counts(types)
        return posterior(right[:, None], answered[:, None], priors)[:, 0]
    logs = replies.likelihood(types) + np.stack([_log_prior(*prior) for prior in priors])
    chance = np.exp(logs - logs.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    middle = GRID[(np.cumsum(chance, axis=1) < 0.5).sum(axis=1)]
    skill: FloatArray = middle if median else (chance * GRID).sum(axis=1)
    return skill


def _log_prior(a: float, b: float) -> FloatArray:
    logs: FloatArray = (a - 1) * np.log(GRID) + (b - 1) * np.log1p(-GRID)
    logs -= np.logaddexp.reduce(logs)
    return logs


def _fitted_on_grid(logs: FloatArray) -> BetaPrior:
    """`fitted_prior` where the workers' likelihoods are given, shape (m, G)."""
    if len(logs) < 2:
        return FLAT

    ends = np.log([GRID, 1.0 - GRID])

    def likely(a: float, b: float) -> FloatArray:
        prior = _log_prior(a, b)
        each = np.logaddexp.reduce(logs + prior, axis=1)
        more = np.exp(logs + prior - each[:, None]).sum(axis=0) - len(logs) * np.exp(prior)
        return np.append(each.sum(), ends @ more)

    return likeliest_beta(likely, 0.5)


class TaskStructure(NamedTuple):
    """Tasks that are alike, of one type and one easiness, as classes.

    Attributes
    ----------
    task_class
        Class of each task, shape (n,).
    kind, easiness
        Type and d of each class, shape (C,).
    """

    task_class: IntArray
    kind: IntArray
    easiness: FloatArray

    def skill(self, by_type: FloatArray) -> FloatArray:
        """Skill on tasks of each class, shape (C,), of a worker of skills p by type, shape (T,)."""
        skill: FloatArray = 0.5 + self.easiness * (by_type[self.kind] - 0.5)
        return skill


def structure_of(kinds: IntArray, easiness: FloatArray) -> TaskStructure:
    """Number the classes of tasks of given types and easiness, shape (n,) each.

    Raises
    ------
    InputError
        Shapes differ, or an easiness that is not above 0 and at most 1.
    """
    d = checked_easiness(easiness)
    if d.shape != np.shape(kinds):
        raise InputError(f"easiness has shape {d.shape}: give one number a task, {np.shape(kinds)}")
    levels, level = np.unique(d, return_inverse=True)
    classes, task_class = np.unique(kinds * len(levels) + level, return_inverse=True)
    kind, at = np.divmod(classes, len(levels))
    return TaskStructure(task_class.astype(np.int64), kind, levels[at])


def checked_easiness(easiness: FloatArray) -> FloatArray:
    """Check numbers above 0, at most 1.

    Raises
    ------
    InputError
        Anything else; the line names the first.
    """
    try:
        d = np.asarray(easiness, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("easiness is not made of numbers: give one above 0, at most 1") from None
    wrong = ~((d > 0) & (d <= 1))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise InputError(f"easiness[{at}] is {d.ravel()[at]:g}: give a number above 0, at most 1")
    return d
