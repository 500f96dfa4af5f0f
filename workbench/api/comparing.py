"""`compare`: one crowd, and every method of assignment in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem
from crowd_models.gains import gain_of
from workbench.accuracy.independence import ErrorCorrelation
from workbench.api import inputs
from workbench.api.inputs import LabelTable, PerWorker, Tasks, Truth
from workbench.api.meter import Progress, meter
from workbench.api.ratios import MOST_PROCESSES, Ratios, ratios
from workbench.api.result import Figure, Result, names, page, percent, picked
from workbench.api.simulation import SimulatedCrowd
from workbench.api.skill_problems import is_skills, problem_of
from workbench.assignment.estimates import SkillEstimate, known_estimate
from workbench.assignment.weights import OnInfeasible
from workbench.base import checks
from workbench.base.errors import InputError
from workbench.base.text import Columns, counted, shown, tabled
from workbench.comparison import running as room
from workbench.comparison import two_classes
from workbench.comparison.instances import FOLDS, RecordedOptions
from workbench.comparison.pooled import Processes
from workbench.comparison.protocol import EVERYBODY, Instance, everybody
from workbench.comparison.rows import summarise
from workbench.comparison.two_classes import ComparedCrowd
from workbench.crowd import tables
from workbench.crowd.libraries import to_pandas
from workbench.solving import versions


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
    "assignment if errors are independent, both by the skills that the methods are told of, and "
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
    "robust: goes by what quality costs those met so far, the gold sample first; told U and L of "
    "the crowd it would have a promise for any order (docs/robust-policy.md), here it has none."
)

EPSILON = 0.05
"""Error each task may have, where none is given."""
MOST_GAMMA = 1000
"""Workers sampled at most for each worker who gets tasks."""
MOST_TRIALS = 100_000
"""Trials at most."""
MOST_GOLD = 1_000_000
"""Gold tasks of a worker and type at most."""


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
        return [f"{self._scope}.", *filter(None, kinds), *self._others(judged), *self._majority()]

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

    def _cheapest(self, rows: pd.DataFrame, who: str) -> str:
        """Name the cheapest method of a promise that keeps the error asked for, or none."""
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
                return f"{sentence} {row['method']}, {self._cost(row)}: {self._wrong(row)}."
        return ""

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


@dataclass(frozen=True)
class SampleOptions:
    """How a crowd is got to know before and while tasks are assigned.

    Parameters
    ----------
    gamma
        Workers sampled before, for each worker who gets tasks.
    gold_tasks
        Gold tasks a worker and type.
    skills
        How the online methods estimate skills from gold tasks. [default: plug-in simulated with
        hoeffding, else fitted]

        `plug-in`, the paper's share of right answers, or `fitted`, posterior means.
    infeasible
        What is done when the sampled workers cannot cover the tasks.
    gain
        What a label counts: the ratio is over the program with this gain. [default: bhattacharyya
        recorded, else hoeffding]

        By `crowd_models.gains`: `hoeffding`, the paper's Lemma 1, with votes of weight 2p − 1, or
        `bhattacharyya`, the same promise for fewer labels, with log-odds.
    time_limit
        Seconds for the integer program, each trial.

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate("uniform", tasks=20, workers=20, capacity=20, skill=0.9)
    >>> result = wb.compare(crowd, epsilon=0.3, sampling=wb.SampleOptions(gold_tasks=5))
    >>> result.settings["gold_tasks"]
    5
    """

    gamma: float = 0.3
    gold_tasks: int = 20
    skills: SkillEstimate | None = None
    infeasible: OnInfeasible = "relax"
    gain: str | None = None
    time_limit: float = 20.0


@overload
def compare(
    labels: LabelTable | None = None,
    gold: Truth | None = None,
    *,
    methods: Sequence[str] | None = None,
    epsilon: float = EPSILON,
    task_types: Tasks | None = None,
    costs: PerWorker | None = None,
    capacity: int | PerWorker | None = None,
    sampling: SampleOptions | None = None,
    trials: int = 1,
    processes: int = 1,
    seed: int = 0,
    progress: Progress = None,
) -> Comparison: ...


@overload
def compare(
    labels: AssignmentProblem | Iterable[AssignmentProblem],
    gold: Sequence[str] | None = None,
    *,
    methods: Sequence[str] | None = None,
    sampling: SampleOptions | None = None,
    trials: int = 1,
    processes: int = 1,
    seed: int = 0,
    progress: Progress = None,
) -> Ratios: ...


def compare(
    labels: LabelTable | AssignmentProblem | Iterable[AssignmentProblem] | None = None,
    gold: Truth | Sequence[str] | None = None,
    *,
    methods: Sequence[str] | None = None,
    epsilon: float = EPSILON,
    task_types: Tasks | None = None,
    costs: PerWorker | None = None,
    capacity: int | PerWorker | None = None,
    sampling: SampleOptions | None = None,
    trials: int = 1,
    processes: int = 1,
    seed: int = 0,
    progress: Progress = None,
) -> Comparison | Ratios:
    """Compare exact, adaptive and random assignment on one crowd, or online policies on problems.

    Parameters
    ----------
    labels
        Recorded labels: columns task, worker, label.

        What was never recorded cannot be assigned. Of more than two classes workers have confusion
        matrices, and the methods are those of `workbench.comparison.several_class_methods`. Or,
        alone, a crowd of `simulate`: each trial draws another of its kind, with γ workers more for
        each, and knows its true skills.

        Or one `AssignmentProblem`, or a list or generator of them, or skills (a frame worker × task
        type; an empty cell is a type that she may not do) with `task_types`: there online policies
        meet random orders of arrival, and their cost is told over the proven optimum.
    gold
        True labels of some tasks: columns task, gold. [default: gold in the labels, if any]

        Beside problems or skills `methods` may stand in this place.
    methods
        Which methods, by name. [default: all]

        On problems and skills: policies of the registry, your own among them; the others are
        compared with the first. A method that cannot is listed with the reason.
    epsilon
        Error each task may have.
    task_types
        Recorded, or beside skills: type of each task. [default: one]
    costs
        Recorded, or beside skills: price of a label by worker and type. [default: 1]
    capacity
        Most tasks a worker takes: a number, or recorded: a table worker, capacity. [default: 200
        simulated, all tasks recorded]
    sampling
        How the crowd is got to know, and the program that all is held against.
    trials
        How often all is drawn anew.

        On problems: orders of arrival of each.
    processes
        How many trials run at a time.

        The result is that of one process, but for what a time limit ends.
    seed
        Same seed, same result.
    progress
        Is told how far it is, in words; True draws a bar.

    Returns
    -------
    Comparison or, of problems and skills, Ratios
        With `to_frame()`, a row a method, and `plot()`.

    Raises
    ------
    InputError
        Frames without the columns, a single class, a gain that is for two classes where there are
        more, a number out of range, no task that can be covered.

    Notes
    -----
    Source: Ho, Jabbari, Vaughan (2013), Sections 4 to 6.

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate("uniform", tasks=20, workers=20, capacity=20, skill=0.9)
    >>> table = wb.compare(crowd, epsilon=0.3).to_frame().set_index("method")
    >>> table.loc["offline IP", ["objective", "lower_bound"]].tolist()
    [80.0, 80.0]
    """
    sampling = sampling or SampleOptions()
    _check_plain({"epsilon": epsilon, "trials": trials, "seed": seed, **vars(sampling)})
    _check_sizes(sampling, trials, processes)
    arguments: dict[str, Any] = {
        "labels": labels,
        "gold": gold,
        "task_types": task_types,
        "costs": costs,
        "capacity": capacity,
    }
    problems = _problems(arguments, epsilon, sampling)
    if problems is not None:
        if gold is not None and methods is not None:
            raise InputError("`methods` are given twice: leave one out")
        return ratios(
            problems,
            methods if gold is None else _named(gold),
            sampling=sampling,
            trials=trials,
            processes=processes,
            time_limit=sampling.time_limit,
            seed=seed,
            progress=progress,
        )
    crowd, settings = _crowd(arguments, epsilon, sampling)
    chosen, not_run = room.known_methods(crowd.classes, methods)
    asked = _Asked(chosen, settings["infeasible"], sampling.time_limit, seed)
    records, instances = _trials(crowd, asked, trials, processes, progress)
    settings |= {"trials": trials, "seed": seed, "methods": methods and list(chosen)}
    return _comparison(crowd, records, instances, settings, not_run)


def _problems(
    arguments: dict[str, Any], epsilon: float, sampling: SampleOptions
) -> Iterable[AssignmentProblem] | None:
    """The problems that are given, as such or by skills; None of labels and crowds."""
    given = to_pandas(arguments["labels"])
    if isinstance(given, pd.DataFrame) and is_skills(given):
        beside = (arguments[name] for name in ("task_types", "costs", "capacity"))
        return [problem_of(given, *beside, epsilon=epsilon, gain=sampling.gain or "hoeffding")]
    if isinstance(given, AssignmentProblem):
        given = [given]
    if not isinstance(given, (list, tuple, Iterator)):
        return None
    for name in ("task_types", "costs", "capacity"):
        if arguments[name] is not None:
            raise InputError(f"`{name}`: a problem has its own, leave it out")
    if epsilon != EPSILON:
        raise InputError("`epsilon`: a problem has its own requirement, leave it out")
    if sampling.gain is not None:
        raise InputError("`gain`: a problem has its own, leave it out")
    return given


def _named(methods: object) -> Sequence[str]:
    """Names of methods, where gold might stand as well."""
    listed = [methods] if isinstance(methods, str) else methods
    if not isinstance(listed, (list, tuple)) or not all(isinstance(each, str) for each in listed):
        raise InputError(
            "`gold` is beside problems, which have none: give the names of `methods` in its place"
        )
    return listed


def _crowd(
    arguments: dict[str, Any], epsilon: float, sampling: SampleOptions
) -> tuple[_Crowd, dict[str, Any]]:
    """The crowd that all methods meet, and the settings that are told of it."""
    labels, gold = arguments["labels"], arguments["gold"]
    invented = isinstance(labels, SimulatedCrowd)
    gain = gain_of(sampling.gain or ("hoeffding" if invented else "bhattacharyya")).name
    estimate: SkillEstimate = sampling.skills or (
        "plug-in" if invented and gain == "hoeffding" else "fitted"
    )
    known_estimate(estimate)
    own: dict[str, Any] = dict.fromkeys(("crowd", "skill", "n", "m", "types"))
    if isinstance(labels, SimulatedCrowd):
        _refuse_beside_simulated(arguments)
        inputs.check_pairs(labels.tasks, (1 + sampling.gamma) * labels.workers, labels.types)
        make = partial(
            _simulated, labels, epsilon, sampling.gamma, sampling.gold_tasks, gain, estimate
        )
        crowd = _Crowd(make, labels.title, 2, str, on_record=False)
        own = {
            "n": labels.tasks,
            "m": labels.workers,
            **picked(labels, "crowd", "skill", "types"),
        }
        arguments = {**arguments, "labels": None, "capacity": labels.capacity}
    else:
        record = _recorded(labels, gold)
        workers, types = record[0].workers, arguments["task_types"]
        capacity = arguments["capacity"]
        options = RecordedOptions(
            sampling.gamma,
            sampling.gold_tasks,
            epsilon,
            None if types is None else inputs.task_types(types)[0],
            None if capacity is None else inputs.capacities(capacity, workers),
            inputs.by_worker("costs", arguments["costs"], workers, tables.read_costs),
            gain,
            estimate,
        )
        crowd = _on_record(*record, options)
    settings = {
        **{name: _told(name, value) for name, value in arguments.items()},
        **own,
        "epsilon": epsilon,
        **vars(sampling),
        "gain": gain,
        "skills": estimate,
    }
    return crowd, settings


def _check_plain(given: dict[str, Any]) -> None:
    """Refuse tables where a word or a number is meant."""
    for name, value in given.items():
        if value is not None and not isinstance(value, (str, int, float, np.number)):
            raise InputError(
                f"{name} is {checks.type_name(value)}: give a word or a number; tables are "
                "`labels`, `gold`, `task_types`, `costs` and `capacity`"
            )


def _check_sizes(sampling: SampleOptions, trials: int, processes: int) -> None:
    gamma, gold_tasks = sampling.gamma, sampling.gold_tasks
    if not checks.is_number(gamma) or not 0 < gamma <= MOST_GAMMA:
        raise InputError(
            f"gamma is {checks.show(gamma)}: give a number above 0, at most {MOST_GAMMA}"
        )
    if checks.count("gold_tasks", gold_tasks) > MOST_GOLD:
        raise InputError(f"gold_tasks is {checks.show(gold_tasks)}: give {MOST_GOLD:,} or fewer")
    if checks.count("trials", trials, 1) > MOST_TRIALS:
        raise InputError(f"trials is {checks.show(trials)}: give {MOST_TRIALS:,} or fewer")
    if checks.count("processes", processes, 1) > MOST_PROCESSES:
        raise InputError(f"processes is {checks.show(processes)}: give {MOST_PROCESSES} or fewer")


def _refuse_beside_simulated(arguments: dict[str, Any]) -> None:
    for name, value in arguments.items():
        if name != "labels" and value is not None:
            raise InputError(f"`{name}`: a simulated crowd has its own, leave it out")


def _comparison(
    crowd: _Crowd,
    records: pd.DataFrame,
    instances: list[Instance],
    settings: dict[str, Any],
    not_run: dict[str, str],
) -> Comparison:
    """The table of means over trials, and what the reader of it must know."""
    first = instances[0]
    left_out = sorted({name for instance in instances for name in instance.left_out})
    return Comparison(
        summarise(records, settings["epsilon"]),
        records,
        crowd.title,
        round(float(np.mean([len(instance.tasks) for instance in instances]))),
        len(first.tasks) + len(first.left_out),
        len(first.main),
        first.preliminary,
        tuple(map(crowd.back, left_out)),
        first.notes,
        settings,
        settings["gain"],
        versions(),
        first.correlation,
        crowd.classes,
        not_run,
    )


class _Crowd(NamedTuple):
    """What is compared on: the instance of a trial by its seed, a name, classes, and users' ids."""

    make: Callable[..., Instance]
    title: str
    classes: int
    back: Callable[[str], Any]
    on_record: bool = True


