"""What trials of assignment share: crowds that arrive, the bound, cover and error of labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, TypedProblem
from crowd_papers.adaptive_assignment.theorems import (
    Guarantee,
    Sampling,
    mean_qualities,
    theorem_5,
)
from workbench.aggregation import Aggregate, linear_weights, weighted_majority
from workbench.assignment import (
    COVERED,
    AdaptiveResult,
    AdaptiveSettings,
    ArrivingWorker,
    AssignmentPolicy,
    OnInfeasible,
    PolicyRun,
    SampledWeights,
    Setting,
    adaptive_assignment,
    play_with_sample,
    primal_approximation,
    sampled_weights,
)
from workbench.base import BoolArray, FloatArray, InputError, IntArray, Seed
from workbench.crowd import (
    Crowd,
    SimulatedLabels,
    adversarial,
    collect,
    iid,
    population,
    random_permutation,
    task_types,
    truth,
)
from workbench.solving import Solution, Termination, solve
from workbench.studies import Parameter, Params, Scalar, Streams, TrialEnded, only

ARRIVALS = ("random", "iid", "worst_first", "best_first", "alternating")
CROWD_MAKERS: dict[str, Callable[..., Crowd]] = {
    "spread": partial(population.uniform_range, low=0.5, high=1.0),
    "specialists": partial(population.specialists, skilled=0.9, other=0.5),
    "hammers": partial(population.spammer_hammer, hammer=0.9, spammer=0.5),
    "equal": partial(population.uniform, skill=0.9),
}
CROWDS = tuple(CROWD_MAKERS)
PAPER_CROWDS: dict[str, Callable[..., Crowd]] = {
    "uniform": population.uniform,
    "spammer-hammer": population.spammer_hammer,
    "specialists": population.specialists,
    "able": partial(population.uniform_range, low=0.85),
}
"""Of the paper's experiments; and one whose skills are within its theorems' conditions."""

ARRIVING = {
    "tasks": Parameter(int, 1000, "n", least=1, most=100_000),
    "workers": Parameter(int, 300, "m, without preliminary workers", least=2, most=100_000),
    "capacity": Parameter(int, 200, "M, the most tasks a worker takes", least=1),
    "types": Parameter(int, 3, "T, task types", least=1, most=50),
    "crowd": Parameter(
        str,
        "spread",
        "skills spread over [0.5, 1]; 0.9 at one type and 0.5 at others; half 0.9, half 0.5; "
        "all 0.9",
        choices=CROWDS,
    ),
    "gamma": Parameter(float, 0.3, "γ, sampled workers for each worker", least=1e-6, most=10),
    "epsilon": Parameter(float, 0.05, "ε, error asked for", least=1e-300, most=0.999, paired=True),
    "gold": Parameter(int, 20, "s, gold tasks per worker and type", least=1, paired=True),
    "arrival": Parameter(
        str,
        "random",
        "order of arrival of sampled and main workers",
        choices=ARRIVALS,
        paired=True,
    ),
    "delta": Parameter(float, 0.05, "δ of the theorems", least=1e-12, most=0.499, paired=True),
}
"""Parameters of a crowd as `drawn`, and of what is asked of it."""
LABELS = {
    "tasks": "tasks n",
    "workers": "workers m",
    "gamma": "sampled workers per worker, γ",
    "epsilon": "error asked for, ε",
    "gold": "gold tasks per worker and type, s",
    "types": "task types T",
    "skills": "estimate of skills",
    "crowd": "crowd",
    "arrival": "order of arrival",
}
"""Axis labels of those that studies vary."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """An optimum of the relaxation: its solution, the assignment in it, its certified bound."""

    problem: AssignmentProblem
    solution: Solution
    assignment: FloatArray
    bound: float

    @property
    def mean_quality_least(self) -> float:
        """q̄*_min: the least over tasks of the mean quality of an optimum's labels."""
        return float(mean_qualities(self.problem.quality, self.assignment).min())


def relaxation(
    problem: AssignmentProblem,
    infeasible: str = "the crowd cannot cover every task at this epsilon",
    *,
    formulation: str = "typed",
    proven: bool = False,
) -> Relaxation:
    """Solve the relaxation that a trial measures against.

    Raises
    ------
    TrialEnded
        `infeasible`, with the words given, where it is; `numerics` where it was not solved, its
        bound is not certified, or its optimum not `proven` where that is asked for.
    """
    solution = solve(problem, formulation)
    if solution.termination is Termination.INFEASIBLE:
        raise TrialEnded("infeasible", infeasible)
    certificate = solution.certificate
    if solution.assignment is None or certificate.lower_bound is None:
        raise TrialEnded("numerics", solution.note or "the relaxation was not solved")
    if proven and certificate.status != "proven":
        raise TrialEnded("numerics", solution.note or "the relaxation was not proven")
    return Relaxation(problem, solution, solution.assignment, certificate.lower_bound)


