"""The README's examples do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from workbench.cli import main

README = Path(__file__).parents[1] / "README.md"
if not README.exists():
    pytest.skip("no README beside the tests", allow_module_level=True)


def blocks(language: str) -> list[str]:
    """Fenced code of a language, indented or not, and what is indented with it taken off."""
    fences = re.findall(
        rf"^( *)```{language}\n(.*?)^ *```$", README.read_text("utf-8"), re.M | re.S
    )
    return [re.sub(rf"^{indent}", "", code, flags=re.M) for indent, code in fences]


def commands() -> list[list[str]]:
    """Arguments of every `workbench` line that is shown."""
    lines = "\n".join(blocks("sh")).replace("\\\n", " ").splitlines()
    said = [part for line in lines for part in line.split("&&")]
    split = [shlex.split(part, comments=True) for part in said]
    return [words[1:] for words in split if words and words[0].endswith("workbench")]


def test_the_problem_file_has_a_proven_optimum(tmp_path):
    (text,) = blocks("json")
    (tmp_path / "problem.json").write_text(text)
    result = CliRunner().invoke(main, ["solve", str(tmp_path / "problem.json")])
    assert result.exit_code == 0, result.output
    assert "proven" in result.output


def test_the_toml_file_is_a_sweep(tmp_path):
    (text,) = blocks("toml")
    (tmp_path / "mine.toml").write_text(text)
    result = CliRunner().invoke(main, ["study", "show", str(tmp_path / "mine.toml")])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_shown_is_understood(words):
    command: click.Command = main
    while isinstance(command, click.Group):
        context = click.Context(command)
        _, command, words = command.resolve_command(context, words)
    command.make_context("workbench", list(words))


@pytest.mark.parametrize("word", ["AssignmentProblem", "LsOl"])
def test_code_runs(word, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = [block for block in blocks("python") if word in block]
    quality = np.random.default_rng(0).uniform(0.2, 0.9, (12, 20))
    exec(code, {"quality": quality})
