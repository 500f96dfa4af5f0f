"""One SQLite file of ours: made, known again, opened, and its errors in one line."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from workbench.base.errors import InputError

PRIVATE = 0o600
"""Mode of a file: its owner alone reads names and labels. SQLite gives it to its logs too."""
_SMALLEST = 512
"""Bytes of the smallest database."""
_BRIEFLY = 500
"""Milliseconds for which whoever reads is waited for."""


@dataclass(frozen=True)
class Layout:
    """What makes a file one of ours.

    Attributes
    ----------
    what
        Noun for messages, as "journal".
    application
        SQLite's `application_id`.
    version
        SQLite's `user_version`: the only one that is read.
    schema
        Statement that makes each table, index and trigger, by name.
    later
        Those that an older file of this version may lack.
    otherwise
        What to do with a file of another version.
    """

    what: str
    application: int
    version: int
    schema: dict[str, str]
    later: frozenset[str] = frozenset()
    otherwise: str = "use that version"


def real_path(path: str | Path) -> Path:
    """Follow symbolic links, so that what stands beside a file stands beside the file itself.

    Raises
    ------
    InputError
        The path leads in a circle, or is none.
    """
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{path!s:.300}: leads nowhere ({error!s:.100}), name a file") from None


@contextlib.contextmanager
def database_errors(path: Path, patience: float) -> Iterator[None]:
    """Turn an error of SQLite into one line that says what to do.

    Raises
    ------
    InputError
        In place of `sqlite3.Error`.
    """
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        mend = ""
        if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
            mend = "cannot be written, free space and try again: "
        elif code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
            mend = "cannot be written, allow it or name a file in a folder of yours: "
        elif code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            mend = f"another program has held it for {patience:g} s, close that program: "
        elif code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            mend = "damaged, put back a whole copy: "
        raise InputError(f"{path}: {mend}{error}") from None


def create_database(
    path: Path, layout: Layout, rows: Iterable[tuple[str, tuple[object, ...]]]
) -> bool:
    """Make a database that holds some rows, in WAL mode: whole, and only where nothing stands.

    Parameters
    ----------
    rows
        Statement and values of each.

    Returns
    -------
    Whether it was made; False where something stands there already, which stays.

    Raises
    ------
    InputError
        It cannot be written, or what is left of one that is gone stands beside.
    """
    log = path.with_name(path.name + "-wal")
    orphan = log.exists()  # looked for first: whoever else makes the file now makes its log later
    if path.exists():
        return False
    if orphan:
        raise InputError(
            f"{path}: is gone but {log.name} is there, which belongs to it; put the "
            f"{layout.what} back beside it, or delete {log.name}"
        )
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name[:40]}.", dir=path.parent) as folder:
            draft = Path(folder) / "draft"
            with database_errors(path, 0), contextlib.closing(_connection(draft, 0, "rwc")) as db:
                db.execute("PRAGMA journal_mode = WAL").fetchall()
                db.execute("PRAGMA synchronous = FULL")
                db.execute("BEGIN")
                db.execute(f"PRAGMA application_id = {layout.application}")
                db.execute(f"PRAGMA user_version = {layout.version}")
                for statement in layout.schema.values():
                    db.execute(statement)
                for statement, values in rows:
                    db.execute(statement, values)
                db.execute("COMMIT")
            draft.chmod(PRIVATE)
            os.link(draft, path)  # not a rename, which would replace what another has made
            _sync_folder(path.parent)
    except FileExistsError:
        return False
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written there ({error.strerror}), name a file in a folder of yours"
        ) from None
    return True


def empty_log(db: sqlite3.Connection) -> bool:
    """Empty the log beside a database, which has what was deleted; whether it could be done now.

    Where another program reads, it cannot, and is not waited for.
    """
    ((patience,),) = db.execute("PRAGMA busy_timeout").fetchall()
    db.execute(f"PRAGMA busy_timeout = {_BRIEFLY}").fetchall()
    try:
        ((busy, _, _),) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        db.execute(f"PRAGMA busy_timeout = {patience}").fetchall()
    return not busy


def _sync_folder(folder: Path) -> None:
    """Put a folder's entries on the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def open_database(path: Path, layout: Layout, patience: float) -> sqlite3.Connection:
    """Open a database of ours for reading and writing.

    A transaction that is committed is on the disk. Text that is no UTF-8 is read all the same:
    checksums tell.

    Raises
    ------
    InputError
        There is none, it is something else, of another version, or may not be read or written.
    """
    _check_start(path, layout)
    with database_errors(path, patience), contextlib.ExitStack() as stack:
        db = stack.enter_context(contextlib.closing(_connection(path, patience, "rw")))
        db.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
        _check_layout(path, db, layout)
        db.execute("PRAGMA cell_size_check = ON")
        db.execute("PRAGMA synchronous = FULL")
        stack.pop_all()
        return db
    raise AssertionError  # for mypy: an ExitStack may swallow errors, this one does not


