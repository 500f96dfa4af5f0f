"""`solve_joint`: the cheapest plan for labels of several classes, with what is proven of it.

A plan gives each task a set of workers who keep its promise. Sets are generated at the prices of
the workers' capacities, starting from those of the relaxation, until no cheaper one is found; a
plan of the sets found comes from branch and bound over how many tasks follow each. The bound is
the relaxation's, or that of the cover problem to which its tangents add up, solved over whole
plans. Programs of few pairs are solved over all plans: branch and bound over the tangents known,
then those at the plan it gives, until the plan keeps every promise (outer approximation: Duran,
Grossmann 1986). What that says is HiGHS's word until branches over all sets of workers that keep a
promise prove it (`patterns.listed_sets`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.joint import KEPT, JointProblem, class_pairs
from crowd_models.patterns import Pattern
from crowd_models.problem import price_step
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import generator
from workbench.solving.highs import LEAST_SECONDS, Remaining, RunOptions, run
from workbench.solving.joint.relaxation import (
    JointProof,
    JointRelaxation,
    proven_bound,
    relax,
    surrogate,
)
from workbench.solving.joint.worker_sets import WorkerSets
from workbench.solving.linear_model import LinearModel
from workbench.solving.patterns.column_generation import PatternPlan, cost
from workbench.solving.patterns.listed_sets import (
    FEW,
    SECONDS,
    LeastSets,
    SetProgram,
    least_sets,
    proof_above,
    proof_of_none,
)
from workbench.solving.patterns.master import Master
from workbench.solving.solution import (
    BranchProof,
    Certificate,
    Check,
    Infeasibility,
    Solution,
    Termination,
)
from workbench.solving.solver import solve, versions

STARTS, PRICINGS = 30, 8
"""Sets made for each task class before the first round, and in each."""
GENERATING, DIVING, WHOLE = 0.4, 0.6, 0.85
"""Shares of the time at which generating, rounding and branch and bound end; then the bound."""
UNLIMITED = 60.0
"""Seconds shared out where there is no limit."""
NODES = 2000
"""Of branch and bound over the sets."""
STEPS = 30
"""Bisections of ε where there is no plan."""


@dataclass(frozen=True, eq=False)
class JointSolution(Solution):
    """A solved joint problem: a `Solution` by task, with the promise of each.

    Attributes
    ----------
    task_class
        Class of each row of `assignment`, shape (n,).
    errors
        Promised error by task, shape (n,); None without a plan.
    least_error
        Error that all workers together would promise, by task class, shape (T,).
    worst_pair
        The two classes, by index, that all workers together tell apart worst.
    joint_proof
        Multipliers that prove the relaxation's bound.
    """

    task_class: IntArray | None = None
    errors: FloatArray | None = None
    least_error: FloatArray | None = None
    worst_pair: tuple[int, int] = (0, 1)
    joint_proof: JointProof | None = None


def solve_joint(
    problem: JointProblem, formulation: str = "ip", *, certified: bool = True, **options: Any
) -> JointSolution:
    """Solve a joint problem and check the answer against its data.

    Parameters
    ----------
    formulation
        `ip`, or `relaxation`, whose assignment has a row a task class: labels by worker.
    certified
        Spend time on a better bound of the integer program than the relaxation's, and on what
        would do where there is no plan.
    options
        `time_limit`, `gap`, `threads` and `seed`, as of `solve`.

    Returns
    -------
    JointSolution
        Never an exception for an infeasible problem or a time limit.
    """
    asked = RunOptions(**options)
    started, left = time.perf_counter(), asked.countdown()
    least = problem.least_error()
    blank = JointSolution(
        formulation,
        "arrays",
        Termination.INFEASIBLE,
        versions=versions(),
        task_class=np.repeat(np.arange(problem.shape[0]), problem.tasks),
        least_error=least,
        worst_pair=_worst_pair(problem),
    )
    scarce = problem.limits[0] - problem.usable.sum(axis=1)
    if (scarce[problem.tasks > 0] > 0).any():
        t = int(np.where(problem.tasks > 0, scarce, 0).argmax())
        few = "has fewer workers than it is to have labels: lower --least, or drop it"
        return replace(blank, infeasibility=_limited(blank, t, few, proven=True))
    beyond = np.flatnonzero(problem.asking & (least > problem.epsilon * (1 + KEPT)))
    relaxed = JointRelaxation(Termination.INFEASIBLE) if len(beyond) else relax(problem, left)
    if relaxed.termination is Termination.INFEASIBLE:
        why = _explained(problem, beyond, blank, asked) if certified else None
        if why is not None and not why.proven and formulation == "ip":
            proof = proof_of_plans(problem, None)
            blank = replace(blank, proofs=proof)
            why = replace(why, proven=bool(proof))
        return replace(blank, infeasibility=why, seconds=time.perf_counter() - started)
    if relaxed.proof is None or relaxed.labels is None:
        return replace(
            blank, termination=relaxed.termination, seconds=time.perf_counter() - started
        )
    if formulation == "relaxation":
        solution = _relaxation(problem, blank, relaxed)
    else:
        solution = _whole(problem, blank, relaxed.proof, left, asked, certified=certified)
    return replace(solution, seconds=time.perf_counter() - started)


def _relaxation(
    problem: JointProblem, blank: JointSolution, relaxed: JointRelaxation
) -> JointSolution:
    assert relaxed.labels is not None
    assert relaxed.proof is not None
    cost = float((problem.prices * relaxed.labels).sum())
    bound = proven_bound(problem, relaxed.proof, whole=False)
    near = cost - bound <= 1e-6 * max(cost, 1.0)
    return replace(
        blank,
        termination=relaxed.termination,
        objective=cost,
        bound=bound,
        assignment=relaxed.labels,
        worker_prices=relaxed.proof.worker_prices,
        joint_proof=relaxed.proof,
        method="tangents",
        certificate=Certificate(
            "proven" if near else "feasible", (), bound, None, "relaxation", {"relaxation": bound}
        ),
    )


def _whole(
    problem: JointProblem,
    blank: JointSolution,
    proof: JointProof,
    left: Remaining,
    asked: RunOptions,
    *,
    certified: bool,
) -> JointSolution:
    """The integer program: a plan, and the best of the bounds."""
    bounds = {"relaxation": proven_bound(problem, proof, whole=True)}
    if problem.tasks.sum() * problem.shape[1] <= FEW:
        method, (plan, claimed) = "tangents", _outer_approximation(problem, proof, left)
        late = left().over
    else:
        method, claimed = "worker sets", None
        plan, late = _by_sets(problem, proof, left, asked)
        if certified:
            bounds |= _surrogate_bound(problem, proof, left())
    lower, source = max((value, name) for name, value in bounds.items())
    solution = replace(
        blank,
        worker_prices=proof.worker_prices,
        joint_proof=proof,
        method=method,
        bound=lower,
        certificate=Certificate("bound", (), lower, None, source, bounds),
    )
    ended = Termination.TIME_LIMIT if late else Termination.SEARCH_ENDED
    if plan is None:
        if claimed is None or late:
            why = "" if late else "no plan among the sets of workers tried: use a larger epsilon"
            return replace(solution, termination=ended, note=why)
        solution = replace(solution, proofs=proof_of_plans(problem, None) if certified else ())
        if problem.least is None and problem.most is None:
            return replace(solution, note="no whole plan keeps every promise")
        why = "is the hardest: no whole plan keeps every promise within the least and most labels"
        proven = bool(solution.proofs)
        return replace(
            solution, infeasibility=_limited(blank, _hardest(problem), why, proven=proven)
        )
    assert blank.task_class is not None
    kinds = blank.task_class
    spent = float((problem.prices[kinds] * plan).sum())
    errors = np.array([problem.error(int(t), row) for t, row in zip(kinds, plan, strict=True)])
    checks = _checks(problem, kinds, plan, errors)
    step = 1.0 if problem.cost is None else 1e-9 * spent
    status = "proven" if spent - lower < step / 2 else "feasible"
    if not all(check.passed for check in checks):
        status = "failed"
    bound = lower if claimed is None else max(lower, claimed)
    proofs: tuple[BranchProof, ...] = ()
    if certified and claimed is not None and status != "failed" and _near(spent, bound):
        proofs = proof_of_plans(problem, spent)
    if proofs:
        status, lower, bound, source = "proven", spent, spent, "listed sets"
        bounds |= {source: spent}
    optimal = spent - bound <= max(asked.gap, 1e-9) * spent
    return replace(
        solution,
        termination=Termination.OPTIMAL if optimal else ended,
        objective=spent,
        bound=min(bound, spent),
        assignment=plan,
        errors=errors,
        proofs=proofs,
        certificate=Certificate(status, checks, lower, None, source, bounds),
    )


def _near(spent: float, bound: float) -> bool:
    """Whether a bound says that no plan is cheaper."""
    return spent - bound <= 1e-6 * spent


def proof_of_plans(
    problem: JointProblem, spent: float | None, pairs: int = FEW
) -> tuple[BranchProof, ...]:
    """What proves that no plan is cheaper, or that there is none; empty where nothing does.

    By branches over all sets of workers who keep a promise, where they are few enough to list.

    Parameters
    ----------
    spent
        Cost of the cheapest plan; None for none.
    pairs
        Most pairs (task, worker) for which it is tried.
    """
    until = time.perf_counter() + SECONDS
    program = None
    if problem.tasks.sum() * problem.shape[1] <= pairs:
        program = set_program(problem, until)
    if program is None:
        return ()
    if spent is None:
        proof = proof_of_none(program, until)
    else:
        step = 1.0 if problem.cost is None else price_step(problem.prices[problem.usable])
        apart = step or 5e-7 * spent
        proof = proof_above(program, spent - apart, 1e-4 * apart, until)
    return () if proof is None else (proof,)


def set_program(problem: JointProblem, until: float) -> SetProgram | None:
    """The program over listed sets, task by task; None where they are too many."""
    types, m = problem.shape
    kinds: list[LeastSets] = []
    for t in range(types):
        values, group = np.unique(problem.gains[t], axis=0, return_inverse=True)
        group, able = group.reshape(-1), np.argsort(-values.sum(axis=1), kind="stable")
        group, values = np.argsort(able)[group], values[able]
        sizes = np.bincount(group[problem.usable[t]], minlength=len(values)).tolist()

        def enough(numbers: tuple[int, ...], t: int = t, values: FloatArray = values) -> bool:
            promised = float(problem.idle[t] @ np.exp(-(np.array(numbers) @ values)))
            return promised <= float(problem.epsilon[t]) * (1 + KEPT)

        numbers = least_sets(sizes, enough, enough, until)
        if numbers is None:
            return None
        kinds.append(LeastSets(group, numbers))
    of = np.repeat(np.arange(types), problem.tasks)
    columns = [
        (problem.gains[:, j].tobytes(), problem.prices[:, j].tobytes(), int(problem.capacity[j]))
        for j in range(m)
    ]
    first = {column: k for k, column in reversed(list(enumerate(columns)))}
    least, most = problem.limits
    return SetProgram(
        problem.prices[of],
        problem.usable[of],
        problem.capacity,
        [kinds[t] for t in of.tolist()],
        least[of],
        most[of],
        of,
        np.array([first[column] for column in columns]),
    )


def _limited(blank: JointSolution, t: int, why: str, *, proven: bool) -> Infeasibility:
    """What the least and most labels of a task class do not allow."""
    assert blank.task_class is not None
    worst = int(np.flatnonzero(blank.task_class == t)[0])
    return Infeasibility((), (), 0.0, 0.0, None, None, proven, limits=why, worst=worst)


def _hardest(problem: JointProblem) -> int:
    """The task class whose best workers, as many as it may have, promise least for its ε."""
    many = problem.limits[1]
    excess = np.zeros(problem.shape[0])
    for t in np.flatnonzero(problem.tasks).tolist():
        left, factor = problem.idle[t], np.exp(-problem.gains[t][problem.usable[t]])
        for _ in range(min(many[t], len(factor))):
            j = int((factor @ left).argmin())
            left, factor = left * factor[j], np.delete(factor, j, axis=0)
        excess[t] = left.sum() / problem.epsilon[t]
    return int(excess.argmax())


def _checks(
    problem: JointProblem, kinds: IntArray, plan: FloatArray, errors: FloatArray
) -> tuple[Check, ...]:
    """Hold a plan against capacities, availability and promises."""
    over = float((plan.sum(axis=0) - problem.capacity).max())
    missed = float((errors / problem.epsilon[kinds]).max(initial=0.0)) - 1.0
    wrong = float((plan > problem.usable[kinds]).sum())
    few, many = (bound[kinds] for bound in problem.limits)
    counts = plan.sum(axis=1)
    beyond = float(np.maximum(few - counts, counts - many).max(initial=0.0))
    return (
        Check("capacity", over <= 0, max(over, 0.0), 0.0),
        Check("promised error", missed <= KEPT * 1.001, max(missed, 0.0), KEPT),
        Check("only usable pairs", wrong == 0, wrong, 0.0),
        Check("least and most labels", beyond <= 0, beyond, 0.0),
    )


def _surrogate_bound(
    problem: JointProblem, proof: JointProof, options: RunOptions
) -> dict[str, float]:
    """What whole plans of the cover problem cost to which the tangents add up: certified."""
    covers, _ = surrogate(problem, proof)
    kinds = np.repeat(np.arange(problem.shape[0]), problem.tasks)
    pairs = AssignmentProblem(
        covers.quality[kinds],
        problem.capacity,
        covers.requirement[kinds],
        None if problem.cost is None else problem.cost[kinds],
        None if problem.available is None else problem.available[kinds],
        gain="bhattacharyya",
        least=None if problem.least is None else problem.least[kinds],
        most=None if problem.most is None else problem.most[kinds],
    )
    limit = None if options.time_limit is None else max(options.time_limit, 0.1)
    bound = solve(pairs, "ip", time_limit=limit, seed=options.seed).certificate.lower_bound
    return {} if bound is None else {"tangents, whole": bound}


def _by_sets(
    problem: JointProblem, proof: JointProof, left: Remaining, asked: RunOptions
) -> tuple[FloatArray | None, bool]:
    """A plan from generated sets, by rounding and by branch and bound; and if time cut that off."""
    rng, started = generator(asked.seed), time.perf_counter()
    seconds = left().time_limit or UNLIMITED
    supply = problem.capacity.astype(np.float64)
    master = _generated(
        problem, proof.worker_prices, problem.tasks, supply, rng, started + GENERATING * seconds
    )
    late = time.perf_counter() >= started + GENERATING * seconds
    rounded = _dive(problem, master, rng, started + DIVING * seconds)
    rest = max(started + WHOLE * seconds - time.perf_counter(), LEAST_SECONDS)
    best = master.whole(RunOptions(rest, asked.gap, seed=asked.seed, nodes=NODES))
    late |= time.perf_counter() >= started + WHOLE * seconds
    plans = [plan for plan in (rounded, best) if plan is not None]
    return (_dealt(problem, min(plans, key=cost)) if plans else None), late


def _generated(
    problem: JointProblem,
    prices: FloatArray,
    tasks: IntArray,
    supply: FloatArray,
    rng: np.random.Generator,
    until: float,
    earlier: list[Pattern] | None = None,
) -> Master:
    """The master with all the sets that are worth having for tasks and capacity that are left."""
    types, m = problem.shape
    open_prices = 2.0 * (problem.prices * problem.usable).sum(axis=1) + 1.0
    master = Master(tasks, supply, open_prices)
    kinds = np.flatnonzero(tasks)
    sets = {t: WorkerSets(problem, t, problem.usable[t] & (supply >= 1)) for t in kinds.tolist()}
    master.add(p for p in earlier or [] if tasks[p.task_class] and (p.copies <= supply).all())

    def priced(t: int, at: FloatArray, many: int, spread: float) -> list[Pattern]:
        patterns = []
        for k in range(many):
            noise = np.exp(rng.normal(0.0, spread * (k / many), m)) if k else None
            chosen = sets[t].cheapest(problem.prices[t] + at, noise)
            if chosen is None:
                break
            patterns.append(_pattern(problem, t, chosen))
        return patterns

    starts = max(2, STARTS // types) if earlier is None else 2
    for t in kinds.tolist():
        master.add(priced(t, prices, starts, 0.5))
    while time.perf_counter() < until:
        mix = master.solve()
        new = 0
        for t in kinds.tolist():
            every = priced(t, mix.worker_prices, max(2, PRICINGS // types), 0.5)
            worth = mix.task_prices[t] - 1e-7
            new += master.add(
                p for p in every if p.cost + float(mix.worker_prices @ p.copies) < worth
            )
        if not new:
            break
    return master


def _dive(
    problem: JointProblem, master: Master, rng: np.random.Generator, until: float
) -> PatternPlan | None:
    """Fix the whole part of the master, generate for what is left, until every task is served."""
    tasks, supply = problem.tasks.copy(), problem.capacity.astype(np.float64)
    plan: PatternPlan = []
    while tasks.any() and time.perf_counter() < until:
        mix = master.solve()
        fixed, goal = 0, max(1, int(0.25 * tasks.sum()))
        for p in np.argsort(-mix.counts, kind="stable").tolist():
            pattern, count = master.patterns[p], float(mix.counts[p])
            if count <= 1e-9 or (count < 1 - 1e-6 and fixed >= goal):
                break
            open_tasks = int(tasks[pattern.task_class])
            # A task whose labels on record keep its promise needs nobody.
            fits = int(supply[pattern.copies > 0].min(initial=open_tasks))
            times = min(max(int(count + 1e-6), 1), fits)
            if times > 0:
                plan.append((pattern, times))
                tasks[pattern.task_class] -= times
                supply -= times * pattern.copies
                fixed += times
        if not fixed:
            break
        if tasks.any():
            pause = time.perf_counter() + 0.1 * max(until - time.perf_counter(), 0.0)
            master = _generated(
                problem, mix.worker_prices, tasks, supply, rng, pause, earlier=master.patterns
            )
    prices = master.solve().worker_prices
    for t in np.repeat(np.arange(len(tasks)), tasks).tolist():  # one by one, where time is short
        own = WorkerSets(problem, t, problem.usable[t] & (supply >= 1))
        chosen = own.cheapest(problem.prices[t] + prices)
        if chosen is None:
            return None
        plan.append((_pattern(problem, t, chosen), 1))
        supply -= chosen
    return plan


def _pattern(problem: JointProblem, task_class: int, chosen: BoolArray) -> Pattern:
    price = float(problem.prices[task_class] @ chosen)
    return Pattern(task_class, chosen.astype(np.int64), price)


def _dealt(problem: JointProblem, plan: PatternPlan) -> FloatArray:
    """Workers by task, shape (n, m): tasks in the order of their classes."""
    rows: list[FloatArray] = []
    for t in range(problem.shape[0]):
        own = [(p, times) for p, times in plan if p.task_class == t]
        served = [np.tile(p.copies.astype(np.float64), (times, 1)) for p, times in own]
        every = np.concatenate(served) if served else np.zeros((0, problem.shape[1]))
        rows.append(every[: problem.tasks[t]])
    return np.concatenate(rows)


def _outer_approximation(
    problem: JointProblem, proof: JointProof, left: Remaining
) -> tuple[FloatArray | None, float]:
    """The cheapest plan of all, and the solver's bound; None where there is none, or no time."""
    kinds = np.repeat(np.arange(problem.shape[0]), problem.tasks)
    points = list(zip(proof.task_class.tolist(), proof.points, strict=True))
    bound = 0.0
    while True:
        model = _whole_model(problem, kinds, points)
        ran = run(model, left())
        bound = max(bound, ran.bound or 0.0)
        if ran.values is None or left().over:
            return None, bound
        plan = np.zeros((len(kinds), problem.shape[1]))
        plan[problem.usable[kinds]] = np.round(ran.values)
        missed = {
            (int(t), row.tobytes()): (int(t), problem.gathered(int(t), row))
            for t, row in zip(kinds, plan, strict=True)
            if problem.error(int(t), row) > problem.epsilon[t] * (1 + KEPT)
        }
        if not missed:
            return plan, bound
        points += missed.values()


