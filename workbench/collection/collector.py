"""Labels collected from people or models by name: ask, tell, stop when sure.

    collector = Collector(["t1", "t2"], ["ann", "bob"], classes=["cat", "dog"], epsilon=0.05)
    asked = collector.next("ann")                       # Question(task, worker, gold), …
    collector.tell("ann", {"t1": "cat", "t2": None})    # None: this label will not come
    collector.save("state.json")                        # go on tomorrow
    collector.answers()                                 # task, label, confidence, closed

Labels may come in any order, any number of questions may be open, and a label that was given up may
still come: it is then paid for. A label told twice, alike, counts once, so that a step that was cut
off can simply be tried again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from operator import le, lt
from typing import Annotated, Any, ClassVar, NamedTuple, TypeAlias

import msgspec
import numpy as np
import pandas as pd
from msgspec import Meta

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import stream
from workbench.base.state import (
    Count,
    Id,
    Label,
    Saveable,
    Share,
    State,
    check,
    distinct,
    encoded,
    find,
    identifier,
    label_name,
    name_array,
    name_places,
)
from workbench.collection import POLICIES
from workbench.collection.policy import Belief, Goal, Policy, notes_of
from workbench.collection.pool import HIGHEST_PRICE, Ledger, Pool, Questions

Price: TypeAlias = Annotated[float, Meta(ge=0, le=HIGHEST_PRICE)]
PerWorker: TypeAlias = "Mapping[Any, Any] | pd.Series[Any]"
Triple: TypeAlias = tuple[Count, Count, Count]
"""Gold (1) or not (0), task, worker; or task, worker, class."""


class Question(NamedTuple):
    """A label that is wanted: of a task, or of a gold task by which the worker is judged."""

    task: Id
    worker: Id
    gold: bool


class Hand(State, frozen=True):
    """A worker, or (without a name) somebody who may still come.

    `price` is by type, `available` the places of the tasks she can be asked about, `group` the
    workers with whom she errs together, `skill` her chance of being right where it is known.
    """

    worker: Id | None
    capacity: Count
    price: tuple[Price, ...]
    group: Id | None
    skill: Share | None
    available: tuple[Count, ...] | None


class CollectorState(State, frozen=True):
    """All that `Collector` needs to go on.

    (task, type), (gold task, label, type), (class, share), (hidden task, label); labels in order of
    arrival, of which the first `recorded` (and of the gold labels as many as the second number
    says) were there from the start. `sealed` is a digest of the rest: a policy's own state has no
    schema that an edited file could be held to.
    """

    service: ClassVar[str] = "collector"
    version: ClassVar[int] = 3

    tasks: tuple[tuple[Id, Id], ...]
    gold: tuple[tuple[Id, Label, Id], ...]
    classes: tuple[tuple[Label, Share], ...]
    hidden: tuple[tuple[Id, Label], ...]
    hands: tuple[Hand, ...]
    epsilon: float | None
    mean: bool
    total: float | None
    least: Count
    most: Count | None
    policy: str
    seed: Count
    recorded: tuple[Count, Count]
    labels: tuple[Triple, ...]
    gold_labels: tuple[Triple, ...]
    waiting: tuple[Triple, ...]
    missed: tuple[Triple, ...]
    spent: float
    gold_spent: float
    policy_state: str
    sealed: str = ""

    def seal(self) -> str:
        """Digest of everything else."""
        told = msgspec.to_builtins(msgspec.structs.replace(self, sealed=""))
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]


class Collector(Saveable[CollectorState]):
    """Asks whom a policy says, until it is sure or the money is spent.

    Parameters
    ----------
    tasks
        Names, or a Series (or mapping) of the type of each.
    workers
        Names; or how many may come, who are named as they arrive.
    gold
        Tasks whose class is known, to judge workers by: a Series or mapping of labels, or a frame
        by task with columns `label` and `task_type`. None where there are none.
    hidden
        True label of some of the tasks, by task: they are asked about like all others, and tell how
        sure beliefs may be, so that others are closed when they should. Two or more.
    classes
        Names, or a mapping of their prior shares; those of the gold when None.
    epsilon
        ε, the error that each task may have.
    mean
        Whether ε is asked of the mean over tasks.
    total
        In place of ε, or beside it: what all labels may cost, gold labels included.
    capacity
        Labels that a worker can give, one number or by worker; all tasks without.
    costs
        Price of a label: one number, by worker, or a frame workers × task types; 1 without.
    groups
        Group by worker, where some err together, as models of one family do.
    skills
        Chance of being right by worker, where it is known: an expert has 1.
    available
        Frame with columns task and worker: the pairs that can be asked; None for all.
    have
        Labels on record, a frame with columns `task, worker, label`: those of tasks or gold tasks
        here count, cost nothing and are not asked for again. Their workers need not be named.
    least, most
        Labels of a task, those on record included: it is not closed with fewer, and left open where
        so many do not make it sure.
    newcomers
        Workers beside those named who may still come; numbers alone, not tables, are for them.
    policy
        Name of a policy of `POLICIES`.
    seed
        Of its draws; a whole number, which can be saved.

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

    state_type = CollectorState

    def __init__(
        self,
        tasks: Iterable[Any] | PerWorker,
        workers: Iterable[Any] | int,
        *,
        gold: PerWorker | pd.DataFrame | None = None,
        hidden: PerWorker | None = None,
        classes: Iterable[Any] | Mapping[Any, float] | None = None,
        epsilon: float | None = None,
        mean: bool = False,
        total: float | None = None,
        capacity: int | PerWorker | None = None,
        costs: float | PerWorker | pd.DataFrame | None = None,
        groups: PerWorker | None = None,
        skills: PerWorker | None = None,
        available: pd.DataFrame | None = None,
        have: pd.DataFrame | None = None,
        least: int = 0,
        most: int | None = None,
        newcomers: int = 0,
        policy: str = "until-sure",
        seed: int = 0,
    ) -> None:
        check_goal(epsilon, total)
        typed = _typed(tasks)
        check(not isinstance(workers, str), "workers: give a list of names, or how many may come")
        if not np.iterable(workers):
            newcomers, workers = checks.count("workers", workers, 1), ()
        types = distinct(kind for _, kind in typed)
        named_gold = _gold(gold, types)
        if have is not None:
            have = _of_tasks(have, [name for name, *_ in (*typed, *named_gold)])
            named = [*workers]
            new = [one for one in dict.fromkeys(have["worker"]) if one not in named]
            workers, newcomers = [*named, *new], max(newcomers - len(new), 0)
        known = name_places("workers", workers, "worker")
        many = len(known) + checks.count("newcomers", newcomers)
        check(many, "workers is empty: name those who can be asked, or how many may come")
        by_worker = [
            _numbers("capacity", capacity, known, len(typed) + len(named_gold)),
            _prices(costs, known, types),
            _of_known("groups", groups, known),
            _of_known("skills", skills, known),
        ]
        can = _available(available, known, [task for task, _ in typed])
        secret = _hidden(hidden, [task for task, _ in typed])
        told = [*(label for _, label, _ in named_gold), *(label for _, label in secret)]
        shares = _classes(classes, told)
        names = [label for label, _ in shares]
        labels = _recorded(have, [task for task, _ in typed], known, names)
        gold_labels = _recorded(have, [task for task, *_ in named_gold], known, names)
        hands = []
        for place, worker in enumerate([*known, *[None] * (many - len(known))]):
            takes, price, group, skill = (given.get(worker, given[...]) for given in by_worker)
            hands.append(
                Hand(
                    worker,
                    checks.count(f"capacity of worker {worker!r}", takes),
                    tuple(
                        checks.number(f"cost of worker {worker!r}", one, 0, HIGHEST_PRICE)
                        for one in price
                    ),
                    None if group is None else identifier(f"group of worker {worker!r}", group),
                    None
                    if skill is None
                    else checks.number(f"skill of worker {worker!r}", skill, 0, 1),
                    None if can is None else can[place] if place < len(known) else (),
                )
            )
        state = CollectorState(
            tasks=tuple(typed),
            gold=tuple(named_gold),
            classes=tuple(shares),
            hidden=secret,
            hands=tuple(hands),
            epsilon=None if epsilon is None else float(epsilon),
            mean=bool(mean),
            total=None if total is None else float(total),
            least=checks.count("least", least),
            most=None if most is None else checks.count("most", most, max(least, 1)),
            policy=policy,
            seed=checks.count("seed", seed),
            recorded=(len(labels), len(gold_labels)),
            labels=labels,
            gold_labels=gold_labels,
            waiting=(),
            missed=(),
            spent=0.0,
            gold_spent=0.0,
            policy_state="",
        )
        encoded(state)
        self._begin(state)

    def _begin(self, saved: CollectorState) -> None:
        """Set up pool, ledger and policy as a state has them."""
        self._saved = saved
        self.tasks = name_places("tasks", (task for task, _ in saved.tasks))
        self.gold = name_places("gold", (task for task, *_ in saved.gold))
        check(self.tasks, "tasks is empty: name what is to be labelled")
        for task in self.gold:
            check(task not in self.tasks, f"task {task!r} is also a gold task: leave one out")
        self.classes: dict[Label, int] = {
            label: code for code, (label, _) in enumerate(saved.classes)
        }
        check(len(self.classes) >= 2, "classes: name two or more, no two alike")
        check(len(self.classes) == len(saved.classes), "classes has a class twice: keep one")
        self.hands = list(saved.hands)
        self.workers = name_places(
            "workers", (one.worker for one in self.hands if one.worker is not None), "worker"
        )
        self.ledger = Ledger(_pool(saved), saved.total, saved.least)
        self.ledger.left[len(self.workers) :] = 0  # nobody yet
        self._waiting: dict[int, dict[tuple[bool, int], None]] = {}
        self._missed: set[Triple] = set(saved.missed)
        self.ledger.total = None  # what was asked was paid
        for gold in (False, True):
            at, by = _pairs(saved.missed, gold)
            (self.ledger.gold_open if gold else self.ledger.open)[at, by] = False
            told = np.array(saved.gold_labels if gold else saved.labels, dtype=np.int64)
            at, by, label = told.reshape(-1, 3).T
            had = saved.recorded[gold]
            self.ledger.record(Questions(at[:had], by[:had], gold), label[:had])
            at, by, label = at[had:], by[had:], label[had:]
            self.ledger.ask(Questions(at, by, gold))
            self.ledger.tell(Questions(at, by, gold), label)
            self.ledger.ask(Questions(*_pairs(saved.waiting, gold), gold))
        for known, task, worker in saved.waiting:
            self._waiting.setdefault(worker, {})[bool(known), task] = None
        self.ledger.total, self.ledger.spent = saved.total, saved.spent
        self.ledger.gold_spent = saved.gold_spent
        self.ledger.most = saved.most
        self.ledger.shut()
        goal = Goal(saved.epsilon, saved.mean)
        self._policy: Policy = POLICIES[saved.policy].call(self.ledger, goal, saved.seed)
        if saved.policy_state:
            # It has no schema: each policy keeps what it needs.
            try:
                self._policy.resume(json.loads(saved.policy_state))
            except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
                raise InputError(f"policy_state is none of {saved.policy}") from None
            return
        for gold, came in ((True, self.ledger.gold_labels), (False, self.ledger.labels)):
            if len(came):
                self._policy.told(Questions(came[:, 0], came[:, 1], gold), came[:, 2])

    # ---- asking ----

    def next(self, worker: Id | None = None, most: int | None = None) -> list[Question]:
        """Ask for labels.

        Parameters
        ----------
        worker
            Who is here; whoever has not been here takes the place of a newcomer. What she was asked
            and has not answered comes first, and alone. None to ask anybody.
        most
            Questions at most.

        Returns
        -------
        list of Question
            Empty: nothing for her now; of anybody, nothing more but what is waited for.

        Raises
        ------
        InputError
            A worker who was not named when there is no place for newcomers left.
        """
        if most is not None:
            checks.count("most", most, 1)
        place = None if worker is None else self._place(worker)
        if place is not None and self._waiting.get(place):
            return self.waiting(worker)[:most]
        ask = self._policy.next(place, most)
        self.ledger.ask(ask)
        for task, one in zip(ask.task.tolist(), ask.worker.tolist(), strict=True):
            self._waiting.setdefault(one, {})[ask.gold, task] = None
        return self._questions((ask.gold, *pair) for pair in zip(ask.task, ask.worker, strict=True))

    def _place(self, worker: Id) -> int:
        """Place of a worker, a new one if need be."""
        name = identifier("worker", worker)
        if name not in self.workers:
            place = len(self.workers)
            check(
                place < len(self.hands),
                f"worker {name!r} was not named, and no newcomer is expected: start with more",
            )
            self.workers[name] = place
            self.hands[place] = msgspec.structs.replace(self.hands[place], worker=name)
            self.ledger.left[place] = self.hands[place].capacity
        return self.workers[name]

    def waiting(self, worker: Id | None = None) -> list[Question]:
        """Questions that are open, of a worker or of all."""
        places = self._waiting if worker is None else [self.workers.get(worker, -1)]
        return self._questions(
            (gold, task, place) for place in places for gold, task in self._waiting.get(place, ())
        )

    def _questions(self, rows: Iterable[tuple[bool, int, int]]) -> list[Question]:
        tasks, gold, workers = list(self.tasks), list(self.gold), list(self.workers)
        return [
            Question((gold if known else tasks)[task], workers[worker], known)
            for known, task, worker in rows
        ]

    def tell(self, worker: Id, labels: PerWorker) -> None:
        """Take labels of a worker: by task, None for one that will not come.

        Raises
        ------
        InputError
            A task she was not asked about, an unknown class, a second label other than the first,
            or a late label for which there is no money left. Nothing is taken then.
        """
        name = identifier("worker", worker)
        place = self.workers.get(name)
        if place is None or not isinstance(labels, (Mapping, pd.Series)):
            raise InputError(
                f"worker {name!r} was asked nothing: call next first"
                if place is None
                else f"labels of worker {name!r} are no mapping: give a label by task"
            )
        waiting = self._waiting.get(place, {})
        came: dict[bool, list[tuple[int, int]]] = {False: [], True: []}
        gone: dict[bool, list[int]] = {False: [], True: []}
        late: list[Triple] = []
        for task, label in labels.items():
            gold = find(self.tasks, task) is None
            at = find(self.gold if gold else self.tasks, task)
            code = self._code(task, label)
            if at is not None and (gold, at) in waiting:
                if code is None:
                    gone[gold].append(at)
                    continue
            elif at is not None and code is not None and (gold, at, place) in self._missed:
                late.append((gold, at, place))
            else:
                said = None if at is None else self._said(gold, at, place)
                check(said is not None, f"worker {name!r} was not asked task {checks.show(task)}")
                check(
                    code is None or said == code,
                    f"worker {name!r} labels task {checks.show(task)} again, and otherwise",
                )
                continue
            came[gold].append((at, code))
        self._reopen(late)
        for gold, missing in gone.items():
            self.ledger.miss(_ask(missing, place, gold))
            self._missed |= {(gold, at, place) for at in missing}
        for gold, pairs in came.items():
            if pairs:
                ask = _ask([at for at, _ in pairs], place, gold)
                named = np.array([code for _, code in pairs], dtype=np.int64)
                self.ledger.tell(ask, named)
                self._policy.told(ask, named)
        for gold in (False, True):
            for at in (*gone[gold], *(at for at, _ in came[gold])):
                waiting.pop((gold, at), None)
        if not waiting:
            self._waiting.pop(place, None)

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

    def _said(self, gold: bool, task: int, worker: int) -> int | None:
        """The label that a worker gave."""
        rows = self.ledger.gold_labels if gold else self.ledger.labels
        found = rows[(rows[:, 0] == task) & (rows[:, 1] == worker)]
        return int(found[0, 2]) if len(found) else None

    def _reopen(self, late: list[Triple]) -> None:
        """Ask again, and pay, for labels that came after they were given up: all or none."""
        for k, (gold, task, worker) in enumerate(late):
            still = self.ledger.gold_open if gold else self.ledger.open
            still[task, worker] = True
            try:
                self.ledger.ask(_ask([task], worker, bool(gold)))
            except InputError:
                still[task, worker] = False
                for before in late[:k]:
                    self.ledger.miss(_ask([before[1]], worker, bool(before[0])))
                raise
        self._missed -= set(late)

    # ---- what is known ----

    @property
    def cost(self) -> float:
        """Price of what was asked so far and not given up, gold labels included."""
        return self.ledger.spent

    def belief(self) -> Belief:
        """Posterior of each task's class, and which tasks are closed."""
        return self._policy.belief()

    def answers(self) -> pd.DataFrame:
        """Give the label of each task: `task, label, confidence, closed`.

        Confidence is the believed chance that the label is right. Classes that tie are drawn among
        fairly; a task without any label has none.
        """
        belief = self.belief()
        return answer_table(
            belief, self.ledger.counts, list(self.tasks), list(self.classes), self._saved.seed
        )

    def labels(self) -> pd.DataFrame:
        """Labels so far in order of arrival, a long table `task, worker, label`; gold apart."""
        return (
            self.ledger.votes().table() if len(self.workers) == len(self.hands) else self._table()
        )

    def _table(self) -> pd.DataFrame:
        rows = self.ledger.labels.tolist()
        tasks, workers, classes = list(self.tasks), list(self.workers), list(self.classes)
        named = [(tasks[i], workers[j], classes[c]) for i, j, c in rows]
        return pd.DataFrame(named, columns=["task", "worker", "label"])

    def status(self) -> dict[str, Any]:
        """Say how far it is: labels, their cost, believed error, closed tasks, open questions.

        Labels on record at the start, `on_record`, are among the labels, and not in the cost.
        `notes` warn of workers who may be worse than chance, or copy others.
        """
        belief = self.belief()
        return {
            "labels": len(self.ledger.labels),
            "gold_labels": len(self.ledger.gold_labels),
            "cost": self.ledger.spent,
            "believed_error": float(belief.error.mean()),
            "closed": int(belief.closed.sum()),
            "tasks": len(self.tasks),
            "on_record": sum(self.ledger.recorded),
            "waiting": sum(map(len, self._waiting.values())),
            "policy": self._saved.policy,
            "notes": notes_of(self._policy),
        }

    # ---- saving ----

    def state(self) -> CollectorState:
        """Everything needed to go on later."""
        ledger = self.ledger
        state = msgspec.structs.replace(
            self._saved,
            hands=tuple(self.hands),
            labels=tuple(map(tuple, ledger.labels.tolist())),
            gold_labels=tuple(map(tuple, ledger.gold_labels.tolist())),
            waiting=tuple(
                (int(gold), task, worker)
                for worker, pairs in self._waiting.items()
                for gold, task in pairs
            ),
            missed=tuple(sorted((int(gold), task, worker) for gold, task, worker in self._missed)),
            spent=float(ledger.spent),
            gold_spent=float(ledger.gold_spent),
            policy_state=json.dumps(self._policy.state()),
            sealed="",
        )
        return msgspec.structs.replace(state, sealed=state.seal())

    @classmethod
    def restore(cls, saved: CollectorState) -> Collector:
        """Take up a `state`; what follows is the same, to the last bit, as without the break.

        Raises
        ------
        InputError
            It is not as it was saved, or of a policy that is not known here.
        """
        check(saved.sealed == saved.seal(), "it is not as it was saved")
        _check_parts(saved)
        collector = cls.__new__(cls)
        collector._begin(saved)
        return collector