def _check_layout(path: Path, db: sqlite3.Connection, layout: Layout) -> None:
    try:
        db.execute("PRAGMA schema_version").fetchall()
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_NOTADB:
            raise _no_database(path, layout) from None
        raise
    try:
        ((application,),) = db.execute("PRAGMA application_id")
        ((version,),) = db.execute("PRAGMA user_version")
        schema = dict(db.execute("SELECT name, sql FROM sqlite_schema").fetchall())
    except UnicodeDecodeError:  # the words of SQLite's own error quote a damaged name
        schema = {}
    else:
        if application != layout.application:
            raise InputError(f"{path}: is a database of another program, name a {layout.what}")
        if version != layout.version:
            raise InputError(
                f"{path}: is a {layout.what} of another version of the workbench (format "
                f"{version}, and this one knows {layout.version}): {layout.otherwise}"
            )
    lacking = layout.later - schema.keys()
    if schema != {name: made for name, made in layout.schema.items() if name not in lacking}:
        raise InputError(
            f"{path}: damaged, its tables are not those of a {layout.what}: put back a whole copy"
        )


def _connection(path: Path, patience: float, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(os.fsencode(path))}?mode={mode}"
    db = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None)
    db.execute("PRAGMA secure_delete = ON").fetchall()  # what is deleted leaves no trace
    return db


def application_of(path: Path) -> int | None:
    """SQLite's `application_id` of a file; None where it is no database, or cannot be read.

    By SQLite, for the reason that `_check_start` gives.
    """
    if not path.is_file():
        return None
    try:
        with contextlib.closing(_connection(path, 0.0, "ro")) as db:
            return int(db.execute("PRAGMA application_id").fetchone()[0])
    except sqlite3.Error:
        return None


def _check_start(path: Path, layout: Layout) -> None:
    """Say what is wrong with a file that SQLite would not take for a database.

    SQLite alone may open it: with a file that is closed, POSIX drops all locks that the process has
    on it, those of its other connections too; whoever closes the file next, in another process,
    would then believe that nobody has it, and delete its log under them.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a folder, name a file")
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise InputError(f"{path}: no such {layout.what}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if not os.access(path, os.R_OK):
        raise InputError(f"{path}: cannot be read ({os.strerror(errno.EACCES)})")
    if size < _SMALLEST:
        raise _no_database(path, layout)


def _no_database(path: Path, layout: Layout) -> InputError:
    return InputError(
        f"{path}: is no {layout.what}, or its beginning is damaged: name another file, or put "
        "back a whole copy"
    )


def copy_database(db: sqlite3.Connection, path: Path) -> None:
    """Copy a database as it stands, while others write to it; whole, and only where nothing stands.

    Raises
    ------
    InputError
        There is something already, or it cannot be written.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name[:40]}.", dir=path.parent) as folder:
            draft = Path(folder) / "draft"
            with database_errors(path, 0), contextlib.closing(_connection(draft, 0, "rwc")) as copy:
                db.backup(copy)
            draft.chmod(PRIVATE)
            os.link(draft, path)
            _sync_folder(path.parent)
    except FileExistsError:
        raise InputError(f"{path}: there is one already; name another file") from None
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written there ({error.strerror}), name a file in a folder of yours"
        ) from None
