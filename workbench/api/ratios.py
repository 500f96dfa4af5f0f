"""Competitive ratios: online policies on problems of given data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem
from workbench.api.meter import Progress, meter
from workbench.api.result import Figure, Result, names, page, percent, picked
from workbench.assignment.registry import POLICIES
from workbench.base import checks
from workbench.base.errors import InputError
from workbench.base.text import Columns, counted, shown, tabled
from workbench.base.writing import write_whole
from workbench.comparison.arrivals import Order, ProblemArrivals
from workbench.comparison.pooled import Processes
from workbench.comparison.ratios import play_all, summed_up
from workbench.solving import solve, versions

if TYPE_CHECKING:
    from workbench.api.sampling import SampleOptions

MOST_PROBLEMS = 100_000
"""Problems at most."""
MOST_PROCESSES = 1024
SECONDS = 20.0
"""In which a picture's optimum is looked for."""
ENOUGH = 0.99
"""Share of tasks that a method covers which is said to cover them."""


def share(value: float) -> str:
    """Write a share covered so that 99.9 % is not called all."""
    return percent(value, 3)


def _more(value: float | None) -> str:
    return shown(value, "+.3f")


COLUMNS: Columns = {
    "method": ("method", ""),
    "ratio": ("ratio", ".3f"),
    "ratio_low": ("95 % from", ".3f"),
    "ratio_high": ("to", ".3f"),
    "covered": ("covered", share),
    "ratio_more": ("more", _more),
    "ratio_more_low": ("95 % from", _more),
    "ratio_more_high": ("to", _more),
    "covered_more": ("covered more", _more),
    "ratio_worst": ("worst ratio", ".3f"),
    "covered_least": ("least covered", share),
    "all_covered": ("runs that cover all", share),
}
"""Columns of the table that a person reads."""
SHOWN = ("method", "ratio", "ratio_low", "ratio_high", "covered", "ratio_worst", "covered_least")
"""Those of the first screen."""
LEGEND = (
    "ratio: what a policy's labels cost over the proven lower bound on the offline optimum, which "
    "knows everybody who comes; covered: share of tasks that gather what they require. A policy "
    "that covers fewer tasks pays less: a ratio says nothing without the share beside it.",
    "more: than {first}, on the same orders of arrival; intervals of 95 % (Student) are over "
    "{units}.",
    "policies are given true skills, each worker's as she comes. Those that look at workers "
    "beforehand see {sample} for each who comes, drawn from the problem's own with replacement; "
    "what it costs to test them is not counted.",
)


