"""The integer program: a bound and a start from the relaxation, then one method after the other.

The method asked for goes first. Where it ends without an answer, or with one that contradicts the
data or what is known already, the next takes over, and the answer's note says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crowd_models import AssignmentProblem
from workbench.base.arrays import FloatArray
from workbench.solving.array_route import lifted, run_arrays
from workbench.solving.certificates import OPTIMALITY, lagrangian, primal_checks, rounded_up
from workbench.solving.dropping import proven_infeasible
from workbench.solving.feasibility import rounded, share_met
from workbench.solving.highs import Remaining, RunOptions
from workbench.solving.linear import solve_linear
from workbench.solving.patterns.route import run_patterns
from workbench.solving.pyomo_route import run_pyomo
from workbench.solving.scaling import ScaledProblem, is_loose, view
from workbench.solving.search.count_relaxation import CountDuals
from workbench.solving.search.local_search import Draft, polish
from workbench.solving.search.primal_heuristic import SMALL, Heuristic, solve_from_start
from workbench.solving.solution import (
    CountProof,
    Incumbent,
    Proof,
    RawAnswer,
    RelaxationProof,
    Termination,
)

CLOSABLE = 20_000
"""Pairs up to which branch and bound may close the gap that patterns leave."""
PATIENCE = 8
"""Attempts to improve a plan in vain after which it is asked to."""
ALIKE = 4.0
"""Equal tasks a class, on average, from which on patterns have nothing to learn of label counts."""
MENDING, LONGEST = 0.4, 5.0
"""Share of the time for starts from the relaxation, before any method; and seconds at most."""
POOR = 1.05
"""Cost of a start, over the bound, from which on it is reworked."""
NEARBY = 1.02
"""Cost of a start, over the bound, up to which branch and bound is given it."""
COUNTING = 0.1
"""Share of the time for the heuristic that tries to meet the label counts."""
SPREAD = 100.0
"""How far the highest price may lie above a plan's cost for branch and bound to be believed.

Its tolerances are absolute, 1e-9 of the highest price.
"""
FALLBACKS = ("patterns", "highs", "mip")


def solve_whole(
    problem: AssignmentProblem,
    route: str,
    method: str,
    left: Remaining,
    report: Callable[[RawAnswer], None],
    known: FloatArray | None = None,
) -> RawAnswer:
    """Solve the integer program, giving the best so far to `report`.

    `known` is a plan to start from, shape (n, m).
    """
    started = time.perf_counter()
    # The relaxation's dual values are the task weights, and prove a bound no solver is trusted
    # for. Counting equal tasks and workers makes it cheap.
    seen, loose = view(problem, whole=True), is_loose(problem)
    tight = _relaxation(seen, left())
    relaxed = seen.back(tight)
    if loose:
        plain = view(problem, whole=False)
        relaxed = plain.back(_relaxation(plain, left()))
    if relaxed.termination is Termination.INFEASIBLE and proven_infeasible(problem.typed, left()):
        return replace(relaxed, relaxed=relaxed)
    state = SearchState(seen, relaxed, report, started)
    first = _bound(seen.inner, tight)
    if known is not None:
        state.tell(RawAnswer(Termination.TIME_LIMIT, seen.into(known[problem.pairs])))
    start = _start(seen.inner, tight, left())
    state.tell(replace(first, pairs=start, proofs=first.proofs if loose else ()))
    _mend_starts(state, tight, left())
    while True:
        if state.narrow():
            tight = _relaxation(state.view, left())
            state.tell(_bound(state.problem, tight))
        answer = _by_methods(state, tight, route, method, left)
        wide = answer.pairs is not None and state.too_wide(state.cost(answer))
        if not wide or left().over:
            return state.outer(answer)
        state.answer = replace(state.answer, pairs=answer.pairs)


def _relaxation(seen: ScaledProblem, options: RunOptions) -> RawAnswer:
    """The relaxation of the inner problem, by its pairs, tasks and workers."""
    typed = seen.inner.typed
    return lifted(typed, solve_linear(typed, "typed", "arrays", "auto", options), seen.inner)


def _bound(problem: AssignmentProblem, relaxed: RawAnswer) -> RawAnswer:
    """What the relaxation's dual values prove of the integer program, if anything."""
    weights, prices = relaxed.duals
    if weights is None or prices is None or not np.isfinite([*weights, *prices]).all():
        return RawAnswer(Termination.TIME_LIMIT)
    bound = rounded_up(problem, lagrangian(problem, weights, prices), weights, prices)
    proofs = (RelaxationProof(weights, prices),)
    return RawAnswer(Termination.TIME_LIMIT, bound=bound, proofs=proofs)


