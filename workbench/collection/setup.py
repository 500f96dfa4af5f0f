"""What a collection is begun with: names, types, prices and goals, checked once.

`read_setup` takes what a user gives, in names; a `Setup` has places in their stead (the k-th task,
the j-th worker) and is what the first event of a collection holds. `pool_of` makes the pool of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
import pandas as pd
from msgspec import Meta

from workbench.aggregation.ratings import LEAST_GOLD
from workbench.assignment.estimates import checked_easiness
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.state import (
    Count,
    Id,
    Label,
    Share,
    State,
    check,
    distinct,
    find,
    identifier,
    label_name,
    name_array,
    name_places,
)
from workbench.collection.pool import HIGHEST_PRICE, LARGEST, Pool
from workbench.crowd.kinds import Scale, refuse
from workbench.crowd.libraries import Frame, Values, keyed, to_pandas
from workbench.crowd.loss import MOST, stakes_of
from workbench.crowd.reading import as_number, as_text
from workbench.crowd.tables import read_gold, read_task_types, read_workers

HIGHEST_TOTAL = 1e308
MOST_CLASSES = 1000
TASK_TYPE = "task_type"
TASK_NUMBERS = "easiness", "context"
"""Columns of tasks, beside their names."""
UNLIMITED = 2**40
"""Capacity of a worker who may be asked about the same task again, where none is said."""
Price: TypeAlias = Annotated[float, Meta(ge=0, le=HIGHEST_PRICE)]
Easiness: TypeAlias = Annotated[float, Meta(gt=0, le=1)]
Cost: TypeAlias = Annotated[float, Meta(gt=0, le=MOST)]
PerWorker: TypeAlias = "Mapping[Any, Any] | pd.Series[Any] | Frame"
PerTask: TypeAlias = "Mapping[Any, Any] | pd.Series[Any] | Frame"
Listed: TypeAlias = "Iterable[Any] | Values"
Triple: TypeAlias = tuple[Count, Count, Count]
"""Gold (1) or not (0), task, worker; or task, worker, class."""


@dataclass(frozen=True, eq=False)
class People:
    """What is known of those who label.

    Parameters
    ----------
    capacity
        Most labels that a worker gives: a number, or columns worker, capacity. [default: all; of a
        simulated crowd 200]
    costs
        Price of a label: a number, columns worker, cost, or a frame workers × task types.
        [default: 1]
    groups
        Workers who err together, as models of one family do: columns worker, group.

        Cheap models beside people in no group are all asked, and believed jointly. The members of
        any other group are one voter: any of them may be asked about a task, the first label of a
        task counts, and nobody else of the group is asked about it. Where there are such groups,
        nobody looks for workers who copy one another.
    skills
        Chance of being right by worker, where it is known: an expert has 1.
    available
        The pairs that can be asked: columns task, worker. [default: all]
    confidences
        How sure models say they are of their labels: columns task, worker, confidence.

        Models are those with a group whose labels cost a fifth of a person's at most; what they say
        of themselves is calibrated by people's labels.
    have
        Labels on record, which count, cost nothing and are not asked for again: columns task,
        worker, label. Their workers need not be named.
    newcomers
        Workers beside those named who may still come; numbers alone, not tables, are for them.
    arrivals
        In rehearsal: workers come one by one in random order and do not come back. [default:
        anybody, any time]
    prior
        In rehearsal: share of the workers by skill, as 0.8:0.5,0.5:0.5, or beta:4:2; what is paid
        stands beside the least of any policy that knows only this.

        A mapping too. Two classes, one price and one capacity, workers drawn independently, and
        tasks of known class to measure the error by.

    Examples
    --------
    >>> import workbench as wb
    >>> people = wb.People(capacity=2, costs={"ann": 3.0})
    >>> collector = wb.Collector(
    ...     ["a", "b"], ["ann", "bob"], classes=["no", "yes"], total=9, people=people
    ... )
    >>> len(collector.next("ann")), collector.cost
    (2, 6.0)
    """

    capacity: int | PerWorker | None = None
    costs: float | PerWorker | None = None
    groups: PerWorker | None = None
    skills: PerWorker | None = None
    available: Frame | None = None
    confidences: Frame | None = None
    have: Frame | None = None
    newcomers: int = 0
    arrivals: bool = False
    prior: Mapping[float, float] | str | None = None


@dataclass(frozen=True)
class ClosingRules:
    """When a task is closed, beside the error that it may have.

    Parameters
    ----------
    mean
        Ask for the error in the mean over tasks, not of each task.
    least
        Fewest labels of a task that is closed, those on record included.
    most
        Most labels of a task; then it is left as it is.

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate(tasks=20, workers=10, skill=0.95)
    >>> found = wb.collect(crowd, total=60, closing=wb.ClosingRules(most=3))
    >>> found.labels <= 60
    True
    """

    mean: bool = False
    least: int = 0
    most: int | None = None

    def checked(self) -> ClosingRules:
        """Give whole numbers where numbers are meant.

        Raises
        ------
        InputError
            A number is out of range.
        """
        least = checks.count("least", self.least)
        most = None if self.most is None else checks.count("most", self.most, max(least, 1))
        return ClosingRules(bool(self.mean), least, most)


class Task(State, frozen=True):
    """A task: name, type, easiness and, where tasks have one, context."""

    name: Id
    type: Id
    easiness: Easiness = 1.0
    context: Share | None = None


class GoldTask(State, frozen=True):
    """A task of known class."""

    name: Id
    label: Label | float
    type: Id
    easiness: Easiness = 1.0


class Hand(State, frozen=True):
    """A worker, or a place for somebody who may still come; her name stands elsewhere.

    Without a `capacity` she can label every task; `price` is by type, `own_price` that of tasks
    with a price of their own, `available` the places of the tasks she can be asked about, `group`
    the workers with whom she errs together, `skill` her chance of being right where it is known,
    `confidences` the chance that a model gives its own label, by place of the task.
    """

    capacity: Count | None
    price: tuple[Price, ...]
    own_price: tuple[tuple[Count, Price], ...] | None = None
    group: Id | None = None
    skill: Share | None = None
    available: tuple[Count, ...] | None = None
    confidences: tuple[tuple[Count, Share], ...] | None = None


class Setup(State, frozen=True, omit_defaults=True):
    """All that is said of a collection beforehand.

    `types` in the order in which prices and contexts count them; `hidden` as (task, label);
    `options` are the policy's own; `loss` is what it costs to miss each class, None where every
    error costs 1. `scale` has the ends of the scale of ratings, None of classes; of ratings
    `classes` are those that are known beforehand, with a share of nought.
    """

    tasks: tuple[Task, ...]
    gold: tuple[GoldTask, ...]
    types: tuple[Id, ...]
    classes: tuple[tuple[Label | float, Share], ...]
    hidden: tuple[tuple[Id, Label | float], ...]
    hands: tuple[Hand, ...]
    epsilon: float | None
    mean: bool
    total: float | None
    least: Count
    most: Count | None
    policy: str
    options: dict[str, Any]
    seed: Count
    loss: tuple[Cost, ...] | None = None
    scale: tuple[float, float] | None = None


class Named(NamedTuple):
    """A setup, and the names of its first workers: all others are places for newcomers."""

    setup: Setup
    workers: tuple[Id, ...]
    record: tuple[Triple, ...]
    gold_record: tuple[Triple, ...]


def read_setup(
    tasks: Listed | PerTask | str | Path,
    workers: Listed | Frame | int | str | Path,
    *,
    gold: PerTask | str | Path | None,
    hidden: PerTask | str | Path | None,
    classes: Listed | None,
    class_share: Mapping[Any, float] | None,
    loss: Mapping[Any, float] | None,
    people: People,
    scale: Scale | None = None,
    **goal: Any,
) -> Named:
    """Check what a collection is begun with; parameters as of `Collector`.

    Parameters
    ----------
    goal
        Fields of `Setup` that need no names: goal, limits, policy, options, seed.

    Raises
    ------
    InputError
        As for `Collector`, or a file cannot be read.
    """
    check_people(people, ("arrivals", "prior"), "is of rehearsals alone, leave it out")
    if isinstance(tasks, (str, Path)):
        tasks = read_task_types(tasks, default="all")
    if isinstance(workers, (str, Path)):
        workers = read_workers(workers).index.tolist()
    named_tasks, kinds = read_tasks(tasks)
    task_places = name_places("tasks", (task.name for task in named_tasks))
    gold, hidden = (_labels_of_file(labels, task_places, classes) for labels in (gold, hidden))
    named_gold = _gold_tasks(keyed(gold, "task"), kinds, scale)
    gold_places = name_places("gold", (task.name for task in named_gold))
    for task in gold_places:
        check(
            task not in task_places,
            f"task {task!r} is also a gold task: leave it out of the tasks or of the gold; if it "
            "is to be asked about like all others, give its class by `hidden` in place of `gold`",
        )
    have = people.have
    if have is not None:
        have = labels_of(have, [*task_places, *gold_places])
    places, many = _places(workers, have, people.newcomers)
    check(
        (len(named_tasks) + len(named_gold)) * many <= LARGEST,
        f"{len(named_tasks)} tasks and {len(named_gold)} gold tasks of {many} workers: more than "
        "2^30 pairs; collect in several parts",
    )
    secret = _hidden_tasks(keyed(hidden, "task"), task_places, scale)
    told = [*(task.label for task in named_gold), *(label for _, label in secret)]
    if scale is None:
        shares = _class_shares(to_pandas(classes), class_share, told)
    else:
        refuse_classes(scale, people, classes=classes, class_share=class_share, loss=loss)
        check_known(len(told))
        have = None if have is None else _rated(have, scale)
        said = [] if have is None else have["label"].tolist()
        shares = [(rating, 0.0) for rating in distinct([*told, *said])]
    names = [label for label, _ in shares]
    return Named(
        Setup(
            tasks=tuple(named_tasks),
            gold=tuple(named_gold),
            types=tuple(kinds),
            classes=tuple(shares),
            hidden=secret,
            hands=_hands(many, places, task_places, kinds, people),
            loss=losses_of(loss, names) if scale is None else None,
            scale=None if scale is None else (scale.low, scale.high),
            **goal,
        ),
        tuple(places),
        record_of(have, task_places, places, names),
        record_of(have, gold_places, places, names),
    )


def check_people(people: object, left_out: Iterable[str], why: str) -> None:
    """Refuse what is no `People`, and fields of it that have no place here.

    Raises
    ------
    InputError
        It is something else; or one of `left_out` is given, with the reason `why`.
    """
    check(isinstance(people, People), f"people is {checks.show(people)}: give workbench.People(…)")
    for name in left_out:
        value = getattr(people, name)
        nothing = value is None or (isinstance(value, int) and not value)
        check(nothing, f"people: `{name}` {why}")


def _labels_of_file(labels: Any, tasks: Iterable[Id], classes: Any) -> Any:
    """Labels by task of a file, its names as they are here where they read alike; others stay."""
    if not isinstance(labels, (str, Path)):
        return labels
    read = read_gold(labels)
    named = {as_text(label): label for label in to_pandas(() if classes is None else classes)}
    here: dict[Any, Id] = {as_text(task): task for task in tasks}
    return {here.get(task, task): named.get(label, label) for task, label in read.items()}


def _places(workers: Any, have: pd.DataFrame | None, newcomers: int) -> tuple[dict[Id, int], int]:
    """Place of each worker who is named, here or on record, and how many places there are."""
    hands: Any = keyed(workers, "worker")
    check(not isinstance(hands, str), "workers: give a list of names, or how many may come")
    if not np.iterable(hands):
        newcomers, hands = checks.count("workers", hands, 1), ()
    if have is not None:
        listed = [*hands]
        unnamed = [name for name in dict.fromkeys(have["worker"]) if name not in listed]
        hands, newcomers = [*listed, *unnamed], max(newcomers - len(unnamed), 0)
    places = name_places("workers", hands, "worker")
    many = len(places) + checks.count("newcomers", newcomers)
    check(many, "workers is empty: name those who can be asked, or how many may come")
    return places, many


def read_tasks(
    tasks: Listed | PerTask, types: list[Id] | None = None
) -> tuple[list[Task], list[Id]]:
    """Name, type, context and easiness of each task, and the types that there are.

    Parameters
    ----------
    tasks
        As for `Collector`.
    types
        The types that there are; those of the tasks, or of their category, where None.

    Raises
    ------
    InputError
        A name that is neither text nor whole number, an unknown type, a number out of range.
    """
    named: Any = keyed(tasks, "task")
    columns: dict[Any, pd.Series[Any] | Mapping[Any, Any]] = {}
    if isinstance(named, pd.DataFrame):
        columns = {column: named[column] for column in named}
    elif isinstance(named, (pd.Series, Mapping)):
        name = getattr(named, "name", None)
        columns = {name if name in TASK_NUMBERS else TASK_TYPE: named}
    unknown = [name for name in columns if name not in (TASK_TYPE, *TASK_NUMBERS)]
    check(
        not unknown,
        f"tasks: column {checks.show(unknown[:1])[1:-1]} is not known; there are task, "
        f"{TASK_TYPE}, {', '.join(TASK_NUMBERS)}",
    )
    check(np.iterable(named) and not isinstance(named, str), "tasks: give a list of names")
    kinds = columns.get(TASK_TYPE)
    if types is None and isinstance(getattr(kinds, "dtype", None), pd.CategoricalDtype):
        types = [identifier("type", kind) for kind in kinds.cat.categories]  # type: ignore[union-attr]
    usual: Id = types[0] if types is not None and len(types) == 1 else "all"
    names = [*named.index] if isinstance(named, pd.DataFrame | pd.Series) else [*named]
    rows = [
        Task(
            identifier("task", task),
            usual if kind is None else _kind_of(task, kind, types),
            _easiness_of(easiness),
            _context_of(task, context),
        )
        for task, kind, easiness, context in zip(
            names,
            *(_cells(columns.get(name), len(names)) for name in (TASK_TYPE, *TASK_NUMBERS)),
            strict=True,
        )
    ]
    for row in rows if types is not None and kinds is None else ():
        _kind_of(row.name, row.type, types)
    return rows, types or distinct(row.type for row in rows) or ["all"]


def _cells(column: Any, many: int) -> list[Any]:
    """Cells of a column; None where there is none."""
    if column is None:
        return [None] * many
    return list(column.values()) if isinstance(column, Mapping) else column.tolist()


def _kind_of(task: Any, kind: Any, types: list[Id] | None) -> Id:
    named = identifier(f"type of task {task!r}", kind)
    check(
        types is None or named in types,
        f"type of task {task!r} is {kind!r}, and the types are {checks.listing(types or [])}",
    )
    return named


def _easiness_of(value: Any) -> float:
    """d of a task, 1 where none is said."""
    return 1.0 if value is None or pd.isna(value) else float(checked_easiness(np.array([value]))[0])


def _context_of(task: Any, value: Any) -> float | None:
    """Context of a task, None where it has none."""
    if value is None or pd.isna(value):
        return None
    return checks.number(f"context of task {task!r}", value, 0, 1)


def _gold_tasks(gold: Any, types: list[Id], scale: Scale | None) -> list[GoldTask]:
    """Name, label, type and easiness of each gold task."""
    if gold is None:
        return []
    easiness: Iterable[float]
    if isinstance(gold, pd.DataFrame):
        missing = {"label", "task_type"} - set(gold.columns)
        check(not missing, f"gold has no column {min(missing, default='')!r}: give both")
        easiness = [1.0] * len(gold)
        if "easiness" in gold:
            easiness = checked_easiness(gold["easiness"].to_numpy()).tolist()
        kinds, labels = gold["task_type"].tolist(), gold["label"]
    else:
        check(isinstance(gold, (pd.Series, Mapping)), "gold: give the label of each gold task")
        check(len(types) == 1, "gold: there are several types; give a frame with label, task_type")
        kinds, labels, easiness = types * len(gold), gold, [1.0] * len(gold)
    for kind in kinds:
        check(kind in types, f"gold has the type {checks.show(kind)}, which no task has")
    return [
        GoldTask(name := identifier("gold task", task), _known(name, label, scale), kind, float(d))
        for (task, label), kind, d in zip(labels.items(), kinds, easiness, strict=True)
    ]


def _hidden_tasks(
    hidden: Any, places: Mapping[Id, int], scale: Scale | None
) -> tuple[tuple[Id, Label | float], ...]:
    """Name and label of each task whose class is known, and not to be used but to see."""
    if hidden is None:
        return ()
    check(isinstance(hidden, (pd.Series, Mapping)), "hidden: give the label by task")
    check(len(hidden) >= 2, f"hidden names {len(hidden)} tasks: give two or more to calibrate by")
    rows = []
    for task, label in hidden.items():
        check(
            find(places, task) is not None,
            f"hidden names {checks.show(task)}, no task here: add it to the tasks",
        )
        name = identifier("hidden task", task)
        rows.append((name, _known(name, label, scale)))
    return tuple(rows)


def _known(task: Id, label: Any, scale: Scale | None) -> Label | float:
    """Class or rating of a task where it is known."""
    if scale is None:
        return label_name(task, label)
    return read_rating(f"gold {checks.show(label)} of task {checks.show(task)}", label, scale)


def read_scale(scale: tuple[float, float] | None) -> Scale | None:
    """Read the ends of a scale; None of labels that are classes.

    Raises
    ------
    InputError
        They are not two numbers, the lowest first.
    """
    if scale is None:
        return None
    ends = checks.listed("scale", scale)
    check(len(ends) == 2, f"scale is {checks.show(scale)}: give two numbers, as (0, 100)")
    return Scale(*ends)


def read_rating(what: str, value: Any, scale: Scale) -> float:
    """Read a rating: a number, or the text of one.

    Raises
    ------
    InputError
        It is no number, or outside of the scale.
    """
    number = None if isinstance(value, (bool, np.bool_)) else as_number(as_text(value))
    check(
        number is not None and scale.low <= number <= scale.high,
        f"{what} is {'no number' if number is None else 'outside of the scale'}; give ratings from "
        f"{scale.low:g} to {scale.high:g}",
    )
    assert number is not None
    return number + 0.0  # −0 is 0


def _rated(have: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """Read the ratings of labels on record."""
    rows = zip(have["task"], have["label"], strict=True)
    return have.assign(
        label=[
            read_rating(
                f"have: label {checks.show(label)} of task {checks.show(task)}", label, scale
            )
            for task, label in rows
        ]
    )


def refuse_classes(scale: Scale, people: People, **given: Any) -> None:
    """Refuse terms that ratings have no use for.

    Raises
    ------
    InputError
        One is given.
    """
    own = {name: getattr(people, name) for name in ("groups", "skills", "confidences", "prior")}
    refuse(scale, {**given, **own})


def check_known(tasks: int) -> None:
    """Check that there are enough tasks of known rating to learn from.

    Raises
    ------
    InputError
        There are not.
    """
    check(
        tasks >= LEAST_GOLD,
        f"hidden: {tasks} tasks of known rating, and whom to ask is learned from {LEAST_GOLD} or "
        "more; hide forty among the others",
    )


def _class_shares(
    classes: Iterable[Any] | None,
    class_share: Mapping[Any, float] | None,
    labels: Sequence[Label | float],
) -> list[tuple[Label, float]]:
    """Each class and its prior share; the labels of gold must be among them."""
    check(
        not isinstance(classes, Mapping),
        "classes: give a list of names, and their shares as `class_share`",
    )
    if classes is None:
        check(labels, "classes: name them, since there is no gold to take them from")
        classes = distinct(labels)
    check(np.iterable(classes) and not isinstance(classes, str), "classes: give a list of names")
    names = [name if isinstance(name, bool) else identifier("class", name) for name in classes]
    check(len(set(names)) == len(names), "classes has a class twice: keep one")
    check(len(names) >= 2, "classes: name two or more, no two alike")
    check(
        len(names) <= MOST_CLASSES,
        f"classes has {len(names)} names: at most {MOST_CLASSES}; is this the column of labels?",
    )
    for label in labels:
        check(label in names, f"gold has the label {label!r}, which is not among classes")
    stated = stakes_of(None, class_share, map(as_text, names))
    if stated is None:
        return [(label, 1.0 / len(names)) for label in names]
    return list(zip(names, stated.shares.tolist(), strict=True))


def losses_of(loss: Mapping[Any, float] | None, classes: Iterable[Any]) -> tuple[float, ...] | None:
    """What it costs to miss each class; None where every error costs 1.

    Raises
    ------
    InputError
        As for `stakes_of`.
    """
    stakes = stakes_of(loss, None, map(as_text, classes))
    if stakes is None or (stakes.loss == 1.0).all():
        return None
    return tuple(stakes.loss.tolist())


def _hands(
    many: int,
    places: Mapping[Id, int],
    task_places: Mapping[Id, int],
    kinds: list[Id],
    people: People,
) -> tuple[Hand, ...]:
    """Terms of each worker; what stands under `...` is for all others."""
    capacity = _numbers("capacity", people.capacity, places, None)
    price = _prices(people.costs, places, kinds)
    group = _by_worker("groups", people.groups, places)
    skill = _by_worker("skills", people.skills, places)
    available = _available(people.available, places, task_places)
    confidences = _confidences(people.confidences, places, task_places)
    hands = []
    for place, worker in enumerate([*places, *[None] * (many - len(places))]):
        allowed = None
        if available is not None:
            allowed = available[place] if place < len(places) else ()
        hands.append(
            Hand(
                _terms_of(worker, "capacity", capacity, checks.count),
                tuple(
                    checks.number(f"cost of worker {worker!r}", value, 0, HIGHEST_PRICE)
                    for value in price.get(worker, price[...])
                ),
                None,
                _terms_of(worker, "group", group, identifier),
                _terms_of(worker, "skill", skill, _chance),
                allowed,
                tuple(sorted(confidences[place].items())) if place in confidences else None,
            )
        )
    return tuple(hands)


def _terms_of(
    worker: Id | None, what: str, values: Mapping[Any, Any], checked: Callable[[str, Any], Any]
) -> Any:
    """A worker's own value, or that of all others, checked; None where nothing is said."""
    value = values.get(worker, values[...])
    return None if value is None else checked(f"{what} of worker {worker!r}", value)


