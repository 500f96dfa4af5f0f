"""What an option is for, and its default, stand once: in the docstring of its function."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.core.cli.walk import commands
from workbench.cli.app import main
from workbench.cli.options import SIMULATE, SIMULATED, STUDY, Documented
from workbench.cli.texts import of_docstring, parameters

COMMANDS = {
    name: command
    for name, command in commands(main, click.Context(main))
    if isinstance(command, Documented)
}


def options(command: click.Command) -> list[click.Option]:
    return [p for p in command.params if isinstance(p, click.Option) and not p.hidden]


def of(command: Documented) -> list[str]:
    """The front-door functions that a command names itself."""
    return [name for name in command.functions if name not in ("inputs:given", *STUDY)]


def test_the_walk_sees_the_commands():
    assert len(COMMANDS) > 30
    assert sum(len(of(command)) > 0 for command in COMMANDS.values()) >= 15


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_text_and_one_text(name):
    command = COMMANDS[name]
    own = {option.name: option.help for option in options(command)}
    command.document()
    for option in options(command):
        assert option.help, (name, option.opts)
        texts = [parameters(function) for function in of(command)]
        if command.simulates and option.name in SIMULATED:
            texts = [parameters(SIMULATE)]
        said = [text[option.name] for text in texts if option.name in text]
        if said and option.name not in ("seed",):
            assert own[option.name] in (None, said[0]), (name, option.opts)
            assert option.help == said[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_defaults_are_those_of_the_functions(name):
    defaults = {}
    for function in reversed(of(COMMANDS[name])):
        module, _, thing = function.partition(":")
        room = module if "." in module else f"api.{module}"
        called = getattr(importlib.import_module(f"workbench.{room}"), thing)
        signature = inspect.signature(called).parameters.values()
        defaults |= {parameter.name: parameter.default for parameter in signature}
    for option in options(COMMANDS[name]):
        value = option.default
        if option.name in defaults and isinstance(value, int | float) and not option.is_flag:
            assert value == defaults[option.name], (name, option.opts)


def test_a_docstring_of_several_paragraphs_and_names():
    docstring = """Do it.

    Parameters
    ----------
    a, b
        Both of
        these.

        For Python alone.
    c
        As for `that`.
    d
        See `e`.

    Returns
    -------
    int
        f
    """
    assert of_docstring(inspect.cleandoc(docstring)) == {
        "a": "Both of these.",
        "b": "Both of these.",
        "d": "See e.",
    }


@pytest.mark.slow
def test_help_imports_nothing_of_the_front_door():
    code = (
        "import sys; from workbench.cli.app import main\n"
        "try: main(['check', '--help'])\n"
        "except SystemExit: pass\n"
        "print('workbench.api.checking' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        check=True,
    )
    assert result.stdout.splitlines()[-1] == "False"