def check_goal(epsilon: float | None, total: float | None) -> None:
    """Check what is wanted: an error, a budget, or both.

    Raises
    ------
    InputError
        Neither is given, or a number is out of range.
    """
    check(
        epsilon is not None or total is not None, "give `epsilon`, an error, or `total`, a budget"
    )
    if epsilon is not None:
        checks.inside("epsilon", epsilon)
    if total is not None:
        checks.number("total", total, 0, np.inf)


def answer_table(
    belief: Belief, counts: IntArray, tasks: list[Any], classes: list[Any], seed: int
) -> pd.DataFrame:
    """Lay out what is believed of each task: `task, label, confidence, closed`.

    Parameters
    ----------
    belief
        Of n tasks.
    counts
        Labels of each, shape (n,): a task without one is not answered.
    seed
        Of the draws among classes that tie.
    """
    top = belief.posterior.max(axis=1)
    best = belief.posterior >= top[:, None] - 1e-12
    draw = stream(seed, "tied answers").random(best.shape)
    named = np.where(best, draw, -1.0).argmax(axis=1)
    labels = [classes[code] if many else None for code, many in zip(named, counts, strict=True)]
    return pd.DataFrame(
        {
            "task": pd.Series(tasks, dtype=object).infer_objects(),
            "label": pd.Series(labels, dtype=object),
            "confidence": np.where(counts > 0, top, np.nan),
            "closed": belief.closed,
        }
    )


