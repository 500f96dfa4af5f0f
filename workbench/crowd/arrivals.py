"""The order in which workers come.

The guarantees of Ho, Jabbari, Vaughan (2013) are for the random permutation model (Section 3):
skills and capacities may be adversarial, the order is random. The adversarial orders here
break that premise on purpose.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from workbench.base import checks
from workbench.base.arrays import IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.population import Crowd

Adversary = Literal["worst_first", "best_first", "alternating"]


def random_permutation(m: int, seed: Seed) -> IntArray:
    """Return the m workers in random order, every order equally likely, shape (m,).

    Raises
    ------
    InputError
        m is not a whole number ≥ 0.
    """
    return stream(seed, "arrivals").permutation(checks.count("m", m))


def iid(m: int, count: int, seed: Seed) -> IntArray:
    """Draw `count` of m workers with replacement, shape (count,).

    `Crowd.subset` makes workers of their own of those who are drawn again.

    Raises
    ------
    InputError
        m is not a whole number ≥ 1, or count not one ≥ 0.
    """
    return stream(seed, "arrivals").integers(
        checks.count("m", m, 1), size=checks.count("count", count)
    )


def adversarial(crowd: Crowd, kind: Adversary, *, seed: Seed | None = None) -> IntArray:
    """Order workers by total quality Σ_τ q_τj, shape (m,).

    Parameters
    ----------
    crowd
        The workers.
    kind
        "worst_first" (least total quality first), "best_first" (greatest first), or
        "alternating" (worst, best, second worst, second best, …).
    seed
        Shuffles workers of equal quality; without it they keep the order of the crowd.

    Raises
    ------
    InputError
        An unknown kind.
    """
    if kind not in get_args(Adversary):
        raise InputError(f"kind is {kind!r}: choose from {checks.listing(get_args(Adversary))}")
    total = crowd.quality.sum(axis=0)
    start = np.arange(len(crowd)) if seed is None else random_permutation(len(crowd), seed)
    # Sums of the same terms in another order differ in the last bits; they are ties.
    rank = np.round(total[start], 12)
    order = start[np.argsort(-rank if kind == "best_first" else rank, kind="stable")]
    if kind == "alternating":
        turn = np.empty_like(order)
        half = (len(order) + 1) // 2
        turn[0::2] = order[:half]
        turn[1::2] = order[half:][::-1]
        return turn
    return order
