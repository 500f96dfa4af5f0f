"""A collection as it stands: what follows from its events, by places.

`Running` has the ledger, the policy, and what is waited for. It changes by `apply` alone, so that
the same events give the same collection to the last bit; asking is the one event that is decided
here, by the policy.
"""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Iterable

import msgspec
import numpy as np

from workbench.base.arrays import IntArray
from workbench.base.errors import InputError
from workbench.base.journal_events import Event
from workbench.base.state import bare, check, name_places
from workbench.collection import POLICIES
from workbench.collection.events import (
    Arrived,
    Asked,
    Audited,
    AuditPlanned,
    Changed,
    Expected,
    Forgotten,
    GivenUp,
    Halt,
    Halted,
    Joined,
    Lapsed,
    Left,
    OnRecord,
    Opened,
    Past,
    Rated,
    RefitBegun,
    RefitTaken,
    Reworded,
    TakenBack,
    Told,
)
from workbench.collection.policy import Goal, Policy, refuse_kind, refuse_losses
from workbench.collection.pool import Ledger, Pool, Questions
from workbench.collection.refits import Refit
from workbench.collection.setup import Setup, Triple, pool_of
from workbench.crowd.kinds import Scale

MORE = 1.05
"""Labels, of those to which a fit failed, from which on another is begun."""


