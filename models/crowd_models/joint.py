"""Cover for labels of several classes: one budget of errors a task.

Worker j names class a with probability π_j(a | k) where the true class is k, independently of the
others. The likeliest class, with prior ρ, is wrong with probability at most

    Σ_{k<l} √(ρ_k ρ_l) Π_j BC_j(k, l),    BC_j(k, l) = Σ_a √(π_j(a | k) π_j(a | l)),

since it errs only where another class is as likely, and no minimum of two numbers exceeds their
geometric mean. With g_j(k, l) = −ln BC_j(k, l) and S_kl = Σ_j g_j(k, l) y_j the promise

    f(S) = Σ_{k<l} √(ρ_k ρ_l) e^{−S_kl} ≤ ε

is convex in y, so it is the same as all its tangents, each of which is a cover constraint like (2)
of Ho, Jabbari, Vaughan (2013): Σ_j q_j y_j ≥ C. Workers who are all right with one probability p,
wrong ones spread evenly, and two classes leave a single tangent: `crowd_models.gains`.

Where missing class k costs ℓ_k, the answer of least expected cost is the likeliest class under the
tilted prior ℓ_k ρ_k / s, s = Σ_k ℓ_k ρ_k, and costs s times what that errs: a promise of an
expected cost of ε is the one above, with √(ℓ_k ρ_k ℓ_l ρ_l) for the weights.

Source of the bound: Bhattacharyya (1943); Kailath (1967).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from crowd_models.gains import MOST
from crowd_models.problem import (
    LARGEST_COUNT,
    TypedProblem,
    check_label_limits,
    checked,
    freeze,
    label_limits,
)
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError

MOST_CLASSES = 64
"""K(K − 1)/2 pairs of classes are looked at together."""
KEPT = 1e-9
"""A promise may be missed by this share of ε: .3 is to keep √(.9 · .1)."""
MOST_LOSS = 1e6
"""What missing a class may cost, at most."""
NEGLIGIBLE = 1e-12
"""Gain up to which a worker says nothing, in nats."""


def class_pairs(classes: int) -> tuple[IntArray, IntArray]:
    """All k < l, as two arrays of length K(K − 1)/2."""
    first, second = np.triu_indices(classes, 1)
    return first, second


def pair_gains(confusion: ArrayLike) -> FloatArray:
    """Gains −ln BC_j(k, l) of confusion matrices.

    Parameters
    ----------
    confusion
        π, shape (…, K, A): by worker, true class and class named; rows sum to 1.

    Returns
    -------
    FloatArray
        Shape (…, K(K − 1)/2), in the order of `class_pairs`; at most 50, where a worker never
        takes one class for the other.

    Raises
    ------
    InputError
        Probabilities below 0, rows that do not sum to 1, fewer than two classes or more than 64.
    """
    chance = np.asarray(confusion, dtype=np.float64)
    if chance.ndim < 2 or not 2 <= chance.shape[-2] <= MOST_CLASSES:
        raise InputError(
            f"confusion has shape {chance.shape}: give a matrix true class × class named for each "
            f"worker, of 2 to {MOST_CLASSES} classes"
        )
    if not (chance >= 0).all() or not np.allclose(chance.sum(axis=-1), 1.0, atol=1e-9):
        raise InputError("confusion: give probabilities, rows that sum to 1")
    first, second = class_pairs(chance.shape[-2])
    root = np.sqrt(chance)
    alike = np.einsum("...pa,...pa->...p", root[..., first, :], root[..., second, :])
    with np.errstate(divide="ignore"):
        gains: FloatArray = np.clip(-np.log(alike), 0.0, MOST)
    return gains


def pair_weights(prior: ArrayLike) -> FloatArray:
    """Weights √(ρ_k ρ_l) of the pairs of classes, shape (K(K − 1)/2,).

    Raises
    ------
    InputError
        A prior that is not probabilities of two classes or more that sum to 1.
    """
    rho = np.asarray(prior, dtype=np.float64)
    if rho.ndim != 1 or len(rho) < 2 or not (rho >= 0).all() or abs(rho.sum() - 1) > 1e-9:
        raise InputError("prior: give the probability of each class, two or more, that sum to 1")
    first, second = class_pairs(len(rho))
    weights: FloatArray = np.sqrt(rho[first] * rho[second])
    return weights


def tilted(prior: ArrayLike, loss: ArrayLike) -> tuple[FloatArray, float]:
    """The prior ℓ ρ / s by what it costs to miss each class, and s; shape (K,) each.

    Raises
    ------
    InputError
        Other than a number above 0 for each class.
    """
    rho, cost = np.asarray(prior, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    if cost.shape != rho.shape or not ((cost > 0) & (cost <= MOST_LOSS)).all():
        raise InputError(
            f"loss: give a number above 0 and at most {MOST_LOSS:g} for each class, as prior has"
        )
    weighed = rho * cost
    return weighed / weighed.sum(), float(weighed.sum())


@dataclass(frozen=True)
class Tangent:
    """A cover constraint Σ_j q_j y_j ≥ C that the promise of a task implies.

    Attributes
    ----------
    quality
        q, shape (m,), in nats.
    requirement
        C; 0 where nothing is asked.
    """

    quality: FloatArray
    requirement: float


@dataclass(frozen=True, eq=False)
class JointProblem:
    """Which worker labels which task, so that every task keeps within its budget of errors.

    Attributes
    ----------
    gains
        g, shape (T, m, P): by task class, worker and pair of classes.
    weights
        √(ρ_k ρ_l), shape (P,).
    epsilon
        ε, shape (T,). A scalar stands for all.
    tasks
        How many tasks each class has, shape (T,).
    capacity
        M, shape (m,). A scalar stands for every worker.
    cost, available
        Shape (T, m), or None for unit prices and all pairs.
    recorded
        S of the labels that a task of the class has already, shape (T, P); None for none.
    least, most
        How few and how many labels a task may get, shape (T,), or one number for all; None for no
        limit. Of the integer program alone.
    scale
        What an error counts: the expected cost promised is `scale` times ε where the prior is
        tilted by losses, else 1.

    Raises
    ------
    InputError
        For wrong shapes, NaN, infinity, values out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from crowd_models.joint import JointProblem, pair_gains, pair_weights
    >>> matrix = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    >>> gains = pair_gains([matrix] * 4)[None]
    >>> problem = JointProblem(gains, pair_weights([1 / 3] * 3), 0.3, tasks=2, capacity=2)
    >>> problem.shape, round(problem.error(0, [1, 1, 1, 0]), 3)
    ((1, 4), 0.295)
    """

    gains: FloatArray
    weights: FloatArray
    epsilon: FloatArray
    tasks: IntArray
    capacity: IntArray
    cost: FloatArray | None = None
    available: BoolArray | None = None
    recorded: FloatArray | None = None
    least: IntArray | None = None
    most: IntArray | None = None
    scale: float = 1.0

    if TYPE_CHECKING:  # what may be given, where the fields say what is kept

        def __init__(
            self,
            gains: ArrayLike,
            weights: ArrayLike,
            epsilon: ArrayLike,
            tasks: ArrayLike,
            capacity: ArrayLike,
            cost: ArrayLike | None = None,
            available: ArrayLike | None = None,
            recorded: ArrayLike | None = None,
            least: ArrayLike | None = None,
            most: ArrayLike | None = None,
            scale: float = 1.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        gains = checked("quality in nats", self.gains)
        weights = checked("skill", self.weights)
        if gains.ndim != 3 or 0 in gains.shape or gains.shape[2:] != weights.shape:
            raise InputError(
                f"gains have shape {gains.shape} and weights {weights.shape}: give gains by task "
                "class, worker and pair of classes, and a weight for each pair"
            )
        types, m, _ = gains.shape
        each = f"give one number, or one for each task class ({types})"
        kept = {"gains": gains, "weights": weights}
        kept["epsilon"] = checked("epsilon", self.epsilon, (types,), each)
        kept["tasks"] = checked("tasks", self.tasks, (types,), each)
        mend = f"give one number, or one for each worker ({m})"
        kept["capacity"] = checked("capacity", self.capacity, (m,), mend)
        for name in ("tasks", "capacity"):
            kept[name] = np.minimum(kept[name], LARGEST_COUNT).astype(np.int64)
        for name in ("cost", "available"):
            matrix = getattr(self, name)
            if matrix is not None:
                kept[name] = checked(name, matrix, (types, m), f"give a matrix {types, m}")
        if "available" in kept:
            kept["available"] = kept["available"] == 1
        if self.recorded is not None:
            shape = types, len(weights)
            mend = f"give a matrix task classes × pairs of classes, {shape}"
            kept["recorded"] = checked("quality in nats", self.recorded, shape, mend)
        check_label_limits(self, types)
        for name, value in kept.items():
            freeze(self, name, value)

    @property
    def shape(self) -> tuple[int, int]:
        """How many task classes and workers: (T, m)."""
        return self.gains.shape[0], self.gains.shape[1]

    @cached_property
    def prices(self) -> FloatArray:
        """c as a matrix: ones where no cost was given."""
        return np.ones(self.shape) if self.cost is None else self.cost

    @cached_property
    def idle(self) -> FloatArray:
        """The promise without a further label, by pair of classes, shape (T, P)."""
        cover = np.zeros((self.shape[0], 1)) if self.recorded is None else self.recorded
        promised: FloatArray = self.weights * np.exp(-cover)
        return promised

    @cached_property
    def asking(self) -> BoolArray:
        """Which classes have tasks that need a label, shape (T,)."""
        asks: BoolArray = (self.tasks > 0) & (self.idle.sum(axis=1) > self.epsilon * (1 + KEPT))
        return asks

    @property
    def limits(self) -> tuple[IntArray, IntArray]:
        """Fewest and most labels of a task, shape (T,) each."""
        return label_limits(self)

    @cached_property
    def usable(self) -> BoolArray:
        """Who may label a task of a class, and says something about it, shape (T, m)."""
        may: BoolArray = (self.gains.max(axis=2) > NEGLIGIBLE) & (self.capacity > 0)
        return may if self.available is None else may & self.available

    def gathered(self, task_class: int, workers: ArrayLike) -> FloatArray:
        """S of one task's workers, shape (P,), beside what is recorded; `workers` is y, (m,)."""
        cover: FloatArray = np.asarray(workers, dtype=np.float64) @ self.gains[task_class]
        return cover

    def error(self, task_class: int, workers: ArrayLike) -> float:
        """f of one task's workers, which bounds its error; `workers` is y, shape (m,)."""
        return float(self.idle[task_class] @ np.exp(-self.gathered(task_class, workers)))

    def least_error(self) -> FloatArray:
        """Error that all workers together would promise, shape (T,)."""
        return np.array([self.error(t, self.usable[t]) for t in range(self.shape[0])])

    def tangent(self, task_class: int, cover: FloatArray) -> Tangent:
        """The tangent of f at S = `cover`, shape (P,): whatever keeps the promise satisfies it."""
        slope = self.idle[task_class] * np.exp(-cover)
        total = float(slope.sum())
        most = float(self.epsilon[task_class]) * (1 + KEPT)
        need = (float(slope @ cover) + total - most) / total
        return Tangent(self.gains[task_class] @ slope / total, max(need, 0.0))

    def with_shortfall(self, price: float) -> JointProblem:
        """The same problem where promises may fall short, at a price a unit of cover.

        What is missing is bought from one further worker, the last, who has no limit: so the
        result always has a solution, and no price of cover exceeds `price`.
        """
        types, m, pairs = self.gains.shape
        mask = np.ones((types, m), dtype=bool) if self.available is None else self.available
        return JointProblem(
            np.concatenate([self.gains, np.full((types, 1, pairs), MOST)], axis=1),
            self.weights,
            self.epsilon,
            self.tasks,
            np.append(self.capacity, self.tasks.sum()),
            np.hstack([self.prices, np.full((types, 1), MOST * price)]),
            np.hstack([mask, np.ones((types, 1), dtype=bool)]),
            self.recorded,
        )

    def covers(self, rows: list[Tangent]) -> TypedProblem:
        """The cover problem by one tangent a task class: it costs as much as this one, or less."""
        return TypedProblem(
            np.stack([row.quality for row in rows]),
            self.capacity,
            np.array([row.requirement for row in rows]),
            self.tasks,
            np.ones(self.shape[1], dtype=np.int64),
            self.cost,
            self.available,
            gain="bhattacharyya",
        )
