"""A supervised child process: it runs one call after another and can be ended at any moment.

A library that computes for long cannot be stopped from outside, and one that crashes takes its
process with it. So such work runs in a child: a fresh interpreter (never a fork, which can deadlock
after a threaded solve, and never a re-import of the user's script), in a process group of its own,
which Ctrl-C in a terminal does not reach and which is ended as a whole. The child ends itself when
the process that started it is gone.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import queue
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

Kind: TypeAlias = Literal["report", "result", "failed", "ended"]
"""`report`: given by the function on its way. `result`: its value. `failed`: what it raised, in
one line. `ended`: how the process ended before it answered."""
Inbox: TypeAlias = "queue.SimpleQueue[tuple[SupervisedProcess, Kind, Any]]"

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)
"""Environment in which NumPy's libraries compute with one thread."""
GRACE = 1.0
"""Seconds to wait for the last words of a process that has ended."""
MEGABYTE = 2**20
HEADER = struct.Struct(">8sQ")
MARK = b"crowd-wb"
"""Begins each message, so that what a call writes into the pipe is not taken for one."""
LARGEST = 2**40
"""Bytes of a message; a larger number is not the length of one."""


class SupervisedProcess:
    """A child process, and the hand that holds it.

    Parameters
    ----------
    inbox
        Queue that takes what the child says; one of its own when None. Several children may share
        one: each message names its process.
    environment
        Variables that the child has beside those of this process.

    Attributes
    ----------
    inbox
        Messages (process, kind, content).
    pid
        The child's process number.
    """

    def __init__(
        self, inbox: Inbox | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        self.inbox: Inbox = queue.SimpleQueue() if inbox is None else inbox
        # -P: a module in the working directory must not stand in for one of ours.
        path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)  # noqa: PTH109
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-c", "from workbench.base.process import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
            env={**os.environ, **(environment or {}), "PYTHONPATH": path},
        )
        self._conversation: threading.Thread | None = None
        self.pid = self._child.pid
        self._parent = os.getpid()
        # When Python ends, while threads still run: a generator half used is dropped too late.
        atexit.register(self.kill)

    def __enter__(self) -> SupervisedProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._child.poll() is not None

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Have the child run `function(*arguments, report)`; what comes of it goes to the inbox.

        `function` is a function of a module, and what it gives to `report` is a message of its own.
        The last message of a call is a result, a failure, or that the process has ended.
        """
        request = pickle.dumps((function, arguments))
        self._conversation = threading.Thread(target=self._converse, args=(request,), daemon=True)
        self._conversation.start()

    def check(self) -> None:
        """See to it that the end of the process is reported, even if what it has forked lives on.

        To be called now and then while an answer is awaited.
        """
        if self.ended and self._conversation is not None and self._conversation.is_alive():
            self._kill_group()  # it may hold the pipe open
            self._conversation.join(GRACE)
            if self._conversation.is_alive():
                self.inbox.put((self, "ended", self._how_it_ended()))

    def kill(self) -> None:
        """End the process now, and whatever it started. Any thread may call this.

        In a fork of the process that started it, nothing: it is that one's child.
        """
        atexit.unregister(self.kill)
        if os.getpid() != self._parent:
            return
        self._kill_group()
        self._child.kill()
        self._child.wait()
        if self._conversation is not None:
            self._conversation.join(GRACE)
            if self._conversation.is_alive():
                return  # something that left the process group reads on: the pipes stay open
        for pipe in (self._child.stdin, self._child.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError, AttributeError):
            os.killpg(self.pid, signal.SIGKILL)

    def _converse(self, request: bytes) -> None:
        """Hand a call over and pass on what the child says, until it says no more."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with contextlib.suppress(OSError):  # it has ended: the pipe that it leaves tells more
            _write(self._child.stdin, request)
        kind: Kind = "report"
        while kind == "report":
            try:
                kind, content = pickle.loads(_read(self._child.stdout))
            except (EOFError, OSError):
                kind, content = "ended", self._how_it_ended()
            except Exception as error:
                kind, content = "ended", f"said what is no message ({error})"
            self.inbox.put((self, kind, content))

    def _how_it_ended(self) -> str:
        try:
            return f"ended with {exit_name(self._child.wait(GRACE))}"
        except subprocess.TimeoutExpired:
            return "closed its pipe"


def exit_name(code: int) -> str:
    """Name an exit code, or the signal that a negative one stands for."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"signal {-code} ({signal.Signals(-code).name})"
    return f"signal {-code}"


def _write(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(HEADER.pack(MARK, len(message)) + message)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes:
    """Read a message; EOFError where there is none, ValueError for what is none."""
    header = pipe.read(HEADER.size)
    if not header:
        raise EOFError
    mark, size = HEADER.unpack(header) if len(header) == HEADER.size else (b"", 0)
    if mark != MARK or size > LARGEST:
        raise ValueError("it does not begin as one")
    message = pipe.read(size)
    if len(message) < size:
        raise EOFError
    return message


# In the child.


def main() -> None:
    """Serve calls over standard input and output, until nobody asks any more."""
    # What a library reads or prints must not be taken from, or end up between, the messages.
    source, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_asker, args=(source.fileno(),), daemon=True).start()
    try:
        serve(source, out)
    except BrokenPipeError:  # who asked has gone: there is nobody to complain to
        os._exit(1)


def _end_with_asker(pipe: int) -> None:
    """End, with all that was started, when nobody can ask any more: who did was killed."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(pipe, select.POLLHUP)  # macOS is said to report it only where asked
        while not poll.poll():
            time.sleep(GRACE)
        os.killpg(0, signal.SIGKILL)


def serve(source: IO[bytes], out: IO[bytes]) -> None:
    """Read one call after another, run each, and write its reports and its result."""

    def send(kind: Kind, content: Any) -> None:
        _write(out, pickle.dumps((kind, content)))

    with contextlib.suppress(EOFError):
        while True:
            request = _read(source)
            send(*_answer(request, lambda content: send("report", content)))


def _answer(request: bytes, report: Callable[[Any], None]) -> tuple[Kind, Any]:
    try:
        function, arguments = pickle.loads(request)
        result = function(*arguments, report)
        sys.stdout.flush()
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    return "result", result


@contextlib.contextmanager
def data_limit(memory: float | None) -> Iterator[None]:
    """Let this process take no more than so many megabytes of data beyond what it has.

    It holds on Linux (`RLIMIT_DATA`). Other systems do not offer the like, and there is no limit.
    """
    if memory is None or sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    pages = int(Path("/proc/self/statm").read_text("utf-8").split()[5])
    wanted = pages * os.sysconf("SC_PAGE_SIZE") + int(memory * MEGABYTE)
    # More than the system can express is more than any machine has.
    ceilings = [wanted, sys.maxsize, *(n for n in before if n != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(ceilings), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
