"""The exact-error program, solved: the least that keeps every task's error at ε, planned ahead.

`crowd_models.exact_error` states it. Few workers and tasks: all allowed sets are listed, and the
master over them is solved as it stands. What that says is HiGHS's word until branches over the
lists prove it (`patterns.listed_sets`). More of them: column generation over patterns, with the
bound over error profiles (`patterns.set_pricing`); where it comes to no plan, and the sets can be
listed all the same, their master says whether there is one. Where labels have limits, the least
sets are listed or nothing is solved (`patterns.set_choice`). Whatever comes of it is checked here
against the data: capacities, availability, one label a worker and task, and the exact error of
each set.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.exact_error import TOLERANCE, ExactVote, likeliest_error
from crowd_models.patterns import Pattern, deal, limits
from crowd_models.problem import label_limits
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.solving.certificates import primal_checks
from workbench.solving.highs import Remaining, RunOptions
from workbench.solving.linear import solve_linear
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
from workbench.solving.patterns.route import run_patterns
from workbench.solving.patterns.set_choice import choose
from workbench.solving.patterns.set_pricing import SetPricing
from workbench.solving.pyomo_route import run_model
from workbench.solving.solution import (
    BranchProof,
    Certificate,
    Infeasibility,
    Leaf,
    RawAnswer,
    Solution,
    Termination,
)
from workbench.solving.solver import versions

LISTED = 512
"""Sets of workers, of all task classes together, up to which all are listed."""
DECIDED = 2**14
"""The same, where column generation comes to no plan: the list says whether there is one."""
STARTS = 5
"""Linear programs for the prices to start from."""
GAP = 1e-6
"""Relative gap that counts as none."""
TURNS = 200
"""In which a first plan serves the tasks."""
RISES = (0.0, 2.0, 8.0)
"""Of a worker's price as she is used up, tried one after the other."""
COARSE = 150
"""Steps of the price in those."""
MANY = 60
"""Task classes that are asked for sets, where starting prices are looked for."""


class TooManySetsError(InputError):
    """Limits of labels where the sets of workers are too many to list."""


@dataclass(frozen=True, eq=False)
class ExactErrorPlan:
    """Who labels what, so that every task's exact error is at most ε.

    Attributes
    ----------
    status
        `proven`: no plan is cheaper, by HiGHS's word where it is `claimed`. `feasible`: the bound
        is below the cost. `bound`: no plan found in time. `infeasible`: all available workers
        together err too often on a task, or the listed sets do not fit the capacities.
    cost, lower_bound
        Of the plan (None for none), and of every plan.
    assignment
        y, shape (n, m), 0 or 1; None for none.
    errors
        e of each task's workers, shape (n,).
    seconds
        Time taken.
    certified
        The part of `lower_bound` that is recomputed from the data; HiGHS's word is beyond it.
    proof
        Of the cost, or that there is no plan: what a file can state. None for none.
    """

    status: str
    cost: float | None = None
    lower_bound: float | None = None
    assignment: FloatArray | None = None
    errors: FloatArray | None = None
    seconds: float = 0.0
    certified: float = 0.0
    proof: BranchProof | None = None

    @property
    def claimed(self) -> bool:
        """Whether it is HiGHS's word alone that no plan is cheaper."""
        if self.status != "proven" or self.cost is None:
            return False
        return self.cost - self.certified > GAP * self.cost

    @property
    def gap(self) -> float:
        """(cost − bound) / cost; 1 without a plan."""
        if self.cost is None or self.lower_bound is None:
            return 1.0
        return max(0.0, self.cost - self.lower_bound) / (self.cost or 1.0)


