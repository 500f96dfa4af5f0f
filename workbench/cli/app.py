"""The group of commands: which there are, how their failures end.

Exit codes: 0 done; 1 done without what was asked for (no solution, not proven, a failed check, or
standard output cannot be written, after the files, which come first); 2 bad input, stated in one
line; 130 interrupted. An exception that is none of these is a bug and keeps its traceback. That
standard error is closed or full changes nothing.
"""

from __future__ import annotations

import importlib
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Never

import click
import click.shell_completion

import workbench
from workbench.base.errors import InputError
from workbench.base.registry import in_one_line
from workbench.base.text import guess
from workbench.cli.options import plugin_option
from workbench.cli.streams import ctrl_c, open_streams, printing, say, silence

GROUPS = {
    "Labels in hand": {
        "check": "Look at labels: skills, copies, hard tasks, independence.",
        "aggregate": "Turn labels into one answer a task.",
        "audit": "Prove by an expert's checks how many answers are wrong at most.",
        "convert": "Write labels in another form, that of a platform or toolkit.",
    },
    "Labels to come": {
        "hire": "Choose whom to hire from their answers to control questions.",
        "plan": "Make a plan: who labels which task, and what is proven of it.",
        "collect": "Collect labels: whom to ask next, and when to stop.",
        "learn": "Learn whom to trust while tasks come in, without gold.",
    },
    "Methods side by side": {
        "compare": "Compare exact, adaptive and random assignment on one crowd.",
        "ladder": "Price one promise by each way of keeping it, and at the least.",
        "leaderboard": "Compare all methods on recorded crowds.",
        "data": "List recorded crowds, describe one, download them.",
    },
    "Assignment problems and proofs": {
        "solve": "Solve an assignment problem and prove the answer.",
        "export": "Write an assignment problem as .lp or .mps for any solver.",
        "verify": "Check a certificate, with none of the code that wrote it.",
        "doctor": "Check the solver against problems with known answers.",
    },
    "Research": {
        "study": "Run studies: thousands of trials, kept, resumed, reported.",
        "claims": "Compare what the papers claim with what was measured.",
    },
}
"""By group name and help line of each command; the module `workbench.cli.<name>` has the rest."""
COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}

NAME = "workbench"
"""What the command is called, however it was started: help and completion go by it."""
INTERRUPTED = 130, "interrupted"


class Interrupted(click.ClickException):
    """Ctrl-C, before click turns it into an empty line and an Abort."""


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
        """Suggest the nearest for a name that is unknown."""
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        near = guess(name, COMMANDS)
        raise click.UsageError(f"no command {name!r}: {near}there are {', '.join(COMMANDS)}")

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the help lines of the table, without importing anything."""
        widest = max(map(len, COMMANDS))
        for title, lines in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), line) for name, line in lines.items()])

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        """Complete names of the table, without importing anything."""
        return [
            click.shell_completion.CompletionItem(name, help=line)
            for name, line in COMMANDS.items()
            if name.startswith(incomplete)
        ] + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; its return value is the exit code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None
        except InputError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            if command is None:
                raise
            from workbench.cli.output import as_options

            raise InputError(as_options(str(error), command)) from error

    def main(
        self,
        args: Sequence[str] | None = None,
        *more: Any,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run from a command line: failures a user can mend become one line."""
        extra["prog_name"] = NAME
        run = partial(super().main, args, *more, standalone_mode=False, **extra)
        if not standalone_mode:
            return run()
        # Without arguments those of the process are meant: it has nothing else to do.
        return leave(run, last=args is None)


def leave(run: Callable[[], Any], *, last: bool = True) -> Never:
    """Run a command and leave Python with its exit code: what a user can mend becomes one line.

    Parameters
    ----------
    run
        The command; what it returns is the code.
    last
        Whether the process has nothing else to do, and a second Ctrl-C ends it at once.
    """
    open_streams()
    with ctrl_c(last=last) as presses, warnings.catch_warnings():
        warnings.showwarning = _warned  # type: ignore[assignment]
        code, message = _ended(run, presses)
        if message:
            say(f"error: {' '.join(message.split())}")
        sys.exit(code)


def _ended(run: Callable[[], Any], presses: list[int]) -> tuple[int, str]:
    """Run to the end; the exit code, and what went wrong in words.

    A press counts even where a library took the exception for its own.
    """
    try:
        code = run()
    except (click.exceptions.Abort, Interrupted, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit as error:
        if _by_click(error):  # a reader that left
            raise
        # None of ours: a plugin's, with nothing done.
        return 2, f"a plugin {in_one_line(error).removeprefix('it ')}"
    except Exception as error:
        line = INTERRUPTED if presses else _mendable(error)
        if line is None:
            raise
        return line
    if presses and code != INTERRUPTED[0]:
        return INTERRUPTED
    return (code if isinstance(code, int) else 0), ""


def _by_click(error: SystemExit) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return Path(frames[-1].filename).is_relative_to(Path(click.__file__).parent)


def _warned(message: Warning | str, *_: Any) -> None:
    say(f"warning: {' '.join(str(message).split())}")


def _mendable(error: Exception) -> tuple[int, str] | None:
    """Exit code and line of what a user can mend; None for a bug."""
    if isinstance(error, click.ClickException):
        return 2, error.format_message()
    if isinstance(error, InputError):
        return 2, str(error)
    if isinstance(error, OSError) and printing(error):
        silence(sys.stdout)
        return 1, f"standard output cannot be written ({error.strerror})"
    return None


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Each command explains itself: workbench solve --help",
)
@plugin_option
@click.version_option(workbench.__version__, message="workbench %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Whom to hire, which task each worker gets, and how wrong the labels will be."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
