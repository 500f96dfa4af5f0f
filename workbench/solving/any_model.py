"""Any Pyomo model by any solver that Pyomo knows by name, its answer held to the model's own rows.

`highs` goes through our own door, as arrays: Pyomo's interface to it takes no start, and gives
nothing back where it is interrupted. The others are asked through Pyomo's interfaces.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.solving.deadline import LONGEST
from workbench.solving.highs import HighsRun, RunOptions, run, takes_option, without_banner
from workbench.solving.linear_model import LinearModel
from workbench.solving.model_arrays import (
    CompiledModel,
    by_constraint,
    checked,
    compiled,
    direction,
    fits,
    is_whole,
    objective_of,
    put,
    reduced_costs,
    slacks,
    values_of,
    variables_of,
)
from workbench.solving.named_solvers import SOLVERS, Heard, ask, found
from workbench.solving.solution import Check, Incumbent, Termination
from workbench.solving.solver import run_within

NEAR = 1e-6
"""Relative distance of a bound beyond its own solution's objective that is rounding."""
GIVEN = ("time_limit", "output_flag", "log_file", "log_to_console")
"""Options of HiGHS that are said otherwise."""
OURS = {"threads": "threads", "random_seed": "seed", "mip_rel_gap": "gap"}
"""Options of HiGHS that all our methods have, and what those call them."""


@dataclass(frozen=True, eq=False)
class ModelSolution:
    """What a solver made of a Pyomo model; the model's variables have the incumbent's values.

    Attributes
    ----------
    solver
        Its name.
    termination
        Why it stopped.
    objective
        Of the incumbent, evaluated; None where there is none.
    bound
        By the solver's word, None where it gives none.
    checks
        The incumbent against the model's own rows: `workbench.solving.model_arrays.checked`.
    duals, reduced_costs
        By name, of the optimum of a linear program where the solver gives them; None of a program
        with whole numbers, which has none.
    slacks
        How far each row is from its nearer bound, by name; None without an incumbent.
    seconds, log, note
        In the solver, what it wrote, and what went wrong.
    history
        Objective and bound as they improved, where the solver tells.
    """

    solver: str
    termination: Termination
    objective: float | None = None
    bound: float | None = None
    checks: tuple[Check, ...] = ()
    duals: dict[str, float] | None = None
    reduced_costs: dict[str, float] | None = None
    slacks: dict[str, float] | None = None
    seconds: float = 0.0
    log: str = ""
    note: str = ""
    history: tuple[Incumbent, ...] = ()

    @property
    def gap(self) -> float | None:
        """Relative distance of bound and objective; None where one is missing, or relative to 0."""
        if self.objective is None or self.bound is None:
            return None
        apart = abs(self.objective - self.bound)
        if apart <= 1e-9 * max(1.0, abs(self.objective)):
            return 0.0
        return apart / abs(self.objective) if self.objective else None

    @property
    def word(self) -> str:
        """The solver, as sentences name it."""
        return SOLVERS[self.solver].title if self.solver in SOLVERS else self.solver


@dataclass(frozen=True)
class SolveRequest:
    """How a model is to be solved: options by the solver's own names, seconds, progress."""

    options: Mapping[str, Any] = field(default_factory=dict)
    time_limit: float | None = None
    progress: Callable[[Incumbent], None] | None = None
    keep_on_interrupt: bool = False
    started: bool = False


def highs_options(options: Mapping[str, Any], time_limit: float | None = None) -> RunOptions:
    """Take options by their HiGHS names.

    Raises
    ------
    InputError
        HiGHS does not know one, or not such a value.
    """
    ours = {OURS[name]: value for name, value in options.items() if name in OURS}
    more = tuple((name, value) for name, value in options.items() if name not in OURS)
    chosen = RunOptions(time_limit=time_limit, more=more, **ours)
    for name, value in more:
        if name in GIVEN or not takes_option(name, value):
            raise InputError(f"options: HiGHS has no {name}={value!r} here")
    return chosen


