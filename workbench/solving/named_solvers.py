"""Solvers that Pyomo knows by name: found, or said how to install; asked, and heard alike."""

from __future__ import annotations

import contextlib
import math
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from workbench.base.errors import InputError
from workbench.solving.model_arrays import constraints_of, direction, values_of, variables_of
from workbench.solving.solution import Incumbent, Termination


class Solver(NamedTuple):
    """A solver as it is known here.

    Attributes
    ----------
    title
        How sentences call it.
    interfaces
        Pyomo's to it, in the order they are tried.
    install
        How to.
    exact
        Options without which it takes less than the optimum for one, or a plan that misses a row.
    """

    title: str
    interfaces: tuple[str, ...]
    install: str
    exact: Mapping[str, Any]


_HIGHS = {
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 1e-9,
    "primal_feasibility_tolerance": 1e-9,
    "mip_feasibility_tolerance": 1e-9,
}
SOLVERS = {
    "highs": Solver("HiGHS", (), "pip install highspy", {}),
    "appsi_highs": Solver("HiGHS", ("appsi_highs",), "pip install highspy", _HIGHS),
    "scip": Solver(
        "SCIP",
        ("scip_direct", "scip"),
        "pip install pyscipopt, or an executable `scip` on the PATH",
        {"numerics/feastol": 1e-9},
    ),
    "cbc": Solver(
        "CBC",
        ("cbc",),
        "pip install cbcbox, or an executable `cbc` on the PATH (apt install coinor-cbc)",
        {"primalTolerance": 1e-9},
    ),
    "gurobi": Solver(
        "Gurobi",
        ("gurobi_direct", "gurobi"),
        "pip install gurobipy, and a licence",
        {"MIPGap": 0, "FeasibilityTol": 1e-9},
    ),
    "glpk": Solver(
        "GLPK",
        ("glpk",),
        "an executable `glpsol` on the PATH (apt install glpk-utils)",
        {},
    ),
    "cplex": Solver(
        "CPLEX",
        ("cplex_direct", "cplex"),
        "pip install cplex, and a licence",
        {"mip_tolerances_mipgap": 0},
    ),
}
"""Those that are known better than by their name."""
NO_START = "Pyomo gives this solver no start; what it found was held against it all the same"


@dataclass(frozen=True, eq=False)
class Heard:
    """What a solver said of a model, unchecked.

    `termination` is None where the model is infeasible or unbounded, and the solver does not say
    which. `values` are by variable; `duals` and `reduced_costs` by name; `bound` is its own word.
    `seconds` are its own, where it tells them: what is imported for it does not count.
    """

    termination: Termination | None
    values: Any = None
    duals: dict[str, float] | None = None
    reduced_costs: dict[str, float] | None = None
    bound: float | None = None
    log: str = ""
    note: str = ""
    history: tuple[Incumbent, ...] = ()
    seconds: float | None = None


class Found(NamedTuple):
    """A solver that is here: its name, Pyomo's interface to it, and whether that is of today's."""

    name: str
    interface: Any
    modern: bool


def found(name: str) -> Found:
    """Find a solver.

    Raises
    ------
    InputError
        Pyomo does not know it, or it is not installed.
    """
    import pyomo.environ as pyo
    from pyomo.common.log import LoggingIntercept
    from pyomo.contrib.solver.common.factory import SolverFactory

    known = SOLVERS.get(name)
    with LoggingIntercept(module="pyomo"):
        for interface in known.interfaces if known else (name,):
            if interface in SolverFactory and not interface.startswith("appsi"):
                solver, modern = SolverFactory(interface), True
                if solver.available():
                    return Found(name, solver, modern)
                continue
            solver = pyo.SolverFactory(interface, **_executable(interface))
            if _is_there(solver):
                return Found(name, solver, False)
    if known:
        raise InputError(f"solver {name!r} is not installed: {known.install}")
    raise InputError(
        f"solver {name!r}: Pyomo knows none of that name that is installed; give "
        f"{', '.join(SOLVERS)} or another of `pyomo help --solvers`"
    )


