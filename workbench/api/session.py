"""The service of release 1.0 for Algorithm 2, on top of a `Collector`; it goes in 2.0.0."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pandas as pd

from workbench.base import checks
from workbench.base.state import Id, check, find
from workbench.collection.algorithm_two import AlgorithmTwo
from workbench.collection.collector import Collector
from workbench.collection.setup import Listed, PerTask
from workbench.crowd.libraries import Frame, keyed

Kind: TypeAlias = Literal["gold", "task", "nothing"]
ROOM = 2
"""Places for workers, in workers who are expected: some come and never finish."""


@dataclass(frozen=True)
class NextTasks:
    """What to ask a worker now: `gold` tasks to be judged by, real `task`s, or `nothing`."""

    worker: Id
    kind: Kind
    tasks: tuple[Id, ...]


class AssignmentSession:
    """Algorithm 2 over a stream of named workers and tasks.

    The same as `Collector(tasks, ..., policy="algorithm-2")`, in the words of release 1.0.

    Parameters
    ----------
    tasks
        Type of each task to be labelled, a Series by task.
    gold
        Gold tasks: a frame with index (or a column) task and columns `label`, `task_type` and,
        where tasks have one, `easiness`.
    workers, preliminary
        m and γm; twice as many may come.
    epsilon
        ε, the error each task may have.
    gold_per_type, easiness, seed, settings
        As options of the policy, and as for `Collector`.

    Raises
    ------
    InputError
        As for `Collector`.
    """

    def __init__(
        self,
        tasks: PerTask,
        gold: Frame,
        *,
        workers: int,
        preliminary: int,
        epsilon: float,
        gold_per_type: int | None = None,
        easiness: PerTask | None = None,
        seed: int = 0,
        **settings: Any,
    ) -> None:
        places = checks.count("workers", workers, 1) + checks.count("preliminary", preliminary, 1)
        options = {"workers": workers, "preliminary": preliminary, **settings}
        if gold_per_type is not None:
            options["gold_per_type"] = gold_per_type
        self.collector = Collector(
            tasks,
            ROOM * places,
            gold=gold,
            easiness=easiness,
            epsilon=epsilon,
            policy="algorithm-2",
            options=options,
            seed=seed,
        )

    @property
    def _policy(self) -> AlgorithmTwo:
        policy = self.collector.policy
        assert isinstance(policy, AlgorithmTwo)
        return policy

    @property
    def sampling(self) -> bool:
        """Whether workers are still being sampled."""
        return self._policy.assigner.sampling

    def arrive(
        self,
        worker: Id,
        capacity: int,
        *,
        cost: PerTask | None = None,
        prices: PerTask | None = None,
        available: Listed | None = None,
    ) -> NextTasks:
        """A worker arrives and says how many real tasks she will do; gold tasks come first.

        Raises
        ------
        InputError
            She has been here, or as for `Collector.join`.
        """
        new = find(self.collector.workers, worker) is None
        check(new, f"worker {checks.show(worker)} has been here: a worker arrives once")
        most = checks.count(f"capacity of worker {worker!r}", capacity)
        most += self._policy.gold_asked
        self.collector.join(worker, most, costs=cost, prices=prices, available=available)
        return self._next(worker)

    def observe(self, worker: Id, labels: PerTask) -> NextTasks:
        """Take a worker's labels for what she was asked; ask her what comes next.

        Tasks that she left out are given up.

        Raises
        ------
        InputError
            As for `Collector.tell` and `Collector.next`.
        """
        by_task = keyed(labels, "task")
        waiting = {question.task for question in self.collector.waiting(worker)}
        check(waiting, f"worker {checks.show(worker)} was asked nothing: call arrive first")
        given_up = dict.fromkeys(waiting - set(by_task.keys()))
        self.collector.tell(worker, {**dict(by_task.items()), **given_up})
        return self._next(worker)

    def _next(self, worker: Id) -> NextTasks:
        questions = self.collector.next(worker)
        tasks = tuple(question.task for question in questions)
        kind: Kind = "nothing" if not questions else "gold" if questions[0].gold else "task"
        return NextTasks(worker, kind, tasks)

    def labels(self) -> pd.DataFrame:
        """Labels on real tasks so far, a long table `task, worker, label`."""
        return self.collector.labels()

    def result(self) -> pd.DataFrame:
        """Label of every task by weighted vote: `task, label, confidence, closed, covered`."""
        return self.collector.answers().assign(covered=self._policy.gathered())

    def save(self, path: str | Path) -> None:
        """Write the state to a JSON file, whole or not at all."""
        self.collector.save(path)

    @classmethod
    def load(cls, path: str | Path) -> AssignmentSession:
        """Read what `save` wrote; it goes on exactly where it was.

        Raises
        ------
        InputError
            It is no such file; one of release 1.0 among them.
        """
        session = cls.__new__(cls)
        session.collector = Collector.load(path)
        return session
