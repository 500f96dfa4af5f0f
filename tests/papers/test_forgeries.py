"""What the three checkers accept is true: forgeries by hand, and mutants of true proofs by chance.

Every mutant that is accepted is held against an optimum by enumeration, or one worked out anew.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import runpy
import shutil
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from crowd_models import AssignmentProblem
from crowd_models.files import write_problem
from crowd_papers.beyond.instances import every_sequence, ladder
from crowd_papers.beyond.minimax_program import minimax
from tests.core.solving.forging import garbled, mutated, other
from tests.core.solving.rational import rational_optimum
from workbench.base.checker import policy_checker
from workbench.base.errors import InputError
from workbench.solving import PatternProof, certify, solve
from workbench.solving.solution import (
    BranchProof,
    CountProof,
    Leaf,
    RelaxationProof,
    Split,
)

FOLDER = Path(__file__).parents[2] / "models" / "problems"
if not FOLDER.exists():
    pytest.skip("no models folder beside the tests", allow_module_level=True)

# ---- check.py ----


@pytest.fixture(scope="module")
def instances(tmp_path_factory):
    """A folder of small instances with their plans and prices, its checker, and their optima."""
    folder = tmp_path_factory.mktemp("instances")
    (folder / "solutions").mkdir()
    shutil.copy(FOLDER / "check.py", folder)
    checker, optima, rows, texts = runpy.run_path(str(folder / "check.py")), {}, {}, {}
    for name in ("toy-5x4", "toy-6x5-cents", "toy-8x6-mask", "rounding", "chain"):
        for place in ("", "solutions/"):
            shutil.copy(FOLDER / f"{place}{name}.json", folder / f"{place}{name}.json")
    rng = np.random.default_rng(7)
    while len(list(folder.glob("*.json"))) < 12:
        n, m = int(rng.integers(2, 4)), int(rng.integers(3, 6))
        problem = AssignmentProblem(
            rng.integers(1, 10, (n, m)) / 10,
            rng.integers(1, n + 1, m),
            rng.integers(5, 15, n) / 10,
            rng.integers(1, 6, (n, m)) if rng.random() < 0.7 else None,
            rng.random((n, m)) < 0.9,
        )
        plan = solve(problem, "ip").assignment
        if plan is not None:
            name = f"drawn-{len(list(folder.glob('*.json')))}"
            write_problem(problem, folder / f"{name}.json")
            labels = [np.flatnonzero(row > 0.5).tolist() for row in plan]
            told = {"labels": labels, "worker_prices": np.round(rng.random(m), 3).tolist()}
            (folder / "solutions" / f"{name}.json").write_text(json.dumps(told))
            optima[name] = rational_optimum(problem).loose
    counted = {
        "quality": [[0.6, 0.9], [0.3, 0.7]],
        "requirement": [1.2, 1.0],
        "cost": [[1, 2], [2, 5]],
        "capacity": 2,
        "tasks": [2, 1],
        "workers": [3, 2],
    }
    (folder / "counted.json").write_text(json.dumps(counted))
    told = {"patterns": [[0, {"0": 2}, 2], [1, {"0": 1, "1": 1}, 1]], "worker_prices": [0, 0.5]}
    (folder / "solutions" / "counted.json").write_text(json.dumps(told))
    alone = AssignmentProblem(
        np.repeat(np.repeat(counted["quality"], [2, 1], axis=0), [3, 2], axis=1),
        2,
        np.repeat(counted["requirement"], [2, 1]),
        np.repeat(np.repeat(counted["cost"], [2, 1], axis=0), [3, 2], axis=1),
    )
    optima["counted"] = rational_optimum(alone).loose
    for path in sorted(folder.glob("*.json")):
        content, name = path.read_bytes(), path.stem
        problem = checker["read"](content)
        texts[name] = (folder / "solutions" / path.name).read_text("utf-8")
        told = json.loads(texts[name])
        rows[name] = {
            "name": name,
            "tasks": str(sum(problem.times)),
            "workers": str(sum(problem.copies)),
            "types": str(len(problem.kinds)),
            "best": str(checker["cost_of"](problem, told)),
            "bound": str(max(checker["bound_of"](problem, told["worker_prices"]), 0)),
            "status": "checked",
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        optima.setdefault(name, Fraction(rows[name]["best"]))
    return folder, checker, optima, rows, texts


def claimed(checker, name, folder, text):
    """The best that a forger can claim of a solution: its own cost, and its own bound."""
    problem = checker["read"]((folder / f"{name}.json").read_bytes())
    try:
        told = checker["parsed"](text)
        cost = checker["cost_of"](problem, told)
        bound = max(checker["bound_of"](problem, told["worker_prices"]), 0)
    except Exception:
        return {}
    return {"best": str(cost), "bound": str(bound)}


def false_verdicts(instances, seed, many):
    """Mutants of solutions and index rows that pass though untrue; and how many passed."""
    folder, checker, optima, rows, texts = instances
    rng, wrong, passed = np.random.default_rng(seed), [], 0
    pool, names = [json.loads(text) for text in texts.values()], list(rows)
    for _ in range(many):
        name = names[int(rng.integers(len(names)))]
        text, row = texts[name], dict(rows[name])
        told = mutated(rng, json.loads(text), pool)
        text = json.dumps(told, ensure_ascii=bool(rng.integers(2)))
        if rng.random() < 0.15:
            text = garbled(rng, text)
        row |= claimed(checker, name, folder, text)
        if rng.random() < 0.2:
            field = list(row)[int(rng.integers(1, len(row)))]
            row[field] = other(rng, row[field], [row])
        (folder / "solutions" / f"{name}.json").write_text(text, "utf-8")
        said, code = checker["verdict"](name, {name: [row]})
        if code == 0:
            passed += 1
            best, bound = Fraction(row["best"]), Fraction(row["bound"])
            if best < optima[name] or (row["status"] == "checked" and bound > optima[name]):
                wrong.append((said, text, row))
        elif "WRONG: " not in said or len(said.splitlines()) != 1:
            wrong.append((said, text, row))
        (folder / "solutions" / f"{name}.json").write_text(texts[name], "utf-8")
    return wrong, passed


def run_checker(folder, *names):
    """Exit code, lines and errors of the checker in a bare Python."""
    command = [sys.executable, "-I", "-S", str(folder / "check.py"), *names]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout.splitlines(), ended.stderr


CENTS, COUNTED = "toy-6x5-cents", "counted"
FORGED = {
    "a text for an index": (
        CENTS,
        lambda told: told["labels"][0].append(str(told["labels"][0][0])),
    ),
    "a fraction": (CENTS, lambda told: told["labels"][0].append(float(told["labels"][0][0]))),
    "a boolean": (CENTS, lambda told: told["labels"][0].append(True)),
    "an index from behind": (CENTS, lambda told: told["labels"][0].append(-1)),
    "a zero before": (COUNTED, lambda told: told["patterns"][0][1].update({"00": 2})),
    "digits of another script": (COUNTED, lambda told: told["patterns"][0][1].update({"٠": 2})),
    "half a worker": (COUNTED, lambda told: told["patterns"][0][1].update({"1": 0.5})),
    "times true": (COUNTED, lambda told: told["patterns"][1].__setitem__(2, True)),
    "a price of 1/0": (CENTS, lambda told: told["worker_prices"].__setitem__(0, "1/0")),
    "an infinite price": (CENTS, lambda told: told["worker_prices"].__setitem__(0, float("inf"))),
    "a huge price": (CENTS, lambda told: told["worker_prices"].__setitem__(0, 1e308)),
    "a list for a price": (CENTS, lambda told: told["worker_prices"].__setitem__(0, [1])),
    "a list for a plan": (CENTS, lambda told: told.__setitem__("labels", 7)),
}


@pytest.mark.parametrize("forged", FORGED)
def test_check_refuses_a_forgery(instances, forged):
    folder, checker, _, rows, texts = instances
    name, forge = FORGED[forged]
    told = json.loads(texts[name])
    forge(told)
    path = folder / "solutions" / f"{name}.json"
    path.write_text(json.dumps(told))
    said, code = checker["verdict"](name, {name: [rows[name]]})
    path.write_text(texts[name])
    assert code == 1
    assert said.startswith(f"{name}: WRONG: ")


def test_a_worker_twice_on_a_task_makes_no_cheaper_plan(instances):
    """With a worker twice on a task, the second time as a text, a plan for less passed."""
    _, checker, optima, _, texts = instances
    problem = checker["read"]((FOLDER / f"{CENTS}.json").read_bytes())
    told = json.loads(texts[CENTS])
    assert checker["cost_of"](problem, told) == optima[CENTS]
    workers, forged = range(len(problem.copies)), []
    for (i, own), often in itertools.product(
        enumerate(told["labels"]), itertools.product(range(3), repeat=len(workers))
    ):
        kind = problem.kinds[problem.of[i]]
        saved = sum(kind.cost[j] for j in own) - sum(kind.cost[j] * often[j] for j in workers)
        used = [sum(j in row for row in told["labels"]) - (j in own) + often[j] for j in workers]
        covered = sum(kind.quality[j] * often[j] for j in workers) >= kind.need
        if covered and saved > 0 and all(map(int.__le__, used, problem.capacity)):
            labels = [name for j in workers for name in [j, str(j)][: often[j]]]
            forged.append((saved, i, labels))
    _, i, labels = max(forged, key=lambda each: each[0])
    told["labels"][i] = labels
    with pytest.raises(ValueError, match="str is no whole number"):
        checker["cost_of"](problem, told)
    counted = checker["read"]((FOLDER / "scale-1000000x100000.json").read_bytes())
    twice = {"patterns": [[0, {"2": 1, "02": 1, "٢": 1}, 1]]}
    with pytest.raises(ValueError, match="no worker of that name"):
        checker["cost_of"](counted, twice)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"labels": [], "labels": [], "worker_prices": []}',
        '{"labels": [[1e999999999]], "worker_prices": []}',
        '{"labels": [[' + "9" * 6000 + ']], "worker_prices": [Infinity]}',
        "null",
        "\ufeff{}",
        "",
    ],
    ids=["deep", "name twice", "exponent", "digits", "null", "mark", "empty"],
)
def test_one_bad_file_is_one_line_and_the_names_after_it_are_checked(tmp_path, text):
    (tmp_path / "solutions").mkdir()
    for name in ("index.csv", "check.py", "toy-5x4.json", "toy-8x6-mask.json"):
        shutil.copy(FOLDER / name, tmp_path)
    shutil.copy(FOLDER / "solutions" / "toy-8x6-mask.json", tmp_path / "solutions")
    (tmp_path / "solutions" / "toy-5x4.json").write_text(text, "utf-8")
    code, lines, errors = run_checker(tmp_path, "toy-5x4", "nobody", "toy-8x6-mask")
    assert (code, errors, len(lines)) == (1, "", 3)
    assert lines[0].startswith("toy-5x4: WRONG: ")
    assert lines[1:] == ["nobody: WRONG: not in the index", "toy-8x6-mask: checked, optimal"]


@pytest.mark.parametrize("best", ["1/0", "1e308", "Infinity", "١٠", "1e999999999", "", "-1", "[]"])
def test_a_number_of_the_index_that_is_none(instances, best):
    _, checker, _, rows, _ = instances
    for field in ("best", "bound"):
        said, code = checker["verdict"](CENTS, {CENTS: [{**rows[CENTS], field: best}]})
        assert (code, said.count("\n")) == (1, 0)
        assert said.startswith(f"{CENTS}: WRONG: ")


# ---- check_policies.py, online ----

ONLINE = policy_checker()["online_bound"]


def bound_of(certificate):
    """What a certificate proves; ValueError where it cannot be read."""
    if not isinstance(certificate, dict) or set(certificate) != {"problem", "sequences"}:
        raise ValueError("a certificate has a problem and sequences")
    return ONLINE(certificate["problem"], certificate["sequences"])


FAMILIES = (
    ladder(4, (1, 2), tasks=2, capacity=1, repair_price=2.0),
    ladder(4, (1, 2, 4), repair_price=0.5),
    every_sequence(3, (1, 2), 3, tasks=2, capacity=2, repair_price=1.5),
)


@cache
def certificates():
    """True certificates, as JSON would hold them."""
    return [json.loads(json.dumps(minimax(problem).certificate)) for problem in FAMILIES]


def served(game, state, kind):
    """Labels and what is lacking after, for every choice of a worker's tasks."""
    kinds = [t for t, many in enumerate(game["tasks"]) for _ in range(many)]
    for chosen in itertools.product([0, 1], repeat=len(state)):
        if sum(chosen) <= game["capacity"][kind]:
            after = tuple(
                max(0, lack - game["quality"][t][kind]) if taken else lack
                for t, lack, taken in zip(kinds, state, chosen, strict=True)
            )
            yield sum(chosen), after


