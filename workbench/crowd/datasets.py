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
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from workbench.base.errors import InputError
from workbench.base.registry import Entry, Registry
from workbench.crowd.converters import from_headerless
from workbench.crowd.reading import TextTable, open_table, path_name
from workbench.crowd.tables import LabelSet, read_gold, read_labels

DATA_VARIABLE = "WORKBENCH_DATA"


@dataclass(frozen=True)
class RemoteFile:
    """A file at its publisher's: where, what it hashes to, and what it is called here."""

    url: str
    sha256: str
    bytes: int
    filename: str


class Counts(NamedTuple):
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
        What to download.
    licence, citation
        As the publisher states them.
    counts
        Tasks, workers, labels, classes.
    note
        What a user should know before drawing conclusions.
    normalise
        Reads the downloaded files (path by filename) into a `LabelSet`.
    content
        `digest` of that.
    """

    name: str
    title: str
    files: tuple[RemoteFile, ...]
    licence: str
    citation: str
    counts: Counts
    note: str
    normalise: Callable[[dict[str, Path]], LabelSet]
    content: str


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
    data = os.environ.get(DATA_VARIABLE)
    return _load_local(dataset, Path(data)) if data else dataset.normalise(fetch(name))


def catalogue() -> pd.DataFrame:
    """List the data sets: name, title, counts, whether each is `present`, and in which `folder`."""
    return pd.DataFrame([_outline(entry.call) for entry in DATASETS.values()])


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
        "files": [dict(vars(file)) for file in dataset.files],
    }


def _outline(dataset: Dataset) -> dict[str, Any]:
    place = stored(dataset)
    return {
        "name": dataset.name,
        "title": dataset.title,
        **dataset.counts._asdict(),
        "present": place is not None,
        "folder": None if place is None else str(place),
    }


def stored(dataset: Dataset) -> Path | None:
    """Folder in which a data set is present, without asking the network; None when it is not.

    Its files are checked when they are read.
    """
    import pooch

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

    def download(url: str, target: str, owner: Any) -> None:
        if progress:
            print(f"{dataset.name}: {file.filename}, {file.bytes:,} bytes", file=sys.stderr)
        # The files are small; read whole, a failing response leaves no connection open.
        pooch.HTTPDownloader(stream=False)(url, target, owner)
        _verify(Path(target), file, "download it again, or report that its publisher changed it")

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


def _cause(error: OSError) -> str:
    response = getattr(error, "response", None)
    return type(error).__name__ if response is None else f"HTTP {response.status_code}"


def _verify(path: Path, file: RemoteFile, mend: str) -> None:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != file.sha256:
        raise InputError(
            f"{file.filename}: not the published file: SHA-256 expected {file.sha256}, "
            f"got {found}; {mend}"
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
        return dataset.normalise(paths)
    if not all((folder / name).is_file() for name in ("labels.csv", "gold.csv")):
        raise InputError(
            f"{path_name(folder)}: lacks {', '.join(absent)}; add what is missing, or "
            f"labels.csv and gold.csv, or unset {DATA_VARIABLE} to download"
        )
    labels = read_labels(folder / "labels.csv", duplicates="keep")
    known = LabelSet(dataset.name, labels, read_gold(folder / "gold.csv", labels))
    if digest(known) != dataset.content:
        raise InputError(
            f"{path_name(folder)}: labels.csv and gold.csv are not those published as "
            f"{dataset.name}; replace them, or give labels of your own by their files"
        )
    return known


def digest(known: LabelSet) -> str:
    """SHA-256 of the labels and the gold, whatever their order."""
    votes = known.labels[["task", "worker", "label"]].itertuples(index=False, name=None)
    content = json.dumps([sorted(votes), sorted(known.gold.items())])
    return hashlib.sha256(content.encode()).hexdigest()


def _bluebird(paths: dict[str, Path]) -> LabelSet:
    """Read `{worker: {task: true or false}}` and `{task: true or false}`; true is "1"."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # five times as fast, where built
    given, gold = (
        yaml.load(paths[name].read_text("utf-8"), Loader=loader)
        for name in ("labels.yaml", "gt.yaml")
    )
    rows = [
        (str(task), str(worker), str(int(label)))
        for worker, labels in given.items()
        for task, label in labels.items()
    ]
    return LabelSet(
        "bluebird",
        pd.DataFrame(rows, columns=["task", "worker", "label"]),
        _gold({str(task): str(int(label)) for task, label in gold.items()}),
    )