def solve_exact_error(
    problem: AssignmentProblem,
    *,
    time_limit: float | None = None,
    gap: float = 0.0,
    seed: int = 0,
    start: FloatArray | None = None,
    patience: int | None = None,
) -> ExactErrorPlan:
    """Solve an `crowd_models.exact_error.error_problem`.

    Parameters
    ----------
    time_limit
        Seconds; without it, and with no gap, a large program may be worked at for ever.
    gap
        Relative gap at which to stop.
    seed
        Same seed and no time limit, same plan.
    start
        A plan known to keep every error at ε, shape (n, m), as a bound's plan does.
    patience
        Attempts in a row that may fail to improve the plan; None for no end but gap and time.

    Returns
    -------
    ExactErrorPlan
        Every number in it is recomputed from the problem's data.
    """
    started = time.perf_counter()
    typed = problem.typed
    vote = ExactVote.of(problem)
    everybody = [limits(typed, t) for t in range(typed.shape[0])]
    asked = np.flatnonzero(typed.tasks)
    if not all(possible(vote, t, everybody[t]) for t in asked.tolist()):
        return ExactErrorPlan("infeasible", proof=BranchProof(_nothing(problem), alone=True))
    left = RunOptions(time_limit, gap, seed=seed).countdown()
    sets = sum(math.prod((everybody[t] + 1).tolist()) for t in asked)
    certified = 0.0
    if problem.limited:
        answer = _within_limits(problem, vote, left)
    elif sets <= LISTED:
        answer = _listed(problem, vote, left)
    else:
        answer = _generated(problem, left, start, patience)
        certified = answer.bound or 0.0
        if answer.pairs is None and sets <= DECIDED and not left().over:
            listed = _listed(problem, vote, left)
            bounds = [each.bound for each in (answer, listed) if each.bound is not None]
            answer = replace(listed, bound=max(bounds, default=None))
    if answer.pairs is None and answer.termination is Termination.TIME_LIMIT:
        first = start if problem.limited else _first_plan(problem, start)
        answer = replace(answer, pairs=None if first is None else first[problem.pairs])
    plan = plan_of(problem, vote, answer)
    plan = replace(plan, certified=min(certified, plan.lower_bound or certified))
    proof = _proof(problem, vote, plan)
    if proof is not None and plan.cost is not None:
        plan = replace(plan, status="proven", lower_bound=plan.cost, certified=plan.cost)
    return replace(plan, proof=proof, seconds=time.perf_counter() - started)


def _nothing(problem: AssignmentProblem) -> Leaf:
    """Prices of 0: where a task has no set at all, they prove it."""
    return Leaf(np.zeros(problem.shape[1]), np.zeros(0))


def _proof(problem: AssignmentProblem, vote: ExactVote, plan: ExactErrorPlan) -> BranchProof | None:
    """What proves the cost of a plan, or that there is none, where the lists are short."""
    certified = plan.status == "proven" and not plan.claimed
    if certified or plan.status not in ("proven", "infeasible"):
        return None
    if math.prod(problem.shape) > FEW:
        return _leaf_proof(problem, vote, plan) if plan.claimed else None
    return proof_of_plans(problem, plan.cost)


def proof_of_plans(problem: AssignmentProblem, cost: float | None) -> BranchProof | None:
    """Prove by branches that no plan is cheaper, or that there is none; None where nothing does.

    Parameters
    ----------
    cost
        Of the cheapest plan; None for none.
    """
    until = time.perf_counter() + SECONDS
    program = set_program(problem, ExactVote.of(problem), until)
    if program is None:
        return None
    if cost is None:
        return proof_of_none(program, until)
    if cost == 0:
        return BranchProof(_nothing(problem), alone=True)
    apart = problem.price_step or 5e-7 * cost
    return proof_above(program, cost - apart, 1e-4 * apart, until)