def true_ratio(certificate):
    """E[ALG] of the best algorithm that sees worker by worker, over E[OPT]: plainly."""
    game = certificate["problem"]
    price = [Fraction(value) for value in game["price"]]
    start = tuple(
        need
        for need, many in zip(game["requirement"], game["tasks"], strict=True)
        for _ in range(many)
    )

    def repaired(state):
        labels = sum(-(-lack // game["repair_quality"]) for lack in state)
        return labels * Fraction(game["repair_price"])

    def offline(types):
        costs = {start: Fraction(0)}
        for kind in types:
            after = {}
            for state, cost in costs.items():
                for labels, left in served(game, state, kind):
                    spent = cost + labels * price[kind]
                    after[left] = min(after.get(left, spent), spent)
            costs = after
        return min(cost + repaired(state) for state, cost in costs.items())

    @cache
    def online(way, state):
        """Least cost from here of those who have come the same way so far."""
        here = [(types, w) for types, w in sequences if types[: len(way)] == way]
        cost = sum(w for types, w in here if types == way) * repaired(state)
        for kind in {types[len(way)] for types, _ in here if types != way}:
            on = (*way, kind)
            weight = sum(w for types, w in here if types[: len(on)] == on)
            cost += min(
                weight * labels * price[kind] + online(on, left)
                for labels, left in set(served(game, state, kind))
            )
        return cost

    sequences = [(tuple(one["types"]), one["weight"]) for one in certificate["sequences"]]
    least = sum(w * offline(types) for types, w in sequences)
    return online((), start) / least if least else Fraction(0)


def false_bounds(seed, many):
    """Mutants of certificates that prove more than is true; and how many prove something."""
    rng, wrong, passed, pool, truth = np.random.default_rng(seed), [], 0, certificates(), {}
    for _ in range(many):
        mutant = mutated(rng, pool[int(rng.integers(len(pool)))], pool)
        try:
            bound = bound_of(mutant)
        except ValueError as error:
            if len(f"{error}".splitlines()) != 1:
                wrong.append((mutant, error))
            continue
        passed += 1
        bare = {**mutant, "sequences": [{**s, "plan": 0} for s in mutant["sequences"]]}
        key = json.dumps(bare)
        if key not in truth:
            truth[key] = true_ratio(mutant)
        if bound > truth[key]:
            wrong.append((mutant, bound))
    return wrong, passed


def test_true_certificates_prove_what_is_true():
    for certificate in certificates():
        assert bound_of(certificate) == true_ratio(certificate)


def test_a_task_twice_by_a_negative_index_proves_nothing():
    """A worker who takes one of two tasks takes it once more from behind, and covers it alone."""
    certificate = {
        "problem": {
            "requirement": [2],
            "tasks": [1],
            "quality": [[1]],
            "capacity": [2],
            "price": [1],
            "repair_price": 10,
            "repair_quality": 1,
        },
        "sequences": [{"types": [0], "weight": 1, "plan": [[0, -1]]}],
    }
    with pytest.raises(ValueError, match="plan, a task"):
        bound_of(certificate)
    certificate["sequences"][0]["plan"] = [[0, 0]]
    with pytest.raises(ValueError, match="a task twice"):
        bound_of(certificate)
    certificate["sequences"][0]["plan"] = [[0]]
    assert bound_of(certificate) == true_ratio(certificate) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("price", ["1/0", "1"]),
        ("price", [float("inf"), 1]),
        ("price", ["٢", "1"]),
        ("price", ["2/4", "1"]),
        ("price", [-1, 1]),
        ("repair_quality", 0),
        ("repair_quality", -1),
        ("repair_quality", True),
        ("tasks", [10**9]),
        ("tasks", [1.5]),
        ("quality", [[1, [2]]]),
        ("capacity", [1e308, 1]),
        ("requirement", {}),
        ("sequences", 7),
        ("sequences", []),
    ],
)
def test_what_no_certificate_says(field, value):
    told = certificates()[0]
    if field == "sequences":
        spoilt = {**told, field: value}
    else:
        spoilt = {**told, "problem": {**told["problem"], field: value}}
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        bound_of(spoilt)


