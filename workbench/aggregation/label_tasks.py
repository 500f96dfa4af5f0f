"""From a label table to one label a task: tables in, tables out.

Every aggregator on named tasks and workers: who counts, the skills where a rule asks for them, the
label with its confidence, and its accuracy where the truth is known.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from workbench.aggregation import AGGREGATORS
from workbench.aggregation.voting import Aggregate, named_few
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.crowd.skills import skills_from_gold
from workbench.crowd.votes import Votes

Prior: TypeAlias = Literal["estimated", "uniform"]


@dataclass(frozen=True, eq=False)
class Labelled:
    """One label for each task, and what is known of it.

    Attributes
    ----------
    answers
        One row a task: `task, label, score, confidence, tied, unlabelled`. A task that nobody
        labelled has no label. Confidence is the share of the task's labels that agree (majority),
        the probability of the label, skills being as estimated and classes equally likely
        (weighted-log-odds), or its posterior (dawid-skene, one-coin); weighted-linear has none.
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
    iterations, converged, class_prior
        Of expectation-maximisation; else None.
    notes
        What has to be known to read the numbers, one sentence each.
    """

    answers: pd.DataFrame
    workers: pd.DataFrame
    classes: list[Any]
    method: str
    votes: int
    variant: str | None
    accuracy: float | None
    accuracy_tasks: int | None
    iterations: int | None
    converged: bool | None
    class_prior: FloatArray | None
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class KnownBeforehand:
    """What is known besides the labels.

    Attributes
    ----------
    gold
        True label by control task: skills for the weighted methods (before those of `workers`).
        They are labelled like all others, and no accuracy is measured on them.
    truth
        True label by task: accuracy is measured.
    workers
        Only the labels of those in its index count; a column `skill` gives weights.
    """

    gold: pd.Series[Any] | None = None
    truth: pd.Series[Any] | None = None
    workers: pd.DataFrame | None = None


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
        dawid-skene, one-coin: "estimated" or "uniform".
    iterations
        dawid-skene, one-coin: steps at most.
    """

    truncate: float | None = None
    classes: int | None = None
    class_prior: Prior | None = None
    iterations: int | None = None


