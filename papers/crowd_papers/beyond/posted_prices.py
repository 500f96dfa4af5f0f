"""What a posted price can promise in any order: a factor-revealing linear program, and its proof.

Equal tasks, divisible labels; what a unit of quality costs is a label's price over its quality.
Unit by unit of cover z, a policy takes from whoever asks Φ(z) or less, Φ falling in steps; what is
lacking in the end is repaired at U, by the optimum too. Greedy posts U, a fixed price is one step.
The program is the adversary: what is bought at each step and rung of price, what is offered, what
the optimum buys, for one end of the run at a time (no cover beyond a step, or all of it).

The solver need not be trusted: a price p for each end, from the dual, shows in exact fractions that
cost ≤ ratio × (p − Σ w (p − a)⁺) ≤ ratio × OPT (docs/proofs/robust-policy.md has the lemma, and
proves the closed forms too). `proof_file` writes that for `workbench verify`, kind `posted-price`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from crowd_models import OnlineProblem, SequenceMix
from workbench.assignment import STEPS, posted_price
from workbench.base import FloatArray, InputError
from workbench.solving import FORMAT, LinearModel, optimum, rational, written

SAFE = 1e-9
"""Ratios, and the falling price, are rounded up to multiples of it."""


class Posted(NamedTuple):
    """A falling price, and who may come.

    Attributes
    ----------
    rungs
        What workers may ask for a unit, each at most `repair`.
    repair
        U.
    price
        Φ by step, falling.
    share
        Of all cover that a step is, of sum 1.
    """

    rungs: Sequence[float]
    repair: float
    price: Sequence[float]
    share: Sequence[float] = (1.0,)

    def ends(self) -> Iterator[tuple[int, float]]:
        """Steps at which it may end, all covered last, and the price at which it then stands."""
        for e, price in enumerate([*self.price, 0.0]):
            if e == 0 or min(self.rungs) <= self.price[e - 1]:
                yield e, price


class WorstCase(NamedTuple):
    """The worst ratio, and for each of `Posted.ends` the price p that proves it."""

    ratio: float
    proof: tuple[float, ...]


def worst_case(posted: Posted) -> WorstCase:
    """The worst ratio of cost to optimum over all crowds with these rungs in any order.

    Raises
    ------
    InputError
        Rungs are not above 0 and at most U; prices rise, or have not a share each.
    """
    rungs, _, price, share = posted
    if not rungs or not 0 < min(rungs) <= max(rungs) <= posted.repair < np.inf:
        raise InputError(f"rungs are {rungs}: give prices above 0, at most repair")
    if not price or any(after > before for before, after in pairwise(price)):
        raise InputError(f"price is {price}: give prices that do not rise")
    if len(share) != len(price) or min(share) < 0 or abs(sum(share) - 1) > 1e-9:
        raise InputError(f"share is {share}: give one for each price, of sum 1")
    ends = [_worst_end(posted, e, stands) for e, stands in posted.ends()]
    return WorstCase(max(ratio for ratio, _ in ends), tuple(p for _, p in ends))


def _worst_end(posted: Posted, e: int, stands: float) -> tuple[float, float]:
    """Maximise Σ a_j x_ij + U R over runs that end at step e, where OPT is 1.

    x_ij is bought at step i on rung j, R repaired; y_j and r are the optimum's, t the requirement.
    On rungs up to the price at which it ends, all that is offered was bought.
    """
    rungs, repair, price, share = posted
    a = np.array(rungs)
    bought = [(i, j) for i in range(min(e + 1, len(price))) for j in np.flatnonzero(a <= price[i])]
    step, rung = np.array(bought, dtype=np.int64).reshape(-1, 2).T
    width, height = len(bought), len(a)

    def row(
        x: FloatArray | float, lack: float, y: FloatArray | float, r: float, t: float
    ) -> FloatArray:
        return np.concatenate(
            [np.broadcast_to(x, width), [lack], np.broadcast_to(y, height), [r, t]]
        )

    steps = [row(1.0 * (step == i), 0, 0, 0, -share[i]) for i in range(min(e + 1, len(price)))]
    dearest = [
        row(-1.0 * (rung == j), 0, 1.0 * (np.arange(height) == j), 0, 0)
        for j in np.flatnonzero(a <= stands)
    ]
    rows = np.array(
        [row(1, 1, 0, 0, -1), row(0, 0, 1, 1, -1), row(0, 0, a, repair, 0), *steps, *dearest]
    )
    upper = np.zeros(len(rows))
    upper[2] = 1.0
    lower = np.where(np.arange(len(rows)) < 3 + min(e, len(price)), upper, -np.inf)
    lower[2] = -np.inf
    matrix = sparse.csc_array(rows)
    cost = row(a[rung], repair, 0, 0, 0)
    values, duals = optimum(
        LinearModel(
            -cost,
            np.zeros(len(cost)),
            np.full(len(cost), np.inf),
            lower,
            upper,
            matrix.indptr,
            matrix.indices.astype(np.int32),
            matrix.data,
        )
    )
    ratio = float(cost @ values)
    p = abs(duals[1]) / max(abs(duals[2]), 1e-12)
    return ratio, float(min(p, repair, *a[a > stands]))


def proof_file(posted: Posted, worst: WorstCase) -> bytes:
    """Write for `workbench verify` that no run costs more than the ratio, rounded up, × OPT."""
    told = {"asks": posted.rungs, "any": False, "repair": posted.repair, "price": posted.price}
    return _written({**told, "share": posted.share}, worst.ratio * (1 + SAFE), worst.proof)


def falling_proof(theta: float) -> bytes:
    """Write that Φ of `posted_price` costs at most α(θ) × OPT, whatever workers ask from L = 1 on.

    Where it ends, the price that stands proves it (Theorem 1 of docs/proofs/robust-policy.md).
    """
    ratio, phi = posted_price(theta)
    price = np.ceil(phi[:STEPS] / SAFE) * SAFE
    told = {"asks": [1.0], "any": True, "repair": theta, "price": price.round(9).tolist()}
    ends = [*told["price"], 1.0]
    return _written({**told, "share": [1 / STEPS] * STEPS}, ratio * (1 + 1e-6), ends)


def _written(told: dict[str, Any], ratio: float, proof: Sequence[float]) -> bytes:
    def plain(values: Sequence[float]) -> list[int | str]:
        return [rational(_decimal(value)) for value in values]

    share = [_decimal(value) for value in told["share"]]
    share[-1] += 1 - sum(share)
    return written(
        {
            "kind": "posted-price",
            "format": FORMAT,
            "problem": {
                "asks": plain(sorted(told["asks"])),
                "any": told["any"],
                "repair": rational(_decimal(told["repair"])),
                "price": plain(told["price"]),
                "share": [rational(value) for value in share],
            },
            "claim": {"ratio": rational(Fraction(math.ceil(ratio / SAFE), round(1 / SAFE)))},
            "prices": plain(proof),
        }
    )


def _decimal(value: float) -> Fraction:
    """The shortest decimal that is this float."""
    return Fraction(repr(float(value)))


def posted_costs(problem: OnlineProblem, price: float) -> FloatArray:
    """What a fixed price costs in whole labels on each sequence of a family, repair included, (I,).

    A worker who asks no more is given the tasks that lack most.
    """
    assert isinstance(problem.arrivals, SequenceMix)
    costs = []
    for sequence in problem.arrivals.sequences:
        state, paid = problem.start, 0.0
        for kind in sequence:
            ask, useful = problem.price[kind], [row[kind] for row in problem.quality]
            lacking = [
                (t, lack) for t, lack in state if lack and useful[t] and ask / useful[t] <= price
            ]
            lacking.sort(key=lambda task: -task[1])
            neediest = lacking[: problem.capacity[kind]]
            state, paid = problem.served(state, neediest, kind), paid + ask * len(neediest)
        costs.append(paid + problem.repairs(state))
    return np.array(costs)
