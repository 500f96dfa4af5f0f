"""`solve` of a Pyomo model: the user's own, or ours with rows of the user's, by any solver."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from crowd_models import AssignmentProblem, SelectionProblem, TypedProblem
from crowd_models.files import EXACT_ERROR
from crowd_models.joint import JointProblem
from workbench.api.result import Result, facts, percent
from workbench.base.arrays import FloatArray
from workbench.base.checks import show, type_name
from workbench.base.errors import InputError
from workbench.base.text import counted
from workbench.base.writing import write_whole

if TYPE_CHECKING:
    from workbench.solving import Solution, Termination
    from workbench.solving.any_model import ModelSolution
    from workbench.solving.claims import CostClaim

Problem: TypeAlias = AssignmentProblem | TypedProblem | SelectionProblem | JointProblem
SHARES = 1e-9
"""Shares up to this are none."""
ASIDE = 10.0
"""Seconds in which a program without the user's rows is looked at, once those have no answer."""


class PyomoModel(Protocol):
    """A Pyomo `ConcreteModel`."""

    def component_data_objects(self, *kinds: Any, **options: Any) -> Any:
        """Give its rows, variables or objectives."""

    def write(self, filename: Any, *args: Any, **options: Any) -> Any:
        """Write it as a file."""


Constraints: TypeAlias = Callable[[Any], object]
Start: TypeAlias = "Result | pd.DataFrame | pd.Series[float] | Mapping[Any, float] | ArrayLike"


