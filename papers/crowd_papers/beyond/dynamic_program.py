"""The best online policy, by dynamic programming over how many tasks lack how much.

A state is a histogram over lack levels for each task class. Levels that cost the same repair and
go to the same levels are one (automaton minimisation). Choices of a worker are never listed: levels
are scanned upward, and a task served falls below the level looked at,

    F_l(h, m) = min(F_{l+1}(h, m), c + F_l(h − e_l + e_{l − q}, m − 1)),

with F_{L+1} the value after the worker and m the labels she may still give; where that is no
limit (M ≥ n), m is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crowd_models import (
    Arrivals,
    IndependentArrivals,
    OnlineProblem,
    RandomOrder,
    SequenceMix,
    TaskState,
)
from workbench.base import FloatArray, InputError, IntArray

MOST_STATES = 5_000_000
"""Beyond so many, arrays of them no longer fit."""
AT_ONCE = 20_000_000
"""Numbers in one working array."""
CACHED = 10_000
"""Numbers that a processor keeps at hand."""


@dataclass(frozen=True)
class LackLevels:
    """Levels of one task class: lacks that can be told apart by cost or by what may follow.

    Attributes
    ----------
    level
        Number of each lack that can be met.
    successor
        Level after a label, shape (K, L); a level itself where the label does not help.
    repair
        Price of what is lacking, shape (L,).
    """

    level: dict[int, int]
    successor: IntArray
    repair: FloatArray

    @classmethod
    def of(cls, problem: OnlineProblem, task_class: int) -> LackLevels:
        """Find them, from the requirement downward."""
        quality = problem.quality[task_class]
        met = [problem.requirement[task_class]]
        for lack in met:
            met.extend({max(lack - q, 0) for q in quality} - {*met})
        met.sort()
        part: dict[int, Any] = {lack: problem.repair(lack) for lack in met}
        count = 0
        while len(set(part.values())) > count:  # a finer partition than before
            count = len(set(part.values()))
            outcomes = {s: (part[s], *(part[max(s - q, 0)] for q in quality)) for s in met}
            number: dict[Any, int] = {}
            part = {s: number.setdefault(outcomes[s], len(number)) for s in met}  # by smallest lack
        least = {level: lack for lack, level in reversed(part.items())}
        return cls(
            part,
            np.array([[part[max(least[level] - q, 0)] for level in range(count)] for q in quality]),
            np.array([problem.repair(least[level]) for level in range(count)]),
        )


class Move(NamedTuple):
    """States `up`, and the same with one task of a level served, `down`.

    They stand by how many tasks are on the level, 1, 2, …; `ends` says how far those go.
    """

    up: NDArray[np.int32]
    down: NDArray[np.int32]
    ends: IntArray

    def pieces(self, most: int) -> Iterator[tuple[IntArray, IntArray]]:
        """Both in pieces of at most so many, none of which has a state `down` of its own."""
        for first, end in zip([0, *self.ends[:-1]], self.ends, strict=True):
            for at in range(first, end, most):
                piece = slice(at, min(at + most, end))
                yield self.up[piece].astype(np.intp), self.down[piece].astype(np.intp)


class StateSpace:
    """All states of a problem's tasks: a histogram over levels for each task class.

    Attributes
    ----------
    size
        How many there are.
    repair
        Price of what is lacking, shape (size,).
    start
        The state in which nothing is done.
    """

    def __init__(self, problem: OnlineProblem) -> None:
        self.problem = problem
        self.levels = [LackLevels.of(problem, t) for t in range(len(problem.tasks))]
        sizes = [
            math.comb(n + len(lacks.repair) - 1, n)
            for n, lacks in zip(problem.tasks, self.levels, strict=True)
        ]
        self.size = math.prod(sizes)
        if self.size > MOST_STATES:
            raise InputError(
                f"the tasks have {self.size:,} states, more than {MOST_STATES:,}: give fewer "
                "tasks, or smaller requirements"
            )
        self._stride = [math.prod(sizes[t + 1 :]) for t in range(len(sizes))]
        self._moves: dict[tuple[int, int, int], Move] = {}
        self.repair = np.zeros(1)
        for n, lacks in zip(problem.tasks, self.levels, strict=True):
            own = histograms(n, len(lacks.repair)) @ lacks.repair
            self.repair = np.add.outer(self.repair, own).ravel()
        self.start = self.index(problem.start)

    def index(self, state: TaskState) -> int:
        """Number of a state."""
        place = 0
        for t, (n, lacks) in enumerate(zip(self.problem.tasks, self.levels, strict=True)):
            own = [lacks.level[lack] for of, lack in state if of == t]
            counts = np.bincount(own, minlength=len(lacks.repair))[None]
            place += self._stride[t] * int(ranks(counts, n)[0])
        return place

    def moves(self, kind: int) -> Iterator[Move]:
        """What one label does, level by level from the highest."""
        for t, lacks in enumerate(self.levels):
            for level in range(len(lacks.repair) - 1 if self.problem.tasks[t] else 0, 0, -1):
                after = int(lacks.successor[kind, level])
                if after != level:
                    key = t, level, after
                    if key not in self._moves:
                        self._moves[key] = self._new_move(*key)
                    yield self._moves[key]

    def _new_move(self, t: int, level: int, after: int) -> Move:
        n, count, stride = self.problem.tasks[t], len(self.levels[t].repair), self._stride[t]
        counts = histograms(n, count)
        block = stride * len(counts)
        rest = np.add.outer(np.arange(0, self.size, block), np.arange(stride)).ravel()
        # The others' order, by last levels, stays whatever level the one task is on.
        places = [np.flatnonzero(counts[:, place]) for place in (level, after)]
        there = counts[places[0], level]
        order = np.argsort(there, kind="stable")
        ends = np.cumsum(np.bincount(there, minlength=n + 1)[1:]) * len(rest)
        up, down = (
            np.add.outer(stride * at[order], rest).ravel().astype(np.int32) for at in places
        )
        return Move(up, down, ends)


@lru_cache(maxsize=2)
def histograms(tasks: int, levels: int) -> NDArray[np.int8]:
    """All ways to put tasks on levels, shape (·, levels), those with few on the last first."""
    parts = [np.full((1, 1), n, dtype=np.int8) for n in range(tasks + 1)]
    for _ in range(levels - 1):
        parts = [
            np.concatenate(
                [
                    np.insert(parts[n - last], len(parts[0][0]), last, axis=1)
                    for last in range(n + 1)
                ]
            )
            for n in range(tasks + 1)
        ]
    return parts[tasks]


def ranks(counts: NDArray[Any], tasks: int) -> IntArray:
    """Place of each histogram (·, levels) among `histograms`."""
    place = np.zeros(len(counts), dtype=np.int64)
    remaining = np.full(len(counts), tasks)
    for level in range(counts.shape[1] - 1, 0, -1):
        place += _before(tasks, level)[remaining, counts[:, level]]
        remaining = remaining - counts[:, level]
    return place


@lru_cache(maxsize=256)
def _before(tasks: int, level: int) -> IntArray:
    """How many histograms of n tasks on levels 0 … `level` have fewer than c there: [n, c]."""
    counts = np.zeros((tasks + 1, tasks + 1), dtype=np.int64)
    for n in range(tasks + 1):
        others = [math.comb(n - c + level - 1, level - 1) for c in range(n)]
        counts[n, 1 : n + 1] = np.cumsum(others)
    return counts


class Layer(NamedTuple):
    """Nodes of the arrivals after so many workers, as arrays.

    Attributes
    ----------
    number
        Of each node.
    weight, end
        As `Arrivals` has them, shape (N,).
    edges
        By type: node before, node after (numbered in the next layer), factor; each (E,).
    """

    number: dict[Any, int]
    weight: FloatArray
    end: FloatArray
    edges: dict[int, tuple[IntArray, IntArray, FloatArray]]


def layers(arrivals: Arrivals) -> list[Layer]:
    """Lay out the nodes of the arrivals by how many workers have come."""
    stages, here = [], {arrivals.root: 0}
    while here:
        after: dict[Any, int] = {}
        edges: dict[int, list[tuple[int, int, float]]] = {}
        for node, at in here.items():
            for factor, kind, child in arrivals.after(node):
                place = after.setdefault(child, len(after))
                edges.setdefault(kind, []).append((at, place, factor))
        stages.append(
            Layer(
                here,
                np.array([arrivals.weight(node) for node in here], dtype=np.float64),
                np.array([arrivals.end(node) for node in here], dtype=np.float64),
                {
                    kind: (
                        np.array([edge[0] for edge in those]),
                        np.array([edge[1] for edge in those]),
                        np.array([edge[2] for edge in those], dtype=np.float64),
                    )
                    for kind, those in edges.items()
                },
            )
        )
        here = after
    return stages


def best_service(
    states: StateSpace, value: FloatArray, price: FloatArray, kind: int, *, track: bool = False
) -> tuple[FloatArray, IntArray | None]:
    """What it costs from a worker's arrival on, when she is given the best tasks.

    Parameters
    ----------
    value
        Cost after her, by state and node, shape (S, E).
    price
        Of one of her labels, shape (E,).
    track
        Also find her tasks.

    Returns
    -------
    tuple
        The cost before her, (S, E); and the state after her, plus S for each label, (S, E).
    """
    most = min(states.problem.capacity[kind], sum(states.problem.tasks))
    limited = most < sum(states.problem.tasks)
    shape = value.shape if value.shape[1] != 1 else (-1,)  # NumPy is faster with one axis
    cost = [value.reshape(shape).copy() for _ in range(most + 1 if limited else 1)]
    then = []
    if track:
        none = np.repeat(np.arange(states.size)[:, None], value.shape[1], axis=1).reshape(shape)
        then = [none.copy() for _ in cost]
    for move in states.moves(kind):
        for own, after in move.pieces(max(1, CACHED // value.shape[1])):
            for m in range(int(limited), len(cost)):
                serve = cost[m - limited].take(after, axis=0)
                serve += price
                stay = cost[m].take(own, axis=0)
                if track:
                    instead = then[m - limited][after] + states.size
                    then[m][own] = np.where(serve < stay, instead, then[m][own])
                cost[m][own] = np.minimum(stay, serve, out=stay)
    return cost[-1].reshape(value.shape), then[-1].reshape(value.shape) if track else None


@dataclass(frozen=True, eq=False)
class OnlineOptimum:
    """The best online policy of a problem.

    Attributes
    ----------
    cost
        Its expected cost, repair included.
    values
        Cost from each layer of `layers` on, shape (S, N) each, times weights; empty where not kept.
    """

    problem: OnlineProblem
    cost: float
    states: StateSpace
    layers: Sequence[Layer]
    values: Sequence[FloatArray]

    def value(self, workers: int, node: Any, state: TaskState) -> float:
        """Cost from a node on that so many workers came before, times the node's weight."""
        at = self.layers[workers].number[node]
        return float(self.values[workers][self.states.index(state), at])

    def cost_of(
        self, workers: int, node: Any, kind: int, tasks: Sequence[Any], after: TaskState
    ) -> float:
        """Cost of giving a worker of a type some tasks, and doing the best ever after.

        `workers` came before her, `node` is after her, `after` the state after her.
        """
        weight = self.problem.arrivals.weight(node)
        paid = self.problem.price[kind] * len(tasks)
        return weight * paid + self.value(workers + 1, node, after)

    def choice(
        self, workers: int, node: Any, state: TaskState, kind: int
    ) -> tuple[float, TaskState, TaskState]:
        """Cost of the best choice for a worker, her tasks, and the state after her."""
        return min(
            (self.cost_of(workers, node, kind, tasks, after), tasks, after)
            for tasks, after in self.problem.choices(state, kind)
        )


