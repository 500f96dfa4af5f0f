"""The page of every command's options, from the texts that `--help` prints.

An option that is a parameter of the front door has its text there, and is named here.
"""

from __future__ import annotations

import re
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

`workbench COMMAND --help` prints each option with its text. Here are those that are no parameter
of [the front door](../front-door.md). An option that is one has its name, `--time-limit` for
`time_limit`, and its text there.
"""
READING = ("reading:read_labels", "reading:read_gold")
"""Functions whose parameters every command has that reads labels."""
READ = """\
Commands that read labels take the parameters of [`read_labels`](../front-door.md#read_labels) and
[`read_gold`](../front-door.md#read_gold): `--columns task=pic,worker=who`, `--scale 0,100`.
"""
LIMITS = re.compile(r" \[[\d<=]*x[<>=\d]+\]|; [\d<=]*x[<>=\d]+(?=\])")
Row = tuple[str, str]
"""An option as it is called, and its text."""


class Page(NamedTuple):
    """What is said of a command.

    Attributes
    ----------
    functions
        Names of the front door of which it has parameters.
    own
        Options with a text of their own.
    """

    functions: list[str]
    own: list[Row]


def write_options(page: Path) -> None:
    """Write a part a command: whose parameters it takes, and its other options."""
    page.parent.mkdir(exist_ok=True)
    pages = {name: _page(name, one) for name, one in commands(main, click.Context(main))}
    counts = Counter(row for one in pages.values() for row in one.own)
    shared = [row for row, count in counts.items() if count >= SEVERAL]
    of_labels = {name for one in READING for name in parameters(one)}
    rest = [row for row in shared if row[0].split()[0][2:].replace("-", "_") not in of_labels]
    parts = [HEAD, "## Options of several commands", READ, _listed(rest)]
    for name, one in pages.items():
        own = [row for row in one.own if row not in shared]
        if one.functions or own:
            parts += [f"## `workbench {name}`", _parameters(one.functions), _listed(own)]
    page.write_text("\n\n".join(part.strip("\n") for part in parts if part) + "\n", "utf-8")


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
    one = Page([], [])
    for option in options_of(command):
        of = [] if option.name in texted else _having(functions, option)
        if of:
            one.functions.extend({of[0]}.difference(one.functions))
        else:
            one.own.append(record_of(option, context))
    return one


def _having(functions: tuple[str, ...], option: click.Parameter) -> list[str]:
    """Functions of the front door that have this parameter, or one of the option's name."""
    names = {option.name, option.opts[0].lstrip("-")}
    there = [function for function in functions if names & parameters(function).keys()]
    return [
        name for _, _, name in (one.rpartition(":") for one in there) if name in workbench.__all__
    ]


def _parameters(functions: list[str]) -> str:
    """Where the texts of a command's other options stand, in a sentence."""
    links = (f"[`{name}`](../front-door.md#{name.lower()})" for name in functions)
    return f"Parameters of {', '.join(links)}." if functions else ""


def _listed(rows: list[Row]) -> str:
    return "\n".join(f"- `{_line(flags)}`: {_line(text)}" for flags, text in rows)


def _line(text: str) -> str:
    """Words of a line, without limits of a number and without names that are many."""
    return " ".join(LIMITS.sub("", text).partition(" One of: ")[0].split())