@dataclass(frozen=True, eq=False, repr=False)
class WorstRun(Result):
    """The run of a comparison on which a method did worst, and all that it takes to see it again.

    Attributes
    ----------
    method
        Who assigned.
    aim
        By what it is the worst: `ratio`, or `cover`.
    problem, order
        The problem, and the draw of the order of arrival and of the sample.
    ratio, covered
        Cost over `bound`, and the share of tasks covered.
    cost, bound
        Of the labels, and what is proven of the optimum.
    on_infeasible
        What the method did when its sample could not cover the tasks.
    workers
        Names of the workers; None for their columns in the problem.
    """

    method: str
    aim: str
    problem: AssignmentProblem
    order: Order
    ratio: float
    covered: float
    cost: float
    bound: float
    on_infeasible: Any = "relax"
    workers: tuple[object, ...] | None = None
    pictured = True

    @property
    def arrival(self) -> tuple[int, ...]:
        """Workers in the order in which they came: columns of the problem."""
        return tuple(self.order.arrival(self.problem.shape[1]).tolist())

    @property
    def sample(self) -> tuple[int, ...]:
        """Workers like whom those are that were seen before."""
        return tuple(self.order.sample(self.problem.shape[1]).tolist())

    def replay(self, method: str | None = None) -> WorstRun:
        """Let the method, or another, meet the same order again."""
        name = self.method if method is None else method
        again = self._arrivals.play(name, self.order)
        return replace(
            self,
            method=name,
            cost=again.cost,
            covered=again.covered,
            ratio=again.cost / self.bound,
        )

    @property
    def _arrivals(self) -> ProblemArrivals:
        return ProblemArrivals(self.problem, self.on_infeasible, self.workers)

    @property
    def _come(self) -> list[object]:
        """The workers as they came, by name."""
        return [at if self.workers is None else self.workers[at] for at in self.arrival]

    def to_frame(self) -> pd.DataFrame:
        """Give the run in a row."""
        return pd.DataFrame([{"method": self.method, **self._numbers()}])

    def details(self) -> str:
        """Say how bad it was, where, and how to see it again."""
        come = names(self._come, 20)
        return (
            f"{self.method}: {self.ratio:.3f} times the proven bound {self.bound:g}, "
            f"{share(self.covered)} of the tasks covered, on problem {self.order.problem}, trial "
            f"{self.order.trial}, seed {self.order.seed}.\n"
            f"Workers came in the order {come}; .replay() plays it again."
        )

    def plot(self) -> Figure:
        """Draw what each label counts, in order of arrival, what the method chose, and an optimum.

        The optimum is looked for anew, for `SECONDS`.
        """
        from workbench import plots

        problem, come = self.problem, np.array(self.arrival)
        run = self._arrivals.chosen(self.method, self.order)
        chosen = np.zeros(problem.shape, dtype=bool)
        chosen[run.task, run.worker] = True
        best = solve(problem, "ip", time_limit=SECONDS)
        said = f"{self.method}: cost {self.cost:g}, {share(self.covered)} of the tasks covered"
        drawn = {said: chosen}
        if best.assignment is not None:
            proven = "optimum" if best.gap == 0 else "the cheapest plan found"
            drawn[f"{proven}: cost {best.objective:g}"] = best.assignment[:, come] > 0.5
        counts = np.where(problem.mask, problem.quality, np.nan)[:, come]
        return plots.choices(
            counts,
            drawn,
            workers=self._come,
            tasks=range(problem.shape[0]),
            title=f"{self.method} on problem {self.order.problem}, trial {self.order.trial}: each "
            f"task is to gather {problem.requirement[0]:.3g}",
        )

    def _numbers(self) -> dict[str, Any]:
        return {
            **picked(self.order, "problem", "trial", "seed", "gamma"),
            **picked(self, "ratio", "covered", "cost", "bound"),
        }

    def _payload(self) -> dict[str, Any]:
        return {
            **picked(self, "method", "aim", "arrival", "sample"),
            **self._numbers(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Ratios(Result):
    """Every method on every problem and order: what it paid over the optimum, what it covered.

    Attributes
    ----------
    table
        A row a method, as `to_frame` gives it.
    plays
        A row a problem, trial and method: `cost`, `labels`, `covered`, `ratio`.
    optima
        A row a problem: `cost` and proven `bound` of the offline optimum, whether the two meet.
    problems
        As they were given.
    left_out
        By number of a problem, why nothing can be compared with it.
    settings
        What was asked for.
    workers
        Names of the workers, where skills were given.
    """

    table: pd.DataFrame
    plays: pd.DataFrame
    optima: pd.DataFrame
    problems: tuple[AssignmentProblem, ...]
    left_out: dict[int, str]
    settings: dict[str, Any]
    versions: dict[str, str]
    workers: tuple[object, ...] | None = None
    pictured = True

    def to_frame(self) -> pd.DataFrame:
        """Give the table, a row a method: ratio and share covered, with 95 % intervals."""
        return self.table

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods; the others are compared with the first."""
        return tuple(self.table["method"])

    def verdict(self) -> list[str]:
        """Say on what is compared, who pays least of those that cover, and who pays with cover."""
        covering = self.table[self.table["covered"] >= ENOUGH].sort_values("ratio", kind="stable")
        sentences = [f"{self._scope}. {self._optimal}"]
        if covering.empty:
            best = self.table.sort_values("covered", ascending=False, kind="stable").iloc[0]
            sentences.append(
                f"No method covers {percent(ENOUGH)} of the tasks in the mean; the most, "
                f"{best['method']}, {self._paid(best)}."
            )
            rest = self.table[self.table["method"] != best["method"]]
        else:
            best = covering.iloc[0]
            sentences.append(
                f"Of those that cover {percent(ENOUGH)} of the tasks and more, {best['method']} "
                f"pays least: {self._paid(best)}."
            )
            rest = self.table[self.table["method"] != best["method"]]
            less = rest["ratio"] < best["ratio"]
            sentences += self._beside("For less, and fewer tasks covered", rest[less])
            rest = rest[~less]
        asked = rest[rest["method"].isin(self.settings["told"])]
        return [*sentences, *self._beside("Beside them", asked)]

    def _beside(self, what: str, rows: pd.DataFrame) -> list[str]:
        """Name further methods, each with its ratio and what it covers."""
        parts = [
            f"{row['method']} ({row['ratio']:.3f}, {share(row['covered'])} covered)"
            for row in rows.to_dict("records")
        ]
        return [f"{what}: {names(parts, 6)}."] if parts else []

    @property
    def _scope(self) -> str:
        orders = counted(self.settings["trials"], "order")
        each = "" if len(self.optima) == 1 else " each"
        out = f" ({len(self.left_out)} left out)" if self.left_out else ""
        return (
            f"{counted(len(self.methods), 'method')} on {counted(len(self.optima), 'problem')}"
            f"{out}, {orders} of arrival{each}"
        )

    @property
    def _optimal(self) -> str:
        """Whether ratios are over optima, or over bounds."""
        open_ = int((~self.optima["proven"]).sum())
        if not open_:
            return "Every optimum is proven."
        whose = "all" if open_ == len(self.optima) else counted(open_, "problem")
        return (
            f"Of {whose} the optimum is not proven: ratios there are over a lower bound, and may "
            "be too large."
        )

    def _paid(self, row: pd.Series[Any]) -> str:
        low, high = row["ratio_low"], row["ratio_high"]
        known = "" if math.isnan(low) else f" (95 % interval {low:.3f} to {high:.3f})"
        return (
            f"{row['ratio']:.3f} times the optimum{known}, {share(row['covered'])} of the tasks "
            "covered"
        )

    def brief(self) -> str:
        """Lay out what each method pays and covers."""
        return tabled(self.table.to_dict("records"), {key: COLUMNS[key] for key in SHOWN})

    def details(self) -> str:
        """Lay the table out, with differences to the first method and what must be known."""
        units = "problems" if len(self.optima) > 1 else "orders of its one problem"
        first, sample = self.methods[0], f"{self.settings['gamma']:g} workers"
        notes = [line.format(first=first, units=units, sample=sample) for line in LEGEND]
        notes.append(self._optimal)
        for why in dict.fromkeys(self.left_out.values()):
            out = [str(at) for at, reason in self.left_out.items() if reason == why]
            notes.append(f"left out, for {why}: problem {names(out, 10)}.")
        return page(
            f"{self._scope}, seed {self.settings['seed']}",
            tabled(self.table.to_dict("records"), COLUMNS),
            notes=notes,
        )

    def plot(self) -> Figure:
        """Draw the distribution of the ratio, differences in pairs, and what is covered beside."""
        from workbench import plots

        return plots.ratios(self.plays, self.table, title=self._scope)

    def worst(self, method: str | None = None, *, aim: str = "ratio") -> WorstRun:
        """Find the run on which a method did worst, to be replayed.

        Parameters
        ----------
        method
            Of which method; None for the worst of all.
        aim
            `ratio`, the greatest ratio, or `cover`, the fewest tasks covered; of equals the run
            that is worse by the other.

        Raises
        ------
        InputError
            No such method or aim.
        """
        if aim not in ("ratio", "cover"):
            raise InputError(f"aim is {checks.show(aim)}: give ratio or cover")
        if method is not None and method not in self.methods:
            raise InputError(
                f"no method {method!r:.60} was compared: there are {names(self.methods, 20)}"
            )
        rows = self.plays if method is None else self.plays[self.plays["method"] == method]
        by = ["ratio", "covered"] if aim == "ratio" else ["covered", "ratio"]
        rising = [name == "covered" for name in by]
        row = rows.sort_values(by, ascending=rising, kind="stable").iloc[0]
        number, trial = int(row["problem"]), int(row["trial"])
        return WorstRun(
            row["method"],
            aim,
            self.problems[number],
            Order(self.settings["seed"], number, trial, self.settings["gamma"]),
            row["ratio"],
            row["covered"],
            row["cost"],
            self._bound(number),
            self.settings["infeasible"],
            self.workers,
        )

    def _bound(self, number: int) -> float:
        return float(self.optima.set_index("problem")["bound"].loc[number])

    def to_latex(self) -> str:
        """Give the table in LaTeX, for the package booktabs."""
        rows = [
            [
                _tex(row["method"]),
                _with_interval(row, "ratio", ".3f"),
                _with_interval(row, "covered", ".3f"),
                _with_interval(row, "ratio_more", "+.3f"),
                f"{row['ratio_worst']:.3f}",
            ]
            for row in self.table.to_dict("records")
        ]
        head = ["method", "ratio", "covered", f"ratio $-$ {_tex(self.methods[0])}", "worst ratio"]
        lines = [" & ".join(cells) + r" \\" for cells in [head, *rows]]
        return "\n".join(
            [
                r"\begin{tabular}{lrrrr}",
                r"\toprule",
                lines[0],
                r"\midrule",
                *lines[1:],
                r"\bottomrule",
                r"\end{tabular}",
                f"% {self._scope}, seed {self.settings['seed']}; 95 % intervals. {self._optimal}",
                "",
            ]
        )

    def save(self, path: str | Path) -> Path:
        """Write the picture (.pdf, .png), the table (.csv, .tex) or every run (.runs.csv).

        Raises
        ------
        InputError
            Another ending, or a file that cannot be written.
        """
        target = Path(path)
        ending = target.suffix.lower()
        if target.name.lower().endswith(".runs.csv"):
            data = self.plays.to_csv(index=False).encode()
        elif ending == ".csv":
            data = self.table.to_csv(index=False).encode()
        elif ending == ".tex":
            data = self.to_latex().encode()
        elif ending in (".pdf", ".png"):
            from workbench import plots

            data = (plots.as_pdf if ending == ".pdf" else plots.as_png)(self.plot())
        else:
            raise InputError(f"{target}: give a name that ends with .pdf, .png, .csv or .tex")
        try:
            write_whole(target, data)
        except OSError as error:
            raise InputError(f"{target}: cannot be written ({error.strerror})") from None
        return target

    def _payload(self) -> dict[str, Any]:
        return {
            **picked(self, "left_out", "settings", "versions"),
            "rows": self.table.to_dict("records"),
            "problems": self.optima.to_dict("records"),
        }


def _with_interval(row: dict[Any, Any], name: str, form: str) -> str:
    """Write a mean, and its interval where there is one; a dash for none."""
    mean, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if math.isnan(mean):
        return "--"
    interval = "" if math.isnan(low) else f" [{low:{form}}, {high:{form}}]"
    return f"${mean:{form}}{interval}$"


def _tex(text: str) -> str:
    """Text in which LaTeX sees no command."""
    special = {**{sign: f"\\{sign}" for sign in "&%$#_{}"}, "\\": r"\textbackslash{}"}
    special |= {"[": "{[}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(letter, letter) for letter in text)


def ratios(
    problems: Iterable[AssignmentProblem],
    methods: Sequence[str] | None,
    *,
    sampling: SampleOptions,
    trials: int,
    processes: int,
    seed: int,
    progress: Progress,
    workers: tuple[object, ...] | None = None,
) -> Ratios:
    """Play online policies on problems of given data: `compare` has the parameters.

    Parameters
    ----------
    workers
        Names of the workers, of one problem.
    """
    given = tuple(_listed(problems))
    chosen = online_policies(methods)
    arrivals = []
    for at, problem in enumerate(given):
        try:
            arrivals.append(ProblemArrivals(problem, sampling.infeasible, workers))
        except InputError as error:
            raise InputError(f"problem {at}: {error}") from None
    with Processes(processes, chosen) as pool:
        runs = play_all(
            arrivals,
            chosen,
            trials=trials,
            gamma=sampling.gamma,
            time_limit=sampling.time_limit,
            seed=seed,
            processes=pool,
            done=meter(progress, "orders and optima"),
        )
    settings = {
        "methods": chosen,
        "told": _told(chosen, methods),
        **picked(sampling, "gamma", "infeasible", "time_limit"),
        "trials": trials,
        "seed": seed,
    }
    table = summed_up(runs.plays, chosen)
    return Ratios(
        table, runs.plays, runs.optima, given, runs.left_out, settings, versions(), workers
    )


def _told(chosen: Sequence[str], asked: Sequence[str] | None) -> list[str]:
    """Methods that a summary tells of in any case: those asked for by name, else the user's own."""
    own = set(POLICIES.from_files())
    return [name for name in chosen if asked is not None or name in own]


def online_policies(methods: Sequence[str] | None) -> tuple[str, ...]:
    """Names of the policies that are played, each once; all that could be used for None.

    Raises
    ------
    InputError
        A name that is not in the registry, or no name.
    """
    if methods is None:
        return tuple(name for name in POLICIES if POLICIES[name].call.online)
    if isinstance(methods, str):
        methods = [methods]
    for name in methods:
        POLICIES[name]
    if not methods:
        raise InputError("`methods` is empty: name one policy at least")
    return tuple(dict.fromkeys(methods))


def _listed(problems: Iterable[Any]) -> Iterator[AssignmentProblem]:
    """Give the problems, and see that they are such."""
    at = -1
    for at, problem in enumerate(problems):
        if not isinstance(problem, AssignmentProblem):
            raise InputError(
                f"problem {at} is {checks.type_name(problem)}: give wb.AssignmentProblem, one or "
                "many"
            )
        if at >= MOST_PROBLEMS:
            raise InputError(f"more than {MOST_PROBLEMS:,} problems: give fewer")
        yield problem
    if at < 0:
        raise InputError("no problem to compare on: give one at least")
