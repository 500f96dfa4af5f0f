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

from typing import TYPE_CHECKING, Literal

import numpy as np

from workbench.aggregation.voting import Aggregate, class_count, fair_choice
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import TIE, Votes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TINY = 1e-300
"""Probabilities below it count as it, so that no logarithm is infinite."""
LARGEST = 2**27
"""Numbers in one table: 1 GB, and some tables are made of it."""


def dawid_skene(
    votes: Votes,
    *,
    confusion: Literal["full", "one-coin"] = "full",
    class_prior: Literal["estimated", "uniform"] = "estimated",
    smoothing: float = 0.0,
    iterations: int = 100,
    tolerance: float = 1e-5,
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
        ones): the mode under a Dirichlet prior. 0 is maximum likelihood.
    iterations
        Expectation steps at most, 1 or more.
    tolerance
        Stop when the log-likelihood a task grows by no more than this; 0 stops when it no longer
        grows at all.
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
        - `confusion`: shape (m, L, L), true class by class named; "full" only.

    Raises
    ------
    InputError
        An unknown variant, a parameter out of range, tasks without classes, or more classes than
        the confusion matrices can have.
    """
    variants = {"confusion": ("full", "one-coin"), "class_prior": ("estimated", "uniform")}
    for name, value in (("confusion", confusion), ("class_prior", class_prior)):
        if value not in variants[name]:
            raise InputError(f"{name} is {value!r}: give {' or '.join(variants[name])}")
    checks.number("smoothing", smoothing, 0.0, 1e9)
    checks.number("tolerance", tolerance, 0.0, np.inf)
    most = checks.count("iterations", iterations, 1)
    n, m, L = len(votes.tasks), len(votes.workers), max(class_count(votes), 1)
    cells = L * max(n, m * L)
    if cells > LARGEST:
        raise InputError(
            f"{L} classes, {m} workers and {n} tasks: posteriors and confusion matrices would take "
            f"{8e-9 * cells:.0f} GB; take a majority, or code the labels as fewer classes"
        )
    labelled = np.bincount(votes.task, minlength=n) > 0
    voted = np.bincount(votes.worker, minlength=m) > 0
    named = _named(votes, n, m, L)
    by_named = named.T  # Keeps the layout, in which this product is twice as fast.
    fit = _matrices if confusion == "full" else _coins

    posterior = _shares(votes, n, L)
    prior = np.full(L, 1.0 / L)
    history: list[float] = []
    converged = False
    while len(history) < most and not converged:
        if class_prior == "estimated" and labelled.any():
            prior = posterior[labelled].mean(axis=0)
        counts = (by_named @ posterior).reshape(m, L, L)
        chance, penalty = fit(counts, float(smoothing), voted)
        posterior, likelihood = _expect(named @ _log(chance).reshape(m * L, L), prior, labelled)
        history.append(likelihood + penalty)
        if len(history) > 1:
            growth = history[-1] - history[-2]
            converged = growth <= tolerance * max(int(labelled.sum()), 1)

    best = posterior.max(axis=1)
    candidates = posterior >= (best - TIE)[:, None]
    second = np.partition(posterior, L - 2, axis=1)[:, L - 2] if L > 1 else np.zeros(n)
    winners = candidates | ~labelled[:, None]
    label = fair_choice(winners, stream(seed, "ties"))
    return Aggregate(
        label=label,
        score=np.where(labelled, best - second, 0.0),
        tied=(candidates.sum(axis=1) > 1) & labelled,
        unlabelled=~labelled,
        method="Dawid–Skene",
        info={
            "variant": _variant(confusion, class_prior, smoothing),
            "iterations": len(history),
            "converged": converged,
            "log_likelihood": history,
            "posterior": posterior,
            "class_prior": prior,
            "skill": np.where(voted, np.einsum("jtt,t->j", chance, prior), np.nan),
            "confidence": posterior[np.arange(n), label],
            **({"confusion": chance.transpose(0, 2, 1)} if confusion == "full" else {}),
        },
        winners=winners,
    )


def one_coin(
    votes: Votes,
    *,
    class_prior: Literal["estimated", "uniform"] = "estimated",
    iterations: int = 100,
    seed: Seed,
) -> Aggregate:
    """`dawid_skene` with one probability to be right for each worker; arguments as there."""
    return dawid_skene(
        votes, confusion="one-coin", class_prior=class_prior, iterations=iterations, seed=seed
    )


def _named(votes: Votes, n: int, m: int, L: int) -> csr_array:
    """Sparse matrix with a 1 for each vote: tasks × (worker, class named)."""
    from scipy.sparse import csr_array

    order = np.argsort(votes.task, kind="stable")
    column = (votes.worker * L + votes.label)[order]
    start = np.concatenate([[0], np.cumsum(np.bincount(votes.task, minlength=n))])
    return csr_array((np.ones(len(votes)), column, start), shape=(n, m * L))


def _matrices(counts: FloatArray, smoothing: float, voted: BoolArray) -> tuple[FloatArray, float]:
    """Confusion matrices from expected counts, both by (worker, named, true); log of the prior.

    A true class that a worker never met says nothing: her row is even.
    """
    counts = counts + smoothing
    total = counts.sum(axis=1, keepdims=True)
    even = np.full(counts.shape, 1.0 / counts.shape[1])
    chance = np.divide(counts, total, out=even, where=total > 0)
    return chance, smoothing * float(_log(chance[voted]).sum()) if smoothing else 0.0


def _coins(counts: FloatArray, smoothing: float, voted: BoolArray) -> tuple[FloatArray, float]:
    """The same of one-coin workers."""
    L = counts.shape[1]
    diagonal = np.eye(L, dtype=np.bool_)
    # Summed apart: 1 − skill would lose all digits of a small chance to be wrong.
    right = counts[:, diagonal].sum(axis=1) + smoothing
    wrong = counts[:, ~diagonal].sum(axis=1) + smoothing
    total = right + wrong
    skill = np.divide(right, total, out=np.full(len(total), 1.0 / L), where=total > 0)
    fault = np.divide(wrong, total, out=np.full(len(total), 1.0 - 1.0 / L), where=total > 0)
    chance = np.where(diagonal, skill[:, None, None], fault[:, None, None] / max(L - 1, 1))
    return chance, smoothing * float((_log(skill) + _log(fault))[voted].sum()) if smoothing else 0.0


def _log(chance: FloatArray) -> FloatArray:
    log: FloatArray = np.log(np.maximum(chance, TINY))
    return log


def _shares(votes: Votes, n: int, L: int) -> FloatArray:
    """Share of a task's votes that each class has, shape (n, L); even where there are none."""
    counts = np.bincount(votes.task * L + votes.label, minlength=n * L).reshape(n, L)
    total = counts.sum(axis=1, keepdims=True)
    shares: FloatArray = np.divide(counts, total, out=np.full((n, L), 1.0 / L), where=total > 0)
    return shares


def _expect(
    evidence: FloatArray, prior: FloatArray, labelled: BoolArray
) -> tuple[FloatArray, float]:
    """Posterior of each task, and the log-likelihood of all votes."""
    joint = evidence + _log(prior)
    peak = joint.max(axis=1, keepdims=True)
    joint = np.exp(joint - peak)
    total = joint.sum(axis=1, keepdims=True)
    log = (np.log(total) + peak)[labelled]
    return joint / total, float(log.sum())


def _variant(confusion: str, class_prior: str, smoothing: float) -> str:
    errors = "full confusion matrices" if confusion == "full" else "one coin a worker"
    added = f"smoothing {smoothing:g}" if smoothing else "no smoothing"
    return f"Dawid–Skene, {errors}, {class_prior} class prior, {added}, from vote shares"
