"""Saved services: one file format, checked against a declared schema when it is read.

    {"schema": 1, "service": "ls-ol", "version": 1, "revision": 3, "state": {...}}

A service declares its state as a `State`: types and ranges field by field, and in
`__post_init__` what fields must have in common. `Saveable.save` writes a file whole, `load` gives
the service back or says in one line what is wrong with the file, and where. Names stand in the file
as values, never as keys: in JSON every key is text, and 7 would come back as "7".

Each save of a file counts one `revision` more, and none is made over one that it does not know of.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar

import msgspec
import numpy as np
import pandas as pd
from msgspec import Meta

from workbench.base.arrays import Names
from workbench.base.errors import InputError
from workbench.base.writing import locked, read_whole, resolved, write_whole

SCHEMA = 1
"""Of the frame around the state; each service counts the versions of its own."""
MEND = "the file was changed or damaged; take a whole copy, or start anew"

Id: TypeAlias = str | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""Name of a task, a worker or a type: 7 and "7" are two."""
Label: TypeAlias = Id | bool
"""Name of a class."""
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Uniform: TypeAlias = Annotated[float, Meta(ge=0, lt=1)]


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """State of a service, or a part of it.

    What is saved by itself sets `service` and `version`.
    """

    service: ClassVar[str]
    version: ClassVar[int]


S = TypeVar("S", bound=State)


class _Words(State, frozen=True):
    """The two numbers of 128 bits that PCG64 is made of."""

    state: int
    inc: int

    def __post_init__(self) -> None:
        check(0 <= self.state < 2**128, "state is no number of 128 bits")
        check(0 <= self.inc < 2**128 and self.inc % 2 == 1, "inc is no odd number of 128 bits")


class RandomState(State, frozen=True):
    """State of a PCG64 generator, to the last bit."""

    bit_generator: Literal["PCG64"]
    state: _Words
    has_uint32: Literal[0, 1]
    uinteger: Annotated[int, Meta(ge=0, lt=2**32)]

    @classmethod
    def of(cls, rng: np.random.Generator) -> RandomState:
        """Look at a generator.

        Raises
        ------
        InputError
            It is not a PCG64, and so could not be saved.
        """
        if not isinstance(rng.bit_generator, np.random.PCG64):
            raise InputError("seed is a generator other than PCG64: give a PCG64, or an integer")
        return msgspec.convert(rng.bit_generator.state, cls)

    def generator(self) -> np.random.Generator:
        """Make a generator that draws what the other would have drawn."""
        bits = np.random.PCG64(0)
        bits.state = msgspec.to_builtins(self)
        return np.random.Generator(bits)


