"""Commands and their kinds of options, each said once."""

from __future__ import annotations

import functools
import importlib
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workbench.base.errors import InputError
from workbench.base.registry import Registry, load_plugin
from workbench.cli.help import Grouped, PartedGroup
from workbench.cli.streams import DETAILS, results_apart

if TYPE_CHECKING:
    from workbench.api.simulation import SimulatedCrowd

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]


def _results_apart(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        with results_apart():
            return function(*args, **options)

    return run


class RegistryChoice(click.Choice[str]):
    """A name of a registry, which is imported when it is asked for: `--plugin` adds to it.

    Parameters
    ----------
    where
        The registry, as "module:attribute".
    """

    def __init__(self, where: str) -> None:
        self.where, self.case_sensitive = where, True

    @property
    def choices(self) -> Sequence[str]:  # type: ignore[override]
        """The names registered by now."""
        module, _, attribute = self.where.partition(":")
        registry: Registry[Any] = getattr(importlib.import_module(module), attribute)
        return tuple(registry)


FORMATS = RegistryChoice("workbench.crowd.formats:FORMATS")


class Documented(Grouped):
    """A command whose options say what the parameters of its front-door functions say.

    Texts are read when help is printed, and from the source: nothing is imported for them.
    """

    functions: tuple[str, ...] = ()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, each without a text of its own with that of its parameter."""
        self.document()
        super().format_options(ctx, formatter)

    def document(self) -> None:
        """Give a text to each option that has none."""
        from workbench.cli.texts import parameters

        for option in self.params:
            if isinstance(option, click.Option) and not option.help:
                texts = [parameters(function) for function in self.functions]
                if self.simulates and option.name in SIMULATED:
                    texts = [parameters(SIMULATE)]
                names = option.name, option.opts[0].lstrip("-")
                said = (text[name] for text in texts for name in names if name in text)
                option.help = next(said, None)

    @property
    def simulates(self) -> bool:  # type: ignore[override]
        """Whether it takes a simulated crowd."""
        return SIMULATE in self.functions


class DocumentedGroup(Documented, PartedGroup):
    """The same, of a command with parts."""


def command(
    *examples: str, group: click.Group | None = None, name: str | None = None, **kind: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command, with `--seed` and `--json` after its own options.

    Parameters
    ----------
    examples
        Command lines for its help.
    group
        What it is a part of.
    name
        What it is called, where not as its function.
    given
        `draws` False: nothing is drawn, and `--seed` is taken so that scripts can pass it to every
        command; None: it has a seed of its own. `of`: front-door functions, as "hiring:hire", whose
        parameters say what an option without a help of its own is. `plugins` True: `--plugin` as
        well. `details` True: `--details` prints all that is known below the verdict. `parts` True:
        a command with parts, which may be called without one.
    """
    lead = "\b\nExamples:\n" if len(examples) > 1 else "\b\nExample: "
    epilog = lead + "\n".join(
        f"  {example}" if len(examples) > 1 else example for example in examples
    )
    seed = {True: seed_option, False: idle_seed_option}.get(kind.get("draws", True))

    def decorate(function: Callable[..., Any]) -> click.Command:
        settings: dict[str, Any] = {"cls": Documented}
        if kind.get("parts"):
            settings = {"cls": DocumentedGroup, "invoke_without_command": True}
        own = function.__module__.rpartition(".")[2] if function.__name__ == "command" else None
        maker: Any = click.command(name or own, epilog=epilog, **settings)
        result: Documented = maker(_results_apart(function))
        result.functions = (*kind.get("of", ()), "inputs:given", *STUDY)
        # What is added here comes last in the help.
        common = [details_option] if kind.get("details") else []
        common += [plugin_option] if kind.get("plugins") else []
        common += [*([seed] if seed else []), json_option]
        for option in common:
            result = option(result)
            result.params.append(result.params.pop())
        if group is not None:
            group.add_command(result)
        return result

    return decorate


def csv(name: str, help: str | None = None, **more: Any) -> Decorator[Any]:
    """A table that is read: `--labels CSV`."""
    return click.option(name, metavar="CSV", help=help, **more)


def number(
    name: str, help: str | None = None, default: float | None = None, **more: Any
) -> Decorator[Any]:
    """A number: `--epsilon FLOAT`."""
    return _defaulted(name, default, type=float, help=help, **more)


def whole(
    name: str,
    help: str | None = None,
    default: int | None = None,
    *,
    least: int = 0,
    most: int | None = None,
    **more: Any,
) -> Decorator[Any]:
    """A whole number from `least` on: `--trials N`."""
    more.setdefault("metavar", "N")
    return _defaulted(name, default, type=click.IntRange(least, most), help=help, **more)


def choice(
    name: str,
    kinds: Sequence[str] | RegistryChoice,
    help: str | None = None,
    default: str | None = None,
    **more: Any,
) -> Decorator[Any]:
    """One of some names: `--pool [recorded|all]`."""
    kind = kinds if isinstance(kinds, RegistryChoice) else click.Choice(kinds)
    return _defaulted(name, default, type=kind, help=help, **more)


def _defaulted(name: str, default: object, **settings: Any) -> Decorator[Any]:
    if default is not None:
        settings |= {"default": default, "show_default": True}
    return click.option(name, **settings)


def text(name: str, metavar: str, help: str | None = None, **more: Any) -> Decorator[Any]:
    """Words, or whatever the command makes of them: `--policy NAME`."""
    return click.option(name, metavar=metavar, help=help, **more)


def stakes(function: Function) -> Any:
    """`--loss` and `--class-share`: what errors cost, and how frequent classes are."""
    return loss(class_share(function))


def class_share(function: Function) -> Any:
    """`--class-share`: how frequent classes are."""
    return click.option("--class-share", metavar="CLASS=SHARE,…", callback=_numbers)(function)


def loss(function: Function) -> Any:
    """`--loss`: what errors cost."""
    return click.option("--loss", metavar="CLASS=COST,…", callback=_numbers)(function)


def _numbers(
    _: click.Context, option: click.Parameter, text: str | None
) -> dict[str, float] | None:
    """Read `yes=5,no=1`; a name may hold commas and equals signs."""
    if text is None:
        return None
    name, numbers = option.opts[0], dict[str, float]()
    for part in re.split(r"(?<=\d),(?=[^=]+=)", text):
        word, _equals, number = part.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not word.strip() or math.isnan(value):
            raise InputError(f"{name} {text}: write a number by class, as yes=5")
        if word.strip() in numbers:
            raise InputError(f"{name} names {word.strip()} twice: give one number a class")
        numbers[word.strip()] = value
    return numbers


def flag(name: str, help: str | None = None) -> Decorator[Any]:
    """On or off: `--exact`."""
    return click.option(name, is_flag=True, help=help)


def path(name: str, help: str | None, *endings: str, **more: Any) -> Decorator[Any]:
    """A file that is written, looked at before the work starts: `--out PATH`.

    Parameters
    ----------
    endings
        How its name may end; anyhow, where there are none.
    """

    def look(_: click.Context, option: click.Parameter, value: Path | None) -> Path | None:
        if value is not None:
            _check_file(value, endings, option.opts[0])
        return value

    return click.option(name, type=click.Path(path_type=Path), help=help, callback=look, **more)


def folder(help: str, name: str = "--out") -> Decorator[Any]:
    """A folder that is written to, looked at before the work starts: `--out PATH`."""

    def look(_: click.Context, option: click.Parameter, value: Path | None) -> Path | None:
        if value is not None and _there(value, option.opts[0]) and not value.is_dir():
            raise InputError(f"{option.opts[0]} {value}: is a file, give a folder")
        return value

    return click.option(name, type=click.Path(path_type=Path), help=help, callback=look)


def _check_file(path: Path, endings: tuple[str, ...], option: str) -> None:
    if endings and path.suffix.lower() not in endings:
        raise InputError(f"{option} {path}: give a path that ends in {' or '.join(endings)}")
    if _there(path, option) and path.is_dir():
        raise InputError(f"{option} {path}: is a folder, give a file")
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}, create it")


