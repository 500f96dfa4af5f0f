"""When the runs of the engine explore, and with which tester.

Neither depends on what workers say. Without delay the steps that explore are even the same in
all runs; only which tester is assigned again is a matter of chance.

Source: Liu, Liu (2015), Figure 1, O(t) and step 2.1; 3.5.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.learning.draws import BLOCK, Draws
from workbench.learning.schedule import Crossings, Phase, Schedule
from workbench.learning.sets import Vote
from workbench.learning.vetting import Vetting


@dataclass(frozen=True)
class Rule:
    """What is played: see `simulate`; `phases` are the exploring ones."""

    schedule: Schedule
    phases: list[Phase]
    vote: Vote
    delay: int
    vetting: Vetting | None
    horizon: int


@dataclass(frozen=True, eq=False)
class Explored:
    """The exploring steps of some runs, run after run, E in all.

    Attributes
    ----------
    runs
        Which, shape (R,).
    starts
        Where each run's steps begin, shape (R + 1,).
    run
        Row of each step's run in `runs`, shape (E,).
    step
        t, shape (E,).
    new
        Whether it makes a new tester, else it is a retest, shape (E,).
    tester
        The tester, numbered through all runs, shape (E,).
    coins
        Shape (E, 5).
    order
        Of equal workers, shape (R, M).
    common
        Whether all runs explore at the same steps.
    """

    runs: IntArray
    starts: IntArray
    run: IntArray
    step: IntArray
    new: BoolArray
    tester: IntArray
    coins: FloatArray
    order: FloatArray
    common: bool

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Where the steps of each run begin and end."""
        return pairwise(self.starts.tolist())

    @property
    def arrival(self) -> IntArray:
        """Position of each tester's first step, shape (K,)."""
        return np.flatnonzero(self.new)


def explore(draws: Draws, rule: Rule, runs: IntArray) -> Explored:
    """Lay out the exploring steps of some runs."""
    if rule.delay > 1:
        return _stacked(runs, [_delayed(draws, rule, run) for run in runs.tolist()])
    phases = rule.phases
    step = np.concatenate([np.arange(one.start, one.start + one.steps) for one in phases])
    new = np.repeat([one.kind == "new tester" for one in phases], [one.steps for one in phases])
    order, coins = draws.coins_at(runs, step)
    tester = _picks(phases, coins[:, :, 0])
    R, n = tester.shape
    return Explored(
        runs=runs,
        starts=np.arange(R + 1) * n,
        run=np.repeat(np.arange(R), n),
        step=np.tile(step, R),
        new=np.tile(new, R),
        tester=(tester + phases[-1].testers * np.arange(R)[:, None]).ravel(),
        coins=coins.reshape(R * n, -1),
        order=order,
        common=True,
    )


def _picks(phases: list[Phase], coin: FloatArray) -> IntArray:
    """The tester of each exploring step, shape (R, n), numbered within the run."""
    R, n = coin.shape
    coin = np.ascontiguousarray(coin.T)
    tester = np.empty((n, R), dtype=np.int64)
    rounds = np.zeros((phases[-1].testers, R), dtype=np.int32)
    every = np.arange(R)
    e = fed = 0
    for phase in phases:
        if phase.kind == "new tester":
            # All the others have had the rounds that were required at this time.
            fed = phase.required
        if phase.required == fed:
            tester[e : e + phase.steps] = phase.testers - 1
            rounds[phase.testers - 1] += phase.steps
            e += phase.steps
            continue
        for _ in range(phase.steps):
            # The first that has more candidates up to itself than the coin passes over.
            passed = np.add.accumulate(rounds[: phase.testers] < phase.required, dtype=np.int32)
            pick = np.add.reduce(passed <= coin[e] * passed[-1], out=tester[e])
            rounds[pick, every] += 1
            e += 1
    return np.ascontiguousarray(tester.T)


def _delayed(
    draws: Draws, rule: Rule, run: int
) -> tuple[IntArray, BoolArray, IntArray, FloatArray, FloatArray]:
    """Exploring steps of one run where testers make us wait: step, new, tester, coins, order."""
    T = rule.horizon
    enough = Crossings(rule.schedule.d1, T), Crossings(rule.schedule.d2, T)
    coins = _Coins(draws, run)
    rounds: list[int] = []
    ready: list[int] = []
    steps: list[int] = []
    testers: list[int] = []
    tossed: list[FloatArray] = []
    required, t = 1, 0
    while t < T:
        while enough[1].first(required) <= t:
            required += 1
        rise = enough[1].first(required)
        short = [k for k, done in enumerate(rounds) if done < required]
        free = [k for k in short if ready[k] <= t]
        if free or not (short or enough[0].first(len(rounds)) > t):
            coin = coins.at(t)
            k = free[int(coin[0] * len(free))] if free else len(rounds)
            if k == len(rounds):
                rounds.append(0)
                ready.append(0)
            rounds[k] += 1
            ready[k] = t + 1 + int(coin[4] * rule.delay)
            steps.append(t)
            testers.append(k)
            tossed.append(coin)
            t += 1
        elif short:
            t = min(rise, *(ready[k] for k in short))
        else:
            t = min(rise, enough[0].first(len(rounds)))
    tester = np.array(testers)
    new = np.zeros(len(tester), dtype=bool)
    new[np.unique(tester, return_index=True)[1]] = True
    return np.array(steps), new, tester, np.array(tossed), coins.order


class _Coins:
    """The coins of one run, read forwards in blocks."""

    def __init__(self, draws: Draws, run: int) -> None:
        self._draws, self._run = draws, np.array([run])
        order, block = draws.coins_at(self._run, np.arange(BLOCK))
        self.order, self._block, self._start = order[0], block[0], 0

    def at(self, step: int) -> FloatArray:
        if step >= self._start + len(self._block):
            self._start = step
            steps = np.arange(step, step + BLOCK)
            self._block = self._draws.coins_at(self._run, steps)[1][0]
        row: FloatArray = self._block[step - self._start]
        return row


def _stacked(
    runs: IntArray, each: list[tuple[IntArray, BoolArray, IntArray, FloatArray, FloatArray]]
) -> Explored:
    step, new, tester, coins, order = zip(*each, strict=True)
    sizes = [len(one) for one in step]
    first = np.cumsum([0, *(int(one.sum()) for one in new)])
    return Explored(
        runs=runs,
        starts=np.cumsum([0, *sizes]),
        run=np.repeat(np.arange(len(runs)), sizes),
        step=np.concatenate(step),
        new=np.concatenate(new),
        tester=np.concatenate([one + k for one, k in zip(tester, first, strict=False)]),
        coins=np.concatenate(coins),
        order=np.stack(order),
        common=False,
    )
