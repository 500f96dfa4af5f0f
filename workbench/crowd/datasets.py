"""Recorded crowds: published label sets, where they are, and how they are read.

`load("bluebird")` gives the labels and gold of a data set in the long form. The files
come from a folder, when the environment variable WORKBENCH_DATA names one, or else from
their publishers, once, into the user's cache; every upstream file is held to its SHA-256.

In the folder each data set has a folder of its own, `<folder>/<name>/`, with either the
upstream files or a normalised `labels.csv` (`task,worker,label`) and `gold.csv`
(`task,gold`), which are held to a SHA-256 of what they say, in any order. Both give the
same labels; only upstream files can also give a `time`.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.resources import files as packaged
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from workbench.base.errors import InputError
from workbench.base.registry import Entry, Registry
from workbench.crowd.formats import ReadOptions, read_export
from workbench.crowd.reading import path_name
from workbench.crowd.tables import Duplicates, LabelSet, read_gold, read_labels

DATA_VARIABLE = "WORKBENCH_DATA"
DEADLINE = 300.0
"""Seconds in which a file is to be downloaded; the largest has 5 MB."""
SILENCE = 30.0
"""Seconds without a byte after which its server is given up."""
MOST_BYTES = 2**26
"""Bytes at most of a file whose size is not registered."""
CHANGED = "download it again, or report that its publisher changed it"
LabelsGold: TypeAlias = "tuple[pd.DataFrame, pd.Series[Any]]"


@dataclass(frozen=True)
class RemoteFile:
    """A file at its publisher's: where, what it hashes to, and what it is called here."""

    url: str
    sha256: str
    filename: str
    bytes: int | None = None


@dataclass(frozen=True)
class Counts:
    """Size of a label set."""

    tasks: int
    workers: int
    labels: int
    classes: int


@dataclass(frozen=True)
class Dataset:
    """A published label set.

    Attributes
    ----------
    name, title
        Key in `DATASETS`; a line for tables and reports.
    files
        What to download; none where the reader, called without a path, has it all.
    licence, citation
        As the publisher states them.
    counts
        Tasks, workers, labels, classes.
    note
        What a user should know before drawing conclusions.
    reader
        Takes the paths of the downloaded files, and gives labels and gold by task.
    content
        `digest` of what it reads; where none is known, normalised files are held to the counts.
    scale
        The lowest and the highest rating, where its labels are ratings.
    """

    name: str
    title: str
    files: tuple[RemoteFile, ...]
    licence: str
    citation: str
    counts: Counts
    note: str
    reader: Callable[..., LabelsGold]
    content: str | None = None
    scale: tuple[float, float] | None = None

    @classmethod
    def own(
        cls,
        name: str,
        title: str,
        reader: Callable[[], LabelsGold],
        *,
        licence: str = "one's own",
        citation: str = "not published",
        note: str = "",
    ) -> Dataset:
        """Describe a crowd of one's own, which is read from nowhere but by `reader`.

        Parameters
        ----------
        reader
            Gives a frame `task, worker, label` and the true labels by task, of some tasks or all;
            ids and labels are text.
        """
        return cls(name, title, (), licence, citation, counts(reader()[0]), note, reader)

    def read(self, paths: dict[str, Path]) -> LabelSet:
        """Read the downloaded files, path by filename."""
        labels, gold = self.reader(*(paths[file.filename] for file in self.files))
        return LabelSet(self.name, labels, gold.rename("gold").rename_axis("task"))


def fetch(name: str, progress: bool = False) -> dict[str, Path]:
    """Download a data set's files into the user's cache, unless they are there already.

    Parameters
    ----------
    name
        Key in `DATASETS`.
    progress
        Print a line for each file to standard error.

    Returns
    -------
    dict
        Path by filename. Every file has the SHA-256 of the registry.

    Raises
    ------
    InputError
        Unknown name, no network, a cache that cannot be written, or a file that is not
        the published one; a file half downloaded or wrong is not kept.
    """
    import pooch

    dataset = named(name)
    folder = Path(pooch.os_cache("crowd-workbench")) / dataset.name
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        return {file.filename: _download(dataset, file, folder, progress) for file in dataset.files}
    finally:
        logger.setLevel(level)


