"""Run what the pages show, and keep its output and pictures.

    WORKBENCH_DATA=FOLDER python docs/shown.py

The crowd is rte: 800 pairs of sentences, 164 workers; of its gold, a hundred tasks. The judge is
made up: it lets a third of the bad answers pass. A test runs the same and compares.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
FOLDER = HERE / "_shown"
GOLD, TASKS = 100, 40
"""Tasks with a known answer, and new ones to plan for."""
JUDGED, PASSING, RIGHT = 1000, 0.7, {"pass": 0.97, "fail": 0.65}
"""Answers that are judged, the share that is good, and how often the judge is right on each."""


class Shown(NamedTuple):
    """A command, and the picture that it writes.

    Attributes
    ----------
    name
        Of the text in `_shown`; the picture is `images/how-to-NAME.png`.
    command
        As the page has it.
    picture
        Where the command writes it; "" for none.
    """

    name: str
    command: str
    picture: str = ""


SHOWN = (
    Shown("check", "check --labels labels.csv --gold gold.csv --plot check.png", "check.png"),
    Shown(
        "judge",
        "check --labels verdicts.csv --gold people.csv --judge gpt --plot judge.png",
        "judge.png",
    ),
    Shown(
        "hire",
        "hire --labels labels.csv --gold gold.csv --budget 10 --plot hired.png --out chosen.csv",
        "hired.png",
    ),
    Shown(
        "aggregate",
        "aggregate --labels labels.csv --gold gold.csv --out answers.csv --plot answers.png",
        "answers.png",
    ),
    Shown("no-gold", "aggregate --labels labels.csv --out answers.csv"),
    Shown("learn", "learn --labels labels.csv --gold gold.csv --out learnt", "learnt/learn.png"),
    Shown(
        "plan",
        "plan --labels labels.csv --gold gold.csv --tasks tasks.csv --capacity 50 --epsilon 0.05 "
        "--out plan.csv --plot plan.png",
        "plan.png",
    ),
    Shown("shared", "plan --workers ann,bob,eve,dee --tasks tasks.csv --least 2 --capacity 25"),
    Shown(
        "compare",
        "compare --labels labels.csv --gold gold.csv --epsilon 0.2 --out compared",
        "compared/compare.png",
    ),
    Shown(
        "collect",
        "collect --labels labels.csv --gold all-gold.csv --hidden-tasks 40 --epsilon 0.1 "
        "--plot collected.png",
        "collected.png",
    ),
    Shown(
        "ladder",
        "ladder --epsilon 0.1 --tasks 60 --workers 30 --skill 0.8 --out ladder",
        "ladder/ladder.png",
    ),
)

SCRIPTS = ("audit", "ratios")
"""Files of `how-to` that print what a page shows, and write a picture of their name."""
FIRST = HERE / "first.py"
"""What README and the first page show, and print."""


def lay_out(folder: Path) -> None:
    """Write the files that the commands read."""
    run(folder, "data fetch rte --out .")
    shutil.copy(folder / "rte" / "labels.csv", folder / "labels.csv")
    shutil.copy(folder / "rte" / "gold.csv", folder / "all-gold.csv")
    gold = pd.read_csv(folder / "all-gold.csv", dtype=str)
    gold.sample(GOLD, random_state=1).to_csv(folder / "gold.csv", index=False)
    true, verdicts = judged()
    pd.DataFrame({"task": true.index, "judge": "gpt", "verdict": verdicts}).to_csv(
        folder / "verdicts.csv", index=False
    )
    people = true.sample(GOLD, random_state=1)
    people.rename_axis("task").rename("gold").to_csv(folder / "people.csv")
    new = [f"new {i}" for i in range(1, TASKS + 1)]
    pd.DataFrame({"task": new}).to_csv(folder / "tasks.csv", index=False)


def judged() -> tuple[pd.Series[str], pd.Series[str]]:
    """Make answers up that pass or fail, and what a judge calls them."""
    rng = np.random.default_rng(1)
    tasks = [f"answer {i}" for i in range(1, JUDGED + 1)]
    true = pd.Series(np.where(rng.random(JUDGED) < PASSING, "pass", "fail"), index=tasks)
    other = true.map({"pass": "fail", "fail": "pass"})
    return true, true.where(rng.random(JUDGED) < true.map(RIGHT), other)


def run(folder: Path, command: str) -> str:
    """Run the command there, and give what it prints, as a terminal shows it."""
    words = [sys.executable, "-m", "workbench.cli", *shlex.split(command)]
    result = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=True
    )
    return f"$ workbench {command}\n{result.stdout}"


def run_script(folder: Path, script: Path) -> str:
    """Run a script of the pages there, and give what it prints."""
    words = [sys.executable, str(script)]
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=True
    ).stdout


def verdict(text: str) -> str:
    """Give the sentences with which a printed result begins."""
    return text.partition("\n\n")[0].rstrip() + "\n"


def split(folder: Path) -> None:
    """Write verdicts and tables apart: a page breaks the lines of the first alone."""
    for path in sorted(folder.glob("*.txt")):
        text = path.read_text("utf-8")
        for part, content in {
            "verdicts": verdict(text),
            "tables": text.partition("\n\n")[2],
        }.items():
            (folder / part).mkdir(exist_ok=True)
            (folder / part / path.name).write_text(content, encoding="utf-8")


def main() -> None:
    """Renew texts and pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder)
        for shown in SHOWN:
            text = run(folder, shown.command)
            (FOLDER / f"{shown.name}.txt").write_text(text, encoding="utf-8")
            if shown.picture:
                shutil.copy(folder / shown.picture, HERE / "images" / f"how-to-{shown.name}.png")
            print(shown.name)
        for script in SCRIPTS:
            text = run_script(folder, HERE / "how-to" / f"{script}.py")
            (FOLDER / f"{script}.txt").write_text(text, encoding="utf-8")
            shutil.copy(folder / f"{script}.png", HERE / "images" / f"how-to-{script}.png")
            print(script)
        (FOLDER / "first.txt").write_text(run_script(folder, FIRST), encoding="utf-8")


if __name__ == "__main__":
    main()