def played(
    policy: str,
    setting: Setting,
    skill: FloatArray,
    capacity: IntArray,
    *,
    seed: Seed,
    true: FloatArray | None = None,
) -> tuple[PolicyRun, AssignmentPolicy]:
    """Let a policy assign tasks to m workers as they come.

    Parameters
    ----------
    setting
        Types of tasks, ε and m; what else the policy wants to know is added.
    skill, capacity
        What it is told of each worker, shapes (T, ℓ + m) and (ℓ + m,). The first ℓ are sampled,
        if the policy wants that, and get no task.
    true
        What hindsight is told; None for the same.
    """
    workers, true_workers = (
        [ArrivingWorker(skills[:, j], most) for j, most in enumerate(capacity.tolist())]
        for skills in (skill, skill if true is None else true)
    )
    first = len(workers) - setting.workers
    return play_with_sample(
        policy, setting, workers[:first], workers[first:], true=true_workers[first:], seed=seed
    )


def sampled_assignment(
    estimates: FloatArray,
    kinds: IntArray,
    problem: AssignmentProblem,
    prices: FloatArray | None = None,
    *,
    seed: np.random.Generator,
    on_infeasible: OnInfeasible = "error",
) -> tuple[SampledWeights, BoolArray]:
    """Assign the m workers of a problem by task weights from a sample (Algorithm 2).

    Parameters
    ----------
    estimates, prices
        Estimated qualities and prices, by type and worker, (T, ℓ + m): the first ℓ are sampled.
    kinds
        Type of each task, shape (n,).

    Raises
    ------
    TrialEnded
        `infeasible`, where the sample cannot cover the tasks and that is an error.
    """
    types, m = len(estimates), problem.shape[1]
    sample = estimates.shape[1] - m
    typed = TypedProblem(
        estimates[:, :sample],
        np.full(sample, problem.capacity[0]),
        np.full(types, problem.requirement[0]),
        np.bincount(kinds, minlength=types),
        np.ones(sample, dtype=np.int64),
        None if prices is None else prices[:, :sample],
    )
    try:
        sampled = sampled_weights(typed, gamma=sample / m, on_infeasible=on_infeasible)
    except InputError as error:
        raise TrialEnded("infeasible", str(error)) from error
    cost = None if prices is None else prices[kinds][:, sample:]
    chosen = primal_approximation(
        estimates[kinds][:, sample:], sampled.weights[kinds], problem.capacity, cost=cost, seed=seed
    )
    return sampled, chosen


@dataclass(frozen=True, eq=False)
class Instance:
    """A crowd in order of arrival, its tasks in equal shares of its types, and its labels.

    Attributes
    ----------
    crowd
        γm + m workers; the first γm are preliminary.
    preliminary
        γm.
    tasks
        n.
    seed
        Of truth, labels and gold answers.
    """

    crowd: Crowd
    preliminary: int
    tasks: int
    seed: np.random.SeedSequence

    @cached_property
    def kinds(self) -> IntArray:
        """Type of each task, shape (n,)."""
        return task_types(self.tasks, len(self.crowd.task_types))

    @cached_property
    def source(self) -> SimulatedLabels:
        """Potential labels of every pair: the same for every method that asks."""
        return SimulatedLabels(
            self.crowd, self.kinds, truth(self.tasks, seed=self.seed), seed=self.seed
        )

    @cached_property
    def main(self) -> Crowd:
        """The m workers who get real tasks."""
        return self.crowd.subset(np.arange(self.preliminary, len(self.crowd)))

    @cached_property
    def quality(self) -> FloatArray:
        """True q of the m main workers, shape (n, m)."""
        return self.main.quality[self.kinds]

    def offline(self, need: float | FloatArray) -> AssignmentProblem:
        """The offline problem over the main workers, with a requirement for all or for each."""
        return AssignmentProblem(self.quality, self.main.capacity, need, task_types=self.kinds)

    def gathered(self, task: IntArray, worker: IntArray) -> FloatArray:
        """True quality that labels gather, by task, shape (n,); workers as in `crowd`."""
        return np.bincount(
            task, self.crowd.quality[self.kinds[task], worker], minlength=self.tasks
        ).astype(np.float64)

    def run_adaptive(
        self,
        params: Params,
        seed: np.random.SeedSequence,
        correction: tuple[float, float] | None = None,
    ) -> AdaptiveResult:
        """Run the Main Algorithm; a sample that cannot cover the tasks lets them fall short.

        Parameters
        ----------
        params
            ε and s, by the names `epsilon` and `gold`.
        correction
            t and q̄*_min, where ε′ is to be used.
        """
        everybody, (radius, least) = np.arange(len(self.crowd)), correction or (None, None)
        answers = self.source.gold_answers(everybody, params["gold"], seed=self.seed)
        settings = AdaptiveSettings(
            params["epsilon"], len(self.main), self.preliminary, radius, least
        )
        return adaptive_assignment(*answers, self.crowd.capacity, self.kinds, settings, seed=seed)

    def error_of(self, outcome: Aggregate) -> float:
        """Share of wrong labels; a tie is decided by a fair coin and counts a half."""
        open_ = outcome.tied | outcome.unlabelled
        return float(np.where(open_, 0.5, outcome.label != self.source.truth).mean())

    def vote_error(
        self, task: IntArray, worker: IntArray, skill: FloatArray, seed: np.random.SeedSequence
    ) -> float:
        """Error of the labels' vote with weights 2p − 1, skills by type and worker of `crowd`."""
        votes = collect(self.source, task, worker)
        weight = linear_weights(skill[self.kinds[task], worker])
        return self.error_of(weighted_majority(votes, weight, seed=seed))


