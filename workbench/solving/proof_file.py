"""A proof as a file: a plan, and a tree of prices that shows how cheap any plan can be.

All that `certify` proves of whole plans has this one form: a tree that splits on numbers of labels,
with worker prices at its leaves. The weights of tasks, label limits and cover cuts are not in it:
at the same worker prices, the least price of each task proves at least as much as they do. A tree
of the same form, where labels themselves cost nothing, shows that there is no plan. The claim is
what `models/problems/check.py` recomputes in exact fractions. That is bare Python and shares no
code with the solver.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from crowd_models import AssignmentProblem, SelectionProblem, TypedProblem
from crowd_models.joint import JointProblem
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.checker import plan_checker
from workbench.base.errors import InputError
from workbench.solving.dropping import DropSolution, DropTree, drop_tree
from workbench.solving.exact_error import proof_of_plans
from workbench.solving.highs import RunOptions
from workbench.solving.hiring import SelectionSolution
from workbench.solving.hiring_bound import size_bounds
from workbench.solving.hiring_branches import MoneyLeaf, SizeTree, size_trees
from workbench.solving.joint.route import proof_of_plans as proof_of_joint_plans
from workbench.solving.patterns.bound import pattern_bound
from workbench.solving.patterns.listed_sets import MANY
from workbench.solving.patterns.pair_branching import proof_of_none
from workbench.solving.solution import BranchProof, Leaf, PatternProof, Solution, Split

FORMAT = 2
DIGITS = 10**9
"""Prices are rounded to multiples of 1/DIGITS. That is safe: a bound holds at any prices."""
SHARE = 10**12
"""Shares of labels are rounded to multiples of 1/SHARE."""
SECONDS = 20.0
"""Time limit of the search for a proof that there is no plan."""
FEW = 600
"""Most pairs (task, worker) for which that search is made."""

Tree = dict[str, Any]


def proof_file(
    content: bytes, problem: AssignmentProblem | JointProblem, solution: Solution
) -> bytes | None:
    """Write the proof of a whole plan, of a bound alone, or that there is no plan.

    Parameters
    ----------
    content
        The problem's file, whose digest the proof names.
    problem, solution
        The problem that this file states, and its solution.

    Returns
    -------
    bytes or None
        None where the solver says that there is no plan and no tree proves it, and where sets of
        workers are too many to be listed.

    Raises
    ------
    InputError
        The solution is not of the integer program, or the checker refuses the proof.
    """
    if solution.formulation != "ip":
        raise InputError("proof: belongs to the integer program; leave it out")
    checker = plan_checker()
    try:
        stated = checker["read"](content.decode("utf-8"))
        if isinstance(problem, JointProblem) or problem.gain == "exact error":
            parts = _of_listed_sets(checker, stated, _searched(problem, solution))
        elif solution.infeasibility is not None:
            parts = _no_plan(checker, stated, problem, solution)
        else:
            parts = _plan(checker, stated, problem, solution)
    except ValueError as error:
        raise InputError(f"proof: the checker refuses it: {error}") from error
    if parts is None:
        return None
    return written({**_head(stated.form, content), **parts})


def drop_proof_file(
    content: bytes, problem: AssignmentProblem, solution: DropSolution
) -> bytes | None:
    """Write the proof of how few tasks can be dropped: shares for the rest, and a tree of prices.

    Parameters
    ----------
    content, problem, solution
        As of `proof_file`.

    Returns
    -------
    bytes or None
        None where no shares are known that cover the rest, or not to the last digit.

    Raises
    ------
    InputError
        The checker refuses the proof.
    """
    if solution.assignment is None:
        return None
    checker, typed = plan_checker(), problem.typed
    until = time.perf_counter() + SECONDS
    tree = drop_tree(typed, len(solution.dropped), RunOptions(), until)
    root = leaf(np.zeros(problem.shape[1])) if tree is None else _dropping(tree, typed)
    used = np.maximum(solution.assignment.sum(axis=0), 1e-300)
    fit = np.minimum(1.0, problem.capacity / used * (1 - 1e-13))  # what was over by rounding
    shares = []
    for row in np.delete(solution.assignment, solution.dropped, axis=0) * fit:
        parts = [(j, math.floor(float(row[j]) * SHARE)) for j in np.flatnonzero(row).tolist()]
        shares.append([[j, rational(Fraction(part, SHARE))] for j, part in parts if part > 0])
    stated = checker["read"](content.decode("utf-8"))
    try:
        checker["shares_cover"](stated, shares, list(solution.dropped))
    except ValueError:
        return None
    try:
        bound = max(0, math.ceil(checker["drop_bound"](stated, root)))
    except ValueError as error:
        raise InputError(f"proof: the checker refuses it: {error}") from error
    proof = {
        **_head("drop", content),
        "claim": {"tasks": len(solution.dropped), "bound": bound},
        "drop": list(solution.dropped),
        "shares": shares,
        "tree": root,
    }
    return written(proof)


def _dropping(tree: DropTree, typed: TypedProblem) -> Tree:
    """Write a tree of how many tasks of a class are dropped, by task and worker."""
    assert typed.task_class is not None
    assert typed.worker_class is not None
    if isinstance(tree, Leaf):
        return leaf(tree.worker_prices[typed.worker_class], tree.side_prices)
    return {
        "tasks": np.flatnonzero(tree.classes[typed.task_class]).tolist(),
        "most": tree.most,
        "below": _dropping(tree.below, typed),
        "above": _dropping(tree.above, typed),
    }


def selection_proof_file(
    content: bytes, problem: SelectionProblem, solution: SelectionSolution
) -> bytes | None:
    """Write the proof of whom to hire: the set, and trees that bound what others gain.

    Parameters
    ----------
    content, problem, solution
        As of `proof_file`.

    Returns
    -------
    bytes or None
        None where there is no set, though somebody may be hired.

    Raises
    ------
    InputError
        The checker refuses the proof.
    """
    checker = plan_checker()
    proof = _head("selection", content)
    try:
        stated = checker["read_hiring"](content.decode("utf-8"))
        if not stated.who:
            return written({**proof, "claim": {"infeasible": True}, "sizes": []})
        if solution.chosen is None:
            return None
        trees = solution.trees
        if trees is None and solution.certificate.status == "proven":
            trees = size_trees(problem, solution.chosen)
        sizes = [_hiring(tree) for tree in trees or ()]
        if not sizes:
            rates = size_bounds(problem).money_price
            sizes = [{"money_price": _short(rates[k : k + 1])[0]} for k in range(len(rates))]
        more = min(stated.budget, len(stated.who)) - len(sizes)
        sizes += [{"money_price": 0}] * more  # sizes whose cheapest set is beyond the money
        chosen = sorted(solution.chosen.tolist())
        score = sum(stated.gains[j] for j in chosen), len(chosen)
        bound = score
        for size, tree in enumerate(sizes, 1):
            most = checker["gain_bound"](stated, tree, size)
            if most is not None:
                bound = max(bound, (most, size), key=lambda each: checker["squared"](*each))
    except ValueError as error:
        raise InputError(f"proof: the checker refuses it: {error}") from error
    claim = {"score": [_signed(score[0]), score[1]], "bound": [_signed(bound[0]), bound[1]]}
    return written({**proof, "claim": claim, "chosen": chosen, "sizes": sizes})


def _hiring(tree: SizeTree) -> Tree:
    """Write a tree of who is in a set."""
    if isinstance(tree, MoneyLeaf):
        price = Fraction(max(tree.money_price, 0.0))
        return {"money_price": rational(price.limit_denominator(10**28))}
    return {"worker": tree.worker, "in": _hiring(tree.inside), "out": _hiring(tree.outside)}


def _signed(value: Fraction) -> int | str:
    """Write a sum of gains, which may be below 0."""
    return rational(value) if value >= 0 else f"-{rational(-value)}"


def _head(kind: str, content: bytes) -> dict[str, Any]:
    """What every proof begins with: its kind and form, and the digest of the problem's file."""
    return {
        "kind": kind,
        "format": FORMAT,
        "problem_sha256": hashlib.sha256(content).hexdigest(),
    }


