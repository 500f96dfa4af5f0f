"""`workbench doctor`: whether this installation is to be trusted."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict

import click

from workbench.base.text import table
from workbench.cli.output import emit, idle_seed_option, json_option, working
from workbench.cli.streams import show


@click.command(epilog="Example: workbench doctor")
@idle_seed_option
@json_option
def command(as_json: bool) -> int:
    """Solve small problems with known answers, and name the versions at work.

    Exit code 1 when the solver gives a wrong answer to any of them.
    """
    from workbench.solving import versions
    from workbench.solving.canaries import run_canaries

    machine = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
    }
    with working("solving the canaries", after=5.0):
        canaries = run_canaries()
    passed = all(canary.passed for canary in canaries)
    if as_json:
        emit(
            {
                "versions": versions(),
                "machine": machine,
                "canaries": [asdict(canary) for canary in canaries],
                "passed": passed,
            }
        )
        return 0 if passed else 1
    show("\n".join(f"{name:10}{value}" for name, value in {**versions(), **machine}.items()))
    rows = [
        (
            canary.name,
            str(canary.expected),
            str(canary.got),
            "yes" if canary.passed else "NO",
            f"{canary.seconds:.2f}",
            canary.note,
        )
        for canary in canaries
    ]
    show("\n" + table(("canary", "expected", "got", "passed", "seconds", "note"), rows))
    failed = [canary.name for canary in canaries if not canary.passed]
    show(f"\nfailed: {', '.join(failed)}" if failed else "\nall passed")
    return 0 if passed else 1
