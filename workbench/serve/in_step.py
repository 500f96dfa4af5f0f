"""A collection and a project of Label Studio, kept in step.

What annotators did there is entered here: a label that is new, changed or deleted there is taken,
changed or taken back here, whoever sent word of it. The project's queue holds the tasks that the
policy would ask about next, each with as many annotators as it wants; a closed task is not in it.

Annotators there choose who does which of the tasks they are offered: the policy chooses tasks, not
people. Names go into the journal alone; what is kept beside it is which user there is which worker
here, by her key.
"""

from __future__ import annotations

import contextlib
import json
import queue
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.base.errors import InputError
from workbench.base.state import Id
from workbench.collection.collector import Collector
from workbench.collection.desk import Desk
from workbench.collection.pool import FREE
from workbench.serve.beside import Beside
from workbench.serve.label_studio import (
    LabelStudio,
    StudioTask,
    address_of,
    control_of,
    label_config,
    shown_columns,
)
from workbench.serve.messages import StudioMessage
from workbench.serve.shown import ShownTasks

AHEAD = 4
"""Annotations that the queue holds for each annotator: few, for each label may change it."""
LOOK = 400
"""Questions of the policy's outlook that are looked at."""
FULL = 60.0
"""Seconds after which all is read, whether or not word came."""
AGAIN = 10.0
"""Seconds until what failed is tried again."""


class Pulled(NamedTuple):
    """What came of reading a project: how many labels are new, changed, taken back."""

    new: int = 0
    changed: int = 0
    taken_back: int = 0

    def plus(self, other: Pulled) -> Pulled:
        """Both together."""
        return Pulled(*(a + b for a, b in zip(self, other, strict=True)))


