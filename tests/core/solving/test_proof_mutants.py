"""Mutants of proofs of every kind: whatever a checker accepts is true by enumeration.

A forger knows the checker: the claim of a mutant is the most that its own plan and tree give, and
most mutants are written in the one form that is read. Some have another problem, too. The two
checkers, `check.py` and `verify.c`, say the same, whatever is written.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.core.release import some
from tests.core.solving.c_verifier import STRICT, verifier
from tests.core.solving.forging import garbled, mutated
from workbench.base.checker import plan_checker
from workbench.solving.proof_file import rational, written

MUTANTS = int(os.environ.get("WORKBENCH_MUTANTS", "4000"))
CHECKER = plan_checker()


def drawn(rng, *, limited=False, tight=False):
    """A small problem as its file states it."""
    n, m = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    raw = {
        "quality": (rng.integers(1, 10, (n, m)) / 10).tolist(),
        "requirement": (
            rng.integers(5, 15, n) * rng.integers(0 if limited else 1, 4, n).clip(0, 1) / 10
        ).tolist(),
        "capacity": rng.integers(0 if tight else 1, n + 1, m).tolist(),
    }
    if rng.random() < 0.6:
        raw["cost"] = rng.integers(1, 6, (n, m)).tolist()
    if rng.random() < 0.4:
        raw["available"] = (rng.random((n, m)) < 0.8).tolist()
    if limited:
        raw["least"] = rng.integers(0, 3, n).tolist()
        raw["most"] = [least + int(rng.integers(1, 3)) for least in raw["least"]]
    return raw


def drawn_by_class(rng):
    """A small problem whose rows and columns stand for several tasks and workers."""
    n, m = int(rng.integers(1, 3)), 2
    raw = {
        "quality": (rng.integers(1, 10, (n, m)) / 10).tolist(),
        "requirement": (rng.integers(3, 14, n) / 10).tolist(),
        "capacity": rng.integers(0, 3, m).tolist(),
        "cost": rng.integers(1, 6, (n, m)).tolist(),
        "tasks": rng.integers(1, 3, n).tolist(),
        "workers": rng.integers(1, 4, m).tolist(),
    }
    if rng.random() < 0.4:
        raw["least"] = rng.integers(0, 3, n).tolist()
        raw["most"] = [least + int(rng.integers(0, 3)) for least in raw["least"]]
    return raw


def class_of(raw):
    """The row of each task, and the column of each worker."""
    times = raw.get("tasks", [1] * len(raw["requirement"]))
    copies = raw.get("workers", [1] * len(raw["capacity"]))
    return [[k for k, size in enumerate(of) for _ in range(size)] for of in (times, copies)]


def by_pairs(raw):
    """The same problem with a row each task, a column each worker."""
    rows, columns = class_of(raw)
    matrices = {
        name: [[raw[name][i][j] for j in columns] for i in rows]
        for name in ("quality", "cost", "available")
        if name in raw
    }
    lists = {n: [raw[n][i] for i in rows] for n in ("requirement", "least", "most") if n in raw}
    return {**matrices, **lists, "capacity": [raw["capacity"][j] for j in columns]}


def by_class(raw, plan):
    """How many labels of each row are whose, of all its tasks; and the plan by class."""
    rows, columns = class_of(raw)
    labels, patterns = [Counter() for _ in raw["requirement"]], Counter()
    for i, workers in zip(rows, plan, strict=True):
        those = Counter(columns[j] for j in workers)
        labels[i] += those
        patterns[i, tuple(sorted(those.items()))] += 1
    told = [[i, {str(j): k for j, k in those}, n] for (i, those), n in patterns.items()]
    return labels, told


def cheapest(raw):
    """Cost and plan by enumeration, in exact tenths; None where there is no plan."""
    n, m = len(raw["requirement"]), len(raw["capacity"])
    cost, able = raw.get("cost", [[1] * m] * n), raw.get("available", [[True] * m] * n)
    least, most = raw.get("least", [0] * n), raw.get("most", [m] * n)
    states = {tuple(raw["capacity"]): (0, [])}
    for i in range(n):
        after = {}
        for pick in product((0, 1), repeat=m):
            those = [j for j in range(m) if pick[j]]
            covered = sum(Fraction(str(raw["quality"][i][j])) for j in those)
            if covered < Fraction(str(raw["requirement"][i])) or not all(able[i][j] for j in those):
                continue
            if not least[i] <= len(those) <= most[i]:
                continue
            price = sum(cost[i][j] for j in those)
            for room, (paid, plan) in states.items():
                left = tuple(r - on for r, on in zip(room, pick, strict=True))
                if min(left) >= 0 and (left not in after or paid + price < after[left][0]):
                    after[left] = (paid + price, [*plan, those])
        states = after
    return min(states.values(), default=None)


def grown(problem, rng, priced, plan, sides=()):
    """A tree of splits drawn at random, its leaves with the prices that the checker likes best."""
    n, m = len(problem.of), len(problem.copies)
    if len(sides) == 2 or rng.random() < 0.3:
        return climbed(problem, rng, priced, sides)
    rows = np.flatnonzero(rng.random(n) < 0.7).tolist()
    blocks, cut = [], int(rng.integers(0, len(rows) + 1))
    for own in filter(None, (rows[:cut], rows[cut:])):
        blocks += [[own, np.flatnonzero(rng.random(m) < 0.7).tolist()]]
    labels = sum(plan[i][j] for own, those in blocks for i in own for j in those)
    # About as many as the cheapest plan has: it is on one side just so.
    most = max(0, labels - int(rng.integers(0, 2)))
    split = {"pairs": blocks, "most": most, "below": {}, "above": {}}
    for name, (_, inner) in zip(
        ("below", "above"), CHECKER["branches"](problem, split, sides), strict=True
    ):
        split[name] = grown(problem, rng, priced, plan, inner)
    return split


def climbed(problem, rng, priced, sides):
    """A leaf whose prices prove about as much as any, by the checker's word, one after another."""
    m = len(problem.copies)
    prices = [Fraction(0)] * (m + len(sides))
    most = CHECKER["leaf_bound"](problem, prices[:m], sides, prices[m:], priced)
    for at in [*rng.permutation(len(prices)).tolist()] * 2:
        for value in (0, Fraction(1, 2), 1, 2, 4, 9):
            tried = [*prices[:at], Fraction(value), *prices[at + 1 :]]
            bound = CHECKER["leaf_bound"](problem, tried[:m], sides, tried[m:], priced)
            if bound > most:
                prices, most = tried, bound
    numbers = [rational(price) for price in prices]
    return {"worker_prices": numbers[:m], "side_prices": numbers[m:]}


