"""Work shared among processes: each job in whichever is free, results by the number of the job."""

from __future__ import annotations

import importlib
import queue
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from workbench.assignment.registry import POLICIES
from workbench.base.errors import InputError
from workbench.base.process import ONE_THREAD, Inbox, SupervisedProcess
from workbench.base.registry import load_plugin, plugins

Job = tuple[Any, ...]
WAIT = 1.0
"""Seconds between looks at whether a process still lives."""


class Processes:
    """So many processes beside this one, or this one alone; a context manager.

    Parameters
    ----------
    count
        How many; 1 for this one alone.
    policies
        Names of assignment policies that the jobs look up. Files that register one are loaded
        there; of the others the modules are imported.

    Raises
    ------
    InputError
        More than one process, and a policy that no other process can import.
    """

    def __init__(self, count: int, policies: Sequence[str] = ()) -> None:
        self.count = count
        unshared = {name: POLICIES[name].call.__module__ for name in POLICIES.unshared()}
        modules = {unshared[name]: name for name in policies if name in unshared}
        if count > 1 and "__main__" in modules:
            raise InputError(
                f"policy {modules['__main__']!r} is defined in this session alone, where no other "
                "process finds it: give processes=1, or save it in a file"
            )
        self.modules = tuple(sorted(modules))
        self.inbox: Inbox = queue.SimpleQueue()
        self.running: list[SupervisedProcess] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.running:
            process.kill()

    def each(self, function: Callable[..., Any], jobs: Iterable[Job]) -> Iterator[tuple[int, Any]]:
        """Run a module's function on each job; its number and what came of it, as they end.

        Raises
        ------
        InputError
            A job raised something, or its process ended: one line.
        """
        numbered = enumerate(jobs)
        if self.count == 1:
            for at, job in numbered:
                yield at, function(*job)
            return
        busy: dict[SupervisedProcess, int] = {}
        idle = list(self.running)
        while True:
            while len(busy) < self.count and (found := next(numbered, None)) is not None:
                process = idle.pop() if idle else self._started()
                busy[process] = found[0]
                process.call(_answer, _files(), self.modules, function, found[1])
            if not busy:
                return
            process, kind, content = self._next(busy)
            if kind != "result":
                raise InputError(str(content).removeprefix("InputError: "))
            idle.append(process)
            yield busy.pop(process), content

    def _started(self) -> SupervisedProcess:
        process = SupervisedProcess(self.inbox, ONE_THREAD)
        self.running.append(process)
        return process

    def _next(self, busy: Iterable[SupervisedProcess]) -> tuple[SupervisedProcess, str, Any]:
        while True:
            try:
                process, kind, content = self.inbox.get(timeout=WAIT)
            except queue.Empty:
                for each in busy:
                    each.check()
                continue
            if kind == "ended":
                content = f"a process {content} before its work was done: give processes=1"
            return process, kind, content


def _files() -> tuple[tuple[str, str], ...]:
    return tuple((str(plugin.path), plugin.digest) for plugin in plugins())


def _answer(
    files: Sequence[tuple[str, str]],
    modules: Sequence[str],
    function: Callable[..., Any],
    job: Job,
    _report: Callable[[Any], None],
) -> Any:
    """In the other process: know what this one knows of the user's own, and do a job."""
    for path, digest in files:
        load_plugin(path, digest)
    for name in modules:
        importlib.import_module(name)
    return function(*job)