def _leaf_proof(
    problem: AssignmentProblem, vote: ExactVote, plan: ExactErrorPlan
) -> BranchProof | None:
    """Prices of workers that prove the cost of a plan of listed sets, where prices alone do."""
    typed = problem.typed
    assert typed.worker_class is not None
    patterns = _patterns(typed, vote, RunOptions(SECONDS).countdown())
    if patterns is None or plan.cost is None:
        return None
    master = Master(typed.tasks, typed.supply, np.full(typed.shape[0], 2.0 * plan.cost + 1.0))
    master.add(p for p in patterns if p.copies.any())
    u = master.solve().worker_prices
    least = np.full(typed.shape[0], math.inf)
    for pattern in patterns:
        t = pattern.task_class
        least[t] = min(least[t], pattern.cost + float(u @ pattern.copies))
    asked = typed.tasks > 0
    bound = float(typed.tasks[asked] @ least[asked]) - float(typed.supply @ u)
    if bound <= plan.cost - (problem.price_step or 0.0) + GAP * plan.cost:
        return None
    if not problem.price_step and bound < plan.cost * (1 - GAP):
        return None
    return BranchProof(Leaf(u[typed.worker_class], np.zeros(0)), alone=True)


def set_program(
    problem: AssignmentProblem, vote: ExactVote, until: float = math.inf
) -> SetProgram | None:
    """The program over listed sets, task by task; None where they are too many."""
    typed = problem.typed
    assert typed.task_class is not None
    assert typed.worker_class is not None
    usable = problem.mask & (problem.capacity > 0)
    first = np.unique(typed.task_class, return_index=True)[1].tolist()
    kinds = []
    for t, i in enumerate(first):
        weight = np.round(vote.weight[t][typed.worker_class], 12)
        values, group = np.unique(-weight, return_inverse=True)
        sizes = np.bincount(group[usable[i]], minlength=len(values)).tolist()
        have = np.zeros(len(values), dtype=np.int64)
        if problem.recorded is not None:
            np.add.at(have, group, problem.recorded[i])
        most = float(vote.epsilon[t]) * (1.0 + TOLERANCE)
        # of one vote of p, 4p(1 − p); of a set the product, at most 4ε(1 − ε)
        alike = -np.log(np.cosh(-values / 2)) * 2
        limit = math.log(4 * most * (1 - most)) if most < 0.5 else 0.0

        def hope(
            numbers: tuple[int, ...],
            alike: FloatArray = alike,
            limit: float = limit,
            have: IntArray = have,
        ) -> bool:
            return bool(alike @ (have + numbers) <= limit + 1e-9)

        def enough(
            numbers: tuple[int, ...],
            values: FloatArray = values,
            most: float = most,
            hope: Callable[[tuple[int, ...]], bool] = hope,
            have: IntArray = have,
        ) -> bool:
            return hope(numbers) and likeliest_error(-values, have + numbers) <= most

        numbers = least_sets(sizes, enough, hope, until)
        if numbers is None:
            return None
        kinds.append(LeastSets(group, numbers))
    least, most_labels = label_limits(problem)
    return SetProgram(
        problem.prices,
        usable,
        problem.capacity,
        [kinds[t] for t in typed.task_class.tolist()],
        least,
        most_labels,
        typed.task_class,
        typed.worker_class,
    )


def exact_error_solution(
    problem: AssignmentProblem,
    *,
    time_limit: float | None = None,
    gap: float = 0.0,
    seed: int = 0,
    start: FloatArray | None = None,
    patience: int | None = None,
) -> Solution:
    """Solve an exact-error program, the answer as that of any other assignment problem.

    Parameters
    ----------
    problem, time_limit, gap, seed, start, patience
        As of `solve_exact_error`.
    """
    plan = solve_exact_error(
        problem, time_limit=time_limit, gap=gap, seed=seed, start=start, patience=patience
    )
    return as_solution(problem, plan, gap)


