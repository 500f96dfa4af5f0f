"""What a belief is worth: errors that were made on recorded crowds where as much was believed.

A model believes that a share b of its answers is wrong: one less the mean of its confidences. It
takes workers to err independently, which they do not, and nothing in the labels tells how far they
do not. So b is shown as the range of errors that were made on recorded crowds, and never as a
figure to act on. `believed.csv` holds what was believed and made there, all tasks or some, two
labels a task or more; the study `believed` makes it.

A line is fitted to made against believed, both as log-odds, each crowd with one vote. Around it lie
residuals, each crowd's from the line of the other crowds (the jackknife of Barber and others 2021,
with crowds in place of rows): a crowd of one's own is a further one. Their quantiles `TAIL` and
1 − `TAIL`, each crowd with one vote again, give the range. `TAIL` is the one with which the range
made by eleven crowds held nine in ten draws of the twelfth in the mean over crowds.

Nothing can be believed where labels do not speak of one another: `untold`.

Source: Barber, Candès, Ramdas, Tibshirani (2021), "Predictive inference with the jackknife+",
Annals of Statistics, Section 1; Hoeffding (1948), "A class of statistics with asymptotically normal
distribution", Annals of Mathematical Statistics, for agreement by chance.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.errors import InputError
from workbench.crowd.votes import Votes

TABLE = Path(__file__).with_name("believed.csv")
"""Of recorded crowds: `crowd, order, tasks, labels, scored, believed, made`, a row a draw."""
TAIL = 0.03
"""Share of the residuals beyond each end of the range."""
LEAST = 1e-3
"""Shares count as no less, and as no more than one less it."""
OVERLAPPING = 20
"""Tasks with labels of two workers from which on beliefs are stated; half of the tasks will do."""
BEYOND_CHANCE = 2.326
"""Standard errors by which labels agree more than by chance, of 99 %."""
AGREEING = 0.4
"""Chance-corrected agreement of workers who are right on somewhat more than four tasks of five."""


@dataclass(frozen=True)
class ErrorRange:
    """Errors that were made where as much was believed.

    Attributes
    ----------
    low, high
        Ends of the range, shares of answers.
    believed
        The model's own figure, a share of answers; not for a first screen.
    crowds
        Recorded crowds that it rests on.
    """

    low: float
    high: float
    believed: float
    crowds: int

    def sentence(self) -> str:
        """Say the range in a sentence, the model's own figure left out."""
        return (
            f"Believed: {_hundredths(self.low)} to {_hundredths(self.high)} % of the answers are "
            f"wrong, as many as on {self.crowds} recorded crowds where a model believed the same."
        )


def error_range(believed: float) -> ErrorRange:
    """Give the range of errors made on recorded crowds where so much was believed.

    Parameters
    ----------
    believed
        Share of wrong answers that a model believes in: one less its mean confidence.

    Returns
    -------
    ErrorRange
        `low < high`, both growing with what is believed.

    Raises
    ------
    InputError
        The share is not in [0, 1].
    """
    return recorded().at(believed)


@dataclass(frozen=True)
class Spread:
    """A line of log-odds of errors made against believed, and how far crowds lie from it."""

    level: float
    slope: float
    low: float
    high: float
    crowds: int

    def at(self, believed: float) -> ErrorRange:
        """Give the range where so much is believed."""
        share = checks.number("believed", believed, 0.0, 1.0)
        middle = self.level + self.slope * float(_log_odds(share))
        low, high = (1.0 / (1.0 + np.exp(-(middle + end))) for end in (self.low, self.high))
        return ErrorRange(float(low), float(high), share, self.crowds)


def spread(crowd: Sequence[str], believed: ArrayLike, made: ArrayLike) -> Spread:
    """Fit the line to draws of crowds, and the spread around it.

    Parameters
    ----------
    crowd
        Whose draw, k names; three crowds or more.
    believed, made
        Shares of wrong answers, shapes (k,).

    Raises
    ------
    InputError
        Fewer than three crowds.
    """
    names, at, many = np.unique(np.asarray(crowd), return_inverse=True, return_counts=True)
    if len(names) < 3:
        raise InputError(f"{len(names)} crowds: a range takes three or more")
    x, y = _log_odds(believed), _log_odds(made)
    vote = 1.0 / many[at]
    off = np.empty(len(x))
    for left in range(len(names)):
        own = at == left
        level, slope = _line(x[~own], y[~own], vote[~own])
        off[own] = y[own] - level - slope * x[own]
    order = np.argsort(off)
    below = np.cumsum(vote[order]) / len(names)
    low, high = off[order][np.searchsorted(below, [TAIL, 1.0 - TAIL])]
    return Spread(*_line(x, y, vote), float(low), float(high), len(names))


