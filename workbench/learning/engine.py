"""LS_OL for many runs at once: the same trajectories as `LsOl` for the same draws, counted.

Three things make it fast. When to explore does not depend on labels, and, but for the delay, not
on chance either. Whom to ask changes only when a step explores, so that the steps between are
counted, not run. And what the rounds teach can be computed for all exploring steps together
(`exploration`).

Source: Liu, Liu (2015), Figure 1 and Sections 2.1, 3.2, 3.4, 3.5, 4.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.best_sets import best_set
from workbench.accuracy.majority import majority_accuracy
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.bar import Step, no_step
from workbench.learning.draws import Draws
from workbench.learning.exploration import Exploration, Learnt, explore, learn
from workbench.learning.ls_ol import PLAIN, LsOlOptions
from workbench.learning.schedule import Schedule, checkpoints_of
from workbench.learning.sets import Vote, estimates, prices, ranked_sets
from workbench.learning.vetting import Removal

CELLS = 2**22
"""Labels of exploring steps held at once, about; more runs are taken in turn."""


@dataclass(frozen=True, eq=False)
class Runs:
    """What R runs had gained and spent after given numbers of tasks.

    All of shape (R, C) is summed over the first n tasks, n = `tasks[c]`: over the steps
    t = 0, …, n − 1, the first of which is the initialisation.

    Attributes
    ----------
    tasks
        Checkpoints n, shape (C,).
    best_accuracy, best_cost
        U(S*) and C(S*), shape (R,).
    exploration_regret, exploitation_regret
        The two parts of R(n) = Σ U(S*) − U(S_t), shape (R, C), with U = ½ at a retest, the full
        crowd's accuracy (of those not dropped) at a new tester, and the accuracy of S_t by the
        true skills where a step exploits.
    spent
        Σ C of all labels bought, shape (R, C).
    cost_regret
        R_C(n) as Section 3.4 counts it: what labels cost beyond C(S*) a task, all labels of a
        retest being extra, shape (R, C).
    labels
        Labels bought, shape (R, C).
    new_testers, retests
        How many steps made a new tester and assigned one again, shape (R, C).
    size
        |S_t| in force after n tasks, shape (R, C).
    estimates
        p̂ at the end, shape (R, M).
    chosen
        S_t at the end, shape (R, M).
    removed
        Workers dropped by vetting, for each run.
    """

    tasks: IntArray
    best_accuracy: FloatArray
    best_cost: FloatArray
    exploration_regret: FloatArray
    exploitation_regret: FloatArray
    spent: FloatArray
    cost_regret: FloatArray
    labels: IntArray
    new_testers: IntArray
    retests: IntArray
    size: IntArray
    estimates: FloatArray
    chosen: BoolArray
    removed: tuple[tuple[Removal, ...], ...]

    @property
    def regret(self) -> FloatArray:
        """R(n), shape (R, C)."""
        return self.exploration_regret + self.exploitation_regret

    @property
    def printed_cost_regret(self) -> FloatArray:
        """R_C(n) = Σ C(S_t) − n C(S*) as Section 3.2 defines it, shape (R, C)."""
        return self.spent - self.best_cost[:, None] * self.tasks

    @property
    def reward(self) -> FloatArray:
        """Σ U(S_t), the expected number of right labels, shape (R, C)."""
        return self.best_accuracy[:, None] * self.tasks - self.regret

    @property
    def explored(self) -> IntArray:
        """Steps that explored, shape (R, C)."""
        return self.new_testers + self.retests


def simulate(
    draws: Draws,
    schedule: Schedule,
    horizon: int,
    options: LsOlOptions = PLAIN,
    *,
    costs: ArrayLike | None = None,
    checkpoints: ArrayLike | None = None,
    step: Step = no_step,
) -> Runs:
    """Run LS_OL on simulated crowds.

    Parameters
    ----------
    draws
        Skills, labels and coins of R runs, on which other learners can be compared.
    schedule
        D1 and D2.
    horizon
        T, the number of tasks.
    options
        As for `LsOl`.
    costs
        c, shape (M,), the price of a label; 1 by default.
    checkpoints
        Numbers of tasks, from 1 to T; by default 200, evenly spread, and T.
    step
        Is called for each run that is done.

    Returns
    -------
    Runs
        Run r has the same trajectory as `LsOl(…, seed=draws.coins(r))` fed by
        `draws.stream(r)`.

    Raises
    ------
    InputError
        A parameter out of range or of the wrong shape; more than 26 workers with weights.
    """
    T = checks.count("horizon", horizon, 1)
    price = prices(costs, draws.workers)
    tasks = checkpoints_of(checkpoints, T)
    phases = [phase for phase in schedule.phases(T) if phase.kind != "exploit"]
    several = max(1, CELLS // (sum(phase.steps for phase in phases) * draws.workers))
    parts = []
    for start in range(0, draws.runs, several):
        part = np.arange(start, min(start + several, draws.runs))
        explored = explore(draws, schedule, phases, T, options.delay, part)
        learnt = learn(explored, options.vetting)
        parts.append(_counted(draws, explored, learnt, options.vote, price, tasks))
        for _ in part:
            step()
    return _joined(parts)


@dataclass(frozen=True, eq=False)
class Sets:
    """S_t after some exploring steps, Q of them.

    Attributes
    ----------
    after
        Positions of the steps, ascending, shape (Q,).
    row
        Which of them is in force after each exploring step, shape (E,).
    lasting
        How many steps exploit before the next one explores, shape (Q,).
    size, accuracy
        |S_t| and U(S_t), shape (Q,).
    members
        S_t, shape (Q, M).
    """

    after: IntArray
    row: IntArray
    lasting: IntArray
    size: IntArray
    accuracy: FloatArray
    members: BoolArray


def _counted(
    draws: Draws,
    explored: Exploration,
    learnt: Learnt,
    vote: Vote,
    price: FloatArray,
    tasks: IntArray,
) -> Runs:
    """Count what some runs gain and pay.

    Between two exploring steps S_t stays as it is, and rounds differ only in who is left to label
    them, so that nothing needs to be added up step by step.
    """
    skill = draws.skill[explored.runs]
    best = _best_sets(skill, price, vote.weighted)
    # The last exploring step among the first n of each run, and how many exploit after each.
    at = np.stack(
        [start + np.searchsorted(explored.step[start:end], tasks) - 1 for start, end in explored]
    )
    last = explored.starts[1:] - 1
    idle = np.append(explored.step[1:], explored.horizon)
    idle[last] = explored.horizon
    idle -= explored.step + 1
    needed = idle > 0
    needed[at] = needed[last] = True
    sets = _sets(explored, learnt, vote, skill, np.where(needed, idle, -1))
    exploring, new_testers = _explored(explored, learnt, skill, price, best, at)
    exploiting = _exploited(explored, sets, price, best, tasks, at)
    total = exploring + exploiting
    return Runs(
        tasks=tasks,
        best_accuracy=best[0],
        best_cost=best[1],
        exploration_regret=exploring[0],
        exploitation_regret=exploiting[0],
        spent=total[1],
        cost_regret=total[2],
        labels=total[3].astype(np.int64),
        new_testers=new_testers,
        retests=at - explored.starts[:-1, None] + 1 - new_testers,
        size=sets.size[sets.row[at]],
        estimates=estimates(learnt.agreed[last], learnt.judged[last]),
        chosen=sets.members[sets.row[last]],
        removed=learnt.removed,
    )


def _best_sets(skill: FloatArray, price: FloatArray, weighted: bool) -> tuple[FloatArray, ...]:
    """U(S*) and C(S*) of each row of skills, shape (R,) each, found once for equal rows."""
    crowds, which = np.unique(skill, axis=0, return_inverse=True)
    best = [best_set(p, weighted=weighted) for p in crowds]
    accuracy = np.array([optimum.accuracy for optimum in best])
    cost = np.array([price[optimum.workers].sum() for optimum in best])
    return accuracy[which], cost[which]


def _sets(
    explored: Exploration, learnt: Learnt, vote: Vote, skill: FloatArray, idle: IntArray
) -> Sets:
    """Find S_t after the exploring steps but where it is not needed (−1)."""
    after = np.flatnonzero(idle >= 0)
    run, agreed, judged = explored.run[after], learnt.agreed[after], learnt.judged[after]
    ranked, size = ranked_sets(vote, agreed, judged, explored.order[run], learnt.present[after])
    accuracy = vote.accuracies(
        np.take_along_axis(skill[run], ranked, axis=1),
        np.take_along_axis(estimates(agreed, judged), ranked, axis=1),
        size,
    )
    members = np.empty(agreed.shape, dtype=bool)
    np.put_along_axis(members, ranked, np.arange(ranked.shape[1]) < size[:, None], axis=1)
    return Sets(after, np.cumsum(idle >= 0) - 1, idle[after], size, accuracy, members)


def _explored(
    explored: Exploration,
    learnt: Learnt,
    skill: FloatArray,
    price: FloatArray,
    best: tuple[FloatArray, ...],
    at: IntArray,
) -> tuple[FloatArray, IntArray]:
    """Sum up the exploring steps up to given ones, and count the new testers, shape (R, C).

    The sums are regret, cost, cost beyond C(S*) and labels, shape (4, R, C). A new tester's label
    is right as often as the majority of those who label it; the label drawn at a retest half of the
    time, and all labels bought there are extra.
    """
    eras = []
    accuracy_of: dict[bytes, float] = {}
    for row, (start, end) in enumerate(explored):
        # Each removal begins an era with one worker less.
        removals = learnt.removed[row]
        own = explored.step[start:end]
        until = [start + int(np.searchsorted(own, removal.step, "right")) for removal in removals]
        present = np.ones(skill.shape[1], dtype=bool)
        for era, interval in enumerate(pairwise([start, *until, end])):
            if era:
                present[removals[era - 1].worker] = False
            p = skill[row, present]
            if p.tobytes() not in accuracy_of:
                accuracy_of[p.tobytes()] = majority_accuracy(p)
            eras.append(
                (era, row, *interval, accuracy_of[p.tobytes()], price[present].sum(), len(p))
            )
    total, testers = np.zeros((4, *at.shape)), np.concatenate([[0], np.cumsum(explored.new)])
    for _, same in groupby(sorted(eras), key=itemgetter(0)):
        columns = [np.array(column)[:, None] for column in zip(*same, strict=True)]
        _, row_of, begun, ended, accuracy, paid, size = columns
        rows = row_of[:, 0]
        done = np.clip(at[rows] + 1, begun, ended)
        steps, fresh = done - begun, testers[done] - testers[begun]
        total[0, rows] += fresh * (best[0][row_of] - accuracy)
        total[0, rows] += (steps - fresh) * (best[0][row_of] - 0.5)
        total[1, rows] += steps * paid
        total[2, rows] += steps * paid - fresh * best[1][row_of]
        total[3, rows] += steps * size
    return total, testers[at + 1] - testers[explored.starts[:-1], None]


def _exploited(
    explored: Exploration,
    sets: Sets,
    price: FloatArray,
    best: tuple[FloatArray, ...],
    tasks: IntArray,
    at: IntArray,
) -> FloatArray:
    """Sum up the exploiting steps among the first n, as `_explored` does."""
    cost, run = sets.members @ price, explored.run[sets.after]
    values = np.stack([best[0][run] - sets.accuracy, cost, cost - best[1][run], sets.size])
    total = np.empty((len(values), *at.shape))
    first = np.searchsorted(sets.after, explored.starts)
    for row, (start, end) in enumerate(pairwise(first.tolist())):
        # Each run by itself, so that the others do not touch its last digit.
        segments = values[:, start:end] * sets.lasting[start:end]
        before = segments.cumsum(axis=1) - segments
        current = sets.row[at[row]]
        begun = tasks - 1 - explored.step[at[row]]
        total[:, row] = before[:, current - start] + begun * values[:, current]
    return total


def _joined(parts: list[Runs]) -> Runs:
    """One after the other."""
    if len(parts) == 1:
        return parts[0]
    values: dict[str, Any] = {}
    for column in fields(Runs):
        each = [getattr(part, column.name) for part in parts]
        if column.name == "tasks":
            values[column.name] = each[0]
        elif isinstance(each[0], tuple):
            values[column.name] = sum(each, ())
        else:
            values[column.name] = np.concatenate(each)
    return Runs(**values)
