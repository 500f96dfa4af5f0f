"""A study's probe: the records of its smoke sweep, kept as a table and compared by a tolerance.

A change of code that changes no result leaves the records as they were; one that does is seen at
once, and for seconds of processor time, where to run a study at the size of its paper takes hours.
Numbers are compared, not digests of them: the last digits differ between processors.

The table lies beside the study's file, in `probes/NAME.csv`, so that what changed in it is read
line by line where code is reviewed. Fields that a study calls volatile are left out; those that are
volatile only because of a time limit are kept, for no trial of a smoke sweep meets its limit.
"""

from __future__ import annotations

import csv
import inspect
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import workbench
from workbench.base.errors import InputError
from workbench.base.writing import write_whole
from workbench.studies.attempt import Outcome, attempt
from workbench.studies.run import FAILED
from workbench.studies.source import Source
from workbench.studies.study import Scalar, Study
from workbench.studies.trials import plan

FOLDER = "probes"
RELATIVE, ABSOLUTE = 1e-4, 1e-8
"""Numbers are equal where |now − before| ≤ ABSOLUTE + RELATIVE · |before|. Where a
fit or a search ends by a tolerance, processors differ by up to a few parts in a hundred thousand;
pages show three digits."""
DIGITS = 10
"""Significant digits of a number that is kept."""
SINCE = re.compile(r"# results since release (?P<release>\S+)\n")
MOST_SHOWN = 3
"""Differences that `in_short` names."""


@dataclass(frozen=True)
class Probe:
    """Records of a study's smoke sweep.

    Attributes
    ----------
    since
        Release of the workbench that first gave these records.
    rows
        One row a trial, in the order of the sweep: the parameters that are swept, `repetition`,
        `status`, and the record's fields; each as text, empty where there is nothing.
    """

    since: str
    rows: tuple[Mapping[str, str], ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of columns; a row may lack some."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row))

    def text(self) -> str:
        """Write it as CSV, with the release in a first line."""
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, self.fields, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return f"# results since release {self.since}\n{buffer.getvalue()}"


def run_probe(source: Source) -> Probe:
    """Run a study's smoke sweep in this process, one trial after another.

    Raises
    ------
    InputError
        The study cannot be loaded.
    """
    study = source.load()
    size = study.sizes["smoke"]
    trials = plan(study, size.sweep, size.repetitions)
    return of_outcomes(study, (attempt(source, trial) for trial in trials))


def of_outcomes(study: Study, outcomes: Iterable[Outcome]) -> Probe:
    """Make a probe of the trials of a smoke sweep, in its order."""
    swept = {name for block in study.sizes["smoke"].sweep for name in block}
    left_out = set(study.volatile) - set(study.limited)
    rows = []
    for ended in outcomes:
        values: dict[str, Scalar] = {k: v for k, v in ended.trial.params.items() if k in swept}
        values |= {"repetition": ended.trial.repetition, "status": str(ended.status)}
        values |= {k: v for k, v in ended.record.items() if k not in left_out}
        rows.append({name: _as_text(value) for name, value in values.items()})
    return Probe(workbench.__version__, tuple(rows))


def probe_path(source: Source) -> Path:
    """Name the file of a study's probe, which need not be there.

    Raises
    ------
    InputError
        The study cannot be loaded.
    """
    trial = inspect.unwrap(source.load().trial)
    file = source.name if source.digest else inspect.getfile(trial)
    return Path(file).parent / FOLDER / f"{source.load().name}.csv"


def read_probe(source: Source) -> Probe | None:
    """Read a study's probe; None where it has none.

    Raises
    ------
    InputError
        The study cannot be loaded, or the file is no probe.
    """
    path = probe_path(source)
    if not path.is_file():
        return None
    try:
        head, _, body = path.read_text("utf-8").partition("\n")
        since = SINCE.fullmatch(f"{head}\n")
        rows = tuple(csv.DictReader(io.StringIO(body), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    if since is None or not rows:
        raise InputError(f"{path}: is no probe, write it by `workbench study probe`")
    return Probe(since["release"], rows)


def differences(before: Probe, now: Probe) -> list[str]:
    """Say in what today's records differ from a probe's; nothing where they do not.

    A field that has been added since is no difference: no figure has changed by it.
    """
    if len(before.rows) != len(now.rows):
        return [f"{len(now.rows):,} trials and not {len(before.rows):,}"]
    found = []
    for name in before.fields:
        pairs = [
            (a.get(name, ""), b.get(name, "")) for a, b in zip(before.rows, now.rows, strict=True)
        ]
        other = [pair for pair in pairs if not _alike(*pair)]
        if other:
            was, is_ = other[0]
            trials = f"{len(other):,} of {len(pairs):,} trials"
            found.append(f"{name} in {trials} ({was or 'nothing'} before, {is_ or 'nothing'} now)")
    return found


def in_short(found: Sequence[str]) -> str:
    """Join differences, of many the first few."""
    more = [f"and {len(found) - MOST_SHOWN} fields more"] if len(found) > MOST_SHOWN else []
    return ", ".join([*found[:MOST_SHOWN], *more])


def renew(source: Source) -> tuple[Path, list[str] | None]:
    """Run a study's smoke sweep and keep its records, if they are other than those kept.

    Returns
    -------
    path
        The file.
    found
        In what today's records differ from those that were kept; None where none were.

    Raises
    ------
    InputError
        The study cannot be loaded, some of its trials fail, or the file cannot be written.
    """
    path, before, now = probe_path(source), read_probe(source), run_probe(source)
    failed = [row["status"] for row in now.rows if row["status"] in FAILED]
    if failed:
        trials = f"{len(failed):,} of {len(now.rows):,} smoke trials failed"
        raise InputError(f"{source.load().name}: {trials} ({', '.join(sorted(set(failed)))})")
    found = None if before is None else differences(before, now)
    if before is not None and not found:
        if before.fields == now.fields:
            return path, found
        now = Probe(before.since, now.rows)
    try:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, now.text().encode())
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    return path, found


def _as_text(value: Scalar) -> str:
    if value is None:
        return ""
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def _alike(a: str, b: str) -> bool:
    if a == b:
        return True
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    return math.isfinite(x) and abs(x - y) <= ABSOLUTE + RELATIVE * abs(x)