def _check_parts(saved: CollectorState) -> None:
    """Check that the parts of a saved state agree.

    Raises
    ------
    InputError
        They do not; it names the part.
    """
    n, g, m = len(saved.tasks), len(saved.gold), len(saved.hands)
    check_goal(saved.epsilon, saved.total)
    classes, types = {label for label, _ in saved.classes}, {kind for _, kind in saved.tasks}
    tasks = {task for task, _ in saved.tasks}
    for task, label, kind in saved.gold:
        check(label in classes and kind in types, f"gold task {task!r} has no class or type here")
    for task, label in saved.hidden:
        check(
            task in tasks and label in classes, f"hidden task {task!r} is no task of a class here"
        )
    for place, hand in enumerate(saved.hands):
        check(len(hand.price) == len(types), f"hands[{place}].price is not of {len(types)} types")
        check(
            max(hand.available or (), default=-1) < n,
            f"hands[{place}].available is of no task here",
        )
    known, K = m - sum(hand.worker is None for hand in saved.hands), len(saved.classes)
    check(
        all(hand.worker is not None for hand in saved.hands[:known]),
        "hands have a newcomer before those who came",
    )
    _check_rows("labels", saved.labels, (n, known, K))
    _check_rows("gold_labels", saved.gold_labels, (g, known, K))
    for name, rows in (("waiting", saved.waiting), ("missed", saved.missed)):
        for gold, size in enumerate((n, g)):
            kept = [row for row in rows if row[0] == gold]
            _check_rows(name, [(task, worker, 0) for _, task, worker in kept], (size, known, 1))
        check(all(row[0] < 2 for row in rows), f"{name} is of neither tasks nor gold tasks")
    ended = len(saved.labels), len(saved.gold_labels)
    check(all(map(le, saved.recorded, ended)), "recorded are more labels than there are")
    check(saved.spent >= 0 and saved.gold_spent >= 0, "spent is less than nothing")


