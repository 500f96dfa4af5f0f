"""What a server refuses: without a link, too much at once, too large."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

LARGEST_BODY = 2**20
"""Bytes of a request."""
SLOWEST_BODY = 10.0
"""Seconds in which it must have come."""
MOST_KEYS = 10_000
"""Who are counted at a time; those who have been quiet are forgotten first."""


class RefusedError(Exception):
    """A request that is not answered; `code` is that of HTTP, the text one line."""

    def __init__(self, code: int, line: str) -> None:
        super().__init__(line)
        self.code = code


class Pace:
    """So many requests a second by each, and so many at once.

    Parameters
    ----------
    rate, burst
        Requests a second in the long run, and at once.
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, key: str, now: float | None = None) -> None:
        """Count a request.

        Raises
        ------
        RefusedError
            There were too many.
        """
        now = time.monotonic() if now is None else now
        left, last = self._left.pop(key, (self.burst, now))
        left = min(self.burst, left + (now - last) * self.rate)
        self._left[key] = max(left - 1.0, 0.0), now  # the latest stand last
        while len(self._left) > MOST_KEYS:
            del self._left[next(iter(self._left))]
        if left < 1.0:
            raise RefusedError(429, "too many requests: wait a second")


async def limited(parts: AsyncIterator[bytes]) -> bytes:
    """Read a body.

    Raises
    ------
    RefusedError
        It is too large.
    """
    body = bytearray()
    async for part in parts:
        body += part
        if len(body) > LARGEST_BODY:
            raise RefusedError(413, f"the request is larger than {LARGEST_BODY} bytes: send less")
    return bytes(body)
