"""What the site's scripts do: they find links that lead nowhere, and list every public name."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import workbench as wb

DOCS = Path(__file__).parents[1] / "docs"
if not DOCS.exists():
    pytest.skip("no pages beside the tests", allow_module_level=True)


def script(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_that_lead_nowhere_and_what_is_loaded_from_elsewhere_are_found(tmp_path):
    (tmp_path / "b.html").write_text('<h1 id="there">B</h1><img src="b.png">')
    (tmp_path / "b.png").write_bytes(b"")
    good = '<a href="b.html#there"></a><a href="#me" id="me"></a><a href="https://a.org"></a>'
    (tmp_path / "a.html").write_text(good)
    faults = script("check_links").faults
    assert list(faults(tmp_path)) == []
    bad = {
        '<a href="c.html"></a>': "no such file",
        '<a href="b.html#here"></a>': "no such place",
        '<script src="https://cdn.org/x.js"></script>': "loads",
        '<link href="//fonts.org/x.css">': "loads",
        '<img src="c.png">': "no such file",
    }
    for link, what in bad.items():
        (tmp_path / "a.html").write_text(good + link)
        (fault,) = faults(tmp_path)
        assert what in fault
    (tmp_path / "a.html").write_text(good)
    (tmp_path / "x.css").write_text("@import 'https://fonts.org/x.css';")
    (fault,) = faults(tmp_path)
    assert "x.css" in fault


def test_the_reference_has_every_public_name(tmp_path):
    names = script("names")
    names.write_names(tmp_path)
    door, rooms = ((tmp_path / f"{name}.md").read_text("utf-8") for name in ("front-door", "rooms"))
    assert sorted(re.findall(r"^\| `wb\.(\w+)` \| \S", door, re.M)) == sorted(wb.__all__)
    assert sorted(re.findall(r"^\.\. auto\w+:: (\w+)", door, re.M)) == sorted(wb.__all__)
    assert len(names.ROOMS) > 10
    assert all(f"## `{room}`" in rooms for room in names.ROOMS)
    assert "| `majority` | " in rooms


def test_the_page_of_options_has_two_cells_a_row_and_the_texts_of_help(tmp_path):
    page = tmp_path / "options" / "index.md"
    script("commands").write_options(page)
    rows = [line for line in page.read_text("utf-8").splitlines() if line.startswith("| `--")]
    assert len(rows) > 200
    assert {len(re.split(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert "| `--budget INTEGER RANGE` | Most workers to hire, K. [x>=1; required] |" in rows