def _check_rows(name: str, rows: Sequence[Triple], limits: Triple) -> None:
    """Check that rows of a task, a worker and a class are of such as there are, no pair twice."""
    check(all(all(map(lt, row, limits)) for row in rows), f"{name} has a row of nothing here")
    check(len({row[:2] for row in rows}) == len(rows), f"{name} has a pair twice")


def _pairs(rows: Iterable[Triple], gold: bool) -> tuple[IntArray, IntArray]:
    """Tasks and workers of the triples that are of gold tasks, or not."""
    kept = [(task, worker) for known, task, worker in rows if bool(known) == gold]
    task, worker = np.array(kept, dtype=np.int64).reshape(-1, 2).T
    return task, worker


def _ask(tasks: list[int], worker: int, gold: bool) -> Questions:
    task = np.array(tasks, dtype=np.int64)
    return Questions(task, np.full(len(task), worker), gold)


def _typed(tasks: Iterable[Any] | PerWorker) -> list[tuple[Id, Id]]:
    """Name and type of each task."""
    if isinstance(tasks, (pd.Series, Mapping)):
        return [
            (identifier("task", task), identifier(f"type of task {task!r}", kind))
            for task, kind in tasks.items()
        ]
    check(np.iterable(tasks) and not isinstance(tasks, str), "tasks: give a list of names")
    return [(identifier("task", task), "all") for task in tasks]


