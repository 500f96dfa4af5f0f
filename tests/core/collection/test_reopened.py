"""A collection that is closed and opened again at every step goes on as without the breaks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.flat import reopened, whole
from workbench.base.errors import InputError
from workbench.collection.collector import Collector
from workbench.collection.setup import People

IDS = [7, "7", "seven", -7, 0, "", 'Ω \n"', 2**63 - 1, "-7", 1, "1"]
WORKERS = [7, "7", "w", 3, "3", 0, "0", -1]


class Collecting:
    """Anybody is asked, some do not answer, some too late; newcomers come."""

    def __init__(self, policy):
        self.policy = policy

    def make(self, seed=0, path=None):
        gold = {"g": True, 10: False, "10": True} if seed else None
        costs = dict(zip(WORKERS, (0.1, 0.3, 1, 2, 0.7, 1, 1, 1), strict=True))
        return Collector(
            IDS,
            WORKERS,
            gold=gold,
            classes=None if gold else [True, False],
            total=40,
            epsilon=0.1,
            policy=self.policy,
            seed=seed,
            path=path,
            people=People(
                costs=costs,
                capacity=8,
                groups={7: "m", "7": "m", "w": 1},
                skills={0: 0.9},
                newcomers=1,
            ),
        )

    def answer(self, seed, worker, how):
        def act(service):
            asked = service.waiting(worker)[how % 3 :]
            said = (np.random.default_rng([seed, how]).random(len(asked)) < 0.8).tolist()
            if how % 4 == 3:
                said = [None if k % 2 else one for k, one in enumerate(said)]
            labels = {one.task: one_said for one, one_said in zip(asked, said, strict=True)}
            service.tell(worker, labels)
            return service.cost

        return act

    def late(self, service):
        missed = [row for row in sorted(service._now.missed) if not row[0]][:1]
        for _, task, worker in missed:
            service.tell(list(service.workers)[worker], {IDS[task]: True})

    def steps(self, seed):
        acts = [lambda s: s.next("nobody yet", 1)]
        for how in range(10):
            name = WORKERS[how % len(WORKERS)]
            acts += [
                lambda s, name=name, how=how: s.next(name if how % 2 else None, 1 + how % 4),
                lambda s, name=name: s.next(name, 3),
                self.answer(seed, name, how),
                self.late,
            ]
        return [*acts, lambda s: s.answers().to_csv(), lambda s: s.status()]


def told(act, collector):
    """What an act gives, a refusal too."""
    try:
        return act(collector)
    except InputError as refused:
        return str(refused)


@pytest.mark.parametrize("policy", ["until-trusted", "fixed"])
@pytest.mark.parametrize("seed", range(2))
def test_opened_again_at_every_step_the_future_is_the_same(policy, seed, tmp_path):
    service = Collecting(policy)
    through, broken = service.make(seed), service.make(seed, tmp_path / "c.sqlite")
    for act in service.steps(seed):
        broken = reopened(broken)
        assert told(act, broken) == told(act, through)
    assert whole(broken) == whole(through)


def test_a_worker_of_a_number_is_known_again(tmp_path):
    collector = Collecting("fixed").make(path=tmp_path / "c.sqlite")
    asked, other = collector.next(7, 2), collector.next("7", 3)
    assert {one.worker for one in asked} == {7}
    loaded = reopened(collector)
    loaded.tell(np.int64(7), {one.task: True for one in asked})
    loaded.tell("7", {one.task: False for one in other})
    assert set(loaded.labels()["worker"]) <= {7, "7"}
