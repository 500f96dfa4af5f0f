from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crowd_models import AssignmentProblem, requirement
from crowd_models.files import read_problem, write_problem
from tests.core.models.bad_files import BAD, GOOD, TYPED
from tests.core.release import RELEASE
from workbench.base.errors import InputError


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def same(one: AssignmentProblem, other: AssignmentProblem) -> None:
    for field in ("quality", "capacity", "requirement", "cost", "available", "task_types"):
        a, b = getattr(one, field), getattr(other, field)
        assert (a is None) == (b is None), field
        if a is not None:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_gets_one_line_with_its_name_and_the_mend(case, tmp_path):
    name, content, fragment = BAD[case]
    path = written(tmp_path, name, content)
    with pytest.raises(InputError) as caught:
        read_problem(path)
    message = str(caught.value)
    assert fragment in message
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


def test_a_matrix():
    problem = read_problem_of(GOOD)
    np.testing.assert_array_equal(problem.quality, GOOD["quality"])
    np.testing.assert_array_equal(problem.capacity, [2, 2, 2])
    np.testing.assert_array_equal(problem.requirement, requirement([0.6, 0.6]))
    assert problem.cost is None
    assert problem.available is None


def read_problem_of(fields):
    with tempfile.TemporaryDirectory() as folder:
        return read_problem(written(Path(folder), "p.json", fields))


def test_rows_by_type_are_spread_over_the_tasks():
    problem = read_problem_of(
        {
            **TYPED,
            "cost": {"image": [1, 2, 3], "text": [4, 5, 6], "unused": [7, 8, 9]},
            "available": {"text": [True, False, True], "image": [1, 1, 0]},
        }
    )
    p = np.array([[0.9, 0.8, 0.7], [0.6, 0.9, 0.8], [0.9, 0.8, 0.7]])
    np.testing.assert_allclose(problem.quality, (2 * p - 1) ** 2)
    np.testing.assert_array_equal(problem.cost, [[4, 5, 6], [1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(problem.available, [[1, 0, 1], [1, 1, 0], [1, 0, 1]])
    assert problem.task_types.tolist() == ["text", "image", "text"]


@settings(max_examples=20 if RELEASE else 6, deadline=None)
@given(
    quality=arrays(float, (3, 2), elements=st.floats(0, 1)),
    cost=st.none() | arrays(float, (3, 2), elements=st.floats(0, 1e6)),
    available=st.none() | arrays(bool, (3, 2)),
    types=st.none()
    | st.lists(st.text(), min_size=3, max_size=3)
    | st.lists(st.integers(-9, 9), min_size=3, max_size=3),
    need=arrays(float, 3, elements=st.floats(0, 100)),
)
@pytest.mark.parametrize("name", ["p.json", "p.npz"])
def test_written_problems_come_back_as_they_were(
    name, quality, cost, available, types, need, tmp_path_factory
):
    kinds = None if types is None else np.array(types)
    problem = AssignmentProblem(quality, np.array([1, 2]), need, cost, available, kinds)
    path = tmp_path_factory.mktemp("trip") / name
    write_problem(problem, path)
    same(read_problem(path), problem)


def test_writing_to_a_place_that_is_none(tmp_path):
    problem = read_problem_of(GOOD)
    with pytest.raises(InputError, match="ends in"):
        write_problem(problem, tmp_path / "p.txt")
    with pytest.raises(InputError, match="cannot be written"):
        write_problem(problem, tmp_path / "none" / "p.json")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "folder.json").mkdir()
    for name, fragment in {
        "missing.json": "there is no such file",
        "folder.json": "is a folder",
        "nul\0.json": "cannot be read",
        "x" * 300 + ".json": "cannot be read",
    }.items():
        with pytest.raises(InputError, match=fragment):
            read_problem(tmp_path / name)
