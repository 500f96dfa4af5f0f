from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.learning.draws import Draws
from workbench.learning.ls_ol import LsOl
from workbench.learning.refining import RefiningLsOl, intervals
from workbench.learning.schedule import Schedule, contextual, practical

SKILL = np.array([0.9, 0.62, 0.8, 0.7, 0.55])
SCHEDULE = contextual(0.3, 0.2, 0.2)


@given(st.floats(0, 1), st.integers(0, 10**6))
def test_intervals_are_as_many_as_t_to_the_zeta(zeta: float, t: int) -> None:
    exact, found = max(t, 1) ** zeta, intervals(zeta, t)
    assert found & (found - 1) == 0
    assert exact * (1 - 1e-9) <= found < 2 * exact * (1 + 1e-9)
    assert intervals(zeta, t + 1) >= found


@pytest.mark.parametrize(
    "schedule", [practical(2.0, 3.0), contextual(0.3, 0.2, 0.2), Schedule(0.5, 0.25, 0.0, 0.5)]
)
def test_one_interval_is_ls_ol(schedule: Schedule) -> None:
    draws = Draws(SKILL, 1, seed=6)
    plain = LsOl(5, schedule, seed=draws.coins(0))
    refining = RefiningLsOl(5, schedule, 0.0, seed=draws.coins(0))
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
    assert refining.kinds == plain.kinds
    assert refining.counts == {name: plain.counts[name] for name in refining.counts}


def test_testers_are_sorted_anew_as_intervals_are_cut() -> None:
    learner = RefiningLsOl(5, SCHEDULE, 0.4, seed=3)
    rng = np.random.default_rng(0)
    testers: dict[object, tuple[float, np.ndarray]] = {}
    grown = set()
    for t in range(400):
        context = float(rng.random())
        ask = learner.ask(t, context)
        v = intervals(0.4, t)
        grown.add(v)
        labels = np.full(5, -1)
        labels[ask.workers] = (rng.random(5) < SKILL)[ask.workers]
        answer = learner.tell(labels)
        if ask.kind == "new tester":
            testers[ask.task] = context, labels.copy(), answer.label
        elif answer.revised is not None:
            name, label = answer.revised
            testers[name] = (*testers[name][:2], label)
        if t % 20:
            continue
        # Estimates of every interval, afresh from the testers inside.
        for cell in range(v):
            agreed = [
                first == label
                for where, first, label in testers.values()
                if min(int(where * v), v - 1) == cell
            ]
            expected = np.mean(agreed, axis=0) if agreed else np.full(5, 0.5)
            assert learner.estimates_at((cell + 0.5) / v) == pytest.approx(expected)
    assert len(grown) > 3
