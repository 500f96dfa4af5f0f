"""Small problems of `plan`, and what brute force says of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

import workbench as wb

SKILLS = (0.3, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97)
CLOSE = 1e-9


@dataclass
class Small:
    """A problem of two classes: skills by type and worker, and what may be bought."""

    skill: np.ndarray
    kinds: np.ndarray
    capacity: np.ndarray
    cost: np.ndarray | None
    epsilon: float
    promise: str
    available: np.ndarray
    recorded: np.ndarray
    least: int | None
    most: int | None
    gain: str = "bhattacharyya"
    known: dict = field(default_factory=dict)

    @classmethod
    def drawn(cls, seed, promise):
        rng = np.random.default_rng(seed)
        n, m = [(1, 5), (2, 4), (3, 3), (2, 5)][rng.integers(4)]
        types = int(rng.integers(1, min(n, 2) + 1))
        skill = rng.choice(SKILLS, (types, m))
        if rng.random() < 0.3:
            skill = np.round(rng.uniform(0.45, 0.98, (types, m)), 3)
        cost = None
        if rng.random() < 0.5:
            cost = rng.choice([0.0, 0.5, 1.0, 2.0, 2.5, 3.0], (types, m))
        recorded = (rng.random((n, m)) < 0.25) & (rng.random() < 0.3)
        available = (rng.random((n, m)) < 0.75) | (rng.random() < 0.6)
        least, most = None, None
        if rng.random() < 0.25:
            least = int(rng.integers(0, 3))
        if rng.random() < 0.25:
            most = int(rng.integers(least or 1, 4))
        return cls(
            skill,
            np.arange(n) % types,
            rng.integers(0 if rng.random() < 0.3 else 1, n + 1, m),
            cost,
            float(rng.choice([0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3])),
            promise,
            available,
            recorded,
            least,
            most,
            "hoeffding" if promise == "bound" and rng.random() < 0.5 else "bhattacharyya",
        )

    @property
    def tasks(self):
        return [f"t{i}" for i in range(len(self.kinds))]

    @property
    def workers(self):
        return [f"w{j}" for j in range(self.skill.shape[1])]

    @property
    def prices(self):
        cost = np.ones(self.skill.shape) if self.cost is None else self.cost
        return cost[self.kinds]

    def asked(self):
        """The plan at the front door."""
        import pandas as pd

        types = [f"k{t}" for t in range(len(self.skill))]
        index = pd.Index(self.workers, name="worker")

        def wide(values):
            return pd.DataFrame(values.T, index=index, columns=types).reset_index()

        long = wide(self.skill).melt("worker", var_name="task_type", value_name="skill")
        costs = None
        if self.cost is not None:
            costs = wide(self.cost).melt("worker", var_name="task_type", value_name="cost")
        pairs = [(self.tasks[i], self.workers[j]) for i, j in np.argwhere(self.available)]
        have = None
        if self.recorded.any():
            rows = [(self.tasks[i], self.workers[j], "yes") for i, j in np.argwhere(self.recorded)]
            have = pd.DataFrame(rows, columns=["task", "worker", "label"])
        return wb.plan(
            tasks=pd.Series([types[k] for k in self.kinds], index=self.tasks),
            skills=long,
            epsilon=self.epsilon,
            capacity=pd.Series(self.capacity, index=self.workers),
            costs=costs,
            limits=wb.TaskLimits(
                availability=None if self.available.all() else pairs,
                have=have,
                least=self.least,
                most=self.most,
            ),
            options=wb.PlanOptions(promise=self.promise, gain=self.gain, time_limit=600),
        )

    def error(self, i, voting):
        """How often the likelier class is wrong, all answers listed."""
        p = self.skill[self.kinds[i], np.flatnonzero(voting)]
        key = tuple(sorted(np.maximum(p, 1 - p).round(12)))
        if key not in self.known:
            answers = np.array(list(itertools.product([0, 1], repeat=len(p))), dtype=bool)
            right, wrong = (np.where(a, p, 1 - p).prod(axis=1) for a in (answers, ~answers))
            self.known[key] = 0.5 * float(np.minimum(right, wrong).sum())
        return self.known[key]

    def bound(self, i, voting):
        """The error that the cover of some workers promises."""
        p = self.skill[self.kinds[i], np.flatnonzero(voting)]
        if self.gain == "hoeffding":
            return float(np.exp(-0.5 * ((2 * p - 1) ** 2).sum()))
        return 0.5 * float(np.prod(2 * np.sqrt(p * (1 - p))))

    def options(self, i, epsilon):
        """Sets of further workers that one task may have, with the error that is promised."""
        m = self.skill.shape[1]
        limit = {"mean": 2 * epsilon}.get(self.promise, epsilon)
        for row in itertools.product([False, True], repeat=m):
            chosen = np.array(row)
            voting = chosen | self.recorded[i]
            if (chosen & (~self.available[i] | self.recorded[i])).any():
                continue
            if self.least is not None and voting.sum() < self.least:
                continue
            if self.most is not None and chosen.any() and voting.sum() > self.most:
                continue
            error = (self.bound if self.promise == "bound" else self.error)(i, voting)
            if self.promise == "mean" and limit >= 0.5:
                limit = 0.5
            if error <= limit * (1 + CLOSE):
                yield chosen, error

    def best(self, epsilon=None, tasks=None):
        """The least cost of all plans; None for none."""
        epsilon = self.epsilon if epsilon is None else epsilon
        tasks = range(len(self.kinds)) if tasks is None else tasks
        states = {tuple(self.capacity.tolist()): [(0.0, 0.0)]}
        for i in tasks:
            choices = list(self.options(i, epsilon))
            after: dict = {}
            for room, known in states.items():
                for chosen, error in choices:
                    left = np.array(room) - chosen
                    if (left < 0).any():
                        continue
                    paid = float(self.prices[i] @ chosen)
                    wrong = error if self.promise == "mean" else 0.0
                    after.setdefault(tuple(left.tolist()), []).extend(
                        (cost + paid, total + wrong) for cost, total in known
                    )
            states = {room: _front(known) for room, known in after.items()}
        most = epsilon * len(list(tasks)) * (1 + CLOSE)
        costs = [
            cost
            for known in states.values()
            for cost, wrong in known
            if self.promise != "mean" or wrong <= most
        ]
        return min(costs, default=None)


def _front(known):
    """Pairs (cost, errors) that no other beats in both."""
    best, kept = np.inf, []
    for cost, wrong in sorted(known):
        if wrong < best - 1e-15:
            best = wrong
            kept.append((cost, wrong))
    return kept
