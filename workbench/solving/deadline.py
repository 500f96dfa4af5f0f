"""A time limit that holds: the solve runs in a process of its own, which can be ended.

HiGHS looks at its clock between steps, and some steps are long. The child is a fresh
interpreter (never a fork, which can deadlock after a threaded solve, and never a re-import of
the user's script); it reports incumbents as it finds them, so that ending it loses nothing.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from typing import Any

from models import AssignmentProblem, TypedProblem
from models.problem import FloatArray
from workbench.solving.array_route import run_arrays
from workbench.solving.highs import RunOptions
from workbench.solving.pyomo_route import run_pyomo
from workbench.solving.solution import Answer, Termination

GRACE = 1.0
"""Seconds beyond the limit after which the child is ended."""


def run_within(
    problem: AssignmentProblem | TypedProblem,
    formulation: str,
    route: str,
    options: RunOptions,
    start: FloatArray | None = None,
) -> Answer:
    """Run a route in a child process and return within the time limit plus `GRACE`.

    On Ctrl-C the best answer so far comes back, marked as interrupted.
    """
    assert options.time_limit is not None
    started = time.perf_counter()
    deadline = started + options.time_limit + GRACE
    child = subprocess.Popen(
        [sys.executable, "-c", "from workbench.solving.deadline import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    messages: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(child, messages), daemon=True).start()
    best = Answer(Termination.TIME_LIMIT, start)
    try:
        assert child.stdin is not None
        pickle.dump((problem, formulation, route, options, start), child.stdin)
        child.stdin.close()
        while True:
            kind, content = messages.get(timeout=max(0.0, deadline - time.perf_counter()))
            if kind == "incumbent":
                best = content
            elif kind == "answer":
                return content  # type: ignore[no-any-return]
            else:
                child.wait()
                raise RuntimeError(f"the solver process ended with exit code {child.returncode}")
    except queue.Empty:
        return _stopped(best, Termination.TIME_LIMIT, started)
    except KeyboardInterrupt:
        return _stopped(best, Termination.INTERRUPTED, started)
    finally:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


def _stopped(best: Answer, why: Termination, started: float) -> Answer:
    return Answer(why, best.pairs, bound=best.bound, seconds=time.perf_counter() - started)


def _listen(child: subprocess.Popen[bytes], messages: queue.SimpleQueue[tuple[str, Any]]) -> None:
    try:
        while True:
            messages.put(pickle.load(child.stdout))  # type: ignore[arg-type]
    except (EOFError, pickle.UnpicklingError, ValueError, OSError):
        messages.put(("ended", None))


def main() -> None:
    """Child: read a problem from standard input, write incumbents and the answer."""
    problem, formulation, route, options, start = pickle.load(sys.stdin.buffer)
    out = sys.stdout.buffer

    def send(kind: str, content: Answer) -> None:
        pickle.dump((kind, content), out)
        out.flush()

    if route == "pyomo":
        send("answer", run_pyomo(problem, formulation, options))
        return
    answer = run_arrays(
        problem,
        formulation,
        options,
        start,
        lambda _, bound, pairs: send(
            "incumbent",
            Answer(Termination.TIME_LIMIT, pairs, bound=bound if bound > float("-inf") else None),
        ),
    )
    send("answer", answer)