class InStep:
    """A collection and a project; in the thread that made it.

    Parameters
    ----------
    store
        A collection's journal.
    studio
        The server of Label Studio.
    project
        Number of the project; when None the one that was made for this collection, or a new one.
    say
        Is called with what cannot be taken, once each.

    Raises
    ------
    InputError
        There is no such collection or project, it cannot be reached, the project does not offer
        the classes, or the policy asks people by name.
    """

    def __init__(
        self,
        store: Path,
        studio: LabelStudio,
        project: int | None,
        say: Callable[[str], None],
    ) -> None:
        self.studio, self._say_once = studio, say
        self._said: set[str] = set()
        self.collector = Collector.open(store, origin="label studio")
        self.beside = Beside.of(store)
        try:
            Desk(self.collector).outlook(1)  # what a policy cannot do is said now
            self.names = {
                str(name): (name, gold)
                for gold, names in ((True, self.collector.gold), (False, self.collector.tasks))
                for name in names
            }
            self.classes = {str(name): name for name in self.collector.classes}
            self.project = self._project(store.stem) if project is None else project
            terms = studio.project(self.project)
            self.control = control_of(terms, self.classes)
            studio.take_over(terms)
        except BaseException:
            self.close()
            raise
        self.tasks: dict[int, StudioTask] = {}
        self._users: dict[int, str] = {}

    def close(self) -> None:
        """Close its files."""
        self.collector.close()
        self.beside.close()

    def say(self, line: str) -> None:
        """Say something once."""
        if line not in self._said:
            self._said.add(line)
            self._say_once(line)

    @property
    def address(self) -> str:
        """Address of the project's page."""
        return address_of(self.studio.url, self.project)

    def _project(self, title: str) -> int:
        """Give the project that was made for this collection, or make it."""
        rows = self.beside.rows(
            "SELECT number FROM studio_project WHERE server = ?", (self.studio.url,)
        )
        if rows:
            return int(rows[0][0])
        columns = shown_columns(ShownTasks(self.beside).all().values())
        number = self.studio.new_project(title, label_config(list(self.classes), columns))
        self.beside.put("studio_project", (self.studio.url, number))
        return number

    # ---- in ----

    def pull(self) -> Pulled:
        """Read all tasks, put in those that are missing, and take what annotators did."""
        tasks = self._read_all()
        missing = self.names.keys() - {task.name for task in tasks}
        if missing:
            self.studio.add(self.project, self._data(missing))
            tasks = self._read_all()
        removed = self.tasks.keys() - {task.number for task in tasks}
        self.tasks = {task.number: task for task in tasks}
        rows = self.beside.rows(
            "SELECT DISTINCT task FROM studio_label WHERE project = ?", (self.address,)
        )
        removed |= {number for (number,) in rows} - self.tasks.keys()
        return self._settle(tasks, removed)

    def _read_all(self) -> list[StudioTask]:
        tasks = self.studio.tasks(self.project, self.control)
        return [task for task in tasks if task.name in self.names]

    def _data(self, missing: Iterable[str]) -> list[dict[str, Any]]:
        """Data of tasks that are put in, in the collection's order; each with all columns."""
        shown = ShownTasks(self.beside)
        columns = shown_columns(shown.all().values())
        wanted = set(missing)
        return [
            {column: shown.of(name).get(column, "") for column in columns} | {"task": text}
            for text, (name, _) in self.names.items()
            if text in wanted
        ]

    def look(self, numbers: Iterable[int]) -> Pulled:
        """Read some tasks, and take what annotators did."""
        tasks, removed = [], set[int]()
        for number in set(numbers):
            task = self.studio.task(number, self.control)
            if task is None:
                self.tasks.pop(number, None)
                removed.add(number)
            elif number in self.tasks or task.name in self.names:
                self.tasks[number] = task
                tasks.append(task)
        return self._settle(tasks, removed)

    def task_of(self, annotation: int) -> int | None:
        """Task of an annotation that was read; None where none has it."""
        for task in self.tasks.values():
            if any(each.number == annotation for each in task.annotations):
                return task.number
        return None

    def _settle(self, tasks: Sequence[StudioTask], removed: Iterable[int]) -> Pulled:
        """Let the collection have the labels that these tasks have, and none of those removed."""
        present = self._present(tasks, removed)
        pulled = Pulled()
        fresh: dict[Id, dict[Id, Any]] = defaultdict(dict)
        for task in tasks:
            name, _ = self.names[task.name]
            before, now = self._taken(task.number), task.labels()
            for user in before.keys() - now.keys():
                pulled = pulled.plus(self._withdraw(user, task.number, present))
            for user, text in now.items():
                label, worker = self._label(task, text), self._worker(user)
                if label is None or worker is None:
                    continue
                there = present.get((task.name, worker))
                if there == (label,):
                    self._keep(task, user)
                    continue
                if there is not None:
                    self.collector.take_back(worker, [name])
                    pulled = pulled.plus(Pulled(changed=1))
                else:
                    pulled = pulled.plus(Pulled(new=1))
                fresh[worker][name] = label
                self._keep(
                    task, user
                )  # before it is entered: a kill between is mended the next time
        for number in removed:
            for user in self._taken(number):
                pulled = pulled.plus(self._withdraw(user, number, present))
        if fresh:
            self._tell(fresh)
        return pulled

    def _present(
        self, tasks: Sequence[StudioTask], removed: Iterable[int]
    ) -> dict[tuple[str, Id], tuple[Any]]:
        """Labels that the collection has of these tasks, by task and worker."""
        names = {task.name for task in tasks}
        for number in removed:
            names |= {str(name) for name in self._taken(number).values()}
        collector = self.collector
        workers, classes = list(collector.workers), list(collector.classes)
        present: dict[tuple[str, Id], tuple[Any]] = {}
        for rows, places in (
            (collector.ledger.labels, collector.tasks),
            (collector.ledger.gold_labels, collector.gold),
        ):
            here = {place: str(name) for name, place in places.items() if str(name) in names}
            wanted = np.isin(rows[:, 0], list(here))
            for task, worker, code in rows[wanted].tolist():
                present[here[task], workers[worker]] = (classes[code],)
        return present

    def _tell(self, labels: dict[Id, dict[Id, Any]]) -> None:
        """Take labels; those that the money does not reach count, and are not paid."""
        try:
            Desk(self.collector).volunteered(labels)
        except InputError as error:
            if " is left" not in str(error):
                raise
            self.say("the money is spent: what was annotated beyond it counts, and costs nothing")
            for worker, hers in labels.items():
                for task, label in hers.items():
                    self._tell_one(worker, task, label)

    def _tell_one(self, worker: Id, task: Id, label: Any) -> None:
        try:
            Desk(self.collector).volunteered({worker: {task: label}})
        except InputError:
            self.collector.tell(worker, self._waiting(worker, task))
            row = {"task": [task], "worker": [worker], "label": [label]}
            self.collector.record(pd.DataFrame(row))

    def _waiting(self, worker: Id, task: Id) -> dict[Id, None]:
        """Open questions of a worker about a task, given up."""
        return {each.task: None for each in self.collector.waiting(worker) if each.task == task}

    def _withdraw(
        self, user: int, number: int, present: dict[tuple[str, Id], tuple[Any]]
    ) -> Pulled:
        """Take back a label that was deleted there, and give its question up."""
        task, worker = self._taken(number)[user], self._worker(user)
        pulled = Pulled()
        if worker is not None and (str(task), worker) in present:
            self.collector.take_back(worker, [task])
            pulled = Pulled(taken_back=1)
        if worker is not None and (giving_up := self._waiting(worker, task)):
            self.collector.tell(worker, giving_up)
        self.beside.drop("studio_label", project=self.address, task=number, user=user)
        return pulled

    def _label(self, task: StudioTask, text: str) -> Any:
        label = self.classes.get(text)
        if label is None:
            self.say(f"task {task.name}: {text!r:.60} is no class here, and is left out")
        return label

    # ---- who is who ----

    def _worker(self, user: int) -> Id | None:
        """Name here of a user there, who joins where she is new; None where there is no place."""
        keys = Desk(self.collector).keys
        rows = self.beside.rows(
            "SELECT worker FROM studio_annotator WHERE server = ? AND user = ?",
            (self.studio.url, user),
        )
        if rows and rows[0][0] in keys:
            return keys[rows[0][0]]
        if user not in self._users:
            self._users = self.studio.users()
        name = self._users.get(user, f"annotator {user}")
        here = {str(worker): worker for worker in self.collector.workers}
        if name not in here:
            try:
                self.collector.join(name)
            except InputError:
                self.say(
                    f"{name} annotates and is no worker of the collection, which expects nobody "
                    "more: her labels are left out; start with more workers"
                )
                return None
            here[name] = name
        key = {worker: key for key, worker in Desk(self.collector).keys.items()}[here[name]]
        self.beside.put("studio_annotator", (self.studio.url, user, key))
        return here[name]

    # ---- what is kept beside ----

    def _taken(self, number: int) -> dict[int, Id]:
        """Users whose labels of a task were taken, and its name."""
        rows = self.beside.rows(
            "SELECT user, name FROM studio_label WHERE project = ? AND task = ?",
            (self.address, number),
        )
        return {user: json.loads(name) for user, name in rows}

    def _keep(self, task: StudioTask, user: int) -> None:
        """Note that a label was taken from there."""
        if user in self._taken(task.number):
            return
        name = json.dumps(self.names[task.name][0])
        self.beside.put("studio_label", (self.address, task.number, user, name), lightly=True)

    # ---- out ----

    def steer(self) -> int:
        """Let the project offer what the policy wants, and nothing else.

        Returns
        -------
        Annotations that the queue now holds.
        """
        wanted = self.wanted()
        for number, task in self.tasks.items():
            more = wanted.get(task.name, 0)
            if more and (task.finished or task.overlap != task.done + more):
                self.tasks[number] = self.studio.offer(task, more)
            elif not more and not task.finished:
                self.tasks[number] = self.studio.offer(task, 0)
        return sum(wanted.values())

    def wanted(self) -> dict[str, int]:
        """Say which tasks are to be in the queue, and how many annotators more each wants.

        They are the first in the policy's order, until each annotator has enough to do: what the
        policy would ask next, then whatever else is open, those in most doubt first.
        """
        still = self._open()
        more = Counter(
            str(name)
            for name, gold in Desk(self.collector).outlook(LOOK)
            if gold or str(name) in still
        )
        if not more:
            return {}
        order = [*more, *(name for name in still if name not in more)]
        did: dict[int, set[str]] = {-1: set()}  # whoever is new has done nothing
        for task in self.tasks.values():
            for each in task.annotations:
                did.setdefault(each.user, set()).add(task.name)
        idle, lacking = dict.fromkeys(did, AHEAD), AHEAD * max(len(did) - 1, 1)
        here = {task.name for task in self.tasks.values()}
        ledger, wanted = self.collector.ledger, dict[str, int]()
        room = ledger.money / max(float(ledger.pool.price.min()), FREE)
        for name in order:
            slots = int(min(more[name] or 1, room))
            if slots < 1 or (lacking <= 0 and max(idle.values()) <= 0):
                break
            able = [user for user in did if name not in did[user]]
            if name in here and (lacking > 0 or any(idle[user] > 0 for user in able)):
                wanted[name], room, lacking = slots, room - slots, lacking - slots
                for user in able:
                    idle[user] -= 1
        return wanted

    def _open(self) -> dict[str, None]:
        """Tasks that are not closed, those in most doubt first."""
        belief, ledger = self.collector.belief(), self.collector.ledger
        order = np.argsort(-belief.error, kind="stable")
        names = list(self.collector.tasks)
        open_ones = order[~(belief.closed | ledger.full)[order]]
        return dict.fromkeys(str(names[i]) for i in open_ones.tolist())


