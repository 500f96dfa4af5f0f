"""The Main Algorithm as a service: workers arrive, are asked, answer, and may be many at once.

    session = AssignmentSession(tasks, gold, workers=100, preliminary=30, epsilon=0.1, seed=1)
    asked = session.arrive("worker 1", capacity=50)         # gold tasks
    asked = session.observe("worker 1", answers)            # then real tasks, or none
    session.save("session.json")                            # go on tomorrow

The first γm workers to finish their gold tasks are the preliminary ones; whoever finishes later
gets real tasks. So nobody waits for anybody, and a worker who leaves holds nothing up.
Source: Ho, Jabbari, Vaughan (2013), Algorithm 2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from models.problem import BoolArray, FloatArray
from workbench.aggregate.votes import weighted_majority
from workbench.assign.adaptive import AdaptiveAssigner, AdaptiveSettings
from workbench.crowd.random import Seed
from workbench.crowd.skills import estimate_skills
from workbench.crowd.votes import Votes
from workbench.errors import InputError

VERSION = 1


@dataclass(frozen=True)
class Asked:
    """What to ask a worker now: `gold` tasks to be judged by, real `task`s, or `nothing`."""

    worker: str
    kind: str
    tasks: tuple[str, ...]


@dataclass
class _Visit:
    """A worker's stay: what she was asked, and how her gold answers turned out."""

    capacity: int
    kind: str
    asked: list[str]
    cost: list[float] | None = None
    available: list[int] | None = None
    skill: list[float] | None = None
    answers: dict[str, str] = field(default_factory=dict)


