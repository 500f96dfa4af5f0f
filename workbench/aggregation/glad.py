"""Labels, abilities and difficulties together: a worker errs more on a hard task.

Worker j names the class of task i with probability σ(α_j β_i), σ(x) = 1/(1 + e^−x): α_j is the
worker's ability (below 0: she tells the classes apart and names the wrong ones), 1/β_i > 0 the
task's difficulty. Errors are spread evenly over the other classes. Expectation gives each task's
posterior over classes, with the chance p_ij that label ij is right; maximisation climbs

    Σ_ij p_ij ln σ(α_j β_i) + (1 − p_ij) ln((1 − σ(α_j β_i))/(L − 1)) + ln prior,

α_j and ln β_i being normal of mean 1 and variance 1, a few steps by L-BFGS. The penalised
likelihood never falls.

Source: Whitehill, Ruvolo, Wu, Bergsma, Movellan (2009), "Whose vote should count more: optimal
integration of labels from labelers of unknown expertise", NIPS, Sections 2 and 3; several classes
as in its supplement.
"""

from __future__ import annotations

from typing import Literal

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
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.crowd.votes import Votes

METHOD = "GLAD"
MEAN = 1.0
"""Prior mean of α_j and of ln β_i; the variance is 1."""
CLIMBS = 10
"""Steps of L-BFGS in one maximisation."""
STEEPEST = 12.0
"""|ln β_i| counts as no more, so that β_i stays finite; the prior keeps it far below."""


def glad(
    votes: Votes,
    *,
    class_prior: Literal["estimated", "uniform"] = "uniform",
    iterations: int = 100,
    tolerance: float = 1e-5,
    earlier: Earlier | None = None,
    seed: Seed,
) -> Aggregate:
    """Label tasks by EM with a worker's ability and a task's difficulty.

    Parameters
    ----------
    votes
        k labels of any number of classes.
    class_prior
        "uniform", as its authors have it, or "estimated" with the rest.
    iterations
        Expectation steps at most, 1 or more.
    tolerance
        Stop when the penalised log-likelihood a label grows by no more than this.
    earlier
        Classes that are known, and a fit to start from: its abilities and difficulties give the
        first posterior.
    seed
        Of the fair draw between classes of equal posterior.

    Returns
    -------
    Aggregate
        `score` is the posterior of the winning class less that of the next. `info` holds

        - `variant`, `iterations`, `converged`;
        - `log_likelihood`: penalised, one a step; never falls but for rounding;
        - `posterior` (n, L), `class_prior` (L,), `confidence` (n,);
        - `ability`: shape (m,), α_j; `difficulty`: shape (n,), 1/β_i; NaN without labels;
        - `skill`: shape (m,), mean over the worker's tasks of σ(α_j β_i);
        - `fit`: to start from when there are more labels.

    Raises
    ------
    InputError
        A parameter out of range, tasks without classes, tables beyond memory, or an
        earlier fit of another model or of other classes.
    """
    from scipy.special import expit

    if class_prior not in ("estimated", "uniform"):
        raise InputError(f"class_prior is {class_prior!r}: give 'estimated' or 'uniform'")
    checks.number("tolerance", tolerance, 0.0, np.inf)
    most = checks.count("iterations", iterations, 1)
    matrix = label_matrix(votes, earlier)
    n, m, L = matrix.shape
    prior = np.full(L, 1.0 / L)
    ability, easiness = np.full(m, MEAN), np.full(n, MEAN)
    start = (earlier or Earlier()).fit_of(METHOD, votes.classes)
    if start is not None:
        ability = start.of_workers("ability", votes.workers, MEAN)
        easiness = start.of_tasks("log_easiness", votes.tasks, MEAN)
        prior = start.shared["class_prior"]
    history: list[float] = []
    converged = False
    counted = matrix.labelled
    while True:
        posterior, likelihood = _expect(matrix, ability, easiness, prior)
        penalty = ((ability - MEAN) ** 2).sum() + ((easiness - MEAN) ** 2).sum()
        history.append(likelihood - 0.5 * float(penalty))
        if len(history) > 1:
            growth = history[-1] - history[-2]
            converged = growth <= tolerance * max(len(votes), 1)
        if converged or len(history) > most:
            break
        if class_prior == "estimated" and counted.any():
            prior = posterior[counted].mean(axis=0)
        right = posterior[votes.task, votes.label]
        ability, easiness = _maximise(votes, right, ability, easiness)
    chance = expit(ability[votes.worker] * np.exp(easiness[votes.task]))
    labels = np.bincount(votes.worker, minlength=m)
    skill = np.bincount(votes.worker, chance, minlength=m) / np.maximum(labels, 1)
    return concluded(
        matrix,
        posterior,
        METHOD,
        seed,
        {
            "variant": f"GLAD, {class_prior} class prior, abilities and log-easiness from N(1, 1)",
            "iterations": len(history) - 1,
            "converged": converged,
            "log_likelihood": history,
            "class_prior": prior,
            "ability": np.where(matrix.voted, ability, np.nan),
            "difficulty": np.where(counted, np.exp(-easiness), np.nan),
            "skill": np.where(matrix.voted, skill, np.nan),
            "fit": Fit.of(
                METHOD,
                votes,
                {"log_easiness": easiness},
                {"ability": ability},
                {"class_prior": prior},
            ),
        },
    )