def stated(proof: bytes) -> dict[str, Any]:
    """What a proof claims that no answer beats: `bound`; or that there is none, `infeasible`."""
    claim = json.loads(proof)["claim"]
    if "bound" not in claim:
        return {"infeasible": True}
    if isinstance(claim["bound"], list):  # a sum of gains, and of how many
        gain, size = claim["bound"]
        return {"bound": float(Fraction(gain)) / math.sqrt(size)}
    return {"bound": float(Fraction(claim["bound"]))}


def written(proof: dict[str, Any]) -> bytes:
    """Write a proof in its canonical form: keys in order, no blanks."""
    return (json.dumps(proof, sort_keys=True, separators=(",", ":")) + "\n").encode()


def _plan(
    checker: dict[str, Any], stated: Any, problem: AssignmentProblem, solution: Solution
) -> dict[str, Any]:
    """The plan, if there is one, and the tree that proves the highest bound."""
    # `best_prices` compares bounds over patterns, which ignore label limits. Where there are such
    # limits, try all prices: the checker says which prove most.
    if problem.limited:
        candidates = tried_prices(problem, solution)
    else:
        candidates = [best_prices(problem, solution)]
    trees = [leaf(prices) for prices in candidates]
    trees += [tree_of(problem, proof) for proof in solution.proofs if type(proof) is BranchProof]
    bounds = [checker["tree_bound"](stated, tree) for tree in trees]
    at = int(np.argmax([float(bound) for bound in bounds]))
    claim = {"bound": rational(max(bounds[at], Fraction(0)))}
    if solution.assignment is None:
        return {"claim": claim, "tree": trees[at]}
    labels = [np.flatnonzero(row > 0.5).tolist() for row in solution.assignment]
    claim["cost"] = rational(checker["cost_of"](stated, {"labels": labels}))
    return {"claim": claim, "labels": labels, "tree": trees[at]}


