"""Whom to hire for sets of labels: those whose vote errs least in the mean over the labels.

The criterion is that of one label: the expected error of the vote of all hired, each known by what
she says where the label is true and where it is not (`accuracy.likeliest`). A hired worker answers
every label, so that one set of workers is chosen for all: added one by one, then exchanged while
that errs less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.accuracy.errors_by_label import SetErrors, set_errors
from workbench.accuracy.measured import MOST_FOLDS, folds
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.crowd.set_votes import SetSkills, SetVotes, set_skills

LISTED = 8
"""Workers whose answers are listed; the error of larger sets is bounded from above."""
EXCHANGES = 10


@dataclass(frozen=True, eq=False)
class SetHiring:
    """Workers to hire, and what is known of them.

    Attributes
    ----------
    chosen
        By index in the votes, in the order in which they were added.
    skills
        What the gold says.
    expected
        Expected error of their vote by label, if they err independently, shape (L,).
    alone
        The same of each worker by herself, in the mean over the labels, shape (m,).
    """

    chosen: IntArray
    skills: SetSkills
    expected: FloatArray
    alone: FloatArray


def hire_for_sets(votes: SetVotes, gold: IntArray, budget: int) -> SetHiring:
    """Choose at most K workers by their answers to control tasks.

    Parameters
    ----------
    gold
        Whether each task has each label, 0 or 1, −1 where it is not known, shape (n, L).
    budget
        K, 1 or more.
    """
    skills = set_skills(votes, gold)
    able = np.flatnonzero(skills.known & ~votes.constant)
    m = len(votes.workers)
    alone = np.full(m, np.nan)
    alone[able] = [expected_errors(skills, np.array([j])).mean() for j in able.tolist()]
    chosen: list[int] = []
    error = float(skills.prior.min(axis=1).mean())
    while len(chosen) < min(budget, len(able)):
        more = {j: _mean(skills, [*chosen, j]) for j in able.tolist() if j not in chosen}
        best = min(more, key=lambda j: (more[j], alone[j]))
        chosen.append(best)
        error = more[best]
    chosen, error = _exchanged(skills, chosen, able, error)
    at = np.array(chosen, dtype=np.int64)
    return SetHiring(at, skills, expected_errors(skills, at), alone)


def _exchanged(
    skills: SetSkills, chosen: list[int], able: IntArray, error: float
) -> tuple[list[int], float]:
    """Put another in the place of one of the chosen while that errs less."""
    for _ in range(EXCHANGES):
        others = [j for j in able.tolist() if j not in chosen]
        trials = [
            (_mean(skills, [*chosen[:at], j, *chosen[at + 1 :]]), at, j)
            for at in range(len(chosen))
            for j in others
        ]
        best = min(trials, default=(error, 0, 0))
        if best[0] >= error - 1e-12:
            break
        error, chosen[best[1]] = best[0], best[2]
    return chosen, error


def _mean(skills: SetSkills, chosen: list[int]) -> float:
    return float(expected_errors(skills, np.array(chosen)).mean())


def expected_errors(skills: SetSkills, workers: IntArray) -> FloatArray:
    """Error of the likelier answer by label, if workers err independently, shape (L,).

    Of more than `LISTED` workers, those of the largest gain are listed and the others' answers
    bounded by √(P(a | 0) P(a | 1)), which is no less.
    """
    confusion = skills.confusion[:, workers]
    root = np.sqrt(confusion).prod(axis=2).sum(axis=2)
    order = np.argsort(root, axis=1, kind="stable")
    labels = np.arange(len(confusion))[:, None]
    likely = skills.prior[:, :, None]
    for k in range(min(len(workers), LISTED)):
        own = confusion[labels[:, 0], order[:, k]]
        likely = (likely[:, :, :, None] * own[:, :, None, :]).reshape(len(confusion), 2, -1)
    errors: FloatArray = likely.min(axis=1).sum(axis=1)
    if len(workers) > LISTED:
        rest = np.take_along_axis(root, order[:, LISTED:], axis=1).prod(axis=1)
        bound = np.sqrt(likely.prod(axis=1)).sum(axis=1) * rest
        errors = np.minimum(errors, bound)
    return errors


def measure_set_hiring(
    votes: SetVotes, gold: IntArray, budget: int, *, seed: Seed = 0
) -> SetErrors:
    """Measure the vote of the hired on control tasks, by choosing anew without each part of them.

    Parameters
    ----------
    gold, budget
        As `hire_for_sets`. A control task that none of the hired has labelled counts as wrong.
    """
    control = np.flatnonzero((gold >= 0).all(axis=1))
    parts = folds(len(control), MOST_FOLDS, seed=seed)
    loss = np.full((len(control), gold.shape[1]), np.nan)
    full = set_answers(votes, hire_for_sets(votes, gold, budget), control)
    changed = np.zeros(loss.shape)
    for part in parts:
        hidden = gold.copy()
        hidden[control[part]] = -1
        hired = hire_for_sets(votes, hidden, budget)
        said = set_answers(votes, hired, control[part])
        loss[part] = np.where(np.isnan(said), np.nan, np.abs(said - gold[control[part]]))
        changed[part] = np.nan_to_num(said, nan=2.0) != np.nan_to_num(full[part], nan=2.0)
    further = int((gold < 0).any(axis=1).sum())
    unstable = changed.mean(axis=0) if len(control) else 0.0
    return set_errors(
        loss, gold[control], control, further or None, unstable=unstable, folds=len(parts)
    )


def set_answers(votes: SetVotes, hired: SetHiring, tasks: IntArray) -> FloatArray:
    """Whether the vote of the hired gives each label, 0 or 1, shape (k, L); NaN without a vote."""
    place = np.full(len(votes.tasks), -1)
    place[tasks] = np.arange(len(tasks))
    rows = np.flatnonzero((place[votes.task] >= 0) & np.isin(votes.worker, hired.chosen))
    odds = hired.skills.log_odds(votes, rows, place[votes.task[rows]], len(tasks))
    said = (odds > 0).astype(np.float64)
    said[np.bincount(place[votes.task[rows]], minlength=len(tasks)) == 0] = np.nan
    return said
