"""Labels collected from people or models by name: ask, tell, stop when it is enough.

    collector = Collector(["t1", "t2"], ["ann", "bob"], classes=["cat", "dog"], epsilon=0.05,
                          path="labels.sqlite")
    asked = collector.next("ann")                       # Question(task, worker, gold), …
    collector.tell("ann", {"t1": "cat", "t2": None})    # None: this label will not come
    collector = Collector.open("labels.sqlite")         # go on tomorrow
    collector.answers()                                 # task, label, confidence, closed

Labels may come in any order, any number of questions may be open, and a label that was given up may
still come: it is then paid for. A label told twice, alike, counts once, so that a step that was cut
off can simply be tried again.

With a path every step is an event in a journal before anything is given back, and several programs
may collect into it at the same time; without one the events are in memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np
import pandas as pd

from workbench.base import checks
from workbench.base.arrays import IntArray
from workbench.base.errors import InputError
from workbench.base.journal import Journal
from workbench.base.journal_events import Event, JournalEntry, Position
from workbench.base.journal_view import MEND, JournalTransaction
from workbench.base.state import (
    Id,
    Label,
    check,
    encoded,
    find,
    identifier,
    name_places,
)
from workbench.collection import POLICIES
from workbench.collection.events import (
    JOURNAL,
    Arrived,
    Asked,
    Audited,
    AuditPlanned,
    Changed,
    Forgotten,
    GivenUp,
    Halt,
    Halted,
    Joined,
    Left,
    OnRecord,
    Opened,
    RefitBegun,
    RefitTaken,
    Reworded,
    TakenBack,
    Told,
    Undone,
)
from workbench.collection.history import Names, history_table
from workbench.collection.log import MAKER, EventLog, MemoryLog, replayed
from workbench.collection.policy import Belief, Policy, answer_table, left_open, notes_of
from workbench.collection.pool import HIGHEST_PRICE, Ledger, Questions
from workbench.collection.refits import Refit
from workbench.collection.running import Running
from workbench.collection.setup import (
    ClosingRules,
    Hand,
    Listed,
    People,
    PerTask,
    PerWorker,
    Setup,
    Triple,
    changed_terms,
    check_goal,
    labels_of,
    read_setup,
    read_tasks,
    record_of,
    usual_policy,
)
from workbench.crowd.libraries import Frame, keyed, to_pandas

EVERY = 1000
"""Events after which a snapshot is kept."""


class Question(NamedTuple):
    """A label that is wanted: of a task, or of a gold task by which the worker is judged."""

    task: Id
    worker: Id
    gold: bool


class Collector:
    """Asks whom a policy says, until all is closed that can be, or the money is spent.

    A frame may be of pandas, polars (lazy too), pyarrow or any library that narwhals knows. In
    place of a Series by task or worker a frame will do, its names in a column `task` or `worker`.

    Parameters
    ----------
    tasks
        Names; a Series (or mapping) of the type of each; or a frame with columns `task`,
        `task_type`, `easiness` and `context`, each but the first where tasks have one. Where types
        are a pandas category, tasks of any of its types may arrive later. Easiness is d, above 0
        and at most 1: a worker of skill p is right with probability ½ + d (p − ½). Context is a
        number in [0, 1], for a policy that learns by it.
    workers
        Names; or how many may come, who are named as they arrive.
    gold
        Tasks whose class is known, to judge workers by: a Series or mapping of labels, or a frame
        by task with columns `label` and `task_type`, and `easiness` where they have one. None where
        there are none.
    hidden
        True label of some of the tasks, by task: they are asked about like all others, and tell how
        far beliefs may be trusted, so that others are closed when they should. Two or more.
    classes
        Names, or a mapping of their prior shares; those of the gold when None.
    epsilon
        ε, the error that each task may have.
    total
        In place of ε, or beside it: what all labels may cost, gold labels included.
    people
        What is known of the workers: prices, capacities, skills, who errs together, labels on
        record.
    closing
        When a task is closed, beside ε.
    policy
        Name of a policy of `POLICIES`; or its name and its options, as `("fixed", {"k": 3})`.
        [default: until-trusted; where everybody's skill is known, and no model says how sure it is,
        until-sure, which takes skills as they are]
    seed
        Of its draws; a whole number, which can be saved.
    path
        A journal to begin, in which everything is kept; in memory when None.

    Raises
    ------
    InputError
        A name twice or that is neither text nor whole number, fewer than two classes, neither ε nor
        a total, or a number out of range.

    Examples
    --------
    >>> import workbench as wb
    >>> collector = wb.Collector(["a", "b"], 3, classes=["no", "yes"], total=4, policy="fixed")
    >>> asked = collector.next("ann", 2)
    >>> sorted(question.task for question in asked)
    ['a', 'b']
    >>> collector.tell("ann", {"a": "yes", "b": "no"})
    >>> collector.cost, collector.next("ann")
    (2.0, [])
    """

    tasks: dict[Id, int]
    gold: dict[Id, int]
    workers: dict[Id, int]
    classes: dict[Label, int]
    """Place of each name."""
    _log: Journal[Event] | MemoryLog
    _running: Running | None
    _position: Position | None
    origin: str = "python"
    """Where what happens comes from, as the history has it: python, command, page."""
    _kept: int = 0
    _apart: bool = False

    def __init__(
        self,
        tasks: Listed | PerTask,
        workers: Listed | Frame | int,
        *,
        gold: PerTask | None = None,
        hidden: PerTask | None = None,
        classes: Listed | Mapping[Any, float] | None = None,
        epsilon: float | None = None,
        total: float | None = None,
        people: People | None = None,
        closing: ClosingRules | None = None,
        policy: str | tuple[str, Mapping[str, Any]] | None = None,
        seed: int = 0,
        path: str | Path | None = None,
    ) -> None:
        name, options = _named_options(policy)
        if name is None or not POLICIES[name].call.streams:
            check_goal(epsilon, total)
        rules = (closing or ClosingRules()).checked()
        named = read_setup(
            tasks,
            workers,
            gold=gold,
            hidden=hidden,
            classes=classes,
            people=people or People(),
            epsilon=None if epsilon is None else float(epsilon),
            mean=rules.mean,
            total=None if total is None else float(total),
            least=rules.least,
            most=rules.most,
            policy=name or "",
            options=msgspec.to_builtins(dict(options)),
            seed=checks.count("seed", seed),
        )
        stated = named.setup
        if name is None:
            stated = msgspec.structs.replace(stated, policy=usual_policy(stated.hands))
        setup = msgspec.json.decode(encoded(stated), type=Setup)  # what can be saved, as saved
        keys = MemoryLog()
        opened = Opened(
            setup,
            tuple(keys.withhold(name) for name in named.workers),
            named.record,
            named.gold_record,
        )
        Running(opened)  # what the policy refuses is refused before a file is begun
        self._begin(opened, named.workers, path)

    def _begin(self, opened: Opened, workers: Iterable[Id], path: str | Path | None) -> None:
        """Write the first event, to a journal or in memory."""
        self._running, self._position = None, None

        def beginning(turn: JournalTransaction[Event] | MemoryLog) -> list[Event]:
            keys = tuple(turn.withhold(name) for name in workers)
            return [msgspec.structs.replace(opened, names=keys)]

        if path is None:
            self._log = MemoryLog()
            self._log.append(beginning(self._log), who="owner", origin=self.origin)
        else:
            self._log = Journal.create(path, JOURNAL, beginning, who="owner", origin=self.origin)
        self._catch_up_now()

    @classmethod
    def open(cls, path: str | Path, *, origin: str = "python", refits_apart: bool = False) -> Self:
        """Go on with a collection that is kept in a journal.

        Parameters
        ----------
        path
            As given to the constructor.
        origin
            Where what happens now comes from: command, page, …
        refits_apart
            Whether whoever calls takes care of fits of what the policy believes, so that nobody
            waits for them: see `refit_begun`.

        Raises
        ------
        InputError
            There is no such journal, or it is damaged.
        """
        collector = cls.__new__(cls)
        collector.origin, collector._running, collector._position = origin, None, None
        collector._log = Journal.open(path, JOURNAL)
        collector._apart = refits_apart
        collector._catch_up_now()
        return collector

    def close(self) -> None:
        """Close the journal; nothing more can be asked or told."""
        self._log.close()

    # ---- events: one turn after another ----

    @contextlib.contextmanager
    def _turn(self) -> Iterator[_Turn]:
        """Hold the log alone, be as far as it is, and append what happens in the block.

        On an error nothing is appended. Where something had been applied by then, the collection is
        read anew before the next turn.
        """
        with self._log.transaction() as transaction:
            self._catch_up(transaction)
            assert self._running is not None
            turn = _Turn(self._running, transaction)
            try:
                yield turn
                if self._apart and turn.applied and turn.running.refit_is_due():
                    ledger, turn.who = turn.running.ledger, "owner"
                    turn.apply(RefitBegun(len(ledger.labels) + len(ledger.gold_labels)))
                for who, event in turn.events:
                    transaction.append([event], who=who, origin=self.origin)
                if turn.applied:  # after an undo what runs is not what the events say
                    self._keep_snapshot(transaction)
            except BaseException:
                if turn.applied:
                    self._running = self._position = None
                raise
        if turn.events:
            self._position = transaction.end

    def _keep_snapshot(self, transaction: JournalTransaction[Event] | MemoryLog) -> None:
        """Keep a snapshot now and then, but not while a fit is begun, which it does not hold."""
        running, end = self._running, transaction.end.number
        assert running is not None
        if transaction.path is not None and end // EVERY > self._kept and running.refit is None:
            transaction.keep(MAKER, msgspec.msgpack.encode(running.opened()))
            self._kept = end // EVERY

    def _catch_up_now(self) -> None:
        with self._log.view() as view:
            self._catch_up(view)

    def _catch_up(self, view: EventLog) -> None:
        """Apply what others have done since the last turn."""
        if self._running is not None and self._position == view.end:
            return
        entries: Iterable[JournalEntry[Event]] = ()
        if self._running is not None:
            entries = list(view.since(self._position))
            if any(isinstance(entry.event, Undone) for entry in entries):
                self._running = None
        if self._running is None:
            self._running = replayed(view)
        else:
            running, self._running = self._running, None  # unless all can be applied
            for entry in entries:
                running.apply(entry.event)
            self._running = running
        if self._position is None:
            self._kept = view.end.number // EVERY
        self._position = view.end
        self._name_workers(view)

    def _name_workers(self, view: EventLog) -> None:
        assert self._running is not None
        names = [view.reveal(key) for key in self._running.names]
        self.workers = {}
        for place, name in enumerate(names):
            if name is None and place not in self._running.forgotten:
                raise InputError(
                    f"{self._log.path}: damaged, the name of worker {place} is missing; {MEND}"
                )
            self.workers[pseudonym(place, names) if name is None else name] = place
        setup = self._running.setup
        self.tasks = {task.name: place for place, task in enumerate(setup.tasks)}
        self.gold = {task.name: place for place, task in enumerate(setup.gold)}
        self.classes = {label: code for code, (label, _) in enumerate(setup.classes)}

    @property
    def _now(self) -> Running:
        """The collection as it stands in the log."""
        if self._running is None or self._log.path is not None:
            self._catch_up_now()
        assert self._running is not None
        return self._running

    @property
    def ledger(self) -> Ledger:
        """What was asked, answered and paid."""
        return self._now.ledger

    @property
    def policy(self) -> Policy:
        """Who decides; to look at, not to be asked."""
        return self._now.policy

    # ---- asking ----

    def next(
        self,
        worker: Id | None = None,
        most: int | None = None,
        *,
        task: Id | None = None,
        ahead: bool = False,
    ) -> list[Question]:
        """Ask for labels.

        Parameters
        ----------
        worker
            Who is here; whoever has not been here takes the place of a newcomer. What she was asked
            and has not answered comes first, and alone. None to ask anybody.
        most
            Questions at most.
        task
            Of a policy that takes tasks as they arrive: which is to be next.
        ahead
            Whether to ask a worker more while some of hers are open, up to `most` in all: a page
            shows the next question at once. Policies that take tasks as they arrive do not.

        Returns
        -------
        list of Question
            Empty: nothing for her now; of anybody, nothing more but what is waited for. Once the
            collection is halted, her open questions alone.

        Raises
        ------
        InputError
            A worker who was not named when there is no place for newcomers left, or a task that is
            not here, or not for the caller to choose.
        """
        if most is not None:
            checks.count("most", most, 1)
        name = None if worker is None else identifier("worker", worker)
        with self._turn() as turn:
            running = turn.running
            if running.halted:
                return [] if name is None else self._of(running, self.workers.get(name, -1))[:most]
            place = None if name is None else self._place(turn, name)
            waiting = [] if place is None else self._of(running, place)
            if waiting:
                room = most - len(waiting) if ahead and most is not None else 0
                if room > 0 and not running.policy.streams:
                    turn.ask(place, room, None, apart=self._apart)
                    waiting = self._of(running, place) if place is not None else waiting
                return waiting[:most]
            first = None
            if task is not None:
                first = find(self.tasks, task)
                check(first is not None, f"task {checks.show(task)} is no task here")
            turn.ask(place, most, first, apart=self._apart and place is not None)
            if place is not None and running.policy.streams:
                return self._of(running, place)[:most]
            asks = turn.asked.asks if turn.asked is not None else ()
            return self._questions((bool(gold), at, who) for gold, at, who in asks)

    @property
    def refit_begun(self) -> Refit | None:
        """A fit that the last step began, or one before: make it, and give it to `adopt`.

        Only where the collection was opened with `refits_apart`, and its policy fits.
        """
        return None if self._running is None else self._running.refit

    def adopt(self, refit: Refit) -> None:
        """Let the policy take a fit, unless it is not wanted any more."""
        refit.fitted()  # before the turn, in which everybody waits
        with self._turn() as turn:
            if turn.running.refit is refit:
                turn.who = "owner"
                turn.apply(RefitTaken(refit.labels))

    def _place(self, turn: _Turn, name: Id) -> int:
        """Place of a worker, a new one if need be."""
        place = self.workers.get(name)
        if place is None:
            place = self._join(turn, name, None)
        return place

    def _join(self, turn: _Turn, name: Id, hand: Hand | None) -> int:
        """Let somebody take the place of a newcomer."""
        hands, place = turn.running.setup.hands, len(self.workers)
        check(
            place < len(hands),
            f"worker {name!r} was not named, and no newcomer is expected: start with more",
        )
        hand = hands[place] if hand is None else hand
        turn.apply(Joined(place, turn.log.withhold(name), hand))
        self.workers[name] = place
        return place

    def join(
        self,
        worker: Id,
        capacity: int | None = None,
        *,
        costs: float | PerTask | None = None,
        prices: PerTask | None = None,
        available: Listed | None = None,
    ) -> None:
        """A worker arrives, and says what she will do; or one who left is here again.

        Parameters
        ----------
        capacity
            Labels that she will give, gold included; as was said at the start when None.
        costs
            Price of her label, one number or by task type.
        prices
            Price of her label by task, where it is not that of the type.
        available
            Tasks she may be asked about; all when None.

        Raises
        ------
        InputError
            There is no place for her, a number is out of range, or a task or type is not here.
        """
        name = identifier("worker", worker)
        with self._turn() as turn:
            setup, place = turn.running.setup, self.workers.get(name)
            at = len(self.workers) if place is None else place
            check(
                at < len(setup.hands),
                f"worker {name!r} was not named, and no newcomer is expected: start with more",
            )
            hand = changed_terms(
                name,
                setup.hands[at],
                list(setup.types),
                self.tasks,
                capacity=capacity,
                costs=costs,
                prices=prices,
                available=available,
            )
            check(
                hand.own_price is None or turn.running.policy.knows_single_tasks,
                f"prices: policy {setup.policy} knows no prices of single tasks: leave them out",
            )
            check(
                place is None or place in turn.running.away or hand != setup.hands[at],
                f"worker {name!r} is here already: let her join once",
            )
            if place is None:
                self._join(turn, name, hand)
            else:
                turn.apply(Joined(place, None, hand))

    def leave(self, worker: Id) -> None:
        """Ask a worker no more; what she was asked stays open until it is told or given up.

        Raises
        ------
        InputError
            She is not here.
        """
        name = identifier("worker", worker)
        with self._turn() as turn:
            place = self.workers.get(name)
            if place is None or place in turn.running.away:
                raise InputError(f"worker {name!r} is not here: nobody can leave twice")
            turn.apply(Left(place))

    def add(self, tasks: Listed | PerTask) -> None:
        """More tasks arrive.

        Parameters
        ----------
        tasks
            As for the constructor, of the types that there are.

        Raises
        ------
        InputError
            A task that is here already, an unknown type, or a policy that has planned ahead.
        """
        with self._turn() as turn:
            setup = turn.running.setup
            arriving, _ = read_tasks(tasks, list(setup.types))
            check(arriving, "tasks is empty: name what arrives")
            for name in name_places("tasks", (task.name for task in arriving)):
                check(
                    name not in self.tasks and name not in self.gold,
                    f"task {name!r} has been here: give each task a name of its own",
                )
            with_context = [task.context is not None for task in (*setup.tasks, *arriving)]
            check(
                all(with_context) or not any(with_context),
                "contexts: give one to each task, or to none",
            )
            check(
                (len(setup.tasks) + len(arriving)) * len(setup.hands) <= 2**30,
                "more than 2^30 pairs of a task and a worker: collect in several parts",
            )
            turn.apply(Arrived(tuple(arriving)))
            for task in arriving:
                self.tasks[task.name] = len(self.tasks)

    def waiting(self, worker: Id | None = None) -> list[Question]:
        """Questions that are open, of a worker or of all."""
        running = self._now
        if worker is not None:
            return self._of(running, self.workers.get(worker, -1))
        return [question for place in running.waiting for question in self._of(running, place)]

    def _of(self, running: Running, place: int) -> list[Question]:
        pairs = running.waiting.get(place, ())
        return self._questions((gold, task, place) for gold, task in pairs)

    def _questions(self, rows: Iterable[tuple[bool, int, int]]) -> list[Question]:
        tasks, gold, workers = list(self.tasks), list(self.gold), list(self.workers)
        return [
            Question((gold if is_gold else tasks)[task], workers[worker], bool(is_gold))
            for is_gold, task, worker in rows
        ]

    def outlook(self, most: int) -> list[tuple[Id, bool]]:
        """Say about which tasks would be asked next, of anybody, if nobody answered meanwhile.

        Nothing is asked: it is for programs that show tasks to whoever is there. Whoever may still
        come is taken to be here.

        Parameters
        ----------
        most
            Questions at most.

        Returns
        -------
        Task, and whether it is a gold task, of each question, in the policy's order; empty where
        nothing more would be asked.

        Raises
        ------
        InputError
            The policy takes workers, or tasks, as they arrive.
        """
        now, asks = self._now, list[Triple]()
        check(
            not now.policy.streams,
            f"policy {now.setup.policy} takes tasks as they arrive, each with its workers: where "
            "workers choose, take until-trusted",
        )
        if now.halted:
            return []
        opened = now.opened()
        coming = [f"coming {place}" for place in range(len(opened.names), len(now.setup.hands))]
        copy = Running(msgspec.structs.replace(opened, names=(*opened.names, *coming)))
        while len(asks) < most:
            event = copy.ask(None, most - len(asks), None)
            if event is None or not event.asks:
                break
            asks += event.asks
        names = list(self.tasks), list(self.gold)
        return [(names[gold][task], bool(gold)) for gold, task, _ in asks]

    # ---- hearing ----

    def tell(self, worker: Id, labels: PerTask) -> None:
        """Take labels of a worker: by task, None for one that will not come.

        Raises
        ------
        InputError
            A task she was not asked about, an unknown class, a second label other than the first,
            or a late label for which there is no money left. Nothing is taken then.
        """
        self.tell_all({worker: labels})

    def tell_all(self, labels: Mapping[Id, PerTask]) -> None:
        """Take labels of several workers, all or none: by worker, as for `tell`.

        Raises
        ------
        InputError
            As for `tell`, for any of them. Nothing is taken then.
        """
        self._hear(labels, unasked=False)

    def volunteered(self, labels: Mapping[Id, PerTask]) -> None:
        """Take labels of workers who choose tasks themselves: by worker, as for `tell_all`.

        They are paid, whether they were asked for or not, and count beyond a worker's capacity.

        Raises
        ------
        InputError
            As for `tell_all`, but that nobody need have been asked; or the policy wants labels of
            those alone whom it asked.
        """
        self._hear(labels, unasked=True)

    def _hear(self, labels: Mapping[Id, PerTask], *, unasked: bool) -> None:
        told_by = {worker: keyed(by_task, "task") for worker, by_task in labels.items()}
        with self._turn() as turn:
            check(
                not unasked or not turn.running.policy.streams,
                f"policy {turn.running.setup.policy} wants labels of those alone whom it asked",
            )
            for worker, by_task in told_by.items():
                name = identifier("worker", worker)
                place = self.workers.get(name)
                if place is None:
                    raise InputError(f"worker {name!r} was asked nothing: call next first")
                if not isinstance(by_task, (Mapping, pd.Series)):
                    raise InputError(
                        f"labels of worker {name!r} are no mapping: give a label by task"
                    )
                triples, given_up = self._sorted(
                    turn.running, name, place, by_task, unasked=unasked
                )
                self._check_late(turn.running, place, triples, given_up, unasked=unasked)
                turn.who = f"worker {place}"
                if given_up:
                    turn.apply(GivenUp(place, tuple(given_up)))
                if triples:
                    turn.apply(Told(place, tuple(triples)))

    def _sorted(
        self,
        running: Running,
        name: Id,
        place: int,
        labels: Mapping[Any, Any] | pd.Series[Any],
        *,
        unasked: bool,
    ) -> tuple[list[tuple[int, int, int]], list[tuple[int, int]]]:
        """Labels that came, and pairs of which none will come; those told before are left out."""
        waiting = running.waiting.get(place, {})
        triples: list[tuple[int, int, int]] = []
        given_up: list[tuple[int, int]] = []
        pairs: set[tuple[bool, int]] = set()
        for task, label in labels.items():
            gold = find(self.tasks, task) is None
            at = find(self.gold if gold else self.tasks, task)
            code = self._code(task, label)
            if at is not None and (gold, at) in pairs:
                raise InputError(f"worker {name!r} labels task {checks.show(task)} twice")
            if at is not None and (gold, at) in waiting:
                if code is None:
                    given_up.append((int(gold), at))
                else:
                    triples.append((int(gold), at, code))
            elif at is not None and code is not None and (int(gold), at, place) in running.missed:
                triples.append((int(gold), at, code))
            else:
                before = None if at is None else self._before(running.ledger, gold, at, place)
                if unasked and at is not None and before is None and code is not None:
                    triples.append((int(gold), at, code))
                    pairs.add((gold, at))
                    continue
                check(before is not None, f"worker {name!r} was not asked task {checks.show(task)}")
                check(
                    code is None or before == code,
                    f"worker {name!r} labels task {checks.show(task)} again, and otherwise",
                )
                continue
            pairs.add((gold, at))
        return triples, given_up

    def _check_late(
        self,
        running: Running,
        place: int,
        triples: list[tuple[int, int, int]],
        given_up: list[tuple[int, int]],
        *,
        unasked: bool,
    ) -> None:
        """Check that labels which come late or unasked can be paid; late ones, that she has them.

        Raises
        ------
        InputError
            The money does not reach, or she has given as many as she can.
        """
        waiting, ledger = running.waiting.get(place, {}), running.ledger
        late = [(gold, task) for gold, task, _ in triples if (bool(gold), task) not in waiting]
        if not late:
            return
        cost, back = (
            sum(
                float(ledger.prices(Questions(*_pair(task, place), bool(gold)))[0])
                for gold, task in rows
            )
            for rows in (late, given_up)
        )
        left = ledger.money + back
        check(cost <= left + 1e-6, f"{len(late)} labels cost {cost:g}, and {left:g} is left")
        room = int(ledger.left[place]) + running.away.get(place, 0) + len(given_up)
        check(unasked or len(late) <= room, "a worker is asked for more labels than she can give")

    def _code(self, task: Any, label: Any) -> int | None:
        """Index of a class; None for a label that will not come."""
        if label is None or (isinstance(label, float) and np.isnan(label)):
            return None
        code: int | None = find(self.classes, label)
        if code is None:
            raise InputError(
                f"label {checks.show(label)} of task {checks.show(task)} is no class: they are "
                f"{checks.listing(list(self.classes))}"
            )
        return code

    def _before(self, ledger: Ledger, gold: bool, task: int, worker: int) -> int | None:
        """The label that a worker gave last."""
        rows = ledger.gold_labels if gold else ledger.labels
        rows = rows[(rows[:, 0] == task) & (rows[:, 1] == worker)]
        return int(rows[-1, 2]) if len(rows) else None

    def record(self, labels: Frame) -> None:
        """Take labels that came from elsewhere: they count, cost nothing and are not asked again.

        Parameters
        ----------
        labels
            Columns `task, worker, label`; of workers who are named here.

        Raises
        ------
        InputError
            A worker or a class that is not here, a label that differs from one that is here, or a
            policy that cannot use labels from elsewhere.
        """
        labels = to_pandas(labels)
        with self._turn() as turn:
            running = turn.running
            have = labels_of(labels, [*self.tasks, *self.gold])
            for worker in dict.fromkeys(have["worker"]):
                check(
                    find(self.workers, worker) is not None,
                    f"have: worker {checks.show(worker)} is not here: let her join first",
                )
            rows = [
                record_of(have, places, self.workers, list(self.classes))
                for places in (self.tasks, self.gold)
            ]
            fresh: list[tuple[tuple[int, int, int], ...]] = []
            for gold, triples in enumerate(rows):
                for task, worker, code in triples:
                    before = self._before(running.ledger, bool(gold), task, worker)
                    waits = (bool(gold), task) in running.waiting.get(worker, {})
                    check(
                        before in (None, code) and not waits,
                        f"have: task {list(self.gold if gold else self.tasks)[task]!r} of worker "
                        f"{list(self.workers)[worker]!r} is here already, or asked: tell it",
                    )
                fresh.append(
                    tuple(
                        row
                        for row in triples
                        if self._before(running.ledger, bool(gold), row[0], row[1]) is None
                    )
                )
            if any(fresh):
                turn.apply(OnRecord(*fresh))

    def take_back(self, worker: Id, tasks: Listed) -> None:
        """Let labels of a worker not count any more; she may give others, at no further cost.

        Raises
        ------
        InputError
            She gave no label of such a task, or the policy has learnt from it for good.
        """
        name = identifier("worker", worker)
        tasks = to_pandas(tasks)
        with self._turn() as turn:
            place, pairs = self.workers.get(name), []
            for task in dict.fromkeys(tasks):
                gold = find(self.tasks, task) is None
                at = find(self.gold if gold else self.tasks, task)
                label = None
                if at is not None and place is not None:
                    label = self._before(turn.running.ledger, gold, at, place)
                check(label is not None, f"worker {name!r} gave no label of {checks.show(task)}")
                pairs.append((int(gold), int(at)))
            if pairs:
                assert place is not None
                turn.apply(TakenBack(place, tuple(pairs)))

    def change(
        self,
        *,
        epsilon: float | None = None,
        mean: bool | None = None,
        total: float | None = None,
        least: int | None = None,
        most: int | None = None,
        costs: PerWorker | None = None,
    ) -> None:
        """Change the goal, the budget, the limits or prices from now on; the rest stays.

        Parameters
        ----------
        epsilon, mean, total, least, most
            As for the constructor; None stays as it is.
        costs
            New price of a label by worker; of those left out it stays.

        Raises
        ------
        InputError
            A number out of range, a worker who is not here, or a policy that has planned ahead.
        """
        by_worker = keyed(costs, "worker")
        with self._turn() as turn:
            setup = turn.running.setup
            check_goal(
                setup.epsilon if epsilon is None else epsilon,
                setup.total if total is None else total,
            )
            prices = [hand.price for hand in setup.hands]
            for worker, price in {} if by_worker is None else by_worker.items():
                place = find(self.workers, worker)
                check(place is not None, f"costs names {checks.show(worker)}, no worker here")
                value = checks.number(f"cost of worker {worker!r}", price, 0, HIGHEST_PRICE)
                prices[place] = (value,) * len(setup.types)
            fewest = setup.least if least is None else checks.count("least", least)
            largest = setup.most if most is None else checks.count("most", most, max(fewest, 1))
            turn.apply(
                Changed(
                    setup.epsilon if epsilon is None else float(epsilon),
                    setup.mean if mean is None else bool(mean),
                    setup.total if total is None else float(total),
                    fewest,
                    largest,
                    tuple(prices),
                )
            )

    def halt(self, state: Halt = "paused") -> None:
        """Ask nothing new from now on: "paused" for a while, "closed" for good, "" to ask again.

        Labels that were asked for may still come, and are paid.
        """
        with self._turn() as turn:
            if turn.running.halted != state:
                turn.apply(Halted(state))

    @property
    def halted(self) -> Halt:
        """Whether, and how, nothing new is asked."""
        return self._now.halted

    def asks_more(self) -> bool:
        """Say whether anybody who is here would be asked something now, or is asked already.

        Nobody is while the collection is halted. Of those who may still come: `asks_newcomers`.
        """
        with self._log.view() as view:
            running = replayed(view)
        if running.halted:
            return False
        return bool(running.waiting) or asks(running, None)

    def asks_newcomers(self) -> bool:
        """Say whether somebody would be asked something now who has not been here yet.

        Nobody is while the collection is halted, or where no place for a newcomer is left.
        """
        with self._log.view() as view:
            running = replayed(view)
        place, hands = len(running.names), running.setup.hands
        if running.halted or place == len(hands):
            return False
        running.apply(Joined(place, "", hands[place]))
        return asks(running, place)

    def note_audit(self, *events: AuditPlanned | Audited) -> None:
        """Keep what is planned of audits of the answers, and where each stands.

        What another program kept before stays: a plan, an audit's end, and an audit's later checks.
        """
        with self._turn() as turn:
            for event in events:
                if isinstance(event, AuditPlanned):
                    if turn.running.plan is None:
                        turn.apply(event)
                    continue
                before = turn.running.audits.get(event.number)
                ended = before is not None and before.stage != "under way"
                if event != before and not ended and (not before or event.checks >= before.checks):
                    turn.apply(event)

    @property
    def path(self) -> Path | None:
        """The journal that keeps it; None in memory."""
        return None if self._log.path is None else Path(self._log.path)

    @property
    def goal(self) -> float | None:
        """ε, the error that each task may have, as it is asked now."""
        return self._now.setup.epsilon

    @property
    def audit_plan(self) -> AuditPlanned | None:
        """What is promised of the answers; None where nothing is."""
        return self._now.plan

    @property
    def audits(self) -> list[Audited]:
        """Where each audit of the answers stands, in their order."""
        return list(self._now.audits.values())

    @property
    def keys(self) -> dict[str, Id]:
        """Name, or pseudonym, of each worker by the key that stands for her in the journal."""
        return dict(zip(self._now.names, self.workers, strict=True))

    def reworded(self, tasks: Listed) -> None:
        """Note in the history that what people are shown of tasks was corrected.

        Raises
        ------
        InputError
            A task that is not here.
        """
        pairs: list[tuple[int, int]] = []
        for task in to_pandas(tasks):
            gold = find(self.tasks, task) is None
            at = find(self.gold if gold else self.tasks, task)
            check(at is not None, f"task {checks.show(task)} is no task here")
            pairs.append((int(gold), int(at)))
        if pairs:
            with self._turn() as turn:
                turn.apply(Reworded(tuple(pairs)))

    def forget(self, worker: Id) -> None:
        """Delete a worker's name: she leaves, and her labels stay under a pseudonym.

        The name goes from the journal for good, beyond `undo`; copies made before still have it.

        Raises
        ------
        InputError
            She is not here.
        """
        name = identifier("worker", worker)
        with self._turn() as turn:
            place = self.workers.get(name)
            if place is None or turn.log.reveal(turn.running.names[place]) is None:
                raise InputError(f"worker {name!r} is not here: there is no name to delete")
            waiting = turn.running.waiting.get(place, {})
            if waiting:
                turn.apply(GivenUp(place, tuple((int(gold), task) for gold, task in waiting)))
            if place not in turn.running.away:
                turn.apply(Left(place))
            turn.apply(Forgotten(place))
            turn.log.forget(turn.running.names[place])
        with self._log.view() as view:
            self._name_workers(view)

    # ---- what was, and taking it back ----

    def history(self, most: int | None = None) -> pd.DataFrame:
        """What happened, one row an event: `number, time, who, origin, event, details, undone`.

        `who` is the owner or a worker's name; `details` say in words what the event holds.

        Parameters
        ----------
        most
            Only so many, the latest; all when None.
        """
        with self._log.view() as view:
            self._catch_up(view)
            return history_table(view, self._names(), most)

    def _names(self) -> Names:
        return Names(list(self.tasks), list(self.gold), list(self.workers), list(self.classes))

    def undo(self, events: int = 1) -> int:
        """Take back the last so many events, as if they had never been; they stay in the history.

        Fits of what the policy believes do not count, and go with what they came after.

        Returns
        -------
        Number of the first event that was taken back.

        Raises
        ------
        InputError
            There are fewer; that the collection was begun cannot be taken back.
        """
        many = checks.count("events", events, 1)
        with self._turn() as turn:
            numbers, audits, last = list[int](), set[int](), 0
            for entry in turn.log.since(None):
                if isinstance(entry.event, Undone):
                    first = entry.event.first
                    numbers = [number for number in numbers if number < first]
                elif not isinstance(entry.event, Opened):
                    last = entry.position.number
                    if not isinstance(entry.event, RefitBegun | RefitTaken):
                        numbers.append(last)
                    if isinstance(entry.event, AuditPlanned | Audited):
                        audits.add(last)
            check(
                many <= len(numbers),
                f"undo {many}: only {len(numbers)} events can be taken back",
            )
            check(
                audits.isdisjoint(numbers[-many:]),
                f"undo {many}: an audit was among them, and its share of the risk is spent",
            )
            first = numbers[-many]
            turn.append_unapplied(Undone(first, last))
        self._running = self._position = None
        self._catch_up_now()
        return first

    # ---- what is known ----

    @property
    def cost(self) -> float:
        """Price of what was asked so far and not given up, gold labels included."""
        return self.ledger.spent

    def belief(self) -> Belief:
        """Posterior of each task's class, and which tasks are closed."""
        return self._now.policy.belief()

    def answers(self, at: datetime | None = None) -> pd.DataFrame:
        """Give the label of each task: `task, label, confidence, closed`.

        Confidence is the believed chance that the label is right. Classes that tie are drawn among
        fairly; a task without any label has none.

        Parameters
        ----------
        at
            As they were at this time, with its time zone; as they are now when None.
        """
        running = self._now
        if at is not None:
            with self._log.view() as view:
                running = replayed(view, at)
        names = [task.name for task in running.setup.tasks]
        return answer_table(
            running.policy.belief(),
            running.ledger.counts,
            names,
            list(self.classes),
            running.setup.seed,
        )

    def left_open(self) -> pd.DataFrame | None:
        """Give the tasks that are not closed: `task, cost`, the cheapest first.

        `cost` is the expected price of the labels that would close the task, infinite where no
        labels that can be had are expected to. None where the policy cannot say.
        """
        running = self._now
        return left_open(running.policy, [task.name for task in running.setup.tasks])

    def labels(self) -> pd.DataFrame:
        """Labels so far in order of arrival, a long table `task, worker, label`; gold apart.

        Where a policy asks a worker about a task again, each of her labels is a row.
        """
        return self._table(self._now.ledger.labels, list(self.tasks))

    def gold_labels(self) -> pd.DataFrame:
        """Labels of gold tasks so far, as `labels`."""
        return self._table(self._now.ledger.gold_labels, list(self.gold))

    def _table(self, rows: IntArray, tasks: list[Id]) -> pd.DataFrame:
        workers, classes = list(self.workers), list(self.classes)
        named = [(tasks[i], workers[j], classes[c]) for i, j, c in rows.tolist()]
        return pd.DataFrame(named, columns=["task", "worker", "label"])

    def status(self) -> dict[str, Any]:
        """Say how far it is: labels, their cost, believed error, closed tasks, open questions.

        Labels on record at the start, `on_record`, are among the labels, and not in the cost.
        `notes` warn of workers who may be worse than chance, or copy others. `audited` is what an
        expert's checks have come to, None where there are none: `error`, `risk` and `price` as
        planned, `number` and `stage` of the last audit, `file` that keeps it, `checks` and `errors`
        of all audits, and `bound`, the share of the answers that may be wrong still.
        """
        running = self._now
        belief, ledger = running.policy.belief(), running.ledger
        return {
            "labels": len(ledger.labels),
            "gold_labels": len(ledger.gold_labels),
            "cost": ledger.spent,
            "believed_error": float(belief.error.mean()) if len(belief.closed) else 0.0,
            "closed": int(belief.closed.sum()),
            "tasks": len(self.tasks),
            "on_record": sum(ledger.recorded),
            "waiting": sum(map(len, running.waiting.values())),
            "policy": running.setup.policy,
            "halted": running.halted,
            "audited": self._audited(running),
            "notes": notes_of(running.policy),
        }

    def _audited(self, running: Running) -> dict[str, Any] | None:
        plan, audits = running.plan, list(running.audits.values())
        if plan is None or not audits:
            return None
        last = audits[-1]
        return {
            "error": plan.error,
            "risk": plan.risk,
            "price": plan.price,
            "number": last.number + 1,
            "stage": last.stage,
            "file": last.file,
            "checks": sum(audit.checks for audit in audits),
            "errors": sum(audit.errors for audit in audits),
            "bound": last.bound / len(self.tasks),
        }


