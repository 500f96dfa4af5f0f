"""The reference: what is public, written from the stubs `__init__.pyi` before Sphinx reads it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = (
    "crowd_models",
    *(f"workbench.{path.parent.name}" for path in sorted((ROOT / "workbench").glob("*/*.pyi"))),
)


def write_names(folder: Path) -> None:
    """Write the page of the front door, and that of the rooms behind it."""
    door = ["# `import workbench as wb`", *_door()]
    (folder / "front-door.md").write_text("\n\n".join(door), "utf-8")
    rooms = ["# For plugins and studies", ABOUT, *_rooms()]
    (folder / "rooms.md").write_text("\n\n".join(rooms), "utf-8")


ABOUT = (
    "What each room offers to code outside the workbench, as "
    "`from workbench.aggregation import majority`. Whatever is not listed may change at any time."
)


def sections(stub: str) -> Iterator[tuple[str, list[str]]]:
    """Give the headings of the front door's stub, its comments, and the names below each."""
    for part in re.split(r"^# (?!ruff)", stub, flags=re.MULTILINE)[1:]:
        yield part.splitlines()[0], re.findall(r"import \w+ as (\w+)", part)


def _door() -> Iterator[str]:
    import workbench

    for title, names in sections((ROOT / "workbench/__init__.pyi").read_text("utf-8")):
        things = [(name, getattr(workbench, name)) for name in names]
        yield f"## {title}"
        yield _table(things, "wb.")
        yield "```{eval-rst}\n.. currentmodule:: workbench"
        for name, thing in things:
            members = "\n   :members:" if name in ("Collector", "Auditor") else ""
            yield f".. auto{_kind(thing)}:: {name}{members}"
        yield "```"


def _rooms() -> Iterator[str]:
    for room in ROOMS:
        module = import_module(room)
        yield f"## `{room}`"
        yield (module.__doc__ or "").splitlines()[0]
        yield _table([(name, getattr(module, name)) for name in module.__all__])


def _kind(thing: object) -> str:
    if isinstance(thing, type):
        return "exception" if issubclass(thing, Exception) else "class"
    return "function"


def _table(things: list[tuple[str, object]], before: str = "") -> str:
    rows = [f"| `{before}{name}` | {_line(thing)} |" for name, thing in things]
    return "\n".join(["| name | what it is |", "|---|---|", *rows])


def _line(thing: object) -> str:
    """First line of a docstring; of a value, which has none of its own, its type."""
    own = inspect.isroutine(thing) or isinstance(thing, type) or inspect.ismodule(thing)
    line = (inspect.getdoc(thing) or "").split("\n")[0] if own else f"`{type(thing).__name__}`"
    return re.sub(r"([<>*|])", r"\\\1", line)
