"""What is asked for on a command line or in a TOML file, and how mistakes are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.base.errors import InputError
from workbench.base.registry import Entry
from workbench.studies import catalog
from workbench.studies.request import request
from workbench.studies.source import Source

TOYS = str(Path(__file__).with_name("toys.py"))


@pytest.fixture(autouse=True)
def toy_by_name(monkeypatch):
    """Let files name the toy, as they name a study of the catalog."""
    entry = Entry("toy", Source.of(TOYS).load(), "Toy", "none")
    shipped = catalog._shipped_studies()
    monkeypatch.setattr(catalog, "_shipped_studies", lambda: (*shipped, entry))


def written(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return str(path)


def test_defaults_are_the_small_size():
    asked = request(TOYS)
    assert (asked.plan.size, asked.plan.repetitions, asked.plan.seed, asked.trials) == (
        "small",
        5,
        0,
        30,
    )
    assert asked.limits.deadline == asked.study.deadline


def test_the_command_line_goes_before_the_file_and_the_file_before_the_study(tmp_path):
    path = written(
        tmp_path,
        'study = "toy"\nsize = "smoke"\nrepetitions = 9\nseed = 4\ndeadline = 2\n[set]\nx = 8\n',
    )
    asked = request(path)
    assert (asked.plan.size, asked.plan.repetitions, asked.plan.seed) == ("smoke", 9, 4)
    assert asked.plan.sweep == ({"x": [8]},)
    assert (asked.limits.deadline, asked.limits.memory) == (2, 4000)
    asked = request(path, size="small", repetitions=2, seed=0, assignments=["x=1,2"], deadline=7)
    assert (asked.plan.size, asked.plan.repetitions, asked.plan.seed) == ("small", 2, 0)
    assert asked.plan.sweep == ({"x": [1, 2], "method": ["a", "b"]},)
    assert asked.limits.deadline == 7


def test_a_files_own_sweep(tmp_path):
    path = written(
        tmp_path,
        'study = "toy"\n[[sweep]]\nx = [1, 2]\nmethod = "b"\n[[sweep]]\nseconds_asked = 1\n',
    )
    asked = request(path)
    assert asked.plan.size == "file"
    assert asked.plan.sweep == ({"x": [1, 2], "method": ["b"]}, {"seconds_asked": [1.0]})
    assert asked.trials == 3 * 5
    with pytest.raises(InputError, match=r"--size paper: .*has a sweep of its own"):
        request(path, size="paper")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            'study = "toy"\nrepetitions = 3\nrepetitions = 4',
            "line 3, repetitions: Cannot overwrite a value",
        ),
        ('study = "toy"\nseed 3\n', "line 2, Expected '=' after a key"),
        ("study = 3", "line 1, study: give a study of the catalog, its name in quotes"),
        ('study = "tot"', "line 1, study: no study 'tot': did you mean 'toy'? there are adaptive"),
        ('study = "evil.py"', "line 1, study: a file cannot name code, run the .py file itself"),
        ('study = "toy"\n\nrepetitions = 0', "line 3, repetitions: give a whole number of 1"),
        ('study = "toy"\n[sweep]\nx = 3', "line 2, sweep: give [[sweep]]"),
        ('study = "toy"\n[set]\nz = 3', "line 3, z: toy has no parameter 'z'"),
        ('study = "toy"\n[set]\nx = "3"', "line 3, x: x is '3': give a whole number"),
        ('study = "toy"\n[[sweep]]\nx = 1\n[[sweep]]\nx = [1, -2]', "line 5, x: x[1] is -2"),
        ('study = "toy"\n[[sweep]]\nx = 1\n[[sweep]]\nx = []', "line 5, x: x is []: give a list"),
        ('study = "toy"\nseed = ' + "[" * 3000, "is nested too deeply, write parameter = values"),
    ],
)
def test_malformed_files_get_line_and_key(tmp_path, text, line):
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        request(path)
    told = str(caught.value)
    assert told.startswith(path)
    assert line in told
    assert "\n" not in told


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
@pytest.mark.parametrize("name", ["deadline", "memory"])
def test_limits_are_finite(name, value):
    with pytest.raises(InputError, match=f"{name} is {value:g}: give a number above 0"):
        request(TOYS, **{name: value})
    with pytest.raises(InputError, match="x is a whole number beyond 64 bits"):
        request(TOYS, assignments=["x=" + "9" * 400])
