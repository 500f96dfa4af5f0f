"""Connections: how long one may be silent, and how many an address may have.

Whoever connects and says nothing, or half of a request, holds a place that others need. So a
request's headers must come within a time; an address has so many places, and where all are taken
whoever has been idle longest gives hers up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 500
"""Of all addresses together."""
MOST_AN_ADDRESS = 200
"""Of one, unless it is a proxy that is named: people of a house, a browser each, may share one."""
SLOWEST_HEADERS = 10.0
"""Seconds in which the headers of a request must have come."""


class Doorkeeper:
    """Counts connections, and ends those that keep others out.

    Parameters
    ----------
    proxies
        Addresses of servers that others come by.
    """

    def __init__(self, proxies: Collection[str] = ()) -> None:
        self._proxies = frozenset(proxies)
        self._here: dict[Watched, None] = {}  # those idle longest stand first
        self._of: dict[str, dict[Watched, None]] = {}

    def protocol(self) -> type[Watched]:
        """Give a protocol for uvicorn, whose connections this one looks after."""
        return type("WatchedHere", (Watched,), {"keeper": self})

    def enter(self, one: Watched) -> None:
        """Let a connection in; one that is idle goes where there is no place, or else this one."""
        these = self._of.setdefault(one.address, {})
        few = one.address in self._proxies or len(these) < MOST_AN_ADDRESS
        for full, here in ((not few, these), (len(self._here) >= MOST_CONNECTIONS, self._here)):
            if full:
                idle = next((other for other in here if not other.busy), None)
                if idle is None:
                    one.end()
                    break
                self.leave(idle)
                idle.end()
        self._here[one] = self._of.setdefault(one.address, {})[one] = None

    def heard(self, one: Watched) -> None:
        """Let a connection count as the one that was idle last."""
        for here in (self._here, self._of.get(one.address, {})):
            if one in here:
                del here[one]
                here[one] = None

    def leave(self, one: Watched) -> None:
        """Let a connection count no more."""
        self._here.pop(one, None)
        these = self._of.get(one.address, {})
        these.pop(one, None)
        if not these:
            self._of.pop(one.address, None)


class Watched(H11Protocol):
    """A connection with a deadline for each request's headers."""

    keeper: Doorkeeper
    address = ""
    _late: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def end(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for headers."""
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        self._wait()
        self.keeper.enter(self)

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of the headers, unless they are there."""
        self._wait()
        super().data_received(data)
        if self.busy:
            self._heard()

    def on_response_complete(self) -> None:
        """Let the connection be idle; what comes next is a request."""
        super().on_response_complete()
        if not self.busy:
            self.keeper.heard(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._heard()
        self.keeper.leave(self)
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._late is None and not self.busy:
            self._late = self.loop.call_later(SLOWEST_HEADERS, self.end)

    def _heard(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
