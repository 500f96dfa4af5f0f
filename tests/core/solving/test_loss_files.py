"""Problem files that state what errors cost, and their proofs."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from crowd_models.files import read_problem
from workbench.base.errors import InputError

CHECK = runpy.run_path(str(Path(__file__).parents[3] / "models" / "problems" / "check.py"))
STATED = {
    "confusion": {
        "photo": [[[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.1, 0.9]], [[0.7, 0.3], [0.1, 0.9]]]
    },
    "task_types": ["photo", "photo"],
    "prior": [0.9, 0.1],
    "loss": [1, 5],
    "epsilon": 0.5,
    "capacity": 2,
}


def _written(told):
    return json.dumps(told, sort_keys=True, separators=(",", ":"))


@pytest.fixture
def stated(tmp_path):
    def write(**changes):
        path = tmp_path / "problem.json"
        path.write_text(json.dumps({**STATED, **changes}))
        return path

    return write


def test_a_loss_in_a_file_is_the_tilted_prior(stated):
    costly = read_problem(stated())
    scale = 0.9 + 5 * 0.1
    tilted = {k: v for k, v in STATED.items() if k != "loss"}
    tilted |= {"prior": [0.9 / scale, 0.5 / scale], "epsilon": 0.5 / scale}
    path = stated()
    path.write_text(json.dumps(tilted))
    plain = read_problem(path)
    assert np.abs(costly.weights - plain.weights).max() < 1e-12
    assert np.abs(costly.epsilon - plain.epsilon).max() < 1e-12
    assert costly.scale == pytest.approx(scale)
    assert "expected cost 0.5" in repr(wb.solve(stated()))


def test_a_proof_states_the_losses_and_holds_for_them_alone(stated, tmp_path):
    path, proof = stated(), tmp_path / "proof.json"
    wb.solve(path, proof=proof)
    path_before = path.read_bytes()
    holds, line = CHECK["line_of"](path.read_bytes(), proof.read_text())
    assert holds
    assert line.endswith("missing a class costs 1, 5, by class")
    dearer, sha = stated(loss=[1, 60]).read_bytes(), CHECK["hashlib"].sha256
    same = proof.read_text().replace(sha(path_before).hexdigest(), sha(dearer).hexdigest())
    holds, line = CHECK["line_of"](dearer, same)
    assert not holds
    assert "not covered" in line


@pytest.mark.parametrize("loss", [[1], [1, 0], [1, -2], [1, 1e9]])
def test_losses_that_are_none_are_refused(stated, loss):
    with pytest.raises(InputError, match="loss: give a number above 0"):
        read_problem(stated(loss=loss))
    told = {"kind": "several classes", "format": 1, "problem_sha256": "", "claim": {}}
    assert not CHECK["line_of"](stated(loss=loss).read_bytes(), _written(told))[0]