def _gold(gold: Any, types: list[Any]) -> list[tuple[Id, Label, Id]]:
    """Name, label and type of each gold task."""
    if gold is None:
        return []
    if isinstance(gold, pd.DataFrame):
        missing = {"label", "task_type"} - set(gold.columns)
        check(not missing, f"gold has no column {min(missing, default='')!r}: give both")
        kinds, gold = gold["task_type"].tolist(), gold["label"]
    else:
        check(isinstance(gold, (pd.Series, Mapping)), "gold: give the label of each gold task")
        check(len(types) == 1, "gold: there are several types; give a frame with label, task_type")
        kinds = types * len(gold)
    for kind in kinds:
        check(kind in types, f"gold has the type {checks.show(kind)}, which no task has")
    return [
        (identifier("gold task", task), label_name(task, label), kind)
        for (task, label), kind in zip(gold.items(), kinds, strict=True)
    ]


def _hidden(given: PerWorker | None, tasks: list[Id]) -> tuple[tuple[Id, Label], ...]:
    """Name and label of each task whose class is known, and not to be used but to see."""
    if given is None:
        return ()
    check(isinstance(given, (pd.Series, Mapping)), "hidden: give the label by task")
    check(len(given) >= 2, f"hidden names {len(given)} tasks: give two or more to calibrate by")
    known, named = set(tasks), []
    for task, label in given.items():
        check(task in known, f"hidden names {checks.show(task)}, no task here: add it to the tasks")
        name = identifier("hidden task", task)
        named.append((name, label_name(name, label)))
    return tuple(named)


