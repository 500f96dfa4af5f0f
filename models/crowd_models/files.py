"""Assignment problems as files: JSON to write by hand, .npz for large arrays.

`read_problem` and `write_problem` know these fields; a .npz has them as arrays of the same name.

quality
    q, a matrix (tasks × workers), or in JSON an object {task type: [q of each worker]}.
skill
    p in place of quality, laid out alike; q = (2p − 1)² (Ho, Jabbari, Vaughan 2013, Section 3).
task_types
    Type of each task; needed where another field goes by type.
capacity
    M, one number or one for each worker.
epsilon
    ε, one number or one for each task; or `requirement` in its place, C = 2 ln(1/ε).
cost
    Optional c: a matrix, an object by task type, or one price for each worker.
available
    Optional: a matrix of true and false, or an object by task type.

Imports NumPy alone, to start fast.
"""

from __future__ import annotations

import difflib
import io
import json
import math
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowd_models.problem import AssignmentProblem, requirement
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError

FIELDS = (
    "quality",
    "skill",
    "task_types",
    "capacity",
    "epsilon",
    "requirement",
    "cost",
    "available",
)

_RANGES = {
    "quality": (0.0, 1.0, "a quality (2p−1)² lies between 0 and 1"),
    "skill": (0.0, 1.0, "a skill is the probability of a right label, from 0 to 1"),
    "cost": (0.0, math.inf, "a price is 0 or more"),
    "available": (0.0, 1.0, "give true or false, 1 or 0"),
}


def read_problem(path: str | Path) -> AssignmentProblem:
    """Read an assignment problem from a .json or .npz file.

    Raises
    ------
    InputError
        One line: file, field, index and mend, for whatever is wrong with the file.
    """
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    try:
        if reader is None:
            raise InputError(f"a file of unknown kind: give {' or '.join(_READERS)}")
        return _problem(reader(_content(path)))
    except InputError as error:
        raise InputError(f"{_printable(path)}: {error}") from None


def write_problem(problem: AssignmentProblem, path: str | Path) -> None:
    """Write an assignment problem to a .json or .npz file that `read_problem` gives back.

    Raises
    ------
    InputError
        For a path that ends in neither, or cannot be written.
    """
    path = Path(path)
    encode = {".json": _to_json, ".npz": _to_npz}.get(path.suffix.lower())
    if encode is None:
        raise InputError(f"{_printable(path)}: give a path that ends in .json or .npz")
    fields = {
        "quality": problem.quality,
        "capacity": problem.capacity,
        "requirement": problem.requirement,
        "cost": problem.cost,
        "available": problem.available,
        "task_types": problem.task_types,
    }
    content = encode({name: value for name, value in fields.items() if value is not None})
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{_printable(path)}: cannot be written ({error.strerror})") from None


def _to_json(fields: dict[str, NDArray[Any]]) -> bytes:
    rows = {name: value.tolist() for name, value in fields.items()}
    return (json.dumps(rows, allow_nan=False) + "\n").encode()


def _to_npz(fields: dict[str, NDArray[Any]]) -> bytes:
    if "task_types" in fields and fields["task_types"].dtype == object:
        fields["task_types"] = fields["task_types"].astype(str)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **fields)
    return buffer.getvalue()


def _printable(path: Path) -> str:
    return str(path) if str(path).isprintable() else repr(str(path))


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError("there is no such file") from None
    except IsADirectoryError:
        raise InputError("is a folder: give a file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({getattr(error, 'strerror', error)})") from None
    if not content:
        raise InputError("the file is empty")
    return content


def _from_json(content: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start}): save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None
    except RecursionError:
        raise InputError("nested too deeply: a matrix is a list of lists") from None
    except InputError:
        raise
    except ValueError:
        raise InputError("a number has thousands of digits: give a finite number") from None
    if not isinstance(fields, dict):
        raise InputError(f"holds {_kind(fields)}: give an object with {_listed(FIELDS)}")
    return fields


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if repeated:
        raise InputError(f"key {_shown(repeated[0])} appears twice: keep one")
    return dict(pairs)


