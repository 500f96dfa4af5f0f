from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.learning.draws import Draws
from workbench.learning.intervals import Partition, RefiningLsOl
from workbench.learning.ls_ol import LsOl
from workbench.learning.schedule import Schedule, contextual, practical

SKILL = np.array([0.9, 0.62, 0.8, 0.7, 0.55])
SCHEDULE = contextual(0.3, 0.2, 0.2)


@given(st.floats(0, 1), st.integers(0, 10**6))
def test_cells_are_as_many_as_t_to_the_zeta(zeta: float, t: int) -> None:
    exact = max(t, 1) ** zeta
    equal = Partition(zeta, "equal").cells(t)
    assert exact * (1 - 1e-9) <= equal <= exact * (1 + 1e-9) + 1
    halving = Partition(zeta).cells(t)
    assert halving & (halving - 1) == 0
    assert exact * (1 - 1e-9) <= halving < 2 * exact * (1 + 1e-9)
    assert Partition(zeta).cells(t + 1) >= halving
    assert Partition(zeta, "equal").cells(t + 1) >= equal


@pytest.mark.parametrize(
    "schedule", [practical(2.0, 3.0), contextual(0.3, 0.2, 0.2), Schedule(0.5, 0.25, 0.0, 0.5)]
)
@pytest.mark.parametrize("options", [{}, {"weighted": True, "tolerance": 0.3}])
def test_one_interval_is_ls_ol(schedule: Schedule, options: dict[str, float]) -> None:
    draws = Draws(SKILL, 1, seed=6)
    plain = LsOl(5, schedule, seed=draws.coins(0), **options)  # type: ignore[arg-type]
    refining = RefiningLsOl(5, schedule, 0.0, seed=draws.coins(0), **options)  # type: ignore[arg-type]
    stream = draws.stream(0)
    rng = np.random.default_rng(1)
    for t in range(250):
        one, other = plain.ask(t), refining.ask(t, float(rng.random()))
        assert (one.task, one.kind) == (other.task, other.kind)
        assert one.workers.tolist() == other.workers.tolist()
        labels = stream.answers(int(one.task), one.workers, t)
        # Some labels are missing, now and then all of them.
        labels[rng.random(5) < (1.0 if rng.random() < 0.05 else 0.1)] = -1
        assert plain.tell(labels) == refining.tell(labels)
        assert plain.estimates.tolist() == refining.estimates_at(0.3).tolist()
    ours, theirs = refining.testers(), plain.testers()
    for name in ("task", "rounds", "said", "label"):
        assert ours[name].tolist() == theirs[name].tolist()
    assert refining.kinds == plain.kinds
    assert refining.counts == {name: plain.counts[name] for name in refining.counts}


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["halving", "equal"])
def test_refinement_keeps_testers_and_sorts_them(rule: str) -> None:
    learner = RefiningLsOl(5, SCHEDULE, Partition(0.4, rule), seed=3)  # type: ignore[arg-type]
    said: dict[object, np.ndarray] = {}
    rng = np.random.default_rng(0)
    grown = set()
    for t in range(400):
        before = learner.testers()
        ask = learner.ask(t, float(rng.random()))
        after = learner.testers()
        # Asking may refine; it changes nothing but cells.
        kept = ["task", "context", "rounds", "said", "label"]
        assert before[kept].equals(after[kept])
        v = learner.cells
        grown.add(v)
        assert v == learner.partition.cells(t)
        labels = np.full(5, -1)
        labels[ask.workers] = (rng.random(5) < SKILL)[ask.workers]
        if ask.kind == "new tester":
            said[ask.task] = labels.copy()
        learner.tell(labels)
        table = learner.testers()
        assert len(table) >= len(before)
        assert (table["cell"] == np.minimum((table["context"] * v).astype(int), v - 1)).all()
        if t % 40:
            continue
        # Estimates of every interval, afresh from the testers inside.
        for cell in range(v):
            inside = table[table["cell"] == cell]
            expected = np.full(5, 0.5)
            if len(inside):
                agreed = [
                    said[task] == y for task, y in zip(inside.task, inside.label, strict=True)
                ]
                expected = np.mean(agreed, axis=0)
            middle = (cell + 0.5) / v
            assert learner.estimates_at(middle) == pytest.approx(expected)
    assert len(grown) > 3
    assert len(learner.estimates) == learner.cells
