"""What a study's trials come from beside the workbench: its file, plugins, and local modules.

A record keeps a digest of each, and where one is another today the trial is run anew. Local modules
are those that these files import, and that such modules import in their turn, wherever Python finds
them but among its own, installed packages and the workbench. Of a study that an installed package
brings along, the file of its trial counts, and the modules of that package. Of each file the syntax
tree counts, so that a comment or a docstring is no other code.

Of a file that defines `STUDY` all counts but what only the study's description, its analysis and
its claims name: to mend an analysis is no other trial. What may act when the file is loaded, as a
decorator, a class or an import of a local module, counts always. Where no name of the file stands
for the trial, or it looks names up itself, the whole file counts.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Literal

import crowd_models
import workbench
from workbench.base.errors import InputError
from workbench.base.registry import Plugin, find_beside, load_plugin, plugins
from workbench.studies.study import Study
from workbench.studies.syntax import BINDING, DEFINITIONS, bare, bound, dumped, hashed, single

OURS = (Path(workbench.__file__).parent, Path(crowd_models.__file__).parent)
INSTALLED = ("site-packages", "dist-packages")
LOOKED_UP = frozenset({"globals", "eval", "exec"})
"""A file that names one of these may come by any of its names."""
IMPORTING = frozenset({"import_module", "__import__"})
STUDY = "STUDY"
CLAIM = "claim"
"""A decorator that does no more than to mark."""


@dataclass(frozen=True)
class OwnFile:
    """A file that trials come from.

    Attributes
    ----------
    kind
        The study's file, a plugin, or a module: that one of these imports, or of the study.
    name
        Name of the file, or of the module.
    path
        Where it is; a worker elsewhere finds a module by its name.
    digest
        SHA-256 of its bytes, so that no worker runs another version of it.
    counted
        SHA-256 of what of it counts.
    """

    kind: Literal["study", "plugin", "module"]
    name: str
    path: str
    digest: str
    counted: str

    def load(self) -> None:
        """Load a plugin in this process, or see to it that a module here is the same.

        Modules beside the study's file are found from here on.

        Raises
        ------
        InputError
            It is another here, or there is none.
        """
        if self.kind == "study":
            find_beside(self.path)
        elif self.kind == "plugin":
            load_plugin(self.path, self.digest)
        elif self.kind == "module":
            found = dict(_found(self.name)).get(self.name)
            if found is None:
                raise InputError(f"{self.name}: a worker finds no such module, set its PYTHONPATH")
            if _bytes_digest(found) != self.digest:
                raise InputError(
                    f"{self.name}: the module has changed since the run began; start it again"
                )


def digests(files: Iterable[OwnFile]) -> dict[str, str]:
    """Digest of what counts by name; two files of one name have one digest."""
    parts: dict[str, str] = {}
    for file in files:
        before = parts.get(file.name)
        parts[file.name] = file.counted if before is None else hashed(before + file.counted)
    return parts


def changed(record: Mapping[str, str], today: Mapping[str, str]) -> list[str]:
    """Name what a record does not have as it is today, or has and is no part today."""
    return sorted(name for name in {**record, **today} if record.get(name) != today.get(name))


def own_files(study: Plugin | ModuleType | None = None) -> tuple[OwnFile, ...]:
    """List what trials come from: a study's file or module, plugins, and local modules.

    Parameters
    ----------
    study
        The user's file, or the module in which the trial of a study of the catalog is.

    Raises
    ------
    InputError
        A file cannot be read, or has changed since it was loaded.
    """
    importlib.invalidate_caches()
    shared = plugins()
    files: list[OwnFile] = []
    modules: dict[str, Path] = {}
    own = [study] if isinstance(study, Plugin) else []
    for plugin in dict.fromkeys([*own, *shared]):
        if _bytes_digest(plugin.path) != plugin.digest:
            raise InputError(f"{plugin.path}: has changed since it was loaded; load it anew")
        nodes = _counted(plugin.path, plugin.module)
        files.append(
            OwnFile(
                "plugin" if plugin in shared else "study",
                plugin.path.name,
                str(plugin.path),
                plugin.digest,
                hashed("\n".join(map(dumped, nodes))),
            )
        )
        _follow(_imports(nodes), modules)
    if isinstance(study, ModuleType) and (path := _of_package(study)):
        nodes = _counted(path, study)
        counted = hashed("\n".join(map(dumped, nodes)))
        files.append(OwnFile("module", study.__name__, str(path), _bytes_digest(path), counted))
        package = study.__name__.rpartition(".")[0]
        _follow(_imports(nodes, package), modules, study.__name__.partition(".")[0])
        modules.pop(study.__name__, None)
    for name, path in sorted(modules.items()):
        nodes = _statements(path)
        counted = hashed("\n".join(map(dumped, nodes))) if nodes else _bytes_digest(path)
        files.append(OwnFile("module", name, str(path), _bytes_digest(path), counted))
    return tuple(files)


def _of_package(module: ModuleType) -> Path | None:
    """File of a module of another package than the workbench's; None for its own."""
    if module.__name__.partition(".")[0] in {folder.name for folder in OURS} or not module.__file__:
        return None
    return Path(module.__file__)


