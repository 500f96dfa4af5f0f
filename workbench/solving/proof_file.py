"""A proof as a file: a plan, and prices of workers that show how cheap any plan can be.

What is claimed is what `models/problems/check.py` recomputes in exact fractions, bare Python that
shares no code with the solver. A bound that only a search by branches has is not in it: the file
then claims the lower bound that prices alone prove.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from crowd_models import AssignmentProblem
from workbench.base.arrays import FloatArray
from workbench.base.checker import plan_checker
from workbench.base.errors import InputError
from workbench.solving.patterns.bound import pattern_bound
from workbench.solving.solution import BranchProof, PatternProof, Solution

FORMAT = 1
DIGITS = 9
"""Digits of a price after the point: any prices prove something."""


def proof_file(content: bytes, problem: AssignmentProblem, solution: Solution) -> bytes:
    """Write the proof of a whole plan.

    Parameters
    ----------
    content
        The problem's file, whose digest the proof names.
    problem, solution
        What it states, and what was found.

    Raises
    ------
    InputError
        There is no plan, or the checker refuses what would be written.
    """
    if solution.assignment is None or solution.formulation != "ip":
        raise InputError("proof: there is no plan to prove anything of")
    prices = best_prices(problem, solution)
    proof: dict[str, Any] = {
        "kind": "assignment",
        "format": FORMAT,
        "problem_sha256": hashlib.sha256(content).hexdigest(),
        "labels": [np.flatnonzero(row > 0.5).tolist() for row in solution.assignment],
        "worker_prices": [round(price, DIGITS) for price in prices.tolist()],
    }
    checker = plan_checker()
    try:
        stated = checker["read"](content.decode("utf-8"))
        # As the checker will read them: prices as short decimals.
        again = checker["parsed"](json.dumps(proof))
        claim = {
            "cost": str(checker["cost_of"](stated, again)),
            "bound": str(checker["bound_of"](stated, again["worker_prices"])),
        }
    except ValueError as error:
        raise InputError(f"proof: the checker refuses it: {error}") from error
    return (json.dumps({**proof, "claim": claim}, sort_keys=True) + "\n").encode()


def best_prices(problem: AssignmentProblem, solution: Solution) -> FloatArray:
    """Worker prices that prove most over patterns, of those that any proof has."""
    counted = problem.typed
    assert counted.worker_class is not None
    _, first = np.unique(counted.worker_class, return_index=True)
    tried = [np.zeros(len(first))]
    for proof in solution.proofs:
        if isinstance(proof, BranchProof):
            continue
        prices = proof.worker_prices
        tried.append(prices if isinstance(proof, PatternProof) else prices[first])
    if solution.worker_prices is not None:
        tried.append(solution.worker_prices[first])
    tried = [np.maximum(prices, 0.0) for prices in tried if np.isfinite(prices).all()]
    return max(tried, key=lambda prices: pattern_bound(counted, prices))[counted.worker_class]
