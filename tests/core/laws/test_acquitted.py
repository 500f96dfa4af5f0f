"""`check` acquits nobody: crowds of which something is known to be wrong.

NUMBERS 15: what the first screen says of coin tossers, of who always says no, of who contradicts
always, of labels that nobody else gave, of ratings, abstentions, several answers in one, free text;
and that crowds against which nothing stands are left in peace.
"""

import os

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.release import some
from workbench.base.errors import InputError

ACQUITTED = "No warning"


def table(label, classes=("no", "yes"), there=None):
    """Labels (tasks, workers) of class indices as a table."""
    there = np.ones(label.shape, dtype=bool) if there is None else there
    task, worker = np.nonzero(there)
    said = np.asarray(classes, dtype=object)[label[task, worker]]
    return pd.DataFrame({"task": task, "worker": [f"w{j}" for j in worker], "label": said})


def answers(rng, truth, skill, classes=2):
    """Labels of independent workers, errors even over the other classes."""
    right = rng.random((len(truth), len(skill))) < skill
    other = (truth[:, None] + rng.integers(1, classes, size=right.shape)) % classes
    return np.where(right, truth[:, None], other)


def good(seed, tasks=150, workers=7, classes=2, share=None, low=0.65, high=0.92):
    rng = np.random.default_rng(seed)
    truth = rng.choice(classes, tasks, p=share)
    return rng, truth, answers(rng, truth, rng.uniform(low, high, workers), classes)


def first_screen(found):
    text = "\n".join(found.verdict())
    assert len(found.verdict()) <= 6
    assert text.count("Next") == 2
    assert "aggregate" in found.verdict()[-2]
    assert "hire" in found.verdict()[-1]
    return text


@pytest.mark.parametrize("seed", some(range(5), 3))
@pytest.mark.parametrize("classes", [2, 4])
def test_coin_tossers_agree_no_better_than_chance(seed, classes):
    label = np.random.default_rng(seed).integers(classes, size=(200, 5))
    found = wb.check(table(label, list("abcd")[:classes]))
    said = first_screen(found)
    assert ACQUITTED not in said
    assert "agree no better than chance" in said
    assert found.agreement.low < 0 < found.agreement.high


def test_who_always_says_no_is_named_and_beats_no_guess():
    _, truth, label = good(1, tasks=300, workers=4, share=[0.9, 0.1], low=0.85, high=0.9)
    label = np.hstack([label, np.zeros((300, 4), dtype=int)])
    found = wb.check(table(label), pd.Series(np.where(truth == 1, "yes", "no"))[:150])
    said = first_screen(found)
    assert "constant, beyond chance: w4, w5, w6, w7" in said
    marked = found.to_frame().set_index("worker")
    assert marked["constant"].to_dict() == {f"w{j}": j > 3 for j in range(8)}
    usual = (truth[:150] == 0).mean()
    assert found.to_dict()["guess"] == pytest.approx(usual)
    better = int((marked["low"] > usual).sum())
    assert f"of 8 workers {better} beat that by the 95 % interval" in said
    assert "Always answering no is right on" in said
    assert not marked["below_chance"].any()


def test_who_seldom_labels_and_says_no_is_not_called_constant():
    _, _, label = good(2, tasks=300, workers=4, share=[0.95, 0.05], low=0.9, high=0.97)
    label = np.hstack([label, np.zeros((300, 6), dtype=int)])
    there = np.ones(label.shape, dtype=bool)
    there[12:, 4:] = False  # twelve labels each, of which 95 % would be "no" in any case
    truth = label[:, :4].sum(axis=1) > 1
    there[:12, 4:] &= ~truth[:12, None]
    assert not wb.check(table(label, there=there)).to_frame()["constant"].any()


def test_two_who_always_contradict():
    label = np.random.default_rng(0).integers(2, size=(60, 2))
    label[:, 1] = 1 - label[:, 0]
    found = wb.check(table(label))
    said = first_screen(found)
    assert "agree less than by chance" in said
    assert "w0 and w1 contradict each other" in said
    assert found.to_dict()["contradicting"] == [{"workers": ["w0", "w1"], "tasks": 60}]
    assert found.to_frame()["below_others"].all()


@pytest.mark.parametrize("classes", [2, 3])
def test_who_answers_against_the_others_is_named(classes):
    rng, truth, label = good(3, classes=classes, low=0.75, workers=6)
    label[:, 2] = np.where(rng.random(150) < 0.1, truth, (truth + 1) % classes)
    found = wb.check(table(label, list("abc")[:classes]))
    assert "less than by chance, beyond doubt: w2;" in first_screen(found)
    assert found.to_frame().set_index("worker")["below_others"].sum() == 1


def test_without_overlap_there_is_nothing_to_compare():
    _, _, label = good(4, tasks=200, workers=4)
    there = np.arange(4) == np.arange(200)[:, None] % 4
    said = first_screen(wb.check(table(label, there=there)))
    assert "no task has two labels" in said
    assert ACQUITTED not in said


def test_one_class_tells_nothing():
    said = first_screen(wb.check(table(np.zeros((40, 3), dtype=int))))
    assert "all labels are no: agreement on that tells nothing" in said
    assert ACQUITTED not in said


