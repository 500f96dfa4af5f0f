"""Audits of made-up answers, and experts who know the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.auditing.record import AuditRecord
from workbench.auditing.strata import stratify


def answers(tasks=40, wrong=0.1, seed=0, unanswered=0):
    """A table task, label, confidence, and the truth by task."""
    rng = np.random.default_rng(seed)
    belief = rng.beta(1.0, 1.0 / wrong, tasks)
    truth = rng.choice(["cat", "dog"], tasks)
    other = np.where(truth == "cat", "dog", "cat")
    label = np.where(rng.random(tasks) < belief, other, truth).astype(object)
    label[tasks - unanswered :] = None
    names = [f"t{i}" for i in range(tasks)]
    table = pd.DataFrame({"task": names, "label": label, "confidence": 1.0 - belief})
    return table, dict(zip(names, truth.tolist(), strict=True))


def record(table, error=0.1, risk=0.05, seed=1, path=None, share=None):
    """Begin an audit of such a table."""
    labels = [None if pd.isna(label) else str(label) for label in table["label"]]
    unanswered = np.array([label is None for label in labels])
    wrong = np.where(unanswered, error, 1.0 - table["confidence"].to_numpy())
    return AuditRecord.begin(
        table["task"].tolist(),
        labels,
        stratify(wrong, unanswered),
        error=error,
        risk=risk,
        share=share,
        seed=seed,
        path=path,
        origin="python",
    )


def run(audit, truth, checks=10**6, most=1, refuse=()):
    """Check until it is over, or so many times."""
    while not audit.over and audit.state.checks < checks:
        tasks = audit.draw(min(most, checks - audit.state.checks))
        audit.hear({task: None if task in refuse else truth[task] for task in tasks})
    return audit


def looks(audit):
    """All that can be seen of an audit, to the last bit."""
    state = audit.state
    return (
        [*state.draws],
        [*state.heard],
        {**audit.words},
        state.evidence,
        state.bound(),
        state.certified,
    )
