"""Repeats, and classes that are most likely one."""

import pandas as pd
import pytest

from workbench.crowd.label_checks import classes_alike, one_slip, repeats


def test_repeats_are_counted_by_pair():
    rows = [("a", "u", "x"), ("a", "u", "x"), ("a", "u", "y"), ("a", "v", "x"), ("b", "u", "x")]
    rows += [("b", "v", "y"), ("b", "v", "y")]
    found = repeats(pd.DataFrame(rows, columns=["task", "worker", "label"]))
    assert (found.pairs, found.in_conflict, found.workers) == (2, 1, 2)
    none = repeats(pd.DataFrame(rows[3:5], columns=["task", "worker", "label"]))
    assert (none.pairs, none.in_conflict, none.workers) == (0, 0, 0)


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ({"no": 40, "yes": 30, "NO": 3}, [("no", "NO")]),
        ({"1": 40, "1.0": 3, "2": 30}, [("1", "1.0")]),
        ({"very good": 10, "Very  good ": 2, "bad": 4}, [("very good", "Very  good ")]),
        ({"positive": 400, "postive": 2, "negative": 300}, [("positive", "postive")]),
        ({"positive": 400, "postiive": 2}, [("positive", "postiive")]),
        ({"ｙes": 2, "yes": 9}, [("yes", "ｙes")]),
        ({"class1": 400, "class2": 1}, []),
        ({"positive": 40, "postive": 20}, []),
        ({"cat": 400, "car": 1}, []),
        ({"0": 10, "1": 10, "-1": 2}, []),
        ({"true": 1, "false": 5}, []),
    ],
)
def test_classes_written_in_two_ways_are_found(counts, groups):
    assert classes_alike(counts) == groups


def test_a_slip_is_one_letter():
    assert one_slip("neutral", "nuetral")
    assert one_slip("neutral", "neutrel")
    assert one_slip("neutral", "neutrals")
    assert one_slip("eutral", "neutral")
    assert not one_slip("neutral", "neutral")
    assert not one_slip("neutral", "nuertal")
    assert not one_slip("neutral", "neutered")
