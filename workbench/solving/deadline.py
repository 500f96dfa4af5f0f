"""A time limit that holds: the work runs in a process of its own, which can be ended.

HiGHS looks at its clock between steps, and some steps are long. The child is a fresh
interpreter (never a fork, which can deadlock after a threaded solve, and never a re-import of
the user's script); it reports what it has as it goes, so that ending it loses nothing.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from workbench.solving.solution import Termination

GRACE = 1.0
"""Seconds beyond the limit after which the child is ended."""
LONGEST = 1e9
"""Seconds (thirty years) that the operating system's waits can still count."""


@dataclass(frozen=True)
class Outcome:
    """What came back: `latest` is the result when `ending` is None, else the last report."""

    latest: Any = None
    ending: Termination | None = None
    note: str = ""


def call_within(
    seconds: float,
    job: Callable[..., Any],
    *arguments: Any,
    on_report: Callable[[Any], None] | None = None,
) -> Outcome:
    """Run `job(*arguments, report)` in a child; back within the limit plus `GRACE`.

    `job` is a function of a module, and what it gives to `report` is kept: on reaching the
    limit and when the child dies, the latest report comes back with the reason. `on_report` is
    told each, in this process. Ctrl-C ends the child, and stays a KeyboardInterrupt.
    """
    deadline = time.perf_counter() + min(seconds, LONGEST) + GRACE
    messages: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    latest: Any = None
    # -P: a module in the working directory must not stand in for one of ours.
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)  # noqa: PTH109
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", "from workbench.solving.deadline import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    talk = threading.Thread(
        target=_talk, args=(child, pickle.dumps((job, arguments)), messages), daemon=True
    )
    try:
        talk.start()
        while True:
            kind, content = messages.get(timeout=max(0.0, deadline - time.perf_counter()))
            if kind == "result":
                return Outcome(content)
            if kind == "report":
                latest = content
                if on_report is not None:
                    on_report(content)
            else:
                note = content or f"exit code {child.wait()}"
                return Outcome(latest, Termination.NUMERICS, f"the solver process failed: {note}")
    except queue.Empty:
        return Outcome(latest, Termination.TIME_LIMIT)
    finally:
        child.kill()
        child.wait()
        talk.join()
        assert child.stdout is not None
        child.stdout.close()


def _talk(
    child: subprocess.Popen[bytes], job: bytes, messages: queue.SimpleQueue[tuple[str, Any]]
) -> None:
    """Hand the job over and pass on what the child says, until it says no more."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        with contextlib.suppress(BrokenPipeError), child.stdin as pipe:
            pipe.write(job)
        while True:
            messages.put(pickle.load(child.stdout))
    except Exception as error:
        messages.put(("failed", "" if isinstance(error, EOFError) else repr(error)))


def main() -> None:
    """Child: serve one job over standard input and output."""
    # Whatever a library prints must not end up between the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    threading.Thread(target=_end_with_listener, args=(out.fileno(),), daemon=True).start()
    try:
        serve(sys.stdin.buffer, out)
    except BrokenPipeError:  # who asked has gone: there is nobody to complain to
        os._exit(1)


def _end_with_listener(pipe: int) -> None:
    """Child: end when nobody can hear the answer: who asked was killed."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(pipe, 0)  # errors and hang-ups are always told
        poll.poll()
        os._exit(1)


def serve(source: BinaryIO, out: BinaryIO) -> None:
    """Read a job, do it, and write its reports and its result."""

    def send(kind: str, content: Any) -> None:
        pickle.dump((kind, content), out)
        out.flush()

    try:
        job, arguments = pickle.load(source)
        send("result", job(*arguments, lambda content: send("report", content)))
    except Exception as error:
        send("failed", f"{type(error).__name__}: {error}")