def _chance(what: str, value: Any) -> float:
    return checks.number(what, value, 0, 1)


def _by_worker(what: str, values: Any, places: Mapping[Id, int]) -> dict[Any, Any]:
    """Values by worker; None, under `...`, for all others."""
    values = keyed(values, "worker")
    if values is None:
        return {...: None}
    check(isinstance(values, (pd.Series, Mapping)), f"{what}: give a mapping by worker")
    for worker in values.keys():  # noqa: SIM118 (a Series iterates over its values)
        check(
            find(places, worker) is not None,
            f"{what} names {checks.show(worker)}, no worker here",
        )
    return {...: None, **dict(values.items())}


def _numbers(what: str, values: Any, places: Mapping[Id, int], usual: Any) -> dict[Any, Any]:
    """A number by worker, or one for all."""
    if values is None or checks.is_number(values):
        return {...: usual if values is None else values}
    return _by_worker(what, values, places) | {...: usual}


def _prices(values: Any, places: Mapping[Id, int], types: list[Id]) -> dict[Any, Any]:
    """Prices by type, by worker."""
    values = keyed(values, "worker")
    if isinstance(values, pd.DataFrame):
        for kind in types:
            check(kind in values.columns, f"costs has no column for the type {kind!r}")
        rows = zip(values.index, values[types].itertuples(index=False, name=None), strict=True)
        return _by_worker("costs", dict(rows), places) | {...: (1.0,) * len(types)}
    return {
        worker: (price,) * len(types)
        for worker, price in _numbers("costs", values, places, 1.0).items()
    }


