"""What exploring steps teach the runs of the engine, all steps together.

The labels are there; the majority of each round follows, then the majority of each tester's
rounds so far, then how often each worker's first labels agree with those. Only vetting has to go
back: who is dropped changes the majorities that come after.

Source: Liu, Liu (2015), Figure 1, steps 2.1 to 2.3; 3.5.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.learning._exploration import Explored, Rule, explore
from workbench.learning.draws import Draws
from workbench.learning.vetting import FACTOR, Removal, Vetting


@dataclass(frozen=True, eq=False)
class Count:
    """A count for each worker that changes at few exploring steps.

    Attributes
    ----------
    at
        Positions of the steps after which it is new, ascending, shape (n,).
    value
        Shape (n, M).
    """

    at: IntArray
    value: IntArray

    @classmethod
    def of(cls, explored: Explored, at: IntArray, added: IntArray) -> Count:
        """Sum up what is added at some steps, among them the first of each run."""
        return cls(at, _within(np.searchsorted(at, explored.starts[:-1]), added))

    def after(self, step: IntArray) -> IntArray:
        """Value after exploring steps given by position, shape (…, M)."""
        return self.value[np.searchsorted(self.at, step, side="right") - 1]


def _within(starts: IntArray, added: IntArray | BoolArray) -> IntArray:
    """Sum up afresh from each start; `added` of shape (n, M), the first start 0."""
    total = np.cumsum(added, axis=0, dtype=np.int64)
    before = total[starts] - added[starts]
    total -= np.repeat(before, np.diff(np.append(starts, len(added))), axis=0)
    return total


@dataclass(frozen=True, eq=False)
class Learnt:
    """What is known after each exploring step.

    Attributes
    ----------
    explored
        The steps.
    label
        Majority label of the step's round, shape (E,).
    agreed, judged
        On how many testers a worker agreed with y*, and of how many she labelled.
    voters
        Who labelled the round, shape (E, M).
    present
        Who may be asked after it, shape (E, M).
    removed
        Workers dropped, for each run.
    """

    explored: Explored
    label: BoolArray
    agreed: Count
    judged: Count
    voters: BoolArray
    present: BoolArray
    removed: tuple[tuple[Removal, ...], ...]


def learn(draws: Draws, rule: Rule, runs: IntArray) -> Learnt:
    """Let some runs explore, and say what is known after each step."""
    explored = explore(draws, rule, runs)
    said = _round_labels(draws, explored)
    coin = np.where(explored.new, explored.coins[:, 1], explored.coins[:, 2]) < 0.5
    present = voters = np.broadcast_to(np.array(True), said.shape)
    label = _majorities(said, voters, coin)
    removed: tuple[tuple[Removal, ...], ...] = ((),) * len(runs)
    if rule.vetting is not None:
        label, voters, present, removed = _vet(explored, said, label, coin, rule.vetting)
    return Learnt(
        explored,
        label,
        _agreed(explored, said, voters, label),
        Count.of(explored, explored.arrival, voters[explored.arrival].astype(np.int64)),
        voters,
        present,
        removed,
    )


def _round_labels(draws: Draws, explored: Explored) -> BoolArray:
    """What all M workers say in each round, shape (E, M)."""
    M = draws.workers
    if explored.common:
        world = draws.worlds(explored.runs, explored.step[: explored.starts[1]])
        right = world[:, :, 1:] < np.tile(draws.skill[explored.runs], 2)[:, None]
        right, truth = right.reshape(-1, 2 * M), (world[:, :, 0] < 0.5).ravel()
    else:
        each = zip(explored.runs.tolist(), explored, strict=True)
        worlds = [(run, draws.world(run, explored.step[slice(*part)])) for run, part in each]
        right = np.concatenate([w[:, 1:] < np.tile(draws.skill[run], 2) for run, w in worlds])
        truth = np.concatenate([w[:, 0] < 0.5 for _, w in worlds])
    said = np.where(explored.new[:, None], right[:, :M], right[:, M:])
    # Right labels are the truth of the tester, wrong ones its opposite.
    arrival = explored.arrival[explored.tester]
    if draws.relabel == "identical":
        said = said[arrival]
    said ^= ~truth[arrival, None]
    return said


def _majorities(said: BoolArray, voters: BoolArray, coin: BoolArray) -> BoolArray:
    ahead = 2 * (said & voters).sum(axis=1) - voters.sum(axis=1)
    return np.where(ahead == 0, coin, ahead > 0)


def _agreed(explored: Explored, said: BoolArray, voters: BoolArray, label: BoolArray) -> Count:
    """On how many testers each worker's first label is y*.

    A step can turn the y* of its tester, and so changes the count by what one tester adds.
    """
    order = np.argsort(explored.tester, kind="stable")
    starts = explored.new[order]
    began = np.flatnonzero(starts)[explored.tester[order]]
    sorted_label = label[order]
    ones = np.cumsum(sorted_label, dtype=np.int64)
    ones -= ones[began] - sorted_label[began]
    ahead = 2 * ones - (np.arange(len(order)) - began + 1)
    star = np.where(ahead == 0, explored.coins[order, 3] < 0.5, ahead > 0)
    turned = starts.copy()
    turned[1:] |= star[1:] != star[:-1]
    at, star = order[turned], star[turned]
    by_time = np.argsort(at)
    at, star = at[by_time], star[by_time]
    first = explored.arrival[explored.tester[at]]
    gain = np.where(said[first] == star[:, None], 1, -1)
    # The first round of a tester adds an agreement or nothing; later ones turn it.
    gain[explored.new[at, None] & (gain < 0)] = 0
    gain[~voters[first]] = 0
    return Count.of(explored, at, gain)


def _vet(
    explored: Explored, said: BoolArray, label: BoolArray, coin: BoolArray, vetting: Vetting
) -> tuple[BoolArray, BoolArray, BoolArray, tuple[tuple[Removal, ...], ...]]:
    """Drop workers one after the other; each removal changes the majorities that follow."""
    R, M = explored.order.shape
    voters = np.ones_like(said)
    present = np.ones_like(said)
    removed: list[list[Removal]] = [[] for _ in range(R)]
    position = np.arange(len(label))
    rounds = position - explored.starts[explored.run] + 1
    last = explored.starts[:-1] - 1
    going = np.ones(R, dtype=bool)
    while going.any():
        differed = _within(explored.starts[:-1], said != label[:, None])
        worst, exponent = _worst(differed, rounds, present, vetting)
        drop = (exponent > vetting.exponent) & (position > last[explored.run])
        at = np.flatnonzero(drop & going[explored.run])
        dropping, first = np.unique(explored.run[at], return_index=True)
        going[:] = False
        going[dropping] = True
        for row, e in zip(dropping.tolist(), at[first].tolist(), strict=True):
            i, end = int(worst[e]), int(explored.starts[row + 1])
            counts = np.full(M, rounds[e])
            said_so = vetting.worst(differed[e], counts, present[e])
            assert said_so is not None
            removed[row].append(Removal(i, said_so.error, int(explored.step[e])))
            present[e:end, i] = False
            voters[e + 1 : end, i] = False
            last[row] = e
        label = _majorities(said, voters, coin)
    return label, voters, present, tuple(tuple(one) for one in removed)


def _worst(
    differed: IntArray, rounds: IntArray, present: BoolArray, vetting: Vetting
) -> tuple[IntArray, FloatArray]:
    """Who differed most, and the exponent of the probability that somebody else should have."""
    if differed.shape[1] < 2:
        return np.zeros(len(differed), dtype=np.int64), np.full(len(differed), -np.inf)
    counts = np.where(present, differed, -1)
    top = np.sort(counts, axis=1)[:, -2:]
    gap = (top[:, 1] - top[:, 0]) / rounds
    exponent = FACTOR[vetting.variant] * gap**2 * rounds
    exponent[present.sum(axis=1) <= max(vetting.least, 1)] = -np.inf
    return counts.argmax(axis=1), exponent
