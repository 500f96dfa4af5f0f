"""Questions that a worker leaves open for an hour lapse: they may be asked again, of her or others.

Her answer may still come, and is paid like any that comes late. Only what was asked over HTTP
lapses: a program or a person who asked by a command may take longer.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from workbench.base.journal_events import Position
from workbench.collection.collector import Collector
from workbench.collection.desk import Desk
from workbench.collection.setup import Triple

LAPSE = timedelta(hours=1)
EVERY = 5.0
"""Seconds between looks."""


class Lapses:
    """Lets questions of a collection lapse.

    Parameters
    ----------
    collector
        As the server has it.
    """

    def __init__(self, collector: Collector) -> None:
        self._desk = Desk(collector)
        self._since: dict[Triple, datetime] = {}
        self._tried: set[Triple] = set()
        self._read: Position | None = None
        self._looked = -EVERY

    def look(self, now: datetime | None = None) -> int:
        """Let lapse what is due; how many questions were.

        Parameters
        ----------
        now
            By the clock, where None, and then not more often than every `EVERY` seconds.
        """
        if now is None:
            if time.monotonic() - self._looked < EVERY:
                return 0
            now = datetime.now(UTC)
        self._looked = time.monotonic()
        asked, self._read = self._desk.open_since(self._read)
        self._since |= asked
        old = {question for question, at in self._since.items() if at <= now - LAPSE}
        many = self._desk.lapse(old) if old else 0
        for question in old & self._tried:  # the first may not have been written
            del self._since[question]
        self._tried = old
        return many
