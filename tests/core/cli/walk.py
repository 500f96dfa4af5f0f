"""Every command of `workbench`, and of its groups."""

from __future__ import annotations

from collections.abc import Iterator

import click


def commands(
    group: click.Group, context: click.Context, before: str = ""
) -> Iterator[tuple[str, click.Command]]:
    """Every command and its parts, with the words that call it."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from commands(command, context, f"{before}{name} ")
