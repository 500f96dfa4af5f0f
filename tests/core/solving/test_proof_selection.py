"""Proofs of whom to hire: true by enumeration of all sets, and forged ones are refused."""

from __future__ import annotations

import hashlib
import json
import math
import os
from itertools import combinations

import numpy as np
import pytest

import workbench as wb
from crowd_models import SelectionProblem
from tests.core.solving.forging import garbled, mutated
from tests.core.solving.proof_kinds import best_set, selection
from workbench.base.checker import plan_checker
from workbench.base.errors import InputError
from workbench.solving import hiring_branches
from workbench.solving.hiring import solve_selection
from workbench.solving.proof_file import rational, written

PROGRAMS = int(os.environ.get("WORKBENCH_FUZZ", "30"))
MUTANTS = int(os.environ.get("WORKBENCH_MUTANTS", "800"))
CHECKER = plan_checker()


def solved(raw, folder):
    problem, proof = folder / "problem.json", folder / "proof.json"
    problem.write_text(json.dumps(raw))
    proof.unlink(missing_ok=True)
    answer = wb.solve(problem, proof=proof)
    return answer, problem.read_bytes(), proof.read_text()


def proven(first, many, folder):
    """How many needed branches; each is the best set, and each has a proof that holds."""
    branched = 0
    for seed in range(first, first + many):
        raw = selection(np.random.default_rng(seed))
        best = best_set(raw)
        answer, content, text = solved(raw, folder)
        holds, line = CHECKER["line_of"](content, text)
        assert holds, (seed, line)
        if best is None:
            assert line == "holds: nobody can be hired", seed
            assert answer.objective is None
            continue
        assert answer.objective == pytest.approx(math.copysign(abs(best[0]) ** 0.5, best[0]))
        assert line.endswith("and no set has a higher"), (seed, line)
        branched += '"worker"' in text
    return branched


def test_every_small_selection_has_a_proof_that_holds(tmp_path):
    assert proven(0, 16, tmp_path) > 0


@pytest.mark.release
def test_selections_by_the_hundred(tmp_path):
    assert proven(1000, PROGRAMS, tmp_path) > 0


def grown(problem, rng, size, inside=(), outside=()):
    """A tree drawn at random, its leaves with the price that proves most of a few."""
    apart = [j for j in problem.who if j not in (*inside, *outside)]
    if not apart or len(inside) + len(outside) == 2 or rng.random() < 0.5:
        prices = [CHECKER["rational"](x, "") for x in (0, "1/10", "1/4", "1/2", 1)]
        gains = [CHECKER["leaf_gain"](problem, u, size, inside, outside) for u in prices]
        least = min(range(5), key=lambda at: (gains[at] is not None, gains[at] or 0))
        return {"money_price": rational(prices[least])}
    j = int(rng.choice(apart))
    return {
        "worker": j,
        "in": grown(problem, rng, size, (*inside, j), outside),
        "out": grown(problem, rng, size, inside, (*outside, j)),
    }


def signed(value):
    return rational(value) if value >= 0 else f"-{rational(-value)}"


def claimed(problem, proof, rng):
    """The most that a forger can claim of a set and its trees, or a little more."""
    try:
        if not problem.who:
            return {"infeasible": True}
        score = sum(problem.gains[j] for j in proof["chosen"]), len(proof["chosen"])
        bounds = [score]
        for size, tree in enumerate(proof["sizes"], 1):
            most = CHECKER["gain_bound"](problem, tree, size)
            bounds += [] if most is None else [(most, size)]
        bound = max(bounds, key=lambda each: CHECKER["squared"](*each))
        less = rng.random() < 0.2
        return {
            "score": [signed(score[0]), score[1]],
            "bound": [signed(bound[0] - less), bound[1]],
        }
    except Exception:
        return {"score": [1, 1], "bound": [1, 1]}


