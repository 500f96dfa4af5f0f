from __future__ import annotations

import numpy as np
import pytest

from workbench.base.errors import InputError
from workbench.learning.contexts import ContextualLsOl, context_seeds
from workbench.learning.draws import Draws
from workbench.learning.ls_ol import LsOl
from workbench.learning.schedule import practical

SKILL = np.array([0.9, 0.62, 0.8, 0.7, 0.55])
SCHEDULE = practical(3.0, 2.0)


def test_each_context_is_a_learner_of_its_own() -> None:
    contexts: list[str | int] = ["a", "b", 3]
    draws = Draws(SKILL, 3, seed=2)
    together = ContextualLsOl(5, SCHEDULE, contexts, seed=7)
    seeds = context_seeds(7, 3)
    alone = [LsOl(5, SCHEDULE, seed=seed) for seed in seeds]
    streams = [draws.stream(run) for run in range(3)]
    # Equal skills everywhere: what happens in one context does not touch another.
    for t in range(200):
        for k in [0, 1, 2] if t % 2 else [2, 0, 1]:
            if k == 1 and t % 3:
                continue
            step = alone[k].step
            one = alone[k].ask(3 * t + k)
            both = together.ask(3 * t + k, contexts[k])
            assert both.workers.tolist() == one.workers.tolist()
            assert (both.task, both.kind) == (one.task, one.kind)
            told = streams[k].answers(int(one.task) // 3, one.workers, t)
            assert together.tell(told) == alone[k].tell(told)
            assert alone[k].step == step + 1
    for k, context in enumerate(contexts):
        assert together.estimates_at(context).tolist() == alone[k].estimates.tolist()
    with pytest.raises(InputError, match="context 'c' is unknown: give one of"):
        together.ask(900, "c")