class Keeper:
    """Keeps them in step for as long as a server runs: by word that comes, and now and then by all.

    Parameters
    ----------
    make
        Makes an `InStep`, in the thread that runs this.
    """

    def __init__(self, make: Callable[[], InStep]) -> None:
        self._make = make
        self._words: queue.SimpleQueue[StudioMessage | None] = queue.SimpleQueue()
        self.step: InStep | None = None

    def begin(self) -> Pulled:
        """Make it, read all, and set the queue; in the thread that will `run`."""
        self.step = self._make()
        pulled = self.step.pull()
        self.step.steer()
        return pulled

    def hear(self, word: StudioMessage) -> None:
        """Take word, in any thread."""
        self._words.put(word)

    def stop(self) -> None:
        """Let `run` end, in any thread."""
        self._words.put(None)

    def run(self) -> None:
        """Keep them in step until stopped."""
        assert self.step is not None
        due = time.monotonic() + FULL
        try:
            while True:
                words = self._wait(max(due - time.monotonic(), 0.0))
                if None in words:
                    return
                try:
                    if self._take([word for word in words if word is not None], due):
                        due = time.monotonic() + FULL
                    self.step.steer()
                except Exception as error:  # the server goes on, and its owner sees why
                    what = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
                    with contextlib.suppress(OSError, ValueError):  # nobody may hear it
                        self.step.say(f"{what}{error}; it is tried again")
                    due = time.monotonic() + AGAIN
        finally:
            self.step.close()

    def _wait(self, seconds: float) -> list[StudioMessage | None]:
        """Wait for word, and take all that there is."""
        words: list[StudioMessage | None] = []
        try:
            words.append(self._words.get(timeout=seconds))
            while True:
                words.append(self._words.get_nowait())
        except queue.Empty:
            return words

    def _take(self, words: list[StudioMessage], due: float) -> bool:
        """Read the tasks that changed; all where it is time, or nobody knows which. Whether all."""
        assert self.step is not None
        numbers: set[int | None] = set()
        for word in words:
            for each in (word.annotation, *word.annotations):
                if each is not None:
                    numbers.add(self.step.task_of(each.id) if each.task is None else each.task)
        if time.monotonic() >= due or None in numbers:
            self.step.pull()
            return True
        self.step.look(number for number in numbers if number is not None)
        return False