class _Asked(NamedTuple):
    """Which methods are run on a trial, and how."""

    methods: tuple[str, ...]
    infeasible: OnInfeasible
    time_limit: float
    seed: int


def _on_record(
    labels: inputs.Given, gold: pd.Series[Any], title: str, options: RecordedOptions
) -> _Crowd:
    """A recorded crowd: each trial draws other folds, and another order of arrival."""
    classes = len({*labels.table["label"], *gold})
    make = partial(room.recorded, labels.table, gold, options)
    return _Crowd(make, title, classes, labels.tasks.back)


def _trials(
    crowd: _Crowd, asked: _Asked, trials: int, processes: int, progress: Progress
) -> tuple[pd.DataFrame, list[Instance]]:
    """Run every method on each trial's instance: a row a trial and method, and the instances."""
    rows: dict[int, list[dict[str, Any]]] = {}
    instances: dict[int, Instance] = {}
    told = meter(progress, "trials") if trials > 1 or progress is True else None
    by_method = progress if told is None and callable(progress) else None
    with Processes(min(processes, trials), asked.methods) as pool:
        function = _trial if by_method is None else partial(_trial, tell=by_method)
        for at, found in pool.each(function, ((crowd, asked, trial) for trial in range(trials))):
            rows[at], instances[at] = found
            if told is not None:
                told(len(rows), trials)
    order = range(trials)
    return pd.DataFrame([row for at in order for row in rows[at]]), [instances[at] for at in order]