@dataclass(frozen=True, eq=False, repr=False)
class SolvedModel(Result):
    """A solved Pyomo model: its answer, held to the model's own rows, and whose word the bound is.

    Attributes
    ----------
    model
        The solved `ConcreteModel`; its variables have the answer's values.
    solution
        What `workbench.solving.any_model` made of it: checks, log, history.
    title
        What was solved, in a line.
    problem, formulation
        What the model was built of; None and "" for a model of the user's.
    proven
        No answer is better, recomputed from the problem's data and the model's rows where that is
        small; else of the program without rows of the user's, which holds with them too. None where
        nothing is.
    without
        The program without those rows, where with them there is no answer.
    own
        Whether there are such rows.
    denied
        Whether it is proven that no answer keeps every row.
    """

    model: Any
    solution: ModelSolution
    title: str
    problem: Problem | None = None
    formulation: str = ""
    proven: float | None = None
    without: Solution | None = None
    own: bool = False
    denied: bool = False

    @property
    def objective(self) -> float | None:
        """Of the answer, evaluated; None without one."""
        return self.solution.objective

    @property
    def bound(self) -> float | None:
        """What no answer can beat: by the solver's word, or proven where that says more."""
        known = [b for b in (self.solution.bound, self.proven) if b is not None]
        return max(known, key=lambda bound: self.sign * bound, default=None)

    @property
    def gap(self) -> float | None:
        """Relative distance between the two."""
        return replace(self.solution, bound=self.bound).gap

    @property
    def termination(self) -> Termination:
        """Why the solver stopped."""
        return self.solution.termination

    @property
    def solved(self) -> bool:
        """Whether an optimum was found and nothing speaks against it."""
        return self.answered and (self.termination == "optimal" or self.gap == 0)

    @property
    def answered(self) -> bool:
        """Whether there is an answer that keeps every row."""
        return self.objective is not None

    @property
    def duals(self) -> pd.Series[float] | None:
        """Dual value of each row, by name: the objective's change per unit of its bound.

        None of a model with whole numbers, which has none (solve its relaxation with the same
        rows), without an optimum, and of a solver whose interface gives none.
        """
        return _series(self.solution.duals, "dual")

    @property
    def reduced_costs(self) -> pd.Series[float] | None:
        """Reduced cost of each variable, by name; None as for `duals`."""
        return _series(self.solution.reduced_costs, "reduced cost")

    @property
    def slacks(self) -> pd.Series[float] | None:
        """How far each row is from the nearer of its bounds, by name; None without an answer."""
        return _series(self.solution.slacks, "slack")

    @property
    def log(self) -> str:
        """What the solver wrote."""
        return self.solution.log

    @property
    def sign(self) -> float:
        """−1 where the objective is to be large."""
        from workbench.solving.model_arrays import direction

        return direction(self.model)

    @property
    def claim(self) -> CostClaim:
        """What is known of the answer; what is to be large is counted below 0."""
        from workbench.solving.claims import CostClaim

        known = self.objective, self.proven, self.solution.bound
        signed = [None if value is None else self.sign * value for value in known]
        return CostClaim(*signed, solver=self.solution.word)

    def to_frame(self) -> pd.DataFrame:
        """Give the answer, empty where there is none.

        Of an assignment the pairs `task, worker`, of its relaxation with their `share`; of any
        other model `variable, value`.
        """
        plan = self.assignment
        if plan is None:
            return self.values().rename_axis("variable").reset_index(name="value")
        task, worker = np.nonzero(plan > (0.5 if self.formulation == "ip" else SHARES))
        frame = pd.DataFrame({"task": task, "worker": worker})
        return frame if self.formulation == "ip" else frame.assign(share=plan[task, worker])

    def values(self) -> pd.Series[float]:
        """Give the value of each variable, by name; empty where there is no answer."""
        from workbench.solving.model_arrays import variables_of

        free = variables_of(self.model) if self.answered else []
        names = [variable.name for variable in free]
        return pd.Series([variable.value for variable in free], names, dtype=float)

    @property
    def assignment(self) -> FloatArray | None:
        """y, shape (n, m), of an assignment's integer program or relaxation; None of any other."""
        if not isinstance(self.problem, AssignmentProblem) or self.formulation not in PLANS:
            return None
        plan = np.zeros(self.problem.shape)
        for (task, worker), variable in self.model.y.items() if self.answered else ():
            plan[task, worker] = variable.value
        return plan

    def write(self, path: str | Path) -> None:
        """Write the model as a file that any solver takes: .lp or .mps, by its names.

        Raises
        ------
        InputError
            Another ending, or a folder that cannot be written to.
        """
        at = Path(path)
        if at.suffix.lower() not in (".lp", ".mps"):
            raise InputError(f"{path}: give a name that ends in .lp or .mps")
        content = model_text(self.model, at.suffix.lower()[1:])
        try:
            write_whole(at, content)
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror})") from None

    def verdict(self) -> list[str]:
        """Say what the answer is worth, and whose word it is that none is better."""
        solution, what = self.solution, self._what
        if solution.note and not self.answered:
            return [f"No answer to be used: {solution.note}.", f"{self.title}."]
        if self.objective is None:
            return [*self._none_found(), *self._without_rows()]
        value = f"{what} {self.objective:.10g}: {self.title}."
        better = "cheaper" if self.problem is not None and self.sign > 0 else "better"
        bound = self.bound
        if bound is None:
            return [value, "How far it is from the best is not known."]
        than = "" if self.gap == 0 else f" than {bound:.10g}"
        sentences = [value, f"{self.claim.word} none is {better}{than}."]
        if not self.claim.recomputed and self.proven is not None:
            bare = ", without the rows of your own" if self.own else ""
            too = "; with them it holds too" if self.own else ""
            sentences.append(
                f"Proven from the data{bare}: none is {better} than {self.proven:.10g}{too}."
            )
        if self.gap:
            sentences.append(f"A gap of {percent(self.gap, 4)} is open: {self.termination}.")
        return sentences

    @property
    def _what(self) -> str:
        """What the objective is."""
        if self.problem is None:
            return "Objective"
        return "Score" if isinstance(self.problem, SelectionProblem) else "Cost"

    def _none_found(self) -> list[str]:
        """Say why there is no answer, and whose word that is."""
        word, ending = self.solution.word, str(self.termination)
        none = "It is proven that" if self.denied else f"By {word}'s word"
        return [
            {
                "infeasible": f"{none} no answer keeps every row: {self.title}.",
                "unbounded": f"By {word}'s word the objective has no best value: {self.title}.",
                "time_limit": f"No answer was found before time ran out: {self.title}.",
                "interrupted": f"No answer was found before the interruption: {self.title}.",
            }.get(ending, f"No answer was found ({ending}): {self.title}.")
        ]

    def _without_rows(self) -> list[str]:
        """Say whether there was an answer without the rows of the user's."""
        if self.without is None:
            return []
        if self.without.infeasibility is not None:
            return [f"Nor without the rows of your own. {self.without.infeasibility.sentence()}"]
        if self.without.objective is None:
            return ["Whether there is one without the rows of your own is not known."]
        cost = f"{self.without.objective:.10g}"
        return [f"Without the rows of your own there is one, of cost {cost}: they exclude it."]

    def details(self) -> str:
        """Give objective, bounds, checks and size, a line each."""
        solution = self.solution
        bound = "none" if solution.bound is None else f"{solution.bound:.10g}"
        rows = {
            "objective": "none" if self.objective is None else f"{self.objective:.10g}",
            "bound": f"{bound} ({solution.word}'s word)",
            "proven": "" if self.proven is None else f"{self.proven:.10g} (from the data)",
            "gap": percent(self.gap, 4),
            "termination": str(self.termination),
            **{
                f"  {check.name}": f"{'hold' if check.passed else 'FAIL'}, largest violation "
                f"{check.violation:.2g} (tolerance {check.tolerance:.0e})"
                for check in solution.checks
            },
            "seconds": f"{solution.seconds:.3g} ({solution.solver})",
            "note": solution.note,
        }
        present = [(name, value) for name, value in rows.items() if value]
        return f"{self.title}\n{facts(present, indent='  ')}"

    def brief(self) -> str:
        """Give what stands below the verdict: how long it took, by which solver, and a note."""
        note = [("note", self.solution.note)] if self.solution.note and self.answered else []
        took = f"{self.solution.seconds:.3g} ({self.solution.solver})"
        return facts([("seconds", took), *note])

    def _payload(self) -> dict[str, Any]:
        from workbench.solving import versions

        solution, plan = self.solution, self.assignment
        whole = plan is not None and self.formulation == "ip" and self.answered
        return {
            "formulation": self.formulation or None,
            "model": self.model.name,
            "solver": solution.solver,
            "termination": str(self.termination),
            "objective": self.objective,
            "bound": self.bound,
            "proven_bound": self.proven,
            "gap": self.gap,
            "checks": [vars(check) for check in solution.checks],
            "assignment": np.argwhere(plan > 0.5).tolist() if whole and plan is not None else None,
            "variables": self.values().to_dict(),
            "duals": solution.duals,
            "reduced_costs": solution.reduced_costs,
            "slacks": solution.slacks,
            "feasible_without_rows": None
            if self.without is None
            else self.without.objective is not None,
            "seconds": solution.seconds,
            "history": [vars(moment) for moment in solution.history],
            "message": solution.note or None,
            "versions": versions(),
        }