def as_solution(problem: AssignmentProblem, plan: ExactErrorPlan, gap: float) -> Solution:
    """Give a plan as the answer to any other assignment problem is given."""
    blank = Solution(
        "ip",
        "arrays",
        Termination.TIME_LIMIT,
        seconds=plan.seconds,
        versions=versions(),
        method="sets of workers by their exact error",
        proofs=() if plan.proof is None else (plan.proof,),
    )
    if plan.status == "infeasible":
        vote, typed = ExactVote.of(problem), problem.typed
        assert typed.task_class is not None
        able = [possible(vote, t, limits(typed, t)) for t in range(typed.shape[0])]
        alone = [i for i, t in enumerate(typed.task_class.tolist()) if not able[t]]
        proven = plan.proof is not None
        why = Infeasibility(tuple(alone), (), 0.0, 0.0, None, None, proven, drop_fewest=False)
        if problem.limited and not alone:
            why = _by_limits(problem, vote, why)
        status = "infeasible" if proven else "unproven"
        return replace(
            blank,
            termination=Termination.INFEASIBLE,
            infeasibility=why,
            certificate=Certificate(status),
        )
    bounds = {"listed sets" if plan.proof else "error profiles": plan.certified}
    source = next(iter(bounds))
    if plan.cost is None or plan.assignment is None:
        certificate = Certificate("bound", (), plan.certified, None, source, bounds)
        return replace(blank, bound=plan.lower_bound, certificate=certificate)
    checks = tuple(primal_checks(problem, plan.assignment, whole=True))
    near = plan.cost - plan.certified <= GAP * plan.cost
    status = "proven" if near else "feasible"
    return replace(
        blank,
        termination=Termination.OPTIMAL if plan.gap <= max(gap, GAP) else Termination.TIME_LIMIT,
        objective=plan.cost,
        bound=plan.lower_bound,
        assignment=plan.assignment,
        certificate=Certificate(status, checks, plan.certified, None, source, bounds),
    )


def _by_limits(problem: AssignmentProblem, vote: ExactVote, why: Infeasibility) -> Infeasibility:
    """Name a task that has no set within its limits of labels, whatever the capacities."""
    program = set_program(problem, vote, time.perf_counter() + SECONDS)
    if program is None:
        return why
    free = np.zeros(problem.shape[1])
    for i, (few, many) in enumerate(zip(program.least, program.most, strict=True)):
        if program.cheapest(i, free) is None:
            words = (
                f"has no {few} to {many} workers who err seldom enough together: raise --most or "
                "--epsilon, or lower --least"
            )
            return replace(why, limits=words, worst=i)
    return why


def _generated(
    problem: AssignmentProblem, left: Remaining, start: FloatArray | None, patience: int | None
) -> RawAnswer:
    """Column generation, from the plans that are made task by task and the one to start from."""
    typed = problem.typed
    pricing = SetPricing(typed)
    prices = _starting_prices(typed, pricing, left)
    plans = (_one_by_one(problem, pricing, prices, rise) for rise in RISES)
    plan = next((plan for plan in plans if plan is not None), None)
    starts = [each[problem.pairs] for each in (plan, start) if each is not None]
    return run_patterns(
        problem,
        prices,
        left(),
        lambda _: None,
        start=min(starts, key=lambda y: float(problem.prices[problem.pairs] @ y), default=None),
        patience=patience,
        pricing=pricing,
    )


def _first_plan(problem: AssignmentProblem, start: FloatArray | None) -> FloatArray | None:
    """A plan that takes no time to make; None where that comes to none."""
    pricing, free = SetPricing(problem.typed), np.zeros(problem.typed.shape[1])
    plans = (_one_by_one(problem, pricing, free, rise) for rise in RISES)
    return start if start is not None else next((p for p in plans if p is not None), None)


def possible(vote: ExactVote, t: int, most: IntArray) -> bool:
    """Whether any set is allowed: the strongest workers, more and more of them."""
    order = np.argsort(-vote.weight[t], kind="stable")
    strongest = np.repeat(order, most[order])
    sizes = [0, *(2**k for k in range(3, 40) if 2**k < len(strongest)), len(strongest)]
    sets = (np.bincount(strongest[:size], minlength=len(most)) for size in sizes)
    return any(vote.allows(t, copies) for copies in sets)


