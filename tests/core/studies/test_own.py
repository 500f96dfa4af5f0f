"""No old number is shown as new: what of the user's own trials come from, edited and run again."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from tests.core.studies.example import EXAMPLE
from tests.core.studies.serial import Serial
from workbench.base import registry
from workbench.base.errors import InputError
from workbench.studies.attempt import Outcome, Status
from workbench.studies.own import changed, digests
from workbench.studies.request import request
from workbench.studies.source import Source
from workbench.studies.source import _load as load
from workbench.studies.store import Store
from workbench.studies.verify import verify

STUDY = '''
"""A study of mine."""
import os
from workbench.aggregation import AGGREGATORS
from workbench.studies.claiming import claim
from workbench.studies.study import Analysis, Parameter, Size, Study
import helper

FACTOR = 2
SHOWN = "g"

def twice(x):
    """Twice as much."""
    return FACTOR * x

def trial(params, streams):
    """One trial."""
    plus = AGGREGATORS["plus"].call if "plus" in AGGREGATORS else float
    return {"y": plus(helper.moved(twice(params["x"])))}

def mean(trials):
    return trials["y"].mean()

def analyse(trials):
    return Analysis((f"{mean(trials):{SHOWN}}",))

@claim(id="one", source="nobody", statement="none")
def right(trials):
    return None

SIZE = Size(({"x": [1, 2]},), 2)
STUDY = Study(name="mine", title="Mine", source="none", parameters={"x": Parameter(int, 1, "x")},
              sizes=dict.fromkeys(("smoke", "small", "paper"), SIZE), trial=trial, analyse=analyse)
'''
HELPER = "def moved(x):\n    import deeper\n\n    return x + deeper.FAR\n"
DEEPER = "FAR = 10\n"
PLUGIN = """
from workbench.aggregation import AGGREGATORS
from workbench.base.registry import Entry

def plus(x):
    return x + 100.0

AGGREGATORS.register(Entry("plus", plus, "more", "mine"))
"""
FILES = {"mine.py": STUDY, "helper.py": HELPER, "deeper.py": DEEPER, "plus.py": PLUGIN}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a study, modules that it imports, and a plugin; nothing of it stays loaded."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_shared", {*registry._shared})
    monkeypatch.setattr(registry, "_loaded", {**registry._loaded})
    before = {*sys.modules}
    yield tmp_path
    for place in tmp_path.glob("*.py"):
        registry._forget(registry._registered.pop(place, []))
    for name in {*sys.modules} - before:
        if getattr(sys.modules[name], "__file__", None) in {str(tmp_path / one) for one in FILES}:
            del sys.modules[name]


def edit(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


def parts(folder: Path) -> dict[str, str]:
    return digests(Source.of(str(folder / "mine.py")).gathered().beside)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""One trial."""', '"""One trial, told otherwise."""'),
        ("FACTOR = 2\n", "FACTOR = 2  # a comment\n\n\n"),
        ('SHOWN = "g"', 'SHOWN = "f"'),
        ("{mean(trials):{SHOWN}}", "mean {mean(trials):{SHOWN}}"),
        ('trials["y"].mean()', 'trials["y"].median()'),
        ("return None", "return trials"),
        ('title="Mine"', 'title="My own"'),
        ('{"x": [1, 2]},), 2', '{"x": [1, 2, 3]},), 4'),
    ],
)
def test_words_analysis_and_sweep_are_no_other_code(folder, old, new):
    before = parts(folder)
    edit(folder, "mine.py", old, new)
    assert parts(folder) == before


EDITS = {
    "what the trial calls": ("FACTOR * x", "FACTOR + x"),
    "a constant": ("FACTOR = 2", "FACTOR = 3"),
    "the trial": ("else float", "else abs"),
    "a statement that acts": ("FACTOR = 2", "FACTOR = 2\nos.environ.pop('nobody', None)"),
}


@pytest.mark.parametrize("old_new", EDITS.values(), ids=EDITS.keys())
def test_what_a_trial_does_is(folder, old_new):
    before = parts(folder)
    old, new = old_new
    edit(folder, "mine.py", old, new)
    assert changed(before, parts(folder)) == ["mine.py"]


def test_what_the_analysis_alone_uses_counts_once_the_trial_does(folder):
    edit(folder, "mine.py", "return {", "len(str(mean))\n    return {")
    before = parts(folder)
    edit(folder, "mine.py", ".mean()", ".median()")
    assert changed(before, parts(folder)) == ["mine.py"]


