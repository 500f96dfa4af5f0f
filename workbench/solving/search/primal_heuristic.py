"""Good whole assignments fast, where tasks and workers are all different; then HiGHS from there.

Several starts (Primal Approximation: Ho, Jabbari, Vaughan 2013, Section 4.3 and Theorem 1; the
relaxation rounded), each mended, pruned and searched; then ruin and recreate: some tasks at a
time are solved anew as small integer programs over the pairs of small reduced cost.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from crowd_models import AssignmentProblem
from workbench.base.arrays import BoolArray, FloatArray
from workbench.solving.feasibility import rounded
from workbench.solving.highs import RunOptions, run
from workbench.solving.search.count_bound import (
    fixed_pairs,
    least_labels,
    reduced_costs,
    usable_pairs,
)
from workbench.solving.search.count_relaxation import (
    CountDuals,
    core_arrays,
    counted_relaxation,
    with_shortfall,
)
from workbench.solving.search.local_search import Draft, mend, polish, within_capacity
from workbench.solving.solution import CountProof, RawAnswer, Termination

STAGNATION = 12
"""Rounds of ruin and recreate without a gain after which more tasks are taken, or it ends."""
ROUNDS = 400
"""Rounds of ruin and recreate at most."""
FIRST_RUIN, LARGEST_RUIN = 400, 6400
"""Pairs in a small integer program: at first, and at most."""
FREE = (2, 3, 5, 8)
"""Undecided pairs of the core programs, times n + m: a fractional optimum has one time as many."""
CORE_SECONDS = 2.0
"""What a core program may take, and as much again a thousand undecided pairs."""
NODES = 2000
"""Nodes of branch and bound in one such program."""
SMALL = 400
"""Pairs up to which HiGHS needs no help."""
FEW = 3000
"""Pairs up to which HiGHS soon does better than the heuristic."""
STARTING = 0.25
"""Share of the search after which no further start is made, once a solution is known."""
RANDOM_STARTS = 2
PATIENCE = 2
"""Starts that cannot be mended, with none that can, after which another way is tried."""


OnAssignment = Callable[[FloatArray], None]


def improve(
    problem: AssignmentProblem,
    duals: CountDuals,
    *,
    seconds: float,
    seed: int,
    report: OnAssignment = lambda _: None,
    known: FloatArray | None = None,
    rounds: int = ROUNDS,
) -> FloatArray | None:
    """Search for a cheap whole assignment.

    Parameters
    ----------
    duals
        Of the relaxation, with or without count rows. Meeting their bound ends the search.
    seconds
        When to stop; infinity for a bounded number of rounds only.
    seed
        Same seed, same result, unless it or one of its small programs is cut by time.
    report
        Called with every assignment cheaper than all before it.
    known
        A feasible whole assignment to start from, shape (n, m), or None.
    rounds
        Rounds of ruin and recreate at most, after the core programs.

    Returns
    -------
    The best whole assignment found, shape (n, m) of 0.0 and 1.0, within the capacities and
    covering all tasks; None when none was found.
    """
    until = time.perf_counter() + seconds
    target = -math.inf if duals.bound is None else _met_at(problem, duals.bound)
    worker_prices = duals.proof.worker_prices
    random = np.random.Generator(np.random.PCG64(seed))
    best: Draft | None = None
    nearest: Draft | None = None
    failed = 0
    reduced = reduced_costs(problem, duals.proof)

    def better(draft: Draft) -> bool:
        nonlocal best
        if not draft.feasible or (best is not None and draft.cost >= best.cost - draft.step):
            return False
        best = draft
        report(draft.labels.astype(np.float64))
        return True

    if known is not None:
        better(Draft(problem, known > 0.5))
    for labels in starts(problem, duals, random):
        draft = Draft(problem, labels)
        if mend(draft, worker_prices):
            polish(draft, worker_prices, until)
            better(draft)
        elif nearest is None or draft.shortfall < nearest.shortfall:
            nearest = draft
        failed += best is None
        now = time.perf_counter()
        met = best is not None and best.cost <= target
        # With one solution known, the core programs gain more than further starts.
        late = now > until or (best is not None and until - now < (1 - STARTING) * seconds)
        if failed >= PATIENCE or met or late:
            break
    if best is None and nearest is not None:
        nearest = _covered(nearest, random, until)
        if nearest.feasible:
            polish(nearest, worker_prices, until)
            better(nearest)
    if best is None:
        return None
    _search_cores(best, reduced, worker_prices, until, target, better)
    _recreate(best, reduced, worker_prices, random, until, target, better, rounds)
    return best.labels.astype(np.float64)


def _met_at(problem: AssignmentProblem, bound: float) -> float:
    """Cost that no solution can beat, given a bound."""
    if problem.integral_cost:
        return float(math.ceil(bound - 1e-6))
    return bound + 1e-9 * max(1.0, abs(bound))


def starts(
    problem: AssignmentProblem, duals: CountDuals, random: np.random.Generator
) -> Iterator[BoolArray]:
    """Whole assignments within the capacities, from which to mend, one after the other."""
    shares = duals.shares
    yield within_capacity(problem, shares >= 0.5, shares)
    yield rounded(problem, shares) > 0.5
    yield within_capacity(problem, shares >= 1 - 1e-6, shares)
    # Primal Approximation: each worker takes the tasks of highest value q x − c − z > 0.
    value = -reduced_costs(problem, duals.proof)
    yield within_capacity(problem, (value > 0) & usable_pairs(problem), value)
    for _ in range(RANDOM_STARTS):
        yield within_capacity(problem, random.random(shares.shape) < shares, shares)


def _small_run(seconds: float) -> RunOptions:
    """How a small program is run: ended by nodes, the same everywhere, or by time if that is up."""
    limit = max(seconds, 0.01) if math.isfinite(seconds) else None
    return RunOptions(limit, nodes=NODES)


def _search_cores(
    best: Draft,
    reduced: FloatArray,
    worker_prices: FloatArray,
    until: float,
    target: float,
    better: Callable[[Draft], bool],
) -> None:
    """All tasks at once over the pairs hardest to decide, more and more of them, by HiGHS.

    The other pairs are as their reduced cost says, or as the best solution has them.
    """
    n, m = best.labels.shape
    current = best
    for times in FREE:
        left = until - time.perf_counter()
        count = min(times * (n + m), reduced.size - 1)
        if current.cost <= target or left <= 0:
            return
        seconds = left
        if math.isfinite(left):
            seconds = min(left / 2, CORE_SECONDS * (1 + count / 1000))
        draft, done = core_solution(current, reduced, count, seconds)
        if draft is not None and draft.cost < current.cost - current.step:
            polish(draft, worker_prices, until)
            better(draft)
            current = draft
        if not done:
            return


def core_solution(
    draft: Draft, reduced: FloatArray, count: int, seconds: float
) -> tuple[Draft | None, bool]:
    """Solve for the `count` pairs of least |reduced cost|, and those where a solution differs.

    Returns the solution, if it covers every task, and whether it was proven best of the core.
    """
    problem = draft.problem
    distance = np.where(draft.usable, np.abs(reduced), np.inf)
    limit = float(np.partition(distance, count, axis=None)[count])
    undecided = draft.usable & ((distance <= limit) | (draft.labels != (reduced < 0)))
    model, pairs = core_arrays(problem, undecided | draft.labels)
    fixed = ~undecided[pairs]
    model = replace(model, lower=fixed.astype(np.float64))
    start = draft.labels[pairs].astype(np.float64)
    result = run(model, _small_run(seconds), start)
    if result.values is None:
        return None, False
    labels = np.zeros_like(draft.labels)
    labels[pairs] = result.values > 0.5
    new = Draft(problem, labels)
    return (new if new.feasible else None), result.termination is Termination.OPTIMAL


def _recreate(
    best: Draft,
    reduced: FloatArray,
    worker_prices: FloatArray,
    random: np.random.Generator,
    until: float,
    target: float,
    better: Callable[[Draft], bool],
    rounds: int,
) -> None:
    """Ruin and recreate until nothing gets better for a while, however many tasks are taken."""
    size, idle, current = FIRST_RUIN, 0, best
    for _ in range(rounds):
        if current.cost <= target or time.perf_counter() >= until:
            return
        tasks = _ruin(current, reduced, size, random)
        draft = recreated(current, tasks, reduced, size, until)
        if draft is not None and draft.cost <= current.cost + draft.step:
            gained = draft.cost < current.cost - draft.step
            if gained:
                polish(draft, worker_prices, until)
                better(draft)
            current = draft  # of equal cost too: a way off a plateau
            idle = 0 if gained else idle + 1
        else:
            idle += 1
        if idle >= STAGNATION or len(tasks) == len(current.labels):
            if size >= LARGEST_RUIN or len(tasks) == len(current.labels):
                return
            size, idle = 4 * size, 0


def _covered(
    draft: Draft,
    random: np.random.Generator,
    until: float,
) -> Draft:
    """Solve tasks short of cover anew with others, until all are covered or it gets no better.

    Prices play no part: where cover is hard to find, it is the best workers that matter.
    """
    size, idle = FIRST_RUIN, 0
    order = -draft.problem.quality
    for _ in range(ROUNDS):
        if draft.feasible or time.perf_counter() >= until:
            break
        tasks = _ruin(draft, order, size, random)
        new = recreated(draft, tasks, order, size, until, cover_only=True)
        if new is not None and new.shortfall <= draft.shortfall:
            idle = 0 if new.shortfall < 0.999 * draft.shortfall else idle + 1
            draft = new
        else:
            idle += 1
        if idle >= STAGNATION:
            if size >= LARGEST_RUIN or len(tasks) == len(draft.labels):
                break
            size, idle = 4 * size, 0
    return draft


def _ruin(
    draft: Draft, reduced: FloatArray, size: int, random: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Choose tasks to solve anew: one that costs more than it might, and its likeliest partners.

    Partners hold workers that the first could use.
    """
    problem = draft.problem
    n, m = problem.shape
    count = min(n, max(2, size // min(m, 40)))
    waste = (np.maximum(reduced, 0.0) * draft.labels).sum(axis=1)
    waste += (np.maximum(-reduced, 0.0) * ~draft.labels).sum(axis=1)
    if problem.cost is None:
        waste += draft.labels.sum(axis=1) - least_labels(problem)
    if not draft.feasible:
        waste = np.maximum(draft.short, 0.0)
    chances = waste + 0.05 * waste.mean() + 1e-9
    first = int(random.choice(n, p=chances / chances.sum()))
    wanted = draft.usable[first] & ~draft.labels[first] & (reduced[first] < np.median(reduced))
    holds = (draft.labels & wanted[None, :]).sum(axis=1) / max(1, int(wanted.sum()))
    score = random.random(n) * (0.2 + holds) * (0.2 + chances / chances.max())
    score[first] = np.inf
    chosen: np.ndarray[tuple[int], np.dtype[np.int64]] = np.sort(np.argsort(-score)[:count])
    return chosen


def recreated(
    draft: Draft,
    tasks: np.ndarray[tuple[int], np.dtype[np.int64]],
    reduced: FloatArray,
    size: int,
    until: float,
    *,
    cover_only: bool = False,
) -> Draft | None:
    """Solve some tasks anew beside all others as they are: a small integer program by HiGHS.

    Each task is offered its own labels and the pairs of least reduced cost. With
    `cover_only` the least shortfall is sought, else the least cost, and None when some task
    would be short.
    """
    problem = draft.problem
    part = replace(problem.keep_tasks(tasks), capacity=draft.room + draft.labels[tasks].sum(axis=0))
    usable = usable_pairs(part)
    own = draft.labels[tasks]
    rank = np.argsort(np.argsort(np.where(usable, reduced[tasks], np.inf), axis=1), axis=1)
    width = own.sum(axis=1) + max(4, size // (2 * len(tasks)))
    keep = own | (usable & (rank < width[:, None]))
    model, pairs = core_arrays(part, keep)
    left = until - time.perf_counter()
    if left <= 0 or not len(pairs[0]):
        return None
    seconds = left
    if math.isfinite(left):
        seconds = min(left, 0.1 + size / (4000 if cover_only else 2000))
    start = own[pairs].astype(np.float64)
    if cover_only:
        model = with_shortfall(model, part)
        start = np.concatenate([start, np.maximum(draft.short[tasks], 0.0)])
    result = run(model, _small_run(seconds), start)
    if result.values is None:
        return None
    labels = draft.labels.copy()
    labels[tasks] = False
    labels[tasks[pairs[0]], pairs[1]] = result.values[: len(pairs[0])] > 0.5
    new = Draft(problem, labels)
    return new if new.feasible or cover_only else None


def solve_from_start(
    problem: AssignmentProblem,
    relaxed: RawAnswer,
    options: RunOptions,
    *,
    start: FloatArray | None = None,
    share: float | None = None,
    branching: bool = True,
    report: Callable[[RawAnswer], None] = lambda _: None,
) -> RawAnswer:
    """Heuristic, then HiGHS from its solution on the pairs that can still matter.

    Parameters
    ----------
    relaxed
        The solved relaxation, with its dual values.
    options
        As for HiGHS; the time limit covers everything here.
    start
        A feasible whole assignment, by pair, or None.
    share
        Share of the time limit that the heuristic may take; None for what served measured
        problems: 0.3, and 0.1 where pairs are few.
    branching
        Whether HiGHS takes its turn; without it the answer is `optimal` where the bound is met,
        else `time_limit`.
    report
        Called with every better solution, and with the bound, as soon as they are known.

    Returns
    -------
    RawAnswer
        With the proof of the bound from least numbers of labels.
    """
    started, left = time.perf_counter(), options.countdown()
    assert relaxed.pairs is not None
    pairs = len(problem.pairs[0])
    weights, prices = relaxed.duals
    assert weights is not None
    assert prices is not None
    shares = problem.matrix(relaxed.pairs)
    duals = CountDuals(CountProof(weights, np.zeros(len(weights)), prices), None, shares)
    if pairs > SMALL:
        duals = counted_relaxation(problem, duals, left())
    proofs = () if duals.bound is None else (duals.proof,)

    def tell(pairs: FloatArray | None, at_least: float | None) -> None:
        bound = max((b for b in (duals.bound, at_least) if b is not None), default=None)
        report(RawAnswer(Termination.TIME_LIMIT, pairs, bound=bound, proofs=proofs))

    if duals.bound is not None:
        tell(start, None)
    best = None if start is None else problem.matrix(start)
    if pairs > SMALL:
        limit = options.time_limit
        share = share or (0.1 if pairs <= FEW else 0.3)
        found = improve(
            problem,
            duals,
            seconds=math.inf if limit is None else share * limit,
            seed=options.seed,
            report=lambda assignment: tell(assignment[problem.pairs], None),
            known=best,
            # Without a limit HiGHS goes on to the optimum: a good start is enough.
            rounds=0 if limit is None else ROUNDS,
        )
        best = best if found is None else found
    if branching:
        answer = _branch_and_bound(problem, best, duals, left(), tell)
        if duals.bound is not None and (answer.bound is None or answer.bound < duals.bound):
            answer = replace(answer, bound=duals.bound)
    else:
        cost = math.inf if best is None else float((problem.prices * best).sum())
        met = duals.bound is not None and cost <= _met_at(problem, duals.bound)
        answer = RawAnswer(
            Termination.OPTIMAL if met else Termination.TIME_LIMIT,
            None if best is None else best[problem.pairs],
            bound=cost if met else duals.bound,
        )
    return replace(answer, proofs=proofs, seconds=time.perf_counter() - started)


def _branch_and_bound(
    problem: AssignmentProblem,
    best: FloatArray | None,
    duals: CountDuals,
    options: RunOptions,
    report: Callable[[FloatArray, float | None], None],
) -> RawAnswer:
    """HiGHS on the pairs not yet decided; what it finds, and what it proves, of the whole."""
    keep, ones = usable_pairs(problem), None
    cost = math.inf
    if best is not None:
        cost = float((problem.prices * best).sum())
        zeros, ones = fixed_pairs(problem, duals.proof, cost)
        if bool((zeros & ones).any()):
            return RawAnswer(Termination.OPTIMAL, best[problem.pairs], bound=cost)
        # The start must stay a solution, though only what is cheaper is looked for.
        keep, ones = ~zeros | (best > 0.5), ones & (best > 0.5)
    model, pairs = core_arrays(problem, keep)
    if ones is not None:
        model = replace(model, lower=ones[pairs].astype(np.float64))

    def whole(values: FloatArray) -> FloatArray:
        assignment = np.zeros(problem.shape)
        assignment[pairs] = np.round(values)
        return assignment[problem.pairs]

    def improved(_: float, bound: float, values: FloatArray) -> None:
        report(whole(values), min(bound, cost) if np.isfinite(bound) else None)

    start = None if best is None else best[pairs]
    result = run(model, options, start, improved)
    # What was left out costs as much as the start, or more.
    bound = None if result.bound is None else min(result.bound, cost)
    values = None if result.values is None else whole(result.values)
    if best is not None and (values is None or result.termination is Termination.INFEASIBLE):
        values = best[problem.pairs]
    return RawAnswer(result.termination, values, bound=bound, seconds=result.seconds)
