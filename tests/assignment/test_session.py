"""The streaming session: the same as one call, at any interruption."""

import math

import numpy as np
import pandas as pd
import pytest

from workbench.assignment.adaptive import (
    AdaptiveAssigner,
    AdaptiveSettings,
    adaptive_assignment,
)
from workbench.assignment.session import AssignmentSession
from workbench.base.errors import InputError
from workbench.crowd.empirical_bayes import fitted_prior

TASKS = pd.Series({f"t{i}": "birds" if i % 2 else "dogs" for i in range(30)})
GOLD = pd.DataFrame(
    {
        "label": ["yes", "no"] * 10,
        "task_type": ["birds"] * 10 + ["dogs"] * 10,
    },
    index=[f"g{i}" for i in range(20)],
)
TRUTH = {task: "yes" if i % 3 else "no" for i, task in enumerate(TASKS.index)}
SKILL = np.random.default_rng(0).uniform(0.55, 0.98, (2, 40))  # birds, dogs by worker


def session(**changes):
    settings = {"workers": 25, "preliminary": 15, "epsilon": 0.3, "seed": 4, **changes}
    return AssignmentSession(TASKS, GOLD, **settings)


def answers(worker: int, asked):
    """The same answers whoever asks, in whatever order."""
    labels = {}
    for task in asked:
        kind = GOLD["task_type"].get(task) or TASKS[task]
        true = GOLD["label"].get(task) or TRUTH[task]
        luck = np.random.default_rng([worker, sum(task.encode())]).random()
        right = luck < SKILL[0 if kind == "birds" else 1, worker]
        labels[task] = true if right else {"yes": "no", "no": "yes"}[true]
    return labels


def serve(stream, workers, *, between=lambda s: s):
    for worker in workers:
        asked = stream.arrive(f"w{worker}", capacity=12)
        stream = between(stream)
        while asked.kind != "nothing":
            asked = stream.observe(f"w{worker}", answers(worker, asked.tasks))
            stream = between(stream)
    return stream


PAPERS = {"gain": "hoeffding", "skills": "plug-in"}


@pytest.mark.parametrize(
    "how", [PAPERS, {"gain": "bhattacharyya", "skills": "fitted", "epsilon": 0.1}]
)
def test_equals_the_one_call(how):
    """Same seed, same answers: the stream asks exactly what the one call assigns."""
    stream = serve(session(**how), range(40))
    kinds = (TASKS == "dogs").to_numpy(np.int64)
    correct = np.zeros((2, 40), dtype=np.int64)
    for worker in range(40):
        given = pd.Series(answers(worker, GOLD.index))
        right = (given == GOLD["label"]).groupby(GOLD["task_type"]).sum()
        correct[:, worker] = right["birds"], right["dogs"]
    result = adaptive_assignment(
        correct,
        np.full((2, 40), 10),
        np.full(40, 12),
        kinds,
        AdaptiveSettings(**{"epsilon": 0.3, **how}, workers=25, preliminary=15),
        seed=4,
    )
    expected = {(TASKS.index[t], f"w{w}") for t, w in zip(result.task, result.worker, strict=True)}
    table = stream.labels()
    assert set(zip(table["task"], table["worker"], strict=True)) == expected
    assert len(expected) > 50


def test_workers_at_once_and_workers_who_leave():
    """The first γm to finish their gold tasks are sampled; whoever leaves holds nobody up."""
    stream = session()
    asked = {w: stream.arrive(f"w{w}", capacity=5) for w in range(20)}
    for worker in (3, 7):  # never heard of again
        asked.pop(worker)
    order = list(asked)[::-1]
    for place, worker in enumerate(order):
        assert stream.sampling == (place < 15)
        reply = stream.observe(f"w{worker}", answers(worker, asked[worker].tasks))
        assert reply.kind == ("nothing" if place < 15 else reply.kind)
    assert not stream.sampling


@pytest.mark.parametrize("how", [PAPERS, {"epsilon": 0.1}])
def test_result_votes_with_estimated_skill(how):
    stream = serve(session(**how), range(40))
    table = stream.result(seed=1)
    assert table["task"].tolist() == TASKS.index.tolist()
    right = (table["label"] == table["task"].map(TRUTH)).mean()
    assert right > 0.85
    assert table["votes"].sum() == len(stream.labels())
    assert (table["covered"] >= 0).all()


def test_prices_and_availability():
    stream = session(preliminary=1, epsilon=0.9, gain="hoeffding")
    asked = stream.arrive("w0", capacity=9, cost={"birds": 1.0, "dogs": 50.0})
    stream.observe("w0", dict(zip(asked.tasks, GOLD.loc[list(asked.tasks), "label"], strict=True)))
    asked = stream.arrive("w1", capacity=9, cost={"dogs": 1e6}, available=["t1", "t2", "t3"])
    reply = stream.observe(
        "w1", dict(zip(asked.tasks, GOLD.loc[list(asked.tasks), "label"], strict=True))
    )
    assert set(reply.tasks) <= {"t1", "t3"}


