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
    assert result.stdout.startswith(f"written  {out}: ")
    assert optimum(out) == pytest.approx(solve(read_problem(problem), formulation).objective)


def test_a_task_without_workers_cannot_be_modelled(refused, tmp_path):
    path = tmp_path / "p.json"
    path.write_text('{"quality": [[0.9]], "capacity": 1, "epsilon": 0.7, "available": [[false]]}')
    out = tmp_path / "model.lp"
    assert "task 0 has no available worker" in refused("export", path, "--out", out)
    assert not out.exists()


def test_it_works_in_a_fresh_process(problem, tmp_path):
    """Where no other command has imported what it needs."""
    out = tmp_path / "model.mps"
    command = ["export", str(problem), "--format", "mps", "--out", str(out)]
    subprocess.run([sys.executable, "-m", "workbench.cli", *command], check=True)
    assert optimum(out) == pytest.approx(solve(read_problem(problem), "ip").objective)
