"""Until trusted: a belief that is right about itself on ordinary crowds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workbench.aggregation.calibration import Calibration
from workbench.collection import POLICIES, grid_beliefs
from workbench.collection.answers import Answers, rehearse
from workbench.collection.grid_beliefs import GridBeliefs
from workbench.collection.policy import Goal
from workbench.collection.pool import Ledger, Pool, Questions

NONE = np.zeros(0, dtype=np.int64)


def drawn(skill, truth, seed):
    """Labels (n, m) of two classes; `skill` is the chance to be right, shape (m,) or (n, m)."""
    rng = np.random.default_rng(seed)
    right = rng.random((len(truth), np.shape(skill)[-1])) < skill
    return np.where(right, truth[:, None], 1 - truth[:, None])


def hear(listener, ask, label):
    """Ask for pairs, and let the ledger and whoever believes by it hear their labels of (n, m)."""
    named = label[ask.task, ask.worker]
    listener.ledger.ask(ask)
    listener.ledger.tell(ask, named)
    listener.told(ask, named)


def pool_of(n, m, classes=2):
    return Pool(
        tasks=np.array([f"t{i}" for i in range(n)], dtype=object),
        workers=np.array([f"w{j}" for j in range(m)], dtype=object),
        classes=np.arange(classes),
        capacity=np.full(m, 200),
        price=np.ones((1, m)),
        kind=np.zeros(n, dtype=np.int64),
        share=np.full(classes, 1 / classes),
        gold=NONE,
        gold_kind=NONE,
    )


def collected(label, truth, epsilon=0.05, seed=0, **more):
    pool = replace(pool_of(*label.shape), **more)
    answers = Answers(label, np.zeros((0, label.shape[1]), dtype=np.int64), truth)
    made = []

    def policy_kept(*arguments):
        made.append(POLICIES["until-trusted"].call(*arguments))
        return made[0]

    end = rehearse(policy_kept, pool, answers, Goal(epsilon), seed=seed)
    return end, made[0].beliefs


def honest(end, truth):
    wrong = end.belief.posterior.argmax(axis=1) != truth
    closed = end.belief.closed
    return wrong[closed].mean() <= 1.3 * end.belief.error[closed].mean() + 0.02


@pytest.mark.release
def test_a_rare_class_and_two_coins():
    for seed in range(2):
        rng = np.random.default_rng(seed)
        truth = (rng.random(300) < 0.1).astype(np.int64)
        coins = rng.uniform(0.5, 0.9, 80), rng.uniform(0.7, 0.99, 80)
        label = drawn(np.where(truth[:, None] == 1, *coins), truth, seed)
        end, beliefs = collected(label, truth)
        assert honest(end, truth)
        assert beliefs.fit.share[1] < 0.25


@pytest.mark.release
def test_workers_who_are_nearly_always_wrong_do_not_turn_the_others_round():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 300)
    skill = np.where(np.arange(80) < 24, 0.05, rng.uniform(0.6, 0.95, 80))
    end, _ = collected(drawn(skill, truth, 3), truth)
    assert (end.belief.posterior.argmax(axis=1) != truth).mean() < 0.1


@pytest.mark.release
def test_tasks_that_nobody_can_tell_are_left_open_and_named():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 250)
    easy = rng.random(250) < 0.75
    skill = np.where(easy[:, None], rng.uniform(0.75, 0.95, 80), 0.5)
    end, beliefs = collected(drawn(skill, truth, 5), truth)
    assert (~end.belief.closed)[~easy].mean() > 0.5
    assert end.belief.closed[easy].mean() > 0.9
    assert any("left open" in note for note in beliefs.notes())


def test_a_fifth_that_copies_one_worker_is_one_voter():
    rng = np.random.default_rng(42)
    truth = rng.integers(0, 2, 300)
    label = drawn(rng.uniform(0.5, 0.99, 80), truth, 42)
    label[:, 1:16] = label[:, :1]
    beliefs = GridBeliefs(Ledger(pool_of(300, 80)))
    task, worker = (axis.ravel() for axis in np.meshgrid(np.arange(32), np.arange(0, 24)))
    beliefs.common = np.arange(32)
    hear(beliefs, Questions(task, worker), label)
    beliefs.refit()
    assert len(set(beliefs.merged[:16].tolist())) == 1
    assert (beliefs.merged[16:] == np.arange(16, 80)).all()


@pytest.mark.release
def test_hidden_tasks_that_stay_wrong_end_the_buying():
    """All workers share the errors of a quarter of the tasks: no label cures that."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, 300)
    seems = np.where(rng.random(300) < 0.25, 1 - truth, truth)
    label = drawn(rng.uniform(0.7, 0.95, 60), seems, 7)
    hidden = np.where(np.arange(300) < 60, truth, -1)
    (blind, _), (told, beliefs) = collected(label, truth), collected(label, truth, hidden=hidden)
    assert blind.belief.error.mean() < 0.05
    assert told.belief.error.mean() > 0.15
    assert beliefs.calibration != Calibration(1.0)
    # What stays wrong while the labels double is not bought after.
    assert len(told.ledger.labels) < label.size / 2
    assert not told.belief.closed.any()


