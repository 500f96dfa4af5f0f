"""Learners on recorded labels: tasks come in the order of the file or of time, as if new.

A worker who is asked gives the label on record, or none where there is none: missing labels are
counted and do not vote. A tester labelled again would get the same labels, which teach nothing:
LS_OL is left with one round a tester (G2 = 0), and learns who agrees with the majority.

Source: Liu, Liu (2015), Section 6.2: a crowd's labels taken one task after the other, vetting,
average error over time, disagreement counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.bar import Step, no_step
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.crowd import frames
from workbench.crowd.tables import Duplicates, read_gold, read_labels
from workbench.learning.agreement import Structure, structure
from workbench.learning.em import PRICE
from workbench.learning.ls_ol import PLAIN, LsOlOptions
from workbench.learning.online import Ask
from workbench.learning.policies import POLICIES, Terms
from workbench.learning.roster import Roster
from workbench.learning.schedule import Schedule
from workbench.learning.sets import Vote

Order = Literal["file", "time"]
Pool = Literal["recorded", "all"]


@dataclass(frozen=True, eq=False)
class Recorded:
    """Recorded labels as a stream of tasks.

    Attributes
    ----------
    labels
        Shape (n, M): class index, −1 where there is no label; tasks in order of arrival.
    truth
        Shape (n,): class index, −1 where unknown.
    tasks, workers, classes
        Names (text), shapes (n,), (M,) and (K,).
    time
        When each label was given, shape (n, M): a number, or seconds since 1970; NaN where there
        is no label. None where times are not known.
    """

    labels: IntArray
    truth: IntArray
    tasks: Names
    workers: Names
    classes: Names
    time: FloatArray | None = None


def recorded(
    labels: pd.DataFrame,
    gold: pd.Series[Any] | None = None,
    *,
    order: Order = "file",
    duplicates: Duplicates = "error",
) -> Recorded:
    """Arrange a label table as a stream.

    Parameters
    ----------
    labels
        Long table `task, worker, label`, one row a label, and perhaps `time`, a number or a date.
    gold
        True label by task, for scoring alone; tasks that nobody labelled arrive last.
    order
        "file": tasks in order of first appearance. "time": by their first label.
    duplicates
        Where a worker labels a task twice: "error", or keep the "first" or "last" by the order
        taken, as if the others had never been given.

    Raises
    ------
    InputError
        Fewer than two classes, a (task, worker) pair twice, or no time to order by.
    """
    if order not in ("file", "time"):
        raise InputError(f"order is {order!r}: give 'file' or 'time'")
    if duplicates not in ("error", "first", "last"):
        raise InputError(f"duplicates is {duplicates!r}: give 'error', 'first' or 'last'")
    frames.check_pairs(labels)
    table = read_labels(labels, duplicates="error" if duplicates == "error" else "all")
    if "time" in table:
        table["time"] = _times(table["time"])
    if order == "time":
        if "time" not in table:
            raise InputError("labels have no column time: add one, or take the order of the file")
        table = table.sort_values("time", kind="stable")
    if duplicates != "error":
        table = table.drop_duplicates(["task", "worker"], keep=duplicates)
    gold_labels = pd.Series(dtype=object) if gold is None else read_gold(gold)
    who = "labels name" if gold is None else "labels and gold name"
    if len(gold_labels) and not set(gold_labels) & set(table["label"].unique()):
        raise InputError(
            f"gold names the classes {checks.listing(gold_labels.unique())}, "
            "of which no label has any: code them alike"
        )
    classes = frames.sorted_classes({*table["label"].unique(), *gold_labels}, who).to_numpy(object)
    tasks, workers = pd.Index(table["task"].unique()), pd.Index(table["worker"].unique())
    tasks = tasks.append(gold_labels.index.difference(tasks, sort=False))
    label = np.searchsorted(classes, table["label"].to_numpy(dtype=object))
    matrix = frames.dense(tasks, workers, table, label, -1)
    time = None
    if "time" in table:
        time = frames.dense(tasks, workers, table, table["time"].astype(np.float64), np.nan)
    truth = np.full(len(tasks), -1, dtype=np.int64)
    place = tasks.get_indexer(gold_labels.index)
    truth[place] = np.searchsorted(classes, gold_labels.to_numpy(dtype=object))
    names = tasks.to_numpy(dtype=object), workers.to_numpy(dtype=object)
    return Recorded(matrix, truth, *names, classes, time)


def _times(times: pd.Series[Any]) -> FloatArray:
    """Times as numbers; dates as seconds since 1970."""
    if pd.api.types.is_numeric_dtype(times):
        time: FloatArray = np.asarray(times, dtype=np.float64)
    else:
        dates = pd.to_datetime(times, format="ISO8601", utc=True, errors="coerce")
        wrong = times[dates.isna()]
        if len(wrong):
            raise InputError(
                f"labels have time {wrong.iloc[0]!r}: give numbers, or dates as 2026-01-31T12:00"
            )
        time = np.asarray((dates - pd.Timestamp(0, tz="UTC")).dt.total_seconds(), dtype=np.float64)
    if not np.isfinite(time).all():
        raise InputError("labels have a time that is missing or infinite: give each row one")
    return time


@dataclass(frozen=True, eq=False)
class Replayed:
    """What a learner did with recorded labels.

    Attributes
    ----------
    steps
        One row a task in order of arrival: `task, kind, label, confidence, asked, received,
        on_record, right, crowd_right, best_right, as_crowd`, and the running means `accuracy`,
        `crowd_accuracy`, `best_accuracy` (over tasks with gold) and `agreement` (over all).
        `on_record` is how many labels the task has; `right` is 1 or 0, missing without gold, and 0
        where no label came in time: the answer was drawn. `crowd_right` is what the majority of
        all its labels makes of the task (½ for a tie, 0 without a label), `best_right` the
        majority of the best set by skill, and `as_crowd` whether the label is that of the crowd's
        majority (½ for a tie or no label).
    workers
        One row a worker: `worker, estimate, bought, testers, differed, rounds, in_best_set,
        removed_at, left_after, labelled, skill, consensus`. `bought` counts the labels that she
        was asked for and gave in time, `labelled` all of hers on record; `left_after` is the last
        step with one, missing where that is the last of the run; `skill` is her share of right
        labels among those with gold, `consensus` of labels that are the crowd's majority, missing
        where there is none. The best set by skill knows the gold that it is judged by.
    counts
        As `Roster.counts`, and `left`, how many workers had gone before the end.
    structure
        What agreement says of the crowd.
    pool
        Among whom was chosen.
    learner
        The learner in its last state.
    """

    steps: pd.DataFrame
    workers: pd.DataFrame
    counts: dict[str, int]
    structure: Structure
    pool: Pool
    learner: Roster

    @property
    def accuracy(self) -> float | None:
        """Share of right labels among tasks with gold; None without gold."""
        return _mean(self.steps["right"])

    @property
    def crowd_accuracy(self) -> float | None:
        """The same of the majority of all recorded labels."""
        return _mean(self.steps["crowd_right"])

    @property
    def best_accuracy(self) -> float | None:
        """The same of the majority of the best set by skill, known afterwards."""
        return _mean(self.steps["best_right"])

    @property
    def labels_bought(self) -> int:
        """Labels that came, late ones too."""
        return sum(self.counts[name] for name in ("received", "late_used", "late_ignored"))


def replay(
    data: Recorded,
    schedule: Schedule | None = None,
    options: LsOlOptions = PLAIN,
    *,
    policy: str = "ls-ol",
    price: float = PRICE,
    horizon: int | None = None,
    pool: Pool = "recorded",
    patience: float | None = None,
    seed: Seed,
    step: Step = no_step,
) -> Replayed:
    """Run LS_OL over recorded labels.

    Parameters
    ----------
    data
        The stream.
    schedule
        When to explore; with G2 > 0 testers are "labelled" again with the same labels.
    options, seed
        As for `LsOl`.
    policy, price
        Who learns, one of `POLICIES`; and what a label costs, for those who weigh it.
    horizon
        How many tasks; None for all.
    pool
        Among whom to choose: "recorded", those who have a label of the task on record, or "all"
        who have not left; then most of those asked in a sparse table have nothing to say. A
        tester assigned again goes to everybody in either case.
    patience
        How long a task's labels are waited for, in units of `data.time`, counted from the task's
        first label. Those that come later are late: the learner gets them once a task arrives after
        them. None waits for all.
    step
        Is called after each task.

    Raises
    ------
    InputError
        A horizon below 1 or above the number of tasks; patience without times.

    Notes
    -----
    A worker has left once her last label on record is given. With `pool="all"` she is not asked
    from the next step on, and is in no best set; else she is as all who have no label on record.
    Tasks that nobody labelled get a drawn label, which counts as wrong.
    """
    n = len(data.tasks) if horizon is None else checks.count("horizon", horizon, 1)
    if n > len(data.tasks):
        raise InputError(f"horizon is {n}: there are {len(data.tasks)} tasks, give 1 to that many")
    if pool not in ("recorded", "all"):
        raise InputError(f"pool is {pool!r}: give 'recorded' or 'all'")
    late = _Late(data, n, patience)
    names = [str(name) for name in data.workers]
    terms = Terms(names, len(data.classes), n, schedule, options, price)
    learner = POLICIES[policy].call(terms, seed)
    there = data.labels >= 0
    # The last task that each worker labelled.
    last: IntArray = len(there) - 1 - there[::-1].argmax(axis=0)
    place = {task: at for at, task in enumerate(data.tasks.tolist())}
    rows = []
    bought = np.zeros(len(names), dtype=np.int64)
    for at, task in enumerate(data.tasks[:n].tolist()):
        if pool == "all":
            for worker in np.flatnonzero((last == at - 1) & learner.present):
                learner.leave(int(worker))
        late.tell(learner, at)
        able = np.flatnonzero(there[at]) if pool == "recorded" else None
        ask = learner.ask(task, available=able)
        k = place[ask.task]
        answers = {i: int(data.labels[k, i]) for i in ask.workers.tolist() if there[k, i]}
        answers = late.hold(ask, k, at, answers)
        answer = learner.tell(answers)
        bought[list(answers)] += 1
        rows.append(
            (
                task,
                answer.kind,
                answer.label,
                answer.confidence,
                len(ask.workers),
                len(answers),
                int(there[at].sum()),
            )
        )
        step()
    late.tell(learner, None)
    columns = ["task", "kind", "label", "confidence", "asked", "received", "on_record"]
    steps = pd.DataFrame(rows, columns=columns)
    workers = _workers(learner, data, n, last, bought)
    _score(steps, data, n, workers["skill"].to_numpy(dtype=float), pool)
    steps["label"] = data.classes[steps["label"].to_numpy()]
    counts = {**learner.counts, "left": int(workers["left_after"].notna().sum())}
    crowd = structure(data.labels[:n], data.truth[:n], len(data.classes), seed=seed)
    return Replayed(steps, workers, counts, crowd, pool, learner)


class _Late:
    """Labels that come when their task's label has been given."""

    def __init__(self, data: Recorded, n: int, patience: float | None) -> None:
        self._time: FloatArray | None = None
        self._held: list[tuple[float, str, int, int]] = []
        if patience is None:
            return
        if data.time is None:
            raise InputError("patience needs the times of labels: give a table with a column time")
        self._patience = checks.number("patience", patience, 0.0, np.inf)
        self._time = data.time
        # Tasks arrive with their first label, and none before the one ahead of it.
        first = np.fmin.reduce(data.time[:n], axis=1)
        self._arrival = np.fmax.accumulate(np.where(np.isnan(first), -np.inf, first))

    def hold(self, ask: Ask, task: int, step: int, answers: dict[int, int]) -> dict[int, int]:
        """Return the labels that are in time, and hold the others back.

        At a retest they are given again, which takes no time, if they have come at all.
        """
        if self._time is None:
            return answers
        end = self._arrival[step] + self._patience
        late = {i for i in answers if self._time[task, i] > end}
        if ask.kind != "retest":
            self._held += [(float(self._time[task, i]), str(ask.task), i, answers[i]) for i in late]
        return {i: label for i, label in answers.items() if i not in late}

    def tell(self, learner: Roster, step: int | None) -> None:
        """Tell what has come before the task of a step arrives; in the end (None) all."""
        if not self._held:
            return
        now = np.inf if step is None else self._arrival[step]
        self._held.sort()
        while self._held and self._held[0][0] <= now:
            _, task, worker, label = self._held.pop(0)
            learner.late(task, {worker: label})


