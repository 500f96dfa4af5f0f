"""What the owner is shown is worked out in a thread of its own, so that no worker waits for it."""

from __future__ import annotations

import logging
from concurrent.futures import Executor, Future, ThreadPoolExecutor

from workbench.serve.service import CollectionService

LOG = logging.getLogger("uvicorn.error")


class OwnerViews:
    """Works out what the owner is shown, one view at a time, while the desk goes on.

    Parameters
    ----------
    service
        Whose `still` collection is looked at, and which has `seen` what comes of it.
    desk
        The one thread that uses it.
    """

    def __init__(self, service: CollectionService, desk: Executor) -> None:
        self._service, self._desk = service, desk
        self._thread = ThreadPoolExecutor(1, "owner")
        self._begun: Future[None] | None = None

    def begin(self) -> Future[None]:
        """Have a view made that is not older than this call, where the one that is there is."""
        return self._thread.submit(self._make)

    def look(self) -> None:
        """Have one made for the pictures now and then; to be called at the desk."""
        if self._service.is_due() and (self._begun is None or self._begun.done()):
            self._begun = self.begin()
            self._begun.add_done_callback(_complain)

    def _make(self) -> None:
        still = self._desk.submit(self._service.still).result()
        if still is not None:
            self._desk.submit(self._service.seen, still.owner_view()).result()


def _complain(made: Future[None]) -> None:
    """Say what went wrong where nobody waits; the next who asks for it gets the error herself."""
    if (error := made.exception()) is not None:
        LOG.warning("where the collection stands could not be worked out: %s", error)