def _follow(names: Iterable[str], modules: dict[str, Path], package: str = "") -> None:
    """Add modules of some names, and all that they import, if local or of a package."""
    waiting = list(names)
    while waiting:
        for module, path in _found(waiting.pop()):
            inside = module.partition(".")[0] == package or _is_local(path)
            if module not in modules and inside:
                modules[module] = path
                beside = module if path.stem == "__init__" else module.rpartition(".")[0]
                waiting += _imports(_statements(path), beside)


# Where modules are.


def _found(name: str) -> Iterator[tuple[str, Path]]:
    """Files of a module and of the packages it lies in; nothing is imported."""
    where: Sequence[str] | None = None
    parts = name.split(".")
    for last in range(1, len(parts) + 1):
        module = ".".join(parts[:last])
        spec = _spec(module, where)
        if spec is None:
            return
        if spec.has_location and spec.origin:
            yield module, Path(spec.origin)
        if spec.submodule_search_locations is None:
            return
        where = list(spec.submodule_search_locations)


def _spec(module: str, where: Sequence[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(module, where)
        except Exception:  # of an installed package's own
            continue
        if spec is not None:
            return spec
    return None


def _is_local(path: Path) -> bool:
    """Whether a file is the user's: neither Python's, nor of an installed package, nor ours."""
    path = path.resolve()
    if not path.is_file() or set(path.parts) & set(INSTALLED):
        return False
    return not any(path.is_relative_to(folder) for folder in (*OURS, *_python()))


@functools.cache
def _python() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    listed = [*map(sysconfig.get_path, names), *site.getsitepackages(), site.getusersitepackages()]
    return tuple({Path(folder).resolve() for folder in listed})


def _bytes_digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or 'cannot be read'}") from None


# What of a file counts.


def _statements(path: Path) -> list[ast.stmt]:
    """Statements of a Python file; none of what is no such file."""
    if path.suffix != ".py":
        return []
    try:
        return bare(ast.parse(path.read_bytes())).body
    except (SyntaxError, ValueError):
        return []


def _imports(nodes: Iterable[ast.stmt], package: str = "") -> list[str]:
    """Modules that statements may import, wherever they do; a name in a package may be one too."""
    names: list[str] = []
    for node in (part for statement in nodes for part in ast.walk(statement)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            start = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            names += [start, *(f"{start}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and _last(node.func) in IMPORTING and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                names.append(name.value)
    return [name for name in names if name and not name.startswith(".")]


def _counted(path: Path, module: ModuleType) -> list[ast.stmt]:
    """Statements of a file that count."""
    body = [part for node in _statements(path) for part in single(node)]
    study = getattr(module, STUDY, None)
    if not isinstance(study, Study) or any(LOOKED_UP & _names(node) for node in body):
        return body
    trials = {name for name, value in vars(module).items() if value is study.trial}
    own = {node.name for node in body if isinstance(node, DEFINITIONS)}
    bindings: dict[str, list[ast.stmt]] = {}
    for node in body:
        for name in bound(node):
            bindings.setdefault(name, []).append(node)
    if not trials & bindings.keys():
        return body
    described = [*bindings.get(STUDY, []), *(node for node in body if _is_claim(node))]
    aside = _reached(described, bindings, without=trials)
    aside -= {id(node) for node in body if id(node) in aside and _acts(node, own)}
    rest = [node for node in body if id(node) not in aside]
    needed = _reached(rest, bindings)
    return [node for node in body if id(node) in needed]


def _reached(
    starts: Sequence[ast.stmt],
    bindings: Mapping[str, list[ast.stmt]],
    without: Iterable[str] = (),
) -> set[int]:
    """Ids of statements, of those that bind what they name, and so on; but for some names."""
    reached: set[int] = set()
    waiting = list(starts)
    while waiting:
        node = waiting.pop()
        if id(node) not in reached:
            reached.add(id(node))
            for name in _names(node).difference(without):
                waiting += bindings.get(name, [])
    return reached


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _acts(node: ast.stmt, own: set[str]) -> bool:
    """Whether a statement may do more than to bind names, as to register a function."""
    if not isinstance(node, BINDING) or isinstance(node, ast.ClassDef):
        return True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return bool(node.decorator_list) and not _is_claim(node)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        found = [path for name in _imports([node]) for _, path in _found(name)]
        return any(map(_is_local, found))
    if STUDY in set(bound(node)):
        return False
    return any(isinstance(part, ast.Call) and own & _names(part) for part in ast.walk(node))


def _is_claim(node: ast.stmt) -> bool:
    marks = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return any(isinstance(mark, ast.Call) and _last(mark.func) == CLAIM for mark in marks)


def _last(node: ast.expr) -> str:
    """Last name of a dotted one."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