def truths(seed, many=40):
    rng, cases = np.random.default_rng(seed), []
    while len(cases) < many:
        raw = selection(rng)
        best, content = best_set(raw), json.dumps(raw).encode()
        problem = CHECKER["read_hiring"](content.decode())
        proof = {
            "kind": "selection",
            "format": 2,
            "problem_sha256": hashlib.sha256(content).hexdigest(),
            "sizes": [
                grown(problem, rng, size)
                for size in range(1, min(problem.budget, len(problem.who)) + 1)
            ],
        }
        if best is not None:
            proof["chosen"] = best[1]
        cases.append((content, proof))
    return cases


def untrue(content, text):
    """Whether an accepted proof claims what enumeration of the problem denies."""
    problem, told = CHECKER["read_hiring"](content.decode()), json.loads(text)
    scores = [
        CHECKER["squared"](sum(problem.gains[j] for j in those), size)
        for size in range(1, min(problem.budget, len(problem.who)) + 1)
        for those in combinations(problem.who, size)
        if sum(problem.costs[j] for j in those) <= problem.money
    ]
    if "infeasible" in told["claim"]:
        return bool(scores)
    score, bound = (
        CHECKER["squared"](*CHECKER["scored"](told["claim"][name], ""))
        for name in ("score", "bound")
    )
    return score not in scores or bound < max(scores)


def accepted_and_false(seed, many):
    rng, cases = np.random.default_rng(seed), truths(seed)
    pool, accepted, false = [proof for _, proof in cases], 0, []
    for k in range(many):
        content, proof = cases[k % len(cases)]
        mutant = mutated(rng, proof, pool) if k >= len(cases) else dict(proof)
        if rng.random() < 0.15:
            other = json.loads(cases[int(rng.integers(len(cases)))][0])
            content = json.dumps(mutated(rng, json.loads(content), [other])).encode()
        if isinstance(mutant, dict):
            mutant["problem_sha256"] = hashlib.sha256(content).hexdigest()
            try:
                mutant["claim"] = claimed(CHECKER["read_hiring"](content.decode()), mutant, rng)
            except Exception:
                mutant["claim"] = {"infeasible": True}
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
            false += [(content, text)] if untrue(content, text) else []
    return accepted, false


def test_mutants_that_are_accepted_are_true():
    accepted, false = accepted_and_false(3, 400)
    assert not false
    assert accepted > 60


@pytest.mark.release
def test_mutants_by_the_thousand():
    accepted, false = accepted_and_false(30, MUTANTS)
    assert not false
    assert accepted > MUTANTS // 20


def test_what_prices_leave_open_is_proven_by_branches(monkeypatch):
    """A price of money proves .9263 only; without branches the rest is the solver's word."""
    gain, costs = [0.81, 0.64, 0.49, 0.36, 0.25, -0.02], [4.0, 3.0, 2.0, 1.0, 1.0, 1.0]
    problem = SelectionProblem(gain, 5, costs, 6.0)
    solution = solve_selection(problem)
    assert solution.trees is not None
    assert solution.certificate.status == "proven"
    assert solution.certificate.upper_bound == solution.objective == pytest.approx(1.3 / 2**0.5)
    monkeypatch.setattr(hiring_branches, "NODES", 3)
    unproven = wb.solve(problem)
    assert unproven.solution.certificate.status == "feasible"
    assert unproven.solution.certificate.upper_bound == pytest.approx(0.9263098834)
    assert "By HiGHS's word alone" in unproven.verdict()[1]


def test_what_a_file_may_not_say(tmp_path):
    raw = {"gains": [0.5, None], "budget": 1}
    for other, words in (
        ({**raw, "costs": 1}, "costs without money"),
        ({"gains": [0.5]}, "budget is missing"),
        ({**raw, "capacity": 1}, "capacity: has no meaning beside gains"),
        ({**raw, "budget": 0.5}, "budget"),
    ):
        with pytest.raises(InputError, match=words):
            solved(other, tmp_path)
    answer, content, text = solved(raw, tmp_path)
    assert answer.to_frame()["worker"].tolist() == [0]
    assert CHECKER["line_of"](content, text)[0]
    assert CHECKER["line_of"](content, text.replace('"chosen":[0]', '"chosen":[1]'))[0] is False
