"""Knapsack-cover cuts: the cover constraints as whole plans see them.

Workers A whose labels together fall short of C_i leave D = C_i − Σ_{j∈A} q_ij to the others, and a
whole plan cannot use more of a label than D:

    Σ_{j∉A} min(q_ij, D) y_ij ≥ D.

True of every whole plan that covers task i, with A or without; fractional ones violate it. With A
empty it is the tightened cover constraint. Source: Carr, Fleischer, Leung, Phillips (2000),
"Strengthening integrality gaps for capacitated network design and covering problems".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowd_models import AssignmentProblem
from workbench.base import FloatArray, IntArray
from workbench.solving import LinearModel, RunOptions, primal_arrays, run

VIOLATED = 1e-3
"""Share of D by which a cut must be missed to be added."""

SLACK = 1e-9
"""Of a requirement, relative: so much less still covers it."""


def strengthened(
    problem: AssignmentProblem, options: RunOptions, rounds: int = 10
) -> tuple[LinearModel, int]:
    """The integer program with the cuts that its relaxation violates, and how many they are.

    Parameters
    ----------
    options
        Of the relaxations.
    rounds
        How often the relaxation is solved and cut at most.
    """
    model = primal_arrays(problem, integer=False)
    rows = len(model.row_lower)
    for _ in range(rounds):
        relaxed = run(model, options)
        if relaxed.values is None:
            break
        tasks, coefficients, least = cover_cuts(problem, problem.matrix(relaxed.values))
        if not len(tasks):
            break
        model = _with_cuts(problem, model, tasks, coefficients, least)
    return replace(model, integer=True), len(model.row_lower) - rows


def cover_cuts(
    problem: AssignmentProblem, shares: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """The most violated cut of each task that has one: tasks, coefficients (k, m), D.

    A holds the workers of the largest shares, as many of them as violates it most.
    """
    tasks, coefficients, least = [], [], []
    for i, need in enumerate(problem.requirement * (1 - SLACK)):
        quality = problem.quality[i] * problem.mask[i]
        order = np.argsort(-shares[i], kind="stable")
        held = quality[order[: int((shares[i] > 0).sum())]]
        left = need - np.concatenate([[0.0], np.cumsum(held)])
        left = left[left > 1e-9 * need]
        counted = np.minimum(quality[order][None, :], left[:, None])
        counted[np.arange(len(quality)) < np.arange(len(left))[:, None]] = 0.0
        missed = 1 - (counted @ shares[i][order]) / left
        if len(left) and missed.max() > VIOLATED:
            worst = int(missed.argmax())
            row = np.zeros(len(quality))
            row[order] = counted[worst]
            tasks.append(i)
            coefficients.append(row)
            least.append(left[worst])
    shape = len(tasks), problem.shape[1]
    return np.array(tasks, dtype=np.int64), np.reshape(coefficients, shape), np.array(least)


def _with_cuts(
    problem: AssignmentProblem,
    model: LinearModel,
    tasks: IntArray,
    coefficients: FloatArray,
    least: FloatArray,
) -> LinearModel:
    task, worker = problem.pairs
    place = np.full(problem.shape[0], -1)
    place[tasks] = np.arange(len(tasks))
    pair = np.flatnonzero(place[task] >= 0)
    added = coefficients[place[task[pair]], worker[pair]]
    pair, added = pair[added > 0], added[added > 0]
    old = np.repeat(np.arange(len(model.cost)), np.diff(model.start))
    columns = np.concatenate([old, pair])
    rows = np.concatenate([model.index, len(model.row_lower) + place[task[pair]]])
    order = np.argsort(columns, kind="stable")
    return replace(
        model,
        start=np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=len(model.cost)))]),
        index=rows[order].astype(np.int32),
        value=np.concatenate([model.value, added])[order],
        row_lower=np.concatenate([model.row_lower, least]),
        row_upper=np.concatenate([model.row_upper, np.full(len(tasks), np.inf)]),
    )
