"""`run_study`, `report`, `judge`: trials run and kept, the page of them, and the papers' claims."""

from __future__ import annotations

import html
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench.api.result import Figure, Result, picked
from workbench.base.bar import bar
from workbench.base.errors import InputError
from workbench.base.registry import load_plugin
from workbench.base.text import cell
from workbench.base.writing import write_whole
from workbench.pages import report as page
from workbench.studies import claims_page, judging, overview
from workbench.studies.catalog import claims
from workbench.studies.claiming import Verdict
from workbench.studies.default_analysis import conclude
from workbench.studies.executors.choosing import chosen
from workbench.studies.quoted import headed
from workbench.studies.request import request
from workbench.studies.run import Progress, Which, made_lines, run
from workbench.studies.source import Source, own_sources
from workbench.studies.store import Store
from workbench.studies.study import Analysis, Block, Chart
from workbench.studies.trials import plan

if TYPE_CHECKING:
    from threading import Event

STORE = "studies.sqlite"
PAGE = "report.html"

REASONS = 3
"""Reasons for which trials failed that are shown."""


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult(Result):
    """A study that was run, and what its trials say.

    Attributes
    ----------
    name, version
        The study.
    size, sweep, repetitions, seed
        What was asked for: see `workbench study show`.
    source
        Where its code is.
    progress
        How the run ended.
    store
        The file that keeps the trials.
    interrupted
        Whether the run was asked to stop.
    """

    name: str
    version: int
    size: str
    sweep: tuple[Block, ...]
    repetitions: int
    seed: int
    source: Source
    progress: Progress
    store: Path
    interrupted: bool = False

    @cached_property
    def table(self) -> pd.DataFrame:
        """The trials that were asked for, a row each: parameters, status, what was measured.

        Those that other code of the study has made are left out.
        """
        listed = plan(self.source.load(), self.sweep, self.repetitions, self.seed)
        keys = {trial.key for trial in listed}
        with Store.open(self.store) as store:
            trials = store.table(self.name, self.version)
            _, other = store.unlike(self.name, self.version, self.progress.own)
        return trials[trials["key"].isin(keys - other.keys())].reset_index(drop=True)

    @cached_property
    def analysis(self) -> Analysis:
        """Findings, tables and charts of the trials."""
        return conclude(self.source.load(), self.table)

    @property
    def findings(self) -> tuple[str, ...]:
        """What the trials say, a sentence each."""
        return self.analysis.findings

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The study's tables, by caption."""
        return self.analysis.tables

    @property
    def charts(self) -> tuple[Chart, ...]:
        """The study's charts: `plot` draws them by name."""
        return self.analysis.charts

    @property
    def failed(self) -> int:
        """Trials of this run that gave no answer."""
        return self.progress.failed

    def to_frame(self) -> pd.DataFrame:
        """Give the trials."""
        return self.table

    def details(self) -> str:
        """Say how the run ended, where its trials are kept, and why trials failed."""
        ended = f"{self.name}: {self.progress.summary()}; kept in {self.store}"
        line = "\n".join([ended, *made_lines(self.progress)])
        if not self.failed:
            return line
        rows = self.table[~self.table["status"].isin(["ok", "infeasible"])]
        reasons = Counter(zip(rows["status"].astype(str), rows["message"].astype(str), strict=True))
        lines = [
            f"{status}, {many} {'trial' if many == 1 else 'trials'}: {cell(message)}"
            for (status, message), many in reasons.most_common(REASONS)
        ]
        more = len(reasons) - len(lines)
        return "\n".join([line, *lines, *([f"and {more} other reasons"] * (more > 0))])

    def plot(self, name: str | None = None) -> Figure:
        """Draw a chart of the study, the first when no name is given.

        Raises
        ------
        InputError
            There is no such chart.
        """
        from workbench.plots import chart

        charts = {figure.name: figure for figure in self.charts}
        if not charts:
            raise InputError("plot: the study has no chart of these trials")
        if name is not None and name not in charts:
            raise InputError(f"plot: no chart {name!r}; there are {', '.join(charts)}")
        return chart(charts[name or next(iter(charts))])

    def report(self, out: str | Path = PAGE) -> Report:
        """Write the page of this study: findings, tables, figures, provenance."""
        own = [self.source.name] if self.source.digest else []
        return report(self.store, out, [self.name], study=own)

    def _payload(self) -> dict[str, Any]:
        ended = self.progress
        return {
            **picked(self, "version", "size", "sweep", "repetitions", "seed", "interrupted"),
            **picked(ended, "planned", "skipped", "done", "left", "seconds"),
            "study": self.name,
            "counts": dict(ended.counts),
            "store": str(self.store),
        }

    def _repr_html_(self) -> str:
        from workbench.plots import as_svg

        items = "".join(f"<li>{html.escape(finding)}</li>" for finding in self.findings)
        picture = as_svg(self.plot()) if self.charts else ""
        return f"<p>{html.escape(repr(self))}</p><ul>{items}</ul>{picture}"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "table": self.table}  # a copy elsewhere has no file to read


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """A page that was written, the studies on it, and what is to be known of it.

    Attributes
    ----------
    path, studies
        Where it is; names.
    notes
        What could not be had, and what on it is not of today's code; a line each.
    """

    path: Path
    studies: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Give the studies on the page."""
        return pd.DataFrame({"study": self.studies})

    def details(self) -> str:
        """Say where the page is, and what is to be known of it."""
        return "\n".join([f"written: {self.path}", *self.notes])

    def _payload(self) -> dict[str, Any]:
        return {"report": str(self.path), **picked(self, "studies", "notes")}


@dataclass(frozen=True)
class DaskCluster:
    """A Dask cluster, in place of this machine.

    Parameters
    ----------
    scheduler
        Run on the Dask cluster at this address.
    tls_ca
        Certificate of the cluster's authority (PEM).
    tls_cert
        Your certificate for the cluster (PEM).
    tls_key
        Its private key (PEM).
    insecure
        Trust whoever answers at the cluster's address.

    Examples
    --------
    >>> import workbench as wb
    >>> wb.DaskCluster("tls://10.0.0.1:8786", insecure=True).scheduler
    'tls://10.0.0.1:8786'
    """

    scheduler: str | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    insecure: bool = False


@dataclass(frozen=True)
class TrialRules:
    """What a trial may use, and which trials are run again.

    Parameters
    ----------
    deadline
        Seconds for a trial.

        In place of the study's own.
    memory
        Megabytes for a trial (on Linux).

        In place of the study's own.
    retry
        Run failed trials again.
    fresh
        Run all trials anew, whatever the store has.

        Without it trials of another workbench are kept, and counted in `progress.older`; those of
        other code of the study are run anew.

    Examples
    --------
    >>> import workbench as wb
    >>> rules = wb.TrialRules(deadline=60)
    >>> len(wb.run_study("gold-estimates", size="smoke", repetitions=1, rules=rules).table)
    12
    """

    deadline: float | None = None
    memory: float | None = None
    retry: bool = False
    fresh: bool = False


def run_study(
    name: str | Path,
    *,
    size: str | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    set: Mapping[str, object] | Sequence[str] = (),
    store: str | Path = STORE,
    processes: int | None = None,
    cluster: DaskCluster | None = None,
    rules: TrialRules | None = None,
    plugins: Sequence[str | Path] = (),
    stop: Event | None = None,
    progress: Callable[[Progress], None] | bool = False,
) -> StudyResult:
    """Run a study's trials, keep them and analyse them; continue where an earlier run ended.

    Parameters
    ----------
    name
        A study (`workbench study list`), or a .py file of your own.
    size
        Sweep that takes seconds (smoke), a minute (small), or as published (paper). [default:
        small]
    repetitions
        How often each point is run.
    seed
        Random seed. [default: 0]
    set
        Values of a parameter, in place of the sweep's. Repeatable.

        By parameter.
    store
        File that keeps the trials.

        What it has already is not run again, unless the study's code has changed since.
    processes
        Processes on this machine. [default: its cores]
    cluster
        A `DaskCluster`, in place of this machine.
    rules
        A `TrialRules`.
    plugins
        Python files of your own that register what is used.
    stop
        Once it is set, trials under way are finished and kept, and no others begin.
    progress
        A function that takes the progress, one line at a time; True draws a bar.

    Returns
    -------
    StudyResult
        With `table`, `findings`, `plot()` and `report("page.html")`.

    Raises
    ------
    InputError
        An unknown study or parameter, a bad value, a store that cannot be written.

    Examples
    --------
    >>> import workbench as wb
    >>> study = wb.run_study("gold-estimates", size="smoke", repetitions=1, processes=1)
    >>> len(study.table), len(study.findings) > 0
    (12, True)
    """
    rules = rules or TrialRules()
    cluster = cluster or DaskCluster()
    for file in plugins:
        load_plugin(file)
    asked = request(
        str(name),
        size=size,
        repetitions=repetitions,
        seed=seed,
        assignments=set,
        deadline=rules.deadline,
        memory=rules.memory,
    )
    executor = chosen(
        processes,
        cluster.scheduler,
        (cluster.tls_ca, cluster.tls_cert, cluster.tls_key),
        insecure=cluster.insecure,
    )
    with Store.open(store, write=True) as opened:
        ended = run(
            asked.plan,
            store=opened,
            executor=executor,
            limits=asked.limits,
            which=Which(rules.retry, rules.fresh),
            stop=stop,
            on_progress=_bar(asked.study.name) if progress is True else progress or None,
        )
        path = opened.path
    return StudyResult(
        asked.study.name,
        asked.study.version,
        asked.plan.size,
        asked.plan.sweep,
        asked.plan.repetitions,
        asked.plan.seed,
        asked.plan.source,
        ended,
        path,
        stop is not None and stop.is_set(),
    )


def _bar(study: str) -> Callable[[Progress], None]:
    show = bar("trials", study)
    return lambda progress: show(progress.skipped + progress.done, progress.planned)


def report(
    store: str | Path = STORE,
    out: str | Path = PAGE,
    names: Sequence[str] = (),
    *,
    study: Sequence[str] = (),
) -> Report:
    """Write one page of the studies in a store: findings, tables, figures, provenance.

    Parameters
    ----------
    store
        The file that keeps the trials.
    out
        The page (.html).
    names
        Studies by name; all when empty.
    study
        Files of your own studies (.py): no other code is run.

    Raises
    ------
    InputError
        No such store or study, a file that made no trials in it, a page that cannot be written.

    Examples
    --------
    >>> import workbench as wb
    >>> _ = wb.run_study("gold-estimates", size="smoke", repetitions=1, processes=1)
    >>> wb.report("studies.sqlite", "page.html")
    Report: written: page.html
    """
    path = Path(out)
    own = own_sources(study)
    with Store.open(store) as opened:
        listed = overview.known(opened, tuple(names))
        written = page(opened, listed, own)
    try:
        write_whole(path, written.html.encode())
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    return Report(path, tuple(listed), written.notes)


@dataclass(frozen=True, eq=False, repr=False)
class Judgement(Result):
    """Every claim of the papers, and what is found of it."""

    verdicts: tuple[Verdict, ...]

    def to_frame(self) -> pd.DataFrame:
        """Give a row a claim: where it stands, what it says, verdict and figures."""
        return pd.DataFrame([verdict.payload() for verdict in self.verdicts]).drop(
            columns="evidence"
        )

    def plot(self) -> Figure:
        """Draw how many claims have which verdict."""
        from workbench.plots import verdicts

        words = pd.Series([str(verdict.word) for verdict in self.verdicts], dtype=object)
        return verdicts(words.value_counts(), title=f"{len(self.verdicts)} claims of the papers")

    def details(self) -> str:
        """Give each claim's verdict and figures, and how many have which."""
        lines = []
        for verdict in self.verdicts:
            figures = textwrap.fill(
                verdict.figures, 98, initial_indent="    ", subsequent_indent="    "
            )
            lines += [f"{verdict.claim.id}: {verdict.word}", figures]
        return "\n".join([*lines, "", self._counted()])

    def pages(self, out: str | Path) -> dict[Path, str | bytes]:
        """Write the table of all claims as `out`, and a page a paper in the folder beside it.

        Each page says at its head of which release its figures are, and which studies made them.
        The pictures of claims lie beside their paper's page. A .json of the name of `out` keeps
        every verdict whole.
        """
        from workbench.plots.render import as_png
        from workbench.plots.study import chart

        path = Path(out)
        pages: dict[Path, str | bytes] = {
            path: headed(claims_page.table(self.verdicts), self.verdicts),
            claims_page.kept_at(path): claims_page.as_json(self.verdicts),
        }
        for name, verdicts in claims_page.by_paper(self.verdicts).items():
            page = path.parent / name
            pages[page] = headed(claims_page.paper_page(verdicts), verdicts)
            for verdict in verdicts:
                drawn = verdict.ruling.chart
                if drawn is not None:
                    pages[page.parent / claims_page.picture(verdict.claim)] = as_png(chart(drawn))
        return pages

    def _counted(self) -> str:
        counts = Counter(str(verdict.word) for verdict in self.verdicts)
        rulings = ", ".join(f"{n} {ruling}" for ruling, n in counts.items())
        return f"{len(self.verdicts)} claims: {rulings}"

    def __repr__(self) -> str:
        return f"Judgement: {self._counted()}"

    def _payload(self) -> dict[str, Any]:
        return {"claims": [verdict.payload() for verdict in self.verdicts]}


def judge(store: str | Path = STORE, *, keep: str | Path | None = None) -> Judgement:
    """Judge every claim of the papers by the trials in a store.

    A claim whose study is not in the store is not yet measured.

    Parameters
    ----------
    store
        A study store.
    keep
        An earlier page of claims, the .json of its name beside it: where the store has no trials,
        its verdicts stand.

    Raises
    ------
    InputError
        There is no such store or page.

    Examples
    --------
    >>> import workbench as wb
    >>> from workbench.api.studying import judge
    >>> _ = wb.run_study("toy-example", size="smoke", repetitions=1, processes=1)
    >>> "verdict" in judge("studies.sqlite").to_frame()
    True
    """
    earlier = None
    if keep is not None:
        earlier = claims_page.read_page(Path(keep), claims())
    with Store.open(store) as opened:
        return Judgement(tuple(judging.judge(opened, keep=earlier)))