def _searched(problem: AssignmentProblem | JointProblem, solution: Solution) -> Solution:
    """Look for branches where the cost was proven in another way, which no file states."""
    if solution.proofs or solution.certificate.status != "proven":
        return solution
    if isinstance(problem, JointProblem):
        return replace(solution, proofs=proof_of_joint_plans(problem, solution.objective, MANY))
    if math.prod(problem.shape) > MANY:
        return solution
    proof = proof_of_plans(problem, solution.objective)
    return solution if proof is None else replace(solution, proofs=(proof,))


def _of_listed_sets(
    checker: dict[str, Any], stated: Any, solution: Solution
) -> dict[str, Any] | None:
    """What branches over listed sets of workers prove; None where they prove nothing."""
    m = len(stated.copies)
    trees = [_alone(proof.root) for proof in solution.proofs if type(proof) is BranchProof]
    trees.append(leaf(np.zeros(m)))
    if solution.worker_prices is not None and len(solution.worker_prices) == m:
        trees.append(leaf(solution.worker_prices))
    try:
        if solution.objective is None:
            for tree in trees:
                if checker["tree_bound"](stated, tree, priced=False) > 0:
                    return {"claim": {"infeasible": True}, "tree": tree}
        bounds = [checker["tree_bound"](stated, tree) for tree in trees]
    except ValueError:  # more sets than the checker lists
        return None
    best = max(range(len(trees)), key=lambda at: bounds[at])
    claim = {"bound": rational(max(bounds[best], Fraction(0)))}
    if solution.assignment is None:
        return {"claim": claim, "tree": trees[best]} if bounds[best] > 0 else None
    labels = [np.flatnonzero(row > 0.5).tolist() for row in solution.assignment]
    claim["cost"] = rational(checker["cost_of"](stated, {"labels": labels}))
    return {"claim": claim, "labels": labels, "tree": trees[best]}


