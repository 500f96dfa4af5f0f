"""Proofs as files: what is written is true by enumeration, and what is forged is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.base.checker import plan_checker
from workbench.base.errors import InputError

PROGRAMS = int(os.environ.get("WORKBENCH_FUZZ", "40"))
CHECK = Path(__file__).parents[2] / "models" / "problems" / "check.py"


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


@pytest.mark.parametrize("seed", range(6))
def test_what_is_proven_is_the_cheapest_by_enumeration(seed, tmp_path):
    raw = drawn(seed, 5)
    answer, problem, proof = solved(raw, tmp_path)
    best = cheapest(raw)
    if best is None:
        assert proof is None
        return
    holds, line = plan_checker()["line_of"](problem.read_bytes(), proof.read_text())
    assert holds, line
    assert answer.objective == pytest.approx(best)
    assert float(eval_fraction(json.loads(proof.read_text())["claim"]["bound"])) <= best + 1e-9


def eval_fraction(text):
    above, _, below = text.partition("/")
    return float(above) / float(below or 1)


def test_every_small_program_that_is_proven_has_a_proof_that_holds(tmp_path):
    checker, proven, shown = plan_checker(), 0, 0
    for seed in range(PROGRAMS):
        answer, problem, proof = solved(drawn(1000 + seed, 10), tmp_path)
        if proof is None:
            assert answer.objective is None
            continue
        holds, line = checker["line_of"](problem.read_bytes(), proof.read_text())
        assert holds, (seed, line)
        if answer.solution.certificate.status == "proven":
            proven += 1
            shown += line.endswith("none is cheaper")
    assert proven > PROGRAMS / 2
    # Where branches were needed the file claims the bound of prices alone.
    assert shown >= 0.9 * proven


def mutants(raw, rng):
    """Changes of a proof, one at a time."""
    for _ in range(60):
        told = json.loads(json.dumps(raw))
        kind = int(rng.integers(9))
        if kind == 0:
            told["claim"]["bound"] = str(told["claim"]["bound"]) + "9"
        elif kind == 1:
            told["claim"]["cost"] = "1"
        elif kind == 2:
            told["labels"][int(rng.integers(len(told["labels"])))].append(int(rng.integers(9)))
        elif kind == 3:
            told["labels"][int(rng.integers(len(told["labels"])))] = []
        elif kind == 4:
            at = int(rng.integers(len(told["worker_prices"])))
            told["worker_prices"][at] = [-1.0, 1e308, True, "0", None, 0.5][int(rng.integers(6))]
        elif kind == 5:
            told["problem_sha256"] = "0" * 64
        elif kind == 6:
            del told[sorted(told)[int(rng.integers(len(told)))]]
        elif kind == 7:
            told["labels"] = told["labels"][:-1]
        else:
            told[["kind", "format", "more"][int(rng.integers(3))]] = "other"
        yield told


def test_mutants_that_are_accepted_are_true(tmp_path):
    checker, accepted = plan_checker(), 0
    for seed in (0, 2, 3):
        raw = drawn(seed, 5)
        best = cheapest(raw)
        _, problem, proof = solved(raw, tmp_path)
        if best is None:
            continue
        for told in mutants(json.loads(proof.read_text()), np.random.default_rng(seed)):
            holds, _ = checker["line_of"](problem.read_bytes(), json.dumps(told))
            if holds:
                accepted += 1
                assert eval_fraction(told["claim"]["bound"]) <= best + 1e-9
                assert eval_fraction(told["claim"]["cost"]) >= best - 1e-9
    assert accepted


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
    with pytest.raises(InputError, match="names its problem's file"):
        wb.solve(problem, proof=tmp_path / "p.json")
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(drawn(1, 5)))
    with pytest.raises(InputError, match="integer program"):
        wb.solve(file, "relaxation", proof=tmp_path / "p.json")
    assert not (tmp_path / "p.json").exists()
