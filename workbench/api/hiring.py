"""`hire`: whom to hire, and how wrong their vote will be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from workbench.api import inputs
from workbench.api.costs import amount, by_class, gold_by_class, outcome_payload
from workbench.api.measuring import SELDOM, GoldError, RareClass, payload_of, rare_class
from workbench.api.result import (
    MOST,
    Figure,
    Result,
    facts,
    listed,
    names,
    page,
    percent,
    picked,
)
from workbench.api.set_hires import HiredForSets, hire_sets
from workbench.base import checks
from workbench.base.arrays import IntArray, Names
from workbench.base.errors import InputError
from workbench.base.text import Columns, at_least, at_most, counted, table
from workbench.crowd.kinds import Classes, LabelSets, Scale
from workbench.crowd.loss import stakes_of
from workbench.crowd.tables import Duplicates
from workbench.selection import RULES
from workbench.selection import hire as room
from workbench.selection.hire import HireOptions, Hiring
from workbench.selection.hire_rules import measure_hiring
from workbench.solving.claims import FEASIBLE, PROVEN, WORD

if TYPE_CHECKING:
    from workbench.accuracy.measured import MajorityError, MeasuredError
    from workbench.selection.frontier import Frontier
    from workbench.selection.money import MoneySelection

SHOWN = 5
"""Workers left out that are shown."""
STEPS = 12
"""Points of the curve that are shown."""
POINTS = 6
"""Numbers of workers at which the picture shows the measured error."""
LISTED = 10
"""Of the hired, those that the verdict names."""
HALF = 0.5
"""Share of the tasks without an answer from which on the next step is another one."""


@dataclass(frozen=True, eq=False, repr=False)
class Hires(Result):
    """Whom to hire, and what is known of them.

    Attributes
    ----------
    name, seed, money
        What the labels are called; the seed of draws; what the labels of a task may cost.
    found
        What the room found, ids as text (`selection.hire.Hiring`).
    given
        The labels that came in, and their ids.
    gold, options
        True class by control task, ids as text, and what was asked for.
    error
        The error of the vote of the chosen, measured on the control tasks by choosing anew without
        a part of them, and how far they err independently; None without any.
    """

    name: str
    seed: int
    money: float | None
    found: Hiring
    given: inputs.Given
    gold: pd.Series[Any]
    options: HireOptions
    error: GoldError | None = None
    pictured = True

    @property
    def chosen(self) -> list[Any]:
        """The workers to hire, best first."""
        return self.given.workers.all_back(self.found.chosen)

    @property
    def workers(self) -> pd.DataFrame:
        """All workers, best first: control answers, skill, its interval, gain, whether chosen."""
        return self.given.back(self.found.table)

    @property
    def curve(self) -> pd.DataFrame:
        """The cheapest sets by expected error: `cost, error, radius, method, bound, size, workers`.

        No set of equal or smaller price errs less, of those looked at; `bound` is what none of at
        most K workers can do better. Empty where neither money nor the curve was asked for.
        """
        names = self._names_by_index()
        frontier = self.found.frontier
        rows = [
            (
                each.cost,
                each.error.probability,
                each.error.radius,
                each.error.method,
                each.bound,
                len(each.chosen),
                self.given.workers.all_back(names[each.chosen]),
            )
            for each in (frontier.sets if frontier else ())
        ]
        columns = ["cost", "error", "radius", "method", "bound", "size", "workers"]
        return pd.DataFrame(rows, columns=columns)

    @property
    def solved(self) -> bool:
        """Whether there is somebody to hire."""
        return self.found.size > 0

    def to_frame(self) -> pd.DataFrame:
        """Give the chosen workers, best first, as `aggregate(…, workers=…)` takes them."""
        workers = self.workers
        return workers[workers["chosen"]].drop(columns="chosen")

    def plot(self) -> Figure:
        """Draw the measured error of the best 1, 2, … workers, and their skills."""
        from workbench.plots import hiring

        return hiring(
            self.found,
            self.by_number(),
            None if self.error is None else self.error.drawn(),
            title=self._title(),
            money=self.money,
        )

    def by_number(self) -> pd.DataFrame:
        """Measure how often the vote of the best 1, 2, … workers is wrong, each chosen anew.

        Takes up to six times as long as `hire`.

        Returns
        -------
        Columns `workers, error, low, high`: of all gold tasks with labels, one that none of the
        hired has labelled being wrong; with the 90 % interval. The last row is what the verdict
        says; where prices decide, the only one. Empty where nobody is hired, or without a gold task
        that counts.
        """
        rows: list[tuple[int, float, float, float]] = []
        columns = ["workers", "error", "low", "high"]
        if self.error is None or not self.error.measured.tasks_measured:
            return pd.DataFrame(rows, columns=columns)
        first = 1 if self.money is None else self.found.size
        sizes = np.unique(np.geomspace(first, self.found.size, POINTS).round().astype(int))
        for size in sizes.tolist():
            measured, hired = self.error.measured, self.found
            if size != hired.size:
                hired = room.hire(self.given.table, self.gold, size, self.options)
                if not hired.size:
                    continue
                measured = measure_hiring(hired, self.options)[0]
            assert measured.error_measured is not None
            rows.append((hired.size, measured.error_measured, *measured.error_interval))
        return pd.DataFrame(rows, columns=columns).drop_duplicates("workers", keep="last")

    @property
    def unlabelled(self) -> float:
        """Share of the tasks of the labels that none of the hired has labelled."""
        return self.empty / max(len(self.found.votes.tasks), 1)

    @property
    def empty(self) -> int:
        """How many of the tasks of the labels none of the hired has labelled."""
        return len(self.found.votes.tasks) - len(np.unique(self._labelled()))

    def _labelled(self) -> IntArray:
        """Task of each label that one of the hired gave, by number."""
        votes = self.found.votes
        task: IntArray = votes.task[np.isin(votes.workers, self.found.chosen)[votes.worker]]
        return task

    def verdict(self) -> list[str]:
        """Say whom to hire, how wrong their vote is, and everybody's majority."""
        hired, of = self.found, len(self.found.table)
        if not hired.size:
            return [
                f"Hire nobody of {counted(of, 'worker')}.",
                *(f"{note}." for note in hired.notes[:2]),
            ]
        who = f"{hired.size} of {counted(of, 'worker')}: {names(self.chosen, LISTED)}"
        if still := len(hired.constant):
            verb = "names" if still == 1 else "name"
            who += f"; of the others {still} always {verb} one class, which tells nothing"
        sentences = [f"Hire {who}."]
        if self._worse:
            assert self.error is not None
            more, blanks = "errs on more of your gold", self.error.measured.blank
            if self.error.costs is not None:
                more = "costs more on your gold"
            sentences = [
                f"Do not hire these {who}. {'Blanks counted, their' if blanks else 'Their'} "
                f"vote {more} than everybody's majority."
            ]
        if self.empty and self.options.as_answered:
            tasks = counted(len(self.found.votes.tasks), "task")
            sentences.append(f"{self.empty} of {tasks} get no answer: none of these labelled them.")
        if self.error is not None:
            labelled = self._labelled()
            per_task = len(labelled) / max(len(self.found.votes.tasks), 1)
            sentences += self.error.verdict("their vote is", per_task)
            sentences += self._together()
        sentences += self._by_class()
        if hired.vote.stakes is not None:
            named = pd.Series(self.given.classes.all_back(self.gold), dtype=object)
            sentences += [line] if (line := gold_by_class(named.value_counts().to_dict())) else []
        if self.error is not None:
            sentences += self.error.together()
        return [*sentences[: MOST - 1], self._next()]

    @property
    def _worse(self) -> bool:
        """Whether they err more than everybody's majority, where the gold can tell."""
        return self.error is not None and self.error.worse and not self._thin

    @property
    def _thin(self) -> bool:
        """Whether all are to label everything, and the gold has seldom labels of them all."""
        return not self.options.as_answered and self._all_labelled() < SELDOM

    def _all_labelled(self) -> float:
        """Share of the gold tasks counted that all the hired labelled."""
        if self.error is None or not self.error.measured.tasks_measured:
            return 0.0
        many = np.bincount(self._labelled(), minlength=len(self.found.votes.tasks))
        return float((many[self.error.measured.counted] == self.found.size).mean())

    def _together(self) -> list[str]:
        """Say that the gold cannot tell how often all of them together err."""
        if not self._thin:
            return []
        return [
            f"All {self.found.size} together have labelled {percent(self._all_labelled())} of "
            "these gold tasks: how often a vote of them all errs your gold cannot tell."
        ]

    def _by_class(self) -> list[str]:
        """Say that votes count by class, and whose share of the classes that takes."""
        rows, named = self.found.vote.rows, self.found.class_names
        if rows is None:
            return []
        shares = [
            f"{percent(share)} {name}"
            for name, share in zip(named, self.found.vote.shares.tolist(), strict=True)
        ]
        if self.found.promised is not None:
            said = by_class(self.found.promised, self.given.classes.all_back(named))
            return [
                f"If they err independently, an answer costs {amount(self.found.promised.cost)} in "
                f"expectation where all of them label the task, classes being {names(shares, 4)}: "
                f"{said}."
            ]
        return [
            "Each label is weighted by how often its worker gives it where each class is true; "
            f"the shares of the classes are taken from your gold: {names(shares, 4)}."
        ]

    def _next(self) -> str:
        """Say what to do: another thing than to hire them where they err more, or label little."""
        if not self.options.as_answered and not self._worse:
            return (
                "Next: 'workbench plan --workers chosen.csv' plans a batch that they label; have "
                "all of them label gold tasks, too, to measure their vote; --out chosen.csv writes "
                "that file."
            )
        if not self._worse and self.unlabelled < HALF:
            return (
                "Next: 'workbench aggregate --workers chosen.csv --method weighted-log-odds"
                f"{self._losses()}' labels all tasks by their vote, and 'workbench plan --workers "
                "chosen.csv' plans a next batch by them; --out chosen.csv writes that file."
            )
        more = self.found.size == self.found.budget < int(self.found.known.eligible.sum())
        larger = f", or give a larger --budget than {self.found.budget}" if more else ""
        later = ""
        if self.empty and self.options.as_answered:
            later = "; for tasks that all of those chosen label, choose with --everybody-answers"
        return f"Next: answer the tasks from all labels, with 'workbench aggregate'{larger}{later}."

    def _losses(self) -> str:
        """The option by which `aggregate` weighs what errors cost."""
        stakes = self.found.vote.stakes
        if stakes is None:
            return ""
        costly = zip(stakes.classes, stakes.loss.tolist(), strict=True)
        costs = ",".join(f"{name}={cost:g}" for name, cost in costly if cost != 1)
        return f" --loss {costs}" if costs else ""

    def brief(self) -> str:
        """Lay out those to hire: control answers, how many were right, skill."""
        columns: Columns = {
            "worker": ("worker", ""),
            "answered": ("gold answers", ""),
            "correct": ("right", ""),
            "skill": ("skill", ".2f"),
        }
        if self.found.unpriced is False and "cost" in self.found.table:
            columns = {**columns, "cost": ("price", "g")}
        rows = self.found.table[self.found.table["chosen"]]
        return listed(rows, columns, LISTED) if len(rows) else ""

    def details(self) -> str:
        """Give all that is known of the choice: skills, bounds, expected errors, prices."""
        hired = self.found
        sure = percent(hired.confidence, 6)
        head = (
            f"{self._title()}\nclasses {names(hired.class_names, 8)}; budget {hired.budget}, seed "
            f"{self.seed}; rule {hired.rule}: {RULES[hired.rule].summary}"
        )
        ends = zip(hired.table["low"], hired.table["high"], strict=True)
        columns: Columns = {
            "worker": ("worker", ""),
            "answered": ("control answers", ""),
            "correct": ("correct", ""),
            "skill": ("skill ŵ", ".3f"),
            "posterior": ("posterior", ".3f"),
            "interval": (f"{sure} interval", ""),
            "gain": ("G", ".3f"),
            "cost": ("price", "g"),
            "chosen": ("chosen", ""),
        }
        rows = hired.table.assign(interval=[f"{low:.3f}–{high:.3f}" for low, high in ends])
        return page(
            head,
            self.error.lines() if self.error else "",
            listed(rows, columns, hired.size + SHOWN, ", left out"),
            _curve(hired, self.seed) if len(hired.curve) else "",
            _numbers(hired) if hired.size else "",
            _prices_by_error(self.curve) if hired.frontier is not None else "",
            notes=[
                *(self.error.cautions() if self.error else ()),
                f"intervals of skills are exact (Clopper–Pearson), {sure} for each worker "
                "alone; that of F is Theorem 3's",
                *hired.notes,
            ],
        )

    def _title(self) -> str:
        hired = self.found
        return (
            f"{self.name}: {hired.size} of {len(hired.table)} workers, {hired.control} control "
            f"tasks, {hired.known.classes} classes"
        )

    def _names_by_index(self) -> Names:
        """Names of the workers, as text, in the order of their scores."""
        names: Names = self.found.table["worker"].to_numpy()[np.argsort(self.found.order)]
        return names

    def _by_accuracy(self) -> dict[str, Any]:
        """What prices decided by expected error; scores are accuracies here."""
        frontier = self.found.frontier
        assert frontier is not None
        best, proven = frontier.best, frontier.best is None or frontier.claim.proven
        cost = {
            "certificate": "proven" if proven else "bounded",
            "termination": "optimal" if frontier.complete else "heuristic",
        }
        if best is None:
            return cost
        right = 1.0 - best.error.probability
        bound = right if proven else 1.0 - frontier.least
        gap = (bound - right) / right
        return {
            **cost,
            "spent": best.cost,
            "score": right,
            "bound": bound,
            "gap": gap,
            "heuristic_score": right,
            "heuristic_gap": gap,
            "heuristic": self.chosen,
            "error": best.error.probability,
            "error_bound": frontier.least,
        }

    def _payload(self) -> dict[str, Any]:
        hired, back = self.found, self.given.workers.all_back
        money, predicted = hired.money, hired.error_predicted
        spent = None
        if money is not None:
            by_index = self._names_by_index()
            spent = {
                **picked(money, "spent", "score", "bound", "gap", "termination"),
                **picked(money, "heuristic_score", "heuristic_gap"),
                "certificate": money.certificate.status,
                "heuristic": back(by_index[money.heuristic]),
            }
        elif hired.frontier is not None and not hired.unpriced:
            spent = self._by_accuracy()
        return {
            **picked(hired, "size", "score", "interval", "error_bound", "error_bound_printed"),
            **picked(hired, "curve", "plug_in_curve", "rule", "budget", "confidence", "notes"),
            **picked(hired.known, "prior", "classes"),
            **payload_of(self.error),
            "unlabelled": self.unlabelled if hired.size else None,
            "chosen": self.chosen,
            "error_predicted": predicted and predicted.probability,
            "error_predicted_radius": predicted and predicted.radius,
            "error_predicted_method": predicted and predicted.method,
            "workers": self.workers.to_dict("records"),
            "class_names": self.given.classes.all_back(hired.class_names),
            "control_tasks": hired.control,
            "excluded": self.given.back(hired.excluded).to_dict("records"),
            "tied": back(hired.tied),
            "money": spent,
            "guessers": hired.known.guessers,
            "difficulty": hired.known.difficulty,
            "cost_curve": None if hired.frontier is None else self.curve.to_dict("records"),
            "cost_curve_complete": hired.frontier and hired.frontier.complete,
            "seed": self.seed,
            **self._promised_payload(),
        }

    def _promised_payload(self) -> dict[str, Any]:
        if (promised := self.found.promised) is None:
            return {}
        classes = self.given.classes.all_back(self.found.class_names)
        return {"cost_promised": outcome_payload(promised, classes)}


