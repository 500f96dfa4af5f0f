"""Proofs over listed sets of workers: exact errors and several classes, by enumeration."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.core.release import some
from tests.core.solving.c_verifier import verifier
from tests.core.solving.proof_kinds import ALLOWED, DRAWN, cheapest, drawn, exactly, matrix, sets
from tests.core.solving.test_proof_mutants import accepted_and_false, grown
from workbench.base.checker import plan_checker
from workbench.base.errors import InputError

PROGRAMS = int(os.environ.get("WORKBENCH_FUZZ", "15"))
MUTANTS = int(os.environ.get("WORKBENCH_MUTANTS", "800"))
CHECKER = plan_checker()
CHECK = Path(__file__).parents[3] / "models" / "problems" / "check.py"
KINDS = pytest.mark.parametrize("kind", sorted(DRAWN))


def solved(raw, folder, **options):
    problem, proof = folder / "problem.json", folder / "proof.json"
    problem.write_text(json.dumps(raw))
    proof.unlink(missing_ok=True)
    answer = wb.solve(problem, proof=proof, **options)
    return answer, problem.read_bytes(), proof.read_text() if proof.exists() else None


def proven(kind, first, many, folder):
    """How many programs have a plan; each is the cheapest, and each has a proof that holds."""
    plans = 0
    for seed in range(first, first + many):
        raw, best, _ = drawn(kind, np.random.default_rng(seed))
        answer, content, text = solved(raw, folder)
        holds, line = CHECKER["line_of"](content, text)
        assert holds, (seed, line)
        if best is None:
            assert answer.objective is None, seed
            assert line == "holds: no plan keeps every constraint", (seed, line)
            continue
        plans += 1
        assert answer.objective == pytest.approx(float(best[0])), seed
        assert answer.solution.certificate.status == "proven", seed
        assert "It is proven" in answer.verdict()[1] or answer.objective == 0
        assert line == f"holds: a plan of cost {float(best[0]):.12g}, and none is cheaper", seed
    return plans


@KINDS
def test_every_small_program_has_a_proof_that_holds(kind, tmp_path):
    assert proven(kind, 0, 8, tmp_path) > 1


@pytest.mark.release
@KINDS
def test_small_programs_by_the_hundred(kind, tmp_path):
    # Limits leave many programs without a plan.
    assert proven(kind, 1000, PROGRAMS, tmp_path) > (0.1 if "limits" in kind else 0.3) * PROGRAMS


@KINDS
@pytest.mark.parametrize("seed", some(range(8), 3))
def test_a_task_costs_what_all_sets_say(kind, seed):
    """Also where a side of a split pays for labels, and where labels have limits."""
    rng = np.random.default_rng(seed)
    raw, _, allowed = drawn(kind, rng)
    problem = CHECKER["read"](json.dumps(raw))
    cost = raw.get("cost", [[1] * len(raw["capacity"])] * len(problem.of))
    for i, key in enumerate(problem.of):
        charge = [Fraction(int(x), 2) for x in rng.integers(-8, 8, len(problem.copies))]
        prices = [
            sum((exactly(c) + u for c, u, on in zip(cost[i], charge, pick, strict=True) if on), 0)
            for pick in sets(raw, allowed, i)
        ]
        bound = CHECKER["task_bound"](problem, problem.kinds[key], charge, True)
        assert bound == min(prices, default=float("inf"))


def truths(kind, seed, many=40):
    """Problems of a kind with true proofs, and their optima."""
    rng, cases = np.random.default_rng(seed), []
    for _ in range(many):
        raw, best, _ = drawn(kind, rng)
        content = json.dumps(raw).encode()
        problem = CHECKER["read"](content.decode())
        plan = [[]] * len(problem.of) if best is None else best[1]
        labels = [[int(j in row) for j in range(len(problem.copies))] for row in plan]
        proof = {
            "kind": kind.partition(",")[0],
            "format": 2,
            "problem_sha256": hashlib.sha256(content).hexdigest(),
            "tree": grown(problem, rng, best is not None, labels),
        }
        if best is not None:
            proof["labels"] = best[1]
        cases.append((content, problem, proof, None if best is None else best[0]))
    return cases


def optimum_of(kind):
    """Enumerate a problem's file that a forger changed, where its fields are as they were drawn."""

    def optimum(content):
        raw = json.loads(content.decode())
        try:
            best = cheapest(raw, ALLOWED[kind](raw))
        except (TypeError, KeyError, IndexError, ValueError):
            return "another"
        return None if best is None else best[0]

    return optimum


