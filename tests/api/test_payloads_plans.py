"""What the commands print and write is what the front door's results say: plans and studies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import workbench as wb
from tests.models.bad_files import GOOD, TYPED
from workbench import api
from workbench.base.text import strict_json
from workbench.cli import main

STORE = "study run toy-example --size smoke --repetitions 1 --processes 1 --store s.sqlite"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Labels, skills, tasks, problems and a store, as files."""
    place = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(5)
    rows = [
        (f"q{i}", f"a{j}", "yn"[int(rng.random() < 0.85) ^ (i % 2)])
        for i in range(30)
        for j in range(14)
    ]
    tables = {
        "labels": pd.DataFrame(rows, columns=["task", "worker", "label"]),
        "gold": pd.DataFrame({"task": [f"q{i}" for i in range(28)], "gold": list("ny") * 14}),
        "tasks": pd.DataFrame({"task": ["007", "b"]}),
        "costs": pd.DataFrame({"worker": [f"a{j}" for j in range(14)], "cost": [1, 3] * 7}),
        "capacity": pd.DataFrame({"worker": [f"a{j}" for j in range(14)], "capacity": 2}),
        "skills": pd.DataFrame({"worker": ["u", "v", "w"], "birds": 0.9, "dogs": [0.9, 0.8, 0.7]}),
        "pairs": pd.DataFrame({"task": list("xxyy"), "worker": list("uvuv")}),
        "typed": pd.DataFrame({"task": ["x", "y"], "task_type": ["birds", "dogs"]}),
    }
    for name, frame in tables.items():
        frame.to_csv(place / f"{name}.csv", index=False)
    (place / "small.json").write_text(json.dumps(GOOD))
    (place / "problem.json").write_text(json.dumps(TYPED))
    return place


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


CASES = {
    "assign": (
        "assign --labels labels.csv --gold gold.csv --tasks tasks.csv --capacity 1 --epsilon 0.3",
        lambda: wb.plan("labels.csv", "gold.csv", "tasks.csv", capacity=1, epsilon=0.3),
    ),
    "assign by skills": (
        "assign --skills skills.csv --tasks typed.csv --capacity 2 --epsilon 0.6 --seed 3",
        lambda: wb.plan(skills="skills.csv", tasks="typed.csv", capacity=2, epsilon=0.6, seed=3),
    ),
    "assign where available": (
        "assign --skills skills.csv --tasks typed.csv --capacity 2 --epsilon 0.65 "
        "--availability pairs.csv",
        lambda: wb.plan(
            skills="skills.csv", tasks="typed.csv", capacity=2, epsilon=0.65,
            availability="pairs.csv",
        ),
    ),
    "assign in vain": (
        "assign --skills skills.csv --tasks typed.csv --capacity 1 --epsilon 0.01",
        lambda: wb.plan(skills="skills.csv", tasks="typed.csv", capacity=1, epsilon=0.01),
    ),
    "assign at prices": (
        "assign --labels labels.csv --gold gold.csv --tasks tasks.csv --capacity capacity.csv "
        "--costs costs.csv --epsilon 0.3 --gap 0.1",
        lambda: wb.plan(
            "labels.csv", "gold.csv", "tasks.csv", capacity="capacity.csv", costs="costs.csv",
            epsilon=0.3, gap=0.1,
        ),
    ),
    "compare": (
        "compare --labels labels.csv --gold gold.csv --costs costs.csv --epsilon 0.4 --capacity 20",
        lambda: wb.compare("labels.csv", "gold.csv", costs="costs.csv", epsilon=0.4, capacity=20),
    ),
    "compare simulated": (
        "compare --tasks 9 --workers 12 --capacity 9 --epsilon 0.4 --gold-tasks 5 --trials 2",
        lambda: wb.compare(
            wb.simulate(tasks=9, workers=12, capacity=9), epsilon=0.4, gold_tasks=5, trials=2
        ),
    ),
    "solve": ("solve small.json --exact", lambda: wb.solve("small.json", exact=True)),
    "solve dual": (
        "solve problem.json --formulation dual --route pyomo",
        lambda: wb.solve("problem.json", "dual", route="pyomo"),
    ),
    "solve in vain": (
        "solve small.json --epsilon 1e-9", lambda: wb.solve("small.json", epsilon=1e-9),
    ),
    "doctor": ("doctor", api.doctor),
}  # fmt: skip


