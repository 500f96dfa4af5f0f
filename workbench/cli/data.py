"""`workbench data`: the recorded crowds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from workbench.base.text import tabled
from workbench.cli import options
from workbench.cli.help import PartedGroup
from workbench.cli.output import as_csv, emit, folder, show_written, write_files
from workbench.cli.streams import show

COLUMNS = ("name", "tasks", "workers", "labels", "classes", "present", "title")


@click.group(cls=PartedGroup, epilog="Example: workbench data fetch bluebird rte")
def command() -> None:
    """List recorded crowds, describe one, download them.

    Where the environment variable WORKBENCH_DATA names a folder, data sets are read from there
    and nothing is downloaded.
    """


@options.command("workbench data list", group=command, name="list", draws=False, plugins=True)
def list_(as_json: bool) -> None:
    """List the recorded crowds, and whether each is present offline (checked when it is read)."""
    from workbench.crowd.datasets import catalogue

    rows = catalogue().to_dict("records")
    if as_json:
        emit({"crowds": rows})
        return
    show(tabled(rows, {name: (name, "") for name in COLUMNS}))


@options.command("workbench data info bluebird", group=command, draws=False, plugins=True)
@click.argument("name")
def info(name: str, as_json: bool) -> None:
    """Describe a recorded crowd: size, licence, citation, files."""
    from workbench.crowd.datasets import describe

    facts = describe(name)
    if as_json:
        emit(facts)
        return
    size = "{tasks} tasks, {workers} workers, {labels} labels, {classes} classes".format(**facts)
    present = f"no: workbench data fetch {name}"
    if facts["present"]:
        present = f"yes, in {facts['folder']}" if facts["folder"] else "yes, by its plugin"
    lines = [
        (name, facts["title"]),
        ("size", size),
        *((field, facts[field]) for field in ("licence", "citation", "note")),
        ("present", present),
        *(("file", _file(file)) for file in facts["files"]),
    ]
    width = max(len(field) for field, _ in lines)
    show("\n".join(f"{field.ljust(width)}  {value}" for field, value in lines))


def _file(file: dict[str, Any]) -> str:
    size = file["bytes"]
    return f"{file['url']} ({'size not registered' if size is None else f'{size:,} bytes'})"


@options.command("workbench data fetch bluebird rte", group=command, draws=False, plugins=True)
@click.argument("names", nargs=-1, required=True)
@options.folder("Folder to write as tables: NAME/labels.csv and NAME/gold.csv.")
def fetch(names: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Download recorded crowds (by NAME) and check them against their published hashes."""
    from workbench.crowd import datasets

    selection = [datasets.named(name) for name in dict.fromkeys(names)]
    paths: dict[str, dict[str, str]] = {}
    for dataset in selection:
        place = datasets.stored(dataset)
        if place is not None and os.environ.get(datasets.DATA_VARIABLE):
            datasets.load(dataset.name)  # refuses what is not as published
            listing = {path.name: path for path in sorted(place.iterdir()) if path.is_file()}
        else:
            listing = datasets.fetch(dataset.name, progress=True)
        if out is not None:
            listing = _tables(dataset.name, out / dataset.name)
        paths[dataset.name] = {name: str(path) for name, path in listing.items()}
    if as_json:
        emit({"files": paths})
        return
    if out is not None:
        show_written(Path(path) for files in paths.values() for path in files.values())
        return
    for name, files in paths.items():
        for path in files.values():
            show(f"{name}  {path}")


def _tables(name: str, out: Path) -> dict[str, Path]:
    """Write a data set's labels and gold as the tables every command reads."""
    from workbench.crowd.datasets import load

    crowd = load(name)
    folder(out)
    frames = {"labels.csv": crowd.labels, "gold.csv": crowd.gold.reset_index()}
    write_files({out / name: as_csv(frame, out / name) for name, frame in frames.items()})
    return {name: out / name for name in frames}