@dataclass(frozen=True)
class HiringOptions:
    """How workers are judged, and who may be hired.

    Parameters
    ----------
    threshold
        Rule threshold: skill to exceed. [default: guessing, 1/L]
    prior
        Beta distribution of skills; also takes in workers with fewer than two answers. [default:
        such workers left out; learned from the others by rule accuracy, else 1 1]
    classes
        Number of classes. [default: those in the files]
    allow_below_chance
        Also hire workers who are probably worse than guessing; their votes count the other way
        round. [default: only who is so beyond doubt, by rule accuracy and with two classes]
    as_answered
        Rule accuracy without prices: choose for the tasks as they are labelled. Labels of tasks
        without gold show who labels what; without any, and with False, it is as if everybody
        labelled every task.
    undecided
        Error of a task that none of the hired has labelled. [default: 1 − 1/L, a draw]
    confidence
        Of the intervals.

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate("uniform", tasks=30, workers=6, skill=0.9, redundancy=4)
    >>> wb.hire(crowd, budget=2, options=wb.HiringOptions(prior=(2, 1))).chosen
    ['w2']
    """

    threshold: float | None = None
    prior: tuple[float, float] | None = None
    classes: int | None = None
    allow_below_chance: bool = False
    as_answered: bool = True
    undecided: float | None = None
    confidence: float = 0.95


