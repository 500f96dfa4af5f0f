"""Classes, ratings and sets: told apart where labels are read, and kept from then on."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench import InputError
from workbench.api import inputs
from workbench.crowd.kinds import Classes, LabelSets, Scale, written

NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"], exclude_characters="|"))
SETS = st.lists(st.frozensets(NAMES.filter(lambda name: name.strip()), max_size=4), min_size=1)


def table(*labels):
    """One label a task, all by one worker."""
    tasks = [f"t{k}" for k in range(len(labels))]
    return pd.DataFrame({"task": tasks, "worker": "a", "label": pd.Series(labels, dtype=object)})


def votes(frame, **options):
    kinds = (Classes, Scale, LabelSets)
    return inputs.given(wb.read_labels(frame, **options), kinds=kinds).coded.votes


@settings(max_examples=30)
@given(SETS)
def test_sets_come_back_as_they_were_given_and_label_by_label(sets):
    names = sorted(frozenset().union(*sets))
    if all(len(each) == 1 for each in sets):
        sets = [*sets, frozenset(["one", "two"])]  # else they are classes
        names = sorted({*names, "one", "two"})
    frame = table(*sets)
    assert wb.read_labels(frame)["label"].tolist() == sets
    assert wb.read_labels(table(*map(sorted, sets)))["label"].tolist() == sets
    again = wb.read_labels(wb.read_labels(frame))
    assert again["label"].tolist() == sets
    read = votes(frame)
    assert read.kind == LabelSets()
    if not names:
        with pytest.raises(InputError, match="no set has a label"):
            read.by_label()
        return
    apart = read.by_label()
    assert sorted(apart) == names
    for name, one in apart.items():
        said = one.classes[one.label[np.argsort(one.task)]]
        assert [each == "yes" for each in said] == [name in each for each in sets]


def test_names_between_separators_are_sets_and_the_table_knows_it():
    labels = wb.read_labels(table("cat | dog", "dog|cat", "cat"), separator="|")
    both, one = frozenset(["cat", "dog"]), frozenset(["cat"])
    assert labels["label"].tolist() == [both, both, one]
    gold = wb.read_gold({"t0": "dog|cat", "t1": "bird", "t2": ["cat"]}, labels)
    assert gold.tolist() == [both, frozenset(["bird"]), one]
    with pytest.raises(InputError, match="`separator`"):
        wb.read_labels(table("cat|dog", "cat", "dog"))
    folded = wb.read_labels(table("Cat|dog", "cat"), separator="|", fold=True)
    assert len(frozenset().union(*folded["label"])) == 2
    skipped = wb.read_labels(table("cat|dog", "unsure"), separator="|", skip=["unsure"])
    assert skipped["label"].tolist() == [both]


@settings(max_examples=30)
@given(st.lists(st.floats(-5, 5), min_size=1))
def test_ratings_are_numbers_whatever_they_are_written_as(ratings):
    labels = wb.read_labels(table(*ratings), scale=(-5, 5))
    assert labels["label"].tolist() == ratings
    assert labels.attrs["scale"] == (-5, 5)
    text = wb.read_labels(table(*map(repr, ratings)), scale=(-5, 5))
    assert text["label"].tolist() == ratings
    read = votes(labels)
    assert read.kind == Scale(-5, 5)
    assert read.ratings()[np.argsort(read.task)].tolist() == ratings


def test_a_rating_is_a_number_of_the_scale():
    for label, said in (("x", "is no number"), (101, "is outside"), (float("inf"), "is outside")):
        with pytest.raises(InputError, match=said):
            wb.read_labels(table(50, label), scale=(0, 100))
    labels = wb.read_labels(table(50, "unsure", 3.5), scale=(0, 100), skip=["unsure"])
    assert labels["label"].tolist() == [50, 3.5]
    assert wb.read_gold({"t0": 77}, labels).tolist() == [77.0]
    with pytest.raises(InputError, match="gold, task 't0': gold '101' is outside"):
        wb.read_gold({"t0": 101}, labels)
    for scale in ((1, 1), (5, 1), (0, float("inf"))):
        with pytest.raises(InputError, match="give its lowest and its highest"):
            wb.read_labels(table(1), scale=scale)
    with pytest.raises(InputError, match="not both"):
        wb.read_labels(table(1), scale=(0, 1), separator="|")
    with pytest.raises(InputError, match="separator is ' '"):
        wb.read_labels(table(1), separator=" ")


def test_lists_of_one_are_classes_and_structures_are_refused():
    assert votes(table(["cat"], ["dog"])).kind == Classes()
    for cell in ({"a": 1}, [["cat"]], [["cat"], ["dog"]]):
        with pytest.raises(InputError, match=r"no class|list of lists"):
            wb.read_labels(table(cell, ["cat"]))


def test_an_ordered_categorical_is_ordered_classes():
    order = ["bad", "ok", "good"]
    cells = pd.Categorical(["bad", "ok", "good", "ok"], categories=order, ordered=True)
    frame = pd.DataFrame({"task": [1, 1, 2, 2], "worker": ["a", "b"] * 2, "label": cells})
    assert inputs.given(frame).kind == Classes(tuple(order))
    assert "By the order from bad to good, α (ordinal) is" in wb.check(frame).summary()
    plain = frame.astype({"label": str})
    assert "By the order" not in wb.check(plain).summary()


def test_a_set_is_written_alike_however_it_is_ordered():
    assert written(["b", "a"]) == written({"a", "b"}) == '["a", "b"]'
    assert LabelSets().value(written({"ä|b", "]"})) == {"ä|b", "]"}


@pytest.mark.parametrize(
    "form", ["label-studio", "argilla", "prodigy", "mturk", "toloka", "labels"]
)
def test_a_form_that_is_written_gives_sets_and_ratings_back(form, tmp_path):
    sets = wb.read_labels(table("cat|dog", "cat", "bird"), separator="|")
    ratings = wb.read_labels(table(1.5, 2, 100), scale=(0, 100))
    for labels, options in ((sets, {}), (ratings, {"scale": (0, 100)})):
        content = wb.convert(labels, form).content
        path = tmp_path / ("x.json" if content.lstrip()[0] in "[{" else "x.csv")
        path.write_text(content, encoding="utf-8")
        again = wb.read_labels(path, **options)
        given = dict(zip(labels["task"], labels["label"], strict=True))
        assert dict(zip(again["task"], again["label"], strict=True)) == given
