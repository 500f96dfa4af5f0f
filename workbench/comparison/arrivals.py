"""Online assignment policies on a problem of given data, its workers in random order.

The workers of an `AssignmentProblem` come one after another, in an order drawn at random, and a
policy is given each worker's true skills as she comes. What it loses it loses to not knowing who
comes. A policy that looks at workers beforehand gets a sample of the problem's own, drawn with
replacement: others of the same kinds, who get no task. Its cost is compared with what is proven
of the offline optimum, which no order changes, and the share of tasks that it covered stands
beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from crowd_models import AssignmentProblem
from crowd_models.gains import GAINS, gain_of
from workbench.assignment.playing import play_with_sample
from workbench.assignment.policies import COVERED, ArrivingWorker, PolicyRun, Setting
from workbench.assignment.registry import POLICIES
from workbench.assignment.weights import OnInfeasible
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.registry import failure_of_own
from workbench.base.seeds import generator
from workbench.solving import Termination, solve
from workbench.solving.claims import CostClaim

ROUNDING = 1e-6
"""Share by which a quality may change on its way to a skill and back."""


class Optimum(NamedTuple):
    """What is known of the offline optimum of a problem.

    Attributes
    ----------
    cost
        Of the plan that was found; None for none.
    bound
        No plan costs less: proven from the data.
    proven
        Whether the two meet.
    """

    cost: float | None
    bound: float
    proven: bool


class ArrivalPlay(NamedTuple):
    """What a policy did with one order of arrival.

    Attributes
    ----------
    cost, labels
        What its labels cost, and how many they are.
    covered
        Share of tasks covered.
    """

    cost: float
    labels: int
    covered: float


@dataclass(frozen=True)
class Order:
    """Who comes when, and who was seen before: drawn for a problem and trial, as a seed says.

    Attributes
    ----------
    seed
        Of the whole comparison.
    problem, trial
        Numbers from 0.
    gamma
        Workers seen before, for each who comes.
    """

    seed: int
    problem: int
    trial: int
    gamma: float

    def stream(self, part: int) -> np.random.SeedSequence:
        """Random numbers: 0 for the order, 1 for the sample, 2 for a policy's own draws."""
        return np.random.SeedSequence(self.seed, spawn_key=(self.problem, self.trial, part))

    def arrival(self, workers: int) -> IntArray:
        """Indices of the workers in the order in which they come, shape (m,)."""
        return generator(self.stream(0)).permutation(workers)

    def sample(self, workers: int) -> IntArray:
        """Indices of the workers like whom those are that were seen before."""
        size = max(1, round(self.gamma * workers))
        return generator(self.stream(1)).integers(workers, size=size)


@dataclass(frozen=True, eq=False)
class ProblemArrivals:
    """A problem as online policies meet it.

    Parameters
    ----------
    problem
        Tasks that all require the same, of a gain in `crowd_models.gains`.
    on_infeasible
        What a policy does when its sample cannot cover the tasks.
    names
        Of the workers, for messages; None for their columns in the problem.

    Raises
    ------
    InputError
        Policies cannot be given such a problem.
    """

    problem: AssignmentProblem
    on_infeasible: OnInfeasible = "relax"
    names: Sequence[object] | None = None
    kinds: IntArray = field(init=False)
    skills: FloatArray = field(init=False)
    epsilon: float = field(init=False)

    def __post_init__(self) -> None:
        problem = self.problem
        _check(problem)
        gain, need = gain_of(problem.gain), float(problem.requirement[0])
        rows = np.hstack([problem.quality, problem.prices])
        _, first, kinds = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        quality = problem.quality[first]
        skills = _skill(quality, problem.gain)
        if not np.allclose(gain.quality(skills, need), quality, rtol=ROUNDING):
            raise InputError(
                "a quality of the problem is that of a skill too close to 1 for a number: no "
                "policy can be given it"
            )
        known = {"kinds": kinds.ravel(), "skills": skills, "epsilon": float(gain.error(need))}
        for name, value in known.items():
            object.__setattr__(self, name, value)

    @cached_property
    def workers(self) -> tuple[ArrivingWorker, ...]:
        """Every worker as a policy is given her."""
        problem, types = self.problem, self.skills.shape[0]
        example = np.zeros(types, dtype=np.int64)
        example[self.kinds] = np.arange(len(self.kinds))
        return tuple(
            ArrivingWorker(
                self.skills[:, j],
                int(problem.capacity[j]),
                None if problem.cost is None else problem.cost[example, j],
                None if problem.available is None else problem.available[:, j],
            )
            for j in range(problem.shape[1])
        )

    def play(self, policy: str, order: Order) -> ArrivalPlay:
        """Let a policy assign the tasks as the workers come, and count; raises as `chosen`."""
        run = self.chosen(policy, order)
        return self._counted(run.task, order.arrival(len(self.workers))[run.worker])

    def chosen(self, policy: str, order: Order) -> PolicyRun:
        """Let a policy assign the tasks as the workers come: tasks, and places in that order.

        Raises
        ------
        InputError
            The policy fails, or gives a worker what she may not have: one line.
        """
        m = len(self.workers)
        arrival = order.arrival(m)
        setting = Setting(
            self.kinds,
            self.epsilon,
            m,
            on_infeasible=self.on_infeasible,
            gain=self.problem.gain,
        )
        sample = [self.workers[j] for j in order.sample(m)]
        come = [self.workers[j] for j in arrival]
        try:
            names = [j if self.names is None else self.names[j] for j in arrival.tolist()]
            run, _ = play_with_sample(
                policy, setting, sample, come, seed=order.stream(2), names=names
            )
            return run
        except Exception as error:
            raise failure_of_own(f"policy {policy!r}", POLICIES[policy].call, error) from error

    def _counted(self, task: IntArray, worker: IntArray) -> ArrivalPlay:
        units = self.problem.quality[task, worker]
        gathered = np.bincount(task, units, minlength=len(self.kinds))
        covered = np.mean(gathered >= self.problem.requirement * COVERED)
        return ArrivalPlay(
            float(self.problem.prices[task, worker].sum()), len(task), float(covered)
        )


def optimum(problem: AssignmentProblem, time_limit: float) -> Optimum | str:
    """The offline optimum and what is proven of it; in words, why nothing can be compared with it.

    Parameters
    ----------
    time_limit
        Seconds for the integer program.
    """
    solution = solve(problem, "ip", time_limit=time_limit)
    if solution.termination is Termination.INFEASIBLE:
        return "its workers cannot cover every task"
    claim = CostClaim.of(solution)
    if not claim.checked or claim.checked <= 0:
        return "no bound above 0 is proven of its optimum"
    return Optimum(claim.cost, claim.checked, claim.proven)


def _check(problem: AssignmentProblem) -> None:
    """Refuse what no policy can be given."""
    if problem.gain not in GAINS:
        raise InputError(f"a problem of gain {problem.gain!r}: policies know {' and '.join(GAINS)}")
    if np.ptp(problem.requirement) > 0:
        raise InputError("tasks of a problem require different amounts: policies know one error")
    if not problem.requirement[0] > 0:
        raise InputError("tasks of a problem require nothing: there is nothing to compare")
    for name in ("least", "most", "recorded"):
        if getattr(problem, name) is not None:
            raise InputError(f"a problem with `{name}`: policies do not know of it")


def _skill(quality: FloatArray, gain: str) -> FloatArray:
    """Skill p ≥ ½ of a quality, any shape."""
    root = np.sqrt(quality if gain == "hoeffding" else -np.expm1(-2 * quality))
    skill: FloatArray = (1 + root) / 2
    return skill
