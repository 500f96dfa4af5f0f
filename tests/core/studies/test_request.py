"""What is asked for on a command line or by arguments, and how mistakes are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.base.errors import InputError
from workbench.studies.request import request

TOYS = str(Path(__file__).with_name("toys.py"))


def test_defaults_are_the_small_size():
    asked = request(TOYS)
    assert (asked.plan.size, asked.plan.repetitions, asked.plan.seed, asked.trials) == (
        "small",
        5,
        0,
        30,
    )
    assert asked.limits.deadline == asked.study.deadline


def test_what_is_asked_for_goes_before_the_study():
    asked = request(
        TOYS, size="smoke", repetitions=2, seed=4, assignments=["x=1,2"], deadline=7, memory=50
    )
    assert (asked.plan.size, asked.plan.repetitions, asked.plan.seed) == ("smoke", 2, 4)
    assert asked.plan.sweep[0]["x"] == [1, 2]
    assert (asked.limits.deadline, asked.limits.memory) == (7, 50)
    by_name = request(TOYS, size="smoke", assignments={"x": 3, "method": ["a"]})
    assert by_name.plan.sweep == ({"x": [3], "method": ["a"]},)


def test_a_file_of_before_is_refused_with_what_to_write_instead(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('study = "toy"\n')
    with pytest.raises(InputError, match=r"mine.toml: .*are read no more; change a sweep by --set"):
        request(str(path))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
@pytest.mark.parametrize("name", ["deadline", "memory"])
def test_limits_are_finite(name, value):
    with pytest.raises(InputError, match=f"{name} is {value:g}: give a number above 0"):
        request(TOYS, **{name: value})
    with pytest.raises(InputError, match="x is a whole number beyond 64 bits"):
        request(TOYS, assignments=["x=" + "9" * 400])
