"""The `workbench` command (floor 6): the verbs a person types.

One module a command, each with a click command named `command`, imported when it is asked for.
"""

from workbench.cli.app import main

__all__ = ["main"]
