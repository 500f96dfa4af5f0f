"""How wrong the vote of a chosen crowd will be, and the crowd for which that is least.

The paper chooses by a bound on the error (Theorem 1); here the error itself is predicted, as a
yardstick beyond the paper. Skills are taken to be independent draws from Beta(a, b), of which a
worker with c right answers to n control questions keeps Beta(c + a, n − c + b). The weights of the
vote are set by the same answers, and so are known.

Given the skills p₁ … p_k, the vote errs with the sum, over all ways the k workers can answer, of
the loss (0, 1, or the share lost where classes tie) times Π_j P(her answer | p_j). Each factor is
p_j or (1 − p_j)/(L − 1), so the error is of degree one in every single skill. The skills being
independent a posteriori, the expectation of each product is the product of the expectations: the
expected error is the error at the posterior means, exactly. Nothing is approximated, as long as
the prior and the one-coin model hold; and who was chosen by the same answers does not matter, since
the posterior is conditional on all of them.

Where tasks differ in difficulty (`Scores.difficulty`), errors are independent given it: the
expected error is the mean of the errors at each difficulty, of the skills that workers have there.

Source of the model: Li, Liu (2015), (1)–(3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.error_rate import ROUNDING, ErrorRate, vote_errors
from workbench.accuracy.plurality import lost, merged, plurality_error, voted
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import TIE
from workbench.selection.difficulty import skills_by_difficulty
from workbench.selection.scoring import Scores

DRAWS = 200_000
"""Most votes that are simulated of one crowd."""
MIXED = 50_000
"""The same where tasks differ in difficulty and all prefixes of a crowd vote; the difficulties
share them by their frequency."""
LABELS = 20_000_000
"""Most labels that are simulated, all workers and votes together."""
RESOLUTION = 8.0
"""An error below so many votes is not distinguished from 0 by simulating them."""
SUBSETS = 2**18
"""Most sets that are looked at one by one."""
MOST_STATES = 2**12
"""Most states of a vote that are listed for every prefix."""
METHODS = ("exact", "lattice", "bounded", "sampled")
"""From the surest to the least sure."""


def predicted_error(pool: Scores, chosen: ArrayLike, *, seed: Seed = 0) -> ErrorRate:
    """Posterior expectation of the error of the chosen workers' vote: see the module's text.

    Parameters
    ----------
    pool
        Scores of the m workers: the posterior follows from their answers and their prior, the
        weights of the vote, Lŵ − 1 (2), from ŵ.
    chosen
        Indices of the k who vote, each once. An empty set guesses: its error is 1 − 1/L.
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
        An index out of range or repeated, or a worker without an estimate.
    """
    at, L = pool.workers(chosen), pool.classes
    w, votes = pool.vote_weight[at], _simulated_votes(len(at), L)
    return _mean_over_difficulties(
        [
            (share, [_error(p[at], w, L, max(votes // parts, 10_000), seed)])
            for share, p, parts in _by_difficulty(pool)
        ]
    )[0]


def _error(p: FloatArray, w: FloatArray, L: int, votes: int, seed: Seed) -> ErrorRate:
    """Error of one vote of independent workers."""
    if L > 2 and len(p):
        rate = plurality_error(p, w, L, draws=1)  # exact where the ways to answer can be listed
        if rate.method == "exact":
            return rate
        bound = float(_chernoff(p, w, L)[-1])
        if bound <= RESOLUTION / votes:
            return ErrorRate(bound / 2, bound / 2, "bounded")
    return plurality_error(p, w, L, seed=seed, draws=votes)


def prefix_errors(pool: Scores, order: ArrayLike, *, seed: Seed = 0) -> list[ErrorRate]:
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
    at, L = pool.workers(order), pool.classes
    if not len(at):
        return []
    w, votes = pool.vote_weight[at], _simulated_votes(len(at), L)
    parts = [(share, p[at]) for share, p, _ in _by_difficulty(pool)]
    bound = np.sum([share * _chernoff(p, w, L) for share, p in parts], axis=0)
    rates = _errors_of_prefixes(parts, w, L)
    # The bound says enough of all prefixes after these.
    needed = 1 + int(
        np.flatnonzero(bound > (ROUNDING if L == 2 else RESOLUTION / votes)).max(initial=-1)
    )
    if len(rates) < needed:
        sets: BoolArray = np.tri(needed, dtype=np.bool_)[len(rates) :]
        votes_by_difficulty = [max(int(share * min(votes, MIXED)), 1000) for share, _ in parts]
        rates += _mean_over_difficulties(
            [
                (
                    share,
                    _errors_of_sets(p[:needed], w[:needed], sets)
                    if L == 2
                    else _simulated(p[:needed], w[:needed], L, draws, seed)[len(rates) :],
                )
                for (share, p), draws in zip(
                    parts, votes_by_difficulty if len(parts) > 1 else [votes], strict=True
                )
            ]
        )
    return rates + [ErrorRate(half, half, "bounded") for half in (bound[len(rates) :] / 2).tolist()]


def _by_difficulty(pool: Scores) -> list[tuple[float, FloatArray, int]]:
    """Share of the tasks of each difficulty, the workers' skills there, and how many there are."""
    skill = pool.posterior_skill
    if not pool.difficulty:
        return [(1.0, skill, 1)]
    turned = np.nan_to_num(pool.vote_weight) < 0
    able, shares = skills_by_difficulty(skill, pool.difficulty, turned)
    return [(share, able[:, q], len(shares)) for q, share in enumerate(shares.tolist())]


