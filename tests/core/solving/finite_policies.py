"""The sequential optimum over policies of at most H labels, by listing what may have happened.

A lead is kept as net labels of each worker class, so nothing is rounded, merged by value,
interpolated or folded: it shares nothing with `workbench.solving.sequential`. Randomised policies
are occupation measures: how often a history is come to and what is done there (Kuhn 1953), so one
linear program is the optimum over all of them.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array


def going_on(lead, skill, epsilon):
    """Labels in the mean until a task is closed, one class asked: a walk between two ends."""
    enough = np.log(1 / epsilon - 1) - 1e-9
    for k, p in enumerate(skill):
        weight = np.log(p / (1 - p))
        if weight <= 0 or abs(lead) >= enough:
            continue
        up, down = np.ceil((enough - lead) / weight), np.ceil((enough + lead) / weight)
        first = 1 / (1 + np.exp(-lead))
        many = 0.0
        for share, right in ((first, p), (1 - first, 1 - p)):
            ratio = (1 - right) / right
            ends_up = (1 - ratio**down) / (1 - ratio ** (up + down))
            many += share * ((up + down) * ends_up - down) / (2 * right - 1)
        yield k, float(many)


def finite_optimum(problem, labels, *, ends_free=False):
    """The least cost by policies of at most so many labels; None where there are none.

    Where the posterior is promised, and a task is still open then, one class of workers is asked
    until it is closed.

    With `ends_free` a task is closed for nothing, and rightly, after the last of them: no policy of
    any number of labels costs less than that, and where there is none of these there is none.
    """
    types, classes = problem.skill.shape
    budgets = problem.error_rows
    equal, most = [], []  # rows: (row, column, value)
    cost, starts = [], []
    row = 0
    for t in range(types):
        at = {}
        for step in range(labels + 1):
            for net in itertools.product(range(-step, step + 1), repeat=classes):
                size = sum(map(abs, net))
                if size <= step and (step - size) % 2 == 0:
                    at[step, net] = row + len(at)
        for (step, net), here in at.items():
            skill = np.minimum(problem.skill[t], 1 - 1e-12)
            lead = sum(k * np.log(p / (1 - p)) for k, p in zip(net, skill, strict=True))
            chance = 1 / (1 + np.exp(-lead))  # of the first class
            stop = len(cost)
            cost.append(0.0)
            equal.append((here, stop, 1.0))
            wrong = 0.0 if ends_free and step == labels else min(chance, 1 - chance)
            for r, (members, _) in enumerate(budgets):
                if t in members:
                    most.append((classes + r, stop, wrong))
            if problem.promise == "posterior" and wrong > problem.epsilon * (1 + 1e-9):
                cost[stop] = None  # not allowed
            if step == labels:
                if problem.promise == "posterior" and not ends_free:
                    for k, many in going_on(lead, skill, problem.epsilon):
                        ask = len(cost)
                        cost.append(many * float(problem.prices[t, k]))
                        equal.append((here, ask, 1.0))
                        most.append((k, ask, many))
                continue
            for k in range(classes):
                ask = len(cost)
                cost.append(float(problem.prices[t, k]))
                equal.append((here, ask, 1.0))
                most.append((k, ask, 1.0))
                p = problem.skill[t, k]
                yes = chance * p + (1 - chance) * (1 - p)
                for sign, share in ((1, yes), (-1, 1 - yes)):
                    to = list(net)
                    to[k] += sign
                    equal.append((at[step + 1, tuple(to)], ask, -share))
        starts.append((row, float(problem.tasks[t])))
        row += len(at)
    right = np.zeros(row)
    for at_start, tasks in starts:
        right[at_start] = tasks
    rows, columns, values = zip(*equal, strict=True)
    flow = coo_array((values, (rows, columns)), (row, len(cost)))
    rows, columns, values = zip(*most, strict=True)
    limits = coo_array((values, (rows, columns)), (classes + len(budgets), len(cost)))
    program = (
        [c or 0.0 for c in cost],
        limits.tocsr(),
        [*problem.supply, *(allowed for _, allowed in budgets)],
        flow.tocsr(),
        right,
        [(0, 0 if c is None else None) for c in cost],
    )
    for method in ("highs-ds", "highs-ipm"):
        # The simplex method may be lost among ties: then the interior point method.
        solved = linprog(*program, method=method, options={"time_limit": 30.0})
        if solved.status in (0, 2):
            break
    if solved.status == 2:
        return None
    assert solved.status == 0, solved.message
    return float(solved.fun)
