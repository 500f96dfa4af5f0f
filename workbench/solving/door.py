"""`solve`: one call for every formulation and both routes, with what is proven of the answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.solving.array_route import run_arrays
from workbench.solving.certify import (
    OPTIMALITY,
    WHOLE_FEASIBILITY,
    certify,
    cost_scale,
    lagrangian,
    rounded_up,
)
from workbench.solving.cutting_planes import run_cutting_planes, too_large
from workbench.solving.deadline import call_within
from workbench.solving.feasibility import explain, rounded, share_met
from workbench.solving.highs import LpAlgorithm, RunOptions
from workbench.solving.patterns.route import run_patterns
from workbench.solving.pyomo_route import run_pyomo
from workbench.solving.search.primal_heuristic import solve_from_start
from workbench.solving.solution import (
    Answer,
    Certificate,
    Infeasibility,
    Moment,
    Solution,
    Termination,
)

FORMULATIONS = ("ip", "relaxation", "dual", "typed")
ROUTES = ("arrays", "pyomo")
METHODS = {
    "ip": ("auto", "patterns", "mip", "highs"),
    "typed": ("auto", "lp", "cutting-planes"),
}
"""By formulation; the others leave no choice."""

ALIKE = 4.0
"""Equal tasks a class, on average, from which on `auto` takes patterns."""
MOST_CLASSES = 200
"""Task classes up to which it does: each prices its own patterns."""
TINY = 600
"""Pairs up to which branch and bound is done before anything else has begun."""
CLOSABLE = 20_000
"""Pairs up to which branch and bound may close the gap that patterns leave."""
LEAST_SECONDS = 0.05
"""What is asked of the solver when no time is left."""
SPREAD = 1e6
"""How far apart positive prices may lie for the solver's own bound to be believed."""
PATIENCE = 8
"""Attempts to improve a plan in vain after which it is asked to."""


def solve(
    problem: AssignmentProblem | TypedProblem,
    formulation: str = "ip",
    *,
    route: str = "arrays",
    method: str = "auto",
    time_limit: float | None = None,
    gap: float = 0.0,
    threads: int = 1,
    algorithm: LpAlgorithm = "simplex",
    seed: int = 0,
    exact: bool = False,
    progress: Callable[[Moment], None] | None = None,
    keep_on_interrupt: bool = False,
) -> Solution:
    """Solve an assignment problem and check the answer against its data.

    Parameters
    ----------
    problem
        An `AssignmentProblem`, or a `TypedProblem` (then `formulation` must be `typed`).
    formulation
        `ip`: the integer program (1)–(3). `relaxation`: its linear relaxation. `dual`: the
        explicit dual of Section 4.3. `typed`: the relaxation over class counts, lifted back.
    route
        `arrays`: straight into HiGHS. `pyomo`: through the Pyomo model.
    method
        `auto` takes whichever suits; `Solution.method` says which and why. Of `ip`: `patterns`,
        column generation, where many tasks are alike; `mip`, a heuristic, then branch and bound
        on what it leaves open; `highs`, branch and bound on the program as it stands. Of
        `typed`: `lp`, as it stands; `cutting-planes`, for very many worker classes.
    time_limit
        Seconds in the solver; without it, and with no gap, a large integer program may be worked at
        for ever. It holds: the solver runs in a process that is ended when need be.
    gap
        Relative gap at which an integer program may stop.
    threads
        Threads of the solver.
    algorithm
        LP algorithm by name, `simplex` or `ipx` (for large degenerate programs).
    seed
        Random seed of the solver.
    exact
        Evaluate the certified bound in rational arithmetic.
    progress
        Is told cost and bound of the integer program whenever they improve.
    keep_on_interrupt
        Ctrl-C gives the best so far back, if there is any, as `interrupted`.

    Returns
    -------
    Solution
        Never an exception for an infeasible problem, a time limit or a solver that fails: see
        `termination`, `certificate`, `infeasibility` and `note`.

    Raises
    ------
    InputError
        For an unknown formulation, route or method, or a limit that is not a positive number.
    KeyboardInterrupt
        On Ctrl-C, unless `keep_on_interrupt` has something to keep.
    """
    _check(problem, formulation, route, method)
    method, why = _method(problem, formulation, route, method)
    options = RunOptions(time_limit, gap, threads, algorithm, seed)
    started = time.perf_counter()
    scaled, unit = _in_units(problem)
    tried, ending, note = _attempt_within(
        *(scaled, formulation, route, method, options),
        _teller(progress, unit),
        keep_on_interrupt=keep_on_interrupt,
    )
    blank = Solution(
        formulation,
        route,
        ending or tried.answer.termination,
        seconds=tried.seconds if ending is None else time.perf_counter() - started,
        versions=versions(),
        note=note or tried.answer.note,
        method=f"{method}: {why}" if method else "",
        history=_history(tried.answer.history, unit),
    )
    if tried.why is not None:
        return _infeasible(blank, tried.why, relaxed=tried.relaxed)
    solution = _certified(blank, problem, tried, unit, exact=exact)
    wrong = _contradiction(problem, solution)
    if wrong:
        # No number of an answer that contradicts the data or itself is to be used.
        return replace(
            blank, termination=Termination.NUMERICS, certificate=solution.certificate, note=wrong
        )
    return solution