PLANS = ("ip", "relaxation")
"""Formulations whose answer is who labels which task."""


def is_model(problem: object) -> bool:
    """Whether it is a Pyomo model; Pyomo is imported for it by whoever made it."""
    import sys

    if "pyomo" not in sys.modules:
        return False
    from pyomo.core.base.block import BlockData

    return isinstance(problem, BlockData)


def solve_own_model(model: Any, solver: str, start: Start | None, **how: Any) -> SolvedModel:
    """Solve a model of the user's."""
    from workbench.solving.any_model import solve_model

    values = None if start is None else _by_variable(model, start)
    solution = solve_model(model, solver, start=values, **how)
    sizes = f"{counted(model.nvariables(), 'variable')}, {counted(model.nconstraints(), 'row')}"
    solved = SolvedModel(model, solution, f"model {model.name!r}, {sizes}")
    return _uninterrupted(lambda: _by_rows(solved, _left(solved, how["time_limit"])), solved, how)


def solve_with_rows(
    problem: Problem,
    formulation: str,
    constraints: Constraints | None,
    solver: str,
    start: Start | None,
    described: str,
    **how: Any,
) -> SolvedModel:
    """Solve a problem's Pyomo model, with rows of the user's if there are any."""
    from workbench.solving.any_model import solve_model
    from workbench.solving.pyomo_route import build

    check_has_model(problem, formulation)
    assert not isinstance(problem, JointProblem)
    model = build(problem, formulation)
    narrowed, title = True, described
    if constraints is not None:
        narrowed = _added(model, constraints)
        title += ", with rows of your own"
    values = None
    if start is not None:
        plan = _by_variable(model, start) if _by_names(start) else plan_of(start, problem)
        values = _plan_values(model, plan) if isinstance(plan, np.ndarray) else plan
    solution = solve_model(model, solver, start=values, **how)
    solved = SolvedModel(model, solution, title, problem, formulation, own=constraints is not None)
    return _uninterrupted(
        lambda: _proven(solved, how["time_limit"], narrowed=narrowed), solved, how
    )