def test_a_price_of_its_own_keeps_a_task_from_a_worker_and_no_other():
    def asked(**terms):
        stream = serve(session(epsilon=0.1), range(16))
        gold = stream.arrive("good", capacity=30, **terms).tasks
        return set(stream.observe("good", dict(GOLD["label"][list(gold)])).tasks)

    cheap = asked()
    assert len(cheap) > 5
    dear = sorted(cheap)[:3]
    assert asked(prices=dict.fromkeys(dear, 1e6)) == cheap - set(dear)
    # By task or by type is the same where the prices are; a price of a task goes before its type's.
    assert asked(prices=dict.fromkeys(TASKS.index, 1.0)) == cheap
    assert asked(cost={"birds": 1e6, "dogs": 1e6}, prices=dict.fromkeys(cheap, 1)) == cheap


def test_prices_by_task_enter_the_sampled_program():
    """Everybody dear for one task: it gets a higher weight, or workers would never take it."""
    stream = session(epsilon=0.1)
    for worker in range(15):
        gold = stream.arrive(f"w{worker}", 12, prices={"t4": 5.0})
        stream.observe(f"w{worker}", answers(worker, gold.tasks))
    weights = stream._assigner.task_weights
    assert weights[4] == pytest.approx(5 * np.delete(weights, 4)[::2][:2].max(), rel=0.5)
    assert weights[4] > 2 * np.delete(weights, 4).max()


def test_preliminary_workers_are_judged_by_one_another():
    """Skills are posterior means under one prior a type, fitted to the sample's gold answers."""
    stream = serve(session(), range(20))
    state = stream.state()
    counts = []
    for visit in state.visits:
        right = np.array([GOLD["label"].iloc[at] == ["no", "yes"][said] for at, said in visit.gold])
        kind = np.array([at >= 10 for at, _ in visit.gold])
        counts.append([right[~kind].sum(), right[kind].sum()])
    right = np.array(counts)
    for kind in range(2):
        a, b = fitted_prior(right[:15, kind], np.full(15, 10))
        assert state.priors[kind] == (a, b)
        told = [visit.skill[kind] for visit in state.visits]
        np.testing.assert_allclose(told, (right[:, kind] + a) / (10 + a + b))
    assert state.sampled == tuple(f"w{j}" for j in range(15))


def test_tasks_of_easiness_one_are_tasks_without():
    plain, same = session(epsilon=0.1), session(epsilon=0.1, easiness=pd.Series(1.0, TASKS.index))
    assert serve(plain, range(30)).state() == serve(same, range(30)).state()


def test_harder_tasks_take_more_labels_and_are_known_to_be_hard():
    """Half of the tasks at easiness ½: gold of every easiness tells of one ability."""
    rng = np.random.default_rng(3)
    d = pd.Series([1.0 if i < 15 else 0.6 for i in range(30)], TASKS.index)
    gold = GOLD.assign(easiness=[1.0, 0.6] * 10)
    truth = {**{g: row["label"] for g, row in gold.iterrows()}, **TRUTH}
    hard = {**gold["easiness"].to_dict(), **d.to_dict()}
    stream = AssignmentSession(
        TASKS, gold, workers=80, preliminary=30, epsilon=0.1, easiness=d, seed=1
    )
    other = {"yes": "no", "no": "yes"}
    ability = rng.uniform(0.7, 0.95, 110)
    for j in range(110):
        asked = stream.arrive(f"w{j}", capacity=30)
        while asked.kind != "nothing":
            reply = {}
            for task in asked.tasks:
                right = rng.random() < 0.5 + hard[task] * (ability[j] - 0.5)
                reply[task] = truth[task] if right else other[truth[task]]
            asked = stream.observe(f"w{j}", reply)
        if j in (10, 50):
            stream = AssignmentSession.restore(stream.state())
    known = np.array([visit.skill[0] for visit in stream.state().visits])
    assert np.abs(known - ability).mean() < 0.1
    table = stream.result().set_index("task")
    easy, harder = table["votes"].iloc[:15].mean(), table["votes"].iloc[15:].mean()
    assert harder > 1.5 * easy > 0
    assert (table["label"] == pd.Series(TRUTH)).mean() > 0.9


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda s: s.arrive(True, 3), "worker is True"),
        *(
            (lambda s, wrong=wrong: s.arrive("new", wrong), "capacity of worker 'new' is")
            for wrong in (-1, 1.5, math.nan, "5", None, True, 10**400)
        ),
        *(
            (lambda s, wrong=wrong: s.arrive("new", 3, cost={"dogs": wrong}), "for type 'dogs' is")
            for wrong in (-1, math.inf, "5", True, 1e-16)
        ),
        (lambda s: s.arrive("new", 3, cost={"dgos": 5}), "type 'dgos': the types are 'birds', "),
        (lambda s: s.arrive("new", 3, prices={"t1": -1}), "price of worker 'new' for task 't1' is"),
        (lambda s: s.arrive("new", 3, prices={"birds": 1}), "name 'birds', which is no task here"),
        (lambda s: s.arrive("new", 3, prices=5), "give a price by task"),
        (lambda s: s.arrive("new", 3, prices=pd.Series([1, 2], ["t1", "t1"])), "'t1' twice"),
        (lambda s: s.arrive("new", 3, available=["zzz"]), "zzz"),
        (lambda s: s.observe("nobody", {}), "arrive first"),
        (lambda s: s.observe("here", ["yes"]), "give a label by task"),
        (lambda s: s.observe("here", pd.Series(["yes", "no"], ["g1", "g1"])), "'g1' twice"),
        (lambda s: s.observe("here", {"t1": "yes"}), "not asked task 't1'"),
        (lambda s: s.observe("here", {"g1": "maybe"}), "neither 'no' nor 'yes'"),
    ],
)
def test_bad_calls(call, word):
    stream = session()
    stream.arrive("here", 3)
    before = stream.state()
    with pytest.raises(InputError, match=word) as told:
        call(stream)
    assert "\n" not in str(told.value)
    assert stream.state() == before


