"""One run of HiGHS on arrays, every option checked, every ending named.

Traps this module exists for: an unknown option is only a status; the clock of a solver object
is cumulative (so each run has its own object); the number of threads is fixed by the first run
in a process; both MIP gaps have defaults above zero; coefficients under 1e-9 are dropped (under
1e-12 as set here). The Pyomo route still drops them, before an option can be set: there the
certificate speaks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.solving.linear_model import LinearModel
from workbench.solving.solution import Termination

if TYPE_CHECKING:
    import highspy

LpAlgorithm = Literal["simplex", "ipx"]
OnIncumbent = Callable[[float, float, FloatArray], None]
"""Called with objective, bound and values whenever branch and bound finds a better solution."""

LEAST_SECONDS = 0.05
"""What is asked of the solver when no time is left."""
TOLERANCE = 1e-9
"""Feasibility, optimality and integrality tolerance (HiGHS would take 1e-7 and 1e-6).

Task weights decide which labels are bought by comparing values that differ by the perturbation,
1e-5 relative: at the default tolerance a non-optimal basis can pass and leave tasks short.
"""


SMALLEST = 1e-12
"""Coefficients below it HiGHS drops; it knows no smaller setting."""
SOON = 5.0
"""Seconds within which a program called infeasible is run again without presolve."""


@dataclass(frozen=True)
class RunOptions:
    """How to run: seconds, relative MIP gap, threads, LP algorithm by name, random seed.

    `nodes` ends branch and bound after so many: unlike seconds, the same on every machine. `work`
    ends it after so many seconds of this process's processor time: unlike those of the clock, not
    fewer where other processes are at work. `more` are further options by their HiGHS names.
    """

    time_limit: float | None = None
    gap: float = 0.0
    threads: int = 1
    algorithm: LpAlgorithm = "simplex"
    seed: int = 0
    nodes: int | None = None
    work: float | None = None
    more: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if self.time_limit is not None and not 0 < self.time_limit < float("inf"):
            raise InputError(
                f"time limit is {self.time_limit:g}: give a positive number of seconds"
            )
        if not 0 <= self.gap < 1:
            raise InputError(f"gap is {self.gap:g}: give a number from 0 up to, not including, 1")
        if self.threads < 1:
            raise InputError(f"threads is {self.threads}: give 1 or more")
        if self.algorithm not in ("simplex", "ipx"):
            raise InputError(f"LP algorithm {self.algorithm!r} is unknown: use simplex or ipx")

    def countdown(self, until: float | None = None) -> Remaining:
        """Give a function that gives the options with the time that is left.

        It ends at `until` on `time.time`, or `time_limit` seconds from now.
        """
        if self.time_limit is None:
            return lambda: self
        end = time.time() + self.time_limit if until is None else until
        return lambda: replace(self, time_limit=max(end - time.time(), LEAST_SECONDS))

    @property
    def over(self) -> bool:
        """Whether no time is left."""
        return self.time_limit is not None and self.time_limit <= LEAST_SECONDS


Remaining = Callable[[], RunOptions]
"""Gives the options with the time that is left."""


@dataclass(frozen=True)
class HighsRun:
    """What HiGHS said: values of columns, dual values of rows, its own bound."""

    termination: Termination
    values: FloatArray | None
    row_duals: FloatArray | None
    bound: float | None
    seconds: float


_threads_in_use: list[int] = []


@cache
def without_banner() -> None:
    """Make the process's first HiGHS object where nobody sees it.

    From 1.16 on it prints a banner, whatever its options, on the standard output that a command's
    JSON stands on.
    """
    import highspy

    try:
        kept = os.dup(1)
    except OSError:  # closed: nothing can be printed there
        highspy.Highs()
        return
    try:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
            os.dup2(nowhere.fileno(), 1)
            highspy.Highs()
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def new_highs() -> highspy.Highs:
    """Make a HiGHS object that prints nothing on being made."""
    import highspy

    without_banner()
    return highspy.Highs()


def claim_threads(threads: int) -> None:
    """Make the next run use this many threads: without it, HiGHS refuses another number.

    The first run of ours need not be the first of the process: a user's own model may have been
    solved by Pyomo before.
    """
    import highspy

    without_banner()
    if _threads_in_use != [threads]:
        highspy.Highs.resetGlobalScheduler(True)
    _threads_in_use[:] = [threads]


def run(
    model: LinearModel,
    options: RunOptions,
    start: FloatArray | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> HighsRun:
    """Solve a linear or integer program given as arrays, from a known solution if there is one."""
    import highspy

    started = time.perf_counter()
    claim_threads(options.threads)
    if model.integer:
        model = _without_dust(_enlarged(model))
    highs = new_highs()
    set_options(highs, settings(options, integer=model.integer))
    if on_incumbent is not None and model.integer:
        highs.cbMipImprovingSolution.subscribe(
            lambda event: on_incumbent(
                event.data_out.objective_function_value,
                event.data_out.mip_dual_bound,
                np.array(event.data_out.mip_solution),
            )
        )
    limit_work(highs, options)
    accepted(pass_arrays(highs, model), "model")
    if start is not None:
        columns = np.arange(len(start), dtype=np.int32)
        # A hint: where HiGHS can make no solution of it, it goes without.
        highs.setSolution(len(start), columns, start)
    highs.run()
    infeasible = _ending(highs) is Termination.INFEASIBLE
    if infeasible and time.perf_counter() - started < SOON:
        # Presolve may say so of a row that holds to within the tolerance only.
        set_options(highs, {"presolve": "off"})
        highs.run()
    # HiGHS may know no answer, of an infeasible program above all: another way finds one.
    ways = [{"presolve": "off"}]
    if not model.integer:
        other = "ipx" if options.algorithm == "simplex" else "simplex"
        ways.append({"presolve": "off", "solver": other})
    for way in [] if infeasible else ways:
        if _ending(highs) is not Termination.NUMERICS:
            break
        set_options(highs, way)
        accepted(highs.clearSolver(), "restart")
        highs.run()
    ending, info, solution = _ending(highs), highs.getInfo(), highs.getSolution()
    if infeasible and ending is Termination.NUMERICS:
        ending = Termination.INFEASIBLE  # nothing speaks against it
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    solved = ending is Termination.OPTIMAL
    bounded = model.integer and np.isfinite(info.mip_dual_bound)
    return HighsRun(
        ending,
        np.array(solution.col_value) if feasible or solved else None,
        np.array(solution.row_dual) if solved and not model.integer else None,
        float(info.mip_dual_bound) if bounded else None,
        time.perf_counter() - started,
    )


def optimum(model: LinearModel) -> tuple[FloatArray, FloatArray]:
    """Values and row duals of a linear program that has an optimum.

    Raises
    ------
    RuntimeError
        The solver ended otherwise.
    """
    ended = run(model, RunOptions())
    if ended.termination is not Termination.OPTIMAL:
        raise RuntimeError(f"the linear program ended as {ended.termination}")
    assert ended.values is not None
    assert ended.row_duals is not None
    return ended.values, ended.row_duals


def _enlarged(model: LinearModel) -> LinearModel:
    """The same with rows that ask for less than 1 multiplied by powers of two.

    The solver's tolerance is absolute, the certificate's relative to what a row asks for. Only
    for integer programs: dual values would change.
    """
    asked = np.where((model.row_lower > 0) & (model.row_lower < 1), model.row_lower, 1.0)
    scale = 2.0 ** np.minimum(-np.floor(np.log2(asked)), 40)
    return replace(
        model,
        value=model.value * scale[model.index],
        row_lower=model.row_lower * scale,
        row_upper=model.row_upper * scale,
    )


def _without_dust(model: LinearModel) -> LinearModel:
    """The same without the coefficients that HiGHS drops, and rows lower by what they might add.

    So no solution is lost, and a bound stays one; whether cover is met the certificate says.
    """
    dust = (model.value != 0) & (np.abs(model.value) < SMALLEST)
    if not dust.any():
        return model
    column = np.repeat(np.arange(len(model.cost)), np.diff(model.start))[dust]
    ends = model.value[dust] * np.array([model.lower[column], model.upper[column]])
    row_lower, row_upper = model.row_lower.copy(), model.row_upper.copy()
    np.subtract.at(row_lower, model.index[dust], ends.max(axis=0))
    np.subtract.at(row_upper, model.index[dust], ends.min(axis=0))
    value = np.where(dust, 0.0, model.value)
    return replace(model, value=value, row_lower=row_lower, row_upper=row_upper)


def settings(options: RunOptions, *, integer: bool) -> dict[str, Any]:
    """Give the HiGHS options of a run, by their HiGHS names."""
    chosen: dict[str, Any] = {
        "output_flag": False,
        "threads": options.threads,
        "random_seed": options.seed % 2**31,
        "small_matrix_value": SMALLEST,
        "solver": "choose" if integer else options.algorithm,
        "primal_feasibility_tolerance": TOLERANCE,
        "dual_feasibility_tolerance": TOLERANCE,
    }
    if integer:
        chosen |= {
            "mip_rel_gap": options.gap,
            "mip_abs_gap": TOLERANCE,
            "mip_feasibility_tolerance": TOLERANCE,
        }
        if options.nodes is not None:
            chosen["mip_max_nodes"] = options.nodes
    if options.time_limit is not None:
        chosen["time_limit"] = max(options.time_limit, 0.0)
    return chosen | dict(options.more)


def set_options(highs: Any, chosen: Mapping[str, Any]) -> None:
    """Set options by their HiGHS names; one that HiGHS does not know raises RuntimeError."""
    for name, value in chosen.items():
        accepted(highs.setOptionValue(name, value), f"option {name}={value}")


def takes_option(name: str, value: Any) -> bool:
    """Whether HiGHS has an option of this name that takes such a value."""
    highs = new_highs()
    highs.setOptionValue("output_flag", False)
    try:
        return "kError" not in str(highs.setOptionValue(name, value))
    except TypeError:
        return False


def limit_work(highs: Any, options: RunOptions) -> None:
    """End branch and bound after the processor time of the options."""
    if options.work is None:
        return
    until = time.process_time() + options.work

    def look(event: Any) -> None:
        if time.process_time() > until:
            event.interrupt()

    highs.cbMipInterrupt.subscribe(look)


def accepted(status: Any, what: str) -> None:
    """Raise RuntimeError where HiGHS refused something."""
    if "kError" in str(status):
        raise RuntimeError(f"HiGHS refused the {what}")


def pass_arrays(highs: Any, model: LinearModel) -> Any:
    """Hand the arrays over whole: filling a `HighsLp` field by field copies them once more."""
    import highspy

    without_banner()
    columns = len(model.cost)
    whole = np.zeros(columns, dtype=np.int32)
    if model.integer:
        whole[:] = 1 if model.whole is None else model.whole
    sense = highspy.ObjSense.kMaximize if model.maximise else highspy.ObjSense.kMinimize
    sizes = columns, len(model.row_lower), len(model.value)
    form = int(highspy.MatrixFormat.kColwise), int(sense), 0.0
    ranges = model.lower, model.upper, model.row_lower, model.row_upper
    entries = model.start.astype(np.int32), model.index, model.value
    return highs.passModel(*sizes, *form, model.cost, *ranges, *entries, whole)


def _ending(highs: Any) -> Termination:
    """Why HiGHS stopped."""
    name = str(highs.getModelStatus()).rpartition(".k")[2]
    return {
        "Optimal": Termination.OPTIMAL,
        "ModelEmpty": Termination.OPTIMAL,
        "Infeasible": Termination.INFEASIBLE,
        # Only the explicit dual can be unbounded, and then the assignment has no solution.
        "Unbounded": Termination.INFEASIBLE,
        "UnboundedOrInfeasible": Termination.INFEASIBLE,
        "TimeLimit": Termination.TIME_LIMIT,
        "SolutionLimit": Termination.TIME_LIMIT,  # nodes
        "Interrupt": Termination.INTERRUPTED,
    }.get(name, Termination.NUMERICS)


def run_raw(model: LinearModel) -> float:
    """Call HiGHS as plainly and as fast as it can be, and give the objective.

    What the array route is held to; options are those of the array route, so that both sides
    walk the same path.
    """
    highs = new_highs()
    for name, value in settings(RunOptions(), integer=model.integer).items():
        highs.setOptionValue(name, value)
    pass_arrays(highs, model)
    highs.run()
    return float(highs.getInfo().objective_function_value)
