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

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pandas as pd

from workbench.base import checks
from workbench.base.errors import InputError
from workbench.base.state import (
    Id,
    check,
    encoded,
    find,
    identifier,
    name_places,
)
from workbench.collection import POLICIES
from workbench.collection.audits import AuditLog
from workbench.collection.events import (
    Arrived,
    Changed,
    Expected,
    Forgotten,
    GivenUp,
    Halt,
    Halted,
    Joined,
    Left,
    OnRecord,
    Opened,
    TakenBack,
)
from workbench.collection.hearing import hear, label_before
from workbench.collection.history import Names, history_table, taking_back, told_at
from workbench.collection.kept import KeptCollection, KeptTurn
from workbench.collection.log import MemoryLog, replayed
from workbench.collection.policy import AnyBelief, left_open, refuse_kind
from workbench.collection.pool import HIGHEST_PRICE, LARGEST
from workbench.collection.registry import default_policy
from workbench.collection.running import Running
from workbench.collection.setup import (
    ClosingRules,
    Hand,
    Listed,
    People,
    PerTask,
    PerWorker,
    Setup,
    changed_terms,
    check_goal,
    labels_of,
    read_scale,
    read_setup,
    read_tasks,
    record_of,
)
from workbench.crowd.kinds import Scale, refuse
from workbench.crowd.libraries import Frame, keyed, to_pandas

LET_COME = "let one more come (`collect change STORE --newcomers 1`, or `expect`)"
LABEL_COLUMNS = ["task", "worker", "label", "time", "gold", "hidden"]


class Question(NamedTuple):
    """A label that is wanted: of a task, or of a gold task by which the worker is judged."""

    task: Id
    worker: Id
    gold: bool


