"""Help in groups: the options most used first, all by `--help-all`.

Two tables say all there is to say of it: the group of each option, and which come first. Where an
option of one command is another thing than those of the same name, it stands as "command:name";
those of a simulated crowd stand as "simulated:name".
"""

from __future__ import annotations

from collections.abc import Iterator

import click

SHOWN = 10
"""Options that `--help` shows, beside those that print help."""
EVERY = "workbench.cli.every"
"""Where click keeps whether all options are asked for."""
LONGEST, LONGEST_NAME = 200, 64
"""Characters of a part's first sentence, and of an option with its choices."""
WIDEST = 28
"""Characters of an option's name beside which its text stands."""

GROUPS = {
    "What is given": (
        "data labels gold truth task_types skills tasks workers plan answers judge worker task "
        "missing taken_back refused at results leaderboard:kind leaderboard:crowd "
        "serve:audit serve:unsure serve:instructions images_from"
    ),
    "How labels are read": (
        "format question columns predictions skip fold ignore_unlabelled duplicates scale separator"
    ),
    "A simulated crowd": (
        "simulated:crowd simulated:skill simulated:tasks simulated:workers simulated:types"
    ),
    "What is asked for": (
        "budget epsilon total money error risk promise sure mean least most loss class_share share "
        "audit price halt now infeasible undecided everybody_answers"
    ),
    "Workers": (
        "capacity costs availability have groups confidences prior arrivals newcomers delay "
        "patience allow_below_chance"
    ),
    "Tasks of known class": "control hidden hidden_tasks gold_tasks gamma",
    "Method": (
        "method policy rule formulation gain sequential classes threshold confidence truncate "
        "class_prior iterations restarts calibrate compare:skills order pool horizon schedule "
        "weighted vetting vetting_error vetting_variant learn:price solver exact size repetitions "
        "assignments"
    ),
    "Server": "port host url proxy label_studio project new_links",
    "The run": (
        "trials runs sample processes time_limit gap threads deadline memory retry fresh scheduler "
        "tls_ca tls_cert tls_key insecure code plugin seed"
    ),
    "What comes out": (
        "out plot store save proof vote relabel certificate rest to export:format pseudonyms curve "
        "benchopt keep details as_json"
    ),
}
"""Options by group, in the order of the help."""
MOST_USED = (
    "data labels gold judge answers skills tasks workers plan budget epsilon total error out plot "
    "to method policy rule simulated:crowd simulated:skill hidden_tasks start:classes capacity "
    "everybody_answers relabel proof money costs details loss as_json columns format"
)
"""Those of all commands that are used most, in this order."""
FIRST = tuple(MOST_USED.split())
GROUP_OF = {name: title for title, names in GROUPS.items() for name in names.split()}


class Grouped(click.Command):
    """A command whose help has its options in groups."""

    simulates = False

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Give its own, `--help` and `--help-all`."""
        return [*super().get_params(ctx), HELP_ALL]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by group: the most used, or all."""
        chosen = options_of(self)
        if not ctx.meta.get(EVERY):
            chosen = sorted(chosen, key=self._rank)[:SHOWN]
        hidden = len(options_of(self)) - len(chosen)
        help_option = self.get_help_option(ctx)
        assert help_option is not None
        groups = [*self._grouped(chosen), ("Help", [help_option, HELP_ALL])]
        sections = {title: [record_of(one, ctx) for one in options] for title, options in groups}
        widest = max(len(name) for records in sections.values() for name, _ in records)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(min(widest, WIDEST)), text) for name, text in records]
                )
        if hidden:
            formatter.write_paragraph()
            formatter.write_text(f"{hidden} more options: {ctx.command_path} --help-all")
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def _grouped(self, chosen: list[click.Option]) -> Iterator[tuple[str, list[click.Option]]]:
        """Give the groups that have options, in order."""
        for title in GROUPS:
            own = [option for option in options_of(self) if option in chosen]
            own = [option for option in own if group_of(option, self) == title]
            if own:
                yield title, own

    def _rank(self, option: click.Option) -> int:
        """Say how early an option comes."""
        return next((FIRST.index(key) for key in _keys(option, self) if key in FIRST), len(FIRST))


class PartedGroup(click.Group):
    """A group whose help has the whole first sentence of each part."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write name and first sentence of each part."""
        parts = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, part.get_short_help_str(LONGEST)) for name, part in parts.items() if part]
            )


def record_of(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """Give name and text of an option; many names to choose from stand in the text."""
    name, text = option.get_help_record(ctx) or (option.opts[0], "")
    if len(name) <= LONGEST_NAME or not isinstance(option.type, click.Choice):
        return name, text
    names = ", ".join(map(str, option.type.choices))
    return f"{option.opts[0]} NAME", f"{text} One of: {names}."


def options_of(command: click.Command) -> list[click.Option]:
    """Give a command's own options, in order."""
    return [one for one in command.params if isinstance(one, click.Option) and not one.hidden]


def group_of(option: click.Option, command: click.Command) -> str | None:
    """Give the title of an option's group; None where the table has none."""
    return next((GROUP_OF[key] for key in _keys(option, command) if key in GROUP_OF), None)


def _keys(option: click.Option, command: click.Command) -> list[str]:
    """Under what an option may stand in the tables: the first that is there counts."""
    kinds = ["simulated"] * (isinstance(command, Grouped) and command.simulates)
    for own in (f"{kind}:{option.name}" for kind in (command.name, *kinds)):
        if own in GROUP_OF:
            return [own]
    return [f"{command.name}:{option.name}", str(option.name)]


def _help_all(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        context.meta[EVERY] = True
        click.echo(context.get_help())
        context.exit()


HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_help_all,
    help="Show all options, and exit.",
)