def _rte(paths: dict[str, Path]) -> LabelSet:
    """Read a headed tab-separated file of votes, each with its task's gold label."""
    table = open_table(paths["rte.standardized.tsv"], "labels")
    tasks, gold = _column(table, "orig_id"), _column(table, "gold")
    votes = {
        "task": tasks,
        "worker": _column(table, "!amt_worker_ids"),
        "label": _column(table, "response"),
    }
    return LabelSet("rte", pd.DataFrame(votes), _gold(dict(zip(tasks, gold, strict=True))))


def _column(table: TextTable, name: str) -> list[str]:
    return table.columns[table.header.index(name)]


def _active_crowd(name: str, filename: str, paths: dict[str, Path]) -> LabelSet:
    """Read a headerless `worker,task,label,gold,time`; repeated pairs stay, as published."""
    return from_headerless(paths[filename], name=name, duplicates="keep")


# Scoring key of the 32 items: help page of SAT12 in the R package mirt, after the TESTFACT
# manual (Wood et al. 2003). That page suspects that item 32's 5 should be 3; it stays 5.
SAT12_KEY = "14523121312421534414334135131545"
SAT12_MISSING = 8


def _sat12(paths: dict[str, Path]) -> LabelSet:
    """Read the R data frame of answers: test takers in rows, items in columns."""
    try:
        import rdata
    except ImportError:
        raise InputError(
            "sat12: reading SAT12.RData needs rdata; pip install 'crowd-workbench[sat12]'"
        ) from None

    # The file names no encoding, of which rdata warns unless it is told one.
    answers = rdata.read_rda(paths["SAT12.RData"], default_encoding="ascii")["SAT12"]
    items = [str(item) for item in answers.columns]
    rows = [
        (item, str(person), str(int(answer)))
        for person, given in zip(answers.index, answers.to_numpy(), strict=True)
        for item, answer in zip(items, given, strict=True)
        if answer != SAT12_MISSING
    ]
    return LabelSet(
        "sat12",
        pd.DataFrame(rows, columns=["task", "worker", "label"]),
        _gold(dict(zip(items, SAT12_KEY, strict=True))),
    )


def _gold(gold: dict[str, str]) -> pd.Series[Any]:
    return pd.Series(list(gold.values()), index=pd.Index(list(gold), name="task"), name="gold")


_RAW = "https://raw.githubusercontent.com/"
_CUBAM = _RAW + "welinder/cubam/fe5ba700f1adbb489c69af311558d64370d73d36/demo/bluebirds/"
_ACTIVE_CROWD = (
    _RAW + "orchidproject/active-crowd-toolkit/2c0c194e85ca126545bd830d811ec39151bdd448/Data/"
)
# No commit is known for these two files: their SHA-256 hold them in place.
_COMBINATION = _RAW + "edwinrobots/bayesian_combination_tutorial2/HEAD/all_collected_data/"
_MIRT = _RAW + "philchalmers/mirt/HEAD/data/"
_VENANZI = (
    "Venanzi, Parson, Teacy, Stein (2015), The ActiveCrowdToolkit: an open-source tool for "
    "benchmarking active learning algorithms for crowdsourcing research, HCOMP"
)


def _files(folder: str, files: dict[str, tuple[int, str]]) -> tuple[RemoteFile, ...]:
    """Files of one folder: bytes and SHA-256 by name."""
    return tuple(RemoteFile(folder + name, sha, size, name) for name, (size, sha) in files.items())