def _available(
    pairs: Any, workers: Mapping[Id, int], tasks: Mapping[Id, int]
) -> list[tuple[int, ...]] | None:
    """Places of the tasks that each worker can be asked about."""
    pairs = to_pandas(pairs)
    if pairs is None:
        return None
    check(
        isinstance(pairs, pd.DataFrame) and {"task", "worker"} <= set(pairs.columns),
        "available: give a frame with columns task, worker",
    )
    places: list[set[int]] = [set() for _ in workers]
    for task, worker in zip(pairs["task"], pairs["worker"], strict=True):
        check(find(tasks, task) is not None, f"available names task {checks.show(task)}, none here")
        check(find(workers, worker) is not None, f"available names worker {checks.show(worker)}")
        places[workers[worker]].add(tasks[task])
    return [tuple(sorted(tasks)) for tasks in places]


def _confidences(
    rows: Any, workers: Mapping[Id, int], tasks: Mapping[Id, int]
) -> dict[int, dict[int, float]]:
    """How sure each model says to be of its label, by its place and the task's."""
    rows = to_pandas(rows)
    places: dict[int, dict[int, float]] = {}
    if rows is None:
        return {}
    check(
        isinstance(rows, pd.DataFrame) and {"task", "worker", "confidence"} <= set(rows.columns),
        "confidences: give a frame with columns task, worker, confidence",
    )
    columns = rows[["task", "worker", "confidence"]]
    for task, worker, value in columns.itertuples(index=False, name=None):
        at, who = find(tasks, task), find(workers, worker)
        check(at is not None, f"confidences names task {checks.show(task)}, none here")
        check(who is not None, f"confidences names worker {checks.show(worker)}, none here")
        own = places.setdefault(workers[worker], {})
        check(
            tasks[task] not in own,
            f"confidences: worker {checks.show(worker)} has task {checks.show(task)} twice",
        )
        field = f"confidence of worker {checks.show(worker)} in task {checks.show(task)}"
        own[tasks[task]] = checks.number(field, value, 0, 1)
    return places