def hire(
    labels: inputs.LabelTable,
    gold: inputs.Truth | None = None,
    *,
    budget: int,
    rule: str = "accuracy",
    costs: inputs.PerWorker | float | None = None,
    money: float | None = None,
    curve: bool = False,
    loss: Mapping[Any, float] | None = None,
    class_share: Mapping[Any, float] | None = None,
    options: HiringOptions | None = None,
    time_limit: float | None = 20.0,
    duplicates: Duplicates | None = None,
    seed: int = 0,
) -> Hires | HiredForSets:
    """Choose at most K workers from their answers to control tasks.

    Of sets of labels those whose vote is expected to err least in the mean over the labels.

    Parameters
    ----------
    labels
        Labels: columns `task`, `worker`, `label`. Those of control tasks say how good the workers
        are, those of other tasks who labels what.
    gold
        True labels: columns `task`, `gold`. [default: gold in the labels, if any]

        A Series or a dict by task, too.
    budget
        Most workers to hire, K.
    rule
        accuracy takes the workers whose vote is expected to err least; selected is Algorithm 1 of
        Li and Liu.

        The others are what that is compared with.

        Votes are weighted by log-odds; skills, guessers and difficulty of tasks are learned from
        all control answers.
    costs
        Price of a label: columns `worker`, `cost`.

        Or one for all.
    money
        With prices: what a task's labels may cost.
    curve
        Also give the cheapest sets by expected error.

        At their prices, or 1 a label: a table, a panel of the picture, and in the JSON.
    loss
        What it costs to miss a class. [default: 1 each]

        Those are hired whose vote costs least.

        By true class, {"yes": 5}; a class that is not named costs 1. With the rule accuracy.
    class_share
        How frequent the classes are. [default: as in the gold]

        Where gold was drawn by class.

        By class, {"yes": 0.1}; the class that is not named has the rest.
    options
        A `HiringOptions`.
    time_limit
        Seconds for the solver.

        With money and rule selected.

        None for as long as it takes.
    duplicates
        Which label counts when a worker labels a task twice. [default: error]
    seed
        Same seed, same result.

        Of the draws among equals, of the rule "random", and of simulated votes.

    Returns
    -------
    Hires; of ratings RatingHires
        Of ratings the K workers of largest precision are hired, and errors are in points.

    Raises
    ------
    InputError
        Labels, gold or prices cannot be read or do not belong together, or an option is out of
        range.

    Examples
    --------
    >>> import pandas as pd
    >>> import workbench as wb
    >>> said = {"ann": "abab", "bob": "abaa", "cy": "baba"}
    >>> labels = pd.DataFrame(
    ...     [(task, name, answer) for name in said for task, answer in enumerate(said[name])],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> hires = wb.hire(labels, {0: "a", 1: "b", 2: "a", 3: "b"}, budget=2)
    >>> hires.chosen
    ['ann']
    >>> hires.to_frame()[["worker", "correct", "skill"]]
      worker  correct  skill
    0    ann        4    1.0
    """
    options = options or HiringOptions()
    if time_limit is not None:
        checks.number("`time_limit`", time_limit, 0.0, math.inf)
    source = inputs.given(labels, duplicates=duplicates, kinds=(Classes, Scale, LabelSets))
    if not isinstance(source.kind, Classes):
        others: dict[str, Any] = {"costs": costs, "money": money, "curve": curve, "loss": loss}
        others |= {"class_share": class_share, "rule": None if rule == "accuracy" else rule}
        others |= {"options": None if options == HiringOptions() else options}
        inputs.refuse(source.kind, others)
    if isinstance(source.kind, LabelSets):
        return hire_sets(source, gold, budget, seed)
    if isinstance(source.kind, Scale):
        from workbench.api.rating_hiring import hire_raters

        raters: Any = hire_raters(source, gold, budget, seed=seed)
        return cast(Hires, raters)
    control, source = inputs.truth(gold, source)
    prices: Any = costs
    if not checks.is_number(costs):
        prices = inputs.by_worker("costs", costs, source.workers, inputs.single_prices)
    classes = sorted({*source.table["label"].unique(), *control.unique()})
    stakes = stakes_of(loss, class_share, classes)
    if stakes is not None and options.classes is not None:
        raise InputError("`loss` and `class_share` are by class: leave `classes` out")
    how = HireOptions(
        stakes=stakes,
        rule=rule,
        costs=prices,
        money=money,
        curve=curve,
        time_limit=time_limit,
        seed=seed,
        **vars(options),
    )
    hires = room.hire(source.table, control, budget, how)
    error = None
    if hires.size:
        outcome, correlation, beside = measure_hiring(hires, how)
        chosen = "each judged by workers chosen without it"
        rare = _rare(source, hires, outcome, beside)
        costs_found = None
        if stakes is not None:
            own = replace(stakes, classes=tuple(source.classes.all_back(classes)))
            costs_found = outcome.cost(own, hires.truth, beside)
        error = GoldError(
            outcome, correlation, hires.size, chosen, beside, rare=rare, costs=costs_found
        )
    return Hires(source.name, seed, money, hires, source, control, how, error)


