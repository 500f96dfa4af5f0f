"""The second verifier, in C: what it says of instances, of forgeries and of what is no proof."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from benchmarks.instance_proofs import proof_of_instance
from benchmarks.instances import InstanceSet
from tests.core.solving.c_verifier import STRICT, build, line_of_files, verifier
from workbench.base.checker import plan_checker
from workbench.solving.proof_file import written

FOLDER = Path(__file__).parents[3] / "models" / "problems"
if not FOLDER.exists():
    pytest.skip("no models folder beside the tests", allow_module_level=True)
INSTANCES = InstanceSet(FOLDER)
CHECKER = plan_checker()
SMALL = [n for n, row in INSTANCES.rows.items() if int(row["tasks"]) * int(row["workers"]) < 2500]
pytestmark = pytest.mark.release
RAW = {"quality": [[0.5, 0.5, 0.25]], "requirement": 0.75, "capacity": 1}
"""Two labels, of any two workers."""


def proof(raw, plan=((0, 1),), tree=None, **claim):
    """A problem and a proof of it as they stand in their files."""
    content = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
    told = {
        "kind": "assignment",
        "format": 2,
        "problem_sha256": hashlib.sha256(content).hexdigest(),
        "claim": claim or {"bound": 2, "cost": 2},
        "tree": tree or {"worker_prices": [0, 0, 0], "side_prices": []},
    }
    if plan is not None:
        told["labels"] = [list(workers) for workers in plan]
    return content, written(told).decode()


@pytest.mark.parametrize("name", [*SMALL, "hjv-one-type", "scale-1000000x100000"])
def test_it_says_of_instances_what_check_says(name):
    content, text = INSTANCES.content(name), proof_of_instance(INSTANCES, name).decode()
    said = CHECKER["line_of"](content, text)
    assert said[0]
    assert verifier()(content, text) == said


def test_it_says_of_every_instance_what_the_index_says():
    line_of = verifier()
    for name, row in INSTANCES.rows.items():
        holds, line = line_of(INSTANCES.content(name), proof_of_instance(INSTANCES, name).decode())
        assert holds, (name, line)
        optimal = row["status"] == "checked" and row["best"] == row["bound"]
        assert line.endswith("none is cheaper") == optimal, (name, line)


def test_a_proof_holds_and_nothing_beyond_it():
    line_of = verifier()
    assert line_of(*proof(RAW)) == (True, "holds: a plan of cost 2, and none is cheaper")
    for plan, claim, words in (
        (((0,),), {"bound": 1, "cost": 1}, "not covered"),
        (((0, 0),), {"bound": 2, "cost": 2}, "twice"),
        (((0, 3),), {"bound": 2, "cost": 2}, "too large"),
        (((0, 1), (2,)), {"bound": 2, "cost": 2}, "more lists"),
        ((), {"bound": 0, "cost": 0}, "left out"),
        (((0, 1),), {"bound": 3, "cost": 2}, "proves less"),
        (((0, 1),), {"bound": 2, "cost": 1}, "costs something else"),
        (None, {"bound": 2, "cost": 2}, "claim a bound"),
        (None, {"infeasible": True}, "does not rule it out"),
        (((0, 1),), {"infeasible": True}, "no plan, and one"),
    ):
        holds, line = line_of(*proof(RAW, plan, **claim))
        assert not holds
        assert words in line, line
        assert not CHECKER["line_of"](*proof(RAW, plan, **claim))[0]


def test_a_side_of_a_split_charges_its_labels_or_gives():
    """No label at all, or one and more: where labels are given a half each, two cost a half."""
    line_of = verifier()
    leaves = [{"worker_prices": [0, 0, 0], "side_prices": [price]} for price in (100, "1/2")]
    tree = {"pairs": [[[0], [0, 1, 2]]], "most": 0, "below": leaves[0], "above": leaves[1]}
    for bound, holds in ((2, True), (3, False)):
        case = proof(RAW, None, tree, bound=bound)
        assert line_of(*case)[0] == holds == CHECKER["line_of"](*case)[0]
    tree["most"] = 1
    assert line_of(*proof(RAW, None, tree, bound=2))[0]
    leaves[0]["side_prices"] = [0]
    assert not line_of(*proof(RAW, None, tree, bound=3))[0]
    leaves[1]["side_prices"] = []
    assert not line_of(*proof(RAW, None, tree, bound=2))[0]


def test_who_is_asked_for_too_much():
    """More tasks than a worker may do, and more members of a class than there are."""
    line_of = verifier()
    twice = {**RAW, "quality": RAW["quality"] * 2}
    tree = {"worker_prices": [0, 0, 0], "side_prices": []}
    holds, line = line_of(*proof(twice, ((0, 1), (0, 1)), tree, bound=4, cost=4))
    assert (holds, line) == (False, "WRONG: a worker has too many tasks")
    counted = {**twice, "quality": RAW["quality"], "tasks": [2], "workers": [3, 1, 1]}
    for pattern, times, words in (
        ({"0": 2}, 2, "too many tasks"),
        ({"1": 2}, 1, "a worker twice on a task"),
        ({"01": 1, "1": 1}, 1, "no worker of that name"),
        ({"0": 2}, 3, "too large a number"),
        ({"0": 2}, 1, "left out"),
    ):
        content, text = proof(counted, None, tree, bound=2, cost=2 * times)
        told = {**json.loads(text), "patterns": [[0, pattern, times]]}
        holds, line = line_of(content, written(told).decode())
        assert not holds
        assert words in line, line
    told["patterns"] = [[0, {"0": 2}, 1], [0, {"0": 1, "1": 1}, 1]]
    told["claim"] = {"bound": 4, "cost": 4}
    said = line_of(content, written(told).decode())
    assert said == (True, "holds: a plan of cost 4, and none is cheaper")


def test_labels_at_limits_and_prices_in_thirds():
    """Whoever is dear in a part of a price: exact, where a double is not."""
    line_of = verifier()
    raw = {**RAW, "cost": [[0.1, 0.2, 0.3]], "least": 3, "most": 3}
    tree = {"worker_prices": ["1/3", "1/7", "1/10000000000001"], "side_prices": []}
    claim = {"bound": "3/5", "cost": "3/5"}
    for plan, holds in ((((0, 1, 2),), True), (((0, 1),), False)):
        case = proof(raw, plan, tree, **claim)
        assert line_of(*case)[0] == holds == CHECKER["line_of"](*case)[0]
    assert not line_of(*proof(raw, ((0, 1, 2),), tree, bound="6001/10000", cost="3/5"))[0]


@pytest.mark.parametrize("skill", [0.5123456789012345, 0.612345678901234567, 0.4000000000000001])
def test_skills_of_many_digits_are_exact(skill):
    raw = {"skill": [[skill, 0.9, 0.9]], "epsilon": 0.7, "capacity": 1}
    case = proof(raw, ((1, 2),))
    assert verifier()(*case) == CHECKER["line_of"](*case)


def test_what_would_wrap_is_refused():
    line_of = verifier()
    for change in (
        {"quality": [[10**15, 10**15, 0.1**15]], "requirement": 10**15},
        {"capacity": 10**15, "tasks": [10**15], "workers": [10**15] * 3},
        {"cost": [[10**15, 1e-18, 10**15]]},
        {"cost": [[1e-19, 1, 1]]},
        {"requirement": 1e-30},
        {"requirement": 10**40},
        {"skill": [[1e-25, 0.9, 0.9]]},
    ):
        raw = {**RAW, **change}
        if "skill" in change:
            del raw["quality"]
        holds, line = line_of(*proof(raw, tree={"worker_prices": [10**15] * 3, "side_prices": []}))
        assert not holds
        assert line.startswith(("WRONG: ", "UNDECIDED: "))


def full(rng):
    """A small problem of numbers as they come: of all digits, and of any size."""
    n, m = int(rng.integers(1, 14)), int(rng.integers(2, 10))
    if rng.random() < 0.3:
        raw = {"quality": rng.random((n, m)).tolist(), "requirement": float(rng.uniform(0.3, 2))}
    else:
        skill = rng.beta(2, 1, (n, m)) if rng.random() < 0.5 else rng.uniform(0.5, 1, (n, m))
        raw = {"skill": skill.tolist(), "epsilon": float(rng.uniform(0.2, 0.8))}
    raw["capacity"] = rng.integers(1, n + 2, m).tolist()
    if rng.random() < 0.8:
        size = 10.0 ** int(rng.integers(-3, 5))
        raw["cost"] = (rng.uniform(0.01, 5, (n, m)) * size).tolist()
    if rng.random() < 0.3:
        raw["most"] = rng.integers(2, m + 1, n).tolist()
    return raw


def test_proofs_of_numbers_of_all_digits_hold(tmp_path):
    """By `check.py` and by the second verifier, which says the same."""
    line_of, problem, told = verifier(), tmp_path / "problem.json", tmp_path / "proof.json"
    for seed in range(40):
        problem.write_text(json.dumps(full(np.random.default_rng(seed))))
        told.unlink(missing_ok=True)
        wb.solve(problem, proof=told)
        content, text = problem.read_bytes(), told.read_text()
        said = CHECKER["line_of"](content, text)
        assert said[0], seed
        assert line_of(content, text) == said, seed


def test_what_is_beyond_its_numbers_is_not_called_wrong():
    raw = {"skill": [[0.9, 0.9, 1e-25]], "epsilon": 0.55, "capacity": 1}
    case = proof(raw, ((0, 1),))
    assert CHECKER["line_of"](*case)[0]
    assert verifier()(*case) == (False, "UNDECIDED: a number of too many digits")


def test_names_of_other_letters_are_left_to_check():
    raw = {**RAW, "quality": {"ä": RAW["quality"][0]}, "task_types": ["ä"]}
    case = proof(raw)
    assert CHECKER["line_of"](*case)[0]
    assert verifier()(*case) == (
        False,
        "WRONG: a text without an end, or of other letters than plain ASCII",
    )
    case = proof({**RAW, "quality": {"a b": RAW["quality"][0]}, "task_types": ["a b"]})
    assert verifier()(*case)[0]


JUNK = [b"", b"{", b"[" * 100_000, b"\0", b"nul", b"{}", b"[]", b'{"a":1,"a":2}', b"1e999", b"-1"]


@pytest.mark.parametrize("junk", JUNK)
def test_what_is_no_problem_and_no_proof_is_one_line(junk, tmp_path):
    verifier(*STRICT)
    program, (content, text) = build(*STRICT), proof(RAW)
    for name, data in (("problem", content), ("proof", text.encode()), ("junk", junk)):
        (tmp_path / name).write_bytes(data)
    for pair in (("junk", "proof"), ("problem", "junk"), ("junk", "junk"), ("none", "proof")):
        holds, line = line_of_files(program, *(tmp_path / name for name in pair))
        assert not holds
        assert "\n" not in line
    ended = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout[:7]) == (1, "WRONG: ")


def test_bytes_at_random_are_one_line(tmp_path):
    """Problem and proof with a few bytes changed, by the build that the compiler watches."""
    verifier(*STRICT)
    program, rng = build(*STRICT), np.random.default_rng(3)
    content, text = proof({**RAW, "least": [1], "available": [[True, 1, True]]})
    files = {tmp_path / "problem": content, tmp_path / "proof": text.encode()}
    for k in range(60):
        for path, data in files.items():
            changed = bytearray(data)
            for _ in range(int(rng.integers(0, 3)) + (k % 2)):
                changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
            path.write_bytes(changed)
        line_of_files(program, *files)
