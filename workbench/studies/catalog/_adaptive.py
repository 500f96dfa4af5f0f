"""What trials of the catalog share: a crowd as it arrives, what it is asked, how it errs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from crowd_models import AssignmentProblem, requirement
from workbench.aggregation.message_passing import message_passing
from workbench.aggregation.voting import Aggregate, linear_weights, majority, weighted_majority
from workbench.assignment.adaptive import AdaptiveResult, AdaptiveSettings, adaptive_assignment
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.crowd.graphs import regular_graph
from workbench.crowd.population import Crowd
from workbench.crowd.simulate import SimulatedLabels, task_types, truth
from workbench.crowd.sources import collect
from workbench.solving import Solution, Termination, solve
from workbench.studies.study import Params, Record, TrialEnded
from workbench.studies.trials import Streams

METHODS = ("adaptive", "message passing", "majority")
"""In the order of the figures' legends."""

COVERED = 1 - 1e-9
"""Share of the requirement at which a task counts as covered: sums of qualities are rounded."""


class Relaxation(NamedTuple):
    """An optimum of the relaxation: its solution, the assignment in it, its certified bound."""

    solution: Solution
    assignment: FloatArray
    bound: float


def relaxation(
    problem: AssignmentProblem, infeasible: str, *, formulation: str = "typed"
) -> Relaxation:
    """Solve the relaxation that a trial measures against.

    Raises
    ------
    TrialEnded
        `infeasible`, with the words given, where it is; `numerics` where it was not solved, or
        its bound is not certified.
    """
    solution = solve(problem, formulation)
    if solution.termination is Termination.INFEASIBLE:
        raise TrialEnded("infeasible", infeasible)
    if solution.assignment is None or solution.certificate.lower_bound is None:
        raise TrialEnded("numerics", solution.note or "the relaxation was not solved")
    return Relaxation(solution, solution.assignment, solution.certificate.lower_bound)


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
        *,
        epsilon: float,
        gold: int,
        seed: np.random.SeedSequence,
        radius: float | None = None,
        mean_quality_least: float | None = None,
    ) -> AdaptiveResult:
        """Run the Main Algorithm; a sample that cannot cover the tasks lets them fall short."""
        answers = self.source.gold_answers(np.arange(len(self.crowd)), gold, seed=self.seed)
        settings = AdaptiveSettings(
            epsilon,
            len(self.main),
            self.preliminary,
            radius=radius,
            mean_quality_least=mean_quality_least,
        )
        return adaptive_assignment(*answers, self.crowd.capacity, self.kinds, settings, seed=seed)

    def error_of(self, outcome: Aggregate) -> float:
        """Share of wrong labels; a tie is decided by a fair coin and counts a half."""
        open_ = outcome.tied | outcome.unlabelled
        return float(np.where(open_, 0.5, outcome.label != self.source.truth).mean())

    def adaptive_error(self, result: AdaptiveResult, seed: np.random.SeedSequence) -> float:
        """Error of the vote with the estimated weights 2p̂ − 1."""
        votes = collect(self.source, result.task, result.worker)
        weight = linear_weights(result.skill[self.kinds[result.task], result.worker])
        return self.error_of(weighted_majority(votes, weight, seed=seed))


def figure_record(instance: Instance, params: Params, streams: Streams) -> Record:
    """One mark of Figure 1 or 2: labels bought by one method, and its error.

    The random methods share one random regular graph over the m main workers: they differ in
    the vote alone. They need no gold task and no preliminary worker, and pay for none.
    """
    method = params["method"]
    own = streams.method(method)
    n, short = instance.tasks, 0.0
    if method == "adaptive":
        if params["epsilon"] is None:
            raise InputError("epsilon is none: the adaptive method needs one")
        result = instance.run_adaptive(epsilon=params["epsilon"], gold=params["gold"], seed=own)
        task, worker, bought_gold = result.task, result.worker, result.labels_gold
        error = instance.adaptive_error(result, own)
        need = float(requirement(params["epsilon"]))
        covered = float(np.mean(instance.gathered(task, worker) >= need * COVERED))
        short = float(np.mean(result.sampled.reached < 1))
        return {
            "labels_gold": bought_gold, "labels_task": len(task),
            "labels_per_task": (bought_gold + len(task)) / n, "error": error,
            "covered": covered, "relaxed": short,
        }  # fmt: skip
    if params["per_task"] is None:
        raise InputError(f"per_task is none: {method} needs a number of labels for each task")
    task, place = regular_graph(
        n,
        len(instance.main),
        params["per_task"],
        seed=streams.instance,
        capacity=instance.main.capacity,
    )
    votes = collect(instance.source, task, place + instance.preliminary)
    if method == "majority":
        outcome = majority(votes, seed=own)
    else:
        outcome = message_passing(votes, iterations=params["iterations"], seed=own)
    return {
        "labels_gold": 0, "labels_task": len(task), "labels_per_task": len(task) / n,
        "error": instance.error_of(outcome), "covered": None, "relaxed": None,
    }  # fmt: skip
