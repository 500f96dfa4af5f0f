"""Registries, and users' own files that add to them."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

from workbench.base import registry
from workbench.base.errors import InputError
from workbench.base.registry import Entry, Registry, imported, load_plugin, plugins

FAMILY: Registry = Registry("thing", Entry("pi", imported("math:pi"), "a number", "Archimedes"))
HEAD = """
from test_registry import FAMILY
from workbench.base.registry import Entry
"""


def test_what_is_imported_lazily_is_there_when_looked_up() -> None:
    assert list(FAMILY) == ["pi"]
    assert FAMILY.summaries() == {"pi": "a number"}
    assert FAMILY["pi"].call == pytest.approx(3.14159, abs=1e-5)


@pytest.mark.parametrize("name", ["po", None, 3, [1]])
def test_an_unknown_name_is_one_line_with_those_there_are(name: object) -> None:
    assert name not in FAMILY
    with pytest.raises(InputError, match=r"no thing .*there are pi$"):
        FAMILY[name]  # type: ignore[index]


@pytest.mark.parametrize("name", ["pi", "", None])
def test_a_name_twice_or_none_is_refused(name: object) -> None:
    with pytest.raises(InputError, match="thing"):
        FAMILY.register(Entry(name, 1, "", ""))  # type: ignore[arg-type]


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write a user's file; what it registers is gone afterwards."""
    monkeypatch.setattr("workbench.base.registry._loaded", {})
    monkeypatch.setattr("workbench.base.registry._registered", {})
    monkeypatch.setattr(FAMILY, "_entries", dict(FAMILY._entries))

    def write(text: str):
        path = tmp_path / "own.py"
        path.write_text(HEAD + text)
        return path

    return write


def test_a_plugin_registers_once_and_anew_when_changed(own) -> None:
    path = own("FAMILY.register(Entry('mine', 1, '', ''))")
    plugin = load_plugin(path)
    assert load_plugin(str(path), plugin.digest) is plugin
    assert plugins() == (plugin,)
    assert FAMILY["mine"].call == 1
    load_plugin(own("FAMILY.register(Entry('other', 2, '', ''))"))
    assert list(FAMILY) == ["pi", "other"]
    assert FAMILY.added() == FAMILY.from_files() == ("other",)
    FAMILY.register(Entry("of a package", 3, "", ""))
    assert FAMILY.added() == ("other", "of a package")
    assert FAMILY.from_files() == ("other",)
    with pytest.raises(InputError, match="has changed"):
        load_plugin(path, plugin.digest)


def test_a_registry_made_while_a_plugin_is_loaded_keeps_its_own_when_that_is_loaded_anew(
    own,
) -> None:
    """As where a plugin is the first to import the module of a registry."""
    text = """
from workbench.base import registry
if not hasattr(registry, "made"):
    registry.made = registry.Registry("place", Entry("here", 1, "", ""))
registry.made.register(Entry("there", 2, "", ""))
"""
    try:
        load_plugin(own(text))
        load_plugin(own(text + "# another"))
        assert list(registry.made) == ["here", "there"]
    finally:
        del registry.made


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1 / 0", 4),
        ("def f(:\n    pass", 4),
        ("\nFAMILY.register(Entry('pi', 1, '', ''))", 5),
        ("import json\njson.loads('{')", 5),
    ],
)
def test_a_faulty_plugin_is_one_line_with_its_place(own, text: str, line: int) -> None:
    path = own("FAMILY.register(Entry('first', 1, '', ''));" + text)
    with pytest.raises(InputError, match=rf"own\.py, line {line}: .") as raised:
        load_plugin(path)
    assert "\n" not in str(raised.value)
    assert list(FAMILY) == ["pi"]
    assert plugins() == ()


def test_a_plugin_that_is_not_there(tmp_path) -> None:
    with pytest.raises(InputError, match=r"gone\.py"):
        load_plugin(tmp_path / "gone.py")


def test_a_plugin_imports_what_lies_beside_it_where_nothing_else_has_the_name(
    own, monkeypatch
) -> None:
    """As a script does; but what Python finds elsewhere comes first."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = own("from beside_it import FAR\nassert FAR == 7\n")
    for name in ("beside_it", "numpy"):
        path.with_name(f"{name}.py").write_text("FAR = 7\n", "utf-8")
    load_plugin(path)
    load_plugin(path)
    assert sys.path.count(str(path.parent)) == 1
    assert find_spec("numpy").origin != str(path.with_name("numpy.py"))
    del sys.modules["beside_it"]