class Running:
    """What has become of a collection.

    Attributes
    ----------
    setup
        As it is now: tasks that arrived and terms that changed included.
    names
        Key of each worker's name; the places after them are for newcomers.
    ledger, policy
        Who decides, and what was asked and answered.
    waiting
        By worker: gold or not, and task, of the questions that are open, in order.
    missed
        Gold (1) or not, task, worker, of labels that were given up, or whose questions lapsed.
    again
        Those of them that lapsed: they may be asked again.
    away
        Workers who left, and the labels that they could still give.
    halted
        Whether nothing new is asked: paused, closed, or empty.
    forgotten
        Workers whose names are no more.
    refit
        A fit of what the policy believes that was begun, and is not taken yet.
    plan, audits
        What is promised of the answers, None so far; and where each audit of them stands.

    Raises
    ------
    InputError
        The policy refuses what it is to do, or its options.
    """

    def __init__(self, opened: Opened) -> None:
        self.setup, self.names = opened.setup, list(opened.names)
        self.waiting: dict[int, dict[tuple[bool, int], None]] = {}
        self.missed: set[Triple] = set()
        self.again: set[Triple] = set()
        self.away: dict[int, int] = {}
        self.halted: Halt = ""
        self.forgotten: set[int] = set()
        self.refit: Refit | None = None
        self.plan: AuditPlanned | None = None
        self.audits: dict[int, Audited] = {}
        self._asked_in_vain: set[Asked] = set()
        past = opened.past
        if past is None:
            record = [_rows(opened.record), _rows(opened.gold_record)]
            labels = [record[0][:0], record[1][:0]]
            self._lay_out(record, labels, 0.0, 0.0, [])
            return
        labels = [_rows(past.labels), _rows(past.gold_labels)]
        record = [rows[:many] for rows, many in zip(labels, past.record, strict=True)]
        labels = [rows[many:] for rows, many in zip(labels, past.record, strict=True)]
        for gold, task, worker in _rows(past.waiting).tolist():
            self.waiting.setdefault(worker, {})[bool(gold), task] = None
        self.missed = {(gold, task, worker) for gold, task, worker in _rows(past.missed).tolist()}
        self.again = {(gold, task, worker) for gold, task, worker in _rows(past.again).tolist()}
        self.away = dict(past.away)
        self.halted, self.forgotten = past.halted, set(past.forgotten)
        self.plan, self.audits = past.plan, {audit.number: audit for audit in past.audits}
        ratings = list(past.ratings)
        self._lay_out(record, labels, past.spent, past.gold_spent, ratings, past.policy)

    def opened(self) -> Opened:
        """Everything needed to go on from here, as a beginning; a fit begun is left out."""
        ledger = self.ledger
        waiting = [
            (int(gold), task, worker)
            for worker, pairs in self.waiting.items()
            for gold, task in pairs
        ]
        past = Past(
            labels=packed(ledger.labels),
            gold_labels=packed(ledger.gold_labels),
            record=(ledger.recorded[0], ledger.recorded[1]),
            waiting=packed(waiting),
            missed=packed(sorted(self.missed)),
            away=tuple(self.away.items()),
            spent=float(ledger.spent),
            gold_spent=float(ledger.gold_spent),
            policy=msgspec.json.encode(self.policy.state(), enc_hook=bare).decode(),
            halted=self.halted,
            forgotten=tuple(sorted(self.forgotten)),
            plan=self.plan,
            audits=tuple(self.audits.values()),
            again=packed(sorted(self.again)),
            ratings=tuple(ledger.ratings),
        )
        return Opened(self.setup, tuple(self.names), (), (), past)

    def as_it_stands(self) -> Running:
        """Give a copy that stays so, whatever becomes of this one; they share a fit begun."""
        shared = (self.setup, self.ledger.pool, self.refit)
        return copy.deepcopy(self, {id(each): each for each in shared})

    def refit_is_due(self) -> bool:
        """Whether the policy should be fitted anew, and no fit is begun that may still be made.

        It should be where many labels are new; and before a collection ends, as a fit to all labels
        may ask more: whoever asked was asked nothing, and the policy would ask nobody. In place of
        a fit that failed another is begun when there are more labels.
        """
        if self.refit is None:
            last = bool(self._asked_in_vain) and self.policy.is_behind()
            return (last and bool(self.policy.is_over())) or self.policy.is_due()
        if not self.refit.failed:
            return False
        labels = len(self.ledger.labels) + len(self.ledger.gold_labels)
        return labels >= MORE * self.refit.labels and self.policy.is_due()

    # ---- laying out ledger and policy ----

    def _lay_out(
        self,
        record: list[IntArray],
        labels: list[IntArray],
        spent: float,
        gold_spent: float,
        ratings: list[float],
        policy_state: str = "",
    ) -> None:
        """Set up ledger and policy by rows of tasks and of gold tasks, and the ratings in them."""
        setup = self.setup
        self.refit = None
        kind = POLICIES[setup.policy].call
        refuse_unknown_terms(setup, kind)
        pool = self._pool()
        self.ledger = Ledger(
            pool, None, setup.least, repeats=kind.repeats
        )  # what was asked is paid
        self.ledger.ratings = ratings or self.ledger.ratings
        self.ledger.left[len(self.names) :] = 0  # nobody yet
        for gold in (False, True):
            pairs = _rows([each for each in self.missed - self.again if each[0] == gold])
            (self.ledger.gold_open if gold else self.ledger.open)[pairs[:, 1], pairs[:, 2]] = False
            task, worker, label = record[gold].T
            self.ledger.record(Questions(task, worker, gold), label)
            task, worker, label = labels[gold].T
            ask = Questions(task, worker, gold)
            self.ledger.ask(ask)
            self.ledger.tell(ask, label)
            for worker_place, open_pairs in self.waiting.items():
                tasks = [task for is_gold, task in open_pairs if is_gold == gold]
                self.ledger.ask(_questions(tasks, worker_place, gold))
        self.ledger.total, self.ledger.most = setup.total, setup.most
        self.ledger.spent, self.ledger.gold_spent = spent, gold_spent
        self.ledger.shut()
        for worker_place in self.away:
            self.ledger.left[worker_place] = 0
        self.policy = made_policy(kind, self.ledger, setup)
        if policy_state:
            # It has no schema: each policy keeps what it needs.
            try:
                self.policy.resume(json.loads(policy_state))
            except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
                raise InputError(
                    f"policy_state is none of {setup.policy} since release 2.0: "
                    "end what an earlier release saved with that one"
                ) from None
            return
        for gold, rows in ((True, self.ledger.gold_labels), (False, self.ledger.labels)):
            if len(rows):
                self.policy.told(Questions(rows[:, 0], rows[:, 1], gold), rows[:, 2])

    def _lay_out_anew(self, record: list[IntArray], labels: list[IntArray]) -> None:
        """Let the policy begin again with the labels so far.

        Raises
        ------
        InputError
            It has planned ahead, and cannot.
        """
        if not self.policy.begins_again:
            raise InputError(
                f"the policy {self.setup.policy} has planned with what was said at the start: it "
                "cannot be changed now; undo, or begin another collection"
            )
        ledger = self.ledger
        self._lay_out(record, labels, ledger.spent, ledger.gold_spent, ledger.ratings)

    def _split(self) -> tuple[list[IntArray], list[IntArray]]:
        """Labels on record, and those that were bought; of tasks, and of gold tasks."""
        rows = [self.ledger.labels.copy(), self.ledger.gold_labels.copy()]
        many = self.ledger.recorded
        return [rows[0][: many[0]], rows[1][: many[1]]], [rows[0][many[0] :], rows[1][many[1] :]]

    # ---- events ----

    def ask(
        self, worker: int | None, most: int | None, first: int | None, *, apart: bool = False
    ) -> Asked | None:
        """Let the policy ask; None where it has nothing and is as it was: that is no event.

        Parameters
        ----------
        apart
            Whether fits of what it believes are begun and taken by events of their own.

        Raises
        ------
        InputError
            As the policy has it.
        """
        event = Asked(worker, most, first, (), apart)
        if event in self._asked_in_vain:
            return None
        before = self.policy.version(), self.refit
        ask = self._next(event)
        if not len(ask) and before[0] is not None and before == (self.policy.version(), self.refit):
            self._asked_in_vain.add(event)
            return None
        asks = zip(ask.task.tolist(), ask.worker.tolist(), strict=True)
        event = msgspec.structs.replace(
            event, asks=tuple((int(ask.gold), task, who) for task, who in asks)
        )
        self._enter(event)
        return event

    def _next(self, event: Asked) -> Questions:
        self.policy.fitted_beside = event.apart
        if not event.apart:  # it fits to all labels where it has to
            self.refit = None
        if event.first is not None:
            self.policy.take_first(event.first)
        return self.policy.next(event.worker, event.most)

    def _enter(self, event: Asked) -> None:
        """Enter what was asked."""
        if not event.asks:
            self._asked_in_vain.add(event)
            return
        self._asked_in_vain.clear()
        for gold in (False, True):
            pairs = [(task, worker) for is_gold, task, worker in event.asks if is_gold == gold]
            if pairs:
                task, worker = np.array(pairs, dtype=np.int64).T
                self.ledger.ask(Questions(task, worker, gold))
        for is_gold, task_place, worker_place in event.asks:
            self.waiting.setdefault(worker_place, {})[bool(is_gold), task_place] = None
        self.missed -= set(event.asks)
        self.again -= set(event.asks)

    def apply(self, event: Event) -> None:
        """Take what happened; it has been checked.

        Raises
        ------
        InputError
            It is no event of a collection, or the policy cannot take it.
        """
        if isinstance(event, Asked):
            self._next(event)  # what it asks now is what it asked then, and counts no more
            return self._enter(event)
        self._asked_in_vain.clear()
        match event:
            case Told() | Rated():
                self._told(event)
            case GivenUp() | Lapsed():
                self._given_up(event)
            case Joined():
                self._joined(event)
            case Left():
                self._left(event)
            case Arrived() | Expected():
                self._arrived(event)
            case OnRecord():
                record, labels = self._split()
                record[0] = np.concatenate([record[0], _rows(event.labels)])
                record[1] = np.concatenate([record[1], _rows(event.gold_labels)])
                self._lay_out_anew(record, labels)
            case TakenBack():
                self._taken_back(event)
            case Changed():
                self._changed(event)
            case (
                Halted()
                | Forgotten()
                | Reworded()
                | RefitBegun()
                | RefitTaken()
                | AuditPlanned()
                | Audited()
            ):
                self._noted(event)
            case _:
                raise InputError(f"{type(event).__name__} is nothing that happens in a collection")
        for place in self.away:  # a label given up while she was away
            self.away[place] += int(self.ledger.left[place])
            self.ledger.left[place] = 0
        return None

    def _noted(self, event: Event) -> None:
        """Take what changes no label."""
        if isinstance(event, Halted):
            self.halted = event.state
        elif isinstance(event, Forgotten):
            self.forgotten.add(event.worker)
        elif isinstance(event, RefitBegun):
            self.refit = Refit(self.policy, self.ledger)
        elif isinstance(event, RefitTaken) and self.refit is not None:
            refit, self.refit = self.refit, None
            self.policy.adopt(refit.fitted())
        elif isinstance(event, AuditPlanned):
            self.plan = event
        elif isinstance(event, Audited):
            self.audits[event.number] = event

    def _told(self, event: Told | Rated) -> None:
        if isinstance(event, Rated):
            place = self.ledger.place
            rows = tuple((gold, task, place(rating)) for gold, task, rating in event.labels)
            event = Told(event.worker, rows)
        worker, waiting = event.worker, self.waiting.get(event.worker, {})
        unasked = {
            (gold, task)
            for gold, task, _ in event.labels
            if (bool(gold), task) not in waiting and (gold, task, worker) not in self.missed
        }
        for gold, task, _ in event.labels:
            if (bool(gold), task) not in waiting:
                self._reopen(gold, task, worker)
        for gold in (False, True):
            for is_unasked in (False, True):
                pairs = [
                    (task, label)
                    for is_gold, task, label in event.labels
                    if is_gold == gold and ((is_gold, task) in unasked) == is_unasked
                ]
                if not pairs:
                    continue
                tasks, named = np.array(pairs, dtype=np.int64).T
                ask = _questions(tasks, worker, gold)
                self.ledger.tell(ask, named)
                (self.policy.unasked if is_unasked else self.policy.told)(ask, named)
        self._resolved(worker, [(gold, task) for gold, task, _ in event.labels])

    def _reopen(self, gold: int, task: int, worker: int) -> None:
        """Ask, and pay, for a label that comes after it was given up, or unasked."""
        still = self.ledger.gold_open if gold else self.ledger.open
        still[task, worker] = True
        left = self.ledger.left[worker]
        self.ledger.left[worker] = max(int(left), 1)
        self.ledger.ask(_questions([task], worker, bool(gold)))
        if worker in self.away:
            self.away[worker] = max(self.away[worker] - 1, 0)
        self.missed.discard((gold, task, worker))
        self.again.discard((gold, task, worker))

    def _given_up(self, event: GivenUp | Lapsed) -> None:
        for gold in (False, True):
            tasks = [task for is_gold, task in event.pairs if is_gold == gold]
            if tasks:
                ask = _questions(tasks, event.worker, gold)
                self.ledger.miss(ask)
                missed = {(int(gold), task, event.worker) for task in tasks}
                self.missed |= missed
                if isinstance(event, Lapsed):
                    self.again |= missed
                    self.ledger.reopen(ask)
                self.policy.missed(ask)
        self._resolved(event.worker, event.pairs)

    def _resolved(self, worker: int, pairs: Iterable[tuple[int, int]]) -> None:
        waiting = self.waiting.get(worker, {})
        for gold, task in pairs:
            waiting.pop((bool(gold), task), None)
        if not waiting:
            self.waiting.pop(worker, None)

    def _joined(self, event: Joined) -> None:
        place, hands = event.worker, list(self.setup.hands)
        new = place == len(self.names)
        if new:
            self.names.append(str(event.name))
        terms = event.hand != hands[place]
        if new or terms:
            hands[place] = event.hand
            self.setup = msgspec.structs.replace(self.setup, hands=tuple(hands))
            before, pool = self.ledger.pool.capacity[place], self._pool()
            self.ledger.pool = pool
            if pool.available is not None:
                self.ledger.open[:, place] &= pool.available[:, place]
            more = pool.capacity[place] if new else pool.capacity[place] - before
            self.ledger.left[place] = max(int(self.ledger.left[place] + more), 0)
        if place in self.away:
            self.ledger.left[place] = self.away.pop(place)
        self.policy.joined(place)

    def _pool(self) -> Pool:
        repeats = POLICIES[self.setup.policy].call.repeats
        return pool_of(self.setup, name_places("workers", self.names), repeats=repeats)

    def _left(self, event: Left) -> None:
        place = event.worker
        self.policy.left(place)
        self.away[place] = 0  # `apply` moves there what she could still give

    def _arrived(self, event: Arrived | Expected) -> None:
        """Add tasks, or places for workers who may come."""
        if isinstance(event, Expected):
            hands = (*self.setup.hands, *event.hands)
            self.setup = msgspec.structs.replace(self.setup, hands=hands)
            return self._lay_out_anew(*self._split())
        before = len(self.setup.tasks)
        self.setup = msgspec.structs.replace(self.setup, tasks=(*self.setup.tasks, *event.tasks))
        if not self.policy.streams:
            return self._lay_out_anew(*self._split())
        self.ledger.grow(self._pool())
        return self.policy.arrived(np.arange(before, len(self.setup.tasks)))

    def _taken_back(self, event: TakenBack) -> None:
        record, labels = self._split()
        for gold, task in event.pairs:
            pair = task, event.worker
            for rows in (labels, record):
                at = np.flatnonzero((rows[gold][:, :2] == pair).all(axis=1))
                if len(at):
                    rows[gold] = np.delete(rows[gold], at[-1], axis=0)
                    if rows is labels:
                        self.waiting.setdefault(event.worker, {})[bool(gold), task] = None
                    break
        self._lay_out_anew(record, labels)

    def _changed(self, event: Changed) -> None:
        hands = tuple(
            msgspec.structs.replace(hand, price=price)
            for hand, price in zip(self.setup.hands, event.prices, strict=True)
        )
        goal = {name: getattr(event, name) for name in ("epsilon", "mean", "least", "most")}
        same = hands == self.setup.hands and all(
            getattr(self.setup, name) == value for name, value in goal.items()
        )
        self.setup = msgspec.structs.replace(self.setup, hands=hands, total=event.total, **goal)
        if same:  # the budget alone
            self.ledger.total = event.total
        else:
            self._lay_out_anew(*self._split())


