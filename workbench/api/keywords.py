"""Options of a command, gathered into the objects that a front-door function takes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


def gather(arguments: dict[str, Any], **groups: type) -> None:
    """Put arguments that are fields of an options object into one, in place.

    Parameters
    ----------
    groups
        By parameter, the dataclass that it takes.
    """
    for parameter, kind in groups.items():
        own = [field.name for field in fields(kind) if field.name in arguments]
        if own:
            arguments[parameter] = kind(**{name: arguments.pop(name) for name in own})
