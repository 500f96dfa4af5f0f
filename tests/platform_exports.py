"""A small crowd as five platforms export it, written by hand; and the tour that users take with it.

Run as a script it makes the exports in the folder it stands in and takes the tour of each, with no
library but what the wheel brings.
"""

from __future__ import annotations

import csv
import io
import json
import random
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

WORKERS = {"ann": 0.95, "bob": 0.9, "cy": 0.85, "dee": 0.8, "eve": 0.75, "flo": 0.6}
TASKS = range(1, 41)
TRUE = {task: "cat" if task % 3 else "dog" for task in TASKS}
OTHER = {"cat": "dog", "dog": "cat"}


def answers() -> Iterator[tuple[int, str, str]]:
    """Every worker's label of every task, right as often as her skill."""
    rng = random.Random(5)
    for task in TASKS:
        for worker, skill in WORKERS.items():
            right = rng.random() < skill
            yield task, worker, TRUE[task] if right else OTHER[TRUE[task]]


def label_studio() -> str:
    def annotation(worker: str, label: str) -> dict[str, object]:
        value = {"choices": [label]}
        result = {"from_name": "animal", "to_name": "image", "type": "choices", "value": value}
        by = {"id": 1 + list(WORKERS).index(worker), "email": f"{worker}@example.org"}
        return {"completed_by": by, "result": [result], "was_cancelled": False, "lead_time": 3.2}

    return json.dumps(
        [
            {
                "id": task,
                "data": {"image": f"/data/{task}.jpg"},
                "annotations": [annotation(who, said) for at, who, said in answers() if at == task],
                "predictions": [],
            }
            for task in TASKS
        ]
    )


def argilla() -> str:
    def record(task: int) -> dict[str, object]:
        given = [(who, said) for at, who, said in answers() if at == task]
        return {
            "id": str(task),
            "status": "completed",
            "text": f"picture {task}",
            "animal.responses": [said for _, said in given],
            "animal.responses.users": [who for who, _ in given],
            "animal.responses.status": ["submitted"] * len(given),
            "animal.suggestion": None,
        }

    return "".join(json.dumps(record(task)) + "\n" for task in TASKS)


def prodigy() -> str:
    options = [{"id": name, "text": name} for name in OTHER]
    return "".join(
        json.dumps(
            {
                "text": f"picture {task}",
                "_input_hash": 1000 + task,
                "_task_hash": -1000 - task,
                "options": options,
                "accept": [said],
                "answer": "accept",
                "_annotator_id": f"animals-{who}",
                "_session_id": f"animals-{who}",
                "_timestamp": 1_700_000_000 + task,
            }
        )
        + "\n"
        for task, who, said in answers()
    )


def mturk() -> str:
    rows = [
        {
            "HITId": f"3H{task:04}",
            "Title": 'Name the "animal"',
            "Reward": "$0.05",
            "AssignmentId": f"3A{task}{who}",
            "WorkerId": f"A{who.upper()}",
            "AssignmentStatus": "Approved",
            "SubmitTime": "Mon Mar 04 10:00:00 PST 2024",
            "WorkTimeInSeconds": "7",
            "Input.image_url": f"https://example.org/{task}.jpg",
            "Answer.animal.label": said,
        }
        for task, who, said in answers()
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def toloka() -> str:
    head = (
        "INPUT:image",
        "OUTPUT:animal",
        "GOLDEN:animal",
        "HINT:text",
        "ASSIGNMENT:link",
        "ASSIGNMENT:task_id",
        "ASSIGNMENT:assignment_id",
        "ASSIGNMENT:worker_id",
        "ASSIGNMENT:status",
        "ASSIGNMENT:started",
    )
    rows = [
        (
            f"/{task}.jpg",
            said,
            TRUE[task] if task <= 25 else "",
            "",
            "",
            f"t{task}",
            f"a{task}{who}",
            who,
            "APPROVED",
            "2024-03-04T10:00:00",
        )
        for task, who, said in answers()
    ]
    return "".join("\t".join(row) + "\n" for row in (head, *rows))


EXPORTS: dict[str, tuple[Callable[[], str], Callable[[int], str]]] = {
    "label-studio.json": (label_studio, str),
    "argilla.jsonl": (argilla, str),
    "prodigy.jsonl": (prodigy, lambda task: str(-1000 - task)),
    "mturk.csv": (mturk, lambda task: f"3H{task:04}"),
    "toloka.tsv": (toloka, lambda task: f"t{task}"),
}
"""By the file's name: what it holds, and what its tasks are called."""


def tour(folder: Path) -> list[str]:
    """Take the tour with every export; what went wrong, a line each."""
    from click.testing import CliRunner

    from workbench.cli import main

    (folder / "tasks.csv").write_text("task\nnew 1\nnew 2\n")
    wrong = []
    for file, (export, named) in EXPORTS.items():
        (folder / file).write_text(export(), encoding="utf-8")
        gold = "".join(f"{named(task)},{TRUE[task]}\n" for task in TASKS if task <= 25)
        (folder / "gold.csv").write_text("task,gold\n" + gold)
        labels = ["--labels", str(folder / file)]
        # Toloka's has gold in it.
        known = labels if file == "toloka.tsv" else [*labels, "--gold", str(folder / "gold.csv")]
        plan, hired = str(folder / "plan.csv"), str(folder / "chosen.csv")
        for words in (
            ["check", *known],
            ["aggregate", *labels, "--out", str(folder / "answers.csv")],
            ["hire", *known, "--budget", "3", "--out", hired],
            ["aggregate", *labels, "--workers", hired, "--method", "weighted-log-odds"],
            [
                "plan",
                *known,
                "--tasks",
                str(folder / "tasks.csv"),
                "--capacity",
                "5",
                "--epsilon",
                "0.1",
                "--out",
                plan,
            ],
            ["collect", *known, "--total", "60"],
        ):
            ran = CliRunner().invoke(main, words)
            if ran.exit_code or "Traceback" in ran.output:
                error = ran.exc_info[2] if ran.exc_info else None
                trace = traceback.format_tb(error)[-1] if error else ""
                wrong.append(f"{file}, {words[0]}: exit {ran.exit_code}: {ran.output} {trace}")
        right = sum(
            row["label"] == TRUE[task]
            for task, row in zip(
                TASKS, csv.DictReader((folder / "answers.csv").open(encoding="utf-8")), strict=True
            )
        )
        print(f"{file}: {right} of 40 tasks labelled rightly", flush=True)
        if right < 36:
            wrong.append(f"{file}: {right} of 40 tasks labelled rightly")
    return wrong


if __name__ == "__main__":
    found = tour(Path.cwd())
    print("\n".join(found))
    sys.exit(bool(found))
