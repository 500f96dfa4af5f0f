"""The report page: what it says, what it leaves to nobody, and how a browser shows it."""

import html
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.pages import numbers, repeat, report
from workbench.studies.attempt import Outcome, Status, attempt
from workbench.studies.own import digests
from workbench.studies.request import request
from workbench.studies.source import Source
from workbench.studies.store import Store
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import plan

TOYS = str(Path(__file__).parents[1] / "studies" / "toys.py")
HOSTILE = '"><script>alert(1)</script><img src=http://127.0.0.1:9/x.png onerror=alert(2)>'

MODULE = """
import pandas as pd
from workbench.studies.study import Analysis, Chart, Parameter, Size, Study

NOTE = {note!r}

def trial(params, streams):
    if params["x"] == 3:
        raise ValueError("three: " + NOTE)
    return {{"y": params["x"] ** 2 / 7, "note": NOTE}}

def analyse(table):
    {analysis}

STUDY = Study(
    name="odd", title="Odd " + NOTE, source="Nobody " + NOTE,
    parameters={{
        "x": Parameter(int, 0, "a number " + NOTE),
        "word": Parameter(str, NOTE, "a word"),
        "gap": Parameter(float, None, "may be missing", optional=True),
        "fair": Parameter(bool, True, "true or false"),
    }},
    sizes={{
        "smoke": Size(({{"x": [0, 1]}},), 1),
        "small": Size(({{"x": [1, 2, 3]}}, {{"x": [5], "gap": [None, 0.5]}}), 2),
        "paper": Size(({{"x": [1], "word": ["a", NOTE]}},), 3),
    }},
    trial=trial, analyse=analyse, version={version},
)
"""

CHARTS = """
    ok = table[table["status"] == "ok"].assign(named=NOTE)
    lines = Chart("lines", "Caption " + NOTE, ok, "x", "y", "x " + NOTE, "y", series="named")
    bad = Chart("bad", "never seen", ok, "x", "nowhere", "x", "y")
    steps = Chart("steps", "Second", ok, "x", "y", "x", "y", kind="step", panel="word")
    return Analysis(
        findings=("Finding " + NOTE,),
        tables={"Table " + NOTE: ok[["x", "y", "note"]].rename(columns={"note": NOTE}),
                "Wrong": 5},
        charts=(lines, bad, steps),
    )
"""


def module(folder, analysis="return Analysis()", note="plain", version=1):
    path = folder / "odd.py"
    text = MODULE.format(note=note, analysis=analysis.strip(), version=version)
    path.write_text(text)
    return Source.of(str(path))


def fill(path, source, size="smoke", *, repetitions=1, trials=None, sweep=None, seed=0):
    """Keep a study's first trials, as a run that was cut short would."""
    study = source.load()
    sweep = study.check_sweep(study.sizes[size].sweep if sweep is None else sweep)
    asked = StudyPlan.of(source, sweep, repetitions, seed=seed, size=size)
    listed = list(plan(study, sweep, repetitions, seed))
    with Store.open(path, write=True) as store:
        store.remember(asked)
        own = digests(source.gathered().beside)
        store.write([attempt(source, one) for one in listed[:trials]], own=own)
    return listed


def page(path, names=None):
    with Store.open(path) as store:
        own = {one.source.name for one in store.plans() if Path(one.source.name).is_file()}
        return report(store, names, [Source.of(name) for name in own]).html


def text(given):
    """What a reader sees of a page, without tags."""
    seen = re.sub(r"(?s)<style.*?</style>|<[^>]*>", " ", given)
    return " ".join(html.unescape(seen).split())


