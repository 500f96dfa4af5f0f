"""A study's probe: the records of its smoke sweep, and what counts as another result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.errors import InputError
from workbench.studies import probe
from workbench.studies.probe import Probe, differences, probe_path, read_probe, renew, run_probe
from workbench.studies.source import Source
from workbench.studies.study import Study

TEXT = """
from workbench.studies.study import Analysis, Parameter, Size, Study, TrialEnded

def trial(params, streams):
    if params["x"] == 3:
        raise TrialEnded("infeasible", "three is too many", {"y": 1.0})
    record = {"y": params["x"] / 7, "said": "yes, \\n\\"no\\"", "none": None}
    return {**record, "took": 1.5, "cost": 2}

STUDY = Study(
    name="sevenths", title="Sevenths", source="none",
    parameters={"x": Parameter(int, 1, "x"), "z": Parameter(int, 1, "z")},
    sizes=dict.fromkeys(("smoke", "small", "paper"), Size(({"x": [1, 2, 3]},), 2)),
    trial=trial, analyse=lambda trials: Analysis(),
    volatile=("took", "cost"), limited=("cost",),
)
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "sevenths.py"
    path.write_text(TEXT, "utf-8")
    return Source.of(str(path))


def test_a_row_a_trial_without_what_differs_from_run_to_run(source):
    rows = run_probe(source).rows
    assert [(row["x"], row["repetition"]) for row in rows[:4]] == [
        (x, r) for r in "01" for x in "123"
    ][:4]
    assert rows[0] == {
        "x": "1",
        "repetition": "0",
        "status": "ok",
        "y": "0.1428571429",
        "said": 'yes, \n"no"',
        "none": "",
        "cost": "2",
    }
    assert rows[2] == {"x": "3", "repetition": "0", "status": "infeasible", "y": "1"}


def test_what_is_kept_lies_beside_the_file_and_is_read_again(source):
    assert read_probe(source) is None
    path, found = renew(source)
    assert (path, found) == (Path(source.name).with_name("probes") / "sevenths.csv", None)
    before = read_probe(source)
    assert before.since == run_probe(source).since
    assert not differences(before, run_probe(source))
    assert not differences(run_probe(source), before)
    inode = path.stat().st_ino
    assert renew(source) == (path, [])
    assert path.stat().st_ino == inode  # not written again
    beside = Path("workbench/ranking/probes/leaderboard.csv").resolve()
    assert probe_path(Source.of("leaderboard")) == beside


def test_results_that_change_get_the_release_that_changed_them(source):
    path, _ = renew(source)
    text = path.read_text("utf-8").replace("0.1428571429", "0.15")
    path.write_text(text.replace("release ", "release 1.9.9+"), "utf-8")
    assert read_probe(source).since.startswith("1.9.9+")
    (line,) = differences(read_probe(source), run_probe(source))
    assert line == "y in 2 of 6 trials (0.15 before, 0.1428571429 now)"
    assert renew(source) == (path, [line])
    assert not read_probe(source).since.startswith("1.9.9+")


def test_a_field_more_is_no_other_result_and_one_less_is(source):
    now = run_probe(source)
    less = Probe("1.0.0", tuple({k: v for k, v in row.items() if k != "said"} for row in now.rows))
    assert differences(less, now) == []
    assert [line.partition(" ")[0] for line in differences(now, less)] == ["said"]
    path = probe_path(source)
    path.parent.mkdir()
    path.write_text(less.text(), "utf-8")
    assert renew(source) == (path, [])
    assert (read_probe(source).since, read_probe(source).fields) == (
        "1.0.0",
        now.fields,
    )  # of the same release


def test_another_number_of_trials_is_another_result(source):
    now = run_probe(source)
    assert differences(replace(now, rows=now.rows[:-1]), now) == ["6 trials and not 5"]


def test_many_differences_are_told_in_short():
    assert probe.in_short(["a", "b", "c"]) == "a, b, c"
    assert probe.in_short(["a", "b", "c", "d", "e"]) == "a, b, c, and 2 fields more"


@given(st.floats(-1e12, 1e12), st.floats(-1e-6, 1e-6))
def test_numbers_are_equal_within_the_tolerance_and_not_beyond_it(number, share):
    """Whole numbers, floats and digits that are left out: one law."""
    before, now = probe._as_text(number), probe._as_text(number * (1 + share))
    assert probe._alike(before, now)
    far = number * 1.001 + 1e-6
    assert probe._alike(before, probe._as_text(far)) == (far == number)


@pytest.mark.parametrize(
    ("before", "now", "alike"),
    [
        ("1", "1.0", True),
        ("", "", True),
        ("", "0", False),
        ("yes", "no", False),
        ("True", "False", False),
        ("0", "1e-9", True),
        ("0", "1e-7", False),
        ("1000", "1001", False),
        ("nan", "1", False),
    ],
)
def test_cells_that_are_alike(before, now, alike):
    assert probe._alike(before, now) is alike
    assert probe._alike(now, before) is alike


@pytest.mark.parametrize(
    "text", ["", "x,y\n1,2\n", "# results since release 1.0.0\nx,y\n", b"\xff"]
)
def test_a_file_that_is_no_probe_is_one_line(source, text):
    path = probe_path(source)
    path.parent.mkdir()
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=r"sevenths\.csv: (is no probe|cannot be read)"):
        read_probe(source)


def test_trials_that_fail_make_no_probe(source):
    path = Path(source.name)
    path.write_text(TEXT.replace('params["x"] / 7', '7 / (params["x"] - 1)'), "utf-8")
    with pytest.raises(InputError, match=r"sevenths: 2 of 6 smoke trials failed \(error\)"):
        renew(Source.of(str(path)))
    assert not probe_path(Source.of(str(path))).exists()


def test_what_is_limited_is_volatile(source):
    with pytest.raises(InputError, match="'y' is limited: name it as volatile too"):
        replace(source.load(), limited=("y",))
    assert isinstance(source.load(), Study)
