"""A time limit that holds: the work runs in a process of its own, which can be ended.

HiGHS looks at its clock between steps, and some steps are long. The child reports what it has as it
goes, so that ending it loses nothing. To begin one takes longer than most programs do (an
interpreter starts, and imports Pyomo): a child that came to its end is kept for the next call.
"""

from __future__ import annotations

import os
import queue
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from workbench.base.process import SupervisedProcess
from workbench.solving.solution import Termination

GRACE = 1.0
"""Seconds beyond the limit after which the child is ended."""
LONGEST = 1e9
"""Seconds (thirty years) that the operating system's waits can still count."""
PULSE = 0.5
"""Seconds between two looks at whether the child lives."""


class Surroundings(NamedTuple):
    """What a child has from the process that starts it; if that changes, another is started."""

    process: int
    folder: str
    path: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]

    @classmethod
    def now(cls) -> Surroundings:
        """Those of this process."""
        return cls(os.getpid(), os.getcwd(), tuple(sys.path), tuple(os.environ.items()))  # noqa: PTH109


_idle: list[tuple[Surroundings, SupervisedProcess]] = []
"""At most one child that waits for its next call."""


def _child(surroundings: Surroundings) -> SupervisedProcess:
    """The child that waits, if it was started in these surroundings, or a new one."""
    while _idle:
        its_own, child = _idle.pop()
        if its_own == surroundings and not child.ended:
            return child
        child.kill()
    return SupervisedProcess()


def end_idle() -> None:
    """End the child that waits for its next call, if there is one."""
    while _idle:
        _idle.pop()[1].kill()


def call_within(
    seconds: float,
    job: Callable[..., Any],
    *arguments: Any,
    on_report: Callable[[Any], None] | None = None,
) -> tuple[Any, Termination | None, str]:
    """Run `job(*arguments, report)` in a child; back within the limit plus `GRACE`.

    `job` is a function of a module, and what it gives to `report` is kept. `on_report` is given
    each, in this process. Ctrl-C ends the child, and stays a KeyboardInterrupt.

    Returns
    -------
    latest
        The result; the last report (None where there was none) if the job came to no end.
    ending
        Why it came to no end: the limit, or the death of the child; None where it did.
    note
        How the child died.
    """
    deadline = time.perf_counter() + min(seconds, LONGEST) + GRACE
    latest: Any = None
    surroundings = Surroundings.now()
    child, waits = _child(surroundings), False
    try:
        child.call(job, *arguments)
        while (left := deadline - time.perf_counter()) > 0:
            try:
                _, kind, content = child.inbox.get(timeout=min(left, PULSE))
            except queue.Empty:
                child.check()
                continue
            if kind == "result":
                waits = True
                return content, None, ""
            if kind != "report":
                return latest, Termination.NUMERICS, f"the solver process failed: {content}"
            latest = content
            if on_report is not None:
                on_report(content)
        return latest, Termination.TIME_LIMIT, ""
    finally:
        if waits and not _idle:
            _idle.append((surroundings, child))
        else:
            child.kill()
