"""Who may be asked: the parameter `workers` of `plan`, and how many tasks each takes at most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench.api import inputs
from workbench.api.inputs import Ids, PerWorker, Table
from workbench.api.result import Result
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.crowd import align, tables
from workbench.crowd.libraries import Values, to_pandas
from workbench.crowd.reading import TextTable, as_number, open_table

WorkerList: TypeAlias = "int | Table | Values | Result | Iterable[Any]"
"""How many workers, their names, or a table of them."""
YES, NO = frozenset({"yes", "true", "1", "y", "t"}), frozenset({"no", "false", "0", "n", "f"})
"""How a column `available` is filled in."""
NO_CAPACITY = "give `capacity`, the most tasks that a worker takes"


@dataclass(frozen=True)
class Crew:
    """Workers as they were given.

    Attributes
    ----------
    ids, names
        Their names as they came, and as text.
    capacity, share
        By worker, where they were given; shares are relative to one another.
    away
        Who is not available.
    """

    ids: Ids
    names: list[str]
    capacity: IntArray | None = None
    share: FloatArray | None = None
    away: BoolArray | None = None

    def capacities(self, capacity: int | PerWorker | None, most: int | None = None) -> IntArray:
        """Most labels of each worker, shape (m,).

        Parameters
        ----------
        capacity
            Where no column has it: one number, or a number for each worker.
        most
            Where it stands nowhere; None where it must be given.

        Raises
        ------
        InputError
            Capacities in two places, in none, or of some workers only.
        """
        if capacity is not None and self.capacity is not None:
            raise InputError("capacity: stands in a column of `workers` too; give it in one place")
        if self.capacity is not None:
            return self.capacity
        if capacity is None and most is not None:
            return np.full(len(self.names), most, dtype=np.int64)
        if capacity is None:
            raise InputError(NO_CAPACITY)
        return align.capacities(self.names, inputs.capacities(to_pandas(capacity), self.ids))


def crew(workers: WorkerList) -> Crew:
    """Take workers: how many, their names, or a table of them.

    Raises
    ------
    InputError
        None of these; no worker; a name twice; a capacity, share or availability that is none.
    """
    given: Any = to_pandas(workers.to_frame() if isinstance(workers, Result) else workers)
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        many = checks.count("workers", int(given), 1)
        inputs.check_pairs(1, many)
        return Crew(Ids("worker"), checks.numbered("w", many).tolist())
    if isinstance(given, (str, Path)):
        return _of_table(open_table(given, "workers"), Ids("worker"))
    if isinstance(given, pd.DataFrame):
        ids = Ids.of("worker", "workers", tables.column(given, "worker", "workers"))
        return _of_table(open_table(given, "workers"), ids)
    if not isinstance(given, Iterable):
        raise InputError(
            f"workers is {checks.show(given)}: give a number, a list of names, or a data frame "
            "with a column worker"
        )
    frame = pd.DataFrame({"worker": pd.Series(list(given), dtype=object)})
    if frame.empty:
        raise InputError("workers: an empty list; name one at least")
    return _of_table(open_table(frame, "workers"), Ids.of("worker", "workers", frame["worker"]))


def _of_table(table: TextTable, ids: Ids) -> Crew:
    """Read workers, and what the columns capacity, share and available say of them."""
    (cells,) = table.words("worker")
    table.once("a worker stands once, remove the other", worker=cells)
    header = [name.strip().casefold() for name in table.header]
    place = {name: header.index(name) for name in ("share", "available") if name in header}
    capacity = table.find("capacity")
    share = away = None
    if "share" in place:
        share = np.array([_share(table, place["share"], row) for row in range(len(cells))])
        if not share.any():
            raise InputError(f"{table.name}: every share is 0; give one above it")
    if "available" in place:
        away = np.array([_away(table, place["available"], row) for row in range(len(cells))])
    return Crew(
        ids,
        list(cells),
        None if capacity is None else np.array(table.numbers(capacity, "capacity"), dtype=np.int64),
        share,
        away,
    )


def _share(table: TextTable, place: int, row: int) -> float:
    """A share, 0 or more."""
    text = table.columns[place][row]
    value = as_number(text.removesuffix("%").strip())
    if value is None or not 0 <= value < np.inf:
        raise InputError(f"{table.at(row)}: share is {checks.show(text)}; give a number, 0 or more")
    return value


def _away(table: TextTable, place: int, row: int) -> bool:
    """Whether a worker is not available."""
    text = table.columns[place][row].strip().casefold()
    if text not in YES | NO:
        raise InputError(
            f"{table.at(row)}: available is {checks.show(text)}; write yes or no (who may label "
            "which task is a table of its own, `availability`)"
        )
    return text in NO


@dataclass(frozen=True)
class Askable:
    """Who of the workers that are known may be asked, and how many tasks each takes at most.

    Attributes
    ----------
    capacity
        As the user gave it.
    team
        Those who may be asked; None for everybody.
    """

    capacity: Any
    team: Crew | None = None

    def check(self) -> None:
        """Look that capacities are given.

        Raises
        ------
        InputError
            They are not.
        """
        if self.capacity is None and (self.team is None or self.team.capacity is None):
            raise InputError(NO_CAPACITY)

    @classmethod
    def of(cls, workers: WorkerList | None, capacity: int | PerWorker | None) -> Askable:
        """Take both as a user gave them.

        Raises
        ------
        InputError
            A number of workers, which names nobody; shares of the work; as `crew`.
        """
        capacity = to_pandas(capacity)
        if workers is None:
            return cls(capacity)
        if isinstance(workers, (int, np.integer)):
            raise InputError(
                f"workers is {workers}: beside labels or skills, name them, in a list or in a "
                "table with a column worker"
            )
        team = crew(workers)
        if team.share is not None:
            raise InputError(
                "workers: shares of the work are for labels shared evenly; drop the column share"
            )
        return cls(capacity, team)

    def most(self, known: Sequence[str] | Names, ids: Ids) -> pd.Series[int] | int:
        """Most tasks of each worker, by name as text: one number for all, or a Series.

        Parameters
        ----------
        known
            Workers of whom there are labels or skills, as text.
        ids
            Their names as the user wrote them.

        Raises
        ------
        InputError
            As `Crew.capacities` and `inputs.capacities`.
        """
        if self.team is None:
            return inputs.capacities(self.capacity, ids)
        most = self.team.capacities(self.capacity)
        if self.team.away is not None:
            most = np.where(self.team.away, 0, most)
        own: pd.Series[int] = pd.Series(most, index=self.team.names, dtype="int64")
        return own.reindex(own.index.union(pd.Index(known), sort=False), fill_value=0)

    def named(self, ids: Ids) -> Ids:
        """Know the names that came with the capacities or the list, beside others.

        Raises
        ------
        InputError
            Two of them read alike.
        """
        if self.team is not None:
            return ids.with_more("workers", (self.team.ids.by_text or {}).values())
        return ids.with_more("capacity", _names(self.capacity))

    def among(self, workers: Sequence[str] | Names) -> BoolArray:
        """Which of some workers, by name as text, may be asked."""
        if self.team is None:
            return np.ones(len(workers), dtype=np.bool_)
        asked: BoolArray = pd.Index(workers).isin(self.team.names)
        return asked

    def strangers(self, known: Sequence[str] | Names) -> list[str]:
        """Those who may be asked, and of whom there are neither labels nor skills."""
        names = [] if self.team is None else self.team.names
        return [name for name in names if name not in set(known)]

    def size(self, known: Sequence[str] | Names) -> int:
        """How many may be asked."""
        return len(known) if self.team is None else len(self.team.names)


def _names(by_worker: int | PerWorker | None) -> Iterable[Any]:
    """Workers as they are named in memory; nobody of a file."""
    if isinstance(by_worker, pd.Series):
        return by_worker.index
    if isinstance(by_worker, pd.DataFrame):
        return tables.column(by_worker, "worker", "capacity")
    return by_worker if isinstance(by_worker, Mapping) else ()
