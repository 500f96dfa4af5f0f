"""What a study is: parameters and their sweep, a trial, and an analysis."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from workbench.base.errors import InputError

if TYPE_CHECKING:
    # Every worker process imports this module, and few need data frames.
    import pandas as pd

    from workbench.studies.trial_streams import Streams

Scalar: TypeAlias = bool | int | float | str | None
Params: TypeAlias = Mapping[str, Any]
"""Values of all of a study's parameters, each a `Scalar`."""
Record: TypeAlias = Mapping[str, Scalar]
"""What a trial measured, flat. NaN is stored as None."""
Block: TypeAlias = Mapping[str, Sequence[Scalar]]
"""Values for some parameters, crossed with each other; the others keep their defaults."""
SizeName: TypeAlias = Literal["smoke", "small", "paper"]
ChartKind: TypeAlias = Literal["line", "points", "step"]
SIZES: tuple[SizeName, ...] = ("smoke", "small", "paper")

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a study.

    Attributes
    ----------
    kind
        Type of its values; an int is taken where a float is asked for.
    default
        Value where a sweep does not name it. None only where `optional`.
    help
        What it means, with its unit.
    least, most
        Allowed range, ends included.
    choices
        Allowed values; any where empty. A registry has those that are added later, too.
    optional
        Whether None is a value (the parameter does not apply).
    paired
        Whether trials that differ in this parameter alone meet the same instance: true for the
        method and its own settings, false for what makes the crowd.
    """

    kind: type[bool] | type[int] | type[float] | type[str]
    default: Scalar
    help: str
    least: float | None = None
    most: float | None = None
    choices: Collection[Scalar] = ()
    optional: bool = False
    paired: bool = False

    def check(self, name: str, value: object) -> Scalar:
        """Return the value as this parameter's kind.

        Raises
        ------
        InputError
            For a value of another kind, not finite, out of range, or not among the choices.
        """
        if value is None and self.optional:
            return None
        if isinstance(value, int) and value.bit_length() > 63:
            raise InputError(f"{name} is a whole number beyond 64 bits: give a smaller one")
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not self.kind:
            raise InputError(f"{name} is {value!r}: give {_KINDS[self.kind]}")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if not math.isfinite(value):
                raise InputError(f"{name} is {value}: give a finite number")
            if self.least is not None and value < self.least:
                raise InputError(f"{name} is {value:g}: give {self.least:g} or more")
            if self.most is not None and value > self.most:
                raise InputError(f"{name} is {value:g}: give at most {self.most:g}")
            value = value + 0  # −0.0 and 0.0 are one value
        if self.choices and value not in self.choices:
            listed = ", ".join(str(choice) for choice in self.choices)
            raise InputError(f"{name} is {value!r}: choose from {listed}")
        return value

    def parse(self, name: str, text: str) -> Scalar:
        """Read a value typed on a command line; `none` where optional."""
        if self.optional and text.lower() == "none":
            return None
        if self.kind is bool:
            if text.lower() not in {"true", "false"}:
                raise InputError(f"{name} is {text!r}: give true or false")
            return text.lower() == "true"
        try:
            value = self.kind(text)
        except ValueError:
            raise InputError(f"{name} is {text!r}: give {_KINDS[self.kind]}") from None
        return self.check(name, value)


_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
}


@dataclass(frozen=True)
class Size:
    """A sweep and how often each of its points is repeated."""

    sweep: tuple[Block, ...]
    repetitions: int


@dataclass(frozen=True)
class Chart:
    """A figure as data: `workbench.plots.chart` draws it.

    Attributes
    ----------
    name
        By which it is asked for, unique in its study.
    caption
        What is seen, with the number of trials and what the bars mean.
    data
        One row a mark.
    x, y
        Columns drawn.
    x_label, y_label
        Axis labels, with units.
    series
        Column whose values get a colour, a marker and a legend entry each; None for one.
    panel
        Column whose values get a panel each, side by side on equal axes; None for one.
    own_x
        Panels have x axes of their own.
    low, high
        Columns with the ends of the vertical bars; None for no bars.
    x_low, x_high
        Columns with the ends of the horizontal bars.
    kind
        Marks joined by lines, marks alone, or steps (performance profiles).
    log_x, log_y
        Logarithmic axes.
    references
        Horizontal lines: (height, label).
    diagonal
        Label of the line y = x; None for no line.
    bold
        Series that have a colour, all others being grey; none where all have one.
    """

    name: str
    caption: str
    data: pd.DataFrame
    x: str
    y: str
    x_label: str
    y_label: str
    series: str | None = None
    panel: str | None = None
    low: str | None = None
    high: str | None = None
    x_low: str | None = None
    x_high: str | None = None
    kind: ChartKind = "line"
    log_x: bool = False
    log_y: bool = False
    references: tuple[tuple[float, str], ...] = ()
    diagonal: str | None = None
    own_x: bool = False
    bold: tuple[str, ...] = ()


@dataclass(frozen=True)
class Analysis:
    """What a study's records say: sentences, tables by caption, charts."""

    findings: tuple[str, ...] = ()
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    charts: tuple[Chart, ...] = ()


