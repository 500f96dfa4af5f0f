"""`plan`: who labels which task, at what cost, how wrong it may come out, and what is proven."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

import numpy as np
import pandas as pd

from crowd_models.gains import gain_of
from workbench.api import inputs
from workbench.api.costs import amount, by_class, outcome_payload
from workbench.api.crew import Askable, crew
from workbench.api.inputs import Ids, LabelTable, PerWorker, Table, Tasks, Truth
from workbench.api.measuring import GoldError, payload_of, rare_class
from workbench.api.planned import PlannedPairs
from workbench.api.result import MOST, Figure, as_promised, asked_for, facts, names, percent
from workbench.api.set_plans import SetPlan, plan_sets
from workbench.assignment import make_plan as room
from workbench.assignment.measure_plan import PlanFromGold, takes_rows
from workbench.base import checks
from workbench.base.arrays import IntArray, Names
from workbench.base.errors import InputError
from workbench.base.text import counted
from workbench.crowd import reading, tables
from workbench.crowd.confusion import constant_in
from workbench.crowd.empirical_bayes import fitted_priors, fitted_skills
from workbench.crowd.gold_rule import gold_codes
from workbench.crowd.kinds import Classes, LabelSets, Scale
from workbench.crowd.libraries import to_pandas
from workbench.crowd.loss import CostOutcome, Stakes, stakes_of, two_named
from workbench.crowd.skills import skills_from_gold
from workbench.crowd.votes import Votes

if TYPE_CHECKING:
    from workbench.api.crew import WorkerList
    from workbench.api.even_plan import EvenPlan
    from workbench.api.label_plan import SequentialPlan
    from workbench.api.rating_planning import RatingPlan
    from workbench.solving import Solution
    from workbench.solving.claims import CostClaim

Pairs: TypeAlias = "Table | Iterable[tuple[Any, Any]]"
"""Pairs (task, worker)."""
Ability: TypeAlias = "pd.DataFrame | pd.Series[Any] | room.Confusions"
"""Skills by worker and type, or confusion matrices: what is known of the workers."""
History: TypeAlias = "tuple[pd.DataFrame, pd.Series[Any], pd.Series[Any] | None]"
"""Labels that workers gave before, the true ones, and the types of their tasks."""
Sequential: TypeAlias = "bool | Literal['error', 'mean', 'posterior']"
"""Whether labels are looked at, and what is promised: `True` is "error"."""
DRAWN = 1e-6
"""Radius from which an error was drawn; below it is rounding."""
Said: TypeAlias = "tuple[Mapping[Any, float] | None, Mapping[Any, float] | None]"
"""What a user says that errors cost, and how frequent classes are."""
HIDDEN = ("assignment", "task_weights", "worker_prices")
"""What goes by index, where a plan goes by name."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(PlannedPairs):
    """A plan to upload, and what is known of it.

    Attributes
    ----------
    table
        Columns `task, worker`, a row a label to buy, and of two classes `weight`, that in the vote;
        empty when there is no plan.
    counted
        The same of the labels on record that count: they vote with those to buy.
    left_out
        Labels on record of the same tasks that do not count: their workers' skill is unknown.
    errors
        By task the error of the vote, labels on record included: `exact`, if skills are as given
        and labels independent, and `bound`, as the cover promises. Empty when there is no plan.
    skills
        Probability of a right label by worker and task type, as the plan takes them.
    without_history
        Workers of whom nothing is known: they get no task.
    epsilon
        Error asked for; of a plan for a budget the largest exact error of a task.
    solution
        The solved program: termination, proven bound, certificate.
    message
        What to do when there is no plan.
    promise, gain
        What was asked (see `PlanOptions`), and what a label counts in a bound.
    levels
        By task type, about the error that covers of as many labels promise.
    error_radius
        How far an exact error may be off; 0 but where answers were drawn (several classes).
    total
        The budget, where one was given in place of an error.
    error
        The error of the plan's vote, measured on the gold by the rule behind the plan, made anew
        without a part of the control tasks; and how far its workers err independently. None
        without labels and gold, and without a plan.
    claim
        What is known of the cost for the problem that was asked; None for nothing.
    from_gold
        Whether skills were learnt from gold, so that promises hold on the average over what it
        leaves open.
    surely
        Share of the draws from what gold leaves open of the skills in which the mean error is at
        most ε; None where that was not asked.
    kept
        Where there is no plan: that of the tasks that can be kept together.
    again
        Makes the plan for another promise.
    constant
        Workers who name one class throughout, also where gold names another: they get no task.
    commonest
        The most frequent class of the gold, and its share there; None without gold.
    scores
        The vote of several classes, or of two where workers are known by rows: columns `task,
        worker, label, class, score`, what each label that may come in says for each class; in rows
        without worker and label what speaks for a class before any. None of a vote by weights, and
        when there is no plan.
    promised
        Where it is said what errors cost: the expected cost, error, recall and precision that the
        plan promises, in the mean over the tasks; `errors` are expected costs then, and `epsilon`
        is one. None elsewhere.
    class_names
        Of `promised`, in its order.
    """

    table: pd.DataFrame
    counted: pd.DataFrame
    left_out: int
    errors: pd.DataFrame
    skills: pd.DataFrame
    without_history: tuple[Any, ...]
    tasks: int
    epsilon: float
    solution: Solution
    message: str | None
    promise: str = "bound"
    gain: str = "hoeffding"
    levels: pd.Series[Any] | None = None
    error_radius: float = 0.0
    total: float | None = None
    error: GoldError | None = None
    claim: CostClaim | None = None
    scores: pd.DataFrame | None = None
    from_gold: bool = False
    surely: float | None = None
    kept: Plan | None = None
    again: Callable[[room.Promise], room.AssignmentPlan] | None = None
    constant: tuple[Any, ...] = ()
    commonest: tuple[Any, float] | None = None
    promised: CostOutcome | None = None
    class_names: tuple[Any, ...] = ()

    @property
    def solved(self) -> bool:
        """Whether it is proven the cheapest, but for the gap asked for."""
        return self.claim is not None and self.claim.proven

    @property
    def vote(self) -> pd.DataFrame:
        """What `aggregate(plan=)` takes, labels on record included: weights, or `scores`."""
        if self.scores is not None:
            return self.scores
        return pd.concat([self.table, self.counted], ignore_index=True)

    def verdict(self) -> list[str]:
        """Say what to buy, what it promises, and what such plans measured on gold."""
        if self.message is not None:
            return [self.message, *self._part()]
        cost = self.solution.objective
        price = f", for {cost:.6g}" if cost != len(self.table) else ""
        record = f", beside {len(self.counted)} on record" if len(self.counted) else ""
        missed = self.error is not None and self.error.misses(self.epsilon)
        labels = (
            f"{counted(len(self.table), 'label')} of {counted(self.tasks, 'task')}"
            f"{record} from {self.table['worker'].nunique()} of "
            f"{counted(len(self.skills), 'worker')}{price}{self._idle()}"
        )
        too_much = "err too often" if self.promised is None else "cost too much"
        sentences = [
            f"Do not buy this yet, {labels}: measured on your gold, such plans {too_much}."
            if missed
            else f"Buy {labels}: {self._cheapest()}.",
            f"{self._promised()}{'; your gold speaks against that' if missed else ''}.",
        ]
        sentences += self._asks_nothing()
        if self.surely is not None:
            sentences.append(
                f"The mean error is at most {asked_for(self.epsilon)} in {percent(self.surely)} of "
                "200 draws from what your gold leaves open of the skills."
            )
        if self.error is not None:
            sentences += self.error.verdict(
                "the vote of such a plan is",
                (len(self.table) + len(self.counted)) / max(self.tasks, 1),
            )
            sentences += self._as_asked(self.error)
        return sentences[:MOST]

    def _idle(self) -> str:
        """Who gets no task whatever is asked, and why; empty where there is nobody."""
        reasons = {
            "always naming one class tells nothing": len(self.constant),
            "nobody knows their skill": len(self.without_history),
        }
        said = [
            f"{many} get{'s' if many == 1 else ''} none: {why}"
            for why, many in reasons.items()
            if many
        ]
        return f" ({'; '.join(said)})" if said else ""

    def _asks_nothing(self) -> list[str]:
        """Say where an ε asks for no more than to name the commonest class throughout."""
        if self.commonest is None or self.total is not None or self.promise == "class":
            return []
        name, share = self.commonest
        if 1.0 - share > self.epsilon or self.promised is not None:
            return []
        return [
            f"Without a label, {name!s} for every task is wrong on {percent(1.0 - share)} of your "
            f"gold: an error of {asked_for(self.epsilon)} need find none of the others; ask for "
            "less, or --promise class."
        ]

    def _cheapest(self) -> str:
        """What is known of the cost, in a few words."""
        if self.total is not None:
            least = "error" if self.promised is None else "expected cost"
            return f"the lowest {least} found that {self.total:g} buys"
        if self.surely is not None:
            return "the cheapest found that keeps the error in the share of draws asked for"
        if self.claim is None:
            return "the cheapest of covers found"
        return self.claim.sentence("the cheapest")

    def _promised(self) -> str:
        """What the plan promises, and under which assumptions."""
        exact = self.errors["exact"]
        twice = 2 if self.promise == "mean" else 1
        most, mean = self._most(exact.max(), twice), self._most(exact.mean())
        word = "By drawn answers" if self.error_radius > DRAWN else "Proven"
        known = ", on the average over what your gold leaves open of their skills"
        if not self.from_gold:
            known = ", skills are as given and there are two classes"
        known += self._shares()
        head = f"{word}, if workers err independently{known}"
        if self.promised is not None:
            return f"{head}: {self._costs(self.promised)}"
        if self.promise == "mean":
            return f"{head}: {mean} of the tasks are wrong in the mean, and none above {most}"
        whichever = ", whichever class is true" if self.promise == "class" else ""
        said = f"each task is wrong with a chance of at most {most}{whichever}, {mean} in the mean"
        if self.promise == "bound" and self.total is None:
            said += f" (the bound says {self._most(self.errors['bound'].max())})"
        return f"{head}: {said}"

    def _most(self, error: float, times: int = 1) -> str:
        """Write an error that is promised, in percent: not as more than was asked, so many ε."""
        asked = None if self.total is not None else 100 * times * self.epsilon
        return f"{as_promised(100 * error, asked)} %"

    def _costs(self, promised: CostOutcome) -> str:
        """What the plan promises where it is said what errors cost."""
        times = 2 if self.promise == "mean" else 1
        asked = None if self.total is not None else times * self.epsilon
        most = as_promised(float(self.errors["exact"].max()), asked, 3)
        each = f", {amount(promised.cost)} in the mean"
        if self.promise == "mean":
            each = f" and {amount(promised.cost)} in the mean"
        return (
            f"an answer costs at most {most} in expectation{each}; "
            f"{by_class(promised, self.class_names)}"
        )

    def _shares(self) -> str:
        """How frequent the promise takes the classes to be, where it does."""
        stated = self.promised is not None
        if self.scores is None or self.promise == "class" or not (self.from_gold or stated):
            return ""
        first = self.scores[self.scores["task"] == self.scores["task"].iloc[0]]
        prior = first[first["worker"].isna()]
        shares = [
            f"{percent(float(np.exp(score)))} {name}"
            for name, score in zip(prior["class"], prior["score"], strict=True)
        ]
        frequent = names(shares, 4)
        if stated:
            return f", classes being {frequent}"
        return f", classes being as frequent as there ({frequent})"

    def _part(self) -> list[str]:
        """What the plan of the tasks that can be kept costs."""
        if self.kept is None:
            return []
        part = self.kept
        near = "" if part.claim is None else f", {part.claim.sentence('the cheapest')}"
        return [
            f"To keep {counted(part.tasks, 'task')} takes {counted(len(part.table), 'label')}"
            f"{near}: `kept`, in Python and in JSON, is their plan."
        ]

    def _as_asked(self, error: GoldError) -> list[str]:
        """Hold the error measured against the one asked for, and say what to do."""
        if self.total is not None:
            return []
        asked, tasks = asked_for(self.epsilon), error.measured.tasks_measured
        wrong = error.measured.wrong
        if error.costs is not None:
            asked = f"a cost of {amount(self.epsilon)}"
            wrong = error.costs.outcome.cost * tasks
        if error.misses(self.epsilon):
            return [
                f"Asked was {asked} at most. Next: give more gold, to know these workers better, "
                "or find others; 'workbench audit' proves how many of the answers are wrong, "
                "whoever gives them."
            ]
        if error.thin and wrong > self.epsilon * tasks:
            return [
                f"Asked was {asked} at most. Your gold has too few labels a task to tell whether "
                f"such plans keep it: it has what they buy on {percent(error.measured.met)} of its "
                "tasks. Next: have more workers label these, and plan again."
            ]
        if tasks and wrong > self.epsilon * tasks:
            return [
                f"Asked was {asked} at most: {tasks} gold tasks leave open whether such plans "
                "keep it."
            ]
        return error.together()

    def details(self) -> str:
        """Say what it costs and promises, or why there is none."""
        if self.message is not None:
            return self.message
        solution, errors = self.solution, self.errors
        drawn = f" (± {self.error_radius:.2g}, drawn)" if self.error_radius > DRAWN else ""
        head = (
            f"{counted(self.tasks, 'task')}, {counted(len(self.table), 'label')} by "
            f"{self.table['worker'].nunique()} of {counted(len(self.skills), 'worker')}"
        )
        bound = "not known"
        if self.claim is not None and self.claim.bound is not None:
            checked = self.claim.checked
            bound = f"{self.claim.bound:.10g} (recomputed from the data: "
            bound += "nothing)" if checked is None else f"{checked:.10g})"
        of = "no plan costs less than"
        if self.total is not None:
            of, bound = (
                "covers",
                f"promise {listed(self.levels)}" if self.levels is not None else "",
            )
        what = "error" if self.promised is None else "expected cost of an answer"
        rows = {
            "cost": f"{solution.objective:.10g}, {self._cheapest()}",
            of: bound,
            "search": f"{solution.method or solution.route}; ended: {solution.termination}",
            f"{what}, exact": f"at most {errors['exact'].max():.4g} on every task{drawn}, "
            f"{errors['exact'].mean():.4g} on average, if skills are as given and labels "
            "independent",
            f"{what}, bound": f"at most {errors['bound'].max():.4g} on every task "
            f"({gain_of(self.gain).source})",
            **self._other_promises(),
        }
        if many := len(self.counted) + self.left_out:
            count = f"{len(self.counted)} counted, of {self.counted['task'].nunique()} tasks"
            unknown = f"; {self.left_out} left out, skill unknown" if self.left_out else ""
            rows = {"labels on record": count + unknown, **rows}
        if many := len(self.without_history):
            names = checks.listing(self.without_history)
            verb = "gets" if many == 1 else "get"
            rows["no history"] = f"{counted(many, 'worker')} {verb} no task, skill unknown: {names}"
        predicted = facts(rows.items(), indent="  ")
        if self.error is None:
            return f"{head}\n{predicted}"
        cautions = "\n".join(f"- {caution}" for caution in self.error.cautions())
        parts = filter(None, (f"{head}\n{self.error.lines('  ')}", predicted, cautions))
        return "\n\n".join(parts)

    def _other_promises(self) -> dict[str, str]:
        """What each other promise would cost: worked out when it is asked for."""
        if self.again is None or self.total is not None:
            return {}
        two = self.scores is None
        others = [name for name in get_args(room.Promise) if name != self.promise]
        costs = {}
        for name in others:
            if (two and {name, self.promise} == {"each", "class"}) or (
                name == "class" and self.promised is not None
            ):
                continue
            made = self.again(name)
            cost = made.solution.objective if made.message is None else None
            claim = "" if made.claim is None else f", {made.claim.sentence('the cheapest')}"
            costs[f"promise {name}"] = "no plan found" if cost is None else f"{cost:.10g}{claim}"
        return costs

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
        title = f"{counted(self.tasks, 'task')}, {counted(len(self.table), 'label')}"
        errors, priced = self.errors, self.promised is not None
        if self.promise != "bound":  # then the bound is no promise, and above ε
            errors = errors.drop(columns="bound")
        return plots.plan(
            self.table["worker"].value_counts(),
            errors,
            None if self.error is None else self.error.drawn(cost=priced),
            epsilon=None if self.total is not None else self.epsilon,
            said=self._drawn(),
            priced=priced,
            title=title,
        )

    def _drawn(self) -> dict[str, str]:
        """Write what the picture draws of what is promised and asked, as the verdict says it."""
        most, asked = float(self.errors["exact"].max()), asked_for(self.epsilon)
        said = self._most(most, 2 if self.promise == "mean" else 1)
        if self.promised is not None:
            said, asked = amount(most), f"a cost of {amount(self.epsilon)}"
        word = "by drawn answers" if self.error_radius > DRAWN else "proven"
        return {
            "exact": f"{word}, if workers err independently: {said} at most",
            "asked": f"asked for: {asked} at most",
        }

    def _payload(self) -> dict[str, Any]:
        payload = {k: v for k, v in self.solution.as_dict().items() if k not in HIDDEN}
        there = self.message is None
        if there:  # A bound of another program than the one asked is none.
            payload |= {
                "bound": None if self.claim is None else self.claim.bound,
                "gap": None if self.claim is None else self.solution.gap,
                "certificate": None if self.claim is None else payload["certificate"],
            }
        return {
            **payload,
            "message": self.message,
            "labels": len(self.table),
            **payload_of(self.error),
            "error_exact": float(self.errors["exact"].mean()) if there else None,
            "error_bound": float(self.errors["bound"].max()) if there else None,
            "error_exact_most": float(self.errors["exact"].max()) if there else None,
            "epsilon": self.epsilon,
            "total": self.total,
            "promise": self.promise,
            "sure": self.surely,
            "kept": None if self.kept is None else self.kept.to_dict(),
            "gain": self.gain,
            "levels": None if self.levels is None else self.levels.to_dict(),
            "workers": len(self.skills),
            "without_history": self.without_history,
            "plan": self.table[["task", "worker"]].to_numpy().tolist(),
            "weights": _weights(self.table),
            "counted": self.counted[["task", "worker"]].to_numpy().tolist(),
            "counted_weights": _weights(self.counted),
            "left_out": self.left_out,
            "constant": self.constant,
            **self._promised_payload(),
        }

    def _promised_payload(self) -> dict[str, Any]:
        if self.promised is None:
            return {}
        return {"cost_promised": outcome_payload(self.promised, self.class_names)}


