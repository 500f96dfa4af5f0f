"""`aggregate`: from labels to one answer a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast, get_args, overload

import numpy as np
import pandas as pd

from workbench.accuracy.believed import ErrorRange, error_range, untold
from workbench.accuracy.independence import error_correlation
from workbench.accuracy.measured import (
    MajorityError,
    MeasuredError,
    majority_error,
    measure_error,
)
from workbench.aggregation import DEFAULT, DEFAULT_ON_DISK
from workbench.aggregation.by_cost import (
    DEFAULT_BY_COST,
    candidates_by_cost,
    choosing_by_cost,
)
from workbench.aggregation.calibration import Calibration
from workbench.aggregation.choice import (
    FITS,
    PLAINEST_FIRST,
    TAUGHT,
    choice,
    choosing_rule,
    taught,
    wrong_by,
)
from workbench.aggregation.labelling import (
    BY_ROWS,
    LEAST_GOLD,
    SCORED,
    Calibrate,
    KnownBeforehand,
    Labelled,
    LabelOptions,
    Prior,
    aggregates,
    calibrated_by,
    label_tasks,
    labelled_by,
)
from workbench.aggregation.posteriors import Fit
from workbench.aggregation.registry import Method
from workbench.aggregation.vote_rules import fixed_rule
from workbench.aggregation.voting import majority
from workbench.api import inputs
from workbench.api.costs import amount, by_class, outcome_payload
from workbench.api.even_plan import EvenPlan
from workbench.api.labelling_on_disk import LabelsOnDisk, aggregate_on_disk
from workbench.api.measuring import GoldError, payload_of
from workbench.api.meter import Progress, steps
from workbench.api.planning import Plan
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
from workbench.api.set_answers import AnsweredSets, aggregate_sets
from workbench.base import checks
from workbench.base.arrays import IntArray
from workbench.base.errors import InputError
from workbench.base.text import Columns, answered, counted
from workbench.crowd import tables
from workbench.crowd.gold_rule import gold_codes
from workbench.crowd.kinds import Classes, Kind, LabelSets
from workbench.crowd.libraries import Values, to_pandas
from workbench.crowd.loss import CostOutcome, MeasuredCost, Stakes, stakes_of
from workbench.crowd.tables import Duplicates
from workbench.crowd.votes import Votes

COLUMNS: Columns = {
    "task": ("task", ""),
    "label": ("label", ""),
    "score": ("score", ".4g"),
    "confidence": ("confidence", ".4f"),
    "tied": ("tied", lambda tied: "yes" if tied else ""),
}
"""What is printed of each answer."""
SHOWN, BRIEF = 10, 5
"""Tasks that are printed among the details, and below the verdict."""
DOUBTFUL = 0.6
"""Confidence below which an answer is called near a toss-up."""
CONFIDENCE = {
    "majority": "the share of the task's labels that agree",
    "weighted-log-odds": "the probability of the label, skills being as estimated and classes "
    "equally likely",
    SCORED: "the posterior of the label, by the plan's scores",
    BY_ROWS: "the posterior of the label, by the rows of the workers and the shares of the classes",
    "bwa": "the label's share of the task's scores, which is no probability",
    **dict.fromkeys(
        ("pooled", TAUGHT, "dawid-skene", "dawid-skene-smoothed", "one-coin", "ebcc", "glad"),
        "the posterior of the label",
    ),
}
"""What the column `confidence` holds; the linear vote has none."""


IN_WORDS = {
    "majority": "a majority of each task's labels",
    "pooled": "two models of the workers, pooled",
    TAUGHT: "two models of the workers, pooled and taught by your gold",
    BY_ROWS: "what each worker names where each class is true",
    "one-coin": "a model with one skill a worker ('one-coin')",
    "dawid-skene-smoothed": "a model of whom takes what for what ('dawid-skene-smoothed')",
}
"""Methods as the verdict has them, where their names say little."""
BLIND = "each judged by answers made without your gold"
"""How gold too little to choose by measures the error."""
ONLY_GOLD = ", only tasks of known answer can tell: give twenty or more as `gold`."
NOT_BY_LABELS = "Tasks of known answer can tell: give twenty or more as `gold`."
TAUGHT_BY_GOLD = (
    " is not measured: where a method is named, gold is for it to learn from. Give it as `truth` "
    "to measure, or leave `method` out to have both."
)
BY_MODEL = "by the model"
"""Heads confidences for which only the model itself speaks."""
NEXT = "Next: 'workbench audit plan' says how many checks would prove how few are wrong."

UNEQUAL, DEPARTING = 0.8, 0.05
"""Share of the largest class by majority, and of answers other than the majority's, from which on
a model's answers come with a warning."""