def _rare(
    source: inputs.Given,
    hired: Hiring,
    measured: MeasuredError,
    majority: MajorityError | None,
) -> RareClass | None:
    """How many control tasks of a rare class the vote of the hired finds."""
    named = hired.votes.classes[hired.truth[measured.counted]]
    truth: pd.Series[Any] = pd.Series(source.classes.all_back(named), dtype=object)
    return rare_class(truth, hired.known.classes, measured, majority)


def _curve(hired: Hiring, seed: int) -> str:
    """Score of the first k workers, at some k, with its best and the chosen size marked."""
    most, best = len(hired.curve), hired.best
    name, value = "F̂", [f"{each:.3f}" for each in hired.curve.tolist()]
    if hired.known.by_posterior:
        errors = hired.error_curve(seed=seed)
        name, value = "expected error", [f"{each.probability:.3g}" for each in errors]
        if hired.promised is not None:
            name = "expected cost"
        best = hired.size
    places = set(range(1, most + 1))
    if most > STEPS:
        spread = np.unique(np.geomspace(1, most, STEPS - 4).round().astype(int)).tolist()
        places = {*spread, best - 1, best, best + 1, hired.size} & places
    shown = sorted(places)
    marks = {best: "max"}
    marks[hired.size] = (
        "chosen" if hired.size != best or hired.known.by_posterior else ("max, chosen")
    )
    rows = [(name, *(value[k - 1] for k in shown))]
    return table(("k", *map(str, shown)), [*rows, ("", *(marks.get(k, "") for k in shown))])


