"""Problems as solvers see them: numbers that suit their absolute tolerances, whatever the units.

Prices count in a unit of their own, so that no currency decides anything. What is true of whole
plans alone is used for whole plans alone:

- a label adds no more to a task's cover than the task asks for: q_ij ← min(q_ij, C_i). The
  relaxation of the tightened program is higher than the paper's, and no solver meets 10⁻² beside
  10⁻⁸ in one row;
- a row that asks for less than 1/2 is multiplied by a power of two, so that nothing is rounded;
- pairs that cost more than a known plan are in no cheaper one: without them prices lie closer
  together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.problem import price_step
from workbench.base.arrays import FloatArray, IntArray
from workbench.solving.solution import (
    BranchProof,
    CountProof,
    Leaf,
    PatternProof,
    Proof,
    RawAnswer,
    RelaxationProof,
    Split,
)

MANTISSA = 2.0**44
"""Prices are rounded to 44 bits: dividing by a unit moves the last of 53, which may decide ties."""

Problem = TypeVar("Problem", AssignmentProblem, TypedProblem)


def in_own_unit(problem: Problem) -> tuple[Problem, float]:
    """The problem with prices that are the same to the last bit in every currency, and their unit.

    Multiples of one step are counted in steps, other prices as shares of the highest.
    """
    if problem.cost is None:
        return problem, 1.0
    seen = problem.matrix(problem.cost[problem.pairs])
    highest = float(seen.max())
    if highest == 0.0:
        return replace(problem, cost=seen), 1.0
    step = price_step(seen)
    unit = step or highest
    cost = np.rint(seen / step) if step else _shortened(seen / highest)
    equal = bool((cost[problem.pairs] == 1.0).all())
    return replace(problem, cost=None if equal else cost), unit


def _shortened(values: FloatArray) -> FloatArray:
    mantissa, exponent = np.frexp(values)
    shortened: FloatArray = np.ldexp(np.rint(mantissa * MANTISSA) / MANTISSA, exponent)
    return shortened


def tightened(problem: AssignmentProblem) -> AssignmentProblem:
    """The same whole plans, with no label above what its task asks for."""
    if not is_loose(problem):
        return problem
    return replace(problem, quality=np.minimum(problem.quality, problem.requirement[:, None]))


def is_loose(problem: AssignmentProblem) -> bool:
    """Whether some label adds more than its task asks for."""
    return bool((problem.quality > problem.requirement[:, None]).any())


@dataclass(frozen=True, eq=False)
class ScaledProblem:
    """One problem (`outer`) written as another (`inner`), and the way back.

    Prices of the inner one count in `unit`, and its requirements are multiplied by `rows`, shape
    (n,). It may lack pairs; equal tasks and equal workers of the outer one are equal there.
    """

    outer: AssignmentProblem
    inner: AssignmentProblem
    unit: float
    rows: FloatArray

    def affordable(self, cost: float) -> ScaledProblem:
        """Without the pairs that cost more than a whole plan, in the inner problem's unit."""
        kept = self.inner.mask & (self.inner.prices <= cost * (1 + 1e-9))
        inner, unit = in_own_unit(replace(self.inner, available=kept))
        return replace(self, inner=inner, unit=self.unit * unit)

    def into(self, pairs: FloatArray) -> FloatArray:
        """A plan by the outer problem's pairs in terms of the inner one's."""
        return self.outer.matrix(pairs)[self.inner.pairs]

    def back(self, answer: RawAnswer) -> RawAnswer:
        """An answer to the inner problem, by pair, task and worker, in the outer one's terms."""
        pairs, weights = answer.pairs, answer.task_weights
        return replace(
            answer,
            pairs=None if pairs is None else self.inner.matrix(pairs)[self.outer.pairs],
            task_weights=None if weights is None else weights * self.rows,
            proofs=tuple(self.proof_back(proof) for proof in answer.proofs),
        ).in_prices(self.unit)

    def proof_back(self, proof: Proof) -> Proof:
        """A proof about the inner problem in the outer one's terms."""
        if isinstance(proof, BranchProof) and proof.alone:
            n, m = self.outer.shape
            same = self._node(proof.root, np.ix_(np.arange(n), np.arange(m)))
            return BranchProof(same, alone=True)
        if isinstance(proof, PatternProof | BranchProof):
            # Equal workers, and tasks, of the outer problem are equal in the inner one.
            _, first = np.unique(_classes(self.outer), return_index=True)
            workers = _classes(self.inner)[first]
            if isinstance(proof, PatternProof):
                return PatternProof(proof.worker_prices[workers] * self.unit)
            inner, outer = self.inner.typed.task_class, self.outer.typed.task_class
            assert inner is not None
            assert outer is not None
            tasks = inner[np.unique(outer, return_index=True)[1]]
            return BranchProof(self._node(proof.root, np.ix_(tasks, workers)))
        weights = proof.task_weights * self.rows * self.unit
        prices = proof.worker_prices * self.unit
        if isinstance(proof, RelaxationProof):
            return RelaxationProof(weights, prices)
        return CountProof(weights, proof.label_weights * self.unit, prices)

    def _node(self, node: Split | Leaf, outer: tuple[IntArray, ...]) -> Split | Leaf:
        """Part of a proof; `outer` has the inner classes of the outer ones, as `np.ix_` gives."""
        if isinstance(node, Leaf):
            prices = node.worker_prices[outer[1][0]]
            return Leaf(prices * self.unit, node.side_prices * self.unit)
        below, above = self._node(node.below, outer), self._node(node.above, outer)
        return Split(node.pairs[outer], node.most, below, above)


def _classes(problem: AssignmentProblem) -> IntArray:
    """Class of each worker."""
    assert problem.typed.worker_class is not None
    return problem.typed.worker_class


def view(problem: AssignmentProblem, *, whole: bool) -> ScaledProblem:
    """A problem as solvers see it; `whole` where only whole plans are asked for."""
    inner, unit = in_own_unit(problem)
    rows = np.ones(len(problem.requirement))
    if whole:
        inner = tightened(inner)
        _, exponent = np.frexp(inner.requirement)
        rows = np.ldexp(1.0, -np.minimum(exponent, 0))
        if (rows > 1).any():
            inner = replace(
                inner, quality=inner.quality * rows[:, None], requirement=inner.requirement * rows
            )
    return ScaledProblem(problem, inner, unit, rows)
