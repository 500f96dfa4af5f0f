"""Contexts from a continuum, w ∈ [0, 1]: LS_OL with intervals that become ever finer.

    learner = RefiningLsOl(5, contextual(0.5, 0.2, z=0.2), 0.25, seed=1)
    ask = learner.ask(task, 0.37)

Within an interval workers are taken to be alike. Two errors make its regret: estimates within
intervals, from few testers, and what the best set of an interval loses at single contexts in it.

Source: Liu, Liu (2015), Section 5, which leaves details out; `RefiningLsOl` says what it adds.
"""

from __future__ import annotations

import math

from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.seeds import Seed
from workbench.learning.online import Ask, Task
from workbench.learning.schedule import Schedule
from workbench.learning.sets import Vote, estimates
from workbench.learning.testers import TesterLearner

EDGE = 1e-12
"""t^ζ this close above a whole number, relatively, is that number."""


def intervals(zeta: float, t: int) -> int:
    """v(t): how many equal intervals [0, 1] is cut into; v(0) = v(1) = 1.

    The smallest power of two that is t^ζ or more, so that an interval is cut in two, whole.

    Notes
    -----
    Source: Liu, Liu (2015), Section 5: "an increasing sequence" v(t).
    """
    wanted = math.ceil(math.pow(max(t, 1), zeta) * (1.0 - EDGE))
    return 1 << (wanted - 1).bit_length()


class RefiningLsOl(TesterLearner):
    """LS_OL for contexts w ∈ [0, 1], cut into v(t) equal intervals.

    Parameters
    ----------
    workers
        M.
    schedule
        D1 and D2 of each interval; `contextual` makes those of the paper, ∼ t^z log t.
    zeta
        ζ of v(t), from 0 (one interval for ever) to 1.
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

    def __init__(self, workers: int, schedule: Schedule, zeta: float, *, seed: Seed) -> None:
        super().__init__(checks.count("workers", workers, 1), schedule, Vote(), 0, seed)
        self.zeta = checks.number("zeta", zeta, 0.0, 1.0)

    def ask(self, task: Task, context: float) -> Ask:
        """Decide whom to ask about the arriving task, or about a tester of its interval.

        Raises
        ------
        InputError
            A context outside [0, 1], a task that is not new, or one that waits for its labels.
        """
        task = self._new(task)
        context = checks.number("context", context, 0.0, 1.0)
        cells = intervals(self.zeta, self.step)
        if cells != len(self._cells):
            self._sort(cells)
        return self._step(task, context)

    def estimates_at(self, context: float) -> FloatArray:
        """p̂ in the interval of a context, shape (M,); ½ before it has testers."""
        cell = self._cell(checks.number("context", context, 0, 1))
        return estimates(cell.agreed, cell.judged)
