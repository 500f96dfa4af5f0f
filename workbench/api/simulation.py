"""`simulate`: a crowd that does not exist, with labels and gold as if it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from workbench.api.result import Figure, Result
from workbench.base import checks
from workbench.base.arrays import IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import stream
from workbench.crowd import population
from workbench.crowd.graphs import regular_graph
from workbench.crowd.population import Crowd
from workbench.crowd.simulate import family_labels, simulate_labels, task_types, truth

LARGEST = 100_000_000
"""Tasks, workers, and skills of a simulated crowd at most: 800 MB."""


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedCrowd(Result):
    """A crowd, its tasks and its labels, all drawn from one seed.

    Attributes
    ----------
    crowd, skill
        Kind of crowd, and the skill of its good workers: of an `even` crowd the least and the
        greatest, of a `listed` one that of each worker (a `beta` crowd has its own).
    tasks, workers, types
        How many.
    capacity
        M, the most tasks a worker takes.
    redundancy
        Labels of each task in `labels`.
    seed
        What it is drawn from.
    """

    crowd: str
    tasks: int
    workers: int
    types: int
    skill: float | tuple[float, ...]
    capacity: int
    redundancy: int
    seed: int

    @cached_property
    def labels(self) -> pd.DataFrame:
        """Long table `task, worker, label`; labels are 0 and 1."""
        task, worker = regular_graph(
            self.tasks, self.workers, self.redundancy, seed=self._stream, capacity=self.capacity
        )
        votes = simulate_labels(
            self._drawn, self._kinds, self._truth, task, worker, seed=self._stream
        )
        named = {"task": votes.tasks[votes.task], "worker": votes.workers[votes.worker]}
        return pd.DataFrame({**named, "label": votes.label})

    @cached_property
    def gold(self) -> pd.Series[int]:
        """True label of every task, a Series by task."""
        return pd.Series(self._truth, index=self._names, name="gold")

    @cached_property
    def task_types(self) -> pd.Series[Any]:
        """Type of every task, a Series by task."""
        return pd.Series(self._drawn.task_types[self._kinds], index=self._names, name="task_type")

    @cached_property
    def skills(self) -> pd.DataFrame:
        """True skills p, workers × task types."""
        return pd.DataFrame(
            self._drawn.skill.T,
            index=pd.Index(self._drawn.workers, name="worker"),
            columns=pd.Index(self._drawn.task_types, name="task_type"),
        )

    def draw(self, workers: int, seed: np.random.SeedSequence) -> Crowd:
        """Draw workers of this kind."""
        return population.named(
            self.crowd,
            workers,
            skill=self.skill,
            seed=seed,
            capacity=self.capacity,
            task_types=self.types,
        )

    @property
    def title(self) -> str:
        """What reports call it."""
        if self.crowd == "beta":
            return "simulated beta crowd"
        if not isinstance(self.skill, tuple):
            return f"simulated {self.crowd} crowd of skill {self.skill:g}"
        low, high = min(self.skill), max(self.skill)
        return f"simulated {self.crowd} crowd of skills from {low:g} to {high:g}"

    def to_frame(self) -> pd.DataFrame:
        """Give the labels."""
        return self.labels

    def details(self) -> str:
        """Say what it is, in a line."""
        return (
            f"{self.title}: {self.tasks} tasks, {self.workers} workers, {self.redundancy} labels "
            f"a task, seed {self.seed}"
        )

    def plot(self) -> Figure:
        """Draw how able the workers are, by task type."""
        from workbench.plots import skills

        return skills(self.skills, title=self.title)

    @property
    def _stream(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed)

    @cached_property
    def _drawn(self) -> Crowd:
        return self.draw(self.workers, self._stream)

    @property
    def _kinds(self) -> IntArray:
        return task_types(self.tasks, self.types)

    @property
    def _truth(self) -> IntArray:
        return truth(self.tasks, seed=self._stream)

    @property
    def _names(self) -> pd.Index[Any]:
        return pd.Index(checks.numbered("t", self.tasks), name="task")


class Panel(NamedTuple):
    """Labels of models and people, as `collect` takes them."""

    labels: pd.DataFrame
    gold: pd.Series[int]
    costs: pd.Series[float]
    groups: pd.Series[str]


def simulate_panel(
    *,
    tasks: int = 1000,
    models: int = 5,
    people: int = 20,
    correlation: float = 0.45,
    prices: tuple[float, float] = (0.002, 0.1),
    seed: int = 0,
) -> Panel:
    """Simulate cheap models of one family, who err together, beside people, who do not.

    Two classes; skills are evenly spread from .70 to .82 for models, drawn from .70 to .95 for
    people, and everybody labels every task.

    Parameters
    ----------
    tasks, models, people
        How many; model j is named "m0", "m1", …, and people "p0", "p1", ….
    correlation
        Mean φ of the errors of two models, given the class; .27 to .59 on panels of real ones.
    prices
        Price of a model's label, and of a person's.
    seed
        Same seed, same result.

    Returns
    -------
    Panel
        `labels, gold, costs, groups`: price by worker, and group of the models by worker.

    Raises
    ------
    InputError
        A number out of range.

    Examples
    --------
    >>> import workbench as wb
    >>> panel = wb.simulate_panel(tasks=50, people=4)
    >>> pool = wb.People(costs=panel.costs, groups=panel.groups)
    >>> found = wb.collect(panel.labels, panel.gold, total=5, people=pool)
    >>> found.cost <= 5, found.policy
    (True, 'until-trusted')
    """
    for name, value in (("tasks", tasks), ("models", models), ("people", people)):
        checks.count(name, value, 1)
    own = np.random.SeedSequence(checks.count("seed", seed))
    names = np.concatenate([checks.numbered("m", models), checks.numbered("p", people)])
    ability = stream(own, "people").uniform(0.7, 0.95, people)
    skill = np.concatenate([np.linspace(0.7, 0.82, models), ability])
    is_model = np.arange(len(names)) < models
    true = truth(tasks, seed=own)
    answers = family_labels(skill, true, np.where(is_model, 0, -1), correlation, seed=own)
    task, worker = np.divmod(np.arange(answers.size), len(names))
    ids = checks.numbered("t", tasks)
    return Panel(
        pd.DataFrame({"task": ids[task], "worker": names[worker], "label": answers.ravel()}),
        pd.Series(true, index=pd.Index(ids, name="task"), name="gold"),
        pd.Series(np.where(is_model, *prices), index=pd.Index(names, name="worker"), name="cost"),
        pd.Series("models", index=pd.Index(names[:models], name="worker"), name="group"),
    )


def simulate(
    crowd: str | None = None,
    *,
    tasks: int = 1000,
    workers: int | None = None,
    types: int = 1,
    skill: float | Sequence[float] = 0.8,
    capacity: int = 200,
    redundancy: int | None = None,
    seed: int = 0,
) -> SimulatedCrowd:
    """Simulate a crowd of two-class labels whose workers err independently.

    Parameters
    ----------
    crowd
        spammer-hammer (half of them guess), uniform (all alike), specialists (each able at one
        type), beta (skills from Beta(2.3, 2)), even (skills drawn evenly) or listed (skills are
        named). [default: spammer-hammer; listed where skills are listed]
    tasks
        Number of tasks, in equal shares of the types. [default: 1000]
    workers
        Number of workers. [default: 300; as many as skills are listed]
    types
        Number of task types. [default: 1]
    skill
        Probability that a good worker is right; of an even crowd the least and the greatest, as
        0.5,0.9; of a listed one that of each worker. [default: 0.8]

        In Python a number, or a sequence of them.
    capacity
        Most tasks a worker takes.
    redundancy
        Labels of each task. [default: as many as the capacities allow]
    seed
        Same seed, same result.

    Returns
    -------
    SimulatedCrowd
        With `labels`, `gold`, `skills` and `task_types`, as any recorded crowd has them. Functions
        take it wherever they take labels: `compare` draws a new one of its kind each trial,
        `learn` new answers each trial, `collect` asks its workers, `ladder` knows their skills,
        and all others read its labels, and its gold where gold is asked for.

    Raises
    ------
    InputError
        An unknown kind, a number out of range, more labels a task than the crowd can give.

    Notes
    -----
    Source: Ho, Jabbari, Vaughan (2013), Section 6; Li, Liu (2015), Figure 1 (`beta`).

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate("uniform", tasks=4, workers=3, redundancy=2, skill=0.9)
    >>> len(crowd.labels), sorted(crowd.gold.index)
    (8, ['t0', 't1', 't2', 't3'])
    >>> wb.simulate(skill=[0.9, 0.8, 0.6], tasks=4).skills["type0"].tolist()
    [0.9, 0.8, 0.6]
    """
    able: float | tuple[float, ...]
    if checks.is_number(skill):
        able = cast("float", skill)
    else:
        able, crowd = (
            tuple(checks.listed("skill", cast("Sequence[float]", skill))),
            crowd or "listed",
        )
    crowd, names = crowd or "spammer-hammer", 300
    if crowd == "listed":
        able = able if isinstance(able, tuple) else (able,)
        names = len(able)
        if workers not in (None, names):
            raise InputError(f"workers is {checks.show(workers)}: {names} skills are listed")
    workers = names if workers is None else workers
    for name, value in (("tasks", tasks), ("workers", workers), ("types", types)):
        if checks.count(name, value, 1) > LARGEST:
            raise InputError(f"{name} is {checks.show(value)}: give {LARGEST:,} or fewer")
    if types * workers > LARGEST:
        raise InputError(
            f"{types:,} types and {workers:,} workers: give {LARGEST:,} skills of them or fewer"
        )
    if checks.count("capacity", capacity) > checks.MOST:
        raise InputError("capacity is too large; the number of tasks is enough")
    checks.count("seed", seed)
    most = min(workers, workers * min(capacity, tasks) // tasks)
    each = most if redundancy is None else checks.count("redundancy", redundancy)
    if each > most:
        raise InputError(
            f"redundancy is {each}: {workers} workers of capacity {capacity} give at most {most} "
            f"labels to each of {tasks} tasks"
        )
    result = SimulatedCrowd(crowd, tasks, workers, types, able, capacity, each, seed)
    result.draw(1, np.random.SeedSequence(seed))  # kind and skill are checked here
    return result