def truths(seed, many=60):
    """Problems of all kinds with true proofs, their texts and optima."""
    rng, cases = np.random.default_rng(seed), []
    for k in range(many):
        counted = k % 5 == 4
        raw = drawn_by_class(rng) if counted else drawn(rng, limited=k % 2 == 1, tight=k % 4 >= 2)
        content, best = json.dumps(raw).encode(), cheapest(by_pairs(raw))
        problem = CHECKER["read"](content.decode())
        labels, patterns = by_class(raw, [[]] * sum(problem.times) if best is None else best[1])
        proof = {
            "kind": "assignment",
            "format": 2,
            "problem_sha256": hashlib.sha256(content).hexdigest(),
            "tree": grown(problem, rng, best is not None, labels),
        }
        if best is not None:
            proof |= {"patterns": patterns} if counted else {"labels": best[1]}
        cases.append((content, problem, proof, None if best is None else best[0]))
    return cases


def claimed(problem, proof, rng):
    """The most that a forger can claim of a plan and a tree, or a little more."""
    try:
        bound = min(10**6, CHECKER["tree_bound"](problem, proof["tree"]))
        plan = "patterns" if "patterns" in proof else "labels"
        if rng.random() < 0.1:
            proof.pop(plan, None)
        cost = CHECKER["cost_of"](problem, proof) if plan in proof else None
        if CHECKER["tree_bound"](problem, proof["tree"], priced=False) > 0:
            proof.pop(plan, None)
            return {"infeasible": True}
        more = int(rng.random() < 0.2)
        claim = {"bound": rational(max(Fraction(bound) + more, Fraction(0)))}
        return claim if cost is None else {**claim, "cost": rational(cost)}
    except Exception:
        return {"bound": 1, "cost": 1}


