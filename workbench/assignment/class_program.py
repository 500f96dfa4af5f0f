"""A plan's program for labels of several classes: its covers, and the errors of its votes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crowd_models.joint import JointProblem, pair_gains, pair_weights
from workbench.accuracy.class_error import class_error
from workbench.accuracy.likeliest import TINY, likeliest_error
from workbench.assignment.cover_plan import REPORTED, ROUNDING, CoverPlan, PlanPromise, TopUp
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving import Solution
from workbench.solving.highs import RunOptions
from workbench.solving.joint.route import solve_joint


@dataclass(frozen=True, eq=False)
class Judged:
    """Errors of the votes of some tasks.

    Attributes
    ----------
    errors, radii
        Promised error by task, shape (n,), and how far each may be off (0 unless drawn).
    least
        No vote of the same workers has a lower one, shape (n,).
    log_prior
        Of each vote, shape (n, K).
    """

    errors: FloatArray
    radii: FloatArray
    least: FloatArray
    log_prior: FloatArray


@dataclass(frozen=True, eq=False)
class ClassProgram:
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
    scale
        What an error counts in what is promised: 1, or what it costs in expectation where the prior
        is tilted by losses (`crowd.loss`).
    """

    confusion: FloatArray
    prior: FloatArray
    kinds: IntArray
    given: TopUp
    capacity: IntArray
    cost: FloatArray | None = None
    available: BoolArray | None = None
    scale: float = 1.0
    _known: dict[tuple[int, bool, int, bytes], Judged] = field(default_factory=dict)

    @property
    def top(self) -> float:
        """Error that asks for nothing: what is promised without labels."""
        return min(float(pair_weights(self.prior).sum()), 1.0)

    @property
    def usable(self) -> BoolArray:
        """Who may be asked for a label of which task, shape (n, m)."""
        shape = len(self.kinds), len(self.capacity)
        mask = np.ones(shape, dtype=np.bool_) if self.available is None else self.available
        usable: BoolArray = mask & ~self.given.recorded & (self.capacity > 0)
        return usable

    @property
    def prices(self) -> FloatArray:
        """Of a label by task and worker, shape (n, m)."""
        if self.cost is None:
            return np.ones((len(self.kinds), len(self.capacity)))
        return self.cost[self.kinds]

    def judged(self, voting: BoolArray, promise: PlanPromise, draws: int = REPORTED) -> Judged:
        """Errors of votes as they are handed over, by task.

        Parameters
        ----------
        voting
            Whose labels come in, by task, shape (n, m).
        """
        rows = [
            self._row(kind, row, promise == "class", draws)
            for kind, row in zip(self.kinds.tolist(), voting, strict=True)
        ]
        return Judged(
            np.array([row.errors for row in rows]),
            np.array([row.radii for row in rows]),
            np.array([row.least for row in rows]),
            np.array([row.log_prior for row in rows]),
        )

    def keeps(self, made: CoverPlan, judged: Judged, epsilon: float, promise: PlanPromise) -> bool:
        """Whether a plan keeps ε, however far its errors are off."""
        most, limit = judged.errors + judged.radii, epsilon * (1 + ROUNDING)
        if promise == "mean":
            return bool(most.mean() <= limit and (most <= 2 * limit).all())
        if promise == "each" and made.bounds is not None:
            most = np.minimum(most, made.bounds)
        return bool((most <= limit).all())

    def cover(
        self,
        levels: FloatArray,
        options: RunOptions,
        *,
        draws: int,
        promise: PlanPromise = "each",
        asked: FloatArray | None = None,
    ) -> CoverPlan:
        """The cheapest cover at some levels; its errors are listed or drawn.

        Where ε is of the worst class, levels are of classes that are equally likely.

        Parameters
        ----------
        levels
            By task type, shape (T,).
        asked
            In place of them levels by task, shape (n,).
        """
        prior = self._weighed(promise)
        problem, own = self._problem(levels[self.kinds] if asked is None else asked, prior)
        solution = solve_joint(
            problem,
            time_limit=options.time_limit,
            gap=options.gap,
            seed=options.seed,
            certified=draws == REPORTED,
        )
        order = np.argsort(own, kind="stable")
        if solution.infeasibility is not None:
            solution = replace(solution, infeasibility=solution.infeasibility.of(order.tolist()))
        if solution.assignment is None or solution.errors is None:
            return CoverPlan(solution, levels)
        place = np.argsort(order, kind="stable")
        chosen = solution.assignment[place] > 0.5
        bounds = solution.errors[place]
        if promise == "class":
            bounds = np.minimum(len(prior) * bounds, 1.0)
        return self.reported(solution, levels, chosen, promise, draws, bounds)

    def reported(
        self,
        solution: Solution,
        levels: FloatArray,
        chosen: BoolArray,
        promise: PlanPromise,
        draws: int = REPORTED,
        bounds: FloatArray | None = None,
    ) -> CoverPlan:
        """A plan with the errors of its vote, and with those that its cover promises."""
        voting = chosen | self.given.recorded
        if bounds is None:
            prior = self._weighed(promise)
            gathered = np.einsum("nm,nmp->np", voting, pair_gains(self.confusion)[self.kinds])
            scale = len(prior) if promise == "class" else 1
            bounds = np.minimum(scale * (np.exp(-gathered) @ pair_weights(prior)), 1.0)
        judged = self.judged(voting, promise, draws)
        return CoverPlan(
            solution,
            levels,
            chosen,
            judged.errors,
            float(judged.radii.max(initial=0.0)),
            bounds,
            log_prior=judged.log_prior,
        )

    def _weighed(self, promise: PlanPromise) -> FloatArray:
        """Shares of the classes by which covers weigh pairs of them."""
        classes = len(self.prior)
        return np.full(classes, 1.0 / classes) if promise == "class" else self.prior

    def _problem(self, asked: FloatArray, prior: FloatArray) -> tuple[JointProblem, IntArray]:
        """Tasks of a kind put together, and the kind of each task."""
        recorded, m = self.given.recorded, len(self.capacity)
        mask = np.ones_like(recorded) if self.available is None else self.available
        level = np.unique(asked, return_inverse=True)[1].reshape(-1)
        alike = np.column_stack([self.kinds, mask & ~recorded, recorded, level])
        rows, first, own = np.unique(alike, axis=0, return_index=True, return_inverse=True)
        types, own, gains = rows[:, 0], own.ravel(), pair_gains(self.confusion)
        few, many = self.given.limits()
        problem = JointProblem(
            gains[types],
            pair_weights(prior),
            asked[first],
            np.bincount(own, minlength=len(rows)),
            self.capacity,
            None if self.cost is None else self.cost[types],
            rows[:, 1 : 1 + m],
            np.einsum("tm,tmp->tp", rows[:, 1 + m : 1 + 2 * m], gains[types]),
            None if few is None else few[first],
            None if many is None else many[first],
        )
        return problem, own

    def everybody(self, promise: PlanPromise) -> Judged:
        """Errors where all who may label a task do, labels on record included."""
        return self.judged(self.usable | self.given.recorded, promise)

    def _row(self, kind: int, row: BoolArray, by_class: bool, draws: int) -> Judged:
        key = (kind, by_class, draws, row.tobytes())
        if key not in self._known:
            voters = self.confusion[kind, row]
            if by_class:
                found = class_error(voters, draws=draws)
                judged = found.greatest, found.radius, found.least, found.log_prior
            else:
                rate = likeliest_error(voters, self.prior, draws=draws)
                least = rate.probability - rate.radius
                judged = rate.probability, rate.radius, least, np.log(np.maximum(self.prior, TINY))
            self._known[key] = Judged(*(np.asarray(value) for value in judged))
        return self._known[key]