def test_the_posterior_that_is_kept_is_the_one_that_labels_give():
    rng = np.random.default_rng(13)
    label = drawn(rng.uniform(0.6, 0.95, 12), rng.integers(0, 2, 40), 13)
    beliefs = GridBeliefs(Ledger(pool_of(40, 12)))
    for worker in range(12):
        ask = Questions(
            np.arange(worker % 3, 40, 3), np.full(len(range(worker % 3, 40, 3)), worker)
        )
        beliefs.ledger.ask(ask)
        beliefs.ledger.tell(ask, label[ask.task, ask.worker])
        before = beliefs.posterior()
        kept = before.copy()
        beliefs.told(ask, label[ask.task, ask.worker])
        np.testing.assert_array_equal(before, kept)  # whoever was given it keeps it
        after = beliefs.posterior()
        again = GridBeliefs(beliefs.ledger)
        again.resume(beliefs.state())
        np.testing.assert_array_equal(after, again.posterior())
        if worker % 4 == 3:
            beliefs.refit()


def test_what_is_kept_of_tasks_is_what_all_labels_give():
    """Tasks of unequal easiness: what is asked at every step, after labels of some of them."""
    rng = np.random.default_rng(14)
    truth, ease = rng.integers(0, 2, 150), rng.choice([1.0, 0.0], 150, p=[0.7, 0.3])
    label = drawn(0.5 + 0.45 * ease[:, None] * np.ones(14), truth, 14)
    beliefs = GridBeliefs(Ledger(pool_of(150, 14)))
    for worker in range(14):
        hear(beliefs, Questions(np.arange(150), np.full(150, worker)), label)
        if worker == 11:
            beliefs.refit()
        again = GridBeliefs(beliefs.ledger)
        again.resume(beliefs.state())
        np.testing.assert_array_equal(beliefs.cost(), 1.0 - again.posterior().max(axis=1))
        np.testing.assert_array_equal(beliefs.hopeless(), again.hopeless())
    assert 20 < beliefs.hopeless().sum() < 60