@pytest.mark.parametrize(
    ("tasks", "gold", "changes", "word"),
    [
        (TASKS.iloc[:0], GOLD, {}, "empty"),
        (pd.Series(["a", "a"], index=["t", "t"]), GOLD, {}, "twice"),
        (TASKS, GOLD.drop(columns="task_type"), {}, "task_type"),
        (TASKS, GOLD.rename(index={"g0": "t0"}), {}, "also a gold task"),
        (TASKS, GOLD.iloc[:10], {}, "'dogs' has 0 gold tasks"),
        (TASKS, GOLD.assign(label=["yes", "no", None, "no"] * 5), {}, "label of gold task 'g2'"),
        (TASKS, GOLD, {"easiness": pd.Series({"t9": 0.0})}, r"easiness\[0\] is 0"),
        (TASKS, GOLD, {"easiness": pd.Series({"zz": 0.5})}, "names 'zz', which is no task"),
        (TASKS, GOLD, {"easiness": 0.5}, "easiness is no Series"),
        (TASKS, GOLD.assign(easiness=2), {}, r"easiness\[0\] is 2"),
        (TASKS, GOLD, {"skills": "mean"}, "skills is 'mean'"),
        (TASKS, GOLD, {"gain": "exact"}, "gain is 'exact'"),
    ],
)
def test_bad_construction(tasks, gold, changes, word):
    given = {"workers": 2, "preliminary": 1, "epsilon": 0.1, "seed": 1, **changes}
    with pytest.raises(InputError, match=word):
        AssignmentSession(tasks, gold, **given)


def right(asked):
    return {task: GOLD["label"].get(task, "yes") for task in asked.tasks}


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["sampled_weights", "AdaptiveAssigner._set_weights"])
def test_pricing_that_fails_can_be_tried_again(where, fault, monkeypatch):
    """The sample's last worker meets a solver that fails; nothing else is lost."""

    whole = AdaptiveAssigner._set_weights

    def fail(*args, **options):
        if where.endswith("_set_weights"):
            whole(*args)  # and then, say, somebody presses Ctrl-C
        raise fault("the solver fell over")

    stream, twin = session(on_infeasible="drop"), session(on_infeasible="drop")
    for one in (stream, twin):
        serve(one, range(14))
        one.arrive("last", capacity=12)
    labels = right(twin.arrive("next", capacity=12))
    stream.arrive("next", capacity=12)
    before = stream.state()
    with monkeypatch.context() as broken:
        broken.setattr(f"workbench.assignment.adaptive.{where}", fail)
        for worker in ("last", "next", "last"):
            with pytest.raises(fault):
                stream.observe(worker, labels)
            assert stream.sampling
            assert stream.state() == before
    for worker in ("last", "next"):
        assert stream.observe(worker, labels) == twin.observe(worker, labels)
    assert not stream.sampling
    assert stream.state() == twin.state()
    rest = range(20, 30)
    assert serve(stream, rest).state() == serve(twin, rest).state()


def test_a_sample_that_cannot_cover_waits_for_a_better_worker():
    stream = session(preliminary=1, on_infeasible="error")
    for worker in ("coin", "good"):
        stream.arrive(worker, capacity=30)
    half = {f"g{i}": "yes" for i in range(20)}
    for _ in range(2):
        with pytest.raises(InputError, match="cannot cover"):
            stream.observe("coin", half)
    assert stream.sampling
    assert stream.observe("good", GOLD["label"]).kind == "nothing"
    assert not stream.sampling
    assert stream.observe("coin", half).kind == "nothing"