def _classes(
    given: Iterable[Any] | Mapping[Any, float] | None, of_gold: list[Label]
) -> list[tuple[Label, float]]:
    """Each class and its prior share; those of the gold must be among them."""
    if given is None:
        check(of_gold, "classes: name them, since there is no gold to take them from")
        given = distinct(of_gold)
    check(np.iterable(given) and not isinstance(given, str), "classes: give a list of names")
    named = [one if isinstance(one, bool) else identifier("class", one) for one in given]
    for label in of_gold:
        check(label in named, f"gold has the label {label!r}, which is not among classes")
    if not isinstance(given, Mapping):
        return [(label, 1.0 / len(named)) for label in named]
    shares = [checks.share(f"share of class {label!r}", given[label]) for label in named]
    check(abs(sum(shares) - 1.0) < 1e-6, f"shares of classes sum to {sum(shares):g}: make it 1")
    return list(zip(named, shares, strict=True))


def _of_known(what: str, given: PerWorker | None, known: Mapping[Id, int]) -> dict[Any, Any]:
    """What is given by worker; None, under `...`, for all others."""
    told: dict[Any, Any] = {...: None}
    if given is None:
        return told
    check(isinstance(given, (pd.Series, Mapping)), f"{what}: give a mapping by worker")
    for worker, value in given.items():
        check(
            find(known, worker) is not None, f"{what} names {checks.show(worker)}, no worker here"
        )
        told[worker] = value
    return told