@pytest.mark.parametrize(
    "text",
    ["@str\ndef extra():\n    7", "class extra(int):\n    at = 7", "extra = str(twice or 7)"],
    ids=["decorated", "class", "handed on"],
)
def test_what_may_register_itself_counts_though_the_analysis_alone_names_it(folder, text):
    edit(folder, "mine.py", "def analyse", f"{text}\n\ndef analyse")
    edit(folder, "mine.py", "return Analysis((", "return Analysis((str(extra), ")
    before = parts(folder)
    edit(folder, "mine.py", "7", "8")
    assert changed(before, parts(folder)) == ["mine.py"]


@pytest.mark.parametrize(
    "trial",
    [
        "lambda params, streams: trial(params, streams)",
        "functools.partial(trial)",
        "trial if 'trial' in globals() else None",
    ],
)
def test_where_no_name_stands_for_the_trial_the_whole_file_counts(folder, trial):
    edit(folder, "mine.py", "import os", "import os\nimport functools")
    edit(folder, "mine.py", "trial=trial", f"trial={trial}")
    before = parts(folder)
    edit(folder, "mine.py", "FACTOR * x", "FACTOR + x")
    other = parts(folder)
    assert changed(before, other) == ["mine.py"]
    edit(folder, "mine.py", ".mean()", ".median()")
    assert changed(other, parts(folder)) == ["mine.py"]


def test_a_partial_that_has_a_name_is_followed(folder):
    edit(folder, "mine.py", "SIZE =", "import functools\nown = functools.partial(trial)\nSIZE =")
    edit(folder, "mine.py", "trial=trial", "trial=own")
    before = parts(folder)
    edit(folder, "mine.py", ".mean()", ".median()")
    assert parts(folder) == before
    edit(folder, "mine.py", "FACTOR * x", "FACTOR + x")
    assert changed(before, parts(folder)) == ["mine.py"]


def test_local_modules_are_followed_wherever_they_are_imported(folder):
    before = parts(folder)
    assert set(before) == {"mine.py", "helper", "deeper"}
    edit(folder, "deeper.py", "10", "11")
    assert changed(before, parts(folder)) == ["deeper"]
    late = "import importlib\n    importlib.import_module('pack.far')"
    edit(folder, "helper.py", "import deeper", late)
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").write_text("from . import near\n")
    (folder / "pack" / "far.py").write_text("from .near import *\n")
    (folder / "pack" / "near.py").write_text("import deeper, numpy, json, workbench.crowd\n")
    assert set(parts(folder)) == {*before, "pack", "pack.far", "pack.near"}


def test_what_the_analysis_imports_within_itself_is_no_part(folder):
    edit(folder, "mine.py", "import helper\n", "")
    edit(folder, "mine.py", "helper.moved(", "(")
    edit(folder, "mine.py", "    return Analysis(", "    import helper\n    return Analysis(")
    assert set(parts(folder)) == {"mine.py"}


def test_a_study_of_an_installed_package_has_its_trial_and_modules_of_the_package(
    folder, monkeypatch
):
    """The package lies where installed ones do, so that its modules are not local ones."""
    package = folder / "site-packages" / "pollsters"
    package.mkdir(parents=True)
    text = STUDY.replace("import helper", "from . import helper")
    for name, content in {
        "__init__.py": "",
        "mine.py": text,
        "helper.py": HELPER.replace("import deeper", "from pollsters import deeper"),
        "deeper.py": DEEPER,
        "other.py": "no part\n",
    }.items():
        (package / name).write_text(content)
    monkeypatch.syspath_prepend(package.parent)
    study = importlib.import_module("pollsters.mine").STUDY
    entry = registry.Entry("mine", study, "Mine", "none")
    monkeypatch.setattr(
        "workbench.studies.source.studies", lambda: registry.Registry("study", entry)
    )

    def now() -> dict[str, str]:
        return digests(Source("mine").gathered().beside)

    before = now()
    assert set(before) == {f"pollsters{name}" for name in ("", ".mine", ".helper", ".deeper")}
    assert {file.kind for file in Source("mine").gathered().beside} == {"module"}
    edit(package, "mine.py", "{mean(trials):{SHOWN}}", "mean {mean(trials):{SHOWN}}")
    assert now() == before
    edit(package, "deeper.py", "10", "11")
    assert changed(before, now()) == ["pollsters.deeper"]
    edit(package, "mine.py", "FACTOR * x", "FACTOR + x")
    assert changed(before, now()) == ["pollsters.deeper", "pollsters.mine"]
    for name in [name for name in sys.modules if name.partition(".")[0] == "pollsters"]:
        del sys.modules[name]


