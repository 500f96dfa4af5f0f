"""When the runs of the engine explore, with which tester, and what these steps teach.

When does not depend on what workers say. Without delay the steps that explore are even the same in
all runs; only which tester is assigned again is a matter of chance. What they teach can then be
computed for all steps together: the labels are there; the majority of each round follows, then the
majority of each tester's rounds so far, then how often each worker's first labels agree with
those. Only vetting has to go back: who is dropped changes the majorities that come after.

Source: Liu, Liu (2015), Figure 1, O(t) and steps 2.1 to 2.3; 3.5.1 and 3.5.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.learning.draws import COINS, Draws
from workbench.learning.schedule import Crossings, Phase, Schedule
from workbench.learning.vetting import FACTOR, Removal, Vetting


@dataclass(frozen=True, eq=False)
class Exploration:
    """The exploring steps of some runs, run after run, E in all.

    Attributes
    ----------
    horizon
        T.
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
    first
        Position of the step that made its tester, shape (E,).
    coins
        Shape (E, 5).
    order
        Of equal workers, shape (R, M).
    labels
        What all M workers say in each round, shape (E, M); each worker's labels lie together.
    """

    horizon: int
    runs: IntArray
    starts: IntArray
    run: IntArray
    step: IntArray
    new: BoolArray
    first: IntArray
    coins: FloatArray
    order: FloatArray
    labels: BoolArray

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Where the steps of each run begin and end."""
        return pairwise(self.starts.tolist())


@dataclass(frozen=True, eq=False)
class Learnt:
    """What is known after each exploring step.

    Attributes
    ----------
    label
        Majority label of the step's round, shape (E,).
    agreed, judged
        On how many testers a worker agreed with y*, and of how many she labelled, shape (E, M).
    present
        Who may be asked after it, shape (E, M).
    removed
        Workers dropped, for each run.
    """

    label: BoolArray
    agreed: IntArray
    judged: IntArray
    present: BoolArray
    removed: tuple[tuple[Removal, ...], ...]


def explore(
    draws: Draws,
    schedule: Schedule,
    phases: list[Phase],
    horizon: int,
    delay: int,
    runs: IntArray,
) -> Exploration:
    """Lay out the exploring steps of some runs; without delay they are those of the phases."""
    if delay > 1:
        each = [_delayed(draws, schedule, horizon, delay, run) for run in runs.tolist()]
        step, tester, tossed, orders = zip(*each, strict=True)
        coins, order = np.concatenate(tossed), np.stack(orders)
        world = np.concatenate([draws.world(*own) for own in zip(runs.tolist(), step, strict=True)])
    else:
        common = np.concatenate(
            [np.arange(phase.start, phase.start + phase.steps) for phase in phases]
        )
        order, coins = draws.coins_at(runs, common)
        step = (common,) * len(runs)
        tester = tuple(_picks(phases, coins[:, :, 0]))
        coins = coins.reshape(-1, COINS)
        world = draws.worlds(runs, common).reshape(len(coins), -1)
    starts = np.cumsum([0, *map(len, step)])
    # Testers are numbered as they come, here through all runs: a new one is the largest so far.
    before = np.cumsum([0, *(numbers.max() + 1 for numbers in tester[:-1])])
    number = np.concatenate(tester) + np.repeat(before, np.diff(starts))
    new = np.diff(np.maximum.accumulate(number), prepend=-1) > 0
    run, first = np.repeat(np.arange(len(runs)), np.diff(starts)), np.flatnonzero(new)[number]
    return Exploration(
        horizon=horizon,
        runs=runs,
        starts=starts,
        run=run,
        step=np.concatenate(step),
        new=new,
        first=first,
        coins=coins,
        order=order,
        labels=_round_labels(draws, world, new, first, runs[run]),
    )


def _round_labels(
    draws: Draws, world: FloatArray, new: BoolArray, first: IntArray, run: IntArray
) -> BoolArray:
    """What all M workers say in each round, shape (E, M)."""
    M = draws.workers
    # Worker by worker, each in a row of memory: that is several times as fast, here and later.
    labels = np.empty((M, len(new)), dtype=bool)
    for i in range(M):
        labels[i] = np.where(new, world[:, 1 + i], world[:, 1 + M + i]) < draws.skill[run, i]
    # Right labels are the truth of the tester, wrong ones its opposite.
    labels ^= world[first, 0] >= 0.5
    return labels.T


def _picks(phases: list[Phase], draw: FloatArray) -> IntArray:
    """The tester of each exploring step, shape (R, n), numbered within the run."""
    R, n = draw.shape
    draw = np.ascontiguousarray(draw.T)
    tester = np.empty((n, R), dtype=np.int64)
    rounds = np.zeros((phases[-1].testers, R), dtype=np.int32)
    every = np.arange(R)
    e = settled = 0
    for phase in phases:
        if phase.kind == "new tester":
            # All the others have had the rounds that were required at this time.
            settled = phase.required
        if phase.required == settled:
            tester[e : e + phase.steps] = phase.testers - 1
            rounds[phase.testers - 1] += phase.steps
            e += phase.steps
            continue
        for _ in range(phase.steps):
            # The first that has more candidates up to itself than the draw passes over.
            passed = np.add.accumulate(rounds[: phase.testers] < phase.required, dtype=np.int32)
            pick = np.add.reduce(passed <= draw[e] * passed[-1], out=tester[e])
            rounds[pick, every] += 1
            e += 1
    return np.ascontiguousarray(tester.T)


