"""Whether a store can be believed: its file, its keys, its trials, and a sample run again."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, Literal, TypeAlias

import numpy as np

from workbench.base.errors import InputError
from workbench.studies.attempt import Outcome, Status
from workbench.studies.environment import Environment
from workbench.studies.executors import Executor, Limits
from workbench.studies.executors.local import Local
from workbench.studies.own import digests
from workbench.studies.recording import REPEATABLE, TrialRow
from workbench.studies.run import made_by
from workbench.studies.source import Source, check_named
from workbench.studies.store import REMEDY, DamagedStoreError, Store
from workbench.studies.study import Study
from workbench.studies.trials import instance_of

Severity: TypeAlias = Literal["error", "warning", "note"]
LISTED = 10
"""Findings of one kind that `text` prints; the others are counted."""


@dataclass(frozen=True)
class Mismatch:
    """One thing found.

    Attributes
    ----------
    severity
        `error`: what is kept cannot be believed. `warning`: something is missing or cannot be
        known. `note`: worth knowing.
    kind
        What sort: `damage`, `key`, `parameters`, `status`, `duplicate`, `missing`, `unplanned`,
        `environment`, `source`, `different`.
    message
        One line.
    keys
        The trials concerned.
    """

    severity: Severity
    kind: str
    message: str
    keys: tuple[str, ...] = ()


TO_DO = Mismatch("note", "damage", REMEDY)


@dataclass(frozen=True)
class VerifyReport:
    """What was looked at and what was found.

    Attributes
    ----------
    path
        The file.
    attempts, records
        How many it holds.
    repeated
        How many of the sample were run again, and how many of these gave the same record.
    same
        How many of these gave the same record.
    findings
        Errors first.
    """

    path: Path
    attempts: int
    records: int
    repeated: int
    same: int
    findings: tuple[Mismatch, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether there is no error."""
        return not any(finding.severity == "error" for finding in self.findings)

    def payload(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "path": str(self.path), "sound": self.sound}

    def text(self) -> str:
        """Return it as lines to print."""
        lines = [
            f"{self.path}: {self.records:,} records, {self.attempts:,} attempts",
            f"run again: {self.repeated:,}, of which {self.same:,} gave the same record",
        ]
        groups: dict[tuple[str, str], list[str]] = {}
        for finding in self.findings:
            groups.setdefault((finding.severity, finding.kind), []).append(finding.message)
        for (severity, _), messages in groups.items():
            lines += [f"{severity}: {message}" for message in messages[:LISTED]]
            if len(messages) > LISTED:
                lines.append(f"{severity}: and {len(messages) - LISTED:,} more like it")
        lines.append("sound" if self.sound else "not sound")
        return "\n".join(lines)


def verify(
    store: Path | str | Store,
    *,
    sample: int = 20,
    seed: int = 0,
    named: Sequence[Source] = (),
    executor: Executor | None = None,
) -> VerifyReport:
    """Check a store.

    Parameters
    ----------
    store
        The file, or what has it open.
    sample
        How many of the trials to run again, within their study's limits. Drawn from those whose
        end comes again: `ok`, `infeasible`, `numerics`, `error`.
    seed
        Of the draw.
    named
        Files of studies of one's own whose trials may be run again; a store's own word for where
        they are is not taken.
    executor
        Who runs the sample; a worker process where None.

    Raises
    ------
    InputError
        When there is no such file, or it is of another kind, or a file that is named is not what
        made trials in it. Damage is a finding.
    """
    if not isinstance(store, Store):
        path = Path(store)
        try:
            with Store.open(path, check=False) as opened:
                return verify(opened, sample=sample, seed=seed, named=named, executor=executor)
        except DamagedStoreError as error:
            report = VerifyReport(path, 0, 0, 0, 0)
            damage = [Mismatch("error", "damage", str(place)) for place in error.damages]
            return replace(report, findings=(*damage, TO_DO))
    damage = [
        Mismatch("error", "damage", str(place), (place.key,) if place.key else ())
        for place in store.damages()
    ]
    if damage:  # the rest would be about what cannot be believed
        return VerifyReport(store.path, 0, 0, 0, 0, (*damage, TO_DO))
    check = StoreCheck(store, named)
    mismatches = [*check.of_code(), *check.of_rows(), *check.of_plans(), *check.of_environments()]
    repeated = list(check.run_again(sample, seed, executor or Local(1)))
    mismatches += [mismatch for mismatch in repeated if mismatch is not None]
    mismatches.sort(key=lambda mismatch: ("error", "warning", "note").index(mismatch.severity))
    same = repeated.count(None)
    return VerifyReport(
        store.path, len(check.rows), len(check.records), len(repeated), same, tuple(mismatches)
    )


