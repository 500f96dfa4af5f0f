"""Names that retire work on, and say what to call instead."""

from __future__ import annotations

import json

import pytest

from workbench.base.seeds import stream
from workbench.cli.app import COMMANDS, RETIRING


@pytest.mark.parametrize("old", RETIRING)
def test_an_old_name_runs_the_new_command_and_says_so(run, old):
    new = RETIRING[old]
    before, after = run(old, "--help"), run(new, "--help")
    assert before.exit_code == after.exit_code == 0
    assert before.stdout == after.stdout
    assert before.stderr == (
        f"warning: {old!r} is called {new!r} now; the old name goes in 2.0.0\n"
    )
    assert after.stderr == ""


def test_an_old_name_is_refused_as_the_new_one_is(run):
    before, after = run("select", "--budget", 0), run("hire", "--budget", 0)
    assert before.exit_code == after.exit_code == 2
    assert before.stderr.splitlines()[1:] == after.stderr.splitlines()


def test_old_names_stand_in_no_list(run):
    assert not {*RETIRING} & {*COMMANDS}
    assert all(f"  {old} " not in run("--help").stdout for old in RETIRING)


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