def _whole_model(
    problem: JointProblem, kinds: IntArray, points: list[tuple[int, FloatArray]]
) -> LinearModel:
    """The integer program over some tangents, for every task of their classes."""
    from scipy.sparse import csc_array

    task, worker = np.nonzero(problem.usable[kinds])
    columns, m = np.arange(len(task)), problem.shape[1]
    rows = [(i, problem.tangent(t, at)) for t, at in points for i in np.flatnonzero(kinds == t)]
    few, many = (bound[kinds] for bound in problem.limits)
    counted = np.flatnonzero((few > 0) | (many < m))
    matrix = np.zeros((m + len(rows) + len(counted), len(task)))
    matrix[worker, columns] = 1.0
    matrix[m + len(rows) :] = task == counted[:, None]
    for r, (i, row) in enumerate(rows):
        own = task == i
        matrix[m + r, own] = np.minimum(row.quality, row.requirement)[worker[own]]
    stored = csc_array(matrix)
    need = [row.requirement * (1 - KEPT) for _, row in rows]
    return LinearModel(
        cost=problem.prices[kinds][task, worker],
        lower=np.zeros(len(task)),
        upper=np.ones(len(task)),
        row_lower=np.concatenate([np.full(m, -np.inf), need, few[counted]]),
        row_upper=np.concatenate([problem.capacity, np.full(len(rows), np.inf), many[counted]]),
        start=stored.indptr,
        index=stored.indices.astype(np.int32),
        value=stored.data,
        integer=True,
    )


