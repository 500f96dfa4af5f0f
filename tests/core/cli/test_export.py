from __future__ import annotations

import subprocess
import sys

import highspy
import pytest

from crowd_models.files import read_problem
from workbench.cli.options import FORMULATIONS
from workbench.solving import solve


def optimum(path) -> float:
    """Solve a model file by the bare solver."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)  # as many as ours: the scheduler is one for the process
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    highs.run()
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(highs.getInfo().objective_function_value)


@pytest.mark.parametrize("kind", ["lp", "mps"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_another_solver_finds_the_same_optimum(formulation, kind, run, problem, tmp_path):
    out = tmp_path / f"model.{kind}"
    result = run("export", problem, "--formulation", formulation, "--format", kind, "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith(f" constraints\nwritten: {out}\n")
    assert optimum(out) == pytest.approx(solve(read_problem(problem), formulation).objective)


def test_a_task_without_workers_cannot_be_modelled(refused, tmp_path):
    path = tmp_path / "p.json"
    path.write_text('{"quality": [[0.9]], "capacity": 1, "epsilon": 0.7, "available": [[false]]}')
    out = tmp_path / "model.lp"
    assert "task 0 has no available worker" in refused("export", path, "--out", out)
    assert not out.exists()


@pytest.mark.release
def test_it_works_in_a_fresh_process(problem, tmp_path):
    """Where no other command has imported what it needs."""
    out = tmp_path / "model.mps"
    command = ["export", str(problem), "--format", "mps", "--out", str(out)]
    subprocess.run([sys.executable, "-m", "workbench.cli", *command], check=True)
    assert optimum(out) == pytest.approx(solve(read_problem(problem), "ip").objective)


@pytest.fixture
def proven(run, problem, tmp_path):
    proof = tmp_path / "problem.proof.json"
    result = run("solve", problem, "--proof", proof)
    assert result.exit_code == 0, result.output
    return proof


@pytest.mark.release
def test_the_plan_stands_beside_the_model_in_miplibs_form(run, problem, proven, tmp_path):
    out = tmp_path / "model.mps"
    result = run("export", problem, "--proof", proven, "--out", out)
    assert result.exit_code == 0, result.output
    assert "model.sol" in result.stdout
    head, *lines = (tmp_path / "model.sol").read_text().splitlines()
    solved = solve(read_problem(problem))
    assert head == f"=obj= {solved.objective:g}"
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    assert highs.readModel(str(out)) == highspy.HighsStatus.kOk
    values = dict(line.split() for line in lines)
    columns = [highs.getColName(k)[1] for k in range(highs.getNumCol())]
    assert set(values) <= set(columns)
    for k, name in enumerate(columns):
        value = float(values.get(name, 0))
        highs.changeColBounds(k, value, value)
    highs.run()
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    assert highs.getInfo().objective_function_value == pytest.approx(solved.objective)


def test_the_ending_says_the_format(run, problem, proven, tmp_path):
    for ending, first in ((".sol", "=obj= "), (".vipr", "% cost in steps of 1")):
        out = tmp_path / f"proven{ending}"
        assert run("export", problem, "--proof", proven, "--out", out).exit_code == 0
        assert out.read_text().startswith(first)


def test_a_wrong_proof_is_not_written_in_another_form(refused, problem, proven, tmp_path):
    proven.write_text(proven.read_text().replace('"cost":', '"cost":1'))
    for ending in (".sol", ".vipr"):
        out = tmp_path / f"forged{ending}"
        assert "WRONG" in refused("export", problem, "--proof", proven, "--out", out)
        assert not out.exists()
    assert "writes a proof" in refused("export", problem, "--out", tmp_path / "p.sol")
    assert "leave it out" in refused("export", problem, "--proof", proven, "--format", "lp")