@dataclass(frozen=True)
class TaskLimits:
    """Which labels a plan may hold, and how many of a task.

    Parameters
    ----------
    availability
        Who may label which task: columns `task`, `worker`. [default: every pair]

        A frame, a file or a list of pairs.
    have
        Labels on record, beside those given to judge workers; 'none' to count none of either.

        Each counts as much as its worker's skill says, costs nothing, takes nothing of her
        capacity, and is not asked for again.
    least
        Fewest labels of a task, those on record included.
    most
        Most labels of a task.

        Where workers share labels evenly, each task gets `least`.

    Examples
    --------
    >>> import workbench as wb
    >>> skills = {"ann": 0.9, "bob": 0.9, "eve": 0.9}
    >>> two = wb.TaskLimits(least=2)
    >>> len(wb.plan(tasks=["a"], skills=skills, epsilon=0.2, capacity=1, limits=two).to_frame())
    2
    """

    availability: Pairs | None = None
    have: LabelTable | None = None
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True)
class PlanOptions:
    """What is promised of a plan, and how its program is solved.

    Parameters
    ----------
    promise
        The error of each task; the mean, no task above twice the error; each task's worst true
        class; or a bound on each task's error, which takes twice the labels.

        All but `bound` are of the exact error of the vote, if skills are as given.
    gain
        Bound on a task's error: Bhattacharyya's, or the paper's Lemma 1.

        `bhattacharyya` is for the vote with log-odds weights; `hoeffding` for weights 2p − 1 and
        two classes. Goes with promise `bound`, and with a total.
    sure
        Two classes: share of draws of what gold leaves open of the skills in which the mean error
        keeps to the error asked for.
    gap
        Relative gap to stop at.
    time_limit
        Seconds for the solver.
    threads
        Threads of the solver.
    sequential
        Two classes: buy labels one by one. Promised is each task's error, the mean, or the
        posterior error at which a task is closed.

        `True` is "error". Without a total, `availability`, `have`, `least`, `most`, and with
        `promise` and `gain` left as they are.

    Examples
    --------
    >>> import workbench as wb
    >>> skills = {"ann": 0.9, "bob": 0.9, "cy": 0.9, "dee": 0.9}
    >>> paper = wb.PlanOptions(promise="bound", gain="hoeffding")
    >>> len(wb.plan(tasks=["a"], skills=skills, epsilon=0.3, capacity=1, options=paper).to_frame())
    4
    """

    promise: room.Promise = "each"
    gain: str = "bhattacharyya"
    sure: float | None = None
    gap: float = 0.001
    time_limit: float = 30.0
    threads: int = 1
    sequential: Sequential = False