def load(name: str) -> LabelSet:
    """Load a data set: from the folder in WORKBENCH_DATA if that is set, else by `fetch`.

    Raises
    ------
    InputError
        As `fetch`; or the folder is missing or incomplete, or its files are not the
        published ones.
    """
    dataset = named(name)
    data = os.environ.get(DATA_VARIABLE) if dataset.files else None
    return _load_local(dataset, Path(data)) if data else dataset.read(fetch(name))


def as_studied(original: LabelSet, duplicates: Duplicates = "first") -> tuple[LabelSet, str | None]:
    """Give a data set in the form that studies use: one label of a worker a task, the first.

    Parameters
    ----------
    duplicates
        Which of repeated labels count; "all" gives them as published.

    Returns
    -------
    The data set, and what is to be said of labels that were left out, None where none were.

    Raises
    ------
    InputError
        No such word, or "error" and a pair is repeated.
    """
    labels = read_labels(original.labels, duplicates=duplicates)
    left = len(original.labels) - len(labels)
    if not left:
        return original, None
    note = (
        f"{original.name}: {left} labels that repeat a (task, worker) pair are left out, the "
        f"{duplicates} of each counts; duplicates='all' gives them as published"
    )
    return replace(original, labels=labels), note


def catalogue() -> pd.DataFrame:
    """List the data sets: name, title, counts, whether each is `present`, and in which `folder`."""
    return pd.DataFrame([_outline(entry.call) for entry in DATASETS.values()])


def class_datasets() -> list[str]:
    """Names of the data sets whose labels are classes, not ratings."""
    return [entry.name for entry in DATASETS.values() if entry.call.scale is None]


def describe(name: str) -> dict[str, Any]:
    """Tell all that is known of a data set, its files' addresses and hashes too.

    Raises
    ------
    InputError
        Unknown name.
    """
    dataset = named(name)
    return {
        **_outline(dataset),
        "licence": dataset.licence,
        "citation": dataset.citation,
        "note": dataset.note,
        "files": [asdict(file) for file in dataset.files],
    }


def _outline(dataset: Dataset) -> dict[str, Any]:
    place = stored(dataset)
    return {
        "name": dataset.name,
        "title": dataset.title,
        **asdict(dataset.counts),
        "present": place is not None or not dataset.files,
        "folder": None if place is None else str(place),
    }


def stored(dataset: Dataset) -> Path | None:
    """Folder in which a data set is present, without asking the network; else None.

    Its files are checked when they are read.
    """
    import pooch

    if not dataset.files:  # one of one's own, read by a function
        return None
    data = os.environ.get(DATA_VARIABLE)
    place = Path(data or pooch.os_cache("crowd-workbench")) / dataset.name
    complete = [[file.filename for file in dataset.files]]
    if data:
        complete.append(["labels.csv", "gold.csv"])
    if any(all((place / name).is_file() for name in names) for names in complete):
        return place
    return None


def named(name: str) -> Dataset:
    """Find a data set.

    Raises
    ------
    InputError
        Unknown name.
    """
    return DATASETS[name].call


