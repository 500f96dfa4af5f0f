"""Whether a store can be believed: its file, its keys, its trials, and a sample run again."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Literal, TypeAlias

import numpy as np

from workbench.base.errors import InputError
from workbench.studies import shards
from workbench.studies.attempt import Outcome, Status
from workbench.studies.environment import Environment
from workbench.studies.executors import Executor, Limits
from workbench.studies.executors.local import Local
from workbench.studies.records import REPEATABLE, TrialRow
from workbench.studies.salvage import quarantine
from workbench.studies.shards import Shard
from workbench.studies.source import Source, check_named
from workbench.studies.store import DamagedStoreError, Store, mend
from workbench.studies.study import Study
from workbench.studies.study_plan import StudyPlan

__all__ = ["Mismatch", "Severity", "VerifyReport", "quarantine", "verify"]

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
        told. `note`: worth knowing.
    kind
        What sort: `damage`, `key`, `parameters`, `status`, `duplicate`, `missing`, `unplanned`,
        `quarantine`, `environment`, `source`, `different`.
    message
        One line.
    keys
        The trials concerned.
    """

    severity: Severity
    kind: str
    message: str
    keys: tuple[str, ...] = ()


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
        return not any(one.severity == "error" for one in self.findings)

    def payload(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "path": str(self.path), "sound": self.sound}

    def text(self) -> str:
        """Return it as lines to print."""
        lines = [
            f"{self.path}: {self.records:,} records, {self.attempts:,} attempts",
            f"run again: {self.repeated:,}, of which {self.same:,} gave the same record",
        ]
        kinds = Counter((one.severity, one.kind) for one in self.findings)
        for (severity, kind), count in kinds.items():
            found = [one for one in self.findings if (one.severity, one.kind) == (severity, kind)]
            lines += [f"{severity}: {one.message}" for one in found[:LISTED]]
            if count > LISTED:
                lines.append(f"{severity}: and {count - LISTED:,} more like it")
        lines.append("sound" if self.sound else "not sound")
        return "\n".join(lines)