def plan(
    labels: LabelTable | None = None,
    gold: Truth | None = None,
    tasks: Tasks | None = None,
    *,
    epsilon: float | None = None,
    capacity: int | PerWorker | None = None,
    total: float | None = None,
    skills: Table | PerWorker | None = None,
    workers: WorkerList | None = None,
    costs: PerWorker | None = None,
    loss: Mapping[Any, float] | None = None,
    class_share: Mapping[Any, float] | None = None,
    limits: TaskLimits | None = None,
    options: PlanOptions | None = None,
    seed: int = 0,
) -> Plan | SequentialPlan | EvenPlan | SetPlan:
    """Make the cheapest plan that covers every task, and say what is proven of it.

    Or, of workers without skills, share so many labels a task evenly.

    Parameters
    ----------
    labels
        Instead of skills: labels given before, columns `task`, `worker`, `label`.

        Of two classes a worker's skill is the mean of what her gold answers say under a prior
        fitted to all workers'; of more, each has a confusion matrix, drawn toward that of all
        workers.
    gold
        True labels to judge them by: columns `task`, `gold`, `task_type` where there are types.
        [default: gold in the labels, if any]
    tasks
        Tasks to be labelled: columns `task`, `task_type` (or `task` alone).

        A list, or the type of each, too.
    epsilon
        Largest error that each task may have.

        Of ratings the root mean square error, in points; of sets, of each label of a task.

        From ½ on (of two classes), nothing is bought.
    total
        In place of an error: what all labels may cost. The lowest error common to all tasks is
        sought.
    capacity
        Most tasks a worker takes: a number, or columns `worker`, `capacity`.
    skills
        Columns `worker`, `task_type`, `skill`; or `worker` and one column per task type. Of two
        classes, each worker right as often whichever is true; of more classes give labels and gold.

        Or a Series by worker (NaN for one without history).
    workers
        Who may be asked: names, or columns `worker`, `capacity`, `available`; skills are learnt
        from everybody's labels. Without labels and skills: who shares `least` labels per task
        evenly, a number of workers too, and with a column `share`.

        As `hire` gives them, in its table or its result; for all others the capacity is 0. Where
        labels are shared evenly, the largest load is the least there is, beside the worker's share
        of the work (1 where not given); two workers who share the fewest tasks share as many as can
        be; all are connected where they can be. Available is yes or no.
    costs
        Price of a label: columns `worker`, `task_type`, `cost`; or `worker`, `cost`. [default: 1]
    loss
        What it costs to miss a class. [default: 1 each]

        The error asked for is then the expected cost of an answer.

        By true class, {"yes": 5}; a class that is not named costs 1. With `skills` name both.
    class_share
        How frequent the classes are. [default: as in the gold; with skills, alike]

        Where it is known better than from the gold.

        By class, {"yes": 0.1}; the class that is not named has the rest.
    limits
        A `TaskLimits`.
    options
        A `PlanOptions`.
    seed
        Same seed, same result.

        Of the solver.

    Returns
    -------
    Plan or, where it is sequential, SequentialPlan; of workers EvenPlan; of ratings RatingPlan; of
        sets SetPlan.

        Also when none was proven the cheapest, or there is none: see `solved` and `message`.

    Raises
    ------
    InputError
        Frames without the columns, ids of another type than the labels', a task type without
        skills, a worker without capacity or price, ε outside (0, 1).

    Notes
    -----
    Source: Ho, Jabbari, Vaughan (2013), (1)–(3); `crowd_models.gains` and `crowd_models.joint`. The
    paper's own plan is that of `promise="bound"` and `gain="hoeffding"`.

    Examples
    --------
    >>> import workbench as wb
    >>> skills = {"ann": 0.9, "bob": 0.9, "eve": 0.5}
    >>> made = wb.plan(tasks=["a", "b"], skills=skills, epsilon=0.15, capacity=1)
    >>> made.to_frame()["worker"].sort_values().tolist(), float(made.errors["exact"].max().round(3))
    (['ann', 'bob'], 0.1)
    """
    options = options or PlanOptions()
    limits = limits or TaskLimits()
    if tasks is None:
        raise InputError("tasks: nothing (None); give a list of tasks, or the type of each")
    others: dict[str, object] = {"epsilon": epsilon, "total": total, "labels": labels, "gold": gold}
    others |= {"costs": costs, "options": None if options == PlanOptions() else options}
    others |= {"loss": loss, "class_share": class_share}
    known = labels is not None or skills is not None
    if workers is not None and not (known and (epsilon is not None or total is not None)):
        others["skills"] = skills
        return _evenly(workers, tasks, capacity, limits, others, seed)
    if skills is not None and limits.least and epsilon is total is None:
        ability, ids = _known(skills)
        names = ids.all_back(ability.index)
        evenly = _evenly(names, tasks, capacity, limits, others, seed)
        return replace(evenly, unread=True)
    asked = Askable.of(workers, capacity)
    said = loss, class_share
    source = None
    if labels is not None and skills is None:
        source = inputs.given(labels, kinds=(Classes, Scale, LabelSets))
        if isinstance(source.kind, Scale):
            by_points: Any = _of_ratings(
                source, gold, tasks, epsilon, asked, total, costs, limits, options, said, seed
            )
            return cast(Plan, by_points)
        if isinstance(source.kind, LabelSets):
            stated = {"total": total, "loss": loss, "class_share": class_share}
            return plan_sets(
                source,
                gold,
                tasks,
                epsilon,
                asked,
                costs,
                options.promise,
                {**stated, **vars(limits), **_of_votes(options)},
                gap=options.gap,
                time_limit=options.time_limit,
                seed=seed,
            )
    elif labels is not None:
        raise InputError("give `skills`, or `labels` with `gold` to estimate them, not both")
    return _cheapest(
        source, gold, tasks, epsilon, asked, total, skills, costs, limits, options, said, seed
    )


