"""`plan(workers=…)`: so many labels a task, shared evenly; no error, and no skills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workbench.api import inputs
from workbench.api.crew import Crew
from workbench.api.inputs import Ids, PerWorker
from workbench.api.planned import PlannedPairs
from workbench.api.result import Figure, facts, listed, names
from workbench.assignment.even_deal import Deal, DealTerms, Stuck, even_deal
from workbench.base import checks
from workbench.base.arrays import BoolArray, IntArray
from workbench.base.errors import InputError
from workbench.base.text import Columns, counted

NAMED, BRIEF, SHOWN = 6, 10, 60
"""Names in a line; workers below the verdict, and among the details."""
COLUMNS: Columns = {
    "worker": ("worker", ""),
    "labels": ("labels", ""),
    "capacity": ("of at most", ""),
    "share": ("share", "g"),
}
"""What is printed of each worker."""
NEXT = (
    "No error is promised: nobody's skill is known. Next: with the labels, 'workbench check' says "
    "how far workers agree, and 'workbench aggregate' answers the tasks."
)


@dataclass(frozen=True, eq=False, repr=False)
class EvenPlan(PlannedPairs):
    """Who labels what where each task gets so many labels, and how even that is.

    Attributes
    ----------
    table
        Columns `task, worker`, a row a label to give; empty when there is no plan.
    loads
        A row a worker: `worker, labels`, and what was given of `capacity` and `share`.
    tasks, least
        Tasks; labels that each has in the end, those on record included.
    on_record
        Labels on record of the tasks that count.
    least_shared, bound
        Tasks in common of the two workers who have the fewest, of those who get tasks; and more
        than so many no plan of these loads has for every two, by counting. None of one worker.
    parts
        Groups of workers that share tasks with one another and with nobody else; 1: all are
        connected.
    shared
        Tasks in common by worker and worker.
    message
        Why there is no plan.
    seed
        Of the choice among workers who are as good.
    unread
        Whether skills were given, which are not looked at.
    """

    table: pd.DataFrame
    loads: pd.DataFrame
    tasks: int
    least: int
    on_record: int
    least_shared: int | None
    bound: int | None
    parts: int
    shared: pd.DataFrame
    message: str | None
    seed: int
    unread: bool = False

    def verdict(self) -> list[str]:
        """Say who gives how many labels, and who can be compared with whom."""
        if self.message is not None:
            return [self.message]
        loads = self.loads["labels"]
        busy = int((loads > 0).sum())
        low, high = int(loads[loads > 0].min()) if busy else 0, int(loads.max())
        join = "or" if high - low == 1 else "to"
        each = f"{high} each" if low == high else f"{low} {join} {high} each"
        record = f" beside {self.on_record} on record" if self.on_record else ""
        idle = f" ({len(loads) - busy} get none)" if busy < len(loads) else ""
        sentences = [
            f"{counted(self.least, 'label')} for each of {counted(self.tasks, 'task')}: "
            f"{counted(len(self.table), 'label')}{record} by "
            f"{busy} of {counted(len(loads), 'worker')}{idle}, {each}{self._even(low, high)}.",
            self._compared(busy),
            NEXT,
        ]
        if self.unread:
            sentences.append("Skills were not looked at: they are with `epsilon` or `total`.")
        return sentences

    def _even(self, low: int, high: int) -> str:
        """Why loads differ, where they do by more than one."""
        if high - low <= 1:
            return ""
        return (
            ", as even as capacities, shares and availability let them be"
            if "share" in self.loads
            else ", as even as capacities and availability let them be"
        )

    def _compared(self, busy: int) -> str:
        """Say who shares tasks with whom."""
        if busy < 2 or self.least_shared is None or self.bound is None:
            return "One worker does it all: nobody is there to compare her with."
        if self.least < 2:
            return "No task has two labels, so that no two workers can be compared."
        if self.least_shared:
            tasks = counted(self.least_shared, "task")
            if self.least_shared == self.bound:
                return f"Every two workers share {tasks} or more, the most that can be."
            return f"Every two workers share {tasks} or more; {self.bound} at most can be."
        if self.parts == 1:
            few = "there are too few labels to give" if not self.bound else "not all may label all"
            return (
                f"Not every two workers share a task ({few}), but all are connected by others "
                "with whom they do."
            )
        return (
            f"Workers fall into {self.parts} groups that share no task with one another: labels "
            "of one group say nothing of the others'."
        )

    def brief(self) -> str:
        """Lay out how many labels each gives."""
        return "" if self.message is not None else listed(self._busiest(), COLUMNS, BRIEF, " more")

    def _busiest(self) -> pd.DataFrame:
        return self.loads.sort_values("labels", ascending=False, kind="stable")

    def details(self) -> str:
        """Give loads, tasks in common, and their bound."""
        if self.message is not None:
            return self.message
        loads = self.loads["labels"]
        rows = {
            "labels a worker": f"{loads.min()} to {loads.max()}; the largest is the least there is",
            "tasks in common": f"{self.least_shared} or more of every two who get tasks",
            "no plan has more than": f"{self.bound}, by counting pairs",
            "connected": "all" if self.parts == 1 else f"{self.parts} groups",
        }
        return f"{facts(rows.items())}\n\n{listed(self._busiest(), COLUMNS, SHOWN, ' more')}"

    def plot(self) -> Figure:
        """Draw how many labels each worker gives, and how many tasks pairs have in common.

        Raises
        ------
        InputError
            There is no plan.
        """
        from workbench import plots

        if self.message is not None:
            raise InputError(f"plot: there is no plan; {self.message}")
        loads = self.loads.set_index("worker")["labels"]
        busy = loads.to_numpy() > 0
        pairs = self.shared.to_numpy()[np.ix_(busy, busy)]
        title = f"{self.tasks} tasks, {self.least} labels each"
        return plots.deal(loads, pairs[np.triu_indices(len(pairs), 1)], self.bound, title=title)

    def _payload(self) -> dict[str, Any]:
        return {
            "message": self.message,
            "tasks": self.tasks,
            "least": self.least,
            "labels": len(self.table),
            "on_record": self.on_record,
            "workers": self.loads.to_dict("records"),
            "largest_load": int(self.loads["labels"].max()),
            "least_shared": self.least_shared,
            "bound": self.bound,
            "parts": self.parts,
            "plan": self.table.to_numpy().tolist(),
            "seed": self.seed,
        }


def plan_evenly(
    team: Crew,
    tasks: pd.Series[Any],
    named: Ids,
    capacity: int | PerWorker | None,
    least: int,
    pairs: pd.DataFrame | None,
    record: pd.DataFrame,
    *,
    seed: int = 0,
) -> EvenPlan:
    """Deal the labels.

    Parameters
    ----------
    team
        The workers.
    tasks
        By task (text).
    named
        The tasks as they came.
    capacity
        Most labels of each, where the table of the workers does not have it.
    least
        Labels that each task is to have.
    pairs
        Who may label what, as text; None for all.
    record
        Pairs that are labelled already, as text.
    seed
        Of the choice among workers who are as good.

    Raises
    ------
    InputError
        Capacities in two places, or of some workers only; pairs of strangers.
    """
    n, m = len(tasks), len(team.names)
    inputs.check_pairs(n, m)
    # Who has labelled some task before, and is not asked now, comes last.
    people = [*team.names, *dict.fromkeys(w for w in record["worker"] if w not in {*team.names})]
    before = len(people) - m
    most = np.append(np.minimum(team.capacities(capacity, n), n), np.zeros(before, dtype=np.int64))
    had = _mask("have", record, tasks, people)
    allowed = np.ones((n, len(people)), dtype=np.bool_)
    if pairs is not None:
        allowed = _mask("availability", pairs, tasks, people)
    share = np.append(np.ones(m) if team.share is None else team.share, np.ones(before))
    out = (share <= 0) | (most <= 0)
    if team.away is not None:
        out[:m] |= team.away
    allowed = allowed & ~had & ~out[None]
    size = np.maximum(least - had.sum(axis=1), 0)
    terms = DealTerms(size, most, np.where(share > 0, share, 1.0), allowed, had)
    why = _too_few(terms, least, tasks, named, out)
    found = None if why is not None else even_deal(terms, seed=seed)
    if isinstance(found, Stuck):
        why = _cause(found, terms, tasks, named, team)
    deal = found if isinstance(found, Deal) else None
    given = np.zeros((n, m), dtype=np.bool_) if deal is None else deal.given[:, :m]
    task, worker = np.nonzero(given)
    table = pd.DataFrame(
        {"task": tasks.index.to_numpy()[task], "worker": np.array(team.names, dtype=object)[worker]}
    )
    who = team.ids.index(team.names)
    loads = pd.DataFrame({"worker": who, "labels": given.sum(axis=0)})
    if (most[:m] < n).any():
        loads["capacity"] = most[:m]
    if team.share is not None:
        loads["share"] = team.share
    shared = np.zeros((m, m), dtype=np.int64) if deal is None else deal.shared[:m, :m]
    return EvenPlan(
        team.ids.column(named.column(table, "task"), "worker"),
        loads,
        n,
        least,
        int(had.sum()),
        None if deal is None else deal.least_shared,
        None if deal is None or deal.least_shared is None else deal.bound,
        0 if deal is None else deal.parts,
        pd.DataFrame(shared, index=who, columns=who),
        why,
        seed,
    )


def _mask(what: str, pairs: pd.DataFrame, tasks: pd.Series[Any], workers: list[str]) -> BoolArray:
    """Pairs as a table, shape (n, m); strangers are refused."""
    row = tasks.index.get_indexer(pd.Index(pairs["task"]))
    column = pd.Index(workers).get_indexer(pd.Index(pairs["worker"]))
    for place, kind in ((row, "task"), (column, "worker")):
        if (place < 0).any():
            name = checks.show(pairs[kind].iloc[int(np.argmin(place))])
            raise InputError(f"{what}: {name} is no {kind} here; mend its id, or drop it")
    mask = np.zeros((len(tasks), len(workers)), dtype=np.bool_)
    mask[row, column] = True
    return mask


def _too_few(
    terms: DealTerms, least: int, tasks: pd.Series[Any], named: Ids, out: BoolArray
) -> str | None:
    """Say why there is no plan, where a count tells."""
    there, asked, each = int((~out).sum()), int(terms.size.sum()), int(terms.size.max())
    beside = " beside those on record" if terms.had.any() else ""
    if there < each:
        return (
            f"There is no plan: a task is to get {counted(each, 'label')} of different workers"
            f"{beside}, and {counted(there, 'worker')} can be given any. Next: ask for fewer "
            "labels a task (`least`), or more workers."
        )
    room = np.minimum(terms.capacity, terms.allowed.sum(axis=0))
    if asked > room.sum():
        return (
            f"There is no plan: {counted(asked, 'label')} are to be given "
            f"({counted(least, 'label')} for each of {counted(len(tasks), 'task')}"
            f"{', less those on record' if terms.had.any() else ''}), and the workers can give "
            f"{int(room.sum())}. Next: a larger capacity, more workers, or fewer labels a task "
            "(`least`)."
        )
    few = np.flatnonzero(terms.allowed.sum(axis=1) < terms.size)
    if len(few):
        first = few[0]
        more = f", and {counted(len(few) - 1, 'task')} more are like it" if len(few) > 1 else ""
        return (
            f"There is no plan: task {named.back(tasks.index[first])} lacks "
            f"{counted(int(terms.size[first]), 'label')}, and "
            f"{counted(int(terms.allowed[first].sum()), 'worker')} may give it one{more}. Next: "
            "let others label it (`availability`), or ask for fewer labels a task (`least`)."
        )
    return None


def _cause(stuck: Stuck, terms: DealTerms, tasks: pd.Series[Any], named: Ids, team: Crew) -> str:
    """Say whose time some tasks need too much of."""
    inside = np.zeros(len(team.names), dtype=np.bool_)
    inside[stuck.workers] = True
    needed = np.maximum(terms.size - (terms.allowed & ~inside).sum(axis=1), 0)

    def can(tasks: IntArray) -> int:
        """Labels that these workers can give to some tasks."""
        own = terms.allowed[tasks].sum(axis=0)
        return int(np.minimum(own, terms.capacity)[inside].sum())

    all_such = np.flatnonzero(needed)  # perhaps more tasks than there was need to look at
    those = all_such if needed[all_such].sum() > can(all_such) else stuck.tasks
    who = names(team.ids.all_back(team.names[at] for at in stuck.workers), NAMED)
    which = names([named.back(tasks.index[at]) for at in those], NAMED)
    return (
        f"There is no plan: {counted(len(those), 'task')} ({which}) need {needed[those].sum()} "
        f"labels of {who}, who can give {can(those)} there. Next: give these workers a larger "
        "capacity, let others label these tasks (`availability`), or ask for fewer labels a task "
        "(`least`)."
    )
