"""The group of commands: which there are, how their failures end.

Exit codes: 0 done; 1 done without what was asked for (no solution, not proven, a failed check);
2 bad input, told in one line; 130 interrupted. An exception that is none of these is a bug and
keeps its traceback.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from typing import Any, NoReturn

import click

import workbench
from workbench.errors import InputError

COMMANDS = {
    "compare": "Compare exact, adaptive and random assignment on one crowd.",
    "assign": "Make a plan: who labels which task, and what is proven of it.",
    "select": "Choose whom to hire from their answers to control questions.",
    "aggregate": "Turn labels into one answer a task.",
    "learn": "Learn whom to trust while tasks come in, without gold.",
    "data": "List recorded crowds, describe one, download them.",
    "solve": "Solve an assignment problem and prove the answer.",
    "export": "Write an assignment problem as .lp or .mps for any solver.",
    "doctor": "Check the solver against problems with known answers.",
    "study": "Run studies: thousands of trials, kept, resumed, reported.",
    "claims": "Hold what the papers claim against what was measured.",
    "bench": "Measure speed and memory beside what they are compared with.",
}
"""Name and help line; the module `workbench.cli.<name>` has the rest."""


class Interrupted(click.ClickException):
    """Ctrl-C, before click turns it into an empty line and an Abort."""

    exit_code = 130


class Commands(click.Group):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Give the names in the order of the table."""
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> click.Command | None:
        """Import the module of a command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"workbench.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest name for one that is unknown."""
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        import difflib

        near = difflib.get_close_matches(name, COMMANDS, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise click.UsageError(f"no command {name!r}: {guess}there are {', '.join(COMMANDS)}")

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the help lines of the table, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; its return value is the exit code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run from a command line: failures a user can mend become one line."""
        run: Any = super().main
        if not standalone_mode:
            return run(*args, standalone_mode=False, **extra)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal may know no ε
        try:
            code = run(*args, standalone_mode=False, **extra)
        except click.exceptions.Abort:
            _fail("interrupted", 130)
        except Interrupted as error:
            _fail(error.message, error.exit_code)
        except click.ClickException as error:
            _fail(error.format_message(), 2)
        except ValueError as error:
            if not _mendable(error):
                raise
            _fail(str(error), 2)
        except OSError as error:
            if error.errno != errno.ENOSPC:  # click sees to a closed pipe
                raise
            # What is left in the buffer would fail again, loudly, at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            _fail(f"standard output cannot be written ({error.strerror})", 2)
        sys.exit(code if isinstance(code, int) else 0)


def _mendable(error: ValueError) -> bool:
    if isinstance(error, InputError):
        return True
    problem = sys.modules.get("models.problem")
    return problem is not None and isinstance(error, problem.ProblemError)


def _fail(message: str, code: int) -> NoReturn:
    line = " ".join(message.split())
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
    click.echo(f"error: {line}", err=True)
    sys.exit(code)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Each command explains itself: workbench solve --help",
)
@click.version_option(workbench.__version__, message="workbench %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Whom to hire, which task each worker gets, and how wrong the labels will be."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