@dataclass(frozen=True, eq=False, repr=False)
class Labels(Result):
    """One label for each task, and the confidence in it.

    Attributes
    ----------
    name, seed
        What the labels are called; the seed of draws among ties.
    found
        What the room found, ids as text (`aggregation.label_tasks.Labelled`).
    given
        The labels that came in, and their ids.
    error
        The error measured on the truth, its interval for the other tasks, and how far the workers
        err independently; None without a truth.
    chosen_from
        Where gold chose the method, the share of gold tasks on which each candidate is wrong.
    untold
        Where nothing can be believed of a model's answers (`accuracy.believed.untold`), why: they
        have no confidences then.
    """

    name: str
    seed: int
    found: Labelled
    given: inputs.Given
    error: GoldError | None = None
    chosen_from: dict[str, float] | None = None
    untold: str | None = None

    @property
    def labels(self) -> pd.Series[Any]:
        """Label by task; None where nobody labelled it."""
        return self._by_task("label")

    @property
    def confidence(self) -> pd.Series[float]:
        """Confidence in the label, by task, in [0, 1].

        NaN where a method has no measure of it, and of a model of which nothing can be believed.
        """
        return self._by_task("confidence")

    @property
    def posterior(self) -> pd.DataFrame:
        """The chance of each class, a row a task; of models only.

        Raises
        ------
        InputError
            The method gives none.
        """
        if self.found.posterior is None:
            raise InputError(f"{self.found.method} gives no posterior: take a model, as ebcc")
        tasks = self.given.tasks.index(self.found.answers["task"])
        classes = self.given.classes.index(self.found.classes)
        return pd.DataFrame(self.found.posterior, index=tasks, columns=classes)

    @property
    def reliability(self) -> pd.DataFrame | None:
        """How often labels of like confidence are right; None without truth or confidences.

        A row for each tenth of confidence: `low, high, tasks, confidence, right`.
        """
        return self.found.reliability

    @property
    def believed_error(self) -> float | None:
        """Share of wrong answers by the model itself; None without a model, and where untold."""
        if self.found.posterior is None or self.untold is not None:
            return None
        return 1.0 - float(self.found.answers["confidence"].mean())

    @property
    def believed_range(self) -> ErrorRange | None:
        """Errors made on recorded crowds where the like was believed; None where error is known."""
        believed = self.believed_error
        return None if believed is None or self.error is not None else error_range(believed)

    @property
    def believed_costs(self) -> CostOutcome | None:
        """What the answers come to by the model itself, where it is said what errors cost.

        None without a model, and of one of which nothing can be believed.
        """
        aggregate = self.found.aggregate
        stakes, posterior = aggregate.info.get("stakes"), self.found.posterior
        if stakes is None or posterior is None or self.untold is not None:
            return None
        some = ~aggregate.unlabelled
        mass = posterior[some].sum(axis=0)
        named = np.zeros((len(mass), len(mass)))
        np.add.at(named.T, aggregate.label[some], posterior[some])
        named /= np.maximum(mass, np.finfo(float).tiny)[:, None]
        own: Stakes = replace(stakes, share=mass / mass.sum())
        return own.outcome(named)

    @property
    def by(self) -> str:
        """The method in words."""
        return IN_WORDS.get(self.found.method, self.found.method)

    @property
    def workers(self) -> pd.DataFrame:
        """One row a worker who counts: `worker, labels, agreement`; where known `skill, weight`."""
        return self.given.back(self.found.workers)

    @property
    def accuracy(self) -> float | None:
        """Share of right labels among the tasks of the truth; None without a truth."""
        return self.found.accuracy

    def to_frame(self) -> pd.DataFrame:
        """Give one row a task: `task, label, score, confidence, tied, unlabelled`."""
        return self.given.back(self.found.answers)

    def plot(self) -> Figure:
        """Draw confidences, how workers agree, and with a truth the reliability."""
        from workbench.plots import labelling

        result = self.found
        return labelling(
            result.answers,
            result.workers,
            reliability=result.reliability,
            sureness=self._sureness(),
            title=self._title(),
        )

    def verdict(self) -> list[str]:
        """Say how many tasks are answered, how wrong the answers are, and which are doubtful."""
        result, answers = self.found, self.found.answers
        empty = int(answers["unlabelled"].sum())
        sentences = [
            f"{answered(len(answers) - empty, result.votes, len(result.workers))}, by {self.by}"
            f"{self._choice()}."
        ]
        if self.error is not None:
            sentences += self.error.verdict("the answers are")
        else:
            sentences += [*self._believed_cost(), self._believed(), *self._departing()]
        if empty:
            have = "has" if empty == 1 else "have"
            sentences.append(
                f"{counted(empty, 'task')} {have} no label that counts, and no answer."
            )
        doubtful = int((answers["tied"] | (answers["confidence"] < DOUBTFUL)).sum())
        if doubtful:
            column = f"the column {self._sureness()}" if self._shown() else "the model's confidence"
            below = f"{column} is below {DOUBTFUL:g}, or "
            sentences.append(
                f"{doubtful} {'answers are' if doubtful > 1 else 'answer is'} near a toss-up: "
                f"{'' if self.untold else below}two classes tie."
            )
        if self.error is not None:
            sentences += self._corrected()
        return [*sentences[: MOST - 1], NEXT] if self.error is not None else sentences[:MOST]

    def _corrected(self) -> list[str]:
        """Say what the confidences were before gold corrected them, where they promised more."""
        raw, measured = self.found.confidence_raw, self.error and self.error.measured
        if self.found.calibration is None or raw is None or not measured:
            return []
        believed = 1.0 - float(raw[~self.found.aggregate.unlabelled].mean())
        if measured.error_measured is None or believed >= measured.error_interval[0]:
            return []
        return [
            f"The method itself believes that {percent(believed)} are wrong; the confidences are "
            "corrected for that."
        ]

    def _choice(self) -> str:
        if self.chosen_from is None:
            return ""
        tasks = int((self.found.judged >= 0).sum())
        least = min(self.chosen_from.values())
        plainer = self.chosen_from[self.found.method] > least
        how = "as good within a standard error as the best" if plainer else "the best"
        if self.error is not None and self.error.costs is not None:
            how = "that which costs least"
        return f", {how} of {len(self.chosen_from)} methods on your {tasks} gold tasks"

    def _departing(self) -> list[str]:
        """Warn of a model that departs far from the majority where one class is most of all."""
        if self.found.posterior is None:
            return []
        plain = majority(_everybodys(self.given.table, self.found), seed=self.seed)
        clear = ~(plain.tied | plain.unlabelled)
        if not clear.any():
            return []
        usual = plain.label[clear]
        largest = np.bincount(usual).max() / len(usual)
        departing = float((self.found.posterior.argmax(axis=1)[clear] != usual).mean())
        if largest < UNEQUAL or departing < DEPARTING:
            return []
        return [
            f"{percent(departing)} of the answers are not the majority's, and by majority "
            f"{percent(largest)} of the tasks are of one class: models may err there. Gold for "
            "twenty tasks decides between them; or take the method 'majority'."
        ]

    def _believed(self) -> str:
        """What the answers' own confidences are worth, where there is no truth."""
        truly = TAUGHT_BY_GOLD if (self.found.control >= 0).any() else ONLY_GOLD
        if self.untold is not None:
            return f"{self.untold} {NOT_BY_LABELS}"
        if self.believed_range is None:
            return f"How many are wrong{truly}"
        return f"{self.believed_range.sentence()} How many are wrong here{truly}"

    def _believed_cost(self) -> list[str]:
        """What an answer costs by the model alone."""
        if (costs := self.believed_costs) is None:
            return []
        classes = self.given.classes.all_back(self.found.classes)
        return [
            f"By the model alone an answer costs {amount(costs.cost)} in expectation: "
            f"{by_class(costs, classes)}."
        ]

    def brief(self) -> str:
        """Lay out the first answers."""
        columns = {key: COLUMNS[key] for key in ("task", "label")}
        if self._shown():
            columns["confidence"] = (self._sureness(), COLUMNS["confidence"][1])
        return listed(self.found.answers, columns, BRIEF)

    def _shown(self) -> bool:
        """Whether confidences are for a first screen: a model's are not without gold behind them.

        What is believed is said as a range, and its figures are none to act on.
        """
        return self.error is not None or self.found.posterior is None

    def _sureness(self) -> str:
        """Name the column of confidences."""
        if self.error is not None:
            return "confidence"
        return "agreeing" if self.found.method == "majority" else BY_MODEL

    def details(self) -> str:
        """Give all that is known: scores, the model's steps, reliability, correlation."""
        result, answers = self.found, self.found.answers
        rows = [
            ("ties", str(answers["tied"].sum())),
            ("unlabelled", str(answers["unlabelled"].sum())),
        ]
        if result.variant:
            steps = "" if result.converged else ", not converged"
            rows = [
                ("variant", result.variant),
                ("iterations", f"{result.iterations}{steps}"),
                *rows,
            ]
        if result.accuracy_tasks is not None:
            measured = f"{result.accuracy or 0:.4f} on {result.accuracy_tasks} tasks"
            none = "none: every task of the truth is a control task"
            rows.append(("accuracy", measured if result.accuracy_tasks else none))
        if self.believed_error is not None:
            rows.append(("believed", f"{percent(self.believed_error)} wrong, by the model itself"))
        if result.calibration is not None:
            rows.append(("calibration", self._calibration(result.calibration)))
        if result.reliability is not None:
            rows.append(("reliability", _reliability(result.reliability)))
        legend = "score: how far the label is ahead of the next class"
        if self.untold is not None:
            legend = f"no confidences: {self.untold[0].lower()}{self.untold[1:-1]}"
        elif result.method in CONFIDENCE:
            legend += f"; confidence: {CONFIDENCE[result.method]}"
        columns = {**COLUMNS, "confidence": (self._sureness(), COLUMNS["confidence"][1])}
        if self.untold is not None:
            columns.pop("score")
        answered = listed(answers, columns, SHOWN)
        error = self.error
        return page(
            self._title(),
            error.lines() if error else "",
            answered,
            facts(rows, 11),
            notes=[*(error.cautions() if error else ()), legend, *result.notes],
        )

    def _calibration(self, calibration: Calibration) -> str:
        """Temperature and share of even guesses, and the mean confidence before and after."""
        even = f", {percent(calibration.floor)} even guesses" if calibration.floor else ""
        if self.untold is not None:
            return f"temperature {calibration.temperature:.2f}{even}"
        after = self.found.answers["confidence"].mean()
        raw = np.asarray(self.found.confidence_raw)
        before = raw[~self.found.aggregate.unlabelled].mean()
        return (
            f"temperature {calibration.temperature:.2f}{even}: mean confidence {before:.4f} "
            f"uncalibrated (`calibrate='none'`), {after:.4f} calibrated"
        )

    def _title(self) -> str:
        result = self.found
        return (
            f"{self.name}: {len(result.answers)} tasks, {result.votes} labels by "
            f"{len(result.workers)} workers, classes {names(result.classes, 8)}; {result.method}, "
            f"seed {self.seed}"
        )

    def _payload(self) -> dict[str, Any]:
        result, workers, answers = self.found, self.workers.set_index("worker"), self.to_frame()
        return {
            **picked(result, "method", "variant", "votes", "accuracy", "accuracy_tasks"),
            **picked(result, "iterations", "converged", "class_prior", "notes"),
            "tasks": len(answers),
            "workers": len(workers),
            "classes": self.given.classes.all_back(result.classes),
            **payload_of(self.error),
            "believed_error": self.believed_error,
            "believed_range": self.believed_range
            and [self.believed_range.low, self.believed_range.high],
            "untold": self.untold,
            "chosen_from": self.chosen_from,
            "temperature": result.calibration and result.calibration.temperature,
            "calibration_floor": result.calibration and result.calibration.floor,
            "reliability": None
            if result.reliability is None
            else result.reliability.to_dict("records"),
            "ties": answers["tied"].sum(),
            "unlabelled": answers["unlabelled"].sum(),
            "weights": workers["weight"].to_dict() if "weight" in workers else None,
            "skills": workers["skill"].to_dict() if "skill" in workers else None,
            "answers": answers.to_dict("records"),
            "seed": self.seed,
            **self._cost_payload(),
        }

    def _cost_payload(self) -> dict[str, Any]:
        if (costs := self.believed_costs) is None:
            return {}
        classes = self.given.classes.all_back(self.found.classes)
        return {"cost_believed": outcome_payload(costs, classes)}

    def _by_task(self, column: str) -> pd.Series[Any]:
        frame = self.to_frame()
        return frame.set_index(self.given.tasks.index(self.found.answers["task"]))[column]


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredLabels(Labels):
    """One label for each task, with the error measured on a truth: `error` is always there."""

    error: GoldError