def _start(
    problem: AssignmentProblem, relaxed: RawAnswer, options: RunOptions
) -> FloatArray | None:
    """Round the relaxation, if there is one, to a whole plan to start from, if it can be.

    Where capacities are too tight for that, each task takes its best workers. What the plan has to
    spare goes: the costliest labels that no task needs.
    """
    nothing = np.zeros(problem.shape)
    for shares in [nothing] if relaxed.pairs is None else [problem.matrix(relaxed.pairs), nothing]:
        assignment = rounded(problem, shares)
        if problem.limited and _broken(problem, assignment[problem.pairs]):
            continue
        if share_met(problem, assignment) >= 1:
            draft = Draft(problem, assignment > 0.5)
            polish(draft, time.perf_counter() + _mending(options))
            return draft.labels[problem.pairs].astype(np.float64)
    return None


def _mend_starts(state: SearchState, relaxed: RawAnswer, options: RunOptions) -> None:
    """Mend a few starts, before any method: where tasks differ, patterns have none for long.

    Given a poor start, HiGHS's own heuristics seldom find a better plan than that. So one that is
    far above the bound is reworked for as long as starts may take.
    """
    problem, (weights, prices), known = state.problem, relaxed.duals, state.answer
    few = len(problem.pairs[0]) <= SMALL or problem.shape[0] >= ALIKE * problem.typed.shape[0]
    if few or relaxed.pairs is None or weights is None or prices is None:
        return

    def report(assignment: FloatArray) -> None:
        pairs = assignment[problem.pairs]
        if not _broken(problem, pairs):
            state.tell(RawAnswer(Termination.TIME_LIMIT, pairs))

    proof = CountProof(weights, np.zeros(len(weights)), prices)
    duals = CountDuals(proof, None, problem.matrix(relaxed.pairs))
    seconds = _mending(options)
    heuristic = Heuristic(problem, duals, seconds=seconds, seed=options.seed, report=report)
    heuristic.mend(None if known.pairs is None else problem.matrix(known.pairs))
    poor = heuristic.best and heuristic.best.cost > POOR * (known.bound or 0.0)
    if poor and np.isfinite(seconds):
        heuristic.rework()


def _mending(options: RunOptions) -> float:
    """Seconds for starts; without a limit these are few and come to an end."""
    limit = options.time_limit
    return np.inf if limit is None else min(MENDING * limit, LONGEST)