def solve_model(
    model: Any,
    solver: str = "highs",
    *,
    start: Mapping[Any, float] | None = None,
    options: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    progress: Callable[[Incumbent], None] | None = None,
    keep_on_interrupt: bool = False,
) -> ModelSolution:
    """Solve a Pyomo model, and hold the answer to the model's own rows.

    Parameters
    ----------
    model
        A `ConcreteModel` with one active objective; its variables get the incumbent's values, and
        keep their own where there is none.
    solver
        Any name that Pyomo knows.
    start
        Values of variables to start from. One that keeps the rows is never made worse.
    options
        By the solver's own names.
    time_limit
        Seconds.
    progress
        Is called with objective and bound whenever they improve (of HiGHS).
    keep_on_interrupt
        Ctrl-C gives the best so far, as `interrupted`, in place of KeyboardInterrupt.

    Raises
    ------
    InputError
        No such model or solver, an option that the solver does not know, a time limit that is not
        a positive number.
    KeyboardInterrupt
        On Ctrl-C, unless `keep_on_interrupt`.
    """
    RunOptions(time_limit=time_limit)
    objective = objective_of(model)
    before = values_of(model)
    first = _started(model, start)
    asked = SolveRequest(
        dict(options or {}), time_limit, progress, keep_on_interrupt, start is not None
    )
    began = time.perf_counter()
    heard = _heard(model, solver, asked)
    if heard.termination is None:
        heard = _unclear(model, objective, solver, asked, heard)
    values = _better(heard.values, first, objective)
    solution = ModelSolution(
        solver,
        heard.termination or Termination.NUMERICS,
        bound=heard.bound,
        duals=heard.duals,
        reduced_costs=heard.reduced_costs,
        seconds=time.perf_counter() - began if heard.seconds is None else heard.seconds,
        log=heard.log,
        note=heard.note,
        history=heard.history,
    )
    if values is None:
        for variable, value in before.items():
            variable.set_value(value, skip_validation=True)
        return _without(solution)
    put(values)
    return _with(solution, model, objective)


def _started(model: Any, start: Mapping[Any, float] | None) -> Any:
    """Put a start into the model; its values, where they are all there and keep every row."""
    if start is None:
        return None
    for variable in variables_of(model):
        variable.set_value(None)
    put(start)
    values = values_of(model)
    if any(value is None for value in values.values()):
        return None
    return values if all(check.passed for check in checked(model)) else None


def _heard(model: Any, solver: str, asked: SolveRequest) -> Heard:
    if solver == "highs":
        return _by_highs(model, asked)
    if asked.progress is not None:
        raise InputError(f"progress: solver {solver!r} reports none; leave it out")
    whole = is_whole(variables_of(model))
    return ask(
        found(solver),
        model,
        asked.options,
        asked.time_limit,
        started=asked.started,
        whole=whole,
        keep_on_interrupt=asked.keep_on_interrupt,
    )


def _by_highs(model: Any, asked: SolveRequest) -> Heard:
    """Ask HiGHS, which gets the model as arrays."""
    from pyomo.common.errors import InfeasibleConstraintException

    limit = LONGEST if asked.keep_on_interrupt and asked.time_limit is None else asked.time_limit
    options = highs_options(asked.options, limit)
    try:
        form = compiled(model)
    except InfeasibleConstraintException:
        return Heard(Termination.INFEASIBLE)
    if not form.columns:
        return Heard(Termination.OPTIMAL, {}, {}, {}, form.in_model(0.0))
    without_banner()  # what it imports is no time of the solver's
    began, history, latest = time.perf_counter(), [], None

    def keep(ran: HighsRun) -> None:
        nonlocal latest
        latest = ran
        cost = None if ran.values is None else form.in_model(float(form.linear.cost @ ran.values))
        history.append(Incumbent(time.perf_counter() - began, cost, form.in_model(ran.bound)))
        if asked.progress is not None:
            asked.progress(history[-1])

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "highs.log"
        written = (("output_flag", True), ("log_to_console", False), ("log_file", str(log)))
        options = replace(options, more=(*written, *options.more))
        job = (form.linear, options, _columns(form) if asked.started else None)
        note = ""
        try:
            ran, ending, note = run_within(limit, run_arrays_of_model, *job, on_report=keep)
        except KeyboardInterrupt:
            if not asked.keep_on_interrupt:
                raise
            ran, ending = latest, Termination.INTERRUPTED
        text = log.read_text("utf-8", "replace") if log.exists() else ""
    lasted = time.perf_counter() - began
    ran = ran or HighsRun(Termination.TIME_LIMIT, None, None, None, lasted)
    if ending is not None:
        ran = replace(ran, termination=ending, seconds=lasted)
    return _in_model(form, ran, text, note, history)


def run_arrays_of_model(
    model: LinearModel,
    options: RunOptions,
    start: FloatArray | None,
    until: float | None,
    report: Callable[[HighsRun], None],
) -> HighsRun:
    """Run HiGHS on a model's arrays until a time of the clock, reporting each better solution."""

    def improved(_: float, bound: float, values: FloatArray) -> None:
        known = bound if math.isfinite(bound) else None
        report(HighsRun(Termination.TIME_LIMIT, values, None, known, 0.0))

    return run(model, options.countdown(until)(), start, improved)