@cache
def versions() -> dict[str, str]:
    """Versions of whatever had a hand in a result."""
    from importlib.metadata import version

    import workbench

    return {
        "workbench": workbench.__version__,
        **{name: version(name) for name in ("highspy", "pyomo", "numpy")},
    }


def _method(
    problem: AssignmentProblem | TypedProblem, formulation: str, route: str, method: str
) -> tuple[str, str]:
    """Which method solves a program, and why; two empty texts where there is no choice."""
    if formulation not in METHODS:
        return "", ""
    if method != "auto":
        return method, "as asked"
    if isinstance(problem, TypedProblem):
        return _typed_method(problem, route)
    return (
        _typed_method(problem.typed, route)
        if formulation == "typed"
        else _ip_method(problem, route)
    )


def _typed_method(problem: TypedProblem, route: str) -> tuple[str, str]:
    types, classes = problem.shape
    if route == "arrays" and too_large(problem):
        return "cutting-planes", f"{classes} worker classes are many"
    return "lp", f"{types} × {classes} classes"


def _ip_method(problem: AssignmentProblem, route: str) -> tuple[str, str]:
    if route == "pyomo":
        return "highs", "the Pyomo model goes to the solver as it is"
    n, m = problem.shape
    if n * m <= TINY:
        return "highs", f"{n} × {m} pairs are few"
    kinds = problem.typed.shape[0]
    if kinds > MOST_CLASSES or n < ALIKE * kinds:
        return "mip", f"of {n} tasks {kinds} differ: too few are alike for patterns"
    return "patterns", f"{n} tasks are of {kinds} kinds only"


def _teller(progress: Callable[[Moment], None] | None, unit: float) -> Callable[[Attempt], None]:
    """Pass on the latest moment of each report."""

    def tell(tried: Attempt) -> None:
        if progress is not None and tried.answer.history:
            progress(_history(tried.answer.history[-1:], unit)[0])

    return tell


def _history(moments: tuple[Moment, ...], unit: float) -> tuple[Moment, ...]:
    """The same in the problem's own prices."""
    return tuple(
        Moment(
            moment.seconds,
            None if moment.objective is None else moment.objective * unit,
            None if moment.bound is None else moment.bound * unit,
        )
        for moment in moments
    )


def _check(
    problem: AssignmentProblem | TypedProblem, formulation: str, route: str, method: str
) -> None:
    if formulation not in FORMULATIONS:
        raise InputError(f"formulation {formulation!r} is unknown: use {', '.join(FORMULATIONS)}")
    if route not in ROUTES:
        raise InputError(f"route {route!r} is unknown: use {' or '.join(ROUTES)}")
    allowed = METHODS.get(formulation, ("auto",))
    if method not in allowed:
        raise InputError(
            f"method {method!r} is not one of formulation {formulation!r}: use {', '.join(allowed)}"
        )
    if route == "pyomo" and method not in ("auto", "highs", "lp"):
        raise InputError(f"method {method!r} works on arrays: use --route arrays")
    if isinstance(problem, TypedProblem) and formulation != "typed":
        raise InputError("a problem stated by class has only the formulation 'typed'")


