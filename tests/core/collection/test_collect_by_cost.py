"""Labels collected by what errors cost: which tasks are closed, what is answered and said."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.base import checks
from workbench.base.errors import InputError
from workbench.base.state import encoded
from workbench.collection.answers import Answers, rehearse
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger, Pool
from workbench.collection.trusted import UntilTrusted
from workbench.crowd.loss import allowed_errors

COST = {"no": 1.0, "yes": 5.0}


def crowd(seed: int, tasks: int = 200, workers: int = 20) -> tuple[Pool, Answers]:
    """One task in ten is positive; workers are right on either class alike."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(tasks) < 0.1).astype(np.int64)
    right = rng.random((tasks, workers)) < rng.choice([0.65, 0.75, 0.85], workers)
    pool = Pool(
        tasks=checks.numbered("t", tasks),
        workers=checks.numbered("w", workers),
        classes=np.array(list(COST)),
        capacity=np.full(workers, tasks),
        price=np.ones((1, workers)),
        kind=np.zeros(tasks, dtype=np.int64),
        share=np.array([0.5, 0.5]),
        gold=np.zeros(0, dtype=np.int64),
        gold_kind=np.zeros(0, dtype=np.int64),
    )
    label = np.where(right, truth[:, None], 1 - truth[:, None])
    return pool, Answers(label, label[:0], truth)


def table(pool: Pool, answers: Answers) -> tuple[pd.DataFrame, pd.Series]:
    task, worker = np.divmod(np.arange(answers.label.size), len(pool.workers))
    rows = {"task": pool.tasks[task], "worker": pool.workers[worker]}
    labels = pd.DataFrame({**rows, "label": pool.classes[answers.label.ravel()]})
    return labels, pd.Series(pool.classes[answers.truth], index=pool.tasks)


@pytest.mark.parametrize(("classes", "floor"), [(2, 0.0), (2, 0.01), (4, 0.0)])
def test_a_task_is_closed_when_its_cheapest_answer_costs_little_enough(classes, floor):
    rng, n, epsilon = np.random.default_rng(classes), 400, 0.2
    loss = rng.uniform(0.5, 6.0, classes)
    pool, _ = crowd(0, n)
    named = np.arange(classes)
    even = np.full(classes, 1 / classes)
    pool = replace(pool, classes=named, share=even, hidden=np.full(n, -1), loss=loss)
    ledger = Ledger(pool)
    policy = UntilTrusted(ledger, Goal(epsilon), 0)
    beliefs = policy.beliefs
    ledger.counts[:] = 1
    beliefs.fit.joint[:] = rng.normal(0.0, 4.0, (n, classes))[:, :, None]
    beliefs.calibration = replace(beliefs.calibration, floor=floor)
    beliefs._view = None
    posterior = beliefs.posterior()
    wrong = loss * (1.0 - np.eye(classes))  # by answer and true class
    cost = posterior @ wrong.T
    belief = policy._own_belief()
    np.testing.assert_array_equal(belief.closed, cost.min(axis=1) <= epsilon)
    assert 0.1 < belief.closed.mean() < 0.9
    said = policy._answering(posterior, belief)
    np.testing.assert_array_equal(said.label, cost.argmin(axis=1))
    assert (said.label != posterior.argmax(axis=1)).any()
    at = np.arange(n), said.label
    np.testing.assert_allclose(said.confidence, posterior[at])
    # Evidence is wanted of open tasks, and of no others; the error that closes says the same.
    np.testing.assert_array_equal(beliefs.evidence_needed(epsilon) > 0.0, ~belief.closed)
    allowed = allowed_errors(posterior, loss, epsilon)[at]
    assert ((1.0 - posterior[at] <= allowed) == belief.closed)[allowed < 0.5].all()
    if classes == 2:
        np.testing.assert_allclose(allowed, np.minimum(epsilon / loss[1 - said.label], 0.5))


@pytest.mark.release
def test_a_rare_class_is_found_more_often_where_missing_it_costs_more():
    """Over six crowds: recall .93 without and .97 with, cost .10 and .03, 7.1 labels a task."""
    found: dict[bool, list[list[float]]] = {False: [], True: []}
    for seed in range(6):
        pool, answers = crowd(seed, 150, 15)
        for costly, figures in found.items():
            here = replace(pool, loss=np.array([1.0, 5.0]) if costly else None)
            end = rehearse(UntilTrusted, here, answers, Goal(0.1), seed=seed)
            said = end.belief.label if costly else end.belief.posterior.argmax(axis=1)
            rare = answers.truth == 1
            cost = np.where(rare, 5.0, 1.0) * (said != answers.truth)
            closed = cost[end.belief.closed].mean()
            labels = len(end.ledger.labels) / len(said)
            figures.append([(said == 1)[rare].mean(), cost.mean(), closed, labels])
    without, by_cost = np.mean(found[False], axis=0), np.mean(found[True], axis=0)
    assert by_cost[0] > without[0]
    assert by_cost[1] < without[1]
    assert by_cost[2] <= 0.1
    assert by_cost[3] < 1.2 * without[3]


