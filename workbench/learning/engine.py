"""LS_OL for many runs at once: the same trajectories as `LsOl` for the same draws, counted.

Three things make it fast. When to explore does not depend on labels, and, but for the delay, not
on chance either. Whom to ask changes only when a step explores, so that the steps between are
counted, not run. And what the rounds teach can be computed for all exploring steps together: the
labels are there, the majorities follow, then their running majorities, then the estimates
(`_exploration`, `_lessons`, `_ledger`).

Source: Liu, Liu (2015), Figure 1 and Sections 2.1, 3.2, 3.5, 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.learning._exploration import Rule
from workbench.learning._ledger import (
    Benchmark,
    Sets,
    exploits,
    idle,
    last_explored,
    rounds,
    sets_after,
)
from workbench.learning._lessons import Learnt, learn
from workbench.learning.draws import Draws, Relabel
from workbench.learning.schedule import KINDS, Phase, Schedule
from workbench.learning.sets import Vote, estimates
from workbench.learning.vetting import Removal, Vetting

CELLS = 2**22
"""Labels of exploring steps held at once, about; more runs are taken in turn."""
LONGEST = 10**5
"""Steps of which every label may be drawn."""
POINTS = 200
"""Checkpoints when none are given."""


@dataclass(frozen=True, eq=False)
class Trace:
    """Every step of one run, t = 0, …, T − 1.

    Attributes
    ----------
    kind
        Shape (T,), index into `KINDS`.
    tester
        Shape (T,): at a retest the task assigned again (the step at which it arrived), else −1.
    asked
        Shape (T, M): who was asked.
    label, truth
        Shape (T,): the label the arriving task got, and its true class.
    estimates
        Shape (T, M): p̂ after the step.
    """

    kind: IntArray
    tester: IntArray
    asked: BoolArray
    label: IntArray
    truth: IntArray
    estimates: FloatArray


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
    exploration_extra_cost, exploitation_extra_cost
        What they cost beyond C(S*) a task, shape (R, C); all labels of a retest are extra
        (Section 3.4).
    labels
        Labels bought, shape (R, C).
    new_testers, retests
        How many steps made a new tester and assigned one again, shape (R, C).
    size
        |S_t| in force after n tasks, shape (R, C).
    realised
        How many of the labels given are right, shape (R, C), on request.
    estimates
        p̂ at the end, shape (R, M).
    chosen
        S_t at the end, shape (R, M).
    removed
        Workers dropped by vetting, for each run.
    traces
        On request.
    """

    tasks: IntArray
    best_accuracy: FloatArray
    best_cost: FloatArray
    exploration_regret: FloatArray
    exploitation_regret: FloatArray
    spent: FloatArray
    exploration_extra_cost: FloatArray
    exploitation_extra_cost: FloatArray
    labels: IntArray
    new_testers: IntArray
    retests: IntArray
    size: IntArray
    realised: IntArray | None
    estimates: FloatArray
    chosen: BoolArray
    removed: tuple[tuple[Removal, ...], ...]
    traces: tuple[Trace, ...] = field(default=())

    @property
    def regret(self) -> FloatArray:
        """R(n), shape (R, C)."""
        return self.exploration_regret + self.exploitation_regret

    @property
    def cost_regret(self) -> FloatArray:
        """R_C(n) as Section 3.4 counts it: the labels of retests are extra, shape (R, C)."""
        return self.exploration_extra_cost + self.exploitation_extra_cost

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
    skill: ArrayLike | Draws,
    schedule: Schedule,
    horizon: int,
    *,
    runs: int | None = None,
    weighted: bool = False,
    tolerance: float = 0.0,
    truncate: float = 1e-3,
    delay: int = 0,
    vetting: Vetting | None = None,
    relabel: Relabel = "copies",
    costs: ArrayLike | None = None,
    seed: Seed | None = None,
    checkpoints: ArrayLike | None = None,
    realised: bool = False,
    trace: bool = False,
) -> Runs:
    """Run LS_OL on simulated crowds.

    Parameters
    ----------
    skill
        p, shape (M,), or (R, M) for a crowd a run; or the `Draws` themselves, which policies
        can be compared on (then `runs`, `relabel` and `seed` are theirs).
    schedule
        D1 and D2.
    horizon
        T, the number of tasks.
    runs
        R.
    weighted, tolerance, truncate, delay, vetting
        As for `LsOl`.
    relabel
        What a worker says to a tester assigned again: "copies" or "identical".
    costs
        c, shape (M,), the price of a label; 1 by default.
    seed
        Of everything.
    checkpoints
        Numbers of tasks, from 1 to T; by default 200, evenly spread, and T.
    realised
        Also draw every label of the exploiting steps, and count the right ones; T ≤ 10⁵.
    trace
        Also keep every step of every run; T ≤ 10⁵.

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
    draws = _draws(skill, runs, seed, relabel)
    vote = Vote(weighted, tolerance, truncate)
    price = _prices(costs, draws.workers)
    tasks = _checkpoints(checkpoints, T)
    if (realised or trace) and T > LONGEST:
        raise InputError(f"horizon is {T}: every label is drawn for at most {LONGEST} tasks")
    phases = [one for one in schedule.phases(T) if one.kind != "exploit"]
    rule = Rule(schedule, phases, vote, checks.count("delay", delay), vetting, T)
    parts = [
        _counted(draws, rule, learn(draws, rule, part), price, tasks, realised, trace)
        for part in _parts(draws, phases)
    ]
    return _joined(parts)


def _counted(
    draws: Draws,
    rule: Rule,
    learnt: Learnt,
    price: FloatArray,
    tasks: IntArray,
    realised: bool,
    trace: bool,
) -> Runs:
    explored = learnt.explored
    skill = draws.skill[explored.runs]
    best = Benchmark.of(skill, price, weighted=rule.vote.weighted)
    at, last = last_explored(explored, tasks), explored.starts[1:] - 1
    lasting = idle(explored, rule.horizon)
    needed = lasting > 0
    needed[at] = needed[last] = True
    sets = sets_after(learnt, rule.vote, skill, lasting, np.flatnonzero(needed))
    explore, new_testers = rounds(learnt, skill, price, best, at)
    exploit = exploits(explored, sets, price, best, tasks, at)
    paths = []
    if realised or trace:
        paths = [_path(draws, rule, learnt, sets, row) for row in range(len(skill))]
    return Runs(
        tasks=tasks,
        best_accuracy=best.accuracy,
        best_cost=best.cost,
        exploration_regret=explore.regret,
        exploitation_regret=exploit.regret,
        spent=explore.spent + exploit.spent,
        exploration_extra_cost=explore.extra_cost,
        exploitation_extra_cost=exploit.extra_cost,
        labels=explore.labels + exploit.labels,
        new_testers=new_testers,
        retests=at - explored.starts[:-1, None] + 1 - new_testers,
        size=sets.size[sets.of(at)],
        realised=np.stack([_right(path, tasks) for path in paths]) if realised else None,
        estimates=estimates(learnt.agreed.after(last), learnt.judged.after(last)),
        chosen=sets.asked[sets.of(last)],
        removed=learnt.removed,
        traces=tuple(paths) if trace else (),
    )


def _path(draws: Draws, rule: Rule, learnt: Learnt, sets: Sets, row: int) -> Trace:
    """Every step of a run, with the labels of the exploiting ones."""
    explored, T, M = learnt.explored, rule.horizon, draws.workers
    run = int(explored.runs[row])
    part = slice(*explored.starts[row : row + 2].tolist())
    step, new = explored.step[part], explored.new[part]
    world = draws.world(run, np.arange(T))
    coins = draws.coins_at(np.array([run]), np.arange(T))[1][0]
    # The last exploring step up to each; one that explores is put right below.
    known = part.start + np.searchsorted(step, np.arange(T), side="right") - 1
    p_hat = estimates(learnt.agreed.after(known), learnt.judged.after(known))
    kind = np.full(T, KINDS.index("exploit"))
    kind[step] = np.where(new, KINDS.index("new tester"), KINDS.index("retest"))
    tester = np.full(T, -1)
    tester[step] = np.where(new, -1, explored.step[explored.arrival[explored.tester[part]]])
    asked = np.zeros((T, M), dtype=bool)
    exploiting = kind == KINDS.index("exploit")
    asked[exploiting] = sets.asked[sets.of(known[exploiting])]
    truth = world[:, 0] < 0.5
    said = (world[:, 1 : M + 1] < draws.skill[run]) == truth[:, None]
    margin = rule.vote.margins(np.where(asked, said, -1), p_hat)
    toss = coins[:, 1] < 0.5
    label = np.where(margin == 0, toss, margin > 0)
    label[step] = np.where(new, learnt.label[part], toss[step])
    asked[step] = learnt.voters[part]
    return Trace(kind, tester, asked, label.astype(np.int64), truth.astype(np.int64), p_hat)


def _right(path: Trace, tasks: IntArray) -> IntArray:
    right: IntArray = np.cumsum(path.label == path.truth, dtype=np.int64)[tasks - 1]
    return right


def _draws(
    skill: ArrayLike | Draws, runs: int | None, seed: Seed | None, relabel: Relabel
) -> Draws:
    if isinstance(skill, Draws):
        if runs not in {None, skill.runs} or seed is not None:
            raise InputError("the draws have runs and a seed already: leave both out")
        return skill
    if seed is None:
        raise InputError("seed is missing: give one, or the draws themselves")
    return Draws(skill, runs, seed=seed, relabel=relabel)


def _prices(costs: ArrayLike | None, workers: int) -> FloatArray:
    price = np.ones(workers) if costs is None else checks.floats("costs", costs)
    if price.shape != (workers,) or not ((price >= 0) & (price < np.inf)).all():
        raise InputError(f"costs: give {workers} prices of 0 or more, one a worker")
    return price


def _checkpoints(given: ArrayLike | None, horizon: int) -> IntArray:
    if given is None:
        return np.unique(np.linspace(1, horizon, POINTS).astype(np.int64))
    tasks = np.unique(checks.wholes("checkpoints", given))
    if not len(tasks) or tasks[0] < 1 or tasks[-1] > horizon:
        raise InputError(f"checkpoints: give numbers of tasks from 1 to {horizon}")
    return tasks


def _parts(draws: Draws, phases: list[Phase]) -> Iterator[IntArray]:
    """Runs to take together."""
    labels = sum(phase.steps for phase in phases) * draws.workers
    several = max(1, CELLS // labels)
    for start in range(0, draws.runs, several):
        yield np.arange(start, min(start + several, draws.runs))


def _joined(parts: list[Runs]) -> Runs:
    """One after the other."""
    if len(parts) == 1:
        return parts[0]
    values: dict[str, Any] = {}
    for one in fields(Runs):
        each = [getattr(part, one.name) for part in parts]
        if one.name == "tasks" or each[0] is None:
            values[one.name] = each[0]
        elif isinstance(each[0], tuple):
            values[one.name] = sum(each, ())
        else:
            values[one.name] = np.concatenate(each)
    return Runs(**values)