@dataclass(frozen=True)
class Attempt:
    """All that one solve brings back: an answer, the relaxation before it, or why there is none."""

    answer: Answer
    relaxed: Answer | None = None
    why: Infeasibility | None = None

    @property
    def seconds(self) -> float:
        """Time in the solver."""
        return self.answer.seconds + (0.0 if self.relaxed is None else self.relaxed.seconds)


def _attempt_within(
    problem: AssignmentProblem | TypedProblem,
    formulation: str,
    route: str,
    method: str,
    options: RunOptions,
    tell: Callable[[Attempt], None],
    *,
    keep_on_interrupt: bool,
) -> tuple[Attempt, Termination | None, str]:
    """Attempt, here or in a process that can be ended; how it was ended, if it was, and why."""
    latest: Attempt | None = None

    def keep(tried: Attempt) -> None:
        nonlocal latest
        latest = tried
        tell(tried)

    job = (problem, formulation, route, method, options)
    try:
        if options.time_limit is None:
            return attempt(*job, None, keep), None, ""
        until = time.time() + options.time_limit
        outcome = call_within(options.time_limit, attempt, *job, until, on_report=keep)
    except KeyboardInterrupt:
        if latest is None or not keep_on_interrupt:
            raise
        return latest, Termination.INTERRUPTED, ""
    latest = outcome.latest or Attempt(Answer(Termination.TIME_LIMIT))
    return latest, outcome.ending, outcome.note


def attempt(
    problem: AssignmentProblem | TypedProblem,
    formulation: str,
    route: str,
    method: str,
    options: RunOptions,
    until: float | None,
    report: Callable[[Attempt], None],
) -> Attempt:
    """Solve a formulation, giving the best so far to `report`; explain what is infeasible.

    `until` is the time of the clock by which HiGHS is to stop.
    """

    def left() -> RunOptions:
        if until is None:
            return options
        return replace(options, time_limit=max(until - time.time(), LEAST_SECONDS))

    def explained(relaxed: Answer | None = None) -> Attempt:
        note = "infeasible by the solver's word: there was no time to prove it and say why"
        report(Attempt(Answer(Termination.INFEASIBLE, note=note), relaxed))
        why = explain(problem, replace(options, time_limit=None))
        return Attempt(Answer(Termination.INFEASIBLE), relaxed, why)

    if len(problem.uncoverable()):
        return explained()
    if isinstance(problem, TypedProblem) or formulation != "ip":
        inner = problem
        if isinstance(problem, AssignmentProblem) and formulation == "typed":
            inner = problem.typed
        answer = _linear(inner, formulation, route, method, left())
        return explained() if answer.termination is Termination.INFEASIBLE else Attempt(answer)
    tried = _whole(problem, route, method, left, report)
    return explained(tried.relaxed) if tried.answer.termination is Termination.INFEASIBLE else tried


def _whole(
    problem: AssignmentProblem,
    route: str,
    method: str,
    left: Callable[[], RunOptions],
    report: Callable[[Attempt], None],
) -> Attempt:
    """Solve the integer program; `left` gives the options with the time that is left."""
    started = time.perf_counter()
    # The relaxation's dual values are the task weights, and prove a bound no solver is trusted
    # for. Counting equal tasks and workers makes it cheap.
    relaxed = _linear(problem.typed, "typed", "arrays", "auto", left())
    if relaxed.termination is Termination.INFEASIBLE:
        return Attempt(relaxed, relaxed)
    best = _whole_start(problem, relaxed)
    told = _Told(problem, relaxed, report, started)
    told.tell(Answer(Termination.TIME_LIMIT, best, bound=_bound_of(problem, relaxed)))
    if method == "patterns" and relaxed.worker_prices is not None:
        planned = _by_patterns(problem, relaxed, best, left(), told)
        if planned.termination is Termination.OPTIMAL or left().time_limit == LEAST_SECONDS:
            return Attempt(planned, relaxed)
    best = told.answer.pairs
    if route == "pyomo":
        answer = run_pyomo(problem, "ip", left())
    elif method == "highs" or relaxed.pairs is None:
        answer = run_arrays(problem, "ip", left(), best, told.improved)
    else:
        answer = _from_start(problem, relaxed, best, left(), told)
    if answer.termination is Termination.INFEASIBLE:
        if best is not None:
            note = "the solver denies a solution that is known"
            answer = Answer(Termination.NUMERICS, best, note=note)
        return Attempt(answer, relaxed)
    if answer.pairs is None and answer.termination is not Termination.OPTIMAL:
        answer = replace(answer, pairs=told.answer.pairs)
    return Attempt(told.complete(answer), relaxed)


