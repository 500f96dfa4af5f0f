"""Theorems 1 to 5 as functions: the bound, whether its conditions hold, and which one fails.

Source: Ho, Jabbari, Vaughan (2013). A bound whose conditions fail is computed where it can be
and called void; at the paper's own experimental settings most of them are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from crowd_models import AssignmentProblem
from workbench.assignment import task_values
from workbench.base import FloatArray, InputError, checks

TIED = 1e-8
"""Task values closer than this are equal, the highest price being 1: duals are no better."""


@dataclass(frozen=True)
class Guarantee:
    """What a theorem promises here.

    Attributes
    ----------
    name
        The theorem.
    labels
        Promised: at most `labels` more labels than the optimum (Theorem 1), or at most `ratio`
        times as many (2, 3, 5). None where the theorem says nothing of it.
    error
        Promised bound on each task's error, one number or one for each task; never above 1.
    failed
        The conditions that do not hold, each in a few words; empty when the promise stands.
    """

    name: str
    labels: float | None = None
    ratio: float | None = None
    error: float | FloatArray | None = None
    failed: tuple[str, ...] = ()
    terms: dict[str, float] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether every condition holds."""
        return not self.failed


def theorem_1(
    problem: AssignmentProblem, task_weights: FloatArray, quality: FloatArray | None = None
) -> Guarantee:
    """Algorithm 1 with the optimal dual: feasible, at most min(m, n) labels above the optimum.

    The perturbation assumption is checked where the proof needs it: no worker's capacity may cut
    through tasks of equal value. Perturbing does not bring this about. Wherever the relaxation's
    optimum splits a worker whose capacity binds between two tasks, complementary slackness makes
    their values equal, whatever the qualities; the algorithm then drops one of the two, which may
    be left short (see `docs/findings/theorem-1-ties.md`). Pairs worth exactly nothing may be
    taken or left by the relaxation in part, and are taken whole by the algorithm: there must be
    no more than min(m, n) of them. Equal tasks of one type break that where qualities are
    perturbed by class.

    Parameters
    ----------
    task_weights
        x*, shape (n,), an optimal dual of the relaxation with `quality`.
    quality
        The (perturbed) qualities used, shape (n, m); the problem's when None.
    """
    quality = problem.quality if quality is None else quality
    values = task_values(quality, task_weights, problem.prices)
    highest = float(problem.prices[problem.mask].max(initial=0.0))
    values = np.where(problem.mask, values / (highest or 1.0), -np.inf)
    tied = sum(map(cut_in_a_tie, values.T, problem.capacity.tolist()))
    failed = []
    if tied:
        failed.append(
            f"perturbation assumption: the capacity of {tied} worker(s) cuts through tasks of "
            "equal value"
        )
    n, m = problem.shape
    idle = int((np.abs(values) <= TIED).sum())
    if idle > min(m, n):
        failed.append(
            f"perturbation assumption: {idle} pairs are worth exactly nothing, "
            f"more than min(m, n) = {min(m, n)}"
        )
    if problem.cost is not None and bool(np.any(problem.prices[problem.mask] != highest)):
        failed.append("equal prices")
    return Guarantee(
        "Theorem 1",
        labels=float(min(m, n)),
        failed=tuple(failed),
        terms={"tied": tied, "idle": idle},
    )


def cut_in_a_tie(values: FloatArray, capacity: int, *, tolerance: float = TIED) -> bool:
    """Whether the last task within a worker's capacity and the first beyond it are worth the same.

    Only tasks of non-negative value count; a worker with room for all of them is not cut.
    """
    if capacity <= 0 or capacity >= len(values):
        return False
    upper = np.partition(values, [len(values) - capacity - 1, len(values) - capacity])
    beyond, last = upper[len(values) - capacity - 1], upper[len(values) - capacity]
    return bool(beyond >= -tolerance and last - beyond <= tolerance * max(1.0, abs(last)))


