"""Proofs of how few tasks can be dropped: against every subset, and forged ones are refused."""

from __future__ import annotations

import hashlib
import json
import os

import numpy as np
import pytest

import workbench as wb
from crowd_models import AssignmentProblem
from crowd_models.files import read_problem
from tests.core.solving.forging import garbled, mutated
from tests.core.solving.proof_kinds import crowded
from tests.core.solving.test_dropping import fewest_by_enumeration
from workbench.base.checker import plan_checker
from workbench.base.errors import InputError
from workbench.solving.proof_file import written

PROGRAMS = int(os.environ.get("WORKBENCH_FUZZ", "10"))
MUTANTS = int(os.environ.get("WORKBENCH_MUTANTS", "800"))
CHECKER = plan_checker()
SPLIT = (64, 362)
"""Seeds whose proofs have splits: prices alone leave a task open."""


def solved(raw, folder):
    problem, proof = folder / "problem.json", folder / "proof.json"
    problem.write_text(json.dumps(raw))
    proof.unlink(missing_ok=True)
    return wb.solve(problem, "drop", proof=proof), problem, proof.read_text()


def proven(seeds, folder):
    """In how many programs a task has to go; each number is the least, and each has a proof."""
    dropped = 0
    for seed in seeds:
        answer, problem, text = solved(crowded(np.random.default_rng(seed)), folder)
        fewest = fewest_by_enumeration(read_problem(problem))
        assert answer.objective == len(answer.to_frame()) == fewest, seed
        assert answer.solution.certificate.status == "proven", seed
        holds, line = CHECKER["line_of"](problem.read_bytes(), text)
        assert holds, (seed, line)
        dropped += fewest > 0
        end = f"all tasks but {fewest}, and never all but fewer" if fewest else "every task"
        assert line == f"holds: shares of labels cover {end}", (seed, line)
    return dropped


def test_every_small_program_has_a_proof_that_holds(tmp_path):
    assert proven((*range(3), *SPLIT), tmp_path) > 2


@pytest.mark.release
def test_programs_by_the_hundred(tmp_path):
    assert proven(range(1000, 1000 + PROGRAMS), tmp_path) > 0.3 * PROGRAMS


def test_splits_are_needed_and_are_in_the_file(tmp_path):
    for seed in SPLIT:
        _, problem, text = solved(crowded(np.random.default_rng(seed)), tmp_path)
        proof = json.loads(text)
        assert "tasks" in proof["tree"], seed
        for side in ("below", "above"):
            forged = {**proof, "tree": proof["tree"][side]}
            assert not CHECKER["line_of"](problem.read_bytes(), written(forged).decode())[0]


def test_the_screen_says_which_tasks_go_and_whose_word_it_is(tmp_path, monkeypatch):
    raw = crowded(np.random.default_rng(SPLIT[1]))
    answer, _, _ = solved(raw, tmp_path)
    assert answer.verdict()[0].startswith("Drop tasks ")
    assert answer.verdict()[1] == "It is proven that no fewer will do."
    from workbench.solving import dropping

    monkeypatch.setattr(dropping, "drop_tree", lambda *_: None)
    answer = wb.solve(tmp_path / "problem.json", "drop")
    assert answer.solution.certificate.status == "feasible"
    assert answer.verdict()[1] == "By HiGHS's word alone it holds that no fewer will do."
    whole = wb.solve(tmp_path / "problem.json")
    assert "(no fewer will do, by HiGHS's word)" in whole.summary()


def truths(seed, many=30):
    """Problems with true proofs, and the least number of tasks."""
    cases, rng = [], np.random.default_rng(seed)
    from workbench.api.solving import SolvedDrop
    from workbench.solving.dropping import solve_drop
    from workbench.solving.proof_file import drop_proof_file

    seeds = (*SPLIT, *rng.integers(0, 10**6, many).tolist())
    for each in seeds:
        raw = crowded(np.random.default_rng(each))
        problem = AssignmentProblem(
            raw["quality"], raw["capacity"], raw["requirement"], None, raw.get("available")
        )
        content = json.dumps(raw).encode()
        answer = SolvedDrop(problem, solve_drop(problem))
        proof = json.loads(drop_proof_file(content, problem, answer.solution))
        cases.append((content, proof, int(answer.objective)))
    return cases


def fewest_of(content):
    """The least number of tasks of a problem as the checker reads it."""
    stated = CHECKER["read"](content.decode())
    kinds = [stated.kinds[key] for key in stated.of]
    problem = AssignmentProblem(
        [[float(q) for q in kind.quality] for kind in kinds],
        [min(c, 10**6) for c in stated.capacity],
        [float(kind.need) for kind in kinds],
        None,
        [[float(on) for on in kind.free] for kind in kinds],
        gain="bhattacharyya",  # whose qualities have no upper limit
    )
    return fewest_by_enumeration(problem)


def accepted_and_false(seed, many):
    rng, cases = np.random.default_rng(seed), truths(seed)
    pool, accepted, false = [proof for _, proof, _ in cases], 0, []
    for k in range(many):
        content, proof, fewest = cases[k % len(cases)]
        mutant = mutated(rng, proof, pool) if k >= len(cases) else dict(proof)
        if rng.random() < 0.1:
            other = json.loads(cases[int(rng.integers(len(cases)))][0])
            content = json.dumps(mutated(rng, json.loads(content), [other])).encode()
            fewest = None
        if isinstance(mutant, dict):
            mutant["problem_sha256"] = hashlib.sha256(content).hexdigest()
            mutant["claim"] = claimed(content, mutant, rng)
        if rng.random() < 0.1:
            mutant = mutated(rng, mutant, pool)
        text = written(mutant).decode()
        if rng.random() < 0.1:
            text = garbled(rng, text)
        holds, line = CHECKER["line_of"](content, text)
        assert line.startswith("holds: " if holds else "WRONG: "), line
        assert "\n" not in line
        if holds:
            accepted += 1
            fewest = fewest_of(content) if fewest is None else fewest
            claim = json.loads(text)["claim"]
            if not claim["bound"] <= fewest <= claim["tasks"]:
                false.append((content, text, fewest))
    return accepted, false


def claimed(content, proof, rng):
    """The most that a forger can claim of a tree, or one more."""
    try:
        problem = CHECKER["read"](content.decode())
        bound = int(-(-CHECKER["drop_bound"](problem, proof["tree"]) // 1))
        tasks = len(proof["drop"])
        return {"bound": max(0, min(bound, tasks)) + int(rng.random() < 0.2), "tasks": tasks}
    except Exception:
        return {"bound": 1, "tasks": 1}


@pytest.mark.release
def test_mutants_that_are_accepted_are_true():
    accepted, false = accepted_and_false(2, 300)
    assert not false
    assert accepted > 30


@pytest.mark.release
def test_mutants_by_the_thousand():
    accepted, false = accepted_and_false(20, MUTANTS)
    assert not false
    assert accepted > MUTANTS // 20


def test_what_has_no_tasks_to_drop(tmp_path):
    problem = tmp_path / "problem.json"
    for raw in (
        {"gain": "exact error", "skill": [[0.9]], "epsilon": 0.2, "capacity": 1},
        {"quality": [[0.9]], "requirement": 0.5, "capacity": 1, "tasks": [2]},
    ):
        problem.write_text(json.dumps(raw))
        with pytest.raises(InputError, match="cover problem by task and worker"):
            wb.solve(problem, "drop")