def _worst_pair(problem: JointProblem) -> tuple[int, int]:
    """The pair of classes that contributes most to the least error of the worst task class."""
    worst = int(problem.least_error().argmax())
    share = problem.idle[worst] * np.exp(-problem.gathered(worst, problem.usable[worst]))
    classes = round((1 + np.sqrt(1 + 8 * len(share))) / 2)
    first, second = class_pairs(classes)
    at = int(share.argmax())
    return int(first[at]), int(second[at])


def _explained(
    problem: JointProblem, beyond: IntArray, blank: JointSolution, asked: RunOptions
) -> Infeasibility:
    """Which tasks cannot be covered at all, and the ε that would do for all of them."""
    assert blank.task_class is not None
    same = bool((problem.epsilon == problem.epsilon[0]).all())
    low = float(blank.least_error.max()) if blank.least_error is not None else 0.0
    low, high = (
        max(low, float(problem.epsilon.max())),
        min(float(problem.idle.sum(axis=1).max()), 1 - 1e-9),
    )
    quick = replace(asked, time_limit=None)

    def feasible(epsilon: float) -> bool:
        trial = replace(problem, epsilon=np.full(len(problem.epsilon), epsilon))
        return relax(trial, quick.countdown()).termination is Termination.OPTIMAL

    limit = enough = None
    if same and low < high:
        ends = low, high
        for _ in range(STEPS):
            if ends[1] - ends[0] <= 1e-4 * ends[1]:
                break
            middle = float(np.sqrt(ends[0] * ends[1]))
            ends = (ends[0], middle) if feasible(middle) else (middle, ends[1])
        limit = ends[0]
        for share in (1.001, 1.01, 1.03, 1.1, 1.3, 2.0):
            trial = replace(
                problem, epsilon=np.full(len(problem.epsilon), min(limit * share, high))
            )
            if solve_joint(trial, time_limit=5.0, certified=False, gap=0.5).assignment is not None:
                enough = float(trial.epsilon[0])
                break
    alone = np.flatnonzero(np.isin(blank.task_class, beyond))
    return Infeasibility(
        alone=tuple(alone.tolist()),
        drop=(),
        scale_limit=0.0,
        scale_enough=0.0,
        epsilon_limit=limit,
        epsilon_enough=enough,
        proven=bool(len(beyond)),
        drop_fewest=False,
    )
