"""A time limit that holds: the work runs in a process of its own, which can be ended.

HiGHS looks at its clock between steps, and some steps are long. The child reports what it has as it
goes, so that ending it loses nothing.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from typing import Any

from workbench.base.process import SupervisedProcess
from workbench.solving.solution import Termination

GRACE = 1.0
"""Seconds beyond the limit after which the child is ended."""
LONGEST = 1e9
"""Seconds (thirty years) that the operating system's waits can still count."""
PULSE = 0.5
"""Seconds between two looks at whether the child lives."""


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
    with SupervisedProcess() as child:
        child.call(job, *arguments)
        while (left := deadline - time.perf_counter()) > 0:
            try:
                _, kind, content = child.inbox.get(timeout=min(left, PULSE))
            except queue.Empty:
                child.check()
                continue
            if kind == "result":
                return content, None, ""
            if kind != "report":
                return latest, Termination.NUMERICS, f"the solver process failed: {content}"
            latest = content
            if on_report is not None:
                on_report(content)
    return latest, Termination.TIME_LIMIT, ""
