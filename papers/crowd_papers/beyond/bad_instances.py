"""A search for instances on which an online policy does badly.

Each trial is one search against one policy: hill climbing with restarts over small instances
(skills on a grid, capacities, ε), for a fixed number of evaluations. The policy is told true
skills, so whatever it loses it loses to not knowing who comes. The adversary aims at

- `labels`: most labels over the optimum, among runs that cover every task; or
- `cover`: the smallest share of tasks covered, where the whole crowd could cover them all.

The order is his as well (`adversarial`: sampled and main workers come as the instance lists them),
or drawn at random, as the theorems want it: then the figure is the mean over `DRAWS` fixed random
orders of sampled and main workers together, each against the optimum of its own main workers.

The optimum is the integer program's, proven; a candidate that cannot be covered, or whose optimum
is not proven, does not count. The worst instance is recorded as JSON, and `replay`
measures it anew.

Source: beyond Ho, Jabbari, Vaughan (2013), Theorem 2.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem, requirement
from crowd_papers.adaptive_assignment.assignment_trials import played
from workbench.assignment import COVERED, POLICIES, Setting
from workbench.base import FloatArray, InputError, IntArray
from workbench.crowd import quality, task_types
from workbench.solving import Termination, solve
from workbench.studies import (
    Analysis,
    Block,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    capital,
    ended,
    in_order,
    measured,
    percent,
    records,
)

AIMS = ("labels", "cover")
ORDERS = ("adversarial", "random")
GRID = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Skills that an instance may have."""
EPSILONS = (0.5, 0.4, 0.3, 0.2)
DRAWS = 6
"""Random orders that stand for all of them."""
PATIENCE = 40
"""Evaluations without gain after which the search starts afresh."""


@dataclass(frozen=True, eq=False)
class Small:
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

    def ordered(self, order: IntArray) -> Small:
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
    def read(cls, text: str) -> Small:
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


