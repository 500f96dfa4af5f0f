"""The public instances: drawn as they are kept, checked by a bare Python, and not to be fooled."""

from __future__ import annotations

import csv
import json
import math
import os
import runpy
import shutil
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from crowd_models import AssignmentProblem, TypedProblem
from crowd_models.files import read_problem, write_problem
from workbench.solving.patterns.bound import pattern_bound

FOLDER = Path(__file__).parents[3] / "models" / "problems"
if not FOLDER.exists():
    pytest.skip("no models folder beside the tests", allow_module_level=True)
LISTED = (FOLDER / "index.csv").read_text("utf-8").splitlines()
ROWS = {row["name"]: row for row in csv.DictReader(LISTED)}
GENERATOR = runpy.run_path(str(FOLDER / "generate.py"))
TIGHT = "tight-spread-60x20"
QUICK = [
    name
    for name, row in ROWS.items()
    if row["family"] in ("toy", "tight", "scale") or name == "limits-whole-40x16"
]
LARGEST_GAP = Fraction(5, 10_000)
HARD = {
    *("mask-cents-1000x300", "mask-worker-500x100", "priced-cents-300x60", "priced-cents-500x100"),
    *("priced-cents-1000x300", "priced-worker-500x100", "types-8-cents", "types-20-cents"),
    *("bhattacharyya-cents-300x60", "bhattacharyya-cents", "information-cents"),
    *("limits-cents-100x40", "limits-cents-300x60", "limits-cents-200x80"),
    "limits-whole-1000x300",
}
"""Drawn because the solver leaves them open: to be beaten."""


def checked(*names, folder=FOLDER):
    """Exit code and output of the checker in a Python without site packages."""
    command = [sys.executable, "-I", "-S", str(folder / "check.py"), *names]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not ended.stderr
    return ended.returncode, ended.stdout.splitlines()


def test_a_bare_python_checks_them():
    code, lines = checked(*QUICK)
    assert (code, len(lines)) == (0, len(QUICK))
    assert sum("optimal" in line for line in lines) >= len(QUICK) - 1


EVERY = int(os.environ.get("WORKBENCH_EVERY_INSTANCE", "24"))
"""One instance of so many is checked; before a release each one is."""


@pytest.mark.release
def test_a_bare_python_checks_one_of_every_few():
    names = list(ROWS)[::EVERY]
    code, lines = checked(*names)
    assert (code, len(lines)) == (0, len(names))


def test_so_many_are_proven_and_they_are_small():
    assert len(ROWS) >= 60
    optimal = [row for row in ROWS.values() if row["best"] == row["bound"]]
    assert len(optimal) >= 45
    assert sum(row["status"] == "checked" for row in optimal) >= 35
    for name, row in ROWS.items():
        gap = 1 - Fraction(row["bound"]) / Fraction(row["best"])
        assert gap <= (Fraction(6, 100) if name in HARD else LARGEST_GAP), name
    assert set(ROWS) >= HARD
    assert sum(row["best"] != row["bound"] for row in ROWS.values()) >= 3
    kept = [path for path in FOLDER.rglob("*") if path.name not in LARGE and path.is_file()]
    assert sum(path.stat().st_size for path in kept) < 20 * 2**20


LARGE = ("priced-pairs-600x200.json", "priced-pairs-1000x300.json")
"""Drawn where they are asked for."""


def test_they_are_drawn_as_they_are_kept():
    for name in GENERATOR["SPECS"]:
        path = FOLDER / f"{name}.json"
        if path.exists() and path.stat().st_size < 50_000:
            assert GENERATOR["text"](name) == path.read_text("utf-8"), name
    assert {f"{name}.json" for name in ROWS} >= {path.name for path in FOLDER.glob("*.json")}


@pytest.fixture
def copy(tmp_path):
    """A folder with a few of the instances, the checker's functions, and a way to change things."""
    (tmp_path / "solutions").mkdir()
    for name in ("toy-6x5-cents", "toy-8x6-mask", TIGHT):
        for place in ("", "solutions/"):
            shutil.copy(FOLDER / f"{place}{name}.json", tmp_path / f"{place}{name}.json")
    shutil.copy(FOLDER / "check.py", tmp_path)
    return tmp_path


def told(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}))


NAME = "toy-8x6-mask"


def without(labels, available):
    return [labels[0][:-1], *labels[1:]]


def twice(labels, available):
    return [[*labels[0], labels[0][0]], *labels[1:]]