def test_costs_of_one_change_nothing_and_are_not_kept():
    labels, gold = table(*crowd(5, 60, 8))
    plain, ones = (
        wb.collect(labels, gold, epsilon=0.1, loss=loss) for loss in (None, {"yes": 1, "no": 1.0})
    )
    pd.testing.assert_frame_equal(plain.answers, ones.answers)
    pd.testing.assert_frame_equal(plain.curve, ones.curve)
    assert ones.standing.loss is None
    assert plain.to_dict().keys() == ones.to_dict().keys()
    begun = wb.Collector(["a"], ["ann"], classes=[0, 1], epsilon=0.1, loss={1: 1})
    assert b"loss" not in encoded(begun._now.setup)  # as in journals before there was any


def test_a_collection_says_what_its_errors_cost(tmp_path):
    """On hidden tasks, by hand; and the same from its journal."""
    pool, answers = crowd(7, 60, 6)
    hidden = {f"{pool.tasks[i]}": ["no", "yes"][answers.truth[i]] for i in range(30)}
    path = tmp_path / "labels.sqlite"
    collector = wb.Collector(
        pool.tasks.tolist(),
        pool.workers.tolist(),
        classes=list(COST),
        hidden=hidden,
        epsilon=0.15,
        loss={"yes": 5},
        total=200,
        path=path,
    )
    place = {name: at for at, name in enumerate(pool.tasks.tolist())}
    who = {name: at for at, name in enumerate(pool.workers.tolist())}
    while asked := collector.next():
        for task, worker, _ in asked:
            label = ["no", "yes"][answers.label[place[task], who[worker]]]
            collector.tell(worker, {task: label})
    said = collector.answers().set_index("task")
    known = pd.Series(hidden)
    heard = known[said.loc[known.index, "label"].notna()]
    wrong = said.loc[heard.index, "label"] != heard
    standing = wb.standing(collector)
    costs = standing.measured.costs
    assert costs.outcome.cost == pytest.approx((wrong * heard.map(COST)).mean())
    assert costs.outcome.error == pytest.approx(standing.measured.measured.error_measured)
    assert costs.stakes.classes == ("no", "yes")
    assert standing.loss == COST
    assert standing.believed_cost > standing.believed_error
    words = " ".join(standing.verdict())
    assert "costs at most 0.15, where missing no costs 1, yes 5" in words
    assert "Measured, an answer costs" in words
    assert "recall and precision" in words
    assert not [step for step in standing.steps if step.kind == "prove"]
    collector.close()
    again = wb.Collector.open(path)
    pd.testing.assert_frame_equal(again.answers().set_index("task"), said)
    assert wb.standing(again).to_dict() == standing.to_dict()
    again.expect(1)  # all is laid out anew
    np.testing.assert_array_equal(again.ledger.pool.loss, [1.0, 5.0])
    with pytest.raises(InputError, match="`audit` them with `loss`"):
        wb.audit_collection(again, 2.0)


@pytest.mark.parametrize("policy", ["fixed", "uncertain", "algorithm-2"])
def test_policies_that_go_by_errors_alone_say_so(policy):
    labels, gold = table(*crowd(5, 20, 5))
    with pytest.raises(InputError, match=r"loss: policy .* take until-trusted"):
        wb.collect(labels, gold, epsilon=0.1, loss={"yes": 5}, policy=policy)
    if policy != "algorithm-2":
        with pytest.raises(InputError, match=r"loss: policy .* take until-trusted"):
            wb.Collector(["a"], 2, classes=["no", "yes"], total=3, loss={"yes": 5}, policy=policy)


def test_what_is_no_cost_of_a_class_is_refused():
    labels, gold = table(*crowd(5, 20, 5))
    for loss, said in (({"yess": 5}, "yess"), ({"yes": 0}, "above 0"), (5, "by class")):
        with pytest.raises(InputError, match=said):
            wb.collect(labels, gold, epsilon=0.1, loss=loss)
    with pytest.raises(InputError, match="not what they cost"):
        wb.collect(labels, gold, epsilon=0.1, loss={"yes": 5}, audit=2.0)