def test_of_one_voter_the_first_label_on_a_task_counts():
    rng = np.random.default_rng(15)
    beliefs = GridBeliefs(Ledger(pool_of(12, 9)))
    beliefs.merged = np.array([0, 0, 2, 3, 3, 3, 6, 0, 8])
    pairs = rng.permutation(12 * 9)[:80]
    ask = Questions(pairs // 9, pairs % 9)
    beliefs.ledger.ask(ask)
    beliefs.ledger.tell(ask, rng.integers(0, 2, 80))
    before, expected = set(), []
    for task, worker in zip(ask.task.tolist(), beliefs.merged[ask.worker].tolist(), strict=True):
        expected.append((task, worker) not in before)
        before.add((task, worker))
    np.testing.assert_array_equal(beliefs._counted(), expected)
    assert not all(expected)


def test_copies_stay_one_voter_as_they_repeat_one_another():
    """Shares of first labels weigh the more, the fewer labels count: of that comes no evidence."""
    rng = np.random.default_rng(31)
    truth = rng.integers(0, 2, 300)
    label = drawn(np.concatenate([np.full(4, 0.8), rng.uniform(0.6, 0.9, 16)]), truth, 31)
    for copy in (1, 2, 3):
        label[:, copy] = np.where(rng.random(300) < 0.95, label[:, 0], label[:, copy])
    one = np.maximum(np.arange(20) - 3, 0)
    one[4:] = np.arange(4, 20)
    gains = []
    for more in (0, 160):
        beliefs = GridBeliefs(Ledger(pool_of(300, 20)), np.arange(32))
        pairs = [(task, worker) for task in range(32) for worker in range(20)]
        pairs += [(task, worker) for task in range(32, 32 + more) for worker in range(4)]
        task, worker = np.array(pairs).T
        hear(beliefs, Questions(task, worker), label)
        beliefs.refit()
        assert beliefs.copying.tolist() == [False] + [True] * 3 + [False] * 16
        search = beliefs.copy_search()
        gains.append(search.evidence(one).evidence - search.evidence(np.arange(20)).evidence)
    assert gains[1] > gains[0] + 8.0


def test_contested_are_common_tasks_on_which_half_of_the_others_contradict():
    rng = np.random.default_rng(32)
    truth = rng.integers(0, 2, 200)
    label = drawn(np.concatenate([np.full(3, 0.97), rng.uniform(0.5, 0.8, 8)]), truth, 32)
    label[:5, :3] = 1 - truth[:5, None]  # three copies are wrong together there
    beliefs = GridBeliefs(Ledger(pool_of(200, 11)), np.arange(20))
    task, worker = (axis.ravel() for axis in np.meshgrid(np.arange(200), np.arange(11)))
    hear(beliefs, Questions(task, worker), label)
    beliefs.refit()
    able = beliefs.suspects()
    assert {0, 1, 2} <= set(able.tolist())
    others = np.setdiff1d(np.arange(11), able)
    expected = [
        i
        for i in range(20)
        if (label[i, others] != np.bincount(label[i, able]).argmax()).sum() * 2 >= len(others)
    ]
    assert beliefs.contested().tolist() == expected
    assert 0 < len(expected) < 20


def test_while_copies_are_undecided_more_workers_answer_what_is_contested(monkeypatch):
    policy = POLICIES["until-trusted"].call(Ledger(pool_of(100, 30)), Goal(0.05), 3)
    contested = policy.common[3:7]
    monkeypatch.setattr(GridBeliefs, "contested", lambda self: contested)
    monkeypatch.setattr(GridBeliefs, "suspects", lambda self: np.arange(0))
    policy.cold_start_over, asked = True, []
    for undecided in (True, True, False):
        policy.beliefs.copies_in_doubt = undecided
        ask = policy._best(None, None)
        policy.ledger.ask(ask)
        asked.append(ask)
    assert [each.task.tolist() for each in asked[:2]] == [contested.tolist()] * 2
    assert [set(each.worker.tolist()) for each in asked[:2]] == [{w} for w in policy.witnesses[:2]]
    assert set(asked[2].task.tolist()) != set(contested.tolist())


@pytest.mark.release
def test_answers_of_the_block_call_for_no_new_choice_unless_some_copy(monkeypatch):
    rng = np.random.default_rng(16)
    truth = rng.integers(0, 2, 60)
    label = drawn(np.full(22, 0.7), truth, 16)
    label[:, 20:] = label[:, 19:20]
    chosen = []
    plain = GridBeliefs._choose
    monkeypatch.setattr(
        GridBeliefs, "_choose", lambda self, voter: (chosen.append(voter), plain(self, voter))
    )
    beliefs = GridBeliefs(Ledger(pool_of(60, 22)))
    beliefs.common = np.arange(32)
    for worker in range(22):
        hear(beliefs, Questions(np.arange(60), np.full(60, worker)), label)
        if worker == 16:
            beliefs.refit()
            assert not beliefs.may_be_reversed
            beliefs.chosen_at = 10**6  # from here on nothing but the block calls for it
            chosen.clear()
        elif worker > 16:
            beliefs.refit()
    assert beliefs.copying.tolist() == [False] * 20 + [True] * 2
    assert len(chosen) == 2  # for five more workers, two of them copies


@pytest.mark.parametrize("before", [0.0, 3.0])
def test_a_fit_is_chosen_anew_where_its_mirror_image_becomes_the_likelier(before, monkeypatch):
    """Not at every refit, where the last choice could not tell the two."""
    rng = np.random.default_rng(18)
    beliefs = GridBeliefs(Ledger(pool_of(50, 20)))
    task, worker = (axis.ravel() for axis in np.meshgrid(np.arange(50), np.arange(20)))
    ask = Questions(task, worker)
    label = rng.integers(0, 2, 1000)
    beliefs.ledger.ask(ask)
    beliefs.ledger.tell(ask, label)
    beliefs.told(ask, label)
    beliefs.refit()
    chosen = []
    plain = GridBeliefs._choose
    monkeypatch.setattr(
        GridBeliefs, "_choose", lambda self, voter: (chosen.append(voter), plain(self, voter))
    )
    monkeypatch.setattr(grid_beliefs, "orientation_odds", lambda *_: -1.0)
    beliefs.orientation = before
    beliefs.refit()
    assert len(chosen) == (before > 0.0)
    assert beliefs.may_be_reversed
    assert beliefs.orientation >= 0.0


def test_what_is_saved_goes_on_the_same():
    rng = np.random.default_rng(9)
    label = drawn(rng.uniform(0.6, 0.95, 12), rng.integers(0, 2, 40), 9)
    ledger = Ledger(pool_of(40, 12))
    beliefs = GridBeliefs(ledger)
    for step in range(12):
        task = np.arange(step % 5, 40, 5)
        hear(beliefs, Questions(task, np.full(8, step)), label)
        if step in (2, 6, 7):
            beliefs.refit()
    again = GridBeliefs(ledger)
    again.resume(beliefs.state())
    np.testing.assert_array_equal(again.posterior(), beliefs.posterior())
    beliefs.refit()
    again.refit()
    np.testing.assert_array_equal(again.posterior(), beliefs.posterior())
    np.testing.assert_array_equal(again.weight, beliefs.weight)


@pytest.mark.release
def test_easiness_is_seldom_taken_up_where_tasks_are_alike():
    """Its evidence is 4.6 nats less there, within some tenths; where a quarter is hopeless more."""
    alike, unlike = 0, 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, 150)
        able = rng.uniform(0.6, 0.9, 12)
        hopeless = (np.arange(150) % 4 == 0)[:, None]
        plain, hard = able, np.where(hopeless, 0.5, able + 0.05)
        alike += len(seen(drawn(plain, truth, seed)).beliefs.fit.levels) > 1
        unlike += len(seen(drawn(hard, truth, seed)).beliefs.fit.levels) > 1
    assert alike <= 2
    assert unlike == 8


