"""`workbench study` as people and scripts run it."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pexpect
import psutil
import pytest

from workbench.base import registry
from workbench.studies import source

TOYS = Path(__file__).parents[1] / "studies" / "toys.py"
WORKBENCH = [sys.executable, "-m", "workbench.cli"]


@pytest.fixture
def study(run, tmp_path):
    """Run a study command on a store of the test's own."""
    store = tmp_path / "s.sqlite"

    def call(verb, *arguments, code=0):
        place = () if verb in {"list", "show"} else ("--store", store)
        result = run("study", verb, *arguments, *place)
        assert result.exit_code == code, result.output
        return result

    call.store = store
    return call


@pytest.mark.slow
def test_run_resume_and_look(study, tmp_path):
    first = study("run", TOYS, "--size", "smoke", "--processes", 1, "--json")
    told = json.loads(first.stdout)
    assert (told["planned"], told["done"], told["skipped"], told["left"]) == (4, 4, 0, 0)
    assert told["counts"] == {"ok": 4}
    assert told["interrupted"] is False
    assert "toy: 4 of 4 trials" in first.stderr

    again = study("run", TOYS, "--size", "small", "--processes", 2)
    assert "toy: 4 of 30 trials are done: skipped" in again.stderr
    assert "toy: 30 of 30 trials" in again.stdout
    assert f"workbench study report toy --store {study.store}" in again.stdout

    rows = json.loads(study("status", "--json").stdout)["studies"]
    assert [(r["size"], r["planned"], r["ended"], r["counts"]) for r in rows] == [
        ("smoke", 4, 4, {"ok": 4}),
        ("small", 30, 30, {"ok": 30}),
    ]
    assert "30 ok" in study("status").stdout

    out = tmp_path / "trials.csv"
    study("export", "toy", "--out", out)
    trials = pd.read_csv(out)
    assert len(trials) == 30
    assert (trials["x_squared"] == trials["x"] ** 2).all()
    study("export", "toy", "--out", tmp_path / "trials.parquet", "--json")
    assert len(pd.read_parquet(tmp_path / "trials.parquet")) == 30

    assert "sound" in study("verify", "--sample", 5).stdout
    page = tmp_path / "page.html"
    study("report", "toy", "--out", page)
    assert "<svg" in page.read_text() or "30 trials" in page.read_text()


@pytest.mark.slow
def test_verify_finds_a_record_that_does_not_come_again(study):
    study("run", TOYS, "--size", "smoke", "--processes", 1)
    with sqlite3.connect(study.store) as db:
        db.execute("UPDATE attempts SET record = replace(record, '0.', '1.') WHERE id = 1")
    db.close()
    told = study("verify", code=1)
    assert "not sound" in told.stdout
    refused = study("run", TOYS, "--size", "smoke", "--processes", 1, code=2)
    assert "rename it and run its studies again" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("run", "no-such-study"), "no study 'no-such-study': there are leaderboard"),
        (("run", TOYS, "--processes", 2, "--scheduler", "tcp://x:1"), "--processes is for this"),
        (("run", TOYS, "--scheduler", "tcp://x:1"), "tcp://x:1: without TLS whoever answers there"),
        (("run", TOYS, "--tls-key", "no.pem"), "'no.pem' does not exist"),
        (("export", "toy", "--out", "t.xls"), "--out t.xls: give a path that ends in .csv or"),
        (("report", "--out", "t.pdf"), "--out t.pdf: give a path that ends in .html"),
    ],
)
def test_bad_input_gets_one_line(refused, tmp_path, monkeypatch, arguments, line):
    monkeypatch.chdir(tmp_path)
    assert line in refused("study", *arguments)
    left = [path.name for path in tmp_path.iterdir() if path.suffix not in {".lock"}]
    assert left in ([], ["studies.sqlite"])


OWN = """
import numpy as np
from workbench.studies.study import Analysis, Parameter, Size, Study

def trial(params, streams):
    return {"mean": float(np.random.default_rng(streams.instance).random(params["n"]).mean())}

def analyse(table):
    return Analysis(findings=(f"mean {table['mean'].mean():.2f}",))

size = Size(({"n": [10, 100]},), 3)
STUDY = Study("own-study", "Means", "mine", {"n": Parameter(int, 10, "numbers")},
              {"smoke": size, "small": size, "paper": size}, trial, analyse)
"""


