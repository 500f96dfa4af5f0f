"""The house rules that no linter of ours knows: names mean one thing, rooms keep their privacy."""

import ast
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = {
    ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__"): path
    for base, package in ((ROOT, "workbench"), (ROOT / "models", "crowd_models"))
    for path in sorted((base / package).rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in SOURCES.items()}


def room(module: str) -> str:
    """The package a module belongs to: `workbench.crowd`, or `crowd_models`."""
    return ".".join(module.split(".")[: 2 if module.startswith("workbench") else 1])


def imports(module: str) -> list[tuple[str, str]]:
    """Modules of the house that a module imports as it runs, each with the name taken."""
    found = []

    def look(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.Import):
            found.extend((alias.name, "") for alias in node.names if alias.name in SOURCES)
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in SOURCES:
                    found.append((inner, ""))
                elif node.module in SOURCES:
                    found.append((node.module, alias.name))
        for child in ast.iter_child_nodes(node):
            look(child)

    look(TREES[module])
    return found


def test_a_public_class_name_means_one_thing():
    places = defaultdict(list)
    for module, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    assert len(places) > 100
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_room_reaches_into_the_private_parts_of_another():
    taken = [
        (module, other, name)
        for module in SOURCES
        for other, name in imports(module)
        if room(other) != room(module)
        and any(part.startswith("_") for part in [*other.split("."), name])
        and not name.startswith("__")
    ]
    assert taken == []


def test_no_module_imports_itself_by_a_detour():
    graph = {module: {other for other, _ in imports(module)} - {module} for module in TREES}
    # The front door forwards its names to rooms that read the version it defines.
    graph["workbench"] = set()
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import circle: {' → '.join(error.args[1])}")
