"""`workbench leaderboard`: one's own method and crowd in it, and crowds that cannot be had."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

import workbench as wb
from workbench.aggregation import AGGREGATORS
from workbench.base import registry
from workbench.base.text import strict_json
from workbench.cli import main
from workbench.crowd.datasets import DATASETS, class_datasets
from workbench.ranking.whole_crowds import first_labels, labelled

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


@pytest.mark.release
def test_a_crowd_and_a_method_of_ones_own_appear_in_it(here):
    plugins = [word for file in OWN for word in ("--plugin", str(file))]
    line = ["leaderboard", *plugins, "--crowd", "seven", "--crowd", "bluebird"]
    line += ["--kind", "aggregator", "--repetitions", "1", "--processes", "1"]
    ran = CliRunner().invoke(main, [*line, "--json"])
    assert ran.exit_code == 0, ran.output
    found = wb.leaderboard(**ASKED, plugins=OWN, processes=1)  # all of its trials are there
    assert json.loads(ran.stdout) == json.loads(strict_json(found.to_dict()))
    by_skill = {"weighted-linear", "weighted-log-odds"}
    assert found.study.progress.skipped == len(by_skill) + 1
    assert found.whole[0].progress.skipped == len({*AGGREGATORS} - by_skill)
    assert found.crowds == ("seven",)
    assert "no folder" in found.missing["bluebird"]
    table = found.to_frame().set_index("method")
    assert "first label" in table.index
    assert set(found.standings["method"]) == {"majority", *by_skill}
    own = found.points[(found.points["method"] == "first label")].set_index("level")["error"]
    assert own.nunique() == 1  # whatever else there is
    is_majority = found.points["method"] == "majority"
    first = found.points[is_majority & (found.points["level"] == "1")]
    assert own["1"] == first["error"].item()
    for text in (found.details(), found.markdown()):
        assert "first label" in text
        assert "not fetched" in text
        assert "bluebird" in text
    assert str(Path.cwd()) not in found.markdown()
    found.report("page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "first label" in page
    assert "seven" in page
    # Results of others stand beside them; a name that is taken is told apart.
    rows = found.points[is_majority].assign(error=lambda table: table["error"] / 2)
    columns = {"crowd": "p_dataset_crowd", "level": "p_dataset_labels", "order": "p_dataset_order"}
    rows = rows.rename(columns={**columns, "error": "objective_value", "seconds": "time"})
    for name in ("theirs", "majority"):
        rows.assign(solver_name=name).to_csv(f"{name}.csv", index=False)
    more = wb.leaderboard(**ASKED, plugins=OWN, processes=1, results=["theirs.csv", "majority.csv"])
    table = more.to_frame().set_index("method")
    assert table["place"][["theirs", "majority (file)"]].tolist() == ["1=", "1="]
    assert table.loc["theirs", "error"] == pytest.approx(table.loc["majority", "error"] / 2)
    assert "theirs" in more.markdown()


def test_a_benchmark_of_benchopt_has_ones_own_method_and_the_same_labels(here, monkeypatch):
    """Its three classes, without benchopt: bases that only take what is declared."""
    plugins = [word for file in OWN for word in ("--plugin", str(file))]
    words = ["leaderboard", *plugins, "--benchopt", "bench", "--crowd", "seven"]
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code == 0, ran.output
    assert "next: benchopt run bench" in ran.stdout
    for family in (AGGREGATORS, DATASETS):  # as in a process of its own
        for name in family.added():
            del family._entries[name]
    registry._loaded.clear()
    registry._registered.clear()
    stub = ModuleType("benchopt")
    for name in ("BaseDataset", "BaseObjective", "BaseSolver"):
        setattr(stub, name, type(name, (), {}))
    monkeypatch.setitem(sys.modules, "benchopt", stub)
    parts = [
        runpy.run_path(f"bench/{file}")
        for file in ("datasets/crowd.py", "objective.py", "solvers/aggregators.py")
    ]
    data, objective, solver = (
        part[name]() for part, name in zip(parts, ("Dataset", "Objective", "Solver"), strict=True)
    )
    assert data.parameters["crowd"] == ["seven"]
    assert "first label" in solver.parameters["method"]
    assert not {"weighted-linear", "weighted-log-odds"} & {*solver.parameters["method"]}
    for data.labels, level in (("2", "2"), ("every", "all")):
        for data.crowd, data.order in (("seven", 0),):
            objective.set_data(**data.get_data())
        for solver.method in ("majority", "first label"):
            solver.set_objective(**objective.get_objective())
            solver.run(None)
            value = objective.evaluate_result(**solver.get_result())["value"]
            votes, truth = first_labels("seven", level, 0)
            label = labelled(solver.method, votes, 0).label
            known = truth >= 0
            assert value == pytest.approx((label[known] != truth[known]).mean())
    assert 0 <= objective.evaluate_result(**objective.get_one_result())["value"] <= 1
    again = CliRunner().invoke(main, [words[0], *words[-4:]])
    assert again.exit_code == 2
    assert "is there already" in again.output


def test_what_cannot_be_is_refused_in_one_line(here, refused):
    assert "none can be had" in refused("leaderboard", "--crowd", "bluebird")
    assert "no data set 'blubird'" in refused("leaderboard", "--crowd", "blubird")


def test_a_benchmark_has_the_crowds_that_are_at_hand(here):
    plugin = ["--plugin", str(OWN[1])]
    for folder, asked, crowds in (
        ("own", plugin, ["seven"]),
        ("all", [], [name for name in class_datasets() if name != "seven"]),
        ("one", [*plugin, "--crowd", "rte"], ["rte"]),
    ):
        if folder == "all":  # neither the file nor any data
            DATASETS._entries.pop("seven")
        ran = CliRunner().invoke(main, ["leaderboard", "--benchopt", folder, *asked])
        assert ran.exit_code == 0, ran.output
        assert f'"crowd": {crowds!r}' in Path(folder, "datasets", "crowd.py").read_text("utf-8")
