"""Records know the code they were made with: what changes a trial is told from what does not."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.studies.code import code_digest
from workbench.studies.source import Source

STUDY = '''
"""A study of mine."""
from workbench.crowd.simulate import truth
from workbench.studies.study import Analysis, Parameter, Size, Study

FACTOR = 2

def twice(x):
    """Twice as much."""
    return FACTOR * x

def trial(params, streams):
    """One trial."""
    return {"y": twice(params["x"]) + 0 * len(truth(3, seed=1))}

def analyse(trials):
    return Analysis((f"{trials['y'].mean():g}",))

SIZE = Size(({"x": [1, 2]},), 2)
STUDY = Study(name="mine", title="Mine", source="none", parameters={"x": Parameter(int, 1, "x")},
              sizes=dict.fromkeys(("smoke", "small", "paper"), SIZE), trial=trial, analyse=analyse)
'''


def digest_of(folder: Path, text: str) -> str:
    file = folder / "mine.py"
    file.write_text(text)
    return code_digest(Source.of(str(file)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""One trial."""', '"""One trial, told otherwise."""'),
        ("FACTOR = 2\n", "FACTOR = 2  # a comment\n\n\n"),
        ("{trials['y'].mean():g}", "mean {trials['y'].mean():g}"),
    ],
)
def test_words_and_analyses_are_no_other_code(tmp_path, old, new):
    assert old in STUDY
    assert digest_of(tmp_path, STUDY) == digest_of(tmp_path, STUDY.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FACTOR = 2", "FACTOR = 3"),
        ("return FACTOR * x", "return FACTOR + x"),
        ("+ 0 * len", "+ 1 * len"),
    ],
)
def test_what_a_trial_does_is(tmp_path, old, new):
    assert digest_of(tmp_path, STUDY) != digest_of(tmp_path, STUDY.replace(old, new))


def test_modules_behind_the_front_of_a_room_count(monkeypatch):
    """A policy is imported by name when it is asked for; its module is part of the code."""
    from workbench.studies import code

    source, seen = Source.of("collect-simulated"), []
    original = code._module

    def looked_at(name, path):
        seen.append(name)
        return original(name, path)

    monkeypatch.setattr(code, "_module", looked_at)
    code_digest.cache_clear()
    code_digest(source)
    assert {"workbench.collection.sure", "workbench.base.seeds", "crowd_models"} <= set(seen)
    assert not any(name.startswith("workbench.cli") for name in seen)


def test_a_release_and_another_python_are_no_other_code():
    """The front door's version is no part of it, nor are fields that a later Python adds."""
    from workbench.studies import code

    assert code.Place("workbench") not in set(code._parents("workbench.crowd.simulate"))
    tree = ast.parse("def f(x):\n    return x").body[0]
    before = code._dumped(tree)
    tree._fields = (*tree._fields, "added_later")
    tree.added_later = []
    assert code._dumped(tree) == before
    assert code._dumped(ast.parse("def f(x):\n    return -x").body[0]) != before


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "workbench.cli", "study", *options]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)


def test_trials_of_edited_code_are_named_and_run_anew_when_asked(tmp_path):
    (tmp_path / "mine.py").write_text(STUDY)
    go = ("run", "mine.py", "--size", "smoke", "--processes", "1")
    assert run(tmp_path, *go).returncode == 0
    (tmp_path / "mine.py").write_text(STUDY.replace("FACTOR = 2", "FACTOR = 5"))
    again = run(tmp_path, *go)
    line = "4 trials were made by other code than today's"
    assert again.returncode == 0
    assert line in again.stderr
    page = ("report", "mine", "--study", "mine.py", "--out", "page.html")
    assert run(tmp_path, *page).returncode == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "4 of the trials below were made by other code" in text
    fresh = run(tmp_path, *go, "--fresh")
    assert "other code" not in fresh.stderr + fresh.stdout
    assert run(tmp_path, *page).returncode == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "made by other code" not in text
    assert "7.5" in text  # the mean of 5 x
