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
from typing import Any

from workbench.base.errors import InputError
from workbench.studies.executors import Limits
from workbench.studies.source import Source
from workbench.studies.study import SIZES, Block, Scalar, Study
from workbench.studies.trials import override, points_of


@dataclass(frozen=True)
class Request:
    """Trials to run.

    Attributes
    ----------
    source, study
        Where the study is, and the study.
    size
        Name of the size the sweep comes from; "file" for a sweep of a TOML file's own.
    sweep, repetitions, seed
        What to run.
    limits
        Of each trial.
    """

    source: Source
    study: Study
    size: str
    sweep: tuple[Block, ...]
    repetitions: int
    seed: int
    limits: Limits

    @property
    def trials(self) -> int:
        """How many trials that makes."""
        return len(points_of(self.study, self.sweep)) * self.repetitions


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
    if name.endswith(".toml"):
        given = read(Path(name))
    else:
        source = Source.of(name)
        given = _Given(source, source.load(), {})
    study, values = given.study, given.values
    if size is not None and "sweep" in values:
        raise InputError(f"--size {size}: {name} has a sweep of its own, leave the size out")
    chosen = size or values.get("size", "small")
    if chosen not in SIZES:
        raise InputError(f"size is {chosen!r}: choose from {', '.join(SIZES)}")
    sweep = values.get("sweep", study.sizes[chosen].sweep)
    sweep = override(study, sweep, {**values.get("set", {}), **_assigned(study, assignments)})
    repetitions = repetitions or values.get("repetitions") or study.sizes[chosen].repetitions
    return Request(
        given.source,
        study,
        "file" if "sweep" in values else chosen,
        sweep,
        int(repetitions),
        int(values.get("seed", 0)) if seed is None else seed,
        Limits(
            deadline or values.get("deadline") or study.deadline,
            memory or values.get("memory") or study.memory,
        ),
    )


def _assigned(
    study: Study, assignments: Sequence[str] | Mapping[str, object]
) -> dict[str, Sequence[Scalar]]:
    """Read `parameter=value,value`."""
    if isinstance(assignments, Mapping):
        return {
            name: list(given) if isinstance(given, Sequence) and not isinstance(given, str)
            else [given]  # type: ignore[list-item] # checked with the sweep
            for name, given in assignments.items()
        }  # fmt: skip
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
        read_one = study.parameters[name].parse
        values[name] = [read_one(f"--set {name}", one.strip()) for one in listed.split(",")]
    return values


@dataclass(frozen=True)
class _Given:
    source: Source
    study: Study
    values: Mapping[str, Any]


def read(path: Path) -> _Given:
    """Read a study file.

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
        return _Reader(path, lines).given(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise _syntax(path, lines, str(error)) from None
    except RecursionError:
        raise InputError(f"{path}: is nested too deeply, write parameter = values") from None
    except InputError:
        raise
    except ValueError:  # Python reads and writes no more than some thousand digits
        long = re.compile(r"(^|[=\[,])\s*[+-]?\d\w{999}")
        at = next((f", line {k}" for k, one in enumerate(lines, start=1) if long.search(one)), "")
        raise InputError(f"{path}{at}: a number has too many digits, give a smaller one") from None


def _syntax(path: Path, lines: Sequence[str], message: str) -> InputError:
    """Turn tomllib's "what (at line 2, column 3)" round: line and key first."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message)
    if found is None:
        return InputError(f"{path}: {message}")
    number = int(found[2] or len(lines))
    key = re.match(r"\s*([\w.\"'-]+)\s*=", lines[number - 1]) if lines else None
    return InputError(f"{path}, line {number}, {key[1] + ': ' if key else ''}{found[1]}")


class _Reader:
    """Checks the values of a file and knows on which line each key is."""

    def __init__(self, path: Path, lines: Sequence[str]) -> None:
        self.path = path
        self.lines = lines

    def given(self, values: dict[str, Any]) -> _Given:
        known = ("study", "size", "repetitions", "seed", "deadline", "memory")
        for key, value in values.items():
            if key not in (*known, "set", "sweep"):
                raise self.error(key, f"unknown key, there are {', '.join(known)}, set and sweep")
            if isinstance(value, int) and value.bit_length() > 63:
                raise self.error(key, "is a whole number beyond 64 bits, give a smaller one")
        study = self.study(values)
        self.whole(values, "repetitions", 1)
        self.whole(values, "seed", 0)
        for key in ("deadline", "memory"):
            self.positive(values, key)
        if "size" in values and values["size"] not in SIZES:
            raise self.error("size", f"is {values['size']!r}, choose from {', '.join(SIZES)}")
        if "size" in values and "sweep" in values:
            raise self.error("size", "the file has a sweep of its own, leave the size out")
        checked = dict(values)
        if "set" in values:
            if not isinstance(values["set"], dict):
                raise self.error("set", "write a table: [set], and below it parameter = values")
            checked["set"] = self.block(study, values["set"], r"\[\s*set\s*\]", 1)
        if "sweep" in values:
            blocks = values["sweep"]
            tables = isinstance(blocks, list) and all(isinstance(one, dict) for one in blocks)
            if not tables or not blocks:
                raise self.error("sweep", "write [[sweep]], and below it parameter = values")
            checked["sweep"] = [
                self.block(study, block, r"\[\[\s*sweep\s*\]\]", at)
                for at, block in enumerate(blocks, start=1)
            ]
        return _Given(Source.of(study.name), study, checked)

    def study(self, values: Mapping[str, Any]) -> Study:
        name = values.get("study")
        if name is None:
            raise InputError(f'{self.path}: study is missing, write study = "…" on the first line')
        if not isinstance(name, str):
            raise self.error("study", f"is {name!r}, give a name in quotes")
        if name.endswith(".py"):
            raise self.error("study", "a file cannot name code, run the .py file itself")
        try:
            return Source.of(name).load()
        except InputError as error:
            raise self.error("study", str(error).replace(", or give a .py file", "")) from None

    def whole(self, values: Mapping[str, Any], key: str, least: int) -> None:
        value = values.get(key, least)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.error(key, f"is {value!r}, give a whole number of {least} or more")

    def positive(self, values: Mapping[str, Any], key: str) -> None:
        value = values.get(key, 1)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 < value < float("inf"):
            raise self.error(key, f"is {value!r}, give a number above 0")

    def block(
        self, study: Study, block: Mapping[str, Any], header: str, nth: int
    ) -> dict[str, Sequence[Scalar]]:
        """Check one table of values, each key by itself, so that its line can be told."""
        after = self.header(header, nth)
        values: dict[str, Sequence[Scalar]] = {}
        for key, given in block.items():
            listed = given if isinstance(given, list) else [given]
            try:
                values.update(study.check_sweep([{key: listed}])[0])
            except InputError as error:
                told = str(error).replace("sweep[0].", "")
                told = told.replace(f"{key}[0]", key) if listed is not given else told
                raise self.error(key, told, after) from None
        return values

    def header(self, pattern: str, nth: int) -> int:
        """Index of the line that opens the nth such table; 0 where it is written inline."""
        found = [k for k, line in enumerate(self.lines) if re.match(rf"\s*{pattern}", line)]
        return found[nth - 1] if len(found) >= nth else 0

    def error(self, key: str, what: str, after: int = 0) -> InputError:
        pattern = re.compile(rf"""\s*(\[+\s*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
        for number, line in enumerate(self.lines[after:], start=after + 1):
            if pattern.match(line):
                return InputError(f"{self.path}, line {number}, {key}: {what}")
        return InputError(f"{self.path}, {key}: {what}")