class Checker(HTMLParser):
    """Collects tags and attributes; complains about tags that do not close."""

    VOID = frozenset({"meta", "link", "br", "img"})

    def __init__(self, given):
        super().__init__()
        self.open, self.tags, self.ids, self.links = [], [], [], []
        self.feed(given)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.keep(attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.keep(attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def keep(self, attrs):
        for name, value in attrs:
            assert not name.startswith("on"), f"{name} would run"
            if name == "id":
                self.ids.append(value)
            if name in {"href", "src", "xlink:href", "srcset", "action"}:
                self.links.append(value)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "studies.sqlite"


# What it says.


def test_a_finished_study(store):
    fill(store, Source.of(TOYS), "small", repetitions=5)
    given = page(store)
    seen = text(given)
    for words in (
        "Toy",
        "30 trials, all that were planned, none failed.",
        "Findings 30 trials",
        "Mean draw x drawn 0 0.",
        "Failed trials None.",
        "30 trials: 5 repetitions of the sweep below, size small, seed 0.",
        "x = 0, 1, 2; method = a, b",
        f"numpy {np.__version__}",
        "worker processes 1 on 1 machine",
        "workbench study run toys.py --size small --repetitions 5 --seed 0",
        "workbench study verify",
        "workbench study report toy",
    ):
        assert words in seen
    assert "Unfinished" not in seen
    assert given == page(store), "the same store gives the same page"
    assert "seconds_asked 0.05 how long to sleep, seconds" in seen
    assert "x swept a number" in seen


def test_failures_are_counted_by_status_with_their_messages(store):
    source = Source.of(TOYS)
    acts = ["measure", "infeasible", "raise"]
    listed = fill(store, source, sweep=[{"act": acts, "x": list(range(6))}])
    with Store.open(store, write=True) as opened:  # as an executor would tell it
        opened.write(
            [
                Outcome(one, Status.CRASHED, f"the worker died: {at}")
                for at, one in enumerate(listed[:5])
            ]
        )
    seen = text(page(store))
    assert "18 trials, all that were planned, 17 failed." in seen
    assert "infeasible 6 33.3 % nobody can act = infeasible, x = 0, repetition = 0" in seen
    assert "error 6 33.3 % ValueError: asked to fail (toys.py:" in seen
    assert "crashed 5 27.8 % the worker died: 0 (1 trial) act = measure, x = 0" in seen
    assert "and 2 other messages" in seen
    assert "attempted more than once 5 trials, 2 times at most" in seen


# What goes wrong.


@pytest.mark.slow
def test_an_analysis_that_fails_is_told_and_stops_nothing(store, tmp_path):
    fill(store, module(tmp_path, "raise KeyError('cost')"))
    fill(store, Source.of(TOYS))
    seen = text(page(store))
    assert "The analysis could not be had. the analysis of odd (odd.py, line" in seen
    assert "): KeyError: 'cost' " in seen
    assert "2 trials, all that were planned, none failed." in seen
    assert "Mean draw" in seen, "the other study is there"
    fill(store, module(tmp_path, "return {}", note="other"))
    assert "the analysis of odd (odd.py): it returned dict: return an Analysis" in text(
        page(store, ["odd"])
    )


@pytest.mark.slow
def test_a_chart_or_table_that_fails_leaves_the_others(store, tmp_path):
    fill(store, module(tmp_path, CHARTS), "small")
    given = page(store)
    seen = text(given)
    assert (
        "Figure “bad” could not be had. chart 'bad': `y` is 'nowhere': no column of its data:"
        in seen
    )
    assert "Table “Wrong” could not be had. its type is int: give a DataFrame" in seen
    assert given.count("<svg") == 2
    assert "Figure 1. Caption plain" in seen
    assert "Figure 2. Second" in seen
    assert "Numbers of the figure “lines” named x y plain 1 0.143" in seen


# A page that loads nothing and runs nothing.


def test_everything_is_escaped(store, tmp_path):
    fill(store, module(tmp_path, CHARTS, note=HOSTILE), "small")
    given = page(store)
    found = Checker(given)
    assert "script" not in found.tags
    assert "img" not in found.tags
    assert len(found.ids) == len(set(found.ids))
    assert "alert(1)" in text(given), "it is there to be read"
    # Title twice, source, caption, finding, table, column, message, parameter, sweep: all of it.
    assert given.count("&lt;script&gt;") > 10


def test_the_page_stands_alone(store, tmp_path):
    fill(store, module(tmp_path, CHARTS), "small")
    fill(store, Source.of(TOYS), "small", trials=3)
    given = page(store)
    found = Checker(given)
    ids = set(found.ids)
    for link in found.links:
        assert link == "data:," or link.removeprefix("#") in ids
    assert not re.search(r"url\((?!#)|@import|<!DOCTYPE svg", given)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', given)
    assert policy
    assert "default-src 'none'" in policy[1]
    assert "script" not in policy[1]
    assert {"main", "h1", "h2", "h3", "figcaption"} <= set(found.tags)
    assert given.startswith("<!DOCTYPE html>")


# Commands that repeat it.


def keys(asked):
    return [one.key for one in asked.plan.trials()]


SWEEPS = [
    ("paper", None),
    ("smoke", [{"x": [0, 1], "gap": [None, 0.25], "word": ["two words", "$x `y`"]}]),
    ("small", [{"x": [1, 2, 3], "word": ["b"]}, {"x": [5], "gap": [None, 0.5], "word": ["b"]}]),
    ("file", [{"x": [7]}]),
]


@pytest.mark.parametrize("known", [True, False], ids=["code", "no code"])
@pytest.mark.parametrize(("size", "sweep"), SWEEPS)
def test_the_command_asks_for_the_same_trials(tmp_path, monkeypatch, size, sweep, known):
    source = module(tmp_path)
    study = source.load()
    sweep = study.check_sweep(study.sizes[size].sweep if sweep is None else sweep)
    asked = StudyPlan.of(source, sweep, 3, seed=11, size=size)
    command = repeat.run_command(asked, study if known else None, Path("my trials.sqlite"))
    if not known and size == "file":
        assert command == ""
        return
    words = shlex.split(command)
    assert words[:4] == ["workbench", "study", "run", "odd.py"]
    assert words[-2:] == ["--store", "my trials.sqlite"]
    sets = [word.removeprefix("--set=") for word in words if word.startswith("--set=")]
    monkeypatch.chdir(tmp_path)
    again = request(
        "odd.py",
        size=words[words.index("--size") + 1],
        repetitions=int(words[words.index("--repetitions") + 1]),
        seed=int(words[words.index("--seed") + 1]),
        assignments=sets,
    )
    assert keys(again) == [one.key for one in plan(study, sweep, 3, 11)]


# Numbers.


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=6))
def test_rounded_numbers_are_near(values):
    for value, seen in zip(values, numbers.numbers(values), strict=True):
        plain = seen.replace("−", "-").replace(",", "")
        power = plain.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")).replace("×10", "e")
        size = max(map(abs, values))
        assert abs(float(power) - value) <= max(0.06 * abs(value), 5.1e-4 * min(size, 1000))
