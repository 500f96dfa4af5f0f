"""The front door as a whole: its names, their examples, its results, ids of every type."""

from __future__ import annotations

import copy
import doctest
import importlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.api.crowds import crowd
from tests.core.studies.example import EXAMPLE
from workbench.api.result import Result
from workbench.api.solving import doctor, export
from workbench.api.studying import judge

LABELS, GOLD = crowd(task="q{}".format, worker="w{}".format, label="ny".__getitem__)


def study(**options):
    return wb.run_study(
        EXAMPLE, size="smoke", repetitions=1, processes=1, store="s.sqlite", **options
    )


RESULTS = {
    "labels": lambda: wb.aggregate(LABELS),
    "hires": lambda: wb.hire(LABELS, GOLD, budget=3),
    "learning": lambda: wb.learn(LABELS, GOLD),
    "collection": lambda: wb.collect(LABELS, GOLD, epsilon=0.2),
    "plan": lambda: wb.plan(
        LABELS, GOLD, ["new"], epsilon=0.4, capacity=1, options=wb.PlanOptions(time_limit=600.0)
    ),
    "even plan": lambda: wb.plan(tasks=["x", "y"], workers=3, limits=wb.TaskLimits(least=2)),
    "no plan": lambda: wb.plan(LABELS, GOLD, ["new"], epsilon=1e-6, capacity=1),
    "comparison": lambda: wb.compare(LABELS, GOLD, epsilon=0.6),
    "converted": lambda: wb.convert(LABELS, "wide", gold=GOLD),
    "crowd": lambda: wb.simulate(tasks=6, workers=4),
    "assignment": lambda: wb.solve(wb.AssignmentProblem([[0.5, 0.6]], 1, 1.0), exact=True),
    "classes": lambda: wb.solve(wb.TypedProblem([[0.5]], [2], [1.0], [3], [4])),
    "selection": lambda: wb.solve(wb.SelectionProblem([0.5, 0.1], 1)),
    "study": study,
    "report": lambda: study().report("page.html"),
    "diagnosis": doctor,
    "judgement": lambda: judge(study().store),
}
DEAR = {"comparison", "hires", "judgement", "plan", "report", "study"}
LANES = {**dict.fromkeys(DEAR, pytest.mark.slow), "hires": pytest.mark.release}
NAMES = [pytest.param(name, marks=LANES.get(name, ())) for name in RESULTS]
NO_FIGURE = {"converted", "no plan", "classes", "report", "diagnosis"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Results by name, each made once, in a folder of their own."""
    known: dict[str, Result] = {}
    place = tmp_path_factory.mktemp("results")

    def get(name):
        if name not in known:
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(place)
                known[name] = RESULTS[name]()
        return known[name]

    get.place = place
    return get


def test_the_front_door_alone_is_seen():
    assert dir(wb) == sorted(wb.__all__)
    assert all(getattr(wb, name).__doc__ for name in wb.__all__)
    with pytest.raises(AttributeError, match="no attribute 'hires'"):
        _ = wb.hires


def test_importing_it_imports_nothing_heavy():
    code = "import sys, workbench; print({'numpy', 'pandas', 'workbench.api'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"


@pytest.mark.parametrize("name", wb.__all__)
def test_every_public_name_has_an_example(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    public = getattr(wb, name)
    (test,) = doctest.DocTestFinder(recurse=False).find(public, name, globs={})
    assert any(not example.options.get(doctest.SKIP) for example in test.examples)
    if not public.__module__.startswith("workbench.api."):  # those are run beside their modules
        module = importlib.import_module(public.__module__)
        assert not doctest.testmod(module).failed


@pytest.mark.parametrize("name", NAMES)
def test_results_survive_copies(name, made, monkeypatch, tmp_path):
    result = made(name)
    monkeypatch.chdir(made.place)
    kept, copies = pickle.dumps(result), (copy.copy(result), copy.deepcopy(result))
    monkeypatch.chdir(tmp_path)  # no copy needs a file that lies where it was made
    for again in (pickle.loads(kept), *copies):
        assert type(again) is type(result)
        assert again == result
        pd.testing.assert_frame_equal(again.to_frame(), result.to_frame())
    assert result != "another"


@pytest.mark.parametrize("name", NAMES)
def test_results_show_themselves(name, made, monkeypatch):
    result = made(name)
    monkeypatch.chdir(made.place)
    assert "\n" not in repr(result)
    assert len(repr(result)) < 200
    assert result._repr_html_().startswith("<p>")
    assert result.details()
    assert result.summary()
    assert result.to_dict()["schema"] == 2
    with pytest.raises(AttributeError):
        result.anything = 1
    if name in NO_FIGURE:
        with pytest.raises(wb.InputError, match="plot: "):
            result.plot()
    else:
        assert result.plot().axes


def test_equal_is_what_found_the_same(made):
    plan = wb.plan(
        LABELS, GOLD, ["new"], epsilon=0.4, capacity=1, options=wb.PlanOptions(time_limit=600.0)
    )
    assert plan == made("plan")
    assert plan.solution.seconds != made("plan").solution.seconds
    assert plan != made("no plan")
    assert wb.simulate(tasks=6, workers=4, seed=1) != made("crowd")


class TestPlan:
    SKILLS = pd.Series({"ann": 0.9, "bob": 0.8, "new": np.nan})

    def test_skills_by_worker_and_one_without_history(self):
        options = wb.PlanOptions(promise="bound", gain="hoeffding")
        asked = {"epsilon": 0.65, "capacity": 1, "options": options}
        plan = wb.plan(tasks=["a"], skills=self.SKILLS, **asked)
        assert set(plan.to_frame()["worker"]) == {"ann", "bob"}
        assert plan.without_history == ("new",)
        assert plan.skills.loc["new"].tolist() == [0.5]
        told = r"no history +1 worker gets no task, skill unknown: 'new'"
        assert re.search(told, plan.details())
        wide = self.SKILLS.dropna().rename("birds").rename_axis("worker").to_frame()
        same = wb.plan(tasks={"a": "birds"}, skills=wide, **asked)
        assert same.to_frame().equals(plan.to_frame())


BAD = {
    "two types, one skill": (
        lambda: wb.plan(tasks={"a": "x", "b": "y"}, skills={"w": 0.9}, epsilon=0.1, capacity=1),
        "skills: one for each worker, and 2 types",
    ),
    "skills in a list": (
        lambda: wb.plan(tasks=["a"], skills=[0.9], epsilon=0.1, capacity=1),
        "skills: a list; give",
    ),
    "pair of another task": (
        lambda: wb.plan(
            tasks=["a"],
            skills={"w": 0.9},
            epsilon=0.1,
            capacity=1,
            limits=wb.TaskLimits(availability=[("b", "w")]),
        ),
        "availability: no task 'b'",
    ),
    "no problem": (lambda: wb.solve(3), "problem: an int; give an AssignmentProblem"),
    "epsilon of a selection": (
        lambda: wb.solve(wb.SelectionProblem([0.5], 1), epsilon=0.1),
        "epsilon: is for an",
    ),
    "model of a selection": (
        lambda: export(wb.SelectionProblem([0.5], 1)),
        "give an assignment problem",
    ),
    "redundancy": (
        lambda: wb.simulate(tasks=10, workers=3, capacity=5, redundancy=2),
        "at most 1 labels",
    ),
    "crowd's own": (
        lambda: wb.compare(wb.simulate(tasks=2, workers=2), costs={"w0": 1}),
        "`costs`: a simulated",
    ),
    "parameter": (lambda: wb.run_study(EXAMPLE, set={"nobody": 1}), "no parameter 'nobody'"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_done_is_one_line(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, fragment = BAD[case]
    with pytest.raises(wb.InputError) as refused:
        call()
    assert fragment in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())
