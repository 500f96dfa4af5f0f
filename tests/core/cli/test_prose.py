"""Sentences are as wide as the terminal, tables as they are, and files are named on one line."""

from __future__ import annotations

import os
import re
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.text import tabled, wrapped
from workbench.cli import streams
from workbench.cli.output import show_written

WORDS = st.lists(st.sampled_from(["a", "ten", "workers,", "12", "%", "±", "3", "x-y"]), max_size=60)


@given(WORDS, st.integers(20, 100))
def test_breaking_loses_no_word_and_keeps_the_width(words, width):
    text = " ".join(words)
    lines = wrapped(text, width).split("\n")
    assert " ".join(lines) == text
    assert all(len(line) <= width or " " not in line for line in lines)
    # No line could have taken the first word of the next.
    for line, after in pairwise(lines):
        first = re.match(r"(\d %|± \d)|\S+", after)
        assert first is not None
        assert len(line) + 1 + len(first[0]) > width


def test_a_number_stays_with_its_sign():
    text = "The answers are wrong on 13 % of tasks, 12 ± 3 of them."
    for width in range(20, 60):
        lines = wrapped(text, width).split("\n")
        assert not any(line.startswith("%") or line.endswith("±") for line in lines)
        assert any("13 %" in line for line in lines)


def test_a_command_is_not_broken():
    command = "'workbench aggregate --workers chosen.csv --method weighted-log-odds'"
    assert command in wrapped(f"Next, for the labels in hand: {command} labels all tasks.", 40)
    bare = f"workbench study report mine --study 'my own.py' --plugin {'a' * 40}/plus.py"
    assert wrapped(f"to see them: {bare}", 40).endswith(bare)


def test_a_note_goes_on_below_its_first_word():
    assert wrapped("- one two three\n- four", 9) == "- one two\n  three\n- four"


def test_a_table_is_not_broken():
    rows = [{"task": "t" * 60, "said": "a name of several words " * 3}, {"task": "", "said": ""}]
    table = tabled(rows, {"task": ("task", ""), "said": ("what was said", "")})
    assert wrapped(f"{'word ' * 30}\n\n{table}\nwritten: a, b", 40).endswith(
        f"{table}\nwritten: a, b"
    )


def test_two_sentences_stay_two_lines():
    assert wrapped("One.\nTwo.\n\nThree.", 80) == "One.\nTwo.\n\nThree."


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="terminals")
@pytest.mark.parametrize("columns", [40, 200])
def test_a_terminal_says_how_wide(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    sentence = " ".join(["word"] * 30)
    streams.show_prose(sentence)
    assert max(map(len, capsys.readouterr().out.splitlines())) == 79  # piped
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    streams.show_prose(sentence)
    assert max(map(len, capsys.readouterr().out.splitlines())) == min(columns - 1, len(sentence))


def test_names_of_files_are_not_broken(capsys):
    files = [f"{'folder ' * 20}{name}.csv" for name in "ab"]
    show_written(files)
    assert capsys.readouterr().out == f"written: {', '.join(files)}\n"
    show_written([])
    assert capsys.readouterr().out == ""


def test_all_files_of_a_command_stand_on_one_line(run, problem, tmp_path):
    files = [tmp_path / name for name in ("plan.csv", "plan.png")]
    shown = run("solve", problem, "--out", files[0], "--plot", files[1]).stdout
    lines = [line for line in shown.splitlines() if "written" in line]
    assert lines == [f"written: {files[0]}, {files[1]}"]
    relaxed = tmp_path / "relaxed.json"
    shown = run("solve", problem, "--formulation", "relaxation", "--out", relaxed).stdout
    assert shown.splitlines()[-1] == f"written: {relaxed}"