def _named_options(policy: Any) -> tuple[str | None, Mapping[str, Any]]:
    """A policy's name and its options."""
    if policy is None or isinstance(policy, str):
        return policy, {}
    pair = isinstance(policy, Sequence) and len(policy) == 2 and isinstance(policy[0], str)
    check(
        pair and isinstance(policy[1], Mapping),
        f"policy is {checks.show(policy)}: give its name, or its name and its options",
    )
    return policy[0], policy[1]


class _Turn:
    """What happens while a collector holds the log alone, and by whom."""

    def __init__(self, running: Running, log: JournalTransaction[Event] | MemoryLog) -> None:
        self.running, self.log, self.who = running, log, "owner"
        self.events: list[tuple[str, Event]] = []
        self.asked: Asked | None = None
        self.applied = False

    def apply(self, event: Event) -> None:
        """Let something happen."""
        self.applied = True
        self.running.apply(event)
        self.events.append((self.who, event))

    def append_unapplied(self, event: Event) -> None:
        """Note what is only seen when the log is read anew."""
        self.events.append((self.who, event))

    def ask(self, worker: int | None, most: int | None, first: int | None, *, apart: bool) -> None:
        """Let the policy ask; see `Running.ask`."""
        self.applied = True
        self.asked = self.running.ask(worker, most, first, apart=apart)
        if self.asked is not None:
            self.events.append((self.who, self.asked))


def asks(running: Running, worker: int | None) -> bool:
    """Whether a worker would be asked something now; anybody who is here where it is None."""
    asked = running.ask(worker, None, None)
    return asked is not None and bool(asked.asks)


def pseudonym(place: int, names: Sequence[Id | None]) -> str:
    """Name of a worker whose own is no more, which nobody else has."""
    name = f"forgotten worker {place + 1}"
    while name in names:
        name += "*"
    return name


def _pair(task: int, worker: int) -> tuple[IntArray, IntArray]:
    return np.array([task]), np.array([worker])
