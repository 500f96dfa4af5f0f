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


def test_the_reference_has_every_public_name_as_its_docstring_says():
    """Renewed by `python docs/names.py`."""
    names = script("names")
    written = names.pages()
    folder = DOCS / "reference"
    for name, text in written.items():
        assert (folder / name).read_text("utf-8") == text, f"{name}: python docs/names.py"
    there = {path.relative_to(folder).as_posix() for path in (folder / "rooms").glob("*.md")}
    assert there == set(written) - {"front-door.md", "rooms.md"}
    door, short = written["rooms/workbench.md"], written["front-door.md"]
    assert sorted(re.findall(r"^\| `wb\.(\w+)` \| \S", door, re.M)) == sorted(wb.__all__)
    assert sorted(re.findall(r"^### `(\w+)`$", door, re.M)) == sorted(wb.__all__)
    assert sorted(re.findall(r"^### `(\w+)`\n\n\S", short, re.M)) == sorted(wb.__all__)
    assert "\n- `next`: Ask for labels." in short
    assert "#### `Collector.next`" in door
    assert len(names.ROOMS) > 10
    assert "| `majority` | " in written["rooms/aggregation.md"]
    for room in names.ROOMS:
        assert f"| `{room}` | " in written["rooms.md"]
        assert f"<rooms/{room.rpartition('.')[2]}.md>" in written["rooms.md"]


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
    def judged(votes: list[int], *, most: int = 3, low=None, high=None, seed: int = 0) -> None:
        """Judge votes.

        A second paragraph.

        Parameters
        ----------
        votes
            First sentence; "all"
            of it. A second one.

            A paragraph.
        most
            For $3. [default: 3]
        low, high
            Limits. [default: none]
        seed
            As for another function.

        Attributes
        ----------
        sum
            Of all.

        Raises
        ------
        InputError
            Never.
        """

    names = script("names")
    rows = [
        '- `votes`: First sentence; "all" of it.',
        "- `*`, `most=3`: For \\$3.",
        "- `low=None`, `high=None`: Limits. [default: none]",
        "- `seed=0`",
        "- `sum`: Of all.",
    ]
    head = "### `judged`\n\nJudge votes.\n\n"
    assert "\n\n".join(names._brief("judged", judged)) == head + "\n".join(rows)
    rows[0] = "- `votes`"
    shared = [names._short(judged)[0]]
    assert "\n\n".join(names._brief("judged", judged, shared)) == head + "\n".join(rows)


def test_what_many_functions_say_of_a_parameter_stands_once():
    names = script("names")
    short = names.pages()["front-door.md"]
    head = short.split("## Parameters of several functions")[1].split("\n## ")[0]
    assert "- `seed`: Same seed, same result." in head.splitlines()
    assert short.count("Same seed, same result.") == 1
    stated = re.findall(r"^- `(\w+)`", head, re.M)
    assert len(stated) == len(set(stated))  # a name means one thing where it has no text
    said = [wb.aggregate, wb.hire, wb.learn, wb.plan, wb.compare, wb.ladder, wb.simulate]
    assert all(("seed", "Same seed, same result.") in names._short(one) for one in said)


def test_the_leaderboard_on_the_site_is_the_whole_table_less_columns_and_unplaced_methods(tmp_path):
    short = script("short")
    whole = """3 crowds.

### Rules

|  | method | error difference | ± se | over crowds | at equal labels | over crowds | error |
| --- | --- | --- | --- | --- | --- | --- | --- |
| 1 | a | -0.1 | 0.2 | -0.2 to 0 | -0.3 | -0.4 to 0 | 0.5 |
| – | b | -0.9 | 0.9 | -0.9 to 0 | -0.9 | -0.9 to 0 | 0.9 |

- a note
"""
    (tmp_path / "whole.md").write_text(whole, "utf-8")
    short.write_short(tmp_path / "whole.md", tmp_path / "short" / "page.md")
    assert (tmp_path / "short" / "page.md").read_text("utf-8").splitlines() == [
        "### Rules",
        "",
        "|  | method | error difference | over crowds | at equal labels |",
        "| --- | --- | --- | --- | --- |",
        "| 1 | a | -0.1 | -0.2 to 0 | -0.3 |",
    ]
    kept = (DOCS / "_tables" / "leaderboard.md").read_text("utf-8")
    assert len(short.TABLE.findall(kept)) == kept.count("\n### ")