def changed_terms(
    name: Id,
    before: Hand,
    types: list[Id],
    tasks: Mapping[Id, int],
    *,
    capacity: int | None,
    costs: Any,
    prices: Any,
    available: Iterable[Id] | None,
) -> Hand:
    """Terms that a worker announces, those of before where nothing is said.

    Parameters
    ----------
    name
        Hers.
    before
        Her terms so far.
    types, tasks
        Those that there are; the place of each task.
    capacity, costs, prices, available
        As for `Collector.join`.

    Raises
    ------
    InputError
        A number out of range, or a task or type that is not there.
    """
    changes: dict[str, Any] = {}
    if capacity is not None:
        changes["capacity"] = checks.count(f"capacity of worker {name!r}", capacity)
    if costs is not None:
        changes["price"] = _announced_costs(
            name, dict(zip(types, before.price, strict=True)), costs
        )
    if prices is not None:
        changes["own_price"] = _announced_prices(name, tasks, prices)
    available = to_pandas(available)
    if available is not None:
        listed = np.iterable(available) and not isinstance(available, str)
        check(listed, f"available is {checks.show(available)}: give a list of tasks")
        places = [(task, find(tasks, task)) for task in available]
        for task, place in places:
            check(place is not None, f"available task {checks.show(task)} is not a task here")
        changes["available"] = tuple(sorted({place for _, place in places}))
    return msgspec.structs.replace(before, **changes)


