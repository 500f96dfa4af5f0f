"""`solve`: one call for every formulation and both routes, with what is proven of the answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.problem import Problem
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.solving.array_route import lifted
from workbench.solving.certificates import OPTIMALITY, certify, cost_scale, primal_checks
from workbench.solving.cutting_planes import too_large
from workbench.solving.deadline import call_within
from workbench.solving.feasibility import explain
from workbench.solving.highs import RunOptions
from workbench.solving.integer_program import ALIKE, labels_count, solve_whole
from workbench.solving.linear import proven, solve_linear
from workbench.solving.patterns.pair_branching import proof_above
from workbench.solving.scaling import in_own_unit, view
from workbench.solving.solution import (
    Certificate,
    Incumbent,
    Infeasibility,
    Proof,
    RawAnswer,
    Solution,
    Termination,
)

ROUNDING = 1e-12
"""Relative distance of two bounds that counts as none."""
METHODS = {
    "ip": ("auto", "patterns", "mip", "highs"),
    "relaxation": ("auto",),
    "dual": ("auto",),
    "typed": ("auto", "lp", "cutting-planes"),
}
"""By formulation; the first is the default."""
FORMULATIONS = tuple(METHODS)
ROUTES = ("arrays", "pyomo")

TINY = 600
"""Pairs up to which plain branch and bound is fastest."""
PROVING = 5.0
"""Seconds for a proof of the optimum that branch and bound found."""


@dataclass(frozen=True)
class SolveOptions(RunOptions):
    """How to solve.

    Attributes
    ----------
    time_limit
        Seconds in the solver; without it, and with no gap, a large integer program may be worked at
        for ever. The limit holds: the solver runs in a process of its own, which is ended if need
        be.
    isolated
        False: in this process, so that the limit holds as well as the solver keeps it.
    gap
        Relative gap at which an integer program may stop.
    threads, seed
        Threads and random seed of the solver.
    algorithm
        LP algorithm by name, `simplex` or `ipx` (for large degenerate programs).
    route
        `arrays`: straight into HiGHS. `pyomo`: through the Pyomo model.
    method
        `auto` takes whichever suits; `Solution.method` says which and why. Of `ip`: `patterns`,
        column generation; `mip`, a heuristic and a bound by label counts, then branch and bound on
        what they leave open; `highs`, branch and bound on the program as it stands. Of
        `typed`: `lp`, as it stands; `cutting-planes`, for very many worker classes.
    exact
        Evaluate the certified bound in rational arithmetic.
    progress
        Is called with cost and bound of the integer program whenever they improve.
    keep_on_interrupt
        Ctrl-C gives the best so far back, if there is any, as `interrupted`.
    start
        A whole plan to start from, shape (n, m), of the integer program.
    """

    route: str = "arrays"
    method: str = "auto"
    exact: bool = False
    progress: Callable[[Incumbent], None] | None = None
    keep_on_interrupt: bool = False
    isolated: bool = True
    start: FloatArray | None = None

    def check(self, problem: Problem, formulation: str) -> None:
        """Raise InputError for what does not go together."""
        if formulation not in FORMULATIONS:
            raise InputError(
                f"formulation {formulation!r} is unknown: use {', '.join(FORMULATIONS)}"
            )
        if self.route not in ROUTES:
            raise InputError(f"route {self.route!r} is unknown: use {' or '.join(ROUTES)}")
        if self.method not in METHODS[formulation]:
            raise InputError(
                f"method {self.method!r} is not one of formulation {formulation!r}: use "
                f"{', '.join(METHODS[formulation])}"
            )
        if self.route == "pyomo" and self.method not in ("auto", "highs", "lp"):
            raise InputError(f"method {self.method!r} works on arrays, not on the Pyomo model")
        if isinstance(problem, AssignmentProblem) and problem.limited:
            if formulation != "ip":
                raise InputError(
                    f"least and most labels a task belong to the integer program: formulation "
                    f"{formulation!r} does not take them"
                )
            if self.route == "arrays" and self.method == "highs":
                raise InputError(
                    "method 'highs' does not take least and most labels a task: use patterns or mip"
                )
        if isinstance(problem, TypedProblem) and formulation != "typed":
            raise InputError("a problem stated by class has only the formulation 'typed'")
        if self.start is not None:
            self._check_start(problem, formulation)

    def _check_start(self, problem: Problem, formulation: str) -> None:
        """Refuse a start that is no plan, or of a formulation that has none."""
        if formulation != "ip":
            raise InputError("start: belongs to the integer program; leave it out")
        assert self.start is not None
        if np.shape(self.start) != problem.shape:
            shape = np.shape(self.start)
            raise InputError(f"start: has shape {shape}; the problem's is {problem.shape}")
        broken = [c.name for c in primal_checks(problem, self.start, whole=True) if not c.passed]
        if broken:
            raise InputError(f"start: is no plan of this problem, it fails {', '.join(broken)}")

    @property
    def run(self) -> RunOptions:
        """What HiGHS is given."""
        return RunOptions(**{field.name: getattr(self, field.name) for field in fields(RunOptions)})


def solve(problem: Problem, formulation: str = "ip", **options: Any) -> Solution:
    """Solve an assignment problem and check the answer against its data.

    Parameters
    ----------
    problem
        An `AssignmentProblem`, or a `TypedProblem` (then `formulation` must be `typed`).
    formulation
        `ip`: the integer program (1)–(3). `relaxation`: its linear relaxation. `dual`: the
        explicit dual of Section 4.3. `typed`: the relaxation over class counts, lifted back.
    options
        The fields of `SolveOptions`.

    Returns
    -------
    Solution
        Nothing is raised for an infeasible problem, a time limit or a solver that fails: see
        `termination`, `certificate`, `infeasibility` and `note`.

    Raises
    ------
    InputError
        For an unknown formulation, route or method, or a limit that is not a positive number.
    KeyboardInterrupt
        On Ctrl-C, unless `keep_on_interrupt` has something to keep.
    """
    asked = SolveOptions(**options)
    asked.check(problem, formulation)
    method, why = _method(problem, formulation, asked)
    started = time.perf_counter()
    latest, ending, note = _attempt_within(problem, formulation, method, asked)
    answer = latest or RawAnswer(Termination.TIME_LIMIT)
    blank = Solution(
        formulation,
        asked.route,
        ending or answer.termination,
        seconds=answer.seconds if ending is None else time.perf_counter() - started,
        versions=versions(),
        note=note or answer.note,
        method=f"{method}: {why}" if method else "",
        history=answer.history,
    )
    if answer.why is not None:
        return _infeasible(blank, answer.why)
    solution = _certified(blank, problem, answer, exact=asked.exact)
    if solution.solved and solution.certificate.status == "feasible":
        more = replace(answer, proofs=(*answer.proofs, *_small_proof(problem, solution, asked)))
        solution = _certified(blank, problem, more, exact=asked.exact)
    wrong = _contradiction(problem, solution)
    if wrong:
        # No number of an answer that contradicts the data or itself is to be used.
        return replace(
            blank, termination=Termination.NUMERICS, certificate=solution.certificate, note=wrong
        )
    return solution


def _small_proof(problem: Problem, solution: Solution, asked: SolveOptions) -> tuple[Proof, ...]:
    """What proves the cost of a small program that the solver has only its word for."""
    if not isinstance(problem, AssignmentProblem) or asked.method != "auto":
        return ()
    if math.prod(problem.shape) > TINY or not solution.objective:
        return ()
    apart = problem.price_step or 5e-7 * solution.objective
    proof = proof_above(problem, solution.objective - apart, 1e-4 * apart, PROVING)
    return () if proof is None else (proof,)


@cache
def versions() -> dict[str, str]:
    """Versions of whatever had a hand in a result."""
    from importlib.metadata import version

    import workbench

    return {
        "workbench": workbench.__version__,
        **{name: version(name) for name in ("highspy", "pyomo", "numpy")},
    }


def run_within(
    seconds: float | None,
    job: Callable[..., Any],
    *arguments: Any,
    on_report: Callable[[Any], None] | None = None,
) -> tuple[Any, Termination | None, str]:
    """Run `job(*arguments, until, report)`: here, or with a limit in a process that can be ended.

    `until` is the time of the clock by which HiGHS is to stop; None without a limit. Returns what
    `call_within` does.
    """
    if seconds is None:
        return job(*arguments, None, on_report or (lambda _: None)), None, ""
    until = time.time() + seconds
    return call_within(seconds, job, *arguments, until, on_report=on_report)


def _method(problem: Problem, formulation: str, asked: SolveOptions) -> tuple[str, str]:
    """Which method solves a program, and why; two empty texts where there is no choice."""
    if len(METHODS[formulation]) == 1:
        return "", ""
    if asked.method != "auto":
        return asked.method, "as asked"
    types, classes = problem.typed.shape
    if isinstance(problem, TypedProblem) or formulation == "typed":
        if asked.route == "arrays" and too_large(problem.typed):
            return "cutting-planes", f"{classes} worker classes are many"
        return "lp", f"{types} × {classes} classes"
    return _ip_method(problem, asked.route)


def _ip_method(problem: AssignmentProblem, route: str) -> tuple[str, str]:
    if route == "pyomo":
        return "highs", "the Pyomo model goes to the solver as it is"
    n, m = problem.shape
    types = problem.typed.shape[0]
    if n * m <= TINY:
        return "mip" if problem.limited else "highs", f"{n} × {m} pairs are few"
    if problem.limited:
        return "patterns", "tasks have a least or most number of labels"
    if labels_count(problem):
        return "patterns", f"of {n} tasks {types} differ; label counts first, as prices are equal"
    if n < ALIKE * types:
        return "patterns", f"of {n} tasks {types} differ, and prices do"
    return "patterns", f"{n} tasks are of {types} kinds only"


def _attempt_within(
    problem: Problem, formulation: str, method: str, asked: SolveOptions
) -> tuple[RawAnswer | None, Termination | None, str]:
    """Attempt, keeping the latest report where that is asked for on Ctrl-C."""
    latest: RawAnswer | None = None

    def keep(answer: RawAnswer) -> None:
        nonlocal latest
        latest = answer
        if asked.progress is not None and answer.history:
            asked.progress(answer.history[-1])

    job = (problem, formulation, asked.route, method, asked.run, asked.start)
    if asked.time_limit is not None and not asked.isolated:
        return attempt(*job, time.time() + asked.time_limit, keep), None, ""
    try:
        return run_within(asked.time_limit, attempt, *job, on_report=keep)
    except KeyboardInterrupt:
        if latest is None or not asked.keep_on_interrupt:
            raise
        return latest, Termination.INTERRUPTED, ""


def attempt(
    problem: Problem,
    formulation: str,
    route: str,
    method: str,
    options: RunOptions,
    start: FloatArray | None,
    until: float | None,
    report: Callable[[RawAnswer], None],
) -> RawAnswer:
    """Solve a formulation, giving the best so far to `report`; explain what is infeasible.

    `until` is the time of the clock by which HiGHS is to stop.
    """
    left = options.countdown(until)
    answer = RawAnswer(Termination.INFEASIBLE)
    if not len(problem.uncoverable()):
        if isinstance(problem, TypedProblem) or formulation != "ip":
            answer = _linear(problem, formulation, route, method, left())
        else:
            answer = solve_whole(problem, route, method, left, report, start)
    if answer.termination is not Termination.INFEASIBLE:
        return answer
    denied = RawAnswer(Termination.INFEASIBLE, relaxed=answer.relaxed)
    note = "infeasible by the solver's word: there was no time to prove it and say why"
    report(replace(denied, note=note))
    return replace(denied, why=explain(problem, left(), whole=formulation == "ip"))


def _linear(
    problem: Problem, formulation: str, route: str, method: str, options: RunOptions
) -> RawAnswer:
    """A linear program, solved in a unit of money of its own."""
    if isinstance(problem, TypedProblem):
        own, unit = in_own_unit(problem)
        return solve_linear(own, formulation, route, method, options).in_prices(unit)
    seen = view(problem, whole=False)
    if formulation != "typed":
        return seen.back(solve_linear(seen.inner, formulation, route, method, options))
    typed = seen.inner.typed
    answer = solve_linear(typed, formulation, route, method, options)
    return seen.back(lifted(typed, answer, seen.inner))


def _certified(blank: Solution, problem: Problem, answer: RawAnswer, *, exact: bool) -> Solution:
    """The answer with what can be proven of it."""
    whole = blank.formulation == "ip"
    assignment = objective = None
    if answer.pairs is not None:
        # An integer program's answer is rounded to what it claims to be.
        assignment = problem.matrix(np.round(answer.pairs) + 0.0 if whole else answer.pairs)
        objective = float((problem.prices * assignment).sum())
    weights, prices = _relaxed_duals(problem, answer.relaxed) if whole else answer.duals
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
    bound = _best_bound(problem, certificate.lower_bound, answer.bound)
    if objective is not None and bound is not None and bound > objective:
        # By no more than the solver's tolerances; by more it is a contradiction.
        near = bound - objective <= OPTIMALITY * cost_scale(problem, objective)
        bound = objective if near else bound
    return replace(
        blank,
        objective=objective,
        bound=bound,
        assignment=assignment,
        task_weights=weights,
        worker_prices=prices,
        certificate=certificate,
        proofs=answer.proofs,
    )


def _relaxed_duals(
    problem: Problem, relaxed: RawAnswer | None
) -> tuple[FloatArray | None, FloatArray | None]:
    """Dual values of the relaxation, unless they fail their own certificate."""
    proof = relaxed is not None and proven(problem, relaxed)
    return relaxed.duals if relaxed is not None and proof else (None, None)


def _contradiction(problem: Problem, solution: Solution) -> str:
    """What is wrong with an answer, in words; empty when nothing is."""
    objective, bound, certificate = solution.objective, solution.bound, solution.certificate
    if certificate.status == "failed":
        return f"the solver's answer fails its certificate: {certificate.failed}"
    beyond = 0.0 if objective is None or bound is None else bound - objective
    if objective is not None and beyond > OPTIMALITY * cost_scale(problem, objective):
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


def _best_bound(problem: Problem, certified: float | None, claimed: float | None) -> float | None:
    """The certified bound, or branch and bound's where that is higher.

    Branch and bound prunes within 1e-9 of its best cost; prices that are multiples of one step
    allow rounding that up.
    """
    if claimed is None:
        return certified
    step = 0.0 if isinstance(problem, TypedProblem) else problem.price_step
    if step:
        claimed = step * float(np.ceil(claimed / step - 1e-5))
    # A proof found in another unit of money may lose the last bits on its way to the data.
    return claimed if certified is None or claimed > certified * (1 + ROUNDING) else certified
