"""Files read whole, and written whole or not at all, by one at a time.

A link is followed before anything is written, so that a file has one content under all its names. A
draft of a writer that was killed is removed by the next who writes the same file: a living writer
holds a lock on hers, which the system lifts when she dies.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from workbench.base.errors import InputError

try:
    import fcntl
except ImportError:  # Windows: drafts are not swept, for nothing tells whose writer lives
    fcntl = None  # type: ignore[assignment]

WAIT = 20.0
"""Seconds that a writer waits for another to finish."""
DRAFT = ".draft"


def resolved(path: str | Path) -> Path:
    """Follow links, also where the file is still to be made."""
    return Path(os.path.realpath(path))


def refuse_special(path: Path) -> None:
    """Refuse to open what is there and no file: a pipe, at which a program would wait for ever.

    Raises
    ------
    OSError
        It is a folder, pipe, socket or device.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "no file but a pipe or device: name a file", str(path))


def read_whole(path: Path) -> bytes:
    """Read what a user names as a file.

    Raises
    ------
    OSError
        It cannot be read, or is no file (`refuse_special`).
    """
    refuse_special(path)
    return path.read_bytes()


def write_whole(path: Path, data: bytes, mode: int | None = None) -> None:
    """Write a file under another name, then rename it; what stood there keeps its mode.

    Parameters
    ----------
    mode
        Of a file that is new; as the process makes files when None.

    Raises
    ------
    OSError
        When it cannot be written; what stood there before stays.
    """
    write_together({path: data}, mode)


def write_together(files: Mapping[Path, bytes], mode: int | None = None) -> None:
    """Write files that belong together: all under other names, then all renamed; Ctrl-C waits.

    Raises
    ------
    OSError
        When one cannot be written; what stood there before stays, also a pipe or device.
    """
    for path in files:
        refuse_special(path)
    new = 0o666 & ~_umask() if mode is None else mode
    with _undisturbed(), contextlib.ExitStack() as open_drafts:
        renames: list[tuple[Path, Path]] = []
        for path, data in files.items():
            target = resolved(path)
            _sweep(target)
            draft, file = open_drafts.enter_context(_draft(target))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            draft.chmod(target.stat().st_mode if target.exists() else new)
            if fcntl is None:  # Windows renames no open file
                file.close()
            renames.append((draft, target))
        for draft, target in renames:
            draft.replace(target)


@contextlib.contextmanager
def locked(path: str | Path, wait: float | None = None) -> Iterator[None]:
    """Keep all other writers of a file away who come by this door too.

    The lock is a file beside it, gone when nobody holds it; a killed holder's is lifted.

    Parameters
    ----------
    wait
        Seconds at most; `WAIT` by default.

    Raises
    ------
    InputError
        Another still holds it.
    OSError
        It cannot be made there.
    """
    from filelock import FileLock, Timeout

    target, wait = resolved(path), WAIT if wait is None else wait
    where = target.with_name(target.name + ".lock")
    # FileLock makes folders, and takes a file that may not be opened for one that is held.
    os.close(os.open(where, os.O_RDWR | os.O_CREAT, 0o666))
    with contextlib.suppress(OSError):  # for all who may write in the folder, its owner or not
        where.chmod(0o666)
    lock = FileLock(where, timeout=wait, mode=0o666, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{path}: another has been writing to it for {wait:g} seconds; try again when it ends"
        ) from None
    try:
        yield
    finally:
        # Who waits on the file that goes sees that it has no name left, and makes it anew.
        with contextlib.suppress(OSError):
            where.unlink()
        lock.release()


@contextlib.contextmanager
def _draft(target: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Make a file beside another, locked as long as it is open; it is gone at the end."""
    while True:
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name[:40]}.", suffix=DRAFT, dir=target.parent
        )
        draft = Path(name)
        with os.fdopen(handle, "wb") as file:
            if fcntl is not None:
                with contextlib.suppress(OSError):  # held by who sweeps it, or never on this system
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not draft.exists():  # swept before it was locked
                    continue
            try:
                yield draft, file
            finally:
                draft.unlink(missing_ok=True)
            return


def _sweep(target: Path) -> None:
    """Remove drafts of a file whose writers were killed."""
    if fcntl is None:
        return
    name = re.compile(rf"\.{re.escape(target.name[:40])}\.[a-z0-9_]{{8}}{re.escape(DRAFT)}")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for draft in [Path(entry.path) for entry in entries if name.fullmatch(entry.name)]:
            with contextlib.suppress(OSError), draft.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.unlink()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Hear Ctrl-C when the block has ended; it is heard in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    presses: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: presses.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if presses:
            signal.raise_signal(signal.SIGINT)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
