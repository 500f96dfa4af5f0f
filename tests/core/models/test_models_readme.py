"""Pages of formulations: every builder has one, lines run, problems have these optima."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import math
import pkgutil
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyomo.environ as pyo
import pytest
from matplotlib.figure import Figure

import crowd_models
from crowd_models import AssignmentProblem, SelectionProblem, TypedProblem, VectorCoverProblem
from crowd_models.files import read_problem
from crowd_models.information import information_problem
from crowd_models.joint import JointProblem
from crowd_models.online import OnlineProblem, RandomOrder
from crowd_models.patterns import Pattern
from crowd_models.ratings import RatingTerms
from crowd_models.sequential_policies import SequentialProblem, TaskPolicy
from workbench.solving import solve

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "models" / "README.md"
if not PAGE.exists():
    pytest.skip("no models folder beside the tests", allow_module_level=True)
TEXT = PAGE.read_text("utf-8")
PROBLEMS = PAGE.parent / "problems"
CODE = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
PAGES = {path.stem: path for path in sorted((ROOT / "docs" / "formulations").glob("*.md"))}
SECTIONS = {name: path.read_text("utf-8") for name, path in PAGES.items()}
"""Text by name of the builder."""
ROWS = re.findall(r"^\| `(\S+\.json)` \| .* \| (\S+) \| (\S+) \|$", TEXT, re.MULTILINE)

PAIRS = AssignmentProblem([[0.9, 0.5], [0.5, 0.9]], 2, 0.9)
CLASSES = TypedProblem.of(PAIRS)
HIRING = SelectionProblem([0.8, 0.1, 0.6], 2, costs=[1.0, 2.0, 3.0], money=4.0)
LIMITED = AssignmentProblem([[0.9, 0.5], [0.5, 0.9]], 2, 0.9, least=1, most=2)
JOINT = JointProblem([[[0.5], [0.4]]], [0.5], 0.3, 2, 2, least=1)
SEQUENTIAL = SequentialProblem([[0.8]], [10], [99], 0.05)
GIVEN = {
    "offline_ip": (LIMITED,),
    "relaxation": (LIMITED,),
    "dual": (PAIRS,),
    "typed_relaxation": (CLASSES,),
    "pattern_master": (
        CLASSES,
        [Pattern.of(CLASSES, 0, [1, 0]), Pattern.of(CLASSES, 1, [1, 1])],
    ),
    "pricing": (CLASSES, 0, np.zeros(2)),
    "even_teams": ([3], 2, [2, 2, 2]),
    "fixed_size": (HIRING, 1),
    "all_sizes": (HIRING,),
    "ratings_cover": ([0.02, 0.01], RatingTerms(1.0, 0.0, 400.0), 10.0, 2, 2),
    "tangent_program": (JOINT, [(0, np.array([1.0]))]),
    "vector_program": (VectorCoverProblem([[[0.5, 0.3], [0.3, 0.5]]], [0.6, 0.6], 2, 2),),
    "average_limit": (
        information_problem([[0.9], [0.8]], 2, 1, 0.3),
        0.3,
        np.array([[0.1, 0.3], [0.5, 0.5]]),
    ),
    "policy_master": (
        SEQUENTIAL,
        [TaskPolicy.of(SEQUENTIAL, 0, [3.0], 0.05)],
    ),
    "occupation_program": (
        OnlineProblem((2,), (1,), ((1, 2),), (1, 1), (1.0, 1.0), RandomOrder((1, 1)), 1.0),
    ),
}
"""What each builder is called with below."""


def functions():
    """Every public function of the package, by name."""
    for module in pkgutil.iter_modules(crowd_models.__path__, "crowd_models."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if inspect.isfunction(value) and value.__module__ == module.name and name[0] != "_":
                yield name, value


BUILDERS = {
    name: function
    for name, function in functions()
    if inspect.signature(function).return_annotation == "pyo.ConcreteModel"
}


PIECES = {
    name
    for name, function in functions()
    if next(iter(inspect.signature(function).parameters)) == "model"
}


class Row(NamedTuple):
    """An equation of a builder's table: its component, and the piece that states it, if any."""

    component: str
    piece: str


def rows(section: str) -> list[Row]:
    cells = re.findall(r"\| `(\w+)(?:\[.*?\])?` \|(?: `(\w+)` \|)?$", section, re.MULTILINE)
    return [Row(*cell) for cell in cells]


def source(name: str) -> str:
    return inspect.getsource(BUILDERS[name])


