"""A solver that lies: whatever a route brings back wrong ends as `numerics`, without numbers."""

import re
from dataclasses import replace

import numpy as np
import pytest

from crowd_models import AssignmentProblem
from workbench.solving import Termination, integer_program, linear, solve
from workbench.solving.solution import RawAnswer

PROBLEM = AssignmentProblem(
    quality=[[0.9, 0.5, 0.4, 0.3], [0.3, 0.8, 0.9, 0.2], [0.5, 0.5, 0.5, 0.9]],
    capacity=[2, 2, 2, 1],
    requirement=[1.0, 1.0, 0.9],
)


def tampered(monkeypatch, formulation, change):
    """Solve with `change` applied to every answer of the array route to that formulation."""
    honest = integer_program.run_arrays

    def run(problem, asked, options, *reports):
        # Without the reports of incumbents: a known solution would speak against the lie.
        answer = honest(problem, asked, options)
        return change(answer) if asked == formulation else answer

    monkeypatch.setattr(integer_program, "run_arrays", run)
    monkeypatch.setattr(linear, "run_arrays", run)


def alone(monkeypatch):
    """Leave the method asked for without those that would take over."""
    monkeypatch.setattr(integer_program, "FALLBACKS", ())


def changed(values, at, value):
    values = np.array(values)
    values[at] = value
    return values


CHANGES = {
    "nothing assigned": lambda a: replace(a, pairs=a.pairs * 0),
    "everything assigned": lambda a: replace(a, pairs=a.pairs * 0 + 1),
    "a label more": lambda a: replace(a, pairs=changed(a.pairs, np.argmin(a.pairs), 1.0)),
    "a label less": lambda a: replace(a, pairs=changed(a.pairs, np.argmax(a.pairs), 0.0)),
    "negative": lambda a: replace(a, pairs=changed(a.pairs, np.argmin(a.pairs), -1.0)),
    "NaN": lambda a: replace(a, pairs=changed(a.pairs, 0, np.nan)),
    "infinite": lambda a: replace(a, pairs=changed(a.pairs, 0, np.inf)),
    "no solution": lambda a: replace(a, pairs=None),
}
DUAL_CHANGES = {
    "weights too high": lambda a: replace(a, task_weights=a.task_weights * 1.01),
    "weights too low": lambda a: replace(a, task_weights=a.task_weights * 0.99),
    "weight NaN": lambda a: replace(a, task_weights=changed(a.task_weights, 0, np.nan)),
    "weight infinite": lambda a: replace(a, task_weights=changed(a.task_weights, 0, np.inf)),
    "price NaN": lambda a: replace(a, worker_prices=changed(a.worker_prices, 0, np.nan)),
    "price wrong": lambda a: replace(a, worker_prices=a.worker_prices + 1.0),
    "no duals": lambda a: replace(a, task_weights=None, worker_prices=None),
}


def nothing_is_claimed(solution):
    assert solution.termination is Termination.NUMERICS
    assert not solution.solved
    for name in ("objective", "bound", "gap", "assignment", "task_weights", "worker_prices"):
        assert getattr(solution, name) is None
    assert solution.infeasibility is None
    assert solution.note
    assert solution.as_dict()["message"] == solution.note


@pytest.mark.parametrize("formulation", ["relaxation", "typed"])
@pytest.mark.parametrize("name", [*CHANGES, *DUAL_CHANGES])
def test_wrong_linear_solution(monkeypatch, formulation, name):
    tampered(monkeypatch, formulation, (CHANGES | DUAL_CHANGES)[name])
    nothing_is_claimed(solve(PROBLEM, formulation))


@pytest.mark.parametrize("name", [n for n in CHANGES if n != "a label more"])
def test_wrong_whole_solution(monkeypatch, name):
    best = solve(PROBLEM, "ip").objective
    # A start that covers everything is known beforehand; it must not hide the solver's answer.
    monkeypatch.setattr(integer_program, "_start", lambda *_: None)
    tampered(monkeypatch, "ip", CHANGES[name])
    solution = solve(PROBLEM, "ip")
    assert solution.solved
    assert solution.objective == best
    assert re.match(r"highs .*; solved by patterns", solution.note)
    alone(monkeypatch)
    solution = solve(PROBLEM, "ip")
    assert solution.termination is Termination.NUMERICS
    assert solution.objective is solution.gap is solution.assignment is None
    assert solution.note.startswith("highs ")


@pytest.mark.parametrize("start_known", [True, False])
def test_a_label_too_many_is_worth_what_it_costs(monkeypatch, start_known):
    """Unless a cheaper plan is known: then that one is kept."""
    best = solve(PROBLEM, "ip").objective
    tampered(monkeypatch, "ip", lambda a: replace(CHANGES["a label more"](a), bound=a.bound))
    if not start_known:
        monkeypatch.setattr(integer_program, "_start", lambda *_: None)
    solution = solve(PROBLEM, "ip")
    assert solution.solved
    assert solution.objective == solution.bound == best
    assert ("bound does not prove; solved by" in solution.note) is not start_known


@pytest.mark.parametrize("formulation", ["ip", "relaxation", "dual", "typed"])
def test_infeasible_says_the_solver_of_a_feasible_problem(monkeypatch, formulation):
    tampered(monkeypatch, formulation, lambda _: RawAnswer(Termination.INFEASIBLE))
    solution = solve(PROBLEM, formulation)
    if formulation == "ip":  # a solution is known: rounded from the relaxation
        assert solution.solved
        assert "denies a solution that is known; solved by patterns" in solution.note
        alone(monkeypatch)
        solution = solve(PROBLEM, formulation)
        assert solution.termination is Termination.NUMERICS
        assert solution.certificate.status in ("proven", "feasible")
        monkeypatch.setattr(integer_program, "_start", lambda *_: None)
        solution = solve(PROBLEM, "ip")
    nothing_is_claimed(solution)
    assert "denies a solution that the data allow" in solution.note