def _leading(labels: IntArray, classes: int) -> BoolArray:
    """Which classes most of a task's labels name, all where there are none, shape (n, K)."""
    count = np.stack([(labels == a).sum(axis=1) for a in range(classes)], axis=1)
    leading: BoolArray = count == count.max(axis=1, keepdims=True)
    return leading


def _right(leading: BoolArray, label: IntArray) -> FloatArray:
    """Chance that a fair draw among the leading classes gives a label, NaN for −1; shape (n,)."""
    hit = leading[np.arange(len(label)), label] / leading.sum(axis=1)
    return np.where(label >= 0, hit, np.nan)


def _right_if_any(leading: BoolArray, labels: IntArray, truth: IntArray) -> FloatArray:
    """The same of a vote: a task without any label has no answer, and is not right."""
    right = _right(leading, truth)
    return np.where(np.isnan(right) | (labels >= 0).any(axis=1), right, 0.0)


def _score(steps: pd.DataFrame, data: Recorded, n: int, skill: FloatArray, pool: Pool) -> None:
    """Add what is right, by gold and by the crowd's majority, and the running means."""
    labels, truth, K = data.labels[:n], data.truth[:n], len(data.classes)
    answer = steps["label"].to_numpy()
    crowd = _leading(labels, K)
    best = np.where(_best_by_skill(labels, skill, pool, K), labels, -1)
    heard = steps["received"].to_numpy() > 0
    steps["right"] = np.where(truth >= 0, heard & (answer == truth), np.nan)
    steps["crowd_right"] = _right_if_any(crowd, labels, truth)
    steps["best_right"] = _right_if_any(_leading(best, K), best, truth)
    steps["as_crowd"] = _right(crowd, answer)
    means = {
        "accuracy": "right",
        "crowd_accuracy": "crowd_right",
        "best_accuracy": "best_right",
        "agreement": "as_crowd",
    }
    for mean, score in means.items():
        right = steps[score].to_numpy()
        scored = np.isfinite(right)
        steps[mean] = _share(np.where(scored, right, 0.0).cumsum(), scored.cumsum())