def test_a_study_of_the_workbench_has_no_parts_but_plugins(folder):
    assert Source.of("leaderboard").gathered().beside == ()
    registry.load_plugin("plus.py")
    (file,) = Source.of("leaderboard").gathered().beside
    assert (file.kind, file.name) == ("plugin", "plus.py")
    edit(folder, "plus.py", "100.0", "200.0")
    with pytest.raises(InputError, match=r"plus\.py: has changed since it was loaded"):
        Source.of("leaderboard").gathered()


def test_a_worker_sees_to_it_that_a_module_is_the_same(folder):
    source = Source.of("mine.py").gathered()
    source.load()
    (helper,) = (file for file in source.beside if file.name == "helper")
    edit(folder, "helper.py", "return x", "return 2 * x")
    with pytest.raises(InputError, match="helper: the module has changed since the run began"):
        helper.load()
    with pytest.raises(InputError, match="nowhere: a worker finds no such module"):
        replace(helper, name="nowhere").load()


def test_a_worker_finds_modules_beside_the_studys_file(folder, monkeypatch):
    source = Source.of("mine.py").gathered()
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(folder)])
    assert str(folder) not in sys.path
    assert source.load().name == "mine"
    assert sys.path[-1] == str(folder)


@pytest.fixture
def serial(folder, monkeypatch):
    """Run trials in this process, with modules as they are on the disk, as in a worker."""

    class Fresh(Serial):
        def run(self, source, trials, limits, stop):
            for name in ("helper", "deeper"):
                sys.modules.pop(name, None)
            registry._loaded.pop(folder / "mine.py")
            load.cache_clear()
            return super().run(source, trials, limits, stop)

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr("workbench.api.studying.chosen", lambda *args, **more: Fresh())


def go(store: str = "kept.sqlite", **more):
    return wb.run_study("mine.py", store=store, plugins=["plus.py"], processes=1, **more)


def means(result) -> list[float]:
    assert len(result.table) == 4
    return list(result.table["y"])


def edited_and_run_anew(folder) -> None:
    assert means(go()) == [112.0, 112.0, 114.0, 114.0]
    for name, old, new in (("plus.py", "100.0", "200.0"), ("deeper.py", "10", "20")):
        edit(folder, name, old, new)
        again = go()
        part = name if name == "plus.py" else "deeper"
        assert (again.progress.done, again.progress.changed) == (4, 4)
        line = f"4 trials were made by other code of the study, or by code not on record ({part})"
        assert line in again.details()
        assert means(again) == means(go(f"{part}.sqlite"))
    assert means(again) == [222.0, 222.0, 224.0, 224.0]


def test_an_edited_plugin_and_an_edited_module_give_the_means_of_a_new_store(folder, serial):
    """NUMBERS.md 16, by `run_study`."""
    edited_and_run_anew(folder)
    named = [Source.of("mine.py")]
    whole = verify("kept.sqlite", sample=4, named=named, executor=Serial())
    assert (whole.sound, whole.repeated, whole.same) == (True, 4, 4)
    edit(folder, "deeper.py", "20", "30")
    whole = verify("kept.sqlite", sample=4, named=named, executor=Serial())
    assert (whole.sound, whole.repeated) == (True, 0)
    assert "not run again: 4 trials were made by other code of the study (deeper)" in whole.text()


@pytest.mark.release
def test_worker_processes_run_what_is_on_the_disk(folder):
    edited_and_run_anew(folder)


