"""The names of release 1.0 that go in 2.0.0: they warn, and still do what they did."""

from __future__ import annotations

import pandas as pd
import pytest

import workbench as wb
from workbench.api.session import AssignmentSession
from workbench.base.errors import InputError

TASKS = pd.Series({f"t{i}": "birds" if i % 2 else "dogs" for i in range(12)})
GOLD = pd.DataFrame(
    {"label": ["yes", "no"] * 4, "task_type": ["birds"] * 4 + ["dogs"] * 4},
    index=[f"g{i}" for i in range(8)],
)


def right(tasks):
    return {task: GOLD["label"].get(task, "yes") for task in tasks}


def test_the_names_warn_and_say_what_to_use():
    with pytest.warns(DeprecationWarning, match=r'wb\.Collector\(\.\.\., policy="algorithm-2"\)'):
        assert wb.AssignmentSession is AssignmentSession
    with pytest.warns(DeprecationWarning, match=r'policy="ls-ol"'):
        assert wb.LsOl(["ann", "bob"], (2, 1)).ask("a").kind == "new tester"


def test_a_session_from_gold_to_labels(tmp_path):
    session = AssignmentSession(TASKS, GOLD, workers=6, preliminary=2, epsilon=0.3, seed=1)
    for j in range(8):
        asked = session.arrive(f"w{j}", capacity=12)
        assert (asked.kind, len(asked.tasks)) == ("gold", 8)
        assert session.sampling == (j < 2)
        session.save(tmp_path / "s.json")
        session = AssignmentSession.load(tmp_path / "s.json")
        asked = session.observe(f"w{j}", right(asked.tasks[: 8 - j % 2]))
        assert asked.kind == "nothing" if j < 2 else asked.kind in ("task", "nothing")
        if asked.kind == "task":
            assert session.observe(f"w{j}", right(asked.tasks)).kind == "nothing"
    table = session.result()
    assert (table["label"].dropna() == "yes").all()
    assert len(session.labels()) > 0
    assert (table["covered"] >= 0).all()


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda s: s.arrive("here", 3), "arrives once"),
        (lambda s: s.arrive("new", -1), "capacity of worker 'new'"),
        (lambda s: s.observe("nobody", {}), "arrive first"),
        (lambda s: s.observe("here", {"t1": "yes"}), "was not asked task 't1'"),
    ],
)
def test_refusals(call, word):
    session = AssignmentSession(TASKS, GOLD, workers=6, preliminary=2, epsilon=0.3)
    session.arrive("here", 3)
    with pytest.raises(InputError, match=word):
        call(session)
