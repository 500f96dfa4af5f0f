"""Two at once on one collection: what was acknowledged is in the file, and nothing else is."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading

import pandas as pd
import pytest
from click.testing import CliRunner

from workbench.base import writing
from workbench.base.errors import InputError
from workbench.cli import main
from workbench.collection.collector import Collector

RACES = int(os.environ.get("WORKBENCH_RACES", "40"))
TASKS = [f"t{i}" for i in range(10)]
PEOPLE = ["ann", "bob"]


def fresh(total=20, seed=0):
    return Collector(TASKS, PEOPLE, classes=["no", "yes"], total=total, policy="fixed", seed=seed)


def call(*arguments):
    return CliRunner().invoke(main, ["collect", *map(str, arguments)])


# ---- kinds of races: what is there before, what each of two does, what must hold after ----


class Tells:
    """Each tells the labels of her worker."""

    def before(self, folder):
        collector = fresh()
        for worker in PEOPLE:
            collector.next(worker, len(TASKS))
            table = pd.DataFrame({"task": TASKS, "worker": worker, "label": "yes"})
            table.to_csv(folder / f"{worker}.csv", index=False)
        collector.save(folder / "s.json")

    def ready(self, folder, who):
        return None

    def act(self, folder, who, ready):
        result = call("tell", folder / "s.json", "--labels", folder / f"{PEOPLE[who]}.csv")
        return result.exit_code, 10 if result.exit_code == 0 else 0

    def check(self, folder, first, second):
        assert (first[0], second[0]) == (0, 0)
        self.all_there(folder, first, second)

    def all_there(self, folder, first, second):
        labels = Collector.load(folder / "s.json").labels()
        assert len(labels) == first[1] + second[1]


class InMemory(Tells):
    """One tells in memory what she loaded before the other's command, and saves."""

    def ready(self, folder, who):
        return Collector.load(folder / "s.json") if who == 0 else None

    def act(self, folder, who, ready):
        if ready is None:
            return super().act(folder, who, ready)
        ready.tell("ann", dict.fromkeys(TASKS, "yes"))
        try:
            ready.save(folder / "s.json")
        except InputError:
            return 2, 0
        return 0, 10

    def check(self, folder, first, second):
        assert second[0] == 0  # a command loads what is there, and so is never refused
        self.all_there(folder, first, second)


class Nexts:
    """Each asks for her worker; the money does not reach for both."""

    def before(self, folder):
        fresh(total=12).save(folder / "s.json")

    def ready(self, folder, who):
        return None

    def act(self, folder, who, ready):
        result = call("next", folder / "s.json", "--worker", PEOPLE[who], "--most", 10, "--json")
        return result.exit_code, [tuple(one.values()) for one in json.loads(result.stdout)["asks"]]

    def check(self, folder, first, second):
        assert (first[0], second[0]) == (0, 0)
        asked = [*first[1], *second[1]]
        assert len(asked) == 12
        assert set(asked) == set(map(tuple, Collector.load(folder / "s.json").waiting()))


class Starts:
    """Each starts a collection of her own in the same file."""

    def before(self, folder):
        pd.DataFrame({"task": TASKS}).to_csv(folder / "tasks.csv", index=False)

    def ready(self, folder, who):
        return None

    def act(self, folder, who, ready):
        given = ("--tasks", folder / "tasks.csv", "--workers", 2, "--classes", "a,b", "--total", 9)
        result = call("start", folder / "s.json", *given, "--seed", who)
        return result.exit_code, result.stderr

    def check(self, folder, first, second):
        assert {first[0], second[0]} == {0, 2}
        winner = 0 if first[0] == 0 else 1
        assert "there is one already" in (first, second)[1 - winner][1]
        assert Collector.load(folder / "s.json")._saved.seed == winner


def runner(kind, who, folders, barrier, results):
    """Go through the races as one of the two."""
    for folder in folders:
        ready = kind.ready(folder, who)
        barrier.wait(60)
        results.put((who, folder, kind.act(folder, who, ready)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [Tells(), InMemory(), Nexts(), Starts()], ids=lambda k: type(k).__name__
)
def test_races(kind, tmp_path):
    folders = [tmp_path / str(k) for k in range(RACES)]
    for folder in folders:
        folder.mkdir()
        kind.before(folder)
    spawn = multiprocessing.get_context("spawn")
    barrier, results = spawn.Barrier(2), spawn.Queue()
    both = [
        spawn.Process(target=runner, args=(kind, who, folders, barrier, results)) for who in (0, 1)
    ]
    for process in both:
        process.start()
    ended = {
        (who, folder): result
        for who, folder, result in (results.get(timeout=120) for _ in range(2 * RACES))
    }
    for process in both:
        process.join(60)
    for folder in folders:
        kind.check(folder, ended[0, folder], ended[1, folder])
        assert not [file for file in folder.iterdir() if file.suffix in {".draft", ".lock"}]


# ---- the same, step by step ----


def test_a_collector_in_memory_is_not_saved_over_what_a_command_told(tmp_path):
    Tells().before(tmp_path)
    file = tmp_path / "s.json"
    mine = Collector.load(file)
    mine.tell("ann", dict.fromkeys(TASKS[:5], "yes"))
    mine.save(file)  # her own revisions are no other's
    mine.save(tmp_path / "copy.json")
    assert call("tell", file, "--labels", tmp_path / "bob.csv").exit_code == 0
    mine.tell("ann", dict.fromkeys(TASKS[5:], "no"))
    for _ in range(3):
        with pytest.raises(InputError, match="was saved by another since"):
            mine.save(file)
        mine.save(tmp_path / "copy.json")  # counts on, and does not make hers the newer one
    with pytest.raises(InputError, match="was saved by another since"):
        fresh().save(file)
    assert len(Collector.load(file).labels()) == 15
    with Collector.changing(file) as collector:
        collector.tell("ann", dict.fromkeys(TASKS[5:], "no"))
    assert len(Collector.load(file).labels()) == 20


def test_a_block_that_fails_changes_nothing(tmp_path):
    file = tmp_path / "s.json"
    fresh().save(file)
    before = file.read_bytes()

    def fail():
        with Collector.changing(file) as collector:
            collector.next("ann")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert file.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["s.json"]


def test_who_waits_too_long_is_told_so_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "WAIT", 0.2)
    Tells().before(tmp_path)
    file = tmp_path / "s.json"
    before = file.read_bytes()
    (tmp_path / "link.json").symlink_to(file)
    with writing.locked(file):
        for path in (file, tmp_path / "link.json"):
            result = call("tell", path, "--labels", tmp_path / "ann.csv")
            assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
            assert "another has been writing to it for 0.2 seconds" in result.stderr
    assert file.read_bytes() == before
    assert call("tell", file, "--labels", tmp_path / "ann.csv").exit_code == 0


def test_the_lock_excludes_many_threads(tmp_path):
    file, seen = tmp_path / "n", []
    file.write_text("0")

    def count():
        for _ in range(20):
            with writing.locked(file):
                seen.append(int(file.read_text()))
                file.write_text(str(seen[-1] + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_text() == "80"
    assert sorted(seen) == list(range(80))