# ---- certify ----


def plain(value):
    """A proof as nested lists and tables."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "__dataclass_fields__"):
        fields = {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
        return {"kind": type(value).__name__, **fields}
    return value


KINDS = {
    kind.__name__: kind
    for kind in (PatternProof, BranchProof, CountProof, RelaxationProof, Split, Leaf)
}


def built(value):
    """The proof again: arrays where lists make some, whatever is in them."""
    if isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"] in KINDS:
        kind = KINDS[value["kind"]]
        return kind(*(built(value.get(name)) for name in kind.__dataclass_fields__))
    if isinstance(value, list) and not any(isinstance(each, dict) for each in value):
        try:
            return np.array(value)
        except (ValueError, OverflowError):
            return value
    return value


HALVES = AssignmentProblem(np.full((1, 3), 0.5), 1, 1.0)
"""Two of three labels do."""
DEAR = Leaf(np.zeros(1), np.array([9.0])), Leaf(np.zeros(1), np.array([1.0]))
"""What makes each side of a split as dear as it can be: more than true at half a label."""


@cache
def proven():
    """Problems with a plan, prices, proofs of every kind, and the optimum."""
    rng, cases = np.random.default_rng(3), []
    triples = np.zeros((4, 12))
    triples[:2, :6], triples[2:, 6:] = (np.repeat([0.5, 0.34], 3),) * 2
    problems = [AssignmentProblem(triples, np.tile(np.repeat([1, 2], 3), 2), 1.0)]
    while len(problems) < 8:
        n, m = int(rng.integers(2, 5)), int(rng.integers(3, 6))
        quality, need = rng.integers(1, 10, (n, m)) / 10, rng.integers(4, 14, n) / 10
        cost = rng.integers(1, 6, (n, m)) / 2 if rng.random() < 0.7 else None
        problem = AssignmentProblem(quality, rng.integers(1, n + 1, m), need, cost)
        if rational_optimum(problem).loose is not None:
            problems.append(problem)
    for problem in problems:
        best, relaxed = rational_optimum(problem).loose, solve(problem, "relaxation")
        kinds, workers = problem.typed.shape
        prices = np.round(rng.random(workers), 2)
        leaf = Leaf(prices, np.array([0.5]))
        every = np.ones((kinds, workers), dtype=bool)
        proofs = [
            PatternProof(prices),
            BranchProof(Split(every, 1, leaf, leaf)),
            RelaxationProof(relaxed.task_weights, relaxed.worker_prices),
            CountProof(relaxed.task_weights, np.full(problem.shape[0], 0.1), relaxed.worker_prices),
        ]
        solved = solve(problem, "ip", method="patterns", isolated=False)
        told = {
            "assignment": plain(solved.assignment),
            "task_weights": plain(relaxed.task_weights),
            "worker_prices": plain(relaxed.worker_prices),
            "proofs": plain([*proofs, *solved.proofs]),
        }
        cases.append((problem, told, float(best)))
    root = Split(np.ones((1, 1), dtype=bool), 1, *DEAR)
    told = {"assignment": [[1.0] * 3], "proofs": plain([BranchProof(root)])}
    told |= {"task_weights": None, "worker_prices": None}
    return [*cases, *[(HALVES, told, 2.0)] * 2]


def false_certificates(seed, many):
    """Mutants that are certified though untrue; and how many say something."""
    rng, wrong, passed, cases = np.random.default_rng(seed), [], 0, proven()
    pool = [told for _, told, _ in cases]
    for _ in range(many):
        problem, told, best = cases[int(rng.integers(len(cases)))]
        mutant = mutated(rng, told, pool)
        proofs = mutant.get("proofs")
        parts = {
            name: built(mutant.get(name))
            for name in ("assignment", "task_weights", "worker_prices")
        }
        whole = bool(rng.random() < 0.8)
        if not whole:
            proofs = ()
        try:
            result = certify(
                problem,
                **parts,
                proofs=[built(each) for each in proofs] if isinstance(proofs, list) else (),
                whole=whole,
                exact=bool(rng.integers(2)),
            )
        except InputError as error:
            if len(f"{error}".splitlines()) != 1:
                wrong.append((mutant, error))
            continue
        slack = 1e-6 * max(best, 1.0)
        passed += result.status in ("proven", "feasible", "bound")
        if result.status == "failed":
            continue
        above = result.lower_bound is not None and result.lower_bound > best + slack
        if above or (whole and result.status in ("proven", "feasible")):
            cost = float((problem.prices * parts["assignment"]).sum()) if not above else 0.0
            dear = result.status == "proven" and cost > best + slack
            if above or cost < best - slack or dear:
                wrong.append((mutant, result))
    return wrong, passed


def test_a_split_at_half_a_label_hides_no_plan():
    """Two of three labels do: "1.5 at most, or 2.5 at least" leaves two out."""
    dear, pairs = np.ones((1, 3)), np.ones((1, 1), dtype=bool)

    def certified(pairs, most):
        proof = BranchProof(Split(pairs, most, *DEAR))
        return certify(HALVES, assignment=dear, proofs=[proof], whole=True)

    assert certified(pairs, 1).status == "feasible"
    for most in (1.5, True, np.float64(1.5), "1", None):
        with pytest.raises(InputError, match="whole number of labels"):
            certified(pairs, most)
    for share in (0.5, 2, -1):
        with pytest.raises(InputError, match="a pair is meant or it is not"):
            certified(pairs * share, 1)


def test_prices_beyond_floats_prove_nothing():
    """A difference of two infinities is no number, and was left out of the sum that it lowers."""
    problem = AssignmentProblem(np.full((1, 3), 5.0), 1, 1.0, gain="bhattacharyya")
    huge = {"task_weights": np.array([1e308]), "worker_prices": np.full(3, 1.7e308)}
    for exact in (False, True):
        assert certify(problem, **huge, whole=True, exact=exact).status == "failed"


# ---- by the thousand ----

MUTANTS = int(os.environ.get("WORKBENCH_MUTANTS", "1000"))
"""Of all checkers together; before a release 20,000."""

CHECKERS = {
    "check.py": false_verdicts,
    "online": lambda _, *args: false_bounds(*args),
    "certify": lambda _, *args: false_certificates(*args),
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_what_is_accepted_of_some_mutants_is_true(instances, checker):
    wrong, passed = CHECKERS[checker](instances, 0, 60)
    assert not wrong
    assert passed >= 3


@pytest.mark.release
@pytest.mark.parametrize("checker", CHECKERS)
def test_what_is_accepted_of_many_mutants_is_true(instances, checker):
    many = MUTANTS // len(CHECKERS)
    wrong, passed = CHECKERS[checker](instances, 1, many)
    assert not wrong
    assert passed >= many / 20
