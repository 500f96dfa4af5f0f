"""`solve`: one call for every formulation and both routes, with what is proven of the answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from models import AssignmentProblem, TypedProblem
from models.problem import FloatArray
from workbench.errors import InputError
from workbench.solving.array_route import run_arrays
from workbench.solving.certify import OPTIMALITY, certify, cost_scale
from workbench.solving.deadline import call_within
from workbench.solving.feasibility import explain, rounded, share_met
from workbench.solving.highs import LpAlgorithm, RunOptions
from workbench.solving.pattern_route import run_patterns
from workbench.solving.pyomo_route import run_pyomo
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
METHODS = ("auto", "mip", "patterns")

ALIKE = 4.0
"""Equal tasks a class, on average, from which on `auto` takes patterns."""
MOST_CLASSES = 200
"""Task classes up to which it does: each prices its own patterns."""
TINY = 600
"""Pairs up to which branch and bound is done before patterns have begun."""
CLOSABLE = 20_000
"""Pairs up to which branch and bound may close the gap that patterns leave."""
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
        Of the integer program. `mip`: branch and bound. `patterns`: column generation, where
        many tasks are alike. `auto`: whichever suits; `Solution.method` says which and why.
    time_limit
        Seconds in the solver. It holds: the solver runs in a process that is ended when need be.
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

    Returns
    -------
    Solution
        Never an exception for an infeasible problem, a time limit or a solver that fails: see
        `termination`, `certificate`, `infeasibility` and `note`.

    Raises
    ------
    InputError
        For an unknown formulation, route or method, or a limit that is not a positive number.
    """
    _check(problem, formulation, route, method)
    method, why = _method(problem, formulation, route, method)
    options = RunOptions(time_limit, gap, threads, algorithm, seed)
    started = time.perf_counter()
    scaled, unit = _in_units(problem)
    tried, ending, note = _attempt_within(
        scaled, formulation, route, method, options, _teller(progress, unit)
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
    """Which method solves the integer program, and why; two empty texts for linear programs."""
    if formulation != "ip" or not isinstance(problem, AssignmentProblem):
        return "", ""
    if method != "auto":
        return method, "as asked"
    if route == "pyomo":
        return "mip", "the Pyomo model goes to the solver as it is"
    n, m = problem.shape
    if n * m <= TINY:
        return "mip", f"{n} × {m} pairs are few"
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
    if method not in METHODS:
        raise InputError(f"method {method!r} is unknown: use {', '.join(METHODS)}")
    if method != "auto" and formulation != "ip":
        raise InputError(f"method {method!r} is for the integer program: leave it out for others")
    if method == "patterns" and route == "pyomo":
        raise InputError("patterns are priced on arrays: use --route arrays")
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
) -> tuple[Attempt, Termination | None, str]:
    """Attempt, here or in a process that can be ended; how it was ended, if it was, and why."""
    if options.time_limit is None:
        here = attempt(problem, formulation, route, method, options, None, tell)
        return here, None, ""
    outcome = call_within(
        options.time_limit,
        attempt,
        problem,
        formulation,
        route,
        method,
        options,
        time.time() + options.time_limit,
        on_report=tell,
    )
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
        return replace(options, time_limit=max(until - time.time(), 0.05))

    def over() -> bool:
        return until is not None and time.time() >= until

    def explained(relaxed: Answer | None = None) -> Attempt:
        note = "infeasible by the solver's word: there was no time to prove it and say why"
        report(Attempt(Answer(Termination.INFEASIBLE, note=note), relaxed))
        why = explain(problem, replace(options, time_limit=None))
        return Attempt(Answer(Termination.INFEASIBLE), relaxed, why)

    if len(problem.uncoverable()):
        return explained()
    relaxed = best = None
    inner = problem
    planned = Answer(Termination.TIME_LIMIT)
    if isinstance(problem, AssignmentProblem) and formulation == "ip":
        # The relaxation's dual values are the task weights, and prove a bound no solver is
        # trusted for. Counting equal tasks and workers makes it cheap.
        relaxed = run_arrays(problem.typed, "typed", left())
        if relaxed.termination is Termination.INFEASIBLE:
            return explained(relaxed)
        best = _whole_start(problem, relaxed)
        report(Attempt(replace(planned, pairs=best), relaxed))
        if method == "patterns" and relaxed.worker_prices is not None:
            planned = _by_patterns(problem, relaxed, best, left(), report)
            if planned.termination is Termination.OPTIMAL or over():
                return Attempt(planned, relaxed)
            best = planned.pairs
    elif isinstance(problem, AssignmentProblem) and formulation == "typed":
        inner = problem.typed
    started = time.perf_counter() - planned.seconds

    def with_plan(answer: Answer) -> Answer:
        """What branch and bound says, beside what patterns have proven before it."""
        if answer.bound is None or (planned.bound is not None and planned.bound > answer.bound):
            answer = replace(answer, bound=planned.bound)
        cost = None
        if answer.pairs is not None and isinstance(problem, AssignmentProblem):
            cost = float(problem.prices[problem.pairs] @ answer.pairs)
        moment = Moment(time.perf_counter() - started, cost, answer.bound)
        return replace(
            answer,
            proof=planned.proof,
            history=(*planned.history, moment),
            seconds=answer.seconds + planned.seconds,
        )

    def improved(_: float, bound: float, pairs: FloatArray) -> None:
        nonlocal best, planned
        best = pairs
        known = bound if np.isfinite(bound) else None
        better = with_plan(Answer(Termination.TIME_LIMIT, pairs, bound=known))
        planned = replace(planned, history=better.history)
        report(Attempt(better, relaxed))

    if route == "pyomo":
        answer = run_pyomo(inner, formulation, left())
    else:
        answer = run_arrays(inner, formulation, left(), best, improved)
    if answer.termination is Termination.INFEASIBLE:
        if best is not None:
            note = "the solver denies a solution that is known"
            return Attempt(Answer(Termination.NUMERICS, best, note=note), relaxed)
        return explained(relaxed)
    if answer.pairs is None and answer.termination is not Termination.OPTIMAL:
        answer = replace(answer, pairs=best)
    return Attempt(with_plan(answer) if formulation == "ip" else answer, relaxed)


def _by_patterns(
    problem: AssignmentProblem,
    relaxed: Answer,
    start: FloatArray | None,
    options: RunOptions,
    report: Callable[[Attempt], None],
) -> Answer:
    """Column generation: to the end where only it can get there, else while it gets on."""
    assert relaxed.worker_prices is not None
    return run_patterns(
        problem,
        np.maximum(relaxed.worker_prices, 0.0),
        options,
        lambda answer: report(Attempt(answer, relaxed)),
        start=start,
        patience=PATIENCE if len(problem.pairs[0]) <= CLOSABLE else None,
    )


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
    certificate = certify(
        problem,
        assignment=assignment,
        task_weights=weights,
        worker_prices=prices,
        patterns=None
        if answer.proof is None
        else replace(answer.proof, worker_prices=answer.proof.worker_prices * unit),
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

    Branch and bound prunes within 1e-9 of its best cost; whole prices allow rounding that up.
    """
    if claimed is None:
        return certified
    if isinstance(problem, AssignmentProblem) and problem.integral_cost:
        claimed = float(np.ceil(claimed - 1e-5))
    return claimed if certified is None else max(certified, claimed)