def _trial(
    crowd: _Crowd, asked: _Asked, trial: int, tell: Callable[[str], None] | None = None
) -> tuple[list[dict[str, Any]], Instance]:
    """Run every method on one trial's instance."""
    seeds = [np.random.SeedSequence(asked.seed, spawn_key=(trial, part)) for part in range(2)]
    instance, rows = crowd.make(seed=seeds[0]), []
    steps = room.compare(
        instance,
        seed=seeds[1],
        time_limit=asked.time_limit,
        on_infeasible=asked.infeasible,
        chosen=asked.methods,
    )
    for method in asked.methods:
        if tell is not None:
            tell(method)
        rows.append({"trial": trial, **vars(next(steps))})
    if crowd.on_record:
        plain = everybody(instance, seed=seeds[1].spawn(1)[0])
        rows.append({"trial": trial, **vars(plain)})
    return rows, instance


def _simulated(
    crowd: SimulatedCrowd,
    epsilon: float,
    gamma: float,
    gold_tasks: int,
    gain: str,
    skills: SkillEstimate,
    *,
    seed: np.random.SeedSequence,
) -> ComparedCrowd:
    """The instance of a trial: another crowd of the kind, with γ workers more for each."""
    preliminary = max(1, round(gamma * crowd.workers))
    return two_classes.simulated(
        crowd.draw(crowd.workers + preliminary, seed),
        tasks=crowd.tasks,
        preliminary=preliminary,
        gold=gold_tasks,
        epsilon=epsilon,
        gain=gain,
        skills=skills,
        seed=seed,
    )


def _recorded(
    labels: LabelTable | None, gold: Truth | None
) -> tuple[inputs.Given, pd.Series[Any], str]:
    """Labels, true labels, and what to call the crowd."""
    if labels is None:
        raise InputError("`labels` and `gold` go together: give both, or a simulated crowd alone")
    title = "recorded crowd"
    if isinstance(labels, (str, Path, inputs.LabelFile)):
        title += f" {Path(str(labels)).name}"
    elif isinstance(labels, pd.DataFrame) and "crowd" in labels.attrs:
        title += f" {labels.attrs['crowd']}"
    source = inputs.given(labels)
    true, source = inputs.truth(gold, source)
    return source, true, title


def _told(name: str, value: object) -> str | None:
    """Write what was given for the settings: a path or a name as it is, a table as given."""
    if value is None or isinstance(value, str):
        return value
    return (
        str(value)
        if isinstance(value, (Path, inputs.LabelFile)) or checks.is_number(value)
        else f"{name} as given"
    )