def replay(
    small: Small, policy: str, order: str, seed: int, *, aim: str = "labels", at_least: float = -1.0
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
    count = small.skill.shape[1]
    rng = np.random.Generator(np.random.PCG64(seed))
    orders = [np.arange(count)]
    if order == "random":
        orders = [rng.permutation(count) for _ in range(DRAWS)]
    arrivals = [small.ordered(arrival) for arrival in orders]
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


def _outcome(outcomes: Sequence[tuple[int, float]], optima: Sequence[float]) -> PolicyScore:
    ratios = [labels / optimum for (labels, _), optimum in zip(outcomes, optima, strict=True)]
    covered = [share for _, share in outcomes]
    return PolicyScore(float(np.mean(ratios)), float(np.mean(covered)), float(np.mean(optima)))


def _played(small: Small, policy: str, seed: int) -> tuple[int, float]:
    """Labels bought, and the share of tasks covered."""
    setting = Setting(small.kinds, small.epsilon, small.skill.shape[1] - small.sample)
    rng = np.random.Generator(np.random.PCG64(seed))
    try:
        run, _ = played(policy, setting, small.skill, small.capacity, seed=rng)
    except InputError:
        return 0, 0.0  # hindsight of a crowd that cannot cover the tasks: nothing to measure
    units = small.problem().quality[run.task, run.worker]
    gathered = np.bincount(run.task, units, minlength=small.tasks)
    return len(run.task), float(np.mean(gathered >= setting.need * COVERED))


def random_small(rng: np.random.Generator, *, types: int, workers: int, sample: int) -> Small:
    """Draw an instance that is not plainly hopeless: few kinds of workers, so a lopsided crowd."""
    while True:
        tasks = int(rng.integers(types, 2 * types + 2))
        kinds = rng.choice(GRID, (types, int(rng.integers(1, 5))))
        skill = kinds[:, rng.integers(kinds.shape[1], size=sample + workers)]
        capacity = rng.integers((tasks + 1) // 2, tasks + 1, size=sample + workers)
        small = Small(skill, capacity, tasks, sample, float(rng.choice(EPSILONS)))
        if plausible(small):
            return small


def plausible(small: Small) -> bool:
    """Whether the main workers' share of the crowd has a third more than what the tasks need."""
    units, share = quality(small.skill), 1 - small.sample / small.skill.shape[1]
    need = 4 / 3 * float(requirement(small.epsilon))
    best = float((units.max(axis=0) * small.capacity).sum())
    return bool((units.sum(axis=1) * share >= need).all()) and best * share >= need * small.tasks


def neighbour(small: Small, rng: np.random.Generator) -> Small:
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


def search(params: Params, seed: int) -> tuple[Small, PolicyScore, int] | None:
    """Hill climbing with restarts; None where no instance drawn could be covered.

    Returns
    -------
    tuple
        The worst instance, what happened there, and the evaluation that found it. `replay` with
        the same seed gives the same outcome.
    """
    rng = np.random.Generator(np.random.PCG64([seed, 1]))
    worst: tuple[Small, PolicyScore, int] | None = None
    here: tuple[Small, float] | None = None
    idle = 0
    aim, sizes = params["aim"], {name: params[name] for name in ("types", "workers", "sample")}
    for at in range(params["evaluations"]):
        if here is None or idle >= PATIENCE:
            here, idle = None, 0
            candidate = random_small(rng, **sizes)
        else:
            candidate = neighbour(here[0], rng)
        least = -1.0 if here is None else here[1]
        outcome = replay(
            candidate, params["policy"], params["order"], seed, aim=aim, at_least=least
        )
        score = -math.inf if outcome is None else outcome.score(aim)
        idle += 1
        if outcome is None or (here is not None and score < here[1]):
            continue
        if here is None or score > here[1]:
            idle = 0
        here = candidate, score
        if worst is None or score > worst[1].score(aim):
            worst = candidate, outcome, at
    return worst


def trial(params: Params, streams: Streams) -> Record:
    """One search against one policy."""
    seed = int(streams.instance.generate_state(1)[0])
    worst = search(params, seed)
    if worst is None:
        return {**dict.fromkeys(MEASURED), "replay_seed": seed, "instance": ""}
    small, outcome, at = worst
    values = (outcome.score(params["aim"]), *outcome, at)
    return {
        **dict(zip(MEASURED, values, strict=True)),
        "replay_seed": seed,
        "instance": small.json(),
    }


MEASURED = ("score", *PolicyScore._fields, "found_at")


# What the trials say.

KEYS = {"aim": AIMS, "order": ORDERS, "policy": tuple(POLICIES)}


def analyse(trials: pd.DataFrame) -> Analysis:
    """The worst instance of each policy, by aim and order."""
    rows = measured(trials, "score")
    if rows.empty:
        return Analysis((ended(trials),))
    # The worst instance of each comes first.
    rows = in_order(rows.assign(less=-rows["score"]), {**KEYS, "less": None, "repetition": None})
    groups = rows.groupby(list(KEYS), sort=False)
    worst = groups.agg(
        searches=("score", "count"),
        score=("score", "max"),
        mean_score=("score", "mean"),
        mean_se=("score", "sem"),
        ratio=("ratio", "first"),
        covered=("covered", "first"),
        optimum=("optimum", "first"),
    ).reset_index()
    instances = groups.agg(replay_seed=("replay_seed", "first"), instance=("instance", "first"))
    findings = (
        ended(trials),
        "Found by search: a policy's worst case is at least as bad, and may be worse.",
        *(
            f"{capital(row.policy)}, {row.order} order: {worst_case(row)} ({row.searches} "
            "searches)."
            for row in records(worst)
        ),
    )
    tables = {
        "Worst instance found for each policy (score: ratio, or share left short)": worst,
        "The instances": instances.reset_index(),
    }
    return Analysis(findings, tables)


def worst_case(row: Any) -> str:
    """The worst of a policy, for a sentence."""
    if row.aim == "cover":
        return f"at worst {percent(row.covered, 0)} of the tasks covered"
    if row.covered == 1:
        return f"at worst {row.ratio:.2f} times the optimum with every task covered"
    return "no instance on which every task was covered"


def _each(**values: list[Any]) -> Block:
    return {"policy": list(POLICIES), "aim": list(AIMS), "order": list(ORDERS), **values}


STUDY = Study(
    name="bad-instances",
    title="A search for instances on which online assignment does badly",
    source="beyond Ho, Jabbari, Vaughan (2013), Theorem 2",
    parameters={
        "policy": Parameter(str, "paper", "who assigns", choices=POLICIES, paired=True),
        "aim": Parameter(
            str,
            "labels",
            "most labels with all covered, or fewest tasks covered",
            choices=AIMS,
            paired=True,
        ),
        "order": Parameter(
            str,
            "adversarial",
            "order of arrival: part of the instance, or random",
            choices=ORDERS,
            paired=True,
        ),
        "types": Parameter(int, 2, "T, task types", least=1, most=10),
        "workers": Parameter(int, 8, "m, without the sample", least=1, most=12),
        "sample": Parameter(int, 3, "ℓ, workers sampled", least=1, most=12),
        "evaluations": Parameter(int, 200, "instances tried in a search", least=1, most=100_000),
    },
    sizes={
        "smoke": Size((_each(evaluations=[2], workers=[7], sample=[2]),), 1),
        "small": Size((_each(evaluations=[40]),), 2),
        "paper": Size((_each(evaluations=[150]),), 3),
    },
    trial=trial,
    analyse=analyse,
    version=2,
    deadline=900.0,
)