def _executable(interface: str) -> dict[str, str]:
    """Where the wheel of CBC has it: that is on no PATH."""
    if interface == "cbc":
        with contextlib.suppress(ImportError):
            return {"executable": import_module("cbcbox").cbc_bin_path()}
    return {}


def _is_there(solver: Any) -> bool:
    try:
        return bool(solver.available(exception_flag=False))
    except Exception:  # an interface may fail in any way where its solver is missing
        return False


def ask(
    solver: Found,
    model: Any,
    options: Mapping[str, Any],
    time_limit: float | None,
    *,
    started: bool,
    whole: bool,
    keep_on_interrupt: bool,
) -> Heard:
    """Ask a solver, from the values that the model's variables have if it is `started`.

    Raises
    ------
    InputError
        It does not take the model or the options.
    """
    exact = SOLVERS[solver.name].exact if solver.name in SOLVERS else {}
    options = {**(exact if whole else {}), **options}
    modern = solver.modern
    way = _ask_modern if modern else _ask_classic
    with _held_back(keep_on_interrupt and not modern) as pressed:
        try:
            heard = way(solver, model, options, time_limit, started=started, whole=whole)
        except (KeyboardInterrupt, InputError):
            raise
        except Exception as error:
            words = " ".join(str(error).split()) or type(error).__name__
            raise InputError(f"solver {solver.name!r} does not take this: {words[:300]}") from error
    if pressed:
        return Heard(Termination.INTERRUPTED, heard.values, bound=heard.bound, log=heard.log)
    return heard


def _ask_modern(
    solver: Found,
    model: Any,
    options: Mapping[str, Any],
    time_limit: float | None,
    *,
    started: bool,
    whole: bool,
) -> Heard:
    """By the interfaces of `pyomo.contrib.solver`."""
    from pyomo.common.log import LoggingIntercept
    from pyomo.contrib.solver.common.results import SolutionStatus

    interface = solver.interface
    given: dict[str, Any] = {"time_limit": time_limit, "solver_options": dict(options)}
    if "warmstart_discrete_vars" in interface.config:
        given["warmstart_discrete_vars"] = started
    ignored = started and "warmstart_discrete_vars" not in interface.config
    with LoggingIntercept(module="pyomo"):
        results = interface.solve(
            model, load_solutions=False, raise_exception_on_nonoptimal_result=False, **given
        )
    ending = _MODERN.get(results.termination_condition.name, Termination.NUMERICS)
    has = results.solution_status in (SolutionStatus.optimal, SolutionStatus.feasible)
    has = has and ending in _ANSWERED
    loader, duals, costs = results.solution_loader, None, None
    if has and not whole and ending is Termination.OPTIMAL:
        duals = _named(loader.get_duals)
        costs = _named(loader.get_reduced_costs)
    return Heard(
        ending,
        loader.get_vars() if has else None,
        duals,
        costs,
        _number(results.objective_bound),
        results.solver_log or "",
        _failed(ending, results.solver_log or "") or NO_START * ignored,
    )


def _ask_classic(
    solver: Found,
    model: Any,
    options: Mapping[str, Any],
    time_limit: float | None,
    *,
    started: bool,
    whole: bool,
) -> Heard:
    """By the interfaces that `pyomo.environ.SolverFactory` makes."""
    from pyomo.common.log import LoggingIntercept
    from pyomo.common.tee import capture_output

    interface = solver.interface
    given: dict[str, Any] = {"options": dict(options)}
    if time_limit is not None:
        given["timelimit"] = time_limit
    takes = bool(interface.warm_start_capable())
    if started and takes:
        given["warmstart"] = True
    with _imported(model, () if whole else ("dual", "rc")) as suffixes:
        with LoggingIntercept(module="pyomo"), capture_output(capture_fd=False) as log:
            results = interface.solve(model, load_solutions=False, tee=True, **given)
            has = len(results.solution) > 0
            if has:
                model.solutions.load_from(results)
        ending = _CLASSIC.get(str(results.solver.termination_condition), Termination.NUMERICS)
        values = values_of(model) if has and ending in _ANSWERED else None
        duals, costs = (
            {key.name: float(value) for key, value in suffix.items() if key.name in known} or None
            for suffix, known in zip(suffixes or ({}, {}), _names(model), strict=True)
        )
    text = log.getvalue()
    unknown = next((line for line in text.splitlines() if _UNKNOWN.search(line)), "")
    if unknown:
        raise InputError(f"options: {unknown.strip()}")
    side = "lower_bound" if direction(model) > 0 else "upper_bound"
    bound = _number(getattr(results.problem, side, None))
    if ending is not Termination.OPTIMAL:
        duals = costs = None
    note = _failed(ending, text) or NO_START * (started and not takes)
    return Heard(ending, values, duals, costs, bound, text, note)