def _of_ratings(
    source: inputs.Given,
    gold: Truth | None,
    tasks: Tasks,
    epsilon: float | None,
    asked: Askable,
    total: float | None,
    costs: PerWorker | None,
    limits: TaskLimits,
    options: PlanOptions,
    said: Said,
    seed: int,
) -> RatingPlan:
    """The plan of ratings."""
    from workbench.api.rating_planning import plan_ratings

    kept = replace(PlanOptions(), gap=options.gap, time_limit=options.time_limit)
    others = {"total": total, **vars(limits), "loss": said[0], "class_share": said[1]}
    inputs.refuse(source.kind, {**others, "options": None if options == kept else options})
    return plan_ratings(
        source,
        gold,
        tasks,
        epsilon=epsilon,
        asked=asked,
        costs=costs,
        gap=options.gap,
        time_limit=options.time_limit,
        seed=seed,
    )


def _cheapest(
    labels: inputs.Given | None,
    gold: Truth | None,
    tasks: Tasks,
    epsilon: float | None,
    asked: Askable,
    total: float | None,
    skills: Table | PerWorker | None,
    costs: PerWorker | None,
    limits: TaskLimits,
    options: PlanOptions,
    said: Said,
    seed: int,
) -> Plan | SequentialPlan:
    """The cheapest plan that keeps an error, made ahead or label by label."""
    if (skills is None) == (labels is None):
        raise InputError(
            "give `skills`, or `labels` with `gold` to estimate them; or `workers` and `least`, to "
            "share so many labels a task evenly"
        )
    asked.check()
    if skills is not None and gold is not None:
        raise InputError("`gold` goes with `labels`: leave it out where skills are given")
    ability, workers, classes, history, strength = _able(skills, labels, gold)
    ability, stakes, classes = _at_stake(said, ability, history, classes)
    kinds, named = inputs.task_types(tasks, default=_only(ability))
    most_tasks = asked.most(_known_workers(ability), workers)
    workers = asked.named(workers)
    if options.sequential is not False:
        prices = inputs.by_worker("costs", costs, workers, tables.read_costs)
        from workbench.api.label_plan import label_plan, sequential_promise

        ability = _two_classes(ability, _made_ahead(total, limits, options, said))
        return label_plan(
            ability.loc[asked.among(_known_workers(ability))],
            kinds,
            workers,
            most_tasks,
            prices,
            epsilon,
            sequential_promise(options.sequential),
            gap=options.gap,
            time_limit=options.time_limit,
            seed=seed,
        )
    pairs = None
    if limits.availability is not None:
        pairs, workers = _pairs(limits.availability, named, workers)
    prices = inputs.by_worker("costs", costs, workers, tables.read_costs)
    record = _record(None if history is None else history[0], limits.have, named, workers)
    record = record[record["task"].isin(kinds.index)]
    terms = room.AssignmentTerms(
        most_tasks,
        epsilon,
        prices,
        pairs,
        options.promise,
        options.gain,
        total,
        record,
        limits.least,
        limits.most,
        options.sure,
        strength,
        stakes,
    )
    compared = False
    if history is not None and isinstance(ability, pd.DataFrame):
        compared, better = takes_rows(*history[:2], ability, kinds, terms, seed=seed)
        if better:
            ability = room.confusions(*history)
    make = partial(room.make_plan, ability, kinds, gap=options.gap, threads=options.threads)
    program = make(terms, time_limit=options.time_limit, seed=seed)
    error = None
    if history is not None:
        error = _measured(history, program, kinds, terms, compared, classes, seed)
    made = replace(
        _plan(program, terms, kinds, named, workers, error),
        from_gold=history is not None,
        constant=() if history is None else _constant(history, workers),
        commonest=None if history is None else _commonest(history[1], classes),
        again=partial(_again, make, terms, time_limit=options.time_limit, seed=seed),
    )
    if program.kept is not None and program.why is not None and program.why.kept is not None:
        some = kinds.loc[kinds.index[program.why.kept.kept]]
        made = replace(made, kept=_plan(program.kept, terms, some, named, workers, None))
    made = _restricted(made, workers, asked)
    if program.scores is None:
        return made
    scores = workers.column(named.column(program.scores, "task"), "worker")
    return replace(
        _promising(made, program, classes), scores=classes.column(scores, "label", "class")
    )


