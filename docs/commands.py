"""The page of every command's options, from the texts that `--help` prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from workbench.cli.app import main
from workbench.cli.help import GROUPS, group_of, options_of, record_of
from workbench.cli.options import Documented


def write_options(page: Path) -> None:
    """Write a table a command: option, what it is for."""
    page.parent.mkdir(exist_ok=True)
    parts = ["# Options of every command", "As `workbench COMMAND --help-all` prints them."]
    for name, command in commands(main, click.Context(main)):
        if isinstance(command, Documented):
            command.document()
        context = click.Context(command, info_name=name)
        groups: dict[str, list[str]] = {}
        for option in options_of(command):
            flags, text = record_of(option, context)
            title = str(group_of(option, command))
            groups.setdefault(title, []).append(f"| `{_cell(flags)}` | {_cell(text)} |")
        rows = [
            line
            for title in GROUPS
            if title in groups
            for line in (f"| **{title}** | |", *groups[title])
        ]
        if rows:
            about = (command.help or "").split("\n\n")[0].replace("\n", " ")
            parts += [f"## `workbench {name}`", about]
            parts.append("\n".join(["| option | what it is |", "|---|---|", *rows]))
    page.write_text("\n\n".join(parts) + "\n", "utf-8")


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


def _cell(text: str) -> str:
    """Words of a table's cell: bars would end it, and choices may break between lines."""
    return " ".join(text.split()).replace("|", " \\| ")