def _numbers(what: str, given: Any, known: Mapping[Id, int], without: Any) -> dict[Any, Any]:
    """A number by worker, or one for all."""
    if given is None or checks.is_number(given):
        return {...: without if given is None else given}
    return _of_known(what, given, known) | {...: without}


def _prices(given: Any, known: Mapping[Id, int], types: list[Id]) -> dict[Any, Any]:
    """Prices by type, by worker."""
    if isinstance(given, pd.DataFrame):
        for kind in types:
            check(kind in given.columns, f"costs has no column for the type {kind!r}")
        rows = zip(given.index, given[types].itertuples(index=False, name=None), strict=True)
        return _of_known("costs", dict(rows), known) | {...: (1.0,) * len(types)}
    return {key: (one,) * len(types) for key, one in _numbers("costs", given, known, 1.0).items()}


def _available(
    given: pd.DataFrame | None, known: Mapping[Id, int], tasks: list[Id]
) -> list[tuple[int, ...]] | None:
    """Places of the tasks that each worker can be asked about."""
    if given is None:
        return None
    check(
        isinstance(given, pd.DataFrame) and {"task", "worker"} <= set(given.columns),
        "available: give a frame with columns task, worker",
    )
    at = {task: place for place, task in enumerate(tasks)}
    found: list[set[int]] = [set() for _ in known]
    for task, worker in zip(given["task"], given["worker"], strict=True):
        check(find(at, task) is not None, f"available names task {checks.show(task)}, none here")
        check(find(known, worker) is not None, f"available names worker {checks.show(worker)}")
        found[known[worker]].add(at[task])
    return [tuple(sorted(one)) for one in found]