def _download(dataset: Dataset, file: RemoteFile, folder: Path, progress: bool) -> Path:
    import pooch

    def download(url: str, target: str, _: Any) -> None:
        if progress:
            size = "" if file.bytes is None else f", {file.bytes:,} bytes"
            print(f"{dataset.name}: {file.filename}{size}", file=sys.stderr)
        Path(target).write_bytes(_body(url, file))
        _verify(Path(target), file, CHANGED)

    try:
        path = pooch.retrieve(
            file.url,
            known_hash=f"sha256:{file.sha256}",
            fname=file.filename,
            path=folder,
            downloader=download,
        )
    except OSError as error:
        # What comes from the network has no errno; what comes from the disk has one, or
        # is a PermissionError.
        if isinstance(error, PermissionError) or error.errno is not None:
            raise InputError(
                f"{path_name(folder)}: the cache cannot be written "
                f"({error.strerror or 'permission denied'}); free it, or set {DATA_VARIABLE} "
                f"to a folder that has {dataset.name}/{file.filename}"
            ) from None
        raise InputError(
            f"{dataset.name}: cannot download {file.url} ({_cause(error)}); connect to the "
            f"network, or set {DATA_VARIABLE} to a folder that has "
            f"{dataset.name}/{file.filename}"
        ) from None
    return Path(path)


def _body(url: str, file: RemoteFile) -> bytes:
    """Get what stands at an address: no more bytes than are registered, nor beyond `DEADLINE`."""
    import requests
    import urllib3

    most = MOST_BYTES if file.bytes is None else file.bytes
    body, end = bytearray(), time.monotonic() + DEADLINE
    with requests.get(url, stream=True, timeout=SILENCE) as response:
        response.raise_for_status()
        try:
            # Not `iter_content`, which waits for a whole part, however slowly it drips.
            while part := response.raw.read1(2**16, decode_content=True):
                body += part
                if len(body) > most:
                    raise InputError(
                        f"{file.filename}: not the published file: more than {most:,} bytes; "
                        f"{CHANGED}"
                    )
                if time.monotonic() > end:
                    raise requests.exceptions.ReadTimeout(f"not whole after {DEADLINE:g} s")
        except urllib3.exceptions.HTTPError as error:
            raise requests.exceptions.ChunkedEncodingError(str(error)) from None
    return bytes(body)


def _cause(error: OSError) -> str:
    response = getattr(error, "response", None)
    return type(error).__name__ if response is None else f"HTTP {response.status_code}"


def _verify(path: Path, file: RemoteFile, mend: str) -> None:
    size = path.stat().st_size
    if file.bytes not in (None, size):
        raise InputError(
            f"{file.filename}: not the published file: {file.bytes:,} bytes expected, got {size:,};"
            f" {mend}"
        )
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    if sha256 != file.sha256:
        raise InputError(
            f"{file.filename}: not the published file: SHA-256 expected {file.sha256}, "
            f"got {sha256}; {mend}"
        )


def _load_local(dataset: Dataset, data: Path) -> LabelSet:
    folder = data / dataset.name
    for place in (data, folder):
        if not place.is_dir():
            raise InputError(
                f"{DATA_VARIABLE}: no folder {path_name(place)}; create it with the files of "
                f"{dataset.name}, or unset {DATA_VARIABLE} to download them"
            )
    paths = {file.filename: folder / file.filename for file in dataset.files}
    absent = [filename for filename, path in paths.items() if not path.is_file()]
    if not absent:
        for file in dataset.files:
            _verify(paths[file.filename], file, f"replace it by that at {file.url}")
        return dataset.read(paths)
    if not all((folder / name).is_file() for name in ("labels.csv", "gold.csv")):
        raise InputError(
            f"{path_name(folder)}: lacks {', '.join(absent)}; add what is missing, or "
            f"labels.csv and gold.csv, or unset {DATA_VARIABLE} to download"
        )
    labels = read_labels(folder / "labels.csv", duplicates="all")
    label_set = LabelSet(dataset.name, labels, read_gold(folder / "gold.csv", labels))
    if (
        dataset.content not in (None, digest(label_set))
        or counts(label_set.labels) != dataset.counts
    ):
        raise InputError(
            f"{path_name(folder)}: labels.csv and gold.csv are not those published as "
            f"{dataset.name}; replace them, or give labels of your own by their files"
        )
    return label_set


def counts(labels: pd.DataFrame) -> Counts:
    """Count tasks, workers, labels and classes of a label table."""
    tasks, workers, classes = (labels[name].nunique() for name in ("task", "worker", "label"))
    return Counts(tasks, workers, len(labels), classes)


