"""Contexts from a continuum, w ∈ [0, 1]: LS_OL with intervals that become ever finer.

    learner = RefiningLsOl(5, contextual(0.5, 0.2, z=0.2), Partition(0.25), seed=1)
    ask = learner.ask(task, 0.37)

Within an interval workers are taken to be alike. Two errors make its regret: estimates within
intervals, from few testers, and what the best set of an interval loses at single contexts in it.

Source: Liu, Liu (2015), Section 5, which leaves details out; `RefiningLsOl` says what it adds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.base.state import Coin, Share
from workbench.learning.online import Ask, Task
from workbench.learning.saved import Pending, SavedStream, SavedTester
from workbench.learning.schedule import Schedule
from workbench.learning.sets import Vote, estimates
from workbench.learning.testers import TesterLearner

EDGE = 1e-12
"""t^ζ this close above a whole number, relatively, is that number."""


@dataclass(frozen=True)
class Partition:
    """How many equal intervals [0, 1] is cut into at step t: v(t), about t^ζ.

    Attributes
    ----------
    zeta
        ζ, from 0 (one interval for ever) to 1.
    rule
        "halving": the smallest power of two that is t^ζ or more, so that an interval is cut in
        two, whole. "equal": ⌈t^ζ⌉, where all borders move each time.

    Raises
    ------
    InputError
        ζ out of range, or an unknown rule.

    Notes
    -----
    Source: Liu, Liu (2015), Section 5: "an increasing sequence" v(t).
    """

    zeta: float
    rule: Literal["halving", "equal"] = "halving"

    def __post_init__(self) -> None:
        object.__setattr__(self, "zeta", checks.number("zeta", self.zeta, 0.0, 1.0))
        if self.rule not in {"halving", "equal"}:
            raise InputError(f"rule is {self.rule!r}: give 'halving' or 'equal'")

    def cells(self, t: int) -> int:
        """v(t); v(0) = v(1) = 1."""
        wanted = math.ceil(math.pow(max(t, 1), self.zeta) * (1.0 - EDGE))
        return wanted if self.rule == "equal" else 1 << (wanted - 1).bit_length()


class PendingContext(Pending, frozen=True):
    """A step in a context that waits for its labels."""

    context: Share


class TesterContext(SavedTester, frozen=True):
    """A tester and its context."""

    context: Share


class RefiningState(SavedStream, frozen=True):
    """All that `RefiningLsOl` needs to go on; `order` ranks equal workers."""

    service: ClassVar[str] = "refining-ls-ol"
    version: ClassVar[int] = 2

    partition: Partition
    order: tuple[Coin, ...]
    testers: tuple[TesterContext, ...]
    pending: PendingContext | None

    @property
    def size(self) -> int:
        """M."""
        return len(self.order)


class RefiningLsOl(TesterLearner[RefiningState]):
    """LS_OL for contexts w ∈ [0, 1], cut into v(t) equal intervals.

    Parameters
    ----------
    workers
        M.
    schedule
        D1 and D2 of each interval; `contextual` makes those of the paper, ∼ t^z log t.
    partition
        v(t); a number is the ζ of a `Partition`.
    weighted, tolerance, truncate
        As for `LsOl`.
    seed
        Of ties and draws: M numbers at the start, five at each step, as for `LsOl`.

    Raises
    ------
    InputError
        A parameter out of range.

    Notes
    -----
    Source: Liu, Liu (2015), Section 5, which omits all details. Those of this class:

    - All intervals have the common clock t, as printed: they come and go, and the schedule of
      all grows with t^z.
    - Only the interval of the arriving task counts: the step explores while this has at most D1(t)
      testers, or a tester with at most D2(t) rounds, which is then retested.
    - Every tester keeps its context, its first labels and its rounds. When v(t) grows, testers are
      sorted into the new intervals; estimates are those of the testers inside. Nothing is lost,
      and nothing is borrowed from outside: an interval without testers explores first.
    - With ζ = 0 it is `LsOl`, to the last bit.

    Labels that are missing do not vote. There is no delay, no vetting and no coming and going.
    """

    state_type = RefiningState
    tester_type = TesterContext

    def __init__(
        self,
        workers: int,
        schedule: Schedule,
        partition: Partition | float,
        *,
        weighted: bool = False,
        tolerance: float = 0.0,
        truncate: float = 1e-3,
        seed: Seed,
    ) -> None:
        vote = Vote(weighted, tolerance, truncate)
        super().__init__(checks.count("workers", workers, 1), schedule, vote, 0, seed)
        self.partition = partition if isinstance(partition, Partition) else Partition(partition)

    @property
    def cells(self) -> int:
        """v: how many intervals there are now."""
        return len(self._cells)

    def ask(self, task: Task, context: float) -> Ask:
        """Decide whom to ask about the arriving task, or about a tester of its interval.

        Raises
        ------
        InputError
            A context outside [0, 1], a task that is not new, or one that waits for its labels.
        """
        task = self._new(task)
        context = checks.number("context", context, 0.0, 1.0)
        cells = self.partition.cells(self.step)
        if cells != len(self._cells):
            self._sort(cells)
        return self._step(task, context)

    def _pending_step(self, context: float, **step: Any) -> PendingContext:
        return PendingContext(context=context, **step)

    def _context(self, now: Pending) -> float:
        assert isinstance(now, PendingContext)
        return now.context

    def estimates_at(self, context: float) -> FloatArray:
        """p̂ in the interval of a context, shape (M,); ½ before it has testers."""
        cell = self._cell(checks.number("context", context, 0, 1))
        return estimates(cell.agreed, cell.judged)

    @property
    def estimates(self) -> pd.DataFrame:
        """p̂, one row an interval (indexed by where it begins), one column a worker."""
        starts = np.arange(len(self._cells)) / len(self._cells)
        rows = [estimates(cell.agreed, cell.judged) for cell in self._cells]
        return pd.DataFrame(np.stack(rows), index=pd.Index(starts, name="from"))

    def testers(self) -> pd.DataFrame:
        """One row a tester: `task, context, cell, rounds, said, label`."""
        table = self._table(
            task="name", context="context", rounds="rounds", said="said", label="label"
        )
        table.insert(2, "cell", [self._place(one.context) for one in self._testers])
        return table

    def state(self) -> RefiningState:
        """Everything needed to go on later."""
        return RefiningState(
            partition=self.partition, order=tuple(self._order.tolist()), **self._saved()
        )

    @classmethod
    def restore(cls, saved: RefiningState) -> RefiningLsOl:
        """Take up a `state`; what follows is the same, to the last bit, as without the break."""
        learner = cls._begun(saved, saved.size)
        learner.partition = saved.partition
        # Intervals are cut when a task arrives: as they were for the last one.
        cells = learner.partition.cells(max(len(saved.tasks) - 1, 0))
        learner._take_up_testers(saved, saved.order, cells)
        return learner
