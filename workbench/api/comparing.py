"""`compare`: one crowd, and every method of assignment in one table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench import comparison as room
from workbench.api import inputs
from workbench.api.inputs import PerWorker, Table, Tasks, Truth
from workbench.api.result import Result, names, page, shown
from workbench.api.simulation import SimulatedCrowd
from workbench.assignment.weights import OnInfeasible
from workbench.base import checks
from workbench.base.errors import InputError
from workbench.base.text import table
from workbench.comparison import ComparedCrowd, methods
from workbench.crowd import datasets, tables
from workbench.solving import versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = {
    "method": "method",
    "labels_gold": "gold",
    "labels_task": "labels",
    "cost": "cost",
    "cost_gold": "gold cost",
    "objective": "objective",
    "lower_bound": "bound",
    "ratio": "ratio",
    "tasks_covered": "covered",
    "error_bound": "error ≤",
    "error_exact": "exact",
    "error_measured": "measured",
    "error_se": "± se",
    "seconds": "seconds",
}
"""Columns of the table that a person reads, and how they are headed."""
FORMS = {
    "ratio": ".4f",
    "error_bound": ".4f",
    "error_exact": ".4f",
    "error_measured": ".4f",
    "error_se": ".4f",
    "seconds": ".3g",
}
"""How columns are written; the others as whole numbers where they are whole."""
FRAMES = ("table", "trials")
LEGEND = (
    "gold, labels: bought on gold and on real tasks; cost: price of both, a gold label at its "
    "worker's price like any other; objective: price of those on real tasks; bound: proven "
    "lower bound on it; covered: tasks that gather 2 ln(1/ε) of quality; error: Lemma 1's "
    "bound, exact for the assignment, measured."
)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Every method on one crowd: what its labels cost, and how wrong they are.

    Attributes
    ----------
    table
        A row a method, means over trials; columns as `workbench.comparison.ComparisonRow`.
    trials
        A row a trial and method.
    crowd
        What the crowd is called.
    tasks, workers, preliminary
        How many tasks are held to (on average), workers with tasks, workers sampled before.
    left_out
        Tasks that the workers cannot cover, left out for every method.
    notes
        What the reader of the table must know.
    settings
        What was asked for.
    """

    table: pd.DataFrame
    trials: pd.DataFrame
    crowd: str
    tasks: int
    workers: int
    preliminary: int
    left_out: tuple[Any, ...]
    notes: tuple[str, ...]
    settings: dict[str, Any]
    versions: dict[str, str]
    pictured = True

    def to_frame(self) -> pd.DataFrame:
        """Give the table, a row a method."""
        return self.table

    @property
    def priced(self) -> bool:
        """Whether labels have prices."""
        return self.settings["costs"] is not None

    def summary(self) -> str:
        """Lay the table out, and say what must be known to read it."""
        trials = self.settings["trials"]
        head = (
            f"{self.crowd}: {self.tasks} tasks, {self.workers} workers after {self.preliminary} "
            f"sampled, ε = {self.settings['epsilon']:g}, seed {self.settings['seed']}"
            + (f", mean of {trials} trials" if trials > 1 else "")
        )
        heads = {k: v for k, v in COLUMNS.items() if k != "cost_gold" or self.priced}
        lines = [
            tuple(_cell(name, row[name]) for name in heads) for row in self.table.to_dict("records")
        ]
        notes = [LEGEND, *self.notes]
        if (self.table["ratio"] < 1 - 1e-9).any():
            notes.append("a ratio below 1 pays less than covering every task takes.")
        if self.left_out:
            many = len(self.left_out)
            listed = names(self.left_out, 10, f" and {many - 10} more (--json names them)")
            notes.append(
                f"left out for every method, {many} tasks that the workers cannot cover at this ε: "
                f"{listed}; a larger --epsilon covers more."
            )
        return page(head, table(tuple(heads.values()), lines), notes=notes)

    def plot(self) -> Figure:
        """Draw what labels cost and how wrong they are, a line for each method."""
        from workbench import plots

        trials = self.settings["trials"]
        of = f", mean of {trials} trials" if trials > 1 else ""
        return plots.comparison(
            self.table,
            tasks=self.tasks,
            epsilon=self.settings["epsilon"],
            title=f"{self.crowd}: {self.tasks} tasks, {self.workers} workers{of}",
            priced=self.priced,
            recorded=self.settings["crowd"] is None,
        )

    def _payload(self) -> dict[str, Any]:
        known = {name: value for name, value in vars(self).items() if name not in FRAMES}
        return {"rows": self.table.to_dict("records"), **known}


