"""How well any online algorithm can do on a family of arrival sequences: Yao's principle.

The largest, over mixtures D of the sequences, of the least E_D[ALG/OPT] over online algorithms is
the least, over randomised algorithms, of the worst E[ALG]/OPT. Columns are generated: an algorithm
is a best response to a mixture on the tree of prefixes, with w_I = D_I/OPT_I,

    B(v, s) = Σ_k min_a [w(child) c_k |a| + B(child, s − a)] + w_end(v) repair(s),

and the master program mixes algorithms against the sequence that is worst for the mixture. Its dual
is the next D. With whole weights B(root)/Σ w OPT is an exact bound that rests on no solver:
`models/problems/check_policies.py` recomputes it from a file of kind `online`.

Source: Yao (1977), Probabilistic computations: toward a unified measure of complexity, FOCS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from crowd_models import OnlineProblem, SequenceMix
from crowd_papers.beyond.dynamic_program import (
    Layer,
    StateSpace,
    backward,
    layers,
    offline_plans,
)
from workbench.base import FloatArray, InputError, IntArray, policy_checker
from workbench.solving import FORMAT, LinearModel, optimum, rational, written

LARGE = 200
"""From so many sequences on, mixtures are asked for near the best one so far."""
NEAR = 0.8
"""Share of the best mixture so far in what is asked for then."""
EVERYWHERE = 1e-9
"""Share of the even mixture in it always, so that algorithms are sensible on every sequence."""
SCALES = 5_000
"""Weights are looked for among whole multiples of so many units."""
FINE = 2**24
"""Units where none of these fits."""


class PrefixTree:
    """Best responses to mixtures of a problem's sequences.

    Attributes
    ----------
    sequences
        Those of the problem's arrivals.
    """

    def __init__(self, problem: OnlineProblem) -> None:
        if not isinstance(problem.arrivals, SequenceMix):
            raise InputError("arrivals are not a mix of sequences: give a `SequenceMix`")
        self.problem, self.sequences = problem, problem.arrivals.sequences
        self.states, self._layers = StateSpace(problem), layers(problem.arrivals)
        self._passing = [
            np.array(
                [
                    (at, layer.number[sequence[:t]])
                    for at, sequence in enumerate(self.sequences)
                    if len(sequence) >= t
                ]
            ).T
            for t, layer in enumerate(self._layers)
        ]
        self._lengths = np.array([len(sequence) for sequence in self.sequences])

    def respond(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """The algorithm of least Σ w_I cost_I: that sum, and its cost on every sequence (I,)."""
        laid = []
        for t, (layer, (at, node)) in enumerate(zip(self._layers, self._passing, strict=True)):
            own, ends = weights[at], self._lengths[at] == t
            laid.append(
                layer._replace(
                    weight=_summed(node, own, layer), end=_summed(node, own * ends, layer)
                )
            )
        steps = list(backward(self.states, laid, track=True))[::-1]
        state, paid = np.array([self.states.start]), np.zeros(1)
        costs = np.zeros(len(self.sequences))
        for t, (_, services) in enumerate(steps):
            at, node = self._passing[t]
            ended = self._lengths[at] == t
            costs[at[ended]] = (paid + self.states.repair[state])[node[ended]]
            after = len(steps[t + 1][0][0]) if services else 0
            state, paid = self._go(services, state, paid, after)
        return float(steps[0][0][self.states.start, 0]), costs

    def _go(
        self, services: Sequence[Any], state: IntArray, paid: FloatArray, nodes: int
    ) -> tuple[IntArray, FloatArray]:
        """State and what was paid at the nodes of the next layer."""
        next_state, next_paid = np.zeros(nodes, dtype=np.int64), np.zeros(nodes)
        for kind, parent, child, then in services:
            labels, after = np.divmod(then[state[parent], np.arange(len(parent))], self.states.size)
            next_state[child] = after
            next_paid[child] = paid[parent] + labels * self.problem.price[kind]
        return next_state, next_paid


def _summed(node: IntArray, weights: FloatArray, layer: Layer) -> FloatArray:
    """Sum of the weights of the sequences through each node, (N,)."""
    totals: FloatArray = np.bincount(node, weights, len(layer.number)).astype(np.float64)
    return totals


@dataclass(frozen=True, eq=False)
class Minimax:
    """What was proven of a family, and the randomised policy that comes within a hair of it.

    Attributes
    ----------
    bound
        No online algorithm has a better competitive ratio on the family: exact.
    value
        The same before the weights were made whole.
    ratio
        Worst ratio of the randomised policy.
    weights
        Whole, one a sequence: the proof.
    optima
        OPT by sequence.
    policy
        The randomised policy: chance, and the weights to which it then responds best
        (`PrefixTree.respond`).
    ratios
        Of the randomised policy, by sequence.
    rounds
        How many algorithms were tried.
    certificate
        All that the proof needs, `problem` and `sequences`, as JSON would hold it.
    """

    bound: Fraction
    value: float
    ratio: float
    weights: tuple[int, ...]
    optima: FloatArray
    policy: Sequence[tuple[float, FloatArray]]
    ratios: FloatArray
    rounds: int
    certificate: Mapping[str, Any]

    def proof(self) -> bytes:
        """Write the bound and what it rests on as a file for `workbench verify`."""
        claim = {"ratio": rational(self.bound)}
        return written({"kind": "online", "format": FORMAT, "claim": claim, **self.certificate})


def minimax(problem: OnlineProblem, *, tolerance: float = 1e-7, rounds: int = 1000) -> Minimax:
    """Prove how well an online algorithm can do on the problem's sequences, their weights aside.

    Parameters
    ----------
    tolerance
        Ends where the randomised policy's worst ratio is no further above the proven value.
    rounds
        Ends after so many algorithms at the latest.

    Raises
    ------
    InputError
        Arrivals are no mix of sequences, or tasks need nothing.
    """
    tree = PrefixTree(problem)
    plans = offline_plans(problem, tree.sequences)
    optima = np.array([plans[tuple(sorted(sequence))][0] for sequence in tree.sequences])
    if not (optima > 0).all():
        raise InputError("a sequence has an optimum of 0: give tasks that need something")
    even = np.full(len(optima), 1 / len(optima))
    best, value = even, -np.inf
    query, columns, queries = even, [], []
    while True:
        own = (1 - EVERYWHERE) * query + EVERYWHERE * even
        cost, costs = tree.respond(own / optima)
        columns.append(costs / optima)
        queries.append(own / optima)
        stalled = cost <= value
        if cost > value:
            best, value = own, cost
        ratio, chances, master = _mixed(np.array(columns))
        if ratio - value <= tolerance or len(columns) >= rounds:
            break
        # Near the best mixture; the master's own where that taught nothing.
        near = NEAR if len(optima) >= LARGE and not stalled else 0.0
        query = near * best + (1 - near) * master
    weights = whole_weights(best / optima)
    certificate = certificate_of(problem, weights, plans)
    return Minimax(
        policy_checker()["online_bound"](certificate["problem"], certificate["sequences"]),
        value,
        ratio,
        weights,
        optima,
        [(p, query) for p, query in zip(chances.tolist(), queries, strict=True) if p > 0],
        chances @ np.array(columns),
        len(columns),
        certificate,
    )


def _mixed(ratios: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """The least worst ratio of mixed algorithms, ratios (A, I): it, their chances, its dual."""
    algorithms, sequences = ratios.shape
    values, duals = optimum(
        LinearModel(
            cost=np.append(np.zeros(algorithms), 1.0),
            lower=np.zeros(algorithms + 1),
            upper=np.full(algorithms + 1, np.inf),
            row_lower=np.append(np.zeros(sequences), 1.0),
            row_upper=np.append(np.full(sequences, np.inf), 1.0),
            start=np.append(
                np.arange(algorithms + 1) * (sequences + 1),
                algorithms * (sequences + 1) + sequences,
            ),
            index=np.append(
                np.tile(np.arange(sequences + 1), algorithms), np.arange(sequences)
            ).astype(np.int32),
            value=np.append(np.column_stack([-ratios, np.ones(algorithms)]), np.ones(sequences)),
        )
    )
    chances = np.maximum(values[:-1], 0.0)
    chances /= chances.sum()
    mixture = np.maximum(duals[:-1], 0.0)
    return float((chances @ ratios).max()), chances, mixture / mixture.sum()


def whole_weights(weights: FloatArray) -> tuple[int, ...]:
    """Whole weights in these proportions: small ones where some fit, else a fine grid."""
    share = weights / weights.max()
    for scale in range(1, SCALES):
        if np.abs(share * scale - np.rint(share * scale)).max() < 1e-6:
            return tuple(int(weight) for weight in np.rint(share * scale))
    return tuple(int(weight) for weight in np.rint(share * FINE))


def certificate_of(
    problem: OnlineProblem, weights: Sequence[int], plans: Mapping[tuple[int, ...], Any]
) -> dict[str, Any]:
    """State the problem, and the sequences of weight with their plans."""
    assert isinstance(problem.arrivals, SequenceMix)
    return {
        "problem": {
            "requirement": list(problem.requirement),
            "tasks": list(problem.tasks),
            "quality": [list(row) for row in problem.quality],
            "capacity": list(problem.capacity),
            "price": [rational(Fraction(price)) for price in problem.price],
            "repair_price": rational(Fraction(problem.repair_price)),
            "repair_quality": problem.repair_quality,
        },
        "sequences": [
            {
                "types": list(sequence),
                "weight": weight,
                "plan": [list(tasks) for tasks in plans[tuple(sorted(sequence))][1]],
            }
            for sequence, weight in zip(problem.arrivals.sequences, weights, strict=True)
            if weight
        ],
    }