def forbidden(labels, available):
    i, j = next((i, j) for i, row in enumerate(available) for j, free in enumerate(row) if not free)
    return [[*row, j] if i == at else row for at, row in enumerate(labels)]


def fewer(labels, available):
    return labels[:-1]


def everybody(labels, available):
    return [[j for j, free in enumerate(row) if free] for row in available]


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (without, "not covered"),
        (twice, "twice"),
        (forbidden, "not for worker"),
        (fewer, "left out"),
        (everybody, "too many"),
    ],
)
def test_a_plan_that_breaks_a_constraint_is_refused(copy, tamper, said):
    raw, path = (
        json.loads((FOLDER / f"{NAME}.json").read_text()),
        copy / "solutions" / f"{NAME}.json",
    )
    available = [raw["available"][str(kind)] for kind in raw["task_types"]]
    told(path, labels=tamper(json.loads(path.read_text())["labels"], available))
    check = runpy.run_path(str(copy / "check.py"))["check"]
    with pytest.raises(ValueError, match=said):
        check(ROWS[NAME])


@pytest.mark.parametrize(
    ("name", "row", "prices"),
    [
        (NAME, {"best": "15"}, None),
        (NAME, {"best": "15", "bound": "15"}, None),
        (NAME, {"bound": "17"}, None),
        (NAME, {"bound": "17", "status": "solver's word"}, None),
        (NAME, {"status": "believed"}, None),
        (NAME, {"sha256": "0" * 64}, None),
        (NAME, {"tasks": "9"}, None),
        (NAME, {}, [0] * 5),
        (NAME, {}, [-1] + [0] * 5),
        (TIGHT, {}, [0] * 20),
        (TIGHT, {"bound": "736"}, None),
        ("toy-6x5-cents", {"best": "12.84"}, None),
        ("toy-6x5-cents", {}, [float("nan")] * 5),
    ],
)
def test_a_false_claim_is_refused(copy, name, row, prices):
    check = runpy.run_path(str(copy / "check.py"))["check"]
    assert check(ROWS[name]) == "checked, optimal"
    if prices is not None:
        told(copy / "solutions" / f"{name}.json", worker_prices=prices)
    with pytest.raises((ValueError, KeyError)):
        check({**ROWS[name], **row})


def test_a_changed_instance_and_index_are_refused(copy):
    row = next(line for line in LISTED if line.startswith(NAME))
    (copy / "index.csv").write_text(f"{LISTED[0]}\n{row}\n")
    assert checked(folder=copy) == (0, [f"{NAME}: checked, optimal"])
    assert checked("nobody", folder=copy)[0] == 1
    told(copy / f"{NAME}.json", capacity=1000)
    code, (line,) = checked(folder=copy)
    assert code == 1
    assert "sha256 differs" in line


def test_the_bound_is_that_of_the_workbench(tmp_path):
    """Two programs that share no code, on random problems and prices, right or wrong."""
    checker, rng = runpy.run_path(str(FOLDER / "check.py")), np.random.default_rng(0)
    for _ in range(30):
        n, m = rng.integers(1, 5), rng.integers(3, 9)
        quality = np.round(rng.uniform(0.1, 1.0, (n, m)), 3)
        free = rng.uniform(size=(n, m)) < 0.9
        cost = rng.integers(1, 4, (n, m)).astype(float) if rng.uniform() < 0.5 else None
        need = np.round(rng.uniform(0, 0.9, n) * (quality * free).sum(axis=1), 3)
        problem = AssignmentProblem(quality, rng.integers(1, n + 1, m), need, cost, free)
        prices = np.round(rng.uniform(0, 1.0, problem.typed.shape[1]), 6)
        write_problem(problem, tmp_path / "one.json")
        read = checker["read"]((tmp_path / "one.json").read_bytes())
        bound = checker["bound_of"](read, prices[problem.typed.worker_class].tolist())
        step = Fraction(problem.price_step)
        assert bound == math.ceil(pattern_bound(problem.typed, prices) / step) * step


def test_the_entry_that_the_page_shows_holds(tmp_path, monkeypatch):
    page = FOLDER.parents[1] / "docs" / "instances.md"
    if not page.exists():
        pytest.skip("no pages beside the tests")
    code = page.read_text("utf-8").partition("```python\n")[2].partition("```")[0]
    place = tmp_path / "models" / "problems"
    place.mkdir(parents=True)
    shutil.copy(FOLDER / "toy-5x4.json", place)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    code, lines = checked(str(place / "toy-5x4.json"), str(tmp_path / "entry.json"))
    assert (code, lines) == (0, ["holds: a plan of cost 10, and none costs less than 0"])
    assert lines[0] in page.read_text("utf-8")