def test_liars_who_answer_together_are_seen_through_once_strangers_have_answered():
    """Those who are nearly always wrong came first, and labelled most tasks among themselves."""
    rng = np.random.default_rng(12)
    truth = rng.integers(0, 2, 200)
    skill = np.where(np.arange(60) < 15, 0.05, rng.uniform(0.65, 0.95, 60))
    label = drawn(skill, truth, 12)
    beliefs = GridBeliefs(Ledger(pool_of(200, 60)))

    def ask(workers, tasks):
        task, worker = (axis.ravel() for axis in np.meshgrid(tasks, workers))
        questions = Questions(task, worker)
        beliefs.ledger.ask(questions)
        beliefs.ledger.tell(questions, label[task, worker])
        beliefs.told(questions, label[task, worker])
        beliefs.refit()

    ask(np.arange(4), np.arange(200))
    assert (beliefs.posterior().argmax(axis=1) != truth).mean() > 0.9
    assert beliefs.may_be_reversed
    for first in range(15, 60, 15):
        ask(np.arange(first, first + 15), np.arange(8))
    assert (beliefs.posterior().argmax(axis=1) != truth).mean() < 0.1
    assert not beliefs.may_be_reversed


def test_few_labels_are_believed_less_than_the_model_says():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 100)
    label = drawn(np.full(20, 0.8), truth, 4)
    heats = []
    for workers in (2, 20):
        beliefs = GridBeliefs(Ledger(pool_of(100, 20)))
        task, worker = (axis.ravel() for axis in np.meshgrid(np.arange(100), np.arange(workers)))
        hear(beliefs, Questions(task, worker), label)
        beliefs.refit()
        heats.append(beliefs.calibration.temperature)
    assert heats[0] > heats[1] > 1.0


