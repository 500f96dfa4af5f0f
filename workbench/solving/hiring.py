"""`solve_selection`: the best set of at most K workers by integer programming, and what is proven.

Two formulations of `crowd_models.selection` lead to the solver. `slices` takes one size at a time,
best bound first, and stops when no size left can beat the best set found; `sizes` leaves the
choice to one model. Whatever they answer is checked by `selection_bound`, which trusts neither.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from crowd_models import SelectionProblem
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.solving.certificates import OPTIMALITY
from workbench.solving.highs import RunOptions
from workbench.solving.hiring_bound import (
    SelectionCertificate,
    SizeBounds,
    certify_selection,
    gain_scale,
    score_unit,
    selection_score,
    size_bounds,
)
from workbench.solving.hiring_branches import SECONDS, SizeTree, size_trees
from workbench.solving.pyomo_route import run_model
from workbench.solving.solution import Termination
from workbench.solving.solver import run_within, versions

FORMULATIONS = ("slices", "sizes")


@dataclass(frozen=True, eq=False)
class SelectionSolution:
    """The best set of workers that was found, and what is proven of it.

    Attributes
    ----------
    chosen
        Indices of the workers, ascending; None when there is no set.
    objective
        Σ G / √|S| of them, recomputed from the data.
    bound
        No set that may be hired has a higher score: by the certificate, or by the solver's
        branch and bound where that is lower (`certificate.upper_bound` tells them apart).
    slices
        How many sizes were solved as programs of their own, out of `sizes`: the others were
        proven to be no better beforehand. None for the formulation `sizes`.
    sizes
        How many sizes a set may have.
    seconds
        Time in the solver.
    note
        Why nobody can be hired, or what went wrong, if anything did.
    trees
        Of every size, what proves by branches that no set is better; None where nothing does.
    """

    formulation: str
    termination: Termination
    chosen: IntArray | None = None
    objective: float | None = None
    bound: float | None = None
    certificate: SelectionCertificate = field(
        default_factory=lambda: SelectionCertificate("unproven")
    )
    slices: int | None = None
    sizes: int = 0
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    note: str = ""
    trees: tuple[SizeTree, ...] | None = None

    @property
    def gap(self) -> float | None:
        """(bound − objective) / |objective|; 0 when proven best, None where it has no meaning."""
        return relative_gap(self.objective, self.bound, proven=self.certificate.status == "proven")

    @property
    def solved(self) -> bool:
        """Whether a best set was found and nothing speaks against it."""
        return self.termination is Termination.OPTIMAL and self.certificate.status in (
            "proven",
            "feasible",
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain types, for JSON."""
        return {
            "formulation": self.formulation,
            "termination": str(self.termination),
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "certificate": self.certificate.as_dict(),
            "chosen": None if self.chosen is None else self.chosen.tolist(),
            "slices": self.slices,
            "sizes": self.sizes,
            "seconds": self.seconds,
            "message": self.note or None,
            "versions": self.versions,
        }


def relative_gap(
    objective: float | None, bound: float | None, *, proven: bool = False
) -> float | None:
    """(bound − objective) / |objective|, and 0 when that is proven to be rounding.

    None when either is missing, and for an objective of 0 short of its bound.
    """
    if objective is None or bound is None:
        return None
    slack = bound - objective
    if proven or slack <= 1e-9 * abs(objective):
        return 0.0
    return slack / abs(objective) if objective else None


