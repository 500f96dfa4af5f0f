"""What `solve` says is proven, held to an enumeration of all plans in rational arithmetic."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import workbench as wb
from workbench.base.checker import plan_checker
from workbench.solving import Termination, proof_file
from workbench.solving.claims import Contradiction, CostClaim

CHECKER = plan_checker()
DRAWS = 16
LOOSE = 1 - Fraction(1, 10**9)
"""Part of a requirement that counts as all of it."""


def drawn(seed):
    """A small problem as its file states it: some without a plan, some by skills and either gain.

    By turns: unit prices, cents, limits of labels, and pairs that are not to be had.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 4)), int(rng.integers(3, 7))
    raw = {"capacity": rng.integers(0 if seed % 5 == 0 else 1, n + 1, m).tolist()}
    if seed % 3 == 0:
        raw["skill"] = rng.choice([0.5, 0.7, 0.8, 0.95, rng.uniform(0.5, 1)], (n, m)).tolist()
        raw["epsilon"] = rng.choice([0.8, 0.7, 0.6, 0.4], n).tolist()
    else:
        raw["quality"] = rng.choice([0.1, 0.25, 0.4, 0.7, rng.uniform()], (n, m)).tolist()
        raw["requirement"] = np.round(rng.uniform(0.1, 0.8, n), 2).tolist()
    if seed % 4 in (1, 2):
        raw["cost"] = (rng.integers(1, 300, (n, m)) / 100).tolist()
    if seed % 4 == 2:
        raw["least"] = rng.integers(0, 3, n).tolist()
        raw["most"] = [least + int(rng.integers(0, 3)) for least in raw["least"]]
    if seed % 4 == 3:
        raw["available"] = (rng.random((n, m)) < 0.8).astype(int).tolist()
    return raw


def exact(value):
    """A number as its file writes it."""
    return Fraction(json.dumps(value))


def rows_of(problem, i):
    """Sets of workers who do task i, and what each costs."""
    m = problem.shape[1]
    quality = [Fraction(float(q)) for q in problem.quality[i]]
    price = [exact(float(c)) for c in problem.prices[i]]
    need = Fraction(float(problem.requirement[i])) * LOOSE
    least = 0 if problem.least is None else problem.least[i]
    most = m if problem.most is None else problem.most[i]
    for bits in product((0, 1), repeat=m):
        who = [j for j in range(m) if bits[j]]
        enough = sum((quality[j] for j in who), Fraction(0)) >= need
        if enough and least <= len(who) <= most and all(problem.mask[i, j] for j in who):
            yield np.array(bits), sum((price[j] for j in who), Fraction(0))


def cheapest(problem):
    """What the cheapest plan costs, by enumeration; None where there is no plan."""
    known = {(0,) * problem.shape[1]: Fraction(0)}  # by labels used
    for i in range(problem.shape[0]):
        more = {}
        for (used, cost), (row, price) in product(known.items(), list(rows_of(problem, i))):
            now = tuple(np.add(used, row).tolist())
            if all(np.less_equal(now, problem.capacity)):
                more[now] = min(more.get(now, cost + price), cost + price)
        known = more
    return min(known.values(), default=None)


def held(raw, tmp_path, **options):
    """Solve a problem, hold all that is said of it to its cheapest plan, and count its kind."""
    path, proof = tmp_path / "problem.json", tmp_path / "problem.proof.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    proof.unlink(missing_ok=True)
    solved = wb.solve(path, proof=proof, **options)
    best, told = cheapest(solved.problem), solved.to_dict()
    words, bound = " ".join(solved.verdict()), told["bound"]
    near = Fraction(1, 10**9)
    if best is None:
        assert told["objective"] is None
        assert solved.termination == "infeasible"
        assert "proven that none" not in words
    else:
        assert solved.termination != "infeasible", raw
        assert bound <= best * (1 + near), raw
        cost = cost_of(solved)
        assert abs(cost - Fraction(told["objective"])) <= near * max(cost, 1)
        assert best <= cost, raw
        assert bound <= told["objective"]
        if re.search("It is proven that none is cheaper[.]", words):
            assert cost == best, raw
        assert solved.claim.proven <= (cost == best)
    held_file(path, proof, best, solved)
    return "infeasible" if best is None else solved.claim.status


def held_file(path, proof, best, solved):
    """Hold what the file of the proof says to the checker, the optimum, the screen and the JSON."""
    told, words = solved.to_dict()["proof"], solved.summary()
    if told is None:
        assert not proof.exists()
        return
    holds, line = CHECKER["line_of"](path.read_bytes(), proof.read_text("utf-8"))
    assert holds, line
    claim = json.loads(proof.read_text("utf-8"))["claim"]
    if best is None:
        assert claim == {"infeasible": True} == told
        assert "Proven by the file: no answer keeps every constraint." in words
        return
    assert Fraction(claim["bound"]) <= best <= Fraction(claim["cost"])
    assert told["bound"] == float(Fraction(claim["bound"]))
    less = f"Proven by the file: none below {told['bound']:.10g}."
    assert (less in words) == (Fraction(claim["bound"]) < Fraction(claim["cost"]))
    assert ("proven by the file" in words.lower()) >= line.endswith("none is cheaper")