def _promising(made: Plan, program: room.AssignmentPlan, classes: Ids) -> Plan:
    """The plan with the costs that it promises, where it is said what errors cost."""
    if program.stakes is None or program.named is None:
        return made
    names = tuple(classes.all_back(program.stakes.classes))
    return replace(made, promised=program.stakes.outcome(program.named), class_names=names)


def _of_votes(options: PlanOptions) -> dict[str, object]:
    """What is asked for that only plans of one label a task take."""
    plain, names = PlanOptions(), ["gain", "sure", "sequential"]
    names += ["promise"] if options.promise not in (plain.promise, "bound") else []
    changed = {name: getattr(options, name) for name in names}
    return {name: each for name, each in changed.items() if each != getattr(plain, name)}


def _evenly(
    workers: WorkerList,
    tasks: Tasks,
    capacity: int | PerWorker | None,
    limits: TaskLimits,
    others: Mapping[str, object],
    seed: int,
) -> EvenPlan:
    """Share so many labels a task evenly, where none of the `others` is given."""
    from workbench.api.even_plan import plan_evenly

    for name in (name for name, value in others.items() if value is not None):
        raise InputError(
            f"`{name}` is not for labels shared evenly among `workers`: leave {name} out, or give "
            "both an error to keep and the `skills` of these workers, or `labels` with `gold`"
        )
    if limits.least is None or limits.least < 1:
        raise InputError("give `least`, the labels that each task is to have, 1 or more")
    if limits.most is not None and limits.most < limits.least:
        raise InputError(f"least is {limits.least}, most {limits.most}: let it be no more")
    team = crew(workers)
    kinds, named = inputs.task_types(tasks, default="all")
    pairs, ids = None, team.ids
    if limits.availability is not None:
        pairs, ids = _pairs(limits.availability, named, ids)
    record = _record(None, limits.have, named, ids)
    return plan_evenly(
        team,
        kinds,
        named,
        capacity,
        limits.least,
        pairs,
        record[record["task"].isin(kinds.index)],
        seed=seed,
    )


