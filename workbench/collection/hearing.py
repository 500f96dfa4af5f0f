"""Labels that come: which were asked for, which come late or unasked, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench.base import checks
from workbench.base.arrays import IntArray
from workbench.base.errors import InputError
from workbench.base.state import Id, check, find, identifier
from workbench.collection.events import GivenUp, Rated, Told
from workbench.collection.kept import KeptCollection
from workbench.collection.pool import Ledger, Questions
from workbench.collection.running import Running
from workbench.collection.setup import PerTask, read_rating
from workbench.crowd.libraries import keyed

Heard: TypeAlias = tuple[int, int, Any]
"""Gold (1) or not, task, and the class or rating."""


def hear(collection: KeptCollection, labels: Mapping[Id, PerTask], *, unasked: bool) -> None:
    """Take labels by worker and task, all or none.

    Parameters
    ----------
    unasked
        Whether labels are taken that nobody was asked for.

    Raises
    ------
    InputError
        As for `Collector.tell`; or the policy wants labels of those alone whom it asked.
    """
    told_by = {worker: keyed(by_task, "task") for worker, by_task in labels.items()}
    with collection._turn() as turn:
        check(
            not unasked or not turn.running.policy.streams,
            f"policy {turn.running.setup.policy} wants labels of those alone whom it asked",
        )
        for worker, by_task in told_by.items():
            name = identifier("worker", worker)
            place = collection.workers.get(name)
            if place is None:
                raise InputError(f"worker {name!r} was asked nothing: call next first")
            if not isinstance(by_task, (Mapping, pd.Series)):
                raise InputError(f"labels of worker {name!r} are no mapping: give a label by task")
            triples, given_up = _sorted(
                collection, turn.running, name, place, by_task, unasked=unasked
            )
            _check_late(turn.running, place, triples, given_up, unasked=unasked)
            turn.who = f"worker {place}"
            if given_up:
                turn.apply(GivenUp(place, tuple(given_up)))
            if triples:
                kind = Told if collection.scale is None else Rated
                turn.apply(kind(place, tuple(triples)))


def _sorted(
    collection: KeptCollection,
    running: Running,
    name: Id,
    place: int,
    labels: Mapping[Any, Any] | pd.Series[Any],
    *,
    unasked: bool,
) -> tuple[list[Heard], list[tuple[int, int]]]:
    """Labels that came, and pairs of which none will come; those told before are left out."""
    waiting = running.waiting.get(place, {})
    triples: list[Heard] = []
    given_up: list[tuple[int, int]] = []
    pairs: set[tuple[bool, int]] = set()
    for task, label in labels.items():
        gold = find(collection.tasks, task) is None
        at = find(collection.gold if gold else collection.tasks, task)
        code = _code(collection, task, label)
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
            before = None if at is None else label_before(running.ledger, gold, at, place)
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
    running: Running,
    place: int,
    triples: list[Heard],
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


def _code(collection: KeptCollection, task: Any, label: Any) -> Any:
    """Index of a class, or a rating itself; None for a label that will not come."""
    if label is None or (isinstance(label, float) and np.isnan(label)):
        return None
    if collection.scale is not None:
        what = f"label {checks.show(label)} of task {checks.show(task)}"
        return read_rating(what, label, collection.scale)
    code: int | None = find(collection.classes, label)
    if code is None:
        raise InputError(
            f"label {checks.show(label)} of task {checks.show(task)} is no class: they are "
            f"{checks.listing(list(collection.classes))}"
        )
    return code


def label_before(ledger: Ledger, gold: bool, task: int, worker: int) -> Any:
    """The label that a worker gave last: index of a class, or a rating itself."""
    rows = ledger.gold_labels if gold else ledger.labels
    rows = rows[(rows[:, 0] == task) & (rows[:, 1] == worker)]
    if not len(rows):
        return None
    code = int(rows[-1, 2])
    return code if ledger.pool.scale is None else ledger.ratings[code]


def _pair(task: int, worker: int) -> tuple[IntArray, IntArray]:
    return np.array([task]), np.array([worker])
