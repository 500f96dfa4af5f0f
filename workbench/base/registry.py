"""Families of things that have a name: aggregators, policies, rules, data sets, studies and so on.

A room keeps one `Registry` a family. Command line, documentation and conformance tests read it, so
that something new is one file and one entry, or a user's own file:

    # my_vote.py, given as: workbench --plugin my_vote.py aggregate --method first-vote …
    from workbench.aggregation import AGGREGATORS
    from workbench.base.registry import Entry

    AGGREGATORS.register(Entry("first-vote", first_vote, "the first label", "common practice"))

An installed package does the same: it names a module that registers under the entry points
`workbench.plugins`, and is there without `--plugin`. The studies of the papers come so.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from workbench.base.errors import InputError
from workbench.base.text import guess
from workbench.base.writing import read_whole

F = TypeVar("F")


@dataclass(frozen=True)
class Entry(Generic[F]):
    """One of a family.

    Attributes
    ----------
    name
        What users and stored results call it.
    call
        The function, class or description itself; `imported(…)` where it is costly to import.
    summary
        What it does, one line.
    source
        Where it comes from: a paper and its section, or common practice.
    options
        Dataclass of the options that it takes; None where it takes none.
    """

    name: str
    call: F
    summary: str
    source: str
    options: type | None = None


class _Imported(str):
    """Place of something that is imported when it is first looked up."""

    def get(self) -> Any:
        module, _, attribute = self.partition(":")
        return getattr(importlib.import_module(module), attribute)


def imported(where: str) -> Any:
    """Stand in for `call`, as "module:attribute", until an entry is looked up."""
    return _Imported(where)


class Registry(Mapping[str, Entry[F]]):
    """A family by name, in the order of registration.

    Names and `summaries` cost nothing; looking an entry up imports what it needs.

    Parameters
    ----------
    family
        What each of them is, for messages: "aggregator".
    entries
        Those that come with the workbench.

    Examples
    --------
    >>> from workbench.base.registry import Entry, Registry
    >>> greetings = Registry("greeting", Entry("plain", "hello".title, "one word", "practice"))
    >>> greetings["plain"].call()
    'Hello'
    >>> greetings["plian"]
    Traceback (most recent call last):
    workbench.base.errors.InputError: no greeting 'plian': did you mean 'plain'? there are plain
    """

    def __init__(self, family: str, *entries: Entry[F]) -> None:
        self.family = family
        self._entries: dict[str, Entry[F]] = {}
        for entry in entries:  # a file being loaded may import the module of this registry first
            self._add(entry)
        self._shipped = frozenset(self._entries)

    def register(self, entry: Entry[F]) -> None:
        """Add an entry.

        Raises
        ------
        InputError
            There is one of that name, or the name is not a text.
        """
        self._add(entry)
        if _loading:
            _loading[-1].append((self, entry.name))

    def _add(self, entry: Entry[F]) -> None:
        if not isinstance(entry.name, str) or not entry.name.strip():
            raise InputError(f"{self.family} has the name {entry.name!r:.60}: give a text")
        if entry.name in self._entries:
            raise InputError(f"there is a {self.family} {entry.name!r} already: take another name")
        self._entries[entry.name] = entry

    def summaries(self) -> dict[str, str]:
        """Give the summary of each entry by name; what an entry stands for is not imported."""
        return {name: entry.summary for name, entry in self._all().items()}

    def added(self) -> tuple[str, ...]:
        """Name those that a plugin registered."""
        return tuple(name for name in self if name not in self._shipped)

    def from_files(self) -> tuple[str, ...]:
        """Name those that a user's own file registered, by `load_plugin`."""
        return tuple(
            name for added in _registered.values() for registry, name in added if registry is self
        )

    def unshared(self) -> tuple[str, ...]:
        """Name those added by no file that worker processes load: by modules, and by sessions."""
        shared = {
            name for path in _shared for family, name in _registered.get(path, ()) if family is self
        }
        return tuple(name for name in self.added() if name not in shared)

    def __getitem__(self, name: str) -> Entry[F]:
        """Find an entry.

        Raises
        ------
        InputError
            There is none of that name; the line lists those there are.
        """
        if name not in self:
            near = guess(name, self._all())
            raise InputError(f"no {self.family} {name!r:.60}: {near}there are {', '.join(self)}")
        entry = self._entries[name]
        if isinstance(entry.call, _Imported):
            self._entries[name] = entry = replace(entry, call=entry.call.get())
        return entry

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Entry[F]]:
        """Entries, those of installed packages among them."""
        installed()
        return self._entries


GROUP = "workbench.plugins"
"""Entry points by which an installed package adds to the workbench: any name, a module."""


@cache
def installed() -> tuple[ModuleType, ...]:
    """Import the installed packages that add to the workbench, once a process.

    Returns
    -------
    Their modules, by name of the entry point. One that fails is left out, with a warning.
    """
    modules = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        _installing.append(point.name)
        try:
            modules.append(point.load())
        except Exception as error:
            warnings.warn(
                f"the plugin {point.name!r} ({point.value}) is left out: {in_one_line(error)}",
                stacklevel=2,
            )
        finally:
            _installing.pop()
    return tuple(modules)


