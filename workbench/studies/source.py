"""Where a study's code is: in the catalog, or in a file that the user names.

A store may come from anywhere, so a path that it holds is never followed: a file is run only where
the user names it, and where it is, byte by byte, the one that the trials were made with.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.base.errors import InputError
from workbench.base.registry import load_plugin, plugins
from workbench.studies.catalog import studies
from workbench.studies.own import OwnFile, own_files
from workbench.studies.study import Study


@dataclass(frozen=True)
class Source:
    """Where a study's code is.

    Attributes
    ----------
    name
        Catalog name, or the path of a Python file that defines `STUDY`.
    digest
        SHA-256 of the file, so that no worker runs another version of it; empty for the catalog.
    beside
        All files beside the workbench's that its trials come from, where they have been `gathered`.
    """

    name: str
    digest: str = ""
    beside: tuple[OwnFile, ...] = ()

    @classmethod
    def of(cls, name: str) -> Source:
        """Point to a study by its name in the registry, or to a `.py` file.

        Raises
        ------
        InputError
            When there is no such study or file.
        """
        if name.endswith(".py"):
            path = Path(name)
            if not path.is_file():
                raise InputError(f"{name}: no such file")
            return cls(str(path.resolve()), hashlib.sha256(path.read_bytes()).hexdigest())
        study = studies()[name].call
        for plugin in plugins():
            if study is getattr(plugin.module, "STUDY", None):
                return cls(str(plugin.path), plugin.digest)
        return cls(name)

    def load(self) -> Study:
        """Import the study, and plugins that it needs; one import a process.

        Raises
        ------
        InputError
            When a file cannot be imported, has changed, or defines no `STUDY`.
        """
        return _load(self)

    def gathered(self) -> Source:
        """Point to the same study, and list what its trials come from beside the workbench.

        Raises
        ------
        InputError
            When a file cannot be read, or has changed since it was loaded.
        """
        if self.digest:
            return replace(
                self, beside=own_files(load_plugin(self.name, self.digest, shared=False))
            )
        trial = inspect.unwrap(self.load().trial)
        while isinstance(trial, functools.partial):
            trial = trial.func
        return replace(self, beside=own_files(sys.modules[trial.__module__]))

    def allowed(self, study: str, named: Iterable[Source] = ()) -> Source:
        """Point to code that may be run: in the catalog, or in a file that the user has `named`.

        Parameters
        ----------
        study
            Which study it is of: the file that is named may have been edited since.

        Raises
        ------
        InputError
            When its file is not named.
        """
        if not self.digest:
            return self
        same = [source for source in named if source.digest == self.digest]
        for source in same or [source for source in named if source.load().name == study]:
            return source
        file = Path(self.name).name
        raise InputError(
            f"{file} is code of your own, which is run only if you name it: --study {file}"
        )


def own_sources(names: Sequence[str]) -> list[Source]:
    """Point to files of studies of one's own, which are run because their user names them.

    Raises
    ------
    InputError
        For what is no `.py` file.
    """
    for name in names:
        if not name.endswith(".py"):
            raise InputError(f"--study {name}: give the .py file of a study of your own")
    return [Source.of(name) for name in names]


def check_named(named: Iterable[Source], studies_there: Iterable[str], path: Path) -> None:
    """Refuse a file of the user's whose study a store has no trials of.

    Raises
    ------
    InputError
        With its name.
    """
    listed = list(dict.fromkeys(studies_there))
    for source in named:
        study = ""
        with contextlib.suppress(InputError):  # said where it is to be run
            study = source.load().name
        if study and study not in listed:
            raise InputError(
                f"--study {source.name}: defines {study}, of which {path} has no trials; it has "
                f"{', '.join(listed) or 'none yet'}"
            )


@functools.cache
def _load(source: Source) -> Study:
    for file in source.beside:
        file.load()
    if not source.digest:
        if source.name not in studies():
            raise InputError(f"this version of the workbench has no study {source.name!r}")
        return studies()[source.name].call
    study = getattr(load_plugin(source.name, source.digest, shared=False).module, "STUDY", None)
    if not isinstance(study, Study):
        raise InputError(f"{source.name}: define STUDY = workbench.studies.study.Study(…)")
    return study