class SearchState:
    """What is known of an integer program so far: plan, bound, proofs and history.

    `answer` is in the terms of `view.inner`, what is reported in those of `view.outer`.
    """

    def __init__(
        self,
        seen: ScaledProblem,
        relaxed: RawAnswer,
        report: Callable[[RawAnswer], None],
        started: float,
    ) -> None:
        self.view, self.relaxed, self.report, self.started = seen, relaxed, report, started
        self.answer = RawAnswer(Termination.TIME_LIMIT)
        self.earlier = RawAnswer(Termination.TIME_LIMIT)

    @property
    def problem(self) -> AssignmentProblem:
        """As the solver sees it."""
        return self.view.inner

    def cost(self, answer: RawAnswer) -> float:
        """What an answer's plan costs; infinite without one."""
        if answer.pairs is None:
            return np.inf
        return float(self.problem.prices[self.problem.pairs] @ answer.pairs)

    def complete(self, answer: RawAnswer) -> RawAnswer:
        """An answer with the best plan and bound and all the proofs so far, and its moment."""
        if self.cost(self.answer) < self.cost(answer):
            answer = replace(answer, pairs=self.answer.pairs)
        cost, bound = self.cost(answer), highest(answer.bound, self.answer.bound)
        history = self.answer.history
        if cost < np.inf or bound is not None:
            seconds = time.perf_counter() - self.started
            history = (*history, Incumbent(seconds, cost if cost < np.inf else None, bound))
        proofs = _latest(self.answer, answer)
        return replace(answer, bound=bound, proofs=proofs, history=history)

    def tell(self, answer: RawAnswer) -> None:
        """Report an answer, and remember it."""
        self.answer = self.complete(answer)
        self.report(self.outer(self.answer))

    def improved(self, _: float, bound: float, pairs: FloatArray) -> None:
        """Report a plan of branch and bound."""
        whole = np.round(pairs) + 0.0
        # The solver's tolerance is absolute: what it takes for a plan may be none.
        good = not _broken(self.problem, whole)
        plan = RawAnswer(Termination.TIME_LIMIT, whole if good else None)
        if np.isfinite(bound) and not self.too_wide(self.cost(plan)):
            plan = replace(plan, bound=bound)
        self.tell(plan)

    def narrow(self) -> bool:
        """Leave out the pairs that cost more than the plan known; whether there are any.

        With them goes the bound: it may rest on tolerances that were too coarse.
        """
        cost = self.cost(self.answer)
        if self.answer.pairs is None or not self.problem.highest_price > cost * (1 + 1e-9):
            return False
        self.earlier = self.outer(self.answer)
        self.view = self.view.affordable(cost)
        assert self.earlier.pairs is not None
        self.answer = RawAnswer(Termination.TIME_LIMIT, self.view.into(self.earlier.pairs))
        return True

    def too_wide(self, cost: float) -> bool:
        """Whether prices lie so far above a plan's cost that branch and bound may overlook it.

        Prices that are whole multiples of one step it sees, however cheap.
        """
        return not self.problem.integral_cost and self.problem.highest_price > SPREAD * cost

    def outer(self, answer: RawAnswer) -> RawAnswer:
        """An answer in the terms of the problem asked about, with all that was known earlier."""
        back = self.view.back(answer)
        return replace(
            back,
            proofs=_latest(self.earlier, back),
            history=(*self.earlier.history, *back.history),
            seconds=time.perf_counter() - self.started,
            relaxed=self.relaxed,
        )


def _latest(before: RawAnswer, after: RawAnswer) -> tuple[Proof, ...]:
    """The latest proof of each kind, which is the best: only better ones are reported."""
    return tuple({type(proof): proof for proof in (*before.proofs, *after.proofs)}.values())


def highest(*bounds: float | None) -> float | None:
    """The highest of the bounds that there are."""
    return max((bound for bound in bounds if bound is not None), default=None)


def _by_methods(
    search: SearchState, relaxed: RawAnswer, route: str, method: str, left: Remaining
) -> RawAnswer:
    """The answer of the method asked for, or of the first after it whose answer is sound."""
    order = [method, *(each for each in FALLBACKS if each != method)]
    if route == "pyomo":
        order = ["pyomo"]
    elif search.problem.limited:  # the other does not know how many labels a task may get
        order = [name for name in order if name != "highs"]
    failed: list[str] = []
    for name in order:
        before = search.answer
        answer = _METHODS[name](search, relaxed, left)
        wrong = _wrong(search, answer, left().gap)
        if not wrong:
            note = f"{'; '.join(failed)}; solved by {name}" if failed else answer.note
            return replace(search.complete(answer), note=note)
        failed.append(f"{name} {wrong}")
        # Plans are checked when they come; a bound of branch and bound is not to be used any more.
        search.answer = replace(before, pairs=search.answer.pairs, history=search.answer.history)
        if left().over:
            break
    answer = RawAnswer(Termination.NUMERICS, note="; ".join(failed))
    return replace(search.complete(answer), note=answer.note)


