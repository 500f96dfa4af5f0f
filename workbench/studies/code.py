"""What code a trial runs: a digest of it, so that a record tells whether it is of today's.

Taken is what the trial's function names in its own file and in those beside it, name by name, and
each module of the workbench that this code imports, whole, with what that imports in turn. Of all
this the syntax trees count, docstrings left out: a comment, a sentence in a docstring, a line that
is broken elsewhere or an analysis that changes is no other trial. Libraries stand in the record's
environment by their versions.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import crowd_models
import workbench
from workbench.studies.source import Source

ROOTS = {
    "workbench": Path(workbench.__file__).parent,
    "crowd_models": Path(crowd_models.__file__).parent,
}
BY_NAME = "workbench.papers"
"""Package of whose modules only what is named counts: trials and analyses stand side by side."""
UNKNOWN = ""
"""In records of release 1.0 and before."""


class Place(NamedTuple):
    """A name in a module; the whole module where it is empty."""

    module: str
    name: str = ""


@functools.cache
def code_digest(source: Source) -> str:
    """Digest of the code that a study's trials run.

    Parameters
    ----------
    source
        Where the study's code is.

    Returns
    -------
    SHA-256, 64 hexadecimal digits.

    Raises
    ------
    InputError
        The study cannot be loaded.
    """
    trial = inspect.unwrap(source.load().trial)
    files = {trial.__module__: Path(inspect.getfile(trial))}
    parts: dict[Place, str] = {}
    waiting = [Place(trial.__module__, trial.__name__)]
    while waiting:
        place = waiting.pop()
        if place in parts or Place(place.module) in parts:
            continue
        path = files.get(place.module) or _path(place.module)
        if path is None:
            continue
        own = place.module in files or place.module.startswith(f"{BY_NAME}.")
        if not own:
            place = Place(place.module)
        module = _module(place.module, path)
        nodes = module.of(place.name) if place.name else module.tree.body
        parts[place] = hashlib.sha256("\n".join(map(_dumped, nodes)).encode()).hexdigest()
        waiting += [use for node in nodes for use in module.used(node, by_name=own)]
        if not own:
            waiting += module.registered()
    # A plugin's module is called after its bytes, comments included.
    names = {place: "own" if place.module in files else place.module for place in parts}
    listing = "".join(
        f"{names[place]}:{place.name} {parts[place]}\n"
        for place in sorted(parts, key=lambda place: (names[place], place.name))
    )
    return hashlib.sha256(listing.encode()).hexdigest()


class _Module:
    """A module's syntax tree, and what its names are bound to."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self.tree = _without_docstrings(ast.parse(path.read_text(encoding="utf-8")))
        self.bound: dict[str, list[ast.stmt]] = {}
        for node in self.tree.body:
            for bound in _bound(node):
                self.bound.setdefault(bound, []).append(node)

    def of(self, name: str) -> list[ast.stmt]:
        """Top-level statements that bind a name."""
        return self.bound.get(name, [])

    def used(self, node: ast.stmt, *, by_name: bool) -> Iterator[Place]:
        """What a statement uses: names of this module, and what it imports."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and by_name and part.id in self.bound:
                yield Place(self.name, part.id)
            elif isinstance(part, ast.Import):
                for alias in part.names:
                    yield from _parents(alias.name)
            elif isinstance(part, ast.ImportFrom) and part.module and not part.level:
                for alias in part.names:
                    yield from _imported(part.module, alias.name)

    def registered(self) -> list[Place]:
        """Modules beside a package that imports them by name, when they are asked for."""
        if self.path.name != "__init__.py":
            return []
        late = any(
            isinstance(node, ast.Name) and node.id == "imported" for node in ast.walk(self.tree)
        )
        beside = sorted(self.path.parent.glob("*.py")) if late else []
        return [Place(f"{self.name}.{path.stem}") for path in beside if path.stem != "__init__"]


@functools.cache
def _module(name: str, path: Path) -> _Module:
    return _Module(name, path)


def _imported(module: str, name: str) -> Iterator[Place]:
    """Where `from module import name` leads."""
    if _path(f"{module}.{name}") is not None:
        yield from _parents(f"{module}.{name}")
    else:
        yield from _parents(module)
        if module.startswith(f"{BY_NAME}."):
            yield Place(module, name)


def _parents(module: str) -> Iterator[Place]:
    """A module and the packages that it lies in, whose code is run first."""
    if not module.startswith(f"{BY_NAME}."):
        yield Place(module)
    while "." in module:
        module = module.rpartition(".")[0]
        if module != "workbench":  # the front door: names, and a version that rises by itself
            yield Place(module)


def _path(module: str) -> Path | None:
    """File of a module of the workbench; None for any other."""
    top, _, rest = module.partition(".")
    if top not in ROOTS:
        return None
    base = ROOTS[top].joinpath(*rest.split(".")) if rest else ROOTS[top]
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _bound(node: ast.stmt) -> Iterator[str]:
    """Names that a top-level statement binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield (alias.asname or alias.name).partition(".")[0]
    else:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id


class _Bare(ast.NodeTransformer):
    """Leaves out docstrings, of attributes too, and what is imported for type checking alone."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            statements = [
                part
                for part in body
                if not (
                    isinstance(part, ast.Expr)
                    and isinstance(part.value, ast.Constant)
                    and isinstance(part.value.value, str)
                )
            ]
            node.body = statements or [ast.Pass()]  # type: ignore[attr-defined]
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return ast.Pass()
        return self.generic_visit(node)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    bare: ast.Module = _Bare().visit(tree)
    return bare


def _dumped(node: object) -> str:
    """Write a tree without what is empty: later Pythons have fields that earlier ones lack."""
    if isinstance(node, ast.AST):
        fields = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
        inside = ", ".join(f"{name}={_dumped(value)}" for name, value in fields)
        return f"{type(node).__name__}({inside})"
    if isinstance(node, list):
        return f"[{', '.join(map(_dumped, node))}]"
    return repr(node)