def _uninterrupted(
    prove: Callable[[], SolvedModel], solved: SolvedModel, how: Mapping[str, Any]
) -> SolvedModel:
    """The answer with what is proven of it, or as it is where that is interrupted and kept."""
    try:
        return prove()
    except KeyboardInterrupt:
        if not how["keep_on_interrupt"]:
            raise
        return solved


def _proven(solved: SolvedModel, time_limit: float | None, *, narrowed: bool) -> SolvedModel:
    """Say what is proven of a problem's model.

    Where rows and bounds are all that was added (`narrowed`), the problem's data speak of it.
    """
    problem, left = solved.problem, _left(solved, time_limit)
    whole = solved.formulation == "ip"
    if narrowed and isinstance(problem, AssignmentProblem) and solved.formulation in PLANS:
        solved = _held_to_data(solved, problem, left, whole=whole)
        if whole and solved.model.nvariables() <= len(solved.model.y):
            return solved  # its rows have been priced
    elif narrowed:
        solved = _proven_without(solved, min(left, ASIDE))
    return _by_rows(solved, left)


def _left(solved: SolvedModel, time_limit: float | None) -> float:
    """Seconds in which more may be proven of an answer."""
    if solved.termination == "interrupted":
        return 0.0
    return math.inf if time_limit is None else time_limit - solved.solution.seconds


def _held_to_data(
    solved: SolvedModel, problem: AssignmentProblem, seconds: float, *, whole: bool
) -> SolvedModel:
    """Say what an assignment's data prove, and its rows where it is small."""
    from workbench.solving.own_rows import held_to_data, is_denied

    if solved.termination != "infeasible":
        solution, proven = held_to_data(
            problem, solved.model, solved.solution, whole=whole, seconds=seconds
        )
        return replace(solved, solution=solution, proven=proven)
    without = _without(problem, solved.formulation, seconds)
    denied = without.infeasibility is not None and without.infeasibility.proven
    denied = denied or (whole and is_denied(problem, solved.model, min(seconds, ASIDE)))
    return replace(solved, without=without, denied=denied)


def _by_rows(solved: SolvedModel, seconds: float) -> SolvedModel:
    """Say what the rows of a linear model prove, where a solver says that it has its answer."""
    from workbench.solving.row_proofs import denied_by_rows, proven_by_rows
    from workbench.solving.solver import PROVING

    seconds = min(seconds, PROVING)
    if solved.termination == "infeasible":
        denied = solved.denied or denied_by_rows(solved.model, seconds)
        return replace(solved, denied=denied)
    cost = solved.objective
    if cost is None or solved.solution.gap != 0 or solved.proven == cost:
        return solved
    proven = proven_by_rows(solved.model, cost, seconds)
    return replace(solved, proven=cost) if proven else solved


def _proven_without(solved: SolvedModel, seconds: float) -> SolvedModel:
    """Say what holds of a selection or a linear program without the user's rows."""
    from workbench.solving.certificates import OPTIMALITY
    from workbench.solving.own_rows import LEAST_SECONDS, bound_without_rows

    cost, problem = solved.objective, solved.problem
    if cost is None or seconds < LEAST_SECONDS:
        return solved
    assert problem is not None
    assert not isinstance(problem, JointProblem)
    bound = bound_without_rows(problem, solved.formulation, seconds)
    if bound is not None and abs(cost - bound) <= OPTIMALITY * abs(cost):
        bound = cost
    return replace(solved, proven=bound)


def check_has_model(problem: Problem, formulation: str) -> None:
    """Refuse what is not stated by one Pyomo model."""
    if isinstance(problem, JointProblem) or (
        not isinstance(problem, SelectionProblem) and problem.gain == EXACT_ERROR
    ):
        raise InputError(
            "solver, constraints: this problem is not one Pyomo model; build one with "
            "crowd_models and give that to solve"
        )
    known = {
        AssignmentProblem: ("ip", "relaxation", "dual", "typed"),
        TypedProblem: ("typed",),
        SelectionProblem: ("sizes",),
    }[type(problem)]
    if formulation not in known:
        kinds = " or ".join(known)
        raise InputError(f"formulation is {show(formulation)}: one Pyomo model has {kinds}")