def solve_selection(
    problem: SelectionProblem,
    formulation: str = "slices",
    *,
    time_limit: float | None = None,
    threads: int = 1,
    seed: int = 0,
    start: IntArray | None = None,
) -> SelectionSolution:
    """Find the best set of at most K workers, within the money if there are prices.

    Which of several best sets is found is the solver's choice.

    Parameters
    ----------
    problem
        Gains, budget, and prices with the money, if they play a part.
    formulation
        `slices`: an integer program for each size that may hold the best set. `sizes`: one
        program over all sizes; of up to 2 m K constraints.
    time_limit
        Seconds in the solver, all slices together. It holds: the solver runs in a process that
        is ended when need be. The best set so far comes back, with the bound.
    threads, seed
        Threads and random seed of the solver.
    start
        A set known beforehand, indices. Sizes whose certified bound is not above its score are
        not solved as slices, and it is the answer when nothing better is found.

    Returns
    -------
    SelectionSolution
        Without prices, an optimum is `proven` by weak duality alone; with prices, by branches on
        workers, where these come to an end within five seconds. Otherwise what lies between
        `bound` and `certificate.upper_bound` is the solver's word. Never an exception
        for a time limit, a solver that fails, or when nobody can be hired: see `termination`,
        `certificate` and `note`.

    Raises
    ------
    InputError
        For an unknown formulation, a limit that is not a positive number, or a start that may
        not be hired.
    """
    if formulation not in FORMULATIONS:
        raise InputError(f"formulation {formulation!r} is unknown: use {' or '.join(FORMULATIONS)}")
    options = RunOptions(time_limit, threads=threads, seed=seed)
    blank = SelectionSolution(
        formulation, Termination.INFEASIBLE, sizes=problem.largest, versions=versions()
    )
    if not problem.largest:
        return replace(blank, certificate=certify_selection(problem), note=problem.nobody())
    bounds = size_bounds(problem)
    incumbent = None if start is None else _checked_start(problem, start, bounds)
    scaled, unit = _in_units(problem)
    caps = bounds.value / unit
    places = None if incumbent is None else np.searchsorted(problem.hireable, incumbent)
    started = time.perf_counter()
    job = (scaled, formulation, caps, places, options)
    latest, ending, note = run_within(time_limit, search, *job)
    answer = latest or RawSelection.nothing(caps, places)
    blank = replace(
        blank,
        termination=ending or answer.termination,
        slices=answer.solved if formulation == "slices" else None,
        seconds=answer.seconds if ending is None else time.perf_counter() - started,
        note=note or answer.note,
    )
    solution = _certified(blank, problem, answer, unit, bounds, incumbent)
    wrong = _contradiction(problem, solution, answer, unit, incumbent)
    if wrong:
        # No number of an answer that contradicts the data or itself is to be used.
        return replace(
            blank, termination=Termination.NUMERICS, certificate=solution.certificate, note=wrong
        )
    if solution.solved and solution.certificate.status == "feasible":
        return _branched(problem, solution, started, time_limit)
    return solution


def _branched(
    problem: SelectionProblem,
    solution: SelectionSolution,
    started: float,
    time_limit: float | None,
) -> SelectionSolution:
    """The same, proven by branches where these come to an end in time."""
    seconds = SECONDS
    if time_limit is not None:
        seconds = min(seconds, started + time_limit - time.perf_counter())
    assert solution.chosen is not None
    trees = size_trees(problem, solution.chosen, seconds)
    if trees is None:
        return solution
    *held, below = solution.certificate.checks
    certificate = replace(
        solution.certificate,
        status="proven",
        upper_bound=solution.objective,
        checks=(*held, replace(below, violation=0.0)),
    )
    return replace(solution, bound=solution.objective, certificate=certificate, trees=trees)


@dataclass(frozen=True, eq=False)
class RawSelection:
    """What a search has brought so far, unchecked and in the units of the scaled problem.

    `chosen` are places among the workers who may be hired; `claimed` is, for each size, the
    score that no set of it exceeds by the solver's word: infinite where it was not asked.
    """

    termination: Termination
    claimed: FloatArray
    chosen: IntArray | None = None
    solved: int = 0
    seconds: float = 0.0
    note: str = ""

    @classmethod
    def nothing(cls, caps: FloatArray, start: IntArray | None) -> RawSelection:
        """What is known before the search."""
        return cls(Termination.TIME_LIMIT, np.full(len(caps), np.inf), start)