def digest(label_set: LabelSet) -> str:
    """SHA-256 of the labels and the gold, whatever their order."""
    votes = label_set.labels[["task", "worker", "label"]].itertuples(index=False, name=None)
    content = json.dumps([sorted(votes), sorted(label_set.gold.items())])
    return hashlib.sha256(content.encode()).hexdigest()


def _bluebird(labels: Path, gold: Path) -> LabelsGold:
    """Read `{worker: {task: true or false}}` and `{task: true or false}`; true is "1"."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # five times as fast, where built
    by_worker, true = (yaml.load(path.read_text("utf-8"), Loader=loader) for path in (labels, gold))
    return _long(pd.DataFrame(by_worker)), pd.Series({str(k): str(int(v)) for k, v in true.items()})


def _rte(path: Path) -> LabelsGold:
    """Read a headed tab-separated file of votes, each with its task's gold label."""
    votes = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
    labels = votes[["orig_id", "!amt_worker_ids", "response"]]
    gold = votes.drop_duplicates("orig_id").set_index("orig_id")["gold"]
    return labels.set_axis(["task", "worker", "label"], axis=1), gold


def _headerless(path: Path) -> LabelsGold:
    """Read `worker,task,label,gold,time`; repeated pairs stay, as published."""
    places = {"worker": "1", "task": "2", "label": "3"}
    export = read_export(path, ReadOptions("headerless", columns=places, duplicates="all"))
    assert export.gold is not None
    return export.labels, export.gold


def _items(labels: Path, gold: Path) -> LabelsGold:
    """Read `item,worker,label` and `item,truth`; repeated pairs stay, as published."""
    table = read_labels(labels, duplicates="all")
    return table, read_gold(gold, table)


# Scoring key of the 32 items: help page of SAT12 in the R package mirt, after the TESTFACT
# manual (Wood et al. 2003). That page suspects that item 32's 5 should be 3; it stays 5.
SAT12_KEY = "14523121312421534414334135131545"
SAT12_MISSING = 8


def _sat12(path: Path) -> LabelsGold:
    """Read the R data frame of answers: test takers in rows, items in columns."""
    try:
        import rdata
    except ImportError:
        raise InputError(
            "sat12: reading SAT12.RData needs rdata; pip install 'crowd-workbench[sat12]'"
        ) from None

    # The file names no encoding, of which rdata warns unless one is given.
    answers = rdata.read_rda(path, default_encoding="ascii")["SAT12"]
    gold = pd.Series(list(SAT12_KEY), index=answers.columns.astype(str))
    return _long(answers[answers != SAT12_MISSING].T), gold


def _long(answers: pd.DataFrame) -> pd.DataFrame:
    """Lay out a table tasks × workers of whole numbers, worker by worker."""
    table = answers.rename_axis("task").reset_index()
    votes = table.melt("task", var_name="worker", value_name="label").dropna()
    texts = votes.astype({"label": int}).astype(str)
    return texts[["task", "worker", "label"]].reset_index(drop=True)


READERS: dict[str, Callable[..., LabelsGold]] = {
    "bluebird": _bluebird,
    "rte": _rte,
    "headerless": _headerless,
    "items": _items,
    "sat12": _sat12,
}


def _published(
    name: str, folder: str, files: list[dict[str, Any]], reader: str, **about: Any
) -> Entry[Dataset]:
    remote = tuple(RemoteFile(folder + file["filename"], **file) for file in files)
    about["counts"] = Counts(**about["counts"])
    if "scale" in about:
        about["scale"] = tuple(about["scale"])
    dataset = Dataset(name=name, files=remote, reader=READERS[reader], **about)
    return Entry(name, dataset, dataset.title, dataset.citation)


_DECLARED = tomllib.loads((packaged(__package__) / "datasets.toml").read_text("utf-8"))
DATASETS: Registry[Dataset] = Registry(
    "data set", *(_published(name, **about) for name, about in _DECLARED.items())
)