def verify(
    store: Path | str | Store | Shard,
    *,
    sample: int = 20,
    seed: int = 0,
    named: Sequence[Source] = (),
    executor: Executor | None = None,
) -> VerifyReport:
    """Check a store, or a shard's file.

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
    executor = executor or Local(1)
    if isinstance(store, (Store, Shard)):
        return _Check(store, sample, seed, named, executor).report()
    path = Path(store)
    try:
        one = Shard.read(path) if path.suffix == shards.SUFFIX else Store.open(path, check=False)
    except DamagedStoreError as damaged:
        reasons = [f"{one.table} {one.id or ''}: {one.reason}" for one in damaged.damages]
        findings = [Mismatch("error", "damage", " ".join(reason.split())) for reason in reasons]
        return VerifyReport(path, 0, 0, 0, 0, (*findings, _remedy(path)))
    with one:
        return _Check(one, sample, seed, named, executor).report()


def _remedy(path: Path) -> Mismatch:
    return Mismatch("note", "damage", f"to put what is damaged aside: {mend(path)}")


@dataclass
class _Check:
    store: Store | Shard
    sample: int
    seed: int
    named: Sequence[Source]
    executor: Executor
    attempts: int = 0
    finals: dict[str, TrialRow] = field(default_factory=dict)
    unfit: set[str] = field(default_factory=set)
    studies: dict[tuple[str, int], tuple[Source, Study]] = field(default_factory=dict)
    volatile: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    repeated: int = 0
    same: int = 0

    def report(self) -> VerifyReport:
        findings = list(self._findings())
        rank = {"error": 0, "warning": 1, "note": 2}
        findings.sort(key=lambda one: rank[one.severity])
        return VerifyReport(
            self.store.path, self.attempts, len(self.finals), self.repeated, self.same,
            tuple(findings),
        )  # fmt: skip

    def _findings(self) -> Iterator[Mismatch]:
        damages = list(self.store.damages())
        for one in damages:
            where = f"{one.table} {one.id}: " if one.id else ""
            yield Mismatch("error", "damage", f"{where}{one.reason}", one.keys)
        if damages:  # the rest would be about what cannot be believed
            yield _remedy(self.store.path)
            return
        plans = self.store.plans()
        yield from self._sources(plans)
        yield from self._rows()
        yield from self._planned(plans)
        yield from self._aside()
        yield from self._environments()
        yield from self._again()

    def _sources(self, plans: Sequence[StudyPlan]) -> Iterator[Mismatch]:
        """Find each study's code, and say where it has changed."""
        check_named(self.named, [plan.source for plan in plans], self.store.path)
        latest = {(plan.study, plan.version): plan for plan in plans}
        for plan in plans:
            last = latest[plan.study, plan.version].source
            if last.digest != plan.source.digest:
                yield Mismatch(
                    "warning", "source",
                    f"{plan.study}: {plan.source.name} changed between its runs, and its version "
                    "did not: trials of both are kept as one study",
                )  # fmt: skip
        for (name, version), plan in latest.items():
            self.volatile[name, version] = plan.volatile
            try:
                source = plan.source.allowed(self.named)
                study = source.load()
            except InputError as error:
                yield Mismatch("warning", "source", f"not run again: {error}")
                continue
            if (study.name, study.version) == (name, version):
                self.studies[name, version] = source, study
                self.volatile[name, version] = study.volatile
            else:
                yield Mismatch(
                    "warning", "source",
                    f"{name} version {version}: {plan.source.name} is {study.name} version "
                    f"{study.version} now, so that none of it can be run again",
                )  # fmt: skip

    def _rows(self) -> Iterator[Mismatch]:
        twice: Counter[str] = Counter()
        aside = {entry.key for entry in self.store.quarantine() if not entry.redone}
        for row in self.store.rows():
            self.attempts += 1
            for finding in self._row(row):
                self.unfit.add(row.key)
                yield finding
            if not row.final or row.key in aside:
                continue
            before = self.finals.get(row.key)
            if before is not None and before.status == row.status == Status.OK:
                twice[row.study] += 1
                if before.measured(self._volatile(row)) != row.measured(self._volatile(row)):
                    yield Mismatch(
                        "error", "duplicate", f"{_name(row)} has two different records", (row.key,)
                    )
            self.finals[row.key] = row
        for study, count in twice.items():
            yield Mismatch("note", "duplicate", f"{study}: {count:,} trials were recorded again")

    def _row(self, row: TrialRow) -> Iterator[Mismatch]:
        try:
            key = row.trial.key
        except (ValueError, TypeError, KeyError) as error:
            yield Mismatch("error", "key", f"{_name(row)}: cannot be read ({error})", (row.key,))
            return
        if key != row.key:
            yield Mismatch(
                "error", "key", f"{_name(row)}: its key is not that of its contents", (row.key,)
            )
        if row.status not in list(Status):
            yield Mismatch("error", "status", f"{_name(row)}: status {row.status!r}", (row.key,))
        _, study = self.studies.get((row.study, row.version), (None, None))
        if study is None:
            return
        trial = row.trial
        unpaired = tuple(name for name, one in study.parameters.items() if not one.paired)
        if trial.instance != unpaired:
            yield Mismatch(
                "error", "parameters",
                f"{_name(row)}: its instance was drawn from {', '.join(trial.instance)}, and the "
                f"study has {', '.join(unpaired)}",
                (row.key,),
            )  # fmt: skip
        with contextlib.suppress(InputError):
            if study.complete(trial.params) == trial.params:
                return
        yield Mismatch(
            "error", "parameters", f"{_name(row)}: are not the study's parameters", (row.key,)
        )

    def _planned(self, plans: Sequence[StudyPlan]) -> Iterator[Mismatch]:
        aside = {entry.key for entry in self.store.quarantine() if not entry.redone}
        planned: dict[tuple[str, int], set[str]] = {}
        unknown = set()
        for plan in plans:
            of_study = plan.study, plan.version
            try:
                keys = dict.fromkeys(trial.key for trial in plan.trials(self.named))
            except InputError as error:
                unknown.add(of_study)
                yield Mismatch(
                    "warning", "source", f"what one plan of {plan.study} asks for is not known: "
                    f"{error}",
                )  # fmt: skip
                continue
            planned.setdefault(of_study, set()).update(keys)
            missing = tuple(key for key in keys if key not in self.finals and key not in aside)
            if missing:
                yield Mismatch(
                    "warning", "missing",
                    f"{plan.study} ({plan.size}, seed {plan.seed}): {len(missing):,} of "
                    f"{len(keys):,} trials have no record",
                    missing,
                )  # fmt: skip
        outside: dict[tuple[str, int], list[str]] = {}
        for key, row in self.finals.items():
            of_study = row.study, row.version
            known = of_study in planned and of_study not in unknown
            if known and key not in planned[of_study]:
                outside.setdefault(of_study, []).append(key)
        for (study_name, version), found in outside.items():
            yield Mismatch(
                "warning", "unplanned",
                f"{study_name} version {version}: {len(found):,} records are in no plan",
                tuple(found),
            )  # fmt: skip
        unplanned = {(row.study, row.version) for row in self.finals.values()} - {
            (plan.study, plan.version) for plan in plans
        }
        for study_name, version in sorted(unplanned):
            yield Mismatch(
                "warning", "unplanned", f"{study_name} version {version}: there is no plan of it"
            )

    def _aside(self) -> Iterator[Mismatch]:
        open_ = [entry for entry in self.store.quarantine() if not entry.redone]
        if open_:
            yield Mismatch(
                "warning", "quarantine",
                f"in quarantine, their records damaged or lost: {len(open_):,} trials; to run them "
                "again: workbench study run NAME --redo-quarantined",
                tuple(entry.key for entry in open_ if entry.key),
            )  # fmt: skip

    def _environments(self) -> Iterator[Mismatch]:
        here = Environment.here()
        used = {row.environment for row in self.finals.values()}
        unknown = used - set(self.store.environments)
        if unknown:
            yield Mismatch("warning", "environment", "what some trials ran on is not known")
        for id_ in sorted(used - unknown):
            one = self.store.environments[id_]
            changed = _changes(one.columns(), here.columns())
            if changed:
                yield Mismatch("note", "source", f"some trials ran with {changed}")

    def _again(self) -> Iterator[Mismatch]:
        """Run a sample again from its seeds."""
        repeatable = [
            row for row in self.finals.values()
            if row.status in REPEATABLE
            and (row.study, row.version) in self.studies
            and row.key not in self.unfit
        ]  # fmt: skip
        draw = np.random.default_rng(self.seed)
        size = min(self.sample, len(repeatable))
        chosen: dict[Source, dict[str, TrialRow]] = {}
        for place in sorted(draw.choice(len(repeatable), size=size, replace=False)):
            row = repeatable[int(place)]
            source, _ = self.studies[row.study, row.version]
            chosen.setdefault(source, {})[row.key] = row
        for source, rows in chosen.items():
            study = source.load()
            limits = Limits(study.deadline, study.memory)
            trials = (row.trial for row in rows.values())
            with contextlib.closing(self.executor.run(source, trials, limits, Event())) as ended:
                for outcome in filter(None, ended):
                    yield from self._compare(rows[outcome.trial.key], outcome)

    def _compare(self, row: TrialRow, outcome: Outcome) -> Iterator[Mismatch]:
        """Hold a record against what came of its trial when it was run again."""
        self.repeated += 1
        volatile = self._volatile(row)
        again = row._replace(status=str(outcome.status), record=json.dumps(dict(outcome.record)))
        if again.measured(volatile) == row.measured(volatile):
            self.same += 1
        elif outcome.status not in REPEATABLE:
            yield Mismatch(
                "warning", "different",
                f"{_name(row)}: came to no end when run again: {outcome.status} "
                f"({outcome.message})",
                (row.key,),
            )  # fmt: skip
        else:
            yield Mismatch(
                "error", "different",
                f"{_name(row)}: gives another record when run again: "
                f"{_difference(row, again, volatile)}",
                (row.key,),
            )  # fmt: skip

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
    machine = ("environment.host", "environment.cpus", "environment.platform")
    return ", ".join(
        f"{name.removeprefix('environment.')} {value or 'unknown'} (here {now.get(name)})"
        for name, value in before.items()
        if name not in machine and value != now.get(name)
    )
