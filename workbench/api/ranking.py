"""`leaderboard`: every method on every recorded crowd at hand, in one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench.api.result import MOST, Figure, Result, page, percent, picked, points
from workbench.api.studying import STORE, Report, StudyResult, run_study
from workbench.base.errors import InputError
from workbench.base.registry import load_plugin
from workbench.base.text import Columns, shown, tabled
from workbench.crowd import datasets
from workbench.studies.analysis import ended_well

if TYPE_CHECKING:
    from threading import Event

    from workbench.studies.run import Progress

TITLES = {
    "aggregator": "Aggregators, beside the majority",
    "rule": "Selection rules, beside the K workers of highest skill",
    "learner": "Learners, beside LS_OL",
    "policy": "Collecting policies, beside so many labels a task",
}
KINDS = {
    "aggregator": "Aggregators",
    "rule": "Rules that hire",
    "learner": "Learners",
    "policy": "Policies that collect",
}
COLUMNS: Columns = {
    "place": ("", ""),
    "method": ("method", ""),
    "less": ("error, less", "+.4f"),
    "se": ("± se", ".4f"),
    "over": ("over crowds", ""),
    "rank": ("mean rank", ".1f"),
    "even": ("at equal labels", "+.4f"),
    "even_over": ("over crowds", ""),
    "error": ("error", ".4f"),
    "balanced": ("of classes", ".4f"),
    "labels": ("labels a task", ".1f"),
    "crowds": ("crowds", ""),
}
NOTES = (
    "error, less: than that of the method in the heading with as many labels a task at most, in "
    "pairs on the same held-out gold; mean over levels, then crowds; ± over draws; intervals of "
    "95 % over crowds; equals share a place (=), – without one: not on every crowd of the others",
    "at equal labels: error less that of a majority for as many labels. Rules, and votes weighted "
    "by skill, know the gold of an exam, whose labels are not counted; the others know none",
    "of classes: the mean of the classes' errors",
)


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result):
    """Every method on every crowd that was to be had.

    Attributes
    ----------
    study
        The run: its trials, sentences and page.
    crowds
        Those that are in it.
    missing
        Why the others could not be had, by name.
    """

    study: StudyResult
    crowds: tuple[str, ...]
    missing: dict[str, str]
    pictured = True

    @cached_property
    def curves(self) -> pd.DataFrame:
        """Error against labels a task: a row a method, crowd, repetition and level."""
        from workbench.papers.beyond.leaderboard import curves

        return curves(ended_well(self.study.table))

    @cached_property
    def standings(self) -> pd.DataFrame:
        """A row a method, by kind and place: see `workbench.papers.beyond.leaderboard`."""
        from workbench.papers.beyond.leaderboard import standings

        return standings(self.curves)

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Mean error over levels, a row a method and a column a crowd."""
        from workbench.papers.beyond.leaderboard import errors

        return errors(self.curves)

    @cached_property
    def refused(self) -> pd.DataFrame:
        """Why methods have no number on crowds."""
        from workbench.papers.beyond.leaderboard import refusals

        return refusals(self.study.table)

    def to_frame(self) -> pd.DataFrame:
        """Give the standings."""
        return self.standings

    def verdict(self) -> list[str]:
        """Say which method of each kind errs least, and what it gains on the kind's plainest."""
        from workbench.papers.beyond.leaderboard import BASELINE

        sentences = [f"{self._head()}."]
        for kind, rows in self.standings.groupby("kind", sort=False):
            placed = rows[rows["place"].notna()]
            if placed.empty:
                continue
            best = placed.sort_values("less", kind="stable").iloc[0]
            plainest = BASELINE[str(kind)]
            sentence = f"{KINDS[str(kind)]}: {best['method']} errs least, {percent(best['error'])}"
            if best["method"] != plainest:
                sentence += f", {points(best['less'])} than {plainest}{self._told(best)}"
            sentences.append(f"{sentence}.")
        return sentences[:MOST]

    def _told(self, best: pd.Series[Any]) -> str:
        """Say where the crowds do not tell the best from the plainest."""
        if best["high"] < 0:
            return ""
        return f": these {len(self.crowds)} crowds do not tell the two apart"

    def brief(self) -> str:
        """Lay out the errors of the methods, by kind."""
        columns = {key: COLUMNS[key] for key in ("place", "method", "less", "over", "error")}
        return "\n\n".join(f"{title}\n\n{tabled(rows, columns)}" for title, rows in self._tables())

    def details(self) -> str:
        """Lay the standings out by kind, and say what was left out."""
        parts = [f"{title}\n\n{tabled(rows, COLUMNS)}" for title, rows in self._tables()]
        return page(self._head(), *parts, notes=[*NOTES, *self._absent()])

    def markdown(self) -> str:
        """Write the standings for a page, headings of the third level."""
        lines = [f"{self._head()}."]
        heads = [head for head, _ in COLUMNS.values()]
        for title, rows in self._tables():
            lines += ["", f"### {title}", "", _row(heads), _row(["---"] * len(heads))]
            lines += [
                _row([shown(row[at], how) for at, (_, how) in COLUMNS.items()]) for row in rows
            ]
        return (
            "\n".join([*lines, "", *(f"- {note}" for note in (*NOTES, *self._absent(brief=True)))])
            + "\n"
        )

    def plot(self) -> Figure:
        """Draw error against labels a task, a panel a crowd."""
        return self.study.plot("curves")

    def report(self, out: str | Path = "leaderboard.html") -> Report:
        """Write the page of it: tables, curves, provenance."""
        return self.study.report(out)

    def _head(self) -> str:
        asked = self.study
        return (
            f"{len(self.crowds)} crowds, size {asked.size}, {asked.repetitions} draws of tasks, "
            f"controls and labels, seed {asked.seed}"
        )

    def _tables(self) -> list[tuple[str, list[dict[Any, Any]]]]:
        rows = self.standings.assign(over="", even_over="")
        for name, low, high in (("over", "low", "high"), ("even_over", "even_low", "even_high")):
            rows[name] = [
                "–" if pd.isna(a) else f"{a:+.3f} to {b:+.3f}"
                for a, b in zip(rows[low], rows[high], strict=True)
            ]
        groups = rows.groupby("kind", sort=False)
        return [(TITLES[str(kind)], own.to_dict("records")) for kind, own in groups]

    def _absent(self, brief: bool = False) -> list[str]:
        """What was left out; `brief`: without what is this machine's own."""
        missing = [f"not fetched: {name}: {why}" for name, why in self.missing.items()]
        if missing and brief:
            missing = [f"not fetched (`workbench data fetch NAME`): {', '.join(self.missing)}"]
        rows = self.refused.itertuples(index=False)
        return [
            *missing,
            *(f"not run: {row.kind} {row.methods} on {row.crowds}: {row.reason}" for row in rows),
        ]

    def _payload(self) -> dict[str, Any]:
        tables = picked(self, "standings", "errors", "refused")
        return {
            **picked(self.study, "size", "repetitions", "seed"),
            **picked(self, "crowds", "missing"),
            **{name: table.to_dict("records") for name, table in tables.items()},
        }