def online_optimum(problem: OnlineProblem, *, keep: bool = True) -> OnlineOptimum:
    """The best online policy, exactly up to rounding.

    Parameters
    ----------
    keep
        Keep the cost from every state on, which makes it a policy.

    Raises
    ------
    InputError
        More than `MOST_STATES` states.
    """
    states, laid = StateSpace(problem), layers(problem.arrivals)
    values: list[FloatArray] = []
    for value, _ in backward(states, laid):
        values = [value, *values] if keep else [value]
    cost = float(values[0][states.start, 0]) / problem.arrivals.weight(problem.arrivals.root)
    return OnlineOptimum(problem, cost, states, laid, values if keep else [])


class Service(NamedTuple):
    """Who gets what on some edges: type, nodes before and after, `then` of `best_service`."""

    kind: int
    parent: IntArray
    child: IntArray
    then: IntArray


def backward(
    states: StateSpace, laid: Sequence[Layer], *, track: bool = False
) -> Iterator[tuple[FloatArray, list[Service]]]:
    """Cost from each state and node on, layer by layer from the last; what is done, if tracked."""
    value = np.zeros((states.size, 0))
    for t in range(len(laid) - 1, -1, -1):
        before, services = states.repair[:, None] * laid[t].end, []
        for kind, edge in laid[t].edges.items():
            for parent, child, factor in _pieces(states, kind, *edge):
                price = states.problem.price[kind] * laid[t + 1].weight[child]
                cost, then = best_service(states, value[:, child], price, kind, track=track)
                before[:, parent] += cost * factor
                if then is not None:
                    services.append(Service(kind, parent, child, then))
        value = before
        yield value, services