def _again(
    make: Callable[..., room.AssignmentPlan],
    terms: room.AssignmentTerms,
    promise: room.Promise,
    *,
    time_limit: float,
    seed: int,
) -> room.AssignmentPlan:
    """The plan for another promise."""
    gain = terms.gain if promise == "bound" else "bhattacharyya"
    other = replace(terms, promise=promise, gain=gain, sure=None)
    return make(other, time_limit=time_limit, seed=seed)


def _measured(
    history: History,
    program: room.AssignmentPlan,
    kinds: pd.Series[Any],
    terms: room.AssignmentTerms,
    compared: bool,
    classes: Ids,
    seed: int,
) -> GoldError | None:
    """The error on gold of plans made by the same rule; None where too little is known for it."""
    on_gold = PlanFromGold(*history, program, kinds, terms, compared).measured(seed=seed)
    if on_gold is None:
        return None
    measured, correlation, beside = on_gold
    costs = None
    if program.stakes is not None and terms.stakes is not None:
        stakes = replace(terms.stakes, classes=tuple(classes.all_back(terms.stakes.classes)))
        codes = _codes(history, program.stakes.classes)
        costs = measured.cost(stakes, codes, beside)
    voters = (len(program.table) + len(program.counted)) / len(kinds)
    how, (labels, gold, _) = "each judged by a plan made without it", history
    truth = gold.reindex(labels["task"].unique()[measured.counted])
    named = pd.Series(classes.all_back(truth.tolist()), dtype=object)
    rare = rare_class(named, gold.nunique(), measured, beside)
    return GoldError(measured, correlation, voters, how, beside, rare=rare, costs=costs)


