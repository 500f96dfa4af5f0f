"""`ladder`: one promise, and what it costs by each way of keeping it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.api import inputs
from workbench.api.inputs import PerWorker, Table
from workbench.api.meter import Progress, steps
from workbench.api.result import Figure, Result, page, percent
from workbench.api.simulation import SimulatedCrowd
from workbench.assignment.rungs import (
    LIMIT,
    NONE_BY_WORD,
    NONE_THERE_IS,
    RUNGS,
    UNKNOWN,
    LadderCrowd,
)
from workbench.assignment.rungs import ladder as climb
from workbench.base import checks
from workbench.base.errors import InputError
from workbench.base.text import Columns, at_least, tabled
from workbench.crowd import tables
from workbench.crowd.libraries import to_pandas
from workbench.crowd.population import from_table
from workbench.crowd.simulate import task_types
from workbench.solving import versions
from workbench.solving.claims import OPEN, WORD, CostClaim
from workbench.solving.expert_informed import read_prior

MOST_TRIALS = 1_000_000
"""Most simulations of a policy."""
COLUMNS: Columns = {
    "name": ("method", ""),
    "cost": ("cost", ",.10g"),
    "se": ("± se", ".3g"),
    "least": ("at least", ""),
    "each": ("a task", ".2f"),
    "error": ("error", ".4f"),
    "status": ("", ""),
}
NOTES = (
    "cost: labels, or money where they have prices, that keep every task's error at ε; hoeffding, "
    "bhattacharyya, exact error: planned ahead, the worst task's exact error beside them; at "
    "least: proven of every plan of the kind, where branch and bound may know more.",
    "sequential: each label is looked at, skills known; posterior: no task is closed before its "
    "posterior error is at most ε; error: each is wrong at most ε of the time, and a policy may "
    "stop by lot; measured, mean of {trials} simulations, capacities always held; at least: of "
    "every policy that keeps the promise.",
    "information limit: no policy at all pays less in expectation, adaptive or not; it and the "
    "sequential bounds are computed in floating point.",
    "proven of the model: two equally likely classes, labels independent, skills as given. Of a "
    "real crowd, measure.",
)


@dataclass(frozen=True, eq=False, repr=False)
class Ladder(Result):
    """What one promise costs by each way of keeping it, the ladder's rungs, the costliest first.

    Attributes
    ----------
    rungs
        A row for each way, the costliest first: name, lower_bound, cost, status, error, se,
        error_se, seconds, proven_bound, as `workbench.assignment.rungs.Rung`.
    crowd
        What the crowd is called.
    tasks, workers
        How many.
    epsilon
        ε, error of each task.
    settings
        What was asked for.
    """

    rungs: pd.DataFrame
    crowd: str
    tasks: int
    workers: int
    epsilon: float
    settings: dict[str, Any]
    versions: dict[str, str]
    pictured = True

    def to_frame(self) -> pd.DataFrame:
        """Give what each way costs, a row each."""
        return self.rungs

    def verdict(self) -> list[str]:
        """Say what the promise costs ahead of time, label by label, and at least."""
        unit = "money" if self.settings["costs"] is not None else "labels"
        by_name = {row["name"]: row for row in self.rungs.to_dict("records")}
        ahead = by_name["exact error"]
        sure, right = by_name["sequential, posterior"], by_name["sequential, error"]
        form = ",.6g" if unit == "money" else ",.0f"
        sentences = [
            f"Every task's error at most {percent(self.epsilon)}, {self.tasks} tasks, "
            f"{self.workers} workers of known skills:"
        ]
        if not pd.isna(ahead["cost"]):
            known = (ahead[name] for name in ("cost", "proven_bound", "lower_bound"))
            claim = CostClaim(*(None if pd.isna(value) else value for value in known))
            proven = claim.sentence("the least of all plans")
            sentences.append(f"planned ahead it takes {ahead['cost']:{form}} {unit}, {proven};")
        looking = [
            f"{row['cost']:{form}} ± {row['se']:.2g} {unit}{where}"
            for row, where in ((right, ""), (sure, " where no task is closed in more doubt"))
            if not pd.isna(row["cost"])
        ]
        if looking:
            sentences.append(
                f"looking at each label before asking for the next, {', or '.join(looking)};"
            )
        return [*sentences, self._least(by_name, unit), *self._unmet()]

    def _least(self, by_name: dict[Any, dict[Any, Any]], unit: str) -> str:
        """What every way of asking takes."""
        limit = by_name[LIMIT]
        if pd.isna(limit["lower_bound"]):
            word = "" if limit["status"] == NONE_THERE_IS else f", by {WORD}"
            return f"no way of asking keeps that promise{word}: all labels together say too little."
        known = f"{_at_least(limit['lower_bound'])} {unit}"
        if UNKNOWN in by_name:
            unknown = by_name[UNKNOWN]["lower_bound"]
            amount = "more than they can give" if pd.isna(unknown) else _at_least(unknown)
            known += f" ({amount} for who does not know the workers)"
        return f"no way of asking takes fewer than {known}, in the mean of many runs."

    def _unmet(self) -> list[str]:
        """Name the plans that there are not, or that were not found, and say which."""
        plans = self.rungs[~self.rungs["name"].isin([UNKNOWN, LIMIT])]
        endings = {
            NONE_THERE_IS: "There is no plan by {}: the crowd has too few good labels for it.",
            NONE_BY_WORD: "There is no plan by {}, by HiGHS's word.",
            OPEN: "None found by {}; there may be one.",
        }
        sentences = []
        for status, words in endings.items():
            without = plans[plans["status"] == status]["name"].tolist()
            if without:
                sentences.append(words.format(" or ".join(without)))
        return sentences

    def brief(self) -> str:
        """Lay out what each way costs."""
        return tabled(self._rows(), COLUMNS)

    def details(self) -> str:
        """Lay out what each way costs, and say what they are."""
        head = f"{self.crowd}: {self.tasks} tasks, {self.workers} workers, ε = {self.epsilon:g}"
        notes = [note.format(trials=self.settings["trials"]) for note in NOTES]
        return page(head, tabled(self._rows(), COLUMNS), notes=notes)

    def _rows(self) -> list[dict[Any, Any]]:
        """The rows, with the cost of a task."""
        rows = self.rungs.to_dict("records")
        for row in rows:
            cost = row["lower_bound"] if pd.isna(row["cost"]) else row["cost"]
            row["each"] = None if cost is None or pd.isna(cost) else cost / max(1, self.tasks)
            least = row["proven_bound"]
            row["least"] = None if pd.isna(least) else _at_least(least)
            if not pd.isna(row["se"]):  # measured: a mean, of no more digits than it is good for
                row["cost"] = float(f"{cost:.6g}")
        return rows

    def plot(self) -> Figure:
        """Draw what each way costs, the costliest on top."""
        from workbench import plots

        asked = percent(self.epsilon)
        title = f"{self.crowd}: {self.tasks} tasks, every task's error at most {asked}"
        priced = self.settings["costs"] is not None
        return plots.rungs(self.rungs, tasks=self.tasks, title=title, priced=priced)

    def _payload(self) -> dict[str, Any]:
        return {**super()._payload(), "rungs": self.rungs.to_dict("records")}


def ladder(
    crowd: SimulatedCrowd | None = None,
    *,
    skills: Table | None = None,
    tasks: int = 1000,
    capacity: int | PerWorker | None = None,
    costs: PerWorker | None = None,
    epsilon: float = 0.05,
    trials: int = 10,
    gap: float = 0.0,
    time_limit: float = 60.0,
    prior: Mapping[float, float] | str | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> Ladder:
    """Price one promise, an error of at most ε on every task, by each way of keeping it.

    Parameters
    ----------
    crowd
        A crowd of `simulate`, its true skills known.
    skills
        Columns `worker`, `task_type`, `skill`.

        In place of a crowd of `simulate`; wide or long, or a file of it.
    tasks
        Number of tasks, in equal shares of the types.
    capacity
        Most tasks a worker takes: a number, or columns `worker`, `capacity`.
    costs
        With skills: price of a label by worker and type. [default: 1]
    epsilon
        Largest error that each task may have. Below 0.5.
    trials
        Simulations of each policy that looks at labels, 2 or more.
    gap
        Relative gap of a plan: 0.005 saves most of the time.
    time_limit
        Seconds for the solver.

        For each of the three plans.
    prior
        Share of the workers by skill, as 0.8:0.5,0.5:0.5, or beta:4:2. Shows the least of every
        policy that knows only this.

        A mapping, or such text: adds the row "skills unknown", how many labels every policy takes
        that knows that workers are drawn so. With one capacity for all, and without `costs`.
    seed
        Same seed, same result. Unless time runs out.
    progress
        A function that takes the progress, one line at a time; True draws a bar.

    Returns
    -------
    Ladder
        With `to_frame()`, a row for each way, and `plot()`.

    Raises
    ------
    InputError
        Both crowds or none, numbers out of range, prices of other workers or types.

    Notes
    -----
    Source: Ho, Jabbari, Vaughan (2013), Section 4.2, and `crowd_models.gains`, `.exact_error`,
    `.information`.

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate("uniform", tasks=20, workers=20, capacity=20, skill=0.9)
    >>> wb.ladder(crowd, epsilon=0.1).rungs["cost"].head(3).tolist()
    [160.0, 80.0, 20.0]
    """
    if checks.count("trials", trials, 2) > MOST_TRIALS:
        raise InputError(f"trials is {checks.show(trials)}: give {MOST_TRIALS:,} or fewer")
    if not checks.is_number(epsilon) or not 0 < epsilon < 0.5:
        raise InputError(f"epsilon is {checks.show(epsilon)}: give a number above 0, below 0.5")
    if (crowd is None) == (skills is None) or not isinstance(crowd, SimulatedCrowd | None):
        raise InputError("give a crowd of `simulate`, or `skills` by worker and type: one of them")
    prices = None
    if crowd is not None:
        own = {"capacity": capacity, "costs": costs}
        for name, value in own.items():
            if value is not None:
                raise InputError(f"`{name}`: a simulated crowd has its own, leave it out")
        inputs.check_pairs(crowd.tasks, crowd.workers, crowd.types)
        tasks, title = crowd.tasks, crowd.title
        workers = from_table(crowd.skills, crowd.capacity)
    else:
        table = tables.read_skills(to_pandas(skills))
        ids = inputs.Ids("worker")
        workers = from_table(table, 200 if capacity is None else inputs.capacities(capacity, ids))
        title = "crowd of known skills"
        if costs is not None:
            prices = _prices(costs, table, ids)
    inputs.check_pairs(checks.count("tasks", tasks, 1), workers.skill.shape[1])
    kinds = np.bincount(task_types(tasks, len(workers.skill)), minlength=len(workers.skill))
    at = LadderCrowd(workers.skill, kinds, np.asarray(workers.capacity), prices)
    shares = None if prior is None else read_prior(prior)
    if shares is not None and len(np.unique(at.capacity)) > 1:
        raise InputError("prior: goes with one capacity for all workers")
    if shares is not None and costs is not None:
        raise InputError("prior: its bound counts labels, not money; leave `costs` or it out")
    rungs = climb(
        at,
        epsilon,
        trials=trials,
        time_limit=time_limit,
        gap=gap,
        prior=shares,
        seed=seed,
        step=steps(progress, "prices", len(RUNGS) - 1),
    )
    settings = {
        "capacity": None if crowd is None else crowd.capacity,
        "costs": None if costs is None else "given",
        "trials": trials,
        "gap": gap,
        "time_limit": time_limit,
        "prior": None if shares is None else {f"{skill:g}": n for skill, n in shares.items()},
        "seed": seed,
    }
    rows = pd.DataFrame([asdict(rung) for rung in rungs])
    return Ladder(
        rows.astype({"cost": float, "lower_bound": float, "proven_bound": float}),
        title,
        tasks,
        workers.skill.shape[1],
        epsilon,
        settings,
        versions(),
    )


def _at_least(bound: float) -> str:
    """A bound, rounded down: all digits of whole labels, three at least."""
    return at_least(bound, max(3, len(f"{bound:.0f}")))


def _prices(costs: PerWorker, table: pd.DataFrame, ids: inputs.Ids) -> Any:
    """Prices by type and worker, in the order of the skills."""
    prices = inputs.by_worker("costs", costs, ids, tables.read_costs)
    frame = prices if isinstance(prices, pd.DataFrame) else prices.to_frame()
    if frame.shape[1] == 1:
        frame = pd.concat([frame.iloc[:, 0]] * table.shape[1], axis=1, keys=table.columns)
    unpriced = [w for w in table.index if w not in frame.index]
    if unpriced or set(table.columns) - set(frame.columns):
        raise InputError("costs: give a price for every worker of the skills, and every task type")
    return frame.loc[table.index, table.columns].to_numpy(dtype=np.float64).T
