"""What is measured on recorded labels was counted on gold that the method did not see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.core.accuracy.test_measured import crowd
from workbench.base.errors import InputError
from workbench.comparison.closed_loop import label_until_sure
from workbench.comparison.instances import FOLDS, RecordedOptions, fold_numbers
from workbench.comparison.protocol import measured
from workbench.comparison.running import _Runs, answered, compare, recorded
from workbench.crowd.gold_rule import RuleLabels

SEED = np.random.SeedSequence


def tables(classes=2, tasks=50, missing=0.4, seed=0):
    """Labels of a sparse crowd, and all gold."""
    rng = np.random.default_rng([seed, classes])
    skill = rng.uniform(0.55, 0.9, 20)
    labels, _, truth = crowd(rng, tasks, 20, skill, missing=missing, classes=classes)
    return labels, pd.Series([f"c{k}" for k in truth], index=[f"t{i}" for i in range(tasks)])


def instance(labels, gold, **changes):
    options = {"gamma": 0.3, "gold_tasks": 10, "epsilon": 0.3, **changes}
    return recorded(labels, gold, RecordedOptions(**options), seed=SEED(1))


def by_fold(given):
    """What each method bought on each fold, its answers there, and the names of its tasks."""
    runs, found = _Runs(given, SEED(4), 20.0, "relax"), {}
    for name, method in runs.methods.items():
        if method.gold == "folds":
            for market in runs.folds:
                bought = runs.buy(name, market)
                names = market.instance.names[market.instance.judged]
                chance = runs.answer(name, bought).chance[market.instance.judged]
                found[name, *sorted(names.tolist())] = bought.task, bought.worker, chance
    return found


@pytest.mark.parametrize("classes", [2, 3])
def test_the_gold_of_a_fold_changes_nothing_of_its_answers(classes):
    """All gold of a fold is replaced: on it every label bought and every answer stays."""
    labels, gold = tables(classes)
    given = instance(labels, gold)
    before = by_fold(given)
    number = pd.Series(fold_numbers(pd.factorize(gold)[0], seed=SEED(1)), index=gold.index)
    at = {name: k for k, name in enumerate(pd.unique(labels["task"]))}
    number.index = sorted(gold.index, key=at.get)  # folds are of labelled tasks in their order
    other = gold.copy()
    hidden = number.index[number == 2]
    other[hidden] = np.roll(sorted(gold.unique()), 1)[pd.factorize(other[hidden], sort=True)[0]]
    after = by_fold(instance(labels, other))
    own = {key for key in before if set(key[1:]) <= set(hidden)}
    assert len(own) == len({key[0] for key in before}) > 1
    for key in own:
        for one, two in zip(before[key], after[key], strict=True):
            assert np.array_equal(one, two, equal_nan=True)


def test_every_gold_task_that_is_kept_is_judged_once_by_the_others():
    labels, gold = tables()
    given = instance(labels, gold.iloc[:30])
    judged = np.concatenate([fold.tasks[fold.judged] for fold in given.folds])
    assert sorted(judged) == sorted(given.tasks[given.judged])
    assert len(given.folds) == FOLDS
    assert len(given.judged) + np.isin(list(given.left_out), gold.index[:30]).sum() == 30
    for fold in given.folds:
        known = fold.source.control_answered.sum()
        assert 0 < known < given.source.control_answered.sum()


def test_a_task_is_not_kept_for_being_right_by_its_own_gold():
    """Workers of one gold task each: by all gold some are able, by the others' nobody is."""
    rows = [(f"t{i}", f"w{j}", "ab"[i % 2]) for i in range(12) for j in range(3 * i, 3 * i + 3)]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    gold = pd.Series({f"t{i}": "ab"[i % 2 if i < 6 else (i + 1) % 2] for i in range(12)})
    with pytest.raises(InputError, match="no task can be covered"):
        instance(labels, gold, epsilon=0.49, gamma=0.1, skills="plug-in")


@pytest.mark.parametrize(
    "classes",
    [pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.release)],
)
def test_scarce_workers_are_shared_by_all_tasks_in_every_fold(classes):
    labels, gold = tables(classes)
    given = instance(labels, gold, capacity=9, epsilon=0.45)
    for fold in given.folds:
        assert len(fold.tasks) == len(given.tasks)
        assert len(fold.judged) < len(given.judged)
    for row in compare(given, seed=SEED(4)):
        if row.error_measured is not None:
            assert row.tasks_measured == len(given.judged)


