from __future__ import annotations

import json
import math

import numpy as np
import pytest

from crowd_models.files import read_problem
from workbench.cli.options import FORMULATIONS
from workbench.solving import Certificate, Solution, Termination

KEYS = {
    "tasks": int,
    "workers": int,
    "formulation": str,
    "route": str,
    "termination": str,
    "objective": (float, int),
    "bound": (float, int),
    "gap": (float, int),
    "certificate": dict,
    "task_weights": list,
    "worker_prices": list,
    "seconds": float,
    "versions": dict,
}


def strict(text: str):
    def constant(name):
        raise AssertionError(f"{name} is not JSON")

    assert text.count("\n") == 1
    return json.loads(text, parse_constant=constant)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_json(formulation, run, problem):
    result = run("solve", problem, "--formulation", formulation, "--exact", "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    answer = strict(result.stdout)
    for key, kind in KEYS.items():
        assert isinstance(answer[key], kind), key
    assert answer["formulation"] == formulation
    assert (answer["tasks"], answer["workers"]) == (3, 3)
    assert len(answer["task_weights"]) == 3
    assert answer["gap"] == 0
    exact = answer["certificate"]["exact_bound"]
    assert exact == "6" if formulation == "ip" else "/" in exact
    assert answer["certificate"]["lower_bound"] <= answer["bound"] + 1e-9
    for check in answer["certificate"]["checks"]:
        assert set(check) == {"name", "passed", "violation", "tolerance"}
    if formulation != "ip":
        assert answer["assignment"] is None
        return
    data = read_problem(problem)
    y = np.zeros(data.shape)
    y[tuple(np.array(answer["assignment"]).T)] = 1
    assert y.sum() == answer["objective"] == answer["bound"]
    assert ((data.quality * y).sum(axis=1) >= data.requirement - 1e-9).all()
    assert (y.sum(axis=0) <= data.capacity).all()


def test_a_person_reads_what_is_proven(run, problem, tmp_path):
    out = tmp_path / "plan.csv"
    result = run("solve", problem, "--out", out, "--exact", "--threads", 2, "--details")
    assert result.stdout.startswith("Cost 6: ")
    assert result.exit_code == 0
    assert "offline integer program, 3 tasks × 3 workers, ε = 0.65" in result.stdout
    for word in ("objective", "bound", "gap", "optimal", "cover (2)", "holds", "seconds", "exact"):
        assert word in result.stdout
    assert f"written: {out}" in result.stdout
    lines = out.read_text().splitlines()
    assert lines[0] == "task,worker"
    answer = strict(run("solve", problem, "--json").stdout)
    pairs = [tuple(int(k) for k in line.split(",")) for line in lines[1:]]
    assert len(pairs) == answer["objective"]
    assert sorted(tmp_path.iterdir()) == sorted([problem, out])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_infeasible_is_exit_code_1_with_the_mend(formulation, run, problem, tmp_path):
    out = tmp_path / "plan.json"
    result = run("solve", problem, "--epsilon", 0.001, "--formulation", formulation, "--out", out)
    assert result.exit_code == 1
    assert "There is no plan, " in result.stdout
    assert "--epsilon" in result.stdout
    answer = strict(out.read_text())
    assert answer["termination"] == "infeasible"
    assert answer["objective"] is answer["gap"] is None
    assert answer["message"] in result.stdout


def stopped(why: Termination) -> Solution:
    return Solution(
        "ip",
        "arrays",
        why,
        objective=9.0,
        bound=4.0,
        assignment=np.eye(3),
        certificate=Certificate("feasible", lower_bound=math.nan),
        note="it was stopped",
    )


@pytest.mark.parametrize(
    ("why", "code"),
    [(Termination.TIME_LIMIT, 0), (Termination.INTERRUPTED, 130), (Termination.NUMERICS, 0)],
)
def test_an_answer_that_is_not_proven_is_an_answer(why, code, run, problem, monkeypatch):
    monkeypatch.setattr("workbench.solving.solve", lambda *_, **__: stopped(why))
    result = run("solve", problem, "--json")
    assert result.exit_code == code
    answer = strict(result.stdout)
    assert answer["objective"] == 9
    assert answer["certificate"]["lower_bound"] is None  # NaN has no place in JSON
    assert answer["assignment"] == [[0, 0], [1, 1], [2, 2]]
    block = run("solve", problem, "--details")
    assert block.exit_code == code
    assert "HiGHS's word" in block.stdout
    assert str(why) in block.stdout
    assert "it was stopped" in block.stdout


def test_exact_errors_and_several_classes_have_files_and_proofs(run, tmp_path):
    exact = {"gain": "exact error", "skill": [[0.7, 0.8, 0.9]] * 2, "epsilon": 0.2, "capacity": 2}
    coins = [[[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]] * 4
    told = {"confusion": {"a": coins}, "task_types": ["a"] * 2, "prior": [0.5, 0.25, 0.25]}
    for raw in (exact, {**told, "epsilon": 0.3, "capacity": 2}):
        problem, proof = tmp_path / "problem.json", tmp_path / "proof.json"
        problem.write_text(json.dumps(raw))
        result = run("solve", problem, "--proof", proof)
        assert result.exit_code == 0, result.stderr
        assert "It is proven that none is cheaper." in result.stdout
        assert run("verify", problem, proof).stdout.endswith("and none is cheaper\n")
        export = run("export", problem, "--proof", proof, "--out", tmp_path / "p.vipr")
        assert export.exit_code == 2
        assert "sets of workers are listed" in export.stderr


def test_tasks_to_drop_have_a_proof_that_no_other_form_holds(run, tmp_path):
    problem, proof = tmp_path / "problem.json", tmp_path / "proof.json"
    raw = {"quality": [[0.5, 0.4, 0.3]] * 3, "requirement": 0.8, "capacity": [1, 2, 1]}
    problem.write_text(json.dumps(raw))
    result = run("solve", problem, "--formulation", "drop", "--proof", proof)
    assert result.exit_code == 0, result.stderr
    assert "It is proven that no fewer will do." in result.stdout
    line = run("verify", problem, proof).stdout
    assert line == "holds: shares of labels cover all tasks but 1, and never all but fewer\n"
    export = run("export", problem, "--proof", proof, "--out", tmp_path / "p.vipr")
    assert export.exit_code == 2
    assert "no form for a proof of kind 'drop'" in export.stderr


def test_whom_to_hire_has_a_file_and_a_proof(run, tmp_path):
    problem, proof = tmp_path / "problem.json", tmp_path / "proof.json"
    raw = {"gains": [0.81, 0.64, 0.49, 0.36, None], "budget": 3, "costs": [4, 3, 2, 1, 1]}
    problem.write_text(json.dumps({**raw, "money": 6}))
    result = run("solve", problem, "--proof", proof)
    assert result.exit_code == 0, result.stderr
    assert "It is proven that none is better." in result.stdout
    assert run("verify", problem, proof).stdout.endswith("and no set has a higher\n")


def test_a_problem_stated_by_class_needs_no_formulation(run, tmp_path):
    problem = tmp_path / "problem.json"
    raw = {"skill": [[0.9, 0.8]], "capacity": [2, 2], "epsilon": [0.6]}
    problem.write_text(json.dumps({**raw, "tasks": [3], "workers": [4, 4]}))
    result = run("solve", problem)
    assert result.exit_code == 0, result.output
    assert "relaxation over class counts" in result.stdout
    assert run("export", problem, "--out", tmp_path / "x.lp").exit_code == 0


@pytest.mark.parametrize("formulation", [(), ("--formulation", "sizes")])
def test_whom_to_hire_is_written_as_a_table(formulation, run, tmp_path):
    problem, out = tmp_path / "problem.json", tmp_path / "hired.csv"
    problem.write_text(json.dumps({"gains": [0.81, 0.64, 0.01], "budget": 2}))
    assert run("solve", problem, *formulation, "--out", out).exit_code == 0
    assert out.read_text() == "worker,gain\n0,0.81\n1,0.64\n"


def test_another_solver_is_named_on_the_screen(run, problem, tmp_path, monkeypatch):
    out = tmp_path / "plan.csv"
    result = run("solve", problem, "--solver", "appsi_highs", "--out", out, "--details")
    assert result.exit_code == 0, result.output
    assert "(appsi_highs)" in result.stdout
    assert "HiGHS's word" in result.stdout
    assert out.read_text().startswith("task,worker\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (
        "not installed: an executable `glpsol`" in run("solve", problem, "--solver", "glpk").output
    )
