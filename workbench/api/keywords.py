"""Keywords of a front-door function: gathered into options objects, and those of before."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any, ParamSpec, TypeVar
from warnings import warn

P = ParamSpec("P")
R = TypeVar("R")
GOING = "3.0.0"
"""The version in which keywords of 1.x go that still work in 2.0.0."""


def retire(what: str, instead: str, *, stacklevel: int = 3) -> None:
    """Warn that a keyword goes, and say what to use instead."""
    message = f"{what}: use {instead}; the keyword of before goes in {GOING}"
    warn(message, DeprecationWarning, stacklevel=stacklevel)


def gather(arguments: dict[str, Any], **groups: type) -> dict[str, list[str]]:
    """Put arguments that are fields of an options object into one, in place.

    Parameters
    ----------
    groups
        By parameter, the dataclass that it takes.

    Returns
    -------
    Which arguments were gathered, by parameter.
    """
    names = {}
    for parameter, kind in groups.items():
        own = [field.name for field in fields(kind) if field.name in arguments]
        if own:
            values = {name: arguments.pop(name) for name in own}
            base = arguments.get(parameter)
            arguments[parameter] = replace(kind() if base is None else base, **values)
            names[parameter] = own
    return names


def moved(**groups: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Take keywords that moved into options objects, each with a warning.

    Parameters
    ----------
    groups
        By parameter, the dataclass that it takes.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **arguments: P.kwargs) -> R:
            for parameter, names in gather(arguments, **groups).items():
                inside = ", ".join(f"{name}=…" for name in names)
                listed = ", ".join(f"`{name}`" for name in names)
                retire(listed, f"{parameter}=wb.{groups[parameter].__name__}({inside})")
            return function(*args, **arguments)

        own = [field.name for kind in groups.values() for field in fields(kind)]
        return mark(call, function, own)

    return decorate


def mark(call: Callable[P, R], function: Callable[P, R], names: Iterable[str]) -> Callable[P, R]:
    """Note on a function which keywords of before it takes, beside those of the one it wraps."""
    vars(call)["retired"] = retired(function) | frozenset(names)
    return call


def retired(function: Callable[..., Any]) -> frozenset[str]:
    """Give the keywords of before that a function takes, with a warning."""
    return frozenset(vars(function).get("retired", ()))