class StoreCheck:
    """Compares what a sound store holds: code, rows, plans, environments, and trials run again.

    Parameters
    ----------
    store
        Open store.
    named
        Files of studies of one's own that may be run.
    """

    def __init__(self, store: Store, named: Sequence[Source]) -> None:
        self.store = store
        self.named = named
        self.rows = store.rows()
        self.records = store.records(self.rows)
        self.studies: dict[tuple[str, int], tuple[Source, Study]] = {}
        self.volatile: dict[tuple[str, int], tuple[str, ...]] = {}
        self.unfit: set[str] = set()
        self.other: set[str] = set()

    def of_code(self) -> Iterator[Mismatch]:
        """Find each study's code, and say where it has changed."""
        plans = self.store.plans()
        check_named(self.named, (plan.study for plan in plans), self.store.path)
        latest = {(plan.study, plan.version): plan for plan in plans}
        for of_study, plan in latest.items():
            self.volatile[of_study] = plan.volatile
            try:
                source = plan.source.allowed(plan.study, self.named).gathered()
                study = source.load()
                if (study.name, study.version) != of_study:
                    raise InputError(
                        f"{plan.study} version {plan.version}: {plan.source.name} is {study.name} "
                        f"version {study.version} now"
                    )
            except InputError as error:
                yield Mismatch("warning", "source", f"not run again: {error}")
            else:
                self.studies[of_study] = source, study
                self.volatile[of_study] = study.volatile
                here = digests(source.beside)
                _, other = self.store.unlike(*of_study, here)
                self.other |= other.keys()
                if other:
                    parts = sorted({part for names in other.values() for part in names})
                    unnamed = [part for part in parts if part.endswith(".py") and part not in here]
                    message = (
                        f"not run again: {made_by(len(other))} other code of the study "
                        f"({', '.join(parts)})"
                    )
                    if unnamed:
                        message += f"; give it: --plugin {' --plugin '.join(unnamed)}"
                    yield Mismatch("warning", "source", message, tuple(other))

    def of_rows(self) -> Iterator[Mismatch]:
        """Hold each row against its key, its study, and the same trial's other records."""
        first: dict[tuple[str, str], TrialRow] = {}
        twice: Counter[str] = Counter()
        for row in self.rows:
            if wrong := self._wrong(row):
                self.unfit.add(row.key)
                kind, message = wrong
                yield Mismatch("error", kind, f"{_name(row)}: {message}", (row.key,))
            if row.final and row.status == Status.OK and row.key in self.records:
                other = first.setdefault((row.key, self._own(row)), row)
                twice[row.study] += other is not row
                if other.measured(self._volatile(row)) != row.measured(self._volatile(row)):
                    message = f"{_name(row)} has two different records"
                    yield Mismatch("error", "duplicate", message, (row.key,))
        for study, count in (+twice).items():
            yield Mismatch("note", "duplicate", f"{study}: {count:,} trials were recorded again")

    def _wrong(self, row: TrialRow) -> tuple[str, str] | None:
        """What is wrong with a row in itself: the kind, and one line."""
        try:
            trial = row.trial
            if trial.key != row.key:
                return "key", "its key is not that of its contents"
        except (ValueError, TypeError, KeyError) as error:
            return "key", f"cannot be read ({error})"
        if row.status not in list(Status):
            return "status", f"status {row.status!r}"
        _, study = self.studies.get((row.study, row.version), (None, None))
        if row.key in self.other:  # what they are parameters of is not here
            study = None
        try:
            if study is None or trial == replace(
                trial, params=study.complete(trial.params), instance=instance_of(study)
            ):
                return None
        except InputError:
            pass
        return "parameters", "are not the study's parameters, or its instance is made of others"

    def of_plans(self) -> Iterator[Mismatch]:
        """Find trials that were asked for and are not there, and those that nobody asked for."""
        outside: dict[tuple[str, int], set[str]] = {}
        for key, row in self.records.items():
            outside.setdefault((row.study, row.version), set()).add(key)
        planned = set()
        for plan in self.store.plans():
            of_study = plan.study, plan.version
            planned.add(of_study)
            keys = dict.fromkeys(trial.key for trial in plan.trials())
            outside[of_study] = outside.get(of_study, set()) - keys.keys()
            missing = tuple(key for key in keys if key not in self.records)
            if missing:
                plan_name = f"{plan.study} ({plan.size}, seed {plan.seed})"
                message = f"{plan_name}: {len(missing):,} of {len(keys):,} trials have no record"
                yield Mismatch("warning", "missing", message, missing)
        for (study, version), extra in outside.items():
            if extra:
                records = f"{len(extra):,} records are in no plan"
                message = records if (study, version) in planned else "there is no plan of it"
                message = f"{study} version {version}: {message}"
                yield Mismatch("warning", "unplanned", message, tuple(extra))

    def of_environments(self) -> Iterator[Mismatch]:
        """Say what other versions trials ran with."""
        here = Environment.here().columns()
        used = {row.environment for row in self.records.values()}
        if used - self.store.environments.keys():
            yield Mismatch("warning", "environment", "what some trials ran on is not known")
        for id_ in sorted(used & self.store.environments.keys()):
            changed = _changes(self.store.environments[id_].columns(), here)
            if changed:
                yield Mismatch("note", "source", f"some trials ran with {changed}")

    def run_again(self, sample: int, seed: int, executor: Executor) -> Iterator[Mismatch | None]:
        """Run a sample again from its seeds; None for each that gives the same record."""
        repeatable = [
            row
            for row in self.records.values()
            if row.status in REPEATABLE
            and (row.study, row.version) in self.studies
            and row.key not in self.unfit | self.other
        ]
        draw = np.random.default_rng(seed)
        size = min(sample, len(repeatable))
        chosen: dict[tuple[str, int], dict[str, TrialRow]] = {}
        for place in sorted(draw.choice(len(repeatable), size=size, replace=False)):
            row = repeatable[int(place)]
            chosen.setdefault((row.study, row.version), {})[row.key] = row
        for of_study, rows in chosen.items():
            source, study = self.studies[of_study]
            limits = Limits(study.deadline, study.memory)
            trials = (row.trial for row in rows.values())
            with contextlib.closing(executor.run(source, trials, limits, Event())) as ended:
                for outcome in filter(None, ended):
                    yield self._compared(rows[outcome.trial.key], outcome)

    def _compared(self, row: TrialRow, outcome: Outcome) -> Mismatch | None:
        volatile = self._volatile(row)
        again = row._replace(status=str(outcome.status), record=json.dumps(dict(outcome.record)))
        if again.measured(volatile) == row.measured(volatile):
            return None
        if outcome.status in REPEATABLE:
            difference = _difference(row, again, volatile)
            message = f"{_name(row)}: gives another record when run again: {difference}"
            return Mismatch("error", "different", message, (row.key,))
        end = f"{outcome.status} ({outcome.message})"
        message = f"{_name(row)}: came to no end when run again: {end}"
        return Mismatch("warning", "different", message, (row.key,))

    def _own(self, row: TrialRow) -> str:
        """Of what code of the user's own a row is: other code may give another record."""
        made = self.store.environments.get(row.environment)
        return "" if made is None else json.dumps(made.own, sort_keys=True)

    def _volatile(self, row: TrialRow) -> tuple[str, ...]:
        return self.volatile.get((row.study, row.version), ())


def _name(row: TrialRow) -> str:
    return f"{row.study} {row.params}, repetition {row.repetition}"


def _difference(row: TrialRow, again: TrialRow, volatile: Sequence[str]) -> str:
    if row.status != again.status:
        return f"{row.status} before, {again.status} now"
    before, now = json.loads(row.record), json.loads(again.record)
    names = [name for name in {**before, **now} if name not in volatile]
    return ", ".join(
        f"{name} was {before.get(name)!r} and is {now.get(name)!r}"
        for name in names
        if repr(before.get(name)) != repr(now.get(name))
    )


def _changes(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    """Tell what the code that ran and the code here differ in; machines are not code."""
    # What is of the user's own differs from study to study: `of_code` looks at it.
    machine = [f"environment.{name}" for name in ("host", "cpus", "platform", "own")]
    return ", ".join(
        f"{name.removeprefix('environment.')} {_short(value) or 'unknown'} "
        f"(here {_short(now.get(name))})"
        for name, value in before.items()
        if name not in machine and value != now.get(name)
    )


def _short(value: object) -> object:
    """Value as it is shown: twelve digits of a digest."""
    return value[:12] if isinstance(value, str) and len(value) == 64 else value
