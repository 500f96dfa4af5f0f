"""Branch and price to the end: a proof for every small program, each task and worker by itself.

The master over patterns is solved; where its optimum costs no more than asked, a number of labels
that it counts as a fraction is split: of all pairs, of equal tasks, of equal tasks by equal
workers, of a task, of one pair. Where all pairs are whole the master's optimum is a plan, so the
tree ends. Its leaves have prices (`bound.branch_bound`), without any solver's word. Branch and
price: Barnhart et al. (1998), "Branch-and-price: column generation for solving huge integer
programs".
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from crowd_models import AssignmentProblem
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import generator
from workbench.solving.patterns.bound import pattern_bound
from workbench.solving.patterns.column_generation import (
    EXACT,
    CoverPricing,
    Generated,
    OutOfTime,
    Search,
    generate,
)
from workbench.solving.scaling import view
from workbench.solving.solution import BranchProof, Leaf, Side, Split, two_sides

WHOLE = 1e-5
"""How near to a whole number a label count counts as whole."""
NODES = 5000
DEEPEST = 90


def proof_above(
    problem: AssignmentProblem,
    cost: float,
    margin: float,
    seconds: float,
    rows: Sequence[Side] = (),
) -> BranchProof | None:
    """Prove that every plan costs more than `cost`; None where there was no time.

    Parameters
    ----------
    cost, margin
        Each leaf proves `cost` and half the margin, in money.
    seconds
        For all of it.
    rows
        Further ones that plans keep, by task and worker: `branch_bound` takes them as `sides`.
    """
    seen = view(problem, whole=True)
    tree = _Tree(
        seen.inner,
        cost / seen.unit,
        margin / seen.unit,
        time.perf_counter() + seconds,
        tuple(rows),
    )
    try:
        root = tree.grown()
    except OutOfTime:
        return None
    if root is None:
        return None
    proof = seen.proof_back(BranchProof(root, alone=True))
    assert isinstance(proof, BranchProof)
    return proof


def proof_of_none(
    problem: AssignmentProblem, seconds: float, rows: Sequence[Side] = ()
) -> BranchProof | None:
    """Prove that no plan covers every task: without prices, each would cost more than nothing."""
    return proof_above(unpriced(problem), 0.0, 1e-5, seconds, rows)


def unpriced(problem: AssignmentProblem) -> AssignmentProblem:
    """The same plans, all of which cost nothing."""
    return AssignmentProblem(
        problem.quality,
        problem.capacity,
        problem.requirement,
        np.zeros(problem.shape),
        problem.available,
        gain=problem.gain,
        least=problem.least,
        most=problem.most,
    )


@dataclass(frozen=True)
class _Tree:
    problem: AssignmentProblem
    cost: float
    margin: float
    until: float
    rows: tuple[Side, ...] = ()

    def grown(self) -> Split | Leaf | None:
        """Grow the tree from the root."""
        alone = self.problem.alone
        search = Search(alone, CoverPricing(alone), generator(0), self.until)
        zero = np.zeros(alone.shape[1])
        start = generate(
            search,
            alone.tasks,
            alone.supply,
            zero,
            tolerance=1e-9 * max(self.cost, self.margin),
            steps=(EXACT,),
            sides=self.rows,
            decide=self.cost + self.margin,
        )
        return self._node(search, start, self.rows, iter(range(NODES)))

    def _node(
        self, search: Search, above: Generated, sides: tuple[Side, ...], left: Iterator[int]
    ) -> Split | Leaf | None:
        depth = len(sides) - len(self.rows)
        if next(left, None) is None or depth > DEEPEST:
            return None
        at = self._priced(search, above, sides) if depth else above
        bound = pattern_bound(search.problem, at.worker_prices, at.side_prices, sides)
        if bound > self.cost + self.margin / 2:
            return Leaf(at.worker_prices, at.side_prices)
        typed = self.problem.typed
        assert typed.task_class is not None
        assert typed.worker_class is not None
        split = fraction(typed.task_class, typed.worker_class, labels_of(at))
        if split is None:
            return None
        pairs, most = split
        # Beside other rows each label of a task that is left open counts, as it does there.
        below, beyond = two_sides(pairs.astype(np.int64) if self.rows else pairs, most)
        first = self._node(search, at, (*sides, below), left)
        second = first and self._node(search, at, (*sides, beyond), left)
        return Split(*split, first, second) if first and second else None

    def _priced(self, search: Search, above: Generated, sides: tuple[Side, ...]) -> Generated:
        """The master's optimum on some sides, the last of which is new."""
        return generate(
            search,
            search.problem.tasks,
            search.problem.supply,
            above.worker_prices,
            above.patterns,
            tolerance=1e-9 * max(self.cost, self.margin),
            steps=(EXACT,),
            sides=sides,
            side_prices=above.side_prices,
            decide=self.cost + self.margin,
        )


def labels_of(at: Generated) -> FloatArray:
    """Labels that the master gives, by task and worker."""
    labels = np.zeros((len(at.task_prices), len(at.worker_prices)))
    for p in np.flatnonzero(at.mix.counts).tolist():
        labels[at.patterns[p].task_class] += at.mix.counts[p] * at.patterns[p].copies
    return labels


def fraction(
    task_class: IntArray, worker_class: IntArray, labels: FloatArray
) -> tuple[BoolArray, int] | None:
    """Pairs whose labels are a fraction, and that rounded down; None where all are whole.

    The largest sets first, and of those of a size the fraction nearest to a half.
    """
    n, m = labels.shape
    nobody, alone = np.zeros(max(n, m), dtype=np.int64), np.arange(max(n, m))
    groups: list[tuple[IntArray, IntArray]] = [
        (nobody[:n], nobody[:m]),
        (task_class, nobody[:m]),
        (task_class, worker_class),
        (alone[:n], nobody[:m]),
        (alone[:n], alone[:m]),
    ]
    for tasks, workers in groups:
        counts = np.zeros((tasks.max() + 1, workers.max() + 1))
        np.add.at(counts, (tasks[:, None], workers[None, :]), labels)
        apart = np.abs(counts - np.rint(counts))
        t, k = np.unravel_index(int(np.argmax(apart)), apart.shape)
        if apart[t, k] > WHOLE:
            return (tasks == t)[:, None] & (workers == k)[None, :], math.floor(counts[t, k])
    return None
