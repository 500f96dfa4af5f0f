"""A search for instances on which an online policy does badly.

Hill climbing with restarts over small instances (skills on a grid, capacities, ε), for a fixed
number of evaluations. The policy is given true skills, so whatever it loses it loses to not knowing
who comes. The adversary aims at

- `labels`: most labels over the optimum, among runs that cover every task; or
- `cover`: the smallest share of tasks covered, where the whole crowd could cover them all.

The order is his as well (`adversarial`: sampled and main workers come as the instance lists them),
or drawn at random, as the theorems want it: then the figure is the mean over `DRAWS` fixed random
orders of sampled and main workers together, each against the optimum of its own main workers.

The optimum is the integer program's, proven; a candidate that cannot be covered, or whose optimum
is not proven, does not count.

Source: beyond Ho, Jabbari, Vaughan (2013), Theorem 2.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from crowd_models import AssignmentProblem, requirement
from workbench.assignment.playing import play_with_sample
from workbench.assignment.policies import (
    COVERED,
    ArrivingWorker,
    PolicyRun,
    Setting,
    WrongChoiceError,
)
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.crowd import quality, task_types
from workbench.solving import Termination, solve

AIMS = ("labels", "cover")
ORDERS = ("adversarial", "random")
GRID = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Skills that an instance may have."""
EPSILONS = (0.5, 0.4, 0.3, 0.2)
DRAWS = 6
"""Random orders that stand for all of them."""
MOST_DRAWN = 10_000
"""Instances drawn at most until one is plausible."""
PATIENCE = 40
"""Evaluations without gain after which the search starts afresh."""


@dataclass(frozen=True)
class Hunt:
    """What is searched for.

    Attributes
    ----------
    policy
        Who assigns, by name.
    aim, order
        One of `AIMS`, and of `ORDERS`.
    types, workers, sample
        T, m and ℓ of the instances.
    evaluations
        Instances tried.
    """

    policy: str
    aim: str = "labels"
    order: str = "adversarial"
    types: int = 2
    workers: int = 8
    sample: int = 3
    evaluations: int = 200


