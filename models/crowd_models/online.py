"""Who does which task, online: the problem whose best policy can be computed, as a linear program.

Workers arrive one after another, by a law that is known; each is of a type, and on arrival takes
tasks at once and for good, at most her capacity. Qualities and requirements are whole units. What
a task still lacks in the end is bought, by online and offline player alike, in whole repair labels
at a known price: every sequence of arrivals is feasible.

The linear program is over occupation measures: Puterman (1994), Markov Decision Processes, 6.9.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyomo.environ as pyo

from workbench.base import checks
from workbench.base.errors import InputError

TaskState: TypeAlias = tuple[tuple[int, int], ...]
"""Class and lack of every task, sorted: equal tasks are not distinguished."""


class NextWorker(NamedTuple):
    """One who may arrive next: the factor of what follows, her type, the node after her."""

    factor: float
    kind: int
    node: Any


class Arrivals:
    """Who arrives: nodes that say what was seen so far, from `root` on.

    A policy's cost from a node on is the sum, over `after(node)`, of `factor` × (`weight(node
    after)` × prices paid + cost from there), plus `end(node)` × repair. Its expected cost is the
    cost from the root on, divided by `weight(root)`.
    """

    root: Any = 0

    @property
    def types(self) -> int:
        """How many types of workers there are, at least."""
        raise NotImplementedError

    def weight(self, node: Any) -> float:
        """What a price paid on the way to a node is multiplied by: by itself, 1."""
        del node
        return 1.0

    def end(self, node: Any) -> float:
        """What the repair is multiplied by where nobody comes after a node."""
        raise NotImplementedError

    def after(self, node: Any) -> list[NextWorker]:
        """Who may arrive next."""
        raise NotImplementedError


@dataclass(frozen=True)
class IndependentArrivals(Arrivals):
    """So many workers, each of type k with a probability of her own: (K,), of sum 1.

    A node is how many have come.
    """

    workers: int
    probability: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the chances; InputError if they are none."""
        checks.count("workers", self.workers)
        if min(self.probability, default=-1) < 0 or abs(sum(self.probability) - 1) > 1e-9:
            raise InputError(f"probability is {self.probability}: give chances of sum 1")

    @property
    def types(self) -> int:  # noqa: D102
        return len(self.probability)

    def end(self, node: Any) -> float:  # noqa: D102
        return float(node == self.workers)

    def after(self, node: Any) -> list[NextWorker]:  # noqa: D102
        if node == self.workers:
            return []
        return [NextWorker(p, k, node + 1) for k, p in enumerate(self.probability) if p > 0]


@dataclass(frozen=True)
class RandomOrder(Arrivals):
    """A known crowd, `counts` (K,) workers of each type, in random order.

    A node is who is still to come.
    """

    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check the numbers of workers; InputError if they are none."""
        checks.wholes("counts", self.counts)

    @property
    def types(self) -> int:  # noqa: D102
        return len(self.counts)

    @property
    def root(self) -> Any:  # noqa: D102
        return self.counts

    def end(self, node: Any) -> float:  # noqa: D102
        return float(sum(node) == 0)

    def after(self, node: Any) -> list[NextWorker]:  # noqa: D102
        return [
            NextWorker(count / sum(node), k, (*node[:k], count - 1, *node[k + 1 :]))
            for k, count in enumerate(node)
            if count
        ]


@dataclass(frozen=True)
class SequenceMix(Arrivals):
    """One of several sequences of types, drawn with weights; how long it is shows in the end.

    A node is a prefix. Weights need not add up to 1; where they are whole, so is all that follows.
    """

    sequences: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]

    root = ()

    def __post_init__(self) -> None:
        """Check types and weights; InputError if they are none."""
        for at, sequence in enumerate(self.sequences):
            checks.wholes(f"sequences[{at}]", sequence)
        if len(self.weights) != len(self.sequences):
            raise InputError(
                f"weights has {len(self.weights)} entries: give one for each of "
                f"{len(self.sequences)} sequences"
            )
        if min(self.weights, default=-1) < 0 or sum(self.weights) <= 0:
            raise InputError("weights are not all 0 or more with one above: give such weights")

    @cached_property
    def _passing(self) -> dict[tuple[int, ...], float]:
        weights: dict[tuple[int, ...], float] = defaultdict(int)
        for sequence, weight in zip(self.sequences, self.weights, strict=True):
            for length in range(len(sequence) + 1):
                weights[sequence[:length]] += weight
        return weights

    @cached_property
    def _ending(self) -> dict[tuple[int, ...], float]:
        weights: dict[tuple[int, ...], float] = defaultdict(int)
        for sequence, weight in zip(self.sequences, self.weights, strict=True):
            weights[sequence] += weight
        return weights

    @property
    def types(self) -> int:  # noqa: D102
        return 1 + max((kind for sequence in self.sequences for kind in sequence), default=-1)

    def weight(self, node: Any) -> float:  # noqa: D102
        return self._passing[node]

    def end(self, node: Any) -> float:  # noqa: D102
        return self._ending.get(node, 0)

    def after(self, node: Any) -> list[NextWorker]:  # noqa: D102
        return [NextWorker(1, sequence[-1], sequence) for sequence in self._following.get(node, ())]

    @cached_property
    def _following(self) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
        longer: dict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
        for sequence in sorted(self._passing):
            if sequence:
                longer[sequence[:-1]].append(sequence)
        return longer


@dataclass(frozen=True)
class OnlineProblem:
    """Tasks, types of workers, who arrives, and what a repair costs.

    Attributes
    ----------
    requirement
        C of each task class, whole units, shape (T,).
    tasks
        n of each class, shape (T,).
    quality
        What a label brings, whole units, by task class and worker type, shape (T, K).
    capacity
        M, the most tasks a worker takes, by type (K,).
    price
        Of a label, by type (K,).
    arrivals
        Who comes.
    repair_price, repair_quality
        What a task lacks in the end is bought in labels of so much, each at that price.
    """

    requirement: tuple[int, ...]
    tasks: tuple[int, ...]
    quality: tuple[tuple[int, ...], ...]
    capacity: tuple[int, ...]
    price: tuple[float, ...]
    arrivals: Arrivals
    repair_price: float
    repair_quality: int = 1

    def __post_init__(self) -> None:
        """Check shapes and numbers.

        Raises
        ------
        InputError
            Numbers out of range, or shapes that do not fit.
        """
        shape = checks.wholes("quality", self.quality).shape
        if len(shape) != 2 or shape[0] < 1 or shape[1] < 1:
            raise InputError(f"quality has shape {shape}: give (task classes, worker types)")
        for name, size in (("requirement", 0), ("tasks", 0), ("capacity", 1), ("price", 1)):
            own = np.shape(getattr(self, name))
            if own != (shape[size],):
                raise InputError(f"{name} has shape {own}: give {(shape[size],)}, as quality has")
            if name != "price":
                checks.wholes(name, getattr(self, name))
        for k, price in enumerate(self.price):
            checks.number(f"price[{k}]", price, 0.0, 1e9)
        if not 0 < self.repair_price < 1e9:
            raise InputError(f"repair_price is {self.repair_price:g}: give a number above 0")
        checks.count("repair_quality", self.repair_quality, 1)
        if self.arrivals.types > shape[1]:
            raise InputError(
                f"arrivals know {self.arrivals.types} types: quality has {shape[1]}, give one each"
            )

    @property
    def start(self) -> TaskState:
        """Nothing is done."""
        classes = enumerate(zip(self.requirement, self.tasks, strict=True))
        return tuple((t, need) for t, (need, count) in classes for _ in range(count))

    def repair(self, lack: int) -> float:
        """Price of what one task lacks."""
        return -(-lack // self.repair_quality) * self.repair_price

    def repairs(self, state: TaskState) -> float:
        """Price of what all tasks lack."""
        return sum(self.repair(lack) for _, lack in state)

    def helped(self, task: tuple[int, int], kind: int) -> tuple[int, int]:
        """A task after one more label."""
        return task[0], max(task[1] - self.quality[task[0]][kind], 0)

    def choices(self, state: TaskState, kind: int) -> Iterator[tuple[TaskState, TaskState]]:
        """What a worker may be given, equal tasks not distinguished, and the state after it."""
        open_tasks = [task for task in state if self.helped(task, kind) != task]
        different = sorted(set(open_tasks))
        numbers = [range(open_tasks.count(task) + 1) for task in different]
        for taken in itertools.product(*numbers):
            if sum(taken) <= self.capacity[kind]:
                tasks = tuple(
                    task for task, count in zip(different, taken, strict=True) for _ in range(count)
                )
                yield tasks, self.served(state, tasks, kind)

    def served(self, state: TaskState, tasks: Sequence[tuple[int, int]], kind: int) -> TaskState:
        """The state after a worker labelled some of its tasks."""
        left = list(state)
        for task in tasks:
            left.remove(task)
        return tuple(sorted([*left, *(self.helped(task, kind) for task in tasks)]))


def occupation_program(problem: OnlineProblem) -> pyo.ConcreteModel:
    """The best online policy, over how often each state is met and each choice made there.

    Minimise Σ w_vk c_k |a| x_ika + Σ e_v repair(s) y_i. Here i = (v, s) is the node v of the
    arrivals and the state s of the tasks; w_vk is `weight` of the node after v and k, e_v is `end`
    of v. Subject to Σ_a x_ika = factor_vk y_i for every i and k that may come, and y_j = [j is the
    root] + Σ x_ika over what leads to j. States that no choice leads to are left out. The optimum
    divided by `weight(root)` is the expected cost.

    Returns
    -------
    ConcreteModel
        Components `y[i]`, `x[i, k, a]`, `split[i, k]`, `flow[j]`, `cost`; the index sets number
        states and choices as they are first met, the root first.
    """
    arrivals = problem.arrivals
    met: dict[tuple[Any, TaskState], int] = {(arrivals.root, problem.start): 0}
    split: dict[tuple[int, int], tuple[float, list[int]]] = {}
    paid: dict[tuple[int, int, int], float] = {}
    into: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    waiting = list(met)
    for node, state in waiting:
        i = met[node, state]
        for factor, k, after in arrivals.after(node):
            choices = list(problem.choices(state, k))
            split[i, k] = factor, list(range(len(choices)))
            for a, (tasks, left) in enumerate(choices):
                if (after, left) not in met:
                    met[after, left] = len(met)
                    waiting.append((after, left))
                paid[i, k, a] = arrivals.weight(after) * problem.price[k] * len(tasks)
                into[met[after, left]].append((i, k, a))
    model = pyo.ConcreteModel(name="best online policy")
    model.y = pyo.Var(range(len(met)), within=pyo.NonNegativeReals)
    model.x = pyo.Var(list(paid), within=pyo.NonNegativeReals)
    model.split = pyo.Constraint(
        list(split),
        rule=lambda model, i, k: (
            pyo.quicksum(model.x[i, k, a] for a in split[i, k][1]) == split[i, k][0] * model.y[i]
        ),
    )
    model.flow = pyo.Constraint(
        range(len(met)),
        rule=lambda model, j: (
            model.y[j] == float(j == 0) + pyo.quicksum(model.x[choice] for choice in into[j])
        ),
    )
    model.cost = pyo.Objective(
        expr=pyo.quicksum(price * model.x[at] for at, price in paid.items())
        + pyo.quicksum(
            arrivals.end(node) * problem.repairs(state) * model.y[i]
            for (node, state), i in met.items()
        )
    )
    return model
