"""What `compare` gives back: every method on one crowd, its verdict, table and picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from crowd_models.gains import gain_of
from workbench.accuracy.independence import ErrorCorrelation
from workbench.api.result import Figure, Result, names, page, percent
from workbench.base.text import Columns, counted, shown, tabled
from workbench.comparison.instances import FOLDS
from workbench.comparison.protocol import EVERYBODY


def _number(value: float | None) -> str:
    """Write whole numbers as such, and others with one decimal."""
    return shown(value, ".0f" if value is not None and value % 1 == 0 else ".1f")


def _price(value: float | None) -> str:
    """Write a price, in whatever unit."""
    small = value is not None and value % 1 and value < 100
    return shown(value, ".4g") if small else _number(value)


COLUMNS: Columns = {
    "method": ("method", ""),
    "promise": ("promise", ""),
    "labels_gold": ("gold", _number),
    "labels_task": ("labels", _number),
    "cost": ("cost", _price),
    "cost_gold": ("gold cost", _price),
    "objective": ("objective", _price),
    "lower_bound": ("bound", _price),
    "ratio": ("ratio", ".4f"),
    "tasks_covered": ("covered", _number),
    "error_bound": ("error ≤", ".4f"),
    "error_exact": ("exact", ".4f"),
    "error_measured": ("measured", ".4f"),
    "error_se": ("± se", ".4f"),
    "error_low": ("90 % from", ".4f"),
    "error_high": ("to", ".4f"),
    "kept": ("ε is", ""),
    "seconds": ("seconds", ".3g"),
}
"""Columns of the table that a person reads."""
LEGEND = (
    "gold, labels: bought on gold and on real tasks; cost: price of both, a gold label at its "
    "worker's price like any other; objective: price of those on real tasks; bound: proven "
    "lower bound on it, of the program with gain {gain} ({source}), and ratio: objective / bound "
    "of that program; covered: tasks that gather {asked}; error: {bound}, exact for the "
    "assignment if errors are independent, both by the skills that the methods are given, and "
    "measured, answers that are missing counted as wrong, with the 90 % interval for {left}; ε is "
    "kept where all of the interval is at most the error asked for, missed where it is above, else "
    "open."
)
BY_FOLDS = (
    "measured: the gold is parted into {folds} folds; whatever a method takes from gold (skills, "
    "weights, whom to ask) comes from the other folds, and its answers to the fold are judged. "
    "Costs, predicted errors and tasks without an answer are those with all gold."
)
BOUNDS = (
    "promise: a bound sees what no buyer can ({sees}), and is not a way to buy labels; ratios are "
    "over it."
)
ASKED = {
    "hoeffding": ("2 ln(1/ε) of quality (2p − 1)²", "Lemma 1's bound"),
    "bhattacharyya": (
        "ln(1/(2ε)) of −ln(2√(p(1−p)))",
        "Bhattacharyya's bound where skills are known, else Lemma 1's",
    ),
    "joint": (
        "cover of all pairs of classes, Σ √(ρ_k ρ_l) exp(−Σ gain) ≤ ε",
        "that sum",
    ),
}
"""By gain: what a covered task gathers, and which bound on its error stands in the table."""
CLOSED_LOOP = (
    "label until sure: no gold, workers in order of arrival, a task closed once its posterior "
    "error is at most ε; its bound is the information limit at its measured error (what every "
    "policy pays in expectation, even one that knows all skills), where skills are known."
)
DAWID_SKENE = (
    "Dawid–Skene: smoothed, on as many labels drawn at random; no error is predicted of it."
)
ROBUST = (
    "robust: goes by what quality costs those met so far, the gold sample first; with U and L of "
    "the crowd it would have a promise for any order, without them none "
    "(docs/proofs/robust-policy.md)."
)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Every method on one crowd: what its labels cost, and how wrong they are.

    Attributes
    ----------
    table
        A row a method, means over trials; columns as `workbench.comparison.rows.ComparisonRow`.
    trials
        A row a trial and method.
    crowd
        What the crowd is called.
    tasks, tasks_all, workers, preliminary
        How many tasks are held to (on average), of how many; workers with tasks, workers sampled
        before.
    left_out
        Tasks that the workers cannot cover, left out for every method.
    notes
        What the reader of the table must know.
    settings
        What was asked for.
    gain
        What a label counts in the program whose bound and ratio are shown.
    correlation
        How errors on gold go together, of the first trial; None on simulated crowds.
    classes
        Classes of label.
    not_run
        By name of a method that was not run, why.
    """

    table: pd.DataFrame
    trials: pd.DataFrame
    crowd: str
    tasks: int
    tasks_all: int
    workers: int
    preliminary: int
    left_out: tuple[Any, ...]
    notes: tuple[str, ...]
    settings: dict[str, Any]
    gain: str
    versions: dict[str, str]
    pictured = True

    correlation: ErrorCorrelation | None = None
    classes: int = 2
    not_run: Mapping[str, str] = field(default_factory=dict)

    def to_frame(self) -> pd.DataFrame:
        """Give the table, a row a method."""
        return self.table

    @property
    def priced(self) -> bool:
        """Whether labels have prices."""
        return self.settings["costs"] is not None

    def verdict(self) -> list[str]:
        """Say on what is compared, and the cheapest method of each promise that is kept."""
        judged = self.table[self.table["kept"].notna()]
        if judged.empty:
            return []
        kinds = [
            self._cheapest(judged[judged["promise"] == promise], who)
            for promise, who in (
                ("each task", "that promise the error of each task"),
                ("nothing", "that promise nothing"),
            )
        ]
        found = {name: sentence for name, sentence in kinds if name}
        return [
            f"{self._scope}.",
            *found.values(),
            *self._others(judged),
            *self._kept_too(judged[~judged["method"].isin(found)]),
            *self._majority(),
        ]

    def _kept_too(self, rows: pd.DataFrame) -> list[str]:
        """Name methods asked for by name that keep the error and are not the cheapest."""
        asked = self.settings["methods"] or []
        rows = rows[(rows["kept"] == "kept") & rows["method"].isin(asked)]
        parts = [
            f"{row['method']} ({self._cost(row)}, {percent(row['error_measured'])})"
            for row in rows.sort_values("cost", kind="stable").to_dict("records")
        ]
        verb = "keeps" if len(parts) == 1 else "keep"
        return [f"{names(parts, 6)} {verb} the error asked for too."] if parts else []

    @property
    def _scope(self) -> str:
        """How many methods, on which tasks, and why the others are left out."""
        bounds = int((self.table["promise"] == "bound").sum())
        beside = f" and {counted(bounds, 'bound')}" if bounds else ""
        head = f"{counted(len(self.table) - bounds, 'method')}{beside} on {self.crowd}"
        if not self.left_out:
            return f"{head}: {self.tasks:,} tasks, {self.workers} workers"
        asked, out = percent(self.settings["epsilon"]), self.tasks_all - self.tasks
        if 2 * self.tasks >= self.tasks_all:
            return (
                f"{head}: {self.tasks:,} of {self.tasks_all:,} tasks, {self.workers} workers; not "
                f"even all their labels bring the other {out:,} to {asked}"
            )
        return (
            f"{head}: only {self.tasks:,} of {self.tasks_all:,} tasks, {self.workers} workers; not "
            f"even all their labels bring the others to {asked}, and what follows is about these "
            f"{self.tasks:,} alone"
        )

    def _cheapest(self, rows: pd.DataFrame, who: str) -> tuple[str, str]:
        """Name the cheapest method of a promise that keeps the error asked for, and say so."""
        asked = percent(self.settings["epsilon"])
        for kept, by, sentence in (
            (
                "kept",
                "cost",
                f"Of methods {who}, the cheapest shown to keep {asked} in the mean is",
            ),
            (
                "open",
                "cost",
                f"Of methods {who}, none is shown to keep {asked} in the mean; the cheapest that "
                "may is",
            ),
            (
                "missed",
                "error_measured",
                f"Methods {who} all miss {asked} in the mean; the least wrong is",
            ),
        ):
            found = rows[rows["kept"] == kept].sort_values(by, kind="stable")
            if len(found):
                row = found.iloc[0].to_dict()
                name = row["method"]
                return name, f"{sentence} {name}, {self._cost(row)}: {self._wrong(row)}."
        return "", ""

    def _wrong(self, row: Mapping[Any, Any]) -> str:
        """How often a method's answers are wrong, with n and the interval."""
        missing = " or missing" if row["blank"] else ""
        low, high = percent(row["error_low"]), percent(row["error_high"])
        return (
            f"wrong{missing} on {percent(row['error_measured'])} of {row['tasks_measured']:,.0f} "
            f"{self._judges}, measured (90 % interval {low} to {high})"
        )

    def _cost(self, row: Mapping[Any, Any]) -> str:
        return f"for {row['cost']:.6g}" if self.priced else f"with {row['cost']:.6g} labels"

    @property
    def _judges(self) -> str:
        return "gold tasks" if self.recorded else "tasks"

    @property
    def recorded(self) -> bool:
        """Whether the labels are on record; otherwise the crowd is simulated."""
        return self.settings["crowd"] is None

    def _others(self, judged: pd.DataFrame) -> list[str]:
        """Name who misses the error asked for, and of whom it is open."""
        judged = judged[judged["method"] != EVERYBODY]
        parts = []
        for kept, said in (
            ("missed", "miss the error asked for"),
            ("open", "may keep it, or miss it"),
        ):
            rows = judged[judged["kept"] == kept]
            if len(rows):
                pairs = zip(rows["method"], rows["error_measured"], strict=True)
                verb = said if len(rows) > 1 or kept == "open" else "misses the error asked for"
                parts.append(f"{names([f'{m} ({percent(e)})' for m, e in pairs], 6)} {verb}")
        return [f"{'; '.join(parts)}."] if parts else []

    def _majority(self) -> list[str]:
        """Say what everybody's majority gives, where labels are on record."""
        rows = self.table[self.table["method"] == EVERYBODY]
        return [
            f"All {row['labels_task']:,.0f} labels on record by majority: {self._wrong(row)}, at a "
            f"cost of {row['cost']:,.6g}."
            for row in rows.to_dict("records")
            if not pd.isna(row["error_measured"])
        ]

    def brief(self) -> str:
        """Lay out what each method promises and costs, and how often it is wrong; bounds last."""
        shown_here = (
            "method",
            "promise",
            "cost",
            "error_measured",
            "error_low",
            "error_high",
            "kept",
        )
        last = self.table["promise"] == "bound"
        rows = self.table.assign(last=last).sort_values(["last", "cost"], kind="stable")
        # Nobody can buy what a bound is measured by: the error stands among the details.
        errors = ["error_measured", "error_low", "error_high"]
        rows.loc[rows["last"], errors] = np.nan
        table = tabled(rows.to_dict("records"), {key: COLUMNS[key] for key in shown_here})
        return "\n\n".join([table, *self._not_run()])

    def _not_run(self) -> list[str]:
        """Say which methods were not run, and why."""
        by_reason: dict[str, list[str]] = {}
        for name, why in self.not_run.items():
            by_reason.setdefault(why, []).append(name)
        return [f"Not run, {why}: {names(left, 20)}." for why, left in by_reason.items()]

    def details(self) -> str:
        """Lay the table out, and say what must be known to read it."""
        settings = self.settings
        head = (
            f"{self.crowd}: {self._kept_tasks}, {self.workers} workers after {self.preliminary} "
            f"sampled, ε = {settings['epsilon']:g}, gain {self.gain}, seed {settings['seed']}"
            f"{self._mean}"
        )
        columns = {k: v for k, v in COLUMNS.items() if k != "cost_gold" or self.priced}
        gathered, bound = ASKED[self.gain if self.classes == 2 else "joint"]
        program = {"gain": self.gain, "source": gain_of(self.gain).source}
        folds = [BY_FOLDS.format(folds=FOLDS)] if self.recorded else []
        notes = [
            LEGEND.format(**program, asked=gathered, bound=bound, left=self._left),
            BOUNDS.format(sees="all gold" if self.recorded else "true skills"),
            *folds,
            DAWID_SKENE,
            *((CLOSED_LOOP, ROBUST) if self.classes == 2 else ()),
            *self._not_run(),
            *self.notes,
        ]
        if self.gain != "hoeffding" and settings["skills"] == "plug-in":
            notes.append(
                "plug-in skills take a worker without a wrong answer for infallible: with log-odds "
                "tasks are left short that were believed covered; --skills fitted mends it."
            )
        if self.correlation is not None and self.correlation.shown:
            notes.append(
                f"warning: errors on your gold go together (mean correlation "
                f"{self.correlation.correlation:.2f} given the class): bounds and exact errors, "
                "which take workers for independent, are too good; go by the error measured "
                "(--json tells how many independent workers the voters of a task are worth)."
            )
        short = self.table[self.table["ratio"] < 1 - 1e-9]
        if len(short):
            some = names(short["method"].tolist(), 10)
            notes.append(
                "a ratio below 1 pays less than covering every task takes, and is no bargain where "
                f"the error asked for is not kept: {some}."
            )
        if many := len(self.left_out):
            some = names(self.left_out, 10, f" and {many - 10} more (--json names them)")
            notes.append(
                f"left out for every method, {many} tasks that the workers cannot cover at this ε: "
                f"{some}; a larger --epsilon covers more."
            )
        return page(head, tabled(self.table.to_dict("records"), columns), notes=notes)

    @property
    def _kept_tasks(self) -> str:
        of = f" of {self.tasks_all}" if self.left_out else ""
        return f"{self.tasks}{of} tasks"

    @property
    def _left(self) -> str:
        """The tasks that intervals are for."""
        return "the tasks without gold, or any further ones" if self.recorded else "further tasks"

    @property
    def _mean(self) -> str:
        trials = self.settings["trials"]
        return f", mean of {trials} trials" if trials > 1 else ""

    def plot(self) -> Figure:
        """Draw what labels cost and how wrong they are, a line for each method."""
        from workbench import plots

        return plots.comparison(
            self.table,
            tasks=self.tasks,
            epsilon=self.settings["epsilon"],
            title=f"{self.crowd}: {self._kept_tasks}, {self.workers} workers{self._mean}",
            priced=self.priced,
            recorded=self.recorded,
        )

    def _payload(self) -> dict[str, Any]:
        hidden = ("table", "trials", "correlation")
        payload = {k: v for k, v in super()._payload().items() if k not in hidden}
        rows: list[dict[str, Any]] = []
        for row in self.table.to_dict("records"):
            ends = row.pop("error_low"), row.pop("error_high")
            row["error_interval"] = None if pd.isna(ends[0]) else ends
            row["error_independent"] = row["error_exact"]
            rows.append({str(name): value for name, value in row.items()})
        return {"rows": rows, **payload}
