"""Task weights: the dual values that tell what covering a task is worth.

Offline they come from the relaxation over all workers; online from the sampled LP, the same
program over γm sampled workers with γC for C (Section 5.1). Equal tasks and equal workers are
counted (`crowd_models.TypedProblem`), which makes both programs small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from workbench.assignment.primal import perturb
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.solving import Solution, Termination, solve, tasks_to_drop

OnInfeasible = Literal["error", "drop", "relax"]
"""What to do when the sample cannot cover the tasks (Section 5.1, note on feasibility).

`error`: say so. `drop`: discard the fewest tasks. `relax`: let the cover of tasks fall short
where a label would have to be worse than `least_quality` to be worth buying.
"""


def offline_weights(
    problem: AssignmentProblem, *, seed: Seed | None = None
) -> tuple[FloatArray, FloatArray, Solution]:
    """Optimal dual x* of the relaxation, as Theorem 1 takes it.

    Parameters
    ----------
    seed
        Perturbs each quality on its own before solving; None leaves them as they are.

    Returns
    -------
    task_weights
        x*, shape (n,).
    quality
        The qualities x* belongs to, shape (n, m): use these in the Primal Approximation.
    solution
        The solved relaxation, with its certificate.

    Raises
    ------
    InputError
        When the relaxation has no solution; the line names tasks to drop and a sufficient ε.
    """
    quality = problem.quality if seed is None else perturb(problem.quality, seed=seed)
    perturbed = replace(problem, quality=quality, task_types=None)
    solution = solve(perturbed, "typed")
    return _weights(solution), quality, solution


@dataclass(frozen=True, eq=False)
class SampledWeights:
    """Task weights from a sample of workers.

    Attributes
    ----------
    weights
        x̂*, shape (T,), by task class; 0 for a class dropped whole.
    dropped
        Shape (T,): how many tasks of each class were discarded.
    reached
        Shape (T,): share of the requirement that the sampled LP covers; below 1 where relaxed.
    least_quality_used
        q_min of Theorem 2: the lowest quality among pairs the sampled LP uses; 1 if none.
    solution
        The solved sampled LP with its certificate; for `relax`, of the program with shortfall.
    """

    weights: FloatArray
    dropped: IntArray
    reached: FloatArray
    least_quality_used: float
    solution: Solution


def sampled_weights(
    crowd: TypedProblem,
    *,
    gamma: float,
    on_infeasible: OnInfeasible = "error",
    least_quality: float = 0.01,
) -> SampledWeights:
    """Solve the sampled LP and read the task weights off its dual (Section 5.1).

    Parameters
    ----------
    crowd
        The sampled workers with the tasks of the whole crowd: q by task class, shape (T, ℓ),
        perturbed so that workers with equal estimates are not all in or all out; capacities M,
        unchanged by sampling; C of each task class, of which the program takes γC.
    gamma
        γ = ℓ/m: sampled workers for each worker of the main crowd.
    on_infeasible, least_quality
        See `OnInfeasible`. With `relax`, no task weight exceeds (highest price)/`least_quality`.

    Raises
    ------
    InputError
        With `error`, when the sampled LP has no solution: one line with both mends.
    """
    sampled = replace(crowd, requirement=gamma * np.asarray(crowd.requirement, dtype=np.float64))
    full = np.ones(len(sampled.tasks))
    none = np.zeros(len(sampled.tasks), dtype=np.int64)
    # Where tasks may fall short, and some must, nobody asks why.
    if on_infeasible != "relax" or not len(sampled.uncoverable()):
        solution = solve(sampled, "typed")
        if solution.termination is not Termination.INFEASIBLE:
            return _sampled(sampled, solution, none, full)
    if on_infeasible == "error":
        assert solution.infeasibility is not None
        raise InputError(
            "the sampled workers cannot cover the tasks: discard tasks (on_infeasible='drop'), "
            "let some fall short ('relax'), sample more workers, or use a larger epsilon"
        )
    if on_infeasible == "drop":
        dropped = tasks_to_drop(sampled).counts
        rest = replace(sampled, tasks=sampled.tasks - dropped)
        return _sampled(rest, solve(rest, "typed"), dropped, full)
    ceiling = float(sampled.prices.max()) / least_quality
    elastic = sampled.with_shortfall(ceiling)
    solution = solve(elastic, "typed")
    types = sampled.shape[0]
    short = _assignment(solution)[:, -1]
    reached = 1.0 - np.divide(short, sampled.demand, out=np.zeros(types), where=sampled.demand > 0)
    return _sampled(sampled, solution, none, reached)


def _sampled(
    sampled: TypedProblem, solution: Solution, dropped: IntArray, reached: FloatArray
) -> SampledWeights:
    weights = np.where(sampled.tasks > 0, _weights(solution), 0.0)
    used = _assignment(solution)[:, : sampled.shape[1]] > 1e-9
    least = float(sampled.quality[used].min(initial=1.0))
    return SampledWeights(weights, dropped, reached, least, solution)


def _weights(solution: Solution) -> FloatArray:
    if solution.termination is Termination.INFEASIBLE:
        assert solution.infeasibility is not None
        raise InputError(solution.infeasibility.sentence())
    if solution.task_weights is None:
        raise RuntimeError(f"the relaxation was not solved: {solution.certificate}")
    return solution.task_weights


def _assignment(solution: Solution) -> FloatArray:
    assert solution.assignment is not None
    return solution.assignment
