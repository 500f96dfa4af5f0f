import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.accuracy.best_sets import crowd_constants
from workbench.learning.schedule import (
    Schedule,
    contextual,
    decreasing,
    practical,
    theoretical,
)

TABLE_1 = [0.763, 0.781, 0.625, 0.783, 0.727]


def played(schedule, horizon, seed):
    """Kinds of steps by playing them out, testers picked at random."""
    rng = np.random.default_rng(seed)
    rounds, kinds = [], []
    for t in range(horizon):
        short = [k for k, done in enumerate(rounds) if done <= schedule.d2(t)]
        if short:
            rounds[rng.choice(short)] += 1
            kinds.append("retest")
        elif len(rounds) <= schedule.d1(t):
            rounds.append(1)
            kinds.append("new tester")
        else:
            kinds.append("exploit")
    return kinds, len(rounds)


def test_d1_and_d2_follow_the_formulas():
    s = Schedule(3.0, 5.0, log_power=1.5, time_power=0.25)
    for t in (1, 2, 17, 1000):
        growth = math.log(t) ** 1.5 * t**0.25
        assert s.d1(t) == pytest.approx(3 * growth, rel=1e-14)
        assert s.d2(t) == pytest.approx(5 * growth, rel=1e-14)
    assert s.d1(0) == s.d2(0) == 0
    assert Schedule(3, 5, 0, 0.2).d1(1) == 3
    assert practical(2, 3) == Schedule(2, 3, 1, 0)
    assert decreasing(2, 3, 0.5) == Schedule(2, 3, 2, 0)
    assert contextual(2, 3, 0.4) == Schedule(2, 3, 1, 0.4)


@settings(max_examples=80, deadline=None)
@given(
    tests=st.floats(0, 6),
    repeats=st.floats(0, 9),
    a=st.sampled_from([0.0, 1.0, 1.6]),
    z=st.sampled_from([0.0, 0.2, 0.5]),
    horizon=st.integers(1, 400),
    seed=st.integers(0, 9),
)
def test_phases_are_what_happens_step_by_step(tests, repeats, a, z, horizon, seed):
    schedule = Schedule(tests, repeats, a, z)
    kinds, testers = played(schedule, horizon, seed)
    phases = list(schedule.phases(horizon))
    assert [one.kind for one in phases for _ in range(one.steps)] == kinds
    assert [one.start for one in phases] == np.cumsum([0, *(one.steps for one in phases)]).tolist()[
        :-1
    ]
    assert phases[-1].testers == testers
    assert schedule.exploration_steps(horizon) == len(kinds) - kinds.count("exploit")


def test_theoretical_constants_by_hand():
    # c = 5 · (10 + 5 + 1) = 80 for five workers.
    known = crowd_constants(TABLE_1)
    free = theoretical(TABLE_1)
    assert free.repeats == pytest.approx(1 / (known.a_min - 0.5) ** 2, rel=1e-12)
    limit = min(known.gap_min, known.skill_gap_min) / 2
    assert free.tests == pytest.approx(1 / ((0.5 / 80) ** 2 * (0.99 * limit) ** 2), rel=1e-12)
    assert free.tests > 1e7
    assert free.exploration_steps(10**6) == 10**6 - 1
