"""What the owner sees beside where it stands: who does what, and what each is to be paid."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from workbench.base.arrays import IntArray
from workbench.base.text import counted
from workbench.collection.collector import Collector
from workbench.collection.policy import Belief
from workbench.collection.pool import Ledger, Pool, Questions

SHOWN_WORKERS = 500
ODD = 3.0
"""Standard errors below the others' agreement from which a worker looks odd."""
LEAST_LABELS = 10
"""Labels before that is said of anybody."""
PAUSE = 600.0
"""Seconds between two answers from which on she is taken to have done something else."""


def workers_table(collector: Collector) -> list[dict[str, Any]]:
    """One row a worker who was asked, those with most labels first.

    `agrees` is the share of her labels that are the answers of their tasks, of tasks with two
    labels or more; `right` of `known` says how many tasks of known class, gold or hidden, she
    labelled rightly; `odd` why she looks odd, or nothing.
    """
    ledger, belief = collector.ledger, collector.policy.belief()
    many = len(collector.workers)
    labels = _counts(ledger.labels[:, 1], many)
    gold = _counts(ledger.gold_labels[:, 1], many)
    known, right = _on_known(ledger, many)
    compared, agreed = _agreement(ledger, belief, many)
    waiting: dict[Any, int] = {}
    for question in collector.waiting():
        waiting[question.worker] = waiting.get(question.worker, 0) + 1
    share = agreed.sum() / max(compared.sum(), 1)
    rows: list[dict[str, Any]] = []
    for name, place in collector.workers.items():
        if labels[place] or gold[place] or name in waiting:
            rows.append(
                {
                    "worker": name,
                    "labels": int(labels[place]),
                    "gold": int(gold[place]),
                    "known": int(known[place]),
                    "right": int(right[place]),
                    "waiting": waiting.get(name, 0),
                    "agrees": (agreed[place] / compared[place]) if compared[place] else None,
                    "earned": earned(ledger, place),
                    "odd": _odd(int(agreed[place]), int(compared[place]), float(share)),
                }
            )
    rows.sort(key=lambda row: (-len(row["odd"]), -row["labels"] - row["gold"]))
    return rows[:SHOWN_WORKERS]


def asked_on_known(collector: Collector) -> str:
    """Say who is asked about how many tasks of known class; "" where there are none."""
    now = collector._now
    sentences, pool = [], now.ledger.pool
    workers, tasks = now.policy.gold_first()
    if workers:
        many = len(pool.workers) > workers
        who = f"The first {workers} workers who come are" if many else "Every worker is"
        each = " each" if many else ""
        sentences.append(f"{who} first asked about {counted(tasks, 'gold task')}{each}.")
        if many:
            sentences.append("Whoever comes later is judged by the labels of all.")
    if pool.hidden is not None:
        hidden = counted(int((pool.hidden >= 0).sum()), "hidden task")
        sentences.append(f"Everybody is asked about the {hidden} as about all others.")
    return " ".join(sentences)


def is_paid(pool: Pool) -> bool:
    """Whether labels have prices: where each costs 1, as without any, costs only count them."""
    return bool(pool.own_price) or not bool((pool.price == 1.0).all())


def is_finished(collector: Collector, place: int) -> bool:
    """Whether nothing more will be asked of a worker who is asked nothing now.

    She has had all that she can be asked, or the collection is at its end, also by a fit to all
    labels; of a policy that does not know its end by itself, once every task is closed.
    """
    running = collector._now
    ledger, policy = running.ledger, running.policy
    if policy.streams:  # more may arrive
        return False
    if place >= 0:
        more = ledger.open[:, place].any() or ledger.gold_open[:, place].any()
        if not more or ledger.left[place] <= 0:
            return True
    if running.waiting:  # a label that does not come may be asked of her
        return False
    if ledger.money < ledger.pool.price.min() - 1e-9:
        return True
    over = policy.is_over()
    if over is None:
        return bool(policy.closed_tasks().all())
    return over and not policy.is_behind()


def earned(ledger: Ledger, place: int) -> float:
    """What the labels of a worker came to, those on record at the start left out."""
    total = 0.0
    for gold, rows in ((False, ledger.labels), (True, ledger.gold_labels)):
        hers = rows[ledger.recorded[gold] :]
        hers = hers[hers[:, 1] == place]
        total += float(ledger.prices(Questions(hers[:, 0], hers[:, 1], gold)).sum())
    return total


def _on_known(ledger: Ledger, many: int) -> tuple[IntArray, IntArray]:
    """Labels of each worker on tasks of known class, gold or hidden, and those that are right."""
    of_known = [(ledger.gold_labels, ledger.pool.gold)]
    if ledger.pool.hidden is not None:
        of_known.append((ledger.labels, ledger.pool.hidden))
    known = right = np.zeros(many, dtype=np.int64)
    for rows, truth in of_known:
        task, worker, label = rows[truth[rows[:, 0]] >= 0].T
        known = known + _counts(worker, many)
        right = right + _counts(worker[label == truth[task]], many)
    return known, right


def _agreement(ledger: Ledger, belief: Belief, many: int) -> tuple[IntArray, IntArray]:
    """Labels of each worker on tasks with two labels or more, and those that are their answers."""
    task, worker, label = ledger.labels.T
    answer = belief.posterior.argmax(axis=1) if belief.label is None else belief.label
    shared = ledger.counts[task] > 1
    agreed = shared & (answer[task] == label)
    return _counts(worker[shared], many), _counts(worker[agreed], many)


def _counts(places: IntArray, many: int) -> IntArray:
    return np.bincount(places, minlength=many)


def _odd(agreed: int, compared: int, share: float) -> str:
    """Say why a worker looks odd."""
    error = np.sqrt(max(share * (1.0 - share), 1e-4) / max(compared, 1))
    if compared >= LEAST_LABELS and agreed / compared < share - ODD * error:
        others = f"all others in {100 * share:.0f} %"
        return f"agrees with the answers in {agreed} of {compared}, {others}"
    return ""


def pay_table(collector: Collector) -> pd.DataFrame:
    """What each worker is to be paid: `worker, labels, hours, sum`, the names in order.

    `labels` are those that count and were bought, of gold tasks too. `hours` are the times between
    one answer of hers and the next, pauses of `PAUSE` seconds and more left out, an estimate from
    below; empty where she answered less than twice.
    """
    ledger, labels = collector.ledger, collector.labels()
    rows = []
    for name, place in collector.workers.items():
        times = labels.loc[labels["worker"] == name, "time"].dropna()
        if len(times):
            hours, total = _hours(sorted(set(times))), earned(ledger, place)
            rows.append({"worker": name, "labels": len(times), "hours": hours, "sum": total})
    rows.sort(key=lambda row: str(row["worker"]))
    return pd.DataFrame(rows, columns=["worker", "labels", "hours", "sum"])


def _hours(times: list[datetime]) -> float | None:
    """Hours between answers, pauses left out."""
    gaps = [(later - time).total_seconds() for time, later in pairwise(times)]
    worked = [gap for gap in gaps if gap < PAUSE]
    return round(sum(worked) / 3600.0, 3) if worked else None