def _wrong(search: SearchState, answer: RawAnswer, gap: float) -> str:
    """What speaks against an answer that may leave a gap; empty for nothing."""
    cost, best = search.cost(answer), search.cost(search.answer)
    ending, least = answer.termination, min(cost, best)
    bound = highest(answer.bound, search.answer.bound)
    broken = "" if answer.pairs is None else _broken(search.problem, answer.pairs)
    wrong = {
        answer.note or "found no answer": ending is Termination.NUMERICS,
        "denies a solution that is known": ending is Termination.INFEASIBLE and best < np.inf,
        "claims an optimum and gives none": ending is Termination.OPTIMAL and answer.pairs is None,
        f"gives a solution that fails its certificate: {broken}": bool(broken),
        "claims a bound that denies a solution that is known": answer.bound is not None
        and answer.bound > least * (1 + OPTIMALITY),
        "calls a solution optimal that its bound does not prove": ending is Termination.OPTIMAL
        and (np.inf if bound is None else bound) < least * (1 - max(gap, OPTIMALITY)),
    }
    return next((words for words, holds in wrong.items() if holds), "")


def _broken(problem: AssignmentProblem, pairs: FloatArray) -> str:
    """Names of the constraints that a whole plan does not keep."""
    if not np.isfinite(pairs).all():
        return "finite numbers"
    checks = primal_checks(problem, problem.matrix(np.round(pairs)), whole=True)
    return ", ".join(check.name for check in checks if not check.passed)


def _by_patterns(search: SearchState, relaxed: RawAnswer, left: Remaining) -> RawAnswer:
    """Column generation: to the end where only it can get there, else while it gets on.

    Label counts go before it where they can prove an optimum at once, or tell a plan where there
    are limits of them, and what it leaves open branch and bound may close.
    """
    problem = search.problem
    if labels_count(problem) or problem.limited:
        counted = _by_search(search, relaxed, left, branching=False)
        if counted.termination in (Termination.OPTIMAL, Termination.INFEASIBLE):
            return counted
    prices = np.zeros(problem.typed.shape[1])
    if relaxed.worker_prices is not None:
        prices[problem.typed.worker_class] = np.maximum(relaxed.worker_prices, 0.0)
    planned = run_patterns(
        problem,
        prices,
        left(),
        search.tell,
        start=search.answer.pairs,
        bound=search.answer.bound,
        patience=PATIENCE if len(problem.pairs[0]) <= CLOSABLE else None,
    )
    if planned.termination is Termination.OPTIMAL or left().over:
        return planned
    return _by_search(search, relaxed, left)


def labels_count(problem: AssignmentProblem) -> bool:
    """Whether a cost is a number of labels, and tasks differ: counts may prove an optimum."""
    prices = problem.prices[problem.pairs]
    equal = len(prices) > 0 and prices.min() == prices.max()
    return equal and problem.shape[0] < ALIKE * problem.typed.shape[0]


def _by_search(
    search: SearchState, relaxed: RawAnswer, left: Remaining, *, branching: bool = True
) -> RawAnswer:
    """Heuristic and label counts, then branch and bound on what they leave open."""
    if relaxed.pairs is None or relaxed.task_weights is None:
        if not search.problem.limited:
            return _by_highs(search, relaxed, left)
        n, m = search.problem.shape
        nothing = np.zeros(len(search.problem.pairs[0]))
        relaxed = replace(
            relaxed, pairs=nothing, task_weights=np.zeros(n), worker_prices=np.zeros(m)
        )
    return solve_from_start(
        search.problem,
        relaxed,
        left(),
        start=search.answer.pairs,
        share=None if branching else COUNTING,
        branching=branching,
        report=search.tell,
    )


def _by_highs(search: SearchState, _: RawAnswer, left: Remaining) -> RawAnswer:
    """Branch and bound on the program as it stands.

    Of a large program, a start far above the bound may keep HiGHS from plans that it finds alone:
    it goes without, and the better of the two is kept.
    """
    known, few = search.answer, len(search.problem.pairs[0]) <= SMALL
    good = few or search.cost(known) <= NEARBY * (known.bound or 0.0)
    start = known.pairs if good else None
    return run_arrays(search.problem, "ip", left(), start, search.improved)


def _by_pyomo(search: SearchState, _: RawAnswer, left: Remaining) -> RawAnswer:
    return run_pyomo(search.problem, "ip", left())


_METHODS = {"patterns": _by_patterns, "highs": _by_highs, "mip": _by_search, "pyomo": _by_pyomo}
