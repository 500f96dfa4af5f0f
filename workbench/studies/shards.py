"""Shards: parts of a run that know nothing of each other, and merging what they kept.

For job arrays without a coordinator: `--shard 2/8` runs the trials whose key falls to shard 2, and
keeps them in a store of its own. Shards, or any stores, are then merged into one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from workbench.base.errors import InputError
from workbench.studies.environment import Environment
from workbench.studies.recording import REPEATABLE, TrialRow
from workbench.studies.store import Store


def in_shard(key: str, index: int, count: int) -> bool:
    """Whether a trial falls to shard `index` of `count`, counted from 1.

    The key's digits decide, so that shards are of about one size, whatever the order.
    """
    return int(key, 16) % count == index - 1


def part_of(text: str) -> tuple[int, int]:
    """Read which shard of how many: I/N.

    Raises
    ------
    InputError
        For anything else, or I outside 1 … N.
    """
    index, slash, count = text.partition("/")
    if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise InputError(f"--shard {text}: write I/N with I from 1 to N, for example 2/8")
    return int(index), int(count)


def shard_path(store: Path | str, part: tuple[int, int] | None) -> Path:
    """Name the store of one shard, beside the store of the whole; the whole's own where None."""
    path = Path(store)
    if part is None:
        return path
    index, count = part
    return path.with_name(f"{path.stem}.shard-{index}-of-{count}.sqlite")


def merge(paths: Iterable[Path | str], store: Store) -> dict[str, int]:
    """Bring the trials of shards and of other stores into one store.

    An attempt that is there already is not kept twice. Of a trial that was run more than once,
    an end that would come again stands before one that depends on the machine (a deadline, a
    crash); of two by different code of the user's own the later; else the first that was met.

    Parameters
    ----------
    paths
        Shards, or other stores.
    store
        Open for writing.

    Returns
    -------
    dict
        How many `records` and `attempts` are new, or were `there already`.

    Raises
    ------
    InputError
        When a file cannot be read, or two hold different records of one trial. Then nothing is
        written.
    """
    with contextlib.ExitStack() as stack:
        parts = [store]
        for path in dict.fromkeys(Path(path) for path in paths):
            if path.resolve() == store.path.resolve():
                raise InputError(f"{path}: is the store to merge into, leave it out of the list")
            parts.append(stack.enter_context(Store.open(path)))
        plans = [plan for part in parts for plan in part.plans()]
        environments = {
            id_: environment for part in parts for id_, environment in part.environments.items()
        }
        volatile = {plan.study: plan.volatile for plan in plans}
        records: dict[str, TrialRow] = {}
        present: set[TrialRow] = set()
        new: list[TrialRow] = []
        counts = dict.fromkeys(("records", "attempts", "there already"), 0)
        for part in parts:
            # Within one file a later final row replaces an earlier: that is no contradiction.
            own = part.records()
            for row in part.rows():
                final = own.get(row.key) == row and _stands(
                    row, records, environments, volatile, part.path
                )
                bare = row._replace(final=0)
                if part is not store and bare in present:
                    counts["there already"] += 1
                elif part is not store:
                    new.append(row._replace(final=int(final)))
                present.add(bare)
        counts["attempts"] = len(new)
        counts["records"] = len({row.key for row in new if row.final})
        with store.transaction():
            store.append(new, environments)
            for plan in plans:
                store.remember(plan)
    return counts


def _stands(
    row: TrialRow,
    records: dict[str, TrialRow],
    environments: Mapping[str, Environment],
    volatile: dict[str, tuple[str, ...]],
    path: Path,
) -> bool:
    """Whether a row becomes its trial's record, which is noted then."""
    record, fields = records.get(row.key), volatile.get(row.study, ())
    repeatable = row.status in REPEATABLE
    if record is not None and _own(record, environments) != _own(row, environments):
        records[row.key] = max(record, row, key=lambda each: each.finished)
        return records[row.key] is row
    if record is not None and record.status in REPEATABLE:
        if repeatable and record.measured(fields) != row.measured(fields):
            raise InputError(
                f"{path} and what was merged before it have different records of trial {row.key} "
                f"({row.study} {row.params}, repetition {row.repetition}); find out which is "
                "right: workbench study verify --store FILE"
            )
        return False
    if record is None or repeatable:
        records[row.key] = row
        return True
    return False


def _own(row: TrialRow, environments: Mapping[str, Environment]) -> Mapping[str, str]:
    """Of what code of the user's own a row is."""
    made = environments.get(row.environment)
    return {} if made is None else made.own
