"""The house rules that no linter of ours knows: names mean one thing, rooms keep their privacy."""

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from workbench.base.public import listed

ROOT = Path(__file__).parents[1]
SOURCES = {
    ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__"): path
    for base, package in ((ROOT, "workbench"), (ROOT / "models", "crowd_models"))
    for path in sorted((base / package).rglob("*.py"))
}
PRIVATE_WORDS = re.compile(
    r"\b(?:told|dear|dearer|dearest|nought|rungs?|(?<!one-)coins?)\b", re.IGNORECASE
)
"""What only we say, in place of the field's own words."""
STREAMS = {"learning coins", "policy coins"}
"""Names that seeds are made of."""
pytestmark = pytest.mark.slow


@cache
def trees() -> dict[str, ast.Module]:
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in SOURCES.items()}


def room(module: str) -> str:
    """The package a module belongs to: `workbench.crowd`, or `crowd_models`."""
    return ".".join(module.split(".")[: 2 if module.startswith("workbench") else 1])


@cache
def imports(module: str, *, for_types: bool = False) -> list[tuple[str, str]]:
    """Modules of the house that a module imports, each with the name taken.

    Those imported for type checking alone are left out unless `for_types`.
    """
    pairs = []

    def look(node: ast.AST) -> None:
        checking = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if checking and not for_types:
            return
        if isinstance(node, ast.Import):
            pairs.extend((alias.name, "") for alias in node.names if alias.name in SOURCES)
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in SOURCES:
                    pairs.append((inner, ""))
                elif node.module in SOURCES:
                    pairs.append((node.module, alias.name))
        for child in ast.iter_child_nodes(node):
            look(child)

    look(trees()[module])
    return pairs


def room_imports() -> dict[str, set[str]]:
    """Other rooms that each room imports, for type checking too; the front door is no room."""
    graph: dict[str, set[str]] = {room(module): set() for module in SOURCES if "." in module}
    for module in SOURCES:
        graph.setdefault(room(module), set()).update(
            room(other) for other, _ in imports(module, for_types=True)
        )
    graph.pop("workbench")
    return {name: others - {name, "workbench"} for name, others in graph.items()}


def drawn_floors() -> list[set[str]]:
    """Rooms of each floor as docs/architecture.md draws them, the ground first."""
    drawing = (ROOT / "docs/architecture.md").read_text("utf-8").split("```")[1]
    floors: list[set[str]] = []
    for line in drawing.splitlines():
        if re.match(r"roof|floor \d|ground", line):
            floors.append(set())
        named = re.match(r"(?:roof|floor \d|ground)?\s+(\w+)(?:/|\.py)\s", line)
        if named:
            floors[-1].add(named[1] if named[1] == "crowd_models" else f"workbench.{named[1]}")
    return floors[::-1]


@pytest.mark.release
def test_the_floors_that_are_drawn_are_those_that_the_imports_have():
    graph, floors = room_imports(), drawn_floors()
    level = {name: height for height, floor in enumerate(floors) for name in floor}
    assert set(level) == set(graph)
    upward = [(a, b) for a, others in graph.items() for b in others if level[b] >= level[a]]
    assert upward == []
    chain: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():
        chain[name] = 1 + max((chain[other] for other in graph[name]), default=0)
    assert len(floors) == max(chain.values())
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = [set(layer.split(" | ")) for layer in contracts["contracts"][0]["layers"]]
    assert layers[::-1] == floors


def test_a_room_says_on_which_floor_it_stands():
    names = {
        name: "ground floor" if height == 0 else f"floor {height}"
        for height, floor in enumerate(drawn_floors()[:-1])  # the roof is none
        for name in floor
    }
    assert len(names) > 10
    for name, floor in names.items():
        assert f"({floor})" in (ast.get_docstring(trees()[name]) or "").partition("\n\n")[0], name


def test_a_public_class_name_means_one_thing():
    places = defaultdict(list)
    for module, tree in trees().items():
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
    graph = {
        module: {other for other, _ in imports(module, for_types=True)} - {module}
        for module in trees()
    }
    # The front door forwards its names to rooms that read the version it defines.
    graph["workbench"] = set()
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import circle: {' → '.join(error.args[1])}")


def test_messages_speak_the_words_of_the_field():
    found = []
    for name, tree in trees().items():
        prose = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        found += [
            (name, node.lineno, node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            if id(node) not in prose and " " in node.value and node.value not in STREAMS
            if PRIVATE_WORDS.search(node.value)
        ]
    assert found == []


def test_a_test_file_has_a_name_of_its_own():
    """Two of one name cannot be collected together."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


@pytest.mark.parametrize("page", ["reading", "architecture"])
def test_the_pages_that_lead_through_the_code_name_files_that_are_there(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    names = [name for name in re.findall(r"`([\w/]+\.(?:py|toml))`", text) if "NAME" not in name]
    for name in names:
        places = (ROOT / name, ROOT / "workbench" / name, *(ROOT / "workbench").rglob(name))
        assert any(place.exists() for place in places), name


def test_papers_import_public_names_alone():
    """As any other plugin: what its package says is public, of the workbench and its models."""
    stubs = {
        ".".join(path.parent.relative_to(base).parts): set(listed(path))
        for base in (ROOT, ROOT / "models")
        for path in base.glob("*/**/__init__.pyi")
    }
    taken = [
        (path.name, node.module, alias.name)
        for path in (ROOT / "papers").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if node.module.split(".")[0] in ("workbench", "crowd_models")
    ]
    assert len(taken) > 500
    assert [one for one in taken if one[2] not in stubs.get(one[1], ())] == []


def test_a_public_name_is_there_and_is_no_module_beside():
    """Which of the two one met would hang on what was imported before."""
    stubs = [path for base in ("workbench", "models") for path in (ROOT / base).rglob("*.pyi")]
    assert len(stubs) > 10
    for stub in stubs:
        package = ".".join(stub.parent.relative_to(ROOT).parts).removeprefix("models.")
        for name, module in listed(stub).items():
            assert getattr(import_module(package), name) is not None
            beside = (stub.parent / f"{name}.py").exists() or (stub.parent / name).is_dir()
            assert beside == (module == package), (package, name)
