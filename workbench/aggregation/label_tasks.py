"""From a label table to one label a task: tables in, tables out.

Every rule of this room on named tasks and workers: who counts, their weights where a rule takes
any, the label with its confidence, and its accuracy where the truth is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from workbench.aggregation.dawid_skene import dawid_skene
from workbench.aggregation.voting import (
    Aggregate,
    expected_accuracy,
    linear_weights,
    log_odds_weights,
    majority,
    tally,
    weighted_majority,
)
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.base.text import cell
from workbench.crowd.skills import skills_from_gold
from workbench.crowd.votes import TIE, Votes

WEIGHTED = ("weighted-linear", "weighted-log-odds")
LEARNT = ("dawid-skene", "one-coin")
METHODS = ("majority", *WEIGHTED, *LEARNT)
TRUNCATE = 1e-3
ITERATIONS = 100
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


def label_tasks(
    labels: pd.DataFrame,
    method: str = "majority",
    *,
    gold: pd.Series[Any] | None = None,
    truth: pd.Series[Any] | None = None,
    workers: pd.DataFrame | None = None,
    truncate: float | None = None,
    classes: int | None = None,
    class_prior: Prior | None = None,
    iterations: int | None = None,
    seed: Seed,
) -> Labelled:
    """Give every task one label, by a vote or by expectation-maximisation.

    Classes that tie are drawn among fairly, and counted. A task that the workers did not label
    gets no label.

    Parameters
    ----------
    labels
        Long table `task, worker, label`, one row a (task, worker) pair, all text.
    method
        One of `METHODS`.
    gold
        True label by control task: skills for the weighted methods (before those of `workers`).
        They are labelled like all others, and no accuracy is measured on them.
    truth
        True label by task: accuracy is measured.
    workers
        Only the labels of those in its index count; a column `skill` gives weights.
    truncate
        weighted-log-odds: skills are moved into [truncate, 1 − truncate]; None for `TRUNCATE`.
    classes
        Weighted methods: L, where there are classes that nobody used; None counts those used.
    class_prior
        dawid-skene, one-coin: "estimated" (None) or "uniform".
    iterations
        dawid-skene, one-coin: steps at most; None for `ITERATIONS`.

    Raises
    ------
    InputError
        An unknown method, an option that it does not look at, a weighted method without skills,
        none of `workers` with a label, or fewer classes than are used.
    """
    _check(method, truncate, classes, class_prior, iterations)
    if method in WEIGHTED and gold is None and workers is None:
        raise InputError(f"{method} needs skills: give `gold`, or `workers` with a column skill")
    votes = _votes(labels, workers, gold, truth)
    notes = [] if workers is None else _idle(workers, votes)
    L = _class_count(classes, votes)
    skill = weight = None
    if method in WEIGHTED:
        skill = _skills(labels, gold, workers, votes)
        weight = _weights(method, skill, L, TRUNCATE if truncate is None else truncate)
        notes += _of_weights(method, skill, TRUNCATE if truncate is None else truncate, votes)
        found = weighted_majority(votes, weight, per="worker", seed=seed)
    elif method == "majority":
        found = majority(votes, seed=seed)
    else:
        found = dawid_skene(
            votes,
            confusion="full" if method == "dawid-skene" else "one-coin",
            class_prior=class_prior or "estimated",
            iterations=ITERATIONS if iterations is None else iterations,
            seed=seed,
        )
        skill = found.info.get("skill")
    accuracy, judged = None, None
    if truth is not None:
        aside = truth if gold is None else truth[~truth.index.isin(gold.index)]
        accuracy, judged = _accuracy(found, votes, weight, aside), len(aside)
    notes += _notes(found, method, seed, gold, truth, workers)
    return Labelled(
        answers=_answers(found, votes, weight, L, method),
        workers=_workers(found, votes, skill, weight),
        classes=votes.classes.tolist(),
        method=method,
        votes=len(votes),
        variant=found.info.get("variant"),
        accuracy=accuracy,
        accuracy_tasks=judged,
        iterations=found.info.get("iterations"),
        converged=found.info.get("converged"),
        class_prior=found.info.get("class_prior"),
        notes=tuple(notes),
    )


def _check(
    method: str,
    truncate: float | None,
    classes: int | None,
    class_prior: Prior | None,
    iterations: int | None,
) -> None:
    """Refuse options that the method would not look at: they are a misunderstanding."""
    if method not in METHODS:
        raise InputError(f"`method` is {method!r}: give {', '.join(METHODS)}")
    for name, value, methods in (
        ("truncate", truncate, ("weighted-log-odds",)),
        ("classes", classes, WEIGHTED),
        ("class_prior", class_prior, LEARNT),
        ("iterations", iterations, LEARNT),
    ):
        if value is not None and method not in methods:
            raise InputError(f"`{name}` is for {' and '.join(methods)}, not {method}: leave it out")


def _votes(
    labels: pd.DataFrame,
    hired: pd.DataFrame | None,
    gold: pd.Series[Any] | None,
    truth: pd.Series[Any] | None,
) -> Votes:
    """The labels that count; tasks and classes are those of all labels."""
    workers = labels["worker"].drop_duplicates()
    if hired is not None:
        workers = workers[workers.isin(hired.index)]
        if workers.empty:
            raise InputError(
                f"none of the chosen workers ({_few(list(hired.index))}) gave a label: mend the ids"
            )
    known = [labels["label"], *(series for series in (gold, truth) if series is not None)]
    return Votes.of(
        labels,
        tasks=labels["task"].unique(),
        workers=workers.to_numpy(),
        classes=sorted({name for series in known for name in series}),
    )


def _idle(hired: pd.DataFrame, votes: Votes) -> list[str]:
    active = set(votes.workers)
    idle = [worker for worker in hired.index if worker not in active]
    return [f"chosen workers who gave no label, {len(idle)}: {_few(idle)}"] if idle else []


def _few(names: Sequence[str]) -> str:
    more = f", … ({len(names)} in all)" if len(names) > 8 else ""
    return ", ".join(map(cell, names[:8])) + more


def _class_count(classes: int | None, votes: Votes) -> int:
    named = len(votes.classes)
    if classes is not None and checks.count("classes", classes, 1) < named:
        raise InputError(
            f"`classes` is {classes}, and {named} are used ({_few(list(votes.classes))}): give "
            f"{named} or more, or mend the labels"
        )
    return named if classes is None else classes


def _skills(
    labels: pd.DataFrame, gold: pd.Series[Any] | None, hired: pd.DataFrame | None, votes: Votes
) -> FloatArray:
    """ŵ of each worker, shape (m,): from the control tasks, else as given; NaN where unknown."""
    if gold is not None:
        tested = skills_from_gold(labels, gold)
        share = np.where(tested.estimates.answered[0] > 0, tested.estimates.skill[0], np.nan)
        known: pd.Series[float] = pd.Series(share, index=tested.workers)
    elif hired is not None and "skill" in hired:
        known = hired["skill"]
    else:
        raise InputError("`workers`: no column 'skill' to weight by; add it, or give `gold`")
    return np.asarray(known.reindex(votes.workers), dtype=np.float64)


def _weights(method: str, skill: FloatArray, L: int, truncate: float) -> FloatArray:
    """Weight of each worker, shape (m,); 0 for who answered no control task."""
    known = ~np.isnan(skill)
    weight = np.zeros(len(skill))
    weight[known] = (
        linear_weights(skill[known], L)
        if method == "weighted-linear"
        else log_odds_weights(skill[known], L, truncate=truncate)
    )
    return weight


def _of_weights(method: str, skill: FloatArray, truncate: float, votes: Votes) -> list[str]:
    notes = []
    if method == "weighted-log-odds":
        moved = int(((skill < truncate) | (skill > 1 - truncate)).sum())
        notes.append(
            f"skills moved into [{truncate:g}, {1 - truncate:g}] before the log-odds: {moved}"
        )
    strangers = votes.workers[np.isnan(skill)].tolist()
    if strangers:
        notes.append(
            f"workers without a control answer, who do not count, {len(strangers)}: "
            f"{_few(strangers)}"
        )
    return notes


def _answers(
    found: Aggregate, votes: Votes, weight: FloatArray | None, L: int, method: str
) -> pd.DataFrame:
    """`task, label, score, confidence, tied, unlabelled`; no label where there is none to go by."""
    answers = found.table(votes)
    confidence = _confidence(found, votes, weight, L, method)
    answers.insert(3, "confidence", np.where(found.unlabelled, np.nan, confidence))
    answers["label"] = answers["label"].astype(object).where(~answers["unlabelled"], None)
    return answers


def _confidence(
    found: Aggregate, votes: Votes, weight: FloatArray | None, L: int, method: str
) -> FloatArray:
    """How sure each label is, shape (n,); see `Labelled`."""
    n = len(votes.tasks)
    if "posterior" in found.info:
        posterior: FloatArray = found.info["posterior"][np.arange(n), found.label]
        return posterior
    if method == "weighted-linear":
        return np.full(n, np.nan)
    # Votes for each class; of log-odds also the exponents of its likelihood, one-coin.
    counted = tally(votes, np.ones(len(votes)) if weight is None else weight[votes.worker])
    lead = counted.of(found.label)
    if weight is None:
        return lead / np.maximum(np.bincount(votes.task, minlength=n), 1)
    top = np.maximum(counted.best, 0.0)
    seen = np.exp(counted.total - top[counted.task])
    unseen = L - np.bincount(counted.task, minlength=n)
    likely = np.bincount(counted.task, seen, minlength=n) + unseen * np.exp(-top)
    likelihood: FloatArray = np.exp(lead - top) / likely
    return likelihood


def _accuracy(
    found: Aggregate, votes: Votes, weight: FloatArray | None, judged: pd.Series[Any]
) -> float:
    """Share of the tasks labelled right under fair draws; NaN of none."""
    true: IntArray = np.full(len(votes.tasks), -1, dtype=np.int64)
    at = pd.Index(votes.tasks).get_indexer(judged.index)
    true[at] = pd.Index(votes.classes).get_indexer(pd.Index(judged))
    if "posterior" not in found.info:
        return expected_accuracy(votes, weight, true)
    if not len(judged):
        return float("nan")
    posterior = found.info["posterior"]
    best: BoolArray = (posterior >= posterior.max(axis=1, keepdims=True) - TIE) | found.unlabelled[
        :, None
    ]
    return float((best[at, true[at]] / best[at].sum(axis=1)).mean())


def _workers(
    found: Aggregate, votes: Votes, skill: FloatArray | None, weight: FloatArray | None
) -> pd.DataFrame:
    m = len(votes.workers)
    count = np.bincount(votes.worker, minlength=m)
    agreeing = np.bincount(votes.worker, found.label[votes.task] == votes.label, minlength=m)
    table = pd.DataFrame(
        {"worker": votes.workers, "labels": count, "agreement": agreeing / np.maximum(count, 1)}
    )
    for name, value in (("skill", skill), ("weight", weight)):
        if value is not None:
            table[name] = value
    return table


def _notes(
    found: Aggregate,
    method: str,
    seed: Seed,
    gold: pd.Series[Any] | None,
    truth: pd.Series[Any] | None,
    hired: pd.DataFrame | None,
) -> list[str]:
    notes = []
    if found.tied.any():
        notes.append(f"ties, drawn fairly with seed {seed}: {int(found.tied.sum())}")
    if found.info.get("converged") is False:
        notes.append("the iterations ended before the likelihood settled: give more `iterations`")
    if gold is not None and method in WEIGHTED:
        notes.append(
            f"skills are shares of right answers to the {len(gold)} control tasks, which are "
            "labelled by the same vote and never used for its accuracy"
        )
    elif gold is not None:
        notes.append(
            f"{method} uses no control tasks: the {len(gold)} are only left out of the accuracy"
        )
    if truth is not None:
        notes.append(
            "the accuracy counts its share of a tie, and 1/L where the workers gave no label"
        )
        if method in WEIGHTED and gold is None and hired is not None:
            notes.append(
                "the skills were given: where they rest on tasks of the truth the accuracy is too "
                "high; give these tasks as `gold` to leave them out"
            )
    return notes
