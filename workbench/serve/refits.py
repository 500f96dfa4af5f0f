"""Fits of what a policy believes, made in a thread of their own while the desk goes on."""

from __future__ import annotations

import contextlib
import logging
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from datetime import datetime
from functools import partial

from workbench.base.errors import InputError
from workbench.collection.collector import Collector
from workbench.collection.desk import Desk
from workbench.collection.policy import Policy
from workbench.collection.refits import Refit

LOG = logging.getLogger("uvicorn.error")


class Refits:
    """Makes the fits that a collector begins, one at a time, and lets it take them.

    Parameters
    ----------
    collector
        Opened with `refits_apart`.
    desk
        The one thread that uses it.
    troubles
        Has a line under "fit" from a fit that failed until the next one is taken.
    """

    def __init__(self, collector: Collector, desk: Executor, troubles: dict[str, str]) -> None:
        self._collection, self._desk, self._troubles = Desk(collector), desk, troubles
        self._thread = ThreadPoolExecutor(1, "refits")
        self._refit: Refit | None = None

    def look(self) -> None:
        """Make a fit that was begun; to be called at the desk, after whatever was done there."""
        refit = self._collection.refit_begun
        if refit is None or refit is self._refit:
            return
        self._refit = refit
        self._thread.submit(refit.fitted).add_done_callback(partial(self._made, refit))

    def _made(self, refit: Refit, fitted: Future[Policy]) -> None:
        error = fitted.exception()
        if error is not None:
            self._troubles["fit"] = (
                f"A fit of what is believed failed at {datetime.now():%H:%M} "
                f"({type(error).__name__}): beliefs stay as they are until there are more labels; "
                "then the next is tried."
            )
            LOG.error(
                "beliefs could not be fitted anew, and stay as they are until there are more "
                "labels; then it is tried again",
                exc_info=error,
            )
            return
        with contextlib.suppress(RuntimeError):  # the server is being stopped
            self._desk.submit(self._take, refit)

    def _take(self, refit: Refit) -> None:
        try:
            self._collection.adopt(refit)
        except InputError as error:  # another program has the journal: the next look tries again
            LOG.warning("a fit is taken later: %s", error)
            self._refit = None
            return
        except Exception:  # nobody asks what became of it
            LOG.exception("a fit could not be taken; labels go on without it")
            return
        self._troubles.pop("fit", None)
        self.look()
