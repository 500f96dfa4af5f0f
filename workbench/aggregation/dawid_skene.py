"""Dawid and Skene's expectation-maximisation: labels and workers' errors learnt together.

Given the true class t of a task, worker j names class l with probability π^j_tl, independently of
all others. Expectation gives each task's posterior over classes, maximisation the confusion
matrices and the class prior that explain it best; the likelihood never falls. It may end in a
local maximum, and which one depends on the variant, so the result names its variant: on one data
set of 108 images the one-coin model labels 58 % rightly with an estimated class prior and 72 % with
a uniform one.

Both steps are products of one sparse matrix (tasks × (worker, label), one 1 a vote) with a dense
one of L columns.

Source: Dawid, Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM
algorithm"; used by Li, Liu (2015), Section 4, with at most 100 iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import add
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from workbench.aggregation.posteriors import (
    Earlier,
    Fit,
    LabelMatrix,
    concluded,
    label_matrix,
    log,
    normalised,
)
from workbench.aggregation.voting import Aggregate
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import Votes

Prior = Literal["estimated", "uniform"]
SMOOTHED = (0.01, 1.01)
"""Votes that `smoothed` adds to each cell off and on the diagonal."""


def dawid_skene(
    votes: Votes,
    *,
    confusion: Literal["full", "one-coin"] = "full",
    class_prior: Prior = "estimated",
    smoothing: float | tuple[float, float] = 0.0,
    iterations: int = 100,
    tolerance: float = 1e-5,
    earlier: Earlier | None = None,
    seed: Seed,
) -> Aggregate:
    """Label tasks by EM, beginning with each task's shares of votes.

    Parameters
    ----------
    votes
        k labels of any number of classes.
    confusion
        "full": a confusion matrix a worker. "one-coin": a worker is right with one probability,
        and wrong ones are spread evenly.
    class_prior
        "estimated" with the rest, or "uniform".
    smoothing
        Votes added to each cell of a confusion matrix (of a one-coin worker: right and wrong
        ones): the mode under a Dirichlet prior. A pair is what is added off and on the diagonal.
        0 is maximum likelihood.
    iterations
        Expectation steps at most, 1 or more.
    tolerance
        Stop when the log-likelihood a task grows by no more than this; 0 stops when it no longer
        grows at all.
    earlier
        Classes that are known, and a fit to start from: its workers' parameters give the first
        posterior, new workers being taken as the mean of those.
    seed
        Of the fair draw between classes of equal posterior.

    Returns
    -------
    Aggregate
        `score` is the posterior of the winning class less that of the next. `info` holds

        - `variant`: a sentence that names the model;
        - `iterations`, `converged`;
        - `log_likelihood`: one a step, with smoothing the logarithm of the posterior density up to
          a constant; never falls but for rounding;
        - `posterior`: shape (n, L); the class prior where there are no votes;
        - `class_prior`: shape (L,);
        - `confidence`: shape (n,), the posterior of the label;
        - `skill`: shape (m,), a one-coin worker's probability to be right, or the diagonal of the
          confusion matrix averaged with the class prior; NaN without votes;
        - `confusion`: shape (m, L, L), true class by class named; "full" only;
        - `fit`: to start from when there are more labels.

    Raises
    ------
    InputError
        An unknown variant, a parameter out of range, tasks without classes, more classes than
        the confusion matrices can have, or an earlier fit of another model or of other classes.
    """
    model = _model(confusion, class_prior, smoothing, iterations, tolerance)
    matrix = label_matrix(votes, earlier)
    kind = f"Dawid–Skene, {confusion}"
    start = (earlier or Earlier()).fit_of(kind, votes.classes)

    def first(matrix: LabelMatrix) -> tuple[FloatArray, float]:
        if start is None:
            return matrix.shares(), 0.0
        chance = start.of_workers("chance", votes.workers, start.by_worker["chance"].mean(axis=0))
        return _expect(matrix, chance, start.shared["class_prior"])

    fitted = _fitted(lambda: [matrix], model, first)
    return concluded(
        matrix,
        fitted.posterior,
        "Dawid–Skene",
        seed,
        {
            **fitted.info,
            "fit": Fit.of(
                kind, votes, {}, {"chance": fitted.chance}, {"class_prior": fitted.prior}
            ),
        },
    )


def in_parts(
    parts: Callable[[], Iterable[Votes]],
    *,
    confusion: Literal["full", "one-coin"] = "full",
    class_prior: Prior = "estimated",
    smoothing: float | tuple[float, float] = 0.0,
    iterations: int = 100,
    tolerance: float = 1e-5,
    seed: Seed,
    tell: Callable[[str], object] = str,
) -> tuple[dict[str, Any], Iterator[Aggregate]]:
    """`dawid_skene` of labels that come in parts, gone through once a step and not kept.

    Parameters
    ----------
    parts
        Gives the labels anew each time: a part has all labels of its tasks, and all parts name the
        same workers and classes.
    confusion, class_prior, smoothing, iterations, tolerance, seed
        As there.
    tell
        Is called with lines on how far it is.

    Returns
    -------
    What `info` holds there, of the whole, and the labels of each part, in turn: those of
    `dawid_skene`, but that sums over parts are rounded otherwise.
    """
    model = _model(confusion, class_prior, smoothing, iterations, tolerance)
    fitted = _fitted(
        lambda: map(label_matrix, parts()), model, lambda matrix: (matrix.shares(), 0.0), tell
    )
    rng = stream(seed, "ties")

    def labelled() -> Iterator[Aggregate]:
        for matrix in map(label_matrix, parts()):
            posterior, _ = _expect(matrix, fitted.chance, fitted.prior)
            yield concluded(matrix, posterior, "Dawid–Skene", rng, {})

    return fitted.info, labelled()


class _Model(NamedTuple):
    """What is fitted, and until when."""

    confusion: str
    class_prior: str
    added: tuple[float, float]
    most: int
    tolerance: float


class _Turn(NamedTuple):
    """What an expectation step leaves for the maximisation that follows.

    `counts` (m, L named, L true) and `mass` (L,) are sums of posteriors over labels and over
    tasks with a label, of which there are `labelled`; `voted` (m,); `posterior` is that of the last
    part.
    """

    counts: FloatArray
    mass: FloatArray
    labelled: int
    voted: BoolArray
    likelihood: float
    posterior: FloatArray


class _Fitted(NamedTuple):
    chance: FloatArray
    prior: FloatArray
    posterior: FloatArray
    info: dict[str, Any]


_Expect: TypeAlias = Callable[[LabelMatrix], tuple[FloatArray, float]]


def _model(
    confusion: str,
    class_prior: str,
    smoothing: float | tuple[float, float],
    iterations: int,
    tolerance: float,
) -> _Model:
    variants = {"confusion": ("full", "one-coin"), "class_prior": ("estimated", "uniform")}
    for name, value in (("confusion", confusion), ("class_prior", class_prior)):
        if value not in variants[name]:
            raise InputError(f"{name} is {value!r}: give {' or '.join(variants[name])}")
    added = smoothing if isinstance(smoothing, tuple) else (smoothing, smoothing)
    for votes_added in added:
        checks.number("smoothing", votes_added, 0.0, 1e9)
    checks.number("tolerance", tolerance, 0.0, np.inf)
    most = checks.count("iterations", iterations, 1)
    return _Model(confusion, class_prior, added, most, tolerance)


def _fitted(
    matrices: Callable[[], Iterable[LabelMatrix]],
    model: _Model,
    first: _Expect,
    tell: Callable[[str], object] = str,
) -> _Fitted:
    """Maximise and expect by turns, from the posteriors that `first` gives."""
    maximise = _matrices if model.confusion == "full" else _coins
    turn = _turn(matrices, first)
    prior = np.full(len(turn.mass), 1.0 / len(turn.mass))
    history: list[float] = []
    converged = False
    while len(history) < model.most and not converged:
        if model.class_prior == "estimated" and turn.labelled:
            prior = turn.mass / turn.labelled
        chance, penalty = maximise(turn.counts, model.added, turn.voted)
        turn = _turn(matrices, partial(_expect, chance=chance, prior=prior))
        history.append(turn.likelihood + penalty)
        growth = history[-1] - history[-2] if len(history) > 1 else np.inf
        converged = growth <= model.tolerance * max(turn.labelled, 1)
        tell(f"step {len(history)}, log-likelihood {history[-1]:.6g}")
    info = {
        "variant": _variant(model.confusion, model.class_prior, model.added),
        "iterations": len(history),
        "converged": converged,
        "log_likelihood": history,
        "class_prior": prior,
        "skill": np.where(turn.voted, np.einsum("jtt,t->j", chance, prior), np.nan),
    }
    if model.confusion == "full":
        info["confusion"] = chance.transpose(0, 2, 1)
    return _Fitted(chance, prior, turn.posterior, info)


def _turn(matrices: Callable[[], Iterable[LabelMatrix]], expect: _Expect) -> _Turn:
    """Expect part by part, and add up what the maximisation needs."""
    whole: _Turn | None = None
    for matrix in matrices():
        _, m, L = matrix.shape
        posterior, likelihood = expect(matrix)
        # Transposed so, the matrix keeps its layout, in which the product is twice as fast.
        part = _Turn(
            (matrix.named.T @ posterior).reshape(m, L, L),
            posterior[matrix.labelled].sum(axis=0),
            int(matrix.labelled.sum()),
            matrix.voted,
            likelihood,
            posterior,
        )
        if whole is not None:
            part = _Turn._make([*map(add, whole[:-1], part[:-1]), posterior])
        whole = part
    assert whole is not None
    return whole


one_coin = partial(dawid_skene, confusion="one-coin")
"""`dawid_skene` with one probability to be right for each worker."""
smoothed = partial(dawid_skene, smoothing=SMOOTHED)
"""`dawid_skene` with `SMOOTHED` votes added: a worker is taken as right until seen to err."""


def confusion_matrices(
    matrix: LabelMatrix, posterior: FloatArray, smoothing: tuple[float, float]
) -> FloatArray:
    """Confusion matrix of each worker from the tasks' posteriors, shape (m, L named, L true).

    Parameters
    ----------
    matrix
        The labels.
    posterior
        Shape (n, L).
    smoothing
        Votes added off and on the diagonal.
    """
    _, m, L = matrix.shape
    counts = (matrix.named.T @ posterior).reshape(m, L, L)
    return _matrices(counts, smoothing, matrix.voted)[0]


def _added(added: tuple[float, float], L: int) -> FloatArray:
    """Votes added by (class named, true class)."""
    wrong, right = added
    return np.where(np.eye(L, dtype=np.bool_), right, wrong)


def _matrices(
    counts: FloatArray, added: tuple[float, float], voted: BoolArray
) -> tuple[FloatArray, float]:
    """Confusion matrices from expected counts, both by (worker, named, true); log of the prior.

    A true class that a worker never met says nothing: her row is even.
    """
    extra = _added(added, counts.shape[1])
    counts = counts + extra
    total = counts.sum(axis=1, keepdims=True)
    even = np.full(counts.shape, 1.0 / counts.shape[1])
    chance = np.divide(counts, total, out=even, where=total > 0)
    return chance, float((extra * log(chance[voted])).sum()) if any(added) else 0.0


def _coins(
    counts: FloatArray, added: tuple[float, float], voted: BoolArray
) -> tuple[FloatArray, float]:
    """The same of one-coin workers."""
    L = counts.shape[1]
    diagonal = np.eye(L, dtype=np.bool_)
    # Summed apart: 1 − skill would lose all digits of a small chance to be wrong.
    right = counts[:, diagonal].sum(axis=1) + added[1]
    wrong = counts[:, ~diagonal].sum(axis=1) + added[0]
    total = right + wrong
    skill = np.divide(right, total, out=np.full(len(total), 1.0 / L), where=total > 0)
    fault = np.divide(wrong, total, out=np.full(len(total), 1.0 - 1.0 / L), where=total > 0)
    chance = np.where(diagonal, skill[:, None, None], fault[:, None, None] / max(L - 1, 1))
    density = (added[1] * log(skill) + added[0] * log(fault))[voted].sum() if any(added) else 0.0
    return chance, float(density)


def _expect(matrix: LabelMatrix, chance: FloatArray, prior: FloatArray) -> tuple[FloatArray, float]:
    """Posterior of each task, known classes kept, and the log-likelihood of all votes."""
    _, m, L = matrix.shape
    joint = matrix.named @ log(chance).reshape(m * L, L) + log(prior)
    joint[matrix.excluded()] = -np.inf
    posterior, total = normalised(joint)
    return posterior, float(total[matrix.labelled].sum())


def _variant(confusion: str, class_prior: str, smoothing: tuple[float, float]) -> str:
    errors = "full confusion matrices" if confusion == "full" else "one skill a worker"
    wrong, right = smoothing
    added = f"smoothing {wrong:g}" if wrong == right else f"smoothing {wrong:g} (right: {right:g})"
    if not any(smoothing):
        added = "no smoothing"
    return f"Dawid–Skene, {errors}, {class_prior} class prior, {added}, from vote shares"
