"""Labels on record at the start of a collection, and the least and most labels of a task."""

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.collection.shipped import SHIPPED
from tests.core.flat import in_objects, reopened
from workbench.base.errors import InputError
from workbench.collection import POLICIES
from workbench.collection.answers import rehearse
from workbench.collection.policy import Goal
from workbench.collection.pool import Questions
from workbench.collection.simulation import simulated

PLANNING = ("algorithm-2", "ls-ol", "model", "sequential-plan")
LOOKING = [name for name in SHIPPED if name not in PLANNING]


def had(answers, rng, many):
    """So many labels of the crowd, as if they had been collected before."""
    pair = rng.choice(answers.label.size, many, replace=False)
    task, worker = np.divmod(pair, answers.label.shape[1])
    return [(Questions(task, worker), answers.label[task, worker])]


@pytest.mark.parametrize("name", LOOKING)
def test_every_policy_that_looks_keeps_least_and_most_and_pays_nothing_again(name):
    rng = np.random.default_rng(1)
    pool, answers = simulated(rng.uniform(0.6, 0.95, 10), 24, price=2.0, seed=4)
    have = had(answers, rng, 40)
    counts = np.bincount(have[0][0].task, minlength=24)
    done = rehearse(
        POLICIES[name].call, pool, answers, Goal(0.2), total=300, least=3, most=5, have=have
    )
    ledger = done.ledger
    pairs = [*map(tuple, ledger.labels[:, :2].tolist())]
    assert len(set(pairs)) == len(pairs)
    assert (ledger.counts <= np.maximum(counts, 5)).all()
    assert (ledger.counts[done.belief.closed] >= 3).all()
    assert ledger.spent == 2.0 * (len(pairs) - 40)
    assert (pool.capacity - ledger.left).sum() == len(pairs) - 40


def test_labels_on_record_are_believed_and_save_as_many():
    policy, saved = POLICIES["until-trusted"].call, []
    for seed in range(2, 8):
        rng = np.random.default_rng(seed)
        pool, answers = simulated(rng.uniform(0.7, 0.9, 20), 60, seed=seed + 5)
        alone = rehearse(policy, pool, answers, Goal(0.05))
        helped = rehearse(policy, pool, answers, Goal(0.05), have=had(answers, rng, 150))
        assert helped.belief.closed.mean() >= 0.85
        saved.append(alone.ledger.spent - helped.ledger.spent)
    assert np.mean(saved) >= 75


def test_policies_of_visits_say_that_they_cannot():
    pool, answers = simulated([0.8] * 4, 5, gold=4, seed=0)
    with pytest.raises(InputError, match="no labels on record, no least and no most"):
        rehearse(POLICIES["algorithm-2"].call, pool, answers, Goal(0.1), least=2)


class TestLive:
    HAVE = pd.DataFrame(
        [("a", "ann", "yes"), ("a", "bob", "yes"), ("g", "bob", "no"), ("else", "eve", "yes")],
        columns=["task", "worker", "label"],
    )

    def begun(self, **more):
        given = {"have": self.HAVE, "gold": {"g": "no"}, "classes": ["no", "yes"], "capacity": 3}
        return wb.Collector(["a", "b", "c"], 4, **in_objects({"epsilon": 0.2} | given | more))

    def test_what_there_is_counts_and_is_neither_paid_nor_asked(self, tmp_path):
        running, again = self.begun(), reopened(self.begun(path=tmp_path / "c.sqlite"))
        told = running.status()
        assert (told["labels"], told["gold_labels"], told["on_record"]) == (0, 0, 3)
        assert (running.cost, list(running.workers)) == (0.0, ["ann", "bob"])
        assert running.belief().error[0] < running.belief().error[1]
        assert again.status() == told
        for worker in ("ann", "bob", "cy"):
            asked = running.next(worker)
            assert asked == again.next(worker)
            assert not {(q.task, q.worker) for q in asked} & {("a", "ann"), ("a", "bob")}
            running.tell(worker, {q.task: "no" for q in asked})
            again.tell(worker, {q.task: "no" for q in asked})
        assert running.status() == again.status()
        assert running.cost == running.status()["labels"] + running.status()["gold_labels"]

    def test_a_full_task_opens_again_for_a_label_that_will_not_come(self):
        running = self.begun(most=3, policy="fixed", epsilon=None, total=9, gold=None)
        assert "a" in {q.task for q in running.next("cy", 5)}
        assert running.ledger.full[0]
        assert "a" not in {q.task for q in running.next("dan", 5)}
        running.tell("cy", {"a": None})
        assert not running.ledger.full[0]
        assert not running.ledger.open[0, running.workers["cy"]]
        assert running.ledger.open[0, running.workers["dan"]]

    def test_bad_labels_on_record_are_one_line(self):
        for table, said in (
            (self.HAVE.assign(task="z"), "none of its labels is of a task here"),
            (self.HAVE.assign(label="maybe"), "'maybe' of task 'a' is no class"),
            (self.HAVE[["task", "worker"]], "columns task, worker, label"),
            (pd.concat([self.HAVE, self.HAVE.assign(label="no")]), "twice, not alike"),
        ):
            with pytest.raises(InputError, match=said):
                self.begun(have=table)


def test_the_front_door_counts_them_apart():
    crowd = wb.simulate(tasks=30, workers=12, skill=0.9, seed=1)
    first = wb.collect(crowd, total=30, policy="fixed")
    assert (first.on_record, first.labels) == (0, 30)
    table = pd.DataFrame({"task": ["t1", "t2"], "worker": ["w1", "w1"], "label": ["0", "1"]})
    found = wb.collect(
        crowd,
        total=30,
        policy="fixed",
        people=wb.People(have=table),
        closing=wb.ClosingRules(most=2),
    )
    assert (found.on_record, found.labels, found.cost) == (2, 30, 30.0)
    assert "2 more, counted at no cost" in found.details()
    with pytest.raises(InputError, match="worker 'zoe' is not among"):
        wb.collect(crowd, total=30, people=wb.People(have=table.assign(worker="zoe")))
