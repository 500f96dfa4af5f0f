"""The examples of the README and of the how-to pages do what they say."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest
from click.testing import CliRunner

import workbench as wb
from tests.core.assignment.test_top_up import half_labelled
from workbench.cli import main

HERE = Path(__file__).parents[1]
README = HERE / "README.md"
if not README.exists():
    pytest.skip("no README beside the tests", allow_module_level=True)
HOW_TO = HERE / "docs" / "how-to"
PAGES = [
    *(HERE / "docs" / name for name in ("start.md", "promises.md")),
    *sorted(HOW_TO.glob("*.md")),
]


def blocks(language: str, page: Path = README) -> list[str]:
    """Fenced code of a language, indented or not, and what is indented with it taken off."""
    text = page.read_text("utf-8")
    fences = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", text, re.M | re.S)
    return [re.sub(rf"^{indent}", "", code, flags=re.M) for indent, code in fences]


def commands(page: Path = README) -> list[list[str]]:
    """Arguments of every `workbench` line that is shown."""
    lines = "\n".join(blocks("sh", page)).replace("\\\n", " ").splitlines()
    said = [part for line in lines for part in line.split("&&")]
    split = [shlex.split(part, comments=True) for part in said]
    return [words[1:] for words in split if words and words[0].endswith("workbench")]


def test_the_problem_file_has_a_proven_optimum(tmp_path):
    (text,) = blocks("json", HOW_TO / "solver.md")
    (tmp_path / "problem.json").write_text(text)
    result = CliRunner().invoke(main, ["solve", str(tmp_path / "problem.json")])
    assert result.exit_code == 0, result.output
    assert "proven" in result.output


def test_what_a_run_played_by_hand_gives():
    """In a process of its own, for the page registers a policy."""
    page = HOW_TO / "ratios.md"
    words = [sys.executable, "-W", "ignore", "-m", "doctest", str(page)]
    ran = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
    assert ran.returncode == 0, ran.stdout
    assert page.read_text("utf-8").count(">>> ") > 10


SHOWN = {" ".join(words): words for page in (README, *PAGES) for words in commands(page)}


@pytest.mark.parametrize("words", SHOWN.values(), ids=" ".join)
def test_every_command_shown_is_understood(words):
    command: click.Command = main
    while isinstance(command, click.Group) and not words[0].startswith("-"):
        context = click.Context(command)
        _, command, words = command.resolve_command(context, words)
    command.make_context("workbench", list(words))


# ---- the tour: the same on the command line and in Python ----

TOUR = ("hire", "aggregate", "learn", "compare", "plan", "collect")
"""Commands of the tour that have their answer in Python."""
RUNS = ("seconds", "settings", "crowd", "title")
"""What two runs may differ in: how long they took, and what they call their table."""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A crowd of one's own: labels.csv, gold.csv and tasks.csv, on the command line and beside."""
    crowd = wb.simulate("spammer-hammer", tasks=40, workers=40, skill=0.9, seed=2)
    for place in ("commands", "python"):
        (tmp_path / place).mkdir()
        crowd.labels.to_csv(tmp_path / place / "labels.csv", index=False)
        crowd.gold.to_csv(tmp_path / place / "gold.csv")
        (tmp_path / place / "tasks.csv").write_text("task\nnew 1\nnew 2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found_by_commands(place, monkeypatch):
    """What each command of the tour answers, in the order of the tour."""
    monkeypatch.chdir(place)
    told = {}
    for words in commands():
        if words[0] in TOUR and "labels.csv" in words:
            ran = CliRunner().invoke(main, [*words, "--json"])
            assert ran.exit_code == 0, ran.output
            told[words[0]] = json.loads(ran.stdout)
    return told


def found_by_python(place, monkeypatch):
    """What the tour's Python finds, by name; the first screen's needs a recorded crowd."""
    monkeypatch.chdir(place)
    known: dict[str, Any] = {}
    for code in blocks("python")[1:]:
        exec(code, known)
    return known


def same(one, other):
    """Alike, where what two runs may differ in is left out and numbers agree to rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = one.keys() - set(RUNS)
        return keys == other.keys() - set(RUNS) and all(same(one[k], other[k]) for k in keys)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-9, nan_ok=True)
    return one == other


@pytest.mark.release
def test_the_tour_is_the_same_in_python(own, monkeypatch):
    told = found_by_commands(own / "commands", monkeypatch)
    known = found_by_python(own / "python", monkeypatch)
    assert set(told) == set(TOUR)
    names = {"hire": "hires", "aggregate": "answers", "learn": "learnt", "plan": "plan"}
    names["collect"] = "collected"
    for command in TOUR:
        result = known[names.get(command, "compared")].to_dict()
        assert told[command].keys() == result.keys()
        differ = [key for key in result if not same({key: told[command][key]}, {key: result[key]})]
        assert not differ, command
    written = {path.name for path in (own / "python").iterdir()}
    assert {"hired.png", "answers.csv", "plan.csv"} <= written
    for name in ("answers.csv", "plan.csv"):
        one, other = (pd.read_csv(own / place / name) for place in ("commands", "python"))
        pd.testing.assert_frame_equal(one, other)


def given():
    """What pages take as known."""
    answers = {"g1": "y", "g2": "n"}
    said = ["pass", "pass", "fail"] * 50
    return {
        "verdicts": pd.DataFrame({"task": range(150), "judge": "gpt", "verdict": said}),
        "people": pd.Series(["pass", "fail", "fail", "pass"] * 10, name="gold"),
        "wb": wb,
        "labels": wb.read_labels("labels.csv"),
        "gold": wb.read_gold("gold.csv"),
        "tasks": pd.Series({"a": "birds", "b": "birds"}),
        "skills": pd.Series({f"w{j}": 0.9 for j in range(8)}),
        "control": pd.DataFrame({"label": answers, "task_type": "birds"}),
        "answers_of": lambda asked: {task: answers[task] for task in asked},
    }


LANES = dict.fromkeys(
    ("audit", "how-many-labels", "people-and-models", "plan", "promises", "solver", "study"),
    pytest.mark.slow,
)
LANES["hire"] = pytest.mark.release


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.stem, marks=LANES.get(page.stem, ())) for page in PAGES],
)
def test_pages_run(page, own, monkeypatch):
    monkeypatch.chdir(own / "python")
    known = given()
    for code in blocks("python", page):
        exec(code, known)


@pytest.mark.release
@pytest.mark.parametrize("classes", [2, 5])
def test_a_batch_half_labelled_is_planned_as_the_page_says(classes, tmp_path, monkeypatch):
    """What is on record is enough for some tasks, and they need nobody."""
    monkeypatch.chdir(tmp_path)
    labels, gold = half_labelled(1, classes, low=0.85)
    labels.to_csv("all.csv", index=False)
    gold.rename("label").rename_axis("task").to_csv("gold.csv")
    tasks = [*labels["task"].unique()[45:], "new 1", "new 2"]
    Path("batch.csv").write_text("\n".join(["task", *tasks]), encoding="utf-8")
    assign, aggregate = (
        words
        for words in commands(HOW_TO / "plan.md")
        if {"all.csv", "all-and-new.csv"} & set(words)
    )
    ran = CliRunner().invoke(main, [*assign, "--details", "--time-limit", "20"])
    assert ran.exit_code in (0, 1), ran.output
    assert "135 counted, of 45 tasks" in ran.output
    plan = pd.read_csv("plan.csv")
    assert plan["task"].nunique() < len(tasks)
    bought = plan[["task", "worker"]].assign(label=0)
    pd.concat([labels, bought]).to_csv("all-and-new.csv", index=False)
    ran = CliRunner().invoke(main, aggregate)
    assert ran.exit_code == 0, ran.output
