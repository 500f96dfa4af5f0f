"""`workbench doctor`: whether this installation is to be trusted."""

from __future__ import annotations

from workbench.cli import options
from workbench.cli.output import tell, working


@options.command("workbench doctor", draws=False)
def command(as_json: bool) -> int:
    """Solve small problems with known answers, and name the versions at work.

    Exit code 1 when the solver gives a wrong answer to any of them.
    """
    from workbench.api.solving import doctor

    with working("solving small problems with known answers", after=5.0):
        result = doctor()
    tell(result, as_json)
    return 0 if result.passed else 1
