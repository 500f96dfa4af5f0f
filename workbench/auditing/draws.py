"""Draws from a seed that is secret until the audit ends, and can be checked from then on.

The digest SHA-256(seed, number of the draw) gives three numbers: whether to correct or to test,
which bin, which task of it. The seed's own digest is published at the start. Who shows the seed at
the end shows that no draw was left out or drawn again.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

import numpy as np

from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray

_UNIT = 2.0**-53


class DrawPoint(NamedTuple):
    """Three even draws: from 0 to 1, from 0 to 1, and a whole number below 2¹²⁸."""

    share: float
    bin: float
    place: int


def new_seed(seed: int | None) -> bytes:
    """Make the seed of an audit: from the operating system, or, for studies, from a number."""
    if seed is None:
        return secrets.token_bytes(32)
    return hashlib.sha256(f"audit {checks.count('seed', seed)}".encode()).digest()


def seed_digest(seed: bytes) -> str:
    """Give what is published of a seed beforehand."""
    return hashlib.sha256(seed).hexdigest()


def point(seed: bytes, number: int) -> DrawPoint:
    """Give the draws of one number, 0 or more."""
    digest = hashlib.sha256(seed + number.to_bytes(8, "big")).digest()
    share, bin_ = (int.from_bytes(digest[at : at + 8], "big") >> 11 for at in (0, 8))
    return DrawPoint(share * _UNIT, bin_ * _UNIT, int.from_bytes(digest[16:], "big"))


class Urns:
    """Tasks left in each bin, and drawing one without going through them.

    Parameters
    ----------
    bin_
        Of each task, shape (tasks,).
    bins
        How many there are.
    """

    def __init__(self, bin_: IntArray, bins: int) -> None:
        self._task = np.argsort(bin_, kind="stable")
        self._start = np.searchsorted(bin_[self._task], np.arange(bins))
        self.left: FloatArray = np.bincount(bin_, minlength=bins).astype(np.float64)

    def take(self, bin_: int, place: int) -> int:
        """Take out one task of a bin; each is as likely, where the place is even below 2¹²⁸."""
        left = int(self.left[bin_])
        at = int(self._start[bin_]) + (place * left >> 128)
        last = int(self._start[bin_]) + left - 1
        task = int(self._task[at])
        self._task[at] = self._task[last]
        self.left[bin_] -= 1
        return task
