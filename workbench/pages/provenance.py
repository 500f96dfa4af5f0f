"""What trials ran on, how long, and how they failed: rows of text for the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from workbench.pages.numbers import count, duration, number
from workbench.studies.attempt import Status

MESSAGES = 3
"""Different messages shown of each status."""

_PREFIX = "environment."
_NAMES = {"platform": "operating system", "host": "machine", "cpus": "processors"}


@dataclass(frozen=True)
class Failure:
    """Trials that ended in one way other than `ok`.

    Attributes
    ----------
    status
        How.
    count, share
        How many; in all records of the study.
    messages
        The first different messages, with how many trials said each and one that did.
    more
        How many other messages there are.
    """

    status: str
    count: int
    share: float
    messages: tuple[tuple[str, int, str], ...]
    more: int


def failures(table: pd.DataFrame, params: Sequence[str]) -> list[Failure]:
    """Count the trials that did not end `ok`, by status.

    Parameters
    ----------
    table
        One row a trial.
    params
        Columns that name a trial, beside its repetition: they identify an example.
    """
    kinds = []
    for status in Status:
        rows = table[table["status"] == str(status)]
        if status is Status.OK or rows.empty:
            continue
        messages = []
        groups = rows.groupby("message", sort=False)
        for message, group in list(groups)[:MESSAGES]:
            first = group.iloc[0]
            named = [*params, "repetition"]
            example = ", ".join(f"{name} = {_value(first[name])}" for name in named)
            messages.append((str(message), len(group), example))
        kinds.append(
            Failure(
                str(status),
                len(rows),
                len(rows) / len(table),
                tuple(messages),
                max(0, groups.ngroups - MESSAGES),
            )
        )
    return kinds


def environment(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Tell versions, commit and machines: each value with its trials where there are several."""
    rows = []
    for name in table.columns:
        if not name.startswith(_PREFIX):
            continue
        counts = table[name].value_counts(sort=False, dropna=True)
        counts = counts[counts.index != ""]
        plain = name.removeprefix(_PREFIX)
        if not len(counts):
            continue
        texts = [str(value) for value in counts.index]
        if len(texts) > 1 or counts.sum() < len(table):
            texts = [
                f"{text} ({count(int(n), 'trial')})" for text, n in zip(texts, counts, strict=True)
            ]
        if plain == "commit":
            texts = [_commit(text) for text in texts]
        rows.append((_NAMES.get(plain, plain), "; ".join(texts)))
    return rows


def effort(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Tell when the trials ran, on how many workers, and what they took."""
    ended = table["finished"].dropna()
    seconds, memory = table["seconds"].dropna(), table["peak_mb"].dropna()
    rows = []
    if len(ended):
        span = f"{_minute(ended.min())} to {_minute(ended.max())} UTC"
        rows.append(("records kept from", span))
    workers = set(table["worker"]) - {""}
    machines = {worker.rpartition(":")[0] for worker in workers}
    if workers:
        rows.append(("worker processes", f"{len(workers):,} on {count(len(machines), 'machine')}"))
    if len(seconds):
        rows.append(
            (
                "time of a trial",
                f"{duration(seconds.median())} in the median, {duration(seconds.max())} at most, "
                f"{duration(seconds.sum())} in all",
            )
        )
    if len(memory):
        rows.append(("peak memory of a worker", f"{number(memory.max(), 3)} MB"))
    if "attempts" in table and (table["attempts"] > 1).any():
        again = table.loc[table["attempts"] > 1, "attempts"]
        rows.append(
            (
                "attempted more than once",
                f"{count(len(again), 'trial')}, {int(again.max())} times at most",
            )
        )
    return rows


def _commit(text: str) -> str:
    return text.replace("-dirty", " with changes that were not committed")


def _minute(moment: object) -> str:
    return str(moment)[:16].replace("T", " ")


def _value(value: object) -> str:
    return "none" if pd.isna(value) else f"{value:g}" if isinstance(value, float) else str(value)  # type: ignore[call-overload]