def _expect(
    matrix: LabelMatrix, ability: FloatArray, easiness: FloatArray, prior: FloatArray
) -> tuple[FloatArray, float]:
    """Posterior (n, L), known classes kept, and the log-likelihood of all labels."""
    votes, (n, _, L) = matrix.votes, matrix.shape
    lead = ability[votes.worker] * np.exp(easiness[votes.task])
    wrong = -np.logaddexp(0.0, lead) - np.log(max(L - 1, 1))
    # Each label adds ln P(right) to its class and ln P(wrong) to all others: their difference is
    # the lead, but for the spreading.
    gain = np.bincount(
        votes.task * L + votes.label, lead + np.log(max(L - 1, 1)), minlength=n * L
    ).reshape(n, L)
    base = np.bincount(votes.task, wrong, minlength=n)
    joint = gain + base[:, None] + log(prior)
    joint[matrix.excluded()] = -np.inf
    posterior, total = normalised(joint)
    return posterior, float(total[matrix.labelled].sum())


def _maximise(
    votes: Votes, right: FloatArray, ability: FloatArray, easiness: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Climb the expected log-likelihood, penalised, from the abilities and easiness there are."""
    from scipy.optimize import minimize
    from scipy.special import expit

    m, n = len(ability), len(easiness)

    def fall(at: FloatArray) -> tuple[float, FloatArray]:
        alpha, eased = at[:m], np.clip(at[m:], -STEEPEST, STEEPEST)
        beta = np.exp(eased)[votes.task]
        skill = alpha[votes.worker]
        lead = skill * beta
        # p ln σ(x) + (1 − p) ln(1 − σ(x)) = p x − ln(1 + e^x)
        value = (right * lead - np.logaddexp(0.0, lead)).sum()
        slope = right - expit(lead)
        up = np.bincount(votes.worker, slope * beta, minlength=m) - (alpha - MEAN)
        ease = np.bincount(votes.task, slope * lead, minlength=n) - (at[m:] - MEAN)
        value -= 0.5 * (((alpha - MEAN) ** 2).sum() + ((at[m:] - MEAN) ** 2).sum())
        return -float(value), -np.concatenate([up, ease])

    first = np.concatenate([ability, easiness])
    optimum = minimize(fall, first, jac=True, method="L-BFGS-B", options={"maxiter": CLIMBS})
    best = optimum.x if optimum.fun <= fall(first)[0] else first
    return best[:m], best[m:]
