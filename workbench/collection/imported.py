"""Collections that release 1.0 saved in a JSON file, as a journal."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from workbench.base.errors import InputError
from workbench.base.state import Count, Id, Label, Share, State, check, distinct, read_state
from workbench.collection.collector import Collector
from workbench.collection.events import Opened, Past
from workbench.collection.running import packed
from workbench.collection.setup import GoldTask, Hand, Price, Setup, Task, Triple


class EarlierHand(State, frozen=True):
    """A worker, or (without a name) somebody who might still come."""

    worker: Id | None
    capacity: Count
    price: tuple[Price, ...]
    group: Id | None
    skill: Share | None
    available: tuple[Count, ...] | None


class EarlierState(State, frozen=True):
    """What `Collector.save` of 1.0 wrote."""

    service: ClassVar[str] = "collector"
    version: ClassVar[int] = 3

    tasks: tuple[tuple[Id, Id], ...]
    gold: tuple[tuple[Id, Label, Id], ...]
    classes: tuple[tuple[Label, Share], ...]
    hidden: tuple[tuple[Id, Label], ...]
    hands: tuple[EarlierHand, ...]
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
    sealed: str

    def seal(self) -> str:
        """Digest of everything else, as 1.0 made it."""
        content: Any = msgspec.to_builtins(msgspec.structs.replace(self, sealed=""))
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]


def imported(state: str | Path, path: str | Path, *, origin: str = "python") -> Collector:
    """Make a journal of a saved collection; it goes on exactly where it was.

    Parameters
    ----------
    state
        The JSON file of release 1.0.
    path
        Of the journal, where nothing stands yet.
    origin
        Where this is asked from.

    Raises
    ------
    InputError
        It is not what 1.0 saved, or of a policy that saves otherwise since.
    """
    earlier, _ = read_state(state, EarlierState)
    check(earlier.sealed == earlier.seal(), f"{state}: it is not as it was saved")
    if earlier.policy == "algorithm-2":
        raise InputError(
            f"{state}: its policy algorithm-2 draws otherwise since: finish it with release 1.0"
        )
    workers = [hand.worker for hand in earlier.hands if hand.worker is not None]
    past = Past(
        labels=packed(earlier.labels),
        gold_labels=packed(earlier.gold_labels),
        record=earlier.recorded,
        waiting=packed(earlier.waiting),
        missed=packed(earlier.missed),
        away=(),
        spent=earlier.spent,
        gold_spent=earlier.gold_spent,
        policy=earlier.policy_state,
    )
    opened = Opened(_setup(earlier), (), (), (), past)
    return Collector.begun(opened, workers, path, origin)


def _setup(earlier: EarlierState) -> Setup:
    hands = [
        Hand(hand.capacity, hand.price, None, hand.group, hand.skill, hand.available)
        for hand in earlier.hands
    ]
    return Setup(
        tasks=tuple(Task(name, kind) for name, kind in earlier.tasks),
        gold=tuple(GoldTask(name, label, kind) for name, label, kind in earlier.gold),
        types=tuple(distinct(kind for _, kind in earlier.tasks)),
        classes=earlier.classes,
        hidden=earlier.hidden,
        hands=tuple(hands),
        epsilon=earlier.epsilon,
        mean=earlier.mean,
        total=earlier.total,
        least=earlier.least,
        most=earlier.most,
        policy=earlier.policy,
        options={},
        seed=earlier.seed,
    )