def untrue(claim, best):
    """Whether a claim that was accepted is false."""
    if "infeasible" in claim:
        return best is not None
    beyond = best is not None and Fraction(claim["bound"]) > best
    return beyond or ("cost" in claim and (best is None or Fraction(claim["cost"]) < best))


def mutants(seed, many, cases=None):
    """Draw mutants: problem, proof, what is true of the problem if it is the one enumerated."""
    rng, cases = np.random.default_rng(seed), truths(seed) if cases is None else cases
    pool, problems = [case[2] for case in cases], [json.loads(case[0]) for case in cases]
    for k in range(many):
        content, problem, proof, best = cases[k % len(cases)]
        mutant = mutated(rng, proof, pool) if k >= len(cases) else dict(proof)
        another = k >= len(cases) and isinstance(mutant, dict) and rng.random() < 0.1
        if another:
            content, problem = forged_problem(rng, content, problem, problems)
            mutant["problem_sha256"] = hashlib.sha256(content).hexdigest()
        if isinstance(mutant, dict):
            mutant["claim"] = claimed(problem, mutant, rng)
        if rng.random() < 0.1:
            mutant = mutated(rng, mutant, pool)
        text = written(mutant).decode()
        if rng.random() < 0.1:
            text = garbled(rng, text)
        yield content, text, "another" if another else best


def forged_problem(rng, content, problem, pool):
    """Another problem, nearly that one; as the checker reads it, if it does."""
    text = json.dumps(mutated(rng, json.loads(content), pool))
    if rng.random() < 0.2:
        text = garbled(rng, text)
    try:
        problem = CHECKER["read"](text)
    except Exception:
        return text.encode(), problem
    return text.encode(), problem


def accepted_and_false(seed, many, others=(), cases=None, optimum=None):
    """How many mutants were accepted, of which kinds, and those that are false.

    Parameters
    ----------
    others
        Checkers that have to say what `check.py` says.
    cases
        True proofs to start from, as of `truths`.
    optimum
        Solves a problem's file that was changed too; without it no more is asked of those.
    """
    accepted, false, kinds = 0, [], set()
    for content, text, best in mutants(seed, many, cases):
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            continue
        holds, line = CHECKER["line_of"](content, text)
        assert line.startswith("holds: " if holds else "WRONG: "), line
        assert "\n" not in line
        for other in others:
            again, said = other(content, text)
            assert again == holds, (line, said, content, text)
            assert not holds or said == line, (line, said, content, text)
        if holds:
            accepted += 1
            claim = json.loads(text)["claim"]
            kinds.add((*sorted(claim), "pairs" in json.loads(text)["tree"]))
            solve = best == "another" and optimum is not None
            truth = optimum(content) if solve else best
            if truth != "another" and untrue(claim, truth):
                false.append((content, text, truth))
    return accepted, kinds, false


def least_by_sets(raw, i, charge):
    """The least that workers for a task cost at their charges, of all sets; None for none."""
    m, quality = len(raw["capacity"]), raw["quality"][i]
    cost, able = raw.get("cost"), raw.get("available")
    least, most = raw.get("least", [0] * (i + 1))[i], raw.get("most", [m] * (i + 1))[i]
    prices = []
    for pick in product((0, 1), repeat=m):
        those = [j for j in range(m) if pick[j]]
        hired = all(raw["capacity"][j] and (able is None or able[i][j]) for j in those)
        covered = sum(Fraction(str(quality[j])) for j in those)
        enough = covered >= Fraction(str(raw["requirement"][i]))
        if hired and enough and least <= len(those) <= most:
            prices.append(sum((1 if cost is None else cost[i][j]) + charge[j] for j in those))
    return min(prices, default=None)


