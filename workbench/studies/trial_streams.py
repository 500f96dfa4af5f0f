"""A trial's random streams, made of what the trial is and of nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Streams:
    """Random streams of a trial.

    Attributes
    ----------
    entropy
        The run's seed.
    instance_words
        `spawn_key` of the instance's stream.
    identity
        What the methods' streams are made of.
    """

    entropy: int
    instance_words: tuple[int, ...]
    identity: bytes

    @property
    def instance(self) -> np.random.SeedSequence:
        """Of the crowd, its tasks, arrivals, answers: the same for all methods compared."""
        return np.random.SeedSequence(self.entropy, spawn_key=self.instance_words)

    def method(self, name: str = "") -> np.random.SeedSequence:
        """Of one method's own draws; methods of one trial take different names."""
        key = spawn_key(b"method" + canonical(name) + self.identity)
        return np.random.SeedSequence(self.entropy, spawn_key=key)


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces; NaN and infinity are refused."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode()


def spawn_key(data: bytes) -> tuple[int, ...]:
    """Four whole numbers for a `spawn_key`, by the SHA-256 of some bytes."""
    digest = hashlib.sha256(data).digest()
    return tuple(int(word) for word in np.frombuffer(digest[:16], dtype="<u4"))