def judged_answers(empty, silent=0):
    """An instance, answers to its gold tasks, some of them blank, and those of folds.

    The folds answer as the whole does, right on some 80 %, but for their first `silent` tasks; and
    also what is blank there.
    """
    labels, gold = tables()
    given = instance(labels, gold)
    truth, rng = given.judged_truth, np.random.default_rng(1)
    chance = np.eye(2)[np.where(rng.random(len(truth)) < 0.8, truth, 1 - truth)]
    place = {task: k for k, task in enumerate(given.tasks[given.judged])}
    parts = []
    for fold in given.folds:
        own = chance[[place[task] for task in fold.tasks[fold.judged]]].copy()
        own[:silent] = np.nan
        parts.append((fold, RuleLabels(own)))
    whole = np.full((len(given.tasks), 2), np.nan)
    whole[given.judged] = np.where((rng.random(len(truth)) < empty)[:, None], np.nan, chance)
    return given, RuleLabels(whole), parts


def test_what_is_measured_is_the_mean_loss_of_the_folds():
    given, whole, parts = judged_answers(empty=0.0)
    found = measured(given, whole, parts)
    loss = np.concatenate([answers.loss(fold.judged_truth) for fold, answers in parts])
    assert found.error_measured == pytest.approx(loss.mean())
    assert found.blank == found.unstable == 0
    assert found.tasks_measured == len(given.judged)


def test_what_the_purchase_leaves_blank_is_wrong_whatever_the_folds_answer():
    given, whole, parts = judged_answers(empty=0.5)
    found = measured(given, whole, parts)
    some = RuleLabels(whole.chance[given.judged])
    blank = ~some.labelled
    assert 0.3 < blank.mean() < 0.7
    assert found.blank == blank.sum()
    wrong = some.loss(given.judged_truth)[~blank].sum() + blank.sum()
    assert found.error_measured == pytest.approx(wrong / len(blank))


def test_an_answer_that_a_fold_lacks_counts_as_the_others_and_as_one_that_changes():
    given, whole, parts = judged_answers(empty=0.0, silent=3)
    found = measured(given, whole, parts)
    loss = np.concatenate([answers.loss(fold.judged_truth) for fold, answers in parts])
    assert np.isnan(loss).sum() == 3 * FOLDS
    assert found.blank == 0
    assert found.error_measured == pytest.approx(np.nanmean(loss))
    assert found.unstable == pytest.approx(3 * FOLDS / len(loss))
    given, whole, parts = judged_answers(empty=0.0, silent=len(loss))
    assert measured(given, whole, parts).error_measured == 1.0  # nothing says that any is right


def test_who_looks_at_labels_as_they_come_guesses_no_task_without_one():
    labels, gold = tables()
    given = instance(labels, gold)
    given = replace(given, capacity=np.ones_like(given.capacity))
    bought = label_until_sure(given, SEED(2))
    answers = bought.answer(np.random.default_rng(0))
    empty = np.bincount(bought.task, minlength=len(given.tasks)) == 0
    assert empty.any()
    assert np.array_equal(~answers.labelled, empty)
    assert measured(given, answers).blank == empty[given.judged].sum()


@pytest.mark.release
def test_bounds_see_all_gold_and_are_not_measured():
    labels, gold = tables()
    given = instance(labels, gold)
    found = {row.method: row for row in compare(given, seed=SEED(4))}
    assert found["offline IP"].promise == found["information limit"].promise == "bound"
    assert found["offline IP"].error_measured is None
    assert found["primal approximation"].promise == "bound"
    assert found["adaptive"].promise == "each task"
    assert found["random + majority"].promise == "nothing"
    for name, given_answers, error in answered(given, seed=SEED(4)):
        row = found.pop(name)
        assert row.promise != "bound"
        assert error.error_measured == row.error_measured
        assert len(given_answers.chance) == len(given.tasks)
    assert {row.promise for row in found.values()} == {"bound"}


def test_one_gold_task_cannot_judge_what_it_taught():
    labels, gold = tables()
    with pytest.raises(InputError, match="labelled tasks with gold: 1; give two or more"):
        instance(labels, gold.iloc[:1])
