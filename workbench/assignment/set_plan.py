"""Plans for sets of labels: each label's error is promised, one purchase answers all of them.

What an answer of worker j to label l is worth is q = −ln Σ_s √(π_jl(s | 0) π_jl(s | 1)), and the
likelier answer errs with probability at most √(ρ_0 ρ_1) e^{−Σ q}: to keep ε the label requires
½ ln(ρ_0 ρ_1) − ln ε (`crowd_models.joint`). The cheapest plan that covers every label of every task
is a vector cover (`crowd_models.vector_cover`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from crowd_models import VectorCoverProblem
from crowd_models.joint import pair_gains, pair_weights
from workbench.accuracy.likeliest import TINY, likeliest_error
from workbench.accuracy.measured import MOST_FOLDS, folds
from workbench.accuracy.errors_by_label import SetErrors, set_errors
from workbench.assignment.class_scores import COLUMNS
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.crowd.set_votes import SetSkills, SetVotes, set_skills
from workbench.solving import solve_vector_cover
from workbench.solving.patterns.vector_pricing import Lots, cheapest_lots
from workbench.solving.vector_cover import VectorCoverSolution

STATES = 2_000
"""Of the search for a gold task's cheapest set, where a plan is measured."""


@dataclass(frozen=True, eq=False)
class SetAssignment:
    """Who labels what, and what that promises of each label.

    Attributes
    ----------
    chosen
        y, shape (n, m), 0 or 1; None where there is no plan.
    solution
        The solved vector cover.
    skills
        What the gold says.
    need
        What each label requires, in nats, shape (L,); 0 of a label that is rare enough to be wrong
        no more often than ε without being asked about.
    bounds, expected
        Error of each label by task, shape (n, L): as the cover promises, and exact, both if workers
        err independently; empty where there is no plan.
    """

    chosen: FloatArray | None
    solution: VectorCoverSolution
    skills: SetSkills
    need: FloatArray
    bounds: FloatArray
    expected: FloatArray

    @property
    def set_error(self) -> float | None:
        """Expected share of wrong sets, if labels err independently too; None without a plan."""
        if self.chosen is None:
            return None
        return float((1.0 - np.prod(1.0 - self.expected, axis=1)).mean())


def set_gains(skills: SetSkills) -> FloatArray:
    """q by worker and label, shape (m, L): 0 of workers of whom nothing is known."""
    gains: FloatArray = pair_gains(skills.confusion)[..., 0].T * skills.known[:, None]
    return gains


def set_needs(skills: SetSkills, epsilon: float) -> FloatArray:
    """What each label requires for an error of ε, in nats, shape (L,)."""
    weight = np.array([pair_weights(prior)[0] for prior in skills.prior])
    need: FloatArray = np.maximum(np.log(weight / epsilon), 0.0)
    need[skills.prior.min(axis=1) <= epsilon] = 0.0
    return need


def make_set_plan(
    votes: SetVotes,
    gold: IntArray,
    tasks: int,
    epsilon: float,
    capacity: IntArray,
    cost: FloatArray | None = None,
    *,
    time_limit: float | None = 30.0,
    gap: float = 0.0,
    seed: int = 0,
) -> SetAssignment:
    """Cheapest plan found that keeps every label's error at ε.

    Parameters
    ----------
    votes, gold
        Labels the workers gave before; whether each of these tasks has each label, 0 or 1, −1 where
        it is not known, shape (n, L).
    tasks
        How many tasks are to be labelled.
    epsilon
        ε of each label.
    capacity, cost
        Most tasks of each worker, and the price of her answers, shape (m,).
    """
    skills = set_skills(votes, gold)
    gains, need = set_gains(skills), set_needs(skills, epsilon)
    price = None if cost is None else cost[None]
    problem = VectorCoverProblem(gains[None], need, capacity, tasks, price)
    solution = solve_vector_cover(problem, time_limit=time_limit, gap=gap, seed=seed)
    empty = np.zeros((0, len(need)))
    if solution.assignment is None:
        return SetAssignment(None, solution, skills, need, empty, empty)
    chosen = solution.assignment
    weight = np.array([pair_weights(prior)[0] for prior in skills.prior])
    bounds = np.minimum(weight * np.exp(-chosen @ gains), skills.prior.min(axis=1))
    sets, of = np.unique(chosen, axis=0, return_inverse=True)
    exact = np.array([_errors(skills, np.flatnonzero(row), seed) for row in sets])
    return SetAssignment(chosen, solution, skills, need, bounds, exact[of.reshape(-1)])


def _errors(skills: SetSkills, workers: IntArray, seed: int) -> list[float]:
    """Error of the likelier answer to each label by some workers."""
    return [
        likeliest_error(matrices[workers], prior, seed=seed).probability
        for matrices, prior in zip(skills.confusion, skills.prior, strict=True)
    ]


