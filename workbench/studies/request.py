"""What is asked for on a command line or in a TOML file: a study, its sweep, how often.

A TOML file names a study of the catalog and may replace or override its sweep. It is data: it
cannot name a module, and nothing in it is run. One's own study is a Python file, and only the
command line can name one.

    study = "competitive-ratio"
    repetitions = 50
    seed = 3

    [[sweep]]              # instead of the study's own; several blocks are run one after another
    workers = [100, 200]   # lists are crossed
    gamma = 0.3
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from workbench.base.errors import InputError
from workbench.studies.executors import Limits
from workbench.studies.source import Source
from workbench.studies.study import SIZES, Scalar, SizeName, Study
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import override, points_of

MOST = 2**63 - 1
"""Whole numbers beyond 64 bits are a slip of the keyboard."""


@dataclass(frozen=True)
class Request:
    """Trials to run.

    Attributes
    ----------
    study
        Which.
    plan
        What to run; its size is "file" for a sweep of a TOML file's own.
    limits
        Of each trial.
    """

    study: Study
    plan: StudyPlan
    limits: Limits

    @property
    def trials(self) -> int:
        """How many trials that makes."""
        return len(points_of(self.study, self.plan.sweep)) * self.plan.repetitions


def request(
    name: str,
    *,
    size: str | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    assignments: Sequence[str] | Mapping[str, object] = (),
    deadline: float | None = None,
    memory: float | None = None,
) -> Request:
    """Read what is asked for.

    Parameters
    ----------
    name
        A study of the catalog, a `.toml` file, or a `.py` file that defines `STUDY`.
    size
        `smoke`, `small` or `paper`; `small` where nothing says otherwise.
    repetitions, seed, deadline, memory
        In place of the file's or the study's own.
    assignments
        `parameter=value` or `parameter=value,value`, or values by parameter: in place of the
        sweep's.

    Raises
    ------
    InputError
        For an unknown study or parameter, a bad value, or a malformed file, with its line.
    """
    file = _read(Path(name)) if name.endswith(".toml") else StudyFile(name)
    source = Source.of(file.study)
    study = source.load()
    if size is not None and file.sweep:
        raise InputError(f"--size {size}: {name} has a sweep of its own, leave the size out")
    chosen = size or file.size or "small"
    if chosen not in SIZES:
        raise InputError(f"size is {chosen!r}: choose from {', '.join(SIZES)}")
    of_size = study.sizes[chosen]
    values = {**file.set, **_assigned(study, assignments)}
    plan = StudyPlan.of(
        source,
        override(study, file.sweep or of_size.sweep, values),
        repetitions or file.repetitions or of_size.repetitions,
        seed=file.seed if seed is None else seed,
        size="file" if file.sweep else chosen,
    )
    return Request(
        study,
        plan,
        Limits(deadline or file.deadline or study.deadline, memory or file.memory or study.memory),
    )


def _assigned(
    study: Study, assignments: Sequence[str] | Mapping[str, object]
) -> dict[str, Sequence[Scalar]]:
    """Read `parameter=value,value`."""
    if isinstance(assignments, Mapping):
        return {name: _listed(given) for name, given in assignments.items()}
    values: dict[str, Sequence[Scalar]] = {}
    for text in assignments:
        name, equals, listed = text.partition("=")
        name = name.strip()
        if not equals or not listed:
            raise InputError(f"--set {text}: write parameter=value, or parameter=value,value")
        if name not in study.parameters:
            raise InputError(
                f"--set {text}: {study.name} has no parameter {name!r}, "
                f"it has {', '.join(study.parameters)}"
            )
        if name in values:
            raise InputError(f"--set {text}: {name} is set twice, list its values by commas")
        parse = study.parameters[name].parse
        values[name] = [parse(f"--set {name}", value.strip()) for value in listed.split(",")]
    return values


def _listed(given: Any) -> list[Scalar]:
    """One value or several, as a list; they are checked with the sweep."""
    several = isinstance(given, Sequence) and not isinstance(given, str)
    return list(given) if several else [given]


WANTED = {
    "study": "a study of the catalog, its name in quotes",
    "size": ", ".join(SIZES),
    "repetitions": "a whole number of 1 or more",
    "seed": "a whole number of 0 or more",
    "deadline": "a number above 0",
    "memory": "a number above 0",
    "set": "a table: [set], and below it parameter = values",
    "sweep": "[[sweep]], and below it parameter = values",
}
"""What each key of a study file takes."""


class StudyFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A TOML file: a study of the catalog, and what is asked for in place of its own."""

    study: str
    size: SizeName | None = None
    repetitions: Annotated[int, Meta(ge=1, le=MOST)] | None = None
    seed: Annotated[int, Meta(ge=0, le=MOST)] = 0
    deadline: Annotated[float, Meta(gt=0, le=1e300)] | None = None
    memory: Annotated[float, Meta(gt=0, le=1e300)] | None = None
    set: dict[str, Any] = {}
    sweep: Annotated[list[dict[str, Any]], Meta(min_length=1)] | None = None