_installing: list[str] = []


def is_loading() -> bool:
    """Whether a file of the user's, or an installed package, is being loaded."""
    return bool(_loading or _installing)


@dataclass(frozen=True)
class Plugin:
    """A user's own Python file that was loaded.

    Attributes
    ----------
    path
        Where it is, in full.
    digest
        SHA-256 of its bytes, so that no other process runs another version of it.
    module
        Its module, `workbench_plugin_` and the digest's first characters.
    """

    path: Path
    digest: str
    module: ModuleType = field(compare=False, repr=False)


_loaded: dict[Path, Plugin] = {}
_registered: dict[Path, list[tuple[Registry[Any], str]]] = {}
_loading: list[list[tuple[Registry[Any], str]]] = []
"""What each of the files that are being loaded has registered so far."""


_shared: set[Path] = set()
"""Those that worker processes have to load too."""


def plugins() -> tuple[Plugin, ...]:
    """Give the files loaded so far that a worker process has to load too."""
    return tuple(plugin for path, plugin in _loaded.items() if path in _shared)


def load_plugin(path: str | Path, digest: str | None = None, *, shared: bool = True) -> Plugin:
    """Run a user's own Python file, whose top level registers what it adds; once a process.

    A file that has changed since it was loaded is loaded anew, in place of what it had registered.
    What lies beside it can be imported, as beside a script.

    Parameters
    ----------
    digest
        SHA-256 that the file must have: that of another process's `Plugin`.
    shared
        Whether worker processes have to load it too, whatever study they run.

    Raises
    ------
    InputError
        The file cannot be read, is not the one of `digest`, or raises anything, leaving Python
        included: one line that names the file and the line. Nothing that it registered stays.

    Notes
    -----
    What it prints as it is loaded goes to standard error: standard output is for results.
    """
    installed()  # or what they register would be taken for this file's
    place = Path(path).resolve()
    try:
        code = read_whole(place)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise InputError(f"{path}: {reason}; give a Python file of your own") from None
    now = hashlib.sha256(code).hexdigest()
    if digest not in (None, now):
        raise InputError(f"{path}: the file has changed since the run began; start it again")
    find_beside(place)
    if shared:
        _shared.add(place)
    if place in _loaded and _loaded[place].digest == now:
        return _loaded[place]
    _forget(_registered.pop(place, []))
    _loaded.pop(place, None)
    module = ModuleType(f"workbench_plugin_{now[:12]}")
    module.__file__ = str(place)
    sys.modules[module.__name__] = module
    _loading.append([])
    try:
        # What was hashed, and not what the file, or compiled code beside it, says by now.
        with contextlib.redirect_stdout(sys.stderr):
            exec(compile(code, str(place), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        _forget(_loading[-1])
        del sys.modules[module.__name__]
        raise InputError(f"{path}{_line(error, place)}: {in_one_line(error)}") from error
    finally:
        registered = _loading.pop()
    _registered[place] = registered
    _loaded[place] = Plugin(place, now, module)
    return _loaded[place]


def find_beside(file: str | Path) -> None:
    """Let modules in a file's folder be imported, where no other has their name."""
    folder = str(Path(file).parent)
    if folder not in sys.path:
        sys.path.append(folder)


def forget(place: Path) -> None:
    """Forget what a file has registered."""
    _forget(_registered.pop(place, []))
    _loaded.pop(place, None)
    _shared.discard(place)


def remember(
    place: Path, plugin: Plugin | None, registered: list[tuple[Registry[Any], str]]
) -> None:
    """Take what is registered for a file's, which other processes load where there is one."""
    _registered[place] = registered
    if plugin is not None:
        _loaded[place] = plugin
        _shared.add(place)


def _forget(registered: list[tuple[Registry[Any], str]]) -> None:
    for registry, name in registered:
        registry._entries.pop(name, None)


def in_one_line(error: BaseException) -> str:
    """Say what an error is, in one line."""
    if isinstance(error, SystemExit):
        return f"it leaves Python (SystemExit: {error.code!r:.60}), and must not"
    line = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return " ".join(line.split())[:300]


def failure_of_own(name: str, call: Any, error: BaseException) -> InputError:
    """Say in one line how something that a user registered fails.

    Parameters
    ----------
    name
        What it is, as "aggregator 'mine'".
    call
        The function or class; its file tells the line.
    error
        What it raised.
    """
    own = vars(call).values() if isinstance(call, type) else [call]
    code = next((each.__code__ for each in own if hasattr(each, "__code__")), None)
    place = Path(code.co_filename) if code is not None else Path()
    where = f" ({place.name}{_line(error, place)})" if code is not None else ""
    return InputError(f"{name}{where}: {in_one_line(error)}")


def _line(error: BaseException, place: Path) -> str:
    """Say in which line of a file an error arose, where it did."""
    if isinstance(error, SyntaxError) and error.filename == str(place):
        return f", line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(place)]
    return f", line {lines[-1]}" if lines else ""