def _of_tasks(have: pd.DataFrame, tasks: list[Id]) -> pd.DataFrame:
    """Labels on record of tasks and gold tasks that are here."""
    check(
        isinstance(have, pd.DataFrame) and {"task", "worker", "label"} <= set(have.columns),
        "have: give a frame with columns task, worker, label",
    )
    here = have[have["task"].isin(tasks)]
    check(
        len(here) or have.empty,
        "have: none of its labels is of a task here; mend the ids, or leave it out",
    )
    return here


def _recorded(
    have: pd.DataFrame | None, tasks: list[Id], workers: Mapping[Id, int], classes: list[Label]
) -> tuple[Triple, ...]:
    """Task, worker and class of the labels on record that are of these tasks."""
    if have is None:
        return ()
    at, code = ({name: k for k, name in enumerate(names)} for names in (tasks, classes))
    found: dict[tuple[int, int], int] = {}
    for task, worker, label in have[["task", "worker", "label"]].itertuples(index=False, name=None):
        place, named = find(at, task), find(code, label)
        if place is None:
            continue
        check(
            named is not None,
            f"have: label {checks.show(label)} of task {checks.show(task)} is no class: they are "
            f"{checks.listing(classes)}",
        )
        pair = place, workers[worker]
        check(
            found.setdefault(pair, named) == named,
            f"have: worker {checks.show(worker)} labels task {checks.show(task)} twice, not alike",
        )
    return tuple((task, worker, named) for (task, worker), named in found.items())


def _pool(saved: CollectorState) -> Pool:
    """The pool of a state: names become places."""
    types = distinct(kind for _, kind in saved.tasks)
    code = {kind: at for at, kind in enumerate(types)}
    names = [label for label, _ in saved.classes]
    n, m, K = len(saved.tasks), len(saved.hands), len(names)
    available: BoolArray | None = None
    if any(one.available is not None for one in saved.hands):
        available = np.ones((n, m), dtype=bool)
        for j, one in enumerate(saved.hands):
            if one.available is not None:
                available[:, j] = False
                available[list(one.available), j] = True
    group = {
        one: at
        for at, one in enumerate(
            distinct(one.group for one in saved.hands if one.group is not None)
        )
    }
    skill = np.array([np.nan if one.skill is None else one.skill for one in saved.hands])
    secret = dict(saved.hidden)
    return Pool(
        tasks=name_array(task for task, _ in saved.tasks),
        workers=name_array(_shown(one.worker, j) for j, one in enumerate(saved.hands)),
        classes=name_array(names),
        capacity=np.array([one.capacity for one in saved.hands], dtype=np.int64),
        price=np.array([one.price for one in saved.hands], dtype=np.float64).T,
        kind=np.array([code[kind] for _, kind in saved.tasks], dtype=np.int64),
        share=np.array([share for _, share in saved.classes]),
        gold=np.array([names.index(label) for _, label, _ in saved.gold], dtype=np.int64),
        gold_kind=np.array([code[kind] for *_, kind in saved.gold], dtype=np.int64),
        available=available,
        group=np.array([-1 if one.group is None else group[one.group] for one in saved.hands])
        if group
        else None,
        hidden=np.array(
            [names.index(secret[task]) if task in secret else -1 for task, _ in saved.tasks]
        )
        if secret
        else None,
        confusion=None
        if np.isnan(skill).all()
        else one_coin(skill, K)[None].repeat(len(types), axis=0),
    )


def one_coin(skill: FloatArray, classes: int) -> FloatArray:
    """Chance of each answer by worker and true class, shape (m, K, K): right with the skill."""
    right = np.eye(classes, dtype=bool)
    wrong = (1.0 - skill) / (classes - 1)
    table: FloatArray = np.where(right, skill[:, None, None], wrong[:, None, None])
    return table


def _shown(worker: Id | None, place: int) -> Hashable:
    return f"newcomer {place}" if worker is None else worker
