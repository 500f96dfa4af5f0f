"""`solve`, `export`, `doctor`: a problem's proven answer, its model, and whether to trust them."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, SelectionProblem, TypedProblem
from crowd_models.files import EXACT_ERROR
from crowd_models.gains import GAINS, gain_of
from crowd_models.joint import JointProblem
from workbench.api.modelling import (
    Constraints,
    Problem,
    PyomoModel,
    SolvedModel,
    Start,
    is_model,
    model_text,
    plan_of,
    solve_own_model,
    solve_with_rows,
)
from workbench.api.result import Figure, Result, facts, percent
from workbench.base.checks import show, type_name
from workbench.base.errors import InputError
from workbench.base.text import Columns, tabled
from workbench.base.writing import read_whole, write_together

if TYPE_CHECKING:
    from workbench.solving import Incumbent, Solution, Termination
    from workbench.solving.claims import CostClaim
    from workbench.solving.dropping import DropSolution
    from workbench.solving.hiring import SelectionSolution
    from workbench.solving.joint.route import JointSolution
    from workbench.solving.self_check import KnownProblem

TITLES = {
    "ip": "offline integer program",
    "relaxation": "relaxation",
    "dual": "dual of the relaxation",
    "typed": "relaxation over class counts",
    "slices": "selection, size by size",
    "sizes": "selection, all sizes in one model",
    "drop": "fewest tasks to drop, so that shares of labels cover the rest",
}
JOINT = {"ip": "joint cover, whole plans", "relaxation": "joint cover, relaxation"}
"""Formulations of a joint problem."""
SHOWN = 10
"""Tasks that are named."""
POSITIVE = 1e-9
"""Shares up to this are none."""


@dataclass(frozen=True, eq=False, repr=False)
class Solved(Result):
    """A solved problem: its answer, and what is proven of it.

    Attributes
    ----------
    problem
        What was asked.
    solution
        What `workbench.solving` found: termination, certificate, dual values, history.
    filed
        What the file of the proof states, as `to_dict` gives it under `proof`: `bound`, which no
        answer beats, or that it is `infeasible`. None where no file was asked for, or none is.
    """

    problem: Problem
    solution: Solution | SelectionSolution
    filed: dict[str, Any] | None = field(default=None, kw_only=True)
    value, better, best, beyond, sign = "Cost", "cheaper", "cheapest", "below", 1.0

    @property
    def objective(self) -> float | None:
        """Cost of the assignment, or score of the set; None without one."""
        return self.solution.objective

    @property
    def bound(self) -> float | None:
        """What no answer can beat."""
        return self.solution.bound

    @property
    def gap(self) -> float | None:
        """Relative distance between the two; 0 when proven optimal."""
        return self.solution.gap

    @property
    def termination(self) -> Termination:
        """Why the solver stopped."""
        return self.solution.termination

    @property
    def solved(self) -> bool:
        """Whether an optimum was found and nothing speaks against it."""
        return self.solution.solved

    @property
    def answered(self) -> bool:
        """Whether there is an answer that nothing speaks against, proven the best or not."""
        solution = self.solution
        return solution.objective is not None and solution.certificate.status != "failed"

    @property
    def title(self) -> str:
        """What was solved, in a line."""
        return described(self.problem, self.solution.formulation)

    @property
    def claim(self) -> CostClaim:
        """What is known of the answer, however it is worded."""
        from workbench.solving.claims import CostClaim

        return CostClaim.of(cast("Solution", self.solution))

    def verdict(self) -> list[str]:
        """Say what the answer is worth, and whose word it is that none is better."""
        worth = self._worth()
        return [*worth, *self._of_file()] if worth else []

    def _worth(self) -> list[str]:
        solution = self.solution
        if solution.certificate.status == "failed":
            return []
        if solution.objective is None:
            return self._none_found()
        value = f"{self.value} {_number(solution.objective)}: {self.title}."
        if solution.bound is None:
            return [value, f"How far it is from the {self.best} is not known."]
        bound = "" if solution.gap == 0 else f" than {_number(solution.bound)}"
        sentences = [value, f"{self.claim.word} none is {self.better}{bound}."]
        if solution.gap:
            sentences.append(
                f"So the {self.best} is at most {percent(solution.gap, 4)} {self.better}; "
                f"the search ended: {solution.termination}."
            )
        return sentences

    def _none_found(self) -> list[str]:
        """Say that time ran out before there was an answer, and what is known all the same."""
        solution = self.solution
        if solution.termination not in ("time_limit", "interrupted"):
            return []
        ended = {"time_limit": "time ran out", "interrupted": "the search was interrupted"}
        none = f"No answer was found before {ended[solution.termination]}: {self.title}."
        sentences = [none]
        if not isinstance(self, SolvedSelection):  # where somebody may be hired there is a set
            sentences.append("Whether there is one is not known.")
        if solution.bound is not None:
            bound = _number(solution.bound)
            sentences.append(f"{self.claim.word} none is {self.better} than {bound}.")
        return sentences

    def _of_file(self) -> list[str]:
        """Say what the file of the proof proves beside."""
        if self.filed is None:
            return []
        if self.filed.get("infeasible"):
            return ["Proven by the file: no answer keeps every constraint."]
        bound = self.filed["bound"]
        words = self.claim.filed(self.sign * bound, f"none {self.beyond} {_number(bound)}")
        return [f"{words[0].upper()}{words[1:]}."]

    def brief(self) -> str:
        """Give what the program prints beside: how long it took, and a note."""
        note = [("note", self.solution.note)] if self.solution.note else []
        return facts([("seconds", f"{self.solution.seconds:.3g}"), *note])

    def _payload(self) -> dict[str, Any]:
        n, m = _size(self.problem)
        size = {} if n is None else {"tasks": n}
        return {**size, "workers": m, **self.solution.as_dict(), "proof": self.filed}

    def _bound(self, over: str = "") -> str:
        """Write the bound, and whose word it is."""
        if self.solution.bound is None:
            return "none"
        bound, claim = _number(self.solution.bound), self.claim
        if claim.recomputed:
            return f"{bound} (proven{over} from the data)"
        checked = None if claim.checked is None else self.sign * claim.checked
        return f"{bound} (HiGHS's word; proven from the data: {_number(checked)})"

    def _laid_out(self, bound: str, **more: str) -> str:
        """Lay out what is known, a line each; what is empty is left out."""
        solution = self.solution
        rows = {
            "objective": _number(solution.objective),
            "bound": bound,
            "  bounds": more.get("bounds", ""),
            "gap": percent(solution.gap, 4),
            "termination": str(solution.termination),
            "method": more.get("method", ""),
            "certificate": solution.certificate.status,
            "exact bound": more.get("exact", ""),
        }
        for check in solution.certificate.checks:
            rows[f"  {check.name}"] = (
                f"{'holds' if check.passed else 'FAILS'}, largest violation "
                f"{check.violation:.2g} (tolerance {check.tolerance:.0e})"
            )
        rows |= {"seconds": f"{solution.seconds:.3g}{more.get('route', '')}", "note": solution.note}
        present = [(name, value) for name, value in rows.items() if value]
        return f"{self.title}\n{facts(present, indent='  ')}"


@dataclass(frozen=True, eq=False, repr=False)
class SolvedAssignment(Solved):
    """An assignment: who labels which task."""

    problem: AssignmentProblem | TypedProblem
    solution: Solution

    def to_frame(self) -> pd.DataFrame:
        """Give the answer by index, empty where there is none.

        Of the integer program the pairs `task, worker`; of a relaxation those with their `share`
        (of a problem stated by class `task_class, worker_class, labels`); of the dual
        `side, index, value`: task weights and worker prices.
        """
        solution = self.solution
        if solution.formulation == "dual":
            sides = {"task": solution.task_weights, "worker": solution.worker_prices}
            rows = [
                (side, at, value)
                for side, values in sides.items()
                for at, value in enumerate([] if values is None else values.tolist())
            ]
            return pd.DataFrame(rows, columns=["side", "index", "value"])
        assignment = np.zeros((0, 0)) if solution.assignment is None else solution.assignment
        if solution.formulation == "ip":
            task, worker = np.nonzero(assignment > 0.5)
            return pd.DataFrame({"task": task, "worker": worker})
        task, worker = np.nonzero(assignment > POSITIVE)
        named = ["task", "worker", "share"]
        if isinstance(self.problem, TypedProblem):
            named = ["task_class", "worker_class", "labels"]
        return pd.DataFrame(dict(zip(named, (task, worker, assignment[task, worker]), strict=True)))

    def details(self) -> str:
        """Give objective, bound, certificate and its checks, a line each."""
        solution = self.solution
        if solution.infeasibility is not None:
            return "\n".join([self.title, solution.infeasibility.sentence(), *self._of_file()])
        proof = solution.certificate
        by_name = proof.bounds if len(proof.bounds) > 1 else {}
        over = " over patterns" if proof.bound_from.endswith("patterns") else ""
        exact = proof.exact_bound
        return self._laid_out(
            self._bound(over),
            bounds=", ".join(f"{name} {_number(value)}" for name, value in by_name.items()),
            method=solution.method,
            exact="" if exact is None else f"{float(exact):.12g} (rational)",
            route=f" ({solution.route})",
        )

    def plot(self, *beside: SolvedAssignment) -> Figure:
        """Draw cost and bound over time, of an integer program; of others by their methods too.

        Raises
        ------
        InputError
            For what has no history of costs and bounds.
        """
        from workbench import plots

        runs = [solved.solution for solved in (self, *beside)]
        if not all(run.history for run in runs):
            raise InputError("plot: only an integer program has cost and bound over time")
        histories = {run.method.partition(":")[0]: run.history for run in runs}
        if len(histories) < len(runs):
            raise InputError(f"plot: {len(runs)} runs by {', '.join(histories)}; one of each")
        return plots.incumbents(histories, title=self.title)


@dataclass(frozen=True, eq=False, repr=False)
class SolvedSelection(Solved):
    """A selection: whom to hire."""

    value, better, best, beyond, sign = "Score", "better", "best", "above", -1.0

    problem: SelectionProblem
    solution: SelectionSolution

    @property
    def claim(self) -> CostClaim:
        """What is known of the set: a score is what it costs to go without, below 0."""
        from workbench.solving.claims import CostClaim

        solution, certificate = self.solution, self.solution.certificate
        if certificate.status == "proven" and solution.objective is not None:
            return CostClaim(-solution.objective, -solution.objective)
        known = solution.objective, certificate.upper_bound, solution.bound
        return CostClaim(*(None if value is None else -value for value in known))

    def to_frame(self) -> pd.DataFrame:
        """Give the chosen workers by index, and the gain of each."""
        chosen = self.solution.chosen
        at = np.zeros(0, dtype=np.int64) if chosen is None else chosen
        return pd.DataFrame({"worker": at, "gain": self.problem.gain[at]})

    def details(self) -> str:
        """Give score, bound, certificate and its checks, a line each."""
        return self._laid_out(self._bound())

    def plot(self) -> Figure:
        """Draw the gains, those of the chosen marked."""
        from workbench import plots

        return plots.chosen_gains(self.problem.gain, self.solution.chosen, title=self.title)


@dataclass(frozen=True, eq=False, repr=False)
class SolvedDrop(Solved):
    """The fewest tasks to drop, so that shares of labels cover the rest."""

    problem: AssignmentProblem
    solution: DropSolution

    def _worth(self) -> list[str]:
        """Say how many tasks go, and whose word it is that no fewer will do."""
        solution = self.solution
        many = len(solution.dropped)
        if not many:
            return ["No task has to be dropped: shares of labels cover all of them."]
        tasks = ", ".join(map(str, solution.dropped[:SHOWN]))
        more = f" and {many - SHOWN} more" if many > SHOWN else ""
        which = (
            f"Drop task{'s' if many > 1 else ''} {tasks}{more}: shares of labels cover the rest."
        )
        if solution.gap:
            return [which, f"{self.claim.word} fewer than {_number(solution.bound)} will not do."]
        return [which, f"{self.claim.word} no fewer will do."]

    def to_frame(self) -> pd.DataFrame:
        """Give the tasks to drop, by index."""
        return pd.DataFrame({"task": np.array(self.solution.dropped, dtype=np.int64)})

    def details(self) -> str:
        """Give number, bound and certificate, a line each."""
        return self._laid_out(self._bound(), method=self.solution.method)

    def plot(self) -> Figure:
        """Nothing to draw.

        Raises
        ------
        InputError
            Always: it has no history of costs and bounds.
        """
        raise InputError("plot: tasks to drop have no cost and bound over time")

    def _payload(self) -> dict[str, Any]:
        return {**super()._payload(), "dropped": list(self.solution.dropped)}


@dataclass(frozen=True, eq=False, repr=False)
class SolvedJoint(Solved):
    """An assignment for labels of several classes: who labels which task."""

    problem: JointProblem
    solution: JointSolution

    def to_frame(self) -> pd.DataFrame:
        """Give the answer by index, empty where there is none.

        Pairs `task, worker`, tasks in the order of their classes; of the relaxation
        `task_class, worker, labels`.
        """
        solution = self.solution
        labels = np.zeros((0, 0)) if solution.assignment is None else solution.assignment
        if solution.formulation == "ip":
            task, worker = np.nonzero(labels > 0.5)
            return pd.DataFrame({"task": task, "worker": worker})
        kind, worker = np.nonzero(labels > POSITIVE)
        return pd.DataFrame({"task_class": kind, "worker": worker, "labels": labels[kind, worker]})

    def details(self) -> str:
        """Give objective, bound, certificate and its checks, a line each."""
        solution = self.solution
        if solution.infeasibility is not None and solution.least_error is not None:
            first, second = solution.worst_pair
            return (
                f"{self.title}\n{solution.infeasibility.sentence()} All workers together promise "
                f"{solution.least_error.max():.3g} at best, and tell classes {first} and {second} "
                "apart worst."
            ) + "".join(f"\n{words}" for words in self._of_file())
        return self._laid_out(self._bound(), method=solution.method)

    def plot(self) -> Figure:
        """Nothing to draw.

        Raises
        ------
        InputError
            Always: a joint problem has no history of costs and bounds.
        """
        raise InputError("plot: a joint problem has no cost and bound over time")


@overload
def solve(
    problem: Problem | str | Path,
    formulation: str | None = None,
    *,
    epsilon: float | None = None,
    gain: str | None = None,
    constraints: None = None,
    solver: None = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    start: Start | None = None,
    time_limit: float | None = None,
    exact: bool = False,
    progress: Callable[[Incumbent], None] | None = None,
    keep_on_interrupt: bool = False,
    proof: str | Path | None = None,
) -> Solved: ...
@overload
def solve(
    problem: Problem | str | Path,
    formulation: str | None = None,
    *,
    epsilon: float | None = None,
    gain: str | None = None,
    constraints: Constraints | None = None,
    solver: str | None = None,
    options: Mapping[str, Any] | None = None,
    start: Start | None = None,
    time_limit: float | None = None,
    progress: Callable[[Incumbent], None] | None = None,
    keep_on_interrupt: bool = False,
) -> SolvedModel: ...
@overload
def solve(
    problem: PyomoModel,
    *,
    solver: str | None = None,
    options: Mapping[str, Any] | None = None,
    start: Start | None = None,
    time_limit: float | None = None,
    progress: Callable[[Incumbent], None] | None = None,
    keep_on_interrupt: bool = False,
) -> SolvedModel: ...
def solve(
    problem: Problem | PyomoModel | str | Path,
    formulation: str | None = None,
    *,
    epsilon: float | None = None,
    gain: str | None = None,
    constraints: Constraints | None = None,
    solver: str | None = None,
    method: str = "auto",
    options: Mapping[str, Any] | None = None,
    start: Start | None = None,
    time_limit: float | None = None,
    exact: bool = False,
    progress: Callable[[Incumbent], None] | None = None,
    keep_on_interrupt: bool = False,
    proof: str | Path | None = None,
) -> Solved | SolvedModel:
    """Solve a problem of assignment, selection or both, or a Pyomo model, and check the answer.

    Parameters
    ----------
    problem
        `AssignmentProblem`, `TypedProblem`, `SelectionProblem`, `crowd_models.joint.JointProblem`
        (labels of several classes), a file of one (.json, .npz), or any Pyomo `ConcreteModel`.
    formulation
        Integer program (ip), relaxation, dual, the relaxation over counts (typed), or the fewest
        tasks to drop so that the rest has a solution (drop).

        `ip`, `relaxation`, `dual`, `typed` or `drop` of an assignment; `typed` of a problem stated
        by class; `slices` or `sizes` of a selection; `ip` or `relaxation` of a joint problem. The
        first that fits when None.
    epsilon
        Largest error that each task may have. In place of the file's epsilon or requirement.
    gain
        What a label counts, where the file states skills: by Lemma 1, or by Bhattacharyya's bound.
        [default: the file's, or hoeffding]

        `bhattacharyya` keeps the same promise if votes are weighted by log-odds.
    constraints
        Function that adds rows to the Pyomo model.
    solver
        Any solver that Pyomo knows: highs, scip, cbc, gurobi, … [default: our own methods with
        HiGHS]
    method
        Of the integer program: patterns (column generation), mip (heuristic, then branch and
        bound), highs (branch and bound alone). Of typed: lp, or cutting-planes for very many
        workers.
    options
        Of the solver, by its own names.

        For HiGHS `threads`, `random_seed` and `mip_rel_gap` (the relative gap that is enough), say.
    start
        A plan to start from: a result, its frame, or a matrix tasks × workers. Of a model: values
        by variable or its name.
    time_limit
        Seconds for the solver.
    exact
        Prove the bound in rational arithmetic.
    progress
        A function that is given cost and bound of an integer program whenever they improve.
    keep_on_interrupt
        Ctrl-C gives the best so far, `interrupted`.
    proof
        File (.json) for what is proven, which workbench verify reads.

        Of an integer program in a .json file (by covers, by exact errors, or of several classes):
        the plan and its bound, a bound alone, or that there is no plan. Of a selection: the set,
        and what no other gains. Of drop: shares for the rest, and that fewer will not do. Where
        nothing is proven nothing is written.

    Returns
    -------
    Solved or SolvedModel
        Also for an infeasible problem, or when time ran out: see `solved` and `summary()`. The
        second of a model, and where `constraints` or `solver` are given: with `model`, `duals`,
        `reduced_costs`, `slacks` and `log`.

    Raises
    ------
    InputError
        A file that cannot be read, an unknown formulation, method or solver, a solver that is not
        installed, a limit that is not a positive number, an option that the problem or the solver
        does not have, a start that is no plan.

    Notes
    -----
    Source: Ho, Jabbari, Vaughan (2013), (1)–(3) and Section 4; Li, Liu (2015), Section 3.

    Examples
    --------
    >>> import workbench as wb
    >>> problem = wb.AssignmentProblem([[0.3, 0.6, 0.6]], capacity=1, requirement=1.0)
    >>> solved = wb.solve(problem, "ip")
    >>> solved.objective, solved.to_frame().to_numpy().tolist()
    (2.0, [[0, 1], [0, 2]])

    A row of one's own, by Pyomo: not both of the first two workers.

    >>> import pyomo.environ as pyo
    >>> def apart(model):
    ...     model.apart = pyo.Constraint(expr=model.y[0, 1] + model.y[0, 2] <= 1)
    >>> wb.solve(problem, constraints=apart).termination
    <Termination.INFEASIBLE: 'infeasible'>
    """
    how = {"options": options, "time_limit": time_limit, "progress": progress}
    how["keep_on_interrupt"] = keep_on_interrupt
    ours = {"method": method, "exact": exact, "proof": proof}
    if is_model(problem):
        given = {"formulation": formulation, "epsilon": epsilon, "gain": gain}
        _unused("a Pyomo model", {**given, "constraints": constraints, **ours})
        return solve_own_model(problem, solver or "highs", start, **how)
    program = read(cast("Problem", problem), epsilon, gain)
    if constraints is not None or solver is not None:
        _unused("a problem's Pyomo model", ours)
        form = formulation or ("sizes" if isinstance(program, SelectionProblem) else usual(program))
        title = described(program, form) if form in TITLES else form
        return solve_with_rows(program, form, constraints, solver or "highs", start, title, **how)
    if proof is not None:
        check_provable(problem, program, formulation or usual(program), epsilon, gain)
    solved = _by_our_methods(program, formulation, start, {**how, "method": method, "exact": exact})
    return _with_proof(solved, problem, proof)


def _by_our_methods(
    program: Problem, formulation: str | None, start: Start | None, how: dict[str, Any]
) -> Solved:
    """Solve a problem by the methods made for it."""
    from workbench import solving
    from workbench.solving.any_model import highs_options

    run = highs_options(how.pop("options") or {}, how.pop("time_limit"))
    usual_run: dict[str, Any] = {
        "time_limit": run.time_limit,
        "threads": run.threads,
        "seed": run.seed,
    }
    rest = {**how, "start": start, "options": run.more}
    if isinstance(program, JointProblem):
        from workbench.solving.joint.route import solve_joint

        _unused("a joint problem", rest)
        if formulation not in (None, *JOINT):
            kinds = " or ".join(JOINT)
            raise InputError(f"formulation is {formulation!r}: for a joint problem give {kinds}")
        joint = solve_joint(program, formulation or "ip", gap=run.gap, **usual_run)
        return SolvedJoint(program, joint)
    if isinstance(program, SelectionProblem):
        from workbench.solving.hiring import solve_selection

        _unused("a selection", {**rest, "gap": run.gap})
        hired = solve_selection(program, formulation or "slices", **usual_run)
        return SolvedSelection(program, hired)
    if formulation == "drop":
        _unused("drop", {**rest, "gap": run.gap})
        return _dropped(program, run.time_limit)
    formulation = formulation or usual(program)
    if program.gain == EXACT_ERROR:
        solution = _exact_error(program, formulation, rest, run.time_limit, run.gap, run.seed)
        return SolvedAssignment(program, solution)
    solution = solving.solve(
        program,
        formulation,
        start=None if start is None else plan_of(start, program),
        gap=run.gap,
        more=run.more,
        **usual_run,
        **how,
    )
    return SolvedAssignment(program, solution)


def _exact_error(
    program: AssignmentProblem | TypedProblem,
    formulation: str,
    options: dict[str, Any],
    time_limit: float | None,
    gap: float,
    seed: int,
) -> Solution:
    """Solve an exact-error program, which knows no relaxation and one method."""
    from workbench.solving.exact_error import exact_error_solution

    if formulation != "ip" or not isinstance(program, AssignmentProblem):
        raise InputError(f"formulation is {show(formulation)}: for an exact error give ip")
    _unused("an exact-error problem", options)
    return exact_error_solution(program, time_limit=time_limit, gap=gap, seed=seed)


def _dropped(program: AssignmentProblem | TypedProblem, time_limit: float | None) -> SolvedDrop:
    """Find the fewest tasks to drop."""
    from workbench.solving.dropping import solve_drop

    if not isinstance(program, AssignmentProblem) or program.gain == EXACT_ERROR:
        raise InputError("formulation 'drop': is of a cover problem by task and worker")
    return SolvedDrop(program, solve_drop(program, time_limit=time_limit))


AnySolved = TypeVar("AnySolved", bound=Solved)


def _with_proof(solved: AnySolved, problem: object, proof: str | Path | None) -> AnySolved:
    """Write the proof, if one is asked for and there is one; the same answer."""
    if proof is None:
        return solved
    content, solved = with_file(str(problem), solved)
    if content is not None:
        write_together({Path(proof): content})
    return solved


def with_file(file: str, solved: AnySolved) -> tuple[bytes | None, AnySolved]:
    """Give the file of what is proven of a problem's file, and the answer that says what it proves.

    None, and the answer as it is, where nothing is proven.
    """
    from workbench.solving.proof_file import stated

    content = proof_of(file, solved)
    return content, solved if content is None else replace(solved, filed=stated(content))


def check_provable(
    problem: object, program: object, formulation: str, epsilon: float | None, gain: str | None
) -> None:
    """Refuse a proof of what has none: it is of a plan, and names the file of its problem."""
    whole = isinstance(program, (AssignmentProblem, JointProblem)) and formulation == "ip"
    drop = isinstance(program, AssignmentProblem) and formulation == "drop"
    if not (whole or drop or isinstance(program, SelectionProblem)):
        raise InputError("proof: belongs to an integer program by task and worker; leave it out")
    if not isinstance(problem, (str, Path)) or Path(problem).suffix.lower() != ".json":
        raise InputError("proof: names the file of its problem; give the problem as a .json file")
    if epsilon is not None or gain is not None:
        raise InputError("proof: the problem's file says all; leave `epsilon` and `gain` out")


def proof_of(file: str | Path, solved: Solved) -> bytes | None:
    """Write what is proven of a problem's file; None where nothing is.

    Raises
    ------
    InputError
        The checker refuses what would be written.
    """
    from workbench.solving.proof_file import drop_proof_file, proof_file, selection_proof_file

    content = read_whole(Path(file))
    if isinstance(solved, SolvedDrop):
        return drop_proof_file(content, solved.problem, solved.solution)
    if isinstance(solved, SolvedSelection):
        return selection_proof_file(content, solved.problem, solved.solution)
    assert isinstance(solved, (SolvedAssignment, SolvedJoint))
    assert not isinstance(solved.problem, TypedProblem)
    return proof_file(content, solved.problem, solved.solution)


def _unused(what: str, options: dict[str, Any]) -> None:
    """Refuse options that a problem does not have."""
    for name, value in options.items():
        idle = value is None or (name == "method" and value == "auto")
        if not idle and (not isinstance(value, (bool, int, float, tuple)) or value):
            raise InputError(f"{name}: {what} has none, leave it out")


PROVEN = ("sol", "vipr")
"""Formats that are written of a proof."""


@dataclass(frozen=True)
class ModelFile:
    """A model as the text of a file that any solver takes.

    Attributes
    ----------
    format, formulation
        `lp`, `mps`, `sol` or `vipr`, and what the model states.
    content
        The text.
    variables, constraints
        How many.
    """

    format: str
    formulation: str
    content: bytes
    variables: int
    constraints: int

    def to_dict(self) -> dict[str, Any]:
        """Give what is known of it, without the text."""
        return {name: value for name, value in vars(self).items() if name != "content"}


def export(
    problem: Problem | str | Path,
    formulation: str | None = None,
    *,
    format: str = "lp",
    epsilon: float | None = None,
    gain: str | None = None,
    proof: str | Path | None = None,
) -> ModelFile:
    """Write the readable Pyomo model of an assignment problem as .lp or .mps; or what is proven.

    Variables are named as in the paper: y(i_j) is worker j on task i.

    Parameters
    ----------
    problem, formulation, epsilon, gain
        As for `solve`.
    format
        Kind of file. [default: as the file's name ends, else lp]

        `lp` or `mps`, the model. Of a proof: `sol`, its plan in MIPLIB's form; `vipr`, all of it as
        a VIPR 1.1 certificate, for checkers that others wrote.
    proof
        Proof by workbench solve --proof: for .sol and .vipr.

        File that `solve` wrote for the problem's .json file; it is checked first.

    Raises
    ------
    InputError
        A file that cannot be read, an unknown format, a proof that is wrong or too large.

    Examples
    --------
    >>> from workbench import AssignmentProblem
    >>> from workbench.api.solving import export
    >>> model = export(AssignmentProblem([[0.9, 0.5]], capacity=1, requirement=1.0))
    >>> model.variables, model.constraints, b"y(0_1)" in model.content
    (2, 3, True)
    """
    from workbench.solving.pyomo_route import build

    if format in PROVEN:
        return _proven_file(problem, formulation, format, epsilon, gain, proof)
    if format not in ("lp", "mps"):
        raise InputError(f"format is {show(format)}: choose lp, mps, sol or vipr")
    program = read(problem, epsilon, gain)
    if isinstance(program, (SelectionProblem, JointProblem)) or program.gain == EXACT_ERROR:
        raise InputError("problem: of another kind; give an assignment problem")
    formulation = formulation or usual(program)
    model = build(program, formulation)
    content = model_text(model, format)
    return ModelFile(format, formulation, content, model.nvariables(), model.nconstraints())


def _proven_file(
    problem: Problem | str | Path,
    formulation: str | None,
    format: str,
    epsilon: float | None,
    gain: str | None,
    proof: str | Path | None,
) -> ModelFile:
    """Write a proof of a problem's file in another form."""
    from workbench.solving.sol_file import sol_file
    from workbench.solving.vipr import vipr_file

    if proof is None:
        raise InputError(f"format {format} writes a proof: give that too, as solve wrote it")
    program = read(problem)
    formulation = formulation or usual(program)
    check_provable(problem, program, formulation, epsilon, gain)
    assert isinstance(problem, (str, Path))
    if not isinstance(program, AssignmentProblem) or program.gain == EXACT_ERROR:
        raise InputError(f"format {format}: sets of workers are listed, which it has no form for")
    try:
        text = read_whole(Path(proof)).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{proof}: cannot be read ({error})") from None
    write = sol_file if format == "sol" else vipr_file
    content = write(read_whole(Path(problem)), text)
    rows = sum(program.shape)
    return ModelFile(format, formulation, content, int(program.mask.sum()), rows)


def read(
    problem: Problem | str | Path, epsilon: float | None = None, gain: str | None = None
) -> Problem:
    """Take a problem, or read one from a file; `epsilon` replaces its requirement, `gain` its gain.

    Raises
    ------
    InputError
        It is none, the file cannot be read, or it has no error to replace.
    """
    if isinstance(problem, (str, Path)):
        from crowd_models.files import read_problem

        problem = read_problem(problem, gain=gain)
    elif not isinstance(problem, Problem):
        raise InputError(
            f"problem: {type_name(problem)}; give an AssignmentProblem, TypedProblem or "
            "SelectionProblem, or the path of a .json or .npz file"
        )
    elif gain is not None and (
        isinstance(problem, (SelectionProblem, JointProblem)) or gain != problem.gain
    ):
        raise InputError(f"gain: is for a file of skills, state the problem by {show(gain)}")
    if epsilon is None:
        return problem
    if not isinstance(problem, AssignmentProblem) or problem.gain == EXACT_ERROR:
        raise InputError("epsilon: is for an AssignmentProblem, state the requirement of this one")
    return replace(problem, requirement=gain_of(problem.gain).requirement(epsilon))


def usual(problem: Problem) -> str:
    """Name the formulation that is solved where none is asked for."""
    if isinstance(problem, SelectionProblem):
        return "slices"
    return "typed" if isinstance(problem, TypedProblem) else "ip"


def reports_progress(problem: Problem, formulation: str) -> bool:
    """Whether costs and bounds are reported while it is solved, and kept when it is interrupted."""
    if isinstance(problem, (SelectionProblem, JointProblem)) or formulation == "drop":
        return False
    return problem.gain != EXACT_ERROR


def described(problem: Problem, formulation: str) -> str:
    """Say in a line what is to be solved."""
    n, m = _size(problem)
    if isinstance(problem, SelectionProblem):
        return f"{TITLES[formulation]}, at most {problem.budget} of {m} workers"
    if isinstance(problem, JointProblem):
        low, high = problem.epsilon.min(), problem.epsilon.max()
        error = f"ε = {low:.4g}" if low == high else f"ε from {low:.4g} to {high:.4g}"
        if problem.scale != 1.0:
            cost = f"{problem.scale * low:.4g}"
            if low != high:
                cost = f"from {cost} to {problem.scale * high:.4g}"
            error = f"expected cost {cost}, which is {error} under the tilted prior"
        return f"{JOINT[formulation]}, {n} tasks × {m} workers, {error}"
    needs = problem.requirement
    if problem.gain not in GAINS:
        return f"{TITLES[formulation]}, {n} tasks × {m} workers, by {problem.gain}"
    low, high = (float(gain_of(problem.gain).error(f(needs))) for f in (np.max, np.min))
    error = f"ε = {low:.4g}" if low == high else f"ε from {low:.4g} to {high:.4g}"
    by = "" if problem.gain == "hoeffding" else f" by {gain_of(problem.gain).source}"
    return f"{TITLES[formulation]}, {n} tasks × {m} workers, {error}{by}"


def _size(problem: Problem) -> tuple[int | None, int]:
    """How many tasks, where there are any, and how many workers."""
    if isinstance(problem, SelectionProblem):
        return None, len(problem.gain)
    if isinstance(problem, JointProblem):
        return int(problem.tasks.sum()), problem.shape[1]
    if isinstance(problem, TypedProblem):
        return int(problem.tasks.sum()), int(problem.workers.sum())
    return problem.shape


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.10g}"


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Result):
    """Small problems with known answers, and what this installation answers.

    Attributes
    ----------
    canaries
        The problems.
    versions, machine
        What is at work, and where.
    """

    canaries: tuple[KnownProblem, ...]
    versions: dict[str, str]
    machine: dict[str, str]

    @property
    def passed(self) -> bool:
        """Whether every answer is right."""
        return all(canary.passed for canary in self.canaries)

    def to_frame(self) -> pd.DataFrame:
        """Give the problems: expected and given answer, whether they agree, seconds."""
        return pd.DataFrame([asdict(canary) for canary in self.canaries])

    def details(self) -> str:
        """List versions, machine and problems, and what has failed."""
        about = facts([*self.versions.items(), *self.machine.items()], 9)
        rows = tabled([asdict(canary) for canary in self.canaries], CANARY)
        failed = [canary.name for canary in self.canaries if not canary.passed]
        end = f"failed: {', '.join(failed)}" if failed else "all passed"
        return f"{about}\n\n{rows}\n\n{end}"

    def __repr__(self) -> str:
        wrong = sum(not canary.passed for canary in self.canaries)
        return f"Diagnosis: {len(self.canaries)} problems, {wrong} answered wrongly"

    def _payload(self) -> dict[str, Any]:
        canaries = [asdict(canary) for canary in self.canaries]
        return {**super()._payload(), "canaries": canaries, "passed": self.passed}


CANARY: Columns = {
    "name": ("canary", ""),
    "expected": ("expected", ""),
    "got": ("got", ""),
    "passed": ("passed", lambda passed: "yes" if passed else "NO"),
    "seconds": ("seconds", ".2f"),
    "note": ("note", ""),
}


def doctor() -> Diagnosis:
    """Solve small problems with known answers, and name the versions at work.

    Examples
    --------
    >>> from workbench.api.solving import doctor
    >>> doctor().passed
    True
    """
    from workbench.solving import self_check, versions

    machine = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
    }
    return Diagnosis(tuple(self_check.run_self_check()), versions(), machine)