def label_tasks(
    labels: pd.DataFrame,
    method: str = "majority",
    known: KnownBeforehand | None = None,
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
        none of the workers with a label, or fewer classes than are used.
    """
    known = known or KnownBeforehand()
    aggregator = AGGREGATORS[method].call
    given = _given(method, options or LabelOptions())
    by_skill = "skill" in inspect.signature(aggregator).parameters
    if by_skill and known.gold is None and known.workers is None:
        raise InputError(f"{method} needs skills: give `gold`, or `workers` with a column skill")
    votes = _votes(labels, known)
    if by_skill:
        given["skill"] = _skills(labels, known, votes)
    found = aggregator(votes, seed=seed, **given)
    accuracy, judged = _accuracy(found, votes, known)
    info = found.info
    return Labelled(
        answers=_answers(found, votes),
        workers=_workers(found, votes),
        classes=votes.classes.tolist(),
        method=method,
        votes=len(votes),
        variant=info.get("variant"),
        accuracy=accuracy,
        accuracy_tasks=judged,
        iterations=info.get("iterations"),
        converged=info.get("converged"),
        class_prior=info.get("class_prior"),
        notes=(
            *_idle(known, votes),
            *info.get("notes", ()),
            *_notes(found, method, by_skill, known, seed),
        ),
    )


def _given(method: str, options: LabelOptions) -> dict[str, Any]:
    """Give the options that are set; one that the method would not look at is a mistake."""
    given = {f.name: getattr(options, f.name) for f in fields(options)}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        takes = [
            other
            for other, entry in AGGREGATORS.items()
            if name in inspect.signature(entry.call).parameters
        ]
        if method not in takes:
            raise InputError(f"`{name}` is for {' and '.join(takes)}, not {method}: leave it out")
    return given


def _votes(labels: pd.DataFrame, known: KnownBeforehand) -> Votes:
    """The labels that count; tasks and classes are those of all labels."""
    workers = labels["worker"].drop_duplicates()
    if known.workers is not None:
        chosen = known.workers.index
        workers = workers[workers.isin(chosen)]
        if workers.empty:
            raise InputError(
                f"none of the chosen workers ({named_few(list(chosen))}) gave a label: mend the ids"
            )
    named = [labels["label"], *(one for one in (known.gold, known.truth) if one is not None)]
    return Votes.of(
        labels,
        tasks=labels["task"].unique(),
        workers=workers.to_numpy(),
        classes=sorted({name for series in named for name in series}),
    )


def _skills(labels: pd.DataFrame, known: KnownBeforehand, votes: Votes) -> FloatArray:
    """ŵ of each worker, shape (m,): from the control tasks, else as given; NaN where unknown."""
    if known.gold is not None:
        tested = skills_from_gold(labels, known.gold)
        share = np.where(tested.estimates.answered[0] > 0, tested.estimates.skill[0], np.nan)
        skill: pd.Series[float] = pd.Series(share, index=tested.workers)
    elif known.workers is not None and "skill" in known.workers:
        skill = known.workers["skill"]
    else:
        raise InputError("`workers`: no column 'skill' to weight by; add it, or give `gold`")
    return np.asarray(skill.reindex(votes.workers), dtype=np.float64)


def _answers(found: Aggregate, votes: Votes) -> pd.DataFrame:
    """`task, label, score, confidence, tied, unlabelled`; no label where there is none to go by."""
    answers = found.table(votes)
    confidence = found.info.get("confidence", np.nan)
    answers.insert(3, "confidence", np.where(found.unlabelled, np.nan, confidence))
    answers["label"] = answers["label"].astype(object).where(~answers["unlabelled"], None)
    return answers


def _workers(found: Aggregate, votes: Votes) -> pd.DataFrame:
    m = len(votes.workers)
    count = np.bincount(votes.worker, minlength=m)
    agreeing = np.bincount(votes.worker, found.label[votes.task] == votes.label, minlength=m)
    table = pd.DataFrame(
        {"worker": votes.workers, "labels": count, "agreement": agreeing / np.maximum(count, 1)}
    )
    return table.assign(**{k: found.info[k] for k in ("skill", "weight") if k in found.info})


def _accuracy(
    found: Aggregate, votes: Votes, known: KnownBeforehand
) -> tuple[float | None, int | None]:
    """Share of tasks labelled right under fair draws, and of how many; control tasks left out."""
    truth, gold = known.truth, known.gold
    if truth is None:
        return None, None
    judged = truth if gold is None else truth[~truth.index.isin(gold.index)]
    true: IntArray = np.full(len(votes.tasks), -1, dtype=np.int64)
    at = pd.Index(votes.tasks).get_indexer(judged.index)
    true[at] = pd.Index(votes.classes).get_indexer(pd.Index(judged))
    right = found.chance_right(true)[true >= 0]
    return float(right.mean()) if len(right) else float("nan"), len(judged)


def _idle(known: KnownBeforehand, votes: Votes) -> list[str]:
    if known.workers is None:
        return []
    active = set(votes.workers)
    idle = [worker for worker in known.workers.index if worker not in active]
    return [f"chosen workers who gave no label, {len(idle)}: {named_few(idle)}"] if idle else []


def _notes(
    found: Aggregate, method: str, by_skill: bool, known: KnownBeforehand, seed: Seed
) -> list[str]:
    controls = 0 if known.gold is None else len(known.gold)
    judged = known.truth is not None
    notes = {
        f"ties, drawn fairly with seed {seed}: {int(found.tied.sum())}": found.tied.any(),
        "the iterations ended before the likelihood settled: give more `iterations`": (
            found.info.get("converged") is False
        ),
        f"skills are shares of right answers to the {controls} control tasks, which are "
        "labelled by the same vote and never used for its accuracy": by_skill and controls,
        f"{method} uses no control tasks: the {controls} are only left out of the accuracy": (
            controls and not by_skill
        ),
        "the accuracy counts its share of a tie, and 1/L where the workers gave no label": judged,
        "the skills were given: where they rest on tasks of the truth the accuracy is too "
        "high; give these tasks as `gold` to leave them out": (
            judged and by_skill and known.gold is None and known.workers is not None
        ),
    }
    return [note for note, holds in notes.items() if holds]