def search(
    problem: SelectionProblem,
    formulation: str,
    caps: FloatArray,
    start: IntArray | None,
    options: RunOptions,
    until: float | None,
    report: Callable[[RawSelection], None],
) -> RawSelection:
    """Look for the best set, giving the best so far to `report`.

    `caps` bounds the score of every size; `until` is the time of the clock by which HiGHS is to
    stop.
    """
    left, best = options.countdown(until), RawSelection.nothing(caps, start)
    if formulation == "sizes":
        return _all_sizes(problem, best, left())
    # Sizes that may hold a better set than the best so far, highest bound first.
    for at in np.argsort(-caps, kind="stable").tolist():
        if best.chosen is not None and caps[at] <= selection_score(problem, best.chosen):
            break  # this size and all after it
        if until is not None and time.time() >= until:
            return best
        result = _one_size(problem, at + 1, left())
        best = _better(problem, best, result)
        if result.termination is not Termination.OPTIMAL:
            return replace(best, termination=result.termination, note=result.note)
        report(best)
    return replace(best, termination=Termination.OPTIMAL)


def _one_size(problem: SelectionProblem, size: int, options: RunOptions) -> RawSelection:
    """Solve the program of one size."""
    from crowd_models.selection import fixed_size

    model = fixed_size(problem, size)
    ran = run_model(model, options, integer=True)
    claimed = np.full(problem.largest, np.inf)
    if ran.bound is not None:
        claimed[size - 1] = ran.bound
    if ran.termination is Termination.INFEASIBLE:
        note = f"the solver finds no set of {size}, and there is one"
        return RawSelection(Termination.NUMERICS, claimed, None, 1, ran.seconds, note)
    chosen = None
    if ran.values is not None:
        hired = np.array([ran.values[x] for x in model.x.values()])
        chosen = np.flatnonzero(hired > 0.5)
        if not _is_whole(hired) or len(chosen) != size:
            note = f"the solver's answer is not a set of {size} workers"
            return RawSelection(Termination.NUMERICS, claimed, None, 1, ran.seconds, note)
    return RawSelection(ran.termination, claimed, chosen, 1, ran.seconds)


def _all_sizes(problem: SelectionProblem, blank: RawSelection, options: RunOptions) -> RawSelection:
    """Solve the program over all sizes."""
    from crowd_models.selection import all_sizes

    model = all_sizes(problem)
    ran = run_model(model, options, integer=True)
    claimed = blank.claimed if ran.bound is None else np.full(problem.largest, ran.bound)
    stopped = replace(blank, termination=ran.termination, claimed=claimed, seconds=ran.seconds)
    if ran.termination is Termination.INFEASIBLE:
        note = "the solver finds no set, and there is one"
        return replace(stopped, termination=Termination.NUMERICS, note=note)
    values = ran.values
    if values is None:
        return stopped
    size = max(model.s, key=lambda k: values[model.s[k]])
    hired = np.array([values[model.v[i, size]] for i in model.x])
    if _is_whole(hired) and np.count_nonzero(hired > 0.5) == size:
        result = RawSelection(ran.termination, blank.claimed, np.flatnonzero(hired > 0.5))
    else:
        # v is not declared whole without prices: among equal sets it may be a mixture of them.
        result = _one_size(problem, size, options)
    best = _better(problem, stopped, result)
    return replace(best, claimed=claimed, termination=result.termination, note=result.note)


def _is_whole(values: FloatArray) -> bool:
    """Whether every value is 0 or 1."""
    return bool(np.all(np.abs(values - (values > 0.5)) <= OPTIMALITY))


