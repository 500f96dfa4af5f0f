"""Names that are gone, and options that retire, say what to call instead."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from workbench.base.seeds import stream
from workbench.cli.app import COMMANDS, GONE


@pytest.mark.parametrize("old", GONE)
def test_a_name_that_is_gone_says_what_to_call(refused, old):
    assert f"no command {old!r}: it is called {GONE[old]!r} since 1.1" in refused(old, "--help")


def test_old_names_stand_in_no_list(run):
    assert not {*GONE} & {*COMMANDS}
    assert {*GONE.values()} <= {*COMMANDS}
    assert all(f"  {old} " not in run("--help").stdout for old in GONE)


@pytest.mark.parametrize(
    ("old", "policy"), [("AssignmentSession", "algorithm-2"), ("LsOl", "ls-ol")]
)
def test_a_front_door_name_that_is_gone_says_what_to_use(old, policy):
    with pytest.raises(AttributeError, match=f'use wb.Collector\\(..., policy="{policy}"\\)'):
        getattr(wb, old)
    assert old not in dir(wb)


OPTIONS = {
    "learn --simulate 0.9,0.8,0.6 --horizon 60 --runs 3": (
        "learn --crowd listed --skill 0.9,0.8,0.6 --horizon 60 --trials 3"
    ),
    "collect --simulate --tasks 9 --workers 8 --total 30 --policy fixed": (
        "collect --tasks 9 --workers 8 --total 30 --policy fixed"
    ),
}


@pytest.mark.parametrize("old", OPTIONS)
def test_an_old_option_does_the_same_and_says_what_to_give(run, old):
    before, after = run(*old.split(), "--json"), run(*OPTIONS[old].split(), "--json")
    assert before.exit_code == after.exit_code == 0
    assert json.loads(before.stdout) == json.loads(after.stdout)
    assert all(line.startswith("warning: --") for line in before.stderr.splitlines())
    assert "goes in 3.0.0" in before.stderr
    assert "--simulate" not in run(old.split()[0], "--help").stdout
    assert after.stderr == ""


def test_skills_drawn_as_before_are_those_of_before(run):
    line = "learn --simulate 9 --low 0.5 --high 0.9 --horizon 50 --runs 2 --seed 3 --json"
    skills = json.loads(run(*line.split()).stdout)["skills"]
    drawn = stream(3, "skills").uniform(0.5, 0.9, 9)
    assert list(skills.values()) == drawn.tolist()
