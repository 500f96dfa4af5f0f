from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.core.models.bad_files import GOOD, TYPED
from workbench.cli import main


@pytest.fixture
def run(monkeypatch):
    """Run a command; its sentences are not broken, so that tests can look for their words."""
    monkeypatch.setattr("workbench.cli.streams.PIPED", 10_000)

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(main, [str(argument) for argument in arguments])

    return call


@pytest.fixture
def refused(run):
    """Run what must be refused: one line on standard error, exit code 2, nothing else."""

    def call(*arguments: object) -> str:
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr

    return call


@pytest.fixture
def figures(monkeypatch):
    """Pictures as they were before they became files."""
    from workbench import plots

    drawn = []
    png = plots.as_png
    monkeypatch.setattr(plots, "as_png", lambda figure: drawn.append(figure) or png(figure))
    return drawn


@pytest.fixture
def no_solver(monkeypatch):
    """Make it a failure to reach the solver."""

    def reached(*_, **__):
        raise AssertionError("bad input reached the solver")

    monkeypatch.setattr("workbench.solving.solve", reached)
    monkeypatch.setattr("workbench.solving.pyomo_route.build", reached)


@pytest.fixture
def problem(tmp_path) -> Path:
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(TYPED))
    return path


@pytest.fixture
def small(tmp_path) -> Path:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(GOOD))
    return path
