"""What the owner sees: how far, what it cost, how wrong as far as is known, and who does what."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from workbench.api.collecting import believed
from workbench.base.arrays import IntArray
from workbench.base.errors import InputError
from workbench.collection.collector import Collector
from workbench.collection.policy import Belief
from workbench.collection.pool import Ledger, Questions

SHOWN_WORKERS = 500
ODD = 3.0
"""Standard errors below the others' agreement from which a worker looks odd."""
LEAST_LABELS = 10
"""Labels before that is said of anybody."""


def progress(collector: Collector, audit: Path | None) -> dict[str, Any]:
    """Say how far a collection is: `status`, the error on hidden tasks, and the audited one.

    `hidden_error` is the share of wrong answers among the `hidden_tasks` that have labels, one
    without an answer being wrong, None where there are none. It does not measure the error: what
    tells when tasks may close fits them better than the others. `believed` says what may be said
    without gold, and `audited_error` is what an audit proves at most.
    """
    status = collector.status()
    hidden, ledger = collector.ledger.pool.hidden, collector.ledger
    loss = np.empty(0)
    if hidden is not None:
        asked = np.where(ledger.counts > 0, hidden, -1)
        loss = collector.belief().loss(asked, ledger.counts)
    return {
        **status,
        "believed": believed(ledger, status["believed_error"]),
        "time": time.time(),
        "total": ledger.total,
        "hidden_tasks": len(loss),
        "hidden_error": float(np.where(np.isnan(loss), 1.0, loss).mean()) if len(loss) else None,
        "audited_error": None if audit is None else audited(audit),
    }


def audited(path: Path) -> float | None:
    """Share of wrong answers that an audit proves at most; None while it cannot be read."""
    from workbench.api.auditing import Auditor

    try:
        auditor = Auditor.open(path, origin="server")
    except InputError:
        return None
    bound = auditor.bound()
    auditor.close()
    return float(bound)


def workers_table(collector: Collector) -> list[dict[str, Any]]:
    """One row a worker who was asked, those with most labels first.

    `agrees` is the share of her labels that are the answers of their tasks, of tasks with two
    labels or more; `right` of `gold` says how many gold tasks she labelled rightly; `odd` why she
    looks odd, or nothing.
    """
    ledger, belief = collector.ledger, collector.belief()
    many = len(collector.workers)
    labels = _counts(ledger.labels[:, 1], many)
    gold = _counts(ledger.gold_labels[:, 1], many)
    as_gold = ledger.gold_labels[:, 2] == ledger.pool.gold[ledger.gold_labels[:, 0]]
    right = _counts(ledger.gold_labels[as_gold, 1], many)
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
                    "right": int(right[place]),
                    "waiting": waiting.get(name, 0),
                    "agrees": (agreed[place] / compared[place]) if compared[place] else None,
                    "earned": earned(ledger, place),
                    "odd": _odd(int(agreed[place]), int(compared[place]), float(share)),
                }
            )
    rows.sort(key=lambda row: (-len(row["odd"]), -row["labels"] - row["gold"]))
    return rows[:SHOWN_WORKERS]


def earned(ledger: Ledger, place: int) -> float:
    """What the labels of a worker came to, those on record at the start left out."""
    total = 0.0
    for gold, rows in ((False, ledger.labels), (True, ledger.gold_labels)):
        hers = rows[ledger.recorded[gold] :]
        hers = hers[hers[:, 1] == place]
        total += float(ledger.prices(Questions(hers[:, 0], hers[:, 1], gold)).sum())
    return total


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
        return f"agrees with the answers in {agreed} of {compared}, all others in {share:.0%}"
    return ""
