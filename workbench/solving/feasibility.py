"""What to tell someone whose problem has no solution (Section 5.1, note on feasibility).

The tasks to drop come from `dropping`, with the Farkas proof; the largest common share of the
requirements that can be met, a small linear program, gives the ε that would do.
"""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.gains import gain_of
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.certify import lagrangian
from workbench.solving.dropping import SECONDS, tasks_to_drop, uncoverable_counts
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import scale_arrays
from workbench.solving.solution import Infeasibility


def explain(problem: AssignmentProblem | TypedProblem, options: RunOptions) -> Infeasibility:
    """Name the tasks that cannot be covered, and the requirements that can be met.

    Half of the time limit may go to finding the fewest tasks; without those, more are named.
    """
    typed = problem.typed
    seconds = SECONDS if options.time_limit is None else min(SECONDS, options.time_limit / 2)
    options = replace(options, time_limit=None)
    dropped = tasks_to_drop(typed, options, seconds=seconds)
    enough = 0.0
    scale = run(scale_arrays(typed), options)
    if scale.values is not None:
        enough = float(scale.values[-1]) * (1 - 1e-9)
        if isinstance(problem, AssignmentProblem):
            shares = typed.lift(typed.matrix(scale.values[:-1]))
            enough = share_met(problem, rounded(problem, shares))
    need, limit = problem.requirement, share_limit(typed, scale.row_duals)
    same = bool(np.all(need == need[0]))

    def error(share: float) -> float:
        """ε of a share of the requirement."""
        return float(gain_of(problem.gain).error(need[0] * share))

    return Infeasibility(
        alone=_tasks(typed, uncoverable_counts(typed)),
        drop=_tasks(typed, dropped.counts),
        scale_limit=limit,
        scale_enough=enough,
        epsilon_limit=error(limit) if same else None,
        epsilon_enough=error(enough) if same and error(enough) < 1 else None,
        proven=dropped.infeasible,
        drop_least=dropped.least,
        drop_fewest=dropped.fewest,
    )


def share_limit(typed: TypedProblem, duals: FloatArray | None) -> float:
    """Share of the requirements above which (v, u) proves infeasibility, whoever made them.

    θ Σ C v − Σ M u − Σ max(0, q v − u) > 0 has no solution (Farkas), so θ ≤ 1 − L(v, u) / Σ C v
    with L without prices.
    """
    if duals is None:
        return 1.0
    m = typed.shape[1]
    prices, weights = np.maximum(duals[:m], 0.0), np.maximum(-duals[m:], 0.0)
    asked = float(typed.demand @ weights)
    if asked <= 0:
        return 1.0
    # Rounded up by more than its evaluation can be off.
    limit = 1.0 - lagrangian(typed, weights, prices, priced=False) / asked + 1e-12
    return min(1.0, max(0.0, limit))


def rounded(problem: AssignmentProblem, shares: FloatArray) -> FloatArray:
    """Whole assignment within the capacities: fill the least covered task, best share first."""
    n, _ = problem.shape
    assignment = np.zeros(problem.shape)
    room = problem.capacity.copy()
    # Prefer workers the relaxation uses for a task, then the better ones.
    order = np.argsort(-(shares + 1e-6 * problem.quality), axis=1, kind="stable")
    usable = problem.mask & (problem.quality > 0)
    need = problem.requirement
    covered = np.zeros(n)
    position = np.zeros(n, dtype=np.int64)
    waiting = [(0.0, i) for i in np.flatnonzero(need > 0).tolist()]
    while waiting:
        _, i = heapq.heappop(waiting)
        while position[i] < problem.shape[1]:
            j = int(order[i, position[i]])
            position[i] += 1
            if usable[i, j] and room[j] > 0:
                assignment[i, j] = 1.0
                room[j] -= 1
                covered[i] += problem.quality[i, j]
                if covered[i] < need[i]:
                    heapq.heappush(waiting, (float(covered[i] / need[i]), i))
                break
    return assignment


def share_met(problem: AssignmentProblem, assignment: FloatArray) -> float:
    """Smallest share of its requirement that any task gets; 1 when every task is covered."""
    covered = (problem.quality * assignment).sum(axis=1)
    asked = problem.requirement > 0
    shares = covered[asked] / problem.requirement[asked]
    return float(min(1.0, shares.min(initial=1.0)))


def _tasks(typed: TypedProblem, counts: IntArray) -> tuple[int, ...]:
    """Last `counts` tasks of each class; the classes themselves when stated by class."""
    if typed.task_class is None or len(typed.task_class) != typed.tasks.sum():
        return tuple(np.flatnonzero(counts).tolist())
    order = np.argsort(typed.task_class, kind="stable")
    left = np.repeat(typed.tasks - counts, typed.tasks)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(typed.tasks) - typed.tasks, typed.tasks)
    return tuple(np.sort(order[rank >= left]).tolist())