_PUBLISHED = (
    Dataset(
        name="bluebird",
        title="Indigo Bunting or Blue Grosbeak, 39 workers on every one of 108 images",
        files=_files(
            _CUBAM,
            {
                "labels.yaml": (
                    58941,
                    "8b1b28e4b869b19bb03beac476c7073149cef784f9524ebe17380a1292a6126c",
                ),
                "gt.yaml": (
                    1533,
                    "c9eb769c845ca99495a07b5c28c4290c78436fd8eac65c0747736c4ef8126340",
                ),
            },
        ),
        licence="Clear BSD, (c) 2011-2012 Peter Welinder, California Institute of Technology",
        citation="Welinder, Branson, Perona, Belongie (2010), The multidimensional wisdom of "
        "crowds, NIPS",
        counts=Counts(108, 39, 4212, 2),
        note="A complete matrix: every worker labelled every task.",
        normalise=_bluebird,
        content="1883c83b320f713e8322d9ba0e1daea9a6b951b8be637a98201ed0fee6db2549",
    ),
    Dataset(
        name="rte",
        title="Recognising textual entailment, 10 of 164 workers on each of 800 pairs",
        files=_files(
            _COMBINATION,
            {
                "rte.standardized.tsv": (
                    515468,
                    "3187c5de59b9b9c596d490d25b5f5f108090a35cbdd10e81f21e6d1939d6ba79",
                )
            },
        ),
        licence="MIT (the repository; the data came without an explicit licence)",
        citation="Snow, O'Connor, Jurafsky, Ng (2008), Cheap and fast, but is it good? Evaluating "
        "non-expert annotations for natural language tasks, EMNLP",
        counts=Counts(800, 164, 8000, 2),
        note="Workers label from 20 to 800 tasks each; worker ids are those of AMT.",
        normalise=_rte,
        content="7c2a42d0314324dcb19f9a1a12ebe5eaae5ef25bd2f9644c63d8f9b637cb5648",
    ),
    Dataset(
        name="sp_amt",
        title="Polarity of film review sentences, 20 of 143 workers on each of 500",
        files=_files(
            _ACTIVE_CROWD,
            {
                "SP_amt.csv": (
                    262246,
                    "fec6f3027202d33016b8b06083c83118d6d237e671b8bd4c22d0aa979e41ba0a",
                )
            },
        ),
        licence="Apache-2.0",
        citation=_VENANZI,
        counts=Counts(500, 143, 10000, 2),
        note="Read from upstream, the labels have a time in seconds.",
        normalise=partial(_active_crowd, "sp_amt", "SP_amt.csv"),
        content="8fb7167711c87f2da1cf4f3d3ae5cf513c969ed2d9ac30d4d3edd4462e3ae063",
    ),
    Dataset(
        name="weather_amt",
        title="Sentiment of tweets on the weather, 20 or more of 110 workers on each of 300",
        files=_files(
            _ACTIVE_CROWD,
            {
                "CF_amt.csv": (
                    182225,
                    "c44d4bf3cbf08f343072d86a10e9085ab91885a2b4bbb1d0d03eb2cd461f6c5b",
                )
            },
        ),
        licence="Apache-2.0",
        citation=_VENANZI,
        counts=Counts(300, 110, 6030, 5),
        note="Five (task, worker) pairs occur twice, each with the same label both times; all rows "
        "are kept, as published, so their labels count twice unless "
        "read_labels(labels, duplicates='first') drops them. Read from upstream, the labels have a "
        "time in seconds.",
        normalise=partial(_active_crowd, "weather_amt", "CF_amt.csv"),
        content="1c8c9d5fd345a5f4c5854a1d7d792d7ab97e676e79e3666056342df74ac08dc6",
    ),
    Dataset(
        name="sat12",
        title="A science test of 32 five-option questions, 600 test takers",
        files=_files(
            _MIRT,
            {
                "SAT12.RData": (
                    7645,
                    "d98d67397fac58d0b0efb445ba28c384caa44027d71ea6fbdc7ed404f4a055f9",
                )
            },
        ),
        licence="GPL-3.0-or-later (the R package mirt)",
        citation="Wood, Wilson, Gibbons, Schilling, Muraki, Bock (2003), TESTFACT 4 for Windows, "
        "SSI; by way of Chalmers (2012), mirt, Journal of Statistical Software 48(6)",
        counts=Counts(32, 600, 19131, 5),
        note="Test takers, not hired workers; the value 8 (no answer) is dropped. The gold is the "
        "published key, whose item 32 (5) is suspected to be wrong (3).",
        normalise=_sat12,
        content="3191586a503666235efb88089a963c568c025cfcd657da9595c64bac6fd12688",
    ),
)

DATASETS: Registry[Dataset] = Registry(
    "data set", *(Entry(known.name, known, known.title, known.citation) for known in _PUBLISHED)
)
