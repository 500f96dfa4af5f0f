"""Records know the code they were made with: what changes a trial is told from what does not."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from workbench.studies import code
from workbench.studies.code import code_digest
from workbench.studies.source import Source
from workbench.studies.syntax import dumped

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


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three modules, two of which its registry imports when they are asked for."""
    files = {
        "__init__": """
from workbench.base.registry import Entry, Registry, imported

PLACES = ("votes.fine:vote",)
VOTES = Registry("vote", *(Entry(name, imported(name), "one word", "none") for name in PLACES))
RULES = Registry("rule", Entry("plain", imported("votes.plain:vote"), "a rule", "practice"))
FIRST = "plain"

def ruled(x, kind="plain"):
    return imported(f"votes.plain:{kind}"), imported("votes.fine:vote")

def chosen(name):
    return VOTES[name].call
""",
        "plain": """
from votes.sums import added
WEIGHT = 1
def vote(x):
    return WEIGHT * added(x)
def unused(x):
    return 0
""",
        "fine": "def vote(x):\n    return 2\n",
        "sums": "def added(x):\n    return x + 1\n\ndef taken(x):\n    return x - 1\n",
    }
    folder = tmp_path / "votes"
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setitem(code.ROOTS, "votes", folder)
    monkeypatch.syspath_prepend(tmp_path)
    fresh = {True: code._module.__wrapped__, False: code._module}
    monkeypatch.setattr(code, "_module", lambda name, path: fresh["votes" in name](name, path))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "votes"]:
        del sys.modules[name]


EDITS = {
    "a function that is called": ("plain", "* added(x)", "+ added(x)"),
    "what this calls elsewhere": ("sums", "x + 1", "x + 2"),
    "a constant": ("plain", "WEIGHT = 1", "WEIGHT = 2"),
    "a function that nobody calls": ("sums", "x - 1", "x - 2"),
    "another one": ("plain", "return 0", "return 1"),
    "a module of the registry": ("fine", "return 2", "return 3"),
    "the registry's names": ("__init__", "one word", "a word"),
    "a statement that acts": ("sums", "def taken", "print()\n\ndef taken"),
    "one in the package": ("__init__", "FIRST =", "print()\nFIRST ="),
}
BY_NAME = {"a function that is called", "what this calls elsewhere", "a constant"}
ACTS = {"a statement that acts", "one in the package"}
ALL = {"a module of the registry", "another one", "the registry's names"}


@pytest.mark.parametrize(
    ("line", "use", "counted"),
    [
        ("from votes.plain import vote", "vote", BY_NAME | ACTS),
        ("from votes import plain", "plain.vote", BY_NAME | ACTS),
        ("import votes.plain as p", "p.vote", BY_NAME | ACTS),
        ("import votes.plain", "votes.plain.vote", BY_NAME | ACTS),
        ("from votes import plain", "getattr(plain, 'vote')", BY_NAME | ACTS | {"another one"}),
        ("from votes.plain import *", "vote", BY_NAME | ACTS | {"another one"}),
        ("from votes import FIRST", "len", ACTS - {"a statement that acts"}),
        ("from votes import VOTES", "VOTES['plain'].call", {*EDITS}),
        ("from votes import chosen", "chosen('plain')", {*EDITS}),
        ("from votes import RULES", "RULES['plain'].call", BY_NAME | ACTS),
        (
            "from votes import ruled",
            "ruled(1)",
            BY_NAME | ACTS | {"another one", "a module of the registry"},
        ),
        ("import votes", "votes.chosen('plain')", {*EDITS}),
        ("import votes as v", "vars(v)['chosen']('plain')", {*EDITS}),
    ],
)
def test_what_counts_of_a_package(package, tmp_path, line, use, counted):
    """What code reaches counts, by name; all that a registry may import where it is reached."""
    text = STUDY.replace("\nFACTOR", f"{line}\n\nFACTOR").replace(
        "return FACTOR", f"{use}; return 2"
    )
    before, changed = digest_of(tmp_path, text), set()
    for what, (name, old, new) in EDITS.items():
        path = package / f"{name}.py"
        kept = path.read_text()
        assert kept.count(old) == 1
        path.write_text(kept.replace(old, new))
        code_digest.cache_clear()
        if digest_of(tmp_path, text) != before:
            changed.add(what)
        path.write_text(kept)
    assert changed == counted


@pytest.mark.release
def test_the_front_door_leads_to_what_is_called(tmp_path):
    """`wb.aggregate` counts with what it calls, not `wb.collect`."""
    seen = places(tmp_path, "import workbench as wb", "wb.aggregate")
    assert code.Place("workbench.api.labelling", "aggregate") in seen
    assert "workbench.aggregation.dawid_skene" in {place.module for place in seen}
    assert "workbench.api.collecting" not in {place.module for place in seen}


def places(folder, line, use):
    """Places whose code counts, in the study above with a line more and another call."""
    text = STUDY.replace("\nFACTOR", f"{line}\n\nFACTOR").replace(
        "return FACTOR", f"{use}; return 2"
    )
    (folder / "mine.py").write_text(text)
    return code.places(Source.of(str(folder / "mine.py")))


@pytest.mark.release
def test_policies_count_where_they_are_looked_up_by_name():
    seen = {place.module for place in code.places(Source.of("collect-simulated"))}
    assert {"workbench.collection.sure", "workbench.base.seeds", "crowd_models.problem"} <= seen
    assert not any(name.startswith("workbench.cli") for name in seen)
    seen = {place.module for place in code.places(Source.of("learn-regret"))}
    assert any(name.startswith("workbench.learning.") for name in seen)
    assert not any(name.startswith(("workbench.solving", "workbench.collection")) for name in seen)


def test_a_release_and_another_python_are_no_other_code():
    """The front door's version is no part of it, nor are fields that a later Python adds."""
    assert not {place.module for place in code.places(Source.of("toy-example"))} & {"workbench"}
    engine = code._followed([code.Place("workbench.studies.code", code.WHOLE)], {})
    assert not {place.module for place in engine} & {"workbench"}
    tree = ast.parse("def f(x):\n    return x").body[0]
    before = dumped(tree)
    tree._fields = (*tree._fields, "added_later")
    tree.added_later = []
    assert dumped(tree) == before
    assert dumped(ast.parse("def f(x):\n    return -x").body[0]) != before
