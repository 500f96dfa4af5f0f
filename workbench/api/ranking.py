"""`leaderboard`: every method on every recorded crowd at hand; `export_benchopt`: for others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench.api.result import MOST, Figure, Result, page, percent, picked, points
from workbench.api.studying import STORE, Report, StudyResult, report, run_study
from workbench.base import checks
from workbench.base.errors import InputError
from workbench.base.registry import load_plugin
from workbench.base.text import Columns, shown, tabled
from workbench.crowd import datasets
from workbench.studies.analysis import ended_well

if TYPE_CHECKING:
    from threading import Event

    from workbench.studies.run import Progress

YARDSTICKS = {"oracle", "full crowd, true weights"}
"""Learners that know every skill: they stand in the table, and are nothing to use."""
WHOLE = "Aggregators without gold on whole crowds, compared with the majority"
TITLES = {
    "aggregator": "Votes weighted by an exam, compared with the majority",
    "rule": "Selection rules, with an exam, compared with the K workers of highest skill",
    "learner": "Learners, compared with LS_OL",
    "policy": "Collecting policies, compared with as many labels for each task",
}
KINDS = {
    "aggregator": "With gold, votes weighted by an exam",
    "rule": "With gold, a few good workers",
    "learner": "Without gold, task after task",
    "policy": "With little money, labels where they are most informative",
}
WHOLE_COLUMNS: Columns = {
    "place": ("", ""),
    "method": ("method", ""),
    "less": ("error difference", "+.4f"),
    "over": ("over crowds", ""),
    "worst": ("worst loss", ".4f"),
    "where": ("on, labels per task", ""),
    "rank": ("mean rank", ".1f"),
    "error": ("error", ".4f"),
    "error_1": ("of 1", ".4f"),
    "error_2": ("of 2", ".4f"),
    "error_3": ("of 3", ".4f"),
    "error_5": ("of 5", ".4f"),
    "error_all": ("of all", ".4f"),
    "seconds": ("seconds", ".2f"),
    "crowds": ("crowds", ""),
}
WHOLE_NOTES = (
    "whole crowds: error minus that of a majority of the same labels, in pairs, on all tasks "
    "with gold, of which no method knows any; mean over 1, 2, 3, 5 labels per task and all, then "
    "over crowds, intervals of 95 % over crowds; worst loss to the majority on any crowd at any "
    "number of labels; seconds of one processor for all labels of all crowds; – without a place: "
    "not wherever the others ran",
)
COLUMNS: Columns = {
    "place": ("", ""),
    "method": ("method", ""),
    "less": ("error difference", "+.4f"),
    "se": ("± se", ".4f"),
    "over": ("over crowds", ""),
    "rank": ("mean rank", ".1f"),
    "even": ("at equal labels", "+.4f"),
    "even_over": ("over crowds", ""),
    "error": ("error", ".4f"),
    "balanced": ("of classes", ".4f"),
    "labels": ("labels per task", ".1f"),
    "exam": ("exam labels per task", ".1f"),
    "crowds": ("crowds", ""),
}
NOTES = (
    "error difference: to the method in the heading with at most as many labels per task, in "
    "pairs on the same held-out gold; mean over levels, then crowds; ± over draws; intervals of "
    "95 % over crowds; equals share a place (=), – without one: not on every crowd of the others",
    "at equal labels: error minus that of a majority for as many labels, the exam's counted: "
    "who is "
    "given what an exam says of workers is charged its labels, spread over the crowd's tasks",
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
    whole
        The run on whole crowds; none where aggregators were not asked for.
    foreign
        Results that came by files, as `whole_crowds.points` has them.
    """

    study: StudyResult
    crowds: tuple[str, ...]
    missing: dict[str, str]
    whole: tuple[StudyResult, ...] = ()
    foreign: tuple[pd.DataFrame, ...] = ()
    pictured = True

    @cached_property
    def points(self) -> pd.DataFrame:
        """Errors on whole crowds: a row a method, crowd, level of labels and order."""
        from workbench.ranking import whole_crowds

        own = pd.concat([ended_well(study.table) for study in self.whole], ignore_index=True)
        table = whole_crowds.points(own)
        names = set(table["method"])
        more = [
            rows.assign(
                method=[f"{name} (file)" if name in names else name for name in rows["method"]]
            )
            for rows in self.foreign
        ]
        return pd.concat([table, *more], ignore_index=True)

    @cached_property
    def on_whole_crowds(self) -> pd.DataFrame:
        """A row an aggregator, by place: see `workbench.ranking.whole_crowds`."""
        from workbench.ranking.whole_crowds import standings

        return standings(self.points) if self.whole else pd.DataFrame()

    @cached_property
    def curves(self) -> pd.DataFrame:
        """Error against labels per task: a row a method, crowd, repetition and level."""
        from workbench.ranking.leaderboard import curves

        return curves(ended_well(self.study.table))

    @cached_property
    def standings(self) -> pd.DataFrame:
        """A row a method, by kind and place: see `workbench.ranking.leaderboard`."""
        from workbench.ranking.leaderboard import standings

        return standings(self.curves)

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Mean error over levels, a row a method and a column a crowd."""
        from workbench.ranking.leaderboard import errors

        return errors(self.curves)

    @cached_property
    def refused(self) -> pd.DataFrame:
        """Why methods have no number on crowds."""
        from workbench.ranking.leaderboard import refusals

        return refusals(self.study.table)

    def to_frame(self) -> pd.DataFrame:
        """Give the standings on whole crowds; without aggregators those of the other kinds."""
        return self.on_whole_crowds if self.whole else self.standings

    def verdict(self) -> list[str]:
        """Say which method of each kind errs least, and what it gains on the kind's plainest."""
        from workbench.ranking.leaderboard import BASELINE

        sentences = self._whole_verdict()
        for kind, rows in self.standings.groupby("kind", sort=False):
            placed = rows[(rows["place"] != "–") & ~rows["method"].isin(YARDSTICKS)]
            if placed.empty:
                continue
            best = placed.sort_values("less", kind="stable").iloc[0]
            plainest = BASELINE[str(kind)]
            sentence = f"{KINDS[str(kind)]}: {best['method']} errs least, {percent(best['error'])}"
            if best["method"] != plainest:
                sentence += f", {points(best['less'])} than {plainest}{self._interval_of(best)}"
            sentences.append(f"{sentence}.")
        return sentences[:MOST]

    def _interval_of(self, best: pd.Series[Any]) -> str:
        """Say where the crowds do not tell the best from the plainest."""
        if best["high"] < 0:
            return ""
        crowds = "this one crowd does" if len(self.crowds) == 1 else f"these {len(self.crowds)} do"
        return f": {crowds} not tell the two apart"

    def brief(self) -> str:
        """Lay out the errors of the methods, by kind."""
        columns = {key: COLUMNS[key] for key in ("place", "method", "less", "over", "error")}
        parts = [(title, rows, columns) for title, rows in self._tables()]
        if self.whole:
            names = ("place", "method", "less", "over", "worst", "where", "error")
            few = {key: WHOLE_COLUMNS[key] for key in names}
            parts = [(WHOLE, self._whole_rows(), few), *parts]
        return "\n\n".join(f"{title}\n\n{tabled(rows, these)}" for title, rows, these in parts)

    def details(self) -> str:
        """Lay the standings out by kind, and say what was left out."""
        parts = [f"{title}\n\n{tabled(rows, these)}" for title, rows, these in self._all_tables()]
        return page(self._head(), *parts, notes=[*WHOLE_NOTES, *NOTES, *self._absent()])

    def markdown(self) -> str:
        """Write the standings for a page, headings of the third level."""
        lines = [f"{self._head()}."]
        for title, rows, these in self._all_tables():
            heads = [head for head, _ in these.values()]
            lines += ["", f"### {title}", "", _row(heads), _row(["---"] * len(heads))]
            lines += [_row([shown(row[at], how) for at, (_, how) in these.items()]) for row in rows]
        notes = (*WHOLE_NOTES, *NOTES, *self._absent(brief=True))
        return "\n".join([*lines, "", *(f"- {note}" for note in notes)]) + "\n"

    def plot(self) -> Figure:
        """Draw aggregators beside a majority on whole crowds; without them, a panel a crowd."""
        if not self.whole:
            return self.study.plot("curves")
        from workbench.plots import study
        from workbench.ranking.whole_crowds import chart

        return study.chart(chart(self.points))

    def report(self, out: str | Path = "leaderboard.html") -> Report:
        """Write the page of it: tables, curves, provenance."""
        names = [*(["whole-crowds"] if self.whole else []), self.study.name]
        return report(self.study.store, out, names)

    def _whole_verdict(self) -> list[str]:
        """Say which aggregator errs least without gold; where none was asked for, what was run."""
        if not self.whole:
            return [f"{self._head()}."]
        placed = self.on_whole_crowds[self.on_whole_crowds["place"] != "–"]
        best = placed.iloc[0]
        return [
            f"Without gold, all labels there: {best['method']} errs least on "
            f"{_crowds(best['crowds'], 'whole ')}, {percent(best['error'])}, "
            f"{points(best['less'])} than a majority"
            f"{self._interval_of(best)}."
        ]

    def _whole_rows(self) -> list[dict[Any, Any]]:
        rows = self.on_whole_crowds
        over = [_over(*ends) for ends in zip(rows["low"], rows["high"], strict=True)]
        return rows.assign(over=over).to_dict("records")

    def _all_tables(self) -> list[tuple[str, list[dict[Any, Any]], Columns]]:
        tables = [(title, rows, COLUMNS) for title, rows in self._tables()]
        return [(WHOLE, self._whole_rows(), WHOLE_COLUMNS), *tables] if self.whole else tables

    def _head(self) -> str:
        asked = self.study
        return (
            f"{_crowds(len(self.crowds))}, size {asked.size}; {asked.repetitions} draws of tasks, "
            f"controls and labels, seed {asked.seed}"
        )

    def _tables(self) -> list[tuple[str, list[dict[Any, Any]]]]:
        rows = self.standings.assign(over="", even_over="")
        for name, low, high in (("over", "low", "high"), ("even_over", "even_low", "even_high")):
            rows[name] = [_over(*ends) for ends in zip(rows[low], rows[high], strict=True)]
        groups = rows.groupby("kind", sort=False)
        return [(TITLES[str(kind)], own.to_dict("records")) for kind, own in groups]

    def _absent(self, brief: bool = False) -> list[str]:
        """What was left out; `brief`: without what is this machine's own."""
        missing = [f"not fetched: {name}: {why}" for name, why in self.missing.items()]
        if missing and brief:
            missing = [f"not fetched (`workbench data fetch NAME`): {', '.join(self.missing)}"]
        rows = self.refused.itertuples(index=False)
        refused = [
            study.table.dropna(subset=["refused"])
            for study in self.whole
            if "refused" in study.table
        ]
        whole = [
            f"refused, by {method} on {', '.join(dict.fromkeys(own['crowd']))}: {reason:.200}"
            for table in refused
            for (method, reason), own in table.groupby(["method", "refused"], sort=False)
        ]
        return [
            *missing,
            *whole,
            *(f"not run: {row.kind} {row.methods} on {row.crowds}: {row.reason}" for row in rows),
        ]

    def _payload(self) -> dict[str, Any]:
        tables = picked(self, "standings", "errors", "refused")
        return {
            **picked(self.study, "size", "repetitions", "seed"),
            **picked(self, "crowds", "missing"),
            "whole_crowds": self.on_whole_crowds.to_dict("records"),
            **{name: table.to_dict("records") for name, table in tables.items()},
        }