def _delayed(
    draws: Draws, schedule: Schedule, T: int, delay: int, run: int
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Exploring steps of one run where testers make us wait: step, tester, coins, order."""
    tests, repeats = Crossings(schedule.d1, T), Crossings(schedule.d2, T)
    rng = draws.coins(run)
    order = rng.random(draws.workers)
    rounds: list[int] = []
    ready: list[int] = []
    steps: list[int] = []
    testers: list[int] = []
    tossed: list[FloatArray] = []
    required, t, drawn = 1, 0, 0
    while t < T:
        while repeats.first(required) <= t:
            required += 1
        rise = repeats.first(required)
        short = [k for k, done in enumerate(rounds) if done < required]
        free = [k for k in short if ready[k] <= t]
        if free or not (short or tests.first(len(rounds)) > t):
            rng.bit_generator.advance((t - drawn) * COINS)  # type: ignore[attr-defined]
            coins, drawn = rng.random(COINS), t + 1
            k = free[int(coins[0] * len(free))] if free else len(rounds)
            if k == len(rounds):
                rounds.append(0)
                ready.append(0)
            rounds[k] += 1
            ready[k] = t + 1 + int(coins[4] * delay)
            steps.append(t)
            testers.append(k)
            tossed.append(coins)
            t += 1
        elif short:
            t = min(rise, *(ready[k] for k in short))
        else:
            t = min(rise, tests.first(len(rounds)))
    return np.array(steps), np.array(testers), np.array(tossed), order


def learn(explored: Exploration, vetting: Vetting | None) -> Learnt:
    """Say what is known after each exploring step."""
    labels = explored.labels
    tie = np.where(explored.new, explored.coins[:, 1], explored.coins[:, 2]) < 0.5
    present = voters = np.ones_like(labels)
    label = _majorities(labels, voters, tie)
    removed: tuple[tuple[Removal, ...], ...] = ((),) * len(explored.runs)
    if vetting is not None:
        label, voters, present, removed = _vet(explored, label, tie, vetting)
    star, before = _running_majorities(explored, label)
    # The first round of a tester adds an agreement or nothing; later ones turn it or leave it.
    at = np.flatnonzero(explored.new | (star != before))
    first = explored.first[at]
    agrees = (np.take(labels.T, first, axis=1) == star[at]).astype(np.int8)
    gain = np.zeros(labels.T.shape, dtype=np.int8)
    gain[:, at] = np.where(explored.new[at], agrees, 2 * agrees - 1) * voters.T[:, first]
    starts = explored.starts
    judged = _within(starts, voters & explored.new[:, None])
    return Learnt(label, _within(starts, gain.T), judged, present, removed)


def _within(starts: IntArray, added: np.ndarray[Any, Any]) -> IntArray:
    """Sum up afresh in each run; `added` of shape (E, M)."""
    total = np.array(added.T, dtype=np.int64, order="C")
    total[:, starts[1:-1]] -= np.add.reduceat(total, starts[:-1], axis=1)[:, :-1]
    return np.cumsum(total, axis=1, out=total).T


def _majorities(labels: BoolArray, voters: BoolArray, tie: BoolArray) -> BoolArray:
    ahead = 2 * (labels & voters).sum(axis=1) - voters.sum(axis=1)
    return np.where(ahead == 0, tie, ahead > 0)


def _running_majorities(explored: Exploration, label: BoolArray) -> tuple[BoolArray, BoolArray]:
    """y* of each step's tester, after the step and before it, shape (E,)."""
    order = np.argsort(explored.first, kind="stable")
    starts = explored.new[order]
    began = np.flatnonzero(starts)[np.cumsum(starts) - 1]
    sorted_label = label[order]
    ones = np.cumsum(sorted_label, dtype=np.int64)
    ones -= ones[began] - sorted_label[began]
    ahead = 2 * ones - (np.arange(len(order)) - began + 1)
    sorted_star = np.where(ahead == 0, explored.coins[order, 3] < 0.5, ahead > 0)
    star, before = np.empty((2, len(order)), dtype=bool)
    star[order], before[order] = sorted_star, np.roll(sorted_star, 1)
    return star, before


def _vet(
    explored: Exploration, label: BoolArray, tie: BoolArray, vetting: Vetting
) -> tuple[BoolArray, BoolArray, BoolArray, tuple[tuple[Removal, ...], ...]]:
    """Drop workers one after the other; each removal changes the majorities that follow."""
    (R, M), labels = explored.order.shape, explored.labels
    voters, present = np.ones((2, *labels.shape), dtype=bool)
    removed: list[list[Removal]] = [[] for _ in range(R)]
    position = np.arange(len(label))
    rounds = position - explored.starts[explored.run] + 1
    last = explored.starts[:-1] - 1
    going = np.ones(R, dtype=bool)
    while M > 1 and going.any():
        differed = _within(explored.starts, labels != label[:, None])
        top = np.sort(np.where(present, differed, -1), axis=1)[:, -2:]
        exponent = FACTOR[vetting.variant] * ((top[:, 1] - top[:, 0]) / rounds) ** 2 * rounds
        drop = (exponent > vetting.exponent) & (present.sum(axis=1) > vetting.least)
        drop &= going[explored.run] & (position > last[explored.run])
        at = np.flatnonzero(drop)
        dropping, first = np.unique(explored.run[at], return_index=True)
        going[:] = False
        going[dropping] = True
        for row, e in zip(dropping.tolist(), at[first].tolist(), strict=True):
            worst = vetting.worst(differed[e], np.full(M, rounds[e]), present[e])
            assert worst is not None
            removed[row].append(Removal(worst.worker, worst.error, int(explored.step[e])))
            end = int(explored.starts[row + 1])
            present[e:end, worst.worker] = False
            voters[e + 1 : end, worst.worker] = False
            last[row] = e
        label = _majorities(labels, voters, tie)
    return label, voters, present, tuple(tuple(removals) for removals in removed)
