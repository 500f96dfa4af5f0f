"""`workbench leaderboard`: one's own method and crowd in it, and crowds that cannot be had."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import workbench as wb
from workbench.aggregation import AGGREGATORS
from workbench.base import registry
from workbench.base.text import strict_json
from workbench.cli import main
from workbench.crowd.datasets import DATASETS

OWN = [
    Path(__file__).parents[1] / "plugins" / f"{name}.py"
    for name in ("first_label", "seven_workers")
]
ASKED = {"kinds": ["aggregator"], "crowds": ["seven", "bluebird"], "repetitions": 1}


@pytest.fixture
def here(monkeypatch, tmp_path):
    """A folder without data; afterwards the registries are as before."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path))
    monkeypatch.setattr(registry, "_loaded", {})
    monkeypatch.setattr(registry, "_registered", {})
    for family in (AGGREGATORS, DATASETS):
        monkeypatch.setattr(family, "_entries", dict(family._entries))


@pytest.mark.slow
def test_a_crowd_and_a_method_of_ones_own_appear_in_it(here):
    plugins = [word for file in OWN for word in ("--plugin", str(file))]
    line = ["leaderboard", *plugins, "--crowd", "seven", "--crowd", "bluebird"]
    line += ["--kind", "aggregator", "--repetitions", "1", "--processes", "1"]
    ran = CliRunner().invoke(main, [*line, "--json"])
    assert ran.exit_code == 0, ran.output
    found = wb.leaderboard(**ASKED, plugins=OWN, processes=1)  # all of its trials are there
    assert json.loads(ran.stdout) == json.loads(strict_json(found.to_dict()))
    assert found.study.progress.skipped == len(AGGREGATORS)
    assert found.crowds == ("seven",)
    assert "no folder" in found.missing["bluebird"]
    table = found.to_frame().set_index("method")
    assert "first label" in table.index
    own = found.curves[found.curves["method"] == "first label"]
    assert own["error"].nunique() == 1  # whatever else there is
    first = found.curves[(found.curves["method"] == "majority") & (found.curves["level"] == "1")]
    assert own["error"].iloc[0] == first["error"].item()
    for text in (found.details(), found.markdown()):
        assert "first label" in text
        assert "not fetched" in text
        assert "bluebird" in text
    assert str(Path.cwd()) not in found.markdown()
    found.report("page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "first label" in page
    assert "seven" in page


def test_what_cannot_be_is_refused_in_one_line(here, refused):
    assert "none can be had" in refused("leaderboard", "--crowd", "bluebird")
    assert "no data set 'blubird'" in refused("leaderboard", "--crowd", "blubird")
