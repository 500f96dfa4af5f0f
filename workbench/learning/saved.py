"""What learners save, and what must agree in it for a learner to go on."""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple

from msgspec import Meta

from workbench.base.state import Count, Id, RandomState, State, Uniform, check
from workbench.learning.schedule import KINDS, Kind
from workbench.learning.sets import Vote

COUNTED = ("asked", "received", "missing", "unlabelled")
"""What every learner counts of labels."""
LATE = ("late_used", "late_ignored")
"""What learners count that take labels which come late."""


class StepDraws(NamedTuple):
    """Uniform numbers of one step; what is not needed is drawn all the same."""

    pick: Uniform
    label: Uniform
    round: Uniform
    agreement: Uniform
    delay: Uniform


class Pending(State, frozen=True):
    """A step that waits for its labels; the tester is −1 where none is assigned again."""

    kind: Kind
    tester: Annotated[int, Meta(ge=-1)]
    workers: tuple[Count, ...]
    coins: StepDraws


class SavedTasks(State, frozen=True):
    """What learners of a stream of tasks have in common; `tasks` in order of arrival."""

    vote: Vote
    random: RandomState
    tasks: tuple[Id, ...]
    counts: dict[str, Annotated[int, Meta(ge=0)]]
    kinds: dict[Kind, Count]
    pending: Pending | None

    counted: ClassVar[tuple[str, ...]] = COUNTED

    @property
    def size(self) -> int:
        """M."""
        raise NotImplementedError

    @property
    def steps(self) -> int:
        """How many tasks have their label."""
        return len(self.tasks) - (self.pending is not None)

    def __post_init__(self) -> None:
        M, now, counts, kinds = self.size, self.pending, self.counts, self.kinds
        check(M, "there are no workers")
        check(len(set(self.tasks)) == len(self.tasks), "tasks names one twice")
        check(counts.keys() == set(self.counted), f"counts is not of {', '.join(self.counted)}")
        waiting = 0 if now is None else len(now.workers)
        check(
            counts["asked"] == counts["received"] + counts["missing"] + waiting,
            "counts: asked is not received and missing together",
        )
        check(kinds.keys() == set(KINDS), f"kinds is not of {', '.join(KINDS)}")
        check(sum(kinds.values()) == self.steps, f"kinds do not add up to {self.steps} steps")
        if now is not None:
            check(
                len(set(now.workers)) == len(now.workers) and max(now.workers, default=0) < M,
                f"pending.workers are no {M} or fewer different workers",
            )