def _best_by_skill(labels: IntArray, skill: FloatArray, pool: Pool, classes: int) -> BoolArray:
    """Whom to ask by skill, shape (n, M): of each task's workers, or of all."""
    there = np.isfinite(skill) & ((labels >= 0) | (pool == "all"))
    there, crowd = np.unique(there, axis=0, return_inverse=True)
    rank = np.argsort(-skill, kind="stable")
    ranked, many = there[:, rank], there.sum(axis=1)
    chosen = np.zeros_like(there)
    for n in np.unique(many[many > 0]).tolist():
        rows = np.flatnonzero(many == n)
        able = rank[np.nonzero(ranked[rows])[1]].reshape(-1, n)
        size = Vote(classes=classes).sizes(skill[able])
        chosen[np.repeat(rows, size), able[np.arange(n) < size[:, None]]] = True
    return chosen[crowd]


def _workers(
    learner: Roster, data: Recorded, n: int, last: IntArray, bought: IntArray
) -> pd.DataFrame:
    labels, truth, M = data.labels[:n], data.truth[:n, None], len(data.workers)
    labelled = labels >= 0
    ahead = _leading(labels, len(data.classes))
    crowd = np.where(ahead.sum(axis=1) == 1, ahead.argmax(axis=1), -1)[:, None]
    departures = {removal.worker: removal.step for removal in learner.removed}
    judging = np.isin(data.tasks[:n].astype(str), learner.testers()["task"].to_numpy(str))
    table = learner.disagreement
    truths, majorities = labelled & (truth >= 0), labelled & (crowd >= 0)
    return pd.DataFrame(
        {
            "worker": data.workers,
            "estimate": learner.estimates,
            "bought": bought,
            "testers": labelled[judging].sum(axis=0),
            "differed": table["differed"].to_numpy(),
            "rounds": table["rounds"].to_numpy(),
            "in_best_set": np.isin(np.arange(M), learner.best),
            "removed_at": pd.array([departures.get(i) for i in range(M)], dtype="Int64"),
            "left_after": pd.array([i if i < n - 1 else None for i in last], dtype="Int64"),
            "labelled": labelled.sum(axis=0),
            "skill": _share(((labels == truth) & truths).sum(axis=0), truths.sum(axis=0)),
            "consensus": _share(
                ((labels == crowd) & majorities).sum(axis=0), majorities.sum(axis=0)
            ),
        }
    )


def _share(part: FloatArray | IntArray, whole: IntArray) -> FloatArray:
    """Quotients, NaN where there is nothing to count."""
    share: FloatArray = np.full(len(whole), np.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share


def _mean(column: pd.Series[float]) -> float | None:
    return None if column.isna().all() else float(column.mean())
