"""What the site's own scripts do: links that lead nowhere are found, rooms' pages are whole."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

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


def test_a_room_lists_what_is_public_and_nothing_else():
    rooms = script("rooms")
    shown = {m.__name__: dict(rooms.public(m)) for m in rooms.modules("crowd_models")}
    assert "offline_ip" in shown["crowd_models.assignment"]
    assert "linear" not in shown["crowd_models.typed"]  # from elsewhere
    assert not [name for names in shown.values() for name in names if name.startswith("_")]


def test_a_docstring_becomes_markdown():
    def look(at, *, twice=False):
        """See what is <there>.

        Parameters
        ----------
        at
            A place,
            or two.
        twice
            Again.

        Examples
        --------
        >>> look(1)
        2
        """

    rooms = script("rooms")
    assert rooms.signature(look) == "(at, *, twice=False)"
    page = rooms.marked(look)
    assert "`at`\n: A place,\n  or two.\n" in page
    assert "**Examples**\n\n```pycon\n>>> look(1)\n2\n```" in page
    assert r"what is \<there>" in page


def test_the_page_of_options_has_two_cells_a_row_and_the_texts_of_help(tmp_path):
    page = tmp_path / "options" / "index.md"
    script("commands").write_options(page)
    rows = [line for line in page.read_text("utf-8").splitlines() if line.startswith("| `--")]
    assert len(rows) > 200
    assert {len(re.split(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert "| `--budget INTEGER RANGE` | Most workers to hire, K. [x>=1; required] |" in rows