@contextmanager
def _imported(model: Any, names: tuple[str, ...]) -> Iterator[list[Any]]:
    """Ask for dual values and reduced costs, in the model's own suffixes where it has them."""
    import pyomo.environ as pyo

    added = [name for name in names if model.component(name) is None]
    for name in added:
        model.add_component(name, pyo.Suffix(direction=pyo.Suffix.IMPORT))
    try:
        yield [model.component(name) for name in names]
    finally:
        for name in added:
            model.del_component(name)


@contextmanager
def _held_back(asked: bool) -> Iterator[list[int]]:
    """Keep Ctrl-C from this process once: a solver of its own ends by it and writes what it has."""
    pressed: list[int] = []
    if not asked or threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, _: Any) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _named(get: Any) -> dict[str, float] | None:
    """Values by the names of what they are of; None where an interface has none."""
    try:
        return {key.name: float(value) for key, value in get().items()}
    except (NotImplementedError, RuntimeError):
        return None


def _names(model: Any) -> tuple[set[str], set[str]]:
    """Names of the model's own rows and variables: solvers add some of theirs."""
    return {row.name for row in constraints_of(model)}, {v.name for v in variables_of(model)}


def _failed(ending: Termination | None, log: str) -> str:
    """What a solver that failed said last."""
    if ending is not Termination.NUMERICS:
        return ""
    last = next((line.strip() for line in reversed(log.splitlines()) if line.strip()), "")
    return f"the solver failed{f'; its last words: {last}' if last else ''}"


def _number(value: Any) -> float | None:
    """A bound, where there is one."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


_ANSWERED = (
    Termination.OPTIMAL,
    Termination.TIME_LIMIT,
    Termination.SEARCH_ENDED,
    Termination.INTERRUPTED,
)
_UNKNOWN = re.compile(r"No match for|Unrecognized parameter")
_MODERN: dict[str, Termination | None] = {
    "convergenceCriteriaSatisfied": Termination.OPTIMAL,
    "provenInfeasible": Termination.INFEASIBLE,
    "unbounded": Termination.UNBOUNDED,
    "infeasibleOrUnbounded": None,
    "maxTimeLimit": Termination.TIME_LIMIT,
    "iterationLimit": Termination.SEARCH_ENDED,
    "objectiveLimit": Termination.SEARCH_ENDED,
    "interrupted": Termination.INTERRUPTED,
}
_CLASSIC: dict[str, Termination | None] = {
    "optimal": Termination.OPTIMAL,
    "globallyOptimal": Termination.OPTIMAL,
    "infeasible": Termination.INFEASIBLE,
    "unbounded": Termination.UNBOUNDED,
    "infeasibleOrUnbounded": None,
    "maxTimeLimit": Termination.TIME_LIMIT,
    "maxIterations": Termination.SEARCH_ENDED,
    "maxEvaluations": Termination.SEARCH_ENDED,
    "minFunctionValue": Termination.SEARCH_ENDED,
    "other": Termination.SEARCH_ENDED,
    "userInterrupt": Termination.INTERRUPTED,
    "resourceInterrupt": Termination.INTERRUPTED,
    "noSolution": None,
}
