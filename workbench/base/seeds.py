"""Random numbers: one rule for every function that takes a `seed`.

A study naturally hands the same integer to the maker of a crowd, to the truth and to the
labels. Were each to start the generator at that integer, all three would see the very same
numbers, and a worker's skill would foretell her answers. So each function draws from the
stream of its own name. A `Generator` is used as it is: its owner has chosen the stream.
"""

from __future__ import annotations

import zlib
from typing import TypeAlias

import numpy as np

from workbench.base.errors import InputError

Seed: TypeAlias = int | np.random.SeedSequence | np.random.Generator


def sequence(seed: Seed) -> np.random.SeedSequence:
    """Make a seed something from which many streams grow; a `Generator` gives two numbers for it.

    Raises
    ------
    InputError
        It is no integer of 0 or more, `SeedSequence` or `Generator`.
    """
    if isinstance(seed, np.random.Generator):
        return np.random.SeedSequence(seed.integers(2**63, size=2).tolist())
    if isinstance(seed, np.random.SeedSequence):
        return seed
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0:
        return np.random.SeedSequence(int(seed))
    raise InputError(
        f"seed is {seed!r}: give an integer of 0 or more, a SeedSequence or a Generator"
    )


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
    return np.random.Generator(np.random.PCG64(sequence(seed)))


def stream(seed: Seed, name: str) -> np.random.Generator:
    """Return the generator of the stream `name` under a seed; a `Generator` is passed through."""
    if isinstance(seed, np.random.Generator):
        return seed
    own, word = sequence(seed), zlib.crc32(name.encode())
    return generator(np.random.SeedSequence(own.entropy, spawn_key=(*own.spawn_key, word)))
