"""What to tell someone whose problem has no solution (Section 5.1, note on feasibility).

Two small linear programs answer: the least total shortfall names the tasks to drop, and its
dual values are the Farkas proof; the largest common share of the requirements that can be met
gives the ε that would do.
"""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.array_route import run_arrays
from workbench.solving.arrays import scale_arrays
from workbench.solving.certify import farkas, lagrangian
from workbench.solving.highs import RunOptions, run
from workbench.solving.solution import Answer, Infeasibility

ROUNDS = 20
"""Linear programs spent on finding few tasks to drop; in the last, whole classes go."""


def explain(problem: AssignmentProblem | TypedProblem, options: RunOptions) -> Infeasibility:
    """Name the tasks that cannot be covered, and the requirements that can be met."""
    typed = problem.typed if isinstance(problem, AssignmentProblem) else problem
    drop, proven = tasks_to_drop(typed, options)
    enough = 0.0
    scale = run(scale_arrays(typed), options)
    if scale.values is not None:
        enough = float(scale.values[-1]) * (1 - 1e-9)
        if isinstance(problem, AssignmentProblem):
            counts = np.zeros(typed.shape)
            counts[typed.pairs] = scale.values[:-1]
            enough = share_met(problem, rounded(problem, typed.lift(counts)))
    alone = np.zeros_like(typed.tasks)
    alone[typed.uncoverable()] = typed.tasks[typed.uncoverable()]
    need, limit = problem.requirement, _share_limit(typed, scale.row_duals)
    same = bool(np.all(need == need[0]))
    return Infeasibility(
        alone=_tasks(typed, alone),
        drop=_tasks(typed, drop),
        scale_limit=limit,
        scale_enough=enough,
        epsilon_limit=_epsilon(need, limit) if same else None,
        epsilon_enough=_epsilon(need, enough) if same and _epsilon(need, enough) < 1 else None,
        proven=proven,
    )


def tasks_to_drop(typed: TypedProblem, options: RunOptions | None = None) -> tuple[IntArray, bool]:
    """How many tasks of each class to discard, and whether infeasibility is proven (Farkas).

    The least total shortfall, each task's measured as a share of its requirement, says where
    cover is missing; as many tasks as it amounts to are discarded, and the rest is tried again.
    Tasks that nobody can cover alone go first.
    """
    options = options or RunOptions()
    n, m = typed.shape
    drop = np.zeros(n, dtype=np.int64)
    drop[typed.uncoverable()] = typed.tasks[typed.uncoverable()]
    single = (drop > 0).astype(np.float64)
    proven = farkas(typed, single, np.zeros(m))
    price = 1.0 / np.where(typed.requirement > 0, typed.requirement, 1.0)
    for attempt in range(ROUNDS):
        rest = replace(typed, tasks=typed.tasks - drop)
        short = run_arrays(rest.with_shortfall(price, labels_free=True), "typed", options)
        if short.pairs is None or short.task_weights is None or short.worker_prices is None:
            break
        # The shortfall column of a task class is the last of its row.
        bought = short.pairs[np.cumsum(np.bincount(rest.pairs[0], minlength=n) + 1) - 1]
        lacking = bought > 1e-9 * np.maximum(1.0, rest.demand)
        if not lacking.any():
            break
        proven = proven or farkas(rest, short.task_weights, short.worker_prices[:m])
        whole = np.ceil(bought[lacking] / rest.requirement[lacking] - 1e-6)
        more = rest.tasks[lacking] if attempt == ROUNDS - 1 else np.maximum(1, whole)
        drop[lacking] += np.minimum(more, rest.tasks[lacking]).astype(np.int64)
    return drop, proven


def proven_infeasible(typed: TypedProblem, options: RunOptions | None = None) -> bool:
    """Whether the relaxation has no solution, by a Farkas combination checked exactly."""
    single = np.zeros(typed.shape[0])
    single[typed.uncoverable()] = 1.0
    if single.any():
        return farkas(typed, single, np.zeros(typed.shape[1]))
    short = _shortfall(typed, options or RunOptions())
    if short.task_weights is None or short.worker_prices is None:
        return False
    return farkas(typed, short.task_weights, short.worker_prices[: typed.shape[1]])


def _shortfall(typed: TypedProblem, options: RunOptions) -> Answer:
    """The least total shortfall, each task's measured as a share of its requirement."""
    price = 1.0 / np.where(typed.requirement > 0, typed.requirement, 1.0)
    return run_arrays(typed.with_shortfall(price, labels_free=True), "typed", options)


def _share_limit(typed: TypedProblem, duals: FloatArray | None) -> float:
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


def _epsilon(requirement: FloatArray, share: float) -> float:
    """ε of a share of C = 2 ln(1/ε): ε^share."""
    return float(np.exp(-requirement[0] * share / 2))


def _tasks(typed: TypedProblem, counts: IntArray) -> tuple[int, ...]:
    """Last `counts` tasks of each class; the classes themselves when stated by class."""
    if typed.task_class is None:
        return tuple(np.flatnonzero(counts).tolist())
    order = np.argsort(typed.task_class, kind="stable")
    left = np.repeat(typed.tasks - counts, typed.tasks)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(typed.tasks) - typed.tasks, typed.tasks)
    return tuple(np.sort(order[rank >= left]).tolist())
