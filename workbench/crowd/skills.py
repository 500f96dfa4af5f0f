"""Skill estimates from gold tasks, and how far to trust them.

Skill p is the probability of a right label; quality q = (2p − 1)² is what a two-class label
is worth, 0 for a guess and 1 for an oracle (or a perfect liar). Source: Ho, Jabbari, Vaughan
(2013), Section 3 (quality) and Section 5.2 (Lemmas 2 and 3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.crowd import frames


@overload
def quality(p: float) -> float: ...
@overload
def quality(p: FloatArray) -> FloatArray: ...
def quality(p: float | FloatArray) -> float | FloatArray:
    """Quality q = (2p − 1)² of labels of skill p, in any shape (Section 3).

    Raises
    ------
    InputError
        A skill is NaN or outside [0, 1].
    """
    if not np.all((np.asarray(p) >= 0) & (np.asarray(p) <= 1)):
        raise InputError("skill p is outside [0, 1] or NaN: give probabilities")
    return (2.0 * p - 1.0) ** 2


@overload
def hoeffding_radius(answers: int, delta: float) -> float: ...
@overload
def hoeffding_radius(answers: IntArray | Sequence[int], delta: float) -> FloatArray: ...
def hoeffding_radius(answers: int | IntArray | Sequence[int], delta: float) -> float | FloatArray:
    """Radius t = √(ln(2/δ)/(2s)) around the share of right answers (Lemma 2).

    With probability at least 1 − δ the share of right answers among s gold tasks is within t
    of the skill. The statement is for one worker and one task type; for all of K such pairs
    at once give δ/K.

    Parameters
    ----------
    answers
        s, how many gold tasks were answered, any shape. Without answers t is infinite.
    delta
        δ, in (0, 1).

    Raises
    ------
    InputError
        `answers` holds something else than whole numbers ≥ 0, or δ is outside (0, 1).
    """
    checks.inside("delta", delta)
    s = checks.wholes("answers", answers)
    with np.errstate(divide="ignore"):
        radius: FloatArray = np.sqrt(math.log(2.0 / delta) / (2.0 * s))
    return float(radius) if radius.ndim == 0 else radius


def gold_tasks_needed(t: float, delta: float) -> int:
    """Number of gold tasks ⌈ln(2/δ)/(2t²)⌉ for a radius of at most t (Lemma 2).

    Raises
    ------
    InputError
        t or δ is outside (0, 1).
    """
    checks.inside("t", t)
    checks.inside("delta", delta)
    return math.ceil(math.log(2.0 / delta) / (2.0 * t * t))


def quality_radius(t: float) -> float:
    """Radius 4t around the quality when the skill is known within t (Lemma 3).

    |q̂ − q| = 4 |p̂ − p| |p̂ + p − 1| ≤ 4t, nearly attained by skills near 0 or 1.

    Raises
    ------
    InputError
        t is negative or NaN.
    """
    return 4.0 * checks.number("t", t, 0.0, math.inf)


@dataclass(frozen=True, eq=False)
class SkillEstimates:
    """Estimated skills, and the gold answers they rest on.

    Attributes
    ----------
    skill
        p̂, shape (T, m), by task type and worker, in [0, 1].
    answered, correct
        Shape (T, m): how many gold tasks, and how many of them right.
    """

    skill: FloatArray
    answered: IntArray
    correct: IntArray

    @property
    def quality(self) -> FloatArray:
        """Plug-in quality q̂ = (2p̂ − 1)², shape (T, m)."""
        return quality(self.skill)


def estimate_skills(
    correct: IntArray, answered: IntArray, *, prior: tuple[float, float] | None = None
) -> SkillEstimates:
    """Estimate skills by the share of right gold answers (Section 5.2).

    Parameters
    ----------
    correct, answered
        Whole numbers, shape (T, m); a vector is one task type.
    prior
        (a, b) of a Beta prior: the estimate is then its posterior mean
        (correct + a)/(answered + a + b). Lemma 2 holds without a prior only.

    Returns
    -------
    SkillEstimates
        Without a prior, a worker without answers gets p̂ = ½: quality 0, says nothing.

    Raises
    ------
    InputError
        Shapes differ, a count is not a whole number ≥ 0, more answers are right than were
        given, or a prior that is not two numbers above 0.
    """
    right, answers = (np.atleast_2d(counts) for counts in answer_counts(correct, answered))
    if prior is None:
        skill = np.full(right.shape, 0.5)
        np.divide(right, answers, out=skill, where=answers > 0)
    else:
        a, b = proper_prior(prior)
        skill = (right + a) / (answers + (a + b))
    return SkillEstimates(skill, answers, right)


def answer_counts(correct: ArrayLike, answered: ArrayLike) -> tuple[IntArray, IntArray]:
    """Check how many answers are right, and how many were given.

    Raises
    ------
    InputError
        Shapes differ, a count is not a whole number ≥ 0, or more answers are right than given.
    """
    right, answers = checks.wholes("correct", correct), checks.wholes("answered", answered)
    if right.shape != answers.shape:
        raise InputError(
            f"correct has shape {right.shape} and answered {answers.shape}: give both alike"
        )
    if (right > answers).any():
        at = tuple(int(k) for k in np.argwhere(right > answers)[0])
        raise InputError(
            f"correct[{', '.join(map(str, at))}] is {right[at]} of {answers[at]} answered: "
            "give no more right answers than answers"
        )
    return right, answers


def proper_prior(prior: tuple[float, float]) -> tuple[float, float]:
    """Check (a, b) of a Beta prior.

    Raises
    ------
    InputError
        Anything but two numbers above 0, and of at most 1e100, so that squares stay finite.
    """
    try:
        a, b = (float(x) for x in prior)
    except (TypeError, ValueError):
        a = b = math.nan
    if not (0 < a <= 1e100 and 0 < b <= 1e100):
        raise InputError(f"prior is {prior!r}: give two numbers above 0, of at most 1e100")
    return a, b


@dataclass(frozen=True, eq=False)
class GoldSkills:
    """Skill estimates with the names of their workers and task types.

    Attributes
    ----------
    estimates
        The numbers, shape (T, m).
    workers, task_types
        Names, shapes (m,) and (T,).
    classes
        Every class that the labels and the gold name.
    """

    estimates: SkillEstimates
    workers: Names
    task_types: Names
    classes: tuple[Any, ...]

    def table(self, *, delta: float = 0.05) -> pd.DataFrame:
        """Write one row for each worker and task type.

        Columns `worker, task_type, answered, correct, skill, low, high`; low and high are the
        share of right answers ∓ the radius of Lemma 2 for this one pair, cut to [0, 1]
        (0 and 1 without answers).
        """
        estimates = self.estimates
        answered, correct = estimates.answered.T.ravel(), estimates.correct.T.ravel()
        radius = hoeffding_radius(answered, delta)
        share = estimate_skills(correct, answered).skill.ravel()
        types, m = estimates.skill.shape
        return pd.DataFrame(
            {
                "worker": np.repeat(self.workers, types),
                "task_type": np.tile(self.task_types, m),
                "answered": answered,
                "correct": correct,
                "skill": estimates.skill.T.ravel(),
                "low": np.maximum(share - radius, 0.0),
                "high": np.minimum(share + radius, 1.0),
            }
        )

    def wide(self) -> pd.DataFrame:
        """Write the skills as workers × task types, for `make_plan` and `population.from_table`.

        Raises
        ------
        InputError
            Other than two classes: what takes such a table reads a skill p as quality (2p − 1)².
        """
        frames.two_classes(self.classes)
        return pd.DataFrame(
            self.estimates.skill.T,
            index=pd.Index(self.workers, name="worker"),
            columns=pd.Index(self.task_types, name="task_type"),
        )


def counted(
    at: tuple[Any, Any], right: BoolArray, shape: tuple[int, int]
) -> tuple[IntArray, IntArray]:
    """Count right answers, and answers, by task type and worker: `at` says whose each is."""
    correct, answered = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    np.add.at(correct, at, right)
    np.add.at(answered, at, 1)
    return correct, answered


def skills_from_gold(
    labels: pd.DataFrame,
    gold: pd.Series[Any],
    task_types: pd.Series[Any] | None = None,
) -> GoldSkills:
    """Estimate each worker's skill from the labels she gave to gold tasks.

    Parameters
    ----------
    labels
        Long table `task, worker, label`, any number of classes. Labels of tasks without gold
        count for nothing, but their workers are listed.
    gold
        True label by task.
    task_types
        Type by task, for every gold task that was labelled; None for a single type, "all".

    Returns
    -------
    GoldSkills
        Workers in order of first appearance, task types as in `task_types`.

    Raises
    ------
    InputError
        A (task, worker) pair is repeated, or a gold task has no type.
    """
    table = frames.label_table(labels)
    on_gold = table[table["task"].isin(gold.index)]
    types, kind = frames.type_index(task_types, pd.Index(on_gold["task"].unique()))
    workers = pd.Index(table["worker"].unique())
    at = kind.loc[on_gold["task"]].to_numpy(), workers.get_indexer(on_gold["worker"])
    right = on_gold["label"].to_numpy() == gold.loc[on_gold["task"]].to_numpy()
    correct, answered = counted(at, right, (len(types), len(workers)))
    return GoldSkills(
        estimate_skills(correct, answered),
        workers.to_numpy(),
        types,
        (*table["label"].unique(), *gold.unique()),
    )