def test_rows_of_the_same_numbers_are_priced_once():
    read = runpy.run_path(str(FOLDER / "check.py"))["read"]
    raw = {"quality": [[0.5, 0.25], [0.5, 0.25], [0.25, 0.5]], "requirement": 0.5, "capacity": 3}
    assert len(read(json.dumps(raw)).kinds) == 2
    assert len(read(json.dumps({**raw, "cost": [[1, 2], [2, 1], [1, 2]]})).kinds) == 3
    assert len(read(json.dumps({**raw, "requirement": [0.5, 0.4, 0.5]})).kinds) == 3
    with pytest.raises(ValueError, match="3 entries, not 2"):
        read(json.dumps({**raw, "quality": [*raw["quality"][:2], [0.5, 0.25, 0.5]]}))


def test_with_limits_of_labels_plans_and_bounds_are_those_of_an_enumeration():
    checker, rng = runpy.run_path(str(FOLDER / "check.py")), np.random.default_rng(1)
    for _ in range(60):
        m = int(rng.integers(2, 7))
        quality, cost = rng.integers(0, 4, m).tolist(), rng.integers(0, 4, m).tolist()
        least, most = sorted(rng.integers(0, m + 1, 2).tolist())
        raw = {
            "quality": [quality],
            "requirement": int(rng.integers(1, 6)),
            "capacity": 1,
            "cost": [cost],
            "least": [least],
            "most": most,
        }
        problem, prices = checker["read"](json.dumps(raw)), rng.integers(0, 3, m).tolist()
        sets = [[j for j in range(m) if bits >> j & 1] for bits in range(2**m)]
        able = [
            those
            for those in sets
            if least <= len(those) <= most and sum(quality[j] for j in those) >= raw["requirement"]
        ]
        for those in sets:
            if those in able:
                assert checker["cost_of"](problem, {"labels": [those]}) == sum(
                    cost[j] for j in those
                )
            else:
                with pytest.raises(ValueError, match=r"not covered|too many or few"):
                    checker["cost_of"](problem, {"labels": [those]})
        if able:
            value = min(sum(cost[j] + prices[j] for j in those) for those in able) - sum(prices)
            step = math.gcd(*cost)
            bound = checker["bound_of"](problem, prices)
            assert bound == (math.ceil(value / step) * step if step else 0)


def test_files_may_count_classes_and_state_information():
    counted = read_problem(FOLDER / "scale-1000000x100000.json")
    assert isinstance(counted, TypedProblem)
    assert (counted.tasks.sum(), counted.workers.sum()) == (10**6, 10**5)
    assert read_problem(FOLDER / "information-pairs.json").gain == "information"


@pytest.mark.parametrize("limited", [False, True])
def test_sets_that_are_too_many_to_list_are_joined_from_both_ends(limited):
    """However few are kept, the least price is never above the true one; joined, it is it."""
    checker, rng = runpy.run_path(str(FOLDER / "check.py")), np.random.default_rng(2)
    within, exact = checker["least_price"].__globals__, 0
    for _ in range(40):
        m = 12
        prices = rng.integers(-1 if limited else 0, 8, m).tolist()
        kind = checker["Kind"](
            *([Fraction(int(q), 97) for q in rng.integers(1, 97, m)], [0] * m, [True] * m),
            need=Fraction(int(rng.integers(50, 400)), 97),
            least=int(rng.integers(0, 5)) if limited else 0,
            most=int(rng.integers(5, 12)) if limited else math.inf,
            sets=None,
        )
        lots = Counter(
            ((q.as_integer_ratio()), (p, 1)) for q, p in zip(kind.quality, prices, strict=True)
        )
        within.update(MOST=10**5, FEW=2**12)
        least = checker["least_price"](lots, kind, limited)
        within.update(MOST=64, FEW=8)
        assert checker["least_price"](lots, kind, limited) == least
        for most in (1, 3, 10):
            within.update(MOST=most, FEW=most)
            lower = checker["least_price"](lots, kind, limited)
            assert lower <= least
            exact += lower == least < math.inf
    assert exact > 20