def _over(low: float, high: float) -> str:
    """Ends of an interval in words."""
    return "–" if pd.isna(low) else f"{low:+.3f} to {high:+.3f}"


def _row(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |".replace(" to ", "\u00a0to\u00a0")


def leaderboard(
    size: str = "small",
    *,
    kinds: Sequence[str] = (),
    crowds: Sequence[str] = (),
    plugins: Sequence[str | Path] = (),
    results: Sequence[str | Path] = (),
    repetitions: int | None = None,
    seed: int = 0,
    store: str | Path = STORE,
    processes: int | None = None,
    stop: Event | None = None,
    progress: Callable[[Progress], None] | bool = False,
) -> Leaderboard:
    """Compare all methods to aggregate, hire, learn and collect on recorded crowds.

    Parameters
    ----------
    size
        60 tasks per crowd for all but aggregators (small), whole crowds (paper), a stand-in
        (smoke).

        Three draws, five, or what it takes; aggregators ten orders of each task's labels, thirty or
        two.
    kinds
        "aggregator", "rule", "learner", "policy"; all when empty. A majority is always there.
    crowds
        Data sets; all when empty. What is neither here nor to be downloaded is `missing`.
    plugins
        Python files of your own that register what is used.
    results
        Others' results on whole crowds, in benchopt's columns (.csv, .parquet). Repeatable.
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
        An unknown kind or crowd, none that can be had, or nothing that runs on it; or a file of
        results that cannot be read.

    Examples
    --------
    >>> import workbench as wb
    >>> board = wb.leaderboard("smoke", kinds=["rule"], repetitions=1, processes=1)
    >>> sorted(set(board.to_frame()["kind"])), board.crowds
    (['aggregator', 'rule'], ('simulated',))
    """
    from workbench.ranking.benchopt_files import read_results
    from workbench.ranking.methods import KINDS, marked, methods
    from workbench.ranking.recorded_crowds import STAND_IN

    for file in plugins:
        load_plugin(file)
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(f"kinds has {kind!r}: choose from {', '.join(KINDS)}")
    names = list(crowds) or ([STAND_IN] if size == "smoke" else datasets.class_datasets())
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
    foreign = tuple(read_results(file) for file in results)
    whole: tuple[StudyResult, ...] = ()
    if not kinds or "aggregator" in kinds:
        run = _on_whole_crowds(
            there,
            repetitions,
            size=size,
            seed=seed,
            store=store,
            processes=processes,
            stop=stop,
            progress=progress,
        )
        whole = (run,)
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
    return Leaderboard(study, tuple(there), missing, whole, foreign)


def _on_whole_crowds(
    crowds: Sequence[str], orders: int | None, size: str, **more: Any
) -> StudyResult:
    """Run the aggregators of the registry, and the quick ones of peers."""
    from workbench.ranking.methods import marked
    from workbench.ranking.whole_crowds import ORDERS, quick

    many = {"smoke": 2, "small": ORDERS, "paper": 3 * ORDERS}.get(size, ORDERS)
    values = {
        "crowd": [marked(name, datasets.DATASETS) for name in crowds],
        "order": list(range(orders or many)),
        "method": quick(),
    }
    return run_study("whole-crowds", size=size, set=values, **more)


def export_benchopt(
    folder: str | Path,
    *,
    crowds: Sequence[str] = (),
    orders: int = 10,
    plugins: Sequence[str | Path] = (),
) -> list[Path]:
    """Write a benchmark of benchopt: our crowds and aggregators, for solvers of others.

    Parameters
    ----------
    folder
        Where nothing stands yet; then `benchopt run FOLDER`, with the workbench installed.
    crowds
        Data sets by name. When empty those that are at hand, since a benchmark ends at the first
        that cannot be had; all where none is.
    orders
        Orders of each task's labels, which are those of `leaderboard` with seed 0.
    plugins
        Files of one's own that register methods or crowds; they are copied there.

    Returns
    -------
    The files. What benchopt writes goes into `leaderboard(results=[FILE])`.

    Raises
    ------
    InputError
        An unknown crowd, a number below 1, or a file that is there already.
    """
    from workbench.ranking.benchopt_files import benchmark

    for file in plugins:
        load_plugin(file)
    here = [name for name in datasets.class_datasets() if datasets.describe(name)["present"]]
    names = [datasets.named(name).name for name in crowds] or here or datasets.class_datasets()
    content = benchmark(names, checks.count("orders", orders, 1))
    paths = [Path(folder) / name for name in content]
    for path in paths:
        if path.exists():
            raise InputError(f"{path}: is there already; name another folder")
    for path, text in zip(paths, content.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return paths


def _crowds(count: int, kind: str = "") -> str:
    return f"{count} {kind}crowd{'' if count == 1 else 's'}"
