"""`plan`: who labels which task, at what cost, how wrong it may come out, and what is proven."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from workbench.api import inputs
from workbench.api.inputs import Ids, PerWorker, Table, Tasks, Truth
from workbench.api.result import Figure, Result, facts, percent
from workbench.assignment import make_plan as room
from workbench.base import checks
from workbench.base.errors import InputError
from workbench.crowd import tables
from workbench.crowd.skills import skills_from_gold

if TYPE_CHECKING:
    from workbench.solving import Solution

Pairs: TypeAlias = "Table | Iterable[tuple[Any, Any]]"
"""Pairs (task, worker)."""
HIDDEN = ("assignment", "task_weights", "worker_prices")
"""What goes by index, where a plan goes by name."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """A plan to upload, and what is known of it.

    Attributes
    ----------
    table
        Columns `task, worker`, a row a label to buy; empty when there is no plan.
    errors
        By task the error of the weighted vote: `exact`, if skills are as given, and `bound`, as
        Lemma 1 promises. Empty when there is no plan.
    skills
        p by worker and task type, as the plan takes them.
    without_history
        Workers of whom nothing is known: they get no task.
    epsilon
        Error asked for.
    solution
        The solved program: termination, proven bound, certificate.
    message
        What to do when there is no plan.
    """

    table: pd.DataFrame
    errors: pd.DataFrame
    skills: pd.DataFrame
    without_history: tuple[Any, ...]
    tasks: int
    epsilon: float
    solution: Solution
    message: str | None

    @property
    def solved(self) -> bool:
        """Whether it is proven the cheapest."""
        return self.solution.solved

    def to_frame(self) -> pd.DataFrame:
        """Give the plan: columns `task, worker`, a row a label to buy."""
        return self.table

    def summary(self) -> str:
        """Say what it costs and promises, or why there is none."""
        if self.message is not None:
            return self.message
        found, errors = self.solution, self.errors
        head = (
            f"{self.tasks} tasks, {len(self.table)} labels by {self.table['worker'].nunique()} of "
            f"{len(self.skills)} workers"
        )
        proven = f"{found.bound:.10g} (gap {percent(found.gap, 3)}, {found.termination})"
        rows = {
            "cost": f"{found.objective:.10g}",
            "proven bound": proven,
            "certificate": found.certificate.status,
            "error, promised": f"at most {errors['bound'].max():.4g} on every task (Lemma 1)",
            "error, exact": f"{errors['exact'].mean():.4g} on average, if skills are as given",
        }
        if many := len(self.without_history):
            names = checks.listing(self.without_history)
            rows["no history"] = f"{many} workers get no task, skill unknown: {names}"
        return f"{head}\n{facts(rows.items(), indent='  ')}"

    def plot(self) -> Figure:
        """Draw how many labels each worker gives, and how wrong each task may come out.

        Raises
        ------
        InputError
            There is no plan.
        """
        from workbench import plots

        if self.message is not None:
            raise InputError(f"plot: there is no plan; {self.message}")
        title = f"{self.tasks} tasks, {len(self.table)} labels, ε = {self.epsilon:g}"
        given = self.table["worker"].value_counts()
        return plots.plan(given, self.errors, epsilon=self.epsilon, title=title)

    def _payload(self) -> dict[str, Any]:
        known = {k: v for k, v in self.solution.as_dict().items() if k not in HIDDEN}
        there = self.message is None
        return {
            **known,
            "message": self.message,
            "labels": len(self.table),
            "error_exact": float(self.errors["exact"].mean()) if there else None,
            "error_bound": float(self.errors["bound"].max()) if there else None,
            "epsilon": self.epsilon,
            "workers": len(self.skills),
            "without_history": self.without_history,
            "plan": self.table.to_numpy().tolist(),
        }


def plan(
    labels: Table | None = None,
    gold: Truth | None = None,
    tasks: Tasks | None = None,
    *,
    epsilon: float,
    capacity: int | PerWorker,
    skills: Table | PerWorker | None = None,
    gold_types: Tasks | None = None,
    costs: PerWorker | None = None,
    availability: Pairs | None = None,
    time_limit: float = 30.0,
    gap: float = 0.0,
    threads: int = 1,
    seed: int = 0,
) -> Plan:
    """Make the cheapest plan that covers every task, and say what is proven of it.

    Parameters
    ----------
    labels, gold
        Labels of two classes that the workers gave before, and the true ones: a worker's skill is
        her share of right answers, one right and one wrong added.
    tasks
        Tasks to be labelled: a list, or the type of each.
    epsilon
        Error each task may have.
    capacity
        Most tasks a worker takes: one number, or by worker.
    skills
        In place of labels and gold: p by worker, a Series (NaN for one without history), or by
        worker and task type.
    gold_types
        Types of the gold tasks; a single type when None.
    costs
        Price of a label by worker, or by worker and task type; 1 when None.
    availability
        Pairs (task, worker) that may be assigned, as a frame, a file or a list; all when None.
    time_limit, gap, threads, seed
        Of the integer program: seconds, relative gap to stop at, threads, random seed.

    Returns
    -------
    Plan
        Also when none was proven the cheapest, or there is none: see `solved` and `message`.

    Raises
    ------
    InputError
        Frames without the columns, ids of another type than the labels', a task type without
        skills, a worker without capacity or price, ε outside (0, 1).

    Notes
    -----
    Source: Ho, Jabbari, Vaughan (2013), (1)–(3) and Lemma 1.

    Examples
    --------
    >>> import workbench as wb
    >>> skills = {"ann": 0.9, "bob": 0.9, "eve": 0.5}
    >>> made = wb.plan(tasks=["a", "b"], skills=skills, epsilon=0.6, capacity=2)
    >>> sorted(made.to_frame().itertuples(index=False, name=None))
    [('a', 'ann'), ('a', 'bob'), ('b', 'ann'), ('b', 'bob')]
    """
    if (skills is None) == (labels is None):
        raise InputError("give `skills`, or `labels` with `gold` to estimate them")
    if tasks is None:
        raise InputError("tasks: nothing (None); give a list of tasks, or the type of each")
    if skills is not None:
        if gold is not None or gold_types is not None:
            raise InputError("`gold` goes with `labels`: leave it out where skills are given")
        known, workers = _known(skills)
    else:
        known, workers = _estimated(labels, gold, gold_types)
    kinds, named = inputs.task_types(tasks, default=_only(known))
    limits = inputs.capacities(capacity, workers)
    workers = workers.with_more("capacity", _names(capacity))
    pairs = None
    if availability is not None:
        pairs, workers = _pairs(availability, named, workers)
    prices = inputs.by_worker("costs", costs, workers, tables.read_costs)
    made = room.make_plan(
        known,
        kinds,
        room.AssignmentTerms(limits, epsilon, prices, pairs),
        time_limit=time_limit,
        gap=gap,
        threads=threads,
        seed=seed,
    )
    there = made.message is None
    errors = pd.DataFrame(
        {"exact": made.error_exact, "bound": made.error_bound},
        index=named.index(kinds.index if there else []),
        dtype=float,
    )
    return Plan(
        workers.column(named.column(made.table, "task"), "worker"),
        errors,
        made.skills.set_axis(workers.index(made.skills.index)),
        tuple(workers.all_back(made.without_history)),
        len(kinds),
        epsilon,
        made.solution,
        made.message,
    )


def _only(skills: pd.DataFrame | pd.Series[Any]) -> str | None:
    """The one type of task that there are skills for; None for several."""
    if isinstance(skills, pd.Series):
        return "all"
    return str(skills.columns[0]) if skills.shape[1] == 1 else None


def _known(skills: Table | PerWorker) -> tuple[pd.DataFrame | pd.Series[Any], Ids]:
    """Skills by worker, or workers × task types, and the workers as they came."""
    if isinstance(skills, (str, Path)):
        return tables.read_skills(skills), Ids("worker")
    if isinstance(skills, pd.DataFrame):
        names = tables.column(skills, "worker", "skills")
        return tables.read_skills(skills), Ids.of("worker", "skills", names)
    given = inputs.series_of("skills", skills, "worker", "the skill")
    ids = Ids.of("worker", "skills", given.index)
    known = given.dropna()
    if len(known):
        known = inputs.by_worker("skills", known, ids, tables.read_skills).iloc[:, 0]
    return known.reindex([tables.as_text(name) for name in given.index]), ids


def _names(by_worker: int | PerWorker) -> Iterable[Any]:
    """Workers as they are named in memory; nobody of a file."""
    if isinstance(by_worker, pd.Series):
        return by_worker.index
    if isinstance(by_worker, pd.DataFrame):
        return tables.column(by_worker, "worker", "capacity")
    return by_worker if isinstance(by_worker, Mapping) else ()


def _estimated(
    labels: Table | None, gold: Truth | None, gold_types: Tasks | None
) -> tuple[pd.DataFrame, Ids]:
    """Share of right gold answers, one right and one wrong added; NaN for who gave none.

    The addition keeps a worker with three lucky answers from counting as infallible.
    """
    if labels is None or gold is None:
        raise InputError("`labels` and `gold` go together: give both")
    given = inputs.given(labels)
    true, given = inputs.truth(gold, given)
    kinds = None if gold_types is None else inputs.task_types(gold_types)[0]
    known = skills_from_gold(given.table, true, kinds, prior=(1.0, 1.0))
    return known.wide().where(known.estimates.answered.T > 0), given.workers


def _pairs(pairs: Pairs, tasks: Ids, workers: Ids) -> tuple[pd.DataFrame, Ids]:
    """Pairs (task, worker) as text, and the workers with those of the pairs."""
    if not isinstance(pairs, (str, Path)):
        if not isinstance(pairs, pd.DataFrame):
            pairs = room.as_pairs(pairs)
        tasks.with_more("availability", tables.column(pairs, "task", "availability"))
        workers = workers.with_more("availability", tables.column(pairs, "worker", "availability"))
    return tables.read_pairs(pairs), workers
