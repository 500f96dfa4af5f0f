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
gain
    Optional: by which of `crowd_models.gains` labels count, `hoeffding` (the paper's, as above) or
    `bhattacharyya`; or `information`, where quality and requirement are given; or `exact error`,
    where skill and epsilon are: `crowd_models.exact_error`.
cost
    Optional c: a matrix, an object by task type, or one price for each worker.
available
    Optional: a matrix of true and false, or an object by task type.
least, most
    Optional: fewest and most labels of a task, one number or one for each task.
tasks, workers
    Only of a problem by class: how many tasks and workers each row and column stands for.
confusion, prior
    For labels of several classes (`crowd_models.joint`), in place of quality: an object {task type:
    [matrix of each worker, true class × class named]}, and the probability of each class. Beside
    them epsilon, capacity, task_types, and, where need be, cost, available, least and most.
loss
    Optional beside confusion: what it costs to miss each class, in the order of `prior`; epsilon is
    then the expected cost of an answer, and the prior is tilted (`crowd_models.joint`).
gains, budget, costs, money
    Of whom to hire (`crowd_models.SelectionProblem`), and nothing beside: what each worker adds
    (null for who must not be hired), the most workers, and, both or neither, prices and money.

Imports neither pandas nor Pyomo, to start fast.
"""

from __future__ import annotations

import difflib
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from crowd_models.exact_error import error_problem
from crowd_models.gains import gain_of
from crowd_models.joint import JointProblem, pair_gains, pair_weights, tilted
from crowd_models.problem import AssignmentProblem, SelectionProblem, TypedProblem, checked
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.writing import read_whole

_MATRIX = list[list[float]] | dict[str, list[float]]
_VECTOR = float | list[float]
_BY_PAIR = "give a list of rows (one for each task, of one number for each worker)"
_FIELDS: dict[str, tuple[Any, str]] = {
    "quality": (_MATRIX, f"{_BY_PAIR}, or an object by task type"),
    "skill": (_MATRIX, f"{_BY_PAIR}, or an object by task type"),
    "task_types": (list[int | str], "give a list of texts or whole numbers, one for each task"),
    "capacity": (_VECTOR, "give one number, or a list with one for each worker"),
    "epsilon": (_VECTOR, "give one number, or a list with one for each task"),
    "requirement": (_VECTOR, "give one number, or a list with one for each task"),
    "cost": (
        list[float | list[float]] | dict[str, list[float]],
        f"{_BY_PAIR}, an object by task type, or one price for each worker",
    ),
    "available": (
        list[list[bool | float]] | dict[str, list[bool | float]],
        "give rows of true and false, one for each task, or an object by task type",
    ),
    "gain": (str, "give hoeffding or bhattacharyya"),
    "least": (_VECTOR, "give one number, or a list with one for each task"),
    "most": (_VECTOR, "give one number, or a list with one for each task"),
    "tasks": (list[float], "give how many tasks each row stands for"),
    "workers": (list[float], "give how many workers each column stands for"),
    "confusion": (
        dict[str, list[list[list[float]]]],
        "give an object by task type: a matrix true class × class named for each worker",
    ),
    "prior": (list[float], "give the probability of each class"),
    "loss": (list[float], "give what it costs to miss each class"),
    "gains": (list[float | None], "give a list of what each worker adds"),
    "budget": (int, "give a whole number, 1 or more"),
    "costs": (_VECTOR, "give one number, or a list with one for each worker"),
    "money": (float, "give one number"),
}
"""What each field of a JSON file holds, and what to give in place of anything else."""
FIELDS = tuple(_FIELDS)


def read_problem(
    path: str | Path, *, gain: str | None = None
) -> AssignmentProblem | TypedProblem | JointProblem | SelectionProblem:
    """Read an assignment problem from a .json or .npz file; by class, where it counts them.

    One that states confusion matrices is a `JointProblem`, whose task classes are runs of alike
    tasks: so its tasks keep the order of the file. One that states gains is a `SelectionProblem`.

    Parameters
    ----------
    gain
        In place of the file's, which must then state skills and ε.

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
        return _problem(reader(_content(path)), gain)
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
    names = (
        *("quality", "capacity", "requirement", "cost", "available", "task_types"),
        *("least", "most"),
    )
    fields = {name: getattr(problem, name) for name in names}
    fields = {name: value for name, value in fields.items() if value is not None}
    if problem.gain != "hoeffding":
        fields["gain"] = np.array(problem.gain)
    if path.suffix.lower() == ".json":
        rows = {name: value.tolist() for name, value in fields.items()}
        content = (json.dumps(rows, allow_nan=False) + "\n").encode()
    elif path.suffix.lower() == ".npz":
        if "task_types" in fields and fields["task_types"].dtype == object:
            fields["task_types"] = fields["task_types"].astype(str)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **fields)
        content = buffer.getvalue()
    else:
        raise InputError(f"{_printable(path)}: give a path that ends in .json or .npz")
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"{_printable(path)}: cannot be written ({error.strerror})") from None


