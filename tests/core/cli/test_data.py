from __future__ import annotations

import pytest

from workbench.base.errors import InputError
from workbench.crowd.datasets import DATASETS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with one data set, as tables."""
    (tmp_path / "rte").mkdir()
    for name in ("labels.csv", "gold.csv"):
        (tmp_path / "rte" / name).write_text("x\n")
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("WORKBENCH_DATA", raising=False)
    monkeypatch.setattr("pooch.os_cache", lambda _: tmp_path)
    return tmp_path


def test_list_shows_what_is_present(run, folder):
    result = run("data", "list")
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert set(lines) == {"name", *DATASETS}
    assert " yes " in lines["rte"]
    assert " no " in lines["bluebird"]


def test_info(run, folder):
    result = run("data", "info", "rte")
    assert result.exit_code == 0
    for part in ("800 tasks, 164 workers", "Snow", "MIT", "https://", str(folder / "rte")):
        assert part in result.stdout
    assert "no: workbench data fetch sat12" in run("data", "info", "sat12").stdout


def test_fetch_refuses_what_is_not_as_published(refused, tmp_path, monkeypatch):
    """The right number of tasks, workers and labels, all of them made up."""
    (tmp_path / "bluebird").mkdir()
    votes = [f"{task},{worker},{task % 2}" for task in range(108) for worker in range(39)]
    gold = [f"{task},1" for task in range(108)]
    for name, rows in (("labels", ["task,worker,label", *votes]), ("gold", ["task,gold", *gold])):
        (tmp_path / "bluebird" / f"{name}.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path))
    for command in (("data", "fetch", "bluebird"), ("compare", "--data", "bluebird")):
        assert "not those published as bluebird" in refused(*command)


def test_a_failed_download_is_one_line(refused, cache, monkeypatch):
    def fetch(name, progress):
        raise InputError("rte: cannot download it; connect to the network")

    monkeypatch.setattr("workbench.crowd.datasets.fetch", fetch)
    assert "connect to the network" in refused("data", "fetch", "rte")