def _there(path: Path, option: str) -> bool:
    """Whether there is something at a path that an option gives."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except OSError as error:  # a link that leads to itself, a name too long, a file for a folder
        raise InputError(f"{option} {path}: cannot be written ({error.strerror})") from None
    return True


def number_or_file(name: str, text: str) -> int | str:
    """A whole number, or else the path of a table."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return text
    if text != digits:
        raise InputError(f"{name} is {text}: give a whole number, 0 or more")
    return int(text)


def seconds(help: str | None = None, default: float | None = None) -> Decorator[Any]:
    """`--time-limit SECONDS`."""
    return number("--time-limit", help, default, metavar="SECONDS")


def labels(
    help: str | None = None,
    *,
    required: bool = False,
    duplicates: bool = True,
    keep: bool = False,
) -> Decorator[Any]:
    """`--labels FILE` and how it is read; the command gets a `LabelFile` for `labels`.

    Parameters
    ----------
    duplicates
        Whether the command takes `--duplicates`.
    keep
        Whether `--duplicates` is handed to the command, which sees to it.
    """

    def decorate(function: Function) -> Any:
        wrapped = reading(duplicates=duplicates, keep=keep)(function)
        return text("--labels", "FILE", help, required=required)(wrapped)

    return decorate


def reading(*, duplicates: bool = True, keep: bool = False) -> Decorator[Any]:
    """Options of how labels are read: the command gets a `LabelFile` for its `labels`."""
    fields = ["format", "question", "columns", "predictions", "skip", "fold", "ignore_unlabelled"]
    fields += ["scale", "separator"]
    if duplicates and not keep:
        fields.append("duplicates")

    def decorate(function: Function) -> Any:
        @functools.wraps(function)
        def read(**arguments: Any) -> Any:
            how = {name: arguments.pop(name) for name in fields}
            how = {name: value for name, value in how.items() if value}
            if arguments["labels"] is None:
                for name in how:
                    raise InputError(f"--{name.replace('_', '-')} goes with --labels")
                return function(**arguments)
            from workbench.api.inputs import LabelFile
            from workbench.cli.output import note, say_notes
            from workbench.crowd.formats import ReadOptions

            ignore = how.pop("ignore_unlabelled", False)
            apart = arguments.get("gold") or arguments.get("truth")
            arguments["labels"] = LabelFile(
                arguments["labels"], ReadOptions(**how), ignore, note, apart
            )
            code = function(**arguments)
            say_notes()
            return code

        wrapped: Any = read
        options = [
            choice(
                "--format",
                FORMATS,
                "Form of the labels, a file or a folder: see docs/formats.md. [default: as its "
                "content says]",
            ),
            click.option(
                "--question",
                metavar="NAME",
                help="The question whose answers are read, where there are several.",
            ),
            click.option(
                "--columns",
                metavar="FIELD=NAME,…",
                callback=_columns,
                help="What columns are called: task=orig_id,worker=WorkerId,label=choice, "
                "gold=verdict (in a file of its own too); without a header their numbers.",
            ),
            flag("--predictions", "Also read what models predicted or suggested."),
            click.option(
                "--skip",
                metavar="NAME,…",
                callback=_listed,
                help="Labels that are not answers, such as unsure: left out, and counted.",
            ),
            flag("--fold", "Join names that differ only in case, blanks or Unicode form."),
            scale,
            click.option(
                "--separator",
                metavar="TEXT",
                help="Labels are sets of names with this text between them, such as |.",
            ),
            flag("--ignore-unlabelled", "Leave out gold of tasks that nobody labelled."),
        ]
        if duplicates:
            kinds = ("error", "first", "last") if keep else ("error", "first", "last", "all")
            options.append(choice("--duplicates", kinds))
        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def scale(function: Callable[..., Any]) -> Callable[..., Any]:
    """Option of the ends of a scale, where labels are ratings."""
    return click.option(
        "--scale",
        metavar="LOW,HIGH",
        callback=_ends,
        help="Labels are ratings: numbers from LOW to HIGH, such as 0,100.",
    )(function)


