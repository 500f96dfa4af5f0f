"""Proofs of what the findings call proven of policies, as files: python -m … FOLDER.

`models/problems/policies` has them, and `workbench verify` recomputes each.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from crowd_models import SequentialProblem
from crowd_papers.beyond.instances import FAMILIES
from crowd_papers.beyond.minimax_program import minimax
from crowd_papers.beyond.posted_prices import Posted, falling_proof, proof_file, worst_case
from workbench.base import write_together
from workbench.solving import sequential_optimum, sequential_proof

THETA = 12.0
"""U/L of greedy and of one price."""
RUNGS = (3, 7, 15, 31, 63, 127)
"""How many prices may be asked then, evenly from U down to L."""
FALLING = (2, 3, 5, 12)
"""U/L of the price that falls."""
HALF = SequentialProblem(np.array([[0.8]]), np.array([1000.0]), np.array([10_000.0]), epsilon=0.05)
"""The ladder's crowd of which half have skill .8."""


def policy_proofs() -> Iterator[tuple[str, bytes]]:
    """Write them one after another, each with its name."""
    for name, family in FAMILIES.items():
        yield f"online-{name}", minimax(family()).proof()
    for k in RUNGS:
        asks = [THETA ** (1 - i / k) for i in range(1, k + 1)]
        for name, price in (("greedy", THETA), ("one-price", THETA**0.5)):
            posted = Posted(asks, THETA, [price])
            yield f"{name}-{k}", proof_file(posted, worst_case(posted))
    for theta in FALLING:
        yield f"falling-price-{theta}", falling_proof(theta)
    content = sequential_proof(sequential_optimum(HALF))
    assert content is not None
    yield "sequential-half", content


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write_together({folder / f"{name}.json": content for name, content in policy_proofs()})