def seen(label, hidden=None, tasks=None, **more):
    """Beliefs of all labels of an (n, m) table, or of some tasks of it."""
    n, m = label.shape
    ledger = Ledger(replace(pool_of(n, m), hidden=hidden, **more))
    policy = POLICIES["until-trusted"].call(ledger, Goal(0.1), 0)
    task, worker = (
        axis.ravel() for axis in np.meshgrid(range(n) if tasks is None else tasks, np.arange(m))
    )
    hear(policy, Questions(task, worker), label)
    policy.refit()
    return policy


def test_what_labels_can_cure_is_what_the_floor_leaves():
    rng = np.random.default_rng(21)
    label = drawn(rng.uniform(0.55, 0.8, 6), rng.integers(0, 2, 60), 21)
    beliefs = seen(label, hidden=np.full(60, -1)).beliefs
    beliefs.calibration = Calibration(1.0, 0.2)
    beliefs._view = None
    before = 1.0 - beliefs._before_floor(1.0 - beliefs.cost())
    error = beliefs.cost()
    for epsilon in (0.12, 0.15, 0.3):
        goal = beliefs.error_to_reach(epsilon)
        np.testing.assert_array_equal(error <= epsilon, before <= goal)
        assert not beliefs.closed_at_floor(epsilon).any()
        np.testing.assert_array_equal(
            beliefs.evidence_needed(epsilon) > 1e-9, error > epsilon + 1e-9
        )
    # A floor of .2 is an error of .1: it leaves less than a tenth of .11.
    for epsilon in (0.05, 0.11):
        assert beliefs.error_to_reach(epsilon) == 0.0
    np.testing.assert_array_equal(beliefs.closed_at_floor(0.08), before <= 0.08)
    np.testing.assert_array_equal(beliefs.closed_at_floor(0.05), before <= 0.05)


def test_the_cost_of_closing_a_task_is_that_of_those_who_tell_most_of_it():
    rng = np.random.default_rng(22)
    label = drawn(rng.uniform(0.6, 0.95, 25), rng.integers(0, 2, 40), 22)
    prices = rng.uniform(1.0, 3.0, (1, 25))
    policy = seen(label, tasks=np.arange(20), price=prices)
    cost, closed = policy.to_close(), policy.belief().closed
    lacking, nats = policy.beliefs.evidence_needed(0.1), policy.worker_index.nats(policy.beliefs)[0]
    assert closed[:20].any()
    np.testing.assert_array_equal(cost == 0.0, closed)
    order = np.argsort(-nats / prices[0])
    for task in range(40):
        if closed[task]:
            continue
        total = paid = 0.0
        for worker in order.tolist():
            if total < lacking[task] and policy.ledger.open[task, worker]:
                total, paid = total + nats[worker], paid + prices[0, worker]
        assert cost[task] == pytest.approx(paid if total >= lacking[task] else np.inf)
    # Of tasks that everybody has labelled none is closed by more labels.
    assert np.isinf(cost[:20][~closed[:20]]).all()
    policy.goal = Goal(0.1, mean=True)
    assert policy.to_close() is None


