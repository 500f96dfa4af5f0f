"""A proof as a file: a plan, and a tree of prices that shows how cheap any plan can be.

One form for whatever `certify` proves of whole plans. Weights of tasks, of numbers of labels and of
cover cuts need not be in it: the least price of a task at the same prices of workers is at least
what they prove. Split numbers of labels are the tree, with prices at its leaves. That there is no
plan is shown by the same without the labels' prices. What is claimed is what
`models/problems/check.py` recomputes in exact fractions, bare Python that shares no code with the
solver.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.checker import plan_checker
from workbench.base.errors import InputError
from workbench.solving.patterns.bound import pattern_bound
from workbench.solving.patterns.pair_branching import proof_of_none
from workbench.solving.solution import BranchProof, Leaf, PatternProof, Solution, Split

FORMAT = 2
DIGITS = 10**9
"""Of a price after the point: any prices prove something."""
SECONDS = 20.0
"""For a proof that there is no plan."""
FEW = 600
"""Pairs up to which that is searched for by branches."""

Tree = dict[str, Any]


def proof_file(content: bytes, problem: AssignmentProblem, solution: Solution) -> bytes | None:
    """Write the proof of a whole plan, of a bound alone, or that there is no plan.

    Parameters
    ----------
    content
        The problem's file, whose digest the proof names.
    problem, solution
        What it states, and what was found.

    Returns
    -------
    bytes or None
        None where there is no plan and it is not proven that there is none.

    Raises
    ------
    InputError
        The checker refuses what would be written.
    """
    if solution.formulation != "ip":
        raise InputError("proof: is of the integer program; leave it out")
    checker = plan_checker()
    try:
        stated = checker["read"](content.decode("utf-8"))
        if solution.infeasibility is not None:
            parts = _no_plan(checker, stated, problem, solution)
            if parts is None:
                return None
        else:
            parts = _plan(checker, stated, problem, solution)
    except ValueError as error:
        raise InputError(f"proof: the checker refuses it: {error}") from error
    digest = hashlib.sha256(content).hexdigest()
    proof = {"kind": "assignment", "format": FORMAT, "problem_sha256": digest, **parts}
    return written(proof)


def written(proof: dict[str, Any]) -> bytes:
    """Give the one form of a proof: keys in order, no blanks."""
    return (json.dumps(proof, sort_keys=True, separators=(",", ":")) + "\n").encode()


def _plan(
    checker: dict[str, Any], stated: Any, problem: AssignmentProblem, solution: Solution
) -> dict[str, Any]:
    """The plan, if there is one, and the tree that proves the highest bound."""
    # Prices over patterns know no limits of labels: there the checker says which prove most.
    prices = tried_prices(problem, solution) if problem.limited else []
    trees = [leaf(each) for each in prices or [best_prices(problem, solution)]]
    trees += [tree_of(problem, proof) for proof in solution.proofs if type(proof) is BranchProof]
    bounds = [checker["tree_bound"](stated, tree) for tree in trees]
    at = int(np.argmax([float(bound) for bound in bounds]))
    claim = {"bound": rational(max(bounds[at], Fraction(0)))}
    if solution.assignment is None:
        return {"claim": claim, "tree": trees[at]}
    labels = [np.flatnonzero(row > 0.5).tolist() for row in solution.assignment]
    claim["cost"] = rational(checker["cost_of"](stated, {"labels": labels}))
    return {"claim": claim, "labels": labels, "tree": trees[at]}


def _no_plan(
    checker: dict[str, Any], stated: Any, problem: AssignmentProblem, solution: Solution
) -> dict[str, Any] | None:
    """The tree that proves that no plan keeps every constraint."""
    for tree in _denials(problem, solution):
        if checker["tree_bound"](stated, tree, priced=False) > 0:
            return {"claim": {"infeasible": True}, "tree": tree}
    return None


def _denials(problem: AssignmentProblem, solution: Solution) -> Iterator[Tree]:
    """Trees that may prove that there is no plan, the short ones first."""
    yield leaf(np.zeros(problem.shape[1]))
    why = solution.infeasibility
    if why is not None and why.pattern_prices is not None:
        yield leaf(np.array(why.pattern_prices)[problem.typed.worker_class])
    if problem.limited or problem.shape[0] * problem.shape[1] > FEW:
        return
    proof = proof_of_none(problem, SECONDS)
    if isinstance(proof, BranchProof):
        yield tree_of(problem, proof)


def best_prices(problem: AssignmentProblem, solution: Solution) -> FloatArray:
    """Worker prices that prove most over patterns, of those that any proof has."""
    first, tried = _first(problem), tried_prices(problem, solution)
    patterns = [proof for proof in solution.proofs if isinstance(proof, PatternProof)]
    if len(patterns) == 1 and solution.certificate.bound_from == "patterns":
        tried = tried_prices(problem, replace(solution, proofs=(patterns[0],), worker_prices=None))
        return tried[-1]
    return max(tried, key=lambda prices: pattern_bound(problem.typed, prices[first]))


def tried_prices(problem: AssignmentProblem, solution: Solution) -> list[FloatArray]:
    """Worker prices of every proof, equal for equal workers; and none at all."""
    first, alike = _first(problem), problem.typed.worker_class
    assert alike is not None
    tried = [np.zeros(len(first))]
    for proof in solution.proofs:
        if isinstance(proof, BranchProof):
            continue
        prices = proof.worker_prices
        tried.append(prices if isinstance(proof, PatternProof) else prices[first])
    if solution.worker_prices is not None:
        tried.append(solution.worker_prices[first])
    return [np.maximum(prices, 0.0)[alike] for prices in tried if np.isfinite(prices).all()]


def _first(problem: AssignmentProblem) -> IntArray:
    """The first worker of each class."""
    assert problem.typed.worker_class is not None
    first: IntArray = np.unique(problem.typed.worker_class, return_index=True)[1]
    return first


def tree_of(problem: AssignmentProblem, proof: BranchProof) -> Tree:
    """Write a proof of branches by task and worker."""
    return _node(proof.root, problem.alone if proof.alone else problem.typed)


def _node(node: Split | Leaf, classes: TypedProblem) -> Tree:
    assert classes.task_class is not None
    assert classes.worker_class is not None
    if isinstance(node, Leaf):
        return leaf(node.worker_prices[classes.worker_class], node.side_prices)
    return {
        "pairs": blocks(node.pairs[np.ix_(classes.task_class, classes.worker_class)]),
        "most": node.most,
        "below": _node(node.below, classes),
        "above": _node(node.above, classes),
    }


def blocks(pairs: BoolArray) -> list[list[list[int]]]:
    """Pairs as blocks [tasks, workers]: the tasks that have the same workers together."""
    rows: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(pairs.any(axis=1)).tolist():
        rows.setdefault(pairs[i].tobytes(), []).append(i)
    return [[tasks, np.flatnonzero(pairs[tasks[0]]).tolist()] for tasks in rows.values()]


def leaf(prices: FloatArray, side_prices: FloatArray | None = None) -> Tree:
    """Prices of workers, and of the sides above, as short fractions."""
    mu = np.zeros(0) if side_prices is None else side_prices
    return {"worker_prices": _short(prices), "side_prices": _short(mu)}


def _short(prices: FloatArray) -> list[int | str]:
    cut = np.maximum(prices, 0.0).tolist()
    return [rational(Fraction(round(price * DIGITS), DIGITS)) for price in cut]


def rational(value: Fraction | int) -> int | str:
    """Write a number as a proof has it: whole, or "a/b" in lowest terms."""
    exact = Fraction(value)
    return int(exact) if exact.denominator == 1 else str(exact)
