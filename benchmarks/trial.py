"""One trial of the adaptive algorithm, priced by its own small LP or by the full one.

Source: Ho, Jabbari, Vaughan (2013), Algorithm 2 with s = 20 gold tasks a type and γ = 0.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.crowds import CAPACITY, epsilon
from benchmarks.measure import BenchSize, Sample, timed
from crowd_models import AssignmentProblem, requirement
from workbench.aggregation.voting import linear_weights, weighted_majority
from workbench.assignment.adaptive import AdaptiveSettings, adaptive_assignment
from workbench.assignment.primal import perturb, primal_approximation
from workbench.base.arrays import FloatArray, IntArray
from workbench.crowd.population import Crowd, uniform_range
from workbench.crowd.simulate import simulate_labels, task_types, truth
from workbench.crowd.skills import estimate_skills, quality
from workbench.solving import solve

GOLD = 20
GAMMA = 0.3
TYPES = 3


@dataclass(frozen=True, eq=False)
class AdaptiveTrial:
    """What a trial is given: a crowd, its preliminary workers first, and tasks with truth."""

    crowd: Crowd
    kinds: IntArray
    truth: IntArray
    preliminary: int
    epsilon: float
    seed: int

    @classmethod
    def of(
        cls,
        tasks: int,
        workers: int,
        epsilon: float,
        *,
        types: int = TYPES,
        capacity: int = CAPACITY,
        seed: int = 0,
    ) -> AdaptiveTrial:
        """Draw a trial: skills uniform on [½, 1]."""
        preliminary = round(GAMMA * workers)
        crowd = uniform_range(workers + preliminary, seed=seed, task_types=types, capacity=capacity)
        kinds, true = task_types(tasks, types), truth(tasks, seed=seed)
        return cls(crowd, kinds, true, preliminary, epsilon, seed)

    def adaptive(self) -> float:
        """Run the trial as the workbench does; give the share of wrong labels."""
        rng = np.random.Generator(np.random.PCG64(self.seed))
        correct = self._gold(rng)
        result = adaptive_assignment(
            correct,
            np.full_like(correct, GOLD),
            self.crowd.capacity,
            self.kinds,
            AdaptiveSettings(self.epsilon, len(self.crowd) - self.preliminary, self.preliminary),
            seed=rng,
        )
        return self._error(result.task, result.worker, result.skill, rng)

    def through_pyomo(self) -> float:
        """Run the trial with the sampled LP over all pairs, as a Pyomo model.

        Each pair is perturbed on its own (Section 5.3), so equal tasks get unequal weights, each
        from the few marginal workers of the sample: cover varies more than by type.
        """
        rng = np.random.Generator(np.random.PCG64(self.seed))
        correct = self._gold(rng)
        skill = estimate_skills(correct, np.full_like(correct, GOLD)).skill
        perceived = perturb(quality(skill)[self.kinds], seed=rng)
        capacity = self.crowd.capacity
        sampled = AssignmentProblem(
            perceived[:, : self.preliminary],
            capacity[: self.preliminary],
            np.full(len(self.kinds), GAMMA * float(requirement(self.epsilon))),
        )
        weights = solve(sampled, "relaxation", route="pyomo").task_weights
        if weights is None:
            raise RuntimeError("the sampled LP has no solution: the bench's crowd is too small")
        chosen = primal_approximation(
            perceived[:, self.preliminary :], weights, capacity[self.preliminary :], seed=rng
        )
        task, worker = np.nonzero(chosen)
        return self._error(task, worker + self.preliminary, skill, rng)

    def _gold(self, rng: np.random.Generator) -> IntArray:
        return rng.binomial(GOLD, self.crowd.skill)

    def _error(
        self, task: IntArray, worker: IntArray, skill: FloatArray, rng: np.random.Generator
    ) -> float:
        votes = simulate_labels(self.crowd, self.kinds, self.truth, task, worker, seed=rng)
        weight = linear_weights(skill[self.kinds[task], worker])
        label = weighted_majority(votes, weight, seed=rng).label
        return float(np.mean(label != self.truth))


def adaptive_time(size: BenchSize) -> Sample:
    """One trial: skills, sampled LP, assignment, labels, vote; and the same by the full LP."""
    trial = AdaptiveTrial.of(size.tasks, size.workers, epsilon(size), seed=size.seed)
    note = f"error {trial.adaptive():.3f} and {trial.through_pyomo():.3f}"
    return timed(trial.adaptive, trial.through_pyomo, size.repeats, note)


def adaptive_trial(size: BenchSize) -> None:
    """One trial, for the memory of its process."""
    AdaptiveTrial.of(size.tasks, size.workers, epsilon(size), seed=size.seed).adaptive()
