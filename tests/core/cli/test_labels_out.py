"""Labels taken home: every label with its time and what is known, read again by every command."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd

import workbench as wb

COLUMNS = ["task", "worker", "label", "time", "gold", "hidden"]


def begun(path):
    """Six tasks, two of them hidden and one gold beside; ann errs on one, bob on none."""
    collector = wb.Collector(
        [f"t{i}" for i in range(6)],
        ["ann", "bob"],
        gold={"g": "no"},
        hidden={"t0": "no", "t1": "yes"},
        classes=["no", "yes"],
        people=wb.People(have=pd.DataFrame({"task": ["t5"], "worker": ["bob"], "label": ["yes"]})),
        total=20,
        policy=("fixed", {"k": 2}),
        path=path,
    )
    while asked := collector.next():
        for task, worker, _ in asked:
            wrong = (task, worker) == ("t2", "ann")
            said = "yes" if wrong or (task[0] == "t" and int(task[1]) % 2) else "no"
            collector.tell(worker, {task: said})
    return collector


def test_every_label_has_its_time_and_what_is_known_of_its_task(tmp_path):
    before = datetime.now(UTC)
    collector = begun(tmp_path / "c.sqlite")
    labels = collector.labels()
    assert list(labels) == COLUMNS
    on_record, told = labels[labels["time"].isna()], labels[labels["time"].notna()]
    assert on_record[["task", "worker", "label"]].to_numpy().tolist() == [["t5", "bob", "yes"]]
    assert told["time"].is_monotonic_increasing
    assert told["time"].between(before, datetime.now(UTC)).all()
    known = labels[labels["gold"].notna()].set_index("task")
    assert dict(zip(known.index, known["gold"], strict=True)) == {"t0": "no", "t1": "yes"}
    assert known["hidden"].all()
    assert not labels.loc[~labels["task"].isin(["t0", "t1"]), "hidden"].any()
    collector.take_back("ann", ["t2"])
    assert len(collector.labels()) == len(labels) - 1
    collector.tell("ann", {"t2": "no"})
    again = collector.labels().iloc[-1]
    assert (again["task"], again["label"]) == ("t2", "no")
    assert again["time"] > told["time"].max()


def test_a_journal_is_read_wherever_labels_are(tmp_path, run):
    path = tmp_path / "c.sqlite"
    labels = begun(path).labels()
    read = wb.read_labels(path)
    assert read[["task", "worker", "label"]].to_numpy().tolist() == (
        labels[["task", "worker", "label"]].to_numpy().tolist()
    )
    out = tmp_path / "labels.csv"
    assert run("collect", "labels", path, "--out", out).exit_code == 0
    for command in (["check"], ["aggregate"], ["collect", "--total", 9, "--policy", "fixed"]):
        by_store, by_file = (
            run(*command, "--labels", source, "--json").stdout.replace(source.name, "")
            for source in (path, out)
        )
        assert by_store == by_file != ""
    other = tmp_path / "other.sqlite"
    twice = ("fixed", {"k": 2})
    tasks = [f"t{i}" for i in range(6)]
    mirror = wb.Collector(
        tasks, ["ann", "bob"], classes=["no", "yes"], total=12, policy=twice, path=other
    )
    while mirror.next():
        pass
    pairs = [*map(tuple, labels[["task", "worker"]].to_numpy())]
    assert {(asked.task, asked.worker) for asked in mirror.waiting()} == {*pairs}
    assert run("collect", "tell", other, "--labels", path).exit_code == 0
    assert len(mirror.labels()) == len(labels)


def test_an_empty_journal_is_one_line(tmp_path, run):
    path = tmp_path / "c.sqlite"
    wb.Collector(["t"], ["ann"], classes=[0, 1], total=1, path=path).close()
    refused = run("check", "--labels", path)
    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert "has no label yet" in refused.stderr