@dataclass(frozen=True)
class Sampling:
    """What Theorems 2 and 5 are about: task weights from a sample of the crowd.

    Attributes
    ----------
    epsilon, delta
        ε, the error each task may have; 1 − δ, the probability of the promise.
    gamma
        γ = ℓ/m, sampled workers for each worker of the main crowd.
    n, m
        Tasks, and workers of the main crowd.
    least_quality
        q_min (or q̂_min): the lowest quality among the pairs the sampled LP uses.

    Raises
    ------
    InputError
        For ε outside (0, 1), or δ outside (0, ½).
    """

    epsilon: float
    delta: float
    gamma: float
    n: int
    m: int
    least_quality: float

    def __post_init__(self) -> None:
        checks.inside("epsilon", self.epsilon)
        if not 0 < self.delta < 0.5:
            raise InputError(f"delta is {self.delta:g}: give a number between 0 and 1/2")

    @property
    def requirement(self) -> float:
        """C = 2 ln(1/ε)."""
        return 2 * math.log(1 / self.epsilon)

    def failed(self) -> list[str]:
        """Conditions that both theorems share: ε < ½, γ in [1/C, 1], γm whole; which fail."""
        gamma, least = self.gamma, 1 / self.requirement
        conditions = {
            f"ε = {self.epsilon:g} is not below 1/2": self.epsilon < 0.5,
            f"γ = {gamma:.3g} is below 1/C = {least:.3g}": gamma >= least - 1e-12,
            f"γ = {gamma:.3g} is above 1": gamma <= 1,
            f"γm = {gamma * self.m:.6g} is not a whole number of workers": math.isclose(
                gamma * self.m, round(gamma * self.m), abs_tol=1e-6
            ),
        }
        return [condition for condition, holds in conditions.items() if not holds]

    def ratio(self, requirement: float, chances: float) -> float:
        """1 + min(m,n)/(q_min n C) + 35 ln(chances/δ)/(q_min √(γC)); ∞ for q_min = 0."""
        least = self.least_quality
        if not least > 0:
            return math.inf
        first = min(self.m, self.n) / (least * self.n * requirement)
        spread = least * math.sqrt(self.gamma * requirement)
        return 1 + first + 35 * math.log(chances / self.delta) / spread


def theorem_2(sampling: Sampling) -> Guarantee:
    """Algorithm 1 with the sampled LP's weights and known skills (Section 5.1).

    Ratio to the relaxation's optimum, 1 + min(m,n)/(q_min n C) + 35 ln(2/δ)/(q_min √(γC)), and
    error of each task, ε^(1 − 6 ln(2/δ)/√(γC)), both with probability at least 1 − δ.
    """
    requirement, failed = sampling.requirement, sampling.failed()
    if not sampling.least_quality > 0:
        failed.append("q_min = 0: the sampled LP uses labels that say nothing")
    exponent = 1 - 6 * math.log(2 / sampling.delta) / math.sqrt(sampling.gamma * requirement)
    if exponent <= 0:
        failed.append(f"error exponent is {exponent:.3g}: the error bound is 1 or more")
    return Guarantee(
        "Theorem 2",
        ratio=sampling.ratio(requirement, 2),
        error=sampling.epsilon**exponent if exponent > 0 else 1.0,
        failed=tuple(failed),
        terms={"exponent": exponent, "q_min": sampling.least_quality, "C": requirement},
    )


def theorem_3(*, radius: float, mean_quality_least: float) -> Guarantee:
    """With ε′ for ε, the approximated LP's optimum is no larger than the true relaxation's."""
    failed = []
    if not radius < mean_quality_least / 4:
        failed.append(f"t = {radius:.3g} is not below q̄*_min/4 = {mean_quality_least / 4:.3g}")
    return Guarantee("Theorem 3", ratio=1.0, failed=tuple(failed))