def _row(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |".replace(" to ", "\u00a0to\u00a0")


def leaderboard(
    size: str = "small",
    *,
    kinds: Sequence[str] = (),
    crowds: Sequence[str] = (),
    plugins: Sequence[str | Path] = (),
    repetitions: int | None = None,
    seed: int = 0,
    store: str | Path = STORE,
    processes: int | None = None,
    stop: Event | None = None,
    progress: Callable[[Progress], None] | bool = False,
) -> Leaderboard:
    """Hold every way to label, hire, learn and collect against the others on recorded crowds.

    Parameters
    ----------
    size
        60 tasks of each crowd (small), whole crowds (paper), or a stand-in (smoke).

        Three draws, five, or what it takes.
    kinds
        "aggregator", "rule", "learner", "policy"; all when empty. A majority is always there.
    crowds
        Data sets by name; all when empty. What is neither here nor to be downloaded is `missing`.
    plugins
        Files of one's own that register methods or crowds.
    repetitions
        Draws of tasks, controls and labels.
    seed, store, processes, stop, progress
        As for `run_study`: trials that the store has are not run again.

    Returns
    -------
    Leaderboard
        With `to_frame()`, the standings, `plot()`, `errors`, `refused` and `report("page.html")`.

    Raises
    ------
    InputError
        An unknown kind or crowd, none that can be had, or nothing that runs on it.

    Examples
    --------
    >>> import workbench as wb
    >>> board = wb.leaderboard("smoke", kinds=["rule"], repetitions=1, processes=1)
    >>> sorted(set(board.to_frame()["kind"])), board.crowds
    (['aggregator', 'rule'], ('simulated',))
    """
    from workbench.papers.beyond.leaderboard_trials import KINDS, STAND_IN, marked, methods

    for file in plugins:
        load_plugin(file)
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(f"kinds has {kind!r}: choose from {', '.join(KINDS)}")
    names = list(crowds) or ([STAND_IN] if size == "smoke" else list(datasets.DATASETS))
    missing: dict[str, str] = {}
    for name in names:
        if name != STAND_IN and datasets.stored(datasets.named(name)) is None:
            try:
                datasets.load(name)
            except InputError as error:
                missing[name] = str(error)
    there = [name for name in names if name not in missing]
    if not there:
        raise InputError(f"crowds: none can be had; {next(iter(missing.values()))}")
    asked = dict.fromkeys(["aggregator/majority", *methods(*kinds)])
    study = run_study(
        "leaderboard",
        size=size,
        repetitions=repetitions,
        seed=seed,
        set={"crowd": [marked(name, datasets.DATASETS) for name in there], "method": list(asked)},
        store=store,
        processes=processes,
        stop=stop,
        progress=progress,
    )
    if not study.interrupted and ended_well(study.table).empty:
        raise InputError(f"crowds: nothing ran; {study.table['message'].iloc[0]}")
    return Leaderboard(study, tuple(there), missing)
