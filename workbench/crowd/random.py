"""Random numbers: one rule for every function that takes a `seed`.

May import `workbench.errors` and NumPy.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from workbench.errors import InputError

Seed: TypeAlias = int | np.random.SeedSequence | np.random.Generator


def generator(seed: Seed) -> np.random.Generator:
    """Turn a seed into a generator.

    Parameters
    ----------
    seed
        An integer ≥ 0 or a `SeedSequence` makes a new PCG64 generator, named here so that
        a change of NumPy's default changes no result; a `Generator` is passed through.

    Raises
    ------
    InputError
        For anything else.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, np.random.SeedSequence) or (
        isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0
    ):
        return np.random.Generator(np.random.PCG64(seed))
    raise InputError(
        f"seed is {seed!r}: give an integer of 0 or more, a SeedSequence or a Generator"
    )
