"""Plans for sets of labels: each label's error is promised, one purchase answers all of them.

What an answer of worker j to label l is worth is q = −ln Σ_s √(π_jl(s | 0) π_jl(s | 1)), and the
likelier answer errs with probability at most √(ρ_0 ρ_1) e^{−Σ q}: to keep ε the label requires
½ ln(ρ_0 ρ_1) − ln ε (`crowd_models.joint`). The cheapest plan that covers every label of every task
is a vector cover (`crowd_models.vector_cover`).

That bound is a safe one, and a costly one: the likelier answer errs less. So where the error itself
is promised, covers of less are tried, the requirement of each label raised or lowered by how far
its exact error, the largest of any task, is from ε; the cheapest plan that keeps every error is
taken. What no plan costs less than is known from a cover that is necessary: an error of ε takes
Σ q ≥ ½ ln(ρ_0 ρ_1/(ε (1 − ε))), since the error is at least ½ (1 − √(1 − 4 ρ_0 ρ_1 e^{−2 Σ q}))
(Kailath 1967).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from crowd_models import VectorCoverProblem
from crowd_models.joint import pair_gains, pair_weights
from workbench.accuracy.errors_by_label import SetErrors, set_errors
from workbench.accuracy.likeliest import TINY, likeliest_error
from workbench.accuracy.measured import MOST_FOLDS, folds
from workbench.assignment.class_scores import COLUMNS
from workbench.assignment.enough import first_kept
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.crowd.set_votes import SetSkills, SetVotes, set_skills
from workbench.solving import RunOptions, solve_vector_cover
from workbench.solving.highs import Remaining
from workbench.solving.patterns.vector_pricing import Lots, cheapest_lots
from workbench.solving.vector_cover import VectorCoverSolution

ROUNDS, CALM = 6, 3
"""Covers tried where the error itself is promised, and attempts in vain to improve each plan."""
KEPT = 1e-9
"""An error above ε by this share is ε."""
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
        What each label is required to gather, in nats, shape (L,); 0 of a label that is rare enough
        to be wrong no more often than ε without being asked about.
    bounds, expected
        Error of each label by task, shape (n, L): as the cover bounds it, and exact, both if
        workers err independently; empty where there is no plan.
    least
        No plan that keeps the promise costs less: recomputed from the data.
    error_limit
        Where there is no plan: no error below it can be promised of all labels; 0 where that is not
        known.
    enough
        Where there is no plan: an ε, in the digits shown, that a plan keeps; None where none was
        found.
    """

    chosen: FloatArray | None
    solution: VectorCoverSolution
    skills: SetSkills
    need: FloatArray
    bounds: FloatArray
    expected: FloatArray
    least: float = 0.0
    error_limit: float = 0.0
    enough: float | None = None

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


