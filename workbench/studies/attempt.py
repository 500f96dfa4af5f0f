"""Running one trial, wherever it is: find the study, draw its streams, measure, report."""

from __future__ import annotations

import math
import os
import platform
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np

from workbench.base.errors import InputError
from workbench.base.memory import peak_mb
from workbench.studies.source import Source
from workbench.studies.study import RESERVED, Scalar, TrialEnded
from workbench.studies.trials import Trial

MOST_BITS = 1024
"""Larger whole numbers are beyond every float, and beyond some thousand digits beyond JSON."""


class Status(StrEnum):
    """How a trial ended."""

    OK = "ok"
    INFEASIBLE = "infeasible"
    LIMIT = "limit"
    NUMERICS = "numerics"
    ERROR = "error"
    CRASHED = "crashed"
    DEADLINE = "deadline"
    MEMORY = "memory"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Outcome:
    """What came of one attempt at a trial.

    Attributes
    ----------
    trial
        The trial.
    status, message
        How it ended; one line where it was not `ok`.
    record
        What it measured; empty where it measured nothing.
    seconds
        Wall-clock time of the attempt.
    peak_mb
        Peak memory of the worker's process so far, where known.
    worker
        Host and process.
    """

    trial: Trial
    status: Status
    message: str = ""
    record: Mapping[str, Scalar] = field(default_factory=dict)
    seconds: float = 0.0
    peak_mb: float | None = None
    worker: str = ""


def attempt(source: Source, trial: Trial) -> Outcome:
    """Run one trial in this process. Whatever it raises becomes a status, except interrupts."""
    started, process = time.perf_counter(), os.getpid()
    try:
        status, message, record = _end(source, trial)
    finally:
        if os.getpid() != process:
            os._exit(0)  # the trial has forked, and this is its child: its parent answers
    return Outcome(
        trial, status, message, record, time.perf_counter() - started, peak_mb(), worker_name()
    )


def _end(source: Source, trial: Trial) -> tuple[Status, str, dict[str, Scalar]]:
    """Run a trial: how it ended, one line, and what it measured."""
    try:
        status, message = Status.OK, ""
        try:
            record = source.load().trial(dict(trial.params), trial.streams)
        except TrialEnded as ended:
            status, message, record = Status(ended.status), str(ended), ended.record
        return status, message, _flat(record, trial)
    except MemoryError as error:
        return Status.MEMORY, _line(error) or "out of memory", {}
    except Exception as error:
        return Status.ERROR, _located(error), {}


def worker_name() -> str:
    """Host and process number."""
    return f"{platform.node()}:{os.getpid()}"


def _flat(record: Mapping[str, object], trial: Trial) -> dict[str, Scalar]:
    """Check that a record can be kept; NumPy scalars become Python's, NaN becomes None."""
    flat: dict[str, Scalar] = {}
    for name, entry in record.items():
        if not isinstance(name, str):
            raise InputError(f"the record has a field {name!r}: name fields by texts")
        value = entry.item() if isinstance(entry, np.generic) else entry
        if name in RESERVED or name in trial.params:
            raise InputError(f"the record has a field {name!r}: that is a column already")
        if isinstance(value, float) and not math.isfinite(value):
            if math.isinf(value):
                raise InputError(f"the record's {name} is {value}: give a finite number or None")
            value = None
        if value is not None and not isinstance(value, (bool, int, float, str)):
            raise InputError(f"the record's {name} is a {type(value).__name__}: give a scalar")
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise InputError(f"the record's {name} is beyond 2**{MOST_BITS}: give a smaller number")
        flat[name] = value
    return flat


def _located(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{_line(error)} ({Path(last.filename).name}:{last.lineno})"


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]
