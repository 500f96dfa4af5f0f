"""A bar on a terminal, lines elsewhere; what is left stands beside."""

from __future__ import annotations

import io
import sys

import pytest

import workbench as wb
from workbench.api.meter import steps
from workbench.cli import output
from workbench.cli.output import working


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_with_what_is_left(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with working("comparing", after=5.0, bar=True) as progress:
        step = steps(progress, "methods", 4)
        for _ in range(3):
            step()
    drawn = terminal.getvalue()
    assert "━" in drawn
    assert "comparing: 3 of 4 methods, 0 s left" in drawn
    # It is taken away in the end.
    assert drawn.rstrip().endswith("\x1b[2K")


def test_elsewhere_short_work_says_nothing(capsys):
    with working("comparing", after=5.0, bar=True) as progress:
        step = steps(progress, "methods", 1)
        step()
    assert capsys.readouterr().err == ""


def test_elsewhere_long_work_says_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(output, "EVERY", 0.0)
    with working("comparing", after=5.0, bar=True) as progress:
        step = steps(progress, "methods", 2)
        step()
        step()
    assert capsys.readouterr().err.splitlines() == [
        "comparing: 1 of 2 methods, 0 s left",
        "comparing: 2 of 2 methods",
    ]


@pytest.mark.parametrize(
    ("arguments", "unit"),
    [
        (
            ["ladder", "--crowd", "uniform", "--tasks", 9, "--workers", 6, "--epsilon", 0.1],
            "prices",
        ),
        (["learn", "--crowd", "uniform", "--workers", 5, "--tasks", 50, "--trials", 2], "runs"),
        (
            ["compare", "--crowd", "uniform", "--skill", 0.95, "--tasks", 9, "--epsilon", 0.2],
            "methods",
        ),
        (["aggregate", "--labels", "labels.csv", "--gold", "gold.csv"], "fits of a method"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_commands_say_how_far_they_are(arguments, unit, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    crowd = wb.simulate("uniform", tasks=30, workers=6, skill=0.9, redundancy=4)
    crowd.labels.to_csv("labels.csv", index=False)
    crowd.gold.rename_axis("task").rename("gold").to_csv("gold.csv")
    monkeypatch.setattr(output, "EVERY", 0.0)
    found = run(*arguments)
    assert found.exit_code == 0, found.output
    assert f"{unit}, " in found.stderr
    assert " left" in found.stderr
    assert " left\n" not in found.stdout