class AssignmentSession:
    """Algorithm 2 over a stream of named workers and tasks.

    Parameters
    ----------
    tasks
        Type of each task to be labelled, a Series by task; a single type is fine.
    gold
        Gold tasks: a frame with index task and columns `label` and `task_type`.
    workers, preliminary
        m and γm.
    epsilon
        ε, the error each task may have.
    gold_per_type
        s, gold tasks asked of each worker for each type; all of a type's gold when None.
    seed
        Draws gold tasks, perturbs estimates, breaks ties.
    settings
        Further settings of `AdaptiveSettings` by name.

    Raises
    ------
    InputError
        No task, a type without gold, fewer gold tasks than asked for, more than two classes.
    """

    def __init__(
        self,
        tasks: pd.Series[Any],
        gold: pd.DataFrame,
        *,
        workers: int,
        preliminary: int,
        epsilon: float,
        gold_per_type: int | None = None,
        seed: Seed,
        **settings: Any,
    ) -> None:
        self.tasks = _named("tasks", tasks)
        self.gold = gold.copy()
        self.gold.index = pd.Index([str(task) for task in gold.index])
        missing = {"label", "task_type"} - set(gold.columns)
        if missing:
            raise InputError(f"gold has no column {min(missing)!r}: give label and task_type")
        self.gold = self.gold.astype({"label": str, "task_type": str})
        both = self.tasks.index.intersection(self.gold.index)
        if len(both):
            raise InputError(f"task {both[0]!r} is also a gold task: leave it out of one")
        self.types = sorted(self.tasks.unique())
        self.classes = sorted(self.gold["label"].unique())
        if len(self.classes) != 2:
            raise InputError(
                f"gold has {len(self.classes)} classes ({', '.join(self.classes[:5])}): "
                "the adaptive assignment needs two"
            )
        counts = self.gold["task_type"].value_counts()
        scarce = min(self.types, key=lambda kind: counts.get(kind, 0))
        least = int(counts.get(scarce, 0))
        if least == 0 or (gold_per_type is not None and least < gold_per_type):
            raise InputError(
                f"task type {scarce!r} has {least} gold tasks: give at least {gold_per_type or 1}"
            )
        if gold_per_type is not None and gold_per_type < 1:
            raise InputError(f"gold_per_type is {gold_per_type}: give 1 or more")
        self.gold_per_type = gold_per_type
        self.settings = AdaptiveSettings(epsilon, workers, preliminary, **settings)
        codes = self.tasks.map({kind: code for code, kind in enumerate(self.types)})
        self._place = {task: place for place, task in enumerate(self.tasks.index)}
        self._assigner = AdaptiveAssigner(codes.to_numpy(np.int64), self.settings, seed=seed)
        self._visits: dict[str, _Visit] = {}

    def arrive(
        self,
        worker: str,
        capacity: int,
        *,
        cost: Mapping[str, float] | None = None,
        available: list[str] | None = None,
    ) -> Asked:
        """A worker arrives and announces her capacity; she is asked gold tasks first.

        Parameters
        ----------
        capacity
            M: the most real tasks she will do.
        cost
            Price of her label by task type; 1 where not given.
        available
            Tasks she may be given; None for all.
        """
        if worker in self._visits:
            raise InputError(f"worker {worker!r} has been here: a worker arrives once")
        if isinstance(capacity, bool) or int(capacity) != capacity or capacity < 0:
            raise InputError(f"capacity of worker {worker!r} is {capacity}: a whole number, 0 up")
        unknown = [task for task in available or [] if task not in self._place]
        if unknown:
            raise InputError(f"available task {unknown[0]!r} is not a task of this session")
        asked: list[str] = []
        for kind in self.types:
            pool = self.gold.index[self.gold["task_type"] == kind].to_list()
            if self.gold_per_type is None or self.gold_per_type >= len(pool):
                asked += pool
            else:
                chosen = self._assigner.rng.choice(len(pool), self.gold_per_type, replace=False)
                asked += [pool[k] for k in chosen]
        self._visits[worker] = _Visit(
            int(capacity),
            "gold",
            asked,
            None if cost is None else [float(cost.get(kind, 1.0)) for kind in self.types],
            None if available is None else sorted(self._place[task] for task in available),
        )
        return Asked(worker, "gold", tuple(asked))

    def observe(self, worker: str, labels: Mapping[str, str]) -> Asked:
        """Take a worker's labels for what she was asked; ask her what comes next.

        Tasks she left out are simply unanswered. After gold tasks a preliminary worker is asked
        nothing more, any other gets her real tasks; after those, nothing more.

        Raises
        ------
        InputError
            For a worker who is not here, a task she was not asked, or an unknown class.
        """
        visit = self._visits.get(worker)
        if visit is None or visit.kind == "nothing":
            raise InputError(f"worker {worker!r} was asked nothing: call arrive first")
        labels = {str(task): str(label) for task, label in labels.items()}
        for task, label in labels.items():
            if task not in visit.asked:
                raise InputError(f"worker {worker!r} was not asked task {task!r}")
            if label not in self.classes:
                raise InputError(
                    f"label {label!r} of task {task!r} is neither {' nor '.join(self.classes)}"
                )
        if visit.kind == "task":
            visit.answers, visit.kind = labels, "nothing"
            return Asked(worker, "nothing", ())
        visit.skill = self._judge(labels).tolist()
        self._next(visit)
        return Asked(worker, visit.kind, tuple(visit.asked))

    def _next(self, visit: _Visit) -> None:
        """Sample a preliminary worker; give any other her real tasks."""
        mask: BoolArray | None = None
        if visit.available is not None:
            mask = np.isin(np.arange(len(self.tasks)), visit.available)
        worker: dict[str, Any] = {
            "skill": np.array(visit.skill),
            "capacity": visit.capacity,
            "cost": None if visit.cost is None else np.array(visit.cost),
            "available": mask,
        }
        visit.kind, visit.asked = "nothing", []
        if self._assigner.sampling:
            self._assigner.sample(**worker)
            return
        chosen = self._assigner.assign(**worker)
        if len(chosen):
            visit.kind, visit.asked = "task", self.tasks.index[chosen].to_list()

    def _judge(self, labels: dict[str, str]) -> FloatArray:
        """Share of right gold answers by type; ½ where there are none."""
        answered = self.gold.loc[list(labels)]
        right = answered["label"].to_numpy() == np.array(list(labels.values()), dtype=object)
        kind = answered["task_type"].map({k: c for c, k in enumerate(self.types)})
        known = kind.notna().to_numpy()
        codes = kind[known].to_numpy(np.int64)
        given = np.bincount(codes, minlength=len(self.types))
        correct = np.bincount(codes[right[known]], minlength=len(self.types))
        return estimate_skills(correct[:, None], given[:, None]).skill[:, 0]

    @property
    def sampling(self) -> bool:
        """Whether workers are still being sampled."""
        return self._assigner.sampling

    def labels(self) -> pd.DataFrame:
        """Labels on real tasks so far, a long table `task, worker, label`."""
        rows = [
            (task, worker, label)
            for worker, visit in self._visits.items()
            for task, label in visit.answers.items()
        ]
        return pd.DataFrame(rows, columns=["task", "worker", "label"])

    def result(self, *, seed: Seed) -> pd.DataFrame:
        """Label of every task by weighted vote with 2p̂ − 1 (Section 4.1).

        Returns
        -------
        DataFrame
            `task, label, score, tied, votes, covered`: the vote's margin, whether it was a tie
            (then the label is a fair draw), the number of labels, and the quality they gather.
        """
        table = self.labels()
        votes = Votes.of(
            table, tasks=self.tasks.index, workers=list(self._visits), classes=self.classes
        )
        skill = np.array(
            [visit.skill or [0.5] * len(self.types) for visit in self._visits.values()]
        ).reshape(len(self._visits), len(self.types))
        kind = self._assigner.task_class[votes.task]
        weights = 2.0 * skill[votes.worker, kind] - 1.0
        outcome = weighted_majority(votes, weights, seed=seed)
        count = np.bincount(votes.task, minlength=len(self.tasks))
        covered = np.bincount(votes.task, weights**2, minlength=len(self.tasks))
        return outcome.table(votes).assign(votes=count, covered=covered)

    def save(self, path: str | Path) -> None:
        """Write the session to a JSON file, whole or not at all."""
        target = Path(path)
        part = target.with_name(target.name + ".part")
        part.write_text(json.dumps(self.state(), allow_nan=False))
        part.replace(target)

    @classmethod
    def load(cls, path: str | Path) -> AssignmentSession:
        """Read a saved session; it goes on exactly where it was."""
        try:
            state = json.loads(Path(path).read_text())
        except FileNotFoundError:
            raise InputError(f"{path}: no such file; save a session there first") from None
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise InputError(f"{path}: not a saved session; its JSON cannot be read") from None
        return cls.from_state(state)

    def state(self) -> dict[str, Any]:
        """Everything needed to go on later, in plain types for JSON."""
        return {
            "version": VERSION,
            "tasks": self.tasks.to_dict(),
            "gold": {task: [row["label"], row["task_type"]] for task, row in self.gold.iterrows()},
            "gold_per_type": self.gold_per_type,
            "settings": asdict(self.settings),
            "assigner": self._assigner.state(),
            "visits": {worker: asdict(visit) for worker, visit in self._visits.items()},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> AssignmentSession:
        """Take up a saved `state`."""
        if not isinstance(state, dict) or state.get("version") != VERSION:
            raise InputError(f"not a saved session of version {VERSION}: start a new one")
        gold = pd.DataFrame.from_dict(state["gold"], orient="index", columns=["label", "task_type"])
        tasks = pd.Series(state["tasks"])
        session = cls(
            tasks, gold, gold_per_type=state["gold_per_type"], seed=0, **state["settings"]
        )
        session._assigner.restore(state["assigner"])
        session._visits = {worker: _Visit(**visit) for worker, visit in state["visits"].items()}
        return session


def _named(name: str, series: pd.Series[Any]) -> pd.Series[Any]:
    """A Series with text index and values, not empty, no task twice."""
    if not len(series):
        raise InputError(f"{name} is empty: give the type of each task")
    result = pd.Series([str(v) for v in series], index=[str(task) for task in series.index])
    twice = result.index[result.index.duplicated()]
    if len(twice):
        raise InputError(f"{name} has task {twice[0]!r} twice: keep one")
    return result
