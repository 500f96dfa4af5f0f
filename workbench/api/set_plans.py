"""`plan` where answers are sets of labels: an error promised of each label, by one vector cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench.api import inputs
from workbench.api.crew import Askable
from workbench.api.measuring import SELDOM
from workbench.api.planned import PlannedPairs
from workbench.api.result import (
    MOST,
    Figure,
    as_promised,
    asked_for,
    facts,
    listed,
    names,
    page,
    percent,
)
from workbench.api.sets import (
    BY_LABEL,
    MeasuredSets,
    apart,
    beside_majority,
    nothing_measured,
)
from workbench.assignment.enough import mend
from workbench.assignment.set_plan import (
    SetAssignment,
    make_set_plan,
    measure_set_plan,
    set_needs,
    set_scores,
)
from workbench.base import checks
from workbench.base.errors import InputError
from workbench.base.text import Columns, counted
from workbench.crowd import align
from workbench.crowd.set_votes import SetVotes
from workbench.solving.claims import CostClaim

if TYPE_CHECKING:
    from workbench.solving import Solution

COLUMNS: Columns = {
    "label": ("label", ""),
    "share": ("share", ".3f"),
    "requirement": ("requires", ".3f"),
    "exact": ("error at most", ".4f"),
    "expected": ("in the mean", ".4f"),
}


@dataclass(frozen=True, eq=False, repr=False)
class SetPlan(PlannedPairs):
    """A plan to upload for sets of labels, and what is known of it.

    Attributes
    ----------
    table
        Columns `task, worker`, a row a purchase, which answers all labels; empty without a plan.
    vote
        What `aggregate(plan=)` takes: columns `of, task, worker, label, class, score`, for each
        label named by `of` what each answer says (`assignment.set_plan.set_scores`).
    by_label
        One row a label: `label, share, requirement, bound, exact, expected`; the largest bound on
        its error on any task, the largest exact error, and the exact one in the mean.
    set_error
        Expected share of wrong sets, if labels err independently too; None without a plan.
    tasks, workers, epsilon, promise
        How many tasks and workers; ε of each label, and whether it is of the error ("each") or of
        the bound on it.
    solution, claim
        The solved vector cover, and what is known of its cost.
    message
        What to do when there is no plan.
    error, met
        Errors of plans made by the same rule, measured on gold; and the share of the gold tasks
        whose labels meet the cover. None without a plan.
    without_history
        Workers of whom nothing is known: they get no task.
    """

    table: pd.DataFrame
    vote: pd.DataFrame
    by_label: pd.DataFrame
    set_error: float | None
    tasks: int
    workers: int
    epsilon: float
    promise: str
    solution: Solution
    claim: CostClaim
    message: str | None
    error: MeasuredSets | None
    met: float | None
    without_history: tuple[Any, ...]

    @property
    def solved(self) -> bool:
        """Whether it is proven the cheapest."""
        return self.message is None and self.claim.proven

    def plot(self) -> Figure:
        """Draw error and F1 of each label, as measured.

        Raises
        ------
        InputError
            There is no plan.
        """
        from workbench.plots import by_label

        if self.error is None:
            raise InputError(f"plot: there is no plan; {self.message}")
        return by_label(self.error.table, title=self._title())

    def verdict(self) -> list[str]:
        """Say what to buy, what it promises of each label, and what such plans measured."""
        if self.message is not None:
            return [self.message]
        cost = self.solution.objective
        price = f", for {cost:.6g}" if cost != len(self.table) else ""
        most, mean = (
            as_promised(100 * error, 100 * self.epsilon)
            for error in (self.by_label["exact"].max(), self.by_label["expected"].mean())
        )
        thin = self.met is not None and self.met < SELDOM
        missed = [] if self.error is None or thin else self.error.missed(self.epsilon)
        labels = (
            f"{counted(len(self.table), 'set')} of labels for {counted(self.tasks, 'task')} from "
            f"{self.table['worker'].nunique()} of {counted(self.workers, 'worker')}{price}"
        )
        sentences = [
            f"Do not buy this yet, {labels}: measured on your gold, such plans err too often on "
            f"{names(missed, 4)}."
            if missed
            else f"Buy {labels}: {self.claim.sentence('the cheapest')}.",
            "Proven, if workers err independently, on the average over what your gold leaves open: "
            f"each of the {len(self.by_label)} labels of each task is wrong with a chance of at "
            f"most {most} %, {mean} % in the mean{self._bounded()}; {percent(self.set_error)} of "
            "the sets are expected to be wrong in some label, which is not promised.",
            *self._asks_nothing(),
        ]
        if self.error is not None:
            sentences += self.error.verdict("the answers of such plans err")
        if thin:
            sentences.append(
                "Your gold has too few labels a task to tell whether such plans keep "
                f"{asked_for(self.epsilon)}: those who labelled it meet the cover on "
                f"{percent(self.met)} of it. Next: have more workers label these tasks, and plan "
                "again."
            )
        return sentences[: MOST + 1]

    def _bounded(self) -> str:
        """Say what the bound says, where it is what was promised."""
        if self.promise != "bound":
            return ""
        return f" (the bound says {percent(self.by_label['bound'].max())})"

    def _asks_nothing(self) -> list[str]:
        """Say where an ε asks for no more than to leave a label out throughout."""
        free = self.by_label.loc[self.by_label["requirement"] == 0, "label"].tolist()
        if not free:
            return []
        return [
            f"For {checks.listing(free)} an error of {asked_for(self.epsilon)} asks for nothing: "
            "so few tasks have it, or lack it; ask for less to find them."
        ]

    def brief(self) -> str:
        """Lay out what is promised of each label."""
        return "" if self.message is not None else listed(self.by_label, COLUMNS, 10)

    def details(self) -> str:
        """Say what it costs and promises, or why there is none."""
        if self.message is not None:
            return self.message
        solution = self.solution
        rows = [
            ("cost", f"{solution.objective:.10g}, {self.claim.sentence('the cheapest')}"),
            ("no plan costs less than", f"{self.claim.checked:.10g} (recomputed from the data)"),
            ("search", f"{solution.method}; ended: {solution.termination}"),
            ("sets, expected", f"{percent(self.set_error)} wrong, if labels err independently"),
        ]
        if self.met is not None:
            rows.append(("cover met", f"on {percent(self.met, 3)} of the control tasks"))
        if self.without_history:
            known = f"{len(self.without_history)} workers get no task, skill unknown"
            rows.append(("no history", f"{known}: {checks.listing(self.without_history)}"))
        return page(
            self._title(),
            facts(rows),
            listed(self.by_label, COLUMNS, 100),
            "" if self.error is None else listed(self.error.table, BY_LABEL, 100),
            notes=[
                "requires: what the answers to a label gather on every task; its error is at most "
                "√(ρ₀ρ₁) exp(−that)"
            ],
        )

    def _title(self) -> str:
        return (
            f"{self.tasks} tasks, {len(self.table)} sets of {len(self.by_label)} labels, "
            f"ε = {self.epsilon:.4g} a label"
        )

    def _payload(self) -> dict[str, Any]:
        hidden = ("assignment", "task_weights", "worker_prices")
        return {
            **{k: v for k, v in self.solution.as_dict().items() if k not in hidden},
            "message": self.message,
            "labels": len(self.table),
            "epsilon": self.epsilon,
            "promise": self.promise,
            "set_error_expected": self.set_error,
            "by_label_promised": self.by_label.to_dict("records"),
            **(nothing_measured() if self.error is None else self.error.payload()),
            "cover_met": self.met,
            "workers": self.workers,
            "without_history": self.without_history,
            "plan": self.table[["task", "worker"]].to_numpy().tolist(),
        }


def plan_sets(
    source: inputs.Given,
    gold: inputs.Truth | None,
    tasks: inputs.Tasks,
    epsilon: float | None,
    asked: Askable,
    costs: Any,
    promise: str,
    others: Mapping[str, object],
    *,
    gap: float,
    time_limit: float | None,
    seed: int,
) -> SetPlan:
    """Make the cheapest plan that keeps every label's error; the `others` are refused."""
    inputs.refuse(source.kind, others)
    if epsilon is None:
        raise InputError("give `epsilon`, the error that each label of a task may have")
    asked.check()
    epsilon = checks.inside("epsilon", epsilon)
    true, source = inputs.truth(gold, source)
    votes, codes = apart(source, true)
    kinds, named = inputs.task_types(tasks, default="all")
    if len(set(kinds)) > 1:
        raise InputError("tasks: sets are planned for tasks of one type; leave task_type out")
    labelled = [task for task in kinds.index if task in set(votes.tasks)]
    if labelled:
        raise InputError(
            f"tasks: {checks.show(labelled[0])} is labelled already; plan tasks without labels, "
            "and answer the others with `aggregate`"
        )
    price = inputs.prices(costs, source.workers, votes.workers)
    capacity = align.capacities(votes.workers, asked.most(votes.workers, source.workers))
    made = make_set_plan(
        votes,
        codes,
        len(kinds),
        epsilon,
        capacity,
        price,
        exact=promise != "bound",
        time_limit=time_limit,
        gap=gap,
        seed=seed,
    )
    error = met = None
    if made.chosen is not None:
        full = set_needs(made.skills, epsilon)
        share = np.divide(made.need, full, out=np.ones(len(full)), where=full > 0)
        found = measure_set_plan(
            votes, codes, epsilon, price, asked=capacity > 0, share=share, seed=seed
        )
        how, met = "each judged by a plan made without it", found.met
        error = beside_majority(votes, codes, found.errors, how)
    return _named(made, votes, source, kinds, named, epsilon, promise, error, met, asked)