def test_every_builder_has_a_section_and_every_piece_a_place():
    assert set(SECTIONS) - {"error_problem", "tilted"} == set(BUILDERS) == set(GIVEN)
    listed = re.findall(
        r"^\| \[`(\w+)\.(\w+)`\]\(\.\./docs/formulations/\2\.md\)", TEXT, re.MULTILINE
    )
    assert {name for _, name in listed} == set(SECTIONS)
    for module, name in listed:
        assert f"\n`crowd_models.{module}.{name}(" in SECTIONS[name]
        assert hasattr(importlib.import_module(f"crowd_models.{module}"), name)
    assert {row.piece for text in SECTIONS.values() for row in rows(text)} - {""} == PIECES


@pytest.mark.parametrize("name", GIVEN)
def test_every_equation_has_its_component(name):
    """A builder's table lists what its model holds, less the index sets."""
    model = BUILDERS[name](*GIVEN[name])
    kinds = (pyo.Var, pyo.Constraint, pyo.Objective, pyo.Expression)
    held = {component.name for component in model.component_objects(kinds, descend_into=False)}
    assert {row.component for row in rows(SECTIONS[name])} == held


@pytest.mark.parametrize("name", GIVEN)
def test_every_page_adds_a_row(name):
    (line,) = re.findall(r"^\*\*One row more\*\*, .*?: `(.*?)`", SECTIONS[name], re.MULTILINE)
    model = BUILDERS[name](*GIVEN[name])
    before = model.nconstraints()
    exec(line, {"m": model, "pyo": pyo})
    assert model.nconstraints() > before


@pytest.mark.parametrize("name", GIVEN)
def test_every_builder_comes_from_the_package(name):
    assert getattr(crowd_models, name) is BUILDERS[name]


@pytest.mark.parametrize("name", GIVEN)
def test_every_piece_stands_beside_its_equation(name):
    """The pieces in a builder's table are those that it calls."""
    called = {piece for piece in PIECES if re.search(rf"\b{piece}\(", source(name))}
    assert {row.piece for row in rows(SECTIONS[name])} - {""} == called


@pytest.mark.parametrize("name", SECTIONS)
def test_a_page_prints_what_it_says_and_is_drawn(name, capsys, monkeypatch):
    """Less the seconds, and violations below what rounding may do."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", SECTIONS[name], re.DOTALL | re.MULTILINE)
    (said,) = re.findall(r"^```text\n(.*?)^```$", SECTIONS[name], re.DOTALL | re.MULTILINE)
    if "crowd_papers" in code:
        pytest.importorskip("crowd_papers")
    names = {}
    exec(code, names)
    varies = re.compile(r"(?<=seconds).*|(?<=violation )-?(0|\d.*e-1\d)(?= )")
    assert varies.sub("…", capsys.readouterr().out) == varies.sub("…", said)
    monkeypatch.syspath_prepend(str(PAGES[name].parent))
    figure = Figure()
    importlib.import_module("renew").PICTURES[name](figure, names)
    assert all(axes.has_data() for axes in figure.axes)


@pytest.mark.parametrize("solver", ["scip_direct", "highs"])
@pytest.mark.parametrize(
    ("lines", "best", "chosen"),
    [(CODE[0], 9.0, None), (CODE[1], (0.81 + 0.64) / math.sqrt(2), [0, 2])],
    ids=["assignment", "selection"],
)
def test_the_lines_run(lines, best, chosen, solver, monkeypatch, capsys):
    """By SCIP as written, where it is there; and by HiGHS, which always is."""
    if solver == "scip_direct":
        pytest.importorskip("pyscipopt")
    assert len(CODE) == 2
    assert "scip_direct" in lines
    monkeypatch.chdir(ROOT)
    exec(lines.replace("scip_direct", solver), {})
    value, _, those = capsys.readouterr().out.partition(" ")
    assert float(value) == pytest.approx(best)
    assert chosen is None or ast.literal_eval(those) == chosen


@pytest.mark.parametrize(("name", "whole", "relaxed"), ROWS)
def test_a_problem_is_solved_to_the_stated_optimum(name, whole, relaxed):
    problem = read_problem(PROBLEMS / name)
    solution = solve(problem, "ip")
    assert solution.solved
    assert solution.objective == pytest.approx(float(whole), rel=1e-9)
    assert cheapest(problem) == pytest.approx(float(whole), rel=1e-9)
    assert solve(problem, "relaxation").objective == pytest.approx(float(relaxed), abs=5e-7)


def cheapest(problem: AssignmentProblem) -> float:
    """The optimum by trying every assignment."""
    pairs = np.stack(problem.pairs)
    best = np.inf
    for choice in itertools.product([False, True], repeat=pairs.shape[1]):
        y = np.zeros(problem.shape)
        y[tuple(pairs[:, list(choice)])] = 1.0
        covered = (problem.quality * y).sum(axis=1) >= problem.requirement - 1e-9
        if covered.all() and (y.sum(axis=0) <= problem.capacity).all():
            best = min(best, float((problem.prices * y).sum()))
    return best