def theorem_4(
    *, epsilon: float, radius: float, mean_quality_least: float, mean_quality: FloatArray
) -> Guarantee:
    """Error of a whole assignment that is feasible for ε′ and estimated skills (Section 5.2).

    Task i errs with probability at most ε^((1 − 4t/q̄*_min)(1 − 4t/q̂_i)).

    Parameters
    ----------
    mean_quality
        q̂_i, shape (n,): mean true quality of the labels each task gets.
    """
    failed = list(theorem_3(radius=radius, mean_quality_least=mean_quality_least).failed)
    first, second = 4 * radius / mean_quality_least, _lost(radius, mean_quality, failed)
    exponent = np.maximum(1 - first, 0.0) * np.maximum(1 - second, 0.0)
    return Guarantee("Theorem 4", error=epsilon**exponent, failed=tuple(failed))


def _lost(radius: float, mean_quality: FloatArray, failed: list[str]) -> FloatArray:
    """4t/q̂_i, shape (n,), ∞ for q̂_i = 0; that it is not below 1 is added to what failed."""
    q = np.asarray(mean_quality, dtype=np.float64)
    lost: FloatArray = np.divide(4 * radius, q, out=np.full(q.shape, np.inf), where=q > 0)
    if bool(np.any(lost >= 1)):
        failed.append(f"t is not below q̂_i/4 for {int(np.sum(lost >= 1))} task(s)")
    return lost


def theorem_5(
    sampling: Sampling,
    *,
    gold: int,
    types: int,
    mean_quality_least: float,
    mean_quality: FloatArray,
) -> Guarantee:
    """The Main Algorithm (Section 5.3), with probability at least 1 − δ.

    Labels on real tasks: at most 1 + min(m,n)/(q̂_min n C′) + 35 ln(4/δ)/(q̂_min √(γC′)) times
    the integer optimum. Error of task i: at most ε^((1−l1)(1−l2)(1−l3_i)), l1 = 4t/q̄*_min,
    l2 = 6 ln(4/δ)/√(γC′), l3_i = 4t/q̂_i, t = √(ln(4T(1+γ)m/δ)/(2s)), C′ = 2 ln(1/ε′),
    ε′ = ε^(1−l1).

    Parameters
    ----------
    gold
        s, gold tasks a worker and type.
    types
        T, task types.
    mean_quality_least
        q̄*_min.
    mean_quality
        q̂_i, shape (n,): mean true quality of the labels each task gets.
    """
    failed, delta = sampling.failed(), sampling.delta
    union = math.log(4 * types * (1 + sampling.gamma) * sampling.m / delta)
    radius = math.sqrt(union / (2 * gold))
    needed = math.ceil(8 * union / mean_quality_least**2)
    if gold < needed:
        failed.append(f"s = {gold} gold tasks a type, {needed} needed")
    first = 4 * radius / mean_quality_least
    terms = {"t": radius, "s_needed": float(needed), "l1": first}
    if first >= 1:
        failed.append(f"t = {radius:.3g} is not below q̄*_min/4 = {mean_quality_least / 4:.3g}")
        return Guarantee("Theorem 5", failed=tuple(failed), terms=terms)
    requirement = (1 - first) * sampling.requirement
    second = 6 * math.log(4 / delta) / math.sqrt(sampling.gamma * requirement)
    if second >= 1:
        failed.append(f"l2 = {second:.3g} is not below 1: the error bound is 1 or more")
    third = _lost(radius, mean_quality, failed)
    if not sampling.least_quality > 0:
        failed.append("q̂_min = 0: the sampled LP uses labels that say nothing")
    exponent = (1 - first) * max(0.0, 1 - second) * np.maximum(0.0, 1 - third)
    return Guarantee(
        "Theorem 5",
        ratio=sampling.ratio(requirement, 4),
        error=sampling.epsilon**exponent,
        failed=tuple(failed),
        terms={**terms, "l2": second, "C": requirement},
    )


def mean_qualities(quality: FloatArray, assignment: FloatArray) -> FloatArray:
    """Mean quality of the labels each task gets, shape (n,); 0 for a task without labels.

    With the relaxation's optimum ȳ* this is q̄*_i, with a whole assignment q̂_i (Section 5.2).
    """
    labels = assignment.sum(axis=1, dtype=np.float64)
    gathered = (quality * assignment).sum(axis=1)
    means: FloatArray = np.divide(gathered, labels, out=np.zeros(len(labels)), where=labels > 0)
    return means