def _alone(node: Split | Leaf) -> Tree:
    """Write a node whose pairs and prices are by task and worker."""
    if isinstance(node, Leaf):
        return leaf(node.worker_prices, node.side_prices)
    below, above = _alone(node.below), _alone(node.above)
    return {"pairs": blocks(node.pairs), "most": node.most, "below": below, "above": above}


def _no_plan(
    checker: dict[str, Any], stated: Any, problem: AssignmentProblem, solution: Solution
) -> dict[str, Any] | None:
    """The tree that proves that no plan keeps every constraint."""
    for tree in _denials(problem, solution):
        if checker["tree_bound"](stated, tree, priced=False) > 0:
            return {"claim": {"infeasible": True}, "tree": tree}
    return None


def _denials(problem: AssignmentProblem, solution: Solution) -> Iterator[Tree]:
    """Yield trees that may prove that there is no plan, the short ones first."""
    yield leaf(np.zeros(problem.shape[1]))
    reason = solution.infeasibility
    if reason is not None and reason.pattern_prices is not None:
        yield leaf(np.array(reason.pattern_prices)[problem.typed.worker_class])
    if problem.shape[0] * problem.shape[1] > FEW:
        return
    proof = proof_of_none(problem, SECONDS)
    if isinstance(proof, BranchProof):
        yield tree_of(problem, proof)


def best_prices(problem: AssignmentProblem, solution: Solution) -> FloatArray:
    """Choose, of the worker prices of all proofs, those that prove most over patterns."""
    first, tried = _first(problem), tried_prices(problem, solution)
    patterns = [proof for proof in solution.proofs if isinstance(proof, PatternProof)]
    if len(patterns) == 1 and solution.certificate.bound_from == "patterns":
        # The bound came from this proof: take its prices, which come last.
        tried = tried_prices(problem, replace(solution, proofs=(patterns[0],), worker_prices=None))
        return tried[-1]
    return max(tried, key=lambda prices: pattern_bound(problem.typed, prices[first]))


def tried_prices(problem: AssignmentProblem, solution: Solution) -> list[FloatArray]:
    """Worker prices to try: all 0, then those of each proof; workers of a class share one price."""
    first, worker_class = _first(problem), problem.typed.worker_class
    assert worker_class is not None
    tried = [np.zeros(len(first))]
    for proof in solution.proofs:
        if isinstance(proof, BranchProof):
            continue
        prices = proof.worker_prices
        tried.append(prices if isinstance(proof, PatternProof) else prices[first])
    if solution.worker_prices is not None:
        tried.append(solution.worker_prices[first])
    return [np.maximum(prices, 0.0)[worker_class] for prices in tried if np.isfinite(prices).all()]


def _first(problem: AssignmentProblem) -> IntArray:
    """The first worker of each class."""
    assert problem.typed.worker_class is not None
    first: IntArray = np.unique(problem.typed.worker_class, return_index=True)[1]
    return first


def tree_of(problem: AssignmentProblem, proof: BranchProof) -> Tree:
    """Write a proof of branches, which is by classes, as a tree by task and worker."""
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
    """Write pairs as blocks [tasks, workers]; tasks with the same workers share a block."""
    rows: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(pairs.any(axis=1)).tolist():
        rows.setdefault(pairs[i].tobytes(), []).append(i)
    return [[tasks, np.flatnonzero(pairs[tasks[0]]).tolist()] for tasks in rows.values()]


def leaf(prices: FloatArray, side_prices: FloatArray | None = None) -> Tree:
    """Write a leaf: prices of workers, and of the sides from the root to it, as fractions."""
    mu = np.zeros(0) if side_prices is None else side_prices
    return {"worker_prices": _short(prices), "side_prices": _short(mu)}


def _short(prices: FloatArray) -> list[int | str]:
    raised = np.maximum(prices, 0.0).tolist()
    return [rational(Fraction(round(price * DIGITS), DIGITS)) for price in raised]


def rational(value: Fraction | int) -> int | str:
    """Write a number as a proof has it: whole, or "a/b" in lowest terms."""
    exact = Fraction(value)
    return int(exact) if exact.denominator == 1 else str(exact)