def sampling(instance: Instance, params: Params, least_quality: float) -> Sampling:
    """What Theorems 2 and 5 need of an instance, q_min or q̂_min being `least_quality`."""
    m = len(instance.main)
    gamma = instance.preliminary / m
    return Sampling(params["epsilon"], params["delta"], gamma, instance.tasks, m, least_quality)


def at_paper_size(trials: pd.DataFrame) -> pd.DataFrame:
    """Trials at the size of the paper's experiments (Section 6).

    Raises
    ------
    NotMeasured
        There are fewer than eight.
    """
    what = "trials at the paper's own settings"
    return only(trials, 8, what, tasks=1000, workers=300, gamma=0.3)


def theorem_5_radius(params: Params, gamma: float) -> float:
    """t of Theorem 5 from T, m, s and δ: √(ln(4T(1+γ)m/δ)/(2s))."""
    union = math.log(4 * params["types"] * (1 + gamma) * params["workers"] / params["delta"])
    return math.sqrt(union / (2 * params["gold"]))


@dataclass(frozen=True, eq=False)
class Bought:
    """Labels that a method bought, beside the bound of its instance.

    Attributes
    ----------
    task, worker
        Of each label; workers as in the instance's crowd.
    skill
        By which the vote is weighted, shape (T, γm + m).
    promise
        What is proven of the method here.
    gold
        Labels bought on gold tasks.
    """

    task: IntArray
    worker: IntArray
    skill: FloatArray
    promise: Guarantee
    gold: int = 0

    def record(self, instance: Instance, relaxed: Relaxation) -> dict[str, Scalar]:
        """What labels cost beside the bound, what they reach, and what was promised of them."""
        need, labels = relaxed.problem.requirement, len(self.task)
        gathered = instance.gathered(self.task, self.worker)
        reached = bound_reached(instance, np.minimum(gathered, need))
        promise, ratio = self.promise, self.promise.ratio
        if promise.labels is not None:  # Theorem 1 promises so many labels above the optimum
            ratio = 1 + promise.labels / relaxed.bound
        return {
            "bound": relaxed.bound,
            "labels_task": labels,
            "labels_gold": self.gold,
            "ratio": labels / relaxed.bound,
            "ratio_all": (labels + self.gold) / relaxed.bound,
            "covered": float(np.mean(gathered >= need * COVERED)),
            "bound_reached": reached,
            "ratio_reached": labels / reached if reached else None,
            "promise": ratio if promise.holds else None,
            "formula": ratio if ratio is not None and math.isfinite(ratio) else None,
            "void": "; ".join(promise.failed),
        }


def promised_5(
    instance: Instance,
    params: Params,
    relaxed: Relaxation,
    sample: Sampling,
    task: IntArray,
    worker: IntArray,
) -> Guarantee:
    """Theorem 5 of an instance and of the labels bought."""
    labels = np.maximum(np.bincount(task, minlength=instance.tasks), 1)
    return theorem_5(
        sample,
        gold=params["gold"],
        types=params["types"],
        mean_quality_least=max(relaxed.mean_quality_least, 1e-12),
        mean_quality=instance.gathered(task, worker) / labels,
    )


def drawn(params: Params, streams: Streams) -> Instance:
    """A crowd in its order of arrival, γm of it sampled beforehand, and its tasks."""
    seed, arrival = streams.instance, params["arrival"]
    sampled = max(1, round(params["gamma"] * params["workers"]))
    size = params["workers"] + sampled
    crowd = (PAPER_CROWDS | CROWD_MAKERS)[params["crowd"]](
        size, seed=seed, capacity=params["capacity"], task_types=params["types"]
    )
    if arrival == "random":
        order = random_permutation(size, seed)
    elif arrival == "iid":
        order = iid(size, size, seed)
    else:
        order = adversarial(crowd, arrival, seed=seed)
    return Instance(crowd.subset(order), sampled, params["tasks"], seed)


def bound_reached(instance: Instance, reached: FloatArray) -> float | None:
    """Certified bound on the labels that gather `reached` (n,), averaged within each type."""
    types = len(instance.crowd.task_types)
    counts = np.bincount(instance.kinds, minlength=types)
    total = np.bincount(instance.kinds, reached, minlength=types)
    mean = np.divide(total, counts, out=np.zeros(types), where=counts > 0)
    workers = instance.main
    # A hair less, as sums are rounded: what the labels gather must not be beyond reach.
    typed = TypedProblem(
        workers.quality,
        workers.capacity,
        mean * COVERED,
        counts,
        np.ones(len(workers), dtype=np.int64),
    )
    return solve(typed, "typed").certificate.lower_bound