@pytest.mark.release
def test_what_the_workers_who_are_left_cannot_tell_is_not_bought():
    """Four workers a task, who together can hardly bring it to so small an error."""
    rng = np.random.default_rng(23)
    truth = rng.integers(0, 2, 200)
    label = drawn(np.full(20, 0.65), truth, 23)
    available = np.zeros(label.shape, dtype=bool)
    for task in range(200):
        available[task, rng.permutation(20)[:4]] = True
    end, _ = collected(label, truth, epsilon=0.01, available=available)
    assert len(end.ledger.labels) < available.sum()
    assert not end.belief.closed.any()


@pytest.mark.release
def test_a_floor_that_keeps_tasks_open_does_not_have_all_labels_bought():
    """Hidden tasks do not show that the floor stays; its mean keeps tasks above ε all the same."""
    rng = np.random.default_rng(24)
    truth = rng.integers(0, 2, 200)
    seems = np.where(np.arange(200) % 8 == 0, 1 - truth, truth)
    label = drawn(rng.uniform(0.65, 0.95, 30), seems, 24)
    hidden = np.where(np.arange(200) < 24, truth, -1)
    end, beliefs = collected(label, truth, hidden=hidden)
    assert beliefs.error_to_reach(0.05) == 0.0 < beliefs.floor < 0.05  # .05 is not shown to stay
    assert not end.belief.closed.any()
    assert len(end.ledger.labels) < label.size / 2  # other draws: 1,100 to 2,100 of 6,000


