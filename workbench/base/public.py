"""The public names of a package, as its stub lists them, each imported when it is asked for.

    # __init__.py
    __getattr__, __dir__, __all__ = attach(__name__, __file__)

    # __init__.pyi
    from workbench.aggregation.voting import majority as majority

The stub is the one list: type checkers, this door, the reference page and the tests read it
(Scientific Python, SPEC 1, has the same by the package lazy_loader). A public name is never that of
a module of the package as well: which of the two one met would hang on what was imported before.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make `__getattr__`, `__dir__` and `__all__` of a package by the stub beside its file.

    Raises
    ------
    AttributeError
        By `__getattr__`: the stub has no such name.
    """
    places = listed(Path(file).with_suffix(".pyi"))
    names = sorted(places)

    def getattr_(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = places[name]
        if module == package:  # a module of its own
            return import_module(f"{package}.{name}")
        return getattr(import_module(module), name)

    return getattr_, lambda: names, names


def listed(stub: Path) -> dict[str, str]:
    """Give the module of each name that a stub imports for others."""
    return {
        alias.asname: node.module
        for node in ast.parse(stub.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if alias.asname
    }
