from __future__ import annotations

import json
import math

import numpy as np
import pytest

from crowd_models.files import read_problem
from workbench import solving
from workbench.cli.options import FORMULATIONS
from workbench.cli.solve import ROUTES
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


def test_the_choices_are_those_of_the_solver():
    assert FORMULATIONS == solving.FORMULATIONS
    assert ROUTES == solving.ROUTES


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
    assert "/" in answer["certificate"]["exact_bound"]
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


def test_the_routes_agree(run, problem):
    answers = [
        strict(run("solve", problem, "--route", route, "--formulation", "relaxation",
                   "--json").stdout)
        for route in ROUTES
    ]  # fmt: skip
    assert answers[0]["objective"] == pytest.approx(answers[1]["objective"], rel=1e-9)
    assert [answer["route"] for answer in answers] == list(ROUTES)


def test_a_person_reads_what_is_proven(run, problem, tmp_path):
    out = tmp_path / "plan.csv"
    result = run("solve", problem, "--out", out, "--exact", "--threads", 2)
    assert result.exit_code == 0
    assert "offline integer program, 3 tasks × 3 workers, ε = 0.65" in result.stdout
    for word in ("objective", "bound", "gap", "optimal", "cover (2)", "holds", "seconds", "exact"):
        assert word in result.stdout
    assert f"written  {out}" in result.stdout
    lines = out.read_text().splitlines()
    assert lines[0] == "task,worker"
    answer = strict(run("solve", problem, "--json").stdout)
    pairs = [tuple(int(k) for k in line.split(",")) for line in lines[1:]]
    assert len(pairs) == answer["objective"]
    assert sorted(tmp_path.iterdir()) == sorted([problem, out])


def test_the_whole_answer_as_a_file(run, problem, tmp_path):
    out = tmp_path / "answer.json"
    result = run("solve", problem, "--formulation", "typed", "--out", out, "--json")
    assert strict(out.read_text()) == strict(result.stdout)


def test_epsilon_replaces_that_of_the_file(run, problem):
    result = run("solve", problem, "--epsilon", 0.9)
    assert "ε = 0.9" in result.stdout
    assert result.exit_code == 0


def test_errors_of_their_own_show_as_a_range(run, tmp_path):
    path = tmp_path / "p.json"
    path.write_text('{"quality": [[0.9], [0.9]], "capacity": 2, "epsilon": [0.7, 0.8]}')
    assert "ε from 0.7 to 0.8" in run("solve", path).stdout


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_infeasible_is_exit_code_1_with_the_mend(formulation, run, problem, tmp_path):
    out = tmp_path / "plan.json"
    result = run("solve", problem, "--epsilon", 0.001, "--formulation", formulation, "--out", out)
    assert result.exit_code == 1
    assert "infeasible: " in result.stdout
    assert "--epsilon" in result.stdout
    answer = strict(out.read_text())
    assert answer["termination"] == "infeasible"
    assert answer["objective"] is answer["gap"] is None
    assert answer["message"] in result.stdout


def test_the_epsilon_that_is_offered_will_do(run, problem):
    message = strict(run("solve", problem, "--epsilon", 0.001, "--json").stdout)["message"]
    offered = message.split("--epsilon ")[1].split()[0]
    assert run("solve", problem, "--epsilon", offered).exit_code == 0


def test_no_assignment_no_csv(run, problem, tmp_path):
    out = tmp_path / "plan.csv"
    result = run("solve", problem, "--epsilon", 0.001, "--out", out)
    assert "not written: no assignment" in result.stdout
    assert not out.exists()


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
    [(Termination.TIME_LIMIT, 1), (Termination.INTERRUPTED, 130), (Termination.NUMERICS, 1)],
)
def test_an_unproven_answer_is_printed_and_told_by_the_exit_code(
    why, code, run, problem, monkeypatch
):
    monkeypatch.setattr("workbench.solving.solve", lambda *_, **__: stopped(why))
    result = run("solve", problem, "--json")
    assert result.exit_code == code
    answer = strict(result.stdout)
    assert answer["objective"] == 9
    assert answer["certificate"]["lower_bound"] is None  # NaN has no place in JSON
    assert answer["assignment"] == [[0, 0], [1, 1], [2, 2]]
    block = run("solve", problem)
    assert block.exit_code == code
    assert "branch and bound" in block.stdout
    assert str(why) in block.stdout
    assert "it was stopped" in block.stdout


def test_options_reach_the_solver(run, problem, monkeypatch):
    seen = {}

    def solve(data, formulation, **options):
        seen.update(options, formulation=formulation)
        return stopped(Termination.TIME_LIMIT)

    monkeypatch.setattr("workbench.solving.solve", solve)
    run("solve", problem, "--formulation", "dual", "--route", "pyomo", "--time-limit", 5,
        "--gap", 0.1, "--threads", 2, "--seed", 7, "--exact")  # fmt: skip
    assert callable(seen.pop("progress"))
    assert seen == {
        "formulation": "dual", "route": "pyomo", "method": "auto", "time_limit": 5.0,
        "gap": 0.1, "threads": 2, "seed": 7, "exact": True, "keep_on_interrupt": True,
    }  # fmt: skip


def test_the_same_seed_gives_the_same_answer(run, problem):
    one, other = (strict(run("solve", problem, "--seed", 3, "--json").stdout) for _ in range(2))
    assert one["assignment"] == other["assignment"]


def test_long_work_shows_a_line_and_json_stays_clean(run, problem, monkeypatch):
    import time

    def slow(*_, **__):
        time.sleep(0.1)
        return stopped(Termination.TIME_LIMIT)

    monkeypatch.setattr("workbench.solving.solve", slow)
    from workbench.cli import output, solve

    monkeypatch.setattr(solve, "working", lambda what, after: output.working(what, after=0.01))
    result = run("solve", problem, "--json")
    assert strict(result.stdout)
    assert result.stderr.startswith("solving: offline integer program")
