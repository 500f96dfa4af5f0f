"""Classes that a user defines in a notebook's cell or a script, for other processes to load.

A worker process has no notebook. So the imports, functions, classes and constants of the cell (or
script) become a file of their own, which is loaded as `--plugin FILE` is: what else the cell does,
as to run a study, stays out. The file's digest is in the record of each trial that it made.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import re
import tempfile
import warnings
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench.base import registry
from workbench.base.registry import Entry, Plugin, Registry
from workbench.base.writing import write_whole

_trying: list[str] = []
"""Names whose cell is being tried: what registers meanwhile does not count."""


def register_here(family: Registry[Any], entry: Entry[Any]) -> None:
    """Register what is being defined; in a cell that is run again it takes its own place.

    Parameters
    ----------
    family
        Where it belongs.
    entry
        What it is; `entry.call` is a class.

    Raises
    ------
    InputError
        Another has the name.
    """
    if _trying:
        return
    if registry.is_loading():  # a file of its own, or an installed package
        family.register(entry)
        return
    place = _folder() / f"{re.sub(r'[^a-z0-9]+', '-', entry.name.lower()).strip('-')}.py"
    registry.forget(place)
    family.register(entry)
    code = _definitions(entry.call).encode()
    why = _stands_alone(entry.name, code)
    if why:
        warnings.warn(
            f"{family.family} {entry.name!r} is known in this process alone ({why}); to run it in "
            "others, put the imports that it needs into its cell, or save it in a file",
            stacklevel=3,
        )
        code = b""
    plugin = None
    if code:
        write_whole(place, code)
        digest = hashlib.sha256(code).hexdigest()
        plugin = Plugin(place, digest, ModuleType(f"workbench_plugin_{digest[:12]}"))
    registry.remember(place, plugin, [(family, entry.name)])


@cache
def _folder() -> Path:
    """A folder of this process."""
    return Path(tempfile.mkdtemp(prefix="workbench-cells-")).resolve()


def _definitions(kind: type) -> str:
    """What the source of a class imports and defines; "" where there is no source."""
    codes = (getattr(value, "__code__", None) for value in vars(kind).values())
    files = [code.co_filename for code in codes if code is not None]
    lines = linecache.getlines(files[0]) if files else []
    if not lines:
        try:
            lines = inspect.getsource(kind).splitlines(keepends=True)
        except (OSError, TypeError):
            return ""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:  # a cell with magic commands
        tree = ast.parse(
            "".join(line for line in lines if not line.lstrip().startswith(("%", "!")))
        )
    tree.body = [node for node in tree.body if _defines(node)]
    return ast.unparse(tree) + "\n"


def _defines(node: ast.stmt) -> bool:
    """Whether a statement imports, defines or names a constant, and does nothing else."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return node.value is not None and not any(
            isinstance(part, ast.Call | ast.Await) for part in ast.walk(node.value)
        )
    kinds = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    return isinstance(node, kinds)


def _stands_alone(name: str, code: bytes) -> str:
    """Say why a file cannot be loaded by itself; "" where it can."""
    if not code.strip():
        return "its source is not known"
    _trying.append(name)
    try:
        exec(compile(code, name, "exec"), ModuleType(name).__dict__)
    except Exception as error:
        return registry.in_one_line(error)
    finally:
        _trying.pop()
    return ""