def _read(path: Path) -> StudyFile:
    """Read a study file; a wrong value is named with its line and key.

    Raises
    ------
    InputError
        With the line and the key that is wrong.
    """
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: is not UTF-8 text") from None
    lines = text.splitlines()
    try:
        return _checked(path, lines, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise _syntax(path, lines, str(error)) from None
    except RecursionError:
        raise InputError(f"{path}: is nested too deeply, write parameter = values") from None
    except InputError:
        raise
    except ValueError:  # Python reads and writes no more than some thousand digits
        raise InputError(f"{path}: a number has too many digits, give a smaller one") from None


def _checked(path: Path, lines: Sequence[str], values: dict[str, Any]) -> StudyFile:
    """Check each value, and those of the sweep against the study's parameters."""
    key = "study"
    try:
        file = msgspec.convert(values, StudyFile)
        if file.study.endswith(".py"):
            raise InputError("a file cannot name code, run the .py file itself")
        study = Source.of(file.study).load()
        key = "size"
        if file.size is not None and file.sweep:
            raise InputError("the file has a sweep of its own, leave the size out")
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$.")
        unknown = re.search(r"unknown field `(.+)`", what)
        if unknown:
            listed = ", ".join(WANTED)
            raise _located(path, lines, unknown[1], f"unknown key, there are {listed}") from None
        key = re.split(r"\W", place)[0] or "study"
        raise _located(path, lines, key, f"give {WANTED[key]}") from None
    except InputError as error:
        raise _located(path, lines, key, str(error)) from None
    blocks = [_block(path, lines, study, block, at) for at, block in enumerate(file.sweep or ())]
    own = _block(path, lines, study, file.set, None)
    return msgspec.structs.replace(file, set=own, sweep=blocks or None)


def _block(
    path: Path, lines: Sequence[str], study: Study, block: Mapping[str, Any], nth: int | None
) -> dict[str, Sequence[Scalar]]:
    """Check one table of values, each key by itself, so that its line can be named."""
    pattern = r"\s*\[\s*set\s*\]" if nth is None else r"\s*\[\[\s*sweep\s*\]\]"
    headers = [at for at, line in enumerate(lines) if re.match(pattern, line)] or [0]
    after = headers[min(nth or 0, len(headers) - 1)]
    values: dict[str, Sequence[Scalar]] = {}
    for key, given in block.items():
        try:
            values |= study.check_sweep([{key: _listed(given)}])[0]
        except InputError as error:
            what = str(error).replace("sweep[0].", "")
            what = what if isinstance(given, list) else what.replace(f"{key}[0]", key)
            raise _located(path, lines, key, what, after) from None
    return values


def _syntax(path: Path, lines: Sequence[str], message: str) -> InputError:
    """Turn tomllib's "what (at line 2, column 3)" round: line and key first."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message)
    if found is None:
        return InputError(f"{path}: {message}")
    number = int(found[2] or len(lines))
    key = re.match(r"\s*([\w.\"'-]+)\s*=", lines[number - 1]) if lines else None
    return InputError(f"{path}, line {number}, {key[1] + ': ' if key else ''}{found[1]}")


def _located(path: Path, lines: Sequence[str], key: str, what: str, after: int = 0) -> InputError:
    """Say what is wrong with a key's value, and on which line it is."""
    pattern = re.compile(rf"""\s*(\[+\s*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
    for number, line in enumerate(lines[after:], start=after + 1):
        if pattern.match(line):
            return InputError(f"{path}, line {number}, {key}: {what}")
    return InputError(f"{path}, {key}: {what}")