def _announced_costs(name: Id, by_type: dict[Id, float], costs: Any) -> tuple[float, ...]:
    if checks.is_number(costs):
        costs = dict.fromkeys(by_type, costs)
    costs = keyed(costs, "task_type")
    check(
        isinstance(costs, (Mapping, pd.Series)),
        f"cost of worker {name!r} is no mapping: give a price by task type",
    )
    for kind, price in costs.items():
        check(
            find(by_type, kind) is not None,
            f"cost of worker {name!r} names the type {checks.show(kind)}: the types are "
            f"{checks.listing(list(by_type))}",
        )
        by_type[kind] = _price(f"cost of worker {name!r} for type {kind!r}", price)
    return tuple(by_type.values())


def _announced_prices(
    name: Id, tasks: Mapping[Id, int], prices: Any
) -> tuple[tuple[int, float], ...]:
    prices = keyed(prices, "task")
    check(
        isinstance(prices, (Mapping, pd.Series)),
        f"prices of worker {name!r} are no mapping: give a price by task",
    )
    own: dict[int, float] = {}
    for task, price in prices.items():
        place = find(tasks, task)
        check(
            place is not None,
            f"prices of worker {name!r} name {checks.show(task)}, which is no task here",
        )
        check(place not in own, f"prices of worker {name!r} name task {task!r} twice")
        own[place] = _price(f"price of worker {name!r} for task {task!r}", price)
    return tuple(sorted(own.items()))


