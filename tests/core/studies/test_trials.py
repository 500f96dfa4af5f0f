"""Studies as declared, and trials as planned: values, keys, streams, records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.errors import InputError
from workbench.studies.attempt import Status, attempt
from workbench.studies.source import Source
from workbench.studies.study import Parameter
from workbench.studies.trials import plan, points_of

TOYS = str(Path(__file__).with_name("toys.py"))
SOURCE = Source.of(TOYS)
TOY = SOURCE.load()


def trials(*sweep, repetitions=1, seed=0):
    return list(plan(TOY, sweep, repetitions, seed))


# Keys and streams


def test_keys_name_the_trial_and_nothing_else():
    block = {"x": [0, 1, 2], "method": ["a", "b"]}
    one = trials(block, repetitions=3)
    assert len({trial.key for trial in one}) == 18
    turned = trials({"method": ["b", "a"], "x": [2, 1, 0]}, repetitions=3)
    assert {trial.key for trial in one} == {trial.key for trial in turned}
    assert not {t.key for t in one} & {t.key for t in trials(block, repetitions=3, seed=1)}
    newer = replace(TOY, version=2)
    assert not {t.key for t in one} & {t.key for t in plan(newer, (block,), 3)}


KEY = "8e07fb0f211287abda8a7067300cac47c59ca6da5033820374145b0d8802fc42"
WORDS = (1969837162, 3457777281, 1792040586, 2801254007)


def test_a_key_stays_what_it_was():
    """Keys are stored: one that changes makes every old store useless."""
    trial = trials({"x": [3]})[0]
    assert trial.key == KEY
    assert trial.streams.instance.spawn_key == WORDS


def test_methods_meet_the_same_instance_and_draw_for_themselves():
    a, b, c = trials({"method": ["a"]}, {"method": ["b"]}, {"x": [1]})
    assert a.streams.instance.spawn_key == b.streams.instance.spawn_key
    assert a.streams.instance.spawn_key != c.streams.instance.spawn_key
    keys = {t.streams.method(name).spawn_key for t in (a, b, c) for name in ("", "a", "b")}
    assert len(keys) == 9
    assert a.streams.instance.spawn_key not in keys


def test_repetitions_and_seeds_have_streams_of_their_own():
    made = [t for seed in (0, 1) for t in trials({"x": [0]}, repetitions=50, seed=seed)]
    drawn = {np.random.default_rng(t.streams.instance).random() for t in made}
    assert len(drawn) == 100


@settings(max_examples=50)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(1, 4))
def test_a_point_named_twice_is_run_once_and_repetitions_go_outermost(values, repetitions):
    made = trials({"x": values}, {"x": values[:1]}, repetitions=repetitions)
    assert [t.params["x"] for t in made] == list(dict.fromkeys(values)) * repetitions
    assert [t.repetition for t in made] == sorted(t.repetition for t in made)


def test_whole_numbers_are_taken_for_floats_and_zeros_are_one():
    assert points_of(TOY, ({"seconds_asked": [1, 1.0, 0.0, -0.0]},))[0]["seconds_asked"] == 1.0
    assert len(points_of(TOY, ({"seconds_asked": [1, 1.0, 0.0, -0.0]},))) == 2


def test_a_sweep_too_large_to_list_is_refused():
    wide = {"x": list(range(4000)), "seconds_asked": [float(k) for k in range(4000)]}
    with pytest.raises(InputError, match="16,000,000 points: give at most"):
        points_of(TOY, (wide,))


# Bad declarations and sweeps


@pytest.mark.parametrize(
    ("sweep", "line"),
    [
        ({"y": [1]}, "toy has no parameter 'y': it has x, act, method"),
        ({"x": []}, "sweep[0].x is []: give a list of at least one value"),
        ({"x": [1, 2.5]}, "sweep[0].x[1] is 2.5: give a whole number"),
        ({"act": ["fly"]}, "sweep[0].act[0] is 'fly': choose from measure, sleep"),
        ({"seconds_asked": [float("nan")]}, "sweep[0].seconds_asked[0] is nan: give a finite"),
    ],
)
def test_bad_sweeps_get_one_line(sweep, line):
    with pytest.raises(InputError) as caught:
        trials(sweep)
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize(
    ("parameter", "text", "line"),
    [
        (Parameter(int, 0, ""), "1.5", "x is '1.5': give a whole number"),
        (Parameter(float, 0.0, "", most=1), "2", "x is 2: give at most 1"),
        (Parameter(bool, False, ""), "1", "x is '1': give true or false"),
    ],
)
def test_bad_values_typed_get_one_line(parameter, text, line):
    with pytest.raises(InputError) as caught:
        parameter.parse("x", text)
    assert str(caught.value) == line


# One trial


@pytest.mark.parametrize(
    ("act", "status", "message", "fields"),
    [
        ("measure", Status.OK, "", {"drawn", "own", "x_squared"}),
        ("nan", Status.OK, "", {"drawn", "own"}),
        ("infeasible", Status.INFEASIBLE, "nobody can", {"bound"}),
        ("raise", Status.ERROR, "ValueError: asked to fail (toys.py:", set()),
    ],
)
def test_how_trials_end(act, status, message, fields):
    outcome = attempt(SOURCE, trials({"act": [act]})[0])
    assert outcome.status is status
    assert outcome.message.startswith(message)
    assert set(outcome.record) == fields
    if act == "nan":
        assert outcome.record["own"] is None


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ("return {'x': 1}", Status.ERROR, "InputError: the record has a field 'x'"),
        ("return {'y': float('inf')}", Status.ERROR, "InputError: the record's y is inf"),
        ("return {'y': 10**5000}", Status.ERROR, "InputError: the record's y is beyond 2**1024"),
        ("raise TrialEnded('cancelled', 'm')", Status.ERROR, "InputError: TrialEnded has status"),
        ("raise MemoryError", Status.MEMORY, "MemoryError"),
    ],
)
def test_bad_records_are_errors(tmp_path, body, status, message):
    path = tmp_path / "mine.py"
    path.write_text(OWN.replace("return {}", body))
    source = Source.of(str(path))
    outcome = attempt(source, next(plan(source.load(), ({},), 1)))
    assert outcome.status is status
    assert outcome.message.startswith(message)
    assert "\n" not in outcome.message


# Where a study's code is

OWN = """
from workbench.studies.study import Analysis, Parameter, Size, Study, TrialEnded

def trial(params, streams):
    return {}

size = Size(({},), 1)
STUDY = Study("mine", "t", "s", {"x": Parameter(int, 0, "h")},
              {"smoke": size, "small": size, "paper": size}, trial, lambda table: Analysis())
"""


def test_no_worker_runs_another_version_of_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    source = Source.of(str(path))
    path.write_text(OWN + "\n# changed")
    with pytest.raises(InputError, match="has changed since the run began"):
        source.load()


@pytest.mark.parametrize("name", ["nothing-like-it", "missing.py"])
def test_unknown_studies_get_one_line(name):
    with pytest.raises(InputError, match=f"no study {name!r}|{name}: no such file"):
        Source.of(name)
