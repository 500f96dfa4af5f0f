"""What code of the workbench a page's figures hang on: a digest of it, name by name.

Taken is what the trial's function names in its own file, and what this names in its turn there and
in the modules of the workbench that it imports, name by name; and of every module that is imported
on the way the statements that bind no name, for they may change what others do. What a registry
imports when an entry is looked up counts where the registry is named; all modules of its package
where it does not write out which. Where a module itself is passed on, or a name cannot be followed,
the whole module counts. Of all this the syntax trees count, docstrings left out: a comment, a
sentence in a docstring, a line that is broken elsewhere or an analysis that changes is no other
trial. Libraries stand in the record's environment by their versions.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import crowd_models
import workbench
from workbench.studies.source import Source
from workbench.studies.syntax import BINDING, DEFINITIONS, bare, bound, dumped, hashed, single

ROOTS = {
    "workbench": Path(workbench.__file__).parent,
    "crowd_models": Path(crowd_models.__file__).parent,
}
LATE = "imported"
"""What a registry calls for an entry whose module is imported when it is looked up."""
WHOLE = "*"
UNBOUND = ""
UNKNOWN = ""
"""In records of release 1.0 and before."""


class Place(NamedTuple):
    """A name in a module, all of them (`WHOLE`), or the statements that bind none (`UNBOUND`)."""

    module: str
    name: str


AT_THE_DOOR = {Place("workbench", name) for name in (WHOLE, UNBOUND, "__version__", "__file__")}
"""The front door has names of others, a version that rises by itself, and a place."""


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
    return _digest(places(source), source.load().trial.__module__)


def digest_of_text(text: str, whole: Iterable[str] = ()) -> str:
    """Digest of code that is kept elsewhere, as in a notebook, and of all that it uses.

    Parameters
    ----------
    whole
        Names of modules that count besides, all of them; of a package its modules too.
    """
    own = _Module("", ast.parse(text))
    modules = [name for start in whole for name in (start, *_inside(start))]
    starts = [Place(name, WHOLE) for name in ("", *modules)]
    return _digest(_followed(starts, {"": own}), "")


def places(source: Source) -> dict[Place, str]:
    """Give the code that a study's trials run: its syntax trees, written out, by place.

    Raises
    ------
    InputError
        The study cannot be loaded.
    """
    trial = inspect.unwrap(source.load().trial)
    own = _module(trial.__module__, Path(inspect.getfile(trial)))
    return _followed([Place(own.name, trial.__name__)], {own.name: own})


def _followed(waiting: list[Place], own: Mapping[str, _Module]) -> dict[Place, str]:
    """Follow names from some places on, in modules that are given and in the workbench's."""
    parts: dict[Place, str] = {}
    while waiting:
        place = waiting.pop()
        module = own.get(place.module) or _known(place.module)
        if place in parts or module is None or place in AT_THE_DOOR:
            continue
        nodes = module.of(place.name)
        parts[place] = "\n".join(map(dumped, nodes))
        waiting += [use for node in nodes for use in module.used(node)]
        if place.name == UNBOUND:
            waiting += [Place(name, UNBOUND) for name in module.imports()]
        else:
            waiting += [Place(name, UNBOUND) for name in (place.module, *_above(place.module))]
    return parts


def _digest(parts: Mapping[Place, str], own: str) -> str:
    """Digest of code by place; a plugin's module is called after its bytes, comments included."""
    listing = sorted(
        f"{'own' if place.module == own else place.module}:{place.name} {hashed(text)}\n"
        for place, text in parts.items()
        if text
    )
    return hashed("".join(listing))


