"""One seed, many independent streams.

A study naturally hands the same integer to the maker of a crowd, to the truth and to the
labels. Were each to start the generator at that integer, all three would see the very same
numbers, and a worker's skill would foretell her answers. So each function draws from the
stream of its own name. A `Generator` is used as it is: its owner has chosen the stream.

May import `workbench.errors`, NumPy and `workbench.crowd.random`.
"""

from __future__ import annotations

import zlib

import numpy as np

from workbench.crowd.random import Seed, generator


def stream(seed: Seed, name: str) -> np.random.Generator:
    """Return the generator of the stream `name` under a seed; a `Generator` is passed through."""
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0:
        seed = np.random.SeedSequence(int(seed))
    if isinstance(seed, np.random.SeedSequence):
        word = zlib.crc32(name.encode())
        seed = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, word))
    return generator(seed)