def _added(model: Any, constraints: Constraints) -> bool:
    """Add the user's rows; whether nothing but that was done, so that bounds still hold."""
    from workbench.solving.model_arrays import constraints_of, objective_of, variables_of

    goal = objective_of(model)
    asked, cost = {id(row): (row, row.expr) for row in constraints_of(model)}, goal.expr
    boxes = [(variable, variable.domain, variable.bounds) for variable in variables_of(model)]
    if not callable(constraints):
        raise InputError(f"constraints: {type_name(constraints)}; give a function of the model")
    constraints(model)
    if objective_of(model) is not goal or goal.expr is not cost:
        return False
    kept = all(row.active and row.expr is expr for row, expr in asked.values())
    return kept and all(_within(variable, *box) for variable, *box in boxes)


def _within(variable: Any, domain: Any, bounds: tuple[Any, Any]) -> bool:
    """Whether a variable may be nothing that it might not have been before."""
    low, high = bounds
    now_low, now_high = variable.bounds
    box = (low is None or (now_low is not None and now_low >= low)) and (
        high is None or (now_high is not None and now_high <= high)
    )
    return bool(box and (variable.domain is domain or variable.fixed or variable.is_integer()))


def _without(problem: Any, formulation: str, seconds: float) -> Solution:
    """Look for any answer at all to the program without the user's rows."""
    from workbench import solving

    limit = max(min(ASIDE, seconds), 0.1)
    gap = 0.9 if formulation == "ip" else 0.0
    return solving.solve(problem, formulation, time_limit=limit, gap=gap)


def plan_of(start: Start, problem: Problem) -> FloatArray:
    """Take a plan to start from: a solved assignment, its frame of pairs, or the matrix itself.

    Raises
    ------
    InputError
        It is none of these, or of another size than the problem.
    """
    if not isinstance(problem, AssignmentProblem):
        raise InputError("start: belongs to an assignment by task and worker; leave it out")
    frame = start.to_frame() if isinstance(start, Result) else start
    if isinstance(frame, pd.DataFrame):
        missing = [name for name in ("task", "worker") if name not in frame.columns]
        if missing:
            raise InputError(f"start: has no column {missing[0]!r}; give task and worker")
        pairs, shape = frame[["task", "worker"]].to_numpy(), problem.shape
        whole = np.issubdtype(pairs.dtype, np.integer) or pairs.size == 0
        if not whole or (pairs.size and ((pairs < 0) | (pairs >= shape)).any()):
            raise InputError("start: tasks and workers are places in the problem, from 0")
        plan = np.zeros(shape)
        plan[tuple(pairs.astype(int).T)] = 1.0
        return plan
    try:
        plan = np.asarray(frame, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"start: {type_name(start)}; give a solved plan, its frame or a matrix"
        ) from None
    if plan.shape != problem.shape:
        raise InputError(f"start: has shape {plan.shape}; the problem's is {problem.shape}")
    return plan


def _by_names(start: Start) -> bool:
    return isinstance(start, (Mapping, pd.Series))


def _plan_values(model: Any, plan: FloatArray) -> Any:
    from pyomo.common.collections import ComponentMap

    if not hasattr(model, "y"):
        raise InputError("start: this formulation has no plan; give values of its variables")
    return ComponentMap((model.y[pair], float(plan[pair])) for pair in model.pairs)


def _by_variable(model: Any, start: Start) -> Any:
    """Take values of a model's variables, by variable or by name."""
    from pyomo.common.collections import ComponentMap

    from workbench.solving.model_arrays import variables_of

    if isinstance(start, SolvedModel):
        start = start.values()
    if not isinstance(start, (Mapping, pd.Series)):
        raise InputError(f"start: {type_name(start)}; give values by variable or its name")
    by_name = {variable.name: variable for variable in variables_of(model)}
    values = ComponentMap()
    for key, value in start.items():
        variable = by_name.get(key if isinstance(key, str) else getattr(key, "name", ""))
        if variable is None:
            raise InputError(f"start: the model has no free variable {show(str(key))}")
        values[variable] = float(value)
    return values


def model_text(model: Any, format: str) -> bytes:
    """Write a model as the text of a file, .lp or .mps, with its own names."""
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / f"model.{format}"
        model.write(str(draft), io_options={"symbolic_solver_labels": True})
        return draft.read_bytes()


def _series(values: dict[str, float] | None, name: str) -> pd.Series[float] | None:
    return None if values is None else pd.Series(values, name=name, dtype=float)
