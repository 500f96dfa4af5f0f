"""Setting a damaged store aside, and going on with what is sound of it.

A trial with the same seed gives the same record, so nothing is lost with a row but time: what can
be read row by row, with a checksum that holds, goes into a new store under the old name, and the
trials that are missing there are run again by the next run.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from pathlib import Path

from workbench.studies.environment import Environment
from workbench.studies.recording import TrialRow
from workbench.studies.store import Store, StoreError, locked
from workbench.studies.study_plan import StudyPlan


def repair(path: Path | str) -> list[str]:
    """Set a store aside if it is damaged, and keep what is sound; say in a few lines what was done.

    Raises
    ------
    InputError
        When another process writes to it, it cannot be written, or no trial can be read from it.
    """
    path = Path(path)
    if not path.is_file():
        raise StoreError(f"{path}: no such store")
    lock = locked(path)
    try:
        with Store.open(path, check=False) as damaged:
            if not any(damaged.damages()):
                return [f"{path}: nothing is damaged"]
            new = path.with_name(f"{path.name}.repaired")
            new.unlink(missing_ok=True)
            lines = _copy(damaged, new)
        at = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        aside = path.with_name(f"{path.name}.damaged-{at}")
        for ending in ("", "-wal", "-shm", "-journal"):
            beside = path.with_name(path.name + ending)
            if beside.exists():
                beside.replace(aside.with_name(aside.name + ending))
        new.replace(path)
        new.with_name(f"{new.name}.lock").unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        lock.release()
    return [f"{path}: was damaged and is set aside as {aside.name}", *lines]


def _copy(damaged: Store, new: Path) -> list[str]:
    """Write what is sound to a new store; say how much that is, and what will be run again."""
    rows: list[TrialRow] = []
    again: set[str] = set()
    for sound, (*values, _) in damaged.readable("attempts"):
        row = TrialRow._make(values)
        if sound:
            rows.append(row)
        else:  # no earlier record shall take the place of a damaged one
            again.add(str(row.key))
            with contextlib.suppress(ValueError, TypeError, AttributeError, OverflowError):
                again.add(row.trial.key)
    plans = [StudyPlan.read(text) for sound, (_, text) in damaged.readable("plans") if sound]
    if not rows and not plans:
        raise StoreError(
            f"{damaged.path}: no trial can be read from it; rename it, and run its studies again"
        )
    environments = {
        name: Environment.read(text)
        for sound, (name, text) in damaged.readable("environments")
        if sound
    }
    with Store.open(new, write=True) as store, store.transaction():
        for plan in plans:
            store.remember(plan)
        store.append(
            [row._replace(final=int(bool(row.final) and row.key not in again)) for row in rows],
            environments,
        )
        records = {row.key for row in rows if row.final} - again
        missing = sum(trial.key not in records for plan in plans for trial in plan.trials())
    return [
        f"{len(records):,} records are kept; {missing:,} trials that were asked for have none, and "
        "are run again by the next `workbench study run`",
    ]