# A store may come from anywhere: what it names is not run

MARK = "from pathlib import Path\nPath(__file__).with_name('was run').touch()\n"


@pytest.fixture
def marked(tmp_path, run, monkeypatch):
    """A folder with a store, and a study that leaves a mark when it is run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(MARK + OWN)
    assert run("study", "run", "own.py", "--processes", 1, "--json").exit_code == 0
    mark = tmp_path / "was run"
    mark.unlink()
    source._load.cache_clear()
    monkeypatch.setattr(registry, "_loaded", {})
    return mark


@pytest.mark.slow
def test_code_that_only_a_store_names_is_not_run(marked, run, tmp_path):
    for arguments in (
        ("status",),
        ("verify",),
        ("report",),
        ("export", "own-study", "--out", "t.csv"),
    ):
        told = run("study", *arguments)
        assert told.exit_code in {0, 1, 2}
        assert told.exception is None or isinstance(told.exception, SystemExit)
        assert not marked.exists(), arguments


@pytest.mark.release
def test_ones_own_trials_are_run_again_where_their_file_is_named(marked, run, refused):
    told = run("study", "verify")
    assert told.exit_code == 0
    assert "own.py is code of your own, which is run only if you name it" in told.stdout
    assert "run again: 0," in told.stdout
    assert "run again: 6, of which 6" in run("study", "verify", "--study", "own.py").stdout
    assert marked.exists()
    own = marked.with_name("own.py")
    own.write_text(own.read_text() + "# a remark makes no other trial")
    assert "run again: 6, of which 6" in run("study", "verify", "--study", "own.py").stdout
    for verb in ("verify", "report"):
        assert "--study x.toml: give the .py file" in refused("study", verb, "--study", "x.toml")
        assert "none.py: no such file" in refused("study", verb, "--study", "none.py")


# Ctrl-C in a terminal


def started(store, trials):
    """Start a run of trials of 0.1 s in a terminal of its own."""
    command = [
        *WORKBENCH,
        "study",
        "run",
        str(TOYS),
        "--store",
        str(store),
        "--processes",
        "2",
        "--set",
        "act=sleep",
        "--set",
        "seconds_asked=0.1",
        "--set",
        "x=0",
        "--set",
        "method=a",
        "--repetitions",
        str(trials),
    ]
    terminal = pexpect.spawn(
        command[0],
        command[1:],
        encoding="utf-8",
        timeout=60,
        dimensions=(30, 200),
        cwd=str(TOYS.parents[3]),
    )
    terminal.expect(r"\b([4-9]|[1-9]\d) of \d+ trials")  # a busy machine shows fewer counts
    return terminal, psutil.Process(terminal.pid).children(recursive=True)


def kept(store):
    with sqlite3.connect(store) as db:
        rows = db.execute("SELECT status, count(*) FROM attempts WHERE final GROUP BY status")
        counts = dict(rows.fetchall())
    db.close()
    return counts


@pytest.mark.release
@pytest.mark.parametrize("presses", [1, 2])
def test_control_c_keeps_what_ended_and_leaves_no_process(tmp_path, presses):
    store = tmp_path / "s.sqlite"
    terminal, workers = started(store, 200)
    assert workers
    for _ in range(presses):
        terminal.sendintr()
        time.sleep(0.05)
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 130
    said = re.sub(r"\s+", " ", terminal.before)
    assert "to go on: workbench study run" in said
    assert f"--store {store}" in said
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive
    ended = kept(store)
    assert set(ended) == {"ok"}
    assert 4 <= ended["ok"] < 200
    finish = subprocess.run(
        [
            *WORKBENCH,
            "study",
            "run",
            str(TOYS),
            "--store",
            str(store),
            "--processes",
            "2",
            "--set",
            "act=sleep",
            "--set",
            "seconds_asked=0.1",
            "--set",
            "x=0",
            "--set",
            "method=a",
            "--repetitions",
            str(ended["ok"] + 2),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=TOYS.parents[3],
    )
    assert f"{ended['ok']} of {ended['ok'] + 2} trials are done: skipped" in finish.stderr
    assert kept(store) == {"ok": ended["ok"] + 2}
