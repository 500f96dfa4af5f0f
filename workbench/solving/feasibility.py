"""What to tell someone whose problem has no solution (Section 5.1, note on feasibility).

Two small linear programs answer: the least total shortfall names the tasks to drop, and its
dual values are the Farkas proof; the largest common share of the requirements that can be met
gives the ε that would do.
"""

from __future__ import annotations

import numpy as np

from models import AssignmentProblem, TypedProblem
from models.problem import FloatArray
from workbench.solving.array_route import run_arrays
from workbench.solving.arrays import scale_arrays
from workbench.solving.certify import farkas
from workbench.solving.highs import RunOptions, run
from workbench.solving.solution import Infeasibility, Termination


def explain(problem: AssignmentProblem | TypedProblem, options: RunOptions) -> Infeasibility:
    """Name the tasks that cannot be covered, and the requirements that can be met."""
    typed = problem.typed if isinstance(problem, AssignmentProblem) else problem
    classes = typed.shape[1]
    short = run_arrays(typed.with_shortfall(1.0, labels_free=True), "typed", options)
    proven, drop = False, np.empty(0, dtype=np.int64)
    if short.pairs is not None and short.task_weights is not None:
        assert short.worker_prices is not None
        # The shortfall column of a task class is the last of its row.
        bought = short.pairs[np.cumsum(np.count_nonzero(_mask(typed), axis=1) + 1) - 1]
        drop = np.flatnonzero(bought > 1e-7 * np.maximum(1.0, typed.demand))
        proven = bool(len(drop)) and farkas(
            typed, short.task_weights, short.worker_prices[:classes]
        )
    scale = run(scale_arrays(typed), options)
    limit = enough = 0.0
    if scale.termination is Termination.OPTIMAL and scale.values is not None:
        limit = float(scale.values[-1])
        if isinstance(problem, AssignmentProblem):
            counts = np.zeros(typed.shape)
            counts[typed.pairs] = scale.values[:-1]
            enough = share_met(problem, rounded(problem, typed.lift(counts)))
        else:
            enough = limit
    need = problem.requirement
    same = bool(np.all(need == need[0]))
    return Infeasibility(
        alone=_tasks(typed, typed.uncoverable()),
        drop=_tasks(typed, drop),
        scale_limit=limit,
        scale_enough=enough,
        epsilon_limit=_epsilon(need, limit) if same else None,
        epsilon_enough=_epsilon(need, enough) if same and enough > 0 else None,
        proven=proven,
    )


def rounded(problem: AssignmentProblem, shares: FloatArray) -> FloatArray:
    """Whole assignment within the capacities: fill the least covered task, best share first."""
    n, _ = problem.shape
    assignment = np.zeros(problem.shape)
    room = problem.capacity.copy()
    # Prefer workers the relaxation uses for a task, then the better ones.
    order = np.argsort(-(shares + 1e-6 * problem.quality), axis=1, kind="stable")
    usable = problem.mask & (problem.quality > 0)
    need = np.where(problem.requirement > 0, problem.requirement, np.inf)
    covered = np.zeros(n)
    position = np.zeros(n, dtype=np.int64)
    active = np.isfinite(need)
    while active.any():
        i = int(np.argmin(np.where(active, covered / need, np.inf)))
        while position[i] < problem.shape[1]:
            j = int(order[i, position[i]])
            position[i] += 1
            if usable[i, j] and room[j] > 0:
                assignment[i, j] = 1.0
                room[j] -= 1
                covered[i] += problem.quality[i, j]
                break
        else:
            active[i] = False
        if covered[i] >= need[i]:
            active[i] = False
    return assignment


def share_met(problem: AssignmentProblem, assignment: FloatArray) -> float:
    """Smallest share of its requirement that any task gets; 1 when every task is covered."""
    covered = (problem.quality * assignment).sum(axis=1)
    asked = problem.requirement > 0
    shares = covered[asked] / problem.requirement[asked]
    return float(min(1.0, shares.min(initial=1.0)))


def _mask(typed: TypedProblem) -> np.ndarray:
    return np.ones(typed.shape, dtype=bool) if typed.available is None else typed.available


def _epsilon(requirement: FloatArray, share: float) -> float:
    """ε of a share of C = 2 ln(1/ε): ε^share."""
    return float(np.exp(-requirement[0] * share / 2))


def _tasks(typed: TypedProblem, classes: np.ndarray) -> tuple[int, ...]:
    """Tasks of the given classes; the classes themselves when stated by class."""
    if typed.task_class is None:
        return tuple(int(c) for c in classes)
    return tuple(np.flatnonzero(np.isin(typed.task_class, classes)).tolist())