def _in_model(
    form: CompiledModel, ran: HighsRun, log: str, note: str, history: list[Incumbent]
) -> Heard:
    """What HiGHS said of the arrays, of the model."""
    from pyomo.common.collections import ComponentMap

    ending: Termination | None = ran.termination
    unbounded = np.isinf(form.linear.lower) | np.isinf(form.linear.upper)
    if ending is Termination.INFEASIBLE and unbounded.any():
        ending = None  # or it is unbounded: HiGHS need not say which
    values = duals = costs = None
    if ran.values is not None:
        values = ComponentMap(zip(form.columns, ran.values.tolist(), strict=True))
    if ran.row_duals is not None:
        duals = by_constraint(form, ran.row_duals)
        priced = reduced_costs(form, ran.row_duals).tolist()
        costs = {v.name: cost for v, cost in zip(form.columns, priced, strict=True)}
    bound, moments = form.in_model(ran.bound), tuple(history)
    return Heard(ending, values, duals, costs, bound, log, note, moments, ran.seconds)


def _columns(form: CompiledModel) -> FloatArray:
    """The model's values by column; 0, or the bound next to it, where there is none."""
    values = [0.0 if v.value is None else float(v.value) for v in form.columns]
    inside: FloatArray = np.clip(np.array(values), form.linear.lower, form.linear.upper)
    return inside


def _unclear(model: Any, objective: Any, solver: str, asked: SolveRequest, heard: Heard) -> Heard:
    """Tell an unbounded model from one without a solution: nothing to minimise has one or not."""
    import pyomo.environ as pyo
    from pyomo.common.modeling import unique_component_name

    name = unique_component_name(model, "nothing")
    objective.deactivate()
    model.add_component(name, pyo.Objective(expr=0.0))
    try:
        any_at_all = _heard(model, solver, replace(asked, progress=None))
    finally:
        model.del_component(name)
        objective.activate()
    if any_at_all.values is not None:
        return replace(heard, termination=Termination.UNBOUNDED, values=None)
    ended = any_at_all.termination or Termination.INFEASIBLE
    return replace(heard, termination=ended, values=None)


def _better(values: Any, first: Any, objective: Any) -> Any:
    """The better of the solver's values and those of a start that keeps the rows."""
    import pyomo.environ as pyo

    if first is None:
        return values
    put(first)
    cost = pyo.value(objective)
    if values is None:
        return first
    put(values)
    sign = direction(objective.model())
    return first if sign * cost < sign * pyo.value(objective) else values


def _without(solution: ModelSolution) -> ModelSolution:
    """A solution without an incumbent."""
    if solution.termination is Termination.OPTIMAL:
        note = "the solver claims an optimum and gives none"
        return replace(solution, termination=Termination.NUMERICS, bound=None, note=note)
    return replace(solution, duals=None, reduced_costs=None)


def _with(solution: ModelSolution, model: Any, objective: Any) -> ModelSolution:
    """A solution with its incumbent evaluated, or what speaks against it."""
    import pyomo.environ as pyo

    for variable in variables_of(model):
        if variable.value is None:  # in no row
            low, high = variable.bounds
            nearest = 0.0 if low is None else max(0.0, low)
            nearest = nearest if high is None else min(nearest, high)
            variable.set_value(nearest, skip_validation=True)
    checks = checked(model)
    value = float(pyo.value(objective))
    sign = direction(model)
    bound = solution.bound
    if bound is None and solution.termination is Termination.OPTIMAL:
        bound = value
    wrong = [check.name for check in checks if not check.passed]
    note = f"the solver's answer fails: {', '.join(wrong)}" if wrong else ""
    if bound is not None and sign * (bound - value) > 0:
        if abs(bound - value) > NEAR * max(1.0, abs(value)):
            note = note or f"the solver claims a bound of {bound:g} beyond its own {value:g}"
        bound = value
    if note:
        return unusable(solution, checks, note)
    if solution.duals and not fits(model, solution.duals, solution.reduced_costs):
        left_out = "the solver's dual values do not fit its own optimum and are left out"
        solution = replace(solution, duals=None, reduced_costs=None, note=left_out)
    return replace(solution, objective=value, bound=bound, checks=checks, slacks=slacks(model))


def unusable(solution: ModelSolution, checks: tuple[Check, ...], note: str) -> ModelSolution:
    """A solution that something speaks against: no number of it is to be used."""
    return ModelSolution(
        solution.solver,
        Termination.NUMERICS,
        checks=checks,
        seconds=solution.seconds,
        log=solution.log,
        note=note,
    )
