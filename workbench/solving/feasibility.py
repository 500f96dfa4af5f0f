"""What to tell someone whose problem has no solution (Section 5.1, note on feasibility).

The tasks to drop come from `dropping`, with the Farkas proof; the largest common share of the
requirements that can be met, a small linear program, gives the ε that would do. Where the least or
most labels of a task are what cannot be met, the task that lacks most is named.
"""

from __future__ import annotations

import contextlib
import heapq
import time
from dataclasses import replace

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.gains import gain_of
from crowd_models.problem import label_limits
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.certificates import lagrangian, pattern_farkas
from workbench.solving.dropping import SECONDS, tasks_to_drop, uncoverable_counts
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import scale_arrays
from workbench.solving.patterns.column_generation import (
    CoverPricing,
    OutOfTime,
    Search,
    generate,
)
from workbench.solving.search.count_bound import count_lagrangian, usable_pairs
from workbench.solving.search.count_relaxation import core_arrays, with_shortfall
from workbench.solving.solution import CountProof, Infeasibility


def explain(
    problem: AssignmentProblem | TypedProblem, options: RunOptions, *, whole: bool = False
) -> Infeasibility:
    """Name the tasks that cannot be covered, and the requirements that can be met.

    Half of the time limit may go to finding the fewest tasks; without those, more are named. Where
    the relaxation has a solution, so much may go to a proof that there is no `whole` one.
    """
    if isinstance(problem, AssignmentProblem) and problem.limited:
        by_limits = _explain_limits(problem, options)
        if by_limits is not None:
            return by_limits
    typed = problem.typed
    seconds = SECONDS if options.time_limit is None else min(SECONDS, options.time_limit / 2)
    options = replace(options, time_limit=None)
    dropped = tasks_to_drop(typed, options, seconds=seconds)
    unmet = None
    if whole and not dropped.infeasible:
        unmet = _pattern_prices(typed, seconds)
    enough = 0.0
    scale = run(scale_arrays(typed), options)
    # Which share can be met within limits of labels, this program does not say.
    limited = isinstance(problem, AssignmentProblem) and problem.limited
    if scale.values is not None and not limited:
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
        epsilon_enough=error(enough) if same and not limited and error(enough) < 1 else None,
        proven=dropped.infeasible or unmet is not None,
        drop_least=dropped.least,
        drop_fewest=dropped.fewest,
        pattern_prices=unmet,
    )


def _explain_limits(problem: AssignmentProblem, options: RunOptions) -> Infeasibility | None:
    """Name the task whose least or most labels cannot be met; None where cover alone cannot be.

    What is to have so many labels lacks most where the capacities cannot give them: a linear
    program of the least total lack, whose dual values prove it.
    """
    few, many = label_limits(problem)
    able = problem.mask & (problem.capacity > 0)

    def because(task: int, why: str, mend: str, *, proven: bool) -> Infeasibility:
        return Infeasibility(
            (), (), 0.0, 0.0, None, None, proven, limits=why, worst=task, limits_mend=mend
        )

    plain = run(scale_arrays(problem.typed), replace(options, time_limit=None))
    if plain.values is None or plain.values[-1] < 1 - 1e-9:
        return None
    beyond = problem.uncoverable()
    if len(beyond):
        lack = few - able.sum(axis=1)
        i = int(lack.argmax())
        if lack[i] > 0:
            why = f"has {able[i].sum()} available workers and is to have {few[i]} labels at least"
            return because(i, why, "lower --least, or drop it", proven=True)
        best = -np.sort(-problem.quality * able, axis=1)
        reach = np.array([best[i, : many[i]].sum() for i in beyond])
        at = int((reach / problem.requirement[beyond]).argmin())
        i = int(beyond[at])
        why = f"is to have {many[i]} labels at most, and its best {many[i]} workers do not cover it"
        return because(i, why, "raise --most or --epsilon", proven=True)
    model = with_shortfall(core_arrays(problem, usable_pairs(problem))[0], problem, counted=True)
    ran = run(replace(model, integer=False), replace(options, time_limit=None))
    if ran.values is None or ran.row_duals is None:
        return None
    n, m = problem.shape
    lack = ran.values[-2 * n :].reshape(2, n)
    i = int((lack / np.maximum([problem.requirement, few], 1e-9)).max(axis=0).argmax())
    prices, weights, labels = np.split(ran.row_duals, [m, m + n])
    free = replace(problem, cost=np.zeros((n, m)))
    proof = CountProof(np.maximum(weights, 0.0), labels, np.maximum(-prices, 0.0))
    why = (
        f"falls short: within the capacities not every task gets its cover by {few[i]} to "
        f"{many[i]} labels"
    )
    mend = "lower --least, or raise --most, --epsilon or --capacity"
    return because(i, why, mend, proven=count_lagrangian(free, proof) > 0)


def _pattern_prices(typed: TypedProblem, seconds: float) -> tuple[float, ...] | None:
    """u that proves that no patterns fit the capacities; None where none was found in time."""
    free = replace(typed, cost=np.zeros(typed.shape))
    pricing, rng = CoverPricing(free), np.random.default_rng(0)
    search = Search(free, pricing, rng, time.perf_counter() + seconds)
    with contextlib.suppress(OutOfTime):
        u = generate(
            search,
            free.tasks,
            free.supply,
            np.zeros(free.shape[1]),
            tolerance=1e-6,
            steps=pricing.resolutions(),
        ).worker_prices
        return tuple(u.tolist()) if pattern_farkas(typed, u) else None
    return None


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