def made_policy(kind: type[Policy], ledger: Ledger, setup: Setup) -> Policy:
    """Make a policy with its options.

    Raises
    ------
    InputError
        An option that it does not have, or one out of range.
    """
    names = list(inspect.signature(kind).parameters)[3:]
    for name in setup.options:
        check(
            name in names,
            f"policy {setup.policy} has no option {name!r}: it has {', '.join(names) or 'none'}",
        )
    return kind(ledger, Goal(setup.epsilon, setup.mean), setup.seed, **setup.options)


def refuse_unknown_terms(setup: Setup, kind: type[Policy]) -> None:
    """Refuse terms of single tasks to policies that do not look at them.

    Raises
    ------
    InputError
        Easiness, prices by task or models' confidences that the policy would pass over; or no task
        to begin with.
    """
    check(setup.tasks or kind.streams, "tasks is empty: name what is to be labelled")
    single = (
        any(task.easiness != 1 for task in setup.tasks)
        or any(task.easiness != 1 for task in setup.gold)
        or any(hand.own_price is not None for hand in setup.hands)
    )
    check(
        not single or kind.knows_single_tasks,
        f"policy {setup.policy} knows no easiness and no prices of single tasks: leave them out, "
        "or take algorithm-2",
    )
    check(
        kind.hears_confidences or all(hand.confidences is None for hand in setup.hands),
        f"confidences: policy {setup.policy} does not look at them; leave them out, or take "
        "until-trusted",
    )
    if setup.loss is not None:
        refuse_losses(setup.policy, kind)
    refuse_kind(setup.policy, kind, None if setup.scale is None else Scale(*setup.scale))


def _rows(triples: bytes | Iterable[Triple]) -> IntArray:
    """Rows of three whole numbers, shape (k, 3)."""
    if isinstance(triples, bytes):
        check(len(triples) % 24 == 0, "rows of labels are cut off")
        return np.frombuffer(triples, dtype="<i8").astype(np.int64).reshape(-1, 3)
    return np.array(list(triples), dtype=np.int64).reshape(-1, 3)


def packed(rows: IntArray | Iterable[Triple]) -> bytes:
    """Rows of three whole numbers as bytes, as a `Past` has them."""
    array = rows if isinstance(rows, np.ndarray) else _rows(rows)
    return array.astype("<i8").tobytes()


def _questions(tasks: IntArray | list[int], worker: int, gold: bool) -> Questions:
    task = np.asarray(tasks, dtype=np.int64)
    return Questions(task, np.full(len(task), worker), bool(gold))