def cost_of(solved):
    """What the plan costs that was given, exactly."""
    frame, prices = solved.to_frame(), solved.problem.prices
    pairs = zip(frame["task"], frame["worker"], strict=True)
    return sum((exact(float(prices[i, j])) for i, j in pairs), Fraction(0))


def test_what_is_proven_of_small_problems_is_so(tmp_path):
    seen = Counter(held(drawn(seed), tmp_path) for seed in range(DRAWS))
    print(dict(seen))
    assert set(seen) <= {"infeasible", "proven"}
    assert seen["infeasible"] >= DRAWS / 10
    assert seen["proven"] >= DRAWS / 2


@pytest.mark.parametrize("method", ["patterns", "mip", "highs"])
def test_each_method_says_no_more(method, tmp_path):
    for seed in range(0, DRAWS, 5):
        raw = drawn(seed)
        if method != "highs" or "least" not in raw:
            held(raw, tmp_path, method=method)


def test_the_other_gain_is_held_too(tmp_path):
    for seed in range(0, DRAWS, 6):
        raw = drawn(seed)
        problem = tmp_path / "problem.json"
        problem.write_text(json.dumps(raw), encoding="utf-8")
        solved = wb.solve(problem, gain="bhattacharyya")
        best = cheapest(solved.problem)
        assert (best is None) == (solved.termination == "infeasible")
        if best is not None:
            assert solved.claim.proven
            assert cost_of(solved) == best


def test_a_file_that_proves_less_is_said_to(tmp_path, monkeypatch):
    """Prices of nobody's labels prove nothing: memory's bound and the file's are told apart."""
    raw = {"quality": [[0.5, 0.5, 0.25]], "requirement": 0.75, "capacity": 1}
    path, proof = tmp_path / "problem.json", tmp_path / "problem.proof.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    monkeypatch.setattr(
        proof_file, "best_prices", lambda problem, _: np.full(problem.shape[1], 1.0)
    )
    solved = wb.solve(path, method="patterns", proof=proof)
    assert solved.to_dict()["bound"] == 2
    assert solved.to_dict()["proof"] == {"bound": 1.0}
    assert "It is proven that none is cheaper." in solved.summary()
    assert "Proven by the file: none below 1." in solved.summary()
    assert CHECKER["line_of"](path.read_bytes(), proof.read_text("utf-8"))[0]


def test_a_claim_above_the_cost_cannot_be_worded():
    for claim in ((1.0, 1.1), (1.0, None, 1.1)):
        with pytest.raises(Contradiction):
            CostClaim(*claim)
    with pytest.raises(Contradiction):
        CostClaim(1.0).filed(1.1)


def test_time_that_ran_out_is_told_as_such():
    """A bound without an answer is told, and no more: a plan there may be or not."""
    solved = wb.solve(wb.AssignmentProblem([[0.5, 0.5]], capacity=1, requirement=1.0))
    certificate = replace(solved.solution.certificate, status="bound", lower_bound=1.5)
    ended = replace(
        solved.solution,
        objective=None,
        assignment=None,
        termination=Termination.TIME_LIMIT,
        certificate=certificate,
        bound=1.5,
    )
    for bound, word in ((1.5, "It is proven that"), (1.75, "By HiGHS's word alone it holds that")):
        first, second, third = replace(solved, solution=replace(ended, bound=bound)).verdict()
        assert first.startswith("No answer was found before time ran out: offline integer program")
        assert second == "Whether there is one is not known."
        assert third == f"{word} none is cheaper than {bound}."


def test_a_selection_that_ran_out_of_time_has_a_set_that_is_not_known():
    hired = wb.solve(wb.SelectionProblem([0.81, 0.64, 0.49], 2))
    certificate = replace(hired.solution.certificate, status="bound", upper_bound=1.5)
    ended = replace(
        hired.solution,
        chosen=None,
        objective=None,
        termination=Termination.TIME_LIMIT,
        certificate=certificate,
    )
    for bound, word in ((1.5, "It is proven that"), (1.25, "By HiGHS's word alone it holds that")):
        first, second = replace(hired, solution=replace(ended, bound=bound)).verdict()
        assert first.startswith("No answer was found before time ran out: selection")
        assert second == f"{word} none is better than {bound}."


def test_fewer_tasks_to_drop_are_ruled_out_by_whoever_does(tmp_path):
    """Of ten tasks of one worker each, with room for seven, three go: and the file says so."""
    raw = {"quality": [[0.5]] * 10, "requirement": 0.5, "capacity": 7}
    path, proof = tmp_path / "problem.json", tmp_path / "problem.proof.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    solved = wb.solve(path, "drop", proof=proof)
    assert solved.verdict()[1:] == [
        "It is proven that no fewer will do.",
        "Proven by the file too.",
    ]
    assert solved.to_dict()["proof"] == {"bound": 3.0}
    left = replace(solved.solution.certificate, status="feasible", lower_bound=2.0)
    less = replace(solved.solution, certificate=left, bound=2.0)
    assert replace(solved, solution=less, filed={"bound": 1.0}).verdict()[1:] == [
        "It is proven that fewer than 2 will not do.",
        "Proven by the file: none below 1.",
    ]