class _Told:
    """What has been reported of an integer program so far: pairs, bound, proofs and history."""

    def __init__(
        self,
        problem: AssignmentProblem,
        relaxed: Answer,
        report: Callable[[Attempt], None],
        started: float,
    ) -> None:
        self.problem, self.relaxed, self.report, self.started = problem, relaxed, report, started
        self.answer = Answer(Termination.TIME_LIMIT)

    def complete(self, answer: Answer) -> Answer:
        """An answer with the best bound and all the proofs so far, and its moment in history."""
        known, cost = self._cost(self.answer), self._cost(answer)
        if answer.pairs is not None and known < cost * (1 - OPTIMALITY):
            answer = replace(answer, pairs=self.answer.pairs)
            if answer.bound is not None and answer.bound > known * (1 + OPTIMALITY):
                # Tolerances that hide what is cheap: such a bound, and optimum, mean nothing.
                note = "the solver's bound denies a solution that is known"
                answer = replace(answer, bound=None, note=note)
                if answer.termination is Termination.OPTIMAL:
                    answer = replace(answer, termination=Termination.NUMERICS)
        cost = min(known, cost)
        bounds = [bound for bound in (answer.bound, self.answer.bound) if bound is not None]
        best = max(bounds, default=None)
        # The latest proof of a kind is the best: only better ones are told.
        kinds = {type(proof): proof for proof in (*self.answer.proofs, *answer.proofs)}
        proofs = tuple(kinds.values())
        seconds = time.perf_counter() - self.started
        history = self.answer.history
        if cost < np.inf or best is not None:
            history = (*history, Moment(seconds, cost if cost < np.inf else None, best))
        return replace(
            answer, pairs=answer.pairs, bound=best, proofs=proofs, history=history, seconds=seconds
        )

    def _cost(self, answer: Answer) -> float:
        if answer.pairs is None:
            return np.inf
        return float(self.problem.prices[self.problem.pairs] @ answer.pairs)

    def tell(self, answer: Answer) -> None:
        """Report an answer, and remember it."""
        self.answer = self.complete(answer)
        self.report(Attempt(self.answer, self.relaxed))

    def improved(self, _: float, bound: float, pairs: FloatArray) -> None:
        """Report a solution of branch and bound."""
        known = bound if np.isfinite(bound) else None
        whole = _matrix(self.problem, pairs, lift=False, whole=True)
        # The solver's tolerance is absolute: what it takes for a solution may be none.
        good = share_met(self.problem, whole) >= 1 - WHOLE_FEASIBILITY
        kept = whole[self.problem.pairs] if good else None
        self.tell(Answer(Termination.TIME_LIMIT, kept, bound=known))


def _bound_of(problem: AssignmentProblem, relaxed: Answer) -> float | None:
    """What the relaxation's dual values prove of the integer program."""
    weights, prices = _duals(problem.typed, relaxed, 1.0)
    if weights is None or prices is None or not np.isfinite([*weights, *prices]).all():
        return None
    return rounded_up(problem, lagrangian(problem, weights, prices), weights, prices)


def _linear(
    problem: AssignmentProblem | TypedProblem,
    formulation: str,
    route: str,
    method: str,
    options: RunOptions,
) -> Answer:
    """A linear program, by the route asked for."""
    if route == "pyomo":
        return run_pyomo(problem, formulation, options)
    if isinstance(problem, TypedProblem) and (
        method == "cutting-planes" or (method == "auto" and too_large(problem))
    ):
        return run_cutting_planes(problem, options)
    return run_arrays(problem, formulation, options)