def _prices_by_error(curve: pd.DataFrame) -> str:
    """The cheapest sets by expected error, some of them."""
    places = np.unique(np.linspace(0, len(curve) - 1, STEPS).round().astype(int))
    columns: Columns = {
        "cost": ("price of a task", ".10g"),
        "error": ("expected error", ".3g"),
        "least": ("no set below", ""),
        "size": ("workers", ""),
        "who": ("", ""),
    }
    rows = curve.iloc[places] if len(curve) else curve
    who = [checks.listing(each) for each in rows["workers"]]
    least = [at_least(bound) for bound in rows["bound"]]
    return listed(rows.assign(who=who, least=least), columns, len(rows), "")


def _numbers(hired: Hiring) -> str:
    predicted, money = hired.error_predicted, hired.money
    assert predicted is not None
    interval = ""
    if hired.interval is not None:
        low, high = hired.interval
        interval = f" ({percent(hired.confidence, 6)} interval {low:.3f} to {high:.3f})"
    bound = f"at most {at_most(hired.error_bound or 0.0)} if F is F̂ (Theorem 1"
    if hired.known.classes > 2:
        bound += f", as its argument supports; as printed {hired.error_bound_printed:.3g}"
    radius = f" ± {predicted.radius:.1g}" if predicted.radius > 1e-9 else ""
    expected = f"{predicted.probability:.3g}{radius} ({predicted.method}"
    if predicted.probability <= predicted.radius:
        how = "proven" if predicted.method != "sampled" else "votes simulated"
        expected = f"below {at_most(predicted.probability + predicted.radius, 1)} ({how}"
    rows = [
        ("score F̂", f"{hired.score:.4g}{interval}"),
        ("error, bound", f"{bound})"),
        ("error, expected", f"{expected}; {_voting(hired)})"),
    ]
    if hired.vote.rows is not None:  # Theorem 1 is of the vote by weights.
        del rows[1]
    if money is not None:
        rows += _bought(money)
    if hired.frontier is not None and not hired.unpriced:
        rows.append(("money", _searched(hired.frontier)))
    return facts(rows, 18)


