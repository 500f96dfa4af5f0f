"""Proofs as files: what is written is true by enumeration, and what is forged is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import workbench as wb
from tests.core.release import some
from workbench.base.checker import plan_checker
from workbench.base.errors import InputError
from workbench.solving.proof_file import written

PROGRAMS = int(os.environ.get("WORKBENCH_FUZZ", "100"))
CHECK = Path(__file__).parents[3] / "models" / "problems" / "check.py"


def drawn(seed, largest=8):
    """A small problem as its file states it: short decimals, prices or none."""
    rng = np.random.default_rng(seed)
    n, m = (int(size) for size in rng.integers(2, largest, 2))
    raw = {
        "quality": np.round(rng.random((n, m)), 2).tolist(),
        "requirement": np.round(rng.uniform(0.1, 1.0, n), 2).tolist(),
        "capacity": rng.integers(1, n + 1, m).tolist(),
    }
    if rng.random() < 0.5:
        raw["cost"] = np.round(rng.uniform(0.5, 4.0, (n, m)), 1).tolist()
    return raw


def solved(raw, folder):
    problem, proof = folder / "problem.json", folder / "proof.json"
    problem.write_text(json.dumps(raw))
    proof.unlink(missing_ok=True)
    answer = wb.solve(problem, proof=proof)
    return answer, problem, proof if proof.exists() else None


def cheapest(raw):
    """By all plans: tasks one after another, capacity left as the state."""
    n, m = len(raw["requirement"]), len(raw["capacity"])
    cost = raw.get("cost") or [[1] * m] * n
    states = {tuple(raw["capacity"]): 0.0}
    for i in range(n):
        after = {}
        for pick in product((0, 1), repeat=m):
            worth = sum(q for q, on in zip(raw["quality"][i], pick, strict=True) if on)
            if worth < raw["requirement"][i] - 1e-9:
                continue
            price = sum(c for c, on in zip(cost[i], pick, strict=True) if on)
            for room, paid in states.items():
                left = tuple(r - on for r, on in zip(room, pick, strict=True))
                if min(left) >= 0:
                    after[left] = min(after.get(left, np.inf), paid + price)
        states = after
    return min(states.values(), default=None)


@pytest.mark.parametrize("seed", some(range(6), 3))
def test_what_is_proven_is_the_cheapest_by_enumeration(seed, tmp_path):
    raw = drawn(seed, 5)
    answer, problem, proof = solved(raw, tmp_path)
    best = cheapest(raw)
    holds, line = plan_checker()["line_of"](problem.read_bytes(), proof.read_text())
    assert holds, line
    if best is None:
        assert "infeasible" in json.loads(proof.read_text())["claim"]
        return
    assert answer.objective == pytest.approx(best)
    assert Fraction(json.loads(proof.read_text())["claim"]["bound"]) <= best + 1e-9


def limited(seed):
    """The same with least and most labels of each task."""
    raw, rng = drawn(seed, 10), np.random.default_rng(seed)
    raw["least"] = rng.integers(0, 3, len(raw["requirement"])).tolist()
    raw["most"] = [least + int(rng.integers(1, 5)) for least in raw["least"]]
    return raw


@pytest.mark.release
def test_what_is_proven_with_limits_of_labels_has_a_proof(tmp_path):
    checker, proven = plan_checker(), 0
    for seed in range(30):
        answer, problem, proof = solved(limited(seed), tmp_path)
        if answer.solution.certificate.status != "proven":
            continue
        holds, line = checker["line_of"](problem.read_bytes(), proof.read_text())
        proven += 1
        assert (holds, line.endswith("none is cheaper")) == (True, True), (seed, line)
    assert proven > 10


def small_programs(first, many):
    """How many were proven, and how many of these by a file that says so; none is left out."""
    checker, proven = plan_checker(), 0
    with TemporaryDirectory() as place:
        for seed in range(first, first + many):
            answer, problem, proof = solved(drawn(seed, 10), Path(place))
            assert proof is not None, seed
            holds, line = checker["line_of"](problem.read_bytes(), proof.read_text())
            assert holds, (seed, line)
            if answer.objective is None:
                assert line == "holds: no plan keeps every constraint", (seed, line)
            elif answer.solution.certificate.status == "proven":
                proven += 1
                assert line.endswith("none is cheaper"), (seed, line)
    return proven


@pytest.mark.release
def test_every_small_program_has_a_proof_that_holds():
    assert small_programs(1000, 60) > 45


@pytest.mark.release
def test_small_programs_by_the_thousand():
    assert small_programs(2000, PROGRAMS) > 0.8 * PROGRAMS


TRIPLES = {
    "quality": [[0.5] * 3 + [0.34] * 3 + [0] * 6] * 2 + [[0] * 6 + [0.5] * 3 + [0.34] * 3] * 2,
    "requirement": [1, 1, 1, 1],
    "capacity": [1, 1, 1, 2, 2, 2] * 2,
}
"""Prices alone prove 9 of the 10 labels: see test_branching."""


@pytest.mark.release
@pytest.mark.parametrize("method", ["auto", "patterns"])
def test_what_takes_branches_has_them_in_its_proof(tmp_path, method):
    problem, proof = tmp_path / "problem.json", tmp_path / "proof.json"
    problem.write_text(json.dumps(TRIPLES))
    wb.solve(problem, method=method, time_limit=20, proof=proof)
    content = json.loads(proof.read_text())
    assert "pairs" in content["tree"]
    holds, line = plan_checker()["line_of"](problem.read_bytes(), proof.read_text())
    assert (holds, line) == (True, "holds: a plan of cost 10, and none is cheaper")
    content["tree"] = content["tree"]["below"]
    text = written(content).decode()
    assert not plan_checker()["line_of"](problem.read_bytes(), text)[0]


def test_labels_at_fractions_of_capacities_are_no_plan(tmp_path):
    """Two tasks of one label and a half each, three labels to be had: whole plans need four."""
    problem, proof = tmp_path / "problem.json", tmp_path / "proof.json"
    raw = {"quality": [[0.5] * 4] * 2, "requirement": 0.75, "capacity": [1, 1, 1, 0]}
    problem.write_text(json.dumps(raw))
    solved = wb.solve(problem, proof=proof)
    assert solved.objective is None
    holds, line = plan_checker()["line_of"](problem.read_bytes(), proof.read_text())
    assert (holds, line) == (True, "holds: no plan keeps every constraint")


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "nul", '{"kind": "assignment"}', "[" * 10_000, "1"]
)
def test_no_text_is_a_traceback(text):
    holds, line = plan_checker()["line_of"](b"{}", text)
    assert not holds
    assert line.startswith("WRONG: ")


def test_the_command_and_bare_python_agree(tmp_path):
    _, problem, proof = solved(drawn(1, 5), tmp_path)
    lines = []
    for command in (["-m", "workbench.cli", "verify"], ["-I", "-S", str(CHECK)]):
        ended = subprocess.run(
            [sys.executable, *command, str(problem), str(proof)],
            capture_output=True,
            text=True,
            check=True,
        )
        lines.append(ended.stdout)
    assert lines[0] == lines[1]
    assert lines[0].startswith("holds: ")


def test_what_has_no_proof_is_refused(tmp_path):
    problem = wb.AssignmentProblem([[0.6, 0.6]], capacity=1, requirement=1.0)
    with pytest.raises(InputError, match="names the file of its problem"):
        wb.solve(problem, proof=tmp_path / "p.json")
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(drawn(1, 5)))
    with pytest.raises(InputError, match="integer program"):
        wb.solve(file, "relaxation", proof=tmp_path / "p.json")
    assert not (tmp_path / "p.json").exists()