def _printable(path: Path) -> str:
    return str(path) if str(path).isprintable() else repr(str(path))


def _content(path: Path) -> bytes:
    try:
        content = read_whole(path)
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
        raise InputError(f"holds no object: give one with {', '.join(FIELDS)}")
    _check_names(fields)
    return {name: _from_json_field(name, value) for name, value in fields.items()}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise InputError(f"key {_shown(key)} appears twice: keep one")
        fields[key] = value
    return fields


def _from_json_field(name: str, value: Any) -> Any:
    """A field's numbers as an array; by task type, as a dictionary of arrays."""
    kind, mend = _FIELDS[name]
    try:
        value = msgspec.convert(value, kind)
        if name == "gain":
            return value
        if name == "task_types":
            whole = all(isinstance(entry, int) and abs(entry) < 2**63 for entry in value)
            return np.array(value if whole else [str(entry) for entry in value])
        if name == "confusion":
            return value
        if name == "gains":
            value = [-np.inf if gain is None else gain for gain in value]
        if isinstance(value, dict):
            return {key: np.array(row, dtype=np.float64) for key, row in value.items()}
        return np.array(value, dtype=np.float64)
    except msgspec.ValidationError as error:
        what, _, place = str(error).replace("`", "").partition(" - at $")
        what = what[0].lower() + what[1:].replace("array", "list")
        raise InputError(f"{name}{place}: {what}: {mend}") from None
    except ValueError:
        raise InputError(f"{name} has rows of unequal length: {mend}") from None


