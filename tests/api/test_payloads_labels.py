"""What the commands print and write is what the front door's results say."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import workbench as wb
from workbench.base.text import strict_json
from workbench.cli import main

COMMANDS = {
    "aggregate": (
        "aggregate --labels labels.csv --truth gold.csv",
        lambda: wb.aggregate("labels.csv", truth="gold.csv"),
    ),
    "aggregate by skills": (
        "aggregate --labels labels.csv --method weighted-log-odds --gold gold.csv --truncate 0.1",
        lambda: wb.aggregate(
            "labels.csv", method="weighted-log-odds", gold="gold.csv", truncate=0.1
        ),
    ),
    "aggregate by expectation": (
        "aggregate --labels labels.csv --method one-coin --iterations 2 --class-prior uniform",
        lambda: wb.aggregate(
            "labels.csv", method="one-coin", iterations=2, class_prior="uniform"
        ),
    ),
    "select": (
        "select --labels labels.csv --gold gold.csv --budget 3 --prior 2 1 --seed 4",
        lambda: wb.hire("labels.csv", "gold.csv", budget=3, prior=(2, 1), seed=4),
    ),
    "select by prices": (
        "select --labels labels.csv --gold gold.csv --budget 3 --costs costs.csv --money 3",
        lambda: wb.hire("labels.csv", "gold.csv", budget=3, costs="costs.csv", money=3),
    ),
    "select nobody": (
        "select --labels labels.csv --gold gold.csv --budget 3 --costs costs.csv --money 0.5",
        lambda: wb.hire("labels.csv", "gold.csv", budget=3, costs="costs.csv", money=0.5),
    ),
    "learn": (
        "learn --labels labels.csv --gold gold.csv --vetting --vetting-error 0.3 --weighted",
        lambda: wb.learn(
            "labels.csv", "gold.csv", vetting=True, vetting_error=0.3, weighted=True
        ),
    ),
    "learn without gold": (
        "learn --labels labels.csv --horizon 20 --schedule 2,1 --pool all",
        lambda: wb.learn("labels.csv", horizon=20, schedule="2,1", pool="all"),
    ),
    "learn simulated": (
        "learn --simulate 0.9,0.8,0.6 --horizon 80 --runs 4 --costs 1,2,3",
        lambda: wb.learn(simulate=[0.9, 0.8, 0.6], horizon=80, runs=4, costs=[1, 2, 3]),
    ),
    "learn drawn": (
        "learn --simulate 4 --low 0.6 --high 0.7 --horizon 40 --runs 1 --seed 3",
        lambda: wb.learn(simulate=4, low=0.6, high=0.7, horizon=40, runs=1, seed=3),
    ),
}  # fmt: skip


@functools.cache
def made(case):
    """What a case's call gives, in the folder of its first test."""
    return COMMANDS[case][1]()


def run(line: str, *more: str):
    return CliRunner().invoke(main, [*line.split(), *more])


@pytest.mark.parametrize("case", COMMANDS)
def test_json_is_the_result_s_dictionary(case, files):
    line = COMMANDS[case][0]
    result = run(line, "--json")
    assert result.exit_code == (1 if "nobody" in case else 0), result.output
    told, known = json.loads(result.stdout), made(case).to_dict()
    for name in ("seconds", "history", "versions"):
        assert told.pop(name, None) is None or known.pop(name) is not None
    assert told == json.loads(strict_json(known))
    assert next(iter(told)) == "schema"


@pytest.mark.parametrize("case", [case for case in COMMANDS if case != "select by prices"])
def test_the_page_is_the_result_s_summary(case, files):
    line = COMMANDS[case][0]
    told = run(line).stdout.rstrip("\n").replace("--iterations", "`iterations`")
    assert told == made(case).summary()


@pytest.mark.parametrize("case", ["aggregate", "select", "learn"])
def test_what_is_written_is_the_result_s_frame(case, files):
    line = COMMANDS[case][0]
    result = run(line, "--out", "out" if case == "learn" else "out.csv")
    assert result.exit_code == 0, result.output
    written = Path("out/workers.csv" if case == "learn" else "out.csv")
    made(case).to_frame().to_csv("mine.csv", index=False)
    assert written.read_text() == Path("mine.csv").read_text()


def test_data_sets_are_listed_alike(files, monkeypatch):
    from workbench.crowd import datasets

    monkeypatch.setenv("WORKBENCH_DATA", str(files))
    rows = json.loads(run("data list --json").stdout)
    assert rows == json.loads(strict_json(datasets.catalogue().to_dict("records")))
    assert pd.DataFrame(rows)["present"].eq(False).all()
    for name in datasets.DATASETS:
        told = json.loads(run(f"data info {name} --json").stdout)
        assert told == json.loads(strict_json(datasets.describe(name)))
