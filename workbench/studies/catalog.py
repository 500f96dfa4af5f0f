"""Which studies and claims there are: the folders of installed packages are the registry.

A package says that it is one by its entry point (`workbench.base.registry.installed`). In it a
file `SOME_NAME.py` with a line `STUDY = …` is the study `some-name`, and its functions under
`@claim` are claims; `PAPER` of its folder says which paper it is about. A user's own file, given by
`--plugin FILE`, has the same form and may have any name. No study is imported before it is looked
up: names are those of files.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType

from workbench.base.errors import InputError
from workbench.base.registry import Entry, Registry, imported, installed, plugins
from workbench.studies.claiming import Claim
from workbench.studies.study import Study

OWN = "workbench.ranking"
"""The room whose studies the front door itself runs."""

TITLE = re.compile(r'^STUDY = .*?\btitle="(?P<title>[^"]+)"', re.MULTILINE | re.DOTALL)
"""What makes a file one of a study, and its title."""
CLAIMS = re.compile(r"^@claim\(", re.MULTILINE)


def studies() -> Registry[Study]:
    """List the studies by name, those of `--plugin` files among them.

    Raises
    ------
    InputError
        Two studies have one name.
    """
    registry: Registry[Study] = Registry("study", *_shipped_studies())
    for plugin in plugins():
        study = getattr(plugin.module, "STUDY", None)
        if isinstance(study, Study):
            registry.register(Entry(study.name, study, study.title, study.source))
    return registry


def claims() -> tuple[Claim, ...]:
    """List the claims, paper by paper, those of `--plugin` files last.

    Raises
    ------
    InputError
        Two claims have one id.
    """
    modules = [
        importlib.import_module(name) for name, text in _files().items() if CLAIMS.search(text)
    ]
    listed = [claim for module in modules for claim in claims_of(module)]
    listed += [claim for plugin in plugins() for claim in claims_of(plugin.module)]
    for name, times in Counter(claim.id for claim in listed).items():
        if times > 1:
            raise InputError(f"claim {name} is registered twice: give each an id of its own")
    return tuple(listed)


def claims_of(module: ModuleType) -> list[Claim]:
    """List the claims that a file of a study has, the paper and the file's study filled in."""
    paper = getattr(sys.modules.get(module.__name__.rpartition(".")[0]), "PAPER", None)
    own = [
        thing.claim
        for thing in vars(module).values()
        if isinstance(thing, FunctionType)
        and thing.__module__ == module.__name__
        and hasattr(thing, "claim")
    ]
    return [
        replace(
            claim,
            source=f"{paper}, {claim.source}" if paper else claim.source,
            paper=paper or "",
            studies=(module.STUDY.name,) if claim.studies is None else claim.studies,
        )
        for claim in own
    ]


def studies_needed() -> tuple[str, ...]:
    """Name the studies that decide the claims, each once, in the claims' order."""
    return tuple(dict.fromkeys(study for claim in claims() for study in claim.studies or ()))


@cache
def _files() -> dict[str, str]:
    """Text of each file of the packages, by module."""
    packages = (importlib.import_module(OWN), *installed())
    return {
        ".".join((package.__name__, *path.relative_to(folder).with_suffix("").parts)): (
            path.read_text("utf-8")
        )
        for package in packages
        for folder in getattr(package, "__path__", ())
        for path in sorted(Path(folder).rglob("*.py"))
    }


@cache
def _shipped_studies() -> tuple[Entry[Study], ...]:
    return tuple(
        Entry(
            module.rpartition(".")[2].replace("_", "-"),
            imported(f"{module}:STUDY"),
            match["title"],
            module.split(".")[-2],
        )
        for module, text in _files().items()
        if (match := TITLE.search(text))
    )
