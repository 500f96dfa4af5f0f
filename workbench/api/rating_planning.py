"""`plan` for ratings: who rates which task, so that each is off by ε points at most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench.aggregation.ratings import RatingModel
from workbench.api import inputs
from workbench.api.crew import Askable
from workbench.api.planned import PlannedPairs
from workbench.api.rating_votes import with_model
from workbench.api.ratings import by_gold, model_payload, scale_of, votes_of, worker_table
from workbench.api.result import Figure, as_promised, facts, listed, page, percent, picked
from workbench.assignment.enough import first_kept, mend
from workbench.assignment.rating_plan import assign_ratings
from workbench.base import checks
from workbench.base.arrays import BoolArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.base.text import Columns, counted
from workbench.crowd import align
from workbench.solving.claims import CostClaim
from workbench.solving.highs import RunOptions

if TYPE_CHECKING:
    from workbench.solving import Solution

BRIEF, SHOWN = 10, 30
LOADS: Columns = {
    "worker": ("worker", ""),
    "labels": ("ratings", ""),
    "noise": ("noise", ".3g"),
}


@dataclass(frozen=True, eq=False, repr=False)
class RatingPlan(PlannedPairs):
    """A plan of ratings to upload, and what it promises.

    Attributes
    ----------
    table
        Columns `task, worker`, a row a rating to buy.
    vote
        What `aggregate(plan=)` takes: the same and ratings on record, with the worker's level, gain
        and noise (a variance), and the terms of all.
    epsilon
        Root mean square error asked for, in points.
    errors
        By task the error that is promised; empty when there is no plan.
    loads
        Ratings to give by worker: `worker, labels, noise`.
    tasks, on_record
        How many tasks there are, and how many of their ratings count already.
    model
        What gold tells.
    made
        Root mean square error of the gold tasks, each estimated without itself.
    claim, solution
        What is known of the cost; the solved program.
    message
        Why there is no plan.
    """

    table: pd.DataFrame
    vote: pd.DataFrame
    epsilon: float
    errors: pd.Series[float]
    loads: pd.DataFrame
    tasks: int
    on_record: int
    model: RatingModel
    made: float
    claim: CostClaim
    solution: Solution
    message: str | None

    @property
    def solved(self) -> bool:
        """Whether it is proven the cheapest, but for the gap asked for."""
        return self.message is None and self.claim.proven

    def verdict(self) -> list[str]:
        """Say what to buy, and what it promises."""
        if self.message is not None:
            return [self.message]
        cost = self.solution.objective
        price = f", for {cost:.6g}" if cost != len(self.table) else ""
        record = f", beside {self.on_record} on record" if self.on_record else ""
        return [
            f"Buy {counted(len(self.table), 'rating')} of {counted(self.tasks, 'task')}{record} "
            f"from {self.table['worker'].nunique()} of {counted(len(self.loads), 'worker')}"
            f"{price}: {self.claim.sentence('the cheapest')}.",
            f"Each task is off by at most {self._most(self.errors.max())} points in root mean "
            f"square, {self._most(np.sqrt((self.errors**2).mean()))} over all: exact, if the "
            "ratings are as the gold has them (normal, each worker's noise her own, but for the "
            "floor).",
            "The floor, the variance that all raters of a task share, is set so that the model "
            f"predicts the {self.made:.3g} points made on left-out gold tasks; it alone makes "
            f"{self.model.terms.least:.3g}.",
            "Next: have these rated, then 'workbench aggregate --plan' estimates; measure it on "
            "fresh gold.",
        ]

    def _most(self, error: float) -> str:
        """Write an error that is promised, in points: not as more than was asked."""
        return as_promised(float(error), self.epsilon, 3)

    def brief(self) -> str:
        """Lay out who rates how many tasks."""
        return "" if self.message is not None else listed(self.loads, LOADS, BRIEF, " workers")

    def details(self) -> str:
        """Give the model, the program, and the loads."""
        if self.message is not None:
            return self.message
        terms, solution = self.model.terms, self.solution
        rows = {
            "cost": f"{solution.objective:.10g}, {self.claim.sentence('the cheapest')}",
            "search": f"{solution.method or solution.route}; ended: {solution.termination}",
            "precision asked": f"{terms.requirement(self.epsilon):.4g} a task",
            "slope": f"{terms.slope:.3g}",
            "floor": f"{np.sqrt(terms.floor):.3g} points",
            "truth": f"{self.model.mean:.4g} ± {np.sqrt(terms.variance):.3g}",
        }
        return page(
            f"{self.tasks} tasks, {len(self.table)} ratings, ε = {self.epsilon:g}",
            facts(rows.items()),
            listed(self.loads, LOADS, SHOWN, " workers"),
            notes=["who has no rating of a gold task gets none"],
        )

    def plot(self) -> Figure:
        """Draw how many ratings each worker gives, and how far each task may be off.

        Raises
        ------
        InputError
            There is no plan.
        """
        from workbench.plots import rating_plan

        if self.message is not None:
            raise InputError(f"plot: there is no plan; {self.message}")
        title = f"{self.tasks} tasks, {len(self.table)} ratings, ε = {self.epsilon:g} points"
        loads = self.loads.set_index("worker")["labels"]
        return rating_plan(loads, self.errors, self.epsilon, title=title)

    def _payload(self) -> dict[str, Any]:
        return {
            **picked(self, "epsilon", "tasks", "on_record", "message"),
            **picked(self.solution, "objective", "termination"),
            "bound": self.claim.bound,
            "certificate": self.claim.status,
            "labels": len(self.table),
            "rmse_most": float(self.errors.max()) if len(self.errors) else None,
            "rmse_left_out": self.made,
            **model_payload(self.model),
            "plan": self.table[["task", "worker"]].to_numpy().tolist(),
        }


def plan_ratings(
    source: inputs.Given,
    gold: inputs.Truth | None,
    tasks: inputs.Tasks,
    *,
    epsilon: float | None,
    asked: Askable,
    costs: inputs.PerWorker | None,
    gap: float,
    time_limit: float,
    seed: int,
) -> RatingPlan:
    """Make the cheapest plan of ratings that keeps ε on every task; see `plan`.

    Raises
    ------
    InputError
        No ε or no capacity; as `by_gold`; or no number of ratings keeps ε.
    """
    if epsilon is None:
        raise InputError("give `epsilon`: how far each task may be off, in points")
    asked.check()
    epsilon = checks.number("epsilon", epsilon, 0.0, scale_of(source).high - scale_of(source).low)
    teach, source = by_gold(source, gold, seed=seed)
    votes = votes_of(source)
    kinds, named = inputs.task_types(tasks, default="all")
    wanted = kinds.index.tolist()
    recorded = _recorded(wanted, votes.tasks, votes.task, votes.worker, len(votes.workers))
    mine, most = asked.among(votes.workers), asked.most(votes.workers, source.workers)
    capacity = align.capacities(votes.workers, most)
    each = inputs.prices(costs, source.workers, votes.workers)
    price = None if each is None else np.tile(each, (len(wanted), 1))
    assign = partial(assign_ratings, teach.model, capacity=capacity, recorded=recorded, price=price)
    found = assign(epsilon, gap=gap, time_limit=time_limit, seed=seed)
    there = found.solution.assignment is not None
    why = None
    if not there:

        def keeps(at: float, now: RunOptions) -> bool:
            again = assign(at, gap=now.gap, time_limit=now.time_limit or time_limit, seed=seed)
            return again.solution.assignment is not None

        asked_of = (teach.model.told > 0) & (capacity > 0)
        first = float(teach.model.terms.error(teach.model.precision[asked_of].sum()))
        top = scale_of(source).high - scale_of(source).low
        options = RunOptions(time_limit, gap, seed=seed)
        enough = first_kept(keeps, first, epsilon, options, most=top)
        why = _why(teach.model, asked_of, epsilon, found.solution, enough)
    pairs = _pairs(found.task, found.worker, wanted, votes.workers)
    task, worker = np.nonzero(recorded)
    have = _pairs(task, worker, wanted, votes.workers)
    noise = worker_table(votes, teach.ratings, teach.model).sort_index()["noise"]
    loads = pd.DataFrame(
        {
            "worker": votes.workers,
            "labels": np.bincount(found.worker, minlength=len(votes.workers)),
            "noise": noise,
        }
    )[mine].sort_values("labels", ascending=False, kind="stable", ignore_index=True)
    left = teach.left

    def back(table: pd.DataFrame) -> pd.DataFrame:
        return source.workers.column(named.column(table, "task"), "worker")

    vote = with_model(pd.concat([pairs, have], ignore_index=True), votes.workers, teach.model)
    return RatingPlan(
        back(pairs),
        back(vote),
        epsilon,
        pd.Series(found.error, index=named.index(wanted)) if there else pd.Series(dtype=float),
        source.workers.column(loads, "worker"),
        len(wanted),
        int(recorded.sum()),
        teach.model,
        float(np.sqrt(((left.value - left.truth) ** 2).mean())),
        found.claim,
        found.solution,
        why,
    )


def _why(
    model: RatingModel,
    known: BoolArray,
    epsilon: float,
    solution: Solution,
    enough: float | None,
) -> str:
    """Why there is no plan by the workers `known`, and what to ask for."""
    ask = "ask for more points" if enough is None else mend(enough)
    if solution.termination != "infeasible":
        return f"No plan was found ({solution.termination}). Next: give more time; or {ask}."
    needed, all_ = model.terms.requirement(epsilon), float(model.precision[known].sum())
    if all_ < needed:
        least = float(model.terms.error(all_))
        return (
            f"No plan keeps {epsilon:g} points: where all {int(known.sum())} workers known by gold "
            f"rate a task it is off by {least:.3g}. Next: {ask}."
        )
    return (
        f"No plan keeps {epsilon:g} points on all tasks: a task takes {percent(needed / all_)} of "
        "all workers' precision, and capacities do not hold so many. Next: raise them, or "
        f"{ask}."
    )


def _pairs(task: IntArray, worker: IntArray, tasks: list[str], workers: Names) -> pd.DataFrame:
    """Pairs as a table `task, worker`, by name."""
    names: Names = np.array(tasks, dtype=object)
    return pd.DataFrame({"task": names[task], "worker": workers[worker]})


def _recorded(
    wanted: list[str], tasks: Names, task: IntArray, worker: IntArray, workers: int
) -> BoolArray:
    """Which wanted pairs are rated already, shape (n, m)."""
    row = pd.Index(wanted).get_indexer(pd.Index(tasks))[task]
    found: BoolArray = np.zeros((len(wanted), workers), dtype=bool)
    found[row[row >= 0], worker[row >= 0]] = True
    return found