@pytest.mark.release
@KINDS
def test_mutants_that_are_accepted_are_true(kind):
    accepted, kinds, false = accepted_and_false(
        5, 200, cases=truths(kind, 5), optimum=optimum_of(kind)
    )
    assert not false
    assert accepted > 20
    assert len(kinds) >= 4  # a plan, or none: by a leaf and by branches


@pytest.mark.release
@KINDS
def test_mutants_by_the_thousand(kind):
    accepted, _, false = accepted_and_false(
        100, MUTANTS, cases=truths(kind, 100), optimum=optimum_of(kind)
    )
    assert not false
    assert accepted > MUTANTS // 20


@pytest.mark.release
@KINDS
def test_verify_in_c_knows_no_listed_sets(kind):
    """It says so, in place of an answer to another question."""
    line_of = verifier()
    for content, text, _ in [(c, json.dumps(p), b) for c, _, p, b in truths(kind, 6, 3)]:
        holds, line = line_of(content, text)
        assert not holds
        assert line.startswith(("WRONG: ", "UNDECIDED: "))


@KINDS
def test_bare_python_agrees(kind, tmp_path):
    raw, _, _ = drawn(kind, np.random.default_rng(3))
    _, content, text = solved(raw, tmp_path)
    ended = subprocess.run(
        [sys.executable, "-I", "-S", CHECK, tmp_path / "problem.json", tmp_path / "proof.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.strip() == CHECKER["line_of"](content, text)[1]


def test_a_larger_program_of_alike_workers_is_proven(tmp_path):
    """Sets are counted by skill: ten workers of three skills on twelve tasks."""
    raw = {
        "gain": "exact error",
        "skill": [[0.7] * 4 + [0.8] * 3 + [0.9] * 3] * 12,
        "epsilon": 0.1,
        "capacity": [3] * 10,
    }
    answer, content, text = solved(raw, tmp_path)
    assert answer.solution.certificate.status == "proven"
    holds, line = CHECKER["line_of"](content, text)
    assert (holds, line.endswith("none is cheaper")) == (True, True), line


def test_prices_prove_many_tasks_of_few_kinds(tmp_path, monkeypatch):
    """Beyond the pairs that are branched for one leaf is tried; without it, it is HiGHS's word."""
    raw = {
        "gain": "exact error",
        "skill": [[0.7] * 3 + [0.8] * 3 + [0.9] * 3] * 80,
        "epsilon": 0.1,
        "capacity": [30] * 9,
        "cost": [1, 1, 1, 1.5, 1.5, 1.5, 2, 2, 2],
    }
    answer, content, text = solved(raw, tmp_path)
    assert answer.solution.certificate.status == "proven"
    holds, line = CHECKER["line_of"](content, text)
    assert (holds, line.endswith("none is cheaper")) == (True, True), line
    monkeypatch.setattr("workbench.solving.exact_error._leaf_proof", lambda *_: None)
    claimed = wb.solve(tmp_path / "problem.json")
    assert claimed.objective == answer.objective
    assert "By HiGHS's word alone" in claimed.verdict()[1]


def test_limits_that_no_set_keeps_are_named(tmp_path):
    """Two of skill .8 err as often as one: three are needed, where two may label."""
    raw = {
        "gain": "exact error",
        "skill": [[0.8] * 5] * 3,
        "epsilon": [0.2, 0.2, 0.11],
        "capacity": 3,
        "most": [1, 3, 2],
    }
    answer, content, text = solved(raw, tmp_path)
    said = answer.solution.infeasibility.sentence()
    assert "task 2 has no 0 to 2 workers who err seldom enough" in said
    assert CHECKER["line_of"](content, text) == (True, "holds: no plan keeps every constraint")
    answer, content, text = solved(raw | {"most": [1, 3, 3], "least": [0, 2, 0]}, tmp_path)
    assert answer.objective == 1 + 2 + 3
    assert CHECKER["line_of"](content, text)[1].endswith("cost 6, and none is cheaper")


def test_limits_need_lists_of_sets(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.solving.patterns.listed_sets.LISTED", 3)
    raw = {
        "gain": "exact error",
        "skill": [[0.6, 0.65, 0.7, 0.75, 0.8, 0.85]],
        "epsilon": 0.15,
        "capacity": 1,
        "most": 5,
    }
    with pytest.raises(InputError, match="too many sets of workers to keep limits of labels"):
        solved(raw, tmp_path)


@pytest.mark.release
def test_what_tangents_prove_is_proven_by_branches_in_a_file(tmp_path):
    """Beyond the pairs that are branched in every solve: when the file is written."""
    rng = np.random.default_rng(0)
    coins = [matrix(rng, 3) for _ in range(3)]
    raw = {
        "confusion": {"a": [coins[j % 3] for j in range(15)]},
        "task_types": ["a"] * 42,
        "prior": [0.4, 0.3, 0.3],
        "epsilon": 0.4,
        "capacity": 20,
    }
    answer, content, text = solved(raw, tmp_path, time_limit=10)
    assert not answer.solution.proofs
    assert answer.solution.certificate.status == "proven"
    holds, line = CHECKER["line_of"](content, text)
    assert (holds, line.endswith("none is cheaper")) == (True, True), line


@pytest.mark.release
def test_what_is_not_proven_is_called_the_solvers_word(tmp_path, monkeypatch):
    """Where branches come to no end, screen and file claim no more than the data prove."""
    from workbench.solving.claims import CostClaim
    from workbench.solving.patterns import listed_sets

    monkeypatch.setattr(listed_sets, "NODES", 0)
    seen = set()
    for kind in sorted(DRAWN):
        for seed in range(8):
            raw, best, _ = drawn(kind, np.random.default_rng(seed))
            answer, content, text = solved(raw, tmp_path)
            if best is None or text is None or CostClaim.of(answer.solution).recomputed:
                continue
            assert "By HiGHS's word alone" in answer.verdict()[1]
            assert "HiGHS's word" in answer.details()
            holds, line = CHECKER["line_of"](content, text)
            assert holds, line
            assert Fraction(json.loads(text)["claim"]["bound"]) <= best[0]
            seen.add(kind)
    assert seen == set(DRAWN)


def test_a_promise_that_the_prior_just_keeps_needs_nobody(tmp_path):
    """√(.9 · .1) is .3, though as floats it is above."""
    told = {"a": [[[0.8, 0.2], [0.3, 0.7]], [[0.5, 0.5], [0.5, 0.5]]]}
    raw = {"confusion": told, "prior": [0.9, 0.1], "task_types": ["a"], "capacity": 1}
    answer, content, text = solved({**raw, "epsilon": 0.3}, tmp_path)
    assert answer.objective == 0
    assert CHECKER["line_of"](content, text) == (
        True,
        "holds: a plan of cost 0, and none is cheaper",
    )
    # The second worker says nothing: two labels are not to be had.
    answer, content, text = solved({**raw, "epsilon": 0.3, "least": 2}, tmp_path)
    assert answer.objective is None
    assert CHECKER["line_of"](content, text) == (True, "holds: no plan keeps every constraint")


def test_what_a_file_may_not_say(tmp_path):
    raw = {"gain": "exact error", "skill": [[0.9]], "epsilon": 0.2, "capacity": 1}
    for other, words in (
        ({**raw, "money": 1.0}, "beside them only"),
        ({**raw, "requirement": 1.0}, "beside them only"),
    ):
        with pytest.raises(InputError, match=words):
            solved(other, tmp_path)
    solved(raw, tmp_path)
    with pytest.raises(InputError, match="for an exact error give ip"):
        wb.solve(tmp_path / "problem.json", "relaxation")
    raw = {
        "confusion": {"a": [[[0.9, 0.1], [0.2, 0.8]]]},
        "prior": [0.5, 0.5],
        "task_types": ["a"],
        "epsilon": 0.4,
        "capacity": 1,
    }
    for other, words in (
        ({**raw, "skill": [[0.9]]}, "skill: has no meaning beside confusion"),
        ({n: v for n, v in raw.items() if n != "prior"}, "prior is missing"),
        ({**raw, "task_types": ["b"]}, "confusion has no matrices"),
        ({**raw, "confusion": {"a": [[[0.9, 0.2], [0.2, 0.8]]]}}, "rows that sum to 1"),
        ({**raw, "prior": [0.5, 0.4]}, "sum to 1"),
        ({**raw, "confusion": {"a": [[[0.9], [0.2, 0.8]]]}}, "rows of unequal length"),
        ({**raw, "cost": [[1, 1]]}, "cost has shape"),
    ):
        with pytest.raises(InputError, match=words):
            solved(other, tmp_path)
    answer, _, text = solved(raw, tmp_path)
    assert answer.objective == 1
    assert json.loads(text)["kind"] == "several classes"