def test_a_new_analysis_needs_no_new_trial(folder, serial):
    assert go().findings == ("113",)
    edit(folder, "mine.py", "{mean(trials):{SHOWN}}", "middle {mean(trials):{SHOWN}}")
    after = go()
    assert after.findings == ("middle 113",)
    assert (after.progress.skipped, after.progress.done, after.progress.changed) == (4, 0, 0)
    edit(folder, "mine.py", "middle", "the mean is")
    rows = len(after.table)
    written = wb.report("kept.sqlite", "page.html", study=["mine.py"])  # without a run
    page = (folder / "page.html").read_text("utf-8")
    assert "the mean is 113" in page
    assert "other code of the study" not in page
    (note,) = written.notes
    assert note.startswith("mine: findings and figures are by mine.py as it is today, SHA-256 ")
    assert "; its trials were run with another version, SHA-256 " in note
    assert "Findings and figures are by mine.py as it is today" in page
    with Store.open("kept.sqlite") as store:
        assert len(store.rows()) == rows
    edit(folder, "mine.py", "FACTOR = 2", "FACTOR = 3")
    written = wb.report("kept.sqlite", "page.html", study=["mine.py"])
    page = (folder / "page.html").read_text("utf-8")
    assert "4 of the trials below were made by other code of the study than today" in page
    assert written.notes[1].startswith("mine: 4 trials on the page are of other code of the study")
    edit(folder, "mine.py", ", analyse=analyse)", ")")  # without one it gets the usual
    (folder / "mine.py").write_text((folder / "mine.py").read_text().replace("= 3", "= 2"))
    wb.report("kept.sqlite", "page.html", study=["mine.py"])
    assert "y is least, 112.000" in (folder / "page.html").read_text("utf-8")


def test_fresh_runs_all_anew_and_another_workbench_is_said(folder, serial, monkeypatch):
    from workbench.studies.environment import Environment

    go()
    assert go(rules=wb.TrialRules(fresh=True)).progress.done == 4
    with Store.open("kept.sqlite") as store:
        assert len(store.rows()) == 8
    here = Environment.here()
    monkeypatch.setattr(Environment, "here", lambda: replace(here, workbench="0" * 64))
    again = go()
    assert (again.progress.skipped, again.progress.older) == (4, 4)
    assert "4 trials were made by another workbench than today's" in again.details()
    assert go(rules=wb.TrialRules(fresh=True)).progress.done == 4


def test_records_of_release_2_0_are_of_code_not_on_record(folder, serial, monkeypatch):
    from workbench.studies.environment import Environment

    def earlier(self):
        """Read what 2.0 wrote: a digest by names, and nothing of the user's."""
        return replace(self, workbench="", own={})

    go()
    read = Environment.read
    assert read(json.dumps({**json.loads(Environment.here().json), "code": "5" * 64})).own == {}
    monkeypatch.setattr(Environment, "read", lambda text: earlier(read(text)))
    assert go().progress.changed == 4
    monkeypatch.setattr(registry, "_shared", set())
    plan = request(EXAMPLE, size="smoke").plan
    with Store.open("kept.sqlite", write=True) as store:
        store.write([Outcome(trial, Status.OK) for trial in plan.trials()])
    with Store.open("kept.sqlite") as store:
        older, other = store.unlike(plan.study, plan.version, {})
    assert (len(older), other) == (len(list(plan.trials())), {})


def test_what_other_code_made_is_not_in_the_table_of_a_run_that_was_stopped(folder, serial):
    from threading import Event

    go()
    edit(folder, "plus.py", "100.0", "200.0")
    stop = Event()
    stop.set()
    stopped = go(stop=stop)
    assert stopped.progress.left == 4
    assert stopped.table.empty


@pytest.mark.release
def test_the_command_runs_anew_what_edited_code_made(folder):
    """NUMBERS.md 16, by the command."""

    def command(*words: str) -> tuple[str, str]:
        line = ["study", "run", "mine.py", "--plugin", "plus.py", "--processes", "1", *words]
        ended = subprocess.run(
            [sys.executable, "-m", "workbench.cli", *line],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([".", *sys.path])},
        )
        return ended.stdout, ended.stderr

    def values(store: str = "studies.sqlite") -> list[float]:
        with Store.open(store) as opened:
            return list(opened.table("mine")["y"])

    command()
    for name, old, new in (("plus.py", "100.0", "200.0"), ("helper.py", "x + ", "2 * x + ")):
        edit(folder, name, old, new)
        _, said = command()
        assert said.count("other code of the study, or by code not on record") == 1
        command("--store", f"{name}.sqlite")
        assert values() == values(f"{name}.sqlite")
    edit(folder, "mine.py", "{mean(trials):{SHOWN}}", "middle {mean(trials):{SHOWN}}")
    _, said = command()
    assert "4 of 4 trials are done: skipped" in said
    assert "other code" not in said
    with Store.open("studies.sqlite") as store:
        before = len(store.rows())
    command("--fresh")
    with Store.open("studies.sqlite") as store:
        assert len(store.rows()) == before + 4
