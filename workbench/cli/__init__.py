"""The `workbench` command (roof): the verbs a person types.

One module a command, each with a click command named `command`, imported when it is asked for.
"""

from typing import Any

__all__ = ["main"]


def __getattr__(name: str) -> Any:
    """Import the group of commands when it is asked for: `start` waits with that for Ctrl-C."""
    if name != "main":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from workbench.cli.app import main

    return main