def test_ratings_are_no_classes():
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, 150)
    label = np.clip(np.rint(truth[:, None] + rng.normal(0, 0.8, (150, 5))), 1, 5).astype(int)
    found = wb.check(table(label - 1, list("12345")))
    assert "classes read as ratings" in "\n".join(found.warnings)
    assert ACQUITTED not in first_screen(found)
    fine = np.rint(20 * truth[:, None] + rng.normal(0, 9, (150, 5))).astype(int)
    values, at = np.unique(fine, return_inverse=True)
    found = wb.check(table(at.reshape(fine.shape), [str(x) for x in values]))
    assert "classes read as ratings" in "\n".join(found.warnings)
    assert f"{len(values)} classes are many for 150 tasks" in "\n".join(found.warnings)


@pytest.mark.parametrize(("classes", "names"), some([(2, "01"), (2, "12"), (4, "0123")], 2))
def test_codes_are_no_ratings(classes, names):
    for seed in range(6):
        _, _, label = good(seed, classes=classes, low=0.7)
        found = wb.check(table(label, list(names)))
        assert not found.rated
        assert ACQUITTED in first_screen(found)


def test_a_crowd_that_mostly_skips():
    rng, _, label = good(6)
    label[rng.random(label.shape) < 0.7] = 2
    found = wb.check(table(label, ["no", "yes", "skip"]))
    share = (label == 2).mean()
    assert f"Beware: {100 * share:.2g} % of the labels read as no answer (skip)" in first_screen(
        found
    )
    label[label == 2] = 0
    label[:8, 0] = 2
    found = wb.check(table(label, ["no", "yes", "Don't know"]))
    assert any("no answer (Don't know)" in warning for warning in found.warnings)


def test_several_answers_in_one_label():
    rng, _, label = good(7, classes=3)
    label[rng.random(label.shape) < 0.2] = 3
    with pytest.raises(InputError, match=r"label 'cat\|dog' is several answers in one"):
        wb.check(table(label, ["cat", "dog", "emu", "cat|dog"]))
    found = wb.check(table(label, ["cat", "dog", "emu", "fish, boiled"]))
    assert not any("several answers" in warning for warning in found.warnings)


@pytest.mark.slow
def test_free_text_is_told_or_refused():
    rng = np.random.default_rng(8)
    texts = [f"a text of mine, number {k}" for k in range(600)]
    found = wb.check(table(rng.permutation(600).reshape(200, 3), texts))
    said = first_screen(found)
    assert "agree no better than chance" in said or "less than by chance" in said
    assert "600 classes are many for 200 tasks" in "\n".join(found.warnings)
    many = np.arange(24_000).reshape(12_000, 2)
    labels = table(many, [f"text {k}" for k in range(24_000)])
    gold = {0: "text 0", 1: "text 2"}
    for verb in (
        lambda: wb.check(labels),
        lambda: wb.check(labels, gold),
        lambda: wb.aggregate(labels, method="majority"),
        lambda: wb.hire(labels, gold, budget=1),
        lambda: wb.convert(labels, "crowd-kit"),
        lambda: wb.learn(labels, gold),
    ):
        with pytest.raises(InputError, match="24000 classes, as 'text 0': at most") as refused:
            verb()
        assert "\n" not in str(refused.value)


def test_what_is_acquitted_says_what_was_looked_at():
    _, truth, label = good(9)
    said = first_screen(wb.check(table(label)))
    assert "No warning from what can be seen: agreement on 150 tasks; of 7 of 7" in said
    said = first_screen(wb.check(table(label), pd.Series(np.where(truth, "yes", "no"))[:60]))
    assert "looked at were agreement on 150 tasks" in said
    assert "errors on 60 gold tasks" in said
    assert "Krippendorff's α" in said
    few = first_screen(wb.check(table(label[:5])))
    assert ACQUITTED not in few


@pytest.mark.release
def test_good_crowds_are_left_in_peace():
    """False alarms in a few crowds of a hundred: several shapes, with and without gold."""
    alarms, crowds = 0, 0
    for seed in range(25):
        for classes, share, workers in ((2, None, 5), (2, [0.85, 0.15], 9), (4, None, 30)):
            rng, truth, label = good(seed, 200, workers, classes, share)
            there = np.argsort(rng.random(label.shape), axis=1) < 5
            names = ["red", "green", "blue", "grey"][:classes]
            gold = pd.Series(np.asarray(names)[truth])[:80] if seed % 2 else None
            alarms += bool(wb.check(table(label, names, there), gold, seed=seed).warnings)
            crowds += 1
    assert alarms <= 0.06 * crowds


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("WORKBENCH_DATA"), reason="WORKBENCH_DATA names no folder of data sets"
)
def test_recorded_crowds_agree_better_than_chance():
    for name in ("bluebird", "rte", "face", "web", "weather_amt", "zencrowd_us"):
        found = wb.check(wb.load(name)[0])
        briefs = [each.brief for each in found.objections]
        assert found.agreement.low > 0.05
        assert ("classes read as ratings" in briefs) == (name == "web")
        assert not any("abstentions" in brief or "classes" in brief for brief in briefs[1:])
