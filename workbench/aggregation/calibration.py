"""Confidences made honest: a temperature on posteriors, and how often confident labels are right.

Models that take errors as independent are too sure: on recorded crowds posteriors of .99 were right
nine times in ten. A temperature T > 1 takes that back, p_t^(1/T) / Σ_u p_u^(1/T), without changing
a label. It is fitted where the model could not look: to the classes of control tasks, each hidden
from the fit that is asked for it; or without gold to labels that were held out, each predicted from
the others,

    P(worker j says l) = Σ_t p_i(t) π_j(l | t).

Labels that are held out share the errors of those that remain, so that this corrects too little
where workers err together.

Tasks that mislead all workers alike are not made doubtful by any temperature: the surest posteriors
stay sure. Where gold says what is true, a floor λ is fitted beside T,

    (1 − λ) p_t^(1/T) / Σ_u p_u^(1/T) + λ/L.

On eleven recorded crowds, the best of seven methods by fifty gold tasks, ten draws, the share right
of the other answers above .9 was .020 from their mean confidence in the mean of the crowds (.046
uncalibrated); with three labels a task .036 (.093), on nine kinds of simulated crowds .015 (.035).
Means over what the gold leaves open, of the pair or of what it foretells, were no nearer (.020 and
.023; .034 and .038; .015 and .017).

Source: Guo, Pleiss, Sun, Weinberger (2017), "On calibration of modern neural networks", ICML,
Section 4, for the temperature; the fit to held-out labels is the workbench's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
SHALLOW, SPREAD = -2.0, 2.0
"""Mean and standard deviation of the prior of logit λ, a floor of .12 at the middle."""
STEPS = 41
"""Points of each grid of temperatures."""
HEATS, DEPTHS = np.linspace(-HOTTEST, HOTTEST, 21), np.linspace(-9.0, 5.0, 15)
"""Logarithms of temperatures, and logits of floors, among which `calibration` looks first."""
ZOOMS, FINER = 6, 3.0
"""Times that it looks closer, on a grid so much finer each time."""
NEAR = np.linspace(-1.0, 1.0, 7)
"""Where it looks then, in steps of the grid before."""
MEAN_HEATS, MEAN_DEPTHS = np.linspace(0.0, 2.0, 21), np.linspace(-7.0, 2.0, 19)
"""The same over which `mean_calibration` averages."""
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


@dataclass(frozen=True)
class Calibration:
    """A temperature on posteriors, and a floor below which no class's chance falls."""

    temperature: float
    floor: float = 0.0

    def apply(self, posterior: FloatArray) -> FloatArray:
        """Posterior calibrated: (1 − λ) tempered + λ/L, shape (n, L)."""
        return mixed(tempered(posterior, self.temperature), self.floor)

    def confidence(self, share: FloatArray, classes: int) -> FloatArray:
        """Confidence of a method that has no posterior, from its share of 1, shape (n,)."""
        two = tempered(np.column_stack([share, 1.0 - share]), self.temperature)[:, 0]
        return np.asarray((1.0 - self.floor) * two + self.floor / classes)


def mixed(posterior: FloatArray, floor: float) -> FloatArray:
    """Mix a posterior with an even one, which has the weight `floor`; shape (n, L)."""
    return np.asarray((1.0 - floor) * posterior + floor / posterior.shape[1])


def calibration(
    posterior: FloatArray, right: FloatArray, classes: int | None = None
) -> Calibration:
    """Fit temperature and floor to tasks whose class the model has not seen.

    Parameters
    ----------
    posterior
        Shape (k, L); or (k, 2), the share of the answer and the rest, of a method without one.
    right
        Which of its columns is true, or with which chance, shape as `posterior`.
    classes
        L, where the columns are not the classes.

    Notes
    -----
    Priors: ln T ~ N(0, 1), logit λ ~ N(−2, 2²), the best of six pairs on eleven recorded crowds,
    which differ little: the mean gap above .9 is .020 to .024 for all six. Grids, as in
    `temperature`.
    """
    even = 1.0 / (classes or posterior.shape[1])
    heats, depths = HEATS, DEPTHS
    steps = heats[1] - heats[0], depths[1] - depths[0]
    for zoom in range(ZOOMS + 1):
        score = _scores(posterior, right, even, heats, depths)
        at = np.unravel_index(int(score.argmax()), score.shape)
        heat, depth = heats[at[0]], depths[at[1]]
        width = FINER**-zoom
        heats = np.clip(heat + width * steps[0] * NEAR, -HOTTEST, HOTTEST)
        depths = depth + width * steps[1] * NEAR
    return Calibration(float(np.exp(heat)), float(_floors(depth)))


def mean_calibration(posterior: FloatArray, gold: IntArray) -> tuple[Calibration, float]:
    """Temperature, 1 or more, and floor: their means over what a few tasks leave open.

    The priors are those of `calibration`.

    Parameters
    ----------
    posterior
        Of tasks whose class the model has not seen, shape (k, L).
    gold
        Their class, shape (k,).

    Returns
    -------
    The means, and the floor that is exceeded with a chance of nine in ten.
    """
    L = posterior.shape[1]
    score = _scores(posterior, np.eye(L)[gold], 1.0 / L, MEAN_HEATS, MEAN_DEPTHS)
    weight = np.exp(score - score.max())
    weight /= weight.sum()
    heat = float(np.exp(weight.sum(axis=1) @ MEAN_HEATS))
    by_floor, floors = weight.sum(axis=0), _floors(MEAN_DEPTHS)
    least = floors[int(np.searchsorted(np.cumsum(by_floor), 0.1))]
    return Calibration(heat, float(by_floor @ floors)), float(least)