@dataclass(frozen=True)
class ModelOptions:
    """How votes are weighed and models fitted; each option is of some methods.

    Parameters
    ----------
    truncate
        weighted-log-odds: skills are moved into [X, 1 − X]. [default: 0.001]
    classes
        Weighted methods: number of classes. [default: those used]
    class_prior
        Models but ebcc and bwa: prior of the classes. [default: estimated; glad: uniform]
    iterations
        Models: most steps. [default: 100; ebcc, bwa: 500]
    restarts
        ebcc: random starts. [default: 10]

    Examples
    --------
    >>> import workbench as wb
    >>> labels = wb.simulate(tasks=20, workers=5, skill=0.9).labels
    >>> few = wb.ModelOptions(iterations=3)
    >>> len(wb.aggregate(labels, method="dawid-skene", options=few).labels)
    20
    """

    truncate: float | None = None
    classes: int | None = None
    class_prior: Prior | None = None
    iterations: int | None = None
    restarts: int | None = None


class _Plain(TypedDict, total=False):
    """What every way of labelling takes."""

    duplicates: Duplicates | None
    seed: int
    progress: Progress


class _Whose(_Plain, total=False):
    """Whose labels count, and what errors cost."""

    loss: Mapping[Any, float] | None
    class_share: Mapping[Any, float] | None
    workers: inputs.Table | Values | Result | Iterable[Any] | None


