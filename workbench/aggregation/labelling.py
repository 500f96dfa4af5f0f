"""From a label table to one label a task: tables in, tables out.

Every aggregator on named tasks and workers: who counts, the skills where a rule asks for them, the
label with its confidence, and its accuracy where the truth is known.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from workbench.aggregation import AGGREGATORS, DEFAULT
from workbench.aggregation.by_cost import at_stake, by_cost
from workbench.aggregation.calibration import (
    Calibration,
    calibration,
    calibration_by_gold,
    has_company,
    reliability,
    temperature_by_labels,
)
from workbench.aggregation.posteriors import Earlier, Fit
from workbench.aggregation.score_vote import score_vote
from workbench.aggregation.voting import Aggregate, named_few, weighted_majority
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.bar import Step, no_step
from workbench.base.errors import InputError
from workbench.base.registry import failure_of_own
from workbench.base.seeds import Seed
from workbench.crowd.gold_rule import gold_codes
from workbench.crowd.loss import Stakes
from workbench.crowd.skills import skills_from_gold
from workbench.crowd.tables import rows_of_table
from workbench.crowd.votes import Votes

LEAST_GOLD = 20
"""Labelled gold tasks from which on they choose a method and calibrate it."""
PLANNED, SCORED = "weights of the plan", "scores of the plan"
"""The method, where a plan is given: of two classes, and of several."""
WEIGHTED, BY_ROWS = "weighted-log-odds", "rows of the workers"
"""The method that takes workers by rows where they come with them; and its name then."""
TINY = 1e-300
"""Chance of a label where the class is one that the plan does not know."""
Prior: TypeAlias = Literal["estimated", "uniform"]
Calibrate: TypeAlias = Literal["auto", "gold", "labels", "none"]


@dataclass(frozen=True, eq=False)
class Labelled:
    """One label for each task, and what is known of it.

    Attributes
    ----------
    answers
        One row a task: `task, label, score, confidence, tied, unlabelled`. A task that nobody
        labelled has no label. Confidence is the share of the task's labels that agree (majority),
        the probability of the label, skills being as estimated and classes equally likely
        (weighted-log-odds), its share of the scores (bwa), or its posterior (dawid-skene,
        dawid-skene-smoothed, one-coin, ebcc, glad); weighted-linear has none.
    workers
        One row a worker who counts: `worker, labels` (how many), `agreement` (share of them equal
        to the task's label), and, where the method has them, `skill` and `weight`.
    classes
        Names of the classes, sorted.
    method, variant
        The rule, and how it was run where there is more than one way.
    votes
        How many labels count.
    accuracy, accuracy_tasks
        Share of tasks labelled right under fair draws, and of how many: those of the truth that are
        no control tasks. None without a truth; NaN of no task.
    reliability
        How often labels of like confidence are right by the truth (`calibration.reliability`); None
        without a truth or confidences.
    iterations, converged, class_prior
        Of a model that is fitted by turns; else None.
    posterior
        Shape (n, L), of a model: the chance of each class, at the temperature; else None.
    calibration
        Of the posterior and the confidence, where they are calibrated; else None.
    confidence_raw
        Confidence as the method has it, uncalibrated, shape (n,); None without any.
    fit
        Of a model: what the next may start from when there are more labels; else None.
    notes
        What has to be known to read the numbers, one sentence each.
    aggregate, counted
        The labels by index, and the votes they came from.
    control, judged
        Class of the control tasks, and of the others of the truth; −1 elsewhere, (n,).
    """

    answers: pd.DataFrame
    workers: pd.DataFrame
    classes: list[Any]
    method: str
    votes: int
    variant: str | None
    accuracy: float | None
    accuracy_tasks: int | None
    reliability: pd.DataFrame | None
    iterations: int | None
    converged: bool | None
    class_prior: FloatArray | None
    posterior: FloatArray | None
    calibration: Calibration | None
    confidence_raw: FloatArray | None
    fit: Fit | None
    notes: tuple[str, ...]
    aggregate: Aggregate
    counted: Votes
    control: IntArray
    judged: IntArray


@dataclass(frozen=True, eq=False)
class KnownBeforehand:
    """What is known besides the labels.

    Attributes
    ----------
    gold
        True label by control task: skills for the weighted methods (before those of `workers`);
        models keep these tasks at their class, and learn from them. Votes label them like all
        others. No accuracy is measured on them.
    truth
        True label by task: accuracy is measured.
    workers
        Only the labels of those in its index count; a column `skill` gives weights, and rows of
        confusion matrices (`tables.rows_of_table`) what each label says of each class.
    fit
        Of the same model on earlier labels: it starts from there.
    plan
        A plan of labels, as `tables.read_plan` gives it: only these labels count, by its weights
        or, of several classes, by its scores.
    stakes
        What errors cost, and how frequent classes are: each task gets the class of least expected
        cost. A plan of several classes has its own.
    """

    gold: pd.Series[Any] | None = None
    truth: pd.Series[Any] | None = None
    workers: pd.DataFrame | None = None
    fit: Fit | None = None
    plan: pd.DataFrame | None = None
    stakes: Stakes | None = None


@dataclass(frozen=True)
class LabelOptions:
    """Options of the aggregators; None leaves one at its default.

    Attributes
    ----------
    truncate
        weighted-log-odds: skills are moved into [truncate, 1 − truncate].
    classes
        Weighted methods: L, where there are classes that nobody used.
    class_prior
        Models but ebcc and bwa: "estimated" or "uniform".
    iterations
        Models: most steps of a fit.
    restarts
        ebcc: random starts.
    calibrate
        Models: the posteriors are calibrated by control tasks, "gold", or by labels held out,
        "labels"; "auto" by twenty control tasks with labels or more, else by labels; "none" or
        None leaves them as the model has them.
    """

    truncate: float | None = None
    classes: int | None = None
    class_prior: Prior | None = None
    iterations: int | None = None
    restarts: int | None = None
    calibrate: Calibrate | None = None


def label_tasks(
    labels: pd.DataFrame,
    method: str = DEFAULT,
    beforehand: KnownBeforehand | None = None,
    options: LabelOptions | None = None,
    *,
    seed: Seed,
) -> Labelled:
    """Give every task one label, by one of `AGGREGATORS`.

    Classes that tie are drawn among fairly, and counted. A task that the workers did not label
    gets no label.

    Parameters
    ----------
    labels
        Long table `task, worker, label`, one row a (task, worker) pair, all text.
    method
        Name of the aggregator.

    Raises
    ------
    InputError
        An unknown method, an option that it does not look at, a weighted method without skills,
        none of the workers with a label, fewer classes than are used, a fit that does not fit, or
        nothing to calibrate by.
    """
    beforehand = beforehand or KnownBeforehand()
    options = options or LabelOptions()
    if beforehand.plan is not None:
        beside = beforehand.workers, beforehand.fit, beforehand.stakes
        if options != LabelOptions() or any(each is not None for each in beside):
            raise InputError("`plan` says whose labels count and how much: leave the rest out")
        scored = "score" in beforehand.plan
        cast = _by_scores if scored else _by_plan
        method = SCORED if scored else PLANNED
        return labelled_by(*cast(labels, beforehand, seed), method, beforehand, seed)
    settings = given_options(method, options)
    by_skill, by_model = (_takes(method, name) for name in ("skill", "earlier"))
    if beforehand.fit is not None and not by_model:
        raise InputError(f"`start` is for models, {_listed('earlier')}, not {method}: leave it out")
    if by_skill and beforehand.gold is None and beforehand.workers is None:
        raise InputError(f"{method} needs skills: give `gold`, or `workers` with a column skill")
    votes = _votes(labels, beforehand)
    if method == WEIGHTED and beforehand.gold is None and beforehand.workers is not None:
        known = rows_of_table(beforehand.workers)
        if known is not None:
            if settings:
                raise InputError(
                    f"`{min(settings)}` is not for workers known by rows: leave it out"
                )
            aggregate = _by_rows(votes, beforehand.workers.index, *known, seed=seed)
            if beforehand.stakes is not None:
                aggregate = at_stake(aggregate, votes, BY_ROWS, beforehand.stakes, seed=seed)
            return labelled_by(aggregate, votes, BY_ROWS, beforehand, seed)
    if by_skill:
        settings["skill"] = _skills(labels, beforehand, votes)
    if by_model:
        aggregate = _by_model(votes, beforehand, settings, method, options.calibrate, seed=seed)
    else:
        aggregate = _aggregate(method, votes, seed=seed, **settings)
    if beforehand.stakes is not None:
        aggregate = at_stake(aggregate, votes, method, beforehand.stakes, seed=seed)
    return labelled_by(aggregate, votes, method, beforehand, seed)


def aggregates(
    labels: pd.DataFrame,
    methods: Sequence[str],
    beforehand: KnownBeforehand,
    *,
    seed: Seed,
    step: Step = no_step,
) -> tuple[Votes, dict[str, Aggregate]]:
    """Label by each of several methods that need no skills: what `label_tasks` makes tables of.

    Parameters
    ----------
    labels, beforehand
        As `label_tasks` takes them; the votes are laid out once for all methods.
    methods
        Their names.
    step
        Is called after each of them.
    """
    votes, found = _votes(labels, beforehand), {}
    for method in methods:
        if _takes(method, "earlier"):
            found[method] = _by_model(votes, beforehand, {}, method, None, seed=seed)
        else:
            found[method] = _aggregate(method, votes, seed=seed)
        step()
    return votes, found


def _by_plan(
    labels: pd.DataFrame, beforehand: KnownBeforehand, seed: Seed
) -> tuple[Aggregate, Votes]:
    """The vote by weights that a plan of two classes prescribes, of all its tasks."""
    assert beforehand.plan is not None
    counted = labels.merge(beforehand.plan, on=["task", "worker"], how="inner")
    if counted.empty:
        raise InputError("`plan`: none of its labels has been given: mend the ids, or wait")
    votes = Votes.of(
        counted, tasks=beforehand.plan["task"].unique(), classes=_classes(labels, beforehand)
    )
    aggregate = weighted_majority(votes, counted["weight"].to_numpy(np.float64), seed=seed)
    missing, beside = len(beforehand.plan) - len(counted), len(labels) - len(counted)
    return _noted(aggregate, missing, beside), votes


def _by_scores(
    labels: pd.DataFrame, beforehand: KnownBeforehand, seed: Seed
) -> tuple[Aggregate, Votes]:
    """The vote by scores that a plan of several classes prescribes, of all its tasks."""
    assert beforehand.plan is not None
    plan = beforehand.plan.sort_values(["task", "worker", "label", "class"])
    known = np.sort(plan["class"].unique())
    place = list(range(len(known)))
    each = plan[["task", "worker", "label"]].iloc[:: len(known)].reset_index(drop=True)
    each[place] = plan["score"].to_numpy(np.float64).reshape(-1, len(known))
    prior, table = each[each["worker"] == ""], each[each["worker"] != ""]
    tasks = prior["task"].to_numpy()
    pairs = table[["task", "worker"]].drop_duplicates()
    planned = labels.merge(pairs, on=["task", "worker"], how="inner")
    if planned.empty and len(pairs):
        raise InputError("`plan`: none of its labels has been given: mend the ids, or wait")
    counted = planned.merge(table, on=["task", "worker", "label"], how="inner")
    classes = sorted({*known, *counted["label"], *_classes(counted, beforehand)})
    votes = Votes.of(counted, tasks=tasks, classes=classes)
    at = pd.Index(classes).get_indexer(pd.Index(known))
    whole = np.full((len(counted), len(classes)), np.log(TINY))
    whole[:, at] = counted[place].to_numpy(np.float64)
    before = np.full((len(tasks), len(classes)), -np.inf)
    before[:, at] = prior[place].to_numpy(np.float64)
    waiting = np.isin(tasks, pairs["task"].unique())
    aggregate = score_vote(votes, whole, before, waiting, seed=seed)
    if "loss" in plan:
        by_class = plan.dropna(subset="loss").groupby("class")["loss"].first()
        stakes = Stakes(tuple(known), by_class.reindex(known).to_numpy(np.float64)).over(classes)
        aggregate = by_cost(aggregate, votes, stakes, seed=seed) or aggregate
    strange = len(planned) - len(counted)
    more = [
        f"labels of classes that the plan does not know, {strange}: they do not count"
        if strange
        else "",
        f"tasks answered by the shares of the classes, as planned without a label: {free}"
        if (free := int((~waiting).sum()))
        else "",
    ]
    missing, beside = len(pairs) - len(planned), len(labels) - len(planned)
    return _noted(aggregate, missing, beside, more), votes


def _by_rows(
    votes: Votes,
    workers: pd.Index[Any],
    confusion: FloatArray,
    shares: FloatArray,
    classes: Sequence[Any],
    *,
    seed: Seed,
) -> Aggregate:
    """The likeliest class by rows of the workers and shares of the classes."""
    at = pd.Index(votes.classes).get_indexer(pd.Index(classes))
    place = pd.Index(classes).get_indexer(pd.Index(votes.classes))
    who, said = workers.get_indexer(pd.Index(votes.workers))[votes.worker], place[votes.label]
    scores = np.full((len(votes), len(votes.classes)), np.log(TINY))
    scores[:, at[at >= 0]] = np.log(confusion[who, :, said])[:, at >= 0]
    scores[said < 0] = 0.0  # A label of a class that the rows do not know says nothing.
    prior = np.full(len(votes.classes), -np.inf)
    prior[at[at >= 0]] = np.log(shares)[at >= 0]
    n = len(votes.tasks)
    waiting = np.ones(n, dtype=np.bool_)
    aggregate = score_vote(votes, scores, np.tile(prior, (n, 1)), waiting, seed=seed)
    return replace(aggregate, info={**aggregate.info, "shares": np.exp(prior)})


def _noted(aggregate: Aggregate, missing: int, beside: int, more: Sequence[str] = ()) -> Aggregate:
    """The same, with notes on labels that are missing and such as do not count."""
    notes = [
        f"labels of the plan that have not been given, {missing}" if missing else "",
        f"labels outside the plan, {beside}: they do not count" if beside else "",
        *more,
    ]
    return replace(aggregate, info={**aggregate.info, "notes": [note for note in notes if note]})


def labelled_by(
    aggregate: Aggregate, votes: Votes, method: str, beforehand: KnownBeforehand, seed: Seed
) -> Labelled:
    """Give what an aggregate of votes comes to, in tables.

    Parameters
    ----------
    aggregate, votes, method
        The labels, what they came from, and the rule's name.
    beforehand, seed
        What they rest on.
    """
    info = aggregate.info
    judged = _judged(votes, beforehand)
    right = (
        None if beforehand.truth is None else pd.Series(aggregate.chance_right(judged))[judged >= 0]
    )
    sure = info.get("confidence")
    return Labelled(
        answers=_answers(aggregate, votes),
        workers=_workers(aggregate, votes),
        classes=votes.classes.tolist(),
        method=method,
        votes=len(votes),
        variant=info.get("variant"),
        accuracy=None if right is None else float(right.mean()) if len(right) else float("nan"),
        accuracy_tasks=None if right is None else len(right),
        reliability=None
        if right is None or sure is None
        else reliability(np.where(aggregate.unlabelled, np.nan, sure)[right.index], right),
        iterations=info.get("iterations"),
        converged=info.get("converged"),
        class_prior=info.get("class_prior"),
        posterior=info.get("posterior"),
        calibration=info.get("calibration"),
        confidence_raw=info.get("confidence_raw", sure),
        fit=info.get("fit"),
        notes=(
            *_idle(beforehand, votes),
            *info.get("notes", ()),
            *notes(int(aggregate.tied.sum()), info, method, beforehand, seed),
        ),
        aggregate=aggregate,
        counted=votes,
        control=gold_codes(votes, beforehand.gold),
        judged=judged,
    )


def _aggregate(method: str, votes: Votes, **settings: Any) -> Aggregate:
    """Let an aggregator label; one of a user's own is held to what an aggregator gives.

    Raises
    ------
    InputError
        One of a user's own fails, or gives something else: one line.
    """
    aggregator = AGGREGATORS[method].call
    if method not in AGGREGATORS.added():
        aggregate: Aggregate = aggregator(votes, **settings)
        return aggregate
    try:
        aggregate = aggregator(votes, **settings)
    except (Exception, SystemExit) as error:
        raise failure_of_own(f"aggregator {method!r}", aggregator, error) from error
    problem = _unlike_an_aggregate(aggregate, votes)
    if problem:
        raise InputError(f"aggregator {method!r}: {problem}; see workbench.testing")
    return aggregate


def _unlike_an_aggregate(aggregate: object, votes: Votes) -> str:
    """What keeps a result from being an `Aggregate` of these votes; nothing where it is one."""
    if not isinstance(aggregate, Aggregate):
        return f"it returns a {type(aggregate).__name__}, and not an Aggregate"
    n, classes = len(votes.tasks), len(votes.classes)
    for name in ("label", "score", "tied", "unlabelled"):
        shape = np.shape(getattr(aggregate, name))
        if shape != (n,):
            return f"its {name} has shape {shape}: give one for each of {n} tasks"
    label = np.asarray(aggregate.label)
    if label.dtype.kind not in "iu" or (n and not 0 <= label.min() <= label.max() < classes):
        return f"its label is not of whole numbers from 0 to {classes - 1}, places of classes"
    if not isinstance(aggregate.info, dict):
        return f"its info is a {type(aggregate.info).__name__}, and not a dictionary"
    for name, shape in (("confidence", (n,)), ("posterior", (n, classes))):
        value = aggregate.info.get(name)
        if value is not None and np.shape(value) != shape:
            return f"its info has a {name} of shape {np.shape(value)}: give shape {shape}"
    return ""


def given_options(method: str, options: LabelOptions) -> dict[str, Any]:
    """Give the options that are set; one that the method would not look at is a mistake."""
    settings = {f.name: getattr(options, f.name) for f in fields(options)}
    settings = {name: value for name, value in settings.items() if value is not None}
    if settings.get("calibrate") in ("auto", "none"):
        settings.pop("calibrate")
    for name in settings:
        keyword = "earlier" if name == "calibrate" else name
        if not _takes(method, keyword):
            raise InputError(f"`{name}` is for {_listed(keyword)}, not {method}: leave it out")
    settings.pop("calibrate", None)
    return settings


def _takes(method: str, keyword: str) -> bool:
    return (
        method in AGGREGATORS and keyword in inspect.signature(AGGREGATORS[method].call).parameters
    )


def _listed(keyword: str) -> str:
    """Methods that take a keyword: "a, b and c"."""
    *some, last = [method for method in AGGREGATORS if _takes(method, keyword)]
    return f"{', '.join(some)} and {last}" if some else last


def _by_model(
    votes: Votes,
    beforehand: KnownBeforehand,
    settings: dict[str, Any],
    method: str,
    calibrate: Calibrate | None,
    *,
    seed: Seed,
) -> Aggregate:
    """Fit a model with gold inside, from an earlier fit if there is one, and calibrate it."""
    classes = gold_codes(votes, beforehand.gold)

    def fit(some: Votes, at_class: IntArray, start: Fit | None = None) -> Aggregate:
        return _aggregate(method, some, seed=seed, earlier=Earlier(at_class, start), **settings)

    # What is held out for calibration was seen by the earlier fit: no fold starts from it.
    aggregate = fit(votes, classes, beforehand.fit)
    if calibrate == "auto":
        labelled = (classes >= 0) & ~aggregate.unlabelled
        held_out: Calibrate = "labels" if has_company(votes).any() else "none"
        calibrate = "gold" if labelled.sum() >= LEAST_GOLD else held_out
    if calibrate in (None, "none"):
        return aggregate
    if calibrate == "gold":
        by_gold = calibration_by_gold(fit, votes, classes, seed=seed)
        return _calibrated(aggregate, by_gold, votes, classes < 0)
    heat = temperature_by_labels(fit, votes, classes, seed=seed)
    return _calibrated(aggregate, Calibration(heat), votes)


def _calibrated(
    aggregate: Aggregate, how: Calibration, votes: Votes, where: BoolArray | None = None
) -> Aggregate:
    """The same answers, with posterior and confidence calibrated; `where` the class is unknown."""
    info = {"calibration": how, "confidence_raw": aggregate.info["confidence"]}
    if "posterior" in aggregate.info:
        posterior = how.apply(aggregate.info["posterior"])
        if where is not None:
            posterior = np.where(where[:, None], posterior, aggregate.info["posterior"])
        confidence = posterior[np.arange(len(posterior)), aggregate.label]
        info |= {"posterior": posterior, "confidence": confidence}
    else:
        info["confidence"] = how.confidence(aggregate.info["confidence"], len(votes.classes))
    return replace(aggregate, info={**aggregate.info, **info})


def calibrated_by(
    labelled: Labelled, gold: IntArray, beforehand: KnownBeforehand, *, seed: Seed
) -> Labelled:
    """The same answers, their confidence calibrated by gold that they do not rest on.

    Parameters
    ----------
    gold
        Class of the gold tasks, −1 of all others, shape (n,).
    beforehand, seed
        What the labels rest on.
    """
    aggregate, votes = labelled.aggregate, labelled.counted
    control = (gold >= 0) & ~aggregate.unlabelled
    confidence = aggregate.info.get("confidence")
    if confidence is None or not control.any():
        return labelled
    if "posterior" in aggregate.info:
        right = np.eye(len(votes.classes))[gold[control]]
        how = calibration(aggregate.info["posterior"][control], right)
    else:
        hit, share = aggregate.chance_right(gold)[control], confidence[control]
        two = np.column_stack([share, 1.0 - share])
        how = calibration(two, np.column_stack([hit, 1.0 - hit]), len(votes.classes))
    return labelled_by(_calibrated(aggregate, how, votes), votes, labelled.method, beforehand, seed)


def _votes(labels: pd.DataFrame, beforehand: KnownBeforehand) -> Votes:
    """The labels that count; tasks and classes are those of all labels."""
    if beforehand.workers is None:
        return Votes.of(labels, classes=_classes(labels, beforehand))
    workers, chosen = labels["worker"].drop_duplicates(), beforehand.workers.index
    workers = workers[workers.isin(chosen)]
    if workers.empty:
        raise InputError(
            f"none of the chosen workers ({named_few(list(chosen))}) gave a label: mend the ids"
        )
    return Votes.of(
        labels,
        tasks=np.asarray(labels["task"].unique()),
        workers=workers.to_numpy(),
        classes=_classes(labels, beforehand),
    )


def _classes(labels: pd.DataFrame, beforehand: KnownBeforehand) -> list[Any]:
    """All classes that labels, gold or truth name, sorted."""
    named = (labels["label"], beforehand.gold, beforehand.truth)
    return sorted({name for series in named if series is not None for name in series.unique()})


def _skills(labels: pd.DataFrame, beforehand: KnownBeforehand, votes: Votes) -> FloatArray:
    """ŵ of each worker, shape (m,): from the control tasks, else as given; NaN where unknown."""
    if beforehand.gold is not None:
        tested = skills_from_gold(labels, beforehand.gold)
        share = np.where(tested.estimates.answered[0] > 0, tested.estimates.skill[0], np.nan)
        skill: pd.Series[float] = pd.Series(share, index=tested.workers)
    elif beforehand.workers is not None and "skill" in beforehand.workers:
        skill = beforehand.workers["skill"]
    else:
        raise InputError("`workers`: no column 'skill' to weight by; add it, or give `gold`")
    return np.asarray(skill.reindex(votes.workers), dtype=np.float64)


def _answers(aggregate: Aggregate, votes: Votes) -> pd.DataFrame:
    """`task, label, score, confidence, tied, unlabelled`; no label where there is none to go by."""
    answers = aggregate.table(votes)
    confidence = aggregate.info.get("confidence", np.nan)
    answers.insert(3, "confidence", np.where(aggregate.unlabelled, np.nan, confidence))
    answers["label"] = answers["label"].astype(object).where(~answers["unlabelled"], None)
    if "expected_cost" in aggregate.info:
        answers["expected_cost"] = aggregate.info["expected_cost"]
    return answers


def _workers(aggregate: Aggregate, votes: Votes) -> pd.DataFrame:
    m = len(votes.workers)
    count = np.bincount(votes.worker, minlength=m)
    agreeing = np.bincount(votes.worker, aggregate.label[votes.task] == votes.label, minlength=m)
    table = pd.DataFrame(
        {"worker": votes.workers, "labels": count, "agreement": agreeing / np.maximum(count, 1)}
    )
    return table.assign(
        **{k: aggregate.info[k] for k in ("skill", "weight") if k in aggregate.info}
    )


def _judged(votes: Votes, beforehand: KnownBeforehand) -> IntArray:
    """Class of each task by the truth, −1 without one and of control tasks; shape (n,)."""
    truth, gold = beforehand.truth, beforehand.gold
    if truth is not None and gold is not None:
        truth = truth[~truth.index.isin(gold.index)]
    return gold_codes(votes, truth)


def _idle(beforehand: KnownBeforehand, votes: Votes) -> list[str]:
    if beforehand.workers is None:
        return []
    active = set(votes.workers)
    idle = [worker for worker in beforehand.workers.index if worker not in active]
    return [f"chosen workers who gave no label, {len(idle)}: {named_few(idle)}"] if idle else []


def notes(
    ties: int, info: Mapping[str, Any], method: str, beforehand: KnownBeforehand, seed: Seed
) -> list[str]:
    """Say what has to be known to read the labels, a sentence each; `info` is the aggregate's."""
    by_skill, by_model = (_takes(method, name) for name in ("skill", "earlier"))
    controls = 0 if beforehand.gold is None else len(beforehand.gold)
    judged = beforehand.truth is not None
    reasons = {
        f"ties, drawn fairly with seed {seed}: {ties}": ties,
        "the iterations ended before the likelihood settled: give more `iterations`": (
            info.get("converged") is False
        ),
        f"skills are shares of right answers to the {controls} control tasks, which are "
        "labelled by the same vote and never used for its accuracy": by_skill and controls,
        f"{method} uses no control tasks: the {controls} are only left out of the accuracy": (
            controls and not by_skill and not by_model
        ),
        f"the {controls} control tasks keep their class, teach {method} the rest, and are left out "
        "of the accuracy": controls and by_model,
        "confidences take workers to err independently, and are too high where they do not: "
        "calibrate them by gold or by labels": by_model and "calibration" not in info,
        "the accuracy counts its share of a tie, and 1/L where the workers gave no label": judged,
        "the skills were given: where they rest on tasks of the truth the accuracy is too "
        "high; give these tasks as `gold` to leave them out": (
            judged and by_skill and beforehand.gold is None and beforehand.workers is not None
        ),
    }
    return [note for note, holds in reasons.items() if holds]