def _least_sets(vote: ExactVote, t: int, most: IntArray, left: Remaining) -> list[IntArray] | None:
    """All allowed sets of a task class that are so with nobody to spare; None when time is up."""
    every = np.array(list(itertools.product(*(range(many + 1) for many in most.tolist()))))
    every = every[vote.least_errors(t, every) <= vote.epsilon[t] * (1 + 1e-6)]
    least = np.zeros((0, len(most)), dtype=np.int64)
    for copies in every[np.argsort(every.sum(axis=1), kind="stable")]:
        if left().over:
            return None
        if not (least <= copies).all(axis=1).any() and vote.allows(t, copies):
            least = np.vstack([least, copies])
    return list(least)


def _within_limits(problem: AssignmentProblem, vote: ExactVote, left: Remaining) -> RawAnswer:
    """Branch and bound over listed sets, with limits of labels."""
    options = left()
    until = math.inf if options.time_limit is None else time.perf_counter() + options.time_limit
    program = set_program(problem, vote, until)
    if program is None:
        if left().over:
            return RawAnswer(Termination.TIME_LIMIT)
        raise TooManySetsError(
            "least, most: a task has too many sets of workers to keep limits of labels beside its "
            "exact error; leave them out, or give skills of fewer digits"
        )
    ran, plan = choose(program, left())
    pairs = None if plan is None else plan[problem.pairs]
    return RawAnswer(ran.termination, pairs, bound=ran.bound, seconds=ran.seconds)


def _listed(problem: AssignmentProblem, vote: ExactVote, left: Remaining) -> RawAnswer:
    """Branch and bound over all allowed sets that are so with nobody to spare."""
    from crowd_models.dantzig_wolfe import pattern_master  # imports Pyomo

    typed = problem.typed
    patterns = _patterns(typed, vote, left)
    if patterns is None:
        return RawAnswer(Termination.TIME_LIMIT)
    model = pattern_master(typed, patterns)
    if not any(p.copies.any() for p in patterns):  # Nobody is needed: nothing to solve.
        return RawAnswer(Termination.OPTIMAL, np.zeros(len(problem.pairs[0])), bound=0.0)
    ran = run_model(model, left(), integer=True)
    if ran.values is None:
        return RawAnswer(ran.termination, bound=ran.bound, seconds=ran.seconds)
    counts = [round(ran.values[variable]) for variable in model.count.values()]
    unserved = typed.tasks.copy()
    plan = []
    for pattern, count in zip(patterns, counts, strict=True):
        times = min(count, int(unserved[pattern.task_class]))
        unserved[pattern.task_class] -= times
        plan.append((pattern, times))
    return RawAnswer(
        ran.termination, deal(typed, plan)[problem.pairs], bound=ran.bound, seconds=ran.seconds
    )


def _patterns(typed: TypedProblem, vote: ExactVote, left: Remaining) -> list[Pattern] | None:
    """All allowed sets, by class, that are so with nobody to spare; None when time is up."""
    patterns = []
    for t in np.flatnonzero(typed.tasks).tolist():
        allowed = _least_sets(vote, t, limits(typed, t), left)
        if allowed is None:
            return None
        patterns += [Pattern(t, c, float(typed.prices[t] @ c)) for c in allowed]
    return patterns


