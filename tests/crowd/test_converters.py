from __future__ import annotations

import json
import string

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from label_tables import assert_same_labels

from workbench.base.errors import InputError
from workbench.crowd.converters import (
    from_headerless,
    from_nested_json,
    from_tab_separated,
    from_wide,
)
from workbench.crowd.reading import is_missing
from workbench.crowd.tables import read_labels


def message(call, *arguments, **keywords) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments, **keywords)
    text = str(caught.value)
    assert "\n" not in text
    assert text.isprintable()
    return text


def table(*votes: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(votes, columns=["task", "worker", "label"])


def as_set(frame: pd.DataFrame) -> set[tuple[str, ...]]:
    return set(frame[["task", "worker", "label"]].itertuples(index=False, name=None))


FIELD_NAMES = {"task", "item", "question", "object"}
names = (
    st.text(string.ascii_letters + string.digits + "-_.,'\" éß", min_size=1, max_size=6)
    .map(str.strip)
    .filter(lambda cell: not is_missing(cell) and cell.casefold() not in FIELD_NAMES)
)
votes = st.dictionaries(st.tuples(names, names), names, min_size=1, max_size=12).map(
    lambda given: table(*((task, worker, label) for (task, worker), label in given.items()))
)


# Wide


def test_wide_frame():
    frame = pd.DataFrame({"w1": [1, np.nan], "w2": [0, 1]}, index=["t1", "t2"])
    expected = table(("t1", "w1", "1"), ("t1", "w2", "0"), ("t2", "w2", "1"))
    assert_same_labels(from_wide(frame), expected)
    assert_same_labels(from_wide(frame.rename_axis("image")), expected)
    assert_same_labels(from_wide(frame.rename_axis("Item").reset_index()), expected)
    assert_same_labels(from_wide(frame.rename_axis("image").reset_index(), task="image"), expected)


@pytest.mark.parametrize(("first", "task"), [("item", None), ("", None), ("image", "image")])
def test_wide_file(tmp_path, first, task):
    path = tmp_path / "wide.csv"
    path.write_text(f"{first},w1,007\n01,1,\n02,NA,0\n")
    assert_same_labels(from_wide(path, task=task), table(("01", "w1", "1"), ("02", "007", "0")))


# Headerless


def test_headerless(tmp_path):
    path = tmp_path / "crowd.txt"
    path.write_text("w1,01,0,1,5\nw2,01,1,1,7.5\nw1,t2,1,,2\nw1,t3,1,0,2\n")
    crowd = from_headerless(path)
    assert crowd.name == "crowd"
    assert crowd.labels["time"].tolist() == [5, 7.5, 2, 2]
    assert as_set(crowd.labels) == {
        ("01", "w1", "0"),
        ("01", "w2", "1"),
        ("t2", "w1", "1"),
        ("t3", "w1", "1"),
    }
    assert crowd.gold.to_dict() == {"01": "1", "t3": "0"}
    assert crowd.gold.name == "gold"
    assert crowd.gold.index.name == "task"
    assert from_headerless(path, name="birds").name == "birds"


# Tab-separated


def test_tab_separated(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_text('worker "1"\thttp://a,b\tporn\nw2\t"quote\tnotporn\n')
    assert_same_labels(
        from_tab_separated(path),
        table(("http://a,b", 'worker "1"', "porn"), ('"quote', "w2", "notporn")),
    )


# Nested JSON


def test_nested_json(tmp_path):
    content = {"01": {"w1": 1, "w2": None, "w3": ""}, "02": {}, "03": {"w1": "cat", "w2": True}}
    expected = table(("01", "w1", "1"), ("03", "w1", "cat"), ("03", "w2", "True"))
    assert_same_labels(from_nested_json(content), expected)
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(content))
    assert_same_labels(from_nested_json(str(path)), expected)


@settings(deadline=None, max_examples=10)
@given(votes)
def test_nested_json_round_trip(tmp_path_factory, long):
    nested: dict[str, dict[str, str]] = {}
    for vote in long.itertuples():
        nested.setdefault(vote.task, {})[vote.worker] = vote.label
    path = tmp_path_factory.mktemp("json") / "labels.json"
    path.write_text(json.dumps(nested))
    found = from_nested_json(path)
    assert_same_labels(found, from_nested_json(nested))
    assert as_set(found) == as_set(long)
    assert_same_labels(read_labels(found), found)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('{"t": 1}', ["task 't': '1' is no mapping"]),
        ('{"t": {"w": [1]}}', ["task 't', worker 'w': label '[1]' is no single value"]),
        ('{"t": {"w": 1, "w": 2}}', ["key 'w' appears twice"]),
        (
            '{"t": {"w": 1}, "t ": {"w": 1}}',
            ["label 2: task 't' and worker 'w' appear already on label 1"],
        ),
        ("[" * 100_000, ["nested too deeply"]),
    ],
)
def test_bad_nested_json(tmp_path, text, parts):
    path = tmp_path / "labels.json"
    path.write_text(text)
    found = message(from_nested_json, path)
    assert found.startswith(str(path))
    assert all(part in found for part in parts)
