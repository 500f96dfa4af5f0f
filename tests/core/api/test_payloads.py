"""No command's output is its own: JSON, page and files are what the door, or a room, gives."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner

import workbench as wb
from tests.core.api.crowds import WORKERS, crowd
from tests.core.models.bad_files import GOOD, TYPED
from tests.core.studies.example import EXAMPLE, NAME
from workbench.api.solving import doctor, export
from workbench.api.studying import judge
from workbench.base.text import strict_json
from workbench.cli import main
from workbench.crowd import datasets
from workbench.studies import overview
from workbench.studies.catalog import claims, studies
from workbench.studies.request import request
from workbench.studies.store import Store
from workbench.studies.verify import verify

ASKED = {"size": "smoke", "repetitions": 1, "processes": 1, "store": "s.sqlite"}
STORE = f"study run {EXAMPLE} --size smoke --repetitions 1 --processes 1 --store s.sqlite"
VOLATILE = {"seconds", "history", "versions"}
LABELS = "--labels labels.csv --gold gold.csv"
CASES = {
    f"aggregate {LABELS} --truth gold.csv --method weighted-log-odds --truncate 0.1 --out o.csv": (
        lambda: wb.aggregate(
            "labels.csv",
            gold="gold.csv",
            truth="gold.csv",
            method="weighted-log-odds",
            options=wb.ModelOptions(truncate=0.1),
        )
    ),
    "aggregate --labels labels.csv --truth gold.csv --method ebcc --restarts 2 --calibrate labels": (  # noqa: E501
        lambda: wb.aggregate(
            "labels.csv",
            truth="gold.csv",
            method="ebcc",
            options=wb.ModelOptions(restarts=2),
            calibrate="labels",
        )
    ),
    "audit plan --answers answers.csv --error 0.3 --risk 0.2 --gold truth.csv --runs 20 --seed 2": (
        lambda: wb.plan_audit("answers.csv", 0.3, 0.2, 20, 2, gold="truth.csv")
    ),
    f"check {LABELS} --seed 2 --out o.csv": lambda: wb.check("labels.csv", "gold.csv", seed=2),
    f"hire {LABELS} --budget 3 --prior 2 1 --seed 4 --out o.csv": (
        lambda: wb.hire(
            "labels.csv", "gold.csv", budget=3, options=wb.HiringOptions(prior=(2, 1)), seed=4
        )
    ),
    f"hire {LABELS} --budget 3 --costs costs.csv --money 3": (
        lambda: wb.hire("labels.csv", "gold.csv", budget=3, costs="costs.csv", money=3)
    ),
    f"learn {LABELS} --vetting --vetting-error 0.3 --weighted": (
        lambda: wb.learn(
            "labels.csv",
            "gold.csv",
            options=wb.LearningOptions(vetting=True, vetting_error=0.3, weighted=True),
        )
    ),
    "learn --labels labels.csv --horizon 20 --schedule 2,1 --pool all": (
        lambda: wb.learn(
            "labels.csv",
            horizon=20,
            options=wb.LearningOptions(schedule="2,1"),
            replay=wb.Replay(pool="all"),
        )
    ),
    "learn --skill 0.9,0.8,0.6 --tasks 80 --trials 4 --costs 1,2,3": (
        lambda: wb.learn(wb.simulate(skill=[0.9, 0.8, 0.6], tasks=80), trials=4, costs=[1, 2, 3])
    ),
    f"plan {LABELS} --tasks tasks.csv --capacity capacity.csv --costs costs.csv --epsilon 0.3 "
    "--gap 0.1 --out o.csv": (
        lambda: wb.plan(
            "labels.csv",
            "gold.csv",
            "tasks.csv",
            capacity="capacity.csv",
            costs="costs.csv",
            epsilon=0.3,
            options=wb.PlanOptions(gap=0.1),
        )
    ),
    "plan --skills skills.csv --tasks typed.csv --capacity 2 --epsilon 0.65 --seed 3 "
    "--available pairs.csv": (
        lambda: wb.plan(
            skills="skills.csv",
            tasks="typed.csv",
            capacity=2,
            epsilon=0.65,
            seed=3,
            limits=wb.TaskLimits(availability="pairs.csv"),
        )
    ),
    "plan --skills skills.csv --tasks typed.csv --capacity 1 --epsilon 0.01": (
        lambda: wb.plan(skills="skills.csv", tasks="typed.csv", capacity=1, epsilon=0.01)
    ),
    f"compare {LABELS} --costs costs.csv --epsilon 0.6 --capacity 20": (
        lambda: wb.compare("labels.csv", "gold.csv", costs="costs.csv", epsilon=0.6, capacity=20)
    ),
    "compare --tasks 6 --workers 8 --capacity 6 --epsilon 0.7 --gold-tasks 3 --trials 2": (
        lambda: wb.compare(
            wb.simulate(tasks=6, workers=8, capacity=6),
            epsilon=0.7,
            sampling=wb.SampleOptions(gold_tasks=3),
            trials=2,
        )
    ),
    "collect --tasks 9 --workers 8 --skill 0.9 --total 30 --policy fixed": (
        lambda: wb.collect(
            wb.simulate(tasks=9, workers=8, skill=0.9, redundancy=0), total=30, policy="fixed"
        )
    ),
    "ladder --tasks 6 --workers 8 --capacity 6 --epsilon 0.3 --trials 2": (
        lambda: wb.ladder(wb.simulate(tasks=6, workers=8, capacity=6), epsilon=0.3, trials=2)
    ),
    "solve small.json --exact --out o.csv": lambda: wb.solve("small.json", exact=True),
    "solve problem.json --formulation dual --solver highs": (
        lambda: wb.solve("problem.json", "dual", solver="highs")
    ),
    "solve small.json --epsilon 1e-9": lambda: wb.solve("small.json", epsilon=1e-9),
    "doctor": doctor,
    STORE: lambda: wb.run_study(EXAMPLE, **ASKED),
    "study report --store s.sqlite --out page.html": lambda: wb.report("s.sqlite", "page.html"),
    "claims --store s.sqlite --out claims.md": lambda: judge("s.sqlite"),
}
"""Command lines, and the call that gives the same."""
DEAR = (
    "audit plan",
    "compare",
    f"plan {LABELS}",
    "study report",
)
TWINS = (
    f"aggregate {LABELS}",
    f"compare {LABELS}",
    f"hire {LABELS} --budget 3 --costs",
    f"learn {LABELS}",
)
"""Further lines of a command that is compared in every run."""
VAIN = ("--money 0.5", "--epsilon 0.01", "--epsilon 1e-9")
ROOMS = {
    "study list": lambda: overview.catalogued(studies()),
    f"study show {EXAMPLE}": lambda: overview.described(request(EXAMPLE)),
    "study status --store s.sqlite": lambda: overview.standing(Store.open("s.sqlite")),
    "study verify --store s.sqlite --sample 2 --seed 3": lambda: verify(
        Path("s.sqlite"), sample=2, seed=3
    ).payload(),
    "data list": lambda: datasets.catalogue().to_dict("records"),
    "data info rte": lambda: datasets.describe("rte"),
}
"""Commands that list what a room knows."""
ACTIONS = {
    "audit start",
    "audit next",
    "audit tell",
    "audit status",
    "verify",
    "convert",
    "collect start",
    "collect next",
    "collect tell",
    "collect audit",
    "collect change",
    "collect labels",
    "collect status",
    "collect answers",
    "collect history",
    "collect undo",
    "collect pull",
    "collect serve",
    "collect backup",
    "export",
    "study export",
    "study probe",
    "study stale",
    "study stamp",
    "data fetch",
    "leaderboard",
}
"""Commands that do something: compared below, or in tests of their own."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Labels, skills, tasks, problems and a store, as files."""
    place = tmp_path_factory.mktemp("files")
    labels, gold = crowd("q{}".format, "w{}".format, "ny".__getitem__)
    workers = labels["worker"].unique()
    tables = {
        "labels": labels,
        "gold": gold.reset_index(),
        "tasks": pd.DataFrame({"task": ["007", "b"]}),
        "answers": pd.DataFrame({"task": range(40), "label": "y", "confidence": [0.9, 0.7] * 20}),
        "truth": pd.DataFrame({"task": range(20), "gold": list("yyyyn") * 4}),
        "costs": pd.DataFrame({"worker": workers, "cost": [1.0, 2.0] * (WORKERS // 2)}),
        "capacity": pd.DataFrame({"worker": workers, "capacity": 2}),
        "skills": pd.DataFrame({"worker": ["u", "v", "w"], "birds": 0.9, "dogs": [0.9, 0.8, 0.7]}),
        "pairs": pd.DataFrame({"task": list("xxyy"), "worker": list("uvuv")}),
        "typed": pd.DataFrame({"task": ["x", "y"], "task_type": ["birds", "dogs"]}),
    }
    for name, frame in tables.items():
        frame.to_csv(place / f"{name}.csv", index=False)
    (place / "small.json").write_text(json.dumps(GOOD))
    (place / "problem.json").write_text(json.dumps(TYPED))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        wb.run_study(EXAMPLE, **ASKED)
    return place


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("WORKBENCH_DATA", str(folder))


def lane_of(line: str):
    if line.startswith(TWINS):
        return pytest.mark.release
    return [pytest.mark.slow] * line.startswith(DEAR)


def run(line: str):
    result = CliRunner().invoke(main, line.split())
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def alike(told, known):
    """Whether two runs found the same, at any depth."""
    if isinstance(known, dict):
        assert told.keys() == known.keys()
        return all(alike(told[name], known[name]) for name in known.keys() - VOLATILE)
    if isinstance(known, list):
        return len(told) == len(known) and all(map(alike, told, known))
    return told == known


@pytest.mark.parametrize("line", [pytest.param(name, marks=lane_of(name)) for name in CASES])
def test_a_command_tells_what_the_door_gives(line):
    result, made = run(f"{line} --json"), CASES[line]()
    assert result.exit_code == (1 if line.endswith(VAIN) else 0), result.output
    told, known = json.loads(result.stdout), json.loads(strict_json(made.to_dict()))
    if line.startswith("claims"):
        pages = made.pages("claims.md")
        assert len(pages) == 2 + len({claim.paper for claim in claims()})
        for place, page in pages.items():
            assert place.read_text(encoding="utf-8") == page
    assert next(iter(told)) == "schema"
    assert alike(told, known)
    if "--out o.csv" in line:
        assert Path("o.csv").read_text(encoding="utf-8") == made.to_frame().to_csv(index=False)
    if "seconds" not in made.details() and not line.startswith(("study run", "hire")):
        page = run(line).stdout
        for option in ("iterations", "labels", "gold"):
            page = page.replace(f"--{option}", f"`{option}`")
        assert page.startswith(made.summary())
        if made.verdict():
            page = run(f"{line} --details").stdout
            for option in ("iterations", "labels", "gold"):
                page = page.replace(f"--{option}", f"`{option}`")
            assert page.startswith("\n".join(made.verdict()))
            assert made.details() in page


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(name, marks=[pytest.mark.release] * name.startswith("study verify"))
        for name in ROOMS
    ],
)
def test_a_command_lists_what_its_room_gives(line):
    told, known = json.loads(run(f"{line} --json").stdout), json.loads(strict_json(ROOMS[line]()))
    assert told.pop("schema") == 2
    if isinstance(known, list):
        (told,) = told.values()
    assert alike(told, known)


def test_what_was_done_to_a_store():
    exported = json.loads(run(f"study export {NAME} --store s.sqlite --out t.csv --json").stdout)
    with Store.open("s.sqlite") as store:
        trials = store.table(NAME)
    assert exported == {
        "schema": 2,
        "out": "t.csv",
        "rows": len(trials),
        "columns": list(trials.columns),
    }
    assert len(pd.read_csv("t.csv")) == len(trials)


def test_an_exported_model():
    model = export("problem.json", "typed", format="mps")
    line = "export problem.json --formulation typed --format mps --out m.mps --json"
    assert json.loads(run(line).stdout) == {"schema": 2, "file": "m.mps", **model.to_dict()}
    assert Path("m.mps").read_bytes() == model.content


def commands(group: click.Command, context: click.Context, name: str = "") -> dict[str, bool]:
    """All command lines below a group, and whether they take --json."""
    if not isinstance(group, click.Group):
        return {name.strip(): any("--json" in one.opts for one in group.params)}
    found: dict[str, bool] = {}
    for child in group.list_commands(context):
        inner = group.get_command(context, child)
        assert inner is not None
        found |= commands(inner, context, f"{name} {child}")
    return found


def test_every_command_tells_json_and_is_compared():
    found = commands(main, click.Context(main))
    assert all(found.values())
    lines = [f"{line} " for line in (*CASES, *ROOMS)]
    compared = {name for name in found if any(line.startswith(f"{name} ") for line in lines)}
    assert found.keys() == compared | ACTIONS