def set_scores(
    made: SetAssignment, names: Sequence[str], tasks: Sequence[str], workers: Sequence[str]
) -> pd.DataFrame:
    """Lay out what each answer that may come in says of each label.

    Returns
    -------
    DataFrame
        Columns `of, task, worker, label, class, score`: for each label that the column `of` names,
        the scores of a plan of the two classes "no" and "yes" (`assignment.class_scores`).
    """
    assert made.chosen is not None
    row, column = np.nonzero(made.chosen)
    answers = np.array(["no", "yes"], dtype=object)
    task = np.concatenate([np.repeat(np.arange(len(tasks)), 2), np.repeat(row, 4)])
    nobody: np.ndarray = np.full(2 * len(tasks), None, dtype=object)
    by_worker = np.array(workers, dtype=object)[np.repeat(column, 4)]
    by_label = np.tile(np.repeat(answers, 2), len(row))
    frame = {
        "task": np.array(tasks, dtype=object)[task],
        "worker": pd.Series(np.concatenate([nobody, by_worker]), dtype=object),
        "label": pd.Series(np.concatenate([nobody, by_label]), dtype=object),
        "class": np.tile(answers, len(tasks) + 2 * len(row)),
    }
    frames = []
    for name, matrices, prior in zip(names, made.skills.confusion, made.skills.prior, strict=True):
        said = np.log(np.maximum(matrices[column], TINY)).transpose(0, 2, 1)
        before = np.tile(np.log(np.maximum(prior, TINY)), len(tasks))
        score = np.concatenate([before, said.ravel()])
        frames.append(pd.DataFrame({"of": name, **frame, "score": score}))
    return pd.concat(frames, ignore_index=True)[["of", *COLUMNS]]


@dataclass(frozen=True, eq=False)
class MeasuredSetPlan:
    """Errors of plans on control tasks, and the share of these whose labels met the cover."""

    errors: SetErrors
    met: float


def measure_set_plan(
    votes: SetVotes,
    gold: IntArray,
    epsilon: float,
    cost: FloatArray | None = None,
    *,
    seed: Seed = 0,
) -> MeasuredSetPlan:
    """Measure plans on control tasks, each by a plan made without it.

    The workers of a control task are the cheapest of those who labelled it who cover every label,
    or all of them where they do not.
    """
    control = np.flatnonzero((gold >= 0).all(axis=1))
    parts = folds(len(control), MOST_FOLDS, seed=seed)
    loss, met = np.full((len(control), gold.shape[1]), np.nan), np.zeros(len(control), dtype=bool)
    for part in parts:
        hidden = gold.copy()
        hidden[control[part]] = -1
        skills = set_skills(votes, hidden)
        for at in part.tolist():
            rows = np.flatnonzero((votes.task == control[at]) & skills.known[votes.worker])
            rows, met[at] = _bought(skills, votes.worker[rows], epsilon, cost, rows)
            place = np.zeros(len(rows), dtype=np.int64)
            said = skills.log_odds(votes, rows, place, 1)[0] > 0
            if len(rows) or met[at]:
                loss[at] = np.abs(said - gold[control[at]])
    changed = _changed(votes, gold, control, loss, epsilon, cost)
    errors = set_errors(loss, gold[control], control, unstable=changed, folds=len(parts))
    return MeasuredSetPlan(errors, float(met.mean()) if len(met) else 0.0)


def _changed(
    votes: SetVotes,
    gold: IntArray,
    control: IntArray,
    loss: FloatArray,
    epsilon: float,
    cost: FloatArray | None,
) -> FloatArray:
    """Share of the answers that change once the control task's own gold is known, shape (L,)."""
    if not len(control):
        return np.zeros(gold.shape[1])
    skills = set_skills(votes, gold)
    changed = np.zeros(loss.shape)
    for at, task in enumerate(control.tolist()):
        rows = np.flatnonzero((votes.task == task) & skills.known[votes.worker])
        rows, _ = _bought(skills, votes.worker[rows], epsilon, cost, rows)
        said = skills.log_odds(votes, rows, np.zeros(len(rows), dtype=np.int64), 1)[0] > 0
        changed[at] = np.abs(said - gold[task]) != loss[at]
    share: FloatArray = changed.mean(axis=0)
    return share


def _bought(
    skills: SetSkills,
    workers: IntArray,
    epsilon: float,
    cost: FloatArray | None,
    rows: IntArray,
) -> tuple[IntArray, bool]:
    """Of some votes those that a plan would have bought, and whether they cover every label."""
    need = set_needs(skills, epsilon)
    asked = need > 0
    weight = set_gains(skills)[workers][:, asked] / need[asked]
    price = np.ones(len(workers)) if cost is None else cost[workers]
    found = cheapest_lots(Lots(weight, price), STATES, 1)
    return (rows[found.sets[0]], True) if len(found.sets) else (rows, False)
