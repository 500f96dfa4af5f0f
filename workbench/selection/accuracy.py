"""How wrong the vote of a chosen crowd will be, and the crowd for which that is least.

The paper chooses by a bound on the error (Theorem 1); here the error itself is predicted, as a
yardstick beyond the paper. Skills are taken to be independent draws from Beta(a, b), of which a
worker with c right answers to n control questions keeps Beta(c + a, n − c + b). The weights of the
vote are set by the same answers, and so are known.

Given the skills w₁ … w_k, the vote errs with the sum, over all ways the k workers can answer, of
the loss (0, 1, or the share lost where classes tie) times Π_j P(her answer | w_j). Each factor is
w_j or (1 − w_j)/(L − 1), so the error is of degree one in every single skill. The skills being
independent a posteriori, the expectation of each product is the product of the expectations: the
expected error is the error at the posterior means, exactly. Nothing is approximated, as long as
the prior and the one-coin model hold; and who was chosen by the same answers does not matter, since
the posterior is conditional on all of them.

Source of the model: Li, Liu (2015), (1)–(3).
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.error_rate import ROUNDING, ErrorRate, vote_errors
from workbench.accuracy.plurality import plurality_error
from workbench.aggregation.voting import log_odds_weights
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import TIE
from workbench.selection.rules import Selection, Ties
from workbench.selection.scores import Scores, proper_prior, scores

Weights: TypeAlias = Literal["linear", "log-odds", "equal"]

RULE = "accuracy"
"""Name of the rule that chooses by predicted error."""
DRAWS = 200_000
"""Most votes that are simulated of one crowd."""
LABELS = 20_000_000
"""Most labels that are simulated, all workers and votes together."""
RESOLUTION = 8.0
"""An error below so many votes is not told from 0 by simulating them."""
SUBSETS = 2**18
"""Most sets that are looked at one by one."""


def posterior_skill(
    correct: ArrayLike, answered: ArrayLike, prior: tuple[float, float] = (1.0, 1.0)
) -> FloatArray:
    """Posterior mean (c + a)/(n + a + b) of each worker's skill under Beta(a, b), shape (m,).

    Parameters
    ----------
    correct, answered
        c and n, shape (m,).
    prior
        (a, b); (1, 1) takes every skill for equally likely.

    Raises
    ------
    InputError
        Counts or prior that are not what `scores` takes.
    """
    known = scores(correct, answered)
    a, b = proper_prior(prior)
    mean: FloatArray = (known.correct + a) / (known.answered + (a + b))
    return mean


def predicted_error(
    known: Scores,
    chosen: ArrayLike,
    *,
    prior: tuple[float, float] = (1.0, 1.0),
    weights: Weights = "linear",
    seed: Seed = 0,
) -> ErrorRate:
    """Posterior expectation of the error of the chosen workers' vote: see the module's text.

    Parameters
    ----------
    known
        Scores of the m workers.
    chosen
        Indices of the k who vote, each once. Nobody guesses: the error is 1 − 1/L.
    prior
        (a, b) of the Beta distribution of skills.
    weights
        "linear" Lŵ − 1 (2), "log-odds" (`log_odds_weights`, ŵ moved into [0.001, 0.999]) or
        "equal", ŵ as in `known`.
    seed
        Of the votes simulated where there are more than two classes and too many voters to
        enumerate (`plurality_error`).

    Returns
    -------
    ErrorRate
        "exact", "lattice", "sampled" or, where a proven bound says more than simulated votes
        could, "bounded": anything from 0 to twice the probability.

    Raises
    ------
    InputError
        An index out of range or repeated, a worker without an estimate, unknown weights, or a
        prior that is not two numbers above 0.
    """
    at = _voters(known, chosen)
    w, L = vote_weights(known, weights)[at], known.classes
    p = posterior_skill(known.correct, known.answered, prior)[at]
    votes = _draws(len(at), L)
    if L > 2 and len(at):
        rate = plurality_error(p, w, L, draws=1)
        if rate.method == "exact":
            return rate
        most = float(_chernoff(p, w, L)[-1])
        if most <= RESOLUTION / votes:
            return ErrorRate(most / 2, most / 2, "bounded")
    return plurality_error(p, w, L, seed=seed, draws=votes)


def prefix_errors(
    known: Scores,
    order: ArrayLike,
    *,
    prior: tuple[float, float] = (1.0, 1.0),
    weights: Weights = "linear",
    seed: Seed = 0,
) -> list[ErrorRate]:
    """`predicted_error` of the first 1, 2, …, k workers of an order.

    Where votes have to be simulated, all prefixes share them, so that their differences are known
    much better than their values.

    Parameters
    ----------
    order
        Indices of k workers, each once. The rest as for `predicted_error`.

    Raises
    ------
    InputError
        As `predicted_error`.
    """
    at = _voters(known, order)
    if not len(at):
        return []
    w, L = vote_weights(known, weights)[at], known.classes
    p = posterior_skill(known.correct, known.answered, prior)[at]
    most = _chernoff(p, w, L)
    rates = _enumerated(p, w, most) if L == 2 else _listed(p, w, L)
    # Up to the last prefix of which the bound says too little.
    far = 1 + int(np.flatnonzero(most > RESOLUTION / _draws(len(at), L)).max(initial=-1))
    if len(rates) < far:
        rates += _simulated(p[:far], w[:far], L, seed)[len(rates) :]
    return rates + [ErrorRate(half, half, "bounded") for half in (most[len(rates) :] / 2).tolist()]


def by_accuracy(
    known: Scores,
    budget: int,
    *,
    prior: tuple[float, float] = (1.0, 1.0),
    weights: Weights = "linear",
    seed: Seed,
    ties: Ties = "fair",
    by_evidence: bool = False,
) -> Selection:
    """Choose the first k ≤ K workers by posterior informativeness whose vote errs least.

    Workers are ranked by |Lm − 1|, m the posterior mean. Of the K prefixes the smallest is chosen
    that is not proven to err more than another; where votes are simulated, the smallest that errs
    least on them. Other sets than prefixes are not looked at: `exhaustive_by_accuracy` does, for
    small crowds.

    Parameters
    ----------
    known
        Scores of the m workers; who is not eligible is left out.
    budget
        K ≥ 1.
    prior, weights
        As in `predicted_error`.
    seed
        Of the order among workers of equal rank, and of simulated votes.
    ties
        "fair" draws that order, "first" takes the lowest indices first. Workers of equal rank may
        differ in weight, and then the prefixes depend on it.
    by_evidence
        Whether of workers of equal rank those with more control answers come first.

    Returns
    -------
    Selection
        Its curve is the predicted accuracy, 1 less the predicted error, of the first 1, 2, …
        workers.

    Raises
    ------
    InputError
        A budget below 1, or as `predicted_error`.
    """
    K = checks.count("budget", budget, 1)
    value = posterior_value(known, prior)
    order = np.flatnonzero(known.eligible)
    if ties == "fair":
        order = stream(seed, "ties").permutation(order)
    elif ties != "first":
        raise InputError(f"ties is {ties!r}: give 'fair' or 'first'")
    evidence = known.answered if by_evidence else np.zeros(len(known), dtype=np.int64)
    ranked: IntArray = order[np.lexsort((-evidence[order], -value[order]))][:K]
    if not len(ranked):
        return Selection(RULE, ranked, np.zeros(0), ranked, "no worker can be scored")
    rates = prefix_errors(known, ranked, prior=prior, weights=weights, seed=seed)
    k = _least(rates)
    chosen, last = ranked[:k], ranked[k - 1]
    alike = (value == value[last]) & (evidence == evidence[last])
    equal = np.flatnonzero(known.eligible & alike)
    tied = equal if np.isin(equal, chosen, invert=True).any() else equal[:0]
    curve = np.array([1.0 - rate.probability for rate in rates])
    return Selection(RULE, chosen, curve, tied, _note(curve[k - 1], known.classes))


def exhaustive_by_accuracy(
    known: Scores,
    budget: int,
    *,
    prior: tuple[float, float] = (1.0, 1.0),
    weights: Weights = "linear",
    seed: Seed = 0,
) -> Selection:
    """Choose the set of at most K workers whose vote errs least, by looking at every one.

    Of several the smallest, and of these the first in the order of indices.

    Parameters
    ----------
    known
        Scores of the m workers, of whom few enough are eligible.
    budget, prior, weights, seed
        As in `by_accuracy`.

    Returns
    -------
    Selection
        `chosen` most informative first; its curve is the highest predicted accuracy of any set of
        1, 2, … workers.

    Raises
    ------
    InputError
        More than 262,144 sets, a budget below 1, or as `predicted_error`.
    """
    who = np.flatnonzero(known.eligible)
    K = min(checks.count("budget", budget, 1), len(who))
    count = sum(math.comb(len(who), k) for k in range(1, K + 1))
    if count > SUBSETS:
        raise InputError(
            f"{len(who)} workers have {count} sets of at most {K}: give fewer workers or a smaller "
            f"budget, for at most {SUBSETS}"
        )
    if not K:
        return Selection(RULE, who, np.zeros(0), who, "no worker can be scored")
    w = vote_weights(known, weights)[who]
    p = posterior_skill(known.correct, known.answered, prior)[who]
    sets: BoolArray = np.zeros((count, len(who)), dtype=np.bool_)
    row = 0
    for k in range(1, K + 1):
        for members in combinations(range(len(who)), k):
            sets[row, members] = True
            row += 1
    if known.classes == 2:
        found, radius = vote_errors(p, w, sets)
        rates = [
            ErrorRate(float(error), float(within), "exact")
            for error, within in zip(found, radius, strict=True)
        ]
    else:
        rates = [plurality_error(p[s], w[s], known.classes, seed=seed) for s in sets]
    best = sets[_least(rates) - 1]
    error = np.array([rate.probability for rate in rates])
    size = sets.sum(axis=1)
    curve = np.array([1.0 - error[size == k].min() for k in range(1, K + 1)])
    chosen = who[best]
    chosen = chosen[np.argsort(-posterior_value(known, prior)[chosen], kind="stable")]
    highest = 1.0 - rates[_least(rates) - 1].probability
    return Selection(RULE, chosen, curve, chosen[:0], _note(highest, known.classes))


def posterior_value(known: Scores, prior: tuple[float, float] = (1.0, 1.0)) -> FloatArray:
    """|Lm − 1| of each worker, m the posterior mean of her skill, shape (m,)."""
    posterior_skill(known.correct, known.answered, prior)  # the checks
    a, b = prior
    weight = known.answered + (a + b)
    # One division of numbers that are whole for a whole prior: equals are equal to the last bit.
    value: FloatArray = np.abs(known.classes * (known.correct + a) - weight) / weight
    return value


def vote_weights(known: Scores, weights: Weights = "linear") -> FloatArray:
    """Weights that the workers' votes get by ŵ, shape (m,), NaN for who is not eligible.

    Parameters
    ----------
    weights
        As in `predicted_error`.

    Raises
    ------
    InputError
        Unknown weights.
    """
    weight, who = np.full(len(known), np.nan), known.eligible
    if weights == "linear":
        weight[who] = known.classes * known.skill[who] - 1.0
    elif weights == "log-odds":
        weight[who] = log_odds_weights(known.skill[who], known.classes)
    elif weights == "equal":
        weight[who] = 1.0
    else:
        raise InputError(f"weights is {weights!r}: give 'linear', 'log-odds' or 'equal'")
    return weight


def _voters(known: Scores, chosen: ArrayLike) -> IntArray:
    """Check indices of workers who can vote."""
    given = np.asarray(chosen)
    at = checks.indices("chosen", given if given.size else given.astype(np.int64), len(known))
    if len(np.unique(at)) < len(at):
        twice = int(np.flatnonzero(np.bincount(at) > 1)[0])
        raise InputError(f"chosen names worker {twice} twice: give each once")
    if not known.eligible[at].all():
        j = int(at[np.argmin(known.eligible[at])])
        raise InputError(
            f"chosen names worker {j}, who has {known.answered[j]} control answers and no estimate "
            "of skill: leave the worker out, or give scores a prior"
        )
    return at


def _draws(voters: int, classes: int) -> int:
    return max(min(DRAWS, LABELS // max(voters, classes)), 10_000)


def _least(rates: list[ErrorRate]) -> int:
    """Place, from 1, of the first that is not proven to be larger than another."""
    low = [rate.probability - _proven(rate) for rate in rates]
    high = min(rate.probability + _proven(rate) for rate in rates)
    return next(k for k, value in enumerate(low, 1) if value <= high)


def _proven(rate: ErrorRate) -> float:
    # A sampled rate's radius is no proof, and the samples are shared: compared as they are.
    return 0.0 if rate.method == "sampled" else rate.radius


def _note(accuracy: float, classes: int) -> str:
    if accuracy > 1.0 / classes + 1e-9:
        return ""
    return (
        "no worker is predicted to be better than guessing; one worker is named because the rule "
        "names at least one"
    )


def _enumerated(p: FloatArray, w: FloatArray, most: FloatArray) -> list[ErrorRate]:
    """Errors of the prefixes of two-class voters, up to the last not bounded by `ROUNDING`."""
    far = 1 + int(np.flatnonzero(most > ROUNDING).max(initial=-1))
    found, radius = vote_errors(p[:far], w[:far], np.tri(far, dtype=np.bool_))
    return [
        ErrorRate(float(error), float(within), "exact" if within <= 10 * ROUNDING else "lattice")
        for error, within in zip(found, radius, strict=True)
    ]


def _listed(p: FloatArray, w: FloatArray, L: int) -> list[ErrorRate]:
    """Errors of the first prefixes of voters among many classes, while they can be listed."""
    rates: list[ErrorRate] = []
    for k in range(1, len(p) + 1):
        rate = plurality_error(p[:k], w[:k], L, atoms=2**11, draws=1)
        if rate.method != "exact":
            break
        rates.append(rate)
    return rates


def _chernoff(p: FloatArray, w: FloatArray, L: int) -> FloatArray:
    """Bound the error of the vote of the first 1, 2, …, k workers, shape (k,).

    A wrong class comes level with the true one with probability at most Π_j E exp(t ξ_j), for any
    t ≥ 0, where ξ_j is w_j for that class, −w_j for the true one, else 0; there are L − 1.
    """
    t = np.geomspace(0.01, 100.0, 97)[:, None] / np.abs(w).max(initial=1e-300)
    other = (1.0 - p) / (L - 1.0)
    moment = p * np.exp(-t * w) + other * np.exp(t * w) + (L - 2.0) * other
    exponent = np.cumsum(np.log(moment), axis=1).min(axis=0)
    bound: FloatArray = np.minimum((L - 1.0) * np.exp(np.minimum(exponent, 0.0)) * (1 + 1e-9), 1.0)
    return bound


def _simulated(p: FloatArray, w: FloatArray, L: int, seed: Seed) -> list[ErrorRate]:
    """Errors of the vote of the first 1, 2, …, k workers, all on the same simulated labels.

    By symmetry the true class may be class 0. The radius is four standard errors and `RESOLUTION`
    votes, and no proof.
    """
    votes = _draws(len(p), L)
    rng = stream(seed, "prefixes")
    sums, column, total = np.zeros((L, votes)), np.arange(votes), 0.0
    rates = []
    for chance, weight in zip(p.tolist(), w.tolist(), strict=True):
        draw = rng.random(votes)
        # A draw above the skill is uniform there, and names the wrong class. Posterior means are
        # below 1.
        wrong = np.minimum((draw - chance) / (1.0 - chance) * (L - 1), L - 2).astype(np.int64)
        sums[np.where(draw < chance, 0, wrong + 1), column] += weight
        total += abs(weight)
        winners = sums >= sums.max(axis=0) - TIE * total
        loss = 1.0 - winners[0] / winners.sum(axis=0)
        radius = 4.0 * float(loss.std()) / math.sqrt(votes) + RESOLUTION / votes
        rates.append(ErrorRate(float(loss.mean()), radius, "sampled"))
    return rates