class _How(_Whose, total=False):
    """How labels are aggregated."""

    plan: inputs.Table | Result | None
    options: ModelOptions | None
    loss: Mapping[Any, float] | None
    class_share: Mapping[Any, float] | None
    calibrate: Calibrate | None
    start: Labels | None


@overload
def aggregate(
    labels: inputs.LabelTable, gold: inputs.Truth, **more: Unpack[_Whose]
) -> MeasuredLabels: ...
@overload
def aggregate(
    labels: inputs.LabelTable,
    gold: inputs.Truth | None = None,
    *,
    truth: inputs.Truth,
    method: Method | None = None,
    **more: Unpack[_How],
) -> MeasuredLabels: ...
@overload
def aggregate(
    labels: inputs.LabelTable,
    *,
    save: str | Path,
    method: Method | None = None,
    options: ModelOptions | None = None,
    **more: Unpack[_Plain],
) -> LabelsOnDisk: ...
@overload
def aggregate(
    labels: inputs.LabelTable,
    gold: inputs.Truth | None = None,
    *,
    method: Method | None = None,
    truth: None = None,
    save: None = None,
    **more: Unpack[_How],
) -> Labels: ...
def aggregate(
    labels: inputs.LabelTable,
    gold: inputs.Truth | None = None,
    *,
    method: Method | None = None,
    truth: inputs.Truth | None = None,
    workers: inputs.Table | Values | Result | Iterable[Any] | None = None,
    plan: inputs.Table | Result | None = None,
    options: ModelOptions | None = None,
    loss: Mapping[Any, float] | None = None,
    class_share: Mapping[Any, float] | None = None,
    calibrate: Calibrate | None = None,
    start: Labels | None = None,
    duplicates: Duplicates | None = None,
    save: str | Path | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> Labels | LabelsOnDisk | AnsweredSets:
    """Give every task one label, by a vote or by a model of the workers.

    Classes that tie are drawn among fairly, and counted. A task that the workers did not label
    gets no label. Of sets of labels each label is answered by itself, yes or no
    (docs/how-to/kinds.md).

    Parameters
    ----------
    labels
        Labels: columns `task`, `worker`, `label`.
    gold
        True labels: columns `task`, `gold`. They choose the method. Where one is named, weighted
        methods take the workers' skills from them, and models learn from them.

        A Series or a dict by task, too. Votes label these tasks like all others. Without a method
        the error is measured on them, of answers made without them; with one it is not.
    method
        How labels become answers. [default: with twenty gold tasks or more the best of seven
        methods on them; else pooled]

        Votes: "majority", "weighted-linear" or "weighted-log-odds". Models: "pooled", the mean of
        two (why: docs/findings/aggregation.md), "dawid-skene-smoothed", "dawid-skene", "one-coin",
        "ebcc", "bwa", "glad" or "belief-propagation". Gold chooses among six and "pooled" taught by
        it (`aggregation.choice`), the error measured by choosing anew without each part of it. With
        `save` the default is "dawid-skene-smoothed".
    truth
        True labels that only measure the error. [default: gold in the labels, if any]

        Gold that comes with the labels is taken for it where neither is given; for `gold`, where a
        weighted method lacks skills.
    workers
        Count only these workers' labels: column `worker`; for weighted votes skill, or the rows of
        a confusion matrix.

        A frame, as `hire` gives it; a list of workers; or a file.
    plan
        In place of a method, a plan of `plan`, or the file of `plan --vote`. Only its labels count,
        by its weights.

        What `plan` gave, or a frame or a file. Of several classes a plan has scores, by label and
        class, and the shares of the classes count once a task.
    options
        A `ModelOptions`.
    loss
        What it costs to miss a class. [default: 1 each]

        Each task gets the class of least expected cost, and gold chooses the method by what its
        answers cost.

        By true class, {"yes": 5}; a class that is not named costs 1. For methods that give chances
        of the classes, which are fitted as without. A plan has its own.
    class_share
        How frequent the classes are. [default: as the method finds them]

        Where that is known from elsewhere, as of gold that was drawn by class.

        By class, {"yes": 0.1}; the class that is not named has the rest.
    calibrate
        Models: calibrate confidences by the gold tasks, each hidden in turn, by a tenth of the
        labels, or not at all. [default: by gold of twenty tasks or more, else by labels]

        "auto", "gold", "labels" or "none"; labels correct too little where workers err together.
    start
        Models: an earlier result of the same model, to start from.
    duplicates
        Which label counts when a worker labels a task twice. [default: error]
    save
        For labels too many for memory: a .parquet file for the answers. The labels are then a
        Parquet file or a folder of them, read from disk a part at a time; majority and the models
        after Dawid and Skene.

        It takes DuckDB, and of the options `class_prior`, `iterations` and `duplicates`. What fits
        where: docs/formats.md.
    seed
        Same seed, same result.

        Of the draws among ties.
    progress
        A function that takes the progress, one line at a time; True draws a bar.

        With `save`, where True draws none, or where gold chooses the method.

    Returns
    -------
    Labels, or with `save` LabelsOnDisk; of ratings RatingAnswers
        Ratings are answered in points: with gold of twenty tasks or more by the posterior mean
        (method "precisions"), without by the "mean" or the "median".

    Raises
    ------
    InputError
        Labels, gold or workers cannot be read or do not belong together, an unknown method, an
        option that the method does not look at, a weighted method without skills, a start that does
        not fit, or nothing to calibrate by.

    Examples
    --------
    >>> import pandas as pd
    >>> import workbench as wb
    >>> labels = pd.DataFrame(
    ...     {
    ...         "task": [1, 1, 1, 2, 2],
    ...         "worker": ["ann", "bob", "cy", "ann", "bob"],
    ...         "label": ["cat", "cat", "dog", "dog", "dog"],
    ...     }
    ... )
    >>> found = wb.aggregate(labels, method="majority")
    >>> found.labels.to_dict()
    {1: 'cat', 2: 'dog'}
    >>> found.confidence.round(2).to_dict()
    {1: 0.67, 2: 1.0}
    """
    how = LabelOptions(**vars(options or ModelOptions()), calibrate=calibrate)
    if save is not None:
        refused = {"gold": gold, "truth": truth, "workers": workers, "plan": plan, "start": start}
        refused |= {"calibrate": calibrate, "loss": loss, "class_share": class_share}
        return aggregate_on_disk(
            labels,
            save,
            method or DEFAULT_ON_DISK,
            how,
            refused,
            duplicates,
            seed=seed,
            progress=None if progress is True else progress or None,
        )
    source = inputs.given(labels, duplicates=duplicates, kinds=get_args(Kind))
    if not isinstance(source.kind, Classes):
        inputs.refuse(source.kind, {"loss": loss, "class_share": class_share, "start": start})
        given = {"workers": workers, "method": method, "options": options, "calibrate": calibrate}
        others: Any = _of_ratings_or_sets(source, gold, truth, plan, seed, given)
        return cast(Labels, others)
    within = gold is truth is None and source.gold is not None
    asked = within and workers is None and (method or DEFAULT).startswith("weighted")
    gold_labels = true = None
    if gold is not None or asked:
        gold_labels, source = inputs.truth(gold, source)
    if truth is not None or (within and not asked):
        true, source = inputs.truth(truth, source, what="truth")
    planned = None
    if plan is not None:
        planned, source = _planned(plan, method, source)
    beforehand = KnownBeforehand(
        gold_labels,
        true,
        None if workers is None else _chosen(workers, source),
        None if start is None else _fit(start),
        planned,
        _stakes(loss, class_share, source.table["label"], gold_labels, true),
    )
    free = method is None and plan is None and start is None and how == LabelOptions()
    if calibrate is None and plan is None:
        how = replace(how, calibrate="auto")
    if free and gold_labels is not None:
        labelled = set(source.table["task"])
        if sum(task in labelled for task in gold_labels.index) >= LEAST_GOLD:
            return _by_choice(source, beforehand, seed, progress)
    default = DEFAULT if beforehand.stakes is None else DEFAULT_BY_COST
    result = label_tasks(source.table, method or default, beforehand, how, seed=seed)
    if true is not None:
        error = _measured(result, source, seed)
        return MeasuredLabels(source.name, seed, result, source, error)
    if free and gold_labels is not None:  # too little of it to choose by
        blind = replace(beforehand, gold=None, truth=gold_labels)
        without = label_tasks(source.table, default, blind, how, seed=seed)
        error = replace(_measured(without, source, seed), how=BLIND)
        return MeasuredLabels(source.name, seed, result, source, error)
    why = None if result.fit is None else _untold(result)
    if why is not None:
        result = replace(result, answers=result.answers.assign(confidence=np.nan))
    return Labels(source.name, seed, result, source, untold=why)


def _untold(result: Labelled) -> str | None:
    """Say why nothing can be believed of a fitted model, unless gold tells of its workers."""
    taught_by = (result.control >= 0) & ~result.aggregate.unlabelled
    return None if taught_by.sum() >= LEAST_GOLD else untold(result.counted)


def _by_choice(
    source: inputs.Given, beforehand: KnownBeforehand, seed: int, progress: Progress
) -> MeasuredLabels:
    """Label by the method that gold prefers; the error is measured by choosing anew."""
    assert beforehand.gold is not None
    truth = beforehand.gold if beforehand.truth is None else beforehand.truth
    blind = replace(beforehand, gold=None, truth=truth)
    step = steps(progress, "fits of a method", len(PLAINEST_FIRST) + 1 + FITS)
    votes, candidates = aggregates(source.table, PLAINEST_FIRST, blind, seed=seed, step=step)
    codes = gold_codes(votes, beforehand.gold)
    start = candidates["pooled"].info["fit"]
    candidates[TAUGHT] = taught(votes, codes, start=start, seed=seed, step=step)
    stakes = beforehand.stakes
    rule = choosing_rule(candidates, votes)
    if stakes is not None:
        stakes = stakes.over(votes.classes.tolist())
        rule = choosing_by_cost(candidates, votes, stakes, seed=seed)
        candidates = candidates_by_cost(candidates, votes, codes, stakes, seed=seed)
    best = choice(candidates, codes, stakes)
    result = labelled_by(candidates[best], votes, best, blind, seed)
    if "expected_cost" not in candidates[best].info:
        result = calibrated_by(result, codes, blind, seed=seed)
    losses = wrong_by(candidates, codes)
    if stakes is not None:
        losses = losses * stakes.weights(codes[codes >= 0])[:, None]
    errors = dict(zip(candidates, losses.mean(axis=0).tolist(), strict=True))
    if beforehand.truth is not None:
        error = _measured(result, source, seed)
        return MeasuredLabels(source.name, seed, result, source, error, errors)
    measured = measure_error(rule, codes, seed=seed)
    correlation = error_correlation(votes, codes, seed=seed)
    beside = majority_error(_everybodys(source.table, result), codes, measured.counted)
    how = "each judged by a method chosen without it"
    costs = _costs(result, source, measured, codes, beside)
    error = GoldError(measured, correlation, correlation.answers, how, beside, costs=costs)
    return MeasuredLabels(source.name, seed, result, source, error, errors)


def _stakes(
    loss: Mapping[Any, float] | None,
    class_share: Mapping[Any, float] | None,
    *named: pd.Series[Any] | None,
) -> Stakes | None:
    """What errors cost, by the classes that labels, gold and truth name."""
    if loss is class_share is None:
        return None
    classes = sorted({name for each in named if each is not None for name in each.unique()})
    return stakes_of(loss, class_share, classes)


def _costs(
    result: Labelled,
    source: inputs.Given,
    measured: MeasuredError,
    codes: IntArray,
    beside: MajorityError | None,
) -> MeasuredCost | None:
    """What the answers cost on tasks of known class; None where nothing is said of it."""
    stakes = result.aggregate.info.get("stakes")
    if stakes is None:
        return None
    own = replace(stakes, classes=tuple(source.classes.all_back(stakes.classes)))
    return measured.cost(own, codes, beside)


def _measured(result: Labelled, source: inputs.Given, seed: int) -> GoldError:
    """Hold the labels, and everybody's majority, against the truth, which they do not rest on."""
    codes = np.maximum(result.control, result.judged)
    rule = fixed_rule(result.aggregate, result.counted, result.control)
    measured = measure_error(rule, result.judged, left=np.flatnonzero(codes < 0), seed=seed)
    correlation = error_correlation(result.counted, codes, seed=seed)
    everybodys = _everybodys(source.table, result)
    beside = majority_error(everybodys, result.judged, measured.counted)
    how = "none of which it rests on"
    costs = _costs(result, source, measured, result.judged, beside)
    return GoldError(measured, correlation, correlation.answers, how, beside, costs=costs)


def _everybodys(labels: pd.DataFrame, result: Labelled) -> Votes:
    """All labels of the tasks that were labelled, those that did not count too."""
    return Votes.of(labels, tasks=result.counted.tasks, classes=result.classes)


def _planned(
    plan: Any, method: str | None, source: inputs.Given
) -> tuple[pd.DataFrame, inputs.Given]:
    """Read the labels of a plan, the weight or the scores of each, and its names of tasks."""
    if method not in (None, DEFAULT):
        raise InputError("`plan` has the weights of its own vote: leave `method` out")
    if isinstance(plan, EvenPlan):
        raise InputError("`plan`: labels shared evenly have no weights; leave it out")
    if isinstance(plan, Plan):
        plan = plan.vote
    plan = to_pandas(plan.to_frame() if isinstance(plan, Result) else plan)
    table = tables.read_plan(plan)
    if isinstance(plan, pd.DataFrame):
        tasks = source.tasks.with_more("plan", tables.column(plan, "task", "plan"))
        source = replace(source, tasks=tasks)
        if "score" in table:
            named = tables.column(plan, "class", "plan")
            source = replace(source, classes=source.classes.with_more("plan", named))
    return table, source


def _fit(start: Labels) -> Fit:
    """Parameters of an earlier result."""
    if not isinstance(start, Labels):
        raise InputError(f"start is {checks.type_name(start)}: give what `aggregate` gave before")
    if start.found.fit is None:
        raise InputError(f"start: {start.found.method} fits no model to start from: leave it out")
    return start.found.fit


def _reliability(table: pd.DataFrame) -> str:
    """The labels of most confidence in a table of reliability: it, and how often they are right."""
    if table.empty:
        return "no task with a label to judge"
    top = table.iloc[-1]
    return (
        f"confident {top['low']:.0%} or more ({top['confidence']:.3f} in the mean): "
        f"{top['right']:.3f} right, of {int(top['tasks'])} tasks"
    )


def _of_ratings_or_sets(
    source: inputs.Given,
    gold: inputs.Truth | None,
    truth: inputs.Truth | None,
    plan: Any,
    seed: int,
    how: dict[str, Any],
) -> Result:
    """Answer labels that are no classes."""
    if isinstance(source.kind, LabelSets):
        return aggregate_sets(aggregate, source, gold, truth, plan, seed, **how)
    from workbench.api.ratings import aggregate_ratings

    plain, workers = how["options"] in (None, ModelOptions()), how["workers"]
    others = {"options": None if plain else how["options"], "calibrate": how["calibrate"]}
    inputs.refuse(source.kind, others)
    counting = None if workers is None else _chosen(workers, source).index.tolist()
    return aggregate_ratings(source, gold, truth, how["method"], counting, plan, seed=seed)


def _chosen(workers: Any, source: inputs.Given) -> pd.DataFrame:
    """Read who counts, and perhaps the skill of each."""
    workers = to_pandas(workers.to_frame() if isinstance(workers, Result) else workers)
    if isinstance(workers, pd.DataFrame):
        source.workers.with_more("workers", tables.column(workers, "worker", "workers"))
    elif not isinstance(workers, (str, Path)):
        if not isinstance(workers, Iterable):
            raise InputError(
                f"workers is {checks.show(workers)}: give a list of workers, or a data frame with "
                "a column worker"
            )
        ids = list(workers)
        source.workers.with_more("workers", ids)
        workers = pd.DataFrame({"worker": pd.Series(ids, dtype=object)})
    return tables.read_workers(workers)