def necessary_needs(skills: SetSkills, epsilon: float) -> FloatArray:
    """What each label gathers at least where its error is ε or less, in nats, shape (L,)."""
    product = skills.prior.prod(axis=1)
    need: FloatArray = np.maximum(0.5 * np.log(product / (epsilon * (1.0 - epsilon))), 0.0)
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
    exact: bool = True,
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
    exact
        Whether ε is of the error itself; else it is of the bound on it, which takes more labels.
    """
    skills = set_skills(votes, gold)
    maker = _Maker(skills, tasks, capacity, cost, seed)
    left = RunOptions(time_limit, gap, seed=seed).countdown()

    def plan(epsilon: float, options: RunOptions) -> SetAssignment:
        return _at(maker, epsilon, exact, options.countdown())

    made = plan(epsilon, left())
    if made.chosen is not None:
        return made

    def keeps(at: float, options: RunOptions) -> bool:
        return plan(at, options).chosen is not None

    top = float(skills.prior.min(axis=1).max())
    return replace(made, enough=first_kept(keeps, made.error_limit, epsilon, left(), most=top))


def _at(maker: _Maker, epsilon: float, exact: bool, left: Remaining) -> SetAssignment:
    """The cheapest plan found for an ε, of the exact error or of the bound on it."""
    skills = maker.skills
    if not exact:
        made = maker.plan(set_needs(skills, epsilon), left(), None)
        if made.chosen is None and made.solution.infeasibility is not None:
            reached = np.sqrt(skills.prior.prod(axis=1)) * np.exp(-made.solution.reach * made.need)
            return replace(made, error_limit=_limit(skills, reached, made.need))
        return replace(made, least=made.solution.certificate.lower_bound or 0.0)
    return _keeping_errors(maker, epsilon, left)


@dataclass(frozen=True, eq=False)
class _Maker:
    """Plans of one batch, by what each label is to gather."""

    skills: SetSkills
    tasks: int
    capacity: IntArray
    cost: FloatArray | None
    seed: int

    def plan(self, need: FloatArray, options: RunOptions, patience: int | None) -> SetAssignment:
        """The vector cover; with `patience` less is done to improve it."""
        skills, gains = self.skills, set_gains(self.skills)
        price = None if self.cost is None else self.cost[None]
        problem = VectorCoverProblem(gains[None], need, self.capacity, self.tasks, price)
        more = {} if patience is None else {"patience": patience}
        solution = solve_vector_cover(
            problem, time_limit=options.time_limit, gap=options.gap, seed=self.seed, **more
        )
        empty = np.zeros((0, len(need)))
        if solution.assignment is None:
            return SetAssignment(None, solution, skills, need, empty, empty)
        chosen = solution.assignment
        weight = np.array([pair_weights(prior)[0] for prior in skills.prior])
        bounds = np.minimum(weight * np.exp(-chosen @ gains), skills.prior.min(axis=1))
        sets, of = np.unique(chosen, axis=0, return_inverse=True)
        errors = [_errors(skills, np.flatnonzero(row), self.seed) for row in sets]
        expected = np.array(errors)[of.reshape(-1)]
        return SetAssignment(chosen, solution, skills, need, bounds, expected)


def _keeping_errors(maker: _Maker, epsilon: float, left: Remaining) -> SetAssignment:
    """The cheapest of some covers that keeps every exact error at ε.

    The covers lie between that which is necessary and that which is enough.
    """
    low, high = necessary_needs(maker.skills, epsilon), set_needs(maker.skills, epsilon)
    first = maker.plan(low, left(), 0)
    least = first.solution.certificate.lower_bound or 0.0
    if first.chosen is None and first.solution.infeasibility is not None:
        # What is necessary cannot be had.
        product = maker.skills.prior.prod(axis=1) * np.exp(-2.0 * first.solution.reach * low)
        reached = 0.5 * (1.0 - np.sqrt(1.0 - 4.0 * product))
        return replace(first, error_limit=_limit(maker.skills, reached, low))
    need, best = (low + high) / 2, None
    for _ in range(ROUNDS):
        made = maker.plan(need, left(), CALM)
        if made.chosen is None:
            need = (low + need) / 2
            continue
        worst = np.maximum(made.expected.max(axis=0), 1e-12)
        kept = bool((worst <= epsilon * (1 + KEPT)).all())
        if kept and (best is None or _cost(made) < _cost(best)):
            best = made
        step = np.where(high > 0, np.log(worst / epsilon), 0.0)
        need = np.clip(need + np.where(step > 0, step + 0.02, 0.7 * step), low, high)
        if left().over:
            break
    if best is None:
        best = maker.plan(high, left(), CALM)
    return replace(best, least=min(least, _cost(best)) if best.chosen is not None else least)


def _limit(skills: SetSkills, reached: FloatArray, need: FloatArray) -> float:
    """The error below which every label asks for more than can be had of all together.

    Parameters
    ----------
    reached
        Error of each label at the largest share of all requirements that can be met, shape (L,).
    need
        What was required, shape (L,).
    """
    limits = np.minimum(reached, skills.prior.min(axis=1))
    return float(limits[need > 0].min())


def _cost(made: SetAssignment) -> float:
    return made.solution.objective or 0.0


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
    asked: BoolArray | None = None,
    share: FloatArray | float = 1.0,
    seed: Seed = 0,
) -> MeasuredSetPlan:
    """Measure plans on control tasks, each by a plan made without it.

    The workers of a control task are the cheapest of those who labelled it who cover every label,
    or all of them where they do not.

    Parameters
    ----------
    votes, gold, epsilon, cost
        As of `make_set_plan`.
    asked
        Whose labels a plan may buy, shape (m,); None for everybody's.
    share
        What a plan asks of each label, as a share of `set_needs`, shape (L,): that of the plan
        whose error is measured.
    """
    control = np.flatnonzero((gold >= 0).all(axis=1))
    mine = np.ones(len(votes.workers), dtype=bool) if asked is None else asked
    parts = folds(len(control), MOST_FOLDS, seed=seed)
    loss, met = np.full((len(control), gold.shape[1]), np.nan), np.zeros(len(control), dtype=bool)
    for part in parts:
        hidden = gold.copy()
        hidden[control[part]] = -1
        skills = set_skills(votes, hidden)
        for at in part.tolist():
            rows = np.flatnonzero((votes.task == control[at]) & (skills.known & mine)[votes.worker])
            need = share * set_needs(skills, epsilon)
            rows, met[at] = _bought(skills, votes.worker[rows], need, cost, rows)
            place = np.zeros(len(rows), dtype=np.int64)
            said = skills.log_odds(votes, rows, place, 1)[0] > 0
            if len(rows) or met[at]:
                loss[at] = np.abs(said - gold[control[at]])
    need = share * set_needs(set_skills(votes, gold), epsilon)
    changed = _changed(votes, gold, control, loss, need, cost, mine)
    errors = set_errors(loss, gold[control], control, unstable=changed, folds=len(parts))
    return MeasuredSetPlan(errors, float(met.mean()) if len(met) else 0.0)


def _changed(
    votes: SetVotes,
    gold: IntArray,
    control: IntArray,
    loss: FloatArray,
    need: FloatArray,
    cost: FloatArray | None,
    asked: BoolArray,
) -> FloatArray:
    """Share of the answers that change once the control task's own gold is known, shape (L,)."""
    if not len(control):
        return np.zeros(gold.shape[1])
    skills = set_skills(votes, gold)
    changed = np.zeros(loss.shape)
    for at, task in enumerate(control.tolist()):
        rows = np.flatnonzero((votes.task == task) & (skills.known & asked)[votes.worker])
        rows, _ = _bought(skills, votes.worker[rows], need, cost, rows)
        said = skills.log_odds(votes, rows, np.zeros(len(rows), dtype=np.int64), 1)[0] > 0
        changed[at] = np.abs(said - gold[task]) != loss[at]
    share: FloatArray = changed.mean(axis=0)
    return share


def _bought(
    skills: SetSkills,
    workers: IntArray,
    need: FloatArray,
    cost: FloatArray | None,
    rows: IntArray,
) -> tuple[IntArray, bool]:
    """Of some votes those that a plan would have bought, and whether they cover every label."""
    asked = need > 0
    weight = set_gains(skills)[workers][:, asked] / need[asked]
    price = np.ones(len(workers)) if cost is None else cost[workers]
    found = cheapest_lots(Lots(weight, price), STATES, 1)
    return (rows[found.sets[0]], True) if len(found.sets) else (rows, False)
