"""A cover for labels of several classes: each worker has a confusion matrix by task type."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crowd_models.joint import JointProblem, pair_gains, pair_weights
from workbench.accuracy.likeliest import likeliest_error
from workbench.aggregation.voting import log_odds_weights
from workbench.assignment.cover_plan import TOLD, CoverPlan, TopUp
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.highs import RunOptions
from workbench.solving.joint.route import solve_joint


@dataclass(frozen=True, eq=False)
class SeveralClasses:
    """Labels of several classes: a confusion matrix for each task type and worker.

    Attributes
    ----------
    confusion
        π, shape (T, m, K, A).
    prior
        ρ, shape (K,).
    kinds
        Type of each task, shape (n,).
    given
        Labels on record, and limits of their number.
    capacity
        M, shape (m,).
    cost
        Price by task type and worker, shape (T, m), or None for 1.
    available
        Shape (n, m); None for all pairs.
    """

    confusion: FloatArray
    prior: FloatArray
    kinds: IntArray
    given: TopUp
    capacity: IntArray
    cost: FloatArray | None = None
    available: BoolArray | None = None
    _known: dict[tuple[int, int, bytes], tuple[float, float]] = field(default_factory=dict)

    @property
    def top(self) -> float:
        """Error that asks for nothing: what is promised without labels."""
        return min(float(pair_weights(self.prior).sum()), 1.0)

    @property
    def weight(self) -> FloatArray:
        """Log-odds of the worker's share of right labels: exact where wrong ones are even."""
        classes = len(self.prior)
        at = np.arange(classes)
        share = self.confusion[:, :, at, at] @ self.prior
        return log_odds_weights(share, classes)[self.kinds]

    def cover(self, levels: FloatArray, options: RunOptions, *, draws: int) -> CoverPlan:
        """The cheapest cover at some levels; its errors are listed or drawn."""
        recorded, m = self.given.recorded, len(self.capacity)
        mask = np.ones_like(recorded) if self.available is None else self.available
        alike = np.column_stack([self.kinds, mask & ~recorded, recorded])
        rows, first, own = np.unique(alike, axis=0, return_index=True, return_inverse=True)
        types, own, gains = rows[:, 0], own.ravel(), pair_gains(self.confusion)
        few, many = self.given.limits()
        problem = JointProblem(
            gains[types],
            pair_weights(self.prior),
            levels[types],
            np.bincount(own, minlength=len(rows)),
            self.capacity,
            None if self.cost is None else self.cost[types],
            rows[:, 1 : 1 + m],
            np.einsum("tm,tmp->tp", rows[:, 1 + m :], gains[types]),
            None if few is None else few[first],
            None if many is None else many[first],
        )
        solution = solve_joint(
            problem,
            time_limit=options.time_limit,
            gap=options.gap,
            seed=options.seed,
            certified=draws == TOLD,
        )
        order = np.argsort(own, kind="stable")
        if solution.infeasibility is not None:
            solution = replace(solution, infeasibility=solution.infeasibility.of(order.tolist()))
        if solution.assignment is None or solution.errors is None:
            return CoverPlan(solution, levels)
        place = np.argsort(order, kind="stable")
        chosen = solution.assignment[place] > 0.5
        every = [
            self._error(kind, row, draws)
            for kind, row in zip(self.kinds.tolist(), chosen | recorded, strict=True)
        ]
        errors, radii = (np.array(values) for values in zip(*every, strict=True))
        return CoverPlan(
            solution, levels, chosen, errors, float(radii.max()), solution.errors[place]
        )

    def _error(self, kind: int, row: BoolArray, draws: int) -> tuple[float, float]:
        key = (kind, draws, row.tobytes())
        if key not in self._known:
            rate = likeliest_error(self.confusion[kind, row], self.prior, draws=draws)
            self._known[key] = rate.probability, rate.radius
        return self._known[key]
