"""`workbench solve --method`: which method and why, cost and bound on the way, Ctrl-C."""

from __future__ import annotations

import json
import sys

import numpy as np
import pexpect
import pytest

SKILLS = np.random.default_rng(0).uniform(0.6, 0.95, (3, 60)).round(4)


def written(path, *, tasks, epsilon, capacity, skills=SKILLS, **more):
    kinds = np.arange(tasks) * 3 // tasks
    problem = {"skill": skills[kinds].tolist(), "capacity": capacity, "epsilon": epsilon}
    path.write_text(json.dumps(problem | {k: v[kinds].tolist() for k, v in more.items()}))
    return path


@pytest.fixture
def alike(tmp_path):
    return written(tmp_path / "alike.json", tasks=90, epsilon=0.2, capacity=60)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--plot", "x.png", "--formulation", "typed"), "only the integer program"),
        (("--method", "lp"), "use auto, patterns, mip, highs"),
        (("--method", "patterns", "--solver", "highs"), "method: a problem's Pyomo model has none"),
        (("--solver", "nosuch"), "Pyomo knows none of that name that is installed"),
        (("--solver", "scip", "--threads", "2"), "are options of HiGHS"),
    ],
)
def test_options_that_do_not_go_together(refused, alike, options, words):
    assert words in refused("solve", alike, *options)


@pytest.mark.release
def test_ctrl_c_during_column_generation_keeps_plan_bound_and_certificate(tmp_path):
    """Prices no two alike: the last thousandth of the gap stays open, for an hour if need be."""
    rng = np.random.default_rng(1)
    skills, cost = rng.uniform(0.6, 0.95, (3, 150)).round(4), rng.uniform(1, 2, (3, 150))
    file = written(
        tmp_path / "large.json", tasks=500, epsilon=0.01, capacity=150, skills=skills, cost=cost
    )
    out = tmp_path / "answer.json"
    terminal = pexpect.spawn(
        sys.executable,
        [
            "-m",
            "workbench.cli",
            "solve",
            str(file),
            "--details",
            "--time-limit",
            "3600",
            "--out",
            str(out),
        ],
        timeout=120,
        encoding="utf-8",
        dimensions=(50, 200),
    )
    terminal.expect("gap 0\\.[0-9]+ %")  # a plan and a bound, near each other
    terminal.sendintr()
    terminal.expect("search ended: interrupted")
    terminal.expect("certificate +feasible")
    terminal.expect(pexpect.EOF)
    terminal.wait()
    assert terminal.exitstatus == 130
    answer = json.loads(out.read_text())
    assert answer["termination"] == "interrupted"
    assert answer["bound"] <= answer["objective"] <= 1.01 * answer["bound"]
    assert answer["certificate"]["lower_bound"] == answer["bound"]
    assert all(check["passed"] for check in answer["certificate"]["checks"])
    assert len(answer["assignment"]) > 500


def test_the_command_names_the_methods_that_there_are():
    from workbench.cli.solve import METHODS as NAMED
    from workbench.solving.solver import METHODS

    assert set(NAMED) == {method for methods in METHODS.values() for method in methods}