@pytest.mark.parametrize("seed", some(range(60), 4))
def test_a_task_costs_what_all_sets_say(seed):
    """Also where a side of a split pays for labels, and where labels have limits."""
    rng = np.random.default_rng(seed)
    raw = drawn(rng, limited=seed % 3 > 0, tight=seed % 2 > 0)
    problem = CHECKER["read"](json.dumps(raw))
    for i, key in enumerate(problem.of):
        charge = [Fraction(int(x), 2) for x in rng.integers(-14, 8, len(problem.copies))]
        bound = CHECKER["task_bound"](problem, problem.kinds[key], charge, True)
        least = least_by_sets(raw, i, charge)
        if least is not None and problem.kinds[key].need == 0:  # whom one has for nothing
            assert bound <= least
        elif least is not None:
            assert bound == least
        if least is None and problem.kinds[key].most == float("inf"):
            assert bound == float("inf")


@pytest.mark.parametrize("seed", some(range(40), 4))
def test_no_leaf_proves_more_than_a_plan_on_its_sides(seed):
    """Its prices are those that the checker likes best."""
    rng = np.random.default_rng(seed)
    raw = drawn(rng, limited=seed % 2 > 0)
    problem, best = CHECKER["read"](json.dumps(raw)), cheapest(raw)
    if best is None:
        return
    cost, plan = best
    sides = ()
    for _ in range(2):
        those = np.flatnonzero(rng.random(len(problem.copies)) < 0.7).tolist()
        labels = sum(j in those for row in plan for j in row)
        most = max(0, labels - int(rng.integers(0, 2)))
        pairs = [[list(range(len(problem.of))), those]]
        split = {"pairs": pairs, "most": most, "below": {}, "above": {}}
        sides = CHECKER["branches"](problem, split, sides)[int(labels > most)][1]
    leaf = climbed(problem, rng, True, sides)
    prices = [[Fraction(x) for x in leaf[name]] for name in ("worker_prices", "side_prices")]
    assert CHECKER["leaf_bound"](problem, prices[0], sides, prices[1]) <= cost


def test_some_mutants_that_are_accepted_are_true():
    accepted, kinds, false = accepted_and_false(5, 60, cases=truths(3))
    assert not false
    assert accepted > 6
    assert len(kinds) >= 2


@pytest.mark.release
def test_mutants_that_are_accepted_are_true():
    accepted, kinds, false = accepted_and_false(5, 600)
    assert not false
    assert accepted > 60
    assert len(kinds) >= 5  # cost and bound, bound alone, no plan: by a leaf and by branches


@pytest.mark.release
def test_both_checkers_work_out_the_same_bounds():
    """What `check.py` finds of a tree is the most that `verify.c` accepts."""
    line_of, refused = verifier(), 0
    for content, problem, proof, _ in truths(8):
        bound = CHECKER["tree_bound"](problem, proof["tree"])
        least = {name: proof[name] for name in proof if name not in ("labels", "patterns")}
        if not 0 <= bound < 10**6:
            continue
        for more, holds in ((0, True), (Fraction(1, 10**6), False)):
            least["claim"] = {"bound": rational(bound + more)}
            text = written(least).decode()
            said = line_of(content, text)
            assert said[0] == holds == CHECKER["line_of"](content, text)[0], (said, content, text)
            refused += not holds
    assert refused > 15


@pytest.mark.release
def test_both_checkers_say_the_same_of_mutants():
    accepted, kinds, false = accepted_and_false(6, 150, [verifier()])
    assert not false
    assert accepted > 20
    assert len(kinds) >= 5


@pytest.mark.release
@pytest.mark.parametrize("seed", range(4))
def test_mutants_by_the_thousand(seed):
    accepted, _, false = accepted_and_false(100 + seed, MUTANTS // 4, [verifier()])
    assert not false
    assert accepted > MUTANTS // 100


@pytest.mark.release
def test_no_mutant_leads_verify_astray_in_what_c_leaves_open():
    """No address out of bounds, no number that wraps: by the compiler's own checks."""
    strict = verifier(*STRICT)
    for content, text, _ in mutants(7, MUTANTS // 8):
        strict(content, text)