def _codes(history: History, classes: Sequence[Any]) -> IntArray:
    """Class of each labelled task by its gold, −1 without, as votes on the gold have them."""
    labels, gold, _ = history
    return gold_codes(Votes.of(labels, classes=list(classes)), gold)


def _at_stake(
    said: Said, ability: Ability, history: History | None, classes: Ids
) -> tuple[Ability, Stakes | None, Ids]:
    """Workers by confusion matrices, what errors cost, and the classes, where that is said."""
    if said == (None, None):
        return ability, None, classes
    if history is not None:
        matrices = ability if isinstance(ability, room.Confusions) else room.confusions(*history)
        stakes = stakes_of(*said, matrices.classes)
    else:
        assert not isinstance(ability, room.Confusions)
        names = two_named(*said)
        matrices = room.one_coin(ability, names)
        stakes = stakes_of(*said, names)
        classes = Ids.of("label", "loss", [name for each in said for name in each or ()])
    return matrices, stakes, classes


def _constant(history: History, workers: Ids) -> tuple[Any, ...]:
    """Who names one class throughout, and so tells nothing."""
    labels, gold, _ = history
    votes = Votes.of(labels, classes=sorted({*labels["label"], *gold}))
    return tuple(workers.all_back(votes.workers[constant_in(votes, gold_codes(votes, gold))]))


def _commonest(gold: pd.Series[Any], classes: Ids) -> tuple[Any, float]:
    """The most frequent class of the gold, and its share."""
    shares = gold.value_counts(normalize=True)
    return classes.all_back([shares.index[0]])[0], float(shares.iloc[0])


def _plan(
    program: room.AssignmentPlan,
    terms: room.AssignmentTerms,
    kinds: pd.Series[Any],
    named: Ids,
    workers: Ids,
    error: GoldError | None,
) -> Plan:
    """The plan under the user's ids."""
    there = program.message is None
    errors = pd.DataFrame(
        {"exact": program.error_exact, "bound": program.error_bound},
        index=named.index(kinds.index if there else []),
        dtype=float,
    )
    return Plan(
        workers.column(named.column(program.table, "task"), "worker"),
        workers.column(named.column(program.counted, "task"), "worker"),
        len(terms.have) - len(program.counted) if there and terms.have is not None else 0,
        errors,
        program.skills.set_axis(workers.index(program.skills.index)),
        tuple(workers.all_back(program.without_history)),
        len(kinds),
        float(errors["exact"].max()) if terms.epsilon is None else terms.epsilon,
        program.solution,
        program.message,
        terms.promise,
        terms.gain,
        program.levels,
        program.error_radius,
        terms.total,
        error,
        program.claim,
        surely=program.surely,
    )


def _weights(table: pd.DataFrame) -> list[float] | None:
    """Weights of labels in the vote; None of several classes, where they have scores."""
    return table["weight"].tolist() if "weight" in table else None


def _made_ahead(
    total: float | None, limits: TaskLimits, options: PlanOptions, said: Said
) -> list[str]:
    """What is asked for that only a plan made ahead takes."""
    plain = PlanOptions()
    fixed = {"total": total, **vars(limits), "loss": said[0], "class_share": said[1]}
    names = [name for name, value in fixed.items() if value is not None]
    changed = ("promise", "gain")
    return names + [n for n in changed if getattr(options, n) != getattr(plain, n)]


def _two_classes(ability: Ability, refused: list[str]) -> pd.DataFrame | pd.Series[Any]:
    """Skills of two classes, and nothing asked for that a sequential plan does not take."""
    if refused:
        raise InputError(f"{refused[0]}: goes with a plan made ahead; leave it or `sequential` out")
    if isinstance(ability, room.Confusions):
        raise InputError("sequential: is for two classes; plan several ahead")
    return ability


