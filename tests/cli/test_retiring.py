"""Names that retire work on, and say what to call instead."""

from __future__ import annotations

import pytest

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