def _from_start(
    problem: AssignmentProblem,
    relaxed: Answer,
    start: FloatArray | None,
    options: RunOptions,
    told: _Told,
) -> Answer:
    """Heuristic, then branch and bound on what it leaves open."""
    weights, prices = _duals(problem.typed, relaxed, 1.0)
    assert relaxed.pairs is not None
    assert weights is not None
    assert prices is not None
    return solve_from_start(
        problem,
        _matrix(problem.typed, relaxed.pairs, lift=True, whole=False),
        weights,
        prices,
        options,
        known=None if start is None else _matrix(problem, start, lift=False, whole=True),
        report=told.tell,
    )


def _by_patterns(
    problem: AssignmentProblem,
    relaxed: Answer,
    start: FloatArray | None,
    options: RunOptions,
    told: _Told,
) -> Answer:
    """Column generation: to the end where only it can get there, else while it gets on."""
    assert relaxed.worker_prices is not None
    planned = run_patterns(
        problem,
        np.maximum(relaxed.worker_prices, 0.0),
        options,
        told.tell,
        start=start,
        bound=told.answer.bound,
        patience=PATIENCE if len(problem.pairs[0]) <= CLOSABLE else None,
    )
    return told.complete(planned)


def _in_units(
    problem: AssignmentProblem | TypedProblem,
) -> tuple[AssignmentProblem | TypedProblem, float]:
    """The problem with prices near 1, where the solver's absolute tolerances mean something.

    Only prices far from 1 are touched, and by a power of two, so that nothing is rounded.
    """
    if problem.cost is None:
        return problem, 1.0
    highest = float(problem.prices[problem.pairs].max(initial=0.0))
    if highest == 0.0 or 0.01 <= highest <= 1e4:
        return problem, 1.0
    unit = 2.0 ** np.floor(np.log2(highest))
    return replace(problem, cost=problem.cost / unit), float(unit)


def _relaxed_duals(
    problem: AssignmentProblem, relaxed: Answer, unit: float
) -> tuple[FloatArray | None, FloatArray | None]:
    """Task weights and worker prices of the relaxation, unless they fail their own certificate."""
    weights, prices = _duals(problem.typed, relaxed, unit)
    if relaxed.pairs is None or weights is None:
        return None, None
    shares = _matrix(problem.typed, relaxed.pairs, lift=True, whole=False)
    proof = certify(problem, assignment=shares, task_weights=weights, worker_prices=prices)
    return (weights, prices) if proof.status == "proven" else (None, None)


def _certified(
    blank: Solution,
    problem: AssignmentProblem | TypedProblem,
    tried: Attempt,
    unit: float,
    *,
    exact: bool,
) -> Solution:
    """The answer in the problem's own terms, with what can be proven of it."""
    answer, whole = tried.answer, blank.formulation == "ip"
    lift = blank.formulation == "typed" and isinstance(problem, AssignmentProblem)
    inner = problem.typed if lift and isinstance(problem, AssignmentProblem) else problem
    weights = prices = assignment = objective = None
    if not whole:
        weights, prices = _duals(inner, answer, unit, lift=lift)
    elif tried.relaxed is not None and isinstance(problem, AssignmentProblem):
        weights, prices = _relaxed_duals(problem, tried.relaxed, unit)
    if answer.pairs is not None:
        assignment = _matrix(inner, answer.pairs, lift=lift, whole=whole)
        objective = float((problem.prices * assignment).sum())
    proofs = tuple(proof.scaled(unit) for proof in answer.proofs)
    certificate = certify(
        problem,
        assignment=assignment,
        task_weights=weights,
        worker_prices=prices,
        proofs=proofs,
        whole=whole,
        exact=exact,
    )
    claimed = None if answer.bound is None else answer.bound * unit
    if blank.formulation == "dual" and assignment is not None:
        objective = certificate.lower_bound
    return replace(
        blank,
        objective=objective,
        bound=_best_bound(problem, certificate.lower_bound, claimed),
        assignment=assignment,
        task_weights=weights,
        worker_prices=prices,
        certificate=certificate,
        proofs=proofs,
    )


