"""What learning who is good costs at least, exactly, where tasks and workers are few.

Every pair (task, worker) is not asked yet, or answered by the first class, or by the second; all
kinds of all workers and all classes of all tasks are summed over. A dynamic program over these
states, by number of labels, finds the policy that pays least where a label costs 1 and an error μ:
it learns as it goes, by agreement alone.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array


def state_chances(prior, tasks, workers):
    """Chance of each state's answers and that task i's class is the second, per state.

    States are numbered in base 3, pair by pair: 0 not asked, 1 and 2 the class named.
    """
    skill, share = np.array(list(prior)), np.array(list(prior.values()))
    columns = np.array(list(itertools.product(range(3), repeat=tasks)))
    classes = np.array(list(itertools.product((1, 2), repeat=tasks)))
    # One worker: chance of her answers given the classes, kinds summed over; shape (columns, 2^n).
    asked = (columns != 0).sum(axis=1)[:, None]
    right = ((columns[:, None, :] == classes[None, :, :]) & (columns[:, None, :] != 0)).sum(axis=2)
    one = sum(w * p**right * (1 - p) ** (asked - right) for p, w in zip(skill, share, strict=True))
    joint = np.full((1, len(classes)), 1 / len(classes))
    for _ in range(workers):
        joint = (joint[:, None, :] * one[None, :, :]).reshape(-1, len(classes))
    second = np.stack([joint[:, classes[:, i] == 2].sum(axis=1) for i in range(tasks)], axis=1)
    return joint.sum(axis=1), second


class Unknown:
    """Tasks and workers so few that every state is listed; at most `most` labels a worker."""

    def __init__(self, prior, tasks, workers, most):
        self.tasks = tasks
        self.chance, second = state_chances(prior, tasks, workers)
        self.wrong = np.minimum(second, self.chance[:, None] - second).sum(axis=1)
        pairs = tasks * workers
        states = np.arange(3**pairs)
        # The first worker's first task is the highest digit.
        power = 3 ** np.arange(pairs - 1, -1, -1)
        open_pairs = [(states // p) % 3 == 0 for p in power]
        labels = sum((~each).astype(np.int8) for each in open_pairs)
        given = [
            sum((~open_pairs[w * tasks + i]).astype(np.int8) for i in range(tasks))
            for w in range(workers)
        ]
        self.moves = []  # by number of labels, from the last: states, and whom to ask from where
        for many in range(pairs - 1, -1, -1):
            asks = [
                (np.flatnonzero((labels == many) & here & (given[k // tasks] < most)), power[k])
                for k, here in enumerate(open_pairs)
            ]
            self.moves.append(asks)

    def charge(self, per_error):
        """Least of E[labels] + μ E[errors] over all policies."""
        value = per_error * self.wrong  # chances of the answers are left in
        for asks in self.moves:
            after = [
                (at, self.chance[at] + value[at + step] + value[at + 2 * step]) for at, step in asks
            ]
            for at, asking in after:
                value[at] = np.minimum(value[at], asking)
        return float(value[0])

    def labels(self, epsilon, turns):
        """Least E[labels] where ε of the tasks may be wrong, from below: the best μ looked for."""
        low, high, best = 0.0, 120.0, -np.inf
        for _ in range(turns):  # concave in μ
            left, right = low + (high - low) / 3, high - (high - low) / 3
            dual = [self.charge(mu) - mu * epsilon * self.tasks for mu in (left, right)]
            low, high = (left, high) if dual[0] < dual[1] else (low, right)
            best = max(best, *dual)
        return best


def listed_labels(prior, tasks, workers, most, epsilon):
    """The same by listing every order of questions and answers: one linear program."""
    skill, share = list(prior), list(prior.values())
    pairs = list(itertools.product(range(workers), range(tasks)))
    kinds = list(itertools.product(range(len(skill)), repeat=workers))
    classes = list(itertools.product((1, 2), repeat=tasks))

    def chances(history):
        """Chance of the answers, by classes of the tasks."""
        total = []
        for true in classes:
            mean = 0.0
            for kind in kinds:
                term = np.prod([share[k] for k in kind]) / len(classes)
                for (worker, task), answer in history:
                    p = skill[kind[worker]]
                    term *= p if true[task] == answer else 1 - p
                mean += term
            total.append(mean)
        return np.array(total)

    numbers, queue = {(): 0}, [()]
    cost, wrongs, rows = [], [], []  # rows: (history, column, value)
    while queue:
        history = queue.pop()
        here = chances(history)
        second = [here[[true[i] == 2 for true in classes]].sum() for i in range(tasks)]
        rows.append((numbers[history], len(cost), 1.0))
        cost.append(0.0)
        wrongs.append(sum(min(s, here.sum() - s) for s in second) / here.sum())
        asked = [pair for pair, _ in history]
        for pair in pairs:
            if pair in asked or sum(w == pair[0] for w, _ in asked) >= most:
                continue
            column = len(cost)
            rows.append((numbers[history], column, 1.0))
            cost.append(1.0)
            wrongs.append(0.0)
            for answer in (1, 2):
                longer = (*history, (pair, answer))
                numbers[longer] = len(numbers)
                queue.append(longer)
                rows.append((numbers[longer], column, -chances(longer).sum() / here.sum()))
    row, column, value = zip(*rows, strict=True)
    flow = coo_array((value, (row, column)), (len(numbers), len(cost)))
    start = np.zeros(len(numbers))
    start[0] = 1.0
    solved = linprog(cost, np.array([wrongs]), [epsilon * tasks], flow.tocsr(), start)
    assert solved.status in (0, 2), solved.message
    return float(solved.fun) if solved.status == 0 else None