def _floors(depth: ArrayLike) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-np.asarray(depth, dtype=np.float64))))


def _scores(
    posterior: FloatArray, right: FloatArray, even: float, heats: FloatArray, depths: FloatArray
) -> FloatArray:
    """Log-density of each pair but for a constant, by logarithm of T and logit of λ."""
    floors, score = _floors(depths), np.empty((len(heats), len(depths)))
    known = even * right.sum(axis=1)[:, None] * floors
    for at, heat in enumerate(heats):
        chance = (tempered(posterior, float(np.exp(heat))) * right).sum(axis=1)
        prior = -0.5 * heat**2 - 0.5 * ((depths - SHALLOW) / SPREAD) ** 2
        score[at] = log(chance[:, None] * (1.0 - floors) + known).sum(axis=0) + prior
    return score


def temperature(posterior: FloatArray, gold: IntArray) -> float:
    """Fit a temperature to tasks of known class whose class the model has not seen.

    Parameters
    ----------
    posterior
        Shape (k, L).
    gold
        Class of each, shape (k,).
    """
    return _temperature(posterior, np.eye(posterior.shape[1])[gold])


def temperature_by_gold(fit: FitTo, votes: Votes, gold: IntArray, *, seed: Seed) -> float:
    """Fit a temperature to control tasks, each fold of them hidden from the model in turn.

    Parameters
    ----------
    fit
        The model.
    votes
        The labels.
    gold
        Shape (n,): class index of the control tasks, −1 for all others.
    seed
        Of the folds.

    Raises
    ------
    InputError
        Fewer than two control tasks with labels.
    """
    posterior, classes = hidden_posteriors(fit, votes, gold, seed=seed)
    return _temperature(posterior, np.eye(len(votes.classes))[classes])


def calibration_by_gold(fit: FitTo, votes: Votes, gold: IntArray, *, seed: Seed) -> Calibration:
    """Fit temperature and floor to control tasks, as `temperature_by_gold` does without a floor."""
    posterior, classes = hidden_posteriors(fit, votes, gold, seed=seed)
    return calibration(posterior, np.eye(len(votes.classes))[classes])


def hidden_posteriors(
    fit: FitTo, votes: Votes, gold: IntArray, *, seed: Seed
) -> tuple[FloatArray, IntArray]:
    """Posterior and class of the control tasks, each fold of them hidden from the model in turn.

    Shapes (c, L) and (c,); parameters and errors as `temperature_by_gold`.
    """
    labelled = np.bincount(votes.task, minlength=len(votes.tasks)) > 0
    control = np.flatnonzero((gold >= 0) & labelled)
    if len(control) < 2:
        raise InputError(
            f"{len(control)} control tasks with labels are too few to calibrate by: give two or "
            "more, or calibrate by labels"
        )
    control = stream(seed, "folds").permutation(control)
    posteriors = []
    for at in range(min(FOLDS, len(control))):
        hidden = gold.copy()
        fold = control[at::FOLDS]
        hidden[fold] = -1
        posteriors.append(fit(votes, hidden).info["posterior"][fold])
    tasks = np.concatenate([control[at::FOLDS] for at in range(len(posteriors))])
    return np.concatenate(posteriors), gold[tasks]


def has_company(votes: Votes) -> BoolArray:
    """Which labels are of tasks with another label, and so can be held out; shape (v,)."""
    return np.asarray(np.bincount(votes.task, minlength=len(votes.tasks))[votes.task] > 1)


def temperature_by_labels(fit: FitTo, votes: Votes, gold: IntArray, *, seed: Seed) -> float:
    """Fit a temperature to a tenth of the labels, held out from the model; 1 or more.

    Only tasks with two labels or more lose any. Below 1 it does not go: where workers err together
    they foretell each other's labels, right or wrong. Parameters as in `temperature_by_gold`.

    Raises
    ------
    InputError
        There are no labels to hold out.
    """
    several = has_company(votes)
    if not several.any():
        raise InputError("too few labels to hold any out: give control tasks, or do not calibrate")
    lot = np.where(several, stream(seed, "held out").random(len(votes)), 1.0)
    held = lot < max(HELD_OUT, np.nextafter(lot.min(), 1.0))
    task, worker, label = (array[~held] for array in (votes.task, votes.worker, votes.label))
    rest = replace(votes, task=task, worker=worker, label=label)
    posterior = fit(rest, gold).info["posterior"]
    chance = confusion_matrices(label_matrix(rest), posterior, SMOOTHED)
    likely = chance[votes.worker[held], votes.label[held]]
    return max(_temperature(posterior[votes.task[held]], likely), 1.0)


def _temperature(posterior: FloatArray, likely: FloatArray) -> float:
    """T of highest posterior density, when row i was seen with chance `likely[i, t]` in class t."""

    def loss(heat: float) -> float:
        chance = (tempered(posterior, float(np.exp(heat))) * likely).sum(axis=1)
        return 0.5 * heat**2 - float(log(chance).sum())

    # A coarse grid and a fine one: SciPy's search would be imported with every first answer.
    heats = np.linspace(-HOTTEST, HOTTEST, STEPS)
    best = min(heats, key=loss)
    width = heats[1] - heats[0]
    return float(np.exp(min(np.linspace(best - width, best + width, STEPS), key=loss)))


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
    groups = table.groupby("part").agg(
        tasks=("right", "size"), confidence=("confidence", "mean"), right=("right", "mean")
    )
    ends = groups.index.to_numpy()
    groups.insert(0, "high", (ends + 1) / bins)
    groups.insert(0, "low", ends / bins)
    return groups.reset_index(drop=True)