@cache
def recorded() -> Spread:
    """Read `TABLE` and fit it, once a process."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = ([float(row[name]) for row in rows] for name in ("believed", "made"))
    return spread([row["crowd"] for row in rows], *columns)


def untold(votes: Votes) -> str | None:
    """Say why nothing can be believed of answers to these labels, in a sentence; None where it can.

    Workers are judged by how they agree. So labels of one task by two workers must be there, on
    `OVERLAPPING` tasks or half of those with labels, and agree more than the shares of the classes
    would have it, at 99 %.

    Parameters
    ----------
    votes
        The labels that count.
    """
    return untold_in_parts([votes])


def untold_in_parts(parts: Iterable[Votes]) -> str | None:
    """Say the same of labels too many for memory: all labels of a task are in one of the parts."""
    seen = _Overlap()
    for votes in parts:
        seen.add(votes)
    if not seen.overlapping:
        two = seen.labels > seen.labelled
        why = "no task has labels of two workers" if two else "no task has two labels"
    elif seen.overlapping < min(OVERLAPPING, seen.labelled / 2.0):
        why = f"only {seen.overlapping} of {seen.labelled} tasks have labels of two workers"
    elif np.count_nonzero(seen.named) == 1:
        why = "all labels are of one class"
    elif seen.beyond_chance() < BEYOND_CHANCE:
        why = "labels of the same task agree no more than chance explains"
        if seen.may_agree():
            why = (
                f"only {seen.overlapping} tasks have labels of two workers, too few to tell "
                "whether they agree more than by chance"
            )
    else:
        return None
    return f"How many are wrong cannot be known: {why}."


class _Overlap:
    """How labels of the same tasks agree, counted a part of the tasks at a time.

    Attributes
    ----------
    labels, labelled, overlapping
        Labels, tasks with one, and tasks with labels of two workers.
    named
        Labels of each class on the last, shape (L,).
    pairs, alike, unlike
        There: sums over tasks with n labels of n (n − 1), of n (n − 1) over labels of one class
        alone, and of n (n − 1)².
    """

    def __init__(self) -> None:
        self.labels = self.labelled = self.overlapping = 0
        self.named = np.zeros(0)
        self.pairs = self.alike = self.unlike = 0.0

    def add(self, votes: Votes) -> None:
        """Count some tasks."""
        n, classes = len(votes.tasks), len(votes.classes)
        first = np.zeros(n, dtype=np.int64)
        first[votes.task] = votes.worker
        several: BoolArray = np.zeros(n, dtype=np.bool_)
        several[votes.task[votes.worker != first[votes.task]]] = True
        self.labels += len(votes)
        self.labelled += int((np.bincount(votes.task, minlength=n) > 0).sum())
        self.overlapping += int(several.sum())
        kept = several[votes.task]
        task, label = votes.task[kept], votes.label[kept]
        named = np.bincount(label, minlength=max(classes, len(self.named))).astype(np.float64)
        named[: len(self.named)] += self.named
        self.named = named
        size = np.bincount(task).astype(np.float64)
        _, alike = np.unique(task * classes + label, return_counts=True)
        self.pairs += float((size * (size - 1.0)).sum())
        self.unlike += float((size * (size - 1.0) ** 2).sum())
        self.alike += float((alike * (alike - 1.0)).sum())

    def beyond_chance(self) -> float:
        """Pairs of labels that agree beyond what shares of the classes explain, in standard errors.

        Two labels agree by chance with A = Σ p², so that P pairs of k labels in all agree PA times.
        The variance (Hoeffding 1948, Section 5) is P (A + A² − 2 Σ p³) for pairs by themselves, and
        (Σ p³ − A²) Σ_i n_i (n_i − 1 − 2P/k)² for what tasks of unlike size n_i do to the shares p.
        """
        beyond, error, _ = self._agreeing_pairs()
        return beyond / error

    def may_agree(self) -> bool:
        """Whether chance-corrected agreement may be `AGREEING` or more, at 99 %."""
        beyond, error, most = self._agreeing_pairs()
        return beyond + BEYOND_CHANCE * error >= AGREEING * most

    def _agreeing_pairs(self) -> tuple[float, float, float]:
        """Pairs that agree beyond chance, their standard error, and how many would if all did."""
        many = self.named.sum()
        share = self.named / many
        twice, thrice = float((share**2).sum()), float((share**3).sum())
        alone = twice + twice**2 - 2.0 * thrice
        # Σ n (n − 1 − c)² = Σ n (n − 1)² − 2c Σ n (n − 1) + c² Σ n, where c = Σ n (n − 1) / Σ n.
        unlike = max(self.unlike - self.pairs**2 / many, 0.0)
        variance = 0.5 * self.pairs * alone + (thrice - twice**2) * unlike
        beyond = 0.5 * (self.alike - twice * self.pairs)
        return float(beyond), float(np.sqrt(variance)), 0.5 * self.pairs * (1.0 - twice)


def _hundredths(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"


def _log_odds(share: ArrayLike) -> FloatArray:
    within = np.clip(np.asarray(share, dtype=np.float64), LEAST, 1.0 - LEAST)
    return np.asarray(np.log(within / (1.0 - within)))


def _line(x: FloatArray, y: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Level at 0 and slope of least squares."""
    mean_x, mean_y = np.average(x, weights=weight), np.average(y, weights=weight)
    along = weight @ ((x - mean_x) * (y - mean_y))
    slope = float(along / (weight @ (x - mean_x) ** 2))
    return float(mean_y - slope * mean_x), slope