class _Module:
    """A module's syntax tree, and what its names are bound to."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self.name = name
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        self.tree = bare(tree)
        self.bound: dict[str, list[ast.stmt]] = {}
        self.unbound: list[ast.stmt] = []
        for statement in self.tree.body:
            for node in single(statement):
                names = [*bound(node)]
                for one in names:
                    self.bound.setdefault(one, []).append(node)
                if not isinstance(node, ast.Pass) and not (names and isinstance(node, BINDING)):
                    self.unbound.append(node)
        self.modules = dict(_modules(self.tree))
        if "__getattr__" in self.bound:  # the names that it gives are imported for type checking
            for node in (part for statement in imports for part in single(statement)):
                self.bound.update({name: [node] for name in bound(node) if name not in self.bound})

    def of(self, name: str) -> list[ast.stmt]:
        """Top-level statements that bind a name; all where it cannot be told."""
        if name == UNBOUND:
            return self.unbound
        return self.tree.body if name == WHOLE else self.bound.get(name, self.tree.body)

    def imports(self) -> Iterator[str]:
        """Modules of the workbench that are imported at the top, and the packages they lie in."""
        for node in self.tree.body:
            for part in ast.walk(node) if not isinstance(node, DEFINITIONS) else []:
                for name in _targets(part):
                    yield from (name, *_above(name))

    def used(self, node: ast.AST) -> Iterator[Place]:
        """What a statement uses: names of this module, and what it imports."""
        if isinstance(node, ast.Attribute) and (module := self._module_of(node.value)):
            yield from _taken(module, node.attr)
            return
        if isinstance(node, ast.Call) and (place := _looked_up(node)):
            yield place
            return
        if isinstance(node, ast.Name):
            if node.id in self.modules:
                yield from _taken(self.modules[node.id], WHOLE)
            elif node.id in self.bound:
                yield Place(self.name, node.id)
            if node.id == LATE:
                yield from (Place(name, WHOLE) for name in _inside(self.name))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if _path(f"{node.module}.{alias.name}") is None:
                    yield from _taken(node.module, alias.name)
        for part in ast.iter_child_nodes(node):
            yield from self.used(part)

    def _module_of(self, node: ast.expr) -> str | None:
        """Module that an expression, `workbench.crowd.tables` or a name of it, stands for."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id)
        if isinstance(node, ast.Attribute) and (module := self._module_of(node.value)):
            inner = f"{module}.{node.attr}"
            return inner if _path(inner) is not None else None
        return None


@functools.cache
def _module(name: str, path: Path) -> _Module:
    return _Module(name, ast.parse(path.read_text(encoding="utf-8")))


def _known(name: str) -> _Module | None:
    path = _path(name)
    return None if path is None else _module(name, path)


def _taken(module: str, name: str) -> Iterator[Place]:
    """What a name of a module leads to: that name, or a module in it."""
    if _path(f"{module}.{name}") is not None:
        yield Place(f"{module}.{name}", WHOLE)
    else:
        yield Place(module, name)


def _looked_up(node: ast.Call) -> Place | None:
    """Where `imported("module:name")` leads; None where the module is not written out."""
    if not (isinstance(node.func, ast.Name) and node.func.id == LATE and len(node.args) == 1):
        return None
    where = node.args[0]
    parts = where.values if isinstance(where, ast.JoinedStr) else [where]
    first = parts[0] if parts else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return None
    module, colon, name = first.value.partition(":")
    return Place(module, name if len(parts) == 1 else WHOLE) if colon else None


def _targets(node: ast.AST) -> list[str]:
    """Modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        inside = [f"{node.module}.{alias.name}" for alias in node.names]
        return [node.module, *(name for name in inside if _path(name) is not None)]
    return []


def _modules(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that stand for modules of the workbench, and these."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                if _path(name) is not None:
                    yield alias.asname or name, name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if _path(f"{node.module}.{alias.name}") is not None:
                    yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _above(module: str) -> list[str]:
    """Packages that a module lies in, whose code is run first."""
    parts = module.split(".")
    return [".".join(parts[:last]) for last in range(1, len(parts))]


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


def _inside(module: str) -> list[str]:
    """Modules of a package, which it may import by name when they are asked for."""
    path = _path(module)
    if path is None or path.name != "__init__.py":
        return []
    files = (one.relative_to(path.parent).with_suffix("") for one in path.parent.rglob("*.py"))
    inside = (".".join((module, *file.parts)).removesuffix(".__init__") for file in files)
    return sorted(name for name in inside if name != module)