def _contradiction(problem: AssignmentProblem | TypedProblem, solution: Solution) -> str:
    """What is wrong with an answer, in words; empty when nothing is."""
    objective, bound, certificate = solution.objective, solution.bound, solution.certificate
    if certificate.status == "failed":
        failed = ", ".join(check.name for check in certificate.checks if not check.passed)
        return f"the solver's answer fails its certificate: {failed}"
    if objective is not None and bound is not None:
        beyond = bound - objective
        if beyond > OPTIMALITY * cost_scale(problem, objective):
            return f"the solver claims a bound of {bound:g} beyond its own solution's {objective:g}"
    if solution.termination is Termination.OPTIMAL:
        if certificate.status != "proven" and _far_apart(problem):
            return (
                "prices lie too far apart for the solver to prove an optimum: give them in one unit"
            )
        if solution.assignment is None:
            return "the solver claims an optimum and gives none"
        if solution.formulation != "ip" and certificate.status != "proven":
            return "the optimum could not be proven"
    return ""


def _infeasible(blank: Solution, why: Infeasibility, *, relaxed: Answer | None) -> Solution:
    """An infeasible problem explained, unless what was found contradicts it.

    With a solved relaxation it is whole assignments that the solver denies, otherwise any.
    """
    whole = relaxed is not None and relaxed.pairs is not None
    if not why.proven and (why.scale_enough if whole else why.scale_limit) >= 1:
        note = "the solver denies a solution that the data allow"
        return replace(blank, termination=Termination.NUMERICS, note=note)
    certificate = Certificate("infeasible" if why.proven else "unproven")
    return replace(blank, certificate=certificate, infeasibility=why)


def _whole_start(problem: AssignmentProblem, relaxed: Answer) -> FloatArray | None:
    """Round the relaxation to a whole solution for branch and bound to start from, if it can be."""
    if relaxed.pairs is None:
        return None
    assignment = rounded(problem, _matrix(problem.typed, relaxed.pairs, lift=True, whole=False))
    return assignment[problem.pairs] if share_met(problem, assignment) >= 1 else None


def _duals(
    problem: AssignmentProblem | TypedProblem, answer: Answer, unit: float, *, lift: bool = True
) -> tuple[FloatArray | None, FloatArray | None]:
    """Task weights and worker prices, signs cleaned, lifted from classes to tasks and workers."""
    if answer.task_weights is None or answer.worker_prices is None:
        return None, None
    weights = np.maximum(answer.task_weights, 0.0) * unit
    prices = np.maximum(answer.worker_prices, 0.0) * unit
    if lift and isinstance(problem, TypedProblem):
        return problem.lift_tasks(weights), problem.lift_workers(prices)
    return weights, prices


def _matrix(
    problem: AssignmentProblem | TypedProblem, pairs: FloatArray, *, lift: bool, whole: bool
) -> FloatArray:
    """The answer's pairs as a matrix; an integer program's rounded to what it claims to be."""
    matrix = np.zeros(problem.shape)
    matrix[problem.pairs] = np.round(pairs) + 0.0 if whole else pairs
    return problem.lift(matrix) if lift and isinstance(problem, TypedProblem) else matrix


def _best_bound(
    problem: AssignmentProblem | TypedProblem, certified: float | None, claimed: float | None
) -> float | None:
    """The certified bound, or branch and bound's where that is higher.

    Branch and bound prunes within 1e-9 of its best cost; whole prices allow rounding that up. With
    prices too far apart for the solver's tolerance its bound is not believed.
    """
    if claimed is None or _far_apart(problem):
        return certified
    if isinstance(problem, AssignmentProblem) and problem.integral_cost:
        claimed = float(np.ceil(claimed - 1e-5))
    return claimed if certified is None else max(certified, claimed)


def _far_apart(problem: AssignmentProblem | TypedProblem) -> bool:
    """Whether the highest price is so far above the lowest that the solver may overlook it."""
    if problem.cost is None:
        return False
    prices = problem.prices[problem.pairs]
    positive = prices[prices > 0]
    return len(positive) > 0 and float(positive.max()) > SPREAD * float(positive.min())
