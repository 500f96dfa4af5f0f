"""What a rehearsal warns of, a live collection warns of: by calls, from its journal, and served."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.core.release import some
from workbench.collection import POLICIES
from workbench.collection.answers import Answers, rehearse
from workbench.collection.collector import Collector
from workbench.collection.policy import Goal
from workbench.collection.pool import Questions
from workbench.collection.setup import People

TASKS, WORKERS = 64, 24


def crowd(kind):
    """True classes, labels of all pairs, and which tasks are hidden."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, TASKS)
    skill = np.full((TASKS, WORKERS), 0.85)
    seems, hidden = truth, np.zeros(TASKS, dtype=bool)
    if kind == "reversed":
        skill = np.where(np.arange(WORKERS) < WORKERS // 2, 0.02, 0.98)[None, :]
    if kind == "drift":  # in the order in which each answers, from a task of her own on
        place = (np.arange(TASKS)[:, None] - 2 * np.arange(WORKERS)) % TASKS
        skill = np.where(place < TASKS // 2, 0.95, 0.5)
    if kind == "contradicted":
        hidden = np.arange(TASKS) < 30
        seems = np.where(np.arange(TASKS) % 3 == 0, 1 - truth, truth)
    right = rng.random((TASKS, WORKERS)) < skill
    label = np.where(right, seems[:, None], 1 - seems[:, None])
    if kind == "copies":
        label[:, 1:9] = label[:, :1]
    return truth, label, hidden


WARNINGS = {
    "reversed": "right and wrong may be interchanged",
    "copies": "seem to copy others",
    "drift": "answer worse as they go on",
    "contradicted": "hidden tasks contradict the belief",
}


@pytest.mark.parametrize("kind", some(WARNINGS, 2))
def test_live_notes_are_those_of_a_rehearsal(kind, tmp_path):
    truth, label, hidden = crowd(kind)
    place, worker = (axis.ravel() for axis in np.indices(label.shape))
    task = (place + 2 * worker) % TASKS
    names = [f"t{i}" for i in range(TASKS)]
    table = pd.DataFrame(
        {
            "task": [names[i] for i in task],
            "worker": [f"w{j}" for j in worker],
            "label": label[task, worker],
        }
    )
    collector = Collector(
        names,
        [f"w{j}" for j in range(WORKERS)],
        classes=[0, 1],
        epsilon=0.05,
        hidden={names[i]: int(truth[i]) for i in np.flatnonzero(hidden)} or None,
        path=tmp_path / "labels.sqlite",
        people=People(have=table),
    )
    assert collector.next() == []  # every pair is on record; what is believed is fitted

    made = []

    def policy(*arguments):
        made.append(POLICIES["until-trusted"].call(*arguments))
        return made[0]

    none = np.zeros((0, WORKERS), dtype=np.int64)
    rehearse(
        policy,
        collector.ledger.pool,
        Answers(label, none, truth),
        Goal(0.05),
        have=[(Questions(task, worker), label[task, worker])],
    )
    notes = collector.status()["notes"]
    assert any(WARNINGS[kind] in note for note in notes)
    assert notes == made[0].notes()
    assert Collector.open(collector.path).status()["notes"] == notes
    pytest.importorskip("uvicorn", reason="install the extra serve")
    from tests.core.serve.test_routes import Client

    client = Client(collector.path)
    try:
        for page in ("/status", "/overview"):
            assert client.ask(page, "owner").json()["notes"] == notes
    finally:
        client.close()