def _named(
    made: SetAssignment,
    votes: SetVotes,
    source: inputs.Given,
    kinds: pd.Series[Any],
    named: inputs.Ids,
    epsilon: float,
    promise: str,
    error: MeasuredSets | None,
    met: float | None,
    asked: Askable,
) -> SetPlan:
    """The plan under the user's ids."""
    names, workers, there = votes.names, votes.workers, made.chosen is not None
    by_label = pd.DataFrame(
        {
            "label": names,
            "share": made.skills.prior[:, 1],
            "requirement": made.need,
            "bound": made.bounds.max(axis=0, initial=0.0) if there else np.nan,
            "exact": made.expected.max(axis=0, initial=0.0) if there else np.nan,
            "expected": made.expected.mean(axis=0) if there else np.nan,
        }
    )
    none = np.zeros((0, len(workers)))
    row, column = np.nonzero(none if made.chosen is None else made.chosen)
    table = pd.DataFrame({"task": kinds.index.to_numpy()[row], "worker": workers[column]})
    vote = pd.DataFrame(columns=["of", "task", "worker", "label", "class", "score"])
    if there:
        vote = set_scores(made, names, kinds.index.tolist(), workers.tolist())
    mine = asked.among(workers)
    strangers = [*workers[mine & ~made.skills.known], *asked.strangers(workers)]
    return SetPlan(
        source.workers.column(named.column(table, "task"), "worker"),
        source.workers.column(named.column(vote, "task"), "worker"),
        by_label,
        made.set_error,
        len(kinds),
        asked.size(workers),
        epsilon,
        promise,
        made.solution,
        CostClaim(made.solution.objective if there else None, made.least),
        None if there else _why(made, names, epsilon),
        error,
        met,
        tuple(asked.named(source.workers).all_back(strangers)),
    )


def _why(made: SetAssignment, names: list[str], epsilon: float) -> str:
    """Say why there is no plan, and what to do."""
    found = made.solution
    if found.infeasibility is None or not made.error_limit:
        mends = "" if made.enough is None else f"{mend(made.enough)}, "
        return f"No plan found. Next: {mends or 'a larger ε, '}larger capacities, or more time."
    known = "proven" if found.infeasibility.proven else "by HiGHS's word"
    least = percent(max(made.error_limit, epsilon))
    ask = f"no error below {least} can be promised of each label, ask for more"
    if made.enough is not None:
        ask = mend(made.enough)
    if found.short is not None:
        who = f"all workers together do not tell {names[found.short[1]]!r} well enough"
        return f"There is no plan, {known}: {who}. Next: {ask}; or find others."
    who = "the capacities are too small for all labels of all tasks"
    return f"There is no plan, {known}: {who}. Next: {ask}; or give larger capacities."