TrialFunction: TypeAlias = Callable[[Params, "Streams"], Record]


@dataclass(frozen=True)
class Study:
    """A published experiment, or one's own.

    Attributes
    ----------
    name
        Lower case, with hyphens.
    title, source
        What it is, and where it comes from (paper, section, figure).
    parameters
        All of them, by name.
    sizes
        Sweep and repetitions for `smoke` (seconds), `small` (a minute) and `paper`.
    trial
        Runs one point once. A function at a module's top level: worker processes import it.
        Random numbers come from the streams alone. It may raise `TrialEnded`.
    analyse
        Turns the table of `ok` and failed trials (a row a trial: parameters, `repetition`,
        `status`, record) into an `Analysis`. None: means by parameter, distributions, differences
        in pairs (`default_analysis`).
    version
        Raised when a trial means something else than before; part of every key.
    volatile
        Record fields that may differ between runs or processors (timings, what a time limit
        decides, where a search stops).
    limited
        Those of them that a time limit alone decides. No smoke trial may meet its limit: the probe
        keeps these fields, and leaves the other volatile ones out.
    deadline
        Seconds a trial may take; None for no limit.
    memory
        Megabytes a trial may take beyond the idle worker; None for no limit.
    """

    name: str
    title: str
    source: str
    parameters: Mapping[str, Parameter]
    sizes: Mapping[SizeName, Size]
    trial: TrialFunction
    analyse: Callable[[pd.DataFrame], Analysis] | None = None
    version: int = 1
    volatile: tuple[str, ...] = ()
    limited: tuple[str, ...] = ()
    deadline: float | None = 600.0
    memory: float | None = 4000.0

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise InputError(f"study name {self.name!r}: use lower case words joined by hyphens")
        clash = set(self.parameters) & RESERVED
        if clash:
            raise InputError(f"{self.name}: a parameter cannot be called {sorted(clash)[0]!r}")
        missing = [size for size in SIZES if size not in self.sizes]
        if missing:
            raise InputError(f"{self.name}: sizes lacks {missing[0]!r}")
        if alone := set(self.limited) - set(self.volatile):
            name = sorted(alone)[0]
            raise InputError(f"{self.name}: {name!r} is limited: name it as volatile too")
        for name, parameter in self.parameters.items():
            parameter.check(f"{self.name}: default of {name}", parameter.default)
        for size in self.sizes.values():
            self.check_sweep(size.sweep)

    def complete(self, values: Mapping[str, object]) -> dict[str, Scalar]:
        """Return a value for every parameter, the defaults filled in, in declared order.

        Raises
        ------
        InputError
            For an unknown parameter or a bad value.
        """
        self._known(values)
        return {
            name: parameter.check(name, values.get(name, parameter.default))
            for name, parameter in self.parameters.items()
        }

    def check_sweep(self, sweep: Sequence[Mapping[str, object]]) -> tuple[Block, ...]:
        """Return the sweep with each value checked and of its parameter's kind."""
        checked = []
        for at, block in enumerate(sweep):
            self._known(block)
            lists: dict[str, list[Scalar]] = {}
            for name, values in block.items():
                if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                    raise InputError(
                        f"sweep[{at}].{name} is {values!r}: give a list of at least one value"
                    )
                check = self.parameters[name].check
                lists[name] = [
                    check(f"sweep[{at}].{name}[{i}]", value) for i, value in enumerate(values)
                ]
            checked.append(lists)
        return tuple(checked)

    def _known(self, values: Mapping[str, object]) -> None:
        for name in values:
            if name not in self.parameters:
                raise InputError(
                    f"{self.name} has no parameter {name!r}: it has {', '.join(self.parameters)}"
                )


RESERVED = frozenset(
    {
        "key",
        "study",
        "version",
        "repetition",
        "seed",
        "status",
        "message",
        "seconds",
        "peak_mb",
        "attempts",
        "record",
        "params",
        "environment",
        "finished",
        "checksum",
        "worker",
        "streams",
    }
)
"""Columns of the store, not to be had as parameters or record fields."""


class TrialEnded(Exception):  # noqa: N818 (an answer, not an error)
    """Raised by a trial that ends without its full answer, but knows why.

    Parameters
    ----------
    status
        `infeasible`, `limit` (a solver's time or node limit) or `numerics`.
    message
        One line.
    record
        What is known all the same, for example a bound.
    """

    def __init__(
        self,
        status: Literal["infeasible", "limit", "numerics"],
        message: str,
        record: Record | None = None,
    ) -> None:
        if status not in {"infeasible", "limit", "numerics"}:
            raise InputError(f"TrialEnded has status {status!r}: infeasible, limit or numerics")
        super().__init__(message)
        self.status = status
        self.record = dict(record or {})