def _listed(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Read names between commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _ends(_: click.Context, __: click.Parameter, text: str | None) -> tuple[float, ...] | None:
    """Read the lowest and the highest rating."""
    if text is None:
        return None
    from workbench.base.checks import listed

    ends = listed("scale", text)
    if len(ends) != 2:
        raise InputError(f"--scale {text}: give the lowest and the highest rating, as 0,100")
    return tuple(ends)


def _columns(_: click.Context, __: click.Parameter, text: str | None) -> dict[str, str]:
    """Read `task=orig_id,worker=WorkerId`; a name may hold commas."""
    columns: dict[str, str] = {}
    for part in re.split(r",(?=\s*\w+=)", text or ""):
        field, equals, name = part.partition("=")
        if part and not (equals and field.strip() and name.strip()):
            raise InputError(f"--columns {text}: write what columns are called, as task=orig_id")
        if field.strip() in columns:
            raise InputError(f"--columns names {field.strip()} twice: name one column a field")
        if part:
            columns[field.strip()] = name.strip()
    return columns


def _load(_context: click.Context, _option: click.Parameter, files: tuple[str, ...]) -> None:
    for file in files:
        load_plugin(file)


CROWDS = ("spammer-hammer", "uniform", "specialists", "beta", "even", "listed")
SIMULATE = "simulation:simulate"
STUDY = ("studying:run_study", "studying:DaskCluster", "studying:TrialRules")
"""Of options that several commands have, as `--store`."""
SIMULATED = ("crowd", "skill", "tasks", "workers", "types")
"""Options of a simulated crowd."""


def simulated_crowd(function: Function) -> Function:
    """Add the options of a simulated crowd, which `crowd_of` takes."""
    for option in (
        whole("--types", least=1),
        whole("--workers", least=1),
        whole("--tasks", least=1),
        text("--skill", "P|P,P,…"),
        choice("--crowd", CROWDS),
    ):
        function = option(function)
    return function


def crowd_of(
    arguments: dict[str, Any], recorded: str | None, *, ask: bool = False
) -> SimulatedCrowd | None:
    """Make the simulated crowd that the options tell; None where labels are on record.

    Parameters
    ----------
    arguments
        Options by name; those of the crowd are taken out.
    recorded
        The option that names labels on record, where it is given.
    ask
        Whether a simulated crowd must be asked for, by one of its options.

    Raises
    ------
    InputError
        Both kinds of crowd, or none; or as `simulate`.
    """
    own = {name: value for name in SIMULATED if (value := arguments.pop(name)) is not None}
    if recorded is not None:
        for name in own:
            raise InputError(f"--{name} is of a simulated crowd: leave it or {recorded} out")
        return None
    if ask and not own:
        raise InputError("give --labels, a crowd on record, or --crowd, a simulated one")
    from workbench import simulate
    from workbench.base import checks

    if "skill" in own:
        skills = checks.listed("skill", own["skill"])
        own["skill"] = skills[0] if "," not in own["skill"] else skills
    if isinstance(arguments.get("capacity"), int):
        own["capacity"] = arguments.pop("capacity")
    return simulate(**own, seed=arguments["seed"])


plugin_option = click.option(
    "--plugin",
    metavar="FILE",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_load,
    help="Python file of yours that registers methods or crowds by name. Repeatable.",
)


def _note_details(context: click.Context, _: click.Parameter, details: bool) -> None:
    context.meta[DETAILS] = details


details_option = click.option(
    "--details",
    is_flag=True,
    expose_value=False,
    callback=_note_details,
    help="Print the details below the verdict: models, bounds, assumptions.",
)
seed_option = whole("--seed", "Random seed.", 0)
idle_seed_option = whole(
    "--seed", "Every command accepts it; this one draws nothing.", expose_value=False
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print only JSON on standard output."
)
store_option = click.option(
    "--store",
    type=click.Path(path_type=Path),
    default=Path("studies.sqlite"),
    show_default=True,
)
FORMULATIONS = ("ip", "relaxation", "dual", "typed")


def problem_options(function: Function, formulations: tuple[str, ...] = FORMULATIONS) -> Function:
    """Add FILE, `--formulation`, `--epsilon` and `--gain`."""
    for option in (
        choice("--gain", ("hoeffding", "bhattacharyya")),
        number("--epsilon"),
        choice("--formulation", formulations),
        click.argument("file", type=click.Path()),
    ):
        function = option(function)
    return function
