"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file under another name, then rename it; what stood there keeps its mode.

    Raises
    ------
    OSError
        When it cannot be written; what stood there before stays.
    """
    write_together({path: data})


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write files that belong together: all under other names, then all renamed; Ctrl-C waits.

    Raises
    ------
    OSError
        When one cannot be written; what stood there before stays.
    """
    drafts: dict[Path, Path] = {}
    with _undisturbed():
        try:
            for path, data in files.items():
                handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
                drafts[path] = draft = Path(name)
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                draft.chmod(path.stat().st_mode if path.exists() else 0o666 & ~_umask())
            for path, draft in drafts.items():
                draft.replace(path)
        finally:
            for draft in drafts.values():
                draft.unlink(missing_ok=True)


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
