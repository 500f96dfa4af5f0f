"""What people see of a task: the cells of a table, a text or picture among them.

    task,text,image
    t1,Is this a bird?,https://img.example.org/1.jpg

`text` is shown large, `image` is the address of a picture, and all other columns are rows of a
small table. Nothing is run: text stays text, and pictures come from hosts that the owner allows.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

import pandas as pd

from workbench.base.checks import show
from workbench.base.errors import InputError
from workbench.base.state import Id
from workbench.base.writing import refuse_special
from workbench.serve.beside import Beside

Cells: TypeAlias = dict[str, str]
LONGEST = 20_000
"""Characters of a cell."""


def read_shown(path: str | Path, tasks: Mapping[str, Id]) -> dict[Id, Cells]:
    """Read a table of tasks.

    Parameters
    ----------
    path
        A .csv with a column `task`, and others to be shown; empty cells are not.
    tasks
        Names of the collection's tasks by their text.

    Raises
    ------
    InputError
        It cannot be read, has no such column, names a task twice or one that is not there.
    """
    try:
        refuse_special(Path(path))
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({' '.join(str(error).split())})") from None
    if "task" not in table:
        raise InputError(f"{path}: has no column task: name the tasks there")
    shown: dict[Id, Cells] = {}
    for row in table.to_dict("records"):
        name = row.pop("task")
        if name not in tasks:
            raise InputError(f"{path}: task {show(name)} is not in the collection: leave it out")
        if tasks[name] in shown:
            raise InputError(f"{path}: task {show(name)} stands there twice: keep one")
        cells = {str(column): cell for column, cell in row.items() if cell}
        for column, cell in cells.items():
            if len(cell) > LONGEST:
                raise InputError(
                    f"{path}: {column} of task {show(name)} has more than {LONGEST} characters"
                )
        shown[tasks[name]] = cells
    return shown


def image_hosts(names: Iterable[str]) -> frozenset[str]:
    """Check names of hosts, which will stand in a header.

    Raises
    ------
    InputError
        One is no plain name.
    """
    hosts = frozenset(name.lower() for name in names)
    for host in hosts:
        if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", host):
            raise InputError(f"--images-from {show(host)}: give a host alone, as img.example.org")
    return hosts


def check_images(shown: Mapping[Id, Cells], hosts: Collection[str]) -> None:
    """Check that pictures come from hosts that are allowed.

    Raises
    ------
    InputError
        The first that does not.
    """
    for task, cells in shown.items():
        image = cells.get("image")
        if image is not None and not allowed(image, hosts):
            host = urlsplit(image).hostname or "another place"
            raise InputError(
                f"image of task {show(task)} is at {show(image)}: pictures are shown by https, "
                f"from hosts that --images-from names; {host} is not among them"
            )


def allowed(image: str, hosts: Collection[str]) -> bool:
    """Whether a picture may be shown."""
    try:
        parts = urlsplit(image)
        port = parts.port
    except ValueError:
        return False
    return (
        parts.scheme == "https"
        and parts.hostname in hosts
        and port in (None, 443)
        and "@" not in parts.netloc
    )


class ShownTasks:
    """What is shown of tasks, each version of it kept, the latest in use."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside
        self._cells: dict[str, Cells] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read the latest version of each."""
        rows = self._beside.rows("SELECT task, cells FROM shown ORDER BY number")
        self._cells = {task: json.loads(cells) for task, cells in rows}

    def of(self, task: Id) -> Cells:
        """Cells of a task; its name where nothing else is said of it."""
        return self._cells.get(json.dumps(task)) or {"text": str(task)}

    def all(self) -> dict[Id, Cells]:
        """Cells of all tasks of which something is said."""
        return {json.loads(task): cells for task, cells in self._cells.items()}

    def correct(self, shown: Mapping[Id, Cells]) -> list[Id]:
        """Take what is said of tasks from now on; which tasks had been shown otherwise."""
        now, changed = time.time(), []
        with self._beside.together():
            self.refresh()
            ((number,),) = self._beside.rows("SELECT coalesce(max(number), 0) FROM shown")
            for task, cells in shown.items():
                key = json.dumps(task)
                if cells == self._cells.get(key):
                    continue
                if key in self._cells:
                    changed.append(task)
                number += 1
                self._beside.put("shown", (number, key, now, json.dumps(cells)))
                self._cells[key] = cells
        return changed
