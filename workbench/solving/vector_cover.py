"""`solve_vector_cover`: the cheapest plan that covers every label of every task, with its proof.

Small programs: the least sets of workers that cover a task are listed, branch and bound over the
lists finds the plan, and branches over the same lists prove it (`patterns.listed_sets`). Larger
ones: column generation over patterns (`patterns.route`), a pattern being a set that meets every
requirement (`patterns.vector_pricing`); the bound at its worker prices is evaluated anew from the
data. Whatever comes of it is checked here: capacities, one purchase a pair, every cover.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.vector_cover import VectorCoverProblem, uncovered
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.highs import Remaining, RunOptions, run
from workbench.solving.linear_model import LinearModel
from workbench.solving.patterns.listed_sets import (
    SECONDS,
    LeastSets,
    SetProgram,
    least_sets,
    proof_above,
    proof_of_none,
)
from workbench.solving.patterns.route import run_patterns
from workbench.solving.patterns.set_choice import choose
from workbench.solving.patterns.vector_pricing import VectorPricing
from workbench.solving.solution import (
    BranchProof,
    Certificate,
    Check,
    Infeasibility,
    Leaf,
    PatternProof,
    Solution,
    Termination,
)
from workbench.solving.solver import versions

GAP = 1e-6
"""Relative gap that counts as none."""
PATIENCE = 16
"""Attempts in a row that may fail to improve a plan."""
LISTED_PAIRS = 200
"""Pairs (task, worker) up to which sets are listed rather than generated."""


@dataclass(frozen=True, eq=False)
class VectorCoverSolution(Solution):
    """A solved vector cover: a `Solution` by task, types in their order.

    Attributes
    ----------
    task_type
        Type of each row of `assignment`, shape (n,).
    reach
        Where there is no plan: no share of all requirements above this can be met, whatever the
        plan; 1 elsewhere.
    short
        Type and label that all workers together do not cover; None where they cover each.
    """

    task_type: IntArray | None = None
    reach: float = 1.0
    short: tuple[int, int] | None = None


def solve_vector_cover(
    problem: VectorCoverProblem,
    *,
    time_limit: float | None = None,
    gap: float = 0.0,
    seed: int = 0,
    patience: int | None = PATIENCE,
) -> VectorCoverSolution:
    """Solve a vector cover and check the answer against its data.

    Parameters
    ----------
    time_limit
        Seconds.
    gap
        Relative gap at which to stop.
    seed
        Same seed and no time limit, same plan.
    patience
        Attempts in a row that may fail to improve the plan; None for no end but gap and time.

    Returns
    -------
    VectorCoverSolution
        Never an exception for an infeasible problem or a time limit.

    Examples
    --------
    >>> from crowd_models import VectorCoverProblem
    >>> from workbench.solving import solve_vector_cover
    >>> quality = [[[0.9, 0.1], [0.1, 0.9], [0.6, 0.6]]]
    >>> found = solve_vector_cover(VectorCoverProblem(quality, [0.6, 0.6], capacity=2, tasks=3))
    >>> found.objective, found.certificate.status
    (4.0, 'proven')
    """
    started = time.perf_counter()
    left = RunOptions(time_limit, gap, seed=seed).countdown()
    kinds = problem.task_type
    blank = VectorCoverSolution(
        "ip", "arrays", Termination.INFEASIBLE, versions=versions(), task_type=kinds
    )
    short = uncovered(problem)
    if short is not None:
        found = _impossible(replace(blank, short=short), short[0], problem)
    elif len(kinds) * problem.shape[1] <= LISTED_PAIRS and (listed := set_program(problem)):
        found = _by_lists(problem, listed, blank, left)
    else:
        found = _by_patterns(problem, blank, left, patience)
    return replace(found, seconds=time.perf_counter() - started)


def set_program(problem: VectorCoverProblem) -> SetProgram | None:
    """The program over listed sets, task by task; None where they are too many."""
    until, kinds = time.perf_counter() + SECONDS, list[LeastSets]()
    for t in range(problem.shape[0]):
        need = problem.requirement[t]
        useful = np.minimum(problem.quality[t], need)
        values, group = np.unique(-useful, axis=0, return_inverse=True)
        group = group.reshape(-1)
        able = np.argsort(values.sum(axis=1), kind="stable")
        group, values = np.argsort(able)[group], -values[able]
        sizes = np.bincount(group[problem.usable[t]], minlength=len(values)).tolist()
        # One member of each group stands for it: they are alike up to the need.
        member = [int(np.flatnonzero(group == g)[0]) for g in range(len(values))]
        quality = problem.quality[t][member]

        def enough(
            numbers: tuple[int, ...], quality: FloatArray = quality, need: FloatArray = need
        ) -> bool:
            return bool((np.array(numbers) @ quality >= need * (1 - 1e-9)).all())

        numbers = least_sets(sizes, enough, enough, until)
        if numbers is None:
            return None
        kinds.append(LeastSets(group, numbers))
    of, m = problem.task_type, problem.shape[1]
    nothing = np.zeros(len(of), dtype=np.int64)
    return SetProgram(
        problem.prices[of],
        problem.usable[of],
        problem.capacity,
        [kinds[t] for t in of.tolist()],
        nothing,
        np.full(len(of), m),
        of,
        _worker_classes(problem),
    )


def _worker_classes(problem: VectorCoverProblem) -> IntArray:
    """Which workers are alike in what they tell, in price and in capacity, shape (m,)."""
    capacity = np.minimum(problem.capacity, problem.tasks.sum())
    rows = np.hstack(
        [
            problem.quality.transpose(1, 0, 2).reshape(problem.shape[1], -1),
            problem.prices.T,
            capacity[:, None],
        ]
    )
    classes: IntArray = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    return classes


def _by_lists(
    problem: VectorCoverProblem,
    program: SetProgram,
    blank: VectorCoverSolution,
    left: Remaining,
) -> VectorCoverSolution:
    """Branch and bound over all least sets, and branches that prove what it says."""
    blank = replace(blank, method="listed sets")
    ran, plan = choose(program, left())
    until = time.perf_counter() + SECONDS
    if plan is None:
        if ran.termination is not Termination.INFEASIBLE:
            return replace(blank, termination=ran.termination, bound=ran.bound)
        proof = proof_of_none(program, until)
        return _impossible(replace(blank, proofs=(proof,) if proof else ()), None, problem)
    cost = float((program.prices * plan).sum())
    proof = None
    if ran.termination is Termination.OPTIMAL and cost == 0:
        proof = BranchProof(Leaf(np.zeros(problem.shape[1]), np.zeros(0)), alone=True)
    elif ran.termination is Termination.OPTIMAL:
        apart = problem.price_step or 5e-7 * cost
        proof = proof_above(program, cost - apart, 1e-4 * apart, until)
    certified = cost if proof else 0.0
    bounds = {"listed sets": certified}
    bound = max(certified, min(ran.bound or 0.0, cost))
    return _checked(
        replace(blank, proofs=(proof,) if proof else ()), problem, plan, bound, certified, bounds
    )


def _by_patterns(
    problem: VectorCoverProblem, blank: VectorCoverSolution, left: Remaining, patience: int | None
) -> VectorCoverSolution:
    """Column generation over patterns."""
    blank, reach = replace(blank, method="patterns"), _reach(problem)
    if reach < 1 - 1e-6:
        return _impossible(replace(blank, reach=reach), None, problem)
    pairs = coded(problem)
    pricing = pricing_of(problem, pairs)
    answer = run_patterns(
        pairs,
        np.zeros(pairs.typed.shape[1]),
        left(),
        lambda _: None,
        patience=patience,
        pricing=pricing,
    )
    proof = next((p for p in answer.proofs if isinstance(p, PatternProof)), None)
    certified = 0.0 if proof is None else recomputed(problem, proof.worker_prices)
    bounds, blank = {"patterns": certified}, replace(blank, proofs=answer.proofs)
    if answer.pairs is not None:
        plan = pairs.matrix(np.round(answer.pairs) + 0.0)
        return _checked(blank, problem, plan, certified, certified, bounds)
    late = left().over
    note = "" if late else "no plan found: use a larger epsilon or larger capacities"
    return replace(
        blank,
        termination=Termination.TIME_LIMIT if late else Termination.SEARCH_ENDED,
        bound=certified,
        note=note,
        certificate=Certificate("bound", (), certified, None, "patterns", bounds),
    )


def coded(problem: VectorCoverProblem) -> AssignmentProblem:
    """The pairs, prices and capacities as an assignment problem, for routes that count classes.

    Its qualities are the numbers of pairs of classes: they tell equal tasks and workers from
    unequal ones, and nothing more. What covers a task, `VectorPricing` knows.
    """
    of = problem.task_type
    types, m, _ = problem.shape
    classes = _worker_classes(problem)
    number = np.arange(types)[:, None] * m + classes[None, :] + 1.0
    return AssignmentProblem(
        (number / number.max())[of],
        problem.capacity,
        0.0,
        None if problem.cost is None else problem.cost[of],
        problem.usable[of],
    )


def pricing_of(problem: VectorCoverProblem, pairs: AssignmentProblem) -> VectorPricing:
    """What a pattern is, by the classes of `coded`."""
    typed = pairs.typed
    assert typed.task_class is not None
    assert typed.worker_class is not None
    first_task = np.unique(typed.task_class, return_index=True)[1]
    first_worker = np.unique(typed.worker_class, return_index=True)[1]
    kinds = problem.task_type[first_task]
    return VectorPricing(
        typed, problem.quality[np.ix_(kinds, first_worker)], problem.requirement[kinds]
    )


def recomputed(problem: VectorCoverProblem, worker_prices: FloatArray) -> float:
    """The bound that worker prices prove, evaluated from the data; rounded up to a cost.

    Parameters
    ----------
    worker_prices
        u by class of workers (as `coded` counts them), right or wrong.
    """
    value = pricing_of(problem, coded(problem)).bound(worker_prices)
    step = problem.price_step
    return max(0.0, step * math.ceil(value / step - 1e-9) if step else value)


def _checked(
    blank: VectorCoverSolution,
    problem: VectorCoverProblem,
    plan: FloatArray,
    bound: float,
    certified: float,
    bounds: dict[str, float],
) -> VectorCoverSolution:
    """A plan held against the data, with the bounds that stand beside it."""
    kinds = problem.task_type
    cost = float((problem.prices[kinds] * plan).sum())
    checks = plan_checks(problem, plan)
    status = "proven" if cost - certified <= GAP * cost else "feasible"
    if not all(check.passed for check in checks):
        status = "failed"
    certified = min(certified, cost) if status == "proven" else certified
    optimal = cost - bound <= GAP * cost
    source = next(iter(bounds))
    return replace(
        blank,
        termination=Termination.OPTIMAL if optimal else Termination.SEARCH_ENDED,
        objective=cost,
        bound=min(bound, cost),
        assignment=plan,
        certificate=Certificate(status, checks, certified, None, source, bounds),
    )


def plan_checks(problem: VectorCoverProblem, plan: FloatArray) -> tuple[Check, ...]:
    """Hold a plan, shape (n, m), against capacities, pairs and every cover."""
    kinds = problem.task_type
    over = float((plan.sum(axis=0) - problem.capacity).max())
    wrong = float((plan > problem.usable[kinds]).sum() + ((plan != 0) & (plan != 1)).sum())
    cover = np.einsum("nm,nml->nl", plan, problem.quality[kinds])
    need = problem.requirement[kinds]
    missed = np.divide(need - cover, need, out=np.zeros(need.shape), where=need > 0)
    short = float(missed.max(initial=0.0))
    return (
        Check("capacity", over <= 0, max(over, 0.0), 0.0),
        Check("whole, and only usable pairs", wrong == 0, wrong, 0.0),
        Check("cover of every label", short <= 1.001e-9, max(short, 0.0), 1e-9),
    )


def _reach(problem: VectorCoverProblem) -> float:
    """The largest share θ ≤ 1 of all requirements that labels in parts can meet."""
    from scipy.sparse import csc_array

    types, m, labels = problem.shape
    kinds, workers = np.nonzero(problem.usable & (problem.tasks > 0)[:, None])
    columns, need = len(kinds), problem.requirement * problem.tasks[:, None]
    at = np.arange(columns)
    cover_rows = m + kinds[:, None] * labels + np.arange(labels)
    row = np.concatenate([workers, cover_rows.ravel(), m + np.arange(types * labels)])
    column = np.concatenate([at, np.repeat(at, labels), np.full(types * labels, columns)])
    value = np.concatenate(
        [np.ones(columns), problem.quality[kinds, workers].ravel(), -need.ravel()]
    )
    matrix = csc_array((value, (row, column)), shape=(m + types * labels, columns + 1))
    ran = run(
        LinearModel(
            np.append(np.zeros(columns), 1.0),
            np.zeros(columns + 1),
            np.append(problem.tasks[kinds].astype(np.float64), 1.0),
            np.concatenate([np.full(m, -np.inf), np.zeros(types * labels)]),
            np.concatenate([problem.capacity.astype(float), np.full(types * labels, np.inf)]),
            matrix.indptr,
            matrix.indices.astype(np.int32),
            matrix.data,
            maximise=True,
        ),
        RunOptions(),
    )
    return 1.0 if ran.values is None else float(ran.values[-1])


def _impossible(
    blank: VectorCoverSolution, worst: int | None, problem: VectorCoverProblem
) -> VectorCoverSolution:
    """There is no plan: why, and whether that is recomputed from the data."""
    assert blank.task_type is not None
    alone: tuple[int, ...] = ()
    if worst is not None:
        alone = tuple(np.flatnonzero(blank.task_type == worst).tolist())
    if blank.reach == 1.0:
        blank = replace(blank, reach=_reach(problem))
    proven = bool(alone or (blank.proofs and blank.method == "listed sets"))
    why = Infeasibility(alone, (), 0.0, 0.0, None, None, proven, drop_fewest=False)
    return replace(
        blank,
        infeasibility=why,
        certificate=Certificate("infeasible" if proven else "unproven"),
    )