@dataclass(frozen=True, eq=False)
class SmallInstance:
    """A small instance: skills (T, ℓ + m), the sample first; capacities; n tasks in equal shares.

    Attributes
    ----------
    sample
        ℓ, how many workers are sampled.
    """

    skill: FloatArray
    capacity: IntArray
    tasks: int
    sample: int
    epsilon: float

    @property
    def kinds(self) -> IntArray:
        """Type of each task, shape (n,)."""
        return task_types(self.tasks, len(self.skill))

    def ordered(self, order: IntArray) -> SmallInstance:
        """The same workers in another order."""
        return replace(self, skill=self.skill[:, order], capacity=self.capacity[order])

    def problem(self) -> AssignmentProblem:
        """The offline problem of the workers who are not sampled."""
        return AssignmentProblem(
            quality(self.skill[:, self.sample :])[self.kinds],
            self.capacity[self.sample :],
            float(requirement(self.epsilon)),
        )

    def json(self) -> str:
        """The instance in one line."""
        return json.dumps(vars(self), default=np.ndarray.tolist, separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> SmallInstance:
        """The instance of such a line."""
        data: dict[str, Any] = json.loads(text)
        kinds = {"skill": np.float64, "capacity": np.int64}
        return cls(**data | {name: np.array(data[name], kind) for name, kind in kinds.items()})


class PolicyScore(NamedTuple):
    """What a policy did on an instance, in the mean over its orders.

    Attributes
    ----------
    ratio
        Labels over the proven optimum.
    covered
        Share of tasks covered.
    optimum
        Labels of the optimum.
    """

    ratio: float
    covered: float
    optimum: float

    def score(self, aim: str) -> float:
        """What the adversary makes as large as he can."""
        if aim == "cover":
            return 1 - self.covered
        return self.ratio if self.covered == 1 else self.covered - 1


def replay_bad_instance(
    small: SmallInstance,
    policy: str,
    order: str,
    seed: int,
    *,
    aim: str = "labels",
    at_least: float = -1.0,
) -> PolicyScore | None:
    """Measure a policy on an instance; None where the main workers cannot cover every task.

    Parameters
    ----------
    seed
        Of the random orders and of the policy's choices between equal tasks.
    aim, at_least
        A search asks for scores of at least so much: None also where the relaxation's bound shows
        that the score is below it, which saves the integer program.
    """
    arrivals = _arrivals(small, order, seed)
    outcomes = [_played(arrival, policy, seed) for arrival in arrivals]
    bounds = [solve(each.problem(), "typed").certificate.lower_bound for each in arrivals]
    if any(bound is None or math.isinf(bound) for bound in bounds):
        return None
    least = [math.ceil(bound - 1e-6) for bound in bounds if bound is not None]
    if min(least) < 1 or _outcome(outcomes, least).score(aim) < at_least:
        return None
    exact = [solve(each.problem(), "ip", method="mip") for each in arrivals]
    if any(solution.termination is not Termination.OPTIMAL for solution in exact):
        return None
    return _outcome(outcomes, [solution.objective or math.nan for solution in exact])


def _arrivals(small: SmallInstance, order: str, seed: int) -> list[SmallInstance]:
    """The instance in the order that it lists, or in random ones."""
    if order != "random":
        return [small]
    rng = np.random.Generator(np.random.PCG64(seed))
    return [small.ordered(rng.permutation(small.skill.shape[1])) for _ in range(DRAWS)]


class DrawnArrival(NamedTuple):
    """An order of arrival of an instance, and who labels what there.

    Attributes
    ----------
    small
        The instance in this order.
    run
        What the policy chose.
    optimum
        A plan of the least cost for the workers who are not sampled, shape (n, m).
    """

    small: SmallInstance
    run: PolicyRun
    optimum: BoolArray


def worst_arrival(
    small: SmallInstance, policy: str, order: str, seed: int, *, aim: str = "labels"
) -> DrawnArrival:
    """Play a bad instance again, and give the order of arrival on which the policy did worst.

    Parameters
    ----------
    order, seed, aim
        As of `replay_bad_instance`, which gave numbers.
    """
    worst: tuple[float, DrawnArrival] | None = None
    for arrival in _arrivals(small, order, seed):
        run, optimum = _run(arrival, policy, seed), solve(arrival.problem(), "ip", method="mip")
        assert optimum.assignment is not None
        score = _outcome([_told(arrival, run)], [optimum.objective or math.nan]).score(aim)
        if worst is None or score > worst[0]:
            worst = score, DrawnArrival(arrival, run, optimum.assignment > 0.5)
    assert worst is not None
    return worst[1]


def _outcome(outcomes: Sequence[tuple[int, float]], optima: Sequence[float]) -> PolicyScore:
    ratios = [labels / optimum for (labels, _), optimum in zip(outcomes, optima, strict=True)]
    covered = [share for _, share in outcomes]
    return PolicyScore(float(np.mean(ratios)), float(np.mean(covered)), float(np.mean(optima)))


def _played(small: SmallInstance, policy: str, seed: int) -> tuple[int, float]:
    """Labels bought, and the share of tasks covered."""
    return _told(small, _run(small, policy, seed))


def _run(small: SmallInstance, policy: str, seed: int) -> PolicyRun:
    """What a policy chose; nothing where hindsight of a crowd that cannot cover is asked for."""
    setting = Setting(small.kinds, small.epsilon, small.skill.shape[1] - small.sample)
    rng = np.random.Generator(np.random.PCG64(seed))
    crowd = [
        ArrivingWorker(small.skill[:, j], most) for j, most in enumerate(small.capacity.tolist())
    ]
    sample, workers = crowd[: small.sample], crowd[small.sample :]
    try:
        return play_with_sample(policy, setting, sample, workers, seed=rng)[0]
    except WrongChoiceError:
        raise
    except InputError:
        return PolicyRun(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def _told(small: SmallInstance, run: PolicyRun) -> tuple[int, float]:
    """Labels of a run, and the share of tasks that it covers."""
    problem = small.problem()
    units = problem.quality[run.task, run.worker]
    gathered = np.bincount(run.task, units, minlength=small.tasks)
    return len(run.task), float(np.mean(gathered >= problem.requirement * COVERED))


def random_small(
    rng: np.random.Generator, *, types: int, workers: int, sample: int
) -> SmallInstance:
    """Draw an instance that is not plainly hopeless: few kinds of workers, so a lopsided crowd.

    Raises
    ------
    InputError
        None of `MOST_DRAWN` could be covered.
    """
    for _ in range(MOST_DRAWN):
        tasks = int(rng.integers(types, 2 * types + 2))
        kinds = rng.choice(GRID, (types, int(rng.integers(1, 5))))
        skill = kinds[:, rng.integers(kinds.shape[1], size=sample + workers)]
        capacity = rng.integers((tasks + 1) // 2, tasks + 1, size=sample + workers)
        small = SmallInstance(skill, capacity, tasks, sample, float(rng.choice(EPSILONS)))
        if plausible(small):
            return small
    raise InputError(
        f"no crowd of {workers} workers that was drawn covers tasks of {types} types: give more "
        "workers, or fewer types"
    )


def plausible(small: SmallInstance) -> bool:
    """Whether the main workers' share of the crowd has a third more than what the tasks need."""
    units, share = quality(small.skill), 1 - small.sample / small.skill.shape[1]
    need = 4 / 3 * float(requirement(small.epsilon))
    best = float((units.max(axis=0) * small.capacity).sum())
    return bool((units.sum(axis=1) * share >= need).all()) and best * share >= need * small.tasks


def neighbour(small: SmallInstance, rng: np.random.Generator) -> SmallInstance:
    """Change one or two things: a skill, a capacity, ε, two workers' places, or copy a worker."""
    skill, capacity, epsilon = small.skill.copy(), small.capacity.copy(), small.epsilon
    count = skill.shape[1]
    for _ in range(int(rng.integers(1, 3))):
        move, j, k = int(rng.integers(5)), int(rng.integers(count)), int(rng.integers(count))
        if move == 0:
            skill[int(rng.integers(len(skill))), j] = rng.choice(GRID)
        elif move == 1:
            capacity[j] = rng.integers(1, small.tasks + 1)
        elif move == 2:
            epsilon = float(rng.choice(EPSILONS))
        elif move == 3:
            skill[:, [j, k]], capacity[[j, k]] = skill[:, [k, j]], capacity[[k, j]]
        else:
            skill[:, j], capacity[j] = skill[:, k], capacity[k]
    return replace(small, skill=skill, capacity=capacity, epsilon=epsilon)


def search_bad_instance(
    hunt: Hunt, seed: int, progress: Callable[[int], object] | None = None
) -> tuple[SmallInstance, PolicyScore, int] | None:
    """Hill climbing with restarts; None where no instance drawn could be covered.

    Parameters
    ----------
    progress
        Is called before each evaluation with how many there were.

    Returns
    -------
    tuple
        The worst instance, what happened there, and the evaluation that found it.
        `replay_bad_instance` with the same seed gives the same outcome.
    """
    rng = np.random.Generator(np.random.PCG64([seed, 1]))
    worst: tuple[SmallInstance, PolicyScore, int] | None = None
    here: tuple[SmallInstance, float] | None = None
    idle = 0
    for at in range(hunt.evaluations):
        if progress is not None:
            progress(at)
        if here is None or idle >= PATIENCE:
            here, idle = None, 0
            candidate = random_small(
                rng, types=hunt.types, workers=hunt.workers, sample=hunt.sample
            )
        else:
            candidate = neighbour(here[0], rng)
        least = -1.0 if here is None else here[1]
        outcome = replay_bad_instance(
            candidate, hunt.policy, hunt.order, seed, aim=hunt.aim, at_least=least
        )
        score = -math.inf if outcome is None else outcome.score(hunt.aim)
        idle += 1
        if outcome is None or (here is not None and score < here[1]):
            continue
        if here is None or score > here[1]:
            idle = 0
        here = candidate, score
        if worst is None or score > worst[1].score(hunt.aim):
            worst = candidate, outcome, at
    return worst
