"""The page of every command's options, from the texts that `--help` prints.

An option that is a parameter of the front door has its text there, and is named here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

import workbench
from workbench.cli.app import main
from workbench.cli.help import options_of, record_of
from workbench.cli.options import Documented
from workbench.cli.texts import parameters

SEVERAL = 3
"""Commands that have an option with one text, from which on it stands once, at the head."""
HEAD = """\
# Options of every command

`workbench COMMAND --help` prints each option with its text. An option that is a parameter of
[the front door](../front-door.md) has its text there, under the names given with the command:
`--time-limit` is `time_limit`.
"""
TABLE = ["| option | what it is |", "|---|---|"]
Row = tuple[str, str]
"""An option as it is called, and its text."""


class Page(NamedTuple):
    """What is said of a command.

    Attributes
    ----------
    about
        What it does.
    named
        Options that are parameters of the front door, by the first function that has them.
    own
        Options with a text of their own.
    """

    about: str
    named: dict[str, list[str]]
    own: list[Row]


def write_options(page: Path) -> None:
    """Write a part a command: names of parameters, and a table of the other options."""
    page.parent.mkdir(exist_ok=True)
    pages = {name: _page(name, one) for name, one in commands(main, click.Context(main))}
    counts = Counter(row for one in pages.values() for row in one.own)
    shared = [row for row, count in counts.items() if count >= SEVERAL]
    parts = [HEAD, "## Options of several commands", _table(shared)]
    for name, one in pages.items():
        own = [row for row in one.own if row not in shared]
        if not (one.named or own):
            continue
        parts += [f"## `workbench {name}`", one.about]
        parts += [_named(one)] if one.named else []
        parts += [_table(own)] if own else []
    page.write_text("\n\n".join(part.strip("\n") for part in parts) + "\n", "utf-8")


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


def _page(name: str, command: click.Command) -> Page:
    context = click.Context(command, info_name=name)
    texted = {option.name for option in command.params if getattr(option, "help", None)}
    functions = command.functions if isinstance(command, Documented) else ()
    if isinstance(command, Documented):
        command.document()
    about = " ".join((command.help or "").split("\n\n")[0].split())
    one = Page(about, {}, [])
    for option in options_of(command):
        record = record_of(option, context)
        of = [] if option.name in texted else _having(functions, option)
        if of:
            one.named.setdefault(of[0], []).append(option.opts[0])
        else:
            one.own.append(record)
    return one


def _having(functions: tuple[str, ...], option: click.Parameter) -> list[str]:
    """Functions of the front door that have this parameter, or one of the option's name."""
    names = {option.name, option.opts[0].lstrip("-")}
    there = [function for function in functions if names & parameters(function).keys()]
    return [
        name for _, _, name in (one.rpartition(":") for one in there) if name in workbench.__all__
    ]


def _named(page: Page) -> str:
    """Parameters of the front door, in a sentence."""
    of = [
        f"of [`{name}`](../front-door.md#{name.lower()}) {', '.join(f'`{one}`' for one in flags)}"
        for name, flags in page.named.items()
    ]
    return f"Parameters {'; '.join(of)}."


def _table(rows: list[Row]) -> str:
    return "\n".join([*TABLE, *(f"| `{_cell(flags)}` | {_cell(text)} |" for flags, text in rows)])


def _cell(text: str) -> str:
    """Words of a table's cell: bars would end it, and choices may break between lines."""
    return " ".join(text.split()).replace("|", " \\| ")