class Collector(KeptCollection):
    """Asks whom a policy says, until all is closed that can be, or the money is spent.

    A frame may be of pandas, polars (lazy too), pyarrow or any library that narwhals knows. In
    place of a Series by task or worker a frame will do, its names in a column `task` or `worker`.
    Tasks, workers, gold and hidden tasks may be paths of files too, as the command takes them.

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
        Names; those of the gold when None.
    class_share
        How frequent the classes are: a number by class, as {"yes": 0.1}; one that is not named has
        the rest. Alike when None.
    loss
        What it costs to miss a class. [default: 1 each]

        By class, as {"yes": 5}. A task is answered by the class of least expected cost, and closed
        when that is at most ε.
    scale
        The lowest and the highest rating, as (0, 100), where labels are ratings. ε is then a root
        mean square error in points, and twenty tasks or more are hidden, or gold.
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
        [default: until-trusted; of ratings "ratings"]
    seed
        Of its draws; a whole number, which can be saved.
    path
        A journal to begin, in which everything is kept; in memory when None.

    Raises
    ------
    InputError
        A name twice or that is neither text nor whole number, fewer than two classes, neither ε nor
        a total, a number out of range, or a file that cannot be read.

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

    def __init__(
        self,
        tasks: Listed | PerTask | str | Path,
        workers: Listed | Frame | int | str | Path,
        *,
        gold: PerTask | str | Path | None = None,
        hidden: PerTask | str | Path | None = None,
        classes: Listed | None = None,
        class_share: Mapping[Any, float] | None = None,
        loss: Mapping[Any, float] | None = None,
        scale: tuple[float, float] | None = None,
        epsilon: float | None = None,
        total: float | None = None,
        people: People | None = None,
        closing: ClosingRules | None = None,
        policy: str | tuple[str, Mapping[str, Any]] | None = None,
        seed: int = 0,
        path: str | Path | None = None,
    ) -> None:
        kind = read_scale(scale)
        name, options = _named_options(policy, kind)
        refuse_kind(name, POLICIES[name].call, kind)
        if not POLICIES[name].call.streams:
            check_goal(epsilon, total, scale)
        rules = (closing or ClosingRules()).checked()
        named = read_setup(
            tasks,
            workers,
            gold=gold,
            hidden=hidden,
            classes=classes,
            class_share=class_share,
            loss=loss,
            people=people or People(),
            scale=kind,
            epsilon=None if epsilon is None else float(epsilon),
            mean=rules.mean,
            total=None if total is None else float(total),
            least=rules.least,
            most=rules.most,
            policy=name,
            options=msgspec.to_builtins(dict(options)),
            seed=checks.count("seed", seed),
        )
        setup = msgspec.json.decode(encoded(named.setup), type=Setup)  # what can be saved, as saved
        keys = MemoryLog()
        opened = Opened(
            setup,
            tuple(keys.withhold(name) for name in named.workers),
            named.record,
            named.gold_record,
        )
        Running(opened)  # what the policy refuses is refused before a file is begun
        self._begin(opened, named.workers, path)

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
            return self._questions(running, ((bool(gold), at, who) for gold, at, who in asks))

    def _place(self, turn: KeptTurn, name: Id) -> int:
        """Place of a worker, a new one if need be."""
        place = self.workers.get(name)
        if place is None:
            place = self._join(turn, name, None)
        return place

    def _join(self, turn: KeptTurn, name: Id, hand: Hand | None) -> int:
        """Let somebody take the place of a newcomer."""
        hands, place = turn.running.setup.hands, len(self.workers)
        check(
            place < len(hands),
            f"worker {name!r} was not named, and no newcomer is expected: {LET_COME}",
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
                f"worker {name!r} was not named, and no newcomer is expected: {LET_COME}",
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

    def expect(self, workers: int = 1) -> None:
        """Let more workers come, who are named as they arrive.

        Each can be asked about every task, at the price that most of the others have; `join` says
        otherwise.

        Parameters
        ----------
        workers
            How many, beside those who may still come.

        Raises
        ------
        InputError
            Not a whole number above 0, too many, or a policy that has planned ahead.
        """
        many = checks.count("workers", workers, 1)
        with self._turn() as turn:
            setup = turn.running.setup
            check(
                len(setup.tasks) * (len(setup.hands) + many) <= LARGEST,
                "more than 2^30 pairs of a task and a worker: collect in several parts",
            )
            prices = [hand.price for hand in setup.hands]
            hand = Hand(None, max(prices, key=prices.count))
            turn.apply(Expected((hand,) * many))

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
                (len(setup.tasks) + len(arriving)) * len(setup.hands) <= LARGEST,
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
        return self._questions(running, ((gold, task, place) for gold, task in pairs))

    def _questions(self, running: Running, rows: Iterable[tuple[bool, int, int]]) -> list[Question]:
        setup, workers = running.setup, list(self.workers)
        return [
            Question((setup.gold if gold else setup.tasks)[task].name, workers[worker], bool(gold))
            for gold, task, worker in rows
        ]

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
        hear(self, labels, unasked=False)

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
        if self.scale is not None:
            refuse(self.scale, {"record": labels})
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
                    before = label_before(running.ledger, bool(gold), task, worker)
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
                        if label_before(running.ledger, bool(gold), row[0], row[1]) is None
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
                    label = label_before(turn.running.ledger, gold, at, place)
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
                setup.scale,
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
        running = self._now
        if running.halted:
            return False
        return bool(running.waiting) or asks(running.as_it_stands(), None)

    def asks_newcomers(self) -> bool:
        """Say whether somebody would be asked something now who has not been here yet.

        Nobody is while the collection is halted, or where no place for a newcomer is left.
        """
        running = self._now
        place, hands = len(running.names), running.setup.hands
        if running.halted or place == len(hands):
            return False
        running = running.as_it_stands()
        running.apply(Joined(place, "", hands[place]))
        return asks(running, place)

    @property
    def goal(self) -> float | None:
        """ε, the error that each task may have, as it is asked now."""
        return self._now.setup.epsilon

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
        assert self._running is not None
        named = self._running.ledger.named
        return Names(list(self.tasks), list(self.gold), list(self.workers), named)

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
            undone = taking_back(turn.log, many)
            turn.append_unapplied(undone)
        self._running = self._position = None
        self._catch_up_now()
        return undone.first

    # ---- what is known ----

    @property
    def cost(self) -> float:
        """Price of what was asked so far and not given up, gold labels included."""
        return self.ledger.spent

    def belief(self) -> AnyBelief:
        """What is believed of each task, and which tasks are closed."""
        return self._now.policy.belief()

    def answers(self, at: datetime | None = None) -> pd.DataFrame:
        """Give the label of each task: `task, label, confidence, closed`.

        Confidence is the believed chance that the label is right. Classes that tie are drawn among
        fairly; a task without any label has none. Of ratings: `task, label, error, closed`, the
        estimate and its standard deviation in points.

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
        belief, ledger = running.policy.belief(), running.ledger
        table = belief.table(ledger.counts, names, ledger.named, running.setup.seed)
        return self._on_scale(table)

    def _on_scale(self, table: pd.DataFrame) -> pd.DataFrame:
        """Let a table say the scale of its ratings, so that whoever is given it knows."""
        if self.scale is not None:
            table.attrs["scale"] = (self.scale.low, self.scale.high)
        return table

    def left_open(self) -> pd.DataFrame | None:
        """Give the tasks that are not closed: `task, cost`, the cheapest first.

        `cost` is the expected price of the labels that would close the task, infinite where no
        labels that can be had are expected to. None where the policy cannot say.
        """
        running = self._now
        return left_open(running.policy, [task.name for task in running.setup.tasks])

    def labels(self) -> pd.DataFrame:
        """Labels so far in order of arrival: `task, worker, label, time, gold, hidden`.

        `time` is when it was told, missing of labels on record. Of tasks whose class is known
        `gold` is that class; `hidden` says whether they stand among the others. Where a policy asks
        a worker about a task again, each of her labels is a row.
        """
        with self._log.view() as view:
            self._catch_up(view)
            told = told_at(view)
        running, names = self._now, self._names()
        ledger, pool = running.ledger, running.ledger.pool
        rows: list[tuple[Any, ...]] = []
        for gold, labels in enumerate((ledger.labels, ledger.gold_labels)):
            truth = pool.gold if gold else pool.hidden
            for place, (task, worker, code) in enumerate(labels.tolist()):
                came = [] if place < ledger.recorded[gold] else told.get((gold, task, worker), [])
                number, time = came.pop(0) if came else (0, None)
                known = -1 if truth is None else int(truth[task])
                rows.append(
                    (
                        number,
                        (names.gold if gold else names.tasks)[task],
                        names.workers[worker],
                        names.classes[code],
                        time,
                        names.classes[known] if known >= 0 else None,
                        known >= 0 and not gold,
                    )
                )
        rows.sort(key=lambda row: row[0])
        table = pd.DataFrame([row[1:] for row in rows], columns=LABEL_COLUMNS)
        table = table.astype({"time": "datetime64[us, UTC]", "gold": object, "hidden": bool})
        return self._on_scale(table)

    def status(self) -> dict[str, Any]:
        """Count what there is: labels, their cost, answered and closed tasks, open questions.

        What that means, and what to do next, says `standing`. `labels` and `gold_labels` were
        bought; those `on_record` cost nothing.
        `notes` warn of workers who may be worse than chance, or copy others. `audited` is what an
        expert's checks have come to, None where there are none: `error`, `risk` and `price` as
        planned, `number` and `stage` of the last audit, `file` that keeps it, `checks` and `errors`
        of all audits, and `bound`, the share of the answers that may be wrong still.
        """
        running = self._now
        belief, ledger = running.policy.belief(), running.ledger
        return {
            "labels": len(ledger.labels) - ledger.recorded[0],
            "gold_labels": len(ledger.gold_labels) - ledger.recorded[1],
            "cost": ledger.spent,
            "believed_error": belief.overall() if len(belief.closed) else 0.0,
            "answered": int(belief.answered(ledger.counts).sum()),
            "closed": int(belief.closed.sum()),
            "tasks": len(self.tasks),
            "on_record": sum(ledger.recorded),
            "waiting": sum(map(len, running.waiting.values())),
            "policy": running.setup.policy,
            "halted": running.halted,
            "audited": AuditLog(self).summary(),
            "notes": running.policy.notes(),
        }


def _named_options(policy: Any, scale: Scale | None) -> tuple[str, Mapping[str, Any]]:
    """A policy's name and its options."""
    if policy is None:
        return default_policy(scale), {}
    if isinstance(policy, str):
        return policy, {}
    pair = isinstance(policy, Sequence) and len(policy) == 2 and isinstance(policy[0], str)
    check(
        pair and isinstance(policy[1], Mapping),
        f"policy is {checks.show(policy)}: give its name, or its name and its options",
    )
    return policy[0], policy[1]


def asks(running: Running, worker: int | None) -> bool:
    """Whether a worker would be asked something now; anybody who is here where it is None."""
    asked = running.ask(worker, None, None)
    return asked is not None and bool(asked.asks)