def identifier(what: str, value: Any) -> Id:
    """Check a name: a text or a whole number, given back as it is.

    Raises
    ------
    InputError
        Anything else, a number beyond 64 bits, or text that no file can hold.
    """
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InputError(f"{what} is {value!a:.80}: no Unicode text, mend the name") from None
        return str(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if -(2**63) <= value < 2**63:
            return int(value)
        raise InputError(f"{what} is a number beyond 64 bits: give its digits as text")
    shown = f"{value!r:.80}".replace("\n", " ")
    raise InputError(f"{what} is {shown}: give a text or a whole number")


def label_name(task: Id, value: Any) -> Label:
    """Check the label of a gold task: a name, or true or false."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return identifier(f"label of gold task {task!r}", value)


def name_places(name: str, ids: Iterable[Any], what: str = "task") -> dict[Id, int]:
    """Give the place of each name.

    Raises
    ------
    InputError
        A name is no `identifier`, or there twice.
    """
    places: dict[Id, int] = {}
    for place, value in enumerate(ids):
        key = identifier(f"{name}: {what} {place}", value)
        if key in places:
            raise InputError(f"{name} has {what} {key!r} twice: keep one")
        places[key] = place
    return places


def distinct(values: Iterable[Any]) -> list[Any]:
    """Each once, in order; texts after numbers."""
    return sorted(set(values), key=lambda value: (isinstance(value, str), value))


def find(mapping: Mapping[Any, Any], key: Any) -> Any:
    """Look up what a user gave, which may be anything; None where it is not there."""
    try:
        return mapping.get(key)
    except TypeError:
        return None


def name_array(values: Iterable[Any]) -> Names:
    """Names as an array, each of its own type."""
    names: Names = pd.Index(list(values)).to_numpy()
    return names


def check(holds: object, wrong: str) -> None:
    """Raise `InputError` unless something holds."""
    if not holds:
        raise InputError(wrong)


class Saveable(Generic[S]):
    """A service that is saved to a file and goes on from it, to the last bit as without the break.

    Its class says of what kind its state is, as `state_type`; `state` and `restore` are its own.
    """

    state_type: ClassVar[type[State]]
    _revisions: dict[Path, int]
    """Last revision of each file, followed to its end, that was read or written here."""

    def state(self) -> S:
        """Everything needed to go on later."""
        raise NotImplementedError

    @classmethod
    def restore(cls, saved: S) -> Self:
        """Take up a `state`; what follows is the same, to the last bit, as without the break.

        Raises
        ------
        InputError
            Parts of the state contradict each other.
        """
        raise NotImplementedError

    def save(self, path: str | Path, *, new: bool = False) -> None:
        """Write the state to a JSON file, whole or not at all.

        Parameters
        ----------
        new
            Whether there must be no such file yet.

        Raises
        ------
        InputError
            The file was saved by another since this service read or wrote it, or another is
            writing to it; or the state is one that no file can hold.
        OSError
            It cannot be written; what stood there before stays.
        """
        with locked(path):
            if new and Path(path).exists():
                raise InputError(f"{path}: there is one already; take another file, or delete it")
            self._replace(path)

    def _replace(self, path: str | Path) -> None:
        """Write the state, the file being locked."""
        state, file = self.state(), resolved(path)
        there, own = _revision(file), self._last(file)
        if there > own:
            raise InputError(
                f"{path}: was saved by another since (revision {there}, and {own} is known here): "
                "load it and go on from there, or save under another name"
            )
        frame = {
            "schema": SCHEMA,
            "service": state.service,
            "version": state.version,
            "revision": own + 1,
            "state": msgspec.Raw(encoded(state)),
        }
        # Counted first: Ctrl-C is heard when the file is written.
        self._revisions[file] = own + 1
        try:
            write_whole(file, msgspec.json.encode(frame))
        except OSError:
            self._revisions[file] = own
            raise

    def _last(self, file: Path) -> int:
        """Revision of a file that was read or written last; of another file's if it is new here."""
        revisions = self.__dict__.setdefault("_revisions", {})
        return int(revisions.get(file, max(revisions.values(), default=0)))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote; it goes on exactly where it was.

        Raises
        ------
        InputError
            No such file; not one of this service and version; or it does not hold what was saved.
            One line that names the file and the field.
        """
        state, revision = read_state(path, cls.state_type)
        try:
            service = cls.restore(state)  # type: ignore[arg-type]
        except InputError as wrong:
            raise _damaged(path, cls.state_type, str(wrong)) from None
        service._revisions = {resolved(path): revision}
        return service

    @classmethod
    @contextlib.contextmanager
    def changing(cls, path: str | Path) -> Iterator[Self]:
        """Load a file, let the block change the service, and save it; nobody else does meanwhile.

            with Collector.changing("state.json") as collector:
                collector.tell("ann", {"t1": "cat"})

        Raises
        ------
        InputError, OSError
            As for `load` and `save`, and nothing is written; as when the block raises.
        """
        if not Path(path).exists():
            raise _missing(path, cls.state_type)
        with locked(path):
            service = cls.load(path)
            yield service
            service._replace(path)


def encoded(state: State) -> bytes:
    """Write a state as JSON; constructors call it as well, to refuse what no file can hold.

    Raises
    ------
    InputError
        It could not be read again: a number is out of the range of its field, or not finite.
    """
    values = msgspec.to_builtins(state, enc_hook=bare)
    try:
        msgspec.convert(values, type(state))
        # Not by msgspec, which writes NaN as null and no numbers of 128 bits.
        text = json.dumps(values, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        return text.encode()
    except msgspec.ValidationError as wrong:
        reason, _, place = str(wrong).replace("`", "").partition(" - at $.")
        value = f" is {values[place]!r:.60}," if place in values else ""
        reason = f"{place or 'state'}{value} and could not be saved: {_lower(reason)}"
    except UnicodeEncodeError as wrong:
        reason = f"a text could not be saved, {wrong.object!a:.60}: mend it"
    except ValueError:
        reason = f"{_infinite(values)}: give a finite number"
    raise InputError(reason)


def bare(value: Any) -> Any:
    """Write NumPy's numbers as Python's."""
    if isinstance(value, np.generic) and not isinstance(value.item(), (np.generic, complex)):
        return value.item()
    raise InputError(f"{value!r:.60} could not be saved: give a number, a text or a list")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _infinite(values: Any, at: str = "") -> str:
    """Name the first number that JSON does not have."""
    if isinstance(values, float) and not math.isfinite(values):
        return f"{at} is {values}"
    if isinstance(values, dict):
        parts = [(f"{at}.{key}".lstrip("."), value) for key, value in values.items()]
    elif isinstance(values, (list, tuple)):
        parts = [(f"{at}[{k}]", value) for k, value in enumerate(values)]
    else:
        return ""
    return next(filter(None, (_infinite(value, place) for place, value in parts)), "")


def _missing(path: str | Path, kind: type[State]) -> InputError:
    return InputError(f"{path}: no such file; save a {kind.service} there first")


def _damaged(path: str | Path, kind: type[State], wrong: str) -> InputError:
    return InputError(f"{path}: not a saved {kind.service}, {wrong:.300}: {MEND}")


class _Frame(msgspec.Struct):
    schema: Any = None
    service: Any = None
    version: Any = None
    revision: Any = 0
    state: msgspec.Raw = msgspec.Raw(b"null")


def _revision(file: Path) -> int:
    """Count the saves of a file; 0 of one that is not there, or is no saved service."""
    try:
        revision = msgspec.json.decode(read_whole(file), type=_Frame).revision
    except (OSError, msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return 0
    return revision if type(revision) is int and 0 <= revision < 2**53 else 0


def read_state(path: str | Path, kind: type[S]) -> tuple[S, int]:
    """Read a state from a file that `Saveable.save` wrote, and the file's revision.

    Raises
    ------
    InputError
        As for `Saveable.load`.
    """
    try:
        data = read_whole(Path(path))
    except FileNotFoundError:
        raise _missing(path, kind) from None
    except (OSError, ValueError) as wrong:
        raise InputError(f"{path!r:.300}: cannot be read, {wrong!s:.300}") from None
    try:
        frame = msgspec.json.decode(data, type=_Frame)
        for name, expected in (
            ("schema", SCHEMA),
            ("service", kind.service),
            ("version", kind.version),
        ):
            value = getattr(frame, name)
            if type(value) is not type(expected) or value != expected:
                raise InputError(
                    f"{path}: not a {kind.service} of this workbench, {name} is {value!r:.80} and "
                    f"not {expected!r}: go on with the workbench that saved it, or start anew"
                )
        revision = frame.revision
        if type(revision) is not int or not 0 <= revision < 2**53:
            raise _damaged(path, kind, f"revision is {revision!r:.80}")
        state = msgspec.json.decode(frame.state, type=kind)
        # Types with defaults pass over fields that are missing or unknown.
        strange = _unlike(msgspec.json.decode(frame.state), state)
    except InputError:
        raise
    except RecursionError:
        strange = "nested too deep"
    except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
        strange = " ".join(str(wrong).replace("`", "").split())
        if " - at $" in strange:
            message, _, place = strange.rpartition(" - at $")
            strange = f"state{place}: {message}"
    if strange:
        raise _damaged(path, kind, strange)
    return state, revision


def _unlike(raw: Any, taken: Any, at: str = "state") -> str:
    """Name the first place where a file has other fields than what was read from it."""
    if isinstance(raw, dict):
        names = getattr(taken, "__struct_fields__", getattr(taken, "__dataclass_fields__", taken))
        if raw.keys() != set(names):
            key = min(raw.keys() ^ set(names))
            return f"{at}.{key}: {'unknown' if key in raw else 'missing'} field"
        get = dict.get if isinstance(taken, dict) else getattr
        parts = [(f"{at}.{key}", raw[key], get(taken, key)) for key in raw]
    elif isinstance(raw, list) and raw and isinstance(raw[0], (dict, list)):
        parts = [(f"{at}[{k}]", *pair) for k, pair in enumerate(zip(raw, taken, strict=True))]
    else:
        return ""
    return next(filter(None, (_unlike(x, y, place) for place, x, y in parts)), "")
