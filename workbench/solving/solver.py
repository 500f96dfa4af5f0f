"""`solve`: one call for every formulation and both routes, with what is proven of the answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.solving.certify import OPTIMALITY, certify, cost_scale, price_step_of
from workbench.solving.cutting_planes import too_large
from workbench.solving.deadline import call_within
from workbench.solving.feasibility import explain
from workbench.solving.highs import LpAlgorithm, RunOptions
from workbench.solving.integer_program import (
    ALIKE,
    LEAST_SECONDS,
    Attempt,
    labels_count,
    solve_whole,
)
from workbench.solving.linear import lifted, solve_linear
from workbench.solving.scaling import in_own_unit, in_unit, view
from workbench.solving.solution import (
    Certificate,
    Incumbent,
    Infeasibility,
    RawAnswer,
    Solution,
    Termination,
)

ROUNDING = 1e-12
"""Relative distance of two bounds that counts as none."""
FORMULATIONS = ("ip", "relaxation", "dual", "typed")
ROUTES = ("arrays", "pyomo")
METHODS = {
    "ip": ("auto", "patterns", "mip", "highs"),
    "typed": ("auto", "lp", "cutting-planes"),
}
"""By formulation; the others leave no choice."""

TINY = 600
"""Pairs up to which branch and bound is done before anything else has begun."""


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
    progress: Callable[[Incumbent], None] | None = None,
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
        column generation; `mip`, a heuristic and a bound by label counts, then branch and bound on
        what they leave open; `highs`, branch and bound on the program as it stands. Of
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
    tried, ending, note = _attempt_within(
        *(problem, formulation, route, method, options),
        lambda tried: _tell(progress, tried),
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
        history=tried.answer.history,
    )
    if tried.why is not None:
        return _infeasible(blank, tried.why)
    solution = _certified(blank, problem, tried, exact=exact)
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
    if labels_count(problem):
        return "patterns", f"of {n} tasks {kinds} differ; label counts first, as prices are equal"
    if n < ALIKE * kinds:
        return "patterns", f"of {n} tasks {kinds} differ, and prices do"
    return "patterns", f"{n} tasks are of {kinds} kinds only"


def _tell(progress: Callable[[Incumbent], None] | None, tried: Attempt) -> None:
    """Pass on the latest moment of a report."""
    if progress is not None and tried.answer.history:
        progress(tried.answer.history[-1])


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
        last, ending, note = call_within(options.time_limit, attempt, *job, until, on_report=keep)
    except KeyboardInterrupt:
        if latest is None or not keep_on_interrupt:
            raise
        return latest, Termination.INTERRUPTED, ""
    return last or Attempt(RawAnswer(Termination.TIME_LIMIT)), ending, note


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

    def explained(relaxed: RawAnswer | None = None) -> Attempt:
        note = "infeasible by the solver's word: there was no time to prove it and say why"
        report(Attempt(RawAnswer(Termination.INFEASIBLE, note=note), relaxed))
        why = explain(problem, left())
        return Attempt(RawAnswer(Termination.INFEASIBLE), relaxed, why)

    if len(problem.uncoverable()):
        return explained()
    if isinstance(problem, TypedProblem) or formulation != "ip":
        answer = _linear(problem, formulation, route, method, left())
        return explained() if answer.termination is Termination.INFEASIBLE else Attempt(answer)
    tried = solve_whole(problem, route, method, left, report)
    return explained(tried.relaxed) if tried.answer.termination is Termination.INFEASIBLE else tried


def _linear(
    problem: AssignmentProblem | TypedProblem,
    formulation: str,
    route: str,
    method: str,
    options: RunOptions,
) -> RawAnswer:
    """A linear program, solved in a unit of money of its own."""
    if isinstance(problem, TypedProblem):
        inner, unit = in_own_unit(problem)
        answer = solve_linear(inner, formulation, route, method, options)
        weights, prices = answer.task_weights, answer.worker_prices
        return replace(
            answer,
            task_weights=None if weights is None else weights * unit,
            worker_prices=None if prices is None else prices * unit,
            bound=None if answer.bound is None else answer.bound * unit,
            history=in_unit(answer.history, unit),
        )
    seen = view(problem, whole=False)
    if formulation != "typed":
        return seen.back(solve_linear(seen.inner, formulation, route, method, options))
    typed = seen.inner.typed
    answer = solve_linear(typed, formulation, route, method, options)
    return seen.back(lifted(typed, answer, seen.inner.pairs))


def _certified(
    blank: Solution, problem: AssignmentProblem | TypedProblem, tried: Attempt, *, exact: bool
) -> Solution:
    """The answer with what can be proven of it."""
    answer, whole = tried.answer, blank.formulation == "ip"
    assignment = objective = None
    if answer.pairs is not None:
        assignment = _matrix(problem, answer.pairs, whole=whole)
        objective = float((problem.prices * assignment).sum())
    weights, prices = _weights(problem, tried.relaxed) if whole else _duals(answer)
    certificate = certify(
        problem,
        assignment=assignment,
        task_weights=weights,
        worker_prices=prices,
        proofs=answer.proofs,
        whole=whole,
        exact=exact,
    )
    if blank.formulation == "dual" and assignment is not None:
        objective = certificate.lower_bound
    return replace(
        blank,
        objective=objective,
        bound=_best_bound(problem, certificate.lower_bound, answer.bound),
        assignment=assignment,
        task_weights=weights,
        worker_prices=prices,
        certificate=certificate,
        proofs=answer.proofs,
    )


def _weights(
    problem: AssignmentProblem | TypedProblem, relaxed: RawAnswer | None
) -> tuple[FloatArray | None, FloatArray | None]:
    """Dual values of the relaxation, unless they fail their own certificate."""
    if relaxed is None or relaxed.pairs is None or relaxed.task_weights is None:
        return None, None
    weights, prices = _duals(relaxed)
    shares = _matrix(problem, relaxed.pairs, whole=False)
    proof = certify(problem, assignment=shares, task_weights=weights, worker_prices=prices)
    return (weights, prices) if proof.status == "proven" else (None, None)


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


def _infeasible(blank: Solution, why: Infeasibility) -> Solution:
    """An infeasible problem explained, unless what was found contradicts it."""
    whole = blank.formulation == "ip"
    if not why.proven and (why.scale_enough if whole else why.scale_limit) >= 1:
        note = "the solver denies a solution that the data allow"
        return replace(blank, termination=Termination.NUMERICS, note=note)
    certificate = Certificate("infeasible" if why.proven else "unproven")
    return replace(blank, certificate=certificate, infeasibility=why)


def _duals(answer: RawAnswer) -> tuple[FloatArray | None, FloatArray | None]:
    """Task weights and worker prices, signs cleaned."""
    if answer.task_weights is None or answer.worker_prices is None:
        return None, None
    return np.maximum(answer.task_weights, 0.0), np.maximum(answer.worker_prices, 0.0)


def _matrix(
    problem: AssignmentProblem | TypedProblem, pairs: FloatArray, *, whole: bool
) -> FloatArray:
    """The answer's pairs as a matrix; an integer program's rounded to what it claims to be."""
    matrix = np.zeros(problem.shape)
    matrix[problem.pairs] = np.round(pairs) + 0.0 if whole else pairs
    return matrix


def _best_bound(
    problem: AssignmentProblem | TypedProblem, certified: float | None, claimed: float | None
) -> float | None:
    """The certified bound, or branch and bound's where that is higher.

    Branch and bound prunes within 1e-9 of its best cost; prices that are multiples of one step
    allow rounding that up.
    """
    if claimed is None:
        return certified
    if step := price_step_of(problem):
        claimed = step * float(np.ceil(claimed / step - 1e-5))
    # A proof found in another unit of money may lose the last bits on its way to the data.
    return claimed if certified is None or claimed > certified * (1 + ROUNDING) else certified