def _better(problem: SelectionProblem, best: RawSelection, other: RawSelection) -> RawSelection:
    """The better set of two, with the claims, the programs and the seconds of both."""
    chosen = best.chosen
    if other.chosen is not None and (
        chosen is None or selection_score(problem, other.chosen) > selection_score(problem, chosen)
    ):
        chosen = other.chosen
    return replace(
        best,
        chosen=chosen,
        claimed=np.minimum(best.claimed, other.claimed),
        solved=best.solved + other.solved,
        seconds=best.seconds + other.seconds,
    )


def _in_units(problem: SelectionProblem) -> tuple[SelectionProblem, float]:
    """The workers who may be hired, with numbers for which the solver's tolerances mean something.

    Gains are divided by a power of two, so that nothing is rounded and the best is near 1; the
    money becomes about 1000. A gain so low that nobody makes up for it is raised to one that
    still is: the best set does not hold that worker before or after.
    """
    who = problem.hireable
    gain = problem.gain[who]
    best = gain_scale(problem)
    exponent = math.frexp(best)[1]
    # The others of a set make up for (K − 1) · best; and where the best gain is below 0, any set
    # with such a worker stays below −2 · best.
    gain = np.ldexp(np.maximum(gain, -2.0 * problem.largest * best), -exponent)
    if problem.costs is None or not problem.money:
        # With no money at all, whoever may be hired is free.
        return SelectionProblem(gain, problem.budget), math.ldexp(1.0, exponent)
    shift = 10 - math.frexp(problem.money)[1]
    costs, money = np.ldexp(problem.costs[who], shift), math.ldexp(problem.money, shift)
    return SelectionProblem(gain, problem.budget, costs, money), math.ldexp(1.0, exponent)


def _checked_start(problem: SelectionProblem, start: IntArray, bounds: SizeBounds) -> IntArray:
    certificate = certify_selection(problem, np.asarray(start), bounds)
    if certificate.failed:
        raise InputError(
            f"start breaks {certificate.failed}: give indices of workers who may be hired"
        )
    return np.sort(start)


def _certified(
    blank: SelectionSolution,
    problem: SelectionProblem,
    answer: RawSelection,
    unit: float,
    bounds: SizeBounds,
    incumbent: IntArray | None,
) -> SelectionSolution:
    """The answer in the problem's own terms, with what can be proven of it."""
    chosen = incumbent if answer.chosen is None else problem.hireable[answer.chosen]
    certificate = certify_selection(problem, chosen, bounds)
    if certificate.upper_bound is None:
        return replace(blank, certificate=certificate)
    claimed = float(np.minimum(bounds.value, answer.claimed * unit).max())
    bound = min(claimed, certificate.upper_bound)
    if chosen is None:
        return replace(blank, bound=bound, certificate=certificate)
    objective = selection_score(problem, chosen)
    # The solver's bound may lie below the score by its tolerances.
    slack = OPTIMALITY * score_unit(problem, objective)
    if objective - slack <= bound < objective:
        bound = objective
    return replace(blank, chosen=chosen, objective=objective, bound=bound, certificate=certificate)


def _contradiction(
    problem: SelectionProblem,
    solution: SelectionSolution,
    answer: RawSelection,
    unit: float,
    incumbent: IntArray | None,
) -> str:
    """What is wrong with an answer, in words; empty when nothing is."""
    if solution.certificate.status == "failed":
        return f"the solver's answer fails its certificate: {solution.certificate.failed}"
    if answer.note:
        return answer.note
    for members in (solution.chosen, incumbent):
        if members is not None:
            score, claim = selection_score(problem, members), answer.claimed[len(members) - 1]
            if score - claim * unit > OPTIMALITY * score_unit(problem, score):
                return (
                    f"the solver claims that no set of {len(members)} workers has a score above "
                    f"{claim * unit:g}, and one has {score:g}"
                )
    if solution.termination is Termination.OPTIMAL:
        if solution.objective is None or solution.bound is None:
            return "the solver claims an optimum and gives none"
        beyond = solution.bound - solution.objective
        if beyond > OPTIMALITY * score_unit(problem, solution.objective):
            return "the optimum could not be proven"
    return ""
