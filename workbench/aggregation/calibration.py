"""Confidences made honest: a temperature on posteriors, and how often confident labels are right.

Models that take errors as independent are too sure: on recorded crowds posteriors of .99 were right
nine times in ten. A temperature T > 1 takes that back, p_t^(1/T) / Σ_u p_u^(1/T), without changing
a label. It is fitted where the model could not look: to the classes of control tasks, each hidden
from the fit that is asked for it; or without gold to labels that were held out, each predicted from
the others,

    P(worker j says l) = Σ_t p_i(t) π_j(l | t).

Labels that are held out share the errors of those that remain, so that this corrects too little
where workers err together.

Source: Guo, Pleiss, Sun, Weinberger (2017), "On calibration of modern neural networks", ICML,
Section 4, for the temperature; the fit to held-out labels is the workbench's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.aggregation.dawid_skene import SMOOTHED, confusion_matrices
from workbench.aggregation.posteriors import label_matrix, log, normalised
from workbench.aggregation.voting import Aggregate
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import Votes

FitTo: TypeAlias = Callable[[Votes, IntArray], Aggregate]
"""(votes, known) → Aggregate with a posterior; `known` (n,) is −1 where the class is unknown."""
HOTTEST = 5.0
"""|ln T| is at most this; its prior is N(0, 1), so that a handful of tasks cannot fix it."""
FOLDS = 5
HELD_OUT = 0.1
"""Share of the labels that are held out."""


def tempered(posterior: FloatArray, temperature: float) -> FloatArray:
    """Posterior at a temperature: above 1 more doubtful, below 1 surer, 1 as it is; shape (n, L).

    Raises
    ------
    InputError
        The temperature is no number above 0.
    """
    checks.number("temperature", temperature, 1e-9, 1e9)
    return posterior if temperature == 1.0 else normalised(log(posterior) / temperature)[0]


def temperature(posterior: FloatArray, known: IntArray) -> float:
    """Fit a temperature to tasks of known class whose class the model has not seen.

    Parameters
    ----------
    posterior
        Shape (k, L).
    known
        Class of each, shape (k,).
    """
    return _temperature(posterior, np.eye(posterior.shape[1])[known])


def temperature_by_gold(fit: FitTo, votes: Votes, known: IntArray, *, seed: Seed) -> float:
    """Fit a temperature to control tasks, each fold of them hidden from the model in turn.

    Parameters
    ----------
    fit
        The model.
    votes
        The labels.
    known
        Shape (n,): class index of the control tasks, −1 for all others.
    seed
        Of the folds.

    Raises
    ------
    InputError
        Fewer than two control tasks with labels.
    """
    labelled = np.bincount(votes.task, minlength=len(votes.tasks)) > 0
    control = np.flatnonzero((known >= 0) & labelled)
    if len(control) < 2:
        raise InputError(
            f"{len(control)} control tasks with labels are too few to calibrate by: give two or "
            "more, or calibrate by labels"
        )
    control = stream(seed, "folds").permutation(control)
    posteriors = []
    for at in range(min(FOLDS, len(control))):
        hidden = known.copy()
        fold = control[at::FOLDS]
        hidden[fold] = -1
        posteriors.append(fit(votes, hidden).info["posterior"][fold])
    tasks = np.concatenate([control[at::FOLDS] for at in range(len(posteriors))])
    truth = np.eye(len(votes.classes))[known[tasks]]
    return _temperature(np.concatenate(posteriors), truth)


def temperature_by_labels(fit: FitTo, votes: Votes, known: IntArray, *, seed: Seed) -> float:
    """Fit a temperature to a tenth of the labels, held out from the model; 1 or more.

    Only tasks with two labels or more lose any. Below 1 it does not go: where workers err together
    they foretell each other's labels, right or wrong. Parameters as in `temperature_by_gold`.

    Raises
    ------
    InputError
        There are no labels to hold out.
    """
    several = np.bincount(votes.task, minlength=len(votes.tasks))[votes.task] > 1
    held = several & (stream(seed, "held out").random(len(votes)) < HELD_OUT)
    if not held.any():
        raise InputError("too few labels to hold any out: give control tasks, or do not calibrate")
    task, worker, label = (array[~held] for array in (votes.task, votes.worker, votes.label))
    rest = replace(votes, task=task, worker=worker, label=label)
    posterior = fit(rest, known).info["posterior"]
    chance = confusion_matrices(label_matrix(rest), posterior, SMOOTHED)
    likely = chance[votes.worker[held], votes.label[held]]
    return max(_temperature(posterior[votes.task[held]], likely), 1.0)


def _temperature(posterior: FloatArray, likely: FloatArray) -> float:
    """T of highest posterior density, when row i was seen with chance `likely[i, t]` in class t."""
    from scipy.optimize import minimize_scalar

    def loss(heat: float) -> float:
        seen = (tempered(posterior, float(np.exp(heat))) * likely).sum(axis=1)
        return 0.5 * heat**2 - float(log(seen).sum())

    found = minimize_scalar(loss, bounds=(-HOTTEST, HOTTEST), method="bounded")
    return float(np.exp(found.x))


def reliability(confidence: ArrayLike, right: ArrayLike, *, bins: int = 10) -> pd.DataFrame:
    """How often labels of like confidence are right.

    Parameters
    ----------
    confidence
        Shape (n,), in [0, 1]; NaN rows are left out.
    right
        Shape (n,): whether the label is right, or with which chance.
    bins
        Equal parts of [0, 1].

    Returns
    -------
    DataFrame
        `low, high, tasks, confidence, right`, a row for each bin with tasks, means in the last two
        columns.

    Raises
    ------
    InputError
        The arrays differ in shape, or there are no bins.
    """
    sure, hit = checks.floats("confidence", confidence), checks.floats("right", right)
    checks.count("bins", bins, 1)
    if sure.shape != hit.shape or sure.ndim != 1:
        raise InputError(f"confidence and right have shapes {sure.shape} and {hit.shape}: give one")
    there: BoolArray = ~np.isnan(sure)
    part = np.minimum((sure[there] * bins).astype(np.int64), bins - 1)
    table = pd.DataFrame({"part": part, "confidence": sure[there], "right": hit[there]})
    found = table.groupby("part").agg(
        tasks=("right", "size"), confidence=("confidence", "mean"), right=("right", "mean")
    )
    ends = found.index.to_numpy()
    found.insert(0, "high", (ends + 1) / bins)
    found.insert(0, "low", ends / bins)
    return found.reset_index(drop=True)