def _pieces(
    states: StateSpace, kind: int, *edge: NDArray[Any]
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Edges, as many at once as there is room for."""
    width = min(states.problem.capacity[kind], sum(states.problem.tasks)) + 1
    room = max(1, AT_ONCE // (states.size * width))
    for first in range(0, len(edge[0]), room):
        parent, child, factor = (part[first : first + room] for part in edge)
        yield parent, child, factor


# Offline.


OfflinePlan: TypeAlias = tuple[float, list[list[int]]]
"""Least cost, and the tasks of each worker, in order of type; tasks are numbered class by class."""


def offline_plans(
    problem: OnlineProblem, crowds: Iterable[tuple[int, ...]], *, plans: bool = True
) -> dict[tuple[int, ...], OfflinePlan]:
    """What is best when all who come are known, by crowd: the types of its workers, sorted.

    Parameters
    ----------
    plans
        Find who does what; otherwise only the cost.
    """
    states = StateSpace(problem)
    values = [states.repair[:, None]]
    path: tuple[int, ...] = ()
    best: dict[tuple[int, ...], OfflinePlan] = {}
    for crowd in sorted({tuple(sorted(types)) for types in crowds}):
        shared = sum(crowd[:at] == path[:at] for at in range(1, len(path) + 1))
        del values[shared + 1 :]
        for kind in crowd[shared:]:
            price = np.array([problem.price[kind]])
            values.append(best_service(states, values[-1], price, kind)[0])
        path = crowd
        plan = _followed(problem, states, crowd, values) if plans else []
        best[crowd] = float(values[-1][states.start, 0]), plan
    return best


def _followed(
    problem: OnlineProblem, states: StateSpace, crowd: tuple[int, ...], values: list[FloatArray]
) -> list[list[int]]:
    """Who does what: `values` has the cost from each state on when the first workers are left."""
    tasks, plan = list(problem.start), []
    for kind, value in zip(reversed(crowd), values[-2::-1], strict=True):
        _, served = min(
            (problem.price[kind] * len(served) + value[states.index(after), 0], served)
            for served, after in problem.choices(tuple(sorted(tasks)), kind)
        )
        chosen: list[int] = []
        for task in served:
            chosen.append(next(i for i, t in enumerate(tasks) if t == task and i not in chosen))
        for i in chosen:
            tasks[i] = problem.helped(tasks[i], kind)
        plan.append(chosen)
    return plan[::-1]


def offline_optimum(problem: OnlineProblem) -> float:
    """Expected least cost when all who come are known beforehand, with the same repair."""
    chances = crowd_chances(problem.arrivals)
    plans = offline_plans(problem, chances, plans=False)
    return sum(chance * plans[crowd][0] for crowd, chance in chances.items())


def crowd_chances(arrivals: Arrivals) -> Mapping[tuple[int, ...], float]:
    """Chance of each crowd that may come: types of its workers, sorted."""
    if isinstance(arrivals, RandomOrder):
        kinds = np.repeat(np.arange(len(arrivals.counts)), arrivals.counts)
        return {tuple(kinds.tolist()): 1.0}
    if isinstance(arrivals, SequenceMix):
        chances: dict[tuple[int, ...], float] = {}
        for sequence, weight in zip(arrivals.sequences, arrivals.weights, strict=True):
            crowd = tuple(sorted(sequence))
            chances[crowd] = chances.get(crowd, 0.0) + weight / arrivals.weight(())
        return chances
    assert isinstance(arrivals, IndependentArrivals)
    chance = arrivals.probability
    chances = {}
    for crowd in combinations_with_replacement(range(len(chance)), arrivals.workers):
        counts = np.bincount(crowd, minlength=len(chance)).tolist()
        orders = math.factorial(len(crowd)) // math.prod(map(math.factorial, counts))
        chances[crowd] = orders * math.prod(
            p**count for p, count in zip(chance, counts, strict=True)
        )
    return chances
