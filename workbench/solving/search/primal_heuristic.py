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
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.feasibility import rounded
from workbench.solving.highs import RunOptions, run
from workbench.solving.search.count_bound import (
    count_lagrangian,
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


class Heuristic:
    """A search for a cheap whole assignment.

    Parameters
    ----------
    duals
        Of the relaxation, with or without count rows. Meeting their bound ends the search.
    seconds
        When to stop; infinity for a bounded number of rounds only.
    seed
        Same seed, same result, unless it or one of its small programs is cut by time.
    report
        Called with every assignment cheaper than all before it, shape (n, m).
    """

    def __init__(
        self,
        problem: AssignmentProblem,
        duals: CountDuals,
        *,
        seconds: float,
        seed: int,
        report: Callable[[FloatArray], None] = lambda _: None,
    ) -> None:
        self.problem, self.duals, self.report = problem, duals, report
        self.seconds, self.until = seconds, time.perf_counter() + seconds
        self.target = -math.inf if duals.bound is None else _met_at(problem, duals.bound)
        self.random = np.random.Generator(np.random.PCG64(seed))
        self.reduced = reduced_costs(problem, duals.proof)
        self.best: Draft | None = None

    def improve(
        self, start: FloatArray | None = None, *, rounds: int = ROUNDS
    ) -> FloatArray | None:
        """Search.

        Parameters
        ----------
        start
            A feasible whole assignment to start from, shape (n, m), or None.
        rounds
            Rounds of ruin and recreate at most, after the core programs.

        Returns
        -------
        The best whole assignment found, shape (n, m) of 0.0 and 1.0, within the capacities and
        covering all tasks; None when none was found.
        """
        nearest = self.mend(start)
        if self.best is None and nearest is not None:
            nearest = self._recreate(nearest, ROUNDS, cover_only=True)
            if nearest.feasible:
                self._offer(nearest)
        if self.best is None:
            return None
        self._search_cores(self.best)
        self._recreate(self.best, rounds)
        return self.best.labels.astype(np.float64)

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.until - time.perf_counter()

    def _offer(self, draft: Draft) -> None:
        """Polish an assignment that covers every task, and keep it if it is the best."""
        polish(draft, self.until)
        if self.best is None or draft.cost < self.best.cost - draft.step:
            self.best = draft
            self.report(draft.labels.astype(np.float64))

    def mend(self, start: FloatArray | None = None) -> Draft | None:
        """Mend one start after the other; give the nearest of those that cannot be.

        A feasible assignment to begin with, shape (n, m), needs no mending.
        """
        nearest: Draft | None = None
        failed = 0
        if start is not None:
            self._offer(Draft(self.problem, start > 0.5))
        for labels in starts(self.problem, self.duals, self.random):
            draft = Draft(self.problem, labels)
            if mend(draft, self.duals.proof.worker_prices) and draft.feasible:
                self._offer(draft)
            elif nearest is None or draft.shortfall < nearest.shortfall:
                nearest = draft
            failed += self.best is None
            met = self.best is not None and self.best.cost <= self.target
            # With one solution known, the core programs gain more than further starts.
            late = self.best is not None and self.left < (1 - STARTING) * self.seconds
            if failed >= PATIENCE or met or late or self.left < 0:
                break
        return nearest

    def rework(self) -> None:
        """Ruin and recreate the best assignment: the soonest way from one that is expensive."""
        assert self.best is not None
        self._recreate(self.best, ROUNDS)

    def _search_cores(self, current: Draft) -> None:
        """All tasks at once over the pairs hardest to decide, more and more of them, by HiGHS.

        The other pairs are as their reduced cost says, or as the best solution has them.
        """
        n, m = current.labels.shape
        distance = np.where(current.usable, np.abs(self.reduced), np.inf)
        for times in FREE:
            left, count = self.left, min(times * (n + m), distance.size - 1)
            if current.cost <= self.target or left <= 0:
                return
            limit = float(np.partition(distance, count, axis=None)[count])
            differs = current.labels != (self.reduced < 0)
            undecided = current.usable & ((distance <= limit) | differs)
            model, pairs = core_arrays(self.problem, undecided | current.labels)
            model = replace(model, lower=(~undecided[pairs]).astype(np.float64))
            seconds = min(left / 2, CORE_SECONDS * (1 + count / 1000))
            start = current.labels[pairs].astype(np.float64)
            result = run(model, self._small_run(seconds), start)
            if result.values is not None:
                labels = np.zeros_like(current.labels)
                labels[pairs] = result.values > 0.5
                draft = Draft(self.problem, labels)
                if draft.feasible and draft.cost < current.cost - current.step:
                    self._offer(draft)
                    current = draft
            if result.termination is not Termination.OPTIMAL:
                return

    def _small_run(self, seconds: float) -> RunOptions:
        """How a small program is run: ended by nodes, the same everywhere, or by time."""
        limit = max(seconds, 0.01) if math.isfinite(self.until) else None
        return RunOptions(limit, nodes=NODES)

    def _recreate(self, draft: Draft, rounds: int, *, cover_only: bool = False) -> Draft:
        """Ruin and recreate until it gets no better for a while, however many tasks are taken.

        With `cover_only`, until all tasks are covered. Prices play no part then: where cover is
        hard to find, it is the best workers that matter.
        """
        order = -self.problem.quality if cover_only else self.reduced
        size, idle = FIRST_RUIN, 0
        for _ in range(rounds):
            done = draft.feasible if cover_only else draft.cost <= self.target
            if done or self.left <= 0:
                break
            tasks = self._ruin(draft, order, size)
            new = self._recreated(draft, tasks, order, size, cover_only=cover_only)
            idle += 1
            if new is not None and cover_only and new.shortfall <= draft.shortfall:
                idle = 0 if new.shortfall < 0.999 * draft.shortfall else idle
                draft = new
            elif new is not None and not cover_only and new.cost <= draft.cost + draft.step:
                if new.cost < draft.cost - draft.step:
                    self._offer(new)
                    idle = 0
                draft = new  # of equal cost too: a way off a plateau
            every = len(tasks) == len(draft.labels)
            if idle >= STAGNATION or every:
                if size >= LARGEST_RUIN or every:
                    break
                size, idle = 4 * size, 0
        return draft

    def _ruin(self, draft: Draft, order: FloatArray, size: int) -> IntArray:
        """Choose tasks to solve anew: one that costs more than it might, and likely partners.

        Partners hold workers that the first could use.
        """
        n, m = self.problem.shape
        count = min(n, max(2, size // min(m, 40)))
        waste = (np.maximum(order, 0.0) * draft.labels).sum(axis=1)
        waste += (np.maximum(-order, 0.0) * ~draft.labels).sum(axis=1)
        if self.problem.cost is None:
            waste += draft.labels.sum(axis=1) - least_labels(self.problem)
        if not draft.feasible:
            waste = np.maximum(draft.short, 0.0)
        chances = waste + 0.05 * waste.mean() + 1e-9
        first = int(self.random.choice(n, p=chances / chances.sum()))
        wanted = draft.usable[first] & ~draft.labels[first] & (order[first] < np.median(order))
        holds = (draft.labels & wanted[None, :]).sum(axis=1) / max(1, int(wanted.sum()))
        score = self.random.random(n) * (0.2 + holds) * (0.2 + chances / chances.max())
        score[first] = np.inf
        return np.sort(np.argsort(-score)[:count])

    def _recreated(
        self, draft: Draft, tasks: IntArray, order: FloatArray, size: int, *, cover_only: bool
    ) -> Draft | None:
        """Solve some tasks anew beside all others as they are: a small program by HiGHS.

        Each task is offered its own labels and the pairs that come first in `order`. With
        `cover_only` the least shortfall is sought, else the least cost, and None when some task
        would be short.
        """
        own = draft.labels[tasks]
        room = draft.room + own.sum(axis=0)
        part = replace(self.problem.keep_tasks(tasks), capacity=room)
        usable = usable_pairs(part)
        rank = np.argsort(np.argsort(np.where(usable, order[tasks], np.inf), axis=1), axis=1)
        width = own.sum(axis=1) + max(4, size // (2 * len(tasks)))
        model, pairs = core_arrays(part, own | (usable & (rank < width[:, None])))
        if self.left <= 0 or not len(pairs[0]):
            return None
        seconds = min(self.left, 0.1 + size / (4000 if cover_only else 2000))
        start = own[pairs].astype(np.float64)
        if cover_only:
            model = with_shortfall(model, part)
            start = np.concatenate([start, np.maximum(draft.short[tasks], 0.0)])
        result = run(model, self._small_run(seconds), start)
        if result.values is None:
            return None
        labels = draft.labels.copy()
        labels[tasks] = False
        labels[tasks[pairs[0]], pairs[1]] = result.values[: len(pairs[0])] > 0.5
        new = Draft(self.problem, labels)
        return new if new.feasible or cover_only else None


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
    if pairs > SMALL or problem.limited:
        duals = counted_relaxation(problem, duals, left())
    if problem.limited and duals.bound is None:  # no time: its fewest labels, each the cheapest
        usable = usable_pairs(problem)
        least = np.where(usable, problem.prices, np.inf).min(axis=1, initial=np.inf)
        cheapest, nothing = np.where(np.isfinite(least), least, 0.0), np.zeros(len(weights))
        proof = CountProof(nothing, cheapest, np.zeros(len(prices)))
        duals = CountDuals(proof, count_lagrangian(problem, proof), shares)
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
        heuristic = Heuristic(
            problem,
            duals,
            seconds=math.inf if limit is None else share * limit,
            seed=options.seed,
            report=lambda assignment: tell(assignment[problem.pairs], None),
        )
        # Without a limit HiGHS goes on to the optimum: a good start is enough.
        improved = heuristic.improve(best, rounds=0 if limit is None else ROUNDS)
        best = best if improved is None else improved
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
