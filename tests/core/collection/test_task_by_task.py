"""LS_OL and the model learner as policies: what they decide is what the learners decide."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.flat import in_objects
from tests.core.release import some
from workbench.base.errors import InputError
from workbench.base.seeds import sequence
from workbench.learning import schedule as schedules
from workbench.learning.contexts import ContextualLsOl
from workbench.learning.em import EmLearner
from workbench.learning.ls_ol import LsOl
from workbench.learning.refining import RefiningLsOl
from workbench.learning.vetting import Vetting

WORKERS = ["ann", "bob", "cid", "dee", "eve"]
SKILL = np.array([0.9, 0.8, 0.7, 0.6, 0.55])


def label(worker: int, task: int, again: int, classes: int = 2) -> int:
    """The same answer whoever asks; another when asked again."""
    rng = np.random.default_rng([worker, task, again])
    true = task % classes
    wrong = (true + 1 + int(rng.integers(classes - 1))) % classes
    return true if rng.random() < SKILL[worker] else wrong


def collected(collector, tasks: int, classes: int = 2, one_by_one: bool = False):
    """Answer whatever is asked; who was asked what, step by step."""
    asked_before: dict[tuple[int, int], int] = {}
    steps = []
    names = [f"t{i}" for i in range(tasks)]
    if not one_by_one:
        collector.add(names)
    for task in names:
        if one_by_one:
            collector.add([task])
        asked = collector.next(task=task)
        steps.append((asked[0].task, [WORKERS.index(one.worker) for one in asked]))
        for question in asked:
            worker, at = WORKERS.index(question.worker), int(question.task[1:])
            again = asked_before.get((worker, at), 0)
            asked_before[worker, at] = again + 1
            collector.tell(question.worker, {question.task: label(worker, at, again, classes)})
    return steps


def learnt(learner, tasks: int, classes: int = 2, context=None):
    """The same by the learner itself: steps, and the label of each task."""
    asked_before: dict[tuple[int, int], int] = {}
    steps, labels = [], {}
    for task in range(tasks):
        ask = learner.ask(task) if context is None else learner.ask(task, context(task))
        steps.append((f"t{ask.task}", ask.workers.tolist()))
        answers = {}
        for worker in ask.workers.tolist():
            again = asked_before.get((worker, ask.task), 0)
            asked_before[worker, ask.task] = again + 1
            answers[worker] = label(worker, ask.task, again, classes)
        answer = learner.tell(answers)
        labels[task] = answer.label
        if answer.revised is not None:
            labels[answer.revised[0]] = answer.revised[1]
    return steps, [labels[task] for task in range(tasks)]


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize(
    ("options", "classes"),
    some(
        [
            ({}, 2),
            ({"weighted": True, "tolerance": 0.1}, 2),
            ({"delay": 3}, 3),
            ({"vetting": Vetting(0.3)}, 2),
        ],
        2,
    ),
)
def test_ls_ol_asks_and_labels_as_the_algorithm_does(options, classes, one_by_one):
    collector = wb.Collector(
        [],
        WORKERS,
        classes=list(range(classes)),
        policy=("ls-ol", {"schedule": "2,1", **options}),
        seed=3,
    )
    steps = collected(collector, 120, classes, one_by_one)
    plain = {**options, "classes": classes}
    learner = LsOl(
        WORKERS,
        schedules.read("2,1", weighted=options.get("weighted", False)),
        **plain,
        seed=sequence(3),
    )
    expected, labels = learnt(learner, 120, classes)
    assert steps == expected
    assert len({task for task, _ in steps}) < 120  # some tasks were asked again
    answers = collector.answers()
    assert answers["label"].tolist() == labels
    assert collector.cost == sum(len(workers) for _, workers in steps)


@pytest.mark.release
def test_the_model_asks_as_the_learner_does():
    collector = wb.Collector(
        [], WORKERS, classes=[0, 1], policy=("model", {"horizon": 150}), seed=5
    )
    steps = collected(collector, 150)
    expected, labels = learnt(EmLearner(WORKERS, horizon=150, seed=sequence(5)), 150)
    assert steps == expected
    assert collector.answers()["label"].tolist() == labels


def test_types_are_contexts_with_a_learner_each():
    kinds = ["image", "sound"]
    collector = wb.Collector(
        pd.Series([], dtype=pd.CategoricalDtype(kinds)),
        WORKERS,
        classes=[0, 1],
        policy=("ls-ol", {"schedule": "2,1"}),
        seed=1,
    )
    tasks = {f"t{i}": kinds[i % 3 == 0] for i in range(80)}
    collector.add(tasks)
    steps = []
    for task in tasks:
        asked = collector.next(task=task)
        steps.append((asked[0].task, [WORKERS.index(one.worker) for one in asked]))
        for question in asked:
            worker, at = WORKERS.index(question.worker), int(question.task[1:])
            collector.tell(question.worker, {question.task: label(worker, at, 0)})

    learner = ContextualLsOl(5, schedules.read("2,1"), kinds, seed=sequence(1))
    expected = []
    for task, kind in enumerate(tasks.values()):
        ask = learner.ask(task, kind)
        expected.append((f"t{ask.task}", ask.workers.tolist()))
        learner.tell({worker: label(worker, ask.task, 0) for worker in ask.workers.tolist()})
    assert steps == expected


def test_contexts_between_0_and_1_are_cut_into_intervals():
    collector = wb.Collector(
        [], WORKERS, classes=[0, 1], policy=("ls-ol", {"schedule": "2,1", "zeta": 0.4}), seed=1
    )
    context = {f"t{i}": (i * 0.37) % 1 for i in range(60)}
    collector.add(pd.Series(context, name="context"))
    steps = []
    for task in context:
        asked = collector.next(task=task)
        steps.append((asked[0].task, [WORKERS.index(one.worker) for one in asked]))
        for question in asked:
            worker, at = WORKERS.index(question.worker), int(question.task[1:])
            collector.tell(question.worker, {question.task: label(worker, at, 0)})
    learner = RefiningLsOl(5, schedules.read("2,1"), 0.4, seed=sequence(1))
    expected = []
    for task, w in enumerate(context.values()):
        ask = learner.ask(task, w)
        expected.append((f"t{ask.task}", ask.workers.tolist()))
        learner.tell({worker: label(worker, ask.task, 0) for worker in ask.workers.tolist()})
    assert steps == expected


def test_late_labels_and_workers_who_come_and_go():
    collector = wb.Collector(
        [],
        WORKERS[:3],
        classes=[0, 1],
        policy=("ls-ol", {"schedule": "2,1"}),
        seed=2,
        people=wb.People(newcomers=2),
    )
    collector.add([f"t{i}" for i in range(40)])
    learner = LsOl(["0", "1", "2"], schedules.read("2,1"), seed=sequence(2))
    for task in range(40):
        if task == 10:
            collector.join("dee")
            learner.join("3")
        if task == 20:
            collector.leave("ann")
            learner.leave("0")
        if task == 30:
            collector.join("ann")
            learner.join("0")
        asked, ask = collector.next(task=f"t{task}"), learner.ask(task)
        assert [WORKERS.index(one.worker) for one in asked] == ask.workers.tolist()
        answers = {worker: label(worker, ask.task, 0) for worker in ask.workers.tolist()}
        late = 1 if task % 4 == 0 and 1 in answers and len(answers) > 1 else None
        for worker, named in answers.items():
            given = None if worker == late else named
            collector.tell(WORKERS[worker], {f"t{ask.task}": given})
        learner.tell({worker: named for worker, named in answers.items() if worker != late})
        if late is not None:
            collector.tell(WORKERS[late], {f"t{ask.task}": answers[late]})
            learner.late(ask.task, {late: answers[late]})
    np.testing.assert_array_equal(collector.policy.learners[0].estimates, learner.estimates)


def test_a_worker_sees_only_her_own_questions_and_a_step_waits_for_all():
    collector = wb.Collector(
        ["a", "b"], WORKERS, classes=[0, 1], policy=("ls-ol", {"schedule": "2,1"})
    )
    assert [one.task for one in collector.next("ann")] == ["a"]
    assert len(collector.waiting()) == 5
    collector.tell("ann", {"a": 1})
    assert collector.next("ann") == []
    for worker in WORKERS[1:]:
        assert [one.task for one in collector.next(worker)] == ["a"]
        collector.tell(worker, {"a": 1})
    assert collector.next("ann") or collector.waiting()


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"gold": {"g": 1}}, "knows no gold"),
        ({"least": 2}, "no least, most"),
        ({"options": {"schedul": 3}}, "no option 'schedul'"),
        ({"options": {"zeta": 0.3}}, "contexts of tasks go together"),
    ],
)
def test_refusals(changes, word):
    given = {"classes": [0, 1], "policy": "ls-ol", **changes}
    with pytest.raises(InputError, match=word):
        wb.Collector(["a"], WORKERS, **in_objects(given))