def compare(
    labels: Table | SimulatedCrowd | None = None,
    gold: Truth | None = None,
    *,
    data: str | None = None,
    epsilon: float = 0.05,
    task_types: Tasks | None = None,
    costs: PerWorker | None = None,
    capacity: int | PerWorker | None = None,
    gamma: float = 0.3,
    gold_tasks: int = 20,
    control: float = 0.3,
    infeasible: OnInfeasible = "relax",
    trials: int = 1,
    time_limit: float = 20.0,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare exact, adaptive and random assignment on one crowd.

    Parameters
    ----------
    labels, gold
        Recorded labels of two classes, and the true label of some tasks: what was never recorded
        cannot be assigned. Or, alone, a crowd of `simulate`: each trial draws another of its
        kind, with γ workers more for each, and knows its true skills.
    data
        In place of both: a recorded crowd by name (`workbench data list`).
    epsilon
        Error each task may have.
    task_types, costs, capacity
        Of recorded crowds: type of each task (one), price of a label (1), most tasks a worker
        takes (all).
    gamma
        γ, workers sampled before for each worker who gets tasks.
    gold_tasks
        Gold tasks a worker and type.
    control
        Of recorded crowds: share of the gold used as control tasks; the rest is for evaluation.
    infeasible
        When the sampled workers cannot cover the tasks: `relax`, `drop` or `error`.
    trials
        How often all is drawn anew.
    time_limit
        Seconds for the integer program, each trial.
    seed
        Same seed, same result.
    progress
        Is told which method comes next.

    Returns
    -------
    Comparison
        With `to_frame()`, a row a method, and `plot()`.

    Raises
    ------
    InputError
        Frames without the columns, other than two classes, a number out of range, no task that
        can be covered.

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
    if not checks.is_number(gamma) or not 0 < gamma < math.inf:
        raise InputError(f"gamma is {checks.show(gamma)}: give a number above 0")
    checks.count("trials", trials, 1)
    given: dict[str, Any] = {
        "data": data, "labels": labels, "gold": gold, "task_types": task_types, "costs": costs,
        "capacity": capacity,
    }  # fmt: skip
    options: dict[str, Any] = {
        "epsilon": epsilon, "gamma": gamma, "gold_tasks": gold_tasks, "control": control,
        "infeasible": infeasible, "time_limit": time_limit, "trials": trials, "seed": seed,
    }  # fmt: skip
    back: Callable[[str], Any] = str
    if isinstance(labels, SimulatedCrowd):
        for name, value in given.items():
            if name != "labels" and value is not None:
                raise InputError(f"{name}: a simulated crowd has its own, leave it out")
        crowd = labels
        make, title = _simulated(crowd, epsilon, gamma, gold_tasks), crowd.title
        given |= {"labels": None, "capacity": crowd.capacity}
        drawn: dict[str, Any] = {
            "crowd": crowd.crowd, "skill": crowd.skill, "n": crowd.tasks, "m": crowd.workers,
            "types": crowd.types,
        }  # fmt: skip
    else:
        make, title, back = _recorded(**given, **options)
        drawn = dict.fromkeys(("crowd", "skill", "n", "m", "types"))
    rows, instances = [], []
    for trial in range(trials):
        instance = make(np.random.SeedSequence(seed, spawn_key=(trial, 0)))
        steps = room.compare(
            instance,
            seed=np.random.SeedSequence(seed, spawn_key=(trial, 1)),
            options=room.CompareOptions(time_limit, infeasible),
        )
        of = f"trial {trial + 1} of {trials}: " if trials > 1 else ""
        for method in methods():
            if progress is not None:
                progress(f"{of}{method}")
            rows.append({"trial": trial, **vars(next(steps))})
        instances.append(instance)
    records = pd.DataFrame(rows)
    first = instances[0]
    settings = {**{name: _told(name, value) for name, value in given.items()}, **drawn, **options}
    return Comparison(
        room.summarise(records),
        records,
        title,
        round(float(np.mean([len(instance.tasks) for instance in instances]))),
        len(first.main),
        first.preliminary,
        tuple(map(back, sorted({name for one in instances for name in one.left_out}))),
        first.notes,
        settings,
        versions(),
    )


Make = Callable[[np.random.SeedSequence], ComparedCrowd]
"""What makes the instance of a trial from its seed."""


def _simulated(crowd: SimulatedCrowd, epsilon: float, gamma: float, gold_tasks: int) -> Make:
    preliminary = max(1, round(gamma * crowd.workers))

    def make(seed: np.random.SeedSequence) -> ComparedCrowd:
        return room.simulated(
            crowd.draw(crowd.workers + preliminary, seed),
            tasks=crowd.tasks,
            preliminary=preliminary,
            gold=gold_tasks,
            epsilon=epsilon,
            seed=seed,
        )

    return make


def _recorded(
    *,
    data: str | None,
    labels: Table | None,
    gold: Truth | None,
    task_types: Tasks | None,
    costs: PerWorker | None,
    capacity: int | PerWorker | None,
    epsilon: float,
    gamma: float,
    gold_tasks: int,
    control: float,
    **_: Any,
) -> tuple[Make, str, Callable[[str], Any]]:
    """How to make the instance of a trial, what to call the crowd, and its tasks' own names."""
    if data is not None:
        if labels is not None or gold is not None:
            raise InputError("data and labels exclude each other: give one crowd")
        known = datasets.load(data)
        labels, gold, title = known.labels, known.gold, f"recorded crowd {data}"
    elif labels is None or gold is None:
        raise InputError("labels and gold go together: give both, or a simulated crowd alone")
    else:
        title = "recorded crowd"
        if isinstance(labels, (str, Path)):
            title += f" {Path(labels).name}"
    given = inputs.given(labels)
    true, given = inputs.truth(gold, given)
    kinds = None if task_types is None else inputs.task_types(task_types)[0]
    prices = None
    if costs is not None:
        prices = inputs.by_worker("costs", costs, given.workers, tables.read_costs)
    limits = None if capacity is None else inputs.capacities(capacity, given.workers)

    def make(seed: np.random.SeedSequence) -> ComparedCrowd:
        return room.recorded(
            given.table,
            true,
            room.RecordedOptions(control, gamma, gold_tasks, epsilon, kinds, limits, prices),
            seed=seed,
        )

    return make, title, given.tasks.back


def _told(name: str, value: object) -> str | None:
    """Write what was given for the settings: a path or a name as it is, a table as given."""
    if value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, Path) or checks.is_number(value) else f"{name} as given"


def _cell(name: str, value: Any) -> str:
    if name == "method" or value is None or math.isnan(value):
        return str(value) if name == "method" else shown(value)
    if name in FORMS:
        return f"{value:{FORMS[name]}}"
    if float(value).is_integer():
        return f"{value:.0f}"
    money = name in ("cost", "cost_gold", "objective", "lower_bound")  # in whatever unit
    return f"{value:.4g}" if money and value < 100 else f"{value:.1f}"