def _price(whose: str, price: Any) -> float:
    check(
        checks.is_number(price) and 0 <= price <= HIGHEST_PRICE,
        f"{whose} is {checks.show(price)}: give a number from 0 to {HIGHEST_PRICE:g}",
    )
    return float(price)


def check_goal(
    epsilon: float | None, total: float | None, scale: tuple[float, float] | None = None
) -> None:
    """Check what is wanted: an error, a budget, or both.

    Parameters
    ----------
    scale
        Ends of the scale of ratings: an error is then in points.

    Raises
    ------
    InputError
        Neither is there, or a number is out of range.
    """
    check(
        epsilon is not None or total is not None, "give `epsilon`, an error, or `total`, a budget"
    )
    if epsilon is not None and scale is None:
        checks.inside("epsilon", epsilon)
    elif epsilon is not None and scale is not None:
        width = scale[1] - scale[0]
        check(
            checks.is_number(epsilon) and 0 < epsilon < width,
            f"epsilon is {checks.show(epsilon)}: give an error in points, above 0 and below "
            f"{width:g}",
        )
    if total is not None:
        checks.number("total", total, 0, HIGHEST_TOTAL)


def labels_of(have: Any, tasks: list[Id]) -> pd.DataFrame:
    """Labels on record of tasks and gold tasks that are here.

    Raises
    ------
    InputError
        A column is missing, or there are labels and none is of a task here.
    """
    have = to_pandas(have)
    check(
        isinstance(have, pd.DataFrame) and {"task", "worker", "label"} <= set(have.columns),
        "have: give a frame with columns task, worker, label",
    )
    here: pd.DataFrame = have[have["task"].isin(tasks)]
    check(
        len(here) or have.empty,
        "have: none of its labels is of a task here; mend the ids, or leave it out",
    )
    return here


