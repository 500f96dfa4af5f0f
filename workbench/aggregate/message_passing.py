"""Iterative message passing of Karger, Oh and Shah, for two classes.

Source: Karger, Oh, Shah, "Iterative learning for reliable crowdsourcing systems", NIPS 2011.
Tasks tell workers what the other workers think; workers tell tasks how far to believe them:

    x_{i→j} = Σ_{j'≠j} A_ij' y_{j'→i},    y_{j→i} = Σ_{i'≠i} A_i'j x_{i'→j},

and task i is the sign of Σ_j A_ij y_{j→i}. Made for random regular graphs: on irregular ones more
iterations can make it worse.
"""

from __future__ import annotations

import numpy as np

from workbench.aggregate.votes import TIE, Aggregate
from workbench.crowd.random import Seed, generator
from workbench.crowd.votes import FloatArray, IntArray, Votes
from workbench.errors import InputError


def message_passing(
    votes: Votes, *, iterations: int = 10, seed: Seed, initial: FloatArray | None = None
) -> Aggregate:
    """Infer labels and worker reliabilities by message passing.

    Parameters
    ----------
    iterations
        k: how often both kinds of message are renewed.
    seed
        Draws the first messages from N(1, 1), and decides exact ties.
    initial
        First messages y_{j→i} by vote, shape (k,), in place of drawn ones.

    Returns
    -------
    Aggregate
        `score` is the absolute decision value, of no absolute scale: messages are normalised at
        every step. `info` has `iterations`, `residual` (largest change of a normalised message
        in the last step), `task_degree` and `worker_degree` (least and most), `reliability` (m,).

    Raises
    ------
    InputError
        For more than two classes, or iterations below 1.
    """
    if len(votes.classes) > 2:
        raise InputError(
            f"message passing is for two classes, and there are {len(votes.classes)}: use majority"
        )
    if iterations < 1:
        raise InputError(f"iterations is {iterations}: give 1 or more")
    rng = generator(seed)
    n, m = len(votes.tasks), len(votes.workers)
    # Edges sorted by task and by worker once; sums over a node are then contiguous.
    sign = votes.signs()
    said = rng.normal(1.0, 1.0, len(votes)) if initial is None else np.array(initial, dtype=float)
    if said.shape != (len(votes),):
        raise InputError(f"initial has shape {said.shape}: give one message for each vote")
    residual = 0.0
    for _ in range(iterations if len(votes) else 0):
        before = said
        heard = _others(sign * said, votes.task, n)
        said = _scaled(_others(sign * heard, votes.worker, m))
        residual = float(np.abs(said - _scaled(before)).max())
    value = np.bincount(votes.task, sign * said, minlength=n)
    total = np.bincount(votes.task, np.abs(said), minlength=n)
    degree = np.bincount(votes.task, minlength=n)
    tied = np.abs(value) <= TIE * total
    label = np.where(tied, rng.integers(0, 2, n), value > 0).astype(np.int64)
    label = np.minimum(label, len(votes.classes) - 1)
    by_worker = np.bincount(votes.worker, minlength=m)
    trust = np.bincount(votes.worker, said, minlength=m) / np.maximum(by_worker, 1)
    return Aggregate(
        label,
        np.abs(value),
        tied,
        degree == 0,
        "message passing",
        {
            "iterations": iterations,
            "residual": residual,
            "task_degree": _range(degree),
            "worker_degree": _range(by_worker),
            "reliability": trust,
        },
    )


def _others(messages: FloatArray, node: IntArray, count: int) -> FloatArray:
    """For each edge, the sum of its node's messages without its own."""
    others: FloatArray = np.bincount(node, messages, minlength=count)[node] - messages
    return others


def _scaled(messages: FloatArray) -> FloatArray:
    """Messages at root mean square 1; all zeros stay (everyone agreed on nothing)."""
    size = float(np.sqrt(np.mean(messages**2))) if len(messages) else 0.0
    return messages / size if size > 0 else messages


def _range(degree: IntArray) -> tuple[int, int]:
    return (int(degree.min()), int(degree.max())) if len(degree) else (0, 0)
