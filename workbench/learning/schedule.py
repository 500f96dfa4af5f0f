"""When LS_OL explores: how many testers it wants by step t, and how many rounds of each.

At step t the algorithm explores while the number of testers is at most D1(t), or while some
tester has been labelled at most D2(t) times by the whole crowd. Both grow like log t; variants
give the logarithm or the time itself a power.

Source: Liu, Liu (2015), Section 3.1 (D1, D2), 3.5.2 (decreasing ε), 4.2 (weighted vote), 5
(contexts), 6.1 (G1, G2).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.best_sets import crowd_constants
from workbench.accuracy.weighted import smallest_weight_gap
from workbench.base import checks
from workbench.base.arrays import IntArray
from workbench.base.errors import InputError
from workbench.learning.regret_bounds import exploration_factors, weighted_count

POINTS = 200
"""Checkpoints when none are given."""
FAR = 1000
"""Numbers further ahead are looked up without those between."""

LATEST = 2**53
"""Steps beyond this are not distinguished."""

Kind = Literal["new tester", "retest", "exploit"]
"""What a step does: make the arriving task a tester, label a tester again, or use what is known."""
KINDS: tuple[Kind, ...] = get_args(Kind)


class Phase(NamedTuple):
    """Steps in a row that do the same.

    Attributes
    ----------
    start, steps
        The first step, and how many they are.
    kind
        What they do.
    testers
        |E| once they are done.
    required
        Rounds that no tester falls short of once all is retested: ⌊D2⌋ + 1.
    """

    start: int
    steps: int
    kind: Kind
    testers: int
    required: int


@dataclass(frozen=True)
class Schedule:
    """D1(t) = tests · log^a(t) · t^z and D2(t) = repeats · log^a(t) · t^z.

    Attributes
    ----------
    tests, repeats
        G1 and G2, both 0 or more; the printed factors of log t for `theoretical`.
    log_power, time_power
        a ≥ 0 and z ≥ 0; printed: 1 and 0.

    Raises
    ------
    InputError
        A parameter that is negative or not finite.

    Notes
    -----
    Source: Liu, Liu (2015), Section 3.1.
    """

    tests: float
    repeats: float
    log_power: float = 1.0
    time_power: float = 0.0

    def __post_init__(self) -> None:
        for name in ("tests", "repeats", "log_power", "time_power"):
            value = checks.number(name, getattr(self, name), 0.0, math.inf)
            if value == math.inf:
                raise InputError(f"{name} is infinite: give a finite number")
            object.__setattr__(self, name, value)
        try:
            far = max(self.d1(LATEST), self.d2(LATEST))
        except OverflowError:
            far = math.inf
        if far == math.inf:
            raise InputError("the schedule grows beyond any number: give smaller powers or factors")

    def d1(self, t: int) -> float:
        """D1(t): more testers than this are enough at step t. D1(0) is 0."""
        return self.tests * self._growth(t)

    def d2(self, t: int) -> float:
        """D2(t): more rounds than this are enough for a tester at step t. D2(0) is 0."""
        return self.repeats * self._growth(t)

    def _growth(self, t: int) -> float:
        if t < 1:
            return 0.0
        return float(math.log(t) ** self.log_power * float(t) ** self.time_power)

    def phases(self, horizon: int) -> Iterator[Phase]:
        """What the steps 0, …, T − 1 do when testers are always at hand (no delay).

        Which tester is retested is a matter of chance; when there is one to retest is not: a
        retest makes up for one missing round, whichever it is.

        Parameters
        ----------
        horizon
            T, the number of tasks.
        """
        T = checks.count("horizon", horizon, 1)
        testers, rounds = Crossings(self.d1, T), Crossings(self.d2, T)
        yield Phase(0, 1, "new tester", 1, 1)
        have, done, required, t = 1, 1, 1, 1
        while t < T:
            required = max(required, math.floor(self.d2(t)) + 1)
            short = have * required - done
            rise = rounds.first(required)
            if short:
                steps = min(short, rise - t, T - t)
                done += steps
                yield Phase(t, steps, "retest", have, required)
            elif testers.first(have) <= t:
                steps, have, done = 1, have + 1, done + 1
                yield Phase(t, steps, "new tester", have, required)
            else:
                steps = min(testers.first(have), rise, T) - t
                yield Phase(t, steps, "exploit", have, required)
            t += steps

    def exploration_steps(self, horizon: int) -> int:
        """How many of the first T steps explore (no delay); about D1(T) · D2(T).

        Parameters
        ----------
        horizon
            T, the number of tasks.
        """
        return sum(phase.steps for phase in self.phases(horizon) if phase.kind != "exploit")


class Crossings:
    """First steps at which a growing D(t) reaches 1, 2, 3 and so on.

    Parameters
    ----------
    level
        D, nowhere decreasing.
    horizon
        T: steps from T on do not matter.
    """

    def __init__(self, level: Callable[[int], float], horizon: int) -> None:
        self._level = level
        self._horizon = horizon
        self._steps = [0]

    def first(self, n: int) -> int:
        """First step t with n ≤ D(t); T when there is none before."""
        if n > len(self._steps) + FAR:
            return self._search(n, self._steps[-1])
        while len(self._steps) <= n:
            self._steps.append(self._search(len(self._steps), self._steps[-1]))
        return self._steps[n]

    def _search(self, n: int, start: int) -> int:
        """First step from `start` on that reaches n: doubling strides, then bisection."""
        if start >= self._horizon or self._level(start) >= n:
            return start
        low, stride = start, 1
        while self._level(min(low + stride, self._horizon - 1)) < n:
            low += stride
            stride *= 2
            if low >= self._horizon - 1:
                return self._horizon
        ahead = range(low, min(low + stride, self._horizon - 1) + 1)
        return low + bisect_left(ahead, float(n), key=self._level)


def practical(tests: float, repeats: float) -> Schedule:
    """D1 = G1 log t, D2 = G2 log t.

    Parameters
    ----------
    tests, repeats
        G1 and G2; G2 = 1/(a_min − ½)² is the printed one, G1 of 1 to 5 keeps exploration in
        proportion.

    Notes
    -----
    Source: Liu, Liu (2015), Section 6.1, which calls its constants G1 and G2 "sufficiently
    large" and gives no numbers.
    """
    return Schedule(tests, repeats)


def theoretical(skill: ArrayLike, *, weighted: bool = False) -> Schedule:
    """The printed constants: G1 = 1/((1/c − α)² ε²) and G2 = 1/(a_min − ½)².

    Here c = max over odd m of m · n(S^m), or with weights max over m of max(4 C m, m · n(S^m)); ε
    is 0.99 of the largest that is allowed, min(Δ_min, δ_min)/2 or δ^W_min/2, and α half of 1/c. For
    five workers G1 is of the order 10⁷ or more: as `exploration_steps` shows, such a schedule
    explores all the time that anyone will run it.

    Parameters
    ----------
    skill
        p, shape (M,); with weights strictly between 0 and 1.
    weighted
        For the weighted vote.

    Raises
    ------
    InputError
        A crowd that sets no ε above 0 (equal workers or sets), whose full vote only guesses, or
        with weights a skill of 0 or 1 or more than 20 workers.

    Notes
    -----
    Source: Liu, Liu (2015), Sections 3.1 and 4.2.
    """
    constants = crowd_constants(skill)
    gap = (
        smallest_weight_gap(skill) if weighted else min(constants.gap_min, constants.skill_gap_min)
    )
    if not 0 < gap < math.inf:
        raise InputError("the crowd sets no limit above 0 for epsilon: give G1,G2")
    epsilon = 0.99 * (gap / 2)
    count = weighted_count(skill, epsilon) if weighted else constants.largest_count
    tests, repeats = exploration_factors(float(count), epsilon, constants.a_min)
    if math.isinf(repeats):
        raise InputError("a_min is ½: a crowd that guesses cannot be learnt, give another")
    return Schedule(tests, repeats)


def decreasing(tests: float, repeats: float, eta: float) -> Schedule:
    """ε_t = 1/log^η t in place of a known ε: log^(1+2η) t in D1 and D2.

    Parameters
    ----------
    tests, repeats
        G1 and G2.
    eta
        η > 0.

    Notes
    -----
    Source: Liu, Liu (2015), Section 3.5.2.
    """
    if not eta > 0:
        raise InputError(f"eta is {eta}: give a number above 0")
    return Schedule(tests, repeats, log_power=1.0 + 2.0 * eta)


def contextual(tests: float, repeats: float, z: float) -> Schedule:
    """D1 and D2 that grow as t^z log t, for contexts from a continuum.

    Parameters
    ----------
    tests, repeats
        G1 and G2.
    z
        Strictly between 0 and 1.

    Notes
    -----
    Source: Liu, Liu (2015), Section 5.
    """
    return Schedule(tests, repeats, time_power=checks.inside("z", z))


def read(
    schedule: Schedule | str | Sequence[float],
    skill: ArrayLike | None = None,
    *,
    weighted: bool = False,
) -> Schedule:
    """Read a schedule as people write it.

    Parameters
    ----------
    schedule
        "G1,G2" (`practical`), "decreasing:G1,G2,eta", or "theoretical"; two numbers; or a schedule.
    skill
        True skills, which a theoretical schedule needs.
    weighted
        Whether that is for the weighted vote.

    Raises
    ------
    InputError
        It is none of these, a parameter is out of range, or theory sets none for these skills.
    """
    if isinstance(schedule, Schedule):
        return schedule
    text = schedule if isinstance(schedule, str) else ",".join(map(str, np.atleast_1d(schedule)))
    if text == "theoretical":
        if skill is None:
            raise InputError(
                "`schedule` theoretical needs the true skills: give `simulate`, or numbers G1,G2"
            )
        try:
            return theoretical(skill, weighted=weighted)
        except InputError as wrong:
            raise InputError(f"`schedule` theoretical: {wrong}") from None
        except ArithmeticError:
            raise InputError(
                f"`schedule` theoretical: for {np.size(skill)} workers its constants are too large "
                "for a computer, give fewer or G1,G2"
            ) from None
    kind, _, numbers = text.rpartition(":")
    wanted = {"": 2, "decreasing": 3}.get(kind)
    if wanted is None or numbers.count(",") != wanted - 1:
        raise InputError(
            f"`schedule` is {text!r}: give G1,G2 (as 3,5), decreasing:G1,G2,eta, or theoretical"
        )
    values = checks.listed("schedule", numbers, shown=text)
    try:
        return decreasing(*values) if kind else practical(*values)
    except InputError as wrong:
        raise InputError(f"`schedule` {text}: {wrong}") from None


def checkpoints_of(checkpoints: ArrayLike | None, horizon: int) -> IntArray:
    """Check checkpoints, shape (C,), ascending; 200 by default."""
    if checkpoints is None:
        return np.unique(np.linspace(1, horizon, POINTS).astype(np.int64))
    tasks = np.unique(checks.wholes("checkpoints", checkpoints))
    if not len(tasks) or tasks[0] < 1 or tasks[-1] > horizon:
        raise InputError(f"checkpoints: give numbers of tasks from 1 to {horizon}")
    return tasks
