"""One attempt as a row, with a checksum; and many rows as one data frame.

Parameters and record are JSON text.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.studies.attempt import Outcome, Status
from workbench.studies.environment import Environment
from workbench.studies.trial_streams import canonical
from workbench.studies.trials import Trial


class TrialRow(NamedTuple):
    """One attempt at a trial, as it is kept.

    The columns up to `record` follow from the trial alone, but for the record's volatile fields
    and unless its end is none of `REPEATABLE`; the others say when and where it ran. `seed` is
    text because it may be larger than any column's integers. `final` is 1 where the attempt was
    the trial's record when it was written: a later final one replaces it.
    """

    key: str
    study: str
    version: int
    params: str
    repetition: int
    seed: str
    instance: str
    status: str
    message: str
    record: str
    final: int
    seconds: float | None
    peak_mb: float | None
    worker: str
    environment: str
    finished: str

    @property
    def trial(self) -> Trial:
        """The trial it is of."""
        params, instance = json.loads(self.params), json.loads(self.instance)
        seed = int(self.seed)
        return Trial(self.study, self.version, params, self.repetition, seed, tuple(instance))

    def measured(self, volatile: Sequence[str] = ()) -> bytes:
        """How it ended and what it measured, apart from volatile fields: to be compared."""
        record = json.loads(self.record)
        return canonical(
            [self.status, {name: v for name, v in record.items() if name not in volatile}]
        )


REPEATABLE = frozenset({Status.OK, Status.INFEASIBLE, Status.NUMERICS, Status.ERROR})
"""Ends that a trial meets again when it is run again; the others depend on the machine."""


def row_of(outcome: Outcome, final: bool, environment: str) -> TrialRow:
    """Write an outcome as a row, with the time of now."""
    trial = outcome.trial
    return TrialRow(
        trial.key,
        trial.study,
        trial.version,
        _json(dict(trial.params)),
        trial.repetition,
        str(trial.seed),
        _json(list(trial.instance)),
        str(outcome.status),
        _text(outcome.message),
        _json(dict(outcome.record)),
        int(final),
        _finite(outcome.seconds),
        _finite(outcome.peak_mb),
        _text(outcome.worker),
        environment,
        datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


def checksum(values: Sequence[object]) -> str:
    """SHA-256 of a row's values."""
    # ASCII, since what repr escapes beyond it changes with the interpreter's Unicode tables.
    return hashlib.sha256(ascii(tuple(values)).encode()).hexdigest()


def _json(value: Any) -> str:
    # In the order given, which is the order of the columns; keys are made of sorted JSON.
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _text(value: str) -> str:
    return value.encode("utf-8", "backslashreplace").decode()


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


MACHINE = ("seconds", "peak_mb", "worker", "attempts", "environment", "finished")
"""Columns of a table that differ from run to run, with those that begin `environment.`."""


def deterministic(table: pd.DataFrame, volatile: Sequence[str] = ()) -> pd.DataFrame:
    """Leave out of a table what differs between runs: time, machine, and volatile fields."""
    machine = (*MACHINE, *volatile)
    drop = [name for name in table if name in machine or str(name).startswith("environment.")]
    return table.drop(columns=drop)


def frame(
    rows: Sequence[TrialRow],
    environments: Mapping[str, Environment],
    order: Mapping[str, Sequence[object]],
    attempts: Mapping[str, int],
) -> pd.DataFrame:
    """Make one flat table of records, sorted by parameters and repetition.

    Parameters
    ----------
    rows
        One record a trial.
    environments
        By id.
    order
        Values listed for a parameter come first and in that order; the others after them by size.
    attempts
        How many attempts there were, by key.

    Returns
    -------
    DataFrame
        `study, version`, the parameters, `repetition, status, message`, the record's fields, then
        `attempts, seconds, peak_mb, worker, finished, key, seed, environment` and the environment's
        values. A field that a record lacks, or has as None, is missing. Whole numbers with gaps are
        floats where those hold them exactly, else Python's integers; truth values with gaps are
        pandas' `boolean`.
    """
    params = _columns([row.params for row in rows])
    keys = [_ranks(values, order.get(name, ())) for name, values in params.items()]
    keys += [
        _ranks([row.repetition for row in rows]),
        _ranks([int(row.seed) for row in rows]),
        _ranks([row.version for row in rows]),
        _ranks([row.key for row in rows]),
    ]
    places = np.lexsort(keys[::-1])
    rows = [rows[place] for place in places]

    def column(*names: str) -> dict[str, list[Any]]:
        return {name: [getattr(row, name) for row in rows] for name in names}

    columns = column("study", "version")
    columns |= {name: [values[place] for place in places] for name, values in params.items()}
    columns |= column("repetition", "status", "message")
    measured = _columns([row.record for row in rows])
    columns |= {name: values for name, values in measured.items() if name not in columns}
    columns["attempts"] = [attempts.get(row.key, 1) for row in rows]
    columns |= column("seconds", "peak_mb", "worker", "finished", "key")
    columns["seed"] = [int(row.seed) for row in rows]
    columns |= column("environment")
    machines = {
        id_: environments[id_].columns() if id_ in environments else {}
        for id_ in dict.fromkeys(columns["environment"])
    }
    for name in dict.fromkeys(name for values in machines.values() for name in values):
        columns[name] = [machines[id_].get(name) for id_ in columns["environment"]]
    return pd.DataFrame({name: _series(values) for name, values in columns.items()})


def _columns(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Turn JSON objects into columns, in the order in which their names are first met."""
    # One parse of all is several times as fast as a parse of each.
    objects = json.loads(f"[{','.join(texts)}]")
    names = dict.fromkeys(name for keys in dict.fromkeys(map(tuple, objects)) for name in keys)
    return {name: [values.get(name) for values in objects] for name in names}


def _ranks(
    values: Sequence[Any], first: Sequence[object] = ()
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Rank of each value: those listed first, the others by kind and size."""
    kinds = (str, float, int, bool, type(None))

    def place(pair: tuple[type, Any]) -> tuple[int, Any]:
        kind, value = pair
        return kinds.index(kind), "" if value is None else value

    listed = dict.fromkeys((type(value), value) for value in first)
    others = {(type(value), value) for value in values} - listed.keys()
    rank = {pair: at for at, pair in enumerate([*listed, *sorted(others, key=place)])}
    return np.array([rank[type(value), value] for value in values], dtype=np.int64)


EXACT = 2**53


def _series(values: list[Any]) -> pd.Series[Any]:
    """Choose the type of a column by what is in it, and not by what is missing from it."""
    kinds = {type(value) for value in values}
    present = kinds - {type(None)}
    gaps = len(kinds) > len(present)
    dtype: Any = object
    if values and not present:
        dtype = float
    elif present == {bool}:
        dtype = "boolean" if gaps else bool
    elif present == {str}:
        dtype = "str"
    elif present and present <= {int, float}:
        whole = [value for value in values if type(value) is int]
        if present == {int} and not gaps and all(-(2**63) <= value < 2**63 for value in whole):
            dtype = np.int64
        elif all(-EXACT <= value <= EXACT for value in whole):
            dtype = float
    series: pd.Series[Any]
    try:
        series = pd.Series(values, dtype=dtype)
    except UnicodeEncodeError:  # half of a surrogate pair, which pyarrow does not take
        series = pd.Series([v if v is None else _text(v) for v in values], dtype=dtype)
    return series