def _starting_prices(typed: TypedProblem, pricing: SetPricing, left: Remaining) -> FloatArray:
    """u of the best value among those of cover programs that ask for what cheap sets gather.

    Of many task classes some are asked, and the others ask for as much, labels on record included.
    """
    rng = np.random.default_rng(left().seed)
    u = best = np.zeros(typed.shape[1])
    highest = -math.inf
    kinds = np.flatnonzero(typed.tasks)
    some = kinds if len(kinds) <= MANY else np.sort(rng.choice(kinds, MANY, replace=False))
    recorded = (typed.quality * pricing.vote.recorded).sum(axis=1)
    share = float(typed.tasks[kinds].sum() / typed.tasks[some].sum())
    for _ in range(STARTS):
        gathered, value = np.zeros(typed.shape[0]), -float(typed.supply @ u)
        for t in some.tolist():
            charge = typed.prices[t] + u
            sets, least = pricing.cheapest(t, charge, limits(typed, t), COARSE, rng)
            gathered[t] = typed.quality[t] @ sets[0].copies
            value += share * float(typed.tasks[t]) * least
        if value > highest:
            best, highest = u, value
        if left().over:
            break
        need = gathered
        if len(some) < len(kinds):
            whole = float(np.median(gathered[some] + recorded[some]))
            need = np.where(typed.tasks > 0, np.maximum(whole - recorded, 0.0), 0.0)
        answer = solve_linear(
            replace(typed, requirement=need), "typed", "arrays", "lp", RunOptions()
        )
        if answer.worker_prices is None:
            break
        u = np.maximum(answer.worker_prices, 0.0)
    return best


def _one_by_one(
    problem: AssignmentProblem, pricing: SetPricing, worker_prices: FloatArray, rise: float
) -> FloatArray | None:
    """A plan, a few tasks after the other; None where nobody is left for the last.

    A worker's price rises by e^`rise` until she is used up.
    """
    typed = problem.typed
    left, room = typed.tasks.copy(), typed.supply.copy()
    together, plan = int(left.sum()) // TURNS + 1, []
    while left.any():
        t = int(np.argmax(left))
        used_share = 1.0 - room / np.maximum(typed.supply, 1.0)
        charge = (typed.prices[t] + worker_prices) * np.exp(rise * used_share)
        most = np.minimum(limits(typed, t), room.astype(np.int64))
        sets = pricing.filled_up(t, charge, most)
        if not sets:
            return None
        copies = min(sets, key=lambda each: float(charge @ each))
        used = copies > 0
        times = min(together, int(left[t]), *(room[used] // copies[used]).astype(int).tolist())
        plan.append((Pattern(t, copies, float(typed.prices[t] @ copies)), times))
        left[t] -= times
        room -= times * copies
    return deal(typed, plan)


def plan_of(problem: AssignmentProblem, vote: ExactVote, answer: RawAnswer) -> ExactErrorPlan:
    """Recompute an answer from the data.

    Raises
    ------
    RuntimeError
        A plan fails a check.
    """
    bound = answer.bound
    if bound is not None and problem.price_step:
        bound = problem.price_step * math.ceil(bound / problem.price_step - 1e-6)
    if answer.pairs is None:
        status = "infeasible" if answer.termination is Termination.INFEASIBLE else "bound"
        return ExactErrorPlan(status, lower_bound=bound, seconds=answer.seconds)
    chosen = problem.matrix(np.round(answer.pairs) + 0.0)
    typed = problem.typed
    assert typed.task_class is not None
    assert typed.worker_class is not None
    errors = np.empty(len(chosen))
    error_by_set: dict[tuple[int, bytes], float] = {}
    for i, (t, row) in enumerate(zip(typed.task_class.tolist(), chosen, strict=True)):
        copies = np.bincount(typed.worker_class[row > 0], minlength=typed.shape[1])
        key = t, copies.tobytes()
        if key not in error_by_set:
            if not vote.allows(t, copies):
                raise RuntimeError(f"the plan leaves task {i} above its error")
            error_by_set[key] = vote.error(t, copies)
        errors[i] = error_by_set[key]
    failed = [c.name for c in primal_checks(problem, chosen, whole=True) if not c.passed]
    if failed:
        raise RuntimeError(f"the plan fails its checks: {', '.join(failed)}")
    cost = float((problem.prices * chosen).sum())
    near = bound is not None and cost - bound <= GAP * cost
    return ExactErrorPlan(
        "proven" if near else "feasible", cost, bound, chosen, errors, answer.seconds
    )
