"""Pages of the API reference, a room each, written from docstrings before Sphinx reads them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

ROOMS = (
    "crowd_models",
    "workbench.crowd",
    "workbench.solving",
    "workbench.aggregation",
    "workbench.accuracy",
    "workbench.assignment",
    "workbench.selection",
    "workbench.learning",
    "workbench.auditing",
    "workbench.collection",
    "workbench.comparison",
    "workbench.studies",
)
LEFT_OUT = ("workbench.studies.executors",)
"""Named on pages of their own, or for nobody to call."""


def write_rooms(folder: Path) -> None:
    """Write a page a room: its docstring, then each module's, and all that is public in it."""
    folder.mkdir(exist_ok=True)
    for room in ROOMS:
        parts = [f"---\ntocdepth: 2\n---\n# `{room}`", marked(importlib.import_module(room))]
        for module in modules(room):
            parts += [f"## `{module.__name__.removeprefix('workbench.')}`", marked(module)]
            for name, thing in public(module):
                parts += [f"### `{name}`", f"`{name}{signature(thing)}`", marked(thing)]
                methods = [f"- `.{part}`: {line}" for part, line in members(thing)]
                parts += ["\n".join(methods)]
        (folder / f"{room}.md").write_text("\n\n".join(parts), "utf-8")


def modules(room: str) -> Iterator[Any]:
    """The public modules of a room that hold something public."""
    for _, name, _ in pkgutil.walk_packages(importlib.import_module(room).__path__, f"{room}."):
        if "._" not in name and not name.startswith(LEFT_OUT):
            module = importlib.import_module(name)
            if next(public(module), None):
                yield module


def public(module: Any) -> Iterator[tuple[str, Any]]:
    """Functions and classes of a module, in the order of its file."""
    for name, thing in vars(module).items():
        own = (inspect.isfunction(thing) or inspect.isclass(thing)) and thing.__doc__
        if own and not name.startswith("_") and thing.__module__ == module.__name__:
            yield name, thing


def signature(thing: Any) -> str:
    """Parameters and their defaults, without types."""
    if inspect.isclass(thing) and issubclass(thing, Enum | Exception):
        return ""
    given = inspect.signature(thing).parameters.values()
    bare = [one.replace(annotation=one.empty) for one in given]
    shown = str(inspect.Signature(bare))
    return re.sub(r" at 0x\w+|<factory>", "…", shown)


def members(thing: Any) -> Iterator[tuple[str, str]]:
    """Public methods and properties of a class, and what each says first."""
    for name, part in vars(thing).items() if inspect.isclass(thing) else ():
        text = inspect.getdoc(part) if not name.startswith("_") else None
        if text and (callable(part) or hasattr(part, "__get__")):
            yield name, text.partition("\n\n")[0].replace("\n", " ")


def marked(thing: Any) -> str:
    """A docstring in NumPy style, as Markdown: sections in bold, what they list as definitions."""
    text = re.sub(r"\$|<(?=[\w/!])", r"\\\g<0>", inspect.getdoc(thing) or "")
    text = re.sub(r"^((?:>>>|\.\.\.) .*(?:\n(?!\n).*)*)", r"```pycon\n\1\n```", text, flags=re.M)
    head, *sections = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.M)
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        listed = body
        if "```" not in body:
            listed = re.sub(r"^(\S.*)\n((?: +.*\n?|\n)+)", _definition, body, flags=re.M)
        head += f"\n**{title}**\n\n{listed}\n"
    return head


def _definition(found: re.Match[str]) -> str:
    about = inspect.cleandoc(found[2]).replace("\n", "\n  ")
    return f"`{found[1].strip()}`\n: {about}\n\n"
