"""Known classes inside the models, and fits that start from an earlier one."""

import numpy as np
import pandas as pd
import pytest

from workbench.aggregation import AGGREGATORS
from workbench.aggregation.labelling import KnownBeforehand, LabelOptions, label_tasks
from workbench.aggregation.posteriors import Earlier
from workbench.base.errors import InputError
from workbench.crowd.simulate import dense_votes, one_coin_labels
from workbench.crowd.votes import Votes

MODELS = [
    "dawid-skene",
    "dawid-skene-smoothed",
    "one-coin",
    "ebcc",
    "bwa",
    "glad",
    "belief-propagation",
]


def copycats(seed=0, n=200):
    """Three workers who copy one guesser, and two who are right nine times in ten."""
    rng = np.random.default_rng(seed)
    truth, guess = rng.integers(0, 2, n), rng.integers(0, 2, n)
    good = np.where(rng.random((n, 2)) < 0.9, truth[:, None], 1 - truth[:, None])
    return dense_votes(np.column_stack([np.tile(guess[:, None], (1, 3)), good]), 2), truth


@pytest.mark.parametrize("name", MODELS)
def test_known_classes_are_kept_and_teach(name):
    votes, truth = copycats()
    # GLAD may take what copycats get wrong for hard: it needs more to be taught.
    taught_by = 160 if name == "glad" else 100
    known = np.where(np.arange(200) < taught_by, truth, -1)
    fit = AGGREGATORS[name].call
    alone, taught = fit(votes, seed=0), fit(votes, earlier=Earlier(known), seed=0)
    assert (taught.label == truth)[:taught_by].all()
    assert (taught.info["confidence"][:taught_by] == 1).all()
    assert (alone.label == truth)[taught_by:].mean() < 0.65  # the copycats have it
    assert (taught.label == truth)[taught_by:].mean() > 0.8
    nothing = fit(votes, earlier=Earlier(np.full(200, -1)), seed=0)
    np.testing.assert_array_equal(nothing.info["posterior"], alone.info["posterior"])


@pytest.mark.parametrize("name", MODELS)
def test_wrong_gold_wins_over_all_labels(name):
    """A class that no label of the task names, and one that nobody names at all."""
    votes = dense_votes(np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0], [1, 1, 0]]), 3)
    found = AGGREGATORS[name].call(votes, earlier=Earlier(np.array([1, 2, -1, -1])), seed=0)
    assert found.label[:2].tolist() == [1, 2]
    assert np.isfinite(found.info["posterior"]).all()


@pytest.mark.parametrize("known", [np.zeros(3, dtype=int), np.full(200, 2), np.full(200, 0.5)])
def test_bad_known_classes(known):
    with pytest.raises(InputError, match="known: give 200 indices of classes from 0 to 1"):
        AGGREGATORS["dawid-skene"].call(copycats()[0], earlier=Earlier(known), seed=0)


def growing(seed=4):
    """A crowd, and its labels before the last tasks and the last worker came."""
    rng = np.random.default_rng(seed)
    truth, skill = rng.integers(0, 3, 300), rng.uniform(0.5, 0.95, 8)
    all_votes = dense_votes(one_coin_labels(skill, truth, 3, seed=seed), 3)
    table = all_votes.table()
    early = table[table["task"].isin(all_votes.tasks[:250]) & (table["worker"] != "w7")]
    order = rng.permutation(len(early))
    return Votes.of(early.iloc[order], classes=all_votes.classes), all_votes, truth


@pytest.mark.parametrize("name", MODELS[:-1])  # belief propagation begins at several starts anew
def test_a_fit_goes_on_where_an_earlier_one_ended(name):
    before, after, truth = growing()
    fit = AGGREGATORS[name].call
    first = fit(before, seed=0).info["fit"]
    cold, warm = fit(after, seed=0), fit(after, earlier=Earlier(fit=first), seed=0)
    assert np.mean(cold.label == warm.label) > 0.98
    assert np.mean(warm.label == truth) >= np.mean(cold.label == truth) - 0.01
    again = fit(after, earlier=Earlier(fit=warm.info["fit"]), seed=0)
    assert again.info["iterations"] <= min(3, cold.info["iterations"])
    np.testing.assert_allclose(again.info["posterior"], warm.info["posterior"], atol=0.02)


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_that_does_not_fit_is_refused(name):
    before, after, _ = growing()
    fit = AGGREGATORS[name].call
    other = AGGREGATORS["glad" if name != "glad" else "bwa"].call(before, seed=0).info["fit"]
    with pytest.raises(InputError, match=r"start is a fit of .*, not .*: fit it anew"):
        fit(after, earlier=Earlier(fit=other), seed=0)
    two = fit(copycats()[0], seed=0).info["fit"]
    with pytest.raises(InputError, match="start knows the classes"):
        fit(after, earlier=Earlier(fit=two), seed=0)


def test_subtypes_of_an_earlier_fit_are_as_many():
    before, after, _ = growing()
    fit = AGGREGATORS["ebcc"].call
    first = fit(before, subtypes=2, restarts=1, seed=0).info["fit"]
    with pytest.raises(InputError, match="start has 2 subtypes a class, not 10"):
        fit(after, earlier=Earlier(fit=first), seed=0)


def frame(votes):
    return votes.table().astype(str)


def test_gold_teaches_through_tables_and_calibrates():
    votes, truth = copycats()
    labels = frame(votes)
    classes = pd.Series(votes.classes[truth].astype(str), index=votes.tasks)
    gold, rest = classes[:100], classes[100:]
    known = KnownBeforehand(gold=gold, truth=rest)
    found = label_tasks(labels, "dawid-skene-smoothed", known, seed=0)
    assert found.accuracy > 0.8
    assert found.accuracy_tasks == 100
    assert found.reliability["tasks"].sum() == 100
    assert any("keep their class" in note for note in found.notes)
    for by in ("gold", "labels"):
        calm = label_tasks(
            labels, "dawid-skene-smoothed", known, LabelOptions(calibrate=by), seed=0
        )
        assert calm.calibration.temperature > 0
        assert calm.answers["label"].equals(found.answers["label"])
        at = calm.answers["label"].astype(int).to_numpy()
        np.testing.assert_array_equal(
            calm.posterior[np.arange(200), at], calm.answers["confidence"]
        )
    with pytest.raises(InputError, match=r"`calibrate` is for pooled, .*, not majority"):
        label_tasks(labels, "majority", options=LabelOptions(calibrate="labels"), seed=0)
    with pytest.raises(InputError, match="`start` is for models"):
        label_tasks(labels, "majority", KnownBeforehand(fit=found.fit), seed=0)