def record_of(
    have: pd.DataFrame | None,
    tasks: Mapping[Id, int],
    workers: Mapping[Id, int],
    classes: Sequence[Label | float],
) -> tuple[Triple, ...]:
    """Task, worker and class of the labels on record that are of these tasks.

    Raises
    ------
    InputError
        A label is no class, or a worker labels a task twice, not alike.
    """
    if have is None:
        return ()
    code = {name: k for k, name in enumerate(classes)}
    rows: dict[tuple[int, int], int] = {}
    for task, worker, label in have[["task", "worker", "label"]].itertuples(index=False, name=None):
        place, named = find(tasks, task), find(code, label)
        if place is None:
            continue
        check(
            named is not None,
            f"have: label {checks.show(label)} of task {checks.show(task)} is no class: they are "
            f"{checks.listing(classes)}",
        )
        pair = place, workers[worker]
        check(
            rows.setdefault(pair, named) == named,
            f"have: worker {checks.show(worker)} labels task {checks.show(task)} twice, not alike",
        )
    return tuple((task, worker, named) for (task, worker), named in rows.items())


def pool_of(setup: Setup, workers: Mapping[Id, int], *, repeats: bool = False) -> Pool:
    """Make the pool of a setup.

    Parameters
    ----------
    workers
        Place of each name that is known by now.
    repeats
        Whether a worker may be asked about the same task again: her capacity is without limit then,
        unless one is said.
    """
    kind_place = {kind: place for place, kind in enumerate(setup.types)}
    class_place = {label: code for code, (label, _) in enumerate(setup.classes)}
    hands, n = setup.hands, len(setup.tasks)
    every = UNLIMITED if repeats else n + len(setup.gold)
    names = {place: name for name, place in workers.items()}
    return Pool(
        tasks=name_array(task.name for task in setup.tasks),
        workers=name_array(names.get(j, f"newcomer {j}") for j in range(len(hands))),
        classes=name_array(class_place),
        capacity=np.array(
            [every if hand.capacity is None else hand.capacity for hand in hands], dtype=np.int64
        ),
        price=np.array([hand.price for hand in hands], dtype=np.float64).T,
        kind=np.array([kind_place[task.type] for task in setup.tasks], dtype=np.int64),
        share=np.array([share for _, share in setup.classes]),
        gold=np.array([class_place[task.label] for task in setup.gold], dtype=np.int64),
        gold_kind=np.array([kind_place[task.type] for task in setup.gold], dtype=np.int64),
        available=_available_matrix(n, hands),
        group=_group_numbers(hands),
        hidden=_hidden_classes(setup, class_place),
        confusion=_known_confusion(hands, len(setup.types), len(class_place)),
        easiness=_unless_one(np.array([task.easiness for task in setup.tasks])),
        gold_easiness=_unless_one(np.array([task.easiness for task in setup.gold])),
        own_price=_own_prices(setup, kind_place),
        context=_contexts(setup),
        confidence=_own_confidences(setup),
        loss=None if setup.loss is None else np.array(setup.loss),
        scale=None if setup.scale is None else Scale(*setup.scale),
    )


