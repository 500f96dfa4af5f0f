"""`workbench doctor`: whether this installation is to be trusted."""

from __future__ import annotations

import click

from workbench.cli.output import emit, idle_seed_option, json_option, working
from workbench.cli.streams import show


@click.command(epilog="Example: workbench doctor")
@idle_seed_option
@json_option
def command(as_json: bool) -> int:
    """Solve small problems with known answers, and name the versions at work.

    Exit code 1 when the solver gives a wrong answer to any of them.
    """
    from workbench import api

    with working("solving the canaries", after=5.0):
        found = api.doctor()
    if as_json:
        emit(found.to_dict())
    else:
        show(found.summary())
    return 0 if found.passed else 1