@pytest.mark.parametrize("arrivals", [None, np.arange(60)])
def test_a_mean_is_reached_where_a_price_buys_most(arrivals):
    """Dear tasks are left less sure than cheap ones, in the mean they are sure enough."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, 200)
    label = drawn(np.full(60, 0.7), truth, 7)
    pool = replace(
        pool_of(200, 60),
        kind=np.arange(200) % 2,
        price=np.repeat([[1.0], [4.0]], 60, axis=1),
        confusion=np.tile([[0.7, 0.3], [0.3, 0.7]], (2, 60, 1, 1)),
    )
    answers = Answers(label, np.zeros((0, 60), dtype=np.int64), truth)
    until = POLICIES["until-trusted"].call
    end = rehearse(until, pool, answers, Goal(0.05, mean=True), arrivals=arrivals, seed=0)
    error = end.belief.error
    assert end.belief.closed.all()
    assert 0.03 < error.mean() <= 0.05
    assert error[1::2].mean() > 1.5 * error[::2].mean()


def test_a_mean_of_unknown_skills_is_reached_and_made():
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 150)
    label = drawn(rng.uniform(0.6, 0.95, 30), truth, 8)
    answers = Answers(label, np.zeros((0, 30), dtype=np.int64), truth)
    ends = [
        rehearse(POLICIES["until-trusted"].call, pool_of(150, 30), answers, goal, seed=0)
        for goal in (Goal(0.05), Goal(0.05, mean=True))
    ]
    each, mean = (len(end.ledger.labels) for end in ends)
    assert mean < each
    assert ends[1].belief.closed.all()
    assert ends[1].belief.error.mean() <= 0.05
    assert (ends[1].belief.posterior.argmax(axis=1) != truth).mean() < 0.08


def test_a_mean_is_gone_on_with_where_some_tasks_have_no_one_left_to_ask():
    """Two tasks that one worker of skill .6 can label do not keep the others from being closed."""
    rng = np.random.default_rng(9)
    truth = rng.integers(0, 2, 40)
    label = drawn(np.full(12, 0.8), truth, 9)
    available = np.ones((40, 12), dtype=bool)
    available[:2, 1:] = False
    skill = np.full(12, 0.8)
    rows = np.where(np.eye(2, dtype=bool), skill[:, None, None], 1 - skill[:, None, None])
    pool = replace(pool_of(40, 12), available=available, confusion=rows[None])
    answers = Answers(label, np.zeros((0, 12), dtype=np.int64), truth)
    end = rehearse(POLICIES["until-trusted"].call, pool, answers, Goal(0.03, mean=True), seed=0)
    assert end.belief.error.mean() <= 0.03
    assert end.belief.closed.all()


def test_an_error_that_cannot_be_had_is_said_and_usable_answers_are_kept():
    """One task in eight misleads most workers: no task goes without a label or an answer."""
    rng = np.random.default_rng(31)
    truth = rng.integers(0, 2, 160)
    skill = np.where((np.arange(160) % 8 == 0)[:, None], 0.2, rng.uniform(0.65, 0.95, 30))
    label = drawn(skill, truth, 31)
    hidden = np.where(np.arange(160) < 48, truth, -1)
    made = []

    def kept(*arguments):
        made.append(POLICIES["until-trusted"].call(*arguments))
        return made[0]

    pool = replace(pool_of(160, 30), hidden=hidden)
    answers = Answers(label, np.zeros((0, 30), dtype=np.int64), truth)
    end = rehearse(kept, pool, answers, Goal(0.02))
    wrong = (end.belief.posterior.argmax(axis=1) != truth)[48:].mean()
    assert end.ledger.counts.min() > 0
    assert wrong < 0.2
    assert wrong <= 1.3 * end.belief.error[48:].mean() + 0.03
    said = made[0].out_of_reach()
    assert said.startswith("An error of 2 % is out of reach here: ")
    assert "of 48 hidden tasks are wrong" in said
    assert not any("out of reach" in note for note in made[0].notes())
    # An error that can be had is not said to be out of reach.
    end, beliefs = collected(label, truth, hidden=hidden, epsilon=0.3)
    assert beliefs.error_to_reach(0.3) > 0.0


def test_hidden_tasks_tell_which_way_is_right():
    """Of as many liars as others labels alone leave open which way is right."""
    rng = np.random.default_rng(32)
    truth = rng.integers(0, 2, 80)
    label = drawn(np.where(np.arange(10) < 5, 0.9, 0.1), truth, 32)
    beliefs = seen(label).beliefs
    beliefs.orientation = 0.0
    assert beliefs.may_be_reversed
    assert any("interchanged" in note for note in beliefs.notes())
    way = beliefs.posterior().argmax(axis=1)
    for known, doubted in ((way, False), (1 - way, True)):
        beliefs = seen(label, hidden=np.where(np.arange(80) < 20, known, -1)).beliefs
        beliefs.orientation = 0.0
        assert beliefs.may_be_reversed == doubted


@pytest.mark.parametrize("known", [False, True])
def test_labels_that_were_there_before_count_once(known):
    """On record when the belief is made, and heard then; gold answers and known skills, too."""
    pool = replace(pool_of(6, 4), gold=np.array([0, 1]), gold_kind=np.zeros(2, dtype=np.int64))
    if known:
        chance = np.full((1, 4, 2, 2), np.nan)
        chance[0, 0] = [[0.9, 0.1], [0.2, 0.8]]
        pool = replace(pool, confusion=chance)
    rng, beliefs = np.random.default_rng(4), []
    asks = [Questions(*np.divmod(np.arange(24), 4)), Questions(*np.divmod(np.arange(8), 4), True)]
    said = [rng.integers(0, 2, len(ask)) for ask in asks]
    for on_record in (False, True):
        ledger = Ledger(pool)
        now = None if on_record else GridBeliefs(ledger)
        for ask, label in zip(asks, said, strict=True):
            ledger.record(ask, label)
        now = now or GridBeliefs(ledger)
        for ask, label in zip(asks, said, strict=True):
            now.told(ask, label)
        beliefs.append(now)
    before, after = beliefs
    np.testing.assert_allclose(after.fit.joint, before.fit.joint)
    np.testing.assert_allclose(after.weight, before.weight)
    assert len(after.warm_start().messages) == len(after.unit_labels().task)
