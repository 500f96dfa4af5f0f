"""The exact-error program: each task's workers keep its error at ε by themselves, not by a bound.

Two equally likely classes, labels independent given the true one, the vote of log-odds weights,
which names the likelier class. A set of workers is allowed for a task where its exact error

    e(S) = ½ Σ_x min(P(x | 0), P(x | 1)),  x over the answers of S,

is at most ε, and the program asks for the least cost at which every task has an allowed set and
nobody labels more than M_j: `crowd_models.dantzig_wolfe.pattern_master` over the allowed sets.

It is stated as a cover problem, so that all that knows such problems knows this one: a label
counts its worth −ln(2√(p(1 − p))), and a task requires the worth of one label of skill 1 − ε. For
e(S) ≥ ½ (1 − √(1 − b²)) with b = Π 2√(p(1 − p)), so that every allowed set covers its task: what
misses the requirement is not allowed. Not all that meets it is: `ExactVote.allows` says which.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crowd_models.gains import GAINS
from crowd_models.problem import AssignmentProblem, Problem, checked
from workbench.base.arrays import FloatArray, IntArray

TOLERANCE = 1e-9
"""An error above ε by this share is ε: 1 − .95 is above .05."""
MOST_STATES = 2**14
"""Sums of log-odds that are listed of either half of the voters; with more of them the error is
bounded from above."""
LARGEST = 700.0
"""Log-odds beyond it are as good as certain: e to it is still a number."""
CELL = 1e-3
"""Log-odds are rounded down to multiples of it then."""


def error_problem(
    skill: ArrayLike,
    capacity: ArrayLike,
    epsilon: ArrayLike,
    cost: ArrayLike | None = None,
    available: ArrayLike | None = None,
    task_types: ArrayLike | None = None,
    least: ArrayLike | None = None,
    most: ArrayLike | None = None,
    recorded: ArrayLike | None = None,
) -> AssignmentProblem:
    """State the exact-error program.

    Parameters
    ----------
    skill
        p, shape (n, m); one of p < ½ is worth as much as 1 − p.
    epsilon
        Error of each task, shape (n,) or one number; ½ or more asks for nothing.
    capacity, cost, available, task_types, least, most, recorded
        As in `AssignmentProblem`.
    """
    worth = GAINS["bhattacharyya"].quality
    need = worth(np.minimum(checked("epsilon", epsilon), 0.5))
    return AssignmentProblem(
        worth(skill),
        capacity,
        need,
        cost,
        available,
        task_types,
        "exact error",
        least=least,
        most=most,
        recorded=recorded,
    )


def log_odds(worth: ArrayLike) -> FloatArray:
    """ln(p/(1 − p)) ≥ 0 by worth −ln(2√(p(1 − p))), any shape."""
    g = np.asarray(worth, dtype=np.float64)
    weight: FloatArray = 2.0 * (g + np.log1p(np.sqrt(-np.expm1(-2.0 * g))))
    weight[g == 0] = 0.0
    return weight


@dataclass(frozen=True, eq=False)
class ExactVote:
    """What a set of workers is allowed for, by the classes of a problem.

    Attributes
    ----------
    weight
        Log-odds by task class and worker class, shape (T, K), ≥ 0.
    epsilon
        ε by task class, shape (T,).
    recorded
        Labels that a task has already, by task class and worker class, shape (T, K).
    """

    weight: FloatArray
    epsilon: FloatArray
    recorded: IntArray

    @classmethod
    def of(cls, problem: Problem) -> ExactVote:
        """Read them off an `error_problem`, or one by class."""
        typed = problem.typed
        recorded = typed.recorded
        return cls(
            log_odds(typed.quality),
            1.0 / (1.0 + np.exp(log_odds(typed.requirement))),
            np.zeros(typed.shape, dtype=np.int64) if recorded is None else recorded,
        )

    def error(self, task_class: int, copies: IntArray) -> float:
        """e(S), S holding so many workers of each class, shape (K,), and those on record."""
        return likeliest_error(self.weight[task_class], copies + self.recorded[task_class])

    def least_errors(self, task_class: int, sets: IntArray) -> FloatArray:
        """A quick bound from below on e of many sets, shape (…, K): ½(1 − √(1 − ρ²)).

        ρ = Π 2√(p(1 − p)) is the Bhattacharyya coefficient of the set (Kailath 1967).
        """
        half = self.weight[task_class] / 2
        voting = sets + self.recorded[task_class]
        squared = np.exp(-2.0 * (voting @ (np.logaddexp(half, -half) - np.log(2.0))))
        squared = np.clip(squared, 0.0, 1.0)
        bound: FloatArray = 0.5 * squared / (1.0 + np.sqrt(1.0 - squared))
        return bound

    def allows(self, task_class: int, copies: IntArray) -> bool:
        """Whether e(S) is at most ε."""
        return self.enough(task_class, self.error(task_class, copies))

    def enough(self, task_class: int, error: float) -> bool:
        """Whether an error is at most ε."""
        return error <= float(self.epsilon[task_class]) * (1.0 + TOLERANCE)


def likeliest_error(weight: FloatArray, copies: IntArray) -> float:
    """How often the vote of log-odds weights errs, for so many voters of each weight.

    Exact up to rounding where the sums of weights of either half of the voters are few enough to
    list; otherwise of voters whose weights are rounded down, who err no less.
    """
    voting = (copies > 0) & (weight > 0)
    kinds, counts = weight[voting].tolist(), copies[voting].tolist()
    halves = [(np.zeros(1), np.ones(1)), (np.zeros(1), np.ones(1))]
    for w, count in zip(kinds, counts, strict=True):
        k = int(len(halves[0][0]) > len(halves[1][0]))
        if len(halves[k][0]) * (count + 1) > MOST_STATES:
            return _rounded_down(kinds, counts)
        halves[k] = _joined(*halves[k], w, count)
    # ½ E min(1, e^−(a + b)), a and b the sums of the halves where they are for the truth.
    (at, chance), (lead, share) = halves
    split = np.searchsorted(lead, -at)
    below = np.append(0.0, np.cumsum(share))[split]
    other = share * np.exp(np.minimum(-lead, LARGEST))
    above = np.append(np.cumsum(other[::-1])[::-1], 0.0)[split]
    return 0.5 * float(chance @ (below + np.exp(np.minimum(-at, LARGEST)) * above))


def _joined(
    at: FloatArray, chance: FloatArray, weight: float, count: int
) -> tuple[FloatArray, FloatArray]:
    """Sums of weights, in order, and how likely they are, with `count` more voters."""
    at = np.add.outer(at, weight * (count - 2.0 * np.arange(count + 1))).ravel()
    chance = np.multiply.outer(chance, _wrong(weight, count)).ravel()
    order = np.argsort(at)
    at, chance = at[order], chance[order]
    first = np.flatnonzero(np.diff(at, prepend=-np.inf) > 1e-12)
    return at[first], np.add.reduceat(chance, first)


def _rounded_down(kinds: list[float], counts: list[int]) -> float:
    steps = [int(w / CELL) for w in kinds]
    chance = np.ones(1)
    for step, count in zip(steps, counts, strict=True):
        wrong = _wrong(step * CELL, count)
        more = np.zeros(len(chance) + 2 * step * count)
        for k, share in enumerate(wrong.tolist()):  # k wrong ones of `count`
            low = 2 * step * (count - k)
            more[low : low + len(chance)] += share * chance
        chance = more
    lead = CELL * (np.arange(len(chance)) - len(chance) // 2)
    return 0.5 * float(chance @ np.exp(-np.maximum(lead, 0.0)))


def _wrong(weight: float, count: int) -> FloatArray:
    """Distribution of how many of `count` voters are wrong, shape (count + 1,)."""
    q = 1.0 / (1.0 + np.exp(weight))
    total = np.ones(1)
    for _ in range(count):
        total = np.convolve(total, [1.0 - q, q])
    return total