def _from_npz(content: bytes) -> dict[str, Any]:
    name: str | None = None
    try:
        archive = np.load(io.BytesIO(content), allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise InputError("a single array, not a .npz: write it with numpy.savez")
        _check_names(archive.files)
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
    for name, value in fields.items():
        if not isinstance(value, np.ndarray):
            raise InputError(f"{name!r} is not an array: write the file with numpy.savez")
        allowed = {"task_types": "Uiu", "available": "biuf", "gain": "U"}.get(name, "iuf")
        if value.dtype.kind not in allowed:
            raise InputError(f"{name} is an array of {value.dtype}: {_FIELDS[name][1]}")
    return {name: str(value) if name == "gain" else value for name, value in fields.items()}


EXACT_ERROR = "exact error"
"""Gain of a problem whose tasks keep their errors by themselves."""
_BESIDE = ("task_types", "cost", "available", "least", "most")
"""What may stand beside a problem of several classes, or beside an exact error."""
_READERS: dict[str, Callable[[bytes], dict[str, Any]]] = {".json": _from_json, ".npz": _from_npz}


def _problem(
    fields: dict[str, Any], asked: str | None
) -> AssignmentProblem | TypedProblem | JointProblem | SelectionProblem:
    if "gains" in fields:
        return _selection_problem(fields, asked)
    if "confusion" in fields:
        return _joint_problem(fields, asked)
    if fields.get("gain") == EXACT_ERROR:
        return _error_problem(fields, asked)
    measure = _one_of(fields, "quality", "skill")
    level = _one_of(fields, "epsilon", "requirement")
    stated = fields.get("gain", "hoeffding")
    name = stated if asked is None else asked
    if name != stated and (measure, level) != ("skill", "epsilon"):
        raise InputError(
            f"{measure} and {level} are stated by the gain {stated!r}: give skill and epsilon, "
            f"from which those of {name!r} follow"
        )
    in_nats = (measure, level) == ("quality", "requirement") and name == "information"
    gain = gain_of("bhattacharyya" if in_nats else name)
    if "capacity" not in fields:
        raise InputError("capacity is missing: give one number, or one for each worker")
    types = fields.get("task_types")
    quality, cost, available = (
        _by_task(name, fields[name], types) if name in fields else None
        for name in (measure, "cost", "available")
    )
    assert quality is not None
    mend = f"give one number, or one for each task ({len(quality)})"
    need = checked(level, fields[level], quality.shape[:1], mend)
    if level == "epsilon":
        need = gain.requirement(need)
    if measure == "skill":
        quality = gain.quality(quality, need)
    if cost is not None and cost.ndim == 1:
        mend = "give one price for each worker, or a list of rows"
        cost = np.tile(checked("cost", cost, quality.shape[1:], mend), (len(quality), 1))
    capacity, limits = fields["capacity"], (fields.get("least"), fields.get("most"))
    if "tasks" in fields or "workers" in fields:
        if any(limit is not None for limit in limits):
            raise InputError("least and most: a problem by class has none, leave them out")
        for field, length in (("tasks", len(quality)), ("workers", quality.shape[1])):
            fields.setdefault(field, np.ones(length))
        counts = fields["tasks"], fields["workers"]
        return TypedProblem(quality, capacity, need, *counts, cost, available, gain=name)
    return AssignmentProblem(quality, capacity, need, cost, available, types, name, *limits)


def _selection_problem(fields: dict[str, Any], asked: str | None) -> SelectionProblem:
    """Whom to hire."""
    if asked is not None:
        raise InputError("gain: the gains are stated, leave it out")
    if "budget" not in fields:
        raise InputError("budget is missing: give the most workers to hire")
    other = set(fields) - {"gains", "budget", "costs", "money"}
    if other:
        raise InputError(f"{sorted(other)[0]}: has no meaning beside gains, leave it out")
    costs = fields.get("costs")
    if costs is not None:
        costs = np.broadcast_to(costs, np.shape(fields["gains"])) if np.ndim(costs) == 0 else costs
    money = fields.get("money")
    return SelectionProblem(
        fields["gains"], fields["budget"], costs, None if money is None else float(money)
    )


def _error_problem(fields: dict[str, Any], asked: str | None) -> AssignmentProblem:
    """Each task keeps its error by itself, not by a bound."""
    if asked not in (None, EXACT_ERROR):
        raise InputError(f"gain: is {EXACT_ERROR!r} in the file, which no other replaces")
    stated = {"skill", "epsilon", "capacity"}
    if not stated <= set(fields) or not set(fields) <= stated | {*_BESIDE, "gain"}:
        beside = ", ".join(_BESIDE)
        raise InputError(
            f"gain {EXACT_ERROR!r}: give skill, epsilon and capacity, and beside them only {beside}"
        )
    skill = _by_task("skill", fields["skill"], fields.get("task_types"))
    beside_it = _beside(fields, skill.shape)
    return error_problem(skill, fields["capacity"], fields["epsilon"], *beside_it)


def _joint_problem(fields: dict[str, Any], asked: str | None) -> JointProblem:
    """Labels of several classes, from confusion matrices by task type."""
    if asked is not None:
        raise InputError("gain: confusion matrices say what a label counts, leave it out")
    stated = {"confusion", "prior", "epsilon", "capacity", "task_types"}
    missing, other = stated - set(fields), set(fields) - stated - {*_BESIDE, "loss"}
    if missing:
        raise InputError(f"{sorted(missing)[0]} is missing: it stands beside confusion")
    if other:
        raise InputError(f"{sorted(other)[0]}: has no meaning beside confusion, leave it out")
    if not isinstance(fields["confusion"], dict):
        raise InputError("confusion: a .npz has none, give a .json")
    confusion, types = fields["confusion"], [str(kind) for kind in fields["task_types"].tolist()]
    gains = {}
    for kind in dict.fromkeys(types):
        if kind not in confusion:
            raise InputError(f"task_types has {_shown(kind)}, for which confusion has no matrices")
        try:
            matrices = np.array(confusion[kind], dtype=np.float64)
        except ValueError:
            raise InputError(f"confusion of {_shown(kind)} has rows of unequal length") from None
        gains[kind] = pair_gains(matrices)
    if len({gain.shape for gain in gains.values()}) != 1:
        raise InputError("confusion: give as many workers, and classes, for every task type")
    n, m = len(types), next(iter(gains.values())).shape[0]
    cost, available, _, least, most = _beside(fields, (n, m))
    mend = f"give one number, or one for each task ({n})"
    prior, scale = fields["prior"], 1.0
    if "loss" in fields:
        prior, scale = tilted(prior, fields["loss"])
    per_task = {
        "epsilon": checked("epsilon", fields["epsilon"] / scale, (n,), mend),
        "cost": cost,
        "available": available,
        "least": None if least is None else np.broadcast_to(least, n),
        "most": None if most is None else np.broadcast_to(most, n),
    }
    rows = {name: np.asarray(value) for name, value in per_task.items() if value is not None}
    keys = [(types[i], *(row[i].tobytes() for row in rows.values())) for i in range(n)]
    first = [i for i in range(n) if i == 0 or keys[i] != keys[i - 1]]
    return JointProblem(
        np.stack([gains[types[i]] for i in first]),
        pair_weights(prior),
        rows["epsilon"][first],
        np.diff([*first, n]),
        fields["capacity"],
        **{name: value[first] for name, value in rows.items() if name != "epsilon"},
        scale=scale,
    )


def _beside(fields: dict[str, Any], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Cost and available by pair, task types, least and most; None for none."""
    types = fields.get("task_types")
    cost, available = (
        _by_task(name, fields[name], types) if name in fields else None
        for name in ("cost", "available")
    )
    if cost is not None and cost.ndim == 1:
        mend = "give one price for each worker, or a list of rows"
        cost = np.tile(checked("cost", cost, shape[1:], mend), (shape[0], 1))
    for name, matrix in (("cost", cost), ("available", available)):
        if matrix is not None and matrix.shape != shape:
            raise InputError(f"{name} has shape {matrix.shape}: give a matrix {shape}")
    return cost, available, types, fields.get("least"), fields.get("most")


def _check_names(names: Any) -> None:
    for name in names:
        if name not in FIELDS:
            near = difflib.get_close_matches(str(name).lower(), FIELDS, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            raise InputError(f"key {_shown(name)} is unknown: {guess}use {', '.join(FIELDS)}")


def _one_of(fields: dict[str, Any], first: str, second: str) -> str:
    names = [name for name in (first, second) if name in fields]
    if not names:
        raise InputError(f"{first} is missing: give {first} or {second}")
    if len(names) == 2:
        raise InputError(f"{first} and {second} are both given: keep one of them")
    return names[0]


def _by_task(field: str, value: Any, types: NDArray[Any] | None) -> FloatArray:
    """A field by pair: an array as it is, rows by task type spread over the tasks."""
    if isinstance(value, np.ndarray):
        return value
    if types is None:
        raise InputError(
            f"{field} goes by task type, but task_types is missing: give the type of each task"
        )
    if len({len(row) for row in value.values()}) != 1:
        raise InputError(f"{field} has rows of unequal length, or none: {_FIELDS[field][1]}")
    for i, kind in enumerate(types.tolist()):
        if str(kind) not in value:
            raise InputError(
                f"task_types[{i}] is {_shown(kind)}, for which {field} has no row: "
                f"use {', '.join(map(_shown, list(value)[:8]))}, or add one"
            )
    width = len(next(iter(value.values())))
    return np.array([value[str(kind)] for kind in types.tolist()]).reshape(-1, width)


def _shown(value: Any) -> str:
    text = repr(str(value))
    return text if len(text) <= 40 else f"{text[:38]}…{text[-1]}"