def _mean_over_difficulties(parts: list[tuple[float, list[ErrorRate]]]) -> list[ErrorRate]:
    """Mean error over difficulties, one list of rates each; the least sure method names it."""
    if len(parts) == 1:
        return parts[0][1]
    return [
        ErrorRate(
            sum(share * rate.probability for (share, _), rate in zip(parts, rates, strict=True)),
            sum(share * rate.radius for (share, _), rate in zip(parts, rates, strict=True)),
            max((rate.method for rate in rates), key=METHODS.index),
        )
        for rates in zip(*(rates for _, rates in parts), strict=True)
    ]


def exhaustive_by_accuracy(pool: Scores, budget: int, *, seed: Seed = 0) -> IntArray:
    """Choose the set of at most K workers whose vote errs least, by looking at every one.

    Of several the smallest, and of these the first in the order of indices.

    Parameters
    ----------
    pool
        Scores of the m workers, of whom few enough are eligible.
    budget
        K ≥ 1.
    seed
        Of votes that are simulated (`plurality_error`).

    Returns
    -------
    Indices, most informative first; none where no worker can be scored.

    Raises
    ------
    InputError
        More than 262,144 sets, or a budget below 1.
    """
    who, L = np.flatnonzero(pool.eligible), pool.classes
    K = min(checks.count("budget", budget, 1), len(who))
    count = sum(math.comb(len(who), k) for k in range(1, K + 1))
    if count > SUBSETS:
        raise InputError(
            f"{len(who)} workers have {count} sets of at most {K}: give fewer workers or a smaller "
            f"budget, for at most {SUBSETS}"
        )
    if not K:
        return who
    w = pool.vote_weight
    sets: BoolArray = np.zeros((count, len(who)), dtype=np.bool_)
    members = (some for k in range(1, K + 1) for some in combinations(range(len(who)), k))
    for row, some in enumerate(members):
        sets[row, some] = True
    rates = _mean_over_difficulties(
        [
            (
                share,
                _errors_of_sets(p[who], w[who], sets)
                if L == 2
                else [plurality_error(p[who][some], w[who][some], L, seed=seed) for some in sets],
            )
            for share, p, _ in _by_difficulty(pool)
        ]
    )
    chosen = who[sets[least_error(rates)]]
    best_first: IntArray = chosen[np.argsort(-pool.posterior_value[chosen], kind="stable")]
    return best_first


def least_error(rates: Sequence[ErrorRate]) -> int:
    """Index of the first that is not proven to be larger than another.

    A sampled rate's radius is no proof, and the samples are shared: compared as they are.
    """
    radius = np.array([0.0 if rate.method == "sampled" else rate.radius for rate in rates])
    middle = np.array([rate.probability for rate in rates])
    return int(np.argmax(middle - radius <= (middle + radius).min()))


def _simulated_votes(voters: int, classes: int) -> int:
    """How many votes of a crowd are simulated."""
    return max(min(DRAWS, LABELS // max(voters, classes)), 10_000)


def _errors_of_sets(p: FloatArray, w: FloatArray, sets: BoolArray) -> list[ErrorRate]:
    """Errors of sets of two-class voters, all ways to answer listed."""
    error, radius = vote_errors(p, w, sets)
    return [
        ErrorRate(probability, within, "exact" if within <= 10 * ROUNDING else "lattice")
        for probability, within in zip(error.tolist(), radius.tolist(), strict=True)
    ]


def _errors_of_prefixes(
    parts: list[tuple[float, FloatArray]], w: FloatArray, L: int
) -> list[ErrorRate]:
    """Errors of the first prefixes of voters, while all ways to answer can be listed.

    Weights, and so the leads, are the same at all difficulties; their chances are not.
    """
    share, skill = np.array([share for share, _ in parts]), np.stack([p for _, p in parts], axis=1)
    lead, mass = np.zeros((1, L - 1)), np.ones((1, len(parts)))
    rates: list[ErrorRate] = []
    for chance, step in zip(skill, (w / (np.abs(w).sum() or 1.0)).tolist(), strict=True):
        if len(mass) * L > MOST_STATES:
            break
        lead, mass = merged(*voted(lead, mass, chance, step))
        rates.append(lost(lead, mass @ share, 0.0, len(rates) + 1))
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


def _simulated(p: FloatArray, w: FloatArray, L: int, votes: int, seed: Seed) -> list[ErrorRate]:
    """Errors of the vote of the first 1, 2, …, k workers, all on the same simulated labels.

    By symmetry the true class may be class 0. The radius is four standard errors and `RESOLUTION`
    votes, and no proof.
    """
    rng = stream(seed, "prefixes")
    sums, column, total = np.zeros((L, votes)), np.arange(votes), 0.0
    rates = []
    for chance, weight in zip(p.tolist(), w.tolist(), strict=True):
        draw = rng.random(votes)
        # A draw above the skill is uniform there, and names the wrong class. Posterior means are
        # below 1.
        wrong = np.minimum((draw - chance) / max(1.0 - chance, 1e-300) * (L - 1), L - 2).astype(
            np.int64
        )
        sums[np.where(draw < chance, 0, wrong + 1), column] += weight
        total += abs(weight)
        winners = sums >= sums.max(axis=0) - TIE * total
        loss = 1.0 - winners[0] / winners.sum(axis=0)
        radius = 4.0 * float(loss.std()) / math.sqrt(votes) + RESOLUTION / votes
        rates.append(ErrorRate(float(loss.mean()), radius, "sampled"))
    return rates