@pytest.fixture(scope="module")
def made(folder):
    """What a case's call gives, made once."""
    known = {}

    def call(case):
        if case not in known:
            known[case] = CASES[case][1]()
        return known[case]

    return call


def run(line: str, *more: str):
    result = CliRunner().invoke(main, [*line.split(), *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def alike(told, known):
    """Take out what differs between two runs that found the same, at any depth."""
    if isinstance(known, dict):
        assert told.keys() == known.keys()
        kept = known.keys() - {"seconds", "history", "versions"}
        return all(alike(told[name], known[name]) for name in kept)
    if isinstance(known, list):
        return len(told) == len(known) and all(map(alike, told, known))
    return told == known


@pytest.mark.parametrize("case", CASES)
def test_json_is_the_result_s_dictionary(case, made):
    result = run(CASES[case][0], "--json")
    told = json.loads(result.stdout)
    assert next(iter(told)) == "schema"
    assert alike(told, json.loads(strict_json(made(case).to_dict())))
    assert result.exit_code == (1 if "vain" in case else 0), result.output


@pytest.mark.parametrize("case", ["assign", "assign by skills", "assign in vain", "solve in vain"])
def test_the_page_is_the_result_s_summary(case, made):
    assert run(CASES[case][0]).stdout.rstrip("\n") == made(case).summary()


@pytest.mark.parametrize("case", ["assign", "assign at prices", "solve"])
def test_what_is_written_is_the_result_s_frame(case, made):
    run(CASES[case][0], "--out", "out.csv")
    assert Path("out.csv").read_text() == made(case).to_frame().to_csv(index=False)


def test_the_comparison_s_files(made):
    run(CASES["compare"][0], "--out", "out")
    compared = made("compare")
    for name, frame in (("compare", compared.table), ("trials", compared.trials)):
        written = pd.read_csv(f"out/{name}.csv").drop(columns="seconds")
        same = {"check_dtype": False, "check_exact": False}
        pd.testing.assert_frame_equal(written, frame.drop(columns="seconds"), **same)
    whole = json.loads(Path("out/compare.json").read_text())
    assert alike(whole, json.loads(strict_json(compared.to_dict())))


def test_an_exported_model():
    model = api.export("problem.json", "typed", format="mps")
    told = json.loads(
        run("export problem.json --formulation typed --format mps --out m.mps --json").stdout
    )
    assert told == {"file": "m.mps", **model.to_dict()}
    assert Path("m.mps").read_bytes() == model.content


def test_studies():
    """The first run of the command, and the same run again from a notebook, which finds it done."""
    told = json.loads(run(f"{STORE} --json").stdout)
    study = wb.run_study("toy-example", size="smoke", repetitions=1, processes=1, store="s.sqlite")
    known = study.to_dict()
    assert told.keys() == known.keys()
    assert told["done"] == known["skipped"] == told["planned"] == len(study.table)
    ours = {"done", "skipped", "counts", "seconds"}
    assert {k: told[k] for k in told.keys() - ours} == {k: known[k] for k in known.keys() - ours}
    assert run(STORE).stdout.split("; kept")[0] == study.summary().split("; kept")[0]

    page = json.loads(run("study report --store s.sqlite --out page.html --json").stdout)
    report = wb.report("s.sqlite", "again.html")
    assert page == report.to_dict() | {"report": "page.html"}
    assert Path("page.html").read_bytes() == Path("again.html").read_bytes()

    judged = api.judge("s.sqlite")
    rows = json.loads(run("claims --store s.sqlite --out claims.md --json").stdout)
    assert rows == json.loads(strict_json(judged.to_dict()))["claims"]
    assert run("claims --store s.sqlite").stdout.rstrip("\n") == judged.summary()
    assert Path("claims.md").read_text() == judged.markdown()


def test_what_commands_list_their_rooms_give():
    from workbench.studies import overview
    from workbench.studies.catalog import STUDIES
    from workbench.studies.request import request
    from workbench.studies.store import Store

    run(STORE)
    assert json.loads(run("study list --json").stdout) == overview.catalogued(STUDIES)
    asked = json.loads(run("study show toy-example --json").stdout)
    assert asked == json.loads(strict_json(overview.described(request("toy-example"))))
    with Store.open("s.sqlite") as store:
        assert json.loads(run("study status --store s.sqlite --json").stdout) == (
            overview.standing(store)
        )