def _from_npz(content: bytes) -> dict[str, Any]:
    name: str | None = None
    try:
        archive = np.load(io.BytesIO(content), allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise InputError("a single array, not a .npz: write it with numpy.savez")
        _known(archive.files)
        fields: dict[str, Any] = {}
        for name in archive.files:
            fields[name] = archive[name]
    except InputError:
        raise
    except (
        *(ValueError, KeyError, EOFError, OSError, MemoryError, RuntimeError),
        *(zipfile.BadZipFile, zlib.error),
    ) as error:
        what = "the file" if name is None else f"array {name!r}"
        if name is not None and "allow_pickle" in str(error):
            raise InputError(
                f"{what} holds Python objects: write numbers, or text for task_types"
            ) from None
        raise InputError(f"{what} is damaged or not a .npz: write it with numpy.savez") from None
    wrong = [name for name, value in fields.items() if not isinstance(value, np.ndarray)]
    if wrong:
        raise InputError(f"{wrong[0]!r} is not an array: write the file with numpy.savez")
    return fields


_READERS: dict[str, Callable[[bytes], dict[str, Any]]] = {".json": _from_json, ".npz": _from_npz}


def _problem(fields: dict[str, Any]) -> AssignmentProblem:
    _known(fields)
    given = _one_of(fields, "quality", "skill")
    level = _one_of(fields, "epsilon", "requirement")
    if "capacity" not in fields:
        raise InputError("capacity is missing: give one number, or one for each worker")
    types = _task_types(fields["task_types"]) if "task_types" in fields else None
    quality = _matrix(given, fields[given], types)
    if given == "skill":
        quality = (2.0 * quality - 1.0) ** 2
    n, m = quality.shape
    need = _scalar_or_vector(level, fields[level], n, "task")
    cost = available = None
    if "cost" in fields:
        cost = _cost(fields["cost"], types, (n, m))
    if "available" in fields:
        available = _matrix("available", fields["available"], types)
    return AssignmentProblem(
        quality,
        _scalar_or_vector("capacity", fields["capacity"], m, "worker"),
        requirement(need) if level == "epsilon" else need,
        cost,
        available,
        types,
    )


def _known(names: Any) -> None:
    for name in names:
        if name not in FIELDS:
            near = difflib.get_close_matches(str(name).lower(), FIELDS, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            raise InputError(f"key {_shown(name)} is unknown: {guess}use {_listed(FIELDS)}")


def _one_of(fields: dict[str, Any], first: str, second: str) -> str:
    given = [name for name in (first, second) if name in fields]
    if not given:
        raise InputError(f"{first} is missing: give {first} or {second}")
    if len(given) == 2:
        raise InputError(f"{first} and {second} are both given: keep one of them")
    return given[0]


def _task_types(value: Any) -> NDArray[Any]:
    if isinstance(value, np.ndarray):
        if value.ndim != 1 or value.dtype.kind not in "Uiu":
            raise InputError(
                f"task_types is an array of {value.dtype}, shape {value.shape}: "
                "give text or whole numbers, one for each task"
            )
        return value
    if not isinstance(value, list):
        raise InputError(f"task_types is {_kind(value)}: give a list, one type for each task")
    for i, kind in enumerate(value):
        if isinstance(kind, bool) or not isinstance(kind, (str, int)):
            raise InputError(f"task_types[{i}] is {_kind(kind)}: give text or a whole number")
    if all(isinstance(kind, int) and abs(kind) < 2**63 for kind in value):
        return np.array(value, dtype=np.int64)
    return np.array([str(kind) for kind in value])


def _cost(value: Any, types: NDArray[Any] | None, shape: tuple[int, int]) -> FloatArray:
    by_worker = (isinstance(value, np.ndarray) and value.ndim == 1) or (
        isinstance(value, list) and bool(value) and not isinstance(value[0], list)
    )
    if not by_worker:
        return _matrix("cost", value, types)
    prices = _vector("cost", value)
    if len(prices) != shape[1]:
        raise InputError(
            f"cost has {len(prices)} entries: give one price for each worker ({shape[1]})"
        )
    _in_range("cost", prices, lambda at: f"cost[{at[0]}]")
    return np.tile(prices, (shape[0], 1))


def _matrix(field: str, value: Any, types: NDArray[Any] | None) -> FloatArray:
    """Read a field by pair: a matrix as it is, an object by type spread over the tasks."""
    if isinstance(value, dict):
        return _by_type(field, value, types)
    if isinstance(value, np.ndarray):
        if value.ndim != 2:
            raise InputError(f"{field} has shape {value.shape}: give a matrix, tasks × workers")
        table = _array(field, value)
    else:
        if not isinstance(value, list):
            raise InputError(f"{field} is {_kind(value)}: give a list of rows, one for each task")
        table = _rows(field, value, [f"{field}[{i}]" for i in range(len(value))])
    _in_range(field, table, lambda at: f"{field}[{at[0]}, {at[1]}]")
    return table


def _by_type(field: str, value: dict[str, Any], types: NDArray[Any] | None) -> FloatArray:
    if types is None:
        raise InputError(
            f"{field} goes by task type, but task_types is missing: give the type of each task"
        )
    names = list(value)
    places = [f"{field}[{_shown(name)}]" for name in names]
    table = _rows(field, list(value.values()), places)
    _in_range(field, table, lambda at: f"{places[at[0]]}[{at[1]}]")
    row = {name: k for k, name in enumerate(names)}
    for i, kind in enumerate(types.tolist()):
        if str(kind) not in row:
            raise InputError(
                f"task_types[{i}] is {_shown(kind)}, for which {field} has no row: "
                f"use {_listed(names)}, or add one"
            )
    return table[np.array([row[str(kind)] for kind in types.tolist()], dtype=np.int64)]


def _rows(field: str, rows: list[Any], places: list[str]) -> FloatArray:
    if not rows:
        raise InputError(f"{field} is empty: give one row for each task or task type")
    table = []
    for row, place in zip(rows, places, strict=True):
        if not isinstance(row, list):
            raise InputError(f"{place} is {_kind(row)}: give a list, one entry for each worker")
        if len(row) != len(rows[0]):
            raise InputError(
                f"{place} has {len(row)} entries and {places[0]} has {len(rows[0])}: "
                "give one for each worker in every row"
            )
        table.append(_vector(place, row, flags=field == "available"))
    return np.array(table)


def _scalar_or_vector(field: str, value: Any, length: int, owner: str) -> FloatArray:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return _array(field, value)
    if not isinstance(value, (list, np.ndarray)):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(
                f"{field} is {_kind(value)}: give one number, or a list with one for each {owner}"
            )
        return _vector(field, [value]).reshape(())
    numbers = _vector(field, value)
    if len(numbers) != length:
        raise InputError(
            f"{field} has {len(numbers)} entries: give one number, or one for each {owner} "
            f"({length})"
        )
    return numbers


def _vector(place: str, value: Any, *, flags: bool = False) -> FloatArray:
    """Numbers of a list (or, for `flags`, its booleans), each looked at for what it is."""
    if isinstance(value, np.ndarray):
        if value.ndim != 1:
            raise InputError(f"{place} has shape {value.shape}: give a vector")
        return _array(place, value)
    allowed = {int, float, bool} if flags else {int, float}
    if not set(map(type, value)) <= allowed:
        k = next(k for k, entry in enumerate(value) if type(entry) not in allowed)
        wanted = "true or false" if flags else "a number"
        raise InputError(f"{place}[{k}] is {_kind(value[k])}: give {wanted}")
    try:
        return np.array(value, dtype=np.float64)
    except OverflowError:
        k = next(k for k, entry in enumerate(value) if abs(entry) > 2**1000)
        raise InputError(f"{place}[{k}] is too large: give a smaller number") from None


def _array(field: str, value: NDArray[Any]) -> FloatArray:
    if value.dtype.kind not in ("biuf" if field == "available" else "iuf"):
        raise InputError(f"{field} is an array of {value.dtype}: give numbers")
    return value.astype(np.float64)


def _in_range(field: str, table: FloatArray, place: Callable[[tuple[int, ...]], str]) -> None:
    low, high, rule = _RANGES[field]
    allowed = (table >= low) & (table <= high) & np.isfinite(table)
    if field == "available":
        allowed &= (table == 0) | (table == 1)
    if allowed.all():
        return
    at = tuple(int(k) for k in np.argwhere(~allowed)[0])
    number = float(table[at])
    if math.isfinite(number):
        raise InputError(f"{place(at)} is {number:g}: {rule}")
    what = "NaN" if math.isnan(number) else "infinite"
    raise InputError(f"{place(at)} is {what}: give a finite number")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text {_shown(value)}"
    names = {list: "a list", dict: "an object", int: "a number", float: "a number"}
    return names.get(type(value), type(value).__name__)


def _shown(value: Any) -> str:
    text = repr(str(value))
    return text if len(text) <= 40 else f"{text[:38]}…{text[-1]}"


def _listed(names: Any) -> str:
    shown = [str(name) for name in names]
    return ", ".join(shown[:8]) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "")