def _voting(hired: Hiring) -> str:
    """How the hired vote, and what was learned for it."""
    if (by := hired.vote.rows) is not None:
        strength = ", ".join(f"{each:.3g}" for each in by.weight.tolist())
        return (
            "the likeliest class by rows, each drawn toward all workers' with the weight of so "
            f"many answers, by class: {strength}"
        )
    a, b = hired.known.prior
    how = "by log-odds" if hired.known.by_posterior else "by Lŵ − 1"
    weighted = f"vote weighted {how}, skills Beta({a:.3g}, {b:.3g}) before the answers"
    if hired.known.guessers:
        weighted += f", but for {percent(hired.known.guessers)} who guess"
    if hired.known.difficulty:
        weighted += f"; tasks differ by {hired.known.difficulty:g} in log-odds"
    return weighted


def _bought(money: MoneySelection) -> list[tuple[str, str]]:
    """What is known of the score within the money, and of the heuristic's."""
    claim, bound = money.claim, money.bound
    assert bound is not None
    how = claim.status
    if how == FEASIBLE:
        word = WORD if claim.bound != claim.checked else PROVEN
        how = f"{word}; {money.termination}"
    gap = money.heuristic_gap
    rough = (
        "not known to be the best"
        if gap is None
        else f"at most {at_most(100 * gap, 2)} % below the best"
    )
    return [
        (
            "money",
            f"{money.spent:.10g} a task; no affordable set scores above {at_most(bound, 4)}, {how}",
        ),
        ("heuristic", f"{money.heuristic_score:.4g}, {rough}"),
    ]


def _searched(sets: Frontier) -> str:
    """What is proven of the expected error within the money, and how many sets were looked at."""
    assert sets.best is not None
    claim = sets.claim.sentence("the least expected error for the money")
    of = f"{sets.looked_at} sets looked at"
    how = (
        f"all {of}" if sets.complete else f"the best of {of}; none is below {at_least(sets.least)}"
    )
    return f"{sets.best.cost:.10g} a task; {claim}: {how}"