def _available_matrix(tasks: int, hands: tuple[Hand, ...]) -> BoolArray | None:
    if all(hand.available is None for hand in hands):
        return None
    available = np.ones((tasks, len(hands)), dtype=bool)
    for j, hand in enumerate(hands):
        if hand.available is not None:
            available[:, j] = False
            available[list(hand.available), j] = True
    return available


def _group_numbers(hands: tuple[Hand, ...]) -> IntArray | None:
    groups = distinct(hand.group for hand in hands if hand.group is not None)
    if not groups:
        return None
    number = {group: k for k, group in enumerate(groups)}
    return np.array([-1 if hand.group is None else number[hand.group] for hand in hands])


def _hidden_classes(setup: Setup, class_place: Mapping[Label | float, int]) -> IntArray | None:
    if not setup.hidden:
        return None
    secret = dict(setup.hidden)
    return np.array(
        [class_place[secret[task.name]] if task.name in secret else -1 for task in setup.tasks]
    )


def _known_confusion(hands: tuple[Hand, ...], types: int, classes: int) -> FloatArray | None:
    skill = np.array([np.nan if hand.skill is None else hand.skill for hand in hands])
    if np.isnan(skill).all():
        return None
    return one_coin(skill, classes)[None].repeat(types, axis=0)


def _own_prices(setup: Setup, kind_place: Mapping[Id, int]) -> dict[int, FloatArray]:
    own: dict[int, FloatArray] = {}
    kinds = np.array([kind_place[task.type] for task in setup.tasks], dtype=np.int64)
    for j, hand in enumerate(setup.hands):
        if hand.own_price is not None:
            own[j] = np.array(hand.price)[kinds]
            for task, price in hand.own_price:
                own[j][task] = price
    return own


def _own_confidences(setup: Setup) -> dict[int, FloatArray]:
    own: dict[int, FloatArray] = {}
    for j, hand in enumerate(setup.hands):
        if hand.confidences is not None:
            own[j] = np.full(len(setup.tasks), np.nan)
            for task, value in hand.confidences:
                own[j][task] = value
    return own


def _contexts(setup: Setup) -> FloatArray | None:
    contexts = [task.context for task in setup.tasks]
    if all(context is None for context in contexts):
        return None
    for task in setup.tasks:
        check(task.context is not None, f"task {task.name!r} has no context: give one to each")
    return np.array(contexts, dtype=np.float64)


def _unless_one(easiness: FloatArray) -> FloatArray | None:
    return None if (easiness == 1).all() else easiness


def one_coin(skill: FloatArray, classes: int) -> FloatArray:
    """Chance of each answer by worker and true class, shape (m, K, K): right with the skill."""
    right = np.eye(classes, dtype=bool)
    wrong = (1.0 - skill) / (classes - 1)
    table: FloatArray = np.where(right, skill[:, None, None], wrong[:, None, None])
    return table