def listed(levels: pd.Series[Any]) -> str:
    """Levels in a few words."""
    low, high = levels.min(), levels.max()
    return f"{low:.3g}" if high - low < 5e-4 * high else f"{low:.3g} to {high:.3g} by task type"


def _only(skills: Ability) -> str | None:
    """The one type of task that there are skills for; None for several."""
    if isinstance(skills, room.Confusions):
        skills = skills.skill
    if isinstance(skills, pd.Series):
        return "all"
    return str(skills.columns[0]) if skills.shape[1] == 1 else None


def _known(skills: Table | PerWorker) -> tuple[pd.DataFrame | pd.Series[Any], Ids]:
    """Skills by worker, or workers × task types, and the workers as they came."""
    skills = to_pandas(skills)
    if isinstance(skills, (str, Path)):
        return tables.read_skills(skills), Ids("worker")
    if isinstance(skills, pd.DataFrame):
        names = tables.column(skills, "worker", "skills")
        return tables.read_skills(skills), Ids.of("worker", "skills", names)
    series = inputs.series_of("skills", skills, "worker", "the skill")
    ids = Ids.of("worker", "skills", series.index)
    values = series.dropna()
    if len(values):
        values = inputs.by_worker("skills", values, ids, tables.read_skills).iloc[:, 0]
    return values.reindex([tables.as_text(name) for name in series.index]), ids


def _known_workers(ability: Ability) -> Names:
    """Workers of whom something may be known, as text."""
    table = ability.skill if isinstance(ability, room.Confusions) else ability
    return table.index.to_numpy()


def _restricted(plan: Plan, workers: Ids, asked: Askable) -> Plan:
    """The plan without a word of those who may not be asked."""
    if asked.team is None:
        return plan
    mine = workers.index(asked.team.names)
    kept = None if plan.kept is None else _restricted(plan.kept, workers, asked)
    return replace(
        plan,
        skills=plan.skills.reindex(mine, fill_value=0.5),
        without_history=tuple(name for name in plan.without_history if name in mine),
        constant=tuple(name for name in plan.constant if name in mine),
        kept=kept,
    )


def _able(
    skills: Table | PerWorker | None, labels: inputs.Given | None, gold: Truth | None
) -> tuple[Ability, Ids, Ids, History | None, pd.DataFrame | None]:
    """What is known of the workers, by skills or by gold; see `_estimated`."""
    if skills is None:
        return _estimated(labels, gold)
    ability, workers = _known(skills)
    return ability, workers, Ids("label"), None, None


def _estimated(
    source: inputs.Given | None, gold: Truth | None
) -> tuple[pd.DataFrame | room.Confusions, Ids, Ids, History, pd.DataFrame | None]:
    """What gold answers tell of each worker, NaN for who gave none; these answers; their weight."""
    if source is None:
        raise InputError("`labels` and `gold` go together: give both")
    true, source = inputs.truth(gold, source)
    kinds = _types_of(gold)
    history = source.table, true, kinds
    skills = skills_from_gold(source.table, true, kinds)
    if len(set(skills.classes)) > 2:
        matrices = room.confusions(source.table, true, kinds)
        return matrices, source.workers, source.classes, history, None
    answered, correct = skills.estimates.answered, skills.estimates.correct
    fitted = replace(skills, estimates=fitted_skills(skills.estimates))
    votes = Votes.of(source.table, classes=sorted(set(skills.classes)))
    still = constant_in(votes, gold_codes(votes, true))
    known = fitted.wide().where(answered.T > 0)
    known.iloc[np.flatnonzero(still)] = 0.5  # They tell nothing.
    size = [
        answers + sum(prior)
        for answers, prior in zip(answered, fitted_priors(correct, answered), strict=True)
    ]
    strength = known.copy()
    strength[:] = np.array(size).T
    return known, source.workers, source.classes, history, strength


def _types_of(gold: Truth | None) -> pd.Series[Any] | None:
    """Type of each gold task, where the table of gold has a column of them."""
    source: Any = to_pandas(gold)
    if isinstance(source, (str, Path)):
        header = reading.open_table(source, "gold").header
    else:
        header = [str(name) for name in source] if isinstance(source, pd.DataFrame) else []
    return inputs.task_types(source)[0] if "task_type" in header else None


def _record(
    labels: pd.DataFrame | None,
    have: LabelTable | None,
    tasks: Ids,
    workers: Ids,
) -> pd.DataFrame:
    """Pairs (task, worker) that are labelled already, as text, each once."""
    records = [pd.DataFrame(columns=["task", "worker"])]
    if isinstance(have, str) and have == "none":
        return records[0]
    if labels is not None:
        records.append(labels)
    if have is not None:
        more = inputs.given(have)
        tasks.with_more("have", (more.tasks.by_text or {}).values())
        workers.with_more("have", (more.workers.by_text or {}).values())
        records.append(more.table)
    pairs = pd.concat([table[["task", "worker"]] for table in records])
    return pairs.drop_duplicates(ignore_index=True)


def _pairs(pairs: Pairs, tasks: Ids, workers: Ids) -> tuple[pd.DataFrame, Ids]:
    """Pairs (task, worker) as text, and the workers with those of the pairs."""
    source: Any = to_pandas(pairs)
    if not isinstance(source, (str, Path)):
        if not isinstance(source, pd.DataFrame):
            source = room.as_pairs(source)
        tasks.with_more("availability", tables.column(source, "task", "availability"))
        workers = workers.with_more("availability", tables.column(source, "worker", "availability"))
    return tables.read_pairs(source), workers
