"""What the site's scripts do: they find links that lead nowhere, and list every public name."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import click
import pytest

import workbench as wb
from workbench.cli.app import main

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


def test_the_reference_has_every_public_name_as_its_docstring_says():
    """Renewed by `python docs/names.py`."""
    names = script("names")
    written = names.pages()
    folder = DOCS / "reference"
    for name, text in written.items():
        assert (folder / name).read_text("utf-8") == text, f"{name}: python docs/names.py"
    there = {path.relative_to(folder).as_posix() for path in (folder / "rooms").glob("*.md")}
    assert there == set(written) - {"front-door.md", "rooms.md"}
    for door in written["front-door.md"], written["rooms/workbench.md"]:
        assert sorted(re.findall(r"^\| `wb\.(\w+)` \| \S", door, re.M)) == sorted(wb.__all__)
        assert sorted(re.findall(r"^### `(\w+)`$", door, re.M)) == sorted(wb.__all__)
    assert "| `Collector.next` | " in written["front-door.md"]
    assert "#### `Collector.next`" in written["rooms/workbench.md"]
    assert len(names.ROOMS) > 10
    assert "| `majority` | " in written["rooms/aggregation.md"]
    listed = written["rooms.md"].split("## `workbench.aggregation`")[1].split("\n## ")[0]
    assert "`majority`" in listed


def test_a_name_is_written_with_its_signature_and_what_is_said_of_each_parameter():
    def judged(votes: list[int], *, seed: int = 0) -> None:
        """Judge votes for $1.

        A second paragraph.

        Parameters
        ----------
        votes, others
            First line
            and second.

            A paragraph.

        Returns
        -------
        Nothing at all.

        Examples
        --------
        >>> judged([1])
        """

    written = "\n\n".join(script("names")._entry("judged", judged, "##"))
    assert written == (
        "## `judged`\n\n```python\njudged(votes: list[int], *, seed: int = 0)\n```\n\n"
        "Judge votes for \\$1.\n\nA second paragraph.\n\n**Parameters**\n\n"
        "- `votes, others`: First line\n  and second.\n\n  A paragraph.\n\n"
        "**Returns**\n\nNothing at all.\n\n**Examples**\n\n```pycon\n>>> judged([1])\n```"
    )


def test_a_name_in_short_has_its_defaults_and_a_sentence_on_each_parameter():
    def judged(votes: list[int], *, most: int = 3, seed: int = 0) -> None:
        """Judge votes.

        Parameters
        ----------
        votes
            First sentence; "all"
            of it. A second one.

            A paragraph.
        most
            For $3.
        seed
            As for another function.

        Raises
        ------
        InputError
            Never.
        """

    written = "\n\n".join(script("names")._brief("judged", judged, "##"))
    assert written == (
        "## `judged`\n\n```python\njudged(votes, *, most=3, seed=0)\n```\n\n"
        '- `votes`: First sentence; "all" of it.\n'
        "- `most`: For \\$3."
    )


def test_the_page_of_options_names_every_option_and_has_the_texts_of_help(tmp_path):
    page = tmp_path / "options" / "index.md"
    commands = script("commands")
    commands.write_options(page)
    text = page.read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert {len(re.split(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert "| `--relabel PATH` | The tasks to look at again, least sure first; " in text
    hire = text.split("## `workbench hire`")[1].split("\n## ")[0]
    assert "Parameters of [`hire`](../front-door.md#hire) `--labels`, " in hire
    shared = text.split("## Options of several commands")[1].split("\n## ")[0]
    parts = dict(re.findall(r"^## `workbench (.*?)`$(.*?)(?=^## |\Z)", text, re.M | re.S))
    every = list(commands.commands(main, click.Context(main)))
    assert len(every) > 30
    for name, command in every:
        for option in command.params:
            if isinstance(option, click.Option):
                assert f"`{option.opts[0]}" in parts.get(name, "") + shared, (name, option.opts)
